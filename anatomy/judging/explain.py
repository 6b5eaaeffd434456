"""Explain a difference without knowing the exercise: from shapes, names, numbers and errors alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from torch import Tensor

from anatomy.exercises.spec import Case
from anatomy.judging.compare import Difference
from anatomy.judging.errors import explain_error
from anatomy.judging.expectations import Expectations
from anatomy.judging.relations import relate, relate_lists
from anatomy.judging.relations.comparison import Relation
from anatomy.judging.verdict import Diagnosis
from anatomy.observing.observation import Raised

_URGENCY = ("error", "in place", "not repeatable", "noise", "names", "shared", "type", "shape", "dtype", "values",
            "rule", "gradient error", "no gradient")  # fmt: skip


def explain(expectations: Expectations, differences: list[Difference]) -> Diagnosis:
    """The most telling difference, explained without knowledge of the exercise."""
    first = min(differences, key=_urgency)
    case = expectations.cases[first.case]
    if first.kind == "values":
        said = _explain_values(expectations, first, case, differences)
    else:
        said = _EXPLAIN[first.kind](expectations, first, case)
    wrong = {difference.case for difference in differences}
    alike = [index for index, other in enumerate(expectations.cases) if other.asks == case.asks]
    notes = [said.detail, f"This happens {case.note}." if case.note else ""]
    if fine := len(alike) - len(wrong & set(alike)):
        notes.append(f"In {fine} of {len(alike)} tries all is right.")
    return replace(said, detail=" ".join(filter(None, notes)))


def _urgency(difference: Difference) -> tuple[bool, int, int]:
    """What to speak of first. Among gradients, one that is missing says more than one that differs."""
    rank = _URGENCY.index(difference.kind)
    late = difference.property == "gradients"
    return late, -1 if late and difference.kind == "no gradient" else rank, difference.case


def _explain_values(
    expectations: Expectations, first: Difference, case: Case, differences: list[Difference]
) -> Diagnosis:
    found, expected = first.found, first.expected
    what = f"The gradient of `{first.where}`: " if first.property == "gradients" else ""
    if first.property == "train mode":
        what = "In training mode: "
    if first.property not in ("gradients", "train mode") and first.where and isinstance(found, Tensor):
        what = "`" + re.sub(r"[\[\]']", "", first.where) + "`: "
    relation: Relation | None = None
    if isinstance(found, Tensor) and isinstance(expected, Tensor):
        if first.property == "gradients":
            exercise, case = replace(expectations.exercise, returns=""), replace(case, returns="")
        else:
            exercise = expectations.exercise
        others = tuple(
            (expectations.cases[other.case], other.found, other.expected)
            for other in differences
            if other is not first
            and (other.property, other.kind, other.where) == (first.property, "values", first.where)
            and isinstance(other.found, Tensor)
        )
        relation = relate(found, expected, case, exercise, others)
        if relation is None:
            relation = Relation("Values differ from the expected ones.", _first_difference(found, expected))
    elif isinstance(found, list) and isinstance(expected, list):
        relation = relate_lists(found, expected)
    else:
        at = f" at {first.where}" if first.where else ""
        relation = Relation(f"Yours is {_brief(found)}{at}, expected {_brief(expected)}.", _arguments(case))
    return Diagnosis(what + relation.headline, relation.detail)


def _first_difference(found: Tensor, expected: Tensor) -> str:
    if found.shape != expected.shape:
        return f"Your shape is {tuple(found.shape)}, expected is {tuple(expected.shape)}."
    gap = (found.double() - expected.double()).abs().nan_to_num(nan=float("inf"))
    where = (gap > 1e-5 * expected.double().abs().max()).nonzero()
    first = tuple(where[0].tolist()) if len(where) else tuple([0] * found.dim())
    return (
        f"Shape {tuple(found.shape)} is right; {len(where)} of {found.numel()} values differ. The first difference is "
        f"at {list(first)}: expected {expected[first].item():.4g}, found {found[first].item():.4g}. "
        f"The largest is {gap.max().item():.3g}."
    )


def _explain_shape(expectations: Expectations, first: Difference, case: Case) -> Diagnosis:
    relation = relate(first.found, first.expected, case, expectations.exercise)
    letters = case.returns or expectations.exercise.returns
    named = f" = ({', '.join(letters.split())})" if len(letters.split()) == first.expected.dim() else ""
    shapes = f"Your result has shape {tuple(first.found.shape)}; expected is {tuple(first.expected.shape)}{named}."
    if relation is None:
        return Diagnosis("The shape differs.", shapes)
    return Diagnosis(relation.headline, f"{relation.detail} {shapes}")


def _explain_type(expectations: Expectations, first: Difference, case: Case) -> Diagnosis:
    if first.found is None:
        return Diagnosis("Your function returns nothing (None).", "Is a `return` missing at its end?")
    at = f" at {first.where}" if first.where else ""
    return Diagnosis(f"You return {_brief(first.found)}{at}, expected is {_brief(first.expected)}.", "")


def _explain_names(expectations: Expectations, first: Difference, case: Case) -> Diagnosis:
    if not isinstance(first.found, dict) or not isinstance(first.expected, dict):
        return Diagnosis("The names differ.", f"Yours: {_brief(first.found)}; expected: {_brief(first.expected)}.")
    mine, right = first.found, first.expected
    if not mine:
        return Diagnosis("PyTorch finds no parameters in your module.",
                         "Layers must be attributes, or sit in an `nn.ModuleList`: a plain list hides them from "
                         f"`parameters()`. Expected: {_names(right)}.")  # fmt: skip
    parts = []
    if missing := [name for name in right if name not in mine]:
        parts.append(f"Missing: {_names(missing)}.")
    if extra := [name for name in mine if name not in right]:
        parts.append(f"Not expected: {_names(extra)}.")
    for name in right:
        if name in mine and mine[name] != right[name]:
            parts.append(f"`{name}` has shape {tuple(mine[name])}, expected {tuple(right[name])}.")
    return Diagnosis("The parameters of your module differ from the expected ones.", " ".join(parts[:4]))


def _explain_no_gradient(expectations: Expectations, first: Difference, case: Case) -> Diagnosis:
    if first.found is None:
        return Diagnosis(f"No gradient reaches `{first.where}`.",
                         "Values alone are not enough: training needs the way back. `detach`, `.data`, `.item`, "
                         "`torch.no_grad`, NumPy or building a new tensor from numbers cut it.")  # fmt: skip
    return Diagnosis(f"A gradient reaches `{first.where}`, and none should.", "")


def _explain_gradient_error(expectations: Expectations, first: Difference, case: Case) -> Diagnosis:
    error = first.found or Raised()
    said = f"{error.type}: {_sentence(error.message)} " if error.type else ""
    return Diagnosis("The values are computed, but not the gradients.",
                     f"{said}An operation in place overwrites what the way back needs, or the result is cut from the "
                     "inputs.")  # fmt: skip


_EXPLAIN = {
    "error": lambda expectations, first, case: Diagnosis(*explain_error(first.found, first.expected, case)),
    "in place": lambda expectations, first, case: Diagnosis(
        f"You change `{first.where}` in place.",
        "Whoever calls your function still needs it as it was; make a new tensor instead.",
    ),
    "not repeatable": lambda expectations, first, case: Diagnosis(
        "The same input gives another result each time.",
        "Is there noise (dropout, random initial values at every call), or something kept from the last call?",
    ),
    "noise": lambda expectations, first, case: Diagnosis(
        *(
            ("In training mode nothing is random.", "The dropout that is asked for has no effect.")
            if first.found
            else ("In training mode the result is random.", "Nothing here should be left to chance.")
        )
    ),
    "names": _explain_names,
    "shared": lambda expectations, first, case: Diagnosis(
        "Parameters that should be separate are one and the same, or the other way round.",
        f"Shared in yours: {_brief(first.found)}; expected: {_brief(first.expected)}.",
    ),
    "type": _explain_type,
    "shape": _explain_shape,
    "dtype": lambda expectations, first, case: Diagnosis(
        f"The values have type {_dtype(first.found)}, expected is {_dtype(first.expected)}.", ""
    ),
    "rule": lambda expectations, first, case: Diagnosis(str(first.found)),
    "gradient error": _explain_gradient_error,
    "no gradient": _explain_no_gradient,
}


def _brief(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}" if value.dim() else f"{value.item():.6g} (a tensor)"
    if isinstance(value, dict) and "$other" in value:
        return str(value["$other"])
    if isinstance(value, list):
        holds = any(isinstance(item, Tensor) for item in value)
        text = f"a list or tuple of {len(value)}" if holds else repr(value)
    else:
        text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 160 else f"{text[:157]}…"


def _arguments(case: Case) -> str:
    plainly = (Tensor, int, float, str, list, tuple, dict)
    shown = [f"{name} = {_brief(value)}" for name, value in case.args.items() if isinstance(value, plainly)]
    return f"Called with {', '.join(shown)}." if shown else ""


def _sentence(text: str) -> str:
    """The beginning of a library's message, up to its hints, as a sentence."""
    return f"{text.partition(' Hint')[0][:200].rstrip(' .;')}."


def _names(names: Iterable[str]) -> str:
    listed = [f"`{name}`" for name in names]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", "?")).removeprefix("torch.")
