"""Which module of a model is what: found by the names that the course's contracts give.

The code inside may be anybody's. A model of other names can't be explored, and the error says which were looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import nn

from anatomy.engine.errors import UserError


class NotExplorable(UserError):
    """The model is none of the course's, or the text none that it can read."""


@dataclass(frozen=True)
class Attention:
    """One attention of a layer: "self" or "cross". `norm` is the module before it (pre-norm) or after it."""

    name: str
    place: str
    module: nn.Module
    norm: nn.Module
    heads: int
    groups: int
    base: float | None = None  # of rotary positions

    @property
    def causal(self) -> bool:
        """Whether the contract says that no query sees a later key."""
        return self.place.startswith("decoder") and self.name == "self"


@dataclass(frozen=True)
class Layer:
    """One layer: its attentions, and its feed-forward network with the norm that belongs to it."""

    place: str
    module: nn.Module
    attentions: tuple[Attention, ...]
    feed_forward: nn.Module
    norm: nn.Module


@dataclass(frozen=True)
class Stack:
    """The encoder's layers, or the decoder's."""

    name: str
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class Parts:
    """A model of the course, taken apart.

    Attributes
    ----------
    kind
        "encoder", "decoder" or "encoder-decoder".
    norm
        Where the contract puts the norms: "pre" or "post".
    positions
        "learned", "sinusoidal" or "rotary".
    gated
        Whether the feed-forward network is a SwiGLU.
    table, position_table, first_norm, last_norm, head
        The modules outside the layers; None where the model has none.
    """

    model: nn.Module
    kind: str
    norm: str
    positions: str
    gated: bool
    stacks: tuple[Stack, ...]
    table: nn.Embedding
    position_table: nn.Embedding | None = None
    first_norm: nn.Module | None = None
    last_norm: nn.Module | None = None
    head: nn.Linear | None = None
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def layers(self) -> list[Layer]:
        return [layer for stack in self.stacks for layer in stack.layers]


def parts_of(model: Any) -> Parts:
    """Take a model apart. Raises NotExplorable when it is none of the course's models."""
    if not isinstance(model, nn.Module):
        raise NotExplorable(f"explore() needs a model, an nn.Module; {type(model).__name__} is none.")
    if hasattr(model, "encoder") and isinstance(model.encoder, nn.Module) and hasattr(model.encoder, "layers"):
        return parts_of(model.encoder)  # a classifier of 08: what it reads with
    try:
        if hasattr(model, "encoder_layers"):
            return _transformer(model)
        if hasattr(model, "blocks"):
            return _llama(model) if hasattr(model, "rms_norm") else _gpt(model)
        if hasattr(model, "layers") and hasattr(model, "embeddings"):
            return _encoder(model)
    except (AttributeError, ZeroDivisionError, IndexError) as missing:
        raise NotExplorable(f"{type(model).__name__} lacks a part that its contract names: {missing}.") from None
    raise NotExplorable(
        f"{type(model).__name__} is no model that can be explored. These can: `TransformerEncoder` of notebook 07 "
        "(embeddings, layers), `GPT` of 09 (token_embeddings, blocks, lm_head), `Transformer` of 10 (encoder_layers, "
        "decoder_layers) and `Llama` of 14 (blocks with rms_norm_1), and any model with the same names."
    )


def _encoder(model: Any) -> Parts:
    layers = tuple(_layer(f"encoder.{number}", layer) for number, layer in enumerate(model.layers))
    inside = model.embeddings
    return _with_sizes(Parts(
        model, "encoder", "post", "learned", False, (Stack("encoder", layers),), inside.token_embeddings,
        position_table=inside.position_embeddings, first_norm=inside.layer_norm,
    ))  # fmt: skip


def _gpt(model: Any) -> Parts:
    layers = tuple(_layer(f"decoder.{number}", layer) for number, layer in enumerate(model.blocks))
    return _with_sizes(Parts(
        model, "decoder", "pre", "learned", False, (Stack("decoder", layers),), model.token_embeddings,
        position_table=model.position_embeddings, last_norm=model.layer_norm, head=model.lm_head,
    ))  # fmt: skip


def _llama(model: Any) -> Parts:
    layers = tuple(_layer(f"decoder.{number}", layer, "rms_norm") for number, layer in enumerate(model.blocks))
    return _with_sizes(Parts(
        model, "decoder", "pre", "rotary", True, (Stack("decoder", layers),), model.token_embeddings,
        last_norm=model.rms_norm, head=model.lm_head,
    ))  # fmt: skip


def _transformer(model: Any) -> Parts:
    reading = tuple(_layer(f"encoder.{number}", layer) for number, layer in enumerate(model.encoder_layers))
    writing = tuple(_layer(f"decoder.{number}", layer) for number, layer in enumerate(model.decoder_layers))
    return _with_sizes(Parts(
        model, "encoder-decoder", "post", "sinusoidal", False, (Stack("encoder", reading), Stack("decoder", writing)),
        model.token_embeddings, head=model.lm_head,
    ))  # fmt: skip


def _layer(place: str, layer: Any, norm: str = "layer_norm") -> Layer:
    names = [name for name in ("attention", "cross_attention") if hasattr(layer, name)]
    norms = [_with(getattr(layer, f"{norm}_{number}"), "weight") for number in range(1, len(names) + 2)]
    heads = _heads([getattr(layer, name) for name in names])
    attentions = tuple(
        _attention(place, getattr(layer, name), norms[number], "cross" in name, heads, norm == "rms_norm")
        for number, name in enumerate(names)
    )
    inner = ("linear_gate", "linear_up", "linear_down") if norm == "rms_norm" else ("linear_1", "linear_2")
    return Layer(place, layer, attentions, _with(layer.feed_forward, *inner), norms[-1])


def _attention(place: str, module: Any, norm: nn.Module, cross: bool, heads: int, rotary: bool) -> Attention:
    _with(module, "q", "k", "v", "output_linear")
    width = module.q.weight.shape[0] // heads
    name = "cross" if cross else "self"
    base = float(getattr(module, "base", 10000.0)) if rotary else None
    return Attention(name, f"{place}.{name}", module, norm, heads, module.k.weight.shape[0] // width, base)


def _heads(attentions: list[Any]) -> int:
    """How many heads there are. Not all contracts say under which name: a layer's attentions have the same number."""
    for name in ("num_heads", "heads", "n_heads", "num_attention_heads", "H"):
        for module in attentions:
            if isinstance(found := getattr(module, name, None), int) and found > 0:
                return found
    raise NotExplorable(
        f"{type(attentions[0]).__name__ if attentions else 'A layer without attention'} does not say how many heads it "
        "has: keep their number as self.num_heads."
    )


def _with(module: Any, *names: str) -> Any:
    """The module, which has parts of these names. Raises AttributeError for one that is missing."""
    for name in names:
        getattr(module, name)
    return module


def _with_sizes(parts: Parts) -> Parts:
    if not parts.layers:
        raise NotExplorable(f"{type(parts.model).__name__} has no layers.")
    attention, feed_forward = parts.layers[0].attentions[0], parts.layers[0].feed_forward
    inner: Any = feed_forward.linear_up if parts.gated else feed_forward.linear_1
    vocabulary, width = parts.table.weight.shape
    query: Any = attention.module.q
    parts.sizes.update(
        D=width, H=attention.heads, G=attention.groups, K=query.weight.shape[0] // attention.heads,
        F=inner.weight.shape[0], V=vocabulary, L=len(parts.stacks[-1].layers),
    )  # fmt: skip
    return parts
