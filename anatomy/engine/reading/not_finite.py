"""Where NaN or ∞ comes from: the expression that gives it first, though all that goes into it is finite."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.plain_data import tensors
from anatomy.engine.reading.recording import Noted, Recording, of_program
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.trials import Trials

_Test = Callable[[Tensor], Tensor]

_LONGEST_QUOTE = 60
"""Characters of an expression that is quoted; of a longer one its line is."""

_OPERATORS = {ast.Div: "/", ast.Mult: "·", ast.Sub: "−", ast.Add: "+"}

_BACKWARD = {"mul": ast.Mult, "div": ast.Div, "pow": ast.Pow, "sub": ast.Sub, "add": ast.Add}
"""What autograd calls the operators."""

_BACKWARD_CALLS = {"linalgvectornorm": "norm", "logsoftmax": "log_softmax"}
"""What autograd calls functions that have another name."""


def first_not_finite(program: Program, trials: Trials) -> Diagnosis | None:
    """Points at the line from which NaN or ∞ comes into results, or NaN into gradients, that should be finite."""
    for index, seen in trials.visible.items():
        for word, test in (("NaN", torch.isnan), ("∞", torch.isposinf), ("−∞", torch.isneginf)):
            is_matter = word != "NaN" or _is_the_matter(trials, index, test)
            if is_matter and _has(seen.found.value, test) and not _has(seen.expected.value, test):
                return _of_value(program, trials, index, word, test)
    for index in trials.wrong:
        found, expected = trials.found[index], trials.expectations.expected[index]
        if _has(_gradients(found), torch.isnan) and not _has(_gradients(expected), torch.isnan):
            return _of_gradient(program, trials, index)
    return None


def _is_the_matter(trials: Trials, index: int, test: _Test) -> bool:
    """Whether all chosen cases that ask for the same and differ have it: else other values are wrong, too."""
    cases = trials.expectations.cases
    same = [one for at, one in trials.visible.items() if cases[at].asks == cases[index].asks and not cases[at].drawn]
    return all(_has(one.found.value, test) for one in same)


def _of_value(program: Program, trials: Trials, index: int, word: str, test: _Test) -> Diagnosis | None:
    mine = of_program(program)
    trials.watch(mine.build, index)
    strange = {number for number, values in mine.notes.items() if any(_has(one.value, test) for one in values)}
    origins = [number for number in strange if not _parts(mine, number) & strange and not _is_name(mine, number)]
    lines = {mine.places[number][3].lineno for number in origins}
    if not origins or (word != "NaN" and (len(lines) != 1 or any(_has_infinite_parts(mine, one) for one in origins))):
        return None  # a mask may be written with −∞, too
    number = min(origins, key=lambda one: next(noted.at for noted in mine.notes[one] if _has(noted.value, test)))
    node = mine.places[number][3]
    if word != "NaN":
        return _said(program, node, f"{word} comes into your results from line {{line}}.")
    text = ast.unparse(node)
    if len(text) > _LONGEST_QUOTE:
        return _said(program, node, "The first NaN comes from line {line}.")
    of = _operands(mine, number) or (", into which ∞ or −∞ goes" if _has_infinite_parts(mine, number) else "")
    of = of or next((f": a row of `{name}` allows nothing" for name in _empty_rows(mine, number)), "")
    return _said(program, node, f"The first NaN comes from `{text}` in line {{line}}{of}.")


def _of_gradient(program: Program, trials: Trials, index: int) -> Diagnosis | None:
    """By what autograd's own search for anomalies names, if the program has one place only of this kind."""
    with torch.autograd.set_detect_anomaly(True):
        error = trials.look_again(program.build, index)
    named = re.search(r"Function '(\w+?)Backward\d*' returned nan", error or "")
    if not named:
        return None
    name = named[1].lower()
    operator, call = _BACKWARD.get(name), _BACKWARD_CALLS.get(name, name)
    found = [node for node in ast.walk(program.tree) if isinstance(node, ast.expr) and _is_one_of(node, operator, call)]
    if len(found) != 1:
        return None
    return _said(program, found[0], f"The gradient becomes NaN at `{ast.unparse(found[0])}` in line {{line}}.")


def _said(program: Program, node: ast.expr, sentence: str) -> Diagnosis:
    return Diagnosis(sentence.replace("{line}", str(node.lineno)), f"Line {node.lineno}: `{program.line(node.lineno)}`")


def _has(value: Any, test: _Test) -> bool:
    """Whether some number in it is of this kind."""
    if isinstance(value, float):
        return bool(test(torch.tensor(value)))
    return any(bool(test(one).any()) for one in tensors(value) if one.is_floating_point())


def _gradients(seen: CaseObservation) -> list[Tensor]:
    return [one for one in (seen.gradients or {}).values() if one is not None]


def _parts(mine: Recording, number: int) -> set[int]:
    """The numbers of what stands inside an expression."""
    inside = {id(node) for node in ast.walk(mine.places[number][3])}
    return {one for one in mine.notes if id(mine.places[one][3]) in inside} - {number}


def _has_infinite_parts(mine: Recording, number: int) -> bool:
    """Whether ∞ stands in it already; the ∞ of −∞, which a program writes, does not count."""
    inside = [noted.value for one in _parts(mine, number) for noted in mine.notes[one]]
    return any(_has(value, torch.isinf) for value in inside if not isinstance(value, float))


def _is_name(mine: Recording, number: int) -> bool:
    """Whether an expression only reads what is there; a number that is written as ∞ is no such one."""
    node = mine.places[number][3]
    return isinstance(node, ast.Name | ast.Subscript) or ast.unparse(node).startswith("self.")


def _operands(mine: Recording, number: int) -> str:
    """What an operator computes where NaN comes up first, as the rest of a sentence."""
    node = mine.places[number][3]
    sign = _OPERATORS.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if not (isinstance(node, ast.BinOp) and sign):
        return ""
    sides = [one for side in (node.left, node.right) for one in mine.notes if mine.places[one][3] is side]
    if len(sides) != 2 or any(len(mine.notes[one]) != 1 for one in (number, *sides)):
        return ""
    whole, left, right = (_as_tensor(mine.notes[one][0]) for one in (number, *sides))
    if whole is None or left is None or right is None:
        return ""
    first = tuple(whole.isnan().nonzero()[0].tolist())
    a, b = (float(side.expand(whole.shape)[first]) for side in (left, right))
    return f", which computes {_number(a)} {sign} {_number(b)}"


def _empty_rows(mine: Recording, number: int) -> Iterator[str]:
    """The names in an expression of masks in which a row is False throughout."""
    for one in sorted(_parts(mine, number)):
        for noted in mine.notes[one] if _is_name(mine, one) else ():
            if _is_mask(noted.value) and bool((~noted.value).all(dim=-1).any()):
                yield ast.unparse(mine.places[one][3])
                break


def _is_mask(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == torch.bool and value.dim() > 0


def _as_tensor(noted: Noted) -> Tensor | None:
    return torch.as_tensor(noted.value) if isinstance(noted.value, Tensor | int | float) else None


def _number(value: float) -> str:
    return f"{'−' * (value < 0)}∞" if math.isinf(value) else f"{value:.4g}"


def _is_one_of(node: ast.expr, operator: type[ast.operator] | None, call: str) -> bool:
    """Whether an expression is an operation that autograd calls so."""
    match node:
        case ast.BinOp(op=op):
            return operator is not None and isinstance(op, operator)
        case ast.Call(func=ast.Attribute(value=ast.Name("math"))):
            return False  # of plain numbers
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name.rstrip("_") == call
        case _:
            return False
