"""Draws that fit each other and have nothing of what was given: what is said of draws is said of this case's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from anatomy.course import COURSE
from anatomy.course.nb12_pretraining.asked import A_SHORT_TEXT, OFTEN, calls_for
from anatomy.engine.calls import EACH, LONGEST, packed, unpacked
from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import decode, encode

NOW = (987654, 5)
EXPECTATIONS = remembering(8)


def words(count: int) -> list[str]:
    return [f"made up {number}" for number in torch.randint(1000, (count,)).tolist()]


def ids(*shape: int) -> torch.Tensor:
    return torch.randint(10_000, 20_000, shape)


RESULTS: dict[str, Callable[[], Any]] = {
    "mask_tokens": lambda: [ids(3, 40), ids(3, 40)],
    "next_sentence_pairs": lambda: [[*words(2), int(torch.randint(2, ()))] for _ in range(13)],
    "sentence_order_pairs": lambda: [[*words(2), int(torch.randint(2, ()))] for _ in range(13)],
    "span_corruption": lambda: [ids(30), ids(20)],
    "bart_noise": lambda: words(30),
}
"""Exercise → a result of the right form."""


def draws(name: str, state: torch.Tensor) -> dict[str, Any]:
    """As if all of them came from the generator that has this state at the end."""
    first, other, then = ([RESULTS[name]() for _ in range(EACH)] for _ in range(3))
    return {"calls": packed([first, first, other, then]), "state": state}


def coins(case: Case) -> dict[str, Any]:
    """As many pairs as are wanted, half of them with the label 1."""
    each = sum(len(doc) - 1 for doc in case.args["docs"])
    calls = [[[*words(2), int(torch.randint(2, ()))] for _ in range(each)] for _ in range(calls_for(case))]
    return {"calls": packed(calls), "docs": case.args["docs"]}


def chosen(case: Case) -> Any:
    """Inputs and labels of another text, chosen at the right rate."""
    shape, rate = case.args["ids"].shape, case.args.get("rate", 0.15)
    results = [[ids(*shape), ids(*shape).where(torch.rand(shape) < rate, -100)] for _ in range(OFTEN)]
    more = results if shape.numel() <= A_SHORT_TEXT else []
    return {"first": results[0], "more": packed(more)}


def passed(exercise: Exercise, seen: Observation) -> set[str]:
    verdict = judge(exercise, decode(encode(seen)), NOW, EXPECTATIONS)
    return {one.property for one in verdict.results if one.passed}


def with_draws(exercise: Exercise, asked: str, make: Callable[[Case, Any], Any]) -> set[str]:
    """What is earned by right results of all other properties, and made-up ones of the one that is asked."""
    seen = observe(exercise, exercise.right, NOW)
    for case, here in zip(exercise.cases(NOW), seen.cases, strict=True):
        if case.asks == asked:
            here.value, here.again = make(case, here.value), []
    return passed(exercise, seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_draws_without_the_text_do_not_come_from_the_generator(name: str) -> None:
    torch.manual_seed(0)
    exercise = COURSE.exercise(name)
    earned = with_draws(exercise, "generator", lambda _, raw: draws(name, raw["state"]))
    assert earned == exercise.properties.keys() - {"generator"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "asked", "make"),
    [
        ("next_sentence_pairs", "half and half", coins),
        ("sentence_order_pairs", "half and half", coins),
        ("mask_tokens", "rate", chosen),
    ],
)
def test_chances_are_those_of_what_was_given(name: str, asked: str, make: Callable[[Case], Any]) -> None:
    torch.manual_seed(0)
    exercise = COURSE.exercise(name)
    assert with_draws(exercise, asked, lambda case, _: make(case)) == exercise.properties.keys() - {asked}


def said(name: str, asked: str, change: Callable[[Case, Any], Any]) -> Any:
    exercise = COURSE.described(COURSE.exercise(name))
    assert exercise.describe is not None
    seen = observe(COURSE.exercise(name), exercise.right, NOW)
    pairs = zip(exercise.cases(NOW), seen.cases, strict=True)
    return next(exercise.describe(change(case, here.value), case) for case, here in pairs if case.asks == asked)


def test_a_sequence_without_end_is_not_looked_through() -> None:
    """Each sentinel stands for its span: 100,000 of one and a span of 100,000 would be 10¹⁰ tokens."""

    def endless(case: Case, raw: Any) -> Any:
        sentinel = torch.tensor(case.args["sentinel_ids"][:1])
        calls = [list(result) for result in unpacked(raw["calls"])]
        calls[0] = [sentinel.repeat(100_000), torch.cat([sentinel, torch.zeros(100_000, dtype=torch.long)])]
        return {"calls": packed(calls)}

    assert said("span_corruption", "rebuilds", endless).startswith("inputs of 100000 tokens, from a text of 40")


def test_more_packed_results_than_any_answer_has_are_not_unpacked() -> None:
    with pytest.raises(ValueError, match="too many"):
        unpacked(torch.zeros(LONGEST + 1, dtype=torch.uint8))


@pytest.mark.slow
def test_so_many_calls_as_there_are_count() -> None:
    """One call says nothing of a rate."""

    def once(case: Case, raw: Any) -> Any:
        return {**raw, "more": packed(unpacked(raw["more"])[:1])} if case.args["ids"].numel() == 1 else raw

    exercise = COURSE.exercise("mask_tokens")
    earned = with_draws(exercise, "rate", once)
    assert earned == exercise.properties.keys() - {"rate"}
