"""What a class gets: the notebooks so far, what works on them, and none of what knows the answers."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from anatomy.classroom.class_edition.on_disk import write
from anatomy.classroom.releasing.contents import edition, judge_address, refusing
from anatomy.cli import app
from anatomy.course import COURSE
from anatomy.engine.course import Course
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import student_file
from tests.releasing.conftest import JUDGE

PATHS = ("engine/mistakes", "engine/answers", "engine/describing", "engine/judging", "engine/reading", "authoring",
         "classroom/sample_class", "classroom/grading", "classroom/serving", "classroom/releasing",
         "classroom/forked_kernels")  # fmt: skip


def refuses(content):
    return content.startswith(b'"""Not in the edition for a class')


def test_it_holds_what_a_student_needs_and_no_more(third, root):
    places = {str(path): content for path, content in third.items()}
    slugs = [book.slug for book in COURSE.notebooks[:4]]
    assert json.loads(places["anatomy/class_edition.json"]) == {"judge": JUDGE, "notebooks": slugs}
    assert {path.parts[1] for path in third if path.parts[0] == "notebooks"} == set(slugs)
    for slug in slugs:
        assert places[f"notebooks/{slug}/{slug}.ipynb"] == student_file(root, slug).read_bytes()
        assert places[f"notebooks/{slug}/map.svg"] == student_file(root, slug).with_name("map.svg").read_bytes()
    assert {path.parts[0] for path in third} == {
        ".gitignore", "LICENSE", "LICENSE-text.md", "Makefile", "README.md", "THIRD-PARTY-NOTICES.md", "anatomy",
        "assets", "nbgrader_config.py", "notebooks", "pyproject.toml", "requirements-checkpoint.txt",
        "requirements.txt", "tools",
    }  # fmt: skip
    for room in PATHS:
        place = f"anatomy/{room}"
        found = [path for path in third if path.is_relative_to(place) or path == PurePosixPath(f"{place}.py")]
        assert len(found) <= 1 and all(refuses(third[path]) for path in found), room
    for book in COURSE.notebooks:
        parts = ("asked", "right", "also_right", "wrong")
        asked, right, *others = (places[f"anatomy/course/{book.folder}/{part}.py"] for part in parts)
        assert refuses(right) == (book.number >= 3) and refuses(asked) == (book.number > 3)
        assert all(map(refuses, others)) and f"anatomy/course/{book.folder}/attempts.json" not in places
    assert not any(part.startswith("__pycache__") for path in third for part in path.parts)


