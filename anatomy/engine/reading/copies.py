"""Run what may do anything in a copy of this process: it can't hurt the notebook, and ends when its time is over.

The copy is forked, so it has all that is there, for nothing. It has limits of time and memory, writes no file, starts
no program, and says what it found as JSON. Whatever ends it costs the trial that it was in: the next copy takes up the
work behind that one.

This needs `os.fork`. Where there is none, as on Windows, nothing is run. Memory is limited on Linux only. On macOS a
forked process may be unable to use the system's own libraries: a copy that ends or hangs is given up there, too.
"""

from __future__ import annotations

import builtins
import ctypes
import faulthandler
import functools
import gc
import json
import logging
import math
import mmap
import os
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

import torch
from IPython.core.getipython import get_ipython

P = ParamSpec("P")
T = TypeVar("T")

MEMORY = 512 << 20
"""Bytes that a copy may take beyond what this process has."""
HARDLY = 0.01
"""Seconds of computing that are none: a process that waits looks at the time now and then."""
IDLE = 2.0
"""Seconds after which a copy that neither computes nor gets on is given up: it waits for something."""
WAITING = 20.0
"""Seconds after which all is given up, however busy the machine is."""
MOST_COPIES = 40
MOST_BYTES = 1 << 20
"""How much a copy may say."""

_log = logging.getLogger(__name__)


def can_copy() -> bool:
    """Whether this system can copy a process."""
    return hasattr(os, "fork")


def in_a_copy(work: Callable[[], Iterator[Any]], seconds: float) -> list[Any]:
    """What `work` yields in a copy of this process, as far as it comes.

    Parameters
    ----------
    work
        Yields what JSON can hold. It is begun anew after a trial (see `trial`) has ended its copy, so it must yield the
        same again.
    seconds
        Of computing, all copies together. Work should end by itself before: where this ends it, the trial is lost.

    Returns
    -------
    list
        Empty where a process can't be copied.
    """
    told: list[Any] = []
    if not can_copy():
        return told
    logbook, until = _Logbook(), time.monotonic() + WAITING + seconds
    for _ in range(MOST_COPIES):
        lost = logbook.lost
        said, is_done = _copy(work, logbook, seconds, until)
        told += said[len(told) :]
        if is_done or logbook.lost == lost or logbook.spent >= seconds or time.monotonic() >= until:
            break
    return told


# ---------------------------------------------------------------------------------------------- trials

_OPEN, _NO, _YES, _DONE = 1, 2, 3, 4
_logbook: _Logbook | None = None
"""That of this process, if it is a copy."""


class _Logbook:
    """What came of each trial, one byte each, in memory that all copies share; and the time that they took."""

    def __init__(self) -> None:
        self.notes, self.next, self.spent = mmap.mmap(-1, 1 << 16), 0, 0.0

    @property
    def reached(self) -> int:
        """How many trials were begun."""
        return len(self.notes[:].rstrip(b"\0"))

    @property
    def lost(self) -> int:
        """How many have ended their copies."""
        return self.notes[:].count(_OPEN)


def trial(lost: T) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Makes a function one that may end its process: called again in the next copy, it returns `lost`.

    A call that was answered by yes or no is not made again. Elsewhere than in a copy the function is as it was.
    """

    def of(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def tried(*args: P.args, **kwargs: P.kwargs) -> T:
            return function(*args, **kwargs) if _logbook is None else _noted(lambda: function(*args, **kwargs), lost)

        return tried

    return of


def _noted(function: Callable[[], Any], lost: Any) -> Any:
    assert _logbook is not None
    notes, place = _logbook.notes, _logbook.next
    _logbook.next += 1
    if place >= len(notes) or notes[place] == _OPEN:
        return lost
    if notes[place] in (_NO, _YES):
        return notes[place] == _YES
    notes[place] = _OPEN
    result = function()
    notes[place] = _YES if result is True else _NO if result is False else _DONE
    return result


def spent() -> float:
    """Seconds of computing that earlier copies took for the same work."""
    return _logbook.spent if _logbook else 0.0


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """A copy ends after so many seconds of computing in here, also where Python's own signals wait for C to return."""
    if _logbook is None:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


# ---------------------------------------------------------------------------------------------- here


def _copy(work: Callable[[], Iterator[Any]], logbook: _Logbook, seconds: float, until: float) -> tuple[list[Any], bool]:
    """What one copy said, and whether it came to its end."""
    reader, writer = os.pipe()
    pid = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns of forks where there are threads
            pid = os.fork()
            if pid == 0:
                _be_the_copy(work, logbook, writer, seconds)
        os.close(writer)
        return _understood(_heard(pid, reader, logbook, until))
    except OSError:  # no more processes
        return [], True
    finally:
        os.close(reader)
        if pid:
            logbook.spent += _end(pid)
        else:
            os.close(writer)


