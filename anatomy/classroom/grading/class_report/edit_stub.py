"""A wrong answer as the beginning of what names it in its notebook's `wrong.py`: its name and sentence must be given.

Where it differs from the right answer in few statements, it is an edit of these; else a function or class of its own.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator, Sequence

from anatomy.wiring import the_course

MOST_EDITS = 2
"""Statements that may differ; an answer that differs in more is another program."""
WHAT, SENTENCE = "what_is_wrong", "You …"
Definition = ast.FunctionDef | ast.ClassDef


def edit_stub(slug: str, exercise: str, program: str, broken: Sequence[str]) -> str:
    """Lines for the notebook's `wrong.py`; "" where the program does not lend itself to it."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError, OSError, KeyError):
        course = the_course()
        text = course.file(course.notebook(slug), "right").read_text("utf-8")
        right, given = _definition(ast.parse(text), exercise), _definition(ast.parse(program), exercise)
        if right and given:
            breaks = _as_text(list(broken))
            edits = _edits(text, right, given)
            return _as_edit(exercise, edits, breaks) if edits else _as_definition(exercise, program, given, breaks)
    return ""


def _definition(tree: ast.Module, name: str) -> Definition | None:
    return next((node for node in tree.body if isinstance(node, Definition) and node.name == name), None)


def _as_edit(exercise: str, edits: list[tuple[str, str]], breaks: str) -> str:
    old, new = ([was for was, _ in edits], [now for _, now in edits])
    return f'at({_as_text(old)}, {breaks},\n   ("{WHAT}", {_as_text(new)},\n    "{SENTENCE}"))'


def _as_text(texts: list[str]) -> str:
    """One text, or several in parentheses, as a program says them."""
    said = [json.dumps(text, ensure_ascii=False) for text in texts]
    return said[0] if len(said) == 1 else f"({', '.join(said)})"


def _as_definition(exercise: str, program: str, given: Definition, breaks: str) -> str:
    source = ast.get_source_segment(program, given) or ""
    named = re.sub(rf"\b{re.escape(exercise)}\b", f"{exercise}__{WHAT}", source, count=1)
    return f'@MISTAKES.mistake("{SENTENCE}", breaks={breaks})\n{named}'


def _edits(text: str, right: Definition, given: Definition) -> list[tuple[str, str]]:
    """(what stands in the right answer, what stands in its place), with the right answer's names of variables."""
    source = ast.get_source_segment(text, right) or ""
    ours, theirs = list(_statements(right)), list(_statements(given))
    names = dict(zip(_names(given), _names(right), strict=False))
    if len(ours) != len(theirs) or len(_names(given)) != len(_names(right)):
        return []
    edits = []
    for one, other in zip(ours, theirs, strict=True):
        renamed = _Renamed(names).visit(other)
        if ast.dump(one) != ast.dump(renamed):
            edits.append((ast.get_source_segment(text, one) or "", ast.unparse(renamed)))
    fit = all(source.count(old) == 1 for old, _ in edits)
    return edits if fit and 0 < len(edits) <= min(MOST_EDITS, len(ours) - 1) else []


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements that hold no others, docstrings apart."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and not hasattr(child, "body"):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                yield child
        else:
            yield from _statements(child)


def _names(definition: Definition) -> list[str]:
    """The arguments and variables of a function or class, in the order in which they first stand."""
    found = [
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return list(dict.fromkeys(found))


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)
