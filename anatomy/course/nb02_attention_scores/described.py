"""What the judge says of the results of 02-attention-scores."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

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
                size = "far too large" if found > 50 * right else "too large" if found > right else "too small"
                return (
                    f"{what} scores of width D = {dim} should have a variance of about {right:.3g}; yours is {size}, "
                    f"{found:.3g}{_resembles(found, dim, samples)}. From {samples} samples a right answer lies between "
                    f"{right * (1 - slack):.3g} and {right * (1 + slack):.3g}."
                )
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
    if repeats and ignores:
        return (
            "Whatever state the generator is in, you return the same two numbers. Draw with `generator=generator`, "
            "and never seed anything inside the function."
        )
    if ignores:
        return "The given generator has no effect, your draws come from the global one. Hand on `generator=generator`."
    if not repeats:
        return (
            "The same generator gives different numbers each time: some of your draws come from elsewhere. Every draw "
            "needs `generator=generator`."
        )
    if all(number == round(number, 3) for number in (*first, *other)):
        return "Your numbers are rounded. Return them as measured."
    if _variance(0, "")(value, case):
        return None  # how far numbers scatter says something only where they measure the right thing
    if repr(first) == repr(_numbers(value, "more")):
        return "Asked for 100 samples more, you return the same numbers: draw as many pairs as asked for."
    two = _numbers(value, "two")
    if two is None or not math.isfinite(two[0]) or two[0] == 0.0:
        return "With `samples` = 2 yours has nothing to measure: draw as many pairs as asked for, not fewer."
    few = [pair[0] for item in value.get("few", ()) if (pair := _numbers({"one": item}, "one"))]
    dim = case.sizes["D"]
    if len(few) > 1 and statistics.stdev(few) < 0.6 * dim * math.sqrt((2 + 6 / dim) / FEW):
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
