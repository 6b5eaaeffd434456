"""A master notebook as its rules see it: cells, exercises, and which text belongs to which answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode

from anatomy.authoring.glossary import Term, terms_of
from anatomy.authoring.prose import Block
from anatomy.authoring.references import Source, sources_of
from anatomy.authoring.solved import without_markers
from anatomy.engine.course import Notebook
from anatomy.engine.exercise import Exercise
from anatomy.engine.notebook_files.notebooks import grade_id, is_answer, is_check, read, source_file
from anatomy.wiring import the_course

EXERCISE = re.compile(r"^### Exercise\b.*(?:\n\n●.*)?$", re.MULTILINE)
"""Its title; then, in a line that no contents pane lists, how hard it is, how long it takes and its points."""


@dataclass(frozen=True)
class Master:
    """One master and what it has to agree with.

    Attributes
    ----------
    text
        The file as it is on disk.
    exercises
        Name → exercise: what this notebook's module asks.
    terms, sources
        The terms and the sources of all masters.
    """

    notebook: Notebook
    text: str
    book: NotebookNode
    exercises: dict[str, Exercise]
    terms: Sequence[Term] = ()
    sources: Sequence[Source] = ()

    @classmethod
    def load(cls, root: Path, notebook: Notebook, terms: Sequence[Term] = (), sources: Sequence[Source] = ()) -> Master:
        """The master of this notebook under `root`; exercises and reference are the package's."""
        path = source_file(root, notebook.slug)
        book = read(path)
        return cls(
            notebook,
            path.read_text(encoding="utf-8"),
            book,
            the_course().exercises(notebook),
            terms,
            sources,
        )

    @property
    def cells(self) -> list[NotebookNode]:
        return list(self.book.cells)

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """Id and Markdown of each text cell."""
        return [(cell.get("id", ""), cell.source) for cell in self.book.cells if cell.cell_type == "markdown"]

    @cached_property
    def own_terms(self) -> list[Term]:
        """The terms that it marks."""
        return terms_of(self.notebook, self.texts)

    @cached_property
    def own_sources(self) -> tuple[list[Source], list[Block]]:
        """The sources that it lists, and the lines of its list that have not the form."""
        return sources_of(self.notebook, self.texts)

    @cached_property
    def answers(self) -> list[AnswerCell]:
        """The answer cells in order, each with what stands around it."""
        found, text = [], ""
        for index, cell in enumerate(self.book.cells):
            if cell.cell_type == "markdown":
                text += cell.source + "\n"
            elif is_answer(cell):
                following = self.book.cells[index + 1] if index + 1 < len(self.book.cells) else None
                found.append(AnswerCell(cell, following, text))
                text = ""
            elif is_check(cell):
                text = ""
        return found


@dataclass(frozen=True)
class AnswerCell:
    """An answer cell, the cell after it, and the text between it and the answer before."""

    cell: NotebookNode
    following: NotebookNode | None
    before: str

    @property
    def name(self) -> str:
        """The exercise that it answers."""
        return grade_id(self.cell)

    @property
    def is_quiz(self) -> bool:
        return self.name.startswith("quiz_")

    @property
    def header(self) -> str:
        """Its `### Exercise …` line and what it takes, or an empty string."""
        lines = EXERCISE.findall(self.before)
        return str(lines[-1]).rstrip() if lines else ""

    @property
    def text(self) -> str:
        """The exercise's text, from its header on (or all that stands before the answer, when there is no header)."""
        return self.before.rpartition(self.header)[2] if self.header else self.before

    @property
    def defines(self) -> dict[str, ast.stmt]:
        """Name → statement, of what the solution defines. Empty when it is no Python."""
        return defined(without_markers(self.cell.source))


def defined(source: str) -> dict[str, ast.stmt]:
    """What a module or cell defines at its top level; a name defined twice has its last definition."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    return found
