"""`anatomy serve` and `anatomy join`, as they are typed."""

from __future__ import annotations

import base64
import gc
import http.client
import json
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from anatomy import cli
from anatomy.classroom.serving import workers
from anatomy.classroom.serving.judge_process import PREPARE
from anatomy.classroom.serving.serve import Place, serve
from anatomy.classroom.serving.workers import JudgeWorkers
from anatomy.engine.errors import UserError
from tests.serving.service import SOFTMAX, Running, request


def anatomy(*words: str, **environment: str) -> tuple[int, str]:
    """Exit code, and output with errors."""
    found = CliRunner().invoke(cli.app, words, env={"COLUMNS": "200", "TERM": "dumb", **environment})
    return found.exit_code, found.output


def test_a_key_is_joined_with_and_what_cannot_be_is_said(tmp_path: Path, judge: Running, keys: dict[str, str]) -> None:
    here = {"ANATOMY_HOME": str(tmp_path), "ANATOMY_JUDGE": judge.address}

    def stored() -> dict[str, str]:
        return json.loads((tmp_path / "judge.json").read_text())

    code, said = anatomy("join", keys["Alan"], **here)
    assert code == 0 and "The judge knows you as Alan." in said
    assert stored() == {judge.address: keys["Alan"]}
    assert anatomy("join", "0" * 32, **here)[0] == 2
    assert anatomy("join", "a b", **here) == (
        2,
        "That is no key: it has letters, digits and signs only, and no spaces.\n",
    )
    assert stored() == {judge.address: keys["Alan"]}
    away = {**here, "ANATOMY_JUDGE": "http://127.0.0.1:9"}
    code, said = anatomy("join", keys["Ada"], **away)
    assert code == 0 and "but not tried: The judge at 127.0.0.1:9 can't be reached" in said
    assert stored() == {judge.address: keys["Alan"], away["ANATOMY_JUDGE"]: keys["Ada"]}
    code, said = anatomy("join", "0" * 32, **away)
    assert code == 0 and said.startswith("Not stored, as it can't be tried and you have a key already: The judge at")
    assert stored() == {judge.address: keys["Alan"], away["ANATOMY_JUDGE"]: keys["Ada"]}


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    assert anatomy("serve", "--keys", str(tmp_path / "none.txt"))[0] == 2
    assert anatomy("serve", "Ada") == (2, "Names are for --new-keys FILE.\n")
    assert anatomy("serve", "--prepare", "99")[0] == 2
    file = tmp_path / "my keys.txt"
    code, said = anatomy("serve", "--new-keys", str(file))
    assert code == 2 and not file.exists()
    assert f"""serve --new-keys '{file}' Ada Alan "Grace (instructor)"\n""" in said, said


@pytest.mark.parametrize("of_a_students_server", [False, True])
def test_who_may_ask_is_named_or_nothing_is_served(monkeypatch: pytest.MonkeyPatch, of_a_students_server: bool) -> None:
    monkeypatch.setattr("anatomy.classroom.serving.serve.serve", lambda *_: pytest.fail("it serves"))
    monkeypatch.delenv("JUPYTERHUB_SERVICE_NAME", raising=False)
    if of_a_students_server:
        monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:10101")
    code, said = anatomy("serve")
    assert code == 2
    assert re.search(r'\n    .*anatomy serve --new-keys keys\.txt Ada Alan "Grace \(instructor\)"\nThen:\n', said), said
    assert said.endswith("anatomy serve --keys keys.txt\n")


def test_a_hub_names_who_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []
    monkeypatch.setattr(
        "anatomy.classroom.serving.serve.serve", lambda who, place, *_: served.extend((who, place.port))
    )
    monkeypatch.setattr("anatomy.classroom.serving.people.Hub", lambda: "the hub")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_NAME", "judge")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:10101")
    assert anatomy("serve") == (0, "") and served == ["the hub", 10101]


