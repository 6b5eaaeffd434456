"""Whether an answer can be called as its exercise calls it, said plainly where it can't."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from torch import nn


class BadSignature(TypeError):
    """The answer is no function or class as asked for, or does not take the arguments that the exercise hands over."""


def check_call(target: Any, args: Mapping[str, Any]) -> None:
    """Raise `BadSignature` when the answer can't take these arguments; a built-in without a signature may try."""
    function: Callable[..., Any] = target.forward if isinstance(target, nn.Module) else target
    if (takes := _takes(function, tuple(args.values()))) is not None:
        raise BadSignature(
            f"The arguments don't fit: it is called with ({', '.join(args)}), but yours takes ({takes})."
        )


def check_construction(answer: type, init: tuple[Any, ...]) -> None:
    """Raise `BadSignature` when a class can't be built with these values."""
    if (takes := _takes(answer, init)) is not None:
        given = (repr(value) if isinstance(value, int | float | str) else type(value).__name__ for value in init)
        raise BadSignature(
            f"The arguments don't fit: it is built with ({', '.join(given)}), but your `__init__` takes ({takes})."
        )


def check_module(name: str, built: Any) -> None:
    """Raise `BadSignature` for what a class has built when that is no module."""
    if not isinstance(built, nn.Module):
        raise BadSignature(f"`{name}` is a class but no `nn.Module`: derive it, `class {name}(nn.Module):`.")


def explain_call(module: Any, error: TypeError) -> None:
    """Raise `BadSignature` for Python's error that a module's own `forward` does not take what it was called with."""
    forward = getattr(type(module), "forward", None)
    name, _, said = str(error).partition("() ")
    if not isinstance(forward, FunctionType) or name != forward.__qualname__:
        return
    if found := re.match(r"takes .* but (\d+) (?:was|were) given", said):
        count = int(found[1]) - 1
        called = f"called with {count} {'value' if count == 1 else 'values'}"
    elif found := re.match(r"missing .*?: (.*)", said):
        called = f"called without {found[1]}".replace("'", "`")
    elif found := re.match(r"got an unexpected keyword argument '(\w+)'", said):
        called = f"called with `{found[1]}`, too"
    else:
        return
    takes = ", ".join(list(inspect.signature(forward).parameters)[1:])
    raise BadSignature(f"The arguments don't fit: your `forward` takes ({takes}), and is {called}.") from error


def _takes(function: Callable[..., Any], values: tuple[Any, ...]) -> str | None:
    """The parameters of a function that can't take these values; None where it can, or can't be asked."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*values)
    except TypeError:
        return ", ".join(signature.parameters)
    return None
