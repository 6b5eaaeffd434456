"""What is tried, and the ways of an answer to its card: in a notebook, and through the grader."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, cycle, islice
from typing import Any

from hypothesis import HealthCheck, seed, settings

from anatomy.classroom.grading.few_numbers import in_few_numbers
from anatomy.course import COURSE
from anatomy.engine.cards import as_html, as_text, headline
from anatomy.engine.checking import verdict_in_notebook
from anatomy.engine.checking.looking import look_for_marks
from anatomy.engine.checking.progress_file import fingerprint
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.records import Unreadable, decode, encode
from tests.fuzzing.objects import PRELUDE

PARTS = 34
"""So many parts make all of a test. A plain run takes the first, and three times as many examples of it."""

_TAKEN = {"function": 3, "module": 1, "quiz": 1}
"""How many exercises of each kind a part tries."""

_cells = count()


def examples(part: int, number: int) -> Callable[[Any], Any]:
    """So many examples, the same in every run and others in each part."""
    tries = settings(max_examples=number, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    return lambda test: seed(part)(tries(test))


def tried_in(part: int) -> list[str]:
    """The exercises that a part tries: some of each kind, and all of the course in all parts together."""
    every = [exercise for book in COURSE.notebooks for exercise in COURSE.exercises(book).values()]
    chosen: list[str] = []
    for kind, number in _TAKEN.items():
        alike = [exercise.name for exercise in every if exercise.kind == kind]
        chosen += islice(cycle(alike), part * number, (part + 1) * number)
    return chosen


expectations_of = remembering(8)
"""What is expected of the exercises that a part tries, worked out once."""


def namespace_after(exercise: Exercise, cell: str) -> dict[str, Any]:
    """The names of a notebook after this cell, whether it stops or not; ``NAME`` in it is the exercise's."""
    source, filename = cell.replace("NAME", exercise.name), f"<student {next(_cells)}>"
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    namespace = _prelude() | {"right": exercise.right}
    with contextlib.suppress(BaseException), _quietly():
        exec(compile(source, filename, "exec", dont_inherit=True), namespace)
    return namespace


def through_the_grader(exercise: Exercise, namespace: dict[str, Any]) -> Verdict | Unreadable:
    """Look, write the record down as a kernel's message, read it, judge, and show the card."""
    with _quietly():
        record = encode(look_for_marks(exercise, namespace, SEEDS))
    return judged(exercise, json.dumps(record, ensure_ascii=False, allow_nan=False).encode())


def judged(exercise: Exercise, message: bytes) -> Verdict | Unreadable:
    """The verdict on a record that came as a message, or why it can't be read."""
    try:
        observation = decode(json.loads(message))
    except Unreadable as refusal:
        return refusal
    expectations_of(exercise, SEEDS)  # what a reference warns of is another matter
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # a student would see it, and made no such mistake
        verdict = shown(judge(exercise, observation, SEEDS, expectations_of))
    in_few_numbers(observation)  # for the class report
    return verdict


def in_a_notebook(exercise: Exercise, namespace: dict[str, Any]) -> Verdict:
    """Look, judge, read and show in one process, as a student's own notebook does."""
    with _quietly():
        verdict = verdict_in_notebook(exercise, namespace, expectations_of)
    fingerprint(namespace.get(exercise.name))
    return shown(verdict)


def shown(verdict: Verdict) -> Verdict:
    """The verdict, whose cards could be shown and sent."""
    for text in (headline(verdict), as_text(verdict), as_html(verdict)):
        assert text.encode()
    json.dumps(verdict.as_dict())
    assert 0 <= verdict.points <= verdict.max_points
    return verdict


def observed(exercise: Exercise, answer: Any) -> Observation:
    """What a grader's kernel sees of an answer."""
    with _quietly():
        return look_for_marks(exercise, {exercise.name: answer}, SEEDS)


@cache
def _prelude() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(PRELUDE, names)
    return names


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
