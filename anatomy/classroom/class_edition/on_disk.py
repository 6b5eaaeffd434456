"""An edition for a class as a folder and as a zip file. Nobody's work is lost: what was changed since stays, or a copy.

Beside its files lies a list of them with their hashes, as they were written. That tells what is ours from what somebody
has worked on since.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from anatomy.classroom.class_edition.unpacking import CannotUnpack, Damaged, TooLarge, ZippedFiles
from anatomy.engine.backups import backup_of
from anatomy.engine.errors import UserError

Files = Mapping[PurePosixPath, bytes]
"""Path in the edition → what the file holds."""

LIST = PurePosixPath(".class-edition.json")
ABOUT = PurePosixPath("anatomy/class_edition.json")
LARGEST = 100 * 2**20
"""Bytes to which a zip file may unpack; an edition has a few MB."""


class NotWritten(UserError):
    """A folder or file is not a class's edition, or must not become one. The message says what to do."""


@dataclass
class Written:
    """What writing did: how many files are new or other than before, what was left as somebody had changed it, and the
    copies of what had been changed and was replaced."""

    files: int = 0
    left: list[Path] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)


def write(files: Files, folder: Path) -> Written:
    """Put an edition into a new folder, or into one that holds a former edition.

    A notebook that was worked on since stays as it is; of another file that was changed a copy is kept.

    Raises
    ------
    NotWritten
        When the folder holds something else, or the disk refuses.
    """
    known = _listed(folder)
    if known is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise NotWritten(f"{folder} is there and was not written by `anatomy release`. Name another folder.")
    known, done = known or {}, Written()
    try:
        for path, content in sorted(files.items()):
            _put(folder / path, content, known.get(path), done, is_work=path.suffix == ".ipynb")
        for path in known.keys() - files.keys():
            if _hash_of(folder / path) == known[path]:
                (folder / path).unlink()
        _replace(folder / LIST, _list_of(files))
    except OSError as error:
        raise NotWritten(f"{error.filename or folder} can't be written: {error.strerror}.") from error
    return done


def zipped(files: Files, top: str, at: datetime) -> bytes:
    """The edition as a zip file, in which all lies in the folder `top` and was written `at` that time.

    The same files at the same time are the same bytes.
    """
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        for path, content in sorted({**files, LIST: _list_of(files)}.items()):
            info = zipfile.ZipInfo(f"{top}/{path}", at.timetuple()[:6])
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | _mode(content)) << 16
            file.writestr(info, content)
    return whole.getvalue()


def write_zip(files: Files, path: Path) -> None:
    """Write the zip file, in place of none or of one that holds a former edition. One that holds this very one stays.

    Raises
    ------
    NotWritten
        When another file is there, or the disk refuses.
    """
    if path.exists():
        try:
            if opened(path) == files:
                return
        except NotWritten:
            raise NotWritten(f"{path} is there and was not written by `anatomy release`. Name another place.") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, zipped(files, path.stem, datetime.now()))
    except OSError as error:
        raise NotWritten(f"{path} can't be written: {error.strerror}.") from error


def opened(path: Path) -> dict[PurePosixPath, bytes]:
    """The files of an edition: of a zip file, or of the folder that somebody unpacked it to.

    Raises
    ------
    NotWritten
        When it holds none, or not all of one as it was written.
    """
    try:
        files = _of_folder(path) if path.is_dir() else _of_zip_file(path)
        _notebooks(files[ABOUT])
    except (OSError, KeyError, ValueError, Damaged) as error:
        raise NotWritten(
            f"{path} holds no edition for a class: name the zip file that you were given, or its folder. "
            "If it is that one, it is damaged: get it once more."
        ) from error
    except TooLarge:
        raise NotWritten(
            f"{path} unpacks to {LARGEST >> 20} MB and more, which no edition of the course does: is it the right file?"
        ) from None
    except CannotUnpack as error:
        raise NotWritten(
            f"{path} can't be unpacked here ({error}): unpack it with another program, and name the folder."
        ) from None
    return files


def _of_folder(path: Path) -> dict[PurePosixPath, bytes]:
    lists = [path / LIST, *path.glob(f"*/{LIST}")]
    place = next((file for file in lists if file.is_file()), lists[0]).parent
    return {name: (place / name).read_bytes() for name in _names(_listed(place) or {})}


def _of_zip_file(path: Path) -> dict[PurePosixPath, bytes]:
    with ZippedFiles(path, LARGEST) as file:
        top = next((name.partition("/")[0] for name in file.names if name.endswith(f"/{LIST}")), "")
        return {name: file.read(f"{top}/{name}") for name in _names(_parsed(file.read(f"{top}/{LIST}")))}


def update(source: Path, folder: Path) -> Written:
    """Put a newer edition, from a zip file or another folder, over the one that a student has.

    Raises
    ------
    NotWritten
        When it is none, when the folder holds none, or when it is older: has fewer notebooks.
    """
    files, now = opened(source), _listed(folder)
    if now is None:
        raise NotWritten(f"{folder} is not a class's edition of the course; only such a one can be updated.")
    try:
        missing = _notebooks((folder / ABOUT).read_bytes()) - _notebooks(files[ABOUT])
    except (OSError, ValueError):
        missing = set()  # it can't say what it has; the newer one brings what says so
    if missing:
        raise NotWritten(f"{source} is older than what you have: {', '.join(sorted(missing))} would be missing. "
                         "Ask for the newest one.")  # fmt: skip
    return write(files, folder)


def _put(file: Path, content: bytes, known: str | None, done: Written, *, is_work: bool) -> None:
    found = _hash_of(file)
    if found == _hash(content):
        return
    if found is not None and found != known:
        if is_work:
            done.left.append(file)
            return
        done.copies.append(copy := backup_of(file))
        file.rename(copy)
    file.parent.mkdir(parents=True, exist_ok=True)
    _replace(file, content)
    done.files += 1


def _replace(file: Path, content: bytes) -> None:
    fresh = file.with_name(file.name + ".tmp")
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_bytes(content)
    fresh.chmod(_mode(content))
    os.replace(fresh, file)


def _mode(content: bytes) -> int:
    return 0o755 if content.startswith(b"#!") else 0o644


def _listed(folder: Path) -> dict[PurePosixPath, str] | None:
    """What was written into a folder, with hashes; None when nothing was."""
    try:
        return _parsed((folder / LIST).read_bytes())
    except (OSError, ValueError):
        return None


def _parsed(text: bytes) -> dict[PurePosixPath, str]:
    return {PurePosixPath(name): str(digest) for name, digest in _object(text).items()}


def _object(text: bytes) -> dict[str, Any]:
    """What JSON says, which is an object; else a `ValueError`."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _names(listed: Mapping[PurePosixPath, str]) -> list[PurePosixPath]:
    """The files of a list, if all of them lie inside."""
    if any(name.is_absolute() or ".." in name.parts or "\\" in str(name) or ":" in str(name) for name in listed):
        raise ValueError("a file outside of the edition")
    return list(listed)


def _notebooks(about: bytes) -> set[str]:
    slugs = _object(about).get("notebooks")
    if not isinstance(slugs, list) or not all(isinstance(slug, str) for slug in slugs):
        raise ValueError("it doesn't say which notebooks it has")
    return set(slugs)


def _list_of(files: Files) -> bytes:
    return (json.dumps({str(path): _hash(files[path]) for path in sorted(files)}, indent=0) + "\n").encode()


def _hash_of(file: Path) -> str | None:
    return _hash(file.read_bytes()) if file.is_file() else None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
