"""Right answers of 14-since-gpt-2: what has changed in the block since GPT-2, and a Llama made of it.

Sources: Touvron et al. 2023 (LLaMA), §2.2; the papers of the parts are named where these are defined.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from anatomy.course.nb04_heads.right import merge_heads, split_heads
from anatomy.course.nb06_positional_encodings.right import apply_rotary
from anatomy.course.nb09_causal_mask.right import causal_mask, masked_attention

KeysAndValues = tuple[Tensor, Tensor]
"""What a layer's attention keeps of the tokens that it has seen: turned keys, and values, both (B, G, P, K)."""


class RMSNorm(nn.Module):
    """Divide each token's numbers by the root of their mean square, then scale each column.

    Parameter `weight` (D,), 1 at first; no bias. `eps` is added to the mean square, under the root. No mean is
    subtracted. Source: Zhang and Sennrich 2019, §3, equation 4.
    """

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., D)
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return x / torch.sqrt(mean_square + self.eps) * self.weight


def swiglu_width(dim: int, multiple_of: int) -> int:
    """The inner width F of a SwiGLU that has as many parameters as a feed-forward network of width 4·D.

    The smallest multiple of `multiple_of` that is at least ⅔ · 4 · `dim`. Source: Shazeer 2020, §2 (two thirds);
    Touvron et al. 2023, §2.2 (⅔ · 4d).
    """
    return math.ceil(8 * dim / (3 * multiple_of)) * multiple_of


class SwiGLU(nn.Module):
    """A feed-forward network in which one half of the inner numbers decides how much of the other half passes.

    Layers `linear_gate` and `linear_up` (D to F), `linear_down` (F to D), all without bias; D is
    `config.hidden_size`, F is the config's `intermediate_size`. Source: Shazeer 2020, §2, equation 6.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.linear_gate = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_up = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_down = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., D)
        gate = F.silu(self.linear_gate(x))  # (..., F)
        return self.linear_down(gate * self.linear_up(x))


def half_split_rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    # (..., T, K), (T,) -> (..., T, K)
    """`apply_rotary` of notebook 06 with the library's pairs: column i turns with column i + K/2.

    `positions` (T,) are whole numbers. Raises ValueError when K is odd. Source: Su et al. 2021, §3.2.2; the pairing is
    that of the published code of LLaMA in the transformers library.
    """
    if x.size(-1) % 2:
        raise ValueError(f"the last axis must be even, to be turned in pairs; it is {x.size(-1)}")
    order = torch.arange(x.size(-1), device=x.device).view(2, -1).T.flatten()  # (K,): 0, K/2, 1, K/2 + 1, …
    turned = apply_rotary(x[..., order], positions, base)  # neighbors are pairs there
    return turned[..., order.argsort()]


class GroupedQueryAttention(nn.Module):
    """Causal self-attention in which several query heads share one head of keys and values, with rotary positions.

    Layers `q` (D to H·K), `k` and `v` (D to G·K), with bias where `config.attention_bias` says so; `output_linear`
    (H·K to D), without. H is the config's `num_attention_heads`, G its `num_key_value_heads`, which divides H, K its
    `head_dim`. Query head h reads group h // (H / G). Queries and keys are turned by `half_split_rotary` with
    `config.rope_parameters["rope_theta"]`. Source: Ainslie et al. 2023, §2.2.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.num_heads, self.num_groups = config.num_attention_heads, config.num_key_value_heads
        self.base = config.rope_parameters["rope_theta"]
        width, bias = config.hidden_size, config.attention_bias
        self.q = nn.Linear(width, self.num_heads * config.head_dim, bias=bias)
        self.k = nn.Linear(width, self.num_groups * config.head_dim, bias=bias)
        self.v = nn.Linear(width, self.num_groups * config.head_dim, bias=bias)
        self.output_linear = nn.Linear(self.num_heads * config.head_dim, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        positions = torch.arange(x.size(1), device=x.device)  # (T,)
        query = half_split_rotary(split_heads(self.q(x), self.num_heads), positions, self.base)  # (B, H, T, K)
        key = half_split_rotary(split_heads(self.k(x), self.num_groups), positions, self.base)  # (B, G, T, K)
        value = split_heads(self.v(x), self.num_groups)  # (B, G, T, K)
        shared = self.num_heads // self.num_groups
        key, value = (each.repeat_interleave(shared, dim=1) for each in (key, value))  # (B, H, T, K)
        context = masked_attention(query, key, value, causal_mask(x.size(1)).to(x.device))
        return self.output_linear(merge_heads(context))


def cache_bytes(config: Any, tokens: int, bytes_per_number: int = 2) -> int:
    """How many bytes the keys and values of so many tokens take, in all layers, for one text.

    Source: Ainslie et al. 2023, §1 and §2.2; Pope et al. 2022, §2.1.
    """
    numbers = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim  # for each token
    return numbers * tokens * bytes_per_number


class LlamaBlock(nn.Module):
    """GPT-2's block of today: pre-norm, with RMS norms, grouped-query attention and SwiGLU.

    Layers `rms_norm_1` and `attention` (a `GroupedQueryAttention`), `rms_norm_2` and `feed_forward` (a `SwiGLU`); both
    norms have `config.rms_norm_eps`. No dropout. Source: Touvron et al. 2023, §2.2.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.rms_norm_1 = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rms_norm_2 = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.attention = GroupedQueryAttention(config)
        self.feed_forward = SwiGLU(config)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        x = x + self.attention(self.rms_norm_1(x))
        return x + self.feed_forward(self.rms_norm_2(x))


class Llama(nn.Module):
    """Token ids in; for each position, logits for the token that comes next.

    Layers `token_embeddings` (V rows); `blocks`, `config.num_hidden_layers` of them; `rms_norm` at the end; `lm_head`,
    D to V without bias, whose weight is the token table where `config.tie_word_embeddings` says so, and its own
    elsewhere. No table of positions: attention turns queries and keys. Source: Touvron et al. 2023, §2.2.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList(LlamaBlock(config) for _ in range(config.num_hidden_layers))
        self.rms_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.token_embeddings.weight  # (V, D), shared

    def forward(self, ids: Tensor) -> Tensor:  # (B, T) -> (B, T, V)
        x = self.token_embeddings(ids)  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.rms_norm(x))


