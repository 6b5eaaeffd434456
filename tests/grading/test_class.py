"""A class through real nbgrader: every answer gets the mark it deserves, whatever happens to its neighbors."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from anatomy.authoring.solved import solved_edition
from anatomy.classroom.grading import course_kernels
from anatomy.classroom.grading.assignments import student_edition
from anatomy.classroom.grading.class_report import write_report
from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.results import read_records
from anatomy.classroom.grading.known_marks import KNOWN_MARKS
from anatomy.classroom.grading.report import GRADED, REPAIRED, UNGRADED
from anatomy.classroom.grading.run import NothingToGrade, grade
from anatomy.classroom.sample_class import NotASample, filled, remove_sample_class, write_sample_class
from anatomy.course import COURSE
from anatomy.engine.answers import Answer, answer_bank
from anatomy.engine.notebook_files.notebooks import as_text, source_file
from tests.plenty import one_in

pytestmark = pytest.mark.slow


def hand_in(root, student, book, text):
    place = root / "submitted" / student / book.slug
    place.mkdir(parents=True)
    (place / f"{book.slug}.ipynb").write_text(text, encoding="utf-8")
    return place


def graded(root, **options):
    """(student → row, what was printed)."""
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    report = grade(root, console=console, **options)
    return {row.student: row for row in report.results}, console.file.getvalue()


def marks(row):
    return {mark.exercise: mark.points for mark in row.marks}


SOME = 4, 8
"""So many known mistakes of each exercise go through nbgrader, and half as many variants; and with `--everything`.

