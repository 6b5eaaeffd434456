"""A made-up class graded by stock `nbgrader autograde`, by otter-grader and by `anatomy grade`, in one run.

    python bench/bench_grading.py [--students 20] [--large 200] [--peers 5] [--short] [--feedback]

All get the same submissions of notebook 03, whole as students hand it in (``--short``: only its setup cell, answers and
checks). nbgrader and otter run as they come: their own kernels, one submission after the other, no sandbox.
`anatomy grade` runs sandboxed with one worker a core. The cost of a submission is what one more costs: the difference
of two runs of different size, divided. What is left at size 0 is the start-up. By default all give marks only; with
``--feedback`` nbgrader and `anatomy grade` also make the pages that students get back, and otter, which makes none, is
left out.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib
from peers.classroom import BIN, ROOT, SLUG, course, submissions, timed
from peers.otter import NoOtter, otter

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RESULTS = ROOT / "bench" / "results"


def stock(work: Path, students: int, short: bool, feedback: bool) -> tuple[float, float]:
    """`nbgrader autograde`, and `generate_feedback`, with nothing configured but the folders' names."""
    folder = course(work / f"stock-{students}", short)
    submissions(folder, students)
    for path in sorted((folder / "submitted").glob("*.csv")):
        path.unlink()
    (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.release_directory = "notebooks"\n')
    timed([str(BIN / "nbgrader"), "generate_assignment", SLUG], folder)
    steps = ["autograde", "generate_feedback"] if feedback else ["autograde"]
    costs = [timed([str(BIN / "nbgrader"), step, SLUG], folder) for step in steps]
    return sum(seconds for seconds, _ in costs), max(memory for _, memory in costs)


def ours(work: Path, students: int, short: bool, feedback: bool) -> tuple[float, float]:
    """`anatomy grade`."""
    folder = course(work / f"ours-{students}", short)
    submissions(folder, students)
    pages = "--feedback" if feedback else "--no-feedback"
    return timed([str(BIN / "anatomy"), "grade", pages, "--root", str(folder)], folder)


RUNNERS: dict[str, Callable[[Path, int, bool, bool], tuple[float, float]]] = {
    "stock": stock,
    "otter": lambda work, students, short, _: otter(work, students, short),
    "ours": ours,
}
NAMES = {"stock": "nbgrader autograde", "otter": "otter run", "ours": "anatomy grade, sandboxed"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Grading a class: nbgrader, otter-grader and anatomy grade.")
    parser.add_argument("--students", type=int, default=20, help="size of the small class")
    parser.add_argument("--large", type=int, default=200, help="size of the large class")
    parser.add_argument("--peers", type=int, default=5, help="submissions for the others, besides a run with one")
    parser.add_argument("--short", action="store_true", help="only the setup cell, answers and checks")
    parser.add_argument("--feedback", action="store_true", help="with the pages that students get back; without otter")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    given = parser.parse_args()
    middle = (given.students + given.large) // 2
    few = (1, 1 + given.peers)
    sizes = {"stock": few, "otter": few, "ours": (given.students, middle, given.large)}
    if given.feedback:
        del sizes["otter"]
    print(f"{SLUG}, {'setup, answers and checks' if given.short else 'whole'}, {os.cpu_count()} cores")
    runs: dict[str, list[Run]] = {}
    with tempfile.TemporaryDirectory(prefix="anatomy-bench-") as folder:
        for step in range(3):  # in turns, so that a busy hour falls on all
            for name in [name for name, some in sizes.items() if step < len(some)]:
                size = sizes[name][step]
                try:
                    seconds, memory = RUNNERS[name](Path(folder), size, given.short, given.feedback)
                except NoOtter as reason:
                    print(f"Without otter-grader: {reason}")
                    del sizes[name]
                    continue
                runs.setdefault(name, []).append(Run(size, seconds, memory / 1e6))
                print(f"{NAMES[name]:<26}{size:>5} submissions {seconds:8.1f} s {memory / 1e6:6.0f} MB", flush=True)
    result = summary(runs, given.short) | {"feedback": given.feedback}
    for name in runs:
        one = result[name]
        print(f"{NAMES[name]:<26}{one['seconds each']:7.3f} s each, {one['start-up']:5.1f} s to start")
    for name in [name for name in runs if name != "ours"]:
        print(f"throughput: {result[f'times {name}']:.1f} times that of {NAMES[name]}")
        for size, times in result[f"class, times {name}"].items():
            print(f"  a class of {size}, start-up included: {times:.1f} times")
    print(f"one more submission beyond {middle} costs {result['cost growth']:.2f} times what it costs before; "
          f"memory × {result['memory growth']:.2f}; load on the machine {result['load']:.1f}")  # fmt: skip
    given.out.mkdir(exist_ok=True, parents=True)
    name = "grading" + "-short" * given.short + "-feedback" * given.feedback
    (given.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(result, given.out / f"{name}.png")


@dataclass
class Run:
    """One run of a grader."""

    submissions: int
    seconds: float
    megabytes: float
    """The most that it and its children took at a time."""


def summary(runs: dict[str, list[Run]], short: bool) -> dict[str, Any]:
    """What one more submission costs each, and the ratios."""
    found: dict[str, Any] = {}
    for name, ran in runs.items():
        each = slope(ran[0], ran[-1])
        found[name] = {"seconds each": each, "start-up": ran[0].seconds - ran[0].submissions * each,
                       "runs": [asdict(one) for one in ran]}  # fmt: skip
    few, middle, many = runs["ours"]
    return {
        "notebook": SLUG, "whole": not short, "cores": os.cpu_count(), "load": os.getloadavg()[0], **found,
        **{f"times {name}": one["seconds each"] / found["ours"]["seconds each"] for name, one in found.items()
           if name != "ours"},
        **{f"class, times {name}": {one.submissions: (theirs["start-up"] + one.submissions * theirs["seconds each"])
                                    / one.seconds for one in runs["ours"]}
           for name, theirs in found.items() if name != "ours"},
        "cost growth": slope(middle, many) / slope(few, middle), "memory growth": many.megabytes / few.megabytes,
    }  # fmt: skip


def slope(few: Run, many: Run) -> float:
    """Seconds that one more submission takes."""
    return (many.seconds - few.seconds) / (many.submissions - few.submissions)


def draw(result: dict[str, Any], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 2.2))
    names = [name for name in RUNNERS if name in result]
    values = [result[name]["seconds each"] for name in names]
    colors = ["#0072b2" if name == "ours" else "#999999" for name in names]
    axes.barh([NAMES[name] for name in names], values, color=colors)
    for row, value in enumerate(values):
        axes.text(value, row, f" {value:.2f} s", va="center")
    axes.set(xlabel="seconds for one more submission", xlim=(0, max(values) * 1.2))
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
