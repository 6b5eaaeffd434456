"""Solutions: the build writes the code of a notebook's ``right.py`` between the markers of its master."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import (
    BEGIN,
    END,
    BadNotebook,
    as_text,
    grade_id,
    is_answer,
    read,
    source_file,
)
from anatomy.wiring import the_course


def with_solutions(root: Path, notebook: Notebook) -> str:
    """The text of the notebook's master with its solutions as ``right.py`` has them.

    Raises
    ------
    BadNotebook
        When ``right.py`` does not define what an answer cell does, or does not begin as the cell does.
    """
    book = read(source_file(root, notebook.slug))
    course = the_course()
    right = course.file(notebook, "right").read_text(encoding="utf-8")
    asked = course.exercises(notebook)
    for cell in (cell for cell in book.cells if is_answer(cell) and grade_id(cell) in asked):
        try:
            cell.source = filled(cell.source, grade_id(cell), right)
        except _Differs as difference:
            where = f"{notebook.slug}, `{grade_id(cell)}`"
            raise BadNotebook(f"{where}: {difference} ({notebook.folder}/right.py).") from None
    return as_text(book)


class _Differs(ValueError):
    """What a cell gives and what ``right.py`` says do not go together."""


def filled(source: str, name: str, right: str) -> str:
    """An answer cell with the solutions of `right`, the text of a module; `name` is its exercise."""
    lines = source.split("\n")
    cell, wanted = _Text(source), _Text(right)
    for begin, end in reversed(list(_regions(lines))):
        indent = len(lines[begin]) - len(lines[begin].lstrip())
        if indent == 0:
            code = wanted.assignment(name)
        else:
            code = wanted.body_like(*cell.function_above(begin + 1))
        lines[begin + 1 : end] = code
    return "\n".join(lines)


def _regions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Where solutions begin and end: the indexes of their markers."""
    begins = [n for n, line in enumerate(lines) if BEGIN in line]
    ends = [n for n, line in enumerate(lines) if END in line]
    return zip(begins, ends, strict=False)  # `anatomy lint` says what has no pair


@dataclass(frozen=True)
class _Text:
    """Source text, and where its functions stand."""

    text: str

    @property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @property
    def _functions(self) -> dict[str, ast.FunctionDef]:
        """Path → function: ``softmax``, ``LayerNorm.forward``."""
        found: dict[str, ast.FunctionDef] = {}
        for node in ast.parse(self.text).body:
            inside = [(f"{node.name}.", node.body)] if isinstance(node, ast.ClassDef) else []
            for before, body in [("", [node]), *inside]:
                found |= {before + one.name: one for one in body if isinstance(one, ast.FunctionDef)}
        return found

    def function_above(self, line: int) -> tuple[str, str, list[str]]:
        """The function in which this line stands: its path, what it takes, and its statements before the line."""
        path, node = max(
            ((path, node) for path, node in self._functions.items() if node.lineno < line),
            key=lambda found: found[1].lineno,
        )
        return path, ast.unparse(node.args), [ast.unparse(one) for one in _statements(node) if one.lineno < line]

    def body_like(self, path: str, takes: str, given: list[str]) -> list[str]:
        """The lines of a function's body after its docstring and the statements that the cell gives."""
        node = self._functions.get(path)
        if node is None:
            raise _Differs(f"there is no `{path}`")
        if ast.unparse(node.args) != takes:
            raise _Differs(f"`{path}` takes ({ast.unparse(node.args)}), in the cell ({takes})")
        if [ast.unparse(one) for one in _statements(node)[: len(given)]] != given:
            raise _Differs(f"`{path}` does not begin with `{'; '.join(given)}`")
        kept = len(node.body) - len(_statements(node)) + len(given)
        begin = node.body[kept - 1].end_lineno if kept else node.body[0].lineno - 1
        return self._lines[begin : node.end_lineno]

    def assignment(self, name: str) -> list[str]:
        """The lines of ``name = …``."""
        for node in ast.parse(self.text).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                return self._lines[node.lineno - 1 : node.end_lineno]
        raise _Differs(f"there is no `{name}`")


def _statements(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[ast.get_docstring(node) is not None :]
