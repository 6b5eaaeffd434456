"""Notebooks that lie where no submission is looked for. Nobody can grade them, so all that lists a class names them."""

from __future__ import annotations

from pathlib import Path

from anatomy.classroom.grading.report import UNGRADED, SubmissionResult
from anatomy.classroom.grading.submissions import readable
from anatomy.engine.course import NoSuchNotebook
from anatomy.wiring import the_course

NOBODY = "(unknown)"
"""The student of a file that lies in no student's folder."""


def misplaced(submitted: Path, students: set[str] | None = None) -> list[SubmissionResult]:
    """Notebooks that lie beside students' folders, or in one of them, where no assignment's folder is around them.

    Where only some `students` are asked for, those that lie in their folders. Each has its file's name in place of an
    assignment's.
    """
    found = []
    for pattern in ("*.ipynb", "*/*.ipynb"):
        for path in sorted(submitted.glob(pattern)):
            folder = path.parent
            if path.is_file() and path.name[0] != "." and (students is None or folder.name in students):
                known = folder != submitted
                student = readable(folder.name) if known else NOBODY
                meant = _notebook(path)
                place = f"{submitted.name}/{student if known else '<student>'}/{meant or '<notebook>'}/"
                reason = f"It lies in no {'notebook' if known else 'student'}'s folder. Move it to {place}."
                found.append(SubmissionResult(student, readable(path.name), UNGRADED, (reason,), meant=meant))
    return found


def _notebook(path: Path) -> str:
    """The notebook that the file's name tells, or ""."""
    try:
        return the_course().find(path.name).slug
    except NoSuchNotebook:
        return ""
