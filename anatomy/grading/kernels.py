"""What a kernel that grades may know: its seeds, and a copy of the package without the answers.

The copy holds, in place of each module that a student must not see, one that refuses to be imported. That stops an
import; it does not stop code that opens the course's files by their path, which takes a sandbox.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import anatomy
from anatomy.checking import GRADING_SEED
from anatomy.course import NOTEBOOKS, Notebook

_REFUSAL = '''"""Not to be seen while answers are graded."""

raise ImportError("{name} is not available in a kernel that grades {slug}.")
'''
_LEFT_OUT = ("__pycache__", "*.pyc")

_copies = tempfile.TemporaryDirectory(prefix="anatomy-visible-")  # lives as long as this process


def fresh_seeds() -> tuple[int, int]:
    """Two seeds that nobody could know."""
    return secrets.randbelow(2**31), secrets.randbelow(2**31)


def environment(notebook: Notebook, seeds: tuple[int, ...], home: str) -> dict[str, str]:
    """The environment of a kernel that grades `notebook`: observing only, with these seeds, in one thread, offline."""
    kept = {name: value for name, value in os.environ.items() if name not in ("MPLBACKEND", "JPY_PARENT_PID")}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    path = os.pathsep.join(filter(None, (str(visible_package(notebook)), kept.get("PYTHONPATH"))))
    mode: Mapping[str, str] = {
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "ANATOMY_HOME": home,
        "HF_HUB_OFFLINE": "1",
        GRADING_SEED: ",".join(map(str, seeds)),
    }
    return {**kept, **threads, **mode}


@cache
def visible_package(notebook: Notebook) -> Path:
    """A folder to put first on a kernel's path: `anatomy` as the students of `notebook` may import it."""
    folder = Path(_copies.name, notebook.slug)
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
    yield "anatomy.checking.judge"
    yield "anatomy.grading"
    yield "anatomy.authoring"
    for other in NOTEBOOKS:
        if other.number >= notebook.number:
            yield f"anatomy.reference.{other.module}"
