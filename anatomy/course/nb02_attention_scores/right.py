"""Right answers of 02-attention-scores: QKᵀ/√d (Vaswani et al. 2017, "Attention Is All You Need", §3.2.1)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dot_product_scores(query: Tensor, key: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, S)
    """The dot product of every query with every key of the same batch item, unscaled.

    Parameters
    ----------
    query
        (B, T, D), one row per token that asks.
    key
        (B, S, D), one row per token that may answer; S and T may differ.

    Returns
    -------
    Tensor
        (B, T, S); entry [b, t, s] says how well key s fits query t.

    Raises
    ------
    RuntimeError
        When the widths or the batch sizes differ (raised by the matrix product).

    Source: Vaswani et al. 2017, §3.2.1, the product QKᵀ of equation 1.
    """
    return query @ key.transpose(-2, -1)  # (B, T, D) @ (B, D, S) -> (B, T, S)


def scaled_scores(query: Tensor, key: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, S)
    """Dot-product scores divided by √D, so that their size does not depend on the width.

    Shapes and errors as for `dot_product_scores`; D is the width of the vectors that are multiplied
    (after projection: K, the head width, which the paper calls d_k).

    Source: Vaswani et al. 2017, §3.2.1, equation 1 and footnote 4.
    """
    return dot_product_scores(query, key) / math.sqrt(query.size(-1))  # (B, T, S)


def score_variance(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    """The measured variance of q·k, unscaled and scaled, for components drawn from the standard normal distribution.

    Parameters
    ----------
    dim
        D, the number of components of each query and each key.
    samples
        N, how many independent pairs of a query and a key to draw; at least 2.
    generator
        The only source of randomness; it is advanced by the draws.

    Returns
    -------
    tuple of two Python floats
        The variance of the N dot products, and that of the same dot products divided by √D. They estimate D and 1
        with a relative standard error of √((2 + 6/D) / N).

    Source: Vaswani et al. 2017, §3.2.1, footnote 4 (mean 0, variance d_k).
    """
    query = torch.randn(samples, dim, generator=generator)  # (N, D)
    key = torch.randn(samples, dim, generator=generator)  # (N, D)
    scores = (query * key).sum(dim=-1)  # (N,)
    scaled = scores / math.sqrt(dim)  # (N,)
    return scores.var().item(), scaled.var().item()


def project(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:  # (B, T, D), (D, K), (D, K) -> 2 x (B, T, K)
    """Queries and keys of one sequence: the same rows seen through two matrices.

    Parameters
    ----------
    x
        (B, T, D), one row per token.
    w_q, w_k
        (D, K), the query and the key projection.

    Returns
    -------
    tuple of two tensors
        (queries, keys), both (B, T, K).

    Raises
    ------
    RuntimeError
        When the width of `x` is not the number of rows of a projection (raised by the matrix product).

    Source: Vaswani et al. 2017, §3.2.2, the products QW^Q and KW^K for one head.
    """
    return x @ w_q, x @ w_k  # (B, T, K), (B, T, K)


quiz_scaling = {
    "variance": "grows ninefold",
    "ranking": "the same key",
    "weights": "nearly one-hot",
    "gradients": "almost nothing",
    "mirror": "they are equal",
    "divisor": "the 64 of w_q",
}
