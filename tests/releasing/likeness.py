"""Programs that are the same but for names, annotations and docstrings, found wherever they stand in a set of files."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TypeVar

from anatomy.engine.reading.syntax import copied

CODE_IN_TEXT = re.compile(
    r"```(?:python)?\n(.*?)```|<pre><code[^>]*>(.*?)</code></pre>|`([^`\n]+)`|<code>(.*?)</code>", re.S
)

T = TypeVar("T")

Shape = tuple[tuple[str, int], ...]
"""Kinds and sizes of some statements, or of one expression: what must be the same before a closer look is worth it."""


class _Plain(ast.NodeTransformer):
    """Own names become v0, v1 …; what is called keeps its name."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def renamed(self, name: str) -> str:
        return self.names.setdefault(name, f"v{len(self.names)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.renamed(node.id), ast.Load())

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self.renamed(node.arg))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func if isinstance(node.func, ast.Name) else self.visit(node.func)
        arguments = [self.visit(one) for one in node.args]
        return ast.Call(called, arguments, [self.visit(one) for one in node.keywords])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self.generic_visit(ast.Assign([node.target], node.value)) if node.value else node


def plain(nodes: Iterable[ast.AST]) -> str:
    """The same text for programs that differ in names only."""
    renaming = _Plain()
    return " ".join(ast.dump(renaming.visit(copied(node))) for node in nodes)


def tree_of(text: str) -> ast.Module | None:
    """The program, each node with its size; annotations don't count. None when it is none."""
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return None
    _measure(tree)
    return tree


def _measure(node: ast.AST) -> int:
    sizes = {id(child): _measure(child) for child in ast.iter_child_nodes(node)}
    aside = (getattr(node, name, None) for name in ("annotation", "returns", "ctx", "op"))
    node.size = 1 + sum(sizes.values()) - sum(sizes.get(id(one), 0) for one in aside)  # type: ignore[attr-defined]
    return node.size  # type: ignore[attr-defined]


def shape(nodes: Iterable[ast.AST]) -> Shape:
    kinds = ((type(node).__name__.removeprefix("Ann"), node.size) for node in nodes)  # type: ignore[attr-defined]
    return tuple(kinds)


def body_of(function: ast.FunctionDef) -> list[ast.stmt]:
    """Its statements without the docstring."""
    return function.body[ast.get_docstring(function) is not None :]


def found(tree: ast.Module, wanted: Mapping[Shape, Mapping[str, T]]) -> Iterator[T]:
    """What stands in a program of what is wanted: shape → plain text → what it is."""
    lengths = sorted({len(one) for one in wanted if len(one) > 1})
    for node in ast.walk(tree):
        runs = [[node]] if isinstance(node, ast.expr | ast.stmt) else []
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                runs += [block[at : at + many] for many in lengths for at in range(len(block) - many + 1)]
        for run in runs:
            if (alike := wanted.get(shape(run))) and (what := alike.get(plain(run))):
                yield what


def programs(path: PurePosixPath, content: bytes) -> Iterator[tuple[str, str]]:
    """What a file holds of Python: a module, or a notebook's cells and the code in its text; each with its place."""
    if path.suffix == ".py":
        yield str(path), content.decode()
    elif path.suffix == ".ipynb":
        for cell in json.loads(content)["cells"]:
            source, place = "".join(cell["source"]), f"{path.stem}: {cell['id']}"
            if cell["cell_type"] == "code":
                yield place, source
            else:
                yield from ((place, next(filter(None, one), "")) for one in CODE_IN_TEXT.findall(source))
