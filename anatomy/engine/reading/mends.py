"""Sentences about a program that are true if an edit makes it right in all cases: each edit is tried."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import ModuleType
from typing import Any

from torch import Tensor

from anatomy.engine.course import Course
from anatomy.engine.exercise import Case
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.syntax import (
    Place,
    arguments,
    blocks,
    bound_names,
    exchanged,
    loops,
    places,
    rearranged,
    replaced,
)
from anatomy.engine.reading.trials import Trials

Mend = tuple[int, str]
"""The line of an edit that is in force, and the sentence that is true if it makes the answer right."""


def mended(program: Program, trials: Trials) -> Diagnosis | None:
    """The first sentence whose edit makes the answer right in all cases."""
    return _first_right(_mends(program, trials), program, trials)


def too_much(program: Program, trials: Trials) -> Diagnosis | None:
    """Points at the first statement without which the answer is right in all cases."""
    return _first_right(_left_out(program), program, trials)


def _first_right(mends: Iterator[Mend], program: Program, trials: Trials) -> Diagnosis | None:
    for line, sentence in mends:
        if trials.budget.is_spent:
            return None
        if trials.is_right(program.build):
            return Diagnosis(sentence, f"Line {line}: `{program.line(line)}`")
    return None


def _mends(program: Program, trials: Trials) -> Iterator[Mend]:
    yield from _without_gradient(program)
    yield from _returned_too_early(program)
    yield from _repeated(program)
    yield from _power_first(program)
    yield from _not_kept(program)
    yield from _bound_anew(program)
    yield from _not_reset(program)
    yield from _of_the_notebook(program)
    yield from _fixed_sizes(program, trials)


_NO_GRADIENT = {"no_grad", "inference_mode"}
"""Names of what computes without gradients."""


def _without_gradient(program: Program) -> Iterator[Mend]:
    """``with torch.no_grad():``, the same above a function, ``x.detach()`` and ``x.data``."""
    for block in blocks(program.tree):
        for index, statement in enumerate(block):
            if isinstance(statement, ast.With) and _names_in(statement.items) & _NO_GRADIENT:
                for line in rearranged(
                    [block], [[*block[:index], *statement.body, *block[index + 1 :]]], statement.lineno
                ):
                    yield line, f"What stands in the `with` of line {line} is computed without gradients: take it out."
    for function in program.functions:
        for index, decorator in enumerate(function.decorator_list):
            if _names_in([decorator]) & _NO_GRADIENT:
                same = ast.parse("lambda function: function", mode="eval").body
                for line in exchanged((function, "decorator_list", index, decorator), same):
                    yield line, f"Line {line} lets `{function.name}` compute without gradients: leave it out."
    for place in places(program.tree):
        match place[3]:
            case ast.Call(ast.Attribute(owner, "detach"), []) | ast.Attribute(owner, "data"):
                for line in exchanged(place, owner):
                    yield line, f"`{ast.unparse(place[3])}` in line {line} lets no gradient through."


def _names_in(nodes: list[Any]) -> set[str]:
    return {inner.attr for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _returned_too_early(program: Program) -> Iterator[Mend]:
    for block, index, loop in loops(program.tree):
        if isinstance(last := loop.body[-1], ast.Return):
            moved = [*block[: index + 1], last, *block[index + 1 :]]
            for line in rearranged([loop.body, block], [loop.body[:-1], moved], last.lineno):
                yield line, f"The `return` in line {line} is inside the loop, which ends there in its first turn."


def _repeated(program: Program) -> Iterator[Mend]:
    """The same statement twice, one after the other."""
    for block in (block for function in program.functions for block in blocks(function)):
        for index, (one, two) in enumerate(pairwise(block)):
            if ast.dump(one) == ast.dump(two):
                for line in rearranged([block], [[*block[: index + 1], *block[index + 2 :]]], two.lineno):
                    yield line, f"Line {line} repeats line {one.lineno}, and once is enough."


def _left_out(program: Program) -> Iterator[Mend]:
    for block in (block for function in program.functions for block in blocks(function)):
        for index, statement in enumerate(block):
            if isinstance(statement, ast.Return | ast.Raise | ast.Pass) or _is_text(statement):
                continue
            for line in rearranged([block], [[*block[:index], *block[index + 1 :]]], statement.lineno):
                if (last := statement.end_lineno or line) == line:
                    yield line, f"Line {line} is too much: without it, all results are right."
                else:
                    yield line, f"Lines {line} to {last} are too much: without them, all results are right."


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _power_first(program: Program) -> Iterator[Mend]:
    """``D ** 1 / 2``, ``x / D ** 1 / 2``, ``-1 ** k``: Python raises to the power before it divides or negates."""
    for place in places(program.tree):
        node = place[3]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and (power := _power(node.left)):
            new: ast.expr = ast.BinOp(power.left, ast.Pow(), ast.BinOp(power.right, node.op, node.right))
        elif isinstance(node, ast.BinOp) and isinstance(left := node.left, ast.BinOp) and (power := _power(left.right)):
            inner = ast.BinOp(power.left, ast.Pow(), ast.BinOp(power.right, node.op, node.right))
            new = ast.BinOp(left.left, left.op, inner)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and (power := _power(node.operand)):
            new = ast.BinOp(ast.UnaryOp(ast.USub(), power.left), ast.Pow(), power.right)
        else:
            continue
        text, first = ast.unparse(node), ast.unparse(power)
        for line in exchanged(place, new):
            yield line, f"`{text}` means `{text.replace(first, f'({first})', 1)}`: the power is taken first."


def _power(node: ast.expr) -> ast.BinOp | None:
    return node if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else None


def _not_kept(program: Program) -> Iterator[Mend]:
    """``scores.masked_fill(…)`` alone on its line."""
    for place in places(program.tree):
        call = place[3].value if isinstance(place[3], ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        owner, name = call.func.value, call.func.attr
        if isinstance(owner, ast.Name):
            for line in exchanged(place, ast.Assign([ast.Name(owner.id, ast.Store())], call)):
                yield (
                    line,
                    f"Line {line} keeps nothing: `{name}` returns a new value and leaves `{owner.id}` as it was.",
                )


def _bound_anew(program: Program) -> Iterator[Mend]:
    """``for row in x: row = …``, which leaves x as it is."""
    for block, at, loop in loops(program.tree):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        name, many = loop.target.id, ast.unparse(loop.iter)
        for index, statement in enumerate(loop.body):
            if isinstance(loop.iter, ast.Name) and isinstance(statement, ast.Assign) and _target(statement) == name:
                into = ast.Subscript(ast.Name(many, ast.Load()), ast.Name("_turn", ast.Load()), ast.Store())
                new = ast.copy_location(ast.Assign([into], statement.value), statement)
                body = [*loop.body[:index], new, *loop.body[index + 1 :]]
                turns = ast.parse(
                    f"enumerate({many}.clone() if hasattr({many}, 'clone') else list({many}))", mode="eval"
                )
                target = ast.Tuple([ast.Name("_turn", ast.Store()), loop.target], ast.Store())
                mended_loop = ast.copy_location(ast.For(target, turns.body, body, loop.orelse), loop)
                for _ in rearranged([block], [[*block[:at], mended_loop, *block[at + 1 :]]], loop.lineno):
                    line = statement.lineno
                    yield line, f"Line {line} gives the name `{name}` to something new, and leaves `{many}` as it is."


def _target(statement: ast.Assign) -> str:
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _not_reset(program: Program) -> Iterator[Mend]:
    for block, index, loop in loops(program.tree):
        for before, statement in enumerate(block[:index]):
            if isinstance(statement, ast.Assign) and (name := _target(statement)) and _may_change(loop.body, name):
                rest = [*block[:before], *block[before + 1 :]]
                for line in rearranged([loop.body, block], [[statement, *loop.body], rest], statement.lineno):
                    yield line, f"`{name}` is set once, before the loop in line {loop.lineno}: " \
                                "each turn goes on with what the last one left."  # fmt: skip


def _may_change(block: list[ast.stmt], name: str) -> bool:
    """Whether these statements set the name, set a part of it, or call a method of it."""
    for node in (node for statement in block for node in ast.walk(statement)):
        match node:
            case ast.Name(ast_name, ast.Store()) if ast_name == name:
                return True
            case ast.Subscript(ast.Name(owner), _, ast.Store()) | ast.Call(ast.Attribute(ast.Name(owner))) if (
                owner == name
            ):
                return True
    return False


def _of_the_notebook(program: Program) -> Iterator[Mend]:
    """A name of the notebook where an argument belongs."""
    for function in program.functions:
        own = set(bound_names(function))
        names = [place for place in places(function) if isinstance(place[3], ast.Name) and place[3].id not in own]
        for name in dict.fromkeys(place[3].id for place in names):
            value = program.namespace.get(name)
            if value is None or callable(value) or isinstance(value, ModuleType):
                continue
            for argument in arguments(function):
                here = [place for place in names if place[3].id == name]
                for line in replaced(here, ast.Name(argument, ast.Load())):
                    yield line, f"`{name}` in line {line} is no argument, but a name of your notebook: " \
                                "it stays the same whatever is passed in."  # fmt: skip


# ---------------------------------------------------------------------------------------------- sizes


_SHAPED = {"reshape", "view", "expand", "unflatten", "zeros", "ones", "empty", "full", "repeat", "tile"}
"""Functions whose numbers are sizes."""


def _only_sizes(function: ast.AST) -> Iterator[ast.AST]:
    """What is handed to a function that takes a shape, but for a 1 where another axis takes what is left."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SHAPED:
            sizes = [inner for given in node.args for inner in (given, *getattr(given, "elts", ()))]
            takes_the_rest = "-1" in map(ast.unparse, sizes)
            yield from (size for size in sizes if not takes_the_rest or ast.unparse(size) != "1")


