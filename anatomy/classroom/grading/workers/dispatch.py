"""Handing parcels out to workers, and getting every result back even if a worker is lost."""

from __future__ import annotations

import contextlib
import itertools
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from anatomy.classroom.grading.errors import GOES_ON, in_brief
from anatomy.classroom.grading.workers.parcels import ungraded
from anatomy.engine.errors import UserError

AHEAD = 3
"""Parcels for each worker that are under way at a time: more would only take memory."""
NO_WORKER_LIMIT = 60.0
"""Seconds to go on without any worker: they may just be starting again."""
CHECK_INTERVAL = 2.0
"""Seconds without a result after which it is asked whether there are workers."""


def grade_parcel(parcel: bytes) -> bytes:
    """`worker.grade_parcel`: imports what grading takes where it is called, not where it is only named."""
    from anatomy.classroom.grading.workers import worker

    return worker.grade_parcel(parcel)


class ClusterLost(UserError):
    """The cluster went away in the middle of a run."""


class WorkerLost(Exception):
    """Workers ended while they had a parcel: so many."""

    def __init__(self, times: int = 1) -> None:
        super().__init__(times)
        self.times = times


class Pool(Protocol):
    """Processes that work: on this machine, or a cluster's."""

    def submit(self, work: Callable[[bytes], bytes], content: bytes) -> Any:
        """A future, of which `add_done_callback` tells when it is done."""

    def result(self, future: Any) -> bytes:
        """What a future that is done gave; `WorkerLost` where its worker ended, `ClusterLost` where all is gone."""

    def has_workers(self) -> bool:
        """Whether there is anybody to go on."""

    def cancel(self, futures: list[Any]) -> None:
        """Take these back."""


@dataclass
class _Parcel:
    number: int
    content: bytes
    lost: int = 0
    """How many workers were lost while they had it."""


class Workers:
    """Grades parcels, by a pool or in this process.

    `address` is that of the workers' fork server, or "" when each has its own. `shared` is a folder that they have in
    common, or "".
    """

    def __init__(
        self,
        address: str,
        pool: Pool | None = None,
        count: int = 1,
        grade_one: Callable[[bytes], bytes] | None = None,
        shared: str = "",
    ) -> None:
        self.address, self.pool, self.count, self.shared = address, pool, count, shared
        self.grade_one = grade_one or grade_parcel
        self._under_way: dict[int, tuple[Any, _Parcel]] = {}

    def grade(self, parcels: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """(number of the parcel, result) as they get ready.

        When a worker is lost, nobody knows which of its parcels was the reason. They are tried again at the end, one
        at a time: the one whose worker is lost again is ungraded, and it alone.

        Raises
        ------
        ClusterLost
            When there is no scheduler or no worker any more.
        """
        if self.pool is None:
            for number, content in enumerate(parcels):
                yield number, self.grade_one(content)
            return
        lost: list[_Parcel] = []
        numbered = itertools.starmap(_Parcel, enumerate(parcels))
        for parcel, result in self._results(self.pool, numbered, AHEAD * self.count):
            if result is None:
                lost.append(parcel)
            else:
                yield parcel.number, result
        for parcel, result in self._results(self.pool, iter(lost), 1):
            yield parcel.number, result or ungraded(_why_lost(parcel.lost))

    def _results(self, pool: Pool, waiting: Iterator[_Parcel], at_once: int) -> Iterator[tuple[_Parcel, bytes | None]]:
        """Each parcel with its result, or with None when it was on a worker that was lost."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def hand_out() -> None:
            for parcel in itertools.islice(waiting, 1):
                future = pool.submit(self.grade_one, parcel.content)
                self._under_way[id(future)] = future, parcel
                future.add_done_callback(done.put)

        for _ in range(at_once):
            hand_out()
        while self._under_way:
            future = self._next_done(pool, done)
            _, parcel = self._under_way.pop(id(future))
            result = self._result(pool, future, parcel)
            hand_out()
            yield parcel, result

    def _result(self, pool: Pool, future: Any, parcel: _Parcel) -> bytes | None:
        try:
            return pool.result(future)
        except WorkerLost as error:
            parcel.lost += error.times
            return None
        except ClusterLost:
            raise
        except Exception as error:  # it could not even be begun: something is wrong with this worker
            return ungraded(in_brief(error))

    def _next_done(self, pool: Pool, done: queue.SimpleQueue[Any]) -> Any:
        """The next future that is done."""
        since = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                return done.get(timeout=CHECK_INTERVAL)
            with contextlib.suppress(Exception):  # a scheduler that is gone: the futures will say so
                if pool.has_workers():
                    since = time.monotonic()
            if time.monotonic() - since > NO_WORKER_LIMIT:
                raise ClusterLost(GONE.format("No worker is left."))

    def stop(self) -> None:
        """Take back what is under way."""
        if self.pool:
            self.pool.cancel([future for future, _ in self._under_way.values()])


GONE = f"{{}} {GOES_ON}"


def _why_lost(times: int) -> str:
    return f"The worker that graded it was lost {times} times, the last time while it had nothing else to do."
