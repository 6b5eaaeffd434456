"""The vocabulary in which exercises are written: cases, properties, points.

An exercise is a generator of cases. The same seed gives the same cases in every process, so the kernel that observes
an answer and the grader that judges it need not exchange any input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from anatomy.engine.case import Case, seed_from

if TYPE_CHECKING:
    from anatomy.engine.course import Course, Notebook
    from anatomy.engine.draw import Draw
    from anatomy.engine.mistakes import Mistake

SEEDS = (0, 1)
"""The seeds of a check in a student's own notebook. Grading draws fresh ones."""

DRAWN = 6
"""How many cases of a seed are drawn from an exercise's `inputs`."""

Act = Callable[[Any, Case], Any]
Describe = Callable[[Any, Case], Any]
Rule = Callable[[Any, Case], str | None]
Holds = Callable[[Case], bool]
Inputs = Callable[["Draw"], Case]


def in_points(points: int, most: int) -> str:
    """A mark in words. An optional exercise has no points."""
    if not most:
        return "optional, no points"
    return f"{points} of {most} {'point' if most == 1 else 'points'}"


@dataclass(frozen=True)
class Asked:
    """What is asked, without the answer: what `exercise` and `quiz` make, before a course has given it its place.

    Attributes
    ----------
    kind
        ``"function"``, ``"module"`` (a class built with `Case.init`, then called) or ``"quiz"`` (a dict of answers).
    properties
        Property → points. The words are shown to students. In an optional exercise all have 0.
    forbids
        Calls of the library that the student is asked to write instead, e.g. ``("softmax",)``.
    act
        How the object is tried on a case where calling it is not enough. It runs beside student code, so it returns raw
        data (what came back, call by call; what something held before and after) and no word about right or wrong.
    axes
        Axis letter → what it stands for here, where that is not what the course's `axes` say.
    holds
        What the contract asks of the arguments and the right answer does not refuse, e.g. that ``prefix`` is at most
        ``length``. An input that is made smaller to be shown must keep it.
    when_right
        One sentence shown when the answer is right.
    inputs
        Draws any case that the contract allows. Sizes, values and order in memory come from its `Draw`.
    describe
        What `act` returned → what is compared, such as words for it. The judge's own: see `anatomy.engine.describing`.
    rules
        Property → a function of (what is compared, case) that returns None or a sentence that says what is wrong: for
        contracts that hold for many right values, such as statistics. The judge's own, too.
    """

    name: str
    kind: str
    properties: Mapping[str, int]
    build: Callable[[int], Iterator[Case]]
    returns: str = ""
    forbids: tuple[str, ...] = ()
    act: Act | None = None
    axes: Mapping[str, str] = field(default_factory=dict)
    holds: Holds | None = None
    when_right: str = ""
    inputs: Inputs | None = None
    describe: Describe | None = None
    rules: Mapping[str, Rule] = field(default_factory=dict)

    @property
    def points(self) -> int:
        return sum(self.properties.values())

    @property
    def worth(self) -> str:
        """Its points in words."""
        return f"{self.points} point{'s' * (self.points != 1)}" if self.points else "optional"

    @property
    def compares_calls(self) -> bool:
        """Whether what is compared is what a call returns, as it is."""
        return self.act is None and self.describe is None

    def cases(self, seeds: tuple[int, ...] = SEEDS) -> list[Case]:
        """The cases of these seeds, in order, each seed's chosen ones first; built afresh at every call."""
        return [case for seed in seeds for case in (*self.build(seed), *self.draws(seed, DRAWN))]

    def draws(self, seed: int, number: int) -> Iterator[Case]:
        """So many cases of its `inputs`, the same for the same seed; none where it has no `inputs`."""
        from anatomy.engine.draw import Draw  # and with it torch, which a list of exercises does not need

        for index in range(number if self.inputs else 0):
            assert self.inputs
            yield replace(self.inputs(Draw(seed_from(seed, "inputs", index))), drawn=True)


@dataclass(frozen=True, kw_only=True)
class Exercise(Asked):
    """What is asked, and where: all else that belongs to it is found through its course.

    Attributes
    ----------
    course, notebook
        The course that asks it, and the notebook in which it does.
    """

    course: Course = field(repr=False)
    notebook: Notebook

    @property
    def number(self) -> str:
        """The number by which the notebook calls it, such as "3.1"."""
        return f"{self.notebook.number}.{list(self.course.exercises(self.notebook)).index(self.name) + 1}"

    @property
    def right(self) -> Any:
        """The right answer: a function, a class or a quiz's dict."""
        return self.course.right(self)

    @property
    def mistakes(self) -> Mapping[str, Mistake]:
        """What goes wrong in it, by name, in the order in which its notebook's mistakes are listed."""
        return self.course.mistakes(self)

    def axis(self, letter: str) -> str:
        """The axis in words, e.g. ``"keys"``."""
        return self.axes.get(letter, self.course.axes.get(letter, letter))


def exercise(
    *,
    properties: Mapping[str, int],
    kind: str = "function",
    returns: str = "",
    forbids: tuple[str, ...] = (),
    act: Act | None = None,
    axes: Mapping[str, str] | None = None,
    holds: Holds | None = None,
    when_right: str = "",
    inputs: Inputs | None = None,
) -> Callable[[Callable[[int], Iterator[Case]]], Asked]:
    """Make what is `Asked` of a generator ``name(seed)`` that yields its cases."""

    def make(build: Callable[[int], Iterator[Case]]) -> Asked:
        return Asked(
            build.__name__, kind, dict(properties), build, returns, forbids, act, dict(axes or {}), holds, when_right,
            inputs,
        )  # fmt: skip

    return make


def quiz(name: str, questions: Mapping[str, tuple[str, ...]], *, when_right: str = "") -> Asked:
    """A quiz: question → its options. Every question is a property worth one point."""

    def build(seed: int) -> Iterator[Case]:
        yield Case({"questions": dict(questions)})

    return Asked(name, "quiz", dict.fromkeys(questions, 1), build, when_right=when_right)
