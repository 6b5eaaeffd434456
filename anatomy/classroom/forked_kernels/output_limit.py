"""How much a kernel may output, and in which form: enforced where its messages arrive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jupyter_client.channels import AsyncZMQSocketChannel

SMALL = 10_000
"""Bytes of a header, and of a status, which is let through when a cell has said too much: it could be its end."""
CELLS = 8
"""All cells of a kernel together may print as much as so many, and display as much."""
OF_A_MESSAGE, OF_A_VALUE = 2_000, 100
"""Bytes that it takes to keep a message, and each value in what it displays, besides those that were sent."""
DEEPEST = 50
"""Levels of lists and dicts in a message."""

_DATA = {"data": dict, "metadata": dict}
CONTENT: Mapping[str, Mapping[str, type]] = {
    "stream": {"name": str, "text": str},
    "display_data": _DATA,
    "update_display_data": _DATA,
    "execute_result": {**_DATA, "execution_count": int},
    "error": {"ename": str, "evalue": str, "traceback": list},
    "execute_input": {"code": str},
    "status": {"execution_state": str},
}
"""What a message of each type must hold."""


class LimitedOutput(AsyncZMQSocketChannel):
    """The channel of a kernel's outputs, which lets so many bytes of each cell through, then says so once.

    What is printed and what is displayed are counted apart, so that no print, however long, costs a display. Statuses
    always pass, and take the place of what is left out. Whatever is no message of Jupyter's is left out, too.
    """

    most_bytes = 0
    """Bytes that one cell may print, and that it may display; 0 is no limit."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parent: dict[str, Any] = {}
        """The header of the request that runs the cell."""
        self._of_cell = {"printed": 0, "displayed": 0}
        self._kept = {"printed": 0, "displayed": 0}

    @property
    def is_full(self) -> bool:
        """Whether the latest cell has said more than is let through."""
        return bool(self.most_bytes) and max(self._of_cell.values()) > self.most_bytes

    async def _recv(self, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        frames: list[bytes] = await self.socket.recv_multipart(**kwargs)
        try:
            parts: list[Any] = self.session.feed_identities(frames)[1]
            return self._admitted(parts)
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError):  # student code wrote it
            return self._message("status", {"execution_state": "busy"})

    def _admitted(self, parts: list[Any]) -> dict[str, Any]:
        """The message of these parts (signature, header, parent, metadata, content), or another in its place."""
        header, parent = parts[1:3]
        if len(header) > SMALL or len(parent) > SMALL:
            raise ValueError("no header is that long")
        asked = dict(json.loads(parent))
        if asked.get("msg_id") != self._parent.get("msg_id"):
            self._parent, self._of_cell = asked, dict.fromkeys(self._of_cell, 0)
        message_type = json.loads(header)["msg_type"]
        kind = "printed" if message_type == "stream" else "displayed"
        size, cost = sum(map(len, parts)), _cost(parts, kind)
        before = self._of_cell[kind]
        self._of_cell[kind] += cost
        full = self.most_bytes and (
            self._of_cell[kind] > self.most_bytes or self._kept[kind] + cost > CELLS * self.most_bytes
        )
        if not full or (message_type == "status" and size <= SMALL):
            message: dict[str, Any] = self.session.deserialize(parts)
            self._kept[kind] += cost
            in_form = _is_in_form(message)
            return message if in_form else self._said("[An output that no notebook can hold was left out.]\n")
        if before > self.most_bytes:
            return self._message("status", {"execution_state": "busy"})
        self._of_cell[kind] = max(self._of_cell[kind], self.most_bytes + 1)
        return self._said(f"[More than {self.most_bytes:,} bytes: the rest of what this cell says was left out.]\n")

    def _said(self, text: str) -> dict[str, Any]:
        return self._message("stream", {"name": "stdout", "text": text})

    def _message(self, message_type: str, content: dict[str, str]) -> dict[str, Any]:
        message: dict[str, Any] = self.session.msg(message_type, content)
        message["parent_header"] = self._parent
        return message


def _cost(parts: list[Any], kind: str) -> int:
    """Roughly the bytes that it takes to keep a message. What is printed is one text; the rest may be many values."""
    values = 0 if kind == "printed" else sum(bytes(part).count(mark) for part in parts for mark in (b",", b"[", b"{"))
    return sum(map(len, parts)) + OF_A_MESSAGE + OF_A_VALUE * values


def _is_in_form(message: Mapping[str, Any]) -> bool:
    """Whether a message holds what its type says, in texts and JSON, not too deep in each other."""
    content = message["content"]
    wanted = CONTENT.get(message["msg_type"], {})
    if not isinstance(content, dict) or not all(isinstance(content.get(key), kind) for key, kind in wanted.items()):
        return False
    data = content["data"] if "data" in wanted else {}
    texts = [*(value for mime, value in data.items() if not mime.endswith("json")), *content.get("traceback", ())]
    transient = content.get("transient") or {}
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(transient, dict)
        and isinstance(transient.get("display_id") or "", str)
        and not _is_deeper(content, DEEPEST)
    )


def _is_deeper(node: Any, levels: int) -> bool:
    if not isinstance(node, dict | list):
        return False
    inside = node.values() if isinstance(node, dict) else node
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in inside)
