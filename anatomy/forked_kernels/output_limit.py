"""How much a kernel may output: a limit in bytes, enforced where its messages arrive."""

from __future__ import annotations

import json
from typing import Any

from jupyter_client.channels import AsyncZMQSocketChannel

SMALL = 10_000
"""Bytes of a message that is looked into even when a cell has said too much: it could be the cell's end."""
CELLS = 8
"""All cells of a kernel together may print as much as so many, and display as much."""


class LimitedOutput(AsyncZMQSocketChannel):
    """The channel of a kernel's outputs, which lets so many bytes of each cell through, then says so once.

    What is printed and what is displayed are counted apart, so that no print, however long, costs a display. Statuses
    always pass, and take the place of what is left out.
    """

    most_bytes = 0
    """Bytes that one cell may print, and that it may display; 0 is no limit."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parent: dict[str, Any] = {}
        """The header of the request that runs the cell."""
        self._of_cell = {"printed": 0, "displayed": 0}
        self._kept = {"printed": 0, "displayed": 0}

    async def _recv(self, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        frames: list[bytes] = await self.socket.recv_multipart(**kwargs)
        try:
            parts: list[Any] = self.session.feed_identities(frames)[1]
            return self._admitted(parts)
        except (ValueError, TypeError, IndexError, KeyError, RecursionError):  # no message: student code wrote it
            return self._message("status", {"execution_state": "busy"})

    def _admitted(self, parts: list[Any]) -> dict[str, Any]:
        """The message of these parts (signature, header, parent, …), or another in its place."""
        size, parent = sum(map(len, parts)), dict(json.loads(parts[2]))
        if parent.get("msg_id") != self._parent.get("msg_id"):
            self._parent, self._of_cell = parent, dict.fromkeys(self._of_cell, 0)
        kind = "printed" if len(parts[1]) < SMALL and json.loads(parts[1])["msg_type"] == "stream" else "displayed"
        before = self._of_cell[kind]
        self._of_cell[kind] += size
        full = self.most_bytes and (
            self._of_cell[kind] > self.most_bytes or self._kept[kind] + size > CELLS * self.most_bytes
        )
        if not full or size <= SMALL:
            message: dict[str, Any] = self.session.deserialize(parts)
            if not full or message["msg_type"] == "status":
                self._kept[kind] += size
                return message
        if before > self.most_bytes:
            return self._message("status", {"execution_state": "busy"})
        self._of_cell[kind] = max(self._of_cell[kind], self.most_bytes + 1)
        text = f"[More than {self.most_bytes:,} bytes: the rest of what this cell says was left out.]\n"
        return self._message("stream", {"name": "stdout", "text": text})

    def _message(self, message_type: str, content: dict[str, str]) -> dict[str, Any]:
        message: dict[str, Any] = self.session.msg(message_type, content)
        message["parent_header"] = self._parent
        return message
