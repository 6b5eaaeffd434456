"""Weights are drawn once each, under the name that the exercise gives; a second name beside it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from anatomy.course import COURSE
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.plain_data import same
from anatomy.engine.observing.weights import by_contract_name
from tests.small_course import SmallCourse

SMALL = SmallCourse()


@SMALL.asks(properties={"parameters": 1, "values": 1, "gradients": 1}, kind="module")
def Block(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, D=5)
    yield draw.case(init=(5,), x=draw.normal("B D"))


class Plain(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(width, 7), nn.Linear(7, width)
        self.layer_norm_1 = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer_norm_1(self.linear_2(self.linear_1(x).relu()))


class SequentialBeside(Plain):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.net = nn.Sequential(self.linear_1, nn.ReLU(), self.linear_2)


class SequentialFirst(Plain):
    def __init__(self, width: int) -> None:
        nn.Module.__init__(self)
        self.layers = nn.Sequential(nn.Linear(width, 7), nn.ReLU(), nn.Linear(7, width))
        self.norm1 = self.layer_norm_1 = nn.LayerNorm(width)
        self.linear_1, self.linear_2 = self.layers[0], self.layers[2]


class Sublayer(nn.Module):
    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm


class Wrapped(Plain):
    def __init__(self, width: int) -> None:
        nn.Module.__init__(self)
        norm = nn.LayerNorm(width)
        self.sublayer = nn.ModuleList([Sublayer(norm)])
        self.ff_in = nn.Linear(width, 7)
        self.linear_1, self.layer_norm_1, self.linear_2 = self.ff_in, norm, nn.Linear(7, width)


class Lazy(Plain):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.linear_1, self.linear_2 = nn.LazyLinear(7), nn.LazyLinear(width)


def seen_of(answer: Any) -> CaseObservation:
    return observe(Block, answer, (0,)).cases[0]


@pytest.mark.parametrize("answer", [SequentialBeside, SequentialFirst, Wrapped, Lazy])
def test_a_second_name_or_a_late_shape_changes_neither_values_nor_gradients(answer: type[nn.Module]) -> None:
    here, plain = seen_of(answer), seen_of(Plain)
    assert here.outcome == "returned", here.error
    assert same(here.value, plain.value) and same(here.train, plain.train)
    assert here.gradients is not None and plain.gradients is not None
    assert here.gradients.keys() == plain.gradients.keys() and same(here.gradients, plain.gradients)
    assert (here.parameters == plain.parameters) is (answer is Lazy)
    assert bool(here.shared) is (answer is not Lazy)


def test_the_contracts_words_are_those_of_the_right_answers() -> None:
    words: set[str] = set()
    for notebook in COURSE.notebooks:
        for asked in COURSE.exercises(notebook).values():
            if asked.kind == "module":
                module = asked.right(*asked.cases((0,))[0].init)
                names = [name for name, _ in module.named_parameters()]
                assert list(by_contract_name(module, COURSE.parameter_words)) == names
                words |= {word for name in names for word in name.split(".")}
    heads = {"lm_head"}  # where it is tied, the parameter goes by the token table's name
    assert {word for word in words if not word.isdigit()} == COURSE.parameter_words | heads


def test_a_result_that_differs_in_the_last_bit_only_is_repeatable() -> None:
    runs = iter(range(100))

    @SMALL.asks(properties={"values": 1})
    def fit(seed: int) -> Iterator[Case]:
        yield Draw(seed, B=2).case(x=torch.linspace(1, 2, 6))

    assert not observe(fit, lambda x: x * (1 + 1e-7 * next(runs)), (0,)).cases[0].again
    assert observe(fit, lambda x: x * (1 + 1e-4 * next(runs)), (0,)).cases[0].again
    assert observe(fit, lambda x: x + (torch.arange(6) == next(runs)), (0,)).cases[0].again
    assert not observe(fit, lambda x: {"a": [float(x[0]) + 1e-8 * next(runs)]}, (0,)).cases[0].again
