"""Find the mistakes behind an answer: those that do on the same cases what the answer does.

A mistake claims the cases in which it is wrong. It is named only if the answer does the same in all of them, so a name
is never a guess from a part of the evidence. First come the exercise's own mistakes, then those of the parts it calls,
then two of its own at once.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.compare import SIDE_EFFECTS, compare, rule_says
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.sentences import diagnoses_of_two, diagnosis_of
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake, inherited, pairs
from anatomy.engine.observing.observation import CaseObservation

PATIENCE, LEAST = 0.4, 0.1
"""Seconds of computing after which neither mistakes of parts are tried nor two at once; each has `LEAST` at least."""


@dataclass(frozen=True)
class Recognized:
    """What an answer does, and the cases of which it says so."""

    diagnoses: tuple[Diagnosis, ...]
    cases: frozenset[int]


def recognize(
    expectations: Expectations, found: list[CaseObservation], wrong: frozenset[int], called: Collection[str] = ()
) -> list[Recognized]:
    """The mistakes that an answer makes, the one that explains most first.

    Parameters
    ----------
    wrong
        The cases in which the answer differs from what is expected.
    called
        Other exercises that the answer calls, and which are right: their mistakes are not the reason.
    """
    seen = [found[i] if i < len(found) else CaseObservation() for i in range(len(expectations.cases))]
    named: list[Recognized] = []
    open_cases = wrong
    for _ in range(len(wrong)):
        best = _best(expectations, seen, wrong, open_cases, called)
        if best is None:
            break
        named.append(best)
        open_cases -= best.cases
        if not open_cases:
            break
    return named


def makes(mistake: Mistake, expectations: Expectations, found: list[CaseObservation], wrong: frozenset[int]) -> bool:
    """Whether an answer does what this mistake does, in all cases that the mistake claims: it could be named so."""
    sight = _Sight(expectations, found, wrong, wrong)
    return any(sight.claims(mistake, how) for how in (_same_in_everything, _same_values, _same_parameters))


def _best(
    expectations: Expectations,
    seen: list[CaseObservation],
    wrong: frozenset[int],
    open_cases: frozenset[int],
    called: Collection[str],
) -> Recognized | None:
    """The mistake that explains most of the open cases."""
    exercise = expectations.exercise
    sight = _Sight(expectations, seen, wrong, open_cases)
    own = exercise.mistakes.values()
    of_parts = [wrong for wrong in inherited(exercise) if not _parts(wrong) & set(called)]
    best: Recognized | None = None
    began = time.thread_time()
    for candidates in (own, of_parts if sight.values_differ else ()):
        patience = _Patience(math.inf if candidates is own else PATIENCE, began)
        for how in (_same_in_everything, _same_values, _same_parameters):
            for mistake in candidates:
                if patience.is_spent:
                    break
                cases = sight.claims(mistake, how)
                if mistake.parts and not sight.shows_in_values(mistake, cases):
                    continue  # why a gradient is missing, another part's sentence can't know
                if cases:
                    if best is None or len(cases & open_cases) > len(best.cases & open_cases):
                        best = Recognized((diagnosis_of(mistake, expectations.cases[min(cases)]),), cases)
                    if open_cases <= cases:
                        return best
    if open_cases == wrong and sight.values_differ:
        patience = _Patience(PATIENCE, began)
        for one, two, both in pairs(exercise, sight.for_pairs(patience)):
            if patience.is_spent:
                break
            cases = sight.claims(both, _same_in_everything)
            if cases and open_cases <= cases and sight.differs(both, one, cases) and sight.differs(both, two, cases):
                return Recognized(diagnoses_of_two(one, two, expectations.cases[min(cases)]), cases)
    return best


def _parts(mistake: Mistake) -> set[str]:
    """The exercises whose answers a mistake in a part goes through."""
    return {name for part in mistake.parts for name in (part.exercise, *_parts(part))}


class _Patience:
    """So many seconds of computing since something began, and `LEAST` from now on."""

    def __init__(self, seconds: float, began: float) -> None:
        self._until = max(began + seconds, time.thread_time() + LEAST)

    @property
    def is_spent(self) -> bool:
        return time.thread_time() > self._until


Same = Callable[[Exercise, Case, Mistake, CaseObservation, CaseObservation], bool]


class _Sight:
    """Compares mistakes with one answer: the cheapest case first of those that ask what the first open one asks."""

    def __init__(
        self,
        expectations: Expectations,
        seen: list[CaseObservation],
        wrong: frozenset[int],
        open_cases: frozenset[int],
    ) -> None:
        self.expectations, self.seen, self.wrong = expectations, seen, wrong
        asked = expectations.cases[min(open_cases)].asks
        alike = (index for index in sorted(open_cases) if expectations.cases[index].asks == asked)
        self.first = min(alike, key=expectations.cost)

    @property
    def values_differ(self) -> bool:
        """Whether the answer returns something in the first case, and other numbers than expected."""
        known, here = self.expectations, self.seen[self.first]
        if here.outcome != "returned" or here.value is None:
            return False
        return _values_apart(known.exercise, known.cases[self.first], here, known.expected[self.first])

    def claims(self, mistake: Mistake, how: Same) -> frozenset[int]:
        """The cases in which the mistake is wrong, if the answer does the same in all of them; else none."""
        looks_so = self._has_its_parameters if how is _same_parameters else self._could_be
        if not looks_so(mistake, self.first):
            return frozenset()
        claimed: set[int] = set()
        groups: set[str | None] = set()
        exercise, cases = self.expectations.exercise, self.expectations.cases
        order = [self.first, *(index for index in range(len(cases)) if index != self.first)]
        for index in order:
            theirs, expected = self.expectations.misconceived(mistake, index), self.expectations.expected[index]
            is_wrong = not _right(how, exercise, cases[index], theirs, expected)
            if not is_wrong and index == self.first:
                return frozenset()
            if is_wrong and not how(exercise, cases[index], mistake, self.seen[index], theirs):
                return frozenset()
            if is_wrong:
                claimed.add(index)
                groups.add(cases[index].asks)
        if any(cases[index].asks in groups for index in self.wrong - claimed):
            return frozenset()  # among cases of one kind, some are wrong in another way
        return frozenset(claimed)

    def _has_its_parameters(self, mistake: Mistake, index: int) -> bool:
        """Whether the answer is a module with the mistake's parameters, and with other ones than expected."""
        here, expected = self.seen[index], self.expectations.expected[index]
        mine = here.parameters, here.shared
        if expected.parameters is None or here.parameters is None or mine == (expected.parameters, expected.shared):
            return False
        theirs = self.expectations.glimpse(mistake, index)
        return mine == (theirs.parameters, theirs.shared)

    def differs(self, both: Mistake, one: Mistake, cases: Iterable[int]) -> bool:
        """Whether two mistakes do something else in any of these cases than one of them does alone."""
        known = self.expectations
        return any(
            not _same_in_everything(
                known.exercise, known.cases[i], one, known.misconceived(both, i), known.misconceived(one, i)
            )
            for i in cases
        )

    def shows_in_values(self, mistake: Mistake, cases: Iterable[int]) -> bool:
        """Whether the mistake gives values in any of these cases, and others than expected: an error is no evidence."""
        known = self.expectations
        return any(
            known.misconceived(mistake, i).outcome == "returned"
            and _values_apart(known.exercise, known.cases[i], known.misconceived(mistake, i), known.expected[i])
            for i in cases
        )

    def for_pairs(self, patience: _Patience) -> list[Mistake]:
        """The mistakes of which two may lie behind the answer: none costs what the answer has right.

        First those that alone give the answer's values in some kind of case.
        """
        cases, firsts = self.expectations.cases, dict[str | None, int]()
        for index in sorted(self.wrong, key=self.expectations.cost):
            firsts.setdefault(cases[index].asks, index)
        right = {case.asks for case in cases} - firsts.keys()
        fitting = [
            mistake
            for mistake in self.expectations.exercise.mistakes.values()
            if mistake.edits and not right & set(mistake.breaks)
        ]

        def is_seen(mistake: Mistake) -> bool:
            return any(not patience.is_spent and self._could_be(mistake, index) for index in firsts.values())

        return sorted(fitting, key=is_seen, reverse=True)

    def _could_be(self, mistake: Mistake, index: int) -> bool:
        """Whether the mistake gives the answer's values in this case: a look that costs one run."""
        case, here = self.expectations.cases[index], self.seen[index]
        theirs = self.expectations.glimpse(mistake, index)
        if here.outcome == "raised" == theirs.outcome:
            return here.error_type == theirs.error_type
        if here.outcome != theirs.outcome:
            return False
        plainly = replace(self.expectations.exercise, rules={}, properties={"values": 1})
        mine, known = replace(here, parameters=None), replace(theirs, parameters=None)
        return {one.kind for one in compare(plainly, [case], [mine], [known])} <= SIDE_EFFECTS


