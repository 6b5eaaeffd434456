"""One exercise on its seeds: the cases, what the reference does on them, and what each mistake does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import described, glimpse_case, observe, observe_case
from anatomy.engine.observing.plain_data import is_float

REFUSALS = ("ValueError", "TypeError", "IndexError", "KeyError")
"""Errors by which an answer refuses bad input."""


class CannotJudge(RuntimeError):
    """The reference itself failed, on a machine that is out of time or memory: no verdict, rather than a wrong one."""


@dataclass
class Expectations:
    """The cases of some seeds, and what the reference (`expected`) and the mistakes do on them."""

    exercise: Exercise
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        self.exercise = self.exercise.course.described(self.exercise)
        self.cases = self.exercise.cases(self.seeds)
        self.expected = observe(self.exercise, self.exercise.right, self.seeds).cases
        if any(not _is_deliberate(seen) for seen in self.expected):
            raise CannotJudge(f"The reference of {self.exercise.name} did not finish here: {self.expected}")
        self._nudged: dict[tuple[int, int], CaseObservation] = {}
        self._seen: dict[tuple[str, int], CaseObservation] = {}
        self._glimpsed: dict[tuple[str, int], CaseObservation] = {}

    def twin(self, index: int) -> int:
        """The case that another seed draws in the place of this one."""
        return (index + len(self.cases) // len(self.seeds)) % len(self.cases)

    def cost(self, index: int) -> int:
        """Roughly how long a look at one case takes: how large its input is."""
        return _size(self.cases[index].args)

    def nudged(self, index: int, number: int = 0) -> CaseObservation:
        """What the reference does in one case when every float input is moved by one rounding step.

        For each `number` other inputs are moved up, and the others down.
        """
        if (key := (index, number)) not in self._nudged:
            self._nudged[key] = observe_case(self.exercise, self.exercise.right, _nudge(self.cases[index], number))
        return self._nudged[key]

    def misconceived(self, wrong: Mistake, index: int) -> CaseObservation:
        """What this mistake does in one case; observed when first asked for."""
        key = (wrong.name, index)
        if key not in self._seen:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they would reach a student, who made no such mistake
                self._seen[key] = observe_case(replace(self.exercise, forbids=()), wrong.answer, self.cases[index])
        return self._seen[key]

    def remember(self, wrong: Mistake, cases: list[CaseObservation]) -> None:
        """Take what this mistake does in all cases, raw, from whoever has observed it already."""
        for index, (case, seen) in enumerate(zip(self.cases, cases, strict=True)):
            if not seen.calls:
                self._seen[wrong.name, index] = described(self.exercise, case, seen)

    def glimpse(self, wrong: Mistake, index: int) -> CaseObservation:
        """Only the value that this mistake gives in one case: a fraction of the time of `misconceived`."""
        key = (wrong.name, index)
        if key in self._seen:
            return self._seen[key]
        if key not in self._glimpsed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._glimpsed[key] = glimpse_case(self.exercise, wrong.answer, self.cases[index])
        return self._glimpsed[key]


def _size(value: Any) -> int:
    """How large an input is, roughly: numbers and letters."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, dict):
        return sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return len(value) if isinstance(value, str) else value if isinstance(value, int) else 1


def remembering() -> Callable[[Exercise, tuple[int, ...]], Expectations]:
    """`Expectations`, made once for each exercise and its seeds."""
    known: dict[tuple[str, tuple[int, ...]], Expectations] = {}

    def expectations_of(exercise: Exercise, seeds: tuple[int, ...]) -> Expectations:
        if (key := (exercise.name, seeds)) not in known:
            known[key] = Expectations(exercise, seeds)
        return known[key]

    return expectations_of


def _is_deliberate(seen: CaseObservation) -> bool:
    """Whether a reference did what it is meant to: return, or refuse bad input."""
    return seen.outcome == "returned" or (seen.outcome == "raised" and seen.error_type in REFUSALS)


def _nudge(case: Case, seed: int) -> Case:
    """The case with every float input moved by one rounding step, up or down at random."""
    moved = {name: _step(value, seed) if is_float(value) else value for name, value in case.args.items()}
    return replace(case, args=moved)


def _step(value: Tensor, seed: int) -> Tensor:
    up = torch.rand(value.shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    return torch.nextafter(value, torch.where(up, float("inf"), float("-inf")).to(value.dtype))
