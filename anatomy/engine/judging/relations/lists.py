"""Relations between two lists of plain items."""

from __future__ import annotations

from typing import Any

from anatomy.engine.judging.explanation import Explanation
from anatomy.engine.judging.wording import brief, item

SHORT = 70
"""The most characters of a list that is shown whole."""


def _items(listed: list[Any]) -> str:
    return "1 item" if len(listed) == 1 else f"{len(listed)} items"


def relate_lists(found: list[Any], expected: list[Any]) -> Explanation:
    """Whether a list is too short, too long, reversed or reordered; else the first item that differs."""
    shared = next((i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b), None)
    both = f"Yours: {brief(found)}; expected: {brief(expected)}."
    if shared is None and len(found) < len(expected):
        return Explanation(f"Your list stops too early: {_items(found)}, expected {len(expected)}.",
                           f"What is there is right; next would come {item(expected[len(found)])}." if found else
                           f"First comes {item(expected[0])}.",
                           "too early")  # fmt: skip
    if shared is None:
        return Explanation(f"Your list goes on too long: {_items(found)}, expected {len(expected)}.",
                           f"Up to there it is right; then you add {item(found[len(expected)])}.",
                           "too long")  # fmt: skip
    if found == expected[::-1]:
        return Explanation("Your list is in reverse order.", f"The items themselves are right. {both}", "reversed")
    if sorted(map(repr, found)) == sorted(map(repr, expected)):
        return Explanation("The right items, in another order.", both, "reordered")
    yours, right = brief(found), brief(expected)
    if len(yours) <= SHORT and len(right) <= SHORT:
        return Explanation(f"Yours is {yours}, expected {right}.", claim="other items")
    before = f"The {shared} items before it are right." if shared > 1 else "The item before it is right."
    return Explanation(f"Item {shared} differs: yours is {item(found[shared])}, expected {item(expected[shared])}.",
                       before if shared else "It is the very first one.", "other items")  # fmt: skip
