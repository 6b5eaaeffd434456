"""A service in a thread of the test's own process, with worker processes, and a way to talk with it."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import RequestHandler

from anatomy.classroom.serving.handlers import application
from anatomy.classroom.serving.people import IsInstructor, People
from anatomy.classroom.serving.service import Service
from anatomy.classroom.serving.workers import JudgeWorkers
from anatomy.course import COURSE
from anatomy.engine.checking.calling import LARGEST, VERSION
from anatomy.engine.checking.looking import look_for_judge
from anatomy.engine.observing.records import encode
from tests.observing.cells import run_cell

SCORES = "def scaled_scores(query, key):\n    return query @ key.mT / key.size(-1) ** 0.5\n"
SOFTMAX = "def softmax(x, dim):\n    e = (x - x.amax(dim, True)).exp()\n    return e / e.sum(dim, keepdim=True)\n"
OVER_ALL = "def softmax(x, dim):\n    return x.exp() / x.exp().sum()\n"
LAST_AXIS = SOFTMAX.replace("amax(dim,", "amax(-1,").replace("sum(dim,", "sum(-1,")
WEIGHTS = "def attention_weights(query, key):\n    return softmax(scaled_scores(query, key), -1)\n"
QUERIES = "def attention_weights(query, key):\n    return softmax(scaled_scores(query, key), -2)\n"


class Page(RequestHandler):
    """A page for instructors, and what it asks for later."""

    def initialize(self, who: IsInstructor) -> None:
        self.is_instructor = who

    async def get(self) -> None:
        if await self.is_instructor(self, login=self.request.path.endswith("page")):
            self.finish("Good morning.")


class Room:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, str, str, dict[str, str]]] = []

    def note(self, user: str, exercise: str, status: str, mistakes: dict[str, str], said: str) -> None:
        self.noted.append((user, exercise, status, mistakes))


@dataclass
class Running:
    """A service that runs, and its address."""

    service: Service
    address: str = ""
    room: Room = field(default_factory=Room)

    def ask(
        self, body: bytes | str, key: str = "", path: str = "/judge/check", method: str = "", **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON."""
        connection = http.client.HTTPConnection(self.address.split("/")[2], timeout=60)
        method = method or ("POST" if body else "GET")
        connection.request(method, path, body or None, {"Authorization": f"token {key}", **headers})
        answer = connection.getresponse()
        said = json.loads(answer.read())
        connection.close()
        return answer.status, said | {"retry": answer.headers.get("Retry-After")}


@contextmanager
def running(people: People, workers: int) -> Iterator[Running]:
    here = Running(Service(people, None, Room()))  # type: ignore[arg-type]
    here.room = here.service.room  # type: ignore[assignment]
    ready, end = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def main() -> None:
        here.service.workers = JudgeWorkers(workers or 1)
        judging = asyncio.ensure_future(here.service.workers.run() if workers else end.wait())
        server = HTTPServer(
            application(here.service, "/judge", lambda who: [("(?:page|news)", Page, {"who": who})]),
            max_body_size=LARGEST,
        )
        if workers:
            await here.service.workers.ask(b"")  # it is there
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        here.address = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/judge"
        ready.set()
        await end.wait()
        server.stop()
        judging.cancel()
        await asyncio.gather(judging, return_exceptions=True)

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    assert ready.wait(60)
    yield here
    loop.call_soon_threadsafe(end.set)
    thread.join()
    loop.close()


def request(name: str, *cells: str, **more: Any) -> str:
    """What a notebook in which these cells were run sends to check an exercise."""
    names = run_cell(
        "from __future__ import annotations\nimport torch\nfrom torch import Tensor\n" + "\n".join(cells), {}
    )
    seen, parts = look_for_judge(COURSE.exercise(name), names)
    asked = {"version": VERSION, "observation": encode(seen), "parts": [encode(part) for part in parts]}
    return json.dumps(asked | more)
