"""Small notebooks, as a student might leave them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook

from anatomy.course import COURSE
from anatomy.course.assembling.gather import Gathered, gather
from anatomy.engine.notebook_files.notebooks import METADATA, write


def answer(name: str, source: str) -> list:
    """An answer cell and its check."""
    nbgrader = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": True, "task": False}
    return [new_code_cell(source, metadata={"nbgrader": nbgrader}), new_code_cell(f'check("{name}")')]


def put(folder: Path, name: str, cells: Iterable[str | list]) -> Path:
    """Write a notebook of plain cells and of `answer`s into its place in the folder."""
    slug = COURSE.find(name).slug
    made = []
    for cell in cells:
        made += [new_code_cell(cell)] if isinstance(cell, str) else cell
    path = folder / slug / f"{slug}.ipynb"
    write(new_notebook(cells=made, metadata=METADATA), path)
    return path


def gathered(folder: Path, name: str) -> Gathered:
    return next(one for one in gather(folder) if one.book == COURSE.find(name))
