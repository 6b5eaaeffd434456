"""The ways in which an answer can be like a mistake: in everything, in its values, in its parameters."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.compare import SIDE_EFFECTS, differ, rule_says
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.observation import CaseObservation

Nudged = Callable[[int], CaseObservation]


class Likeness(ABC):
    """A way of comparing observations: it looks at some of what they hold."""

    words = ""

    def __str__(self) -> str:
        return self.words

    @abstractmethod
    def is_right(self, exercise: Exercise, case: Case, seen: CaseObservation, expected: CaseObservation) -> bool:
        """Whether what was seen is what is expected."""

    @abstractmethod
    def is_same(
        self,
        exercise: Exercise,
        case: Case,
        mistake: Mistake,
        here: CaseObservation,
        theirs: CaseObservation,
        nudged: Nudged | None = None,
    ) -> bool:
        """Whether the answer does `here` what the mistake does (`theirs`).

        `nudged` gives what the mistake does on slightly moved inputs, where no more than rounding may differ.
        """

    def looks_so(self, expectations: Expectations, index: int, mistake: Mistake, here: CaseObservation) -> bool:
        """Whether the answer may do what the mistake does in this case. The look costs at most one run.

        It compares the values, or the types of the errors.
        """
        theirs = expectations.glimpse(mistake, index)
        if here.outcome == "raised" == theirs.outcome:
            return here.error_type == theirs.error_type
        if here.outcome != theirs.outcome:
            return False
        plainly = replace(expectations.exercise, rules={}, properties={"values": 1})
        mine, known = replace(here, parameters=None), replace(theirs, parameters=None)
        return not differ(plainly, expectations.cases[index], mine, known, SIDE_EFFECTS)


class InEverything(Likeness):
    """The same values, gradients, parameters, errors, side effects and sentences of rules."""

    words = "in everything"

    def is_right(self, exercise: Exercise, case: Case, seen: CaseObservation, expected: CaseObservation) -> bool:
        return not differ(exercise, case, seen, expected)

    def is_same(
        self,
        exercise: Exercise,
        case: Case,
        mistake: Mistake,
        here: CaseObservation,
        theirs: CaseObservation,
        nudged: Nudged | None = None,
    ) -> bool:
        unruled = replace(exercise, rules={})
        return (
            not differ(unruled, case, here, theirs, nudged=nudged)
            and _rules(exercise, case, here) == _rules(exercise, case, theirs)
            and _error(here, mistake) == _error(theirs, mistake)
            and set(here.changed) == set(theirs.changed)
        )


class InValues(Likeness):
    """The same values. Gradients and side effects may differ. A refusal may use other words."""

    words = "in its values"

    def is_right(self, exercise: Exercise, case: Case, seen: CaseObservation, expected: CaseObservation) -> bool:
        return not differ_in_values(exercise, case, seen, expected)

    def is_same(
        self,
        exercise: Exercise,
        case: Case,
        mistake: Mistake,
        here: CaseObservation,
        theirs: CaseObservation,
        nudged: Nudged | None = None,
    ) -> bool:
        if here.outcome == theirs.outcome == "raised":
            (type_here, said_here), (type_there, said_there) = _error(here, mistake), _error(theirs, mistake)
            return type_here == type_there and (type_here == "ValueError" or said_here == said_there)
        if exercise.rules or here.outcome != "returned":
            return False
        return not differ_in_values(exercise, case, here, theirs, nudged)


class InParameters(Likeness):
    """The same parameters, by name, shape and sharing. Both return None, or none of them does."""

    words = "in its parameters"

    def is_right(self, exercise: Exercise, case: Case, seen: CaseObservation, expected: CaseObservation) -> bool:
        return _parameters(seen) == _parameters(expected)

    def is_same(
        self,
        exercise: Exercise,
        case: Case,
        mistake: Mistake,
        here: CaseObservation,
        theirs: CaseObservation,
        nudged: Nudged | None = None,
    ) -> bool:
        both_return = (here.value is None) == (theirs.value is None)
        return here.parameters is not None and _parameters(here) == _parameters(theirs) and both_return

    def looks_so(self, expectations: Expectations, index: int, mistake: Mistake, here: CaseObservation) -> bool:
        """Whether the answer is a module with the mistake's parameters, and these are not the expected ones."""
        expected = expectations.expected[index]
        if expected.parameters is None or here.parameters is None or _parameters(here) == _parameters(expected):
            return False
        return _parameters(here) == _parameters(expectations.glimpse(mistake, index))


IN_EVERYTHING, IN_PARAMETERS = InEverything(), InParameters()

LIKENESSES: tuple[Likeness, ...] = (IN_EVERYTHING, InValues(), IN_PARAMETERS)
"""All ways of comparing, the strictest one first."""


def differ_in_values(
    exercise: Exercise,
    case: Case,
    left: CaseObservation,
    right: CaseObservation,
    nudged: Nudged | None = None,
) -> bool:
    """Whether something differs that is not a gradient, a side effect or a rule's sentence."""
    properties = {name: points for name, points in exercise.properties.items() if name != "gradients"}
    plainly = replace(exercise, rules={}, properties=properties)
    return differ(plainly, case, left, right, SIDE_EFFECTS, nudged)


def _parameters(seen: CaseObservation) -> tuple[object, object]:
    return seen.parameters, seen.shared


def _rules(exercise: Exercise, case: Case, seen: CaseObservation) -> list[tuple[str, str]]:
    """What each rule says of an answer. Its numbers are left out: they differ from run to run."""
    if seen.outcome != "returned":
        return []
    said = ((name, rule_says(rule, seen.value, case) or "") for name, rule in exercise.rules.items())
    return [(name, _without_numbers(text)) for name, text in said]


def _without_numbers(text: str) -> str:
    return re.sub(r"-?\d[\d.,e+−-]*", "#", text)


def _error(seen: CaseObservation, mistake: Mistake) -> tuple[str, str]:
    """The error's type and message. Where the message holds the mistake's name, it gets the exercise's."""
    return seen.error_type, (seen.error.message if seen.error else "").replace(mistake.name, mistake.exercise)
