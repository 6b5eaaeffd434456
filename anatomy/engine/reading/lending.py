"""Lend an expression of the student's what one of a right answer's gives, and see what comes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.plain_data import alike, fresh
from anatomy.engine.reading.as_text import two_texts
from anatomy.engine.reading.expressions import is_module
from anatomy.engine.reading.left import ListedMistakes
from anatomy.engine.reading.noted import all_alike, distinct, fingerprint, forms, gives, is_number, is_one, singles
from anatomy.engine.reading.pointing import LONGEST_QUOTE
from anatomy.engine.reading.recording import CALLED, Noted, Recording, tells_that_it_is_called
from anatomy.engine.reading.resemblance import only_leaves_out
from anatomy.engine.reading.right_values import Rank, Right
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.syntax import arguments, exchanged, read_names, rearranged
from anatomy.engine.reading.trials import Trials

_GIVEN, _NOTING = "_given", "_noting"

_OTHERS = (1, -1, 97)
"""What is added to a number that is lent, to see whether another one would do."""


class Lending:
    """Tells whether the results are right if an expression gives what one of a right answer's gives."""

    def __init__(
        self,
        program: Program,
        trials: Trials,
        mine: Recording,
        rights: list[Right],
        first: int,
        ends: set[int],
        my_forms: dict[int, dict[int, tuple[Any, ...]]],
    ) -> None:
        self.program, self.trials, self.mine, self.rights, self.first = program, trials, mine, rights, first
        self._ends, self._forms = ends, my_forms
        self._lent: dict[int, list[Noted]] = {}
        self._calls = 0
        self._given_up: set[int] = set()
        self._lender: dict[int, tuple[Right, int]] = {}
        self._left: dict[int, list[tuple[Mistake, Right, int]]] = {}
        self._rest: dict[int, str] = {}
        self._decisions: dict[int, list[int]] = {}
        self._listed = ListedMistakes(trials)
        self._passed_in = {name for function in program.functions for name in arguments(function)}

    def mends(self, number: int, rank: Rank, inside: int | None = None) -> bool:
        """Whether several cases are right then.

        What stands inside an expression that was mended may be no cause: ``x.norm()`` leaves a single number as it is.
        """
        if self.trials.budget.is_spent or number in self._given_up:
            return False
        candidates = self._candidates(number, rank)
        if inside is not None:
            candidates = [one for one in candidates if self._differs_from_whole(number, one, inside)]
        return self._try(number, candidates)

    def _candidates(self, number: int, rank: Rank) -> list[tuple[Right, int]]:
        """What may be lent, each value once: right answers compute much that is the same.

        None has the very numbers of the expression: another order in memory alone is no other value.
        """
        of_many, found = _holds_many(self.mine.notes[number]), dict[Any, tuple[Right, int]]()
        own = distinct(self.mine.notes[number])
        for right in self.rights:
            for there in right.candidates(number, rank):
                given = {case: right.given(there, case) for case in self._forms}
                by_chance = of_many and is_number(singles(given[self.first]))
                if by_chance and not stands_as(self.mine, number, right.recording, there):
                    continue
                if distinct(given[self.first]) != own:
                    found.setdefault(fingerprint(given), (right, there))
        return list(found.values())

    def _differs_from_whole(self, part: int, lender: tuple[Right, int], whole: int) -> bool:
        """Whether a part may be what is wrong: it gets another value than the whole does, and no number for many."""
        case, part_is = self.first, self.mine.notes[part][0].plain
        lent, lent_to_whole = (right.given(there, case) for right, there in (lender, self._lender[whole]))
        if alike(*([one.plain for one in singles(values)] for values in (lent, lent_to_whole))):
            return False
        return not (isinstance(part_is, Tensor) and part_is.numel() > 1 and is_number(singles(lent)))

    def corrects(self, whole: int, part: int) -> bool:
        """Whether `whole` gives what a right answer computes when `part` gives what mends.

        What does not, makes up for a mistake somewhere else.
        """
        right, there = self._lender[part]
        noted = self._gives_then(whole, part, right, there) if whole != part else []
        return any(right.computes(noted, self.first) for right in self.rights)

    def _turns_aside(self, number: int, right: Right, there: int) -> bool:
        """Whether an `if` elsewhere decides something else then: what is lent may only avoid a branch that is wrong."""
        return any(
            [bool(value) for value in self._gives_then(test, number, right, there)]
            != [bool(noted.value) for noted in self.mine.notes[test]]
            for test in self._decisions[number]
        )

    def _gives_then(self, whole: int, part: int, right: Right, there: int) -> list[Any]:
        """What an expression gives, time by time, when another one gives what a right answer's does."""
        noted = list[Any]()

        def note(value: Any) -> Any:
            noted.append(value)
            return value

        noting = ast.Call(ast.Name(_NOTING, ast.Load()), [self.mine.places[whole][3]], [])
        given = ast.Call(ast.Name(_GIVEN, ast.Load()), [], [])
        for _ in self._put(part, given):
            for _ in exchanged(self.mine.places[whole], noting):
                build = self.program.builder({_GIVEN: self._give, CALLED: self._count, _NOTING: note})
                self._lend(right, there, self.first)
                self.trials.watch(build, self.first)
        return noted

    def mends_all(self, number: int) -> bool:
        """Whether all are, with the value that mends several."""
        return self._try(number, [self._lender[number]], in_all=True)

    def _try(self, number: int, candidates: list[tuple[Right, int]], in_all: bool = False) -> bool:
        given = ast.Call(ast.Name(_GIVEN, ast.Load()), [], [])
        if candidates and number not in self._rest:  # as long as the expression is in its place
            self._rest[number] = self._text_besides(number)
            self._decisions[number] = [test for test in self.mine.decisions_on(number) if test in self.mine.notes]
        for _ in self._put(number, given) if candidates else ():
            build = self.program.builder({_GIVEN: self._give, CALLED: self._count})
            for right, there in candidates:
                lend, self.trials.last = partial(self._lend, right, there), None
                mends = self.trials.values_are_right(build, lend, in_all)
                if mends and self._can_stand(number, right, there) and not self._turns_aside(number, right, there):
                    self._lender[number] = right, there
                    return True
                if mends is None:
                    self._given_up.add(number)
                    return False
                if (
                    not mends
                    and (mistake := self._listed.left(build, lend, self._rest[number]))
                    and self._could_be(number, right, there, mistake)
                ):
                    self._left.setdefault(number, []).append((mistake, right, there))
        return False

    def _text_besides(self, number: int) -> str:
        """The program's text without an expression, and without the lines from which its value comes."""
        node, lines = self.mine.places[number][3], list(self.program.lines)
        if node.lineno == node.end_lineno:
            own = lines[node.lineno - 1].encode()
            lines[node.lineno - 1] = (own[: node.col_offset] + b"_" + own[node.end_col_offset :]).decode(
                errors="ignore"
            )
        inside = {id(one) for one in ast.walk(node)}
        for part in (self.mine.places[one][3] for one in self.mine.comes_from(number)):
            if id(part) not in inside and hasattr(part, "lineno"):
                lines[part.lineno - 1 : part.end_lineno] = [""] * (part.end_lineno - part.lineno + 1)
        return "\n".join(lines)

    def _could_be(self, number: int, right: Right, there: int, mistake: Mistake) -> bool:
        """Whether a value has the form of the expression's own, and is not the result: what is lent there would be.

        What the student's program gives, too, takes steps back: a mistake that only leaves out steps proves nothing.
        """
        if number in self._ends or isinstance(self.mine.places[number][0], ast.Return):
            return False
        if right.is_mine(there) and only_leaves_out(mistake):
            return False
        return all(forms(right.given(there, case)) == mine.get(number) for case, mine in self._forms.items())

    def left(self, ranks: list[Rank]) -> tuple[int, Mistake] | None:
        """An expression, and the listed mistake that is left when it gives what a right answer's gives.

        It is always the same mistake, and no value of a right answer there mends all: then the expression itself is
        wrong, and what is left does not come from what is lent.
        """
        for number, found in list(self._left.items()):
            if len({mistake for mistake, _, _ in found}) == 1 and not any(self.mends(number, rank) for rank in ranks):
                mistake, right, there = found[0]
                self._lender[number] = right, there
                return number, mistake
        return None

    def always_needed(self, number: int) -> int | float | None:
        """The number that is needed in each case, if it is always the same one."""
        right, there = self._lender[number]
        given = [value for case in self.trials.visible for value in right.given(there, case)]
        is_fixed = is_number(given) and all(all_alike([value], given[:1]) for value in given)
        return given[0].plain if is_fixed and isinstance(given[0].plain, int | float) else None

    def _can_stand(self, number: int, right: Right, there: int) -> bool:
        """Whether a number could be another one: where each case needs its own, it must be what is passed in.

        A number that is passed in itself can't be wrong: another one must belong there, as in a right answer, or one
        that is the same in each case, and not 0 or 1, which only take the argument out. No size is always 0 or 1.
        """
        mine, theirs = self.mine.places[number][3], right.recording.places[there][3]
        given = [value for case in self.trials.visible for value in right.given(there, case)]
        is_fixed = all(all_alike([value], given[:1]) for value in given)
        if _reads_nothing(mine) and not isinstance(mine, ast.Constant) and not is_fixed:
            return False
        named = mine.value if isinstance(mine, ast.Attribute) else mine
        if isinstance(named, ast.Name) and named.id in self._passed_in and is_number(self.mine.notes[number]):
            is_neutral = is_number(given[:1]) and given[0].plain in (0, 1)
            return stands_as(self.mine, number, right.recording, there) or (is_fixed and not is_neutral)
        if is_number(self.mine.notes[number]) and is_fixed and type(given[0].plain) is int and given[0].plain in (0, 1):
            return isinstance(mine, ast.Constant) or stands_as(self.mine, number, right.recording, there)
        return not isinstance(mine, ast.Constant) or isinstance(theirs, ast.Name | ast.Attribute) or is_fixed

    def varies(self, number: int) -> bool:
        """Whether the value that mends is another one from time to time in one run, though the program's own is not."""
        right, there = self._lender[number]
        lent = right.given(there, self.first)
        return is_one(self.mine.notes[number]) and not is_one(lent)

    def there_and_needed(self, number: int, case: Case) -> str:
        """What the expression gives in a case of one's own, and what is needed there; empty where that says little."""
        right, there = self._lender[number]
        self.trials.does(self.mine.build(number), case)
        self.trials.does(right.recording.build(there), case)
        here, needed = (notes.get(at, []) for notes, at in ((self.mine.notes, number), (right.recording.notes, there)))
        differing = [pair for pair in zip(here, needed, strict=False) if not alike(*(one.plain for one in pair))]
        if len(here) != len(needed) or not differing:
            return ""
        node = self.mine.places[number][3]
        text, texts = ast.unparse(node), two_texts(*(one.plain for one in differing[0]))
        is_test = self.mine.places[number][1] == "test"  # of which only true or false counts
        if texts is None or (is_test and not isinstance(differing[0][1].plain, bool)):
            return ""
        if texts[0] == text:
            return f"There, {texts[1]} is needed."
        what = f"`{text}`" if len(text) <= LONGEST_QUOTE else f"what is computed in line {node.lineno}"
        return f"There, {what} is {'once ' * (len(here) > 1)}{texts[0]}; needed is {texts[1]}."

    def others_do(self, number: int) -> bool:
        """Whether other numbers in the place mend as well: then none of them is needed."""
        right, there = self._lender[number]
        if not all(type(one.plain) in (int, float) for one in right.given(there, self.first)):
            return False

        def lend(case: int, more: int) -> None:
            self._lend(right, there, case)
            self._lent = {
                call: [one._replace(value=one.value + more) for one in lent] for call, lent in self._lent.items()
            }

        for _ in self._put(number, ast.Call(ast.Name(_GIVEN, ast.Load()), [], [])):
            build = self.program.builder({_GIVEN: self._give, CALLED: self._count})
            return any(self.trials.values_are_right(build, partial(lend, more=more)) for more in _OTHERS)
        return False

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
        return not any(gives(values, lent) for values in self.mine.notes.values())

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

    def _lend(self, right: Right, there: int, case: int) -> None:
        self._lent, self._calls = {}, 0
        for noted in right.given(there, case):
            self._lent.setdefault(noted.call, []).append(noted)

    def _count(self) -> None:
        self._calls += 1

    def _give(self) -> Any:
        """The next value that the right answer's expression gave in this call of the answer, or the last one again."""
        lent = self._lent[self._calls]
        return fresh((lent.pop(0) if len(lent) > 1 else lent[0]).value)


def _holds_many(values: list[Noted]) -> bool:
    """Whether all are tensors of several numbers: a single number in their place may mend by chance."""
    return all(isinstance(one.plain, Tensor) and one.plain.numel() > 1 for one in values)


def _reads_nothing(node: ast.expr) -> bool:
    """Whether an expression is made of numbers and functions alone, as ``math.log(2)``."""
    return all(is_module(one) for one in ast.walk(node) if isinstance(one, ast.Name))


def stands_as(mine: Recording, here: int, theirs: Recording, there: int) -> bool:
    """Whether two values are the same operand of the same operation."""
    operations = {one.operation for one in theirs.stands_in(there)}
    return any(one.operation in operations for one in mine.stands_in(here))
