"""Saying what a picture shows: numbers, titles and the words for a matrix."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np


def number(value: float) -> str:
    """A number as one would say it: three significant digits (four from 1,000 on), never -0."""
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("−∞" if value < 0 else "∞")
    if value == round(value) and abs(value) < 1e7:
        return f"{value:.0f}".replace("-", "−") if value else "0"
    if 999.5 <= abs(value) < 1e4:
        text = f"{value:.0f}"
    else:
        text = f"{value:.3g}" if 1e-3 <= abs(value) < 999.5 else f"{value:.1e}"
    return text.replace("-", "−")


def title_lines(title: str, width: float) -> str:
    """Break a title so that it fits a panel `width` inches wide."""
    return "\n".join(textwrap.wrap(title, max(12, int(width * 10.5))))


def quoted(title: str) -> str:
    """` “title”`, or nothing if there is none."""
    return f" “{title}”" if title else ""


def describe(
    array: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str = "",
    row_axis: str = "row",
    column_axis: str = "column",
) -> str:
    """What a heat map shows, in words: its size, its range, and where each row is largest (for up to ten rows).

    Where several entries of a row are largest, all are named: of a row of zeros and ones all that is marked.
    """
    finite = array[np.isfinite(array)]
    span = f"values from {number(finite.min())} to {number(finite.max())}" if finite.size else "no finite values"
    size = f"{array.shape[0]} rows ({row_axis}) by {array.shape[1]} columns ({column_axis})"
    text = f"Heat map{quoted(title)}: {size}, {span}."
    if array.shape[0] <= 10 and array.shape[1] > 1:
        tops = []
        for row, label in zip(array, rows, strict=True):
            if np.isfinite(row).any():
                most = row[np.isfinite(row)].max()
                best = np.flatnonzero(row == most)
                where = "all alike" if len(best) == len(row) else ", ".join(columns[place] for place in best.tolist())
                tops.append(f"{label}: {where} ({number(most)})")
        text += f" Largest in each row: {'; '.join(tops)}."
    return text
