"""Check a whole notebook file from a terminal: run it in a kernel that only looks, then have judged what it saw.

It is judged here, or by the class's judge where there is one, as in the notebook itself. The file is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from rich.text import Text

from anatomy.engine.cards import as_text
from anatomy.engine.cards.markup import plain
from anatomy.engine.checking import HAND_OVER, remote
from anatomy.engine.checking.calling import MOST_PARTS, CheckUnavailable
from anatomy.engine.checking.joining import class_judge
from anatomy.engine.course import Course
from anatomy.engine.errors import UserError
from anatomy.engine.exercise import Exercise
from anatomy.engine.notebook_files.notebooks import read
from anatomy.engine.notebook_files.running import CellFailed, run
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.records import MIME, Unreadable, decode

if TYPE_CHECKING:  # the edition for a class does not have it
    from anatomy.engine.judging.verdict import Verdict

CALL = re.compile(r"""^check\(["'](\w+)["']\)\s*$""", re.MULTILINE)

_SIGNS = {"right": ("✓", "green"), "wrong": ("✗", "red"), "not attempted": ("○", "bright_black"),
          "no verdict": ("✗", "red"), "not checked": ("?", "yellow")}  # fmt: skip


class NoChecks(UserError):
    """A notebook has nothing to check."""


@dataclass(frozen=True)
class Checked:
    """One check of a notebook: what came of it, and that in words.

    Attributes
    ----------
    status
        A verdict's; ``"no verdict"`` when the notebook gave nothing to judge; ``"not checked"`` when the class's judge
        did not answer, which says nothing about the notebook.
    text
        The card, or the reason why there is none.
    verdict
        This machine's or the judge's, if there is one.
    why
        What became of each sentence that the card might say (`anatomy.engine.judging.trail`).
    command
        What to type so that the judge answers next time, where that helps.
    """

    exercise: str
    status: str
    text: str
    verdict: Verdict | remote.RemoteVerdict | None = None
    why: tuple[str, ...] = ()
    command: str = ""

    def __rich__(self) -> Text:
        sign, color = _SIGNS[self.status]
        lines = plain(self.text).splitlines()[: 1 if self.status == "not attempted" else None]  # then what to run
        return Text.assemble((f"{sign} {self.exercise}", f"bold {color}"), "  " + "\n    ".join(lines))


Judging = Callable[[Exercise, Observation, list[Observation]], Checked]
"""From an exercise, what was seen of its answer and of the earlier answers that this calls, to what came of it."""


def check_file(
    course: Course, path: Path, *, limit: float = 120, say: Callable[[str], None] = lambda _: None
) -> Iterator[Checked]:
    """Run a notebook file; then what came of each of its checks, in order.

    Parameters
    ----------
    limit
        Seconds that one cell may take.
    say
        Told, in a few words, what is being done.

    Raises
    ------
    BadNotebook
        When the file can't be read as a notebook.
    NoChecks
        When it has no check of an exercise of this course.
    """
    book = read(path)
    if not any(_asked(course, cell) for cell in book.cells):
        raise NoChecks(f'{path} has no check of an exercise that this machine knows, such as check("softmax").')
    judging = partial(_asked_elsewhere, address) if (address := class_judge()) else _judged_here
    stopped, said = "", set[str]()
    try:
        run(
            book,
            path.resolve().parent,
            keep_going=True,
            limit=limit,
            environment={HAND_OVER: "1"},
            on_cell=lambda index: say(f"Running cell {index + 1} of {len(book.cells)}"),
        )
    except CellFailed as failure:
        stopped = f"The notebook stopped at {failure}."
    for cell in book.cells:
        if exercise := _asked(course, cell):
            say(f"Judging {exercise.name}")
            checked = _checked(exercise, cell, stopped, judging)
            is_said = checked.status == "not checked" and checked.text in said
            said.add(checked.text)
            yield replace(checked, text="Not checked, for the same reason.") if is_said else checked


def _checked(exercise: Exercise, cell: NotebookNode, stopped: str, judging: Judging) -> Checked:
    handed_over = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    try:
        seen, parts = _observations(handed_over[0]) if handed_over else (None, [])
    except Unreadable as error:
        return _without_verdict(exercise, f"What the check saw can't be read: {error}.")
    if seen is None or seen.exercise != exercise.name:
        return _without_verdict(exercise, _error(cell) or stopped or "The check said nothing.")
    return judging(exercise, seen, parts)


def _judged_here(exercise: Exercise, seen: Observation, parts: list[Observation]) -> Checked:
    """A kernel that asks no judge has tried right parts itself, and says so in what it saw: `parts` tell nothing."""
    from anatomy.engine.judging import trail
    from anatomy.engine.judging.judge import judge

    with trail.kept() as why:
        verdict = judge(exercise, seen)
    return Checked(exercise.name, verdict.status, as_text(verdict), verdict, tuple(why))


def _asked_elsewhere(address: str, exercise: Exercise, seen: Observation, parts: list[Observation]) -> Checked:
    try:
        answer = remote.ask(address, exercise, seen, parts)
    except CheckUnavailable as reason:
        command = remote.command_after(reason)
        said = "\n".join(filter(None, ("Not checked.", str(reason), command)))
        return Checked(exercise.name, "not checked", said, command=command)
    return Checked(exercise.name, answer.status, answer.text, answer)


def _without_verdict(exercise: Exercise, why: str) -> Checked:
    return Checked(exercise.name, "no verdict", f"No verdict.\n{why}")


def _asked(course: Course, cell: NotebookNode) -> Exercise | None:
    """The exercise that a cell checks, if it does."""
    match = CALL.search(cell.source) if cell.cell_type == "code" else None
    try:
        return course.exercise(match[1]) if match else None
    except KeyError:
        return None


def _observations(record: Any) -> tuple[Observation, list[Observation]]:
    """The answer that a kernel has handed over, and its parts. It ran student code, so this may be anything.

    Raises
    ------
    Unreadable
        When it is something else.
    """
    seen = decode(record)
    parts = record.get("parts", [])
    if not isinstance(parts, list) or len(parts) > MOST_PARTS:
        raise Unreadable("the parts are no short list")
    return seen, [decode(part) for part in parts]


def _error(cell: NotebookNode) -> str:
    """What a cell raised, in one line."""
    for output in cell.outputs:
        if output.output_type == "error":
            return f"{output.ename}: {output.evalue}".strip().splitlines()[0]
    return ""
