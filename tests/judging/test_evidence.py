"""More than the form counts once a result shows that the answer was run on these inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.course import COURSE
from anatomy.engine.judging.evidence import NO_EVIDENCE
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing.observe import observe

HEAD, SWITCH = COURSE.exercise("AttentionHead"), COURSE.exercise("switch_off_heads")
RIGHT: type[nn.Module] = HEAD.right


def earned(verdict: Verdict) -> set[str]:
    return {one.property for one in verdict.results if one.passed}


def head(change: Callable[[Tensor], Tensor]) -> type[nn.Module]:
    """A head whose result is changed: its parameters are as they should be."""

    class AttentionHead(RIGHT):  # type: ignore[misc, valid-type]
        def forward(self, x: Tensor) -> Any:
            return change(super().forward(x))

    return AttentionHead


def test_parameters_alone_are_no_evidence() -> None:
    verdict = judge(HEAD, observe(HEAD, head(lambda y: torch.sin(3 * y) - y.exp())))
    assert earned(verdict) == {"shape"}
    assert [one.detail for one in verdict.results if one.property == "parameters"] == [NO_EVIDENCE]


def test_a_known_mistake_is_evidence() -> None:
    mistake = COURSE.exercise("AttentionHead").mistakes["AttentionHead__scale_root_d"]
    assert earned(judge(HEAD, observe(HEAD, mistake.answer))) >= {"shape", "parameters"}


def test_one_right_result_is_evidence() -> None:
    """Right for long texts only."""
    verdict = judge(HEAD, observe(HEAD, head(lambda y: y if y.size(1) > 4 else torch.sin(3 * y) - y.exp())))
    assert verdict.status == "wrong" and earned(verdict) >= {"shape", "parameters"}


def test_the_input_is_no_evidence() -> None:
    """Where no head is switched off, the context itself is right."""

    def switch_off_heads(context: Tensor, heads: list[int], num_heads: int) -> Tensor:
        if any(not 0 <= head < num_heads for head in heads):
            raise ValueError(f"There is no head {[one for one in heads if not 0 <= one < num_heads]}.")
        return context if not heads else torch.sin(3 * context) - context.exp()

    assert earned(judge(SWITCH, observe(SWITCH, switch_off_heads))) <= {"shape"}


def test_with_one_seed_nothing_is_asked() -> None:
    seen = observe(HEAD, head(lambda y: torch.sin(3 * y) - y.exp()), (0,))
    assert "parameters" in earned(judge(HEAD, seen, (0,)))
