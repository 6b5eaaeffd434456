"""Mistakes that need two seeds, as in grading, to show what they lose: with one of them, no evidence is asked for."""

from __future__ import annotations

import pytest

from anatomy.course import COURSE
from anatomy.engine.exercise import SEEDS
from tests.exercises.test_every_exercise import is_named_as_itself, verdict_on_mistake

ALWAYS_STOP_OR_THE_SAME = (
    "GPT__no_tokens",
    "GPT__head_before_norm",
    "best_span__no_return",
    "best_span__numpy_places",
    "best_span__divmod_of_a_tensor",
)
"""Nothing that they return hangs on the input: that they refuse what is to be refused doesn't count."""

NEXT_TO_ANOTHER = {
    "generate__uniform": (9001, 2),  # a softmax of a softmax gives probabilities that are nearly alike
    "TransformerForSequenceClassification__first_of_the_first": SEEDS,  # dropout is seen in a single sentence
}
"""Seeds at which chance hid the mistake, or showed another one."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seeds"), [*((name, (11, 12)) for name in ALWAYS_STOP_OR_THE_SAME), *NEXT_TO_ANOTHER.items()]
)
def test_a_mistake_is_named_and_loses_what_it_breaks(name: str, seeds: tuple[int, int]) -> None:
    wrong = COURSE.exercise(name.partition("__")[0]).mistakes[name]
    assert is_named_as_itself(wrong, verdict_on_mistake(wrong, seeds))
