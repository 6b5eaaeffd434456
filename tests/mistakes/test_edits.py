"""A mistake is an edit: it is found where it says, composes with others, and goes on from a part to the whole."""

from __future__ import annotations

import pytest
import torch

from anatomy.course import COURSE
from anatomy.course.nb04_heads.right import FusedMultiHeadAttention, split_heads
from anatomy.engine.mistakes import BadEdit, Mistakes, MistakesIn, inherited, pairs


@pytest.fixture
def known() -> Mistakes:
    return Mistakes()


@pytest.fixture
def at(known: Mistakes) -> MistakesIn:
    """Adds mistakes to `split_heads`."""
    return known.mistakes_in(split_heads)


def test_what_is_replaced_must_stand_there_as_often_as_said(at: MistakesIn) -> None:
    with pytest.raises(BadEdit, match="stands 0 times in the right answer, not 1"):
        at("no such text", "values", ("gone", "", "…"))
    with pytest.raises(BadEdit, match="stands 3 times in the right answer, not 1"):
        at("num_heads", "values", ("twice", "n", "…"))
    with pytest.raises(BadEdit, match="overlap"):
        at(("parts.transpose(1, 2)", "transpose(1, 2)"), "values", ("overlapping", ("x", "y"), "…"))
    with pytest.raises(BadEdit, match="1 texts for 2 places"):
        at(("parts.transpose(1, 2)", "width"), "values", ("too_few", "x", "…"))


def test_a_name_is_given_once(at: MistakesIn) -> None:
    with pytest.raises(BadEdit, match="split_heads__not_moved is there already"):
        at("parts.transpose(1, 2)", "shape", ("not_moved", "parts", "…"), ("not_moved", "width", "…"))


def test_the_edited_source_is_what_the_answer_runs(known: Mistakes, at: MistakesIn) -> None:
    at("parts.transpose(1, 2)", "shape", ("not_moved", "parts", "…"), ("zero", "0 * parts", "…", "values"))
    one, other = known["split_heads"].values()
    assert one.name == "split_heads__not_moved" and one.breaks == ("shape",) and other.breaks == ("values",)
    assert "return parts\n" in one.source and "transpose" not in one.source
    assert one.answer(torch.zeros(2, 5, 6), 3).shape == (2, 5, 3, 2)


def test_an_import_that_an_edit_needs_stands_in_its_source(known: Mistakes, at: MistakesIn) -> None:
    at("width // num_heads", "values", ("rooted", "math.isqrt(width)", "…"))
    (one,) = known["split_heads"].values()
    assert one.source.startswith("import math\n")
    assert one.answer(torch.zeros(2, 5, 9), 3).shape == (2, 3, 5, 3)


def test_edits_at_different_places_compose() -> None:
    found = list(pairs(COURSE.exercise("LayerNorm")))
    assert found
    for one, two, both in found[:20]:
        assert both.edits == tuple(sorted((*one.edits, *two.edits), key=lambda edit: edit.start))
        assert both.answer.__name__ == "LayerNorm"


@pytest.mark.parametrize(
    "exercise, one, two, together",
    [
        ("distillation_loss", "alpha_turned", "t_not_squared", "(1 - alpha) * temperature * divergence + alpha * F"),
        ("weighted_values", "first_key_left_out", "divides_by_s", "value[..., 1:, :] / value.size(-2)"),
        ("flies_by_layer", "sentences_first", "without_layer_0", "for hidden in hidden_states[1:]], dim=1)"),
    ],
)
def test_edits_of_one_text_compose_where_they_change_different_words(exercise, one, two, together) -> None:
    known = COURSE.exercise(exercise).mistakes
    ((_, _, both),) = pairs(COURSE.exercise(exercise), [known[f"{exercise}__{name}"] for name in (one, two)])
    assert together in both.source


def test_edits_that_change_the_same_word_do_not_compose() -> None:
    known = COURSE.exercise("masked_attention").mistakes
    assert not [
        *pairs(
            COURSE.exercise("masked_attention"),
            [known[f"masked_attention__over_{axis}"] for axis in ("queries", "axis_1")],
        )
    ]


def test_two_mistakes_of_one_part_are_two_of_the_whole() -> None:
    head = COURSE.exercise("AttentionHead")
    of_parts = {wrong.name: wrong for wrong in inherited(head)}
    part = "AttentionHead__scaled_dot_product_attention__attention_weights"
    ((_, _, both),) = pairs(head, [of_parts[f"{part}__over_queries"], of_parts[f"{part}__unscaled"]])
    assert "softmax(query @ key.transpose(-2, -1), dim=-2)" in both.parts[0].parts[0].source


def test_a_mistake_in_a_part_is_a_mistake_in_the_whole() -> None:
    torch.manual_seed(0)
    of_parts = {wrong.name: wrong for wrong in inherited(COURSE.exercise("FusedMultiHeadAttention"))}
    spoilt = of_parts["FusedMultiHeadAttention__split_heads__interleaved"]
    config = type("Config", (), {"hidden_size": 6, "num_attention_heads": 2})()
    right, wrong = FusedMultiHeadAttention(config), spoilt.answer(config)
    wrong.load_state_dict(right.state_dict())
    x = torch.randn(2, 4, 6)
    assert not torch.allclose(right(x), wrong(x))
    assert spoilt.sentence == COURSE.exercise("split_heads").mistakes["split_heads__interleaved"].sentence


def test_names_are_unique_and_every_mistake_belongs_to_an_exercise() -> None:
    for notebook in COURSE.notebooks:
        for name, wrong in COURSE.mistakes_of(notebook).items():
            assert name == wrong.name and name.startswith(f"{wrong.exercise}__")
            assert wrong.sentence and wrong.breaks
