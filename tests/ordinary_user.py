"""Run programs as a user without any rights, when root runs the tests."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading.report import Mark, SubmissionResult
from anatomy.classroom.grading.run import grade
from tests.plenty import one_in

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534
BOTH = ("whoever runs this", "an ordinary user")
EITHER = one_in(2, BOTH, first=1)
"""As parameters: a plain run takes the ordinary user."""
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/tmp/home", "OMP_NUM_THREADS": "1"}
"""The variables for a program in `room`."""


def before(who: str, place: Path, *folders: Path) -> list[str]:
    """What to put before a command so that it runs as one of `BOTH`; see `room`."""
    if who == BOTH[0]:
        return []
    if os.geteuid() != 0:
        pytest.skip("whoever runs this is an ordinary user")
    return room(place, *folders)


def room(place: Path, *folders: Path) -> list[str]:
    """The start of a command that runs the rest as `nobody`, who sees what root's Python needs, and owns its home.

    Parameters
    ----------
    place
        An empty folder, which becomes the home.
    folders
        They and what is in them become that user's, too, and are where they are.

    Skips the test where ordinary users may not build sandboxes.
    """
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv")
    home = place / "home"
    home.mkdir()
    for path in (home, *folders, *(inner for folder in folders for inner in folder.rglob("*"))):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    shown = [path for path in (*sandbox._python_folders(), ROOT)]
    line = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", "/tmp", "--chmod", "1777", "/tmp"]
    for top in sorted({Path("/", path.parts[1]) for path in shown} - {Path("/usr"), Path("/tmp")}):
        line += ["--tmpfs", str(top)]
    line += sandbox._folders([*shown, *folders])
    for path in sorted(shown):
        line += ["--ro-bind", str(path), str(path)]
    for folder in folders:
        line += ["--bind", str(folder), str(folder)]
    line += ["--bind", str(home), "/tmp/home", "--cap-add", "ALL", "--chdir", "/", "setpriv", "--reuid", str(NOBODY),
             "--regid", str(NOBODY), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]  # fmt: skip
    allowed = subprocess.run([*line, "bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True)
    if allowed.returncode:
        pytest.skip(f"ordinary users may not make namespaces here: {allowed.stderr.decode()[:200]}")
    return line


GRADE = """
import glob, io, json, sys
from dataclasses import asdict
from pathlib import Path
from rich.console import Console
from anatomy.classroom.grading.run import grade
given = json.loads(sys.argv[1])
report = grade(Path(given["root"]), workers=given["workers"], console=Console(file=io.StringIO()))
left = [path for place in ("/tmp", "/dev/shm", "/var/tmp") for path in glob.glob(f"{place}/*{given['name']}*")]
print(json.dumps({"rows": [asdict(row) for row in report.results], "left": left}))
"""


def graded(
    who: str, root: Path, place: Path, name: str = "no such name", workers: int | None = None
) -> tuple[dict[str, SubmissionResult], list[str]]:
    """Grade the course in `root` as one of `BOTH`: each student's row, and what is left with this name in it.

    `place` is an empty folder. What is looked for is in the folders for temporary files that this user sees.
    """
    line = before(who, place, root)
    if not line:
        rows = grade(root, workers=workers, console=Console(file=io.StringIO())).results
        return {row.student: row for row in rows}, []
    given = json.dumps({"root": str(root), "name": name, "workers": workers})
    run = subprocess.run([*line, sys.executable, "-c", GRADE, given], capture_output=True, text=True, timeout=1800,
                         env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    said = json.loads(run.stdout)
    rows = [SubmissionResult(**{**row, "marks": tuple(Mark(**mark) for mark in row["marks"])}) for row in said["rows"]]
    return {row.student: row for row in rows}, said["left"]
