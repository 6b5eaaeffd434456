"""Hashes that tell whether something must be graded again, and whether a worker has the same program."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version

from anatomy import PACKAGE
from anatomy.wiring import the_course


@cache
def program_version() -> str:
    """A hash of the package's code, of the course's, and of the version of torch."""
    files = {path for folder in (PACKAGE, the_course().folder) for path in folder.rglob("*.py")}
    return hash_of([version("torch").encode(), *(path.read_bytes() for path in sorted(files))])


def hash_of(parts: Iterable[bytes]) -> str:
    """One hash of several texts; it also tells where one ends and the next begins."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()


def hash_parts(files: dict[str, bytes]) -> list[bytes]:
    """What must be hashed of files by their names."""
    return [part for name, content in files.items() for part in (name.encode(), content)]
