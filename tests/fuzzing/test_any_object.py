"""Whatever stands under an exercise's name, a check ends with a verdict or a named refusal, and never in itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anatomy.course import COURSE
from tests.fuzzing.checks import PARTS, examples, in_a_notebook, namespace_after, through_the_grader, tried_in
from tests.fuzzing.objects import cells
from tests.plenty import one_in


@pytest.mark.slow
@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_whatever_is_handed_in_is_judged(part: int, everything: bool) -> None:
    @examples(part, 18 if everything else 80)
    @given(st.sampled_from(tried_in(part)), cells)
    def judges(name: str, cell: str) -> None:
        exercise = COURSE.exercise(name)
        through_the_grader(exercise, namespace_after(exercise, cell))

    judges()


@pytest.mark.slow
@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_whatever_is_checked_in_a_notebook_gets_a_card(part: int, everything: bool) -> None:
    @examples(part, 4 if everything else 16)
    @given(st.sampled_from(tried_in(part)), cells)
    def checks(name: str, cell: str) -> None:
        exercise = COURSE.exercise(name)
        in_a_notebook(exercise, namespace_after(exercise, cell))

    checks()
