"""The fork server: imports what notebooks import, once, and makes a kernel of a copy of itself for each request.

It has one thread, parses nothing that comes over a connection, and knows nothing of what is graded: a new process
reads the request.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterable
from typing import Any, NoReturn

from . import kernel, linux, paths, supervisor

KERNELS_FIRST = 2
"""Kernels that are made before what comes later is imported: a single submission does not wait for it."""
NEVER_PRELOADED = ("matplotlib_inline", "__main__", "__mp_main__")
"""Modules that look at the shell they are loaded in, so that each kernel must load its own."""


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.argv[1])
    if settings["run_as"]:
        uid, gid = settings["run_as"]
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    linux.no_new_privileges()
    gc.disable()  # it would go through all that is imported again and again; a kernel enables it when it is ready
    if settings["course"]:
        kernel.put_course_on_path(settings["course"])
    outside = os.getuid(), os.getgid()
    if os.path.isdir(paths.FONTS):
        shutil.copytree(paths.FONTS, f"{os.environ['HOME']}/.cache/matplotlib", dirs_exist_ok=True)
    import_all(settings["modules"])
    try:
        exec(settings["warm_up"], {"__name__": "warm_up"})  # what libraries do when they are first used
    except Exception as error:  # costs time later, nothing else
        print(f"The warm-up failed: {error}", file=sys.stderr)
    linux.dumpable(False)
    _check_threads()
    if settings["isolated"]:
        _try_namespaces()
    listening, keep_alive, status = (settings[name] for name in ("listening", "keep_alive", "status"))
    os.write(status, b"ready")
    os.close(status)
    _freeze()
    _serve(socket.socket(fileno=listening), keep_alive, settings, outside)


def import_all(modules: Iterable[str]) -> None:
    """Import these modules, as far as they can be; then let torch, if it is one of them, use one thread."""
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # nobody debugs these kernels; it is large
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"{name} is not preloaded: {error}", file=sys.stderr)
        if name == "torch" and name in sys.modules:
            sys.modules[name].set_num_threads(1)


def _check_threads() -> None:
    if len(os.listdir("/proc/self/task")) > 1:
        sys.exit("An imported library started a thread: this process can't be copied safely.")


def _freeze() -> None:
    """Keep copies from touching, and thereby copying, every object's memory."""
    kernel.remember_modules()
    gc.freeze()  # garbage, too: looking for it takes longer than it is worth


def try_sample_cell(settings: dict[str, Any]) -> int:
    """Have a copy of this process, a kernel, find out what else a notebook needs. Modules' names come by this pipe."""
    listen, report = os.pipe()
    if os.fork() == 0:
        try:
            os.close(listen)
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/work")
                before = set(sys.modules)
                request = {
                    "home": folder, "scratch": folder, "sockets": folder, "course": settings["course"], "env": {},
                    "home_variables": settings["home_variables"], "arguments": [],
                    "connection": {"key": "sample cell", "signature_scheme": "hmac-sha256"},
                }  # fmt: skip
                kernel.set_up_process(request)
                kernel.application(request).shell.run_cell(settings["sample_cell"], silent=True)
                loaded = [name for name in sys.modules if name not in before]
            os.write(report, "\n".join(loaded).encode()[:60000])
        finally:
            os._exit(0)
    os.close(report)
    return listen


def import_later(names: Iterable[str]) -> None:
    """Import these modules while there are kernels already, for those to come."""
    import_all(names)
    _check_threads()
    _freeze()


def _try_namespaces() -> None:
    """Fail now, with a reason, if kernels can't be kept apart here."""
    if (pid := linux.fork_into(linux.ALONE)) == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _serve(listening: socket.socket, keep_alive: int, settings: dict[str, Any], outside: tuple[int, int]) -> NoReturn:
    """A kernel for each connection, until the other end of `keep_alive` is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes supervisors that have ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    poll = select.poll()
    poll.register(listening, select.POLLIN)
    poll.register(keep_alive, select.POLLIN)
    told, tell = os.pipe()
    poll.register(told, select.POLLIN)
    made, asked, later, sample = 0, 0, list(settings["later_modules"]), -1
    excluded = (*NEVER_PRELOADED, *settings["not_preloaded"])
    while True:
        events = dict(poll.poll(0 if later and asked >= KERNELS_FIRST else None))
        if keep_alive in events:
            os._exit(0)  # what an interpreter does at its end takes longer, the more was imported
        if told in events:
            asked += len(os.read(told, 64))
        if sample in events:
            poll.unregister(sample)
            with open(sample, encoding="utf-8") as pipe:
                import_later([name for name in pipe.read().split("\n") if name and not name.startswith(excluded)])
        if not events:
            import_later([later.pop(0)])
        if listening.fileno() not in events:
            continue
        connection, _ = listening.accept()
        try:
            pid = linux.fork_into(linux.ALONE) if settings["isolated"] else os.fork()
        except OSError as error:
            connection.sendall(json.dumps({"failed": str(error)}).encode() + b"\n")
            connection.close()
            continue
        if pid == 0:
            listening.close()
            os.close(keep_alive)
            os.close(told)
            supervisor.run(connection, settings, outside, tell)
        connection.close()
        made += 1
        if made == KERNELS_FIRST and settings["sample_cell"]:
            sample = try_sample_cell(settings)
            poll.register(sample, select.POLLIN)
