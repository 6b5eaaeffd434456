"""Right answers to the exercises of 11-bertviz, written in other ways."""

import functools
import math

import numpy as np
import torch

from anatomy.course.nb11_bertviz.right import attention_to_offset, head_entropy

# ---------------------------------------------------------------------------------------------- attention_to_offset


def attention_to_offset__diagonals(attentions, attention_mask, offset):
    rows = []
    real = attention_mask.bool()
    pairs = torch.diagonal(real[:, :, None] & real[:, None, :], offset, 1, 2)  # (B, N)
    for layer in attentions:
        on_the_diagonal = torch.diagonal(layer, offset=offset, dim1=-2, dim2=-1)  # (B, H, N)
        rows.append((on_the_diagonal * pairs[:, None]).sum(dim=(0, 2)) / pairs.sum())
    return torch.stack(rows)


def attention_to_offset__loops(attentions, attention_mask, offset):
    result = torch.zeros(len(attentions), attentions[0].size(1))
    lengths = attention_mask.sum(dim=1).tolist()
    for number, layer in enumerate(attentions):
        for head in range(layer.size(1)):
            found = []
            for sentence, length in enumerate(lengths):
                for t in range(length):
                    if 0 <= t + offset < length:
                        found.append(layer[sentence, head, t, t + offset].item())
            result[number, head] = sum(found) / len(found)
    return result


def attention_to_offset__chosen_pairs(attentions, attention_mask, offset):
    sentence, query = attention_mask.nonzero(as_tuple=True)
    key = query + offset
    there = (key >= 0) & (key < attention_mask.sum(dim=1)[sentence])
    sentence, query, key = sentence[there], query[there], key[there]
    return torch.stack([layer[sentence, :, query, key].mean(dim=0) for layer in attentions])


def attention_to_offset__einsum(attentions, attention_mask, offset):
    mask = attention_mask.float()
    shift = torch.diag(torch.ones(mask.size(1) - abs(offset)), offset)
    total = torch.einsum("lbhts,bt,bs,ts->lh", torch.stack(list(attentions)), mask, mask, shift)
    return total / torch.einsum("bt,bs,ts->", mask, mask, shift)


def attention_to_offset__slices(attentions, attention_mask, offset):
    length = attention_mask.size(1)
    queries = slice(max(0, -offset), min(length, length - offset))
    keys = slice(max(0, offset), min(length, length + offset))
    pairs = attention_mask[:, queries] * attention_mask[:, keys]  # (B, N)
    stacked = torch.stack(attentions)[..., queries, keys]
    near = torch.diagonal(stacked, 0, -2, -1).clone()
    near *= pairs[None, :, None]
    return near.sum(dim=-1).sum(dim=1) / pairs.sum()


def attention_to_offset__sentence_by_sentence(attentions, attention_mask, offset):
    lengths = attention_mask.sum(dim=1).tolist()

    def near(layer):
        long_enough = [(b, n) for b, n in enumerate(lengths) if n > abs(offset)]
        return torch.cat([layer[b, :, :n, :n].diagonal(offset, 1, 2).T for b, n in long_enough]).mean(dim=0)

    return torch.stack([near(layer) for layer in attentions])


# ---------------------------------------------------------------------------------------------- head_entropy


def head_entropy__clamped(attentions, attention_mask):
    weights = torch.stack(attentions)
    entropy = -(weights * weights.clamp(min=1e-12).log()).sum(dim=-1)
    return (entropy * attention_mask[None, :, None]).sum(dim=(1, 3)) / attention_mask.sum()


def head_entropy__tiny_eps(attentions, attention_mask):
    rows = []
    for layer in attentions:
        entropy = -(layer * torch.log(layer + 1e-10)).sum(dim=-1)  # (B, H, T)
        rows.append(entropy.transpose(0, 1)[:, attention_mask.bool()].mean(dim=-1))
    return torch.stack(rows)


