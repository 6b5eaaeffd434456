"""Runs edited programs, many and short: each within a limit of time, all within a budget.

They may do anything, so this is for a copy of the notebook's process (`anatomy.engine.reading.copies`).
"""

from __future__ import annotations

import contextlib
import math
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.compare import SIDE_EFFECTS, Difference, Kind, compare, rule_says
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.likeness import IN_EVERYTHING
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.limits import TooSlow
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import glimpse_case, observe_case
from anatomy.engine.observing.plain_data import same
from anatomy.engine.reading.copies import ended_after, trial

_ENDED: bool | None = None

CLEAR = 0.01
"""A difference of results, as a part of the largest number, that is no rounding whatever the input is."""

_SEVERAL = 6
"""Cases that an edited program must pass before it is tried on all."""

LONGEST = 0.2
"""Seconds of computing that one run of an edited program may take."""

_SHORTEST, _TIMES = 0.02, 20
"""Seconds that it may take in any case, and how many times as long as an earlier run: what takes longer never ends."""


@dataclass
class Budget:
    """How much may be tried: seconds of computing, and runs. For the process in which it is made."""

    seconds: float = 0.6
    runs: int = 3000
    _start: float = field(default_factory=time.thread_time)

    def spend(self) -> None:
        self.runs -= 1

    @property
    def left(self) -> float:
        """Seconds."""
        if self.runs > 0:  # to ask for the time is slow on some machines
            left = self.seconds - (time.thread_time() - self._start)
            self.runs = self.runs if left > 0 else 0
        return left if self.runs > 0 else 0.0

    @property
    def is_spent(self) -> bool:
        return self.left <= 0

    def part(self, share: float, least: float = 0.0) -> Budget:
        """A share of what is left, but at least so many seconds."""
        return Budget(max(share * self.left, least), self.runs or Budget.runs)


@dataclass(frozen=True)
class Seen:
    """What the reference does in a case, what the answer does, and a difference of the two."""

    expected: CaseObservation
    found: CaseObservation
    difference: Difference


