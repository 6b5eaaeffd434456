"""The picture of a card: which matrix is drawn, along which axes, and what is said below it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from anatomy.engine.cards import as_html, as_text, matrices
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Diagnosis, Example, MatrixPair, Verdict
from anatomy.engine.observing.observe import observe
from tests.small_course import SmallCourse

SMALL = SmallCourse(ANSWERS := dict[str, Any]())


@SMALL.asks(properties={"shape": 1, "values": 1})
def shares(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=3, S=4)
    yield draw.case(x=draw.normal("B T S"), dim=1)


ANSWERS["shares"] = lambda x, dim: x.exp() / x.exp().sum(dim, keepdim=True)


def picture(answer: Any) -> MatrixPair:
    drawn = judge(shares, observe(shares, answer)).picture
    assert drawn is not None
    return drawn


def test_a_row_of_the_picture_runs_along_dim():
    """So a row of shares is one that sums to one, whatever `dim` is."""
    drawn = picture(lambda x, dim: x.softmax(-1))
    assert [sum(row) for row in drawn.expected] == pytest.approx([1.0] * 4)
    assert (drawn.inputs, drawn.label) == ("x (2, 3, 4), dim = 1", "axis 0 at 0")
    assert (drawn.rows, drawn.columns) == ("axis 2", "axis 1, which is dim")


def test_what_is_drawn_is_where_the_answer_is_wrong():
    def second_wrong(x, dim):
        return torch.stack([x[0].softmax(0), 2 * x[1].softmax(0)])

    assert picture(second_wrong).label == "axis 0 at 1"


def pair(found: list[list[float]], expected: list[list[float]]) -> MatrixPair:
    return MatrixPair(expected, found, "", "", "")


def test_the_rows_in_words_are_those_that_differ():
    drawn = pair([[0.5, 0.5], [0.25, 0.0]], [[0.5, 0.5], [0.25, 0.75]])
    assert matrices.as_text(drawn) == "expected\n  row 1:  0.25, 0.75\nyours\n  row 1:  0.25, 0"
    assert "Row 1, expected: 0.25, 0.75; yours: 0.25, 0." in matrices.as_html(drawn)
    assert "-0" not in matrices.as_text(pair([[-0.0, 1.0]], [[0.0, 2.0]]))


def test_a_row_is_said_from_where_it_differs_and_with_the_digits_that_show_it():
    far = matrices.as_text(pair([[1.0] * 9 + [2.0]], [[1.0] * 10]))
    assert far == "expected\n  row 0:  …, 1\nyours\n  row 0:  …, 2"
    near = matrices.as_text(pair([[0.5, 0.50004]], [[0.5, 0.5]]))
    assert near == "expected\n  row 0:  0.5, 0.5\nyours\n  row 0:  0.5, 0.50004"


def test_colors_are_explained_as_they_are_used():
    shares = matrices.as_html(pair([[0.5, 0.5]], [[1.0, 0.0]]))
    assert "0 has no color, 1 is full blue." in shares and "orange" not in shares
    assert shares.count("anatomy-themed") == 2
    assert "orange negative, full color ±1." in matrices.as_html(pair([[0.5, -0.5]], [[1.0, 0.0]]))


def test_what_is_no_finite_number_says_so():
    drawn = pair([[math.nan, -math.inf, math.inf]], [[1.0, 0.0, 0.0]])
    shown = matrices.as_html(drawn)
    assert ">×</td>" in shown and ">−∞</td>" in shown and ">∞</td>" in shown
    assert "A cell with × holds NaN." in shown and "yours: NaN, −∞, ∞." in shown
    assert matrices.as_text(drawn).endswith("row 0:  NaN, −∞, ∞")


def test_beside_the_smallest_example_stands_no_other_input():
    spots = Diagnosis("Values differ: at [0, 0].", is_example=True)
    cause, example = Diagnosis("Line 3 is wrong."), Example("f(2)", "4", "5")
    drawn = pair([[0.5, 0.5]], [[1.0, 0.0]])
    verdict = Verdict("f", "wrong", (), (spots, cause), drawn)
    with_example = Verdict("f", "wrong", (), (spots, cause), drawn, example=example)
    for shown in (as_text, as_html):
        assert "Values differ" in shown(verdict) and "row 0" in shown(verdict).lower()
        assert "Values differ" not in shown(with_example) and "row 0" not in shown(with_example).lower()
        assert "Line 3 is wrong." in shown(with_example) and "f(2)" in shown(with_example)
    alone = Verdict("f", "wrong", (), (spots,), example=example)
    assert as_text(alone).startswith("Values differ")
