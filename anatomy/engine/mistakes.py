"""What goes wrong: mistakes that people really make, each with the one sentence that names it. One module per notebook.

A mistake is an edit of the right answer. `mistakes_in` takes the reference and gives a function that adds one:

    wrong = mistakes_in(LayerNorm)
    wrong("eps_outside", "Your eps stands outside the root …", breaks="eps",
          old="torch.sqrt(variance + self.eps)", new="(variance.sqrt() + self.eps)")

A mistake that is another algorithm is a function or class of its own, called ``exercise__what_is_wrong`` and decorated with
`misconception`. Mistakes in a part are mistakes in the whole that calls it (`inherited`), and two edits at different
places compose (`pairs`).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import combinations
from typing import Any

from anatomy import exercises
from anatomy.course import NOTEBOOKS, Notebook
from anatomy.exercises import Exercise

_LENT = {
    "F": "import torch.nn.functional as F",
    "Counter": "from collections import Counter",
    "math": "import math",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "random": "import random",
    "torch": "import torch",
}
"""Imports that a mistake may need although the right answer does not."""


class BadEdit(ValueError):
    """What a mistake replaces does not stand in the right answer as often as it says."""


@dataclass(frozen=True)
class Edit:
    """Characters `start` to `end` of the right answer's source become `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Misconception:
    """A wrong answer.

    Attributes
    ----------
    name
        ``exercise__what_is_wrong``.
    sentence
        Its diagnosis; ``{T}`` or ``{D}`` stand for the case's sizes.
    breaks
        The properties that it costs; the others keep their points.
    given
        The wrong answer itself where it is no edit: a function, a class, a quiz's dict.
    base, edits
        The right answer, and what is changed in its source.
    parts
        Wrong answers that stand in the place of other exercises' right ones.
    """

    name: str
    sentence: str
    breaks: tuple[str, ...]
    given: Any = None
    base: Any = None
    edits: tuple[Edit, ...] = ()
    parts: tuple[Misconception, ...] = ()

    @property
    def exercise(self) -> str:
        return self.name.partition("__")[0]

    @cached_property
    def source(self) -> str:
        """What the student's cell would hold; empty where the mistake is not made by an edit."""
        return _imports(text := _edited(_source(self.base), self.edits), self.base) + text if self.base else ""

    @cached_property
    def answer(self) -> Any:
        """The wrong answer: what a student's cell would define."""
        if self.base is None:
            return self.given
        return _run(self.source, self.base, self.name, {part.exercise: part.answer for part in self.parts})


_KNOWN: dict[str, dict[str, Misconception]] = {}


def _add(wrong: Misconception) -> Misconception:
    known = _KNOWN.setdefault(wrong.exercise, {})
    if wrong.name in known and known[wrong.name].sentence != wrong.sentence:
        raise BadEdit(f"{wrong.name} is there already, with another sentence.")
    known[wrong.name] = wrong
    return wrong


class Mistakes:
    """Adds mistakes to one exercise; made by `mistakes_in`."""

    def __init__(self, right: Any) -> None:
        self.right, self.exercise = right, str(right.__name__)

    def __call__(
        self,
        name: str,
        sentence: str,
        *,
        breaks: str | Iterable[str],
        old: str | tuple[str, ...],
        new: str | tuple[str, ...],
        times: int = 1,
    ) -> Misconception:
        """Add the mistake that replaces `old` by `new` in the right answer's source, wherever `old` stands.

        Several places take tuples of the same length.

        Parameters
        ----------
        breaks
            The properties that it costs.
        times
            How often each `old` stands in the source.

        Raises
        ------
        BadEdit
            When an `old` stands there more or less often, or two of them overlap.
        """
        name = f"{self.exercise}__{name}"
        olds, news = ((old,), (new,)) if isinstance(old, str) else (old, new)
        edits = sorted(
            (
                edit
                for before, after in zip(olds, news, strict=True)
                for edit in self._places(name, before, after, times)
            ),
            key=lambda edit: edit.start,
        )
        if any(one.end > two.start for one, two in zip(edits, edits[1:], strict=False)):
            raise BadEdit(f"{name}: two of the replaced texts overlap.")
        return _add(Misconception(name, sentence, _words(breaks), base=self.right, edits=tuple(edits)))

    def _places(self, name: str, old: str, new: str, times: int) -> Iterator[Edit]:
        source = _source(self.right)
        if (count := source.count(old)) != times:
            raise BadEdit(f"{name}: this stands {count} times in the right answer, not {times}:\n{old}")
        start = -len(old)
        for _ in range(times):
            start = source.index(old, start + len(old))
            yield Edit(start, start + len(old), new)


def mistakes_in(right: Any) -> Mistakes:
    """What adds mistakes to the exercise of which this function or class is the right answer."""
    return Mistakes(right)


def misconception(sentence: str, *, breaks: str | Iterable[str]) -> Callable[[Any], Misconception]:
    """Make a `Misconception` of the function or class under it, called ``exercise__what_is_wrong``."""
    return lambda given: _add(Misconception(given.__name__, sentence, _words(breaks), given))


