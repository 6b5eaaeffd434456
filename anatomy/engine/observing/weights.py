"""The weights with which a module is observed: drawn from names, so that kernel and judge need not exchange any."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from anatomy.exercises.spec import seed_from

CONTRACT_WORDS = frozenset({
    "attention", "bias", "blocks", "classifier", "cross_attention", "decoder_layers", "embeddings", "encoder",
    "encoder_layers", "feed_forward", "heads", "k", "layer_norm", "layer_norm_1", "layer_norm_2", "layer_norm_3",
    "layers", "linear_1", "linear_2", "output_linear", "position_embeddings", "q", "token_embeddings", "v", "weight",
})  # fmt: skip
"""The names that the exercises' texts give to layers and parameters.

Of two names of one parameter, the one that stands here is the one it goes by: tied weights go by `token_embeddings`,
not by `lm_head`.
"""


def fill_parameters(module: nn.Module, seed: int = 0) -> None:
    """Draw every parameter from (seed, its name, its shape): the same name always has the same values.

    Matrices keep their outputs at the inputs' scale; biases and norms get real variance.
    """
    with torch.no_grad():
        for name, parameter in by_contract_name(module).items():
            generator = torch.Generator().manual_seed(seed_from(seed, name, tuple(parameter.shape)))
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                parameter.copy_(noise / parameter.shape[-1] ** 0.5)
            else:
                parameter.copy_(0.3 * noise + (1.0 if name.endswith("weight") else 0.0))


def by_contract_name(module: nn.Module) -> dict[str, nn.Parameter]:
    """Name → parameter, each once: one that has several names goes by the one that the exercise gives it.

    That is the name with the fewest words that no exercise uses, then the shortest path, then the one first registered:
    ``linear_1.weight`` rather than ``net.0.weight`` of an `nn.Sequential` beside it.
    """
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return {(name := min(group, key=_foreign)): module.get_parameter(name) for group in names.values()}


def _foreign(name: str) -> tuple[int, int]:
    words = name.split(".")
    return sum(not word.isdigit() and word not in CONTRACT_WORDS for word in words), len(words)


def shared_names(module: nn.Module) -> list[list[str]]:
    """Groups of names that are one parameter, in alphabetical order: which layer was made first says nothing."""
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return sorted(sorted(group) for group in names.values() if len(group) > 1)


def has_lazy_parameters(module: Any) -> bool:
    """Whether a parameter gets its shape from the first input only, as those of `nn.LazyLinear` do."""
    return any(is_lazy(parameter) for parameter in module.parameters())
