"""Right answers to the exercises of 03-softmax, written differently."""

import math

import torch
import torch.nn.functional as F

# ---------------------------------------------------------------------------------------------- softmax


def softmax__logsumexp(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim=dim, keepdim=True))


def softmax__max_detached(x, dim):
    exponentials = torch.exp(x - x.detach().max(dim, keepdim=True).values)
    return exponentials / exponentials.sum(dim, keepdim=True)


def softmax__in_place_on_own_memory(x, dim):
    shifted = x.clone()
    shifted -= x.max(dim=dim, keepdim=True)[0]
    shifted.exp_()
    return shifted / shifted.sum(dim=dim).unsqueeze(dim)


def softmax__along_last(x, dim):
    moved = x.transpose(dim, -1)
    exponentials = (moved - moved.max(-1)[0][..., None]).exp()
    total = exponentials @ exponentials.new_ones(exponentials.size(-1))
    return (exponentials / total[..., None]).transpose(dim, -1)


def softmax__with_harmless_eps(x, dim):
    x_max = torch.max(x, dim=dim, keepdim=True)[0]
    x_exp = torch.exp(x - x_max)
    return x_exp / (torch.sum(x_exp, dim=dim, keepdim=True) + 1e-9)


def softmax__slice_by_slice(x, dim):
    results = []
    for one in x.movedim(dim, -1).reshape(-1, x.size(dim)).unbind(0):
        powers = torch.pow(math.e, one - max(one.tolist()))
        results.append(powers * powers.sum().reciprocal())
    return torch.stack(results).reshape(x.movedim(dim, -1).shape).movedim(-1, dim)


def softmax__from_differences(x, dim):
    # 1 / (1 + the sum over all others of exp(x_j - x_i)): differences only
    moved = x.movedim(dim, -1)
    gaps = moved[..., None, :] - moved[..., :, None]
    others = gaps.masked_fill(torch.eye(x.size(dim), dtype=torch.bool), float("-inf")).logsumexp(-1)
    return torch.sigmoid(-others).movedim(-1, dim)


class Softmax:
    def __call__(self, x, dim):
        shifted = torch.subtract(x, torch.amax(x, dim, True))
        return torch.div(torch.exp(shifted), torch.exp(shifted).sum(dim, True))


softmax__callable_object = Softmax()

# ---------------------------------------------------------------------------------------------- attention_weights


def attention_weights__functional(query, key):
    return F.softmax(torch.einsum("btd,bsd->bts", query, key) / query.shape[-1] ** 0.5, dim=-1)


def attention_weights__query_scaled_first(query, key):
    return torch.bmm(query / math.sqrt(query.size(2)), key.permute(0, 2, 1)).softmax(dim=2)


def attention_weights__loops(query, key):
    B, T, D = query.shape
    S = key.shape[1]
    out = torch.empty(B, T, S)
    for b in range(B):
        for t in range(T):
            scores = torch.stack([torch.dot(query[b, t], key[b, s]) / math.sqrt(D) for s in range(S)])
            e = torch.exp(scores - scores.max())
            out[b, t] = e / e.sum()
    return out


def attention_weights__keys_first(query, key):
    scores = key @ query.mT * query.size(-1) ** -0.5  # (B, S, T)
    return torch.softmax(scores, dim=-2).transpose(1, 2)


def attention_weights__both_scaled(query, key):
    root = query.size(-1) ** 0.25
    scores = (query / root).unsqueeze(2).mul((key / root).unsqueeze(1)).sum(-1)
    return torch.nn.Softmax(dim=-1)(scores)


def attention_weights__through_logarithms(query, key):
    return F.log_softmax(torch.matmul(query, key.transpose(1, 2)) / math.sqrt(key.size(-1)), dim=-1).exp()


# ---------------------------------------------------------------------------------------------- weighted_values


def weighted_values__bmm(weights, value):
    return torch.bmm(weights, value)


def weighted_values__einsum(weights, value):
    return torch.einsum("bts,bsd->btd", weights, value)


def weighted_values__broadcast(weights, value):
    return (weights[:, :, :, None] * value[:, None, :, :]).sum(dim=2)


def weighted_values__key_by_key(weights, value):
    total = 0
    for s in range(value.shape[1]):
        total = total + weights[:, :, s : s + 1] * value[:, s : s + 1, :]
    return total


