"""Right answers to the exercises of 07-encoder, written in other ways."""

import copy
import functools
import math

import torch
from torch import nn
from torch.nn import functional as F

from anatomy.course.nb05_encoder_layer.right import PostNormEncoderLayer
from anatomy.course.nb06_positional_encodings.right import Embeddings

# ---------------------------------------------------------------------------------------------- padding_mask


def padding_mask__additive_1e9(attention_mask):
    return (1.0 - attention_mask[:, None, None, :]) * -1e9


def padding_mask__additive_as_bert_did(attention_mask):
    extended = attention_mask.unsqueeze(1).unsqueeze(2).to(dtype=torch.float32)
    return (1.0 - extended) * -10000.0


def padding_mask__log(attention_mask):
    return attention_mask.float().log().reshape(len(attention_mask), 1, 1, -1)


def padding_mask__masked_fill(attention_mask):
    mask = torch.zeros(attention_mask.shape)
    return mask.masked_fill(attention_mask == 0, -math.inf)[:, None, None]


padding_mask__lambda = lambda attention_mask: (attention_mask != 0).view(attention_mask.size(0), 1, 1, -1)  # noqa: E731


def padding_mask__loop_finfo_min(attention_mask):
    batch, length = attention_mask.shape
    mask = torch.zeros(batch, 1, 1, length)
    for b in range(batch):
        for s in range(length):
            if not attention_mask[b, s]:
                mask[b, 0, 0, s] = torch.finfo(torch.float32).min
    return mask


# ---------------------------------------------------------------------------------------------- TransformerEncoder


class TransformerEncoder__range_and_float_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList()
        for _ in range(config.num_hidden_layers):
            self.layers.append(PostNormEncoderLayer(config))

    def forward(self, input_ids, attention_mask=None):
        hidden_states = self.embeddings(input_ids)
        mask = 0.0
        if attention_mask is not None:
            mask = (1 - attention_mask.float())[:, None, None, :] * torch.finfo(torch.float32).min
        else:
            mask = torch.zeros(1, 1, 1, input_ids.size(1))
        for i in range(len(self.layers)):
            hidden_states = self.layers[i](hidden_states, mask)
        return hidden_states


class TransformerEncoder__copies_of_one(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        one = PostNormEncoderLayer(config)
        self.layers = nn.Sequential(*[copy.deepcopy(one) for _ in range(config.num_hidden_layers)])

    def forward(self, x, attention_mask=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(x)
        x = self.embeddings(x)
        for layer in self.layers.children():
            x = layer(x, attention_mask[:, None, None, :] == 1)
        return x


class TransformerEncoder__everything_by_hand(nn.Module):
    class Block(nn.Module):
        def __init__(self, width, inner, heads, eps, p):
            super().__init__()
            self.heads = heads
            self.attention = nn.ModuleDict({name: nn.Linear(width, width) for name in ("q", "k", "v", "output_linear")})
            self.feed_forward = nn.ModuleDict(
                {"linear_1": nn.Linear(width, inner), "linear_2": nn.Linear(inner, width)}
            )
            self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
            self.dropout = nn.Dropout(p)

        def forward(self, x, keep):
            cut = lambda y: y.unflatten(-1, (self.heads, -1)).permute(0, 2, 1, 3)  # noqa: E731
            q, k, v = (cut(self.attention[name](x)) for name in ("q", "k", "v"))
            scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.size(-1))
            scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
            mixed = torch.einsum("bhts,bhsk->bthk", scores.softmax(-1), v).flatten(2)
            x = self.layer_norm_1(x + self.dropout(self.attention["output_linear"](mixed)))
            inner = F.gelu(self.feed_forward["linear_1"](x))
            return self.layer_norm_2(x + self.dropout(self.feed_forward["linear_2"](inner)))

    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.embeddings = nn.ModuleDict(
            {
                "token_embeddings": nn.Embedding(config.vocab_size, width, padding_idx=0),
                "position_embeddings": nn.Embedding(config.max_position_embeddings, width),
                "layer_norm": nn.LayerNorm(width, eps=config.layer_norm_eps),
            }
        )
        self.p = config.hidden_dropout_prob
        self.layers = nn.ModuleList(
            self.Block(width, config.intermediate_size, config.num_attention_heads, config.layer_norm_eps, self.p)
            for _ in range(config.num_hidden_layers)
        )

    def forward(self, ids, attention_mask=None):
        keep = torch.ones(ids.shape, dtype=torch.bool) if attention_mask is None else attention_mask > 0
        table = self.embeddings
        x = (
            F.embedding(ids, table["token_embeddings"].weight)
            + table["position_embeddings"].weight[None, : ids.shape[1]]
        )
        x = F.dropout(table["layer_norm"](x), self.p, self.training)
        for block in self.layers:
            x = block(x, keep)
        return x * keep[..., None]


class TransformerEncoder__closure(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))
        self.run = lambda x, mask: functools.reduce(lambda h, layer: layer(h, mask), self.layers, x)

    def forward(self, ids, attention_mask=None):
        mask = attention_mask if attention_mask is None else attention_mask[:, None, None].to(torch.bool)
        return self.run(self.embeddings(ids), mask)


