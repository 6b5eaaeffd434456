"""Mutants of right answers, checked as a notebook checks them, and what their cards say that isn't so."""

from __future__ import annotations

import ast
import random
import re
import resource
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.course import COURSE
from anatomy.engine import exercise as exercises
from anatomy.engine.answers import answer_bank
from anatomy.engine.cards import as_text
from anatomy.engine.checking import verdict_in_notebook
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import is_right, judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing import observe as observing
from anatomy.engine.observing.observe import observe
from tests.attempts.attempts import Notebook
from tests.mutants.edits import mutated, renamed
from tests.shells import fresh_shell

OTHER_SEEDS, MANY = (1001, 1002), 100
"""What a mutant's truth, and a card's sentences, are tried on: these seeds, and so many draws of each."""

AT_MOST = 2.0
"""Seconds of computing that one case may take: mutants often run for ever."""


@dataclass(frozen=True)
class Mutant:
    """A right answer with an edit, and the line in which it stands."""

    exercise: str
    origin: str
    source: str
    lines: tuple[int, ...]


@dataclass
class Result:
    """What became of one mutant."""

    mutant: Mutant
    status: str  # "equal", "accepted", "located" or "vague"
    refuted: list[str] = field(default_factory=list)
    seconds: float = 0.0
    card: str = ""


def mutants(exercise: Exercise, dice: random.Random, number: int, edits: int) -> Iterator[Mutant]:
    """So many different mutants of an exercise's right answers."""
    answers = answer_bank(COURSE, exercise.notebook).right[exercise.name]
    seen: set[str] = set()
    for _ in range(20 * number):
        answer = dice.choice(answers)
        tree = ast.parse(answer.source)
        if dice.random() < 0.5:
            tree = renamed(tree, dice)
        source, lines = mutated(tree, dice, edits)
        if lines and source not in seen and len(seen) < number:
            seen.add(source)
            yield Mutant(exercise.name, answer.name, source, lines)


class Course:
    """One notebook's right answers, and the expectations by which a mutant's truth is known."""

    def __init__(self, slug: str, shell: InteractiveShell) -> None:
        self.notebook = Notebook(COURSE.notebook(slug), shell)
        self._many: dict[str, Expectations] = {}

    def result(self, mutant: Mutant) -> Result:
        exercise, names = COURSE.exercise(mutant.exercise), self.notebook.shell.user_ns
        names.update(self.notebook.given)
        names.pop(mutant.exercise, None)
        with capture_output(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.notebook.shell.run_cell(mutant.source)
            many = self._expected_of_many(exercise)
            self.notebook.expectations_of(exercise, SEEDS)  # a notebook has them from its first check on
            began = _computed()
            with mock.patch.object(observing, "TIME_LIMIT", AT_MOST):
                verdict = verdict_in_notebook(exercise, names, self.notebook.expectations_of)
                seconds = _computed() - began
                answer = names.get(exercise.name)
                without_reading = judge(exercise, observe(exercise, answer), SEEDS, self.notebook.expectations_of)
                other = self._on_many(exercise, answer, many)
        status = _status(mutant, verdict, other)
        card = as_text(verdict) if status != "equal" else ""
        return Result(mutant, status, _refuted(without_reading, other), seconds, card)

    def _expected_of_many(self, exercise: Exercise) -> Expectations:
        if exercise.name not in self._many:
            with mock.patch.object(exercises, "DRAWN", MANY):
                self._many[exercise.name] = Expectations(exercise, OTHER_SEEDS)
        return self._many[exercise.name]

    def _on_many(self, exercise: Exercise, answer: Any, many: Expectations) -> Verdict:
        """The verdict with other seeds and many draws, without reading the program."""
        with mock.patch.object(exercises, "DRAWN", MANY):
            seen = observe(exercise, answer, OTHER_SEEDS)
            if is_right(exercise, seen, OTHER_SEEDS, lambda *_: many):
                return replace(judge(exercise, observe(exercise, exercise.right, (0,)), (0,)), status="right")
            return judge(exercise, seen, OTHER_SEEDS, lambda *_: many)


def _computed() -> float:
    """Seconds of computing, here and in the copies of this process that have ended."""
    copies = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + copies.ru_utime + copies.ru_stime


def _status(mutant: Mutant, verdict: Verdict, other: Verdict) -> str:
    if other.status == "right":
        return "equal"
    if verdict.status == "right":
        return "accepted"
    said = " ".join(f"{one.headline} {one.detail}" for one in verdict.diagnoses)
    pointed = {int(number) for number in re.findall(r"\b[Ll]ines? (\d+)", said)}
    missing = "no line of your class sets it" in said  # a line that is gone has no number
    return "located" if verdict.mistakes or pointed & set(mutant.lines) or missing else "vague"


MEASURED = re.compile(
    r"(?:[“`][^”`]*[”`]: )?"
    r"(Values differ|Seen:|It stops|Two mistakes|The second|You return|Your function|Yours is|Item \d|\d+ of \d+)"
)
"""Headlines that tell what was seen in one case, or that name two mistakes at once."""

CONDITION = re.compile(r"(It is right only|This happens)[^.]*\.")


def _refuted(verdict: Verdict, other: Verdict) -> list[str]:
    """The sentences of a card that are not said on the larger evidence."""
    if verdict.status != "wrong" or other.status != "wrong":
        return []
    if any(one.headline == "It did not finish." for one in other.diagnoses):
        return []  # what was too slow says nothing of the rest
    said = [f"named {name}" for name in verdict.mistakes if name not in other.mistakes]
    still = " ".join(f"{one.headline} {one.detail}" for one in other.diagnoses)
    for one in verdict.diagnoses:
        condition = CONDITION.search(one.detail)
        if condition and condition[0] not in still:
            said.append(condition[0])
        claim = _without_numbers(one.headline)
        measured = MEASURED.match(one.headline)
        if not one.mistake and not measured and claim not in _without_numbers(still):
            said.append(one.headline)
    return said


def _without_numbers(text: str) -> str:
    return re.sub(r"-?\d[\d.,e+−-]*", "#", text)


def one_notebook(slug: str, number: int, seed: int, edits: int) -> list[Result]:
    """Try mutants of a notebook's exercises that have `inputs`, so many of all together."""
    asked = [one for one in COURSE.exercises(COURSE.notebook(slug)).values() if one.inputs]
    dice, results = random.Random(f"{slug} {seed}"), list[Result]()
    with fresh_shell() as shell:
        course = Course(slug, shell)
        for exercise in asked:
            for mutant in mutants(exercise, dice, max(number // len(asked), 1), edits):
                results.append(course.result(mutant))
    return results
