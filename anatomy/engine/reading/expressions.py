"""Other expressions that may be meant where one stands: another number, operator, axis, argument, function."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from anatomy.engine.reading.syntax import Place

OTHER_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub, ast.Mult, ast.Div), ast.Sub: (ast.Add, ast.Div, ast.Mult),
    ast.Mult: (ast.Div, ast.MatMult, ast.Add, ast.Sub),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub, ast.Add), ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.MatMult: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt, ast.NotEq), ast.LtE: (ast.Lt, ast.GtE, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.Eq, ast.NotEq), ast.GtE: (ast.Gt, ast.LtE, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE), ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.And: (ast.Or,), ast.Or: (ast.And,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip

_NOT_SYMMETRIC = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.MatMult

_OTHER_NAMES = {
    one: tuple(other for other in group if other != one)
    for group in (
        ("sum", "mean", "prod", "cumsum"), ("max", "min", "argmax", "argmin"), ("amax", "amin"), ("sin", "cos"),
        ("values", "indices"), ("T", "mT"),
        ("tril", "triu"), ("ones", "zeros"), ("ones_like", "zeros_like"), ("floor", "ceil", "round"), ("var", "std"),
        ("startswith", "endswith"), ("append", "extend"), ("log", "log2", "log10"), ("repeat", "repeat_interleave"),
        ("stack", "cat"), ("all", "any"), ("keys", "items"), ("train", "eval"), ("relu", "gelu", "tanh"),
        ("masked_fill_", "masked_fill"), ("copy_", "add_"), ("squeeze", "unsqueeze"),
    )
    for one in group
}  # fmt: skip
"""What is easily taken for something else; of a group each stands for each."""

_REDUCTIONS = {"sum", "mean", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "var", "std", "norm", "softmax",
               "log_softmax", "logsumexp", "cumsum", "sort", "argsort", "topk", "all", "any"}  # fmt: skip
_AXES = (-1, -2, 0, 1, 2, -3)
_CONSTANTS = (math.pi, math.e, 2**0.5, 0.5**0.5, (2 / math.pi) ** 0.5)
"""What a number may stand for that was rounded too much."""


def _of_numbers(node: ast.expr) -> Iterator[ast.expr]:
    """Another number: one more, one less, the other sign, the inverse, another axis."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return
    value = node.value
    others: list[Any] = []
    if isinstance(value, int):
        others = [value + 1, value - 1, -value, *(_AXES if value in _AXES else ()), float("-inf")]
    elif isinstance(value, float):
        others = [-value, 1 - value, 2 * value, value / 2, 10 * value, value / 10]
        others += [1 / value if value else float("-inf"), *([1e-12] if 0 < value < 0.1 else [])]
        others += [known for known in _CONSTANTS if abs(value - known) < 0.05 * known]
    elif isinstance(value, str) and "->" in value:
        others = list(_einsum_strings(value))
    yield from (ast.Constant(other) for other in dict.fromkeys(others) if other != value)


def _einsum_strings(text: str) -> Iterator[str]:
    """Two letters of one operand, or of the result, trade places; or one becomes another."""
    letters = sorted(set(re.findall(r"[a-zA-Z]", text)))
    for group in re.finditer(r"[a-zA-Z]+", text):
        for i, j in combinations(range(*group.span()), 2):
            yield text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]
        for i in range(*group.span()):
            yield from (text[:i] + letter + text[i + 1 :] for letter in letters)


def _of_operators(node: ast.expr) -> Iterator[ast.expr]:
    """Another operator or comparison, operands or elements swapped, one of them alone, a sign or a `not` less."""
    if isinstance(node, ast.BinOp):
        for other in OTHER_OPERATORS.get(type(node.op), ()):
            yield ast.BinOp(node.left, other(), node.right)  # type: ignore[arg-type]
        if isinstance(node.op, _NOT_SYMMETRIC):
            yield ast.BinOp(node.right, node.op, node.left)
        yield from (node.left, node.right)
        if isinstance(node.op, ast.Div):
            yield ast.BinOp(node.left, ast.Div(), _root(node.right))
        if isinstance(node.left, ast.BinOp):  # (a + b) * c as a + (b * c)
            inner = node.left
            yield ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))
        if isinstance(node.right, ast.BinOp):
            inner = node.right
            yield ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in OTHER_OPERATORS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators)  # type: ignore[list-item]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(OTHER_OPERATORS[type(node.op)][0](), node.values)  # type: ignore[arg-type]
        yield from node.values
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
        yield from node.elts
        yield from (type(node)(node.elts[:i] + node.elts[i + 1 :], node.ctx) for i in range(len(node.elts)))
        for i, j in combinations(range(min(len(node.elts), 4)), 2):
            elements = list(node.elts)
            elements[i], elements[j] = elements[j], elements[i]
            yield type(node)(elements, node.ctx)
    elif isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))