def test_what_a_new_room_holds_stays_at_home(monkeypatch, tmp_path):
    """What is released is named; what is not is left out without anybody thinking of it."""
    (tmp_path / "solved").mkdir()
    for name in ("__init__.py", "solved/__init__.py", "hints.py"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr("anatomy.classroom.grading.package_copies.PACKAGE", tmp_path)
    monkeypatch.setattr(Course, "folder", tmp_path / "course")
    assert {"anatomy.solved", "anatomy.hints"} <= refusing(COURSE.notebook("03-softmax")).keys()


def test_its_pages_speak_of_what_is_there(third):
    """Links lead somewhere, but for the notebooks to come."""
    places = {str(path): content.decode() for path, content in third.items() if path.suffix in (".md", ".toml", "")}
    readme, glossary = places["README.md"], places["notebooks/00-start-here/glossary.md"]
    assert f"<{JUDGE}>" in readme and "`03-softmax`" in readme and "04-heads" not in readme and "{" not in readme
    assert "03-softmax" in glossary and "04-heads" not in glossary
    project = tomllib.loads(places["pyproject.toml"])["project"]
    course = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert {name: project[name] for name in ("name", "version", "requires-python", "dependencies", "scripts")} == {
        name: course[name] for name in ("name", "version", "requires-python", "dependencies", "scripts")
    }
    for place in ("(LICENSE)", "(LICENSE-text.md)", "(THIRD-PARTY-NOTICES.md)"):
        assert place in readme and PurePosixPath(place[1:-1]) in third
    assert "tools/setup.sh" in places["Makefile"] and PurePosixPath("tools/setup.sh") in third


def test_its_lab_is_a_students(third):
    """`anatomy lab` hides what is an instructor's; plain JupyterLab does not."""
    begun = {"Makefile": "$(BIN)/anatomy lab ", "README.md": "Scripts\\anatomy lab\n"}
    for name, command in begun.items():
        text = third[PurePosixPath(name)].decode()
        assert command in text and not re.search(r"jupyter[ -]lab\b", text)
    assert PurePosixPath("tools/jupyterlab/student/labconfig/page_config.json") in third


def test_the_first_notebook_is_true_of_it(third, root):
    """What only the whole course has is named as such, and no check is said to keep to itself what it sends."""
    book = json.loads(third[PurePosixPath("notebooks/00-start-here/00-start-here.ipynb")])
    text = "".join("".join([*cell["source"], "\n"]) for cell in book["cells"] if cell["cell_type"] == "markdown")
    lacking = {"`anatomy hunt`", "`anatomy assemble`"}
    for span in set(re.findall(r"`[^`\s]+/`", text)):
        inside = [content for path, content in third.items() if path.is_relative_to(span.strip("`"))]
        if (root / span.strip("`")).exists() and (not inside or any(map(refuses, inside))):
            lacking.add(span)
    assert {"`solutions/`", "`anatomy/course/`"} <= lacking and "`notebooks/`" not in lacking
    for line in text.splitlines():
        if any(span in line for span in lacking):
            assert "edition made for a class" in line
        if re.search(r"\b(nowhere|nobody|no network|nothing [^.]*(leave|sen[dt]))", line, re.IGNORECASE):
            assert "judge" in line


@pytest.mark.parametrize("address", ["", "hub", "ftp://x.org", "https://", "https://x.org/?key=1", "https://a:b@x.org"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(UserError, match=r"is not the address of a judge|Leave the key out"):
        judge_address(address)


def test_a_folder_without_sources_says_where_they_are(tmp_path):
    with pytest.raises(UserError, match="A clone of the course's repository has them"):
        edition(tmp_path, COURSE.find("03"), JUDGE)


def test_the_command(tmp_path, monkeypatch, third):
    monkeypatch.setattr("anatomy.classroom.releasing.release.edition", lambda *_: third)
    monkeypatch.chdir(tmp_path)
    root = str(Path(__file__).parents[2])
    asked = ["release", "--class", "03", "--judge", "http://x.org/judge", "--zip", "--root", root]
    run = CliRunner().invoke(app, asked)
    assert run.exit_code == 0 and "class-edition and class-edition.zip: the notebooks up to 03-softmax" in run.output
    assert "Next: start the judge" in run.output and "or hand out class-edition.zip" in run.output
    assert "not encrypted" in run.output and (tmp_path / "class-edition.zip").is_file()
    (tmp_path / "class-edition" / "README.md").write_text("mine")
    run = CliRunner().invoke(app, asked)
    assert run.exit_code == 0 and "It was changed, so a copy is kept: README." in run.output
    local = CliRunner().invoke(app, ["release", "--class", "03", "--judge", "http://localhost:8700", "--root", root])
    assert local.exit_code == 0 and "No other machine reaches http://localhost:8700" in local.output
    assert "a zip file, which --zip writes" in local.output
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("work")
    run = CliRunner().invoke(app, [*asked, "--to", "mine"])
    assert run.exit_code == 2 and "was not written by `anatomy release`" in run.output
    assert CliRunner().invoke(app, ["release", "--class", "99", "--judge", "https://x.org"]).exit_code == 2


STUDENT = """
import importlib, sys
import anatomy
from typer.testing import CliRunner
from anatomy import assemble, check, hunt, progress
from anatomy.cli import app
from anatomy.course import COURSE
assert sys.argv[1] in anatomy.__file__ and len(COURSE.notebooks) == 4
for module in ("datasets", "scenes", "checkpoints", "views", "nb02_attention_scores.right"):
    importlib.import_module(f"anatomy.course.{module}")
importlib.import_module("anatomy.doctor")
softmax, heads = "course.nb03_softmax", "course.nb04_heads"
for module in (f"{softmax}.wrong", "engine.judging", "engine.reading", f"{softmax}.right", f"{heads}.right"):
    try:
        importlib.import_module(f"anatomy.{module}")
        print("IMPORTED", module)
    except ImportError as error:
        print("refused:", error)
hunt("03-softmax")
assemble()
assert "04 Heads" not in repr(progress()) and "03 Softmax" in repr(progress("03-softmax"))
for words in ([], ["progress"], ["hunt", "03"], ["assemble"], ["explore"], ["check", "README.md"], ["grade"]):
    run = CliRunner().invoke(app, words)
    print("anatomy", *words[:1], run.exit_code, " ".join(run.output.split()))
"""


@pytest.mark.slow
def test_students_get_a_sentence_for_what_is_not_there(third, tmp_path):
    """In a process that has this package only."""
    write(third, folder := tmp_path / "course")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("ANATOMY", "JUPYTER"))}
    variables |= {"PYTHONPATH": str(folder), "ANATOMY_HOME": str(tmp_path), "COLUMNS": "200"}
    run = subprocess.run([sys.executable, "-c", STUDENT, str(folder)], cwd=folder, env=variables, text=True,
                         capture_output=True)  # fmt: skip
    assert run.returncode == 0, run.stderr
    said = run.stdout.splitlines()
    assert "IMPORTED" not in run.stdout and sum(line.startswith("refused: ") for line in said) == 5
    assert any("right answers of 03-softmax are not on this machine" in line for line in said)
    assert sum(line.startswith("The bug hunt is not in your class's edition") for line in said) == 1
    assert sum(line.startswith("Assembling is not in your class's edition") for line in said) == 1
    commands = {" ".join(line.split()[1:2]): line for line in said if line.startswith("anatomy ")}
    assert "For instructors" not in run.stdout and "update" in run.stdout
    assert "Next: pairwise_dot" in commands["progress"]
    assert "2 The bug hunt is not" in commands["hunt"] and "2 Assembling is not" in commands["assemble"]
    assert "2 This model is made of the right answers of notebook 07" in commands["explore"]
    assert "Gather your own answers" not in run.stdout, "help names what is there"
    assert "2 README.md cannot be read as a notebook" in commands["check"]
    assert "No such command 'grade'" in commands["grade"]


def test_it_is_the_whole_course_here():
    assert importlib.util.find_spec("anatomy.engine.judging") and len(COURSE.notebooks) == 15
