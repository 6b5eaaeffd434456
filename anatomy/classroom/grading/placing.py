"""Putting a folder in its place: whole or not at all, wherever it is mounted."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path


def write_beside(place: Path, files: Mapping[str, bytes], mode: int) -> Path:
    """A new hidden folder beside `place`, hence in its file system, with these files (path → content).

    What a killed run has left there is removed, and so is the new folder when it can't be written.
    """
    fresh = place.with_name(f".{place.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for name, content in files.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return fresh


def put_in_place(fresh: Path, place: Path) -> None:
    """Replace `place` by what `write_beside` has written."""
    if place.exists():
        shutil.rmtree(place)
    fresh.replace(place)
