"""Random edits of a program, as people slip: another operator, constant, axis, name, order, bound, method, line."""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Callable, Iterator

from anatomy.engine.reading.syntax import copied

Change = tuple[ast.AST, Callable[[], None]]
"""The node whose line an edit is in, and what makes the edit."""

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
METHODS = (
    "sum mean", "amax amin", "max min", "exp log", "triu tril", "zeros ones", "argmax argmin", "any all", "floor ceil",
    "sin cos", "append extend", "argsort sort", "cat stack", "unsqueeze squeeze", "var std", "log exp", "sqrt square",
    "softmax log_softmax", "masked_fill_ masked_fill", "lower upper", "start end", "keys values", "cumsum flip",
)  # fmt: skip
OTHER = {one: two for pair in METHODS for one, two in (pair.split(), pair.split()[::-1])}


def mutated(tree: ast.Module, dice: random.Random, edits: int = 1) -> tuple[str, tuple[int, ...]]:
    """The program with random edits, and the lines in which they are; no line where none was possible."""
    tree, marked = ast.parse(ast.unparse(tree)), list[ast.AST]()
    for _ in range(edits):
        kinds = [found for kind in KINDS if (found := list(kind(tree)))]
        if not kinds:
            break
        node, change = dice.choice(dice.choice(kinds))
        before = ast.unparse(tree)
        change()
        ast.fix_missing_locations(tree)
        if ast.unparse(tree) != before:
            marked.append(node)
    source = ast.unparse(tree)
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return source, ()
    return source, tuple({line for node in marked if (line := _line_of(node, tree, source))})


def renamed(tree: ast.Module, dice: random.Random) -> ast.Module:
    """The program with other names for what its functions bind themselves; parameters keep theirs."""
    tree = copied(tree)
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _is_store(node)} - parameters
        taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(dir(builtins))
        fresh = [name for name in ("a", "b", "c", "out", "res", "tmp", "h", "v", "y", "z", "u") if name not in taken]
        dice.shuffle(fresh)
        names = dict(zip(sorted(stored), fresh, strict=False))
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in names:
                node.id = names[node.id]
    return tree


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _line_of(node: ast.AST, tree: ast.Module, source: str) -> int:
    """Where a node of the edited tree stands in its text."""
    mark = "__here__"
    if not isinstance(node, ast.stmt):
        node = next(
            (one for one in _statements(tree) if any(inner is node for inner in ast.walk(one))), tree.body[0]
        )  # fmt: skip
    holder = next(((body, i) for body in _bodies(tree) for i, one in enumerate(body) if one is node), None)
    if holder is None:
        return 0
    body, i = holder
    body.insert(i, ast.Expr(ast.Name(mark, ast.Load())))
    text = ast.unparse(ast.fix_missing_locations(tree)).split("\n")
    body.pop(i)
    return next((number for number, line in enumerate(text, 1) if mark in line), 0)


def _statements(tree: ast.AST) -> list[ast.stmt]:
    """All statements, the innermost ones first."""
    return [one for body in _bodies(tree) for one in body][::-1]


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield body


# ---- kinds of edits -------------------------------------------------------------------------------------------------


def _setting(node: ast.AST, name: str, value: object) -> Change:
    return node, lambda: setattr(node, name, value)


def _operators(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS):
            yield from (_setting(node, "op", other()) for other in OPERATORS if not isinstance(node.op, other))
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, OPERATORS):
            yield from (_setting(node, "op", other()) for other in OPERATORS[:3] if not isinstance(node.op, other))


def _order(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
            yield node, lambda node=node: _swap(node, "left", "right")
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            yield node, lambda node=node: node.args.insert(0, node.args.pop(1))


def _swap(node: ast.AST, one: str, two: str) -> None:
    left, right = getattr(node, one), getattr(node, two)
    setattr(node, one, right)
    setattr(node, two, left)


def _constants(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant):
            continue
        value = node.value
        if isinstance(value, bool):
            yield _setting(node, "value", not value)
        elif isinstance(value, int):
            yield from (_setting(node, "value", other) for other in {value + 1, value - 1, 0} - {value})
        elif isinstance(value, float):
            yield from (_setting(node, "value", other) for other in (2 * value, value / 10, -value, 1.0))


def _axes(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("dim", "axis", "dims"):
            for axis in (0, 1, -1, -2):
                yield node, lambda node=node, axis=axis: setattr(node, "value", _number(axis))


def _number(value: int) -> ast.expr:
    return ast.parse(str(value), mode="eval").body


def _names(tree: ast.AST) -> Iterator[Change]:
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        known = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
        known |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _is_store(node)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in known and isinstance(node.ctx, ast.Load):
                yield from (_setting(node, "id", other) for other in sorted(known - {node.id}))


def _compared(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], COMPARISONS):
            for other in COMPARISONS:
                if not isinstance(node.ops[0], other):
                    yield node, lambda node=node, other=other: node.ops.__setitem__(0, other())
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test, lambda node=node: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))


def _bounds(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        places: list[tuple[ast.AST, str]] = []
        if isinstance(node, ast.Slice):
            places = [(node, name) for name in ("lower", "upper") if getattr(node, name)]
        for owner, name in places:
            for step in (1, -1):
                yield owner, lambda o=owner, n=name, s=step: setattr(o, n, _plus(getattr(o, n), s))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            for step in (1, -1):
                yield node, lambda node=node, s=step: node.args.append(_plus(node.args.pop(), s))


def _plus(value: ast.expr, step: int) -> ast.expr:
    return ast.BinOp(value, ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))


def _calls(tree: ast.AST) -> Iterator[Change]:
    """A call left out: its first argument or its object stays."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for place, item in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(item, ast.Call):
                    continue
                kept = item.func.value if _is_method(item.func) else next(iter(item.args), None)
                if kept is None:
                    continue
                if isinstance(value, list):
                    yield kept, lambda value=value, place=place, kept=kept: value.__setitem__(place, kept)
                else:
                    yield kept, lambda node=node, name=name, kept=kept: setattr(node, name, kept)


def _is_method(function: ast.expr) -> bool:
    modules = ("torch", "math", "nn", "F", "np", "itertools")
    return isinstance(function, ast.Attribute) and not (
        isinstance(function.value, ast.Name) and function.value.id in modules
    )


def _methods(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in OTHER:
            yield _setting(node, "attr", OTHER[node.attr])
        elif isinstance(node, ast.Name) and node.id in OTHER and isinstance(node.ctx, ast.Load):
            yield _setting(node, "id", OTHER[node.id])


def _keywords(tree: ast.AST) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for word in node.keywords:
                yield node, lambda node=node, word=word: node.keywords.remove(word)


def _lines(tree: ast.AST) -> Iterator[Change]:
    """A statement left out, doubled, or exchanged with the next one."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for body in _bodies(function):
            for i, one in enumerate(body):
                if isinstance(one, ast.FunctionDef | ast.Return):
                    continue
                if len(body) > 1:
                    rest = body[i + 1] if i + 1 < len(body) else body[i - 1]
                    yield rest, lambda body=body, i=i: body.pop(i)
                if isinstance(one, ast.AugAssign | ast.Assign | ast.Expr):
                    yield one, lambda body=body, i=i: body.insert(i, copied(body[i]))
                if i + 1 < len(body) and not isinstance(body[i + 1], ast.Return):
                    yield body[i + 1], lambda body=body, i=i: body.insert(i, body.pop(i + 1))


KINDS = (_operators, _order, _constants, _axes, _names, _compared, _bounds, _calls, _methods, _keywords, _lines)
