"""The functions behind what stands under a name: read without running anything that a student's class defines."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any


def layers(function: FunctionType) -> Iterator[FunctionType]:
    """A function, and those that its decorators have been put on: the innermost comes last."""
    seen: list[FunctionType] = []
    layer: Any = function
    while type(layer) is FunctionType and layer not in seen:
        seen.append(layer)
        yield layer
        layer = layer.__dict__.get("__wrapped__")


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


def _own(kind: type) -> dict[str, Any]:
    return dict(type.__dict__["__dict__"].__get__(kind))
