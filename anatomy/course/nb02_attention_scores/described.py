"""What the judge says of the results of 02-attention-scores."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import torch

from anatomy.course.nb02_attention_scores.asked import FEW, TIMES
from anatomy.engine.describing import Description
from anatomy.engine.describing.generators import continues
from anatomy.engine.exercise import Case

SIGMAS = 6.0
"""Half-width of the interval in which a measured variance must lie, in standard errors.

A score is s = Σ qᵢkᵢ with D independent standard normal qᵢ and kᵢ. Given q it is normal with variance |q|², so that
E s² = D and E s⁴ = 3·E|q|⁴ = 3·(D² + 2D): its kurtosis is 3 + 6/D. The variance measured from N independent scores
then has the relative standard error √((kurtosis − 1)/N) = √((2 + 6/D)/N), whether the sum of squares is divided by N
or N − 1. Six standard errors either way leave 2·10⁻⁹ under a normal curve; the estimate's skewness (0.13 for D = 3,
N = 2000) makes that about 10⁻⁷. A check measures eight times (two seeds, two sizes, two states of the generator): fewer
than one right answer in a million is refused.
"""


def _numbers(value: Any, key: str) -> tuple[float, float] | None:
    """The two numbers that were observed, taken out of tensors where need be."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, dict):
        found = found.get("pair")
    if not isinstance(found, list) or len(found) != 2:
        return None
    unscaled, scaled = (item.get("tensor") if isinstance(item, dict) else item for item in found)
    return (unscaled, scaled) if isinstance(unscaled, float) and isinstance(scaled, float) else None


def _two_floats(value: Any, case: Case) -> str | None:
    found = value.get("first") if isinstance(value, dict) else None
    wanted = "Return two Python floats, (unscaled, scaled)."
    if isinstance(found, float) or (isinstance(found, dict) and "tensor" in found):
        return f"There is one number in what you return. {wanted}"
    if isinstance(found, dict):
        return f"What you return is {found.get('kind')}. {wanted}"
    if not isinstance(found, list) or len(found) != 2:
        return f"What you return is not a pair. {wanted}"
    if any(isinstance(item, dict) and "tensor" in item for item in found):
        return (
            "You return numbers still wrapped in tensors (of shape (), with no axis at all). Plain Python floats are "
            "asked for: `.item()` or `float(…)` takes the number out."
        )
    for item in found:
        if not isinstance(item, float):
            return f"One of the two is {item.get('kind') if isinstance(item, dict) else 'a list or tuple'}. {wanted}"
    return None


OF_WIDTH_1 = 3.0
"""How far from 1 the variance of 1200 products of two normal numbers may be: its standard error is 0.08, but skewed."""

LEAST_OF_WIDTH_1 = 0.41
"""How much 2·`TIMES` variances of `FEW` products scatter, over their mean, at least.

In 20,000 simulations it was 0.633, with a standard deviation of 0.069 of its logarithm: six of these below is 0.42. For
uniform components, of variance 1, too, it was 0.342 and at most 0.393; for ±1 it is less.
"""

TWICE = (
    "Both of your numbers are the same, about 1, as the variance of scaled scores is. Are the unscaled ones "
    "changed in place? `scaled = scores` is a second name for one tensor, no copy, and `/=` or `div_` changes what "
    "both names mean.",
    "Both of your numbers are the same, about D, as the variance of unscaled scores is. Divide each score by √D, and "
    "take the variance again.",
)
"""What is said where the unscaled variance, or the scaled one, is the other."""

STD_OF_SCALED = (
    "Your second number is a standard deviation, the root of the variance. (Close to 1 they hardly differ, because "
    "1² = 1.) Return the variance of the scaled scores."
)


def _variance(which: int, what: str) -> Callable[[Any, Case], str | None]:
    """A rule: the measured variance lies within `SIGMAS` standard errors of D (unscaled) or 1 (scaled)."""

    def rule(value: Any, case: Case) -> str | None:
        dim, samples = case.sizes["D"], case.sizes["N"]
        right, slack = (float(dim), 1.0)[which], SIGMAS * math.sqrt((2 + 6 / dim) / samples)
        for key in ("first", "other"):
            numbers = _numbers(value, key)
            if numbers is None:
                return "There is no pair of numbers to compare."
            found = numbers[which]
            if not abs(found / right - 1) <= slack:  # so that NaN is refused
                if math.isclose(*numbers, rel_tol=1e-5) and _variance(1 - which, "")(value, case) is None:
                    return TWICE[which]
                size = "far too large" if found > 50 * right else "too large" if found > right else "too small"
                return (
                    f"{what} scores of width D = {dim} should have a variance of about {right:.3g}; yours is {size}, "
                    f"{found:.3g}{_resembles(found, dim, samples)}. From {samples} samples a right answer lies between "
                    f"{right * (1 - slack):.3g} and {right * (1 + slack):.3g}."
                )
        narrow = _numbers(value, "narrow")
        if narrow is None or not 1 / OF_WIDTH_1 < narrow[which] < OF_WIDTH_1:
            return "It goes wrong with `dim` = 1: a score is then a single product, and its variance is about 1."
        return None

    return rule


