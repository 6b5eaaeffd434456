"""What the judge says of the results of 02-attention-scores."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

import torch

from anatomy.course.nb02_attention_scores.asked import FEW, MANY, TIMES
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
    if case.sizes["N"] <= FEW:
        return None  # the other cases show it
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

LEAST_OF_WIDTH_1 = 0.485
"""How much 6·`TIMES` variances of `FEW` products scatter, over their mean, at least.

In 4,000 simulations it was 0.631 for means of squares, and 0.635 for variances, with a standard deviation of 0.041 of
its logarithm: six of these below is 0.49, and 0.553 was the least. For components divided by their measured spread it
was 0.422 and at most 0.492; for uniform ones, of variance 1, too, 0.342; for ±1 it is less.
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


NEXT_TO_NOTHING = 1e-9
"""Which part of the right variance is only rounding: equal numbers have a variance of 0, or next to it."""


def _variance(which: int, what: str) -> Callable[[Any, Case], str | None]:
    """A rule: the measured variance lies within `SIGMAS` standard errors of D (unscaled) or 1 (scaled)."""

    def rule(value: Any, case: Case) -> str | None:
        dim, samples = case.sizes["D"], case.sizes["N"]
        if samples <= FEW or samples == MANY:
            return None  # so few say nothing for certain, and of so many it is asked whether all are drawn
        right, slack = (float(dim), 1.0)[which], SIGMAS * math.sqrt((2 + 6 / dim) / samples)
        for key in ("first", "other"):
            numbers = _numbers(value, key)
            if numbers is None:
                return "There is no pair of numbers to compare."
            found = numbers[which]
            if dim == 1:
                if not 1 / OF_WIDTH_1 < found < OF_WIDTH_1:
                    yours = f"NaN, which is no number: {NO_VARIANCE}" if math.isnan(found) else f"{found:.3g}."
                    return f"With `dim` = 1 a score is a single product, and its variance about 1. Yours is {yours}"
            elif not abs(found / right - 1) <= slack:  # so that NaN is refused
                if math.isclose(*numbers, rel_tol=1e-5) and _variance(1 - which, "")(value, case) is None:
                    return TWICE[which]
                if math.isnan(found):
                    return f"The variance of your {what.lower()} scores is NaN, which is no number: {NO_VARIANCE}"
                if 0 <= found < NEXT_TO_NOTHING * right:
                    shown = f"{found:.3g}, as good as 0" if found else "0"
                    return (
                        f"Your {what.lower()} variance is {shown}, which is the variance of numbers that are all the "
                        "same. Does each of your scores go into it, or one of them again and again (under a name that "
                        "a loop has left behind)?"
                    )
                if like := _like_others(numbers, dim, slack):
                    return like
                if scattered := _scattered(value, case, which):
                    return scattered
                size = "far too large" if found > 50 * right else "too large" if found > right else "too small"
                return (
                    f"{what} scores of width D = {dim} should have a variance of about {right:.3g}; yours is {size}, "
                    f"{found:.3g}{_resembles(found, dim, samples)}. From {samples} samples a right answer lies between "
                    f"{right * (1 - slack):.3g} and {right * (1 + slack):.3g}."
                )
        return None

    return rule


NO_VARIANCE = (
    "a single score has no variance, a negative number no root, and what is computed from NaN or ∞ is often NaN."
)
"""Where NaN comes from."""


def _like_others(numbers: tuple[float, float], dim: int, slack: float) -> str | None:
    """What is said of two numbers that are what another measurement gives, or other components do."""
    others = {
        STANDARD_DEVIATION: (math.sqrt(dim), 1.0),
        OF_A_THIRD: (dim / 9, 1 / 9),
        OTHER_ORDER: (1.0, float(dim)),
    }
    for said, pair in others.items():
        if all(abs(found / other - 1) <= slack for found, other in zip(numbers, pair, strict=True)):
            return said.format(*(f"{found:.3g}" for found in numbers))
    return None