def wrong_option(quiz: str, right: Mapping[str, str], question: str, option: str, sentence: str) -> Misconception:
    """Add a quiz answered rightly but for one question."""
    name = f"{quiz}__{question}_{option}".replace(" ", "_").replace("-", "_")
    return _add(Misconception(name, sentence, (question,), {**right, question: option}))


# ---- what is known --------------------------------------------------------------------------------------------------


@cache
def of_notebook(notebook: Notebook) -> dict[str, Misconception]:
    """All misconceptions of one notebook, by name."""
    return {
        name: wrong for exercise in exercises.of_notebook(notebook) for name, wrong in of_exercise(exercise).items()
    }


def of_exercise(name: str) -> dict[str, Misconception]:
    """The misconceptions of one exercise, by name, in the order in which its module adds them."""
    import_module(f"anatomy.misconceptions.{exercises.find(name).notebook.module}")
    return _KNOWN.get(name, {})


@cache
def inherited(name: str) -> tuple[Misconception, ...]:
    """What goes wrong in an exercise because one of its parts is wrong: the parts' own mistakes, then those of their parts.

    A function of an earlier notebook is often written out again; its modules are imported as they are, so their mistakes
    can't be made here. Names are ``whole__part__what_is_wrong``; what such a mistake costs is not known beforehand.
    """
    right = _right(name)
    if right is None:
        return ()
    found: list[Misconception] = []
    for part in filter(partial(_may_go_wrong, exercises.find(name)), _parts(right)):
        for wrong in (*of_exercise(part).values(), *inherited(part)):
            inner = wrong.name.partition("__")[2]
            found.append(Misconception(f"{name}__{part}__{inner}", wrong.sentence, (), base=right, parts=(wrong,)))
    return tuple(sorted(found, key=lambda wrong: wrong.name.count("__")))


def _may_go_wrong(whole: Exercise, part: str) -> bool:
    other = exercises.find(part)
    return other.kind == "function" or other.notebook == whole.notebook


def pairs(
    name: str, among: Iterable[Misconception] | None = None
) -> Iterator[tuple[Misconception, Misconception, Misconception]]:
    """Two mistakes of an exercise made at once, where they lie at different places: both, and the two together.

    Of these mistakes only, if some are given, and the first ones first.
    """
    known = of_exercise(name)
    order = {wrong: place for place, wrong in enumerate(known)}
    mistakes = known.values() if among is None else among
    for both_ways in combinations([wrong for wrong in mistakes if wrong.edits], 2):
        one, two = sorted(both_ways, key=lambda wrong: order[wrong.name])
        edits = tuple(sorted((*one.edits, *two.edits), key=lambda edit: edit.start))
        if all(before.end <= after.start for before, after in zip(edits, edits[1:], strict=False)):
            name = f"{one.name}__and__{two.name.partition('__')[2]}"
            both = Misconception(name, "", (), base=one.base, edits=edits)
            if _is_program(_edited(_source(one.base), edits)):
                yield one, two, both


def _right(name: str) -> Any:
    """The right answer of an exercise that is a function or a class."""
    exercise = exercises.find(name)
    return (
        None
        if exercise.kind == "quiz"
        else getattr(import_module(f"anatomy.reference.{exercise.notebook.module}"), name)
    )


@cache
def _parts(right: Any) -> tuple[str, ...]:
    """The other exercises whose right answers this one calls by name, in the order in which their names stand."""
    asked = {name for notebook in NOTEBOOKS for name in exercises.of_notebook(notebook)} - {right.__name__}
    used = [node.id for node in ast.walk(ast.parse(_source(right))) if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys(name for name in used if name in asked and hasattr(_module(right), name)))


def _words(breaks: str | Iterable[str]) -> tuple[str, ...]:
    return (breaks,) if isinstance(breaks, str) else tuple(breaks)


# ---- source and back ------------------------------------------------------------------------------------------------


@cache
def _source(right: Any) -> str:
    return inspect.getsource(right)


def _module(right: Any) -> Any:
    return sys.modules[right.__module__]


def _edited(source: str, edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: -edit.start):
        source = source[: edit.start] + edit.new + source[edit.end :]
    return source


def _is_program(source: str) -> bool:
    """Whether this is a program at all: one edit may have taken away what another one leans on."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _imports(source: str, right: Any) -> str:
    """The imports that an edit has made necessary, as lines."""
    known = {*vars(_module(right)), *vars(builtins)}
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)} - known
    return "".join(f"{_LENT[name]}\n" for name in sorted(used & _LENT.keys()))


def _run(source: str, right: Any, name: str, parts: Mapping[str, Any]) -> Any:
    """What this source defines, among the right answer's surroundings. Its lines show in error messages."""
    filename = f"<student {name}>"
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    surroundings: dict[str, Any] = {**vars(_module(right)), **parts}
    exec(compile(source, filename, "exec", dont_inherit=True), surroundings)
    return surroundings[right.__name__]
