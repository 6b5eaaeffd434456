"""One situation in which an answer is observed, and seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """One situation in which an answer is observed.

    Attributes
    ----------
    args
        Arguments by name, passed by position in this order.
    init
        For classes: arguments of the constructor, by position.
    sizes
        Letter → size, used to explain factors and to name axes.
    returns
        Axis letters of the result, separated by spaces; empty when the result is no tensor.
    asks
        The property that this case alone decides (one of the exercise's own), or None: the general properties.
    note
        What is special here, as the end of the sentence "This happens …", e.g. ``"when T differs from S"``.
    message_names
        Of a case that must be refused: the numbers and words that the error's message must hold. Of words with ``|``
        between them it must hold one.
    once
        Whether one run shows all: the exercise's `act` tries both modes, each twice.
    drawn
        Whether it comes from the exercise's `inputs`. A drawn case refutes: an answer that is wrong there is wrong, and
        a sentence that is false there is not said. It costs points only where all chosen cases are right.
    """

    args: Mapping[str, Any]
    init: tuple[Any, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    returns: str = ""
    asks: str | None = None
    note: str = ""
    message_names: tuple[str, ...] = ()
    once: bool = False
    drawn: bool = False


def seed_from(*words: Any) -> int:
    """A 63-bit seed from anything with a stable text."""
    digest = hashlib.sha256("/".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
