"""The numbers that a state holds are the model's: compared with hooks, and with the library's own models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from transformers import GPT2LMHeadModel, LlamaForCausalLM

from anatomy.course.assembling.agreement import LLAMA_NAMES
from anatomy.course.checkpoints import load_checkpoint
from anatomy.course.exploring.explorer import Explorer
from anatomy.course.exploring.packing import State, steps_in
from anatomy.course.nb07_encoder.right import TransformerEncoder, load_bert_weights
from anatomy.course.nb09_causal_mask.right import GPT, load_gpt2_weights
from anatomy.course.nb14_since_gpt_2.right import Llama
from tests.exploring.models import CLASSES, GPT_2, LETTERS, LLAMA, TEXT, explorer_of, model_of, text_of

KINDS = list(CLASSES)


def near(found: np.ndarray, expected: torch.Tensor, share: float = 1e-5) -> None:
    expected = expected.detach()
    assert found.shape == tuple(expected.shape)
    assert float(np.abs(found - expected.numpy()).max()) <= share * max(1.0, float(expected.abs().max()))


def test_an_encoder_with_real_weights_has_the_librarys_weights_and_hidden_states() -> None:
    checkpoint = load_checkpoint()
    encoder = TransformerEncoder(checkpoint.config)
    load_bert_weights(encoder, checkpoint.model.state_dict())
    text = "time flies like an arrow"
    state = Explorer(encoder, checkpoint.tokenizer).state(text)
    batch = checkpoint.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        library = checkpoint.model(**batch, output_attentions=True, output_hidden_states=True)
    assert state.header["stacks"][0]["tokens"] == ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]"]
    for layer in range(6):
        near(state.array(f"encoder.{layer}.self.weights"), library.attentions[layer][0])
        near(state.array(f"encoder.{layer}.feed_forward.norm"), library.hidden_states[layer + 1][0], 2e-3)  # two bytes
    last = torch.nn.functional.normalize(library.last_hidden_state[0], dim=-1)
    near(state.array("encoder.output.similarity"), last @ last.T)


def test_a_decoder_has_gpt_2s_weights_and_logits() -> None:
    torch.manual_seed(0)
    library = GPT2LMHeadModel(GPT_2).eval()
    library.set_attn_implementation("eager")
    model = GPT(GPT_2)
    load_gpt2_weights(model, library.state_dict())
    state = Explorer(model, LETTERS).state(TEXT)
    ids = torch.tensor([[LETTERS.index(letter) for letter in TEXT]])
    with torch.no_grad():
        expected = library(ids, output_attentions=True)
    for layer in range(2):
        near(state.array(f"decoder.{layer}.self.weights"), expected.attentions[layer][0])
    near(state.array("decoder.output.logits"), expected.logits[0])
    near(state.array("decoder.output.probabilities"), expected.logits[0].softmax(-1))


def test_a_modern_decoder_has_llamas_weights_and_logits() -> None:
    torch.manual_seed(0)
    library = LlamaForCausalLM(LLAMA).eval()
    library.set_attn_implementation("eager")
    renamed = {}
    for name, value in library.state_dict().items():
        for theirs, ours in LLAMA_NAMES:
            name = name.replace(theirs, ours)
        renamed[name] = value
    model = Llama(LLAMA)
    model.load_state_dict(renamed)
    state = Explorer(model, LETTERS).state(TEXT)
    ids = torch.tensor([[LETTERS.index(letter) for letter in TEXT]])
    with torch.no_grad():
        expected = library(ids, output_attentions=True)
    for layer in range(2):
        near(state.array(f"decoder.{layer}.self.weights"), expected.attentions[layer][0])
    near(state.array("decoder.output.logits"), expected.logits[0])


def test_cross_attention_has_the_weights_of_nn_multihead_attention() -> None:
    model = model_of("encoder-decoder")
    explorer = explorer_of("encoder-decoder", model)
    caught: dict[str, torch.Tensor] = {}
    attention = model.decoder_layers[1].cross_attention
    handle = attention.register_forward_hook(lambda _, args, output: caught.update(x=args[0], memory=args[1]))
    state = explorer.state(*text_of("encoder-decoder"))
    handle.remove()
    library = nn.MultiheadAttention(24, 3, batch_first=True)
    with torch.no_grad():
        library.in_proj_weight.copy_(torch.cat([attention.q.weight, attention.k.weight, attention.v.weight]))
        library.in_proj_bias.copy_(torch.cat([attention.q.bias, attention.k.bias, attention.v.bias]))
        _, weights = library(caught["x"], caught["memory"], caught["memory"], average_attn_weights=False)
    near(state.array("decoder.1.cross.weights"), weights[0])


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_right_model_gives_is_right_at_each_step(kind: str) -> None:
    state = explorer_of(kind).state(*text_of(kind))
    assert [step["id"] for step in steps_in(state.header) if step["right"]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_each_layer_begins_with_what_the_last_one_gave(kind: str) -> None:
    model = model_of(kind)
    explorer = explorer_of(kind, model)
    got: list[torch.Tensor] = []
    layers = [layer.module for layer in explorer.parts.layers]
    handles = [layer.register_forward_pre_hook(lambda _, args: got.append(args[0][0])) for layer in layers]
    state = explorer.state(*text_of(kind))
    for handle in handles:
        handle.remove()
    places = [end for stack in state.header["stacks"] for end in
              (stack["embedding"][-1], *(layer["steps"][-1] for layer in stack["layers"][:-1]))]  # fmt: skip
    for step, expected in zip(places, got, strict=False):  # it runs once more, to find the lines
        near(state.array(step["array"]), expected, 2e-3)
    assert len(places) == len(layers)


def test_long_texts_ask_for_weights_in_pieces() -> None:
    model = model_of("decoder")
    text = (TEXT * 3)[:40]  # more keys than a head is wide
    state = explorer_of("decoder", model).state(text)
    weights = state.array("decoder.0.self.weights")
    assert weights.shape == (3, 40, 40) and np.abs(weights.sum(-1) - 1).max() < 1e-5


def test_the_model_is_as_it_was() -> None:
    model = model_of("decoder").train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state: State = explorer_of("decoder", model).state(TEXT)
    assert model.training and all(module.training for module in model.modules())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert state.header["text"] == TEXT
