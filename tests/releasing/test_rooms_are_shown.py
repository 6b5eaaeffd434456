"""What notebooks import of the course is there for a class, and where its answers run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from anatomy.course import COURSE
from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import read, source_file


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_the_rooms_that_a_notebook_imports_are_shown(root: Path, book: Notebook) -> None:
    folders = {one.folder for one in COURSE.notebooks}
    assert set(_rooms(root, book)) - folders <= COURSE.shown


def _rooms(root: Path, book: Notebook) -> Iterator[str]:
    """The first names behind the course's own in a notebook's imports."""
    for cell in read(source_file(root, book.slug)).cells:
        if cell.cell_type != "code":
            continue
        source = "\n".join(line for line in cell.source.splitlines() if not line.lstrip().startswith(("%", "!")))
        for node in ast.walk(ast.parse(source)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            yield from (name.split(".")[2] for name in names if name.startswith(f"{COURSE.package}."))
