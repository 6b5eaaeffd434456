"""Records cross the line between kernel and grader: nothing is lost, and nothing that comes trips a judge."""

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, fields
from typing import Any

import pytest
import torch
from torch import Tensor

from anatomy.course import COURSE
from anatomy.engine.cards import as_html, as_text
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observation import CaseObservation, Observation, Raised
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.plain_data import same
from anatomy.engine.observing.record_bounds import DEEPEST
from anatomy.engine.observing.records import LARGEST, Unreadable, decode, encode
from tests.small_course import SmallCourse


def _products(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT


SMALL = SmallCourse({"products": _products})


@SMALL.asks(properties={"shape": 1, "values": 2, "gradients": 1}, returns="B T S")
def products(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=3, S=4, D=5)
    yield draw.case(query=draw.normal("B T D"), key=draw.normal("B S D"))


def test_what_goes_in_comes_out_through_json() -> None:
    value = {
        "cases": [{"t": torch.randn(2, 3), "b": torch.tensor([True]), "i": torch.arange(3), "n": float("nan")}],
        "f": [float("inf"), -0.5, 1, None, "x", True], "empty": torch.zeros(0, 3), "scalar": torch.tensor(1.5),
    }  # fmt: skip
    raised = Raised("ValueError", "no", 3, "raise", "part", "answer", 7, True)
    case = CaseObservation("returned", value, raised, "printed", ["softmax"], ["x"], [deepcopy(value)],
                           {"x": torch.ones(2), "y": None}, False, raised, {"weight": [2, 3]}, [["a", "b"]],
                           deepcopy(value), [0.5])  # fmt: skip
    cases = [case, CaseObservation()]
    given = Observation("softmax", cases, ["part"], [deepcopy(case)], ["called"], raised, "soft_max")
    came = decode(json.loads(json.dumps(encode(given), allow_nan=False)))
    assert (came.exercise, came.parts, came.called, len(came.cases)) == ("softmax", ["part"], ["called"], 2)
    assert (came.cell_error, came.similar) == (raised, "soft_max")
    for left, right in zip((*came.cases, *came.with_right_parts), (case, CaseObservation(), case), strict=True):
        for item in fields(CaseObservation):
            seen, sent = getattr(left, item.name), getattr(right, item.name)
            assert seen == sent if isinstance(sent, Raised) else same(seen, sent), item.name


def _of_shape(*shape: float) -> str:
    """The text of an empty tensor that says of itself to have this shape."""
    head = json.dumps({"0": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}}).encode()
    return base64.b64encode(struct.pack("<Q", len(head)) + head).decode()


