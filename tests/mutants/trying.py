"""Mutants of right answers, checked as a notebook checks them, and what their cards say that isn't so."""

from __future__ import annotations

import ast
import random
import re
import resource
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.course import COURSE
from anatomy.engine import exercise as exercises
from anatomy.engine import reading
from anatomy.engine.answers import answer_bank
from anatomy.engine.cards import as_text
from anatomy.engine.checking import verdict_in_notebook
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.judging.compare import compare
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import described_all, is_right, judge
from anatomy.engine.judging.recognize import makes
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.mistakes import inherited, pairs
from anatomy.engine.observing import observe as observing
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.observe import observe
from anatomy.engine.reading import read
from tests.attempts.attempts import Notebook
from tests.mutants.edits import mutated, renamed
from tests.shells import fresh_shell

OTHER_SEEDS, MANY = (1001, 1002), 100
"""What a mutant's truth, and a card's sentences, are tried on: these seeds, and so many draws of each."""

AT_MOST = 2.0
"""Seconds of computing that one case may take: mutants often run for ever."""


@dataclass(frozen=True)
class Mutant:
    """A right answer with an edit, and the line in which it stands; `unset` are the names that a lost line had set."""

    exercise: str
    origin: str
    source: str
    lines: tuple[int, ...]
    unset: frozenset[str] = frozenset()


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
        before = _names_set(ast.unparse(tree))
        source, lines = mutated(tree, dice, edits)
        if lines and source not in seen and len(seen) < number:
            seen.add(source)
            yield Mutant(exercise.name, answer.name, source, lines, frozenset(before - _names_set(source)))


def _names_set(source: str) -> Counter[str]:
    nodes = ast.walk(ast.parse(source))
    return Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


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
            self.notebook.expectations_of(exercise, SEEDS)  # a notebook has them from its first check on
            began = _computed()
            with mock.patch.object(observing, "TIME_LIMIT", AT_MOST), _verdicts_before_reading() as judged:
                verdict = verdict_in_notebook(exercise, names, self.notebook.expectations_of)
                seconds = _computed() - began
                claims = _claims(verdict, judged[0]) if judged else []
                answer = names.get(exercise.name)
                other = self._on_few(exercise, answer)
                if claims or verdict.status == "right" or other.status == "right":
                    other = self._on_many(exercise, answer)
                    if other.status == "wrong" and self._makes_two(exercise, answer, verdict.mistakes):
                        claims = [claim for claim in claims if claim[1] not in verdict.mistakes]
        status = _status(mutant, verdict, other)
        card = as_text(verdict) if status != "equal" else ""
        return Result(mutant, status, _refuted(claims, other), seconds, card)

    def _makes_two(self, exercise: Exercise, answer: Any, names: list[str]) -> bool:
        """Whether an answer does on many draws what two mistakes at once do: a judge looks for two in his time only."""
        known = {one.name: one for one in (*exercise.mistakes.values(), *inherited(exercise))}
        if len(names) != 2 or not known.keys() >= set(names):
            return False
        many = self._expected_of_many(exercise)
        with mock.patch.object(exercises, "DRAWN", MANY):
            seen = described_all(many, observe(exercise, answer, OTHER_SEEDS).cases)
        differences = compare(many.exercise, many.cases, seen, many.expected, many.nudged)
        wrong = frozenset(one.case for one in differences)
        both = [both for _, _, both in pairs(exercise, [known[name] for name in names])]
        return any(makes(one, many, seen, wrong) for one in both)

    def _on_few(self, exercise: Exercise, answer: Any) -> Verdict:
        """Right or wrong on the cases of other seeds: enough where there is no sentence to refute."""
        expectations_of = self.notebook.expectations_of
        right = is_right(exercise, observe(exercise, answer, OTHER_SEEDS), OTHER_SEEDS, expectations_of)
        return Verdict(exercise.name, "right" if right else "wrong", ())

    def _expected_of_many(self, exercise: Exercise) -> Expectations:
        if exercise.name not in self._many:
            with mock.patch.object(exercises, "DRAWN", MANY):
                self._many[exercise.name] = Expectations(exercise, OTHER_SEEDS)
        return self._many[exercise.name]

    def _on_many(self, exercise: Exercise, answer: Any) -> Verdict:
        """The verdict with other seeds and many draws, without reading the program."""
        many = self._expected_of_many(exercise)
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
    ranges = re.findall(r"\b[Ll]ines? (\d+)(?: to (\d+))?", said)
    pointed = {line for first, last in ranges for line in range(int(first), int(last or first) + 1)}
    gone = any(re.search(rf"['`]{name}['`] (is not defined|is read before|where it is)", said) for name in mutant.unset)
    missing = gone or "no line of your class sets it" in said  # a line that is gone has no number
    return "located" if verdict.mistakes or pointed & set(mutant.lines) or missing else "vague"


MEASURED = re.compile(
    r"(?:[“`][^”`]*[”`]: |The \w+ result: )?"
    r"(Values differ|The shape is \(\d|Seen:|It stops|Two mistakes|The second|You return|Your function|Yours is|"
    r"Item \d|\d+ of \d+)"
)
"""Headlines that tell what was seen in one case, or that name two mistakes at once."""


@contextmanager
def _verdicts_before_reading() -> Iterator[list[Verdict]]:
    """The verdicts to which reading the program adds its sentences."""
    judged: list[Verdict] = []

    def kept(names: Any, known: Expectations, seen: Observation, verdict: Verdict, seconds: float) -> Verdict:
        judged.append(verdict)
        return read(names, known, seen, verdict, seconds)

    with mock.patch.object(reading, "read", kept):
        yield judged


def _claims(shown: Verdict, judged: Verdict) -> list[tuple[str, str]]:
    """The judge's sentences on a card that other cases can refute: the kind of each, and its text."""
    named = [("name", name) for name in judged.mistakes]
    of_the_judge = {one.headline for one in judged.diagnoses if not one.mistake and not MEASURED.match(one.headline)}
    conditions = [("condition", one.condition) for one in shown.diagnoses if one.condition]
    return [
        *named,
        *conditions,
        *(("headline", one.headline) for one in shown.diagnoses if one.headline in of_the_judge),
    ]


def _refuted(claims: list[tuple[str, str]], other: Verdict) -> list[str]:
    """Those of the sentences that are not said on the larger evidence."""
    if other.status != "wrong" or any(one.headline == "It did not finish." for one in other.diagnoses):
        return []  # what was too slow says nothing of the rest
    still = " ".join(f"{one.headline} {one.detail} {one.condition}" for one in other.diagnoses)

    def is_said(kind: str, text: str) -> bool:
        if kind == "name":
            return text in other.mistakes
        return text in still if kind == "condition" else _without_numbers(text) in _without_numbers(still)

    return [text for kind, text in claims if not is_said(kind, text)]


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
