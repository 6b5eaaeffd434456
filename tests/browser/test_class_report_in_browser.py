"""The class report in a browser: it asks for nothing, runs nothing, and fits a narrow window and a sheet of paper."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page

from anatomy.classroom.grading.class_report.figures import figures
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.records import Record
from anatomy.classroom.grading.report import GRADED, Mark, SubmissionResult

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
    for width, media in ((420, "screen"), (1200, "screen"), (A4, "print")):
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(media=media)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, media)
    page.emulate_media(media="screen", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
