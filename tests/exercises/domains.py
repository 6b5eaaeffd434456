"""Do right answers agree on what an exercise's `inputs` draw, and which mistakes show there?

python -m tests.exercises.domains NOTEBOOK [EXERCISE]     a table; mistakes that no draw shows are named
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from anatomy.course import COURSE
from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.compare import Difference, compare
from anatomy.engine.judging.expectations import nudged
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import observe_case

DRAWS, SEED = 200, 7


class Domain:
    """So many draws of an exercise's `inputs`, and what the right answer does in them."""

    def __init__(self, exercise: Exercise, draws: int = DRAWS, seed: int = SEED) -> None:
        self.exercise = COURSE.described(exercise)
        self.cases = list(exercise.draws(seed, draws))
        self.expected = [self._does(exercise.right, case) for case in self.cases]

    def differences(self, answer: Any) -> Iterator[tuple[Case, Difference]]:
        """Where an answer differs from the right one, with the first difference of each case."""
        for case, expected in zip(self.cases, self.expected, strict=True):

            def again(_: int, number: int, case: Case = case) -> CaseObservation:
                return self._does(self.exercise.right, nudged(case, number))

            if found := compare(self.exercise, [case], [self._does(answer, case)], [expected], again):
                yield case, found[0]

    def _does(self, answer: Any, case: Case) -> CaseObservation:
        return observe_case(self.exercise, answer, case)


def variants(exercise: Exercise) -> dict[str, Any]:
    """What is also right, by name."""
    known = COURSE.also_right(exercise.notebook)
    return {name: answer for name, answer in known.items() if name.startswith(f"{exercise.name}__")}


def main() -> None:
    notebook, only = COURSE.find(sys.argv[1]), sys.argv[2:]
    for name, exercise in COURSE.exercises(notebook).items():
        if exercise.kind == "quiz" or (only and name not in only):
            continue
        if not exercise.inputs:
            print(f"{name}: no inputs")
            continue
        began = time.perf_counter()
        domain = Domain(exercise)
        took = (time.perf_counter() - began) / DRAWS
        refused = sum(seen.outcome != "returned" for seen in domain.expected)
        print(f"{name}: {1000 * took:.1f} ms a draw; refused in {refused} of {DRAWS}")
        for variant, answer in variants(exercise).items():
            if here := next(domain.differences(answer), None):
                print(f"  DIFFERS, THOUGH RIGHT  {variant}: {here[1].kind} with {dict(here[0].sizes)}")
        hidden = [one.name for one in exercise.mistakes.values() if not any(domain.differences(one.answer))]
        print(f"  {len(exercise.mistakes)} mistakes; not seen in any draw: {', '.join(hidden) or 'none'}", flush=True)


if __name__ == "__main__":
    main()
