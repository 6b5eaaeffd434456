"""A state's way to the page: packed, in a saved page, from a server, through a widget."""

from __future__ import annotations

import base64
import json
import struct
import sys
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import anatomy
from anatomy.course.exploring import Exploration, explore
from anatomy.course.exploring.explorer import START
from anatomy.course.exploring.live import Link
from anatomy.course.exploring.models import shown
from anatomy.course.exploring.packing import LEFT_OUT_FIRST, State, steps_in
from anatomy.course.exploring.parts import NotExplorable
from anatomy.course.exploring.serving import Server
from anatomy.course.exploring.still import ROOM, in_words, likely, page
from tests.exploring.models import LETTERS, SYMBOLS, TEXT, explorer_of, model_of, text_of


def unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + length]), data[4 + length + -(4 + length) % 8 :]


def test_a_packed_state_comes_back() -> None:
    state = explorer_of("encoder-decoder").state(*text_of("encoder-decoder"))
    for data in (state.packed(type="state", number=3), zlib.decompress(base64.b64decode(state.compressed()))):
        message, buffer = unpacked(data)
        assert buffer == state.buffer and message["header"] == state.header
    assert all(one["offset"] % 4 == 0 for one in state.header["arrays"].values())
    assert {one["type"] for one in state.header["arrays"].values()} == {"f4", "f2"}


def test_a_smaller_state_says_what_it_left_out() -> None:
    state = explorer_of("decoder").state(TEXT)
    smaller = state.within(len(state.compressed()) - 1)
    assert smaller.header["left_out"] == list(LEFT_OUT_FIRST[0]) and len(smaller.buffer) < len(state.buffer)
    for step in steps_in(smaller.header):
        assert (step["array"] is None) == (step["kind"] in LEFT_OUT_FIRST[0])
        if step["array"]:
            assert np.array_equal(smaller.array(step["array"]), state.array(step["array"]))
    least = state.within(1)
    assert any(step["kind"] == "weights" and step["array"] for step in steps_in(least.header))


def test_a_saved_page_is_the_same_each_time_needs_nothing_and_stays_small() -> None:
    explorer = explorer_of("decoder")
    states = [explorer.state(TEXT), explorer.state(TEXT, None, ["no-mask"])]
    first, again = (Exploration(explorer, states, []).html() for _ in range(2))
    assert first == again and len(first) < 3_000_000
    text = page(states)
    assert "{{" not in text.split("<script>")[0] and len(text) < ROOM
    assert not any(word in text for word in ('src="http', "@import", 'href="http'))


def test_the_words_below_the_frame_are_the_numbers() -> None:
    state = explorer_of("decoder").state(TEXT)
    words = in_words(state)
    mean = state.array("decoder.1.self.weights").mean(axis=0)
    assert f"<td>{mean[4].max():.0%}</td>" in words
    best = likely(state)
    last = state.array("decoder.output.probabilities")[-1]
    assert best[0] == [repr(LETTERS[int(last.argmax())]), f"{last.max():.1%}"]


def test_of_a_large_vocabulary_the_most_probable_words_are_kept() -> None:
    from transformers import GPT2Config

    from anatomy.course.exploring.explorer import Explorer
    from anatomy.course.nb09_causal_mask.right import GPT

    symbols = [*LETTERS, *(f"word {number}" for number in range(3000))]
    torch.manual_seed(0)
    model = GPT(GPT2Config(vocab_size=len(symbols), n_embd=24, n_layer=1, n_head=3, n_positions=40)).eval()
    state = Explorer(model, symbols).state("time")
    ids = torch.tensor([[LETTERS.index(letter) for letter in "time"]])
    with torch.no_grad():
        probabilities = model(ids)[0, -1].softmax(-1)
    assert state.header["vocabulary"] is None and len(state.header["likely"][-1]) == 50
    assert likely(state)[0][1] == f"{probabilities.max():.1%}"


