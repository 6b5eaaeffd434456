"""One kernel's supervisor: isolates it, starts it, passes signals on, and cleans up after it.

It talks with the kernel's manager over one connection: a request (length, JSON, files), then a line of JSON for each
thing that happens. When the connection ends, so does everything that the kernel started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import tempfile
import traceback
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from . import kernel, linux, paths

LOOK = 0.25
"""Seconds between two looks at what a kernel takes."""


def run(connection: socket.socket, settings: dict[str, Any], outside: tuple[int, int], tell: int) -> NoReturn:
    """Serve one connection; the process ends with it. A byte in the pipe `tell` asks the server for later modules."""
    code = 1
    try:
        linux.die_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        code = _serve(connection, settings, outside, tell)
    except BaseException:
        _send(connection, failed=traceback.format_exc(limit=-3))
    finally:
        os._exit(code)


def _serve(connection: socket.socket, settings: dict[str, Any], outside: tuple[int, int], tell: int) -> int:
    isolated = settings["isolated"]
    if isolated:
        linux.map_user(paths.UID, outside)
    else:
        linux.adopt_orphans()
        os.setsid()
    request, files = _request(connection)
    if request["later"]:
        os.write(tell, b"+")
    os.close(tell)
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    if isolated:
        _isolate(request, settings["shown"])
        home, sockets = Path(paths.HOME), paths.SOCKET
    else:
        home, sockets = Path(tempfile.mkdtemp(prefix="forked-kernel-")), f"{settings['sockets']}/{request['sockets']}"
    request |= {"home": str(home), "sockets": sockets, "scratch": "/tmp" if isolated else f"{home}/tmp"}
    request["home_variables"] = settings["home_variables"]
    request["course"] = ""
    if request["copy"]:
        request["course"] = paths.COURSE_FOLDER if isolated else f"{settings['copies']}/{request['copy']}"
    _unpack(files, home / "work")
    Path(request["scratch"]).mkdir(exist_ok=True)
    listen, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        for fd in (connection.fileno(), listen):
            os.close(fd)
        kernel.run(request, report, isolated)
    os.close(report)
    os.fchdir(proc)  # the whole table of processes; the kernel is about to cover it
    try:
        status, why = _supervise(connection, listen, pid, int(request["limits"]["memory"]), isolated)
        _end_all_processes(isolated)
    finally:
        if not isolated:
            shutil.rmtree(home, ignore_errors=True)
    _send(connection, exit=status, why=why, computed=_computing_time())
    return 0


# ---------------------------------------------------------------------------------------------- the connection


def receive(connection: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise EOFError("The connection ended.")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _request(connection: socket.socket) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
    (length,) = struct.unpack("<I", receive(connection, 4))
    request = json.loads(receive(connection, length))
    return request, [(name, receive(connection, size)) for name, size in request.pop("files")]


def _unpack(files: list[tuple[str, bytes]], folder: Path) -> None:
    folder.mkdir()
    for name, content in files:
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            continue
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        (folder / inside).write_bytes(content)


def _send(connection: socket.socket, **message: Any) -> None:
    try:
        connection.setblocking(True)
        connection.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        pass  # nobody listens any more


# ---------------------------------------------------------------------------------------------- isolation


def _isolate(request: dict[str, Any], shown: list[str]) -> None:
    """Cover what the other kernels have, and give this one what it may write to."""
    linux.private_mounts()
    linux.own_terminals(paths.TERMINALS)
    for device in paths.DEVICES:
        if os.path.exists(device):
            linux.bind_read_only(device)  # its times, which others see, stay as they are
    for place in paths.PRIVATE:
        _cover(place, request["limits"]["disk"], 0o1777 if place != paths.HOME else 0o700, shown)
    linux.bind(f"{paths.SOCKETS}/{request['sockets']}", paths.SOCKET)
    if request["copy"]:
        linux.bind(f"{paths.COPIES}/{request['copy']}", paths.COURSE_FOLDER)
    for place in (paths.SOCKETS, paths.COPIES, paths.PROGRAM, paths.FONTS):
        if os.path.isdir(place):
            linux.hide(place)


def _cover(place: str, size: int, mode: int, shown: list[str]) -> None:
    """An empty disk over a place. Folders in it that are shown, such as a Python that lives in /tmp, come back."""
    kept = {path: Path(paths.HOME, f"kept-{number}") for number, path in enumerate(shown) if _within(path, place)}
    for path, stage in kept.items():
        stage.mkdir()
        linux.mount(path, str(stage), flags=linux.BIND | linux.RECURSIVE)
    linux.memory_disk(place, size, mode)
    for path, stage in kept.items():
        Path(path).mkdir(parents=True)
        linux.mount(str(stage), path, flags=linux.MOVE)
        stage.rmdir()


def _within(path: str, place: str) -> bool:
    return PurePosixPath(path).is_relative_to(place)


# ---------------------------------------------------------------------------------------------- while it runs


def _supervise(connection: socket.socket, listen: int, pid: int, allowance: int, isolated: bool) -> tuple[int, str]:
    """Pass signals on until the kernel ends or nobody wants it any more. Its exit code, and why it was ended."""
    ended, me = os.pidfd_open(pid), int(os.readlink("self"))
    (as_seen_here,) = linux.children(me)
    baseline = linux.own_memory(me)
    waiting = _Waiting(as_seen_here)
    poll = select.poll()
    for fd in (connection.fileno(), listen, ended):
        poll.register(fd, select.POLLIN)
    report, pending, ready = b"", b"", False
    while True:
        events = dict(poll.poll(LOOK * 1000))
        if listen in events:
            part = os.read(listen, 1 << 16)
            report += part
            if not part:
                poll.unregister(listen)
                ready = report == b"ready"
                if ready and isolated:
                    linux.bind_read_only(paths.SOCKET)  # sockets stay usable; a place to leave data it is not
                _send(connection, **({"ready": True} if ready else {"failed": report.decode("utf-8", "replace")}))
        if connection.fileno() in events:
            part = connection.recv(4096)
            if not part:
                return -signal.SIGKILL, "nobody was connected any more"
            *lines, pending = (pending + part).split(b"\n")
            for line in lines:
                if line == b"kill":
                    return -signal.SIGKILL, ""
                if line == b"waited":
                    waiting.look(linux.children(me))
                    _send(connection, waited=waiting.seconds)
                else:
                    _signal(pid, int(line))
        if ended in events:
            _, status = os.waitpid(pid, 0)
            return os.waitstatus_to_exitcode(status), ""
        if not events and ready:
            family = linux.children(me)
            waiting.look(family)
            if sum(max(0, linux.own_memory(one) - baseline) for one in family) > allowance:
                return -signal.SIGKILL, "memory"


class _Waiting:
    """Seconds that a kernel was ready to compute while others had the processors: not its own threads and processes.

    Whether something of its own wants a processor is looked at a few times a second. What it took in between can't be
    added up: nobody can say what processes have computed that ended without being waited for.
    """

    def __init__(self, kernel: int) -> None:
        self.kernel, self.seconds = kernel, 0.0
        self._seen = linux.waited(kernel)

    def look(self, family: list[int]) -> None:
        now = linux.waited(self.kernel)
        if not linux.wants_processor(family, besides=self.kernel):
            self.seconds += now - self._seen
        self._seen = now


def _signal(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _end_all_processes(isolated: bool) -> None:
    """End the kernel and everything it started."""
    if isolated:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # all in this namespace; number 1 is spared
    else:
        while family := linux.children(os.getpid()):
            for one in family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
            if not _reap():
                break
    while _reap():
        pass


def _computing_time() -> float:
    """Seconds that this process and those that it has seen end have computed."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _reap() -> bool:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        return False
    return True
