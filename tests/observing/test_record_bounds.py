"""How long a record may be: what no answer needs is refused, and what right answers need is far from it."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest
import torch

from anatomy.engine.observing import record_bounds as bounds
from anatomy.engine.observing.observation import CaseObservation, Observation
from anatomy.engine.observing.records import Unreadable, decode, encode


def record(**known: Any) -> dict[str, Any]:
    return json.loads(json.dumps(encode(Observation("softmax", [CaseObservation("returned", **known)]))))


def packed(heads: dict[str, dict[str, Any]], size: int = 0) -> str:
    head = json.dumps(heads).encode()
    return base64.b64encode(struct.pack("<Q", len(head)) + head + bytes(size)).decode()


def of_shape(*shape: int) -> dict[str, Any]:
    return {"dtype": "I8", "shape": shape, "data_offsets": [0, 0]}


LONG = {
    "entries": ({"value": [0] * bounds.MOST_ENTRIES}, "entries"),
    "entries further in": ({"value": [[[]] * 1000] * (bounds.MOST_ENTRIES // 1000)}, "entries"),
    "keys": ({"value": {str(n): 0 for n in range(bounds.MOST_ENTRIES)}}, "entries"),
    "a text": ({"value": ["x" * (bounds.LONGEST_TEXT + 1)]}, "a text of"),
    "what was printed": ({"printed": "x" * (bounds.LONGEST_TEXT + 1)}, "a text of"),
    "a key": ({"value": {"x" * (bounds.LONGEST_NAME + 1): 0}}, "a name of"),
    "a parameter's name": ({"parameters": {"x" * (bounds.LONGEST_NAME + 1): [1]}}, "a name of"),
    "parameters": ({"parameters": {str(n): [] for n in range(bounds.MOST_NAMES + 1)}}, "lists more than"),
    "gradients": ({"gradients": {str(n): None for n in range(bounds.MOST_NAMES + 1)}}, "lists more than"),
    "what was changed": ({"changed": ["x"] * (bounds.MOST_NAMES + 1)}, "lists more than"),
    "library calls": ({"calls": ["x"] * (bounds.MOST_NAMES + 1)}, "lists more than"),
    "groups": ({"shared": [["x"]] * (bounds.MOST_NAMES + 1)}, "lists more than"),
    "names in a group": ({"shared": [["x"] * (bounds.MOST_NAMES + 1)]}, "lists more than"),
}


@pytest.mark.parametrize("known", LONG)
def test_what_no_answer_needs_is_refused(known: str) -> None:
    fields, words = LONG[known]
    with pytest.raises(Unreadable, match=words):
        decode(record(**fields))


@pytest.mark.parametrize("name", ["cases", "with_right_parts"])
def test_an_observation_has_so_many_cases(name: str) -> None:
    sent = record()
    sent["tree"][name] = [{}] * bounds.MOST_CASES
    assert len(getattr(decode(sent), name)) == bounds.MOST_CASES
    sent["tree"][name] += [{}]
    with pytest.raises(Unreadable, match="cases"):
        decode(sent)


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({f"{n:090}": of_shape(0) for n in range(16_000)}, "too many tensors"),
        ({"0": of_shape(*[1] * bounds.MOST_AXES, 0)}, "axes"),
        ({f"{n}": of_shape(2**20, 0) for n in range(17)}, "empty rows"),
    ],
    ids=["tensors", "axes", "empty rows"],
)
def test_tensors_that_take_no_bytes_are_bounded_too(tensors: dict[str, Any], words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        decode(record() | {"tensors": packed(tensors)})


def test_a_large_tensor_can_not_be_named_again_and_again() -> None:
    """A few bytes name one; so many names of a large one would be as many large ones."""
    sent = record(value=[torch.zeros(40_000)])
    value = sent["tree"]["cases"][0]["value"]
    sent["tree"]["cases"][0]["value"] = value * 3
    assert len(decode(sent).cases[0].value) == 3
    sent["tree"]["cases"][0]["value"] = value * 1000
    with pytest.raises(Unreadable, match="again and again"):
        decode(sent)


def test_what_lies_within_the_bounds_arrives() -> None:
    """Ten times as much as right answers of the course need."""
    tensors = {str(n): torch.zeros(2, 3) for n in range(2_560)}
    shapes = {name: [2, 3] for name in [*tensors][:400]}
    sent = record(value=[[1] * 500] * 100, gradients=tensors, parameters=shapes, printed="x" * 1000)
    (case,) = decode(sent).cases
    assert len(case.gradients or {}) == 2_560 and case.parameters == shapes and case.value == [[1] * 500] * 100
