"""Sentences about a program that are true if an edit makes it right in all cases: each edit is tried."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from types import ModuleType
from typing import Any, TypeGuard

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.sizes import fixed_sizes
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.syntax import (
    Mend,
    arguments,
    blocks,
    bound_names,
    exchanged,
    loops,
    places,
    read_names,
    rearranged,
    replaced,
)
from anatomy.engine.reading.trials import Trials


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
    yield from _left_over(program)
    yield from _sizes_in_another_order(program)
    yield from _on_the_wrong_side_of_the_end(program)
    if trials.differ_in_number_type:
        yield from _of_another_number_type(program)
    yield from _of_the_notebook(program)
    yield from fixed_sizes(program, trials)


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
    """Each statement left out. Those come first that end a loop on a condition: others may only serve the condition."""
    found = [
        (block, index, statement)
        for function in program.functions
        for block in blocks(function)
        for index, statement in enumerate(block)
        if not isinstance(statement, ast.Return | ast.Raise | ast.Pass) and not _is_text(statement)
    ]
    for block, index, statement in sorted(found, key=lambda one: not _may_break(one[2])):
        for line in rearranged([block], [[*block[:index], *block[index + 1 :]]], statement.lineno):
            if (last := statement.end_lineno or line) == line:
                yield line, f"Line {line} is too much: without it, all results are right."
            else:
                yield line, f"Lines {line} to {last} are too much: without them, all results are right."


def _may_break(statement: ast.stmt) -> bool:
    """Whether a statement is a condition on which a loop ends."""
    return isinstance(statement, ast.If) and any(isinstance(inner, ast.Break) for inner in ast.walk(statement))


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


def _sizes_in_another_order(program: Program) -> Iterator[Mend]:
    """``T, B, D = x.shape``"""
    for place in places(program.tree):
        parent, field, _, node = place
        if field != "targets" or not isinstance(node, ast.Tuple) or not isinstance(parent, ast.Assign):
            continue
        if not re.search(r"\.(shape|size\(\))$", ast.unparse(parent.value)):
            continue
        for i, j in combinations(range(len(node.elts)), 2):
            names = list(node.elts)
            names[i], names[j] = names[j], names[i]
            for line in exchanged(place, ast.Tuple(names, ast.Store())):
                order = ", ".join(map(ast.unparse, names))
                yield line, f"Line {line} names the sizes in another order than they come in: they are `{order}`."


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
            name = _target(statement) if isinstance(statement, ast.Assign) else ""
            if name and _may_change(loop.body, name) and not _ends(loop, name):
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


def _ends(loop: ast.stmt, name: str) -> bool:
    """Whether the loop ends on a condition on the name: then each turn needs what the last one left."""
    conditions = (node for node in ast.walk(loop) if isinstance(node, ast.If) and _may_break(node))
    return any(name in read_names(one.test) for one in conditions)


def _left_over(program: Program) -> Iterator[Mend]:
    """``for angle in angles: … cos(beta)``, where a loop before it has set `beta`."""
    for block, index, loop in loops(program.tree):
        if not isinstance(loop, ast.For):
            continue
        body = ast.Module(loop.body, [])
        before = {node.id: earlier.lineno for earlier in block[:index] if isinstance(earlier, ast.For | ast.While)
                  for node in ast.walk(earlier) if _is_set(node)}  # fmt: skip
        set_here = {node.id for node in ast.walk(loop) if _is_set(node)}
        for target in (node.id for node in ast.walk(loop.target) if _is_set(node)):
            for name, of in before.items() if target not in read_names(body) else ():
                here = [place for place in places(body) if isinstance(place[3], ast.Name) and place[3].id == name]
                for line in replaced(here, ast.Name(target, ast.Load())) if here and name not in set_here else ():
                    yield line, f"`{name}` in line {line} is what the loop in line {of} left last, the same in each " \
                                f"turn: with `{target}` in its place, all results are right."  # fmt: skip


def _is_set(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _on_the_wrong_side_of_the_end(program: Program) -> Iterator[Mend]:
    """A statement at the end of a loop, which belongs behind it; and one behind it, which belongs in each turn."""
    for block, index, loop in loops(program.tree):
        *first, last = loop.body
        if first and not isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue):
            behind = [*block[: index + 1], last, *block[index + 1 :]]
            for line in rearranged([loop.body, block], [first, behind], last.lineno):
                yield line, f"Line {line} is in the loop, which does it in each turn: it belongs after the loop."
        if index + 1 < len(block) and isinstance(after := block[index + 1], ast.Assign | ast.AugAssign | ast.Expr):
            rest = [*block[: index + 1], *block[index + 2 :]]
            for line in rearranged([loop.body, block], [[*loop.body, after], rest], after.lineno):
                yield line, f"Line {line} is after the loop in line {loop.lineno}: it belongs in each of its turns."


def _of_another_number_type(program: Program) -> Iterator[Mend]:
    """``torch.zeros(x.shape)``, which is float32 whatever `x` is: the first call that brings another type in."""
    for function in program.functions:
        calls = [place for place in places(function) if isinstance(place[3], ast.Call)]
        for place in sorted(calls, key=lambda place: (place[3].end_lineno, place[3].end_col_offset)):
            for name in arguments(function):
                to = ast.Attribute(place[3], "to", ast.Load())
                own = ast.Attribute(ast.Name(name, ast.Load()), "dtype", ast.Load())
                for line in exchanged(place, ast.Call(to, [own], [])):
                    yield line, f"`{ast.unparse(place[3])}` in line {line} has another number type than `{name}`: " \
                                f"with numbers of `{name}.dtype` there, all results are right."  # fmt: skip


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
