"""`anatomy explore`: the page from a small server on this machine, which computes what a reader changes."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from anatomy.course.exploring.answering import problem, run, welcome
from anatomy.course.exploring.explorer import Explorer
from anatomy.course.exploring.packing import State
from anatomy.course.exploring.still import page

HERE = "127.0.0.1"
LONGEST = 100_000
"""Bytes of a message."""


class Server(ThreadingHTTPServer):
    """Serves one model to browsers of this machine; `address` is where."""

    daemon_threads = True

    def __init__(
        self, explorer: Explorer, states: Sequence[State], examples: Sequence[str] = (), port: int = 0
    ) -> None:
        super().__init__((HERE, port), _Handler)
        self.explorer, self.examples = explorer, examples
        self.key = secrets.token_hex(8)
        self.page = page(states, key=self.key, host="server").encode()
        self.model = threading.Lock()  # one run at a time

    @property
    def address(self) -> str:
        return f"http://{HERE}:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if not self._is_from_here():
            return
        if self.path != "/":
            self.send_error(404)
            return
        self._reply(self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        if not self._is_from_here():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/run" or not length.isdigit() or int(length) > LONGEST:
            self.send_error(400)
            return
        try:
            message = json.loads(self.rfile.read(int(length)))
        except ValueError:
            message = None
        if not isinstance(message, dict) or not secrets.compare_digest(str(message.get("explorer")), self.server.key):
            self.send_error(403)
            return
        answer = self._answer(message)
        if isinstance(answer, State):
            packed = answer.packed(type="state", number=message.get("number"))
            self._reply(packed, "application/octet-stream")
        else:
            self._reply(json.dumps(answer).encode(), "application/json")

    def _answer(self, message: dict[str, Any]) -> State | dict[str, Any]:
        if message.get("type") == "hello":
            return welcome(self.server.explorer, self.server.examples)
        if message.get("type") == "run":
            with self.server.model:
                return run(self.server.explorer, message)
        return problem(message.get("number"), "The page asked for something that is not known here.")

    def _is_from_here(self) -> bool:
        """Whether the browser asked for this machine by its own name, and not by another that leads here."""
        port = self.server.server_address[1]
        if self.headers.get("Host") in (f"{HERE}:{port}", f"localhost:{port}"):
            return True
        self.send_error(403)
        return False

    def _reply(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal stays quiet."""
