"""nbgrader's step that writes marks into the gradebook."""

from __future__ import annotations

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from anatomy.classroom.grading.notes import CellNote


class SaveMarks(SaveAutoGrades):
    """nbgrader's `SaveAutoGrades`; but an answer that could not be judged has no mark and waits for a person."""

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        if CellNote.read(cell).status != "ungraded":
            super()._add_score(cell, resources)
            return
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score, grade.needs_manual_grade = None, True
        self.gradebook.db.commit()
