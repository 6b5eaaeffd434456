"""What every test shares."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests import plenty, sharing

# Before anything imports torch or transformers: quiet, offline, and one thread per test process.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# What a run by `make test` passes on, and a run by pytest does not.
os.environ.pop("MAKELEVEL", None)


RARELY = (100_000, 20, 20)
"""So seldom the garbage collector looks: torch and the solved notebooks make each look long."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--everything", action="store_true",
                     help="All of what a plain run takes some of: notebooks, known mistakes, attempts.")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """What is asked for by a path or by `-k` is tried in full."""
    if config.option.keyword or config.args_source is pytest.Config.ArgsSource.ARGS:
        config.option.everything = True
    plenty.EVERYTHING = config.option.everything


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A plain run leaves out what is marked `many`, as it leaves out most of what `tests.plenty` counts."""
    if not config.getoption("everything"):
        left_out = [item for item in items if item.get_closest_marker("many")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("many")]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What it makes stays: the garbage collector, here or in a copy of this process, never looks at it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*RARELY)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """After the last test of a group, what its tests shared is closed."""
    try:
        yield
    finally:
        if nextitem is None or _group(item) != _group(nextitem):
            sharing.close()


def _group(item: pytest.Item) -> str | None:
    marker = item.get_closest_marker("xdist_group")
    return marker.args[0] if marker else None


@pytest.fixture(scope="session")
def everything(pytestconfig: pytest.Config) -> bool:
    """Whether all is tried, and not some of it."""
    return pytestconfig.getoption("everything")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return Path(__file__).resolve().parent.parent
