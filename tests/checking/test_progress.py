"""Progress: what checks noted, shown as a card and as a table."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from anatomy import exercises
from anatomy.checking import progress
from anatomy.checking.progress import ProgressCard, note_progress, progress_table, read_progress
from anatomy.course import NOTEBOOKS
from anatomy.exercises import exercise, quiz
from anatomy.judging.verdict import PropertyResult, Verdict

FIRST, SECOND = NOTEBOOKS[0], NOTEBOOKS[1]


@pytest.fixture(autouse=True)
def course(monkeypatch, tmp_path):
    """Two notebooks with three exercises, nothing noted yet."""

    @exercise(FIRST.slug, properties={"shape": 1, "values": 3})
    def sums(seed):
        yield from ()

    @exercise(SECOND.slug, properties={"values": 2})
    def lookup(seed):
        yield from ()

    asked = {FIRST: {"sums": sums, "quiz_it": quiz(FIRST.slug, "quiz_it", {"a": ("b",)})}, SECOND: {"lookup": lookup}}
    monkeypatch.setattr(exercises, "of_notebook", lambda notebook: asked.get(notebook, {}))
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "home"))


def verdict(name: str, status: str, points: int) -> Verdict:
    rest = PropertyResult("shape", 4 - points, status == "right")
    return Verdict(name, status, (PropertyResult("values", points, True), rest))


def test_nothing_is_solved_at_first():
    first, second = progress_table()
    assert first.exercises == {"sums": "not attempted", "quiz_it": "not attempted"}
    assert (first.points, first.max_points, second.max_points) == (0, 5, 2)
    assert ProgressCard().next_step == f"Next: sums in {FIRST.slug}."


def test_checks_are_noted_and_shown():
    note_progress(verdict("sums", "wrong", 3))
    (first, second) = progress_table()
    assert first.exercises["sums"] == "wrong" and first.points == 3 and first.signs == "◐○"
    note_progress(verdict("sums", "right", 4))
    note_progress(verdict("quiz_it", "right", 1))
    first, second = progress_table()
    assert first.signs == "●●" and first.open == [] and second.open == ["lookup"]
    assert first.words == "2 of 2 exercises right, 5 of 5 points"
    assert ProgressCard().next_step == f"Next: lookup in {SECOND.slug}."
    note_progress(verdict("lookup", "right", 2))
    assert ProgressCard().next_step == "Everything here is right."


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1]",
        "no json",
        '{"sums": 3}',
        '{"sums": {"status": "who knows", "points": "many"}}',
        '{"sums": {"points": -4}}',
    ],
)
def test_a_damaged_file_disturbs_nobody(content):
    progress.progress_file().parent.mkdir(parents=True)
    progress.progress_file().write_text(content, encoding="utf-8")
    assert progress_table()[0].points == 0
    assert "not attempted" in progress_table()[0].exercises["sums"]
    note_progress(verdict("sums", "right", 4))
    assert read_progress()["sums"]["points"] == 4


def test_points_never_exceed_what_an_exercise_gives():
    progress.progress_file().parent.mkdir(parents=True)
    progress.progress_file().write_text(json.dumps({"sums": {"status": "right", "points": 99}}), encoding="utf-8")
    assert progress_table()[0].points == 4


def test_the_card_says_the_same_in_every_form():
    note_progress(verdict("sums", "right", 4))
    card = ProgressCard()
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(card)
    for text in (repr(card), card._repr_html_(), console.export_text()):
        assert FIRST.title in text and "●○" in text and "Next: quiz_it" in text
    assert "1 of 2 exercises right, 4 of 5 points" in repr(card) and "4 of 5" in card._repr_html_()
    assert f'href="../{SECOND.slug}/{SECOND.slug}.ipynb"' in card._repr_html_()
