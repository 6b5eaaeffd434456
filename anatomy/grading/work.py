"""What a worker does: a submission's bytes come in, a graded notebook's bytes go out. Touches no gradebook."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors import LimitOutput
from traitlets.config import Config

from anatomy.authoring.notebooks import as_text
from anatomy.grading import sandbox
from anatomy.grading.feedback import PlainOutputs
from anatomy.grading.pages import foreseen, pages_by
from anatomy.grading.preprocessors import JudgeObservations, RunAndObserve
from anatomy.grading.repair import NOTE, NOTE_ID, Unrepairable, note_cell, parse_notebook, repaired
from anatomy.grading.warm.service import SHARED

STEPS = (RunAndObserve, LimitOutput, JudgeObservations, PlainOutputs)
"""What of nbgrader's autograding a worker does; the rest is repair before and recording after."""
BESIDE = "beside/"


def pack(about: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """Facts and files as bytes that hold no code."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("about", json.dumps(dict(about)))
        for number, (name, content) in enumerate(files.items()):
            archive.writestr(f"{number}/{name}", content)
    return whole.getvalue()


def unpack(parcel: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What was packed."""
    with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
        about = json.loads(archive.read("about"))
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist() if name != "about"}
    return about, files


def grade_parcel(parcel: bytes) -> bytes:
    """Repair, run, judge.

    Parameters
    ----------
    parcel
        About the submission: ``assignment``, ``student``, ``config``, ``seeds``, ``sandbox``,
        ``warm`` (the address of a parent on this machine, or ""), ``from`` (what it is made from), ``notes``, ``pages``
        (settings of feedback pages, or "" for none). Files: ``submission`` and ``master`` (notebooks), and what lies
        ``beside/`` them.

    Returns
    -------
    bytes
        About it: ``ungraded`` (the reason, or ""), ``notes`` (repairs), ``marks`` (check → points or null),
        ``comments`` (answer → nbgrader's automatic comment). The files ``notebook`` and, if it was wanted and could be
        made, ``page``.
    """
    torch.set_num_threads(1)  # one worker a core
    about, files = unpack(parcel)
    os.environ[sandbox.VARIABLE] = about["sandbox"]
    if about["warm"]:
        os.environ[SHARED] = about["warm"]
    log = _Kept()
    try:
        book, notes = _graded(about, files, log.logger)
    except Unrepairable as reason:
        return pack({"ungraded": str(reason)}, {})
    except Exception as error:  # whatever it is, it costs this submission only
        said = " ".join(str(error).split())[:300]
        return pack({"ungraded": f"{type(error).__name__}: {said}", "log": log.lines[-20:]}, {})
    marks = {cell.metadata.nbgrader.grade_id: _points(cell) for cell in book.cells if utils.is_grade(cell)}
    comments = {
        cell.metadata.nbgrader.grade_id: _comment(cell)
        for cell in book.cells
        if utils.is_solution(cell) or utils.is_task(cell)
    }
    done = {"ungraded": "", "notes": notes, "marks": marks, "comments": comments}
    made = {"notebook": as_text(book).encode()}
    if about.get("pages"):
        with contextlib.suppress(Exception):  # then the one who asked makes it, or says why it can't be made
            says = foreseen(book, marks, comments)
            made["page"] = pages_by(about["pages"]).page(made["notebook"], about["student"], about["assignment"], says)
    return pack(done, made)


def _graded(about: dict[str, Any], files: dict[str, bytes], log: logging.Logger) -> tuple[NotebookNode, list[str]]:
    book, notes = parse_notebook(files.pop("submission"))
    notes = [*about["notes"], *notes]
    book, more = repaired(book, _master(files.pop("master")))
    if notes:  # also what was wrong with the file and its folder
        book.cells = [note_cell([*notes, *more]), *(cell for cell in book.cells if cell.get("id") != NOTE_ID)]
    name = about["assignment"]
    resources = ResourcesDict()
    resources["nbgrader"] = {"assignment": name, "notebook": name, "student": about["student"]}
    resources[NOTE] = {"seeds": tuple(about["seeds"])}
    with _folder(files) as folder:
        resources["metadata"] = {"path": folder}
        for step in STEPS:
            book, resources = step(config=Config(about["config"]), log=log).preprocess(book, resources)
    book.metadata[NOTE] = {"from": about["from"], "notes": [*notes, *more]}
    return book, [*notes, *more]


@lru_cache(maxsize=16)
def _master(text: bytes) -> NotebookNode:
    return nbformat.reads(text.decode(), as_version=4)


@contextlib.contextmanager
def _folder(files: Mapping[str, bytes]) -> Iterator[str]:
    """A folder with what lies beside the notebook; none is made when there is nothing."""
    if not files:
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="anatomy-beside-") as folder:
        for name, content in files.items():
            path = Path(folder, name.removeprefix(BESIDE))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield folder


def _points(cell: NotebookNode) -> float | None:
    if cell.metadata.get(NOTE, {}).get("status") == "ungraded":
        return None
    points, _ = utils.determine_grade(cell)
    return None if points is None else float(points)


def _comment(cell: NotebookNode) -> str | None:
    unchanged = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    return "No response." if unchanged and not utils.is_task(cell) else None


class _Kept:
    """A logger that keeps what the steps say, for when something fails."""

    def __init__(self) -> None:
        self.logger = logging.Logger("anatomy.grading")
        self.lines: list[str] = []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: self.lines.append(handler.format(record))  # type: ignore[method-assign]
        self.logger.addHandler(handler)
