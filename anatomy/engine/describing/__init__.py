"""What the judge makes of raw results: words for what was seen, and rules that many right values meet.

An exercise's `act` runs beside student code and returns raw data. What these mean is said here, where no student code
runs: a kernel that grades and a class's edition do not have this package. One module per notebook that needs it; each
has `DESCRIPTIONS`, exercise → `Description`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec

from anatomy.exercises.spec import Describe, Exercise, Rule


@dataclass(frozen=True)
class Description:
    """What is said of an exercise's raw results: see `Exercise.describe` and `Exercise.rules`."""

    describe: Describe | None = None
    rules: Mapping[str, Rule] = field(default_factory=dict)


def for_judging(exercise: Exercise) -> Exercise:
    """The exercise with what the judge makes of its results."""
    module = f"{__name__}.{exercise.notebook.module}"
    if exercise.describe or exercise.rules or find_spec(module) is None:
        return exercise
    known: dict[str, Description] = import_module(module).DESCRIPTIONS
    said = known.get(exercise.name, Description())
    return replace(exercise, describe=said.describe, rules=said.rules)
