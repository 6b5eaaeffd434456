"""The model view: all heads of all layers, each number once, with a picture and a table; and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from anatomy.classroom.grading.feedback.sanitize import clean
from anatomy.course.views import model_view
from tests.views.inside_views import SOURCE, TARGET, TOKENS, params, script, weights

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_every_head_of_every_layer_is_there_once_and_rounded() -> None:
    together = weights()
    view = model_view(tuple(together[:, None]), TOKENS)
    (shown,) = params(view)["attention"]
    torch.testing.assert_close(torch.tensor(shown["attn"]), together, atol=5.1e-5, rtol=0)
    assert shown["left_text"] == shown["right_text"] == TOKENS
    assert script(view).count('"attn":') == 1
    assert len(model_view(weights(12, 12, 15), TOKENS + TOKENS + ["x"]).page) < 320_000


def test_some_layers_and_heads_keep_their_numbers() -> None:
    view = model_view(weights(), TOKENS, layers=[2, 0], heads=[3])
    found = params(view)
    assert (found["include_layers"], found["include_heads"]) == ([2, 0], [3])
    torch.testing.assert_close(
        torch.tensor(found["attention"][0]["attn"]), weights()[[2, 0]][:, [3]], atol=1e-4, rtol=0
    )
    assert re.findall(r'scope="(?:row|col)">([^<]+)<', view.still) == ["layer 2", "layer 0", "head 3"]


def test_without_frames_the_same_is_a_picture_and_a_table() -> None:
    sharp = weights()
    sharp[1, 2] = torch.eye(7).roll(-1, 1)  # token t looks at t − 1, the first one at the last
    left = clean(model_view(sharp, TOKENS).html())
    assert "iframe" not in left and "atob" not in left and len(left) < 120_000
    alt = re.search(r'<img alt="([^"]+)"', left)
    assert alt and "Grid of 3 by 4 small heat maps" in alt[1] and "queries): layer 1, head 2 (1.00);" in alt[1]
    assert "<td>token before 86%</td>" in left


def test_an_encoder_decoder_and_a_pair_of_sentences() -> None:
    cross = {"cross_attention": weights(2, 4, 4, keys=3), "encoder_tokens": SOURCE, "decoder_tokens": TARGET}
    view = model_view(**cross, decoder_attention=weights(2, 4, 4))  # type: ignore[arg-type]
    assert [part["name"] for part in params(view)["attention"]] == ["Decoder", "Cross"]
    assert view.still.count("<img ") == view.still.count("<table ") == 2
    assert "Attention: <select" in view.page and "Attention: <select" not in model_view(weights(), TOKENS).page
    assert params(model_view(weights(), TOKENS, sentence_b_start=4))["sentence_b_start"] == 4


@pytest.mark.parametrize(
    ("draw", "remedy"),
    [
        (lambda: model_view(None, TOKENS), "eager"),
        (lambda: model_view((), TOKENS), "eager"),
        (lambda: model_view(cross_attention=(None,), encoder_tokens=SOURCE, decoder_tokens=TARGET), "eager"),
        (lambda: model_view(weights()), "tokens: pass a list"),
        (lambda: model_view(weights(), TOKENS[1:]), "6 tokens for attentions over 7"),
        (lambda: model_view(weights(), TOKENS, layers=[3]), "layers: there is no 3"),
        (lambda: model_view(weights(), TOKENS, heads=[]), "at least one head"),
        (lambda: model_view(weights(), TOKENS, sentence_b_start=0), "tokens 1 to 6"),
        (lambda: model_view(torch.ones(4, 12, 64, 64) / 64, ["x"] * 64), "name some layers or heads"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(draw, remedy: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=remedy):
        draw()
