"""The verdict in feedback: a card that survives sanitizing.

Feedback pages let only plain tags and a few style properties through (`anatomy.grading.feedback`), because students
wrote part of them. So this card is made of those, and its heat maps are tables.
"""

from __future__ import annotations

import re
from html import escape

from anatomy.cards.card import headline
from anatomy.judging.verdict import MatrixPair, Verdict

_COLORS = {"right": "#1a7f37", "wrong": "#c4320a", "not attempted": "#6e7781", "ungraded": "#9a6700"}
_SIGNS = {"right": "✓", "wrong": "✗", "not attempted": "○", "ungraded": "?"}
_POSITIVE, _NEGATIVE = (230, 97, 1), (33, 102, 172)


def card(verdict: Verdict) -> str:
    """The verdict as HTML."""
    blocks = [_title(verdict.status, headline(verdict))]
    if verdict.status == "right":
        blocks += [_line(_prose(verdict.when_right))] if verdict.when_right else []
        return _frame("right", blocks)
    for index, diagnosis in enumerate(verdict.diagnoses):
        blocks += [_line(f"<b>{_prose(diagnosis.headline)}</b>")] if index else []
        blocks += [_line(_prose(diagnosis.detail))] if diagnosis.detail else []
    if verdict.status == "wrong":
        blocks += [_properties(verdict), _line(f"{verdict.points} of {verdict.max_points} points.")]
    if verdict.picture:
        blocks.append(_picture(verdict.picture))
    return _frame(verdict.status, blocks)


def ungraded_card(exercise: str, reason: str) -> str:
    """The card of an answer without a mark."""
    return _frame("ungraded", [
        _title("ungraded", "Not graded yet."),
        _line(f"{escape(reason)} This is not a mark of 0: a person will look at <code>{escape(exercise)}</code>."),
    ])  # fmt: skip


def _frame(kind: str, blocks: list[str]) -> str:
    style = (
        f"border-left:5px solid {_COLORS[kind]};padding:.5em .9em;margin:.3em 0;max-width:52em;"
        "background-color:rgba(127,127,127,.08);line-height:1.45"
    )
    return f'<div style="{style}">{"".join(blocks)}</div>'


def _title(kind: str, text: str) -> str:
    sign = f'<span style="color:{_COLORS[kind]}" aria-hidden="true">{_SIGNS[kind]}</span>'
    return f'<div style="font-weight:600">{sign} {_prose(text)}</div>'


def _line(html: str) -> str:
    return f'<div style="margin-top:.3em">{html}</div>'


def _properties(verdict: Verdict) -> str:
    items = []
    for result in verdict.results:
        kind, word = ("right", "holds") if result.passed else ("wrong", "does not hold")
        detail = f' <span style="opacity:.75">({escape(result.detail)})</span>' if result.detail else ""
        items.append(
            f'<span style="white-space:nowrap"><b style="color:{_COLORS[kind]}" title="{word}">{_SIGNS[kind]}</b> '
            f"{escape(result.property)}{detail}</span>"
        )
    return _line(" &nbsp; ".join(items))


def _picture(picture: MatrixPair) -> str:
    """Two tables of colored cells on one scale, and in words what they show."""
    values = [value for matrix in (picture.expected, picture.found) for row in matrix for value in row]
    size = max((abs(value) for value in values if _finite(value)), default=0) or 1.0
    style = "padding:.4em 1.4em 0 0;border:0;text-align:left;vertical-align:top"
    maps = "".join(
        f'<td style="{style}">{name}{_map(matrix, size)}</td>'
        for name, matrix in (("expected", picture.expected), ("yours", picture.found))
    )
    axes = f"down: {picture.rows}, across: {picture.columns}" if picture.rows else ""
    scale = f"orange positive, blue negative, full color ±{size:.3g}"
    words = "; ".join(filter(None, (picture.label, axes, scale)))
    rows = f"First row, expected: {_first_row(picture.expected)}; yours: {_first_row(picture.found)}."
    return (
        f'<table style="border:0;margin:0"><tr>{maps}</tr></table>'
        f'<div style="font-size:85%;opacity:.8">{escape(words)}. {escape(rows)}</div>'
    )


def _first_row(matrix: list[list[float]]) -> str:
    return ", ".join(f"{value:.3g}" for value in matrix[0][:6]) + (", …" if len(matrix[0]) > 6 else "")


def _map(matrix: list[list[float]], size: float) -> str:
    rows = "".join(f"<tr>{''.join(_cell(value, size) for value in row)}</tr>" for row in matrix)
    return f'<table style="border-collapse:collapse;border:1px solid #999;margin:0">{rows}</table>'


def _cell(value: float, size: float) -> str:
    style = f"background-color:{_color(value, size)};width:16px;height:16px;min-width:16px;padding:0;border:0"
    return f'<td style="{style}" title="{value:.4g}"></td>'


def _color(value: float, size: float) -> str:
    """From blue (negative) over white to orange (positive); NaN and infinite values are black."""
    if not _finite(value):
        return "#000"
    share = min(1.0, abs(value) / size)
    end = _POSITIVE if value > 0 else _NEGATIVE
    return "#{:02x}{:02x}{:02x}".format(*(round(255 + (channel - 255) * share) for channel in end))


def _finite(value: float) -> bool:
    return abs(value) < float("inf")


def _prose(text: str) -> str:
    """Escaped text in which `code` is set as code and **strong** as strong."""
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
