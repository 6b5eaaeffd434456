"""The sandbox that kernels run in: bubblewrap, with nothing in it that isn't named here.

The file system inside is built from a short list: the system's programs and libraries, this Python with its packages,
and copies of `anatomy` without the answers. Whatever is not on the list, such as the course's folders, the gradebook
and people's homes, does not exist there. What a kernel must keep to itself is settled by `anatomy.grading.warm`.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anatomy
from anatomy.errors import UserError
from anatomy.grading.warm.inside import places

BUBBLEWRAP, NONE = "bubblewrap", "none"
KINDS = (BUBBLEWRAP, NONE)
VARIABLE = "ANATOMY_SANDBOX"
"""The environment variable that names the kind of sandbox, for processes that `anatomy grade` starts."""

ALLOWED = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE",
           "TOKENIZERS_PARALLELISM", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED",
           "ANATOMY_CHECKPOINT", "ANATOMY_GRADING_SEED")  # fmt: skip
"""The environment variables that a kernel gets as the grader has them."""
FIXED = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": places.HOME, "USER": places.USER, "LOGNAME": places.USER,
         "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "MALLOC_ARENA_MAX": "2",
         "PYDEVD_DISABLE_FILE_VALIDATION": "1"}  # fmt: skip
"""Those that all kernels have."""
DEFAULTS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANG": "C.UTF-8",
            "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}  # fmt: skip

NOBODY = (65534, 65534)
"""Whom the parent becomes when root grades: root's processes would know no limit on their number."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "timezone",
             "mime.types", "magic", "os-release", "protocols", "services")  # fmt: skip


class NoSandbox(UserError):
    """The sandbox can't be had here. The message says why, and what to do."""


@dataclass(frozen=True)
class Limits:
    """What one kernel may use. Bytes, unless it says otherwise."""

    memory: int = 2 << 30
    processes: int = 96
    disk: int = 256 << 20
    file: int = 128 << 20
    open_files: int = 512
    cpu_seconds: int = 1800

    def as_dict(self) -> dict[str, int]:
        return dict(vars(self))


def kind(wanted: str | None = None) -> str:
    """The kind of sandbox to use: what is asked for, else what ANATOMY_SANDBOX says, else bubblewrap.

    Raises
    ------
    NoSandbox
        When there is no such kind, or when it is not installed.
    """
    chosen = wanted or os.environ.get(VARIABLE) or BUBBLEWRAP
    if chosen not in KINDS:
        raise NoSandbox(f"There is no sandbox called {chosen!r}. Choose one of: {', '.join(KINDS)}.")
    if chosen == BUBBLEWRAP and not program():
        raise NoSandbox(
            "Submissions are other people's programs, and the sandbox they run in, bubblewrap, is not installed. "
            "On Debian and Ubuntu: sudo apt-get install bubblewrap. Where this whole machine or container is the "
            "sandbox, holding nothing that students must not see: --sandbox none."
        )
    return chosen


def program() -> str | None:
    return shutil.which("bwrap")


def refused(said: str) -> NoSandbox:
    """What to tell when bubblewrap or the kernel of the system did not build the sandbox, and said this."""
    return NoSandbox(
        f"The sandbox could not be built: {said.strip() or 'no reason was given'}\n"
        "Bubblewrap needs user namespaces, which some systems and most containers forbid (on Debian and Ubuntu look "
        "at kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns). Where this whole "
        "machine or container is the sandbox, holding nothing that students must not see: --sandbox none."
    )


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """A kernel's environment: what is allowed of `given`, and what all kernels have."""
    return {**DEFAULTS, **{name: given[name] for name in ALLOWED if name in given}, **FIXED}


def wrapped(
    command: list[str],
    *,
    program_folder: Path,
    sockets: Path,
    visible: Mapping[str, Path],
    first_seen: str,
    users: Path,
    hidden: Iterable[Path] = (),
    readable: Iterable[Path] = (),
) -> list[str]:
    """`command`, to be run in bubblewrap.

    Parameters
    ----------
    program_folder
        The package `inside`, which the parent runs from.
    sockets
        The one folder that is shared with the outside, for the kernels' sockets.
    visible, first_seen
        Copies of the package by notebook, and which of them is in place before a kernel chooses.
    users
        A folder with the files ``passwd`` and ``group``.
    hidden
        Covered, should they lie within something that is shown.
    readable
        Shown besides.
    """
    root = os.geteuid() == 0
    seen = shown(readable)
    line = [program() or "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
            "--unshare-cgroup-try", "--new-session", "--die-with-parent", "--hostname", "anatomy", "--clearenv",
            "--cap-drop", "ALL"]  # fmt: skip
    if root:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user", "--uid", str(places.UID), "--gid", str(places.UID)]
    for name, value in environment({}).items():
        line += ["--setenv", name, value]
    for place in map(Path, _SYSTEM):
        if place.is_symlink():
            line += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            line += ["--ro-bind", str(place), str(place)]
    inside = [
        f"{places.PROGRAM}/{program_folder.name}",
        places.COURSE,
        *(f"{places.VISIBLE}/{name}" for name in visible),
    ]
    line += _folders([*seen, *map(Path, inside), Path(places.SOCKET, "x"), Path(places.HOME, "x"), Path("/etc/x")])
    for name in _SETTINGS:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group"):
        line += ["--ro-bind", str(users / name), f"/etc/{name}"]
    line += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
             "--perms", "1777", "--tmpfs", places.HOME, "--ro-bind-try", str(_font_list()), places.FONTS]  # fmt: skip
    for path in seen:
        line += [*_folders([path] if path.is_relative_to("/tmp") else []), "--ro-bind", str(path), str(path)]
    package = Path(str(anatomy.__file__)).parent
    for path in sorted({package, *hidden}):
        if any(path.is_relative_to(place) for place in [*seen, Path("/usr")]) and path.exists():
            line += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", os.devnull, str(path)]
    line += ["--ro-bind", str(program_folder), f"{places.PROGRAM}/{program_folder.name}"]
    line += ["--ro-bind", str(visible[first_seen]), places.COURSE]
    for name, copy in visible.items():
        line += ["--ro-bind", str(copy), f"{places.VISIBLE}/{name}"]
    line += ["--bind", str(sockets), places.SOCKETS]
    return [*line, "--remount-ro", "/", "--chdir", "/", "--", *command]


def shown(readable: Iterable[Path] = ()) -> list[Path]:
    """Folders outside the system's own that kernels see: this Python's, and those named besides."""
    return [*_python(), *map(Path, readable)]


def _folders(paths: Iterable[Path]) -> list[str]:
    """The folders above these, for everyone to walk through."""
    above = {parent for path in paths for parent in path.parents if parent != Path("/")}
    return [word for path in sorted(above) for word in ("--perms", "0755", "--dir", str(path))]


def _font_list() -> Path:
    """Where matplotlib remembers which fonts there are; looking for them takes seconds."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "matplotlib")


def _python() -> list[Path]:
    """What this Python needs: the folders it is installed in, outermost first, without those of the system."""
    home = Path(sys.executable).resolve().parent.parent
    packages = [Path(path) for path in site.getsitepackages()]
    wanted = {Path(sys.prefix), Path(sys.base_prefix), home, *packages}
    found: list[Path] = []
    for path in sorted(wanted, key=lambda path: len(path.parts)):
        within = any(path.is_relative_to(place) for place in [Path("/usr"), *found])
        if path.is_dir() and path != Path("/") and not within:
            found.append(path)
    return found
