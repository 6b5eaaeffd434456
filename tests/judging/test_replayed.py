"""Observations that nobody computed for these seeds: a right answer's of other seeds, and data that needs no answer.

They earn at most what an answer has by its form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch

from anatomy.course import COURSE
from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.evidence import FORM
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observation import CaseObservation, Observation, Raised
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.plain_data import plain
from anatomy.engine.observing.records import decode, encode
from tests.plenty import one_in

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("replayed")]  # one process: the last test sums up

EARLIER, NOW = ((101, 102), (7, 8)), (987654, 5)
SHARE_OF_ONE, SHARE_OF_ALL = 1 / 3, 0.15
ROOT = Path(__file__).resolve().parents[2]

EXERCISES = [one for book in COURSE.notebooks for one in COURSE.exercises(book).values() if one.kind != "quiz"]
"""A quiz asks for the same answers whatever the seed: to know them is to answer it."""


def _refusal(case: Case) -> CaseObservation:
    """An error with all the words that the case asks for, as if it had been raised on purpose."""
    message = " ".join(("even", *case.message_names))
    return CaseObservation("raised", error=Raised("ValueError", message, 2, "raise ValueError(message)"))


def _shape(exercise: Exercise, case: Case) -> tuple[int, ...]:
    letters = (case.returns or exercise.returns).split()
    return tuple(int(one) if one.isdigit() else case.sizes.get(one, 1) for one in letters)


def _input(case: Case) -> Any:
    return next((plain(value) for value in case.args.values() if isinstance(value, torch.Tensor)), None)


NEEDS_NO_ANSWER: dict[str, Callable[[Exercise, Case], Any]] = {
    "zeros": lambda exercise, case: torch.zeros(_shape(exercise, case)),
    "ones": lambda exercise, case: torch.ones(_shape(exercise, case)),
    "noise": lambda exercise, case: torch.rand(_shape(exercise, case)),
    "the input": lambda _, case: _input(case),
    "an empty list": lambda _, case: [],
    "a number": lambda _, case: 0.5,
}


def assembled(exercise: Exercise, right: Observation, make: Callable[[Exercise, Case], Any]) -> Observation:
    """The form of a right observation (what is refused, parameters) with results that need no answer."""

    def case(case: Case, seen: CaseObservation) -> CaseObservation:
        if seen.outcome == "raised":
            return _refusal(case)
        value = make(exercise, case)
        return CaseObservation("returned", value, train=deepcopy(value), parameters=seen.parameters, shared=seen.shared,
                               gradients=dict.fromkeys(seen.gradients or ()))  # fmt: skip

    cases = zip(exercise.cases(NOW), right.cases, strict=True)
    return Observation(exercise.name, [case(*pair) for pair in cases])


def forged(exercise: Exercise) -> Iterator[tuple[str, Observation]]:
    answer = exercise.right
    earlier = [observe(exercise, answer, seeds) for seeds in EARLIER]
    yield from zip(("a right answer's of other seeds", "of still others"), earlier, strict=True)
    for what, make in NEEDS_NO_ANSWER.items():
        yield what, assembled(exercise, deepcopy(earlier[0]), make)


EARNED: dict[str, tuple[int, float]] = {}


@pytest.mark.parametrize("exercise", one_in(8, EXERCISES), ids=lambda exercise: exercise.name)
def test_what_nobody_computed_earns_its_form_at_most(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    """A known mistake that gives such results would be an answer; what recognizes one has tests of its own."""
    monkeypatch.setattr("anatomy.engine.judging.judge.recognize", lambda *_: [])
    torch.set_num_threads(1)
    form, most, known = exercise.properties.get(FORM, 0), 0.0, remembering()
    for what, observation in forged(exercise):
        verdict = judge(exercise, decode(encode(observation)), NOW, known)
        passed = {one.property for one in verdict.results if one.passed}
        assert verdict.points <= form, f"{what}: {passed}"
        most = max(most, verdict.points)
    assert most <= SHARE_OF_ONE * exercise.points + 1e-9, f"{most} of {exercise.points} points for form alone"
    EARNED[exercise.name] = exercise.points, most


@pytest.mark.many
def test_of_all_points_little_is_earned_by_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the figures, of each exercise and of all; `docs/architecture.md` and `docs/security.md` quote the sum."""
    if len(EARNED) < len(EXERCISES):
        pytest.skip("not all exercises were tried")
    total, earned = (sum(values) for values in zip(*EARNED.values(), strict=True))
    said = f"{earned:g} of {total} points ({100 * earned / total:.0f}%)"
    with capsys.disabled():
        print("\nwithout an answer:", said)
        print(", ".join(f"{name} {most:g}/{points}" for name, (points, most) in EARNED.items()))
    assert earned <= SHARE_OF_ALL * total
    for page in ("architecture.md", "security.md"):
        assert said in (ROOT / "docs" / page).read_text(encoding="utf-8"), f"{page} should say: {said}"
