"""Many hands: parcels are graded by Dask workers, on this machine or on a cluster that is there already."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import signal
import threading
from collections.abc import Iterable, Iterator
from multiprocessing import forkserver
from typing import Any

from anatomy.grading.warm.service import Door, warm_parent
from anatomy.grading.work import grade_parcel, pack

AHEAD = 3
"""Parcels for each worker that are under way at a time: more would only take memory."""
RETRIES = 1
"""How often a parcel whose worker was lost is tried again."""


class Crew:
    """Grades parcels. `address` is where the workers find a warm parent, or "" when each has its own."""

    def __init__(self, address: str, client: Any = None, workers: int = 1) -> None:
        self.address, self.client, self.workers = address, client, workers

    def grade(self, parcels: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """(number of the parcel, result) as they get ready. A parcel whose worker was lost twice is ungraded."""
        if self.client is None:
            for number, parcel in enumerate(parcels):
                yield number, grade_parcel(parcel)
            return
        from distributed import as_completed

        waiting, numbers = enumerate(parcels), {}

        def hand_out() -> list[Any]:
            futures = []
            for number, parcel in itertools.islice(waiting, 1):
                future = self.client.submit(grade_parcel, parcel, pure=False, retries=RETRIES)
                numbers[future.key] = number
                futures.append(future)
            return futures

        first = [future for _ in range(AHEAD * self.workers) for future in hand_out()]
        under_way = as_completed(first, loop=self.client.loop)
        for future in under_way:
            number = numbers.pop(future.key)
            try:
                result = future.result()
            except Exception as error:  # a worker that was lost, again and again
                result = pack({"ungraded": _why_lost(error)}, {})
            future.release()
            under_way.update(hand_out())
            yield number, result


def _why_lost(error: Exception) -> str:
    if type(error).__name__ == "KilledWorker":
        return f"The worker that graded it was lost {RETRIES + 1} times."
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


@contextlib.contextmanager
def crew(kind: str, workers: int, scheduler: str | None = None) -> Iterator[Crew]:
    """Workers: those of a running cluster, else this process alone for one, else processes of their own."""
    if scheduler:
        with _quiet(), _client(scheduler) as client:
            client.wait_for_workers(1, timeout=60)
            yield Crew("", client, len(client.scheduler_info(n_workers=-1)["workers"]))
        return
    if workers == 1:
        warm_parent(kind)  # which this process then finds by itself
        yield Crew("")
        return
    with _quiet(), _warming(kind) as doors, _cluster(workers) as cluster, _client(cluster) as client:
        door = doors()
        yield Crew(f"{door.kind}:{door.folder}", client, workers)


@contextlib.contextmanager
def _warming(kind: str) -> Iterator[Any]:
    """Start the warm parent while other things start, too; gives a function that waits for it."""
    found: list[Door | BaseException] = []

    def start() -> None:
        try:
            found.append(warm_parent(kind))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=start, name="warming", daemon=True)
    thread.start()

    def door() -> Door:
        thread.join()
        if isinstance(found[0], BaseException):
            raise found[0]
        return found[0]

    yield door


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Dask as it suits this: a lost worker's parcel is tried again so many times; no news on the terminal."""
    import dask
    import distributed  # noqa: F401  (adds its own settings to dask's, once)

    settings = {
        "distributed.scheduler.allowed-failures": RETRIES,
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.worker.memory.terminate": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
        "distributed.worker.profile.enabled": False,  # these three look around many times a second
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.comm.timeouts.connect": "60s",
        "distributed.admin.large-graph-warning-threshold": "1GB",
    }
    with dask.config.set(settings):
        yield


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    """Worker processes on this machine: copies of one that has imported what grading takes."""
    from distributed import LocalCluster
    from distributed.utils import get_mp_context

    get_mp_context()  # sets Dask's own list, which ours replaces
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed", "anatomy.grading.work"])
    with _deaf():
        forkserver.ensure_running()
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                      dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, silence_logs="CRITICAL",
                      memory_limit=0, env={"OMP_NUM_THREADS": "1"}) as cluster:  # fmt: skip
        yield cluster


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """What starts within this takes no notice of Ctrl-C: it ends with this process, in an orderly way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _client(where: Any) -> Iterator[Any]:
    from distributed import Client

    with Client(where, set_as_default=False) as client:
        yield client
