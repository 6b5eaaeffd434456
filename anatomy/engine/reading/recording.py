"""What the expressions of a program give while it runs."""

from __future__ import annotations

import ast
import contextlib
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
from anatomy.engine.reading.source import Program, called_in, definition_in
from anatomy.engine.reading.syntax import blocks, changes, copied, places, put
from anatomy.engine.reading.uses import Use, decided_on, has_value, in_patterns, targets, uses

_DATA = (Tensor, int, float, str, list, tuple, dict, type(None))

OFTEN = 64
"""How often an expression may be computed in one run: what comes more often is not compared."""

_NOTE = "_note"

CALLED = "_called"
"""What a program calls, of names that it is given besides its own, whenever the answer is called."""


class Noted(NamedTuple):
    """A value of an expression: a copy that can be lent, the plain data by which it is compared, and the call.

    The call is the number of times that the answer had been called before: one case may call it more than once. `at`
    counts all that was noted before.
    """

    value: Any
    plain: Any
    call: int = 0
    at: int = 0

    @property
    def form(self) -> Any:
        return tuple(self.plain.shape) if isinstance(self.plain, Tensor) else type(self.value)


Notes = dict[int, list[Noted]]
"""Number of an expression → what it gave, time by time; what is computed first comes first."""

Define = Callable[[ast.Module, dict[str, Any]], Any]
"""Makes of a tree the answer that it defines, with some names more than its own."""


_NO_DATA = object()


def is_data(noted: Noted) -> bool:
    """Whether a value is data: no module, no function and no iterator."""
    return noted.plain is not _NO_DATA


