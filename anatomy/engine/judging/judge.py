"""Reach a verdict from an observation. No student code runs here.

The judge builds the same cases from the same seeds, and observes the reference in them. It compares property by
property. Where something differs, it looks for the reason: a mistake that gives the student's numbers, else a relation
between found and expected, else what it can measure.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import replace

from torch import Tensor

from anatomy.engine.exercise import SEEDS, Case, Exercise
from anatomy.engine.judging.compare import BESIDE_THE_NUMBERS, Difference, Kind, compare
from anatomy.engine.judging.evidence import FORM, NO_EVIDENCE, is_evidence
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explain import explain_each
from anatomy.engine.judging.picture import picture_of
from anatomy.engine.judging.recognize import Recognized, recognize
from anatomy.engine.judging.symptoms import advice
from anatomy.engine.judging.verdict import Diagnosis, MatrixPair, PropertyResult, Verdict, without_conditions
from anatomy.engine.observing.observation import CaseObservation, Observation, Raised
from anatomy.engine.observing.observe import AFTER_ANOTHER, BESIDE_ANOTHER, OVERWRITTEN, described
from anatomy.engine.observing.plain_data import in_types_of

MOST_DIAGNOSES = 3
"""The most diagnoses of a card: nobody reads more."""


def judge(
    exercise: Exercise,
    observation: Observation,
    seeds: tuple[int, ...] = SEEDS,
    expectations_of: Callable[[Exercise, tuple[int, ...]], Expectations] = Expectations,
) -> Verdict:
    """The verdict on what was observed with these seeds.

    `observation` may come from a process that can't be trusted: it may hold anything, and the result is always a
    verdict. `expectations_of` may keep expectations when many answers are judged with the same seeds.
    """
    if all(seen.outcome == "not attempted" for seen in observation.cases):
        return _not_attempted(exercise, observation)
    if exercise.kind == "quiz":
        return _and_its_cell(_judge_quiz(exercise, observation.cases[0]), observation)
    expectations = expectations_of(exercise, seeds)
    parts = _parts(exercise, observation)
    if parts and _is_right(expectations, described_all(expectations, observation.cases)):
        parts = []
    found = observation.with_right_parts if parts else observation.cases
    verdict = _judge_cases(expectations, found, observation.called)
    if parts:
        verdict = replace(verdict, diagnoses=_and_its_parts(verdict, parts))
    return _and_its_cell(verdict, observation)


def is_right(
    exercise: Exercise,
    observation: Observation,
    seeds: tuple[int, ...] = SEEDS,
    expectations_of: Callable[[Exercise, tuple[int, ...]], Expectations] = Expectations,
) -> bool:
    """Whether an answer is right as it stands. This takes a fraction of the time of `judge`."""
    if all(seen.outcome == "not attempted" for seen in observation.cases):
        return False
    if exercise.kind == "quiz":
        return _judge_quiz(exercise, observation.cases[0]).status == "right"
    expectations = expectations_of(exercise, seeds)
    return _is_right(expectations, described_all(expectations, observation.cases))


def described_all(expectations: Expectations, raw: list[CaseObservation]) -> list[CaseObservation]:
    """What was observed in the cases, with raw results put in the judge's words."""
    return [described(expectations.exercise, *pair) for pair in zip(expectations.cases, raw, strict=False)]


def _is_right(expectations: Expectations, found: list[CaseObservation]) -> bool:
    def differs(index: int, case: Case) -> bool:
        expected, seen = expectations.expected[index], found[index : index + 1]
        return bool(
            compare(expectations.exercise, [case], seen, [expected], lambda _, n: expectations.nudged(index, n))
        )

    return not any(seen.calls for seen in found) and not any(itertools.starmap(differs, enumerate(expectations.cases)))


def _differences(expectations: Expectations, found: list[CaseObservation]) -> list[Difference]:
    return compare(expectations.exercise, expectations.cases, found, expectations.expected, expectations.nudged)


