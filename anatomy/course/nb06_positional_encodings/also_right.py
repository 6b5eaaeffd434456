"""Right answers, written differently."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import einsum

from anatomy.course.nb05_encoder_layer.right import LayerNorm
from anatomy.course.nb06_positional_encodings.right import sinusoidal_encoding


def permutation_gap__undoes(module, x, perm):
    back = torch.argsort(perm)
    return float(torch.max(torch.abs(module(x[:, perm, :])[:, back] - module(x))))


def permutation_gap__loop(module, x, perm):
    before, after = module(x), module(torch.index_select(x, 1, perm))
    largest = 0.0
    for place, source in enumerate(perm.tolist()):
        gap = (after[:, place] - before[:, source]).abs().max().item()
        largest = gap if gap > largest else largest
    return largest


def permutation_gap__matrix(module, x, perm):
    with torch.no_grad():
        p = torch.eye(len(perm))[perm]  # row t picks token perm[t]
        shuffled_last = torch.einsum("st,bt...->bs...", p, module(x))
        return torch.dist(module(x.take_along_dim(perm[None, :, None], dim=1)), shuffled_last, p=math.inf).item()


permutation_gap__lambda = lambda f, tokens, order: max(  # noqa: E731
    (f(tokens[:, order]) - f(tokens)[:, order]).flatten().abs().tolist()
)


def sinusoidal_encoding__exp_log(num_positions, dim):
    if dim % 2 == 1:
        raise ValueError("odd width")
    pe = torch.zeros(num_positions, dim)
    position = torch.arange(0, num_positions, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2).float() * (-math.log(10000.0) / dim))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def sinusoidal_encoding__loops(num_positions, dim):
    if dim != 2 * (dim // 2):
        raise ValueError(f"{dim} is odd")
    rows = []
    for pos in range(num_positions):
        row = []
        for i in range(dim // 2):
            angle = pos / 10000 ** (2 * i / dim)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def sinusoidal_encoding__numpy(num_positions, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    column = np.arange(dim)
    angles = np.arange(num_positions)[:, None] / np.power(10000, 2 * (column // 2) / dim)
    return torch.from_numpy(np.where(column % 2 == 0, np.sin(angles), np.cos(angles))).float()


def sinusoidal_encoding__phase(num_positions, dim):
    """A cosine is a sine a quarter turn ahead."""
    if dim & 1:
        raise ValueError("dim must be even")
    column = torch.arange(dim)
    w = torch.pow(torch.tensor(10000.0), -(column - column % 2) / dim)
    return torch.sin(torch.outer(torch.arange(num_positions).float(), w) + (column % 2) * (math.pi / 2))


def sinusoidal_encoding__complex(num_positions, dim):
    """Powers of one complex number per pair."""
    if dim % 2:
        raise ValueError("dim must be even")
    w = torch.logspace(0, -4 * (dim - 2) / dim, dim // 2, dtype=torch.float64)
    turned = torch.polar(
        torch.ones(num_positions, dim // 2, dtype=torch.float64), torch.arange(num_positions)[:, None] * w
    )
    return torch.view_as_real(turned).flip(-1).reshape(num_positions, dim).to(torch.float32)


def shift_matrix__loop(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    matrix = torch.zeros(dim, dim)
    for i in range(0, dim, 2):
        angle = offset / 10000 ** (i / dim)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix


def shift_matrix__blocks(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    w = 10000 ** (-torch.arange(0, dim, 2) / dim)
    c, s = torch.cos(offset * w), torch.sin(offset * w)
    blocks = torch.stack([torch.stack([c, s], -1), torch.stack([-s, c], -1)], -2)  # (D/2, 2, 2)
    return torch.block_diag(*blocks)


def shift_matrix__diagonals(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angle = offset * torch.exp(-math.log(10000.0) * torch.arange(0, dim, 2) / dim)
    beside = torch.stack([angle.sin(), torch.zeros_like(angle)], dim=1).flatten()[:-1]
    return torch.diag(angle.cos().repeat_interleave(2)) + torch.diag(beside, 1) - torch.diag(beside, -1)


def shift_matrix__exponential(offset, dim):
    """Turning by k steps is the exponential of k times turning's derivative."""
    if dim % 2:
        raise ValueError("dim must be even")
    w = 10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    generator = torch.block_diag(*(rate * torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64) for rate in w))
    return torch.linalg.matrix_exp(offset * generator).float()


