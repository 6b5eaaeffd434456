"""Markdown as its reader meets it: sections, paragraphs, list items, rows of tables; and their sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from anatomy.engine.notebook_files.notebooks import BadNotebook

_HEADING = re.compile(r"#{1,4} +(?P<words>.+?) *$")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) +")
_FOLDED = re.compile(r"</?details>|<summary>.*?</summary>")
_RULE = re.compile(r"\|[\s:|]*-[\s:|-]*\|\s*$")
_UNBROKEN = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`|<code>.*?</code>|\]\([^)]*\)", re.DOTALL)
_TAG = re.compile(r"</?\w+[^<>]*>")
_STOP = re.compile(r"(?<!et al)(?<!e\.g)(?<!i\.e)[.!?][\"”’)*]*\s+(?=[\"“(*<\[]*[A-Z0-9⟨])")


@dataclass(frozen=True)
class Block:
    """A paragraph, a list item or a row of a table, with the section and the cell in which it stands.

    `heads` are the heads of a table's columns, for a row.
    """

    text: str
    section: str
    cell: str
    heads: tuple[str, ...] = ()


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
        heads: tuple[str, ...] = ()
        for piece in _pieces(source):
            if heading := _HEADING.match(piece):
                if not heading["words"].startswith("Exercise "):
                    section = re.sub(r"[*`]", "", heading["words"])
                continue
            if _RULE.match(piece) and held:
                heads, held = tuple(texts(held.text)), None
                continue
            heads = heads if piece.startswith("|") else ()
            if held and _goes_on(held.text, piece):
                held = replace(held, text=f"{held.text}\n\n{piece}")
                continue
            if held:
                yield held
            held = Block(piece, section, cell, heads)
        if held:
            yield held


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph. No formula, code or address is cut."""
    hidden = _UNBROKEN.sub(lambda match: "X" * len(match[0]), text)
    hidden = _TAG.sub(lambda match: "*" * len(match[0]), hidden)
    start = 0
    for stop in _STOP.finditer(hidden):
        yield text[start : stop.end()].strip()
        start = stop.end()
    yield text[start:].strip()


def texts(row: str) -> list[str]:
    """The cells of a table's row."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def is_formula(text: str) -> bool:
    """Whether this is a displayed formula."""
    return text.startswith("$$")


def _pieces(source: str) -> Iterator[str]:
    """A cell's paragraphs, list items, rows, headings and displayed formulas."""
    source = re.sub(r"^```.*?^```", "", source, flags=re.DOTALL | re.MULTILINE)
    held: list[str] = []

    def release() -> Iterator[str]:
        text = "\n".join(held).strip()
        held.clear()
        if text:
            yield text

    for line in source.split("\n"):
        inside = is_formula(held[0]) if held else False
        if inside and "$$" not in "\n".join(held)[2:]:
            held.append(line)
            continue
        folded = line.startswith("<details>")
        opens = line.startswith(("|", "$$")) or _HEADING.match(line) or _ITEM.match(line)
        if not line.strip() or folded or inside or opens:
            yield from release()
        held.append(_ITEM.sub("", _FOLDED.sub("", line)))
        if folded or _HEADING.match(line) or line.startswith("|"):
            yield from release()
    yield from release()


def _goes_on(before: str, after: str) -> bool:
    """Whether a block is the rest of a sentence: a formula after an open one, or small letters after a formula."""
    done = before.rstrip(" $").endswith((".", "!", "?"))
    return not done and (is_formula(after) or (before.endswith("$$") and after[:1].islower()))
