"""What a kernel that grades can and can't import."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anatomy import PACKAGE
from anatomy.classroom.grading import package_copies
from anatomy.classroom.grading.course_kernels import environment, fresh_seeds
from anatomy.classroom.grading.package_copies import copy_package, hidden_modules
from anatomy.course import COURSE
from anatomy.engine.course import Course
from anatomy.engine.observing import GRADING_SEED


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
    env = {**os.environ, "PYTHONPATH": str(copy_package(COURSE.notebook(slug), tmp_path))}
    run = subprocess.run([sys.executable, "-c", code, *names], env=env, cwd=tmp_path, capture_output=True, text=True,
                         check=True)  # fmt: skip
    return dict(line.split(" ", 1) for line in run.stdout.splitlines())


@pytest.mark.slow
def test_later_answers_and_judges_are_out_of_reach(tmp_path):
    out_of_reach = list(hidden_modules(COURSE.notebook("03-softmax")))
    refused = ["anatomy.course.nb03_softmax.right", "anatomy.course.nb04_heads.right",
               "anatomy.course.nb03_softmax.wrong", "anatomy.engine.judging.judge", "anatomy.classroom.grading.run",
               "anatomy.classroom.grading.package_copies", *out_of_reach]  # fmt: skip
    open_to_all = [
        "anatomy.engine.checking",
        "anatomy.course.nb03_softmax.asked",
        "anatomy.course.nb02_attention_scores.right",
        "anatomy.course.views",
    ]
    found = imports("03-softmax", tmp_path, *refused, *open_to_all)
    assert [name for name in refused if not found[name]] == []
    assert "not_available_in_a_kernel_that_grades_03-softmax" in found["anatomy.course.nb03_softmax.right"]
    assert {name: found[name] for name in open_to_all} == dict.fromkeys(open_to_all, "")


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_each_notebooks_own_answers_are_hidden_and_earlier_ones_are_not(book, tmp_path):
    names = set(hidden_modules(book))
    for other in COURSE.notebooks:
        assert (COURSE.module(other, "right") in names) == (other.number >= book.number)
        assert {COURSE.module(other, "also_right"), COURSE.module(other, "wrong")} <= names
    copy = copy_package(book, tmp_path) / "anatomy"
    folder = copy / "course" / book.folder
    for part in ("right", "also_right", "wrong"):
        assert "raise ImportError" in (folder / f"{part}.py").read_text(encoding="utf-8")
    assert {file.suffix for file in folder.rglob("*") if file.is_file()} <= {".py", ".pyc"}
    assert list((copy / "engine" / "judging").iterdir()) == [copy / "engine" / "judging" / "__init__.py"]


@pytest.mark.slow
def test_what_judges_is_out_of_reach_and_what_asks_needs_none_of_it(tmp_path):
    last = COURSE.notebooks[-1]
    refused = ["anatomy.engine.describing", COURSE.module(last, "described"), COURSE.module(last, "also_right"),
               "anatomy.engine.judging.evidence", "anatomy.engine.reading", "anatomy.classroom.serving"]  # fmt: skip
    asks = [COURSE.module(book, "asked") for book in COURSE.notebooks] + ["anatomy.engine.checking.looking"]
    found = imports("03-softmax", tmp_path, *refused, *asks)
    assert [name for name in refused if not found[name]] == []
    assert {name: found[name] for name in asks} == dict.fromkeys(asks, "")


def test_a_new_room_is_hidden_until_it_is_named(tmp_path, monkeypatch):
    package = tmp_path / "anatomy"
    for room in ("classroom/news", "course/nb03_softmax/hints", "course/views", "engine/cards", "engine/news", "news"):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").touch()
    for name in ("latest.py", "course/nb03_softmax/asked.py", "course/nb03_softmax/solved.py", "engine/latest.py"):
        (package / name).touch()
    monkeypatch.setattr(package_copies, "PACKAGE", package)
    monkeypatch.setattr(Course, "folder", package / "course")
    assert list(hidden_modules(COURSE.notebook("03-softmax"))) == [
        "anatomy.classroom.news", "anatomy.course.nb03_softmax.hints", "anatomy.course.nb03_softmax.solved",
        "anatomy.engine.latest", "anatomy.engine.news", "anatomy.latest", "anatomy.news",
    ]  # fmt: skip


def test_only_earlier_references_are_seen(tmp_path):
    for number, book in enumerate(COURSE.notebooks):
        files = (copy_package(book, tmp_path) / "anatomy" / "course").glob("nb*/right.py")
        answers = {file.parent.name for file in files if "raise ImportError" not in file.read_text("utf-8")}
        assert answers == {other.folder for other in COURSE.notebooks[:number]}


def test_compiled_modules_come_along_if_their_source_does(tmp_path, monkeypatch):
    package = tmp_path / "original" / "anatomy"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    earlier, own = (Path("course", COURSE.notebook(slug).folder) for slug in ("02-attention-scores", "03-softmax"))
    for folder in (package, package / earlier, package / own, package / "engine" / "judging"):
        (folder / "__pycache__").mkdir()
        for name in ("__init__", "asked", "right", "wrong", "renamed_since"):
            (folder / "__pycache__" / f"{name}.cpython-311.pyc").write_bytes(b"compiled")
    monkeypatch.setattr(package_copies, "PACKAGE", package)
    monkeypatch.setattr(Course, "folder", package / "course")
    copy = copy_package(COURSE.notebook("03-softmax"), tmp_path / "copies") / "anatomy"
    found = {str(file.relative_to(copy).parent): set() for file in copy.rglob("*.pyc")}
    for file in copy.rglob("*.pyc"):
        found[str(file.relative_to(copy).parent)].add(file.name.partition(".")[0])
    assert found == {
        "__pycache__": {"__init__"},
        f"{earlier}/__pycache__": {"__init__", "asked", "right"},
        f"{own}/__pycache__": {"__init__", "asked"},
    }


def test_a_copy_for_each_notebook_costs_few_files(tmp_path):
    """What the copies have in common is there once."""
    for book in COURSE.notebooks:
        copy_package(book, tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    one = sum(file.is_relative_to(tmp_path / COURSE.notebooks[0].slug) for file in files)
    assert len({file.stat().st_ino for file in files}) < one + 65 * len(COURSE.notebooks)


def test_kernels_can_be_asked_for_before_torch_is_imported():
    """The fork server imports it, and shall not wait until this process has done so."""
    rooms = "anatomy.classroom.grading.course_kernels, anatomy.classroom.grading.workers.local"
    code = f"import sys, {rooms}; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_seeds_are_fresh_and_reach_the_kernel():
    assert len({fresh_seeds() for _ in range(50)}) == 50
    mine = environment(COURSE.notebook("03-softmax"), (7, 8))
    assert mine[GRADING_SEED] == "7,8" and mine["ANATOMY_NOTEBOOK"] == "03-softmax"
