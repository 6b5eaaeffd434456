"""A GPT from ids to logits, and one of its blocks enlarged: what happens to the shapes."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from anatomy.course.views.drawing import CENTERED, arrow, box
from anatomy.course.views.style import COLORS, INK, MUTED, Picture, figure, styled

BLUE, ORANGE, GREEN = COLORS[:3]


@styled
def decoder_block(
    tokens: Sequence[str], width: int, num_heads: int, vocabulary: int, *, alt: str | None = None
) -> Picture:
    """Left a GPT of two blocks, from the ids of T tokens to logits; right one pre-norm block, with its residual stream.

    Shapes stand beside the arrows, without the batch. Raises ValueError where `num_heads` does not divide `width`, and
    for fewer than 2 or more than 6 tokens, which can't be drawn so that one can read them.
    """
    if width % num_heads or not 2 <= len(tokens) <= 6:
        raise ValueError(
            f"{num_heads} heads, width {width}, {len(tokens)} tokens: heads divide the width, tokens 2 to 6"
        )
    picture = figure(8.6, 6.3)
    whole, block = picture.subplots(1, 2, width_ratios=[1, 1.28])
    _whole(whole, tokens, width, vocabulary)
    _block(block, tokens, width, num_heads)
    length, part = len(tokens), width // num_heads
    picture.alt = alt or (
        f"Two drawings, read from below. Left, a GPT: the ids of {', '.join(tokens)}, shape ({length},); token and "
        f"position embeddings make ({length}, {width}); two blocks and a norm keep that shape; the head makes logits, "
        f"({length}, {vocabulary}), a guess at the next token for each position. Right, one block. The residual stream "
        f"goes straight up, ({length}, {width}) all the way. Beside it the first part reads a copy: layer_norm_1; "
        f"attention, with queries, keys and values of shape ({num_heads}, {length}, {part}) and weights of shape "
        f"({num_heads}, {length}, {length}) that are a triangle; dropout; then a plus adds the result to the stream. "
        f"The second part reads a copy of the sum: layer_norm_2; feed_forward, {width} to {4 * width} to {width} "
        "numbers for each token by itself; then another plus."
    )
    return picture


def _whole(ax: Axes, tokens: Sequence[str], width: int, vocabulary: int) -> None:
    length = len(tokens)
    names = ["token_embeddings\n+ position_embeddings", "block 0", "block 1", "layer_norm", "lm_head"]
    colors = [MUTED, BLUE, BLUE, GREEN, MUTED]
    shapes = [f"({length},)", *[f"({length}, {width})"] * 4, f"({length}, {vocabulary})"]
    middle, step = 2.5, 1.9
    _words(ax, tokens, 0.5, "ids of")
    for row, (name, color) in enumerate(zip(names, colors, strict=True)):
        bottom = 1.9 + row * step
        arrow(ax, (middle, bottom - 0.85), (middle, bottom), shapes[row])
        box(ax, middle - 1.95, bottom, 3.9, 1.05, name, color)
    top = 1.9 + len(names) * step
    arrow(ax, (middle, top - 0.85), (middle, top), shapes[-1])
    _words(ax, [*tokens[1:], "?"], top + 0.4, "to guess")
    ax.set(xlim=(-1.0, 5.6), ylim=(-0.1, top + 0.9))
    ax.set_title("The model")
    ax.axis("off")


def _block(ax: Axes, tokens: Sequence[str], width: int, num_heads: int) -> None:
    length, part = len(tokens), width // num_heads
    shape, stream, side = f"({length}, {width})", 0.9, 4.9
    ax.plot([stream, stream], [0.5, 12.1], color=BLUE, lw=3, zorder=1)
    arrow(ax, (stream, 12.0), (stream, 12.6), "", color=BLUE)
    ax.text(stream, 0.15, f"x {shape}", color=BLUE, weight="bold", fontsize=9, **CENTERED)
    ax.text(stream, 12.85, f"to the next block {shape}", color=BLUE, fontsize=9, ha="left", va="center")
    ax.text(stream - 0.35, 3.3, "residual stream", color=BLUE, fontsize=9, rotation=90, **CENTERED)
    # attention
    ax.plot([stream, side, side], [0.95, 0.95, 1.25], color=MUTED, lw=1.2)
    arrow(ax, (side, 1.0), (side, 1.3), "")
    box(ax, side - 1.5, 1.3, 3.0, 0.6, "layer_norm_1", GREEN)
    arrow(ax, (side, 1.9), (side, 2.4), shape)
    box(ax, 2.05, 2.4, 5.7, 2.75, "", ORANGE)
    ax.text(2.25, 4.85, "attention", color=INK, fontsize=9, weight="bold", va="center")
    said = f"queries, keys, values:\n({num_heads}, {length}, {part}) each\n\nweights, your triangle:\n"
    ax.text(2.25, 3.55, f"{said}({num_heads}, {length}, {length})", fontsize=8.5, va="center", linespacing=1.25)
    cell, left, top = 1.55 / length, 5.95, 4.45
    for row, token in enumerate(tokens):
        for column in range(length):
            color = ORANGE if column <= row else "white"
            place = (left + column * cell, top - (row + 1) * cell)
            ax.add_patch(Rectangle(place, cell, cell, facecolor=color, edgecolor=MUTED, lw=0.6))
        ax.text(left - 0.08, top - (row + 0.5) * cell, token, ha="right", va="center", fontsize=7)
    arrow(ax, (side, 5.15), (side, 5.6), shape)
    box(ax, side - 1.5, 5.6, 3.0, 0.6, "dropout", MUTED)
    _back(ax, side, 6.2, stream, 6.6, shape)
    # feed-forward
    ax.plot([stream, side, side], [7.2, 7.2, 7.5], color=MUTED, lw=1.2)
    arrow(ax, (side, 7.3), (side, 7.6), "")
    box(ax, side - 1.5, 7.6, 3.0, 0.6, "layer_norm_2", GREEN)
    arrow(ax, (side, 8.2), (side, 8.7), shape)
    box(ax, 2.05, 8.7, 5.7, 1.75, "", ORANGE)
    ax.text(2.25, 10.15, "feed_forward", fontsize=9, weight="bold", va="center")
    said = f"each token by itself:\n{width} → {4 * width} → {width} numbers"
    ax.text(2.25, 9.35, said, fontsize=8.5, va="center", linespacing=1.25)
    _back(ax, side, 10.45, stream, 11.0, shape)
    ax.set(xlim=(0.1, 8.0), ylim=(-0.1, 13.1))
    ax.set_title("One block")
    ax.axis("off")


def _back(ax: Axes, side: float, y: float, stream: float, up: float, shape: str) -> None:
    """From the top of a part back to the stream, where a plus adds it."""
    ax.plot([side, side], [y, up], color=MUTED, lw=1.2)
    arrow(ax, (side, up), (stream + 0.25, up), "")
    ax.text((side + stream) / 2, up + 0.22, shape, fontsize=8, color=MUTED, **CENTERED)
    ax.text(stream, up, "+", color="white", weight="bold", fontsize=11, zorder=3, **CENTERED)
    ax.plot([stream], [up], "o", color=BLUE, markersize=15, zorder=2)


def _words(ax: Axes, tokens: Sequence[str], y: float, name: str) -> None:
    ax.text(-0.15, y, name, ha="right", va="center", color=MUTED, fontsize=8)
    wide = 5.3 / len(tokens)
    for place, token in enumerate(tokens):
        box(ax, place * wide + 0.04, y - 0.35, wide - 0.08, 0.7, token, BLUE, size=8)
