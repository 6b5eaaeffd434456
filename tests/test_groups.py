"""Tests that share something expensive run in one process, as their `xdist_group` asks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GROUP = """
import os
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(6))
def test_where(number):
    with open("where.txt", "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


@pytest.mark.slow
@pytest.mark.many
def test_a_group_runs_in_one_process(tmp_path: Path) -> None:
    """A pytest and a pytest-xdist that don't fit each other say nothing: all is only made twice, and slower."""
    (tmp_path / "test_group.py").write_text(GROUP, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    where = (tmp_path / "where.txt").read_text(encoding="utf-8").split()
    assert len(where) == 6 and len(set(where)) == 1
