"""Relations between values: a factor, a sign, a term, a sum, a function applied once too often."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import torch
from torch import Tensor

from anatomy.engine.judging.explanation import Explanation
from anatomy.engine.judging.relations.comparison import Comparison, alike, constant_ratio
from anatomy.engine.judging.relations.sizes import explain_factor

FACTOR = "a constant factor"
"""What `factor` claims."""


_ORIGINS_OF_NAN = "NaN comes from 0/0, ∞/∞, ∞ − ∞ or 0·∞, or from the root or the logarithm of a negative number."
_ORIGINS_OF_INFINITY = (
    "Where no line writes ∞, it comes from the exponential of a large number, from a division by zero or from the "
    "logarithm of zero."
)


def without_origins(detail: str) -> str:
    """A detail without what NaN and ∞ come from in general, for a card that shows a line."""
    return detail.replace(_ORIGINS_OF_NAN, "").replace(_ORIGINS_OF_INFINITY, "").rstrip()


def not_finite(comparison: Comparison) -> Iterator[Explanation]:
    bad = ~comparison.found.isfinite() & comparison.expected.isfinite()
    if not bad.any():
        return
    nan = bool(comparison.found[bad].isnan().any())
    why = _ORIGINS_OF_NAN if nan else _ORIGINS_OF_INFINITY
    word = "NaN" if nan else "infinite"
    if comparison.found.dim() == 0:
        yield Explanation(f"Your value is {word}.", why, word)
        return
    first = bad.nonzero()[0].tolist()
    ought = "" if comparison.expected.isfinite().all() else ", and should not be"
    yield Explanation(
        f"{int(bad.sum())} of {bad.numel()} values are {word}{ought}.", f"The first is at {first}. {why}", word
    )


def finite_for_infinite(comparison: Comparison) -> Iterator[Explanation]:
    """All that differs should be ∞, or all should be −∞: a large number stands for it."""
    endless = ~comparison.expected.isfinite()
    ought, yours = comparison.expected[endless], comparison.found[endless]
    if not len(ought) or not bool((ought == ought[0]).all()) or not bool(yours.isfinite().all()):
        return
    if bool(endless.all()) or not alike(comparison.found[~endless], comparison.expected[~endless]):
        return
    least, most = (f"{end.item():.4g}" for end in yours.aminmax())
    there = f"is {least}" if least == most else f"is from {least} to {most}"
    ending = "∞" if ought[0] > 0 else "−∞"
    yield Explanation(
        f"Where {ending} is needed, yours {there}.", "All other values are right.", f"finite for {ending}"
    )


def one_number(comparison: Comparison) -> Iterator[Explanation]:
    first = comparison.found.flatten()[0].item() + 0.0 if comparison.found.numel() > 1 else math.nan  # + 0.0: no −0
    if bool((comparison.found == first).all()):
        theirs = f"Not all of the expected ones are {first:.4g}."
        yield Explanation(f"Every entry of yours is {first:.4g}.", theirs, f"all {first}")


def handed_back(comparison: Comparison) -> Iterator[Explanation]:
    for name, given in _inputs(comparison):
        if given.shape == comparison.found.shape and alike(comparison.found, given):
            yield Explanation(f"You return `{name}` unchanged.", "Something else is needed here.")


def factor(comparison: Comparison) -> Iterator[Explanation]:
    ratio = constant_ratio(comparison.found, comparison.expected)
    if ratio is None:
        return
    if math.isclose(ratio, -1, rel_tol=1e-4):
        yield Explanation("The sign is reversed.", "Every value is the expected one times −1.")
        return
    digits = ".4g" if abs(abs(ratio) - 1) > 0.01 else ".6g"
    direction = f"times {ratio:{digits}}" if abs(ratio) > 1 else f"divided by {1 / ratio:{digits}}"
    name, equation = explain_factor(ratio, comparison)
    ratios = [constant_ratio(other.found, other.expected) or math.nan for other in comparison.others]
    if not name and not all(math.isclose(ratio, other, rel_tol=1e-3) for other in ratios):
        equation = " in one try, and with another factor in others"
    yield Explanation(
        f"Only a constant factor{' and the sign' * (ratio < 0)} {'are' if ratio < 0 else 'is'} off{name}.",
        f"Your values are the expected ones {direction}{equation}.",
        FACTOR,
    )


def sums_elsewhere(comparison: Comparison) -> Iterator[Explanation]:
    """The weights sum to one along another axis, or over several axes together."""
    if (wanted := _weights_axis(comparison)) is None:
        return
    target, dims = comparison.axis(wanted), comparison.expected.dim()
    for axis in range(dims):
        if _sums_to_one(comparison.found, axis, 2 if comparison.main else 1):
            yield Explanation(f"Your weights sum to one along {comparison.axis(axis)}, not along {target}.",
                              "Each slice along the right axis must share out exactly 1.",
                              f"one along {axis - dims}")  # fmt: skip
    for count in range(2, dims + 1):
        for group in combinations(range(dims), count):
            if bool(((comparison.found.sum(group) - 1).abs() < 1e-4).all()):
                words = " and ".join(comparison.axis(axis) for axis in group)
                yield Explanation(f"Your weights sum to one over {words} together, not along {target} alone.",
                                  claim=f"one over {[axis - dims for axis in group]}")  # fmt: skip


def sums_nowhere(comparison: Comparison) -> Iterator[Explanation]:
    if (wanted := _weights_axis(comparison)) is None:
        return
    sums = comparison.found.sum(wanted)
    first = ((sums - 1).abs() > 1e-4).nonzero()
    place = [str(index) for index in first[0].tolist()] if len(first) else []
    place.insert(wanted, ":")
    yield Explanation(f"Your weights don't sum to one along {comparison.axis(wanted)}.",
                      f"Those at [{', '.join(place)}] sum to {sums[tuple(first[0])]:.4g}." if len(first) else "",
                      "no sum of one")  # fmt: skip


def _weights_axis(comparison: Comparison) -> int | None:
    """The axis along which the expected values sum to one and the found values don't."""
    wanted = [axis for axis in range(comparison.expected.dim()) if _sums_to_one(comparison.expected, axis)]
    if (
        not wanted
        or bool((comparison.expected < 0).any())
        or any(_sums_to_one(comparison.found, axis) for axis in wanted)
    ):
        return None
    return wanted[-1]


