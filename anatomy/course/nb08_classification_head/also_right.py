"""Right answers, written differently."""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import einsum

from anatomy.course.nb07_encoder.right import TransformerEncoder
from anatomy.course.nb08_classification_head.right import cross_entropy, train_step


class TransformerForSequenceClassification__select(nn.Module):
    def __init__(self, config):
        super(TransformerForSequenceClassification__select, self).__init__()
        D, N = config.hidden_size, config.num_labels
        self.classifier = nn.Linear(D, N)
        self.dropout = nn.Dropout(p=config.hidden_dropout_prob)
        self.encoder = TransformerEncoder(config)

    def forward(self, ids, mask=None):
        return self.classifier(self.dropout(self.encoder(ids, mask)).select(1, 0))


class TransformerForSequenceClassification__functional(nn.Module):
    class Head(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(outputs, inputs) / math.sqrt(inputs))
            self.bias = nn.Parameter(torch.zeros(outputs))

        def forward(self, x):
            return einsum("bd,nd->bn", x, self.weight) + self.bias

    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.chance = config.hidden_dropout_prob
        self.classifier = self.Head(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask=attention_mask)
        cls, *_ = hidden.unbind(dim=1)
        return self.classifier(F.dropout(cls, self.chance, self.training))


class TransformerForSequenceClassification__own_mask(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, input_ids, attention_mask=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        outputs = self.encoder(input_ids, attention_mask)
        pooled = outputs[:, 0, :].contiguous()
        if self.training:
            pooled = self.dropout(pooled)
        return pooled @ self.classifier.weight.T + self.classifier.bias


def cross_entropy__logsumexp(logits, labels):
    return (torch.logsumexp(logits, 1) - logits[torch.arange(len(labels)), labels]).mean()


def cross_entropy__one_hot(logits, labels):
    top, _ = logits.max(dim=1, keepdim=True)
    z = logits - top.detach()
    log_probabilities = z - torch.log(torch.exp(z).sum(dim=1, keepdim=True))
    wanted = F.one_hot(labels, logits.shape[1]).to(logits.dtype)
    return -(wanted * log_probabilities).sum() / logits.shape[0]


def cross_entropy__loop(logits, labels):
    total = 0.0
    for row, label in zip(logits, labels):
        shifted = row - row.max()
        total = total - shifted[label] + shifted.exp().sum().log()
    return total / len(labels)


def cross_entropy__log1p(logits, labels):
    right = logits.gather(-1, labels.unsqueeze(-1))
    return torch.logsumexp(logits - right, dim=-1).mean()


def train_step__zero_before_and_after(model, batch, optimizer):
    model.train(True)
    optimizer.zero_grad(set_to_none=False)
    ids, mask, labels = batch
    loss = F.cross_entropy(model(ids, mask), labels)
    loss.backward()
    value = float(loss.detach())
    optimizer.step()
    optimizer.zero_grad()
    return value


def train_step__star(model, batch, optimizer):
    *inputs, labels = batch
    logits = model.train()(*inputs)
    loss = cross_entropy(logits, labels)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    loss.backward()
    optimizer.step()
    return loss.tolist()


def train_step__closure(model, batch, optimizer):
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = cross_entropy(model(batch[0], batch[1]), batch[2])
        loss.backward()
        return loss

    return optimizer.step(closure).item()


def train_step__zero_between(model, batch, optimizer):
    model.train()
    with torch.enable_grad():
        loss = cross_entropy(model(*batch[:2]), batch[2])
        model.zero_grad()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
    optimizer.step()
    return loss.detach().numpy().item()


def train_classifier__flat(model, batches, optimizer, epochs, on_step=None):
    losses = []

    def step(batch):
        losses.append(train_step(model, batch, optimizer))
        (float if on_step is None else on_step)(losses[-1])

    for _ in range(epochs):
        list(map(step, batches))
    model.train(False)
    return losses


def train_classifier__all_in_one(model, batches, optimizer, epochs, on_step=None):
    history = []
    for epoch in range(epochs):
        model.train()
        for ids, mask, labels in batches:
            loss = F.cross_entropy(model(ids, mask), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history += [loss.item()]
            if on_step is not None:
                on_step(history[-1])
        model.eval()
    return history


def train_classifier__while(model, batches, optimizer, epochs, on_step=None):
    epoch, losses = 0, ()
    while epoch < epochs:
        for batch in batches:
            losses += (train_step(model, batch, optimizer),)
            if on_step is not None:
                on_step(losses[-1])
        epoch += 1
    model.eval()
    return losses


class TokenClassifier__functional(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.p = config.hidden_dropout_prob
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, x, mask=None):
        hidden = F.dropout(self.encoder(x, mask), p=self.p, training=self.training)
        return F.linear(hidden, self.classifier.weight, self.classifier.bias)


class TokenClassifier__token_by_token(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.encoder(input_ids, attention_mask)
        return torch.stack([self.classifier(self.dropout(one)) for one in hidden.unbind(1)], dim=1)


class TokenClassifier__flat(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.labels = config.num_labels
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.encoder = TransformerEncoder(config)

    def forward(self, input_ids, attention_mask=None):
        batch, length = input_ids.shape
        hidden = self.encoder(input_ids, attention_mask).reshape(batch * length, -1)
        return self.classifier(self.dropout(hidden)).view(batch, length, self.labels)


def span_scores__two_products(hidden, w, mask=None):
    start, end = hidden @ w[0], hidden @ w[1]
    if mask is not None:
        start = torch.where(mask.bool(), start, float("-inf"))
        end = torch.where(mask.bool(), end, float("-inf"))
    return start, end


def span_scores__einsum_stacked(hidden, w, mask=None):
    scores = einsum("btd,kd->kbt", hidden, w)
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), torch.finfo(scores.dtype).min)
    return scores


def span_scores__logarithm_of_the_mask(hidden, w, mask=None):
    scores = F.linear(hidden, w)
    if mask is not None:
        scores = scores + mask.float().log().unsqueeze(-1)
    return scores[..., 0], scores[..., 1]


def span_scores__large_penalty(hidden, w, mask=None):
    pair = [(hidden * vector).sum(dim=2) for vector in w]
    if mask is not None:
        pair = [scores - 1e9 * (1 - mask.to(scores.dtype)) for scores in pair]
    return pair


def best_span__loop(start, end, max_len):
    if max_len <= 0:
        raise ValueError("max_len must be positive")
    if start.ndim == 2:
        return [best_span__loop(start[b], end[b], max_len) for b in range(len(start))]
    starts, ends = start.tolist(), end.tolist()
    best, top = None, -math.inf
    for i in range(len(starts)):
        for j in range(i, min(len(ends), i + max_len)):
            if best is None or starts[i] + ends[j] > top:
                best, top = (i, j), starts[i] + ends[j]
    return best


def best_span__max_key(start, end, max_len):
    if max_len < 1:
        raise ValueError("no span is shorter than one token")

    def search(one, other):
        T = len(one)
        pairs = ((i, j) for i in range(T) for j in range(i, T) if j - i < max_len)
        return max(pairs, key=lambda pair: one[pair[0]].item() + other[pair[1]].item())

    return search(start, end) if start.dim() == 1 else list(map(search, start, end))


def best_span__batched(start, end, max_len):
    if max_len < 1:
        raise ValueError(max_len)
    single = start.dim() == 1
    if single:
        start, end = start[None], end[None]
    B, T = start.shape
    place = torch.arange(T)
    gap = place[None, :] - place[:, None]
    total = start.unsqueeze(2) + end.unsqueeze(1)
    total[:, (gap < 0) | (gap >= max_len)] = -math.inf
    flat = total.view(B, -1).max(dim=1).indices.tolist()
    pairs = [divmod(index, T) for index in flat]
    return pairs[0] if single else pairs


def best_span__windows(start, end, max_len):
    if max_len < 1:
        raise ValueError("max_len")
    if start.dim() > 1:
        return tuple(best_span__windows(*row, max_len) for row in zip(start, end))
    best = []
    for i in range(start.numel()):
        window = end[i : i + max_len]
        j = i + int(window.argmax())
        best.append((-(start[i] + end[j]).item(), i, j))
    _, i, j = min(best)
    return [i, j]


def count_head_parameters__layers(config):
    linear = nn.Linear(config.hidden_size, config.num_labels)
    count = sum(parameter.numel() for parameter in linear.parameters())
    return {"span": torch.empty(2, config.hidden_size).numel(), "sequence": count, "token": count}


def count_head_parameters__formula(config):
    D, N = config.hidden_size, len(config.id2label)
    return dict(sequence=(D + 1) * N, token=(D + 1) * N, span=D + D)


def count_head_parameters__from_models(config):
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def size(module):
        return sum(math.prod(value.shape) for value in module.state_dict().values())

    span = nn.Linear(config.hidden_size, 2, bias=False)
    return {"sequence": size(Head()), "token": size(Head()), "span": size(span)}


quiz_tasks__upper_case = {
    "does B follow from A": "One label for the pair",
    "all names of people": "A label for each token",
    "the passage that answers": "A start and an end",
    "frozen body": "Only the head changes",
}
quiz_tasks__spaces = {
    "frozen body": " only the head changes",
    "the passage that answers": "a start and an end ",
    "all names of people": "a label for each token",
    "does B follow from A": "one label for the pair\n",
}
quiz_tasks__more = {
    "does B follow from A": "one label for the pair",
    "all names of people": "a label for each token",
    "the passage that answers": "a start and an end",
    "frozen body": "only the head changes",
    "anything else": "not asked",
}
