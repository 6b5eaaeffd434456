"""What the views draw, checked: attention weights of one kind or several, with a label for each row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

EAGER = (
    "Load the model with attn_implementation='eager' and call it with output_attentions=True: "
    "the default, 'sdpa', computes attention without keeping its weights."
)
Layers = Sequence[Float[Tensor, "1 H T S"]] | Float[Tensor, "L H T S"] | None
"""Attention weights as a model returns them, one (1, H, T, S) per layer; or all in one tensor (L, H, T, S)."""


@dataclass(frozen=True)
class Part:
    """Attention of one kind in every head of every layer: T queries look at S keys.

    `name` tells it from other parts of the same view ("Encoder", "Decoder", "Cross"), None if there is only one.
    """

    name: str | None
    weights: Float[Tensor, "L H T S"]  # float64
    queries: list[str]
    keys: list[str]

    def data(self, **more: Any) -> dict[str, Any]:
        """What BertViz's scripts want of it."""
        return {"name": self.name, "attn": rounded(self.weights, 4), "left_text": self.queries, "right_text": self.keys,
                **more}  # fmt: skip

    def described(self) -> str:
        """Its size in words."""
        layers, heads, length, _ = self.weights.shape
        sides = f"{number(length, 'token')} ({' '.join(self.queries)})"
        if self.keys != self.queries:
            sides += f" and {number(len(self.keys), 'token')} ({' '.join(self.keys)})"
        of = f"{self.name.lower()} " if self.name else ""
        return f"{of}attention between {sides} in {number(layers, 'layer')} with {number(heads, 'head')} each"


def parts(
    attentions: Layers,
    tokens: Sequence[str] | None,
    encoder_attention: Layers = None,
    decoder_attention: Layers = None,
    cross_attention: Layers = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
) -> list[Part]:
    """One model's self-attention, or up to three parts of an encoder–decoder. Arguments and errors: `head_view`'s."""
    kinds = (
        ("Encoder", encoder_attention, "encoder_tokens", encoder_tokens, encoder_tokens),
        ("Decoder", decoder_attention, "decoder_tokens", decoder_tokens, decoder_tokens),
        ("Cross", cross_attention, "decoder_tokens and encoder_tokens", decoder_tokens, encoder_tokens),
    )
    given = [kind for kind in kinds if kind[1] is not None]
    if not given:
        return [_part(None, attentions, "tokens", tokens, tokens)]
    if attentions is not None or tokens is not None:
        raise ValueError(
            "Pass attentions and tokens of one model, or what is named encoder_… , decoder_… and cross_… , not both"
        )
    found = [_part(*kind) for kind in given]
    for part in found[1:]:
        if (sizes := part.weights.shape[:2]) != found[0].weights.shape[:2]:
            raise ValueError(
                f"{found[0].name} and {part.name} differ in layers and heads: {tuple(found[0].weights.shape[:2])} and "
                f"{tuple(sizes)}. Draw a view of each."
            )
    return found


def _part(name: str | None, attentions: Any, what: str, queries: Any, keys: Any) -> Part:
    weights = stacked(attentions, name)
    if queries is None or keys is None:
        raise ValueError(f"{what}: pass a list of labels, one per token")
    if name == "Cross":
        return Part(
            name, weights, labels(queries, weights.size(-2), "decoder_"), labels(keys, weights.size(-1), "encoder_")
        )
    words = labels(queries, weights.size(-1), f"{name.lower()}_" if name else "")
    return Part(name, weights, words, words)


