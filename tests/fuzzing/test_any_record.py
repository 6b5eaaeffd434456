"""Whatever a kernel sends as a record, the judge ends with a verdict or refuses to read it, and is never generous."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from anatomy.course import COURSE
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing.records import encode
from tests.fuzzing.checks import PARTS, examples, judged, observed, tried_in
from tests.fuzzing.records import Change, changes, damaged
from tests.plenty import one_in


class _Nothing(nn.Module):
    def __init__(self, *_: Any) -> None:
        super().__init__()

    def forward(self, *_: Any) -> None:
        return None


_NOTHING: dict[str, Any] = {"function": lambda *_: None, "module": _Nothing, "quiz": {"a question": "an answer"}}
"""Answers that answer nothing."""


@cache
def _record(name: str, right: bool) -> dict[str, Any]:
    exercise = COURSE.exercise(name)
    answer = exercise.right if right else _NOTHING[exercise.kind]
    return encode(observed(exercise, answer))


@pytest.mark.slow
@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_whatever_arrives_is_judged(part: int, everything: bool) -> None:
    @examples(part, 18 if everything else 80)
    @given(st.sampled_from(tried_in(part)), st.booleans(), changes)
    def judges(name: str, right: bool, what: list[Change]) -> None:
        record = damaged(_record(name, right), what)
        exercise = COURSE.exercise(name)
        verdict = judged(exercise, json.dumps(record).encode())
        if isinstance(verdict, Verdict) and not right:
            assert verdict.points < verdict.max_points or (not exercise.points and verdict.status != "right")

    judges()
