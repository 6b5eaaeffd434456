"""What a record can make long costs a judge time in proportion to it, and none more than the bounds allow."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

import pytest
import torch

from anatomy.classroom.serving.judging import answer
from anatomy.course import COURSE
from anatomy.engine.course import Course
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging import compare, forms, recognize
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.plain_data import LARGEST_NUMBER
from anatomy.engine.observing.record_bounds import LONGEST_NAME, LONGEST_TEXT, MOST_ENTRIES, MOST_NAMES
from anatomy.engine.observing.records import encode
from tests.plenty import one_in

Change = Callable[[dict[str, Any], int], None]

expectations_of = remembering(8)


@pytest.fixture(autouse=True)
def few_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of each exercise: to work out what they all do takes longer than these tests."""
    known = Course.mistakes
    monkeypatch.setattr(Course, "mistakes", lambda *asked: dict(islice(known(*asked).items(), 3)))
    monkeypatch.setattr(recognize, "inherited", lambda exercise: ())
    monkeypatch.setattr(recognize, "pairs", lambda exercise, among: ())


@cache
def honest(name: str) -> str:
    """What is seen of the right answer; the service knows what its mistakes do, as when it has prepared itself."""
    exercise = COURSE.exercise(name)
    if exercise.kind != "quiz":
        known = expectations_of(exercise, SEEDS)
        for index in range(len(known.cases)):
            for mistake in exercise.mistakes.values():
                known.with_mistake(mistake, index)
    return json.dumps(encode(observe(exercise, exercise.right, SEEDS)))


def seconds(name: str, change: Change, size: int) -> float:
    """What judging a changed record takes of the processor: the better of two tries."""
    record = json.loads(honest(name))
    for case in record["tree"]["cases"]:
        change(case, size)
    request = json.dumps({"version": 1, "observation": record, "parts": []}).encode()
    tries = []
    for _ in range(2):
        gc.collect()
        gc.disable()  # it comes when it likes
        began = time.process_time()
        answer(request, expectations_of)
        tries.append(time.process_time() - began)
        gc.enable()
    return min(tries)


def sets(**fields: Callable[[int], Any]) -> Change:
    """Sets these fields of a case to what is made of a size."""
    return lambda case, size: case.update({name: of(size) for name, of in fields.items()})


def returns(of: Callable[[int], Any]) -> Change:
    return sets(value=of)


def trains(of: Callable[[int], Any]) -> Change:
    """What a training loop is seen to do, so many times."""

    def change(case: dict[str, Any], size: int) -> None:
        if isinstance(case["value"], dict):
            case["value"].update(of(size))

    return change


def tells(message: str, code: str = "x") -> Change:
    """An error whose message is a piece of what a pattern looks for, again and again."""
    error = {"type": "RuntimeError", "line": 1}
    return sets(outcome=lambda _: "raised", value=lambda _: None,
                error=lambda size: {**error, "message": message * size, "code": code * size})  # fmt: skip


PARAMETER = "linear_1.weight"

