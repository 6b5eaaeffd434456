"""Judge: from an observation to a verdict. Runs no student code.

The judge builds the same cases from the same seeds, observes the reference on them, compares property by property,
and, where something differs, looks for the reason: a misconception that gives the student's numbers, else a relation
between found and expected, else what can be measured.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from anatomy import misconceptions, reference
from anatomy.exercises.spec import SEEDS, Exercise
from anatomy.judging.compare import Difference, compare
from anatomy.judging.expectations import Expectations
from anatomy.judging.explain import explain
from anatomy.judging.recognize import recognize
from anatomy.judging.verdict import Diagnosis, MatrixPair, PropertyResult, Verdict
from anatomy.observing.observation import CaseObservation, Observation

MOST_DIAGNOSES = 3
"""A card that says more than this is not read."""


def judge(
    exercise: Exercise,
    observation: Observation,
    seeds: tuple[int, ...] = SEEDS,
    expectations_of: Callable[[Exercise, tuple[int, ...]], Expectations] = Expectations,
) -> Verdict:
    """The verdict on what was observed with these seeds.

    `observation` may come from a process that can't be trusted: whatever it holds, the answer is a verdict. Whoever
    judges many answers with the same seeds can keep the trials by `expectations_of`.
    """
    found = observation.cases
    if all(seen.outcome == "not attempted" for seen in found):
        return _not_attempted(exercise)
    if exercise.kind == "quiz":
        return _judge_quiz(exercise, found[0])
    expectations = expectations_of(exercise, seeds)
    if calls := sorted({call for seen in found for call in seen.calls}):
        return _library_did_it(exercise, calls)
    differences = compare(exercise, expectations.cases, found, expectations.expected, expectations.nudged)
    if not differences:
        return _verdict(exercise, "right", {}, [])
    diagnoses, picture = _diagnose(expectations, found, differences), _picture(expectations, differences)
    broken = {name: _detail(differences, name) for name in exercise.properties}
    return _verdict(exercise, "wrong", {name: text for name, text in broken.items() if text}, diagnoses, picture)


def _diagnose(
    expectations: Expectations, found: list[CaseObservation], differences: list[Difference]
) -> list[Diagnosis]:
    """Why the answer differs: known mistakes, and for the cases that they leave open what can be measured there."""
    wrong = frozenset(difference.case for difference in differences)
    named = recognize(expectations, found, wrong)
    diagnoses = {min(known.cases): known.diagnoses for known in named}
    left = wrong.difference(*(known.cases for known in named))
    for asks in dict.fromkeys(expectations.cases[index].asks for index in sorted(left)):
        here = [d for d in differences if d.case in left and expectations.cases[d.case].asks == asks]
        diagnoses[min(d.case for d in here)] = (explain(expectations, here),)
    said = {one.headline: one for index in sorted(diagnoses) for one in diagnoses[index]}
    return list(said.values())[:MOST_DIAGNOSES]


def _verdict(
    exercise: Exercise,
    status: str,
    broken: dict[str, str],
    diagnoses: list[Diagnosis],
    picture: MatrixPair | None = None,
) -> Verdict:
    results = tuple(
        PropertyResult(name, points, name not in broken, broken.get(name, ""))
        for name, points in exercise.properties.items()
    )
    when_right = exercise.when_right if status == "right" else ""
    return Verdict(exercise.name, status, results, tuple(diagnoses), picture, when_right)


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


def _judge_quiz(exercise: Exercise, seen: CaseObservation) -> Verdict:
    if seen.outcome != "returned" or not isinstance(seen.value, dict):
        text = Diagnosis("The answers can't be read.", seen.error.message if seen.error else "")
        return _verdict(exercise, "wrong", dict.fromkeys(exercise.properties, "unreadable"), [text])
    given, right = seen.value, reference.answer(exercise)
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
            diagnoses.append(
                Diagnosis(f"{question}: “{answer}” is none of the options.", f"They are: {', '.join(options)}.")
            )
        for wrong in known.values():
            if wrong.exercise == exercise.name and answer == wrong.answer[question] and question in wrong.breaks:
                diagnoses.append(Diagnosis(f"{question}: {wrong.sentence}", misconception=wrong.name))
    if broken and not diagnoses:
        diagnoses = [Diagnosis("Some questions are still open.", f"Unanswered: {', '.join(broken)}.")]
    return _verdict(exercise, "wrong" if broken else "right", broken, diagnoses)


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
    "not repeatable": "not repeatable",
    "noise": "dropout",
    "no gradient": "do not flow",
    "gradient error": "can't be computed",
    "rule": "not met",
}


def _picture(expectations: Expectations, differences: list[Difference]) -> MatrixPair | None:
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
        case = expectations.cases[difference.case]
        letters = (case.returns or expectations.exercise.returns).split()
        axes = (
            [expectations.exercise.axis(letter) for letter in letters]
            if len(letters) == found.dim()
            else [""] * found.dim()
        )
        label = ", ".join(f"{name or 'axis'} {index}" for name, index in zip(axes, lead, strict=False))
        return MatrixPair(expected[lead].double().tolist(), found[lead].double().tolist(), label, axes[-2], axes[-1])
    return None
