"""Relations between values: factors, signs, terms, sums, functions applied once too often."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import torch
from torch import Tensor

from anatomy.checking.scene import Relation, Scene, alike, constant_ratio
from anatomy.exercises.spec import Case


def not_finite(scene: Scene) -> Relation | None:
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


def nothing_done(scene: Scene) -> Relation | None:
    if not scene.found.any():
        return Relation("Everything you return is zero.", "The right shape is there; the computation is not yet.")
    if scene.found.numel() > 1 and bool((scene.found == scene.found.flatten()[0]).all()):
        value = scene.found.flatten()[0].item()
        return Relation(f"Every entry you return is the same number, {value:.4g}.", "The expected entries differ.")
    for name, given in _inputs(scene):
        if given.shape == scene.found.shape and alike(scene.found, given):
            return Relation(f"You return `{name}` unchanged.", "What should happen to it has no effect.")
    return None


def factor(scene: Scene) -> Relation | None:
    ratio = constant_ratio(scene.found, scene.expected)
    if ratio is None:
        return None
    if math.isclose(ratio, -1, rel_tol=1e-4):
        return Relation("The sign is reversed.", "Every value is the expected one times −1.")
    sentence = explain_factor(ratio, scene.case)
    direction = f"times {ratio:.4g}" if abs(ratio) > 1 else f"divided by {1 / ratio:.4g}"
    return Relation(f"Close: only a constant factor is off{sentence[0]}.",
                    f"Your values are the expected ones {direction} everywhere{sentence[1]}.")  # fmt: skip


def explain_factor(ratio: float, case: Case) -> tuple[str, str]:
    """Which size explains a factor: an end for the headline and one for the detail, empty when none does."""
    size = abs(ratio) if abs(ratio) > 1 else 1 / abs(ratio)
    candidates: list[tuple[float, str, str]] = []
    for letter, value in case.sizes.items():
        candidates.append((math.sqrt(value), f"√{letter}", f"√{value}"))
        candidates.append((float(value), letter, str(value)))
    for (first, one), (second, two) in combinations(case.sizes.items(), 2):
        candidates.append((math.sqrt(two / one) if two > one else math.sqrt(one / two),
                           f"√({second}/{first})" if two > one else f"√({first}/{second})",
                           f"√({max(one, two)}/{min(one, two)})"))  # fmt: skip
        candidates.append((one * two, f"{first}·{second}", f"{one}·{two}"))
    candidates += [(2.0, "2", ""), (math.log(2), "ln 2", ""), (math.sqrt(2), "√2", "")]
    for known, name, number in candidates:
        if known > 1 and math.isclose(known, size, rel_tol=1e-4):
            equals = f" = {number}" if number else ""
            return f": {name}", f", and {name}{equals}" + (f" = {known:.4g}" if number != f"{known:.4g}" else "")
    return "", ""


def sums_elsewhere(scene: Scene) -> Relation | None:
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


def sums_nowhere(scene: Scene) -> Relation | None:
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


def axis_factor(scene: Scene) -> Relation | None:
    """found = expected · g, where g varies along some axes only: a normalization that is missing or other."""
    if (scene.expected.abs() < 1e-12).any() or scene.expected.dim() < 2:
        return None
    ratio = scene.found / scene.expected
    for axis in reversed(range(scene.expected.dim())):
        first = ratio.select(axis, 0).unsqueeze(axis)
        if scene.expected.size(axis) > 2 and alike(ratio, first.expand_as(ratio)):
            low, high = ratio.min().item(), ratio.max().item()
            return Relation(f"Each slice along {scene.axis(axis)} is off by a factor of its own.",
                            f"The factors run from {low:.4g} to {high:.4g}: a normalization is missing, doubled, "
                            "or uses the wrong sum.")  # fmt: skip
    return None


def added(scene: Scene) -> Relation | None:
    gap = scene.found - scene.expected
    if gap.numel() > 1 and alike(gap, gap.flatten()[0].expand_as(gap)):
        return Relation("A constant is added.", f"Every value is {gap.flatten()[0]:+.4g} away from the expected one.")
    for name, value in _inputs(scene):
        for sign, words in ((-1, "is missing"), (1, "is added once too often")):
            with_input = _broadcast(value, gap)
            if with_input is not None and alike(gap, sign * with_input):
                return Relation(f"`{name}` {words}.", f"Your values differ from the expected ones by exactly `{name}`.")
    for axis in range(gap.dim() - 1):
        first = gap.select(axis, 0).unsqueeze(axis)
        if gap.size(axis) > 2 and alike(gap, first.expand_as(gap)):
            return Relation("A term is missing or added.",
                            f"The difference is the same for every entry along {scene.axis(axis)}, as a bias or "
                            "another term that does not depend on it would make it.")  # fmt: skip
    return None


def transformed(scene: Scene) -> Relation | None:
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
        if alike(scene.found, change(scene.expected)):
            return Relation(f"Your values are the expected ones, {words}.", "One step too many, or one too few.")
    for axis in range(scene.expected.dim()):
        if alike(scene.found, scene.expected.softmax(axis)):
            return Relation(f"Your values are the expected ones after a softmax along {scene.axis(axis)}.",
                            "That step belongs elsewhere.")  # fmt: skip
        if alike(scene.found, scene.expected - scene.expected.mean(axis, keepdim=True)):
            return Relation(f"Your values are the expected ones minus their mean along {scene.axis(axis)}.",
                            "Nothing should be centred here.")  # fmt: skip
        if alike(scene.found, scene.expected.cumsum(axis)):
            return Relation(f"Your values are running sums of the expected ones along {scene.axis(axis)}.",
                            "An accumulator is not reset.")  # fmt: skip
    return None


def coarse(scene: Scene) -> Relation | None:
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
        step = 2 * torch.finfo(dtype).eps
        size = scene.expected.abs().max()
        if size > 0 and (scene.found - scene.expected).abs().max() <= step * size:
            return Relation(f"Right to about {step:.1g}, as far as {name} goes, but no further.",
                            "Something is rounded on the way, or a small constant differs (an eps, a constant of "
                            "a formula).")  # fmt: skip
    return None


def _inputs(scene: Scene) -> Iterator[tuple[str, Tensor]]:
    for name, value in scene.case.args.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            yield name, value.double()


def _broadcast(value: Tensor, like: Tensor) -> Tensor | None:
    try:
        return value.expand_as(like)
    except RuntimeError:
        return None
