"""What goes wrong: mistakes that people really make, each with the one sentence that names it.

A notebook's `wrong.py` has them as `MISTAKES`, in one block for each exercise. A mistake is an edit of the right
answer: a place in its source, what the mistakes there cost, and for each its name, what it puts there and its sentence:

    MISTAKES = Mistakes()

    @MISTAKES.of(LayerNorm)
    def in_LayerNorm(at):
        at("torch.sqrt(variance + self.eps)", "eps",
           ("eps_outside", "(variance.sqrt() + self.eps)", "Your eps is outside the root …"),
           ("eps_squared", "torch.sqrt(variance + self.eps**2)", "You square eps …"))

A mistake that is another algorithm is a function or class of its own, called ``exercise__what_is_wrong`` and decorated
with `MISTAKES.mistake`. Mistakes in a part are mistakes in the whole that calls it (`inherited`), and two edits
compose (`pairs`).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from anatomy.engine.nested_edits import Edit, one_inside_the_other, small_edits

if TYPE_CHECKING:
    from anatomy.engine.course import Course
    from anatomy.engine.exercise import Exercise

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


Text = str | tuple[str, ...]


class BadEdit(ValueError):
    """What a mistake replaces does not stand in the right answer as often as it says."""


@dataclass(frozen=True)
class Mistake:
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
    parts: tuple[Mistake, ...] = ()

    @property
    def exercise(self) -> str:
        return self.name.partition("__")[0]

    @cached_property
    def source(self) -> str:
        """What the student's cell would hold; empty where the mistake is not made by an edit."""
        return _imports(text := _edited(_source(self.base), self.edits), self.base) + text if self.base else ""

    @property
    def right_source(self) -> str:
        """What the edits change; empty where the mistake is not made by an edit."""
        return _source(self.base) if self.base else ""

    @cached_property
    def answer(self) -> Any:
        """The wrong answer: what a student's cell would define."""
        if self.base is None:
            return self.given
        return _run(self.source, self.base, self.name, {part.exercise: part.answer for part in self.parts})


WrongOption = Callable[[str, str, str], Mistake]
"""Adds a mistake: a question, the option that is chosen, and the sentence that says why it is wrong."""


