"""Take a made-up class out of a course, so that another one can follow it."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from traitlets.config import Config

from anatomy.classroom.grading.known_marks import KNOWN_MARKS, read_known_marks
from anatomy.classroom.grading.run_lock import run_lock
from anatomy.classroom.grading.submissions import find_submissions
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.settings import settings

REPORT = ("class-report.html", "class-report.csv")
"""What `anatomy report` writes, unless another name is asked for."""


class NotASample(UserError):
    """There are submissions that no sample class wrote; they are left alone."""


def remove_sample_class(root: Path) -> int:
    """Remove what a made-up class handed in, its marks, graded notebooks and pages. Everybody else's stay.

    ``marks.csv`` and ``grades.csv`` are written anew, or removed where nobody is left. The report goes.

    Returns how many students it had.

    Raises
    ------
    NotASample
        When there is no made-up class, or somebody's own work lies in one of its folders.
    CannotRecord
        When the gradebook or the tables can't be written.
    """
    root = root.resolve()
    config = settings(root)
    config.CourseDirectory.root = str(root)
    submitted, *others = (
        root / str(config.CourseDirectory.get(f"{name}_directory", name))
        for name in ("submitted", "autograded", "feedback")
    )
    known = {(one.student, one.assignment) for one in read_known_marks(submitted / KNOWN_MARKS)}
    students = {student for student, _ in known}
    if not students:
        raise NotASample(f"There is no made-up class here: {submitted} holds no {KNOWN_MARKS}.")
    for one in find_submissions(submitted, None, students):
        if (one.student, one.assignment) not in known:
            raise NotASample(f"{one.folder} does not belong to the made-up class. Move it away first. "
                             "Nothing was removed.")  # fmt: skip
    with run_lock(root):
        for folder in (submitted, *others):
            for student in students:
                shutil.rmtree(folder / student, ignore_errors=True)
        _remove_marks(root, config, submitted, known)
        for name in REPORT:
            (root / name).unlink(missing_ok=True)
        (submitted / KNOWN_MARKS).unlink()
    return len(students)


def _remove_marks(root: Path, config: Config, submitted: Path, known: set[tuple[str, str]]) -> None:
    """Take these students out of the gradebook, if there is one, and out of the tables.

    A notebook that nobody else handed in and that has no due date goes, too, so that its points are in no total.
    """
    from nbgrader.api import MissingEntry

    from anatomy.classroom.grading.gradebook import database_file, open_gradebook
    from anatomy.classroom.grading.tables import GRADES, MARKS, absent, other_results, write_tables

    if (file := database_file(config)) and not file.is_file():
        return
    with open_gradebook(root, config) as gradebook:
        book = gradebook.gradebook
        for student in {student for student, _ in known}:
            with contextlib.suppress(MissingEntry):
                book.remove_student(student)
        for name in {assignment for _, assignment in known}:
            with contextlib.suppress(MissingEntry):
                assignment = book.find_assignment(name)
                if not assignment.num_submissions and not assignment.duedate:
                    book.remove_assignment(name)
        left = other_results(gradebook, submitted, root / GRADES)
        missing = absent(gradebook, left)
    if left:
        write_tables(left, root, missing)
    else:
        for name in (GRADES, MARKS):
            (root / name).unlink(missing_ok=True)
