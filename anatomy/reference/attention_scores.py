"""Right answers of 02-attention-scores: QKᵀ/√d (Vaswani et al. 2017, §3.2.1)."""

from __future__ import annotations

import math

from torch import Tensor


def dot_product_scores(query: Tensor, key: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, S)
    """All dot products of queries with keys."""
    return query @ key.transpose(-2, -1)  # (B, T, D) @ (B, D, S) -> (B, T, S)


def scaled_scores(query: Tensor, key: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, S)
    """Dot products divided by the root of the width, so that their variance does not grow with it."""
    return dot_product_scores(query, key) / math.sqrt(query.size(-1))
