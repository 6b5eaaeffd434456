"""Two edits of one expression, made at once."""

from __future__ import annotations

import pytest

from anatomy.engine.nested_edits import Edit, one_inside_the_other

SOURCE = 'def rows(ids, weight):\n    """Größe."""\n    return weight[ids]\n'


def edit(old: str, new: str) -> Edit:
    return Edit(start := SOURCE.index(old), start + len(old), new)


def made_of(*edits: Edit) -> str:
    text = SOURCE
    for one in sorted(edits, key=lambda one: -one.start):
        text = text[: one.start] + one.new + text[one.end :]
    return text


MASKED = edit("weight[ids]", "weight[ids].masked_fill(ids == 0, 0)")


@pytest.mark.parametrize(
    "other, before, after",
    [
        (
            edit("weight[ids]", "weight[ids] * 2"),
            "(weight[ids] * 2).masked_fill(ids == 0, 0)",
            "weight[ids].masked_fill(ids == 0, 0) * 2",
        ),
        (
            edit("return weight", "return 2 * weight"),
            "(2 * weight[ids]).masked_fill(ids == 0, 0)",
            "2 * weight[ids].masked_fill(ids == 0, 0)",
        ),
        (edit("[ids]", "[ids - 1]"), *2 * ["weight[ids - 1].masked_fill(ids == 0, 0)"]),
    ],
)
def test_one_does_something_with_what_the_other_makes(other: Edit, before: str, after: str) -> None:
    """The first of the two goes around the second, if it can."""
    for pair, both in (((MASKED, other), before), ((other, MASKED), after)):
        assert made_of(*one_inside_the_other(SOURCE, *([one] for one in pair))).endswith(f"return {both}\n")


@pytest.mark.parametrize(
    "other",
    [
        edit("weight[ids]", "ids[weight]"),
        edit("    return weight", "    weight = weight.T\n    return weight"),
    ],
)
def test_where_neither_keeps_what_the_other_changes_there_is_nothing(other: Edit) -> None:
    replaced = edit("weight[ids]", "torch.take(weight, ids)")
    assert one_inside_the_other(SOURCE, [replaced], [other]) == ()


def test_edits_elsewhere_stay_as_they_are() -> None:
    elsewhere, double = edit("ids, weight)", "ids, weight, *_)"), edit("weight[ids]", "weight[ids] * 2")
    made = made_of(*one_inside_the_other(SOURCE, [elsewhere, MASKED], [double]))
    assert made.startswith("def rows(ids, weight, *_)") and "(weight[ids] * 2).masked_fill" in made
