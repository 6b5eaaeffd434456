"""Right answers to the exercises of 10-encoder-decoder in styles other than the reference's."""

from __future__ import annotations

import heapq
import math

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.course.nb04_heads.right import merge_heads, split_heads
from anatomy.course.nb05_encoder_layer.right import FeedForward, LayerNorm, PostNormEncoderLayer, SelfAttention
from anatomy.course.nb06_positional_encodings.right import sinusoidal_encoding
from anatomy.course.nb07_encoder.right import padding_mask
from anatomy.course.nb09_causal_mask.right import causal_mask, masked_attention
from anatomy.course.nb10_encoder_decoder.right import (
    CrossAttention,
    Transformer,
    TransformerDecoderLayer,
    decoder_mask,
    quiz_encoder_decoder,
)

# ---------------------------------------------------------------------------------------------- shift_right


def shift_right__new_empty(target, start_id):
    shifted = target.new_empty(target.shape)
    shifted[:, 1:] = target[:, :-1]
    shifted[:, 0] = start_id
    return shifted


def shift_right__roll(target, start_id):
    shifted = torch.roll(target, 1, dims=-1)
    shifted[:, 0] = start_id
    return shifted


shift_right__pad = lambda target, start_id: F.pad(target, (1, 0), value=start_id)[:, :-1]  # noqa: E731


def shift_right__lists(target, start_id):
    return torch.tensor([[start_id, *row[:-1]] for row in target.tolist()])


def shift_right__gather(target, start_id):
    places = torch.arange(target.size(1)) - 1
    return torch.where(places < 0, torch.tensor(start_id), target[:, places.clamp(min=0)])


# ---------------------------------------------------------------------------------------------- decoder_mask


def decoder_mask__comparison(target, pad_id):
    places = torch.arange(target.shape[1], device=target.device)
    not_later = places[None, :] <= places[:, None]
    return not_later[None, None] & target.ne(pad_id).unsqueeze(1).unsqueeze(2)


def decoder_mask__product(target, pad_id):
    length = target.size(-1)
    return (torch.tril(torch.ones(length, length)) * (target != pad_id).float()[:, None, None]).bool()


def decoder_mask__added_to_scores(target, pad_id):
    hidden = torch.triu(torch.full((target.size(1),) * 2, float("-inf")), diagonal=1)
    padding = torch.zeros(target.shape).masked_fill(target == pad_id, float("-inf"))
    return hidden + padding[:, None, None, :]


def decoder_mask__large_numbers(target, pad_id):
    allowed = padding_mask(target != pad_id) & causal_mask(target.size(1))
    return (1.0 - allowed.float()) * torch.finfo(torch.float32).min


def decoder_mask__loops(target, pad_id):
    batch, length = target.shape
    mask = torch.zeros(batch, 1, length, length, dtype=torch.bool)
    for row in range(batch):
        for query in range(length):
            for key in range(query + 1):
                mask[row, 0, query, key] = target[row, key] != pad_id
    return mask


# ---------------------------------------------------------------------------------------------- CrossAttention


class CrossAttention__library(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, dim = config.num_attention_heads, config.hidden_size
        for name in ("q", "k", "v", "output_linear"):
            self.add_module(name, nn.Linear(dim, dim))

    def forward(self, x, memory, mask=None):
        def split(y):
            return y.view(y.size(0), y.size(1), self.heads, -1).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            split(self.q(x)), split(self.k(memory)), split(self.v(memory)), attn_mask=mask
        )
        return self.output_linear(mixed.transpose(1, 2).flatten(2))


