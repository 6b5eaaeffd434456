"""`anatomy serve` and `anatomy join`, as they are typed."""

from __future__ import annotations

import base64
import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anatomy import cli
from tests.serving.service import SOFTMAX, Running, request


def anatomy(*words: str, **environment: str) -> tuple[int, str]:
    """Exit code, and output with errors."""
    found = CliRunner().invoke(cli.app, words, env={"COLUMNS": "200", "TERM": "dumb", **environment})
    return found.exit_code, found.output


def test_a_key_is_joined_with_and_what_cannot_be_is_said(tmp_path: Path, judge: Running, keys: dict[str, str]) -> None:
    here = {"ANATOMY_HOME": str(tmp_path), "ANATOMY_JUDGE": judge.address}
    code, said = anatomy("join", keys["Alan"], **here)
    assert code == 0 and "The judge knows you as Alan." in said
    assert (tmp_path / "judge-key").read_text().strip() == keys["Alan"]
    assert anatomy("join", "0" * 32, **here)[0] == 2
    assert anatomy("join", "a b", **here) == (
        2,
        "That is no key: it has letters, digits and signs only, and no spaces.\n",
    )
    assert (tmp_path / "judge-key").read_text().strip() == keys["Alan"]
    away = {**here, "ANATOMY_JUDGE": "http://127.0.0.1:9"}
    code, said = anatomy("join", keys["Ada"], **away)
    assert code == 0 and "but not tried: The judge at 127.0.0.1:9 can't be reached" in said


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    assert anatomy("serve", "--host", "0.0.0.0")[0] == 2
    assert anatomy("serve", "--keys", str(tmp_path / "none.txt"))[0] == 2
    assert anatomy("serve", "Ada") == (2, "Names are for --new-keys FILE.\n")
    assert anatomy("serve", "--prepare", "99")[0] == 2


@pytest.mark.slow
def test_the_command_serves_until_it_is_ended(tmp_path: Path) -> None:
    keys = tmp_path / "keys.txt"
    code, said = anatomy("serve", "--new-keys", str(keys), "Ada", "Grace (instructor)")
    ada, grace = (line.split()[0] for line in said.splitlines())
    assert code == 0
    command = [Path(sys.executable).parent / "anatomy", "serve", "--keys", keys, "--port", "0", "--prefix", "/course",
               "--workers", "1", "--prepare", "00"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ.copy()) as process:
        assert process.stderr
        try:
            lines = iter(process.stderr)
            found = next(
                filter(None, (re.search(r"answers at (http://127\.0\.0\.1:\d+)/course", line) for line in lines))
            )
            judge = Running(None, found[1])  # type: ignore[arg-type]
            _, verdict = judge.ask(request("softmax", SOFTMAX), ada, "/course/check")
            assert verdict["status"] == "right"
            basic = {"Authorization": f"Basic {base64.b64encode(f'grace:{grace}'.encode()).decode()}"}
            connection = http.client.HTTPConnection(found[1].split("/")[2])
            connection.request("GET", "/course/live", headers=basic)
            page = connection.getresponse()
            assert page.status == 200 and b"softmax" in page.read()
            assert "Ada softmax right" in next(line for line in lines if "softmax" in line)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
