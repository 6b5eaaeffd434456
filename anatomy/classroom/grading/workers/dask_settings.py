"""Dask, as grading a class uses it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet_dask() -> Iterator[None]:
    """Within this, Dask prints nothing.

    The cluster has its own settings. It tries a parcel, as a rule, on four workers before it says that they are lost.
    """
    import dask
    from distributed.utils import silence_logging_cmgr

    settings = {
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
