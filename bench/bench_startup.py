"""What a student and an instructor wait for before anything is checked or graded.

    python bench/bench_startup.py [--rounds 5] [--out FOLDER]

- `anatomy grade` for one submission, and when nothing has changed;
- Formgrader's button for one submission, from the first press on;
- a student's first check in a kernel that has just started: the notebook's first cell, the right answers, one check.

The unit is the import of torch and transformers. That alone loads none of transformers' models, which it does when one
is first asked for; so the import with the two that the notebooks use is listed, too. So is what grading one submission
does import, and nothing else: the modules that `anatomy grade` has at its end in one process, those that its kernels'
server imports in another, at the same time. One submission is compared with that, too. All take turns,
so that a busy machine is as busy for each; medians of the rounds are compared, of the wall clock and of the processors'
time (user and system, child processes included). On a machine with other work to do only the latter can be trusted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peers.classroom import BIN, ROOT, SLUG, course, submissions

UNIT = "import torch, transformers"
MODELS = "import torch, transformers.models.bert.modeling_bert, transformers.models.gpt2.modeling_gpt2"
WANTED = {"one submission": 2.5, "nothing has changed": 0.6}
"""The most that each may take, in units of wall time."""
ONE, IMPORTS = "one submission", "what grading one imports"
WANTED_OF_IMPORTS = 1.2
"""The most that one submission may take, in what grading it imports."""
LISTING = """
import atexit, json, sys
atexit.register(lambda: open(sys.argv[1], "w").write(json.dumps(
    [name for name, module in sys.modules.items() if getattr(module, "__spec__", None)])))
from anatomy.cli import app
app(sys.argv[2:])
"""
"""`anatomy`, which leaves a list of the modules that it has imported."""
OF_THE_GRADER = """
import gc, importlib, json, sys
gc.disable()
from anatomy.classroom.grading.light_nbgrader import import_light_nbgrader
import_light_nbgrader()
for name in json.load(open(sys.argv[1])):
    try:
        importlib.import_module(name)
    except ImportError:  # made by another module
        pass
