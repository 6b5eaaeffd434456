"""How much a kernel may output: a limit in bytes, enforced where its messages arrive."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from jupyter_client.channels import AsyncZMQSocketChannel

SMALL = 10_000
"""Bytes of a message that is looked into even when a cell has said too much: it could be the cell's end."""
CELLS = 8
"""All cells of a kernel together may say as much as so many."""


class LimitedOutput(AsyncZMQSocketChannel):
    """The channel of a kernel's outputs, which lets so many bytes of each cell through, then says so once.

    Statuses always pass, and take the place of what is left out.
    """

    most_bytes = 0
    """Bytes of one cell; 0 is no limit."""
    _cell, _of_cell, _kept = b"", 0, 0

    async def _recv(self, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        frames: list[bytes] = await self.socket.recv_multipart(**kwargs)
        try:
            parts: list[Any] = self.session.feed_identities(frames)[1]
            return self._admitted(parts)
        except (ValueError, TypeError, IndexError, KeyError, RecursionError):  # no message: student code wrote it
            return self._message("status", {"execution_state": "busy"})

    def _admitted(self, parts: list[Any]) -> dict[str, Any]:
        """The message of these parts (signature, header, parent, …), or another in its place."""
        size, parent = sum(map(len, parts)), parts[2]
        if parent != self._cell:
            self._cell, self._of_cell = parent, 0
        before = self._of_cell
        self._of_cell += size
        full = self.most_bytes and (self._of_cell > self.most_bytes or self._kept + size > CELLS * self.most_bytes)
        if not full or size <= SMALL:
            message: dict[str, Any] = self.session.deserialize(parts)
            if not full or message["msg_type"] == "status":
                self._kept += size
                return message
        if before > self.most_bytes:
            return self._message("status", {"execution_state": "busy"})
        self._of_cell = max(self._of_cell, self.most_bytes + 1)
        text = f"[More than {self.most_bytes:,} bytes: the rest of what this cell says was left out.]\n"
        return self._message("stream", {"name": "stdout", "text": text})

    def _message(self, message_type: str, content: dict[str, str]) -> dict[str, Any]:
        message: dict[str, Any] = self.session.msg(message_type, content)
        with contextlib.suppress(ValueError, TypeError):
            message["parent_header"] = dict(json.loads(self._cell))
        return message
