"""Right answers of 04-heads: attention in H subspaces at once (Vaswani et al. 2017, §3.2.2).

Width D is shared out among H heads of width K = D / H, so H heads cost what one head of width D would.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig

from anatomy.course.nb03_softmax.right import scaled_dot_product_attention


class AttentionHead(nn.Module):
    """Self-attention in one subspace: three projections of the same tokens, then scaled dot-product attention.

    `embed_dim` is D, `head_dim` is K. Layers `q`, `k`, `v`: linear, D to K, with bias.
    Source: Vaswani et al. 2017, §3.2.2, head_i = Attention(QW_i^Q, KW_i^K, VW_i^V).
    """

    def __init__(self, embed_dim: int, head_dim: int) -> None:
        super().__init__()
        self.q = nn.Linear(embed_dim, head_dim)
        self.k = nn.Linear(embed_dim, head_dim)
        self.v = nn.Linear(embed_dim, head_dim)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, K)
        return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))  # three times (B, T, K)


class MultiHeadAttention(nn.Module):
    """H heads side by side: each reads all of x, the results are concatenated and mixed by one linear layer.

    Takes D and H from `config.hidden_size` and `config.num_attention_heads`. Layers `heads` (an `nn.ModuleList` of H
    `AttentionHead`s) and `output_linear` (D to D, with bias). No dropout, no residual connection: they come in 05.
    Source: Vaswani et al. 2017, §3.2.2, MultiHead = Concat(head_1, …, head_H) W^O.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        embed_dim, num_heads = config.hidden_size, config.num_attention_heads
        head_dim = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        context = torch.cat([head(x) for head in self.heads], dim=-1)  # H × (B, T, K) -> (B, T, D)
        return self.output_linear(context)


def split_heads(x: Tensor, num_heads: int) -> Tensor:  # (B, T, D) -> (B, H, T, K)
    """Give each head its own K neighboring columns of every token: head h gets columns h·K to (h+1)·K − 1."""
    batch, length, width = x.shape
    parts = x.reshape(batch, length, num_heads, width // num_heads)  # (B, T, H, K)
    return parts.transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:  # (B, H, T, K) -> (B, T, D)
    """Put the heads' columns side by side again: the inverse of `split_heads`, for memory in any order."""
    batch, num_heads, length, head_dim = x.shape
    parts = x.transpose(1, 2)  # (B, T, H, K)
    return parts.reshape(batch, length, num_heads * head_dim)


class FusedMultiHeadAttention(nn.Module):
    """`MultiHeadAttention` without the loop: one projection each for all queries, keys and values, one product for all
    heads.

    Layers `q`, `k`, `v`, `output_linear`: D to D, with bias. Rows h·K to (h+1)·K − 1 of `q.weight` belong to head h.
    Raises ValueError when `config.hidden_size` is no multiple of `config.num_attention_heads`.
    Source: Vaswani et al. 2017, §3.2.2.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        embed_dim, num_heads = config.hidden_size, config.num_attention_heads
        if embed_dim % num_heads:
            raise ValueError(f"hidden_size {embed_dim} can't be shared out evenly among {num_heads} heads")
        self.num_heads = num_heads
        self.q = nn.Linear(embed_dim, embed_dim)
        self.k = nn.Linear(embed_dim, embed_dim)
        self.v = nn.Linear(embed_dim, embed_dim)
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        query = split_heads(self.q(x), self.num_heads)  # (B, H, T, K)
        key = split_heads(self.k(x), self.num_heads)  # (B, H, T, K)
        value = split_heads(self.v(x), self.num_heads)  # (B, H, T, K)
        context = scaled_dot_product_attention(query, key, value)  # (B, H, T, K)
        return self.output_linear(merge_heads(context))


def copy_heads(loop: Any, fused: Any) -> None:  # H heads of (K, D) -> q, k, v of (D, D)
    """Copy the weights and biases of a `MultiHeadAttention` into a `FusedMultiHeadAttention`, head after head.

    `loop` stays as it is, and the two modules share no memory afterwards.
    """
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            layer = getattr(fused, name)
            layer.weight.copy_(torch.cat([part.weight for part in parts]))  # H × (K, D) -> (D, D)
            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # H × (K,) -> (D,)
        fused.output_linear.weight.copy_(loop.output_linear.weight)  # (D, D)
        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)


quiz_heads = {
    "input of a head": "all columns of every token",
    "parameters from 1 head to 12": "stay the same",
    "first sum across heads": "output_linear",
    "bias without effect": "bias of k",
}
