"""Lines: measurements against a size, with the names written at the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from anatomy.course.views.inputs import as_array, check_labels
from anatomy.course.views.style import COLORS, MUTED, Picture, figure, styled
from anatomy.course.views.words import number, quoted, title_lines

# One for each color: nobody needs to tell colors apart.
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (9, 2)), (0, (5, 2, 1, 2, 1, 2)), (0, (2, 2)),
)  # fmt: skip
MOST_MARKED = 64  # points; a line of more is a curve


@styled
def line_chart(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    title: str = "",
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    points: bool | None = None,
    band: tuple[str, Sequence[float], Sequence[float]] | None = None,
    alt: str | None = None,
) -> Picture:
    """Lines over one x axis, each named at its right end (no legend to look up).

    Args:
        x: N positions; `lines`: name → N values.
        x_label, y_label: what is measured, with its unit.
        log_x, log_y: logarithmic axes; every value must then be above zero.
        points: mark the measured points; None does so for up to 64.
        band: name, N lower and N upper bounds of a gray band behind the lines, such as where chance allows them.
        alt: words for the picture; made from the data when None.

    Raises:
        ValueError: no lines, lengths that differ, or values ≤ 0 on a logarithmic axis.
    """
    return line_charts(
        [lines],
        x,
        [title],
        x_label=x_label,
        y_labels=[y_label],
        log_x=log_x,
        log_y=log_y,
        points=points,
        band=band,
        alt=alt,
    )


@styled
def line_charts(
    panels: Sequence[Mapping[str, Sequence[float]]],
    x: Sequence[float],
    titles: Sequence[str],
    *,
    x_label: str,
    y_labels: Sequence[str],
    log_x: bool = False,
    log_y: bool | Sequence[bool] = False,
    points: bool | None = None,
    from_zero: bool = False,
    band: tuple[str, Sequence[float], Sequence[float]] | None = None,
    alt: str | None = None,
) -> Picture:
    """Charts side by side over the same x axis; a name keeps its color from panel to panel. See `line_chart`.

    `from_zero` starts the y axes at 0, so that heights can be compared as ratios.
    """
    positions = as_array(x, "x", 1)
    names = list(dict.fromkeys(name for lines in panels for name in lines))
    if not names:
        raise ValueError("there is nothing to draw: give at least one line as name → values")
    titles = check_labels(titles, len(panels), "titles")
    y_labels = check_labels(y_labels, len(panels), "y_labels")
    logs = [log_y] * len(panels) if isinstance(log_y, bool) else list(log_y)
    width = 6.6 if len(panels) == 1 else 4.4 * len(panels)
    picture = figure(width, 3.7)
    words = []
    for ax, lines, title, y_label, log in zip(
        picture.subplots(1, len(panels), squeeze=False)[0], panels, titles, y_labels, logs, strict=True
    ):
        curves = {name: _values(name, values, positions, log) for name, values in lines.items()}
        bounds = [_values(band[0], values, positions, log) for values in band[1:]] if band else []
        if band:
            ax.fill_between(positions, *bounds, color="#e3e7eb", lw=0, zorder=0)
            ax.annotate(
                band[0], (positions[0], bounds[1][0]), (4, 2), textcoords="offset points", fontsize=9, color=MUTED
            )
        if log_x and (positions <= 0).any():
            raise ValueError("log_x: every x must be above zero")
        for name, values in curves.items():
            place = names.index(name)
            marked = len(positions) <= MOST_MARKED if points is None else points
            ax.plot(
                positions,
                values,
                color=COLORS[place % len(COLORS)],
                ls=DASHES[place % len(DASHES)],
                marker="o" if marked else None,
                ms=4.5 if len(positions) <= 20 else 3,
            )
        _axes(ax, positions, log_x, log)
        ax.set(xlabel=x_label, ylabel=y_label)
        if from_zero and not log:
            ax.set_ylim(bottom=0)
        ax.set_title(title_lines(title, width / len(panels)))
        _name_lines(ax, positions, curves, names)
        words.append(_line_words(positions, curves, title, x_label, y_label))
        if band:
            first, last = (f"{number(bounds[0][i])} to {number(bounds[1][i])}" for i in (0, -1))
            words.append(f"Behind them a gray band, “{band[0]}”: {first} at the left, {last} at the right.")
    picture.alt = alt or " ".join(words)
    return picture


def _values(name: str, values: Any, x: np.ndarray, log: bool) -> np.ndarray:
    array = as_array(values, f"line “{name}”", 1)
    if len(array) != len(x):
        raise ValueError(f"line “{name}” has {len(array)} values for {len(x)} positions on the x axis")
    if log and (array <= 0).any():
        raise ValueError(f"log_y: line “{name}” has a value of {number(array.min())}; every value must be above zero")
    return array


def _axes(ax: Axes, x: np.ndarray, log_x: bool, log_y: bool) -> None:
    ax.grid(axis="y")
    if (x == x.round()).all():  # there is no epoch 2.5
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if log_y:
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
        low, high = ax.get_ylim()
        ax.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high / low < 100 else (1,), numticks=8))
        ax.yaxis.set_major_formatter(FuncFormatter(_log_tick))
    if log_x:
        ax.set_xscale("log")
        if len(x) <= 9:  # the measured sizes themselves are the best ticks
            ax.set_xticks(x)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def _log_tick(value: float, _: int) -> str:
    """0.01, 1, 200; and powers of ten where digits would only be zeros: 10⁻⁶."""
    if 1e-3 <= value < 1e5:
        return number(value)
    digits, exponent = f"{value:.0e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if digits == "1" else f"${digits}\\cdot{power}$"


def _name_lines(ax: Axes, x: np.ndarray, curves: Mapping[str, np.ndarray], names: Sequence[str]) -> None:
    """Write each line's name at its right end, moved apart where ends meet."""
    ax.autoscale_view()
    to_axes = ax.transScale + ax.transLimits
    ends = {}
    for name, values in curves.items():
        last = int(np.flatnonzero(np.isfinite(values))[-1]) if np.isfinite(values).any() else 0
        ends[name] = float(to_axes.transform((x[last], values[last]))[1]) if np.isfinite(values[last]) else 0.5
    order = sorted(ends, key=lambda name: ends[name])
    gap = 0.075
    places = [ends[name] for name in order]
    for _ in range(200):  # push neighbors apart, a little at a time
        for i in range(len(places) - 1):
            lack = gap - (places[i + 1] - places[i])
            if lack > 1e-6:
                places[i] -= lack / 2
                places[i + 1] += lack / 2
    for name, place in zip(order, places, strict=True):
        ax.annotate(
            name,
            (1.02, place),
            xycoords="axes fraction",
            va="center",
            fontsize=9,
            annotation_clip=False,
            color=COLORS[names.index(name) % len(COLORS)],
            weight="bold",
        )


def _line_words(x: np.ndarray, curves: Mapping[str, np.ndarray], title: str, x_label: str, y_label: str) -> str:
    parts = []
    for name, values in curves.items():
        last = int(np.flatnonzero(~np.isnan(values))[-1])
        text = f"{name} goes from {number(values[0])} to {number(values[last])}"
        if last < len(x) - 1:
            text += f" at {number(x[last])}, where it ends"
        inner = [
            f"{word} {number(values[i])} at {number(x[i])}"
            for word, i in (("highest", int(np.nanargmax(values))), ("lowest", int(np.nanargmin(values))))
            if 0 < i < last
        ]
        parts.append(text + (f" ({', '.join(inner)})" if inner and np.nanmax(values) > np.nanmin(values) else ""))
    head = f"Line chart{quoted(title)}: {y_label} against {x_label} from {number(x[0])} to {number(x[-1])}. "
    return head + "; ".join(parts) + "."
