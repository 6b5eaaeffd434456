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

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging import trail
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.observing.plain_data import ROUNDING
from anatomy.engine.reading.trials import Seen, Trials

_LONGEST = 6
"""Slices along one axis that are tried at most."""

_CASES = 3
"""Cases in which a claim is looked for."""

_OTHERS = 4
"""Other cases that a claim is held against."""

_TIMES = 2
"""How often a slice is changed: what has no effect once may have one the next time."""


@dataclass(frozen=True)
class _Slice:
    """A slice of an argument, and where the two results follow it."""

    argument: str
    dims: int
    axis: int
    place: int
    mine: Tensor
    right: Tensor

    def __str__(self) -> str:
        return f"`{self.argument}[{':, ' * self.axis}{self.place}]`"


@dataclass(frozen=True)
class _Claim:
    """That a slice has no effect and should have one; or, with an axis, that one place there follows it wrongly."""

    slice: _Slice
    axis: int | None = None
    index: int = 0

    def holds_in(self, other: _Slice) -> bool | None:
        """Whether it is so in another case, where the same slice was changed; None if nothing can be seen there."""
        if self.axis is None:
            return not other.mine.any() if other.right.any() else None
        (mine, right), (here, _) = _along(self.axis, other), _along(self.axis, self.slice)
        if self.index >= len(mine) or not (mine[self.index] or right[self.index]):
            return None
        return bool(mine[self.index] != right[self.index] and mine[self.index] == here[self.index])

    def said(self, exercise: Exercise, case: Case) -> str:
        one = self.slice
        if self.axis is None:
            return f"What is in {one} has no effect on your result. It should have one."
        letters = (case.returns or exercise.returns).split()
        named = f" ({exercise.axis(letters[self.axis])})" if len(letters) == one.mine.dim() else ""
        where, (mine, _) = f"index {self.index} of axis {self.axis}{named}", _along(self.axis, one)
        if mine[self.index]:
            return f"At {where} your result depends on {one}. The right one does not."
        return f"At {where} your result does not depend on {one}. The right one does."


def dependence(trials: Trials, answer: Any) -> Diagnosis | None:
    """The first slice of an input that tells the two apart; in chosen cases that differ and return a tensor.

    None of these has an axis of one entry: a softmax over it hides everything.
    """
    cases = trials.expectations.cases
    chosen = [index for index in trials.visible if not cases[index].drawn and 1 not in cases[index].sizes.values()]
    for index in chosen[:_CASES]:
        case, seen = cases[index], trials.visible[index]
        if isinstance(seen.expected.value, Tensor) and isinstance(seen.found.value, Tensor):
            slices = list(_slices(trials, answer, case, seen))
            for claim in (*_without_effect(slices), *_elsewhere(slices, _is_whole(seen.expected.value))):
                if _is_so_elsewhere(trials, answer, index, claim):
                    sizes = ", ".join(f"{letter} = {size}" for letter, size in case.sizes.items())
                    said = claim.said(trials.expectations.exercise, case)
                    return Diagnosis(said, f"Seen with {sizes}." if sizes else "")
    return None


def _is_so_elsewhere(trials: Trials, answer: Any, but: int, claim: _Claim) -> bool:
    """Whether other cases could contradict a claim and do not; those that differ and have the same axes are asked.

    Drawn ones come first, and one of them must be asked where there are any: chosen cases may resemble each other.
    """
    asked, place, cases = list[Case](), claim.slice, trials.expectations.cases
    for index, seen in sorted(trials.visible.items(), key=lambda item: not cases[item[0]].drawn):
        case = trials.expectations.cases[index]
        value, results = _arguments(case).get(place.argument), (seen.expected.value, seen.found.value)
        if index == but or value is None or not all(isinstance(one, Tensor) for one in results):
            continue
        if value.dim() != place.dims or value.size(place.axis) <= place.place or results[0].dim() != place.mine.dim():
            continue
        found = next(_slices(trials, answer, case, seen, place), None)
        if found is not None and (verdict := claim.holds_in(found)) is not None:
            if not verdict:
                trail.note(
                    f"“{claim.said(trials.expectations.exercise, case)}”", f"is not so in {trail.in_words(case)}"
                )
                return False
            if 1 not in case.sizes.values():
                asked.append(case)
            if len(asked) == _OTHERS:
                break
    return any(case.drawn or not trials.expectations.exercise.inputs for case in asked)


