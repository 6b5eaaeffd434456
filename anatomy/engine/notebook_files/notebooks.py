"""Notebook files: where they are, how they are written so that git can show what changed, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from anatomy.engine.course import Course, NoSuchNotebook, Notebook
from anatomy.engine.errors import UserError

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""The metadata of every notebook of the course: nothing that changes with the machine it was written on."""

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
"""Between lines with these stands what the student edition leaves out."""

MARK = "transformer_anatomy"
"""The key in a notebook's metadata under which the build notes what it wrote."""


class BadNotebook(UserError):
    """A file that should be a notebook cannot be read as one. The message names it."""


def source_file(root: Path, slug: str) -> Path:
    return root / "source" / slug / f"{slug}.ipynb"


def student_file(root: Path, slug: str) -> Path:
    return root / "notebooks" / slug / f"{slug}.ipynb"


def solved_file(root: Path, slug: str) -> Path:
    return root / "solutions" / slug / f"{slug}.ipynb"


def chosen(course: Course, root: Path, names: Iterable[str] | None = None) -> list[Notebook]:
    """The notebooks that are meant: by slug, number (``3``, ``03``), path or module; by default all with a source.

    Raises
    ------
    NoSuchNotebook
        When a name fits no notebook (the message lists those that exist), or one without a source.
    """
    named = [course.find(name) for name in names or ()]
    for item in named:
        if not source_file(root, item.slug).is_file():
            raise NoSuchNotebook(f"{item.slug} has no source yet: {source_file(root, item.slug)} does not exist.")
    found = named or [item for item in course.notebooks if source_file(root, item.slug).is_file()]
    if not found:
        raise NoSuchNotebook(
            f"There are no source notebooks under {root / 'source'}. A clone of the course's repository has them; a "
            "folder that `anatomy start` made has the student edition alone."
        )
    return list(dict.fromkeys(found))


def read(path: Path) -> NotebookNode:
    """The notebook in this file.

    Raises
    ------
    BadNotebook
        When the file is no notebook of format 4.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about ids: `anatomy lint` says it better
            return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
        raise BadNotebook(f"{path} cannot be read as a notebook: {str(error).splitlines()[0]}") from error


def as_text(book: NotebookNode) -> str:
    """The file's content: sorted keys, one line of source a line, nothing that depends on the day or the machine."""
    return str(nbformat.v4.writes(book)).rstrip("\n") + "\n"


def write(book: NotebookNode, path: Path) -> None:
    """Write the whole file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".tmp")
    fresh.write_text(as_text(book), encoding="utf-8")
    fresh.replace(path)


def fingerprint(book: NotebookNode) -> str:
    """A hash of what a person writes: cells, their text and their pictures, in order. Outputs don't count."""
    cells = [[cell.cell_type, cell.source, cell.get("attachments", {})] for cell in book.cells]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def stamped(book: NotebookNode) -> NotebookNode:
    """The notebook as a build writes it: with the course's metadata, and in them its fingerprint."""
    book.metadata = NotebookNode({**METADATA, MARK: {"build": fingerprint(book)}})
    return book


def was_edited(book: NotebookNode) -> bool:
    """Whether a notebook differs from what a build wrote (or never was written by one)."""
    return bool(book.metadata.get(MARK, {}).get("build") != fingerprint(book))


def last_worked_in(root: Path) -> Path | None:
    """Of the student edition's notebooks in which somebody has written or run something, the one saved last."""
    files = [path for path in root.glob("notebooks/*/*.ipynb") if path.stem == path.parent.name]
    return next(filter(_was_worked_in, sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)), None)


def _was_worked_in(path: Path) -> bool:
    try:
        book = read(path)
    except BadNotebook:
        return False
    return was_edited(book) or any(cell.get("execution_count") for cell in book.cells)


def grade_id(cell: NotebookNode) -> str:
    """nbgrader's name of the cell, or an empty string."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def is_check(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False)) and not is_answer(cell)


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
