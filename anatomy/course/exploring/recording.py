"""Run a model once, and keep what each of its parts got and gave.

Attention weights are asked of the attention itself, however its code is written: its result is a weighted sum of the
values, so with values that are 1 for one key and 0 for all others it is the weight of that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.course.exploring.parts import Attention, Layer, Parts


@dataclass
class Call:
    """One call of a module: what it got, and what it gave."""

    args: tuple[Any, ...]
    named: dict[str, Any]
    output: Any


@dataclass
class Recording:
    """What happened in one run. Tensors are of the one text, without the batch's axis where a method returns them."""

    parts: Parts
    calls: dict[nn.Module, list[Call]] = field(default_factory=dict)
    turned: dict[str, list[Tensor]] = field(default_factory=dict)
    encodings: list[Tensor] = field(default_factory=list)
    weights: dict[str, Tensor] = field(default_factory=dict)
    result: Tensor | None = None
    changed: bool = False

    def got(self, module: nn.Module, call: int = -1, argument: int = 0) -> Tensor:
        """An argument of a module's call, the last one if no other is asked for."""
        return _alone(self._call(module, call).args[argument])

    def gave(self, module: nn.Module, call: int = -1) -> Tensor:
        return _alone(self._call(module, call).output)

    def was_called(self, module: nn.Module) -> bool:
        """Whether the model called this part, and did not use its weights by itself."""
        return module in self.calls

    def _call(self, module: nn.Module, call: int) -> Call:
        if module not in self.calls:
            raise NotCalled(next(name for name, one in self.parts.model.named_modules() if one is module))
        return self.calls[module][call]


class NotCalled(Exception):
    """A part of the model never ran. The argument is its name."""


class NotAsAgreed(Exception):
    """The model runs, but a part of it does not give what its contract says. The argument says what is the matter."""


@contextmanager
def hooked(handles: Iterable[Any]) -> Iterator[None]:
    """Hooks that are gone afterwards. A generator registers them when they are needed, and not before."""
    held: list[Any] = []
    try:
        held.extend(handles)
        yield
    finally:
        for handle in held:
            handle.remove()


@contextmanager
def still(model: nn.Module) -> Iterator[None]:
    """The model in eval mode, without gradients; its modules' modes are as before afterwards."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def record(parts: Parts, *inputs: Tensor, before: Any = None, after: Any = None) -> Recording:
    """Run `parts.model(*inputs)` on one text and record it.

    `before` and `after` are context managers that change the model, entered before and after the recorder's own hooks
    are in place: what the first change is recorded as changed, what the second change is recorded as it was. Raises
    NotCalled or NotAsAgreed where there is nothing to record, and whatever the model's own code raises.
    """
    recording = Recording(parts)
    with still(parts.model), ExitStack() as stack:
        if before is not None:
            stack.enter_context(before)
        stack.enter_context(hooked(handle for module in _watched(parts) for handle in _watch(recording, module)))
        stack.enter_context(_turns(recording))
        stack.enter_context(_encodings(recording))
        if after is not None:
            stack.enter_context(after)
        result = parts.model(*inputs)
        recording.result = _alone(result) if isinstance(result, Tensor) else None
        for layer in parts.layers:
            for attention in layer.attentions:
                for name in ("q", "k", "v", "output_linear"):
                    recording.gave(getattr(attention.module, name))
        calls, recording.calls = recording.calls, {}  # what asking calls is not part of the run
        for layer in parts.layers:
            for attention in layer.attentions:
                try:
                    recording.weights[attention.place] = _weights(attention, calls)
                except (RuntimeError, IndexError, AttributeError, TypeError, ValueError) as why:
                    raise NotAsAgreed(f"{attention.place} can't be asked for its weights ({why})") from why
        recording.calls = calls
    return recording


def _watched(parts: Parts) -> Iterator[nn.Module]:
    outside = (parts.table, parts.position_table, parts.first_norm, parts.last_norm, parts.head)
    yield from (module for module in outside if module is not None)
    for layer in parts.layers:
        yield from (layer.module, layer.feed_forward, layer.norm, *_linear_parts(layer))
        for attention in layer.attentions:
            yield from (attention.module, attention.norm)
            for name in ("q", "k", "v", "output_linear"):
                yield getattr(attention.module, name)


def _linear_parts(layer: Layer) -> Iterator[nn.Module]:
    names = ("linear_1", "linear_2", "linear_gate", "linear_up", "linear_down")
    yield from (getattr(layer.feed_forward, name) for name in names if hasattr(layer.feed_forward, name))


def _watch(recording: Recording, module: nn.Module) -> Iterator[Any]:
    """Hooks that keep copies: code that works in place changes its tensors afterwards."""
    waiting: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def enter(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        waiting.append((tuple(map(_copy, args)), {name: _copy(value) for name, value in named.items()}))

    def leave(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        recording.calls.setdefault(module, []).append(Call(*waiting.pop(), _copy(output)))

    yield module.register_forward_pre_hook(enter, with_kwargs=True)
    yield module.register_forward_hook(leave, with_kwargs=True)


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


@contextmanager
def _turns(recording: Recording) -> Iterator[None]:
    """What an attention's own function for rotary positions returns: turned queries, then turned keys."""
    with ExitStack() as stack:
        for layer in recording.parts.layers:
            for attention in layer.attentions:
                found = outer_names(attention.module, "half_split_rotary")
                if attention.base is not None and found is not None:
                    stack.enter_context(_turn(recording, attention, found))
        yield


