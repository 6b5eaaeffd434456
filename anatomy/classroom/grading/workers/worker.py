"""What a worker does: a submission's bytes come in, a graded notebook's bytes go out. Touches no gradebook."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import nbformat
import torch
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader import utils

from anatomy.classroom.forked_kernels import SANDBOX_VARIABLE, join_fork_server
from anatomy.classroom.grading.errors import Unrepairable, in_brief
from anatomy.classroom.grading.feedback.page import page_maker
from anatomy.classroom.grading.feedback.standing import expected_standing
from anatomy.classroom.grading.notes import EDITION, NOTE, CellNote, NotebookNote
from anatomy.classroom.grading.pipeline import run_steps
from anatomy.classroom.grading.submission_file import parse_notebook
from anatomy.classroom.grading.verdicts import share_with
from anatomy.classroom.grading.workers.parcels import Graded, ToGrade, ungraded
from anatomy.engine.notebook_files.notebooks import as_text


def grade_parcel(parcel: bytes) -> bytes:
    """Repair, run, judge: a packed `ToGrade` comes in, a packed `Graded` goes out."""
    torch.set_num_threads(1)  # one worker a core
    given = ToGrade.unpacked(parcel)
    os.environ[SANDBOX_VARIABLE] = given.sandbox
    if given.fork_server:
        join_fork_server(given.fork_server)
    share_with(given.shared)
    log = logging.Logger("anatomy.classroom.grading", logging.CRITICAL)  # what steps say is in the notebook, too
    log.addHandler(logging.NullHandler())
    try:
        book = _graded(given, log)
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
    notebook, page = as_text(book).encode("utf-8", "replace"), b""  # outputs may hold lone surrogates
    if given.page_settings:
        with contextlib.suppress(Exception):  # then the one who asked makes it, or says why it can't be made
            make = page_maker(given.page_settings)
            standing = expected_standing(book, marks, comments, given.name, given.submitted)
            page = make.page(notebook, given.student, given.assignment, standing, given.figures)
    return Graded(marks=marks, comments=comments, notebook=notebook, page=page).packed()


def _graded(given: ToGrade, log: logging.Logger) -> NotebookNode:
    book, repairs = parse_notebook(given.notebook)
    name = given.assignment
    resources = ResourcesDict()
    resources["nbgrader"] = {"assignment": name, "notebook": name, "student": given.student}
    resources[EDITION] = _parsed_edition(given.edition)
    resources[NOTE] = NotebookNote(given.made_from, (*given.repairs, *repairs), tuple(given.seeds))
    with _folder_with(given.files) as folder:
        resources["metadata"] = {"path": folder}
        book, resources = run_steps(given.pipeline, book, resources, log)
    known: NotebookNote = resources[NOTE]
    known.write(book)
    return book


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
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield folder


def _points(cell: NotebookNode) -> float | None:
    if CellNote.read(cell).status == "ungraded":
        return None
    points, _ = utils.determine_grade(cell)
    return None if points is None else float(points)


def _comment(cell: NotebookNode) -> str | None:
    """As nbgrader's `SaveAutoGrades` gives it."""
    unchanged = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
    return "No response." if unchanged and not utils.is_task(cell) else None
