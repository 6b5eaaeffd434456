"""A made-up class graded by stock `nbgrader autograde` and by `anatomy grade`, on this machine, in one run.

    python bench/bench_grading.py [--students 20] [--large 60] [--stock 4] [--whole]

Both get the same submissions of notebook 03: its setup cell, answers and checks (``--whole``: all of it, with its text
and plots). nbgrader runs as it comes: its own preprocessors and kernels, one submission after the other, no sandbox.
`anatomy grade` runs sandboxed with one worker a core. The cost of a submission is what one more costs: the difference
of two runs of different size, divided. What is left at size 0 is the start-up.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import matplotlib
import nbformat
import psutil

from anatomy.authoring.notebooks import source_file
from anatomy.grading import sample

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
SLUG = "03-softmax"
BIN = Path(sys.executable).parent


def course(folder: Path, whole: bool) -> Path:
    """A course of one notebook."""
    folder.mkdir()
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    place = source_file(folder, SLUG)
    shutil.copytree(source_file(ROOT, SLUG).parent, place.parent)
    if not whole:
        book = nbformat.read(place, as_version=4)
        setup = next(cell for cell in book.cells if cell.cell_type == "code")
        book.cells = [cell for cell in book.cells if cell is setup or "nbgrader" in cell.metadata]
        nbformat.write(book, place)
    return folder


def submissions(folder: Path, students: int) -> None:
    """A made-up class without broken files, which stock nbgrader would stop at."""
    sample.FAULTS.clear()
    sample.write_sample_class(students, 1, folder, [SLUG])


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


def stock(work: Path, students: int, whole: bool) -> tuple[float, float]:
    """`nbgrader autograde` with nothing configured but the folders' names."""
    folder = course(work / f"stock-{students}", whole)
    submissions(folder, students)
    for path in sorted((folder / "submitted").glob("*.csv")):
        path.unlink()
    (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.release_directory = "notebooks"\n')
    timed([str(BIN / "nbgrader"), "generate_assignment", SLUG], folder)
    return timed([str(BIN / "nbgrader"), "autograde", SLUG], folder)


def ours(work: Path, students: int, whole: bool, run: int = 0) -> tuple[float, float]:
    folder = course(work / f"ours-{students}-{run}", whole)
    submissions(folder, students)
    return timed([str(BIN / "anatomy"), "grade", "--root", str(folder)], folder)


def main() -> None:
    parser = argparse.ArgumentParser(description="Grading a class: stock nbgrader and anatomy grade.")
    parser.add_argument("--students", type=int, default=20, help="size of the small class")
    parser.add_argument("--large", type=int, default=60, help="size of the large class")
    parser.add_argument("--stock", type=int, default=4, help="submissions for stock nbgrader, besides a run with one")
    parser.add_argument("--whole", action="store_true", help="the whole notebook with text and plots")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="anatomy-bench-") as folder:
        work = Path(folder)
        print(f"{SLUG}, {'whole' if given.whole else 'setup, answers and checks'}, {os.cpu_count()} cores")
        sizes = {"ours": (given.students, given.large), "stock": (1, 1 + given.stock)}
        runs: dict[str, list[tuple[float, float]]] = {"ours": [], "stock": []}
        for step in range(2):  # in turns, so that a busy hour falls on both
            runs["stock"].append(stock(work, sizes["stock"][step], given.whole))
            runs["ours"].append(ours(work, sizes["ours"][step], given.whole))
    found: dict[str, dict[str, float]] = {}
    for name, ((few_seconds, _), (many_seconds, memory)) in runs.items():
        few, many = sizes[name]
        each = (many_seconds - few_seconds) / (many - few)
        found[name] = {"seconds each": each, "start-up": few_seconds - few * each, "peak MB": memory / 1e6,
                       "runs": [[few, few_seconds], [many, many_seconds]]}  # type: ignore[dict-item]  # fmt: skip
    result = {
        "notebook": SLUG, "whole": given.whole, "cores": os.cpu_count(), "load": os.getloadavg()[0], **found,
        "throughput ratio": found["stock"]["seconds each"] / found["ours"]["seconds each"],
        "memory growth": runs["ours"][1][1] / runs["ours"][0][1],
    }  # fmt: skip
    for name in ("stock", "ours"):
        one = found[name]
        print(f"{name:<6} {one['seconds each']:7.2f} s each, {one['start-up']:6.1f} s start-up, "
              f"{one['peak MB']:6.0f} MB at most; runs (submissions, s): {one['runs']}")  # fmt: skip
    print(f"throughput: {result['throughput ratio']:.1f} times stock; memory from {given.students} to {given.large} "
          f"submissions: × {result['memory growth']:.2f}; load on the machine: {result['load']:.1f}")  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "grading.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(found, RESULTS / "grading.png")


def draw(found: dict[str, dict[str, float]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 2))
    names = {"stock": "nbgrader autograde", "ours": "anatomy grade, sandboxed"}
    values = [found[name]["seconds each"] for name in names]
    axes.barh(list(names.values()), values, color=["#999999", "#0072b2"])
    for row, value in enumerate(values):
        axes.text(value, row, f" {value:.2f} s", va="center")
    axes.set(xlabel="seconds for one more submission", xlim=(0, max(values) * 1.2))
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
