"""What the course adds to JupyterLab: exercises at the side, opening changes nothing, what to do after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from anatomy.engine.notebook_files.notebooks import METADATA, write
from tests.browser.accessible import violations
from tests.browser.conftest import WINDOW
from tests.browser.lab import Lab

ROOT = Path(__file__).parents[2]
STUDENT, SOLVED = (ROOT / edition / "00-start-here" / "00-start-here.ipynb" for edition in ("notebooks", "solutions"))
SOFTMAX = ROOT / "notebooks" / "03-softmax" / "03-softmax.ipynb"

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

WRONG, RIGHT = (f"def pairwise_dot(x: Tensor) -> Tensor:\n    return {value}" for value in ("x", "x @ x.mT"))


@pytest.fixture(scope="module", autouse=True)
def left_as_it_was(page_of_lab: Page) -> Iterator[None]:
    """Others load JupyterLab anew: here its panels are opened and folded."""
    yield
    page_of_lab.goto("about:blank")


def answer(lab: Lab, source: str) -> None:
    """Write 0.1, and run it and its check."""
    lab.write("def pairwise_dot(", source)
    lab.run(source)
    lab.run('check("pairwise_dot")')


def rows(lab: Lab) -> Locator:
    return lab.page.locator(".anatomy-exercises button")


def is_changed(lab: Lab) -> bool:
    return lab.page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty")


def expect_states(lab: Lab, *states: str) -> None:
    names = [f"{name}: {state}" for name, state in zip(("0.1 pairwise_dot", "0.2 quiz_types"), states, strict=True)]
    expect(rows(lab)).to_have_count(len(names))
    for row, name in enumerate(names):
        expect(rows(lab).nth(row)).to_have_attribute("aria-label", name)


@pytest.mark.parametrize("notebook", [STUDENT, SOFTMAX, SOLVED], ids=["00", "03", "00 solved"])
def test_opening_changes_nothing(lab: Lab, notebook: Path) -> None:
    lab.open(notebook)
    lab.page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.context.model.getMetadata('language_info').version !== undefined"
    )
    assert not is_changed(lab)
    lab.page.evaluate("() => jupyterapp.commands.execute('application:close').then(() => null)")
    expect(lab.page.locator(".jp-NotebookPanel")).to_have_count(0)  # a question would keep it open
    assert (lab.folder / notebook.stem / notebook.name).read_bytes() == notebook.read_bytes()


def test_the_list_follows_each_check_and_outlives_the_page(lab: Lab) -> None:
    lab.open(STUDENT)
    expect_states(lab, "open", "open")
    lab.run("from anatomy import")
    answer(lab, WRONG)
    lab.run('check("quiz_types")')
    expect_states(lab, "not right yet", "open")
    assert is_changed(lab)
    answer(lab, RIGHT)
    expect_states(lab, "right", "open")
    lab.page.evaluate("() => jupyterapp.commands.execute('docmanager:save').then(() => null)")

    panel = lab.page.locator(".anatomy-exercises")
    expect(panel).not_to_be_visible()  # where there is no room it waits behind its tab
    lab.page.set_viewport_size({"width": 1400, "height": 900})
    lab.page.goto(f"{lab.address}/lab/tree/{STUDENT.stem}/{STUDENT.name}?reset")
    expect(panel).to_be_visible()
    expect_states(lab, "right", "open")
    expect(panel.locator("p")).to_have_text("1 of 2 right")
    for theme in ("Dark", "Light"):
        name = f"JupyterLab {theme}"
        lab.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        lab.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=name)
        assert violations(lab.page, ".anatomy-exercises") == []

    rows(lab).nth(1).focus()
    lab.page.keyboard.press("Enter")
    cell = lab.page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    expect(cell).to_contain_text("quiz_types = {")
    expect(cell).to_be_in_viewport()
    assert lab.page.evaluate("() => document.activeElement.closest('.jp-NotebookPanel') !== null")
    lab.page.set_viewport_size(WINDOW)


def test_what_stopped_is_not_open(lab: Lab) -> None:
    lab.open(STUDENT)
    lab.run("from anatomy import")
    answer(lab, RIGHT)
    expect_states(lab, "right", "open")
    lab.write(RIGHT, f"undefined\n{RIGHT}")
    lab.run("undefined")
    lab.run('check("pairwise_dot")')
    expect_states(lab, "stopped", "open")
    lab.write("undefined", f"{RIGHT}\ndel check")
    lab.run("del check")
    lab.run('check("pairwise_dot")')
    expect_states(lab, "not checked", "open")


def test_a_run_that_stops_above_an_exercise_forgets_no_right_answer(lab: Lab) -> None:
    lab.open(STUDENT)
    lab.run("from anatomy import")
    answer(lab, RIGHT)
    expect_states(lab, "right", "open")
    lab.write("from anatomy import", "raise SystemError('stops here')")
    lab.page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
    expect(lab.page.locator(".jp-Notebook")).to_contain_text("SystemError: stops here")
    expect(lab.page.locator(".jp-Notebook")).not_to_contain_text("[*]:")  # all others were given up
    expect_states(lab, "right", "open")
    lab.write(RIGHT, WRONG)
    expect_states(lab, "open", "open")


def test_after_a_restart_an_error_offers_to_run_the_cells_above_without_their_checks(lab: Lab) -> None:
    lab.open(STUDENT)
    lab.write("def pairwise_dot(", RIGHT)
    quiz = lab.run('check("quiz_types")')
    expect(quiz).to_contain_text("check comes from a cell above.")
    quiz.get_by_role("button", name="Run the cells above, then this one").click()
    expect(quiz).to_contain_text("not attempted yet")
    expect_states(lab, "open", "open")  # the check above was not run
    expect(lab.run('check("pairwise_dot")').get_by_role("status")).to_contain_text("Right")
    lab.write("def pairwise_dot(", "unheard_of")
    expect(lab.run("unheard_of")).not_to_contain_text("cell above")


def test_a_quiz_answer_without_quotation_marks_is_told_so(lab: Lab) -> None:
    lab.open(STUDENT)
    lab.write("quiz_types = {", 'quiz_types = {"noun or verb": encoder}')
    expect(lab.run("quiz_types = {")).to_contain_text('An answer of a quiz stands in quotation marks: "encoder"')
    lab.write("quiz_types = {", 'quiz_types = {\n    "noun or verb": "encoder"\n    "first": "decoder",\n}')
    expect(lab.run("quiz_types = {")).to_contain_text("A comma is missing at the end of line 2.")


def test_a_notebook_of_somebody_else_has_no_exercises(lab: Lab) -> None:
    other = lab.folder / "other" / "other.ipynb"
    write(new_notebook(cells=[new_markdown_cell("### Exercise 1.1 · `mine`")], metadata=METADATA), other)
    lab.open_in_place(other)
    expect(rows(lab)).to_have_count(0)


def test_a_narrow_window_folds_the_list_until_it_is_asked_for(lab: Lab) -> None:
    panel = lab.page.locator(".anatomy-exercises")
    show = "() => jupyterapp.shell.activateById('transformer-anatomy-exercises')"
    lab.page.set_viewport_size({"width": 1400, "height": 900})
    lab.open(STUDENT)
    lab.page.evaluate(show)
    expect(panel).to_be_visible()
    lab.page.set_viewport_size({"width": 700, "height": 900})
    expect(panel).not_to_be_visible()
    with lab.page.expect_response(lambda one: "/api/workspaces/" in one.url and one.request.method == "PUT"):
        lab.page.evaluate(show)
    expect(panel).to_be_visible()

    lab.page.goto(f"{lab.address}/lab/tree/{STUDENT.stem}/{STUDENT.name}")  # as it was left
    lab.page.wait_for_function("() => window.jupyterapp?.restored.then(() => jupyterapp.shell.restored)")
    expect(rows(lab)).to_have_count(2)
    expect(panel).not_to_be_visible()
    lab.page.set_viewport_size(WINDOW)