def test_a_folder_that_it_may_not_enter_is_said(monkeypatch: pytest.MonkeyPatch, keys_file: Path) -> None:
    """Its workers could not start there: a hub's service that runs as somebody else, without a `cwd` of theirs."""
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.X_OK)
    code, said = anatomy("serve", "--keys", str(keys_file), "--port", "0")
    assert code == 2 and "may not enter" in said and "cwd" in said


class Fragile:
    """In the place of a worker's process: what becomes of it, from its start on, is for a test to say."""

    process, prepared = SimpleNamespace(pid=0), {}
    starts: ClassVar[int] = 0

    def __init__(self) -> None:
        type(self).starts += 1

    def ask(self, request: bytes) -> bytes:
        raise EOFError

    def end(self) -> None: ...


def served(monkeypatch: pytest.MonkeyPatch, worker: type[Fragile]) -> None:
    monkeypatch.setattr(workers, "_Worker", worker)
    serve(None, Place(port=0), JudgeWorkers(1, ["00-start-here"]), lambda text: None)  # type: ignore[arg-type]  # nobody asks


def test_a_judge_that_cannot_replace_a_worker_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """So whatever watches over it starts it again."""

    class OnlyOnce(Fragile):
        def __init__(self) -> None:
            super().__init__()
            if self.starts > 1:
                raise BlockingIOError(11, "Resource temporarily unavailable")

        def ask(self, request: bytes) -> bytes:
            if request.startswith(PREPARE):
                raise EOFError
            return b"400{}"

    with pytest.raises(UserError, match=r"can't be started \(.*Resource temporarily unavailable\): look what"):
        served(monkeypatch, OnlyOnce)
    assert OnlyOnce.starts == 2


def test_a_judge_whose_workers_end_at_once_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="end as soon as they start"):
        served(monkeypatch, Fragile)


def test_a_judge_that_is_ended_while_it_starts_says_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its workers may end at that moment, too."""

    class Ended(Fragile):
        def ask(self, request: bytes) -> bytes:
            os.kill(os.getpid(), signal.SIGTERM)
            raise EOFError

    served(monkeypatch, Ended)
    gc.collect()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.slow
def test_the_command_serves_until_it_is_ended_and_writes_no_request_to_a_file(tmp_path: Path) -> None:
    keys = tmp_path / "keys.txt"
    code, said = anatomy("serve", "--new-keys", str(keys), "Ada", "Grace (instructor)")
    ada, grace = (line.split()[0] for line in said.splitlines())
    assert code == 0
    tiny_files = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"]  # 512 bytes: Python tries where it may write with four
    command = [*tiny_files, Path(sys.executable).parent / "anatomy", "serve", "--keys", keys, "--port", "0",
               "--prefix", "/course", "--workers", "1", "--prepare", "00"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ.copy()) as process:
        assert process.stderr
        try:
            lines = iter(process.stderr)
            assert "is starting" in next(lines)
            found = next(
                filter(None, (re.search(r"answers at (http://127\.0\.0\.1:\d+)/course", line) for line in lines))
            )
            judge = Running(None, found[1])  # type: ignore[arg-type]
            assert f"the room at {found[1]}/course/live, with any name" in next(lines)
            assert "getting ready for 00-start-here" in next(lines)
            asked = request("softmax", SOFTMAX)
            assert len(asked) > 512
            _, verdict = judge.ask(asked, ada, "/course/check")
            assert verdict["status"] == "right"
            basic = {"Authorization": f"Basic {base64.b64encode(f'grace:{grace}'.encode()).decode()}"}
            connection = http.client.HTTPConnection(found[1].split("/")[2])
            connection.request("GET", "/course/live", headers=basic)
            page = connection.getresponse()
            assert page.status == 200 and b"softmax" in page.read()
            assert "Ada softmax right" in next(line for line in lines if "softmax" in line)
            assert judge.ask("{", ada, "/course/check")[0] == 400
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        rest = process.stderr.read().splitlines()
        assert all(" ready for " in line for line in rest), rest
