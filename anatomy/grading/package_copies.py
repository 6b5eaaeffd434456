"""Copies of the package without the answers, of which a kernel that grades a notebook sees that notebook's.

A copy holds, in place of each module that a student must not see, one that refuses to be imported. The sandbox shows
kernels this copy and not the package itself; without a sandbox it stops an import and nothing more.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import anatomy
from anatomy.course import NOTEBOOKS, Notebook

_REFUSAL = '''"""Not to be seen while answers are graded."""

raise ImportError("{name} is not available in a kernel that grades {slug}.")
'''
_COMPILED = "__pycache__"


def copy_package(book: Notebook, within: Path) -> Path:
    """A new folder to put on a kernel's path, with `anatomy` as the students of `book` may import it.

    The copies in one folder have the files that they share in common.
    """
    original, common, folder = Path(anatomy.__file__).parent, within / "common", within / book.slug
    hidden = set(hidden_modules(book))

    def left_out(place: str, names: list[str]) -> set[str]:
        path = Path(place)
        if path.name == _COMPILED:  # it may hold what is hidden, or was there once
            sources = os.listdir(path.parent)
            shown = set(sources) - left_out(str(path.parent), sources)
            return {name for name in names if f"{name.partition('.')[0]}.py" not in shown}
        package = ".".join(path.relative_to(original.parent).parts)
        return {name for name in names if f"{package}.{name.removesuffix('.py')}" in hidden}

    def linked(source: str, target: str) -> None:
        if not (first := common / Path(source).relative_to(original.parent)).exists():
            first.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, first)
        try:
            os.link(first, target)
        except OSError:  # not every file system has links
            shutil.copy2(first, target)

    shutil.copytree(original, folder / "anatomy", ignore=left_out, copy_function=linked)
    for name in hidden:
        inside = Path(*name.split("."))
        package = (original.parent / inside).is_dir()
        file = folder / (inside / "__init__.py" if package else inside.with_suffix(".py"))
        file.parent.mkdir(exist_ok=True)
        file.write_text(_REFUSAL.format(name=name, slug=book.slug), encoding="utf-8")
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
    earlier = {"__init__", *(other.module for other in NOTEBOOKS if other.number < book.number)}
    for file in sorted(Path(anatomy.__file__).parent.glob("reference/*.py")):
        if file.stem not in earlier:
            yield f"anatomy.reference.{file.stem}"
