"""Right answers of 05-encoder-layer: attention, a feed-forward network, norms and skip connections make one layer.

Sources: the layer, Vaswani et al. 2017, §3.1 and §5.4 (post-norm); the same with its norms moved, Xiong et al. 2020,
Figure 1 (pre-norm); BERT's version, Devlin et al. 2019, §3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertConfig

from anatomy.course.nb04_heads.right import FusedMultiHeadAttention, merge_heads, split_heads


class SelfAttention(FusedMultiHeadAttention):
    """Notebook 04's attention, which also takes a mask. Given in the notebook, not an exercise.

    Layers `q`, `k`, `v`, `output_linear`, as before. `mask` broadcasts to (B, H, T, S): True where query t may attend
    to key s; or numbers that are added to the scores, 0 where it may and −∞ where it may not. None: every query may.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # (B, T, D) -> (B, T, D)
        query, key, value = (split_heads(layer(x), self.num_heads) for layer in (self.q, self.k, self.v))
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)  # (B, H, T, K)
        return self.output_linear(merge_heads(context))


def gelu(x: Tensor) -> Tensor:  # any shape -> the same shape
    """x·Φ(x), entry by entry, where Φ(x) is the probability that a standard normal number is below x.

    Exact, by the error function: Φ(x) = ½·(1 + erf(x/√2)). Not the tanh approximation, which differs by up to 5e-4.
    Source: Hendrycks and Gimpel 2016, §2.
    """
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


class FeedForward(nn.Module):
    """Two linear layers with a GELU between them, applied to every token by itself, then dropout.

    Takes D, F and p from `config.hidden_size`, `config.intermediate_size` and `config.hidden_dropout_prob`. Layers
    `linear_1` (D to F), `linear_2` (F to D), both with bias, `gelu` and `dropout`.
    Source: Vaswani et al. 2017, §3.3, equation 2, with GELU for ReLU as in Devlin et al. 2019, §A.2.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = gelu
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., D)
        hidden = self.gelu(self.linear_1(x))  # (..., F)
        return self.dropout(self.linear_2(hidden))


class LayerNorm(nn.Module):
    """Each token's D numbers shifted to mean 0 and scaled to variance 1, then a learned scale and shift per column.

    `dim` is D, `eps` is added to the variance, under the root. Parameters `weight` (D,), at first 1, and `bias` (D,),
    at first 0. The variance is the biased one (divided by D). Any leading axes.
    Source: Ba, Kiros and Hinton 2016, §3, equations 3 and 4.
    """

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., D)
        mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
        variance = x.var(dim=-1, correction=0, keepdim=True)  # (..., 1)
        return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias


class TransformerEncoderLayer(nn.Module):
    """The pre-norm layer: x + attention(norm(x)), then the same with the feed-forward network.

    Layers `layer_norm_1` and `attention`, `layer_norm_2` and `feed_forward`; `dropout` for what attention returns
    (`feed_forward` has its own). Sizes, p and eps (`layer_norm_eps`) come from `config`. `mask` is handed on to
    attention. The result is not normalized: a stack of these needs one more norm at its end.
    Source: Xiong et al. 2020, Figure 1 (b) and Table 1.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # (B, T, D) -> (B, T, D)
        x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))
        return x + self.feed_forward(self.layer_norm_2(x))


class PostNormEncoderLayer(nn.Module):
    """The post-norm layer: norm(x + attention(x)), then the same with the feed-forward network.

    Names, sizes and mask as in `TransformerEncoderLayer`. This is the arrangement of 2017, and BERT's.
    Source: Vaswani et al. 2017, §3.1, LayerNorm(x + Sublayer(x)), and §5.4 for the dropout.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # (B, T, D) -> (B, T, D)
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


def count_layer_parameters(config: BertConfig) -> int:
    """How many numbers one encoder layer learns; pre-norm and post-norm have the same.

    Attention 4·(D² + D), feed-forward 2·D·F + F + D, two norms 2·2·D. With F = 4·D that is 12·D² + 13·D.
    """
    width, inner = config.hidden_size, config.intermediate_size
    attention = 4 * (width * width + width)  # q, k, v and output_linear
    feed_forward = (width * inner + inner) + (inner * width + width)  # linear_1 and linear_2
    norms = 2 * (width + width)  # a weight and a bias each
    return attention + feed_forward + norms


def layer_flops(seq_len: int, config: BertConfig) -> dict[str, int]:
    """Floating-point operations of one layer's matrix products, for one sentence of `seq_len` (T) tokens.

    A product of (n, m) with (m, k) counts 2·n·m·k: one multiplication and one addition for each term. Everything else
    (biases, softmax, GELU, norms, skips) is left out.

    Returns
    -------
    dict
        ``"projections"``: q, k, v and output_linear, 8·T·D²; ``"attention"``: scores and mixtures in all heads,
        4·T²·D; ``"feed_forward"``: linear_1 and linear_2, 4·T·D·F.

    Source: the orders T²·D and T·D², Vaswani et al. 2017, Table 1.
    """
    width, inner = config.hidden_size, config.intermediate_size
    return {
        "projections": 4 * 2 * seq_len * width * width,
        "attention": 2 * 2 * seq_len * seq_len * width,
        "feed_forward": 2 * 2 * seq_len * width * inner,
    }


quiz_encoder_layer = {
    "moves information between tokens": "attention",
    "mean and variance over": "the numbers of one token",
    "norms in BERT": "after the addition",
    "one more norm at the end": "pre-norm",
    "most work for 20 tokens": "feed-forward network",
}
