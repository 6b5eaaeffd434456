"""How often something comes, in words that are the same for all right answers. No chance decides (`LIMIT`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

LIMIT = 28.0
"""How unlikely a count may be: exp(−28) on each side.

Of n independent draws that come true with probability p, a share of f or more (or less, below p) comes with probability
exp(−n·KL(f ‖ p)) at most (Chernoff's bound, which holds for every n and p). A check counts about 350 things, so fewer
than one right answer in 10⁹ is refused: 350 · 2 · exp(−28) = 5·10⁻¹⁰.
"""


def surprise(count: int, total: int, rate: float) -> float:
    """n·KL(count / n ‖ rate), in nats."""
    parts = ((count, rate), (total - count, 1 - rate))
    return sum(
        math.inf if part and not share else part * math.log(part / total / share) if part else 0.0
        for part, share in parts
    )


def fits(count: int, total: int, rate: float) -> bool:
    """Whether so many of so many come true where each does with this probability."""
    return total > 0 and surprise(count, total, rate) <= LIMIT


COMMON = (0.0, 0.02, 0.05, 0.1, 0.15, 0.18, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Rates that a wrong answer may have."""


def percent(count: int, total: int, rate: float, others: Iterable[float] = COMMON) -> str:
    """The rate that a count fits: the right one, else the nearest of some others, else whether it is more or less."""
    if fits(count, total, rate):
        return in_percent(rate)
    if total == 0:
        return "none"
    nearest = min(others, key=lambda other: surprise(count, total, other))
    if fits(count, total, nearest):
        return f"{'about ' * (0 < count < total)}{in_percent(nearest)}"
    return f"{'more' if count > rate * total else 'less'} than {in_percent(rate)}"


def in_percent(rate: float) -> str:
    return f"{100 * rate:.3g}%"


def each_for_itself(flags: Sequence[bool], rate: float) -> bool:
    """Whether neighbors agree, and both come true, as often as if each came true with this probability for itself.

    Where fewer or more come true than that, it is their own rate that counts here.
    """
    pairs = list(zip(flags[::2], flags[1::2], strict=False))
    agree, both = sum(one == other for one, other in pairs), sum(one and other for one, other in pairs)
    if not fits(sum(flags), len(flags), rate):
        rate = sum(flags) / len(flags) if flags else 0.0
    return fits(agree, len(pairs), rate**2 + (1 - rate) ** 2) and fits(both, len(pairs), rate**2)


def evenly(drawn: Iterable[Hashable], wanted: Sequence[Hashable]) -> bool:
    """Whether each of these came as often as the others."""
    counts = Counter(drawn)
    total = sum(counts.values())
    return all(fits(counts[one], total, 1 / len(wanted)) for one in wanted)


def listed(items: Iterable[Any]) -> str:
    return ", ".join(map(str, items))
