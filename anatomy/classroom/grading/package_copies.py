"""Copies of the package without the answers, of which a kernel that grades a notebook sees that notebook's.

A copy holds, in place of each module that a student must not see, one that refuses to be imported. The sandbox shows
kernels this copy and not the package itself; without a sandbox it stops an import and nothing more.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from anatomy import PACKAGE
from anatomy.engine.course import Course, Notebook
from anatomy.wiring import the_course

SHOWN = frozenset({
    "anatomy.cli", "anatomy.course", "anatomy.doctor", "anatomy.in_notebooks", "anatomy.wiring",
    "anatomy.classroom", "anatomy.classroom.class_edition",
    "anatomy.engine", *(
        f"anatomy.engine.{room}"
        for room in ("backups", "calls", "cards", "case", "checking", "class_edition", "course", "draw", "errors",
                     "exercise", "hunting", "notebook_files", "observing", "typed")
    ),
})  # fmt: skip
"""What of this package a machine with student code may hold: a kernel that grades, and the edition for a class.

Of a course it may hold what the course says (`Course.shown`); of a notebook's folder what is asked, and the right
answers once a later notebook is worked on. What is not named is left out, so a new room gives nothing away.
"""

_REFUSAL = '''"""Not to be seen while answers are graded."""

raise ImportError("{name} is not available in a kernel that grades {slug}.")
'''
_COMPILED = "__pycache__"


def copy_package(book: Notebook, within: Path) -> Path:
    """A new folder to put on a kernel's path, with `anatomy` as the students of `book` may import it.

    The copies in one folder have the files that they share in common.
    """
    common, folder = within / "common", within / book.slug

    def linked(source: Path, inside: Path) -> None:
        if not (first := common / inside).exists():
            first.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, first)
        try:
            os.link(first, folder / inside)
        except OSError:  # not every file system has links
            shutil.copy2(first, folder / inside)

    refusing = {name: _REFUSAL.format(name=name, slug=book.slug) for name in hidden_modules(book)}
    for path, content in package_with(refusing).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            linked(content, path)
        else:
            file.write_text(content, encoding="utf-8")
    return folder


def package_with(instead: Mapping[str, str]) -> dict[Path, Path | str]:
    """What a copy of this package, and of the course's, holds in which other text stands in the place of some modules.

    Of a notebook's folder only modules are copied.

    Parameters
    ----------
    instead
        Module, or package with all that is in it → the text that stands there.

    Returns
    -------
    dict
        Path, ``anatomy/…`` → the file that is copied there, or the text.
    """
    course = the_course()
    books = {course.module(book) for book in course.notebooks}
    is_package, files = _modules(course), dict[Path, Path | str]()
    for package, folder in _packages(course).items():
        for place, folders, names in os.walk(folder):
            inside = Path(*package.split(".")) / Path(place).relative_to(folder)
            dotted = ".".join(inside.parts)
            folders[:] = sorted(name for name in folders if f"{dotted}.{name}" not in instead)
            if inside.name == _COMPILED:  # it may hold what is hidden, or was there once
                shown = {file.stem for file in Path(place).parent.glob("*.py")}
                dotted = ".".join(inside.parent.parts)
                names = [name for name in names if name.partition(".")[0] in shown]
            elif dotted in books:
                names = [name for name in names if name.endswith(".py")]
            for name in sorted(names):
                if f"{dotted}.{name.partition('.')[0]}" not in instead:
                    files[inside / name] = Path(place) / name
    for module, text in sorted(instead.items()):
        inside = Path(*module.split("."))
        files[inside / "__init__.py" if is_package[module] else inside.with_suffix(".py")] = text
    return files


def hidden_modules(book: Notebook) -> Iterator[str]:
    """The modules that a kernel grading `book` can't import: all that is not shown, and right answers to come."""
    course = the_course()
    shown = {course.module(other, "asked") for other in course.notebooks}
    shown |= {course.module(other, "right") for other in course.notebooks if other.number < book.number}
    yield from hidden_but(shown)


def hidden_but(shown: Collection[str]) -> Iterator[str]:
    """The modules and packages that are not shown everywhere, nor among the `shown` ones of the notebooks' folders."""
    course = the_course()
    books = {course.module(book) for book in course.notebooks}
    open_to_all = {*SHOWN, *shown, *books, *(f"{course.package}.{room}" for room in course.shown)}
    looked_into = {"anatomy", "anatomy.engine", "anatomy.classroom", course.package, *books}
    for module in sorted(_modules(course)):
        if module.rpartition(".")[0] in looked_into and module not in open_to_all:
            yield module


def modules_in(package: str) -> Iterator[str]:
    """The modules and packages in a package of this one, and not the package itself."""
    yield from (name for name in _modules(the_course()) if name.rpartition(".")[0] == package)


def _packages(course: Course) -> dict[str, Path]:
    """This package, and the course's if it lies elsewhere: name → folder."""
    return {"anatomy": PACKAGE} | ({course.package: course.folder} if PACKAGE not in course.folder.parents else {})


def _modules(course: Course) -> dict[str, bool]:
    """The modules and packages of these → whether it is a package."""
    found = {}
    for name, folder in _packages(course).items():
        for place, _, files in os.walk(folder):
            package = ".".join((name, *Path(place).relative_to(folder).parts))
            for module in [file.removesuffix(".py") for file in files if file.endswith(".py")]:
                found[package if module == "__init__" else f"{package}.{module}"] = module == "__init__"
    return found
