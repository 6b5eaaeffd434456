"""Every exercise, through observe and judge: right answers pass, wrong ones fail and are named, stubs score nothing.

With the seeds of a student's own notebook; of the many wrong answers, all but the first of each exercise with the first
of these seeds if that is enough. tests/grading/test_class.py tries some of each again with others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from anatomy.course import COURSE
from anatomy.engine.cards import as_html, as_text
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.mistakes import Mistake
from anatomy.engine.observing.observe import MISSING, observe
from anatomy.engine.observing.records import decode, encode
from tests.plenty import is_taken, one_in

GENERAL = ("shape", "values", "gradients", "parameters", "train mode")
"""Properties that the judge knows how to compare in every case; all others belong to cases that name them."""

QUICK, SOME = 3, 64
"""The quick part tries every so many exercises, with the first mistake; a plain run all, and one mistake in so many."""


def all_exercises() -> list[Exercise]:
    return [exercise for notebook in COURSE.notebooks for exercise in COURSE.exercises(notebook).values()]


def all_variants() -> Iterator[tuple[str, Exercise, Any]]:
    for notebook in COURSE.notebooks:
        known = COURSE.exercises(notebook)
        for name, answer in COURSE.also_right(notebook).items():
            yield name, known[name.partition("__")[0]], answer


def all_mistakes() -> Iterator[Mistake]:
    for notebook in COURSE.notebooks:
        yield from COURSE.mistakes_of(notebook).values()


def each_mistake() -> Iterator[Any]:
    """All of them, and the seeds to try them with."""
    met: Counter[str] = Counter()
    for wrong in all_mistakes():
        number = met[wrong.exercise]
        met[wrong.exercise] += 1
        if not number:
            marks = [pytest.mark.slow] * (len(met) % QUICK > 0)
            yield pytest.param(wrong, SEEDS, id=wrong.name, marks=marks)
        elif is_taken(number, SOME):
            yield pytest.param(wrong, SEEDS[:1], id=wrong.name, marks=pytest.mark.slow)


def is_named_as_itself(wrong: Mistake, verdict: Verdict) -> bool:
    return verdict.mistakes[:1] == [wrong.name] and broken(verdict) == set(wrong.breaks)


def broken(verdict: Verdict) -> set[str]:
    return {result.property for result in verdict.results if not result.passed}


expectations_of = remembering(8)
"""What the reference and the mistakes do, observed once, as in grading a class: an exercise's tests follow each other.
For all exercises that takes gigabytes, and copies of the process take longer."""


def verdict_on(exercise: Exercise, answer: Any) -> Verdict:
    """As in grading: the observation crosses the line between kernel and grader."""
    torch.set_num_threads(1)
    return judge(exercise, decode(encode(observe(exercise, answer))), SEEDS, expectations_of)


def verdict_on_mistake(wrong: Mistake, seeds: tuple[int, ...]) -> Verdict:
    exercise = COURSE.exercise(wrong.exercise)
    seen = observe(exercise, wrong.answer, seeds)
    expectations_of(exercise, seeds).remember(wrong, seen.cases)
    return judge(exercise, decode(encode(seen)), seeds, expectations_of)


by_name = pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.name)
some_by_name = pytest.mark.parametrize("exercise", one_in(3, all_exercises()), ids=lambda exercise: exercise.name)


@pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(exercise, id=exercise.name, marks=[pytest.mark.slow] * (number % QUICK > 0))
        for number, exercise in enumerate(all_exercises())
    ],
)
def test_the_reference_gets_full_marks(exercise: Exercise) -> None:
    verdict = verdict_on(exercise, exercise.right)
    assert (verdict.status, verdict.points) == ("right", exercise.points), as_text(verdict)


@some_by_name
def test_the_reference_stops_only_where_it_refuses(exercise: Exercise) -> None:
    """An error in our own code would be the same for every answer, and so be right for all."""
    raised = [case.error for case in observe(exercise, exercise.right).cases if case.error]
    assert not [
        error for error in raised if error.type in ("TypeError", "AttributeError", "NameError", "UnboundLocalError")
    ]


@by_name
def test_what_is_not_written_is_not_attempted(exercise: Exercise) -> None:
    def stub(*_: Any) -> None:
        raise NotImplementedError

    class Stub(torch.nn.Module):
        def __init__(self, *_: Any) -> None:
            super().__init__()
            raise NotImplementedError

    written = {"function": stub, "module": Stub, "quiz": {"1": "..."}}[exercise.kind]
    for answer in (MISSING, written):
        verdict = verdict_on(exercise, answer)
        assert (verdict.status, verdict.points) == ("not attempted", 0)


@pytest.mark.parametrize("exercise", one_in(12, all_exercises()), ids=lambda exercise: exercise.name)
@pytest.mark.slow
def test_what_is_of_another_kind_is_said_not_crashed(exercise: Exercise) -> None:
    for answer in (3, "text", None, [], lambda *_: None, lambda *_: "text", lambda *_: torch.zeros(0), dict, object()):
        verdict = verdict_on(exercise, answer)
        assert verdict.status in ("wrong", "not attempted")
        assert verdict.points < exercise.points or not exercise.points
        assert verdict.diagnoses and as_html(verdict)


@by_name
def test_properties_are_decided_by_something(exercise: Exercise) -> None:
    """Each property is general, has cases of its own, or a rule; points are positive, or all 0."""
    asked = {case.asks for case in exercise.cases((0,))}
    for name, points in exercise.properties.items():
        assert points > 0 or not exercise.points
        assert exercise.kind == "quiz" or name in GENERAL or name in asked or name in COURSE.described(exercise).rules
    assert asked <= {None, *exercise.properties}


@some_by_name
@pytest.mark.slow
def test_the_same_seed_gives_the_same_cases(exercise: Exercise) -> None:
    answer = exercise.right
    first, again = (observe(exercise, answer, (3,)) for _ in range(2))
    assert encode(first) == encode(again)


@pytest.mark.parametrize("wrong, seeds", each_mistake())
def test_a_mistake_fails_and_is_named_as_itself(wrong: Mistake, seeds: tuple[int, ...]) -> None:
    verdict = verdict_on_mistake(wrong, seeds)
    if not is_named_as_itself(wrong, verdict):
        verdict = verdict_on_mistake(wrong, SEEDS)  # what chance hid in one try shows in two, as in a notebook
    assert verdict.status == "wrong", as_text(verdict)
    assert wrong.name in verdict.mistakes, as_text(verdict)
    assert verdict.mistakes[0] == wrong.name, f"named as {verdict.mistakes[0]} first"
    assert broken(verdict) == set(wrong.breaks), as_text(verdict)


VARIANT_LIST = list(all_variants())


@pytest.mark.parametrize(
    "name, exercise, answer",
    [pytest.param(*variant, id=variant[0]) for variant in one_in(8, VARIANT_LIST)],
)
@pytest.mark.slow
def test_a_variant_gets_full_marks(name: str, exercise: Exercise, answer: Any) -> None:
    verdict = verdict_on(exercise, answer)
    assert (verdict.status, verdict.points) == ("right", exercise.points), as_text(verdict)


@by_name
def test_there_are_enough_of_each(exercise: Exercise) -> None:
    variants = [name for name, of, _ in VARIANT_LIST if of is exercise]
    wrong = [one for one in all_mistakes() if one.exercise == exercise.name]
    assert len(variants) >= 3, f"{exercise.name} has {len(variants)} variants"
    assert len(wrong) >= 3, f"{exercise.name} has {len(wrong)} mistakes"


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\nnotebook              exercises  points  mistakes  variants")
        total = [0, 0, 0, 0]
        for notebook in COURSE.notebooks:
            known = COURSE.exercises(notebook)
            row = [
                len(known),
                sum(exercise.points for exercise in known.values()),
                len(COURSE.mistakes_of(notebook)),
                sum(exercise.notebook == notebook for _, exercise, _ in VARIANT_LIST),
            ]
            total = [have + more for have, more in zip(total, row, strict=True)]
            print(f"{notebook.slug:<22}" + "{:>9}{:>8}{:>16}{:>10}".format(*row))
        print(f"{'all':<22}" + "{:>9}{:>8}{:>16}{:>10}".format(*total))
    assert all(total)
