"""Handing parcels out to workers, and getting every result back even if a worker is lost."""

from __future__ import annotations

import contextlib
import itertools
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from anatomy.classroom.grading.errors import GOES_ON, in_brief
from anatomy.classroom.grading.workers.parcels import ungraded
from anatomy.engine.errors import UserError

AHEAD = 3
"""Parcels for each worker that are under way at a time: more would only take memory."""
NO_WORKER_LIMIT = 60.0
"""Seconds to go on without any worker: they may just be starting again."""
CHECK_INTERVAL = 2.0
"""Seconds without a result after which it is asked whether the cluster has workers."""


def grade_parcel(parcel: bytes) -> bytes:
    """`worker.grade_parcel`: imports what grading takes where it is called, not where it is only named."""
    from anatomy.classroom.grading.workers import worker

    return worker.grade_parcel(parcel)


class ClusterLost(UserError):
    """The cluster went away in the middle of a run."""


@dataclass
class _Parcel:
    number: int
    content: bytes
    lost: int = 0
    """How many workers were lost while they had it."""


class Workers:
    """Grades parcels. `address` is that of the workers' fork server, or "" when each has its own."""

    def __init__(
        self, address: str, client: Any = None, count: int = 1, grade_one: Callable[[bytes], bytes] | None = None
    ) -> None:
        self.address, self.client, self.count = address, client, count
        self.grade_one = grade_one or grade_parcel
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
                yield number, self.grade_one(content)
            return
        lost: list[_Parcel] = []
        for parcel, result in self._results(itertools.starmap(_Parcel, enumerate(parcels)), AHEAD * self.count):
            if result is None:
                lost.append(parcel)
            else:
                yield parcel.number, result
        for parcel, result in self._results(iter(lost), 1):
            yield parcel.number, result or ungraded(_why_lost(parcel.lost))

    def _results(self, waiting: Iterator[_Parcel], at_once: int) -> Iterator[tuple[_Parcel, bytes | None]]:
        """Each parcel with its result, or with None when it was on a worker that was lost."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def hand_out() -> None:
            for parcel in itertools.islice(waiting, 1):
                future = self.client.submit(self.grade_one, parcel.content, pure=False)
                self._under_way[future.key] = future, parcel
                future.add_done_callback(done.put)

        for _ in range(at_once):
            hand_out()
        while self._under_way:
            future = self._next_done(done)
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
        except Exception as error:  # it could not even be begun: something is wrong with this worker
            return ungraded(in_brief(error))
        finally:
            future.release()
        return result

    def _next_done(self, done: queue.SimpleQueue[Any]) -> Any:
        """The next future that is done."""
        since = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                return done.get(timeout=CHECK_INTERVAL)
            with contextlib.suppress(Exception):  # a scheduler that is gone: the futures will say so
                if self.client.scheduler_info(n_workers=-1)["workers"]:
                    since = time.monotonic()
            if time.monotonic() - since > NO_WORKER_LIMIT:
                raise ClusterLost(_GONE.format("No worker is left."))

    def stop(self) -> None:
        """Take back what is under way."""
        self.client.cancel([future for future, _ in self._under_way.values()], force=True)


_GONE = f"{{}} {GOES_ON}"


def _why_lost(times: int) -> str:
    return f"The worker that graded it was lost {times} times, the last time while it had nothing else to do."
