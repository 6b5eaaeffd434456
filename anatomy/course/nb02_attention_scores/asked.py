"""What 02-attention-scores asks: QKᵀ/√d, the variance behind the root, and two projections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz


def any_query_and_key(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 8), S=(1, 8), D=draw.pick((1, 9), (1, 9), (1, 9), (40, 90)))
    query, key = draw.floats("B T D"), draw.floats("B S D")
    if draw.pick(True, False, False) and query.size(-1) > 1:  # long queries, whose length no score shows
        query[..., 0], key[..., 0] = 3000.0, 0.0
    return draw.case(query=query, key=key)


@exercise(
    inputs=any_query_and_key,
    properties={"shape": 1, "values": 1, "gradients": 1},
    returns="B T S",
    when_right="Every query of a batch item has met every key of that item, and of no other. Next: how large are these "
    "numbers?",
)
def dot_product_scores(seed: int) -> Iterator[Case]:
    yield from _queries_and_keys(seed)


@exercise(
    inputs=any_query_and_key,
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B T S",
    when_right="It works for any T, S and D, and gradients flow to both inputs. Next: what the root does to a softmax.",
)
def scaled_scores(seed: int) -> Iterator[Case]:
    yield from _queries_and_keys(seed)
    draw = Draw(seed, B=3, T=4, S=5, D=1)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when the width is 1")


def _queries_and_keys(seed: int) -> Iterator[Case]:
    """Unequal sizes; more queries than keys and fewer; a single query, key or item; two not in memory's order."""
    draw = Draw(seed, B=2, T=5, S=7, D=6)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))
    draw = Draw(seed, B=3, T=4, S=2, D=10)
    query = draw.normal("B D T").transpose(1, 2)  # (B, T, D), not contiguous
    key = draw.normal("B D S").transpose(1, 2)  # (B, S, D)
    yield draw.case(query=query, key=key, note="when the memory of `query` and `key` is not in order")
    draw = Draw(seed, B=2, T=1, S=4, D=9)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when there is a single query")
    draw = Draw(seed, B=1, T=4, S=1, D=7)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when there is a single sentence or key")


# ---------------------------------------------------------------------------------------------- measuring

NOBODYS_SEED = 7_160_483
"""The global generator's seed: an answer that seeds it, too, takes another one."""

FEW, TIMES, FEW_WIDE = 20, 150, 12
"""So few samples, so many times (of two samples twice, of width 1 six times as many): it must scatter as theory says.

Their width is far from `FEW`, so that one is not taken for the other.
"""

MANY = 20_123
"""So many samples are drawn only once: whoever draws a round number at most must not leave the rest out."""


def _call(target: Callable[..., Any], case: Case) -> dict[str, Any]:
    """Measure; with many samples also again, with another state and seed of the generator; with few of them, often.

    An error belongs to the case's sizes: cases of their own have tried the others.
    """
    dim, samples, generator = case.args.values()

    def measured(generator: torch.Generator, more: int = 0, dim: int = dim) -> Any:
        return _as_data(target(dim, samples + more, generator))

    torch.default_generator.manual_seed(NOBODYS_SEED)
    used, everywhere = _copy(generator), torch.get_rng_state()
    found = {"first": measured(used), "state": used.get_state()}
    if samples == MANY:
        return found
    if samples == FEW:
        found["often"] = [measured(used) for _ in range(TIMES)]
        return found | {"often of width 1": [measured(used, dim=1) for _ in range(6 * TIMES)]}
    if samples == 2:
        return found | {"often": [measured(used) for _ in range(2 * TIMES)]}
    found["global generator is kept"] = int(torch.equal(everywhere, torch.get_rng_state()))
    found["again"] = measured(_copy(generator))  # by now the global generator is in another state
    torch.default_generator.manual_seed(NOBODYS_SEED)
    found["other"] = measured(_copy(generator, skip=7))  # its first seed is still the same
    torch.default_generator.manual_seed(NOBODYS_SEED)
    found["seeded"] = measured(torch.Generator().manual_seed((generator.initial_seed() + 1) % 2**32))
    return found | {"more": measured(_copy(generator), more=100)}


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


@exercise(
    properties={"two floats": 1, "unscaled variance": 1, "scaled variance": 1, "sampling": 2},
    act=_call,
    axes={"N": "samples"},
    when_right="Measured, not believed: the variance of an unscaled score is its width, that of a scaled one is 1.",
)
def score_variance(seed: int) -> Iterator[Case]:
    wide, narrow = (  # no two widths give nearly the same variance; of 16 numbers, each takes one step of the generator
        widths[int(Draw(seed).integers("1", len(widths)))] for widths in ((16, 20, 26, 42), (3, 5))
    )

    def case(dim: int, samples: int, note: str = "") -> Case:
        draw = Draw(seed, D=dim, N=samples)
        return draw.case(dim=dim, samples=samples, generator=draw.fork("measure", dim), note=note, once=True)

    yield case(wide, 1248)  # no round numbers: who draws by the hundred must not leave the rest out
    yield case(narrow, 2000)
    yield case(1, 1200, note="when `dim` is 1")
    yield case(FEW_WIDE, FEW)  # and of width 1, so that no note would be true of both
    yield case(narrow, MANY, note=f"when `samples` is {MANY}")
    yield case(narrow, 2, note="when `samples` is 2")


# ---------------------------------------------------------------------------------------------- two projections


def any_projections(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 8), D=draw.pick((1, 9), (1, 9), (40, 90)), K=(1, 9))
    return draw.case(x=draw.floats("B T D"), w_q=draw.floats("D K"), w_k=draw.floats("D K"))


@exercise(
    inputs=any_projections,
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
