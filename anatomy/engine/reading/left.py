"""Two mistakes of which one is listed: where one place is mended, the answer does what the listed one alone does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import torch

from anatomy.engine.judging.likeness import IN_EVERYTHING
from anatomy.engine.mistakes import Mistake, inherited
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.plain_data import alike, tensors
from anatomy.engine.reading.resemblance import looks_like
from anatomy.engine.reading.trials import Trials

_NEAR = 1e-3
"""How far two sums may lie apart, as a part of the numbers' sizes, for a closer look at what was summed."""


class _Sums(NamedTuple):
    """Of a result with real numbers: the shapes, the sum and the sum of sizes. What is the same has the same."""

    shapes: tuple[torch.Size, ...]
    whole: float
    sizes: float

    def is_near(self, other: _Sums) -> bool:
        return self.shapes == other.shapes and abs(self.whole - other.whole) <= _NEAR * (self.sizes + other.sizes)


class ListedMistakes:
    """What the listed mistakes give in the cases in which that is known."""

    def __init__(self, trials: Trials) -> None:
        self.trials, self._sums = trials, dict[int, list[tuple[Mistake, _Sums]]]()

    def left(self, build: Callable[[], Any], prepare: Callable[[int], None], rest: str) -> Mistake | None:
        """The mistake that the program which was run last makes, and in every case nothing but it.

        The `rest` of the student's text must look like it: the results alone may be those of several.
        """
        if self.trials.last is None:
            return None
        index, seen = self.trials.last
        sums = _sums(seen)
        if sums is None or alike(seen.value, self.trials.found[index].value):
            return None
        near = (mistake for mistake, known in self._known(index) if known.is_near(sums))
        likely = (one for one in near if looks_like(one, rest))
        alike_here = (one for one in likely if IN_EVERYTHING.looks_so(self.trials.expectations, index, one, seen))
        return next((one for one in alike_here if self.trials.leave(one, build, prepare)), None)

    def _known(self, index: int) -> list[tuple[Mistake, _Sums]]:
        if index not in self._sums:
            self._sums[index] = list(self._look(index))
        return self._sums[index]

    def _look(self, index: int) -> Iterator[tuple[Mistake, _Sums]]:
        known = self.trials.expectations
        for mistake in chain(known.exercise.mistakes.values(), inherited(known.exercise)):
            seen = known.glimpsed(mistake, index)
            if seen and "twice" not in mistake.sentence and (sums := _sums(seen)):
                yield mistake, sums  # "twice" counts what a right program does once


def _sums(seen: CaseObservation) -> _Sums | None:
    """None of what holds no real numbers, or some that are not finite: many mistakes end so."""
    leaves = [leaf.double() for leaf in tensors(seen.value) if leaf.is_floating_point()]
    if seen.outcome != "returned" or not leaves or not all(bool(leaf.isfinite().all()) for leaf in leaves):
        return None
    whole, sizes = (sum(float(leaf.sum()) for leaf in some) for some in (leaves, [leaf.abs() for leaf in leaves]))
    return _Sums(tuple(leaf.shape for leaf in leaves), whole, sizes)
