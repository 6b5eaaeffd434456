"""A student solves an exercise in JupyterLab, finds a bug in a wrong answer to it, and sees how far they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from anatomy.course import COURSE
from anatomy.engine.hunting.bugs import bugs_of
from anatomy.engine.hunting.puzzle import puzzle_of
from anatomy.engine.notebook_files.notebooks import METADATA, write
from tests.browser.lab import SLOW, Lab

SOLVED = """def softmax(x, dim):
    exps = torch.exp(x - x.amax(dim, keepdim=True))
    return exps / exps.sum(dim, keepdim=True)
"""
HUNT = 'hunt("03-softmax"'

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_a_student_finds_a_bug(lab: Lab, tmp_path: Path) -> None:
    cells = [
        "import torch\nfrom anatomy import check",
        SOLVED,
        'check("softmax")',
        f"import os\nfrom anatomy import hunt\n\nos.environ['ANATOMY_HOME'] = {str(tmp_path)!r}\n{HUNT})",
    ]  # a progress file of its own: other tests have solved this exercise
    path = tmp_path / "hunting" / "hunting.ipynb"
    write(new_notebook(cells=list(map(new_code_cell, cells)), metadata=METADATA), path)
    lab.open(path)
    expect(lab.run(HUNT).get_by_role("status")).to_contain_text("solve one of these first", timeout=SLOW)
    for text in ("import torch", "def softmax", 'check("softmax")'):
        lab.run(text)
    output = lab.run(HUNT)
    expect(output.get_by_role("list", name="The program, line by line")).to_contain_text("def softmax(", timeout=SLOW)
    expect(output.get_by_role("status")).to_contain_text("One of these sentences is true of it")

    first = bugs_of(COURSE, COURSE.notebook("03-softmax"))[0]
    wrong, also_wrong, *_ = (letter for letter in "abcd" if letter != puzzle_of(first).letter)
    for letter, said in ((wrong, "Try once more"), (also_wrong, f"Line {min(first.faulty)}, yes.")):
        call = f"{HUNT}, bug={first.id!r}, line={min(first.faulty)}, says={letter!r})"
        lab.write(HUNT, f"from anatomy import hunt\n\n{call}")
        output = lab.run(HUNT)
        expect(output.get_by_role("status")).to_contain_text(said, timeout=SLOW)
    expect(output.get_by_role("group", name="The correction")).to_contain_text(first.right[1].strip())
    output.get_by_text("exercises right").click()
    expect(output.get_by_role("row", name="3.1 softmax")).to_contain_text("● right")
