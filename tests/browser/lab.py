"""What a student does in JupyterLab, as a few words: open, write, run, read."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from PIL import Image
from playwright.sync_api import Locator, Page, expect

SLOW = 120_000  # milliseconds; the machine may be slow, and a kernel imports torch


class Lab:
    """One page of JupyterLab, loaded when the first notebook is opened."""

    def __init__(self, page: Page, address: str, folder: Path) -> None:
        self.page, self.address, self.folder = page, address, folder

    def open(self, notebook: Path) -> None:
        """Open a copy of a notebook and of what lies beside it, and wait until its kernel is ready."""
        copy = self.folder / notebook.stem
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(notebook.parent, copy)
        self.open_in_place(copy / notebook.name)

    def open_in_place(self, notebook: Path) -> None:
        """Open a notebook that lies in the served folder, and wait until its kernel is ready."""
        path = notebook.relative_to(self.folder).as_posix()
        if self.page.locator(".jp-Dialog").count() or not self.page.evaluate("() => window.jupyterapp !== undefined"):
            self.page.goto(f"{self.address}/lab/tree/{path}?reset")
        else:  # to load JupyterLab again takes longer than all that many a test does in it
            self.page.evaluate(
                """path => {
                    const app = window.jupyterapp;
                    for (const open of [...app.shell.widgets('main')]) open.dispose();  // unsaved
                    return app.commands.execute('docmanager:open', {path}).then(() => null);
                }""",
                path,
            )
        expect(self.page.locator(".jp-NotebookPanel:visible")).to_be_visible(timeout=SLOW)
        ready = """async (path) => {
            const panel = window.jupyterapp?.shell.currentWidget;
            if (panel?.context?.path !== path) return false;
            await panel.context.ready;
            await panel.sessionContext.ready;
            await panel.sessionContext.session?.kernel?.info;
            return panel.sessionContext.session?.kernel?.status === 'idle';
        }"""
        self.page.wait_for_function(ready, arg=path, timeout=SLOW)

    def cell(self, text: str) -> Locator:
        """The cell whose source is this text, else the first that holds it; scrolled into view."""
        index = self.page.evaluate(
            """text => {
                const cells = window.jupyterapp.shell.currentWidget.content.widgets;
                const sources = cells.map(cell => cell.model.sharedModel.getSource());
                return sources.includes(text)
                    ? sources.indexOf(text) : sources.findIndex(source => source.includes(text));
            }""",
            text,
        )
        assert index >= 0, f"no cell holds {text!r}"
        self.page.evaluate(
            """async index => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                notebook.activeCellIndex = index;
                notebook.deselectAll();
                await notebook.scrollToItem(index, 'center');
            }""",
            index,
        )
        return self.page.locator(f'.jp-NotebookPanel:visible .jp-Cell[data-windowed-list-index="{index}"]')

    def write(self, text: str, source: str) -> None:
        """Type a new source into the cell that holds `text`, as a student would: click, select all, type."""
        editor = self.cell(text).locator(".cm-content").first
        editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, text: str) -> Locator:
        """Run the cell that holds `text`, wait until it is done, and return its output area."""
        cell = self.cell(text)
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        self.page.wait_for_function(
            """() => {
                const panel = window.jupyterapp.shell.currentWidget;
                return panel.sessionContext.session?.kernel?.status === 'idle'
                    && panel.content.activeCell.model.executionState !== 'running';
            }""",
            timeout=SLOW,
        )
        return cell.locator(".jp-Cell-outputArea")

    def run_all(self) -> NotebookNode:
        """Run all cells, wait for the end, however long it takes, and return the notebook as it is then."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        book = self.page.evaluate("() => JSON.stringify(window.jupyterapp.shell.currentWidget.content.model.toJSON())")
        return nbformat.reads(book, as_version=4)

    def picture_of_the_notebook(self) -> Image.Image:
        """The whole notebook, put together from what the window shows of it, page by page."""
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.content.widgets.every(cell => !cell.isPlaceholder())",
            timeout=SLOW,
        )
        style = self.page.add_style_tag(content=".jp-Notebook .jp-Cell { content-visibility: visible !important }")
        panel = self.page.locator(".jp-NotebookPanel:visible .jp-WindowedPanel-outer")
        box = panel.bounding_box()
        assert box
        height = panel.evaluate("panel => panel.scrollHeight")
        picture = Image.new("RGB", (int(box["width"]), height), "white")
        for top in range(0, height, int(box["height"])):
            reached = panel.evaluate(
                """async (panel, top) => {
                    panel.scrollTop = top;
                    await new Promise(requestAnimationFrame);
                    return panel.scrollTop;
                }""",
                top,
            )
            picture.paste(Image.open(io.BytesIO(self.page.screenshot(clip=box))), (0, reached))
        style.evaluate("style => style.remove()")
        return picture

    def shut_down_kernels(self) -> None:
        """Does nothing on another page than JupyterLab's."""
        self.page.evaluate("() => window.jupyterapp?.serviceManager.sessions.shutdownAll()")