def _of_arguments(node: ast.expr) -> Iterator[ast.expr]:
    """Arguments swapped, left out or added; a range one shorter or longer."""
    if not isinstance(node, ast.Call):
        return
    name = _called(node)
    for i, j in combinations(range(min(len(node.args), 5)), 2):
        args = list(node.args)
        args[i], args[j] = args[j], args[i]
        yield _call(node, args=args)
    for i in range(len(node.args)):
        yield _call(node, args=node.args[:i] + node.args[i + 1 :])
    for i, keyword in enumerate(node.keywords):
        others = node.keywords[:i] + node.keywords[i + 1 :]
        yield _call(node, keywords=others)
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool):
            yield _call(node, keywords=[*others, ast.keyword(keyword.arg, ast.Constant(not keyword.value.value))])
    given = {keyword.arg for keyword in node.keywords}
    if name in _REDUCTIONS and isinstance(node.func, ast.Attribute):
        if "keepdim" not in given:
            yield _call(node, keywords=[*node.keywords, ast.keyword("keepdim", ast.Constant(True))])
        if "dim" not in given:
            for axis in _AXES[:4]:
                yield _call(node, keywords=[*node.keywords, ast.keyword("dim", ast.Constant(axis))])
                if name not in ("argmax", "argmin", "softmax"):
                    keep = [ast.keyword("dim", ast.Constant(axis)), ast.keyword("keepdim", ast.Constant(True))]
                    yield _call(node, keywords=[*node.keywords, *keep])
        if name in ("var", "std") and not given & {"unbiased", "correction"}:
            yield _call(node, keywords=[*node.keywords, ast.keyword("correction", ast.Constant(0))])
        if name in ("sort", "argsort", "topk"):
            yield _call(node, keywords=[*node.keywords, ast.keyword("descending", ast.Constant(True))])
    if name == "sorted":
        yield _call(node, keywords=[*node.keywords, ast.keyword("reverse", ast.Constant(True))])
    if name == "range":
        for i, bound in enumerate(node.args[:2]):
            for sign in (ast.Add(), ast.Sub()):
                args = [*node.args[:i], ast.BinOp(bound, sign, ast.Constant(1)), *node.args[i + 1 :]]
                yield _call(node, args=args)
        if len(node.args) == 1:
            yield _call(node, args=[ast.Constant(1), *node.args])
            yield _call(node, args=[ast.Constant(1), ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))])


def _of_subscripts(node: ast.expr) -> Iterator[ast.expr]:
    """A slice that starts where it ended, or one further; an index left out; `None` at another place."""
    if not isinstance(node, ast.Subscript):
        return
    if isinstance(node.ctx, ast.Load):
        yield node.value
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for i, index in enumerate(indices):
        if isinstance(index, ast.Slice):
            for other in _other_slices(index):
                yield _subscript(node, [*indices[:i], other, *indices[i + 1 :]])
        elif not isinstance(index, ast.Constant):
            for sign in (ast.Add(), ast.Sub()):
                yield _subscript(node, [*indices[:i], ast.BinOp(index, sign, ast.Constant(1)), *indices[i + 1 :]])
    for i, j in combinations(range(len(indices)), 2):
        swapped = list(indices)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        yield _subscript(node, swapped)
    if any(isinstance(index, ast.Constant) and index.value is None for index in indices):
        rest = [index for index in indices if not (isinstance(index, ast.Constant) and index.value is None)]
        for i in range(len(rest) + 1):
            yield _subscript(node, [*rest[:i], ast.Constant(None), *rest[i:]])


