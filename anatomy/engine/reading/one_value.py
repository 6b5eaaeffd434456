"""One value at a time: the expression that goes wrong, found by lending it a value of a right answer.

What a right answer's expressions give in a case is recorded, and so is what the student's give. Then an expression of
the student's is made to give what one of the right answer's gave. If the results are right in all cases, this
expression is what goes wrong, however much is wrong inside it: the rest works as it stands.

What stands beside the same values as in a right answer is tried first, then what no right answer computes, in the order
in which it is computed; then what stands inside it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.observing.plain_data import alike, fresh, plain, tensors
from anatomy.engine.reading.expressions import is_module
from anatomy.engine.reading.recording import (
    CALLED,
    OFTEN,
    Noted,
    Notes,
    Recording,
    is_data,
    of_program,
    of_right_answers,
    tells_that_it_is_called,
)
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.syntax import arguments, exchanged, read_names, rearranged
from anatomy.engine.reading.trials import Trials

_LONGEST_QUOTE = 60
"""Characters of an expression that is quoted; of a longer one its line is."""

_SOME = 3
"""Cases in which a value must be the result to count as such."""

_GIVEN, _NOTING = "_given", "_noting"


def the_value(program: Program, trials: Trials) -> Diagnosis | None:
    """Points at the expression that goes wrong."""
    if not trials.visible:
        return None
    some = list(trials.visible)[:_SOME]
    first, whole = some[0], trials.budget.left
    mine, my_ends = of_program(program), set[int]()
    for case in reversed(some):  # the first one last: its values are what is compared
        trials.watch(mine.build, case)
        ends = _holding_all_numbers(mine.returned, mine.notes)
        my_ends = ends if case == some[-1] else my_ends & ends
    rights, results = list[_Right](), {case: list[list[Noted]]() for case in some}
    for theirs in of_right_answers(trials.expectations.exercise):
        right = _Right(theirs, trials)
        for case in some:
            results[case] += right.results(case)
        rights.append(right)
        if trials.budget.left < whole / 2:
            break  # right answers that take long to run leave no time to lend what they give
    for right in rights:
        right.compare(mine, first, right.final(results))
    matched = set[int]().union(*(right.matched for right in rights))
    ranks = sorted({rank for right in rights for rank in right.ranks(mine, matched, my_ends)})
    lending = _Lending(program, trials, mine, rights, first)
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
                    unknown = _unknown_in(cause, mine, matched)
                    if unknown and _is_all_that_is_returned(mine, cause):
                        return None  # the right value there would mend anything
                    if lending.is_given(cause):
                        return _said_of_argument(program, mine, cause)
                    if (decision := lending.decision(cause)) is not None:
                        return _said_of_branch(program, mine, cause, decision)
                    if types := lending.number_types(cause):
                        return _said_of_number_type(program, mine, cause, *types)
                    varies = lending.varies(cause)
                    return _said(program, mine, cause, unknown, varies, _origins(mine, cause, trials))
    return None


def _first_cause(number: int, mine: Recording, lending: _Lending, sure: list[Rank], ranks: list[Rank]) -> int:
    """The expression of this number, or one inside it, or one that its names come from, that goes wrong first.

    With `sure` ranks only, but for what a branch sets a name to: there, a value that is right elsewhere may be wrong.
    """
    seen = {number}
    while True:
        set_to = _set_to(number, mine) or mine.may_be_set_to(number)
        branches = {id(node) for node in set_to if len(set_to) > 1}
        inside = {id(node) for node in (*ast.walk(mine.places[number][3]), *set_to)}
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


def _set_to(number: int, mine: Recording) -> list[ast.expr]:
    """What a name was set to last: of what stands in several branches, that which gave it the value that it has."""
    name = mine.notes[number]
    here = {id(mine.places[one][3]) for one, values in mine.notes.items() if _gives(values, name)}
    return [value for value in mine.may_be_set_to(number) if id(value) in here]


def _unknown_in(number: int, mine: Recording, known: set[int]) -> list[str]:
    """The names in an expression whose values no right answer computes: more may be wrong before it."""
    inside = {id(node) for node in ast.walk(mine.places[number][3]) if isinstance(node, ast.Name)}
    names = [part for part in mine.notes if id(mine.places[part][3]) in inside and part not in known | {number}]
    return list(dict.fromkeys(mine.places[part][3].id for part in names if _says_much(mine.notes[part])))


def _says_much(values: list[Noted]) -> bool:
    """Whether values are more than single numbers and words, which a right program may well compute, too."""
    return all(not isinstance(one.plain, int | float | str | None) for one in values)


def _is_all_that_is_returned(mine: Recording, number: int) -> bool:
    """Whether a `return` makes its result of this expression alone, as ``return torch.stack([a, b])`` of the list."""
    inside = {id(node) for node in ast.walk(mine.places[number][3])}
    for statement in (mine.places[one][0] for one in mine.returned):
        nodes = list(ast.walk(statement))
        if inside <= {id(node) for node in nodes}:
            others = [node for node in nodes if id(node) not in inside and isinstance(node, ast.Name)]
            return all(is_module(name) for name in others)
    return False


class Rank(NamedTuple):
    """How little speaks for lending a value: the least is tried first."""

    stands_elsewhere: bool
    has_another_form: bool
    mine_is_theirs: bool
    theirs_is_mine: bool


class _Right:
    """A right answer's values in each case, as they are asked for."""

    def __init__(self, recording: Recording, trials: Trials) -> None:
        self.recording, self._trials = recording, trials
        self._notes: dict[int, Notes] = {}
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

    def compare(self, mine: Recording, case: int, final: set[int]) -> None:
        """Compare all values in a case with the student's."""
        self._known = {
            number: values
            for number, values in self.notes(case).items()
            if number not in final and len(values) <= OFTEN and all(map(is_data, values))
        }
        of_form = _of_form(self._known)
        pairs = ((here, there) for here, values in mine.notes.items() for there in of_form.get(_forms(values), ()))
        self._same = {(here, there) for here, there in pairs if _alike(mine.notes[here], self._known[there])}
        self._ends = _holding_all_numbers(self.recording.returned, self.notes(case))

    def ranks(self, mine: Recording, matched: set[int], my_ends: set[int]) -> Iterable[Rank]:
        """How little speaks for each of its values in place of each of the student's.

        Those that some right answer computes, too, are `matched`; `my_ends` are all that is returned. What is set in
        `__init__` comes before all that follows from it.
        """
        known, same, of_form = self._known, self._same, _of_form(self._known)
        common = {there for _, there in same}
        for here, values in mine.notes.items():
            is_late, mine_form = here not in mine.building, _forms(values)
            for form, numbers in of_form.items():
                for there in (number for number in numbers if (here, number) not in same):
                    if mine.begins(here) != self.recording.begins(there):
                        continue  # what begins something and what is a whole can't stand for each other
                    if mine.begins(here) and form == mine_form and not _are_uniform(mine.notes[here] + known[there]):
                        continue  # of what is filled later, the entries that stay are no cause
                    elsewhere = not _stand_alike(mine, here, self.recording, there, same)
                    known_here, known_there = is_late and here in matched, is_late and there in common
                    if elsewhere and mine.only_stands_in_for(here, known_here):
                        continue
                    is_sure = not elsewhere and not known_here
                    if not is_sure and not mine.is_name(here) and _has_other_axes(form, mine_form):
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
                any(_gives(self.notes(case).get(number, []), result) for result in some)
                for case, some in results.items()
            )
        }

    def candidates(self, here: int, rank: Rank) -> list[int]:
        return self._ranked.get((here, rank), [])


