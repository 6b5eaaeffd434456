"""A run over a class: only what changed, late work, reports for machines."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading import assignments, class_run, gradebook, run, submissions
from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.pseudonyms import without_names
from anatomy.classroom.grading.class_report.results import read_records
from anatomy.classroom.grading.collecting import give_back
from anatomy.classroom.grading.errors import CannotRecord
from anatomy.classroom.grading.last_run import NOT_YET
from anatomy.classroom.grading.report import GRADED, REPAIRED, UNGRADED, as_dict
from anatomy.classroom.grading.run_lock import AlreadyGrading, run_lock
from anatomy.classroom.grading.workers.parcels import Graded, ToGrade, ungraded
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import as_text, source_file, write
from anatomy.engine.typed import typed

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not sandbox.bubblewrap(), reason="needs bubblewrap")]
BOOK = COURSE.notebook("03-softmax")
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
    return run.grade(root, **{"workers": 1, "console": Console(file=io.StringIO()), **options})


def points(report):
    return {row.student: row.points for row in report.results}


def test_parcels_hold_what_was_packed():
    given = ToGrade(
        student="ada",
        assignment="03",
        notebook=b"\x00",
        edition=b"{}",
        files={"a/ö.txt": b"1", "notebook": b"2", "files/files/x": b""},
        figures={"map.svg": b"<svg/>"},
        repairs=["It was called b.ipynb."],
        made_from="a1b2",
        seeds=[1, 2],
        pipeline={"steps": ["a.B"], "settings": {"B": {"timeout": 7}}},
        sandbox="none",
        fork_server="",
        shared="",
        page_settings="{}",
    )
    assert ToGrade.unpacked(given.packed()) == given
    graded = Graded(marks={"check-a": None, "check-b": 1.5}, comments={"a": None}, notebook=b"{}", page=b"\xff")
    assert Graded.unpacked(graded.packed()) == graded
    assert Graded.unpacked(ungraded("No.")) == Graded(ungraded="No.")


def test_only_what_changed_is_graded(course):
    first = grade(course, workers=2)
    assert first.graded == 2 and points(first)["ada"] > points(first)["bea"]
    again = grade(course)
    assert again.graded == 0 and points(again) == points(first)
    assert json.loads(json.dumps(as_dict(again)))["submissions"][0]["points"] == points(first)["ada"]
    hand_in(course, "bea", RIGHT)
    changed = grade(course)
    assert changed.graded == 1 and points(changed)["bea"] == points(first)["ada"]
    assert grade(course, force=True).graded == 2
    (course / "gradebook.db").unlink()
    assert grade(course).graded == 2, "a new gradebook is filled again"
    assert [path.name for path in (course / ".anatomy").iterdir()] == ["assignments"], "no work copies are left"


def test_a_run_that_grades_nothing_imports_no_torch(course):
    grade(course)
    look = ("import sys; from pathlib import Path; from anatomy.classroom.grading.run import grade; "
            f"assert grade(Path({str(course)!r})).graded == 0; "
            "assert not {'torch', 'dask', 'distributed', 'transformers'} & set(sys.modules)")  # fmt: skip
    subprocess.run([sys.executable, "-c", look], check=True, stdout=subprocess.DEVNULL)


def test_an_assignment_is_registered_again_when_the_gradebook_or_its_source_changed(course, monkeypatch):
    registered = []
    register = assignments.register
    monkeypatch.setattr(assignments, "register", lambda *given: registered.append(given[1]) or register(*given))
    grade(course)
    grade(course)
    assert registered == [BOOK.slug]
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        book.find_grade_cell("check-softmax", BOOK.slug, BOOK.slug).max_score = 1
        book.db.commit()
    grade(course)
    assert len(registered) == 2
    kept = course / ".anatomy" / "assignments" / f"{BOOK.slug}.json"
    kept.write_text("{")
    grade(course)
    assert len(registered) == 3, "what is damaged is made anew"
    book = nbformat.read(source_file(course, BOOK.slug), as_version=4)
    book.cells[0].source += "\n\nOne more line."
    write(book, source_file(course, BOOK.slug))
    assert grade(course).graded == 2 and len(registered) == 4


def test_an_impossible_time_counts_as_none(course):
    hand_in(course, "ada", RIGHT, timestamp="2026-13-45 [/b] UTC")
    (row,) = grade(course, students=["ada"]).results
    said = "Its timestamp.txt holds no time ('2026-13-45 [/b] UTC'); it was graded as if it had none."
    assert (row.status, row.reasons) == (REPAIRED, (said,)) and row.points == row.worth


def test_folders_on_other_file_systems(course):
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == course.stat().st_dev:
        pytest.skip("needs a second file system")
    with tempfile.TemporaryDirectory(dir=memory) as elsewhere:
        for name in ("autograded", "feedback"):
            Path(elsewhere, name).mkdir()
            (course / name).symlink_to(Path(elsewhere, name))
        report = grade(course)
        assert not report.ungraded and report.pages == 2 and not report.without_page
        assert grade(course, force=True).pages == 2, "what is there is replaced"


def test_a_submission_that_is_taken_away_meanwhile_costs_itself(course, monkeypatch):
    look_at = class_run.ClassRun.look_at

    def then_take_away(self, found):
        tasks = look_at(self, found)
        shutil.rmtree(course / "submitted" / "ada")
        return tasks

    monkeypatch.setattr(class_run.ClassRun, "look_at", then_take_away)
    report = grade(course)
    ada, bea = report.results
    assert ada.status == UNGRADED and "taken away" in ada.reasons[0] and bea.status == GRADED
    assert "ada" in (course / "grades.csv").read_text("utf-8")


# ---- nothing can be recorded ----------------------------------------------------------------------------------------


def test_a_damaged_gradebook_is_said_and_left_as_it_is(course):
    (course / "gradebook.db").write_bytes(b"no database at all " * 100)
    with pytest.raises(CannotRecord, match=r"gradebook\.db can't be used: DatabaseError: file is not a database"):
        grade(course)
    assert (course / "gradebook.db").read_bytes() == b"no database at all " * 100


def test_a_locked_gradebook_is_said_and_nothing_is_lost(course):
    first = points(grade(course))
    hand_in(course, "bea", RIGHT)
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as other:
        other.execute("begin immediate")
        with pytest.raises(CannotRecord, match=r"database is locked.* goes on from there"):
            grade(course)
    again = grade(course)
    assert again.graded == 1 and points(again) == {"ada": first["ada"], "bea": first["ada"]}


def test_a_read_only_gradebook_is_said(course):
    grade(course)
    hand_in(course, "bea", RIGHT)
    config = course / "nbgrader_config.py"
    url = f"sqlite:///file:{course}/gradebook.db?mode=ro&uri=true"
    config.write_text(config.read_text("utf-8") + f"\nc.CourseDirectory.db_url = {url!r}\n", "utf-8")
    with pytest.raises(CannotRecord, match="readonly database"):
        grade(course)


def test_a_full_disk_ends_the_run_and_the_next_goes_on(course, monkeypatch):
    written = gradebook.write_beside

    def full(place, files, mode):
        if place.parent.name == "bea":
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(place, files, mode)

    monkeypatch.setattr(gradebook, "write_beside", full)
    with pytest.raises(CannotRecord, match=r"no room to record marks.*No space left.* goes on from there"):
        grade(course)
    monkeypatch.undo()
    report = grade(course)
    assert report.graded == 1 and not report.ungraded


def test_grades_csv_that_can_not_be_written(course):
    (course / "grades.csv").mkdir()
    with pytest.raises(CannotRecord, match=r"The tables of marks could not be written .*in the gradebook"):
        grade(course)
    (course / "grades.csv").rmdir()
    assert grade(course).graded == 0 and (course / "grades.csv").is_file()


def test_late_work_and_marks_by_hand(course):
    grade(course)
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
    assert points(grade(course)) == {"ada": 0.0, "bea": 1.5}
    hand_in(course, "ada", RIGHT, timestamp="2026-01-01 11:00:00 UTC")
    assert points(grade(course))["ada"] > 0, "the penalty is taken back"
    hand_in(course, "ada", RIGHT, timestamp="2026-01-02 12:00:00 UTC")
    assert points(grade(course))["ada"] == 0
    (course / "submitted" / "ada" / BOOK.slug / "timestamp.txt").unlink()
    printed = io.StringIO()
    assert points(grade(course, console=Console(file=printed, width=200)))["ada"] > 0, "no time, so it is not late"
    assert "! 1 of 2 submissions with a due date have no time of handing in" in printed.getvalue()


def test_who_is_in_the_class_list_and_has_handed_in_nothing_is_named(course):
    grade(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.update_or_create_student("Kim Absent")
    printed = io.StringIO()
    assert grade(course, console=Console(file=printed, width=200)).absent == ("Kim Absent",)
    assert "nothing handed in by Kim Absent" in printed.getvalue()
    assert "Kim Absent,,," in (course / "marks.csv").read_text("utf-8")


def test_giving_back_says_whose_marks_wait(course, tmp_path):
    grade(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.find_grade("check-softmax", BOOK.slug, BOOK.slug, "bea").manual_score = 1.5
        gradebook.db.commit()
    hand_in(course, "bea", RIGHT)
    grade(course)
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for student in ("ada", "bea"):
            file.writestr(f"{student}_1_assignsubmission_file/{BOOK.slug}.ipynb", "{}")
    assert give_back(course, "03", archive)[1:] == (2, (), ("bea",))


def test_files_that_are_left_out_are_said(course, monkeypatch):
    monkeypatch.setattr(submissions, "MOST_BYTES", 2**20)
    monkeypatch.setattr(submissions, "MOST_FILES", 3)
    place = course / "submitted" / "ada" / BOOK.slug
    (place / "a.bin").write_bytes(bytes(2**20 + 1))
    (place / "b.txt").write_text("small")
    (place / "link.txt").symlink_to(course / "nbgrader_config.py")
    (place / "up").symlink_to(course)
    (place / ".hidden").write_text("not worth a word")
    Path(os.fsdecode(os.fsencode(place) + b"/caf\xe9.txt")).write_text("Latin 1")
    os.mkfifo(place / "pipe")
    (row,) = grade(course, students=["ada"]).results
    said = ("Left out: a.bin (1 MB, and 1 MB is the most for all files), caf?.txt (its name is not UTF-8), "
            "link.txt (a symbolic link), pipe (not a file), up (a symbolic link).")  # fmt: skip
    assert (row.status, row.reasons) == (REPAIRED, (said,))
    names = {path.name for path in (course / "autograded" / "ada" / BOOK.slug).iterdir()}
    assert names == {f"{BOOK.slug}.ipynb", "b.txt"}
    page = (course / "feedback" / "ada" / BOOK.slug / f"{BOOK.slug}.html").read_text("utf-8")
    assert "Repaired before grading" in page and "link.txt (a symbolic link)" in page

    for number in range(4):
        (place / f"more-{number}.txt").write_text("")
    for name in ("link.txt", "up", "pipe"):
        (place / name).unlink()
    (row,) = grade(course, students=["ada"]).results
    assert row.reasons[0].endswith("more-2.txt (more than 3 files), more-3.txt (more than 3 files).")

    for path in [path for path in place.iterdir() if path.suffix != ".ipynb"]:
        path.unlink()
    assert grade(course, students=["ada"]).results[0].status == GRADED


def test_a_folder_whose_name_is_no_text(course):
    for place in (b"submitted/caf\xe9/03-softmax", b"submitted/bea/03\xff"):
        os.makedirs(os.fsencode(course) + b"/" + place)
    report = grade(course)
    refused = [(row.student, row.assignment, row.status) for row in report.ungraded]
    assert refused == [("bea", "03?", UNGRADED), ("caf?", BOOK.slug, UNGRADED)]
    assert {row.reasons for row in report.ungraded} == {("The folder's name is not UTF-8. Rename it.",)}
    assert report.graded == 2 and "caf?,03-softmax,ungraded,,," in (course / "grades.csv").read_text("utf-8")


def test_a_folder_whose_name_would_break_a_table(course):
    for name in ("a\nb", "a\x1b[31mb", "a\u2028b"):
        (course / "submitted" / name / BOOK.slug).mkdir(parents=True)
    report = grade(course)
    assert [row.status for row in report.ungraded] == [UNGRADED] * 3 and report.graded == 2
    assert all("control character" in row.reasons[0] for row in report.ungraded)


def test_a_student_whose_name_has_something_like_a_slash_in_it(course):
    names = {"a\N{DIVISION SLASH}b", "a\N{FRACTION SLASH}b", "a\\b", "a\N{FULLWIDTH SOLIDUS}b"}
    for name in names:
        shutil.copytree(course / "submitted" / "ada", course / "submitted" / name)
    report = grade(course)
    assert {row.student for row in report.results if row.status == GRADED} >= names
    assert all((course / "feedback" / name / BOOK.slug / f"{BOOK.slug}.html").is_file() for name in names)


def test_ctrl_c_leaves_a_run_that_goes_on(course, monkeypatch):
    recorded = class_run.ClassRun._recorded

    def stopped(self, *given):
        recorded(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(class_run.ClassRun, "_recorded", stopped)
    with pytest.raises(KeyboardInterrupt):
        grade(course)
    monkeypatch.undo()
    assert grade(course).graded == 1, "the other one was recorded"


def test_one_run_at_a_time(course):
    with run_lock(course), pytest.raises(AlreadyGrading):
        grade(course)


def test_without_a_sandbox_the_report_warns(course):
    report = grade(course, sandbox="none")
    assert report.graded == 2 and "without a sandbox" in report.warning


def test_a_folder_whose_name_would_be_code_in_a_page(course):
    (course / "submitted" / "<img src=x onerror=alert(1)>" / BOOK.slug).mkdir(parents=True)
    report = grade(course)
    (row,) = report.ungraded
    assert row.status == UNGRADED and "< or >" in row.reasons[0] and report.graded == 2


def table_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_mark_by_hand_stands_and_a_new_answer_is_said(course):
    printed = io.StringIO()
    grade(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        one = book.find_grade("check-softmax", BOOK.slug, BOOK.slug, "bea")
        one.manual_score, one.needs_manual_grade = 3, False  # as Formgrader does
        book.db.commit()
    assert not any(row.older_marks for row in grade(course, force=True).results), "graded again, and not changed"

    hand_in(course, "bea", RIGHT)
    report = grade(course, students=["bea"], console=Console(file=printed, width=200))
    (row,), text = report.results, printed.getvalue()
    said = "softmax is a new answer. The mark given by hand, 3 of 7, stands; the check gives 7."
    assert row.points == 3 and row.older_marks[0].startswith(said)
    assert f"new answer bea, {BOOK.slug}: {said}" in text and "3?" in text and "a mark by hand is older" in text
    assert table_of(course / "grades.csv")[1]["reason"].startswith(said)
    open_ones = {one.student: one.open for one in read_records(course)}
    assert open_ones["ada"] == "" and open_ones["bea"].startswith(said)
    page = (course / "feedback" / "bea" / BOOK.slug / f"{BOOK.slug}.html").read_text("utf-8")
    assert "A person gave these points to an earlier answer. The check says of this one: Right." in page

    (again,) = grade(course, students=["bea"]).results
    assert again.older_marks == row.older_marks, "until a person looks at it"
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        one = book.find_grade("check-softmax", BOOK.slug, BOOK.slug, "bea")
        one.manual_score = 7
        book.db.commit()
    assert not grade(course, students=["bea"], force=True).results[0].older_marks, "the check gives the same"
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        one = book.find_grade("check-softmax", BOOK.slug, BOOK.slug, "bea")
        one.manual_score, one.needs_manual_grade = None, False
        book.db.commit()
    (row,) = grade(course, students=["bea"]).results
    assert row.points == 7 and not row.older_marks


def test_a_run_over_one_student_leaves_the_lines_of_all_others(course):
    hand_in(course, "cem", RIGHT)
    (course / "submitted" / "cem" / BOOK.slug / f"{BOOK.slug}.ipynb").write_text("{", "utf-8")
    grade(course)
    before = {name: (course / name).read_text("utf-8") for name in ("marks.csv", "grades.csv")}
    hand_in(course, "dee", RIGHT)
    assert len(grade(course, students=["ada"]).results) == 1
    after = {name: (course / name).read_text("utf-8") for name in before}
    assert all(after[name].startswith(text) for name, text in before.items())
    (dee,) = [line for line in table_of(course / "grades.csv") if line["student"] == "dee"]
    assert (dee["status"], dee["points"], dee["reason"]) == (UNGRADED, "", NOT_YET)
    shutil.rmtree(course / "submitted" / "bea")
    grade(course)
    assert [line["student"] for line in table_of(course / "marks.csv")] == ["(of)", "ada", "bea", "cem", "dee"]


def test_what_lateness_cost_is_said(course):
    printed = io.StringIO()
    config, rule = course / "nbgrader_config.py", '# Late\nc.LateSubmissionPlugin.penalty_method = "zero"\n'
    hand_in(course, "ada", RIGHT, timestamp="2026-01-02 12:00:00 UTC")
    grade(course)
    config.write_text(config.read_text("utf-8") + rule, "utf-8")
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        book.update_or_create_assignment(BOOK.slug, duedate="2026-01-01 12:00:00 UTC")
    assert grade(course, console=Console(file=printed, width=200)).graded == 0, "no answer need run again"
    said = "7 of 7, 7 off for being late."
    assert f"late ada, {BOOK.slug}: {said}" in printed.getvalue() and " 0L " in printed.getvalue()
    assert table_of(course / "grades.csv")[0]["reason"] == said
    assert table_of(course / "marks.csv")[1] == {
        "student": "ada", BOOK.slug: "0", "total": "0", "off for lateness": "7"
    }  # fmt: skip
    page = as_html(figures(read_records(course)), datetime(2026, 1, 1))
    assert said in page and "0L</td>" in page and "L\u00a0late, with points off" in page
    config.write_text(config.read_text("utf-8").replace(rule, ""), "utf-8")
    report = grade(course)
    assert (report.graded, report.pages, points(report)["ada"]) == (0, 1, 7), "the rule is taken back"
    config.write_text(config.read_text("utf-8") + "c.Execute.timeout = 50\n", "utf-8")
    assert grade(course).graded == 2, "what a check gives may depend on all other settings"


def test_the_command_for_the_report_can_be_typed(course, monkeypatch):
    programs = Path(sys.executable).parent
    monkeypatch.setenv("PATH", os.pathsep.join(path for path in os.defpath.split(os.pathsep) if path != str(programs)))
    monkeypatch.chdir(programs.parent)
    printed = io.StringIO()
    report = grade(course, console=Console(file=printed, width=200))
    assert report.command == f"{programs.name}/anatomy" and f": {report.command} report" in printed.getvalue()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.defpath}")
    assert typed("report") == "anatomy report"
    monkeypatch.setenv("MAKELEVEL", "1")  # the Makefile has set the path, and the terminal does not know it
    assert typed("report") == f"{programs.name}/anatomy report"


def test_a_notebook_that_lies_flat_is_counted_and_named_at_the_end(course):
    printed = io.StringIO()
    (course / "submitted" / "dee_03-softmax.ipynb").write_text("{}", "utf-8")
    (course / "submitted" / "cem").mkdir()
    (course / "submitted" / "cem" / "03-softmax.ipynb").write_text("{}", "utf-8")
    assert grade(course, console=Console(file=printed, width=200)).is_amiss
    text = printed.getvalue()
    said = "It lies in no notebook's folder. Move it to submitted/cem/03-softmax/."
    assert re.search("cem .* ! .* ! ", text) and "! handed in, but misplaced: see below" in text
    page = as_html(figures(read_records(course)), datetime(2026, 1, 1))
    row = page.partition('<th scope="row"><bdi>cem</bdi></th>')[2].partition("</tr>")[0]
    assert 'title="not graded"' in row and 'title="not handed in"' not in row
    assert text.index("not handed in") < text.index(f"ungraded cem, 03-softmax.ipynb: {said}")
    assert "ungraded (unknown), dee_03-softmax.ipynb: It lies in no student's folder." in text
    assert "2 of 4 submissions are graded" in text
    assert len(grade(course, students=["ada"]).results) == 1
    for name in ("marks.csv", "grades.csv"):
        assert {"ada", "bea", "cem"} < {line["student"] for line in table_of(course / name)}
    open_ones = {one.student: one.open for one in read_records(course)}
    assert open_ones["cem"] == said and "(unknown)" in open_ones
    assert not [one for one in without_names(read_records(course), course) if "dee" in f"{one}"]
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        assert [student.id for student in book.students] == ["ada", "bea", "cem"]


def test_the_wrong_file_is_neither_new_nor_changed_and_its_student_is_known(course):
    printed = io.StringIO()
    hand_in(course, "cem", RIGHT)
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import numpy")])
    (course / "submitted" / "cem" / BOOK.slug / f"{BOOK.slug}.ipynb").write_text(as_text(other), "utf-8")
    grade(course)
    assert grade(course, console=Console(file=printed, width=200)).graded == 0
    assert "2 of 3 submissions are graded, 0 of them new or changed." in printed.getvalue()
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        assert [student.id for student in book.students] == ["ada", "bea", "cem"]
    grade(course, students=["ada"], console=Console(file=printed, width=200))
    assert "1 of 1 submission is graded, 0 of them" in printed.getvalue()
