"""From a recording to steps: what each step gave, and what it should give from what it was given.

What is right is computed here with torch's functions, from the step's own inputs. So a mistake shows at the step that
makes it and not again at every later one. Scores are computed from the recorded queries and keys, since no module holds
them; how an attention scaled and masked them is read off its weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from anatomy.course.exploring.parts import Attention, Layer, Parts
from anatomy.course.exploring.recording import NotAsAgreed, Recording

SAME = 2e-4
"""The largest difference, as a share of the largest number, that still counts as the same."""
TINY = 1e-12


@dataclass(frozen=True)
class Step:
    """One step: its array, and the right one where the model's differs."""

    id: str
    kind: str
    part: str
    array: Tensor
    right: Tensor | None
    title: str
    says: str
    formula: str
    axes: tuple[str, ...]
    exercise: str | None = None


@dataclass(frozen=True)
class Kind:
    """What is said of all steps of a kind."""

    title: str
    says: str
    formula: str
    axes: tuple[str, ...]


ROWS = ("token", "column")
TABLES = ("head", "query", "key")
PARTS_OF_HEADS = ("head", "token", "column")
KINDS = {
    "token_vectors": Kind("Token vectors", "Each id takes its row of the token table.", "E[ids]", ROWS),
    "positions": Kind("Positions", "A vector for each position, the same for every text.", "P", ROWS),
    "embedded": Kind("Embedded", "What enters the first layer.", "E[ids] + P", ROWS),
    "norm": Kind("Norm", "Each token's numbers are brought to one scale.", "Norm(x)", ROWS),
    "query": Kind("Query", "What each token asks for.", "x · Wqᵀ + bq", PARTS_OF_HEADS),
    "key": Kind("Key", "What each token can be found by.", "x · Wkᵀ + bk", PARTS_OF_HEADS),
    "value": Kind("Value", "What each token passes on.", "x · Wvᵀ + bv", PARTS_OF_HEADS),
    "turned_query": Kind("Query, turned", "Each query is turned by its position.", "R(t) · q", PARTS_OF_HEADS),
    "turned_key": Kind("Key, turned", "Each key is turned by its position.", "R(s) · k", PARTS_OF_HEADS),
    "scores": Kind("Scores", "The dot product of each query with each key.", "Q · Kᵀ", TABLES),
    "scaled": Kind("Scaled", "Divided by √K, so that wide heads don't make large scores.", "Q · Kᵀ / √K", TABLES),
    "masked": Kind("Masked", "−∞ where a query must not attend.", "scaled, −∞ for later keys", TABLES),
    "weights": Kind("Softmax", "Each row becomes positive and sums to 1.", "softmax over the keys", TABLES),
    "mixed": Kind("Mixed values", "Each query's mixture of the values.", "weights · V", PARTS_OF_HEADS),
    "joined": Kind("Concatenated", "The heads' columns side by side again.", "[head 0 | head 1 | …]", ROWS),
    "projected": Kind("Projected", "One linear layer mixes the heads.", "x · Woᵀ + bo", ROWS),
    "residual": Kind("Residual", "The result is added to what came in.", "x + result", ROWS),
    "inner": Kind("Inner", "The first linear layer makes each token wider.", "x · W₁ᵀ + b₁", ROWS),
    "gate": Kind("Gate", "How much of each inner number passes.", "x · Wgateᵀ", ROWS),
    "activated": Kind("Activated", "What passes the activation.", "GELU(inner)", ROWS),
    "feed_forward": Kind("Feed-forward", "The second linear layer makes it narrow again.", "h · W₂ᵀ + b₂", ROWS),
    "logits": Kind("Logits", "A score for each token of the vocabulary.", "x · Wᵀ", ("token", "word")),
    "probabilities": Kind("Probabilities", "How probable each is to come next.", "softmax(logits)", ("token", "word")),
    "similarity": Kind("Similarity", "Cosines of the last vectors.", "cos(x[t], x[s])", ("token", "token")),
}  # fmt: skip


