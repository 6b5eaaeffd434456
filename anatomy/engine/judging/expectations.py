"""What to expect in an exercise's cases: the results of the reference, and the results with each mistake."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import described, glimpse_case, observe, observe_case, observe_one
from anatomy.engine.observing.plain_data import is_float

REFUSALS = ("ValueError", "TypeError", "IndexError", "KeyError")
"""The errors that refuse a bad input."""


WORTH_SHARING = 0.005
"""Seconds of computing beyond which an observation is shared: to write and read one takes a few milliseconds."""


class Shared(Protocol):
    """Raw observations that several processes have in common, by name."""

    def get(self, name: str) -> CaseObservation | None: ...

    def put(self, name: str, seen: CaseObservation) -> None: ...


class CannotJudge(RuntimeError):
    """The reference itself failed: the machine is out of time or memory. No verdict is better than a wrong one."""


@dataclass
class Expectations:
    """The cases of some seeds, and what the reference (`expected`) and the mistakes do in them.

    What takes long to find out is taken from `shared`, or put there.
    """

    exercise: Exercise
    seeds: tuple[int, ...]
    shared: Shared | None = None

    def __post_init__(self) -> None:
        self.exercise = self.exercise.course.described(self.exercise)
        self.cases = self.exercise.cases(self.seeds)
        self.expected = observe(self.exercise, self.exercise.right, self.seeds).cases
        if failed := [seen for seen in self.expected if not _is_deliberate(seen)]:
            why = failed[0].error.message if failed[0].error else failed[0].outcome
            raise CannotJudge(f"The reference of {self.exercise.name} did not finish here: {why}")
        self.noted: dict[tuple[Any, int], Any] = {}
        """What was noted of right answers in these cases while they were read: that takes a while, too."""
        self._nudged: dict[tuple[str | None, int, int], CaseObservation] = {}
        self._seen: dict[tuple[str, int], CaseObservation] = {}
        self._glimpsed: dict[tuple[str, int], CaseObservation] = {}

    def twin(self, index: int) -> int:
        """The index of the same case with another seed."""
        return (index + len(self.cases) // len(self.seeds)) % len(self.cases)

    def cost(self, index: int) -> int:
        """Roughly how long one case takes: the size of its input, and of what a config asks for."""
        return _size(self.cases[index].args) + sum(self.cases[index].sizes.values())

    def showing_first(self, index: int) -> tuple[bool, int]:
        """The order of cases for a first look: the cheap ones first, but those with an axis of size 1 show little."""
        sizes = self.cases[index].sizes
        return any(size == 1 for letter, size in sizes.items() if letter != "B"), self.cost(index)

    def nudged(self, index: int, number: int = 0, mistake: Mistake | None = None) -> CaseObservation:
        """What the reference, or a mistake, does in one case after every float input moves by one rounding step.

        `number` decides which entries move up and which move down.
        """
        if (key := (mistake.name if mistake else None, index, number)) not in self._nudged:
            answer = mistake.answer if mistake else self.exercise.right
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._nudged[key] = observe_case(self.exercise, answer, nudged(self.cases[index], number))
        return self._nudged[key]

    def with_mistake(self, mistake: Mistake, index: int) -> CaseObservation:
        """What an answer with this mistake does in one case. It is observed at the first call."""
        key = (mistake.name, index)
        if key not in self._seen:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a student who did not make this mistake must not see them
                self._seen[key] = described(self.exercise, self.cases[index], self._raw(mistake, index))
        return self._seen[key]

    def _raw(self, mistake: Mistake, index: int) -> CaseObservation:
        name = f"{self.exercise.name} {mistake.name} {index} {self.seeds}"
        if self.shared and (seen := self.shared.get(name)):
            return seen
        began = time.thread_time()
        seen = observe_one(replace(self.exercise, forbids=(), describe=None), mistake.answer, self.cases, index)
        if self.shared and time.thread_time() - began > WORTH_SHARING:
            self.shared.put(name, seen)
        return seen

    def remember(self, mistake: Mistake, cases: list[CaseObservation]) -> None:
        """Take raw observations of this mistake in all cases, which were made elsewhere."""
        for index, (case, seen) in enumerate(zip(self.cases, cases, strict=True)):
            if not seen.calls:
                self._seen[mistake.name, index] = described(self.exercise, case, seen)

    def glimpse(self, mistake: Mistake, index: int) -> CaseObservation:
        """Only the value that this mistake gives in one case. It takes a fraction of the time of `with_mistake`."""
        key = (mistake.name, index)
        if key in self._seen:
            return self._seen[key]
        if key not in self._glimpsed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._glimpsed[key] = glimpse_case(self.exercise, mistake.answer, self.cases[index])
        return self._glimpsed[key]

    @property
    def looked_at(self) -> int | None:
        """The case in which it is known of most mistakes what they do."""
        cases = Counter(index for _, index in {*self._seen, *self._glimpsed})
        return cases.most_common(1)[0][0] if cases else None

    def glimpsed(self, mistake: Mistake, index: int) -> CaseObservation | None:
        """What `glimpse` gives, where that is known."""
        key = (mistake.name, index)
        return self._seen.get(key) or self._glimpsed.get(key)


def _size(value: Any) -> int:
    """Roughly the size of an input: its numbers and letters."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, dict):
        return sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return len(value) if isinstance(value, str) else value if isinstance(value, int) else 1


def remembering(most: int | None = None) -> Callable[[Exercise, tuple[int, ...]], Expectations]:
    """A function that makes `Expectations` once for each exercise and its seeds, and keeps all or the last so many."""
    known: dict[tuple[str, tuple[int, ...]], Expectations] = {}

    def expectations_of(exercise: Exercise, seeds: tuple[int, ...]) -> Expectations:
        if (key := (exercise.name, seeds)) not in known:
            known[key] = Expectations(exercise, seeds)
            if most and len(known) > most:
                del known[next(iter(known))]
        return known[key]

    return expectations_of


def _is_deliberate(seen: CaseObservation) -> bool:
    """Whether the reference did what it should: return a result, or refuse a bad input."""
    return seen.outcome == "returned" or (seen.outcome == "raised" and seen.error_type in REFUSALS)


def nudged(case: Case, seed: int) -> Case:
    """The case after every entry of its float inputs moves by one rounding step, up or down at random.

    0 and ∞ stay: they are exact, and may mean something of their own, as the zeros of a mask do.
    """
    moved = {name: _step(value, seed) if is_float(value) else value for name, value in case.args.items()}
    return replace(case, args=moved)


def _step(value: Tensor, seed: int) -> Tensor:
    up = torch.rand(value.shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    moved = torch.nextafter(value, torch.where(up, float("inf"), float("-inf")).to(value.dtype))
    return torch.where((value == 0) | value.isinf(), value, moved)