class _Lending:
    """Tells whether the results are right if an expression gives what one of a right answer's gives."""

    def __init__(self, program: Program, trials: Trials, mine: Recording, rights: list[_Right], first: int) -> None:
        self.program, self.trials, self.mine, self.rights, self.first = program, trials, mine, rights, first
        self._lent: dict[int, list[Noted]] = {}
        self._calls = 0
        self._given_up: set[int] = set()
        self._lender: dict[int, tuple[_Right, int]] = {}
        self._passed_in = {name for function in program.functions for name in arguments(function)}

    def mends(self, number: int, rank: Rank, inside: int | None = None) -> bool:
        """Whether several cases are right then.

        What stands inside an expression that was mended may be no cause: ``x.norm()`` leaves a single number as it is.
        """
        candidates = [(right, there) for right in self.rights for there in right.candidates(number, rank)]
        if inside is not None:
            candidates = [one for one in candidates if self._differs_from_whole(number, one, inside)]
        is_over = self.trials.budget.is_spent or number in self._given_up
        return not is_over and self._try(number, candidates)

    def _differs_from_whole(self, part: int, lender: tuple[_Right, int], whole: int) -> bool:
        """Whether a part may be what is wrong: it gets another value than the whole does, and no number for many."""
        case, part_is = self.first, self.mine.notes[part][0].plain
        lent, lent_to_whole = (right.given(there, case) for right, there in (lender, self._lender[whole]))
        if alike(*([one.plain for one in _singles(values)] for values in (lent, lent_to_whole))):
            return False
        return not (isinstance(part_is, Tensor) and part_is.numel() > 1 and _is_number(_singles(lent)))

    def corrects(self, whole: int, part: int) -> bool:
        """Whether `whole` gives what a right answer computes when `part` gives what mends.

        What does not, makes up for a mistake somewhere else.
        """
        case, noted = self.first, list[Any]()

        def note(value: Any) -> Any:
            noted.append(value)
            return value

        right, there = self._lender[part]
        node = self.mine.places[whole][3]
        for _ in self._put(part, ast.Call(ast.Name(_GIVEN, ast.Load()), [], [])):
            noting = ast.Call(ast.Name(_NOTING, ast.Load()), [node], [])
            for _ in exchanged(self.mine.places[whole], noting) if whole != part else ():
                build = self.program.builder({_GIVEN: self._give, CALLED: self._count, _NOTING: note})
                self._lend(right, there, case)
                self.trials.watch(build, case)
        return any(right.computes(noted, case) for right in self.rights)

    def mends_all(self, number: int) -> bool:
        """Whether all are, with the value that mends several."""
        return self._try(number, [self._lender[number]], in_all=True)

    def _try(self, number: int, candidates: list[tuple[_Right, int]], in_all: bool = False) -> bool:
        given = ast.Call(ast.Name(_GIVEN, ast.Load()), [], [])
        for _ in self._put(number, given) if candidates else ():
            build = self.program.builder({_GIVEN: self._give, CALLED: self._count})
            for right, there in candidates:
                mends = self.trials.values_are_right(build, partial(self._lend, right, there), in_all)
                if mends and self._can_stand(number, right, there):
                    self._lender[number] = right, there
                    return True
                if mends is None:
                    self._given_up.add(number)
                    return False
        return False

    def _can_stand(self, number: int, right: _Right, there: int) -> bool:
        """Whether a number could be another one: where each case needs its own, it must be what is passed in.

        A number that is passed in itself can't be wrong: another one must belong there, as in a right answer, or one
        that is the same in each case, and not 0 or 1, which only take the argument out. No size is always 0 or 1.
        """
        mine, theirs = self.mine.places[number][3], right.recording.places[there][3]
        given = [value for case in self.trials.visible for value in right.given(there, case)]
        is_fixed = all(_alike([value], given[:1]) for value in given)
        named = mine.value if isinstance(mine, ast.Attribute) else mine
        if isinstance(named, ast.Name) and named.id in self._passed_in and _is_number(self.mine.notes[number]):
            is_neutral = given[0].plain in (0, 1)
            return _stands_as(self.mine, number, right.recording, there) or (is_fixed and not is_neutral)
        if (
            _is_number(self.mine.notes[number])
            and is_fixed
            and type(given[0].plain) is int
            and given[0].plain in (0, 1)
        ):
            return isinstance(mine, ast.Constant) or _stands_as(self.mine, number, right.recording, there)
        return not isinstance(mine, ast.Constant) or isinstance(theirs, ast.Name | ast.Attribute) or is_fixed

    def varies(self, number: int) -> bool:
        """Whether the value that mends is another one from time to time in one run, though the program's own is not."""
        right, there = self._lender[number]
        lent = right.given(there, self.first)
        return _is_one(self.mine.notes[number]) and not _is_one(lent)

    def number_types(self, number: int) -> tuple[str, str] | None:
        """The types of its numbers and of those that mend, if only these differ."""
        right, there = self._lender[number]
        pairs = list(zip(self.mine.notes[number], right.given(there, self.first), strict=False))
        types = set[tuple[str, str]]()
        for mine, lent in ((one.plain, other.plain) for one, other in pairs):
            if not (isinstance(mine, Tensor) and isinstance(lent, Tensor) and mine.shape == lent.shape):
                return None
            if mine.dtype == lent.dtype or not bool((mine == lent).all()):
                return None
            types.add((str(mine.dtype).removeprefix("torch."), str(lent.dtype).removeprefix("torch.")))
        return types.pop() if len(types) == 1 else None

    def is_given(self, number: int) -> bool:
        """Whether it is an argument of the answer as it was passed in, and what mends is no other value there is.

        Then the argument is right, and what is done with it is not.
        """
        name, answer = self.mine.places[number][3], self.program.answer
        if not isinstance(name, ast.Name) or not answer or name.id not in arguments(answer):
            return False
        if self.program.name in read_names(answer):
            return False  # it calls itself, and with what is another matter
        if self.mine.is_set_or_changed(number):
            return False
        right, there = self._lender[number]
        lent = right.given(there, self.first)
        return not any(_gives(values, lent) for values in self.mine.notes.values())

    def decision(self, number: int) -> bool | None:
        """Whether a test must always be true, or never, for the results to be right; None if it depends."""
        if self.mine.places[number][1] != "test":
            return None
        right, there = self._lender[number]
        cases = range(len(self.trials.expectations.cases))
        lent = {bool(one.value) for case in cases for one in right.given(there, case)}
        return lent.pop() if len(lent) == 1 else None

    def _put(self, number: int, given: ast.expr) -> Iterator[int]:
        """While `given` stands in the place, and the answer tells when it is called."""
        body = self.program.answer.body if self.program.answer else []
        for line in exchanged(self.mine.places[number], given):
            yield from rearranged([body], [[tells_that_it_is_called(), *body]], line) if body else [line]

    def _lend(self, right: _Right, there: int, case: int) -> None:
        self._lent, self._calls = {}, 0
        for noted in right.given(there, case):
            self._lent.setdefault(noted.call, []).append(noted)

    def _count(self) -> None:
        self._calls += 1

    def _give(self) -> Any:
        """The next value that the right answer's expression gave in this call of the answer, or the last one again."""
        lent = self._lent[self._calls]
        return fresh((lent.pop(0) if len(lent) > 1 else lent[0]).value)


