"""Grade a class: what changed goes to the workers, what they send back is recorded, and a table says what it was."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SAWarning
from traitlets.config import Config

from anatomy.authoring.notebooks import chosen
from anatomy.authoring.student import settings
from anatomy.errors import UserError
from anatomy.forked_kernels import NO_SANDBOX, choose_sandbox
from anatomy.forked_kernels.sandbox import VARIABLE as SANDBOX_VARIABLE
from anatomy.grading.assignments import Assignment, Assignments
from anatomy.grading.errors import GOES_ON, CannotRecord, Unrepairable, in_brief
from anatomy.grading.feedback.folder import FeedbackFolder
from anatomy.grading.feedback.page import page_settings
from anatomy.grading.fingerprints import hash_of, hash_parts
from anatomy.grading.gradebook import GradebookWriter, open_gradebook
from anatomy.grading.known_marks import KNOWN_MARKS, compare_with_known_marks
from anatomy.grading.pipeline import worker_pipeline
from anatomy.grading.progress_bar import progress_bar
from anatomy.grading.report import UNGRADED, Report, SubmissionResult, show, write_csv
from anatomy.grading.run_lock import run_lock
from anatomy.grading.submission_file import parse_notebook
from anatomy.grading.submissions import Submission, SubmissionContent, find_submissions, readable
from anatomy.grading.workers.parcels import FILES, pack, unpack

WITHOUT_SANDBOX = (
    "Graded without a sandbox: submissions could read this machine's files and use its network. "
    "Trust these marks only if the machine or container holds nothing that students must not see."
)

_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)


class NothingToGrade(UserError):
    """There is nothing to grade. The message says where it was looked for and what to do."""


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
    sandbox = choose_sandbox(sandbox)
    root = root.resolve()
    console = console or Console()
    config = settings(root)
    config.CourseDirectory.root = str(root)
    submitted = root / str(config.CourseDirectory.get("submitted_directory", "submitted"))
    wanted = {book.slug for book in chosen(root, assignments)} if assignments else None
    found = list(find_submissions(submitted, wanted, set(students) if students else None))
    if not found:
        raise NothingToGrade(f"There is nothing to grade in {submitted}. A submission is a folder "
                             f"{submitted.name}/<student>/<notebook>/ with the notebook in it; "
                             "`anatomy sample-class` writes a made-up class.")  # fmt: skip
    began = time.perf_counter()
    with warnings.catch_warnings(), run_lock(root), open_gradebook(root, config) as gradebook:
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's queries, harmless
        folder = FeedbackFolder(root, config, gradebook.gradebook) if feedback else None
        run = _Run(Assignments(root, config, gradebook), config, gradebook, folder, sandbox, force)
        tasks = run.look_at(found)
        with _environment(SANDBOX_VARIABLE, sandbox), progress_bar(console) as progress:
            shown = progress.add_task("starting" if tasks else "nothing has changed", total=len(tasks) + len(run.stale))
            try:
                for result in run.grade(tasks, workers or os.cpu_count() or 1, scheduler):
                    progress.update(shown, advance=1, description=f"{result.student}, {result.assignment}")
                for task in run.renew_pages():
                    progress.update(shown, advance=1, description=f"feedback: {task.student}, {task.assignment}")
            except KeyboardInterrupt:
                progress.stop()
                done = len(tasks) - run.remaining
                console.print(f"Stopped. {done} of {len(tasks)} are graded and recorded; the same command goes on from "
                              "there.", highlight=False, soft_wrap=True)  # fmt: skip
                raise
            progress.update(shown, description="done")
    results = tuple(run.results[submission] for submission in found)
    report = Report(results, time.perf_counter() - began, compare_with_known_marks(results, submitted / KNOWN_MARKS),
                    len(tasks), WITHOUT_SANDBOX if sandbox == NO_SANDBOX else "",
                    run.pages_made if feedback else None, tuple(run.without_page))  # fmt: skip
    show(report, console)
    try:
        write_csv(report.results, root / "grades.csv")
    except OSError as error:
        raise CannotRecord(f"grades.csv could not be written ({in_brief(error)}). All marks are in the gradebook, and "
                           "the same command writes it again.") from error  # fmt: skip
    return report


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


@dataclass(frozen=True)
class _Task:
    """One submission that is to be graded, or whose page is to be made."""

    submission: Submission
    to: Assignment

    @property
    def student(self) -> str:
        return self.submission.student

    @property
    def assignment(self) -> str:
        return self.submission.assignment

    def made_from(self, content: SubmissionContent) -> str:
        """A hash of all that its marks are made from."""
        notes = "\n".join(content.notes).encode()
        return hash_of([self.to.made_from.encode(), notes, content.notebook, *hash_parts(content.files)])

    def files(self, content: SubmissionContent) -> dict[str, bytes]:
        """The files that lie beside its notebook: the student's, and over them those that were handed out."""
        return {**content.files, **self.to.files}