@contextmanager
def _turn(recording: Recording, attention: Attention, names: dict[str, Any]) -> Iterator[None]:
    results = recording.turned.setdefault(attention.place, [])
    running: list[bool] = []

    def enter(module: nn.Module, args: Any) -> None:
        running.append(True)

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        running.clear()

    original = names["half_split_rotary"]

    def kept(*args: Any, **named: Any) -> Any:
        result = original(*args, **named)
        if running and len(results) < 2 and isinstance(result, Tensor):
            results.append(_alone(result).clone())
        return result

    handles = [attention.module.register_forward_pre_hook(enter), attention.module.register_forward_hook(leave)]
    with hooked(handles), replaced(names, "half_split_rotary", kept):
        yield


@contextmanager
def _encodings(recording: Recording) -> Iterator[None]:
    """What the model's own `sinusoidal_encoding` returns, call by call."""
    names = names_of_embed(recording.parts.model)
    if recording.parts.positions != "sinusoidal" or "sinusoidal_encoding" not in names:
        yield
        return
    original = names["sinusoidal_encoding"]

    def kept(*args: Any, **named: Any) -> Any:
        result = original(*args, **named)
        if isinstance(result, Tensor):
            recording.encodings.append(result.clone())
        return result

    with replaced(names, "sinusoidal_encoding", kept):
        yield


def names_of_embed(model: nn.Module) -> dict[str, Any]:
    """Where the code of a Transformer's `embed` looks names up."""
    return getattr(getattr(type(model), "embed", None), "__globals__", {})


def outer_names(module: nn.Module, name: str) -> dict[str, Any] | None:
    """Where the code of a module's `forward` looks a name up, if it is there."""
    names = getattr(type(module).forward, "__globals__", {})
    return names if name in names else None


@contextmanager
def replaced(names: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    """Another value under a name, for a while."""
    original = names[name]
    names[name] = value
    try:
        yield
    finally:
        names[name] = original


def _weights(attention: Attention, calls: dict[nn.Module, list[Call]]) -> Tensor:
    """The weights (H, T, S) that an attention gives, asked key by key, K keys in a run."""
    module: Any = attention.module
    call = calls[module][-1]
    values: Tensor = calls[module.v][-1].output  # (1, S, G·K)
    keys, width = values.shape[1], values.shape[2] // attention.groups
    caught: list[Tensor] = []

    def catch(module: nn.Module, args: tuple[Any, ...]) -> None:
        caught.append(args[0])

    found = []
    for start in range(0, keys, width):
        probe = values.new_zeros(keys, width)  # (S, K): column j is 1 for key start + j
        stop = min(start + width, keys)
        probe[torch.arange(start, stop), torch.arange(stop - start)] = 1.0
        ones = probe.repeat(1, attention.groups).expand_as(values)  # the same for each group's columns
        with hooked([
            module.v.register_forward_hook(lambda *_, ones=ones: ones),
            module.output_linear.register_forward_pre_hook(catch, prepend=True),  # before a head is switched off
        ]):  # fmt: skip
            module(*call.args, **call.named)
        joined = caught.pop()[0]  # (T, H·K)
        found.append(joined.unflatten(-1, (attention.heads, width)).transpose(0, 1)[..., : stop - start])
    return torch.cat(found, dim=-1)  # (H, T, S)


def _alone(tensor: Tensor) -> Tensor:
    """Without the batch's axis."""
    return tensor[0] if tensor.dim() > 2 else tensor
