"""Repair: from the file that a student handed in to a notebook that can be graded, and a sentence for each repair.

The master (the student edition) is the measure. Checks come from it; answers come from the student and are found by
their ids, or, where these are lost, by what they define. What the student added stays where it was.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

LARGEST = 100 * 2**20
"""Bytes beyond which a file is not read."""

NOTE = "anatomy"
"""The key in a cell's metadata under which grading notes what it knows of it."""

NOTE_ID = "repaired-before-grading"


class Unrepairable(ValueError):
    """What was handed in can't be graded. The message is the reason, as the instructor reads it."""


# ---------------------------------------------------------------------------------------------- the file


def find_notebook(folder: Path, slug: str) -> tuple[Path, list[str]]:
    """The file in a submission's folder that is the notebook, and what had to be assumed.

    Raises
    ------
    Unrepairable
        When there is none, or several under other names.
    """
    wanted = folder / f"{slug}.ipynb"
    if wanted.is_symlink():
        raise Unrepairable(f"{wanted.name} is a symbolic link, not a file.")
    if wanted.is_file():
        return wanted, []
    others = sorted(path for path in folder.glob("*.ipynb") if path.is_file() and not path.is_symlink())
    if len(others) == 1:
        return others[0], [f"The file was called {others[0].name}."]
    if others:
        raise Unrepairable(f"{wanted.name} is missing, and there are several other notebooks: "
                           f"{', '.join(path.name for path in others[:5])}.")  # fmt: skip
    raise Unrepairable(f"{wanted.name} is missing.")


def read_notebook(path: Path) -> tuple[NotebookNode, list[str]]:
    """The notebook in a file, in the current format, and what had to be done to read it.

    Raises
    ------
    Unrepairable
        When it is empty, too large, not JSON, or JSON but no notebook.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise Unrepairable(f"The file is too large ({size / 2**20:.0f} MB).")
    return parse_notebook(path.read_bytes())


def parse_notebook(raw: bytes) -> tuple[NotebookNode, list[str]]:
    """The notebook in a file's content; see `read_notebook`."""
    text, notes = _decoded(raw)
    if not text.strip():
        raise Unrepairable("The file is empty.")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unrepairable(f"The file is not JSON ({_brief(error)}).") from error
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise Unrepairable("The file is JSON, but not a notebook.")
    try:
        if content["nbformat"] != 4:
            notes.append(f"The notebook was in format {content['nbformat']}.")
            content = nbformat.convert(nbformat.reader.reads(text), 4)
        return _normal(content), notes
    except Unrepairable:
        raise
    except Exception as error:  # a notebook can be malformed in more ways than nbformat foresees
        raise Unrepairable(f"The notebook's structure is damaged ({_brief(error)}).") from error


def _decoded(raw: bytes) -> tuple[str, list[str]]:
    for encoding in ("utf-16", "utf-8-sig") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return raw.decode(encoding), [] if encoding == "utf-8-sig" else ["The file was encoded as UTF-16."]
        except UnicodeDecodeError:
            continue
    return raw.decode("cp1252", errors="replace"), ["The file was not UTF-8: accents and symbols may have suffered."]


def _normal(content: dict[str, Any]) -> NotebookNode:
    """Every cell with the fields that later steps rely on, and of the right types."""
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise Unrepairable("The notebook has no list of cells.")
    normal = [cell for cell in map(_normal_cell, cells) if cell is not None]
    if not normal:
        raise Unrepairable("The notebook has no cells.")
    metadata = content.get("metadata")
    return nbformat.from_dict({
        "cells": normal, "metadata": metadata if isinstance(metadata, dict) else {}, "nbformat": 4, "nbformat_minor": 5,
    })  # fmt: skip


def _normal_cell(cell: Any, index: int = 0) -> dict[str, Any] | None:
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    kind = cell.get("cell_type") if cell.get("cell_type") in ("code", "markdown", "raw") else "code"
    metadata = cell.get("metadata")
    normal = {
        "cell_type": kind,
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": source.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8"),  # no lone surrogates
    }
    if isinstance(cell.get("id"), str):
        normal["id"] = cell["id"]
    if kind == "code":
        return {**normal, "outputs": [], "execution_count": None}
    attachments = cell.get("attachments")
    return {**normal, "attachments": attachments} if isinstance(attachments, dict) and attachments else normal


# ---------------------------------------------------------------------------------------------- the cells


