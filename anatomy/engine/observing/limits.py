"""How long an answer may take: a limit on computing, and a wider one on waiting."""

from __future__ import annotations

import contextlib
import signal
import sys
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

LOOK = 0.5
"""Seconds from one look at the time to the next."""


class TooSlow(BaseException):
    """The answer did not return in time. Not an `Exception`, so that ``except Exception`` lets it pass."""


@contextlib.contextmanager
def time_limit(computing: float, waiting: float = WAITING_LIMIT) -> Iterator[None]:
    """Raise `TooSlow` in the main thread after so many seconds of computing, or of waiting while it hardly computes.

    Computing does not count while libraries are loaded: that takes its time, but only once. Outside of the main thread,
    and on systems without timers, there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    began, started = time.monotonic(), time.thread_time()
    last, loaded, counted = started, len(sys.modules), 0.0

    def ring(*_: object) -> None:
        nonlocal last, loaded, counted
        now, passed = time.thread_time(), time.monotonic() - began
        if len(sys.modules) == loaded:
            counted += now - last
        last, loaded, used = now, len(sys.modules), now - started
        if counted >= computing:
            raise TooSlow(f"over {computing:.0f} s of computing")
        if passed >= waiting and (used < HARDLY * passed or passed >= LONGEST * waiting):
            raise TooSlow(f"over {passed:.0f} s")

    previous = signal.signal(signal.SIGALRM, ring)
    # again and again, for code that swallows one
    signal.setitimer(signal.ITIMER_REAL, min(LOOK, computing, waiting), LOOK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
