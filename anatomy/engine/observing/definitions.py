"""The functions behind what stands under a name: read without running anything that a student's class defines."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any


def layers(item: Any) -> Iterator[FunctionType]:
    """A function, and those that decorators have been put on, such as `functools.cache`: the innermost comes last."""
    seen: set[int] = set()
    while item is not None and id(item) not in seen:
        seen.add(id(item))
        if type(item) is FunctionType:
            yield item
        item = _attributes(item).get("__wrapped__")


def bases(kind: type) -> tuple[type, ...]:
    """A class and its bases, whatever its metaclass says of them."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


def module_of(kind: type) -> Any:
    """The name of the module that a class says it is from."""
    return _own(kind).get("__module__")


def functions_of(kind: type) -> Iterator[FunctionType]:
    """The functions that a class defines itself: methods and properties."""
    for member in _own(kind).values():
        function = member
        if type(member) in (classmethod, staticmethod):
            function = member.__func__
        elif type(member) is property:
            function = member.fget
        if type(function) is FunctionType:
            yield function


def classes_in(kind: type) -> Iterator[type]:
    """The classes that stand in a class's own body, or are attributes of it."""
    yield from filter(is_class, _own(kind).values())


def is_class(item: Any) -> bool:
    """Whether an object is a class, whatever it says of itself."""
    return issubclass(type(item), type)


def _attributes(item: Any) -> dict[str, Any]:
    """What an object's own dict holds."""
    try:
        held = object.__getattribute__(item, "__dict__")
    except AttributeError:
        return {}
    return held if type(held) is dict else {}


def _own(kind: type) -> dict[str, Any]:
    return dict(type.__dict__["__dict__"].__get__(kind))