@pytest.fixture
def server() -> Iterator[Server]:
    explorer = explorer_of("decoder")
    server = Server(explorer, [explorer.state(TEXT)], ("time",))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def ask(server: Server, message: Any, **headers: str) -> tuple[int, str, bytes]:
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    request = urllib.request.Request(f"{server.address}run", data, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, "", b""


def test_the_server_answers_the_pages_messages(server: Server) -> None:
    with urllib.request.urlopen(server.address) as answer:
        assert server.key in answer.read().decode()
    key = {"explorer": server.key}
    status, _, body = ask(server, {**key, "type": "hello"})
    welcome = json.loads(body)
    assert status == 200 and welcome["examples"] == ["time"]
    assert "no-mask" in [change["id"] for change in welcome["changes"]]
    status, kind, body = ask(server, {**key, "type": "run", "number": 5, "text": "time", "changes": ["no-mask"]})
    message, buffer = unpacked(body)
    assert kind == "application/octet-stream" and (message["type"], message["number"]) == ("state", 5)
    assert np.triu(State(message["header"], buffer).array("decoder.0.self.weights"), 1).max() > 0
    _, _, body = ask(server, {**key, "type": "run", "number": 6, "text": "TIME", "changes": []})
    problem = json.loads(body)
    assert problem["type"] == "problem" and problem["number"] == 6 and "'E' 'I' 'M' 'T'" in problem["message"]


@pytest.mark.parametrize(
    ("message", "headers", "status"),
    [
        ({"explorer": "another", "type": "hello"}, {}, 403),
        (b"[1]", {}, 403),
        (b"not JSON", {}, 403),
        (b"x" * 200_000, {}, 400),
        ({"type": "hello"}, {"Host": "example.org"}, 403),
    ],
    ids=["other key", "no object", "no JSON", "too long", "another name of this machine"],
)
def test_the_server_refuses_others(server: Server, message: Any, headers: dict[str, str], status: int) -> None:
    assert ask(server, message, **headers)[0] == status


def test_the_widget_answers_with_a_state_or_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explorer_of("decoder")
    link = Link(explorer, "key", ["time"])
    sent: list[tuple[Any, Any]] = []
    monkeypatch.setattr(link, "send", lambda content, buffers=None: sent.append((content, buffers)))
    link._answer(link, {"type": "hello"}, [])
    link._answer(link, {"type": "run", "number": 1, "text": "time", "changes": []}, [])
    link._answer(link, {"type": "run", "number": 2, "text": "", "changes": []}, [])
    link._answer(link, {"type": "run", "number": 3, "text": 7}, [])
    link._answer(link, "nonsense", [])
    (hello, _), (state, buffers), (empty, _), (odd, _) = sent
    assert hello["type"] == "welcome" and hello["examples"] == ["time"]
    assert state["type"] == "state" and State(state["header"], buffers[0]).array("decoder.0.self.weights").shape == (
        3,
        4,
        4,
    )
    assert (empty["type"], empty["number"]) == ("problem", 2) and "type a text" in empty["message"]
    assert odd["type"] == "problem"


def test_code_that_stops_is_a_problem_and_no_crash() -> None:
    model: Any = model_of("decoder")
    explorer = explorer_of("decoder", model)
    model.blocks[0].feed_forward.forward = lambda x: x / []
    with pytest.raises(TypeError):
        explorer.state(TEXT)
    from anatomy.course.exploring.answering import run

    answer = run(explorer, {"number": 1, "text": TEXT})
    assert isinstance(answer, dict) and "stopped with TypeError" in answer["message"]


@pytest.mark.parametrize("there", [True, False])
def test_without_anywidget_the_page_is_shown_and_stays_still(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    displayed: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda what, **how: displayed.append(what))
    if not there:
        monkeypatch.setitem(sys.modules, "anywidget", None)
        monkeypatch.delitem(sys.modules, "anatomy.course.exploring.live", raising=False)
    made = explore(model_of("decoder"), TEXT, LETTERS)
    assert made is not None
    made._ipython_display_()
    page, *links = displayed
    assert "<iframe" in page["text/html"] and page["text/plain"] == repr(made)
    assert [type(one).__name__ for one in links] == (["Link"] if there else [])


def test_explore_shows_nothing_where_marks_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert anatomy.explore is explore
    made = explore(model_of("decoder"), TEXT, LETTERS, also=["no-mask"])
    assert made is not None and len(made.states) == 2 and "GPT" in repr(made)
    monkeypatch.setattr("anatomy.engine.checking.hands_over", lambda: True)
    assert explore(None, TEXT, LETTERS) is None


@pytest.mark.parametrize(
    ("model", "text", "words", "says"),
    [
        (3, TEXT, LETTERS, "needs a model"),
        (torch.nn.Linear(2, 2), TEXT, LETTERS, "`GPT` of 09"),
        ("decoder", "", LETTERS, "nothing to read"),
        ("decoder", "x" * 41, LETTERS, "at most 40"),
        ("decoder", "A", LETTERS, "does not know the character 'A'"),
        ("decoder", TEXT, None, "needs the model's tokens"),
        ("decoder", TEXT, LETTERS[:-1], "words of another model"),
        ("encoder-decoder", "may", [one.replace(START, "<s>") for one in SYMBOLS], "no symbol '⟨start⟩'"),
    ],
)
def test_what_can_not_be_explored_is_told_why(model: Any, text: str, words: Any, says: str) -> None:
    with pytest.raises(NotExplorable, match=says):
        explore(model_of(model) if isinstance(model, str) else model, text, words)


def test_an_unknown_model_or_file_is_named(tmp_path: Any) -> None:
    with pytest.raises(NotExplorable, match="choose encoder, decoder"):
        shown("rnn")
    with pytest.raises(NotExplorable, match="is no Python file"):
        shown("encoder", tmp_path / "none.py")
    (tmp_path / "mine.py").write_text("1 / 0")
    with pytest.raises(NotExplorable, match="ZeroDivisionError"):
        shown("encoder", tmp_path / "mine.py")
    (tmp_path / "mine.py").write_text("found = 1")  # another size: Python keeps what it compiled
    with pytest.raises(NotExplorable, match="no `TransformerEncoder`"):
        shown("encoder", tmp_path / "mine.py")
