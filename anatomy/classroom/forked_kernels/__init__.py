"""Forked kernels: a server that has imported everything forks a ready Jupyter kernel, in a sandbox, for each notebook.

server ── one process, in the sandbox: has imported what notebooks import; knows nothing of submissions
  └─ supervisor ── one for each kernel: gives it namespaces of its own, passes signals on, ends all that it started
       └─ kernel ── an ordinary IPython kernel, ready about a tenth of a second after it was asked for

A course says in a `Preparation` what its notebooks import, and names it in a manager of its own:

    class CourseKernelManager(ForkedKernelManager):
        preparation = Preparation("statistics-101", modules=("numpy", "pandas", "matplotlib.pyplot"))

    c.Execute.kernel_manager_class = "our_course.CourseKernelManager"    # nbgrader_config.py; all else is as before

`manager` is Jupyter's side, `fork_server` starts and ends the server, `sandbox` builds the line for bubblewrap, and
`inside` is what runs in it.
"""

from typing import TYPE_CHECKING, Any

from anatomy.classroom.forked_kernels.fork_server import (
    ForkServer,
    ForkServerAddress,
    ForkServerFailed,
    get_fork_server,
    join_fork_server,
    share_fork_server,
    stop_fork_servers,
)
from anatomy.classroom.forked_kernels.preparation import Preparation
from anatomy.classroom.forked_kernels.sandbox import NO_SANDBOX, SANDBOX_VARIABLE, NoSandbox, choose_sandbox

if TYPE_CHECKING:
    from anatomy.classroom.forked_kernels.manager import ForkedKernelManager, KernelNotStarted

__all__ = [
    "NO_SANDBOX",
    "SANDBOX_VARIABLE",
    "ForkServer",
    "ForkServerAddress",
    "ForkServerFailed",
    "ForkedKernelManager",
    "KernelNotStarted",
    "NoSandbox",
    "Preparation",
    "choose_sandbox",
    "get_fork_server",
    "join_fork_server",
    "share_fork_server",
    "stop_fork_servers",
]


def __getattr__(name: str) -> Any:
    """`manager` is imported when it is asked for, and jupyter_client with it: who starts a server needs neither."""
    if name not in ("ForkedKernelManager", "KernelNotStarted"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from anatomy.classroom.forked_kernels import manager

    return getattr(manager, name)
