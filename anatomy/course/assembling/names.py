"""Which names of its notebook a statement uses: those that it binds, and those that it reads, now or later.

A name is read *early* when the statement runs (a base class, a decorator, a default), and *late* when what it defines
is called. Annotations are late: the assembled file begins with ``from __future__ import annotations``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Use:
    """One place in a statement where a name of the notebook is bound, or read early or late."""

    name: str
    node: ast.AST
    binds: bool = False
    late: bool = False


def uses(statement: ast.stmt) -> list[Use]:
    """Every use of the notebook's names in a statement of a cell's top level; names local to a function are none."""
    visitor = _Visitor()
    visitor.visit(statement)
    return visitor.uses


def renamed(text: str, new_name: Callable[[int, Use], str]) -> str:
    """A statement's text with other names in it.

    Parameters
    ----------
    text
        One statement, comments around it included.
    new_name
        What the use with this number, counted as `uses` lists them, must be called.
    """
    tree = ast.parse(text)
    lines = [line.encode() for line in text.split("\n")]
    changes = set()
    for number, use in enumerate(use for statement in tree.body for use in uses(statement)):
        if (name := new_name(number, use)) != use.name:
            changes.add((*_place(use, lines), use.name, name))
    for line, column, old, new in sorted(changes, reverse=True):
        found = lines[line]
        lines[line] = found[:column] + new.encode() + found[column + len(old.encode()) :]
    return "\n".join(line.decode() for line in lines)


def _place(use: Use, lines: list[bytes]) -> tuple[int, int]:
    """Line and column (in bytes) of a name; where it belongs to a longer statement, it is looked for from its start."""
    node = use.node
    line, column = node.lineno - 1, node.col_offset  # type: ignore[attr-defined]
    if not isinstance(node, ast.Name):
        word = re.compile(rb"\b" + re.escape(use.name.encode()) + rb"\b")
        while not (match := word.search(lines[line], column)):
            line, column = line + 1, 0
        column = match.start()
    return line, column


class _Visitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.uses: list[Use] = []
        self._locals: tuple[frozenset[str], ...] = ()
        self._in_class: set[str] | None = None
        """In a class's body: what it has bound so far. Its methods do not see these names."""
        self._late = False

    # ------------------------------------------------------------------------------------------ names

    def visit_Name(self, node: ast.Name) -> None:
        self._note(node.id, node, binds=not isinstance(node.ctx, ast.Load))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self._note(node.target.id, node.target, binds=False)
        self.visit(node.target)

    def visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            self.uses.append(Use(name, node, late=True))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._note(alias.asname or alias.name.partition(".")[0], node, binds=True)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._note(alias.asname or alias.name, node, binds=True)

    def _note(self, name: str, node: ast.AST, binds: bool) -> None:
        if any(name in scope for scope in self._locals):
            return
        if self._in_class is not None and (binds or name in self._in_class):
            self._in_class |= {name}
            return
        self.uses.append(Use(name, node, binds and not self._locals, self._late))

    # ------------------------------------------------------------------------------------------ scopes

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._all(node.decorator_list)
        self._note(node.name, node, binds=True)
        self._signature(node.args, node.returns)
        self._function(node.body, _bound_in(node))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._signature(node.args, None)
        self._function([node.body], frozenset(_arguments(node.args)))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._all([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)])
        self._note(node.name, node, binds=True)
        outer, self._in_class = self._in_class, set()
        self._all(node.body)
        self._in_class = outer

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._later(node.annotation)
        self._all([node.value, node.target])

    def visit_comprehension_like(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        names = {name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}
        inside = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for number, part in enumerate(node.generators):
            inside += [*([part.iter] if number else []), *part.ifs]
        outer = self._locals, self._in_class
        self._locals, self._in_class = (*self._locals, frozenset(names)), None
        self._all(inside)
        self._locals, self._in_class = outer

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_like

    def _signature(self, args: ast.arguments, returns: ast.expr | None) -> None:
        self._all([*args.defaults, *args.kw_defaults])
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                self._later(arg.annotation)
        self._later(returns)

    def _function(self, body: Iterable[ast.AST], names: frozenset[str]) -> None:
        outer = self._locals, self._in_class, self._late
        self._locals, self._in_class, self._late = (*self._locals, names), None, True
        self._all(body)
        self._locals, self._in_class, self._late = outer

    def _later(self, node: ast.AST | None) -> None:
        outer, self._late = self._late, True
        self._all([node])
        self._late = outer

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)


def _arguments(args: ast.arguments) -> Iterator[str]:
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if arg is not None:
            yield arg.arg


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names that are local to a function."""
    names, declared = set(_arguments(function.args)), set()
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):
            names |= {inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)}
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            declared |= set(node.names)
        waiting += ast.iter_child_nodes(node)
    return frozenset(names - declared)
