"""Forged observations, straight at the judge: who sends what nobody computed gets nothing for values and gradients."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor

from anatomy.course import COURSE
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observation import CaseObservation, Raised
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import decode, encode
from tests.plenty import one_in

SEEDS, OTHER_SEEDS = (4711,), (0,)


def everywhere(change):
    """An observation with `change` applied to each tensor and number of its values and gradients."""

    def walk(node):
        if isinstance(node, Tensor):
            return change(node)
        if isinstance(node, dict):
            return {key: walk(item) for key, item in node.items()}
        if isinstance(node, list):
            return [walk(item) for item in node]
        return float("nan") if isinstance(node, float) else node

    def forge(case):
        case.value, case.train, case.gradients = walk(case.value), walk(case.train), walk(case.gradients)

    return forge


def raises(case):
    vars(case).update(vars(CaseObservation("raised", error=Raised("ValueError", "no"))))


def says_nothing(case):
    case.value, case.gradients, case.linked = None, {}, True


def no_gradients_kept(case):
    case.value, case.gradients, case.linked = None, dict.fromkeys(case.gradients or ()), False


FORGERIES = {
    "not a number": everywhere(lambda t: torch.full_like(t, float("nan")) if t.is_floating_point() else t * 0 - 7),
    "ones": everywhere(torch.ones_like),
    "noise": everywhere(lambda t: torch.randn(t.shape).to(t.dtype)),
    "empty": everywhere(lambda t: t[:0] if t.dim() else torch.zeros(0, dtype=t.dtype)),
    "of complex numbers": everywhere(lambda t: torch.ones(t.shape, dtype=torch.complex64)),
    "of one number": everywhere(lambda t: torch.ones((1,) * t.dim(), dtype=t.dtype)),
    "errors": raises,
    "silence": says_nothing,
    "nothing linked": no_gradients_kept,
}
EXERCISES = [
    exercise
    for book in COURSE.notebooks
    for exercise in COURSE.exercises(book).values()
    if exercise.kind != "quiz" and {"values", "gradients"} & exercise.properties.keys()
]


FIRST = {exercise.notebook: exercise for exercise in reversed(EXERCISES)}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", one_in(6, EXERCISES), ids=lambda exercise: exercise.name)
def test_forged_observations_earn_nothing_for_values(exercise, monkeypatch):
    """Of each notebook's first exercise it is also asked which mistakes gave them, which takes most of the time."""
    if exercise is not FIRST[exercise.notebook]:
        monkeypatch.setattr("anatomy.engine.judging.judge.recognize", lambda *_: [])
    honest, old = (observe(exercise, exercise.right, seeds) for seeds in (SEEDS, OTHER_SEEDS))
    known = remembering()  # as in grading a class: what is expected is worked out once
    assert judge(exercise, honest, SEEDS, known).points == exercise.points
    if encode(honest)["tensors"] != encode(old)["tensors"]:  # a table of positions is the same on all inputs
        assert judge(exercise, old, SEEDS).status == "wrong", "an observation of other inputs"
    for name, forge in FORGERIES.items():
        forged = deepcopy(honest)
        for case in forged.cases:
            forge(case)
        if encode(forged) == encode(honest):
            continue  # it has no tensors to forge
        verdict = judge(exercise, decode(encode(forged)), SEEDS, known)
        assert not earned(verdict), name
        assert verdict.status == "wrong", name


def earned(verdict):
    return {one.property for one in verdict.results if one.passed} & {"values", "gradients"}
