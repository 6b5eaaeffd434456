"""What a card says of a mistake: with the sizes of the case, and beside a second one only what is true of both."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from anatomy.course import COURSE
from anatomy.engine.exercise import Case
from anatomy.engine.judging.sentences import diagnoses_of_two, diagnosis_of, named
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.mistakes import Mistake

FRAGMENTS = {"Still", "In", "Not", "Cut", "As", "Wrapped", "Off"}

MISTAKE = partial(Mistake, "scores__wrong", breaks=())


@pytest.mark.parametrize(
    ("sentence", "with_sizes", "without"),
    [
        ("You divide by D = {D}, not by √D = {root_D}.", "You divide by D = 4, not by √D = 2.",
         "You divide by D, not by √D."),
        ("Too small by {D}. Here D = {D}.", "Too small by 4. Here D = 4.", "Too small by D."),
        ("With T = D you would not notice; here D = {D}.", "With T = D you would not notice; here D = 4.",
         "With T = D you would not notice."),
        ("Divide by √D (here {root_D}). Keep it.", "Divide by √D (here 2). Keep it.", "Divide by √D. Keep it."),
    ],
)  # fmt: skip
def test_a_sentence_ends_and_keeps_its_beginning_where_a_case_has_other_sizes(sentence, with_sizes, without):
    for sizes, said in (({"D": 4}, with_sizes), ({"K": 4}, without)):
        assert diagnosis_of(MISTAKE(sentence), Case({}, sizes=sizes)).headline == said


def test_of_two_mistakes_none_says_that_the_rest_is_right():
    pair = MISTAKE("The values are right, but no gradient passes."), MISTAKE("Right for small scores, but 89 is not.")
    found = diagnoses_of_two(*((one, Case({})) for one in pair))
    assert [one.headline for one in found] == [
        "Two mistakes at once. (1) No gradient passes.",
        "(2) 89 is not.",
    ]
    other = replace(found[1], mistake="scores__other")
    assert named([found[0], other, Diagnosis("A hint.")]) == {
        "scores__wrong": "No gradient passes.", "scores__other": "89 is not.",
    }  # fmt: skip


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_what_is_left_beside_a_second_mistake_is_a_sentence(book):
    """Where a sentence begins with what is right, its second part stands alone: "but they are still tensors"."""
    for wrong in (wrong for exercise in COURSE.exercises(book).values() for wrong in exercise.mistakes.values()):
        said = diagnoses_of_two((wrong, Case({})), (wrong, Case({})))[1].headline.removeprefix("(2) ")
        assert said.split()[0] not in FRAGMENTS or said == diagnosis_of(wrong, Case({})).headline, wrong.name
