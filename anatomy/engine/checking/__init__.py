"""The check: observe an answer, judge what was observed, show the verdict.

In a student's own notebook all three happen in the kernel, or, for a class, the last two where its judge is
(`anatomy.engine.checking.remote`). When marks are given the kernel only observes: `check` hands the observation to the
grader, and what student code does to this module can't turn a wrong answer into a right one, because the verdict is
reached elsewhere. Which of these a check does is its mode (`anatomy.engine.checking.modes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anatomy.engine.checking import cells
from anatomy.engine.checking.judging_here import verdict_in_notebook
from anatomy.engine.checking.modes import HAND_OVER, hands_over, mode
from anatomy.engine.observing.surroundings import as_at_start

if TYPE_CHECKING:
    from anatomy.engine.course import Course

NOT_HERE = (
    "No exercise is called {name!r} on this machine. In an exam that is as it should be: your answer is checked when "
    "it is graded. Otherwise your copy of the course is older than this notebook."
)

cells.watch()


class CheckFailed(AssertionError):
    """An answer is not right (yet): its exercise and its points in one line. The card above says why."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def check(course: Course, name: str, namespace: dict[str, Any]) -> None:
    """Check the object called `name` among a notebook's names, and show what was found.

    Settings that a cell has changed for the whole process (torch's default dtype, Python's recursion limit …) are as
    they were at the start meanwhile. Where this machine has no such exercise, as in an exam, that is said.

    Raises
    ------
    CheckFailed
        When the answer is missing or wrong, after its card was shown. One line, no traceback.
    CheckUnavailable
        When the class's judge does not answer. Likewise.
    KeyError
        When no exercise has this name and marks are given.
    """
    cells.watch()
    try:
        exercise = course.exercise(name)
    except KeyError:
        if hands_over():
            raise
        return print(NOT_HERE.format(name=name))
    with as_at_start():  # what shows the card, too
        failure = mode().check(exercise, namespace)
    if failure is not None:
        raise CheckFailed(failure)


__all__ = ["HAND_OVER", "CheckFailed", "check", "hands_over", "verdict_in_notebook"]
