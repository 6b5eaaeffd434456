"""The solved edition: the master without its solution markers, run from top to bottom."""

from __future__ import annotations

import ast
import copy
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nbformat import NotebookNode

from anatomy.engine.checking.joining import JUDGE
from anatomy.engine.notebook_files.notebooks import BEGIN, END, grade_id, read, source_file, stamped
from anatomy.engine.notebook_files.running import CellFailed, Cost, run

WIDGET = "application/vnd.jupyter.widget-view+json"
"""An output that only a running kernel can show, under an id that is another in every run."""


def solved_edition(root: Path, slug: str) -> NotebookNode:
    """The solved edition before it is run."""
    book = copy.deepcopy(read(source_file(root, slug)))
    for cell in book.cells:
        if grade_id(cell).startswith("quiz_"):
            cell.source = _without_template(cell.source)
        cell.source = without_markers(cell.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return stamped(book)


def run_solved(root: Path, slug: str, on_cell: Callable[[int], None] | None = None) -> tuple[NotebookNode, Cost]:
    """The solved edition with its outputs, and what running it took.

    Raises
    ------
    CellFailed
        When a cell raises or a check fails.
    """
    book = solved_edition(root, slug)
    metadata = copy.deepcopy(book.metadata)
    with _no_new_files(source_file(root, slug).parent) as folder:
        cost = run(book, folder, environment={JUDGE: ""}, on_cell=on_cell)  # judged here, whatever the class does
    for index, cell in enumerate(book.cells):
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = [output for output in cell.outputs if WIDGET not in output.get("data", {})]
        for output in cell.get("outputs", ()):
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ()):
                raise CellFailed(index, cell.id, f"{output.ename}: {output.evalue}")
    book.metadata = metadata
    return book, cost


def with_known_outputs(book: NotebookNode, earlier: NotebookNode) -> bool:
    """Give a solved edition the outputs of an earlier one. Returns whether that can be: all their code is the same."""
    ours, theirs = ([cell for cell in one.cells if cell.cell_type == "code"] for one in (book, earlier))
    if [cell.source for cell in ours] != [cell.source for cell in theirs] or not has_outputs(earlier):
        return False
    for own, known in zip(ours, theirs, strict=True):
        own.outputs, own.execution_count = known.outputs, known.execution_count
    return True


@contextmanager
def _no_new_files(folder: Path) -> Iterator[Path]:
    """Takes away what a run writes beside its notebook: all that stands there, a release hands to students."""
    before = set(folder.iterdir())
    try:
        yield folder
    finally:
        for path in set(folder.iterdir()) - before:
            if path.is_file():
                path.unlink()
            elif path.name == "__pycache__":
                shutil.rmtree(path)


def has_outputs(book: NotebookNode) -> bool:
    """Whether every code cell has been run."""
    return all(cell.execution_count is not None for cell in book.cells if cell.cell_type == "code" and cell.source)


def traces(book: NotebookNode, root: Path) -> Iterator[str]:
    """What a run left that no reader should meet: messages on stderr, and paths of this machine. One sentence each."""
    paths = {str(path) for path in (root.resolve(), Path.home(), Path(tempfile.gettempdir()), Path(sys.prefix))}
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            shown = {"text/plain": output.get("text", ""), **output.get("data", {})}
            text = "".join(str(shown[kind]) for kind in shown if kind.startswith("text/"))
            text = re.sub(r"base64,[\w+/=]+|[\w+/=]{100,}", "", text)  # any letters occur in a picture's bytes
            if output.get("name") == "stderr":
                yield f"Cell {cell.id} writes to stderr: {output.text.strip().splitlines()[0]}"
            elif any(path in text for path in paths - {"/"}):
                yield f"Cell {cell.id} shows a path of this machine."


def without_markers(source: str) -> str:
    """The text without the lines that only mark where a solution begins and ends."""
    return "\n".join(line for line in source.split("\n") if BEGIN not in line and END not in line)


def _without_template(source: str) -> str:
    """A quiz's cell without the template that its solution replaces."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    last: dict[str, ast.Assign] = {}
    lines = source.split("\n")
    replaced: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in last:
                replaced |= set(range(last[name].lineno, (last[name].end_lineno or last[name].lineno) + 1))
            last[name] = node
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in replaced)
