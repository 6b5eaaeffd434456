"""The generic search: wrong answers that no one listed are explained from the numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from anatomy.engine.cards import as_html, as_text
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import Difference, Kind
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.relations.comparison import constant_ratio
from anatomy.engine.judging.relations.lists import relate_lists
from anatomy.engine.judging.values import what_result
from anatomy.engine.observing.observe import observe
from tests.small_course import SmallCourse


def _weights(query: Tensor, key: Tensor) -> Tensor:
    return (query @ key.mT / math.sqrt(query.size(-1))).softmax(-1)


def _block(x: Tensor) -> Tensor:
    return x + (x * x.roll(1, -1)).cumsum(1)


def _named(x: Tensor) -> dict[str, Tensor]:
    return {"q": x.sin(), "k": x.cos(), "v": x.exp()}


def _codes(x: Tensor) -> Tensor:
    return (127 * x / x.abs().max()).round()


def _hidden(scores: Tensor) -> Tensor:
    return scores.masked_fill(scores < 0, -torch.inf)


SMALL = SmallCourse({"weights": _weights, "block": _block, "codes": _codes, "named": _named, "hidden": _hidden})


@SMALL.asks(properties={"shape": 1, "values": 2, "gradients": 1}, returns="B T S")
def weights(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7, D=8)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))


@SMALL.asks(properties={"shape": 1, "values": 2, "gradients": 1}, returns="B T D")
def block(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, D=4)
    yield draw.case(x=draw.normal("B T D"))


@SMALL.asks(properties={"shape": 1, "values": 2}, returns="B D")
def codes(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, D=9)
    yield draw.case(x=draw.normal("B D"))


@SMALL.asks(properties={"shape": 1, "values": 2}, returns="T S")
def hidden(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=4, S=6)
    yield draw.case(scores=draw.normal("T S"))


@SMALL.asks(properties={"shape": 1, "values": 2})
def named(seed: int) -> Iterator[Case]:
    for rows in (3, 5):
        yield Draw(seed, T=rows, D=4).case(x=Draw(seed, T=rows, D=4).normal("T D"))


def _last_column_negative(q: Tensor, k: Tensor) -> Tensor:
    sign = torch.ones(7)
    sign[-1] = -1
    return _weights(q, k) * sign


WRONG_WEIGHTS: list[tuple[str, Callable[[Tensor, Tensor], Tensor], str]] = [
    ("factor of a size", lambda q, k: _weights(q, k) / 8, "D = 8"),
    ("factor of a root", lambda q, k: _weights(q, k) * math.sqrt(5), "√T = √5"),
    ("bits", lambda q, k: _weights(q, k) / math.log(2), "times 1.443, and 1/ln 2 = 1.443"),
    ("ratio of roots", lambda q, k: _weights(q, k) * math.sqrt(7 / 5), "√(7/5)"),
    ("sign", lambda q, k: -_weights(q, k), "sign is reversed"),
    ("transposed", lambda q, k: _weights(q, k).mT, "Axes are swapped"),
    ("transposed and scaled", lambda q, k: 3 * _weights(q, k).mT, "a constant factor is off too"),
    ("transposed and averaged", lambda q, k: _weights(q, k).mT / 4, "are the expected ones divided by 4"),
    ("reversed", lambda q, k: _weights(q, k).flip(2), "axis 2 (keys) is reversed"),
    ("off by one", lambda q, k: _weights(q, k).roll(1, 2), "one step later along axis 2 (keys)"),
    ("first of the batch", lambda q, k: _weights(q, k)[:1].expand(2, 5, 7), "repeat the result of the first"),
    ("sum over queries", lambda q, k: (q @ k.mT / math.sqrt(8)).softmax(1), "sum to one along axis 1 (queries)"),
    ("sum over all", lambda q, k: (q @ k.mT / 8**0.5).flatten(1).softmax(1).view(2, 5, 7), "and axis 2 (keys)"),
    ("no sum", lambda q, k: (q @ k.mT / math.sqrt(8)).exp(), "don't sum to one"),
    ("logarithm", lambda q, k: _weights(q, k).log(), "under a logarithm"),
    ("not a number", lambda q, k: _weights(q, k) * (q.sum() * 0 + float("nan")), "are NaN"),
    ("half precision", lambda q, k: _weights(q, k).half().float(), "float16"),
    ("float64", lambda q, k: _weights(q, k).double(), "type float64"),
    ("one batch item", lambda q, k: _weights(q, k)[0], "Axis 0 (batch) is gone"),
    ("mean over queries", lambda q, k: _weights(q, k).mean(1), "Axis 1 (queries) is gone"),
    ("extra axis", lambda q, k: _weights(q, k).unsqueeze(1), "another shape"),
    ("detached", lambda q, k: _weights(q, k).detach(), "No gradient reaches `query`"),
    ("key detached", lambda q, k: _weights(q, k.detach()), "No gradient reaches `key`"),
    ("in place", lambda q, k: _weights(q.mul_(1.5).div_(1.5).add_(1), k), "change `query` in place"),
    ("noise", lambda q, k: _weights(q, k) + torch.rand(1, generator=NOISE), "another result each time"),
    ("last column", _last_column_negative, "Along axis 2 (keys) the last one is wrong"),
    ("squared", lambda q, k: _weights(q, k) ** 2, "squared"),
    ("added", lambda q, k: _weights(q, k) + 0.25, "A constant is added"),
    ("complement", lambda q, k: 1 - _weights(q, k), "Your values are 1 minus the expected ones"),
    ("complement of a size", lambda q, k: 7 - _weights(q, k), "Your values are S minus the expected ones"),
    ("complement of a logarithm", lambda q, k: math.log(5) - _weights(q, k), "are ln T minus the expected ones"),
    ("zeros", lambda q, k: 0 * _weights(q, k), "Every entry of yours is 0"),
    ("a list", lambda q, k: list(_weights(q, k)), "a tensor is needed.\nThe numbers are right."),
    ("a list of one", lambda q, k: [_weights(q, k)], "Item 0 of it is the expected result."),
    ("nothing", lambda q, k: None, "returns nothing"),
    ("the query itself", lambda q, k: q, "You return `query` unchanged."),
    ("error", lambda q, k: q @ k, "must be (2, 8); they are (2, 7)"),
    ("too few arguments", lambda q: q, "called with (query, key), but yours takes (q)"),
]  # fmt: skip
NOISE = torch.Generator().manual_seed(0)

WRONG_BLOCK: list[tuple[str, Callable[[Tensor], Tensor], str]] = [
    ("missing term", lambda x: _block(x) - x, "`x` is missing"),
    ("doubled term", lambda x: _block(x) + x, "`x` is added once too often"),
    ("unchanged", lambda x: x, "return `x` unchanged"),
    ("bias", lambda x: _block(x) + torch.arange(4.0), "The same row of numbers is added everywhere"),
    ("reordered", lambda x: _block(x).transpose(1, 2).reshape(3, 5, 4), "in the wrong places"),
    ("input reordered", lambda x: x.transpose(1, 2).reshape(3, 5, 4) + 0 * x, "Values differ: at [0, 0, 0]"),
    ("factor per row", lambda x: _block(x) * torch.arange(2.0, 7.0)[:, None], "factor of its own"),
    (
        "one row left out",
        lambda x: _block(x) * (torch.arange(5) != 2)[:, None],
        "3 of the 15 rows that run",
    ),
    ("relu", lambda x: _block(x).relu(), "ReLU"),
    ("masked", lambda x: _block(x).tril(), "above the diagonal"),
]


@pytest.mark.parametrize("answer, words", [row[1:] for row in WRONG_WEIGHTS], ids=[row[0] for row in WRONG_WEIGHTS])
def test_wrong_weights_are_explained(answer: Callable[..., Tensor], words: str) -> None:
    verdict = judge(weights, observe(weights, answer))
    assert verdict.status == "wrong"
    assert words in as_text(verdict)
    assert as_html(verdict)


@pytest.mark.parametrize("answer, words", [row[1:] for row in WRONG_BLOCK], ids=[row[0] for row in WRONG_BLOCK])
def test_wrong_blocks_are_explained(answer: Callable[..., Tensor], words: str) -> None:
    verdict = judge(block, observe(block, answer))
    assert verdict.status == "wrong"
    assert words in as_text(verdict)


def test_values_of_another_name_are_called_so() -> None:
    def card(name: str) -> str:
        """Of an answer whose `k` has another name's values; those of `q` where there are five rows."""
        return as_text(
            judge(named, observe(named, lambda x: _named(x) | {"k": _named(x)[name if len(x) < 5 else "q"]}))
        )

    assert "`k`: These are the values of `q`." in card("q")
    assert "These are the values" not in card("v"), "elsewhere they are those of `q`"


