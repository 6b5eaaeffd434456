"""Inputs from a seed: what the cases of an exercise are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.exercise import Case, seed_from


class Draw:
    """Inputs from a seed, with named sizes.

    >>> draw = Draw(0, B=2, T=5, D=8)
    >>> draw.normal("B T D").shape
    torch.Size([2, 5, 8])
    """

    def __init__(self, seed: int, **sizes: int) -> None:
        self.seed = seed
        self.sizes = sizes
        self.generator = torch.Generator().manual_seed(seed_from(seed, "draw", sorted(sizes.items())))

    def shape(self, letters: str) -> tuple[int, ...]:
        """``"B T 3"`` → sizes; a plain number stands for itself."""
        return tuple(int(axis) if axis.isdigit() else self.sizes[axis] for axis in letters.split())

    def normal(self, letters: str, scale: float = 1.0, shift: float = 0.0) -> Tensor:
        return torch.randn(self.shape(letters), generator=self.generator) * scale + shift

    def integers(self, letters: str, high: int, low: int = 0) -> Tensor:
        return torch.randint(low, high, self.shape(letters), generator=self.generator)

    def permutation(self, size: int) -> Tensor:
        return torch.randperm(size, generator=self.generator)

    def fork(self, *words: Any) -> torch.Generator:
        """A generator of its own, for an argument that is a generator."""
        return torch.Generator().manual_seed(seed_from(self.seed, *words))

    def case(
        self,
        *,
        init: tuple[Any, ...] = (),
        returns: str = "",
        asks: str | None = None,
        note: str = "",
        message_names: tuple[str, ...] = (),
        sizes: Mapping[str, int] | None = None,
        **args: Any,
    ) -> Case:
        """A case with these arguments (by name, in order) and this draw's sizes."""
        return Case(args, init, {**self.sizes, **(sizes or {})}, returns, asks, note, message_names)
