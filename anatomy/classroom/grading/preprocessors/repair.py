"""nbgrader's step that repairs what was handed in; how, says `anatomy.classroom.grading.repair`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from anatomy.classroom.grading.assignments import student_edition
from anatomy.classroom.grading.errors import Unrepairable
from anatomy.classroom.grading.notes import EDITION, NOTE, NotebookNote
from anatomy.classroom.grading.preprocessors.course_notebook import Converted, course_notebook
from anatomy.classroom.grading.repair import NOTE_ID, answers_in, note_cell, repaired
from anatomy.engine.course import Notebook
from anatomy.wiring import the_course


class Repair(NbGraderPreprocessor):
    """Put a notebook into the shape that the later steps need; say in a first cell what was done.

    A worker of `anatomy grade` has put into the resources the student edition, as there may be no course's folder, and
    a note of what was wrong with the file and its folder. What is repaired here is added to it.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        if (book := course_notebook(resources)) is None:
            return nb, resources
        known = resources.get(NOTE, NotebookNote())
        edition = resources.get(EDITION) or student_edition(Path.cwd(), book.slug)  # nbgrader works in its folder
        try:
            fixed, notes = repaired(nb, edition)
        except Unrepairable as reason:
            raise Unrepairable(f"This is not {book.slug}. {reason}{_looks_like(nb)}") from None
        for note in notes:
            self.log.warning("Repaired: %s", note)
        if known.repairs:  # of the file
            notes = [*known.repairs, *notes]
            fixed.cells = [note_cell(notes), *(cell for cell in fixed.cells if cell.get("id") != NOTE_ID)]
        resources[NOTE] = replace(known, repairs=tuple(notes))
        return fixed, resources


def _looks_like(submitted: NotebookNode) -> str:
    """Which of the course's notebooks has the most of its answers in it, as the rest of a paragraph."""
    course = the_course()

    def answers(book: Notebook) -> int:
        return answers_in(submitted, course.exercises(book))

    best = max(course.notebooks, key=answers)
    return f" It looks like {best.slug}." if answers(best) else ""
