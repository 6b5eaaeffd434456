"""The assembled models with the library's weights in them, against the library's own models.

Runs in `anatomy.course.assembling.runner`. Float32 on both sides; the same numbers in another order of additions differ
by some 1e-6, another formula by much more.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

AGREES = 1e-4
"""The largest difference that still counts as the same."""

SENTENCES = ("time flies like an arrow", "fruit flies like a banana more than anything else")


def encoder_against_bert(mine: ModuleType) -> dict[str, Any]:
    """Hidden states of two sentences, one of them padded, of the course's real checkpoint."""
    from anatomy.course.checkpoints import checkpoint_name, load_checkpoint

    checkpoint = load_checkpoint()
    library = checkpoint.model
    batch = checkpoint.tokenizer(list(SENTENCES), padding=True, return_tensors="pt")
    encoder = mine.TransformerEncoder(checkpoint.config)
    mine.load_bert_weights(encoder, library.state_dict())
    encoder.eval()
    with torch.no_grad():
        expected = library(**batch).last_hidden_state  # (B, T, D)
        found = encoder(batch.input_ids, batch.attention_mask)
    size = sum(parameter.numel() for parameter in encoder.parameters())
    name = checkpoint_name().rpartition("/")[2]
    weights = f"{name} ({checkpoint.config.num_hidden_layers} layers, {size / 1e6:.1f} million numbers)"
    return {"weights": weights, **_difference(found, expected, batch.attention_mask.bool())}


def decoder_against_gpt2(mine: ModuleType) -> dict[str, Any]:
    """Logits of a small model of GPT-2's shape, whose weights come from a seed; and what both write."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=60, n_positions=48, n_embd=64, n_layer=4, n_head=4, initializer_range=0.2,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    torch.manual_seed(0)
    library = GPT2LMHeadModel(config).eval()
    ids = torch.randint(60, (3, 24))  # (B, T)
    gpt = mine.GPT(config)
    mine.load_gpt2_weights(gpt, library.state_dict())
    gpt.eval()
    with torch.no_grad():
        expected = library(ids).logits  # (B, T, V)
        found = gpt(ids)
    size = sum(parameter.numel() for parameter in gpt.parameters())
    weights = f"a model of GPT-2's shape ({config.n_layer} layers, {size:,} numbers from a seed)"
    return {"weights": weights, **_difference(found, expected, torch.ones_like(ids, dtype=torch.bool))}


LLAMA_NAMES = (
    ("model.norm", "rms_norm"), ("model.", ""), ("embed_tokens", "token_embeddings"), ("layers", "blocks"),
    ("input_layernorm", "rms_norm_1"), ("post_attention_layernorm", "rms_norm_2"), ("o_proj", "output_linear"),
    ("self_attn", "attention"), ("mlp", "feed_forward"), ("q_proj", "q"), ("k_proj", "k"), ("v_proj", "v"),
    ("gate_proj", "linear_gate"), ("up_proj", "linear_up"), ("down_proj", "linear_down"),
)  # fmt: skip
"""The library's words in a name, and the course's, in the order in which they are replaced."""


def modern_decoder_against_llama(mine: ModuleType) -> dict[str, Any]:
    """Logits of a small model of Llama's shape, with grouped queries, whose weights come from a seed."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=60, hidden_size=64, num_attention_heads=8, num_key_value_heads=2, intermediate_size=176,
        num_hidden_layers=4, initializer_range=0.2, tie_word_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(0)
    library = LlamaForCausalLM(config).eval()
    ids = torch.randint(60, (3, 24))  # (B, T)
    renamed = {}
    for name, value in library.state_dict().items():
        for theirs, ours in LLAMA_NAMES:
            name = name.replace(theirs, ours)
        renamed[name] = value
    llama = mine.Llama(config)
    llama.load_state_dict(renamed)
    llama.eval()
    with torch.no_grad():
        expected = library(ids).logits  # (B, T, V)
        found = llama(ids)
    size = sum(parameter.numel() for parameter in llama.parameters())
    weights = f"a model of Llama's shape ({config.num_hidden_layers} layers, {size:,} numbers from a seed)"
    return {"weights": weights, **_difference(found, expected, torch.ones_like(ids, dtype=torch.bool))}


def _difference(found: Any, expected: Tensor, real: Tensor) -> dict[str, Any]:
    """The largest difference at real tokens (B, T), and how large the library's numbers are."""
    if not isinstance(found, Tensor):
        return {"error": f"it returns {type(found).__name__}, not a tensor"}
    if found.shape != expected.shape:
        return {"error": f"it returns the shape {tuple(found.shape)}; the library's is {tuple(expected.shape)}"}
    gap = (found - expected)[real].abs().max().item()
    return {"difference": gap if gap == gap else float("inf"), "largest": expected[real].abs().max().item()}


COMPARISONS: dict[str, Callable[[ModuleType], dict[str, Any]]] = {
    "import": lambda mine: {},
    "encoder": encoder_against_bert,
    "decoder": decoder_against_gpt2,
    "modern decoder": modern_decoder_against_llama,
}
NEEDS = {
    "encoder": ("TransformerEncoder", "load_bert_weights"),
    "decoder": ("GPT", "load_gpt2_weights"),
    "modern decoder": ("Llama",),
}
"""Comparison → the model, and what else of the student's it needs."""