def _sums_to_one(value: Tensor, axis: int, shortest: int = 2) -> bool:
    return value.size(axis) >= shortest and bool(((value.sum(axis) - 1).abs() < 1e-4).all())


def axis_factor(comparison: Comparison) -> Iterator[Explanation]:
    """found = expected · g, and g does not change along one axis, though along another."""
    if comparison.expected.dim() < 2 or bool((comparison.expected.abs() < 1e-12).any()):
        return
    ratio = comparison.found / comparison.expected
    if comparison.main and alike(ratio, ratio.flatten()[0].expand_as(ratio)):
        return
    for axis in reversed(range(comparison.expected.dim())):
        first = ratio.select(axis, 0).unsqueeze(axis)
        if (comparison.expected.size(axis) > 2 or not comparison.main) and alike(ratio, first.expand_as(ratio)):
            where, claim = comparison.axis(axis), f"factors along {comparison.place(axis)}"
            off = first[(first - 1).abs() > 1e-4]
            factors = ", ".join(f"{factor:.4g}" for factor in off[:4].tolist()) + (", …" if off.numel() > 4 else "")
            if off.numel() == first.numel():
                yield Explanation(f"Each slice along {where} is the expected one times a factor of its own.",
                                  f"The factors are {factors}.", claim)  # fmt: skip
            else:
                how = f"all values are the expected ones times {factors}" if off.any() else "all values are 0"
                are = "is" if off.numel() == 1 else "are"
                rows = f"{off.numel()} of the {first.numel()} rows that run along {where}"
                yield Explanation(f"{rows} {are} wrong; the rest is right.",
                                  f"There, {how}.", claim)  # fmt: skip


def added(comparison: Comparison) -> Iterator[Explanation]:
    gap = comparison.found - comparison.expected
    if gap.numel() > 1 and alike(gap, gap.flatten()[0].expand_as(gap)):
        step = f"{gap.flatten()[0]:+.4g}"
        yield Explanation("A constant is added.", f"Every value is {step} away from the expected one.")
    for name, value in _inputs(comparison):
        for sign, words in ((-1, "is missing"), (1, "is added once too often")):
            with_input = _broadcast(value, gap)
            if with_input is not None and alike(gap, sign * with_input):
                yield Explanation(f"`{name}` {words}.",
                                  f"Your values differ from the expected ones by exactly `{name}`.")  # fmt: skip
    if gap.dim() > 1 and (gap.shape[:-1].numel() > 2 or not comparison.main):
        row = gap.flatten(end_dim=-2)[:1].view(*[1] * (gap.dim() - 1), -1)
        if alike(gap, row.expand_as(gap)):
            last = comparison.axis(gap.dim() - 1)
            numbers = ", ".join(f"{number:+.4g}" for number in row.flatten()[:4].tolist())
            more = ", …" if row.numel() > 4 else ""
            yield Explanation("The same row of numbers is added everywhere.",
                              f"Along {last} your values are the expected ones plus {numbers}{more}.")  # fmt: skip


