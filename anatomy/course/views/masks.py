"""Masks side by side: who may look at whom, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Shaped
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from torch import Tensor

from anatomy.course.views.inputs import as_array
from anatomy.course.views.style import COLORS, HAIRLINE, Picture, figure, styled
from anatomy.course.views.words import title_lines

PER_ROW = 5
MOST_TOKENS_WITH_LINES = 40


@styled
def mask_grids(
    masks: Mapping[str, Shaped[Tensor, "queries keys"]], *, reasons: Sequence[str] = (), alt: str | None = None
) -> Picture:
    """Masks as grids: a row for each query, a column for each key, filled where it may look.

    Args:
        masks: name → (T, S), up to five in a row; `True` or a number above 0 where the query may look at the key.
        reasons: what the numbers 1, 2, 3 … mean, each with a color of its own; without them all are one color.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: nothing to draw, something that is no matrix, or a number without a reason.
    """
    if not masks:
        raise ValueError("there is nothing to draw: give name → mask")
    grids = {name: as_array(mask, f"mask “{name}”", 2) for name, mask in masks.items()}
    most = int(max(grid.max() for grid in grids.values()))
    if reasons and most > len(reasons):
        raise ValueError(f"a mask holds the number {most}, but there are {len(reasons)} reasons")
    rows = -(-len(grids) // PER_ROW)
    columns = -(-len(grids) // rows)
    width = 8.2 if columns > 3 else 2.1 * columns
    picture = figure(width, (width / columns + 0.45) * rows + (0.35 if reasons else 0))
    axes = picture.subplots(rows, columns, squeeze=False)
    for ax, (name, grid) in zip(axes.flat, grids.items(), strict=False):
        _draw(ax, grid if reasons else np.minimum(grid, 1), max(1, len(reasons)))
        ax.set_title(title_lines(name, width / columns), fontsize=10)
    for ax in axes.flat[len(grids) :]:
        ax.axis("off")
    for row in axes:
        row[0].set_ylabel("query", fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("key", fontsize=9)
    if reasons:
        patches = [Patch(color=COLORS[place], label=reason) for place, reason in enumerate(reasons)]
        picture.legend(handles=patches, loc="outside lower center", ncols=len(reasons), fontsize=9, handlelength=1.0)
    picture.alt = alt or " ".join(_words(name, grid, reasons) for name, grid in grids.items())
    return picture


def _draw(ax: Axes, grid: np.ndarray, kinds: int) -> None:
    colors = ListedColormap(["#ffffff", *COLORS[:kinds]])
    lines = HAIRLINE if max(grid.shape) <= MOST_TOKENS_WITH_LINES else "none"
    ax.pcolormesh(grid, cmap=colors, vmin=-0.5, vmax=kinds + 0.5, edgecolors=lines, linewidth=0.5)
    ax.set_aspect("equal")
    ax.invert_yaxis()
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(True)


def _words(name: str, grid: np.ndarray, reasons: Sequence[str]) -> str:
    """Size, how many pairs, and for small masks what each query may look at."""
    seen = grid > 0
    size = f"{grid.shape[0]} queries, {grid.shape[1]} keys"
    text = f"Mask “{name}”: {size}, {int(seen.sum())} of {grid.size} pairs allowed"
    if grid.max() > 1:
        counts = ((int((grid == number).sum()), reason) for number, reason in enumerate(reasons, 1))
        text += ", " + ", ".join(f"{count} because of {reason}" for count, reason in counts if count)
    if grid.shape[0] <= 8:
        rows = (f"query {row} sees {', '.join(map(str, np.flatnonzero(keys)))}" for row, keys in enumerate(seen))
        text += f": {'; '.join(rows)}"
    return text + "."