class CrossAttention__einsum(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.h = config.num_attention_heads
        self.d = config.hidden_size
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.d, self.d) for _ in range(4))

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.h, -1)) for y in (self.q(x), self.k(memory), self.v(memory)))
        scores = torch.einsum("bthk,bshk->bhts", q, k) * (self.d // self.h) ** -0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(-1e9))
        mixed = torch.einsum("bhts,bshk->bthk", torch.softmax(scores, -1), v)
        return self.output_linear(mixed.reshape(*x.shape))


class CrossAttention__head_by_head(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.number = config.num_attention_heads
        self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)
        self.v, self.output_linear = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, memory, mask=None):
        parts = [layer(y).chunk(self.number, dim=-1) for layer, y in ((self.q, x), (self.k, memory), (self.v, memory))]
        results = []
        for head, (q, k, v) in enumerate(zip(*parts, strict=True)):
            scores = torch.baddbmm(torch.zeros(1), q, k.transpose(1, 2), alpha=1 / math.sqrt(q.size(-1)))
            if mask is not None:
                shown = mask.expand(x.size(0), self.number, x.size(1), memory.size(1))[:, head]
                scores = scores.masked_fill(~shown, torch.finfo(scores.dtype).min)
            results.append(torch.bmm(scores.softmax(dim=2), v))
        return self.output_linear(torch.cat(results, dim=2))


class CrossAttention__subclass(SelfAttention):
    def forward(self, x, memory, mask=None):
        query = split_heads(self.q(x), self.num_heads)
        key, value = (split_heads(layer(memory), self.num_heads) for layer in (self.k, self.v))
        return self.output_linear(merge_heads(masked_attention(query, key, value, mask)))


# ---------------------------------------------------------------------------------------------- TransformerDecoderLayer


class TransformerDecoderLayer__library_norms(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention, self.cross_attention = SelfAttention(config), CrossAttention(config)
        self.feed_forward = FeedForward(config)
        for number in (1, 2, 3):
            setattr(self, f"layer_norm_{number}", nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps))
        self.p = config.hidden_dropout_prob

    def drop(self, x):
        return F.dropout(x, p=self.p, training=self.training)

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.layer_norm_1(self.drop(self.attention(x, mask=mask)) + x)
        x = self.layer_norm_2(self.drop(self.cross_attention(x, memory, mask=memory_mask)) + x)
        return self.layer_norm_3(self.feed_forward(x) + x)


class TransformerDecoderLayer__names(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.cross_attention = CrossAttention(config)
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.layer_norm_3 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.drop_1 = nn.Dropout(config.hidden_dropout_prob)
        self.drop_2 = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, memory, mask=None, memory_mask=None):
        written = self.layer_norm_1(x + self.drop_1(self.attention(x, mask)))
        informed = self.layer_norm_2(written + self.drop_2(self.cross_attention(written, memory, memory_mask)))
        return self.layer_norm_3(informed + self.feed_forward(informed))


class TransformerDecoderLayer__loop(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = SelfAttention(config)
        self.cross_attention = CrossAttention(config)
        self.feed_forward = FeedForward(config)
        self.layer_norm_1, self.layer_norm_2, self.layer_norm_3 = (
            LayerNorm(config.hidden_size, config.layer_norm_eps) for _ in range(3)
        )
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, memory, mask=None, memory_mask=None):
        steps = (
            (self.layer_norm_1, lambda y: self.dropout(self.attention(y, mask))),
            (self.layer_norm_2, lambda y: self.dropout(self.cross_attention(y, memory, memory_mask))),
            (self.layer_norm_3, self.feed_forward),
        )
        for norm, part in steps:
            x = norm(x + part(x))
        return x


class TransformerDecoderLayer__subclass(PostNormEncoderLayer):
    def __init__(self, config):
        super().__init__(config)
        self.cross_attention = CrossAttention(config)
        self.layer_norm_3 = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        x = self.layer_norm_2(x + self.dropout(self.cross_attention(x, memory, memory_mask)))
        return self.layer_norm_3(x + self.feed_forward(x))


# ---------------------------------------------------------------------------------------------- Transformer


