"""What the report counts. A class is small: what rests on few students is left blank, not rounded up to a finding."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from anatomy.classroom.grading.class_report.exercises import ExerciseFigures, exercise_figures
from anatomy.classroom.grading.class_report.named import Mistake, in_course, named_mistakes
from anatomy.classroom.grading.class_report.questions import Questions
from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.class_report.stopped import broke_the_check, was_stopped
from anatomy.classroom.grading.class_report.unnamed import Unnamed, unnamed_groups
from anatomy.classroom.grading.report import GRADED, PARTLY, REPAIRED, SIGNS, UNGRADED
from anatomy.wiring import the_course

BINS = 10
"""Bars in a picture of how a notebook's marks are distributed."""
DEAREST = 5
"""Exercises that the report puts first."""
TO_TEACH = 10
"""Mistakes that the report puts first."""


@dataclass(frozen=True)
class StudentMark:
    """A student's points in one notebook: `known` is what is certain while answers are open, `signs` stand behind."""

    known: float
    worth: float
    status: str
    signs: str = ""

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
    total: StudentMark
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

    @property
    def hardest(self) -> ExerciseFigures | None:
        """The exercise of whose points the class has the smallest share; None where it has all points, or no marks."""
        found = [one for one in self.exercises if one.difficulty is not None and one.difficulty < 1]
        return min(found, key=lambda one: one.difficulty or 0.0, default=None)


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
    broken_checks: tuple[Remark, ...] = ()
    repaired: tuple[Remark, ...] = ()
    late: tuple[Remark, ...] = ()
    graded: int = 0
    wrong: int = 0
    recognized: int = 0

    @property
    def signs(self) -> list[str]:
        """What the signs in the table of marks say that not every class has."""
        return [
            words for sign, words in SIGNS.items()
            if any(sign in mark.signs for row in self.students for mark in row.marks.values())
        ]  # fmt: skip

    @property
    def worth(self) -> float:
        return sum(book.worth for book in self.notebooks)

    @property
    def to_teach(self) -> list[Mistake]:
        """Of the mistakes that several students make, those that cost the class most points."""
        return [mistake for mistake in self.mistakes if len(mistake.holders) > 1 and mistake.lost][:TO_TEACH]

    @property
    def other(self) -> list[Mistake]:
        """All other mistakes by notebook; in each, those of most students first, then those that cost most."""
        first = self.to_teach
        others = sorted((mistake for mistake in self.mistakes if mistake not in first), key=in_course)
        return sorted(others, key=lambda one: (one.notebook, -len(one.holders), -one.lost))

    @property
    def dearest(self) -> list[ExerciseFigures]:
        """The exercises that cost the class most points."""
        found = [one for book in self.notebooks for one in book.exercises if one.lost]
        return sorted(found, key=lambda one: -one.lost)[:DEAREST]


def figures(records: Sequence[Record], asked: Questions | None = None) -> Figures:
    """Count. A quiz's mistakes stand with their question where it is `asked`."""
    slugs = sorted({one.notebook for one in records if one.result.marks})
    numbers = {slug: _numbers(slug, records) for slug in slugs}
    students = _students(records, slugs)
    wrong = [mark for one in records for mark in one.result.marks if mark.status == "wrong"]
    return Figures(
        students,
        tuple(_notebook(slug, before, records, students, numbers[slug])
              for before, slug in pairwise(["", *slugs])),
        named_mistakes(records, numbers, asked or {}),
        unnamed_groups(records, numbers),
        tuple(Remark(one.student, one.notebook, one.open) for one in records if one.open),
        _remarks_where(was_stopped, records),
        _remarks_where(broke_the_check, records),
        tuple(Remark(one.student, one.notebook, " ".join(one.result.reasons))
              for one in records if one.result.status == REPAIRED),
        tuple(Remark(one.student, one.notebook, one.result.late) for one in records if one.result.late),
        sum(one.result.status != UNGRADED for one in records),
        len(wrong),
        sum(bool(mark.mistakes) for mark in wrong),
    )  # fmt: skip


def _remarks_where(holds: Callable[[str, str], bool], records: Iterable[Record]) -> tuple[Remark, ...]:
    """What was said of the answers whose status and verdict are such."""
    found = [(one, mark) for one in records for mark in one.result.marks if holds(mark.status, mark.said)]
    return tuple(Remark(one.student, one.notebook, mark.said, mark.exercise) for one, mark in found)


def _numbers(slug: str, records: Iterable[Record]) -> dict[str, str]:
    """Exercise → its number, such as "3.1", in the notebook's order."""
    asked = dict.fromkeys(mark.exercise for one in records if one.notebook == slug for mark in one.result.marks)
    first = str(int(slug[:2])) if slug[:2].isdecimal() else slug
    return {exercise: f"{first}.{place}" for place, exercise in enumerate(asked, 1)}


def _students(records: Iterable[Record], slugs: Sequence[str]) -> tuple[StudentRow, ...]:
    by_student: dict[str, dict[str, StudentMark]] = defaultdict(dict)
    for one in records:
        result, known = one.result, one.result.points
        if known is None:
            known = sum(mark.points or 0.0 for mark in result.marks)
        by_student[one.student][one.notebook] = StudentMark(known, result.worth, result.status, result.signs)
    for one in records:
        if one.result.meant:  # the file is in the list of what waits; its notebook was handed in all the same
            by_student[one.student].setdefault(one.result.meant, by_student[one.student][one.notebook])
    rows = []
    for student, marks in sorted(by_student.items()):
        certain = [mark for mark in marks.values() if mark.is_certain]
        worth = sum(mark.worth for mark in certain)
        share = sum(mark.known for mark in certain) / worth if worth else None
        nothing = all(mark.status == UNGRADED for mark in marks.values())
        status = UNGRADED if nothing else GRADED if len(certain) == len(marks) else PARTLY
        total = StudentMark(sum(mark.known for mark in marks.values()), worth, status)
        change = _difference(marks, slugs[-2], slugs[-1]) if len(slugs) > 1 else None
        rows.append(StudentRow(student, marks, total, share, change))
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
