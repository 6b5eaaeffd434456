"""Jupyter's side of forked kernels: a kernel manager with its provisioner and client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import struct
import time
import uuid
from pathlib import Path
from typing import Any, ClassVar

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerBase
from traitlets import Bool, Integer, List, Type, Unicode

from anatomy.classroom.forked_kernels.fork_server import ForkServerAddress, get_fork_server, leave_fork_server
from anatomy.classroom.forked_kernels.inside.kernel import PORTS
from anatomy.classroom.forked_kernels.output_limit import LimitedOutput
from anatomy.classroom.forked_kernels.preparation import Preparation
from anatomy.classroom.forked_kernels.sandbox import Limits, kernel_environment

LARGEST_MESSAGE = 128 * 2**20
"""Bytes of a message beyond which it is not even received, far more than is kept of any: the connection is closed and
made anew, and what was said meanwhile is lost, the cell's end too."""
START_LIMIT = 60.0
"""Seconds until a kernel must be ready."""
LARGEST_FILES = 64 * 2**20
"""Bytes of files beside the notebook that a kernel gets; those that don't fit are left out."""
MOST_FILES = 1000


WELCOME = 10.0
"""Seconds to wait for a kernel's first message before it is asked for again."""


class KernelNotStarted(RuntimeError):
    """The fork server could not make a kernel. The message says why."""


class ForkedKernelProvisioner(KernelProvisionerBase):
    """Asks the fork server for a kernel, and keeps the connection by which it is signalled and ended."""

    _connection: socket.socket | None = None
    _received = b""
    exit_code: int | None = None
    why = ""
    """Why the kernel was ended, if its supervisor did: "memory"."""
    computed = 0.0
    """Seconds that the kernel has computed, known when it has ended."""
    _folder: Path | None = None
    _waiting: socket.socket

    @property
    def manager(self) -> ForkedKernelManager:
        assert isinstance(self.parent, ForkedKernelManager)
        return self.parent

    @property
    def has_process(self) -> bool:
        return self._connection is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        kwargs = await super().pre_launch(**kwargs)
        manager = self.manager
        server = await self._connected_server()
        preparation = manager.preparation
        await asyncio.to_thread(server.provide_copy, preparation, preparation.copy_of(kwargs["env"]))
        if self._folder is None or self._folder.parent.parent != server.folder:
            self._folder = server.new_sockets(uuid.uuid4().hex[:12])
        manager.transport, manager.ip = "ipc", str(self._folder / "k")
        for name, number in PORTS.items():
            setattr(manager, name, number)
        self.connection_info = manager.get_connection_info()
        return {"cmd": [], **kwargs}

    async def _connected_server(self) -> ForkServerAddress:
        """Connect to a fork server. When the one that was shared has died, to one of this process's own."""
        wanted = self.manager.preparation, self.manager.sandbox or None, tuple(self.manager.readable)
        server = await asyncio.to_thread(get_fork_server, *wanted)
        try:
            self._waiting = server.connect()
        except OSError:
            leave_fork_server()
            server = await asyncio.to_thread(get_fork_server, *wanted)
            self._waiting = server.connect()
        return server

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        assert self._folder is not None
        files = files_for_kernel(Path(kwargs["cwd"])) if kwargs.get("cwd") else []
        request = {
            "copy": self.manager.preparation.copy_of(kwargs["env"]),
            "env": kernel_environment(kwargs["env"], self.manager.preparation),
            "arguments": list(kwargs.get("extra_arguments") or ()),
            "connection": {
                "key": self.manager.session.key.decode(),
                "signature_scheme": self.manager.session.signature_scheme,
            },
            "sockets": self._folder.name,
            "limits": self.manager.limits().as_dict(),
            "later": self.manager.later,
            "files": [(name, len(content)) for name, content in files],
        }
        head = json.dumps(request).encode()
        self._received, self.exit_code, self.why = b"", None, ""
        self._connection = self._waiting
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._connection, struct.pack("<I", len(head)) + head)
        for _, content in files:
            await loop.sock_sendall(self._connection, content)
        try:
            message = await asyncio.wait_for(self._next_message(), START_LIMIT)
        except TimeoutError:
            message = {"failed": f"The kernel was not ready after {START_LIMIT:.0f} s."}
        if not message.get("ready"):
            self._disconnect()
            raise KernelNotStarted(str(message.get("failed") or "The kernel ended before it was ready."))
        return self.connection_info

    async def _next_message(self) -> dict[str, Any]:
        """The next thing that the supervisor says; nothing when it has ended."""
        while b"\n" not in self._received:
            if self._connection is None:
                return {}
            try:
                part = await asyncio.get_running_loop().sock_recv(self._connection, 1 << 16)
            except OSError:
                part = b""
            if not part:
                return {}
            self._received += part
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    async def poll(self) -> int | None:
        if self._connection is None:
            return self.exit_code if self.exit_code is not None else 0
        try:
            part = self._connection.recv(1 << 16)
        except BlockingIOError:
            return None
        except OSError:
            part = b""
        self._received += part
        if part and b"\n" not in self._received:
            return None
        self._ended(json.loads(self._received.partition(b"\n")[0] or b"{}"))
        return self.exit_code

    async def wait(self) -> int | None:
        if self._connection is not None:
            self._ended(await self._next_message())
        return self.exit_code

    def _ended(self, message: dict[str, Any]) -> None:
        self.exit_code, self.why = int(message.get("exit", -9)), str(message.get("why", ""))
        self.computed = float(message.get("computed", 0.0))
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def waited(self) -> float:
        """Seconds that the kernel was ready to compute and had no processor, since others had them all.

        Waiting for what it has started itself does not count.
        """
        if self._connection is None:
            return 0.0
        await self._tell("waited")
        message = await self._next_message()
        if "waited" not in message:
            self._ended(message)
        return float(message.get("waited", 0.0))

    async def send_signal(self, signum: int) -> None:
        await self._tell(str(int(signum)))

    async def terminate(self, restart: bool = False) -> None:
        await self._tell("15")

    async def kill(self, restart: bool = False) -> None:
        """End the kernel and all it started. When this returns they are gone."""
        await self._tell("kill")
        await self.wait()

    async def _tell(self, what: str) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):  # it has ended; `poll` will say so
                await asyncio.get_running_loop().sock_sendall(self._connection, what.encode() + b"\n")

    async def cleanup(self, restart: bool = False) -> None:
        self._disconnect()
        if self._folder is not None and not restart:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