def _judge_cases(expectations: Expectations, raw: list[CaseObservation], called: Collection[str]) -> Verdict:
    """The verdict on these observations. `called` are the other exercises whose right answers this answer calls."""
    exercise, found = expectations.exercise, described_all(expectations, raw)
    if calls := sorted({call for seen in found for call in seen.calls}):
        return _library_did_it(exercise, calls)
    differences = _differences(expectations, found)
    if not differences:
        return _verdict(exercise, "right", {}, [])
    costly = [one for one in differences if not expectations.cases[one.case].drawn] or differences
    wrong, to_explain = (frozenset(one.case for one in some) for some in (differences, costly))
    diagnoses, picture, named = _unwritten(expectations, found), None, list[Recognized]()
    if not diagnoses:
        named = recognize(expectations, found, wrong, to_explain, called) or _in_another_type(
            expectations, found, differences, to_explain, called
        )
        diagnoses, picture = _diagnose(expectations, differences, to_explain, named), picture_of(expectations, costly)
    mistakes = [exercise.mistakes[one.mistake] for one in diagnoses if one.mistake in exercise.mistakes]
    by_name = frozenset[int]().union(*(one.cases for one in named))

    def explained(name: str) -> list[bool]:
        is_all = {one.case for one in costly if one.property == name} <= by_name
        return [is_all and name in mistake.breaks for mistake in mistakes]

    def is_of_its_own(name: str) -> bool:
        more = any(f"“{name}”" in one.headline for one in diagnoses if not one.mistake)
        return bool(mistakes) and (more or not any(name in mistake.breaks for mistake in mistakes))

    broken = {
        name: _detail(exercise, costly, name, explained(name), is_of_its_own(name)) for name in exercise.properties
    }
    wrong_numbers = {each.case for each in differences if each.aspect not in BESIDE_THE_NUMBERS}
    known = frozenset(range(len(found))) - wrong_numbers | frozenset().union(*(one.cases for one in named))
    if not is_evidence(expectations, raw, found, known):
        broken |= {name: broken[name] or NO_EVIDENCE for name in exercise.properties if name != FORM}
    broken = {name: text for name, text in broken.items() if text}
    return replace(_verdict(exercise, "wrong", broken, diagnoses, picture), printed=found[0].printed if found else "")


def _in_another_type(
    expectations: Expectations,
    found: list[CaseObservation],
    differences: list[Difference],
    to_explain: frozenset[int],
    called: Collection[str],
) -> list[Recognized]:
    """The mistakes in an answer whose numbers have another type, too, and what is said of the type."""
    types = [one for one in differences if one.kind == Kind.DTYPE]
    pairs = zip(found, expectations.expected, strict=False)
    typed = [replace(seen, value=in_types_of(known.value, seen.value)) for seen, known in pairs] if types else []
    wrong = frozenset(one.case for one in _differences(expectations, typed)) if types else frozenset()
    if not wrong & to_explain or not (named := recognize(expectations, typed, wrong, wrong & to_explain, called)):
        return []
    said = explain_each(expectations, types, {types[0].case})
    return [replace(named[0], diagnoses=(*named[0].diagnoses, *said.values())), *named[1:]]


def _unwritten(expectations: Expectations, found: list[CaseObservation]) -> list[Diagnosis]:
    """The diagnosis of an answer that still raises its stub's `NotImplementedError` where it should return."""
    name = expectations.exercise.name
    pairs = zip(found, expectations.expected, strict=False)
    errors = [here.error for here, expected in pairs if here.error and expected.outcome == "returned"]
    errors = [error for error in errors if error.type == "NotImplementedError" and error.code.startswith("raise")]
    own = [error for error in errors if error.within == name]
    if not own:
        return []
    line = own[0].line
    if own[0].leftover:
        text = f"The stub's `raise NotImplementedError` is still in your answer (line {line}): delete it."
        return [Diagnosis(text)]
    return [Diagnosis(f"A part of this is not written yet: your line {line} raises `NotImplementedError`.")]


def _parts(exercise: Exercise, observation: Observation) -> list[Exercise]:
    """The exercises that right answers replaced in all cases. A kernel may send anything."""
    if len(observation.with_right_parts) != len(observation.cases):
        return []
    known = exercise.course.exercises(exercise.notebook)
    return [known[name] for name in observation.parts if name in known and name != exercise.name]


def _and_its_parts(verdict: Verdict, parts: list[Exercise]) -> tuple[Diagnosis, ...]:
    """The diagnoses of an answer whose `parts` were replaced by right answers."""
    named = " and ".join(f"`{part.name}` ({part.number})" for part in parts)
    is_not, mend = "is not" if len(parts) == 1 else "are not", " and ".join(part.number for part in parts)
    if verdict.status == "right":
        said = Diagnosis(f"This one is right. It calls your {named}, which {is_not} yet: mend {mend}.")
        return said, *verdict.diagnoses
    said = Diagnosis(
        f"It also calls your {named}, which {is_not} right yet: mend {mend}.",
        f"Points and hints here are given as if your {mend} were right.",
    )
    return *verdict.diagnoses, said


def _and_its_cell(verdict: Verdict, observation: Observation) -> Verdict:
    """The verdict. If the answer's cell stopped, it says that alone: an older version is what was judged."""
    if observation.cell_error is None:
        return verdict
    is_right = ", which is right" if verdict.status == "right" else ""
    said = Diagnosis(_cell_stopped(verdict.exercise, observation.cell_error),
                     f"Mend that first.{_why(observation.cell_error)} The check looked at the version from before"
                     f"{is_right}.")  # fmt: skip
    return replace(verdict, diagnoses=(said,), picture=None, is_of_earlier=True)


