"""What the judge says of the results of 10-encoder-decoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from anatomy.descriptions import Description
from anatomy.exercises.spec import Case


def _may_look(mask: Any, case: Case) -> Any:
    """Where the mask lets a query look, as (B, 1, T, T): numbers that forbid by being added to scores are as good."""
    if not isinstance(mask, Tensor):
        return mask
    sizes = case.sizes
    if mask.is_floating_point():
        shown = mask > -1e4
        if not mask.isnan().any() and len(mask[shown].unique()) < 2 and mask.amax() < torch.inf:
            mask = shown  # what is added to all that is shown makes no difference to a softmax
    whole = (sizes["B"], 1, sizes["T"], sizes["T"])
    fits = mask.dim() <= 4 and all(mine in (1, size) for mine, size in zip(mask.shape[::-1], whole[::-1], strict=False))
    return mask.expand(whole) if fits else mask


DESCRIPTIONS = {
    "decoder_mask": Description(describe=_may_look),
}