def _right(how: Same, exercise: Exercise, case: Case, theirs: CaseObservation, expected: CaseObservation) -> bool:
    """Whether a mistake does what is expected, in what this way of comparing looks at."""
    if how is _same_in_everything:
        return not compare(exercise, [case], [theirs], [expected])
    if how is _same_values:
        return not _values_apart(exercise, case, theirs, expected)
    return (theirs.parameters, theirs.shared) == (expected.parameters, expected.shared)


def _same_in_everything(
    exercise: Exercise, case: Case, mistake: Mistake, here: CaseObservation, theirs: CaseObservation
) -> bool:
    unruled = replace(exercise, rules={})
    return (
        not compare(unruled, [case], [here], [theirs])
        and _rules(exercise, case, here) == _rules(exercise, case, theirs)
        and _said(here, mistake) == _said(theirs, mistake)
        and set(here.changed) == set(theirs.changed)
    )


def _same_values(
    exercise: Exercise, case: Case, mistake: Mistake, here: CaseObservation, theirs: CaseObservation
) -> bool:
    """The same values; gradients and side effects may be other. What is refused may be refused in other words."""
    if here.outcome == theirs.outcome == "raised":
        mine, known = _said(here, mistake), _said(theirs, mistake)
        return mine[0] == known[0] and (mine[0] == "ValueError" or mine[1] == known[1])
    return not exercise.rules and here.outcome == "returned" and not _values_apart(exercise, case, here, theirs)


