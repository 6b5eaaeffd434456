"""Workers of a Dask cluster that is there already and belongs to somebody else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from nbclient.util import run_sync

from anatomy.classroom.forked_kernels import SANDBOX_VARIABLE, choose_sandbox, get_fork_server, stop_fork_servers
from anatomy.classroom.grading.course_preparation import KERNELS
from anatomy.classroom.grading.fingerprints import program_version
from anatomy.classroom.grading.workers.dask_settings import open_client, quiet_dask
from anatomy.classroom.grading.workers.dispatch import GONE, ClusterLost, WorkerLost, Workers, grade_parcel
from anatomy.classroom.grading.workers.parcels import ungraded
from anatomy.engine.errors import UserError

CONNECT_LIMIT, FIRST_WORKER_LIMIT, READY_LIMIT = 10.0, 20.0, 180.0
"""Seconds: to reach a scheduler; for a first worker to be there; for a worker to import everything."""


class NoCluster(UserError):
    """The cluster can't be used. The message says why, and what to do."""


@contextlib.contextmanager
def external_workers(address: str, sandbox: str) -> Iterator[Workers]:
    """The workers of the cluster at this address.

    Raises
    ------
    NoCluster
        When it can't be reached, has no workers, or workers that can't grade; or when Dask is not installed.
    """
    if not find_spec("distributed"):
        raise NoCluster(
            "--scheduler needs Dask, which is not installed here. In the course's folder: "
            "python -m pip install --constraint requirements-test.txt '.[cluster]'"
        )
    with quiet_dask(), _connected(address) as client, _external(client, address, sandbox) as workers:
        yield workers


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Any]:
    from distributed.comm import connect
    from distributed.security import Security

    async def connect_once() -> None:
        comm = await connect(address, timeout=CONNECT_LIMIT, **Security().get_connection_args("client"))
        comm.abort()

    async def try_to_connect() -> None:
        try:
            await asyncio.wait_for(connect_once(), CONNECT_LIMIT + 1)
        except TimeoutError:  # its own limit does not hold when something else listens there and is silent
            raise TimeoutError("what listens there does not answer as a scheduler does") from None

    try:
        run_sync(try_to_connect)()  # a `Client` that fails goes on complaining
    except Exception as error:
        raise NoCluster(f"No Dask scheduler can be reached at {address} ({' '.join(str(error).split())[:200]}). "
                        "--scheduler takes the address that `dask scheduler` prints when it starts, "
                        "such as tcp://192.0.2.1:8786.") from None  # fmt: skip
    with open_client(address) as client:
        yield client


class _Cluster:
    """The cluster's workers, as a `Pool`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, work: Callable[[bytes], bytes], content: bytes) -> Any:
        return self._client.submit(work, content, pure=False)

    def result(self, future: Any) -> bytes:
        from distributed import KilledWorker

        if future.status == "cancelled":
            raise ClusterLost(GONE.format("The connection to the scheduler was lost."))
        try:
            result: bytes = future.result()
        except KilledWorker as error:  # the scheduler has tried so often
            raise WorkerLost(error.allowed_failures + 1) from None
        finally:
            future.release()
        return result

    def has_workers(self) -> bool:
        return bool(self._client.scheduler_info(n_workers=-1)["workers"])

    def cancel(self, futures: list[Any]) -> None:
        self._client.cancel(futures, force=True)


@contextlib.contextmanager
def _external(client: Any, address: str, sandbox: str) -> Iterator[Workers]:
    """Workers that belong to others: they are asked first whether they can grade, and left as they were found."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_LIMIT)
    except TimeoutError:
        raise NoCluster(f"The cluster at {address} has no workers. Start some, with this package installed: "
                        f"dask worker {address} --nworkers auto --nthreads 1") from None  # fmt: skip
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    external = Workers("", _Cluster(client), len(workers), _in_worker("_grade_in_worker", program_version()))
    try:
        get_ready = _in_worker("_get_ready", sandbox)
        starting = {worker: client.submit(get_ready, workers=[worker], pure=False) for worker in workers}
        for worker in workers:
            _check_worker(worker, starting.pop(worker), program_version())
        yield external
    finally:
        if client.status == "running":  # else it would wait for a scheduler that is gone
            with contextlib.suppress(Exception):
                external.stop()
                client.run(_in_worker("_clean_up"), on_error="ignore")


def _check_worker(worker: str, starting: Any, wanted: str) -> None:
    """Refuse a worker that can't grade."""
    try:
        if starting.result(timeout=READY_LIMIT) == wanted:
            return
        why = _OTHER_PROGRAM
    except TimeoutError:
        why = f"was not ready after {READY_LIMIT:.0f} s. It may be busy with other work."
    except UserError as error:  # no sandbox, for example
        why = f"can't grade. {error}"
    except Exception as error:
        why = (f"can't grade ({type(error).__name__}: {' '.join(str(error).split())[:200]}). Workers need this package "
               "and all that it needs: start them from an environment like this one.")  # fmt: skip
    raise NoCluster(f"The worker {worker} {why}")


_OTHER_PROGRAM = ("has another version of this package, or of torch, than the one that was called here, and might "
                  "give other marks. Install the same there.")  # fmt: skip


def _in_worker(name: str, *given: Any) -> Callable[..., Any]:
    """A function of this module, to be called in a worker.

    It travels as code that looks the function up. A worker or a scheduler that can't import what it is told breaks off
    its connection, which ends it: it would take somebody's cluster down.
    """

    def look_up(*more: Any) -> Any:
        import importlib

        return getattr(importlib.import_module("anatomy.classroom.grading.workers.external"), name)(*given, *more)

    return look_up


_one_at_a_time = threading.Lock()
"""In a worker: it may have several threads, but what grades wants a process for itself."""


def _get_ready(sandbox: str) -> str:
    """In a worker: get ready. Gives the version of its program."""
    with _one_at_a_time:
        choose_sandbox(sandbox)
        get_fork_server(KERNELS, sandbox)
    return program_version()


def _grade_in_worker(version: str, parcel: bytes) -> bytes:
    """In a worker: `grade_parcel`, if the worker, which may have come late, has the same program."""
    if program_version() != version:
        return ungraded(f"The worker {_OTHER_PROGRAM}")
    with _one_at_a_time:
        return grade_parcel(parcel)


def _clean_up() -> None:
    """In a worker: end what grading has left, as soon as the last parcel is done."""

    def when_idle() -> None:
        with _one_at_a_time:
            stop_fork_servers()
            os.environ.pop(SANDBOX_VARIABLE, None)

    threading.Thread(target=when_idle, name="clean up after grading", daemon=True).start()
