"""The service: verdicts as in a notebook, for those who have a key; and what it does with everything else."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import logging
import os
import random
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from anatomy.classroom.serving import rates
from anatomy.classroom.serving.people import CannotTell, Person
from anatomy.classroom.serving.rates import Bucket, Losses, Strangers, Users
from tests.serving.service import LAST_AXIS, OVER_ALL, QUERIES, SCORES, SOFTMAX, WEIGHTS, Running, request

RIGHT = request("softmax", SOFTMAX)


# ---- verdicts ------------------------------------------------------------------------------------------------------


def test_a_right_answer_is_right_and_the_room_is_told(judge: Running, keys: dict[str, str]) -> None:
    status, said = judge.ask(RIGHT, keys["Ada"])
    assert status == 200 and said["version"] == 1
    assert (said["status"], said["points"], said["headline"]) == ("right", said["max_points"], "Right: 7 of 7 points.")
    assert "Right: 7 of 7 points." in said["html"] and said["text"].startswith("Right: 7 of 7 points.")
    assert judge.room.noted == [("Ada Lovelace", "softmax", "right", {})]


def test_a_mistake_is_named_and_its_name_goes_to_the_room(judge: Running, keys: dict[str, str]) -> None:
    _, said = judge.ask(request("attention_weights", SCORES, SOFTMAX, QUERIES), keys["Alan"])
    assert said["status"] == "wrong" and [*said["mistakes"].values()] == [said["headline"]]
    assert "queries" in said["headline"]
    assert judge.room.noted == [("Alan", "attention_weights", "wrong", said["mistakes"])]


def test_a_wrong_part_is_to_be_mended_first(judge: Running, keys: dict[str, str]) -> None:
    """No right part can be lent to a machine that must not hold one."""
    _, said = judge.ask(request("attention_weights", SCORES, OVER_ALL, WEIGHTS), keys["Ada"])
    assert said["headline"] == "It calls your `softmax` (3.1), which is not right yet: mend that first."
    assert said["status"] == "wrong" and said["points"] == 0 and "3.1" in said["html"]
    assert judge.room.noted == [("Ada Lovelace", "attention_weights", "waits", {})], "nobody is at work on it"


def test_what_calls_a_wrong_part_and_is_right_all_the_same_is_right(judge: Running, keys: dict[str, str]) -> None:
    """A softmax that takes no other axis than the last is wrong; attention weights need no other."""
    assert judge.ask(request("softmax", LAST_AXIS), keys["Ada"])[1]["status"] == "wrong"
    _, said = judge.ask(request("attention_weights", SCORES, LAST_AXIS, WEIGHTS), keys["Ada"])
    assert said["status"] == "right" and said["mend_first"] == []


def test_of_wrong_parts_the_one_that_spoils_the_others_is_named(judge: Running, keys: dict[str, str]) -> None:
    whole = ("def scaled_dot_product_attention(query, key, value):\n"
             "    return attention_weights(query, key) @ value\n")  # fmt: skip
    _, said = judge.ask(request("scaled_dot_product_attention", SCORES, OVER_ALL, WEIGHTS, whole), keys["Ada"])
    assert said["headline"] == "It calls your `softmax` (3.1), which is not right yet: mend that first."


def test_what_is_not_written_yet_is_not_attempted(judge: Running, keys: dict[str, str]) -> None:
    _, said = judge.ask(request("softmax"), keys["Ada"])
    assert said["status"] == "not attempted"


def test_the_same_again_is_answered_from_memory(judge: Running, keys: dict[str, str]) -> None:
    first = judge.ask(RIGHT, keys["Ada"])
    processes = judge.service.workers.processes
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        assert judge.ask(RIGHT, keys["Alan"]) == first
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
    assert [user for user, *_ in judge.room.noted] == ["Ada Lovelace", "Alan"]


# ---- what is not believed, and what is refused ---------------------------------------------------------------------


def forged(change: Any) -> str:
    asked = json.loads(request("softmax", OVER_ALL))
    change(asked["observation"])
    return json.dumps(asked)


def claims_right_parts(record: dict) -> None:
    right = json.loads(RIGHT)["observation"]
    record["tree"] |= {"parts": ["softmax"], "with_right_parts": right["tree"]["cases"], "called": ["scaled_scores"]}


def test_that_right_parts_stood_in_is_not_believed(judge: Running, keys: dict[str, str]) -> None:
    _, said = judge.ask(forged(claims_right_parts), keys["Ada"])
    assert said["status"] == "wrong" and "mend" not in said["headline"]


def tensors(shape: list[int], size: int) -> str:
    head = json.dumps({"0": {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    return base64.b64encode(struct.pack("<Q", len(head)) + head + bytes(size)).decode()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("no JSON", "can't be read as JSON"),
        ("[" * 100_000, "can't be read as JSON"),
        ("[]", "no request"),
        ('{"version": 2}', "your copy of the course"),
        ('{"version": 1, "observation": 3}', "can't be read"),
        (json.dumps({"version": 1, "observation": {"tree": {"exercise": "no_such", "cases": []},
                                                   "tensors": tensors([1], 4)}}), "no exercise called"),
        (forged(lambda record: record.update(tensors="gASVJAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU")), "can't be read"),
        (forged(lambda record: record.update(tensors=tensors([2**40], 4))), "can't be read"),
        (forged(lambda record: record.update(tensors=tensors([2**40, 0], 0))), "can't be read"),
        (forged(lambda record: record.update(tensors=tensors([0, 2**64 - 1], 0))), "can't be read"),
        (forged(lambda record: record["tree"].update(similar={"$float": []})), "can't be read"),
        (forged(lambda record: record.update(tree=json.loads("[" * 90 + "]" * 90))), "can't be read"),
        (request("softmax", SOFTMAX, parts=[{}] * 41), "short list"),
        (forged(lambda record: record["tree"]["cases"][0].update(parameters={f"w{n}": [] for n in range(40_000)})),
         "names"),
    ],
    ids=["text", "brackets", "list", "version", "number", "exercise", "pickle", "huge", "empty rows", "endless",
         "float", "deep", "parts", "names"],
)  # fmt: skip
def test_what_is_no_observation_is_refused_with_a_sentence(
    judge: Running, keys: dict[str, str], body: str, words: str
) -> None:
    before = judge.service.workers.processes
    status, said = judge.ask(body, keys["Ada"])
    assert status == 400 and words in said["error"]
    assert judge.room.noted == [] and judge.service.workers.processes == before


def test_without_a_key_nothing_is_judged(judge: Running, keys: dict[str, str]) -> None:
    for key in ("", "x" * 32, keys["Ada"][:-1], f"{keys['Ada']} é"):
        status, said = judge.ask(RIGHT, key)
        why = (
            "does not know this key: compare it with the one"
            if key
            else "no key for this judge yet: ask your instructor"
        )
        assert status == 401 and why in said["error"]
    assert judge.ask("", keys["Grace"], "/judge/me")[1]["instructor"] is True
    assert judge.ask("", keys["Alan"], "/judge/me")[1] | {"retry": None} == {
        "version": 1, "name": "Alan", "instructor": False, "course": "anatomy.course", "retry": None}  # fmt: skip
    assert judge.room.noted == []


def test_who_guesses_keys_keeps_nobody_else_waiting(judge: Running, keys: dict[str, str], monkeypatch) -> None:
    """Neither those who were known before nor those who show their key for the first time."""
    monkeypatch.setattr(judge.service, "_seen", {})
    monkeypatch.setattr(judge.service, "strangers", Strangers(clock=lambda: 0))
    judge.service.strangers.all = Bucket(1, 2, clock=lambda: 0)
    assert judge.ask("", keys["Ada"], "/judge/me")[0] == 200
    said = [judge.ask("", f"{guess:032}", "/judge/me") for guess in range(4)]
    assert [status for status, _ in said] == [401, 401, 429, 429] and said[-1][1]["retry"] == "1"
    assert {judge.ask("", key, "/judge/me")[0] for key in keys.values()} == {200}
    assert judge.ask("", "", "/judge/me")[0] == 401, "no key is no guess"


def test_a_flood_from_one_address_is_held_back_by_itself(judge: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy, which is on this machine, says where a request comes from."""
    monkeypatch.setattr(judge.service, "strangers", Strangers(clock=lambda: 0))
    ask = [judge.ask("", "x" * 32, "/judge/me", **{"X-Forwarded-For": "9.9.9.9, 2001:db8::1"})[0] for _ in range(70)]
    assert ask == [401] * 60 + [429] * 10
    for other in ("2001:db8::1, 9.9.9.9", "2001:db8:0:1::1", "no address", ""):
        assert judge.ask("", "x" * 32, "/judge/me", **{"X-Forwarded-For": other})[0] == 401
    assert judge.ask("", "x" * 32, "/judge/me", **{"X-Forwarded-For": "2001:db8::2"})[0] == 429, "the same network"


