"""Plan a made-up class and write what it hands in, with the marks that it deserves."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anatomy.classroom.grading.known_marks import KNOWN_MARKS, KnownSubmission, read_known_marks, write_known_marks
from anatomy.classroom.sample_class.faults import FAULTS, PlannedSubmission
from anatomy.classroom.sample_class.filling import filled
from anatomy.classroom.sample_class.removing import NotASample, remove_sample_class
from anatomy.engine.answers import Answer, AnswerBank, answer_bank
from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import as_text, chosen
from anatomy.wiring import the_course


@dataclass(frozen=True)
class SampleClass:
    """What was written, and how many students an earlier class had that it replaces."""

    folder: Path
    known: Path
    students: int
    submissions: int
    broken: int
    replaced: int = 0


def write_sample_class(
    students: int, seed: int, root: Path, notebooks: Iterable[str] | None = None, *, faults: bool = True
) -> SampleClass:
    """Write ``submitted/<student>/<notebook>/`` for a made-up class, and beside it the marks that it deserves.

    The same numbers give the same class. An earlier made-up class is removed, with its marks and pages.

    Parameters
    ----------
    notebooks
        By slug or number; by default all that have a source.
    faults
        Break some submissions.

    Raises
    ------
    NotASample
        When ``submitted/`` holds folders that no made-up class wrote.
    CannotRecord
        When the marks of an earlier class can't be removed.
    UserError
        When a notebook does not exist.
    """
    books = chosen(the_course(), root, notebooks)
    folder = root / "submitted"
    replaced = _remove_earlier_class(root, folder)
    plan = _plan(students, books, random.Random(f"sample class {seed}"), faults)
    for submission in plan:
        _write(root, folder, submission)
    write_known_marks(map(_known, plan), folder / KNOWN_MARKS)
    broken = sum(bool(submission.fault) for submission in plan)
    return SampleClass(folder, folder / KNOWN_MARKS, students, len(plan), broken, replaced)


def _remove_earlier_class(root: Path, folder: Path) -> int:
    """Remove an earlier made-up class. Returns how many students it had."""
    known = {one.student for one in read_known_marks(folder / KNOWN_MARKS)}
    paths = folder.iterdir() if folder.is_dir() else ()
    there = {path.name for path in paths if path.is_dir() and not path.name.startswith(".")}
    if strangers := sorted(there - known):
        raise NotASample(f"{folder} holds submissions that no sample class wrote ({', '.join(strangers[:3])}"
                         f"{' …' if len(strangers) > 3 else ''}). Nothing was written.")  # fmt: skip
    return remove_sample_class(root) if known else 0


def _plan(students: int, books: list[Notebook], dice: random.Random, faults: bool) -> list[PlannedSubmission]:
    """The first student knows everything, the second has not begun; some of the others' files are broken."""
    plan: list[PlannedSubmission] = []
    for number in range(1, students + 1):
        for book in books:
            asked, answers = the_course().exercises(book), answer_bank(the_course(), book)
            chosen_answers: dict[str, Answer | None] = {}
            for name in asked:
                if number == 1:
                    chosen_answers[name] = answers.right[name][0]
                elif number == 2:
                    chosen_answers[name] = None
                else:
                    chosen_answers[name] = _draw(answers, name, dice)
            submission = PlannedSubmission(f"student-{number:03d}", book, chosen_answers)
            submission.marks = {
                name: float(answer.points(asked[name]) if answer else 0) for name, answer in chosen_answers.items()
            }
            plan.append(submission)
    breakable = [submission for submission in plan if submission.student > "student-002"]
    dice.shuffle(breakable)
    for submission, fault in zip(breakable, FAULTS if faults else (), strict=False):
        submission.fault = fault
    return plan


def _draw(answers: AnswerBank, name: str, dice: random.Random) -> Answer | None:
    roll = dice.random()
    if roll < 0.1:
        return None
    if roll < 0.45 and answers.mistaken[name]:
        return dice.choice(answers.mistaken[name])
    return dice.choice(answers.right[name])


def _write(root: Path, folder: Path, submission: PlannedSubmission) -> None:
    place = folder / submission.student / submission.book.slug
    place.mkdir(parents=True)
    notebook = filled(root, submission.book, submission.answers)
    file = place / f"{submission.book.slug}.ipynb"
    if submission.fault:
        FAULTS[submission.fault](submission, notebook, file)
    else:
        file.write_text(as_text(notebook), encoding="utf-8")


def _known(one: PlannedSubmission) -> KnownSubmission:
    worth = sum(exercise.points for exercise in the_course().exercises(one.book).values())
    answers = {name: answer.name if answer else "not written" for name, answer in one.answers.items()}
    return KnownSubmission(one.student, one.book.slug, one.status, worth, one.fault, one.marks, answers)
