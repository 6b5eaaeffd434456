"""The family tree in JupyterLab: boxes one can click; in a notebook that is not trusted, its names and links remain."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from anatomy.course.views.family_members import FAMILY
from tests.browser.lab import SLOW, Lab
from tests.browser.views import executed, save

TREE, TABLE = "family_tree()", "family_table()"
CELLS = ("from anatomy.course.views import family_table, family_tree", TREE, TABLE)

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_whoever_clicks_into_a_box_meets_its_link(lab: Lab, tmp_path: Path) -> None:
    lab.open(save(tmp_path, "family-tree", CELLS))
    lab.run(CELLS[0])
    output = lab.run(TREE)
    links = output.locator("svg.family a")
    expect(links).to_have_count(len(FAMILY), timeout=SLOW)
    expect(output.locator("svg.family")).to_have_css("width", "800px")
    clicked = """rects => rects.map(rect => {
        rect.scrollIntoView({block: 'center'});
        const box = rect.getBoundingClientRect();
        const link = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest('a');
        return [link?.getAttribute('href'), link?.getAttribute('target')];
    })"""
    assert output.locator("svg.family a rect").evaluate_all(clicked) == [[m.link, "_blank"] for m in FAMILY]
    rows = lab.run(TABLE).locator("table tbody tr")
    expect(rows.get_by_role("link")).to_have_count(len(FAMILY), timeout=SLOW)


def test_an_untrusted_notebook_keeps_names_and_links(lab: Lab, tmp_path: Path) -> None:
    lab.open(save(tmp_path, "family-tree-untrusted", executed(CELLS)))
    output = lab.cell(TREE).locator(".jp-Cell-outputArea")
    expect(output.locator(".jp-OutputArea-output svg")).to_have_count(0)
    expect(output.locator("a[href^='https://']")).to_have_count(len(FAMILY))
    expect(output).to_contain_text("DeBERTa")
    expect(output).not_to_contain_text("font-size")
    expect(lab.cell(TABLE).locator("table tbody tr a")).to_have_count(len(FAMILY))
