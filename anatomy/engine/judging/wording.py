"""Values as words of a sentence: short, and never cut inside an item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

ROOM = 110
"""The most characters of a value in a sentence."""


def brief(value: Any, room: int = ROOM) -> str:
    """A value in about `room` characters at most. A “…” stands for the rest."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}" if value.dim() else number(value.item())
    if isinstance(value, dict):
        return str(value["$other"]) if "$other" in value else _dict(value, room)
    if isinstance(value, list | tuple):
        return _list(value, room)
    if isinstance(value, str):
        return repr(value) if len(value) <= room else f"{value[: room - 3]!r} …"
    return number(value) if isinstance(value, int | float) else str(value)


def item(value: Any) -> str:
    """A value as an item of a list. Pairs and the like have parentheses."""
    return _item(value, ROOM)


def number(value: float) -> str:
    """A number as text. Large whole numbers have groups of three digits."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return f"{value:.6g}"


def sort_of(value: Any) -> str:
    """What sort of thing a value is."""
    if isinstance(value, Tensor):
        return "a tensor" if value.dim() else "a tensor with a single number"
    if isinstance(value, dict):
        return str(value["$other"]) if "$other" in value else "a dict"
    named = {list: "a list or tuple", str: "a string", bool: "True or False", int: "a whole number", float: "a number"}
    return named.get(type(value), "nothing (None)" if value is None else f"a {type(value).__name__}")


def names(listed: Iterable[str], most: int = 6) -> str:
    """The first few names, as code."""
    words = [f"`{name}`" for name in listed]
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _item(value: Any, room: int) -> str:
    if not isinstance(value, list | tuple):
        return brief(value, room)
    return _list(value, room, "()" if len(value) > 1 else "[]")


def _list(items: list[Any] | tuple[Any, ...], room: int, brackets: str = "[]") -> str:
    """The first items of a list. Pairs and the like inside it have parentheses if all items are such."""
    shown: list[str] = []
    are_alike = all(isinstance(one, list | tuple) for one in items)
    for index, one in enumerate(items):
        text = _item(one, room) if are_alike else brief(one, room)
        if sum(map(len, shown)) + 2 * len(shown) + len(text) > room and index:
            return f"{brackets[0]}{', '.join(shown)}, … {len(items)} in all{brackets[1]}"
        shown.append(text)
    return f"{brackets[0]}{', '.join(shown)}{brackets[1]}"


def _dict(items: dict[str, Any], room: int) -> str:
    text = "{" + ", ".join(f"{key!r}: {brief(value, room)}" for key, value in items.items()) + "}"
    if len(text) <= room:
        return text
    return f"a dict of {len(items)} entries, {names(items, 3)}"
