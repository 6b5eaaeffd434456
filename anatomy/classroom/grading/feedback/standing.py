"""What the gradebook says of one submission, as a feedback page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.orm import joinedload, undefer

from anatomy.classroom.grading.marks_by_hand import is_older


@dataclass(frozen=True)
class ShownMark:
    """What a check gave; `waits` tells that there is no mark yet and a person must give one.

    `is_older` tells that a person gave the mark to an earlier answer.
    """

    points: float
    worth: float
    waits: bool
    is_older: bool = False


@dataclass(frozen=True)
class Standing:
    """What the gradebook says of a notebook: `marks` by check, `comments` by answer.

    `name` is the student's and `submitted` is when it was handed in (ISO 8601 in UTC), where these are known. `due` is
    the due date of work that lost points by being late, else "".
    """

    score: float
    worth: float
    penalty: float
    marks: Mapping[str, ShownMark]
    comments: Mapping[str, str]
    name: str = ""
    submitted: str = ""
    due: str = ""


def read_standing(gradebook: Gradebook, student: str, assignment: str, notebook: str) -> Standing:
    """What the gradebook says now.

    Raises
    ------
    MissingEntry
        When it knows of no such submission.
    """
    book = gradebook.find_submission_notebook(notebook, assignment, student)
    marks = {
        str(grade.name): ShownMark(
            rounded(grade.score),
            rounded(grade.max_score),
            grade.auto_score is None and grade.manual_score is None,
            is_older(grade),
        )
        for grade in grades_of(gradebook, book)
    }
    of_book = gradebook.db.query(Comment).filter(Comment.notebook_id == book.id).options(joinedload(Comment.cell))
    comments = {str(comment.name): str(comment.comment) for comment in of_book if comment.comment}
    penalty = rounded(book.late_submission_penalty)
    asked = gradebook.db.query(Student.first_name, Student.last_name, SubmittedAssignment.timestamp)
    of_student = asked.join(SubmittedAssignment, SubmittedAssignment.student_id == Student.id)
    first, last, when = of_student.filter(SubmittedAssignment.id == book.assignment_id).one()
    name, due = full_name(first, last), as_date(book.assignment.duedate) if penalty else ""
    return Standing(rounded(book.score), rounded(book.max_score), penalty, marks, comments, name, as_date(when), due)


def grades_of(gradebook: Gradebook, book: SubmittedNotebook) -> list[Grade]:
    """A submission's grades with their names and maxima, by one query; nbgrader asks three times for each."""
    asked = joinedload(Grade.cell), undefer(Grade.max_score)
    return list(gradebook.db.query(Grade).filter(Grade.notebook_id == book.id).options(*asked))


def expected_standing(
    book: NotebookNode, marks: Mapping[str, float | None], comments: Mapping[str, str | None],
    name: str, submitted: str,
) -> Standing:  # fmt: skip
    """What the gradebook will say when nothing is done by hand and nothing is late."""
    worth = {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points for cell in book.cells
             if utils.is_grade(cell)}  # fmt: skip
    return Standing(
        score=rounded(sum(points or 0.0 for points in marks.values())),
        worth=rounded(sum(worth.values())),
        penalty=0.0,
        marks={
            name: ShownMark(rounded(points), rounded(worth[name]), points is None) for name, points in marks.items()
        },
        comments={name: text for name, text in comments.items() if text},
        name=name,
        submitted=submitted,
    )


def full_name(first: str | None, last: str | None) -> str:
    """A student's name, or "" when the gradebook has only an id."""
    return " ".join(name for name in (first, last) if name)


def as_date(when: datetime | None) -> str:
    """A time as nbgrader has it, in UTC without a zone, to the minute; "" for none."""
    return when.isoformat(timespec="minutes") if when else ""


def rounded(value: float | None) -> float:
    """As far as a page shows it: sums in other orders are the same."""
    return round(float(value or 0.0), 9)
