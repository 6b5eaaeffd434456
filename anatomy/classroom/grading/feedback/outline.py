"""What a page shows of a graded notebook: its exercises one by one, and between them what was given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from nbformat import NotebookNode
from nbgrader import utils

from anatomy.classroom.grading.feedback.standing import ShownMark, Standing, rounded
from anatomy.classroom.grading.notes import CellNote, NotebookNote
from anatomy.classroom.grading.repair import NOTE_ID
from anatomy.engine.cards.markup import chip, prose
from anatomy.wiring import the_course

WORDS = {"right": "right", "wrong": "not right yet", "not attempted": "not attempted", "ungraded": "not graded yet"}
"""What each sign says."""
OLDER = "has changed since a person marked it"
"""What the sign says where a person gave the mark to an earlier answer."""
_HEADING = re.compile(r"^#{1,6} +(?!Exercise )(.+)", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_POINTS = re.compile(r": (\S+ of \S+ points?|optional, no points)\.$")


@dataclass(frozen=True)
class Between:
    """Cells between answers: the student's own code, or what was given, which a page folds."""

    cells: list[NotebookNode]
    own: bool

    @property
    def about(self) -> str:
        """Their headings, or how many they are."""
        texts = [_FENCED.sub("", cell.source) for cell in self.cells if cell.cell_type == "markdown"]
        found = [re.sub(r"[*`$]", "", words).strip() for text in texts for words in _HEADING.findall(text)]
        return "; ".join(found) or ("1 cell" if len(self.cells) == 1 else f"{len(self.cells)} cells")


@dataclass
class Section:
    """One exercise.

    Attributes
    ----------
    anchor
        The name of its check, by which the list at the top leads to it.
    name, number
        What it is called, and by which number, or "" where the course has none for it.
    before, asked
        What stands before it, and the text that asks for the answer.
    cells
        The answer and its check.
    mark, sign, sentence
        Its mark, if it has one; the sign for it and what the card says first, as HTML.
    by_hand
        Whether a person gave the mark, and not the check.
    """

    anchor: str
    name: str
    number: str
    before: list[Between]
    asked: NotebookNode | None
    cells: list[NotebookNode] = field(default_factory=list)
    mark: ShownMark | None = None
    sign: str = ""
    sentence: str = ""
    by_hand: bool = False

    def marked(self, anchor: str, mark: ShownMark, note: CellNote) -> None:
        """Take down what its check gave."""
        kind = _kind(mark, note)
        self.by_hand = kind != "ungraded" and (note.points is None or rounded(note.points) != mark.points)
        self.by_hand = self.by_hand or mark.is_older
        self.anchor, self.mark, self.sentence = anchor, mark, prose(_sentence(mark, note, kind, self.by_hand))
        shown, said = ("ungraded", OLDER) if mark.is_older else (kind, WORDS[kind])
        self.sign = f'{chip(shown)}<span class="aloud">{said}</span>'


@dataclass(frozen=True)
class Contents:
    """A page's title, when the notebook was handed in, due and graded, what was repaired, and all its cells."""

    title: str
    submitted: str
    due: str
    graded: str
    repairs: tuple[str, ...]
    sections: list[Section]
    rest: list[Between]


def contents_of(nb: NotebookNode, notebook: str, standing: Standing) -> Contents:
    """What to show of a graded notebook, whose assignment is called so."""
    title, numbers = _in_the_course(notebook)
    note = NotebookNote.read(nb)

    def between(cells: list[NotebookNode]) -> list[Between]:
        """In runs of what was given and what was not, where that is noted."""
        return [
            Between(list(run), own) for own, run in groupby(cells, lambda cell: bool(note.graded) and _is_own(cell))
        ]

    sections: dict[str, Section] = {}
    before: list[NotebookNode] = []
    for cell in nb.cells:
        if not (utils.is_grade(cell) or utils.is_solution(cell) or utils.is_task(cell)):
            before += [cell] if cell.get("id") != NOTE_ID else []
            continue
        anchor = cell.metadata.nbgrader.grade_id
        name = anchor.removeprefix("check-")
        if name not in sections:
            asked = before.pop() if before and before[-1].cell_type == "markdown" else None
            sections[name] = Section(anchor, name, numbers.get(name, ""), between(before), asked)
            before = []
        sections[name].cells.append(cell)
        if utils.is_grade(cell) or utils.is_task(cell):
            sections[name].marked(anchor, standing.marks[anchor], CellNote.read(cell))
    repairs = tuple(map(prose, note.repairs))
    dates = _date(standing.submitted), _date(standing.due), _date(note.graded)
    return Contents(title, *dates, repairs, list(sections.values()), between(before))


def _is_own(cell: NotebookNode) -> bool:
    return bool(cell.cell_type == "code" and not CellNote.read(cell).given)


def _in_the_course(notebook: str) -> tuple[str, Mapping[str, str]]:
    """A notebook's title and its exercises' numbers; an assignment of somebody else's has its name only."""
    try:
        book = the_course().notebook(notebook)
    except KeyError:
        return notebook, {}
    numbers = {name: exercise.number for name, exercise in the_course().exercises(book).items()}
    return f"{book.number:02} · {book.title}", numbers


def _kind(mark: ShownMark, note: CellNote) -> str:
    if mark.waits:
        return "ungraded"
    if mark.points >= mark.worth > 0 or (not mark.worth and note.status == "right"):
        return "right"
    return "not attempted" if note.status == "not attempted" and not mark.points else "wrong"


def _sentence(mark: ShownMark, note: CellNote, kind: str, by_hand: bool) -> str:
    """The first sentence of the card, without the points, which stand beside it."""
    if kind == "ungraded":
        return note.reason or "A person must mark this."
    said = _POINTS.sub(".", note.said)
    if not by_hand:
        return said
    who = "A person gave these points to an earlier answer." if mark.is_older else "A person gave these points."
    return f"{who} The check says{' of this one' if mark.is_older else ''}: {said}" if said else who


def _date(iso: str) -> str:
    """For people, or "" for none."""
    if not iso:
        return ""
    when = datetime.fromisoformat(iso)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