STANDARD_DEVIATION = (
    "Your first number is {}, about √D, as the standard deviation of the scores is. Their variance is its square, "
    "about D. (Your second number, {}, hides it, because √1 = 1.) Return variances: `var` in place of `std`."
)
OF_A_THIRD = (
    "Your variances are {} and {}, about D/9 and 1/9. That is what components of variance 1/3 give, such as numbers "
    "drawn evenly between −1 and 1. Draw standard normal ones, of variance 1: `torch.randn`, or `normal_`."
)
OTHER_ORDER = (
    "Your numbers are {} and {}, about 1 and D: they are in the other order. First comes the variance of the unscaled "
    "scores, about D, then that of the scaled ones."
)
"""What is said of numbers near those of other statistics, of other components, or of the pair in the other order."""


def _scattered(value: Any, case: Case, which: int) -> str | None:
    """What is said where three measurements differ by more than those of independent scores do."""
    right, name = ((float(case.sizes["D"]), "unscaled"), (1.0, "scaled"))[which]
    slack = SIGMAS * math.sqrt((2 + 6 / case.sizes["D"]) / case.sizes["N"])
    found = [pair[which] for key in ("first", "other", "seeded") if (pair := _numbers(value, key))]
    low, high = min(found), max(found)
    if len(found) < 3 or not (right / 8 < low and high < 8 * right and high / low > (1 + slack) / (1 - slack)):
        return None
    first, other, third = (f"{number:.3g}" for number in found)
    return (
        f"In three calls your {name} variance was {first}, {other} and {third}. With {case.sizes['N']} independent "
        f"pairs in each it would stay closer to {right:g}. Do all samples of a call share one query or one key, or "
        "are there fewer scores than asked for? (A sum along the wrong axis leaves D of them.)"
    )


def _resembles(found: float, dim: int, samples: int) -> str:
    """Which simple expression the number is closest to, if any comes near and the width keeps them apart."""
    candidates = {
        "D": dim, "√D": math.sqrt(dim), "2·D": 2 * dim, "D²": dim**2, "1": 1.0, "2": 2.0, "1/D": 1 / dim,
        "1/D²": dim**-2, "the number of samples": samples, "the number of samples over D": samples / dim,
        "the number of samples times D": samples * dim,
        "D·7/144 (uniform components)": dim * 7 / 144, "7/144 (uniform components)": 7 / 144,
        "D/144 (uniform components)": dim / 144, "1/144 (uniform components)": 1 / 144,
    }  # fmt: skip
    nothing = " (about nothing: a mean?)" if found < 0 and -found < 4 * math.sqrt(dim / samples) else ""
    if dim < 8 or not math.isfinite(found) or found <= 0:
        return nothing
    name, distance = min(
        ((name, abs(math.log(found / number))) for name, number in candidates.items()), key=lambda pair: pair[1]
    )
    return f", about {name}" if distance < 0.15 else nothing


def _sampling(value: Any, case: Case) -> str | None:
    """A rule: the numbers are measured, from the given generator alone, and from as many samples as asked for."""
    first = _numbers(value, "first")
    if first is None:
        return "There is no pair of numbers to compare."
    if case.sizes["N"] > 2 and any(map(math.isnan, first)):
        return None  # of NaN the other rules speak
    if not continues(value.get("state"), case.args["generator"]):
        return "The given generator is seeded inside the function. It comes seeded: draw from it as it is."
    if FEW < case.sizes["N"] < MANY:
        return _from_the_generator(value, case)
    if first == (case.sizes["D"], 1.0) or torch.equal(value["state"], case.args["generator"].get_state()):
        return None  # the other cases say what is wrong
    if little := _too_little(value, case):
        return little
    if case.sizes["N"] == MANY:
        return None  # whether they are drawn is all that is asked
    return _of_two(value, case) if case.sizes["N"] == 2 else _of_few(value, case)


