"""A made-up class to grade, and a stopwatch for graders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import psutil

from anatomy.authoring.notebooks import source_file
from anatomy.sample_class import write_sample_class

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


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds, and the most memory (shared pages counted once) that it and its children took, in bytes."""
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
        most = [0.0]
        watch = threading.Thread(target=_watch, args=(process, most), daemon=True)
        watch.start()
        code = process.wait()
        seconds = time.perf_counter() - began
        watch.join()
        said.seek(0)
        if code:
            raise SystemExit(f"{' '.join(command)} failed:\n{said.read().decode()[-3000:]}")
    return seconds, most[0]


def _watch(process: subprocess.Popen[bytes], most: list[float]) -> None:
    while process.poll() is None:
        total = 0
        try:
            for one in [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]:
                try:
                    total += one.memory_full_info().pss
                except psutil.Error:
                    continue
        except psutil.Error:
            return
        most[0] = max(most[0], total)
        time.sleep(0.7)
