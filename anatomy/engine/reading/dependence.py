"""Dependence: what of an input a result should follow and doesn't, or follows and shouldn't.

An input is changed in one slice, and what becomes of the right answer's result is compared with what becomes of the
student's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.observing.plain_data import ROUNDING
from anatomy.engine.reading.trials import Seen, Trials

_LONGEST = 6
"""Slices along one axis that are tried at most."""

_TIMES = 2
"""How often a slice is changed: what has no effect once may have one the next time."""


@dataclass(frozen=True)
class _Slice:
    """A slice of an argument, and where the two results follow it."""

    argument: str
    axis: int
    place: int
    mine: Tensor
    right: Tensor

    def __str__(self) -> str:
        return f"`{self.argument}[{':, ' * self.axis}{self.place}]`"


def dependence(trials: Trials, answer: Any) -> Diagnosis | None:
    """The first slice of an input that tells the two apart, in the first case that differs and returns a tensor."""
    for index, seen in trials.visible.items():
        case = trials.expectations.cases[index]
        if isinstance(seen.expected.value, Tensor) and isinstance(seen.found.value, Tensor) and not case.drawn:
            slices = list(_slices(trials, answer, case, seen))
            said = _without_effect(slices) or _elsewhere(trials, case, slices)
            if said:
                sizes = ", ".join(f"{letter} = {size}" for letter, size in case.sizes.items())
                return Diagnosis(said, f"Seen with {sizes}." if sizes else "")
            return None
    return None


def _slices(trials: Trials, answer: Any, case: Case, seen: Seen) -> Iterator[_Slice]:
    if seen.expected.value.shape != seen.found.value.shape or not seen.found.value.isfinite().all():
        return  # what is NaN stays NaN
    for name, value in case.args.items():
        if not isinstance(value, Tensor) or value.dtype == torch.bool:
            continue
        for axis in range(value.dim()):
            for place in range(value.size(axis) if 1 < value.size(axis) <= _LONGEST else 0):
                followed = [torch.zeros(one.value.shape, dtype=torch.bool) for one in (seen.found, seen.expected)]
                for turn in range(_TIMES):
                    if trials.budget.is_spent:
                        return
                    other = _changed(value, axis, place, turn)
                    changed = replace(case, args={**case.args, name: other})
                    for number, (one, before) in enumerate(
                        ((answer, seen.found), (trials.expectations.exercise.right, seen.expected))
                    ):
                        after = trials.does(one, changed).value
                        if not isinstance(after, Tensor) or after.shape != before.value.shape:
                            return
                        followed[number] |= _moved(before.value, after)
                yield _Slice(name, axis, place, *followed)


def _changed(value: Tensor, axis: int, place: int, turn: int) -> Tensor:
    """The tensor with other entries in one slice: numbers moved, and ids that occur in it exchanged."""
    value = value.clone()
    row = value.select(axis, place)
    if value.is_floating_point():
        row += torch.randn(row.shape, generator=torch.Generator().manual_seed(turn)).to(row.dtype)
    else:
        known = value.unique()
        row.copy_(known[(torch.searchsorted(known, row.contiguous()) + 1 + turn) % len(known)])
    return value


def _moved(before: Tensor, after: Tensor) -> Tensor:
    if not before.is_floating_point():
        return before != after
    gap = (before.double() - after.double()).abs()
    largest = before.double().abs().nan_to_num(0, 0, 0).max() if before.numel() else 0
    return gap.nan_to_num(0, torch.inf, torch.inf) > 10 * ROUNDING * largest


def _without_effect(slices: list[_Slice]) -> str:
    for one in slices:
        if one.right.any() and not one.mine.any():
            return f"What is in {one} has no effect on your result. It should have one."
    return ""


def _elsewhere(trials: Trials, case: Case, slices: list[_Slice]) -> str:
    """One index of the result that follows a slice in one of the answers only."""
    letters = (case.returns or trials.expectations.exercise.returns).split()
    for one in slices:
        for axis in range(one.mine.dim()):
            others = [dim for dim in range(one.mine.dim()) if dim != axis]
            mine, right = (seen.any(others) if others else seen for seen in (one.mine, one.right))
            if mine.sum() and right.sum() and not mine.equal(right):
                place = int((mine != right).nonzero()[0])
                named = (
                    f" ({trials.expectations.exercise.axis(letters[axis])})" if len(letters) == one.mine.dim() else ""
                )
                where = f"index {place} of axis {axis}{named}"
                if mine[place]:
                    return f"At {where} your result depends on {one}. The right one does not."
                return f"At {where} your result does not depend on {one}. The right one does."
    return ""