class _Run:
    """One run over a class.

    Attributes
    ----------
    results
        What is known of each submission.
    remaining
        How many are still to be graded.
    stale
        Those that are graded as they are, but whose page is missing or not right any more.
    pages_made, without_page
        How many pages were made, and for which none could be made, and why.
    """

    def __init__(
        self,
        assignments: Assignments,
        config: Config,
        gradebook: GradebookWriter,
        feedback: FeedbackFolder | None,
        sandbox: str,
        force: bool,
    ) -> None:
        self.assignments, self.config, self.gradebook, self.feedback = assignments, config, gradebook, feedback
        self.sandbox, self.force = sandbox, force
        self.results: dict[Submission, SubmissionResult] = {}
        self.remaining = 0
        self.stale: list[_Task] = []
        self.pages_made = 0
        self.without_page: list[str] = []

    def look_at(self, submissions: Iterable[Submission]) -> list[_Task]:
        """What there is to grade. The rest gets its result: what can't be graded, and what has not changed."""
        tasks: list[_Task] = []
        for submission in submissions:
            try:
                submission.check_names()
                task = _Task(submission, self.assignments.load(submission.assignment))
                content = submission.read()
                made_from = task.made_from(content)
                known = None if self.force else self.gradebook.unchanged(task.student, task.assignment, made_from)
                if not known:
                    parse_notebook(content.notebook)  # says at once when it can't be read
            except Unrepairable as reason:
                self.results[submission] = _ungraded(submission, str(reason))
            except Exception as error:  # whatever it is, it costs this submission only
                _stop_if_nothing_can_be_recorded(error)
                self.results[submission] = _ungraded(submission, f"It can't be read. {in_brief(error)}")
            else:
                if known:
                    self.results[submission] = known
                    if self.feedback and not self.feedback.is_right(task.student, task.assignment, made_from):
                        self.stale.append(task)
                else:
                    tasks.append(task)
        self.remaining = len(tasks)
        return tasks

    def grade(self, tasks: list[_Task], count: int, scheduler: str | None) -> Iterator[SubmissionResult]:
        """Grade and record, with so many workers; gives each result as it is ready."""
        if not tasks:
            return
        # What takes long to import, and a run that grades nothing can do without.
        from anatomy.grading.course_kernels import fresh_seeds
        from anatomy.grading.workers import open_workers

        # Without a sandbox a submission could leave its seeds for the next one to find.
        seeds = fresh_seeds() if self.sandbox != NO_SANDBOX else None
        with open_workers(self.sandbox, min(count, len(tasks)), scheduler) as workers:
            common = {
                "pipeline": worker_pipeline(self.config), "sandbox": self.sandbox,
                "page_settings": page_settings(self.config) if self.feedback else "",
            }  # fmt: skip
            under_way: dict[int, tuple[_Task, float, SubmissionContent]] = {}
            numbers = itertools.count()
            gone: list[SubmissionResult] = []

            def parcels() -> Iterator[bytes]:
                for task in tasks:
                    try:
                        content = task.submission.read()
                    except (OSError, Unrepairable) as error:  # it could be read a moment ago
                        why = f"It was taken away or changed while others were graded. {error}"
                        gone.append(self._done(task, _ungraded(task.submission, why)))
                        continue
                    under_way[next(numbers)] = task, time.perf_counter(), content
                    about = {**common, "seeds": seeds or fresh_seeds(), "fork_server": workers.address}
                    yield _parcel(task, content, about)

            for number, graded in workers.grade(parcels()):
                task, began, content = under_way.pop(number)
                result = self._recorded(task, content, graded)
                yield self._done(task, replace(result, seconds=time.perf_counter() - began))
            yield from gone

    def _done(self, task: _Task, result: SubmissionResult) -> SubmissionResult:
        self.results[task.submission] = result
        self.remaining -= 1
        return result

    def renew_pages(self) -> Iterator[_Task]:
        """Make the pages that are missing or not right any more; gives each submission as its page is ready."""
        for task in self.stale:
            with contextlib.suppress(OSError, Unrepairable):  # changed meanwhile: the next run grades it
                notebook = self.gradebook.graded(task.student, task.assignment)
                self._put_page(task, notebook, task.files(task.submission.read()))
            yield task

    def _put_page(self, task: _Task, notebook: bytes, files: dict[str, bytes], page: bytes = b"") -> None:
        """Put a page in its place. What goes wrong costs this page only."""
        if not self.feedback:
            return
        try:
            self.feedback.put(task.student, task.assignment, notebook, files, page)
            self.pages_made += 1
        except Exception as error:
            self.without_page.append(f"{task.student}, {task.assignment}: {in_brief(error)}")

    def _recorded(self, task: _Task, content: SubmissionContent, graded: bytes) -> SubmissionResult:
        facts, made = unpack(graded)
        if facts["ungraded"]:
            return _ungraded(task.submission, facts["ungraded"])
        files = task.files(content)
        try:
            if self.feedback:
                with contextlib.suppress(OSError):  # then it can't be replaced either, which is said
                    self.feedback.discard(task.student, task.assignment)
            result = self.gradebook.record(
                task.student, task.assignment, made["notebook"], facts["marks"], facts["comments"], files,
                content.timestamp,
            )  # fmt: skip
        except Exception as error:  # it costs this submission only
            _stop_if_nothing_can_be_recorded(error)
            return _ungraded(task.submission, f"It could not be recorded: {in_brief(error)}")
        self._put_page(task, made["notebook"], files, made.get("page", b""))
        return result


def _stop_if_nothing_can_be_recorded(error: Exception) -> None:
    """Raise what is not the fault of one submission: the gradebook does not answer, or the disk is full."""
    if isinstance(error, DBAPIError) and not isinstance(error, DataError | IntegrityError):
        raise error
    if isinstance(error, OSError) and error.errno in _DISK_IS_FULL:
        raise CannotRecord(f"There is no room to record marks ({in_brief(error)}). {GOES_ON}") from error


def _parcel(task: _Task, content: SubmissionContent, about: dict[str, Any]) -> bytes:
    """What a worker gets; `about` is what it is told of the run."""
    facts = {
        **about, "assignment": task.assignment, "student": task.student, "made_from": task.made_from(content),
        "notes": content.notes,
    }  # fmt: skip
    files = {FILES + name: file for name, file in task.files(content).items()}
    return pack(facts, {"submission": content.notebook, "edition": task.to.edition, **files})


def _ungraded(submission: Submission, reason: str) -> SubmissionResult:
    return SubmissionResult(
        readable(submission.student), readable(submission.assignment), UNGRADED, (readable(reason),)
    )
