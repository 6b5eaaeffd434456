"""Queries, keys and weights as a model computes them, whatever model it is; and the neuron view that draws them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    AlbertConfig,
    AlbertModel,
    BartConfig,
    BartModel,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    LlamaModel,
    MistralConfig,
    MistralModel,
    Qwen2Config,
    Qwen2Model,
    Qwen3Config,
    Qwen3Model,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5EncoderModel,
)

from anatomy.classroom.grading.feedback.sanitize import clean
from anatomy.course.nb09_causal_mask.right import GPT
from anatomy.course.nb10_encoder_decoder.right import Transformer
from anatomy.course.nb14_since_gpt_2.right import Llama
from anatomy.course.views import head_view, neuron_view, record_attention
from tests.views.inside_views import params, script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = "time flies"
NUMBER_OF = {symbol: number for number, symbol in enumerate(sorted(set(TEXT)))}
IDS = torch.tensor([[NUMBER_OF[symbol] for symbol in TEXT]])
WIDE = {"initializer_range": 0.7}  # so that weights are far from even
ENCODER = {
    "vocab_size": 20,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 32,
}
GROUPED = {**ENCODER, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8, "num_hidden_layers": 2}
DECODER = dict(vocab_size=20, n_positions=16, n_embd=24, n_layer=2, n_head=3, bos_token_id=None, eos_token_id=None)


def built(kind: type, config: Any, attention: str = "eager") -> nn.Module:
    torch.manual_seed(0)
    return kind._from_config(config, attn_implementation=attention).eval()  # type: ignore[attr-defined, no-any-return]


def bert(attention: str = "eager") -> nn.Module:
    return built(BertModel, BertConfig(**ENCODER, **WIDE), attention)


def gpt() -> GPT:
    torch.manual_seed(0)
    model = GPT(GPT2Config(**DECODER)).eval()
    for parameter in model.parameters():
        parameter.data *= 3
    return model


def bart_model() -> nn.Module:
    sizes = dict(d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=3)
    return built(BartModel, BartConfig(vocab_size=20, encoder_ffn_dim=32, decoder_ffn_dim=32, **sizes))


def t5_encoder() -> nn.Module:
    return built(T5EncoderModel, T5Config(vocab_size=20, d_model=24, d_kv=8, num_layers=1, num_heads=3))


def large() -> nn.Module:
    sizes = {**ENCODER, "hidden_size": 512, "num_hidden_layers": 6, "num_attention_heads": 8}
    return built(BertModel, BertConfig(**sizes))


LIBRARY = {
    "BERT": bert,
    "RoBERTa": lambda: built(RobertaModel, RobertaConfig(**ENCODER, **WIDE)),
    "DistilBERT": lambda: built(
        DistilBertModel, DistilBertConfig(vocab_size=20, dim=24, n_layers=2, n_heads=3, hidden_dim=32, **WIDE)
    ),
    "ALBERT": lambda: built(AlbertModel, AlbertConfig(**ENCODER, embedding_size=8, **WIDE)),  # one layer, run twice
    "GPT-2": lambda: built(GPT2Model, GPT2Config(**DECODER, **WIDE)),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_the_weights_are_those_that_the_library_returns(name: str) -> None:
    model = LIBRARY[name]()
    with torch.no_grad():
        wanted = model(IDS, output_attentions=True).attentions
    found = record_attention(model, IDS)
    assert [one.causal for one in found] == [name == "GPT-2"] * 2
    for one, right in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.weights.float(), right, atol=1e-5, rtol=0)
        scores = one.query @ one.key.transpose(-2, -1) / 8**0.5
        if not one.causal:
            torch.testing.assert_close(scores.softmax(-1), one.weights)
    with torch.no_grad():
        assert not model(IDS)[0].isnan().any() and not list(model.modules())[-1]._forward_hooks


def test_queries_and_keys_are_those_of_bertviz_s_own_bert() -> None:
    from bertviz.transformers_neuron_view import BertConfig as OldConfig
    from bertviz.transformers_neuron_view import BertModel as OldBert

    model = bert()
    old = OldBert(OldConfig.from_dict({**model.config.to_dict(), "output_attentions": True}))  # type: ignore[union-attr, operator]
    old.load_state_dict(model.state_dict(), strict=False)
    with torch.no_grad():
        theirs = old.eval()(IDS)[-1]
    for one, layer in zip(record_attention(model, IDS), theirs, strict=True):
        for mine, other in ((one.query, "queries"), (one.key, "keys"), (one.weights, "attn")):
            torch.testing.assert_close(mine.float(), layer[other], atol=1e-5, rtol=1e-5)


def llama(base: float = 100.0) -> Llama:
    torch.manual_seed(0)
    rope = {"rope_theta": base, "rope_type": "default"}
    model = Llama(LlamaConfig(**GROUPED, rope_parameters=rope, tie_word_embeddings=False)).eval()
    for parameter in model.parameters():
        parameter.data *= 3
    return model


TURNED = {
    "Llama": (LlamaModel, LlamaConfig, {"rope_parameters": {"rope_theta": 100.0, "rope_type": "default"}}, None),
    "one group": (LlamaModel, LlamaConfig, {"num_key_value_heads": 1}, None),
    "Qwen2": (Qwen2Model, Qwen2Config, {}, None),  # with biases
    "Mistral": (MistralModel, MistralConfig, {"sliding_window": 4}, 4),
}


@pytest.mark.parametrize("name", TURNED)
@pytest.mark.parametrize("loaded", ["eager", "sdpa"])
def test_grouped_queries_with_rotary_positions_are_those_of_the_library(name: str, loaded: str) -> None:
    kind, config, more, window = TURNED[name]
    wide = {**GROUPED, **WIDE, **more}
    with torch.no_grad():
        wanted = built(kind, config(**wide))(IDS, output_attentions=True).attentions
    found = record_attention(built(kind, config(**wide), loaded), IDS)
    for one, right in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.weights.float(), right, atol=1e-5, rtol=0)
        assert (one.causal, one.window) == (True, window) and one.query.shape == one.key.shape == (1, 6, 10, 8)
        scores = one.query @ one.key.transpose(-2, -1) / 8**0.5
        torch.testing.assert_close(scores.masked_fill(right == 0, -torch.inf).softmax(-1), one.weights)


def test_one_s_own_llama_is_recorded_as_it_attends_and_drawn() -> None:
    model = llama()
    found = record_attention(model, IDS)
    with torch.no_grad():
        first = model.blocks[0]
        x = first.rms_norm_1(model.token_embeddings(IDS))
        values = first.attention.v(x).unflatten(-1, (2, -1)).transpose(1, 2).repeat_interleave(3, dim=1)
        context = (found[0].weights.float() @ values).transpose(1, 2).flatten(2)
        torch.testing.assert_close(first.attention.output_linear(context), first.attention(x), atol=1e-4, rtol=1e-4)
    assert "10 tokens (t i m e ␣ f l i e s)" in head_view([one.weights for one in found], list(TEXT)).words
    other = record_attention(llama(base=1e4), IDS)
    assert float((found[0].weights - other[0].weights).abs().max()) > 0.01  # the rotation is in the weights


def test_it_does_not_matter_how_the_model_was_loaded() -> None:
    for one, other in zip(record_attention(bert(), IDS), record_attention(bert("sdpa"), IDS), strict=True):
        torch.testing.assert_close(one.weights, other.weights, atol=1e-5, rtol=0)


def test_a_model_of_one_s_own_is_recorded_and_drawn() -> None:
    found = record_attention(gpt(), IDS)
    assert [one.name for one in found] == ["blocks.0.attention", "blocks.1.attention"]
    assert all(one.causal and bool((one.weights.triu(1) == 0).all()) for one in found)
    assert "10 tokens (t i m e ␣ f l i e s)" in head_view([one.weights for one in found], list(TEXT)).words


def test_an_encoder_decoder_is_recorded_with_its_cross_attention() -> None:
    torch.manual_seed(0)
    ours = Transformer(BertConfig(**ENCODER, pad_token_id=19)).eval()
    bart = bart_model()
    names = []
    for model, inputs in ((ours, {"target": IDS[:, :4]}), (bart, {"decoder_input_ids": IDS[:, :4]})):
        found = record_attention(model, IDS, **inputs)
        sizes = [(tuple(one.weights.shape[1:]), one.causal) for one in found]
        assert sizes == [((3, 10, 10), False)] * 2 + [((3, 4, 4), True), ((3, 4, 10), False)] * 2
        names.append([one.name for one in found])
    assert names[0][2:4] == ["decoder_layers.0.attention", "decoder_layers.0.cross_attention"]
    with torch.no_grad():
        wanted = bart(IDS, decoder_input_ids=IDS[:, :4], output_attentions=True).cross_attentions
    torch.testing.assert_close(found[3].weights.float(), wanted[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("run", "remedy"),
    [
        (lambda: record_attention(bert().train(), IDS), r"model.eval\(\)"),
        (lambda: record_attention(bert(), IDS.repeat(2, 1)), "2 sentences at once"),
        (lambda: record_attention(bert(), IDS, attention_mask=(IDS > 1).long()), "padding"),
        (lambda: record_attention(nn.Embedding(20, 4).eval(), IDS), "No attention was found in Embedding"),
        (lambda: record_attention(t5_encoder(), IDS), "relative"),
        (lambda: record_attention(built(Qwen3Model, Qwen3Config(**GROUPED, **WIDE)), IDS), "another kind"),
    ],
)
def test_what_it_cannot_read_is_refused(run, remedy: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=remedy):
        run()


def test_the_view_has_what_the_model_computed() -> None:
    view = neuron_view(gpt(), NUMBER_OF, TEXT, layer=1, head=2)
    found = params(view)
    (shown,) = found["attention"]
    recorded = record_attention(gpt(), IDS)
    for name, part, digits in (("queries", "query", 3), ("keys", "key", 3), ("attn", "weights", 4)):
        wanted = torch.cat([getattr(one, part) for one in recorded])
        torch.testing.assert_close(torch.tensor(shown[name]).double(), wanted, atol=0.51 * 10**-digits, rtol=0)
    assert (found["layer"], found["head"], found["layers"], found["bidirectional"]) == (1, 2, [0, 1], False)
    assert shown["left_text"] == shown["right_text"] == list("time␣flies")
    assert script(view).count('"queries":') == 1
    assert params(neuron_view(gpt(), NUMBER_OF, TEXT, layers=[1]))["layers"] == [1]


def test_two_sentences_start_where_the_tokenizer_says(checkpoint: Any) -> None:
    view = neuron_view(checkpoint.model, checkpoint.tokenizer, "Time flies.", "Fruit flies.", layers=[0], head=2)
    found = params(view)
    assert found["sentence_b_start"] == 5 and found["bidirectional"]
    assert found["attention"][0]["left_text"] == [
        "[CLS]",
        "time",
        "flies",
        ".",
        "[SEP]",
        "fruit",
        "flies",
        ".",
        "[SEP]",
    ]
    with torch.no_grad():
        encoded = checkpoint.tokenizer("Time flies.", "Fruit flies.", return_tensors="pt")
        wanted: Tensor = checkpoint.model(**encoded, output_attentions=True).attentions[0]
    torch.testing.assert_close(torch.tensor(found["attention"][0]["attn"]), wanted, atol=6e-5, rtol=0)
    assert params(neuron_view(bert(), NUMBER_OF, "time", "flies"))["sentence_b_start"] == 4


@pytest.fixture(scope="module")
def checkpoint() -> Any:
    from anatomy.course.checkpoints import load_checkpoint

    return load_checkpoint()


def test_without_frames_one_head_is_pictures_and_a_table() -> None:
    view = neuron_view(gpt(), NUMBER_OF, TEXT, layer=1, head=2)
    left = clean(view.html())
    assert "iframe" not in left and "atob" not in left and len(left) < 120_000
    assert "<summary>Layer 1, head 2 as still pictures and a table</summary>" in left
    assert re.findall(r'<img alt="Heat map “(\w+) of layer 1, head 2”', left) == ["Queries", "Weights"]
    one = record_attention(gpt(), IDS)[1]
    t = 6
    s = int(one.weights[0, 2, t].argmax())
    products = one.query[0, 2, t] * one.key[0, 2, s]
    row = re.search(rf'<tr><th scope="row">l \({t}\)</th>(.*?)</tr>', left)
    assert row and f"<td>{TEXT[s]} ({s})</td>".replace("> (", ">␣ (") in row[1]
    assert f"(neuron {int(products.abs().argmax())})" in row[1]
    assert f"{float(products.sum()) / 8**0.5:.3g}".replace("-", "−") in row[1]


@pytest.mark.parametrize(
    ("draw", "remedy"),
    [
        (lambda: neuron_view(gpt(), NUMBER_OF, ""), "empty sentence"),
        (lambda: neuron_view(gpt(), NUMBER_OF, "time", "flies"), "pass both sentences as one"),
        (lambda: neuron_view(gpt(), NUMBER_OF, "tz"), "'z' is not in the vocabulary"),
        (lambda: neuron_view(gpt(), NUMBER_OF, TEXT, layer=2), "layer: there is no 2"),
        (lambda: neuron_view(gpt(), NUMBER_OF, TEXT, layer=0, layers=[1]), r"not among layers=\[1\]"),
        (lambda: neuron_view(gpt(), NUMBER_OF, TEXT, head=3), "head: there is no 3"),
        (lambda: neuron_view(gpt().train(), NUMBER_OF, TEXT), r"model.eval\(\)"),
        (lambda: neuron_view(bart_model(), NUMBER_OF, TEXT), "model.encoder"),
        (lambda: neuron_view(large(), NUMBER_OF, TEXT * 10), r"layers=\[0, 1\]"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(draw, remedy: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=remedy):
        draw()
