"""Accidents: each costs its own cells at most, is called by its name, and what could not be graded is not a 0."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import sys
from copy import deepcopy

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from rich.console import Console

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading.report import GRADED, REPAIRED, UNGRADED
from anatomy.classroom.grading.run import grade
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.answers import answer_bank
from anatomy.engine.notebook_files.notebooks import as_text, source_file, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]

BOOK = COURSE.notebook("03-softmax")
KEPT = ("softmax", "attention_weights", "attention_entropy")
FILE = f"{BOOK.slug}.ipynb"
SETTINGS = """
c.Execute.timeout = 3
c.ForkedKernelManager.memory = 400
c.ForkedKernelManager.disk = 20
c.ForkedKernelManager.output = 1
c.ForkedKernelManager.processes = 60
"""
RIGHT = "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n"
FULL = COURSE.exercise("softmax").points


def within(body, before=""):
    """An answer that does this when it is called."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return f"import torch\n{before}\ndef softmax(x, dim):\n{indented}    return x\n"


IN_CELLS = {
    # fault: (text of the answer cell, its points or None for those of a wrong answer, what is said)
    "a loop in the answer": (within("while True: pass"), 0, "did not finish|in time"),
    "a loop in its cell": ("while True: pass", 0, "did not finish in time"),
    "a loop that ignores interrupts": (
        "while True:\n    try:\n        while 1: 1\n    except BaseException:\n        pass", 0,
        "did not finish in time"),
    "a sleep that ignores signals": (
        "import signal, time\nfor n in (2, 14, 15):\n    signal.signal(n, signal.SIG_IGN)\n"
        "while True: time.sleep(100)", 0, "did not finish in time"),
    "a memory bomb": (within("hoard = []\nwhile True: hoard.append(bytearray(1 << 24))"), 0,
                      "memory|MemoryError|did not finish in time"),
    "a fork bomb": (within("import os\nwhile True:\n    if os.fork() == 0:\n        import time; time.sleep(100)"), 0,
                    "BlockingIOError|ended its kernel|unavailable|did not finish in time"),
    "a disk bomb": (within("for n in range(99): open(f'/tmp/{n}', 'wb').write(bytes(1 << 20))"), 0,
                    "OSError|space|did not finish in time"),
    "an output bomb": ("while True: print('x' * 100_000)", 0,
                       "did not finish in time|too much memory|ended its kernel"),
    "interrupted, it leaves a bomb behind": (
        "import os\ntry:\n    while True: pass\nexcept KeyboardInterrupt:\n"
        "    get_ipython().events.register('pre_run_cell', lambda *_: os._exit(1))", 0, "did not finish in time"),
    "an output bomb that ends": (f"for _ in range(200): print('x' * 20_000)\n{RIGHT}", FULL, "Right"),
    "a segmentation fault": (within("import ctypes; ctypes.string_at(0)"), 0, "ended its kernel"),
    "endless recursion in C": (
        within("import sys; sys.setrecursionlimit(10**9)\ndef f(*a): return sorted([1], key=f)\nf()"), 0,
        "ended its kernel|Error"),
    "os._exit": (within("import os; os._exit(0)"), 0, "ended its kernel"),
    "os._exit in its cell": ("import os; os._exit(0)", 0, "ended its kernel"),
    "sys.exit": (within("import sys; sys.exit(0)"), 0, "SystemExit"),
    "abort": (within("import os; os.abort()"), 0, "ended its kernel"),
    "stops itself": (within("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"), 0, "did not finish in time"),
    "ends itself politely": ("get_ipython().kernel.do_shutdown(False)\nexit()\n" + within("pass"), None, ""),
    "a deadlock": (within("lock.acquire()\nlock.acquire()", "import threading\nlock = threading.Lock()"), 0,
                   "did not finish in time|in time"),
    "closes all files": (within("import os; os.closerange(0, 512)"), 0, "ended its kernel|did not finish"),
    "a function as a result": (within("return lambda: x"), 0, ""),
    "a generator as a result": (within("return (row for row in x)"), 0, ""),
    "a tensor of objects that can't be pickled": (within("x.extra = open('/dev/null'); return x"), None, ""),
    "NaN": (within("return x * float('nan')"), None, "(?i)nan|not a number"),
    "a huge tensor": (within("return torch.ones(1 << 36)"), 0, "RuntimeError|memory|allocate"),
    "a huge tensor without memory": (within("return torch.zeros(1).expand(1 << 34)"), 0, ""),
    "a large tensor": (within("return torch.ones(1 << 23)"), 0, ""),
    "the wrong device": (within("return x.to('meta')"), 0, "on the meta device"),
    "a missing device": (within("return x.cuda()"), 0, "CUDA|cuda|Torch not compiled|NVIDIA"),
    "a sparse tensor": (within("return x.to_sparse()"), None, ""),
    "lazy imports": (within("import torch.nn.functional as F, scipy_of_mars"), 0, "scipy_of_mars"),
    "lazy imports that work": (RIGHT.replace("    e =", "    import math, statistics, wave\n    e ="), FULL, "Right"),
    "breaks the output": ("import sys\nsys.stdout = sys.stderr = None\n" + RIGHT, None, ""),
    "asks for input": (within("input()"), 0, "StdinNotImplementedError"),
    "nested a thousand deep": (
        within("y = x\nfor _ in range(1000): y = [y]\nreturn y"), 0, ""),
    "a message nested a hundred thousand deep": (
        "from IPython.display import display\nshell = get_ipython()\n"
        "s = shell.kernel.session\nold = s.pack\n"
        "s.pack = lambda o: b'[' * 100000 + b']' * 100000 if 'data' in o else old(o)\n"
        "display({'text/plain': 'x'}, raw=True)\ns.pack = old\n" + RIGHT, FULL, "Right"),
    "garbage on the wire": (
        "kernel = get_ipython().kernel\n"
        "kernel.iopub_socket.send_multipart([b'x', b'<IDS|MSG>', b'no', b'{}', b'{}', b'{}', b'\\xff'])\n" + RIGHT,
        FULL, "Right"),
    "clears everything": ("%reset -f\n" + RIGHT, None, ""),
    "text that is no Python": ("def softmax(x, dim):\n    return ((x", 0, "SyntaxError"),
    "NUL and surrogates": ("def softmax(x, dim):\n    return '\x00\ud800'", 0, "SyntaxError|ValueError"),
    "a thread that never ends": ("import threading\ndef f():\n    while True: pass\n"
                                 "threading.Thread(target=f).start()\n" + RIGHT, FULL, "Right"),
}  # fmt: skip

