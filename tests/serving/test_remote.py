"""A check that asks the class's judge: as a student meets it, and when the judge is away, slow, strange or strict."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.course import COURSE
from anatomy.engine.checking import calling, joining, remote
from anatomy.engine.checking.progress_file import read_progress
from anatomy.engine.class_edition import ClassEdition
from anatomy.engine.errors import UserError
from tests.serving.service import OVER_ALL, SCORES, SOFTMAX, WEIGHTS, Running
from tests.shells import fresh_shell

HIDDEN = (
    "anatomy.engine.judging", "anatomy.engine.reading", "anatomy.engine.mistakes",
    *(COURSE.module(book, part) for book in COURSE.notebooks for part in ("right", "also_right", "wrong", "described")),
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("at_home")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A notebook on a machine that has neither answers nor what judges them."""
    with fresh_shell() as shell:
        shell.run_cell("import torch\nfrom anatomy import check")
        for name in [*HIDDEN, *(name for name in sys.modules if name.startswith(HIDDEN))]:
            monkeypatch.setitem(sys.modules, name, None)
        yield shell


def run(shell: InteractiveShell, *cells: str) -> Any:
    with capture_output() as captured:
        for cell in cells:
            shell.run_cell(cell)
    return captured


# ---- in a notebook -------------------------------------------------------------------------------------------------


