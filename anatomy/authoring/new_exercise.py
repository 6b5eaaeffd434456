"""The three cells of a new exercise, made from its modules: a header to write on, the answer cell, the check."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from anatomy.authoring.rules_contract import ANSWER, CHECK
from anatomy.engine.course import Notebook
from anatomy.engine.errors import UserError
from anatomy.engine.exercise import Exercise
from anatomy.engine.notebook_files.notebooks import BEGIN, END, METADATA, grade_id, read, source_file, write
from anatomy.wiring import the_course

BEFORE = ("## Find the bug", "## What to take along", "## In short", "## Sources")
"""Headings before the first of which a new exercise is put: what closes a notebook."""


SETUP = "import torch\nfrom torch import Tensor, nn\n\nfrom anatomy import check"
QUOTES = '"""'


class CannotAdd(UserError):
    """The exercise can't be put into its notebook. The message says why, and what to do."""


def add_exercise(root: Path, name: str) -> Path:
    """Put the cells of the exercise `name` at the end of its notebook in ``source/``; the author moves and words them.

    A notebook that does not exist yet begins with a title and the setup cell.

    The answer cell holds the reference's code between solution markers; the header has number, points and a table of
    what goes in. Hints, minutes and difficulty are the author's: `anatomy lint` asks for what is missing.

    Raises
    ------
    CannotAdd
        When no module defines the exercise or its right answer, or when the notebook has it already.
    BadNotebook
        When the notebook can't be read.
    """
    try:
        exercise = the_course().exercise(name)
    except KeyError as error:
        raise CannotAdd(f"{error.args[0]} Define it in its notebook's `asked.py` first.") from None
    try:
        right = exercise.right
    except AttributeError:
        where = f"{exercise.notebook.folder}/right.py"
        raise CannotAdd(f"Write its right answer first: {where} has no {name}.") from None
    path = source_file(root, exercise.notebook.slug)
    book = read(path) if path.exists() else _new_notebook(exercise.notebook)
    if any(grade_id(cell) == name for cell in book.cells):
        raise CannotAdd(f"{path.relative_to(root)} has an answer cell for {name} already.")
    place = next((index for index, cell in enumerate(book.cells) if cell.source.startswith(BEFORE)), len(book.cells))
    book.cells[place:place] = _cells(exercise, right)
    write(book, path)
    return path


def _new_notebook(notebook: Notebook) -> NotebookNode:
    title = new_markdown_cell(f"# {notebook.number:02} · {notebook.title}", id="title")
    return new_notebook(cells=[title, new_code_cell(SETUP, id="setup")], metadata=METADATA, nbformat_minor=5)


def _cells(exercise: Exercise, right: Any) -> list[NotebookNode]:
    name, cell_id = exercise.name, exercise.name.replace("_", "-")
    code = _quiz(name, right) if isinstance(right, dict) else _marked(inspect.getsource(right))
    check = {**CHECK, "grade_id": f"check-{name}", "points": exercise.points}
    return [
        new_markdown_cell(_header(exercise, right), id=f"{cell_id}-header"),
        new_code_cell(code, id=cell_id, metadata={"nbgrader": {**ANSWER, "grade_id": name}}),
        new_code_cell(f'check("{name}")', id=f"check-{cell_id}", metadata={"nbgrader": check}),
    ]


def _header(exercise: Exercise, right: Any) -> str:
    title = f"### Exercise {exercise.number} · `{exercise.name}`\n\n●●○○○ · about 5 minutes · "
    if isinstance(right, dict):
        rows = ["| question | |", "|---|---|", *(f'| `"{question}"` | |' for question in right)]
        return "\n".join([f"{title}{exercise.worth}", "", *rows])
    arguments = list(inspect.signature(right).parameters)
    rows = ["| | shape | |", "|---|---|---|", *(f"| `{argument}` | | |" for argument in arguments)]
    returns = f"({', '.join(exercise.returns.split())})" if isinstance(exercise.returns, str) else ""
    first = (inspect.getdoc(right) or "").partition("\n")[0]
    task = f"Write `{exercise.name}({', '.join(arguments)})`: {first[:1].lower()}{first[1:]}"
    return "\n".join([f"{title}{exercise.worth}", "", task, "", *rows, f"| returns | {returns} | |"])


def _marked(source: str) -> str:
    """The right answer, the body of each function or method between markers; of docstrings the first line."""
    lines, text, done = source.splitlines(), list[str](), 0
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    methods = definition.body if isinstance(definition, ast.ClassDef) else []
    for node in (definition, *methods):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        body = node.body
        if ast.get_docstring(node):
            first = lines[body[0].lineno - 1]
            text += [*lines[done : body[0].lineno - 1], first if first.count(QUOTES) > 1 else first + QUOTES]
            done, body = body[0].end_lineno or 0, body[1:]
        if isinstance(node, ast.FunctionDef) and body:
            if ast.unparse(body[0]) == "super().__init__()" and len(body) > 1:
                body = body[1:]
            begin, end, indent = body[0].lineno - 1, body[-1].end_lineno, " " * body[0].col_offset
            text += [*lines[done:begin], f"{indent}### {BEGIN}", *lines[begin:end], f"{indent}### {END}"]
            done = end or 0
    return "\n".join(text + lines[done:])


def _quiz(name: str, right: dict[str, str]) -> str:
    template = [f"{name} = {{  # template", *(f'    "{question}": "...",  # template' for question in right)]
    answers = [f"{name} = {{", *(f'    "{question}": "{answer}",' for question, answer in right.items()), "}"]
    return "\n".join([*template, "}  # template", f"### {BEGIN}", *answers, f"### {END}"])
