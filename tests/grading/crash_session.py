"""Grade a class again and again, each time killed at some moment, until a run comes to its end.

    python crash_session.py COURSE SEED KILLS    prints one line of JSON: the moments, what was there, what is left

The kernels' fork server is this process's, which has imported what grading takes, so that each run starts at once: what
is tried is the grader's own death.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from rich.console import Console

from anatomy.classroom.forked_kernels import share_fork_server
from anatomy.classroom.grading import run
from anatomy.classroom.grading.course_kernels import KERNELS
from anatomy.classroom.grading.workers.local import IMPORTED_BY_WORKERS

HANGS = 3600.0  # seconds after which a run that nobody disturbs is given up
MADE = ("gradebook.db", "grades.csv", "autograded", "feedback", ".anatomy")


def begun(root: Path, workers: int) -> int:
    """The process id of a new run."""
    if (pid := os.fork()) == 0:
        code = 1
        try:
            os.setsid()
            os.chdir(root)
            run.grade(root, workers=workers, console=Console(file=io.StringIO()))
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(pid: int, seconds: float) -> int | None:
    """The exit status within some seconds, or None."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    return None


def lasts(root: Path, workers: int) -> float:
    """How long a run takes that nobody disturbs."""
    began = time.monotonic()
    status = ended(begun(root, workers), HANGS)
    assert status == 0, f"an undisturbed run ended with {status}"
    started_over(root)
    return time.monotonic() - began


def started_over(root: Path) -> None:
    for name in MADE:
        shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink(missing_ok=True)


def main(root: Path, seed: str, kills: int) -> None:
    dice = random.Random(seed)
    import_module(IMPORTED_BY_WORKERS)
    with share_fork_server(KERNELS):
        began = time.monotonic()
        status = ended(begun(root, 1), HANGS)
        assert status == 0, f"the undisturbed run ended with {status}"
        span = {1: time.monotonic() - began}
        for name in MADE:
            if (root / name).exists():
                os.rename(root / name, root / f"undisturbed-{name}")
        moments, finished = [], 0
        while len(moments) < kills:
            workers = 2 if len(moments) % 4 == 3 else 1
            if workers not in span:
                span[workers] = lasts(root, workers)
            pid = begun(root, workers)
            moment = dice.uniform(0, span[workers])
            status = ended(pid, moment)
            if status is None:
                os.killpg(pid, signal.SIGKILL) if dice.random() < 0.5 else os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                moments.append(round(moment, 2))
                continue
            assert status == 0, f"a run after {moments} ended with {status}"
            finished += 1
            started_over(root)  # the class was graded to its end: the next kill finds it as it was at first
        status = ended(begun(root, 2), HANGS)
        assert status == 0, f"the last run ended with {status}"
    print(
        json.dumps(
            {
                "span": {workers: round(seconds, 1) for workers, seconds in span.items()},
                "moments": moments,
                "finished": finished,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