# ---------------------------------------------------------------------------------------------- load_bert_weights


def load_bert_weights__copy_module_by_module(encoder, state_dict):
    def copy_into(module, name):
        with torch.no_grad():
            for part in ("weight", "bias"):
                mine, theirs = getattr(module, part), state_dict[f"{name}.{part}"]
                assert mine.shape == theirs.shape
                mine.copy_(theirs)

    found = {int(key.split(".")[2]) for key in state_dict if key.startswith("encoder.layer.")}
    if len(found) != len(encoder.layers):
        raise RuntimeError("the numbers of layers differ")
    table = encoder.embeddings
    with torch.no_grad():
        table.token_embeddings.weight.copy_(state_dict["embeddings.word_embeddings.weight"])
        table.position_embeddings.weight.copy_(state_dict["embeddings.position_embeddings.weight"])
        table.position_embeddings.weight += state_dict["embeddings.token_type_embeddings.weight"][0]
    copy_into(table.layer_norm, "embeddings.LayerNorm")
    for i, layer in enumerate(encoder.layers):
        start = f"encoder.layer.{i}"
        copy_into(layer.attention.q, f"{start}.attention.self.query")
        copy_into(layer.attention.k, f"{start}.attention.self.key")
        copy_into(layer.attention.v, f"{start}.attention.self.value")
        copy_into(layer.attention.output_linear, f"{start}.attention.output.dense")
        copy_into(layer.layer_norm_1, f"{start}.attention.output.LayerNorm")
        copy_into(layer.feed_forward.linear_1, f"{start}.intermediate.dense")
        copy_into(layer.feed_forward.linear_2, f"{start}.output.dense")
        copy_into(layer.layer_norm_2, f"{start}.output.LayerNorm")


def load_bert_weights__rename_by_replacing(encoder, state_dict):
    swaps = [
        ("encoder.layer.", "layers."),
        ("attention.self.query", "attention.q"),
        ("attention.self.key", "attention.k"),
        ("attention.self.value", "attention.v"),
        ("attention.output.dense", "attention.output_linear"),
        ("attention.output.LayerNorm", "layer_norm_1"),
        ("intermediate.dense", "feed_forward.linear_1"),
        ("output.LayerNorm", "layer_norm_2"),
        ("output.dense", "feed_forward.linear_2"),
        ("word_embeddings", "token_embeddings"),
        ("LayerNorm", "layer_norm"),
    ]
    renamed = {}
    for key, value in state_dict.items():
        if key.startswith("pooler"):
            continue
        for old, new in swaps:
            key = key.replace(old, new)
        renamed[key] = value
    types = renamed.pop("embeddings.token_type_embeddings.weight")
    renamed["embeddings.token_embeddings.weight"] = renamed["embeddings.token_embeddings.weight"] + types[0]
    encoder.load_state_dict(renamed, strict=True)


def load_bert_weights__not_strict_but_looks(encoder, state_dict):
    new = {}
    names = {"query": "q", "key": "k", "value": "v"}
    for key, value in state_dict.items():
        part = key.rsplit(".", 1)[-1]
        if key.startswith("encoder.layer."):
            number, rest = key[len("encoder.layer.") :].split(".", 1)
            rest = rest.rsplit(".", 1)[0]
            if rest.startswith("attention.self."):
                mine = "attention." + names[rest.split(".")[-1]]
            else:
                mine = {
                    "attention.output.dense": "attention.output_linear",
                    "attention.output.LayerNorm": "layer_norm_1",
                    "intermediate.dense": "feed_forward.linear_1",
                    "output.dense": "feed_forward.linear_2",
                    "output.LayerNorm": "layer_norm_2",
                }[rest]
            new[f"layers.{number}.{mine}.{part}"] = value
    new["embeddings.token_embeddings.weight"] = state_dict["embeddings.word_embeddings.weight"]
    first = state_dict["embeddings.token_type_embeddings.weight"][:1]
    new["embeddings.position_embeddings.weight"] = state_dict["embeddings.position_embeddings.weight"] + first
    for part in ("weight", "bias"):
        if f"embeddings.LayerNorm.{part}" in state_dict:
            new[f"embeddings.layer_norm.{part}"] = state_dict[f"embeddings.LayerNorm.{part}"]
    result = encoder.load_state_dict(new, strict=False)
    if result.missing_keys or result.unexpected_keys:
        raise ValueError(str(result))
    return encoder


