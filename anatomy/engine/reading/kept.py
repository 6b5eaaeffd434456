"""What an answer keeps from one call to the next, and whether it is right as soon as it forgets that."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from torch import nn

from anatomy.engine.describing.chance import listed
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.facts import kept_default
from anatomy.engine.reading.source import Program, kept_names
from anatomy.engine.reading.syntax import bound_names, changes, is_changing
from anatomy.engine.reading.trials import Trials


def kept_between_calls(program: Program, trials: Trials) -> Diagnosis | None:
    """Names what an answer keeps, if all results are right when each call starts as the first one did."""
    kept, default = list(_kept(program)), kept_default(program)
    if not (kept or default) or not trials.is_right(_forgetful(program)):
        return None
    if default:
        return default
    names, line = list(dict.fromkeys(f"`{name}`" for name, _ in kept)), kept[0][1]
    holds, it = ("hold", "them") if len(names) > 1 else ("holds", "it")
    return Diagnosis(
        f"{listed(names)} still {holds} what an earlier call put there: when each call starts without {it}, all "
        "results are right.",
        f"Line {line}: `{program.line(line)}`",
    )


def _kept(program: Program) -> Iterator[tuple[str, int]]:
    """The names and attributes that outlive a call and that a call sets or changes, and a line that does."""
    for function in program.functions:
        if function.name == "__init__":
            continue
        inside = list(ast.walk(function))
        itself = {"self", function.name, *(name for node in inside for name in _other_names_of(function.name, node))}
        for owner in map(_changed_part, inside):
            if owner and ast.unparse(owner.value) in itself:
                yield ast.unparse(owner), owner.lineno
        own = set(bound_names(function)) - _global_names(function)
        for name in sorted(kept_names(program.tree) - own):
            yield from ((name, line) for line in _lines_that_change(function, name))
        for decorator in function.decorator_list:
            if "cache" in ast.unparse(decorator):
                yield f"@{ast.unparse(decorator)}", decorator.lineno


def _other_names_of(function: str, node: ast.AST) -> list[str]:
    """The names that ``f = function`` gives it."""
    match node:
        case ast.Assign([ast.Name(name)], ast.Name(value)) if value == function:
            return [name]
    return []


def _lines_that_change(function: ast.FunctionDef, name: str) -> Iterator[int]:
    for node in ast.walk(function):
        is_set = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        if is_set or changes(node, name):
            yield getattr(node, "lineno", function.lineno)


def _changed_part(node: ast.AST) -> ast.Attribute | None:
    """What a node sets, or changes in place: `self.x` of `self.x = 1`, `self.x[0] = 1` and `self.x.append(1)`."""
    match node:
        case ast.Attribute(ctx=ast.Store()):
            return node
        case ast.Subscript(ast.Attribute() as owner, _, ast.Store()):
            return owner
        case ast.Call(ast.Attribute(ast.Attribute() as owner, method)) if is_changing(method):
            return owner
    return None


def _global_names(function: ast.FunctionDef) -> set[str]:
    return {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}


def _forgetful(program: Program) -> Callable[[], Any]:
    """Makes the answer, which forgets at each call what it has kept since it was made."""
    build = program.builder()

    def made() -> Any:
        answer = build()
        if isinstance(answer, type):
            return _forgetful_module(answer)

        @functools.wraps(answer)
        def made_anew(*args: Any, **named: Any) -> Any:
            return build()(*args, **named)

        return made_anew

    return made


_OF_TORCH = set(vars(nn.Module())) - {"_buffers"}
"""What every module has besides what its class gives it."""


def _forgetful_module(answer: type) -> type:
    """A module that forgets when it, or another of its methods, is called from outside."""
    methods = {name: one for name, one in vars(answer).items() if isinstance(one, FunctionType) and name[0] != "_"}
    called = {name: _forgetting(one) for name, one in methods.items() if name != "forward"}
    return type(answer.__name__, (answer,), {**called, "__call__": _forgetting(answer.__call__)})


def _forgetting(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: nn.Module, *args: Any, **named: Any) -> Any:
        if self.__dict__.get("_is_called"):
            return method(self, *args, **named)
        for module, new in self.__dict__.setdefault("_new", [(one, _own(one)) for one in self.modules()]):
            mine = vars(module)
            for name in _own(module).keys() - new.keys():
                del mine[name]
            mine.update((name, _copied(value)) for name, value in new.items())
        self.__dict__["_is_called"] = True
        try:
            return method(self, *args, **named)
        finally:
            self.__dict__["_is_called"] = False

    return call


def _own(module: nn.Module) -> dict[str, Any]:
    """The attributes that its class gives a module, parameters and layers aside."""
    return {
        name: _copied(value) for name, value in vars(module).items() if name not in {*_OF_TORCH, "_new", "_is_called"}
    }


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, list | dict | set) else value