class Transformer__functional_head(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.pad_id = config, config.pad_token_id
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.token_embeddings.weight = self.lm_head.weight
        encoder, decoder = [], []
        for _ in range(config.num_hidden_layers):
            encoder.append(PostNormEncoderLayer(config))
            decoder.append(TransformerDecoderLayer(config))
        self.encoder_layers, self.decoder_layers = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def embed(self, ids):
        x = self.token_embeddings(ids).mul(self.config.hidden_size**0.5)
        x = x + sinusoidal_encoding(ids.shape[-1], self.config.hidden_size)
        return self.dropout(x)

    def encode(self, source):
        x, mask = self.embed(source), padding_mask((source != self.pad_id).long())
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return x

    def decode(self, target, memory, source):
        x = self.embed(target)
        for layer in self.decoder_layers:
            x = layer(
                x, memory, mask=decoder_mask(target, self.pad_id), memory_mask=padding_mask(source != self.pad_id)
            )
        return F.linear(x, self.token_embeddings.weight)

    def forward(self, source, target):
        memory = self.encode(source)
        return self.decode(target, memory, source)


class Transformer__buffer_of_positions(Transformer):
    def __init__(self, config):
        super().__init__(config)
        self.register_buffer("positions", sinusoidal_encoding(512, config.hidden_size), persistent=False)
        self.root = math.sqrt(config.hidden_size)

    def embed(self, ids):
        return self.dropout(torch.add(self.positions[: ids.size(1)], self.token_embeddings(ids), alpha=self.root))


class Transformer__padding_idx(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.p, self.pad_id, self.width = config.hidden_dropout_prob, config.pad_token_id, config.hidden_size
        self.token_embeddings = nn.Embedding(config.vocab_size, self.width, padding_idx=config.pad_token_id)
        numbers = range(config.num_hidden_layers)
        self.encoder_layers = nn.ModuleList([PostNormEncoderLayer(config) for _ in numbers])
        self.decoder_layers = nn.ModuleList([TransformerDecoderLayer(config) for _ in numbers])
        self.lm_head = nn.Linear(self.width, config.vocab_size, bias=False)
        self.lm_head.weight = self.token_embeddings.weight

    def encode(self, source):
        x = self.token_embeddings(source) * math.sqrt(self.width) + sinusoidal_encoding(source.size(1), self.width)
        x = F.dropout(x, self.p, self.training)
        for layer in self.encoder_layers:
            x = layer(x, (source != self.pad_id)[:, None, None, :])
        return x

    def decode(self, target, memory, source):
        x = self.token_embeddings(target) * math.sqrt(self.width) + sinusoidal_encoding(target.size(1), self.width)
        x = F.dropout(x, self.p, self.training)
        for layer in self.decoder_layers:
            x = layer(x, memory, decoder_mask(target, self.pad_id), (source != self.pad_id)[:, None, None, :])
        return self.lm_head(x)

    def forward(self, source, target):
        return self.decode(target, self.encode(source), source)


class Transformer__padding_of_memory_zeroed(Transformer):
    """The memory is 0 where the source is padding, which nobody looks at."""

    def encode(self, source):
        return super().encode(source) * (source != self.pad_id)[..., None]


# ---------------------------------------------------------------------------------------------- teacher_forcing_loss


def teacher_forcing_loss__by_hand(model, source, target, start_id, pad_id):
    fed = torch.cat([torch.full((len(target), 1), start_id), target[:, :-1]], dim=1)
    right = model(source, fed).log_softmax(-1).gather(-1, target[..., None]).squeeze(-1)
    real = target.ne(pad_id)
    return -right[real].sum() / real.sum()


def teacher_forcing_loss__classes_second(model, source, target, start_id, pad_id):
    fed = target.roll(1, 1)
    fed[:, 0] = start_id
    wanted = torch.where(target == pad_id, -100, target)
    return F.cross_entropy(model(source, fed).permute(0, 2, 1), wanted)


def teacher_forcing_loss__selected(model, source, target, start_id, pad_id):
    fed = F.pad(target, (1, -1), value=start_id)
    logits = model.decode(fed, model.encode(source), source)
    real = target != pad_id
    return nn.CrossEntropyLoss()(logits[real], target[real])


def teacher_forcing_loss__logsumexp(model, source, target, start_id, pad_id):
    fed = torch.cat([torch.full_like(target[:, :1], start_id), target[:, :-1]], dim=1)
    logits = model(source, fed)
    losses = logits.logsumexp(dim=2) - logits.gather(2, target.unsqueeze(2)).squeeze(2)
    weights = (target != pad_id).float()
    return (losses * weights).sum() / weights.sum()


# ---------------------------------------------------------------------------------------------- greedy_decode


def greedy_decode__list_of_columns(model, source, start_id, end_id, max_len):
    with torch.inference_mode():
        memory = model.encode(source)
        columns = [torch.full((source.size(0),), start_id)]
        going = torch.ones(source.size(0), dtype=torch.bool)
        while len(columns) <= max_len and going.any():
            logits = model.decode(torch.stack(columns, dim=1), memory, source)[:, -1]
            token = torch.where(going, logits.argmax(-1), model.pad_id)
            columns.append(token)
            going &= token != end_id
    return torch.stack(columns[1:], dim=1).clone()


def greedy_decode__buffer(model, source, start_id, end_id, max_len):
    model.eval()
    memory = model.encode(source)
    out = source.new_full((len(source), max_len + 1), model.pad_id)
    out[:, 0] = start_id
    ended = [False] * len(source)
    for step in range(max_len):
        best = model.decode(out[:, : step + 1], memory, source)[:, step].max(dim=-1).indices
        for row, token in enumerate(best.tolist()):
            if not ended[row]:
                out[row, step + 1] = token
                ended[row] = token == end_id
        if all(ended):
            return out[:, 1 : step + 2]
    return out[:, 1:]


def greedy_decode__padded_afterwards(model, source, start_id, end_id, max_len):
    memory = model.encode(source)
    written = torch.full((source.shape[0], 1), start_id, dtype=torch.long)
    for _ in range(max_len):
        probabilities = model.decode(written, memory, source).softmax(dim=-1)
        written = torch.cat([written, probabilities[:, -1].topk(1).indices], dim=-1)
        if (written[:, 1:] == end_id).any(dim=1).all():
            break
    written = written[:, 1:]
    ends_before = (written == end_id).cumsum(dim=1) - (written == end_id).long()
    return written.masked_fill(ends_before > 0, model.pad_id)


def greedy_decode__lists(model, source, start_id, end_id, max_len):
    memory, rows = model.encode(source), [[start_id] for _ in source]
    for _ in range(max_len):
        for row, logits in zip(rows, model.decode(torch.tensor(rows), memory, source), strict=True):
            row.append(model.pad_id if end_id in row[1:] else int(logits[-1].argmax()))
        if all(end_id in row[1:] for row in rows):
            break
    return torch.tensor(rows)[:, 1:]


# ---------------------------------------------------------------------------------------------- beam_search


def beam_search__tensors(step, start_id, end_id, beam_size, max_len, length_penalty=0.0):
    ids, sums = torch.tensor([[start_id]]), torch.zeros(1)
    best, best_score = None, -math.inf
    for length in range(1, max_len + 1):
        totals = (sums[:, None] + step(ids)).flatten()
        values, order = totals.sort(descending=True, stable=True)
        order = order[values > -math.inf][:beam_size]
        size = totals.numel() // len(ids)
        ids = torch.cat([ids[order // size], order[:, None] % size], dim=1)
        sums = totals[order]
        ended = ids[:, -1] == end_id
        for row in ended.nonzero().flatten().tolist():
            score = sums[row].item() / length**length_penalty
            if score > best_score:
                best, best_score = ids[row, 1:].tolist(), score
        if ended.all():
            break
        ids, sums = ids[~ended], sums[~ended]
    if best is None:
        return ids[0, 1:].tolist(), sums[0].item() / (ids.size(1) - 1) ** length_penalty
    return best, best_score


def beam_search__heap(step, start_id, end_id, beam_size, max_len, length_penalty=0.0):
    alive, done = [(0.0, (start_id,))], []
    while alive and len(alive[0][1]) <= max_len:
        rows = step(torch.tensor([ids for _, ids in alive]))
        candidates = []
        for place, ((total, ids), row) in enumerate(zip(alive, rows, strict=True)):
            for token in range(len(row)):
                value = row[token].item()
                if not math.isinf(value):
                    candidates.append((-(total + value), place, token, ids))
        chosen = heapq.nsmallest(beam_size, candidates)
        alive = [(-cost, (*ids, token)) for cost, _, token, ids in chosen]
        done.extend(one for one in alive if one[1][-1] == end_id)
        alive = [one for one in alive if one[1][-1] != end_id]
    ranked = [(total / (len(ids) - 1) ** length_penalty, list(ids[1:])) for total, ids in done or alive]
    score, ids = max(ranked, key=lambda pair: pair[0])
    return ids, score


def beam_search__dicts(step, start_id, end_id, beam_size, max_len, length_penalty=0.0):
    beams = [{"ids": [start_id], "sum": 0.0}]
    finished = []
    for _ in range(max_len):
        log_probs = step(torch.stack([torch.tensor(beam["ids"]) for beam in beams]))
        grown = []
        for beam, row in zip(beams, log_probs, strict=True):
            for token, value in enumerate(row.numpy()):
                if value == -math.inf:
                    continue
                grown.append({"ids": beam["ids"] + [token], "sum": beam["sum"] + float(value)})
        grown.sort(key=lambda beam: beam["sum"], reverse=True)
        beams = []
        for beam in grown[:beam_size]:
            (finished if beam["ids"][-1] == end_id else beams).append(beam)
        if len(beams) == 0:
            break
    pool = finished if finished else beams
    for beam in pool:
        beam["score"] = beam["sum"] / math.pow(len(beam["ids"]) - 1, length_penalty)
    winner = pool[0]
    for beam in pool[1:]:
        if beam["score"] > winner["score"]:
            winner = beam
    return winner["ids"][1:], winner["score"]


def beam_search__top_of_each(step, start_id, end_id, beam_size, max_len, length_penalty=0.0):
    """Only the best few tokens of each beginning can be among the best few of all."""
    beams, ended = [([], 0.0)], []
    for _ in range(max_len):
        grown = []
        for (ids, total), row in zip(beams, step(torch.tensor([[start_id] + ids for ids, _ in beams])), strict=True):
            values, tokens = row.sort(descending=True, stable=True)
            pairs = zip(values[:beam_size].tolist(), tokens[:beam_size].tolist(), strict=True)
            grown += [(ids + [token], total + value) for value, token in pairs if value > float("-inf")]
        grown = sorted(grown, key=lambda beam: beam[1], reverse=True)[:beam_size]
        ended += [beam for beam in grown if beam[0][-1] == end_id]
        beams = [beam for beam in grown if beam[0][-1] != end_id]
        if not beams:
            break
    scored = [(ids, total * len(ids) ** -length_penalty) for ids, total in ended or beams]
    return max(scored, key=lambda one: one[1])


# ---------------------------------------------------------------------------------------------- quiz_encoder_decoder

quiz_encoder_decoder__spaces = {question: f" {answer} " for question, answer in quiz_encoder_decoder.items()}
quiz_encoder_decoder__capitals = {question: answer.upper() for question, answer in quiz_encoder_decoder.items()}
quiz_encoder_decoder__other_order = dict(reversed(quiz_encoder_decoder.items()))
