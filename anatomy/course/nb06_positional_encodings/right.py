"""Right answers of 06-positional-encodings: telling a model where each token is.

Sources: Vaswani et al. 2017, §3.5 (sinusoids); Devlin et al. 2019, §3 and Figure 2 (learned positions); Shaw et al.
2018, §3, and Raffel et al. 2020, §2.1 (relative positions); Su et al. 2021, §3 (rotary).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from transformers import BertConfig


def permutation_gap(module: Callable[[Tensor], Tensor], x: Tensor, perm: Tensor) -> float:
    """How far f(shuffled x) is from shuffled f(x): the largest absolute difference over all entries.

    `module` is any callable f that maps (B, T, D) to (B, T, …), and may mix the sentences of a batch; `x` is (B, T, D);
    `perm` (T,) holds each of 0 … T − 1 once, and shuffling is along T. About 0, up to rounding, for an f that is
    permutation-equivariant.
    Source: Lee et al. 2019, §3.1, for attention over sets.
    """
    shuffled_first = module(x[:, perm])  # (B, T, …)
    shuffled_last = module(x)[:, perm]  # (B, T, …)
    return (shuffled_first - shuffled_last).abs().max().item()


def sinusoidal_encoding(num_positions: int, dim: int) -> Tensor:  # -> (N, D)
    """Row t: sin(t·ω₀), cos(t·ω₀), sin(t·ω₁), cos(t·ω₁), … with ωᵢ = 10000^(−2i/D), for t = 0 … N − 1; float32.

    Angles are computed in float64: in float32 a large t·ωᵢ has lost digits before the sine sees it.
    Each call makes a new table. Raises ValueError when `dim` is odd. Source: Vaswani et al. 2017, §3.5.
    """
    if dim % 2:
        raise ValueError(f"dim must be even, one sine and one cosine per frequency; it is {dim}")
    positions = torch.arange(num_positions, dtype=torch.float64)  # (N,)
    frequencies = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)  # (D/2,)
    angles = positions[:, None] * frequencies  # (N, 1) · (D/2,) -> (N, D/2)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (N, D/2, 2)
    return pairs.flatten(start_dim=1).float()  # (N, D)


def shift_matrix(offset: int, dim: int) -> Tensor:  # -> (D, D)
    """The matrix T(k) with PE(t + k) = T(k)·PE(t) for every t.

    PE(t) is row t of `sinusoidal_encoding` as a column. Pair i is turned by k·ωᵢ, so T(k) is zero but for D/2 blocks
    [[cos, sin], [−sin, cos]] on its diagonal. `offset` is k, of either sign; float32.
    Raises ValueError when `dim` is odd. Source: Vaswani et al. 2017, §3.5, where such a linear map is promised.
    """
    if dim % 2:
        raise ValueError(f"dim must be even, one sine and one cosine per frequency; it is {dim}")
    angles = offset * 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)  # (D/2,)
    cos, sin = angles.cos(), angles.sin()  # (D/2,)
    even, odd = torch.arange(0, dim, 2), torch.arange(1, dim, 2)  # where sines and cosines are
    matrix = torch.zeros(dim, dim, dtype=torch.float64)
    matrix[even, even], matrix[even, odd] = cos, sin  # sin(α + β) = cos β · sin α + sin β · cos α
    matrix[odd, even], matrix[odd, odd] = -sin, cos  # cos(α + β) = −sin β · sin α + cos β · cos α
    return matrix.float()


class Embeddings(nn.Module):
    """What enters the first layer: the token's vector plus its position's vector, normalized, with dropout.

    Layers `token_embeddings` (V rows) and `position_embeddings` (`config.max_position_embeddings` rows), both
    `nn.Embedding` of width D; `layer_norm` with `config.layer_norm_eps`; `dropout` with `config.hidden_dropout_prob`.
    Positions count from 0. No `padding_idx`: padding is the mask's business (notebook 07). Token types are left out.
    Raises ValueError when T exceeds the table of positions.
    Source: Devlin et al. 2019, §3 and Figure 2 (input representation).
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor) -> Tensor:  # (B, T) -> (B, T, D)
        length, most = input_ids.size(1), self.position_embeddings.num_embeddings
        if length > most:
            raise ValueError(f"{length} tokens, but the table of positions ends after {most}")
        positions = torch.arange(length, device=input_ids.device)  # (T,)
        x = self.token_embeddings(input_ids) + self.position_embeddings(positions)  # (B, T, D) + (T, D)
        return self.dropout(self.layer_norm(x))


def relative_position_bias(length: int, table: Tensor) -> Tensor:  # (H, 2M+1) -> (H, T, T)
    """One number per head and offset, to be added to the scores: b[h, i, j] = table[h, clip(j − i, −M, M) + M].

    `length` is T. `table` holds for each head the offsets −M … M, so offset 0 is its middle column; keys farther away
    than M share the outermost entry on their side.
    Source: clipping from Shaw et al. 2018, §3.2; a learned scalar per head from Raffel et al. 2020, §2.1.
    """
    reach = table.size(-1) // 2  # M
    positions = torch.arange(length, device=table.device)
    offsets = positions[None, :] - positions[:, None]  # (T, T): key j minus query i
    return table[:, offsets.clamp(-reach, reach) + reach]


def apply_rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    # (..., T, K), (T,) -> (..., T, K)
    """Turn the pairs (x₀, x₁), (x₂, x₃), … of the token at position t: pair i by the angle +t·base^(−2i/K).

    `positions` (T,) are whole numbers, in any order and with gaps. Dot products of turned queries and keys depend on
    the difference of their positions alone. The result has x's number type. Raises ValueError when K is odd.
    Source: Su et al. 2021, §3.2.2 and §3.4.2, equation 34.
    """
    width = x.size(-1)
    if width % 2:
        raise ValueError(f"the last axis must be even, to be turned in pairs; it is {width}")
    exponents = -torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width  # (K/2,)
    angles = positions[:, None] * base**exponents  # (T, 1) · (K/2,) -> (T, K/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, K/2)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., T, K/2)
    turned = (first * cos - second * sin, first * sin + second * cos)  # two of (..., T, K/2)
    return torch.stack(turned, dim=-1).flatten(start_dim=-2)  # (..., T, K/2, 2) -> (..., T, K)


quiz_positions = {
    "words shuffled, no positions": "the same vectors, shuffled",
    "nothing beyond its table": "learned positions",
    "rotary turns": "queries and keys",
    "a relative bias is added to": "the scores",
}
