"""The file of progress: what is noted, by whom, and what becomes of it when it is old, damaged or shared."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date

import pytest
from torch import no_grad

from anatomy.engine.checking import progress_file as file
from anatomy.engine.checking.progress_entry import Entry
from anatomy.engine.checking.progress_file import Clock, fingerprint, note_check, note_hunt, read_progress
from anatomy.engine.judging.verdict import Diagnosis, PropertyResult, Verdict


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.setattr(file, "clock", Clock())
    return tmp_path


def verdict(name: str, status: str, *mistakes: str) -> Verdict:
    results = (PropertyResult("values", 3, status == "right"),)
    return Verdict(name, status, results, tuple(Diagnosis(f"About {one}.", mistake=one) for one in mistakes))


def test_what_is_noted():
    note_check(verdict("a", "wrong", "a__x"))
    note_check(verdict("a", "wrong", "a__y", "a__x"))
    note_check(verdict("a", "right"))
    entry = read_progress()["a"]
    assert entry.mistakes == ("a__y", "a__x") and entry.said == "About a__x."
    assert (entry.status, entry.points, entry.attempts) == ("right", 3, 2)
    assert entry.first_right == date.today().isoformat()


def test_an_answer_not_written_is_no_attempt():
    note_check(verdict("a", "not attempted"))
    assert read_progress()["a"].attempts == 0


def test_an_untouched_copy_takes_no_result_back():
    """Two folders of one course share the file: `anatomy start` makes another at any time."""
    note_check(verdict("a", "right"), lambda x: x)
    note_check(verdict("b", "wrong", "b__x"))
    before = read_progress()
    note_check(verdict("a", "not attempted"), None)
    note_check(verdict("b", "not attempted"))
    assert read_progress() == before
    note_check(verdict("a", "wrong"))
    assert read_progress()["a"].status == "wrong", "an answer that is there counts"


def test_the_first_time_stays(home):
    (home / "progress.json").write_text(json.dumps({"a": {"status": "right", "first_right": "2025-02-03"}}))
    note_check(verdict("a", "wrong"))
    note_check(verdict("a", "right"))
    assert read_progress()["a"].first_right == "2025-02-03"


def test_an_older_file_is_read_on(home):
    """It has no days: when its exercises were first right nobody knows."""
    old = {"status": "right", "points": 3, "max_points": 3}
    (home / "progress.json").write_text(json.dumps({"a": old, "b": old, "gone": old}))
    note_check(verdict("a", "right"), lambda x: x)
    entries = read_progress()
    assert entries["b"] == entries["gone"] == Entry("right", 3, 3) and entries["a"].first_right == ""
    assert entries["a"].is_solved and entries["b"].is_solved


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": 3, "b": {"points": 1}}'])
def test_a_damaged_file_is_put_aside(home, content):
    path = home / "progress.json"
    for number in (1, 2):
        path.write_bytes(content)
        note_check(verdict("c", "right"))
        assert (home / f"progress.damaged-{number}.json").read_bytes() == content
        assert read_progress()["c"].status == "right"
    assert ("b" in read_progress()) == (b'"b"' in content), "what can be read is kept"


def test_what_is_not_changed_stays_in_the_file_known_or_not(home):
    """A later version may note more; what a damaged entry still holds may be of use to somebody."""
    path = home / "progress.json"
    other = {"status": 7, "hunted": [], "later": {"a": [1]}}
    odd = {"points": "many", "attempts": 2, "seconds": 1e300, "mistakes": "x", "later": [None], "first_right": 3}
    path.write_text(json.dumps({"a": odd, "b": other}))
    note_check(verdict("a", "wrong"))
    noted = json.loads(path.read_text())
    assert noted["b"] == other and {**noted["a"], "seconds": 0} == {**odd, "attempts": 3, "status": "wrong",
                                                                  "max_points": 3, "seconds": 0}  # fmt: skip
    note_hunt("a", "a__x", True)
    note_check(verdict("a", "right", "a__x"))
    entry = read_progress()["a"]
    assert (entry.status, entry.points, entry.attempts, entry.mistakes) == ("right", 3, 4, ("a__x",))
    assert entry.first_right and entry.hunted == {"a__x": True}
    assert json.loads(path.read_text())["a"]["later"] == [None]


def test_a_found_bug_stays_found():
    note_hunt("a", "a__x", False)
    note_hunt("a", "a__x", True)
    note_hunt("a", "a__x", False)
    note_hunt("a", "a__y", False)
    assert read_progress()["a"].hunted == {"a__x": True, "a__y": False}


@pytest.mark.slow
def test_two_notebooks_that_write_at_once_lose_nothing(home):
    program = """
import sys
from anatomy.engine.checking.progress_file import note_hunt
for number in range(40):
    note_hunt(sys.argv[1], f"{sys.argv[1]}__{number}", True)
"""
    writers = [subprocess.Popen([sys.executable, "-c", program, name]) for name in ("a", "b", "c")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert {name: len(entry.hunted) for name, entry in read_progress().items()} == dict(a=40, b=40, c=40)


def test_a_file_that_another_keeps_locked_disturbs_no_check(home, monkeypatch):
    from filelock import FileLock

    monkeypatch.setattr(file, "LOCK_TIMEOUT", 0.1)
    with FileLock(home / "progress.lock", thread_local=False):
        note_check(verdict("a", "right"))
    assert read_progress() == {}


def test_minutes_are_time_between_cells_and_no_breaks(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(file.time, "monotonic", lambda: now[0])
    clock = Clock()
    for moment in (0, 100, 160, 1000, 1030):  # 160 → 1000 is a break
        now[0] = moment
        clock.tick()
    now[0] = 1040
    assert clock.take() == 100 + 60 + 30 + 10
    assert clock.take() == 0


def test_a_fingerprint_is_of_what_an_answer_does():
    def first(x):
        return x + 1

    def second(x):
        # the same

        return x + 1  # indeed

    def third(x):
        return x + 2

    second.__code__ = second.__code__.replace(co_name="first")
    third.__code__ = third.__code__.replace(co_name="first")
    assert fingerprint(first) == fingerprint(second) != fingerprint(third)
    assert fingerprint(no_grad()(first)) == fingerprint(first)
    assert fingerprint({"a": "b"}) == fingerprint({"a": "b"}) != fingerprint({"a": "c"})
    assert fingerprint(3.5) and not fingerprint(object()) and not fingerprint(None)


@pytest.mark.slow
def test_a_fingerprint_is_the_same_in_another_process():
    program = (
        "from anatomy.engine.checking.progress_file import fingerprint\n"
        "class A:\n    def f(self, x, y=('a', 1)):\n        return x in {'p', 'q', 'r', 's'} and [z for z in y]\n"
        "print(fingerprint(A))"
    )
    told = {subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout for _ in range(3)}
    assert len(told) == 1 and told.pop().strip()
