"""A feedback page on paper: no card is cut at a page's end."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import Page
from pypdf import PdfReader

from anatomy.classroom.grading.feedback.page import PageMaker
from anatomy.classroom.grading.feedback.standing import ShownMark, Standing
from anatomy.classroom.grading.notes import CellNote
from anatomy.engine.notebook_files.settings import settings

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_no_card_is_cut(page_without_network: Page, tmp_path: Path, root: Path) -> None:
    cells, names = [], [f"exercise{number}" for number in range(8)]
    for name in names:
        lines = [f"begins-{name}", *["a line"] * 16, f"ends-{name}"]
        card = new_output("display_data", {"text/html": f"<div>{'<br>'.join(lines)}</div>"})
        marks = {"grade": False, "solution": True, "locked": False, "schema_version": 3}
        cells.append(new_code_cell("x = 1\n" * 9, metadata={"nbgrader": marks | {"grade_id": name}}))
        marks = {"grade": True, "solution": False, "locked": True, "schema_version": 3}
        metadata = {"nbgrader": marks | {"grade_id": f"check-{name}"}}
        cells.append(new_code_cell(f'check("{name}")', outputs=[card], metadata=metadata))
        CellNote(exercise=name, status="wrong", said="No.").write(cells[-1])
    standing = Standing(0.0, 8.0, 0.0, {f"check-{name}": ShownMark(0.0, 1.0, waits=False) for name in names}, {})
    notebook = nbformat.writes(new_notebook(cells=cells)).encode()
    file = tmp_path / "feedback.html"
    file.write_bytes(PageMaker(settings(root)).page(notebook, "ada", "03-softmax", standing, {}))
    page_without_network.goto(file.as_uri())
    printed = PdfReader(BytesIO(page_without_network.pdf(prefer_css_page_size=True)))
    sheets = [sheet.extract_text() for sheet in printed.pages]
    assert len(sheets) > 2
    for name in names:
        assert [f"begins-{name}" in sheet for sheet in sheets] == [f"ends-{name}" in sheet for sheet in sheets], name
