"""Marks that a person gave in Formgrader: they stand, and the gradebook says when their answer has changed since.

nbgrader says of each mark by hand that is graded again that it needs a person, changed or not; Formgrader takes that
back when a person enters a mark. Here it is said only of an answer that has changed.
"""

from __future__ import annotations

from nbgrader.api import Grade


def is_older(grade: Grade) -> bool:
    """Whether a person gave the mark to an earlier answer, and nobody has looked at it since."""
    return bool(grade.manual_score is not None and grade.needs_manual_grade)


def needs_a_person(grade: Grade, points: float | None, changed: bool) -> bool:
    """Whether a person must look at a mark whose check now gives these points, and whose answer may have `changed`.

    A mark by hand that the check gives, too, asks for nobody.
    """
    if grade.manual_score is None:
        return points is None
    return bool(grade.score != points and (is_older(grade) or changed))
