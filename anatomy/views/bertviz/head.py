"""The head view: tokens twice, a line from each query to each key, one color per head."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from anatomy.views.attention import head_grid
from anatomy.views.bertviz.frame import FramedView, framed

DIGITS = 4  # of a weight: finer than a line can show, and a fifth of the size
MOST_LINES = 150_000  # of one layer; more make a browser crawl
EAGER = (
    "Load the model with attn_implementation='eager' and call it with output_attentions=True: "
    "the default, 'sdpa', computes attention without keeping its weights."
)
MAIN_SHARE = 0.35  # of a head's weight, to be called what the head does


def head_view(
    attentions: Sequence[Float[Tensor, "1 H T T"]] | Float[Tensor, "L H T T"],
    tokens: Sequence[str],
    *,
    sentence_b_start: int | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
) -> FramedView:
    """BertViz's head view of one sentence, to point at and click: who looks at whom, in each head of each layer.

    It needs no network, several stand on one page, and it stays in saved notebooks and exported pages. Below it,
    folded, is the same as a still picture (one layer) and a table (all heads), for readers who can't see or run it.

    Args:
        attentions: what a model returns as `attentions`, a (1, H, T, T) per layer; or all in one tensor (L, H, T, T).
        tokens: T labels, special tokens included.
        sentence_b_start: number of the second sentence's first token, to choose between A → A, A → B, … in the view.
        layer: the layer to open with; None for layer 0.
        heads: the heads to open with; None for all.

    Raises:
        ValueError: no attentions (as sdpa returns them), more than one sentence, other shapes, no weights (negative,
            above 1, not finite), another number of tokens, no such layer, head or second sentence, or too many lines.

    Source: Vig 2019, A Multiscale Visualization of Attention in the Transformer Model, §3.1.
    """
    weights = _stacked(attentions)  # (L, H, T, T)
    layers, count, length, _ = weights.shape
    labels = _labels(tokens, length)
    first = _one_of(layer, layers, "layer")
    chosen = None if heads is None else [_one_of(head, count, "heads") for head in heads]
    if chosen == []:
        raise ValueError("heads is empty: name at least one head, or None for all")
    if sentence_b_start is not None and not 0 < sentence_b_start < length:
        raise ValueError(
            f"sentence_b_start={sentence_b_start}: the second sentence starts at one of tokens 1 to {length - 1}"
        )
    if count * length * length > MOST_LINES:
        raise ValueError(
            f"{count} heads with {length}² lines each are too many to draw: take fewer tokens, "
            "or fewer heads, such as torch.cat(attentions)[:, :2]"
        )

    from bertviz.head_view import head_view as draw

    rounded = torch.round(weights, decimals=DIGITS)
    drawn = draw(list(rounded[:, None]), labels, sentence_b_start, layer=first, heads=chosen, html_action="return").data
    words = (
        f"Head view: attention between {length} tokens ({' '.join(labels)}) in {_number(layers, 'layer')} "
        f"with {_number(count, 'head')} each."
    )
    picture = head_grid(weights[first], labels, f"Layer {first}")
    still = f"{picture.html()}\n{_table(weights, labels)}"
    return framed(
        drawn, script="head.js", height=round(130 + 22.5 * length), words=f"{words} {picture.alt}", still=still
    )


def _stacked(attentions: Any) -> Tensor:  # -> (L, H, T, T), float64
    if attentions is None or len(attentions) == 0 or any(layer is None for layer in attentions):
        raise ValueError(f"There are no attentions to draw. {EAGER}")
    if isinstance(attentions, Tensor):
        weights = attentions
        if weights.ndim != 4:
            remedy = " For one layer's (H, T, T) add an axis: attentions[None]." if weights.ndim == 3 else ""
            raise ValueError(
                f"attentions in one tensor must be (L, H, T, T), but it is {tuple(weights.shape)}.{remedy}"
            )
    else:
        for index, one in enumerate(attentions):
            shape = tuple(one.shape)
            if len(shape) != 4:
                raise ValueError(f"attentions of layer {index} must be (1, H, T, T), but they are {shape}")
            if shape[0] != 1:
                raise ValueError(
                    f"attentions of layer {index} are {shape}: {shape[0]} sentences, and the view shows one. "
                    "Take one first: [layer[:1] for layer in attentions]"
                )
            if shape != tuple(attentions[0].shape):
                raise ValueError(f"layers differ in shape: {tuple(attentions[0].shape)} and, in layer {index}, {shape}")
        weights = torch.cat(list(attentions))
    if weights.shape[-1] != weights.shape[-2] or weights.numel() == 0:
        raise ValueError(
            f"The head view shows self-attention, T tokens by the same T tokens, not shape {tuple(weights.shape)}"
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


def _labels(tokens: Any, length: int) -> list[str]:
    if isinstance(tokens, str):
        raise ValueError("tokens is one string: pass a list, one label per token")
    labels = [str(token) for token in tokens]
    if len(labels) != length:
        raise ValueError(
            f"{len(labels)} tokens for attentions over {length} positions. Special tokens count too: "
            "tokenizer.convert_ids_to_tokens(input_ids[0]) gives one label for each position."
        )
    return labels


def _one_of(index: int | None, count: int, what: str) -> int:
    number = 0 if index is None else int(index)
    if not 0 <= number < count:
        raise ValueError(f"{what}: there is no {number}; they are numbered 0 to {count - 1}")
    return number


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _table(weights: Tensor, labels: list[str]) -> str:
    """All heads of all layers: where most of each head's weight goes, averaged over the queries."""
    layers, heads = weights.shape[:2]
    columns = "".join(f'<th scope="col">layer {layer}</th>' for layer in range(layers))
    rows = "\n".join(
        f'<tr><th scope="row">head {head}</th>'
        + "".join(f"<td>{html.escape(_habit(weights[layer, head], labels))}</td>" for layer in range(layers))
        + "</tr>"
        for head in range(heads)
    )
    return (
        '<div style="overflow-x:auto"><table style="font-size:85%">\n'
        "<caption>Where most of each head's weight goes, as a share of all its weight "
        f"(“spread”: no place gets more than {MAIN_SHARE:.0%})</caption>\n"
        f"<thead><tr><td></td>{columns}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _habit(weights: Tensor, labels: list[str]) -> str:  # (T, T) -> words
    length = len(labels)
    places = {"itself": weights.diagonal(), "token before": weights.diagonal(-1), "token after": weights.diagonal(1)}
    places |= {f"{labels[s]} ({s})": weights[:, s] for s in range(length)}
    shares = {place: float(found.sum()) / max(float(weights.sum()), 1e-9) for place, found in places.items()}
    best = max(shares, key=lambda place: shares[place])
    return f"{best} {shares[best]:.0%}" if shares[best] > MAIN_SHARE else "spread"
