"""A limit on the time that judging one answer may compute."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Iterator


class TookTooLong(Exception):
    """What is limited has computed for longer than it may."""


class _Timer(threading.Thread):
    """Raises `TookTooLong` in the thread that made it once that has computed for so many seconds.

    It raises it four times a second until it is stopped, because `observe`, which the judge uses, catches whatever an
    answer raises.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(name="judge's time limit", daemon=True)
        self.expired = False
        self._judge = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._judge)
        self._until = time.clock_gettime(self._clock) + seconds
        self._over = threading.Event()
        self._raising = threading.Lock()

    def run(self) -> None:
        while not self._over.wait(0.25):
            with self._raising:
                if not self._over.is_set() and time.clock_gettime(self._clock) > self._until:
                    self.expired = True
                    _raise_in(self._judge, TookTooLong)

    def stop(self) -> None:
        while True:
            try:
                with self._raising:
                    self._over.set()
                    _raise_in(self._judge, None)
                return
            except TookTooLong:
                continue  # raised on the way here


def _raise_in(thread: int, error: type[Exception] | None) -> None:
    """Raise an error in another thread when it runs Python again; None takes back what has not happened yet."""
    raised = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TookTooLong` after that many seconds of computing, at the end at the latest."""
    timer = _Timer(seconds)
    timer.start()
    try:
        with contextlib.suppress(TookTooLong):
            yield
    finally:
        timer.stop()
    if timer.expired:
        raise TookTooLong