def embedding_steps(found: Recording, stack: int) -> Iterator[Step]:
    """How a stack's tokens become vectors."""
    parts = found.parts
    name = parts.stacks[stack].name
    make = _maker(f"{name}.embedding", "embedding")
    vectors = found.gave(parts.table, stack)
    entered = found.got(parts.stacks[stack].layers[0].module, 0)
    factor = math.sqrt(parts.sizes["D"]) if parts.positions == "sinusoidal" else 1.0
    yield make("token_vectors", vectors * factor, exercise="embedding_lookup",
               formula="√D · E[ids]" if factor != 1 else "E[ids]")  # fmt: skip
    if parts.positions == "rotary":
        says = "What enters the first layer. Positions come later, in attention."
        yield make("embedded", entered, vectors, formula="E[ids]", says=says)
        return
    if parts.position_table is not None:
        positions, exercise = found.gave(parts.position_table), "Embeddings"
        right = parts.position_table.weight[: vectors.shape[0]]
    else:
        right, exercise = sinusoids(*vectors.shape), "sinusoidal_encoding"
        made = found.encodings
        if len(made) == len(parts.stacks) and made[stack].shape == right.shape:
            positions = made[stack]
        else:
            positions = torch.zeros_like(right) if same(entered, vectors * factor) else right
    positions = positions.expand_as(vectors)
    yield make("positions", positions, right, exercise=exercise)
    added = vectors * factor + positions
    if parts.first_norm is None:
        yield make("embedded", entered, added, exercise="GPT" if parts.kind == "decoder" else "Transformer")
    else:
        normed = _normed(parts, parts.first_norm, added)
        yield make("embedded", entered, normed, formula="Norm(E[ids] + P)", exercise="Embeddings")


def layer_steps(found: Recording, layer: Layer, memory: Tensor | None) -> Iterator[Step]:
    """A layer's steps in order; `memory` is what the encoder made, for cross-attention."""
    parts, x = found.parts, found.got(layer.module)  # (T, D)

    def got(module: Any, right: Tensor) -> Tensor:  # a norm may be used without being called
        return found.got(module) if found.was_called(module) else right

    norms = [*(attention.norm for attention in layer.attentions), layer.norm]
    for number, attention in enumerate(layer.attentions):
        make = _maker(attention.place, attention.name)
        normed = x
        if parts.norm == "pre":
            normed = found.got(attention.module)
            yield make("norm", normed, _normed(parts, attention.norm, x), exercise=_norm_name(parts))
        source = memory if attention.name == "cross" and memory is not None else normed
        yield from _attention_steps(found, attention, normed, source, make)
        added = x + found.gave(attention.module)
        if parts.norm == "pre":
            x = got(norms[number + 1], added)
            yield make("residual", x, added, exercise=_layer_name(parts))
        else:
            entered = got(attention.norm, added)
            yield make("residual", entered, added, exercise=_layer_name(parts))
            after = [*(one.module for one in layer.attentions), layer.feed_forward][number + 1]
            x = found.gave(attention.norm) if found.was_called(attention.norm) else found.got(after)
            yield make("norm", x, _normed(parts, attention.norm, entered), exercise=_norm_name(parts))
    make = _maker(f"{layer.place}.feed_forward", "feed_forward")
    normed = x
    if parts.norm == "pre":
        normed = found.got(layer.feed_forward)
        yield make("norm", normed, _normed(parts, layer.norm, x), exercise=_norm_name(parts))
    yield from _feed_forward_steps(found, layer, normed, make)
    added = x + found.gave(layer.feed_forward)
    if parts.norm == "pre":
        yield make("residual", found.gave(layer.module), added, exercise=_layer_name(parts))
    else:
        entered = got(layer.norm, added)
        yield make("residual", entered, added, exercise=_layer_name(parts))
        yield make("norm", found.gave(layer.module), _normed(parts, layer.norm, entered), exercise=_norm_name(parts))


