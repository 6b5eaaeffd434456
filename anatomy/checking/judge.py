"""Judge: from an observation to a verdict. Runs no student code.

The judge builds the same cases from the same seeds, observes the reference on them, compares property by property,
and, where something differs, looks for the reason: a misconception that gives the student's numbers, else a relation
between found and expected, else what can be measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from anatomy import misconceptions, reference
from anatomy.checking.compare import Difference, compare, rule_says
from anatomy.checking.faults import explain_error
from anatomy.checking.observe import is_float, observe, observe_case
from anatomy.checking.record import sane_cases
from anatomy.checking.relations import Relation, relate, relate_lists
from anatomy.checking.verdict import Diagnosis, Finding, Picture, Verdict
from anatomy.exercises.spec import SEEDS, Case, Exercise
from anatomy.misconceptions import Misconception


def judge(exercise: Exercise, observation: dict[str, Any], seeds: tuple[int, ...] = SEEDS) -> Verdict:
    """The verdict on what was observed with these seeds.

    `observation` may come from a process that can't be trusted: whatever it holds, the answer is a verdict.
    """
    found = sane_cases(observation)
    if all(seen["outcome"] == "not attempted" for seen in found):
        return _not_attempted(exercise)
    if exercise.kind == "quiz":
        return _judge_quiz(exercise, found[0])
    trial = _Trial(exercise, seeds)
    if calls := sorted({call for seen in found for call in seen.get("calls", ())}):
        return _library_did_it(exercise, calls)
    differences = compare(exercise, trial.cases, found, trial.expected, trial.nudged)
    if not differences:
        return _verdict(exercise, "right", {}, [])
    diagnoses, picture = _diagnose(trial, found, differences), _picture(trial, differences)
    broken = {name: _detail(differences, name) for name in exercise.properties}
    return _verdict(exercise, "wrong", {name: text for name, text in broken.items() if text}, diagnoses, picture)


@dataclass
class _Trial:
    """One exercise on its seeds: cases and what the reference does on them, as given and slightly nudged."""

    exercise: Exercise
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        self.cases = self.exercise.cases(self.seeds)
        answer = reference.answer(self.exercise)
        self.expected = observe(self.exercise, answer, self.seeds)["cases"]
        nudged = replace(self.exercise, build=lambda seed: map(_nudge, self.exercise.build(seed)))
        self.nudged = observe(nudged, answer, self.seeds)["cases"]
        self._seen: dict[tuple[str, int], dict[str, Any]] = {}

    def misconceived(self, wrong: Misconception, index: int) -> dict[str, Any]:
        """What this misconception does in one case; observed when first asked for."""
        key = (wrong.name, index)
        if key not in self._seen:
            self._seen[key] = observe_case(replace(self.exercise, forbids=()), wrong.answer, self.cases[index])
        return self._seen[key]


def _nudge(case: Case) -> Case:
    """The case with every float input moved by one rounding step, up or down at random."""
    return replace(case, args={name: _step(value) if is_float(value) else value for name, value in case.args.items()})


def _step(value: Tensor) -> Tensor:
    up = torch.rand(value.shape, generator=torch.Generator().manual_seed(0)) < 0.5
    return torch.nextafter(value, torch.where(up, float("inf"), float("-inf")).to(value.dtype))


# ---------------------------------------------------------------------------------------------- verdicts


def _verdict(
    exercise: Exercise, status: str, broken: dict[str, str], diagnoses: list[Diagnosis], picture: Picture | None = None
) -> Verdict:
    findings = tuple(
        Finding(name, points, name not in broken, broken.get(name, "")) for name, points in exercise.properties.items()
    )
    leads_on = exercise.leads_on if status == "right" else ""
    return Verdict(exercise.name, status, findings, tuple(diagnoses), picture, leads_on)


def _not_attempted(exercise: Exercise) -> Verdict:
    what = "Fill in the answers above" if exercise.kind == "quiz" else f"Write `{exercise.name}` above"
    text = Diagnosis("Not attempted yet.", f"{what}, run its cell, then run this one again.")
    return _verdict(exercise, "not attempted", dict.fromkeys(exercise.properties, ""), [text])


def _library_did_it(exercise: Exercise, calls: list[str]) -> Verdict:
    named = " and ".join(f"`{call}`" for call in calls)
    text = Diagnosis(
        f"The library's {named} did the work.",
        "That is what one calls in practice; here the point is to write it once yourself, from simpler operations. "
        "Points come with your own version.",
        misconception="library call",
    )
    return _verdict(exercise, "wrong", dict.fromkeys(exercise.properties, "done by the library"), [text])


def _judge_quiz(exercise: Exercise, seen: dict[str, Any]) -> Verdict:
    if seen["outcome"] != "returned" or not isinstance(seen.get("value"), dict):
        text = Diagnosis("The answers can't be read.", seen.get("error", {}).get("message", ""))
        return _verdict(exercise, "wrong", dict.fromkeys(exercise.properties, "unreadable"), [text])
    given, right = seen["value"], reference.answer(exercise)
    questions = exercise.cases((0,))[0].args["questions"]
    known = misconceptions.of_notebook(exercise.notebook)
    broken: dict[str, str] = {}
    diagnoses: list[Diagnosis] = []
    for question, options in questions.items():
        answer = given.get(question)
        if answer == right[question]:
            continue
        broken[question] = "not answered yet" if answer is None else f"you chose “{answer}”"
        if answer is not None and answer not in options:
            diagnoses.append(Diagnosis(f"{question}: “{answer}” is none of the options.", f"They are: {', '.join(options)}."))
        for wrong in known.values():
            if wrong.exercise == exercise.name and answer == wrong.answer[question] and question in wrong.breaks:
                diagnoses.append(Diagnosis(f"{question}: {wrong.sentence}", misconception=wrong.name))
    if broken and not diagnoses:
        diagnoses = [Diagnosis("Some questions are still open.", f"Unanswered: {', '.join(broken)}.")]
    return _verdict(exercise, "wrong" if broken else "right", broken, diagnoses)


# ---------------------------------------------------------------------------------------------- diagnosis


def _diagnose(trial: _Trial, found: list[Any], differences: list[Difference]) -> list[Diagnosis]:
    """Why the answer differs: one diagnosis for everything where one is enough, else one per group of cases."""
    if whole := _named(trial, found, range(len(trial.cases))):
        return [whole]
    diagnoses: list[Diagnosis] = []
    for asks in dict.fromkeys(case.asks for case in trial.cases):
        indices = [i for i, case in enumerate(trial.cases) if case.asks == asks]
        here = [difference for difference in differences if difference.case in indices]
        if not here:
            continue
        named = None if asks is None and len(indices) == len(trial.cases) else _named(trial, found, indices)
        diagnosis = named or _explain(trial, here)
        if all(diagnosis.headline != other.headline for other in diagnoses):
            diagnoses.append(diagnosis)
    return diagnoses


def _named(trial: _Trial, found: list[Any], indices: Iterable[int]) -> Diagnosis | None:
    """The misconception that does on these cases what the student's answer does.

    First one that agrees in everything that was observed, then one that returns the same values, then one with the
    same unexpected parameters.
    """
    indices = list(indices)
    mine = [found[i] if i < len(found) else {"outcome": "missing"} for i in indices]
    agree: dict[Callable[..., bool], Misconception] = {}
    for wrong in misconceptions.of_notebook(trial.exercise.notebook).values():
        if wrong.exercise != trial.exercise.name:
            continue
        for how in (_all_alike, _values_alike, _parameters_alike):
            if how not in agree and how(trial, wrong, indices, mine):
                agree[how] = wrong
        if _all_alike in agree:
            break
    chosen = next((agree[how] for how in (_all_alike, _values_alike, _parameters_alike) if how in agree), None)
    return _say(chosen, trial.cases[indices[0]]) if chosen else None


def _all_alike(trial: _Trial, wrong: Misconception, indices: list[int], mine: list[Any]) -> bool:
    """The same in every way that was observed, and not what is expected."""
    unruled = replace(trial.exercise, checks={})
    differs = False
    for index, here in zip(indices, mine, strict=True):
        theirs, case = trial.misconceived(wrong, index), trial.cases[index]
        if compare(unruled, [case], [here], [theirs]) or _rules(trial.exercise, case, here) != _rules(
            trial.exercise, case, theirs
        ):
            return False
        if _messages(here) != _messages(theirs) or set(here.get("changed", ())) != set(theirs.get("changed", ())):
            return False
        differs = differs or bool(compare(trial.exercise, [case], [theirs], [trial.expected[index]]))
    return differs


def _values_alike(trial: _Trial, wrong: Misconception, indices: list[int], mine: list[Any]) -> bool:
    """The same values, where these are not the expected ones; gradients and side effects may be other."""
    properties = {name: points for name, points in trial.exercise.properties.items() if name != "gradients"}
    plainly = replace(trial.exercise, checks={}, properties=properties)

    def apart(left: Any, right: Any, case: Case) -> bool:
        return any(d.kind not in ("in place", "unsteady") for d in compare(plainly, [case], [left], [right]))

    differs = False
    for index, here in zip(indices, mine, strict=True):
        theirs, case = trial.misconceived(wrong, index), trial.cases[index]
        if trial.exercise.checks or here["outcome"] != "returned" or apart(here, theirs, case):
            return False
        differs = differs or apart(theirs, trial.expected[index], case)
    return differs


def _parameters_alike(trial: _Trial, wrong: Misconception, indices: list[int], mine: list[Any]) -> bool:
    """The same parameters, by name, shape and sharing, where these are not the expected ones."""
    if trial.exercise.kind != "module":
        return False
    for index, here in zip(indices, mine, strict=True):
        names = [(seen.get("parameters"), seen.get("shared"))
                 for seen in (here, trial.misconceived(wrong, index), trial.expected[index])]  # fmt: skip
        if None in names[0] or names[0] != names[1] or names[1] == names[2]:
            return False
    return True


def _rules(exercise: Exercise, case: Case, seen: Any) -> list[tuple[str, str]]:
    """What each rule says of an answer, numbers aside: they are measured and differ from run to run."""
    if seen["outcome"] != "returned":
        return []
    said = ((name, rule_says(rule, seen.get("value"), case) or "") for name, rule in exercise.checks.items())
    return [(name, re.sub(r"-?\d[\d.,e+−-]*", "#", text)) for name, text in said]


def _messages(seen: Any) -> Any:
    error = seen.get("error", {})
    return error.get("type"), error.get("message")


def _say(wrong: Misconception, case: Case) -> Diagnosis:
    sizes = {**case.sizes, **{f"root_{k}": f"{v**0.5:.3g}" for k, v in case.sizes.items()}}
    return Diagnosis(wrong.sentence.format_map(sizes), misconception=wrong.name)


_URGENCY = ("error", "in place", "unsteady", "noise", "names", "shared", "type", "shape", "dtype", "values", "rule",
            "gradient error", "no gradient")  # fmt: skip


def _explain(trial: _Trial, differences: list[Difference]) -> Diagnosis:
    """The most telling difference, explained without knowledge of the exercise."""
    first = min(differences, key=lambda d: (d.property == "gradients", _URGENCY.index(d.kind), d.case))
    case = trial.cases[first.case]
    said = _EXPLAIN[first.kind](trial, first, case)
    wrong = {difference.case for difference in differences}
    alike = [index for index, other in enumerate(trial.cases) if other.asks == case.asks]
    notes = [said.detail, f"This happens {case.note}." if case.note else ""]
    if fine := len(alike) - len(wrong & set(alike)):
        notes.append(f"In {fine} of {len(alike)} tries all is right.")
    return replace(said, detail=" ".join(filter(None, notes)))


def _explain_values(trial: _Trial, first: Difference, case: Case) -> Diagnosis:
    found, expected = first.found, first.expected
    what = f"The gradient of `{first.where}`: " if first.property == "gradients" else ""
    if first.property == "train mode":
        what = "In training mode: "
    if first.property not in ("gradients", "train mode") and first.where and isinstance(found, Tensor):
        what = f"`{first.where}`: "
    relation: Relation | None = None
    if isinstance(found, Tensor) and isinstance(expected, Tensor):
        if first.property == "gradients":
            exercise, case = replace(trial.exercise, returns=""), replace(case, returns="")
        else:
            exercise = trial.exercise
        relation = relate(found, expected, case, exercise)
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


def _explain_shape(trial: _Trial, first: Difference, case: Case) -> Diagnosis:
    relation = relate(first.found, first.expected, case, trial.exercise)
    letters = case.returns or trial.exercise.returns
    named = f" = ({', '.join(letters.split())})" if len(letters.split()) == first.expected.dim() else ""
    shapes = f"Your result has shape {tuple(first.found.shape)}; expected is {tuple(first.expected.shape)}{named}."
    if relation is None:
        return Diagnosis("The shape differs.", shapes)
    return Diagnosis(relation.headline, f"{relation.detail} {shapes}")


def _explain_type(trial: _Trial, first: Difference, case: Case) -> Diagnosis:
    if first.found is None:
        return Diagnosis("Your function returns nothing (None).", "Is a `return` missing at its end?")
    at = f" at {first.where}" if first.where else ""
    return Diagnosis(f"You return {_brief(first.found)}{at}, expected is {_brief(first.expected)}.", "")


def _explain_names(trial: _Trial, first: Difference, case: Case) -> Diagnosis:
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


def _explain_no_gradient(trial: _Trial, first: Difference, case: Case) -> Diagnosis:
    if first.found is None:
        return Diagnosis(f"No gradient reaches `{first.where}`.",
                         "Values alone are not enough: training needs the way back. `detach`, `.data`, `.item`, "
                         "`torch.no_grad`, NumPy or building a new tensor from numbers cut it.")  # fmt: skip
    return Diagnosis(f"A gradient reaches `{first.where}`, and none should.", "")


_EXPLAIN = {
    "error": lambda trial, first, case: Diagnosis(*explain_error(trial.exercise, first.found, first.expected, case)),
    "in place": lambda trial, first, case: Diagnosis(
        f"You change `{first.where}` in place.",
        "Whoever calls your function still needs it as it was; make a new tensor instead.",
    ),
    "unsteady": lambda trial, first, case: Diagnosis(
        "The same input gives another result each time.",
        "Is there noise (dropout, random initial values at every call), or something kept from the last call?",
    ),
    "noise": lambda trial, first, case: Diagnosis(
        *(("In training mode nothing is random.", "The dropout that is asked for has no effect.") if first.found else
          ("In training mode the result is random.", "Nothing here should be left to chance."))
    ),
    "names": _explain_names,
    "shared": lambda trial, first, case: Diagnosis(
        "Parameters that should be separate are one and the same, or the other way round.",
        f"Shared in yours: {_brief(first.found)}; expected: {_brief(first.expected)}.",
    ),
    "type": _explain_type,
    "shape": _explain_shape,
    "dtype": lambda trial, first, case: Diagnosis(
        f"The values have type {_dtype(first.found)}, expected is {_dtype(first.expected)}.", ""
    ),
    "values": _explain_values,
    "rule": lambda trial, first, case: Diagnosis(str(first.found)),
    "gradient error": lambda trial, first, case: Diagnosis(
        "The values are computed, but not the gradients.",
        f"{first.found.get('type')}: {str(first.found.get('message'))[:200]} An operation in place overwrites what "
        "the way back needs, or the result is cut from the inputs.",
    ),
    "no gradient": _explain_no_gradient,
}


def _detail(differences: list[Difference], name: str) -> str:
    """What a property's line on the card says when it is broken; empty when it holds."""
    mine = [difference for difference in differences if difference.property == name]
    if not mine:
        return ""
    kinds = {difference.kind for difference in mine}
    if "error" in kinds:
        return "stopped by an error"
    others = [d for d in differences if d.property in ("shape", "values") and d.kind in ("values", "shape", "type")]
    if name in ("gradients", "train mode") and others:
        return "follow from the values"
    if name == "values" and "shape" in kinds:
        return "follow from the shape"
    return _IN_FEW_WORDS.get(mine[0].kind, "differ")


