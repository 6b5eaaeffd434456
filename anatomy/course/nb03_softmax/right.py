"""Right answers of 03-softmax: from scores to weights, and from weights to what a token takes in.

Sources: the name and the function, Bridle 1990; shifted by the maximum, Blanchard, Higham and Higham 2021, §1;
attention, Vaswani et al. 2017, §3.2.1, equation 1; entropy, Shannon 1948, §6.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anatomy.course.nb02_attention_scores.right import scaled_scores


def softmax(x: Tensor, dim: int) -> Tensor:  # any shape -> the same shape
    """Positive shares that sum to one along `dim`, in proportion to the exponentials of `x`.

    The largest entry of each slice is subtracted first. It cancels in the fraction, and then no exponent is above zero,
    so nothing overflows; one term is exp(0) = 1, so no sum is zero.

    Parameters
    ----------
    x
        Scores of any shape, finite.
    dim
        The axis whose entries compete; negative axes count from the end.

    Returns
    -------
    Tensor
        The shape of `x`; every slice along `dim` sums to one.

    Raises
    ------
    IndexError
        When `x` has no axis `dim` (raised by the maximum).

    Source: Bridle 1990; the shift: Blanchard, Higham and Higham 2021, §1.
    """
    shifted = x - x.amax(dim=dim, keepdim=True)  # the largest entry of each slice is now 0
    exponentials = shifted.exp()  # between 0 and 1
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


def attention_weights(query: Tensor, key: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, S)
    """How each query shares out its attention among the keys.

    Parameters
    ----------
    query
        (B, T, D), one row per token that asks.
    key
        (B, S, D), one row per token that may answer.

    Returns
    -------
    Tensor
        (B, T, S); every row [b, t] sums to one over the keys.

    Raises
    ------
    RuntimeError
        When the widths or the batch sizes differ (raised by the matrix product).

    Source: Vaswani et al. 2017, §3.2.1, equation 1, without V.
    """
    return softmax(scaled_scores(query, key), dim=-1)  # (B, T, S)


def weighted_values(weights: Tensor, value: Tensor) -> Tensor:  # (B, T, S), (B, S, Dv) -> (B, T, Dv)
    """For each query the sum of all value rows, each times its weight.

    Parameters
    ----------
    weights
        (B, T, S), used as they come: rows need not sum to one (dropout on weights breaks that).
    value
        (B, S, Dv), one row per key: what that token hands over.

    Returns
    -------
    Tensor
        (B, T, Dv), one mixture per query.

    Raises
    ------
    RuntimeError
        When the numbers of keys or the batch sizes differ (raised by the matrix product).

    Source: Vaswani et al. 2017, §3.2: "the output is computed as a weighted sum of the values".
    """
    return weights @ value  # (B, T, S) @ (B, S, Dv) -> (B, T, Dv)


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    # (..., T, K), (..., S, K), (..., S, Dv) -> (..., T, Dv)
    """Softmax(QKᵀ/√d_k)·V, over any leading axes.

    Equals the function of this name in `torch.nn.functional`, without its options (mask, dropout, another scale).

    Parameters
    ----------
    query, key
        (..., T, K) and (..., S, K): leading axes (batch, heads, none) agree, T and S may differ.
    value
        (..., S, Dv); Dv and K may differ.

    Returns
    -------
    Tensor
        (..., T, Dv).

    Raises
    ------
    RuntimeError
        When sizes that must agree differ (raised by the matrix products).

    Source: Vaswani et al. 2017, §3.2.1, equation 1.
    """
    return weighted_values(attention_weights(query, key), value)


def attention_entropy(weights: Tensor) -> Tensor:  # (..., T, S) -> (..., T)
    """The entropy −Σ w·ln w of each query's weights: how widely its attention is spread.

    Parameters
    ----------
    weights
        (..., T, S), none negative, each row summing to one.

    Returns
    -------
    Tensor
        (..., T), in nats: 0 when one key has all the weight, ln S when all keys have the same.
        A weight of exactly 0 adds 0, the limit of w·ln w. The slope there is infinite; the gradient of this version is
        large but finite, of others ∞ or NaN.

    Source: Shannon 1948, §6.
    """
    surprise = -weights.clamp(min=torch.finfo(weights.dtype).tiny).log()  # (..., T, S), finite where a weight is 0
    return (weights * surprise).sum(dim=-1)
