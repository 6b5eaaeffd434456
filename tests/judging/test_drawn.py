"""Drawn cases refute what a few chosen ones leave standing: a right answer by luck, a name, a relation, a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from anatomy.course import COURSE
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import DRAWN, Case, Exercise
from anatomy.engine.judging import recognize, trail, where
from anatomy.engine.judging.compare import compare
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.mistakes import inherited, pairs
from anatomy.engine.observing.observe import observe, observe_case
from tests.small_course import SmallCourse

SMALL = SmallCourse(ANSWERS := dict[str, Any]())


def any_matrix(draw: Draw) -> Case:
    draw.sized(T=(1, 6), D=(1, 6))
    return draw.case(x=draw.floats("T D"))


@SMALL.asks(properties={"shape": 1, "values": 2, "far": 1}, returns="T D", inputs=any_matrix)
def doubled(seed: int) -> Iterator[Case]:
    for rows, width in ((3, 4), (2, 4)):
        draw = Draw(seed, T=rows, D=width)
        yield draw.case(x=draw.normal("T D").abs())
    draw = Draw(seed, T=5, D=3)
    yield draw.case(x=1000 * draw.normal("T D").abs(), asks="far", note="when numbers reach thousands")


ANSWERS["doubled"] = lambda x: 2 * x


def without_draws(exercise: Exercise) -> Exercise:
    return replace(exercise, inputs=None)


def verdict_on(exercise: Exercise, answer: Any) -> Verdict:
    return judge(exercise, observe(exercise, answer))


def said(exercise: Exercise, answer: Any) -> str:
    return " ".join(f"{one.headline} {one.detail}" for one in verdict_on(exercise, answer).said)


def lost(verdict: Verdict) -> set[str]:
    return {one.property for one in verdict.results if not one.passed}


POSITIVE_ONLY: Callable[[Tensor], Tensor] = lambda x: 2 * x.abs()  # noqa: E731


def test_each_seed_has_its_chosen_cases_first_and_then_its_drawn_ones() -> None:
    drawn = [case.drawn for case in doubled.cases((0, 1))]
    assert drawn == 2 * ([False] * 3 + [True] * DRAWN)


def test_an_answer_that_is_right_by_luck_is_wrong() -> None:
    assert verdict_on(without_draws(doubled), POSITIVE_ONLY).status == "right"
    verdict = verdict_on(doubled, POSITIVE_ONLY)
    assert (verdict.status, lost(verdict)) == ("wrong", {"values"})


def test_drawn_cases_cost_nothing_where_a_chosen_one_is_wrong() -> None:
    far_is_wrong: Callable[[Tensor], Tensor] = lambda x: 2 * x if x.max() < 100 else x  # noqa: E731
    for answer in (far_is_wrong, lambda x: far_is_wrong(x.abs())):
        assert lost(verdict_on(doubled, answer)) == {"far"}


def test_rounding_in_a_drawn_case_refuses_no_right_answer() -> None:
    assert verdict_on(doubled, lambda x: 2 * x * (1 + 5e-6)).status == "right"
    cases = list(doubled.draws(3, 200))
    rounded: Callable[[Tensor], Tensor] = lambda x: (2 * x.half()).float()  # noqa: E731
    right, wrong = ([observe_case(doubled, answer, case) for case in cases] for answer in (doubled.right, rounded))
    assert not compare(doubled, cases, wrong, right)
    chosen = [replace(case, drawn=False) for case in cases]
    assert compare(doubled, chosen, wrong, right)


def test_a_relation_that_a_drawn_case_contradicts_is_not_said() -> None:
    tripled: Callable[[Tensor], Tensor] = lambda x: 3 * x.abs()  # noqa: E731
    assert "constant factor" in said(without_draws(doubled), tripled)
    assert "constant factor" not in said(doubled, tripled)
    assert "constant factor" in said(doubled, lambda x: 3 * x)


def test_a_condition_that_a_drawn_case_contradicts_is_not_said() -> None:
    odd: Callable[[Tensor], Tensor] = lambda x: 2 * x if len(x) % 2 else x.exp()  # noqa: E731
    assert "right only in the tries with T = 3" not in said(doubled, odd)
    wrong_if_large: Callable[[Tensor], Tensor] = lambda x: 2 * x.clamp(max=100)  # noqa: E731
    assert "This happens when numbers reach thousands." in said(doubled, wrong_if_large)
    negative_too: Callable[[Tensor], Tensor] = lambda x: 2 * x.clamp(min=-0.5, max=100)  # noqa: E731
    assert "This happens" not in said(doubled, negative_too)
    assert "This happens" not in said(doubled, POSITIVE_ONLY)


def test_a_size_that_chosen_cases_share_by_accident_is_no_condition() -> None:
    narrow = replace(doubled, build=two_widths)
    answer: Callable[[Tensor], Tensor] = lambda x: 2 * x if x.shape == (3, 24) else x.exp()  # noqa: E731
    assert "right only in the tries with D = 24" in said(without_draws(narrow), answer)
    assert "right only" not in said(narrow, answer)


def test_a_size_that_few_drawn_cases_share_by_accident_is_no_condition() -> None:
    def cases(right: int) -> tuple[list[Case], list[Case]]:
        """So many drawn cases of width 2, and others."""
        widths = [[2] * right, [3, 5, 1, 6]]
        two, rest = (
            [replace(Draw(n, T=n + 2, D=width).case(), drawn=True) for n, width in enumerate(some)] for some in widths
        )
        return two, rest

    assert where._by_sizes(*cases(2)) == "" == where._by_sizes(*cases(3))
    assert where._by_sizes(*cases(4)) == "It is right only in the tries with D = 2."


def two_widths(seed: int) -> Iterator[Case]:
    for width in (24, 5, 7):
        draw = Draw(seed, T=3, D=width)
        yield draw.case(x=draw.normal("T D"))


def test_a_name_that_a_drawn_case_contradicts_is_not_said() -> None:
    softmax = COURSE.exercise("softmax")
    matrices = replace(softmax, build=along_the_first_axis, properties={"shape": 1, "values": 2}, forbids=())

    def other(x: Tensor, dim: int) -> Tensor:
        """Along the first axis where that is asked for, and otherwise no softmax at all."""
        return x.softmax(-1) if dim in (0, -2) else x

    assert verdict_on(without_draws(matrices), other).mistakes == ["softmax__ignores_dim"]
    assert verdict_on(matrices, other).mistakes == []
    assert verdict_on(matrices, lambda x, dim: x.softmax(-1)).mistakes == ["softmax__ignores_dim"]


def test_two_names_at_once_that_a_drawn_case_contradicts_are_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognize, "SEARCH_TIME", 60.0)
    scores = COURSE.exercise("scaled_scores")
    chosen = {tuple(case.args["query"].shape) for case in scores.cases((0, 1)) if not case.drawn}
    both = next(both for *_, both in pairs(scores) if len(verdict_on(scores, both.answer).mistakes) == 2)

    def answer(query: Tensor, key: Tensor) -> Any:
        wrong = both.answer(query, key)
        return wrong if tuple(query.shape) in chosen else wrong.sin()

    assert len(verdict_on(without_draws(scores), answer).mistakes) == 2
    assert verdict_on(scores, answer).mistakes == []


def test_a_part_s_name_that_a_drawn_case_contradicts_is_not_said() -> None:
    whole = COURSE.exercise("scaled_dot_product_attention")
    chosen = {tuple(case.args["query"].shape) for case in whole.cases((0, 1)) if not case.drawn}
    part = next(one for one in inherited(whole) if verdict_on(whole, one.answer).mistakes == [one.name])

    def answer(query: Tensor, key: Tensor, value: Tensor) -> Any:
        wrong = part.answer(query, key, value)
        return wrong if tuple(query.shape) in chosen else wrong.sin()

    assert verdict_on(without_draws(whole), answer).mistakes == [part.name]
    assert part.name not in verdict_on(whole, answer).mistakes


def along_the_first_axis(seed: int) -> Iterator[Case]:
    for rows, columns in ((3, 5), (4, 2)):
        draw = Draw(seed, T=rows, S=columns)
        yield draw.case(x=draw.normal("T S"), dim=0, returns="T S")


def test_a_draw_has_the_form_that_is_asked_for() -> None:
    for seed in range(60):
        draw = Draw(seed)
        draw.sized(B=(1, 3), T=(2, 9))
        assert 1 <= draw.sizes["B"] <= 3 and 2 <= draw.sizes["T"] <= 9
        assert draw.floats("B T").shape == (draw.sizes["B"], draw.sizes["T"])
        assert (draw.floats("B T", "negative") <= -1).all()
        ids = draw.ids("B T", 7)
        assert {0, 6} <= set(ids.flatten().tolist()) <= set(range(7))
        x = draw.normal("B T")
        assert torch.equal(draw.laid_out(x), x)


def test_draws_differ_in_size_equality_and_order_in_memory() -> None:
    draws = [Draw(seed) for seed in range(100)]
    for draw in draws:
        draw.sized(T=(2, 6), S=(2, 6))
    assert 20 < sum(draw.sizes["T"] == draw.sizes["S"] for draw in draws) < 80
    contiguous = sum(draw.floats("T S").is_contiguous() for draw in draws)
    assert 20 < contiguous < 80


def test_the_trail_says_what_refuted_a_sentence() -> None:
    softmax = COURSE.exercise("softmax")
    matrices = replace(softmax, build=along_the_first_axis, properties={"shape": 1, "values": 2}, forbids=())
    with trail.kept() as why:
        verdict_on(matrices, lambda x, dim: x.softmax(-1) if dim in (0, -2) else x)
    assert any(line.startswith("softmax__ignores_dim in everything: does something else in a drawn") for line in why)
    with trail.kept() as why:
        verdict_on(doubled, lambda x: 3 * x.abs())
    assert any(line.startswith("“Only a constant factor is off.”: is not so in a drawn case (T = ") for line in why)
    with trail.kept() as why:
        verdict_on(replace(doubled, build=two_widths), lambda x: 2 * x if x.shape == (3, 24) else x.exp())
    assert "“It is right only in the tries with D = 24.”: a drawn case contradicts it, or none confirms it" in why
