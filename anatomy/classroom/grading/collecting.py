"""A learning platform's zip: sorting what students handed in into ``submitted/``, and their pages into one like it.

Who handed in stands in the names that the platform gives (of Moodle ``Ada Doe_4711_assignsubmission_file/…``, of Canvas
``doeada_4711_815_…``). A student is the name alone: Moodle's number is another one in each assignment.
"""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anatomy.classroom.grading.errors import Unrepairable
from anatomy.classroom.grading.placing import put_in_place, write_beside
from anatomy.classroom.grading.submission_file import LARGEST
from anatomy.classroom.grading.submissions import Submission
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import chosen
from anatomy.engine.notebook_files.settings import settings
from anatomy.wiring import the_course

_FORMS = (
    r"(?P<prefix>(?P<student>[^/]+)_(?P<number>\d+)_assignsubmission_file_?/?)(?:.*/)?(?P<file>[^/]+)",  # Moodle
    r"(?P<prefix>(?P<student>[^/_]+)_(?:LATE_)?(?P<number>\d+)_\d+_)(?P<file>[^/]+)",  # Canvas
    r"(?P<prefix>(?P<student>[^/_]+)_)(?P<number>)(?P<file>\d\d-[^/]+)",
    r"(?P<prefix>(?P<student>[^/]+)/)(?P<number>)(?P<file>\d\d-[^/]+)",
)
"""How a file's name in a zip tells whose it is; the first form that fits counts."""
_OF_SYSTEMS = ("__MACOSX", ".DS_Store")
"""What a system adds to a zip, of which nobody need hear."""


class NoZip(UserError):
    """It is not a zip that can be read, or it has no file that is wanted. The message says so."""


@dataclass(frozen=True)
class _Entry:
    """A file in the zip: `path` is its name there, `file` the student's own for it, `prefix` what stands before it."""

    path: str
    prefix: str
    student: str
    number: str
    file: str


@dataclass(frozen=True)
class Collected:
    """What became of a zip: how many notebooks are new, took an earlier one's place, or were there already.

    `left` has each file that was left, with the reason.
    """

    notebook: str
    new: int
    replaced: int
    unchanged: int
    left: tuple[tuple[str, str], ...]


def collect(root: Path, notebook: str, archive: Path) -> Collected:
    """Put each student's notebook into ``submitted/<student>/<notebook>/``, in place of an earlier one.

    Raises
    ------
    NoZip
        When it can't be read.
    NoSuchNotebook
        When no notebook is called so.
    """
    slug, submitted = _place(root, notebook, "submitted")
    with _opened(archive) as file:
        entries, left = _sorted(slug, file)
        counts: dict[str, int] = defaultdict(int)
        for entry in entries:
            place = submitted / entry.student / slug
            try:
                content = file.read(entry.path)
            except (OSError, RuntimeError, zipfile.BadZipFile) as error:  # damaged, or with a password
                left.append((entry.path, f"it can't be read: {error}"))
                continue
            there = place / f"{slug}.ipynb"
            if there.is_file() and there.read_bytes() == content:
                counts["unchanged"] += 1
                continue
            counts["replaced" if place.exists() else "new"] += 1
            put_in_place(write_beside(place, {there.name: content}, 0o644), place)
    return Collected(slug, counts["new"], counts["replaced"], counts["unchanged"], tuple(left))


def give_back(root: Path, notebook: str, archive: Path) -> tuple[Path, int, tuple[str, ...], tuple[str, ...]]:
    """Write a zip of pages, in which each is named as the platform named its student's file in `archive`.

    Returns the zip, ``feedback/<notebook>.zip``, how many pages it has, the students who have none, and those for whose
    marks a person has to look at something: their pages will change.

    Raises
    ------
    NoZip
        When `archive` can't be read, or no page is there for it.
    NoSuchNotebook
        When no notebook is called so.
    """
    slug, feedback = _place(root, notebook, "feedback")
    with _opened(archive) as file:
        entries, _ = _sorted(slug, file)
    pages = {entry: feedback / entry.student / slug / f"{slug}.html" for entry in entries}
    found = {entry: page for entry, page in pages.items() if page.is_file()}
    if not found:
        raise NoZip(f"There is no page in {feedback} for anybody in {archive}. Collect the zip and grade first.")
    made = feedback / f"{slug}.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for entry, page in found.items():
            file.write(page, f"{entry.prefix}{slug}.html")
    without = tuple(entry.student for entry in pages if entry not in found)
    waiting = _waiting(root, slug) & {entry.student for entry in found}
    return made, len(found), without, tuple(sorted(waiting))