def _attention_steps(found: Recording, attention: Attention, x: Tensor, source: Tensor, make: Any) -> Iterator[Step]:
    module: Any = attention.module
    K = found.parts.sizes["K"]
    exercise = _attention_name(found.parts, attention)

    def split(rows: Tensor) -> Tensor:  # (T, N·K) -> (N, T, K)
        return rows.unflatten(-1, (-1, K)).transpose(0, 1)

    query, key, value = (split(found.gave(layer)) for layer in (module.q, module.k, module.v))
    expected = [split(F.linear(rows, layer.weight, layer.bias))
                for rows, layer in ((x, module.q), (source, module.k), (source, module.v))]  # fmt: skip
    for kind, array, right in zip(("query", "key", "value"), (query, key, value), expected, strict=True):
        yield make(kind, array, right, exercise=exercise)
    if attention.base is not None:
        right_query, right_key = (rotated(rows, attention.base) for rows in (query, key))
        turned = found.turned.get(attention.place, [])
        if [rows.shape for rows in turned] == [query.shape, key.shape]:
            query, key = turned
        else:
            query, key = right_query, right_key
        yield make("turned_query", query, right_query, exercise="half_split_rotary")
        yield make("turned_key", key, right_key, exercise="half_split_rotary")
    shared = attention.heads // max(1, key.shape[0])
    keys, values = (rows.repeat_interleave(shared, dim=0) for rows in (key, value))  # (H, S, K)
    scores = torch.stack([F.linear(*pair) for pair in zip(query, keys, strict=True)])  # (H, T, S)
    yield make("scores", scores, exercise="dot_product_scores")
    weights = found.weights[attention.place]  # (H, T, S)
    joined = found.got(module.output_linear)
    later = torch.ones_like(scores, dtype=torch.bool).triu(1)
    allowed = ~later if attention.causal else torch.ones_like(later)
    unread = not found.changed and not same(joined, _merged(weights @ values))
    if unread:  # what is joined is no mixture of these values in these weights
        usual = (scores / math.sqrt(K)).masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        moved = weights.transpose(0, 1).reshape(weights.shape)  # heads and queries read in the other order
        unread = same(moved, usual) or not same(weights.sum(-1), torch.ones_like(weights[..., 0]))
        weights = usual if unread else weights
    factor = scale_of(scores, weights)
    right_scaled = scores / math.sqrt(K)
    scaled = right_scaled if factor is None or abs(factor * math.sqrt(K) - 1) < 1e-3 else scores * factor
    yield make("scaled", scaled, right_scaled, exercise="scaled_scores")
    silent = weights.abs() <= TINY
    closed = silent & (scaled.softmax(-1) > 1e-9)  # other scores are so low that their weight is 0 anyway
    masked = scaled.masked_fill(closed | (silent & ~allowed), -torch.inf)
    right_masked = scaled.masked_fill(~allowed, -torch.inf)
    if attention.causal or bool(closed.any()):
        yield make("masked", masked, right_masked, exercise="causal_mask")
    right_weights = masked.softmax(dim=-1)
    yield make("weights", weights, right_weights, exercise="attention_weights")
    mixed = weights @ values  # (H, T, K)
    yield make("mixed", mixed, exercise="weighted_values")
    says = "What is joined is no mixture of the values: look at how heads are split and merged." if unread else None
    blamed = unread or same(weights, right_weights)  # else the weights are
    yield make("joined", joined, _merged(mixed) if blamed else None, exercise="merge_heads", says=says)
    right = F.linear(joined, module.output_linear.weight, module.output_linear.bias)
    yield make("projected", found.gave(module), right, exercise=exercise)


def _merged(mixed: Tensor) -> Tensor:  # (H, T, K) -> (T, H·K)
    return mixed.transpose(0, 1).flatten(-2)


def scale_of(scores: Tensor, weights: Tensor) -> float | None:  # 2 × (H, T, S)
    """The number c for which weights are softmax(c · scores) over the keys that have any; None if there is none."""
    seen = weights > TINY
    logs = weights.clamp(min=TINY).log().double()
    count = seen.sum(-1, keepdim=True).clamp(min=1)

    def centered(rows: Tensor) -> Tensor:  # around the mean of the keys that are seen
        rows = rows.masked_fill(~seen, 0)
        return (rows - rows.sum(-1, keepdim=True) / count).masked_fill(~seen, 0)

    right, left = centered(scores.double()), centered(logs)
    spread = float(right.square().sum())
    if spread < 1e-9:
        return None
    factor = float((right * left).sum()) / spread
    gap = (left - factor * right).abs().max()
    return factor if float(gap) <= 5e-3 * max(1.0, float(left.abs().max())) else None


def _feed_forward_steps(found: Recording, layer: Layer, x: Tensor, make: Any) -> Iterator[Step]:
    module: Any = layer.feed_forward
    if found.parts.gated:
        gate, inner = found.gave(module.linear_gate), found.gave(module.linear_up)
        yield make("gate", gate, F.linear(x, module.linear_gate.weight), exercise="SwiGLU")
        yield make("inner", inner, F.linear(x, module.linear_up.weight), exercise="SwiGLU", formula="x · Wupᵀ")
        activated = found.got(module.linear_down)
        yield make("activated", activated, F.silu(gate) * inner, exercise="SwiGLU", formula="SiLU(gate) ⊙ inner")
        right = F.linear(activated, module.linear_down.weight)
    else:
        inner, activated = found.gave(module.linear_1), found.got(module.linear_2)
        yield make("inner", inner, F.linear(x, module.linear_1.weight, module.linear_1.bias), exercise="FeedForward")
        curve = "tanh" if found.parts.kind == "decoder" else "none"
        yield make("activated", activated, F.gelu(inner, approximate=curve), exercise="gelu")
        right = F.linear(activated, module.linear_2.weight, module.linear_2.bias)
    name = "SwiGLU" if found.parts.gated else "FeedForward"
    yield make("feed_forward", found.gave(module), right, exercise=name)


