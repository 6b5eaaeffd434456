"""Right answers of 00-start-here: all dot products in a batch, and the three types of Transformer."""

from __future__ import annotations

from torch import Tensor


def pairwise_dot(x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, T)
    """The dot product of every row with every row of the same batch item, itself included.

    Parameters
    ----------
    x
        (B, T, D), T rows of D numbers in each of B batch items.

    Returns
    -------
    Tensor
        (B, T, T); entry [b, i, j] is the dot product of rows i and j of item b. Symmetric in i and j.

    Raises
    ------
    RuntimeError
        When `x` has no axis of rows (raised by the matrix product).

    Source: with every row asking every row, the product QKᵀ of Vaswani et al. 2017, §3.2.1, equation 1.
    """
    return x @ x.transpose(-2, -1)  # (B, T, D) @ (B, D, T) -> (B, T, T)


quiz_types = {
    "noun or verb": "encoder",
    "continue a story": "decoder",
    "translate": "encoder-decoder",
    "never looks right": "decoder",
    "bridge": "encoder-decoder",
    "find similar texts": "encoder",
}
