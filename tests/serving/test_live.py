"""The live view: for instructors only, and nothing that a student named or wrote runs in it."""

from __future__ import annotations

import json
import re
from datetime import datetime

import pytest
from tornado.testing import AsyncHTTPTestCase
from tornado.web import Application

from anatomy.classroom.serving.live import board, handlers, parted
from anatomy.classroom.serving.room import PRESENT, STUCK, Room
from anatomy.engine.cards.markup import prose

HOSTILE = "<script>alert(1)</script>"


class TestPages(AsyncHTTPTestCase):
    """A room with one student, and a door that asks for a header."""

    def get_app(self):
        async def is_instructor(handler, *, login):
            if handler.request.headers.get("Who") == "instructor":
                return True
            handler.set_status(403)
            handler.finish("no")
            return False

        self.room = Room()
        for _ in range(STUCK):
            self.room.note(f"Ada {HOSTILE}", "softmax", "wrong", {"m": f"`dim` is {HOSTILE} the last"})
        return Application([(f"/judge/{pattern}", *rest) for pattern, *rest in handlers(self.room, is_instructor)])

    def get_page(self, path, who="instructor"):
        return self.fetch(f"/judge/{path}", headers={"Who": who})

    def test_only_instructors_see_it(self):
        for path in ("live", "live.json", "live.json?names=1"):
            reply = self.get_page(path, who="student")
            assert (reply.code, reply.body) == (403, b"no"), path
        assert self.get_page("livexjson").code == 404

    def test_the_page_shows_the_room_without_names_and_runs_nothing_of_a_students(self):
        reply = self.get_page("live")
        text, policy = reply.body.decode(), reply.headers["Content-Security-Policy"]
        nonce = policy.partition("script-src 'nonce-")[2].partition("'")[0]
        assert "3.1" in text and "the last" in text and "Ada" not in text and HOSTILE not in text
        assert text.count("<script") == text.count(f'<script nonce="{nonce}">') == 1 and "default-src 'none'" in policy
        assert "http://" not in text and "https://" not in text
        assert reply.headers["Cache-Control"] == "no-store"

    def test_the_services_own_address_leads_to_the_page_and_tells_nobody_anything(self):
        text = self.get_page("", who="student").body.decode()
        assert '<a href="live">' in text and "judge of a class" in text and "softmax" not in text

    def test_the_news(self):
        news = json.loads(self.get_page("live.json").body)
        assert news["stuck"]["students"] == 1 and "Ada" not in json.dumps(news)
        named = json.loads(self.get_page("live.json?names=1").body)
        assert named["stuck"]["exercises"][0]["names"] == [f"Ada {HOSTILE}"]
        assert HOSTILE not in named["html"] and "<bdi>Ada &lt;script" in named["html"]
        assert "<code>dim</code> is &lt;script" in named["html"]


def words(html):
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def after(*checks, since=0.0):
    """What the page says of a room after these checks, by people with one mistake in mind or another."""
    room = Room(since)
    for number, (user, status, *mistakes) in enumerate(checks):
        room.note(user, "softmax", status, {name: f"Mistake {name}." for name in mistakes}, at=20_000 + number)
    return words(board(room.snapshot(False, at=20_100)))


def test_an_empty_room_says_so():
    text = words(board(Room(0).snapshot(False, at=1e6)))
    assert "Nobody has checked an answer in the last 15 minutes." in text and "They appear with the next check" in text
    assert "No wrong answer in the last 10 minutes." in text
    assert "Nobody here has 4 wrong answers in a row." in text


def test_a_judge_that_has_just_started_does_not_speak_of_the_time_before():
    since = datetime(2026, 3, 2, 12, 44).timestamp()
    html = board(Room(since).snapshot(False, at=since + 60))
    assert re.search(r'<time datetime="2026-03-02T12:44:00[+-]\d\d:\d\d">12:44</time>', html)
    text = words(html)
    assert "minutes" not in text and "hours" not in text
    for said in ("Nobody has checked an answer", "No wrong answer", "Nobody here has 4 wrong answers in a row,"):
        assert f"{said} since the judge started at 12:44 ." in text, said
    text = words(board(Room(since).snapshot(False, at=since + PRESENT)))
    assert "Nobody has checked an answer in the last 15 minutes." in text and "row, since the judge started" in text


def test_counts_say_since_when():
    assert "1 student who checked an answer in the last 4 hours" in after(("a", "right"))
    assert "1 student who checked an answer since the judge started at" in after(("a", "right"), since=19_000)


def test_the_tick_stands_only_where_the_exercise_is_right_by_now():
    assert "✓ right by now 3.1 softmax Mistake m." in after(("a", "wrong", "m"), ("a", "right"))
    for newest in (("a", "wrong", "other"), ("a", "wrong")):
        text = after(("a", "wrong", "m"), newest)
        assert "0 of 1 3.1 softmax Mistake m. now another mistake" in text and "✓" not in text, text
    assert "✓ all 2 right" in after(("a", "wrong", "m"), ("b", "wrong", "m"), ("a", "right"), ("b", "right"))
    some = after(("a", "wrong", "m"), ("b", "wrong", "m"), ("c", "wrong", "m"), ("a", "right"), ("b", "wrong"))
    assert "1 of 3 3.1 softmax Mistake m. 1 now another mistake, 1 right" in some and "✓" not in some
    assert "1 of 2 3.1 softmax Mistake m. 1 now right" in after(
        ("a", "wrong", "m"), ("b", "wrong", "m"), ("a", "right")
    )


@pytest.mark.parametrize(
    ("sentence", "what", "rest"),
    [
        ("You take 1.5 `a. B`: that is ⅔. Take `x`: it is 1.", "You take 1.5 `a. B`: that is ⅔.", "Take `x`: it is 1."),
        ("The mask hides nothing (yet.) `~mask` does.", "The mask hides nothing (yet.)", "`~mask` does."),
        ("The head: `b[1: 2]` is D; it needs none.", "The head: `b[1: 2]` is D.", "it needs none."),
        ("You forget the mask.", "You forget the mask.", ""),
    ],
)
def test_a_projector_shows_what_a_mistake_does_and_folds_how_to_mend_it(sentence, what, rest):
    assert parted(sentence) == (what, rest)
    room = Room(0)
    room.note("a", "softmax", "wrong", {"m": sentence}, at=20_000)
    html = board(room.snapshot(False, at=20_100))
    assert (f"{prose(what)}<details><summary>" in html) == ("<details" in html) == bool(rest)
    assert f"{prose(rest)}</details>" in html or f" {prose(what)}</td>" in html


def test_wrong_answers_without_a_name_stand_with_the_others():
    room = Room(0)
    room.note("a", "softmax", "wrong", {}, "Your rows sum to `2`.", at=20_000)
    room.note("b", "softmax", "wrong", {}, at=20_001)
    room.note("b", "attention_weights", "wrong", {}, at=20_002)
    text = words(board(room.snapshot(False, at=20_100)))
    assert "2 3.1 softmax Wrong, and not named yet. A card says: Your rows sum to 2 ." in text
    assert "1 3.2 attention_weights Wrong, and not named yet. Exercises" in " ".join(text.split()).replace("_ ", "_")


def test_further_mistakes_are_counted_and_no_more_is_claimed_of_them():
    text = after(("a", "wrong", *"bcdefghi"))
    assert "and 2 more" in text and "fewer" not in text
