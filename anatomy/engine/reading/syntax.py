"""A syntax tree read and changed in place.

What changes the tree is a generator: it yields while the change is in force and takes it back afterwards, so that
whoever goes on to the next change finds the tree as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Place = tuple[ast.AST, str, int | None, Any]
"""A node of the tree: its parent, the field and the index there, and the node."""

Mend = tuple[int, str]
"""The line of an edit that is in force, and the sentence that is true if it makes the answer right."""


def places(tree: ast.AST) -> list[Place]:
    """All nodes, each with where it stands."""
    found: list[Place] = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if field in ("decorator_list", "annotation"):
                continue
            if isinstance(value, list):
                found += [(parent, field, index, node) for index, node in enumerate(value) if isinstance(node, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append((parent, field, None, value))
    return found


def copied(node: Node) -> Node:
    """A copy of a tree, without what others hang on its nodes.

    All programs share one node that says "is read". IPython's tracebacks hang the node above on it, so that
    `copy.deepcopy` of a line copies a whole module of theirs.
    """
    fields = {name: _copied(value) for name, value in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**fields), node)


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return copied(value) if isinstance(value, ast.AST) else value


def exchanged(place: Place, new: ast.AST) -> Generator[int, None, None]:
    """Yields the line once, while `new` stands in the place."""
    parent, field, index, node = place
    holder = getattr(parent, field)
    put(parent, field, index, _located(new, node))
    try:
        yield node.lineno
    finally:
        if index is None:
            setattr(parent, field, holder)
        else:
            holder[index] = node


def _located(new: ast.AST, at: ast.AST) -> ast.AST:
    """A new node with all that Python asks of a tree that it must compile."""
    return ast.fix_missing_locations(ast.copy_location(new, at))


def put(parent: ast.AST, field: str, index: int | None, new: ast.AST) -> None:
    """Put a node where another one stands."""
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new


def rearranged(lists: list[list[Any]], new: list[list[Any]], line: int) -> Generator[int, None, None]:
    """Yields the line once, while these lists of statements hold other ones. An empty one is filled with `pass`."""
    old = [list(statements) for statements in lists]
    known = {id(statement) for statements in old for statement in statements}
    for statements, others in zip(lists, new, strict=True):
        statements[:] = others or [ast.Pass(lineno=line, col_offset=0)]
        for made in (statement for statement in others if id(statement) not in known):
            ast.fix_missing_locations(made)
    try:
        yield line
    finally:
        for statements, others in zip(lists, old, strict=True):
            statements[:] = others


def replaced(here: list[Place], new: ast.expr) -> Generator[int, None, None]:
    """Yields the first line once, while `new` stands in all of these places."""
    with ExitStack() as changes:
        lines = [next(changes.enter_context(closing(exchanged(place, new)))) for place in here]
        yield min(lines)


def bound_names(function: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The arguments and variables of a function, in the order in which they appear."""
    names = [arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)]
    names += [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(names))


def read_names(tree: ast.AST) -> set[str]:
    """The names that a program reads."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def changes(node: ast.AST, name: str) -> bool:
    """Whether a statement or a call changes the value of a name: a part of it, or all in place."""
    return changed_name(node) == name


def changed_name(node: ast.AST) -> str | None:
    """The name whose value a statement or a call changes: a part of it, or all in place."""
    match node:
        case ast.Subscript(ast.Name(owner), _, ast.Store()) | ast.AugAssign(ast.Name(owner)):
            return owner
        case ast.Call(ast.Attribute(ast.Name(owner), method)) if is_changing(method):
            return owner
    return None


def is_changing(method: str) -> bool:
    """Whether a method of this name changes what it is called on."""
    return method.endswith("_") or method in _CHANGING


_CHANGING = ("add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "sort", "update")


def arguments(function: ast.FunctionDef) -> list[str]:
    """Positional arguments without `self`."""
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] == ["self"] else names


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of functions, loops and branches."""
    for parent in ast.walk(tree):
        if not isinstance(parent, ast.Module | ast.ClassDef | ast.Lambda | ast.IfExp):
            for field in ("body", "orelse", "finalbody"):
                if isinstance(block := getattr(parent, field, None), list):
                    yield block


def loops(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int, ast.For | ast.While]]:
    """Each loop, with the block that it stands in and its place there."""
    for block in blocks(tree):
        for index, statement in enumerate(block):
            if isinstance(statement, ast.For | ast.While):
                yield block, index, statement