def stacked(attentions: Any, name: str | None = None) -> Tensor:  # -> (L, H, T, S), float64
    """All layers in one tensor. Unless `name` is "Cross", T tokens look at themselves. Errors: `head_view`'s."""
    if attentions is None or len(attentions) == 0 or any(layer is None for layer in attentions):
        raise ValueError(f"There are no attentions to draw. {EAGER}")
    sizes = "H, T, S" if name == "Cross" else "H, T, T"
    if isinstance(attentions, Tensor):
        weights = attentions
        if weights.ndim != 4:
            remedy = f" For one layer's ({sizes}) add an axis: attentions[None]." if weights.ndim == 3 else ""
            raise ValueError(
                f"attentions in one tensor must be (L, {sizes}), but it is {tuple(weights.shape)}.{remedy}"
            )
    else:
        for index, one in enumerate(attentions):
            shape = tuple(one.shape)
            if len(shape) != 4:
                raise ValueError(f"attentions of layer {index} must be (1, {sizes}), but they are {shape}")
            if shape[0] != 1:
                raise ValueError(
                    f"attentions of layer {index} are {shape}: {shape[0]} sentences, and the view shows one. "
                    "Take one first: [layer[:1] for layer in attentions]"
                )
            if shape != tuple(attentions[0].shape):
                raise ValueError(f"layers differ in shape: {tuple(attentions[0].shape)} and, in layer {index}, {shape}")
        weights = torch.cat(list(attentions))
    if weights.numel() == 0 or (name != "Cross" and weights.shape[-1] != weights.shape[-2]):
        raise ValueError(
            f"The view shows self-attention, T tokens by the same T tokens, not shape {tuple(weights.shape)}. "
            "What a decoder's tokens see in the encoder's is cross_attention."
        )
    weights = weights.detach().to("cpu", torch.float64)
    if not bool(torch.isfinite(weights).all()) or float(weights.min()) < 0:
        raise ValueError("attentions must be finite and ≥ 0: pass the weights after the softmax, not the scores")
    if float(weights.max()) > 1.001:
        raise ValueError(
            f"A weight of {float(weights.max()):.3g} is above 1. Scores before the softmax? "
            "Or a model in training, whose dropout rescales the weights? Call model.eval() first."
        )
    return weights


def labels(tokens: Any, length: int, whose: str = "") -> list[str]:
    """Tokens as they are shown, one per position: without a tokenizer's marks of a blank (Ġ, ▁) and of a word's end.

    A token that is nothing but a blank would not be seen: it is shown as ␣, the end of a line as ⏎.
    """
    if isinstance(tokens, str):
        raise ValueError(f"{whose}tokens is one string: pass a list, one label per token")
    words = [str(token).replace("Ġ", " ").replace("▁", " ").replace("</w>", "") for token in tokens]
    words = [word if word.strip() else {"\n": "⏎"}.get(word, "␣") for word in words]
    if len(words) != length:
        raise ValueError(
            f"{len(words)} {whose}tokens for attentions over {length} positions. Special tokens count too: "
            "tokenizer.convert_ids_to_tokens(input_ids[0]) gives one label for each position."
        )
    return words


def second_sentence(start: int | None, found: Sequence[Part]) -> int | None:
    """`sentence_b_start`, if there is such a token and one before it."""
    if start is None:
        return None
    if found[0].name:
        raise ValueError("sentence_b_start is for two sentences in one model, not for an encoder–decoder")
    if not 0 < start < len(found[0].queries):
        last = len(found[0].queries) - 1
        raise ValueError(f"sentence_b_start={start}: the second sentence starts at one of tokens 1 to {last}")
    return int(start)


def one_of(index: int | None, count: int, what: str) -> int:
    """`index`, or 0 for None. Raises ValueError unless it is one of `count`."""
    chosen = 0 if index is None else int(index)
    if not 0 <= chosen < count:
        raise ValueError(f"{what}: there is no {chosen}; they are numbered 0 to {count - 1}")
    return chosen


def some_of(indices: Sequence[int] | None, count: int, what: str) -> list[int]:
    """`indices`, or all for None. Raises ValueError if there are none, or one is not among `count`."""
    chosen = list(range(count)) if indices is None else [one_of(index, count, what) for index in indices]
    if not chosen:
        raise ValueError(f"{what} is empty: name at least one {what.removesuffix('s')}, or None for all")
    return chosen


def rounded(values: Tensor, digits: int) -> list[Any]:
    """Nested lists of short numbers: finer than a picture can show, and a fifth of the size."""
    return torch.round(values.to(torch.float64), decimals=digits).tolist()


def number(count: int, what: str) -> str:
    """`3 heads`, `1 head`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
