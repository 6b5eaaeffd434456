"""Start the service, and end it in an orderly way."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from anatomy.classroom.serving.handlers import application
from anatomy.classroom.serving.people import Hub, Keys, People
from anatomy.classroom.serving.service import Service
from anatomy.classroom.serving.workers import JudgeWorkers, WorkerLost
from anatomy.engine.checking.calling import LARGEST
from anatomy.engine.errors import UserError
from anatomy.wiring import the_course

SLOWEST = 30
"""Seconds that a request may take to arrive, and that a connection may be idle."""


@dataclass(frozen=True)
class Place:
    """Where the service listens, and how its addresses begin."""

    host: str = "127.0.0.1"
    port: int = 8700
    prefix: str = "/"

    @classmethod
    def of_hub(cls) -> Place | None:
        """Where a JupyterHub expects this process, its service, to listen; None where none started it."""
        url = urlsplit(os.environ.get("JUPYTERHUB_SERVICE_URL", ""))
        if not url.hostname or "JUPYTERHUB_SERVICE_NAME" not in os.environ:  # a student's server has the first, too
            return None
        return cls(url.hostname, url.port or 80, os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/"))


def serve(people: People, place: Place, workers: JudgeWorkers, say: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Raises
    ------
    UserError
        When the place can't be listened at, this folder can't be entered, a process that judges can't be started, also
        later, or this is Windows.
    """
    if sys.platform == "win32":
        raise UserError("The judge needs Linux or macOS: its limits on time and memory are theirs.")
    if not os.access(os.getcwd(), os.X_OK):
        raise UserError(
            f"The user of this process may not enter {os.getcwd()}, where it was started, so its workers can't start: "
            "start it in another folder (in a JupyterHub's service, `cwd`)."
        )
    try:
        sockets = bind_sockets(place.port, place.host)
    except OSError as error:
        raise UserError(f"{place.host}, port {place.port}, can't be listened at: {error.strerror}.") from error
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    asyncio.run(_serve(people, place, workers, sockets, say))


async def _serve(
    people: People, place: Place, workers: JudgeWorkers, sockets: list[socket.socket], say: Callable[[str], None]
) -> None:
    from anatomy.classroom.serving import live
    from anatomy.classroom.serving.room import Room

    room, end = Room(), asyncio.Event()
    app = application(Service(people, workers, room), place.prefix, lambda who: live.handlers(room, who))
    server = HTTPServer(app, max_body_size=LARGEST, body_timeout=SLOWEST, idle_connection_timeout=SLOWEST)
    judging = asyncio.ensure_future(workers.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    course = the_course()
    for book in course.notebooks:
        course.exercises(book)  # now, and not when the live view asks for the first time
    ready = asyncio.ensure_future(workers.ask(b""))  # which is refused once there is somebody to do so
    ended = asyncio.ensure_future(end.wait())
    say("The judge is starting, which takes some seconds.")
    try:
        await asyncio.wait([judging, ended, ready], return_when=asyncio.FIRST_COMPLETED)
        if ready.done() and not end.is_set():
            if isinstance(ready.exception(), WorkerLost):
                raise UserError("The processes that judge end as soon as they start: what they said stands above.")
            server.add_sockets(sockets)
            address = f"http://{place.host}:{sockets[0].getsockname()[1]}{place.prefix}"
            say(f"The judge answers at {address}, {workers.count} at a time.")
            if not isinstance(people, Hub):  # a hub has an address of its own for it
                say(f"Instructors see the room at {address.rstrip('/')}/live, with any name and their key as password.")
                if isinstance(people, Keys) and not people.has_instructor:
                    say('No name in the file of keys ends in "(instructor)" yet: add one with --new-keys, and restart.')
            if books := ", ".join(workers.prepared):
                say(f"It is getting ready for {books}, and says here when it is.")
            which = "another" if books else "a"
            say(f"It gets ready for {which} notebook when the first answer to it arrives, and says here when it is.")
            await asyncio.wait([judging, ended], return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.stop()
        judging.cancel()
        ready.cancel()
        found, _ = await asyncio.gather(judging, ready, return_exceptions=True)
    if isinstance(found, Exception) and not end.is_set():
        raise found
