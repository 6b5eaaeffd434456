"""A made-up class to grade, and a stopwatch for graders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil

from anatomy.classroom.sample_class import write_sample_class
from anatomy.engine.notebook_files.notebooks import source_file

ROOT = Path(__file__).resolve().parents[2]
SLUG = "03-softmax"
BIN = Path(sys.executable).parent


def course(folder: Path, short: bool) -> Path:
    """A course of one notebook."""
    folder.mkdir()
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    place = source_file(folder, SLUG)
    shutil.copytree(source_file(ROOT, SLUG).parent, place.parent)
    if short:
        book = nbformat.read(place, as_version=4)
        setup = next(cell for cell in book.cells if cell.cell_type == "code")
        book.cells = [cell for cell in book.cells if cell is setup or "nbgrader" in cell.metadata]
        nbformat.write(book, place)
    return folder


def submissions(folder: Path, students: int) -> None:
    """A made-up class without broken files, which stock nbgrader would stop at."""
    write_sample_class(students, 1, folder, [SLUG], faults=False)


@dataclass(frozen=True)
class Cost:
    """What a command took: seconds of the wall clock and of the processors, and the most memory in bytes.

    Shared pages are counted once. `own` is the command's own process, `others` are all that it started; each at its
    most, which need not be the same moment. The processors' seconds are those of all of them, but for the last moments
    of processes that nobody waits for.
    """

    seconds: float
    processors: float
    own: float
    others: float
    memory: float


def measured(command: list[str], folder: Path) -> Cost:
    """Run a command in a folder."""
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
        most = [0.0, 0.0, 0.0, 0.0]
        watch = threading.Thread(target=_watch, args=(process, most), daemon=True)
        watch.start()
        code = process.wait()
        seconds = time.perf_counter() - began
        watch.join()
        said.seek(0)
        if code:
            raise SystemExit(f"{' '.join(command)} failed:\n{said.read().decode()[-3000:]}")
    return Cost(seconds, *most)


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds, and the most memory that it and its children took, in bytes."""
    cost = measured(command, folder)
    return cost.seconds, cost.memory


def _watch(process: subprocess.Popen[bytes], most: list[float]) -> None:
    """Keep the most seen: processors' seconds of all; memory of the process, of those it started, and of all."""
    while process.poll() is None:
        used, own, others = 0.0, 0, 0
        try:
            first = psutil.Process(process.pid)
            for one in [first, *first.children(recursive=True)]:
                try:
                    used += sum(one.cpu_times()[:4])  # with those of children that have ended
                    taken = one.memory_full_info().pss
                except psutil.Error:
                    continue
                own, others = (taken, others) if one == first else (own, others + taken)
        except psutil.Error:
            return
        most[:] = [max(pair) for pair in zip(most, (used, own, others, own + others), strict=True)]
        time.sleep(0.7)