@pytest.mark.parametrize(
    "record",
    [
        None, [], "text", {}, {"tree": {}}, {"tensors": 3}, {"tensors": "not base64!"}, {"tensors": "AAAA", "tree": {}},
        {**encode({"cases": []}), "tree": 3}, {**encode({"cases": []}), "tree": {"cases": {}}},
        *({**encode({"cases": []}), "tree": {"cases": [], "f": {"$float": no}}} for no in ("many", [], {}, None)),
        *({"tree": {"cases": []}, "tensors": _of_shape(*shape)}
          for shape in ((0, 2**64 - 1), (2**63, 0), (0, 2**63 - 1, 4), (0, 2**40), (2**40,), (0, -1), (0, 1.5))),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(Unreadable):
        decode(record)


def test_a_record_holds_so_many_bytes_of_tensors_and_no_more() -> None:
    seen = Observation("softmax", [CaseObservation("returned", torch.zeros(LARGEST - 100, dtype=torch.int8))])
    assert decode(encode(seen)).cases[0].value.numel() == LARGEST - 100
    seen.cases[0].value = torch.zeros(LARGEST, dtype=torch.int8)  # and what says which tensor is which
    with pytest.raises(Unreadable, match="too large"):
        decode(encode(seen))


def test_deep_nesting_is_refused() -> None:
    tree: Any = []
    for _ in range(DEEPEST + 5):
        tree = [tree]
    with pytest.raises(Unreadable):
        decode({**encode({"cases": []}), "tree": {"cases": tree}})


def _mutate(node: Any, chance: random.Random) -> Any:
    """The tree with random parts replaced by things that should not be there."""
    if chance.random() < 0.06:
        return chance.choice(
            [None, -1, 3.5, "text", [], {}, [1, [2]], {"a": {}}, True, float("nan"), "x" * 2000, torch.zeros(2, 3, 4),
             torch.zeros(0), torch.tensor(7), torch.zeros(3, dtype=torch.int8), torch.zeros(2, 3, 4).half(),
             torch.zeros(2, 3, 4, dtype=torch.complex64), torch.zeros(1, 1, 1, 1, 1, 1, 1, 1, 1), {"$other": 3}]
        )  # fmt: skip
    if isinstance(node, dict):
        return {key: _mutate(item, chance) for key, item in node.items() if chance.random() > 0.03}
    return [_mutate(item, chance) for item in node] if isinstance(node, list) else node


@pytest.mark.slow
def test_no_observation_makes_the_judge_stumble_or_be_generous() -> None:
    """A thousand damaged observations: always a verdict, never more than the undamaged one deserves."""
    honest = observe(products, lambda query, key: query @ key.mT / 2)
    deserved = judge(products, honest).points
    for seed in range(1000):
        record = encode(Observation("products", _mutate([asdict(case) for case in honest.cases], random.Random(seed))))
        try:
            damaged = decode(record)
        except Unreadable:
            continue
        verdict = judge(products, damaged)
        assert verdict.points <= deserved
        assert verdict.status in ("wrong", "not attempted")
        assert as_text(verdict) and as_html(verdict)


def test_missing_cases_are_not_right() -> None:
    right = observe(products, _products)
    assert judge(products, right).points == 4
    assert judge(products, Observation("products", right.cases[:1])).points == 0
    assert judge(products, Observation("products", [])).points == 0


def test_texts_that_no_message_can_hold_become_readable() -> None:
    seen = Observation("\ud800", [CaseObservation("returned", {"\ud800": ["\ud800"]}, parameters={"\ud800": [1]})])
    sent = json.dumps(encode(seen), ensure_ascii=False).encode()
    assert decode(json.loads(sent)).cases[0].value == {"?": ["?"]}
    forged = encode(seen)
    forged["tree"]["cases"][0]["value"] = {"\ud800": "\ud800"}
    assert decode(forged).cases[0].value == {"?": "?"}


@pytest.mark.parametrize("value", [10**400, [-(10**400)], {"a": [10**309]}], ids=["itself", "in a list", "deeper"])
def test_a_number_that_no_float_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(Unreadable, match="number"):
        decode(encode(Observation("softmax", [CaseObservation("returned", value)])))


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.uint64])
def test_a_tensor_of_a_type_that_no_answer_is_kept_in_is_refused(dtype: torch.dtype) -> None:
    with pytest.raises(Unreadable, match=str(dtype).removeprefix("torch.")):
        decode(encode(Observation("softmax", [CaseObservation("returned", torch.ones(2).to(dtype))])))


def test_a_quiz_whose_answers_are_no_texts_is_judged() -> None:
    asked = COURSE.exercise("quiz_types")
    for odd in ([1], {"$other": 1}, torch.ones(2), None, 3):
        seen = CaseObservation("returned", dict.fromkeys(asked.properties, odd))
        assert judge(asked, Observation("quiz_types", [seen])).points == 0


def test_a_gradient_of_whole_numbers_is_none() -> None:
    ones = torch.ones(2)
    given = {"x": ones.bool(), "y": ones, "z": ones.to(torch.complex64), "w": None, "v": ones.long()}
    seen = Observation("softmax", [CaseObservation("returned", 1, gradients=given)])
    assert set(decode(encode(seen)).cases[0].gradients or ()) == {"y", "z", "w"}