class Trials:
    """Tells whether an edited answer is right in all cases, the cheapest of those that differ first.

    Before them comes the one in which it was looked at what mistakes do.
    """

    def __init__(self, expectations: Expectations, found: list[CaseObservation], budget: Budget) -> None:
        self.expectations, self.found, self.budget = expectations, found, budget
        cases = range(len(expectations.cases))
        self.wrong = [index for index in cases if not self._agrees(found[index], index)]
        looked_at = expectations.looked_at  # what mistakes do there is known, and can be compared with
        cheapest = sorted(cases, key=lambda index: (index != looked_at, *expectations.showing_first(index)))
        seen = {index: self._first_difference(index) for index in cheapest if index in self.wrong}
        self.visible = {index: difference for index, difference in seen.items() if difference}
        telling = [index for index in cheapest if not self._repeats(index)]
        self._values_order = sorted(telling, key=lambda index: index not in self.visible)
        self._order = sorted(telling, key=lambda index: index not in self.wrong)
        self.plainly_right = [
            index for index in cheapest if index not in self.wrong and not expectations.cases[index].asks
        ]
        """The cases that ask for nothing of their own and in which nothing differs."""
        self._took: dict[int, float] = {}
        self.last: tuple[int, CaseObservation] | None = None
        """The case in which the last edited program differed, and what it did there; None where that is not known."""

    def _repeats(self, index: int) -> bool:
        """Whether a chosen case only repeats that of another seed: other numbers, and as right or as wrong."""
        twin = self.expectations.twin(index)
        is_same = (index in self.wrong, index in self.visible) == (twin in self.wrong, twin in self.visible)
        return twin < index and is_same and not self.expectations.cases[index].drawn

    @property
    def differ_in_values(self) -> bool:
        """Whether results have the right form and other values: the least that can be said of an answer."""
        kinds = {seen.difference.kind for seen in self._told}
        returned = [seen for seen in self._told if seen.found.outcome == "returned"]
        return Kind.VALUES in kinds and not any(seen.found.value is None for seen in returned)

    @property
    def return_nothing(self) -> bool:
        """Whether the answer always ends without a result, where one is expected."""
        returned = [seen.found.value for seen in self.visible.values() if seen.found.outcome == "returned"]
        return bool(returned) and all(value is None for value in returned)

    @property
    def differ_in_type(self) -> bool:
        """Whether something else than what is expected comes back, such as a list for a tensor."""
        return any(seen.difference.kind == Kind.TYPE for seen in self.visible.values())

    @property
    def differ_in_number_type(self) -> bool:
        """Whether results are right but for the type of their numbers."""
        return {seen.difference.kind for seen in self._told} == {Kind.DTYPE}

    @property
    def vary(self) -> bool:
        """Whether the answer gives something else when it is called again."""
        return any(seen.found.again and not seen.expected.again for seen in self._told)

    @property
    def stop_in_gradients(self) -> bool:
        """Whether gradients can't be computed. A copy in many a line would mend that."""
        return any(seen.gradient_error for seen in self.found)

    @property
    def differ_in_parameters(self) -> bool:
        """Whether a module's parameters have other names or shapes, or are shared in another way."""
        known = self.expectations
        differences = compare(known.exercise, known.cases, self.found, known.expected)
        return any(one.aspect == "parameters" for one in differences)

    @property
    def stop_for_memory_order(self) -> bool:
        """Whether the answer stops where `view` can't join axes as they lie in memory."""
        errors = [seen.found.error for seen in self._told if seen.found.error]
        return any("view size is not compatible" in error.message for error in errors)

    @property
    def breaks_a_rule(self) -> bool:
        """Whether a rule says what is wrong."""
        seen = zip(self.found, self.expectations.cases, strict=True)
        return any(
            rule_says(rule, found.value, case)
            for found, case in seen
            for name, rule in self.expectations.exercise.rules.items()
            if found.outcome == "returned" and case.asks in (None, name)
        )

    @property
    def stop(self) -> bool:
        """Whether the answer stops with an error where a result is expected."""
        return any(seen.found.outcome != "returned" for seen in self._told)

    @property
    def stop_in(self) -> set[int]:
        """The lines in which the answer stops with an error."""
        return {seen.found.error.line for seen in self._told if seen.found.error and seen.found.error.line}

    @property
    def _told(self) -> list[Seen]:
        """The cases that a card is about: the chosen ones, if one of them differs."""
        cases = self.expectations.cases
        return [seen for index, seen in self.visible.items() if not cases[index].drawn] or [*self.visible.values()]

    @trial(lost=False)
    def reproduces(self, build: Callable[[], Any]) -> bool:
        """Whether a program does in the cheapest wrong case what was observed there."""
        index = next(index for index in self._order if index in self.wrong)
        return self._does_as_found(build, index)

    @trial(lost=False)
    def is_right(self, build: Callable[[], Any]) -> bool:
        """Whether what `build` makes does in all cases what is expected: values first, then everything.

        Few edits get past the values. What does is looked at to its end, whatever the budget says.
        """
        with _limits():
            try:
                answer = build()
            except KeyboardInterrupt:
                raise
            except BaseException:  # an edited definition may raise anything
                return False
        for index in self._values_order:
            seen = None if self.budget.is_spent else self._run(lambda: answer, index, glimpse_case)
            if seen is None or not self._agrees(seen, index, values_only=True):
                return False
        cases = self.expectations.cases
        for index in (index for index in self._order if not cases[index].drawn):  # of a drawn one nothing more is seen
            seen = self._run(lambda: answer, index, observe_case)
            if seen is None or not self._agrees(seen, index):
                return False
        return True

    @trial(lost=_ENDED)
    def values_are_right(
        self, build: Callable[[], Any], prepare: Callable[[int], None], in_all: bool = False
    ) -> bool | None:
        """Whether what `build` makes gives the expected values, in all cases or in the cheapest of those that differ.

        `prepare` is called before each. All are looked at to their end, whatever the budget says. None if that ended an
        earlier copy.
        """
        cases = self.expectations.cases
        telling = [index for index in self._values_order if index in self.wrong or cases[index].asks is None]
        for index in self._values_order if in_all else telling[:_SEVERAL]:
            prepare(index)
            seen = None if self.budget.is_spent and not in_all else self._run(build, index, glimpse_case)
            if seen and seen.error and not seen.error.line and index not in telling:
                continue  # what is lent has no gradient, for which this case may ask
            if seen is None or not self._agrees(seen, index, values_only=True):
                self.last = (index, seen) if seen else None
                return False
        return True

    @trial(lost=False)
    def leave(self, mistake: Mistake, build: Callable[[], Any], prepare: Callable[[int], None]) -> bool:
        """Whether what `build` makes gives in all cases the values that this mistake alone gives.

        `prepare` is called before each.
        """
        for index in self._values_order:
            prepare(index)
            seen = self._run(build, index, glimpse_case)
            if seen is None or not IN_EVERYTHING.looks_so(self.expectations, index, mistake, seen):
                return False
        return True

    @trial(lost=None)
    def watch(self, build: Callable[[], Any], index: int) -> None:
        """Run what `build` makes in a case, for what it notes itself."""
        self._run(build, index, glimpse_case)

    @trial(lost="")
    def look_again(self, build: Callable[[], Any], index: int) -> str:
        """The message of the error that gradients end with in a case, or ""."""
        seen = self._run(build, index, observe_case)
        return seen.gradient_error.message if seen and seen.gradient_error else ""

    def both(self, answer: Any, case: Case, least: float = CLEAR) -> Seen | None:
        """What reference and answer do in a case of one's own, and the first difference as clear as this."""
        expected, found = (self.does(one, case) for one in (self.expectations.exercise.right, answer))
        differences = compare(_values_alone(self.expectations.exercise), [case], [found], [expected])
        return next(
            (Seen(expected, found, one) for one in differences if _is_visible(one) and clearness(one) > least), None
        )

    @trial(lost=CaseObservation("too slow"))
    def does(self, answer: Any, case: Case, directly: bool = False) -> CaseObservation:
        """What an answer does in a case of one's own; `directly`: what the call itself returns."""
        self.budget.spend()
        exercise = self.expectations.exercise
        with _limits():
            seen = glimpse_case(replace(exercise, act=None, describe=None) if directly else exercise, answer, case)
        return replace(seen, parameters=None)

    def _first_difference(self, index: int) -> Seen | None:
        """What reference and answer did in a case of the check, and the first difference of their values."""
        exercise, case = _values_alone(self.expectations.exercise), self.expectations.cases[index]
        expected, found = (replace(one[index], parameters=None) for one in (self.expectations.expected, self.found))
        differences = compare(exercise, [case], [found], [expected], self._nudged(index))
        return next((Seen(expected, found, one) for one in differences if _is_visible(one)), None)

    @trial(lost=False)
    def changes_nothing(self, build: Callable[[], Any]) -> bool:
        """Whether what `build` makes gives in all cases the results that were observed."""
        return all(not self.budget.is_spent and self._does_as_found(build, index) for index in self._values_order)

    def _does_as_found(self, build: Callable[[], Any], index: int) -> bool:
        seen, here = self._run(build, index, glimpse_case), replace(self.found[index], parameters=None)
        if seen is None or seen.outcome != here.outcome or seen.error_type != here.error_type:
            return False
        return same(seen.value, here.value)

    def _run(self, build: Callable[[], Any], index: int, look: Any) -> CaseObservation | None:
        self.budget.spend()
        longest = min(max(_SHORTEST, _TIMES * self._took.get(index, LONGEST)), LONGEST)
        began = time.thread_time()
        try:
            with _limits(longest):
                seen: CaseObservation = look(self.expectations.exercise, build(), self.expectations.cases[index])
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None
        self._took.setdefault(index, time.thread_time() - began)
        return seen

    def _agrees(self, seen: CaseObservation, index: int, values_only: bool = False) -> bool:
        exercise, expected = self.expectations.exercise, self.expectations.expected[index]
        if seen.outcome != expected.outcome:
            return False
        if values_only:
            exercise, expected = _values_alone(exercise), replace(expected, parameters=None)
            seen = replace(seen, parameters=None)
        case = self.expectations.cases[index]
        return not seen.calls and not compare(exercise, [case], [seen], [expected], self._nudged(index))

    def _nudged(self, index: int) -> Callable[[int, int], CaseObservation]:
        """As `compare` asks for it, of one case alone."""
        return lambda _, number: self.expectations.nudged(index, number)


