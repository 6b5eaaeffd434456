"""What is taken away is gone for one run, and back afterwards."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from anatomy.course.exploring.explorer import Explorer
from anatomy.course.exploring.packing import State
from anatomy.course.exploring.parts import NotExplorable
from anatomy.course.nb09_causal_mask import right as nb09
from anatomy.course.nb10_encoder_decoder import right as nb10
from anatomy.course.nb14_since_gpt_2 import right as nb14
from tests.exploring.models import CLASSES, TEXT, explorer_of, model_of, text_of

pytestmark = pytest.mark.slow

KINDS = list(CLASSES)
WRITING = [kind for kind in KINDS if kind != "encoder"]


def state_of(kind: str, *changes: str) -> State:
    return explorer_of(kind).state(*text_of(kind), list(changes))


def place_of(kind: str) -> str:
    return "encoder" if kind == "encoder" else "decoder"


@pytest.mark.parametrize("kind", WRITING)
def test_without_the_mask_the_future_is_seen(kind: str) -> None:
    before, after = (state_of(kind, *changes).array("decoder.0.self.weights") for changes in ((), ("no-mask",)))
    assert np.triu(before, 1).max() == 0
    assert (np.triu(after, 1).sum(axis=(1, 2)) > 0).all()  # in each head
    assert np.abs(after.sum(-1) - 1).max() < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_scale_weights_are_the_softmax_of_the_scores(kind: str) -> None:
    place = f"{place_of(kind)}.0.self"
    state = state_of(kind, "no-scale")
    scores = torch.from_numpy(state.array(f"{place}.scores").copy())
    if kind != "encoder":
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    assert np.abs(state.array(f"{place}.weights") - scores.softmax(-1).numpy()).max() < 1e-5
    assert np.abs(state.array(f"{place}.scaled") - state.array(f"{place}.scores")).max() < 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_without_positions_equal_tokens_are_alike_where_they_enter(kind: str) -> None:
    text = "abcabc"
    written = "11" if kind == "encoder-decoder" else None
    stack = "decoder" if kind in ("decoder", "modern") else "encoder"
    place = f"{stack}.0.self.turned_query" if kind == "modern" else f"{stack}.embedding.embedded"
    with_positions, without = (
        explorer_of(kind).state(text, written, changes).array(place) for changes in ([], ["no-positions"])
    )
    assert np.abs(without[..., :3, :] - without[..., 3:, :]).max() < 1e-3
    assert np.abs(with_positions[..., :3, :] - with_positions[..., 3:, :]).max() > 1e-2


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_layer_its_input_goes_on(kind: str) -> None:
    stack = place_of(kind)
    state = state_of(kind, f"layer-off:{stack}.0")
    entered = state.array(f"{stack}.embedding.embedded")
    first = "norm" if kind in ("decoder", "modern") else "query"
    expected = state_of(kind).array(f"{stack}.0.self.{first}")
    if kind in ("decoder", "modern"):  # the next layer's norm gets what entered
        model = model_of(kind)
        norm = model.blocks[1].layer_norm_1 if kind == "decoder" else model.blocks[1].rms_norm_1
        with torch.no_grad():
            expected = norm(torch.from_numpy(entered.astype("f4"))).numpy()
        assert np.abs(state.array(f"{stack}.1.self.norm") - expected).max() < 2e-2
    else:
        model = model_of(kind)
        layers = model.layers if kind == "encoder" else model.decoder_layers
        with torch.no_grad():
            expected = layers[1].attention.q(torch.from_numpy(entered.astype("f4"))).unflatten(-1, (3, -1))
        assert np.abs(state.array(f"{stack}.1.self.query") - expected.transpose(0, 1).numpy()).max() < 2e-2


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_head_nothing_of_it_is_projected(kind: str) -> None:
    place = f"{place_of(kind)}.1.self"
    state = state_of(kind, f"head-off:{place}.2")
    explorer = explorer_of(kind)
    attention = next(one for layer in explorer.parts.layers for one in layer.attentions if one.place == place)
    joined = torch.from_numpy(state.array(f"{place}.joined").astype("f4")).clone()
    width = explorer.parts.sizes["K"]
    joined[:, 2 * width : 3 * width] = 0
    with torch.no_grad():
        expected = attention.module.output_linear(joined).numpy()
    assert np.abs(state.array(f"{place}.projected") - expected).max() < 2e-2 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["self", "feed_forward"])
def test_without_a_skip_connection_only_the_result_goes_on(kind: str, part: str) -> None:
    place = f"{place_of(kind)}.0.{part}"
    state = state_of(kind, f"no-skip:{place}")
    result = state.array(f"{place}.{'projected' if part == 'self' else 'residual'}")
    if part == "self":
        assert np.abs(state.array(f"{place}.residual") - result).max() < 2e-2 * max(1, np.abs(result).max())
    usual = state_of(kind).array(f"{place}.residual")
    assert np.abs(state.array(f"{place}.residual") - usual).max() > 1e-2


@pytest.mark.parametrize("kind", KINDS)
def test_every_choice_changes_the_result_and_leaves_the_model_as_it_was(kind: str) -> None:
    model = model_of(kind)
    explorer = explorer_of(kind, model)
    stack = place_of(kind)
    last = f"{explorer.parts.stacks[-1].name}.output.{'similarity' if kind == 'encoder' else 'logits'}"
    usual = explorer.state(*text_of(kind)).array(last)
    places = {"skip": f":{stack}.0.self", "head": f":{stack}.0.self.0", "layer": f":{stack}.0", None: ""}
    choices = explorer.choices()
    assert len(choices) == (5 if kind == "encoder" else 6) and all(one["exercise"] for one in choices)
    for one in choices:
        if kind == "encoder-decoder" and one["id"] == "no-mask":
            continue  # with random weights it may not reach the last position
        changed = explorer.state(*text_of(kind), [one["id"] + places[one["of"]]]).array(last)
        assert np.abs(changed - usual).max() > 1e-4, one["id"]
        assert np.array_equal(explorer.state(*text_of(kind)).array(last), usual)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize(
    ("change", "says"),
    [("no-such", "no change"), ("layer-off:decoder.7", "no layer"), ("head-off:decoder.0.self.9", "heads 0 to 2"),
     ("head-off:decoder.0.self.²", "heads 0 to 2"), ("head-off", "no attention"), ("layer-off", "no layer"),
     ("head-off:decoder.0.cross.0", "no attention"), ("no-skip:decoder.0.cross", "no skip connection")],
)  # fmt: skip
def test_what_is_not_there_is_said(change: str, says: str) -> None:
    with pytest.raises(NotExplorable, match=says):
        state_of("decoder", change)


def outputs(explorer: Explorer, kind: str = "decoder") -> Tensor:
    """What the model gives by itself."""
    text, written = text_of(kind)
    ids = [torch.tensor([explorer.words.ids(text)])]
    if written is not None:
        ids.append(torch.tensor([explorer.words.ids(written)]))
    with torch.no_grad():
        return explorer.parts.model.eval()(*ids)


def first_weights(explorer: Explorer, *, scaled: bool = True, masked: bool = True) -> np.ndarray:
    """The weights of the small GPT's first layer, computed here from its own layers."""
    model: Any = explorer.parts.model.eval()
    ids = torch.tensor(explorer.words.ids(TEXT))
    with torch.no_grad():
        x = model.token_embeddings(ids) + model.position_embeddings(torch.arange(len(ids)))
        attention, x = model.blocks[0].attention, model.blocks[0].layer_norm_1(x)
        query, key = (layer(x).unflatten(-1, (3, -1)).transpose(0, 1) for layer in (attention.q, attention.k))
        scores = query @ key.transpose(-2, -1) / (math.sqrt(query.shape[-1]) if scaled else 1)  # (H, T, T)
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
        return (scores.masked_fill(hidden, -torch.inf) if masked else scores).softmax(-1).numpy()