def _why(error: Raised) -> str:
    """What the error means that stopped an answer's cell, behind another sentence."""
    return f" {said}" if (said := advice(error)) else ""


def _cell_stopped(name: str, error: Raised) -> str:
    message = error.message.splitlines()[0].rstrip(".") if error.message else ""
    line = f"line {error.line}" if error.line else ""
    return f"The cell of `{name}` stopped with `{error.type}`: {', '.join(filter(None, [message, line]))}."


def _diagnose(
    expectations: Expectations, differences: list[Difference], to_explain: frozenset[int], named: list[Recognized]
) -> list[Diagnosis]:
    """Why the answer differs: recognized mistakes, and an explanation of the cases that they leave open."""
    diagnoses = {min(known.cases): known.diagnoses for known in named}
    left = to_explain.difference(*(known.cases for known in named))
    breaks = {name for known in named for one in known.diagnoses if one.mistake for name in _costs(expectations, one)}
    if "gradients" in breaks:  # what is named says why gradients are missing
        differences = [one for one in differences if one.kind != Kind.NO_GRADIENT]
    diagnoses |= {index: (said,) for index, said in explain_each(expectations, differences, left).items()}
    said: dict[str, Diagnosis] = {}
    for index in sorted(diagnoses):
        for one in diagnoses[index]:
            said.setdefault(one.headline, one)
    shown = list(said.values())[:MOST_DIAGNOSES]
    return list(without_conditions(shown)) if named else shown


def _costs(expectations: Expectations, named: Diagnosis) -> tuple[str, ...]:
    """The properties that a named mistake of the exercise itself costs."""
    known = expectations.exercise.mistakes.get(named.mistake)
    return known.breaks if known else ()


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


def _not_attempted(exercise: Exercise, observation: Observation) -> Verdict:
    what = "Fill in the answers above" if exercise.kind == "quiz" else f"Write `{exercise.name}` above"
    text = Diagnosis("Not attempted yet.", f"{what}, run the cell, then run this one again.")
    if observation.cell_error:
        stopped = _cell_stopped(exercise.name, observation.cell_error)
        why = _why(observation.cell_error)
        text = Diagnosis(stopped, f"Mend that first: there is no earlier version to check.{why}")
    elif observation.similar:
        text = Diagnosis(
            f"`{observation.similar}` is defined; did you mean `{exercise.name}`?",
            f"This check looks at what is called `{exercise.name}`, and that is not written yet.",
        )
    return _verdict(exercise, "not attempted", dict.fromkeys(exercise.properties, ""), [text])


def _library_did_it(exercise: Exercise, calls: list[str]) -> Verdict:
    named = " and ".join(f"`{call}`" for call in calls)
    text = Diagnosis(
        f"The library's {named} did the work.",
        "In practice you would call it; here the point is to write it once yourself, from simpler operations. "
        "Points come with your own version.",
        mistake="library call",
    )
    return _verdict(exercise, "wrong", dict.fromkeys(exercise.properties, "done by the library"), [text])


def _judge_quiz(exercise: Exercise, seen: CaseObservation) -> Verdict:
    if seen.outcome != "returned" or not isinstance(seen.value, dict):
        text = Diagnosis("The answers can't be read.", seen.error.message if seen.error else "")
        return _verdict(exercise, "wrong", dict.fromkeys(exercise.properties, "unreadable"), [text])
    given = {question: said for question, said in seen.value.items() if isinstance(said, str)}
    right = exercise.right
    questions = exercise.cases((0,))[0].args["questions"]
    broken: dict[str, str] = {}
    diagnoses: list[Diagnosis] = []
    for question, options in questions.items():
        answer = given.get(question)
        if answer == right[question].lower():
            continue
        broken[question] = "not answered yet" if answer is None else f"you chose “{answer}”"
        if answer is not None and answer not in {option.lower() for option in options}:
            diagnoses.append(
                Diagnosis(f"{question}: “{answer}” is none of the options.", f"They are: {', '.join(options)}.")
            )
        for mistake in exercise.mistakes.values():
            if question in mistake.breaks and answer == mistake.answer[question].lower():
                diagnoses.append(Diagnosis(f"{question}: {mistake.sentence}", mistake=mistake.name))
    if broken and not diagnoses:
        diagnoses = [Diagnosis("Some questions are still open.", f"Unanswered: {', '.join(broken)}.")]
    return _verdict(exercise, "wrong" if broken else "right", broken, diagnoses)


