"""Another course of two notebooks is checked, built, graded and hunted without one line of `anatomy.course`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anatomy.wiring import COURSE

ROOT, HERE = Path(__file__).parents[2], Path(__file__).parent
PYTHON, ANATOMY = sys.executable, str(Path(sys.executable).with_name("anatomy"))
ENVIRONMENT = {**os.environ, COURSE: "convolution", "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}

ADD = """
import sys
from anatomy import cli
for name in sys.argv[1:]:
    cli.app(["add-exercise", name], standalone_mode=False)
"""
"""The command for each of these names, in one process."""
NAMED = """
def convolve(signal, kernel):
    return torch.conv1d(signal[None, None], kernel[None, None], padding=len(kernel) // 2)[0, 0]
"""
FACTOR = "def squared_loss(x, weights, y):\n    return ((x @ weights - y) ** 2).mean() / 2"
LINE = """
def convolve(signal, kernel):
    half = len(kernel) // 2
    result = []
    for t in range(len(signal)):
        total = torch.zeros(())
        for k in range(len(kernel)):
            place = t + half - k
            if 0 < place < len(signal):
                total = total + signal[place] * kernel[k]
        result.append(total)
    return torch.stack(result)
"""


def run(*command: str, cwd: Path, home: Path, code: int = 0) -> str:
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT | {"ANATOMY_HOME": str(home)},
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder, with masters and both editions."""
    folder = tmp_path_factory.mktemp("other") / "course"
    folder.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    run(PYTHON, "-c", ADD, "convolve", "quiz_padding", "squared_loss", cwd=folder, home=folder / "home")
    run(ANATOMY, "build", cwd=folder, home=folder / "home")
    return folder


def checked(course: Path, slug: str, answer: str, name: str) -> str:
    """What `anatomy check` says of a student edition with this answer."""
    file = course / "notebooks" / slug / f"{slug}.ipynb"
    book = json.loads(file.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in book["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name)
    cell["source"] = answer
    work = course / "home" / f"{slug}.ipynb"
    work.parent.mkdir(exist_ok=True)
    work.write_text(json.dumps(book), encoding="utf-8")
    return run(ANATOMY, "check", str(work), "--why", cwd=course, home=course / "home", code=1)


@pytest.mark.slow
def test_its_check_names_a_mistake_a_factor_and_a_line(course: Path) -> None:
    card = checked(course, "01-convolution", NAMED, "convolve")
    assert "You do not flip the kernel" in card and "why: convolve__" in card and "of them drawn" in card
    assert "Yours is the expected number divided by 2" in checked(
        course, "02-linear-regression", FACTOR, "squared_loss"
    )


@pytest.mark.slow
def test_its_check_reads_the_line_to_change() -> None:
    program = f"""
import torch
from convolution import COURSE
from anatomy.engine.checking import verdict_in_notebook
from anatomy.engine.judging.expectations import remembering
import linecache
source = {LINE!r}
linecache.cache["<cell>"] = len(source), None, source.splitlines(keepends=True), "<cell>"
names = dict(torch=torch, __name__="__main__")
exec(compile(source, "<cell>", "exec"), names)
verdict = verdict_in_notebook(COURSE.exercise("convolve"), names, remembering())
print(*(said.headline + said.detail for said in verdict.diagnoses))
"""
    assert "0 < place" in run(PYTHON, "-c", program, cwd=ROOT, home=ROOT)


@pytest.mark.many
@pytest.mark.slow
def test_it_is_graded_and_hunted(course: Path, tmp_path: Path) -> None:
    for student, answer in (("ada", None), ("bob", NAMED)):
        for slug in ("01-convolution", "02-linear-regression"):
            work = course / "submitted" / student / slug / f"{slug}.ipynb"
            work.parent.mkdir(parents=True)
            book = json.loads((course / "solutions" / slug / f"{slug}.ipynb").read_text(encoding="utf-8"))
            for cell in book["cells"]:
                if answer and cell["metadata"].get("nbgrader", {}).get("grade_id") == "convolve":
                    cell["source"] = answer
            work.write_text(json.dumps(book), encoding="utf-8")
    said = json.loads(run(ANATOMY, "grade", "--json", cwd=course, home=tmp_path))
    assert "not_flipped" in json.dumps(said)
    hunt = run(PYTHON, "-c", "from anatomy.engine.hunting.bugs import bugs_of; from convolution import COURSE\n"
               "print([bug.mistake.name for book in COURSE.notebooks for bug in bugs_of(COURSE, book)])",
               cwd=course, home=tmp_path)  # fmt: skip
    assert "convolve__not_flipped" in hunt


@pytest.mark.slow
def test_nothing_of_the_transformer_is_imported() -> None:
    program = """
import sys, anatomy.engine.hunting.asking, anatomy.engine.judging.judge, anatomy.engine.reading, convolution
convolution.COURSE.exercise("convolve").mistakes
print([name for name in sys.modules if name.startswith("anatomy.course")])
"""
    assert run(PYTHON, "-c", program, cwd=ROOT, home=ROOT).strip() == "[]"
