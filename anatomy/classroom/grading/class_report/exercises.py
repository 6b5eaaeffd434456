"""What became of an exercise: how many solved it, how hard it was, and whether it tells who knows the rest."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from anatomy.classroom.grading.report import Mark

FEWEST = 5
"""Students below whom nothing is correlated."""
KINDS = ("full", "partial", "none", "not attempted", "ungraded")
"""What can become of an exercise, in the order of its bar."""


@dataclass(frozen=True)
class ExerciseFigures:
    """`difficulty` is the share of its points that the class has, `lost` how many it has not, `discrimination` the
    correlation with the rest.
    """

    name: str
    number: str
    worth: float
    counts: Mapping[str, int]
    difficulty: float | None
    lost: float
    discrimination: float | None


def exercise_figures(name: str, number: str, answered: Iterable[Mapping[str, Mark]]) -> ExerciseFigures:
    """`answered` has exercise → mark of each submission."""
    those = [marks for marks in answered if name in marks]
    counts = Counter(kind_of(marks[name]) for marks in those)
    judged = [marks for marks in those if marks[name].points is not None and not marks[name].is_older]
    worth = sum(marks[name].worth for marks in judged)
    points = sum(marks[name].points or 0.0 for marks in judged)
    return ExerciseFigures(name, number, max((marks[name].worth for marks in those), default=0.0),
                           {kind: counts[kind] for kind in KINDS}, points / worth if worth else None,
                           round(worth - points, 6), _discrimination(name, judged))  # fmt: skip


def kind_of(mark: Mark) -> str:
    """One of `KINDS`. A mark that a person gave to an earlier answer says nothing of the new one."""
    if mark.points is None or mark.is_older:
        return "ungraded"
    if mark.status == "not attempted" and not mark.points:
        return "not attempted"
    if not mark.worth:  # optional
        return "full" if mark.status == "right" else "none"
    return "full" if mark.points >= mark.worth else "partial" if mark.points > 0 else "none"


def _discrimination(name: str, judged: Iterable[Mapping[str, Mark]]) -> float | None:
    """Pearson's correlation of the exercise's points with the share of all other points of the notebook."""
    own, rest = [], []
    for marks in judged:
        others = [mark for mark in marks.values() if mark.exercise != name and mark.points is not None]
        if worth := sum(mark.worth for mark in others):
            own.append(marks[name].points or 0.0)
            rest.append(sum(mark.points or 0.0 for mark in others) / worth)
    if len(own) < FEWEST or len(set(own)) == 1 or len(set(rest)) == 1:
        return None
    return statistics.correlation(own, rest)
