"""One run at a time: a lock on the course, and a folder for work copies that no killed run leaves behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from anatomy.errors import UserError


class AlreadyGrading(UserError):
    """Another process is grading this course."""


@contextlib.contextmanager
def run_lock(root: Path) -> Iterator[Path]:
    """A folder for work copies, while nobody else grades this course; what a killed run has left is removed.

    Raises
    ------
    AlreadyGrading
        When another process holds the lock.
    """
    place = root / ".anatomy"
    place.mkdir(exist_ok=True)
    handle = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyGrading(f"Another process is grading {root}. Wait for it, or stop it.") from None
        for left in [*place.glob("grading-*"), *place.glob("release-*")]:
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="grading-", dir=place) as folder:
            yield Path(folder)
    finally:
        os.close(handle)
