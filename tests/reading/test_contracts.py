"""A smallest example asks nothing that the contract rules out."""

from __future__ import annotations

import re
from itertools import islice

import pytest
import torch

from anatomy.course import COURSE
from anatomy.engine.exercise import SEEDS, Case, Exercise
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.verdict import Example
from anatomy.engine.mistakes import Mistake
from anatomy.engine.reading.smallest import smallest_cases, smallest_example
from anatomy.engine.reading.trials import Budget, Trials
from tests.plenty import one_in

EXERCISES = [one for book in COURSE.notebooks for one in COURSE.exercises(book).values() if one.kind != "quiz"]
CONTRACTS = [one for one in EXERCISES if one.holds]
RUNS = 400


def trials_of(mistake: Mistake) -> Trials:
    expectations = Expectations(COURSE.exercise(mistake.exercise), SEEDS)
    found = [expectations.with_mistake(mistake, index) for index in range(len(expectations.cases))]
    return Trials(expectations, found, Budget(float("inf"), RUNS))


def shown(name: str) -> Example:
    mistake = COURSE.exercise(name.split("__")[0]).mistakes[name]
    example = smallest_example(trials_of(mistake), mistake.answer)
    assert example is not None
    return example


def arguments(example: Example) -> tuple:
    return eval(example.call[example.call.index("(") :])


@pytest.mark.parametrize("name", [n for n, one in COURSE.exercise("prefix_lm_mask").mistakes.items() if one.edits])
def test_a_prefix_is_no_longer_than_its_text(name: str) -> None:
    prefix, length = arguments(shown(name))
    assert 0 <= prefix <= length


@pytest.mark.parametrize("name", ["nearest_tokens__nearest_last", "nearest_tokens__returns_cosines"])
def test_neighbors_are_other_rows_and_each_has_a_direction(name: str) -> None:
    query_id, weight, k = arguments(shown(name))
    assert 0 <= query_id < len(weight) and 1 <= k < len(weight)
    assert all(any(row) for row in weight)


@pytest.mark.parametrize("exercise", CONTRACTS, ids=lambda one: one.name)
def test_what_an_exercise_says_of_its_arguments_is_true_of_its_own_cases(exercise: Exercise) -> None:
    cases = [case for case in exercise.cases() if case.asks not in ("refusal", "refusals")]
    assert exercise.holds and cases and all(map(exercise.holds, cases))


@pytest.mark.slow
@pytest.mark.parametrize("exercise", one_in(12, EXERCISES), ids=lambda one: one.name)
def test_an_example_keeps_the_contract(exercise: Exercise) -> None:
    """Of a handful of mistakes: what the reference takes in the check it takes here, and what must hold does."""
    edited = [one for one in exercise.mistakes.values() if one.edits]
    for mistake in edited[:: max(1, -(-len(edited) // 4))]:
        trials = trials_of(mistake)
        outcomes = {
            (case.asks, case.note): seen.outcome
            for case, seen in zip(trials.expectations.cases, trials.expectations.expected, strict=True)
        }
        for case, seen in islice(smallest_cases(trials, mistake.answer), 1):
            assert seen.expected.outcome == outcomes[case.asks, case.note], mistake.name
            refused = seen.expected.outcome != "returned"
            assert refused or not exercise.holds or exercise.holds(case), (mistake.name, case.args)


def test_a_mask_that_is_shown_in_full_needs_no_note() -> None:
    for name in ("causal_mask", "sliding_window_mask", "decoder_mask"):
        mistake = next(one for one in COURSE.exercise(name).mistakes.values() if one.edits)
        assert shown(mistake.name).call.endswith(")")


def test_what_the_check_makes_of_a_result_is_named() -> None:
    mistake = next(one for one in COURSE.exercise("padding_mask").mistakes.values() if one.edits)
    assert shown(mistake.name).call.endswith("   used as in the check")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["FusedMultiHeadAttention", "TransformerEncoderLayer"])
def test_sizes_that_no_input_has_stay_as_they_are(name: str) -> None:
    """A head's width is D / H in the example, too: the config says so."""
    edited = [one for one in COURSE.exercise(name).mistakes.values() if one.edits and "parameters" not in one.breaks]
    sizes = [re.search(r"D = (\d+), H = (\d+), K = (\d+)", shown(one.name).call) for one in edited[:4]]
    named = [tuple(map(int, found.groups())) for found in sizes if found]
    assert named and all(width == heads * each for width, heads, each in named)


@pytest.mark.parametrize("exercise", one_in(2, ["Embeddings", "generate"]))
@pytest.mark.slow
def test_what_is_said_of_many_draws_is_not_said_of_a_few(exercise: str) -> None:
    """Right dropout hits whole columns where a batch has one token; two rows may be drawn alike by chance."""
    asked = "train mode" if exercise == "Embeddings" else "sampling"
    for mistake in [one for one in COURSE.exercise(exercise).mistakes.values() if asked in one.breaks][::4]:
        trials = trials_of(mistake)
        said = [str(seen.value) for seen in (*trials.expectations.expected, *trials.found)]
        for case, seen in smallest_cases(trials, mistake.answer):
            if case.asks == asked and seen.found.outcome == "returned":
                assert str(seen.expected.value) in said and str(seen.found.value) in said


def test_a_place_in_a_result_of_several_parts_is_named_in_full() -> None:
    assert shown("cached_attention__value_first").expected.startswith("[1][0]: entry [0, ")


def test_ids_are_below_the_size_of_their_vocabulary() -> None:
    for name in ("one_hot_lookup", "embedding_lookup"):
        exercise = COURSE.exercise(name)
        ids, weight = torch.tensor([[0, 2]]), torch.zeros(2, 3)
        assert exercise.holds and not exercise.holds(Case({"ids": ids, "weight": weight}))
