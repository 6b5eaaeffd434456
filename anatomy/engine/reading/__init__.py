"""Read the answer, too: what the judge could not name is looked for in the student's own program.

Only in a student's own notebook, never for marks. Every sentence was verified by running the edited program on all
cases of the check, in a copy of the notebook's process: whatever an edit does, it costs a sentence and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.explain import without_cuts
from anatomy.engine.judging.judge import described_all
from anatomy.engine.judging.relations.numbers import without_origins
from anatomy.engine.judging.verdict import Diagnosis, Example, Verdict, without_conditions
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
from anatomy.engine.reading.one_value import the_value
from anatomy.engine.reading.recording import of_right_answers
from anatomy.engine.reading.smallest import smallest_example
from anatomy.engine.reading.source import Program, program_of
from anatomy.engine.reading.trials import Budget, Trials


def read(
    namespace: dict[str, Any],
    expectations: Expectations,
    observation: Observation,
    verdict: Verdict,
    seconds: float = 0.5,
) -> Verdict:
    """The verdict with what the student's program itself shows: a sentence and a smallest example.

    A verdict that names a mistake stays as it is, and so does one where nothing sure is found in time, and every one
    where processes can't be copied (`anatomy.engine.reading.copies`).

    Parameters
    ----------
    namespace
        The notebook's names, the answer's among them. They stay as they are; in the copy, right answers stand in for
        the parts that were found wrong.
    seconds
        Of computing: how long edits may be tried; half as long is given to the example.
    """
    exercise, hidden = expectations.exercise, observation.cell_error or verdict.mistakes
    if verdict.status != "wrong" or hidden or exercise.kind == "quiz" or not can_copy():
        return verdict
    parts = observation.parts if observation.with_right_parts else []
    found = described_all(expectations, observation.with_right_parts or observation.cases)
    if any(seen.error_type == "NotImplementedError" for seen in found):
        return verdict  # it is not written to its end
    right = {name: exercise.course.exercise(name).right for name in parts}
    trials = Trials(expectations, found, Budget(seconds))
    program = program_of(namespace[exercise.name], exercise.name)
    of_right_answers(exercise)  # read here, for all copies

    def work() -> Iterator[dict[str, Any] | None]:
        namespace.update(right)
        answer, said = namespace[exercise.name], None
        trials.budget = Budget(seconds - spent())
        if program and trials.vary and (default := kept_default(program)):
            said = _Said(default, comes_first=True)
        elif program and trials.wrong and (kept := kept_between_calls(program, trials)):
            said = _Said(kept, comes_first=True, is_all=True)
        elif program and trials.wrong and trials.reproduces(program.build) and not trials.is_right(program.build):
            said, answer = _sentence(program, trials), program.build()
        yield asdict(said) if said else None
        if said and said.is_all:
            return  # one call alone is right
        trials.budget = Budget(seconds / 2)
        example = smallest_example(trials, answer, program.build if program else None)
        yield asdict(example) if example else None

    said, example = [*in_a_copy(work, 2 * seconds), None, None][:2]
    own = verdict.diagnoses
    if program:
        own = tuple(replace(one, detail=without_cuts(one.detail, program.at_work)) for one in own)
    if said:
        diagnosis = Diagnosis(**said["diagnosis"])
        own = () if said["is_all"] else without_conditions(own) if said["is_cause"] else own
        own = tuple(replace(one, detail=without_origins(one.detail)) for one in own)
        own = (diagnosis, *own) if said["comes_first"] and not _says_what_is_idle(own) else (*own, diagnosis)
    return replace(verdict, diagnoses=own, example=Example(**example) if example else None)


def _says_what_is_idle(diagnoses: tuple[Diagnosis, ...]) -> bool:
    """Whether a card begins with a parameter that has no effect: that says more than a place does."""
    return bool(diagnoses) and "no gradient reaches" in diagnoses[0].headline and "effect" in diagnoses[0].headline


@dataclass(frozen=True)
class _Said:
    """A sentence, whether it comes before what can be seen without reading, and whether it names or shows the cause.

    One that `is_all` there is to say stands alone: what is seen misleads, and no single call shows it.

    What only points at a place comes after an error, a wrong type or what a rule says, a fact after an error, and what
    a result follows after what its numbers show.
    """

    diagnosis: Diagnosis
    comes_first: bool
    is_cause: bool = True
    is_all: bool = False


def _sentence(program: Program, trials: Trials) -> _Said | None:
    whole, values = trials.budget, trials.differ_in_values and not trials.breaks_a_rule
    if not trials.stop_in_gradients and (mend := mended(program, trials)):
        return _Said(mend, comes_first=True)
    if test := refused(program, trials):
        return _Said(test, comes_first=False)
    trials.budget = whole.part(0.5)
    if more := too_much(program, trials):
        in_numbers = not trials.stop and not trials.breaks_a_rule and not trials.expectations.exercise.describe
        return _Said(more, comes_first=in_numbers)
    trials.budget = whole
    if not trials.visible and (write := written_into(program, trials)):
        return _Said(write, comes_first=False, is_cause=False)  # a copy in many a line would mend that
    if trials.differ_in_number_type or trials.stop_for_memory_order or trials.vary or trials.return_nothing:
        return None  # any line may convert the numbers; what `view` is given has the right ones; chance mends anything
    places = () if trials.differ_in_parameters else ((the_value, 0.6), (the_line, 0.8))
    for point, share in places:
        trials.budget = whole.part(share)
        if place := point(program, trials):
            idle = [sentence for sentence, _ in statements_that_do_nothing(program)]
            return _Said(replace(place, detail=" ".join([place.detail, *idle])), values)
    trials.budget = whole
    if fact := noticed(program, trials):
        return _Said(fact, comes_first=not trials.stop, is_cause=False)
    if returned := what_is_returned(program, trials):
        return _Said(returned, comes_first=not trials.stop, is_cause=False)
    if origin := first_not_finite(program, trials):
        return _Said(origin, comes_first=False, is_cause=False)
    effect = dependence(trials, program.build())
    return _Said(effect, comes_first=False, is_cause=False) if effect else None
