"""What kind of thing a raw result is."""

from __future__ import annotations

from typing import Any

from anatomy.engine.observing.plain_data import kind_of


def sort_of(raw: Any) -> str:
    """In words, such as "a list"; of what is no plain data, what it was called where it was seen."""
    return str(raw["$other"]) if isinstance(raw, dict) and "$other" in raw else kind_of(raw)