def cached_grouped_attention(
    attention: Any, x: Tensor, cache: KeysAndValues | None = None
) -> tuple[Tensor, KeysAndValues]:  # (B, N, D), 2 × (B, G, P, K) -> (B, N, D), 2 × (B, G, P + N, K)
    """What a `GroupedQueryAttention` gives for N new tokens, when keys and values of the P tokens before are kept.

    `attention` has `q`, `k`, `v`, `output_linear`, `num_heads`, `num_groups` and `base`. `cache` holds the past's keys,
    already turned by their positions 0 … P − 1, and values; None: there is no past. Returns the new tokens' outputs and
    the keys and values of all P + N tokens. The cache handed over stays as it is.
    """
    past = 0 if cache is None else cache[0].size(2)
    positions = torch.arange(past, past + x.size(1), device=x.device)  # (N,)
    query = half_split_rotary(split_heads(attention.q(x), attention.num_heads), positions, attention.base)
    key = half_split_rotary(split_heads(attention.k(x), attention.num_groups), positions, attention.base)
    value = split_heads(attention.v(x), attention.num_groups)  # (B, G, N, K)
    if cache is not None:
        key = torch.cat([cache[0], key], dim=2)  # (B, G, P + N, K)
        value = torch.cat([cache[1], value], dim=2)
    shared = attention.num_heads // attention.num_groups
    keys, values = (each.repeat_interleave(shared, dim=1) for each in (key, value))  # (B, H, P + N, K)
    mask = causal_mask(past + x.size(1))[past:].to(x.device)  # (N, P + N): the rows of the new tokens
    context = masked_attention(query, keys, values, mask)  # (B, H, N, K)
    return attention.output_linear(merge_heads(context)), (key, value)


