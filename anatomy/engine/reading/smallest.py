"""The smallest input on which an answer and the contract differ, with both results.

A case that differs is made smaller step by step: fewer sentences, tokens, words and letters, whole numbers. A step
counts if the reference still accepts the input and both still differ, and what held of the input (weights that sum to
1, a mask that leaves something, a permutation, and what the exercise says in `holds`) must still hold. What is shown
was computed on what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.verdict import Example
from anatomy.engine.observing.plain_data import is_float, same, tensors
from anatomy.engine.reading.as_text import call_text, results_text
from anatomy.engine.reading.smaller import smaller_ones, still_holds
from anatomy.engine.reading.trials import CLEAR, Seen, Trials, clearness


def smallest_example(
    trials: Trials,
    answer: Any,
    build: Callable[[], Any] | None = None,
    there: Callable[[Case], str] | None = None,
) -> Example | None:
    """The smallest input found, as text; None where results don't differ, or differ by chance or by their weights.

    `build` makes the answer again: what only shows after earlier calls, which a list as a default value keeps, is no
    example. `there` says of a case what stands at the place that goes wrong.
    """
    for case, seen in smallest_cases(trials, answer):
        if build and not trials.both(build(), case):
            continue
        if texts := results_text(seen, trials.expectations.exercise):
            return Example(call_text(trials, case, seen.expected), *texts, there(case) if there else "")
    return None


def smallest_cases(trials: Trials, answer: Any) -> Iterator[tuple[Case, Seen]]:
    """Each case of the check that differs, made smaller, and what was seen in it; the plain cases first.

    A drawn case asks for something that a chosen one of those that differ asks for, if there is one.
    """
    cases, known = trials.expectations.cases, trials.expectations.expected
    changed = any(found.changed > right.changed for found, right in zip(trials.found, known, strict=True))
    if changed and trials.expectations.exercise.act:
        return  # an act's next call gets what the last one changed: what it gives says little
    by_chance = {index for index, found in enumerate(trials.found) if found.again and not known[index].again}
    asked = {cases[index].asks for index in trials.visible if not cases[index].drawn}
    for index, seen in sorted(trials.visible.items(), key=lambda item: _oddity(cases[item[0]])):
        if asked and cases[index].asks not in asked:
            continue
        may_be_chance = index in by_chance or (cases[index].drawn and by_chance)  # a drawn case is run once
        is_call = trials.found[index].error_type != "BadSignature"  # else no call gives what was seen
        if is_call and trials.found[index].parameters == known[index].parameters and not may_be_chance:
            yield _shrunk(trials, answer, cases[index], seen)


def _oddity(case: Case) -> tuple[bool, bool, bool]:
    """Cases that ask for something of their own, or have something special, are shown only if no plain one differs."""
    return case.drawn, case.asks is not None, bool(case.note)


def _shrunk(trials: Trials, answer: Any, case: Case, seen: Seen) -> tuple[Case, Seen]:
    """The case made smaller as long as both differ in the same way: two results, or an error of the same type."""
    if seen.expected.outcome != "returned" or seen.found.outcome == "too slow":
        return case, seen
    exercise, first, smaller = trials.expectations.exercise, case, True
    least = min(CLEAR, clearness(seen.difference) / 2)
    in_full = exercise.compares_calls or exercise.holds is not None
    while smaller and not trials.budget.is_spent:
        smaller = False
        for other in smaller_ones(case, seen, in_full):
            if trials.budget.is_spent:
                break
            if not all(still_holds(other.args[name], value) for name, value in first.args.items()):
                continue
            if exercise.holds and not exercise.holds(other):
                continue
            here = trials.both(answer, other, least)
            if here and _alike(exercise, here, seen) and _is_steady(trials, other, here):
                case, seen, smaller = other, here, True
                break
    in_order = replace(case, args={name: _in_order(value) for name, value in case.args.items()})
    here = trials.both(answer, in_order, least)
    return (in_order, here) if here and _alike(exercise, here, seen) else (case, seen)


def _in_order(value: Any) -> Any:
    """A tensor as it is when it is typed in."""
    return value.contiguous() if isinstance(value, Tensor) else value


def _alike(exercise: Exercise, here: Seen, seen: Seen) -> bool:
    """Whether both do here what they did before.

    What a check says in words of a result, such as where dropout acts, may not be true of a smaller one: it must stay.
    """
    same_words = exercise.compares_calls or _words_of(here) == _words_of(seen)
    return (
        same_words and _how(here) == _how(seen) and _is_finite(seen.expected.value) <= _is_finite(here.expected.value)
    )


def _how(seen: Seen) -> tuple[str, str, str]:
    return seen.expected.outcome, seen.found.outcome, seen.found.error_type


def _words_of(seen: Seen) -> list[list[str]]:
    return [list(_words(one.value)) for one in (seen.expected, seen.found)]


def _words(value: Any) -> Iterator[str]:
    """The texts among plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _words(item)


def _is_finite(value: Any) -> bool:
    return all(bool(leaf.isfinite().all()) for leaf in tensors(value))


def _holds_floats(value: Any) -> bool:
    return isinstance(value, float) or any(leaf.is_floating_point() for leaf in tensors(value))


def _is_steady(trials: Trials, case: Case, seen: Seen) -> bool:
    """Whether a choice (the nearest, the largest) stays when every number moves a little: no two are alike."""
    if _holds_floats(seen.expected.value) or not any(map(_holds_floats, case.args.values())):
        return True
    right = trials.expectations.exercise.right
    for seed in (0, 1):
        generator = torch.Generator().manual_seed(seed)
        args = {name: _moved(value, generator) for name, value in case.args.items()}
        if not same(trials.does(right, replace(case, args=args)).value, seen.expected.value):
            return False
    return True


def _moved(value: Any, generator: torch.Generator) -> Any:
    if isinstance(value, list):
        return [_moved(item, generator) for item in value]
    return value + 1e-3 * torch.randn(value.shape, generator=generator) if is_float(value) else value
