"""Markdown as its reader meets it: sections, paragraphs, list items, rows of tables; and their sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from anatomy.authoring.markdown import masked, pieces, plain
from anatomy.engine.notebook_files.notebooks import BadNotebook

_FOLD = re.compile(r"</?details>|<summary>.*?</summary>", re.DOTALL)
_STOP = re.compile(r"(?<!et al)(?<!e\.g)(?<!i\.e)[.!?][\"”’)*]*\s+(?=[\"“(*<\[]*[A-Z0-9⟨])")


@dataclass(frozen=True)
class Block:
    """A paragraph, a list item or a row of a table, with the section and the cell in which it stands.

    `heads` are the heads of a table's columns and `cells` its own, for a row.
    """

    text: str
    section: str
    cell: str
    heads: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


def text_cells(path: Path) -> list[tuple[str, str]]:
    """Id and Markdown of each text cell of a notebook file. Raises BadNotebook when it is none."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [(cell.get("id", ""), "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadNotebook(f"{path} cannot be read as a notebook: {error}") from error


def blocks(cells: Iterable[tuple[str, str]]) -> Iterator[Block]:
    """The blocks of a notebook's text cells, in order. Code is left out; a formula belongs to what leads up to it."""
    section = ""
    for cell, source in cells:
        held: Block | None = None
        unfolded = ((piece, text.strip()) for piece in pieces(source) for text in _FOLD.split(piece.text))
        for piece, text in unfolded:
            if piece.kind == "heading":
                section = section if text.startswith("Exercise ") else plain(text)
            elif held and _goes_on(held.text, text):
                held = replace(held, text=f"{held.text}\n\n{text}")
            elif text and piece.kind != "heads":
                if held:
                    yield held
                held = Block(text, section, cell, piece.heads, piece.cells)
        if held:
            yield held


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph. No formula, code or address is cut."""
    hidden = masked(text, code="X", formula="X", address="X", tag="*")
    start = 0
    for stop in _STOP.finditer(hidden):
        yield text[start : stop.end()].strip()
        start = stop.end()
    yield text[start:].strip()


def is_formula(text: str) -> bool:
    """Whether this is a displayed formula."""
    return text.startswith("$$")


def _goes_on(before: str, after: str) -> bool:
    """Whether a block is the rest of a sentence: a formula after an open one, or small letters after a formula."""
    done = before.rstrip(" $").endswith((".", "!", "?"))
    return not done and (is_formula(after) or (before.endswith("$$") and after[:1].islower()))
