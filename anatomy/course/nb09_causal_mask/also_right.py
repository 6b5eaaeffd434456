"""Right answers to the exercises of 09-causal-mask in styles other than the reference's."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.course.nb04_heads.right import merge_heads, split_heads
from anatomy.course.nb09_causal_mask.right import (
    CausalSelfAttention,
    DecoderBlock,
    FeedForward,
    causal_mask,
    masked_attention,
    next_token_probabilities,
    quiz_decoder,
)

# ---------------------------------------------------------------------------------------------- causal_mask


def causal_mask__arange(length):
    places = torch.arange(length)
    return places[None, :] <= places[:, None]


def causal_mask__floats(length: int):
    return torch.tril(torch.ones(length, length))


def causal_mask__loop(length):
    mask = torch.zeros((length, length), dtype=torch.int64)
    for t in range(length):
        for s in range(t + 1):
            mask[t, s] = 1
    return mask


causal_mask__lambda = lambda length: ~torch.ones(length, length, dtype=torch.bool).triu(1)  # noqa: E731


def causal_mask__rows(length):
    return torch.tensor([[1] * (t + 1) + [0] * (length - t - 1) for t in range(length)], dtype=torch.uint8)


def causal_mask__indices(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    rows, columns = torch.tril_indices(length, length)
    mask[rows, columns] = True
    return mask


def causal_mask__cumulative(length):
    return torch.eye(length).cumsum(dim=0)


# ---------------------------------------------------------------------------------------------- masked_attention


def masked_attention__where(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask.bool(), scores, torch.tensor(float("-inf")))
    return torch.einsum("...ts,...sk->...tk", torch.softmax(scores, dim=-1), value)


def masked_attention__log(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores + torch.log(mask.float())
    return F.softmax(scores, dim=-1) @ value


def masked_attention__lowest_number(query, key, value, mask=None):
    scores = torch.matmul(query / query.size(-1) ** 0.5, key.transpose(-1, -2))
    if mask is not None:
        scores.masked_fill_(torch.logical_not(mask), torch.finfo(scores.dtype).min)
    return torch.matmul(scores.softmax(-1), value)


def masked_attention__minus_a_billion(query, key, value, mask=None):
    mask = torch.tensor(1.0) if mask is None else mask.to(torch.float32)
    scores = (query @ key.transpose(-2, -1)).div(math.sqrt(query.size(-1))) + (1 - mask) * -1e9
    return scores.softmax(dim=-1) @ value


def masked_attention__exponentials(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.bool().expand_as(scores)
    highest = scores.masked_fill(~allowed, -torch.inf).amax(dim=-1, keepdim=True).detach()
    shares = torch.where(allowed, scores - highest, -torch.inf).exp()
    return (shares @ value) / shares.sum(dim=-1, keepdim=True)


def masked_attention__query_by_query(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(query.size(-2), key.size(-2))
    mask = mask.expand(*query.shape[:-1], key.size(-2)) != 0
    mixed = []
    for t in range(query.size(-2)):
        scores = (query[..., t, None, :] * key).sum(-1) / math.sqrt(query.size(-1))  # (..., S)
        weights = scores.masked_fill(~mask[..., t, :], -torch.inf).softmax(-1)
        mixed.append((weights[..., None] * value).sum(-2))
    return torch.stack(mixed, dim=-2)


# ---------------------------------------------------------------------------------------------- future_leak


def future_leak__jacobian(model, ids):
    table = model.token_embeddings
    vectors = table(ids).detach()

    def outputs(x):
        hook = table.register_forward_hook(lambda *_: x)
        try:
            return model(ids).sum(dim=(0, 2))  # (T,)
        finally:
            hook.remove()

    slopes = torch.autograd.functional.jacobian(outputs, vectors)  # (T, B, T, D)
    return torch.linalg.vector_norm(slopes, dim=-1).transpose(0, 1).triu(1)


def future_leak__live_output(model, ids):
    kept = {}
    hook = model.token_embeddings.register_forward_hook(lambda module, args, output: kept.update(x=output))
    outputs = model(ids).sum(-1)
    hook.remove()
    length = ids.shape[1]
    leak = torch.zeros(*ids.shape, length)
    for b in range(ids.shape[0]):
        for t in range(length):
            (slope,) = torch.autograd.grad(outputs[b, t], kept["x"], retain_graph=True)
            for s in range(t + 1, length):
                leak[b, t, s] = slope[b, s].square().sum().sqrt()
    return leak


def future_leak__forward_replaced(model, ids):
    table = model.token_embeddings
    vectors = F.embedding(ids, table.weight).detach().clone().requires_grad_(True)
    table.forward = lambda _: vectors
    try:
        outputs = model(ids)
    finally:
        del table.forward
    rows = []
    for t in range(ids.size(1)):
        slope = torch.autograd.grad(outputs[:, t].sum(), vectors, retain_graph=True)[0]
        row = slope.norm(dim=2)
        row[:, : t + 1] = 0
        rows.append(row)
    return torch.stack(rows, 1)


def future_leak__all_at_once(model, ids):
    caught = []
    hook = model.token_embeddings.register_forward_hook(lambda m, a, out: caught.append(out))
    try:
        outputs = model(ids).sum(dim=2).sum(dim=0)  # (T,)
    finally:
        hook.remove()
    (slopes,) = torch.autograd.grad(outputs, caught, torch.eye(len(outputs)), is_grads_batched=True)  # (T, B, T, D)
    leak = (slopes**2).sum(-1).sqrt().permute(1, 0, 2)
    return leak.masked_fill(torch.ones_like(leak).tril() == 1, 0.0)


def future_leak__backward_put_back(model, ids):
    kept = [(parameter, parameter.grad) for parameter in model.parameters()]
    vectors = []

    def hook(module, args, output):
        vectors.append(output.detach().requires_grad_())
        return vectors[0]

    handle = model.token_embeddings.register_forward_hook(hook)
    outputs = model(ids)
    handle.remove()
    leak = []
    for t in range(ids.shape[1]):
        for parameter in model.parameters():
            parameter.grad = None
        vectors[0].grad = None
        outputs[:, t].sum().backward(retain_graph=True)
        leak.append(vectors[0].grad.norm(dim=-1))
    for parameter, gradient in kept:
        parameter.grad = gradient
    return torch.stack(leak, dim=1).triu(1)


# ---------------------------------------------------------------------------------------------- CausalSelfAttention


class _Projections(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.n_head
        self.output_linear = nn.Linear(config.n_embd, config.n_embd)
        for name in ("v", "k", "q"):
            setattr(self, name, nn.Linear(config.n_embd, config.n_embd))


class CausalSelfAttention__fused(_Projections):
    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.num_heads) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class CausalSelfAttention__einsum(_Projections):
    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.num_heads, -1)) for layer in (self.q, self.k, self.v))
        scores = torch.einsum("bthk,bshk->bhts", q, k) / math.sqrt(q.size(-1))
        future = torch.triu(torch.full(scores.shape[-2:], float("-inf")), diagonal=1)
        mixed = torch.einsum("bhts,bshk->bthk", (scores + future).softmax(-1), v)
        return self.output_linear(mixed.flatten(2))


class CausalSelfAttention__buffer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.num_heads = config.hidden_size, config.num_attention_heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.output_linear = nn.Linear(width, width)
        most = config.max_position_embeddings
        self.register_buffer("mask", torch.ones(most, most).tril()[None, None], persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            layer(x).view(batch, length, self.num_heads, -1).transpose(1, 2) for layer in (self.q, self.k, self.v)
        )
        mixed = masked_attention(q, k, v, self.mask[:, :, :length, :length])
        return self.output_linear(mixed.transpose(1, 2).contiguous().view(batch, length, width))


class CausalSelfAttention__loops(_Projections):
    def forward(self, x):
        size = x.size(-1) // self.num_heads
        queries, keys, values = self.q(x), self.k(x), self.v(x)
        columns = []
        for h in range(self.num_heads):
            part = slice(h * size, (h + 1) * size)
            q, k, v = queries[..., part], keys[..., part], values[..., part]
            rows = []
            for t in range(x.size(1)):
                scores = (k[:, : t + 1] @ q[:, t, :, None]).squeeze(-1) / size**0.5  # (B, t + 1)
                rows.append((scores.softmax(-1)[..., None] * v[:, : t + 1]).sum(1))
            columns.append(torch.stack(rows, 1))
        return self.output_linear(torch.cat(columns, -1))


class CausalSelfAttention__library(_Projections):
    def forward(self, x):
        weight = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        bias = torch.cat([self.q.bias, self.k.bias, self.v.bias])
        hidden = ~torch.ones(x.size(1), x.size(1)).tril().bool()
        rows, last = x.transpose(0, 1), self.output_linear
        result, _ = F.multi_head_attention_forward(
            rows, rows, rows, x.size(-1), self.num_heads, weight, bias, None, None, False, 0.0, last.weight, last.bias,
            training=self.training, need_weights=False, attn_mask=hidden,
        )  # fmt: skip
        return result.transpose(0, 1)


class CausalSelfAttention__inherited(CausalSelfAttention):
    def forward(self, inputs):
        return super().forward(inputs.clone())


# ---------------------------------------------------------------------------------------------- DecoderBlock


class DecoderBlock__names(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dropout = nn.Dropout(p=config.resid_pdrop)
        self.feed_forward, self.attention = FeedForward(config), CausalSelfAttention(config)
        for number in (1, 2):
            setattr(self, f"layer_norm_{number}", nn.LayerNorm(config.n_embd, config.layer_norm_epsilon))

    def forward(self, hidden):
        attended = hidden + self.dropout(self.attention(self.layer_norm_1(hidden)))
        changed = self.feed_forward(self.layer_norm_2(attended))
        return attended.add(changed)


class DecoderBlock__functional(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.p = config.resid_pdrop
        self.attention = CausalSelfAttention(config)
        self.layer_norm_1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.layer_norm_2 = nn.LayerNorm([config.hidden_size], eps=config.layer_norm_epsilon)
        self.feed_forward = FeedForward(config)

    def forward(self, x):
        return self._feed(x + F.dropout(self.attention(self.layer_norm_1(x)), self.p, training=self.training))

    def _feed(self, x):
        return self.feed_forward(self.layer_norm_2(x)) + x


class DecoderBlock__loop(DecoderBlock):
    def forward(self, x):
        for part, norm in ((self._attend, self.layer_norm_1), (self.feed_forward, self.layer_norm_2)):
            x = x + part(norm(x))
        return x

    def _attend(self, x):
        return self.dropout(self.attention(x))


class DecoderBlock__temporary_in_place(DecoderBlock):
    def forward(self, x):
        y = self.attention(self.layer_norm_1(x))
        y = self.dropout(y)
        y = y + x
        z = self.feed_forward(self.layer_norm_2(y))
        z += y
        return z


# ---------------------------------------------------------------------------------------------- GPT


class GPT__head_first(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.token_embeddings = nn.Embedding(config.vocab_size, config.n_embd)
        self.token_embeddings.weight = self.lm_head.weight
        self.position_embeddings = nn.Embedding(config.n_positions, config.n_embd)
        self.layer_norm = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.blocks = nn.ModuleList([DecoderBlock(config) for _ in range(config.n_layer)])
        self.dropout = nn.Dropout(config.embd_pdrop)

    def forward(self, ids):
        _, length = ids.shape
        if length > len(self.position_embeddings.weight):
            raise ValueError(f"at most {len(self.position_embeddings.weight)} tokens, not {length}")
        x = self.dropout(self.position_embeddings.weight[:length] + self.token_embeddings(ids))
        for number in range(len(self.blocks)):
            x = self.blocks[number](x)
        return self.lm_head(self.layer_norm(x))


class GPT__sequential(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.blocks = nn.Sequential(*[DecoderBlock(config) for _ in range(config.num_hidden_layers)])
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.token_embeddings.weight = self.lm_head.weight

    def forward(self, ids):
        if not 0 < ids.size(1) <= self.config.n_positions:
            raise ValueError(f"expected 1 to {self.config.n_positions} tokens, got {ids.size(1)}")
        positions = torch.arange(ids.size(1)).expand_as(ids)
        x = self.token_embeddings(ids) + self.position_embeddings(positions)
        x = F.dropout(x, self.config.embd_pdrop, self.training)
        return self.layer_norm(self.blocks(x)) @ self.lm_head.weight.t()


class _Tied(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.weight = table.weight

    def forward(self, x):
        return F.linear(x, self.weight)


class GPT__own_head(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.dropout, self.blocks = nn.Dropout(config.embd_pdrop), nn.ModuleList()
        for _ in range(config.num_hidden_layers):
            self.blocks.append(DecoderBlock(config))
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.lm_head = _Tied(self.token_embeddings)

    def forward(self, ids):
        if (most := self.position_embeddings.weight.shape[0]) < (length := ids.shape[-1]):
            raise ValueError(f"The text has {length} tokens; the model takes {most}.")
        x = self.token_embeddings(ids)
        x = x + self.position_embeddings(torch.arange(length, device=ids.device))[None]
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.layer_norm(x))


class GPT__registered(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.token_embeddings = nn.Embedding(config.vocab_size, width)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, width)
        self.register_buffer("positions", torch.arange(config.max_position_embeddings), persistent=False)
        self.blocks = nn.ModuleList(map(DecoderBlock, [config] * config.num_hidden_layers))
        self.layer_norm = nn.LayerNorm(width, eps=config.layer_norm_epsilon)
        self.lm_head = nn.Linear(width, config.vocab_size, bias=False)
        self.lm_head.register_parameter("weight", self.token_embeddings.weight)
        self.dropout = nn.Dropout(config.embd_pdrop)

    def forward(self, ids):
        length = ids.shape[1]
        if length > len(self.positions):
            raise ValueError(f"{length} tokens are more than {len(self.positions)} positions")
        vectors = [
            self.token_embeddings(text) + self.position_embeddings(self.positions[:length]) for text in ids.unbind()
        ]
        x = self.dropout(torch.stack(vectors))
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.layer_norm(x))


# ---------------------------------------------------------------------------------------------- next_token_loss


def next_token_loss__transposed(logits, ids):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])


def next_token_loss__gather(logits, ids):
    logs = logits.log_softmax(-1)[:, :-1]
    return -logs.gather(-1, ids[:, 1:, None]).mean()


def next_token_loss__ignored(logits, ids):
    targets = torch.full_like(ids, -100)
    targets[:, :-1] = ids[:, 1:]
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))


def next_token_loss__loops(logits, ids):
    losses = []
    for text, tokens in zip(logits, ids, strict=True):
        for t, (_, following) in enumerate(pairwise(tokens)):
            losses.append(torch.logsumexp(text[t], dim=0) - text[t, following])
    return torch.stack(losses).mean()


def next_token_loss__texts(logits, ids):
    return sum(F.cross_entropy(text[:-1], tokens[1:]) for text, tokens in zip(logits, ids, strict=True)) / len(ids)


def next_token_loss__one_hot(logits, ids):
    rows = logits[:, : ids.size(1) - 1]
    wanted = F.one_hot(ids[:, 1:], logits.shape[-1]).to(logits.dtype)
    return -(wanted * F.log_softmax(rows, dim=-1)).sum(-1).mean()


def next_token_loss__module(logits, ids):
    shifted = logits[..., :-1, :].contiguous()
    return nn.CrossEntropyLoss()(shifted.view(-1, shifted.shape[-1]), ids[..., 1:].contiguous().view(-1))


# ---------------------------------------------------------------------------------------------- load_gpt2_weights


def load_gpt2_weights__copied_in_place(gpt, state_dict):
    found = {key.split(".")[2] for key in state_dict if key.startswith("transformer.h.")}
    if len(found) != len(gpt.blocks):
        raise ValueError(f"{len(found)} blocks in the dict, {len(gpt.blocks)} in the model")

    def put(parameter, value):
        if parameter.shape != value.shape:  # `copy_` spreads what is too small
            raise ValueError(f"{tuple(value.shape)} for {tuple(parameter.shape)}")
        parameter.copy_(value)

    def take(layer, name, transposed=True):
        weight = state_dict[name + ".weight"]
        put(layer.weight, weight.t() if transposed else weight)
        put(layer.bias, state_dict[name + ".bias"])

    with torch.no_grad():
        put(gpt.token_embeddings.weight, state_dict["transformer.wte.weight"])
        put(gpt.position_embeddings.weight, state_dict["transformer.wpe.weight"])
        take(gpt.layer_norm, "transformer.ln_f", transposed=False)
        for number, block in enumerate(gpt.blocks):
            start, width = f"transformer.h.{number}", len(block.layer_norm_1.weight)
            take(block.layer_norm_1, f"{start}.ln_1", transposed=False)
            take(block.layer_norm_2, f"{start}.ln_2", transposed=False)
            take(block.attention.output_linear, f"{start}.attn.c_proj")
            take(block.feed_forward.linear_1, f"{start}.mlp.c_fc")
            take(block.feed_forward.linear_2, f"{start}.mlp.c_proj")
            for name, begin in (("q", 0), ("k", width), ("v", 2 * width)):
                columns = slice(begin, begin + width)
                layer = getattr(block.attention, name)
                put(layer.weight, state_dict[f"{start}.attn.c_attn.weight"][:, columns].T)
                put(layer.bias, state_dict[f"{start}.attn.c_attn.bias"][columns])


def load_gpt2_weights__renamed(gpt, state_dict):
    pairs = {
        "transformer.": "", "wte": "token_embeddings", "wpe": "position_embeddings", "h.": "blocks.",
        "ln_f": "layer_norm", "ln_": "layer_norm_", "attn.c_proj": "attention.output_linear",
        "mlp.c_fc": "feed_forward.linear_1", "mlp.c_proj": "feed_forward.linear_2",
    }  # fmt: skip
    mine = {}
    for key, value in state_dict.items():
        name = key
        for theirs, own in pairs.items():
            name = name.replace(theirs, own)
        if ".c_attn." in key:
            for letter, rows in zip("qkv", value.mT.chunk(3) if value.dim() == 2 else value.chunk(3), strict=True):
                mine[name.replace("attn.c_attn", f"attention.{letter}")] = rows
        else:
            mine[name] = value.mT if value.dim() == 2 and (".attn." in key or ".mlp." in key) else value
    gpt.load_state_dict(mine)


def load_gpt2_weights__checked_by_hand(gpt, state_dict):
    own, used = dict(gpt.named_parameters()), set()
    for name, parameter in own.items():
        parts = name.split(".")
        tables = {"token_embeddings": "wte", "position_embeddings": "wpe", "layer_norm": "ln_f"}
        cut = None
        if parts[0] != "blocks":
            key = f"transformer.{tables[parts[0]]}.{parts[-1]}"
        else:
            inner = ".".join(parts[2:-1])
            if inner[-2:] in (".q", ".k", ".v"):
                cut, inner = "qkv".index(inner[-1]), "attn.c_attn"
            else:
                inner = {
                    "layer_norm_1": "ln_1", "layer_norm_2": "ln_2", "attention.output_linear": "attn.c_proj",
                    "feed_forward.linear_1": "mlp.c_fc", "feed_forward.linear_2": "mlp.c_proj",
                }[inner]  # fmt: skip
            key = f"transformer.h.{parts[1]}.{inner}.{parts[-1]}"
        value = state_dict[key].clone()
        used.add(key)
        if cut is not None:
            width = value.shape[-1] // 3
            value = value[..., cut * width : (cut + 1) * width]
        if parts[0] == "blocks" and value.ndim == 2:
            value = value.T
        if value.shape != parameter.shape:
            raise RuntimeError(f"{name}: {tuple(value.shape)} for {tuple(parameter.shape)}")
        parameter.data = value.contiguous()
    left = [key for key in state_dict if key not in used and key.startswith("transformer.h.")]
    if left:
        raise ValueError(f"left over: {left[0]}")


def load_gpt2_weights__modules(gpt, state_dict):
    if f"transformer.h.{len(gpt.blocks)}.ln_1.weight" in state_dict:
        raise ValueError("too many blocks")

    def load(module, prefix, start=0, end=None, turned=True):
        weight, bias = state_dict[f"transformer.{prefix}.weight"], state_dict[f"transformer.{prefix}.bias"]
        part = weight[..., start:end]
        module.load_state_dict({"weight": part.T if turned else part, "bias": bias[start:end]})

    gpt.token_embeddings.load_state_dict({"weight": state_dict["transformer.wte.weight"]})
    gpt.position_embeddings.load_state_dict({"weight": state_dict["transformer.wpe.weight"]})
    load(gpt.layer_norm, "ln_f", turned=False)
    for i, block in enumerate(gpt.blocks):
        width = gpt.token_embeddings.weight.size(1)
        for j, name in enumerate("qkv"):
            load(getattr(block.attention, name), f"h.{i}.attn.c_attn", j * width, (j + 1) * width)
        load(block.attention.output_linear, f"h.{i}.attn.c_proj")
        load(block.feed_forward.linear_1, f"h.{i}.mlp.c_fc")
        load(block.feed_forward.linear_2, f"h.{i}.mlp.c_proj")
        load(block.layer_norm_1, f"h.{i}.ln_1", turned=False)
        load(block.layer_norm_2, f"h.{i}.ln_2", turned=False)


# ---------------------------------------------------------------------------------------------- probabilities


def next_token_probabilities__scattered(logits, temperature=1.0, top_k=None, top_p=None):
    k = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
    best, places = torch.topk(logits / temperature, k, dim=-1)
    best = best.softmax(-1)
    if top_p is not None:
        best = best * (torch.cumsum(best, -1) - best < top_p)
    return torch.zeros_like(logits).scatter(-1, places, best / best.sum(-1, keepdim=True))


def next_token_probabilities__ranks(logits, temperature=1.0, top_k=None, top_p=None):
    scaled = logits * (1 / temperature)
    ranks = scaled.argsort(dim=-1, descending=True).argsort(dim=-1)
    shifted = (scaled - scaled.max(dim=-1, keepdim=True).values).exp()
    kept = shifted * (ranks < (top_k or logits.size(-1)))
    kept = kept / kept.sum(-1, keepdim=True)
    if top_p is not None:
        more = kept.unsqueeze(-2) > kept.unsqueeze(-1)  # (..., V, V): which tokens are more probable than this one
        kept = kept * ((more * kept.unsqueeze(-2)).sum(-1) < top_p)
    return kept / kept.sum(-1, keepdim=True)


def next_token_probabilities__cut_and_renormalize(logits, temperature: float = 1, top_k=None, top_p=None):
    probabilities = F.softmax(logits.div(temperature), dim=-1)
    if top_k is not None:
        k = min(top_k, probabilities.shape[-1])
        least = probabilities.sort(dim=-1, descending=True).values[..., k - 1].unsqueeze(-1)
        probabilities = torch.where(probabilities >= least, probabilities, torch.zeros(()))
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    if top_p is not None and top_p < 1:
        ordered = probabilities.sort(dim=-1, descending=True).values
        needed = (ordered.cumsum(dim=-1) < top_p).sum(
            dim=-1, keepdim=True
        )  # (..., 1): the place of the last that stays
        least = ordered.gather(-1, needed.clamp(max=ordered.size(-1) - 1))
        probabilities = torch.where(probabilities >= least, probabilities, torch.zeros(()))
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def next_token_probabilities__cut_logits_twice(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        cut = logits < logits.topk(min(top_k, logits.size(-1))).values[..., -1, None]
        logits = logits.masked_fill(cut, -math.inf)
    if top_p is not None:
        sorted_logits, indices = torch.sort(logits, descending=True, dim=-1)
        remove = sorted_logits.softmax(dim=-1).cumsum(dim=-1) > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(-1, indices, remove), -math.inf)
    return logits.softmax(dim=-1)


def next_token_probabilities__rising_order(logits, temperature=1.0, top_k=None, top_p=None):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    if top_k is not None:
        gone = probabilities.argsort(dim=-1)[..., : max(0, logits.size(-1) - top_k)]
        probabilities = probabilities.scatter(-1, gone, 0.0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    if top_p is not None:
        rising, order = probabilities.sort(dim=-1)
        tail = rising.cumsum(dim=-1)  # up to this token, from the least probable on
        rising = rising * (tail > 1 - top_p + 1e-6)
        probabilities = rising.gather(-1, order.argsort(dim=-1))
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def next_token_probabilities__row_by_row(logits, temperature=1.0, top_k=None, top_p=None):
    rows = []
    for row in logits.reshape(-1, logits.size(-1)):
        row = row.clone()
        if top_k:
            for place in row.argsort()[: max(0, len(row) - top_k)]:
                row[place] = float("-inf")
        row = (row / temperature).softmax(0)
        if top_p is not None:
            total = 0.0
            for place in row.argsort(descending=True).tolist():
                total, row[place] = total + row[place].item(), 0.0 if total >= top_p else row[place].item()
            row = row / row.sum()
        rows.append(row)
    return torch.stack(rows).reshape(logits.shape)


def next_token_probabilities__kth_value(logits, temperature=1.0, top_k=None, top_p=None):
    vocabulary = logits.size(-1)
    if top_k is not None and top_k <= vocabulary:
        least = logits.kthvalue(vocabulary - top_k + 1, dim=-1, keepdim=True).values
        logits = torch.where(logits < least, torch.full_like(logits, -torch.inf), logits)
    chances = torch.softmax(logits / temperature, -1)
    if top_p is None:
        return chances
    best = torch.sort(chances, dim=-1, descending=True)
    enough = torch.searchsorted(best.values.cumsum(-1), torch.full_like(chances[..., :1], top_p))  # (..., 1)
    kept = torch.where(torch.arange(vocabulary) <= enough, best.values, 0.0)
    return F.normalize(kept.gather(-1, best.indices.argsort(-1)), p=1, dim=-1)


# ---------------------------------------------------------------------------------------------- generate


@torch.no_grad()
def generate__list_of_columns(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    columns = list(ids.unbind(dim=1))
    most = model.position_embeddings.weight.shape[0]
    for _ in range(max_new_tokens):
        logits = model(torch.stack(columns[-most:], dim=1))[:, -1, :]
        if temperature <= 0:
            columns.append(logits.argmax(-1))
        else:
            p = next_token_probabilities(logits, temperature, top_k, top_p)
            columns.append(p.multinomial(1, generator=generator).squeeze(1))
    return torch.stack(columns, dim=1)


def generate__preallocated(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    batch, length = ids.shape
    text = torch.zeros(batch, length + max_new_tokens, dtype=ids.dtype)
    text[:, :length] = ids
    with torch.inference_mode():
        for end in range(length, length + max_new_tokens):
            start = max(0, end - model.position_embeddings.num_embeddings)
            logits = model(text[:, start:end])[:, -1]
            if temperature:
                chances = torch.softmax(logits / temperature, dim=-1)
                if top_k is not None and top_k < chances.size(-1):
                    chances = chances * (chances >= chances.topk(top_k).values.amin(-1, keepdim=True))
                    chances = chances / chances.sum(-1, keepdim=True)
                if top_p is not None:
                    best, tokens = chances.sort(-1, descending=True)
                    chances = torch.zeros_like(best).scatter(-1, tokens, best * (best.cumsum(-1) - best < top_p))
                text[:, end] = torch.multinomial(chances, num_samples=1, generator=generator)[:, 0]
            else:
                text[:, end] = logits.max(dim=-1).indices
    return text


def generate__recursive(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    if max_new_tokens == 0:
        return ids
    with torch.no_grad():
        logits = model(ids[:, -model.position_embeddings.num_embeddings :])[:, -1]
    if temperature == 0.0:
        new = logits.topk(1).indices
    else:
        new = torch.multinomial(
            next_token_probabilities(logits, temperature, top_k, top_p), 1, True, generator=generator
        )
    longer = torch.hstack([ids, new])
    return generate__recursive(model, longer, max_new_tokens - 1, temperature, top_k, top_p, generator)


@torch.no_grad()
def generate__inverse_transform(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    most, text = model.position_embeddings.num_embeddings, ids.clone()
    while text.size(1) < ids.size(1) + max_new_tokens:
        window = text if text.size(1) <= most else text[:, text.size(1) - most :]
        logits = model(window)[:, -1]
        if temperature == 0:
            chosen = logits.argmax(1)
        else:
            edges = next_token_probabilities(logits, temperature, top_k, top_p).double().cumsum(1)
            dice = torch.rand(len(ids), 1, generator=generator, dtype=torch.float64) * edges[:, -1:]
            chosen = torch.searchsorted(edges, dice, right=True).squeeze(1).clamp(max=logits.size(1) - 1)
        text = torch.cat((text, chosen.unsqueeze(1)), dim=-1)
    return text


@torch.no_grad()
def generate__race(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.position_embeddings.num_embeddings :])[:, -1]
        if temperature != 0:
            waiting = torch.empty_like(logits).exponential_(generator=generator)
            logits = next_token_probabilities(logits, temperature, top_k, top_p) / waiting
        ids = torch.column_stack([ids, logits.argmax(dim=1)])
    return ids


# ---------------------------------------------------------------------------------------------- cached_attention


def _heads(attention, x):
    return [split_heads(layer(x), attention.num_heads) for layer in (attention.q, attention.k, attention.v)]


def cached_attention__one_at_a_time(attention, x, cache=None):
    outputs = []
    for n in range(x.size(1)):
        query, key, value = _heads(attention, x[:, n : n + 1])
        if cache is not None:
            key, value = torch.cat((cache[0], key), 2), torch.cat((cache[1], value), 2)
        cache = key, value
        outputs.append(attention.output_linear(merge_heads(masked_attention(query, key, value))))
    return torch.cat(outputs, dim=1), cache


def cached_attention__fused(attention, x, cache=None):
    query, *new = _heads(attention, x)
    key, value = new if cache is None else (torch.cat(pair, dim=-2) for pair in zip(cache, new, strict=True))
    mask = torch.ones(query.size(2), key.size(2), dtype=torch.bool).tril(key.size(2) - query.size(2))
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return attention.output_linear(mixed.transpose(1, 2).flatten(2)), [key, value]


def cached_attention__empty_past(attention, x, cache=None):
    query, key, value = _heads(attention, x)
    old_key, old_value = cache or (key[:, :, :0], value[:, :, :0])
    key, value = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
    past = torch.ones(x.size(1), old_key.size(2))
    context = masked_attention(query, key, value, torch.cat([past, causal_mask(x.size(1)).float()], dim=1))
    return attention.output_linear(merge_heads(context)), (key, value)


def cached_attention__einsum(attention, x, cache=None):
    query, key, value = (
        layer(x).unflatten(2, (attention.num_heads, -1)).movedim(1, 2)
        for layer in (attention.q, attention.k, attention.v)
    )
    past = 0 if cache is None else cache[0].shape[2]
    if past:
        key, value = torch.concat([cache[0], key], 2), torch.concat([cache[1], value], 2)
    scores = torch.einsum("bhnk,bhsk->bhns", query, key) / math.sqrt(key.shape[-1])
    places = torch.arange(key.shape[2])
    allowed = places <= past + torch.arange(x.shape[1]).unsqueeze(1)
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=3)
    context = torch.einsum("bhns,bhsk->bnhk", weights, value)
    return attention.output_linear(context.reshape(x.shape)), (key, value)


# ---------------------------------------------------------------------------------------------- quiz_decoder


quiz_decoder__capitals = {question: answer.upper() for question, answer in quiz_decoder.items()}
quiz_decoder__spaces = {question: f" {answer}\n" for question, answer in quiz_decoder.items()}
quiz_decoder__another_order = dict(reversed(quiz_decoder.items()))
