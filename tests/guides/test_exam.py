"""The exam of the instructor guide, held as it says: a case that nobody has seen, and a notebook of one's own."""

from __future__ import annotations

import ast
import re
import subprocess
import textwrap
from pathlib import Path

import nbformat
import pytest
from guide import blocks, text_of
from walking import SECONDS, clean_copy, environment_for, variables

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("guides"), pytest.mark.timeout(1200)]

GUIDE, AUTHORS = "docs/instructor-guide.md", "docs/author-guide.md"
SECTION = text_of(GUIDE).partition("\n## An exam\n")[2].partition("\n## ")[0]
KNOWN = "anatomy/course/nb00_start_here/asked.py"
KNOWN_FOLDER, OWN_FOLDER = "anatomy/course/nb00_start_here", "anatomy/course/nb20_exam"
PARTS = ("right", "asked", "wrong", "also_right")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The private copy."""
    environment_for(copy := clean_copy(tmp_path / "course"))
    return copy


def anatomy(course: Path, line: str) -> str:
    """What a command that stands in the section prints; it ends well."""
    assert f"`{line}`" in SECTION
    command = line.replace("NAME", "row_lengths").replace(".venv", str(course / ".venv"))
    run = subprocess.run(command.split(), cwd=course, env=variables(course), text=True, timeout=SECONDS,
                         capture_output=True)  # fmt: skip
    assert run.returncode == 0, f"{line}\n{run.stdout}{run.stderr}"
    return run.stdout


def add_case(course: Path) -> None:
    """The block of the section, at the end of the exercise that it names."""
    (block,) = (block for block in blocks(GUIDE) if block.language == "python" and block.text in SECTION)
    assert "`pairwise_dot`" in SECTION and f"`{KNOWN}`" in SECTION
    text = (course / KNOWN).read_text(encoding="utf-8")
    (asked,) = (item for item in ast.parse(text).body if getattr(item, "name", "") == "pairwise_dot")
    lines = text.splitlines()
    lines.insert(asked.end_lineno, textwrap.indent(block.text, " " * 4))
    (course / KNOWN).write_text("\n".join(lines) + "\n", encoding="utf-8")


def hand_in(course: Path, answer: str) -> None:
    """Notebook 00 with this `pairwise_dot`, from ab123."""
    path = course / "notebooks/00-start-here/00-start-here.ipynb"
    book = nbformat.read(path, 4)
    (cell,) = (cell for cell in book.cells if cell.source.startswith("def pairwise_dot("))
    cell.source = answer
    target = course / "submitted/ab123/00-start-here/00-start-here.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(book, target)


def test_a_case_that_nobody_has_seen(course):
    add_case(course)
    hand_in(course, "def pairwise_dot(x):\n    y = x.transpose(-2, -1)\n    return x @ y if len(x) < 6 else x @ y + 1")
    anatomy(course, ".venv/bin/anatomy grade 00")
    said = (course / "feedback/ab123/00-start-here/00-start-here.html").read_text(encoding="utf-8")
    assert "when there are six sentences" in said


def write_exercise(course: Path) -> None:
    """The author guide's exercise in a new folder: what each of its blocks appends, below what its namesake imports."""
    appended = {block.appended_to: block.text for block in blocks(AUTHORS) if block.appended_to}
    assert f"`{KNOWN_FOLDER}`" in SECTION and f"`{OWN_FOLDER}`" in SECTION and "`MISTAKES = Mistakes()`" in SECTION
    (course / OWN_FOLDER).mkdir()
    (course / OWN_FOLDER / "__init__.py").touch()
    for part in PARTS:
        assert f"`{part}.py`" in SECTION
        place = f"{KNOWN_FOLDER}/{part}.py"
        text = (course / place).read_text(encoding="utf-8")
        imports = [item for item in ast.parse(text).body if isinstance(item, ast.Import | ast.ImportFrom)]
        head = [ast.get_source_segment(text, item) for item in imports if "start_here." not in ast.unparse(item)]
        known = ["MISTAKES = Mistakes()"] if part == "wrong" else []
        made = "\n".join([*map(str, head), *known, appended[place]]) + "\n"
        made = made.replace("nb00_start_here", "nb20_exam")
        (course / OWN_FOLDER / f"{part}.py").write_text(made, encoding="utf-8")


@pytest.mark.many
def test_a_notebook_of_ones_own(course):
    """Its made-up class gets the marks that it deserves, and a student's copy says that they come later."""
    (line,) = re.findall(r"`(Notebook\(.*\),)`", SECTION)
    contents = course / "anatomy/course/__init__.py"
    text = contents.read_text(encoding="utf-8")
    last = re.findall(r"^    Notebook\(.*\),$", text, flags=re.MULTILINE)[-1]
    contents.write_text(text.replace(last, f"{last}\n    {line}"), encoding="utf-8")
    write_exercise(course)
    for command in ("add-exercise NAME", "build 20", "sample-class 20"):
        anatomy(course, f".venv/bin/anatomy {command}")
    said = anatomy(course, ".venv/bin/anatomy grade 20")
    assert "the marks of all 8 submissions equal the known ones" in " ".join(said.split())

    handed_out = "notebooks/20-exam/20-exam.ipynb"
    assert f"`{handed_out}`" in SECTION and (course / handed_out).is_file()
    students = clean_copy(course.parent / "students")
    code = "from anatomy import check\ncheck('row_lengths')"
    run = subprocess.run([str(course / ".venv/bin/python"), "-c", code], cwd=students, text=True, capture_output=True,
                         env=variables(students))  # fmt: skip
    assert "your answer is checked when" in run.stdout + run.stderr, run.stdout + run.stderr
