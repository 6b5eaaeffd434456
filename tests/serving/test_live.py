"""The live view: for instructors only, and nothing that a student named or wrote runs in it."""

from __future__ import annotations

import json

from tornado.testing import AsyncHTTPTestCase
from tornado.web import Application

from anatomy.classroom.serving.live import board, handlers
from anatomy.classroom.serving.room import STUCK, Room

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

    def test_the_news(self):
        news = json.loads(self.get_page("live.json").body)
        assert news["stuck"]["students"] == 1 and "Ada" not in json.dumps(news)
        named = json.loads(self.get_page("live.json?names=1").body)
        assert named["stuck"]["exercises"][0]["names"] == [f"Ada {HOSTILE}"]
        assert HOSTILE not in named["html"] and "<bdi>Ada &lt;script" in named["html"]
        assert "<code>dim</code> is &lt;script" in named["html"]


def test_an_empty_room_says_so():
    text = board(Room().snapshot(False))
    assert "Nobody has checked an answer in the last 15 minutes" in text and "They appear with the first check" in text
