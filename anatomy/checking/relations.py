"""The generic search: what relates a tensor that was found to the one expected, knowing nothing of the exercise.

`relate` tries simple explanations from the most to the least specific (a constant factor, an axis permuted, reversed
or shifted, sums along the wrong axis, a missing term …) and returns the first that explains *every* entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import torch
from torch import Tensor

from anatomy.checking.compare import ROUNDING
from anatomy.exercises.spec import Case, Exercise


@dataclass(frozen=True)
class Relation:
    """An explanation: a headline, and a sentence with the numbers behind it."""

    headline: str
    detail: str


@dataclass(frozen=True)
class Scene:
    """What a finder may look at: both tensors (float64), the case, and the words for the axes."""

    found: Tensor
    expected: Tensor
    case: Case
    axes: tuple[str, ...]

    def axis(self, index: int) -> str:
        return f"axis {index} ({self.axes[index]})" if index < len(self.axes) else f"axis {index}"


def relate(found: Tensor, expected: Tensor, case: Case, exercise: Exercise) -> Relation | None:
    """The first relation that explains all of `found`, or None."""
    letters = case.returns or exercise.returns
    axes = tuple(exercise.axis(letter) for letter in letters.split())
    scene = Scene(found.double(), expected.double(), case, axes if len(axes) == expected.dim() else ())
    for finder in _SAME_SHAPE if found.shape == expected.shape else _OTHER_SHAPE:
        if relation := finder(scene):
            return relation
    return None


def _alike(left: Tensor, right: Tensor) -> bool:
    """Equal up to rounding, and not trivially so (all zeros)."""
    if left.shape != right.shape or left.numel() == 0 or not (left.isfinite().all() and right.isfinite().all()):
        return False
    size = right.abs().max()
    return bool(size > 0 and (left - right).abs().max() <= 8 * ROUNDING * size)


# ---------------------------------------------------------------------------------------------- same shape


def _not_finite(scene: Scene) -> Relation | None:
    bad = ~scene.found.isfinite() & scene.expected.isfinite()
    if not bad.any():
        return None
    word = "NaN" if scene.found[bad].isnan().any() else "infinite"
    first = bad.nonzero()[0].tolist()
    return Relation(
        f"{int(bad.sum())} of {bad.numel()} values are {word}.",
        f"The first is at {first}. NaN comes from ∞/∞, 0/0 or ∞−∞; ∞ from the exponential of a large number "
        "or from a division by zero.",
    )


def _nothing_done(scene: Scene) -> Relation | None:
    if not scene.found.any():
        return Relation("Everything you return is zero.", "The right shape is there; the computation is not yet.")
    if scene.found.numel() > 1 and bool((scene.found == scene.found.flatten()[0]).all()):
        value = scene.found.flatten()[0].item()
        return Relation(f"Every entry you return is the same number, {value:.4g}.", "The expected entries differ.")
    for name, value in _inputs(scene):
        if value.shape == scene.found.shape and _alike(scene.found, value):
            return Relation(f"You return `{name}` unchanged.", "What should happen to it has no effect.")
    return None


def _factor(scene: Scene) -> Relation | None:
    ratio = _ratio(scene.found, scene.expected)
    if ratio is None:
        return None
    if math.isclose(ratio, -1, rel_tol=1e-4):
        return Relation("The sign is reversed.", "Every value is the expected one times −1.")
    sentence = explain_factor(ratio, scene.case)
    direction = f"times {ratio:.4g}" if abs(ratio) > 1 else f"divided by {1 / ratio:.4g}"
    return Relation(f"Close: only a constant factor is off{sentence[0]}.",
                    f"Your values are the expected ones {direction} everywhere{sentence[1]}.")  # fmt: skip


def _ratio(found: Tensor, expected: Tensor) -> float | None:
    """c with found = c · expected, c ≠ 1, or None."""
    if found.shape != expected.shape or not found.isfinite().all() or not expected.isfinite().all():
        return None
    if found.numel() < 2 or not (norm := (expected * expected).sum()) > 0:
        return None
    ratio = float((found * expected).sum() / norm)
    if abs(ratio) < 1e-9 or math.isclose(ratio, 1, rel_tol=1e-4):
        return None
    return ratio if _alike(found, ratio * expected) else None


def explain_factor(ratio: float, case: Case) -> tuple[str, str]:
    """Which size explains a factor: an end for the headline and one for the detail, empty when none does."""
    size = abs(ratio) if abs(ratio) > 1 else 1 / abs(ratio)
    candidates: list[tuple[float, str, str]] = []
    for letter, value in case.sizes.items():
        candidates.append((math.sqrt(value), f"√{letter}", f"√{value}"))
        candidates.append((value, letter, str(value)))
    for (first, one), (second, two) in combinations(case.sizes.items(), 2):
        candidates.append((math.sqrt(two / one) if two > one else math.sqrt(one / two),
                           f"√({second}/{first})" if two > one else f"√({first}/{second})",
                           f"√({max(one, two)}/{min(one, two)})"))  # fmt: skip
        candidates.append((one * two, f"{first}·{second}", f"{one}·{two}"))
    candidates += [(2.0, "2", ""), (math.log(2), "ln 2", ""), (math.sqrt(2), "√2", "")]
    for value, name, number in candidates:
        if value > 1 and math.isclose(value, size, rel_tol=1e-4):
            equals = f" = {number}" if number else ""
            return f": {name}", f", and {name}{equals}" + (f" = {value:.4g}" if number != f"{value:.4g}" else "")
    return "", ""


def _transposed(scene: Scene) -> Relation | None:
    dims = scene.expected.dim()
    for order in permutations(range(dims)):
        if order == tuple(range(dims)):
            continue
        turned = scene.expected.permute(order)
        if turned.shape != scene.found.shape:
            continue
        words = ", ".join(scene.axes[axis] if scene.axes else str(axis) for axis in order)
        if _alike(scene.found, turned):
            return Relation("Axes are swapped.", f"Your values are the expected ones with the axes in the order ({words}).")
        if (ratio := _ratio(scene.found, turned)) is not None:
            more = explain_factor(ratio, scene.case)[0]
            return Relation("Axes are swapped, and a constant factor is off too.",
                            f"With the axes in the order ({words}) your values are the expected ones "
                            f"times {ratio:.4g}{more}.")  # fmt: skip
    return None


def _moved(scene: Scene) -> Relation | None:
    for axis in range(scene.expected.dim()):
        if _alike(scene.found, scene.expected.flip(axis)):
            return Relation(f"The order along {scene.axis(axis)} is reversed.", "The values themselves are right.")
        for step in (1, -1):
            if _alike(scene.found, scene.expected.roll(step, axis)) or _shifted(scene, axis, step):
                way = "later" if step == 1 else "earlier"
                return Relation(f"Everything is one step {way} along {scene.axis(axis)}: off by one.",
                                "The values themselves are right.")  # fmt: skip
    return None


def _shifted(scene: Scene, axis: int, step: int) -> bool:
    length = scene.expected.size(axis)
    if length < 4:
        return False
    mine = scene.found.narrow(axis, max(step, 0), length - 1)
    return _alike(mine, scene.expected.narrow(axis, max(-step, 0), length - 1))


def _repeated(scene: Scene) -> Relation | None:
    for axis in range(scene.expected.dim() - 1):
        if scene.expected.size(axis) < 2:
            continue
        for index in (0, scene.expected.size(axis) - 1):
            one = scene.expected.select(axis, index).unsqueeze(axis).expand_as(scene.expected)
            if _alike(scene.found, one) and not _alike(scene.expected, one):
                which = "first" if index == 0 else "last"
                return Relation(f"Along {scene.axis(axis)} you repeat the result of the {which} one.",
                                "Each entry along this axis has its own inputs and needs its own result.")  # fmt: skip
    return None


def _sums_elsewhere(scene: Scene) -> Relation | None:
    """Weights that sum to one along another axis, or over several together."""
    if (wanted := _weights_axis(scene)) is None:
        return None
    target, dims = scene.axis(wanted), scene.expected.dim()
    for axis in range(dims):
        if _sums_to_one(scene.found, axis):
            return Relation(f"Your weights sum to one along {scene.axis(axis)}, not along {target}.",
                            "Each slice along the right axis must share out exactly 1.")  # fmt: skip
    for count in range(2, dims + 1):
        for group in combinations(range(dims), count):
            if bool(((scene.found.sum(group) - 1).abs() < 1e-4).all()):
                words = " and ".join(scene.axis(axis) for axis in group)
                return Relation(f"Your weights sum to one over {words} together, not along {target} alone.",
                                "The normalization takes in too many entries at once.")  # fmt: skip
    return None


def _sums_nowhere(scene: Scene) -> Relation | None:
    if (wanted := _weights_axis(scene)) is None:
        return None
    return Relation(f"Your weights don't sum to one along {scene.axis(wanted)}.",
                    f"The first slice sums to {scene.found.sum(wanted).flatten()[0]:.4g}.")  # fmt: skip


def _weights_axis(scene: Scene) -> int | None:
    """The axis along which the expected values are shares of one and the found ones are not."""
    wanted = [axis for axis in range(scene.expected.dim()) if _sums_to_one(scene.expected, axis)]
    if not wanted or bool((scene.expected < 0).any()) or any(_sums_to_one(scene.found, axis) for axis in wanted):
        return None
    return wanted[-1]


def _sums_to_one(value: Tensor, axis: int) -> bool:
    return value.size(axis) > 1 and bool(((value.sum(axis) - 1).abs() < 1e-4).all())


def _axis_factor(scene: Scene) -> Relation | None:
    """found = expected · g, where g varies along some axes only: a normalization that is missing or other."""
    if (scene.expected.abs() < 1e-12).any() or scene.expected.dim() < 2:
        return None
    ratio = scene.found / scene.expected
    for axis in reversed(range(scene.expected.dim())):
        first = ratio.select(axis, 0).unsqueeze(axis)
        if scene.expected.size(axis) > 2 and _alike(ratio, first.expand_as(ratio)):
            low, high = ratio.min().item(), ratio.max().item()
            return Relation(f"Each slice along {scene.axis(axis)} is off by a factor of its own.",
                            f"The factors run from {low:.4g} to {high:.4g}: a normalization is missing, doubled, "
                            "or uses the wrong sum.")  # fmt: skip
    return None


def _added(scene: Scene) -> Relation | None:
    gap = scene.found - scene.expected
    if gap.numel() > 1 and _alike(gap, gap.flatten()[0].expand_as(gap)):
        return Relation("A constant is added.", f"Every value is {gap.flatten()[0]:+.4g} away from the expected one.")
    for name, value in _inputs(scene):
        for sign, words in ((-1, "is missing"), (1, "is added once too often")):
            with_input = _broadcast(value, gap)
            if with_input is not None and _alike(gap, sign * with_input):
                return Relation(f"`{name}` {words}.", f"Your values differ from the expected ones by exactly `{name}`.")
    for axis in range(gap.dim() - 1):
        first = gap.select(axis, 0).unsqueeze(axis)
        if gap.size(axis) > 2 and _alike(gap, first.expand_as(gap)):
            return Relation("A term is missing or added.",
                            f"The difference is the same for every entry along {scene.axis(axis)}, as a bias or "
                            "another term that does not depend on it would make it.")  # fmt: skip
    return None


def _transformed(scene: Scene) -> Relation | None:
    table: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
        ("squared", torch.square),
        ("under a square root", lambda x: x.clamp(min=0).sqrt()),
        ("under a logarithm", lambda x: x.clamp(min=1e-300).log()),
        ("exponentiated", lambda x: x.clamp(max=80).exp()),
        ("made positive (an absolute value)", torch.abs),
        ("cut off below zero (a ReLU)", torch.relu),
        ("inverted (1/x)", torch.reciprocal),
        ("squashed by a sigmoid", torch.sigmoid),
        ("squashed by tanh", torch.tanh),
        ("masked: entries above the diagonal are zero", torch.tril),
        ("masked: entries below the diagonal are zero", torch.triu),
    )
    for words, change in table:
        if scene.expected.dim() < 2 and "diagonal" in words:
            continue
        if _alike(scene.found, change(scene.expected)):
            return Relation(f"Your values are the expected ones, {words}.", "One step too many, or one too few.")
    for axis in range(scene.expected.dim()):
        if _alike(scene.found, scene.expected.softmax(axis)):
            return Relation(f"Your values are the expected ones after a softmax along {scene.axis(axis)}.",
                            "That step belongs elsewhere.")  # fmt: skip
        if _alike(scene.found, scene.expected - scene.expected.mean(axis, keepdim=True)):
            return Relation(f"Your values are the expected ones minus their mean along {scene.axis(axis)}.",
                            "Nothing should be centred here.")  # fmt: skip
        if _alike(scene.found, scene.expected.cumsum(axis)):
            return Relation(f"Your values are running sums of the expected ones along {scene.axis(axis)}.",
                            "An accumulator is not reset.")  # fmt: skip
    return None


def _coarse(scene: Scene) -> Relation | None:
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
        step = 2 * torch.finfo(dtype).eps
        size = scene.expected.abs().max()
        if size > 0 and (scene.found - scene.expected).abs().max() <= step * size:
            return Relation(f"Right to about {step:.1g}, as far as {name} goes, but no further.",
                            "Something is rounded on the way, or a small constant differs (an eps, a constant of "
                            "a formula).")  # fmt: skip
    return None


def _reordered(scene: Scene) -> Relation | None:
    mine, right = scene.found.flatten().sort().values, scene.expected.flatten().sort().values
    if mine.numel() > 3 and _alike(mine, right):
        return Relation("The right numbers, in the wrong places.",
                        "Sorted, your values are the expected ones: an axis was split, merged or moved in the wrong "
                        "order (`view` keeps memory order; `transpose` does not).")  # fmt: skip
    return None


def _partly_wrong(scene: Scene) -> Relation | None:
    """Right for most indices along an axis and wrong for a few."""
    for axis, bad in _wrong_along(scene):
        count = int(bad.sum())
        if 0 < count <= len(bad) / 2 or (0 < count < len(bad) and count <= 3):
            rows = bad.nonzero().flatten()
            mine, right = scene.found.index_select(axis, rows), scene.expected.index_select(axis, rows)
            more = ""
            if _alike(mine, -right):
                more = " There, all values have the opposite sign."
            elif (ratio := _ratio(mine, right)) is not None:
                more = f" There, all values are the expected ones times {ratio:.4g}."
            return Relation(f"Along {scene.axis(axis)} only index {_listed(rows)} is wrong.",
                            f"The other {len(bad) - count} of {len(bad)} are right.{more}")  # fmt: skip
    return None


def _partly_right(scene: Scene) -> Relation | None:
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


# ---------------------------------------------------------------------------------------------- other shape


def _reduced(scene: Scene) -> Relation | None:
    """An axis is gone: summed, averaged or only one of its entries taken."""
    for axis in range(scene.expected.dim()):
        ways = [("the sum", scene.expected.sum(axis)), ("the mean", scene.expected.mean(axis)),
                ("the first entry", scene.expected.select(axis, 0)),
                ("the last entry", scene.expected.select(axis, -1))]  # fmt: skip
        for words, reduced in ways if scene.expected.size(axis) > 1 else ():
            if _alike(scene.found.squeeze(), reduced.squeeze()):
                return Relation(f"{scene.axis(axis)[0].upper()}{scene.axis(axis)[1:]} is gone.",
                                f"You return {words} along it, where every entry is wanted.")  # fmt: skip
    return None


def _reshaped(scene: Scene) -> Relation | None:
    if scene.found.numel() != scene.expected.numel():
        return None
    if _alike(scene.found.flatten(), scene.expected.flatten()):
        return Relation("The right numbers in the right order, in another shape.",
                        f"Yours is {tuple(scene.found.shape)}, wanted is {tuple(scene.expected.shape)}.")  # fmt: skip
    return None


def _extra_axis(scene: Scene) -> Relation | None:
    if scene.found.dim() != scene.expected.dim() + 1:
        return None
    for axis in range(scene.found.dim()):
        if _alike(scene.found.sum(axis), scene.expected):
            return Relation(f"Axis {axis} of your result still has to be summed away.",
                            "Summed along it, your values are the expected ones.")  # fmt: skip
        if _alike(scene.found.select(axis, 0), scene.expected):
            return Relation(f"Axis {axis} of your result is one too many.",
                            "Its first entry is the expected result.")  # fmt: skip
    return None


_SAME_SHAPE: tuple[Callable[[Scene], Relation | None], ...] = (
    _not_finite, _nothing_done, _factor, _transposed, _moved, _repeated, _added, _transformed, _sums_elsewhere,
    _coarse, _partly_wrong, _sums_nowhere, _axis_factor, _reordered, _partly_right,
)  # fmt: skip
_OTHER_SHAPE: tuple[Callable[[Scene], Relation | None], ...] = (_transposed, _reshaped, _extra_axis, _reduced)


def _inputs(scene: Scene) -> Iterator[tuple[str, Tensor]]:
    for name, value in scene.case.args.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            yield name, value.double()


def _broadcast(value: Tensor, like: Tensor) -> Tensor | None:
    try:
        return value.expand_as(like)
    except RuntimeError:
        return None


# ---------------------------------------------------------------------------------------------- lists


def relate_lists(found: list[Any], expected: list[Any]) -> Relation:
    """What relates two lists of plain items."""
    shared = next((i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b), None)
    if shared is None and len(found) < len(expected):
        return Relation(f"Your list stops too early: {len(found)} items, expected {len(expected)}.",
                        f"What is there is right; next would come {expected[len(found)]!r}.")  # fmt: skip
    if shared is None:
        return Relation(f"Your list goes on too long: {len(found)} items, expected {len(expected)}.",
                        f"The first {len(expected)} are right; then you add {found[len(expected)]!r}.")  # fmt: skip
    if found == expected[::-1]:
        return Relation("Your list is in reverse order.", "The items themselves are right.")
    if sorted(map(repr, found)) == sorted(map(repr, expected)):
        return Relation("The right items, in another order.",
                        f"The first in the wrong place is item {shared}: {found[shared]!r}.")  # fmt: skip
    return Relation(f"Item {shared} differs: yours is {found[shared]!r}, expected {expected[shared]!r}.",
                    f"The {shared} before it are right." if shared else "It is the very first one.")  # fmt: skip