def test_a_student_works_without_answers_on_the_machine(
    judge: Running, keys: dict[str, str], shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(joining.JUDGE, f"{judge.address}/")
    assert calling.join_class(keys["Ada"]).startswith("The judge knows you as Ada Lovelace.")
    assert "the place of another key" not in calling.join_class(keys["Ada"])
    assert stat.S_IMODE(joining.key_file().stat().st_mode) == 0o600

    found = run(shell, 'check("softmax")')
    assert "Not attempted yet" in found.outputs[0].data["text/plain"] and "softmax: not attempted yet." in found.stdout
    found = run(shell, OVER_ALL, 'check("softmax")')
    assert "✗" in found.outputs[0].data["text/html"] and 'role="status"' in found.outputs[0].data["text/html"]
    assert found.stdout.count("\n") == 1 and "softmax: " in found.stdout
    noted = read_progress()["softmax"]
    assert (noted.status, noted.attempts) == ("wrong", 1) and noted.mistakes and noted.said
    found = run(shell, SCORES, WEIGHTS, 'check("attention_weights")')
    said = found.outputs[0].data["text/plain"]
    assert "It calls your `softmax` (3.1), which is not right yet: mend that first." in said
    found = run(shell, SOFTMAX, 'check("softmax")', 'check("attention_weights")')
    assert [out.data["text/plain"].split(":")[0] for out in found.outputs] == ["Right", "Right"] and not found.stdout
    noted = read_progress()["softmax"]
    assert (noted.status, noted.points, noted.attempts) == ("right", noted.max_points, 2)
    assert len(judge.room.noted) == 5


def test_a_key_that_nobody_has_is_not_stored(judge: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(joining.JUDGE, judge.address)
    with pytest.raises(UserError, match="does not know this key: compare it"):
        calling.join_class("0" * 32)
    assert not joining.key_file().exists()


def test_without_a_judge_there_is_nothing_to_join() -> None:
    with pytest.raises(UserError, match="judges answers by itself"):
        calling.join_class("0" * 32)


# ---- a judge that is away, slow, another one -----------------------------------------------------------------------


class Strange(BaseHTTPRequestHandler):
    """Answers what the test wants, and remembers what it was sent."""

    answers: list[tuple[int, bytes, dict[str, str]]]
    seen: list[tuple[str, str | None]]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.path, self.headers["Authorization"]))
        status, body, headers = self.answers.pop(0)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Strange]]:
    handler = type("Handler", (Strange,), {"answers": [], "seen": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv(joining.JUDGE, f"http://127.0.0.1:{server.server_port}")
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def refused(shell: InteractiveShell) -> str:
    """The one line of a check that got no verdict, below a card that says the same; nothing is noted."""
    found = run(shell, SOFTMAX, 'check("softmax")')
    (card,) = found.outputs
    assert card.data["text/plain"].startswith("Your answer was not checked. ")
    assert card.data["text/plain"].endswith(" Go on working; run this cell again later.")
    assert found.stdout.count("\n") == 1 and "Traceback" not in found.stdout
    assert "softmax" not in read_progress()
    name, _, line = found.stdout.strip().partition(": ")
    assert name in ("CheckUnavailable", "Refused") and line in card.data["text/plain"]
    assert "<script" not in card.data["text/html"]
    return line


def test_a_judge_that_is_away_is_said(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv(joining.JUDGE, f"http://127.0.0.1:{free.getsockname()[1]}")
        assert "can't be reached (Connection refused)." in refused(shell)
        monkeypatch.setattr(calling, "SECONDS", 0.2)
        free.listen()  # it takes the connection, and says nothing
        assert "took more than" in refused(shell)


GOOD = {"version": 1, "status": "right", "points": 7, "max_points": 7, "headline": "", "html": "", "text": ""}


@pytest.mark.parametrize(
    ("status", "body", "headers", "words"),
    [
        (200, b"<html>Sign in</html>", {}, "not a judge of this version of the course (HTTP status 200)"),
        (200, json.dumps(GOOD | {"version": 2}).encode(), {}, "not a judge of this version"),
        (200, json.dumps(GOOD | {"html": 3}).encode(), {}, "can't be read"),
        (200, json.dumps(GOOD | {"status": "perfect"}).encode(), {}, "can't be read"),
        (302, b"", {"Location": "http://127.0.0.1:9/"}, "HTTP status 302"),
        (502, b"Bad gateway", {}, "HTTP status 502"),
        (403, b'{"error": "Not from here."}', {}, "Not from here."),
        (429, b'{"error": "Wait <script>."}', {"Retry-After": "600"}, "Wait <script>."),
        (400, b"[" * 10000, {}, "HTTP status 400"),
    ],
)
def test_what_a_judge_says_instead_of_a_verdict_is_one_sentence(
    shell: InteractiveShell, strange: type[Strange], status: int, body: bytes, headers: dict[str, str], words: str
) -> None:
    strange.answers.append((status, body, headers))
    assert words in refused(shell)
    assert len(strange.seen) == 1


def test_who_has_no_key_is_told_what_to_type(
    judge: Running, shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(joining.JUDGE, judge.address)
    monkeypatch.setenv("PATH", "/nowhere")
    (card,) = run(shell, SOFTMAX, 'check("softmax")').outputs
    first, command, last = card.data["text/plain"].splitlines()
    assert first.endswith("no key for this judge yet: ask your instructor for one. Then store it in a terminal:")
    path = command.strip().removesuffix(" join KEY")
    assert os.access(path, os.X_OK) and path.startswith("/") and last == "After that, run this cell again."
    assert f"<code>{path} join KEY</code></div>" in card.data["text/html"]
    monkeypatch.setenv("PATH", str(Path(path).parent))
    assert "\n    anatomy join KEY\n" in run(shell, 'check("softmax")').outputs[0].data["text/plain"]


def test_who_mistyped_the_key_is_told_to_compare_it(
    judge: Running, shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(joining.JUDGE, judge.address)
    joining.store_key(judge.address, "0" * 32)
    (card,) = run(shell, SOFTMAX, 'check("softmax")').outputs
    first, command, _ = card.data["text/plain"].splitlines()
    assert first.endswith(
        "does not know this key: compare it with the one that you were given. Then store it in a terminal:"
    )
    assert command.endswith(" join KEY")
    monkeypatch.setenv(joining.KEY, "0" * 32)  # a stored one would not be looked at
    (card,) = run(shell, SOFTMAX, 'check("softmax")').outputs
    _, command, last = card.data["text/plain"].splitlines()
    assert command.strip() == "export ANATOMY_KEY=KEY" and last.startswith("Start JupyterLab again")


def test_a_busy_judge_is_asked_once_more(shell: InteractiveShell, strange: type[Strange], monkeypatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(calling.time, "sleep", slept.append)
    strange.answers += [(503, b"{}", {"Retry-After": "2"}), (200, json.dumps(GOOD).encode(), {})]
    assert not run(shell, SOFTMAX, 'check("softmax")').stdout
    assert slept == [2] and read_progress()["softmax"].status == "right"


# ---- which key goes where ------------------------------------------------------------------------------------------


def test_the_hubs_token_goes_to_the_hubs_judge_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of the hub")
    monkeypatch.setenv("JUPYTERHUB_API_URL", "http://10.0.0.5:8081/hub/api")
    assert joining.key_for("https://elsewhere.example.org/judge") == ""
    assert joining.key_for("http://10.0.0.5:8000/services/judge") == "of the hub"
    monkeypatch.setenv(joining.JUDGE, "https://judge.example.org")  # the operator says so
    assert joining.key_for("https://judge.example.org") == "of the hub"
    joining.store_key("https://judge.example.org", "stored")
    assert joining.key_for("https://judge.example.org") == "stored"
    assert joining.key_for("https://another.example.org") == "of the hub"
    monkeypatch.setenv(joining.KEY, "from the environment")
    assert joining.key_for("https://judge.example.org") == "from the environment"


def test_an_open_way_is_warned_of_once(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(joining.JUDGE, "http://judge.example.org")
    monkeypatch.setattr(remote, "call", lambda *_: GOOD)
    first, second = (run(shell, SOFTMAX, 'check("softmax")').outputs for _ in range(2))
    assert len(first) == 2 and "is not https" in first[1].data["text/plain"] and len(second) == 1
    assert all(map(joining.is_private, ("https://a.org", "http://localhost:1/x", "http://127.0.0.1")))


def test_the_edition_for_a_class_says_where_its_judge_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert joining.class_judge() == ""
    monkeypatch.setattr(joining, "class_edition", lambda: ClassEdition("https://judge.example.org/", ("03-softmax",)))
    assert joining.class_judge() == "https://judge.example.org"
