"""Take a made-up class out of a course, so that a real one can follow it."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from anatomy.classroom.grading.known_marks import KNOWN_MARKS, read_known_marks
from anatomy.classroom.grading.run_lock import run_lock
from anatomy.classroom.grading.submissions import find_submissions
from anatomy.classroom.sample_class.writing import NotASample
from anatomy.engine.notebook_files.settings import settings


def remove_sample_class(root: Path) -> int:
    """Remove what a made-up class handed in, its marks, graded notebooks and pages. Everybody else's stay.

    Returns how many students it had.

    Raises
    ------
    NotASample
        When there is no made-up class, or somebody's own work lies in one of its folders.
    """
    from nbgrader.api import MissingEntry

    from anatomy.classroom.grading.gradebook import open_gradebook

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
    with run_lock(root), open_gradebook(root, config) as gradebook:
        for student in students:
            with contextlib.suppress(MissingEntry):
                gradebook.gradebook.remove_student(student)
            for folder in (submitted, *others):
                shutil.rmtree(folder / student, ignore_errors=True)
        (submitted / KNOWN_MARKS).unlink()
    return len(students)
