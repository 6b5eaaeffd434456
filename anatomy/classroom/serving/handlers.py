"""What is asked at which address, and what it is answered. See `docs/judge-service.md`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tornado.web import Application, Finish, HTTPError, RequestHandler, stream_request_body

from anatomy.classroom.serving.people import Hub, IsInstructor
from anatomy.classroom.serving.service import Refusal, Service, address_of, token_of
from anatomy.classroom.serving.workers import Busy, NobodyWaits, WorkerLost
from anatomy.engine.checking.calling import LARGEST, VERSION
from anatomy.wiring import the_course

log = logging.getLogger("anatomy.classroom.serving")


class _Handler(RequestHandler):
    """Answers JSON, refusals included."""

    service: Service

    def initialize(self, service: Service) -> None:
        self.service = service

    def set_default_headers(self) -> None:
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.set_header("Server", "anatomy")

    def write_error(self, status_code: int, **more: Any) -> None:
        error = more.get("exc_info", (None, None, None))[1]
        if isinstance(error, Refusal):
            if error.wait:
                self.set_header("Retry-After", str(error.wait))
            self.finish({"error": error.sentence, "version": VERSION})
        else:
            self.finish({"error": f"The judge answers: {self._reason}.", "version": VERSION})

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, HTTPError):
            log.error("a request failed", exc_info=(kind, error, trace))


class Health(_Handler):
    """`GET /health`: for whoever watches over the service."""

    def get(self) -> None:
        workers = self.service.workers
        self.finish({"version": VERSION, "workers": len(workers.processes), "waiting": workers.waiting,
                     "prepared": {slug: round(share, 2) for slug, share in workers.prepared.items()}})  # fmt: skip


class Me(_Handler):
    """`GET /me`: whose key was sent, and which course is judged here."""

    async def get(self) -> None:
        person = await self.service.person(token_of(self), address_of(self))
        self.finish({"version": VERSION, "name": person.name, "instructor": person.is_instructor,
                     "course": the_course().package})  # fmt: skip


@stream_request_body
class Check(_Handler):
    """`POST /check`. Who may not ask is told so before what they send is read.

    Who asked stays busy until their answer is there, even if they have gone: it is noted, and kept for the next time.
    """

    def initialize(self, service: Service) -> None:
        super().initialize(service)
        self.began, self.chunks = time.perf_counter(), list[bytes]()
        self.busy, self.gone = ExitStack(), asyncio.get_running_loop().create_future()

    async def prepare(self) -> None:
        self.person = await self.service.person(token_of(self), address_of(self))
        length = self.request.headers.get("Content-Length", "")
        if length.isdecimal() and (len(length) > 12 or int(length) > LARGEST):
            raise Refusal(413, "What your answer returned is too large to be sent.")
        users, name = self.service.users, self.person.name
        if name in users.busy:
            raise Refusal(429, "Your check before this one is still being judged.", 1)
        if wait := self.service.losses.wait(name):
            said = "Judging your last answer took too long or stopped"
            raise Refusal(429, f"{said}: wait {math.ceil(wait)} s before your next check.", wait)
        if self.gone.done():
            return
        if wait := users.enter(name):
            raise Refusal(429, f"You check faster than this judge answers: wait {math.ceil(wait)} s.", wait)
        self.busy.callback(users.leave, name)

    def data_received(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    async def post(self) -> None:
        with self.busy.pop_all():  # who goes from now on stays busy
            answer = await self._answer(b"".join(self.chunks))
            self._note(answer)
            await self.service.workers.want(the_course().exercise(answer["exercise"]).notebook.slug)
            self.finish(answer)

    async def _answer(self, request: bytes) -> dict[str, Any]:
        service, asked = self.service, hashlib.sha256(request).digest()
        reply = service.answers.get(asked)
        if reply is None:
            try:
                reply = await service.workers.ask(request, self.gone, service.losses.count(self.person.name) > 0)
            except Busy:
                raise Refusal(503, "Many check their answers at this moment.", 2) from None
            except NobodyWaits:
                raise Finish from None
            except WorkerLost:
                log.warning("%s: a check took too long or ended its worker", self.person.name)
                service.losses.note(self.person.name)
                wait = service.losses.wait(self.person.name)
                raise Refusal(500, "Judging your answer took too long or stopped.", wait) from None
        status, answer = int(reply[:3]), json.loads(reply[3:])
        if status != 200:
            raise Refusal(status, answer["error"])
        if answer["status"] != "wrong" or answer["mistakes"]:
            service.answers.put(asked, reply)  # what has no name yet may get one when more is worked out
        return answer

    def _note(self, answer: dict[str, Any]) -> None:
        status = "waits" if answer["mend_first"] else answer["status"]  # at work on the part, not on this one
        self.service.room.note(self.person.name, answer["exercise"], status, answer["mistakes"], answer["headline"])
        took = 1000 * (time.perf_counter() - self.began)
        log.info("%s %s %s %.0f ms", self.person.name, answer["exercise"], answer["status"], took)

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self.busy.close()
        if not self.gone.done():
            self.gone.set_result(None)

    def on_finish(self) -> None:
        self.busy.close()


def application(
    service: Service, prefix: str = "/", more: Callable[[IsInstructor], list[Any]] | None = None
) -> Application:
    """The service under an address that begins with `prefix`.

    Parameters
    ----------
    more
        From `Service.is_instructor` to further handlers, those of the live view.
    """
    handed = {"service": service}
    handlers = [("check", Check, handed), ("health", Health, handed), ("me", Me, handed),
                *(more(service.is_instructor) if more else [])]  # fmt: skip
    if isinstance(service.people, Hub):
        handlers.append(("oauth_callback", service.people.callback, {}))
    base = f"/{prefix.strip('/')}/".replace("//", "/")
    named = [(base + pattern.lstrip("/"), *rest) for pattern, *rest in handlers]
    return Application(named, cookie_secret=secrets.token_hex(), log_function=lambda handler: None)
