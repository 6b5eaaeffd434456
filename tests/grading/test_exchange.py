"""The exchange's collector and releaser, among students who try things. No hub, no processes."""

from __future__ import annotations

import logging
import os
import pwd
from pathlib import Path

import pytest
from nbgrader.api import MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange
from traitlets.config import Config

from anatomy.classroom.grading import exchange

ME = pwd.getpwuid(os.geteuid()).pw_name
SLUG, WHEN = "03-softmax", "2026-03-02 10:00:00.000000 UTC"


class NoGradebook:
    """Stands for a gradebook without a due date. A real one takes a second to make."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> NoGradebook:
        return self

    def __exit__(self, *_: object) -> None: ...

    def find_assignment(self, name: str) -> None:
        raise MissingEntry(name)


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("nbgrader.exchange.default.collect.Gradebook", NoGradebook)
    folder = tmp_path / "exchange" / "anatomy" / "inbound"
    folder.mkdir(parents=True)
    (tmp_path / "exchange").chmod(0o777)
    return folder


def hand_in(inbox: Path, who: str = ME, when: str = WHEN, text: str = "{}") -> Path:
    """A submission as nbgrader lays it down: it belongs to whoever runs this test, whomever it names."""
    folder = inbox / f"{who}+{SLUG}+{when}+random"
    folder.mkdir()
    for name, content in ((f"{SLUG}.ipynb", text), ("timestamp.txt", when), ("submission_secret.txt", "ab" * 64)):
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def config_for(root: Path) -> Config:
    folders = {"root": str(root / "course"), "course_id": "anatomy", "assignment_id": SLUG, "max_dir_size": 10,
               "ignore": ["my_transformer*.py"]}  # fmt: skip
    return Config(CourseDirectory=folders, Exchange={"root": str(root / "exchange")}, ExchangeCollect={"update": True})


def collect(root: Path) -> Path:
    """Collect everything; the folder of submissions."""
    config = config_for(root)
    (root / "course").mkdir(exist_ok=True)
    exchange.Collect(coursedir=CourseDirectory(config=config), config=config).start()
    return root / "course" / "submitted"


def test_an_ordinary_submission_and_then_a_newer_one(tmp_path: Path, inbox: Path) -> None:
    (hand_in(inbox) / "figures").mkdir()
    place = collect(tmp_path) / ME / SLUG
    assert sorted(path.name for path in place.iterdir()) == [f"{SLUG}.ipynb", "submission_secret.txt", "timestamp.txt"]
    assert (place / "timestamp.txt").read_text() == WHEN and (place / "submission_secret.txt").read_text() == "ab" * 64
    hand_in(inbox, when="2026-03-02 11:00:00.000000 UTC", text='{"newer": 1}')
    collect(tmp_path)
    assert (place / f"{SLUG}.ipynb").read_text() == '{"newer": 1}' and "11:00" in (place / "timestamp.txt").read_text()


def test_nobody_hands_in_for_another(tmp_path: Path, inbox: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = "daemon" if ME != "daemon" else "nobody"
    hand_in(inbox)
    hand_in(inbox, who=other, when="2099-01-01 00:00:00 UTC")
    hand_in(inbox, when="no time")
    (inbox / f"{other}+{SLUG}+{WHEN}+link").symlink_to("/etc")
    with caplog.at_level(logging.WARNING):
        submitted = collect(tmp_path)
    assert [path.name for path in submitted.iterdir()] == [ME]
    assert f"is {ME}'s, not {other}'s" in caplog.text and "no time" in caplog.text and "not a folder" in caplog.text


def test_only_files_of_the_students_own(tmp_path: Path, inbox: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A link would be read with the instructor's rights, and its content shown to the submission."""
    secret = tmp_path / "solution.ipynb"
    secret.write_text("the solution")
    folder = hand_in(inbox)
    (folder / "answers.ipynb").symlink_to(secret)
    (folder / "everything").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(folder / "waits")
    (folder / "my_transformer.py").write_text("ignored")
    (folder / "timestamp.txt").unlink()
    (folder / "timestamp.txt").mkdir()
    (folder / "submission_secret.txt").write_bytes(b"\xff")
    (folder / "large.bin").write_bytes(bytes(20_000))
    deep = folder.joinpath(*["d"] * 20)
    deep.mkdir(parents=True)
    (deep / "too deep").write_text("x")
    (folder / "d" / "kept.txt").write_text("kept")
    with caplog.at_level(logging.WARNING):
        place = collect(tmp_path) / ME / SLUG
    found = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert found == {f"{SLUG}.ipynb", "d/kept.txt", "timestamp.txt", "submission_secret.txt"}
    assert (place / "timestamp.txt").read_text() == WHEN and len((place / "submission_secret.txt").read_text()) == 128
    assert all(name in caplog.text for name in ("answers.ipynb", "waits", "large.bin"))


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away: needs root")
def test_a_file_of_somebody_elses_stays(tmp_path: Path, inbox: Path) -> None:
    folder = hand_in(inbox)
    os.chown(folder / "submission_secret.txt", 1, 1)
    place = collect(tmp_path) / ME / SLUG
    assert (place / "submission_secret.txt").read_text() != "ab" * 64


def test_work_that_was_changed_after_its_time_is_mentioned(
    tmp_path: Path, inbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hand_in(inbox, when="2020-01-01 00:00:00 UTC")
    with caplog.at_level(logging.WARNING):
        collect(tmp_path)
    assert "was changed" in caplog.text and "after the time that its name says" in caplog.text


def test_pages_of_those_without_the_exchange_do_not_stop_the_others(
    tmp_path: Path, inbox: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for student, came in (("ada", False), ("ben", True)):
        folder = tmp_path / "course" / "feedback" / student / SLUG
        folder.mkdir(parents=True)
        (folder / f"{SLUG}.html").write_text("<p>page</p>")
        for name in ("timestamp.txt", "submission_secret.txt") if came else ():
            (folder / name).write_text(WHEN)
    config = config_for(tmp_path)
    with caplog.at_level(logging.WARNING):
        release = exchange.ReleaseFeedback(coursedir=CourseDirectory(config=config), config=config)
        assert isinstance(release, Exchange)
        release.start()
    assert len(list((inbox.parent / "feedback").glob("*.html"))) == 1
    assert "ada did not hand in through the exchange" in caplog.text and "ben did not" not in caplog.text