def _no_sizes(function: ast.AST) -> Iterator[ast.AST]:
    """What stands in a comparison, in a slice, in ``10**9``, behind `//`, or as digits to round to."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare | ast.Slice) or _is_large_number(node):
            yield from ast.walk(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            yield from ast.walk(node.right)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("round"):
            yield from node.args[1:]


_OTHERS = frozenset({1, 2})
"""Fixed numbers that are tried in the place of one that a size may replace."""

_NO_LIMIT = 997
"""A number that is no limit to anything here."""


def _is_large_number(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(ast.Constant(), ast.Pow(), ast.Constant(int())):
            return True
    return False


def _fixed_sizes(program: Program, trials: Trials) -> Iterator[Mend]:
    """A number that is a limit, or stands where a size of the input belongs and may be no axis, bound or unit.

    Where another fixed number would do, too, the size is not what is missing.
    """
    cases, course = trials.expectations.cases, trials.expectations.exercise.course
    for function in program.functions:
        numbers: dict[float, list[Place]] = {}
        others = {id(node) for node in _no_sizes(function)}
        shapes = {id(node) for node in _only_sizes(function)}
        for place in places(function):
            match place[3]:
                case ast.Constant(int(number) | float(number)) if (
                    number is not True
                    and number == number // 1 >= (1 if id(place[3]) in shapes else 3)
                    and id(place[3]) not in others
                ):
                    numbers.setdefault(number, []).append(place)
        sizes = list(_changing_sizes(function, program, cases, course)) if numbers else []
        for number, here in numbers.items():
            for places_of_it in (here, *([place] for place in here if len(here) > 1)):
                for line in replaced(places_of_it, ast.Constant(_NO_LIMIT)) if number < _NO_LIMIT else ():
                    yield (
                        line,
                        f"The {number} in line {line} is a limit that some inputs go beyond: with a much larger number "
                        "there, all results are right.",
                    )
                if sizes and any(
                    trials.is_right(program.build)
                    for other in _OTHERS - {number}
                    for _ in replaced(places_of_it, ast.Constant(other))
                ):
                    continue
                for size in sizes:
                    for line in replaced(places_of_it, ast.parse(size, mode="eval").body):
                        yield line, f"The {number} in line {line} is fixed, and should follow from what is passed in."


def _changing_sizes(function: ast.FunctionDef, program: Program, cases: list[Case], course: Course) -> Iterator[str]:
    """How the sizes of an input can be written in this function: those that aren't the same in all cases."""
    inputs = [_inputs(function, program, case) for case in cases]
    for size in dict.fromkeys(_sizes(inputs[0], course)):
        met = set()
        for values in inputs:
            with contextlib.suppress(Exception):  # an input of another kind may lack it
                met.add(eval(size, {"len": len}, dict(values)))
        if len(met) > 1:
            yield size


def _inputs(function: ast.FunctionDef, program: Program, case: Case) -> Mapping[str, Any]:
    """The arguments that a function gets in a case, as far as the case tells."""
    given = {"__init__": case.init}.get(function.name, case.args.values() if function is program.answer else ())
    return dict(zip(arguments(function), given, strict=False))


def _sizes(values: Mapping[str, Any], course: Course) -> Iterator[str]:
    """How the sizes of these arguments can be written."""
    numbers = [name for name, value in values.items() if isinstance(value, int)]
    yield from numbers
    for name, value in values.items():
        if isinstance(value, Tensor):
            yield from (f"{name}.size({axis})" for axis in (*range(-1, -value.dim() - 1, -1), 0, 1))
            yield from (f"{name}.size(-1) // {number}" for number in numbers)
            yield f"{name}.size(-1) ** 0.5"
        elif isinstance(value, list | tuple | dict | str):
            yield f"len({name})"
        elif course.is_config(value):
            yield from (re.sub(r"[a-z]\w*", rf"{name}.\g<0>", size) for size in course.config_sizes)