def _slices(trials: Trials, answer: Any, case: Case, seen: Seen, only: _Slice | None = None) -> Iterator[_Slice]:
    """The slices of a case's arguments and what follows them, or one of them only."""
    if seen.expected.value.shape != seen.found.value.shape or not seen.found.value.isfinite().all():
        return  # what is NaN stays NaN
    for name, value in _arguments(case).items():
        if value.dtype == torch.bool:
            continue
        if value.is_floating_point() and not seen.expected.value.is_floating_point():
            continue  # whether a choice, such as the nearest row, follows a number is luck
        for axis in range(value.dim()):
            for place in range(value.size(axis) if 1 < value.size(axis) <= _LONGEST else 0):
                if only and (name, axis, place) != (only.argument, only.axis, only.place):
                    continue
                followed = [torch.zeros(one.value.shape, dtype=torch.bool) for one in (seen.found, seen.expected)]
                for turn in range(_TIMES):
                    if trials.budget.is_spent:
                        return
                    other = _changed(value, axis, place, turn)
                    changed = _with(case, name, other)
                    for number, (one, before) in enumerate(
                        ((answer, seen.found), (trials.expectations.exercise.right, seen.expected))
                    ):
                        after = trials.does(one, changed).value
                        if not isinstance(after, Tensor) or after.shape != before.value.shape:
                            return
                        followed[number] |= _moved(before.value, after)
                yield _Slice(name, value.dim(), axis, place, *followed)


def _arguments(case: Case) -> dict[str, Tensor]:
    """The tensors of a case, also those in lists: `attentions[1]`."""
    found = dict[str, Tensor]()
    for name, value in case.args.items():
        listed = (
            {f"{name}[{i}]": one for i, one in enumerate(value)} if isinstance(value, list | tuple) else {name: value}
        )
        found |= {each: one for each, one in listed.items() if isinstance(one, Tensor)}
    return found


def _with(case: Case, name: str, value: Tensor) -> Case:
    """The case with another tensor of this name."""
    owner, _, place = name.rstrip("]").partition("[")
    items = list(case.args[owner]) if place else []
    if place:
        items[int(place)] = value
    return replace(case, args={**case.args, owner: items or value})


def _changed(value: Tensor, axis: int, place: int, turn: int) -> Tensor:
    """The tensor with other entries in one slice: numbers moved, and ids that occur in it exchanged."""
    value = value.clone()
    row = value.select(axis, place)
    if value.is_floating_point():
        step = value.std().nan_to_num(0, 0, 0).clamp(min=1)  # large scores hide what small steps change
        row += (step * torch.randn(row.shape, generator=torch.Generator().manual_seed(turn))).to(row.dtype)
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


def _without_effect(slices: list[_Slice]) -> Iterator[_Claim]:
    yield from (_Claim(one) for one in slices if one.right.any() and not one.mine.any())


def _elsewhere(slices: list[_Slice], is_whole: bool) -> Iterator[_Claim]:
    """One index of the result that follows a slice in one of the answers only.

    Whole numbers and truth values often stay as they are, whatever they follow: only what they follow too much shows.
    """
    for one in slices:
        for axis in range(one.mine.dim()):
            mine, right = _along(axis, one)
            apart = mine & ~right if is_whole else mine != right
            if mine.any() and right.any() and apart.any():
                yield _Claim(one, axis, int(apart.nonzero()[0]))


def _is_whole(value: Tensor) -> bool:
    return bool((value == value.round()).all()) if value.is_floating_point() else True


def _along(axis: int, one: _Slice) -> tuple[Tensor, Tensor]:
    """Which places along an axis of the two results follow a slice."""
    others = [dim for dim in range(one.mine.dim()) if dim != axis]
    mine, right = (seen.any(others) if others else seen for seen in (one.mine, one.right))
    return mine, right
