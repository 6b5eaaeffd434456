"""The grader killed at random moments and run again: the same gradebook as a run that nobody disturbed."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from nbgrader.api import Gradebook

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import as_text, source_file, write
from tests.forked_kernels.kernel_session import soon

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]

MARK = "ANATOMY_TEST_MARK"
BOOK = COURSE.notebook("03-softmax")
KILLS, SOME = 10, 1
"""So often a run is killed with `--everything`, and otherwise."""
ANSWERS = {
    "ada": "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()",
    "bea": "def softmax(x, dim):\n    return x / 2",
    "cleo": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)",
    "dora": "def softmax(x, dim):\n    import os; os._exit(1)",
    "eve": "",
}


def small_class(root, new_course):
    new_course(root, BOOK.slug)
    book = nbformat.read(source_file(root, BOOK.slug), as_version=4)
    kept = ("softmax", "check-softmax")
    book.cells = book.cells[:2] + [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") in kept]
    write(book, source_file(root, BOOK.slug))
    for student, answer in ANSWERS.items():
        handed_in = filled(root, BOOK, {})
        if answer:
            handed_in.cells[2].source = answer
        if student == "bea":  # to be repaired
            handed_in.cells.pop(3)
        place = root / "submitted" / student / BOOK.slug
        place.mkdir(parents=True)
        (place / f"{BOOK.slug}.ipynb").write_text(as_text(handed_in) if student != "eve" else "{", encoding="utf-8")
    return root


def marks(database: str):
    """Everything in the gradebook that is a mark, one line for each time it is there."""
    with Gradebook(database) as gradebook:
        return sorted(
            (s.student_id, s.score, s.max_score, g.name, g.auto_score, g.manual_score, g.needs_manual_grade)
            for s in gradebook.assignment_submissions(BOOK.slug) for n in s.notebooks for g in n.grades
        )  # fmt: skip


def reported(path: Path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.timeout(3600)  # a run that hangs; each of the many takes as long as the machine lets it
def test_killed_and_run_again_gives_the_same_gradebook(tmp_path, new_course, capsys, everything):
    kills = KILLS if everything else SOME
    root = small_class(tmp_path / "course", new_course)
    script = Path(__file__).with_name("crash_session.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), MARK: str(root)}
    run = subprocess.run([sys.executable, str(script), str(root), "3", str(kills)], capture_output=True, text=True,
                         env=environment)  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    told = json.loads(run.stdout.splitlines()[-1])
    with capsys.disabled():
        print(f"\n  Undisturbed: {told['span']} s (by workers). Killed after {told['moments']} s; in between "
              f"{told['finished']} runs came to their end.")  # fmt: skip
    assert len(told["moments"]) == kills
    assert marks(f"sqlite:///{root}/gradebook.db") == marks(f"sqlite:///{root}/undisturbed-gradebook.db")
    assert len(marks(f"sqlite:///{root}/gradebook.db")) == 4, (
        "one mark each, none for the file that could not be opened"
    )
    assert reported(root / "grades.csv") == reported(root / "undisturbed-grades.csv")
    graded = [sorted(p.relative_to(place) for p in place.rglob("*")) for place in
              (root / "autograded", root / "undisturbed-autograded")]  # fmt: skip
    assert graded[0] == graded[1]
    assert not list((root / ".anatomy").glob("release-*")), "work copies of killed runs are gone"
    assert soon(lambda: not still_there(str(root))), still_there(str(root))


def still_there(root):
    """What the killed runs have started and is still running."""
    found = []
    for one in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            if one.environ().get(MARK) == root:
                found.append((one.pid, one.info["cmdline"]))
    return found
