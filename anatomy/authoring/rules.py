"""What a rule is: a small function of a master's `Master` that yields pairs (cell id, what to do).

Its name in reports is the function's, with dashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anatomy.authoring.master import Master

Complaints = Iterator[tuple[str, str]]
Rule = Callable[[Master], Complaints]
RULES: dict[str, Rule] = {}


def rule(function: Rule) -> Rule:
    """Register a rule."""
    RULES[function.__name__.replace("_", "-")] = function
    return function
