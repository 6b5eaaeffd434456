"""Relations between places: axes swapped, moved, repeated, gone; right here and wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from torch import Tensor

from anatomy.checking.compare import ROUNDING
from anatomy.checking.relations_of_values import explain_factor
from anatomy.checking.scene import Relation, Scene, alike, constant_ratio


def transposed(scene: Scene) -> Relation | None:
    dims = scene.expected.dim()
    for order in permutations(range(dims)):
        if order == tuple(range(dims)):
            continue
        turned = scene.expected.permute(order)
        if turned.shape != scene.found.shape:
            continue
        words = ", ".join(scene.axes[axis] if scene.axes else str(axis) for axis in order)
        if alike(scene.found, turned):
            return Relation(
                "Axes are swapped.", f"Your values are the expected ones with the axes in the order ({words})."
            )
        if (ratio := constant_ratio(scene.found, turned)) is not None:
            more = explain_factor(ratio, scene)[0]
            return Relation("Axes are swapped, and a constant factor is off too.",
                            f"With the axes in the order ({words}) your values are the expected ones "
                            f"times {ratio:.4g}{more}.")  # fmt: skip
    return None


def moved(scene: Scene) -> Relation | None:
    for axis in range(scene.expected.dim()):
        if alike(scene.found, scene.expected.flip(axis)):
            return Relation(f"The order along {scene.axis(axis)} is reversed.", "The values themselves are right.")
        for step in (1, -1):
            if alike(scene.found, scene.expected.roll(step, axis)) or _shifted(scene, axis, step):
                way = "later" if step == 1 else "earlier"
                return Relation(f"Everything is one step {way} along {scene.axis(axis)}: off by one.",
                                "The values themselves are right.")  # fmt: skip
    return None


def _shifted(scene: Scene, axis: int, step: int) -> bool:
    length = scene.expected.size(axis)
    if length < 4:
        return False
    mine = scene.found.narrow(axis, max(step, 0), length - 1)
    return alike(mine, scene.expected.narrow(axis, max(-step, 0), length - 1))


def repeated(scene: Scene) -> Relation | None:
    for axis in range(scene.expected.dim() - 1):
        if scene.expected.size(axis) < 2:
            continue
        for index in (0, scene.expected.size(axis) - 1):
            one = scene.expected.select(axis, index).unsqueeze(axis).expand_as(scene.expected)
            if alike(scene.found, one) and not alike(scene.expected, one):
                which = "first" if index == 0 else "last"
                return Relation(f"Along {scene.axis(axis)} you repeat the result of the {which} one.",
                                "Each entry along this axis has its own inputs and needs its own result.")  # fmt: skip
    return None


def reordered(scene: Scene) -> Relation | None:
    mine, right = scene.found.flatten().sort().values, scene.expected.flatten().sort().values
    if mine.numel() > 3 and alike(mine, right):
        return Relation("The right numbers, in the wrong places.",
                        "Sorted, your values are the expected ones: an axis was split, merged or moved in the wrong "
                        "order (`view` keeps memory order; `transpose` does not).")  # fmt: skip
    return None


def partly_wrong(scene: Scene) -> Relation | None:
    """Right for most indices along an axis and wrong for a few."""
    for axis, bad in _wrong_along(scene):
        count = int(bad.sum())
        if 0 < count <= len(bad) / 2 or (0 < count < len(bad) and count <= 3):
            rows = bad.nonzero().flatten()
            mine, right = scene.found.index_select(axis, rows), scene.expected.index_select(axis, rows)
            more = ""
            if alike(mine, -right):
                more = " There, all values have the opposite sign."
            elif (ratio := constant_ratio(mine, right)) is not None:
                more = f" There, all values are the expected ones times {ratio:.4g}."
            return Relation(f"Along {scene.axis(axis)} only index {_listed(rows)} is wrong.",
                            f"The other {len(bad) - count} of {len(bad)} are right.{more}")  # fmt: skip
    return None


def partly_right(scene: Scene) -> Relation | None:
    """Wrong for most indices along an axis and right for a few."""
    for axis, bad in _wrong_along(scene):
        if 0 < len(bad) - int(bad.sum()) <= len(bad) / 2:
            return Relation(f"Along {scene.axis(axis)} only index {_listed((~bad).nonzero().flatten())} is right.",
                            f"The other {int(bad.sum())} of {len(bad)} are wrong.")  # fmt: skip
    return None


def _wrong_along(scene: Scene) -> Iterator[tuple[int, Tensor]]:
    """For every axis: which of its indices hold a wrong value."""
    wrong = (scene.found - scene.expected).abs() > ROUNDING * scene.expected.abs().max()
    for axis in range(wrong.dim()):
        others = tuple(other for other in range(wrong.dim()) if other != axis)
        yield axis, wrong.any(dim=others) if others else wrong


def _listed(indices: Tensor) -> str:
    return ", ".join(map(str, indices.tolist()[:5]))


def reduced(scene: Scene) -> Relation | None:
    """An axis is gone: summed, averaged or only one of its entries taken."""
    for axis in range(scene.expected.dim()):
        ways = [("the sum", scene.expected.sum(axis)), ("the mean", scene.expected.mean(axis)),
                ("the first entry", scene.expected.select(axis, 0)),
                ("the last entry", scene.expected.select(axis, -1))]  # fmt: skip
        for words, reduced in ways if scene.expected.size(axis) > 1 else ():
            if alike(scene.found.squeeze(), reduced.squeeze()):
                return Relation(f"{scene.axis(axis)[0].upper()}{scene.axis(axis)[1:]} is gone.",
                                f"You return {words} along it, where every entry is wanted.")  # fmt: skip
    return None


def reshaped(scene: Scene) -> Relation | None:
    if scene.found.numel() != scene.expected.numel():
        return None
    if alike(scene.found.flatten(), scene.expected.flatten()):
        return Relation("The right numbers in the right order, in another shape.",
                        f"Yours is {tuple(scene.found.shape)}, wanted is {tuple(scene.expected.shape)}.")  # fmt: skip
    return None


def extra_axis(scene: Scene) -> Relation | None:
    if scene.found.dim() != scene.expected.dim() + 1:
        return None
    for axis in range(scene.found.dim()):
        if alike(scene.found.sum(axis), scene.expected):
            return Relation(f"Axis {axis} of your result still has to be summed away.",
                            "Summed along it, your values are the expected ones.")  # fmt: skip
        if scene.found.shape[axis] and alike(scene.found.select(axis, 0), scene.expected):
            return Relation(f"Axis {axis} of your result is one too many.",
                            "Its first entry is the expected result.")  # fmt: skip
    return None
