"""The check: observe an answer, judge what was observed, show the verdict.

In a student's own notebook all three happen in the kernel, or, for a class, the last two where its judge is
(`anatomy.engine.checking.remote`). When marks are given the kernel only observes: `check`
hands the observation to the grader, and what student code does to this module can't turn a wrong answer into a right
one, because the verdict is reached elsewhere.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from anatomy.engine.checking import cells
from anatomy.engine.checking.joining import class_judge
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.observing import GRADING_SEED
from anatomy.engine.observing.surroundings import as_at_start

if TYPE_CHECKING:
    from anatomy.engine.course import Course
    from anatomy.engine.judging.expectations import Expectations
    from anatomy.engine.judging.verdict import Verdict
    from anatomy.engine.observing.observation import Observation

HAND_OVER = "ANATOMY_HAND_OVER"
"""The environment variable by which `anatomy check` lets a kernel look as in a notebook and hand over what it saw."""

PATIENCE = 1.4
"""Seconds of computing after which a check should end; reading the answer has what looking and judging left of them."""

LEAST, MOST = 0.5, 0.8
"""Seconds of computing that reading has in any case, and at most."""

NOT_HERE = (
    "No exercise is called {name!r} on this machine. In an exam that is as it should be: your answer is checked when "
    "it is graded. Otherwise your copy of the course is older than this notebook."
)

cells.watch()


class CheckFailed(AssertionError):
    """An answer is not right (yet). The card above says why; there is no traceback worth reading."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


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
    from anatomy.engine.checking.looking import look_for_judge, look_for_marks, look_in_notebook

    cells.watch()
    try:
        exercise = course.exercise(name)
    except KeyError:
        if os.environ.get(GRADING_SEED) or os.environ.get(HAND_OVER):
            raise
        return print(NOT_HERE.format(name=name))
    if seeds := os.environ.get(GRADING_SEED):
        with as_at_start():
            return _hand_over(look_for_marks(exercise, namespace, tuple(map(int, seeds.split(",")))))
    if address := class_judge():
        from anatomy.engine.checking import remote

        with as_at_start():
            if os.environ.get(HAND_OVER):
                return _hand_over(*look_for_judge(exercise, namespace))
            answer = remote.check(address, exercise, namespace)
        if answer.status != "right":
            raise CheckFailed(answer.headline)
        return None
    from anatomy.engine.judging.expectations import remembering

    if os.environ.get(HAND_OVER):
        with as_at_start():
            return _hand_over(look_in_notebook(exercise, namespace, remembering()))

    from IPython.display import display

    from anatomy.engine.cards import Card, headline
    from anatomy.engine.checking.progress_file import note_check

    with as_at_start():  # what shows the card, too
        verdict = verdict_in_notebook(exercise, namespace, remembering())
        note_check(verdict, namespace.get(name))
        display(Card(verdict))
    if verdict.status != "right":
        raise CheckFailed(headline(verdict))


def verdict_in_notebook(
    exercise: Exercise, namespace: dict[str, Any], expectations_of: Callable[[Exercise, tuple[int, ...]], Expectations]
) -> Verdict:
    """What a check finds in a student's own notebook: it looks, judges, and reads the answer where that names nothing.

    `namespace` holds the notebook's names.
    """
    from anatomy.engine.checking.looking import look_in_notebook
    from anatomy.engine.judging.judge import judge

    began = time.thread_time()
    with as_at_start():
        seen = look_in_notebook(exercise, namespace, expectations_of)
        verdict = judge(exercise, seen, expectations_of=expectations_of)
        if verdict.status == "wrong":
            from anatomy.engine.reading import read

            left = PATIENCE - (time.thread_time() - began)
            verdict = read(namespace, expectations_of(exercise, SEEDS), seen, verdict, min(max(left, LEAST), MOST))
    return verdict


def _hand_over(observation: Observation, parts: Iterable[Observation] = ()) -> None:
    """Display what was seen, for whoever runs this kernel; with it the parts that the class's judge asks for."""
    from IPython.display import display

    from anatomy.engine.observing.records import MIME, encode

    record = encode(observation) | {"parts": [encode(part) for part in parts]}
    display({MIME: record, "text/plain": "observed"}, raw=True)


__all__ = ["CheckFailed", "check", "verdict_in_notebook"]
