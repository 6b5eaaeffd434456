"""What the judge makes of raw results: words for what was seen, and rules that many right values meet.

An exercise's `act` runs beside student code and returns raw data. What these mean is said here, where no student code
runs: a kernel that grades and a class's edition have neither this package nor a notebook's `described.py`, which has
`DESCRIPTIONS`, exercise → `Description`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from anatomy.engine.exercise import Describe, Exercise, Rule


@dataclass(frozen=True)
class Description:
    """What is said of an exercise's raw results: see `Exercise.describe` and `Exercise.rules`."""

    describe: Describe | None = None
    rules: Mapping[str, Rule] = field(default_factory=dict)

    def of(self, exercise: Exercise) -> Exercise:
        """The exercise, with this said of its results."""
        return replace(exercise, describe=self.describe, rules=self.rules)