def head_entropy__categorical(attentions, attention_mask):
    real = attention_mask == 1
    return torch.stack(
        [torch.distributions.Categorical(probs=layer.movedim(1, 2)[real]).entropy().mean(dim=0) for layer in attentions]
    )


def head_entropy__special(attentions, attention_mask):
    real = attention_mask.bool()
    result = torch.empty(len(attentions), attentions[0].shape[1])
    for number, layer in enumerate(attentions):
        for head in range(layer.shape[1]):
            result[number, head] = torch.special.entr(layer[:, head][real]).sum(dim=1).mean()
    return result


def head_entropy__nan_to_num(attentions, attention_mask):
    weights = torch.stack(attentions).double()
    terms = torch.nan_to_num(weights * torch.log2(weights)) * math.log(2)
    entropy = terms.sum(-1).masked_fill(attention_mask[None, :, None, :] == 0, 0.0).neg()
    return entropy.sum((1, 3)).div(attention_mask.sum()).float()


def head_entropy__loops(attentions, attention_mask):
    def one(weights):
        return -sum(p * math.log(p) for p in weights.tolist() if p > 0)

    return torch.tensor(
        [
            [
                np.mean([one(layer[b, h, t]) for b, t in attention_mask.nonzero().tolist()]).item()
                for h in range(layer.size(1))
            ]
            for layer in attentions
        ]
    )


# ---------------------------------------------------------------------------------------------- head_statistics


def head_statistics__loops(attentions, attention_mask=None):
    if attention_mask is None:
        batch, _, length, _ = attentions[0].shape
        attention_mask = torch.ones(batch, length, dtype=torch.bool)
    lengths = attention_mask.sum(dim=1).tolist()
    result = {"previous": [], "itself": [], "next": [], "first": [], "last": [], "entropy": []}
    for name, offset in (("previous", -1), ("itself", 0), ("next", 1)):
        result[name] = attention_to_offset(attentions, attention_mask, offset)
    for layer in attentions:
        first = [layer[b, :, t, 0] for b, n in enumerate(lengths) for t in range(n)]
        last = [layer[b, :, t, n - 1] for b, n in enumerate(lengths) for t in range(n)]
        result["first"].append(torch.stack(first).mean(dim=0))
        result["last"].append(torch.stack(last).mean(dim=0))
    result["first"], result["last"] = torch.stack(result["first"]), torch.stack(result["last"])
    result["entropy"] = head_entropy(attentions, attention_mask)
    return result


def head_statistics__gather(attentions, attention_mask=None):
    if attention_mask is None:
        return head_statistics__gather(attentions, torch.ones(len(attentions[0]), attentions[0].size(-1)).int())
    weights = torch.stack(attentions)
    layers, batch, heads, length, _ = weights.shape
    ends = (attention_mask.sum(dim=1) - 1)[None, :, None, None, None].expand(layers, batch, heads, length, 1)
    share = attention_mask[None, :, None].float() / attention_mask.sum()
    return dict(
        entropy=head_entropy(attentions, attention_mask),
        last=(weights.gather(-1, ends).squeeze(-1) * share).sum(dim=(1, 3)),
        first=(weights.select(-1, 0) * share).sum(dim=(1, 3)),
        **{
            name: attention_to_offset(attentions, attention_mask, offset)
            for offset, name in enumerate(("previous", "itself", "next"), -1)
        },
    )


def head_statistics__all_by_hand(attentions, attention_mask=None):
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    weights = torch.stack(attentions).movedim(2, 1)  # (L, H, B, T, T)
    real = attention_mask.bool()
    places = torch.arange(real.size(1))
    last = attention_mask.size(1) - 1 - attention_mask.flip(1).argmax(dim=1)
    is_last = (places == last[:, None])[:, None, :]
    rows = weights[:, :, real]  # (L, H, N, T)
    query = places.expand(len(real), -1)[real]
    result = {}
    for name, offset in {"previous": -1, "itself": 0, "next": 1}.items():
        chosen = (places == query[:, None] + offset) & real[:, None, :].expand(-1, len(places), -1)[real]
        result[name] = rows[:, :, chosen].mean(dim=-1)
    result["first"] = rows[..., 0].mean(dim=-1)
    result["last"] = rows[:, :, is_last.expand(-1, len(places), -1)[real]].mean(dim=-1)
    result["entropy"] = torch.special.entr(rows).sum(dim=-1).mean(dim=-1)
    return result


