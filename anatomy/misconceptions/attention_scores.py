"""Wrong answers to the exercises of 02-attention-scores."""

from __future__ import annotations

from torch import Tensor

from anatomy.misconceptions import misconception


@misconception(
    "You divide by D, not by √D: with D = {D} the scores come out {root_D} times too small.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_d(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / query.size(-1)
