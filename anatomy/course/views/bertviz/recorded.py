"""Queries, keys and weights of a model's attention, read while it runs: the library's models, and one's own.

A model returns weights at best, and one's own returns none. Both have linear layers for queries and keys, whose
outputs hooks can catch. The weights follow from these; that they are the ones the model used is checked against what
its attention passed on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
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

    `name` is the module's, such as "blocks.0.attention".
    """

    name: str
    query: Float[Tensor, "1 H T K"]
    key: Float[Tensor, "1 H S K"]
    weights: Float[Tensor, "1 H T S"]
    causal: bool


@torch.no_grad()
def record_attention(model: nn.Module, *inputs: Any, **more: Any) -> list[LayerAttention]:
    """Run `model(*inputs, **more)` on one sentence without padding; return what each of its attentions did, in order.

    Works with BERT, RoBERTa, DistilBERT, GPT-2, BART and their like from the library, however they were loaded, and
    with the course's own models (layers `q`, `k`, `v`, `output_linear`), cross-attention included. The weights can be
    drawn: `head_view([one.weights for one in record_attention(model, ids)], tokens)`.

    Raises:
        ValueError: the model is in training, has no attention that is known, got several sentences, or computes its
            weights otherwise (relative or rotated positions, a mask that is not causal).
    """
    if model.training:
        raise ValueError("The model is in training, where dropout changes what it does: call model.eval() first")
    found: list[LayerAttention] = []
    caught: dict[str, dict[str, Tensor]] = defaultdict(dict)
    hooks = []

    def catch(name: str, part: str) -> Callable[..., None]:
        return lambda module, args, output: caught[name].__setitem__(part, output)

    def finish(name: str, heads: int, context: Any) -> None:
        context = context[0] if isinstance(context, tuple) else context
        found.append(_layer(name, caught[name], heads, context))

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
        heads = next((int(getattr(module, attribute)) for attribute in HEADS if hasattr(module, attribute)), 1)
        last = next((children[output] for output in OUTPUTS if output in children), None)
        if last is not None:
            hooks.append(last.register_forward_pre_hook(lambda _, args, n=name, h=heads: finish(n, h, args[0])))
        else:
            hooks.append(module.register_forward_hook(lambda _, __, output, n=name, h=heads: finish(n, h, output)))
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


def _layer(name: str, caught: dict[str, Tensor], heads: int, context: Tensor) -> LayerAttention:
    parts = caught["qkv"].chunk(3, dim=-1) if "qkv" in caught else (caught["q"], caught["k"], caught["v"])
    if parts[0].size(0) != 1:
        raise ValueError(f"{parts[0].size(0)} sentences at once: pass one, ids of shape (1, T)")
    query, key, value = (part.unflatten(-1, (heads, -1)).transpose(1, 2).double() for part in parts)  # (1, H, T, K)
    each = torch.eye(key.size(2), dtype=key.dtype, device=key.device).expand(*key.shape[:2], -1, -1)  # (1, H, S, S)
    passed_on = context.reshape(1, query.size(2), -1).double()  # (1, T, H · K)
    for causal in (False, True):
        weights = F.scaled_dot_product_attention(query, key, each, is_causal=causal)  # (1, H, T, S): a value a key
        gap = (weights @ value).transpose(1, 2).flatten(2) - passed_on
        if float(gap.abs().max()) <= 1e-4 * max(1.0, float(passed_on.abs().max())):
            return LayerAttention(name, query, key, weights, causal)
    raise ValueError(
        f"What {name} passes on is not softmax(q · k / √K) · v of all tokens, or of those before: it may have relative "
        "or rotated positions, another scale, a mask for padding (pass one sentence without), or an output layer of a "
        "name that is not known here"
    )
