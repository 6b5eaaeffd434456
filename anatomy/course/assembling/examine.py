"""Has a student's code run by `anatomy.course.assembling.runner`, with a limit on each step.

A step that hangs or ends its interpreter costs that step: the others go on in a fresh one.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from anatomy import PACKAGE
from anatomy.engine.errors import UserError

START_LIMIT = 180.0
"""Seconds that an interpreter has for its imports."""
STEP_LIMIT = 60.0
"""Seconds that one step may take."""


class NoWorker(UserError):
    """A fresh interpreter can't even import the course."""


@dataclass(frozen=True)
class Step:
    """Something to be done with student code.

    Attributes
    ----------
    job
        ``"define"``, ``"check"`` or ``"compare"``.
    prepares
        Whether later steps need it: it is done again in a fresh interpreter.
    """

    job: str
    arguments: tuple[str, ...]

    @property
    def prepares(self) -> bool:
        return self.job == "define"


def examine(
    steps: list[Step], *, limit: float = STEP_LIMIT, on_step: Callable[[Step], None] = lambda step: None
) -> dict[Step, dict[str, Any]]:
    """Step → what came of it; ``{"error": …}`` when it raised, took too long or ended its interpreter.

    `on_step` is called after each step.

    Raises
    ------
    NoWorker
        When no interpreter can be started.
    """
    replies: dict[Step, dict[str, Any]] = {}
    while left := [step for step in steps if step not in replies]:
        again = [step for step in steps if step in replies and step.prepares and "lost" not in replies[step]]
        order = sorted({*again, *left}, key=steps.index)
        with _Worker(order) as worker:
            if worker.reply(START_LIMIT) is None:
                raise NoWorker(f"A fresh Python could not import the course: {worker.last_words or 'it took too long'}")
            for step in order:
                reply = worker.reply(limit)
                first = step not in replies
                if reply is None:
                    why = "it ended Python" if worker.ended else f"it took more than {limit:.0f} seconds"
                    replies[step] = {"error": why, "lost": True}
                elif first:
                    replies[step] = reply
                if first:
                    on_step(step)
                if reply is None:
                    break
    return replies


class _Worker:
    """A fresh interpreter with these steps to do."""

    def __init__(self, steps: list[Step]) -> None:
        package = str(PACKAGE.parent)
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "anatomy.course.assembling.runner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "MPLBACKEND": "agg"},
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._words: list[str] = []
        self.ended = False
        jobs = json.dumps([{"job": step.job, "arguments": step.arguments} for step in steps])
        for task in (lambda: self._write(jobs), self._listen, self._overhear):
            threading.Thread(target=task, daemon=True).start()

    def reply(self, limit: float) -> dict[str, Any] | None:
        """The next answer; None when there is none in time, or the process has ended."""
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            return None
        if line is None:
            self.ended = True
            return None
        return dict(json.loads(line))

    @property
    def last_words(self) -> str:
        """The last line that the process wrote to its standard error."""
        return self._words[-1] if self._words else ""

    def _write(self, jobs: str) -> None:
        assert self._process.stdin is not None
        try:
            with self._process.stdin as stream:
                stream.write(jobs)
        except OSError:
            return  # it has ended, which the reader notices

    def _listen(self) -> None:
        for line in self._text(self._process.stdout):
            self._lines.put(line)
        self._lines.put(None)

    def _overhear(self) -> None:
        for line in self._text(self._process.stderr):
            self._words = [line.strip()] if line.strip() else self._words

    @staticmethod
    def _text(stream: Any) -> Iterator[str]:
        try:
            yield from stream
        except (OSError, ValueError):
            return

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
