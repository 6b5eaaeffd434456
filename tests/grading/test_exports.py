"""The gradebook as files for Canvas and Moodle: what is not marked is never 0, and every student is the right one."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets.config import Config

from anatomy.classroom.grading.exports import CanvasExporter, MoodleExporter
from anatomy.classroom.grading.gradebook import put_alembic_on_path

PLATFORMS = pytest.mark.parametrize("exporter", [CanvasExporter, MoodleExporter])
MARKS = {  # the points of two checks; None waits for a person
    ("ab1", "03-softmax"): (3, 2.5),
    ("cd2", "03-softmax"): (3, None),
    ("ef3", "03-softmax"): (0, 0),
    ("ab1", "04-heads"): (1, 0),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A gradebook: whole, late, commented, partly marked and zero; nobody handed in 05, and gh4 nothing."""
    place = tmp_path_factory.mktemp("class") / "gradebook.db"
    put_alembic_on_path()
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{place}") as book:
        warnings.simplefilter("ignore")
        for name in ("03-softmax", "04-heads", "05-encoder-layer"):
            book.add_assignment(name)
            book.add_notebook(name, name)
            for cell in ("a", "b"):
                book.add_grade_cell(f"check-{cell}", name, name, max_score=3, cell_type="code")
                book.add_solution_cell(cell, name, name)
        book.add_student("ab1", first_name="Zoë", last_name="Ångström", email="ab@example.org", lms_user_id="4711")
        book.add_student("cd2", first_name="Çem", email="cd@example.org", lms_user_id="12cd")
        book.add_student("ef3", last_name="Éf", email="ef@example.org", lms_user_id="13")
        book.add_student("gh4", email="gh@example.org")
        for (student, name), points in MARKS.items():
            book.add_submission(name, student)
            for cell, mark in zip("ab", points, strict=True):
                book.find_grade(f"check-{cell}", name, name, student).auto_score = mark
        book.find_submission_notebook("03-softmax", "03-softmax", "ab1").late_submission_penalty = 1.25
        book.find_submission_notebook("04-heads", "04-heads", "ab1").late_submission_penalty = 2
        book.find_comment("a", "03-softmax", "03-softmax", "ab1").manual_comment = "**Well** done,\n Zoë. "
        book.db.commit()
    return place


@pytest.fixture
def book(filled, tmp_path, monkeypatch):
    """A copy of it to change, beside which files are written."""
    shutil.copyfile(filled, tmp_path / "gradebook.db")
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as opened:
        warnings.simplefilter("ignore")
        yield opened


def exported(exporter: type[ExportPlugin], book: Gradebook, **settings) -> list[list[str]]:
    one = exporter(config=Config({exporter.__name__: settings}))
    one.export(book)
    return table(Path(one.to or one.filename))


def table(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def lines(rows: list[list[str]], column: int) -> dict[str, list[str]]:
    return {row[column]: row for row in rows}


# ---- the formats ---------------------------------------------------------------------------------------------------


def test_canvas(book):
    book.update_or_create_assignment("03-softmax", duedate="2026-11-01 23:59 UTC")  # nbgrader puts it last
    head, possible, *students = exported(CanvasExporter, book)
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "03-softmax", "04-heads"]
    assert possible == ["    Points Possible", "", "", "", "", "6", "6"]
    assert lines(students, 3) == {
        "ab1": ["Ångström, Zoë", "4711", "", "ab1", "", "4.25", "0"],
        "cd2": ["Çem", "", "", "cd2", "", "", ""],
        "ef3": ["Éf", "13", "", "ef3", "", "0", ""],
        "gh4": ["gh4", "", "", "gh4", "", "", ""],
    }


