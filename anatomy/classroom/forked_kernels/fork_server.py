"""The fork server as seen from outside: start it, ask it for kernels, share it between processes, end it."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from anatomy.classroom.forked_kernels import sandbox as sandboxes
from anatomy.classroom.forked_kernels.inside import paths
from anatomy.classroom.forked_kernels.preparation import Preparation
from anatomy.engine.errors import UserError

PREFIX = "anatomy-forked-"
SHARED = "ANATOMY_FORK_SERVER"
"""The environment variable by which the processes of one run find their server: the text of a `ForkServerAddress`."""
JUST_STARTED = 60.0
"""Seconds within which a folder without an owner is left alone."""


def _is_root() -> bool:
    return os.geteuid() == 0


class ForkServerFailed(UserError):
    """The fork server did not start. The message is what it said."""


class ForkServerAddress:
    """A fork server that somebody has started: kernels can be asked for here.

    Its text, ``str(address)``, is ``<sandbox>:<course>:<folder>``.
    """

    def __init__(self, folder: Path, sandbox: str, course: str) -> None:
        self.folder, self.sandbox, self.course = folder, sandbox, course

    @classmethod
    def from_text(cls, text: str) -> ForkServerAddress | None:
        """The address with this text; None for anything else, such as an empty text."""
        sandbox, _, rest = text.partition(":")
        course, _, folder = rest.partition(":")
        return cls(Path(folder), sandbox, course) if folder else None

    def __str__(self) -> str:
        return f"{self.sandbox}:{self.course}:{self.folder}"

    @property
    def isolated(self) -> bool:
        return self.sandbox != sandboxes.NO_SANDBOX

    @property
    def is_alive(self) -> bool:
        """Whether the process that started it is still there."""
        try:
            with (self.folder / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def connect(self) -> socket.socket:
        """A connection on which one kernel may be asked for. It doesn't block."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self.folder / "server"))
        except OSError:
            connection.close()
            raise
        connection.setblocking(False)
        return connection

    def provide_copy(self, preparation: Preparation, name: str) -> None:
        """Have this copy of the course's package ready for kernels; it is made when one first asks for it."""
        place, making = self.folder / "copies" / name, self.folder / "making"
        if not name or preparation.make_copy is None or place.exists():
            return
        with (self.folder / "making.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if place.exists():
                return
            if (making / name).exists():  # of a process that was killed meanwhile
                shutil.rmtree(making)
            place.parent.mkdir(exist_ok=True)
            preparation.make_copy(name, making).rename(place)

    def new_sockets(self, name: str) -> Path:
        """A folder for one kernel's sockets."""
        return self._shared_folder(self.folder / "s" / name)

    def _shared_folder(self, folder: Path) -> Path:
        folder.mkdir(mode=0o700)
        if _is_root() and self.isolated:
            os.chown(folder, *sandboxes.NOBODY)
        return folder


class ForkServer(ForkServerAddress):
    """A process that has imported everything, and makes kernels of copies of itself.

    It ends with the process that started it, however that ends, and so do all its kernels.
    """

    def __init__(self, preparation: Preparation, sandbox: str | None = None, readable: tuple[str, ...] = ()) -> None:
        self._remove_abandoned_folders()
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        super().__init__(folder, sandboxes.choose_sandbox(sandbox), preparation.name)
        self.preparation, self.readable, self.owner = preparation, readable, os.getpid()
        self._lock = self.folder.joinpath("lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.sockets = self._shared_folder(self.folder / "s")
        self.process: subprocess.Popen[bytes] | None = None
        self._keep_alive = self._status = -1
        atexit.register(self.stop)

    # ---- starting and ending ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start it; `wait` until it is ready."""
        self._status, written = os.pipe()
        alive, self._keep_alive = os.pipe()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(self.folder / "server"))
        listening.listen(256)
        handles = {"listening": listening.fileno(), "keep_alive": alive, "status": written}
        command = self._command(handles)
        begun = threading.Event()
        # The thread that starts a process counts as its parent, and bubblewrap ends when its parent does.
        threading.Thread(target=self._run, args=(command, [*handles.values()], begun), daemon=True,
                         name="fork server").start()  # fmt: skip
        begun.wait()
        for handle in (alive, written):
            os.close(handle)
        listening.close()

    def wait(self) -> None:
        """Wait until it has imported everything.

        Raises
        ------
        NoSandbox
            When the sandbox could not be built.
        ForkServerFailed
            When it ended before it was ready.
        """
        if self._status < 0:
            return
        with open(self._status, "rb") as pipe:
            self._status = -1
            if pipe.read() == b"ready":
                return
        self.stop(keep_folder=True)
        said = self._end_of_log()
        shutil.rmtree(self.folder, ignore_errors=True)
        if "bwrap:" in said or "new namespaces" in said:
            raise sandboxes.sandbox_refused(said)
        advice = "\nWhen root grades, this Python and its packages must be readable for everyone." if _is_root() else ""
        raise ForkServerFailed(f"The process that kernels are made from did not start:\n{said}{advice}")

    def _command(self, handles: dict[str, int]) -> list[str]:
        preparation, copies = self.preparation, self.folder / "copies"
        first = str(copies / preparation.copies[0]) if preparation.copies else ""
        self.provide_copy(preparation, preparation.copy_of({}))
        inside = Path(__file__).with_name("inside")
        settings = {
            **handles,
            "isolated": self.isolated,
            "run_as": sandboxes.NOBODY if _is_root() and self.isolated else None,
            "course": paths.COURSE_FOLDER if first and self.isolated else first,
            "copies": paths.COPIES if self.isolated else str(copies),
            "sockets": paths.SOCKETS if self.isolated else str(self.sockets),
            "shown": [str(path) for path in sandboxes.shown_folders(map(Path, self.readable))],
            "modules": preparation.modules,
            "later_modules": preparation.later_modules,
            "sample_cell": preparation.sample_cell,
            "warm_up": preparation.warm_up,
            "not_preloaded": preparation.not_preloaded,
            "home_variables": dict(preparation.home_variables),
        }
        start = paths.PROGRAM if self.isolated else str(inside.parent)
        code = f"import sys; sys.path.insert(0, {start!r}); from inside.server import main; sys.path.pop(0); main()"
        command = [sys.executable, "-I", "-B", "-c", code, json.dumps(settings)]
        if not self.isolated:
            return command
        users = self.folder / "users"
        users.mkdir()
        (users / "passwd").write_text(f"{paths.USER}:x:{paths.UID}:{paths.UID}::{paths.HOME}:/bin/sh\n")
        (users / "group").write_text(f"{paths.USER}:x:{paths.UID}:\n")
        return sandboxes.sandboxed(
            command, program_folder=inside, sockets=self.sockets, copy=Path(first) if first else None, users=users,
            environment=sandboxes.kernel_environment({}, preparation),
            covered=[Path.cwd() / path for path in preparation.covered], readable=map(Path, self.readable),
        )  # fmt: skip

    def _run(self, command: list[str], handles: list[int], begun: threading.Event) -> None:
        try:
            with self.folder.joinpath("log").open("wb") as log:
                self.process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=handles, cwd="/",
                    env=sandboxes.kernel_environment({}, self.preparation), start_new_session=True,
                )  # fmt: skip
        finally:
            begun.set()
        self.process.wait()

    def _end_of_log(self) -> str:
        return "\n".join((self.folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()[-12:])

    @property
    def is_alive(self) -> bool:
        if self.process is None:
            return False
        try:  # `poll` says so only when the thread that waits for the process has come to its turn
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    @property
    def has_ended(self) -> bool:
        """Whether it was ready once and is no more."""
        return self._status < 0 and not self.is_alive

    def stop(self, keep_folder: bool = False) -> None:
        """End it and all its kernels. Does nothing in a process that merely inherited it."""
        if os.getpid() != self.owner:
            return
        if self._keep_alive >= 0:
            os.close(self._keep_alive)
            self._keep_alive = -1
        if self._status >= 0:
            os.close(self._status)
            self._status = -1
            if self.process is not None:
                self.process.kill()  # nobody has waited for it: it has no kernels, and may still be importing
        if self.process is not None:
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if not keep_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.stop)

    @staticmethod
    def _remove_abandoned_folders() -> None:
        """Remove what servers have left whose process was killed, except those that may just be starting."""
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError), (folder / "lock").open("r+") as lock:
                if time.time() - os.fstat(lock.fileno()).st_mtime < JUST_STARTED:
                    continue
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


