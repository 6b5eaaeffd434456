"""The warm parent: imports what notebooks import, once, and makes a kernel of a copy of itself for each request.

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
from typing import Any

from . import kernel, linux, places, supervisor

OWN_IN_EACH = ("matplotlib_inline", "anatomy.reference", "__main__", "__mp_main__")
"""Modules that must be loaded in each kernel: they look at the shell they are loaded in, or hold answers."""
REHEARSAL = """
import math, random, collections, itertools, json, copy, time, functools, typing, dataclasses
import numpy, torch, transformers
from torch import Tensor, nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel
from anatomy.checking import check
figure, axes = plt.subplots()
axes.plot([1, 2, 3], label="a line"); axes.set_title("time flies"); axes.legend(); axes.imshow([[1, 2], [3, 4]])
plt.show()
assert torch.allclose(nn.Linear(2, 2)(torch.zeros(1, 2)).softmax(-1).sum(), torch.tensor(1.0))
1 / 0
"""
seen = ""
"""The folder from which `anatomy` is imported."""


def main() -> None:
    global seen
    settings: dict[str, Any] = json.loads(sys.argv[1])
    if settings["become"]:
        uid, gid = settings["become"]
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    linux.no_new_privileges()
    seen = settings["course"]
    sys.path.insert(0, seen)
    outside = os.getuid(), os.getgid()
    if os.path.isdir(places.FONTS):
        shutil.copytree(places.FONTS, f"{os.environ['HOME']}/.cache/matplotlib", dirs_exist_ok=True)
    warm(settings["modules"])
    for step in (rehearse, stretch):
        try:
            step()
        except Exception as error:  # costs time later, nothing else
            print(f"{step.__name__} failed: {error}", file=sys.stderr)
    linux.dumpable(False)
    if len(os.listdir("/proc/self/task")) > 1:
        sys.exit("An imported library started a thread: this process can't be copied safely.")
    if settings["isolated"]:
        _try_namespaces()
    door, life, status = (settings[name] for name in ("door", "life", "status"))
    os.write(status, b"ready")
    os.close(status)
    gc.disable()  # a kernel enables it when it is ready
    gc.collect()
    gc.freeze()  # so that a copy doesn't touch, and thereby copy, every object's memory
    _serve(socket.socket(fileno=door), life, settings, outside)


def warm(modules: list[str]) -> None:
    """Import these modules."""
    import torch

    sys.modules["debugpy"] = None  # type: ignore[assignment]  # nobody debugs these kernels; it is large
    torch.set_num_threads(1)
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"{name} is not warm: {error}", file=sys.stderr)


def rehearse() -> None:
    """Import whatever else a notebook turns out to need, which a copy of this process finds out."""
    listen, report = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.close(listen)
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/work")
                before = set(sys.modules)
                request = {
                    "home": folder, "scratch": folder, "sockets": folder, "course": seen, "env": {}, "arguments": [],
                    "connection": {"key": "rehearsal", "signature_scheme": "hmac-sha256"},
                }  # fmt: skip
                kernel._settle(request)
                kernel._application(request).shell.run_cell(REHEARSAL, silent=True)
                loaded = [name for name in sys.modules if name not in before]
            os.write(report, "\n".join(loaded).encode()[:60000])
        finally:
            os._exit(0)
    os.close(report)
    with open(listen, encoding="utf-8") as pipe:
        names = pipe.read().split("\n")
    os.waitpid(pid, 0)
    warm([name for name in names if name and not name.startswith(OWN_IN_EACH)])


def stretch() -> None:
    """Do once, here, what torch and matplotlib do when they are first used, so that no kernel has to."""
    import torch
    from matplotlib.backends.registry import backend_registry

    from anatomy import exercises
    from anatomy.observing.observe import observe
    from anatomy.observing.records import encode

    backend_registry.is_valid_backend(kernel.INLINE)
    encode(observe(exercises.find("softmax"), torch.softmax))


def _try_namespaces() -> None:
    """Fail now, with a reason, if kernels can't be kept apart here."""
    if (pid := linux.fork_into(linux.ALONE)) == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _serve(door: socket.socket, life: int, settings: dict[str, Any], outside: tuple[int, int]) -> None:
    """A kernel for each connection, until the other end of `life` is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever ends is forgotten
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    poll = select.poll()
    poll.register(door, select.POLLIN)
    poll.register(life, select.POLLIN)
    while True:
        events = dict(poll.poll())
        if life in events:
            return
        connection, _ = door.accept()
        try:
            pid = linux.fork_into(linux.ALONE) if settings["isolated"] else os.fork()
        except OSError as error:
            connection.sendall(json.dumps({"failed": str(error)}).encode() + b"\n")
            connection.close()
            continue
        if pid == 0:
            door.close()
            os.close(life)
            supervisor.run(connection, settings, outside)
        connection.close()
