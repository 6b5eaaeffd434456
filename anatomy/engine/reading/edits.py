"""Small edits of a program: what one line may need, one change at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from anatomy.engine.reading.expressions import OTHER_OPERATORS, is_module, other_expressions, wrapped
from anatomy.engine.reading.syntax import bound_names, exchanged, places, rearranged


def small_edits(tree: ast.Module, first: Sequence[set[int]] = ()) -> Iterator[int]:
    """All edits that one line may need, those of expressions first, names and whole calls last.

    Those in the lines of the first set come before all others, then those of the second, and so on.
    """
    every = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)}
    done = set[int]()
    for lines in (*first, every):
        yield from _in_lines(tree, lines - done)
        done |= lines


def _in_lines(tree: ast.Module, lines: set[int]) -> Iterator[int]:
    here = [place for place in places(tree) if isinstance(place[3], ast.expr) and place[3].lineno in lines]
    for edits in other_expressions:
        for place in here:
            for new in edits(place[3]):
                yield from exchanged(place, new)
    yield from _of_statements(tree, lines)
    yield from _of_names(tree, lines)
    for place in here:
        if not isinstance(getattr(place[3], "ctx", None), ast.Store | ast.Del):
            for new in wrapped(place):
                yield from exchanged(place, new)


# ---------------------------------------------------------------------------------------------- names


def _of_names(tree: ast.Module, lines: set[int]) -> Iterator[int]:
    """Another name of the same function, another attribute of the same object, among those that the program uses."""
    attributes: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            attributes.setdefault(ast.dump(node.value), set()).add(node.attr)
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]:
        names = bound_names(function)
        for place in places(function):
            node = place[3]
            if getattr(node, "lineno", 0) not in lines:
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and place[1] != "func":
                if node.id not in ("torch", "math", "F", "nn", "np"):
                    for name in names:
                        if name not in (node.id, "self"):
                            yield from exchanged(place, ast.Name(name, ast.Load()))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not is_module(node.value):
                for name in sorted(attributes[ast.dump(node.value)] - {node.attr}):
                    yield from exchanged(place, ast.Attribute(node.value, name, node.ctx))


# ---------------------------------------------------------------------------------------------- statements


def _of_statements(tree: ast.Module, lines: set[int]) -> Iterator[int]:
    """A statement deleted, moved one level out or in, swapped with the next; `+=` for `=`; a result returned."""
    for parent in ast.walk(tree):
        for field in ("body", "orelse"):
            body = getattr(parent, field, None)
            if not isinstance(body, list) or isinstance(parent, ast.Module | ast.ClassDef):
                continue
            for i, statement in enumerate(list(body)):
                if statement.lineno not in lines:
                    continue
                yield from _one_statement(body, i, statement)
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    yield from _moved(body, i, statement)
        body = getattr(parent, "body", None)
        if isinstance(parent, ast.FunctionDef) and isinstance(body, list) and body[-1].lineno in lines:
            yield from _returned(body)


def _one_statement(body: list[Any], i: int, statement: ast.stmt) -> Iterator[int]:
    line = statement.lineno
    if not isinstance(statement, ast.For | ast.While | ast.With | ast.FunctionDef):
        yield from rearranged([body], [body[:i] + body[i + 1 :]], line)
    if i + 1 < len(body):
        yield from rearranged([body], [[*body[:i], body[i + 1], statement, *body[i + 2 :]]], line)
    others: list[ast.stmt] = []
    if isinstance(statement, ast.AugAssign):
        others.append(ast.Assign([statement.target], statement.value))
        others += [ast.AugAssign(statement.target, other(), statement.value)  # type: ignore[arg-type]
                   for other in OTHER_OPERATORS.get(type(statement.op), ())]  # fmt: skip
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
            others += [ast.AugAssign(target, operator, statement.value) for operator in (ast.Add(), ast.Mult())]
    elif isinstance(statement, ast.Break):
        others.append(ast.Continue())
    elif isinstance(statement, ast.Continue):
        others.append(ast.Break())
    elif isinstance(statement, ast.If):
        others += [ast.While(statement.test, statement.body, [])]
    for other in others:
        yield from rearranged([body], [[*body[:i], ast.copy_location(other, statement), *body[i + 1 :]]], line)


def _moved(body: list[Any], i: int, statement: ast.stmt) -> Iterator[int]:
    """Into the block before or behind it; and what stands in a block, out of it."""
    line = statement.lineno
    for j, outer in enumerate(list(body)):
        if not isinstance(outer, ast.For | ast.While | ast.If | ast.With):
            continue
        inner = outer.body
        if j == i - 1:
            yield from rearranged([inner, body], [[*inner, statement], body[:i] + body[i + 1 :]], line)
        elif j == i + 1 or (j > i and isinstance(statement, ast.Assign)):
            yield from rearranged([inner, body], [[statement, *inner], body[:i] + body[i + 1 :]], line)
        elif j == i:
            last, first = inner[-1], inner[0]
            yield from rearranged([inner, body], [inner[:-1], [*body[: i + 1], last, *body[i + 1 :]]], last.lineno)
            if first is not last:
                yield from rearranged([inner, body], [inner[1:], [*body[:i], first, *body[i:]]], first.lineno)


def _returned(body: list[Any]) -> Iterator[int]:
    """The last statement's value, returned."""
    last = body[-1]
    if isinstance(last, ast.Expr | ast.Assign):
        value = ast.copy_location(ast.Return(last.value), last)
        yield from rearranged([body], [[*body[:-1], value]], last.lineno)
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        value = ast.copy_location(ast.Return(ast.Name(last.targets[0].id, ast.Load())), last)
        yield from rearranged([body], [[*body, value]], last.lineno)
