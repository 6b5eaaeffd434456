"""What a student does in JupyterLab, as a few words: open, write, run, read."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SLOW = 120_000  # milliseconds; the machine may be slow, and a kernel imports torch


class Lab:
    """One page of JupyterLab."""

    def __init__(self, page: Page, address: str, folder: Path) -> None:
        self.page, self.address, self.folder = page, address, folder

    def open(self, notebook: Path) -> None:
        """Open a copy of a notebook and of what lies beside it, and wait until its kernel is ready."""
        copy = self.folder / notebook.stem
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(notebook.parent, copy)
        self.page.goto(f"{self.address}/lab/tree/{notebook.stem}/{notebook.name}?reset")
        expect(self.page.locator(".jp-NotebookPanel:visible")).to_be_visible(timeout=SLOW)
        ready = """async () => {
            const panel = window.jupyterapp?.shell.currentWidget;
            if (!panel?.context) return false;
            await panel.context.ready;
            await panel.sessionContext.ready;
            await panel.sessionContext.session?.kernel?.info;
            return panel.sessionContext.session?.kernel?.status === 'idle';
        }"""
        self.page.wait_for_function(ready, timeout=SLOW)

    def cell(self, text: str) -> Locator:
        """The one cell whose source holds this text, scrolled into view."""
        index = self.page.evaluate(
            """text => window.jupyterapp.shell.currentWidget.content.widgets.findIndex(
                cell => cell.model.sharedModel.getSource().includes(text))""",
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

    def run_all(self) -> None:
        """Run all cells and wait for the end."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'",
            timeout=SLOW,
        )

    def shut_down_kernels(self) -> None:
        self.page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
