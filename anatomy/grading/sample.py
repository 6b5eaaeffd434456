"""A made-up class whose true marks are known: for the demonstration, the tests and the benchmarks.

Its students have numbers, not names. Their answers are right, right in another style, mistaken in a known way or not
written; some submissions are broken in ways that happen.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from anatomy import exercises
from anatomy.authoring.notebooks import as_text, chosen
from anatomy.course import Notebook
from anatomy.errors import UserError
from anatomy.exercises import Exercise
from anatomy.grading.answers import Answer, Bank, bank
from anatomy.grading.masters import master
from anatomy.grading.report import GRADED, REPAIRED, UNGRADED

KNOWN_MARKS = "known-marks.csv"
"""The file in ``submitted/`` that holds the truth, and by which a made-up class is known as one."""


class NotASample(UserError):
    """There are submissions that no sample class wrote; they are left alone."""


@dataclass
class Submission:
    """One notebook of one student, and the marks that it deserves."""

    student: str
    book: Notebook
    answers: dict[str, Answer | None]
    status: str = GRADED
    fault: str = ""
    marks: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SampleClass:
    """What was written."""

    folder: Path
    known: Path
    students: int
    submissions: int
    broken: int


def write_sample_class(students: int, seed: int, root: Path, notebooks: Iterable[str] | None = None) -> SampleClass:
    """Write ``submitted/<student>/<notebook>/`` for a made-up class, and beside it the marks that it deserves.

    The same numbers give the same class. An earlier made-up class is replaced.

    Parameters
    ----------
    notebooks
        By slug or number; by default all that have a source.

    Raises
    ------
    NotASample
        When ``submitted/`` holds folders that no made-up class wrote.
    UserError
        When a notebook does not exist.
    """
    books = chosen(root, notebooks)
    folder = root / "submitted"
    _make_room(folder)
    plan = _plan(students, books, random.Random(f"sample class {seed}"))
    for submission in plan:
        _write(root, folder, submission)
    _write_known(plan, folder / KNOWN_MARKS)
    broken = sum(bool(submission.fault) for submission in plan)
    return SampleClass(folder, folder / KNOWN_MARKS, students, len(plan), broken)


def _make_room(folder: Path) -> None:
    known: set[str] = set()
    if (folder / KNOWN_MARKS).is_file():
        with (folder / KNOWN_MARKS).open(newline="", encoding="utf-8") as file:
            known = {line["student"] for line in csv.DictReader(file)}
    there = (
        {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")}
        if folder.is_dir()
        else set()
    )
    if strangers := sorted(there - known):
        raise NotASample(f"{folder} holds submissions that no sample class wrote ({', '.join(strangers[:3])}"
                         f"{' …' if len(strangers) > 3 else ''}). Nothing was written.")  # fmt: skip
    for name in there:
        shutil.rmtree(folder / name)


# ---------------------------------------------------------------------------------------------- who answers what


def _plan(students: int, books: list[Notebook], dice: random.Random) -> list[Submission]:
    """The first student knows everything, the second has not begun; some of the others' files are broken."""
    plan: list[Submission] = []
    for number in range(1, students + 1):
        for book in books:
            asked, answers = exercises.of_notebook(book), bank(book)
            chosen_answers: dict[str, Answer | None] = {}
            for name in asked:
                if number == 1:
                    chosen_answers[name] = answers.right[name][0]
                elif number == 2:
                    chosen_answers[name] = None
                else:
                    chosen_answers[name] = _draw(answers, name, dice)
            submission = Submission(f"student-{number:03d}", book, chosen_answers)
            submission.marks = {
                name: float(answer.points(asked[name]) if answer else 0) for name, answer in chosen_answers.items()
            }
            plan.append(submission)
    breakable = [submission for submission in plan if submission.student > "student-002"]
    dice.shuffle(breakable)
    for submission, fault in zip(breakable, FAULTS, strict=False):
        submission.fault = fault
    return plan


def _draw(answers: Bank, name: str, dice: random.Random) -> Answer | None:
    roll = dice.random()
    if roll < 0.1:
        return None
    if roll < 0.45 and answers.mistaken[name]:
        return dice.choice(answers.mistaken[name])
    return dice.choice(answers.right[name])


# ---------------------------------------------------------------------------------------------- what they hand in


def filled(root: Path, book: Notebook, answers: dict[str, Answer | None]) -> NotebookNode:
    """The student edition with these answers in their cells; None leaves a cell as it is."""
    notebook = master(root, book.slug)
    for cell in notebook.cells:
        answer = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if answer:
            cell.source = answer_cell(book, answer, answers)
    return notebook


