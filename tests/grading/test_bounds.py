"""What one submission can make the grader take: bounded memory and time, and its honest cells keep their marks."""

from __future__ import annotations

import io
import json
import sys
import threading
import time

import nbformat
import psutil
import pytest
from conftest import skeleton
from nbformat.v4 import new_code_cell
from rich.console import Console
from test_faults import BOOK, FILE, FULL, KEPT, RIGHT, at, right_notebook, small_course

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.forked_kernels.manager import ForkedKernelProvisioner
from anatomy.classroom.grading.notes import NOTE, CellNote, NotebookNote
from anatomy.classroom.grading.preprocessors import JudgeObservations, RunAndObserve
from anatomy.classroom.grading.run import grade
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import grade_id
from tests.plenty import one_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]
MEMORY = 700 * 2**20
"""Bytes that the grader may take for one submission beyond what it has; some of these took 4 GB."""
SEND = """
from IPython.display import display
shell = get_ipython()
session, socket = shell.kernel.session, shell.kernel.iopub_socket
def send(kind, content, to=socket, **more):
    session.send(to, kind, content, parent=shell.get_parent(), **more)
def show(data, **more):
    send("display_data", {"data": data, "metadata": {}, **more})
"""
SENT = {
    "large JSON": "for _ in range(4): show({'application/json': [[]] * 3_000_000})",
    "JSON in small parts": "for _ in range(5_000): show({'application/json': [0] * 900})",
    "large messages": "for _ in range(8): show({'text/plain': 'x' * (60 << 20)})",
    "messages beyond the largest": "show({'text/plain': 'x' * (200 << 20)})",
    "many small displays": "for _ in range(10_000): show({'text/plain': 'x'})",
    "large headers": "session.send(socket, 'stream', {}, parent={'msg_id': 'x' * (60 << 20)})",
}
ODD = {
    "errors without a name": "send('error', {'traceback': []})\nsend('error', {})",
    "prints without text": "send('stream', {})\nsend('stream', {'name': 1, 'text': {}})",
    "displays without data": "send('display_data', {})\nsend('execute_result', {'data': {}, 'metadata': {}})",
    "text that is a list": "show({'text/plain': [1]})\nshow({'text/html': {}})",
    "a status of nothing": "send('status', {})",
    "odd display ids": "show({}, transient={'display_id': {}})\nshow({}, transient=3)",
    "600 levels": "deep = []\nfor _ in range(600): deep = [deep]\n"
    "show({'application/json': deep})\nshow({}, metadata={'x': deep})",
    "widgets that are none": "send('comm_open', {'data': {}})",
}
SENT |= {
    "odd messages of all kinds": "\n".join(ODD.values()),
    "a reply without a name": "own = session.send\ndef send(stream, kind, content, *more, **named):\n"
                              "    content = {'status': 'error'} if kind == 'execute_reply' else content\n"
                              "    return own(stream, kind, content, *more, **named)\nsession.send = send",
}  # fmt: skip
IN_A_CELL = {
    **{name: f"{SEND}{code}\n" for name, code in SENT.items()},
    "a long program": "x = 1\n" * 40_000,
}


def long_notebook(book):
    book.cells[2:2] = [new_code_cell(f"x{n} = {n}", id=f"own-{n}") for n in range(10_000)]


IN_THE_NOTEBOOK = {"10,000 cells": long_notebook}


class Watch:
    """The most memory that this process took within, in bytes beyond what it had."""

    def __enter__(self):
        self.most, self._over = 0, threading.Event()
        self._had = psutil.Process().memory_info().rss
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        self.began = time.perf_counter()
        return self

    def _look(self):
        me = psutil.Process()
        while not self._over.wait(0.02):
            self.most = max(self.most, me.memory_info().rss - self._had)

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self.began
        self._over.set()
        self._thread.join()


@pytest.fixture(scope="module")
def course(tmp_path_factory, new_course):
    root = small_course(tmp_path_factory.mktemp("bounds"), new_course)
    config = root / "nbgrader_config.py"
    config.write_text(config.read_text("utf-8") + "\nc.Execute.timeout = 30\nc.ForkedKernelManager.memory = 2048\n"
                      "c.ForkedKernelManager.output = 16\n", "utf-8")  # fmt: skip
    hand_in(root, "warms-up", lambda book: None)
    grade(root, workers=1, console=Console(file=io.StringIO()))
    return root


