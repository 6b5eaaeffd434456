"""Right answers of 08-classification-head: a body that reads, small heads that answer, and the loop that trains both.

Sources: Devlin et al. 2019, §3 and §4 (BERT's heads and how they are fine-tuned).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig

from anatomy.course.nb07_encoder.right import TransformerEncoder

Batch = tuple[Tensor, Tensor, Tensor]
"""Token ids (B, T), attention mask (B, T) and labels (B,)."""


class TransformerForSequenceClassification(nn.Module):
    """One label for a whole sequence: the last hidden state of its first token, [CLS], goes into one linear layer.

    Layers `encoder`, `dropout` (p is `config.hidden_dropout_prob`) and `classifier` (D to `config.num_labels`, with
    bias). Returns logits: any real numbers, no softmax. BERT has one more layer before the classifier, its pooler.
    Source: Devlin et al. 2019, §4.1.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # (B, T), (B, T) -> (B, N)
        hidden = self.encoder(input_ids, attention_mask)  # (B, T, D)
        first = hidden[:, 0]  # (B, D): the token [CLS]
        return self.classifier(self.dropout(first))


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:  # (B, N), (B,) -> ()
    """Minus the logarithm of the probability that a softmax gives to the right label, averaged over the batch.

    `labels` are whole numbers from 0 to N − 1. In nats. Stable: the largest logit of each row is taken off first, and
    the logarithm is never taken of a probability that has been rounded to 0.
    """
    shifted = logits - logits.amax(dim=-1, keepdim=True)  # (B, N): the largest is 0
    log_total = shifted.exp().sum(dim=-1).log()  # (B,): between 0 and log N
    right = shifted.gather(-1, labels[:, None]).squeeze(-1)  # (B,)
    return (log_total - right).mean()


def train_step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    """One step of training: old gradients away, forward, loss, backward, step.

    `batch` is (input_ids, attention_mask, labels); the model turns the first two into logits. The model is put into
    training mode. Returns the loss as it was before the step.
    """
    input_ids, attention_mask, labels = batch
    model.train()
    optimizer.zero_grad()
    loss = cross_entropy(model(input_ids, attention_mask), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def train_classifier(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    epochs: int,
    on_step: Callable[[float], object] | None = None,
) -> list[float]:
    """Train on all batches, `epochs` times over; the model is left in eval mode.

    `batches` can be gone through as often as needed. `on_step`, if given, is called with the loss after each step.
    Returns the losses of all steps, in order.
    """
    losses = []
    for _ in range(epochs):
        for batch in batches:
            loss = train_step(model, batch, optimizer)
            losses.append(loss)
            if on_step is not None:
                on_step(loss)
    model.eval()
    return losses


class TokenClassifier(nn.Module):
    """One label for every token: the same dropout and linear layer on each token's last hidden state.

    Layers and their sizes as in `TransformerForSequenceClassification`. Special tokens and padding get logits too; who
    computes the loss leaves them out. Source: Devlin et al. 2019, §5.3.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # ... -> (B, T, N)
        hidden = self.encoder(input_ids, attention_mask)  # (B, T, D)
        return self.classifier(self.dropout(hidden))


def span_scores(hidden: Tensor, w: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:  # -> 2 × (B, T)
    """How well each token would do as the first, and as the last, token of the answer.

    `hidden` is (B, T, D); `w` is (2, D), the start vector and the end vector; `mask` (B, T) is 1 where an answer may
    lie and 0 elsewhere (padding, question): there both scores are −∞. None: anywhere.
    Source: Devlin et al. 2019, §4.2.
    """
    start, end = (hidden @ w.T).unbind(dim=-1)  # (B, T, 2) -> 2 × (B, T)
    if mask is not None:
        start = start.masked_fill(mask == 0, -torch.inf)
        end = end.masked_fill(mask == 0, -torch.inf)
    return start, end


def best_span(start: Tensor, end: Tensor, max_len: int) -> Any:  # (T,), (T,) -> (i, j);  (B, T), (B, T) -> B pairs
    """The pair (i, j) with the largest start[i] + end[j] among i ≤ j < i + max_len; the first one where several tie.

    `start` and `end` are (T,), and the result is one pair of ints; or (B, T), and it is a list of B pairs. Both ends
    belong to the span. Raises ValueError when `max_len` is below 1. Source: Devlin et al. 2019, §4.2.
    """
    if max_len < 1:
        raise ValueError(f"a span has at least one token; max_len is {max_len}")
    if start.dim() == 2:
        return [best_span(one, other, max_len) for one, other in zip(start, end, strict=True)]
    total = start[:, None] + end[None, :]  # (T, T): row i is the first token, column j the last
    allowed = torch.ones_like(total, dtype=torch.bool).triu().tril(max_len - 1)
    best = int(total.masked_fill(~allowed, -torch.inf).argmax())  # counts row by row; the first of equals
    return divmod(best, start.size(0))


def count_head_parameters(config: BertConfig) -> dict[str, int]:
    """How many new numbers each head brings: `"sequence"`, `"token"` and `"span"`.

    The first two are one linear layer with bias, D to N, however long the text is. The span head is two vectors.
    """
    width, labels = config.hidden_size, config.num_labels
    linear = width * labels + labels
    return {"sequence": linear, "token": linear, "span": 2 * width}


quiz_tasks = {
    "does B follow from A": "one label for the pair",
    "all names of people": "a label for each token",
    "the passage that answers": "a start and an end",
    "frozen body": "only the head changes",
}
