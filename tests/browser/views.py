"""A notebook of views: written, as if it had been run, and whether what it draws is whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import FrameLocator, Page


def executed(cells: Sequence[str]) -> NotebookNode:
    """A notebook whose first cell sets up and whose others show a view each, with their outputs."""
    book, names = _written(cells), {}
    exec(cells[0], names)
    for cell, source in zip(book.cells[1:], cells[1:], strict=True):
        bundle = eval(source, names)._repr_mimebundle_()
        cell.outputs = [new_output("execute_result", bundle, execution_count=1)]
    return book


def save(folder: Path, name: str, cells: Sequence[str] | NotebookNode) -> Path:
    """The notebook, or one of these cells that has not been run, in a folder of its own."""
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir()
    nbformat.write(cells if isinstance(cells, NotebookNode) else _written(cells), path)
    return path


def open_exported(page: Page, folder: Path, cells: Sequence[str], theme: str = "light") -> None:
    """Show these cells as nbconvert exports them."""
    exported, _ = HTMLExporter(theme=theme).from_notebook_node(executed(cells))
    file = folder / "page.html"
    file.write_text(exported, encoding="utf-8")
    page.goto(file.as_uri(), wait_until="domcontentloaded")


def _written(cells: Sequence[str]) -> NotebookNode:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    sources = [new_code_cell(source, id=f"cell-{index}") for index, source in enumerate(cells)]
    return new_notebook(cells=sources, metadata={"kernelspec": kernel})


def check_nothing_is_clipped(frame: FrameLocator) -> None:
    """The frame is as high as its page, and nothing sticks out."""
    room = frame.locator("body").evaluate(
        """body => {
            const drawn = [...document.querySelectorAll('svg text, svg rect')];
            const inside = drawn.map(element => element.getBoundingClientRect());
            return {
                scroll: document.documentElement.scrollHeight - window.innerHeight,
                left: Math.min(...inside.map(box => box.left)),
                right: window.innerWidth - Math.max(...inside.map(box => box.right)),
                bottom: window.innerHeight - Math.max(...inside.map(box => box.bottom)),
                background: getComputedStyle(document.documentElement).backgroundColor,
            };
        }"""
    )
    assert room["scroll"] <= 0 and min(room["left"], room["right"]) >= 0 and 0 <= room["bottom"] < 40, room
    assert room["background"] == "rgb(255, 255, 255)", "readable on a dark page"
