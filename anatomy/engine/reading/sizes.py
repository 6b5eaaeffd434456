"""Numbers that stand where a size of the input belongs."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from anatomy.engine.course import Course
from anatomy.engine.exercise import Case
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.syntax import Mend, Place, arguments, places, replaced
from anatomy.engine.reading.trials import Trials

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


def fixed_sizes(program: Program, trials: Trials) -> Iterator[Mend]:
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
            lines = [place[3].lineno for place in here]
            alone = [[place] for place in here if lines.count(place[3].lineno) == 1 < len(here)]
            for places_of_it in (here, *alone):
                if number < _NO_LIMIT and _is_right_with(_NO_LIMIT, places_of_it, program, trials):
                    yield from _limit(number, places_of_it, program, trials)
                others_do = (_is_right_with(other, places_of_it, program, trials) for other in _OTHERS - {number})
                if sizes and any(others_do):
                    continue
                for size in sizes:
                    for line in replaced(places_of_it, ast.parse(size, mode="eval").body):
                        yield line, f"The {number} in line {line} is fixed, and should follow from what is passed in."


def _limit(number: float, here: list[Place], program: Program, trials: Trials) -> Iterator[Mend]:
    """What is said of a number that may be as large as you like: no limit may be 1 as well, and is for one size."""
    beyond = any(_goes_beyond(letter, number, trials) for letter in trials.expectations.cases[0].sizes)
    is_limit = beyond and not _is_right_with(1, here, program, trials)
    for line in replaced(here, ast.Constant(_NO_LIMIT)):
        says = f"The {number} in line {line} is a limit that some inputs go beyond"
        if not is_limit:
            says = f"What is done with the {number} in line {line} goes wrong for some inputs"
        yield line, f"{says}: with a much larger number there, all results are right."


def _is_right_with(number: int, here: list[Place], program: Program, trials: Trials) -> bool:
    return any(trials.is_right(program.build) for _ in replaced(here, ast.Constant(number)))


def _goes_beyond(letter: str, number: float, trials: Trials) -> bool:
    """Whether results are wrong where a size is larger than a number, and nowhere else."""
    sizes = [case.sizes.get(letter, 0) for case in trials.expectations.cases]
    return {index for index, size in enumerate(sizes) if size > number} == set(trials.wrong)


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
