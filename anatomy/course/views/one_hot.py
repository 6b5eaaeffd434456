"""The lookup as a product: a one-hot row picks one row of the embedding matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.patches import Rectangle
from torch import Tensor

from anatomy.course.views.heatmap import color_scale, draw_matrix
from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import COLORS, INK, MUTED, SEQUENTIAL, Picture, figure, styled
from anatomy.course.views.words import title_lines

LARGEST = (8, 14, 10)  # tokens, vocabulary, width that fit on a page


@styled
def one_hot_product(
    ids: Int[Tensor, " T"],
    weight: Float[Tensor, "V D"],
    vocabulary: Sequence[Any] | None = None,
    title: str = "",
    *,
    alt: str | None = None,
) -> Picture:
    """Draw one-hot (T, V) × weight (V, D) = vectors (T, D), each token in its color.

    Args:
        ids: T token ids below V; `weight`: a small embedding matrix (V, D).
        vocabulary: V words, one per row of `weight`; None numbers them.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: an id outside the matrix, labels that don't fit, or a matrix too large to read (more than 8 tokens,
            14 rows or 10 columns): use a toy vocabulary.
    """
    rows = as_array(weight, "weight", 2)
    chosen = as_array(ids, "ids", 1).astype(int)
    words = check_labels(vocabulary, rows.shape[0], "vocabulary")
    if chosen.min() < 0 or chosen.max() >= len(rows):
        raise ValueError(f"ids go from {chosen.min()} to {chosen.max()}, but weight has rows 0 to {len(rows) - 1}")
    sizes = (len(chosen), *rows.shape)
    if any(size > most for size, most in zip(sizes, LARGEST, strict=True)):
        raise ValueError(
            f"T, V, D = {sizes} is too large to read; at most {LARGEST}. Use a toy vocabulary and few columns."
        )
    one_hot = np.zeros((len(chosen), len(rows)))
    one_hot[np.arange(len(chosen)), chosen] = 1.0
    tokens = [words[i] for i in chosen]
    low, high, colors = color_scale([rows], None)

    tall = max(len(rows), len(chosen))
    picture = figure(9.2, 0.34 * tall + 1.75)
    axes = picture.subplots(1, 5, width_ratios=[len(rows), 0.9, rows.shape[1], 0.9, rows.shape[1]])
    dimensions = [str(d) for d in range(rows.shape[1])]
    draw_matrix(axes[0], one_hot, tokens, words, 0.0, 4.0, SEQUENTIAL)
    draw_matrix(axes[2], rows, words, dimensions, low, high, colors)
    draw_matrix(axes[4], rows[chosen], tokens, dimensions, low, high, colors)
    axes[0].set(title="one-hot  (T, V)", xlabel="vocabulary", ylabel="token")
    axes[2].set(title="embedding matrix  (V, D)", xlabel="dimension")
    axes[4].set(title="vectors  (T, D)", xlabel="dimension")
    for t, row in enumerate(chosen):
        edge = COLORS[list(dict.fromkeys(chosen.tolist())).index(int(row)) % len(COLORS)]
        axes[0].text(row + 0.5, t + 0.5, "1", ha="center", va="center", weight="bold", fontsize=9, color=INK)
        for ax, x, y, wide in ((axes[0], row, t, 1), (axes[2], 0, row, rows.shape[1]), (axes[4], 0, t, rows.shape[1])):
            ax.add_patch(Rectangle((x, y), wide, 1, fill=False, edgecolor=edge, lw=2.2, clip_on=False, zorder=5))
        for ax, place in ((axes[0], t), (axes[4], t), (axes[2], row)):
            tick = ax.get_yticklabels()[place]
            tick.set(color=edge, weight="bold")
    for ax, sign in ((axes[1], "×"), (axes[3], "=")):
        ax.axis("off")
        ax.text(0.5, 0.5, sign, ha="center", va="center", fontsize=20, color=MUTED, transform=ax.transAxes)
    for ax in (axes[0], axes[2], axes[4]):
        ax.title.set(fontsize=10)
    if title:
        picture.suptitle(title_lines(title, 9.2), x=0.01, ha="left", fontsize=11, weight="bold")
    picture.alt = alt or (
        f"A one-hot matrix of {sizes[0]} rows and {sizes[1]} columns times an embedding matrix of {sizes[1]} rows "
        f"and {sizes[2]} columns gives {sizes[0]} rows. "
        + "; ".join(f"“{w}” has its 1 in column {i} and picks row {i}" for w, i in zip(tokens, chosen, strict=True))
        + "."
    )
    return picture
