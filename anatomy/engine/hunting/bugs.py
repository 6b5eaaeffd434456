"""Bugs to be found: mistakes that are edits of the right answer, as a listing with numbered lines.

An answer of a single line hides nothing, and a line that is missing can't be pointed at: such mistakes are left out.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache, cached_property
from inspect import getsource
from typing import Any

from anatomy.engine.course import Course, Notebook
from anatomy.engine.exercise import Exercise
from anatomy.engine.mistakes import Mistake

CONSONANTS, VOWELS = "bdflmnrstvw", "aeiou"
"""The letters of ids. With other consonants some of them would be words that nobody wants to say aloud."""

SHORTEST = 6
"""How many letters an id has, where no other bug of its notebook begins with the same ones: of 500 ids a new mistake
lengthens one in three cases of a thousand."""


@dataclass(frozen=True)
class Bug:
    """A wrong answer, to be read.

    Attributes
    ----------
    id
        What it is called in its notebook, such as ``"tamobi"``; empty for a wrong answer that is no bug of a notebook.
    mistake
        What was changed in the right answer.
    asked
        The exercise that it is an answer to.
    """

    id: str
    mistake: Mistake
    asked: Exercise = field(compare=False, repr=False)

    @property
    def exercise(self) -> str:
        return self.asked.name

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The wrong answer, without comments and docstrings."""
        return listing(self.mistake.source)

    @property
    def right(self) -> tuple[str, ...]:
        """The right one."""
        return _listing_of(self.mistake.base)

    @cached_property
    def changes(self) -> list[tuple[range, range]]:
        """Which lines of the right answer have become which of the wrong one, counted from 0."""
        codes = SequenceMatcher(None, self.right, self.lines, autojunk=False).get_opcodes()
        return [(range(a, b), range(c, d)) for tag, a, b, c, d in codes if tag != "equal"]

    @cached_property
    def faulty(self) -> frozenset[int]:
        """The numbers of the lines that are wrong, from 1."""
        return frozenset(line + 1 for _, there in self.changes for line in there)

    @cached_property
    def replaced(self) -> frozenset[int]:
        """The lines of the right answer that are changed, counted from 0."""
        return frozenset(line for here, _ in self.changes for line in here)

    @cached_property
    def texts(self) -> frozenset[str]:
        """What its wrong lines say."""
        return frozenset(self.lines[line - 1].strip() for line in self.faulty)

    @property
    def hides(self) -> bool:
        """Whether each change shows in a line, none is an import, and some line below the first is right."""
        shows = all(there for _, there in self.changes) and not any(
            text.startswith(("import ", "from ")) for text in self.texts
        )
        return shows and 0 < len(self.faulty) < len(self.lines) - 1

    @property
    def diff(self) -> Iterator[tuple[str, int, str]]:
        """What to change: ``"-"`` and a wrong line with its number, ``"+"`` and a right one with its own."""
        for here, there in self.changes:
            yield from (("-", line + 1, self.lines[line]) for line in there)
            yield from (("+", line + 1, self.right[line]) for line in here)


@cache
def bugs_of(course: Course, notebook: Notebook) -> tuple[Bug, ...]:
    """The bugs of a notebook, in its exercises' order."""
    asked = course.exercises(notebook).values()
    edited = (Bug("", wrong, exercise) for exercise in asked for wrong in exercise.mistakes.values() if wrong.edits)
    hidden = [bug for bug in edited if bug.hides]
    ids = ids_of([bug.mistake.name for bug in hidden])
    return tuple(replace(bug, id=ids[bug.mistake.name]) for bug in hidden)


def ids_of(mistakes: Collection[str]) -> dict[str, str]:
    """A mistake's name → the id of its bug, which can be said aloud and tells nothing.

    An id is the beginning of a word that the mistake's name alone decides. Where two words begin alike, both ids are
    longer.
    """
    words = {name: _word(name) for name in mistakes}

    def is_unique(beginning: str) -> bool:
        return sum(word.startswith(beginning) for word in words.values()) == 1

    def shortest(word: str) -> str:
        return next(filter(is_unique, (word[:length] for length in range(SHORTEST, len(word), 2))))

    return {name: shortest(word) for name, word in words.items()}


def _word(name: str) -> str:
    """A pair of a consonant and a vowel for each byte of a name's hash."""
    pairs = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]
    return "".join(pairs[byte % len(pairs)] for byte in hashlib.sha256(name.encode()).digest())


@cache
def _listing_of(right: Any) -> tuple[str, ...]:
    return listing(getsource(right))


def listing(source: str) -> tuple[str, ...]:
    """The lines of the last definition in a source, without comments, docstrings and empty lines."""
    definition = ast.parse(source).body[-1]
    lines = dict(enumerate(source.splitlines(), 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0]] = lines[token.start[0]][: token.start[1]]
    for node in ast.walk(definition):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) and len(node.body) > 1:
            for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1):
                lines[number] = ""
    decorated = getattr(definition, "decorator_list", [])
    first = min([definition.lineno, *(decorator.lineno for decorator in decorated)])
    return tuple(line.rstrip() for number, line in lines.items() if number >= first and line.strip())
