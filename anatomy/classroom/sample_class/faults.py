"""What goes wrong with what students hand in: a fault breaks a submission on purpose, and says what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from anatomy.classroom.grading.report import GRADED, REPAIRED, UNGRADED
from anatomy.engine.answers import Answer
from anatomy.engine.course import Notebook
from anatomy.engine.exercise import Exercise
from anatomy.engine.notebook_files.notebooks import as_text, grade_id
from anatomy.wiring import the_course


@dataclass
class PlannedSubmission:
    """One notebook of one student, and the marks that it deserves."""

    student: str
    book: Notebook
    answers: dict[str, Answer | None]
    status: str = GRADED
    fault: str = ""
    marks: dict[str, float] = field(default_factory=dict)


def _not_json(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    text = as_text(notebook)
    file.write_text(text[: len(text) // 2], encoding="utf-8")
    submission.status = UNGRADED


def _missing(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    file.with_name("notes.txt").write_text("The notebook is on my other computer.\n", encoding="utf-8")
    submission.status = UNGRADED


def _lost_check(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    name = next(iter(submission.answers))
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) != f"check-{name}"]
    _save_repairable(submission, notebook, file)


def _endless_loop(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    name = _function(submission)
    _cell(notebook, name).source = f"def {name}(*inputs):\n    while True:\n        pass"
    submission.marks[name] = 0.0
    file.write_text(as_text(notebook), encoding="utf-8")


def _forged_check(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    """An answer that replaces the check instead of answering."""
    name = _function(submission)
    points = the_course().exercises(submission.book)[name].points
    _cell(notebook, name).source = "\n".join([
        "import anatomy.engine.checking", "", f"def {name}(*inputs):", "    return None", "",
        "def check(name):", f"    return {points}", "", "anatomy.engine.checking.check = check",
    ])  # fmt: skip
    submission.marks[name] = 0.0  # the cell is left out, so the checks behind it look as ever
    file.write_text(as_text(notebook), encoding="utf-8")


def _copied_cell(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    index = _position(notebook, next(iter(submission.answers)))
    copy = NotebookNode({**notebook.cells[index], "id": "a-copy"})
    notebook.cells.insert(index, copy)
    _save_repairable(submission, notebook, file)


def _stripped(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell["id"] = NotebookNode(), f"other-{number}"
    _save_repairable(submission, notebook, file)


def _other_name(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    _save_repairable(submission, notebook, file.with_name("my solution (final).ipynb"))


def _other_encoding(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    notebook.cells.append(new_markdown_cell("Erledigt gemäß Aufgabe.", id="remark"))
    file.write_bytes(as_text(notebook).encode("cp1252", errors="replace"))
    submission.status = REPAIRED


def _save_repairable(submission: PlannedSubmission, notebook: NotebookNode, file: Path) -> None:
    file.write_text(as_text(notebook), encoding="utf-8")
    submission.status = REPAIRED


FAULTS: dict[str, Callable[[PlannedSubmission, NotebookNode, Path], None]] = {
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


def _position(notebook: NotebookNode, name: str) -> int:
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def _cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return notebook.cells[_position(notebook, name)]


def _function(submission: PlannedSubmission) -> str:
    """The last exercise that asks for a function, so that no other answer calls it."""
    asked: dict[str, Exercise] = the_course().exercises(submission.book)
    return [name for name in submission.answers if asked[name].kind == "function"][-1]
