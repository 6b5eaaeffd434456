"""Right answers to the exercises of 02-attention-scores, written differently."""

import math

import numpy as np
import torch
import torch.nn.functional as F

# ---------------------------------------------------------------------------------------------- dot_product_scores


def dot_product_scores__bmm(query, key):
    return torch.bmm(query, key.permute(0, 2, 1))


def dot_product_scores__einsum(query, key):
    return torch.einsum("btd,bsd->bts", query, key)


def dot_product_scores__broadcast(query, key):
    return (query.unsqueeze(2) * key.unsqueeze(1)).sum(dim=-1)


def dot_product_scores__loops(query, key):
    batches = []
    for b in range(query.shape[0]):
        rows = []
        for t in range(query.shape[1]):
            rows.append(torch.stack([torch.dot(query[b, t], key[b, s]) for s in range(key.shape[1])]))
        batches.append(torch.stack(rows))
    return torch.stack(batches)


def dot_product_scores__filled_in_place(query, key):
    scores = query.new_zeros(query.size(0), query.size(1), key.size(1))
    for b, (q, k) in enumerate(zip(query, key)):
        scores[b] = F.linear(q, k)
    return scores


def dot_product_scores__keys_first(query, key):
    return (key @ query.mT).mT


def dot_product_scores__tensordot(query, key):
    every_pair_of_items = torch.tensordot(query, key, dims=([2], [2]))  # (B, T, B, S)
    return torch.diagonal(every_pair_of_items, dim1=0, dim2=2).permute(2, 0, 1)


# ---------------------------------------------------------------------------------------------- scaled_scores


def scaled_scores__query_first(query, key):
    return (query / query.shape[-1] ** 0.5) @ key.mT


def scaled_scores__both_by_fourth_root(query, key):
    root = query.size(2) ** 0.25
    return torch.einsum("bqc,bkc->bqk", query / root, key / root)


def scaled_scores__baddbmm(query, key):
    batch, length, width = query.shape
    empty = torch.zeros(batch, length, key.shape[1])
    return torch.baddbmm(empty, query, key.transpose(1, 2), beta=0, alpha=1 / math.sqrt(width))


def scaled_scores__own_temporary_in_place(query, key):
    scores = torch.matmul(query, key.transpose(-1, -2))
    scores /= torch.tensor(query.shape[-1]).sqrt()
    return scores


def scaled_scores__loops(query, key):
    width = len(query[0][0])
    return torch.stack([
        torch.stack([(k * q).sum(-1) * width**-0.5 for q in queries]) for queries, k in zip(query, key)
    ])  # fmt: skip


# ---------------------------------------------------------------------------------------------- score_variance


def score_variance__key_first(dim, samples, generator):
    key = torch.randn(dim, samples, generator=generator)
    query = torch.randn(dim, samples, generator=generator)
    scores = torch.einsum("dn,dn->n", query, key)
    return float(scores.var(correction=0)), float((scores * dim**-0.5).var(correction=0))


def score_variance__one_tensor(dim, samples, generator):
    both = torch.randn(2, samples, dim, generator=generator, dtype=torch.float64)
    scores = both.prod(dim=0).sum(dim=-1)
    unscaled = torch.var(scores, unbiased=False).item()
    return unscaled, unscaled / dim


def score_variance__loop(dim, samples, generator):
    scores = []
    for _ in range(samples):
        query, key = torch.randn(2, dim, generator=generator)
        scores.append(torch.dot(query, key).item())
    mean = sum(scores) / samples
    variance = sum((score - mean) ** 2 for score in scores) / (samples - 1)
    scaled = [score / math.sqrt(dim) for score in scores]
    mean = sum(scaled) / samples
    return variance, sum((score - mean) ** 2 for score in scaled) / (samples - 1)


def score_variance__in_place_draws(dim, samples, generator):
    query = torch.empty(samples, dim).normal_(generator=generator)
    key = torch.normal(0.0, 1.0, (samples, dim), generator=generator)
    scores = torch.bmm(query.view(samples, 1, dim), key.view(samples, dim, 1)).flatten()
    return [scores.std().item() ** 2, (scores / dim**0.5).std().item() ** 2]


def score_variance__mean_known_to_be_zero(dim, samples, generator):
    query = torch.randn((samples, dim), generator=generator)
    key = torch.randn((samples, dim), generator=generator)
    squares = (query * key).sum(1).square()
    return squares.mean().item(), (squares / dim).mean().item()


def score_variance__separate_draws(dim, samples, generator):
    def measure(scale):
        query = torch.randn(samples, dim, generator=generator)
        key = torch.randn(samples, dim, generator=generator)
        return ((query * key).sum(-1) * scale).var().item()

    return measure(1.0), measure(dim**-0.5)


def score_variance__fresh_pairs_for_the_scaled(dim, samples, generator):
    def score():
        query, key = (torch.randn(dim, generator=generator) for _ in range(2))
        return query @ key

    unscaled = torch.stack([score() for _ in range(samples)])
    scaled = torch.stack([score() / dim**0.5 for _ in range(samples)])
    return unscaled.var().item(), scaled.var(correction=0).item()


def score_variance__numpy(dim, samples, generator):
    query = torch.randn(samples, dim, generator=generator).numpy()
    key = torch.randn(samples, dim, generator=generator).numpy()
    scores = (query * key).sum(axis=1)
    return np.var(scores), np.var(scores / np.sqrt(dim), ddof=1)


# ---------------------------------------------------------------------------------------------- project


def project__einsum(x, w_q, w_k):
    queries = torch.einsum("btd,dk->btk", x, w_q)
    keys = torch.einsum("btd,dk->btk", x, w_k)
    return queries, keys


def project__one_product(x, w_q, w_k):
    return (x @ torch.cat([w_q, w_k], dim=1)).chunk(2, dim=-1)


def project__linear(x, w_q, w_k):
    return [F.linear(x, w_q.T), F.linear(x, w_k.t())]


def project__broadcast(x, w_q, w_k):
    rows = x[..., None]
    return (rows * w_q).sum(-2), (rows * w_k).sum(-2)


def project__flat(x, w_q, w_k):
    batch, length, width = x.shape
    flat = x.reshape(batch * length, width)
    return flat.mm(w_q).view(batch, length, -1), flat.mm(w_k).view(batch, length, -1)


def project__map(x, w_q, w_k):
    return tuple(map(x.matmul, (w_q, w_k)))


# ---------------------------------------------------------------------------------------------- quiz_scaling

quiz_scaling__as_in_the_text = {
    "variance": "grows ninefold",
    "ranking": "the same key",
    "weights": "nearly one-hot",
    "gradients": "almost nothing",
    "mirror": "they are equal",
    "divisor": "the 64 of w_q",
}

quiz_scaling__capitals = {
    "divisor": "The 64 of W_q ",
    "mirror": "They are equal",
    "gradients": "Almost nothing",
    "weights": "NEARLY ONE-HOT",
    "ranking": "the same key",
    "variance": " grows ninefold",
}

quiz_scaling__by_dict = dict(
    variance="grows ninefold", ranking="the same key", weights="nearly one-hot", gradients="almost nothing",
    mirror="they are equal", divisor="the 64 of w_q",
)  # fmt: skip
