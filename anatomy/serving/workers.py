"""Processes that judge, each one request at a time and with expectations of its own that it keeps.

One that hangs, dies or computes for too long costs the request that it was at, and another takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from anatomy.errors import UserError
from anatomy.serving.worker import PREPARE, serve_requests

SECONDS = 60.0
"""Seconds after which a worker that does not answer is ended; one that computes has ended itself before."""

Result = TypeVar("Result")
log = logging.getLogger("anatomy.serving")


class Busy(Exception):
    """As many requests wait as may."""


class NobodyWaits(Exception):
    """Who asked had gone before a worker had the request."""


class WorkerLost(Exception):
    """The worker that had a request has ended, or was ended because it did not answer."""


@dataclass(eq=False)
class _Job:
    request: bytes
    done: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class _Worker:
    """One process, and the pipe to it."""

    def __init__(self, prepare: Collection[str]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["anatomy.serving.judging"])  # so that another one is there at once
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve_requests, args=(theirs, prepare), daemon=True)
        self.process.start()
        theirs.close()
        self.prepared = 0.0

    def ask(self, request: bytes) -> bytes:
        self._pipe.send_bytes(request)
        return self._pipe.recv_bytes()

    def end(self) -> None:
        self.process.kill()
        self.process.join()


class JudgeWorkers:
    """So many workers and one queue. `run` keeps them going until it is cancelled.

    Parameters
    ----------
    prepare
        The slugs of notebooks for which they work out in advance, while nobody asks, what references and mistakes do.
    most_waiting
        Requests that may wait.
    """

    def __init__(self, count: int, prepare: Collection[str] = (), most_waiting: int = 100) -> None:
        self.count, self.prepare, self.most_waiting = count, prepare, most_waiting
        self._jobs: deque[_Job] = deque()
        self._has_more = asyncio.Condition()
        self._threads = ThreadPoolExecutor(count)
        self._workers: dict[int, _Worker] = {}

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    @property
    def prepared(self) -> float:
        """The share of what can be worked out in advance that is."""
        return sum(worker.prepared for worker in self._workers.values()) / self.count

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that are there."""
        return [worker.process.pid or 0 for worker in self._workers.values()]

    async def ask(self, request: bytes, gone: asyncio.Future[None] | None = None) -> bytes:
        """The answer to a request.

        Parameters
        ----------
        gone
            Is done when nobody waits for the answer any more. A worker that is at it goes on nevertheless.

        Raises
        ------
        Busy
            When as many requests wait as may.
        NobodyWaits
            When `gone` was done before a worker had it.
        WorkerLost
            When no answer comes.
        """
        if self.waiting >= self.most_waiting:
            raise Busy
        self._jobs.append(job := _Job(request))
        if gone:
            gone.add_done_callback(lambda _: self._drop(job))
        async with self._has_more:
            self._has_more.notify()
        return await job.done

    def _drop(self, job: _Job) -> None:
        if job in self._jobs:
            self._jobs.remove(job)
            job.done.set_exception(NobodyWaits())

    async def run(self) -> None:
        """Keep the workers going.

        Raises
        ------
        UserError
            When one can't be started.
        """
        running = [asyncio.ensure_future(self._run(number)) for number in range(self.count)]
        try:
            await asyncio.gather(*running)
        finally:
            for one in running:
                one.cancel()
            for worker in self._workers.values():
                worker.end()
            self._threads.shutdown(wait=False)

    async def _run(self, number: int) -> None:
        prepares = bool(self.prepare)
        while True:
            if number not in self._workers:
                self._workers[number] = await self._started()
            worker = self._workers[number]
            job = None if prepares and not self._jobs else await self._next()
            try:
                asked = self._in_thread(lambda: worker.ask(job.request if job else PREPARE))  # noqa: B023
                reply = await asyncio.wait_for(asked, SECONDS)
            except (TimeoutError, EOFError, OSError) as error:
                log.warning("a worker was lost: %s", type(error).__name__)
                self._workers.pop(number).end()
                prepares = bool(self.prepare) and job is not None
                if job and not job.done.done():
                    job.done.set_exception(WorkerLost())
                continue
            if job is None:
                worker.prepared = float(reply)
                prepares = worker.prepared < 1
            elif not job.done.done():
                job.done.set_result(reply)

    async def _next(self) -> _Job:
        async with self._has_more:
            await self._has_more.wait_for(lambda: self._jobs)
            return self._jobs.popleft()

    async def _started(self) -> _Worker:
        try:
            return await self._in_thread(lambda: _Worker(self.prepare))
        except (OSError, EOFError) as error:
            raise UserError(
                f"A process that judges can't be started ({error or type(error).__name__}): look what this machine has "
                "run out of, memory, processes or open files."
            ) from error

    async def _in_thread(self, what: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, what)
