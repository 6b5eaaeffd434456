"""Runs cells of a master notebook by their ids, so that an experiment over seeds uses the notebook's own code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import nbformat

ROOT = Path(__file__).resolve().parent.parent
matplotlib.use("Agg")


def run_cells(slug: str, *ids: str) -> dict[str, Any]:
    """The names that these code cells of one master define, run in this order as one program."""
    notebook = nbformat.read(ROOT / "source" / slug / f"{slug}.ipynb", as_version=4)
    sources = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in ids:
        exec(compile(sources[cell], f"<{slug}: {cell}>", "exec"), names)
    return names
