"""The warm parent as seen from outside: start it, ask it for kernels, end it."""

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

from anatomy.course import NOTEBOOKS
from anatomy.errors import UserError
from anatomy.grading import sandbox
from anatomy.grading.kernels import visible_package
from anatomy.grading.warm.inside import places

PREFIX = "anatomy-warm-"
SHARED = "ANATOMY_WARM_PARENT"
"""The environment variable by which the processes of one run share a parent: "<kind>:<folder>", see `share`."""
YOUNG = 60.0
"""Seconds within which a folder without an owner is left alone."""
MODULES = (
    "torch", "torch.nn.functional", "numpy", "transformers", "transformers.models.bert.modeling_bert",
    "transformers.models.gpt2.modeling_gpt2", "matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg",
    "ipykernel.kernelapp", "ipykernel.ipkernel", "safetensors.torch", "jaxtyping", "anatomy.checking",
    "anatomy.observing.observe", "anatomy.observing.records", "anatomy.checkpoints", "anatomy.views",
    *(f"anatomy.exercises.{book.module}" for book in NOTEBOOKS),
)  # fmt: skip
"""What the parent imports. Nothing that holds answers; the sandbox doesn't show that either."""


def _is_root() -> bool:
    return os.geteuid() == 0


class ParentFailed(UserError):
    """The warm parent did not start. The message is what it said."""


class Door:
    """A warm parent that somebody has started: kernels can be asked for here."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind = folder, kind

    @property
    def isolated(self) -> bool:
        return self.kind != sandbox.NONE

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
            connection.connect(str(self.folder / "door"))
        except OSError:
            connection.close()
            raise
        connection.setblocking(False)
        return connection

    def new_sockets(self, name: str) -> Path:
        """A folder for one kernel's sockets."""
        return self._shared_folder(self.folder / "s" / name)

    def _shared_folder(self, folder: Path) -> Path:
        folder.mkdir(mode=0o700)
        if _is_root() and self.isolated:
            os.chown(folder, *sandbox.NOBODY)
        return folder


