"""Grade a class: every submission through repair, nbgrader's autograde and the report, each for itself."""

from __future__ import annotations

import csv
import json
import logging
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from anatomy.authoring.notebooks import as_text, chosen, source_file
from anatomy.authoring.student import settings
from anatomy.course import NOTEBOOKS
from anatomy.errors import UserError
from anatomy.grading import sandbox as sandboxes
from anatomy.grading.masters import master, register
from anatomy.grading.preprocessors import NOTE
from anatomy.grading.repair import Unrepairable, find_notebook, read_notebook, repaired
from anatomy.grading.report import GRADED, PARTLY, REPAIRED, UNGRADED, Comparison, Mark, Report, Row, show, write_csv
from anatomy.grading.sample import KNOWN_MARKS

LARGEST_EXTRA = 20 * 2**20
"""Bytes beyond which a file beside the notebook is left behind."""


WITHOUT_SANDBOX = (
    "Graded without a sandbox: submissions could read this machine's files and use its network. "
    "Trust these marks only if the machine or container holds nothing that students must not see."
)


class NothingToGrade(UserError):
    """There is nothing to grade. The message says where it was looked for and what to do."""


def grade(
    root: Path,
    assignments: Iterable[str] | None = None,
    students: Iterable[str] | None = None,
    *,
    sandbox: str | None = None,
    console: Console | None = None,
) -> Report:
    """Grade what is in ``submitted/``, write ``grades.csv``, and print the table.

    Parameters
    ----------
    assignments
        Notebooks by slug or number; by default all that were handed in.
    students
        By default all.
    sandbox
        ``"bubblewrap"`` or ``"none"``; by default what ANATOMY_SANDBOX says, else bubblewrap.
    console
        Where progress and table go; by default the terminal.

    Raises
    ------
    NothingToGrade
        When no submission is there.
    NoSandbox
        When bubblewrap is wanted and can't be had.
    UserError
        When an assignment named here does not exist.
    """
    kind = sandboxes.kind(sandbox)
    os.environ[sandboxes.VARIABLE] = kind
    root = root.resolve()
    console = console or Console()
    config = settings(root)
    submitted = root / str(config.CourseDirectory.get("submitted_directory", "submitted"))
    wanted = {book.slug for book in chosen(root, assignments)} if assignments else None
    found = list(_submissions(submitted, wanted, set(students) if students else None))
    if not found:
        raise NothingToGrade(f"There is nothing to grade in {submitted}. A submission is a folder "
                             f"{submitted.name}/<student>/<notebook>/ with the notebook in it; "
                             "`anatomy sample-class` writes a made-up class.")  # fmt: skip
    began = time.perf_counter()
    rows: list[Row] = []
    with _grader(root, config) as grader, _progress(console) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's queries, harmless
        task = progress.add_task("", total=len(found))
        for folder in found:
            progress.update(task, description=f"{folder.parent.name}, {folder.name}")
            rows.append(grader.grade(folder))
            progress.advance(task)
        progress.update(task, description="done")
    report = Report(tuple(rows), time.perf_counter() - began, _compare(rows, submitted / KNOWN_MARKS))
    write_csv(rows, root / "grades.csv")
    show(report, console)
    if kind == sandboxes.NONE:
        console.print(f"[yellow]! {WITHOUT_SANDBOX}[/yellow]", highlight=False, soft_wrap=True)
    count = sum(row.status != UNGRADED for row in rows)
    console.print(
        f"{count} of {len(rows)} submissions graded in {report.seconds:.0f} s. Marks: grades.csv; details: Formgrader.",
        highlight=False,
        soft_wrap=True,
    )
    return report


def _submissions(submitted: Path, assignments: set[str] | None, students: set[str] | None) -> Iterator[Path]:
    """The folders ``submitted/<student>/<assignment>``."""
    for student in sorted(submitted.iterdir()) if submitted.is_dir() else ():
        if student.is_symlink() or not student.is_dir() or student.name.startswith("."):
            continue
        if students is not None and student.name not in students:
            continue
        for folder in sorted(student.iterdir()):
            if folder.is_symlink() or not folder.is_dir() or folder.name.startswith("."):
                continue
            if assignments is None or folder.name in assignments:
                yield folder


