"""The service: who may ask, and how often. See `docs/judge-service.md`."""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import math
import time
from dataclasses import dataclass, field
from html import escape
from typing import Protocol

from tornado.httputil import url_concat
from tornado.web import HTTPError, RequestHandler

from anatomy.classroom.serving.people import INSTRUCTORS, CannotTell, Hub, People, Person, is_local
from anatomy.classroom.serving.rates import Answers, Losses, Strangers, Users
from anatomy.classroom.serving.workers import JudgeWorkers

_NO_KEY = "You have no key for this judge yet: ask your instructor for one."
_UNKNOWN = "The judge does not know this key: compare it with the one that you were given."
_UNKNOWN_TO_HUB = "The hub does not let your server ask its judge: tell your instructor."


class Noting(Protocol):
    """What is told of each check: `anatomy.classroom.serving.room.Room`."""

    def note(self, user: str, exercise: str, status: str, mistakes: dict[str, str], said: str) -> None: ...


@dataclass
class Service:
    """What the handlers share."""

    people: People
    workers: JudgeWorkers
    room: Noting
    users: Users = field(default_factory=Users)
    losses: Losses = field(default_factory=Losses)
    strangers: Strangers = field(default_factory=Strangers)
    answers: Answers = field(default_factory=Answers)
    _seen: dict[str, tuple[float, Person]] = field(default_factory=dict)

    async def person(self, key: str, address: str = "") -> Person:
        """Whose key this is. Who guesses keys waits, and who shows a good one does not.

        A file of keys is asked before anything is counted. To ask a hub costs the hub something, so a key that it has
        not been asked about counts as unknown until it has answered.
        """
        at, person = self._seen.get(key, (-math.inf, None))
        if person and time.monotonic() - at < 60:
            return person
        counts_first = bool(key) and person is None and not self.people.are_at_hand
        if counts_first:
            self._count_stranger(address)
        try:
            person = await self.people.person(key)
        except CannotTell:
            raise Refusal(503, "The hub does not say who you are at the moment.", 5) from None
        if person is None:
            self._seen.pop(key, None)
            if key and self.people.are_at_hand:
                self._count_stranger(address)
            raise (
                Refusal(403, _UNKNOWN_TO_HUB)
                if isinstance(self.people, Hub)
                else Refusal(401, _UNKNOWN if key else _NO_KEY)
            )
        if counts_first:
            self.strangers.give_back(address)
        self._seen[key] = time.monotonic(), person
        return person

    def _count_stranger(self, address: str) -> None:
        if wait := self.strangers.take(address):
            raise Refusal(429, "Too many unknown keys arrive here at the moment.", wait)

    async def is_instructor(self, handler: RequestHandler, *, login: bool) -> bool:
        """What `anatomy.classroom.serving.people.IsInstructor` says.

        The login is the hub's; with a file of keys the browser asks for name and password, and the password is the key.
        It sends that key again without asking, until it is refused: ``?again`` refuses a student's.
        """
        try:
            person = await self._visitor(handler)
            if not person.is_instructor:
                asks_again = not isinstance(self.people, Hub) and handler.get_query_argument("again", None) is not None
                who = f"; you are {person.name}" if person.name else ""
                raise Refusal(401 if asks_again else 403, f"This page is for instructors{who}.")
        except Refusal as refusal:
            if refusal.status_code == 401 and login and isinstance(self.people, Hub):
                auth = self.people.auth
                state = auth.set_state_cookie(handler, next_url=handler.request.uri)
                handler.redirect(url_concat(auth.login_url, {"state": state}))
                return False
            if refusal.status_code == 401 and login:
                handler.set_header("WWW-Authenticate", 'Basic realm="Password: your key", charset="UTF-8"')
            if refusal.wait:
                handler.set_header("Retry-After", str(refusal.wait))
            handler.set_status(refusal.status_code)
            await handler.finish(self._way_back(refusal) if login else refusal.sentence)
            return False
        return True

    def _way_back(self, refusal: Refusal) -> str:
        """The page for who is refused: what was wrong, and what opens the page."""
        if isinstance(self.people, Hub):
            how = f"The hub's admins see it, and the members of its group <code>{INSTRUCTORS}</code>."
        else:
            how = (
                "<a href=\"?again\">Log in</a> with any name and, as the password, an instructor's key. In the judge's "
                "file of keys it stands before a name that ends in <code>(instructor)</code>. Who runs the judge makes "
                'one with <code>anatomy serve --new-keys keys.txt "Grace (instructor)"</code> and restarts it.'
            )
        return (
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><title>For instructors</title>'
            f"<h1>{escape(refusal.sentence)}</h1><p>{how}</p></html>"
        )

    async def _visitor(self, handler: RequestHandler) -> Person:
        """Who asks with a browser, which has the hub's cookie or sends a password."""
        if not isinstance(self.people, Hub):
            if not (key := token_of(handler) or password_of(handler)):
                raise Refusal(401, "This page is for instructors.")
            return await self.person(key, address_of(handler))
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
    except ValueError:  # no base64, or not of UTF-8
        return ""


def address_of(handler: RequestHandler) -> str:
    """Where a request comes from: an IPv4 address, or the network of an IPv6 one.

    A proxy on this machine names it in the last place of ``X-Forwarded-For``; nobody else is believed.
    """
    peer = handler.request.remote_ip or ""
    said = handler.request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    for address in [said, peer] if is_local(peer) else [peer]:
        with contextlib.suppress(ValueError):
            known = ipaddress.ip_address(address)
            return str(ipaddress.ip_network((known, 64), strict=False)) if known.version == 6 else str(known)
    return ""