class Mistakes(Mapping[str, Mapping[str, Mistake]]):
    """What goes wrong in the exercises of a notebook: exercise → name → mistake, in the order of `wrong.py`."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Mistake]] = {}

    def __getitem__(self, exercise: str) -> Mapping[str, Mistake]:
        return self._known[exercise]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, right: Any) -> Callable[[Callable[[MistakesIn], None]], None]:
        """A decorator of the block that adds the mistakes in one right answer: it is run at once."""
        return lambda block: block(self.mistakes_in(right))

    def of_quiz(self, name: str, right: Mapping[str, str]) -> Callable[[Callable[[WrongOption], None]], None]:
        """A decorator of the block that adds the wrong options of a quiz."""
        return lambda block: block(partial(self.wrong_option, name, right))

    def mistakes_in(self, right: Any) -> MistakesIn:
        """What adds mistakes to the exercise of which this function or class is the right answer."""
        return MistakesIn(self, right)

    def mistake(self, sentence: str, *, breaks: str | Iterable[str]) -> Callable[[Any], Mistake]:
        """Make a mistake of the function or class under it, called ``exercise__what_is_wrong``."""
        return lambda given: self.add(Mistake(given.__name__, sentence, _words(breaks), given))

    def wrong_option(self, quiz: str, right: Mapping[str, str], question: str, option: str, sentence: str) -> Mistake:
        """Add a quiz answered rightly but for one question."""
        name = f"{quiz}__{question}_{option}".replace(" ", "_").replace("-", "_")
        return self.add(Mistake(name, sentence, (question,), {**right, question: option}))

    def add(self, wrong: Mistake) -> Mistake:
        """Add a mistake whose name is not there yet; else it is a `BadEdit`."""
        known = self._known.setdefault(wrong.exercise, {})
        if wrong.name in known:
            raise BadEdit(f"{wrong.name} is there already.")
        known[wrong.name] = wrong
        return wrong


class MistakesIn:
    """Adds mistakes to one exercise; made by `Mistakes.mistakes_in`."""

    def __init__(self, known: Mistakes, right: Any) -> None:
        self.known, self.right, self.exercise = known, right, str(right.__name__)

    def __call__(self, old: Text, breaks: str | Iterable[str], *mistakes: Sequence[Any], times: int = 1) -> None:
        """Add the mistakes that put something else in the place of `old` in the right answer's source.

        Parameters
        ----------
        old
            What is replaced, wherever it stands; a tuple where a mistake changes several places at once.
        breaks
            The properties that these mistakes cost.
        mistakes
            For each its name, what stands in the place of `old` (a tuple where `old` is one), and its sentence; fourth,
            the properties that it costs where they are others.
        times
            How often each `old` stands in the source.

        Raises
        ------
        BadEdit
            When an `old` stands there more or less often, two of them overlap, or a name is there already.
        """
        olds = old if isinstance(old, tuple) else (old,)
        for name, new, sentence, *costs in mistakes:
            full = f"{self.exercise}__{name}"
            news = new if isinstance(new, tuple) else (new,)
            if len(olds) != len(news):
                raise BadEdit(f"{full}: {len(news)} texts for {len(olds)} places.")
            edits = _in_order(
                edit for pair in zip(olds, news, strict=True) for edit in self._places(full, *pair, times)
            )
            if not _are_apart(edits):
                raise BadEdit(f"{full}: two of the replaced texts overlap.")
            costs_of_this = costs[0] if costs else breaks
            self.known.add(Mistake(full, sentence, _words(costs_of_this), base=self.right, edits=edits))

    def _places(self, name: str, old: str, new: str, times: int) -> Iterator[Edit]:
        source = _source(self.right)
        if (count := source.count(old)) != times:
            raise BadEdit(f"{name}: this stands {count} times in the right answer, not {times}:\n{old}")
        start = -len(old)
        for _ in range(times):
            start = source.index(old, start + len(old))
            yield Edit(start, start + len(old), new)


# ---- what follows from them -----------------------------------------------------------------------------------------


def inherited(exercise: Exercise) -> tuple[Mistake, ...]:
    """What goes wrong in an exercise because one of its parts is wrong: the parts' mistakes, then those of their parts.

    A function of an earlier notebook is often written out again; its modules are imported as they are, so that their
    mistakes can't be made here. Names are ``whole__part__what_is_wrong``; what such a mistake costs is not known
    beforehand.
    """
    return () if exercise.kind == "quiz" else _inherited(exercise.course, exercise.name)


@cache
def _inherited(course: Course, name: str) -> tuple[Mistake, ...]:
    whole = course.exercise(name)
    found: list[Mistake] = []
    for part in map(course.exercise, _parts(course, whole.right)):
        if part.kind == "function" or part.notebook == whole.notebook:
            for wrong in (*part.mistakes.values(), *inherited(part)):
                inner = wrong.name.partition("__")[2]
                full = f"{name}__{part.name}__{inner}"
                found.append(Mistake(full, wrong.sentence, (), base=whole.right, parts=(wrong,)))
    return tuple(sorted(found, key=lambda wrong: wrong.name.count("__")))


def pairs(exercise: Exercise, among: Iterable[Mistake] | None = None) -> Iterator[tuple[Mistake, Mistake, Mistake]]:
    """Two mistakes of an exercise made at once: both, and the two together.

    They lie at different places, one does something more with what the other one changes, or they are in different
    parts, or two of one part. Of these mistakes only, if some are given, and the first ones first.
    """
    known = exercise.mistakes
    order = {wrong: place for place, wrong in enumerate(known)}
    mistakes = known.values() if among is None else among
    for both_ways in combinations([wrong for wrong in mistakes if wrong.edits or wrong.parts], 2):
        one, two = sorted(both_ways, key=lambda wrong: order.get(wrong.name, len(order)))
        name = f"{one.name}__and__{two.name.partition('__')[2]}"
        if {part.exercise for part in one.parts} & {part.exercise for part in two.parts}:
            if len(parts := (*one.parts, *two.parts)) == 2 and not one.edits and not two.edits:
                of_part = pairs(exercise.course.exercise(parts[0].exercise), parts)
                yield from ((one, two, Mistake(name, "", (), base=one.base, parts=(both,))) for _, _, both in of_part)
            continue
        edits = _composed(one.base, one.edits, two.edits)
        if edits is not None:
            yield one, two, Mistake(name, "", (), base=one.base, edits=edits, parts=(*one.parts, *two.parts))


@cache
def _composed(right: Any, one: tuple[Edit, ...], two: tuple[Edit, ...]) -> tuple[Edit, ...] | None:
    """The edits of both, made at once; None where they don't go together, or make no program."""
    source, edits = _source(right), _in_order((*one, *two))
    if not _are_apart(edits):
        edits = one_inside_the_other(source, one, two) or _in_order(small_edits(source, (*one, *two)))
    return edits if _are_apart(edits) and _is_program(_edited(source, edits)) else None


@cache
def _parts(course: Course, right: Any) -> tuple[str, ...]:
    """The other exercises whose right answers this one calls by name, in the order in which their names stand."""
    asked = {name for notebook in course.notebooks for name in course.exercises(notebook)} - {right.__name__}
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


def _in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    return tuple(sorted(edits, key=lambda edit: edit.start))


def _are_apart(edits: Iterable[Edit]) -> bool:
    """Whether none of these edits, which are in order, overlaps the next one."""
    return all(before.end <= after.start for before, after in pairwise(edits))


def _edited(source: str, edits: Iterable[Edit]) -> str:
    for edit in reversed(_in_order(edits)):
        source = source[: edit.start] + edit.new + source[edit.end :]
    return source


def _is_program(source: str) -> bool:
    """Whether this is a program at all: one edit may have taken away what another one leans on, or say it again."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<edited>", "exec", dont_inherit=True)
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
