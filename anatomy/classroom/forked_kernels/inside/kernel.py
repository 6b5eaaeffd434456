"""The kernel itself: an ordinary IPython kernel, in a process that has imported everything already."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from . import linux, proc

INLINE = "module://matplotlib_inline.backend_inline"
PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "hb_port": 4, "control_port": 5}
"""What distinguishes a kernel's sockets: the last part of their file names."""
RESERVED = 1 << 30
"""Bytes of address space beyond the memory that may be used: threads reserve, but don't use it."""
_course = ""
"""The folder on the path from which this process imports the course's package; "" when there is none."""
_imported: frozenset[str] = frozenset()
"""The names of the modules that the server had imported when it last went through them."""


def remember_modules() -> None:
    """Go through the names of all imported modules once, here, so that no kernel has to."""
    global _imported
    _imported = frozenset(sys.modules)


def run(request: dict[str, Any], report: int, isolated: bool) -> NoReturn:
    """Become a kernel. `report` is a pipe for one word, "ready", or for what went wrong."""
    try:
        app = prepare(request, report, isolated)
    except BaseException:
        os.write(report, traceback.format_exc().encode()[-4000:])
        os._exit(1)
    os.write(report, b"ready")
    os.close(report)
    code = 0
    try:
        app.start()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        code = 1
    os._exit(code)


def prepare(request: dict[str, Any], report: int, isolated: bool) -> Any:
    """Everything up to the point where messages are answered."""
    os.setsid()
    linux.die_with_parent()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _close_inherited_files(report)
    if isolated:
        proc.own_proc()
        linux.drop_capabilities()
        linux.no_new_privileges()
        linux.forbid_system_calls()
    _set_limits(request["limits"], isolated)
    set_up_process(request)
    linux.dumpable(True)
    app = application(request)
    gc.enable()
    return app


def _close_inherited_files(report: int) -> None:
    """Keep no open file of the server's, besides the pipe that is closed in a moment."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.closerange(3, report)
    os.closerange(report + 1, 65536)


def _set_limits(limits: dict[str, int], isolated: bool) -> None:
    sizes = {}
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        name, _, rest = line.partition(":")
        if name in ("VmSize", "VmData"):
            sizes[name] = int(rest.split()[0]) * 1024
    for limit, wanted in (
        (resource.RLIMIT_AS, sizes["VmSize"] + limits["memory"] + RESERVED),
        (resource.RLIMIT_DATA, sizes["VmData"] + limits["memory"] + RESERVED // 4),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        if limit == resource.RLIMIT_NPROC and not isolated:
            continue  # it would count everything that this user runs
        hard = resource.getrlimit(limit)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(limit, (value, value))


def set_up_process(request: dict[str, Any]) -> None:
    """Environment, folder, path, seeds and plots, as a fresh process would have them."""
    home = request["home"]
    os.environ.clear()
    os.environ.update(request["env"])
    os.environ.update(
        HOME=home, TMPDIR=request["scratch"], IPYTHONDIR=f"{home}/.ipython", JUPYTER_RUNTIME_DIR=f"{home}/.runtime",
        MPLCONFIGDIR=f"{home}/.matplotlib", MPLBACKEND=INLINE,
        **{name: f"{home}/{inside}" for name, inside in request["home_variables"].items()},
    )  # fmt: skip
    os.umask(0o077)
    os.chdir(f"{home}/work")
    if request["course"]:
        put_course_on_path(request["course"])
    put_work_folder_on_path()
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()
    if matplotlib := sys.modules.get("matplotlib"):
        matplotlib.rcParams["backend"] = INLINE  # chosen now; loaded with the first figure, when there is a shell


def put_course_on_path(folder: str) -> None:
    """Import the course's package from this folder, and only from this; also what of it was not imported yet."""
    global _course
    if not _course:
        sys.path.insert(0, folder)
        _course = folder
        return
    for path in [path for path in sys.path_importer_cache if path.startswith(_course)]:
        del sys.path_importer_cache[path]  # what was listed there belongs to another copy
    if folder == _course:
        return
    for name in os.listdir(folder):
        package = name.removesuffix(".py")
        for module in [sys.modules[one] for one in sys.modules if one == package or one.startswith(f"{package}.")]:
            if hasattr(module, "__path__"):
                module.__path__ = [path.replace(_course, folder, 1) for path in module.__path__]
    sys.path[:] = [folder if path == _course else path for path in sys.path]
    _course = folder


def put_work_folder_on_path() -> None:
    """Import modules that lie beside the notebook, after the course's and Python's own, as Jupyter does."""
    packages = (place for place, path in enumerate(sys.path) if path.endswith(("site-packages", "dist-packages")))
    sys.path.insert(next(packages, len(sys.path)), "")


def application(request: dict[str, Any]) -> Any:
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config
    from zmq.utils.garbage import gc as garbage

    sys.setswitchinterval(0.0005)  # seconds: a thread that never ends gives way ten times as often
    garbage.start()  # a thread that long messages need: a fork bomb leaves no room for it later
    connection = request["connection"]
    config = Config(
        {
            "IPKernelApp": {"transport": "ipc", "ip": f"{request['sockets']}/k", **PORTS, "log_level": 40},
            "Session": {
                "key": connection["key"].encode(),
                "signature_scheme": connection["signature_scheme"],
            },
            "HistoryManager": {"enabled": False},
        }
    )
    os.mkdir(f"{request['home']}/.ipython")
    with _untouched_pages():
        app: Any = IPKernelApp.instance(config=config, parent_handle=0)
        app.initialize([*request["arguments"]])
    app.shell._sys_modules_keys = _imported  # what `%reset --aggressive` leaves alone
    app.shell.ask_exit = sys.exit  # so that `exit()` ends its cell; the next cells may not lose what they need
    return app


@contextlib.contextmanager
def _untouched_pages() -> Iterator[None]:
    """Keep what starts a kernel from looking at thousands of the server's objects: each look copies a page of memory.

    ipykernel lists all modules for a debugger that these kernels don't have, IPython the names of all modules for
    `%reset`, and traitlets sets up a log that nobody reads by going through every logger.
    """
    from ipykernel import ipkernel
    from IPython.core import shellapp
    from traitlets.config import application as traitlets_application

    configure = traitlets_application.dictConfig
    ipkernel.sys = shellapp.sys = _System()  # type: ignore[assignment]
    traitlets_application.dictConfig = lambda config: None
    try:
        yield
    finally:
        ipkernel.sys = shellapp.sys = sys
        traitlets_application.dictConfig = configure


class _System:
    modules: ClassVar[dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)
