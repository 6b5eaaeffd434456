"""The head view: everything it needs is inside, the same twice, with words, and it refuses what it can't draw."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel

from anatomy.classroom.grading.feedback.sanitize import clean
from anatomy.course.views import head_view
from anatomy.course.views.bertviz import FramedView
from anatomy.course.views.bertviz.libraries import library
from anatomy.course.views.style import THEMES
from tests.views.inside_views import SOURCE, TARGET, TOKENS, params, script, weights

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def usual() -> FramedView:
    return head_view(weights(), TOKENS)


def test_a_tuple_of_layers_and_one_tensor_are_the_same(usual: FramedView) -> None:
    assert head_view(tuple(weights()[:, None]), TOKENS).html() == usual.html()


def test_the_data_are_there_once_and_rounded() -> None:
    together = weights()
    view = head_view(together, TOKENS, layer=1, heads=[0, 2])
    found = params(view)
    (shown,) = found["attention"]
    torch.testing.assert_close(torch.tensor(shown["attn"]), together, atol=5.1e-5, rtol=0)
    assert all(len(number) <= 6 for number in re.findall(r"0\.\d+", json.dumps(shown["attn"])))
    assert shown["left_text"] == shown["right_text"] == TOKENS
    assert (found["layer"], found["heads"], found["root_div_id"]) == (1, [0, 2], "bertviz")
    assert script(view).count('"attn":') == 1, "BertViz repeats it in a comment"


def test_two_sentences_can_be_told_apart_and_their_numbers_are_there_once() -> None:
    view = head_view(weights(), TOKENS, sentence_b_start=3)
    found = params(view)
    assert found["sentence_b_start"] == 3 and len(found["attention"]) == 1, "the frame cuts the whole"
    assert view.page.count("Sentence A -&gt; Sentence B</option>") == 1


def test_an_encoder_decoder_has_three_parts() -> None:
    encoder, decoder, cross = weights(2, 4, 3), weights(2, 4, 4).tril(), weights(2, 4, 4, keys=3)
    cross[0, 0] = torch.tensor([0.0, 0.9, 0.1])
    given = {"cross_attention": list(cross[:, None]), "encoder_tokens": SOURCE, "decoder_tokens": TARGET}
    alone = head_view(**given)
    (shown,) = params(alone)["attention"]
    assert (shown["name"], shown["left_text"], shown["right_text"]) == ("Cross", TARGET, SOURCE)
    assert "head 0 mostly “flies” (90%)" in alone.words and "<td>flies (1) 90%</td>" in alone.still
    assert "itself" not in alone.words + alone.still and "token before" not in alone.still
    together = head_view(**given, encoder_attention=encoder, decoder_attention=decoder)
    assert [part["name"] for part in params(together)["attention"]] == ["Encoder", "Decoder", "Cross"]
    assert together.still.count("<img ") == 3 and together.still.count("<table ") == 6
    for wrong, remedy in (
        ({"encoder_attention": weights(2, 4, 3)}, "encoder_tokens: pass a list"),
        ({**given, "tokens": SOURCE}, "not both"),
        ({**given, "decoder_tokens": SOURCE}, "3 decoder_tokens for attentions over 4 positions"),
        ({**given, "cross_attention": ()}, "eager"),
        ({**given, "encoder_attention": weights(3, 4, 3)}, "differ in layers and heads"),
        ({**given, "sentence_b_start": 1}, "not for an encoder–decoder"),
        ({"encoder_attention": cross, "encoder_tokens": SOURCE}, "cross_attention"),
    ):
        with pytest.raises(ValueError, match=remedy):
            head_view(**wrong)  # type: ignore[arg-type]


def test_it_names_no_address_to_load_from(usual: FramedView) -> None:
    code = script(usual).replace(library("d3"), "").replace(library("jquery"), "")
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\s'\"]+", code)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "<script src" not in usual.page and "<link" not in usual.page and "require.min" not in usual.page
    assert "Apache License 2.0" in usual.page, "the notices travel with the view"


def test_it_is_small() -> None:
    assert len(head_view(weights(6, 12, 15), TOKENS + TOKENS + ["x"]).page) < 320_000


def test_it_shows_itself_as_a_frame_with_words_for_those_who_see_none() -> None:
    view = head_view(weights(), TOKENS, layer=2)
    bundle = view._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/html"].startswith(f'{THEMES}<iframe class="anatomy-themed" title='), "it follows the theme"
    assert bundle["text/plain"].startswith(
        "Head view: attention between 7 tokens ([CLS] time flies like an arrow [SEP])"
    )
    assert "3 layers with 4 heads each" in bundle["text/plain"] and "“Layer 2”" in bundle["text/plain"]
    assert repr(view) == view.words


def test_without_frames_the_same_is_a_picture_and_a_table(usual: FramedView) -> None:
    """Feedback pages, and JupyterLab for notebooks it does not trust, drop the frame and keep the rest."""
    left = clean(usual.html())
    assert "iframe" not in left and "atob" not in left and len(left) < 120_000
    assert "not shown here" in left and "<details>" in left
    assert re.search(r'<img alt="Grid of 4 heat maps[^"]+"[^>]+src="data:image/png;base64,', left)
    assert left.count('<th scope="row">head ') == 4 and left.count('<th scope="col">layer ') == 3


def test_the_table_says_what_a_head_does() -> None:
    length = len(TOKENS)
    after = torch.eye(length).roll(1, 1)  # token t looks at t + 1, the last one at the first
    to_cls = torch.zeros(length, length)
    to_cls[:, 0] = 1.0
    flat = torch.full((length, length), 1 / length)
    repeats = torch.eye(length).roll(3, 0)  # token t looks at t − 3
    still = head_view(torch.stack([after, to_cls, flat, after.T, repeats])[None], TOKENS).still
    cells = re.findall(r"<td>([^<]+)</td>", still[still.rindex("<table") :])
    assert cells == ["token after 86%", "[CLS] (0) 100%", "spread", "token before 86%", "3 tokens before 57%"]
    assert "head 4 mostly 3 tokens before (57%)" in still


def test_a_second_table_says_which_key_each_query_looks_at_most() -> None:
    """In the layer and the heads that the view opens with: also where no head has a habit."""
    sees = weights()
    sees[2, 1] = torch.eye(7)[[3, 6, 0, 2, 1, 5, 4]]
    sees[2, 3] = 1 / 7
    view = head_view(sees, TOKENS, layer=2, heads=[1, 3])
    rows = re.findall(r'<th scope="row">([^<]+)</th><td>([^<]+)</td><td>([^<]+)</td></tr>', view.still)
    assert [one for one, *_ in rows] == [f"{token} ({place})" for place, token in enumerate(TOKENS)]
    assert rows[0][1:] == ("like (3) 1.00", "[CLS] (0) 0.14") and rows[6][1] == "an (4) 1.00"
    assert "Layer 2: query → the key that it looks at most" in view.still and view.still.count("head 1</th>") == 2
    assert rows[0][1] in clean(view.html()), "in notebooks that are not trusted, and on feedback pages"
    long = ["x"] * 31
    assert "the key that it looks at most" not in head_view(weights(1, 1, 31), long).still


def test_tokens_may_hold_anything() -> None:
    odd = ['<b>"', "</script>", "'", "{{PAYLOAD}}", "; // HACK: x", "Ünï\u2028", "ĠPYTHON"]
    view = head_view(weights(), odd)
    shown = params(view)["attention"][0]["left_text"]
    assert shown == [*odd[:6], " PYTHON"], "BertViz shows a tokenizer's Ġ as the blank it is"
    assert view.page.count("</script>") == 1
    srcdoc = re.search(r'srcdoc="([^"]*)"', view.html())
    assert srcdoc and html.unescape(srcdoc[1]) == view.page


def test_the_library_s_default_attention_is_explained() -> None:
    config = BertConfig(vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16)
    model = BertModel._from_config(config, attn_implementation="sdpa").eval()
    with torch.no_grad():
        outputs = model(torch.arange(7)[None], output_attentions=True)
    with pytest.raises(ValueError, match="attn_implementation='eager'"):
        head_view(outputs.attentions, TOKENS)


@pytest.mark.parametrize(
    ("draw", "remedy"),
    [
        (lambda: head_view(None, TOKENS), "eager"),
        (lambda: head_view((), TOKENS), "eager"),
        (lambda: head_view((None, None), TOKENS), "eager"),
        (lambda: head_view(weights()[0], TOKENS), r"attentions\[None\]"),
        (lambda: head_view([weights()[0]], TOKENS), r"layer 0 must be \(1, H, T, T\)"),
        (lambda: head_view([weights(2)], TOKENS), "2 sentences"),
        (lambda: head_view([weights(1), weights(1, 2)], TOKENS), "layers differ in shape"),
        (lambda: head_view(weights()[..., :5], TOKENS), "self-attention"),
        (lambda: head_view(weights().log(), TOKENS), "after the softmax"),
        (lambda: head_view(weights() / 0, TOKENS), "finite"),
        (lambda: head_view(weights() * 3, TOKENS), r"model.eval\(\)"),
        (lambda: head_view(weights(), TOKENS[1:-1]), "5 tokens for attentions over 7 positions"),
        (lambda: head_view(weights(), "flies!!"), "one string"),
        (lambda: head_view(weights(), TOKENS, layer=3), "layer: there is no 3; they are numbered 0 to 2"),
        (lambda: head_view(weights(), TOKENS, heads=[0, 4]), "heads: there is no 4"),
        (lambda: head_view(weights(), TOKENS, heads=[]), "at least one head"),
        (lambda: head_view(weights(), TOKENS, sentence_b_start=7), "tokens 1 to 6"),
        (lambda: head_view(torch.ones(1, 12, 128, 128) / 128, ["x"] * 128), "too many"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(draw, remedy: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=remedy):
        draw()
