"""Matrices as pictures: one cell per entry, token labels, one color scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from torch import Tensor

from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import DIVERGING, HAIRLINE, MUTED, PALE, SEQUENTIAL, Picture, figure, styled
from anatomy.course.views.words import describe, title_lines

MOST_CELLS_WITH_NUMBERS = 100
CELL = 0.52  # inches, when there is room
ROOM_FOR_A_NUMBER = 0.38  # inches: in a narrower cell nobody can read it


def heat_map(
    matrix: Float[Tensor, "rows columns"],
    rows: Sequence[Any] | None = None,
    columns: Sequence[Any] | None = None,
    title: str = "",
    *,
    alt: str | None = None,
    row_axis: str = "query",
    column_axis: str = "key",
    scale: tuple[float, float] | None = None,
    values: bool | None = None,
) -> Picture:
    """One matrix (R, C) as a heat map.

    Args:
        rows, columns: labels, one per row (column); None numbers them.
        alt: words for the picture; made from the data when None.
        row_axis, column_axis: what a row and a column is.
        scale: smallest and largest value of the color scale; from the data when None. If values are negative it is
            symmetric around a white zero: blue above, orange below.
        values: write the numbers into the cells; None does so when there are few and each has room.

    Raises:
        ValueError: not a matrix, or the number of labels differs from its size.
    """
    return heat_maps(
        [matrix],
        [title],
        rows,
        columns,
        alt=alt,
        row_axis=row_axis,
        column_axis=column_axis,
        scale=scale,
        values=values,
    )


@styled
def heat_maps(
    matrices: Sequence[Float[Tensor, "rows columns"]],
    titles: Sequence[str] | None = None,
    rows: Sequence[Any] | None = None,
    columns: Sequence[Any] | None = None,
    *,
    alt: str | None = None,
    row_axis: str = "query",
    column_axis: str = "key",
    scale: tuple[float, float] | None = None,
    values: bool | None = None,
) -> Picture:
    """Matrices side by side on **one** color scale, so that equal colors are equal numbers.

    The arguments are those of `heat_map`; `titles` has one entry per matrix. The labels serve every panel, so all
    matrices have one shape when labels are given. Raises ValueError as `heat_map` does.
    """
    arrays = [as_array(matrix, f"matrix {index}", 2) for index, matrix in enumerate(matrices)]
    if not arrays:
        raise ValueError("heat_maps needs at least one matrix")
    names = check_labels(titles, len(arrays), "titles") if titles is not None else [""] * len(arrays)
    row_labels = [check_labels(rows, a.shape[0], "rows") for a in arrays]
    column_labels = [check_labels(columns, a.shape[1], "columns") for a in arrays]
    low, high, colors = color_scale(arrays, scale)
    biggest = max(a.size for a in arrays)
    widths = [_extent(a.shape[1], len(arrays)) for a in arrays]
    room = min(width / a.shape[1] for a, width in zip(arrays, widths, strict=True))
    write = biggest <= MOST_CELLS_WITH_NUMBERS and room >= ROOM_FOR_A_NUMBER if values is None else values
    if write:
        colors = PALE[colors.name]

    digits = _digits(np.concatenate([a.flatten() for a in arrays]))
    tall = max(_height(a, width) for a, width in zip(arrays, widths, strict=True))
    margin = 0.3 + 0.075 * max(len(label) for labels in row_labels for label in labels)
    picture = figure(sum(widths) + margin * len(arrays) + 1.2, tall + 1.25)
    axes = picture.subplots(1, len(arrays), squeeze=False, width_ratios=[w + margin for w in widths])[0]
    image: Any = None
    for ax, array, name, left, below, width in zip(axes, arrays, names, row_labels, column_labels, widths, strict=True):
        image = draw_matrix(ax, array, left, below, low, high, colors)
        ax.set_title(title_lines(name, width + margin + (0.8 if len(arrays) == 1 else 0)) if name else "")
        ax.set_xlabel(column_axis)
        if write:
            _write_values(ax, array, digits, small=CELL * array.shape[1] > width * 1.05)
    axes[0].set_ylabel(row_axis)
    levels = _levels(arrays, low, high)
    bar = picture.colorbar(image, ax=list(axes), shrink=0.9, pad=0.02, aspect=24, **levels)
    bar.outline.set(edgecolor=HAIRLINE, linewidth=0.8)  # or its white end were nowhere
    bar.ax.tick_params(length=0)
    picture.alt = alt or " ".join(
        describe(a, left, below, name, row_axis, column_axis)
        for a, name, left, below in zip(arrays, names, row_labels, column_labels, strict=True)
    )
    return picture


def color_scale(arrays: Sequence[np.ndarray], scale: tuple[float, float] | None) -> tuple[float, float, Colormap]:
    """Ends of the scale and its colors: white to blue from zero; or orange, white, blue around zero."""
    finite = np.concatenate([a[np.isfinite(a)] for a in arrays])
    low, high = scale or ((float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0))
    if low < 0:
        end = max(-low, high)
        return -end, end, DIVERGING
    return (low if scale else 0.0), (high if high > 0 else 1.0), SEQUENTIAL


def draw_matrix(
    ax: Axes, array: np.ndarray, rows: Sequence[str], columns: Sequence[str], low: float, high: float, colors: Colormap
) -> Any:
    """Draw one matrix into `ax`, with thin white lines between cells and labels that turn when they are long."""
    colors = colors.with_extremes(bad="#c9ced4")  # NaN and infinities are grey
    mesh = ax.pcolormesh(
        np.ma.masked_invalid(array),
        cmap=colors,
        vmin=low,
        vmax=high,
        edgecolors="#eceff2" if array.size <= 900 else "none",
        linewidth=0.8,
    )
    ax.set_aspect("equal" if array.size <= 900 else "auto")
    ax.invert_yaxis()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    every_row, every_column = (max(1, -(-n // 24)) for n in array.shape)
    ax.set_yticks(np.arange(0, len(rows), every_row) + 0.5, list(rows)[::every_row])
    shown = list(columns)[::every_column]
    turn = max(len(label) for label in shown) > (4 if len(columns) <= 12 else 2)
    if len(shown) > 12 and not turn:  # neighbors must not touch
        ax.tick_params(axis="x", labelsize=7.5)
    ax.set_xticks(
        np.arange(0, len(columns), every_column) + 0.5,
        shown,
        rotation=45 if turn else 0,
        ha="right" if turn else "center",
        rotation_mode="anchor",
    )
    return mesh


def _levels(arrays: Sequence[np.ndarray], low: float, high: float) -> dict[str, Any]:
    """A color bar with one block for each whole number, where all values are whole and few."""
    finite = np.concatenate([a[np.isfinite(a)] for a in arrays])
    if high - low > 4 or low != round(low) or high != round(high) or (finite != np.round(finite)).any():
        return {}
    ticks = np.arange(low, high + 1)
    return {"ticks": ticks, "values": ticks, "boundaries": np.arange(low - 0.5, high + 1), "drawedges": True}


def _extent(cells: int, panels: int) -> float:
    """Inches for `cells` cells: natural size, but the page stays about 8 inches wide."""
    most = 5.2 if panels == 1 else 7.0 / panels
    return max(1.2, min(cells * CELL, most))


def _height(array: np.ndarray, width: float) -> float:
    """Inches that a matrix takes below each other: as much as its cells do, where cells are square."""
    natural = _extent(array.shape[0], 1)
    return natural if array.size > 900 else min(natural, max(1.2, array.shape[0] * width / array.shape[1]))


def _digits(values: np.ndarray) -> int:
    """How many digits are written behind the point: none where all numbers are whole."""
    if np.isfinite(values).all() and (values == np.round(values)).all():
        return 0
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    return 2 if largest < 10 else 1 if largest < 100 else 0


def _write_values(ax: Axes, array: np.ndarray, digits: int, small: bool) -> None:
    for (i, j), value in np.ndenumerate(array):
        if np.isnan(value):  # as on cards
            text = "×"
        elif np.isinf(value):
            text = "−∞" if value < 0 else "∞"
        else:
            text = f"{value:.{digits}f}"
            text = text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")
        ax.text(
            j + 0.5,
            i + 0.5,
            text,
            ha="center",
            va="center",
            fontsize=7.5 if small else 8.5,
            color="black" if value and not np.isnan(value) else MUTED,
        )