def output_steps(found: Recording) -> Iterator[Step]:
    """From the last layer to predictions, or to an encoder's similarities."""
    parts = found.parts
    stack = parts.stacks[-1]
    make = _maker(f"{stack.name}.output", "output")
    x = found.gave(stack.layers[-1].module)
    if parts.head is None:
        unit = F.normalize(x, dim=-1)
        yield make("similarity", unit @ unit.T, exercise=None)
        return
    name = {"learned": "GPT", "sinusoidal": "Transformer", "rotary": "Llama"}[parts.positions]
    if parts.last_norm is not None:
        right = _normed(parts, parts.last_norm, x)
        normed = found.got(parts.head) if found.was_called(parts.head) else right
        yield make("norm", normed, right, exercise=name)
        x = normed
    logits = found.result if found.result is not None else found.gave(parts.head)  # (T, V)
    right = F.linear(x, parts.head.weight, getattr(parts.head, "bias", None))
    yield make("logits", logits, right, exercise=name)
    yield make("probabilities", logits.softmax(dim=-1), exercise="next_token_probabilities")


def sinusoids(length: int, width: int) -> Tensor:  # -> (T, D)
    """Sines and cosines of Vaswani et al. 2017, §3.5, neighbors in pairs."""
    angles = torch.arange(length).double()[:, None] * 10000.0 ** (-torch.arange(0, width, 2).double() / width)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()


def rotated(x: Tensor, base: float) -> Tensor:  # (N, T, K) -> (N, T, K)
    """Rotary positions 0 … T − 1 in the library's layout: column i turns with column i + K/2 (Su et al. 2021, §3.4)."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2]).double()[:, None] * base ** (-torch.arange(half).double() / half)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, K/2)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def same(found: Tensor, right: Tensor) -> bool:
    """Whether two arrays are equal but for rounding; −∞ equals −∞."""
    if found.shape != right.shape:
        return False
    if not bool((found.isfinite() == right.isfinite()).all()):
        return False
    finite = right.isfinite()
    if not bool(finite.any()):
        return True
    return float((found - right)[finite].abs().max()) <= SAME * max(1e-3, float(right[finite].abs().max()))


def _normed(parts: Parts, norm: Any, x: Tensor) -> Tensor:
    """What a norm should give: RMS norm in a model with rotary positions, layer norm elsewhere."""
    eps = next((value for value in vars(norm).values() if isinstance(value, float) and 0 < value < 0.1), 1e-5)
    if parts.positions == "rotary":
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * norm.weight
    return F.layer_norm(x, x.shape[-1:], norm.weight, getattr(norm, "bias", None), eps)


def _norm_name(parts: Parts) -> str | None:
    return {
        "learned": None if parts.kind == "decoder" else "LayerNorm",
        "sinusoidal": "LayerNorm",
        "rotary": "RMSNorm",
    }[parts.positions]


def _layer_name(parts: Parts) -> str:
    if parts.kind == "encoder-decoder":
        return "TransformerDecoderLayer"
    return "PostNormEncoderLayer" if parts.kind == "encoder" else "LlamaBlock" if parts.gated else "DecoderBlock"


def _attention_name(parts: Parts, attention: Attention) -> str:
    if attention.name == "cross":
        return "CrossAttention"
    if parts.gated:
        return "GroupedQueryAttention"
    return "CausalSelfAttention" if parts.kind == "decoder" else "FusedMultiHeadAttention"


def _maker(place: str, part: str) -> Any:
    """A function that makes this place's steps."""

    def make(
        kind: str, array: Tensor, right: Tensor | None = None, *, exercise: str | None = None, says: str | None = None,
        formula: str | None = None,
    ) -> Step:  # fmt: skip
        about = KINDS[kind]
        if right is not None and array.shape != right.shape:
            raise NotAsAgreed(f"{place}.{kind} is {tuple(array.shape)}, and should be {tuple(right.shape)}")
        wrong = right is not None and not same(array, right)
        return Step(
            f"{place}.{kind}", kind, part, array, right if wrong else None, about.title, says or about.says,
            formula or about.formula, about.axes, exercise,
        )  # fmt: skip

    return make
