"""Lint: what a master notebook must satisfy. Each rule is a small function; `RULES` is the list of them.

A rule gets a `Page` and yields pairs (cell id, what to do). Its name in reports is the function's, with dashes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from nbformat import NotebookNode
from rich.markup import escape
from rich.table import Table

from anatomy.authoring.notebooks import METADATA, as_text, chosen, read, source_file, write
from anatomy.authoring.page import Page

Complaints = Iterator[tuple[str, str]]
Rule = Callable[[Page], Complaints]
RULES: dict[str, Rule] = {}

MOST_CELLS = 75


@dataclass(frozen=True)
class Finding:
    """One thing to put right."""

    notebook: str
    cell: str
    rule: str
    advice: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def rule(function: Rule) -> Rule:
    """Register a rule."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


def lint(root: Path, names: Iterable[str] | None = None) -> list[Finding]:
    """Everything that is wrong with these masters (by default, with all), notebook by notebook.

    Raises
    ------
    NoSuchNotebook, BadNotebook
        When a notebook is not there or cannot be read.
    """
    return [finding for book in chosen(root, names) for finding in lint_page(Page.load(root, book))]


def lint_page(page: Page) -> list[Finding]:
    """Everything that is wrong with one master, in the order of its cells."""
    from anatomy.authoring import rules_contract, rules_text  # noqa: F401  (they register themselves)

    place = {cell.get("id"): index for index, cell in reversed(list(enumerate(page.cells)))}
    found = [
        Finding(page.notebook.slug, cell, name, advice)
        for name, complaints in RULES.items()
        for cell, advice in complaints(page)
    ]
    return sorted(found, key=lambda finding: place.get(finding.cell, -1))


def fix(root: Path, names: Iterable[str] | None = None) -> list[Path]:
    """Put right what a machine can: outputs, metadata, the file's form. Returns the files that changed."""
    changed = []
    for notebook in chosen(root, names):
        path = source_file(root, notebook.slug)
        if path.read_text(encoding="utf-8") != as_text(book := clean(read(path))):
            write(book, path)
            changed.append(path)
    return changed


def clean(book: NotebookNode) -> NotebookNode:
    """The notebook without outputs, and without what depends on the machine that saved it."""
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        for key in ("execution", "collapsed", "scrolled", "ExecuteTime"):
            cell.metadata.pop(key, None)
    book.metadata = NotebookNode(METADATA)
    book.nbformat_minor = 5
    return book


def as_tables(findings: list[Finding]) -> Iterator[Table]:
    """The findings for a terminal, one table a notebook."""
    for slug, group in groupby(findings, key=lambda finding: finding.notebook):
        table = Table(title=slug, title_justify="left", title_style="bold cyan", box=None, pad_edge=False)
        table.add_column("Cell", overflow="fold", ratio=2)
        table.add_column("Rule", no_wrap=True, style="yellow")
        table.add_column("What to do", overflow="fold", ratio=5)
        for finding in group:
            table.add_row(finding.cell or "(notebook)", finding.rule, escape(finding.advice))
        yield table


# ---- the file and its cells ----------------------------------------------------------------------------------------


@rule
def outputs(page: Page) -> Complaints:
    """A master holds no outputs and no execution counts."""
    for cell in page.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            yield cell.id, "Clear its output: a master holds none (`anatomy lint --fix`)."


@rule
def cell_ids(page: Page) -> Complaints:
    """Every cell has an id of its own."""
    seen: set[str] = set()
    for index, cell in enumerate(json.loads(page.text)["cells"]):
        cell_id = cell.get("id")
        if not cell_id:
            yield f"cell {index + 1}", "Give the cell an id."
        elif cell_id in seen:
            yield cell_id, f"Cell {index + 1} has the same id as an earlier one: give it another."
        seen.add(cell_id)


@rule
def file_form(page: Page) -> Complaints:
    """The file is stored as the build stores notebooks, so that a change of one line is one line in git."""
    if page.text != as_text(clean(copy.deepcopy(page.book))):
        yield "", "Its form on disk is not the usual one (keys sorted, a line a line): run `anatomy lint --fix`."


@rule
def length(page: Page) -> Complaints:
    """One concept a notebook."""
    if len(page.cells) > MOST_CELLS:
        yield "", f"It has {len(page.cells)} cells, more than {MOST_CELLS}: shorten it, or divide it."
