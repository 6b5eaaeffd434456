"""A student's program: the definitions in the cell of an answer, as a syntax tree that can be edited and run again.

An edited program runs in a copy of the notebook's namespace. The student's own names are never bound anew, and data
that the program reads there is copied first.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.engine.observing.definitions import layers
from anatomy.engine.observing.plain_data import fresh
from anatomy.engine.reading.syntax import bound_names, changed_name, read_names

_DATA = (Tensor, torch.Generator, nn.Module, list, dict, set)
"""What a run could change in place."""


@dataclass
class Program:
    """The definition of an answer and of the helpers in its cell.

    Attributes
    ----------
    name
        What the cell calls the answer.
    tree
        Its definition and those of its helpers, without annotations. Edits change it in place for a while.
    lines
        The cell, line by line.
    namespace
        The notebook's names.
    """

    name: str
    tree: ast.Module
    lines: list[str]
    namespace: dict[str, Any]

    def line(self, number: int) -> str:
        """A line of the cell as it stands there."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    @property
    def text(self) -> str:
        """The cell."""
        return "\n".join(self.lines)

    def build(self, names: Mapping[str, Any] = MappingProxyType({})) -> Any:
        """What the tree, as it is now, defines. May raise whatever running a definition may raise.

        `names` are there besides the notebook's.
        """
        return self.builder(names)()

    def builder(self, names: Mapping[str, Any] = MappingProxyType({})) -> Callable[[], Any]:
        """Makes again and again what the tree, as it is now, defines."""
        code = compile(self.tree, "<student edited>", "exec", dont_inherit=True)

        def build() -> Any:
            namespace = self.namespace | {name: fresh(self.namespace[name]) for name in self._data} | dict(names)
            exec(code, namespace)
            return namespace[self.name]

        return build

    @cached_property
    def _data(self) -> list[str]:
        """The notebook's names that the program reads, and a run could change. No edit reads another one."""
        return [name for name in read_names(self.tree) if isinstance(self.namespace.get(name), _DATA)]

    @property
    def functions(self) -> list[ast.FunctionDef]:
        """All functions and methods."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    @property
    def at_work(self) -> str:
        """What runs in each call: all functions but `__init__`, as text."""
        return "\n".join(ast.unparse(one) for one in self.functions if one.name != "__init__")

    @cached_property
    def answer(self) -> ast.FunctionDef | None:
        """The function that is called with the exercise's arguments; of a module its `forward`."""
        return called_in(self.tree, self.name)


def program_of(answer: Any, name: str) -> Program | None:
    """The program of a function or class that a cell of the notebook defines; None where it can't be read."""
    function = _a_function_of(answer)
    if (
        function is None
        or function.__module__ != "__main__"
        or function.__code__.co_freevars not in ((), ("__class__",))
    ):
        return None
    lines = linecache.getlines(function.__code__.co_filename)
    try:
        cell = ast.parse("".join(lines))
    except SyntaxError:
        return None
    tree = definition_in(cell, own := getattr(answer, "__name__", name))
    if tree is None and own != name:
        tree = definition_in(cell, own := name)
    if tree is None:
        return None
    return Program(own, tree, lines, function.__globals__)


def definition_in(cell: ast.Module, name: str) -> ast.Module | None:
    """What a cell or module defines by this name, with the helpers in it, without annotations; None if nothing.

    What its functions keep from call to call begins there, too, as the cell begins it.
    """
    kept = kept_names(cell)
    known = {defined: node for node in cell.body for defined in _defines(node, kept)}
    if name not in known:
        return None
    used = _with_helpers(name, known)
    tree = ast.Module([node for node in cell.body if node in used], type_ignores=[])
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return tree


def kept_names(tree: ast.Module) -> set[str]:
    """Names outside of functions that a function sets or changes: data that outlive a call."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = {name for function in functions for node in ast.walk(function) if isinstance(node, ast.Global)
             for name in node.names}  # fmt: skip
    for function in functions:
        changed = {name for node in ast.walk(function) if (name := changed_name(node))}
        found |= (changed & read_names(function)) - set(bound_names(function))
    return found


def called_in(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The function of that name in a tree with its helpers, or the `forward` of the class."""
    own = [node for node in tree.body if getattr(node, "name", "") == name]
    functions = [node for node in ast.walk(own[-1]) if isinstance(node, ast.FunctionDef)] if own else []
    return next((function for function in functions if function.name in (name, "forward")), None)


def source_tree(answer: Any) -> ast.Module:
    """The definition of a function or class of this package."""
    return ast.parse(inspect.getsource(answer))


def _a_function_of(answer: Any) -> FunctionType | None:
    """The function itself, or of a class the first of its methods that has a source."""
    if isinstance(answer, type):
        methods = (value for value in vars(answer).values() if isinstance(value, FunctionType))
        return next((method for method in methods if _belongs_to(method.__code__, answer)), None)
    *_, inner = None, *layers(answer)
    return inner


def _belongs_to(code: CodeType, answer: type) -> bool:
    return code.co_qualname.startswith(f"{answer.__name__}.") and bool(linecache.getlines(code.co_filename))


def _defines(node: ast.stmt, kept: set[str]) -> Iterator[str]:
    """The name that a statement of a cell gives to a function or class, or to what functions keep."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        yield from names if isinstance(node.value, ast.Lambda) else (name for name in names if name in kept)


def _with_helpers(name: str, known: dict[str, ast.stmt]) -> list[ast.stmt]:
    used, open_names = [], [name]
    while open_names:
        node = known[open_names.pop()]
        if node not in used:
            used.append(node)
            open_names += [other for other in read_names(node) if other in known]
    return used
