"""Wrong answers that nobody could name, those together that one edit would name.

Two stand together when they gave equal numbers in one run, where all see the same inputs; or when their programs are
the same but for comments, spaces and names of variables, which joins the groups of several runs. An answer that gave no
numbers stands with those that break the same properties and of which the check said the same.
"""

from __future__ import annotations

import ast
import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from anatomy.classroom.grading.class_report.edit_stub import edit_stub
from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.class_report.stopped import broke_the_check, was_stopped
from anatomy.classroom.grading.notes import FewNumbers
from anatomy.classroom.grading.report import Mark

SAME_NUMBERS = 1e-3
"""How far numbers that count as equal may lie apart, relative to the largest: three digits."""
MOST_EXAMPLES = 3
"""Of programs that are wrong in the same way only as far as one can see; of equal numbers one is enough."""

Wrong = tuple[Record, Mark]
"""A wrong answer: whose, and what was recorded."""


@dataclass(frozen=True)
class Example:
    """A program, and who has handed it in; comments, spaces and names of variables may differ."""

    program: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Unnamed:
    """Wrong answers without a name.

    `equal` tells that their numbers are; `others` are in no example; `stub` is the beginning of what would name them.
    `told` counts the students, of this exercise's other groups, too, whose cards begin with the same sentence.
    """

    notebook: str
    exercise: str
    number: str
    broken: tuple[str, ...]
    said: str
    students: tuple[str, ...]
    examples: tuple[Example, ...]
    others: tuple[str, ...]
    equal: bool
    stub: str
    told: int


def unnamed_groups(records: Iterable[Record], numbers: Mapping[str, Mapping[str, str]]) -> tuple[Unnamed, ...]:
    """The groups, those of most students first; `numbers` has each exercise's, by notebook."""
    by_exercise: dict[tuple[str, str], list[Wrong]] = defaultdict(list)
    for one in records:
        for mark in one.result.marks:
            had_no_end = was_stopped(mark.status, mark.said) or broke_the_check(mark.status, mark.said)
            if mark.status == "wrong" and not mark.mistakes and not had_no_end:
                by_exercise[one.notebook, mark.exercise].append((one, mark))
    found = [
        _group(those, numbers[slug][exercise], Counter(mark.said for _, mark in wrong))
        for (slug, exercise), wrong in by_exercise.items()
        for those in _together(wrong)
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.students), one.notebook, by_number(one.number), one.said)))


def by_number(number: str) -> tuple[str, int]:
    """By what the numbers of exercises are put in order: 3.10 after 3.9."""
    head, _, last = number.rpartition(".")
    return head, int(last or 0)


def _group(those: Sequence[Wrong], number: str, told: Mapping[str, int]) -> Unnamed:
    record, mark = those[0]
    broken, said = Counter((mark.broken, mark.said) for _, mark in those).most_common(1)[0][0]
    equal = bool(_numbers(record, mark))
    students = tuple(sorted(one.student for one, _ in those))
    examples = _examples(mark.exercise, [one for one, _ in those])[: 1 if equal else MOST_EXAMPLES]
    shown = {student for example in examples for student in example.students}
    others = tuple(student for student in students if student not in shown)
    stub = edit_stub(record.notebook, mark.exercise, examples[0].program, broken) if examples else ""
    return Unnamed(record.notebook, mark.exercise, number, broken, said, students, examples, others, equal, stub,
                   told[said])  # fmt: skip


def _examples(exercise: str, those: Iterable[Record]) -> tuple[Example, ...]:
    """Programs that differ, those that most have written first, then the shortest."""
    alike: dict[str, list[Record]] = defaultdict(list)
    for one in those:
        if program := one.answers.get(exercise, "").strip():
            alike[essence(program)].append(one)
    found = [
        Example(
            min((one.answers[exercise].strip() for one in same), key=len), tuple(sorted(one.student for one in same))
        )
        for same in alike.values()
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.students), len(one.program))))


# ---- what stands together -------------------------------------------------------------------------------------------


def _together(wrong: Iterable[Wrong]) -> list[list[Wrong]]:
    """Answers to one exercise in groups: whoever shares a reason with one of a group is in it."""
    groups: list[tuple[list[Wrong], set[Hashable]]] = []
    seen: dict[Hashable, list[FewNumbers]] = defaultdict(list)
    for one in wrong:
        members, reasons = [one], _reasons(*one, seen)
        apart = []
        for group in groups:
            if group[1].isdisjoint(reasons):
                apart.append(group)
            else:
                members, reasons = group[0] + members, reasons | group[1]
        groups = [*apart, (members, reasons)]
    return [members for members, _ in groups]


def _reasons(record: Record, mark: Mark, seen: dict[Hashable, list[FewNumbers]]) -> set[Hashable]:
    """Why an answer stands with others; `seen` has the numbers that answers gave before it."""
    numbers = _numbers(record, mark)
    if not numbers:
        return {("said", mark.broken, mark.said)}
    alike = seen[record.seeds, mark.broken, tuple(words for words, _, _ in numbers)]
    at = next((index for index, known in enumerate(alike) if _equal(numbers, known)), len(alike))
    if at == len(alike):
        alike.append(numbers)
    reasons: set[Hashable] = {("numbers", id(alike), at)}
    if program := record.answers.get(mark.exercise, "").strip():
        reasons.add(("program", essence(program)))
    return reasons


def _numbers(record: Record, mark: Mark) -> FewNumbers:
    """The numbers that an answer gave; none when all its cases stopped."""
    numbers = record.numbers.get(mark.exercise, ())
    return numbers if any(words.startswith("returned") for words, _, _ in numbers) else ()


def _equal(one: FewNumbers, other: FewNumbers) -> bool:
    """Whether numbers with the same words are the same but for rounding."""
    return all(
        math.isclose(largest, size, rel_tol=SAME_NUMBERS) and abs(mixture - mixed) <= SAME_NUMBERS * max(largest, size)
        for (_, largest, mixture), (_, size, mixed) in zip(one, other, strict=True)
    )


class _Numbered(ast.NodeTransformer):
    """Numbers in place of the names that a program gives to variables."""

    def __init__(self, tree: ast.AST) -> None:
        bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        self.numbers = {name: f"v{number}" for number, name in enumerate(dict.fromkeys(bound))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.numbers.get(node.id, node.id), node.ctx)


def essence(program: str) -> str:
    """The program without comments, spaces and names of variables; text that is no program as it is."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.parse(program)
        return ast.dump(_Numbered(tree).visit(tree))
    return program
