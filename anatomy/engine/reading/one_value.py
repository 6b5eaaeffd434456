"""One value at a time: the expression that goes wrong, found by lending it a value of a right answer.

What a right answer's expressions give in a case is recorded, and so is what the student's give. Then an expression of
the student's is made to give what one of the right answer's gave. If the results are right in all cases, this
expression is what goes wrong, however much is wrong inside it: the rest works as it stands.

What stands beside the same values as in a right answer is tried first, then what no right answer computes, in the order
in which it is computed; then what stands inside it.
"""

from __future__ import annotations

import ast
import contextlib
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from anatomy.engine.exercise import Case
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.observe import glimpse_case
from anatomy.engine.reading.expressions import is_module
from anatomy.engine.reading.lending import Lending
from anatomy.engine.reading.noted import forms, holding_all_numbers
from anatomy.engine.reading.pointing import (
    origins_of,
    said_of_argument,
    said_of_branch,
    said_of_number_type,
    said_of_value,
    set_to,
    unknown_in,
)
from anatomy.engine.reading.recording import Noted, Notes, Recording, is_data, of_program, of_right_answers
from anatomy.engine.reading.right_values import Rank, Right
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.trials import Trials

_SOME = 3
"""Cases in which a value must be the result to count as such."""


class Place(NamedTuple):
    """What is said of an expression that goes wrong; `in_case`: what it gives in some case, and what is needed there.

    `left` is the listed mistake that is made besides: with the right value in that place, the answer does what this
    one does.
    """

    diagnosis: Diagnosis
    line: int
    in_case: Callable[[Case], str]
    left: Mistake | None = None


def note_right_answers(trials: Trials, seconds: float) -> None:
    """Note here, for all copies of this process, what right answers compute in the first cases that differ."""
    known, until = trials.expectations, time.thread_time() + seconds
    for right in of_right_answers(known.exercise):
        for case in _compared(trials):
            if (right, case) not in known.noted and time.thread_time() < until:
                with warnings.catch_warnings(), contextlib.suppress(Exception):  # the copies try again
                    warnings.simplefilter("ignore")
                    glimpse_case(known.exercise, right.build(), known.cases[case])
                    known.noted[right, case] = right.notes


class Compared:
    """What the expressions of the student's give in some cases that differ, and which of them a right answer computes,
    too."""

    def __init__(self, program: Program, trials: Trials) -> None:
        self.some = list(trials.visible)[:_SOME]
        self.first, whole = self.some[0], trials.budget.left
        self.mine, self.my_notes = of_program(program), dict[int, Notes]()
        for case in reversed(_compared(trials)):  # the first one last: its values are what is lent to
            trials.watch(self.mine.build, case)
            self.my_notes[case] = self.mine.notes
        self.rights, results = list[Right](), {case: list[list[Noted]]() for case in self.some}
        for theirs in of_right_answers(trials.expectations.exercise):
            right = Right(theirs, trials)
            for case in self.some:
                results[case] += right.results(case)
            self.rights.append(right)
            if trials.budget.left < whole / 2:
                break  # right answers that take long to run leave no time to lend what they give
        for right in self.rights:
            right.compare(self.my_notes, self.first, right.final(results))
        self.matched = set[int]().union(*(right.matched for right in self.rights))

    @property
    def suspected(self) -> list[set[int]]:
        """The lines in which something comes out that no right answer computes, of what one may compute; and those from
        which it comes. What is set in `__init__` has other numbers each time."""
        mine = self.mine
        told = mine.notes.keys() - self.matched - mine.building
        unknown = {number for number in told if all(map(is_data, mine.notes[number]))}
        first = [number for number in unknown if not unknown & mine.comes_from(number) - {number}]
        before = {one for number in first for one in mine.comes_from(number)}
        return [{getattr(mine.places[one][3], "lineno", 0) for one in some} for some in (first, before)]


