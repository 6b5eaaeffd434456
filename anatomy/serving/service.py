"""The service: who may ask what how often, and what they are answered. See `docs/judge-service.md`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tornado.httputil import url_concat
from tornado.web import Application, HTTPError, RequestHandler, stream_request_body

from anatomy.checking.calling import LARGEST, VERSION
from anatomy.serving.limits import Answers, Bucket, Users
from anatomy.serving.people import CannotTell, Hub, People, Person
from anatomy.serving.workers import Busy, WorkerLost, Workers

log = logging.getLogger("anatomy.serving")


_UNKNOWN = "The judge does not know your key. Ask your instructor for one, then: anatomy join KEY"
_UNKNOWN_TO_HUB = "The hub does not let your server ask its judge: tell your instructor."


class Noting(Protocol):
    """What is told of each check: `anatomy.serving.room.Room`."""

    def note(self, user: str, exercise: str, status: str, mistakes: dict[str, str]) -> None: ...


@dataclass
class Service:
    """What the handlers share."""

    people: People
    workers: Workers
    room: Noting
    users: Users = field(default_factory=Users)
    strangers: Bucket = field(default_factory=lambda: Bucket(1, 60))
    answers: Answers = field(default_factory=Answers)
    _seen: dict[str, tuple[float, Person]] = field(default_factory=dict)

    async def person(self, key: str) -> Person:
        """Whose key this is. Who guesses keys waits; who has shown a good one in the last minute does not."""
        at, person = self._seen.get(key, (-math.inf, None))
        if person and time.monotonic() - at < 60:
            return person
        self._seen.pop(key, None)
        if wait := self.strangers.take():
            raise Refusal(429, "Too many unknown keys arrive here at the moment.", wait)
        try:
            person = await self.people.person(key)
        except CannotTell:
            raise Refusal(503, "The hub does not say who you are at the moment.", 5) from None
        if person is None:
            raise Refusal(401, _UNKNOWN_TO_HUB if isinstance(self.people, Hub) else _UNKNOWN)
        self._seen[key] = time.monotonic(), person
        return person

    async def is_instructor(self, handler: RequestHandler) -> bool:
        """Whether an instructor asks for a page. If not, the request is answered: with a login, or a refusal.

        On a hub, its login; with a file of keys the browser asks for name and password, and the password is the key.
        """
        if isinstance(self.people, Hub):
            auth = self.people.auth
            user = await auth.get_user(handler, sync=False)
            if user is None:
                state = auth.set_state_cookie(handler, next_url=handler.request.uri)
                handler.redirect(url_concat(auth.login_url, {"state": state}))
                return False
            person = self.people.known(user)
        else:
            try:
                person = await self.person(key_of(handler))
            except Refusal as refusal:
                handler.set_status(refusal.status_code)
                if refusal.status_code == 401:
                    handler.set_header("WWW-Authenticate", 'Basic realm="Password: your key", charset="UTF-8"')
                await handler.finish(refusal.sentence)
                return False
        if person is None or not person.is_instructor:
            handler.set_status(403)
            await handler.finish("This page is for instructors.")
            return False
        return True


class Refusal(HTTPError):
    """A request that is refused, with a sentence for who sent it and the seconds to wait."""

    def __init__(self, status: int, sentence: str, wait: float = 0) -> None:
        super().__init__(status)
        self.sentence, self.wait = sentence, math.ceil(wait)


def key_of(handler: RequestHandler) -> str:
    """The key in a request's header: ``token KEY``, or what a browser sends for a name and a password."""
    kind, _, key = handler.request.headers.get("Authorization", "").partition(" ")
    if kind.lower() in ("token", "bearer"):
        return key.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(key, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""


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
                     "prepared": round(workers.prepared, 2)})  # fmt: skip


class Me(_Handler):
    """`GET /me`: whose key was sent."""

    async def get(self) -> None:
        person = await self.service.person(key_of(self))
        self.finish({"version": VERSION, "name": person.name, "instructor": person.is_instructor})


@stream_request_body
class Check(_Handler):
    """`POST /check`. Who may not ask is told so before what they send is read."""

    person: Person | None = None

    async def prepare(self) -> None:
        self.began, self.chunks = time.perf_counter(), list[bytes]()
        person = await self.service.person(key_of(self))
        length = self.request.headers.get("Content-Length", "")
        if length.isdecimal() and (len(length) > 12 or int(length) > LARGEST):
            raise Refusal(413, "What your answer returned is too large to be sent.")
        if wait := self.service.users.enter(person.name):
            raise Refusal(429, f"You check faster than this judge answers: wait {math.ceil(wait)} s.", wait)
        self.person = person

    def data_received(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    async def post(self) -> None:
        assert self.person
        request, service = b"".join(self.chunks), self.service
        asked = hashlib.sha256(request).digest()
        reply = service.answers.get(asked)
        if reply is None:
            try:
                reply = await service.workers.ask(request)
            except Busy:
                raise Refusal(503, "Many check their answers at this moment.", 2) from None
            except WorkerLost:
                log.warning("%s: a check took too long or ended its worker", self.person.name)
                raise Refusal(500, "Judging your answer took too long or stopped.") from None
        status, answer = int(reply[:3]), json.loads(reply[3:])
        if status != 200:
            raise Refusal(status, answer["error"])
        if answer["status"] != "wrong" or answer["mistakes"]:
            service.answers.put(asked, reply)  # what has no name yet may get one when more trials are worked out
        self._note(answer)
        self.finish(answer)

    def _note(self, answer: dict[str, Any]) -> None:
        assert self.person
        self.service.room.note(self.person.name, answer["exercise"], answer["status"], answer["mistakes"])
        took = 1000 * (time.perf_counter() - self.began)
        log.info("%s %s %s %.0f ms", self.person.name, answer["exercise"], answer["status"], took)

    def on_finish(self) -> None:
        if self.person:
            self.service.users.leave(self.person.name)
            self.person = None

    on_connection_close = on_finish


def application(
    service: Service,
    prefix: str = "/",
    more: Callable[[Callable[[RequestHandler], Awaitable[bool]]], list[Any]] | None = None,
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