"""
OF_ITS_SERVER = """
import gc
gc.disable()
from anatomy.classroom.grading.course_preparation import KERNELS
from anatomy.classroom.forked_kernels.inside.server import import_all
import_all(KERNELS.modules)
"""
FIRST_CHECKS = ("03-softmax", "07-encoder", "12-pretraining")
FIRST_CHECK = 5.0
"""Seconds that a first check may take."""
FIRST, AGAIN = "Formgrader's button, first press", "Formgrader's button, again"


def main() -> None:
    parser = argparse.ArgumentParser(description="Start-up, in imports of torch and transformers.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder for startup.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="anatomy-bench-") as folder:
        root = course(Path(folder) / "course", short=True)
        submissions(root, 1)
        student = next(path.name for path in (root / "submitted").iterdir() if path.is_dir())
        grade = [str(BIN / "anatomy"), "grade", "--root", str(root)]
        timed(grade)  # registers the notebook and makes the gradebook, which happens once a term
        listed = str(Path(folder) / "modules.json")
        timed([sys.executable, "-c", LISTING, listed, *grade[1:], "--force"])
        imports = [sys.executable, "-c", OF_THE_GRADER, listed], [sys.executable, "-c", OF_ITS_SERVER]
        programs = {slug: first_check(slug) for slug in FIRST_CHECKS}
        taken: dict[str, list[tuple[float, float]]] = {}
        for _ in range(given.rounds):
            taken.setdefault(UNIT, []).append(timed([sys.executable, "-c", UNIT]))
            taken.setdefault("the same with two models", []).append(timed([sys.executable, "-c", MODELS]))
            taken.setdefault(IMPORTS, []).append(timed(*imports))
            taken.setdefault(ONE, []).append(timed([*grade, "--force"]))
            taken.setdefault("nothing has changed", []).append(timed(grade))
            with formgrader(root) as address:
                for name in (FIRST, AGAIN):
                    taken.setdefault(name, []).append(pressed(address, student))
            for slug, program in programs.items():
                taken.setdefault(f"first check, {slug}", []).append(timed([sys.executable, "-c", program]))
    report(taken, given.rounds, given.out / "startup.json")


def report(taken: dict[str, list[tuple[float, float]]], rounds: int, path: Path) -> None:
    """Print the medians and keep them."""
    load = round(os.getloadavg()[0], 1)
    print(f"{rounds} rounds, {os.cpu_count()} cores, load {load}")
    unit_wall, unit_cpu = medians(taken[UNIT])
    found = {}
    for name, times in taken.items():
        wall, cpu = medians(times)
        found[name] = {"wall": round(wall, 2), "processors": round(cpu, 2), "in units": round(wall / unit_wall, 2)}
        wanted = f"   wanted: ≤ {WANTED[name]} (wall)" if name in WANTED else ""
        wanted = f"   wanted: ≤ {FIRST_CHECK:.0f} s" if name.startswith("first check") else wanted
        print(f"{name:<34} wall {wall:6.2f} s = {wall / unit_wall:4.2f}   processors {cpu:6.2f} s = "
              f"{cpu / unit_cpu:4.2f}{wanted}")  # fmt: skip
    ratio = found[ONE]["wall"] / found[IMPORTS]["wall"]
    print(f"{ONE} takes {ratio:.2f} times {IMPORTS}   wanted: ≤ {WANTED_OF_IMPORTS}")
    result = {"rounds": rounds, "cores": os.cpu_count(), "load": load, "seconds": found,
              f"{ONE}, in {IMPORTS}": round(ratio, 2)}  # fmt: skip
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def timed(*commands: list[str]) -> tuple[float, float]:
    """Seconds of the wall clock until all of these have ended, and of the processors in them and their children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env) for command in commands]
    for one in running:
        if one.wait():
            raise subprocess.CalledProcessError(one.returncode, one.args)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def formgrader(root: Path) -> Iterator[str]:
    """The address of an instructor's server, with its token, that has just started."""
    (root / "tools").is_symlink() or (root / "tools").symlink_to(ROOT / "tools")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [BIN / "anatomy", "lab", "--instructor", "--root", root, "--no-browser", f"--port={port}",
               "--IdentityProvider.token=bench", "--ServerApp.disable_check_xsrf=True"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        address = f"http://127.0.0.1:{port}"
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{address}/api")
                    break
                except OSError:
                    assert server.poll() is None, "the server has ended"
                    time.sleep(0.2)
            yield address
        finally:
            server.terminate()


def pressed(address: str, student: str) -> tuple[float, float]:
    """Seconds until Formgrader has graded one submission; the processors' seconds of its server can't be told apart."""
    request = urllib.request.Request(f"{address}/formgrader/api/submission/{SLUG}/{student}/autograde", b"",
                                     {"Authorization": "token bench"})  # fmt: skip
    began = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        said = json.load(answer)
    assert said["success"], said
    return time.perf_counter() - began, 0.0


def first_check(slug: str) -> str:
    """A program that does what a student's kernel does up to the first check, in IPython."""
    import nbformat

    cells = [cell.source for cell in nbformat.read(ROOT / "solutions" / slug / f"{slug}.ipynb", 4).cells
             if cell.cell_type == "code"]  # fmt: skip
    at = next(index for index, source in enumerate(cells) if source.startswith("check("))
    needed = [cells[0], cells[at - 1], cells[at]]
    return (f"from IPython.core.interactiveshell import InteractiveShell as Shell\nshell = Shell.instance()\n"
            f"for cell in {needed!r}:\n    assert shell.run_cell(cell).success")  # fmt: skip


def medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    walls, processors = zip(*times, strict=True)
    return statistics.median(walls), statistics.median(processors)


if __name__ == "__main__":
    main()
