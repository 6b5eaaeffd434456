"""Queries, keys and weights of a model's attention, read while it runs: the library's models, and one's own.

A model returns weights at best, and one's own returns none. Both have linear layers for queries and keys, whose
outputs hooks can catch. The weights follow from these; that they are the ones the model used is checked against what
its attention passed on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

PROJECTIONS = (("q", "k", "v"), ("query", "key", "value"), ("q_lin", "k_lin", "v_lin"), ("q_proj", "k_proj", "v_proj"))
FUSED = "c_attn"  # GPT-2's: queries, keys and values in one
OUTPUTS = (
    "output_linear",
    "out_lin",
    "out_proj",
    "o_proj",
    "c_proj",
    "dense",
)  # takes what attention passes on; BERT's is elsewhere
HEADS = ("num_heads", "num_attention_heads", "n_heads")


@dataclass(frozen=True)
class LayerAttention:
    """Attention as one layer computed it: `weights` = softmax(query · keyᵀ / √K), for later keys 0 if `causal`.

    `name` is the module's, such as "blocks.0.attention". Queries and keys are turned where the model turns them by
    their positions; a key that several heads share is there once for each. `window` is how many tokens each sees, the
    token itself among them, where the model limits that; None elsewhere.
    """

    name: str
    query: Float[Tensor, "1 H T K"]
    key: Float[Tensor, "1 H S K"]
    weights: Float[Tensor, "1 H T S"]
    causal: bool
    window: int | None = None


@torch.no_grad()
def record_attention(model: nn.Module, *inputs: Any, **more: Any) -> list[LayerAttention]:
    """Run `model(*inputs, **more)` on one sentence without padding; return what each of its attentions did, in order.

    Works with BERT, RoBERTa, DistilBERT, GPT-2, BART, Llama, Qwen2, Mistral and their like from the library, however
    they were loaded, and with the course's own models (layers `q`, `k`, `v`, `output_linear`), cross-attention,
    grouped queries and rotary positions included. The base of the rotation is the attention's `base`, or its config's
    `rope_theta`. The weights can be drawn: `head_view([one.weights for one in record_attention(model, ids)], tokens)`.

    Raises:
        ValueError: the model is in training, has no attention that is known, got several sentences, or computes its
            weights otherwise (relative positions, a rotation of another kind, a mask for padding).
    """
    if model.training:
        raise ValueError("The model is in training, where dropout changes what it does: call model.eval() first")
    found: list[LayerAttention] = []
    caught: dict[str, dict[str, Tensor]] = defaultdict(dict)
    hooks = []

    def catch(name: str, part: str) -> Callable[..., None]:
        return lambda module, args, output: caught[name].__setitem__(part, output)

    def finish(name: str, module: nn.Module, context: Any) -> None:
        context = context[0] if isinstance(context, tuple) else context
        found.append(_layer(name, module, caught[name], context))

    for name, module in model.named_modules():
        children = dict(module.named_children())
        names = next((names for names in PROJECTIONS if children.keys() >= set(names)), None)
        if names is not None:
            sources = dict(zip("qkv", names, strict=True))
        elif FUSED in children:
            sources = {"qkv": FUSED}
        else:
            continue
        hooks += [children[child].register_forward_hook(catch(name, part)) for part, child in sources.items()]
        last = next((children[output] for output in OUTPUTS if output in children), None)
        if last is not None:
            hooks.append(last.register_forward_pre_hook(lambda m, args, n=name, of=module: finish(n, of, args[0])))
        else:
            hooks.append(module.register_forward_hook(lambda of, _, output, n=name: finish(n, of, output)))
    try:
        model(*inputs, **more)
    finally:
        for hook in hooks:
            hook.remove()
    if not found:
        raise ValueError(
            f"No attention was found in {type(model).__name__}: no module with layers named q, k and v, or as BERT, "
            "DistilBERT, BART or GPT-2 name theirs"
        )
    return found


def _layer(name: str, module: nn.Module, caught: dict[str, Tensor], context: Tensor) -> LayerAttention:
    """The attention that explains what the module passed on: turned or not, with the mask that fits best."""
    parts = caught["qkv"].chunk(3, dim=-1) if "qkv" in caught else (caught["q"], caught["k"], caught["v"])
    if parts[0].size(0) != 1:
        raise ValueError(f"{parts[0].size(0)} sentences at once: pass one, ids of shape (1, T)")
    heads = _heads(module)
    groups = parts[1].size(-1) // (parts[0].size(-1) // heads)  # G: as many heads of keys as there is width for
    query = _split(parts[0], heads)  # (1, H, T, K)
    key, value = (_split(part, groups).repeat_interleave(heads // groups, dim=1) for part in parts[1:])  # (1, H, S, K)
    each = torch.eye(key.size(2), dtype=key.dtype, device=key.device).expand(*key.shape[:2], -1, -1)  # (1, H, S, S)
    passed_on = context.reshape(1, query.size(2), -1).double()  # (1, T, H · K)
    tried = []
    for base, (causal, window) in product(_bases(module), _masks(module)):
        pair = (query, key) if base is None else (_turned(query, base), _turned(key, base))
        seen = _seen(query.size(2), key.size(2), causal, window).to(key.device)
        weights = F.scaled_dot_product_attention(*pair, each, attn_mask=seen)  # (1, H, T, S): a value a key
        gap = (weights @ value).transpose(1, 2).flatten(2) - passed_on
        tried.append((float(gap.abs().max()), LayerAttention(name, *pair, weights, causal, window)))
    smallest, best = min(tried, key=lambda one: one[0])
    if smallest <= 1e-4 * max(1.0, float(passed_on.abs().max())):
        return best
    raise ValueError(
        f"What {name} passes on is not softmax(q · k / √K) · v of all tokens, or of those before: it may have relative "
        "positions, a rotation of another kind, norms for queries, another scale, a mask for padding (pass one "
        "sentence without), or an output layer of a name that is not known here"
    )


def _heads(module: nn.Module) -> int:
    """How many query heads a module of attention has, as it says itself, or its config; 1 where neither does."""
    config = getattr(module, "config", None)
    return next((int(getattr(owner, name)) for owner in (module, config) for name in HEADS if hasattr(owner, name)), 1)


def _split(x: Tensor, heads: int) -> Tensor:  # (1, T, heads · K) -> (1, heads, T, K)
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).double()


def _bases(module: nn.Module) -> tuple[float | None, ...]:
    """Bases of a rotation that queries and keys may have had; None: they were not turned."""
    rope = getattr(getattr(module, "config", None), "rope_parameters", None)
    base = getattr(module, "base", rope.get("rope_theta") if isinstance(rope, dict) else None)
    return (None,) if base is None else (float(base), None)


def _masks(module: nn.Module) -> list[tuple[bool, int | None]]:
    """Whether later tokens are hidden, and how many are seen: what may have been so."""
    config = getattr(module, "config", None)
    window = getattr(module, "sliding_window", getattr(config, "sliding_window", None))
    return [(False, None), (True, None)] + ([(True, window)] if window else [])


def _seen(length: int, keys: int, causal: bool, window: int | None) -> Tensor:  # -> (T, S)
    """True where a token sees another."""
    seen = torch.ones(length, keys, dtype=torch.bool)
    seen = seen.tril() if causal else seen
    return seen.triu(1 - window) if window else seen


def _turned(x: Tensor, base: float) -> Tensor:  # (1, H, T, K) -> (1, H, T, K)
    """Column i turned with column i + K/2 by the position times base^(−2i/K), for the positions 0 … T − 1."""
    half = x.size(-1) // 2
    rates = base ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)  # (K/2,)
    angles = torch.arange(x.size(2), dtype=x.dtype, device=x.device)[:, None] * rates  # (T, K/2)
    first, second = x[..., :half], x[..., half:]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
