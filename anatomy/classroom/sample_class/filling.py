"""A notebook with answers in its cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from anatomy.classroom.grading.assignments import student_edition
from anatomy.engine.answers import Answer, AnswerBank, answer_bank
from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import grade_id
from anatomy.wiring import the_course


def filled(root: Path, book: Notebook, answers: Mapping[str, Answer | None]) -> NotebookNode:
    """The student edition with these answers in their cells; None leaves a cell as it is."""
    notebook = student_edition(root, book.slug)
    for cell in notebook.cells:
        answer = answers.get(grade_id(cell))
        if answer:
            cell.source = _answer_cell(book, answer, answers)
    return notebook


def _answer_cell(book: Notebook, answer: Answer, others: Mapping[str, Answer | None]) -> str:
    """The text of an answer cell. Where it calls another exercise that isn't the reference, it brings its own.

    Even a right variant may be narrower than the reference, e.g. take a batch axis for granted, as its exercise allows.
    """
    known = answer_bank(the_course(), book)
    used = [others.get(name) for name in _all_uses(known, answer)]
    by_name = all(other and other.name == "reference" for other in used)
    return answer.source if by_name else known.alone(answer)


def _all_uses(answers: AnswerBank, answer: Answer) -> set[str]:
    found: set[str] = set()
    waiting = list(answer.uses)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += [use for right in answers.right[name] for use in right.uses]
    return found