def _resembles(found: float, dim: int, samples: int) -> str:
    """Which simple expression the number is closest to, if any comes near and the width keeps them apart."""
    candidates = {
        "D": dim, "√D": math.sqrt(dim), "2·D": 2 * dim, "D²": dim**2, "1": 1.0, "2": 2.0, "1/D": 1 / dim,
        "1/D²": dim**-2, "the number of samples": samples, "the number of samples over D": samples / dim,
        "D·7/144 (uniform components)": dim * 7 / 144, "7/144 (uniform components)": 7 / 144,
    }  # fmt: skip
    nothing = " (about nothing: a mean?)" if abs(found) < 4 * math.sqrt(dim / samples) else ""
    if dim < 8 or not math.isfinite(found) or found <= 0:
        return nothing
    name, distance = min(
        ((name, abs(math.log(found / number))) for name, number in candidates.items()), key=lambda pair: pair[1]
    )
    return f", about {name}" if distance < 0.2 else nothing


def _sampling(value: Any, case: Case) -> str | None:
    """A rule: the numbers are measured, from the given generator alone, and from as many samples as asked for.

    Measured from `FEW` independent samples, the variance has the relative standard error of `SIGMAS`' formula. Over
    `TIMES` measurements its spread comes out below 0.6 of that with a probability below 10⁻⁶; of all pairs of 20
    queries and keys it is 0.42 ± 0.04 of it (D = 12), and of a fixed, larger number of samples less.
    """
    first, again, other = (_numbers(value, key) for key in ("first", "again", "other"))
    if first is None or again is None or other is None:
        return "There is no pair of numbers to compare."
    if not continues(value.get("state"), case.args["generator"]):
        return "The given generator is seeded inside the function. It comes seeded: draw from it as it is."
    repeats, ignores = repr(first) == repr(again), repr(first) == repr(other)
    if first == (case.sizes["D"], 1.0):
        return "These are exactly the numbers that theory predicts. Measure them: draw scores, take their variance."
    if repeats and ignores and repr(first) == repr(_numbers(value, "seeded")):
        return (
            "Whatever generator you are given, you return the same two numbers. Draw with `generator=generator`, "
            "and never seed anything inside the function."
        )
    if repeats and ignores:
        return (
            "You start again at the seed that the generator once had: what has been drawn from it since makes no "
            "difference. Draw with `generator=generator`, from the state in which it comes."
        )
    if ignores:
        return "The given generator has no effect, your draws come from the global one. Hand on `generator=generator`."
    if not repeats:
        return (
            "The same generator gives different numbers each time: some of your draws come from elsewhere. Every draw "
            "needs `generator=generator`."
        )
    if torch.equal(value["state"], case.args["generator"].get_state()):
        return (
            "After the call the given generator is where it was before, so that a second call gives the same numbers. "
            "Draw from that one, not from a copy."
        )
    if not value.get("global generator is kept"):
        return (
            "PyTorch's global generator is not as it was before the call: you seed it, or draw from it. Every draw "
            "needs `generator=generator`, and no `torch.manual_seed`."
        )
    if all(number == round(number, 3) for number in (*first, *other)):
        return "Your numbers are rounded. Return them as measured."
    if _variance(0, "")(value, case):
        return None  # how far numbers scatter says something only where they measure the right thing
    if said := _too_steady(value, case, 0):
        return said
    narrow = [pair[0] for pair in _few(value, "few of width 1")]
    if len(narrow) > 1 and statistics.stdev(narrow) < LEAST_OF_WIDTH_1 * statistics.mean(narrow):
        return (
            f"With `dim` = 1, measurements from {FEW} samples each scatter too little for products of standard normal "
            "numbers. Draw the components with `torch.randn`, and `samples` independent pairs."
        )
    return None if _variance(1, "")(value, case) else _too_steady(value, case, 1)


def _few(value: Any, key: str) -> list[tuple[float, float]]:
    """The pairs of numbers of many measurements."""
    return [pair for item in value.get(key, ()) if (pair := _numbers({"one": item}, "one"))]


def _too_steady(value: Any, case: Case, which: int) -> str | None:
    """What is said of a variance that does not come from as many samples as asked for: of the scaled one if `which`."""
    first, other, more, two = (_numbers(value, key) for key in ("first", "other", "more", "two"))
    few = [pair[which] for pair in _few(value, "few")]
    dim = case.sizes["D"]
    right, name = ((float(dim), "unscaled"), (1.0, "scaled"))[which]
    if which and all(pair and math.isclose(dim * pair[1] ** 2, pair[0], rel_tol=1e-5) for pair in (first, other, more)):
        return STD_OF_SCALED
    if len(few) > 1 and max(few) - min(few) < 1e-4 * right:
        return (
            f"The {name} variance is always {right:g}, whatever scores are drawn. Measure it: divide each score by "
            f"√{dim}, not by a spread that was measured, and take the variance of what comes out."
            if which
            else f"The {name} variance is always {right:g}, whatever scores are drawn. Measure it."
        )
    if first and more and repr(first[which]) == repr(more[which]):
        return "Asked for 100 samples more, you return the same numbers: draw as many pairs as asked for."
    if two is None or not math.isfinite(two[which]) or two[which] == 0.0:
        return "With `samples` = 2 yours has nothing to measure: draw as many pairs as asked for, not fewer."
    if len(few) > 1 and statistics.stdev(few) < 0.6 * right * math.sqrt((2 + 6 / dim) / FEW):
        return (
            f"Asked for {FEW} samples, {TIMES} measurements of yours scatter too little: more goes into each than "
            f"{FEW} independent scores. Draw `samples` pairs, query n with key n."
        )
    return None


DESCRIPTIONS = {
    "score_variance": Description(
        rules={
            "two floats": _two_floats,
            "unscaled variance": _variance(0, "Unscaled"),
            "scaled variance": _variance(1, "Scaled"),
            "sampling": _sampling,
        }
    )
}
