"""One run at a time: a lock on the course."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from anatomy.classroom.grading.errors import CannotRecord, in_brief
from anatomy.engine.errors import UserError


class AlreadyGrading(UserError):
    """Another process is grading this course."""


@contextlib.contextmanager
def run_lock(root: Path) -> Iterator[None]:
    """Within this nobody else grades this course; what a killed run has left in ``.anatomy/`` is removed.

    Raises
    ------
    AlreadyGrading
        When another process holds the lock.
    CannotRecord
        When there is no place for it.
    """
    place = root / ".anatomy"
    try:
        place.mkdir(exist_ok=True)
        handle = os.open(place, os.O_RDONLY)
    except OSError as error:
        raise CannotRecord(f"{place}, where grading keeps its own files, can't be made: {in_brief(error)}.") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyGrading(f"Another process is grading {root}. Wait for it, or stop it.") from None
        for left in place.glob("release-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(handle)
