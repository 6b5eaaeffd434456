"""Right answers note what their expressions give."""

from __future__ import annotations

import pytest

from anatomy.course import COURSE
from anatomy.engine.reading.recording import of_right_answers


@pytest.mark.parametrize("notebook", COURSE.notebooks, ids=lambda notebook: notebook.slug)
def test_every_right_answer_is_a_program_when_its_values_are_noted(notebook):
    asked = [one for one in COURSE.exercises(notebook).values() if one.kind != "quiz"]
    assert all(right.build() for one in asked if one.right for right in of_right_answers(one))
