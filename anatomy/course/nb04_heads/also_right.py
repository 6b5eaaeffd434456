"""Right answers, written differently."""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import einsum

from anatomy.course.nb03_softmax.right import scaled_dot_product_attention
from anatomy.course.nb04_heads.right import AttentionHead, merge_heads, split_heads


class AttentionHead__library(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q = nn.Linear(embed_dim, head_dim)
        self.k = nn.Linear(embed_dim, head_dim)
        self.v = nn.Linear(embed_dim, head_dim)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


class AttentionHead__step_by_step(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super(AttentionHead__step_by_step, self).__init__()
        self.scale = head_dim**-0.5
        for name in "vkq":
            setattr(self, name, nn.Linear(embed_dim, head_dim))

    def forward(self, hidden_state):
        queries = self.q(hidden_state) * self.scale
        scores = torch.bmm(queries, self.k(hidden_state).permute(0, 2, 1))
        scores -= scores.max(dim=-1, keepdim=True).values
        weights = torch.exp(scores)
        return torch.bmm(weights / weights.sum(-1, keepdim=True), self.v(hidden_state))


class AttentionHead__einsum_and_own_parameters(nn.Module):
    class Projection(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(outputs, inputs) / math.sqrt(inputs))
            self.bias = nn.Parameter(torch.zeros(outputs))

        def forward(self, x):
            return einsum("btd,kd->btk", x, self.weight) + self.bias

    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (self.Projection(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        weights = einsum("btk,bsk->bts", q, k).div(q.shape[-1] ** 0.5).softmax(dim=2)
        return einsum("bts,bsk->btk", weights, v)


class AttentionHead__token_by_token(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q = nn.Linear(embed_dim, head_dim, bias=True)
        self.k = nn.Linear(embed_dim, head_dim, bias=True)
        self.v = nn.Linear(embed_dim, head_dim, bias=True)

    def forward(self, x):
        rows = []
        for sentence in x:
            q, k, v = self.q(sentence), self.k(sentence), self.v(sentence)
            rows.append(torch.stack([torch.softmax(k @ one / math.sqrt(len(one)), 0) @ v for one in q]))
        return torch.stack(rows)


class MultiHeadAttention__append(nn.Module):
    def __init__(self, config):
        super().__init__()
        heads = []
        for _ in range(config.num_attention_heads):
            heads.append(AttentionHead(config.hidden_size, config.hidden_size // config.num_attention_heads))
        self.output_linear = nn.Linear(config.hidden_size, config.hidden_size)
        self.heads = nn.ModuleList(heads)

    def forward(self, hidden_state):
        x = torch.cat([h(hidden_state) for h in self.heads], 2)
        x = self.output_linear(x)
        return x


class MultiHeadAttention__sum_of_projected_heads(nn.Module):
    """Each head times its own block of columns of the output matrix, added up: the same sum in another order."""

    def __init__(self, config):
        super().__init__()
        self.head_dim = int(config.hidden_size / config.num_attention_heads)
        self.heads = nn.ModuleList()
        for _ in range(config.num_attention_heads):
            self.heads.append(AttentionHead(config.hidden_size, self.head_dim))
        self.output_linear = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        out = self.output_linear.bias
        for head, block in zip(self.heads, self.output_linear.weight.split(self.head_dim, dim=1)):
            out = out + head(x) @ block.T
        return out


class MultiHeadAttention__fills_a_buffer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.num_heads = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(
            [AttentionHead(self.width, self.width // self.num_heads)]
            + [AttentionHead(self.width, self.width // self.num_heads) for _ in range(1, self.num_heads)]
        )
        self.output_linear = nn.Linear(self.width, self.width)

    def forward(self, x):
        K = self.width // self.num_heads
        out = x.new_zeros(x.shape)
        for i, head in enumerate(self.heads):
            out[:, :, i * K : (i + 1) * K] = head(x)
        return self.output_linear(out)


class MultiHeadAttention__stack_and_flatten(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        size = config.hidden_size // config.num_attention_heads
        self.heads = nn.ModuleList([AttentionHead(config.hidden_size, size) for _ in range(config.num_attention_heads)])
        self.output_linear = nn.Linear(size * config.num_attention_heads, config.hidden_size)

    def forward(self, x):
        return self.output_linear(torch.stack([head(x) for head in self.heads], dim=2).flatten(2))


def split_heads__view(x, num_heads):
    B, T, D = x.size()
    return x.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)


def split_heads__stacked_chunks(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def split_heads__slices(x, num_heads):
    size = x.shape[2] // num_heads
    out = torch.empty(x.shape[0], num_heads, x.shape[1], size, dtype=x.dtype)
    for h in range(num_heads):
        out[:, h] = x[:, :, h * size : (h + 1) * size]
    return out


split_heads__unflatten = lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).swapaxes(1, 2).contiguous()  # noqa: E731


def merge_heads__contiguous_view(x):
    x = x.transpose(1, 2).contiguous()
    return x.view(x.size(0), x.size(1), -1)


def merge_heads__cat(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


def merge_heads__flatten(x):
    return torch.flatten(torch.permute(x, (0, 2, 1, 3)), start_dim=2)


def merge_heads__unbind(x):
    return torch.concat(x.unbind(dim=1), dim=2)


class FusedMultiHeadAttention__minimal(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0:
            raise ValueError(f"{config.hidden_size} is not divisible by {config.num_attention_heads}")
        self.H = config.num_attention_heads
        self.q = nn.Linear(config.hidden_size, config.hidden_size)
        self.k = nn.Linear(config.hidden_size, config.hidden_size)
        self.v = nn.Linear(config.hidden_size, config.hidden_size)
        self.output_linear = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        q, k, v = [split_heads(f(x), self.H) for f in (self.q, self.k, self.v)]
        return self.output_linear(merge_heads(F.scaled_dot_product_attention(q, k, v)))


class FusedMultiHeadAttention__einsum(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_dim = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.embed_dim // self.num_heads
        if self.head_dim * self.num_heads != self.embed_dim:
            raise ValueError(f"{self.embed_dim} / {self.num_heads} is not a whole number")
        for name in ["q", "k", "v", "output_linear"]:
            self.add_module(name, nn.Linear(self.embed_dim, self.embed_dim))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.num_heads, self.head_dim)) for f in (self.q, self.k, self.v))
        weights = torch.softmax(einsum("bthk,bshk->bhts", q, k) / self.head_dim**0.5, dim=-1)
        return self.output_linear(einsum("bhts,bshk->bthk", weights, v).flatten(2))


class FusedMultiHeadAttention__heads_into_the_batch(nn.Module):
    def __init__(self, config):
        super().__init__()
        D, H = config.hidden_size, config.num_attention_heads
        if D % H:
            raise ValueError(D, H)
        self.H, self.K = H, D // H
        self.output_linear, self.v, self.k, self.q = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x):
        B, T, D = x.shape

        def part(y):
            return y.view(B, T, self.H, self.K).transpose(1, 2).reshape(B * self.H, T, self.K)

        out = scaled_dot_product_attention(part(self.q(x)), part(self.k(x)), part(self.v(x)))
        return self.output_linear(out.view(B, self.H, T, self.K).transpose(1, 2).contiguous().view(B, T, D))


class FusedMultiHeadAttention__one_matrix_product(nn.Module):
    """Queries, keys and values in one product, from three layers."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        width, heads = config.hidden_size, config.num_attention_heads
        if width != heads * (width // heads):
            raise ValueError(f"width {width} must be a multiple of {heads} heads")
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        weight = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        bias = torch.cat([self.q.bias, self.k.bias, self.v.bias])
        q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
        H = self.config.num_attention_heads
        q, k, v = split_heads(q, H), split_heads(k, H), split_heads(v, H)
        scores = q @ k.mT
        scores /= q.size(-1) ** 0.5
        return self.output_linear(merge_heads(scores.softmax(-1) @ v))


def copy_heads__in_place_slices(loop, fused):
    with torch.no_grad():
        for h, head in enumerate(loop.heads):
            K = head.q.weight.shape[0]
            rows = slice(h * K, (h + 1) * K)
            fused.q.weight[rows] = head.q.weight
            fused.k.weight[rows] = head.k.weight
            fused.v.weight[rows] = head.v.weight
            fused.q.bias[rows] = head.q.bias
            fused.k.bias[rows] = head.k.bias
            fused.v.bias[rows] = head.v.bias
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())
    return fused


def copy_heads__state_dict(loop, fused):
    old = loop.state_dict()
    new = {name: old[name] for name in ("output_linear.weight", "output_linear.bias")}
    for layer in "qkv":
        for part in ("weight", "bias"):
            new[f"{layer}.{part}"] = torch.cat([old[f"heads.{h}.{layer}.{part}"] for h in range(len(loop.heads))])
    fused.load_state_dict(new)


def copy_heads__new_parameters(loop, fused):
    for layer in ("q", "k", "v"):
        target = getattr(fused, layer)
        target.weight = nn.Parameter(torch.vstack([getattr(h, layer).weight for h in loop.heads]))
        target.bias = nn.Parameter(torch.hstack([getattr(h, layer).bias for h in loop.heads]))
    fused.output_linear.weight = nn.Parameter(loop.output_linear.weight.clone())
    fused.output_linear.bias = nn.Parameter(loop.output_linear.bias.detach().clone())


def copy_heads__data(loop, fused):
    for layer in ["q", "k", "v"]:
        target = getattr(fused, layer)
        target.weight.data = torch.stack([getattr(h, layer).weight.data for h in loop.heads]).flatten(0, 1)
        target.bias.data = torch.stack([getattr(h, layer).bias.data for h in loop.heads]).flatten()
    fused.output_linear.weight.data.copy_(loop.output_linear.weight.data)
    fused.output_linear.bias.data[:] = loop.output_linear.bias.data


quiz_heads__capitals = {
    "input of a head": "All columns of every token",
    "parameters from 1 head to 12": "Stay the same",
    "first sum across heads": "Output_Linear",
    "bias without effect": "Bias of k",
}
quiz_heads__blanks = {
    "input of a head": " all columns of every token ",
    "parameters from 1 head to 12": "stay the same ",
    "first sum across heads": " output_linear",
    "bias without effect": "bias of k\n",
}
quiz_heads__other_order = {
    "bias without effect": "bias of k",
    "first sum across heads": "output_linear",
    "parameters from 1 head to 12": "stay the same",
    "input of a head": "all columns of every token",
}