def _heard(pid: int, reader: int, logbook: _Logbook, until: float) -> bytes:
    """What a copy writes until it ends, or must be ended."""
    heard, computed, reached, since = b"", -1.0, -1, time.monotonic()
    ears = select.poll()
    ears.register(reader)
    while len(heard) < MOST_BYTES and time.monotonic() < until:
        if ears.poll(100):
            more = os.read(reader, 1 << 16)
            heard += more
            if not more:
                break
        elif logbook.reached > reached or _computed(pid) > computed + HARDLY:
            computed, reached, since = _computed(pid), logbook.reached, time.monotonic()
        elif time.monotonic() - since > IDLE:
            break
    return heard


def _understood(heard: bytes) -> tuple[list[Any], bool]:
    said: list[Any] = []
    for line in heard.splitlines():
        try:
            match json.loads(line):
                case {"says": message}:
                    said.append(message)
                case {"failed": why}:
                    _log.info("%s", why)
                case "the end":
                    return said, True
        except (ValueError, RecursionError):
            break
    return said, False


def _computed(pid: int) -> float:
    """Seconds that another process has computed, where the system tells."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) names it
    except OSError:
        return 0.0


def _end(pid: int) -> float:
    """End a copy and all that it started; the seconds that it has computed."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        os.killpg(pid, signal.SIGKILL)
    try:
        usage = os.wait4(pid, 0)[2]
    except OSError:  # the notebook leaves its children to the system
        return 0.0
    return usage.ru_utime + usage.ru_stime


# ---------------------------------------------------------------------------------------------- in the copy


def _be_the_copy(work: Callable[[], Iterator[Any]], logbook: _Logbook, writer: int, seconds: float) -> NoReturn:
    global _logbook
    try:
        _leave_the_notebook_alone()
        _set_limits(seconds)
        _logbook = logbook
        sys.addaudithook(_refuse)
        for message in work():
            _say(writer, {"says": message})
        _say(writer, "the end")
    except BaseException:
        _say(writer, {"failed": traceback.format_exc()})
    finally:
        os._exit(0)


def _say(writer: int, what: Any) -> None:
    data = json.dumps(what).encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def _leave_the_notebook_alone() -> None:
    """Nothing that the two processes share is touched from here: no terminal, no socket, no loop of signals."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    faulthandler.disable()
    gc.freeze()
    torch.set_num_threads(1)  # before anything computes: it would wait for its pool's threads, which are not here
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    sys.stdin, sys.stdout, sys.stderr = open(os.devnull), open(os.devnull, "w"), open(os.devnull, "w")  # noqa: SIM115
    if shows := getattr(getattr(get_ipython(), "kernel", None), "iopub_thread", None):  # Jupyter's way to the browser
        shows.send_multipart = lambda *_, **__: None
    builtins.input = lambda *_: sys.stdin.readline()  # Jupyter's own asks there
    logging.disable()
    sys.dont_write_bytecode = True
    nowhere = tempfile.mkdtemp()
    os.chdir(nowhere)
    os.rmdir(nowhere)


def _set_limits(seconds: float) -> None:
    import resource

    limits = {
        resource.RLIMIT_CPU: math.ceil(seconds) + 2,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limits[resource.RLIMIT_AS] = pages * mmap.PAGESIZE + MEMORY
        with suppress(OSError):  # where memory is short, this process must go, not the notebook
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        system = ctypes.CDLL(None)
        system.prctl(1, signal.SIGKILL)  # end with the notebook
        system.prctl(4, 0)  # leave no picture of the memory
    for limit, wanted in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(limit, (value, value))


_REFUSED = frozenset({
    "os.chflags", "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.link",
    "os.mkdir", "os.posix_spawn", "os.remove", "os.removexattr", "os.rename", "os.rmdir", "os.setxattr", "os.symlink",
    "os.system", "os.truncate", "os.utime", "pty.spawn", "signal.pthread_kill", "socket.bind", "socket.connect",
    "socket.sendmsg", "socket.sendto", "subprocess.Popen",
})  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    """Python asks before it changes a file, starts a program, or talks to another one: no."""
    if event in _REFUSED or (event == "open" and isinstance(args[2], int) and args[2] & _WRITING):
        raise PermissionError(f"{event} is not allowed where programs are tried")
