"""Grade a class: what changed goes to the workers, what they send back is recorded, and a table says what it was."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import parse_utc
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

import anatomy
from anatomy.authoring.notebooks import as_text, chosen, source_file
from anatomy.authoring.student import settings
from anatomy.course import NOTEBOOKS
from anatomy.errors import UserError
from anatomy.grading import sandbox as sandboxes
from anatomy.grading.crew import crew
from anatomy.grading.kernels import fresh_seeds
from anatomy.grading.ledger import Ledger, open_ledger
from anatomy.grading.masters import master, register
from anatomy.grading.pages import Feedback, settings_of_pages
from anatomy.grading.repair import LARGEST, Unrepairable, find_notebook, parse_notebook
from anatomy.grading.report import UNGRADED, Comparison, Report, Row, show, write_csv
from anatomy.grading.sample import KNOWN_MARKS
from anatomy.grading.work import BESIDE, pack, unpack

MOST_EXTRA, MOST_FILES = 64 * 2**20, 1000
"""Bytes of files beside a notebook that are taken along, and how many; what does not fit is left out."""
NAMED = 5
"""How many of the files that are left out are named."""
PASSED_ON = ("Execute", "RunAndObserve", "JudgeObservations", "LimitOutput", "WarmKernelManager")
"""The sections of ``nbgrader_config.py`` that workers go by."""
WITHOUT_SANDBOX = (
    "Graded without a sandbox: submissions could read this machine's files and use its network. "
    "Trust these marks only if the machine or container holds nothing that students must not see."
)


class NothingToGrade(UserError):
    """There is nothing to grade. The message says where it was looked for and what to do."""


class AlreadyGrading(UserError):
    """Another process is grading this course."""


def grade(
    root: Path,
    assignments: Iterable[str] | None = None,
    students: Iterable[str] | None = None,
    *,
    sandbox: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    feedback: bool = True,
    console: Console | None = None,
) -> Report:
    """Grade what changed in ``submitted/``, write ``feedback/`` and ``grades.csv``, and print the table.

    Killed at any moment and called again, it goes on where it was.

    Parameters
    ----------
    assignments
        Notebooks by slug or number; by default all that were handed in.
    students
        By default all.
    sandbox
        ``"bubblewrap"`` or ``"none"``; by default what ANATOMY_SANDBOX says, else bubblewrap.
    workers
        How many processes grade; by default one for each core.
    scheduler
        The address of a Dask scheduler whose workers grade instead. They need this package.
    force
        Grade also what has not changed.
    feedback
        Make the pages that students get back: of what was graded, and where they are missing or no longer say what the
        gradebook says.
    console
        Where progress and table go; by default the terminal.

    Raises
    ------
    NothingToGrade
        When no submission is there.
    AlreadyGrading
        When another process grades this course.
    NoSandbox
        When bubblewrap is wanted and can't be had.
    UserError
        When an assignment named here does not exist.
    """
    kind = sandboxes.kind(sandbox)
    root = root.resolve()
    console = console or Console()
    config = settings(root)
    config.CourseDirectory.root = str(root)
    submitted = root / str(config.CourseDirectory.get("submitted_directory", "submitted"))
    wanted = {book.slug for book in chosen(root, assignments)} if assignments else None
    found = list(_submissions(submitted, wanted, set(students) if students else None))
    if not found:
        raise NothingToGrade(f"There is nothing to grade in {submitted}. A submission is a folder "
                             f"{submitted.name}/<student>/<notebook>/ with the notebook in it; "
                             "`anatomy sample-class` writes a made-up class.")  # fmt: skip
    began = time.perf_counter()
    with warnings.catch_warnings(), _alone(root) as stage, open_ledger(root, config, stage) as ledger:
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's queries, harmless
        pages = Feedback(root, config, ledger.gradebook, stage) if feedback else None
        run = _Run(root, config, ledger, pages, kind, force)
        jobs = run.look_at(found)
        rows, graded = run.rows, len(jobs)
        with _environment(sandboxes.VARIABLE, kind), _progress(console) as progress:
            task = progress.add_task("starting" if jobs else "nothing has changed", total=len(jobs) + len(run.stale))
            try:
                for row in run.work_off(jobs, workers or os.cpu_count() or 1, scheduler):
                    progress.update(task, advance=1, description=f"{row.student}, {row.assignment}")
                for job in run.renew_pages():
                    progress.update(task, advance=1, description=f"feedback: {job.student}, {job.assignment}")
            except KeyboardInterrupt:
                progress.stop()
                done = len(jobs) - run.open
                console.print(f"Stopped. {done} of {len(jobs)} are graded and recorded; the same command goes on from "
                              "there.", highlight=False, soft_wrap=True)  # fmt: skip
                raise
            progress.update(task, description="done")
    report = Report(tuple(rows[folder] for folder in found), time.perf_counter() - began,
                    _compare([rows[folder] for folder in found], submitted / KNOWN_MARKS), graded,
                    WITHOUT_SANDBOX if kind == sandboxes.NONE else "", run.pages_made if feedback else None,
                    tuple(run.without_page))  # fmt: skip
    write_csv(report.rows, root / "grades.csv")
    show(report, console)
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


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[Path]:
    """A folder for work copies, while nobody else grades this course; what a killed run has left is removed."""
    place = root / ".anatomy"
    place.mkdir(exist_ok=True)
    handle = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyGrading(f"Another process is grading {root}. Wait for it, or stop it.") from None
        for left in [*place.glob("grading-*"), *place.glob("release-*")]:
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="grading-", dir=place) as folder:
            yield Path(folder)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name)
        else:
            os.environ[name] = before


@dataclass
class _Kit:
    """What all submissions of an assignment need."""

    master: bytes
    beside: dict[str, bytes]
    made_from: str
    """A hash of the above, of the program and of what else decides on marks."""


@dataclass(frozen=True)
class _Job:
    """One submission that is to be graded."""

    folder: Path
    kit: _Kit
    path: Path
    notes: list[str]

    @property
    def student(self) -> str:
        return self.folder.parent.name

    @property
    def assignment(self) -> str:
        return self.folder.name

    def read(self) -> _Content:
        submission, (beside, left_out) = self.path.read_bytes(), _beside(self.folder)
        notes = [*self.notes, *_said(left_out)]
        parts = [self.kit.made_from.encode(), "\n".join(notes).encode(), submission, *_parts(beside)]
        return _Content(submission, beside, notes, _hash(parts))


@dataclass(frozen=True)
class _Content:
    """What was handed in, and what its mark will be made from."""

    submission: bytes
    beside: dict[str, bytes]
    notes: list[str]
    made_from: str


class _Run:
    """One run over a class. `rows` has what is known of each submission's folder, `open` how many are not graded.

    `stale` are those that are graded as they are, but whose page is missing or not right any more; `without_page` says
    for which no page could be made.
    """

    def __init__(
        self, root: Path, config: Config, ledger: Ledger, feedback: Feedback | None, kind: str, force: bool
    ) -> None:
        self.root, self.config, self.ledger, self.kind, self.force = root, config, ledger, kind, force
        self.feedback = feedback
        self.rows: dict[Path, Row] = {}
        self.open = 0
        self.stale: list[_Job] = []
        self.pages_made = 0
        self.without_page: list[str] = []
        self.kits: dict[str, _Kit | str] = {}
        # Without a sandbox a submission could leave its seeds for the next one to find.
        self.seeds = fresh_seeds() if kind != sandboxes.NONE else None

    def look_at(self, folders: Iterable[Path]) -> list[_Job]:
        """What there is to grade. The rest gets its row: what can't be graded, and what has not changed."""
        jobs: list[_Job] = []
        for folder in folders:
            try:
                job = self._job(folder)
                content = job.read()
                known = None if self.force else self.ledger.unchanged(job.student, job.assignment, content.made_from)
                if not known:
                    parse_notebook(content.submission)  # says at once when it can't be read
            except Unrepairable as reason:
                self.rows[folder] = _ungraded(folder, str(reason))
            except Exception as error:  # whatever it is, it costs this submission only
                self.rows[folder] = _ungraded(folder, f"It can't be read. {_why(error)}")
            else:
                if known:
                    self.rows[folder] = known
                    if self.feedback and not self.feedback.is_right(job.student, job.assignment, content.made_from):
                        self.stale.append(job)
                else:
                    jobs.append(job)
        self.open = len(jobs)
        return jobs

    def work_off(self, jobs: list[_Job], workers: int, scheduler: str | None) -> Iterator[Row]:
        """Grade and record; gives each row as it is ready."""
        if not jobs:
            return
        with crew(self.kind, min(workers, len(jobs)), scheduler) as hands:
            under_way: dict[int, tuple[float, dict[str, bytes]]] = {}

            def parcels() -> Iterator[bytes]:
                for number, job in enumerate(jobs):
                    content = job.read()
                    under_way[number] = time.perf_counter(), content.beside
                    yield self._parcel(job, content, hands.address)

            for number, result in hands.grade(parcels()):
                job = jobs[number]
                began, beside = under_way.pop(number)
                row = replace(self._recorded(job, beside, result), seconds=time.perf_counter() - began)
                self.rows[job.folder] = row
                self.open -= 1
                yield row

    def renew_pages(self) -> Iterator[_Job]:
        """Make the pages that are missing or not right any more; gives each submission as its page is ready."""
        for job in self.stale:
            with contextlib.suppress(OSError, Unrepairable):  # changed under our hands: the next run grades it
                self._give_back(job, self.ledger.graded(job.student, job.assignment), job.read().beside)
            yield job

    def _give_back(self, job: _Job, notebook: bytes, beside: dict[str, bytes], page: bytes = b"") -> None:
        """Put a page in its place. What goes wrong costs this page only."""
        if not self.feedback:
            return
        try:
            self.feedback.put(job.student, job.assignment, notebook, {**beside, **job.kit.beside}, page)
            self.pages_made += 1
        except Exception as error:
            self.without_page.append(f"{job.student}, {job.assignment}: {_why(error)}")

    def _job(self, folder: Path) -> _Job:
        if not _is_text(folder.name) or not _is_text(folder.parent.name):
            raise Unrepairable("The folder's name is not UTF-8. Rename it.")
        if set("<>") & set(folder.parent.name):  # Formgrader puts it into its pages as it is
            raise Unrepairable("The folder's name has < or > in it, which a browser would take for a page's code. "
                               "Rename it.")  # fmt: skip
        kit = self._kit(folder.name)
        path, notes = find_notebook(folder, folder.name)
        if (size := path.stat().st_size) > LARGEST:
            raise Unrepairable(f"The file is too large ({size / 2**20:.0f} MB).")
        return _Job(folder, kit, path, [_readable(note) for note in notes])

    def _kit(self, assignment: str) -> _Kit:
        if assignment not in self.kits:
            self.kits[assignment] = self._new_kit(assignment)
        kit = self.kits[assignment]
        if isinstance(kit, str):
            raise Unrepairable(kit)
        return kit

    def _new_kit(self, assignment: str) -> _Kit | str:
        source = source_file(self.root, assignment)
        if not any(book.slug == assignment for book in NOTEBOOKS) or not source.is_file():
            return f"No notebook of the course is called {assignment}."
        try:
            register(self.root, assignment, self.config)
        except (NbGraderException, SystemExit) as error:
            return f"The gradebook could not take up {assignment}: {_why(error)}"
        text = as_text(master(self.root, assignment)).encode()
        beside, _ = _beside(source.parent)
        rules = (self.root / "nbgrader_config.py").read_bytes()
        due = self.ledger.due(assignment).encode()
        return _Kit(text, beside, _hash([text, rules, program().encode(), due, *_parts(beside)]))

    def _parcel(self, job: _Job, content: _Content, address: str) -> bytes:
        about = {
            "assignment": job.assignment, "student": job.student, "from": content.made_from, "notes": content.notes,
            "config": {name: self.config[name] for name in PASSED_ON if name in self.config},
            "seeds": self.seeds or fresh_seeds(), "sandbox": self.kind, "warm": address,
            "pages": settings_of_pages(self.config) if self.feedback else "",
        }  # fmt: skip
        beside = {BESIDE + name: content for name, content in {**content.beside, **job.kit.beside}.items()}
        return pack(about, {"submission": content.submission, "master": job.kit.master, **beside})

    def _recorded(self, job: _Job, beside: dict[str, bytes], result: bytes) -> Row:
        about, files = unpack(result)
        if about["ungraded"]:
            return _ungraded(job.folder, about["ungraded"])
        try:
            if self.feedback:
                self.feedback.discard(job.student, job.assignment)
            row = self.ledger.record(
                job.student, job.assignment, files["notebook"], about["marks"], about["comments"],
                {**beside, **job.kit.beside}, _timestamp(beside),
            )  # fmt: skip
        except Unrepairable as reason:
            return _ungraded(job.folder, str(reason))
        except Exception as error:  # it costs this submission only
            return _ungraded(job.folder, f"It could not be recorded: {_why(error)}")
        self._give_back(job, files["notebook"], beside, files.get("page", b""))
        return row


