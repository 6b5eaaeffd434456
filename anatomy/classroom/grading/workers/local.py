"""Workers of this run's own, on this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import nullcontext
from importlib import import_module
from multiprocessing import forkserver

from anatomy.classroom.forked_kernels import NO_SANDBOX, get_fork_server
from anatomy.classroom.grading.course_preparation import KERNELS
from anatomy.classroom.grading.workers.dispatch import WorkerLost, Workers

IMPORTED_BY_WORKERS = "anatomy.classroom.grading.workers.preloaded"


@contextlib.contextmanager
def this_process(sandbox: str) -> Iterator[Workers]:
    """This process alone. It imports what grading takes while its fork server does the same."""
    get_fork_server(KERNELS, sandbox, wait=False)
    import_module(IMPORTED_BY_WORKERS)
    get_fork_server(KERNELS, sandbox)  # `RunAndObserve` finds it by itself
    yield Workers("")


@contextlib.contextmanager
def local_workers(count: int, sandbox: str) -> Iterator[Workers]:
    """So many processes on this machine, which start while the fork server does."""
    get_fork_server(KERNELS, sandbox, wait=False)
    pool = LocalPool(count)
    # Without a sandbox student code could read there what secret seeds give.
    folder = tempfile.TemporaryDirectory(prefix="anatomy-shared-", ignore_cleanup_errors=True)
    with folder if sandbox != NO_SANDBOX else nullcontext("") as shared:
        try:
            yield Workers(str(get_fork_server(KERNELS, sandbox)), pool, count, shared=shared)
        finally:
            pool.end()


def start_importing() -> None:
    """Start the process that workers are forked from, which imports what grading takes; once."""
    multiprocessing.get_context("forkserver").set_forkserver_preload([IMPORTED_BY_WORKERS])
    with _ignoring_ctrl_c():
        forkserver.ensure_running()


class LocalPool:
    """Worker processes on this machine, forked from one that has imported what grading takes."""

    def __init__(self, count: int) -> None:
        self.count, self._own = count, set[multiprocessing.process.BaseProcess]()
        start_importing()
        self._executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.count, multiprocessing.get_context("forkserver"), _get_ready)

    def submit(self, work: Callable[[bytes], bytes], content: bytes) -> Future[bytes]:
        others = set(multiprocessing.active_children()) - self._own
        try:
            future = self._executor.submit(work, content)
        except BrokenExecutor:  # a worker was lost, and with it all that the others had
            self._executor = self._started()
            future = self._executor.submit(work, content)
        self._own |= set(multiprocessing.active_children()) - others
        return future

    def result(self, future: Future[bytes]) -> bytes:
        try:
            return future.result()
        except BrokenExecutor:
            raise WorkerLost from None

    def has_workers(self) -> bool:
        return True

    def cancel(self, futures: list[Future[bytes]]) -> None:
        for future in futures:
            future.cancel()

    def end(self) -> None:
        """End the processes, whatever they are doing."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in self._own:
            process.terminate()


def _get_ready() -> None:
    """In a worker: it ends with the process that it works for, however that ends, and not by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_its_parent, daemon=True).start()


def _end_with_its_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


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
