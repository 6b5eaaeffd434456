"""Which of the five edits help at the size of notebook 14's experiment? Each alone, and all together, over five seeds.

    python bench/modern_block.py

Every model learns from the same characters of the fables, in the same order for the same seed, and has as many
parameters as GPT-2's block gives: the inner width of the feed-forward part makes up for what an edit adds or saves.
Each chooses its learning rate on a tenth of the book that is kept back; the table shows the loss on another tenth.
About twenty minutes on one core.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch
from notebook_cells import run_cells
from torch import Tensor, nn

CELLS = ("setup", "RMSNorm", "swiglu-width", "SwiGLU", "half-split", "GroupedQueryAttention", "LlamaBlock", "Llama")
RATES, SEEDS, STEPS = (2.5e-3, 5e-3, 1e-2), range(5), 300


class NoTable(nn.Module):
    """In place of a table of positions: nothing is added."""

    def __init__(self, num_embeddings: int) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings

    def forward(self, positions: Tensor) -> Tensor:  # (T,) -> (T, 1)
        return positions.new_zeros(len(positions), 1, dtype=torch.float32)


def with_bias(layers: nn.Module, *kept: str) -> nn.Module:
    """The same with a bias in each linear layer that is a child of `layers`, except those `kept`."""
    for name, layer in layers.named_children():
        if name not in kept:
            setattr(layers, name, nn.Linear(layer.in_features, layer.out_features))
    return layers


def replaced(model: nn.Module, kind: type[nn.Module], new: Callable[[Any], nn.Module]) -> None:
    """Every module of one kind within the model becomes another one."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, kind):
                setattr(parent, name, new(child))


def variants(names: dict[str, Any]) -> dict[str, Callable[[int], nn.Module]]:
    """A model for each row of the table, made from the inner width of its feed-forward part."""
    GPT, Llama, small = names["GPT"], names["Llama"], names["small"]
    attention, norm, gated = names["GroupedQueryAttention"], names["RMSNorm"], names["SwiGLU"]

    def gpt(width: int) -> nn.Module:
        model = GPT(names["gpt_config"])
        for block in model.blocks:
            size = block.feed_forward.linear_1.in_features
            block.feed_forward.linear_1, block.feed_forward.linear_2 = nn.Linear(size, width), nn.Linear(width, size)
        return model

    def rms_norms(width: int) -> nn.Module:
        model = gpt(width)
        replaced(model, nn.LayerNorm, lambda layer: norm(layer.normalized_shape[0], layer.eps))
        return model

    def swiglu(width: int) -> nn.Module:
        model = gpt(width)
        for block in model.blocks:
            block.feed_forward = with_bias(gated(small(width)))
        return model

    def rotary(width: int) -> nn.Module:
        model = gpt(width)
        model.position_embeddings = NoTable(model.position_embeddings.num_embeddings)
        for block in model.blocks:
            block.attention = with_bias(attention(small(width, groups=4)))
        return model

    class Unturned(attention):  # type: ignore[misc, valid-type]
        def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
            heads, shared = (self.num_heads, self.num_groups), self.num_heads // self.num_groups
            query, key, value = (
                names["split_heads"](layer(x), n)
                for layer, n in ((self.q, heads[0]), (self.k, heads[1]), (self.v, heads[1]))
            )
            key, value = (each.repeat_interleave(shared, dim=1) for each in (key, value))  # (B, H, T, K)
            context = names["masked_attention"](query, key, value, names["causal_mask"](x.size(1)))
            return self.output_linear(names["merge_heads"](context))

    def grouped(width: int) -> nn.Module:
        model = gpt(width)
        for block in model.blocks:
            block.attention = with_bias(Unturned(small(width)))
        return model

    def no_biases(width: int) -> nn.Module:
        model = gpt(width)
        for layer in model.modules():
            if isinstance(layer, nn.Linear | nn.LayerNorm):
                layer.bias = None
        return model

    return {"GPT-2's block": gpt, "1 RMS norm": rms_norms, "2 SwiGLU": swiglu, "3 rotary positions": rotary,
            "4 shared keys and values": grouped, "5 no biases": no_biases,
            "all five": lambda width: Llama(small(width))}  # fmt: skip


def as_large(make: Callable[[int], nn.Module], parameters: int) -> Callable[[], nn.Module]:
    """The same model with the inner width that brings it nearest to so many parameters."""
    sizes = [sum(one.numel() for one in make(width).parameters()) for width in (8, 9)]
    width = 8 + round((parameters - sizes[0]) / (sizes[1] - sizes[0]))
    return lambda: make(width)


def main() -> None:
    names = run_cells("14-since-gpt-2", *CELLS, "fables-cell")
    learn, loss_on, count = names["learn"], names["loss_on"], names["count"]
    rows = variants(names)
    wanted = count(names["GPT"](names["gpt_config"]))
    first: list[float] = []
    for name, make in rows.items():
        new, found = as_large(make, wanted), {}
        for rate in RATES:
            pairs = []
            for seed in SEEDS:
                torch.manual_seed(seed)
                model = new()
                learn(model, seed, rate, STEPS)
                pairs.append((loss_on(names["to_choose"], model), loss_on(names["unseen"], model)))
            found[rate] = [list(each) for each in zip(*pairs, strict=True)]
        best = min(found, key=lambda rate: statistics.mean(found[rate][0]))
        unseen = found[best][1]
        first = first or unseen
        gains = [before - after for before, after in zip(first, unseen, strict=True)]
        print(f"{name:26} {count(new()):,} parameters, rate {best:g}: {summary(unseen)} nats; less by {summary(gains)}")
        means = (f"{rate:g} {statistics.mean(both[1]):.3f}" for rate, both in found.items())
        print(f"{'':26} at each rate: {', '.join(means)}", flush=True)


def summary(values: list[float]) -> str:
    """The mean, and the lowest and the highest."""
    return f"{statistics.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
