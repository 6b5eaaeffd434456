"""Bars: one number each, or one per group, written at the end of the bar; and counts with what was to be expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import COLORS, INK, Picture, figure, styled
from anatomy.course.views.words import number, quoted, title_lines


@styled
def bar_chart(
    values: Mapping[str, float] | Mapping[str, Sequence[float]],
    title: str = "",
    *,
    value_label: str,
    groups: Sequence[str] | None = None,
    log: bool = False,
    alt: str | None = None,
) -> Picture:
    """Horizontal bars with their numbers written at the end.

    Args:
        values: name → number; or, with `groups`, name → one number per group (drawn side by side in each group).
        value_label: what the bars measure, with its unit.
        log: logarithmic axis; every value must then be above zero.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: nothing to draw, numbers that don't fit the groups, or values ≤ 0 on a logarithmic axis.
    """
    if not values:
        raise ValueError("there is nothing to draw: give name → value")
    names = list(values)
    if groups is None:
        rows, series = names, {"": as_array(list(values.values()), "values", 1)}
    else:
        rows, series = list(groups), {name: as_array(values[name], f"values of {name}", 1) for name in names}
        for name, numbers in series.items():
            check_labels(list(numbers), len(rows), f"values of {name} against groups")
    if log and any((numbers <= 0).any() for numbers in series.values()):
        raise ValueError("log: every value must be above zero")
    thick = 0.76 / len(series)
    picture = figure(6.6, 1.1 + len(rows) * max(0.36, 0.27 * len(series)))
    ax = picture.subplots()
    for place, (name, numbers) in enumerate(series.items()):
        heights = np.arange(len(rows)) + (place - (len(series) - 1) / 2) * thick
        bars = ax.barh(heights, numbers, height=thick * 0.9, color=COLORS[place % len(COLORS)], label=name)
        ax.bar_label(bars, [number(value) for value in numbers], padding=4, fontsize=9, color=INK)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.margins(x=0.13)
    if log:
        ax.set_xscale("log")
    ax.set_xlabel(value_label)
    ax.set_title(title_lines(title, 6.6))
    if groups is not None:
        picture.legend(loc="outside upper right", ncols=len(series), fontsize=9, handlelength=1.0)
    picture.alt = (
        alt
        or f"Bar chart{quoted(title)}, {value_label}: "
        + "; ".join(
            f"{row}: " + ", ".join(f"{name} {number(v[i])}".strip() for name, v in series.items())
            for i, row in enumerate(rows)
        )
        + "."
    )
    return picture


@styled
def histogram(
    x: Sequence[int],
    measured: Sequence[float],
    title: str = "",
    *,
    expected: tuple[str, Sequence[float]] | None = None,
    x_label: str,
    y_label: str,
    alt: str | None = None,
) -> Picture:
    """How often each whole number came, as upright bars, with points where a formula says that they should end.

    Args:
        x: N whole numbers; `measured`: how often each came, or its share.
        expected: name of the formula, and N numbers that it gives.
        x_label, y_label: what is counted, and how.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: nothing to draw, or lengths that differ.
    """
    places, heights = as_array(x, "x", 1), as_array(measured, "measured", 1)
    check_labels(list(heights), len(places), "measured")
    picture = figure(6.6, 3.2)
    ax = picture.subplots()
    ax.bar(places, heights, width=0.8, color=COLORS[0] + "88", label="measured")
    said = [f"{number(place)}: {number(height)}" for place, height in zip(places, heights, strict=True)]
    if expected is not None:
        name, values = expected[0], as_array(expected[1], expected[0], 1)
        check_labels(list(values), len(places), name)
        ax.plot(places, values, "o", ms=4.5, color=COLORS[1], label=name)
        said = [f"{words} ({number(value)})" for words, value in zip(said, values, strict=True)]
        ax.legend(loc="best", fontsize=9)
    if len(places) <= 20:
        ax.set_xticks(places)
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.set_title(title_lines(title, 6.6))
    brackets = f", in brackets {expected[0]}" if expected else ""
    picture.alt = alt or f"Histogram{quoted(title)}: {y_label}, by {x_label}{brackets}: {', '.join(said)}."
    return picture
