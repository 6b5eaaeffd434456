"""Relations between values: factors, signs, terms, sums, functions applied once too often."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import torch
from torch import Tensor

from anatomy.exercises.spec import Case
from anatomy.judging.relations.comparison import Comparison, Relation, alike, constant_ratio


def not_finite(comparison: Comparison) -> Relation | None:
    bad = ~comparison.found.isfinite() & comparison.expected.isfinite()
    if not bad.any():
        return None
    word = "NaN" if comparison.found[bad].isnan().any() else "infinite"
    first = bad.nonzero()[0].tolist()
    return Relation(
        f"{int(bad.sum())} of {bad.numel()} values are {word}.",
        f"The first is at {first}. NaN comes from ∞/∞, 0/0 or ∞−∞; ∞ from the exponential of a large number "
        "or from a division by zero.",
    )


def nothing_done(comparison: Comparison) -> Relation | None:
    if not comparison.found.any():
        return Relation("Everything is zero.", "The right shape is there; the computation is not yet.")
    if comparison.found.numel() > 1 and bool((comparison.found == comparison.found.flatten()[0]).all()):
        value = comparison.found.flatten()[0].item()
        return Relation(f"Every entry is the same number, {value:.4g}.", "The expected entries differ.")
    for name, given in _inputs(comparison):
        if given.shape == comparison.found.shape and alike(comparison.found, given):
            return Relation(f"You return `{name}` unchanged.", "What should happen to it has no effect.")
    return None


def factor(comparison: Comparison) -> Relation | None:
    ratio = constant_ratio(comparison.found, comparison.expected)
    if ratio is None:
        return None
    if math.isclose(ratio, -1, rel_tol=1e-4):
        return Relation("The sign is reversed.", "Every value is the expected one times −1.")
    digits = ".4g" if abs(abs(ratio) - 1) > 0.01 else ".6g"
    direction = f"times {ratio:{digits}}" if abs(ratio) > 1 else f"divided by {1 / ratio:{digits}}"
    name, equation = explain_factor(ratio, comparison)
    return Relation(
        f"Close: only a constant factor is off{name}.",
        f"Your values are the expected ones {direction} everywhere{equation}.",
    )


def explain_factor(ratio: float, comparison: Comparison) -> tuple[str, str]:
    """Which size explains a factor in every case where one is off: an end for the headline and one for the detail."""
    others = [
        (other, case) for case, left, right in comparison.others if (other := constant_ratio(left, right)) is not None
    ]
    for name, (known, number) in _factors(comparison.case).items():
        if not _is_factor(ratio, known):
            continue
        if all(name in (theirs := _factors(case)) and _is_factor(other, theirs[name][0]) for other, case in others):
            equals = f" = {number}" if number else ""
            return f": {name}", f", and {name}{equals}" + (f" = {known:.4g}" if number != f"{known:.4g}" else "")
    return "", ""


def _is_factor(ratio: float, known: float) -> bool:
    return known > 1 and math.isclose(known, abs(ratio) if abs(ratio) > 1 else 1 / abs(ratio), rel_tol=1e-4)


def _factors(case: Case) -> dict[str, tuple[float, str]]:
    """Factors that mistakes are made of: name → (value, how the sizes make it)."""
    known: dict[str, tuple[float, str]] = {}
    for letter, size in case.sizes.items():
        known[f"√{letter}"] = math.sqrt(size), f"√{size}"
        known[letter] = float(size), str(size)
    for (first, one), (second, two) in combinations(case.sizes.items(), 2):
        (low, small), (high, large) = sorted([(first, one), (second, two)], key=lambda item: item[1])
        known[f"√({high}/{low})"] = math.sqrt(large / small), f"√({large}/{small})"
        known[f"{first}·{second}"] = float(one * two), f"{one}·{two}"
    return known | {"2": (2.0, ""), "ln 2": (1 / math.log(2), ""), "√2": (math.sqrt(2), "")}


def sums_elsewhere(comparison: Comparison) -> Relation | None:
    """Weights that sum to one along another axis, or over several together."""
    if (wanted := _weights_axis(comparison)) is None:
        return None
    target, dims = comparison.axis(wanted), comparison.expected.dim()
    for axis in range(dims):
        if _sums_to_one(comparison.found, axis):
            return Relation(f"Your weights sum to one along {comparison.axis(axis)}, not along {target}.",
                            "Each slice along the right axis must share out exactly 1.")  # fmt: skip
    for count in range(2, dims + 1):
        for group in combinations(range(dims), count):
            if bool(((comparison.found.sum(group) - 1).abs() < 1e-4).all()):
                words = " and ".join(comparison.axis(axis) for axis in group)
                return Relation(f"Your weights sum to one over {words} together, not along {target} alone.",
                                "The normalization takes in too many entries at once.")  # fmt: skip
    return None


def sums_nowhere(comparison: Comparison) -> Relation | None:
    if (wanted := _weights_axis(comparison)) is None:
        return None
    return Relation(f"Your weights don't sum to one along {comparison.axis(wanted)}.",
                    f"The first slice sums to {comparison.found.sum(wanted).flatten()[0]:.4g}.")  # fmt: skip


def _weights_axis(comparison: Comparison) -> int | None:
    """The axis along which the expected values are shares of one and the found ones are not."""
    wanted = [axis for axis in range(comparison.expected.dim()) if _sums_to_one(comparison.expected, axis)]
    if (
        not wanted
        or bool((comparison.expected < 0).any())
        or any(_sums_to_one(comparison.found, axis) for axis in wanted)
    ):
        return None
    return wanted[-1]


def _sums_to_one(value: Tensor, axis: int) -> bool:
    return value.size(axis) > 1 and bool(((value.sum(axis) - 1).abs() < 1e-4).all())


def axis_factor(comparison: Comparison) -> Relation | None:
    """found = expected · g, where g varies along some axes only: a normalization that is missing or other."""
    if (comparison.expected.abs() < 1e-12).any() or comparison.expected.dim() < 2:
        return None
    ratio = comparison.found / comparison.expected
    for axis in reversed(range(comparison.expected.dim())):
        first = ratio.select(axis, 0).unsqueeze(axis)
        if comparison.expected.size(axis) > 2 and alike(ratio, first.expand_as(ratio)):
            low, high = ratio.min().item(), ratio.max().item()
            return Relation(f"Each slice along {comparison.axis(axis)} is off by a factor of its own.",
                            f"The factors run from {low:.4g} to {high:.4g}: a normalization is missing, doubled, "
                            "or uses the wrong sum.")  # fmt: skip
    return None


def added(comparison: Comparison) -> Relation | None:
    gap = comparison.found - comparison.expected
    if gap.numel() > 1 and alike(gap, gap.flatten()[0].expand_as(gap)):
        return Relation("A constant is added.", f"Every value is {gap.flatten()[0]:+.4g} away from the expected one.")
    for name, value in _inputs(comparison):
        for sign, words in ((-1, "is missing"), (1, "is added once too often")):
            with_input = _broadcast(value, gap)
            if with_input is not None and alike(gap, sign * with_input):
                return Relation(f"`{name}` {words}.", f"Your values differ from the expected ones by exactly `{name}`.")
    for axis in range(gap.dim() - 1):
        first = gap.select(axis, 0).unsqueeze(axis)
        if gap.size(axis) > 2 and alike(gap, first.expand_as(gap)):
            return Relation("A term is missing or added.",
                            f"The difference is the same for every entry along {comparison.axis(axis)}, as a bias or "
                            "another term that does not depend on it would make it.")  # fmt: skip
    return None


def transformed(comparison: Comparison) -> Relation | None:
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
        if comparison.expected.dim() < 2 and "diagonal" in words:
            continue
        changed = change(comparison.expected)
        if alike(comparison.found, changed) and not alike(changed, comparison.expected):
            return Relation(f"Your values are the expected ones, {words}.", "One step too many, or one too few.")
    for axis in range(comparison.expected.dim()):
        if alike(comparison.found, comparison.expected.softmax(axis)):
            return Relation(f"Your values are the expected ones after a softmax along {comparison.axis(axis)}.",
                            "That step belongs elsewhere.")  # fmt: skip
        if alike(comparison.found, comparison.expected - comparison.expected.mean(axis, keepdim=True)):
            return Relation(f"Your values are the expected ones minus their mean along {comparison.axis(axis)}.",
                            "Nothing should be centred here.")  # fmt: skip
        if alike(comparison.found, comparison.expected.cumsum(axis)):
            return Relation(f"Your values are running sums of the expected ones along {comparison.axis(axis)}.",
                            "An accumulator is not reset.")  # fmt: skip
    return None


def coarse(comparison: Comparison) -> Relation | None:
    size = comparison.expected.abs().max()
    gap = float((comparison.found - comparison.expected).abs().max() / size) if size > 0 else math.inf
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
        if gap <= 2 * torch.finfo(dtype).eps:
            return Relation(
                f"Nearly right: off by up to {gap:.1g} of the largest value.",
                f"That is how far {name} goes. Something is rounded on the way, or a small constant differs (an eps, "
                "a constant of a formula).",
            )
    return None


def _inputs(comparison: Comparison) -> Iterator[tuple[str, Tensor]]:
    for name, value in comparison.case.args.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            yield name, value.double()


def _broadcast(value: Tensor, like: Tensor) -> Tensor | None:
    try:
        return value.expand_as(like)
    except RuntimeError:
        return None
