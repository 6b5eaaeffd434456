"""A tiny course for tests of building and linting: one master notebook with one exercise and a quiz."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from anatomy.engine.notebook_files.notebooks import METADATA, source_file, write

SLUG = "02-attention-scores"
SOLUTION = """def scaled_scores(query: Tensor, key: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, S)
    \"\"\"Scores of each query with each key.\"\"\"
    ### BEGIN SOLUTION
    return dot_product_scores(query, key) / math.sqrt(query.size(-1))  # (B, T, S)
    ### END SOLUTION"""
QUIZ = """quiz_small = {
    "why": "...",  # template
}  # template
### BEGIN SOLUTION
quiz_small = {"why": "because"}
### END SOLUTION"""
HEADER = """### Exercise 2.{number} · `{name}`

●●○○○ · about {minutes} minutes · {worth}

Write it.

| | shape | |
|---|---|---|
| `query` | (B, T, D) | |
| returns | (B, T, S) | |

<details><summary>Hint 1: where?</summary>Here.</details>
<details><summary>Hint 2: how?</summary>So.</details>"""
SETUP = """import math

from torch import Tensor

from anatomy import check


def dot_product_scores(query, key):
    return query @ key.transpose(-2, -1)"""
FLAGS = {"schema_version": 3, "task": False}


def markdown(cell_id: str, text: str) -> NotebookNode:
    return new_markdown_cell(text, id=cell_id)


def code(cell_id: str, text: str) -> NotebookNode:
    return new_code_cell(text, id=cell_id)


def answer(name: str, text: str) -> NotebookNode:
    flags = {"grade": False, "grade_id": name, "locked": False, "solution": True, **FLAGS}
    return new_code_cell(text, id=name.replace("_", "-"), metadata={"nbgrader": flags})


def check(name: str, points: int) -> NotebookNode:
    flags = {"grade": True, "grade_id": f"check-{name}", "locked": True, "points": points, "solution": False, **FLAGS}
    return new_code_cell(f'check("{name}")', id=f"check-{name}".replace("_", "-"), metadata={"nbgrader": flags})


def small_master(solution: str = SOLUTION) -> NotebookNode:
    """A master that runs, with one real exercise and a quiz that no check follows."""
    return new_notebook(
        cells=[
            markdown("title", "# Scores"),
            markdown("map", "![Map of the Transformer; this notebook is lit](map.svg)"),
            code("setup", SETUP),
            markdown("about-scores", HEADER.format(number=1, name="scaled_scores", minutes=4, worth="4 points")),
            answer("scaled_scores", solution),
            check("scaled_scores", 4),
            answer("quiz_small", QUIZ),
            code("said", "print('one')\nprint('two')"),
        ],
        metadata=METADATA,
        nbformat_minor=5,
    )


def make_course(folder: Path, book: NotebookNode | None = None) -> Path:
    """A course with this master (by default the small one) in `folder`."""
    shutil.copyfile(Path(__file__).parents[2] / "nbgrader_config.py", folder / "nbgrader_config.py")
    write(book or small_master(), source_file(folder, SLUG))
    return folder


def change(path: Path, cell_id: str, text: str) -> None:
    """Give one cell of a notebook file another text, as a person would."""
    book = nbformat.read(path, as_version=4)
    next(cell for cell in book.cells if cell.id == cell_id).source = text
    write(book, path)
