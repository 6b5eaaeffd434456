"""What the expressions of a program give while it runs."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

from torch import Tensor

from anatomy.engine.exercise import Exercise
from anatomy.engine.observing.plain_data import fresh, plain
from anatomy.engine.reading.expressions import is_module
from anatomy.engine.reading.source import Program, called_function, definition_in
from anatomy.engine.reading.syntax import Place, blocks, places, put

_DATA = (Tensor, int, float, str, list, tuple, dict)
_EXPRESSIONS = (ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.DictComp, ast.IfExp,
                ast.List, ast.ListComp, ast.Name, ast.Subscript, ast.UnaryOp)  # fmt: skip
_NO_VALUE_HERE = (ast.ClassDef, ast.Expr, ast.FormattedValue, ast.JoinedStr, ast.Slice, ast.arguments)

OFTEN = 64
"""How often an expression may be computed in one run: what comes more often is not compared."""

_NOTE = "_note"


class Noted(NamedTuple):
    """A value of an expression: a copy that can be lent, and the plain data by which it is compared."""

    value: Any
    plain: Any

    @property
    def form(self) -> Any:
        return tuple(self.plain.shape) if isinstance(self.plain, Tensor) else type(self.value)


Notes = dict[int, list[Noted]]
"""Number of an expression → what it gave, time by time; what is computed first comes first."""

Operands = dict[tuple[str, int | None], int]
"""Place in an operation → number of the expression."""

Define = Callable[[ast.Module, dict[str, Any]], Any]
"""Makes of a tree the answer that it defines, with some names more than its own."""


NO_DATA = Noted(None, None)
"""Stands for a module, a function, an iterator."""


class Recording:
    """A program that notes what its expressions give; their numbers are those of their places in `tree`."""

    def __init__(self, tree: ast.Module, define: Define, name: str) -> None:
        self.places, self._define, self.notes = places(tree), define, Notes()
        answer = next((found for node in tree.body if (found := called_function(node, name))), None)
        self.returned = [i for i in self._within([answer]) if isinstance(self.places[i][0], ast.Return)]
        self._functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.building = frozenset(self._within(one for one in self._functions if one.name == "__init__"))
        self._noting = copy.deepcopy(tree)
        for number, place in enumerate(places(self._noting)):
            if _is_noted(*place):
                node = place[3]
                call = ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(number), node], [])
                put(*place[:3], ast.copy_location(call, node))
        ast.fix_missing_locations(self._noting)
        self._operations = _operations(self.places)

    def stands_in(self, number: int) -> tuple[str, Operands]:
        """The operation in which an expression stands and which operand it is there; and the other operands."""
        return self._operations[number]

    def is_set_to(self, number: int) -> ast.expr | None:
        """Of a name: what it was set to last, where no branch and no loop leaves that open."""
        name = self.places[number][3]
        own = [node for node in self._functions if any(inner is name for inner in ast.walk(node))]
        if not own or not isinstance(name, ast.Name):
            return None
        times = [node for node in ast.walk(own[-1]) if isinstance(node, ast.Name | ast.arg) and _binds(node, name.id)]
        plain = [one for one in own[-1].body if isinstance(one, ast.Assign) and one.targets[0] in times]
        arguments = sum(isinstance(node, ast.arg) for node in times)
        before = [one for one in plain if one.lineno < name.lineno and len(one.targets) == 1]
        return before[-1].value if before and len(plain) + arguments == len(times) else None

    def was_changed_in(self, number: int) -> int:
        """Of a name: the line of a statement such as ``x += 1`` that comes right before it; 0 if another one does."""
        name = self.places[number][3]
        pairs = (pair for function in self._functions for block in blocks(function) for pair in pairwise(block))
        for before, statement in pairs:
            in_it = isinstance(name, ast.Name) and name in ast.walk(statement)
            if in_it and isinstance(before, ast.AugAssign) and ast.unparse(before.target) == name.id:
                return before.lineno
        return 0

    def is_filled_in(self, number: int) -> int:
        """Of a list's name: the line of the one ``append`` or ``extend`` that fills it; 0 where it is not one."""
        name = self.places[number][3]
        lines = [
            node.lineno
            for function in self._functions
            if any(inner is name for inner in ast.walk(function))
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if node.func.attr in ("append", "extend") and isinstance(name, ast.Name)
            if isinstance(node.func.value, ast.Name) and node.func.value.id == name.id
        ]
        return lines[0] if len(set(lines)) == 1 else 0

    def _within(self, functions: Iterable[ast.AST | None]) -> list[int]:
        """The numbers of what stands in these functions."""
        inside = {id(node) for function in functions if function for node in ast.walk(function)}
        return [number for number, place in enumerate(self.places) if id(place[3]) in inside]

    def build(self) -> Any:
        """The answer, which notes from now on."""
        self.notes = {}
        return self._define(self._noting, {_NOTE: self._note})

    def _note(self, number: int, value: Any) -> Any:
        times = self.notes.setdefault(number, [])
        if len(times) <= OFTEN:
            times.append(_kept(value))
        return value


