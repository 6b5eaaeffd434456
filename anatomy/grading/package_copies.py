"""Copies of the package without the answers, of which a kernel that grades a notebook sees that notebook's.

A copy holds, in place of each module that a student must not see, one that refuses to be imported. The sandbox shows
kernels this copy and not the package itself; without a sandbox it stops an import and nothing more.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import anatomy
from anatomy.course import NOTEBOOKS, Notebook

SHOWN = frozenset(
    f"anatomy.{room}"
    for room in (
        "assembling", "backups", "cards", "checking", "checkpoints", "class_edition", "cli", "course", "datasets",
        "doctor", "errors", "exercises", "hunting", "notebook_files", "observing", "reference", "scenes", "views",
    )
)  # fmt: skip
"""What of the package a machine with student code may hold: a kernel that grades, and the edition for a class.

What is not named here is left out, so a new room gives nothing away.
"""

_REFUSAL = '''"""Not to be seen while answers are graded."""

raise ImportError("{name} is not available in a kernel that grades {slug}.")
'''
_COMPILED = "__pycache__"


def copy_package(book: Notebook, within: Path) -> Path:
    """A new folder to put on a kernel's path, with `anatomy` as the students of `book` may import it.

    The copies in one folder have the files that they share in common.
    """
    original, common, folder = Path(anatomy.__file__).parent, within / "common", within / book.slug

    def linked(source: str, target: str) -> None:
        if not (first := common / Path(source).relative_to(original.parent)).exists():
            first.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, first)
        try:
            os.link(first, target)
        except OSError:  # not every file system has links
            shutil.copy2(first, target)

    refusing = {name: _REFUSAL.format(name=name, slug=book.slug) for name in hidden_modules(book)}
    for path, content in package_with(refusing).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            linked(str(content), str(file))
        else:
            file.write_text(content, encoding="utf-8")
    return folder


def package_with(instead: Mapping[str, str]) -> dict[Path, Path | str]:
    """What a copy of this package holds in which other text stands in the place of some modules.

    Parameters
    ----------
    instead
        Module, or package with all that is in it → the text that stands there.

    Returns
    -------
    dict
        Path, ``anatomy/…`` → the file that is copied there, or the text.
    """
    package = Path(anatomy.__file__).parent
    files: dict[Path, Path | str] = {}
    for place, folders, names in os.walk(package):
        inside = Path(place).relative_to(package.parent)
        dotted = ".".join(inside.parts)
        folders[:] = sorted(name for name in folders if f"{dotted}.{name}" not in instead)
        if inside.name == _COMPILED:  # it may hold what is hidden, or was there once
            shown = {file.stem for file in Path(place).parent.glob("*.py")}
            dotted = ".".join(inside.parent.parts)
            names = [name for name in names if name.partition(".")[0] in shown]
        for name in sorted(names):
            if f"{dotted}.{name.partition('.')[0]}" not in instead:
                files[inside / name] = Path(place) / name
    for name, text in sorted(instead.items()):
        inside = Path(*name.split("."))
        is_package = (package.parent / inside).is_dir()
        files[inside / "__init__.py" if is_package else inside.with_suffix(".py")] = text
    return files


def hidden_modules(book: Notebook) -> Iterator[str]:
    """The modules that a kernel grading `book` can't import: all that is not in `SHOWN`, and right answers to come."""
    package = Path(anatomy.__file__).parent
    yield from (name for name in modules_in(package, "anatomy") if name not in SHOWN)
    earlier = {f"anatomy.reference.{other.module}" for other in NOTEBOOKS if other.number < book.number}
    yield from (name for name in modules_in(package / "reference", "anatomy.reference") if name not in earlier)


def modules_in(folder: Path, package: str) -> Iterator[str]:
    """The modules and packages in a folder, and not the package itself."""
    for path in sorted(folder.iterdir()):
        if (path / "__init__.py").is_file() or (path.suffix == ".py" and path.stem != "__init__"):
            yield f"{package}.{path.stem}"
