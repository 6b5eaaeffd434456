"""Sentences that hold of a program whatever else is wrong with it, and of no right answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.source import Program, called_in, source_tree
from anatomy.engine.reading.syntax import arguments, blocks, bound_names, changes, loops, read_names, rearranged
from anatomy.engine.reading.trials import Trials

Fact = tuple[str, int]
"""The sentence, and the line that it is about, or 0."""


def refused(program: Program, trials: Trials) -> Diagnosis | None:
    """The test before a `raise` of the student's own that a good input meets."""
    good = [seen for seen in trials.visible.values() if seen.expected.outcome == "returned"]
    errors = [seen.found.error for seen in good if seen.found.error]
    for block in blocks(program.tree):
        for statement in (one for one in block if isinstance(one, ast.If)):
            raises = {inner.lineno for inner in statement.body if isinstance(inner, ast.Raise)}
            if any(error.line in raises for error in errors):
                line = statement.lineno
                return Diagnosis(f"`{ast.unparse(statement.test)}` in line {line} is true of a good input.",
                                 f"Line {line}: `{program.line(line)}`")  # fmt: skip
    return None


def written_into(program: Program, trials: Trials) -> Diagnosis | None:
    """The line that changes an argument in place, where the right answer leaves it as it was."""
    known, answer = trials.expectations, program.answer
    for case, found, right in zip(known.cases, trials.found, known.expected, strict=True):
        mine = dict(zip(case.args, arguments(answer), strict=False)) if answer else {}
        for name in (mine[one] for one in found.changed if one not in right.changed and one in mine):
            for node in ast.walk(answer or program.tree):
                if changes(node, name):
                    line = getattr(node, "lineno", 0)
                    return Diagnosis(f"Line {line} changes `{name}`: `{program.line(line)}`")
    return None


def kept_default(program: Program) -> Diagnosis | None:
    """The argument whose default is a list or a dict that the function fills."""
    for function in program.functions:
        given = function.args
        by_position = [*given.posonlyargs, *given.args]
        names = *by_position[len(by_position) - len(given.defaults) :], *given.kwonlyargs
        for one, default in zip(names, (*given.defaults, *given.kw_defaults), strict=True):
            if isinstance(default, _CONTAINERS) and any(changes(node, one.arg) for node in ast.walk(function)):
                line = function.lineno
                return Diagnosis(
                    f"The default of `{one.arg}` is made once, with the function: what one call puts into it is there "
                    "in the next.",
                    f"Make it in each call: `{one.arg}=None` and, if it is None, `{one.arg} = {ast.unparse(default)}`. "
                    f"Line {line}: `{program.line(line)}`",
                )  # fmt: skip
    return None


_CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.Call)


def noticed(program: Program, trials: Trials) -> Diagnosis | None:
    """The first such sentence."""
    for sentence, line in _facts(program, trials):
        return Diagnosis(sentence, f"Line {line}: `{program.line(line)}`" if line else "")
    return None


def what_is_returned(program: Program, trials: Trials) -> Diagnosis | None:
    """The one `return` of an answer that returns something of a wrong kind; a list that stands there shows itself."""
    found = [node for node in ast.walk(program.answer or ast.Module([], [])) if isinstance(node, ast.Return)]
    shown = (ast.List, ast.ListComp, ast.Tuple)
    if trials.differ_in_type and len(found) == 1 and found[0].value and not isinstance(found[0].value, shown):
        return Diagnosis(f"What you return is `{ast.unparse(found[0].value)}`, in line {found[0].lineno}.")
    return None


def _facts(program: Program, trials: Trials) -> Iterator[Fact]:
    if trials.return_nothing:
        return  # that comes first
    yield from _behind_the_error(program, trials)
    yield from _loops_that_end_at_once(program)
    yield from statements_that_do_nothing(program)
    yield from _unused_arguments(program, trials)
    yield from _powers_of_one(program)
    yield from _lines_without_effect(program, trials)


def _loops_that_end_at_once(program: Program) -> Iterator[Fact]:
    for _, _, loop in loops(program.tree):
        for statement in loop.body:
            if any(isinstance(node, ast.Continue) for node in ast.walk(statement)):
                break
            if isinstance(statement, ast.Return):
                line = statement.lineno
                yield f"The `return` in line {line} is inside the loop, which ends there in its first turn.", line