class ForkedKernelClient(AsyncKernelClient):
    """A client that is ready as soon as the kernel's first message arrives.

    The kernel was initialized before anybody connects, and greets each subscriber of its outputs. Nothing needs to be
    waited for besides that greeting; and the supervisor, not a heartbeat, says when the kernel ends.
    """

    iopub_channel_class = Type(LimitedOutput)

    def start_channels(
        self, shell: bool = True, iopub: bool = True, stdin: bool = True, hb: bool = False, control: bool = True
    ) -> None:
        output = self.parent.output << 20 if isinstance(self.parent, ForkedKernelManager) else 0
        if output:
            self.context.maxmsgsize = max(LARGEST_MESSAGE, output)  # of all sockets made from now on
        super().start_channels(shell=shell, iopub=iopub, stdin=stdin, hb=hb, control=control)
        self.iopub_channel.most_bytes = output

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        until = time.monotonic() + (60.0 if timeout is None else timeout)
        socket, again = self.iopub_channel.socket, time.monotonic() + WELCOME
        while (now := time.monotonic()) < until:
            if await socket.poll(200):
                message = await self.iopub_channel.get_msg(timeout=0)
                if message["msg_type"] == "iopub_welcome":
                    return
            elif not await self.is_alive():
                raise RuntimeError("The kernel ended before it answered.")
            elif now > again:  # a welcome can be lost; who subscribes again is welcomed again
                socket.unsubscribe(b"")
                socket.subscribe(b"")
                again = now + WELCOME
        raise RuntimeError("The kernel did not answer in time.")


class ForkedKernelManager(AsyncKernelManager):
    """Manages kernels that are forked from a process that has imported everything, in a sandbox."""

    preparation: ClassVar = Preparation()
    """What a course's own manager replaces by its own."""

    sandbox = Unicode("", help="bubblewrap or none; empty: ANATOMY_SANDBOX, else bubblewrap.").tag(config=True)
    readable = List(Unicode(), help="Folders that kernels may read besides.").tag(config=True)
    memory = Integer(Limits.memory >> 20, help="MiB that a kernel may take.").tag(config=True)
    processes = Integer(Limits.processes, help="Processes and threads that a kernel may have.").tag(config=True)
    disk = Integer(Limits.disk >> 20, help="MiB of files that a kernel may write in one place.").tag(config=True)
    file = Integer(Limits.file >> 20, help="MiB that one file may have.").tag(config=True)
    open_files = Integer(Limits.open_files, help="Files that a kernel may have open.").tag(config=True)
    cpu_seconds = Integer(Limits.cpu_seconds, help="Seconds that a kernel may compute.").tag(config=True)
    later = Bool(True, help="Whether a kernel may need the preparation's later modules.")
    output = Integer(16, help="MiB of output of one cell that are kept; 0 keeps all.").tag(config=True)

    client_factory = Type(ForkedKernelClient, klass=AsyncKernelClient)

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(argv=[], display_name="Python 3, forked", language="python", interrupt_mode="signal")

    def limits(self) -> Limits:
        mib = 1 << 20
        return Limits(self.memory * mib, self.processes, self.disk * mib, self.file * mib, self.open_files,
                      self.cpu_seconds)  # fmt: skip

    async def start_kernel(self, **kwargs: Any) -> None:  # type: ignore[override]
        """Start a kernel; see `jupyter_client.AsyncKernelManager`."""
        if self.provisioner is None:
            self.kernel_id = self.kernel_id or str(uuid.uuid4())
            self.provisioner = ForkedKernelProvisioner(
                kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self
            )
        await super().start_kernel(**kwargs)


def files_for_kernel(folder: Path) -> list[tuple[str, bytes]]:
    """The files of a notebook's folder, without notebooks, links and what is too large."""
    found: list[tuple[str, bytes]] = []
    room = LARGEST_FILES
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix == ".ipynb" or name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            if len(found) == MOST_FILES:
                return found
            if (size := path.stat().st_size) <= room:
                room -= size
                found.append((path.relative_to(folder).as_posix(), path.read_bytes()))
    return found
