"""Relations between places: an axis is swapped, moved, repeated or gone, or a part of the entries is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import torch
from torch import Tensor

from anatomy.engine.judging.explanation import Explanation
from anatomy.engine.judging.relations.comparison import Comparison, alike, constant_ratio
from anatomy.engine.judging.relations.numbers import factor
from anatomy.engine.observing.plain_data import ROUNDING


def transposed(comparison: Comparison) -> Iterator[Explanation]:
    dims = comparison.expected.dim()
    for order in permutations(range(dims)):
        if order == tuple(range(dims)):
            continue
        turned = comparison.expected.permute(order)
        if turned.shape != comparison.found.shape:
            continue
        words = ", ".join(comparison.axes[axis] if comparison.axes else str(axis) for axis in order)
        moved_axes = [axis - dims for place, axis in enumerate(order) if order[: place + 1] != tuple(range(place + 1))]
        claim = f"order {moved_axes}"
        if alike(comparison.found, turned):
            yield Explanation(
                "Axes are swapped.", f"Your values are the expected ones with the axes in the order ({words}).", claim
            )
        elif said := next(factor(_turned(comparison, order)), None):
            detail = f"{said.detail[0].lower()}{said.detail[1:]}"
            yield Explanation("Axes are swapped, and a constant factor is off too.",
                              f"With the axes in the order ({words}) {detail}", f"{claim} and a factor")  # fmt: skip


def _turned(comparison: Comparison, order: tuple[int, ...]) -> Comparison:
    """The comparison with the expected values' axes in this order, and with those others that have as many axes."""
    others = tuple(_turned(one, order) for one in comparison.others if one.expected.dim() == len(order))
    return replace(comparison, expected=comparison.expected.permute(order), others=others)


def moved(comparison: Comparison) -> Iterator[Explanation]:
    for axis in range(comparison.expected.dim()):
        where = comparison.axis(axis)
        if alike(comparison.found, comparison.expected.flip(axis)):
            yield Explanation(f"The order along {where} is reversed.", claim=f"reversed {comparison.place(axis)}")
        for step in (1, -1):
            if alike(comparison.found, comparison.expected.roll(step, axis)) or _shifted(comparison, axis, step):
                way = "later" if step == 1 else "earlier"
                yield Explanation(f"Everything is one step {way} along {where}: off by one.",
                                  claim=f"{way} {comparison.place(axis)}")  # fmt: skip


def _shifted(comparison: Comparison, axis: int, step: int) -> bool:
    length = comparison.expected.size(axis)
    if length < 4:
        return False
    mine = comparison.found.narrow(axis, max(step, 0), length - 1)
    return alike(mine, comparison.expected.narrow(axis, max(-step, 0), length - 1))


def repeated(comparison: Comparison) -> Iterator[Explanation]:
    for axis in range(comparison.expected.dim() - 1):
        if comparison.expected.size(axis) < 2 and comparison.main:
            continue
        for index, which in ((0, "first"), (comparison.expected.size(axis) - 1, "last")):
            one = comparison.expected.select(axis, index).unsqueeze(axis).expand_as(comparison.expected)
            spread = comparison.found - comparison.found.select(axis, 0).unsqueeze(axis)
            if spread.abs().max() > 1e-6 * comparison.found.abs().max():
                continue  # nearly the same is no repetition
            if alike(comparison.found, one) and not (comparison.main and alike(comparison.expected, one)):
                yield Explanation(f"Along {comparison.axis(axis)} you repeat the result of the {which} one.",
                                  "Each entry along this axis has its own inputs and needs its own result.",
                                  f"{which} {comparison.place(axis)}")  # fmt: skip


def reordered(comparison: Comparison) -> Iterator[Explanation]:
    mine, right = comparison.found.flatten().sort().values, comparison.expected.flatten().sort().values
    if mine.numel() <= 3 or not alike(mine, right) or _is_an_order(right):
        return
    headline = "The right numbers, in the wrong places."
    for name, value in comparison.case.args.items():
        if not isinstance(value, Tensor) or value.numel() != mine.numel():
            continue
        for order in permutations(range(value.dim())):
            if alike(comparison.found.flatten(), value.double().permute(order).flatten()):
                yield Explanation(headline, f"Yours is `{name}` with its axes in the order {order}, read row by row "
                                  f"into the shape {tuple(comparison.found.shape)}.", f"order {order}")  # fmt: skip
    first = tuple(_wrong(comparison).nonzero()[0].tolist())
    yield Explanation(headline, f"Sorted, yours are the expected ones. The first misplaced one is at {list(first)}: "
                      f"expected {comparison.expected[first]:.4g}, yours is {comparison.found[first]:.4g}.",
                      "in the wrong places")  # fmt: skip


def _is_an_order(numbers: Tensor) -> bool:
    """Whether sorted numbers are places, all or all but one. Any order of places has the same numbers."""
    whole = bool((numbers == numbers.round()).all()) and numbers.unique().numel() == numbers.numel()
    return whole and bool(numbers[0] >= 0) and bool(numbers[-1] <= numbers.numel())


def partly_wrong(comparison: Comparison) -> Iterator[Explanation]:
    """One part of an axis is wrong everywhere, and the rest is right."""
    wrong = _wrong(comparison)
    for axis in range(wrong.dim()):
        others = tuple(other for other in range(wrong.dim()) if other != axis)
        bad = wrong.any(dim=others) if others else wrong
        full = wrong.all(dim=others) if others else wrong
        if not torch.equal(bad, full) or (bad.all() and (comparison.main or len(bad) > 1)):
            continue
        where = comparison.axis(axis)
        for words, part in _parts(len(bad)):
            if torch.equal(bad, part):
                rows = bad.nonzero().flatten()
                mine, right = comparison.found.index_select(axis, rows), comparison.expected.index_select(axis, rows)
                how = _how(mine, right) if comparison.main else ""
                alike_there = all(_how_there(one, axis - wrong.dim(), words) == how for one in comparison.others)
                yield Explanation(f"Along {where} {words} wrong; the rest is right.", how if alike_there else "",
                                  f"{words} {comparison.place(axis)}")  # fmt: skip


