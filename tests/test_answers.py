"""Answers as text: each stands by itself, defines its exercise, and is worth what it is said to be."""

from __future__ import annotations

import random
import re

import pytest

from anatomy.course import COURSE
from anatomy.engine.answers import answer_bank
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observe import observe
from tests.plenty import one_in


def defined(book, answer):
    """What a cell with the answer's text, by itself, makes of the exercise's name."""
    namespace = {"__name__": "__main__"}
    exec(compile(answer_bank(COURSE, book).alone(answer), "<student>", "exec"), namespace)
    return namespace[answer.exercise]


def all_answers(book):
    return [
        answer
        for pool in (answer_bank(COURSE, book).right, answer_bank(COURSE, book).mistaken)
        for some in pool.values()
        for answer in some
    ]


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_every_answer_stands_by_itself(book):
    asked = COURSE.exercises(book)
    for answer in all_answers(book):
        assert not re.search(rf"\.wrong\b|{re.escape(COURSE.module(book, 'right'))}\b", answer.source)
        found = defined(book, answer)
        assert isinstance(found, dict) if asked[answer.exercise].kind == "quiz" else callable(found), answer.name
    mistaken = [answer.name for some in answer_bank(COURSE, book).mistaken.values() for answer in some]
    assert sorted(mistaken) == sorted(COURSE.mistakes_of(book)), "all of them can be cut out"
    assert all(some and some[0].name == "reference" for some in answer_bank(COURSE, book).right.values())


@pytest.mark.parametrize("book", one_in(7, COURSE.notebooks), ids=lambda book: book.slug)
@pytest.mark.slow
def test_some_answers_get_what_they_are_worth(book):
    asked, answers = COURSE.exercises(book), all_answers(book)
    for answer in random.Random(book.slug).sample(answers, min(8, len(answers))):
        exercise = asked[answer.exercise]
        verdict = judge(exercise, observe(exercise, defined(book, answer), SEEDS), SEEDS)
        assert verdict.points == answer.points(exercise), (answer.name, verdict.diagnoses)
