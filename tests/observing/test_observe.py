"""Observing: what is noted of an answer, and what an answer can't do to the process that looks at it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from anatomy.course import COURSE
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, quiz
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing import observe as observing
from anatomy.engine.observing.observation import CaseObservation, Observation
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.plain_data import alike, fresh, plain, same
from anatomy.engine.observing.records import decode, encode
from tests.small_course import SmallCourse

SMALL = SmallCourse()


@SMALL.asks(properties={"values": 1, "gradients": 1}, forbids=("softmax",))
def squash(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, D=5)
    yield draw.case(x=draw.normal("B D"))


@SMALL.asks(properties={"parameters": 1, "values": 1, "gradients": 1}, kind="module")
def Layer(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, D=5)
    yield draw.case(init=(5,), x=draw.normal("B D"))


def first_case(answer: Any, of: Any = squash) -> CaseObservation:
    return observe(of, answer, (0,)).cases[0]


def test_values_and_gradients_are_noted() -> None:
    seen = first_case(lambda x: x * 2)
    assert seen.outcome == "returned"
    assert seen.value.shape == (2, 5)
    assert seen.gradients["x"].shape == (2, 5)
    assert not seen.again and seen.linked and not seen.changed and not seen.calls


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: x.softmax(-1),
        lambda x: nn.functional.softmax(x, -1),
        lambda x: nn.Softmax(-1)(x),
        lambda x: torch.special.softmax(x, -1),
        lambda x: nn.functional.softmin(-x, -1),
        lambda x: torch.ops.aten._softmax(x, -1, False),
        lambda x: torch.ops.aten.softmax.int(x, -1),
    ],
)
def test_the_library_is_recognized_however_it_is_called(answer: Callable[[Tensor], Tensor]) -> None:
    assert first_case(answer).calls == ["softmax"]


def test_own_work_is_not_taken_for_the_library() -> None:
    assert first_case(lambda x: (x - x.logsumexp(-1, keepdim=True)).exp()).calls == []


def test_changed_inputs_noise_and_cut_gradients_are_noted() -> None:
    assert first_case(lambda x: x.add_(1)).changed == ["x"]
    generator = torch.Generator().manual_seed(0)
    assert first_case(lambda x: x + torch.rand(1, generator=generator)).again
    assert not first_case(lambda x: x.detach()).linked


@SMALL.asks(properties={"values": 1}, kind="module")
def Rows(seed: int) -> Iterator[Case]:
    for rows in (3, 5):
        draw = Draw(seed, B=rows, D=4)
        yield draw.case(init=(4,), x=draw.normal("B D"))


def test_what_a_module_keeps_of_another_input_is_noted() -> None:
    class Keeps(nn.Linear):
        kept: Any = None

        def __init__(self, width: int) -> None:
            super().__init__(width, width)

        def forward(self, x: Tensor) -> Tensor:
            self.kept = torch.ones(len(x), 1) if self.kept is None else self.kept
            return super().forward(x) * self.kept

    class Forgets(Keeps):
        def forward(self, x: Tensor) -> Tensor:
            self.kept = None
            return super().forward(x)

    assert [bool(one.again) for one in observe(Rows, Keeps, (0,)).cases] == [False, True]
    assert not any(one.again for one in observe(Rows, Forgets, (0,)).cases)


def test_a_module_that_hangs_after_another_input_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "TIME_LIMIT", 0.2)

    class Hangs(nn.Linear):
        rows: int | None = None

        def __init__(self, width: int) -> None:
            super().__init__(width, width)

        def forward(self, x: Tensor) -> Tensor:
            while self.rows not in (None, len(x)):
                pass
            self.rows = len(x)
            return super().forward(x)

    cases = observe(Rows, Hangs, (0, 1)).cases
    assert [seen.outcome for seen in cases] == ["returned", *["too slow"] * 3]
    assert cases[-1].error and cases[-1].error.message.endswith("s of computing after another input")


def test_plain_randomness_is_noise_and_yet_repeats() -> None:
    one, other = (first_case(lambda x: x + torch.rand(1)) for _ in range(2))
    assert one.again
    assert torch.equal(one.value, other.value)


def test_dropout_shows_in_training_mode_only() -> None:
    class Dropping(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x: Tensor) -> Tensor:
            return self.drop(x)

    seen = first_case(Dropping, Layer)
    assert not seen.again and seen.train_again


@pytest.mark.parametrize("error", [ValueError, SystemExit, MemoryError, GeneratorExit, RecursionError])
def test_whatever_is_raised_is_described(error: type[BaseException]) -> None:
    def answer(x: Tensor) -> Tensor:
        raise error("because")

    seen = first_case(answer)
    assert seen.outcome == "raised"
    assert seen.error.type == error.__name__


def test_an_endless_loop_ends_even_if_it_swallows_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "TIME_LIMIT", 0.2)

    def stubborn(x: Tensor) -> Tensor:
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue

    cases = observe(squash, stubborn, (0, 1, 2)).cases
    assert [seen.outcome for seen in cases] == ["too slow"] * 3


def test_what_an_answer_prints_while_checked_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(x: Tensor) -> Tensor:
        print("look", x)
        return x

    first_case(chatty)
    assert capsys.readouterr().out == ""


def test_weights_depend_on_name_and_shape_alone() -> None:
    class One(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(width, width), nn.Linear(width, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.b(self.a(x))

    class Other(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.b, self.a = nn.Linear(width, 3), nn.Linear(width, width)

        def forward(self, x: Tensor) -> Tensor:
            return self.b(self.a(x))

    one, other = first_case(One, Layer), first_case(Other, Layer)
    assert torch.equal(one.value, other.value)
    assert one.parameters == {"a.weight": [5, 5], "a.bias": [5], "b.weight": [3, 5], "b.bias": [3]}
    assert same(one.gradients["a.bias"], other.gradients["a.bias"])


def test_shared_parameters_are_noted() -> None:
    class Shared(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.a = nn.Linear(width, width)
            self.b = self.a

        def forward(self, x: Tensor) -> Tensor:
            return self.b(self.a(x))

    assert first_case(Shared, Layer).shared == [["a.bias", "b.bias"], ["a.weight", "b.weight"]]


def test_a_class_is_wanted_where_a_class_is_asked() -> None:
    assert first_case(lambda x: x, Layer).error.type == "BadSignature"


def test_plain_data_is_plain() -> None:
    tree = plain(
        {"a": (1, 2.0, True, None, "s"), "f": print, "t": torch.ones(2, requires_grad=True), "m": nn.Linear(1, 1)}
    )
    assert tree["a"] == [1, 2.0, True, None, "s"]
    assert tree["f"] == {"$other": "a function"}
    assert not tree["t"].requires_grad
    assert tree["m"].keys() == {"weight", "bias"}
    assert plain(torch.empty(1).expand(2_000_000)).keys() == {"$other"}


def test_a_fresh_module_is_tied_as_the_given_one_and_shares_nothing_with_it() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(
                [nn.Linear(3, 3), nn.MultiheadAttention(4, 2), nn.Sequential(), nn.Linear(3, 3)]
            )
            self.layers[3].weight = self.layers[0].weight
            self.again, self.missing, self.sizes = self.layers[0], None, [3]
            self.register_buffer("kept", torch.zeros(2))

    given = Own()
    copy = fresh({"module": given})["module"]
    assert type(copy) is Own and same(plain(copy), plain(given)) and list(copy.state_dict()) == list(given.state_dict())
    assert copy.layers[3].weight is copy.layers[0].weight and copy.again is copy.layers[0] and copy.missing is None
    assert not {id(one) for one in (*given.modules(), *given.parameters(), *given.buffers(), given.sizes)} & {
        id(one) for one in (*copy.modules(), *copy.parameters(), *copy.buffers(), copy.sizes)
    }
    assert all(vars(one)["_forward_hooks"] is not vars(other)["_forward_hooks"]
               for one, other in zip(given.modules(), copy.modules(), strict=True))  # fmt: skip


def test_fresh_copies_share_nothing() -> None:
    generator = torch.Generator().manual_seed(5)
    given = {"t": torch.zeros(3), "l": [torch.zeros(1)], "g": generator}
    copy = fresh(given)
    copy["t"] += 1
    copy["l"][0] += 1
    assert not given["t"].any() and not given["l"][0].any()
    assert torch.equal(torch.rand(2, generator=copy["g"]), torch.rand(2, generator=generator))


def test_what_a_module_can_not_be_called_with_is_said_as_such() -> None:
    """Also where an exercise calls it in its own way: the error comes from no line of the student's."""
    through_run = replace(Layer, act=lambda module, case: module(case.args["x"], mask=None))

    class Takes(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()

        def forward(self, x: Tensor) -> Tensor:
            return x

    class Builds(Takes):
        def __init__(self) -> None:
            super().__init__(1)

    def fits(answer: object, exercise: Any) -> str:
        error = first_case(answer, exercise).error
        assert error.type == "BadSignature"
        return error.message

    called = "your `forward` takes (x), and is called with `mask`, too."
    assert fits(Takes, through_run) == f"The arguments don't fit: {called}"
    assert "it is built with (5), but your `__init__` takes ()" in fits(Builds, Layer)
    two = replace(Layer, act=lambda module, case: module(case.args["x"], None))
    assert fits(Takes, two).endswith("is called with 2 values.")
    none = replace(Layer, act=lambda module, case: module())
    assert fits(Takes, none).endswith("is called without `x`.")


def test_the_numbers_of_an_array_are_kept() -> None:
    kept = plain({"array": np.array([[1, 2]]), "number": np.float32(0.5), "texts": np.array(["a"])})
    assert kept["array"]["$other"] == "a NumPy array"
    assert kept["array"]["$numbers"].tolist() == [[1.0, 2.0]]
    assert (kept["number"], kept["texts"]) == (0.5, {"$other": "a NumPy array"})


def test_a_class_that_is_no_module_is_told_so() -> None:
    class Plain:
        def __init__(self, width: int) -> None: ...

        def __call__(self, x: Tensor) -> Tensor:
            return x

    seen = first_case(Plain, Layer)
    assert seen.error is not None
    assert (seen.error.type, seen.error.message) == (
        "BadSignature", "`Layer` is a class but no `nn.Module`: derive it, `class Layer(nn.Module):`.")  # fmt: skip


@pytest.mark.parametrize("answer", [torch.ones(2, requires_grad=True), torch.vmap(torch.sin), torch.autograd.Function])
def test_what_has_no_code_of_its_own_is_observed(answer: Any) -> None:
    assert first_case(answer).outcome in ("returned", "raised")


def test_a_quiz_takes_the_dash_that_the_text_prints() -> None:
    asked = SMALL.add(quiz("types", {"a": ("encoder-decoder", "encoder")}))
    assert observe(asked, {"a": "Encoder–Decoder "}).cases[0].value == {"a": "encoder-decoder"}


def test_a_quiz_that_fails_when_it_is_read_is_an_answer_that_raises() -> None:
    class Sly(dict):
        def items(self) -> Any:
            raise KeyError("no")

    asked = SMALL.add(quiz("asks", {"a": ("x", "y")}))
    assert observe(asked, Sly(a="x")).cases[0].error_type == "KeyError"


def _of_itself(kind: type) -> Any:
    held = kind()
    held.append(held) if kind is list else held.update(held=held)
    return held


@pytest.mark.parametrize(
    "value, described",
    [
        (10**400, {"$other": "a whole number too large to compare"}),
        (-(10**5000), {"$other": "a whole number too large to compare"}),
        (10**300, 10**300),
        (np.float64(3), 3.0),
        (np.longdouble(3), 3.0),
        (torch.ones(2, dtype=torch.complex128), {"$other": "a tensor of type complex128"}),
        (torch.ones(2, device="meta"), {"$other": "a tensor without data, on the meta device"}),
        ("\ud800x", "?x"),
        ({"\ud800": 1}, {"?": 1}),
    ],
    ids=["too large", "too long to be printed", "large", "float64", "longdouble", "complex128", "meta", "text", "key"],
)
def test_what_a_record_could_not_hold_is_described(value: Any, described: Any) -> None:
    assert same(plain(value), described) and type(plain(value)) is type(described)


def test_numbers_of_an_unusual_type_are_kept_beside_its_name() -> None:
    described = plain(torch.tensor([1, 2], dtype=torch.uint64))
    assert described["$other"] == "a tensor of type uint64"
    assert described["$numbers"].tolist() == [1, 2]


@pytest.mark.parametrize("kind", [list, dict])
def test_what_holds_itself_is_described_where_it_is_too_deep(kind: type) -> None:
    assert "nested too deeply" in str(plain(_of_itself(kind)))
    assert "nested too deeply" not in str(plain([[[[1]]]]))


def test_long_texts_and_keys_are_cut_and_can_be_sent() -> None:
    tensor = torch.zeros(20, 30)
    seen = first_case(lambda x: {tensor: "a" * 100_000, "b": x})
    assert [len(key) <= 200 for key in seen.value] == [True, True]
    came = decode(encode(Observation("softmax", [seen]))).cases[0]
    assert came.outcome == "returned" and came.value.keys() == seen.value.keys()


@pytest.mark.parametrize("last", [-math.inf, math.nan, 3.0])
def test_only_rounding_is_alike_beside_what_is_not_finite(last: float) -> None:
    numbers = torch.tensor([1.0, 2.0, last])
    assert alike(numbers * (1 + 1e-7), numbers)
    assert not alike(torch.tensor([1.0, 2.5, last]), numbers)
    assert not alike(torch.tensor([1.0, 2.0, 7.0]), numbers)


class OnTheClass(COURSE.exercise("FusedMultiHeadAttention").right):
    """Each module of this class has as many heads as the one that was built last."""

    def __init__(self, config):
        super().__init__(config)
        type(self).heads = config.num_attention_heads

    @property
    def num_heads(self):
        return type(self).heads

    @num_heads.setter
    def num_heads(self, _):
        pass


def test_a_module_that_another_one_changes_is_told_of_once() -> None:
    exercise = COURSE.exercise("FusedMultiHeadAttention")
    seen = observe(exercise, OnTheClass)
    assert [bool(case.again) for case in seen.cases].count(True) == 1
    verdict = judge(exercise, seen)
    assert verdict.diagnoses[0].headline.startswith("Once another module of your class is built")
    assert not any(case.again for case in observe(exercise, exercise.right).cases)
