"""Read the answer, too: what the judge could not name is looked for in the student's own program.

Only in a student's own notebook, never for marks. Every sentence was verified by running the edited program on all
cases of the check, in a copy of the notebook's process: whatever an edit does, it costs a sentence and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from anatomy.engine.exercise import Case
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explain import without_cuts
from anatomy.engine.judging.judge import described_all
from anatomy.engine.judging.recognize import and_one_more
from anatomy.engine.judging.relations.numbers import without_origins
from anatomy.engine.judging.sentences import diagnoses_of_one_and_a_place, of_what_is_called
from anatomy.engine.judging.verdict import Diagnosis, Example, Verdict, without_conditions
from anatomy.engine.mistakes import inherited
from anatomy.engine.observing.observation import Observation
from anatomy.engine.reading.copies import can_copy, in_a_copy, spent
from anatomy.engine.reading.dependence import dependence
from anatomy.engine.reading.facts import (
    kept_default,
    noticed,
    refused,
    statements_that_do_nothing,
    what_is_returned,
    written_into,
)
from anatomy.engine.reading.kept import kept_between_calls
from anatomy.engine.reading.mends import mended, too_much
from anatomy.engine.reading.not_finite import first_not_finite
from anatomy.engine.reading.one_place import the_line
from anatomy.engine.reading.one_value import Compared, note_right_answers, the_value
from anatomy.engine.reading.smallest import smallest_example
from anatomy.engine.reading.source import Program, program_of
from anatomy.engine.reading.syntax import read_names
from anatomy.engine.reading.trials import Budget, Trials

FOR_A_LINE = 0.15
"""Seconds of computing that the search for a line has in any case: where runs take long, all else has used up its time.
"""


def read(
    namespace: dict[str, Any],
    expectations: Expectations,
    observation: Observation,
    verdict: Verdict,
    seconds: float = 0.5,
) -> Verdict:
    """The verdict with what the student's program itself shows: a sentence and a smallest example.

    One that names a mistake only loses words on parts that the program does not call. One where nothing sure is found
    in time stays as it is, and so does every one where processes can't be copied (`anatomy.engine.reading.copies`).

    Parameters
    ----------
    namespace
        The notebook's names, the answer's among them. They stay as they are; in the copy, right answers stand in for
        the parts that were found wrong.
    seconds
        Of computing: how long edits may be tried; half as long is given to the example.
    """
    exercise = expectations.exercise
    if verdict.status != "wrong" or observation.cell_error or exercise.kind == "quiz":
        return verdict
    program = program_of(namespace[exercise.name], exercise.name)
    if verdict.mistakes and program:
        return replace(verdict, diagnoses=of_what_is_called(verdict.diagnoses, read_names(program.tree)))
    if verdict.mistakes or not can_copy():
        return verdict
    parts = observation.parts if observation.with_right_parts else []
    found = described_all(expectations, observation.with_right_parts or observation.cases)
    if any(seen.error_type == "NotImplementedError" for seen in found):
        return verdict  # it is not written to its end
    right = {name: exercise.course.exercise(name).right for name in parts}
    trials = Trials(expectations, found, Budget(seconds))
    note_right_answers(trials, seconds / 2)

    def work() -> Iterator[dict[str, Any] | None]:
        namespace.update(right)
        answer, said = namespace[exercise.name], None
        trials.budget = Budget(seconds - spent())
        if program and trials.vary and (default := kept_default(program)):
            said = _Said([default], comes_first=True)
        elif program and trials.wrong and (kept := kept_between_calls(program, trials)):
            said = _Said([kept], comes_first=True, is_all=True)
        elif program and trials.wrong and trials.reproduces(program.build) and not trials.is_right(program.build):
            said, answer = _sentence(program, trials), program.build()
        yield said.as_dict() if said else None
        if said and said.is_all and not said.names_a_mistake:
            return  # one call alone is right
        trials.budget = Budget(seconds / 2)
        example = smallest_example(trials, answer, program.build if program else None, said.in_case if said else None)
        yield asdict(example) if example else None

    said, example = [*in_a_copy(work, 2 * seconds), None, None][:2]
    own = verdict.diagnoses
    if program:
        own = tuple(replace(one, detail=without_cuts(one.detail, program.at_work)) for one in own)
    if said:
        fresh = tuple(Diagnosis(**one) for one in said["diagnoses"])
        known = {one.name: one for one in (*exercise.mistakes.values(), *inherited(exercise))}
        if left := known.get(fresh[0].mistake):
            fresh = and_one_more(left, expectations, found, frozenset(trials.visible)) or fresh
        own = () if said["is_all"] else without_conditions(own) if said["is_cause"] else own
        own = tuple(replace(one, detail=without_origins(one.detail)) for one in own)
        own = (*fresh, *own) if said["comes_first"] and not _says_what_is_idle(own) else (*own, *fresh)
    return replace(verdict, diagnoses=own, example=Example(**example) if example else None)


def _says_what_is_idle(diagnoses: tuple[Diagnosis, ...]) -> bool:
    """Whether a card begins with a parameter that has no effect: that says more than a place does."""
    return bool(diagnoses) and "no gradient reaches" in diagnoses[0].headline and "effect" in diagnoses[0].headline


@dataclass(frozen=True)
class _Said:
    """Sentences, and whether they come before what can be seen without reading, and name or show the cause.

    Those that are all there is to say (`is_all`) stand alone: what is seen misleads. `in_case` says what stands at the
    place that they point at, in a case of one's own.

    What only points at a place comes after an error, a wrong type or what a rule says, a fact after an error, and what
    a result follows after what its numbers show.
    """

    diagnoses: list[Diagnosis]
    comes_first: bool
    is_cause: bool = True
    is_all: bool = False
    in_case: Callable[[Case], str] | None = None

    @property
    def names_a_mistake(self) -> bool:
        return any(one.mistake for one in self.diagnoses)

    def as_dict(self) -> dict[str, Any]:
        """What JSON can hold of it."""
        return asdict(replace(self, in_case=None))


def _sentence(program: Program, trials: Trials) -> _Said | None:
    whole, values = trials.budget, trials.differ_in_values and not trials.breaks_a_rule
    if not trials.stop_in_gradients and (mend := mended(program, trials)):
        return _Said([mend], comes_first=True)
    if test := refused(program, trials):
        return _Said([test], comes_first=False)
    trials.budget = whole.part(0.5)
    if more := too_much(program, trials):
        in_numbers = not trials.stop and not trials.breaks_a_rule and not trials.expectations.exercise.describe
        return _Said([more], comes_first=in_numbers)
    trials.budget = whole
    if not trials.visible and (write := written_into(program, trials)):
        return _Said([write], comes_first=False, is_cause=False)  # a copy in many a line would mend that
    if trials.differ_in_number_type or trials.stop_for_memory_order or trials.vary or trials.return_nothing:
        return None  # any line may convert the numbers; what `view` is given has the right ones; chance mends anything
    if not trials.differ_in_parameters:
        trials.budget = whole.part(0.6)
        compared = Compared(program, trials) if trials.visible else None
        place = the_value(program, trials, compared) if compared else None
        if place and place.left and not trials.stop:
            case = trials.expectations.cases[min(trials.visible)]
            two = diagnoses_of_one_and_a_place(place.left, case, place.diagnosis)
            return _Said([*two], comes_first=True, is_all=True)
        if place and not place.left and place.line not in trials.stop_in:  # of its line the error says more
            return _Said([_and_what_is_idle(place.diagnosis, program)], values, in_case=place.in_case)
        trials.budget = whole.part(0.8, least=FOR_A_LINE)
        if line := the_line(program, trials, compared.suspected if compared else ()):
            return _Said([_and_what_is_idle(line, program)], values)
    trials.budget = whole
    if fact := noticed(program, trials):
        return _Said([fact], comes_first=not trials.stop, is_cause=False)
    if returned := what_is_returned(program, trials):
        return _Said([returned], comes_first=not trials.stop, is_cause=False)
    if origin := first_not_finite(program, trials):
        return _Said([origin], comes_first=False, is_cause=False)
    effect = dependence(trials, program.build())
    return _Said([effect], comes_first=False, is_cause=False) if effect else None


def _and_what_is_idle(place: Diagnosis, program: Program) -> Diagnosis:
    """What is said of a place, and of statements that do nothing."""
    return replace(place, detail=" ".join([place.detail, *(one for one, _ in statements_that_do_nothing(program))]))
