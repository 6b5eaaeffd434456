"""The student edition that was handed out, made from ``source/``: what repairs go by, and what the gradebook knows."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from anatomy.authoring.notebooks import source_file
from anatomy.authoring.student import settings, student_edition


def master(root: Path, slug: str) -> NotebookNode:
    """The student edition of one notebook; a copy, made anew only when its source has changed.

    Raises
    ------
    BadNotebook
        When the source is no notebook that nbgrader accepts.
    """
    return deepcopy(_master(root.resolve(), slug, source_file(root, slug).stat().st_mtime_ns))


@lru_cache(maxsize=32)
def _master(root: Path, slug: str, changed: int) -> NotebookNode:
    return student_edition(root, slug)


def register(root: Path, slug: str, config: Config | None = None, log: logging.Logger | None = None) -> None:
    """Tell the gradebook of a notebook's exercises and points, as nbgrader's generate step does.

    The student edition that this step writes goes to a folder that is thrown away: ``notebooks/`` is not touched.

    Raises
    ------
    NbGraderException
        When nbgrader refuses, e.g. because cells were added or removed after submissions were graded.
    """
    config, log = deepcopy(config or settings(root)), log or _quiet()
    tools_on_path()
    (root / ".anatomy").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="release-", dir=root / ".anatomy") as folder:
        config.CourseDirectory.root = str(root)
        config.CourseDirectory.release_directory = str(Path(folder).relative_to(root))
        config.CourseDirectory.assignment_id = slug
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config, log=log), config=config, log=log)
        converter.force = True
        converter.start()
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir()


def _quiet() -> logging.Logger:
    log = logging.Logger("anatomy.register")
    log.addHandler(logging.NullHandler())
    return log


def tools_on_path() -> None:
    """nbgrader makes its database with a program called alembic, which sits beside this Python."""
    beside = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    if beside not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((beside, path))


def register_if_missing(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before it autogrades: `nbgrader autograde` works at once, without a generate step.

    nbgrader calls it by keyword, in the course's folder.
    """
    root = Path.cwd()
    if not source_file(root, assignment).is_file():
        return
    config = settings(root)
    coursedir = CourseDirectory(config=Config(CourseDirectory={**config.CourseDirectory, "root": str(root)}))
    with Gradebook(coursedir.db_url) as gradebook:
        try:
            gradebook.find_notebook(assignment, assignment)
        except MissingEntry:
            pass
        else:
            return
    register(root, assignment, config)
