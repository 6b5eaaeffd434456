"""Progress: shown as a card and as tables."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from anatomy.course import COURSE
from anatomy.engine.cards.card import as_text
from anatomy.engine.checking.progress import ProgressCard, progress_table
from anatomy.engine.checking.progress_file import note_check, note_hunt, progress_file
from anatomy.engine.exercise import quiz
from anatomy.engine.judging.verdict import Diagnosis, PropertyResult, Verdict
from tests.small_course import SmallCourse

FIRST, SECOND = COURSE.notebooks[:2]
SMALL = SmallCourse(slugs=(FIRST.slug, SECOND.slug))  # two notebooks with three exercises


@SMALL.asks(FIRST.slug, properties={"shape": 1, "values": 3})
def sums(seed):
    yield from ()


@SMALL.asks(SECOND.slug, properties={"values": 2})
def lookup(seed):
    yield from ()


SMALL.add(quiz("quiz_it", {"a": ("b",)}), FIRST.slug)


@pytest.fixture(autouse=True)
def nothing_noted(monkeypatch, tmp_path):
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "home"))


def verdict(name: str, status: str, points: int, *said: Diagnosis) -> Verdict:
    rest = PropertyResult("shape", 4 - points, status == "right")
    return Verdict(name, status, (PropertyResult("values", points, True), rest), said)


def noted(content: str) -> None:
    progress_file().parent.mkdir(parents=True, exist_ok=True)
    progress_file().write_text(content, encoding="utf-8")


def shown(card: ProgressCard, width: int = 100) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(card)
    return console.export_text()


def test_nothing_is_solved_at_first():
    first, second = progress_table(SMALL)
    assert [work.status for work in first.works] == ["not attempted", "not attempted"] and not first.is_begun
    assert (first.points, first.max_points, second.max_points) == (0, 5, 2)
    assert ProgressCard(SMALL).next_step == f"Next: sums in {FIRST.slug}."


def test_checks_are_noted_and_shown():
    note_check(verdict("sums", "wrong", 3))
    first, second = progress_table(SMALL)
    assert first.works[0].status == "wrong" and first.points == 3 and first.cells[1] == "◐○"
    note_check(verdict("sums", "right", 4))
    note_check(verdict("quiz_it", "right", 1))
    first, second = progress_table(SMALL)
    assert first.cells[1] == "●●" and first.open == [] and second.open == ["lookup"]
    assert first.words.startswith("2 of 2 exercises right, 5 of 5 points, all right since today")
    assert ProgressCard(SMALL).next_step == f"Next: lookup in {SECOND.slug}."
    note_check(verdict("lookup", "right", 2))
    assert ProgressCard(SMALL).next_step == "Everything here is right."


def test_an_optional_exercise_is_shown_and_has_no_points():
    optional = SmallCourse(slugs=(FIRST.slug,))

    @optional.asks(FIRST.slug, properties={"values": 0})
    def lookup(seed):
        yield from ()

    done = Verdict("lookup", "right", (PropertyResult("values", 0, True),), when_right="Well done.")
    note_check(done)
    (first,) = progress_table(optional)
    assert first.works[0].status == "right" and first.works[0].cells[2] == "optional" and first.max_points == 0
    assert as_text(done) == "Right: optional, no points.\nWell done."
    missed = Verdict("lookup", "wrong", (PropertyResult("values", 0, False),), (Diagnosis("One row is off."),))
    assert as_text(missed).endswith("Optional, no points.")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1]",
        "no json",
        '{"sums": 3}',
        '{"sums": {"status": "who knows", "points": "many", "attempts": [], "seconds": "1", "said": 3}}',
        '{"sums": {"points": -4, "seconds": NaN, "attempts": Infinity, "mistakes": "x", "hunted": []}}',
    ],
)
def test_a_damaged_file_disturbs_nobody(content):
    noted(content)
    assert progress_table(SMALL)[0].points == 0
    assert "not attempted" in progress_table(SMALL)[0].works[0].status
    assert "Next: sums" in shown(ProgressCard(SMALL, FIRST.slug)) and ProgressCard(SMALL)._repr_html_()
    note_check(verdict("sums", "right", 4, Diagnosis("Yours is late.", mistake="sums__late")))
    assert progress_table(SMALL)[0].points == 4


def test_points_never_exceed_what_an_exercise_gives():
    noted(json.dumps({"sums": {"status": "right", "points": 99}}))
    assert progress_table(SMALL)[0].points == 4


def test_the_card_says_the_same_in_every_form():
    note_check(verdict("sums", "right", 4))
    card = ProgressCard(SMALL)
    for text in (repr(card), card._repr_html_(), shown(card)):
        assert FIRST.title in text and "●○" in text and "Next: quiz_it" in text
    assert "1 of 2 exercises right, 4 of 5 points" in repr(card) and "4 of 5" in card._repr_html_()
    assert f'href="../{SECOND.slug}/{SECOND.slug}.ipynb"' in card._repr_html_()


def test_a_notebooks_card_has_its_exercises_first():
    note_check(verdict("lookup", "wrong", 1, Diagnosis("Yours `sums`.", mistake="lookup__sums")))
    card = ProgressCard(SMALL, SECOND.slug)
    page = card._repr_html_()
    assert page.index("<code>lookup</code>") < page.index("The whole course") and page.count("<details") == 2
    assert page.count("<caption") == 0 and ProgressCard(SMALL)._repr_html_().count("<caption") == 1
    assert "Yours <code>sums</code>." in page and "Yours sums." in shown(card, 80) and "1 attempt" in repr(card)
    assert card.next_step == f"Next: lookup in {SECOND.slug}."


def test_what_is_next_goes_on_from_the_notebook_worked_in_last():
    """In a terminal as in the notebook itself; back only when nothing is open from there on."""
    for worked_in, exercise in ((SECOND, "lookup"), (FIRST, "sums"), (SECOND, "lookup")):
        note_check(verdict(exercise, "wrong", 1))
        expected = f"Next: {exercise} in {worked_in.slug}."
        assert ProgressCard(SMALL).next_step == ProgressCard(SMALL, worked_in.slug).next_step == expected
    note_check(verdict("lookup", "right", 2))
    assert ProgressCard(SMALL).next_step == f"Next: sums in {FIRST.slug}."


def test_a_notebooks_card_counts_the_bugs_found_there():
    assert "Bugs found" not in ProgressCard(SMALL, FIRST.slug)._repr_html_()
    for bug, found in (("sums__late", True), ("sums__early", False), ("sums__late", True)):
        note_hunt("sums", bug, found)
    card, other = (ProgressCard(SMALL, book.slug) for book in (FIRST, SECOND))
    assert all("Bugs found here: 1." in text for text in (repr(card), card._repr_html_(), shown(card)))
    assert "Bugs found" not in other._repr_html_()


def test_a_notebooks_card_never_sends_back():
    """One may begin with any notebook, and a solved edition knows of no other."""
    note_check(verdict("lookup", "right", 2))
    assert ProgressCard(SMALL, SECOND.slug).next_step == "Everything from here on is right."
    assert ProgressCard(SMALL).next_step == f"Next: sums in {FIRST.slug}."
    note_check(verdict("sums", "right", 4))
    note_check(verdict("quiz_it", "right", 1))
    note_check(verdict("lookup", "wrong", 0))
    assert ProgressCard(SMALL, FIRST.slug).next_step == f"Next: lookup in {SECOND.slug}."


def test_a_table_that_everybody_can_read():
    """Rows and columns have headings, and no state is told by a sign or a color alone."""
    note_check(verdict("sums", "wrong", 3))
    page = ProgressCard(SMALL)._repr_html_()
    assert page.count("<table") == page.count("<thead>") == 2 and 'scope="col"' in page and 'scope="row"' in page
    assert 'aria-label="0.1 begun, 0.2 open"' in page and "◐ begun" in page and "<script" not in page
    nasty = Diagnosis("<script>alert(1)</script>", mistake="sums__nasty")
    note_check(verdict("sums", "wrong", 3, nasty))
    assert "<script" not in ProgressCard(SMALL)._repr_html_()


def test_a_terminal_says_where_it_is_noted_and_for_whom():
    for card in (ProgressCard(SMALL), ProgressCard(SMALL, SECOND.slug)):
        said = " ".join(shown(card, 400).split())
        assert f"Noted in {progress_file()}, for all copies of the course on this machine." in said
        page = card._repr_html_()
        assert "Noted for all copies of the course on this machine." in page and str(progress_file().parent) not in page


def test_a_mistake_is_named_until_its_exercise_is_right():
    wrong, right = Diagnosis("Yours is late.", mistake="sums__late"), verdict("sums", "right", 4)
    note_check(verdict("sums", "wrong", 3, wrong))
    for named, now in ((True, None), (False, right), (True, verdict("sums", "wrong", 3))):
        if now:
            note_check(now)
        card = ProgressCard(SMALL, FIRST.slug)
        assert [said in text for said, text in (("Yours is late.", card._repr_html_()), ("late", shown(card)))] == [
            named
        ] * 2
