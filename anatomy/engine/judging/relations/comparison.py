"""What a finder of relations compares."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.observing.plain_data import ROUNDING


@dataclass(frozen=True)
class Comparison:
    """Both tensors (float64), the case, and the words for the axes.

    `others` are the further cases that differ in the same way. `main` marks the case that the explanation speaks of. An
    axis of size 1 shows nothing in the main case, and contradicts nothing in the others.
    """

    found: Tensor
    expected: Tensor
    case: Case
    axes: tuple[str, ...] = ()
    others: tuple[Comparison, ...] = ()
    main: bool = False

    def axis(self, index: int) -> str:
        return f"axis {index} ({self.axes[index]})" if index < len(self.axes) else f"axis {index}"

    def place(self, index: int) -> str:
        """An axis in words that hold in every case: its name, or its place counted from the last axis."""
        return self.axes[index] if index < len(self.axes) else str(index - self.expected.dim())


def alike(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are equal up to rounding. Tensors of zeros are not: they show nothing."""
    if left.shape != right.shape or left.numel() == 0 or not (left.isfinite().all() and right.isfinite().all()):
        return False
    size = right.abs().max()
    return bool(size > 0 and (left - right).abs().max() <= 8 * ROUNDING * size)


def constant_ratio(found: Tensor, expected: Tensor) -> float | None:
    """The number c with found = c · expected and c ≠ 1, or None."""
    if found.shape != expected.shape or not found.isfinite().all() or not expected.isfinite().all():
        return None
    if found.numel() < 2 or not (norm := (expected * expected).sum()) > 0:
        return None
    ratio = float((found * expected).sum() / norm)
    if abs(ratio) < 1e-9 or math.isclose(ratio, 1, rel_tol=1e-4):
        return None
    return ratio if alike(found, ratio * expected) else None
