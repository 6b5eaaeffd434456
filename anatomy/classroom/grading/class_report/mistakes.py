"""The mistakes with a name that a class makes, and who holds each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anatomy.classroom.grading.class_report.records import Record
from anatomy.classroom.grading.class_report.unnamed import by_number


@dataclass(frozen=True)
class Mistake:
    """A mistake with a name: who holds it, of how many who have a mark for the exercise."""

    name: str
    sentence: str
    notebook: str
    exercise: str
    number: str
    holders: tuple[str, ...]
    of: int


def named_mistakes(records: Sequence[Record], numbers: Mapping[str, Mapping[str, str]]) -> tuple[Mistake, ...]:
    """Those that most students hold first; of equally many, in the order of the course."""
    holders: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    sentences: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    of = Counter((one.notebook, mark.exercise) for one in records for mark in one.result.marks
                 if mark.points is not None)  # fmt: skip
    for one in records:
        for mark in one.result.marks:
            for name, sentence in mark.mistakes.items():
                place = one.notebook, mark.exercise, name
                holders[place].append(one.student)
                sentences[place][sentence] += 1
    found = [
        Mistake(name, sentences[place].most_common(1)[0][0], slug, exercise, numbers[slug][exercise],
                tuple(sorted(holders[place])), of[slug, exercise])
        for place in holders
        for slug, exercise, name in [place]
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (-len(one.holders), one.notebook, by_number(one.number), one.name)))
