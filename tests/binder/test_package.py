"""Installed with pip from an address, as on Colab: the package has all its files and the student edition, and reads
no others of the folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from anatomy.starting import edition
from tests.binder.image import ROOT, checkout

READS = """
import sys
sys.path.insert(0, sys.argv[1])
import anatomy
from anatomy.course import datasets
assert anatomy.__file__.startswith(sys.argv[1]), anatomy.__file__
assert len(datasets.flies_sentences("train")) == 156 and len(datasets.fables()) > 40_000
"""


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package_and_its_data_can_be_read(tmp_path: Path) -> None:
    checkout(clone := tmp_path / "clone")
    package = {path.relative_to(clone).as_posix() for path in clone.glob("anatomy/**/*") if path.is_file()}
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*pip, str(tmp_path), str(clone)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as file:
        held = {name for name in file.namelist() if name.startswith("anatomy/")}
        file.extractall(tmp_path / "installed")
    assert held == package | {f"anatomy/edition/{path.as_posix()}" for path in edition(clone)}
    subprocess.run([sys.executable, "-I", "-c", READS, str(tmp_path / "installed")], check=True, cwd=tmp_path)


def test_a_wheel_can_be_built_where_nothing_is_installed() -> None:
    """pip builds in an environment that has setuptools alone."""
    alone = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import anatomy.starting",
    ]
    subprocess.run(alone, check=True)
