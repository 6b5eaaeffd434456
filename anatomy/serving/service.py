"""The service: who may ask, and how often. See `docs/judge-service.md`."""

from __future__ import annotations

import base64
import binascii
import math
import time
from dataclasses import dataclass, field
from typing import Protocol

from tornado.httputil import url_concat
from tornado.web import HTTPError, RequestHandler

from anatomy.serving.limits import Answers, Bucket, Users
from anatomy.serving.people import CannotTell, Hub, People, Person
from anatomy.serving.workers import JudgeWorkers

_UNKNOWN = "The judge does not know your key. Ask your instructor for one, then: anatomy join KEY"
_UNKNOWN_TO_HUB = "The hub does not let your server ask its judge: tell your instructor."


class Noting(Protocol):
    """What is told of each check: `anatomy.serving.room.Room`."""

    def note(self, user: str, exercise: str, status: str, mistakes: dict[str, str]) -> None: ...


@dataclass
class Service:
    """What the handlers share."""

    people: People
    workers: JudgeWorkers
    room: Noting
    users: Users = field(default_factory=Users)
    strangers: Bucket = field(default_factory=lambda: Bucket(5, 300))
    answers: Answers = field(default_factory=Answers)
    _seen: dict[str, tuple[float, Person]] = field(default_factory=dict)

    async def person(self, key: str) -> Person:
        """Whose key this is. Who guesses keys waits; who shows a good one, or has done so before, never does."""
        at, person = self._seen.get(key, (-math.inf, None))
        if person and time.monotonic() - at < 60:
            return person
        is_new = person is None
        if is_new and (wait := self.strangers.take()):
            raise Refusal(429, "Too many unknown keys arrive here at the moment.", wait)
        try:
            person = await self.people.person(key)
        except CannotTell:
            raise Refusal(503, "The hub does not say who you are at the moment.", 5) from None
        if person is None:
            self._seen.pop(key, None)
            raise Refusal(401, _UNKNOWN_TO_HUB if isinstance(self.people, Hub) else _UNKNOWN)
        if is_new:
            self.strangers.give_back()
        self._seen[key] = time.monotonic(), person
        return person

    async def is_instructor(self, handler: RequestHandler, *, login: bool) -> bool:
        """What `anatomy.serving.people.IsInstructor` says.

        The login is the hub's; with a file of keys the browser asks for name and password, and the password is the key.
        """
        try:
            if not (await self._visitor(handler)).is_instructor:
                raise Refusal(403, "This page is for instructors.")
        except Refusal as refusal:
            if refusal.status_code == 401 and login and isinstance(self.people, Hub):
                auth = self.people.auth
                state = auth.set_state_cookie(handler, next_url=handler.request.uri)
                handler.redirect(url_concat(auth.login_url, {"state": state}))
                return False
            if refusal.status_code == 401 and login:
                handler.set_header("WWW-Authenticate", 'Basic realm="Password: your key", charset="UTF-8"')
            handler.set_status(refusal.status_code)
            await handler.finish(refusal.sentence)
            return False
        return True

    async def _visitor(self, handler: RequestHandler) -> Person:
        """Who asks with a browser, which has the hub's cookie or sends a password."""
        if not isinstance(self.people, Hub):
            return await self.person(token_of(handler) or password_of(handler))
        user = await self.people.auth.get_user(handler, sync=False)
        if user is None:
            raise Refusal(401, "You are not logged in.")
        return self.people.known(user) or Person("")


class Refusal(HTTPError):
    """A request that is refused, with a sentence for who sent it and the seconds to wait."""

    def __init__(self, status: int, sentence: str, wait: float = 0) -> None:
        super().__init__(status)
        self.sentence, self.wait = sentence, math.ceil(wait)


def token_of(handler: RequestHandler) -> str:
    """The key in a request's header: ``token KEY``."""
    kind, _, key = handler.request.headers.get("Authorization", "").partition(" ")
    return key.strip() if kind.lower() in ("token", "bearer") else ""


def password_of(handler: RequestHandler) -> str:
    """What somebody has typed as password. Good for pages only: from then on a browser sends it unasked."""
    kind, _, sent = handler.request.headers.get("Authorization", "").partition(" ")
    try:
        return base64.b64decode(sent, validate=True).decode().partition(":")[2] if kind.lower() == "basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""
