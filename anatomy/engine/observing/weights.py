"""The weights with which a module is observed: drawn from names, so that kernel and judge need not exchange any."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from anatomy.engine.exercise import seed_from


def fill_parameters(module: nn.Module, words: Collection[str], seed: int = 0) -> None:
    """Draw every parameter from (seed, its name, its shape): the same name always has the same values.

    Matrices keep their outputs at the inputs' scale; biases and norms get real variance. `words` are the course's
    (`Course.parameter_words`).
    """
    with torch.no_grad():
        for name, parameter in by_contract_name(module, words).items():
            parameter.copy_(_drawn(seed, name, tuple(parameter.shape)))


@lru_cache(maxsize=2048)
def _drawn(seed: int, name: str, shape: tuple[int, ...]) -> Tensor:
    """A parameter's values. Many cases have the same, and small models at that."""
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(seed_from(seed, name, shape)))
    if len(shape) > 1:
        return noise / shape[-1] ** 0.5
    return 0.3 * noise + (1.0 if name.endswith("weight") else 0.0)


def by_contract_name(module: nn.Module, words: Collection[str]) -> dict[str, nn.Parameter]:
    """Name → parameter, each once: one that has several names goes by the one that the exercise gives it.

    That is the name with the fewest words that are not among the course's `words`, then the shortest path, then the one
    first registered: ``linear_1.weight`` rather than ``net.0.weight`` of an `nn.Sequential` beside it.
    """
    named = list(module.named_parameters(remove_duplicate=False))
    names: dict[int, list[str]] = {}
    for name, parameter in named:
        names.setdefault(id(parameter), []).append(name)

    def foreign(name: str) -> tuple[int, int]:
        own = name.split(".")
        return sum(not word.isdigit() and word not in words for word in own), len(own)

    parameters = dict(named)
    return {(name := min(group, key=foreign)): parameters[name] for group in names.values()}


def shared_names(module: nn.Module) -> list[list[str]]:
    """Groups of names that are one parameter, in alphabetical order: which layer was made first says nothing."""
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return sorted(sorted(group) for group in names.values() if len(group) > 1)


def has_lazy_parameters(module: Any) -> bool:
    """Whether a parameter gets its shape from the first input only, as those of `nn.LazyLinear` do."""
    return any(is_lazy(parameter) for parameter in module.parameters())
