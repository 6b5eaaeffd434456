"""The README's picture: a wrong answer in JupyterLab with its card. What it shows is what a student sees today.

`ANATOMY_PICTURES=1 pytest tests/browser/test_picture_of_the_readme.py` takes the two pictures again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "03-softmax" / "03-softmax.ipynb"
WRONG = """def softmax(x: Tensor, dim: int) -> Tensor:
    exps = torch.exp(x - x.amax(dim, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)
"""
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_the_readme_shows_the_card_of_today(lab: Lab) -> None:
    lab.open(NOTEBOOK)
    lab.run("from anatomy import check")
    lab.write("def softmax(", WRONG)
    lab.run("def softmax(")
    card = lab.run('check("softmax")').get_by_role("status")
    expect(card).to_contain_text("points.")

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    alt = re.search(r'<img alt="([^"]*)" src="assets/a-wrong-answer-light.png"', readme)
    first = card.inner_text().lstrip("✗ \n").split(".")[0]
    assert alt and first in " ".join(alt[1].split()), f"the card now begins: {first}"
    assert {Path(ROOT, "assets", f"a-wrong-answer-{name}.png").is_file() for name in THEMES} == {True}
    if os.environ.get("ANATOMY_PICTURES"):
        take(lab)


def take(lab: Lab) -> None:
    """The answer and its card, in both themes."""
    for name, theme in THEMES.items():
        lab.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        answer, check = lab.cell("def softmax("), lab.cell('check("softmax")')
        lab.page.wait_for_timeout(1500)
        top, bottom = answer.bounding_box(), check.bounding_box()
        assert top and bottom
        clip = {"x": top["x"], "y": top["y"], "width": min(top["width"], 940)}
        clip["height"] = bottom["y"] + bottom["height"] - top["y"]
        lab.page.screenshot(path=ROOT / "assets" / f"a-wrong-answer-{name}.png", clip=clip)
