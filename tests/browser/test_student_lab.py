"""What of nbgrader a student's JupyterLab shows: Validate, and nothing that only an instructor can use."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00-start-here" / "00-start-here.ipynb"

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_no_formgrader_and_no_create_assignment(lab: Lab) -> None:
    lab.open(NOTEBOOK)
    expect(lab.page.get_by_role("button", name="Validate")).to_be_visible()
    assert lab.page.evaluate("() => jupyterapp.commands.listCommands().filter(id => id.startsWith('nbgrader'))") == []
    assert "Nbgrader" not in lab.page.locator(".jp-MenuBar .lm-MenuBar-itemLabel").all_inner_texts()
    assert lab.page.get_by_text("Create Assignment").count() == 0, "a tab of the right side panel"
    for part in ("formgrader", "course_list", "assignments?course_id=anatomy"):
        assert lab.page.request.get(f"{lab.address}/{part}").status == 404, part
