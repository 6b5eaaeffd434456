"""A run over a class: what of it must be graded, who grades it, and what becomes of the results."""

from __future__ import annotations

import contextlib
import errno
import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from traitlets.config import Config

from anatomy.classroom.forked_kernels import NO_SANDBOX
from anatomy.classroom.grading.assignments import Assignment, Assignments
from anatomy.classroom.grading.errors import GOES_ON, CannotRecord, Unrepairable, in_brief
from anatomy.classroom.grading.feedback.folder import FeedbackFolder
from anatomy.classroom.grading.feedback.standing import as_date
from anatomy.classroom.grading.fingerprints import hash_of, hash_parts
from anatomy.classroom.grading.gradebook import GradebookWriter
from anatomy.classroom.grading.report import UNGRADED, SubmissionResult
from anatomy.classroom.grading.submission_file import parse_notebook
from anatomy.classroom.grading.submissions import Submission, SubmissionContent, readable
from anatomy.classroom.grading.workers.parcels import Graded, ToGrade

_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Task:
    """One submission that must be graded, or whose page must be made."""

    submission: Submission
    to: Assignment

    @property
    def student(self) -> str:
        return self.submission.student

    @property
    def assignment(self) -> str:
        return self.submission.assignment

    def made_from(self, content: SubmissionContent) -> str:
        """A hash of all that its checks' points are made from."""
        notes = "\n".join(content.notes).encode()
        return hash_of([self.to.made_from.encode(), notes, content.notebook, *hash_parts(content.files)])

    def files(self, content: SubmissionContent) -> dict[str, bytes]:
        """The files that lie beside its notebook: the student's, and over them those that were handed out."""
        return {**content.files, **self.to.files}


class ClassRun:
    """What happens to each submission.

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
        self.stale: list[Task] = []
        self.pages_made = 0
        self.without_page: list[str] = []

    def look_at(self, submissions: Iterable[Submission]) -> list[Task]:
        """What there is to grade. The rest gets its result: what can't be graded, and what has not changed."""
        tasks: list[Task] = []
        for submission in submissions:
            try:
                submission.check_names()
                task = Task(submission, self.assignments.load(submission.assignment))
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

    def know_ungraded(self, misplaced: Iterable[Submission]) -> None:
        """Let the gradebook know the students who have no mark, so that exports have a line for them."""
        ungraded = [submission for submission, result in self.results.items() if result.status == UNGRADED]
        for submission in (*ungraded, *misplaced):
            with contextlib.suppress(Unrepairable):
                submission.check_names()
                self.gradebook.add_student(submission.student)

    def grade(self, tasks: list[Task], count: int, scheduler: str | None) -> Iterator[SubmissionResult]:
        """Grade and record, with so many workers; gives each result as it is ready."""
        if not tasks:
            return
        # What takes long to import, and a run that grades nothing can do without.
        from anatomy.classroom.grading.course_kernels import fresh_seeds
        from anatomy.classroom.grading.feedback.page import page_settings
        from anatomy.classroom.grading.pipeline import worker_pipeline
        from anatomy.classroom.grading.workers import open_workers

        # Without a sandbox a submission could leave its seeds for the next one to find.
        seeds = fresh_seeds() if self.sandbox != NO_SANDBOX else None
        with open_workers(self.sandbox, min(count, len(tasks)), scheduler) as workers:
            pipeline, pages = worker_pipeline(self.config), page_settings(self.config) if self.feedback else ""
            under_way: dict[int, tuple[Task, float, SubmissionContent]] = {}
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
                    yield ToGrade(
                        student=task.student,
                        assignment=task.assignment,
                        notebook=content.notebook,
                        edition=task.to.edition,
                        files=task.files(content),
                        figures=self.feedback.figures(task.assignment) if self.feedback else {},
                        repairs=content.notes,
                        made_from=task.made_from(content),
                        seeds=seeds or fresh_seeds(),
                        pipeline=pipeline,
                        sandbox=self.sandbox,
                        fork_server=workers.address,
                        shared=workers.shared,
                        page_settings=pages,
                        name=self.feedback.name(task.student) if self.feedback else "",
                        submitted=as_date(content.timestamp),
                    ).packed()

            for number, parcel in workers.grade(parcels()):
                task, began, content = under_way.pop(number)
                result = self._recorded(task, content, Graded.unpacked(parcel))
                yield self._done(task, replace(result, seconds=time.perf_counter() - began))
            yield from gone

    def _done(self, task: Task, result: SubmissionResult) -> SubmissionResult:
        self.results[task.submission] = result
        self.remaining -= 1
        return result

    def renew_pages(self) -> Iterator[Task]:
        """Make the pages that are missing or not right any more; gives each submission as its page is ready."""
        for task in self.stale:
            with contextlib.suppress(OSError, Unrepairable):  # changed meanwhile: the next run grades it
                notebook = self.gradebook.graded(task.student, task.assignment)
                self._put_page(task, notebook, task.files(task.submission.read()))
            yield task

    def _put_page(self, task: Task, notebook: bytes, files: dict[str, bytes], page: bytes = b"") -> None:
        """Put a page in its place. What goes wrong costs this page only."""
        if not self.feedback:
            return
        try:
            self.feedback.put(task.student, task.assignment, notebook, files, page)
            self.pages_made += 1
        except Exception as error:
            self.without_page.append(f"{task.student}, {task.assignment}: {in_brief(error)}")

    def _recorded(self, task: Task, content: SubmissionContent, graded: Graded) -> SubmissionResult:
        if graded.ungraded:
            return _ungraded(task.submission, graded.ungraded)
        files = task.files(content)
        try:
            if self.feedback:
                with contextlib.suppress(OSError):  # then it can't be replaced either, which is said
                    self.feedback.discard(task.student, task.assignment)
            result = self.gradebook.record(
                task.student, task.assignment, graded.notebook, graded.marks, graded.comments, files, content.timestamp
            )
        except Exception as error:  # it costs this submission only
            _stop_if_nothing_can_be_recorded(error)
            return _ungraded(task.submission, f"It could not be recorded: {in_brief(error)}")
        self._put_page(task, graded.notebook, files, graded.page)
        return result


def _stop_if_nothing_can_be_recorded(error: Exception) -> None:
    """Raise what is not the fault of one submission: the gradebook does not answer, or the disk is full."""
    if isinstance(error, DBAPIError) and not isinstance(error, DataError | IntegrityError):
        raise error
    if isinstance(error, OSError) and error.errno in _DISK_IS_FULL:
        raise CannotRecord(f"There is no room to record marks ({in_brief(error)}). {GOES_ON}") from error


def _ungraded(submission: Submission, reason: str) -> SubmissionResult:
    return SubmissionResult(
        readable(submission.student), readable(submission.assignment), UNGRADED, (readable(reason),)
    )