def _is_number(values: list[Noted]) -> bool:
    return all(isinstance(one.plain, int | float) for one in values)


def _stands_as(mine: Recording, here: int, theirs: Recording, there: int) -> bool:
    """Whether two values are the same operand of the same operation."""
    operations = {one.operation for one in theirs.stands_in(there)}
    return any(one.operation in operations for one in mine.stands_in(here))


def _stand_alike(mine: Recording, here: int, theirs: Recording, there: int, same: Collection[tuple[int, int]]) -> bool:
    """Whether two values are the same operand of one operation, and its other operands have the same values."""
    return any(
        one.operation == other.operation
        and one.others.keys() == other.others.keys()
        and all((one.others[where], other.others[where]) in same for where in one.others)
        for one in mine.stands_in(here)
        for other in theirs.stands_in(there)
    )


def _gives(here: list[Noted], there: list[Noted]) -> bool:
    return _forms(here) == _forms(there) and _alike(here, there)


def _alike(here: list[Noted], there: list[Noted]) -> bool:
    """Whether values of the same forms are the same."""
    return all(alike(one.plain, other.plain) for one, other in zip(here, there, strict=True))


def _are_uniform(values: list[Noted]) -> bool:
    """Whether each of these tensors and lists holds one number everywhere, as ``torch.zeros`` makes it."""
    return all(len(set(one.plain.flatten().tolist() if isinstance(one.plain, Tensor) else map(repr, one.plain))) <= 1
               for one in values if isinstance(one.plain, Tensor | list))  # fmt: skip