def _operations(all_places: list[Place]) -> list[tuple[str, Operands]]:
    """For each place the operation that it stands in, empty if it stands in none, and the other operands."""
    of_parents: dict[int, list[int]] = {}
    for number, place in enumerate(all_places):
        if _is_noted(*place):
            of_parents.setdefault(id(place[0]), []).append(number)

    def operation(number: int) -> tuple[str, Operands]:
        parent, field, index, _ = all_places[number]
        if (name := _operation(parent)) is None:
            return "", {}
        others = {all_places[one][1:3]: one for one in of_parents.get(id(parent), []) if one != number}
        return f"{name} {field} {index}", others

    return [operation(number) for number in range(len(all_places))]


def _operation(node: ast.AST) -> str | None:
    """What an expression does with its operands: its operator, or the name of what it calls."""
    match node:
        case ast.BinOp(op=op):
            return type(op).__name__
        case ast.Compare(ops=ops):
            return " ".join(type(op).__name__ for op in ops)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
        case _:
            return None


def of_program(program: Program) -> Recording:
    """A student's."""

    def define(tree: ast.Module, names: dict[str, Any]) -> Any:
        return replace(program, tree=tree).build(names)

    return Recording(program.tree, define, program.name)


def of_right_answers(exercise: Exercise) -> Iterator[Recording]:
    """Those of the right answer, then of what is also right, with the helpers that stand beside them."""
    course, notebook = exercise.course, exercise.notebook
    others = (name for name in course.also_right(notebook) if name.startswith(f"{exercise.name}__"))
    for name, part in ((exercise.name, "right"), *((other, "also_right") for other in others)):
        module = sys.modules[course.module(notebook, part)]
        if tree := definition_in(_parsed(module), name):
            yield Recording(tree, partial(_of_right, module, name), name)


def read_right_answers(exercise: Exercise) -> None:
    """Read the files in which right answers stand, which takes a while; once for all checks of a notebook."""
    exercise.course.also_right(exercise.notebook)
    for part in ("right", "also_right"):
        _parsed(sys.modules[exercise.course.module(exercise.notebook, part)])


@cache
def _parsed(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _of_right(module: ModuleType, name: str, tree: ast.Module, names: dict[str, Any]) -> Any:
    known = {**vars(module), **names}
    exec(compile(tree, "<right>", "exec", dont_inherit=True), known)
    return known[name]


def _binds(node: ast.Name | ast.arg, name: str) -> bool:
    return node.arg == name if isinstance(node, ast.arg) else node.id == name and isinstance(node.ctx, ast.Store)


def _kept(value: Any) -> Noted:
    if isinstance(value, _DATA):
        with contextlib.suppress(Exception):  # a tensor inside of `torch.vmap`, or without data, can't be kept
            return Noted(fresh(value), plain(value))
    return NO_DATA


def _is_noted(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> bool:
    """Whether an expression gives a value that could be another one."""
    if not isinstance(node, _EXPRESSIONS) or isinstance(parent, _NO_VALUE_HERE) or is_module(node):
        return False
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.List) and not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(parent, ast.Call) and field == "func":
        return False
    if isinstance(node, ast.Name) and node.id == "self":
        return not isinstance(parent, ast.Attribute)
    return not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super")
