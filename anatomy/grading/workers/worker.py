"""What a worker does: a submission's bytes come in, a graded notebook's bytes go out. Touches no gradebook."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader import utils

from anatomy.authoring.notebooks import as_text
from anatomy.forked_kernels import join_fork_server
from anatomy.forked_kernels.sandbox import VARIABLE as SANDBOX_VARIABLE
from anatomy.grading.errors import Unrepairable, in_brief
from anatomy.grading.feedback.page import page_maker
from anatomy.grading.feedback.standing import expected_standing
from anatomy.grading.pipeline import run_steps
from anatomy.grading.repair import NOTE
from anatomy.grading.submission_file import parse_notebook
from anatomy.grading.workers.parcels import FILES, pack, ungraded, unpack


def grade_parcel(parcel: bytes) -> bytes:
    """Repair, run, judge.

    Parameters
    ----------
    parcel
        Facts: ``assignment``, ``student``, ``pipeline`` (see `anatomy.grading.pipeline`), ``seeds``, ``sandbox``,
        ``fork_server`` (its address, when there is one on this machine, or ""), ``made_from``, ``notes``,
        ``page_settings`` (settings of feedback pages, or "" for none). Files: ``submission`` and ``edition``
        (notebooks), and in ``files/`` what lies beside them.

    Returns
    -------
    bytes
        Facts: ``ungraded`` (the reason, or ""), ``notes`` (repairs), ``marks`` (check → points or null),
        ``comments`` (answer → nbgrader's automatic comment). The files ``notebook`` and, if it was wanted and could be
        made, ``page``.
    """
    torch.set_num_threads(1)  # one worker a core
    facts, files = unpack(parcel)
    os.environ[SANDBOX_VARIABLE] = facts["sandbox"]
    if facts["fork_server"]:
        join_fork_server(facts["fork_server"])
    log = logging.Logger("anatomy.grading")  # what the steps say is in the notebook, too
    log.addHandler(logging.NullHandler())
    try:
        book, notes = _graded(facts, files, log)
    except Unrepairable as reason:
        return ungraded(str(reason))
    except Exception as error:  # whatever it is, it costs this submission only
        return ungraded(in_brief(error))
    marks = {cell.metadata.nbgrader.grade_id: _points(cell) for cell in book.cells if utils.is_grade(cell)}
    comments = {
        cell.metadata.nbgrader.grade_id: _comment(cell)
        for cell in book.cells
        if utils.is_solution(cell) or utils.is_task(cell)
    }
    done = {"ungraded": "", "notes": notes, "marks": marks, "comments": comments}
    made = {"notebook": as_text(book).encode("utf-8", "replace")}  # outputs may hold lone surrogates
    if facts["page_settings"]:
        with contextlib.suppress(Exception):  # then the one who asked makes it, or says why it can't be made
            make = page_maker(facts["page_settings"])
            standing = expected_standing(book, marks, comments)
            made["page"] = make.page(made["notebook"], facts["student"], facts["assignment"], standing)
    return pack(done, made)


def _graded(facts: dict[str, Any], files: dict[str, bytes], log: logging.Logger) -> tuple[NotebookNode, list[str]]:
    book, notes = parse_notebook(files.pop("submission"))
    name = facts["assignment"]
    resources = ResourcesDict()
    resources["nbgrader"] = {"assignment": name, "notebook": name, "student": facts["student"]}
    edition = _parsed_edition(files.pop("edition"))
    resources[NOTE] = {"seeds": tuple(facts["seeds"]), "student edition": edition, "notes": [*facts["notes"], *notes]}
    with _folder_with(files) as folder:
        resources["metadata"] = {"path": folder}
        book, resources = run_steps(facts["pipeline"], book, resources, log)
    notes = resources[NOTE]["notes"]
    book.metadata[NOTE] = {"from": facts["made_from"], "notes": notes}
    return book, notes


@lru_cache(maxsize=16)
def _parsed_edition(text: bytes) -> NotebookNode:
    return nbformat.reads(text.decode(), as_version=4)


@contextlib.contextmanager
def _folder_with(files: Mapping[str, bytes]) -> Iterator[str]:
    """A folder with what lies beside the notebook; none is made when there is nothing."""
    if not files:
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="anatomy-files-") as folder:
        for name, content in files.items():
            path = Path(folder, name.removeprefix(FILES))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield folder


def _points(cell: NotebookNode) -> float | None:
    if cell.metadata.get(NOTE, {}).get("status") == "ungraded":
        return None
    points, _ = utils.determine_grade(cell)
    return None if points is None else float(points)


def _comment(cell: NotebookNode) -> str | None:
    """As nbgrader's `SaveAutoGrades` gives it."""
    unchanged = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    return "No response." if unchanged and not utils.is_task(cell) else None
