"""Repair: from the notebook that a student handed in to one that can be graded, and a sentence for each repair.

The student edition is the measure. Checks come from it; answers come from the student and are found by their ids, or,
where these are lost, by what they define. What the student added stays where it was.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable
from copy import deepcopy
from functools import lru_cache

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from anatomy.classroom.grading.errors import Unrepairable
from anatomy.classroom.grading.notes import NOTE, CellNote
from anatomy.engine.notebook_files.notebooks import is_answer

NOTE_ID = "repaired-before-grading"
_HEADING = "**Repaired before grading**"
MOST_OWN_CELLS = 500
"""Cells beside those handed out that are kept: running one more takes some hundredths of a second."""
MOST_PARSED = 200_000
"""Characters of a cell beyond which it is searched, not parsed: a parsed program takes hundreds of times its size."""


def repaired(submitted: NotebookNode, edition: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """A notebook that has each answer and each check of the student edition exactly once, in its order.

    Repairing a repaired notebook changes nothing. `submitted` is left as it is.

    Raises
    ------
    Unrepairable
        When none of the edition's answer cells is in it: it is another notebook.
    """
    book, notes = deepcopy(submitted), _Notes()
    own = _own_cells(book, edition, notes)
    if not any(position in own for position, cell in enumerate(edition.cells) if is_answer(cell)):
        raise Unrepairable("None of the notebook's answer cells is in it.")
    order = {index: position for position, index in own.items()}  # submitted → student edition
    cells: list[NotebookNode] = []
    if (moved := [own[position] for position in sorted(own)]) != sorted(moved):
        notes.add("Some cells were not in their order; they are now.")
    extras_after = _extras(book, order, notes)
    cells += extras_after.get(-1, [])
    for position, original in enumerate(edition.cells):
        index = own.get(position)
        if index is not None:
            cells += [_marked(_restored(book.cells[index], original, notes), original), *extras_after.get(position, [])]
        elif _grade_id(original) or original.cell_type == "code":
            cells.append(_marked(deepcopy(original), original))
            notes.cell_lost(original)
    said = [cell for cell in cells if _is_note(cell)]
    cells = [cell for cell in cells if not _is_note(cell)]
    _distinct_ids(cells)
    if notes.lines:
        said = [note_cell(notes.lines)]
    book.cells = said[:1] + cells
    book.metadata = deepcopy(edition.metadata)
    book.nbformat, book.nbformat_minor = 4, 5
    return book, notes.lines


class _Notes:
    """What was repaired, one sentence each; lost cells of a kind are counted, not listed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._without_marks: list[str] = []

    def add(self, line: str) -> None:
        if line not in self.lines:
            self.lines.append(line)

    def marks_lost(self, original: NotebookNode) -> None:
        if name := _grade_id(original):
            self._without_marks.append(name)

    def add_marks_lost(self) -> None:
        """One sentence for all cells that had lost their labels."""
        if len(self._without_marks) > 3:
            self.add(f"{len(self._without_marks)} cells had lost their labels, by which grading finds them, which "
                     "costs no points.")  # fmt: skip
        elif self._without_marks:
            self.add(f"Labels by which grading finds cells were lost, which costs no points: "
                     f"{', '.join(self._without_marks)}.")  # fmt: skip

    def cell_lost(self, original: NotebookNode) -> None:
        name = _grade_id(original)
        if name.startswith("check-"):
            self.add(f"The check of {name.removeprefix('check-')} was missing; it is back.")
        elif name:
            self.add(f"The answer cell of {name} was missing; it counts as not written.")
        else:
            self.add("A given code cell was missing; it is back.")


def _own_cells(book: NotebookNode, edition: NotebookNode, notes: _Notes) -> dict[int, int]:
    """Position in the student edition → index of the submitted cell that is the same cell."""
    own: dict[int, int] = {}
    taken: set[int] = set()
    names = {_grade_id(cell): position for position, cell in enumerate(edition.cells) if _grade_id(cell)}

    def claim(position: int, index: int) -> None:
        own[position] = index
        taken.add(index)

    found: dict[str, list[int]] = {}
    for index, cell in enumerate(book.cells):
        if (name := _grade_id(cell)) in names:
            found.setdefault(name, []).append(index)
    for name, indices in found.items():
        if len(indices) > 1:
            notes.add(f"The cell {name} was there {len(indices)} times; the last one counts.")
        claim(names[name], _best(book, indices, name))
        if name.startswith("check-"):
            taken.update(indices)  # a second check is no work of the student's
    ids = {cell.get("id"): index for index, cell in enumerate(book.cells) if cell.get("id") and index not in taken}
    for position, original in enumerate(edition.cells):
        same_id = ids.get(original.get("id"))
        if position not in own and same_id is not None and same_id not in taken:
            claim(position, same_id)
            notes.marks_lost(original)
    for position, original in enumerate(edition.cells):
        if position not in own and (alike := _by_content(book, original, taken)) is not None:
            claim(position, alike)
            notes.marks_lost(original)
    notes.add_marks_lost()
    return own


