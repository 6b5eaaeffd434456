"""An instructor in Formgrader: marks, the class report, what nobody's script may do, the autograde button."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Locator, Page, expect

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import as_text, source_file, write
from tests.browser.conftest import ROOT, jupyterlab, only_from
from tests.browser.lab import SLOW
from tests.grading.conftest import make_course
from tests.grading.hostile_pages import PAGE, made_hostile

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(not sandbox.bubblewrap(), reason="needs bubblewrap"),
]
BOOK = COURSE.notebook("03-softmax")
WORTH = COURSE.exercises(BOOK)["softmax"].points
WRONG = "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum()"
RIGHT = "def softmax(x, dim):\n    return (x - x.logsumexp(dim, keepdim=True)).exp()"


def hand_in(root: Path, student: str, answer: str = "") -> None:
    """The notebook with an answer, or with one that attacks who reads it."""
    book = filled(root, BOOK, {})
    if answer:
        book.cells[2].source = answer
    else:
        made_hostile(book)
    place = root / "submitted" / student / BOOK.slug
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{BOOK.slug}.ipynb").write_text(as_text(book), encoding="utf-8")
    if not answer:
        (place / "evil.html").write_text(PAGE, encoding="utf-8")


def grade(root: Path) -> dict[str, dict]:
    """`anatomy grade`: student → what it reports."""
    command = [str(Path(sys.executable).with_name("anatomy")), "grade", "--json", "--workers=1"]
    done = subprocess.run(
        command, cwd=root, text=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {row["student"]: row for row in json.loads(done.stdout)["submissions"]}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded class of two."""
    root = make_course(tmp_path_factory.mktemp("course"), BOOK.slug)
    book = nbformat.read(source_file(root, BOOK.slug), as_version=4)
    kept = ("softmax", "check-softmax")
    book.cells = book.cells[:2] + [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") in kept]
    book.cells[0].source += "\n\n![The map](map.svg)"
    write(book, source_file(root, BOOK.slug))
    hand_in(root, "ada", WRONG)
    hand_in(root, "mallory")
    assert {student: row["points"] for student, row in grade(root).items()} == {"ada": 1, "mallory": 1}
    return root


@pytest.fixture(scope="module")
def formgrader(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with jupyterlab(course, tmp_path_factory.mktemp("home"), "instructor") as address:
        yield f"{address}/formgrader"


@pytest.fixture
def page(chromium: Browser, formgrader: str) -> Iterator[Page]:
    """A page, in which no dialog opens and no script fails."""
    said: list[str] = []
    with only_from(chromium, formgrader.removesuffix("formgrader")) as page:
        page.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        yield page
    assert said == []


def row_of(page: Page, formgrader: str, student: str) -> Locator:
    page.goto(f"{formgrader}/manage_submissions/{BOOK.slug}")
    row = page.locator("tbody tr").filter(has=page.locator(".student-id", has_text=student))
    expect(row).to_be_visible(timeout=SLOW)
    return row


def open_submission(page: Page, formgrader: str, student: str) -> None:
    page.goto(f"{formgrader}/gradebook/{BOOK.slug}/{BOOK.slug}")
    address = page.locator(f"a.name-shown:text-is('{student}')").get_attribute("href", timeout=SLOW)
    page.goto(page.evaluate("path => new URL(path, location).href", address))
    expect(page.locator("#check-softmax")).to_have_attribute("placeholder", "1", timeout=SLOW)


def test_marks_and_cards_are_shown_and_a_mark_by_hand_reaches_the_student(
    page: Page, formgrader: str, course: Path
) -> None:
    row = row_of(page, formgrader, "ada")
    expect(row.locator(".score")).to_have_text(f"1 / {WORTH}")
    expect(row.locator(".status")).to_have_text("graded")
    open_submission(page, formgrader, "ada")
    marks = page.locator("#notebook-container > p").first
    expect(marks.get_by_role("link", name="softmax", exact=True)).to_have_attribute("href", "#mark-check-softmax")
    expect(page.get_by_text("You divide by the sum over the whole tensor")).to_be_visible()
    card = page.locator(".output_html > div").first
    assert card.evaluate("card => getComputedStyle(card).borderLeftColor") == "rgb(196, 50, 10)"
    expect(page.locator(".nbgrader_cell")).to_have_count(2)
    expect(page.locator("#notebook img"), "the map was not handed in: nothing stands for it").to_have_count(0)

    with page.expect_response(lambda response: "/api/grade/" in response.url and response.request.method == "PUT"):
        page.locator("#check-softmax").fill("3.5")
        page.locator("#check-softmax").blur()
    with page.expect_response(lambda response: "/api/comment/" in response.url and response.request.method == "PUT"):
        page.locator("#softmax-comment").fill("Nearly.")
        page.locator("#softmax-comment").blur()
    assert grade(course)["ada"]["points"] == 3.5
    given_back = (course / "feedback" / "ada" / BOOK.slug / f"{BOOK.slug}.html").read_text("utf-8")
    assert f"<b>3.5 of {WORTH} points</b>" in given_back and "Nearly." in given_back


def test_a_hostile_notebook_runs_nothing(page: Page, formgrader: str) -> None:
    open_submission(page, formgrader, "mallory")
    expect(page.get_by_text("COVER", exact=True).first).to_be_visible()
    page.get_by_text("a link", exact=True).first.click()
    page.get_by_text("a file beside", exact=True).first.click()
    page.wait_for_timeout(1000)
    assert page.evaluate("window.pwned") is None and "/submissions/" in page.url
    assert len(page.frames) == 1 and page.locator("iframe, object, embed, form").count() == 0
    assert page.locator("[id='check-softmax']").evaluate_all("all => all.map(one => one.tagName)") == ["INPUT"]
    on_top = "document.elementFromPoint(600, 20).closest('nav') !== null"
    assert page.evaluate(on_top), "nothing lies over Formgrader's own bar"


def test_a_tab_opens_the_class_report(page: Page, formgrader: str) -> None:
    page.goto(f"{formgrader}/gradebook")
    page.get_by_role("link", name="Class Report").click()
    expect(page.get_by_role("heading", name="Class report")).to_be_visible(timeout=SLOW)  # it is made now
    expect(page.get_by_role("table", name="Points of each student")).to_contain_text("mallory")
    page.get_by_role("link", name=re.compile("^waits? for you$")).click()
    assert page.evaluate("window.pwned") is None and page.url.endswith("/anatomy/class-report#open")
    page.get_by_role("link", name="without names").click()
    expect(page.get_by_role("table", name="Points of each student")).to_contain_text("student 01", timeout=SLOW)
    expect(page.get_by_text("mallory")).to_have_count(0)
    page.get_by_role("link", name="Formgrader").click()
    expect(page.get_by_role("link", name="Class Report")).to_be_visible(timeout=SLOW)


def test_the_page_for_a_hostile_student_runs_nothing(chromium: Browser, course: Path) -> None:
    said: list[str] = []
    with only_from(chromium, course.as_uri()) as page:
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.goto((course / "feedback" / "mallory" / BOOK.slug / f"{BOOK.slug}.html").as_uri())
        expect(page.get_by_text(f"1 of {WORTH} points").first).to_be_visible()
        page.get_by_text("a link", exact=True).first.click()
        page.wait_for_timeout(500)
        assert page.evaluate("window.pwned") is None and page.url.endswith(".html") and len(page.frames) == 1
    assert said == []


def test_an_instructors_lab_has_it(page: Page, formgrader: str) -> None:
    page.goto(formgrader.removesuffix("formgrader") + "lab")
    expect(page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader")).to_be_visible(timeout=SLOW)
    known = page.evaluate("jupyterapp.commands.listCommands()")
    assert {"nbgrader:open-formgrader", "nbgrader:open-create-assignment"} <= set(known)


@pytest.mark.many
def test_the_autograde_button_gives_the_mark_of_anatomy_grade(page: Page, formgrader: str, course: Path) -> None:
    hand_in(course, "bea", WRONG)
    row = row_of(page, formgrader, "bea")
    expect(row.locator(".status")).to_have_text("needs autograding")
    for answer, mark in ((WRONG, 1), (RIGHT, WORTH)):
        hand_in(course, "bea", answer)
        row.locator(".autograde a").click()
        expect(page.locator(".modal-title")).to_have_text("Success", timeout=SLOW)
        expect(row.locator(".score")).to_have_text(f"{mark} / {WORTH}")
        page.locator(".modal-footer button").click()
        expect(page.locator(".modal")).to_have_count(0)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        book.find_grade("check-softmax", BOOK.slug, BOOK.slug, "bea").manual_score = 2.5
        book.db.commit()
    row.locator(".autograde a").click()
    expect(page.locator(".modal-title")).to_have_text("Success", timeout=SLOW)
    expect(row.locator(".score")).to_have_text(f"2.5 / {WORTH}")
    report = grade(course)["bea"]
    assert report["points"] == 2.5 and report["marks"][0]["status"] == "right", "by hand, and judged as before"
    expect(row_of(page, formgrader, "bea").locator(".score")).to_have_text(f"2.5 / {WORTH}")
