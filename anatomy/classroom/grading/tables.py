"""The tables of a whole class, ``marks.csv`` and ``grades.csv``, also of those at whom a run did not look."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.api import Student

from anatomy.classroom.grading.errors import CannotRecord, in_brief
from anatomy.classroom.grading.last_run import NOT_YET, Place, reason_that_holds, reasons_of_last_run
from anatomy.classroom.grading.misplaced import misplaced
from anatomy.classroom.grading.report import UNGRADED, SubmissionResult, write_csv, write_marks
from anatomy.classroom.grading.submissions import find_submissions, readable

if TYPE_CHECKING:
    from anatomy.classroom.grading.gradebook import GradebookWriter

GRADES, MARKS = "grades.csv", "marks.csv"
"""The tables' names: a line for each submission, and a line for each student."""


def other_results(
    gradebook: GradebookWriter, submitted: Path, table: Path, seen: Collection[Place] = ()
) -> list[SubmissionResult]:
    """What is known of all submissions but those `seen`, in the gradebook and in ``submitted/``."""
    said = reasons_of_last_run(table)
    found: dict[Place, SubmissionResult] = {}
    for student, assignment in gradebook.places().difference(seen):
        found[student, assignment] = gradebook.recorded(student, assignment)[0]
    for one in find_submissions(submitted, None, None):
        place = readable(one.student), readable(one.assignment)
        if (one.student, one.assignment) in seen:
            continue
        reason = reason_that_holds(place, one.folder, gradebook.autograded, table, said)
        if reason or place not in found:
            found[place] = SubmissionResult(*place, UNGRADED, (reason or NOT_YET,))
    found.update({place: one for one in misplaced(submitted) if (place := (one.student, one.assignment)) not in seen})
    return list(found.values())


def absent(gradebook: GradebookWriter, results: Iterable[SubmissionResult]) -> tuple[str, ...]:
    """The students of the gradebook's class list of whom nothing was handed in."""
    known = {student for (student,) in gradebook.gradebook.db.query(Student.id)}
    return tuple(sorted(known - {result.student for result in results}))


def write_tables(results: Iterable[SubmissionResult], root: Path, missing: Iterable[str] = ()) -> None:
    """Write both. Those who are `missing` have a line in ``marks.csv``, too.

    Raises
    ------
    CannotRecord
        When they can't be written.
    """
    results = sorted(results, key=lambda result: (result.student, result.assignment))
    try:
        write_csv(results, root / GRADES)
        write_marks(results, root / MARKS, missing)
    except OSError as error:
        raise CannotRecord(f"The tables of marks could not be written ({in_brief(error)}). All marks are in the "
                           "gradebook, and the same command writes them again.") from error  # fmt: skip