def _behind_the_error(program: Program, trials: Trials) -> Iterator[Fact]:
    """A name that an error's line misses or can't call, and where it is set."""
    error = next((seen.found.error for seen in trials.visible.values() if seen.found.error), None)
    if error is None or not error.line:
        return
    nodes = list(ast.walk(program.tree))
    if missing := re.fullmatch(r"'(\w+)' object has no attribute '(\w+)'", error.message):
        owner, name = missing.groups()
        classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        named = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == name]
        read = [node for node in named if ast.unparse(node.value) == "self" and node.lineno == error.line]
        is_set = any(isinstance(node.ctx, ast.Store) for node in named) or bool(_SETTING & _all_names(nodes))
        if owner in classes and read and not is_set:
            yield f"`self.{name}` is read in line {error.line}, and no line of your class sets it.", error.line
    elif error.message.endswith("object is not callable"):
        called = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call) and node.lineno == error.line}
        sets = [node for node in nodes if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in called]
        if len(sets) > 1:  # of several, what another call makes is a layer in all likelihood
            sets = [node for node in sets if not isinstance(node.value, ast.Call)]
        if len(sets) == 1 and not isinstance(sets[0].value, ast.Lambda):
            name = ast.unparse(sets[0].targets[0])
            yield (
                f"`{name}` is called in line {error.line}, and line {sets[0].lineno} makes it something else.",
                sets[0].lineno,
            )


_SETTING = {"setattr", "__dict__", "vars", "register_buffer", "register_parameter", "add_module", "register_module"}
"""Names by which an attribute is set without an assignment."""


def _all_names(nodes: list[ast.AST]) -> set[str]:
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _unused_arguments(program: Program, trials: Trials) -> Iterator[Fact]:
    """Arguments that the right answer reads and this one does not."""
    exercise = trials.expectations.exercise
    function, right = program.answer, called_in(source_tree(exercise.right), exercise.name)
    if function is None or right is None or read_names(function) & {"locals", "vars", "eval", "exec", "inspect", "sys"}:
        return
    for mine, theirs in zip(arguments(function), arguments(right), strict=False):
        if mine not in read_names(function) and theirs in read_names(right):
            yield f"`{mine}` is never used: whatever it says, your `{exercise.name}` does the same.", 0


def _powers_of_one(program: Program) -> Iterator[Fact]:
    """``D ** 1 / 2``."""
    for node in ast.walk(program.tree):
        match node:
            case ast.BinOp(ast.BinOp(_, ast.Pow(), ast.Constant(1)), ast.Div(), _):
                text, first = ast.unparse(node), ast.unparse(node.left)
                yield f"`{text}` means `({first}){text.removeprefix(first)}`: the power is taken first.", node.lineno


def statements_that_do_nothing(program: Program) -> Iterator[Fact]:
    """A statement that is an expression and calls nothing; to look up an entry may be a test of whether it is there."""
    for statement in (statement for function in program.functions for block in blocks(function) for statement in block):
        is_value = isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant)
        if is_value and not any(isinstance(node, _DOES) for node in ast.walk(statement)):
            yield f"Line {statement.lineno} does nothing: its result is not kept.", statement.lineno


_DOES = (ast.Call, ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def _lines_without_effect(program: Program, trials: Trials) -> Iterator[Fact]:
    """Methods called for a result that nobody keeps."""
    if any(seen.outcome != "returned" for seen in trials.found):
        return  # what an error cuts short says nothing about its lines
    if trials.expectations.exercise.describe and any(isinstance(seen.value, str) for seen in trials.found):
        return  # what is seen is summed up in words, which can stay where results change
    for function in program.functions:
        own = bound_names(function)
        for block in blocks(function):
            for index, statement in enumerate(block):
                match statement:
                    case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), _))) if name in own:
                        for line in rearranged([block], [[*block[:index], *block[index + 1 :]]], statement.lineno):
                            if trials.changes_nothing(program.build):
                                yield f"Line {line} has no effect: without it your results are the same.", line
