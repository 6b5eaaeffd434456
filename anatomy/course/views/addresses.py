"""Whose numbers stand where after a tensor was cut, joined or turned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int
from matplotlib.colors import ListedColormap
from torch import Tensor

from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import COLORS, Picture, figure, styled


@styled
def number_tables(
    tables: Mapping[str, Int[Tensor, "rows columns"]],
    tokens: Sequence[Any],
    width: int,
    title: str = "",
    *,
    alt: str | None = None,
) -> Picture:
    """Tables side by side whose entries say where they come from: token · width + column.

    The color is the token's, the number in a cell is its column. The first table is the whole: one row a token.

    Args:
        tables: name → whole numbers from 0 to tokens · width − 1.
        tokens: labels of the first table's rows; `width`: columns of a token.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: no tables, more tokens than colors, or numbers that belong to no token.
    """
    if not tables:
        raise ValueError("there are no tables to draw")
    arrays = {name: as_array(table, f"table “{name}”", 2).astype(int) for name, table in tables.items()}
    words = check_labels(tokens, next(iter(arrays.values())).shape[0], "tokens")
    if len(words) > len(COLORS):
        raise ValueError(f"there are {len(words)} tokens, but colors for {len(COLORS)} only")
    picture = figure(7.2, 2.9)
    if title:
        picture.suptitle(title, x=0.01, ha="left", fontsize=11, weight="bold")
    axes = picture.subplots(1, len(arrays), squeeze=False, width_ratios=[a.shape[1] + 1 for a in arrays.values()])[0]
    colors, said = ListedColormap(COLORS[: len(words)]), []
    for ax, (name, array) in zip(axes, arrays.items(), strict=True):
        owner = array // width
        if owner.min() < 0 or owner.max() >= len(words):
            raise ValueError(
                f"table “{name}”: a number belongs to no token; they go from 0 to {len(words) * width - 1}"
            )
        ax.pcolormesh(owner, cmap=colors, vmin=-0.5, vmax=len(words) - 0.5, edgecolors="white", linewidth=2)
        for (row, column), entry in np.ndenumerate(array):
            ax.text(column + 0.5, row + 0.5, str(entry % width), color="white", ha="center", va="center")
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_title(name, loc="center", fontsize=10, weight="normal")
        ax.invert_yaxis()
        said.append(f"{name}: {'; '.join(_row_words(row, words, width) for row in array)}")
    axes[0].set_yticks([t + 0.5 for t in range(len(words))], words)
    picture.alt = alt or f"{title or 'Tables'}: colored tables, one color per token. {'. '.join(said)}."
    return picture


def _row_words(row: np.ndarray, words: Sequence[str], width: int) -> str:
    """One row, e.g. “flies 3 to 5” or “time 0, flies 0”."""
    if len(row) > 1 and (np.diff(row) == 1).all() and row[0] // width == row[-1] // width:
        return f"{words[row[0] // width]} {row[0] % width} to {row[-1] % width}"
    return ", ".join(f"{words[entry // width]} {entry % width}" for entry in row)