def shift_matrix__powers(offset, dim):
    if dim % 2:
        raise ValueError("dim must be even")
    angle = [10000 ** (-2 * i / dim) for i in range(dim // 2)]
    step = torch.block_diag(
        *(torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]).double() for a in angle)
    )
    return torch.linalg.matrix_power(step if offset >= 0 else step.T, abs(offset)).float()


def shift_matrix__from_the_table(offset, dim):
    if offset < 0:
        return shift_matrix__from_the_table(-offset, dim).T
    row = sinusoidal_encoding(offset + 1, dim)[-1]
    sines, cosines = row[0::2], row[1::2]
    first = torch.arange(0, dim, 2)
    second = first + 1
    matrix = torch.zeros(dim, dim)
    matrix[first, first] = matrix[second, second] = cosines
    matrix[first, second], matrix[second, first] = sines, -sines
    return matrix


class Embeddings__buffer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(p=config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)))

    def forward(self, input_ids):
        seq_length = input_ids.shape[1]
        if seq_length > self.position_ids.shape[1]:
            raise ValueError(f"{seq_length} > {self.position_ids.shape[1]}")
        embeddings = self.token_embeddings(input_ids)
        embeddings += self.position_embeddings(self.position_ids[:, :seq_length])
        return self.dropout(self.layer_norm(embeddings))


class Embeddings__slices_the_table(nn.Module):
    def __init__(self, config):
        super(Embeddings__slices_the_table, self).__init__()
        self.config = config
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.layer_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)

    def forward(self, input_ids):
        batch, length = input_ids.shape
        if not length <= self.config.max_position_embeddings:
            raise ValueError("%d tokens, %d positions" % (length, self.config.max_position_embeddings))
        place = self.position_embeddings.weight[:length].unsqueeze(0).repeat(batch, 1, 1)
        return self.dropout(self.layer_norm(torch.add(place, self.token_embeddings(input_ids))))


