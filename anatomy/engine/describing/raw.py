"""Raw results that are not what an exercise's `act` gathers."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def gathered(raw: Any, *names: str) -> bool:
    """Whether these are results by name, all of them there."""
    return isinstance(raw, dict) and all(name in raw for name in names)


def as_it_is(raw: Any) -> Any:
    """What the answer returned instead, to be compared as it is; but no words, which are the judge's to find."""
    if isinstance(raw, Tensor | int | float | list) or (isinstance(raw, dict) and "$other" in raw):
        return raw
    return {"$other": "a dict" if isinstance(raw, dict) else "a str"}
