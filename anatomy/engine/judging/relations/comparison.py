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
        if index < len(self.axes):
            return f"axis {index} ({self.axes[index]})"
        return f"axis {index} (`dim`)" if index == axis_of_dim(self.case, self.expected.dim()) else f"axis {index}"

    def place(self, index: int) -> str:
        """An axis in words that hold in every case: its name, `dim`, or its place counted from the last axis."""
        if index < len(self.axes):
            return self.axes[index]
        return "dim" if index == axis_of_dim(self.case, self.expected.dim()) else str(index - self.expected.dim())


def axis_of_dim(case: Case, axes: int) -> int | None:
    """The axis that the argument `dim` of a case means among so many, counted from 0."""
    dim = case.args.get("dim")
    return dim % axes if isinstance(dim, int) and -axes <= dim < axes else None


def alike(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are equal up to rounding. Tensors of zeros are not: they show nothing."""
    if left.shape != right.shape or left.numel() == 0 or not (left.isfinite().all() and right.isfinite().all()):
        return False
    size = right.abs().max()
    return bool(size > 0 and (left - right).abs().max() <= 8 * ROUNDING * size)


def constant_ratio(found: Tensor, expected: Tensor) -> float | None:
    """The number c with found = c · expected, where c is not next to 1, or None."""
    if found.shape != expected.shape or not found.isfinite().all() or not expected.isfinite().all():
        return None
    if found.numel() < 2 or not (norm := (expected * expected).sum()) > 0:
        return None
    ratio = float((found * expected).sum() / norm)
    if abs(ratio) < 1e-9 or math.isclose(ratio, 1, rel_tol=1e-3):
        return None
    return ratio if alike(found, ratio * expected) else None
