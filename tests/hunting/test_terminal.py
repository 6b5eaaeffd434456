"""The hunt in a terminal asks, says, and stops when it is told to."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from anatomy.course import COURSE
from anatomy.engine.hunting import asking, terminal
from anatomy.engine.hunting.puzzle import puzzle_of
from anatomy.engine.hunting.queue import queue_of

BOOK = COURSE.notebook("03-softmax")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.setattr(asking, "_first_tries", {})
    (tmp_path / "progress.json").write_text(json.dumps({"softmax": {"status": "right"}}), encoding="utf-8")


def asked(monkeypatch, *answers: str) -> str:
    given = iter(answers)

    def next_answer(*_: object, **__: object) -> str:
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    console = Console(width=100, file=io.StringIO(), force_terminal=False)
    monkeypatch.setattr(console, "input", next_answer)
    terminal.ask(COURSE, BOOK, console)
    return console.file.getvalue()


def test_it_asks_until_it_is_stopped(monkeypatch):
    first, second = queue_of(COURSE, BOOK).waiting[:2]
    shown = asked(monkeypatch, str(min(first.faulty)), puzzle_of(first).letter, "")
    assert f"Bug {first.id}: found!" in shown and f"Bug {second.id}, in an answer" in shown
    assert shown.endswith("Until next time.\n")


def test_there_is_time_to_read_what_became_of_a_bug(monkeypatch):
    first, second = queue_of(COURSE, BOOK).waiting[:2]
    shown = asked(monkeypatch, str(min(first.faulty)), puzzle_of(first).letter)
    assert f"Bug {first.id}: found!" in shown and f"Bug {second.id}" not in shown


def test_after_a_first_wrong_answer_it_asks_once_more(monkeypatch):
    first = queue_of(COURSE, BOOK).waiting[0]
    line, letter = str(min(first.faulty)), puzzle_of(first).letter
    wrong = next(one for one in "abcd" if one != letter)
    shown = asked(monkeypatch, line, wrong, line, letter)
    assert "Try once more" in shown and f"Bug {first.id}: found!" in shown
    assert shown.count("Suppose a friend shows you this.") == 1


def test_what_is_no_answer_is_asked_again(monkeypatch):
    first = queue_of(COURSE, BOOK).waiting[0]
    shown = asked(monkeypatch, "nine", "99", str(min(first.faulty)), "e", puzzle_of(first).letter.upper())
    assert f"Bug {first.id}: found!" in shown


def test_by_default_it_is_the_last_notebook_with_a_bug_to_show(monkeypatch, tmp_path):
    assert terminal.latest(COURSE) == BOOK
    right = {"status": "right"}
    for later, latest in (
        ({}, "00-start-here"),
        ({"gelu": right}, "05-encoder-layer"),
        ({"softmax": right, "gelu": right}, BOOK.slug),
    ):
        (tmp_path / "progress.json").write_text(json.dumps(later), encoding="utf-8")
        assert terminal.latest(COURSE).slug == latest