@contextmanager
def _grader(root: Path, config: Config) -> Iterator[Grader]:
    (root / ".anatomy").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="grading-", dir=root / ".anatomy") as folder:
        yield Grader(root, config, Path(folder))


class Grader:
    """Grades one submission after the other. Nothing that happens to one touches another."""

    def __init__(self, root: Path, config: Config, work: Path) -> None:
        self.root, self.config, self.work = root, deepcopy(config), work
        self.log = _Kept()
        self.config.CourseDirectory.root = str(root)
        self.db_url: str = CourseDirectory(config=self.config).db_url
        self.registered: dict[str, str] = {}  # assignment → why it could not be registered, or ""

    def grade(self, folder: Path) -> Row:
        """The row of the submission in ``submitted/<student>/<assignment>``. Raises nothing but KeyboardInterrupt."""
        student, assignment = folder.parent.name, folder.name
        began = time.perf_counter()
        self.log.clear()
        try:
            row = self._grade(folder, student, assignment)
        except Unrepairable as reason:
            row = Row(student, assignment, UNGRADED, (str(reason),))
        except Exception as error:  # whatever it is, it costs this submission only
            row = Row(student, assignment, UNGRADED, (self._why(error),))
        finally:
            shutil.rmtree(self.work / "submitted", ignore_errors=True)
        return replace(row, seconds=time.perf_counter() - began)

    def _grade(self, folder: Path, student: str, assignment: str) -> Row:
        if not any(book.slug == assignment for book in NOTEBOOKS) or not source_file(self.root, assignment).is_file():
            raise Unrepairable(f"No notebook of the course is called {assignment}.")
        self._register(assignment)
        path, notes = find_notebook(folder, assignment)
        book, more = read_notebook(path)
        book, still_more = repaired(book, master(self.root, assignment))
        notes = [*notes, *more, *still_more]
        self._stage(folder, book, student, assignment)
        self._autograde(student, assignment)
        marks, penalty = self._marks(student, assignment)
        reasons = [f"{mark.exercise}: {mark.said}" for mark in marks if mark.status == UNGRADED]
        status = PARTLY if reasons else REPAIRED if notes else GRADED
        return Row(student, assignment, status, (*reasons, *notes), tuple(marks), penalty)

    def _register(self, assignment: str) -> None:
        if assignment not in self.registered:
            try:
                register(self.root, assignment, self.config, self.log.logger)
                self.registered[assignment] = ""
            except (NbGraderException, SystemExit) as error:
                self.registered[assignment] = self._why(error)
        if why := self.registered[assignment]:
            raise Unrepairable(f"The gradebook could not take up {assignment}: {why}")

    def _stage(self, folder: Path, book: nbformat.NotebookNode, student: str, assignment: str) -> None:
        """A work copy of the submission, with the repaired notebook; what the student handed in is only read."""
        stage = self.work / "submitted" / student / assignment
        stage.mkdir(parents=True)
        (stage / f"{assignment}.ipynb").write_text(as_text(book), encoding="utf-8")
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(".") for part in inside.parts)
            if path.is_symlink() or not path.is_file() or hidden or path.suffix == ".ipynb":
                continue
            if any((folder / parent).is_symlink() for parent in inside.parents) or path.stat().st_size > LARGEST_EXTRA:
                continue
            (stage / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, stage / inside)

    def _autograde(self, student: str, assignment: str) -> None:
        config = deepcopy(self.config)
        config.CourseDirectory.submitted_directory = str((self.work / "submitted").relative_to(self.root))
        coursedir = CourseDirectory(config=config, log=self.log.logger)
        coursedir.assignment_id, coursedir.student_id = assignment, student
        converter = Autograde(coursedir=coursedir, config=config, log=self.log.logger)
        converter.force = True
        was_there = self._has_submission(student, assignment)
        try:
            converter.start()
        except BaseException:
            if not was_there:  # what has no marks is not in the gradebook, where it would look like 0
                with Gradebook(self.db_url) as gradebook:
                    if self._has_submission(student, assignment):
                        gradebook.remove_submission(assignment, student)
            raise

    def _has_submission(self, student: str, assignment: str) -> bool:
        with Gradebook(self.db_url) as gradebook:
            try:
                gradebook.find_submission(assignment, student)
            except MissingEntry:
                return False
            return True

    def _marks(self, student: str, assignment: str) -> tuple[list[Mark], float]:
        """Marks as the gradebook has them, with what the autograded notebook says about each."""
        autograded = self.root / str(self.config.CourseDirectory.get("autograded_directory", "autograded"))
        book = nbformat.read(autograded / student / assignment / f"{assignment}.ipynb", as_version=4)
        notes: dict[str, Any] = {}
        for cell in book.cells:
            if cell.metadata.get("nbgrader", {}).get("grade"):
                notes[cell.metadata.nbgrader.grade_id] = cell.metadata.get(NOTE, {})
        with Gradebook(self.db_url) as gradebook:
            submission = gradebook.find_submission_notebook(assignment, assignment, student)
            marks = [_mark(grade, notes.get(grade.name, {})) for grade in submission.grades]
            penalty = float(submission.late_submission_penalty or 0.0)
        order = {name: number for number, name in enumerate(notes)}
        return sorted(marks, key=lambda mark: order.get(f"check-{mark.exercise}", len(order))), penalty

    def _why(self, error: BaseException) -> str:
        """The reason in one line: nbgrader logs it and raises something general."""
        for line in reversed(self.log.text().splitlines()):
            if match := line.strip():
                name = match.partition(":")[0].rpartition(".")[2]
                if name.endswith(("Error", "Exception", "Entry")) and " " not in name:
                    return match[:300]
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _mark(grade: Any, note: dict[str, Any]) -> Mark:
    name = str(grade.name).removeprefix("check-")
    if note.get("status") == "ungraded" and grade.manual_score is None:
        return Mark(name, None, grade.max_score, UNGRADED, said=str(note.get("reason", "")))
    return Mark(name, grade.score, grade.max_score, str(note.get("status", GRADED)),
                dict(note.get("misconceptions", {})), str(note.get("said", "")))  # fmt: skip


