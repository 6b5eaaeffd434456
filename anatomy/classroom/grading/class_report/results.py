"""What grading has recorded of each submission, and why it has not of others."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy.exc import SAWarning

from anatomy.classroom.grading.errors import Unrepairable, in_brief
from anatomy.classroom.grading.gradebook import GradebookWriter, database_file, open_gradebook
from anatomy.classroom.grading.last_run import NOT_YET, reason_that_holds, reasons_of_last_run
from anatomy.classroom.grading.misplaced import misplaced
from anatomy.classroom.grading.notes import CellNote, FewNumbers, NotebookNote
from anatomy.classroom.grading.recorded import answers_in
from anatomy.classroom.grading.report import PARTLY, UNGRADED, SubmissionResult
from anatomy.classroom.grading.submission_file import parse_notebook
from anatomy.classroom.grading.submissions import Submission, find_submissions, readable
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.settings import settings
from anatomy.engine.typed import typed

EARLIER = "The marks are those of what was handed in before."


class NothingGraded(UserError):
    """There is nothing to report on. The message says what to do."""


@dataclass(frozen=True)
class Record:
    """One submission.

    `result` has no marks when there are none; `answers` is exercise → the program of its answer; `open` says why there
    is no mark, or no mark for what is handed in now, or which mark by hand is older than its answer, else "". `names`
    are the student's, beside the id. `numbers` is exercise → what a wrong answer that no mistake explains gave for the
    inputs of these `seeds`.
    """

    result: SubmissionResult
    answers: Mapping[str, str] = field(default_factory=dict)
    open: str = ""
    names: tuple[str, ...] = ()
    numbers: Mapping[str, FewNumbers] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()

    @property
    def student(self) -> str:
        return self.result.student

    @property
    def notebook(self) -> str:
        return self.result.assignment


def read_records(root: Path) -> list[Record]:
    """All submissions that the gradebook or ``submitted/`` knows, by notebook and student. Nothing is changed.

    Raises
    ------
    NothingGraded
        When there is no gradebook, or nobody has graded anything.
    CannotRecord
        When the gradebook can't be read.
    """
    root, command = root.resolve(), typed("grade")  # before the gradebook puts programs on the path
    config = settings(root)
    config.CourseDirectory.root = str(root)
    if (file := database_file(config)) and not file.is_file():
        raise NothingGraded(f"There is no gradebook at {file}. Grade first: `{command}`; "
                            f"`{typed('sample-class')}` writes a made-up class to try it with.")  # fmt: skip
    with warnings.catch_warnings(), open_gradebook(root, config) as gradebook:
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's queries, harmless
        known = {(one.student, one.notebook): one for one in _recorded(gradebook)}
        autograded = gradebook.autograded
    submitted = root / str(config.CourseDirectory.get("submitted_directory", "submitted"))
    table = root / "grades.csv"
    last_run = reasons_of_last_run(table)
    for submission in find_submissions(submitted, None, None):
        place = readable(submission.student), readable(submission.assignment)
        before = known.get(place)
        said = reason_that_holds(place, submission.folder, autograded, table, last_run)
        reason = said or _why_unreadable(submission) or ("" if before else NOT_YET)
        if not reason:
            continue
        if before:
            known[place] = replace(before, open=f"{reason} {EARLIER}")
        else:
            known[place] = Record(SubmissionResult(*place, UNGRADED, (reason,)), open=reason)
    lost = (Record(one, open=" ".join(one.reasons)) for one in misplaced(submitted))
    records = [*known.values(), *lost]
    if all(one.open == NOT_YET for one in records):
        raise NothingGraded("The gradebook holds no marks yet. Put submissions into submitted/<student>/<notebook>/ "
                            f"and run `{command}`.")  # fmt: skip
    return sorted(records, key=lambda one: (one.notebook, one.student))


def _recorded(gradebook: GradebookWriter) -> Iterator[Record]:
    for assignment in gradebook.gradebook.assignments:
        for submission in assignment.submissions:
            person = submission.student
            result, notebook = gradebook.recorded(person.id, assignment.name)
            notes = map(CellNote.read, notebook["cells"])
            numbers = {note.exercise: note.numbers for note in notes if note.numbers}
            names = tuple(str(name) for name in (person.first_name, person.last_name, person.email) if name)
            reasons = (*(result.reasons if result.status == PARTLY else ()), *result.older_marks)
            yield Record(
                result, answers_in(notebook), " ".join(reasons), names, numbers, NotebookNote.read(notebook).seeds
            )


def _why_unreadable(submission: Submission) -> str:
    """Why what is handed in now can't be graded, or ""."""
    try:
        submission.check_names()
        parse_notebook(submission.read().notebook)
    except Unrepairable as reason:
        return readable(str(reason))
    except OSError as error:
        return f"It can't be read. {in_brief(error)}"
    return ""
