"""What students handed in: the folders ``submitted/<student>/<assignment>``, their notebooks and the files beside."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from anatomy.classroom.grading.errors import Unrepairable
from anatomy.classroom.grading.submission_file import LARGEST, find_notebook

MOST_BYTES, MOST_FILES = 64 * 2**20, 1000
"""Bytes of files beside a notebook that are taken along, and how many; what does not fit is left out."""
NAMED = 5
"""How many of the files that are left out are named."""


@dataclass(frozen=True)
class SubmissionContent:
    """What was handed in, and a note on everything out of the ordinary.

    `files` are those beside the notebook, `timestamp` is when it was handed in, if one of them says so, in nbgrader's
    form (UTC, without a zone).
    """

    notebook: bytes
    files: dict[str, bytes]
    notes: list[str]
    timestamp: datetime | None


@dataclass(frozen=True)
class Submission:
    """One student's folder for one assignment."""

    folder: Path

    @property
    def student(self) -> str:
        return self.folder.parent.name

    @property
    def assignment(self) -> str:
        return self.folder.name

    def check_names(self) -> None:
        """Refuse names that could not be recorded or shown.

        Raises
        ------
        Unrepairable
            The message says which and why.
        """
        if not _is_utf8(self.assignment) or not _is_utf8(self.student):
            raise Unrepairable("The folder's name is not UTF-8. Rename it.")
        if any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in self.student + self.assignment):
            raise Unrepairable("The folder's name has a line break or another control character in it, which would "
                               "break tables. Rename it.")  # fmt: skip
        if set("<>") & set(self.student):  # Formgrader puts it into its pages as it is
            raise Unrepairable("The folder's name has < or > in it, which a browser would take for a page's code. "
                               "Rename it.")  # fmt: skip

    def read(self) -> SubmissionContent:
        """Read all of it.

        Raises
        ------
        Unrepairable
            When there is no notebook in it that could be read.
        """
        path, notes = find_notebook(self.folder, self.assignment)
        if (size := path.stat().st_size) > LARGEST:
            raise Unrepairable(f"The file is too large ({size / 2**20:.0f} MB).")
        files, left_out = files_beside_notebook(self.folder)
        timestamp, no_time = _timestamp(files)
        return SubmissionContent(
            path.read_bytes(), files, [*map(readable, notes), *_note_on(left_out), *no_time], timestamp
        )


def find_submissions(submitted: Path, assignments: set[str] | None, students: set[str] | None) -> Iterator[Submission]:
    """The submissions to these assignments, by these students; None stands for all."""
    for student in sorted(submitted.iterdir()) if submitted.is_dir() else ():
        if student.is_symlink() or not student.is_dir() or student.name.startswith("."):
            continue
        if students is not None and student.name not in students:
            continue
        folders: list[Path] = []
        with contextlib.suppress(FileNotFoundError):  # taken away a moment ago
            folders = sorted(student.iterdir())
        for folder in folders:
            if folder.is_symlink() or not folder.is_dir() or folder.name.startswith("."):
                continue
            if assignments is None or folder.name in assignments:
                yield Submission(folder)


def files_beside_notebook(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files beside a notebook, by their path, and what is left out and why. Notebooks and hidden files are neither.

    Links are not followed, as they could lead anywhere.
    """
    found: dict[str, bytes] = {}
    left_out: list[str] = []
    room = MOST_BYTES
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts) or path.suffix == ".ipynb":
            continue
        if why := _why_left_out(path, str(inside), room, len(found)):
            left_out.append(f"{' '.join(readable(str(inside)).split())} ({why})")
        elif path.is_file():
            found[inside.as_posix()] = path.read_bytes()
            room -= len(found[inside.as_posix()])
    return found, left_out


def _timestamp(files: dict[str, bytes]) -> tuple[datetime | None, list[str]]:
    """When it was handed in, and a note if the file that should say so doesn't."""
    text = files.get("timestamp.txt", b"").decode("utf-8", "replace").strip()
    if not text:
        return None, []
    from nbgrader.utils import parse_utc

    try:
        return parse_utc(text), []
    except Exception:  # dateutil and datetime have several for what is no date, an impossible one, or an unknown zone
        return None, [f"Its timestamp.txt holds no time ({text[:40]!r}); it was graded as if it had none."]


def _why_left_out(path: Path, name: str, room: int, files: int) -> str:
    """Why a file is left out, or "" for what is not: files that can come along, and folders."""
    if path.is_symlink():
        return "a symbolic link"
    if path.is_dir():
        return ""
    if not _is_utf8(name):
        return "its name is not UTF-8"
    if not path.is_file():
        return "not a file"
    if (size := path.stat().st_size) > room:
        return f"{size / 2**20:.0f} MB, and {MOST_BYTES >> 20} MB is the most for all files"
    return f"more than {MOST_FILES} files" if files >= MOST_FILES else ""


def _note_on(left_out: list[str]) -> list[str]:
    """One note on all that is left out."""
    if not left_out:
        return []
    more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
    return [f"Left out: {', '.join(left_out[:NAMED])}{more}."]


def _is_utf8(name: str) -> bool:
    """Whether a file's name is UTF-8."""
    return name == readable(name)


def readable(name: str) -> str:
    """A file's name, with a question mark for each byte that is not UTF-8."""
    return name.encode("utf-8", "replace").decode()
