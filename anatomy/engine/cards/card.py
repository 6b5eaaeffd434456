"""A verdict as a card: HTML for the notebook and the feedback page, text for a terminal.

Feedback pages let only plain tags and a few style properties through (`classroom.grading.feedback.sanitize`), because
students wrote part of them. The card is made of those.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anatomy.engine.cards import matrices
from anatomy.engine.cards.markup import COLORS, chip, frame, line, prose, title
from anatomy.engine.exercise import in_points
from anatomy.engine.observing.printed import encodable

if TYPE_CHECKING:  # a kernel that grades can't import it, and shows other cards than a verdict's
    from collections.abc import Sequence

    from anatomy.engine.judging.verdict import Example, PropertyResult, Verdict


_CODE = "margin:0;padding:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"


class Card:
    """A verdict that displays itself: HTML in a notebook, text elsewhere."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def __repr__(self) -> str:
        return as_text(self.verdict)

    def _repr_html_(self) -> str:
        return f'<div role="status">{as_html(self.verdict)}</div>'


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    return encodable(_headline(verdict))


def _headline(verdict: Verdict) -> str:
    if _is_plainly_right(verdict):
        return f"Right: {_mark(verdict)}."
    if verdict.said:
        return verdict.said[0].headline
    return f"Not right yet: {_mark(verdict)}."


def _is_plainly_right(verdict: Verdict) -> bool:
    """Whether what stands in the answer's cell is right, not only an earlier version of it."""
    return verdict.status == "right" and not verdict.is_of_earlier


def _mark(verdict: Verdict) -> str:
    return in_points(verdict.points, verdict.max_points)


def as_text(verdict: Verdict) -> str:
    """Plain text, one line per statement."""
    is_right = _is_plainly_right(verdict)
    lines = [headline(verdict)]
    for index, diagnosis in enumerate(verdict.said):
        lines += [diagnosis.headline] if index or is_right else []
        lines += [diagnosis.detail] if diagnosis.detail else []
    if is_right:
        return encodable("\n".join([*lines, *filter(None, [verdict.when_right])]))
    if example := _shown(verdict):
        lines += [*_example_lines(example)]
    if verdict.printed:
        lines += ["Printed in the first case:", verdict.printed]
    if verdict.status != "not attempted":
        lines.append("  ".join(map(_in_words, _alike(verdict.results))))
        lines.append(f"{_mark(verdict).capitalize()}.")
    if verdict.picture and not verdict.example:  # one input is enough for a card
        lines.append(matrices.as_text(verdict.picture))
    return encodable("\n".join(lines))


def as_html(verdict: Verdict) -> str:
    """One self-contained card: no script, no style sheet, readable in light and dark themes."""
    is_right = _is_plainly_right(verdict)
    kind = "wrong" if verdict.is_of_earlier else verdict.status
    blocks = [_title(kind, headline(verdict))]
    for index, diagnosis in enumerate(verdict.said):
        more = index or is_right
        blocks += [line(f"<b>{prose(diagnosis.headline)}</b>")] if more else []
        blocks += [line(prose(diagnosis.detail))] if diagnosis.detail else []
    if is_right:
        blocks += [line(prose(verdict.when_right))] if verdict.when_right else []
        return _frame("right", blocks)
    if example := _shown(verdict):
        blocks.append(_example(example))
    if verdict.printed:
        blocks.append(line(f'Printed in the first case:<pre style="{_CODE}">{escape(verdict.printed)}</pre>'))
    if verdict.status != "not attempted":
        blocks += [_properties(verdict), line(f"{_mark(verdict).capitalize()}.")]
    if verdict.picture and not verdict.example:
        blocks.append(matrices.as_html(verdict.picture))
    return _frame(kind, blocks)


def ungraded(exercise: str, reason: str) -> str:
    """The card of an answer without a mark."""
    return _frame("ungraded", [
        _title("ungraded", "Not graded yet."),
        line(f"{escape(reason)} This is not a mark of 0: a person will look at <code>{escape(exercise)}</code>."),
    ])  # fmt: skip


def _frame(kind: str, blocks: list[str]) -> str:
    return encodable(frame(COLORS[kind], blocks))


def _title(kind: str, text: str) -> str:
    return title(prose(text), kind)


def _alike(results: Sequence[PropertyResult]) -> list[list[PropertyResult]]:
    """The properties in their order. Neighbors that are wrong for one reason stand together: it is said once."""
    groups: list[list[PropertyResult]] = []
    for result in results:
        if groups and result.detail and groups[-1][0].detail == result.detail:
            groups[-1].append(result)
        else:
            groups.append([result])
    return groups


def _properties(verdict: Verdict) -> str:
    return line(" &nbsp; ".join(map(_group, _alike(verdict.results))))


def _group(group: list[PropertyResult]) -> str:
    first = group[0]
    kind, word = ("right", "holds") if first.passed else ("wrong", "no points yet")
    detail = f' <span style="opacity:.75">({escape(first.detail)})</span>' if first.detail else ""
    names = [f"{escape(result.property)}{',' * (result is not group[-1])}" for result in group]
    names[0] = f"{chip(kind, word)} {names[0]}"
    return " ".join(f'<span style="white-space:nowrap">{name}</span>' for name in names) + detail


def _in_words(group: list[PropertyResult]) -> str:
    detail = f" ({group[0].detail})" if group[0].detail else ""
    return f"{'✓' if group[0].passed else '✗'} {', '.join(result.property for result in group)}{detail}"


def _shown(verdict: Verdict) -> Example | None:
    """The example, unless all that it shows is the error that the first line tells."""
    example = verdict.example
    if example is None or example.there:
        return example
    error, _, message = example.found.partition(": ")
    told = headline(verdict)
    return None if message and f"`{error}`" in told and message.rstrip(".") in told else example


def _example(example: Example) -> str:
    """The smallest input on which the answer and the contract differ, with both results."""
    cell = 'style="text-align:left;vertical-align:top;padding:0 .9em 0 0;border:0"'
    rows = "".join(
        f'<tr style="background-color:transparent"><td {cell}>{label}</td>'
        f'<td {cell}><pre style="{_CODE}">{escape(text)}</pre></td></tr>'
        for label, text in (("for", example.call), ("expected", example.expected), ("yours", example.found))
    )
    table = f'<table style="border:0;margin:0;background-color:transparent">{rows}</table>'
    return line(f"A small example where yours differs:{table}{prose(example.there)}")


def _example_lines(example: Example) -> list[str]:
    return ["A small example where yours differs:", f"  for      {example.call}",
            f"  expected {example.expected}", f"  yours    {example.found}",
            *filter(None, [example.there])]  # fmt: skip