def _how_there(comparison: Comparison, axis: int, words: str) -> str:
    """What is wrong with the same part in another case."""
    if comparison.expected.dim() < -axis:
        return ""
    rows = dict(_parts(comparison.expected.size(axis)))[words].nonzero().flatten()
    return _how(comparison.found.index_select(axis, rows), comparison.expected.index_select(axis, rows))


def _parts(length: int) -> Iterator[tuple[str, Tensor]]:
    """The parts of an axis that need no length to be named, and their places."""
    places = torch.arange(length)
    yield "the first one is", places == 0
    yield "the last one is", places == length - 1
    yield "all but the first are", places > 0
    yield "all but the last are", places < length - 1
    yield "the odd ones (1, 3, …) are", places % 2 == 1
    yield "the even ones (0, 2, …) are", places % 2 == 0
    yield "the first half is", places < length // 2
    yield "the second half is", places >= length // 2


def _how(mine: Tensor, right: Tensor) -> str:
    if not mine.any():
        return "There, all values are 0."
    if alike(mine, -right):
        return "There, all values have the opposite sign."
    if (ratio := constant_ratio(mine, right)) is not None:
        return f"There, all values are the expected ones times {ratio:.4g}."
    return ""


def triangle(comparison: Comparison) -> Iterator[Explanation]:
    """All entries on one side of the diagonal of the last two axes are wrong, and no others."""
    wrong = _wrong(comparison)
    if wrong.dim() < 2 or min(wrong.shape[-2:]) < 2:
        return
    rows, columns = (comparison.axis(axis) for axis in (wrong.dim() - 2, wrong.dim() - 1))
    offsets = torch.arange(wrong.size(-1)) - torch.arange(wrong.size(-2))[:, None]
    for words, part in (("above", offsets > 0), ("on", offsets == 0), ("below", offsets < 0),
                        ("on and above", offsets >= 0), ("on and below", offsets <= 0)):  # fmt: skip
        if torch.equal(wrong, part.expand_as(wrong)):
            yield Explanation(f"Exactly the entries {words} the diagonal are wrong.",
                              f"The diagonal is where the index along {rows} is that along {columns}.")  # fmt: skip


def _wrong(comparison: Comparison) -> Tensor:
    """Which entries are wrong."""
    return wrong_entries(comparison.found, comparison.expected)


def wrong_entries(found: Tensor, expected: Tensor) -> Tensor:
    """Which entries of two tensors of one shape differ by more than rounding. NaN and ∞ agree only with themselves."""
    found, expected = found.double(), expected.double()
    finite = expected.isfinite() & found.isfinite()
    size = expected[expected.isfinite()].abs().max() if expected.isfinite().any() else torch.tensor(0.0)
    far = (found - expected).abs() > ROUNDING * size
    same = (found == expected) | (found.isnan() & expected.isnan())
    return torch.where(finite, far, ~same)


def reduced(comparison: Comparison) -> Iterator[Explanation]:
    """An axis is gone, or has one entry: the values are its sum, its mean, or one of its entries."""
    for axis in range(comparison.expected.dim()):
        ways = [("the sum", comparison.expected.sum(axis)), ("the mean", comparison.expected.mean(axis)),
                ("the first entry", comparison.expected.select(axis, 0)),
                ("the last entry", comparison.expected.select(axis, -1))]  # fmt: skip
        for words, reduced in ways if comparison.expected.size(axis) > 1 or not comparison.main else ():
            if alike(comparison.found.squeeze(), reduced.squeeze()):
                name = f"{comparison.axis(axis)[0].upper()}{comparison.axis(axis)[1:]}"
                is_gone = comparison.found.dim() < comparison.expected.dim()
                is_any = words != "the sum" and alike(ways[2][1], ways[3][1]) and alike(ways[1][1], ways[2][1])
                where = "" if is_any else f"You return {words} along it. "
                yield Explanation(f"{name} {'is gone' if is_gone else 'has one entry only'}.",
                                  f"{where}Every entry along it is needed.",
                                  f"{words} {comparison.place(axis)}")  # fmt: skip


def reshaped(comparison: Comparison) -> Iterator[Explanation]:
    """Of a single number it is not said: it may be right by luck."""
    if comparison.found.numel() > 1 and alike(comparison.found.flatten(), comparison.expected.flatten()):
        yield Explanation("The right numbers in the right order, in another shape.")


def extra_axis(comparison: Comparison) -> Iterator[Explanation]:
    if comparison.found.dim() != comparison.expected.dim() + 1:
        return
    for axis in range(comparison.found.dim()):
        from_last = axis - comparison.found.dim()
        if comparison.found.shape[axis] > 1 and alike(comparison.found.sum(axis), comparison.expected):
            yield Explanation(f"Axis {axis} of your result still has to be summed away.",
                              "Summed along it, your values are the expected ones.", f"sum {from_last}")  # fmt: skip
        if comparison.found.shape[axis] and alike(comparison.found.select(axis, 0), comparison.expected):
            yield Explanation(f"Axis {axis} of your result is one too many.",
                              "Its first entry is the expected result.", f"first {from_last}")  # fmt: skip