def test_the_unexplained_is_measured() -> None:
    def odd(query: Tensor, key: Tensor) -> Tensor:
        return _weights(query.sin(), key)

    text = as_text(judge(weights, observe(weights, odd)))
    assert "Values differ: at [0, 0, 0] yours is" in text
    assert "70 of 70 entries differ" in text
    assert "✓ shape" in text


def test_right_answers_in_another_style_pass() -> None:
    def loops(query: Tensor, key: Tensor) -> Tensor:
        rows = [
            [torch.stack([(q * k).sum() for k in ks]) / 8**0.5 for q in qs] for qs, ks in zip(query, key, strict=True)
        ]
        scores = torch.stack([torch.stack(item) for item in rows])
        scores = scores - scores.amax(-1, keepdim=True)
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    verdict = judge(weights, observe(weights, loops))
    assert (verdict.status, verdict.points) == ("right", 4)


@pytest.mark.parametrize(
    "found, words",
    [
        ([1, 2], "stops too early: 2 items, expected 3"),
        ([1], "stops too early: 1 item, expected 3"),
        ([1, 2, 3, 4], "goes on too long"),
        ([3, 2, 1], "reverse order"),
        ([2, 1, 3], "in another order"),
        ([1, 5, 3], "Yours is [1, 5, 3], expected [1, 2, 3]"),
    ],
)
def test_lists_are_explained(found: list[int], words: str) -> None:
    assert words in relate_lists(found, [1, 2, 3]).headline


