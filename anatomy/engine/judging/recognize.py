"""Find the mistakes behind an answer: they do in the same cases what the answer does.

A mistake claims the cases in which it gives a wrong result. It is named only if the answer does the same in all of
them, so a name is never a guess from a part of the evidence. First come the exercise's own mistakes, then mistakes in
the parts that it calls, then two of its own at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, product
from typing import Any

from anatomy.engine.case import Case
from anatomy.engine.judging import trail
from anatomy.engine.judging.compare import compare
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.likeness import IN_EVERYTHING, IN_PARAMETERS, LIKENESSES, Likeness, differ_in_values
from anatomy.engine.judging.sentences import diagnoses_of_two, diagnosis_of
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake, inherited, pairs
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.plain_data import same, tensors

SEARCH_TIME, LEAST_SEARCH_TIME = 0.4, 0.1
"""Seconds of computing. A search ends `SEARCH_TIME` after it begins, but mistakes of parts always have
`LEAST_SEARCH_TIME`, and so have two mistakes at once. The exercise's own mistakes have no limit until one is named, and
twice this time for each further one."""


_NUDGES = 3
"""How often it is looked whether a mistake gives something else for inputs moved by one rounding step."""


def _not_all(case: Case) -> Diagnosis:
    """Said of a mistake that explains an answer's parameters, and not what it gives in this case."""
    what = f"what “{case.asks}” looks at is" if case.asks else "your values are"
    return Diagnosis(f"More may be wrong: {what} not what this mistake alone gives.", "Mend it, and check again.")


@dataclass(frozen=True)
class Recognized:
    """One mistake, or two at once, and the cases that they explain."""

    diagnoses: tuple[Diagnosis, ...]
    cases: frozenset[int]


def recognize(
    expectations: Expectations,
    found: list[CaseObservation],
    wrong: frozenset[int],
    to_explain: frozenset[int],
    called: Collection[str] = (),
) -> list[Recognized]:
    """The mistakes in an answer. The first one explains most cases.

    Parameters
    ----------
    wrong
        The cases in which the answer differs from what is expected.
    to_explain
        Those that call for an explanation. The others can only refute one.
    called
        Other exercises that the answer calls and that are right: their mistakes can't be the reason.
    """
    seen = [found[i] if i < len(found) else CaseObservation() for i in range(len(expectations.cases))]
    named: list[Recognized] = []
    open_cases = to_explain
    for _ in range(len(to_explain)):
        best = _best(expectations, seen, wrong, open_cases, called, is_first=not named)
        if best is None:
            break
        named.append(best)
        open_cases -= best.cases
        if not open_cases:
            break
    return named


def makes(mistake: Mistake, expectations: Expectations, found: list[CaseObservation], wrong: frozenset[int]) -> bool:
    """Whether an answer does what this mistake does in all cases that the mistake claims."""
    sight = _Sight(expectations, found, wrong, wrong)
    return any(sight.claims(mistake, likeness) for likeness in LIKENESSES)


def _best(
    expectations: Expectations,
    seen: list[CaseObservation],
    wrong: frozenset[int],
    open_cases: frozenset[int],
    called: Collection[str],
    is_first: bool,
) -> Recognized | None:
    """The mistake, or two at once, that explains most of the open cases."""
    exercise = expectations.exercise
    sight = _Sight(expectations, seen, wrong, open_cases)
    own = exercise.mistakes.values()
    of_parts = [mistake for mistake in inherited(exercise) if not _parts(mistake) & set(called)]
    best: Recognized | None = None
    began = time.thread_time()
    for candidates in (own, of_parts if sight.values_differ else ()):
        of_own = math.inf if is_first else 2 * SEARCH_TIME
        deadline = _Deadline(of_own if candidates is own else SEARCH_TIME, began)
        for likeness in LIKENESSES:
            for mistake in candidates:
                if deadline.is_over:
                    trail.note("mistakes", "not all tried in time")
                    break
                cases = sight.claims(mistake, likeness)
                if mistake.parts and not sight.shows_in_values(mistake, cases):
                    continue  # the sentence of another part's mistake can't say why a gradient is missing
                if cases:
                    if best is None or len(cases & open_cases) > len(best.cases & open_cases):
                        best = Recognized((diagnosis_of(mistake, expectations.cases[min(cases)]),), cases)
                    if open_cases <= cases and likeness is IN_PARAMETERS and (more := sight.more_wrong(mistake, cases)):
                        return _with_one_more(sight, mistake, open_cases) or replace(
                            best, diagnoses=(*best.diagnoses, _not_all(more))
                        )
                    if open_cases <= cases:
                        return best
    if is_first and sight.values_differ and not sight.differs_in_nan_alone:
        deadline = _Deadline(SEARCH_TIME, began)
        return _two(sight, sight.likely_pairs(deadline, of_parts), open_cases, deadline) or best
    return best


