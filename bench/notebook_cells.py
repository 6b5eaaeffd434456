"""Runs cells of a master notebook by their ids, so that an experiment over seeds uses the notebook's own code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib
import nbformat

ROOT = Path(__file__).resolve().parent.parent
matplotlib.use("Agg")


def run_cells(slug: str, *ids: str, seed: int = 0, shift: int = 0) -> dict[str, Any]:
    """The names that these code cells of one master define, run in this order as one program.

    From 07 on the masters draw from seed 0; another `seed` takes its place in `manual_seed(0)` and in `seed: int = 0`.
    The cells of 01 to 06 each have a seed of their own: `shift` is added to every number in `manual_seed(…)`.
    """
    notebook = nbformat.read(ROOT / "source" / slug / f"{slug}.ipynb", as_version=4)
    sources = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in ids:
        source = sources[cell].replace("manual_seed(0)", f"manual_seed({seed})")
        source = source.replace("seed: int = 0", f"seed: int = {seed}")
        source = re.sub(r"manual_seed\((\d+)\)", lambda found: f"manual_seed({int(found[1]) + shift})", source)
        exec(compile(source, f"<{slug}: {cell}>", "exec"), names)
    return names
