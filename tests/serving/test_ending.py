"""When the service ends, by whatever signal, its workers end with it: those that wait, and those that are stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile

import psutil
import pytest

SERVE = (
    "import sys; from anatomy.cli import app; app(['serve', '--port', '0', '--workers', '2', '--keys', sys.argv[1]])"
)


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A service of its own, as it is typed, and all processes that it has started."""
    with NamedTemporaryFile("w", suffix=".txt") as keys:
        keys.write(f"{'k' * 20} Ada\n")
        keys.flush()
        yield from _served(keys.name)


def _served(keys: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    with subprocess.Popen([sys.executable, "-c", SERVE, keys], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        family: list[psutil.Process] = []
        try:
            assert any(re.search("answers at", line) for line in process.stderr)
            end = time.monotonic() + 60
            while len(workers(process)) < 2:
                assert time.monotonic() < end
                time.sleep(0.05)
            family += psutil.Process(process.pid).children(recursive=True)
            yield process, family
        finally:
            process.kill()
            for one in family:
                if one.is_running():
                    one.kill()


def workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that judge: children of the one that starts them."""
    children = psutil.Process(process.pid).children()
    return [worker for child in children for worker in child.children()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux ends them; elsewhere they end when they have answered")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_service(by: signal.Signals) -> None:
    with served() as (process, family):
        os.kill(workers(process)[0].pid, signal.SIGSTOP)  # neither a closed pipe nor SIGTERM ends it; the other is idle
        process.send_signal(by)
        process.wait(60)
        _, left = psutil.wait_procs(family, timeout=30)
        assert not left
