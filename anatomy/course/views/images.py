"""Small images side by side, with a line below each, whole or cut into patches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from torch import Tensor

from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import INK, MUTED, Picture, figure, styled
from anatomy.course.views.words import quoted, title_lines

INCHES = 8.0  # of the page


@styled
def image_grid(
    images: Float[Tensor, "N C H W"],
    labels: Sequence[str],
    title: str = "",
    *,
    columns: int = 4,
    patch: int | None = None,
    alt: str | None = None,
) -> Picture:
    """Images (N, 3, H, W) with values from 0 to 1, a label below each.

    Args:
        columns: how many stand side by side.
        patch: draw the borders of patches of this many pixels, and number them row by row.
        alt: words for the picture; made from the labels when None.

    Raises:
        ValueError: not four axes or not three channels, or the number of labels differs.
    """
    pixels = as_array(images, "images", 4)
    if pixels.shape[1] != 3:
        raise ValueError(f"images must have 3 channels (red, green, blue); these have {pixels.shape[1]}")
    names = check_labels(labels, len(pixels), "labels")
    columns = min(columns, len(pixels))
    rows = -(-len(pixels) // columns)
    wide = min(2.4, INCHES / columns)
    below = 0.1 + 0.17 * max(len(title_lines(name, wide * 1.25).split("\n")) for name in names)
    picture = figure(wide * columns, (wide * pixels.shape[2] / pixels.shape[3] + below) * rows + (0.25 if title else 0))
    picture.true_colors = True
    axes = picture.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, image, name in zip(axes.flat, pixels, names, strict=False):
        ax.imshow(np.clip(image.transpose(1, 2, 0), 0, 1), interpolation="nearest")
        ax.text(0.5, -0.04, title_lines(name, wide * 1.25), transform=ax.transAxes, ha="center", va="top", fontsize=9)
        if patch:
            _cut(ax, pixels.shape[2], pixels.shape[3], patch)
    if title:
        picture.suptitle(title_lines(title, wide * columns), x=0.01, ha="left", fontsize=11, weight="bold")
    cut = f", cut into patches of {patch} by {patch} pixels" if patch else ""
    many = "1 image" if len(pixels) == 1 else f"{len(pixels)} images"
    picture.alt = alt or f"{many}{quoted(title)}{cut}: {'; '.join(' '.join(n.split()) for n in names)}."
    return picture


def _cut(ax: Axes, height: int, width: int, patch: int) -> None:
    for x in range(0, width + 1, patch):
        ax.plot([x - 0.5, x - 0.5], [-0.5, height - 0.5], color=MUTED, lw=0.9)
    for y in range(0, height + 1, patch):
        ax.plot([-0.5, width - 0.5], [y - 0.5, y - 0.5], color=MUTED, lw=0.9)
    places = ((y, x) for y in range(0, height, patch) for x in range(0, width, patch))
    for number, (y, x) in enumerate(places):
        ax.text(
            x + 0.4,
            y + 0.4,
            str(number),
            ha="left",
            va="top",
            fontsize=8.5,
            color=INK,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
