"""Who asks: a file of keys, or a hub; and how often."""

from __future__ import annotations

import asyncio
import http.client
import json
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from anatomy.classroom.serving import rates
from anatomy.classroom.serving.people import BadKeys, CannotTell, Hub, Keys, Person, add_keys, read_keys
from anatomy.classroom.serving.rates import Answers, Bucket, Strangers, Users
from anatomy.classroom.serving.serve import Place
from tests.serving.service import running

# ---- a file of keys ------------------------------------------------------------------------------------------------


def test_each_name_gets_a_key_that_only_the_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    first = add_keys(path, ["Ada  Lovelace", "Grace (instructor)"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text(path.read_text().rstrip("\n"))
    second = add_keys(path, ["Alan"])
    known = read_keys(path)
    assert known == {
        first["Ada Lovelace"]: Person("Ada Lovelace"),
        first["Grace (instructor)"]: Person("Grace", is_instructor=True),
        second["Alan"]: Person("Alan"),
    }
    keys = Keys(path)
    assert asyncio.run(keys.person(second["Alan"])) == Person("Alan")
    assert asyncio.run(keys.person("é" * 32)) is None and asyncio.run(keys.person("")) is None


def test_who_has_a_key_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    add_keys(path, ["Ada"])
    before = path.read_text()
    for names in (["Ada"], ["Ada (instructor)"], ["Alan", "Alan"], [" "]):
        with pytest.raises(BadKeys):
            add_keys(path, names)
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "holds no keys"), ("0123456789abcdef", "line 1: a key of 16"), ("short Ada", "line 1: a key of 16"),
     ("# a class\n\n" + "0123456789abcdef Ada\n" * 2, "line 4: line 3 has this key already")],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "keys.txt"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(BadKeys, match=words):
        Keys(path)


def test_keys_that_others_can_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    add_keys(path, ["Ada"])
    for mode in (0o644, 0o640):
        path.chmod(mode)
        with pytest.raises(BadKeys, match=r"Run: chmod 600 .*keys\.txt$"):
            Keys(path)
    with pytest.raises(BadKeys, match="can't be read"):
        Keys(tmp_path / "none.txt")


# ---- a hub ---------------------------------------------------------------------------------------------------------

USERS = {
    "ada's": {"name": "ada", "scopes": ["access:services!service=judge"], "groups": ["2026"]},
    "grace's": {"name": "grace", "scopes": ["access:services"], "groups": ["anatomy-instructors"]},
    "root's": {"name": "root", "scopes": ["access:services"], "admin": True},
    "for another service": {"name": "ada", "scopes": ["access:services!service=wiki"], "groups": []},
    "a service's": {"name": "cull", "kind": "service", "scopes": ["access:services"]},
}


