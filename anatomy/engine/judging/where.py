"""Say in which cases an answer is wrong, if something tells them from the cases in which it is right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging import trail
from anatomy.engine.judging.expectations import Expectations

_SURE, _SURE_OF_A_NUMBER = 3, 4
"""Drawn cases that must be right before what their sizes have in common counts as a condition, such as a size of 1 or
two equal ones; and before any other number does, which few cases share by accident."""


def where_it_happens(expectations: Expectations, here: int, wrong: Collection[int]) -> str:
    """What all wrong cases have and no right case has, or the other way round: a size, a number of axes, a note.

    The cases of all properties count: one of them is enough to contradict a sentence.
    """
    cases, outcome = expectations.cases, expectations.expected[here].outcome
    comparable = [index for index in range(len(cases)) if expectations.expected[index].outcome == outcome]
    right = [index for index in comparable if index not in wrong]
    failed = [index for index in comparable if index in wrong]
    if all(_may_be_luck(expectations.expected[index].value) for index in right) or not failed:
        return ""
    by_chance = bool(expectations.exercise.rules)  # what keeps to a statistic may do so by luck
    return _said([cases[index] for index in right], [cases[index] for index in failed], by_chance)


def _said(right: Sequence[Case], failed: Sequence[Case], notes_only: bool) -> str:
    """A condition that no case contradicts. Drawn cases test sizes and axes; they have no notes."""
    if not notes_only and (condition := _by_axes(right, failed) or _by_sizes(right, failed)):
        return condition
    chosen_right, chosen_failed = ([case for case in cases if not case.drawn] for cases in (right, failed))
    if chosen_right and (refuted := _by_axes(chosen_right, chosen_failed) or _by_sizes(chosen_right, chosen_failed)):
        trail.note(f"“{refuted}”", "a drawn case contradicts it, or none confirms it")
    if noted := _by_notes(chosen_right, chosen_failed):
        asked = {case.asks for case in chosen_failed} - {None}
        against = next((case for case in failed if case.drawn and case.asks not in asked), None)
        if against is None:
            return noted
        trail.note(f"“{noted}”", f"it also happens in {trail.in_words(against)}")
    return ""


def _may_be_luck(value: object) -> bool:
    """Whether a result is a choice or two, such as the nearest label. A wrong answer may hit it by luck."""
    return isinstance(value, Tensor) and not value.is_floating_point() and value.numel() < 4


def _by_axes(right: Sequence[Case], failed: Sequence[Case]) -> str:
    """The number of axes that an input has in all right cases and in no wrong one. Few right cases may be chance."""
    if len({case.note for case in right}) < 2 and sum(case.drawn for case in right) < _SURE:
        return ""
    for name in right[0].args:
        counts = [{_axes(case.args.get(name)) for case in cases} for cases in (right, failed)]
        if len(counts[0]) == 1 and not counts[0] & counts[1] and None not in counts[0] | counts[1]:
            (count,) = counts[0]
            return f"It is right only where `{name}` has {count} {'axis' if count == 1 else 'axes'}."
    return ""


def _axes(value: object) -> int | None:
    return value.dim() if isinstance(value, Tensor) else None


def _by_sizes(right: Sequence[Case], failed: Sequence[Case]) -> str:
    """The sizes that all right cases share and no wrong case has."""
    letters = [letter for letter in right[0].sizes if all(letter in case.sizes for case in (*right, *failed))]
    shared = {
        letter: right[0].sizes[letter]
        for letter in letters
        if len({case.sizes[letter] for case in right}) == 1
        and all(case.sizes[letter] != right[0].sizes[letter] for case in failed)
    }
    if any(case.drawn for case in failed) and sum(case.drawn for case in right) < _SURE:
        return ""  # cases may share a size by accident
    ones = [letter for letter, size in shared.items() if size == 1]
    for one, two in () if ones else combinations(letters, 2):
        if all(case.sizes[one] == case.sizes[two] for case in right) and not any(
            case.sizes[one] == case.sizes[two] for case in failed
        ):
            return f"It is right only where {one} equals {two}."
    if len(named := ones or list(shared)) != 1:
        return ""  # a condition names one cause
    if not ones and any(case.drawn for case in failed) and sum(case.drawn for case in right) < _SURE_OF_A_NUMBER:
        return ""
    (one,) = named
    return f"It is right only in the tries with {one} = {shared[one]}."


def _by_notes(right: Sequence[Case], failed: Sequence[Case]) -> str:
    """The note of the wrong cases, if all have the same one and no right case has it."""
    notes = {case.note for case in failed}
    if len(notes) != 1 or "" in notes or any(case.note in notes for case in right):
        return ""
    return f"This happens {notes.pop()}."
