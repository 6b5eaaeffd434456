"""What a kernel that grades can and can't import."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from anatomy.checking import GRADING_SEED
from anatomy.course import NOTEBOOKS, notebook
from anatomy.grading.course_kernels import environment, fresh_seeds
from anatomy.grading.package_copies import copy_package, hidden_modules


def imports(slug, tmp_path, *names):
    """Module → the error's name, or "", when a kernel that grades `slug` imports it."""
    code = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        print(name, "")
    except ImportError as error:
        print(name, str(error).replace(" ", "_"))
"""
    env = {**os.environ, "PYTHONPATH": str(copy_package(notebook(slug), tmp_path))}
    run = subprocess.run([sys.executable, "-c", code, *names], env=env, cwd=tmp_path, capture_output=True, text=True,
                         check=True)  # fmt: skip
    return dict(line.split(" ", 1) for line in run.stdout.splitlines())


def test_later_answers_and_judges_are_out_of_reach(tmp_path):
    out_of_reach = list(hidden_modules(notebook("03-softmax")))
    refused = ["anatomy.reference.softmax", "anatomy.reference.heads", "anatomy.misconceptions.softmax",
               "anatomy.judging.judge", "anatomy.grading.run", "anatomy.grading.package_copies",
               *out_of_reach]  # fmt: skip
    open_to_all = [
        "anatomy.checking",
        "anatomy.exercises.softmax",
        "anatomy.reference.attention_scores",
        "anatomy.views",
    ]
    found = imports("03-softmax", tmp_path, *refused, *open_to_all)
    assert [name for name in refused if not found[name]] == []
    assert "not_available_in_a_kernel_that_grades_03-softmax" in found["anatomy.reference.softmax"]
    assert {name: found[name] for name in open_to_all} == dict.fromkeys(open_to_all, "")


@pytest.mark.parametrize("book", NOTEBOOKS, ids=lambda book: book.slug)
def test_each_notebooks_own_answers_are_hidden_and_earlier_ones_are_not(book, tmp_path):
    names = set(hidden_modules(book))
    for other in NOTEBOOKS:
        assert (f"anatomy.reference.{other.module}" in names) == (other.number >= book.number)
    copy = copy_package(book, tmp_path) / "anatomy"
    assert "raise ImportError" in (copy / "reference" / f"{book.module}.py").read_text(encoding="utf-8")
    assert list((copy / "misconceptions").iterdir()) == [copy / "misconceptions" / "__init__.py"]


def test_seeds_are_fresh_and_reach_the_kernel():
    assert len({fresh_seeds() for _ in range(50)}) == 50
    mine = environment(notebook("03-softmax"), (7, 8))
    assert mine[GRADING_SEED] == "7,8" and mine["ANATOMY_NOTEBOOK"] == "03-softmax"