def and_one_more(
    mistake: Mistake, expectations: Expectations, found: list[CaseObservation], wrong: frozenset[int]
) -> tuple[Diagnosis, ...]:
    """What a card says of this mistake and another listed one, if an answer makes the two at once; else nothing."""
    two = _with_one_more(_Sight(expectations, found, wrong, wrong), mistake, wrong, SEARCH_TIME)
    return two.diagnoses if two else ()


def _with_one_more(
    sight: _Sight, mistake: Mistake, open_cases: frozenset[int], seconds: float = 0.0
) -> Recognized | None:
    """The mistake and another one, made at once."""
    exercise, deadline = sight.expectations.exercise, _Deadline(seconds, time.thread_time())
    others = (other for other in sight.for_pairs() if other is not mistake)
    return _two(sight, (pair for other in others for pair in pairs(exercise, [mistake, other])), open_cases, deadline)


def _two(
    sight: _Sight,
    some: Iterable[tuple[Mistake, Mistake, Mistake]],
    open_cases: frozenset[int],
    deadline: _Deadline,
) -> Recognized | None:
    """The first of these pairs of mistakes that together do what the answer does, and none of the two alone.

    None where the answer is a single number and two pairs give it: 5·D is 4·D + D, and 3·D + 2·D.
    """
    found: Recognized | None = None
    for one, two, both in some:
        if deadline.is_over:
            trail.note("two mistakes at once", "not all tried in time")
            break
        cases = sight.claims(both, IN_EVERYTHING)
        if cases and open_cases <= cases and sight.differs(both, one, cases) and sight.differs(both, two, cases):
            if found:
                trail.note("two mistakes at once", "other two give the same number")
                return None
            found = Recognized(
                diagnoses_of_two(*((each, sight.shows_first(each, cases)) for each in (one, two))), cases
            )
            if not sight.is_single_number:
                return found
    return found


def _parts(mistake: Mistake) -> set[str]:
    """The exercises that lie between an answer and a mistake in one of its parts."""
    return {name for part in mistake.parts for name in (part.exercise, *_parts(part))}


def _is_luck(theirs: CaseObservation, nudged: Callable[[int], CaseObservation]) -> bool:
    """Whether rounding decides which whole numbers a mistake gives, as where two rows are equally near to it."""
    some = list(tensors(theirs.value))
    if not some or any(one.is_floating_point() for one in some):
        return False
    return any(not same(theirs.value, nudged(number).value) for number in range(_NUDGES))


def _has_other_numbers(found: Any, expected: Any) -> bool:
    """Whether a result differs in numbers that are finite, in its form, or in what is no tensor."""
    mine, theirs = list(tensors(found)), list(tensors(expected))
    if not mine or [(one.shape, one.is_complex()) for one in mine] != [(one.shape, False) for one in theirs]:
        return True
    wide = ((one.double(), other.double()) for one, other in zip(mine, theirs, strict=True))
    return any(not one.where(one.isfinite(), other).allclose(other, 1e-3, 1e-5, equal_nan=True) for one, other in wide)


class _Deadline:
    """The end of a search: `seconds` of computing after it began, but not before `LEAST_SEARCH_TIME` from now."""

    def __init__(self, seconds: float, began: float) -> None:
        self._until = max(began + seconds, time.thread_time() + LEAST_SEARCH_TIME)

    @property
    def is_over(self) -> bool:
        return time.thread_time() > self._until


