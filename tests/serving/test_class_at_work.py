"""The edition for a class, its judge and the instructor's view together: what a student has on disk holds no answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from anatomy.classroom.class_edition.on_disk import write
from anatomy.classroom.releasing.contents import edition
from anatomy.classroom.serving.room import Room
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import as_text
from tests.serving.service import QUERIES, SCORES, SOFTMAX, Running

STUDENT = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from anatomy.engine.checking import calling
calling.SECONDS = 60.0  # a busy machine
assert "mine" in calling.join_class(sys.argv[1])
shell = InteractiveShell.instance()
for cell in sys.argv[2:]:
    shell.run_cell(cell)
loaded = {name: module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "anatomy"}
assert all("mine" in file for file in loaded.values()), loaded
hidden = "anatomy.engine.judging", "anatomy.engine.mistakes", "anatomy.engine.reading"
assert not any(name.startswith(hidden) for name in loaded)
"""


@pytest.mark.slow
def test_a_student_is_told_what_is_wrong_by_the_judge_and_the_instructor_sees_it(
    judge: Running, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge.service, "room", room := Room())
    root, folder = Path(__file__).parents[2], tmp_path / "mine"
    write(edition(root, COURSE.notebook("03-softmax"), judge.address), folder)
    first = "from anatomy.course.nb02_attention_scores.right import scaled_scores\nfrom anatomy import check"
    cells = (
        first,
        SOFTMAX,
        QUERIES,
        'check("softmax")',
        'check("attention_weights")',
        "import anatomy.course.nb04_heads.right",
    )
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("ANATOMY", "JUPYTER"))}
    variables |= {"PYTHONPATH": str(folder), "ANATOMY_HOME": str(folder), "IPYTHONDIR": str(tmp_path), "NO_COLOR": "1"}
    run = subprocess.run([sys.executable, "-c", STUDENT, keys["Ada"], *cells], cwd=folder, env=variables, text=True,
                         capture_output=True)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Right: 7 of 7 points." in run.stdout
    assert "Your softmax runs over the queries" in run.stdout and "attention_weights: 1 of 5 points." in run.stdout
    assert "NotHere: The right answers of 04-heads are not on this machine." in run.stdout
    assert "Traceback" not in run.stdout + run.stderr and SCORES not in run.stdout

    noted = json.loads((folder / "progress.json").read_text())
    assert noted["softmax"]["status"] == "right" and noted["attention_weights"]["status"] == "wrong"
    seen = room.snapshot(True)
    assert seen["at"]["number"] == "3.2" and seen["mistakes"][0]["names"] == ["Ada Lovelace"]
    assert seen["mistakes"][0]["sentence"].startswith("Your softmax runs over the queries")


TERMINAL = """
from anatomy.engine.checking import calling
from anatomy.cli import app
calling.SECONDS = 60.0  # a busy machine
app()
"""


@pytest.mark.slow
def test_a_student_checks_a_whole_notebook_without_answers_on_the_machine(
    judge: Running, keys: dict[str, str], tmp_path: Path
) -> None:
    folder, book = tmp_path / "mine", "notebooks/03-softmax/03-softmax.ipynb"
    write(edition(Path(__file__).parents[2], COURSE.notebook("03-softmax"), judge.address), folder)
    cells = (
        "from anatomy.course.nb02_attention_scores.right import scaled_scores\nfrom anatomy import check",
        *(SOFTMAX, 'check("softmax")', QUERIES, 'check("attention_weights")'),
        *("def weighted_values(weights, value):\n    raise NotImplementedError", 'check("weighted_values")'),
        "from anatomy import hunt\nhunt('03-softmax')",
    )
    (folder / book).write_text(as_text(new_notebook(cells=list(map(new_code_cell, cells)))))
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("ANATOMY", "JUPYTER"))}
    variables |= {"PYTHONPATH": str(folder), "ANATOMY_HOME": str(folder), "ANATOMY_KEY": keys["Alan"]}
    run = subprocess.run([sys.executable, "-c", TERMINAL, "check", book], cwd=folder, env=variables, text=True,
                         capture_output=True)  # fmt: skip
    assert run.returncode == 1 and not run.stderr, run.stderr
    said = [line for line in run.stdout.splitlines() if not line.startswith(" ")]
    assert said[0] == "✓ softmax  Right: 7 of 7 points." and said[2] == "○ weighted_values  Not attempted yet."
    assert said[1].startswith("✗ attention_weights  Your softmax runs over the queries")
    assert said[3].startswith("1 of 3 exercises right, ")
    assert [note[:3] for note in judge.room.noted] == [
        ("Alan", "softmax", "right"),
        ("Alan", "attention_weights", "wrong"),
        ("Alan", "weighted_values", "not attempted"),
    ]
    assert json.loads((folder / "progress.json").read_text())["softmax"]["status"] == "right"