def _too_little(value: Any, case: Case) -> str | None:
    """What is said where fewer numbers are drawn than the pairs have components."""
    dim, samples = case.sizes["D"], case.sizes["N"]
    steps = _steps_below(2 * samples * dim, value["state"], case.args["generator"])
    if steps is None:
        return None
    shared = samples * dim <= steps <= (samples + 2) * dim + 16  # one row each, and one or two more
    question = "Do all samples share one query or one key, or is a row used twice? " if shared else ""
    return (
        f"{samples} queries and as many keys of width {dim} have {2 * samples * dim} components, and your draws take "
        f"only {steps} random number{'' if steps == 1 else 's'} from the generator. "
        f"{question}Draw all pairs that are asked for, and each component of each query and each key for itself, "
        "with `generator=generator`."
    )


def _steps_below(steps: int, state: Any, generator: torch.Generator) -> int | None:
    """How many steps a generator that began as the given one is on, if fewer: what it draws next is found there.

    A number takes one step of PyTorch's generator at least: `torch.rand` takes one for each, `torch.randn` one or more.
    """
    began, ended = (torch.Generator().set_state(one) for one in (generator.get_state(), state))
    ahead, after = torch.rand(steps + 8, generator=began), torch.rand(8, generator=ended)
    starts = (ahead[:steps] == after[0]).nonzero().flatten().tolist()
    return next((start for start in starts if torch.equal(ahead[start : start + 8], after)), None)


PUT_BACK = (
    "After the call the given generator is where it was before, so that a second call gives the same numbers. "
    "Draw from that one and not from a copy, and don't put its state back."
)
"""What is said of draws that don't move the generator on."""


def _from_the_generator(value: Any, case: Case) -> str | None:
    """What is said of numbers that the given generator does not decide, or not alone."""
    first, again, other = (_numbers(value, key) for key in ("first", "again", "other"))
    if first is None or again is None or other is None:
        return "There is no pair of numbers to compare."
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
        return PUT_BACK
    if not value.get("global generator is kept"):
        return (
            "PyTorch's global generator is not as it was before the call: you seed it, or draw from it. Every draw "
            "needs `generator=generator`, and no `torch.manual_seed`."
        )
    if case.sizes["D"] > 1 and (scattered := _scattered(value, case, 0)):
        return scattered
    if little := _too_little(value, case):
        return little
    more = _numbers(value, "more")
    if more and any(repr(one) == repr(two) != repr(three) for one, two, three in zip(first, more, other, strict=True)):
        return "Asked for 100 samples more, you return the same numbers: draw as many pairs as asked for."
    return None


LEAST_OF_TWO = 0.68
"""How much 2·`TIMES` variances of two scores scatter, over their mean, at least.

In 4,000 simulations it was 1.13 for means of two squares, and more for other right answers, with a standard deviation
of 0.075 of its logarithm: six of these below is 0.72. From ten scores each it is about 0.5.
"""


def _of_two(value: Any, case: Case) -> str | None:
    """What is said where two samples give no variance, or where more than two scores go into it."""
    first = list(_numbers(value, "first") or ())
    for number, name in zip(first, ("unscaled", "scaled"), strict=False):
        if not math.isfinite(number) or number == 0.0:
            if number == 0.0 and name == "scaled":
                return (
                    f"With `samples` = 2 your scaled variance is 0, and your unscaled one is {first[0]:.3g}. Scores "
                    "that differ also differ after they are divided by √`dim`. (`//` rounds down.)"
                )
            if number == 0.0:
                return (
                    f"With `samples` = 2 your {name} variance is 0: your two scores are equal, or there is only one. "
                    "Draw two queries and two keys, and multiply each query by one key and each key by one query."
                )
            shown = "NaN" if math.isnan(number) else f"{number:g}"
            return (
                f"With `samples` = 2 your {name} variance is {shown}. Two scores have a variance: let all N go into "
                "it, and divide by N or by N − 1."
            )
    few = [pair[0] for pair in _pairs(value, "often")]
    mean = statistics.mean(few) if len(few) == 2 * TIMES else 0.0
    if 1 / (2 * NEAR_RIGHT) < mean / case.sizes["D"] < NEAR_RIGHT and statistics.stdev(few) < LEAST_OF_TWO * mean:
        return (
            f"Asked for 2 samples, {2 * TIMES} measurements of yours scatter too little: more goes into each than 2 "
            "independent scores. Draw `samples` pairs, however few they are."
        )
    return None


