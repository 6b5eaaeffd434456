"""`anatomy check FILE` where a class has a judge: it is asked. When it is away that is said, and nothing is lost."""

from __future__ import annotations

import copy
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner, Result

from anatomy import cli
from anatomy.engine.checking import HAND_OVER, headless, joining, remote
from anatomy.engine.checking.calling import MOST_PARTS, CheckUnavailable
from anatomy.engine.checking.progress_file import read_progress
from anatomy.engine.notebook_files.notebooks import clean, write
from anatomy.engine.notebook_files.running import run
from anatomy.engine.observing.records import MIME
from tests.serving.service import QUERIES, SCORES, SOFTMAX, Running

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("at_home")]

CALLS_A_WRONG_PART = "def scaled_dot_product_attention(q, k, v):\n    return attention_weights(q, k) @ v\n"
CELLS = (
    "import torch\nfrom anatomy import check",
    *(SCORES, SOFTMAX, 'check("softmax")', QUERIES, 'check("attention_weights")'),
    *("def weighted_values(weights, value):\n    raise NotImplementedError", 'check("weighted_values")'),
    *(CALLS_A_WRONG_PART, 'check("scaled_dot_product_attention")'),
)
CHECKED = ("softmax", "attention_weights", "weighted_values", "scaled_dot_product_attention")
GOOD = {"version": 1, "status": "right", "points": 7, "max_points": 7, "headline": "", "html": "", "text": "Fine."}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    """The notebook as a kernel leaves it, which looks for a judge and neither reaches it nor knows a key."""
    book = new_notebook(cells=list(map(new_code_cell, CELLS)))
    where = {HAND_OVER: "1", joining.JUDGE: "http://127.0.0.1:9"}
    run(book, tmp_path_factory.mktemp("ran"), keep_going=True, environment=where)
    return book


