"""The class report in a browser: it asks for nothing, runs nothing, and fits a narrow window and a sheet of paper."""

from __future__ import annotations

import re
from datetime import datetime
from io import BytesIO
from math import prod, sqrt
from pathlib import Path

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.report import GRADED, Mark, SubmissionResult
from anatomy.course import COURSE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

HOSTILE = "</code></pre><script>document.title = 'ran'</script><img src='http://localhost:9/x' onerror='alert(1)'>"
A4 = 688  # pixels between margins of 14 mm


def test_the_page_runs_nothing_and_fits(page_without_network: Page, tmp_path: Path) -> None:
    name = "scaled_dot_product_attention"
    records = [
        Record(SubmissionResult(f"student-{number} {HOSTILE}", slug, GRADED, (), (
            Mark(name, 1.0, 5.0, "wrong", {"axis": f"You sum along `dim`. {HOSTILE}"}),
            Mark("softmax", float(number % 4), 4.0, "wrong", said=HOSTILE, broken=("values",)),
        )), {"softmax": f"{HOSTILE}\n{'x' * 300}"})
        for number in range(9) for slug in ("03-softmax", "05-encoder-layer")
    ]  # fmt: skip
    file = tmp_path / "class-report.html"
    file.write_text(as_html(figures(records), datetime(2026, 1, 1)), encoding="utf-8")
    page, asked, opened = page_without_network, [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.goto(file.as_uri())
    assert page.title() == "Class report" and asked == [file.as_uri()] and opened == []
    assert page.locator("script, img").count() == 0
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    for width, media in ((420, "screen"), (1200, "screen"), (A4, "print")):
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(media=media)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, media)
        captions = page.locator("caption").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
        assert media == "print" or max(captions) <= width, "captions wrap where a table scrolls"
    page.emulate_media(media="screen", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


def test_it_prints_on_a4(page_without_network: Page, tmp_path: Path) -> None:
    """All columns and all students, nothing cut, no type that only the young can read."""
    names = [f"maximilian.mustermann-{number:02d}@students.example.org" for number in range(60)]
    slugs = [book.slug for book in COURSE.notebooks]
    said = [f"Mistake {place}. {'So wide. ' * 30}" for place in range(len(slugs))]
    records = [
        Record(SubmissionResult(name, slug, GRADED, (), (
            Mark("scaled_dot_product_attention", 2.5, 5.0, "wrong", {f"m{place}": said[place]}),
        )))
        for name in names for place, slug in enumerate(slugs)
    ]  # fmt: skip
    file = tmp_path / "class-report.html"
    file.write_text(as_html(figures(records), datetime(2026, 1, 1)), encoding="utf-8")
    page_without_network.goto(file.as_uri())
    printed = page_without_network.pdf(prefer_css_page_size=True)

    sizes, texts = [], []

    def note(text: str, current: list[float], matrix: list[float], font: object, size: float) -> None:
        if text.strip():
            sizes.append(size * prod(sqrt(abs(one[0] * one[3] - one[1] * one[2])) for one in (current, matrix)))

    for sheet in PdfReader(BytesIO(printed)).pages:
        assert sorted((sheet.mediabox.width, sheet.mediabox.height)) == pytest.approx([595, 842], abs=1), "points of A4"
        texts.append(sheet.extract_text(visitor_text=note))
    assert min(sizes) >= 8
    text = "\n".join(texts)
    assert len(re.findall(r"Mistake \d+\.", text)) == 10, "those that matter; the others are folded"
    assert "The other mistakes\nFolded on the screen: open it there to print it." in text
    marks = [text for text in texts if "total" in text]
    row = rf"^(\S+) ((?:2\.5 ){{{len(slugs)}}}){2.5 * len(slugs):g} 50%"
    rows = re.findall(row, "\n".join(marks), re.MULTILINE)
    assert [name for name, _ in rows] == names
    for sheet in marks:
        heads = re.findall(r"^(\d\d)\n/5$", sheet, re.MULTILINE)
        assert heads == [slug[:2] for slug in slugs], "the head is on each page"