def head_statistics__einsum(attentions, attention_mask=None):
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    to = functools.partial(attention_to_offset, attentions, attention_mask)
    mask = attention_mask.to(torch.get_default_dtype())
    ends = torch.nn.functional.one_hot(attention_mask.sum(dim=1) - 1, mask.size(1)).float()
    weights, count = torch.stack(attentions), mask.sum()
    return {
        "first": torch.einsum("lbht,bt->lh", weights[..., 0], mask) / count,
        "last": torch.einsum("lbhts,bt,bs->lh", weights, mask, ends) / count,
        "previous": to(-1),
        "itself": to(offset=0),
        "next": to(1),
        "entropy": head_entropy(attentions, attention_mask),
    }


# ---------------------------------------------------------------------------------------- find_previous_token_head


def find_previous_token_head__unravel(attentions, attention_mask=None):
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    shares = attention_to_offset(attentions, attention_mask, -1)
    return np.unravel_index(shares.argmax().item(), tuple(shares.shape))


def find_previous_token_head__loops(attentions, attention_mask=None):
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    best, where = -1.0, None
    for layer, row in enumerate(attention_to_offset(attentions, attention_mask, -1).tolist()):
        for head, share in enumerate(row):
            if share > best:
                best, where = share, (layer, head)
    return where


def find_previous_token_head__max_of_max(attentions, attention_mask=None):
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    best, heads = attention_to_offset(attentions, attention_mask, offset=-1).max(dim=1)
    layer = best.argmax().item()
    return layer, heads[layer].item()


def find_previous_token_head__sorted(attentions, attention_mask=None):
    attention_mask = attentions[0].sum(dim=(1, 3)) > 0 if attention_mask is None else attention_mask
    shares = attention_to_offset(attentions, attention_mask, -1)
    pairs = [(layer, head) for layer in range(shares.size(0)) for head in range(shares.size(1))]
    return max(pairs, key=lambda pair: shares[pair])


def find_previous_token_head__sums_of_pairs(attentions, attention_mask=None):
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    totals = torch.stack(
        [(layer.diagonal(-1, -2, -1) * attention_mask[:, None, 1:]).sum(dim=(0, 2)) for layer in attentions]
    )
    return (totals == totals.max()).nonzero()[0].tolist()


# ---------------------------------------------------------------------------------------------- attention_between


def attention_between__blocks(attentions, sentence_b_start):
    b = sentence_b_start
    w = torch.stack(attentions).squeeze(1)
    result = torch.empty(*w.shape[:2], 2, 2)
    result[..., 0, 0] = w[..., :b, :b].sum(-1).mean(-1)
    result[..., 0, 1] = w[..., :b, b:].sum(-1).mean(-1)
    result[..., 1, 0] = w[..., b:, :b].sum(-1).mean(-1)
    result[..., 1, 1] = w[..., b:, b:].sum(-1).mean(-1)
    return result


def attention_between__membership(attentions, sentence_b_start):
    length = attentions[0].size(-1)
    in_b = (torch.arange(length) >= sentence_b_start).float()
    member = torch.stack([1 - in_b, in_b])  # (2, T)
    weights = torch.cat(list(attentions))  # (L, H, T, T)
    return torch.einsum("it,lhts,js->lhij", member / member.sum(dim=1, keepdim=True), weights, member)


def attention_between__one_minus(attentions, sentence_b_start):
    rows = []
    for layer in attentions:
        to_a = layer[0, :, :, :sentence_b_start].sum(dim=-1)  # (H, T)
        a, b = (part.mean(dim=-1) for part in to_a.split([sentence_b_start, to_a.size(-1) - sentence_b_start], dim=-1))
        rows.append(torch.stack([torch.stack([a, 1 - a], dim=-1), torch.stack([b, 1 - b], dim=-1)], dim=-2))
    return torch.stack(rows)