def _ungraded(folder: Path, reason: str) -> Row:
    return Row(_readable(folder.parent.name), _readable(folder.name), UNGRADED, (_readable(reason),))


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8."""
    return name == _readable(name)


def _readable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def _beside(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files beside a notebook, by their path, and what is left out and why. Notebooks and hidden files are neither.

    Links are not followed, as they could lead anywhere.
    """
    found: dict[str, bytes] = {}
    left_out: list[str] = []
    room = MOST_EXTRA
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts) or path.suffix == ".ipynb":
            continue
        if why := _why_not(path, str(inside), room, len(found)):
            left_out.append(f"{' '.join(_readable(str(inside)).split())} ({why})")
        elif path.is_file():
            found[inside.as_posix()] = path.read_bytes()
            room -= len(found[inside.as_posix()])
    return found, left_out


def _why_not(path: Path, name: str, room: int, files: int) -> str:
    """Why a file is left out, or "" for what is not: files that can come along, and folders."""
    if path.is_symlink():
        return "a symbolic link"
    if path.is_dir():
        return ""
    if not _is_text(name):
        return "its name is not UTF-8"
    if not path.is_file():
        return "not a file"
    if (size := path.stat().st_size) > room:
        return f"{size / 2**20:.0f} MB, and {MOST_EXTRA >> 20} MB is the most for all files"
    return f"more than {MOST_FILES} files" if files >= MOST_FILES else ""