FROM_SCALED_SCORES = (
    ": divide each score by √`dim`, not by a spread that was measured, and take the variance of what comes out."
)
"""How the scaled variance is measured."""

NEAR_RIGHT = 1.4
"""By what factor the mean of many measurements may be off, for what is said of their spread to make sense.

The mean of `TIMES` measurements from `FEW` samples has a relative standard error of 0.03, and one of 0.02 for width 1.
"""


def _of_few(value: Any, case: Case) -> str | None:
    """What is said of numbers that are rounded, or that scatter too little for so few independent samples.

    Measured from `FEW` independent samples, the variance has the relative standard error of `SIGMAS`' formula. Over
    `TIMES` measurements its spread comes out below 0.6 of that with a probability below 10⁻⁶; of all pairs of 20
    queries and keys it is 0.42 ± 0.04 of it (D = 12), and of a fixed, larger number of samples less.
    """
    dim, often, narrow = case.sizes["D"], _pairs(value, "often"), _pairs(value, "often of width 1")
    if len(often) != TIMES or len(narrow) != 6 * TIMES:
        return "There is no pair of numbers to compare."
    for which, (right, name) in enumerate(((float(dim), "unscaled"), (1.0, "scaled"))):
        few, of_width_1 = [pair[which] for pair in often], [pair[which] for pair in narrow]
        if max(few) - min(few) < 1e-4 * right:
            always = f"The {name} variance is always {few[0]:.4g}, whatever scores are drawn. Measure it"
            return f"{always}{FROM_SCALED_SCORES if which else '.'}"
        if not 1 / NEAR_RIGHT < statistics.mean(few) / right < NEAR_RIGHT:
            return None  # how far numbers scatter says something only where they measure the right thing
        if all(math.isclose(number, round(number, 4), rel_tol=1e-7) for number in few):
            return "Your numbers are rounded. Return them as measured."
        if _hang_together(few):
            return (
                "Call after call with one generator, your measurements change only a little: each draws much of what "
                "the last one has drawn. Leave the generator where your draws have taken it."
            )
        if which and all(math.isclose(dim * scaled**2, plain, rel_tol=1e-5) for plain, scaled in often):
            return STD_OF_SCALED
        steady = statistics.stdev(few) < 0.6 * right * math.sqrt((2 + 6 / dim) / FEW)
        steady_of_width_1 = statistics.stdev(of_width_1) < LEAST_OF_WIDTH_1 * statistics.mean(of_width_1)
        if which and (steady or steady_of_width_1):
            return (
                f"Asked for {FEW} samples{'' if steady else ' of width 1'}, your scaled variances scatter too little, "
                "and your unscaled ones don't. Divide the scores of `samples` pairs, the same or fresh ones, by "
                "√`dim`, and by nothing that is measured."
            )
        if steady:
            return (
                f"Asked for {FEW} samples, {TIMES} measurements of yours scatter too little: more goes into each than "
                f"{FEW} independent scores. Draw `samples` pairs, query n with key n, and add up the products of each "
                f"pair to one score: the variance is that of {FEW} scores."
            )
        if steady_of_width_1:
            return (
                f"With `dim` = 1, measurements from {FEW} samples each scatter too little for products of standard "
                "normal numbers. Draw the components of `samples` independent pairs with `torch.randn`, and take them "
                "as they come: divide by nothing that is measured."
            )
    return None


def _pairs(value: Any, key: str) -> list[tuple[float, float]]:
    """The pairs of numbers of many measurements."""
    return [pair for item in value.get(key, ()) if (pair := _numbers({"one": item}, "one"))]


def _hang_together(few: list[float]) -> bool:
    """Whether neighbors are alike (von Neumann's ratio: 2 for independent numbers, with a standard error of 0.16)."""
    steps = sum((one - two) ** 2 for one, two in itertools.pairwise(few))
    return steps < (len(few) - 1) * statistics.variance(few)


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
