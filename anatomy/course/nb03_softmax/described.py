"""What the judge says of the results of 03-softmax."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from anatomy.engine.describing import Description
from anatomy.engine.exercise import Case


def _rows_sum_to_one(value: Any, case: Case) -> str | None:
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.dim() == 0:
        return "The rows of what you return can't be summed."
    if (value < 0).any():
        return f"Weights are shares, so none is negative; your smallest is {value.min():.3g}."
    if bool(((value.sum(-1) - 1).abs() <= 1e-4).all()):
        return None
    return f"Each query's weights must sum to 1 over the keys; your first row sums to {value.sum(-1).flatten()[0]:.4g}."


DESCRIPTIONS = {"attention_weights": Description(rules={"rows sum to one": _rows_sum_to_one})}