def _values_apart(exercise: Exercise, case: Case, left: CaseObservation, right: CaseObservation) -> bool:
    properties = {name: points for name, points in exercise.properties.items() if name != "gradients"}
    plainly = replace(exercise, rules={}, properties=properties)
    return not {one.kind for one in compare(plainly, [case], [left], [right])} <= SIDE_EFFECTS


def _same_parameters(
    exercise: Exercise, case: Case, mistake: Mistake, here: CaseObservation, theirs: CaseObservation
) -> bool:
    """The same parameters, by name, shape and sharing; and something comes back, or nothing, as there."""
    mine, known = (here.parameters, here.shared), (theirs.parameters, theirs.shared)
    return here.parameters is not None and mine == known and (here.value is None) == (theirs.value is None)


def _rules(exercise: Exercise, case: Case, seen: CaseObservation) -> list[tuple[str, str]]:
    """What each rule says of an answer, numbers aside: they are measured and differ from run to run."""
    if seen.outcome != "returned":
        return []
    said = ((name, rule_says(rule, seen.value, case) or "") for name, rule in exercise.rules.items())
    return [(name, _without_numbers(text)) for name, text in said]


def _without_numbers(text: str) -> str:
    return re.sub(r"-?\d[\d.,e+−-]*", "#", text)


def _said(seen: CaseObservation, mistake: Mistake) -> tuple[str, str]:
    """The error's type and message; Python's own name the function or class, which a student calls as asked."""
    return seen.error_type, (seen.error.message if seen.error else "").replace(mistake.name, mistake.exercise)
