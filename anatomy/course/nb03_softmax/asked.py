"""What 03-softmax asks.

A small constant in a denominator or in a logarithm, up to about 1e-6, stays below the course's one tolerance and is
accepted. Gradients of the entropy are not asked for: the slope of −w·ln w at w = 0
is infinite, and ways of writing it that give the same values give NaN, ∞ or a large number there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise


def any_scores(draw: Draw) -> Case:
    axes = draw.pick("S", "T S", "B T S", "B H T S")
    draw.sized(**{letter: (1, 7) for letter in axes.split()})
    if draw.pick(True, False, False, False):
        draw.sizes[draw.pick(*axes.split())] = draw.whole(17, 80)
    dim = draw.whole(-len(axes.split()), len(axes.split()) - 1)
    if draw.pick(True, False, False):
        return draw.case(x=draw.floats(axes, "plain") + draw.pick(-150, 100), dim=dim, asks="large scores")
    return draw.case(x=draw.floats(axes), dim=dim)


@exercise(
    inputs=any_scores,
    properties={"shape": 1, "values": 2, "large scores": 3, "gradients": 1},
    forbids=("softmax", "log_softmax", "safe_softmax", "sparse_softmax", "sparse_log_softmax", "masked_softmax"),
    when_right="It works along any axis and from −10,000 to 10,000, which is all that attention will ever ask of it.",
)
def softmax(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7)
    yield draw.case(x=draw.normal("B T S", scale=2), dim=-1)
    draw = Draw(seed, B=3, T=4, S=6)
    yield draw.case(x=draw.normal("B T S"), dim=1, note="when `dim` is an axis in the middle")
    draw = Draw(seed, B=4, T=6, S=3)
    across = draw.normal("S T B").permute(2, 1, 0)  # (B, T, S), in another order in memory
    yield draw.case(x=across - 5, dim=0, note="when all scores are negative and `dim` is 0")
    draw = Draw(seed, B=2, H=3, T=4, S=5)
    yield draw.case(x=draw.normal("B H T S"), dim=-2, note="when `x` has four axes")
    draw = Draw(seed, T=5, S=5)
    yield draw.case(x=draw.normal("T S"), dim=1, note="when `x` is square")
    draw = Draw(seed, S=7)
    yield draw.case(x=draw.normal("S"), dim=0, note="when `x` has a single axis")
    draw = Draw(seed, B=1, T=4, S=1)
    yield draw.case(x=draw.normal("B T S"), dim=1, note="when other axes have size 1")
    draw = Draw(seed, T=3, S=1)
    yield draw.case(x=draw.normal("T S"), dim=1, note="when there is a single score along `dim`")
    large: dict[str, Any] = {"asks": "large scores"}
    draw = Draw(seed, B=2, T=4, S=7)
    x = 3000.0 * (_ranks(draw.normal("B T S"), -1) - 3)  # distinct multiples of 3000, from −9000 to 9000
    yield draw.case(x=x, dim=-1, note="when scores reach thousands", **large)
    draw = Draw(seed, B=2, T=6, S=4)
    x = draw.normal("B T S") + 100 * _signs(4)  # each column has an offset of its own
    yield draw.case(x=x, dim=1, note="when one slice lies around −100 and the next around +100", **large)
    draw = Draw(seed, B=3, T=5, S=2)
    x = 500.0 * _ranks(draw.normal("B T S"), 1) + 10_000 * _signs(2)
    yield draw.case(x=x, dim=1, note="when one slice lies around −10,000 and the next around +10,000", **large)
    draw = Draw(seed, B=2, T=3, S=5)
    yield draw.case(x=draw.normal("B T S") - 150, dim=-1, note="when all scores lie around −150", **large)
    draw = Draw(seed, T=4, S=3)
    x = draw.normal("S T") + torch.tensor([[20.0], [20.0], [-80.0]])  # e¹⁰⁰ is more than float32 holds
    yield draw.case(x=x, dim=0, note="when the scores of a slice lie 100 apart")


def any_query_and_key(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=draw.pick((1, 8), (1, 8), (17, 40)), S=draw.pick((1, 8), (1, 8), (17, 80)), D=(1, 9))
    return draw.case(query=draw.floats("B T D"), key=draw.floats("B S D"))


@exercise(
    inputs=any_query_and_key,
    properties={"shape": 1, "rows sum to one": 1, "values": 1, "large scores": 1, "gradients": 1},
    returns="B T S",
    when_right="Each row is now a recipe: how much of each key's value this query will take.",
)
def attention_weights(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7, D=8)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))
    draw = Draw(seed, B=3, T=6, S=4, D=10)
    query, key = draw.normal("B T D", scale=1.5), draw.normal("B D S").transpose(1, 2)
    yield draw.case(query=query, key=key, note="when there are more queries than keys")
    draw = Draw(seed, B=2, T=4, S=4, D=6)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when T equals S")
    draw = Draw(seed, B=2, T=3, S=5, D=5)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when S equals D")
    draw = Draw(seed, B=2, T=1, S=6, D=3)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when there is a single query")
    draw = Draw(seed, B=1, T=1, S=5, D=4)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"), note="when B and T are 1")
    draw = Draw(seed, B=2, T=5, S=7, D=16)
    query, key = _far_apart(draw, "B T D", "B S D")
    large: dict[str, Any] = {"asks": "large scores"}
    yield draw.case(query=query, key=key, note="when scores lie around −100 and +100", **large)
    wide = Draw(seed, B=2, T=3, S=5, D=400)  # unscaled, scores lie some 100 apart
    query, key = wide.normal("B T D", scale=2.5), wide.normal("B S D")
    yield wide.case(query=query, key=key, note="when vectors are wide", **large)
    query, key = _sentences_apart(draw, "B T D", "B S D")
    note = "when one sentence's scores lie around +100 and the next one's around −100"
    yield draw.case(query=query, key=key, note=note, **large)
    query, key = _very_far_apart(draw, "B T D", "B S D")
    yield draw.case(query=query, key=key, note="when scores reach tens of thousands", **large)


def any_weights_and_value(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 8), S=draw.pick((1, 8), (1, 8), (17, 80)), Dv=(1, 9))
    weights = draw.floats("B T S").softmax(-1) * draw.pick(1.0, draw.integers("B T S", 2))
    return draw.case(weights=weights, value=draw.floats("B S Dv"))


@exercise(
    inputs=any_weights_and_value,
    properties={"shape": 1, "values": 2, "gradients": 1},
    returns="B T Dv",
    axes={"Dv": "value width"},
    when_right="Every query now carries a mixture of values: that mixture is all that attention passes on.",
)
def weighted_values(seed: int) -> Iterator[Case]:
    for sizes in ({"B": 2, "T": 5, "S": 7, "Dv": 3}, {"B": 3, "T": 6, "S": 4, "Dv": 8}):
        draw = Draw(seed, **sizes)
        yield draw.case(weights=draw.normal("B T S").softmax(-1), value=draw.normal("B S Dv"))
    draw = Draw(seed, B=2, T=5, S=5, Dv=4)
    value = draw.normal("B Dv S").transpose(1, 2)  # (B, S, Dv), in another order in memory
    yield draw.case(weights=draw.normal("B T S").softmax(-1), value=value, note="when T equals S")
    draw = Draw(seed, B=2, T=4, S=6, Dv=6)
    kept = draw.integers("B T S", 4) > 0
    weights = draw.normal("B T S").softmax(-1) * kept / 0.75  # dropout: about a quarter is zero, the rest larger
    weights[1, 2] = 0.0  # and one row has lost all
    yield draw.case(weights=weights, value=draw.normal("B S Dv"), note="when dropout has left weights out")
    draw = Draw(seed, B=1, T=2, S=6, Dv=3)
    weights = draw.normal("B T S").softmax(-1) / 0.5  # dropout of a half, and by luck all are left
    yield draw.case(weights=weights, value=draw.normal("B S Dv"), note="when dropout has left rows that sum to 2")
    draw = Draw(seed, B=1, T=2, S=30, Dv=3)
    weights = draw.normal("B T S").softmax(-1)
    yield draw.case(weights=weights, value=draw.normal("B S Dv"), note="when there are many keys")
    draw = Draw(seed, B=1, T=1, S=6, Dv=1)
    weights = draw.normal("B T S").softmax(-1)
    yield draw.case(weights=weights, value=draw.normal("B S Dv"), note="when B, T and Dv are 1")


def any_query_key_and_value(draw: Draw) -> Case:
    leading = draw.pick("", "B ", "B H ", "B N H ")
    draw.sized(B=(1, 3), N=(1, 3), H=(1, 3), T=draw.pick((1, 7), (1, 7), (1, 7), (17, 40)),
               S=draw.pick((1, 7), (1, 7), (17, 80)), K=(1, 8), Dv=(1, 8))  # fmt: skip
    return draw.case(
        query=draw.floats(leading + "T K"), key=draw.floats(leading + "S K"), value=draw.floats(leading + "S Dv"),
        returns=leading + "T Dv", asks=None if leading == "B " else "leading axes",
    )  # fmt: skip


@exercise(
    inputs=any_query_key_and_value,
    properties={"shape": 1, "values": 1, "leading axes": 1, "large scores": 1, "gradients": 1},
    returns="B T Dv",
    axes={"Dv": "value width"},
    forbids=(
        "scaled_dot_product_attention",
        "scaled_dot_product_attention_math",
        "scaled_dot_product_flash_attention",
        "scaled_dot_product_flash_attention_for_cpu",
        "scaled_dot_product_efficient_attention",
        "scaled_dot_product_cudnn_attention",
        "scaled_dot_product_fused_attention_overrideable",
        "multi_head_attention_forward",
        "native_multi_head_attention",
    ),
    when_right="This is equation 1 of “Attention Is All You Need”, and it agrees with PyTorch's own. "
    "What it still lacks are projections: notebook 04.",
)
def scaled_dot_product_attention(seed: int) -> Iterator[Case]:
    for sizes in ({"B": 2, "T": 5, "S": 7, "K": 8, "Dv": 3}, {"B": 3, "T": 6, "S": 4, "K": 3, "Dv": 10}):
        draw = Draw(seed, **sizes)
        yield draw.case(query=draw.normal("B T K"), key=draw.normal("B S K"), value=draw.normal("B S Dv"))
    draw = Draw(seed, B=2, T=5, S=5, K=4, Dv=6)
    query, key, value = draw.normal("B T K"), draw.normal("B S K"), draw.normal("B S Dv")
    yield draw.case(query=query, key=key, value=value, note="when T equals S")
    draw = Draw(seed, B=2, T=4, S=6, K=5, Dv=3)
    query, key, value = draw.normal("B T K"), draw.normal("B S K"), draw.normal("B S Dv")
    query[:, 1] = 0.0
    yield draw.case(query=query, key=key, value=value, note="when all scores of a query are 0")
    draw = Draw(seed, B=2, T=4, S=1, K=3, Dv=5)
    query, key, value = draw.normal("B T K"), draw.normal("B S K"), draw.normal("B S Dv")
    yield draw.case(query=query, key=key, value=value, note="when there is a single key")
    draw = Draw(seed, B=2, T=3, S=80, K=4, Dv=4)
    query, key, value = draw.normal("B T K"), draw.normal("B S K"), draw.normal("B S Dv")
    yield draw.case(query=query, key=key, value=value, note="when there are 80 keys, and Dv equals K")
    leading: dict[str, Any] = {"asks": "leading axes"}
    draw = Draw(seed, T=4, S=6, K=5, Dv=3)
    query, key, value = draw.normal("T K"), draw.normal("S K"), draw.normal("S Dv")
    yield draw.case(query=query, key=key, value=value, returns="T Dv", note="when there is no batch axis", **leading)
    draw = Draw(seed, B=2, H=3, T=4, S=5, K=6, Dv=7)
    query, key = draw.normal("B T H K").transpose(1, 2), draw.normal("B S H K").transpose(1, 2)  # (B, H, T, K), …
    note = "when there are two leading axes, batch and heads"
    yield draw.case(query=query, key=key, value=draw.normal("B H S Dv"), returns="B H T Dv", note=note, **leading)
    draw = Draw(seed, B=1, N=2, H=1, T=1, S=4, K=3, Dv=2)
    query, key, value = draw.normal("B N H T K"), draw.normal("B N H S K"), draw.normal("B N H S Dv")
    note = "when there are three leading axes, some of size 1"
    yield draw.case(query=query, key=key, value=value, returns="B N H T Dv", note=note, **leading)
    draw = Draw(seed, B=2, T=5, S=7, K=16, Dv=3)
    query, key = _far_apart(draw, "B T K", "B S K")
    value = draw.normal("B S Dv")
    large: dict[str, Any] = {"asks": "large scores"}
    yield draw.case(query=query, key=key, value=value, note="when scores lie around −100 and +100", **large)
    query, key = _sentences_apart(draw, "B T K", "B S K")
    note = "when one sentence's scores lie around +100 and the next one's around −100"
    yield draw.case(query=query, key=key, value=value, note=note, **large)
    query, key = _very_far_apart(draw, "B T K", "B S K")
    yield draw.case(query=query, key=key, value=value, note="when scores reach tens of thousands", **large)


def any_weights(draw: Draw) -> Case:
    leading = draw.pick("", "B ", "B H ", "B N H ")
    draw.sized(B=(1, 3), N=(1, 3), H=(1, 3), T=(1, 7), S=draw.pick((1, 9), (1, 9), (17, 80)))
    asks = None if leading == "B " else "leading axes"
    weights = draw.floats(leading + "T S", "plain", "wide", "alike").softmax(-1)
    return draw.case(weights=weights, returns=leading + "T", asks=asks)


@exercise(
    inputs=any_weights,
    properties={"shape": 1, "values": 2, "leading axes": 1, "zeros": 1},
    returns="B T",
    when_right="You have a gauge now: 0 nats for a single key, ln S for all alike.",
)
def attention_entropy(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7)
    yield draw.case(weights=draw.normal("B T S", scale=2).softmax(-1))
    draw = Draw(seed, B=3, T=6, S=4)
    yield draw.case(weights=draw.normal("B T S").softmax(-1))
    draw = Draw(seed, B=2, T=5, S=8)
    scores = 6 * draw.normal("B T S")
    scores[:, 0] *= 0.1  # this row is wide, the others leave most keys next to nothing
    yield draw.case(weights=scores.softmax(-1), note="when many weights are small")
    draw = Draw(seed, T=5, S=5)
    weights = draw.normal("T S").softmax(-1)
    yield draw.case(weights=weights, returns="T", asks="leading axes", note="when there is no batch axis")
    draw = Draw(seed, B=2, H=3, T=4, S=6)
    weights = draw.normal("H B T S").softmax(-1)
    weights[..., 0] = 0.0002  # one key has next to nothing
    weights = (weights / weights.sum(-1, keepdim=True)).transpose(0, 1)  # (B, H, T, S), in another order in memory
    note = "when there are two leading axes, batch and heads"
    yield draw.case(weights=weights, returns="B H T", asks="leading axes", note=note)
    draw = Draw(seed, B=1, N=2, H=1, T=1, S=5)
    weights, note = draw.normal("B N H T S").softmax(-1), "when there are three leading axes, some of size 1"
    yield draw.case(weights=weights, returns="B N H T", asks="leading axes", note=note)
    draw = Draw(seed, B=2, T=4, S=6)
    scores = draw.normal("B T S", scale=2).clamp(-2.5, 2.5)  # what is not zero is not next to nothing either
    scores = scores.masked_fill(draw.integers("B T S", 2) == 0, float("-inf"))
    scores[:, :, 0], scores[:, 1, 1:] = 0.0, float("-inf")  # no row is empty; row 1 gives everything to key 0
    scores[:, 0, 1] = 0.0
    weights = scores.softmax(-1)
    weights[:, 0, 0] = 0.004  # row 0 gives key 0 little
    weights = weights / weights.sum(-1, keepdim=True)
    yield draw.case(weights=weights, asks="zeros", note="when some weights are exactly zero")
    draw = Draw(seed, B=2, T=3, S=5)
    weights = draw.normal("B T S").clamp(-1, 1).softmax(-1)
    weights[:, 1, 0], weights[:, 2, 1:3] = 0.0, 0.0  # row 0 has no zero, and no row has a single weight
    weights = weights / weights.sum(-1, keepdim=True)
    yield draw.case(weights=weights, asks="zeros", note="when some rows have zeros")


def _ranks(x: Tensor, dim: int) -> Tensor:
    """Along `dim` the numbers 0, 1, 2 … in random order: distinct, so that large multiples leave one winner."""
    return x.argsort(dim).argsort(dim).float()


def _signs(size: int) -> Tensor:
    return 1.0 - 2.0 * (torch.arange(size) % 2)


def _far_apart(draw: Draw, query: str, key: str) -> tuple[Tensor, Tensor]:
    """Queries and keys of width 16 whose scores lie around +100 for even and −100 for odd queries.

    Small whole numbers, so that every order of summation and scaling gives exactly the same scores. What all keys have
    in common is small: in a query's gradient it meets a sum that is zero on paper, and not in float32.
    """
    queries, keys = draw.integers(query, 3, -2).float(), draw.integers(key, 3, -2).float()
    queries[..., 0], keys[..., 0] = 200 * _signs(queries.size(-2)), 2.0
    return queries, keys


def _sentences_apart(draw: Draw, query: str, key: str) -> tuple[Tensor, Tensor]:
    """Queries and keys of width 16 whose scores lie around +100 in the first sentence and around −100 in the second.

    What all queries or keys of a sentence have in common is spread over four columns, so that it is small in each.
    """
    queries, keys = draw.integers(query, 3, -2).float(), draw.integers(key, 3, -2).float()
    queries[..., :4], keys[..., :4] = 10 * _signs(queries.size(0)).view(-1, 1, 1), 10.0
    return queries, keys


def _very_far_apart(draw: Draw, query: str, key: str) -> tuple[Tensor, Tensor]:
    """Queries and keys of width 16: scores of even queries lie 12,500 apart, those of odd queries are small.

    No two keys tie far from zero: there float32 could not tell ½ from 0.501. All queries have a large entry; that of
    the odd ones meets zeros, and gives the keys gradients of the same size as their inputs.
    """
    queries, keys = draw.integers(query, 3, -2).float(), draw.integers(key, 3, -2).float()
    even = _signs(queries.size(-2)) > 0
    queries[..., 0], queries[..., 1] = 5000.0 * even, 5000.0 * ~even
    keys[..., 0], keys[..., 1] = 10 * _ranks(keys[..., 2], -1), 0.0
    return queries, keys