class FakeHub(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        token = self.headers["Authorization"].removeprefix("token ")
        self.asked.append(token)
        user = USERS.get(token)
        body = json.dumps({"kind": "user", **user} if user else {"status": 403}).encode()
        self.send_response(200 if user else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    auth = pytest.importorskip("jupyterhub.services.auth")
    server = HTTPServer(("127.0.0.1", 0), type("Handler", (FakeHub,), {"asked": []}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    for name, value in {
        "API_URL": f"http://127.0.0.1:{server.server_port}/hub/api", "API_TOKEN": "the service's",
        "CLIENT_ID": "service-judge", "SERVICE_NAME": "judge", "SERVICE_PREFIX": "/services/judge/",
        "SERVICE_URL": "http://127.0.0.1:10101",
        "OAUTH_ACCESS_SCOPES": '["access:services!service=judge", "access:services"]',
    }.items():  # fmt: skip
        monkeypatch.setenv(f"JUPYTERHUB_{name}", value)
    auth.HubOAuth.clear_instance()
    yield server
    auth.HubOAuth.clear_instance()
    if thread.is_alive():
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_hub_says_who_somebody_is(hub: HTTPServer) -> None:
    people = Hub()

    async def ask() -> list[Person | None]:
        return [await people.person(token) for token in [*USERS, "nobody's", "ada's"]]

    assert asyncio.run(ask()) == [
        Person("ada"), Person("grace", is_instructor=True), Person("root", is_instructor=True), None, None, None,
        Person("ada"),
    ]  # fmt: skip
    assert hub.RequestHandlerClass.asked.count("ada's") == 1, "its word is kept for a minute"  # type: ignore[attr-defined]


def test_what_no_header_can_hold_is_not_asked_about(hub: HTTPServer) -> None:
    assert [asyncio.run(Hub().person(token)) for token in ("é", "a\tb", "ÿþ")] == [None] * 3
    assert hub.RequestHandlerClass.asked == []  # type: ignore[attr-defined]


def test_a_hub_is_not_asked_about_unknown_keys_without_number(hub: HTTPServer) -> None:
    with running(Hub(), workers=0) as here:
        here.service.strangers = Strangers(clock=lambda: 0)
        statuses = [here.ask("", f"nobody {n}", "/judge/me", **{"X-Forwarded-For": "9.9.9.9"})[0] for n in range(62)]
        assert statuses == [403] * 60 + [429] * 2 and len(hub.RequestHandlerClass.asked) == 60  # type: ignore[attr-defined]
        for _ in range(3):  # a good key costs nothing
            assert here.ask("", "ada's", "/judge/me", **{"X-Forwarded-For": "9.9.9.8"})[0] == 200
        assert here.service.strangers.all.take() == 0 and here.service.strangers.all._tokens == 300 - 60 - 1


def test_a_hub_that_is_down_says_nothing(hub: HTTPServer) -> None:
    people = Hub()
    hub.shutdown()
    hub.server_close()
    with pytest.raises(CannotTell):
        asyncio.run(people.person("ada's"))


def test_a_hub_says_where_to_listen(hub: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Place.of_hub() == Place("127.0.0.1", 10101, "/services/judge/")
    monkeypatch.delenv("JUPYTERHUB_SERVICE_NAME")  # as in a student's server
    assert Place.of_hub() is None


def test_a_browser_logs_in_at_the_hub(hub: HTTPServer) -> None:
    with running(Hub(), workers=0) as here:
        connection = http.client.HTTPConnection(here.address.split("/")[2])
        connection.request("GET", "/judge/page")
        answer = connection.getresponse()
        assert answer.status == 302 and answer.headers["Set-Cookie"].startswith("service-judge-oauth-state")
        place = answer.headers["Location"]
        connection = http.client.HTTPConnection(here.address.split("/")[2])
        connection.request("GET", "/judge/news")
        answer = connection.getresponse()
        assert answer.status == 401 and "Location" not in answer.headers and "Set-Cookie" not in answer.headers
        assert place.startswith("/hub/api/oauth2/authorize?") and "client_id=service-judge" in place
        assert here.ask("", "ada's", "/judge/me")[1]["name"] == "ada"
        status, said = here.ask("", "for another service", "/judge/me")
        assert status == 403 and "The hub does not let your server ask" in said["error"]
        for token, status in (("ada's", 403), ("grace's", 200)):
            connection = http.client.HTTPConnection(here.address.split("/")[2])
            connection.request("GET", "/judge/page", headers={"Authorization": f"token {token}"})
            assert connection.getresponse().status == status


# ---- how often -----------------------------------------------------------------------------------------------------


def test_a_bucket_fills_with_time() -> None:
    now = [0.0]
    bucket = Bucket(0.5, 2, clock=lambda: now[0])
    assert [bucket.take(), bucket.take(), bucket.take()] == [0, 0, 2]
    now[0] = 1.0
    assert bucket.take() == 1
    now[0] = 2.0
    assert bucket.take() == 0
    now[0] = 1000.0
    assert [bucket.take(), bucket.take(), bucket.take() > 0] == [0, 0, True]


def test_who_floods_from_one_address_takes_nothing_from_the_others() -> None:
    strangers = Strangers(clock=lambda: 0)
    assert [strangers.take("a") > 0 for _ in range(100)] == [False] * 60 + [True] * 40
    assert [strangers.take(f"{number}") > 0 for number in range(241)] == [False] * 240 + [True]
    strangers.give_back("5")
    assert strangers.take("6") == 0 and strangers.take("7") > 0


def test_addresses_are_forgotten_but_for_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_ADDRESSES", 3)
    strangers = Strangers(clock=lambda: 0)
    for address in "abcda":
        strangers.take(address)
    assert [*strangers._of] == ["c", "d", "a"]


def test_a_user_checks_one_answer_at_a_time() -> None:
    users = Users(clock=lambda: 0)
    assert users.enter("ada") == 0 and users.enter("ada") == 1 and users.enter("alan") == 0
    users.leave("ada")
    assert users.enter("ada") == 0


def test_the_oldest_answers_are_forgotten() -> None:
    answers = Answers(most=10)
    answers.put(b"a", b"12345")
    answers.put(b"b", b"12345")
    assert answers.get(b"a") == b"12345"
    answers.put(b"c", b"1")
    assert answers.get(b"b") is None and answers.get(b"a") == b"12345"
    answers.put(b"a", b"123456789")
    assert answers.get(b"c") == b"1" and answers.get(b"a") == b"123456789"


def test_one_large_answer_does_not_take_the_place_of_many_others() -> None:
    answers = Answers()
    answers.put(b"a", b"12345")
    answers.put(b"b", bytes(rates.LARGEST_KEPT + 1))
    assert answers.get(b"a") == b"12345" and answers.get(b"b") is None
