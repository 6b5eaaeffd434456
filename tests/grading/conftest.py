"""A small course to grade: masters with nothing but exercises, so that a run takes seconds."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbgrader import api

from anatomy.course import COURSE
from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import grade_id, read, source_file, write

REPOSITORY = Path(__file__).resolve().parents[2]


def skeleton(book: Notebook) -> NotebookNode:
    """The master of `book` without the teaching: its title, its setup, what it only defines, answers and checks."""
    master = read(source_file(REPOSITORY, book.slug))
    master.cells = [cell for cell in master.cells if cell.id in ("title", "setup") or grade_id(cell) or defines(cell)]
    return master


def defines(cell: NotebookNode) -> bool:
    """Whether the cell holds definitions and nothing else: answers may build on them, and running it costs nothing."""
    body = ast.parse(cell.source).body if cell.cell_type == "code" else []
    return bool(body) and all(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in body)


def make_course(root: Path, *slugs: str) -> Path:
    """A course's folder with skeletons of these notebooks."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", root / "nbgrader_config.py")
    for slug in slugs:
        write(skeleton(COURSE.notebook(slug)), source_file(root, slug))
    return root


@pytest.fixture(scope="session", autouse=True)
def one_look_at_the_schema() -> Iterator[None]:
    """nbgrader starts alembic for every new gradebook, a second of computing, to hear the same each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", cache(api.get_alembic_version))
        yield


@pytest.fixture(scope="session")
def new_course():
    """Makes a course: `new_course(folder, "03-softmax", ...)`."""
    return make_course