def complement(comparison: Comparison) -> Iterator[Explanation]:
    """found = c − expected, with c = 1, a size, or its logarithm."""
    total = comparison.found + comparison.expected
    if total.numel() < 2 or not alike(total, total.flatten()[0].expand_as(total)):
        return
    numbers = {"1": 1.0} | {letter: float(size) for letter, size in comparison.case.sizes.items()}
    numbers |= {f"ln {letter}": math.log(size) for letter, size in comparison.case.sizes.items() if size > 1}
    for name, number in numbers.items():
        if math.isclose(float(total.flatten()[0]), number, rel_tol=1e-4):
            equals = "" if name == "1" else f" = {number:.4g}"
            yield Explanation(f"Your values are {name} minus the expected ones.",
                              f"Each of yours and the expected one add up to {name}{equals}.")  # fmt: skip


def transformed(comparison: Comparison) -> Iterator[Explanation]:
    for words, change in _FUNCTIONS:
        if comparison.expected.dim() < 2 and "diagonal" in words:
            continue
        changed = change(comparison.expected)
        if alike(comparison.found, changed) and not alike(changed, comparison.expected):
            yield Explanation(f"Your values are the expected ones, {words}.")
    dims = comparison.expected.dim()
    for axis in range(dims):
        where = comparison.axis(axis)
        if alike(comparison.found, comparison.expected.softmax(axis)):
            yield Explanation(f"Your values are the expected ones after a softmax along {where}.",
                              claim=f"softmax {axis - dims}")  # fmt: skip
        if alike(comparison.found, comparison.expected - comparison.expected.mean(axis, keepdim=True)):
            yield Explanation(f"Your values are the expected ones minus their mean along {where}.",
                              claim=f"centered {axis - dims}")  # fmt: skip
        if alike(comparison.found, comparison.expected.cumsum(axis)):
            yield Explanation(f"Your values are running sums of the expected ones along {where}.",
                              claim=f"running sums {axis - dims}")  # fmt: skip


_FUNCTIONS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("squared", torch.square),
    ("under a square root", lambda x: x.clamp(min=0).sqrt()),
    ("under a logarithm", lambda x: x.clamp(min=1e-300).log()),
    ("exponentiated", lambda x: x.clamp(max=80).exp()),
    ("made positive (an absolute value)", torch.abs),
    ("cut off below zero (a ReLU)", torch.relu),
    ("inverted (1/x)", torch.reciprocal),
    ("squashed by a sigmoid", torch.sigmoid),
    ("squashed by tanh", torch.tanh),
    ("rounded down to whole numbers", torch.floor),
    ("masked: entries above the diagonal are zero", torch.tril),
    ("masked: entries below the diagonal are zero", torch.triu),
)


def signs(comparison: Comparison) -> Iterator[Explanation]:
    """Only signs differ, and not all of them."""
    found, expected = comparison.found, comparison.expected
    if found.numel() < 2 or not alike(found.abs(), expected.abs()):
        return
    wrong = (found * expected < 0).nonzero()
    if len(wrong):
        first = tuple(wrong[0].tolist())
        yield Explanation(
            f"{len(wrong)} of {found.numel()} values have the wrong sign; otherwise they are right.",
            f"At {list(first)} yours is {found[first]:.4g}, expected {expected[first]:.4g}.",
            "wrong signs",
        )


def coarse(comparison: Comparison) -> Iterator[Explanation]:
    """All cases are nearly right. The explanation names a number type if every value is exactly such a number.

    Small whole numbers are numbers of any type, and say nothing.
    """
    worst = max(_gap(one) for one in (comparison, *comparison.others))
    if worst > 0.02:
        return
    detail, values = "", [one.found for one in (comparison, *comparison.others)]
    if not all(torch.equal(one.round(), one) for one in values):
        for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):  # the coarser one first
            if all(torch.equal(one.to(dtype).double(), one) for one in values):
                detail = f"All your values are {name} numbers: somewhere they were rounded to these."
                break
    yield Explanation(
        f"Nearly right: off by up to {worst:.1g} of the largest value in the tries of the check.",
        detail,
        "nearly right",
    )


def _gap(comparison: Comparison) -> float:
    size = float(comparison.expected.abs().max())
    gap = float((comparison.found - comparison.expected).abs().max())
    return gap / size if size > 0 and math.isfinite(gap) else math.inf


def _inputs(comparison: Comparison) -> Iterator[tuple[str, Tensor]]:
    for name, value in comparison.case.args.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            yield name, value.double()


def _broadcast(value: Tensor, like: Tensor) -> Tensor | None:
    try:
        return value.expand_as(like)
    except RuntimeError:
        return None
