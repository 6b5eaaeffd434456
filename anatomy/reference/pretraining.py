"""Right answers of 12-pretraining: how text becomes its own teacher.

Every objective takes plain text, spoils or hides something, and asks for it back. All randomness comes from a generator.
Sources: Devlin et al. 2019 (BERT); Liu et al. 2019 (RoBERTa); Lan et al. 2020 (ALBERT); Raffel et al. 2020 (T5); Lewis et
al. 2020 (BART); Clark et al. 2020 (ELECTRA); Sanh et al. 2019 (DistilBERT); Radford et al. 2018 (GPT).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

IGNORED = -100
"""The label of places that do not count: PyTorch's `ignore_index`."""


def mask_tokens(
    ids: Tensor,
    special_mask: Tensor,
    vocab_size: int,
    mask_id: int,
    generator: torch.Generator,
    rate: float = 0.15,
) -> tuple[Tensor, Tensor]:  # (B, T), (B, T) -> 2 × (B, T)
    """BERT's input and labels: each token is chosen with probability `rate`; its label is what stood there.

    Of the chosen, 80 % become `mask_id`, 10 % a token drawn evenly from all V, 10 % stay as they are: each place draws for
    itself. Labels are −100 at all other places. Tokens where `special_mask` is 1 ([CLS], [SEP], padding) are never chosen.
    `ids` stays as it is. Source: Devlin et al. 2019, §3.1, Task #1, and appendix A.1.
    """
    chosen = (torch.rand(ids.shape, generator=generator) < rate) & (special_mask == 0)  # (B, T)
    labels = ids.where(chosen, IGNORED)
    fate = torch.rand(ids.shape, generator=generator)  # (B, T): below 0.8 masked, below 0.9 another token
    drawn = torch.randint(0, vocab_size, ids.shape, generator=generator)
    inputs = ids.masked_fill(chosen & (fate < 0.8), mask_id)
    return drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs), labels


def mlm_loss(logits: Tensor, labels: Tensor) -> Tensor:  # (B, T, V), (B, T) -> ()
    """Mean cross-entropy, in nats, over the places that have a label; 0 where none has one.

    Labels of −100 do not count, neither in the sum nor in the number it is divided by.
    Source: Devlin et al. 2019, §3.1, Task #1.
    """
    counted = labels != IGNORED  # (B, T)
    if not counted.any():
        return logits.sum() * 0.0
    return F.cross_entropy(logits[counted], labels[counted])  # (N, V), (N,)


def _draw(high: int, generator: torch.Generator) -> int:
    """A whole number from 0 to high − 1. Given in the notebook, not an exercise."""
    return int(torch.randint(0, high, (), generator=generator))


def next_sentence_pairs(
    docs: list[list[str]], generator: torch.Generator
) -> list[tuple[str, str, int]]:  # D documents -> pairs
    """For each sentence but the last of its document: itself, a second sentence, and whether that one follows it.

    With probability ½ the second is the sentence that follows (1); otherwise a sentence drawn evenly from all sentences of
    the *other* documents (0). In the order of the documents. There are two documents at least, none is empty.
    Source: Devlin et al. 2019, §3.1, Task #2 (whose second sentences come from the whole corpus).
    """
    pairs = []
    for number, doc in enumerate(docs):
        others = [sentence for other, sentences in enumerate(docs) if other != number for sentence in sentences]
        for first, following in zip(doc, doc[1:], strict=False):
            if _draw(2, generator):
                pairs.append((first, following, 1))
            else:
                pairs.append((first, others[_draw(len(others), generator)], 0))
    return pairs


def sentence_order_pairs(
    docs: list[list[str]], generator: torch.Generator
) -> list[tuple[str, str, int]]:  # D documents -> pairs
    """All pairs of neighboring sentences: with probability ½ in their order (1), otherwise swapped (0).

    In the order of the documents; a document of one sentence has no pair. Source: Lan et al. 2020, §3.1.
    """
    pairs = []
    for doc in docs:
        for first, following in zip(doc, doc[1:], strict=False):
            in_order = _draw(2, generator)
            pairs.append((first, following, 1) if in_order else (following, first, 0))
    return pairs