All are judged in tests/exercises.
"""


def some(answers, everything):
    """A few, from the first to the last."""
    return answers[:: -(-len(answers) // SOME[everything])]


def several_at_once(wrong):
    """A quiz can be wrong in every question: its mistakes, one of each question at a time."""
    if not all(answer.source.startswith("quiz_") for answer in wrong):
        return wrong
    by_question = {}
    for answer in wrong:
        by_question.setdefault(answer.loses, []).append(answer)
    together = []
    for now in zip_longest(*by_question.values()):
        now = [answer for answer in now if answer]
        given = [ast.literal_eval(answer.source.partition(" = ")[2]) for answer in now]
        merged = dict(given[0])
        for one, answer in zip(given, now, strict=True):
            merged.update({question: one[question] for question in answer.loses})
        names = " and ".join(answer.name for answer in now)
        loses = tuple(question for answer in now for question in answer.loses)
        together.append(Answer(now[0].exercise, names, f"{now[0].exercise} = {merged!r}", loses))
    return together


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("book", one_in(14, COURSE.notebooks, first=6), ids=lambda book: book.slug)
def test_answers_through_nbgrader(tmp_path, new_course, capsys, monkeypatch, book, everything):
    """Each variant gets full marks, each mistake its own, and is named.

    With seeds that no author looked at; the same in every run, so that a failure can be repeated.
    """
    monkeypatch.setattr(course_kernels, "fresh_seeds", lambda: (20_011, 7))
    root, answers, asked = new_course(tmp_path, book.slug), answer_bank(COURSE, book), COURSE.exercises(book)
    tried = {name: some(wrong, everything) for name, wrong in answers.mistaken.items()}
    mistaken = {name: several_at_once(wrong) for name, wrong in tried.items()}
    right = {name: some(variants, everything)[::2] for name, variants in answers.right.items()}
    handed_in = {}
    for kind, pool in (("variant", right), ("mistake", mistaken)):
        for number in range(max(map(len, pool.values()))):
            chosen = {name: pool[name][number] if number < len(pool[name]) else None for name in asked}
            handed_in[f"{kind}-{number:02d}"] = chosen
            hand_in(root, f"{kind}-{number:02d}", book, as_text(filled(root, book, chosen)))
    rows, _ = graded(root, workers=1, feedback=False)  # each worker would find out for itself what all the mistakes do

    amiss, counts = [], {"variant": 0, "mistake": 0}
    for student, chosen in handed_in.items():
        assert rows[student].status == GRADED, (student, rows[student].reasons)
        for mark in rows[student].marks:
            answer = chosen[mark.exercise]
            deserved = answer.points(asked[mark.exercise]) if answer else 0
            held = answer.name.split(" and ") if answer else []
            named = set() if answer is None or answer.right else set(held)
            counts[student.partition("-")[0]] += len(held)
            if (mark.points, set(mark.mistakes)) != (deserved, named):
                amiss.append(f"{mark.exercise}, {answer and answer.name}: {mark.points} points of {deserved}, "
                             f"taken for {sorted(mark.mistakes)}: {mark.said}")  # fmt: skip
    assert not amiss, "\n".join(amiss)
    assert counts["mistake"] == sum(map(len, tried.values()))
    with capsys.disabled():
        wrong, right = counts["mistake"], counts["variant"]
        known = sum(map(len, answers.mistaken.values()))
        print(f"\n{book.slug} through nbgrader: {len(asked)} exercises, {wrong} of {known} mistakes named, "
              f"{right} right answers with full marks, in {len(rows)} submissions")  # fmt: skip


@pytest.mark.timeout(900)
@pytest.mark.parametrize("book", one_in(14, COURSE.notebooks, first=1), ids=lambda book: book.slug)
def test_a_real_notebook_solved_and_untouched(tmp_path, root, book):
    """As it is taught, with all its text and pictures: solved 100 %, untouched 0."""
    if not source_file(root, book.slug).is_file():
        pytest.skip("not written yet")
    shutil.copyfile(root / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    shutil.copytree(source_file(root, book.slug).parent, source_file(tmp_path, book.slug).parent)
    hand_in(tmp_path, "solved", book, as_text(solved_edition(tmp_path, book.slug)))
    hand_in(tmp_path, "untouched", book, as_text(student_edition(tmp_path, book.slug)))
    rows, _ = graded(tmp_path)
    asked = COURSE.exercises(book)
    assert (rows["solved"].status, rows["untouched"].status) == (GRADED, GRADED)
    assert rows["solved"].points == rows["solved"].worth > 0 == rows["untouched"].points
    assert marks(rows["solved"]) == {name: exercise.points for name, exercise in asked.items()}, [
        f"{mark.exercise}: {mark.said}" for mark in rows["solved"].marks
    ]
    assert marks(rows["untouched"]) == dict.fromkeys(asked, 0.0)
    assert {mark.status for mark in rows["untouched"].marks} == {"not attempted"}


LATE = COURSE.notebook("03-softmax")
WRONG = {
    "loops": "def softmax(x, dim):\n    while True:\n        pass",
    "loops-at-top": "while True:\n    pass",
    "ignores-interrupts": "while True:\n    try:\n        while 1: 1\n    except BaseException:\n        pass",
    "exits": "def softmax(x, dim):\n    import os\n    os._exit(3)",
    "exits-at-top": "import os\nos._exit(3)",
    "crashes": "print(undefined)\n\ndef softmax(x, dim):\n    return x",
    "no-syntax": "def softmax(x, dim):\n    return ((x",
    "recurses": "def softmax(x, dim):\n    return softmax(x, dim)",
    "replaces-the-check": "import anatomy.engine.checking\n\ndef softmax(x, dim):\n    return x\n\n"
                          "def check(name):\n    return 7\n\nanatomy.engine.checking.check = check",
    "hides-the-check": "import anatomy\n\nanatomy.check = 7",
}  # fmt: skip


@pytest.mark.timeout(900)
def test_broken_submissions_are_named_and_all_others_graded(tmp_path, new_course):
    root = new_course(tmp_path, LATE.slug)
    config = root / "nbgrader_config.py"
    config.write_text(
        config.read_text(encoding="utf-8").replace("Execute.timeout = 60", "Execute.timeout = 2"), "utf-8"
    )
    right = {name: answers[0] for name, answers in answer_bank(COURSE, LATE).right.items()}
    for name in ("attention_weights", "scaled_dot_product_attention"):  # in versions that call nothing by name
        right[name] = next(answer for answer in answer_bank(COURSE, LATE).right[name] if not answer.uses)
    worth = {name: exercise.points for name, exercise in COURSE.exercises(LATE).items()}

    def with_softmax(source):
        book = filled(root, LATE, right)
        next(c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "softmax").source = source
        return as_text(book)

    sound = as_text(filled(root, LATE, right))
    hand_in(root, "sound", LATE, sound)
    for student, source in WRONG.items():
        hand_in(root, student, LATE, with_softmax(source))
    hand_in(root, "not-json", LATE, sound[:300])
    (hand_in(root, "missing", LATE, sound) / f"{LATE.slug}.ipynb").unlink()
    (root / "submitted" / "elsewhere" / "99-other").mkdir(parents=True)
    (hand_in(root, "link", LATE, "") / f"{LATE.slug}.ipynb").unlink()
    (root / "submitted" / "link" / LATE.slug / f"{LATE.slug}.ipynb").symlink_to(
        root / "source" / LATE.slug / f"{LATE.slug}.ipynb"
    )
    lost = filled(root, LATE, right)
    lost.cells = [c for c in lost.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "check-softmax"]
    hand_in(root, "lost-check", LATE, as_text(lost))
    before = {path: path.read_bytes() for path in (root / "submitted").rglob("*.ipynb")}
    rows, printed = graded(root)

    assert {path: path.read_bytes() for path in before} == before, "what was handed in is never changed"
    assert marks(rows["sound"]) == worth
    for student in WRONG:
        assert rows[student].status == GRADED, (student, rows[student].reasons)
        assert marks(rows[student]) == {**worth, "softmax": 0}, (student, [mark.said for mark in rows[student].marks])
    said = {student: row.marks[0].said for student, row in rows.items() if row.marks}
    assert "did not finish" in said["loops"]
    assert "did not finish in time" in said["loops-at-top"] and "did not finish in time" in said["ignores-interrupts"]
    assert "ended its kernel" in said["exits"] and "ended its kernel" in said["exits-at-top"]
    assert "NameError" in said["crashes"]
    assert all("kept the check from working" in said[student] for student in ("replaces-the-check", "hides-the-check"))
    assert "SyntaxError" in said["no-syntax"] and "RecursionError" in said["recurses"]
    assert rows["lost-check"].status == REPAIRED and marks(rows["lost-check"]) == worth
    reasons = {"not-json": "not JSON", "missing": "is missing", "elsewhere": "No notebook", "link": "symbolic link"}
    for student, reason in reasons.items():
        row = rows[student]
        assert row.status == UNGRADED and row.points is None and reason in row.reasons[0]
        assert re.search(rf"ungraded {student}, .*{reason}", printed)
    with (root / "grades.csv").open(encoding="utf-8", newline="") as file:
        lines = {line["student"]: line for line in csv.DictReader(file)}
    assert lines["not-json"]["points"] == "" and lines["not-json"]["softmax"] == "", "ungraded is never 0"
    assert float(lines["sound"]["points"]) == sum(worth.values())
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert {s.student_id for s in gradebook.assignment_submissions(LATE.slug)} == {
            student for student, row in rows.items() if row.status != UNGRADED
        }
    assert not list((root / ".anatomy").glob("release-*")), "work copies are gone"

    records = {one.student: one for one in read_records(root)}
    assert {student for student, one in records.items() if one.open} == set(reasons)
    assert all(reason in records[student].open for student, reason in reasons.items())
    assert records["crashes"].result.marks[0].broken == tuple(COURSE.exercises(LATE)["softmax"].properties)
    stopped = {one.student for one in figures(list(records.values())).stopped}
    assert stopped == {"loops", "loops-at-top", "ignores-interrupts", "exits", "exits-at-top"}
    broken = {one.student for one in figures(list(records.values())).broken_checks}
    assert broken == {"replaces-the-check", "hides-the-check"}


@pytest.mark.timeout(900)
def test_sample_class_gets_its_known_marks_and_nbgrader_agrees(tmp_path, new_course):
    """`anatomy grade`, then `nbgrader autograde` and feedback on a copy: the same marks."""
    root = new_course(tmp_path / "one", LATE.slug)
    sample = write_sample_class(5, 5, root)
    known = sample.known.read_bytes()
    write_sample_class(5, 5, root)
    assert sample.known.read_bytes() == known, "the same seed gives the same class"
    other = tmp_path / "two"
    shutil.copytree(root, other)
    console = Console(file=io.StringIO(), width=200)
    report = grade(root, console=console)
    assert report.known.compared == 5 and report.known.differing == ()
    assert "the marks of all 5 submissions equal the known ones" in console.file.getvalue()

    rows = {row.student: row for row in report.results if row.status == GRADED}
    for student in [path.name for path in (other / "submitted").iterdir() if path.is_dir()]:
        if student not in rows:
            shutil.rmtree(other / "submitted" / student)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]),
                   "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # fmt: skip
    for command in ("autograde", "generate_feedback"):
        run = subprocess.run([sys.executable, "-m", "nbgrader", command, LATE.slug], cwd=other, env=environment,
                             capture_output=True, text=True)  # fmt: skip
        assert run.returncode == 0, run.stderr[-3000:]
    with Gradebook(f"sqlite:///{other}/gradebook.db") as gradebook:
        stock = {s.student_id: s.score for s in gradebook.assignment_submissions(LATE.slug)}
    assert stock == {student: row.points for student, row in rows.items()}

    for student, row in rows.items():
        page = (other / "feedback" / student / LATE.slug / f"{LATE.slug}.html").read_text(encoding="utf-8")
        body = page[page.index("<body>") :]
        assert "<script" not in body and "&lt;div" not in body
        for mark in row.marks:
            assert f'href="#check-{mark.exercise}"' in body
        assert body.count("border-left:5px solid") or body.count("border-left: 5px solid")


def test_nothing_to_grade_says_where_it_looked(tmp_path, new_course):
    with pytest.raises(NothingToGrade, match=r"submitted/<student>/<notebook>/"):
        grade(new_course(tmp_path, LATE.slug))


def test_a_class_whose_files_all_lie_elsewhere_has_tables_and_a_report(tmp_path, new_course):
    root = new_course(tmp_path, LATE.slug)
    for place in ("03-softmax.ipynb", "ada/mine.ipynb", "bea/03-sofmax/03-softmax.ipynb", "cem/3/03-softmax.ipynb"):
        path = root / "submitted" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    _, printed = graded(root)
    reasons = {
        "(unknown)": "It lies in no student's folder. Move it to submitted/<student>/03-softmax/.",
        "ada": "It lies in no notebook's folder. Move it to submitted/ada/<notebook>/.",
        "bea": "No notebook is called '03-sofmax'. Do you mean 03-softmax? Rename the folder.",
        "cem": "No notebook is called 3. Rename the folder to 03-softmax.",
    }
    assert all(reason in printed for reason in reasons.values())
    assert "Nothing is graded: each of the 4 files has" in printed
    with (root / "grades.csv").open(encoding="utf-8", newline="") as file:
        assert {line["student"]: line["reason"] for line in csv.DictReader(file)} == reasons
    with (root / "marks.csv").open(encoding="utf-8", newline="") as file:
        assert [line["student"] for line in csv.DictReader(file)] == ["(of)", *reasons]
    made = write_report(root, tmp_path / "report.html")
    assert (made.students, made.graded, made.open) == (4, 0, 4)
    page = made.page.read_text("utf-8")
    assert "Rename the folder to 03-softmax" in page and 'href="#notebooks"' not in page


def test_a_sample_class_never_replaces_real_submissions(tmp_path, new_course):
    root = new_course(tmp_path, LATE.slug)
    place = hand_in(root, "somebody", LATE, "{}")
    with pytest.raises(NotASample, match="somebody"):
        write_sample_class(3, 1, root)
    assert (place / f"{LATE.slug}.ipynb").read_text() == "{}" and not (root / "submitted" / KNOWN_MARKS).exists()


def test_a_real_class_can_follow_a_made_up_one(tmp_path, new_course):
    """While both are there the run says so, and what is ungraded of the real one counts. One command parts them."""
    root = new_course(tmp_path, LATE.slug)
    write_sample_class(3, 1, root)
    grade(root)
    (root / "class-report.html").touch()
    assert write_sample_class(2, 1, root).replaced == 3
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        assert not book.assignments, "points of a notebook that nobody has handed in"
    assert not {path.name for path in root.iterdir()} & {"marks.csv", "grades.csv", "class-report.html"}
    text = (root / "submitted" / "student-001" / LATE.slug / f"{LATE.slug}.ipynb").read_text(encoding="utf-8")
    hand_in(root, "bob", LATE, text)
    hand_in(root, "ada", LATE, "{")
    console = Console(file=io.StringIO(), width=200)
    assert grade(root, console=console).is_amiss
    assert "! marks.csv and the report also count a made-up class, of 2 students." in console.file.getvalue()

    own = root / "submitted" / "student-001" / "own"
    own.mkdir()
    with pytest.raises(NotASample, match="own does not belong"):
        remove_sample_class(root)
    own.rmdir()
    assert remove_sample_class(root) == 2
    for folder, left in (("submitted", {"ada", "bob"}), ("autograded", {"bob"}), ("feedback", {"bob"})):
        assert {path.name for path in (root / folder).iterdir() if path.is_dir()} == left
    with (root / "grades.csv").open(encoding="utf-8") as file:
        assert [line["student"] for line in csv.DictReader(file)] == ["ada", "bob"]
    rows, said = graded(root)
    assert rows.keys() == {"ada", "bob"} and "made-up" not in said
    with (root / "marks.csv").open(encoding="utf-8") as file:
        assert [line["student"] for line in csv.DictReader(file)] == ["(of)", "ada", "bob"]
    with pytest.raises(NotASample, match="no made-up class"):
        remove_sample_class(root)

    shutil.rmtree(root / "submitted" / "bob")
    assert "nothing in submitted/ any more. marks.csv and the report still count their marks: bob." in graded(root)[1]
