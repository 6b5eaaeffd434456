"""The verdict in feedback: a card that survives sanitizing.

Feedback pages clean all HTML down to a few plain tags with classes, because students wrote part of it. So this card is
made of those, and its heat maps are tables; the inline styles serve viewers that keep them (JupyterLab, Formgrader),
the classes serve the feedback page, whose template has the same colors.
"""

from __future__ import annotations

import re
from html import escape

from anatomy.checking.show import headline
from anatomy.checking.verdict import Picture, Verdict

COLORS = {"right": "#1a7f37", "wrong": "#c4320a", "not-attempted": "#6e7781", "ungraded": "#9a6700"}
_SIGNS = {"right": "✓", "wrong": "✗", "not-attempted": "○", "ungraded": "?"}
STEPS = 8
"""Shades of each color in a heat map."""
_POSITIVE, _NEGATIVE = (230, 97, 1), (33, 102, 172)


def card(verdict: Verdict) -> str:
    """The verdict as HTML."""
    kind = verdict.status.replace(" ", "-")
    total = f"{verdict.points} of {verdict.max_points} points"
    blocks = [_title(kind, headline(verdict))]
    if verdict.status == "right":
        blocks += [_line(_prose(verdict.leads_on))] if verdict.leads_on else []
    for index, diagnosis in enumerate(verdict.diagnoses if verdict.status != "right" else ()):
        blocks += [_line(f"<b>{_prose(diagnosis.headline)}</b>")] if index else []
        blocks += [_line(_prose(diagnosis.detail))] if diagnosis.detail else []
    if verdict.status == "wrong":
        blocks.append(_line(" &nbsp; ".join(
            f"{'✓' if finding.passed else '✗'} {escape(finding.property)}"
            f"{f' ({escape(finding.detail)})' if finding.detail else ''}" for finding in verdict.findings
        )))  # fmt: skip
        blocks.append(_line(f"{total}."))
    if verdict.picture:
        blocks.append(_picture(verdict.picture))
    return _frame(kind, blocks)


def ungraded_card(exercise: str, reason: str) -> str:
    """The card of an answer without a mark."""
    return _frame("ungraded", [
        _title("ungraded", "Not graded yet."),
        _line(f"{escape(reason)} This is not a mark of 0: a person will look at <code>{escape(exercise)}</code>."),
    ])  # fmt: skip


def style_sheet() -> str:
    """The CSS of these cards, for a page that strips inline styles."""
    rules = [
        ".anatomy-card{padding:.5em .9em;margin:.3em 0;max-width:52em;background:#f6f8fa;border-left:5px solid #999;"
        "line-height:1.45}",
        ".anatomy-title{font-weight:600}",
        ".anatomy-maps td{padding:0 1.4em 0 0;vertical-align:top;border:0;font-size:85%}",
        ".anatomy-map{border-collapse:collapse;border:1px solid #999}",
        ".anatomy-map td{width:16px;height:16px;min-width:16px;padding:0;border:0}",
    ]
    rules += [f".anatomy-{kind}{{border-left-color:{color}}} .anatomy-sign-{kind}{{color:{color}}}"
              for kind, color in COLORS.items()]  # fmt: skip
    rules += [f".anatomy-map td.anatomy-{_shade_name(step)}{{background-color:{_shade(step)}}}"
              for step in range(-STEPS, STEPS + 1)]  # fmt: skip
    return "\n".join([*rules, ".anatomy-map td.anatomy-nan{background-color:#000}"])


def _frame(kind: str, blocks: list[str]) -> str:
    style = (f"border-left:5px solid {COLORS[kind]};padding:.5em .9em;margin:.3em 0;max-width:52em;"
             "background:rgba(127,127,127,.08);line-height:1.45")  # fmt: skip
    return f'<div class="anatomy-card anatomy-{kind}" style="{style}">{"".join(blocks)}</div>'


def _title(kind: str, text: str) -> str:
    sign = f'<span class="anatomy-sign-{kind}" style="color:{COLORS[kind]}">{_SIGNS[kind]}</span>'
    return f'<div class="anatomy-title" style="font-weight:600">{sign} {_prose(text)}</div>'


def _line(html: str) -> str:
    return f"<div>{html}</div>"


def _picture(picture: Picture) -> str:
    """Two tables of colored cells on one scale, and in words what they show."""
    size = (
        max((abs(v) for m in (picture.expected, picture.found) for row in m for v in row if _finite(v)), default=0) or 1
    )
    maps = "".join(
        f'<td style="padding:0 1.4em 0 0;border:0;text-align:left">{name}<br>{_map(matrix, size)}</td>'.replace(
            "<br>", ""
        )
        for name, matrix in (("expected", picture.expected), ("yours", picture.found))
    )
    axes = f"down: {picture.rows}, across: {picture.columns}" if picture.rows else ""
    words = "; ".join(filter(None, (picture.label, axes, f"orange positive, blue negative, full color ±{size:.3g}")))
    mine, right = (", ".join(f"{value:.3g}" for value in matrix[0][:6]) for matrix in (picture.found, picture.expected))
    rows = f"First row, expected: {right}{'…' if len(picture.expected[0]) > 6 else ''}. Yours: {mine}" + (
        "…." if len(picture.found[0]) > 6 else "."
    )
    return (f'<table class="anatomy-maps" style="border:0"><tr>{maps}</tr></table>'
            f"<div><i>{escape(words)}. {escape(rows)}</i></div>")  # fmt: skip


def _map(matrix: list[list[float]], size: float) -> str:
    rows = "".join(f"<tr>{''.join(_cell(value, size) for value in row)}</tr>" for row in matrix)
    return f'<table class="anatomy-map" style="border-collapse:collapse;border:1px solid #999">{rows}</table>'


def _cell(value: float, size: float) -> str:
    if not _finite(value):
        name, color = "nan", "#000"
    else:
        step = round(max(-1.0, min(1.0, value / size)) * STEPS)
        name, color = _shade_name(step), _shade(step)
    style = f"background-color:{color};width:16px;height:16px;min-width:16px;padding:0;border:0"
    return f'<td class="anatomy-{name}" style="{style}"></td>'


def _shade_name(step: int) -> str:
    return f"{'n' if step < 0 else 'p'}{abs(step)}"


def _shade(step: int) -> str:
    """From blue (negative) over white to orange (positive)."""
    end = _POSITIVE if step > 0 else _NEGATIVE
    red, green, blue = (round(255 + (channel - 255) * abs(step) / STEPS) for channel in end)
    return f"rgb({red},{green},{blue})"


def _finite(value: float) -> bool:
    return abs(value) < float("inf")


def _prose(text: str) -> str:
    """Escaped text in which `code` is set as code and **strong** as strong."""
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
