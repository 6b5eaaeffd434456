"""Every notebook in JupyterLab, without a network: its solved edition is run; its first exercise is worked."""

from __future__ import annotations

import os
import re
import shutil
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from playwright.sync_api import Page, expect

from anatomy import exercises, misconceptions
from anatomy.answers import answer_bank
from anatomy.authoring.notebooks import grade_id
from anatomy.cards.markup import prose
from anatomy.course import NOTEBOOKS, Notebook
from tests.browser.conftest import ROOT
from tests.browser.lab import SLOW, Lab

SCREENSHOTS = Path(os.environ.get("ANATOMY_SCREENSHOTS", ROOT / "test-results"))
"""Where pictures of what was seen are kept."""
TRAINS = (9, 10, 11, 12)
"""Notebooks that train for a minute."""

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


@pytest.fixture(scope="module")
def solutions(server: tuple[str, Path]) -> Path:
    """The solved editions without their outputs, side by side in the folder that is served."""
    folder = server[1] / "solutions"
    shutil.copytree(ROOT / "solutions", folder)
    for path in folder.glob("*/*.ipynb"):
        book = nbformat.read(path, as_version=4)
        for cell in _code(book):
            cell.outputs, cell.execution_count = [], None
        nbformat.write(book, path)
    return folder


def _code(book: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code" and cell.source]


def _pictures(book: NotebookNode) -> list[int]:
    """How many images and frames each code cell shows."""
    shown = [[output.get("data", {}).get("text/html", "") for output in cell.outputs] for cell in _code(book)]
    return [len(re.findall("<(?:img|iframe|svg) ", " ".join(html))) for html in shown]


SOLVED = [pytest.param(book, id=book.slug, marks=[pytest.mark.slow] * (book.number in TRAINS)) for book in NOTEBOOKS]


@pytest.mark.parametrize("notebook", SOLVED)
def test_the_solved_edition_runs_from_top_to_bottom(
    lab: Lab, solutions: Path, screenshots: Path, notebook: Notebook
) -> None:
    path = Path(notebook.slug) / f"{notebook.slug}.ipynb"
    lab.open_in_place(solutions / path)
    book = lab.run_all()
    check_frames(lab.page)
    lab.picture_of_the_notebook().save(screenshots / f"{notebook.slug}-solved.png")

    code = _code(book)
    failed = [
        f"{cell.source}\n{output.ename}: {output.evalue}"
        for cell in code
        for output in cell.outputs
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ())
    ]
    assert not failed, "\n\n".join(failed)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert _pictures(book) == _pictures(nbformat.read(ROOT / "solutions" / path, as_version=4))
    check_pictures(lab.page)
    cards = lab.page.locator(".jp-Notebook:visible [role=status]").all_text_contents()
    checks = [cell.source for cell in code if grade_id(cell).startswith("check-")]
    assert len(checks) == len(exercises.of_notebook(notebook))
    assert sum(card.removeprefix("✓").strip().startswith("Right:") for card in cards) == len(checks), cards


def check_frames(page: Page) -> None:
    """Each view has drawn its lines."""
    for frame in page.locator(".jp-Notebook:visible .jp-Cell iframe").all():
        frame.scroll_into_view_if_needed()
        expect(frame.content_frame.locator("svg line, svg path").nth(2)).to_be_attached(timeout=SLOW)


def check_pictures(page: Page) -> None:
    """Each image has been drawn and has words."""
    images = page.locator(".jp-Notebook:visible .jp-Cell img")
    said = images.evaluate_all("all => all.map(one => [one.alt, one.complete && one.naturalWidth > 0])")
    assert said and all(alt and drawn for alt, drawn in said), said


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.slug)
def test_its_first_exercise_is_worked_wrongly_and_then_right(
    lab: Lab, tmp_path: Path, screenshots: Path, notebook: Notebook
) -> None:
    bank, name = answer_bank(notebook), next(iter(exercises.of_notebook(notebook)))
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
    expect(card).to_contain_text(_as_shown(misconceptions.of_notebook(notebook)[wrong.name].sentence))
    picture("wrong")

    lab.write(wrong.source, right.source)
    lab.run(right.source)
    expect(lab.run(check).get_by_role("status")).to_contain_text("Right")
    picture("right")

    lab.page.get_by_role("button", name="Validate").click()
    dialog = lab.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Success! Your notebook passes all the tests.", timeout=SLOW)
    picture("validated")


def _as_shown(sentence: str) -> re.Pattern[str]:
    """What a card shows of a mistake's sentence, whatever sizes it puts in."""
    plain = unescape(re.sub("<[^>]+>", "", prose(sentence)))
    return re.compile(".+?".join(re.escape(part) for part in re.split(r"\{\w+\}", plain)))
