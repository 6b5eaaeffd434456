"""What a check does with an answer: one of five modes, which the environment and the edition of the course decide.

A kernel that grades has neither right answers nor a judge. So each mode imports what it needs when it checks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from anatomy.engine.checking.joining import class_judge
from anatomy.engine.checking.judging_here import verdict_in_notebook
from anatomy.engine.exercise import in_points
from anatomy.engine.observing import GRADING_SEED

if TYPE_CHECKING:
    from anatomy.engine.checking.remote import RemoteVerdict
    from anatomy.engine.exercise import Exercise
    from anatomy.engine.judging.verdict import Verdict
    from anatomy.engine.observing.observation import Observation

HAND_OVER = "ANATOMY_HAND_OVER"
"""The environment variable by which `anatomy check` lets a kernel look as in a notebook and hand over what it saw."""

Namespace = dict[str, Any]


class Mode(Protocol):
    """What becomes of an answer."""

    def check(self, exercise: Exercise, namespace: Namespace) -> str | None:
        """Check the answer among a notebook's names; returns its points in a line where they are not all of them."""
        ...


def hands_over() -> bool:
    """Whether this kernel is run for what its checks hand over: to give marks, or for `anatomy check`."""
    return bool(os.environ.get(GRADING_SEED) or os.environ.get(HAND_OVER))


def mode() -> Mode:
    """The mode of a check in this process."""
    if seeds := os.environ.get(GRADING_SEED):
        return ObserveForMarks(tuple(map(int, seeds.split(","))))
    if address := class_judge():
        return ObserveForJudge() if hands_over() else AskJudge(address)
    return ObserveInNotebook() if hands_over() else JudgeHere()


@dataclass(frozen=True)
class ObserveForMarks:
    """Hand over what a kernel sees that grades, with the grader's seeds."""

    seeds: tuple[int, ...]

    def check(self, exercise: Exercise, namespace: Namespace) -> None:
        from anatomy.engine.checking.looking import look_for_marks

        _hand_over(look_for_marks(exercise, namespace, self.seeds))


@dataclass(frozen=True)
class ObserveForJudge:
    """Hand over what the class's judge asks for."""

    def check(self, exercise: Exercise, namespace: Namespace) -> None:
        from anatomy.engine.checking.looking import look_for_judge

        _hand_over(*look_for_judge(exercise, namespace))


@dataclass(frozen=True)
class ObserveInNotebook:
    """Hand over what a student's own notebook sees."""

    def check(self, exercise: Exercise, namespace: Namespace) -> None:
        from anatomy.engine.checking.looking import look_in_notebook
        from anatomy.engine.judging.expectations import remembering

        _hand_over(look_in_notebook(exercise, namespace, remembering()))


@dataclass(frozen=True)
class AskJudge:
    """Ask the class's judge, and show its card."""

    address: str

    def check(self, exercise: Exercise, namespace: Namespace) -> str | None:
        from anatomy.engine.checking import remote

        answer = remote.check(self.address, exercise, namespace)
        return None if answer.status == "right" else _in_short(answer)


@dataclass(frozen=True)
class JudgeHere:
    """Judge in the notebook's own kernel, and show the card."""

    def check(self, exercise: Exercise, namespace: Namespace) -> str | None:
        from IPython.display import display

        from anatomy.engine.cards import Card
        from anatomy.engine.checking.progress_file import note_check
        from anatomy.engine.judging.expectations import remembering

        verdict = verdict_in_notebook(exercise, namespace, remembering())
        note_check(verdict, namespace.get(exercise.name))
        display(Card(verdict))
        return None if verdict.status == "right" else _in_short(verdict)


def _in_short(verdict: Verdict | RemoteVerdict) -> str:
    if verdict.status == "not attempted":
        return f"{verdict.exercise}: not attempted yet."
    return f"{verdict.exercise}: {in_points(verdict.points, verdict.max_points)}."


def _hand_over(observation: Observation, parts: Iterable[Observation] = ()) -> None:
    """Display what was seen, for whoever runs this kernel; with it the parts that the class's judge asks for."""
    from IPython.display import display

    from anatomy.engine.observing.records import MIME, encode

    record = encode(observation) | {"parts": [encode(part) for part in parts]}
    display({MIME: record, "text/plain": "observed"}, raw=True)
