"""The values of a right answer's expressions, and how well each may stand in the place of one of the student's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from anatomy.engine.observing.plain_data import alike, plain
from anatomy.engine.reading.noted import (
    all_alike,
    are_of_numbers,
    are_uniform,
    forms,
    gives,
    has_other_axes,
    holding_all_numbers,
    of_form,
)
from anatomy.engine.reading.recording import OFTEN, Noted, Notes, Recording, is_data
from anatomy.engine.reading.trials import Trials


class Rank(NamedTuple):
    """How little speaks for lending a value: the least is tried first."""

    stands_elsewhere: bool
    has_another_form: bool
    mine_is_theirs: bool
    theirs_is_mine: bool


class Right:
    """A right answer's values in each case, as they are asked for."""

    def __init__(self, recording: Recording, trials: Trials) -> None:
        self.recording, self._trials = recording, trials
        known = trials.expectations.noted
        self._notes: dict[int, Notes] = {case: notes for (right, case), notes in known.items() if right is recording}
        self._given: dict[tuple[int, int], list[Noted]] = {}
        self._ranked: dict[tuple[int, Rank], list[int]] = {}
        self._known: Notes = {}
        self._same: set[tuple[int, int]] = set()
        """The expressions of the student's and of this answer's that have the same values."""
        self._ends: set[int] = set()
        """The expressions that give all that is returned, in one piece or in several."""

    def notes(self, case: int) -> Notes:
        if case not in self._notes:
            self._trials.watch(self.recording.build, case)
            self._notes[case] = self.recording.notes
        return self._notes[case]

    def given(self, number: int, case: int) -> list[Noted]:
        """What one of its expressions gives in a case."""
        if case in self._notes:
            return self._notes[case].get(number, [])
        if (number, case) not in self._given:
            self._trials.watch(partial(self.recording.build, number), case)
            self._given[number, case] = self.recording.notes.get(number, [])
        return self._given[number, case]

    def results(self, case: int) -> list[list[Noted]]:
        """What it returns."""
        notes = self.notes(case)
        return [notes[number] for number in self.recording.returned if number in notes]

    @property
    def matched(self) -> set[int]:
        """The expressions of the student's that have the value of one of this answer's."""
        return {here for here, _ in self._same}

    def is_mine(self, there: int) -> bool:
        """Whether one of its values is a tensor that an expression of the student's gives, too."""
        here = self._known.get(there, [])
        return any(number == there for _, number in self._same) and not are_of_numbers(forms(here))

    def compare(self, mine: Mapping[int, Notes], case: int, final: set[int]) -> None:
        """Compare all values in a case with the student's. What is the same by chance is another in the other cases."""
        self._known = {
            number: values
            for number, values in self.notes(case).items()
            if number not in final and len(values) <= OFTEN and all(map(is_data, values))
        }
        theirs = of_form(self._known)
        pairs = ((here, there) for here, values in mine[case].items() for there in theirs.get(forms(values), ()))
        alike_here = ((here, there) for here, there in pairs if all_alike(mine[case][here], self._known[there]))
        self._same = {pair for pair in alike_here if self._is_same_elsewhere(mine, *pair)}
        self._ends = holding_all_numbers(self.recording.returned, self.notes(case))

    def _is_same_elsewhere(self, mine: Mapping[int, Notes], here: int, there: int) -> bool:
        """Whether two expressions give the same wherever both are computed."""
        pairs = ((notes.get(here), self.notes(case).get(there)) for case, notes in mine.items())
        return all(gives(one, other) for one, other in pairs if one and other)

    def ranks(self, mine: Recording, matched: set[int], my_ends: set[int]) -> Iterable[Rank]:
        """How little speaks for each of its values in place of each of the student's.

        Those that some right answer computes, too, are `matched`; `my_ends` are all that is returned. What is set in
        `__init__` comes before all that follows from it.
        """
        known, same, theirs = self._known, self._same, of_form(self._known)
        common = {there for _, there in same}
        for here, values in mine.notes.items():
            is_late, mine_form = here not in mine.building, forms(values)
            for form, numbers in theirs.items():
                if mine.is_written_out(here) and not are_of_numbers(form):
                    continue  # no tensor belongs where a number is written
                for there in (number for number in numbers if (here, number) not in same):
                    if mine.begins(here) != self.recording.begins(there):
                        continue  # what begins something and what is a whole can't stand for each other
                    if mine.begins(here) and form == mine_form and not are_uniform(mine.notes[here] + known[there]):
                        continue  # of what is filled later, the entries that stay are no cause
                    elsewhere = not stand_alike(mine, here, self.recording, there, same)
                    known_here, known_there = is_late and here in matched, is_late and there in common
                    if elsewhere and mine.only_stands_in_for(here, known_here):
                        continue
                    if mine.is_asked_for_its_size(here) and not are_of_numbers(form):
                        continue
                    is_sure = not elsewhere and not known_here
                    if not is_sure and not mine.is_name(here) and has_other_axes(form, mine_form):
                        continue  # of an argument that may be what is needed, as an index of rows
                    if there in self._ends and here not in my_ends:
                        continue  # it would make up for all that is done with it afterwards
                    rank = Rank(elsewhere, form != mine_form, known_here, known_there)
                    self._ranked.setdefault((here, rank), []).append(there)
        return {rank for _, rank in self._ranked}

    def computes(self, values: list[Any], case: int) -> bool:
        """Whether one of its expressions gives these values in a case, time by time."""
        found = [plain(value) for value in values]
        return any(
            len(noted) == len(found) and all(alike(one.plain, value) for one, value in zip(noted, found, strict=True))
            for noted in self.notes(case).values()
        )

    def final(self, results: Mapping[int, list[list[Noted]]]) -> set[int]:
        """The expressions that give what is returned, in all of these cases: to lend these would mend anything."""
        return {
            number
            for number in self.notes(next(iter(results)))
            if all(
                any(gives(self.notes(case).get(number, []), result) for result in some)
                for case, some in results.items()
            )
        }

    def candidates(self, here: int, rank: Rank) -> list[int]:
        return self._ranked.get((here, rank), [])


def stand_alike(mine: Recording, here: int, theirs: Recording, there: int, same: Collection[tuple[int, int]]) -> bool:
    """Whether two values are the same operand of one operation, and its other operands have the same values."""
    return any(
        one.operation == other.operation
        and one.others.keys() == other.others.keys()
        and all((one.others[where], other.others[where]) in same for where in one.others)
        for one in mine.stands_in(here)
        for other in theirs.stands_in(there)
    )
