"""What a kernel that grades may know: which notebook it runs, its seeds, and the package without the answers.

The copy of the package holds, in place of each module that a student must not see, one that refuses to be imported.
The sandbox shows kernels this copy and not the package itself; without a sandbox it stops an import and nothing more.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import anatomy
from anatomy.checking import GRADING_SEED
from anatomy.course import NOTEBOOKS, Notebook

NOTEBOOK = "ANATOMY_NOTEBOOK"
"""The variable in a kernel's environment that says which notebook it runs, hence which modules it may see."""

_REFUSAL = '''"""Not to be seen while answers are graded."""

raise ImportError("{name} is not available in a kernel that grades {slug}.")
'''
_LEFT_OUT = ("__pycache__", "*.pyc")


def fresh_seeds() -> tuple[int, int]:
    """Two seeds that nobody could know."""
    return secrets.randbelow(2**31), secrets.randbelow(2**31)


def environment(notebook: Notebook, seeds: tuple[int, ...]) -> dict[str, str]:
    """The environment of a kernel that grades `notebook`; the sandbox lets through what is on its list."""
    return {**os.environ, NOTEBOOK: notebook.slug, GRADING_SEED: ",".join(map(str, seeds))}


def visible_package(notebook: Notebook, within: Path) -> Path:
    """A new folder to put on a kernel's path, with `anatomy` as the students of `notebook` may import it."""
    folder = within / notebook.slug
    original = Path(anatomy.__file__).parent
    shutil.copytree(original, folder / "anatomy", ignore=shutil.ignore_patterns(*_LEFT_OUT))
    if (assets := original.parent / "assets").is_dir():
        shutil.copytree(assets, folder / "assets")
    for name in hidden(notebook):
        place = folder.joinpath(*name.split("."))
        refusal = _REFUSAL.format(name=name, slug=notebook.slug)
        if place.is_dir():
            shutil.rmtree(place)
            place.mkdir()
            (place / "__init__.py").write_text(refusal, encoding="utf-8")
        else:
            place.with_suffix(".py").write_text(refusal, encoding="utf-8")
    return folder


def hidden(notebook: Notebook) -> Iterator[str]:
    """The modules that a kernel grading `notebook` can't import: what holds answers, and what judges them."""
    yield "anatomy.misconceptions"
    yield "anatomy.variants"
    yield "anatomy.judging"
    yield "anatomy.grading"
    yield "anatomy.authoring"
    for other in NOTEBOOKS:
        if other.number >= notebook.number:
            yield f"anatomy.reference.{other.module}"
