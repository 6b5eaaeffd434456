"""The live view in a browser: it follows the room, fits a projector and a telephone, and axe finds nothing to mend."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Route, expect
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from anatomy.classroom.serving.live import handlers
from anatomy.classroom.serving.room import STUCK, Room
from tests.browser.conftest import only_from

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture
def service() -> Iterator[tuple[str, Room]]:
    """Its address, and the room."""
    room, ready, loop = Room(), threading.Event(), asyncio.new_event_loop()
    (socket,) = bind_sockets(0, "127.0.0.1")

    async def yes(handler: object, *, login: bool) -> bool:
        return True

    async def serve() -> None:
        HTTPServer(Application([(f"/{pattern}", *rest) for pattern, *rest in handlers(room, yes)])).add_sockets(
            [socket]
        )
        ready.set()

    def run() -> None:
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    yield f"http://127.0.0.1:{socket.getsockname()[1]}", room
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def refusing(status: int) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status, headers={"Location": "/login"})


def test_it_follows_the_room(chromium: Browser, service: tuple[str, Room]) -> None:
    address, room = service
    with only_from(chromium, address) as page:
        page.goto(f"{address}/live")
        expect(page.get_by_text("Nobody has checked an answer")).to_be_visible()
        for number in range(30):
            for _ in range(STUCK if number < 3 else 1):
                mistake = {f"m{number % 9}": f"Mistake {number % 9}: `scaled_dot_product_attention` is long."}
                status = "wrong" if number % 2 else "right"
                room.note(f"Student {number}", "scaled_dot_product_attention", status, mistake)
        expect(page.get_by_role("row", name="3.4 scaled_dot_product_attention 15 15")).to_be_visible()
        assert page.get_by_text("Student 1").count() == 0
        page.get_by_role("switch", name="Show names").check()
        expect(page.get_by_text("Student 1", exact=True).first).to_be_visible()
        page.get_by_role("switch", name="Show names").press("Space")
        expect(page.get_by_text("Student 1", exact=True)).to_have_count(0)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], scheme
        for width in (360, 1024, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        for status in (401, 302):
            page.route("**/live.json", refusing(status))
            expect(page.get_by_role("status")).to_have_text("Log in again: reload this page.")
            page.unroute("**/live.json")
            expect(page.get_by_role("status")).to_have_text("")