class Recording:
    """A program that notes what its expressions give; their numbers are those of their places in `tree`."""

    def __init__(self, tree: ast.Module, define: Define, name: str) -> None:
        self.places, self._define, self.notes = places(tree), define, Notes()
        self._only: int | None = None
        self._call = self._at = 0
        self._numbers = {id(place[3]): number for number, place in enumerate(self.places)}
        answer = called_in(tree, name)
        inner = [node for node in ast.walk(answer or tree) if isinstance(node, ast.FunctionDef) and node is not answer]
        of_others = set(self._within(inner))
        self.returned = [
            i for i in self._within([answer]) if i not in of_others and isinstance(self.places[i][0], ast.Return)
        ]
        self._functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self._function_of = {id(node): one for one in self._functions for node in ast.walk(one)}  # the innermost
        self._comes_from: dict[int, frozenset[int]] = {}
        self.building = frozenset(self._within(one for one in self._functions if one.name == "__init__"))
        self._noting = copied(tree)
        left_out = decided_on(self._noting) | in_patterns(self._noting)
        for number, place in enumerate(places(self._noting)):
            if has_value(*place) and id(place[3]) not in left_out:
                node = place[3]
                call = ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(number), node], [])
                put(*place[:3], ast.copy_location(call, node))
        if noting := called_in(self._noting, name):
            noting.body.insert(0, tells_that_it_is_called())
        ast.fix_missing_locations(self._noting)
        self._uses = uses(self.places, self._functions)
        self._begun = {id(node) for function in self._functions for node in _begun(function)}

    def stands_in(self, number: int) -> list[Use]:
        """The operation that takes an expression; where a name is set to it, those that take the name."""
        return self._uses[number]

    def only_stands_in_for(self, number: int, is_known: bool) -> bool:
        """Whether another value could make up for what goes wrong after an expression and says nothing of itself.

        So it is of what is compared, where many a value is on the right side, of what a right answer computes, too
        (`is_known`), unless it is a name, which may be the wrong one, and of a name whose numbers get another type.
        """
        parent, node = self.places[number][0], self.places[number][3]
        is_name = isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Subscript)
        match parent, node:
            case (_, ast.Call(ast.Attribute(ast.Name(), method))) | (ast.Attribute(attr=method), ast.Name()) if (
                method in _CONVERTING
            ):
                return True
        return isinstance(parent, ast.Compare) or (is_known and not is_name)

    def is_asked_for_its_size(self, number: int) -> bool:
        """Whether a size alone is read of a name or of its shape: that may be the wrong one, and the rest is right."""
        match self.places[number][0], self.places[number][3]:
            case (ast.Attribute(attr=read), ast.Name()) | (ast.Subscript(), ast.Attribute(attr=read)):
                return read in _OF_SIZE
        return False

    def is_written_out(self, number: int) -> bool:
        """Whether an expression is a number as it stands in the text."""
        node = self.places[number][3]
        return isinstance(node, ast.Constant) and isinstance(node.value, int | float)

    def is_name(self, number: int) -> bool:
        """Whether an expression is a plain name."""
        return isinstance(self.places[number][3], ast.Name)

    def may_be_set_to(self, number: int) -> list[ast.expr]:
        """Of a name: what it was set to last, in each branch before it; empty where a loop leaves that open."""
        name = self.places[number][3]
        own = self._function_of.get(id(name)) if isinstance(name, ast.Name) else None
        return _set_before(own.body, name)[1] if own and isinstance(name, ast.Name) else []

    def begins(self, number: int) -> bool:
        """Whether an expression only begins what is filled later, ``mask = torch.zeros(…)`` before ``mask[t] = …``."""
        return id(self.places[number][3]) in self._begun

    def comes_from(self, number: int) -> frozenset[int]:
        """The places of what an expression is made of: what stands in it, and what its names were set to, and so on."""
        if number not in self._comes_from:
            self._comes_from[number] = frozenset(self._sources(number))
        return self._comes_from[number]

    def _sources(self, number: int) -> set[int]:
        found, open_ones = set[int](), [number]
        while open_ones:
            for node in ast.walk(self.places[open_ones.pop()][3]):
                inside = self._numbers.get(id(node))
                if inside is not None and inside not in found:
                    found.add(inside)
                    open_ones += [self._numbers[id(value)] for value in self.may_be_set_to(inside)]
        return found

    def decisions_on(self, number: int) -> list[int]:
        """The tests of an `if` elsewhere that depend on an expression."""
        return [
            test
            for test, (parent, field, _, node) in enumerate(self.places)
            if field == "test" and isinstance(parent, ast.If | ast.IfExp)
            if number in self.comes_from(test) and self.places[number][3] not in ast.walk(node)
        ]

    def is_changed(self, number: int) -> bool:
        """Of a name: whether the program changes its value somewhere, in place or by ``+=``."""
        name = self.places[number][3]
        return isinstance(name, ast.Name) and any(
            changes(node, name.id)
            for function in self._functions
            if any(inner is name for inner in ast.walk(function))
            for node in ast.walk(function)
        )

    def is_changed_there(self, number: int) -> bool:
        """Of a name: whether its own line changes it, as ``x[t] = f(x)`` does: in a loop, that comes before it, too."""
        name = self.places[number][3]
        return isinstance(name, ast.Name) and any(
            changes(node, name.id) and node.lineno == name.lineno
            for function in self._functions
            for node in ast.walk(function)
            if isinstance(node, ast.Subscript | ast.AugAssign)
        )

    def is_set_or_changed(self, number: int) -> bool:
        """Of a name: whether its function sets it, or changes its value, anywhere."""
        name = self.places[number][3]
        own = [function for function in self._functions if any(inner is name for inner in ast.walk(function))]
        bodies = [statement for function in own for statement in function.body]
        is_set = isinstance(name, ast.Name) and any(_is_bound(name, statement) for statement in bodies)
        return is_set or self.is_changed(number)

    def was_changed_in(self, number: int) -> int:
        """Of a name: the line of ``x += 1`` or ``x[0] = 1`` if such a statement comes right before it; else 0."""
        name = self.places[number][3]
        pairs = (pair for function in self._functions for block in blocks(function) for pair in pairwise(block))
        for before, statement in pairs:
            in_it = isinstance(name, ast.Name) and name in ast.walk(statement)
            if in_it and isinstance(before, ast.AugAssign | ast.Assign) and name.id in _changed_in(before):
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

    def build(self, only: int | None = None) -> Any:
        """The answer, which notes from now on what all its expressions give, or only one of them."""
        self.notes, self._only, self._call, self._at = {}, only, 0, 0
        return self._define(self._noting, {_NOTE: self._note, CALLED: self._count})

    def _count(self) -> None:
        self._call += 1

    def _note(self, number: int, value: Any) -> Any:
        if self._only in (None, number):
            times = self.notes.setdefault(number, [])
            self._at += 1
            if len(times) <= OFTEN:
                times.append(Noted(*_kept(value), self._call, self._at))
        return value


_CONVERTING = {"float", "double", "bool", "long", "int", "to", "type_as", "clone", "detach", "contiguous"}
"""Methods that leave numbers as they are, or nearly so."""

_OF_SIZE = {"size", "shape", "dim", "ndim", "numel"}
"""What reads no more than the sizes of a tensor."""


def _changed_in(statement: ast.AugAssign | ast.Assign) -> set[str]:
    """The names whose values a statement changes, whole or at an index."""
    whole = [statement.target] if isinstance(statement, ast.AugAssign) else []
    at_index = [one.value for one in (*whole, *getattr(statement, "targets", ())) if isinstance(one, ast.Subscript)]
    return {one.id for one in (*whole, *at_index) if isinstance(one, ast.Name)}


