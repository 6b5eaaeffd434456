"""Expected against found, as two heat maps on one color scale and in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anatomy.engine.cards.markup import scrolling

if TYPE_CHECKING:
    from anatomy.engine.judging.verdict import MatrixPair

_POSITIVE, _NEGATIVE = (33, 102, 172), (230, 97, 1)
"""Blue and orange, as in `anatomy.course.views`; everybody can tell them apart."""


def as_html(pair: MatrixPair) -> str:
    """Two tables of colored cells: unlike SVG, they survive a feedback page's sanitizing."""
    values = [value for matrix in (pair.expected, pair.found) for row in matrix for value in row]
    size = max((abs(value) for value in values if _finite(value)), default=0) or 1.0
    maps = "".join(
        f'<td style="display:inline-block;padding:.4em 1.4em 0 0;border:0;text-align:left;vertical-align:top">'
        f"{name}{_map(matrix, size)}</td>"
        for name, matrix in (("expected", pair.expected), ("yours", pair.found))
    )
    axes = f"down: {pair.rows}, across: {pair.columns}" if pair.rows else ""
    scale = f"blue positive, orange negative, full color ±{size:.3g}"
    words = "; ".join(filter(None, (pair.label, axes, scale)))
    rows = f"First row, expected: {_first_row(pair.expected)}; yours: {_first_row(pair.found)}."
    plain = "border:0;margin:0;background-color:transparent"
    both = f'<table role="presentation" style="{plain}"><tr style="background-color:transparent">{maps}</tr></table>'
    return (
        scrolling(both, "Two heat maps: expected, and yours. What they show is said below them.")
        + f'<div style="font-size:85%;opacity:.8">{escape(words)}. {escape(rows)}</div>'
    )


def as_text(pair: MatrixPair) -> str:
    """The first rows of both."""
    mine, right = (
        "\n".join("  " + " ".join(f"{value:8.3f}" for value in row[:8]) for row in matrix[:3])
        for matrix in (pair.found, pair.expected)
    )
    return f"First rows ({pair.label or 'whole matrix'}), expected:\n{right}\nyours:\n{mine}"


def _first_row(matrix: list[list[float]]) -> str:
    return ", ".join(f"{value:.3g}" for value in matrix[0][:6]) + (", …" if len(matrix[0]) > 6 else "")


def _map(matrix: list[list[float]], size: float) -> str:
    rows = "".join(f"<tr>{''.join(_cell(value, size) for value in row)}</tr>" for row in matrix)
    style = "border-collapse:collapse;border:1px solid #999;margin:0"
    return f'<table aria-hidden="true" style="{style}">{rows}</table>'


def _cell(value: float, size: float) -> str:
    style = f"background-color:{_color(value, size)};width:16px;height:16px;min-width:16px;padding:0;border:0"
    return f'<td style="{style}" title="{value:.4g}"></td>'


def _color(value: float, size: float) -> str:
    """From orange (negative) over white to blue (positive); NaN and infinite values are black."""
    if not _finite(value):
        return "#000"
    share = min(1.0, abs(value) / size)
    end = _POSITIVE if value > 0 else _NEGATIVE
    return "#{:02x}{:02x}{:02x}".format(*(round(255 + (channel - 255) * share) for channel in end))


def _finite(value: float) -> bool:
    return abs(value) < float("inf")
