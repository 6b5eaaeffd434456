"""What one of the judge's processes does: it reads requests from a pipe and writes answers to it."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anatomy.classroom.serving.judging import ExpectationsOf

COMPUTING = 30.0
"""Seconds of computing that one request may take, as in grading; the process ends then."""

MEMORY = 6 * 2**30
"""Bytes of address space that a process may take."""

PREPARE = b"prepare "
"""With the slug of a notebook: asks for some of its expectations in advance. Answered with the share that is done."""

A_WHILE = 0.1
"""Seconds that a request may have to wait for expectations that are worked out in advance."""


def serve_requests(pipe: Connection) -> None:
    """Answer requests until the other end of the pipe is closed. Each answer is a status of HTTP and JSON."""
    import resource  # not everywhere

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    _end_with_the_service()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    import torch

    from anatomy.engine.judging.expectations import remembering

    torch.set_num_threads(1)  # one process a core
    expectations_of = remembering()
    preparing = dict[str, Iterator[float]]()
    while True:
        try:
            request = pipe.recv_bytes()
        except EOFError:
            return
        if request.startswith(PREPARE):
            slug = request.removeprefix(PREPARE).decode()
            steps = preparing.setdefault(slug, _preparing(expectations_of, slug))
            pipe.send_bytes(f"{_for_a_while(steps)}".encode())
            continue
        signal.setitimer(signal.ITIMER_PROF, COMPUTING)  # nobody handles it: it ends the process
        pipe.send_bytes(_answered(request, expectations_of))
        signal.setitimer(signal.ITIMER_PROF, 0)


def _end_with_the_service() -> None:
    """End when the service does, however it ends: Linux kills this process then, even if it is stopped.

    Elsewhere a thread ends it, as soon as the computation lets it run.
    """
    import fcntl

    service = multiprocessing.parent_process()
    if service is None:
        return  # this is no process of its own
    if sys.platform == "linux":  # the other end of this pipe is closed when the service is gone
        fcntl.fcntl(service.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(service.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(service.sentinel, fcntl.F_SETFL, fcntl.fcntl(service.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
        if service.is_alive():
            return

    def watch() -> None:
        service.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _answered(request: bytes, expectations_of: ExpectationsOf) -> bytes:
    from anatomy.classroom.serving.judging import BadRequest, answer

    try:
        return b"200" + json.dumps(answer(request, expectations_of)).encode()
    except BadRequest as reason:
        return b"400" + json.dumps({"error": str(reason)}).encode()
    except Exception as error:  # whatever was sent: it costs this request only
        said = f"The check itself failed with {type(error).__name__}: tell your instructor."
        return b"500" + json.dumps({"error": said}).encode()


def _preparing(expectations_of: ExpectationsOf, slug: str) -> Iterator[float]:
    """Work out, step by step, what reference and mistakes do; yields the share that is done."""
    from anatomy.engine.exercise import SEEDS
    from anatomy.wiring import the_course

    course = the_course()
    asked = [one for one in course.exercises(course.notebook(slug)).values() if one.kind != "quiz"]
    for number, exercise in enumerate(asked):
        known = expectations_of(exercise, SEEDS)
        mistakes = exercise.mistakes.values()
        for mistake, index in itertools.product(mistakes, range(len(known.cases))):
            known.with_mistake(mistake, index)
            yield number / len(asked)
        for index in range(len(known.cases)):
            known.nudged(index)
            yield number / len(asked)


def _for_a_while(steps: Iterator[float]) -> float:
    until = time.monotonic() + A_WHILE
    for share in steps:
        if time.monotonic() > until:
            return share
    return 1.0
