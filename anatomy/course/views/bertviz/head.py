"""The head view: tokens twice, a line from each query to each key, one color per head."""

from __future__ import annotations

from collections.abc import Sequence

from anatomy.course.views.attention import head_grid
from anatomy.course.views.bertviz.frame import FramedView, framed
from anatomy.course.views.bertviz.parts import Layers, one_of, parts, second_sentence, some_of
from anatomy.course.views.bertviz.still import strongest, table

MOST_LINES = 150_000  # of one layer; more make a browser crawl


def head_view(
    attentions: Layers = None,
    tokens: Sequence[str] | None = None,
    *,
    sentence_b_start: int | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    encoder_attention: Layers = None,
    decoder_attention: Layers = None,
    cross_attention: Layers = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
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
        encoder_attention, decoder_attention, cross_attention: of an encoder–decoder, in place of `attentions`; any of
            the three. Cross-attention is (1, H, T, S) per layer: the decoder's T tokens look at the encoder's S.
        encoder_tokens, decoder_tokens: S and T labels, in place of `tokens`.

    Raises:
        ValueError: no attentions (as sdpa returns them), more than one sentence, other shapes, no weights (negative,
            above 1, not finite), another number of tokens, no such layer, head or second sentence, or too many lines.

    Source: Vig 2019, A Multiscale Visualization of Attention in the Transformer Model, §3.1.
    """
    found = parts(
        attentions, tokens, encoder_attention, decoder_attention, cross_attention, encoder_tokens, decoder_tokens
    )
    layers, count = found[0].weights.shape[:2]
    first = one_of(layer, layers, "layer")
    chosen = None if heads is None else some_of(heads, count, "heads")
    start = second_sentence(sentence_b_start, found)
    if max(part.weights[0].numel() for part in found) > MOST_LINES:
        _, _, length, keys = max((part.weights for part in found), key=lambda weights: weights.numel()).shape
        raise ValueError(
            f"{count} heads with {length} × {keys} lines each are too many to draw: take fewer tokens, "
            "or fewer heads, such as torch.cat(attentions)[:, :2]"
        )
    pictures = [
        head_grid(
            part.weights[first],
            part.queries,
            f"{part.name}, layer {first}" if part.name else f"Layer {first}",
            key_tokens=part.keys if part.name == "Cross" else None,
        )
        for part in found
    ]
    return framed(
        "head",
        [part.data() for part in found],
        controls=[("layer", "Layer")],
        sentence_b_start=start,
        width=660,
        height=round(149 + 22.5 * max(len(found[0].queries), len(found[0].keys))),
        words=f"Head view: {'; '.join(part.described() for part in found)}. {' '.join(one.alt for one in pictures)}",
        still="\n".join(
            f"{one.html()}\n{strongest(part, first, chosen or range(count))}\n{table(part)}"
            for one, part in zip(pictures, found, strict=True)
        ),
        layer=first,
        heads=chosen,
        include_layers=list(range(layers)),
    )
