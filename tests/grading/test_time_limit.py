"""A cell's time limit: what a busy machine takes from a kernel does not count against an answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from nbclient.exceptions import CellTimeoutError
from nbformat.v4 import new_code_cell, new_notebook

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading.preprocessors import RunAndObserve
from tests.plenty import one_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]
LIMIT = 1
ON = "import os, time; os.sched_setaffinity(0, {{{}}})\n"
COMPUTES = f"began = time.process_time()\nwhile time.process_time() - began < {0.6 * LIMIT}: pass"


@pytest.fixture
def crowded():
    """The number of a processor that three other programs want, too."""
    cpu = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", code], start_new_session=True) for _ in range(3)]
    yield cpu
    for other in others:
        other.kill()
        other.wait()


def errors(*sources, **settings):
    """The name of the error that each of these cells ends with, "" for none."""
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    book, _ = RunAndObserve(timeout=LIMIT, **settings).preprocess(
        book, {"nbgrader": {"notebook": "not of this course"}}
    )
    said = ([output.ename for output in cell.outputs if output.output_type == "error"] for cell in book.cells)
    return [names[0] if names else "" for names in said]


def test_waiting_for_a_processor_does_not_count(crowded):
    assert errors(ON.format(crowded) + COMPUTES, "pass") == ["", ""]


def test_all_else_counts_on_a_busy_machine_too(crowded):
    sources = [ON.format(crowded), "time.sleep(1000)", "while True: pass", "pass"]
    assert errors(*sources) == ["", "KeyboardInterrupt", "KeyboardInterrupt", ""]


BOMBS = {
    "short processes that nobody waits for": (
        "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nfor _ in range(40):\n"
        "    if os.fork() == 0:\n        signal.signal(signal.SIGINT, signal.SIG_IGN)\n        while True:\n"
        "            if os.fork() == 0:\n                for _ in range(10**5): pass\n                os._exit(0)\n"
        "while True: pass"
    ),
    "a fork bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "threads": (
        "import hashlib, threading\ndef burn():\n    while True: hashlib.pbkdf2_hmac('sha256', b'x', b'x', 10**6)\n"
        "for _ in range(40): threading.Thread(target=burn, daemon=True).start()\nwhile True: pass"
    ),
}


@pytest.mark.parametrize("bomb", one_in(3, BOMBS))
def test_who_takes_the_processors_from_himself_is_stopped(bomb, capsys):
    """Its own processes and threads leave the kernel a twentieth of two processors. Nobody else has them.

    If they counted as others, its cell would get `RunAndObserve.patience`, ten more time limits.
    """
    errors("pass")
    took = []
    for source in ("while True: pass", BOMBS[bomb]):
        began = time.monotonic()
        try:
            ended = errors(source, iopub_timeout=1)[0]
        except CellTimeoutError:  # its processes leave the kernel no time to say so
            ended = "KeyboardInterrupt"
        took.append(time.monotonic() - began)
        assert ended == "KeyboardInterrupt"
    with capsys.disabled():
        print(f"\n  {bomb:<38} {took[1] / took[0]:.1f} times a loop's")
    assert took[1] < 8 * took[0]
