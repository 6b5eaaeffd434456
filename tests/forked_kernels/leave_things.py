"""One kernel leaves things wherever it can; what does another see of them? A program: it prints JSON."""

from __future__ import annotations

import json

from tests.forked_kernels.kernel_session import session

MARK = "left by another kernel"
LEAVE = f"""
import os, stat
MARK = {MARK!r}
written = []
for place, folders, names in os.walk("/"):
    if place == "/":
        folders.remove("proc")  # it shows a kernel only itself
    try:
        with open(os.path.join(place, MARK), "w") as file:
            file.write(MARK)
        written.append(place)
    except OSError:
        pass
    for name in names:
        path = os.path.join(place, name)
        if os.path.islink(path) or not os.access(path, os.W_OK):
            continue
        if stat.S_ISREG(os.lstat(path).st_mode) and name != MARK:
            with open(path, "a") as file:
                file.write(MARK)
            written.append(path)
        try:
            os.utime(path)
            written.append(path)
        except OSError:
            pass
"""
TO_DEV = {
    "2.5 GB are left": "open('/dev/filler', 'wb').write(bytes(1 << 20))",
    "2.5 GB are left among the terminals": "open('/dev/pts/filler', 'wb').write(bytes(1 << 20))",
    "/dev/fd is replaced": "os.remove('/dev/fd'); os.symlink('/tmp', '/dev/fd')",
    "/dev/ptmx is removed": "os.remove('/dev/ptmx')",
    "/dev/null is removed": "os.remove('/dev/null')",
    "a folder is made": "os.mkdir('/dev/folder')",
    "/dev is opened for all": "os.chmod('/dev', 0o777)",
}
DEVICES = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]
TIMES = f"[(path, os.stat(path).st_mtime_ns) for path in {DEVICES!r}]"
FIND = f"""
import os
seen = [place for place, folders, names in os.walk("/") if {MARK!r} in names]
"""
SHARED = "[line for line in open('/proc/self/maps') if line.split()[1][1] == 'w' and line.split()[1][3] == 's']"


def main() -> None:
    """Print what one kernel could write and do to /dev, and what another has seen of it."""
    with session() as one, session() as other:
        other.run("import os")
        before, times = other.value("sorted(os.listdir('/dev'))"), other.value(TIMES)
        one.run("import os")
        done = [name for name, code in TO_DEV.items() if one.run(code).error is None]
        left = one.run(LEAVE)
        assert left.error is None, left.error
        other.run(FIND)
        seen = other.value("seen")
        seen += [path for (path, now), (_, then) in zip(other.value(TIMES), times, strict=True) if now != then]
        seen += [] if other.value("sorted(os.listdir('/dev'))") == before else ["/dev"]
        written, shared = one.value("written"), other.value(SHARED)
    print(json.dumps({"written": written, "done to /dev": done, "seen by another": seen, "shared memory": shared}))
