"""What 02-attention-scores asks: QKᵀ/√d, the variance behind the root, and two projections."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from anatomy.exercises.spec import Case, Draw, exercise, quiz


@exercise(
    "02-attention-scores",
    properties={"shape": 1, "values": 1, "gradients": 1},
    returns="B T S",
    when_right="Every query of a batch item has met every key of that item, and of no other. Next: how large are these "
    "numbers?",
)
def dot_product_scores(seed: int) -> Iterator[Case]:
    yield from _queries_and_keys(seed)


@exercise(
    "02-attention-scores",
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B T S",
    when_right="It works for any T, S and D, and gradients flow to both inputs. Next: what the root does to a softmax.",
)
def scaled_scores(seed: int) -> Iterator[Case]:
    yield from _queries_and_keys(seed)


def _queries_and_keys(seed: int) -> Iterator[Case]:
    """Unequal sizes; more queries than keys and fewer; a single query, key or item; a query not in memory's order."""
    draw = Draw(seed, B=2, T=5, S=7, D=6)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))
    draw = Draw(seed, B=3, T=4, S=2, D=10)
    query = draw.normal("B D T").transpose(1, 2)  # (B, T, D), not contiguous
    yield draw.case(query=query, key=draw.normal("B S D"), note="when the memory of `query` is not in order")
    draw = Draw(seed, B=2, T=1, S=4, D=9)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when there is a single query")
    draw = Draw(seed, B=1, T=4, S=1, D=7)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when there is a single sentence or key")


# ---------------------------------------------------------------------------------------------- measuring

SIGMAS = 6.0
"""Half-width of the interval in which a measured variance must lie, in standard errors.

A score is s = Σ qᵢkᵢ with D independent standard normal qᵢ and kᵢ. Given q it is normal with variance |q|², so that
E s² = D and E s⁴ = 3·E|q|⁴ = 3·(D² + 2D): its kurtosis is 3 + 6/D. The variance measured from N independent scores
then has the relative standard error √((kurtosis − 1)/N) = √((2 + 6/D)/N), whether the sum of squares is divided by N
or N − 1. Six standard errors either way leave 2·10⁻⁹ under a normal curve; the estimate's skewness (0.13 for D = 3,
N = 2000) makes that about 10⁻⁷. A check measures eight times (two seeds, two sizes, two states of the generator): fewer
than one right answer in a million is refused.
"""

FEW, TIMES = 20, 150
"""So few samples, so many times: what is measured must scatter as theory says; see `_sampling`."""


def _call(target: Callable[..., Any], case: Case) -> dict[str, Any]:
    """Measure repeatedly: as given, again, with the generator in another state, and often with `FEW` samples."""
    dim, samples, generator = case.args.values()
    torch.default_generator.manual_seed(0)
    first = _as_data(target(dim, samples, _copy(generator)))
    again = _as_data(target(dim, samples, _copy(generator)))  # by now the global generator is in another state
    torch.default_generator.manual_seed(0)
    other = _as_data(target(dim, samples, _copy(generator, skip=7)))  # its first seed is still the same
    more = _as_data(target(dim, samples + 100, _copy(generator)))
    few = _copy(generator)
    often = TIMES if dim >= 8 else 0  # of narrow rows, all pairs scatter nearly as much as independent ones
    return {
        "first": first, "again": again, "other": other, "more": more, "two": _as_data(target(dim, 2, few)),
        "few": [_as_data(target(dim, FEW, few)) for _ in range(often)],
    }  # fmt: skip


def _copy(generator: torch.Generator, skip: int = 0) -> torch.Generator:
    copy = torch.Generator().set_state(generator.get_state())
    torch.rand(skip, generator=copy)
    return copy


def _as_data(result: Any) -> Any:
    """What was returned: a list of floats, of ``{"tensor": float}`` and ``{"kind": words}``, or one such dict.

    A tensor of two numbers in place of the pair keeps them, ``{"kind": words, "pair": [float, float]}``.
    """
    if isinstance(result, (tuple, list)):
        return [_as_data(item) for item in result[:3]]
    if isinstance(result, Tensor):
        if result.numel() == 1:
            return {"tensor": float(result)}
        kind = {"kind": f"a tensor of shape {tuple(result.shape)}"}
        return kind | ({"pair": [float(number) for number in result]} if result.shape == (2,) else {})
    if isinstance(result, Real) and not isinstance(result, bool):
        return float(result)
    return {"kind": "nothing (None)" if result is None else f"of type {type(result).__name__}"}


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


@exercise(
    "02-attention-scores",
    properties={"two floats": 1, "unscaled variance": 1, "scaled variance": 1, "sampling": 2},
    run=_call,
    checks={
        "two floats": _two_floats,
        "unscaled variance": _variance(0, "Unscaled"),
        "scaled variance": _variance(1, "Scaled"),
        "sampling": _sampling,
    },
    axes={"N": "samples"},
    when_right="Measured, not believed: the variance of an unscaled score is its width, that of a scaled one is 1.",
)
def score_variance(seed: int) -> Iterator[Case]:
    for dim, samples in ((12, 1200), (3, 2000)):
        draw = Draw(seed, D=dim, N=samples)
        yield draw.case(dim=dim, samples=samples, generator=draw.fork("measure", dim))


# ---------------------------------------------------------------------------------------------- two projections


@exercise(
    "02-attention-scores",
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B T K",
    axes={"T": "tokens", "K": "projected width"},
    when_right="One x, two views of it: what a token asks for, and what it offers.",
)
def project(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=8, K=3)
    yield draw.case(x=draw.normal("B T D"), w_q=draw.normal("D K"), w_k=draw.normal("D K"))
    draw = Draw(seed, B=3, T=4, D=5, K=7)
    x = draw.normal("B D T").transpose(1, 2)  # (B, T, D), not contiguous
    yield draw.case(
        x=x,
        w_q=draw.normal("D K"),
        w_k=draw.normal("D K"),
        note="when K is larger than D and the memory of `x` is not in order",
    )
    draw = Draw(seed, B=2, T=3, D=6, K=6)  # square projections: a transposed one runs, and gives other numbers
    yield draw.case(x=draw.normal("B T D"), w_q=draw.normal("D K"), w_k=draw.normal("D K"), note="when K equals D")
    draw = Draw(seed, B=1, T=1, D=7, K=4)
    yield draw.case(x=draw.normal("B T D"), w_q=draw.normal("D K"), w_k=draw.normal("D K"), note="when B and T are 1")


quiz_scaling = quiz(
    "02-attention-scores",
    "quiz_scaling",
    {
        "variance": ("stays the same", "grows threefold", "grows ninefold", "grows 81-fold"),
        "ranking": ("the same key", "another key", "it depends on d"),
        "weights": ("nearly uniform", "nearly one-hot", "partly negative", "no longer summing to one"),
        "gradients": ("almost nothing", "about as much as with the root", "far too much", "nan"),
        "mirror": ("they are equal", "they have opposite signs", "they are unrelated", "they are both zero"),
        "divisor": ("the 768 of x", "the 64 of w_q", "the 12 heads", "the 10 tokens"),
    },
    when_right="Scores are ready. In 03 a softmax turns each row of them into weights.",
)
