"""Other exercises that an answer calls, and running it with other answers in their place.

An answer looks up what it calls in the notebook each time. So a name there can stand for another answer for a while.
"""

from __future__ import annotations

import contextlib
import dis
from collections.abc import Container, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from anatomy.engine.observing.definitions import bases, classes_in, functions_of, is_class, layers, module_of
from anatomy.engine.observing.observe import MISSING

_LOOKUPS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


def parts_of(name: str, namespace: Mapping[str, Any], known: Container[str]) -> list[str]:
    """The exercises that the notebook's `name` calls, itself or through other functions and classes of the notebook.

    Parameters
    ----------
    namespace
        What the notebook has defined.
    known
        The names of its exercises.

    Returns
    -------
    list of str
        Those that are called directly first. A name that the answer uses counts even if nothing has it yet.
    """
    return [used for used in _names_behind(name, namespace) if used in known]


def definitions_behind(name: str, namespace: Mapping[str, Any]) -> list[Any] | None:
    """The functions and classes that define the notebook's `name`, itself and through all that they look up.

    Two such lists of the same objects do the same. None where data of the notebook are looked up, too: they may change.
    """
    found: list[Any] = []
    for used in (name, *_names_behind(name, namespace)):
        item = namespace.get(used)
        if used in namespace and not callable(item) and not isinstance(item, ModuleType):
            return None
        found += [item, *_methods(item)] if isinstance(item, type) else [item, getattr(item, "__code__", None)]
    return found


def _names_behind(name: str, namespace: Mapping[str, Any]) -> list[str]:
    """The names of the notebook that `name` looks up, then those that these look up, and so on."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        for used in _names_in(namespace.get(waiting.pop(0)), namespace):
            if used != name and used not in found:
                found.append(used)
                waiting.append(used)
    return found


@contextlib.contextmanager
def standing_in(namespace: dict[str, Any], others: Mapping[str, Any]) -> Iterator[None]:
    """These objects under these names of the notebook for a while; then, whatever happens, its own again."""
    own = {name: namespace.get(name, MISSING) for name in others}
    try:
        namespace.update(others)
        yield
    finally:
        for name, item in own.items():
            if item is MISSING:
                namespace.pop(name, None)
            else:
                namespace[name] = item


def _names_in(item: Any, namespace: Mapping[str, Any]) -> Iterator[str]:
    """The names of the notebook that a function or class of the notebook looks up; of anything else, none."""
    for function in _methods(item) if is_class(item) else layers(item):
        for layer in layers(function):
            if layer.__globals__ is namespace:
                yield from _looked_up(layer.__code__)


def _methods(item: type) -> Iterator[FunctionType]:
    """The functions of a class, of those of its bases that are from the same module, and of the classes in these."""
    waiting, seen = [item], set[int]()
    while waiting:
        kind = waiting.pop(0)
        for base in bases(kind):
            if id(base) not in seen and module_of(base) == module_of(kind):
                seen.add(id(base))
                yield from functions_of(base)
                waiting += classes_in(base)


def _looked_up(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOOKUPS:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _looked_up(constant)
