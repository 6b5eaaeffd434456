"""What is said of an answer holds in all its tries, and where it happens is said only where that separates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from anatomy.course import COURSE
from anatomy.engine.cards import as_html, as_text
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import SEEDS, Case, Exercise
from anatomy.engine.judging.compare import Difference, Kind, compare
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explain import explain_each
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Diagnosis, Example, PropertyResult, Verdict
from anatomy.engine.observing.observe import observe
from tests.small_course import SmallCourse

SMALL = SmallCourse(ANSWERS := dict[str, Any]())


@SMALL.asks(properties={"shape": 1, "values": 1, "far": 1, "gradients": 1}, returns="T D")
def doubled(seed: int) -> Iterator[Case]:
    for rows, width in ((3, 4), (2, 5), (6, 4)):
        draw = Draw(seed, T=rows, D=width)
        yield draw.case(x=draw.normal("T D"))
    draw = Draw(seed, T=5, D=3)
    yield draw.case(x=1000 * draw.normal("T D"), asks="far", note="when numbers reach thousands")


@SMALL.asks(properties={"values": 1})
def total(seed: int) -> Iterator[Case]:
    for count in (3, 4):
        yield Draw(seed, T=count).case(x=torch.full((count,), 9.0))


@SMALL.asks(properties={"shape": 1, "values": 1}, returns="T")
def ranks(seed: int) -> Iterator[Case]:
    yield Draw(seed, T=7).case(x=Draw(seed, T=7).normal("T"))


@SMALL.asks(properties={"values": 1, "3": 1, "4": 1, "5": 1})
def rows_apart(seed: int) -> Iterator[Case]:
    for rows in (2, 3, 4, 5):
        asks, note = ("", "") if rows == 2 else (str(rows), f"for {rows} rows")
        yield Draw(seed, T=rows).case(x=torch.ones(rows), asks=asks or None, note=note)


@SMALL.asks(properties={"values": 1})
def refused(seed: int) -> Iterator[Case]:
    for rows in (2, 3):
        yield Draw(seed, T=rows).case(x=torch.ones(rows))


@SMALL.asks(properties={"shape": 1, "values": 1, "empty": 1}, returns="N")
def places(seed: int) -> Iterator[Case]:
    for count, length in ((1, 9), (8, 6)):
        draw = Draw(seed, N=count, T=length)
        yield draw.case(x=draw.normal("N T"))
    draw = Draw(seed, N=1, T=1)
    yield draw.case(x=draw.normal("N T"), asks="empty", note="for a single number")


@SMALL.asks(kind="module", properties={"shape": 1, "values": 1, "train mode": 1}, returns="T D")
def dropped(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=3, D=4)
    yield draw.case(x=draw.normal("T D"))


@SMALL.asks(kind="module", properties={"shape": 1, "values": 1, "gradients": 1}, returns="T D")
def shifted(seed: int) -> Iterator[Case]:
    for rows in (3, 5):
        draw = Draw(seed, T=rows, D=4)
        yield draw.case(x=draw.normal("T D"))


class Shifted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight + self.bias


class NotShifted(Shifted):
    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


class Squared(Shifted):
    def forward(self, x: Tensor) -> Tensor:
        return (x * self.weight).square() + self.bias


class Dropped(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return nn.functional.dropout(x, 0.5, self.training)


class NoReturn(nn.Module):
    def forward(self, x: Tensor) -> Any:
        nn.functional.dropout(x, 0.5)


ANSWERS |= {
    "doubled": lambda x: 2 * x,
    "total": lambda x: 2 * x.sum(),
    "places": lambda x: x.argmax(-1),
    "ranks": lambda x: x.argsort(-1),
    "rows_apart": lambda x: 2 * x,
    "refused": lambda x: x if len(x) == 2 else _refuse(),
    "dropped": Dropped,
    "shifted": Shifted,
}


def _refuse() -> None:
    raise ValueError("three rows are one too many")


def said(of: Exercise, answer: Any) -> list[str]:
    expectations = Expectations(of, (0, 1))
    differences = compare(of, expectations.cases, observe(of, answer, (0, 1)).cases, expectations.expected)
    cases = {difference.case for difference in differences}
    explained = explain_each(expectations, differences, cases)
    return [" ".join(filter(None, (one.headline, one.detail, one.condition))) for _, one in sorted(explained.items())]


def test_a_relation_holds_in_all_tries_or_is_not_said() -> None:
    assert said(doubled, lambda x: 6 * x)[0].startswith("Only a constant factor is off")
    mixed: Callable[[Tensor], Tensor] = lambda x: 6 * x if len(x) == 3 else x.exp()  # noqa: E731
    assert said(doubled, mixed)[0].startswith("Values differ: at [0, 0]")


def test_what_one_number_shows_must_hold_for_all() -> None:
    assert said(total, lambda x: 2 * x.sum() + 0.1)[0].startswith("Nearly right")
    assert said(total, lambda x: 2 * x.sum() + (0.1 if len(x) == 3 else 50.0))[0].startswith("Yours is")


def test_where_it_happens_is_said_where_it_separates() -> None:
    (far,) = said(doubled, lambda x: (2 * x).clamp(max=100))
    assert far.endswith("This happens when numbers reach thousands.")
    (narrow, *_) = said(doubled, lambda x: 2 * x if x.size(1) == 5 else x.exp())
    assert "right only" not in narrow, "it could be T or D: a condition names one cause"
    assert not any("This happens" in line for line in said(doubled, lambda x: x.exp()))
    assert not any("right only" in line for line in said(doubled, lambda x: x.exp()))


def test_a_choice_that_is_right_by_luck_separates_nothing() -> None:
    assert not any(
        "right only" in line for line in said(places, lambda x: x.argmax(-1) if len(x) == 1 else x.argmin(-1))
    )


def test_what_another_property_s_try_contradicts_is_not_said() -> None:
    assert said(rows_apart, lambda x: x if len(x) == 3 else 2 * x)[0].endswith("This happens for 3 rows.")
    assert "right only in the tries with T = 2." in said(rows_apart, lambda x: 2 * x if len(x) == 2 else x)[0]
    odd = said(rows_apart, lambda x: 2 * x if len(x) % 2 else x)
    assert not any("This happens" in line or "right only" in line for line in odd)


def test_any_order_of_all_places_has_the_same_numbers() -> None:
    assert not any("wrong places" in line for line in said(ranks, lambda x: x.argsort(-1, descending=True)))


def test_an_error_that_is_returned_is_no_refusal() -> None:
    (line,) = said(refused, lambda x: ValueError("no") if len(x) == 3 else x)
    assert line.startswith("You return the `ValueError`")


def test_one_thing_is_said_once() -> None:
    assert len(said(doubled, torch.sin)) == 1
    assert len(said(doubled, lambda x: list(2 * x))) == 1


def test_nothing_returned_comes_before_training() -> None:
    assert said(dropped, NoReturn)[0].startswith("Your `forward` returns nothing (None).")


def test_parameters_are_named_by_their_layers() -> None:
    def headline(names: list[str], width: int = 4) -> str:
        found, expected = ({name: [4, size] for name in listed} for listed, size in ((names, width), (RIGHT, 4)))
        difference = Difference("parameters", Kind.NAMES, "", found, expected, 0, "parameters")
        return explain_each(Expectations(dropped, (0,)), [difference], [0])[0].headline

    start = "The parameters of your module differ: "
    assert headline(["words.weight", *RIGHT[1:]]) == f"{start}`table` is missing; there is `words`."
    assert headline(RIGHT[:2]) == f"{start}`linear.bias` is missing."
    assert headline(RIGHT[:1]) == f"{start}`linear` is missing."
    assert headline([*RIGHT, "extra.weight", "extra.bias"]) == f"{start}`extra` is not expected."
    assert headline(RIGHT, 5) == f"{start}`table.weight` has shape (4, 5), expected (4, 4)."
    assert headline([f"model.{name}" for name in RIGHT]) == f"{start}all names begin with `model.`."


RIGHT = ["table.weight", "linear.weight", "linear.bias"]


def test_gradients_wait_for_the_values() -> None:
    assert said(doubled, lambda x: x.detach() * 2)[0].startswith("No gradient reaches `x`.")
    assert not any("gradient" in line for line in said(doubled, lambda x: x.detach().exp()))


def test_a_parameter_without_effect_is_named() -> None:
    assert "The same row of numbers" in said(shifted, NotShifted)[0], "a relation says more"

    class Sine(NotShifted):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x).sin()

    assert said(shifted, Sine)[0].startswith("`bias` has no effect on your result: no gradient reaches it. Values")
    assert not any("no effect" in line for line in said(shifted, Squared)), "both have a gradient"

    class InOneCase(Sine):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + (self.bias if len(x) == 5 else 0)

    assert not any("no effect" in line for line in said(shifted, InOneCase)), "it has one in the other case"

    class RightForFive(Sine):
        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight + self.bias if len(x) == 5 else super().forward(x)

    assert not any("no effect" in line for line in said(shifted, RightForFive)), "it has one where all is right"


def test_a_gradient_that_is_nan_costs_where_the_case_asks_for_nothing_else() -> None:
    def nan_for_large(x: Tensor) -> Tensor:
        return torch.where(x.abs() > 50, 2 * x, x.exp().div(x.exp()) * 2 * x)

    def always_nan(x: Tensor) -> Tensor:
        return torch.where(x < 1e6, 2 * x, (x - x).sqrt())

    x = torch.tensor([1000.0], requires_grad=True)
    assert torch.autograd.grad(nan_for_large(x).sum(), x)[0].isnan(), "the values are right there, the gradient is not"
    assert not said(doubled, nan_for_large)
    assert said(doubled, always_nan)[0].startswith("The gradient of `x`: ")


def test_no_sentence_stands_twice_on_a_card() -> None:
    rows = "The shape is (B). It is right only where `x` has 2 axes."
    verdict = Verdict(
        "x", "wrong", (), (Diagnosis("An axis is gone.", rows), Diagnosis("Values differ.", rows + " So."))
    )
    assert [one.detail for one in verdict.said] == [rows, "So."]


def test_an_array_with_the_right_numbers_is_called_an_array() -> None:
    assert said(doubled, lambda x: (2 * x).detach().numpy())[0].startswith(
        "You return a NumPy array; a tensor is needed. The numbers are right."
    )
    assert "The numbers are right" not in said(doubled, lambda x: (3 * x).detach().numpy())[0]
    far_off = said(doubled, lambda x: (2 * x.clamp(-100, 100)).detach().numpy())
    assert not any("The numbers are right" in line for line in far_off)


def details(name: str, answer: Any) -> dict[str, str]:
    """What the card says of each property of an exercise."""
    exercise = COURSE.exercise(name)
    return {one.property: one.detail for one in judge(exercise, observe(exercise, answer), SEEDS).results}


def test_what_fails_with_the_values_says_so() -> None:
    """A property of its own cases fails with the values; it need not be what is wrong."""

    class Halved(COURSE.exercise("LayerNorm").right):  # type: ignore[misc]
        def forward(self, x: Tensor) -> Tensor:
            return x + super().forward(x).square()

    class OwnEps(COURSE.exercise("LayerNorm").right):  # type: ignore[misc]
        def __init__(self, dim: int, eps: float = 1e-12) -> None:
            super().__init__(dim, 1e-12)

    assert {"values": "different", "eps": "perhaps for the same reason"}.items() <= details("LayerNorm", Halved).items()
    assert {"values": "", "eps": "different"}.items() <= details("LayerNorm", OwnEps).items()


def test_one_reason_for_all_where_nothing_is_returned_or_an_error_stops_it() -> None:
    def stopped(x: Tensor, dim: int) -> Tensor:
        weights = x.exp() / x.exp().sum()
        return weights if x.dim() < 3 else weights.nothing  # type: ignore[attr-defined, no-any-return]

    assert set(details("attention_weights", lambda query, key: None).values()) == {"nothing is returned"}
    assert set(details("softmax", stopped).values()) == {"stopped by an error"}


def test_a_card_says_one_reason_of_several_properties_once() -> None:
    results = [PropertyResult(name, 1, False, "stopped by an error") for name in ("shape", "values")]
    verdict = Verdict(
        "f", "wrong", (PropertyResult("order", 1, True), *results, PropertyResult("ties", 1, False, "different"))
    )
    assert "✓ order  ✗ shape, values (stopped by an error)  ✗ ties (different)" in as_text(verdict)
    assert as_html(verdict).count("stopped by an error") == 1 and as_html(verdict).count("✗") == 2 + as_html(
        Verdict("f", "wrong", ())
    ).count("✗")


@pytest.mark.parametrize("form", [as_text, as_html])
def test_a_card_has_no_example_that_only_repeats_the_error(form: Callable[[Verdict], str]) -> None:
    first = Diagnosis("It stops with `ValueError` in your line 2, `return x.f()`: no f.")
    for found, there, is_shown in (
        ("ValueError: no f", "", False),
        ("ValueError: no f", "`x` is 1 there.", True),
        ("ValueError: no g", "", True),
        ("[1, 2]", "", True),
    ):
        verdict = Verdict("f", "wrong", (), (first,), example=Example("f(1)", "[1, 3]", found, there))
        assert ("A small example" in form(verdict)) is is_shown, found
