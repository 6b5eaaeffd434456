"""Preprocessors for nbgrader's generate step, named in ``nbgrader_config.py``. Each does one thing."""

from __future__ import annotations

import re
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from anatomy.engine.notebook_files.notebooks import grade_id


class ClearAnswers(ClearSolutions):
    """nbgrader's `ClearSolutions`, but a quiz keeps its template: there is nothing to raise in a dict to be filled in.

    Takes its settings from the section `ClearSolutions`.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if not grade_id(cell).startswith("quiz_"):
            return super().preprocess_cell(cell, resources, cell_index)
        stubs = self.code_stub  # type: ignore[has-type]
        self.code_stub = {**stubs, resources["language"]: ""}
        try:
            cell, resources = super().preprocess_cell(cell, resources, cell_index)
        finally:
            self.code_stub = stubs
        lines = (re.sub(r"\s*# template$", "", line).rstrip() for line in cell.source.split("\n"))
        cell.source = "\n".join(lines).strip("\n")
        return cell, resources
