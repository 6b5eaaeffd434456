"""How a hunt looks: HTML in a notebook, Rich in a terminal, and the same as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from anatomy.engine.cards.markup import COLORS, chip, frame, line, plain, prose, title
from anatomy.engine.checking.progress import ProgressCard

if TYPE_CHECKING:
    from anatomy.engine.hunting.asking import Answered, Hunt
    from anatomy.engine.hunting.bugs import Bug
    from anatomy.engine.hunting.puzzle import Puzzle

_CODE = "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,90%);overflow-wrap:anywhere"
_COLOR = "#8250df"


# ---------------------------------------------------------------------------------------------- in words


def _title(bug: Bug) -> str:
    return f"Bug `{bug.id}`, in an answer to {bug.asked.number} `{bug.exercise}`"


def _fails(bug: Bug) -> str:
    """What the check says of it."""
    asked = bug.asked.properties
    holds = [name for name in asked if name not in bug.mistake.breaks]
    fails = [name for name in asked if name in bug.mistake.breaks]
    return f"Its check fails in: {', '.join(fails)}." + (f" It holds in: {', '.join(holds)}." if holds else "")


def _call(hunt: Hunt, puzzle: Puzzle) -> str:
    return f'hunt("{hunt.notebook.slug}", bug="{puzzle.bug.id}", line=0, says="?")'


def _example(puzzle: Puzzle) -> Iterator[tuple[str, str]]:
    if puzzle.example:
        yield from (("for", puzzle.example.call), ("wanted", puzzle.example.expected))
        yield "this gives", puzzle.example.found


def _sizes(puzzle: Puzzle) -> str:
    return f"Sizes in the sentences are those of the check: {puzzle.sizes}." if puzzle.sizes else ""


def _verdicts(answered: Answered) -> Iterator[tuple[bool, str]]:
    """Right or wrong, and a sentence: for the line and for what it does."""
    bug, letter = answered.puzzle.bug, answered.puzzle.letter
    *others, last = map(str, sorted(bug.faulty))
    where = f"lines {', '.join(others)} and {last} are" if others else f"line {last} is"
    if answered.is_first:
        line = ", yes." if answered.line_is_right else " is as it should be: another one is not."
        yield answered.line_is_right, f"Line {answered.line}{line}"
        if answered.sentence_is_right:
            yield True, f"{letter}, yes: {answered.puzzle.sentences[letter]}"
        else:
            yield False, f"Not {answered.says}: another sentence is true of it."
        return
    if answered.line_is_right:
        yield True, f"Line {answered.line}, yes." + (f" In all {where} not as in a right answer." if others else "")
    else:
        yield False, f"Line {answered.line} is as it should be: {where} not."
    if answered.sentence_is_right:
        yield True, f"{letter}, yes: {answered.puzzle.sentences[letter]}"
    else:
        yield False, f"Not {answered.says}. True of it is {letter}: {answered.puzzle.sentences[letter]}"


def _outcome(answered: Answered) -> str:
    found = "found, with its correction seen before." if answered.again else "found!"
    both = answered.line_is_right + answered.sentence_is_right
    once_more = " Try once more: after the next answer you see the correction." if answered.is_first else ""
    return f"Bug `{answered.puzzle.bug.id}`: {('not found.', 'half of it found.', found)[both]}{once_more}"


def _diff(answered: Answered) -> Iterator[tuple[str, str]]:
    """``"-"`` or ``"+"``, and the line with its number; nothing before the second try."""
    shown = () if answered.is_first else answered.puzzle.bug.diff
    yield from ((sign, f"{sign} {number:>3}  {text}") for sign, number, text in shown)


# ---------------------------------------------------------------------------------------------- HTML


def as_html(hunt: Hunt) -> str:
    """A card for what was answered, one for what is asked, and how far one is: no script, no style sheet."""
    cards = [_answer_card(hunt.answered)] if hunt.answered else []
    if hunt.puzzle:
        cards.append(frame(_COLOR, _question_blocks(hunt, hunt.puzzle)))
    elif hunt.note:
        cards.append(frame(_COLOR, [title(prose(hunt.note))]))
    progress = ProgressCard(hunt.course, hunt.notebook.slug)._repr_html_()
    return f'<div role="status">{"".join(cards)}</div>{progress}'


def _question_blocks(hunt: Hunt, puzzle: Puzzle) -> Iterator[str]:
    yield title(prose(_title(puzzle.bug)))
    if hunt.note:
        yield line(f"<b>{prose(hunt.note)}</b>")
    yield line("Suppose a friend shows you this. Which line is wrong, and what would you say?")
    style = f"{_CODE};white-space:pre-wrap;margin:.5em 0;padding:0 0 0 3em;list-style:decimal"
    lines = "".join(f'<li style="margin:0;padding:0 0 0 .5em">{escape(text)}</li>' for text in puzzle.bug.lines)
    yield f'<ol aria-label="The program, line by line" style="{style}">{lines}</ol>'
    yield line(prose(_fails(puzzle.bug)))
    style = "text-align:left;vertical-align:top;padding:0 .9em 0 0;border:0;font-weight:normal;white-space:nowrap"
    cell = f'style="{style}"'
    code = f'style="{_CODE};white-space:pre-wrap"'
    rows = "".join(
        f'<tr style="background-color:transparent"><th scope="row" {cell}>{name}</th>'
        f"<td {cell}><code {code}>{escape(text)}</code></td></tr>"
        for name, text in _example(puzzle)
    )
    if rows:
        yield line(f'A small example:<table style="border:0;margin:0;font-size:inherit">{rows}</table>')
    options = "".join(f'<li style="margin:.15em 0">{prose(text)}</li>' for text in puzzle.sentences.values())
    yield line(
        f'One of these sentences is true of it:<ol type="a" style="list-style:lower-alpha;margin:.2em 0">{options}</ol>'
    )
    if puzzle.sizes:
        yield f'<div style="font-size:85%;opacity:.8">{_sizes(puzzle)}</div>'
    yield line(f"Your answer, in the cell, with a number and a letter:<br><code>{escape(_call(hunt, puzzle))}</code>")


def _answer_card(answered: Answered) -> str:
    kind = "right" if answered.found else "wrong"
    said = (
        line(f"{chip(sign)} {prose(text)}")
        for sign, text in (("right" if right else "wrong", text) for right, text in _verdicts(answered))
    )
    colors = {"-": "rgba(196,50,10,.16)", "+": "rgba(26,127,55,.16)"}
    changes = "".join(
        f'<div style="background-color:{colors[sign]}">{escape(text)}</div>' for sign, text in _diff(answered)
    )
    style = f"{_CODE};white-space:pre-wrap;margin:.5em 0"
    diff = f'<div role="group" aria-label="The correction" style="{style}">{changes}</div>' if changes else ""
    return frame(COLORS[kind], [title(prose(_outcome(answered)), kind), *said, diff])


# ---------------------------------------------------------------------------------------------- terminal and text


def as_text(hunt: Hunt) -> str:
    """What a terminal shows, without colors."""
    console = Console(width=100, color_system=None, force_jupyter=False, legacy_windows=False)
    with console.capture() as shown:
        console.print(as_rich(hunt))
    return re.sub(r" +$", "", shown.get(), flags=re.MULTILINE).strip("\n")


def as_rich(hunt: Hunt) -> RenderableType:
    """For a terminal."""
    parts: list[RenderableType] = []
    if hunt.answered:
        parts += [*answer_parts(hunt.answered), ""]
    if hunt.puzzle:
        parts += question_parts(hunt.puzzle)
    if hunt.note:
        parts.append(Text(plain(hunt.note), "bold"))
    if hunt.puzzle:
        parts.append(f"Your answer, with a number and a letter:\n  {_call(hunt, hunt.puzzle)}")
    return Group(*parts)


def question_parts(puzzle: Puzzle) -> Iterator[RenderableType]:
    """A puzzle, without how to answer."""
    yield Text(plain(_title(puzzle.bug)), "bold")
    yield "Suppose a friend shows you this. Which line is wrong, and what would you say?\n"
    yield _rows((f"{number:>3}", Text(text)) for number, text in enumerate(puzzle.bug.lines, 1))
    yield Text(f"\n{_fails(puzzle.bug)}")
    if puzzle.example:
        yield "A small example:"
        yield _rows((f"  {name}", Text(text)) for name, text in _example(puzzle))
    yield "\nOne of these sentences is true of it:"
    yield _rows((f"  {letter}", Text(plain(text))) for letter, text in puzzle.sentences.items())
    yield Text(f"{_sizes(puzzle)}\n", "dim") if puzzle.sizes else ""


def answer_parts(answered: Answered) -> Iterator[RenderableType]:
    """What became of an answer."""
    yield Text(plain(_outcome(answered)), "bold green" if answered.found else "bold")
    for right, text in _verdicts(answered):
        sign = Text("✓", "green") if right else Text("✗", "red")
        yield _rows([(sign, Text(plain(text)))])
    changes = (Text(text, "red" if sign == "-" else "green") for sign, text in _diff(answered))
    yield Padding(Group(*changes), (0, 0, 0, 2))


def _rows(rows: Iterable[tuple[RenderableType, RenderableType]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