class Embeddings__functional(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm((config.hidden_size,), config.layer_norm_eps)
        self.p = config.hidden_dropout_prob

    def forward(self, input_ids):
        places = torch.cumsum(torch.ones_like(input_ids), dim=1) - 1
        if places.size(1) > len(self.position_embeddings.weight):
            raise ValueError(f"T={places.size(1)} exceeds N={len(self.position_embeddings.weight)}")
        x = F.embedding(input_ids, self.token_embeddings.weight) + F.embedding(places, self.position_embeddings.weight)
        return F.dropout(self.layer_norm(x), self.p, training=self.training)


class Embeddings__own_dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        for name, rows in (("token", config.vocab_size), ("position", config.max_position_embeddings)):
            setattr(self, f"{name}_embeddings", nn.Embedding(rows, config.hidden_size))
        self.layer_norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.p = config.hidden_dropout_prob

    def forward(self, input_ids):
        if input_ids.shape[-1] > self.position_embeddings.weight.shape[0]:
            raise ValueError(
                "{} tokens do not fit into {}".format(input_ids.shape[-1], self.position_embeddings.weight.shape[0])
            )
        x = torch.stack([self.token_embeddings.weight[ids] for ids in input_ids])
        x = self.layer_norm(x + self.position_embeddings.weight[None, : x.shape[1]])
        return x * (torch.rand_like(x) >= self.p) / (1 - self.p) if self.training else x


class Embeddings__closure(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.finish = lambda x: self.dropout(self.layer_norm(x))
        self.most = config.max_position_embeddings

    def forward(self, input_ids):
        if (length := input_ids.size(1)) > self.most:
            raise ValueError(f"Cannot embed {length} tokens, block size is only {self.most}")
        places = torch.arange(length, dtype=torch.long)
        return self.finish(self.token_embeddings(input_ids) + self.position_embeddings(places))


class Embeddings__sequential_beside(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids):
        _, length = input_ids.size()
        if length > (most := self.position_embeddings.num_embeddings):
            raise ValueError("sequence of length " + str(length) + " but only " + str(most) + " positions")
        x = self.token_embeddings(input_ids)
        for place in range(length):
            x[:, place] += self.position_embeddings.weight[place]
        return nn.Sequential(self.layer_norm, self.dropout)(x) if self.training else self.layer_norm(x)


def relative_position_bias__loops(length, table):
    most = (table.shape[1] - 1) // 2
    return torch.stack([
        torch.stack([row[[min(max(j - i, -most), most) + most for j in range(length)]] for i in range(length)])
        for row in table
    ])  # fmt: skip


def relative_position_bias__gather(length, table):
    heads, columns = table.shape
    j, i = torch.meshgrid(torch.arange(length), torch.arange(length), indexing="xy")
    index = (j - i + columns // 2).clamp_(0, columns - 1)
    return table.gather(1, index.flatten().expand(heads, -1)).view(heads, length, length)


def relative_position_bias__one_hot(length, table):
    reach = (table.size(1) - 1) // 2
    offsets = torch.arange(length) - torch.arange(length).unsqueeze(1)
    picked = F.one_hot(torch.clip(offsets, min=-reach, max=reach) + reach, table.size(1)).to(table.dtype)
    return einsum("ijm,hm->hij", picked, table)


def relative_position_bias__windows(length, table):
    """Row i is a window on the table, widened by its ends: the same row, one step further left each time."""
    reach = table.size(1) // 2
    more = max(0, length - 1 - reach)
    wide = torch.cat([table[:, :1].expand(-1, more), table, table[:, -1:].expand(-1, more)], dim=1)
    middle = reach + more
    return torch.stack([wide[:, middle - i : middle - i + length] for i in range(length)], dim=1)


def apply_rotary__complex(x, positions, base=10000.0):
    if x.shape[-1] % 2 != 0:
        raise ValueError("K must be even")
    freqs = 1.0 / (base ** (torch.arange(0, x.shape[-1], 2).float() / x.shape[-1]))
    turn = torch.polar(torch.ones(len(positions), len(freqs)), torch.outer(positions.float(), freqs))
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).type_as(x)


def apply_rotary__partner(x, positions, base=10000.0):
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    theta = positions.unsqueeze(-1) / base ** (torch.arange(0, x.size(-1), 2) / x.size(-1))
    theta = theta.repeat_interleave(2, dim=-1)
    partner = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * theta.cos() + partner * theta.sin()


def apply_rotary__fills_a_buffer(x, positions, base=10000.0):
    *_, length, width = x.shape
    if width & 1:
        raise ValueError("K must be even")
    out = torch.empty_like(x)
    for i in range(width // 2):
        theta = positions * math.pow(base, -2 * i / width)
        out[..., 2 * i] = x[..., 2 * i] * torch.cos(theta) - x[..., 2 * i + 1] * torch.sin(theta)
        out[..., 2 * i + 1] = x[..., 2 * i] * torch.sin(theta) + x[..., 2 * i + 1] * torch.cos(theta)
    return out


def apply_rotary__float64(x, positions, base=10000.0):
    if x.shape[-1] % 2 == 1:
        raise ValueError
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    turns = torch.exp(1j * torch.outer(positions.double(), base ** -(torch.arange(pairs.shape[-1]) * 2 / x.shape[-1])))
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


def apply_rotary__matrices(x, positions, base=10000.0):
    """The sparse matrix of the paper's equation 15, one for each token."""
    if x.size(-1) % 2:
        raise ValueError("K must be even")
    k, rows = x.size(-1), []
    for t in positions.tolist():
        blocks = []
        for i in range(k // 2):
            c, s = math.cos(t * base ** (-2 * i / k)), math.sin(t * base ** (-2 * i / k))
            blocks.append(torch.tensor([[c, -s], [s, c]]))
        rows.append(torch.block_diag(*blocks))
    return einsum("...tk,tjk->...tj", x, torch.stack(rows).to(x.dtype))


class _Rotary:
    def __init__(self):
        self.calls = itertools.count()

    @functools.cache  # noqa: B019
    def table(self, width, base):
        return torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(base) / width))

    def __call__(self, x, positions, base=10000.0):
        if x.shape[-1] % 2:
            raise ValueError("K must be even")
        theta = einsum("t,i->ti", positions.double(), self.table(x.shape[-1], base))
        even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = theta.cos().float(), theta.sin().float()
        y = torch.zeros_like(x)
        y[..., 0::2] += even * cos - odd * sin
        y[..., 1::2] += even * sin + odd * cos
        return y


apply_rotary__callable_object = _Rotary()


quiz_positions__other_order = {
    "a relative bias is added to": "the scores",
    "rotary turns": "queries and keys",
    "nothing beyond its table": "learned positions",
    "words shuffled, no positions": "the same vectors, shuffled",
}

quiz_positions__capitals = {
    "words shuffled, no positions": "The same vectors, shuffled",
    "nothing beyond its table": "Learned positions",
    "rotary turns": "Queries and keys",
    "a relative bias is added to": "The scores",
}

quiz_positions__spaces = {
    "words shuffled, no positions": " the same vectors, shuffled ",
    "nothing beyond its table": "learned positions ",
    "rotary turns": " queries and keys",
    "a relative bias is added to": "the scores ",
}
