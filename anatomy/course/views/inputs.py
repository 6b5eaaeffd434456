"""What a view is given: numbers of the right shape, and one label for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


def as_array(values: Any, what: str = "values", ndim: int | None = None) -> np.ndarray:
    """Tensor, array or nested list as a float array.

    Raises ValueError with the shape if it has not `ndim` axes, or is empty.
    """
    if isinstance(values, torch.Tensor):
        values = values.detach().to("cpu", torch.float64).numpy()
    array = np.asarray(values, dtype=float)
    if ndim is not None and array.ndim != ndim:
        hint = " Pick one item first, such as x[0]." if array.ndim > ndim else ""
        raise ValueError(f"{what} must have {ndim} axes, but its shape is {tuple(array.shape)}.{hint}")
    if array.size == 0:
        raise ValueError(f"{what} is empty (shape {tuple(array.shape)}): there is nothing to draw")
    return array


def check_labels(labels: Sequence[Any] | None, size: int, what: str) -> list[str]:
    """`labels` as strings, or 0, 1, 2 … when None. Raises ValueError unless there is one for each of `size` entries."""
    if labels is None:
        return [str(index) for index in range(size)]
    if len(labels) != size:
        raise ValueError(
            f"{what}: {len(labels)} labels for {size} entries. Give one label per entry, or None for numbers."
        )
    return [str(label) for label in labels]
