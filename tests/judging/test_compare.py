"""One mistake costs once: what a difference is billed to, and which errors count as refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import SEEDS, Case
from anatomy.engine.judging.compare import NUDGES, Kind, compare, same_numbers
from anatomy.engine.judging.expectations import nudged
from anatomy.engine.observing.observation import CaseObservation, Raised
from anatomy.engine.observing.observe import observe, observe_case
from tests.small_course import SmallCourse

SMALL = SmallCourse()


@SMALL.asks(properties={"shape": 1, "values": 2, "far": 1, "gradients": 1}, returns="T D")
def doubled(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=3, D=4)
    yield draw.case(x=draw.normal("T D"))
    yield draw.case(x=1000 * draw.normal("T D"), asks="far")


def right(x: Tensor) -> Tensor:
    return 2 * x


def _in_place(x: Tensor) -> Tensor:
    doubled = 2 * x
    x.mul_(3)
    return doubled


def _constant_gradient_when_far(x: Tensor) -> Tensor:
    return 2 * x if x.abs().max() < 100 else 2 * x.detach() + 0 * x


def broken(answer: Callable[[Tensor], object]) -> set[str]:
    found, expected = observe(doubled, answer).cases, observe(doubled, right).cases
    return {one.property for one in compare(doubled, doubled.cases(SEEDS), found, expected)}


@pytest.mark.parametrize(
    "answer, costs",
    [
        (right, set()),
        (lambda x: 2 * x.double(), {"shape"}),
        (lambda x: list(2 * x), {"shape"}),
        (lambda x: 2 * x.detach(), {"gradients"}),
        (_in_place, {"gradients"}),
        (_constant_gradient_when_far, {"far"}),
        (lambda x: 3 * x, {"values", "far", "gradients"}),
        (lambda x: (2 * x).clamp(max=100), {"far"}),
        (lambda x: None, {"shape", "values", "far", "gradients"}),
    ],
)
def test_a_difference_is_billed_to_what_it_is(answer: Callable[[Tensor], object], costs: set[str]) -> None:
    assert broken(answer) == costs


@SMALL.asks(properties={"values": 1, "refusal": 1})
def halved(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    yield draw.case(dim=6)
    yield draw.case(dim=7, asks="refusal", message_names=("7",))


def _kinds(error: Raised) -> set[tuple[str, Kind]]:
    right = [CaseObservation("returned", 3), CaseObservation("raised", error=Raised("ValueError", "7 is odd"))]
    mine = [CaseObservation("returned", 3), CaseObservation("raised", error=error)]
    return {(one.property, one.kind) for one in compare(halved, halved.cases((0,)), mine, right)}


@pytest.mark.parametrize(
    "error, kinds",
    [
        (Raised("ValueError", "dim 7", 2, 'raise ValueError(f"dim {dim}")'), set()),
        (Raised("ValueError", "an odd width", 2, 'raise ValueError("an odd width")'), {("refusal", Kind.MESSAGE)}),
        (Raised("ValueError", "a width of 6x7.", 2, "raise ValueError(...)"), set()),
        (Raised("ValueError", "it is 7.5", 2, "raise ValueError(...)"), {("refusal", Kind.MESSAGE)}),
        (Raised("ValueError", "it is 70", 2, "raise ValueError(...)"), {("refusal", Kind.MESSAGE)}),
        (Raised("ValueError", "too many values to unpack", 2, "a, b = parts"), {("refusal", Kind.ERROR)}),
        (Raised("RuntimeError", "shape 7", 2, "x.view(7)"), {("refusal", Kind.ERROR)}),
    ],
)
def test_a_refusal_is_meant_and_says_what_is_asked(error: Raised, kinds: set[tuple[str, str]]) -> None:
    assert _kinds(error) == kinds


def test_a_value_of_another_type_with_other_numbers_costs_its_values() -> None:
    assert {"shape", "values"} <= broken(lambda x: list(3 * x))
    assert {"shape", "values"} <= broken(lambda x: torch.zeros(2))


def compare_with_slack(apart: float, slack: dict[int, float]) -> tuple[bool, list[int]]:
    """Whether a gradient so far from 0 differs where rounding moves the reference's so far, and what was asked."""
    case = doubled.cases((0,))[0]
    value, other = 2 * case.args["x"], torch.ones(3, 4)
    seen = CaseObservation("returned", value)
    asked: list[int] = []

    def observed(zero_on_paper: float) -> CaseObservation:
        gradients = {"x": other, "k": torch.full((3, 4), zero_on_paper)}
        return replace(seen, gradients=gradients, linked=True)

    def nudged(index: int, number: int) -> CaseObservation:
        asked.append(number)
        return observed(slack.get(number, 0.0))

    return bool(compare(doubled, [case], [observed(apart)], [observed(0.0)], nudged)), asked


def test_what_one_rounding_step_leaves_by_luck_the_next_ones_show() -> None:
    assert compare_with_slack(1e-6, {}) == (False, [])
    assert compare_with_slack(4e-6, {0: 2e-6}) == (False, [0])
    assert compare_with_slack(4e-6, {3: 2e-6}) == (False, [0, 1, 2, 3])
    assert compare_with_slack(4e-6, {}) == (True, list(range(NUDGES)))


@SMALL.asks(properties={"shape": 1, "values": 2}, returns="T D")
def hidden(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=3, D=4)
    yield draw.case(x=draw.normal("T D"), keep=torch.tensor([0.0, 1.0, 1.0, 0.0]))


def test_rounding_moves_no_zero_of_a_mask() -> None:
    def hides(x: Tensor, keep: Tensor) -> Tensor:
        return x.masked_fill(keep == 0, 0.0)

    def hides_nothing(x: Tensor, keep: Tensor) -> Tensor:
        return x

    first = hidden.cases((0,))[0]
    moved = nudged(first, 0)
    assert moved.args["keep"].eq(0).tolist() == [True, False, False, True] and not moved.args["x"].equal(
        first.args["x"]
    )
    found, expected, again = (
        observe_case(hidden, answer, case) for answer, case in ((hides_nothing, first), (hides, first), (hides, moved))
    )
    assert compare(hidden, [first], [found], [expected], lambda *_: again)


def test_what_is_plainly_wrong_is_not_tried_again_and_again() -> None:
    assert compare_with_slack(0.5, {3: 2e-6}) == (True, [0])


def test_complex_numbers_are_not_the_same_as_their_real_parts() -> None:
    there, here = torch.tensor([1.0, 2.0]), torch.tensor([1 + 5j, 2])
    assert same_numbers(there, [1.0, 2.0]) and same_numbers({"$other": "x", "$numbers": there}, [1.0, 2.0])
    assert not same_numbers(here, [1.0, 2.0]) and not same_numbers({"$other": "x", "$numbers": here}, [1.0, 2.0])


@SMALL.asks(properties={"values": 1, "gradients": 1}, returns="T S")
def shares(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=5, S=1)
    yield draw.case(x=draw.normal("T S"))


def test_rounding_is_no_gradient_where_all_are_zero() -> None:
    """The share of a single score is 1 whatever the score is."""

    def by_hand(x: Tensor) -> Tensor:
        return x.exp() / x.exp().sum(-1, keepdim=True)

    def following(x: Tensor) -> Tensor:
        return by_hand(x) + x - x.detach()

    expected = observe(shares, lambda x: x.softmax(-1)).cases
    differ = {
        name: {one.property for one in compare(shares, shares.cases(SEEDS), observe(shares, answer).cases, expected)}
        for name, answer in (("by hand", by_hand), ("following", following))
    }
    assert differ == {"by hand": set(), "following": {"gradients"}}