def test_a_list_in_a_list_is_written_as_one_or_as_a_pair() -> None:
    assert relate_lists([[2, 1]], [[2, 3]]).headline == "Yours is [(2, 1)], expected [(2, 3)]."
    assert relate_lists([[2], [3]], [[2], [4]]).headline == "Yours is [[2], [3]], expected [[2], [4]]."


def test_a_result_in_a_result_is_named_by_both_places() -> None:
    inner, named = (Difference("values", Kind.VALUES, where, 1, 2, 0) for where in ("[1][0]", "[0]['scores']"))
    assert [what_result(one) for one in (inner, named)] == ["Result [1][0]: ", "The first result, `scores`: "]


def test_what_is_next_to_right_is_no_constant_factor() -> None:
    assert constant_ratio(torch.tensor([1.0, 2.0]) * 1.0003, torch.tensor([1.0, 2.0])) is None


def test_a_finite_number_where_infinity_is_needed_is_told() -> None:
    def said(answer: Callable[[Tensor], Tensor]) -> str:
        return as_text(judge(hidden, observe(hidden, answer)))

    finite = said(lambda scores: scores.masked_fill(scores < 0, scores.min().item() - 1))
    assert "Where −∞ is needed, yours is" in finite and "All other values are right." in finite
    assert "Where −∞ is needed" not in said(lambda scores: scores.masked_fill(scores < 0, -10) * 2)
    assert "Where −∞ is needed" not in said(lambda scores: scores.masked_fill(scores < 0, torch.nan))


def test_whole_numbers_are_not_taken_for_rounded_ones() -> None:
    text = as_text(judge(codes, observe(codes, lambda x: _codes(x) + (x > 0))))
    assert "Nearly right" in text and "float16" not in text
