"""The sandbox that kernels run in: bubblewrap, with nothing in it that isn't named here.

The file system inside is built from a short list: the system's programs and libraries, this Python with its packages,
and the copies of a course's package that its preparation makes. Whatever is not on the list, such as the course's
folders, the gradebook and people's homes, does not exist there. `inside` keeps the kernels apart from each other.
"""

from __future__ import annotations

import os
import platform
import shutil
import site
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from anatomy.classroom.forked_kernels.inside import paths
from anatomy.classroom.forked_kernels.preparation import Preparation
from anatomy.engine.errors import UserError

BUBBLEWRAP, NO_SANDBOX = "bubblewrap", "none"
SANDBOXES = (BUBBLEWRAP, NO_SANDBOX)
SANDBOX_VARIABLE = "ANATOMY_SANDBOX"
"""The environment variable that names the sandbox, for the processes that a grader starts."""

ALLOWED = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
           "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED")  # fmt: skip
"""The environment variables that every kernel gets as the grader has them."""
FIXED = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": paths.HOME, "USER": paths.USER, "LOGNAME": paths.USER,
         "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "MALLOC_ARENA_MAX": "2",
         "PYDEVD_DISABLE_FILE_VALIDATION": "1"}  # fmt: skip
"""Those that all kernels have."""
DEFAULTS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LANG": "C.UTF-8"}

NOBODY = (65534, 65534)
"""The user and group that the server runs as when root grades. No limit on the number of processes holds for root."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "timezone",
             "mime.types", "magic", "os-release", "protocols", "services")  # fmt: skip


WITHOUT_FILTER = (
    "Without them a submission could ask the system's kernel for whatever it offers, and kernels could leave notes for "
    "each other at files that all may read."
)


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


def choose_sandbox(wanted: str | None = None) -> str:
    """The sandbox to use: what is asked for, else what ANATOMY_SANDBOX says, else bubblewrap.

    Raises
    ------
    NoSandbox
        When there is none of this name, when it is not installed, or when the system can't refuse system calls.
    """
    chosen = wanted or os.environ.get(SANDBOX_VARIABLE) or BUBBLEWRAP
    if chosen not in SANDBOXES:
        raise NoSandbox(f"There is no sandbox called {chosen!r}. Choose one of: {', '.join(SANDBOXES)}.")
    if chosen == BUBBLEWRAP and not bubblewrap():
        raise NoSandbox(
            "Submissions are other people's programs, and the sandbox they run in, bubblewrap, is not installed. "
            "On Debian and Ubuntu: sudo apt-get install bubblewrap. Where this whole machine or container is the "
            "sandbox, holding nothing that students must not see: --sandbox none."
        )
    if chosen == BUBBLEWRAP and not filters_system_calls():
        raise NoSandbox(
            f"The sandbox needs seccomp filters, which this system ({platform.machine()}) does not have, or whose "
            f"numbers are not known here. {WITHOUT_FILTER} Where this whole machine or container is the sandbox, "
            "holding nothing that students must not see: --sandbox none."
        )
    return chosen


def filters_system_calls() -> bool:
    """Whether this system can refuse system calls to a kernel. Without that there is no sandbox."""
    from anatomy.classroom.forked_kernels.inside import linux

    return linux.can_forbid_system_calls()


def bubblewrap() -> str | None:
    return shutil.which("bwrap")


def sandbox_refused(said: str) -> NoSandbox:
    """The error to raise when bubblewrap or the system's kernel did not build the sandbox, and printed this."""
    return NoSandbox(
        f"The sandbox could not be built: {said.strip() or 'no reason was given'}\n"
        "Bubblewrap needs user namespaces, which some systems and most containers forbid (on Debian and Ubuntu look "
        "at kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns). Where this whole "
        "machine or container is the sandbox, holding nothing that students must not see: --sandbox none."
    )


def kernel_environment(given: Mapping[str, str], preparation: Preparation) -> dict[str, str]:
    """A kernel's environment: what is allowed of `given`, and what all kernels have."""
    allowed = {name: given[name] for name in (*ALLOWED, *preparation.variables) if name in given}
    return {**DEFAULTS, **dict(preparation.defaults), **allowed, **FIXED}


