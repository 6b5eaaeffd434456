"""Processes that judge, each one request at a time and with trials of its own that it keeps.

One that hangs, dies or computes for too long costs the request that it was at, and another takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from anatomy.serving.worker import PREPARE, work

SECONDS = 60.0
"""Seconds after which a worker that does not answer is ended; one that computes has ended itself before."""

Result = TypeVar("Result")
log = logging.getLogger("anatomy.serving")


class Busy(Exception):
    """As many requests wait as may."""


class WorkerLost(Exception):
    """The worker that had a request has ended, or was ended because it did not answer."""


@dataclass
class _Job:
    request: bytes
    done: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class _Worker:
    """One process, and the pipe to it."""

    def __init__(self, prepare: Collection[str]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["anatomy.serving.judging"])  # so that another one is there at once
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, prepare), daemon=True)
        self.process.start()
        theirs.close()
        self.prepared = 0.0

    def ask(self, request: bytes) -> bytes:
        self._pipe.send_bytes(request)
        return self._pipe.recv_bytes()

    def end(self) -> None:
        self.process.kill()
        self.process.join()


class Workers:
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
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(count)
        self._workers: dict[int, _Worker] = {}

    @property
    def waiting(self) -> int:
        return self._jobs.qsize()

    @property
    def prepared(self) -> float:
        """The share of what can be worked out in advance that is."""
        return sum(worker.prepared for worker in self._workers.values()) / self.count

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that are there."""
        return [worker.process.pid or 0 for worker in self._workers.values()]

    async def ask(self, request: bytes) -> bytes:
        """The answer to a request.

        Raises
        ------
        Busy
            When as many requests wait as may.
        WorkerLost
            When no answer comes.
        """
        if self.waiting >= self.most_waiting:
            raise Busy
        self._jobs.put_nowait(job := _Job(request))
        return await job.done

    async def run(self) -> None:
        try:
            await asyncio.gather(*(self._run(number) for number in range(self.count)))
        finally:
            for worker in self._workers.values():
                worker.end()
            self._threads.shutdown(wait=False)

    async def _run(self, number: int) -> None:
        prepares = bool(self.prepare)
        while True:
            if number not in self._workers:
                self._workers[number] = await self._in_thread(lambda: _Worker(self.prepare))
            worker = self._workers[number]
            if self._jobs.empty() and prepares:
                job = None
            else:
                job = await self._jobs.get()
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

    async def _in_thread(self, what: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, what)
