"""The encoder's benchmark runs, and its committed results say where they come from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def quick(tmp_path_factory) -> tuple[str, Path]:
    """What the benchmark prints for a tiny model, and the folder with its results."""
    folder = tmp_path_factory.mktemp("results")
    command = [sys.executable, "bench/encoder.py", "--quick", "--out", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout, folder


def check_results(folder: Path, lengths: int) -> None:
    found = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    assert len(found["results"]) == lengths
    for result in found["results"]:
        assert result["largest difference"] < 1e-4
        assert set(result["ratio to eager"]) == {"library, sdpa", "course, fused", "course, by hand"}
        assert all(ratio > 0 for ratio in result["ratio to eager"].values())
    assert {"processor", "cores", "threads", "torch", "transformers"} <= found["machine"].keys()
    assert (folder / "encoder.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_encoder_bench_runs_and_says_that_outputs_agree(quick):
    printed, folder = quick
    assert "Outputs agree to" in printed and "course, by hand" in printed
    check_results(folder, lengths=3)


def test_committed_results_are_complete():
    check_results(ROOT / "bench/results", lengths=3)
    text = (ROOT / "bench/results/encoder.json").read_text(encoding="utf-8")
    assert not any(word in text for word in (str(ROOT), "/home/", "/root/")), "no path of one machine"


def test_make_runs_every_bench():
    run = subprocess.run(["make", "--dry-run", "bench"], cwd=ROOT, capture_output=True, text=True, check=True)
    for file in (ROOT / "bench").glob("*.py"):
        assert f"bench/{file.name}" in run.stdout
