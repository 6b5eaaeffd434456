"""What a screen reader, a keyboard, a narrow window and a dark theme make of all that the course displays."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from playwright.sync_api import Page, expect

from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.results import Record
from anatomy.classroom.grading.feedback.page import PageMaker
from anatomy.classroom.grading.feedback.standing import ShownMark, Standing
from anatomy.classroom.grading.report import GRADED, Mark, SubmissionResult
from anatomy.engine.notebook_files.settings import settings
from tests.browser.accessible import LONG, NOTED, everything, violations
from tests.browser.lab import SLOW, Lab
from tests.browser.views import save

OUTPUTS = ".jp-NotebookPanel .jp-OutputArea-output"
CLIPPED = """areas => areas.flatMap(area => {
    if (area.matches('.jp-RenderedMarkdown') || area.querySelector('img, svg'))
        return getComputedStyle(area).overflowX === 'auto' ? [] : [area.outerHTML.slice(0, 200)];
    const scrolls = node => node !== area && (getComputedStyle(node).overflowX === 'auto' || scrolls(node.parentNode));
    const right = area.getBoundingClientRect().right + 1;
    return [...area.querySelectorAll('*')].filter(node => node.getBoundingClientRect().right > right && !scrolls(node))
        .map(node => node.outerHTML.slice(0, 200));
})"""
"""What of outputs lies beyond their right edge and can't be scrolled to. An output as a whole scrolls for pictures and
Markdown only: a card's text must not lie to the right of its window."""

GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}
"""Of feedback pages."""

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of everything, with outputs."""
    folder = tmp_path_factory.mktemp("everything")
    (folder / "progress.json").write_text(json.dumps(NOTED), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANATOMY_HOME", str(folder))
        return save(folder, "everything", everything())


@pytest.mark.many
def test_in_jupyterlab(lab: Lab, notebook: Path) -> None:
    lab.open(notebook)
    page = lab.page
    trust(page)
    page.add_style_tag(content=".jp-Notebook .jp-Cell { content-visibility: visible !important }")
    outputs = sum(len(cell.outputs) for cell in nbformat.read(notebook, as_version=4).cells)
    expect(page.locator(OUTPUTS)).to_have_count(outputs, timeout=SLOW)
    expect(page.locator(f"{OUTPUTS} iframe")).to_have_count(3, timeout=SLOW)
    page.locator(f"{OUTPUTS} details").evaluate_all("all => all.forEach(one => one.open = true)")
    check(page, OUTPUTS)

    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(page.locator("body[data-jp-theme-light=false]")).to_be_attached(timeout=SLOW)
    check(page, OUTPUTS)

    page.set_viewport_size({"width": 600, "height": 900})  # as a window of 1200 at 200 %
    assert page.locator(OUTPUTS).evaluate_all(CLIPPED) == []
    page.locator(f"{OUTPUTS} details").evaluate_all("all => all.forEach(one => one.open = false)")
    summary = page.locator(f"{OUTPUTS} summary").first
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{OUTPUTS} details").first).to_have_attribute("open", "")
    page.keyboard.press("Tab")
    assert page.evaluate(f"document.activeElement.closest('{OUTPUTS}') !== null"), "Tab goes on to what was opened"
    lab.shut_down_kernels()
    page.goto("about:blank")  # JupyterLab without this style, for others


@pytest.mark.many
def test_a_feedback_page(page_without_network: Page, notebook: Path, root: Path) -> None:
    """A click opens what was given, a formula in it is drawn, nothing is asked for, and paper is light."""
    config = settings(root)
    book = nbformat.read(notebook, as_version=4)
    book.cells = [cell for cell in book.cells if cell.source in ("right", "wrong", "not attempted", "ungraded")]
    for cell in book.cells:
        cell.metadata.nbgrader = {"grade_id": f"check-{cell.source}", "grade": True, "solution": False, "locked": True}
    marks = {cell.metadata.nbgrader.grade_id: ShownMark(1.0, 5.0, False) for cell in book.cells}
    standing = Standing(4.0, 20.0, 0.0, marks, {})
    book.cells.append(new_code_cell(f"x = {LONG}", metadata={"nbgrader": {"grade_id": "x", "solution": True}}))
    given = f"Half of it: $\\frac{{1}}{{2}}$.\n\n|size|words|\n|-|-|\n|1|{'long ' * 99}|"
    book.cells.insert(0, new_markdown_cell(given))
    file = notebook.with_name("feedback.html")
    file.write_bytes(PageMaker(config).page(nbformat.writes(book).encode(), "ada", "03-softmax", standing, {}))
    page, asked = page_without_network, []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    expect(page.get_by_text("You divide by the sum")).to_be_visible()
    expect(page.locator("mfrac")).to_be_hidden()
    page.locator("summary").first.click()
    expect(page.locator("mfrac")).to_be_visible()
    for theme, width in (("light", 1400), ("dark", 700)):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        check(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == GROUND[theme]
    page.locator("summary").first.click()
    page.emulate_media(media="print")
    expect(page.locator("details")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == GROUND["light"]
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]


def check(page: Page, part: str = "html") -> None:
    found = violations(page, part)
    assert not found, "\n".join(found)


def trust(page: Page) -> None:
    """As a notebook that was run here is: its scripts and frames are shown."""
    page.evaluate("void jupyterapp.commands.execute('notebook:trust')")
    page.locator(".jp-Dialog button.jp-mod-accept").click()


def test_the_class_report(page_without_network: Page, tmp_path: Path) -> None:
    said = {"axis": "You sum along the wrong axis."}
    records = [
        Record(SubmissionResult(f"student-{number}", slug, GRADED, (), (
            Mark("attention_weights", 1.0, 5.0, "wrong", said),
            Mark("softmax", float(number), 4.0, "wrong", said="Values differ.", broken=("values",)),
        )), {"softmax": "def softmax(x, dim): ..."})
        for number in range(4) for slug in ("03-softmax", "05-encoder-layer")
    ]  # fmt: skip
    file = tmp_path / "class-report.html"
    file.write_text(as_html(figures(records), datetime(2026, 1, 1)), encoding="utf-8")
    page = page_without_network
    page.goto(file.as_uri())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        check(page)
