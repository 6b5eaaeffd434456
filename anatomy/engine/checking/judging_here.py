"""A verdict that is reached in the notebook's own kernel, and how long that may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.observing.surroundings import as_at_start

if TYPE_CHECKING:
    from anatomy.engine.judging.expectations import Expectations
    from anatomy.engine.judging.verdict import Verdict

PATIENCE = 1.2
"""Seconds of computing after which a check should end; reading the answer has what looking and judging left of them."""

LEAST, MOST = 0.5, 0.7
"""Seconds of computing that reading has in any case, and at most."""


def verdict_in_notebook(
    exercise: Exercise, namespace: dict[str, Any], expectations_of: Callable[[Exercise, tuple[int, ...]], Expectations]
) -> Verdict:
    """What a check finds in a student's own notebook: it looks, judges, and reads the answer where that names nothing.

    `namespace` holds the notebook's names.
    """
    from anatomy.engine.checking.looking import look_in_notebook
    from anatomy.engine.judging.judge import judge

    began = time.thread_time()
    with as_at_start():
        seen = look_in_notebook(exercise, namespace, expectations_of)
        verdict = judge(exercise, seen, expectations_of=expectations_of)
        if verdict.status == "wrong" and not any(case.outcome == "too slow" for case in seen.cases):
            from anatomy.engine.reading import read

            left = PATIENCE - (time.thread_time() - began)
            verdict = read(namespace, expectations_of(exercise, SEEDS), seen, verdict, min(max(left, LEAST), MOST))
    return verdict