def _said(left_out: list[str]) -> list[str]:
    """One note on all that is left out."""
    if not left_out:
        return []
    more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
    return [f"Left out: {', '.join(left_out[:NAMED])}{more}."]


def _parts(files: dict[str, bytes]) -> list[bytes]:
    return [part for name, content in files.items() for part in (name.encode(), content)]


def _timestamp(beside: dict[str, bytes]) -> Any:
    """When it was handed in, if a file says so, as nbgrader has it."""
    text = beside.get("timestamp.txt", b"").decode("utf-8", "replace").strip()
    if not text:
        return None
    try:
        return parse_utc(text)
    except ValueError:
        raise Unrepairable(f"Its timestamp.txt holds no time: {text[:40]!r}.") from None


@cache
def program() -> str:
    """What this program is: a hash of the package's code and of the version of torch."""
    package = Path(anatomy.__file__).parent
    return _hash([torch.__version__.encode(), *(path.read_bytes() for path in sorted(package.rglob("*.py")))])


def _hash(parts: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()


def _why(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


class _Rate(ProgressColumn):
    """Submissions a minute, all things counted."""

    def render(self, task: Task) -> Text:
        return Text(f"{60 * task.completed / task.elapsed:.0f}/min" if task.elapsed and task.completed else "")


def _progress(console: Console) -> Progress:
    return Progress(TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(), _Rate(),
                    TimeElapsedColumn(), TimeRemainingColumn(), console=console)  # fmt: skip


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