def _singles(values: list[Noted]) -> list[Noted]:
    return [one._replace(plain=_in_full(one.plain)) for one in values]


def _in_full(value: Any) -> Any:
    """A value with its numbers alone: those of one in a tensor, too."""
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def _forms(values: list[Noted]) -> tuple[Any, ...]:
    return tuple(one.form for one in values)


def _holding_all_numbers(returned: list[int], notes: Notes) -> set[int]:
    """The expressions that give, in one piece or in several, the very numbers that are returned, in any order."""
    results = [numbers for one in returned if one in notes and (numbers := _numbers(notes[one])) is not None]
    found = {one: _numbers(values) for one, values in notes.items()}
    return {
        one
        for one, numbers in found.items()
        if numbers is not None and any(alike(numbers, result) for result in results)
    }


def _numbers(values: list[Noted]) -> Tensor | None:
    """All numbers of some tensors, or lists of them, in order; None of other things."""
    parts = [part for one in values if isinstance(one.plain, Tensor | list) for part in tensors(one.plain)]
    if not parts or not all(part.is_floating_point() for part in parts):
        return None
    return torch.cat([part.flatten().double() for part in parts]).sort().values


def _has_other_axes(form: tuple[Any, ...], mine: tuple[Any, ...]) -> bool:
    """Whether tensors have more axes than those of the student's, or the same sizes in another order.

    Fewer may well be what is needed, where a sum is missing.
    """
    pairs = zip(form, mine, strict=False)
    shapes = [(one, other) for one, other in pairs if isinstance(one, tuple) and isinstance(other, tuple)]
    return any(len(one) > len(other) or (one != other and sorted(one) == sorted(other)) for one, other in shapes)


