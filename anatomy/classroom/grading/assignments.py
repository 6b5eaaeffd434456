"""An assignment as it was handed out: the student edition that repairs go by, and its entry in the gradebook."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import tempfile
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import DBAPIError
from traitlets.config import Config

from anatomy.authoring import student
from anatomy.classroom.forked_kernels import get_fork_server
from anatomy.classroom.grading.course_preparation import KERNELS
from anatomy.classroom.grading.errors import Unrepairable, in_brief
from anatomy.classroom.grading.fingerprints import hash_of, hash_parts, program_version, rules_of_marks
from anatomy.classroom.grading.gradebook import GradebookWriter, put_alembic_on_path
from anatomy.classroom.grading.submissions import files_beside_notebook
from anatomy.engine.course import NoSuchNotebook
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import as_text, source_file
from anatomy.engine.notebook_files.settings import CONFIG, settings
from anatomy.wiring import the_course


def student_edition(root: Path, slug: str) -> NotebookNode:
    """The student edition of one notebook; a copy, made anew only when its source has changed.

    Raises
    ------
    BadNotebook
        When the source is no notebook that nbgrader accepts.
    """
    return deepcopy(_student_edition(root.resolve(), slug, source_file(root, slug).stat().st_mtime_ns))


@lru_cache(maxsize=32)
def _student_edition(root: Path, slug: str, changed: int) -> NotebookNode:
    return student.student_edition(root, slug)


def register(root: Path, slug: str, config: Config | None = None, log: logging.Logger | None = None) -> None:
    """Tell the gradebook of a notebook's exercises and points, as nbgrader's generate step does.

    The student edition that this step writes goes to a folder that is thrown away: ``notebooks/`` is not touched.

    Raises
    ------
    NbGraderException
        When nbgrader refuses, e.g. because cells were added or removed after submissions were graded.
    """
    # Takes long to import, and is needed only when a notebook or the gradebook has changed.
    from nbgrader.converters import GenerateAssignment

    config, log = deepcopy(config or settings(root)), log or _silent_log()
    put_alembic_on_path()
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


def _silent_log() -> logging.Logger:
    log = logging.Logger("anatomy.register")
    log.addHandler(logging.NullHandler())
    return log


def register_if_missing(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook before it autogrades: `nbgrader autograde` works at once, without a generate step.

    nbgrader calls it by keyword, in the course's folder. The kernels' server is started, too, so that it imports while
    this process does; later submissions, and later presses of Formgrader's button, find it ready.
    """
    with contextlib.suppress(UserError):  # without a sandbox nothing is run, which `RunAndObserve` says
        get_fork_server(KERNELS, wait=False)
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


# ---- for a run over a class -----------------------------------------------------------------------------------------


class Refused(Exception):
    """The gradebook can't have an assignment. The message says why."""


@dataclass(frozen=True)
class Assignment:
    """What all submissions to an assignment need."""

    edition: bytes
    """The student edition."""
    files: dict[str, bytes]
    """The files beside it, by their path."""
    made_from: str
    """A hash of the above, of the program and of what else decides what its checks give."""


class Assignments:
    """The assignments of one run: each is read once, and registered when it or the gradebook has changed.

    What was registered is kept in ``.anatomy/assignments/``: the student edition, what it was made from, and what the
    gradebook said of it then.
    """

    def __init__(self, root: Path, config: Config, gradebook: GradebookWriter) -> None:
        self.root, self.config, self.gradebook = root, config, gradebook
        self._loaded: dict[str, Assignment | str] = {}

    def load(self, slug: str) -> Assignment:
        """The assignment.

        Raises
        ------
        Unrepairable
            When there is none of this name, or when the gradebook can't have it.
        """
        if slug not in self._loaded:
            self._loaded[slug] = self._load(slug)
        loaded = self._loaded[slug]
        if isinstance(loaded, str):
            raise Unrepairable(loaded)
        return loaded

    def _load(self, slug: str) -> Assignment | str:
        """The assignment, or why it can't be had."""
        source = source_file(self.root, slug)
        if not any(book.slug == slug for book in the_course().notebooks) or not source.is_file():
            return _no_such_notebook(slug)
        rules = [(self.root / CONFIG).read_bytes(), program_version().encode()]
        try:
            edition = self._registered(slug, hash_of([source.read_bytes(), *rules, version("nbgrader").encode()]))
        except Refused as refused:
            return str(refused)
        files, _ = files_beside_notebook(source.parent)
        parts = [edition, rules_of_marks(self.root), program_version().encode(), *hash_parts(files)]
        return Assignment(edition, files, hash_of(parts))

    def _registered(self, slug: str, made_from: str) -> bytes:
        """The student edition, as the gradebook has it."""
        kept = self.root / ".anatomy" / "assignments" / f"{slug}.json"
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # there is none, or it is damaged
            said = json.loads(kept.read_text(encoding="utf-8"))
            if said["made from"] == made_from and said["gradebook"] == self.gradebook.holds(slug):
                return str(said["edition"]).encode()
        self._register(slug)
        self.gradebook.gradebook.db.expire_all()  # another connection has written
        edition = as_text(student_edition(self.root, slug))
        said = {"made from": made_from, "gradebook": self.gradebook.holds(slug), "edition": edition}
        kept.parent.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_suffix(".tmp")
        fresh.write_text(json.dumps(said), encoding="utf-8")
        fresh.replace(kept)
        return edition.encode()

    def _register(self, slug: str) -> None:
        from nbgrader.converters.base import NbGraderException

        try:
            register(self.root, slug, self.config)
        except (NbGraderException, SystemExit) as error:
            if isinstance(error.__context__, DBAPIError):  # not this assignment's fault
                raise error.__context__ from None
            raise Refused(f"The gradebook could not take up {slug}: {in_brief(error)}") from error


def _no_such_notebook(folder: str) -> str:
    """What to do with a folder that is named after no notebook."""
    try:
        meant = the_course().find(folder).slug
    except NoSuchNotebook as error:
        return f"{error} Rename the folder."
    return f"No notebook is called {folder}. Rename the folder to {meant}."
