"""A student works notebook 03 in JupyterLab: reads, answers wrongly, reads the card, mends the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import SLOW, Lab

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "03-softmax" / "03-softmax.ipynb"
CHECK = 'check("softmax")'
WRONG = """def softmax(x: Tensor, dim: int) -> Tensor:
    exps = torch.exp(x)
    return exps / exps.sum(dim, keepdim=True)
"""
RIGHT = """def softmax(x: Tensor, dim: int) -> Tensor:
    exps = torch.exp(x - x.amax(dim, keepdim=True))
    return exps / exps.sum(dim, keepdim=True)
"""

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_a_student_is_told_what_is_wrong_and_then_right(lab: Lab) -> None:
    lab.open(NOTEBOOK)
    expect(lab.page.locator('img[src*="map.svg"]').first).to_be_visible()
    assert lab.page.locator('img[src*="map.svg"]').first.get_attribute("alt")

    lab.run("from anatomy import check")
    expect(lab.run(CHECK).get_by_role("status")).to_contain_text("Not attempted yet")

    lab.write("def softmax(", WRONG)
    lab.run("def softmax(")
    output = lab.run(CHECK)
    expect(output.get_by_role("status")).to_contain_text("points.")
    expect(output).not_to_contain_text("Traceback")

    lab.write("def softmax(", RIGHT)
    lab.run("def softmax(")
    expect(lab.run(CHECK).get_by_role("status")).to_contain_text("Right")


@pytest.mark.many
def test_an_answer_cell_never_run_is_not_a_crash(lab: Lab) -> None:
    lab.open(NOTEBOOK)
    lab.run("from anatomy import check")
    output = lab.run('check("attention_weights")')
    expect(output.get_by_role("status")).to_contain_text("Not attempted yet")
    expect(output).not_to_contain_text("NameError")


def test_validate_names_the_check_that_fails_without_a_traceback(lab: Lab) -> None:
    lab.open(NOTEBOOK.parents[1] / "00-start-here" / "00-start-here.ipynb")
    lab.page.get_by_role("button", name="Validate").click()
    dialog = lab.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text('check("pairwise_dot")', timeout=SLOW)
    expect(dialog).to_contain_text("not attempted yet")
    expect(dialog).not_to_contain_text("anatomy/engine/checking")
