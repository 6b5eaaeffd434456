"""A gradebook on a PostgreSQL server: the same class gets the same marks as in SQLite."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from rich.console import Console
from test_crash import marks, reported, small_class

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading.run import grade

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]


def program(name):
    """One of PostgreSQL's programs, which Debian keeps away from the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@pytest.fixture(scope="module")
def server():
    """The address of a database on a server of this test's own, on this machine only."""
    pytest.importorskip("psycopg", reason="needs the driver psycopg")
    if not program("initdb"):
        pytest.skip("needs PostgreSQL: on Debian and Ubuntu, the package postgresql")
    who = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="anatomy-postgres-"))
    if who:
        shutil.chown(folder, who["user"], who["group"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def run(*words):
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=120, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                              **who)  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]

    run(program("initdb"), "-D", "data", "-U", "grader", "--auth=trust", "--encoding=UTF8", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -k {folder} -F"
    try:
        run(program("pg_ctl"), "-D", "data", "-w", "-l", "log", "-o", options, "start")
        yield f"postgresql+psycopg://grader@127.0.0.1:{port}/postgres"
    finally:
        run(program("pg_ctl"), "-D", "data", "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def test_the_same_class_gets_the_same_marks(server, tmp_path, new_course):
    found = {}
    for name in ("sqlite", "postgres"):
        root = small_class(tmp_path / name, new_course)
        url = server if name == "postgres" else f"sqlite:///{root}/gradebook.db"
        with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
            config.write(f'\nc.CourseDirectory.db_url = "{url}"\nc.CourseDirectory.course_id = "anatomy"\n')
        for _ in range(2):  # the second time it finds what it has written
            grade(root, console=Console(file=io.StringIO()))
        found[name] = marks(url), reported(root / "grades.csv")
        assert (root / "gradebook.db").exists() == (name == "sqlite")
    assert found["postgres"] == found["sqlite"]
    assert len(found["postgres"][0]) == 4
