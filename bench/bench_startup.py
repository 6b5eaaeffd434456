"""What `anatomy grade` takes before it grades: one submission, and a run in which nothing has changed.

    python bench/bench_startup.py [--rounds 5]

The unit is the import of torch and transformers. That alone loads none of transformers' models, which it does when one
is first asked for; so the import with the two that the notebooks use is listed, too. All take turns,
so that a busy machine is as busy for each; medians of the rounds are compared, of the wall clock and of the processors'
time (user and system, child processes included). On a machine with other work to do only the latter can be trusted.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers.classroom import BIN, course, submissions

UNIT = "import torch, transformers"
MODELS = "import torch, transformers.models.bert.modeling_bert, transformers.models.gpt2.modeling_gpt2"
WANTED = {"one submission": 2.5, "nothing has changed": 0.6}
"""The most that each may take, in units of wall time."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Start-up of anatomy grade, in imports of torch and transformers.")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="anatomy-bench-") as folder:
        root = course(Path(folder) / "course", short=True)
        submissions(root, 1)
        grade = [str(BIN / "anatomy"), "grade", "--root", str(root)]
        timed(grade)  # registers the notebook and makes the gradebook, which happens once a term
        taken: dict[str, list[tuple[float, float]]] = {}
        for _ in range(rounds):
            taken.setdefault(UNIT, []).append(timed([sys.executable, "-c", UNIT]))
            taken.setdefault("the same with two models", []).append(timed([sys.executable, "-c", MODELS]))
            taken.setdefault("one submission", []).append(timed([*grade, "--force"]))
            taken.setdefault("nothing has changed", []).append(timed(grade))
    print(f"{rounds} rounds, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    unit_wall, unit_cpu = medians(taken[UNIT])
    for name, times in taken.items():
        wall, cpu = medians(times)
        wanted = f"   wanted: ≤ {WANTED[name]} (wall)" if name in WANTED else ""
        print(f"{name:<28} wall {wall:6.2f} s = {wall / unit_wall:4.2f}   processors {cpu:6.2f} s = "
              f"{cpu / unit_cpu:4.2f}{wanted}")  # fmt: skip


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds of the wall clock, and of the processors in it and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    walls, processors = zip(*times, strict=True)
    return statistics.median(walls), statistics.median(processors)


if __name__ == "__main__":
    main()
