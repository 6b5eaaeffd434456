"""This course's kernels: which notebook each runs, and its seeds."""

from __future__ import annotations

import os
import secrets
from typing import ClassVar

from anatomy.classroom.forked_kernels import ForkedKernelManager
from anatomy.classroom.grading.course_preparation import KERNELS, NOTEBOOK
from anatomy.engine.course import Notebook
from anatomy.engine.observing import GRADING_SEED


class CourseKernelManager(ForkedKernelManager):
    """Runs the course's notebooks. Its limits are settings of `ForkedKernelManager`."""

    preparation: ClassVar = KERNELS


def fresh_seeds() -> tuple[int, int]:
    """Two seeds that nobody could know."""
    return secrets.randbelow(2**31), secrets.randbelow(2**31)


def environment(book: Notebook, seeds: tuple[int, ...]) -> dict[str, str]:
    """The environment of a kernel that grades `book`; the sandbox lets through what is on its list."""
    return {**os.environ, NOTEBOOK: book.slug, GRADING_SEED: ",".join(map(str, seeds))}
