"""The page on which an instructor sees what the room is doing: which exercise, which mistakes, how many are stuck.

It asks for news every two seconds, and for nothing from elsewhere. Names are sent only when its switch asks for them.
"""

from __future__ import annotations

import re
import secrets
from datetime import datetime
from functools import cache
from typing import Any

import jinja2
from tornado.web import RequestHandler

from anatomy.classroom.serving.people import IsInstructor
from anatomy.classroom.serving.room import FORGOTTEN, PRESENT, RECENT, STUCK, Room
from anatomy.engine.cards.markup import prose

EVERY = 2
"""Seconds between two looks."""

MOST = 6
"""Mistakes on the page; further ones are counted."""

_FIRST_SENTENCE = re.compile(r"((?:`[^`]*`|[^`])*?[.?!]\)?) (?=[A-Z`(“*])")
_BEFORE_LAST_COLON = re.compile(r"((?:`[^`]*`|[^`])*)[:;] ")


def handlers(room: Room, is_instructor: IsInstructor) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Tornado's handlers of the page and of its news, at ``live`` and ``live.json``, and of what leads there."""
    handed = {"room": room, "is_instructor": is_instructor}
    return [("", Entrance, {}), ("live", LivePage, handed), (r"live\.json", LiveNews, handed)]


class Entrance(RequestHandler):
    """`GET` of the service's own address: where to go from there."""

    def get(self) -> None:
        self.finish(
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>The judge</title>'
            '<p>This is the judge of a class. Instructors see the room at <a href="live">the live view</a>; '
            "students check their answers in their notebooks.</p></html>"
        )


class _ForInstructors(RequestHandler):
    def initialize(self, room: Room, is_instructor: IsInstructor) -> None:
        self.room, self.is_instructor = room, is_instructor

    def set_default_headers(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")


class LivePage(_ForInstructors):
    """`GET live`: the page."""

    async def get(self) -> None:
        if await self.is_instructor(self, login=True):
            nonce = secrets.token_urlsafe()
            self.set_header(
                "Content-Security-Policy",
                f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
                "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
            )
            self.finish(page(self.room.snapshot(False), nonce))


class LiveNews(_ForInstructors):
    """`GET live.json`: what `Room.snapshot` says, and the same as HTML; ``?names=1`` asks for names."""

    async def get(self) -> None:
        if await self.is_instructor(self, login=False):
            news = self.room.snapshot(self.get_query_argument("names", "") == "1")
            self.finish(news | {"html": board(news)})


def page(news: dict[str, Any], nonce: str) -> str:
    """The whole page, which begins with this news."""
    return _template().render(board=board(news), nonce=nonce, every=EVERY)


def board(news: dict[str, Any]) -> str:
    """What changes on the page: the news as HTML."""
    module = _template().make_module({"board": "", "nonce": "", "every": EVERY})
    spans = {"recent": RECENT, "present": PRESENT, "kept": FORGOTTEN}
    started = datetime.fromtimestamp(news["since"]).astimezone().isoformat(timespec="seconds")
    return str(module.board_of(news, started=started, most=MOST, stuck=STUCK, **spans))  # type: ignore[attr-defined]


def parted(sentence: str) -> tuple[str, str]:
    """What a mistake does, and the rest, which says how to mend it.

    The rest begins after the first sentence, or after the last colon or semicolon of the only one.
    """
    if found := _FIRST_SENTENCE.match(sentence):
        return found[1], sentence[found.end() :]
    if found := _BEFORE_LAST_COLON.match(sentence):
        return f"{found[1]}.", sentence[found.end() :]
    return sentence, ""


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("anatomy.classroom.serving", ""), undefined=jinja2.StrictUndefined, autoescape=True,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"prose": prose, "parted": parted}
    return environment.get_template("live.html.j2")
