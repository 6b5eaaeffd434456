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
"""Kernels that may need the later modules and are made before these are imported: a single submission does not wait
for them."""
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
    for prepare in (import_what_the_sample_cell_imports, warm_up):
        try:
            prepare(settings)
        except Exception as error:  # costs time later, nothing else
            print(f"{prepare.__name__} failed: {error}", file=sys.stderr)
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
    gc.collect()
    gc.freeze()


def import_what_the_sample_cell_imports(settings: dict[str, Any]) -> None:
    """Import whatever else a notebook turns out to need. A copy of this process, a kernel, finds it out."""
    listen, report = os.pipe()
    if (pid := os.fork()) == 0:
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
    with open(listen, encoding="utf-8") as pipe:
        names = pipe.read().split("\n")
    os.waitpid(pid, 0)
    excluded = (*NEVER_PRELOADED, *settings["not_preloaded"])
    import_all([name for name in names if name and not name.startswith(excluded)])


def warm_up(settings: dict[str, Any]) -> None:
    """Do once, here, what libraries do when they are first used, so that no kernel has to."""
    exec(settings["warm_up"], {"__name__": "warm_up"})


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
    asked, later = 0, list(settings["later_modules"])
    while True:
        events = dict(poll.poll(0 if later and asked >= KERNELS_FIRST else None))
        if keep_alive in events:
            os._exit(0)  # what an interpreter does at its end takes longer, the more was imported
        if told in events:
            asked += len(os.read(told, 64))
        if not events:
            import_all([later.pop(0)])
            _check_threads()
            _freeze()
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