# ---- one server for a process, or for several -----------------------------------------------------------------------

_servers: dict[tuple[int, str, tuple[str, ...], Preparation], ForkServer] = {}
_starting = threading.Lock()


def get_fork_server(
    preparation: Preparation, sandbox: str | None = None, readable: tuple[str, ...] = (), *, wait: bool = True
) -> ForkServerAddress:
    """The fork server to use: one that is shared, else this process's own, which is started when there is none.

    Parameters
    ----------
    sandbox
        ``"bubblewrap"`` or ``"none"``; by default what ANATOMY_SANDBOX says, else bubblewrap.
    readable
        Folders that its kernels may read besides.
    wait
        Until it is ready, which takes as long as its imports. What it can't be started for is said then.
    """
    sandbox = sandboxes.choose_sandbox(sandbox)
    shared = ForkServerAddress.from_text(os.environ.get(SHARED, ""))
    if shared and not readable and (shared.sandbox, shared.course) == (sandbox, preparation.name) and shared.is_alive:
        return shared
    key = (os.getpid(), sandbox, readable, preparation)
    with _starting:
        server = _servers.get(key)
        if server is not None and server.has_ended:
            server.stop()
            server = None
        if server is None:
            server = ForkServer(preparation, sandbox, readable)
            server.start()
            _servers[key] = server
        if wait:
            try:
                server.wait()
            except BaseException:
                del _servers[key]
                raise
        return server


def join_fork_server(address: str) -> None:
    """Use the server with this address (its text) from now on, in this process and those that it starts."""
    os.environ[SHARED] = address


def leave_fork_server() -> None:
    """Use a server of this process's own from now on."""
    os.environ.pop(SHARED, None)


@contextlib.contextmanager
def share_fork_server(preparation: Preparation, sandbox: str | None = None) -> Iterator[ForkServerAddress]:
    """Within this, processes that this one starts use its server instead of starting their own."""
    server = get_fork_server(preparation, sandbox)
    join_fork_server(str(server))
    try:
        yield server
    finally:
        leave_fork_server()


def stop_fork_servers() -> None:
    """End this process's fork servers."""
    with _starting:
        for key in [key for key in _servers if key[0] == os.getpid()]:
            _servers.pop(key).stop()
