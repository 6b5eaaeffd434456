"""nbgrader's step that writes marks into the gradebook."""

from __future__ import annotations

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

from anatomy.classroom.grading.marks_by_hand import is_older, needs_a_person
from anatomy.classroom.grading.notes import CellNote


class SaveMarks(SaveAutoGrades):
    """nbgrader's `SaveAutoGrades`; but an answer that could not be judged has no mark and waits for a person.

    nbgrader has thrown away what was graded before: an answer that a person marked counts as changed when its check
    gives other points.
    """

    def _add_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        before, older = grade.auto_score, is_older(grade)
        if CellNote.read(cell).status == "ungraded":
            grade.auto_score = None
        else:
            super()._add_score(cell, resources)
        changed = older or before != grade.auto_score
        grade.needs_manual_grade = needs_a_person(grade, grade.auto_score, changed)
        self.gradebook.db.commit()
