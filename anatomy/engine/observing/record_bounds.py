"""How long a record of an observation may be: what is longer is refused, before it costs a judge any time.

The bounds lie far beyond what answers return. Right answers of this course come to 5,078 entries, 58 cases, 256 names
in a case, and keys and texts of 170 characters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any

from torch import Tensor

DEEPEST = 20
"""Levels of lists and dicts."""

MOST_ENTRIES, MOST_CASES, MOST_NAMES = 200_000, 300, 3_000
"""Entries of all lists and dicts together; cases; names of parameters, gradients and the like in one case."""

LONGEST_NAME, LONGEST_TEXT = 1_000, 50_000
"""Characters of a key, and of a text."""

MOST_AXES, MOST_NUMBERS = 64, 16 * 2**20
"""Axes of a tensor, as many as torch works with; numbers of all tensors, where an empty axis counts as one entry."""

LARGEST_HEAD = 2 * 2**20
"""Bytes of safetensors' table of contents, which says what each tensor is called: enough for 20,000 of them."""


class TooLong(ValueError):
    """A record is longer than any answer needs. The message says in what, as the end of a sentence."""


def bound_tree(tree: Any) -> None:
    """Look through a record's tree, level by level, and no further than the bounds. Raises `TooLong`."""
    level, entries = [tree], 0
    for _ in range(DEEPEST + 2):
        entries += len(level)
        if entries > MOST_ENTRIES:
            raise TooLong(f"the record has more than {MOST_ENTRIES:,} entries")
        if any(len(node) > LONGEST_TEXT for node in level if isinstance(node, str)):
            raise TooLong(f"the record holds a text of more than {LONGEST_TEXT:,} characters")
        dicts = [node for node in level if isinstance(node, dict)]
        if any(len(key) > LONGEST_NAME for node in dicts for key in node if isinstance(key, str)):
            raise TooLong(f"the record holds a name of more than {LONGEST_NAME:,} characters")
        level = list(islice(chain.from_iterable(map(_inside, level)), MOST_ENTRIES + 1))
        if not level:
            break
    else:
        raise TooLong("the record is nested too deeply")
    for cases in (tree.get(name) for name in ("cases", "with_right_parts")) if isinstance(tree, dict) else ():
        if isinstance(cases, list) and len(cases) > MOST_CASES:
            raise TooLong(f"the record holds more than {MOST_CASES} cases")
        if isinstance(cases, list) and any(_names(case) > MOST_NAMES for case in cases):
            raise TooLong(f"a case lists more than {MOST_NAMES:,} names")


def _inside(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _names(case: Any) -> int:
    """How many names a case lists: of parameters, gradients, what was changed …"""
    if not isinstance(case, dict):
        return 0
    listed = [*map(case.get, ("gradients", "parameters", "calls", "changed", "shared"))]
    groups = [group for group in listed[-1] if isinstance(group, list)] if isinstance(listed[-1], list) else []
    return sum(len(names) for names in [*listed, *groups] if isinstance(names, list | dict))


def bound_head(packed: bytes) -> None:
    """Look how long the table of contents of packed tensors is; its first eight bytes say so. Raises `TooLong`."""
    if int.from_bytes(packed[:8], "little") > LARGEST_HEAD:
        raise TooLong("the record holds too many tensors")


def bound_shapes(tensors: Iterable[Tensor]) -> None:
    """Look for shapes that take no bytes, and time all the same. Raises `TooLong`."""
    shapes = [tensor.shape for tensor in tensors]
    if any(len(shape) > MOST_AXES for shape in shapes):
        raise TooLong(f"the record holds a tensor of more than {MOST_AXES} axes")
    if sum(math.prod(max(size, 1) for size in shape) for shape in shapes) > MOST_NUMBERS:
        raise TooLong("the record holds tensors of empty rows without number")
