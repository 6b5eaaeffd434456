"""Small models of all four kinds, with weights from a seed, and texts for them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import BertConfig, GPT2Config, LlamaConfig

from anatomy.course.exploring.explorer import END, START, Explorer
from anatomy.course.nb07_encoder.right import TransformerEncoder
from anatomy.course.nb09_causal_mask.right import GPT
from anatomy.course.nb10_encoder_decoder.right import Transformer
from anatomy.course.nb14_since_gpt_2.right import Llama

LETTERS = ["\n", *" abcdefghijklmnopqrstuvwxyz.,'"]
SYMBOLS = ["⟨pad⟩", START, END, *" abcdefghijklmnopqrstuvwxyz,0123456789-"]
TEXT = "time flies like"
BERT = BertConfig(vocab_size=len(LETTERS), hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                  intermediate_size=48, max_position_embeddings=40)  # fmt: skip
GPT_2 = GPT2Config(vocab_size=len(LETTERS), n_embd=24, n_layer=2, n_head=3, n_positions=40, bos_token_id=None,
                   eos_token_id=None)  # fmt: skip
DATES = BertConfig(vocab_size=len(SYMBOLS), hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                   intermediate_size=48, pad_token_id=0)  # fmt: skip
LLAMA = LlamaConfig(vocab_size=len(LETTERS), hidden_size=24, num_attention_heads=6, num_key_value_heads=2,
                    intermediate_size=40, num_hidden_layers=2, bos_token_id=None, eos_token_id=None)  # fmt: skip
CLASSES: dict[str, tuple[type[nn.Module], Any]] = {
    "encoder": (TransformerEncoder, BERT), "decoder": (GPT, GPT_2), "encoder-decoder": (Transformer, DATES),
    "modern": (Llama, LLAMA),
}  # fmt: skip


def model_of(kind: str, seed: int = 0) -> nn.Module:
    """A model whose weights are large enough for its heads to differ."""
    made, config = CLASSES[kind]
    torch.manual_seed(seed)
    model = made(config).eval()
    for name, parameter in model.named_parameters():
        nn.init.normal_(parameter, 1.0 if "norm" in name and name.endswith("weight") else 0.0, 0.3)
    return model


def explorer_of(kind: str, model: nn.Module | None = None) -> Explorer:
    return Explorer(model or model_of(kind), SYMBOLS if kind == "encoder-decoder" else LETTERS)


def text_of(kind: str) -> tuple[str, str | None]:
    """What it reads, and what it has written."""
    return ("may 3, 1987", "1987-0") if kind == "encoder-decoder" else (TEXT, None)
