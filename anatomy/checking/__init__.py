"""The check: observe an answer, judge what was observed, show the verdict.

In a student's own notebook all three happen in the kernel. When marks are given the kernel only observes: `check`
hands the observation to the grader, and what student code does to this module can't turn a wrong answer into a right
one, because the verdict is reached elsewhere.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from anatomy import exercises

if TYPE_CHECKING:
    from anatomy.observing.observation import Observation

GRADING_SEED = "ANATOMY_GRADING_SEED"
"""The environment variable by which the grader asks a kernel to observe only, with these seeds (comma-separated)."""


class CheckFailed(AssertionError):
    """An answer is not right (yet). The card above says why; there is no traceback worth reading."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def check(name: str) -> None:
    """Check the object called `name` in the calling notebook, and show what was found.

    Raises
    ------
    CheckFailed
        When the answer is missing or wrong, after its card was shown. One line, no traceback.
    KeyError
        When no exercise has this name.
    """
    from anatomy.observing.observe import MISSING, observe

    exercise = exercises.find(name)
    answer = sys._getframe(1).f_globals.get(name, MISSING)
    if seeds := os.environ.get(GRADING_SEED):
        _hand_over(observe(exercise, answer, tuple(map(int, seeds.split(",")))))
        return
    from IPython.display import display

    from anatomy.cards import Card, headline
    from anatomy.checking.progress import note_progress
    from anatomy.judging.judge import judge

    verdict = judge(exercise, observe(exercise, answer))
    note_progress(verdict)
    display(Card(verdict))
    if verdict.status != "right":
        raise CheckFailed(headline(verdict))


def _hand_over(observation: Observation) -> None:
    from IPython.display import display

    from anatomy.observing.records import MIME, encode

    display({MIME: encode(observation), "text/plain": "observed"}, raw=True)


__all__ = ["CheckFailed", "check"]