def _of_form(notes: Notes) -> dict[tuple[Any, ...], list[int]]:
    """The expressions whose values have these forms."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for number, values in notes.items():
        found.setdefault(_forms(values), []).append(number)
    return found


def _is_one(values: list[Noted]) -> bool:
    return all(alike(one.plain, values[0].plain) for one in values)


_SOME_ORIGINS = 4
"""Cases in which it is looked at where a value comes from."""


def _origins(mine: Recording, number: int, trials: Trials) -> list[int]:
    """The lines in which a name was set and changed last, in some cases that differ."""
    if mine.is_changed_there(number):
        return []
    line, found = mine.places[number][3].lineno, dict[int, None]()
    for case in list(trials.visible)[:_SOME_ORIGINS]:
        trials.watch(mine.build, case)
        if number in mine.notes:
            values = (mine.is_changed(number) and mine.may_be_set_to(number)) or _set_to(number, mine)
            found |= dict.fromkeys(value.lineno for value in values if not _is_empty(value))
    found |= dict.fromkeys(one for one in (mine.was_changed_in(number), mine.is_filled_in(number)) if one)
    return sorted(one for one in found if one != line)


def _is_empty(value: ast.expr) -> bool:
    """Whether it is ``[]`` or ``{}``, with which a list or a dict begins."""
    return not getattr(value, "elts", getattr(value, "keys", True))


def _said_of_argument(program: Program, mine: Recording, number: int) -> Diagnosis:
    name, line = ast.unparse(mine.places[number][3]), mine.places[number][3].lineno
    return Diagnosis(
        f"Line {line} does something else with `{name}` than what is needed: with another value in its place there, "
        "all results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def _said_of_number_type(program: Program, mine: Recording, number: int, is_of: str, needed: str) -> Diagnosis:
    text, line = ast.unparse(mine.places[number][3]), mine.places[number][3].lineno
    what = f"`{text}` in line {line}" if len(text) <= _LONGEST_QUOTE else f"what is computed in line {line}"
    return Diagnosis(
        f"The numbers of {what} are right; their type, {is_of}, is not what is needed there: with {needed}, all "
        "results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def _said_of_branch(program: Program, mine: Recording, number: int, decision: bool) -> Diagnosis:
    """Of a test that could as well always be true, or never: what it guards is wrong, not the test."""
    test, line = ast.unparse(mine.places[number][3]), mine.places[number][3].lineno
    wrong, right = ("false", "true") if decision else ("true", "false")
    return Diagnosis(
        f"Where `{test}` in line {line} is {wrong}, something else is done than what is needed: as if it were {right}, "
        "all results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def _said(
    program: Program, mine: Recording, number: int, unknown: list[str], varies: bool, origins: list[int]
) -> Diagnosis:
    node, line = mine.places[number][3], mine.places[number][3].lineno
    text = ast.unparse(node)
    is_test, is_short = mine.places[number][1] == "test", len(text) <= _LONGEST_QUOTE
    what = f"`{text}` in line {line}" if is_short else f"What is computed in line {line}"
    if is_short and not is_test:
        what = f"The value of {what}"
    if unknown:
        of = "of " * (is_short and not is_test)
        what += f", or {of}what goes into it ({' and '.join(f'`{name}`' for name in unknown[:3])}),"
    detail = f"Line {line}: `{program.line(line)}`"
    if origins:
        lines, quotes = (
            " and ".join(some) for some in (map(str, origins), (f"`{program.line(one)}`" for one in origins))
        )
        detail += f" It comes from line{'s' * (len(origins) > 1)} {lines}: {quotes}"
    if is_test:  # what it asks may well have to be asked, too
        why = "does not decide what is needed there: with the right decision"
    else:
        why = "is not what is needed there: with the right value"
    return Diagnosis(f"{what} {why} in its place{' each time' * varies}, all results are right.", detail)
