"""GPT-2's block beside the block of today's models, with the edits that lead from one to the other."""

from __future__ import annotations

import html

from matplotlib.axes import Axes

from anatomy.course.views.drawing import CENTERED, arrow, box
from anatomy.course.views.style import COLORS, INK, MUTED, PAD, Picture, figure, styled

BLUE, ORANGE, GREEN = COLORS[:3]
NOTEBOOK = "../14-since-gpt-2/14-since-gpt-2.ipynb"
EDITS = {  # its number → its words, its exercise, and the cell in which that is
    1: ("RMS norm", "14.1", "exercise-rms"),
    2: ("SwiGLU", "14.3", "exercise-swiglu"),
    3: ("rotary positions", "14.4", "exercise-halves"),
    4: ("shared keys and values", "14.5", "exercise-gqa"),
    5: ("no biases", "14.3", "exercise-swiglu"),
}
BADGE = 0.3  # inches
Row = tuple[str, str, tuple[int, ...]]
"""A part's name, what it does, and the numbers of the edits that it has seen."""
Badge = tuple[Axes, float, float, int]
"""Where the number of an edit stands: axes, x, y, the number."""

GPT_2: tuple[Row, ...] = (
    ("layer norm", "minus mean, over spread", ()),
    ("attention", "each head has its own\nkeys and values", ()),
    ("layer norm", "minus mean, over spread", ()),
    ("feed-forward", "D → 4D, GELU, → D\nwith biases", ()),
)
TODAY: tuple[Row, ...] = (
    ("RMS norm", "over the root mean square", (1,)),
    ("attention", "queries and keys turned\nheads share keys and values", (3, 4)),
    ("RMS norm", "over the root mean square", (1,)),
    ("SwiGLU", "D → F twice: gate × up, → D\nno biases", (2, 5)),
)


@styled
def two_blocks(*, alt: str | None = None) -> Picture:
    """Left GPT-2's block, right that of LLaMA; a number marks each edit and is a link to its exercise."""
    picture = figure(8.4, 5.6)
    badges: list[Badge] = []
    for ax, title, rows, below, edit in zip(
        picture.subplots(1, 2),
        ("GPT-2, 2019", "LLaMA, 2023"),
        (GPT_2, TODAY),
        ("token + position embeddings", "token embeddings alone"),
        (None, 3),
        strict=True,
    ):
        badges += _block(ax, title, rows, below)
        badges += [(ax, 4.45, 0.1, edit)] if edit else []
    for ax, x, y, edit in badges:
        ax.plot([x], [y], "o", color=ORANGE, markersize=BADGE * 60, zorder=2)
        ax.text(x, y, str(edit), color="white", fontsize=10, weight="bold", zorder=3, **CENTERED)
    picture.links = _links(picture, badges)
    picture.alt = alt or (
        "Two blocks side by side, read from below. Both have a residual stream, from which first attention and then "
        "the feed-forward network read a normed copy, and to which each adds its result. Left GPT-2: layer norms; "
        "attention in which each head has its own keys and values; a feed-forward network from D to 4D and back, with "
        "GELU and biases; token and position embeddings below. Right LLaMA, with five edits, each a link to its "
        "exercise: RMS norms (1); a SwiGLU for the feed-forward network (2); queries and keys turned by their "
        "positions instead of a table of positions below (3); heads that share keys and values (4); no biases (5)."
    )
    return picture


def _block(ax: Axes, title: str, rows: tuple[Row, ...], below: str) -> list[Badge]:
    stream, side = 0.6, 4.1
    badges: list[Badge] = []
    ax.plot([stream, stream], [0.5, 11.4], color=BLUE, lw=3, zorder=1)
    arrow(ax, (stream, 11.3), (stream, 11.9), "", color=BLUE)
    ax.text(stream + 0.1, 0.1, below, color=BLUE, fontsize=9, ha="left", va="center")
    for half in (0, 1):
        (norm, how, new_norm), (part, what, new_part) = rows[2 * half : 2 * half + 2]
        low = 0.7 + 5.3 * half
        ax.plot([stream, side, side], [low, low, low + 0.4], color=MUTED, lw=1.2)
        arrow(ax, (side, low + 0.1), (side, low + 0.5), "")
        arrow(ax, (side, low + 1.6), (side, low + 2.1), "")
        for bottom, height, name, words, color, edits in (
            (low + 0.5, 1.1, norm, how, GREEN, new_norm),
            (low + 2.1, 1.7, part, what, ORANGE, new_part),
        ):
            box(ax, side - 2.5, bottom, 5.0, height, "", color)
            ax.text(side, bottom + height - 0.3, name, color=INK, fontsize=9, weight="bold", **CENTERED)
            ax.text(side, bottom + (height - 0.5) / 2, words, color=INK, fontsize=8, linespacing=1.2, **CENTERED)
            top = bottom + height / 2 + 0.45 * (len(edits) - 1)
            badges += [(ax, side + 2.95, top - 0.9 * n, edit) for n, edit in enumerate(edits)]
        up = low + 4.4
        ax.plot([side, side], [low + 3.8, up], color=MUTED, lw=1.2)
        arrow(ax, (side, up), (stream + 0.3, up), "")
        ax.plot([stream], [up], "o", color=BLUE, markersize=14, zorder=2)
        ax.text(stream, up, "+", color="white", weight="bold", fontsize=11, zorder=3, **CENTERED)
    ax.set(xlim=(0, 7.6), ylim=(-0.4, 12.3))
    ax.set_title(title)
    ax.axis("off")
    return badges


def _links(picture: Picture, badges: list[Badge]) -> str:
    """A link over each number, placed in percent of the image that is cut out of the picture."""
    picture.draw_without_rendering()
    whole = picture.get_tightbbox().padded(PAD)  # inches
    links = []
    for ax, x, y, edit in badges:
        right, up = ax.transData.transform((x, y)) / picture.dpi  # inches
        left, top = right - whole.x0 - BADGE / 2, whole.y1 - up - BADGE / 2
        place = f"left:{left / whole.width:.1%};top:{top / whole.height:.1%}"
        size = f"width:{BADGE / whole.width:.1%};height:{BADGE / whole.height:.1%}"
        name, exercise, cell = EDITS[edit]
        words = html.escape(f"Edit {edit}, {name}: Exercise {exercise}")
        links.append(
            f'<a href="{NOTEBOOK}#cell-id={cell}" title="{words}" aria-label="{words}" '
            f'style="position:absolute;border-radius:50%;{place};{size}"></a>'
        )
    return "".join(links)
