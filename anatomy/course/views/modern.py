"""GPT-2's block beside the block of today's models, with the edits that lead from one to the other."""

from __future__ import annotations

from matplotlib.axes import Axes

from anatomy.course.views.drawing import CENTERED, arrow, box
from anatomy.course.views.style import COLORS, INK, MUTED, Picture, figure, styled

BLUE, ORANGE, GREEN = COLORS[:3]
Row = tuple[str, str, str]
"""A part's name, what it does, and the number of the edit that it has seen."""

GPT_2: tuple[Row, ...] = (
    ("layer norm", "minus mean, over spread", ""),
    ("attention", "each head has its own\nkeys and values", ""),
    ("layer norm", "minus mean, over spread", ""),
    ("feed-forward", "D → 4D, GELU, → D\nwith biases", ""),
)
TODAY: tuple[Row, ...] = (
    ("RMS norm", "over the root mean square", "1"),
    ("attention", "queries and keys turned (3)\nheads share keys and values (4)", "3, 4"),
    ("RMS norm", "over the root mean square", "1"),
    ("SwiGLU", "D → F twice: gate × up, → D\nno biases (5)", "2, 5"),
)


@styled
def two_blocks(*, alt: str | None = None) -> Picture:
    """Left GPT-2's block, right that of LLaMA; a number marks each edit. Read from below."""
    picture = figure(8.4, 5.6)
    for ax, title, rows, below in zip(
        picture.subplots(1, 2),
        ("GPT-2, 2019", "LLaMA, 2023"),
        (GPT_2, TODAY),
        ("token + position embeddings", "token embeddings alone (3)"),
        strict=True,
    ):
        _block(ax, title, rows, below)
    picture.alt = alt or (
        "Two blocks side by side, read from below. Both have a residual stream, from which first attention and then "
        "the feed-forward network read a normed copy, and to which each adds its result. Left GPT-2: layer norms; "
        "attention in which each head has its own keys and values; a feed-forward network from D to 4D and back, with "
        "GELU and biases; token and position embeddings below. Right LLaMA, with five edits: RMS norms (1); a SwiGLU "
        "for the feed-forward network (2); queries and keys turned by their positions instead of a table of positions "
        "below (3); heads that share keys and values (4); no biases (5)."
    )
    return picture


def _block(ax: Axes, title: str, rows: tuple[Row, ...], below: str) -> None:
    stream, side = 0.6, 4.1
    ax.plot([stream, stream], [0.5, 11.4], color=BLUE, lw=3, zorder=1)
    arrow(ax, (stream, 11.3), (stream, 11.9), "", color=BLUE)
    ax.text(stream + 0.1, 0.1, below, color=BLUE, fontsize=9, ha="left", va="center")
    for half in (0, 1):
        (norm, how, new_norm), (part, what, new_part) = rows[2 * half : 2 * half + 2]
        low = 0.7 + 5.3 * half
        ax.plot([stream, side, side], [low, low, low + 0.4], color=MUTED, lw=1.2)
        arrow(ax, (side, low + 0.1), (side, low + 0.5), "")
        _part(ax, side, low + 0.5, 1.1, norm, how, GREEN, new_norm)
        arrow(ax, (side, low + 1.6), (side, low + 2.1), "")
        _part(ax, side, low + 2.1, 1.7, part, what, ORANGE, new_part)
        up = low + 4.4
        ax.plot([side, side], [low + 3.8, up], color=MUTED, lw=1.2)
        arrow(ax, (side, up), (stream + 0.3, up), "")
        ax.plot([stream], [up], "o", color=BLUE, markersize=14, zorder=2)
        ax.text(stream, up, "+", color="white", weight="bold", fontsize=11, zorder=3, **CENTERED)
    ax.set(xlim=(0, 7.4), ylim=(-0.4, 12.3))
    ax.set_title(title)
    ax.axis("off")


def _part(ax: Axes, side: float, bottom: float, height: float, name: str, what: str, color: str, edit: str) -> None:
    box(ax, side - 2.5, bottom, 5.0, height, "", color)
    ax.text(side, bottom + height - 0.3, name, color=INK, fontsize=9, weight="bold", **CENTERED)
    ax.text(side, bottom + (height - 0.5) / 2, what, color=INK, fontsize=8, linespacing=1.2, **CENTERED)
    if edit:
        ax.text(
            side + 2.65, bottom + height / 2, edit, color=ORANGE, fontsize=11, weight="bold", ha="left", va="center"
        )