def repaired(submitted: NotebookNode, master: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """A notebook that has each answer and each check of the master exactly once, in the master's order.

    Repairing a repaired notebook changes nothing. `submitted` is left as it is.
    """
    book, notes = deepcopy(submitted), _Notes()
    own = _own_cells(book, master, notes)
    order = {index: position for position, index in own.items()}  # submitted → master
    cells: list[NotebookNode] = []
    if (moved := [own[position] for position in sorted(own)]) != sorted(moved):
        notes.add("Some cells were not in their order; they are now.")
    extras_after = _extras(book, order)
    cells += extras_after.get(-1, [])
    for position, original in enumerate(master.cells):
        index = own.get(position)
        if index is not None:
            cells += [_marked(_restored(book.cells[index], original, notes), original), *extras_after.get(position, [])]
        elif _grade_id(original) or original.cell_type == "code":
            cells.append(_marked(deepcopy(original), original))
            notes.lost(original)
    _distinct_ids(cells)
    said = [cell for cell in cells if cell.get("id") == NOTE_ID]
    cells = [cell for cell in cells if cell.get("id") != NOTE_ID]
    if notes.lines:
        said = [note_cell(notes.lines)]
    book.cells = said[:1] + cells
    book.metadata = deepcopy(master.metadata)
    book.nbformat, book.nbformat_minor = 4, 5
    return book, notes.lines


class _Notes:
    """What was repaired, one sentence each; lost cells of a kind are counted, not listed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._bare: list[str] = []

    def add(self, line: str) -> None:
        if line not in self.lines:
            self.lines.append(line)

    def bare(self, original: NotebookNode) -> None:
        if name := _grade_id(original):
            self._bare.append(name)

    def bare_said(self) -> None:
        """One sentence for all cells that had lost their marks for grading."""
        if len(self._bare) > 3:
            self.add(f"{len(self._bare)} cells had lost their marks for grading.")
        elif self._bare:
            self.add(f"Marks for grading were lost: {', '.join(self._bare)}.")

    def lost(self, original: NotebookNode) -> None:
        name = _grade_id(original)
        if name.startswith("check-"):
            self.add(f"The check of {name.removeprefix('check-')} was missing; it is back.")
        elif name:
            self.add(f"The answer cell of {name} was missing; it counts as not written.")
        else:
            self.add("A given code cell was missing; it is back.")


def _own_cells(book: NotebookNode, master: NotebookNode, notes: _Notes) -> dict[int, int]:
    """Position in the master → index of the submitted cell that is the same cell."""
    own: dict[int, int] = {}
    taken: set[int] = set()
    names = {_grade_id(cell): position for position, cell in enumerate(master.cells) if _grade_id(cell)}

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
    for position, original in enumerate(master.cells):
        same_id = ids.get(original.get("id"))
        if position not in own and same_id is not None and same_id not in taken:
            claim(position, same_id)
            notes.bare(original)
    for position, original in enumerate(master.cells):
        if position not in own and (alike := _by_content(book, original, taken)) is not None:
            claim(position, alike)
            notes.bare(original)
    notes.bare_said()
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
    """Whether a code cell defines `name` at its top level; text that does not parse is searched."""
    if cell.cell_type != "code" or name not in cell.source:
        return False
    try:
        body = ast.parse(cell.source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(
            re.search(rf"^(?:(?:async )?def|class)\s+{re.escape(name)}\b|^{re.escape(name)}\s*=", cell.source, re.M)
        )
    return any(name in _bound(node) for node in body)


def _bound(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _extras(book: NotebookNode, order: dict[int, int]) -> dict[int, list[NotebookNode]]:
    """Position in the master → what the student has after that cell and is not in the master; -1: before all."""
    extras: dict[int, list[NotebookNode]] = {}
    last = -1
    for index, cell in enumerate(book.cells):
        if index in order:
            last = order[index]
        elif not _grade_id(cell).startswith("check-"):
            for name in ("nbgrader", NOTE):
                cell.metadata.pop(name, None)
            extras.setdefault(last, []).append(cell)
    return extras


def _restored(cell: NotebookNode, original: NotebookNode, notes: _Notes) -> NotebookNode:
    """The student's cell with the master's marks; a check entirely from the master."""
    name = _grade_id(original)
    if name.startswith("check-") or original.metadata.get("nbgrader", {}).get("locked"):
        if cell.source.strip() != original.source.strip():
            notes.add(f"The check of {name.removeprefix('check-')} had been changed; it is as it was.")
        return deepcopy(original)
    restored = deepcopy(cell)
    if restored.cell_type != original.cell_type:
        if not name and original.cell_type != "code":
            return restored
        notes.add(f"{f'The answer cell of {name}' if name else 'A given code cell'} had become text; it is code again.")
        restored = deepcopy(original)
        restored.source = cell.source
    restored.metadata = deepcopy(original.metadata)
    return restored


def _marked(cell: NotebookNode, original: NotebookNode) -> NotebookNode:
    """The cell, and a note on a given code cell that is as it was handed out."""
    if cell.cell_type == "code" and not _grade_id(original) and cell.source == original.source:
        cell.metadata[NOTE] = {"given": True}
    return cell


def _distinct_ids(cells: list[NotebookNode]) -> None:
    seen: set[str] = set()
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
    return new_markdown_cell(f"**Repaired before grading**\n\n{listed}", id=NOTE_ID)


def _grade_id(cell: NotebookNode) -> str:
    marks = cell.metadata.get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""


def _brief(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
