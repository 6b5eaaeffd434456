"""Expected against found, as two heat maps on one color scale and in words."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from anatomy.engine.cards.markup import scrolling

if TYPE_CHECKING:
    from anatomy.engine.judging.verdict import MatrixPair

_POSITIVE, _NEGATIVE = (33, 102, 172), (230, 97, 1)
"""Blue and orange, as in `anatomy.course.views`; everybody can tell them apart."""

_MOST_ROWS, _MOST_COLUMNS = 3, 8
"""How many differing rows, and how many of their numbers, are said in words."""


def as_html(pair: MatrixPair) -> str:
    """Two tables of colored cells: unlike SVG, they survive a feedback page's sanitizing.

    In a dark theme JupyterLab and the website turn their lightness around, as that of the course's pictures.
    """
    values = [value for matrix in (pair.expected, pair.found) for row in matrix for value in row]
    size = max((abs(value) for value in values if math.isfinite(value)), default=0) or 1.0
    maps = "".join(
        f'<td style="display:inline-block;padding:.4em 1.4em 0 0;border:0;text-align:left;vertical-align:top">'
        f"{name}{_map(matrix, size)}</td>"
        for name, matrix in (("expected", pair.expected), ("yours", pair.found))
    )
    first = _rows(pair)[0]
    row = f"Row {first.place}, expected: {first.expected}; yours: {first.found}."
    plain = "border:0;margin:0;background-color:transparent"
    both = f'<table role="presentation" style="{plain}"><tr style="background-color:transparent">{maps}</tr></table>'
    said = " ".join(filter(None, (_what(pair), _scale(values, size), row)))
    return (
        scrolling(both, "Two heat maps: expected, and yours. The text below says what they show.")
        + f'<div style="font-size:85%;opacity:.8">{escape(said)}</div>'
    )


def as_text(pair: MatrixPair) -> str:
    """The first rows that differ, of both."""
    rows = _rows(pair)
    expected = [f"  row {row.place}:  {row.expected}" for row in rows]
    yours = [f"  row {row.place}:  {row.found}" for row in rows]
    return "\n".join(filter(None, [_what(pair), "expected", *expected, "yours", *yours]))


def _what(pair: MatrixPair) -> str:
    """What the matrices are."""
    axes = f"down: {pair.rows}; across: {pair.columns}" if pair.rows else ""
    drawn = "; ".join(filter(None, (pair.label, axes)))
    given = f"For {pair.inputs}: " if pair.inputs else ""
    return f"{given}{drawn}." if drawn else given


def _scale(values: list[float], size: float) -> str:
    """What the colors mean."""
    negative = any(value < 0 for value in values if math.isfinite(value))
    color = f"Blue is positive, orange negative, full color ±{size:.3g}." if negative \
        else f"0 has no color, {size:.3g} is full blue."  # fmt: skip
    return color + (" A cell with × holds NaN." if any(map(math.isnan, values)) else "")


class _Row(NamedTuple):
    """A row in words: its place, and its numbers as expected and as found."""

    place: int
    expected: str
    found: str


def _rows(pair: MatrixPair) -> list[_Row]:
    """The first rows that differ, with as many digits as it takes to see it."""
    both = list(enumerate(zip(pair.expected, pair.found, strict=True)))
    for digits in (3, 6):
        rows = [_Row(place, *said) for place, (right, mine) in both if (said := _apart(right, mine, digits))]
        if rows:
            return rows[:_MOST_ROWS]
    return [_Row(0, *(_numbers([_number(value, 6) for value in row], 0) for row in both[0][1]))]


def _apart(right: list[float], mine: list[float], digits: int) -> tuple[str, str] | None:
    """Two rows in words, from the first columns or from the one where they begin to differ; None if they don't."""
    expected, found = ([_number(value, digits) for value in row] for row in (right, mine))
    first = next((place for place, (a, b) in enumerate(zip(expected, found, strict=True)) if a != b), None)
    if first is None:
        return None
    start = first if first >= _MOST_COLUMNS else 0
    return _numbers(expected, start), _numbers(found, start)


def _numbers(row: list[str], start: int) -> str:
    shown = row[start : start + _MOST_COLUMNS]
    return ("…, " if start else "") + ", ".join(shown) + (", …" if len(row) > start + _MOST_COLUMNS else "")


def _number(value: float, digits: int = 3) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "−∞" if value < 0 else "∞"
    return f"{value + 0.0:.{digits}g}"  # never -0


def _map(matrix: list[list[float]], size: float) -> str:
    rows = "".join(f"<tr>{''.join(_cell(value, size) for value in row)}</tr>" for row in matrix)
    style = "border-collapse:collapse;border:1px solid #999;margin:0"
    return f'<table class="anatomy-themed" aria-hidden="true" style="{style}">{rows}</table>'


def _cell(value: float, size: float) -> str:
    """A cell of 16 by 16. What is no finite number says so in white on dark gray, whatever the theme."""
    style = f"background-color:{_color(value, size)};width:16px;height:16px;min-width:16px;padding:0;border:0"
    if math.isfinite(value):
        return f'<td style="{style}" title="{_number(value, 4)}"></td>'
    style += ";color:#fff;font-size:11px;line-height:1;text-align:center"
    return f'<td style="{style}" title="{_number(value)}">{"×" if math.isnan(value) else _number(value)}</td>'


def _color(value: float, size: float) -> str:
    """From orange (negative) over white to blue (positive); dark gray for NaN and infinite values."""
    if not math.isfinite(value):
        return "#444"
    share = min(1.0, abs(value) / size)
    end = _POSITIVE if value > 0 else _NEGATIVE
    return "#{:02x}{:02x}{:02x}".format(*(round(255 + (channel - 255) * share) for channel in end))