def attention_between__loops(attentions, sentence_b_start):
    count, heads, length = len(attentions), attentions[0].size(1), attentions[0].size(-1)
    result = torch.zeros(count, heads, 2, 2)
    for number, layer in enumerate(attentions):
        for t in range(length):
            for s in range(length):
                result[number, :, int(t >= sentence_b_start), int(s >= sentence_b_start)] += layer[0, :, t, s]
    sizes = torch.tensor([sentence_b_start, length - sentence_b_start])
    return result / sizes[:, None]


def attention_between__rows_made_to_sum_to_one(attentions, sentence_b_start):
    parts = [
        half.tensor_split([sentence_b_start], dim=-1)
        for half in torch.cat(tuple(attentions)).tensor_split([sentence_b_start], dim=-2)
    ]
    sums = torch.stack([torch.stack([block.sum(dim=(-2, -1)) for block in half], dim=-1) for half in parts], dim=-2)
    return sums / sums.sum(dim=-1, keepdim=True)


# ---------------------------------------------------------------------------------------------- neuron_terms


def neuron_terms__einsum(query, key):
    return torch.einsum("...tk,...sk->...tsk", query, key)


def neuron_terms__none(query, key):
    return query[..., :, None, :] * key[..., None, :, :]


def neuron_terms__neuron_by_neuron(query, key):
    return torch.stack([query[..., [k]] @ key[..., [k]].transpose(-2, -1) for k in range(query.size(-1))], dim=-1)


def neuron_terms__loop_over_queries(query, key):
    rows = []
    for t in range(query.size(-2)):
        rows.append(query[..., t : t + 1, :] * key)
    return torch.stack(rows, dim=-3)


def neuron_terms__expanded(query, key):
    shape = (*query.shape[:-1], key.size(-2), query.size(-1))
    result = key.unsqueeze(-3).expand(shape).clone()
    result *= query.unsqueeze(-2)
    return result


# ---------------------------------------------------------------------------------------------- weighted_value_norms


def weighted_value_norms__vectors(weights, value):
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).norm(dim=-1)


def weighted_value_norms__einsum(weights, value):
    return torch.einsum("bhts,bhs->bhts", weights, value.pow(2).sum(-1).sqrt())


def weighted_value_norms__linalg(weights, value):
    return torch.linalg.vector_norm(value, dim=-1)[:, :, None] * weights


def weighted_value_norms__diagonal(weights, value):
    return weights @ torch.diag_embed(torch.sqrt(torch.sum(value**2, dim=-1)))


def weighted_value_norms__loops(weights, value):
    result = torch.zeros_like(weights)
    for b, h, s in np.ndindex(*value.shape[:3]):
        result[b, h, :, s] = weights[b, h, :, s] * math.sqrt(sum(x * x for x in value[b, h, s].tolist()))
    return result


# ---------------------------------------------------------------------------------------------- attention_rollout


def attention_rollout__reduce(attentions):
    eye = torch.eye(attentions[0].shape[-1])
    return functools.reduce(lambda below, layer: layer @ below, [(layer.mean(1) + eye) / 2 for layer in attentions])


def attention_rollout__from_the_top(attentions):
    flow = None
    for layer in reversed(attentions):
        mixed = torch.lerp(layer.mean(dim=1), torch.eye(layer.size(-1)), 0.5)
        flow = mixed if flow is None else flow @ mixed
    return flow


def attention_rollout__normalized(attentions):
    batch, _, length, _ = attentions[0].shape
    flow = torch.eye(length).repeat(batch, 1, 1)
    for layer in attentions:
        with_residual = layer.sum(dim=1) / layer.size(1) + torch.eye(length)
        with_residual /= with_residual.sum(dim=-1, keepdim=True)
        flow = torch.bmm(with_residual, flow)
    return flow


