"""Check a whole notebook file from a terminal: run it in a kernel that looks as a notebook does, judge what was seen.

The same verdicts as in the notebook itself; the file is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from rich.text import Text

from anatomy import exercises
from anatomy.authoring.notebooks import read
from anatomy.authoring.running import CellFailed, run
from anatomy.cards import as_text
from anatomy.checking import HAND_OVER
from anatomy.errors import UserError
from anatomy.judging.judge import judge
from anatomy.judging.verdict import Verdict
from anatomy.observing.observation import Observation
from anatomy.observing.records import MIME, Unreadable, decode

CALL = re.compile(r"""^check\(["'](\w+)["']\)\s*$""", re.MULTILINE)

_SIGNS = {"right": ("✓", "green"), "wrong": ("✗", "red"), "not attempted": ("○", "bright_black")}


class NoChecks(UserError):
    """A notebook has nothing to check."""


@dataclass(frozen=True)
class Checked:
    """One check of a notebook: its verdict, or None and the reason why there is none."""

    exercise: str
    verdict: Verdict | None
    why_not: str = ""

    @property
    def is_right(self) -> bool:
        return self.verdict is not None and self.verdict.status == "right"

    def __rich__(self) -> Text:
        status = self.verdict.status if self.verdict else "wrong"
        sign, color = _SIGNS[status]
        lines = as_text(self.verdict).splitlines() if self.verdict else ["No verdict.", self.why_not]
        return Text.assemble((f"{sign} {self.exercise}", f"bold {color}"), "  " + "\n    ".join(lines))


def check_file(path: Path, *, limit: float = 120, on_cell: Callable[[int, int], None] | None = None) -> list[Checked]:
    """Run all checks of this notebook file, in order.

    Parameters
    ----------
    limit
        Seconds that one cell may take.
    on_cell
        Called with a cell's number and how many there are, before it runs.

    Raises
    ------
    BadNotebook
        When the file can't be read as a notebook.
    NoChecks
        When it has no check of an exercise of this course.
    """
    book = read(path)
    if not any(_asked(cell) for cell in book.cells):
        raise NoChecks(f'{path} has no check of an exercise that this machine knows, such as check("softmax").')
    stopped = ""
    try:
        run(
            book,
            path.resolve().parent,
            keep_going=True,
            limit=limit,
            environment={HAND_OVER: "1"},
            on_cell=lambda index: on_cell(index + 1, len(book.cells)) if on_cell else None,
        )
    except CellFailed as failure:
        stopped = str(failure)
    return list(_verdicts(book, stopped))


def _verdicts(book: NotebookNode, stopped: str) -> Iterator[Checked]:
    for cell in book.cells:
        if name := _asked(cell):
            seen = _observation(cell)
            if seen is not None and seen.exercise == name:
                yield Checked(name, judge(exercises.find(name), seen))
            else:
                why = _error(cell) or (f"The notebook stopped at {stopped}." if stopped else "The check said nothing.")
                yield Checked(name, None, why)


def _asked(cell: NotebookNode) -> str:
    """The exercise that a cell checks, or an empty string."""
    match = CALL.search(cell.source) if cell.cell_type == "code" else None
    try:
        return exercises.find(match[1]).name if match else ""
    except KeyError:
        return ""


def _observation(cell: NotebookNode) -> Observation | None:
    for output in cell.outputs:
        if MIME in output.get("data", {}):
            try:
                return decode(output.data[MIME])
            except Unreadable:
                return None
    return None


def _error(cell: NotebookNode) -> str:
    """What a cell raised, in one line."""
    for output in cell.outputs:
        if output.output_type == "error":
            return f"{output.ename}: {output.evalue}".strip().splitlines()[0]
    return ""
