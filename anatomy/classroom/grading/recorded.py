"""The result of a graded submission: its marks as the gradebook has them, the rest from its graded notebook."""

from __future__ import annotations

from typing import Any

from nbgrader.api import Gradebook

from anatomy.classroom.grading.feedback.standing import grades_of
from anatomy.classroom.grading.marks_by_hand import is_older
from anatomy.classroom.grading.notes import CellNote, NotebookNote
from anatomy.classroom.grading.report import GRADED, PARTLY, REPAIRED, UNGRADED, Mark, SubmissionResult


def answers_in(book: dict[str, Any]) -> dict[str, str]:
    """The answers of a graded notebook: exercise → its program."""
    found: dict[str, str] = {}
    for cell in book["cells"]:
        marks, source = cell["metadata"].get("nbgrader", {}), cell["source"]
        if marks.get("solution"):
            found[str(marks["grade_id"])] = source if isinstance(source, str) else "".join(source)
    return found


def recorded_result(gradebook: Gradebook, student: str, assignment: str, book: dict[str, Any]) -> SubmissionResult:
    """What the gradebook says now of a submission whose graded notebook is `book`.

    Raises
    ------
    MissingEntry
        When it knows of no such submission.
    """
    found: dict[str, CellNote] = {}
    for cell in book["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade"):
            found[marks["grade_id"]] = CellNote.read(cell)
    submission = gradebook.find_submission_notebook(assignment, assignment, student)
    order = {name: place for place, name in enumerate(found)}
    grades = sorted(grades_of(gradebook, submission), key=lambda grade: order.get(grade.name, len(order)))
    marks = tuple(_mark(grade, found.get(grade.name, CellNote())) for grade in grades)
    repairs = NotebookNote.read(book).repairs
    reasons = [f"{mark.exercise}: {mark.said}" for mark in marks if mark.status == UNGRADED]
    status = PARTLY if reasons else REPAIRED if repairs else GRADED
    penalty = float(submission.late_submission_penalty or 0.0)
    return SubmissionResult(student, assignment, status, (*reasons, *repairs), marks, penalty)


def _mark(grade: Any, note: CellNote) -> Mark:
    name = str(grade.name).removeprefix("check-")
    if grade.manual_score is None and (note.status == "ungraded" or grade.auto_score is None):
        return Mark(name, None, grade.max_score, UNGRADED, said=note.reason or "It has no mark yet.")
    older = is_older(grade)
    return Mark(name, grade.score, grade.max_score, note.status or GRADED, note.mistakes, note.said, note.broken,
                older, grade.auto_score if older else None)  # fmt: skip
