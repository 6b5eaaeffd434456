"""The pages that are made of all notebooks together: the glossary and the list of references.

They lie in ``assets/``, and beside notebook 00 in both editions, where JupyterLab can open them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from anatomy.authoring import glossary, references
from anatomy.authoring.prose import text_cells
from anatomy.engine.notebook_files.notebooks import chosen, solved_file, source_file, student_file
from anatomy.wiring import the_course

GLOSSARY, REFERENCES = "glossary.md", "references.md"


def terms(root: Path, names: Iterable[str] | None = None) -> list[glossary.Term]:
    """The terms of these masters, by default of all, in the order of the course."""
    return [
        term
        for book in chosen(the_course(), root, names)
        for term in glossary.terms_of(book, text_cells(source_file(root, book.slug)))
    ]


def sources(root: Path, names: Iterable[str] | None = None) -> list[references.Source]:
    """The sources of these masters, by default of all, in the order of the course."""
    return [
        source
        for book in chosen(the_course(), root, names)
        for source in references.sources_of(book, text_cells(source_file(root, book.slug)))[0]
    ]


def pages(root: Path, notebooks: str, names: Iterable[str] | None = None) -> Iterator[tuple[str, str]]:
    """Each page's file name, and what it holds. A course without terms, or without sources, has no such page.

    Parameters
    ----------
    notebooks
        The way from where the pages lie to the folder of the notebooks.
    names
        The notebooks that they are made of, by default all.
    """
    names = list(names or ())
    if found := terms(root, names):
        yield GLOSSARY, glossary.as_markdown(found, notebooks)
    if listed := sources(root, names):
        yield REFERENCES, references.as_markdown(listed, notebooks)


def write_pages(root: Path) -> None:
    """Write them wherever they belong, what is new only, so that an unchanged file keeps its time."""
    for path, text in _wanted(root):
        if not _is(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def stale_pages(root: Path) -> list[str]:
    """Those that are not what the masters give now; one sentence each."""
    return [
        f"{path.relative_to(root)} is {'old' if path.is_file() else 'missing'}."
        for path, text in _wanted(root)
        if not _is(path, text)
    ]


def _wanted(root: Path) -> Iterator[tuple[Path, str]]:
    """Each file and what it should hold."""
    first = the_course().notebooks[0].slug
    folders = {root / "assets": "../notebooks"}
    folders |= {file(root, first).parent: ".." for file in (student_file, solved_file)}
    for folder, notebooks in folders.items():
        for name, text in pages(root, notebooks):
            yield folder / name, text


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main() -> None:
    """`python -m anatomy.authoring.course_pages` writes them, without building a notebook."""
    parser = argparse.ArgumentParser(description="Write the glossary and the list of references.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    write_pages(parser.parse_args().root)


if __name__ == "__main__":
    main()
