"""Right answers to the exercises of 00-start-here, written differently."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# ---------------------------------------------------------------------------------------------- pairwise_dot


def pairwise_dot__mt(x):
    return x @ x.mT


def pairwise_dot__bmm(x):
    return torch.bmm(x, x.permute(0, 2, 1))


def pairwise_dot__einsum(x):
    return torch.einsum("bid,bjd->bij", x, x)


def pairwise_dot__broadcast(x):
    return (x[:, :, None, :] * x[:, None, :, :]).sum(-1)


def pairwise_dot__loops(x):
    B, T, D = x.shape
    tables = []
    for b in range(B):
        rows = []
        for i in range(T):
            rows.append(torch.stack([torch.dot(x[b, i], x[b, j]) for j in range(T)]))
        tables.append(torch.stack(rows))
    return torch.stack(tables)


def pairwise_dot__filled_in_place(x):
    B, T, D = x.size()
    out = torch.zeros(B, T, T)
    for i in range(T):
        for j in range(i, T):
            out[:, i, j] = (x[:, i] * x[:, j]).sum(dim=1)
            out[:, j, i] = out[:, i, j]
    return out


def pairwise_dot__linear_per_sentence(x):
    return torch.stack([F.linear(sentence, sentence) for sentence in x])


def pairwise_dot__accumulated_over_columns(x):
    out = 0
    for column in x.unbind(dim=-1):
        out = out + column.unsqueeze(2) * column.unsqueeze(1)
    return out


def pairwise_dot__copy_turned_in_place(x):
    y = x.clone()
    y.transpose_(1, 2)
    return torch.matmul(x, y)


def pairwise_dot__from_distances(x):
    squares = x.square().sum(dim=-1)
    apart = (x.unsqueeze(2) - x.unsqueeze(1)).square().sum(dim=-1)
    return (squares.unsqueeze(2) + squares.unsqueeze(1) - apart) / 2


def pairwise_dot__vmap(x):
    return torch.vmap(lambda sentence: sentence @ sentence.T)(x)


def pairwise_dot__inner_then_own_item(x):
    every_pair = torch.inner(x, x)  # (B, T, B, T)
    items = torch.arange(x.size(0))
    return every_pair[items, :, items]


pairwise_dot__lambda = lambda x: x.matmul(x.swapaxes(1, 2))  # noqa: E731


class PairwiseDot(nn.Module):
    def forward(self, x):
        return x.contiguous().view(x.shape) @ x.transpose(2, 1).contiguous()


pairwise_dot__module = PairwiseDot()

# ---------------------------------------------------------------------------------------------- quiz_types

quiz_types__other_order = {
    "bridge": "encoder-decoder",
    "find similar texts": "encoder",
    "never looks right": "decoder",
    "translate": "encoder-decoder",
    "continue a story": "decoder",
    "noun or verb": "encoder",
}

quiz_types__capitals = {
    "noun or verb": "Encoder",
    "continue a story": "Decoder",
    "translate": "Encoder-Decoder",
    "never looks right": "DECODER",
    "bridge": "Encoder-decoder",
    "find similar texts": "ENCODER",
}

quiz_types__spaces = dict(
    zip(
        ["noun or verb", "continue a story", "translate", "never looks right", "bridge", "find similar texts"],
        np.array([" encoder", "decoder ", " encoder-decoder ", "decoder", "encoder-decoder", "encoder"]).tolist(),
    )
)
