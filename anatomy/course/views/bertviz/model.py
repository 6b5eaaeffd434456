"""The model view: every head of every layer as a thumbnail; click one to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anatomy.course.views.bertviz.frame import FramedView, framed
from anatomy.course.views.bertviz.parts import Layers, parts, second_sentence, some_of
from anatomy.course.views.bertviz.still import mosaic, table

MOST_LINES = 100_000  # of all heads of all layers; more make a browser crawl
FEWEST_COLUMNS = 8  # BertViz makes thumbnails as wide as the page has room; few heads would be huge


def model_view(
    attentions: Layers = None,
    tokens: Sequence[str] | None = None,
    *,
    sentence_b_start: int | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    encoder_attention: Layers = None,
    decoder_attention: Layers = None,
    cross_attention: Layers = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
) -> FramedView:
    """BertViz's model view of one sentence: all heads of all layers at a glance, to find the ones worth reading.

    Draws wherever the head view does. Below it, folded, is the same as a still picture and a table.

    Args:
        attentions, tokens, sentence_b_start, encoder_… , decoder_… , cross_…: as for `head_view`.
        layers, heads: which of them to show; None for all.

    Raises:
        ValueError: as for `head_view`, or too many lines.

    Source: Vig 2019, A Multiscale Visualization of Attention in the Transformer Model, §3.2.
    """
    found = parts(
        attentions, tokens, encoder_attention, decoder_attention, cross_attention, encoder_tokens, decoder_tokens
    )
    depth, count = found[0].weights.shape[:2]
    start = second_sentence(sentence_b_start, found)
    rows, columns = some_of(layers, depth, "layers"), some_of(heads, count, "heads")
    found = [replace(part, weights=part.weights[rows][:, columns]) for part in found]
    if (lines := max(part.weights.numel() for part in found)) > MOST_LINES:
        raise ValueError(
            f"{lines:,} lines are too many to draw: name some layers or heads, such as layers=[0, 1], or take fewer "
            "tokens"
        )
    pictures = [mosaic(part, rows, columns) for part in found]
    tall = max(len(found[0].queries), len(found[0].keys)) * 7 * 12 / max(len(columns), FEWEST_COLUMNS) + 10
    return framed(
        "model",
        [part.data() for part in found],
        controls=[],
        sentence_b_start=start,
        width=1000,
        height=round(129 + len(rows) * tall),
        words=f"Model view. {' '.join(picture.alt for picture in pictures)}",
        still="\n".join(
            f"{picture.html()}\n{table(part, rows, columns)}" for picture, part in zip(pictures, found, strict=True)
        ),
        include_layers=rows,
        include_heads=columns,
        total_heads=max(len(columns), FEWEST_COLUMNS),
    )