def hand_in(root, student, change):
    book = right_notebook(root)
    change(book)
    place = root / "submitted" / student / BOOK.slug
    place.mkdir(parents=True)
    (place / FILE).write_text(json.dumps(book), encoding="utf-8")


def graded(root, student):
    with Watch() as watch:
        (row,) = grade(root, students=[student], workers=1, console=Console(file=io.StringIO())).results
    return {mark.exercise: mark.points for mark in row.marks}, row, watch


@pytest.mark.parametrize("name", one_in(8, [*IN_A_CELL, *IN_THE_NOTEBOOK]))
def test_what_a_submission_takes_is_bounded(name, course, capsys):
    def change(book):
        if name in IN_THE_NOTEBOOK:
            IN_THE_NOTEBOOK[name](book)
        else:
            book.cells[at(book.cells, "softmax")].source = f"{IN_A_CELL[name]}\n{RIGHT}"

    student = name.replace(" ", "-").replace(",", "")
    hand_in(course, student, change)
    marks, row, watch = graded(course, student)
    with capsys.disabled():
        print(f"\n  {name:<28} {marks}  {watch.most / 2**20:5.0f} MiB {watch.seconds:5.1f} s  {' '.join(row.reasons)}")
    worth = {exercise: COURSE.exercises(BOOK)[exercise].points for exercise in KEPT}
    assert marks.pop("softmax") in (0, FULL) and marks == {key: worth[key] for key in marks} and len(marks) == 2
    assert watch.most < MEMORY
    page = nbformat.read(course / "autograded" / student / BOOK.slug / FILE, as_version=4)
    assert len(json.dumps(page)) < 40 * 2**20


# ---- all runs of one notebook ---------------------------------------------------------------------------------------

LONG = {
    "waits": "import time\ntime.sleep(1000)",
    "waits and ends its kernel": "import os, time\ntime.sleep(1.5)\nos._exit(1)",
}


@pytest.mark.parametrize("what", LONG)
def test_all_runs_of_a_notebook_have_a_budget(what):
    """What was looked at before it was spent has its mark, and a person decides on the rest."""
    book = skeleton(BOOK)
    for cell in book.cells:
        if grade_id(cell) in KEPT:
            cell.source = {"softmax": RIGHT}.get(grade_id(cell), "")
    after = 1 + at(book.cells, "check-softmax")
    book.cells[after:after] = [new_code_cell(LONG[what], id=f"long-{n}") for n in range(8)]
    resources = {"nbgrader": {"notebook": BOOK.slug}, NOTE: NotebookNote(seeds=(4711, 815))}
    RunAndObserve(timeout=2, budget=3.0).preprocess(book, resources)
    JudgeObservations().preprocess(book, resources)
    notes = [CellNote.read(cell) for cell in book.cells if grade_id(cell).startswith("check-")]
    assert notes[0].points == FULL
    for note in notes[1:]:
        assert note.points is None and note.status == "ungraded"
        assert "was not reached: this notebook took more than 3 time limits of 2 s" in note.reason
    assert sum(bool(cell.outputs) for cell in book.cells if cell.id.startswith("long-")) < 8


def test_a_budget_counts_no_waiting_for_others(monkeypatch):
    """A machine that others keep busy costs no mark: here the kernel says that it waited all the time."""
    began = time.monotonic()

    async def waited(self):
        return time.monotonic() - began

    monkeypatch.setattr(ForkedKernelProvisioner, "waited", waited)
    book = skeleton(BOOK)
    book.cells.insert(1, new_code_cell("import time\ntime.sleep(1)", id="slow"))
    book.cells[at(book.cells, "softmax")].source = RIGHT
    resources = {"nbgrader": {"notebook": BOOK.slug}, NOTE: NotebookNote(seeds=(4711, 815))}
    RunAndObserve(timeout=20, budget=0.01).preprocess(book, resources)
    JudgeObservations().preprocess(book, resources)
    assert CellNote.read(book.cells[at(book.cells, "check-softmax")]).points == FULL