def test_moodle(book):
    head, *students = exported(MoodleExporter, book)
    titles = [title for name in ("03-softmax", "04-heads") for title in (name, f"{name} (Feedback)")]
    assert head == ["First name", "Last name", "Username", "Email address", *titles]
    late = "Handed in late: 1.25 points off."
    assert lines(students, 2) == {
        "ab1": ["Zoë", "Ångström", "ab1", "ab@example.org", "4.25", f"Well done, Zoë. {late}",
                "0", "Handed in late: 2 points off."],
        "cd2": ["Çem", "", "cd2", "cd@example.org", "-", "", "-", ""],
        "ef3": ["", "Éf", "ef3", "ef@example.org", "0", "", "-", ""],
        "gh4": ["", "", "gh4", "gh@example.org", "-", "", "-", ""],
    }  # fmt: skip


def test_moodle_gets_no_column_in_which_a_students_field_is_empty(book, caplog):
    """Moodle would give that line to the student above it."""
    book.update_or_create_student("gh4", lms_user_id="14", email=None)
    assert exported(MoodleExporter, book)[0][:4] == ["First name", "Last name", "Username", "ID number"]
    book.update_or_create_student("gh4", lms_user_id=None)
    assert "it finds nobody" not in caplog.text
    assert exported(MoodleExporter, book)[0][:4] == ["First name", "Last name", "Username", "03-softmax"]
    assert "such as gh4. If Moodle's usernames are others, it finds nobody" in caplog.text


def test_an_id_that_is_an_email_address_is_one(book):
    book.update_or_create_student("ij5@example.org")
    assert lines(exported(MoodleExporter, book), 3)["ij5@example.org"][2] == "ij5@example.org"


@PLATFORMS
def test_a_mark_by_hand_that_is_older_than_its_answer_counts_and_is_said(exporter, book, caplog):
    grade = book.find_grade("check-a", "03-softmax", "03-softmax", "ef3")
    grade.manual_score, grade.auto_score, grade.needs_manual_grade = 1, 3, True
    book.db.commit()
    rows = exported(exporter, book)
    assert any("ef3" in row and "1" in row for row in rows)
    said = "ef3, 03-softmax: a is a new answer. The mark given by hand, 1 of 3, stands; the check gives 3."
    assert said in caplog.text
    caplog.clear()
    exported(exporter, book, student=["ab1"])
    assert "new answer" not in caplog.text


def test_what_the_guide_writes_stays_out_of_the_repository(root):
    names = ("canvas.csv", "moodle.csv", "00.csv", "marks.csv", "grades.csv", "course.zip", "feedback/03-softmax.zip",
             "gradebook-copy.db", "class-report.html", "submitted/ada/x.ipynb", "feedback/ada/x.html")  # fmt: skip
    if not (root / ".git").exists():
        pytest.skip("not a repository")
    said = subprocess.run(["git", "check-ignore", "--no-index", *names], cwd=root, capture_output=True, text=True)
    assert said.stdout.split() == list(names)


def test_canvas_columns_can_be_set(book):
    identity = {"SIS User ID": "id", "SIS Login ID": "email"}
    rows = exported(CanvasExporter, book, identity=identity, titles={"04-heads": "Heads (4711)"}, section="A1")
    assert rows[0][5:] == ["03-softmax", "Heads (4711)"]
    assert lines(rows, 2)["ab1"][:5] == ["Ångström, Zoë", "", "ab1", "ab@example.org", "A1"]


# ---- marks ---------------------------------------------------------------------------------------------------------


def test_a_mark_by_hand_makes_it_whole(book):
    book.find_grade("check-b", "03-softmax", "03-softmax", "cd2").manual_score = 1
    book.db.commit()
    assert lines(exported(CanvasExporter, book), 3)["cd2"][5] == "4"
    assert lines(exported(MoodleExporter, book), 2)["cd2"][4] == "4"


@PLATFORMS
def test_they_agree_with_nbgrader_on_what_is_marked(exporter, book):
    rows = exported(exporter, book)
    key = rows[0].index("SIS Login ID" if exporter is CanvasExporter else "Username")
    for student, name in [place for place, points in MARKS.items() if None not in points]:
        submission = book.find_submission(name, student)
        wanted = max(0.0, submission.score - submission.late_submission_penalty)
        assert float(lines(rows, key)[student][rows[0].index(name)]) == wanted


