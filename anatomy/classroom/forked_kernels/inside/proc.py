"""The table of processes, /proc, as a kernel sees it."""

from __future__ import annotations

import os
from pathlib import Path

from . import linux

SHOWN = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version")


def own_proc() -> None:
    """Cover the table of processes by one that shows nobody but the calling process. Needs a private /tmp."""
    outer = os.readlink("/proc/self")
    stage = Path("/tmp/proc")
    stage.mkdir()
    linux.memory_disk(str(stage), 65536, 0o555)
    for name in ("self", str(os.getpid())):
        (stage / name).mkdir()
        linux.bind(f"/proc/{outer}", str(stage / name))
    for name in SHOWN:
        if os.path.exists(f"/proc/{name}"):
            (stage / name).touch()
            linux.bind(f"/proc/{name}", str(stage / name))
    linux.bind_read_only(str(stage))
    linux.mount(str(stage), "/proc", flags=linux.MOVE)
    stage.rmdir()