def header(chance: random.Random) -> bytes:
    """Some bytes for the header `Authorization`: keys of all kinds, whole, cut, and with strange bytes in them."""
    anything = bytes(chance.choice([*range(32, 127), *range(128, 256), 9]) for _ in range(chance.randrange(40)))
    secret = chance.choice([anything, b"me:" + anything, b":", b"\xff\xfe:\xff", "é:ü".encode(), b"x" * 5000])
    sent = chance.choice([secret, base64.b64encode(secret), base64.b64encode(secret)[:-1], b"=" + secret])
    kind = chance.choice([b"Basic", b"basic", b"token", b"Bearer", b"Digest", anything.split(b" ")[0], b""])
    return kind + chance.choice([b" ", b"", b"  ", b"\t"]) + sent


def raw_status(judge: Running, path: str, authorization: bytes) -> int:
    """What a request with these very bytes is answered."""
    with socket.create_connection(("127.0.0.1", int(judge.address.split(":")[2].split("/")[0]))) as connection:
        connection.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: %s\r\n\r\n"
                           % (path.encode(), authorization))  # fmt: skip
        return int(connection.makefile("rb").readline().split()[1])


def test_no_header_makes_the_service_stumble(
    judge: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(judge.service, "strangers", Strangers(clock=lambda: 0))
    judge.service.strangers.all = Bucket(1, 100_000, clock=lambda: 0)
    monkeypatch.setattr(rates, "OF_ONE_ADDRESS", (1, 100_000))
    known = [b"Basic \xff\xfe", b"Basic " + base64.b64encode(b"\xff:\xff"), b"token \xff\xfe", b"Basic \xe9t\xe9"]
    chance = random.Random(5)
    for sent in [*known, *(header(chance) for _ in range(300))]:
        for path in ("/judge/page", "/judge/me"):
            assert raw_status(judge, path, sent) == 401, sent
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_what_is_too_large_is_not_read(judge: Running, keys: dict[str, str]) -> None:
    status, said = judge.ask(b"", keys["Ada"], method="POST", **{"Content-Length": str(25 * 2**20)})
    assert status == 413 and "too large" in said["error"]


def test_a_flood_of_one_user_is_held_back_and_nobody_else(judge: Running, keys: dict[str, str]) -> None:
    judge.service.users = Users(a_minute=6, burst=3, clock=lambda: 0)
    found = [judge.ask(RIGHT, keys["Ada"]) for _ in range(5)]
    assert [status for status, _ in found] == [200, 200, 200, 429, 429]
    assert found[-1][1]["retry"] == "10" and "wait 10 s" in found[-1][1]["error"]
    assert judge.ask(RIGHT, keys["Alan"])[0] == 200


def test_a_worker_that_dies_costs_one_check(judge: Running, keys: dict[str, str]) -> None:
    """Meanwhile the same user can't ask again, others wait, and where too many do, they are told so."""
    judge.service.losses = Losses(clock=lambda: 0)
    (process,) = judge.service.workers.processes
    os.kill(process, signal.SIGSTOP)
    found: dict[str, Any] = {}

    def ask(name: str, body: str) -> threading.Thread:
        thread = threading.Thread(target=lambda: found.update({name: judge.ask(body, keys[name])}))
        thread.start()
        return thread

    threads = [ask("Ada", request("softmax", "softmax = 1"))]
    while not judge.service.users.busy:
        pass
    assert judge.ask(RIGHT.replace("{", "{ ", 1), keys["Ada"])[0] == 429
    threads.append(ask("Alan", request("softmax", "softmax = 2")))
    while not judge.service.workers.waiting:
        pass
    judge.service.workers.most_waiting, most = 1, judge.service.workers.most_waiting
    status, said = judge.ask(request("softmax", "softmax = 3"), keys["Grace"])
    assert status == 503 and said["retry"] == "2"
    judge.service.workers.most_waiting = most
    os.kill(process, signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert found["Ada"][0] == 500 and "took too long or stopped" in found["Ada"][1]["error"]
    status, said = judge.ask(RIGHT, keys["Ada"])
    assert (status, said["retry"]) == (429, "5") and "took too long or stopped: wait 5 s" in said["error"]
    assert found["Alan"][0] == 200 and found["Alan"][1]["status"] == "wrong"
    assert judge.service.workers.processes != [process]


# ---- who does not wait for an answer -------------------------------------------------------------------------------


def until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def stopped(judge: Running) -> Iterator[None]:
    """No worker computes meanwhile."""
    processes = judge.service.workers.processes
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def sent(judge: Running, body: str, key: str, size: int = 0) -> socket.socket:
    """The connection on which a check was sent, or the first part of one of `size` bytes."""
    connection = socket.create_connection(("127.0.0.1", int(judge.address.split(":")[2].split("/")[0])))
    head = f"POST /judge/check HTTP/1.1\r\nHost: x\r\nAuthorization: token {key}\r\n"
    connection.sendall(f"{head}Content-Length: {size or len(body)}\r\n\r\n{body}".encode())
    return connection


def test_a_check_that_nobody_waits_for_any_more_is_noted_and_keeps_its_user_busy(
    judge: Running, keys: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    slow = request("softmax", SOFTMAX, "# slow", again=1)
    with stopped(judge):
        with sent(judge, slow, keys["Ada"]):
            until(lambda: judge.service.users.busy and not judge.service.workers.waiting)
        for _ in range(5):
            status, said = judge.ask(RIGHT, keys["Ada"])
            assert status == 429 and "still being judged" in said["error"]
            time.sleep(0.05)
    until(lambda: judge.room.noted and not judge.service.users.busy)
    assert judge.room.noted == [("Ada Lovelace", "softmax", "right", {})]
    with stopped(judge):
        assert judge.ask(slow, keys["Ada"])[1]["status"] == "right", "it is known when she asks again"
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_worker_that_dies_of_what_nobody_waits_for_is_logged(
    judge: Running, keys: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    (process,) = judge.service.workers.processes
    os.kill(process, signal.SIGSTOP)
    with sent(judge, request("softmax", SOFTMAX, again=2), keys["Ada"]):
        until(lambda: judge.service.users.busy and not judge.service.workers.waiting)
    time.sleep(0.1)
    os.kill(process, signal.SIGKILL)
    until(lambda: not judge.service.users.busy)
    assert "Ada Lovelace: a check took too long or ended its worker" in caplog.messages
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_what_waits_is_dropped_when_who_asked_has_gone(judge: Running, keys: dict[str, str]) -> None:
    assert judge.ask("{}", keys["Ada"])[0] == 400  # the worker is there
    with stopped(judge):
        alan = sent(judge, request("softmax", SOFTMAX, again=3), keys["Alan"])
        until(lambda: judge.service.users.busy and not judge.service.workers.waiting)
        with sent(judge, request("softmax", SOFTMAX, again=4), keys["Ada"]):
            until(lambda: judge.service.workers.waiting)
        until(lambda: not judge.service.workers.waiting)
        until(lambda: judge.service.users.busy == {"Alan"})
    with alan:
        assert alan.recv(12) == b"HTTP/1.1 200"
    assert judge.ask(RIGHT, keys["Ada"])[0] == 200
    assert [user for user, *_ in judge.room.noted] == ["Alan", "Ada Lovelace"]


def test_who_goes_before_all_has_arrived_may_ask_again(judge: Running, keys: dict[str, str]) -> None:
    with sent(judge, "{", keys["Ada"], size=100):
        until(lambda: judge.service.users.busy)
    until(lambda: not judge.service.users.busy)
    assert judge.ask(RIGHT, keys["Ada"])[0] == 200


def test_who_goes_before_they_are_known_may_ask_again(
    judge: Running, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = threading.Event()

    class Slow:
        are_at_hand = True

        async def person(self, key: str) -> Person:
            while not known.is_set():
                await asyncio.sleep(0.01)
            return Person("Emmy")

    monkeypatch.setattr(judge.service, "people", Slow())
    sent(judge, "", "Emmy's", size=100).close()
    time.sleep(0.1)
    known.set()
    until(lambda: judge.ask(RIGHT, "Emmy's")[0] == 200)


# ---- what is known of it -------------------------------------------------------------------------------------------


def test_logs_hold_who_what_and_how_long(judge: Running, keys: dict[str, str], caplog) -> None:
    with caplog.at_level(logging.INFO, "anatomy.classroom.serving"):
        judge.ask(RIGHT, keys["Ada"])
    (line,) = [record.getMessage() for record in caplog.records if record.name == "anatomy.classroom.serving"]
    assert line.rpartition(" ")[0].rpartition(" ")[0] == "Ada Lovelace softmax right"


def test_health_is_for_everybody(judge: Running) -> None:
    until(lambda: judge.ask("", "", "/judge/health")[1]["workers"] == 1)  # one that another test has ended comes back
    status, said = judge.ask("", "", "/judge/health")
    assert status == 200 and said["workers"] == 1 and said["waiting"] == 0


def test_a_hub_that_is_down_keeps_nobody_out_who_was_known(
    judge: Running, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Down:
        are_at_hand = False

        async def person(self, key: str) -> None:
            raise CannotTell

    assert judge.ask(RIGHT, keys["Ada"])[0] == 200
    monkeypatch.setattr(judge.service, "people", Down())
    assert judge.ask(RIGHT, keys["Ada"])[0] == 200
    status, said = judge.ask(RIGHT, "a new token")
    assert status == 503 and "does not say who you are" in said["error"] and said["retry"] == "5"


def visit(judge: Running, key: str, path: str = "page", body: str = "", *, reads: str = "") -> tuple[int, str | None]:
    """What a browser gets that was told a name and a password: the status, and what it is asked for."""
    connection = http.client.HTTPConnection(judge.address.split("/")[2])
    sent = {"Authorization": f"Basic {base64.b64encode(f'me:{key}'.encode()).decode()}"} if key else {}
    connection.request("POST" if body else "GET", f"/judge/{path}", body, headers=sent)
    answer = connection.getresponse()
    assert reads in answer.read().decode()
    connection.close()
    return answer.status, answer.headers.get("WWW-Authenticate")


def test_pages_are_for_instructors(judge: Running, keys: dict[str, str]) -> None:
    """A browser asks for name and password: the password is the key."""
    for key, reads in (("", "as the password, an instructor's key"), ("x" * 32, "does not know this key: compare it")):
        status, asks = visit(judge, key, reads=reads)
        assert status == 401 and asks and asks.startswith("Basic ")
        assert visit(judge, key, "news") == (401, None), "nobody would see why the browser asks"
    assert visit(judge, keys["Ada"], reads="This page is for instructors; you are ") == (403, None)
    assert visit(judge, keys["Ada"], reads='<a href="?again">') == (403, None)
    status, asks = visit(judge, keys["Ada"], "page?again")
    assert status == 401 and asks, "a browser asks for another key only when the one that it sends is refused"
    assert visit(judge, keys["Ada"], "news") == (403, None)
    assert visit(judge, keys["Grace"], "page?again") == (200, None)
    assert visit(judge, keys["Grace"]) == visit(judge, keys["Grace"], "news") == (200, None)


def test_what_a_browser_sends_unasked_checks_nothing(judge: Running, keys: dict[str, str]) -> None:
    assert visit(judge, keys["Grace"], "check", RIGHT) == visit(judge, keys["Grace"], "me") == (401, None)
    assert judge.room.noted == []