def sandboxed(
    command: list[str],
    *,
    program_folder: Path,
    sockets: Path,
    copy: Path | None,
    users: Path,
    environment: Mapping[str, str],
    covered: Iterable[Path] = (),
    readable: Iterable[Path] = (),
) -> list[str]:
    """The command that runs `command` in bubblewrap.

    Parameters
    ----------
    program_folder
        The package `inside`, which the server runs from.
    sockets
        The one folder that is shared with the outside, for the kernels' sockets.
    copy
        The copy of the course's package that is in place until a kernel chooses. The others lie beside it, or will.
    users
        A folder with the files ``passwd`` and ``group``.
    environment
        All variables that there are inside.
    covered
        Files and folders that are covered, should they lie within something that is shown.
    readable
        Shown besides.
    """
    root = os.geteuid() == 0
    seen = shown_folders(readable)
    line = [bubblewrap() or "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
            "--unshare-cgroup-try", "--new-session", "--die-with-parent", "--hostname", "kernel", "--clearenv",
            "--cap-drop", "ALL"]  # fmt: skip
    if root:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user", "--uid", str(paths.UID), "--gid", str(paths.UID)]
    for name, value in environment.items():
        line += ["--setenv", name, value]
    for place in map(Path, _SYSTEM):
        if place.is_symlink():
            line += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            line += ["--ro-bind", str(place), str(place)]
    inside = [
        f"{paths.PROGRAM}/{program_folder.name}",
        paths.COURSE_FOLDER,
        paths.COPIES,
    ]
    line += _folders([*seen, *map(Path, inside), Path(paths.SOCKET, "x"), Path(paths.HOME, "x"), Path("/etc/x")])
    for name in _SETTINGS:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group"):
        line += ["--ro-bind", str(users / name), f"/etc/{name}"]
    line += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
             "--perms", "1777", "--tmpfs", paths.HOME, "--ro-bind-try", str(_font_list()), paths.FONTS]  # fmt: skip
    for path in seen:
        line += [*_folders([path] if path.is_relative_to("/tmp") else []), "--ro-bind", str(path), str(path)]
    for path in sorted(set(covered)):
        if any(path.is_relative_to(place) for place in [*seen, Path("/usr")]) and path.exists():
            line += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", os.devnull, str(path)]
    line += ["--ro-bind", str(program_folder), f"{paths.PROGRAM}/{program_folder.name}"]
    if copy:
        line += ["--ro-bind", str(copy), paths.COURSE_FOLDER, "--ro-bind", str(copy.parent), paths.COPIES]
    line += ["--bind", str(sockets), paths.SOCKETS]
    made = ["/", *(place for option, place in pairwise(line) if option == "--tmpfs" and place not in paths.PRIVATE)]
    line += [word for place in made for word in ("--remount-ro", place)]
    return [*line, "--chdir", "/", "--", *command]


def shown_folders(readable: Iterable[Path] = ()) -> list[Path]:
    """Folders outside the system's own that kernels see: this Python's, and those named besides."""
    return [*_python_folders(), *map(Path, readable)]


def _folders(paths: Iterable[Path]) -> list[str]:
    """The folders above these, for everyone to walk through."""
    above = {parent for path in paths for parent in path.parents if parent != Path("/")}
    return [word for path in sorted(above) for word in ("--perms", "0755", "--dir", str(path))]


def _font_list() -> Path:
    """Where matplotlib remembers which fonts there are; looking for them takes seconds."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "matplotlib")


def _python_folders() -> list[Path]:
    """What this Python needs: the folders it is installed in, outermost first, without those of the system."""
    home = Path(sys.executable).resolve().parent.parent
    packages = [Path(path) for path in site.getsitepackages()]
    wanted = {Path(sys.prefix), Path(sys.base_prefix), home, *packages}
    found: list[Path] = []
    for path in sorted(wanted, key=lambda path: len(path.parts)):
        within = any(path.is_relative_to(place) for place in [Path("/usr"), *found])
        if path != Path("/") and not within and _is_folder(path):
            found.append(path)
    return found


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError as error:
        raise NoSandbox(
            f"This Python needs {path}, and a folder above it is closed to the user who grades. Open it to be walked "
            "through (chmod o+x), grade as a user who may, or install the course where all can read, such as in /opt."
        ) from error
