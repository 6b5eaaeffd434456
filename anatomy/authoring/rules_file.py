"""Rules about the file and its cells."""

from __future__ import annotations

import copy
import json

from anatomy.authoring.master import Master
from anatomy.authoring.rules import Complaints, rule
from anatomy.engine.notebook_files.notebooks import as_text, clean

MOST_CELLS = 80  # the last two are the bug hunt of every notebook


@rule
def outputs(master: Master) -> Complaints:
    """A master holds no outputs and no execution counts."""
    for cell in master.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            yield cell.id, "Clear its output: a master holds none (`anatomy lint --fix`)."


@rule
def cell_ids(master: Master) -> Complaints:
    """Every cell has an id of its own."""
    seen: set[str] = set()
    for index, cell in enumerate(json.loads(master.text)["cells"]):
        cell_id = cell.get("id")
        if not cell_id:
            yield f"cell {index + 1}", "Give the cell an id."
        elif cell_id in seen:
            yield cell_id, f"Cell {index + 1} has the same id as an earlier one: give it another."
        seen.add(cell_id)


@rule
def file_form(master: Master) -> Complaints:
    """The file is stored as the build stores notebooks, so that a change of one line is one line in git."""
    if master.text != as_text(clean(copy.deepcopy(master.book))):
        yield "", "Its form on disk is not the usual one (keys sorted, a line a line): run `anatomy lint --fix`."


@rule
def length(master: Master) -> Complaints:
    """One concept a notebook."""
    if len(master.cells) > MOST_CELLS:
        yield "", f"It has {len(master.cells)} cells, more than {MOST_CELLS}: shorten it, or divide it."
