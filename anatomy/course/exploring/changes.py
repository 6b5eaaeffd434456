"""What can be taken away from a model for one run: its mask, √K, positions, a skip connection, a head, a layer.

Each is a context manager on the model as it is, with the student's own code in it. Afterwards the model is as before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.course.exploring.parts import Attention, Layer, NotExplorable, Parts
from anatomy.course.exploring.recording import hooked, names_of_embed, outer_names, replaced
from anatomy.course.exploring.steps import rotated

WITHOUT_MASK, WITHOUT_SCALE, WITHOUT_POSITIONS = "no-mask", "no-scale", "no-positions"
WITHOUT_SKIP, WITHOUT_HEAD, WITHOUT_LAYER = "no-skip", "head-off", "layer-off"


@dataclass(frozen=True)
class Change:
    """What a reader can choose: `of` says whether it needs a place, "skip", "head" or "layer"."""

    id: str
    label: str
    question: str
    exercise: str
    of: str | None = None


def choices(parts: Parts) -> list[Change]:
    """The changes that make sense for this kind of model."""
    writes = parts.kind != "encoder"
    rotary = parts.positions == "rotary"
    attention = "GroupedQueryAttention" if rotary else "masked_attention" if writes else "scaled_dot_product_attention"
    layer = {"pre": "DecoderBlock", "post": "PostNormEncoderLayer"}[parts.norm]
    positions = {"learned": "Embeddings", "sinusoidal": "sinusoidal_encoding", "rotary": "half_split_rotary"}
    found = [
        Change(WITHOUT_SCALE, "without ÷ √K", "What does dividing by √K do to the weights?", "scaled_scores"),
        Change(WITHOUT_POSITIONS, "without positions", "Does the model still know the order of the tokens?",
               positions[parts.positions]),
        Change(WITHOUT_SKIP, "without this skip connection", "What does a layer lose when its input is not added?",
               "LlamaBlock" if rotary else layer, "skip"),
        Change(WITHOUT_HEAD, "without this head", "Who needs this head?", attention, "head"),
        Change(WITHOUT_LAYER, "without this layer", "What does this layer add?", "LlamaBlock" if rotary else layer,
               "layer"),
    ]  # fmt: skip
    if writes:
        question = "What changes when every token sees the future?"
        found.insert(0, Change(WITHOUT_MASK, "without the causal mask", question, "causal_mask"))
    return found


def applied(parts: Parts, changes: list[str]) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Two context managers: the changes that a recording shows, and those that it shows through what follows.

    Raises NotExplorable for a change that is unknown or has no such place.
    """
    early: list[AbstractContextManager[None]] = []
    late: list[AbstractContextManager[None]] = []
    for change in changes:
        kind, _, place = change.partition(":")
        if kind == WITHOUT_SCALE:
            late.append(_without_scale(parts))
        elif kind == WITHOUT_MASK:
            early.append(_without_mask(parts))
        elif kind == WITHOUT_POSITIONS:
            early.append(_without_positions(parts))
        elif kind == WITHOUT_LAYER:
            early.append(_without_layer(_layer(parts, place)))
        elif kind == WITHOUT_HEAD:
            where, _, head = place.rpartition(".")
            early.append(_without_head(_attention(parts, where), head))
        elif kind == WITHOUT_SKIP:
            late.append(_without_skip(parts, place))
        else:
            raise NotExplorable(f"There is no change {change!r}.")
    return _all(early), _all(late)


@contextmanager
def _all(changes: list[AbstractContextManager[None]]) -> Iterator[None]:
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(change)
        yield


def _layer(parts: Parts, place: str) -> Layer:
    for layer in parts.layers:
        if layer.place == place:
            return layer
    raise NotExplorable(
        f"The model has no layer {place!r}; its layers are {', '.join(one.place for one in parts.layers)}."
    )


def _attention(parts: Parts, place: str) -> Attention:
    for layer in parts.layers:
        for attention in layer.attentions:
            if attention.place == place:
                return attention
    raise NotExplorable(f"The model has no attention {place!r}.")


@contextmanager
def _without_scale(parts: Parts) -> Iterator[None]:
    """Queries times √K, so that dividing by √K gives the scores as they were.

    Where `half_split_rotary` turns queries and keys, what it returns is multiplied instead, each by the root of √K: so
    the recorder has seen both as they are.
    """
    factor = math.sqrt(parts.sizes["K"])
    with ExitStack() as stack:
        done: list[dict[str, Any]] = []
        for attention in _attentions(parts):
            module: Any = attention.module
            names = outer_names(module, "half_split_rotary") if attention.base is not None else None
            if names is None:
                handles = (one.register_forward_hook(lambda _, __, output: output * factor) for one in (module.q,))
                stack.enter_context(hooked(handles))
            elif not any(one is names for one in done):
                done.append(names)
                turn = names["half_split_rotary"]
                larger = partial(_times, turn, math.sqrt(factor))
                stack.enter_context(replaced(names, "half_split_rotary", larger))
        yield


def _times(turn: Callable[..., Tensor], factor: float, *args: Any, **named: Any) -> Tensor:
    return turn(*args, **named) * factor


def _attentions(parts: Parts) -> list[Attention]:
    return [attention for layer in parts.layers for attention in layer.attentions]