def _other_slices(index: ast.Slice) -> Iterator[ast.Slice]:
    low, high, step = index.lower, index.upper, index.step
    yield ast.Slice(high, low, step)
    for sign in (ast.Add(), ast.Sub()):
        if low is not None:
            yield ast.Slice(ast.BinOp(low, sign, ast.Constant(1)), high, step)
        if high is not None:
            yield ast.Slice(low, ast.BinOp(high, sign, ast.Constant(1)), step)
    if low is None:
        yield ast.Slice(ast.Constant(1), high, step)
    if high is None:
        yield ast.Slice(low, ast.Constant(-1), step)
    if low is not None or high is not None:
        yield ast.Slice(None, None, step)


def _of_names(node: ast.expr) -> Iterator[ast.expr]:
    """A function that is easily taken for this one."""
    if isinstance(node, ast.Attribute):
        yield from (ast.Attribute(node.value, other, node.ctx) for other in _OTHER_NAMES.get(node.attr, ()))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from (ast.Name(other, ast.Load()) for other in _OTHER_NAMES.get(node.id, ()))


def _of_functions(node: ast.expr) -> Iterator[ast.expr]:
    """A call less, an attribute less."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not is_module(node.func.value):
            yield node.func.value
        yield from node.args[:2]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield ast.Call(node, [], [])
        if node.attr in ("T", "mT", "data"):
            yield from (node.value, _method(node.value, "transpose", ast.Constant(1), ast.Constant(2)))


def is_module(node: ast.expr) -> bool:
    """Whether `torch`, `F` and the like stand here, by which a function is reached."""
    return isinstance(node, ast.Name) and node.id in ("torch", "math", "F", "nn", "np", "functional", "random")


def wrapped(place: Place) -> Iterator[ast.expr]:
    """Something more around an expression: a transposition, a root, a sign, a copy."""
    parent, field, _, node = place
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) and not isinstance(parent, ast.Attribute):
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult):
            yield from (ast.Attribute(node, "mT", ast.Load()), _method(node, "float"))
        if isinstance(parent, ast.BinOp | ast.Return):
            yield _root(node)
            yield from (_method(node, name) for name in ("exp", "log", "abs", "square"))
        if not (isinstance(parent, ast.Call) and field == "func"):
            yield ast.UnaryOp(ast.USub(), node)
        if isinstance(parent, ast.Assign | ast.Return):
            yield _method(node, "clone")
            yield from (_method(node, name) for name in ("item", "tolist"))
            yield from (ast.Call(ast.Name(name, ast.Load()), [node], []) for name in ("tuple", "list"))
        if isinstance(parent, ast.Assign | ast.Return | ast.Call) and field != "func":
            yield _method(node, "transpose", ast.Constant(1), ast.Constant(2))
            yield _method(node, "transpose", ast.Constant(-2), ast.Constant(-1))
        if isinstance(parent, ast.Attribute | ast.BinOp | ast.Call) and field != "func":
            for axis in (-1, 1):
                yield _method(node, "unsqueeze", ast.Constant(axis))
    if isinstance(parent, ast.Call) and field == "args" and _called(parent) in ("masked_fill", "masked_fill_", "where"):
        yield ast.UnaryOp(ast.Invert(), node)
    if isinstance(parent, ast.Return) and isinstance(node, ast.Name | ast.ListComp | ast.Call | ast.BinOp):
        for name in ("stack", "cat", "tensor", "as_tensor"):
            yield ast.Call(ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load()), [node], [])
    if field in ("test", "ifs"):
        yield ast.UnaryOp(ast.Not(), node)
    if isinstance(parent, ast.Slice) or (isinstance(parent, ast.Call) and _called(parent) == "range"):
        return
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div | ast.Mult):
        for sign in (ast.Add(), ast.Sub()):
            yield ast.BinOp(node, sign, ast.Constant(1))


def _root(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Pow(), ast.Constant(0.5))


def _method(node: ast.expr, name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(node, name, ast.Load()), list(args), [])


def _call(node: ast.Call, args: list[ast.expr] | None = None, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(node.func, node.args if args is None else args, node.keywords if keywords is None else keywords)


def _subscript(node: ast.Subscript, indices: list[Any]) -> ast.Subscript:
    return ast.Subscript(node.value, indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load()), node.ctx)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


other_expressions = (_of_names, _of_functions, _of_numbers, _of_operators, _of_arguments, _of_subscripts)
"""Each gives other expressions for one; in the order in which they are tried."""