class _Sight:
    """Compares mistakes with one answer. It begins with an open case that asks the same as the first one."""

    def __init__(
        self,
        expectations: Expectations,
        seen: list[CaseObservation],
        wrong: frozenset[int],
        open_cases: frozenset[int],
    ) -> None:
        self.expectations, self.seen, self.wrong, self.open_cases = expectations, seen, wrong, open_cases
        asked = expectations.cases[min(open_cases)].asks
        alike = (index for index in sorted(open_cases) if expectations.cases[index].asks == asked)
        self.first = min(alike, key=expectations.showing_first)
        self._nearly: dict[str, tuple[Mistake, int]] = {}  # the same in some cases, and the first case that differs

    @property
    def is_single_number(self) -> bool:
        """Whether all that an answer returns is a whole number, to which many mistakes can add up."""
        return isinstance(self.expectations.expected[self.first].value, int)

    @property
    def values_differ(self) -> bool:
        """Whether the answer returns a result in the first case, and values differ there or in another open case."""
        known, here = self.expectations, self.seen[self.first]
        if here.outcome != "returned" or here.value is None:
            return False
        return any(
            differ_in_values(known.exercise, known.cases[index], self.seen[index], known.expected[index])
            for index in (self.first, *sorted(self.open_cases))
        )

    @property
    def differs_in_nan_alone(self) -> bool:
        """Whether all that is wrong in the open cases is NaN or ∞: many a pair of mistakes ends so."""
        expected = self.expectations.expected
        return not any(_has_other_numbers(self.seen[index].value, expected[index].value) for index in self.open_cases)

    def claims(self, mistake: Mistake, likeness: Likeness) -> frozenset[int]:
        """The cases in which the mistake gives wrong results. None of them if the answer differs from it in one."""
        if not likeness.looks_so(self.expectations, self.first, mistake, self.seen[self.first]):
            return frozenset()
        claimed: set[int] = set()
        stopped: set[int] = set()
        unsure: set[int] = set()
        groups: set[str | None] = set()
        exercise, cases = self.expectations.exercise, self.expectations.cases
        order = [self.first, *(index for index in range(len(cases)) if index != self.first)]
        for index in order:
            theirs, expected = self.expectations.with_mistake(mistake, index), self.expectations.expected[index]
            is_wrong = not likeness.is_right(exercise, cases[index], theirs, expected)
            if not is_wrong and index == self.first:
                return frozenset()
            if is_wrong and index != self.first and self._stops_there(index, theirs):
                stopped.add(index)
                continue
            nudged = partial(self.expectations.nudged, index, mistake=mistake)
            if is_wrong and not likeness.is_same(exercise, cases[index], mistake, self.seen[index], theirs, nudged):
                if cases[index].drawn and _is_luck(theirs, nudged):
                    unsure.add(index)
                    continue
                trail.note(f"{mistake.name} {likeness}", f"does something else in {trail.in_words(cases[index])}")
                if claimed and mistake.edits:
                    self._nearly.setdefault(mistake.name, (mistake, index))
                return frozenset()
            if is_wrong:
                claimed.add(index)
                groups.add(cases[index].asks)
        for index in sorted(self.wrong - claimed - unsure):
            if cases[index].drawn and self.seen[index].outcome != "returned":
                continue  # where an answer stops, it has one more mistake: the name may be true all the same
            if cases[index].asks in groups:  # some cases that ask the same are wrong in another way
                trail.note(f"{mistake.name} {likeness}", f"is right in {trail.in_words(cases[index])}")
                return frozenset()
        if any(cases[index].asks in groups and not cases[index].drawn for index in stopped):
            trail.note(f"{mistake.name} {likeness}", "returns where the answer stops")
            return frozenset()
        drawn = sum(cases[index].drawn for index in claimed)
        trail.note(f"{mistake.name} {likeness}", f"does the same in {len(claimed)} cases, {drawn} of them drawn")
        return frozenset(claimed)

    def _stops_there(self, index: int, theirs: CaseObservation) -> bool:
        """Whether the answer stops with an error in a case of a property's own, or a drawn one, and a mistake returns.

        It has one more mistake there, and the name may be true all the same.
        """
        case = self.expectations.cases[index]
        return self.seen[index].outcome == "raised" and theirs.outcome == "returned" and (case.drawn or bool(case.asks))

    def differs(self, both: Mistake, one: Mistake, cases: Iterable[int]) -> bool:
        """Whether two mistakes together differ from one of them alone in any of these cases, by more than rounding."""
        known = self.expectations
        return any(
            not IN_EVERYTHING.is_same(
                known.exercise,
                known.cases[i],
                one,
                known.with_mistake(both, i),
                known.with_mistake(one, i),
                partial(known.nudged, i, mistake=one),
            )
            for i in cases
        )

    def shows_first(self, mistake: Mistake, cases: Collection[int]) -> Case:
        """The first of these cases in which the mistake alone is wrong, for the sizes in its sentence."""
        known = self.expectations
        wrong = (
            index
            for index in sorted(cases)
            if not IN_EVERYTHING.is_right(
                known.exercise, known.cases[index], known.with_mistake(mistake, index), known.expected[index]
            )
        )
        return known.cases[next(wrong, min(cases))]

    def more_wrong(self, mistake: Mistake, cases: Iterable[int]) -> Case | None:
        """The first case in which the answer returns other values than the mistake alone."""
        known, seen = self.expectations, self.seen
        wrong = (
            i
            for i in sorted(cases)
            if seen[i].outcome == known.with_mistake(mistake, i).outcome == "returned"
            and differ_in_values(
                known.exercise,
                known.cases[i],
                replace(seen[i], parameters=None),
                replace(known.with_mistake(mistake, i), parameters=None),
            )
        )
        return next((known.cases[i] for i in wrong), None)

    def shows_in_values(self, mistake: Mistake, cases: Iterable[int]) -> bool:
        """Whether the mistake gives wrong values in any of these cases. An error is no evidence."""
        known = self.expectations
        return any(
            known.with_mistake(mistake, i).outcome == "returned"
            and differ_in_values(known.exercise, known.cases[i], known.with_mistake(mistake, i), known.expected[i])
            for i in cases
        )

    def _held(self) -> set[str]:
        """The properties that hold in the answer."""
        known = self.expectations
        differences = compare(known.exercise, known.cases, self.seen, known.expected, known.nudged)
        return set(known.exercise.properties) - {one.property for one in differences}

    def _telling(self) -> list[int]:
        """The wrong cases, those first in which few sizes and numbers differ: there, most mistakes change nothing."""
        known, cases = self.expectations, self.expectations.cases

        def plainness(index: int) -> tuple[int, int]:
            numbers = [value for value in cases[index].args.values() if isinstance(value, int | float | None)]
            return len({*cases[index].sizes.values(), *numbers}), known.cost(index)

        return sorted(self.wrong, key=plainness)

    def for_pairs(self) -> list[Mistake]:
        """The mistakes that may be two at once in the answer. None of them breaks what the answer has right."""
        cases = self.expectations.cases
        right = {case.asks for case in cases} - {cases[index].asks for index in self.wrong} | self._held()
        mistakes = self.expectations.exercise.mistakes.values()
        return [mistake for mistake in mistakes if mistake.edits and not right & set(mistake.breaks)]

    def likely_pairs(
        self, deadline: _Deadline, of_parts: Iterable[Mistake]
    ) -> Iterator[tuple[Mistake, Mistake, Mistake]]:
        """Two mistakes at once. First those of which one alone does what the answer does in the first cases, and both
        give its values where that one ceases to; then those of which one gives the answer's values in some case, where
        the other changes nothing, of the exercise itself or of its parts; then the others with such a one, then all."""
        exercise, fitting, seen = self.expectations.exercise, self.for_pairs(), list[Mistake]()
        tried = set[tuple[str, str]]()

        def of(one: Mistake, two: Mistake) -> Iterator[tuple[Mistake, Mistake, Mistake]]:
            for pair in pairs(exercise, [one, two]):
                names = pair[0].name, pair[1].name
                if names not in tried:
                    tried.add(names)
                    yield pair

        for nearly, index in list(self._nearly.values()):
            asks = self.expectations.cases[index].asks
            for other in sorted(fitting, key=lambda one: asks not in one.breaks):
                if deadline.is_over:
                    return
                yield from (pair for pair in of(nearly, other) if self._gives(pair[2], index, self.seen))
        some = [*fitting, *of_parts]
        for index in self._telling():
            giving = [one for one in some if not deadline.is_over and self._gives(one, index, self.seen)]
            seen += (one for one in giving if not one.parts)
            idle = [one for one in some if giving and self._gives(one, index, self.expectations.expected)]
            for one, two in product(giving, idle):
                yield from of(one, two)
        for one, two in chain(product(seen, fitting), combinations(fitting, 2)):
            if one is not two:
                yield from of(one, two)

    def _gives(self, mistake: Mistake, index: int, what: Sequence[CaseObservation]) -> bool:
        """Whether a mistake alone gives in a case the values that were seen there, or expected."""
        return IN_EVERYTHING.looks_so(self.expectations, index, mistake, what[index])
