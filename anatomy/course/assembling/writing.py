"""The assembled file on disk. Its last line says what it was when it was written, so that no later edit is lost."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from anatomy.engine.backups import backup_of
from anatomy.engine.errors import UserError

_MARK = re.compile(r"\n# assembled ([0-9a-f]{16}): .*\n\Z")
_WHY = "while this line fits the file, `anatomy assemble` may rewrite it"


class NotWritten(UserError):
    """The file can't or must not be written."""


def marked(text: str) -> str:
    """The text with its mark as last line."""
    return f"{text.rstrip()}\n\n\n# assembled {_hash(text)}: {_WHY}\n"


def may_be_replaced(path: Path) -> bool:
    """Whether there is no such file, or it is as `assemble` wrote it."""
    if not path.exists():
        return True
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    mark = _MARK.search(text)
    return mark is not None and _hash(text[: mark.start()]) == mark[1]


def refuse_what_is_not_ours(path: Path) -> None:
    """Nothing, or:

    Raises
    ------
    NotWritten
        When the file was not written by `assemble`, or was edited since.
    """
    if path.is_dir():
        raise NotWritten(f"{path} is a folder: name a file with --output (output=… in a notebook).")
    if not may_be_replaced(path):
        raise NotWritten(
            f"{path.name} was not written by `anatomy assemble`, or was edited since: it stays as it is. Choose "
            "another name with --output (in a notebook: output=…), or --force (force=True), which keeps a copy of it."
        )


def write(text: str, path: Path) -> Path | None:
    """Write the whole file or nothing; where another's work was there, return the copy that is kept of it.

    Raises
    ------
    NotWritten
        When the disk refuses.
    """
    kept = None
    fresh = path.with_name(path.name + ".tmp")
    try:
        if not may_be_replaced(path):
            kept = backup_of(path)
            path.rename(kept)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8", newline="\n")
        fresh.replace(path)
    except OSError as error:
        raise NotWritten(f"{path} can't be written: {error.strerror}.") from error
    return kept


def _hash(text: str) -> str:
    return hashlib.sha256(text.rstrip().encode()).hexdigest()[:16]
