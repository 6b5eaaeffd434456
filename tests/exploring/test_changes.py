"""What is taken away is gone for one run, and back afterwards."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from anatomy.course.exploring.packing import State
from anatomy.course.exploring.parts import NotExplorable
from tests.exploring.models import CLASSES, explorer_of, model_of, text_of

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
     ("head-off:decoder.0.cross.0", "no attention"), ("no-skip:decoder.0.cross", "no skip connection")],
)  # fmt: skip
def test_what_is_not_there_is_said(change: str, says: str) -> None:
    with pytest.raises(NotExplorable, match=says):
        state_of("decoder", change)