_IN_FEW_WORDS = {
    "in place": "an input is changed",
    "unsteady": "not repeatable",
    "noise": "dropout",
    "no gradient": "do not flow",
    "gradient error": "can't be computed",
    "rule": "not met",
}


def _picture(trial: _Trial, differences: list[Difference]) -> Picture | None:
    """Expected against found: the first differing matrix, small enough to draw."""
    for difference in differences:
        found, expected = difference.found, difference.expected
        if difference.kind != "values" or difference.property in ("gradients", "train mode"):
            continue
        if not isinstance(found, Tensor) or expected.dim() < 2 or found.shape != expected.shape:
            continue
        bad = (found.double() - expected.double()).abs().nan_to_num(nan=1e9, posinf=1e9) > 1e-6
        lead = tuple(bad.nonzero()[0].tolist()[:-2]) if bad.any() else (0,) * (found.dim() - 2)
        if max(expected.shape[-2:]) > 16:
            continue
        case = trial.cases[difference.case]
        letters = (case.returns or trial.exercise.returns).split()
        axes = [trial.exercise.axis(letter) for letter in letters] if len(letters) == found.dim() else [""] * found.dim()
        label = ", ".join(f"{name or 'axis'} {index}" for name, index in zip(axes, lead, strict=False))
        return Picture(expected[lead].double().tolist(), found[lead].double().tolist(), label, axes[-2], axes[-1])
    return None


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
    shown = ", ".join(f"{name} = {_brief(value)}" for name, value in case.args.items())
    return f"Called with {shown}."


def _names(names: Iterable[str]) -> str:
    listed = [f"`{name}`" for name in names]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", "?")).removeprefix("torch.")