def test_changes_add_up() -> None:
    explorer = explorer_of("decoder")
    for change, how in {"no-mask": {"masked": False}, "no-scale": {"scaled": False}}.items():
        found = explorer.state(TEXT, None, [change]).array("decoder.0.self.weights")
        np.testing.assert_allclose(found, first_weights(explorer, **how), rtol=1e-3, atol=1e-6)
    both = explorer.state(TEXT, None, ["no-mask", "no-scale"]).array("decoder.0.self.weights")
    np.testing.assert_allclose(both, first_weights(explorer, masked=False, scaled=False), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_scale_queries_keys_and_scores_are_shown_as_they_are(kind: str) -> None:
    plain, changed = state_of(kind), state_of(kind, "no-scale")
    shown = [name for name in plain.header["arrays"] if f"{place_of(kind)}.0.self." in name]
    for name in shown:
        if name.rsplit(".", 1)[-1] in ("query", "key", "turned_query", "turned_key", "scores", "value"):
            np.testing.assert_array_equal(plain.array(name), changed.array(name), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_that_is_off_keeps_its_weights_and_adds_nothing(kind: str) -> None:
    place = f"{place_of(kind)}.0.self"
    plain, changed = state_of(kind), state_of(kind, f"head-off:{place}.1")
    for step in ("scores", "weights", "mixed"):
        np.testing.assert_array_equal(changed.array(f"{place}.{step}"), plain.array(f"{place}.{step}"))
    heads, length, width = plain.array(f"{place}.mixed").shape
    before, after = (state.array(f"{place}.joined").reshape(length, heads, width) for state in (plain, changed))
    assert (after[:, 1] == 0).all() and (before[:, 1] != 0).any()
    np.testing.assert_array_equal(np.delete(after, 1, axis=1), np.delete(before, 1, axis=1))


@pytest.mark.parametrize(("kind", "place"), [
    ("decoder", "decoder.1.self"), ("decoder", "decoder.0.feed_forward"), ("modern", "decoder.0.self"),
    ("encoder", "encoder.0.self"), ("encoder", "encoder.1.feed_forward"), ("encoder-decoder", "decoder.0.cross"),
])  # fmt: skip
def test_without_a_skip_connection_the_residual_is_what_the_part_gave(kind: str, place: str) -> None:
    plain, changed = state_of(kind), state_of(kind, f"no-skip:{place}")
    result = f"{place}.{'feed_forward' if place.endswith('feed_forward') else 'projected'}"
    gave = plain.array(result).astype("f4")
    np.testing.assert_array_equal(changed.array(result), plain.array(result))
    np.testing.assert_allclose(changed.array(f"{place}.residual").astype("f4"), gave, atol=2e-2, rtol=2e-3)
    assert np.abs(plain.array(f"{place}.residual").astype("f4") - gave).max() > 0.1


class OwnMask(nb09.CausalSelfAttention):
    """An attention that asks for no `causal_mask`."""

    def forward(self, x: Tensor) -> Tensor:
        parts = (layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for layer in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(*parts, is_causal=True)
        return self.output_linear(mixed.transpose(1, 2).flatten(2))


def test_a_mask_that_is_made_inside_is_taken_away_as_well() -> None:
    model: Any = model_of("decoder")
    for block in model.blocks:
        block.attention.__class__ = OwnMask
    explorer = explorer_of("decoder", model)
    found = explorer.state(TEXT, None, ["no-mask"]).array("decoder.0.self.weights")
    np.testing.assert_allclose(found, first_weights(explorer, masked=False), rtol=1e-3, atol=1e-6)
    assert np.triu(explorer.state(TEXT).array("decoder.0.self.weights"), 1).max() == 0


CHANGES = ["no-mask", "no-scale", "no-positions", "no-skip:decoder.0.self", "head-off:decoder.0.self.0",
           "layer-off:decoder.0"]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_refused_leaves_nothing_behind(change: str) -> None:
    explorer = explorer_of("decoder")
    before, mask = outputs(explorer), nb09.causal_mask
    with pytest.raises(NotExplorable, match="no change"):
        explorer.state(TEXT, None, [change, "no-such"])
    assert torch.equal(outputs(explorer), before) and nb09.causal_mask is mask


@pytest.mark.parametrize("change", CHANGES)
def test_after_an_error_in_the_models_code_all_is_as_before(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explorer_of("decoder")
    before, mask = outputs(explorer), nb09.causal_mask

    def stops(self: Any, x: Tensor) -> Tensor:
        raise RuntimeError("a mistake")

    explorer.parts.model.train()
    with monkeypatch.context() as patch:
        patch.setattr(nb09.FeedForward, "forward", stops)
        with pytest.raises(RuntimeError, match="a mistake"):
            explorer.state(TEXT, None, [change])
    assert all(module.training for module in explorer.parts.model.modules())
    assert nb09.causal_mask is mask
    assert torch.equal(outputs(explorer), before)


def test_names_that_are_replaced_for_a_run_come_back() -> None:
    names = [(nb09, "causal_mask"), (nb10, "sinusoidal_encoding"), (nb14, "half_split_rotary"), (nb14, "causal_mask")]
    before = [getattr(*name) for name in names]
    for kind in KINDS:
        state_of(kind, "no-positions", "no-scale", *(["no-mask"] if kind in WRITING else []))
    assert before == [getattr(*name) for name in names]
