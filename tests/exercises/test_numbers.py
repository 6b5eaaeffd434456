"""The number by which a card calls an exercise is the one in its notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anatomy.course import COURSE
from anatomy.engine.course import Notebook

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("notebook", COURSE.notebooks, ids=lambda notebook: notebook.slug)
def test_numbers_are_those_of_the_headings(notebook: Notebook) -> None:
    book = json.loads((ROOT / "source" / notebook.slug / f"{notebook.slug}.ipynb").read_text(encoding="utf-8"))
    text = "\n".join("".join(cell["source"]) for cell in book["cells"])
    headings = re.findall(r"^### Exercise (\d+\.\d+) · `(\w+)`", text, re.MULTILINE)
    known = COURSE.exercises(notebook)
    assert [(exercise.number, name) for name, exercise in known.items()] == headings
