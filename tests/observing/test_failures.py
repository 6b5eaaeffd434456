"""Errors: the line they came from, the part they happened in, and what is not written yet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.observing import observe as observing
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import observe
from tests.observing.cells import run_cell
from tests.small_course import SmallCourse

SMALL = SmallCourse()


@SMALL.asks(properties={"values": 1, "gradients": 1})
def weights(seed: int) -> Iterator[Case]:
    yield Draw(seed, B=2, D=5).case(x=torch.ones(2, 5))


@SMALL.asks(properties={"values": 1}, kind="module")
def Layer(seed: int) -> Iterator[Case]:
    yield Draw(seed, B=2, D=5).case(init=(5,), x=torch.ones(2, 5))


def seen_of(source: str) -> CaseObservation:
    names = run_cell(source)
    return observe(Layer, names["Layer"]).cases[0] if "Layer" in names else observe(weights, names["weights"]).cases[0]


def test_a_name_that_is_nearly_there_is_suggested() -> None:
    error = seen_of("def weights(x):\n    values = x * 2\n    return valeus\n").error
    assert error is not None and error.message == "name 'valeus' is not defined. Did you mean: 'values'?"
    other = seen_of("def weights(x):\n    return something_else\n").error
    assert other is not None and other.message == "name 'something_else' is not defined"


def test_an_error_in_a_part_names_the_part_and_where_it_was_called() -> None:
    error = seen_of("def part(x):\n    return x @ x\n\ndef weights(x):\n    y = x\n    return part(y)\n").error
    assert error is not None
    assert (error.line, error.code, error.within) == (2, "return x @ x", "part")
    assert (error.caller, error.caller_line) == ("weights", 6)


def test_an_error_of_the_answer_itself_has_no_caller() -> None:
    error = seen_of("def weights(x):\n    return [row @ x for row in x]\n").error
    assert error is not None
    assert (error.line, error.within, error.caller, error.caller_line) == (2, "weights", "", 0)


def test_an_error_in_a_function_inside_the_answer_says_where_that_is_called() -> None:
    error = seen_of("def weights(x):\n    def inner(x):\n        return x @ x\n    return inner(x)\n").error
    assert error is not None
    assert (error.line, error.within, error.caller, error.caller_line) == (3, "weights", "weights", 4)


def test_a_method_is_named_by_its_class() -> None:
    error = seen_of(
        "class Part(nn.Module):\n    def forward(self, x):\n        return x @ x\n\n"
        "class Layer(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n        self.part = Part()\n"
        "    def forward(self, x):\n        return self.part(x)\n"
    ).error
    assert error is not None
    assert (error.line, error.within, error.caller, error.caller_line) == (3, "Part", "Layer", 10)


def test_an_answer_under_another_name_is_still_the_answer() -> None:
    error = seen_of("part = lambda x: x @ x\nweights = lambda x: part(x)\n").error
    assert error is not None
    assert (error.caller, error.caller_line, error.line) == ("weights", 2, 1)


STUB = 'class Layer(nn.Module):\n    """A layer."""\n    def __init__(self, d):\n        super().__init__()\n'


@pytest.mark.parametrize(
    "source",
    [
        'def weights(x):\n    """The weights."""\n    # YOUR CODE HERE\n    raise NotImplementedError\n',
        "def weights(x):\n    raise NotImplementedError('later')\n",
        "@torch.no_grad()\ndef weights(x):\n    raise NotImplementedError\n",
        f"{STUB}        raise NotImplementedError\n    def forward(self, x):\n        raise NotImplementedError()\n",
    ],
)
def test_a_stub_is_not_attempted(source: str) -> None:
    seen = seen_of(source)
    assert seen.outcome == "not attempted" and seen.error is None


@pytest.mark.parametrize(
    "source, line",
    [
        ("def weights(x):\n    # YOUR CODE HERE\n    raise NotImplementedError\n    return x.exp()\n", 3),
        ("def weights(x):\n    y = x.exp()\n    # YOUR CODE HERE\n    raise NotImplementedError\n", 4),
        (
            "def weights(x):\n    '''Two.'''\n    if x.dim() > 2:\n        return x\n    raise NotImplementedError()\n",
            5,
        ),
        (
            f"{STUB}        self.d = d\n        raise NotImplementedError\n    def forward(self, x):\n        pass\n",
            6,
        ),
    ],
)
def test_a_stub_left_in_an_answer_is_seen(source: str, line: int) -> None:
    seen = seen_of(source)
    assert seen.outcome == "raised" and seen.error is not None
    assert seen.error.leftover and seen.error.line == line


def test_a_class_of_which_one_method_is_written_is_attempted() -> None:
    seen = seen_of(f"{STUB}        self.d = d\n    def forward(self, x):\n        raise NotImplementedError\n")
    assert seen.outcome == "raised" and seen.error is not None
    assert (seen.error.type, seen.error.line, seen.error.leftover) == ("NotImplementedError", 7, False)


def test_a_part_that_is_not_written_leaves_the_answer_attempted() -> None:
    seen = seen_of("def part(x):\n    raise NotImplementedError\n\ndef weights(x):\n    return part(x)\n")
    assert seen.outcome == "raised" and seen.error is not None
    assert (seen.error.within, seen.error.caller_line, seen.error.leftover) == ("part", 5, False)


def test_what_pytorch_has_not_implemented_is_no_stub() -> None:
    seen = seen_of("def weights(x):\n    return x.float() & x.float()\n")
    assert seen.outcome == "raised" and seen.error is not None
    assert (seen.error.type, seen.error.line, seen.error.leftover) == ("NotImplementedError", 2, False)


def test_what_a_library_has_not_implemented_is_an_error() -> None:
    class Layer(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()

    seen = observe(globals()["Layer"], Layer).cases[0]
    assert seen.outcome == "raised" and "forward" in (seen.error.message if seen.error else "")


def test_an_exception_that_cannot_even_say_what_it_is_is_described() -> None:
    error = seen_of(
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\n\ndef weights(x):\n    raise Odd\n"
    ).error
    assert error is not None and (error.type, error.message, error.line) == ("Odd", "", 6)


def test_an_error_whose_words_no_message_could_carry_is_described() -> None:
    error = seen_of("def weights(x):\n    raise type('A' * 200, (Exception,), {})('\\ud800')\n").error
    assert error is not None
    assert (error.type, error.message) == ("A" * 100, "?")


def test_a_loop_that_never_ends_is_told_of_wherever_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "TIME_LIMIT", 0.2)
    seen = seen_of(
        "def weights(x):\n    rows, i = [], 0\n    while i < len(x):\n        rows.append(x[i])\n        del rows[:]\n"
    )
    assert seen.outcome == "too slow" and seen.error is not None
    assert (seen.error.line, seen.error.code) == (3, "while i < len(x):")