class _Kept:
    """A logger that keeps what nbgrader says, for when something fails."""

    def __init__(self) -> None:
        self.logger = logging.Logger("anatomy.grading")
        self._lines: list[str] = []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: self._lines.append(handler.format(record))  # type: ignore[method-assign]
        self.logger.addHandler(handler)

    def clear(self) -> None:
        self._lines.clear()

    def text(self) -> str:
        return "\n".join(self._lines)


def _progress(console: Console) -> Progress:
    return Progress(TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                    TimeRemainingColumn(), console=console)  # fmt: skip


def _compare(rows: list[Row], path: Path) -> Comparison | None:
    """The marks against those that a made-up class has written beside it."""
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        known = {(line["student"], line["assignment"]): line for line in csv.DictReader(file)}
    graded = {(row.student, row.assignment): row for row in rows}
    differing: list[str] = []
    for place in sorted(known.keys() & graded.keys()):
        row, truth = graded[place], known[place]
        if truth["status"] != row.status:
            differing.append(f"{', '.join(place)}: {row.status}, known: {truth['status']}. {' '.join(row.reasons)}")
            continue
        wanted = json.loads(truth["marks"])
        answers = json.loads(truth["answers"])
        for mark in row.marks:
            if mark.points != wanted.get(mark.exercise):
                differing.append(f"{', '.join(place)}, {mark.exercise} ({answers.get(mark.exercise)}): {mark.points} "
                                 f"points, known: {wanted.get(mark.exercise)}. {mark.said}")  # fmt: skip
    return Comparison(len(known.keys() & graded.keys()), tuple(differing))
