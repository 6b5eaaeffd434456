"""A result that later calls change is told of; one that they leave alone is not."""

from __future__ import annotations

import torch

from anatomy.course import COURSE
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observe import OVERWRITTEN, observe

SCORES = COURSE.exercise("dot_product_scores")
TABLE = torch.zeros(64, 64, 64)


def into_one_table(query, key):
    """Each call writes into the same memory."""
    scores = query @ key.mT
    out = TABLE[tuple(slice(size) for size in scores.shape)]
    return out.copy_(scores.detach()) + 0 * scores if torch.is_grad_enabled() else out.copy_(scores)


def test_a_result_that_later_calls_change_is_told_of() -> None:
    seen = observe(SCORES, into_one_table)
    assert seen.cases[0].again[-1] == OVERWRITTEN
    verdict = judge(SCORES, seen)
    assert verdict.status == "wrong"
    assert verdict.diagnoses[0].headline == "A later call changes what an earlier one has returned."


def test_a_result_that_stays_is_not() -> None:
    assert observe(SCORES, SCORES.right).cases[0].again == []
