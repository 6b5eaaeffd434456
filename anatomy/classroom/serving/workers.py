"""Processes that judge, each one request at a time and with expectations of its own that it keeps.

One that hangs, dies or computes for too long costs the request that it was at, and another takes its place. Requests of
people who have lost a worker lately get a share of the workers, and never the last one.
"""

from __future__ import annotations

import asyncio
import logging
import math
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from anatomy.classroom.serving.judge_process import PREPARE, serve_requests
from anatomy.engine.errors import UserError

SECONDS = 60.0
"""Seconds after which a worker that does not answer is ended; one that computes has ended itself before."""

LONG = 1.0
"""Seconds at one request after which a worker counts as held up. Where all are, one more is started."""

Result = TypeVar("Result")
log = logging.getLogger("anatomy.classroom.serving")


class Busy(Exception):
    """As many requests wait as may."""


class NobodyWaits(Exception):
    """Who asked had gone before a worker had the request."""


class WorkerLost(Exception):
    """The worker that had a request has ended, or was ended because it did not answer."""


@dataclass(eq=False)
class _Job:
    """`is_risky` is what comes from somebody who has lost a worker lately; `began` is when a worker got it."""

    request: bytes
    is_risky: bool = False
    began: float = math.inf
    done: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class _Worker:
    """One process, and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["anatomy.classroom.serving.judging"])  # so that another one is there at once
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve_requests, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.prepared = dict[str, float]()  # notebook → share

    def ask(self, request: bytes) -> bytes:
        self._pipe.send_bytes(request)
        return self._pipe.recv_bytes()

    def end(self) -> None:
        self.process.kill()
        self.process.join()


class JudgeWorkers:
    """So many workers and one queue. `run` keeps them going until it is cancelled.

    One more is started when all are held up and somebody waits; from then on it stays, and takes no risky requests.

    Parameters
    ----------
    prepare
        The slugs of notebooks for which they work out from the start, while nobody asks, what references and mistakes
        do. `want` adds others.
    most_waiting
        Requests that may wait.
    """

    def __init__(self, count: int, prepare: Iterable[str] = (), most_waiting: int = 100) -> None:
        self.count, self.most_waiting = count, most_waiting
        self._wanted, self._spoiled = [*prepare], set[tuple[int, str]]()
        self._jobs: deque[_Job] = deque()
        self._has_more = asyncio.Condition()
        self._threads = ThreadPoolExecutor(count + 1)
        self._workers: dict[int, _Worker] = {}
        self._at: dict[int, _Job] = {}

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    @property
    def prepared(self) -> dict[str, float]:
        """Notebook → the share of what can be worked out in advance that is, of those that are needed."""
        workers = [worker for number, worker in self._workers.items() if number < self.count]
        return {slug: sum(one.prepared.get(slug, 0) for one in workers) / self.count for slug in self._wanted}

    async def want(self, slug: str) -> None:
        """Get ready for this notebook, too, while nobody asks."""
        if slug not in self._wanted:
            self._wanted.append(slug)
            log.info("getting ready for %s; until then an answer to it may take seconds", slug)
            await self._look_again()

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that are there."""
        return [worker.process.pid or 0 for worker in self._workers.values()]

    async def ask(self, request: bytes, gone: asyncio.Future[None] | None = None, is_risky: bool = False) -> bytes:
        """The answer to a request.

        Parameters
        ----------
        gone
            Is done when nobody waits for the answer any more. A worker that is at it goes on nevertheless.
        is_risky
            Whether who asks has lost a worker lately. Half of the workers at most are at such requests.

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
        self._jobs.append(job := _Job(request, is_risky))
        if gone:
            gone.add_done_callback(lambda _: self._drop(job))
        await self._look_again()
        return await job.done

    async def _look_again(self) -> None:
        async with self._has_more:
            self._has_more.notify_all()

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
        running = [asyncio.ensure_future(self._run(number)) for number in range(self.count + 1)]
        try:
            await asyncio.gather(*running)
        finally:
            for one in running:
                one.cancel()
            for worker in self._workers.values():
                worker.end()
            self._threads.shutdown(wait=False)

    async def _run(self, number: int) -> None:
        if number == self.count:
            await self._is_needed()
        while True:
            try:
                worker = self._workers.get(number) or await self._started()
            except UserError as error:
                if number < self.count:
                    raise
                log.warning("%s", error)  # this one would be one more than was asked for
                await asyncio.sleep(SECONDS)
                continue
            self._workers[number] = worker
            job, slug = await self._next(number)
            try:
                asked = self._in_thread(lambda: worker.ask(job.request if job else PREPARE + slug.encode()))  # noqa: B023
                reply = await asyncio.wait_for(asked, SECONDS)
            except (TimeoutError, EOFError, OSError) as error:
                log.warning("a worker was lost: %s", type(error).__name__)
                self._workers.pop(number).end()
                if not job:
                    self._spoiled.add((number, slug))
                elif not job.done.done():
                    job.done.set_exception(WorkerLost())
                continue
            finally:
                if self._at.pop(number, None):
                    await self._look_again()
            if job is None:
                worker.prepared[slug] = float(reply)
                if worker.prepared[slug] == self.prepared[slug] == 1:
                    log.info("ready for %s", slug)
            elif not job.done.done():
                job.done.set_result(reply)

    async def _is_needed(self) -> None:
        """Wait until somebody waits while all workers are held up."""
        now = asyncio.get_running_loop().time
        while sum(now() - job.began > LONG for job in self._at.values()) < self.count or not self._job_for(self.count):
            await asyncio.sleep(LONG / 4)

    def _job_for(self, number: int) -> _Job | None:
        """The first request that this worker may take."""
        most_risky = max(1, self.count // 2) if number < self.count else 0
        may_risk = sum(job.is_risky for job in self._at.values()) < most_risky
        return next((job for job in self._jobs if may_risk or not job.is_risky), None)

    def _to_prepare(self, number: int) -> str:
        """The first notebook that this worker should get ready for; none that it was lost at."""
        done = self._workers[number].prepared
        open_ = (slug for slug in self._wanted if done.get(slug, 0) < 1 and (number, slug) not in self._spoiled)
        return next(open_, "")

    async def _next(self, number: int) -> tuple[_Job | None, str]:
        """A request; or, where none waits, a notebook to get ready for."""
        async with self._has_more:
            await self._has_more.wait_for(lambda: self._job_for(number) or self._to_prepare(number))
            if job := self._job_for(number):
                self._jobs.remove(job)
                self._at[number], job.began = job, asyncio.get_running_loop().time()
            return job, self._to_prepare(number)

    async def _started(self) -> _Worker:
        try:
            return await self._in_thread(_Worker)
        except (OSError, EOFError) as error:
            raise UserError(
                f"A process that judges can't be started ({error or type(error).__name__}): look what this machine has "
                "run out of, memory, processes or open files."
            ) from error

    async def _in_thread(self, what: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, what)
