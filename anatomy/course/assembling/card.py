"""How an assembly looks: one card for notebook, terminal and plain text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from anatomy.course.assembling.layout import listed
from anatomy.engine.cards.markup import COLORS, SIGNS, frame, line, prose, scrolling, title

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anatomy.course.assembling.assembly import Assembly, Entry

_HEADINGS = ("Notebook", "In the file", "Right")


def as_text(assembly: Assembly) -> str:
    """Plain text, one line per statement."""
    rows = [f"{label:<52} {inside:>11}   {right:>8}" for label, inside, right in (_HEADINGS, *_rows(assembly))]
    return "\n".join([_headline(assembly), *rows, *(f"{sign} {words}" for sign, words in _statements(assembly))])


def as_rich(assembly: Assembly) -> RenderableType:
    """For a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading == "Notebook" else "right")
    for row in _rows(assembly):
        table.add_row(*row)
    color = "green" if assembly.is_complete else "yellow"
    statements = [
        Text.assemble((f"{sign} ", _TERMINAL.get(sign, "")), words.replace("`", ""))
        for sign, words in _statements(assembly)
    ]
    return Group(Text(_headline(assembly).replace("`", ""), style=f"bold {color}"), "", table, "", *statements)


def as_html(assembly: Assembly) -> str:
    """One self-contained card: no script, no style sheet, readable in light and dark themes."""
    outcome = _outcome(assembly)
    cell = "text-align:left;padding:.1em 1.5em .1em 0;border:0;font-size:inherit"
    head = "".join(f'<th scope="col" style="{cell}">{heading}</th>' for heading in _HEADINGS)
    body = ""
    for label, *counts in _rows(assembly):
        cells = "".join(f'<td style="{cell};white-space:nowrap">{count}</td>' for count in counts)
        body += f'<tr><th scope="row" style="{cell};font-weight:normal">{prose(label)}</th>{cells}</tr>'
    table = (
        '<table style="border-collapse:collapse;margin:0;background-color:transparent">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
    blocks = [
        title(prose(_headline(assembly)), outcome),
        line(scrolling(table, "Table: answers by notebook")),
    ]
    blocks += [line(_signed(sign, words)) for sign, words in _statements(assembly)]
    return f'<div role="status">{frame(COLORS[outcome], blocks)}</div>'


_TERMINAL = {SIGNS["right"]: "green", SIGNS["wrong"]: "red"}
_WORDS = {SIGNS["right"]: "right", SIGNS["wrong"]: "not right"}


def _signed(sign: str, words: str) -> str:
    color = next((COLORS[kind] for kind in ("right", "wrong") if SIGNS[kind] == sign), "")
    mark = f'<b style="color:{color}" title="{_WORDS[sign]}">{sign}</b>' if color else sign
    return f"{mark} {prose(words)}"


def _outcome(assembly: Assembly) -> str:
    if assembly.is_complete:
        return "right"
    differs = any(one.difference is not None and not one.agrees for one in assembly.comparisons)
    return "wrong" if differs or assembly.of("wrong") else "not attempted"


def _headline(assembly: Assembly) -> str:
    total, wrong, unchecked = len(assembly.entries), len(assembly.of("wrong")), len(assembly.of("unchecked"))
    inside = total - len(assembly.of("missing"))
    how_many = "all" if inside == total else f"{inside} of"
    holds = f"`{assembly.path.name}` ({assembly.lines:,} lines) holds {how_many} {total} answers"
    if not wrong and not unchecked:
        return f"{holds}, and each of them is right." if inside else f"{holds}."
    doubts = [f"{count} {words}" for count, words in ((wrong, "not right yet"), (unchecked, "not checked")) if count]
    return f"{holds}; of these {listed(doubts)}."


def _rows(assembly: Assembly) -> Iterator[tuple[str, str, str]]:
    """Notebook, how many answers are in the file, how many of these are right."""
    for book, group in groupby(assembly.entries, key=lambda one: one.notebook):
        statuses = [one.status for one in group]
        inside = len(statuses) - statuses.count("missing")
        right = f"{statuses.count('right')} of {inside}" if inside else ""
        yield f"{book.number:02d} {book.title}", f"{inside} of {len(statuses)}", right


def _names(entries: Iterator[Entry]) -> str:
    return ", ".join(f"{one.number} `{one.exercise}`" for one in entries)


def _statements(assembly: Assembly) -> Iterator[tuple[str, str]]:
    """Sign and sentence: comparisons first, then what is wrong, what is missing, what else is to know."""
    for comparison in assembly.comparisons:
        differs = "wrong" if comparison.difference is not None else "not attempted"
        yield SIGNS["right" if comparison.agrees else differs], comparison.sentence
    for one in assembly.of("wrong"):
        yield SIGNS["wrong"], f"{one.number} `{one.exercise}`: {one.why}"
    for one in assembly.of("unchecked"):
        yield SIGNS["ungraded"], f"{one.number} `{one.exercise}` was not checked: {one.why}."
    yield from ((SIGNS["not attempted"], words) for words in _missing(assembly))
    yield from (("·", note) for note in assembly.notes)
    if assembly.kept:
        yield "·", f"What was in the file before is now in `{assembly.kept.name}`."
    yield "→", _next_step(assembly)


def _missing(assembly: Assembly) -> Iterator[str]:
    for problem in dict.fromkeys(assembly.problems.values()):
        yield f"{listed(slug for slug, why in assembly.problems.items() if why == problem)}: {problem}."
    rest = [one for one in assembly.of("missing") if one.notebook.slug not in assembly.problems]
    for (_, why), group in groupby(rest, key=lambda one: (one.notebook.slug, one.why)):
        yield f"{_names(group)}: {why}."


def _next_step(assembly: Assembly) -> str:
    module = assembly.path.stem
    if assembly.is_complete:
        return f"It is yours: `from {module} import GPT, Llama, TransformerEncoder`."
    if todo := assembly.of("wrong") or assembly.of("unchecked") or assembly.of("missing"):
        what = f"{'write' if todo[0].status == 'missing' else 'mend'} {todo[0].number} `{todo[0].exercise}`"
        return f"Next: {what} in {todo[0].notebook.slug}, save the notebook, and assemble again."
    return "Save your notebooks and assemble again when something has changed."