SPOIL_THEIR_KERNEL = {
    "ends itself politely", "breaks the output", "clears everything",
}  # fmt: skip
"""They cost what comes after them in their own notebook, as they do on the student's own machine."""


# ---- files ----------------------------------------------------------------------------------------------------------


def changed(change):
    """The notebook's text after `change(its cells, the notebook)`."""

    def text(book, place):
        change(book.cells, book)
        return as_text(book)

    return text


def at(cells, name):
    return next(n for n, c in enumerate(cells) if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def copied(name):
    def change(cells, book):
        cells.insert(at(cells, name), nbformat.from_dict({**deepcopy(cells[at(cells, name)]), "id": "copy"}))

    return changed(change)


def deleted(name):
    return changed(lambda cells, book: cells.pop(at(cells, name)))


def stripped(cells, book):
    for number, cell in enumerate(cells):
        cell.metadata, cell["id"] = nbformat.NotebookNode(), f"other-{number}"


def only(source):
    """A notebook of one cell."""
    return lambda book, place: as_text(nbformat.v4.new_notebook(cells=[new_code_cell(source)]))


def without_ids(book, place):
    content = json.loads(as_text(book))
    for cell in content["cells"]:
        del cell["id"]
    return json.dumps(content)


def same_ids(cells, book):
    for cell in cells:
        cell["id"] = "same"


def forged(cells, book):
    for cell in cells:
        if marks := cell.metadata.get("nbgrader"):
            marks |= {"points": 99, "solution": not marks["solution"], "grade": not marks["grade"]}
            marks["schema_version"] = "x"


def reordered(cells, book):
    cells[2:] = cells[:1:-1]


def edited_check(cells, book):
    cells[at(cells, "check-softmax")].source = "import os; os._exit(0)"


def no_kernel(cells, book):
    book.metadata = nbformat.from_dict({"kernelspec": {"name": "ir", "display_name": "R", "language": "R"},
                                        "language_info": {"name": "R"}})  # fmt: skip


def became_text(cells, book):
    cell = cells[at(cells, "softmax")]
    cell["cell_type"] = "markdown"
    for name in ("outputs", "execution_count"):
        cell.pop(name, None)


def extra_cells(cells, book):
    cells[2:2] = [new_code_cell("raise ValueError('mine')", id=f"extra-{n}") for n in range(20)]


def elsewhere(name):
    def text(book, place):
        (place / name).write_text(as_text(book), encoding="utf-8")

    return text


def several(book, place):
    for name in ("one.ipynb", "two.ipynb"):
        (place / name).write_text(as_text(book), encoding="utf-8")


def pipe(book, place):
    os.mkfifo(place / FILE)


def huge(book, place):
    (place / FILE).touch()
    os.truncate(place / FILE, 101 << 20)


def odd_types(book, place):
    content = json.loads(as_text(book))
    content["cells"][0]["source"] = {"a": 1}
    content["cells"][1]["metadata"] = None
    content["cells"][2:2] = [None, 3, "cell", {"cell_type": "heading"}, {"source": ["a", 1]}]
    content["metadata"] = []
    content["nbformat_minor"] = "five"
    return json.dumps(content)


def not_utf8(book, place):
    return as_text(book).replace("# ", "# ä ", 1).encode("cp1252", "replace")


def named_in_latin(book, place):
    with open(os.path.join(os.fsencode(place), b"l\xf6sung.ipynb"), "w", encoding="utf-8") as file:
        file.write(as_text(book))


def neighbor_in_latin(book, place):
    with open(os.path.join(os.fsencode(place), b"caf\xe9.txt"), "w", encoding="utf-8") as file:
        file.write("x")
    return as_text(book)


def old_format(book, place):
    return nbformat.writes(nbformat.convert(book, 3), version=3)


IN_FILES = {
    # fault: (makes the file's text, the exercises that it costs or None for ungraded, what is said)
    "a copied answer": (copied("softmax"), (), "was there 2 times"),
    "a copied check": (copied("check-softmax"), (), "was there 2 times"),
    "missing cell ids": (without_ids, (), ""),
    "the same cell id everywhere": (changed(same_ids), (), ""),
    "a deleted check": (deleted("check-softmax"), (), "check of softmax was missing"),
    "a deleted answer": (deleted("softmax"), ("softmax",), "answer cell of softmax was missing"),
    "reordered cells": (changed(reordered), (), "not in their order"),
    "an edited check": (changed(edited_check), (), "had been changed"),
    "stripped metadata": (changed(stripped), (), "lost their labels"),
    "forged metadata": (changed(forged), (), ""),
    "another kernelspec": (changed(no_kernel), (), ""),
    "an answer that became text": (changed(became_text), (), "had become text"),
    "twenty cells of its own that fail": (changed(extra_cells), (), ""),
    "another file name": (elsewhere("mine (2).ipynb"), (), "was called mine"),
    "a file name that is not UTF-8": (named_in_latin, (), "was called"),
    "a neighbor whose name is not UTF-8": (neighbor_in_latin, (), ""),
    "not UTF-8": (not_utf8, (), "not UTF-8"),
    "UTF-16": (lambda book, place: as_text(book).encode("utf-16"), (), "UTF-16"),
    "an old format": (old_format, (), "format 3"),
    "odd types": (odd_types, (), ""),
    "not JSON": (lambda book, place: as_text(book)[:400], None, "not JSON"),
    "nested too deeply": (lambda book, place: "[" * 200_000, None, "too deep"),
    "empty": (lambda book, place: "", None, "empty"),
    "huge": (huge, None, "too large"),
    "no notebook": (lambda book, place: '{"a": 1}', None, "not a notebook"),
    "no cells": (lambda book, place: '{"nbformat": 4, "metadata": {}, "cells": []}', None, "no cells"),
    "another subject": (only("x = 'Biology 101'"), None, "not 03-softmax. None of .* is in it.$"),
    "another notebook": (only("def pairwise_dot(x):\n    return x @ x.mT"), None, "It looks like 00-start-here"),
    "several other notebooks": (several, None, "several other notebooks"),
    "a pipe": (pipe, None, "missing"),
    "a folder": (lambda book, place: (place / FILE).mkdir(), None, "missing"),
}  # fmt: skip


# ---- the class ------------------------------------------------------------------------------------------------------


def small_course(root, new_course):
    new_course(root, BOOK.slug)
    book = nbformat.read(source_file(root, BOOK.slug), as_version=4)
    names = {name for exercise in KEPT for name in (exercise, f"check-{exercise}")}
    book.cells = book.cells[:2] + [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") in names]
    write(book, source_file(root, BOOK.slug))
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(SETTINGS)
    return root


def right_notebook(root):
    right = answer_bank(COURSE, BOOK).right
    answers = {name: next(one for one in right[name] if not one.uses) for name in KEPT if name != "softmax"}
    book = filled(root, BOOK, answers)
    book.cells[at(book.cells, "softmax")].source = RIGHT
    return book


def hand_in(root, student, name):
    book = right_notebook(root)
    place = root / "submitted" / student / BOOK.slug
    place.mkdir(parents=True)
    if name in IN_CELLS:
        book.cells[at(book.cells, "softmax")].source = IN_CELLS[name][0]
        made = json.dumps(book)  # escapes what UTF-8 can't hold
    else:
        made = IN_FILES[name][0](book, place)
    if made is not None:
        (place / FILE).write_bytes(made.encode() if isinstance(made, str) else made)


@pytest.fixture(scope="module")
def accidents(tmp_path_factory, new_course, everything):
    """(the course's folder, student → fault, student → row): every fifth in a cell, every second of a file, or all."""
    root = small_course(tmp_path_factory.mktemp("accidents"), new_course)
    tried = [*list(IN_CELLS)[:: 1 if everything else 5], *list(IN_FILES)[:: 1 if everything else 2]]
    names = {f"s{number:02d}": name for number, name in enumerate(tried)}
    for student, name in names.items():
        hand_in(root, student, name)
    report = grade(root, console=Console(file=io.StringIO()))
    return root, names, {row.student: row for row in report.results}


def judged(name, row, worth):
    """What is wrong with this row, or ""."""
    if name in IN_FILES:
        _, costs, said = IN_FILES[name]
        if not re.search(said, " ".join(row.reasons)):
            return "is not called by its name"
        if costs is None:
            return "" if row.status == UNGRADED and row.points is None else "should be ungraded"
        wanted = {exercise: 0 if exercise in costs else points for exercise, points in worth.items()}
        marks = {mark.exercise: mark.points for mark in row.marks}
        return "" if row.status in (GRADED, REPAIRED) and marks == wanted else f"marks {marks}"
    _, points, said = IN_CELLS[name]
    if name in SPOIL_THEIR_KERNEL:
        return "" if row.marks or (row.status == UNGRADED and row.reasons) else "has no mark and no reason"
    marks = {mark.exercise: mark.points for mark in row.marks}
    own = marks.pop("softmax", "missing")
    costs = [exercise for exercise in KEPT if exercise != "softmax" and marks.get(exercise) != worth[exercise]]
    if costs:
        return f"costs its neighbors: {[(mark.exercise, mark.points, mark.said) for mark in row.marks]}"
    if own == "missing" or (points is not None and own != points):
        return f"{own} points, not {points}"
    return "" if re.search(said, row.marks[0].said) else "is not called by its name"


def test_each_accident_costs_its_own_cells_at_most(accidents, capsys):
    _, names, rows = accidents
    worth = {name: COURSE.exercises(BOOK)[name].points for name in KEPT}
    wrong, table = {}, []
    for student, name in names.items():
        row = rows[student]
        marks = " ".join("-" if mark.points is None else f"{mark.points:g}" for mark in row.marks)
        text = row.marks[0].said if name in IN_CELLS and row.marks else " ".join(row.reasons)
        table.append(f"  {name:<42} {row.status:<14} {marks:<8} {row.seconds:4.1f} s  {' '.join(text.split())[:70]}")
        if why := judged(name, row, worth):
            wrong[name] = why
            table[-1] += f"   <- {why}"
    with capsys.disabled():
        print(f"\n  {'accident':<42} {'status':<14} {'marks':<8} (of {worth})", *table, sep="\n")
    assert not wrong


def test_ungraded_is_never_zero(accidents):
    root, names, rows = accidents
    with (root / "grades.csv").open(encoding="utf-8", newline="") as file:
        lines = {line["student"]: line for line in csv.DictReader(file)}
    with sqlite3.connect(root / "gradebook.db") as book:
        stored = {student for (student,) in book.execute("select student_id from submitted_assignment").fetchall()}
        stored &= set(names)
    for student, row in rows.items():
        if row.status == UNGRADED:
            assert lines[student]["points"] == "" and lines[student]["reason"] and student not in stored, names[student]
        elif row.points is not None:
            assert float(lines[student]["points"]) == row.points