def _best(book: NotebookNode, indices: list[int], name: str) -> int:
    """Of several copies of a cell the last that is code and defines the name, else the last."""
    defining = [index for index in indices if _defines(book.cells[index], name)]
    return (defining or indices)[-1]


def _by_content(book: NotebookNode, original: NotebookNode, taken: set[int]) -> int | None:
    name = _grade_id(original)
    free = [index for index in range(len(book.cells)) if index not in taken]
    if name and not name.startswith("check-"):
        defining = [index for index in free if not _grade_id(book.cells[index]) and _defines(book.cells[index], name)]
        if defining:
            return defining[-1]
    return next((index for index in free if book.cells[index].source.strip() == original.source.strip()), None)


def _defines(cell: NotebookNode, name: str) -> bool:
    """Whether a code cell defines `name` at its top level."""
    return cell.cell_type == "code" and name in cell.source and name in _defined(cell.source)


@lru_cache(maxsize=1000)
def _defined(source: str) -> frozenset[str]:
    """What a program defines at its top level; text that does not parse, or is too long for that, is searched."""
    if len(source) <= MOST_PARSED:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset(name for node in ast.parse(source).body for name in _bound(node))
    return frozenset(a or b for a, b in _DEFINITION.findall(source))


_DEFINITION = re.compile(r"^(?:(?:async )?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=", re.MULTILINE)


def _bound(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _extras(book: NotebookNode, order: dict[int, int], notes: _Notes) -> dict[int, list[NotebookNode]]:
    """Position in the student edition → what the student has after that cell and is not in it; -1: before all."""
    extras: dict[int, list[NotebookNode]] = {}
    last, count = -1, 0
    for index, cell in enumerate(book.cells):
        if index in order:
            last = order[index]
        elif not _grade_id(cell).startswith("check-"):
            count += 1
            if count > MOST_OWN_CELLS:
                continue
            for name in ("nbgrader", NOTE):
                cell.metadata.pop(name, None)
            extras.setdefault(last, []).append(cell)
    if count > MOST_OWN_CELLS:
        notes.add(f"{count} cells were added to the notebook; only the first {MOST_OWN_CELLS} of them were run.")
    return extras


def _restored(cell: NotebookNode, original: NotebookNode, notes: _Notes) -> NotebookNode:
    """The student's cell with the marks for grading as handed out; a check is taken entirely from the edition."""
    name = _grade_id(original)
    if name.startswith("check-") or original.metadata.get("nbgrader", {}).get("locked"):
        if cell.source.strip() != original.source.strip():
            notes.add(f"The check of {name.removeprefix('check-')} had been changed; it is as it was.")
        return deepcopy(original)
    restored = deepcopy(cell)
    if restored.cell_type != original.cell_type and (name or original.cell_type == "code"):
        notes.add(f"{f'The answer cell of {name}' if name else 'A given code cell'} had become text; it is code again.")
        restored = deepcopy(original)
        restored.source = cell.source
    restored.metadata = deepcopy(original.metadata)
    return restored


def _marked(cell: NotebookNode, original: NotebookNode) -> NotebookNode:
    """The cell, and a note on a given code cell that is as it was handed out."""
    if cell.cell_type == "code" and not _grade_id(original) and cell.source == original.source:
        CellNote(given=True).write(cell)
    return cell


def answers_in(book: NotebookNode, names: Iterable[str]) -> int:
    """How many of these exercises a notebook has a cell for: one that has its name, or that defines it."""
    return sum(any(_grade_id(cell) == name or _defines(cell, name) for cell in book.cells) for name in names)


def _distinct_ids(cells: list[NotebookNode]) -> None:
    seen = {NOTE_ID}
    for number, cell in enumerate(cells):
        wanted = str(cell.get("id", ""))
        if not re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", wanted) or wanted in seen:
            wanted = f"cell-{number}"
            while wanted in seen:
                wanted += "x"
            cell["id"] = wanted
        seen.add(wanted)


def note_cell(lines: list[str]) -> NotebookNode:
    """What was repaired, as the notebook's reader is told."""
    listed = "\n".join(f"- {line}" for line in lines)
    return new_markdown_cell(f"{_HEADING}\n\n{listed}", id=NOTE_ID)


def _is_note(cell: NotebookNode) -> bool:
    """Whether `note_cell` has made it: any other cell may have its id, too."""
    return cell.get("id") == NOTE_ID and cell.cell_type == "markdown" and cell.source.startswith(_HEADING)


def _grade_id(cell: NotebookNode) -> str:
    """nbgrader's name of the cell, or ""; students' files may hold anything there."""
    marks = cell.metadata.get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""
