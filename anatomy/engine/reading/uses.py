"""Where the value of an expression is used: the operation in which it stands, also by way of a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from anatomy.engine.reading.expressions import is_module
from anatomy.engine.reading.syntax import Place

_EXPRESSIONS = (ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.DictComp, ast.IfExp,
                ast.List, ast.ListComp, ast.Name, ast.Subscript, ast.UnaryOp)  # fmt: skip
_NO_VALUE_HERE = (ast.ClassDef, ast.Expr, ast.FormattedValue, ast.JoinedStr, ast.Slice, ast.arguments)
_EITHER_WAY = (ast.Add, ast.Mult)
"""Operators whose operands may trade places."""

Operands = dict[str, int]
"""Place in an operation → number of the expression."""


class Use(NamedTuple):
    """The operation that takes a value, as which operand; and the other operands."""

    operation: str
    others: Operands


def has_value(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> bool:
    """Whether an expression gives a value that could be another one."""
    if not isinstance(node, _EXPRESSIONS) or isinstance(parent, _NO_VALUE_HERE) or is_module(node):
        return False
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.List) and not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(node, ast.List) and not node.elts:
        return False  # where a list begins
    if (isinstance(parent, ast.Call) and field == "func") or _is_part_of_a_number(parent, node):
        return False
    if isinstance(node, ast.Name) and node.id == "self":
        return not isinstance(parent, ast.Attribute)
    return not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super")


def in_patterns(tree: ast.AST) -> set[int]:
    """The ids of what stands in the patterns of ``match``: no values but literals may stand there."""
    patterns = [node for node in ast.walk(tree) if isinstance(node, ast.pattern)]
    return {id(inner) for pattern in patterns for inner in ast.walk(pattern)}


def _is_part_of_a_number(parent: ast.AST, node: ast.AST) -> bool:
    """The 2 of −2."""
    return isinstance(parent, ast.UnaryOp) and isinstance(node, ast.Constant)


def decided_on(tree: ast.AST) -> set[int]:
    """The ids of what stands inside a test: there almost any other value changes what is done."""
    tests = [test for node in ast.walk(tree) for test in _tests(node)]
    return {id(inside) for test in tests for inside in ast.walk(test) if inside is not test}


def _tests(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return [test]
        case ast.comprehension(ifs=tests):
            return tests
        case _:
            return []


def uses(places: list[Place], functions: list[ast.FunctionDef]) -> list[list[Use]]:
    """For each place where its value is used, as far as it is an operand or what a name is set to."""
    operands: dict[int, list[int]] = {}
    for number, place in enumerate(places):
        if has_value(*place):
            operands.setdefault(id(place[0]), []).append(number)
    direct = [_direct(places, number, operands) for number in range(len(places))]
    found = [[use] if use else [] for use in direct]
    numbers = {id(place[3]): number for number, place in enumerate(places)}
    for function in functions:
        nodes = sorted((node for node in ast.walk(function) if hasattr(node, "lineno")), key=lambda node: node.lineno)
        for name, value in (pair for node in nodes if isinstance(node, ast.Assign) for pair in targets(node)):
            later = [node for node in nodes if node.lineno > name.lineno]
            until = next((node.lineno for node in later if _sets(node, name.id)), later[-1].lineno if later else 0)
            taken = (_use_of(name.id, node, direct, numbers) for node in later if node.lineno <= until)
            found[numbers[id(value)]] += [use for use in taken if use]
    return found


def targets(statement: ast.Assign) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Each name that a statement sets, and to what, where that stands there."""
    match statement:
        case ast.Assign([ast.Name() as name], value):
            yield name, value
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
            pairs = zip(names, values, strict=True)
            yield from ((name, value) for name, value in pairs if isinstance(name, ast.Name))


def _sets(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _use_of(name: str, node: ast.AST, direct: list[Use | None], numbers: dict[int, int]) -> Use | None:
    match node:
        case ast.Name(id=read, ctx=ast.Load()) if read == name:
            return direct[numbers[id(node)]]
        case ast.AugAssign(ast.Name(changed), op, value) if changed == name:
            return Use(*_of_operator(op, "left", {"right": numbers[id(value)]}))
        case _:
            return None


def _direct(places: list[Place], number: int, operands: dict[int, list[int]]) -> Use | None:
    """The operation in which an expression itself stands."""
    parent, field, index, _ = places[number]
    others = {f"{places[one][1]} {places[one][2]}": one for one in operands.get(id(parent), []) if one != number}
    match parent:
        case ast.BinOp(op=op):
            return Use(*_of_operator(op, field, {place.split()[0]: one for place, one in others.items()}))
        case ast.Compare(ops=ops):
            return Use(f"{' '.join(type(op).__name__ for op in ops)} {field} {index}", others)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return Use(f"{name} {field} {index}", others)
        case ast.Attribute(attr=name):
            return Use(f".{name}", {})
        case ast.Subscript() if field == "value":
            return Use(f"[{ast.unparse(parent.slice)}]", {})
        case _:
            return None


def _of_operator(op: ast.operator, field: str, others: Operands) -> tuple[str, Operands]:
    name = type(op).__name__
    if isinstance(op, _EITHER_WAY):
        return name, dict(zip([""], others.values(), strict=False))
    return f"{name} {field}", others
