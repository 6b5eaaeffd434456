"""otter-grader as a peer of `anatomy grade`: the same made-up submissions, without a container.

What is measured: `otter.api.grade_submission`, which does what `otter run` does, called for one submission after the
other in one process. Each gets a new Jupyter kernel that imports torch, as it would in a container. There is no
container, no limit on memory and no isolation from the network or from the grader's files, all of which `anatomy grade`
gives; `otter grade` costs what Docker costs besides. The notebooks are turned into otter's form before the clock
starts: `check("softmax")` becomes `grader.check("softmax")`, and each exercise one test file, which compares values and
gradients with the reference's on the exercise's cases of two seeds. Mistakes and cards have no counterpart there.

otter-grader is not one of the project's dependencies. It is installed into an environment of its own, in the user's
cache folder, which sees this one's packages (no second torch) and changes nothing in it.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from peers.classroom import ROOT, SLUG, course, submissions, timed
from platformdirs import user_cache_path

from anatomy.classroom.grading.known_marks import KNOWN_MARKS
from anatomy.course import COURSE

OTTER = "otter-grader==7.0.0"
UNWRITTEN = "not written"  # as the made-up class calls it

TEST = """
OK_FORMAT = False
name = {name!r}
points = {points}

import torch
from otter.test_files import test_case
from anatomy.course import COURSE

reference = COURSE.exercise(name).right
cases = list(COURSE.exercise(name).cases((0, 1)))


def results(function, case):
    given = [one.clone() if isinstance(one, torch.Tensor) else one for one in case.args.values()]
    leaves = [one.requires_grad_() for one in given if isinstance(one, torch.Tensor) and one.is_floating_point()]
    value = function(*given)
    return value if isinstance(value, tuple) else (value,), leaves


def slopes(function, case):
    values, leaves = results(function, case)
    total = sum((value * torch.linspace(1, 2, value.numel()).view_as(value)).sum() for value in values)
    return torch.autograd.grad(total, leaves, allow_unused=True)


@test_case(points={values})
def test_values({name}):
    for case in cases:
        torch.testing.assert_close(results({name}, case)[0], results(reference, case)[0], rtol=1e-4, atol=1e-5)
"""
GRADIENTS = """

@test_case(points={gradients})
def test_gradients({name}):
    for case in cases:
        torch.testing.assert_close(slopes({name}, case), slopes(reference, case), rtol=1e-3, atol=1e-4)
"""
RUN = """
import json, sys
from otter.api import grade_submission
marks = {}
for path in sys.argv[2:]:
    found = grade_submission(path, sys.argv[1], quiet=True)
    marks[path] = {name: one.score for name, one in found.results.items()}
print(json.dumps(marks), file=open("marks.json", "w"))
"""


class NoOtter(Exception):
    """otter-grader can't be installed here. The message says why."""


def otter(work: Path, students: int, short: bool = False) -> tuple[float, float]:
    """Seconds, and the most memory in bytes, to grade a class of so many.

    Raises
    ------
    NoOtter
        When otter-grader can't be installed: leave this peer out, and say so.
    """
    python = environment()
    folder = course(work / f"otter-{students}", short)
    submissions(folder, students)
    book = COURSE.notebook(SLUG)
    (folder / "tests").mkdir()
    for name in COURSE.exercises(book):
        (folder / "tests" / f"{name}.py").write_text(test_file(name))
    (folder / "otter_config.json").write_text(json.dumps({"show_stdout": False, "print_summary": False, "pdf": False}))
    _must([python.with_name("otter"), "generate", "--no-environment", "--no-requirements"], folder)
    paths = [in_otters_form(path) for path in sorted((folder / "submitted").glob(f"*/{SLUG}/{SLUG}.ipynb"))]
    (folder / "run.py").write_text(RUN)
    took = timed([str(python), "run.py", str(folder / "autograder.zip"), *map(str, paths)], folder)
    if complaints := differing(folder):
        raise SystemExit("otter's marks are not what the answers deserve:\n" + "\n".join(complaints))
    return took


def environment() -> Path:
    """The Python of an environment that has otter-grader; it is made when it is not there."""
    place = (
        user_cache_path("anatomy-bench") / f"{OTTER.replace('==', '-')}-py{sys.version_info[0]}{sys.version_info[1]}"
    )
    python = place / "bin" / "python"
    if (place / "complete").exists():
        return python
    print(f"Installing {OTTER} into {place} …", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    try:
        venv.create(place, with_pip=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
        (packages / "project.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
        _must([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", OTTER], place)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise NoOtter(f"{OTTER} can't be installed: {said.strip()[-500:]}") from None
    (place / "complete").touch()
    return python


def _must(command: list[str | Path], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, env={**os.environ, "PIP_USER": "0"})


def test_file(name: str) -> str:
    """One exercise as a test file of otter's."""
    exercise = COURSE.exercise(name)
    gradients = exercise.properties.get("gradients", 0)
    text = TEST + (GRADIENTS if gradients else "")
    return text.format(name=name, points=exercise.points, values=exercise.points - gradients,
                       gradients=gradients)  # fmt: skip


def in_otters_form(path: Path) -> Path:
    """Give a submission's checks otter's form."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name.startswith("check-"):
            cell.source = f'grader.check("{name.removeprefix("check-")}")'
    book.cells.insert(0, new_code_cell("import otter\ngrader = otter.Notebook()"))
    nbformat.write(book, path)
    return path


def differing(folder: Path) -> list[str]:
    """Marks not deserved: a right answer gets all points, a mistaken one less, an unwritten one none."""
    marks = json.loads((folder / "marks.json").read_text())
    found = {Path(path).parents[1].name: points for path, points in marks.items()}
    wrong = []
    with (folder / "submitted" / KNOWN_MARKS).open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            for name, answer in json.loads(line["answers"]).items():
                given, worth = found[line["student"]].get(name, 0), COURSE.exercise(name).points
                right = json.loads(line["marks"])[name] == worth
                deserved = given == worth if right else given == 0 if answer == UNWRITTEN else given < worth
                if not deserved:
                    wrong.append(f"{line['student']}, {name}, {answer}: {given} of {worth} points")
    return wrong
