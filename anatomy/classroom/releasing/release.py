"""From the course's folder to what a class gets: a folder to publish, and a zip file for those who can't fetch it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from anatomy.classroom.class_edition.on_disk import Written, write, write_zip
from anatomy.classroom.releasing.contents import Say, edition, judge_address
from anatomy.engine.checking.joining import LOCAL
from anatomy.engine.course import Notebook


@dataclass(frozen=True)
class Released:
    """An edition that was written: where, what that changed there, and what its instructor should know."""

    folder: Path
    written: Written
    zip_file: Path | None
    warning: str


def release(
    root: Path, book: Notebook, judge: str, folder: Path, *, zipped: bool = False, say: Say = lambda _: None
) -> Released:
    """Write the edition for a class that has come to `book`.

    Parameters
    ----------
    root
        The course's folder.
    judge
        The address of the service that judges answers.
    folder
        A new folder, or one that holds a former release.
    zipped
        Whether to write ``<folder>.zip``, too.
    say
        Told, in a few words, what is being done.

    Raises
    ------
    UserError
        When the address is none, the folder or the zip file is something else, or a notebook can't be made.
    """
    files = edition(root, book, judge, say)
    zip_file = folder.with_name(f"{folder.name}.zip") if zipped else None
    written = write(files, folder)
    if zip_file:
        write_zip(files, zip_file)
    return Released(folder, written, zip_file, _warning(judge_address(judge)))


def _warning(judge: str) -> str:
    """What is the matter with an address that only this machine reaches, or at which keys would travel in the open."""
    address = urlsplit(judge)
    if address.hostname in LOCAL:
        return (
            f"No other machine reaches {judge}: checks in this edition work on this machine only. That is right for "
            "students of a JupyterHub here. For laptops, release again with the address at which they reach your judge."
        )
    if address.scheme == "https":
        return ""
    return f"{judge} is not encrypted: whoever is on the way can read students' keys. Put the judge behind https."
