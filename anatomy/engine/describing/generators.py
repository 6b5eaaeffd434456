"""What is said of the use of a generator."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.calls import unpacked
from anatomy.engine.exercise import Case
from anatomy.engine.observing.plain_data import same

ONE_STATE = "the same state of the generator gives the same result, another state another one"


def continues(state: Any, generator: torch.Generator) -> bool:
    """Whether a generator in this state was seeded as the given one: what has been drawn since is left open.

    Raises
    ------
    RuntimeError, TypeError
        When it is no state of a generator.
    """
    return torch.Generator().set_state(state).initial_seed() == generator.initial_seed()


def about_the_generator(raw: Any, case: Case) -> str:
    """Whether all that is random comes from the generator: what `with_generator` returned, in words."""
    first, again, other, then = unpacked(raw["calls"])
    if same(first, other):
        return "another state of the generator gives the same result"
    if not same(first, again):
        return "the same state of the generator gives another result each time"
    if same(first, then):
        return "called twice with one generator, it draws the same again: the generator does not move on"
    if not continues(raw["state"], case.args["generator"]):
        return "the generator is seeded inside the function"
    if not _made_of_the_input(first, case):
        return "the results have next to nothing of what was given"
    return ONE_STATE


ENOUGH = 0.25
"""The share of a result's words and numbers that stand in the input, at least: of wrong answers, too, it is 0.5.

Of another seed's results, whose words and numbers are drawn from hundreds, it is below 0.2.
"""


def _made_of_the_input(results: Any, case: Case) -> bool:
    """Whether results show the texts, or the tokens' ids, that this case gives; where it gives some."""
    given = {leaf for value in case.args.values() if isinstance(value, Tensor | list) for leaf in _leaves(value)}
    shown = [leaf in given for leaf in _leaves(results)]
    return not given or sum(shown) >= ENOUGH * len(shown) > 0


def _leaves(node: Any) -> Iterator[Hashable]:
    """All numbers in lists and tensors, and all words of texts."""
    if isinstance(node, Tensor):
        yield from node.flatten().tolist()
    elif isinstance(node, str):
        yield from node.split()
    elif isinstance(node, list):
        for item in node:
            yield from _leaves(item)
    elif isinstance(node, Hashable):
        yield node