class WarmParent(Door):
    """A process that has imported everything, and makes kernels of copies of itself.

    It ends with the process that started it, however that ends, and so do all its kernels.
    """

    def __init__(self, kind: str, readable: tuple[str, ...] = ()) -> None:
        self._sweep()
        super().__init__(Path(tempfile.mkdtemp(prefix=PREFIX)), sandbox.kind(kind))
        self.readable, self.owner = readable, os.getpid()
        self._lock = self.folder.joinpath("lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.sockets = self._shared_folder(self.folder / "s")
        self.process: subprocess.Popen[bytes] | None = None
        self._life = -1
        atexit.register(self.stop)

    # ---- its life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start it and wait until it is warm.

        Raises
        ------
        NoSandbox
            When the sandbox could not be built.
        ParentFailed
            When it ended before it was warm.
        """
        status, written = os.pipe()
        alive, self._life = os.pipe()
        door = socket.socket(socket.AF_UNIX)
        door.bind(str(self.folder / "door"))
        door.listen(256)
        settings = self._settings({"door": door.fileno(), "life": alive, "status": written})
        begun = threading.Event()
        # The thread that starts a process counts as its parent, and bubblewrap ends when its parent does.
        threading.Thread(target=self._run, args=(settings, begun), name="warm parent", daemon=True).start()
        begun.wait()
        for handle in (alive, written):
            os.close(handle)
        door.close()
        with open(status, "rb") as pipe:
            if pipe.read() == b"ready":
                return
        self.stop(keep_folder=True)
        said = self._said()
        shutil.rmtree(self.folder, ignore_errors=True)
        if "bwrap:" in said or "new namespaces" in said:
            raise sandbox.refused(said)
        advice = "\nWhen root grades, this Python and its packages must be readable for everyone." if _is_root() else ""
        raise ParentFailed(f"The process that kernels are made from did not start:\n{said}{advice}")

    def _settings(self, handles: dict[str, int]) -> list[str]:
        visible = {book.slug: visible_package(book, self.folder / "visible") for book in NOTEBOOKS}
        first = NOTEBOOKS[0].slug
        inside = Path(__file__).with_name("inside")
        settings = {
            **handles,
            "isolated": self.isolated,
            "become": sandbox.NOBODY if _is_root() and self.isolated else None,
            "course": places.COURSE if self.isolated else str(visible[first]),
            "visible": places.VISIBLE if self.isolated else str(visible[first].parent),
            "sockets": places.SOCKETS if self.isolated else str(self.sockets),
            "shown": [str(path) for path in sandbox.shown(map(Path, self.readable))],
            "modules": MODULES,
        }
        start = places.PROGRAM if self.isolated else str(inside.parent)
        code = f"import sys; sys.path.insert(0, {start!r}); from inside.parent import main; sys.path.pop(0); main()"
        command = [sys.executable, "-I", "-B", "-c", code, json.dumps(settings)]
        if not self.isolated:
            return command
        users = self.folder / "users"
        users.mkdir()
        (users / "passwd").write_text(f"{places.USER}:x:{places.UID}:{places.UID}::{places.HOME}:/bin/sh\n")
        (users / "group").write_text(f"{places.USER}:x:{places.UID}:\n")
        return sandbox.wrapped(command, program_folder=inside, sockets=self.sockets, visible=visible, first_seen=first,
                               users=users, hidden=self._hidden(), readable=map(Path, self.readable))  # fmt: skip

    @staticmethod
    def _hidden() -> Iterator[Path]:
        """What must not be seen even if somebody put it where Python keeps its packages."""
        course = Path.cwd()
        for name in ("source", "solutions", "submitted", "autograded", "feedback", "tests", "gradebook.db", ".git"):
            yield course / name

    def _run(self, command: list[str], begun: threading.Event) -> None:
        handles = [int(value) for name, value in json.loads(command[-1]).items() if name in ("door", "life", "status")]
        try:
            with self.folder.joinpath("log").open("wb") as log:
                self.process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=handles, cwd="/",
                    env=sandbox.environment({}), start_new_session=True,
                )  # fmt: skip
        finally:
            begun.set()
        self.process.wait()

    def _said(self) -> str:
        return "\n".join((self.folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()[-12:])

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, keep_folder: bool = False) -> None:
        """End it and all its kernels. Does nothing in a process that merely inherited it."""
        if os.getpid() != self.owner:
            return
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
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
    def _sweep() -> None:
        """Remove the folders of parents whose process was killed, except those that may just be coming into being."""
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError), (folder / "lock").open("r+") as lock:
                if time.time() - os.fstat(lock.fileno()).st_mtime < YOUNG:
                    continue
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


_parents: dict[tuple[int, str, tuple[str, ...]], WarmParent] = {}
_starting = threading.Lock()


def warm_parent(kind: str | None = None, readable: tuple[str, ...] = ()) -> Door:
    """The warm parent to use: one that is shared, else this process's own, which is started when there is none.

    Starting one takes a few seconds.
    """
    key = (os.getpid(), sandbox.kind(kind), readable)
    shared_kind, _, folder = os.environ.get(SHARED, "").partition(":")
    if folder and shared_kind == key[1] and not readable and (door := Door(Path(folder), shared_kind)).is_alive:
        return door
    with _starting:
        parent = _parents.get(key)
        if parent is None or not parent.is_alive:
            if parent is not None:
                parent.stop()
            parent = WarmParent(key[1], readable)
            parent.start()
            _parents[key] = parent
        return parent


@contextlib.contextmanager
def share(kind: str | None = None) -> Iterator[Door]:
    """Within this, processes that this one starts use its parent instead of starting their own."""
    door = warm_parent(kind)
    os.environ[SHARED] = f"{door.kind}:{door.folder}"
    try:
        yield door
    finally:
        os.environ.pop(SHARED, None)


def stop_all() -> None:
    """End this process's warm parents."""
    with _starting:
        for key in [key for key in _parents if key[0] == os.getpid()]:
            _parents.pop(key).stop()