def the_value(program: Program, trials: Trials, compared: Compared) -> Place | None:
    """Points at the expression that goes wrong."""
    mine, my_notes, first, rights, matched = (
        compared.mine, compared.my_notes, compared.first, compared.rights, compared.matched
    )  # fmt: skip
    my_ends = set.intersection(*(holding_all_numbers(mine.returned, my_notes[case]) for case in compared.some))
    ranks = sorted({rank for right in rights for rank in right.ranks(mine, matched, my_ends)})
    my_forms = {case: {one: forms(values) for one, values in my_notes[case].items()} for case in compared.some}
    lending = Lending(program, trials, mine, rights, first, my_ends, my_forms)
    for rank in ranks:
        for number in mine.notes:
            if lending.mends(number, rank):
                sure = [
                    one
                    for one in ranks
                    if not one.stands_elsewhere
                    or (one.has_another_form <= rank.has_another_form and not one.mine_is_theirs)
                ]
                cause = _first_cause(number, mine, lending, sure, ranks)
                if lending.mends_all(cause):
                    if two := _two(program, lending, ranks, mine.comes_from(cause) & mine.notes.keys()):
                        return two
                    unknown = unknown_in(cause, mine, matched)
                    is_sure = not unknown and not trials.budget.is_spent  # that nothing before it goes wrong
                    if not is_sure and _is_all_that_is_returned(mine, cause):
                        return None  # the right value there would mend anything
                    return _place(program, lending, cause, unknown)
    return _two(program, lending, ranks, ())


def _compared(trials: Trials) -> list[int]:
    """The cases in which values are compared: some that differ, one more for what each asks, and one that is right.

    What is the same by chance in some, such as what a mask of ones hides, is another in the others.
    """
    asked = {trials.expectations.cases[index].asks: index for index in trials.visible}
    return list(dict.fromkeys([*list(trials.visible)[:_SOME], *asked.values(), *trials.plainly_right[:1]]))


def _place(program: Program, lending: Lending, cause: int, unknown: list[str]) -> Place:
    mine, line = lending.mine, lending.mine.places[cause][3].lineno
    if lending.is_given(cause):
        said = said_of_argument(program, mine, cause)
    elif (decision := lending.decision(cause)) is not None:
        said = said_of_branch(program, mine, cause, decision)
    elif types := lending.number_types(cause):
        said = said_of_number_type(program, mine, cause, *types)
    else:
        origins = origins_of(mine, cause, lending.trials)
        others_do = lending.others_do(cause)
        said = said_of_value(program, mine, cause, unknown, lending.varies(cause), origins, others_do)
        return Place(said, line, (lambda _: "") if others_do else partial(lending.there_and_needed, cause))
    return Place(said, line, lambda _: "")


def _two(program: Program, lending: Lending, ranks: list[Rank], before: Iterable[int]) -> Place | None:
    """A place, and the listed mistake that is left with the right value there; also one `before` what mends all."""
    for number in before:
        any(lending.mends(number, rank) for rank in ranks)
    if (left := lending.left(ranks)) is None:
        return None
    place, mistake = left
    said = said_of_value(program, lending.mine, place, [], False, origins_of(lending.mine, place, lending.trials))
    if (needed := lending.always_needed(place)) is not None:
        said = replace(said, detail=f"{said.detail} There, {needed} is needed.")
    return Place(said, lending.mine.places[place][3].lineno, lambda _: "", mistake)


def _first_cause(number: int, mine: Recording, lending: Lending, sure: list[Rank], ranks: list[Rank]) -> int:
    """The expression of this number, or one inside it, or one that its names come from, that goes wrong first.

    With `sure` ranks only, but for what a branch sets a name to: there, a value that is right elsewhere may be wrong.
    """
    seen = {number}
    while True:
        last = set_to(number, mine) or mine.may_be_set_to(number)
        branches = {id(node) for node in last if len(last) > 1}
        inside = {id(node) for node in (*ast.walk(mine.places[number][3]), *last)}
        before = mine.comes_from(number) - seen
        near = [part for part in mine.notes if id(mine.places[part][3]) in inside and part not in seen]
        far = [part for part in mine.notes if part in before and part not in near]
        operands = {id(node) for node in ast.walk(mine.places[number][3])}
        within = (
            part
            for part in (*near, *far)
            for rank in (ranks if id(mine.places[part][3]) in branches else sure)
            if lending.mends(part, rank, inside=number if id(mine.places[part][3]) in operands else None)
            if lending.corrects(number, part)
        )
        if (part := next(within, None)) is None:
            return number
        seen.add(number := part)


def _is_all_that_is_returned(mine: Recording, number: int) -> bool:
    """Whether a `return` makes its result of this expression alone, as ``return torch.stack([a, b])`` of the list."""
    inside = {id(node) for node in ast.walk(mine.places[number][3])}
    for statement in (mine.places[one][0] for one in mine.returned):
        nodes = list(ast.walk(statement))
        if inside <= {id(node) for node in nodes}:
            others = [node for node in nodes if id(node) not in inside and isinstance(node, ast.Name)]
            return all(is_module(name) for name in others)
    return False
