"""Copies of the package without the answers, of which a kernel that grades a notebook sees that notebook's.

A copy holds, in place of each module that a student must not see, one that refuses to be imported. The sandbox shows
kernels this copy and not the package itself; without a sandbox it stops an import and nothing more.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import anatomy
from anatomy.course import NOTEBOOKS, Notebook

_REFUSAL = '''"""Not to be seen while answers are graded."""

raise ImportError("{name} is not available in a kernel that grades {slug}.")
'''
_LEFT_OUT = ("__pycache__", "*.pyc")


def copy_package(book: Notebook, within: Path) -> Path:
    """A new folder to put on a kernel's path, with `anatomy` as the students of `book` may import it."""
    folder = within / book.slug
    original = Path(anatomy.__file__).parent
    shutil.copytree(original, folder / "anatomy", ignore=shutil.ignore_patterns(*_LEFT_OUT))
    if (assets := original.parent / "assets").is_dir():
        shutil.copytree(assets, folder / "assets")
    for name in hidden_modules(book):
        place = folder.joinpath(*name.split("."))
        refusal = _REFUSAL.format(name=name, slug=book.slug)
        if place.is_dir():
            shutil.rmtree(place)
            place.mkdir()
            (place / "__init__.py").write_text(refusal, encoding="utf-8")
        else:
            place.with_suffix(".py").write_text(refusal, encoding="utf-8")
    return folder


def hidden_modules(book: Notebook) -> Iterator[str]:
    """The modules that a kernel grading `book` can't import: what holds answers, what judges them, what grades."""
    yield "anatomy.misconceptions"
    yield "anatomy.variants"
    yield "anatomy.answers"
    yield "anatomy.sample_class"
    yield "anatomy.judging"
    yield "anatomy.grading"
    yield "anatomy.forked_kernels"
    yield "anatomy.authoring"
    for other in NOTEBOOKS:
        if other.number >= book.number:
            yield f"anatomy.reference.{other.module}"
