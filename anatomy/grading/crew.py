"""Many hands: parcels are graded by Dask workers, on this machine or on a cluster that is there already."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import Any

from nbclient.util import run_sync

from anatomy.errors import UserError
from anatomy.grading import sandbox
from anatomy.grading.warm.service import Door, stop_all, warm_parent
from anatomy.grading.work import grade_parcel, pack

AHEAD = 3
"""Parcels for each worker that are under way at a time: more would only take memory."""
REACH, JOIN, READY, PATIENCE = 10.0, 20.0, 180.0, 60.0
"""Seconds: to reach a scheduler; for a first worker to be there; for a worker to import everything; to go on without
any worker, which may just be starting again."""
LOOK = 2.0
"""Seconds without a result after which a look is taken at the cluster."""


class NoCluster(UserError):
    """The cluster can't be used. The message says why, and what to do."""


class ClusterLost(UserError):
    """The cluster went away in the middle of a run."""


@dataclass
class _Parcel:
    number: int
    content: bytes
    lost: int = 0
    """How many workers were lost while they had it."""


class Crew:
    """Grades parcels. `address` is where the workers find a warm parent, or "" when each has its own."""

    def __init__(
        self, address: str, client: Any = None, workers: int = 1, work: Callable[[bytes], bytes] | None = None
    ) -> None:
        self.address, self.client, self.workers = address, client, workers
        self.work = work or grade_parcel
        self._under_way: dict[str, tuple[Any, _Parcel]] = {}

    def grade(self, parcels: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """(number of the parcel, result) as they get ready.

        When a worker is lost, nobody knows which of its parcels was the reason. They are tried again at the end, one
        at a time: the one whose worker is lost again is ungraded, and it alone.

        Raises
        ------
        ClusterLost
            When there is no scheduler or no worker any more.
        """
        if self.client is None:
            for number, content in enumerate(parcels):
                yield number, self.work(content)
            return
        lost: list[_Parcel] = []
        for parcel, result in self._worked_off(itertools.starmap(_Parcel, enumerate(parcels)), AHEAD * self.workers):
            if result is None:
                lost.append(parcel)
            else:
                yield parcel.number, result
        for parcel, result in self._worked_off(iter(lost), 1):
            yield parcel.number, result or pack({"ungraded": _why_lost(parcel.lost)}, {})

    def _worked_off(self, waiting: Iterator[_Parcel], at_once: int) -> Iterator[tuple[_Parcel, bytes | None]]:
        """Each parcel with its result, or with None when it was on a worker that was lost."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def hand_out() -> None:
            for parcel in itertools.islice(waiting, 1):
                future = self.client.submit(self.work, parcel.content, pure=False)
                self._under_way[future.key] = future, parcel
                future.add_done_callback(done.put)

        for _ in range(at_once):
            hand_out()
        while self._under_way:
            future = self._next(done)
            _, parcel = self._under_way.pop(future.key)
            result = self._result(future, parcel)
            hand_out()
            yield parcel, result

    def _result(self, future: Any, parcel: _Parcel) -> bytes | None:
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise ClusterLost(_GONE.format("The connection to the scheduler was lost."))
        try:
            result: bytes = future.result()
        except KilledWorker as error:
            parcel.lost += error.allowed_failures + 1  # the scheduler has tried so often
            return None
        except Exception as error:  # it could not even be begun: on this worker something is amiss
            return pack({"ungraded": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}, {})
        finally:
            future.release()
        return result

    def _next(self, done: queue.SimpleQueue[Any]) -> Any:
        """The next future that is done."""
        since = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                return done.get(timeout=LOOK)
            with contextlib.suppress(Exception):  # a scheduler that is gone: the futures will say so
                if self.client.scheduler_info(n_workers=-1)["workers"]:
                    since = time.monotonic()
            if time.monotonic() - since > PATIENCE:
                raise ClusterLost(_GONE.format("No worker is left."))

    def stop(self) -> None:
        """Take back what is under way."""
        self.client.cancel([future for future, _ in self._under_way.values()], force=True)


_GONE = "{} What had been graded by then is recorded; the same command goes on from there."


def _why_lost(times: int) -> str:
    return f"The worker that graded it was lost {times} times, the last time while it had nothing else to do."


@contextlib.contextmanager
def crew(kind: str, workers: int, scheduler: str | None = None) -> Iterator[Crew]:
    """Workers: those of a running cluster, else this process alone for one, else processes of their own.

    Raises
    ------
    NoCluster
        When the cluster at `scheduler` can't be reached, has no workers, or workers that can't grade.
    """
    if scheduler:
        with _quiet(), _reached(scheduler) as client, _guest(client, scheduler, kind) as hands:
            yield hands
        return
    if workers == 1:
        warm_parent(kind)  # which this process then finds by itself
        yield Crew("")
        return
    with _quiet(), _warming(kind) as doors, _cluster(workers) as cluster, _client(cluster) as client:
        door = doors()
        yield Crew(f"{door.kind}:{door.folder}", client, workers)


# ---- a cluster of somebody else's -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _reached(address: str) -> Iterator[Any]:
    from distributed.comm import connect
    from distributed.security import Security

    async def knock() -> None:
        comm = await connect(address, timeout=REACH, **Security().get_connection_args("client"))
        comm.abort()

    async def knock_for_a_while() -> None:
        try:
            await asyncio.wait_for(knock(), REACH + 1)
        except TimeoutError:  # its own limit does not hold when something else listens there and is silent
            raise TimeoutError("what listens there does not answer as a scheduler does") from None

    try:
        run_sync(knock_for_a_while)()  # a `Client` that fails goes on complaining
    except Exception as error:
        raise NoCluster(f"No Dask scheduler can be reached at {address} ({' '.join(str(error).split())[:200]}). "
                        "--scheduler takes the address that `dask scheduler` prints when it starts, "
                        "such as tcp://192.0.2.1:8786.") from None  # fmt: skip
    with _client(address) as client:
        yield client


@contextlib.contextmanager
def _guest(client: Any, address: str, kind: str) -> Iterator[Crew]:
    """Workers that belong to others: they are asked first whether they can grade, and left as they were found."""
    from anatomy.grading.run import program

    try:
        client.wait_for_workers(1, timeout=JOIN)
    except TimeoutError:
        raise NoCluster(f"The cluster at {address} has no workers. Start some, with this package installed: "
                        f"dask worker {address} --nworkers auto --nthreads 1") from None  # fmt: skip
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    hands = Crew("", client, len(workers), _there("_grade_as_guest", program()))
    try:
        arrive = _there("_arrive", kind)
        arriving = {worker: client.submit(arrive, workers=[worker], pure=False) for worker in workers}
        for worker in workers:
            _check(worker, arriving.pop(worker), program())
        yield hands
    finally:
        if client.status == "running":  # else it would wait for a scheduler that is gone
            with contextlib.suppress(Exception):
                hands.stop()
                client.run(_there("_leave"), on_error="ignore")


def _check(worker: str, arriving: Any, wanted: str) -> None:
    """Refuse a worker that can't grade."""
    try:
        if arriving.result(timeout=READY) == wanted:
            return
        why = _OTHER_PROGRAM
    except TimeoutError:
        why = f"was not ready after {READY:.0f} s. It may be busy with other work."
    except UserError as error:  # no sandbox, for example
        why = f"can't grade. {error}"
    except Exception as error:
        why = (f"can't grade ({type(error).__name__}: {' '.join(str(error).split())[:200]}). Workers need this package "
               "and all that it needs: start them from an environment like this one.")  # fmt: skip
    raise NoCluster(f"The worker {worker} {why}")


_OTHER_PROGRAM = ("has another version of this package, or of torch, than the one that was called here, and might "
                  "give other marks. Install the same there.")  # fmt: skip


def _there(name: str, *given: Any) -> Callable[..., Any]:
    """A function of this module, to be called in a worker.

    It travels as code that looks the function up. A worker or a scheduler that can't import what it is told breaks off
    its connection, which ends it: it would take somebody's cluster down.
    """

    def look_up(*more: Any) -> Any:
        import importlib

        return getattr(importlib.import_module("anatomy.grading.crew"), name)(*given, *more)

    return look_up


_one_at_a_time = threading.Lock()
"""In a worker: it may have several threads, but what grades wants a process for itself."""


def _arrive(kind: str) -> str:
    """In a worker: get ready. Says which program this is."""
    from anatomy.grading.run import program

    with _one_at_a_time:
        sandbox.kind(kind)
        warm_parent(kind)
    return program()


def _grade_as_guest(program: str, parcel: bytes) -> bytes:
    """In a worker: `grade_parcel`, if the worker, which may have come late, has the same program."""
    from anatomy.grading import run

    if run.program() != program:
        return pack({"ungraded": f"The worker {_OTHER_PROGRAM}"}, {})
    with _one_at_a_time:
        return grade_parcel(parcel)


def _leave() -> None:
    """In a worker: end what grading has left, as soon as the last parcel is done."""

    def tidy() -> None:
        with _one_at_a_time:
            stop_all()
            os.environ.pop(sandbox.VARIABLE, None)

    threading.Thread(target=tidy, name="leaving", daemon=True).start()


# ---- workers of our own ---------------------------------------------------------------------------------------------


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
    """Dask as it suits this: nothing on the terminal; `Crew` says what is done about lost workers.

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
        "distributed.worker.profile.enabled": False,  # these three look around many times a second
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.comm.timeouts.connect": "60s",
        "distributed.admin.large-graph-warning-threshold": "1GB",
    }
    with dask.config.set(settings), silence_logging_cmgr(logging.CRITICAL):
        yield


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    """Worker processes on this machine: copies of one that has imported what grading takes.

    Whoever can talk to them can have them run anything. So they talk with certificates that exist for this run and in
    these processes only, and take no notice of this machine's other users.
    """
    from distributed import LocalCluster
    from distributed.security import Security
    from distributed.utils import get_mp_context

    get_mp_context()  # sets Dask's own list, which ours replaces
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed", "anatomy.grading.work"])
    with _deaf():
        forkserver.ensure_running()
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                      protocol="tls://", security=Security.temporary(),
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
