"""nbgrader's step that repairs what was handed in; how, says `anatomy.grading.repair`."""

from __future__ import annotations

from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from anatomy.grading.assignments import student_edition
from anatomy.grading.preprocessors.course_notebook import Converted, course_notebook
from anatomy.grading.repair import NOTE, NOTE_ID, note_cell, repaired


class Repair(NbGraderPreprocessor):
    """Put a notebook into the shape that the later steps need; say in a first cell what was done.

    A worker of `anatomy grade` finds in the resources the student edition, as it may have no course's folder, and notes
    on what was wrong with the file and its folder. All notes are left there.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> Converted:
        if (book := course_notebook(resources)) is None:
            return nb, resources
        known = resources.setdefault(NOTE, {})
        edition = known.get("student edition") or student_edition(Path.cwd(), book.slug)  # nbgrader works in its folder
        fixed, notes = repaired(nb, edition)
        for note in notes:
            self.log.warning("Repaired: %s", note)
        if of_the_file := known.get("notes", []):
            notes = [*of_the_file, *notes]
            fixed.cells = [note_cell(notes), *(cell for cell in fixed.cells if cell.get("id") != NOTE_ID)]
        known["notes"] = notes
        return fixed, resources
