"""What travels between the one who grades a class and the workers: as bytes that hold facts and files, and no code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_FILES, _FIGURES = "files/", "figures/"
"""How the names of the files beside a notebook begin in a parcel, and those of the figures for its feedback page."""


@dataclass(frozen=True)
class ToGrade:
    """What a worker gets.

    Attributes
    ----------
    notebook, files, edition, figures
        The notebook that was handed in, what lies beside it, the student edition, and what its feedback page shows.
    repairs
        What was wrong with the file or its folder: a sentence each.
    made_from
        A hash of all that the marks are made from, for the graded notebook.
    pipeline
        Steps and their settings: see `anatomy.classroom.grading.pipeline`.
    fork_server
        The address of the one on this machine, or "" when the worker has its own.
    shared
        A folder that the workers on this machine have in common for what they find out about mistakes, or "" for none.
    page_settings
        The settings of feedback pages, or "" for none.
    name, submitted
        What a page says of the student and the date: as in `anatomy.classroom.grading.feedback.standing.Standing`.
    """

    student: str
    assignment: str
    notebook: bytes
    edition: bytes
    files: Mapping[str, bytes]
    figures: Mapping[str, bytes]
    repairs: Sequence[str]
    made_from: str
    seeds: Sequence[int]
    pipeline: Mapping[str, Any]
    sandbox: str
    fork_server: str
    shared: str
    page_settings: str
    name: str = ""
    submitted: str = ""

    def packed(self) -> bytes:
        facts = dict(vars(self))
        files = {name: facts.pop(name) for name in ("notebook", "edition")}
        files |= {_FILES + name: content for name, content in facts.pop("files").items()}
        files |= {_FIGURES + name: content for name, content in facts.pop("figures").items()}
        return _pack(facts, files)

    @classmethod
    def unpacked(cls, parcel: bytes) -> ToGrade:
        facts, files = _unpack(parcel)
        beside, figures = (_within(kind, files) for kind in (_FILES, _FIGURES))
        return cls(**facts, notebook=files["notebook"], edition=files["edition"], files=beside, figures=figures)


@dataclass(frozen=True)
class Graded:
    """What a worker gives back.

    Attributes
    ----------
    ungraded
        Why no mark can be given, or ""; then there is nothing else.
    marks
        Check → points, or None when it could not be judged.
    comments
        Answer → nbgrader's automatic comment.
    notebook, page
        The graded notebook; and its feedback page, if it was wanted and could be made.
    """

    ungraded: str = ""
    marks: Mapping[str, float | None] = field(default_factory=dict)
    comments: Mapping[str, str | None] = field(default_factory=dict)
    notebook: bytes = b""
    page: bytes = b""

    def packed(self) -> bytes:
        facts = dict(vars(self))
        return _pack(facts, {name: facts.pop(name) for name in ("notebook", "page")})

    @classmethod
    def unpacked(cls, parcel: bytes) -> Graded:
        facts, files = _unpack(parcel)
        return cls(**facts, notebook=files["notebook"], page=files["page"])


def _pack(facts: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Facts, as JSON has them, and files as one parcel."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("facts", json.dumps(dict(facts)))
        for number, (name, content) in enumerate(files.items()):
            archive.writestr(f"{number}/{name}", content)
    return whole.getvalue()


def _unpack(parcel: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What was packed."""
    with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
        facts = json.loads(archive.read("facts"))
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist() if name != "facts"}
    return facts, files


def _within(kind: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files whose names begin so, by the rest of their names."""
    return {name.removeprefix(kind): file for name, file in files.items() if name.startswith(kind)}


def ungraded(reason: str) -> bytes:
    """The result for a submission that no mark can be given for."""
    return Graded(ungraded=reason).packed()
