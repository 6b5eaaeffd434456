"""Right answers to the exercises of 05-encoder-layer in styles other than the reference's."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.course.nb04_heads.right import FusedMultiHeadAttention, merge_heads, split_heads
from anatomy.course.nb05_encoder_layer.right import (
    FeedForward,
    LayerNorm,
    SelfAttention,
    TransformerEncoderLayer,
    gelu,
)

# ---------------------------------------------------------------------------------------------- gelu


def gelu__complement(x):
    return x * torch.erfc(-x / 2**0.5) / 2


def gelu__distribution(x):
    return x * torch.distributions.Normal(0.0, 1.0).cdf(x)


def gelu__special(x):
    return x * torch.special.ndtr(x)


gelu__lambda = lambda x: x.mul(x.div(math.sqrt(2)).erf().add(1).mul(0.5))  # noqa: E731


def gelu__own_temporaries(x):
    y = torch.erf(x * math.sqrt(0.5))
    y += 1
    y = y / 2
    return y * x


class _Gelu:
    def __call__(self, x):
        return x - x * 0.5 * torch.erfc(x / math.sqrt(2))


gelu__callable = _Gelu()


def gelu__entry_by_entry(x):
    root = math.sqrt(2)
    entries = [value * (1 + torch.erf(value / root)) / 2 for value in x.reshape(-1)]
    return torch.stack(entries).reshape(x.shape)


# ---------------------------------------------------------------------------------------------- LayerNorm


class LayerNorm__mean_of_squares(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.eps = eps

    def forward(self, x):
        centered = x - x.mean(-1, keepdim=True)
        variance = (centered**2).mean(-1, keepdim=True)
        return self.weight * centered * torch.rsqrt(variance + self.eps) + self.bias


class LayerNorm__var_mean(nn.Module):
    def __init__(self, dim: int, eps: float):
        super().__init__()
        self.register_parameter("bias", nn.Parameter(torch.zeros(dim)))
        self.register_parameter("weight", nn.Parameter(torch.full((dim,), 1.0)))
        self.small = eps

    def forward(self, inputs):
        variance, mean = torch.var_mean(inputs, dim=inputs.dim() - 1, unbiased=False, keepdim=True)
        normal = (inputs - mean) / (variance + self.small) ** 0.5
        return torch.addcmul(self.bias, normal, self.weight)


class LayerNorm__sums(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight, self.bias = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.sum(-1) / self.dim
        x = x - mean.unsqueeze(-1)
        deviation = ((x * x).sum(-1) / self.dim + self.eps).sqrt()
        return x / deviation[..., None] * self.weight + self.bias


class LayerNorm__unbiased_put_right(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        dim = x.shape[-1]
        variance = x.var(dim=-1, keepdim=True) * (dim - 1) / dim if dim > 1 else torch.zeros_like(x)
        return ((x - x.mean(dim=-1, keepdim=True)) / (variance + self.eps).sqrt()).mul(self.weight).add(self.bias)


class LayerNorm__einsum(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        rows = rows - rows.mean(1)[:, None]
        variance = torch.einsum("nd,nd->n", rows, rows) / rows.shape[1]
        return (rows / torch.sqrt(variance + self.eps)[:, None] * self.weight + self.bias).reshape(x.shape)


# ---------------------------------------------------------------------------------------------- FeedForward


class FeedForward__library_gelu(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.gelu = nn.GELU()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        x = self.linear_1(x)
        x = self.gelu(x)
        x = self.linear_2(x)
        x = self.dropout(x)
        return x


class FeedForward__functional_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.p = config.hidden_dropout_prob
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)

    def forward(self, x):
        return F.dropout(self.linear_2(gelu(self.linear_1(x))), p=self.p, training=self.training)


class FeedForward__own_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.keep = 1 - config.hidden_dropout_prob
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        hidden = F.gelu(x @ self.linear_1.weight.T + self.linear_1.bias)
        out = hidden @ self.linear_2.weight.T + self.linear_2.bias
        if self.training:
            out = out * torch.bernoulli(torch.full_like(out, self.keep)) / self.keep
        return out


class FeedForward__in_place(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(in_features=config.hidden_size, out_features=config.intermediate_size)
        self.linear_2 = nn.Linear(in_features=config.intermediate_size, out_features=config.hidden_size)
        self.dropout = nn.Dropout(p=config.hidden_dropout_prob, inplace=True)
        self.gelu = gelu

    def forward(self, x):
        return self.dropout(self.linear_2(self.gelu(self.linear_1(x))))


class FeedForward__whole_batch_as_rows(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        rows = x.reshape(-1, x.size(-1))
        return self.dropout(self.linear_2(gelu(self.linear_1(rows)))).view(x.shape)


class FeedForward__closure(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.act, self.dropout = nn.GELU(), nn.Dropout(config.hidden_dropout_prob)
        self.mlpf = lambda x: self.dropout(self.linear_2(self.act(self.linear_1(x))))

    def forward(self, x):
        return self.mlpf(x)


class FeedForward__lazy(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_1 = nn.LazyLinear(config.intermediate_size)
        self.linear_2 = nn.LazyLinear(config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.linear_2(F.gelu(self.linear_1(x))))


# ---------------------------------------------------------------------------------------------- TransformerEncoderLayer


class TransformerEncoderLayer__library_norms(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layer_norm_2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        skip = x
        x = self.layer_norm_1(x)
        x = self.attention(x, mask)
        x = self.dropout(x)
        x = x + skip
        skip = x
        x = self.layer_norm_2(x)
        x = self.feed_forward(x)
        return x + skip


class TransformerEncoderLayer__no_module_for_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.feed_forward = FeedForward(config)
        self.attention = SelfAttention(config)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, hidden_states, attention_mask=None):
        attended = self.attention(self.layer_norm_1(hidden_states), mask=attention_mask)
        attended = F.dropout(attended, self.config.hidden_dropout_prob, self.training)
        total = torch.add(hidden_states, attended)
        return torch.add(total, self.feed_forward(self.layer_norm_2(total)))


class TransformerEncoderLayer__own_attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = FusedMultiHeadAttention(config)
        self.feed_forward = FeedForward(config)
        for name in ("layer_norm_1", "layer_norm_2"):
            setattr(self, name, LayerNorm(config.hidden_size, config.layer_norm_eps))
        self.drop = nn.Dropout(config.hidden_dropout_prob)

    def attend(self, x, mask):
        heads = self.attention.num_heads
        query, key, value = (split_heads(f(x), heads) for f in (self.attention.q, self.attention.k, self.attention.v))
        scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return self.attention.output_linear(merge_heads(scores.softmax(-1) @ value))

    def forward(self, x, mask=None):
        h = x + self.drop(self.attend(self.layer_norm_1(x), mask))
        return h + self.feed_forward(self.layer_norm_2(h))


class TransformerEncoderLayer__one_branch_at_a_time(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        branches = (
            lambda x: self.dropout(self.attention(self.layer_norm_1(x), mask)),
            lambda x: self.feed_forward(self.layer_norm_2(x)),
        )
        for branch in branches:
            x = x + branch(x)
        return x


class TransformerEncoderLayer__closures(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.attend = lambda x, mask: self.dropout(self.attention(self.layer_norm_1(x), mask))
        self.work = lambda x: self.feed_forward(self.layer_norm_2(x))

    def forward(self, x, mask=None):
        x = x + self.attend(x, mask)
        return x + self.work(x)


# ---------------------------------------------------------------------------------------------- PostNormEncoderLayer


class PostNormEncoderLayer__inherits(TransformerEncoderLayer):
    def forward(self, x, mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


class PostNormEncoderLayer__library_norms(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.layer_norm_1 = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        attended = self.layer_norm_1(self.dropout(self.attention(x, mask)) + x)
        return self.layer_norm_2(self.feed_forward(attended) + attended)


class PostNormEncoderLayer__functional_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.p, self.eps, self.shape = config.hidden_dropout_prob, config.layer_norm_eps, (config.hidden_size,)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(config.hidden_size), nn.LayerNorm(config.hidden_size)

    def norm(self, x, layer):
        return F.layer_norm(x, self.shape, layer.weight, layer.bias, self.eps)

    def forward(self, x, mask=None):
        x = self.norm(x + F.dropout(self.attention(x, mask), self.p, self.training), self.layer_norm_1)
        return self.norm(x + self.feed_forward(x), self.layer_norm_2)


class PostNormEncoderLayer__loop(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.drop = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        def attend(x):
            return self.drop(self.attention(x, mask))

        for part, norm in ((attend, self.layer_norm_1), (self.feed_forward, self.layer_norm_2)):
            x = norm(x + part(x))
        return x


class PostNormEncoderLayer__own_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.feed_forward = FeedForward(config)
        self.attention = SelfAttention(config)

    def forward(self, x, mask=None):
        added = self.attention(x, mask)
        if self.training:
            keep = 1 - self.config.hidden_dropout_prob
            added = torch.where(torch.rand(added.shape) < keep, added / keep, torch.zeros(()))
        x = self.layer_norm_1(x + added)
        return self.layer_norm_2(x + self.feed_forward(x))


class PostNormEncoderLayer__closure(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.drop = nn.Dropout(config.hidden_dropout_prob)
        self.attend = lambda x, mask: self.layer_norm_1(x + self.drop(self.attention(x, mask)))

    def forward(self, x, mask=None):
        attended = self.attend(x, mask)
        return self.layer_norm_2(attended + self.feed_forward(attended))


class PostNormEncoderLayer__numbers_for_a_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention, self.feed_forward = SelfAttention(config), FeedForward(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, mask=None):
        if mask is not None:
            mask = (1.0 - mask.to(x.dtype)) * torch.finfo(x.dtype).min
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        return self.layer_norm_2(x + self.feed_forward(x))


# ---------------------------------------------------------------------------------------------- count_layer_parameters


def count_layer_parameters__factored(config):
    d, f = config.hidden_size, config.intermediate_size
    return 4 * d * (d + 1) + f * (d + 1) + d * (f + 1) + 4 * d


def count_layer_parameters__built(config):
    d, f = config.hidden_size, config.intermediate_size
    with torch.device("meta"):
        layers = [nn.Linear(d, d) for _ in range(4)] + [
            nn.Linear(d, f),
            nn.Linear(f, d),
            nn.LayerNorm(d),
            nn.LayerNorm(d),
        ]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def count_layer_parameters__modules(config):
    parts = (
        SelfAttention(config),
        FeedForward(config),
        LayerNorm(config.hidden_size, 1.0),
        LayerNorm(config.hidden_size, 1.0),
    )
    return sum(math.prod(p.shape) for part in parts for p in part.parameters())


def count_layer_parameters__per_head(config):
    d, f, heads = config.hidden_size, config.intermediate_size, config.num_attention_heads
    attention = heads * 3 * (d + 1) * (d // heads) + (d + 1) * d
    return attention + sum((n + 1) * m for n, m in ((d, f), (f, d))) + 2 * 2 * d


# ---------------------------------------------------------------------------------------------- layer_flops


def layer_flops__product(seq_len, config):
    def product(n, m, k):
        return 2 * n * m * k

    t, d, f, heads = seq_len, config.hidden_size, config.intermediate_size, config.num_attention_heads
    return {
        "projections": 4 * product(t, d, d),
        "attention": heads * (product(t, d // heads, t) + product(t, t, d // heads)),
        "feed_forward": product(t, d, f) + product(t, f, d),
    }


def layer_flops__other_order(seq_len, config):
    counted = {}
    counted["feed_forward"] = 4 * seq_len * config.hidden_size * config.intermediate_size
    counted["attention"] = 4 * seq_len**2 * config.hidden_size
    counted["projections"] = 8 * seq_len * config.hidden_size**2
    return counted


def layer_flops__floats(seq_len, config):
    t, d, f = float(seq_len), config.hidden_size, config.intermediate_size
    return dict(projections=8 * t * d**2, attention=4 * t**2 * d, feed_forward=4 * t * d * f)


quiz_encoder_layer__capitals = {
    "moves information between tokens": "Attention",
    "mean and variance over": "The numbers of one token",
    "norms in BERT": "After the addition",
    "one more norm at the end": "Pre-norm",
    "most work for 20 tokens": "Feed-forward network",
}
quiz_encoder_layer__blanks = {
    "moves information between tokens": " attention",
    "mean and variance over": "the numbers of one token ",
    "norms in BERT": "after the addition\n",
    "one more norm at the end": " pre-norm ",
    "most work for 20 tokens": "feed-forward network",
}
quiz_encoder_layer__other_order = {
    "most work for 20 tokens": "feed-forward network",
    "one more norm at the end": "pre-norm",
    "norms in BERT": "after the addition",
    "mean and variance over": "the numbers of one token",
    "moves information between tokens": "attention",
}