@PLATFORMS
def test_only_some(exporter, book):
    settings = {"assignment": ["04-heads"], "student": ["ab1"], "to": "some.csv"}
    rows = exported(exporter, book, **settings)
    assert "04-heads" in rows[0] and "03-softmax" not in rows[0]
    assert len(rows) == (3 if exporter is CanvasExporter else 2)


# ---- safety and errors ---------------------------------------------------------------------------------------------


@PLATFORMS
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "＝"])
def test_a_spreadsheet_takes_nothing_for_a_formula(exporter, start, book):
    evil = f"{start}cmd|' /C calc'!A0"
    book.update_or_create_student(evil, first_name=evil, last_name=evil, email=evil, lms_user_id=evil)
    book.find_comment("b", "03-softmax", "03-softmax", "ab1").manual_comment = evil
    book.find_comment("a", "03-softmax", "03-softmax", "ab1").manual_comment = None
    book.db.commit()
    rows = (
        exported(exporter, book, titles={"04-heads": evil}) if exporter is CanvasExporter else exported(exporter, book)
    )
    fields = [field for row in rows for field in row if "cmd" in field]
    assert fields and all(field.startswith("'") for field in fields)


@PLATFORMS
def test_commas_quotes_and_lines_stay_in_their_field(exporter, book):
    book.update_or_create_student("ab1", last_name='O"B,\nc;')
    rows = exported(exporter, book)
    assert len({len(row) for row in rows}) == 1
    assert any('O"B,\nc;' in field for row in rows for field in row)


@PLATFORMS
def test_what_cant_be_done_is_said(exporter, book, tmp_path):
    for settings in ({"assignment": ["07-encoder"]}, {"student": ["nobody"]}, {"to": "nowhere/marks.csv"}):
        with pytest.raises(SystemExit) as stopped:
            exported(exporter, book, **settings)
        assert stopped.value.code == 1
    assert not list(tmp_path.glob("**/*.csv*"))


# ---- the guide -----------------------------------------------------------------------------------------------------

GUIDE = (Path(__file__).resolve().parents[2] / "docs/instructor-guide.md").read_text("utf-8")
COMMANDS = re.findall(r"^\.venv/bin/(nbgrader (?:export|db student add) .*)$", GUIDE, flags=re.MULTILINE)


def nbgrader(command: str, folder: Path) -> subprocess.CompletedProcess:
    _, *words = shlex.split(command)
    program = Path(sys.executable).with_name("nbgrader")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.many
def test_the_guides_commands_work(book, root, tmp_path):
    assert len(COMMANDS) == 4
    shutil.copyfile(root / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    for command in COMMANDS:
        run = nbgrader(command.replace("00-start-here", "03-softmax").replace("00.csv", "03.csv"), tmp_path)
        assert run.returncode == 0, f"{command}\n{run.stderr}"
    assert [row[0] for row in table(tmp_path / "canvas.csv")][:2] == ["Student", "    Points Possible"]
    assert table(tmp_path / "moodle.csv")[0][2] == "Username"
    only = table(tmp_path / "03.csv")
    assert only[0][5:] == ["03-softmax"]


def test_the_guides_settings_work(book, root, tmp_path):
    (settings,) = re.findall(r"^c\.CanvasExporter[^`]*", GUIDE, flags=re.MULTILINE)
    text = (root / "nbgrader_config.py").read_text("utf-8")
    (tmp_path / "nbgrader_config.py").write_text(f"{text}\n{settings}", encoding="utf-8")
    run = nbgrader("nbgrader export", tmp_path)
    assert run.returncode == 0, run.stderr
    assert table(tmp_path / "canvas.csv")[0][5] == "Softmax (4711)" and not (tmp_path / "grades.csv").exists()
    assert lines(table(tmp_path / "canvas.csv"), 3)["ab@example.org"][2] == "ab1"
