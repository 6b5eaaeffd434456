"""The two blocks side by side: each number is a link to the exercise in which that edit is made."""

from __future__ import annotations

import io
import re
from pathlib import Path

import nbformat
import numpy as np
from PIL import Image

from anatomy.course.views import two_blocks
from anatomy.course.views.modern import EDITS, ORANGE

MASTER = Path(__file__).parents[2] / "source/14-since-gpt-2/14-since-gpt-2.ipynb"
LINK = re.compile(
    r'<a href="\.\./14-since-gpt-2/14-since-gpt-2\.ipynb#cell-id=([\w-]+)" title="Edit (\d), [^"]*Exercise ([\d.]+)"'
    r"[^>]*left:([\d.]+)%;top:([\d.]+)%;width:([\d.]+)%;height:([\d.]+)%"
)


def test_each_edit_leads_to_its_exercise() -> None:
    cells = {cell.id: cell.source for cell in nbformat.read(MASTER, as_version=4).cells}
    found = LINK.findall(two_blocks().html())
    assert {int(edit) for _, edit, *_ in found} == set(EDITS) == {1, 2, 3, 4, 5}
    for cell, _, exercise, *_ in found:
        assert f"### Exercise {exercise} " in cells[cell]


def test_each_link_lies_over_its_number() -> None:
    picture = two_blocks()
    image = np.asarray(Image.open(io.BytesIO(picture.png())).convert("RGB")).astype(int)
    height, width, _ = image.shape
    orange = [int(ORANGE[start : start + 2], 16) for start in (1, 3, 5)]
    for *_, left, top, wide, high in LINK.findall(picture.html()):
        x, y = (float(left) + 0.18 * float(wide)) * width / 100, (float(top) + 0.5 * float(high)) * height / 100
        assert np.abs(image[round(y), round(x)] - orange).max() < 40, (left, top)
