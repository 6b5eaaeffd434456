"""`anatomy grade` for classes of 1, 10, 100 and 1,000, with one worker and with two: what one more submission costs.

    python bench/bench_scale.py [--sizes 1 10 100 1000] [--workers 1 2]

Notebook 03, whole, in a made-up class, sandboxed, feedback pages included: from nothing, then again when nothing has
changed, then `anatomy report`. Of each: seconds of the wall clock and of the processors, and the most memory of the
process that records and of those that it starts (workers, the kernels' server, kernels). What one more submission costs
is the difference of two sizes, divided. On a machine with other work to do only the processors' seconds can be trusted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
from peers.classroom import BIN, ROOT, SLUG, Cost, course, measured, submissions

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RESULTS = ROOT / "bench" / "results"
NOTICEABLE = 0.01
"""Seconds of one more submission below which a growth would be that of the clock's errors."""
FROM_NOTHING, NOTHING_CHANGED, REPORT = "from nothing", "nothing changed", "report"


def main() -> None:
    parser = argparse.ArgumentParser(description="anatomy grade for small and large classes.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True, parents=True)
    print(f"{SLUG}, whole, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="anatomy-bench-") as folder:
        for size in sorted(given.sizes):
            for workers in given.workers:  # in turns, so that a busy hour falls on all
                runs += graded(Path(folder) / f"{size}-{workers}", size, workers)
            result = {"notebook": SLUG, "cores": os.cpu_count(), "runs": runs, **summary(runs)}
            (given.out / "scale.json").write_text(json.dumps(result, indent=1) + "\n")  # a run may be stopped
            draw(runs, given.out / "scale.png")
    for line in as_text(result):
        print(line)


def graded(folder: Path, size: int, workers: int) -> list[dict[str, Any]]:
    """What one class costs: from nothing, when nothing has changed, and its report."""
    root = course(folder, short=False)
    submissions(root, size)
    anatomy = str(BIN / "anatomy")
    grade = [anatomy, "grade", "--root", str(root), "--workers", str(workers)]
    commands = {FROM_NOTHING: grade, NOTHING_CHANGED: grade, REPORT: [anatomy, "report", "--root", str(root)]}
    runs = []
    for what, command in commands.items():
        cost = measured(command, root)
        print(f"{size:>5} submissions, {workers} worker{'s' * (workers > 1)}, {what:<16}{in_words(cost)}", flush=True)
        runs.append({"submissions": size, "workers": workers, "what": what, "seconds": cost.seconds,
                     "processors": cost.processors, "recorder MB": cost.own / 1e6, "others MB": cost.others / 1e6,
                     "MB": cost.memory / 1e6, "load": os.getloadavg()[0]})  # fmt: skip
    return runs


def in_words(cost: Cost) -> str:
    memory = f"{cost.own / 1e6:5.0f} + {cost.others / 1e6:5.0f} MB"
    return f"{cost.seconds:8.1f} s   processors {cost.processors:7.1f} s   {memory}   load {os.getloadavg()[0]:4.1f}"


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """For each number of workers what one more submission costs from each size to the next, and how much that grows."""
    found: dict[str, Any] = {}
    for workers in sorted({run["workers"] for run in runs}):
        mine = {what: [run for run in runs if (run["workers"], run["what"]) == (workers, what)]
                for what in (FROM_NOTHING, NOTHING_CHANGED, REPORT)}  # fmt: skip
        one: dict[str, Any] = {}
        for what, ran in mine.items():
            steps = [each(*pair) for pair in itertools.pairwise(ran)]
            one[what] = {
                "steps": steps, "start-up": ran[0]["seconds"],
                "growth": {unit: steps[-1][unit] / steps[-2][unit] for unit in ("seconds", "processors")
                           if len(steps) > 1 and steps[-2][unit] > NOTICEABLE},
                "memory growth": ran[-1]["MB"] / ran[min(1, len(ran) - 1)]["MB"],
            }  # fmt: skip
        found[f"{workers} workers"] = one
    return found


def each(few: dict[str, Any], many: dict[str, Any]) -> dict[str, float]:
    """What one more submission costs between two sizes."""
    more = many["submissions"] - few["submissions"]
    units = {unit: (many[unit] - few[unit]) / more for unit in ("seconds", "processors")}
    return {"from": few["submissions"], "to": many["submissions"], **units}


def as_text(result: dict[str, Any]) -> list[str]:
    """The ratios."""
    lines = []
    for name in [name for name in result if name.endswith(" workers")]:
        for what, one in result[name].items():
            lines.append(f"{name}, {what}: memory × {one['memory growth']:.2f}; one more submission")
            lines += [f"  {step['from']:>4} to {step['to']:<5}{step['seconds']:8.3f} s, processors "
                      f"{step['processors']:8.3f} s" for step in one["steps"]]  # fmt: skip
            for unit, growth in one["growth"].items():
                lines.append(f"  the last step costs {growth:.2f} times the {unit} of the one before")
    return lines


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 3.4))
    styles = {FROM_NOTHING: "o-", NOTHING_CHANGED: "s--", REPORT: "^:"}
    colors = dict(zip(sorted({run["workers"] for run in runs}), ("#0072b2", "#d55e00", "#009e73"), strict=False))
    for workers, color in colors.items():
        for what, style in styles.items():
            if what != FROM_NOTHING and workers != max(colors):
                continue  # no worker is asked
            mine = [run for run in runs if (run["workers"], run["what"]) == (workers, what)]
            label = f"{what}, {workers} worker{'s' * (workers > 1)}" if what == FROM_NOTHING else what
            shade = color if what == FROM_NOTHING else "#777777"
            axes.loglog([run["submissions"] for run in mine], [run["seconds"] for run in mine], style, color=shade,
                        label=label)  # fmt: skip
    axes.set(xlabel="submissions", ylabel="seconds")
    axes.legend(frameon=False, fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
