"""One value at a time: the expression that goes wrong, found by lending it a value of a right answer.

What a right answer's expressions give in a case is recorded, and so is what the student's give. Then an expression of
the student's is made to give what one of the right answer's gave. If the results are right in all cases, this
expression is what goes wrong, however much is wrong inside it: the rest works as it stands.

What no right answer computes is tried first, in the order in which it is computed; then what stands inside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from torch import Tensor

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.observing.plain_data import alike, fresh, plain
from anatomy.engine.reading.recording import OFTEN, Notes, Other, Recording, of_program, of_right_answers
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.syntax import Place, exchanged
from anatomy.engine.reading.trials import Trials

_LONGEST_QUOTE = 60
"""Characters of an expression that is quoted; of a longer one its line is."""

_GIVEN = "_given"


def the_value(program: Program, trials: Trials) -> Diagnosis | None:
    """Points at the expression that goes wrong."""
    first = next(iter(trials.visible), None)
    if first is None:
        return None
    mine = of_program(program)
    trials.watch(mine.build, first)
    rights = [_Right(theirs, trials, first) for theirs in of_right_answers(trials.expectations.exercise)]
    ranks = sorted({rank for right in rights for rank in right.ranks(mine)})
    lending = _Lending(program, trials, mine, rights)
    for rank in ranks:
        for number in mine.notes:
            if lending.mends(number, rank):
                return _said(program, mine.places[_first_cause(number, mine, lending, ranks)])
    return None


def _first_cause(number: int, mine: Recording, lending: _Lending, ranks: list[Rank]) -> int:
    """The expression of this number, or one inside it, or where its name is set, that goes wrong first."""
    seen = {number}
    while True:
        inside = {id(node) for node in ast.walk(mine.places[number][3])} | {id(mine.is_set_to(number))}
        parts = [part for part in mine.notes if part not in seen and id(mine.places[part][3]) in inside]
        within = (part for part in parts for rank in ranks if not rank[0] and lending.mends(part, rank))
        if (part := next(within, None)) is None:
            return number
        seen.add(number := part)


Rank = tuple[bool, bool, bool]
"""Whether a value has another form than the student's, and whether each of the two occurs in the other program."""


class _Right:
    """A right answer's values in each case, as they are asked for."""

    def __init__(self, recording: Recording, trials: Trials, first: int) -> None:
        self.recording, self._trials, self._notes = recording, trials, dict[int, Notes]()
        known = self.notes(first)
        final = [known[number] for number in recording.returned if number in known]
        self.known = {
            number: values
            for number, values in known.items()
            if len(values) <= OFTEN and not any(isinstance(value, Other) for value in values)
            and not any(_alike(values, result) for result in final)
        }  # fmt: skip
        self._ranked: dict[tuple[int, Rank], list[int]] = {}

    def notes(self, case: int) -> Notes:
        if case not in self._notes:
            self._trials.watch(self.recording.build, case)
            self._notes[case] = self.recording.notes
        return self._notes[case]

    def ranks(self, mine: Recording) -> Iterable[Rank]:
        """Compare all values with the student's. What is set in `__init__` comes before all that follows from it."""
        notes, known = mine.notes, self.known
        same = {(here, there) for here in notes for there in known if _alike(notes[here], known[there])}
        matched, common = {here for here, _ in same}, {there for _, there in same}
        for here, values in notes.items():
            for there, others in known.items():
                if (here, there) not in same:
                    is_late = here not in mine.building
                    rank = _forms(values) != _forms(others), is_late and here in matched, is_late and there in common
                    self._ranked.setdefault((here, rank), []).append(there)
        return {rank for _, rank in self._ranked}

    def candidates(self, here: int, rank: Rank) -> list[int]:
        return self._ranked.get((here, rank), [])


class _Lending:
    """Tells whether the results are right if an expression gives what one of a right answer's gives."""

    def __init__(self, program: Program, trials: Trials, mine: Recording, rights: list[_Right]) -> None:
        self.program, self.trials, self.mine, self.rights = program, trials, mine, rights
        self._lent: Iterator[Any] = iter(())
        self._given_up: set[int] = set()

    def mends(self, number: int, rank: Rank) -> bool:
        candidates = [(right, there) for right in self.rights for there in right.candidates(number, rank)]
        if not candidates or number in self._given_up:
            return False
        for _ in exchanged(self.mine.places[number], ast.Call(ast.Name(_GIVEN, ast.Load()), [], [])):
            build = self.program.builder({_GIVEN: lambda: fresh(next(self._lent))})
            for right, there in candidates:
                if self.trials.budget.is_spent:
                    return False
                mends = self.trials.values_are_right(build, partial(self._lend, right, there))
                if mends:
                    return True
                if mends is None:
                    self._given_up.add(number)
                    return False
        return False

    def _lend(self, right: _Right, there: int, case: int) -> None:
        self._lent = iter(right.notes(case).get(there, ()))


def _alike(here: list[Any], there: list[Any]) -> bool:
    return len(here) == len(there) and alike(plain(here), plain(there))


def _forms(values: list[Any]) -> list[Any]:
    return [tuple(value.shape) if isinstance(value, Tensor) else type(value) for value in values]


def _said(program: Program, place: Place) -> Diagnosis:
    node, line = place[3], place[3].lineno
    text = ast.unparse(node)
    what = f"`{text}` in line {line}" if len(text) <= _LONGEST_QUOTE else f"What is computed in line {line}"
    return Diagnosis(
        f"{what} is not what is needed there: with the right value in its place, all results are right.",
        f"Line {line}: `{program.line(line)}`",
    )
