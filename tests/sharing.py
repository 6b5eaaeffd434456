"""What tests of one `xdist_group` share beyond their module: made when it is asked for, closed before another group."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

T = TypeVar("T")

_made: dict[str, Any] = {}
_stack = ExitStack()


def shared(name: str, make: Callable[[], AbstractContextManager[T]]) -> T:
    """What `make` gives, entered once for all tests of the group that ask for this name."""
    if name not in _made:
        _made[name] = _stack.enter_context(make())
    return _made[name]  # type: ignore[no-any-return]


def close() -> None:
    """Leave all of it, last entered first."""
    _made.clear()
    _stack.close()
