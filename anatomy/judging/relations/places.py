"""Relations between places: axes swapped, moved, repeated, gone; right here and wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from torch import Tensor

from anatomy.judging.compare import ROUNDING
from anatomy.judging.relations.comparison import Comparison, Relation, alike, constant_ratio
from anatomy.judging.relations.values import explain_factor


def transposed(comparison: Comparison) -> Relation | None:
    dims = comparison.expected.dim()
    for order in permutations(range(dims)):
        if order == tuple(range(dims)):
            continue
        turned = comparison.expected.permute(order)
        if turned.shape != comparison.found.shape:
            continue
        words = ", ".join(comparison.axes[axis] if comparison.axes else str(axis) for axis in order)
        if alike(comparison.found, turned):
            return Relation(
                "Axes are swapped.", f"Your values are the expected ones with the axes in the order ({words})."
            )
        if (ratio := constant_ratio(comparison.found, turned)) is not None:
            more = explain_factor(ratio, comparison)[0]
            return Relation("Axes are swapped, and a constant factor is off too.",
                            f"With the axes in the order ({words}) your values are the expected ones "
                            f"times {ratio:.4g}{more}.")  # fmt: skip
    return None


def moved(comparison: Comparison) -> Relation | None:
    for axis in range(comparison.expected.dim()):
        if alike(comparison.found, comparison.expected.flip(axis)):
            return Relation(f"The order along {comparison.axis(axis)} is reversed.", "The values themselves are right.")
        for step in (1, -1):
            if alike(comparison.found, comparison.expected.roll(step, axis)) or _shifted(comparison, axis, step):
                way = "later" if step == 1 else "earlier"
                return Relation(f"Everything is one step {way} along {comparison.axis(axis)}: off by one.",
                                "The values themselves are right.")  # fmt: skip
    return None


def _shifted(comparison: Comparison, axis: int, step: int) -> bool:
    length = comparison.expected.size(axis)
    if length < 4:
        return False
    mine = comparison.found.narrow(axis, max(step, 0), length - 1)
    return alike(mine, comparison.expected.narrow(axis, max(-step, 0), length - 1))


def repeated(comparison: Comparison) -> Relation | None:
    for axis in range(comparison.expected.dim() - 1):
        if comparison.expected.size(axis) < 2:
            continue
        for index in (0, comparison.expected.size(axis) - 1):
            one = comparison.expected.select(axis, index).unsqueeze(axis).expand_as(comparison.expected)
            if alike(comparison.found, one) and not alike(comparison.expected, one):
                which = "first" if index == 0 else "last"
                return Relation(f"Along {comparison.axis(axis)} you repeat the result of the {which} one.",
                                "Each entry along this axis has its own inputs and needs its own result.")  # fmt: skip
    return None


def reordered(comparison: Comparison) -> Relation | None:
    mine, right = comparison.found.flatten().sort().values, comparison.expected.flatten().sort().values
    if mine.numel() > 3 and alike(mine, right):
        return Relation("The right numbers, in the wrong places.",
                        "Sorted, your values are the expected ones: an axis was split, merged or moved in the wrong "
                        "order (`view` keeps memory order; `transpose` does not).")  # fmt: skip
    return None


def partly_wrong(comparison: Comparison) -> Relation | None:
    """Right for most indices along an axis and wrong for a few."""
    for axis, bad in _wrong_along(comparison):
        count = int(bad.sum())
        if 0 < count <= len(bad) / 2 or (0 < count < len(bad) and count <= 3):
            rows = bad.nonzero().flatten()
            mine, right = comparison.found.index_select(axis, rows), comparison.expected.index_select(axis, rows)
            more = ""
            if alike(mine, -right):
                more = " There, all values have the opposite sign."
            elif (ratio := constant_ratio(mine, right)) is not None:
                more = f" There, all values are the expected ones times {ratio:.4g}."
            return Relation(f"Along {comparison.axis(axis)} only index {_listed(rows)} is wrong.",
                            f"The other {len(bad) - count} of {len(bad)} are right.{more}")  # fmt: skip
    return None


def partly_right(comparison: Comparison) -> Relation | None:
    """Wrong for most indices along an axis and right for a few."""
    for axis, bad in _wrong_along(comparison):
        if 0 < len(bad) - int(bad.sum()) <= len(bad) / 2:
            return Relation(f"Along {comparison.axis(axis)} only index {_listed((~bad).nonzero().flatten())} is right.",
                            f"The other {int(bad.sum())} of {len(bad)} are wrong.")  # fmt: skip
    return None


def _wrong_along(comparison: Comparison) -> Iterator[tuple[int, Tensor]]:
    """For every axis: which of its indices hold a wrong value."""
    wrong = (comparison.found - comparison.expected).abs() > ROUNDING * comparison.expected.abs().max()
    for axis in range(wrong.dim()):
        others = tuple(other for other in range(wrong.dim()) if other != axis)
        yield axis, wrong.any(dim=others) if others else wrong


def _listed(indices: Tensor) -> str:
    return ", ".join(map(str, indices.tolist()[:5]))


def reduced(comparison: Comparison) -> Relation | None:
    """An axis is gone: summed, averaged or only one of its entries taken."""
    for axis in range(comparison.expected.dim()):
        ways = [("the sum", comparison.expected.sum(axis)), ("the mean", comparison.expected.mean(axis)),
                ("the first entry", comparison.expected.select(axis, 0)),
                ("the last entry", comparison.expected.select(axis, -1))]  # fmt: skip
        for words, reduced in ways if comparison.expected.size(axis) > 1 else ():
            if alike(comparison.found.squeeze(), reduced.squeeze()):
                return Relation(f"{comparison.axis(axis)[0].upper()}{comparison.axis(axis)[1:]} is gone.",
                                f"You return {words} along it, where every entry is wanted.")  # fmt: skip
    return None


def reshaped(comparison: Comparison) -> Relation | None:
    if comparison.found.numel() != comparison.expected.numel():
        return None
    if alike(comparison.found.flatten(), comparison.expected.flatten()):
        return Relation("The right numbers in the right order, in another shape.",
                        f"Yours is {tuple(comparison.found.shape)}, wanted is "
                        f"{tuple(comparison.expected.shape)}.")  # fmt: skip
    return None


def extra_axis(comparison: Comparison) -> Relation | None:
    if comparison.found.dim() != comparison.expected.dim() + 1:
        return None
    for axis in range(comparison.found.dim()):
        if alike(comparison.found.sum(axis), comparison.expected):
            return Relation(f"Axis {axis} of your result still has to be summed away.",
                            "Summed along it, your values are the expected ones.")  # fmt: skip
        if comparison.found.shape[axis] and alike(comparison.found.select(axis, 0), comparison.expected):
            return Relation(f"Axis {axis} of your result is one too many.",
                            "Its first entry is the expected result.")  # fmt: skip
    return None