def _is_visible(difference: Difference) -> bool:
    """Whether it shows in what is returned."""
    return difference.kind not in SIDE_EFFECTS


def clearness(difference: Difference) -> float:
    """By how much two results differ, as a part of the largest number; ∞ where rounding can't be the reason at all."""
    found, expected = difference.found, difference.expected
    if difference.kind != Kind.VALUES or not isinstance(found, Tensor) or not expected.is_floating_point():
        return math.inf
    apart = (found - expected)[(found != expected) & ~(found.isnan() & expected.isnan())].double().abs()
    largest = float(expected.double().abs().nan_to_num(posinf=1e30).max())
    widest = float(apart.nan_to_num(nan=1e30, posinf=1e30).max()) if len(apart) else 0.0
    return widest / largest if largest else math.inf if widest else 0.0


def _values_alone(exercise: Exercise) -> Exercise:
    """The exercise without all but its values; none are compared where many are right."""
    return replace(exercise, rules={}, properties={"values": 1} if "values" in exercise.properties else {})


@contextlib.contextmanager
def _limits(seconds: float = LONGEST) -> Iterator[None]:
    """No warnings, `TooSlow` after so many seconds of computing, and the end of this copy where that is not heard."""
    running = True

    def ring(*_: Any) -> None:
        if running:
            raise TooSlow

    previous = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, LONGEST)
    try:
        with warnings.catch_warnings(), ended_after(2 * LONGEST):
            warnings.simplefilter("ignore")
            yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
