"""Compare what was found with what was expected, property by property."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anatomy.exercises.spec import GENERAL, Case, Exercise
from anatomy.observing.observation import CaseObservation

ROUNDING = 2**7 * torch.finfo(torch.float32).eps
"""How far two float32 results may lie apart, relative to the largest expected entry (about 1.5e-5).

Sums over up to a few hundred terms, taken in another order or fused, stay well below it. To this the judge adds what
one rounding step in the *inputs* would change (`slack`), so that badly conditioned cases, such as a softmax of scores
around 10 000, ask for no more than float32 can give. There is no other tolerance in the course.
"""


@dataclass(frozen=True)
class Difference:
    """One way in which an answer departs from what was expected in one case.

    `kind` is ``"error"``, ``"type"``, ``"shape"``, ``"dtype"``, ``"values"``, ``"names"``, ``"shared"``,
    ``"in place"``, ``"not repeatable"``, ``"noise"`` (in training mode), ``"no gradient"``, ``"gradient error"`` or
    ``"rule"`` (a sentence in `found`).
    """

    property: str
    kind: str
    where: str
    found: Any
    expected: Any
    case: int


def compare(
    exercise: Exercise,
    cases: list[Case],
    found: list[CaseObservation],
    expected: list[CaseObservation],
    nudged: Callable[[int], CaseObservation] | None = None,
) -> list[Difference]:
    """All differences, in the order of the cases.

    `nudged` gives the reference's results on slightly moved inputs, case by case; it is asked only where something
    differs, to see whether float32 could do better.
    """
    differences: list[Difference] = []
    for index, case in enumerate(cases):
        here = found[index] if index < len(found) else CaseObservation()
        rows = list(_compare_case(exercise, case, here, expected[index], expected[index]))
        if rows and nudged:
            rows = list(_compare_case(exercise, case, here, expected[index], nudged(index)))
        for kind_of, kind, where, left, right in rows:
            for name in _properties(exercise, case, kind_of):
                differences.append(Difference(name, kind, where, left, right, index))
    return differences


def _properties(exercise: Exercise, case: Case, aspect: str) -> list[str]:
    """The properties that a difference in `aspect` breaks: the case's own, the aspect's, or all of them."""
    if case.asks is not None:
        return [case.asks]
    if aspect == "everything":
        own = {other.asks for other in exercise.cases((0,))}
        return [name for name in exercise.properties if name not in own]
    if aspect in exercise.properties:
        return [aspect]
    return ["values"] if aspect in GENERAL and "values" in exercise.properties else []


Mismatch = tuple[str, str, str, Any, Any]  # aspect, kind, where, found, expected


def _compare_case(
    exercise: Exercise, case: Case, found: CaseObservation, expected: CaseObservation, nudged: CaseObservation
) -> Iterator[Mismatch]:
    if found.outcome != expected.outcome:
        yield "everything", "error", "", found, expected
        return
    if expected.outcome == "raised":
        if found.error_type not in {expected.error_type, "ValueError"}:
            yield "everything", "error", "", found, expected
        return
    for name, rule in exercise.checks.items():
        if case.asks in (None, name) and (sentence := rule_says(rule, found.value, case)):
            yield name, "rule", "", sentence, None
    for name in found.changed:
        if name not in expected.changed:
            yield "values", "in place", name, None, None
    yield from _leaves("values", "", found.value, expected.value, nudged.value)
    if expected.repeatable and not found.repeatable:
        yield "values", "not repeatable", "", None, None
    if expected.parameters is not None:
        if found.parameters != expected.parameters:
            yield "parameters", "names", "", found.parameters, expected.parameters
        elif found.shared != expected.shared:
            yield "parameters", "shared", "", found.shared, expected.shared
        if found.train_repeatable != expected.train_repeatable:
            yield "train mode", "noise", "", found.train_repeatable, expected.train_repeatable
        elif expected.train_repeatable:
            yield from _leaves("train mode", "", found.train, expected.train, nudged.train)
    if "gradients" in exercise.properties:
        yield from _compare_gradients(found, expected, nudged)


def rule_says(rule: Callable[[Any, Case], str | None], value: Any, case: Case) -> str | None:
    """A rule's sentence; a value that the rule can't even read breaks it."""
    try:
        return rule(value, case)
    except Exception as error:  # whatever a kernel sent, judging goes on
        return f"The result can't be read as what is asked: {type(error).__name__}, {error}."


def _compare_gradients(
    found: CaseObservation, expected: CaseObservation, nudged: CaseObservation
) -> Iterator[Mismatch]:
    """Gradients share one floor a case: one that is zero on paper is rounding noise in float32, and no two agree."""
    if found.gradient_error or expected.gradient_error:
        kinds = [seen.gradient_error.type if seen.gradient_error else "" for seen in (found, expected)]
        if kinds[0] != kinds[1]:
            yield "gradients", "gradient error", "", found.gradient_error, expected.gradient_error
        return
    mine, right = found.gradients or {}, expected.gradients or {}
    floor = 0.1 * max((_size(known) for known in right.values() if known is not None), default=0.0)
    for name, known in right.items():
        left = mine.get(name)
        if known is None or left is None:
            present = left if known is None else known
            if present is not None and _size(present) > ROUNDING * floor:
                yield "gradients", "no gradient", name, left, known
            continue
        slack = (nudged.gradients or {}).get(name)
        yield from _leaves("gradients", name, left, known, slack, floor)


def _size(value: Tensor) -> float:
    return float(value.abs().max()) if value.numel() else 0.0


def _leaves(aspect: str, where: str, found: Any, expected: Any, nudged: Any, floor: float = 0.0) -> Iterator[Mismatch]:
    """Walk two trees of plain data side by side."""
    if isinstance(expected, Tensor):
        if not isinstance(found, Tensor):
            yield _shape_aspect(aspect), "type", where, found, expected
            if aspect == "values":
                yield aspect, "type", where, found, expected
        elif found.shape != expected.shape:
            yield _shape_aspect(aspect), "shape", where, found, expected
            if aspect == "values":
                yield aspect, "shape", where, found, expected
        else:
            if _family(found.dtype) != _family(expected.dtype):
                yield _shape_aspect(aspect), "dtype", where, found, expected
            if not close(found, expected, nudged, floor):
                yield aspect, "values", where, found, expected
    elif isinstance(expected, dict) and isinstance(found, dict) and "$other" not in found:
        if found.keys() != expected.keys():
            yield aspect, "names", where, sorted(found), sorted(expected)
        for key in expected:
            if key in found:
                inner = nudged.get(key) if isinstance(nudged, dict) else None
                yield from _leaves(aspect, f"{where}[{key!r}]", found[key], expected[key], inner)
    elif isinstance(expected, list) and isinstance(found, list):
        if not _holds_tensors(expected) and not _holds_tensors(found):
            if found != expected and not _close_numbers(found, expected):
                yield aspect, "values", where, found, expected
        elif len(found) != len(expected):
            yield _shape_aspect(aspect), "type", where, found, expected
        else:
            for index, (left, right) in enumerate(zip(found, expected, strict=True)):
                inner = nudged[index] if isinstance(nudged, list) and index < len(nudged) else None
                yield from _leaves(aspect, f"{where}[{index}]", left, right, inner)
    elif _is_number(expected) and _is_number(found):
        if not _close_numbers([found], [expected]):
            yield aspect, "values", where, found, expected
    elif type(found) is not type(expected):
        yield _shape_aspect(aspect), "type", where, found, expected
        if aspect == "values":
            yield aspect, "type", where, found, expected
    elif found != expected:
        yield aspect, "values", where, found, expected


def close(found: Tensor, expected: Tensor, nudged: Tensor | None = None, floor: float = 0.0) -> bool:
    """Whether two tensors of one shape agree within `ROUNDING` (integers: exactly; inf and NaN in the same places).

    `ROUNDING` is relative to the largest expected entry, or to `floor` where that is larger.
    """
    if not expected.is_floating_point() or found.is_complex():
        return not found.is_complex() and torch.equal(found.double(), expected.double())
    if found.dtype == expected.dtype and torch.equal(found, expected):
        return True  # to the last bit, and no NaN
    found, expected = found.double(), expected.double()
    apart = float((found - expected).abs().max()) if expected.numel() else 0.0
    if math.isfinite(apart) and apart <= ROUNDING * max(_size(expected), floor):
        return True  # most answers are right: here nothing is inf or NaN, and no slack is needed
    finite = expected.isfinite()
    if not torch.equal(finite, found.isfinite()):
        return False
    if not torch.equal(found[~finite].nan_to_num(nan=1.5e30), expected[~finite].nan_to_num(nan=1.5e30)):
        return False
    if not finite.any():
        return True
    found, expected, slack = found[finite], expected[finite], torch.tensor(0.0)
    if isinstance(nudged, Tensor) and nudged.shape == finite.shape:
        slack = (nudged.double()[finite] - expected).abs().nan_to_num().max()
    return bool((found - expected).abs().max() <= ROUNDING * max(_size(expected), floor) + 4 * slack)


def _close_numbers(found: list[Any], expected: list[Any]) -> bool:
    if len(found) != len(expected):
        return False
    return all(
        math.isclose(left, right, rel_tol=ROUNDING, abs_tol=ROUNDING)
        if isinstance(right, float) and _is_number(left)
        else _close_numbers(left, right)
        if isinstance(left, list) and isinstance(right, list)
        else left == right and isinstance(left, bool) == isinstance(right, bool)
        for left, right in zip(found, expected, strict=True)
    )


def _shape_aspect(aspect: str) -> str:
    return "shape" if aspect == "values" else aspect


def _family(dtype: torch.dtype) -> str:
    """Integers of any width count as one type; every other type stands for itself."""
    return "integer" if dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64) else str(dtype)


def _holds_tensors(tree: Any) -> bool:
    return isinstance(tree, Tensor) or (isinstance(tree, list) and any(map(_holds_tensors, tree)))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