@pytest.fixture
def file(ran: NotebookNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in a student's folder; what its kernel says is what it said before."""
    (tmp_path / "nbgrader_config.py").touch()
    write(clean(copy.deepcopy(ran)), path := tmp_path / "notebooks" / "03-softmax" / "03-softmax.ipynb")
    monkeypatch.setattr(headless, "run", lambda book, *_, **__: book.update(cells=copy.deepcopy(ran.cells)))
    return path


def check(file: Path) -> Result:
    root = str(file.parents[2])
    found = CliRunner().invoke(cli.app, ["check", str(file), "--root", root], env={"TERM": "dumb"})
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found


def answers(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[..., dict[str, Any]], address: str = "https://a.org"
) -> None:
    """A judge of which only the answers are there."""
    monkeypatch.setenv(joining.JUDGE, address)
    monkeypatch.setattr(remote, "call", answer)


def test_the_judge_is_asked_about_each_answer(
    judge: Running, keys: dict[str, str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(joining.JUDGE, judge.address)
    joining.store_key(judge.address, keys["Ada"])
    before = file.read_bytes()
    found = check(file)
    assert found.exit_code == 1 and not found.stderr and file.read_bytes() == before
    signs = [line.split("  ")[0] for line in found.stdout.splitlines() if not line.startswith(" ")]
    assert signs[:-1] == [f"{sign} {name}" for sign, name in zip("✓✗○✗", CHECKED, strict=True)]
    assert "✓ softmax  Right: 7 of 7 points.\n    " in found.stdout
    assert "✗ attention_weights  Your softmax runs over the queries" in found.stdout
    assert "It calls your attention_weights (3.2), which is not right yet: mend that first." in found.stdout
    noted = read_progress()
    assert [noted[name].status for name in CHECKED] == ["right", "wrong", "not attempted", "wrong"]
    assert noted["attention_weights"].mistakes
    points = sum(entry.points for entry in noted.values())
    assert 7 < points < 12 and found.stdout.endswith(f"1 of 4 exercises right, {points} of 21 points.\n")
    assert [(user, name) for user, name, *_ in judge.room.noted] == [("Ada Lovelace", name) for name in CHECKED]


def test_a_judge_that_is_away_is_said_and_nothing_is_lost(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as there:
        answers(there, lambda *_: GOOD)
        assert check(file).exit_code == 0
    before = file.read_bytes(), read_progress()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        monkeypatch.setenv(joining.JUDGE, f"http://{address}")
        found = check(file)
    assert found.exit_code == 2 and (file.read_bytes(), read_progress()) == before
    first, *others = CHECKED
    assert found.stdout == "\n".join((
        f"? {first}  Not checked.", f"    The judge at {address} can't be reached (Connection refused).",
        *(f"? {name}  Not checked, for the same reason." for name in others),
        "4 of 4 not checked: run this again later.", "",
    ))  # fmt: skip


def test_a_key_that_the_judge_does_not_know_is_said_once(
    judge: Running, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(joining.JUDGE, judge.address)
    monkeypatch.setenv(joining.KEY, "0" * 32)
    found = check(file)
    assert found.exit_code == 2
    assert found.stdout.count("does not know this key: compare it") == found.stdout.count("export ANATOMY_KEY=KEY") == 1
    assert found.stdout.endswith("\n4 of 4 not checked: set your key, then run this again.\n")
    assert "exercises right" not in found.stdout


def test_a_verdict_stands_when_the_judge_is_away_for_the_next(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter([GOOD, CheckUnavailable("Many check their answers."), GOOD | {"status": "wrong", "points": 1}, GOOD])

    def answer(*_: Any) -> dict[str, Any]:
        if isinstance(one := next(said), CheckUnavailable):
            raise one
        return one

    answers(monkeypatch, answer)
    found = check(file)
    assert found.exit_code == 2 and "? attention_weights  Not checked.\n    Many check their answers." in found.stdout
    assert "2 of 4 exercises right, 15 of 21 points.\n1 of 4 not checked" in found.stdout
    assert set(read_progress()) == {*CHECKED} - {"attention_weights"}


@pytest.mark.parametrize(
    ("forged", "words"),
    [
        ({"tensors": "no base64"}, "What the check saw can't be read: the record's tensors can't be read."),
        ({"tree": {"exercise": "softmax"}}, "can't be read: the record holds no cases."),
        ({"parts": "softmax"}, "can't be read: the parts are no short list."),
        ({"parts": [{}] * (MOST_PARTS + 1)}, "can't be read: the parts are no short list."),
        ({"parts": [{}]}, "can't be read: not a record of an observation."),
        ({"tree": {"exercise": "weighted_values", "cases": []}}, "The check said nothing."),
    ],
)
def test_what_a_kernel_hands_over_is_looked_at_before_it_is_sent(
    file: Path, ran: NotebookNode, monkeypatch: pytest.MonkeyPatch, forged: dict[str, Any], words: str
) -> None:
    book = copy.deepcopy(ran)
    book.cells[3].outputs[0].data[MIME].update(forged)
    monkeypatch.setattr(headless, "run", lambda asked, *_, **__: asked.update(cells=book.cells))
    asked: list[Any] = []
    answers(monkeypatch, lambda *what: asked.append(what) or GOOD)
    found = check(file)
    assert found.exit_code == 1 and "✗ softmax  No verdict.\n    " in found.stdout and words in found.stdout
    assert len(asked) == 3


@pytest.mark.parametrize(("address", "times"), [("http://judge.example.org", 1), ("https://judge.example.org", 0)])
def test_an_open_way_is_warned_of_once(file: Path, monkeypatch: pytest.MonkeyPatch, address: str, times: int) -> None:
    answers(monkeypatch, lambda *_: GOOD, address)
    found = check(file)
    assert found.exit_code == 0 and found.stderr.count(f"! {address} is not https") == times
    assert found.stderr.count("\n") == times
