"""Find the misconception behind an answer: the one that does on the same cases what the answer does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from anatomy import misconceptions
from anatomy.exercises.spec import Case, Exercise
from anatomy.judging.compare import compare, rule_says
from anatomy.judging.expectations import Expectations
from anatomy.judging.verdict import Diagnosis
from anatomy.misconceptions import Misconception
from anatomy.observing.observation import CaseObservation


def name_misconception(
    expectations: Expectations, found: list[CaseObservation], indices: Iterable[int]
) -> Diagnosis | None:
    """The misconception that does on these cases what the student's answer does.

    First one that agrees in everything that was observed, then one that returns the same values, then one with the
    same unexpected parameters.
    """
    indices = list(indices)
    mine = [found[i] if i < len(found) else CaseObservation() for i in indices]
    agree: dict[Callable[..., bool], Misconception] = {}
    for wrong in misconceptions.of_notebook(expectations.exercise.notebook).values():
        if wrong.exercise != expectations.exercise.name:
            continue
        for how in (_all_alike, _values_alike, _parameters_alike):
            if how not in agree and how(expectations, wrong, indices, mine):
                agree[how] = wrong
        if _all_alike in agree:
            break
    chosen = next((agree[how] for how in (_all_alike, _values_alike, _parameters_alike) if how in agree), None)
    return _say(chosen, expectations.cases[indices[0]]) if chosen else None


def _all_alike(
    expectations: Expectations, wrong: Misconception, indices: list[int], mine: list[CaseObservation]
) -> bool:
    """The same in every way that was observed, and not what is expected."""
    unruled = replace(expectations.exercise, checks={})
    differs = False
    for index, here in zip(indices, mine, strict=True):
        theirs, case = expectations.misconceived(wrong, index), expectations.cases[index]
        if compare(unruled, [case], [here], [theirs]) or _rules(expectations.exercise, case, here) != _rules(
            expectations.exercise, case, theirs
        ):
            return False
        if _said(here, wrong) != _said(theirs, wrong) or set(here.changed) != set(theirs.changed):
            return False
        differs = differs or bool(compare(expectations.exercise, [case], [theirs], [expectations.expected[index]]))
    return differs


def _values_alike(
    expectations: Expectations, wrong: Misconception, indices: list[int], mine: list[CaseObservation]
) -> bool:
    """The same values, where these are not the expected ones; gradients and side effects may be other."""
    properties = {name: points for name, points in expectations.exercise.properties.items() if name != "gradients"}
    plainly = replace(expectations.exercise, checks={}, properties=properties)

    def apart(left: CaseObservation, right: CaseObservation, case: Case) -> bool:
        return any(d.kind not in ("in place", "not repeatable") for d in compare(plainly, [case], [left], [right]))

    differs = False
    for index, here in zip(indices, mine, strict=True):
        theirs, case = expectations.misconceived(wrong, index), expectations.cases[index]
        if here.outcome == theirs.outcome == "raised" and _said(here, wrong)[0] == _said(theirs, wrong)[0]:
            continue  # the same kind of error, in other words
        if expectations.exercise.checks or here.outcome != "returned" or apart(here, theirs, case):
            return False
        differs = differs or apart(theirs, expectations.expected[index], case)
    return differs


def _parameters_alike(
    expectations: Expectations, wrong: Misconception, indices: list[int], mine: list[CaseObservation]
) -> bool:
    """The same parameters, by name, shape and sharing, where these are not the expected ones."""
    if expectations.exercise.kind != "module":
        return False
    for index, here in zip(indices, mine, strict=True):
        names = [(seen.parameters, seen.shared)
                 for seen in (here, expectations.misconceived(wrong, index), expectations.expected[index])]  # fmt: skip
        if names[0][0] is None or names[0] != names[1] or names[1] == names[2]:
            return False
    return True


def _rules(exercise: Exercise, case: Case, seen: CaseObservation) -> list[tuple[str, str]]:
    """What each rule says of an answer, numbers aside: they are measured and differ from run to run."""
    if seen.outcome != "returned":
        return []
    said = ((name, rule_says(rule, seen.value, case) or "") for name, rule in exercise.checks.items())
    return [(name, re.sub(r"-?\d[\d.,e+−-]*", "#", text)) for name, text in said]


def _said(seen: CaseObservation, wrong: Misconception) -> tuple[str, str]:
    """The error's type and message; Python's own name the function or class, which a student calls as asked."""
    return seen.error_type, (seen.error.message if seen.error else "").replace(wrong.name, wrong.exercise)


def _say(wrong: Misconception, case: Case) -> Diagnosis:
    sizes = {**case.sizes, **{f"root_{k}": f"{v**0.5:.3g}" for k, v in case.sizes.items()}}
    return Diagnosis(wrong.sentence.format_map(sizes), misconception=wrong.name)
