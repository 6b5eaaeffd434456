"""What `inputs` draw: cases that the contract allows, on which all right answers agree."""

from __future__ import annotations

import re

import pytest

from anatomy.course import COURSE
from anatomy.engine.exercise import DRAWN
from tests.exercises.domains import DRAWS, Domain, variants
from tests.plenty import one_in

ASKED = [one for book in COURSE.notebooks for one in COURSE.exercises(book).values() if one.inputs]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", one_in(4, ASKED), ids=lambda exercise: exercise.name)
def test_right_answers_agree_on_every_draw(exercise, everything):
    domain = Domain(exercise, DRAWS if everything else 20)
    assert any(seen.outcome == "returned" for seen in domain.expected)
    for name, answer in variants(exercise).items():
        assert not list(domain.differences(answer)), name


@pytest.mark.parametrize("exercise", ASKED, ids=lambda exercise: exercise.name)
def test_a_draw_is_the_same_for_the_same_seed_and_another_for_another(exercise):
    drawn = [[re.sub(" at 0x[0-9a-f]+", "", repr(case)) for case in exercise.draws(seed, DRAWN)] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) > 1
