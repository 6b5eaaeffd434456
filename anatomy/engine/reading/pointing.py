"""What is said of an expression that goes wrong, and of where its value comes from."""

from __future__ import annotations

import ast

from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.noted import gives
from anatomy.engine.reading.recording import Noted, Recording
from anatomy.engine.reading.source import Program
from anatomy.engine.reading.trials import Trials

LONGEST_QUOTE = 60
"""Characters of an expression that is quoted; of a longer one its line is."""

_SOME_ORIGINS = 4
"""Cases in which it is looked at where a value comes from."""


def said_of_value(
    program: Program,
    mine: Recording,
    number: int,
    unknown: list[str],
    varies: bool,
    origins: list[int],
    others_do: bool = False,
) -> Diagnosis:
    node, line = mine.places[number][3], mine.places[number][3].lineno
    text = ast.unparse(node)
    is_test, is_short = mine.places[number][1] == "test", len(text) <= LONGEST_QUOTE
    what = f"`{text}` in line {line}" if is_short else f"What is computed in line {line}"
    if is_short and not is_test:
        what = f"The value of {what}"
    if unknown:
        of = "of " * (is_short and not is_test)
        what += f", or {of}what goes into it ({_listed(unknown[:3])}),"
    detail = f"Line {line}: `{program.line(line)}`"
    if origins:
        lines, quotes = (
            " and ".join(some) for some in (map(str, origins), (f"`{program.line(one)}`" for one in origins))
        )
        detail += f" It comes from line{'s' * (len(origins) > 1)} {lines}: {quotes}"
    if is_test:  # what it asks may well have to be asked, too
        why = "does not decide what is needed there: with the right decision"
    else:
        why = f"is not what is needed there: with {'another' if others_do else 'the right'} value"
    return Diagnosis(f"{what} {why} in its place{' each time' * varies}, all results are right.", detail)


def said_of_argument(program: Program, mine: Recording, number: int) -> Diagnosis:
    name, line = ast.unparse(mine.places[number][3]), mine.places[number][3].lineno
    return Diagnosis(
        f"Line {line} does something else with `{name}` than what is needed: with another value in its place there, "
        "all results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def said_of_number_type(program: Program, mine: Recording, number: int, is_of: str, needed: str) -> Diagnosis:
    text, line = ast.unparse(mine.places[number][3]), mine.places[number][3].lineno
    what = f"`{text}` in line {line}" if len(text) <= LONGEST_QUOTE else f"what is computed in line {line}"
    return Diagnosis(
        f"The numbers of {what} are right; their type, {is_of}, is not what is needed there: with {needed}, all "
        "results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def said_of_branch(program: Program, mine: Recording, number: int, decision: bool) -> Diagnosis:
    """Of a test that could as well always be true, or never: what it guards is wrong, not the test."""
    test, line = ast.unparse(mine.places[number][3]), mine.places[number][3].lineno
    wrong, right = ("false", "true") if decision else ("true", "false")
    return Diagnosis(
        f"Where `{test}` in line {line} is {wrong}, something else is done than what is needed: as if it were {right}, "
        "all results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def set_to(number: int, mine: Recording) -> list[ast.expr]:
    """What a name was set to last: of what stands in several branches, that which gave it the value that it has."""
    name = mine.notes[number]
    here = {id(mine.places[one][3]) for one, values in mine.notes.items() if gives(values, name)}
    return [value for value in mine.may_be_set_to(number) if id(value) in here]


def unknown_in(number: int, mine: Recording, known: set[int]) -> list[str]:
    """The names in an expression whose values no right answer computes: more may be wrong before it."""
    inside = {id(node) for node in ast.walk(mine.places[number][3]) if isinstance(node, ast.Name)}
    names = [part for part in mine.notes if id(mine.places[part][3]) in inside and part not in known | {number}
             and not mine.is_asked_for_its_size(part)]  # fmt: skip
    much = {mine.places[part][3].id: part for part in names if _says_much(mine.notes[part])}
    return [f"`{name}`{_set_in(part, mine)}" for name, part in much.items()]


def _listed(names: list[str]) -> str:
    """Names in a sentence; a comma stands behind a line that is given."""
    return (", and " if "," in names[0] else " and ").join(names)


def _set_in(number: int, mine: Recording) -> str:
    """Where a name gets its value, if that is in other lines."""
    lines = {value.lineno for value in mine.may_be_set_to(number)} | {mine.was_changed_in(number)}
    elsewhere = sorted(lines - {0, mine.places[number][3].lineno})
    return f", set in line{'s' * (len(elsewhere) > 1)} {' and '.join(map(str, elsewhere))}" if elsewhere else ""


def _says_much(values: list[Noted]) -> bool:
    """Whether values are more than single numbers and words, which a right program may well compute, too."""
    return all(not isinstance(one.plain, int | float | str | None) for one in values)


def origins_of(mine: Recording, number: int, trials: Trials) -> list[int]:
    """The lines in which a name was set and changed last, in some cases that differ."""
    if mine.is_changed_there(number):
        return []
    line, found = mine.places[number][3].lineno, dict[int, None]()
    for case in list(trials.visible)[:_SOME_ORIGINS]:
        trials.watch(mine.build, case)
        if number in mine.notes:
            values = (mine.is_changed(number) and mine.may_be_set_to(number)) or set_to(number, mine)
            found |= dict.fromkeys(value.lineno for value in values if not _is_empty(value))
    found |= dict.fromkeys(one for one in (mine.was_changed_in(number), mine.is_filled_in(number)) if one)
    return sorted(one for one in found if one != line)


def _is_empty(value: ast.expr) -> bool:
    """Whether it is ``[]`` or ``{}``, with which a list or a dict begins."""
    return not getattr(value, "elts", getattr(value, "keys", True))
