"""A run over a class: only what changed, late work, reports for machines."""

from __future__ import annotations

import io
import json

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from anatomy.authoring.notebooks import as_text, source_file, write
from anatomy.course import notebook
from anatomy.grading import run, sandbox
from anatomy.grading.report import as_dict
from anatomy.grading.sample import filled
from anatomy.grading.work import pack, unpack

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not sandbox.program(), reason="needs bubblewrap")]
BOOK = notebook("03-softmax")
RIGHT = "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()"
WRONG = "def softmax(x, dim):\n    return x / 2"


def hand_in(root, student, source, **beside):
    book = filled(root, BOOK, {})
    book.cells[2].source = source
    place = root / "submitted" / student / BOOK.slug
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{BOOK.slug}.ipynb").write_text(as_text(book), encoding="utf-8")
    for name, text in beside.items():
        (place / f"{name}.txt").write_text(text, encoding="utf-8")


@pytest.fixture
def course(tmp_path, new_course):
    """A notebook with one exercise and two students' answers."""
    root = new_course(tmp_path, BOOK.slug)
    book = nbformat.read(source_file(root, BOOK.slug), as_version=4)
    kept = ("softmax", "check-softmax")
    book.cells = book.cells[:2] + [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") in kept]
    write(book, source_file(root, BOOK.slug))
    hand_in(root, "ada", RIGHT)
    hand_in(root, "bea", WRONG)
    return root


def grade(root, **options):
    return run.grade(root, console=Console(file=io.StringIO()), **options)


def points(report):
    return {row.student: row.points for row in report.rows}


def test_parcels_hold_what_was_packed():
    about, files = {"assignment": "03", "marks": {"a": None}}, {"notebook": b"\x00", "beside/a/ö.txt": b"1", "": b""}
    assert unpack(pack(about, files)) == (about, files)


def test_only_what_changed_is_graded(course):
    first = grade(course, workers=2)
    assert first.graded == 2 and points(first)["ada"] > points(first)["bea"]
    again = grade(course, workers=1)
    assert again.graded == 0 and points(again) == points(first)
    assert json.loads(json.dumps(as_dict(again)))["submissions"][0]["points"] == points(first)["ada"]
    hand_in(course, "bea", RIGHT)
    changed = grade(course, workers=1)
    assert changed.graded == 1 and points(changed)["bea"] == points(first)["ada"]
    assert grade(course, workers=1, force=True).graded == 2
    (course / "gradebook.db").unlink()
    assert grade(course, workers=1).graded == 2, "a new gradebook is filled again"
    assert not list((course / ".anatomy").iterdir())


def test_late_work_and_marks_by_hand(course):
    grade(course, workers=1)
    url = f"sqlite:///{course}/gradebook.db"
    with Gradebook(url) as gradebook:
        gradebook.update_or_create_assignment(BOOK.slug, duedate="2026-01-01 12:00:00 UTC")
        gradebook.find_grade("check-softmax", BOOK.slug, BOOK.slug, "bea").manual_score = 1.5
        gradebook.db.commit()
    config = course / "nbgrader_config.py"
    text = "\nclass Late(__import__('nbgrader').plugins.LateSubmissionPlugin):\n    penalty_method = 'zero'\n"
    config.write_text(config.read_text("utf-8") + text + "c.AssignLatePenalties.plugin_class = Late\n", "utf-8")
    hand_in(course, "ada", RIGHT, timestamp="2026-01-02 12:00:00 UTC")
    hand_in(course, "bea", WRONG, timestamp="2026-01-01 11:00:00 UTC")
    assert points(grade(course, workers=1)) == {"ada": 0.0, "bea": 1.5}
    hand_in(course, "ada", RIGHT, timestamp="2026-01-01 11:00:00 UTC")
    assert points(grade(course, workers=1))["ada"] > 0, "the penalty is taken back"


def test_ctrl_c_leaves_a_run_that_goes_on(course, monkeypatch):
    recorded = run._Run._recorded

    def stopped(self, *given):
        recorded(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(run._Run, "_recorded", stopped)
    with pytest.raises(KeyboardInterrupt):
        grade(course, workers=1)
    monkeypatch.undo()
    assert grade(course, workers=1).graded == 1, "the other one was recorded"


def test_one_run_at_a_time(course):
    with run._alone(course), pytest.raises(run.AlreadyGrading):
        grade(course)


def test_without_a_sandbox_the_report_warns(course):
    report = grade(course, workers=1, sandbox="none")
    assert report.graded == 2 and "without a sandbox" in report.warning