LONG: dict[str, tuple[str, Change, int]] = {
    # ---- exercise, what is long, and how long at most, in one case
    "losses": (
        "train_classifier",
        trains(lambda n: {"losses": [1.5] * (n // 3), "marks": [0] * (n // 3), "logits": [0.5] * (n // 3)}),
        MOST_ENTRIES,
    ),
    "steps": (
        "train_classifier",
        trains(lambda n: {"told": [0.5] * (n // 3), "marks": [*range(n // 3)], "logits": [0.5] * (n // 3)}),
        MOST_ENTRIES,
    ),
    "names": ("FeedForward", sets(parameters=lambda n: {f"w{i}": [1] for i in range(n)}), MOST_NAMES),
    "names behind a prefix": (
        "FeedForward", sets(parameters=lambda n: {f"p{i}.{PARAMETER}": [1] for i in range(n)}), MOST_NAMES),
    "names of many parts": (
        "FeedForward", sets(parameters=lambda n: {f"{i}." + "a." * 450: [1] for i in range(n)}), MOST_NAMES),
    "long names": ("FeedForward", sets(parameters=lambda n: {"a." * (n // 2): [1]}), LONGEST_NAME),
    "shared": ("FeedForward", sets(shared=lambda n: [["a", "b"]] * (n // 3)), MOST_NAMES),
    "gradients": ("softmax", sets(gradients=lambda n: {f"x{i}": None for i in range(n)}), MOST_NAMES),
    "changed": ("softmax", sets(changed=lambda n: [f"x{i}" for i in range(n)]), MOST_NAMES),
    "library calls": ("softmax", sets(calls=lambda n: [f"x{i}" for i in range(n)]), MOST_NAMES),
    "numbers": ("softmax", returns(lambda n: [0.5] * n), MOST_ENTRIES),
    "rows": ("softmax", returns(lambda n: [[0.5]] * (n // 2)), MOST_ENTRIES),
    "deep": ("softmax", returns(lambda n: [[[[[[[[[[[1] * n]]]]]]]]]]), MOST_ENTRIES),
    "keys": ("softmax", returns(lambda n: {f"{i}": i for i in range(n)}), MOST_ENTRIES),
    "items": ("wordpiece", returns(lambda n: ["ab"] * n), MOST_ENTRIES),
    "lists of items": ("wordpiece", returns(lambda n: [["a"]] * (n // 2)), MOST_ENTRIES),
    "digits": ("wordpiece", returns(lambda n: [LARGEST_NUMBER] * (n // 20)), MOST_ENTRIES),
    "text": ("wordpiece", returns(lambda n: "ab" * (n // 2)), LONGEST_TEXT),
    "marks in a text": ("greedy_decode", returns(lambda n: "*a" * (n // 2)), LONGEST_TEXT),
    "code in a text": ("greedy_decode", returns(lambda n: "`" * n), LONGEST_TEXT),
    "another kind": ("softmax", returns(lambda n: {"$other": "x" * n}), LONGEST_TEXT),
    "printed": ("softmax", sets(value=lambda _: None, printed=lambda n: "\n x" * (n // 3)), LONGEST_TEXT),
    "quiz": ("quiz_types", returns(lambda n: {f"{i}": "a" for i in range(n)}), MOST_ENTRIES),
    "a message": ("softmax", tells("size of tensor a (1) must match the size of tensor b (1) "), 500),
    "another message": ("softmax", tells("has size batch2 tensor to be: [", "floating point None"), 500),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", one_in(6, LONG))
def test_four_times_as_long_takes_four_times_as_long_at_most(what: str) -> None:
    """Doubled for a busy machine; what grows with the square takes sixteen times as long."""
    name, change, most = LONG[what]
    cases = len(json.loads(honest(name))["tree"]["cases"]) if most == MOST_ENTRIES else 1
    each = int(0.8 * most) // cases  # the rest of the record needs some room, too
    usual = seconds(name, sets(value=lambda _: 3), 0)
    short, long = seconds(name, change, each // 4), seconds(name, change, each)
    print(f"{what}: usual {usual:.3f} s, {short:.3f}, {long:.3f}")
    assert long <= 8 * max(short, usual, 0.02)


@pytest.mark.parametrize(
    "work",
    [
        lambda names: forms._prefix([PARAMETER, "b"], [f"{name}.{PARAMETER}" for name in names]),
        lambda names: forms._whole([f"{name}.weight" for name in names], [f"{name}.bias" for name in names]),
    ],
    ids=["a prefix", "whole layers"],
)
def test_names_are_compared_in_linear_time(work: Callable[[list[str]], object]) -> None:
    """Here beyond the bounds, where what grows with the square shows."""
    taken = []
    for size in (1_000, 8_000):
        names = [f"layer{number}" for number in range(size)]
        began = time.process_time()
        work(names)
        taken.append(time.process_time() - began)
    assert taken[1] <= 24 * max(taken[0], 0.001)


def test_nothing_is_made_of_a_list_of_another_length(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(compare.torch, "tensor", lambda *of, **more: made.append(of) or torch.zeros(()))
    wanted = torch.zeros(2, 3)
    for long in ([0.0] * 1000, [[0.0] * 1000] * 2, [[0.0] * 3] * 1000, [torch.zeros(1000)] * 2, 5, "x", None, [[]]):
        assert not compare.same_numbers(long, wanted)
    assert len(made) <= 1
    assert compare.same_numbers([[0.0] * 3] * 2, wanted) and len(made) >= 6
