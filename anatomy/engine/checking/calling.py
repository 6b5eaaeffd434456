"""Requests to the class's judge, and what becomes of them when it is away, busy or another one."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from anatomy.engine.checking.joining import JUDGE, LOCAL, class_judge, key_for, store_key
from anatomy.engine.errors import UserError

VERSION = 1
"""Of what is sent and answered."""

SECONDS = 5.0
"""How long a check waits for the judge."""

LARGEST, LARGEST_ANSWER = 24 * 2**20, 4 * 2**20
"""Bytes of a request, and of an answer."""

MOST_PARTS = 40
"""Earlier answers that one answer may call; no notebook has as many exercises."""


class CheckUnavailable(UserError):
    """An answer was not checked, which says nothing about it. The message says why, and what to do."""


class Refused(CheckUnavailable):
    """The judge answers nobody who asks as this machine does."""


class UnknownKey(Refused):
    """The judge knows nobody by the key that was shown. Another key helps."""


def join_class(key: str) -> str:
    """Ask the judge whose key this is, keep it if it is somebody's, and say so.

    While the judge is away, it is kept if there is none yet.

    Raises
    ------
    UserError
        When there is no judge to join, or it does not know the key.
    """
    if not (address := class_judge()):
        raise UserError(f"This copy of the course judges answers by itself; {JUDGE} can name a judge to ask instead.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UserError("That is no key: it has letters, digits and signs only, and no spaces.")
    try:
        whose = str(call(address, "me", key=key).get("name"))
    except Refused:
        raise
    except CheckUnavailable as reason:
        if key_for(address):
            return f"Not stored, as it can't be tried and you have a key already: {reason}"
        return f"Stored in {store_key(address, key)}, but not tried: {reason}"
    other = " It takes the place of another key." if key_for(address) not in ("", key) else ""
    return f"The judge knows you as {whose}. Your key is stored in {store_key(address, key)}.{other}"


def call(address: str, what: str, body: bytes | None = None, key: str | None = None) -> dict[str, Any]:
    """What the judge answers to one request; once more where it asks to wait for a moment.

    Raises
    ------
    CheckUnavailable
        When it does not answer in time, refuses, or answers something else than this version of the course expects.
    """
    if body and len(body) > LARGEST:
        raise CheckUnavailable("What your answer returned is too large to be sent to the judge.")
    until = time.monotonic() + SECONDS
    while True:
        left = until - time.monotonic()
        status, said, wait = _in_time(address, what, body, key_for(address) if key is None else key, max(left, 0.1))
        if status == 200 and said.get("version") == VERSION:
            return said
        if status in (429, 503) and 0 < wait < left:
            time.sleep(wait)
            continue
        sentence = said.get("error")
        if status == 200 or not isinstance(sentence, str):
            raise CheckUnavailable(
                f"The service at {_host(address)} is not a judge of this version of the course (HTTP status {status}): "
                "ask your instructor."
            )
        raise {401: UnknownKey, 403: Refused}.get(status, CheckUnavailable)(sentence[:500])


def _in_time(
    address: str, what: str, body: bytes | None, key: str, seconds: float
) -> tuple[int, dict[str, Any], float]:
    """Status, JSON and the seconds to wait. All of it, the name's look-up included, has so many seconds."""
    found: list[tuple[int, dict[str, Any], float] | str] = []
    arguments = (found, f"{address}/{what}", body, key, seconds)
    thread = threading.Thread(target=_send, args=arguments, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        raise CheckUnavailable(f"The judge at {_host(address)} took more than {SECONDS:.0f} s.")
    if isinstance(found[0], str):
        raise CheckUnavailable(f"The judge at {_host(address)} can't be reached ({found[0]}).")
    return found[0]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key goes to the address that it is for, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _send(found: list[Any], url: str, body: bytes | None, key: str, seconds: float) -> None:
    try:
        headers = {"Content-Type": "application/json", **({"Authorization": f"token {key}"} if key else {})}
        request = urllib.request.Request(url, body, headers)
        direct = [urllib.request.ProxyHandler({})] if urlsplit(url).hostname in LOCAL else []
        opener = urllib.request.build_opener(_NoRedirects, *direct)
        try:
            with opener.open(request, timeout=seconds + 1) as answer:  # then nobody waits any more
                found.append((answer.status, _parsed(answer.read(LARGEST_ANSWER)), 0))
        except urllib.error.HTTPError as refusal:
            wait = refusal.headers.get("Retry-After") or ""
            found.append((refusal.code, _parsed(refusal.read(LARGEST_ANSWER)), int(wait) if wait.isdigit() else 0))
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        found.append(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__)


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _host(address: str) -> str:
    return urlsplit(address).netloc or address
