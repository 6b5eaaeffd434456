"""Read the answer, too: what the judge could not name is looked for in the student's own program.

Only in a student's own notebook, never for marks. Every sentence was verified by running the program, edited in a copy
of the notebook's namespace, on all cases of the check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from IPython.utils.capture import capture_output

from anatomy import exercises, reference
from anatomy.judging.expectations import Expectations
from anatomy.judging.verdict import Diagnosis, Verdict
from anatomy.observing.observation import Observation
from anatomy.observing.parts import standing_in
from anatomy.reading.facts import noticed
from anatomy.reading.mends import mended
from anatomy.reading.one_place import the_line
from anatomy.reading.smallest import smallest_example
from anatomy.reading.source import Program, program_of
from anatomy.reading.trials import Budget, Trials, can_be_limited


def read(
    namespace: dict[str, Any],
    expectations: Expectations,
    observation: Observation,
    verdict: Verdict,
    seconds: float = 0.5,
) -> Verdict:
    """The verdict with what the student's program itself shows: a sentence and a smallest example.

    A verdict that names a mistake stays as it is, and so does one where nothing sure is found in time.

    Parameters
    ----------
    namespace
        The notebook's names, the answer's among them. While this runs, right answers stand in for the parts that were
        found wrong; then the namespace is as it was.
    seconds
        Of computing: how long edits may be tried; half as long is given to the example.
    """
    exercise, hidden = expectations.exercise, observation.cell_error or verdict.misconceptions
    if verdict.status != "wrong" or hidden or exercise.kind == "quiz" or not can_be_limited():
        return verdict
    parts = observation.parts if observation.with_right_parts else []
    found = observation.with_right_parts or observation.cases
    right = {name: reference.answer(exercises.find(name)) for name in parts}
    with capture_output(), standing_in(namespace, right):
        answer, trials = namespace[exercise.name], Trials(expectations, found, Budget(seconds))
        program = program_of(answer, exercise.name)
        said = None
        if program and trials.wrong and trials.reproduces(program.build):
            said, answer = _sentence(program, trials), program.build()
        trials.budget = Budget(seconds / 2)
        example = smallest_example(trials, answer)
    own = verdict.diagnoses
    if said:
        own = (said.diagnosis, *own) if said.comes_first else (*own, said.diagnosis)
    return replace(verdict, diagnoses=own, example=example)


@dataclass(frozen=True)
class _Said:
    """A sentence, and whether it comes before what can be seen without reading: it does if it names the cause.

    What only points at a line comes after an error or a wrong type, and a fact after an error.
    """

    diagnosis: Diagnosis
    comes_first: bool


def _sentence(program: Program, trials: Trials) -> _Said | None:
    if mend := mended(program, trials):
        return _Said(mend, comes_first=True)
    if line := the_line(program, trials):
        return _Said(line, trials.differ_in_values)
    fact = noticed(program, trials)
    return _Said(fact, not trials.stop) if fact else None
