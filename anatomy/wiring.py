"""The one place where a course meets what checks, grades and builds it."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from anatomy.engine.course import Course

COURSE = "ANATOMY_COURSE_PACKAGE"
"""The environment variable that names the package of another course, which has its value as `COURSE`."""


@cache
def the_course() -> Course:
    """The course that this process is about: the one that the environment names, else this package's own.

    Raises
    ------
    ModuleNotFoundError
        When the environment names a package that is not on Python's path.
    """
    course: Course = import_module(os.environ.get(COURSE) or "anatomy.course").COURSE
    return course
