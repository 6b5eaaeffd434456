"""Talk with the course's kernels from tests, one line at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import psutil

from anatomy.classroom.forked_kernels import get_fork_server
from anatomy.classroom.grading.course_kernels import KERNELS, CourseKernelManager

LOOP = asyncio.new_event_loop()


def do(awaitable, timeout=180):
    return LOOP.run_until_complete(asyncio.wait_for(awaitable, timeout))


class Session:
    """One kernel and a client."""

    def __init__(self, slug="03-softmax", cwd=None, env=None, manager=CourseKernelManager, **settings):
        self.manager = manager(**settings)
        environment = {**os.environ, "ANATOMY_NOTEBOOK": slug, **(env or {})}
        do(self.manager.start_kernel(env=environment, cwd=str(cwd or "/nowhere")))
        self.connect()

    def connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        do(self.client.wait_for_ready(120))

    def run(self, code, interrupt_after=None, timeout=120):
        """What a cell said: its `text`, `data` (MIME bundles), and the `error`'s name and value."""
        seen = SimpleNamespace(text="", data=[], error=None)

        def hear(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                seen.text += content["text"]
            elif kind in ("display_data", "execute_result"):
                seen.data.append(content["data"])
            elif kind == "error":
                seen.error = (content["ename"], content["evalue"])

        async def both():
            cell = asyncio.ensure_future(self.client.execute_interactive(code, output_hook=hear, timeout=timeout))
            if interrupt_after is not None:
                await asyncio.sleep(interrupt_after)
                await self.manager.interrupt_kernel()
            await cell

        do(both(), timeout + 10)
        return seen

    def value(self, expression):
        """The value of an expression of plain Python data."""
        import ast

        seen = self.run(f"print(repr({expression}))")
        assert seen.error is None, seen.error
        return ast.literal_eval(seen.text)

    def send(self, code):
        """Run, without waiting for the end."""
        self.client.execute(code)

    @property
    def is_alive(self):
        return do(self.manager.is_alive())

    def until_dead(self, seconds=300):
        until = time.monotonic() + seconds
        while self.is_alive:
            assert time.monotonic() < until, "The kernel is still alive."
            time.sleep(0.05)

    def stop(self):
        self.client.stop_channels()
        if self.manager.has_kernel:
            do(self.manager.shutdown_kernel(now=True))


@contextlib.contextmanager
def session(*args, **kwargs) -> Iterator[Session]:
    it = Session(*args, **kwargs)
    try:
        yield it
    finally:
        it.stop()


def family(pid=None):
    """All processes of a fork server, bubblewrap's own included."""
    pid = pid or get_fork_server(KERNELS).process.pid
    return [one for one in psutil.Process(pid).children(recursive=True) if one.is_running()]


def kernels():
    """The supervisors, the kernels, and what they started."""
    (inner,) = psutil.Process(get_fork_server(KERNELS).process.pid).children()
    (server,) = inner.children()
    return server.children(recursive=True)


def settled():
    """How many kernels and so on there are, once those that are ending have ended."""
    count = -1
    while count != (count := len(kernels())):
        time.sleep(0.4)
    return count


def soon(condition: Callable[[], bool], seconds=300):
    """Whether something comes true within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False
