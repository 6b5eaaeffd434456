"""A solved notebook for those who read it on the website: nothing asks for what only JupyterLab can do.

What shows the reader's own machine or progress is left out. Paragraphs about JupyterLab, and those around what is left
out, are folded; of a section that has nothing else, the heading, too. Where the text asks for a guess, what the cells
below it put out is folded. Code has no comments for tools and for machines that lack the course.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from nbformat import NotebookNode

from anatomy.engine.notebook_files.notebooks import is_answer, is_check

_OF_ONE_S_OWN = re.compile(r"^(?:progress|hunt|machine_card)\(.*\)$", re.MULTILINE)
"""A cell that shows something else on each machine."""
_JUPYTERLAB = re.compile(
    r"\*[A-Z]\w+ → |Shift\+Enter|Ctrl\+|JupyterLab|\btoolbar\b|\bkernel runs\b|[Ii]n a terminal"
    r"|\b[Rr]un the (?:answer )?cell[.,]|\btype in one\b|\bfolder `solutions/`|\banswer cell is yours\b"
)
"""Menus and keys, and cells to type in or to run."""
_BEFORE = re.compile(r"\b([Bb])efore you run (?:it|them|the (?:next )?cell)\b")
_GUESS = re.compile(
    r"\b[Bb]efore you run\b|\bGuess first\b|\bYour guess\b"
    r"|(?<=[.)][ \n])\*\*[A-Z][^*]*\?\*\*(?!(?s:.*)\n\n)"
)
"""Also a question in bold type in the last paragraph, after a sentence."""
_NOT_TO_READ = re.compile(r"  # fmt: skip$|^# On Colab or Kaggle,.*\n# *%pip .*\n+", re.MULTILINE)
_FIRST_WORDS = 7
"""So many tell what a fold without a heading is about."""
_GAP = re.compile(r"\n{2,}")
_ITEM = re.compile(r"\n(?=- |\d+\. |<details>)")


@dataclass
class Part:
    """A paragraph of a text, and whether it is folded."""

    text: str
    folded: bool

    @property
    def level(self) -> int:
        """Of a heading; 0 of what is none."""
        return len(self.text) - len(self.text.lstrip("#"))


def for_readers(book: NotebookNode) -> None:
    """Change the notebook's cells to what the website shows of them."""
    _fold_what_is_guessed(book.cells)
    shown: list[tuple[NotebookNode, list[Part]]] = []
    left_out = False
    for cell in book.cells:
        parts = _parts(cell)
        before = shown[-1][1] if shown else []
        if cell.cell_type == "code" and _OF_ONE_S_OWN.search(cell.source):
            left_out = True
            start = max((place for place, part in enumerate(before, 1) if part.level), default=0)
            for part in before[start:]:
                part.folded = True
            continue
        if left_out and before and parts:
            end = next((place for place, part in enumerate(parts) if part.level), len(parts))
            before += [Part(part.text, folded=True) for part in parts[:end]]
            parts = parts[end:]
        left_out = False
        if parts or cell.cell_type == "code":
            shown.append((cell, parts))
    line: list[Part | None] = []
    for _, parts in shown:
        line += [*parts] or [None]
    _fold_headings(line)
    for cell, parts in shown:
        if cell.cell_type == "code":
            cell.source = _NOT_TO_READ.sub("", cell.source)
        cell.source = "\n\n".join(_joined(parts)) if parts else cell.source
    book.cells = [cell for cell, _ in shown]


def _parts(cell: NotebookNode) -> list[Part]:
    """The paragraphs of a text cell; code has none."""
    if cell.cell_type == "code":
        return []
    return [
        Part(part, _is_about_jupyterlab(part)) for part in _GAP.split(_BEFORE.sub(r"\1efore you look", cell.source))
    ]


def _fold_what_is_guessed(cells: Iterable[NotebookNode]) -> None:
    """Mark the outputs between a question and the next text, as MyST-NB asks for."""
    asked = False
    for cell in cells:
        if cell.cell_type == "markdown":
            asked = bool(_GUESS.search(cell.source))
        elif asked and cell.get("outputs") and not is_answer(cell) and not is_check(cell):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-output"]
            cell.metadata["mystnb"] = {"code_prompt_show": "Show the result", "code_prompt_hide": "Hide the result"}


def _fold_headings(parts: list[Part | None]) -> None:
    """Fold the headings of sections in which all is folded. None stands for a cell of code."""
    for place, heading in enumerate(parts, 1):
        if heading and heading.level:
            below = _below(heading.level, parts[place:])
            heading.folded = bool(below) and all(part and part.folded for part in below)


def _below(level: int, parts: Iterable[Part | None]) -> list[Part | None]:
    """What stands below a heading of this level, without the headings in it."""
    section = takewhile(lambda part: not part or not 0 < part.level <= level, parts)
    return [part for part in section if not part or not part.level]


def _is_about_jupyterlab(part: str) -> bool:
    """Whether the paragraph, or most items of the list or folds of the row, name a key, a menu or the like."""
    items = _ITEM.split(part)
    is_text = not part.startswith(("#", "<")) or part.startswith("<details>")
    return is_text and 2 * sum(bool(_JUPYTERLAB.search(item)) for item in items) > len(items)


def _beginning(text: str) -> str:
    """The first words of a text, without its marks."""
    words = re.sub(r"<[^>]*>|\]\([^)]*\)|[*`\[]|^(?:- |\d+\. )", "", text).split()
    return " ".join(words[:_FIRST_WORDS]) + " …" * (len(words) > _FIRST_WORDS)


def _joined(parts: Iterable[Part]) -> Iterator[str]:
    """The paragraphs; each run of folded ones as one block to open, which a folded heading begins."""
    blocks: list[list[Part]] = []
    for part in parts:
        if not blocks or part.level or part.folded != blocks[-1][0].folded:
            blocks.append([])
        blocks[-1].append(part)
    for block in blocks:
        texts = [part.text for part in block]
        if block[0].folded:
            title = f"In JupyterLab: {texts.pop(0).lstrip('# ') if block[0].level else _beginning(texts[0])}"
            texts = [f'<details class="jupyterlab"><summary>{title}</summary>', *texts, "</details>"]
        yield "\n\n".join(texts)
