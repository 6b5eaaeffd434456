"""Which parts an answer calls, and other answers in their place for a while."""

from __future__ import annotations

import pytest

from anatomy.engine.observing.parts import parts_of, standing_in
from tests.observing.cells import run_cell

KNOWN = {"softmax", "scores", "weights", "Head", "Heads", "unwritten"}


def parts(source: str, name: str) -> list[str]:
    return parts_of(name, run_cell(source), KNOWN)


def test_what_is_called_directly_comes_first_then_what_that_calls() -> None:
    source = (
        "def softmax(x): return x\ndef scores(x): return x\n"
        "def weights(x): return softmax(scores(x))\ndef both(x): return [weights(x) for _ in range(2)]\n"
    )
    assert parts(source, "both") == ["weights", "softmax", "scores"]
    assert parts(source, "softmax") == []


def test_methods_and_attributes_of_the_same_name_are_no_parts() -> None:
    assert (
        parts("def weights(x): return x.softmax(-1) + torch.softmax(x, -1) + nn.functional.softmax(x)", "weights") == []
    )
    assert parts("def weights(x, softmax): return softmax(x)", "weights") == []


def test_classes_are_searched_method_by_method_and_through_what_they_inherit() -> None:
    source = (
        "class Head(nn.Module):\n    def forward(self, x): return softmax(x)\n"
        "class Common(nn.Module):\n    @property\n    def one(self): return Head()\n"
        "class Heads(Common):\n    @staticmethod\n    def mix(x): return scores(x)\n"
        "    def forward(self, x): return (lambda y: self.one(y))(x)\n"
    )
    assert sorted(parts(source, "Heads")) == ["Head", "scores", "softmax"]


def test_the_students_own_helpers_are_looked_through_and_recursion_ends() -> None:
    source = "def helper(x): return softmax(x) if len(x) else weights(x)\ndef weights(x): return helper(x)\n"
    assert parts(source, "weights") == ["softmax"]


def test_a_name_that_nothing_has_yet_is_a_part_too() -> None:
    assert parts("def weights(x): return unwritten(x)", "weights") == ["unwritten"]
    assert parts("weights = 3", "weights") == [] and parts("", "weights") == []


def test_others_stand_in_for_a_while_only() -> None:
    names = run_cell("def softmax(x): return 'own'\ndef weights(x): return softmax(x), scores(x)\n")
    own = names["softmax"]
    with pytest.raises(KeyboardInterrupt), standing_in(names, {"softmax": lambda x: "right", "scores": lambda x: x}):
        assert names["weights"](1) == ("right", 1)
        raise KeyboardInterrupt
    assert names["softmax"] is own and "scores" not in names


@pytest.mark.parametrize(
    "source",
    [
        "class Sly(type):\n    def __getattribute__(cls, name): raise RuntimeError\nweights = Sly('X', (), {})",
        "class Sly:\n    def __getattr__(self, name): raise RuntimeError\nclass weights:\n    member = Sly()",
        "class Sly:\n    __class__ = type\nweights = Sly()",
        "def weights(x): return x\nweights.__wrapped__ = weights",
        "class weights: pass\nweights.itself = weights",
    ],
)
def test_what_an_object_says_of_itself_is_not_asked(source: str) -> None:
    assert parts(source, "weights") == []


def test_classes_within_a_class_are_searched() -> None:
    assert parts("class Heads:\n    class One:\n        def forward(self, x): return softmax(x)", "Heads") == [
        "softmax"
    ]


def test_what_a_decorator_of_the_library_holds_is_searched() -> None:
    source = "import functools\n@functools.cache\ndef weights(x): return softmax(x)"
    assert parts(source, "weights") == ["softmax"]
