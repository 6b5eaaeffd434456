"""How long an answer may take: a limit on computing, and a wider one on waiting."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

TIME_LIMIT = 10.0
"""Seconds of computing that an answer may take on one case. A busy machine makes them longer, never more."""

WAITING_LIMIT = 25.0
"""Seconds after which an answer that hardly computes (it sleeps, it waits for something) is given up."""

HARDLY = 0.01
"""The part of the time gone by that an answer computes at least if it waits for nothing but a busy processor."""

LONGEST = 10
"""After so many times the waiting limit any answer is given up."""


class TooSlow(BaseException):
    """The answer did not return in time. Not an `Exception`, so that ``except Exception`` lets it pass."""


@contextlib.contextmanager
def time_limit(computing: float, waiting: float = WAITING_LIMIT) -> Iterator[None]:
    """Raise `TooSlow` in the main thread after so many seconds of computing, or of waiting while it hardly computes.

    Outside of the main thread, and on systems without timers, there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    computed, began = time.thread_time(), time.monotonic()

    def ring(*_: object) -> None:
        used, passed = time.thread_time() - computed, time.monotonic() - began
        if used >= computing:
            raise TooSlow(f"over {computing:.0f} s of computing")
        if passed >= waiting and (used < HARDLY * passed or passed >= LONGEST * waiting):
            raise TooSlow(f"over {passed:.0f} s")

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(computing, waiting), 0.5)  # again and again, for code that swallows one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
