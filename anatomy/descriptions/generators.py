"""What the state of a generator tells of its use."""

from __future__ import annotations

from typing import Any

import torch


def continues(state: Any, generator: torch.Generator) -> bool:
    """Whether a generator in this state was seeded as the given one: what has been drawn since is left open.

    Raises
    ------
    RuntimeError, TypeError
        When it is no state of a generator.
    """
    return torch.Generator().set_state(state).initial_seed() == generator.initial_seed()
