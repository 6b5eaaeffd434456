"""nbgrader's step that makes outputs safe to be shown."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from anatomy.classroom.grading.preprocessors.course_notebook import Converted


class PlainOutputs(NbGraderPreprocessor):
    """Leave nothing in what outputs say about themselves that a page's template would take over unquoted."""

    def preprocess_cell(self, cell: NotebookNode, resources: ResourcesDict, index: int) -> Converted:
        for output in cell.get("outputs", ()):
            if "metadata" in output:
                said = {mime: _size(of) for mime, of in output.metadata.items() if mime in output.get("data", {})}
                output.metadata = NotebookNode({mime: size for mime, size in said.items() if size})
        return cell, resources


def _size(said: Any) -> NotebookNode:
    """The width and height of a picture, if they are numbers."""
    known = said if isinstance(said, dict) else {}
    return NotebookNode({side: known[side] for side in ("width", "height") if type(known.get(side)) in (int, float)})
