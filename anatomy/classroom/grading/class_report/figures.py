"""What the report counts. A class is small: what rests on few students is left blank, not rounded up to a finding."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anatomy.classroom.grading.class_report.exercises import ExerciseFigures, exercise_figures
from anatomy.classroom.grading.class_report.mistakes import Mistake, named_mistakes
from anatomy.classroom.grading.class_report.records import Record
from anatomy.classroom.grading.class_report.stopped import was_stopped
from anatomy.classroom.grading.class_report.unnamed import Unnamed, by_number, unnamed_groups
from anatomy.classroom.grading.report import PARTLY, REPAIRED, UNGRADED
from anatomy.wiring import the_course

BINS = 10
"""Bars in a picture of how a notebook's marks are distributed."""


@dataclass(frozen=True)
class StudentMark:
    """A student's points in one notebook; `known` is what is certain while answers are open."""

    known: float
    worth: float
    status: str

    @property
    def is_certain(self) -> bool:
        return self.status not in (PARTLY, UNGRADED)

    @property
    def share(self) -> float | None:
        return self.known / self.worth if self.is_certain and self.worth else None


@dataclass(frozen=True)
class StudentRow:
    """`change` is how much of the points more there is in the last notebook than in the one before, −1 to 1."""

    student: str
    marks: Mapping[str, StudentMark]
    share: float | None
    change: float | None


@dataclass(frozen=True)
class NotebookFigures:
    """`change` is the mean change since the notebook before it, of the `both` students who have marks in both."""

    slug: str
    title: str
    worth: float
    graded: int
    mean: float | None
    median: float | None
    bins: tuple[int, ...]
    before: str
    change: float | None
    both: int
    exercises: tuple[ExerciseFigures, ...]


@dataclass(frozen=True)
class Remark:
    """Something that a person should know, about a submission or one `exercise` of it."""

    student: str
    notebook: str
    text: str
    exercise: str = ""


@dataclass(frozen=True)
class Figures:
    """All that the report says."""

    students: tuple[StudentRow, ...] = ()
    notebooks: tuple[NotebookFigures, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    unnamed: tuple[Unnamed, ...] = ()
    open: tuple[Remark, ...] = ()
    stopped: tuple[Remark, ...] = ()
    repaired: tuple[Remark, ...] = ()
    graded: int = 0

    @property
    def shared(self) -> list[Mistake]:
        """Mistakes that several students make."""
        return [mistake for mistake in self.mistakes if len(mistake.holders) > 1]

    @property
    def single(self) -> list[Mistake]:
        """Mistakes of one student each, in the order of the course."""
        alone = [mistake for mistake in self.mistakes if len(mistake.holders) == 1]
        return sorted(alone, key=lambda one: (one.notebook, by_number(one.number), one.name))


def figures(records: Sequence[Record]) -> Figures:
    """Count."""
    slugs = sorted({one.notebook for one in records if one.result.marks})
    numbers = {slug: _numbers(slug, records) for slug in slugs}
    students = _students(records, slugs)
    steps = zip(slugs, ["", *slugs[:-1]], strict=True)
    stopped = [(one, mark) for one in records for mark in one.result.marks if was_stopped(mark.status, mark.said)]
    return Figures(
        students,
        tuple(_notebook(slug, before, records, students, numbers[slug]) for slug, before in steps),
        named_mistakes(records, numbers),
        unnamed_groups(records, numbers),
        tuple(Remark(one.student, one.notebook, one.open) for one in records if one.open),
        tuple(Remark(one.student, one.notebook, mark.said, mark.exercise) for one, mark in stopped),
        tuple(Remark(one.student, one.notebook, " ".join(one.result.reasons))
              for one in records if one.result.status == REPAIRED),
        sum(one.result.status != UNGRADED for one in records),
    )  # fmt: skip


def _numbers(slug: str, records: Iterable[Record]) -> dict[str, str]:
    """Exercise → its number, such as "3.1", in the notebook's order."""
    asked = dict.fromkeys(mark.exercise for one in records if one.notebook == slug for mark in one.result.marks)
    first = str(int(slug[:2])) if slug[:2].isdecimal() else slug
    return {exercise: f"{first}.{place}" for place, exercise in enumerate(asked, 1)}


def _students(records: Iterable[Record], slugs: Sequence[str]) -> tuple[StudentRow, ...]:
    by_student: dict[str, dict[str, StudentMark]] = defaultdict(dict)
    for one in records:
        known = one.result.points
        if known is None:
            known = sum(mark.points or 0.0 for mark in one.result.marks)
        by_student[one.student][one.notebook] = StudentMark(known, one.result.worth, one.result.status)
    rows = []
    for student, marks in sorted(by_student.items()):
        certain = [mark for mark in marks.values() if mark.is_certain]
        worth = sum(mark.worth for mark in certain)
        share = sum(mark.known for mark in certain) / worth if worth else None
        change = _difference(marks, slugs[-2], slugs[-1]) if len(slugs) > 1 else None
        rows.append(StudentRow(student, marks, share, change))
    return tuple(rows)


def _difference(marks: Mapping[str, StudentMark], before: str, after: str) -> float | None:
    earlier, later = (marks[slug].share if slug in marks else None for slug in (before, after))
    return None if earlier is None or later is None else later - earlier


def _notebook(
    slug: str, before: str, records: Sequence[Record], students: Sequence[StudentRow], numbers: Mapping[str, str]
) -> NotebookFigures:
    title = next((book.title for book in the_course().notebooks if book.slug == slug), slug)
    marks = [row.marks[slug] for row in students if slug in row.marks]
    shares = [mark.share for mark in marks if mark.share is not None]
    bins = Counter(min(BINS - 1, int(share * BINS)) for share in shares)
    differences = [_difference(row.marks, before, slug) for row in students] if before else []
    changes = [difference for difference in differences if difference is not None]
    answered = [{mark.exercise: mark for mark in one.result.marks} for one in records if one.notebook == slug]
    return NotebookFigures(
        slug, title, max((mark.worth for mark in marks), default=0.0), len(shares),
        statistics.fmean(shares) if shares else None, statistics.median(shares) if shares else None,
        tuple(bins[number] for number in range(BINS)), before, statistics.fmean(changes) if changes else None,
        len(changes), tuple(exercise_figures(name, number, answered) for name, number in numbers.items()),
    )  # fmt: skip