def answer_cell(book: Notebook, answer: Answer, others: dict[str, Answer | None]) -> str:
    """The text of an answer cell. Where it calls another exercise that isn't the reference, it brings its own.

    Even a right variant may be narrower than the reference, e.g. take a batch axis for granted, as its exercise allows.
    """
    used = [others.get(name) for name in _all_uses(bank(book), answer)]
    by_name = all(other and other.name == "reference" for other in used)
    return answer.source if by_name else bank(book).alone(answer)


def _all_uses(answers: Bank, answer: Answer) -> set[str]:
    found: set[str] = set()
    waiting = list(answer.uses)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += [use for right in answers.right[name] for use in right.uses]
    return found


def _write(root: Path, folder: Path, submission: Submission) -> None:
    place = folder / submission.student / submission.book.slug
    place.mkdir(parents=True)
    notebook = filled(root, submission.book, submission.answers)
    file = place / f"{submission.book.slug}.ipynb"
    if submission.fault:
        FAULTS[submission.fault](submission, notebook, file)
    else:
        file.write_text(as_text(notebook), encoding="utf-8")


def _write_known(plan: list[Submission], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", "assignment", "status", "points", "max", "fault", "marks", "answers"])
        for one in plan:
            known = one.status != UNGRADED
            worth = sum(exercise.points for exercise in exercises.of_notebook(one.book).values())
            answers = {name: answer.name if answer else "not written" for name, answer in one.answers.items()}
            points = f"{sum(one.marks.values()):g}" if known else ""
            writer.writerow([
                one.student, one.book.slug, one.status, points, worth, one.fault,
                json.dumps(one.marks if known else {}), json.dumps(answers),
            ])  # fmt: skip


# ---------------------------------------------------------------------------------------------- what goes wrong


def _not_json(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    text = as_text(notebook)
    file.write_text(text[: len(text) // 2], encoding="utf-8")
    submission.status = UNGRADED


def _missing(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    file.with_name("notes.txt").write_text("The notebook is on my other computer.\n", encoding="utf-8")
    submission.status = UNGRADED


def _lost_check(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    name = next(iter(submission.answers))
    notebook.cells = [cell for cell in notebook.cells if _id(cell) != f"check-{name}"]
    _save_repairable(submission, notebook, file)


def _endless_loop(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    name = _function(submission)
    _cell(notebook, name).source = f"def {name}(*inputs):\n    while True:\n        pass"
    submission.marks[name] = 0.0
    file.write_text(as_text(notebook), encoding="utf-8")


def _forged_check(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    """An answer that replaces the check instead of answering."""
    name = _function(submission)
    points = exercises.of_notebook(submission.book)[name].points
    _cell(notebook, name).source = "\n".join([
        "import anatomy.checking", "", f"def {name}(*inputs):", "    return None", "",
        "def check(name):", f"    return {points}", "", "anatomy.checking.check = check",
    ])  # fmt: skip
    for other in submission.marks:  # from here on the notebook's own checks say nothing true
        if _position(notebook, f"check-{other}") > _position(notebook, name):
            submission.marks[other] = 0.0
    file.write_text(as_text(notebook), encoding="utf-8")


def _copied_cell(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    index = _position(notebook, next(iter(submission.answers)))
    copy = NotebookNode({**notebook.cells[index], "id": "a-copy"})
    notebook.cells.insert(index, copy)
    _save_repairable(submission, notebook, file)


def _stripped(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell["id"] = NotebookNode(), f"other-{number}"
    _save_repairable(submission, notebook, file)


def _other_name(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    _save_repairable(submission, notebook, file.with_name("my solution (final).ipynb"))


def _other_encoding(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    notebook.cells.append(new_markdown_cell("Erledigt gemäß Aufgabe.", id="remark"))
    file.write_bytes(as_text(notebook).encode("cp1252", errors="replace"))
    submission.status = REPAIRED


def _save_repairable(submission: Submission, notebook: NotebookNode, file: Path) -> None:
    file.write_text(as_text(notebook), encoding="utf-8")
    submission.status = REPAIRED


FAULTS: dict[str, Callable[[Submission, NotebookNode, Path], None]] = {
    "not JSON": _not_json,
    "no notebook": _missing,
    "check cell deleted": _lost_check,
    "endless loop": _endless_loop,
    "check replaced": _forged_check,
    "answer cell copied": _copied_cell,
    "metadata stripped": _stripped,
    "other file name": _other_name,
    "not UTF-8": _other_encoding,
}


def _id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _position(notebook: NotebookNode, name: str) -> int:
    return next(index for index, cell in enumerate(notebook.cells) if _id(cell) == name)


def _cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return notebook.cells[_position(notebook, name)]


def _function(submission: Submission) -> str:
    """The last exercise that asks for a function, so that no other answer calls it."""
    asked: dict[str, Exercise] = exercises.of_notebook(submission.book)
    return [name for name in submission.answers if asked[name].kind == "function"][-1]