def load_bert_weights__new_parameters(encoder, state_dict):
    def param(name):
        return nn.Parameter(state_dict[name].clone())

    if f"encoder.layer.{len(encoder.layers)}.output.dense.bias" in state_dict:
        raise ValueError("more layers than places")
    e = encoder.embeddings
    e.token_embeddings.weight = param("embeddings.word_embeddings.weight")
    types = state_dict["embeddings.token_type_embeddings.weight"]
    e.position_embeddings.weight = nn.Parameter(state_dict["embeddings.position_embeddings.weight"] + types[0])
    e.layer_norm.weight = param("embeddings.LayerNorm.weight")
    e.layer_norm.bias = param("embeddings.LayerNorm.bias")
    for i, layer in enumerate(encoder.layers):
        pairs = [
            (layer.attention.q, "attention.self.query"),
            (layer.attention.k, "attention.self.key"),
            (layer.attention.v, "attention.self.value"),
            (layer.attention.output_linear, "attention.output.dense"),
            (layer.layer_norm_1, "attention.output.LayerNorm"),
            (layer.feed_forward.linear_1, "intermediate.dense"),
            (layer.feed_forward.linear_2, "output.dense"),
            (layer.layer_norm_2, "output.LayerNorm"),
        ]
        for module, name in pairs:
            module.weight = param(f"encoder.layer.{i}.{name}.weight")
            module.bias = param(f"encoder.layer.{i}.{name}.bias")


# ---------------------------------------------------------------------------------------------- masked_mean


def masked_mean__einsum(hidden, attention_mask):
    weights = attention_mask / attention_mask.sum(dim=1, keepdim=True)
    return torch.einsum("btd,bt->bd", hidden, weights)


def masked_mean__loop(hidden, attention_mask):
    return torch.stack([sentence[mask.bool()].mean(0) for sentence, mask in zip(hidden, attention_mask)])


def masked_mean__nan(hidden, attention_mask):
    return hidden.masked_fill(attention_mask[:, :, None] == 0, torch.nan).nanmean(dim=1)


def masked_mean__bmm_and_clamp(hidden, attention_mask):
    total = torch.bmm(attention_mask[:, None].float(), hidden).squeeze(1)
    return total / attention_mask.sum(1).clamp(min=1e-9)[:, None]


# ---------------------------------------------------------------------------------------------- flies_by_layer


def flies_by_layer__one_at_a_time(model, sentences):
    rows = []
    for sentence in sentences:
        ids, states = model([sentence])
        flies = model.tokenizer.vocab["flies"]
        if ids[0].tolist().count(flies) != 1:
            raise ValueError(f"not one “flies” in {sentence!r}")
        place = ids[0].tolist().index(flies)
        rows.append(torch.stack([state[0, place] for state in states]))
    return torch.stack(rows, dim=1)


def flies_by_layer__gather(model, sentences):
    ids, states = model(sentences)
    found = ids == model.tokenizer.encode("flies", add_special_tokens=False)[0]
    if (found.sum(1) != 1).any():
        raise ValueError("one flies each, please")
    place = found.long().argmax(1)
    states = torch.stack(list(states))
    index = place[None, :, None, None].expand(len(states), -1, 1, states.size(-1))
    return states.gather(2, index).squeeze(2)


def flies_by_layer__mask_sum(model, sentences):
    ids, states = model(sentences)
    tokens = [model.tokenizer.convert_ids_to_tokens(row.tolist()) for row in ids]
    here = torch.tensor([[token == "flies" for token in row] for row in tokens])
    if not here.sum(dim=1).eq(1).all():
        raise ValueError("a sentence without flies, or with more than one")
    return torch.einsum("lntd,nt->lnd", torch.stack(tuple(states)), here.float())


# ---------------------------------------------------------------------------------------------- nearest_centroid


def nearest_centroid__one_hot(train, labels, test):
    hot = F.one_hot(labels).to(train.dtype)
    centroids = (hot.T @ train) / hot.sum(0)[:, None]
    return ((test[:, None] - centroids[None]) ** 2).sum(-1).argmin(-1)


def nearest_centroid__loop(train, labels, test):
    names = sorted(set(labels.tolist()))
    means = [train[labels == name].mean(0) for name in names]
    return torch.tensor([names[min(range(len(names)), key=lambda c: (x - means[c]).norm().item())] for x in test])


def nearest_centroid__expanded_square(train, labels, test):
    centroids = torch.zeros(int(labels.max()) + 1, train.shape[1])
    centroids.index_add_(0, labels, train)
    centroids /= torch.bincount(labels)[:, None]
    scores = test @ centroids.T - 0.5 * (centroids**2).sum(1)
    return scores.argmax(dim=1)


# ---------------------------------------------------------------------------------------------- quiz

quiz_encoder__capitals = {
    "a padding mask hides": "Keys",
    "BERT's weights in a pre-norm stack": "Other numbers, no error",
    "a key that strict=False skips": "Keeps its random start",
    "flies at depth 0 knows": "Word and position",
}
quiz_encoder__spaces = {
    "a padding mask hides": " keys ",
    "BERT's weights in a pre-norm stack": "other numbers, no error ",
    "a key that strict=False skips": " keeps its random start",
    "flies at depth 0 knows": "word and position",
}
quiz_encoder__other_order = {
    "flies at depth 0 knows": "word and position",
    "a key that strict=False skips": "keeps its random start",
    "BERT's weights in a pre-norm stack": "other numbers, no error",
    "a padding mask hides": "keys",
}