def attention_rollout__einsum(attentions):
    total = torch.stack(attentions).mean(dim=2)  # (L, B, T, T)
    total = 0.5 * (total + torch.eye(total.size(-1)))
    result = total[0]
    for layer in total[1:]:
        result = torch.einsum("btu,bus->bts", layer, result)
    return result


def attention_rollout__diagonal_in_place(attentions):
    flow = torch.eye(attentions[0].size(-1)).expand(len(attentions[0]), -1, -1)
    for layer in attentions:
        half = layer.mean(dim=1) * 0.5
        half.diagonal(dim1=-2, dim2=-1).add_(0.5)
        flow = torch.matmul(half, flow)
    return flow


def attention_rollout__flow_half_and_half(attentions):
    flow = torch.eye(attentions[0].size(-1), dtype=torch.float64).unsqueeze(0)
    for layer in attentions:
        flow = (layer.double().mean(dim=1) @ flow + flow) / 2
    return flow.float()


# ---------------------------------------------------------------------------------------------- switch_off_heads


def _check(heads, num_heads):
    if wrong := [head for head in heads if head not in range(num_heads)]:
        raise ValueError(f"no such heads: {wrong}")


def switch_off_heads__slices(context, heads, num_heads):
    head_dim = context.size(-1) // num_heads
    result = context.clone()
    for head in heads:
        if head < 0 or head >= num_heads:
            raise ValueError(f"head {head} does not exist; there are {num_heads}")
        result[..., head * head_dim : (head + 1) * head_dim] = 0
    return result


def switch_off_heads__split_and_merge(context, heads, num_heads):
    _check(heads, num_heads)
    batch, length, width = context.shape
    parts = context.view(batch, length, num_heads, width // num_heads).clone()
    parts[:, :, heads] = 0.0
    return parts.reshape(batch, length, width)


def switch_off_heads__masked_fill(context, heads, num_heads):
    _check(heads, num_heads)
    owner = torch.arange(context.size(-1)) // (context.size(-1) // num_heads)
    return context.masked_fill(torch.isin(owner, torch.tensor(heads, dtype=torch.long)), 0.0)


def switch_off_heads__chunks(context, heads, num_heads):
    _check(heads, num_heads)
    parts = context.chunk(num_heads, dim=-1)
    return torch.cat([part * (head not in heads) for head, part in enumerate(parts)], dim=-1)


def switch_off_heads__subtracted(context, heads, num_heads):
    _check(heads, num_heads)
    silent = torch.zeros(num_heads, 1)
    silent[heads] = 1.0
    return context - context * silent.expand(-1, context.size(-1) // num_heads).flatten()


def switch_off_heads__one_at_a_time(context, heads, num_heads):
    if not heads:
        return context
    first, *others = heads
    if not (isinstance(first, int) and -1 < first < num_heads):
        raise ValueError(f"heads are 0 to {num_heads - 1}, not {first}")
    width = context.shape[-1] // num_heads
    before, silent, after = context.split([first * width, width, context.shape[-1] - (first + 1) * width], dim=-1)
    return switch_off_heads__one_at_a_time(torch.cat([before, silent * 0, after], dim=-1), others, num_heads)


# ---------------------------------------------------------------------------------------------- quiz_bertviz

quiz_bertviz__capitals = {
    "one head switched off": " Often little is lost",
    "much weight on [SEP]": "Often a way to do nothing",
    "other weights, same output": "Possible, so weights alone prove little ",
    "rollout adds the identity for": "THE RESIDUAL CONNECTION",
    "to claim that a head matters": "Switch it off and measure",
}
quiz_bertviz__other_order = {
    "to claim that a head matters": "switch it off and measure",
    "rollout adds the identity for": "the residual connection",
    "other weights, same output": "possible, so weights alone prove little",
    "much weight on [SEP]": "often a way to do nothing",
    "one head switched off": "often little is lost",
}
quiz_bertviz__with_more = {**quiz_bertviz__other_order, "my note": "every head of layer 0, one by one"}