def attention_in_blocks(query: Tensor, key: Tensor, value: Tensor, block_size: int) -> Tensor:
    # (..., T, K), (..., S, K), (..., S, Dv) -> (..., T, Dv)
    """Scaled dot-product attention that looks at `block_size` keys at a time and never forms the T × S table.

    What it carries from block to block: the largest score of each query so far, the sum of its exponentials, and its
    weighted values, both relative to that largest score. Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al.
    2022, §3.1.
    """
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)  # (..., T, 1)
    total, mixed = torch.zeros_like(largest), torch.zeros_like(largest)  # mixed grows to (..., T, Dv)
    for start in range(0, key.size(-2), block_size):
        keys, values = (each[..., start : start + block_size, :] for each in (key, value))  # (..., block, ·)
        scores = query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., T, block)
        before, largest = largest, torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink = (before - largest).exp()  # (..., T, 1): what is carried is relative to the new largest score
        weights = (scores - largest).exp()  # (..., T, block)
        total = total * shrink + weights.sum(dim=-1, keepdim=True)  # (..., T, 1)
        mixed = mixed * shrink + weights @ values  # (..., T, Dv)
    return mixed / total


def top_k_routing(scores: Tensor, top_k: int) -> Tensor:  # (..., E) -> (..., E)
    """How much each expert counts for each token: the softmax over the `top_k` largest scores, 0 for all others.

    `top_k` is between 1 and E. Source: Shazeer et al. 2017, §2.1, equations 3 and 5; Jiang et al. 2024, §2.1.
    """
    best, experts = scores.topk(top_k, dim=-1)  # 2 × (..., k)
    return torch.zeros_like(scores).scatter(-1, experts, best.softmax(dim=-1))


class LoRALinear(nn.Module):
    """A trained linear layer that stays as it is, and a product of two narrow matrices that learns beside it.

    `linear` is the layer, D to F, whose parameters no longer learn. Parameters `lora_A` (R, D), random at first, and
    `lora_B` (F, R), 0 at first. What they add is scaled by `alpha` / R. Source: Hu et al. 2021, §4.1, equation 3.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., F)
        return self.linear(x) + self.scale * (x @ self.lora_A.T @ self.lora_B.T)

    def merged_weight(self) -> Tensor:  # -> (F, D)
        """The weight of one linear layer that does the same."""
        return self.linear.weight + self.scale * (self.lora_B @ self.lora_A)


def quantize_rows(weight: Tensor) -> tuple[Tensor, Tensor]:  # (F, D) -> int8 (F, D), (F, 1)
    """Each row as whole numbers from −127 to 127, and one scale: weight ≈ codes · scale.

    A row's scale is its largest absolute entry / 127; no row has only zeros. Source: Dettmers et al. 2022, §2.1
    (absmax) and §3.1 (a scale for each row).
    """
    scale = weight.abs().amax(dim=-1, keepdim=True) / 127  # (F, 1)
    return (weight / scale).round().to(torch.int8), scale


def min_p_probabilities(logits: Tensor, min_p: float) -> Tensor:  # (..., V) -> (..., V)
    """Softmax without the tokens whose probability is below `min_p` times the largest one's.

    `min_p` is between 0 and 1. What is left sums to 1; the most probable token always stays. Source: Nguyen et al.
    2024, §3.
    """
    probabilities = logits.softmax(dim=-1)
    least = min_p * probabilities.amax(dim=-1, keepdim=True)  # (..., 1)
    kept = probabilities.masked_fill(probabilities < least, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


quiz_since_gpt_2 = {
    "RMSNorm leaves out": "the mean",
    "sharing keys and values saves": "memory of the cache",
    "the library's rotary pairs": "the same under a permutation",
    "attention in blocks gives": "the same numbers",
}
