"""Inputs from a seed: what the cases of an exercise are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.case import Case, seed_from

FORMS = ("plain", "plain", "plain", "wide", "whole", "negative", "alike")
"""The forms of `Draw.floats`. Plain ones are standard normal, whole ones have ties and zeros."""


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

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def pick(self, *options: Any) -> Any:
        """One of these."""
        return options[self.whole(0, len(options) - 1)]

    def sized(self, **bounds: tuple[int, int]) -> None:
        """Draw sizes between two bounds, both included. In one draw of three, two sizes are equal if they can be."""
        self.sizes |= {letter: self.whole(*bound) for letter, bound in bounds.items()}
        if len(bounds) > 1 and self.whole(0, 2) == 0:
            one, two = (list(bounds)[place] for place in self.permutation(len(bounds))[:2].tolist())
            if bounds[two][0] <= self.sizes[one] <= bounds[two][1]:
                self.sizes[two] = self.sizes[one]

    def floats(self, letters: str, *forms: str) -> Tensor:
        """Numbers in one of the `FORMS`, or of those that are named, in any order in memory."""
        x, form = self.normal(letters), self.pick(*(forms or FORMS))
        if form == "wide":
            x = 4 * x
        elif form == "whole":
            x = (1.5 * x).round()
        elif form == "negative":
            x = -x.abs() - 1
        elif form == "alike" and x.numel():
            x = x.flatten()[0].expand(x.shape).clone()
        return self.laid_out(x)

    def ids(self, letters: str, high: int) -> Tensor:
        """Whole numbers from 0 to `high` − 1, the first and the last among them, in any order in memory."""
        ids = self.integers(letters, high)
        if ids.numel() > 1:
            places = self.permutation(ids.numel())[:2]
            ids.view(-1)[places] = torch.tensor([0, high - 1])
        return self.laid_out(ids)

    def laid_out(self, x: Tensor) -> Tensor:
        """The same tensor in some order in memory: as it is, with its axes in another order, or with gaps."""
        how = self.pick("as it is", "as it is", "another order", "gaps")
        if how == "another order" and x.dim() > 1:
            order = self.permutation(x.dim())
            return x.permute(*order.tolist()).contiguous().permute(*order.argsort().tolist())
        return torch.stack([x, x], -1)[..., 0] if how == "gaps" else x

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
        once: bool = False,
        sizes: Mapping[str, int] | None = None,
        **args: Any,
    ) -> Case:
        """A case with these arguments (by name, in order) and this draw's sizes."""
        return Case(args, init, {**self.sizes, **(sizes or {})}, returns, asks, note, message_names, once)