@contextmanager
def _without_mask(parts: Parts) -> Iterator[None]:
    """No query of the decoder's own attention is kept from any key.

    A mask that is handed over is taken away; one that is made inside, by `causal_mask`, has ones everywhere. Where the
    triangle stays all the same, the layer's own projections are put through attention without a mask.
    """
    with ExitStack() as stack:
        for attention in _attentions(parts):
            if attention.causal:
                stack.enter_context(hooked(_unmasking(attention)))
        yield


def _unmasking(attention: Attention) -> Iterator[Any]:
    yield attention.module.register_forward_pre_hook(_unmasked, with_kwargs=True)
    yield attention.module.register_forward_hook(_seeing_all(attention), with_kwargs=True)


def _unmasked(
    module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args[:1], {name: value for name, value in named.items() if not isinstance(value, Tensor)}


def _seeing_all(attention: Attention) -> Any:
    asking: list[bool] = []

    def again(module: Any, args: tuple[Any, ...], named: dict[str, Any], output: Any) -> Any:
        if asking or not args:
            return None
        names = outer_names(module, "causal_mask")
        asking.append(True)
        try:
            with ExitStack() as stack:
                if names is not None:
                    stack.enter_context(replaced(names, "causal_mask", _everything))
                other = args[0].clone()
                other[:, -1] += 1.0
                changed = module(other, *args[1:], **named)
                result = module(*args, **named)  # the last run is the one that is recorded
            hidden = args[0].shape[1] > 1 and torch.equal(changed[:, 0], result[:, 0])
            return _by_hand(attention, args[0]) if hidden else result
        finally:
            asking.clear()

    return again


def _everything(length: int) -> Tensor:  # -> (T, T)
    return torch.ones(length, length, dtype=torch.bool)


def _by_hand(attention: Attention, x: Tensor) -> Tensor:  # (1, T, D) -> (1, T, D)
    """Attention without a mask, with the module's own projections."""
    module: Any = attention.module
    query = module.q(x).unflatten(-1, (attention.heads, -1)).transpose(1, 2)  # (1, H, T, K)
    key, value = (one(x).unflatten(-1, (attention.groups, -1)).transpose(1, 2) for one in (module.k, module.v))
    if attention.base is not None:
        query, key = rotated(query, attention.base), rotated(key, attention.base)
    shared = attention.heads // attention.groups
    key, value = (rows.repeat_interleave(shared, dim=1) for rows in (key, value))  # (1, H, T, K)
    context = nn.functional.scaled_dot_product_attention(query, key, value)
    return module.output_linear(context.transpose(1, 2).flatten(2))


@contextmanager
def _without_positions(parts: Parts) -> Iterator[None]:
    with ExitStack() as stack:
        if parts.position_table is not None:
            zeros = parts.position_table.register_forward_hook(lambda _, __, output: torch.zeros_like(output))
            stack.enter_context(hooked([zeros]))
        elif parts.positions == "sinusoidal":
            names = names_of_embed(parts.model)
            if "sinusoidal_encoding" not in names:
                raise NotExplorable("The model makes its positions without `sinusoidal_encoding`: they stay.")
            nothing = replaced(names, "sinusoidal_encoding", lambda length, width: torch.zeros(length, width))
            stack.enter_context(nothing)
        else:
            for attention in {type(one.module): one for layer in parts.layers for one in layer.attentions}.values():
                found = outer_names(attention.module, "half_split_rotary")
                if found is None:
                    raise NotExplorable("The model turns its queries without `half_split_rotary`: the positions stay.")
                stack.enter_context(replaced(found, "half_split_rotary", lambda x, *_, **__: x))
        yield


def _without_layer(layer: Layer) -> AbstractContextManager[None]:
    return hooked(module.register_forward_hook(lambda _, args, __: args[0]) for module in (layer.module,))


def _without_head(attention: Attention, head: str) -> AbstractContextManager[None]:
    if not head.isdecimal() or int(head) >= attention.heads:
        raise NotExplorable(f"{attention.place} has heads 0 to {attention.heads - 1}, and no head {head!r}.")

    def silent(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        joined = args[0].clone().unflatten(-1, (attention.heads, -1))  # (1, T, H, K)
        joined[..., int(head), :] = 0
        return (joined.flatten(-2), *args[1:])

    module: Any = attention.module
    return hooked(one.register_forward_pre_hook(silent) for one in (module.output_linear,))


def _without_skip(parts: Parts, place: str) -> AbstractContextManager[None]:
    """The part's result less the input that the layer adds to it.

    Pre-norm, the layer adds what its norm got; post-norm, what the part itself got.
    """
    where, _, name = place.rpartition(".")
    layer = _layer(parts, where)
    found = {attention.name: (attention.module, attention.norm) for attention in layer.attentions}
    found["feed_forward"] = (layer.feed_forward, layer.norm)
    if name not in found:
        raise NotExplorable(f"{where} has no skip connection {name!r}; it has {', '.join(found)}.")
    part, norm = found[name]
    added: list[Tensor] = []

    def keep(module: nn.Module, args: tuple[Any, ...]) -> None:
        added[:] = [args[0]]

    def handles() -> Iterator[Any]:
        yield (norm if parts.norm == "pre" else part).register_forward_pre_hook(keep)
        yield part.register_forward_hook(lambda _, __, output: output - added[0])

    return hooked(handles())
