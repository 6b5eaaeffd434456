"""A student's JupyterLab: what of nbgrader it shows, and how it shows what is wider than the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import WINDOW
from tests.browser.lab import Lab

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NOTEBOOK = NOTEBOOKS / "00-start-here" / "00-start-here.ipynb"

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_no_formgrader_and_no_create_assignment(lab: Lab) -> None:
    lab.open(NOTEBOOK)
    expect(lab.page.get_by_role("button", name="Validate")).to_be_visible()
    assert lab.page.evaluate("() => jupyterapp.commands.listCommands().filter(id => id.startsWith('nbgrader'))") == []
    assert "Nbgrader" not in lab.page.locator(".jp-MenuBar .lm-MenuBar-itemLabel").all_inner_texts()
    assert lab.page.get_by_text("Create Assignment").count() == 0, "a tab of the right side panel"
    for part in ("formgrader", "course_list", "assignments?course_id=anatomy"):
        assert lab.page.request.get(f"{lab.address}/{part}").status == 404, part


def test_on_a_small_screen_code_wraps_and_what_is_wide_scrolls_and_fades(lab: Lab) -> None:
    lab.open(NOTEBOOKS / "03-softmax" / "03-softmax.ipynb")
    lab.page.set_viewport_size({"width": 400, "height": 900})
    lab.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    lab.run("from anatomy import")
    code = lab.run("starts = ").locator("xpath=ancestor::*[contains(@class, 'jp-CodeCell')]")
    is_cut = "part => part.scrollWidth > part.clientWidth"
    assert not code.locator(".cm-scroller").evaluate(is_cut)
    formula = lab.cell("## 3 · ").locator("mjx-container[display=true]").first
    assert formula.evaluate(is_cut)
    for wide in (code.get_by_role("group"), formula):
        style = wide.evaluate(
            "part => { const {overflowX, maskImage} = getComputedStyle(part); return overflowX + maskImage }"
        )
        assert style.startswith("autolinear-gradient(")
    assert "(B,\u00a0T,\u00a0D)" in (lab.cell("Exercise 3.2 ·").locator("table").text_content() or ""), "no break in it"
    cell = 'print("words")'
    lab.write("starts = ", cell)
    assert lab.run(cell).locator("pre").evaluate("text => getComputedStyle(text).wordBreak") == "normal"
    lab.page.evaluate("() => jupyterapp.shell.expandLeft()")
    lab.page.set_viewport_size(WINDOW)


def test_in_a_narrow_window_the_files_are_folded_at_first(lab: Lab) -> None:
    files = lab.page.locator("#filebrowser")
    lab.open(NOTEBOOK)
    for width, is_shown in ((1300, True), (700, False)):
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.page.goto(f"{lab.address}/lab/tree/{NOTEBOOK.stem}/{NOTEBOOK.name}?reset")
        lab.page.wait_for_function("() => window.jupyterapp?.restored.then(() => jupyterapp.shell.restored)")
        expect(files).to_be_visible(visible=is_shown)
    lab.page.set_viewport_size(WINDOW)
    lab.page.goto("about:blank")