def tells_that_it_is_called() -> ast.stmt:
    """The statement with which an answer begins that tells when it is called."""
    return ast.Expr(ast.Call(ast.Name(CALLED, ast.Load()), [], []))


def of_program(program: Program) -> Recording:
    """A student's."""

    def define(tree: ast.Module, names: dict[str, Any]) -> Any:
        return replace(program, tree=tree).build(names)

    return Recording(program.tree, define, program.name)


def of_right_answers(exercise: Exercise) -> list[Recording]:
    """Those of the right answer, then of what is also right, with the helpers that stand beside them.

    To read them takes a while, so that it is done once, for all copies of this process.
    """
    course, notebook = exercise.course, exercise.notebook
    others = (name for name in course.also_right(notebook) if name.startswith(f"{exercise.name}__"))
    modules = [(exercise.name, course.module(notebook, "right"))]
    modules += [(other, course.module(notebook, "also_right")) for other in others]
    found = (_of_right_answer(sys.modules[module], name) for name, module in modules)
    return [recording for recording in found if recording]


@cache
def _of_right_answer(module: ModuleType, name: str) -> Recording | None:
    tree = definition_in(_parsed(module), name)
    return Recording(tree, partial(_of_right, module, name), name) if tree else None


@cache
def _parsed(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _of_right(module: ModuleType, name: str, tree: ast.Module, names: dict[str, Any]) -> Any:
    known = {**vars(module), **names}
    exec(compile(tree, "<right>", "exec", dont_inherit=True), known)
    return known[name]


def _set_before(block: list[ast.stmt], name: ast.Name) -> tuple[bool, list[ast.expr]]:
    """Whether the name is set in this block before it is read somewhere in it; and to what, if that is sure.

    There are several values where branches set it to several.
    """
    at = next(index for index, statement in enumerate(block) if any(node is name for node in ast.walk(statement)))
    around = block[at]
    inner = next((one for one in blocks(around) if any(node is name for part in one for node in ast.walk(part))), [])
    is_set, value = _set_before(inner, name) if inner else (False, [])
    if is_set:
        return True, value
    is_loop = isinstance(around, ast.For | ast.While)
    if any(_is_bound(name, part) for part in ast.walk(around) if is_loop or isinstance(part, _OWN_NAMES)):
        return True, []
    return _set_last(block[:at], name)


def _set_last(block: list[ast.stmt], name: ast.Name) -> tuple[bool, list[ast.expr]]:
    """Whether a block sets the name, and to what at last: several values where branches differ, none if unsure."""
    for index, statement in reversed(list(enumerate(block))):
        if not _is_bound(name, statement):
            continue
        if isinstance(statement, ast.Assign):
            return True, [value for node, value in targets(statement) if node.id == name.id][:1]
        if not isinstance(statement, ast.If) or _is_bound(name, statement.test):
            return True, []
        branches = [_set_last(branch, name) for branch in (statement.body, statement.orelse)]
        if not all(is_set for is_set, _ in branches):
            branches.append(_set_last(block[:index], name))
        sets = [values for is_set, values in branches if is_set]
        return True, [value for values in sets for value in values] if all(sets) else []
    return False, []


_OWN_NAMES = (ast.comprehension, ast.Lambda, ast.NamedExpr, ast.FunctionDef)
"""What sets names of its own in the midst of a statement."""


def _is_bound(name: ast.Name, inside: ast.AST) -> bool:
    """Whether something sets this name."""
    return any(
        node.arg == name.id if isinstance(node, ast.arg) else node.id == name.id and isinstance(node.ctx, ast.Store)
        for node in ast.walk(inside)
        if isinstance(node, ast.arg | ast.Name)
    )


def _begun(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What names are set to of which single entries are set or added, too."""
    inside, filled = list(ast.walk(function)), set()
    for node in inside:
        match node:
            case ast.Subscript(ast.Name(name), _, ast.Store()):
                filled.add(name)
            case ast.Call(ast.Attribute(ast.Name(name), "append" | "extend")):
                filled.add(name)
    for statement in inside:
        if isinstance(statement, ast.Assign) and {ast.unparse(target) for target in statement.targets} & filled:
            yield statement.value


def _kept(value: Any) -> tuple[Any, Any]:
    """A copy of a value, and the same as plain data."""
    if isinstance(value, _DATA):
        with contextlib.suppress(Exception):  # a tensor inside of `torch.vmap`, or without data, can't be kept
            return fresh(value), plain(value)
    return None, _NO_DATA
