"""Dask, as grading a class uses it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet_dask() -> Iterator[None]:
    """Within this, Dask prints nothing and decides nothing about lost workers: `Workers` does.

    A cluster that is there already has its own settings. It tries a parcel, as a rule, on four workers before it says
    that they are lost.
    """
    import dask
    from distributed.utils import silence_logging_cmgr

    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.http.routes": [],  # pages about the run, for anybody on this machine
        "distributed.worker.http.routes": [],
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.worker.memory.terminate": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
        "distributed.worker.profile.enabled": False,  # these three take a look many times a second
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.comm.timeouts.connect": "60s",
        "distributed.admin.large-graph-warning-threshold": "1GB",
    }
    with dask.config.set(settings), silence_logging_cmgr(logging.CRITICAL):
        yield


@contextlib.contextmanager
def open_client(where: Any) -> Iterator[Any]:
    """A connection to a cluster or to the scheduler at an address."""
    from distributed import Client

    with Client(where, set_as_default=False) as client:
        yield client
