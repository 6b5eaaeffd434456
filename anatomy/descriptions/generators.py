"""What is said of the use of a generator."""

from __future__ import annotations

from typing import Any

import torch

from anatomy.exercises.calls import unpacked
from anatomy.exercises.spec import Case
from anatomy.observing.plain_data import same

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
        return "whatever state the generator is in, the result is the same"
    if not same(first, again):
        return "the same state of the generator gives another result each time"
    if same(first, then):
        return "called twice with one generator, it draws the same again: the generator does not move on"
    if not continues(raw["state"], case.args["generator"]):
        return "the generator is seeded inside the function"
    return ONE_STATE
