"""Run programs as a user without any rights, when root runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from anatomy.forked_kernels import sandbox

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534
BOTH = ("whoever runs this", "an ordinary user")
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
