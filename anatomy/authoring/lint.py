"""Lint: what the rules (`rules_file`, `rules_contract`, `rules_text`, `rules_book`) say of the master notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from anatomy.authoring import rules_book, rules_contract, rules_file, rules_text  # noqa: F401  (they register themselves)
from anatomy.authoring.course_pages import sources, terms
from anatomy.authoring.master import Master
from anatomy.authoring.rules import RULES
from anatomy.engine.notebook_files.notebooks import as_text, chosen, clean, read, source_file, write
from anatomy.wiring import the_course


@dataclass(frozen=True)
class Complaint:
    """One thing to put right."""

    notebook: str
    cell: str
    rule: str
    advice: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def lint(root: Path, names: Iterable[str] | None = None) -> list[Complaint]:
    """Everything that is wrong with these masters (by default, with all), notebook by notebook.

    Raises
    ------
    NoSuchNotebook, BadNotebook
        When a notebook is not there or cannot be read.
    """
    books, whole = chosen(the_course(), root, names), (terms(root), sources(root))
    return [complaint for book in books for complaint in lint_master(Master.load(root, book, *whole))]


def lint_master(master: Master) -> list[Complaint]:
    """Everything that is wrong with one master, in the order of its cells."""
    place = {cell.get("id"): index for index, cell in reversed(list(enumerate(master.cells)))}
    found = [
        Complaint(master.notebook.slug, cell, name, advice)
        for name, complaints in RULES.items()
        for cell, advice in complaints(master)
    ]
    return sorted(found, key=lambda complaint: place.get(complaint.cell, -1))


def fix(root: Path, names: Iterable[str] | None = None) -> list[Path]:
    """Put right what a machine can: outputs, metadata, the file's form. Returns the files that changed."""
    changed = []
    for notebook in chosen(the_course(), root, names):
        path = source_file(root, notebook.slug)
        if path.read_text(encoding="utf-8") != as_text(book := clean(read(path))):
            write(book, path)
            changed.append(path)
    return changed


def as_tables(complaints: list[Complaint]) -> Iterator[Table]:
    """The complaints for a terminal, one table a notebook."""
    for slug, group in groupby(complaints, key=lambda complaint: complaint.notebook):
        table = Table(title=slug, title_justify="left", title_style="bold cyan", box=None, pad_edge=False)
        table.add_column("Cell", overflow="fold", ratio=2)
        table.add_column("Rule", no_wrap=True, style="yellow")
        table.add_column("What to do", overflow="fold", ratio=5)
        for complaint in group:
            table.add_row(complaint.cell or "(notebook)", complaint.rule, escape(complaint.advice))
        yield table
