"""Workers of this run's own, on this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from importlib import import_module
from multiprocessing import forkserver
from typing import Any

from anatomy.classroom.forked_kernels import get_fork_server
from anatomy.classroom.grading.course_preparation import KERNELS
from anatomy.classroom.grading.workers.dask_settings import open_client
from anatomy.classroom.grading.workers.dispatch import Workers

IMPORTED_BY_WORKERS = ("anatomy.classroom.grading.workers.worker", "anatomy.classroom.grading.preprocessors")
"""What grading takes, and what only looks for work does not."""


@contextlib.contextmanager
def this_process(sandbox: str) -> Iterator[Workers]:
    """This process alone. It imports what grading takes while its fork server does the same."""
    get_fork_server(KERNELS, sandbox, wait=False)
    for module in IMPORTED_BY_WORKERS:
        import_module(module)
    get_fork_server(KERNELS, sandbox)  # `RunAndObserve` finds it by itself
    yield Workers("")


@contextlib.contextmanager
def local_workers(count: int, sandbox: str) -> Iterator[Workers]:
    """So many processes on this machine, which start while the fork server does."""
    get_fork_server(KERNELS, sandbox, wait=False)
    with _local_cluster(count) as cluster, open_client(cluster) as client:
        yield Workers(str(get_fork_server(KERNELS, sandbox)), client, count)


@contextlib.contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Worker processes on this machine, forked from one that has imported what grading takes.

    Whoever can connect to them can have them run anything. So they accept only connections with certificates that
    exist for this run and in these processes only: this machine's other users have none.
    """
    from distributed import LocalCluster
    from distributed.security import Security
    from distributed.utils import get_mp_context

    get_mp_context()  # sets Dask's own list, which ours replaces
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed", *IMPORTED_BY_WORKERS])
    with _ignoring_ctrl_c():
        forkserver.ensure_running()
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                      protocol="tls://", security=Security.temporary(),
                      dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, silence_logs="CRITICAL",
                      memory_limit=0, env={"OMP_NUM_THREADS": "1"}) as cluster:  # fmt: skip
        yield cluster


@contextlib.contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """What starts within this ignores Ctrl-C: it ends with this process, in an orderly way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
