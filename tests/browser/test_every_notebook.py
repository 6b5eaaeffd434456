"""Every notebook in JupyterLab, without a network: its first exercise is worked, wrongly and then rightly.

The solved editions are run in tests/binder/test_on_binder.py.
"""

from __future__ import annotations

import os
import re
import shutil
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from playwright.sync_api import expect

from anatomy.course import COURSE
from anatomy.engine.answers import answer_bank
from anatomy.engine.cards.markup import prose
from anatomy.engine.course import Notebook
from anatomy.engine.notebook_files.notebooks import grade_id
from tests.browser.conftest import ROOT
from tests.browser.lab import SLOW, Lab
from tests.plenty import one_in

SCREENSHOTS = Path(os.environ.get("ANATOMY_SCREENSHOTS", ROOT / "test-results"))
"""Where pictures of what was seen are kept."""

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


def _code(book: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code" and cell.source]


@pytest.mark.parametrize("notebook", one_in(14, COURSE.notebooks, first=2), ids=lambda notebook: notebook.slug)
def test_its_first_exercise_is_worked_wrongly_and_then_right(
    lab: Lab, tmp_path: Path, screenshots: Path, notebook: Notebook
) -> None:
    bank, name = answer_bank(COURSE, notebook), next(iter(COURSE.exercises(notebook)))
    wrong, right = bank.mistaken[name][0], bank.right[name][0]
    book = nbformat.read(ROOT / "notebooks" / notebook.slug / f"{notebook.slug}.ipynb", as_version=4)
    needed = _code(book)[:1] + [cell for cell in book.cells if grade_id(cell) in (name, f"check-{name}")]
    imports, answer, check = (cell.source for cell in needed)
    del book.cells[book.cells.index(needed[-1]) + 1 :]  # Validate runs all that is there
    book.cells = [cell for cell in book.cells if cell.cell_type == "markdown" or cell in needed]
    folder = tmp_path / notebook.slug
    shutil.copytree(ROOT / "notebooks" / notebook.slug, folder)
    nbformat.write(book, folder / f"{notebook.slug}.ipynb")

    def picture(what: str) -> None:
        lab.page.screenshot(path=screenshots / f"{notebook.slug}-{what}.png")

    lab.open(folder / f"{notebook.slug}.ipynb")
    lab.run(imports)
    lab.write(answer, wrong.source)
    lab.run(wrong.source)
    card = lab.run(check).get_by_role("status")
    expect(card).to_contain_text("points.", timeout=SLOW)
    expect(card).to_contain_text(_as_shown(COURSE.mistakes_of(notebook)[wrong.name].sentence))
    picture("wrong")

    lab.write(wrong.source, right.source)
    lab.run(right.source)
    expect(lab.run(check).get_by_role("status")).to_contain_text("Right")
    picture("right")

    lab.page.get_by_role("button", name="Validate").click()
    dialog = lab.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Success! Your notebook passes all the tests.", timeout=SLOW)
    picture("validated")
    dialog.get_by_role("button").first.click()


def _as_shown(sentence: str) -> re.Pattern[str]:
    """What a card shows of a mistake's sentence, whatever sizes it puts in."""
    plain = unescape(re.sub("<[^>]+>", "", prose(sentence)))
    return re.compile(".+?".join(re.escape(part) for part in re.split(r"\{\w+\}", plain)))
