"""What several steps need to know of the notebook they are given."""

from __future__ import annotations

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils

from anatomy.engine.course import Notebook
from anatomy.engine.exercise import Exercise
from anatomy.wiring import the_course

Converted = tuple[NotebookNode, ResourcesDict]
"""What nbgrader's steps return."""


def course_notebook(resources: ResourcesDict) -> Notebook | None:
    """The course's notebook that is being converted, or None for an assignment of somebody else's."""
    try:
        return the_course().notebook(resources["nbgrader"]["notebook"])
    except KeyError:
        return None


def checked_exercise(cell: NotebookNode, book: Notebook) -> Exercise | None:
    """The exercise that a graded cell checks, or None."""
    if cell.cell_type != "code" or not utils.is_grade(cell):
        return None
    name = str(cell.metadata.nbgrader.grade_id)
    return the_course().exercises(book).get(name.removeprefix("check-")) if name.startswith("check-") else None


def displayed(html: str, text: str) -> NotebookNode:
    """An output that shows this."""
    return new_output("display_data", data={"text/html": html, "text/plain": text})
