"""What every test shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Before anything imports torch or transformers: quiet, offline, and one thread per test process.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-mistake", action="store_true",
                     help="All known mistakes through nbgrader (20 minutes more), not every fifth.")  # fmt: skip


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return Path(__file__).resolve().parent.parent