def _waiting(root: Path, slug: str) -> set[str]:
    """The students of whose marks in a notebook one is still to be given, or belongs to an earlier answer."""
    from nbgrader.api import MissingEntry

    from anatomy.classroom.grading.exports import marks
    from anatomy.classroom.grading.gradebook import database_file, open_gradebook

    config = settings(root)
    config.CourseDirectory.root = str(root)
    if (file := database_file(config)) and not file.is_file():
        return set()
    with open_gradebook(root, config) as writer:
        try:
            found = marks(writer.gradebook, writer.gradebook.find_assignment(slug))
        except MissingEntry:
            return set()
    open_ones = {student for student, points in found.points.items() if points is None}
    return open_ones | {student for student, _ in found.older}


def _place(root: Path, notebook: str, kind: str) -> tuple[str, Path]:
    """The notebook's slug, and the course's folder of this kind."""
    (book,) = chosen(the_course(), root, [notebook])
    return book.slug, root / str(settings(root).CourseDirectory.get(f"{kind}_directory", kind))


def _opened(archive: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(archive)
    except (OSError, zipfile.BadZipFile) as error:
        raise NoZip(f"{archive} can't be read as a zip: {error}.") from error


def _sorted(slug: str, file: zipfile.ZipFile) -> tuple[list[_Entry], list[tuple[str, str]]]:
    """One notebook of each student, and what is left, each with the reason."""
    left: list[tuple[str, str]] = []
    students: dict[str, list[_Entry]] = defaultdict(list)
    for info in file.infolist():
        if info.is_dir() or any(part in info.filename for part in _OF_SYSTEMS):
            continue
        entry = _entry(info.filename)
        if why := _why_not(info.filename, entry, slug, info.file_size):
            left.append((info.filename, why))
        elif entry:
            students[entry.student].append(entry)
    taken = []
    for student, entries in sorted(students.items()):
        exact = [one for one in entries if one.file == f"{slug}.ipynb"]
        if len({one.number for one in entries}) > 1:
            why = f"two students of this zip are called {student}: put it into place by hand, each under another name"
            left += [(one.path, why) for one in entries]
        elif len(best := exact or entries) > 1:
            left += [(one.path, f"{student} has several notebooks: put one into place by hand") for one in entries]
        else:
            taken += best
            left += [(one.path, f"{best[0].file} of {student} was taken") for one in entries if one not in best]
    return taken, left


def _entry(path: str) -> _Entry | None:
    found: Iterable[re.Match[str] | None] = (re.fullmatch(rf"(?:.*/)?{form}", path) for form in _FORMS)
    first = next(filter(None, found), None)
    return _Entry(path, first["prefix"], first["student"], first["number"], first["file"]) if first else None


def _why_not(path: str, entry: _Entry | None, slug: str, size: int) -> str:
    """Why a file can't be put into place, or ""."""
    if not path.endswith(".ipynb"):
        return "no notebook: ask for the .ipynb file"
    if not entry:
        return "its name does not tell whose it is: put it into place by hand"
    slugs = [book.slug for book in the_course().notebooks]
    other = next((one for one in slugs if entry.file.startswith(one) and one != slug), "")
    if other:
        return f"it is {other}, not {slug}: ask for the other, or collect it as {other[:2]}"
    if entry.student in (".", "..", *slugs):
        return "its name does not tell whose it is: put it into place by hand"
    if size > LARGEST:
        return f"too large ({size / 2**20:.0f} MB)"
    try:
        Submission(Path(entry.student) / slug).check_names()
    except Unrepairable as reason:
        return str(reason)
    return ""
