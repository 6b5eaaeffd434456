"""Other right answers of 14-since-gpt-2, in styles that a student might choose."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.course.nb06_positional_encodings.right import apply_rotary
from anatomy.course.nb14_since_gpt_2.right import (
    GroupedQueryAttention,
    LlamaBlock,
    LoRALinear,
    RMSNorm,
    SwiGLU,
    half_split_rotary,
    quiz_since_gpt_2,
)


class RMSNorm__rsqrt(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class RMSNorm__by_the_norm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.dim = dim
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        total = (x * x).sum(-1, keepdim=True)
        return x * self.weight / (total / self.dim + self.eps) ** 0.5


class RMSNorm__einsum(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        square = torch.einsum("...d,...d->...", x, x) / x.shape[-1]
        return torch.einsum("...d,...,d->...d", x, (square + self.eps).rsqrt(), self.weight)


def swiglu_width__whole(dim, multiple_of):
    return -(-8 * dim // (3 * multiple_of)) * multiple_of


def swiglu_width__loop(dim, multiple_of):
    width = multiple_of
    while 3 * width < 8 * dim:
        width += multiple_of
    return width


def swiglu_width__remainder(dim, multiple_of):
    inner = (8 * dim + 2) // 3
    rest = inner % multiple_of
    return inner if rest == 0 else inner + multiple_of - rest


class SwiGLU__sigmoid(nn.Module):
    def __init__(self, config):
        super().__init__()
        d, f = config.hidden_size, config.intermediate_size
        self.linear_gate, self.linear_up = (nn.Linear(d, f, bias=False) for _ in range(2))
        self.linear_down = nn.Linear(f, d, bias=False)

    def forward(self, x):
        g = self.linear_gate(x)
        return self.linear_down(g * torch.sigmoid(g) * self.linear_up(x))


class SwiGLU__module(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_down = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.linear_up = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_gate = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.linear_down(self.linear_up(x) * self.act(self.linear_gate(x)))


class SwiGLU__products(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear_gate = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_up = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.linear_down = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x):
        inner = x @ self.linear_gate.weight.T
        inner = inner / (1 + torch.exp(-inner))
        return (inner * (x @ self.linear_up.weight.T)) @ self.linear_down.weight.T


def half_split_rotary__rotate_half(x, positions, base=10000.0):
    K = x.shape[-1]
    if K % 2:
        raise ValueError("K must be even")
    frequencies = 1.0 / base ** (torch.arange(0, K, 2, dtype=torch.float64) / K)
    angles = positions.double()[:, None] * frequencies
    angles = torch.cat([angles, angles], dim=-1)
    rotated = torch.cat([-x[..., K // 2 :], x[..., : K // 2]], dim=-1)
    return x * angles.cos().to(x.dtype) + rotated * angles.sin().to(x.dtype)


def half_split_rotary__complex(x, positions, base=10000.0):
    if x.size(-1) % 2 == 1:
        raise ValueError(f"an odd width: {x.size(-1)}")
    first, second = x.double().chunk(2, dim=-1)
    steps = base ** (-torch.arange(first.size(-1), dtype=torch.float64) / first.size(-1))
    turn = torch.polar(torch.ones(1, dtype=torch.float64), positions[:, None] * steps)
    turned = torch.complex(first, second) * turn
    return torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)


def half_split_rotary__interleaved(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("odd width")
    pairs = torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)
    turned = apply_rotary(pairs, positions, base).unflatten(-1, (-1, 2))
    return torch.cat([turned[..., 0], turned[..., 1]], dim=-1)


class GroupedQueryAttention__views(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.H, self.G, self.K = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        self.num_heads, self.num_groups, self.base = self.H, self.G, config.rope_parameters["rope_theta"]
        self.q = nn.Linear(config.hidden_size, self.H * self.K, bias=config.attention_bias)
        self.k = nn.Linear(config.hidden_size, self.G * self.K, bias=config.attention_bias)
        self.v = nn.Linear(config.hidden_size, self.G * self.K, bias=config.attention_bias)
        self.output_linear = nn.Linear(self.H * self.K, config.hidden_size, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        at = torch.arange(T)
        q = half_split_rotary(self.q(x).view(B, T, self.H, self.K).transpose(1, 2), at, self.base)
        k = half_split_rotary(self.k(x).view(B, T, self.G, self.K).transpose(1, 2), at, self.base)
        v = self.v(x).view(B, T, self.G, self.K).transpose(1, 2)
        q = q.reshape(B, self.G, self.H // self.G, T, self.K)
        scores = torch.einsum("bgrtk,bgsk->bgrts", q, k) / math.sqrt(self.K)
        scores = scores + torch.full((T, T), -torch.inf).triu(1)
        mixed = torch.einsum("bgrts,bgsk->bgrtk", scores.softmax(-1), v)
        return self.output_linear(mixed.reshape(B, self.H, T, self.K).transpose(1, 2).reshape(B, T, -1))


class GroupedQueryAttention__library(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, head = config.hidden_size, config.head_dim
        self.num_heads, self.num_groups = config.num_attention_heads, config.num_key_value_heads
        self.base = config.rope_parameters["rope_theta"]
        self.q = nn.Linear(width, self.num_heads * head, bias=config.attention_bias)
        self.k = nn.Linear(width, self.num_groups * head, bias=config.attention_bias)
        self.v = nn.Linear(width, self.num_groups * head, bias=config.attention_bias)
        self.output_linear = nn.Linear(self.num_heads * head, width, bias=False)

    def forward(self, x):
        where = torch.arange(x.size(1))
        query, key, value = (
            layer(x).unflatten(-1, (many, -1)).transpose(1, 2)
            for layer, many in ((self.q, self.num_heads), (self.k, self.num_groups), (self.v, self.num_groups))
        )
        query, key = half_split_rotary(query, where, self.base), half_split_rotary(key, where, self.base)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
        return self.output_linear(mixed.transpose(1, 2).flatten(2))


class GroupedQueryAttention__loop(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.num_heads = config.num_attention_heads
        d, k, bias = config.hidden_size, config.head_dim, config.attention_bias
        self.q = nn.Linear(d, config.num_attention_heads * k, bias=bias)
        self.k = nn.Linear(d, config.num_key_value_heads * k, bias=bias)
        self.v = nn.Linear(d, config.num_key_value_heads * k, bias=bias)
        self.output_linear = nn.Linear(config.num_attention_heads * k, d, bias=False)

    def forward(self, x):
        config, T = self.config, x.size(1)
        K, base = config.head_dim, config.rope_parameters["rope_theta"]
        shared = config.num_attention_heads // config.num_key_value_heads
        query, key, value, results = self.q(x), self.k(x), self.v(x), []
        for head in range(config.num_attention_heads):
            group = head // shared
            q = half_split_rotary(query[..., head * K : (head + 1) * K], torch.arange(T), base)
            k = half_split_rotary(key[..., group * K : (group + 1) * K], torch.arange(T), base)
            scores = (q @ k.mT / K**0.5).masked_fill(torch.ones(T, T).triu(1) == 1, -torch.inf)
            results.append(scores.softmax(-1) @ value[..., group * K : (group + 1) * K])
        return self.output_linear(torch.cat(results, -1))

    @property
    def num_groups(self):
        return self.config.num_key_value_heads

    @property
    def base(self):
        return self.config.rope_parameters["rope_theta"]


def cache_bytes__product(config, tokens, bytes_per_number=2):
    return math.prod(
        (2, config.num_hidden_layers, config.num_key_value_heads, config.head_dim, tokens, bytes_per_number)
    )


def cache_bytes__layers(config, tokens, bytes_per_number=2):
    total = 0
    for _ in range(config.num_hidden_layers):
        keys = values = config.num_key_value_heads * config.head_dim * tokens
        total += (keys + values) * bytes_per_number
    return total


def cache_bytes__width(config, tokens, bytes_per_number=2):
    width = config.num_key_value_heads * config.head_dim
    return bytes_per_number * 2 * tokens * width * config.num_hidden_layers


class LlamaBlock__steps(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention, self.feed_forward = GroupedQueryAttention(config), SwiGLU(config)
        self.rms_norm_1, self.rms_norm_2 = (RMSNorm(config.hidden_size, config.rms_norm_eps) for _ in range(2))

    def forward(self, x):
        residual = x
        x = self.attention(self.rms_norm_1(x)) + residual
        residual = x
        return self.feed_forward(self.rms_norm_2(x)) + residual


class LlamaBlock__library_norm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.rms_norm_1 = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.rms_norm_2 = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.attention = GroupedQueryAttention(config)
        self.feed_forward = SwiGLU(config)

    def forward(self, x):
        for part, norm in ((self.attention, self.rms_norm_1), (self.feed_forward, self.rms_norm_2)):
            x = x + part(norm(x))
        return x


class LlamaBlock__expanded(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.rms_norm_1 = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.attention = GroupedQueryAttention(config)
        self.rms_norm_2 = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.feed_forward = SwiGLU(config)

    def forward(self, x):
        attended = self.attention(self.rms_norm_1(x))
        return x + attended + self.feed_forward(self.rms_norm_2(x + attended))


class Llama__sequential(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.Sequential(*(LlamaBlock(config) for _ in range(config.num_hidden_layers)))
        self.rms_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.token_embeddings.weight = self.lm_head.weight

    def forward(self, ids):
        return self.lm_head(self.rms_norm(self.blocks(self.token_embeddings(ids))))


class Llama__one_hot(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList([LlamaBlock(config) for _ in range(config.num_hidden_layers)])
        self.rms_norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.token_embeddings.weight

    def forward(self, ids):
        x = self.token_embeddings.weight[ids]
        for block in self.blocks:
            x = block(x)
        return self.rms_norm(x) @ self.lm_head.weight.T


class Llama__indices(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.depth = config.num_hidden_layers
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList()
        for _ in range(self.depth):
            self.blocks.append(LlamaBlock(config))
        self.rms_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = self.token_embeddings.weight if config.tie_word_embeddings else self.lm_head.weight

    def forward(self, ids):
        hidden = self.token_embeddings(ids)
        for number in range(self.depth):
            hidden = self.blocks[number](hidden)
        return self.lm_head(self.rms_norm(hidden))


def cached_grouped_attention__library(attention, x, cache=None):
    B, N, _ = x.shape
    H, G = attention.num_heads, attention.num_groups
    q = attention.q(x).view(B, N, H, -1).transpose(1, 2)
    k = attention.k(x).view(B, N, G, -1).transpose(1, 2)
    v = attention.v(x).view(B, N, G, -1).transpose(1, 2)
    P = cache[0].shape[2] if cache is not None else 0
    where = torch.arange(P, P + N)
    q, k = half_split_rotary(q, where, attention.base), half_split_rotary(k, where, attention.base)
    if P:
        k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
    mask = torch.ones(N, P + N, dtype=torch.bool).tril(P)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return attention.output_linear(mixed.transpose(1, 2).reshape(B, N, -1)), (k, v)


def cached_grouped_attention__groups(attention, x, cache=None):
    B, N, _ = x.shape
    H, G = attention.num_heads, attention.num_groups
    query, key, value = attention.q(x), attention.k(x), attention.v(x)
    K = key.size(-1) // G
    past = cache[0].size(2) if cache else 0
    where = torch.arange(N) + past
    query = half_split_rotary(query.view(B, N, H, K).permute(0, 2, 1, 3), where, attention.base)
    key = half_split_rotary(key.view(B, N, G, K).permute(0, 2, 1, 3), where, attention.base)
    value = value.view(B, N, G, K).permute(0, 2, 1, 3)
    if cache:
        key, value = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value), strict=True))
    query = query.reshape(B, G, H // G, N, K)
    scores = torch.einsum("bgrnk,bgsk->bgrns", query, key) / K**0.5
    later = torch.arange(past + N) > where[:, None]
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    mixed = torch.einsum("bgrns,bgsk->bgrnk", weights, value).reshape(B, H, N, K)
    return attention.output_linear(mixed.transpose(1, 2).flatten(2)), (key, value)


def cached_grouped_attention__token_by_token(attention, x, cache=None):
    outputs = []
    for step in range(x.size(1)):
        token = x[:, step : step + 1]
        B = len(token)
        past = cache[0].size(2) if cache is not None else 0
        where = torch.tensor([past])
        q = half_split_rotary(attention.q(token).view(B, attention.num_heads, 1, -1), where, attention.base)
        k = half_split_rotary(attention.k(token).view(B, attention.num_groups, 1, -1), where, attention.base)
        v = attention.v(token).view(B, attention.num_groups, 1, -1)
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        cache = k, v
        shared = attention.num_heads // attention.num_groups
        weights = (q @ k.repeat_interleave(shared, 1).mT / q.size(-1) ** 0.5).softmax(-1)
        outputs.append(attention.output_linear((weights @ v.repeat_interleave(shared, 1)).flatten(1)[:, None]))
    return torch.cat(outputs, dim=1), cache


def attention_in_blocks__logs(query, key, value, block_size):
    logs, mixed = [], []
    for keys, values in zip(key.split(block_size, -2), value.split(block_size, -2), strict=True):
        scores = query @ keys.mT / query.size(-1) ** 0.5
        logs.append(scores.logsumexp(-1))
        mixed.append(scores.softmax(-1) @ values)
    shares = torch.stack(logs).softmax(0)
    return sum(share[..., None] * each for share, each in zip(shares, mixed, strict=True))


def attention_in_blocks__carried(query, key, value, block_size):
    query = query / math.sqrt(query.shape[-1])
    m = total = o = None
    for start in range(0, key.shape[-2], block_size):
        k, v = key[..., start : start + block_size, :], value[..., start : start + block_size, :]
        s = query @ k.transpose(-1, -2)
        new = s.amax(-1, keepdim=True)
        if m is not None:
            new = torch.maximum(m, new)
        p = torch.exp(s - new)
        if m is None:
            total, o = p.sum(-1, keepdim=True), p @ v
        else:
            a = torch.exp(m - new)
            total, o = a * total + p.sum(-1, keepdim=True), a * o + p @ v
        m = new
    return o / total


def attention_in_blocks__normalized(query, key, value, block_size):
    result, log_total = None, None
    for begin in range(0, key.size(-2), block_size):
        scores = (
            torch.einsum("...tk,...sk->...ts", query, key[..., begin : begin + block_size, :]) * query.size(-1) ** -0.5
        )
        here = scores.logsumexp(-1, keepdim=True)
        mixed = scores.softmax(-1) @ value[..., begin : begin + block_size, :]
        if result is None:
            result, log_total = mixed, here
        else:
            both = torch.logaddexp(log_total, here)
            result = result * (log_total - both).exp() + mixed * (here - both).exp()
            log_total = both
    return result


quiz_since_gpt_2__capitals = {question: answer.upper() for question, answer in quiz_since_gpt_2.items()}
quiz_since_gpt_2__spaces = {question: f" {answer} " for question, answer in quiz_since_gpt_2.items()}
quiz_since_gpt_2__other_order = dict(reversed(quiz_since_gpt_2.items()))


def top_k_routing__masked(scores, top_k):
    threshold = scores.sort(dim=-1, descending=True).values[..., top_k - 1 : top_k]
    return torch.softmax(scores.masked_fill(scores < threshold, float("-inf")), dim=-1)


def top_k_routing__renormalized(scores, top_k):
    shares = F.softmax(scores, -1)
    kept = torch.zeros_like(scores)
    indices = shares.topk(top_k).indices
    kept.scatter_(-1, indices, 1.0)
    kept = kept * shares
    return kept / kept.sum(-1, keepdim=True)


class LoRALinear__by_the_merged_weight(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear
        for parameter in self.linear.parameters():
            parameter.requires_grad = False
        self.rank, self.alpha = rank, alpha
        self.lora_A = nn.Parameter(torch.empty(rank, linear.weight.shape[1]).uniform_(-1, 1))
        self.lora_B = nn.Parameter(torch.zeros(linear.weight.shape[0], rank))

    def merged_weight(self):
        return self.linear.weight + self.lora_B @ self.lora_A * (self.alpha / self.rank)

    def forward(self, x):
        return F.linear(x, self.merged_weight(), self.linear.bias)


class LoRALinear__of_two_layers(LoRALinear):
    def forward(self, x):
        narrow = F.linear(x, self.lora_A)
        return self.scale * F.linear(narrow, self.lora_B) + F.linear(x, self.linear.weight, self.linear.bias)

    def merged_weight(self):
        return torch.einsum("or,ri->oi", self.lora_B * self.scale, self.lora_A) + self.linear.weight


class LoRALinear__scaled_at_the_start(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.factor = alpha / rank
        self.lora_A = nn.Parameter(0.01 * torch.randn(rank, linear.in_features))
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.linear = linear
        linear.weight.requires_grad_(False)
        if linear.bias is not None:
            linear.bias.requires_grad_(False)

    def update(self):
        return self.lora_B @ (self.factor * self.lora_A)

    def forward(self, x):
        return self.linear(x) + x @ self.update().transpose(0, 1)

    def merged_weight(self):
        return self.linear.weight.detach() + self.update()


def quantize_rows__row_by_row(weight):
    codes, scales = torch.zeros(weight.shape, dtype=torch.int8), torch.ones(len(weight), 1)
    for number, row in enumerate(weight):
        largest = max(row.max(), -row.min())
        scales[number] = largest / 127
        codes[number] = torch.round(row * 127 / largest).char()
    return codes, scales


def quantize_rows__by_hand(weight):
    scales = weight.abs().max(dim=1).values.unsqueeze(1) / 127.0
    return torch.floor(weight / scales + 0.5).clamp(-127, 127).to(dtype=torch.int8), scales


def quantize_rows__by_the_norm(weight):
    scale = torch.linalg.vector_norm(weight, ord=float("inf"), dim=-1, keepdim=True).div(127)
    return [weight.div(scale).round().type(torch.int8), scale]


def top_k_routing__token_by_token(scores, top_k):
    if scores.dim() > 1:
        return torch.stack([top_k_routing__token_by_token(one, top_k) for one in scores])
    chosen = sorted(range(len(scores)), key=lambda expert: -scores[expert].item())[:top_k]
    weights, far = torch.zeros(len(scores)), scores - scores.max()
    for expert in chosen:
        weights[expert] = far[expert].exp() / sum(far[other].exp() for other in chosen)
    return weights


def min_p_probabilities__on_logits(logits, min_p):
    gap = logits - logits.max(dim=-1, keepdim=True).values
    if min_p > 0:
        gap = gap.masked_fill(gap < math.log(min_p), -math.inf)
    return gap.softmax(-1)


def min_p_probabilities__product(logits, min_p):
    p = F.softmax(logits, dim=-1)
    p = p * (p >= min_p * p.max(-1, keepdim=True)[0])
    return F.normalize(p, p=1, dim=-1)


def min_p_probabilities__where(logits, min_p):
    shares = torch.exp(logits - logits.logsumexp(-1, keepdim=True))
    largest, _ = shares.max(dim=-1)
    kept = torch.where(shares / largest[..., None] >= min_p, logits, torch.tensor(-torch.inf))
    return torch.softmax(kept, -1)
