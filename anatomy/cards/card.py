"""Show: a verdict as a card in the notebook and as text for a terminal."""

from __future__ import annotations

import re
from html import escape

from anatomy.judging.verdict import MatrixPair, PropertyResult, Verdict

_COLOURS = {"right": "#1a7f37", "wrong": "#c4320a", "not attempted": "#6e7781"}
_CELL = 16  # pixels


class Card:
    """A verdict that displays itself: HTML in a notebook, text elsewhere."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def __repr__(self) -> str:
        return as_text(self.verdict)

    def _repr_html_(self) -> str:
        return as_html(self.verdict)


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    points = f"{verdict.points} of {verdict.max_points} {'point' if verdict.max_points == 1 else 'points'}"
    if verdict.status == "right":
        return f"Right: {points}."
    if verdict.status == "not attempted":
        return verdict.diagnoses[0].headline
    return f"{verdict.diagnoses[0].headline}" if verdict.diagnoses else f"Not right yet: {points}."


def as_text(verdict: Verdict) -> str:
    """Plain text, one line per statement."""
    lines = [headline(verdict)]
    if verdict.status == "right":
        lines += [verdict.when_right] if verdict.when_right else []
        return "\n".join(lines)
    for index, diagnosis in enumerate(verdict.diagnoses):
        lines += [diagnosis.headline] if index else []
        lines += [diagnosis.detail] if diagnosis.detail else []
    if verdict.status == "wrong":
        lines.append("  ".join(_mark(result) for result in verdict.results))
        lines.append(f"{verdict.points} of {verdict.max_points} points so far.")
    if verdict.picture:
        lines.append(_picture_in_words(verdict.picture))
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """One self-contained card: no script, no style sheet, readable in light and dark themes."""
    colour = _COLOURS[verdict.status]
    sign = {"right": "✓", "wrong": "✗", "not attempted": "○"}[verdict.status]
    parts = [
        f'<div role="status" style="border-left:5px solid {colour};padding:.5em .9em;margin:.3em 0;max-width:52em;'
        'background:rgba(127,127,127,.08);border-radius:3px;line-height:1.45">',
        f'<div style="font-weight:600"><span style="color:{colour}" aria-hidden="true">{sign}</span> '
        f"{_prose(headline(verdict))}</div>",
    ]
    if verdict.status == "right":
        parts.append(f"<div>{_prose(verdict.when_right)}</div>" if verdict.when_right else "")
    for index, diagnosis in enumerate(verdict.diagnoses if verdict.status != "right" else ()):
        parts.append(
            f'<div style="font-weight:600;margin-top:.4em">{_prose(diagnosis.headline)}</div>' if index else ""
        )
        parts.append(f"<div>{_prose(diagnosis.detail)}</div>" if diagnosis.detail else "")
    if verdict.status == "wrong":
        parts.append(_properties(verdict))
    if verdict.picture:
        parts.append(_pictures(verdict.picture))
    return "".join(parts) + "</div>"


def _properties(verdict: Verdict) -> str:
    items = []
    for result in verdict.results:
        colour = _COLOURS["right" if result.passed else "wrong"]
        detail = f' <span style="opacity:.75">({escape(result.detail)})</span>' if result.detail else ""
        sign = "✓" if result.passed else "✗"
        items.append(f'<span style="white-space:nowrap;margin-right:1.1em"><b style="color:{colour}">{sign}</b> '
                     f"{escape(result.property)}{detail}</span>")  # fmt: skip
    total = f"{verdict.points} of {verdict.max_points} points so far."
    return f'<div style="margin-top:.45em">{" ".join(items)}</div><div style="opacity:.85">{total}</div>'


def _pictures(picture: MatrixPair) -> str:
    """Two heat maps on one color scale, as SVG, with the same content in words."""
    values = [v for matrix in (picture.expected, picture.found) for row in matrix for v in row if abs(v) < float("inf")]
    size = max((abs(v) for v in values), default=1.0) or 1.0
    maps = "".join(
        f'<figure style="display:inline-block;margin:.5em 1.4em 0 0"><figcaption style="font-size:85%">{name}'
        f"</figcaption>{_heat_map(matrix, size)}</figure>"
        for name, matrix in (("expected", picture.expected), ("yours", picture.found))
    )
    axes = f"down: {picture.rows}, across: {picture.columns}" if picture.rows else ""
    where = "; ".join(filter(None, (picture.label, axes, f"blue positive, orange negative, full color ±{size:.3g}")))
    words = escape(_picture_in_words(picture), quote=True)
    return (
        f'<div role="img" aria-label="{words}">{maps}</div><div style="font-size:80%;opacity:.75">{escape(where)}</div>'
    )


def _heat_map(matrix: list[list[float]], size: float) -> str:
    cells = []
    for y, row in enumerate(matrix):
        for x, value in enumerate(row):
            cells.append(f'<rect x="{x * _CELL}" y="{y * _CELL}" width="{_CELL}" height="{_CELL}" '
                         f'fill="{_colour(value, size)}"><title>[{y}, {x}] {value:.4g}</title></rect>')  # fmt: skip
    width, height = len(matrix[0]) * _CELL, len(matrix) * _CELL
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'style="border:1px solid rgba(127,127,127,.5);background:#fff">{"".join(cells)}</svg>'
    )


def _colour(value: float, size: float) -> str:
    """Orange (negative) to white to blue (positive), as in `anatomy.views`; NaN and infinite values are black."""
    if not abs(value) < float("inf"):
        return "#000"
    share = min(1.0, abs(value) / size)
    end = (33, 102, 172) if value > 0 else (230, 97, 1)
    red, green, blue = (round(255 + (channel - 255) * share) for channel in end)
    return f"rgb({red},{green},{blue})"


def _picture_in_words(picture: MatrixPair) -> str:
    mine = "\n".join("  " + " ".join(f"{value:8.3f}" for value in row[:8]) for row in picture.found[:3])
    right = "\n".join("  " + " ".join(f"{value:8.3f}" for value in row[:8]) for row in picture.expected[:3])
    return f"First rows ({picture.label or 'whole matrix'}), expected:\n{right}\nyours:\n{mine}"


def _mark(result: PropertyResult) -> str:
    detail = f" ({result.detail})" if result.detail else ""
    return f"{'✓' if result.passed else '✗'} {result.property}{detail}"


def _prose(text: str) -> str:
    """Escaped text in which `code`, **strong** and *emphasized* words are set as such."""
    parts = re.split(r"`([^`]+)`", escape(text))
    for index, part in enumerate(parts):
        if index % 2:
            parts[index] = f"<code>{part}</code>"
        else:
            strong = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
            parts[index] = re.sub(r"(?<![\w*])\*(\w[^*]*)\*(?![\w*])", r"<em>\1</em>", strong)
    return "".join(parts)