def _detail(
    exercise: Exercise, differences: list[Difference], name: str, explained: list[bool], is_of_its_own: bool
) -> str:
    """What the card says of a broken property. Empty if the property holds.

    The property that the first difference costs is called different. One that the only named mistake breaks as well is
    wrong for the same reason: `explained` tells which of the named mistakes break it. One that no named mistake breaks
    alone `is_of_its_own`. Of any other one it is only known that its cases show a difference: what it asks for may be
    right there.
    """
    mine = [difference for difference in differences if difference.property == name]
    if not mine:
        return ""
    kinds = {difference.kind for difference in mine}
    if any(one.kind == Kind.ERROR and one.found.outcome == "too slow" for one in mine):
        return "did not finish"
    nothing = {one.case for one in differences if one.kind == Kind.TYPE and one.found is None and not one.where}
    if {one.case for one in mine} <= nothing:
        return "nothing is returned"
    errors = [one.found for one in mine if one.kind == Kind.ERROR]
    stopped = any(seen.error for seen in errors) and not any(seen.outcome == "returned" for seen in errors)
    numbers = (Kind.VALUES, Kind.SHAPE, Kind.TYPE)
    others = [one for one in differences if one.property in ("shape", "values") and one.kind in numbers]
    if kinds == {Kind.NO_GRADIENT} and not any(one.kind == Kind.TYPE for one in others):  # whatever the values are
        if {one.where for one in mine} <= _missing_parameters(differences):
            return "counts once the parameters are right"
        return _in_few_words(next((one for one in mine if one.found is None), mine[0]))
    if name in ("gradients", "train mode") and others and not stopped:
        rest = "values" if any(one.property == "values" for one in others) else "shape"
        return f"counts once the {'type' if {one.kind for one in others} == {Kind.TYPE} else rest} is right".replace(
            "values is", "values are"
        )
    firsts = {one.property for one in differences if one.case == differences[0].case}
    if name not in _GENERAL | firsts and len(explained) <= 1 and not is_of_its_own:
        is_sure = any(explained) and exercise.describe is None  # what is described in words can be alike by chance
        first_kinds = {one.kind for one in differences if one.case == differences[0].case}
        if is_sure or (not stopped and kinds <= first_kinds):
            return "for the same reason" if is_sure else "perhaps for the same reason"
    if stopped:
        return "stopped by an error"
    if errors:
        return "not refused" if exercise.compares_calls else "different"
    form_differs = Kind.SHAPE in kinds or any(one.kind == Kind.TYPE and _is_described(one.found) for one in mine)
    if name == "values" and form_differs and "shape" in exercise.properties:
        return "counts once the shape is right"
    numbers_first = min(mine, key=lambda one: one.kind == Kind.IN_PLACE)
    if words := _in_few_words(numbers_first):
        return words
    if name == "shape":
        kinds -= {Kind.TYPE} if any(_is_described(one.found) for one in mine) else set()
        if kinds == {Kind.DTYPE} and any(_is_nan(one) for one in others):  # a mask of numbers may be allowed
            return "counts once the values are right"
        only = {one.kind for one in differences if one.case == mine[0].case} <= {Kind.DTYPE}
        dtype = "only the number type differs" if only else "another number type"
        forms = {Kind.SHAPE: "different", Kind.TYPE: "another type", Kind.DTYPE: dtype}
        return next((words for kind, words in forms.items() if kind in kinds), "results differ")
    return "different"


def _missing_parameters(differences: list[Difference]) -> set[str]:
    """The parameters that the answer does not have."""
    return {
        name
        for one in differences
        if one.kind == Kind.NAMES and isinstance(one.found, dict)
        for name in one.expected
        if name not in one.found
    }


def _in_few_words(difference: Difference) -> str:
    """What a difference beside the numbers is; empty for all others."""
    if difference.kind == Kind.NO_GRADIENT and difference.found is not None:
        return "flow where none should"
    if difference.kind == Kind.NOT_REPEATABLE and OVERWRITTEN in (difference.found or ()):
        return "changed by a later call"
    if difference.kind == Kind.NOT_REPEATABLE and AFTER_ANOTHER in (difference.found or ()):
        return "depend on an earlier call"
    if difference.kind == Kind.NOT_REPEATABLE and BESIDE_ANOTHER in (difference.found or ()):
        return "depend on another module"
    return _IN_FEW_WORDS.get(difference.kind, "")


def _is_nan(one: Difference) -> bool:
    return isinstance(one.found, Tensor) and one.found.is_floating_point() and bool(one.found.isnan().any())


def _is_described(found: object) -> bool:
    """Whether a value stands for something that is not data, or that an exercise describes in words of its own."""
    return isinstance(found, dict) and "$other" in found


_GENERAL = frozenset({"shape", "values", "gradients", "train mode", "parameters"})
"""Properties that a difference of their own aspect costs."""

_IN_FEW_WORDS = {
    Kind.IN_PLACE: "an input is changed",
    Kind.NOT_REPEATABLE: "not repeatable",
    Kind.NOISE: "dropout",
    Kind.NO_GRADIENT: "do not flow",
    Kind.GRADIENT_ERROR: "can't be computed",
    Kind.RULE: "not met",
}