def weighted_values__loops(weights, value):
    B, T, S = weights.shape
    out = weights.new_zeros(B, T, value.shape[2])
    for b in range(B):
        for t in range(T):
            for s in range(S):
                out[b, t] += weights[b, t, s] * value[b, s]
    return out


def weighted_values__turned_twice(weights, value):
    return (value.transpose(1, 2) @ weights.transpose(1, 2)).transpose(1, 2)


weighted_values__lambda = lambda weights, value: torch.matmul(weights, value)  # noqa: E731

# ------------------------------------------------------------------------------- scaled_dot_product_attention


def scaled_dot_product_attention__one_line(query, key, value):
    return F.softmax(query @ key.mT / query.size(-1) ** 0.5, -1) @ value


def scaled_dot_product_attention__einsum(q, k, v):
    scores = torch.einsum("...tk,...sk->...ts", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("...ts,...sd->...td", scores.softmax(dim=-1), v)


def scaled_dot_product_attention__flattened(query, key, value):
    leading = query.shape[:-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1)), dim=-1)
    return torch.bmm(weights, v).reshape(*leading, query.size(-2), value.size(-1))


def scaled_dot_product_attention__normalized_last(query, key, value):
    # the division by the sum after the mixture, as fast kernels do it
    scores = (query / math.sqrt(query.size(-1))) @ key.transpose(-2, -1)
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    return (exponentials @ value) / exponentials.sum(-1, keepdim=True)


def scaled_dot_product_attention__key_by_key(query, key, value):
    # one pass over the keys with a running maximum ("online softmax")
    best = torch.full_like(query[..., :1], float("-inf"))
    total, mixed = torch.zeros_like(best), 0
    for s in range(key.size(-2)):
        score = (query * key[..., s : s + 1, :]).sum(-1, keepdim=True) / math.sqrt(query.size(-1))
        higher = torch.maximum(best, score).detach()
        old, new = (best - higher).exp(), (score - higher).exp()
        total, mixed, best = total * old + new, mixed * old + new * value[..., s : s + 1, :], higher
    return mixed / total


def scaled_dot_product_attention__recursive(query, key, value):
    if query.dim() > 2:
        return torch.stack([scaled_dot_product_attention__recursive(*one) for one in zip(query, key, value)])
    scores = torch.mm(query, key.t()).div(math.sqrt(key.size(1)))
    return torch.mm(torch.softmax(scores, 1), value)


# ---------------------------------------------------------------------------------------------- attention_entropy


def attention_entropy__xlogy(weights):
    return -torch.xlogy(weights, weights).sum(-1)


def attention_entropy__entr(weights):
    return torch.special.entr(weights).sum(dim=-1)


def attention_entropy__harmless_eps(weights):
    return -(weights * torch.log(weights + 1e-9)).sum(dim=-1)


def attention_entropy__where(weights):
    terms = torch.where(weights > 0, weights * torch.log(weights), torch.zeros_like(weights))
    return -terms.sum(dim=-1)


def attention_entropy__terms_repaired(weights):
    return -torch.nan_to_num(weights * weights.log(), nan=0.0).sum(-1)


def attention_entropy__distribution(weights):
    return torch.distributions.Categorical(probs=weights).entropy()


def attention_entropy__zeros_become_ones(weights):
    return torch.einsum("...s,...s->...", weights, -weights.masked_fill(weights == 0, 1.0).log())


def attention_entropy__bits_to_nats(weights):
    return -(weights * weights.clamp_min(1e-12).log2()).sum(-1) * math.log(2)


def attention_entropy__row_by_row(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    found = [-sum(p * math.log(p) for p in row.tolist() if p > 0) for row in rows]
    return torch.tensor(found).reshape(weights.shape[:-1])


def attention_entropy__in_place(weights):
    logs = weights.detach().clone()
    logs[logs == 0] = 1
    logs.log_().mul_(weights).neg_()
    return logs.sum(dim=-1)


softmax__lambda = lambda x, dim: (x - x.logsumexp(dim, keepdim=True)).exp()  # noqa: E731


def weighted_values__padded(weights, value):
    return torch.baddbmm(torch.zeros(()), weights, value)
