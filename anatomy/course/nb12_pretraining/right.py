"""Right answers of 12-pretraining: how text becomes its own teacher.

Every objective takes plain text, corrupts or hides something, and asks for it back. All that is random comes from the
given generator. Sources: Devlin et al. 2019 (BERT); Liu et al. 2019 (RoBERTa); Lan et al. 2020 (ALBERT); Raffel et al.
2020 (T5); Lewis et al. 2020 (BART); Clark et al. 2020 (ELECTRA); Hinton et al. 2015 and Sanh et al. 2019 (DistilBERT);
Radford et al. 2018 (GPT).
"""

from __future__ import annotations

from itertools import pairwise

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
    """BERT's inputs and labels: each token is chosen with probability `rate`; its label is what stood there.

    Of the chosen, 80% become `mask_id`, 10% a token drawn evenly from all V (special ones and the same one, too),
    10% stay as they are. Every place draws for itself. Labels are −100 at all other places. Tokens where
    `special_mask` is 1 or True ([CLS], [SEP], padding) are never chosen. `ids` stays as it is.
    Source: Devlin et al. 2019, §3.1, Task #1, and appendix A.1.
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


def draw_below(high: int, generator: torch.Generator) -> int:
    """A whole number from 0 to high − 1, all equally likely. Given in the notebook, not an exercise."""
    return int(torch.randint(0, high, (), generator=generator))


def next_sentence_pairs(
    docs: list[list[str]], generator: torch.Generator
) -> list[tuple[str, str, int]]:  # D documents -> pairs
    """For each sentence but the last of its document: itself, a second sentence, and whether that one follows it.

    With probability ½ the second is the sentence that follows (1); otherwise a sentence drawn evenly from all sentences
    of the *other* documents (0). Every pair draws for itself. In the order of the documents. There are two documents at
    least, none is empty. Source: Devlin et al. 2019, §3.1, Task #2 (whose second sentences come from the whole corpus).
    """
    pairs = []
    for number, doc in enumerate(docs):
        others = [sentence for other, sentences in enumerate(docs) if other != number for sentence in sentences]
        for first, following in pairwise(doc):
            if draw_below(2, generator) == 1:
                pairs.append((first, following, 1))
            else:
                pairs.append((first, others[draw_below(len(others), generator)], 0))
    return pairs


def sentence_order_pairs(
    docs: list[list[str]], generator: torch.Generator
) -> list[tuple[str, str, int]]:  # D documents -> pairs
    """All pairs of neighboring sentences: with probability ½ in their order (1), otherwise swapped (0).

    Every pair draws for itself. In the order of the documents; a document of one sentence has no pair.
    Source: Lan et al. 2020, §3.1.
    """
    pairs = []
    for doc in docs:
        for first, following in pairwise(doc):
            in_order = draw_below(2, generator) == 1
            pairs.append((first, following, 1) if in_order else (following, first, 0))
    return pairs


def random_parts(total: int, count: int, generator: torch.Generator) -> list[int]:
    """`total` as a sum of `count` whole numbers ≥ 1, all such sums equally likely. Given, not an exercise.

    Of the total − 1 places between neighbors, count − 1 are cut.
    """
    cuts = (torch.randperm(total - 1, generator=generator)[: count - 1] + 1).sort().values.tolist()
    return [end - start for start, end in zip([0, *cuts], [*cuts, total], strict=True)]


def span_corruption(
    ids: Tensor, rate: float, mean_span: float, sentinel_ids: list[int], eos_id: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:  # (T,) -> (T − N + K + 1,), (N + K + 2,)
    """T5's inputs and targets, which together rebuild the text: what one hides stands in the other.

    Of T ≥ 2 tokens, N = T·rate are hidden (rounded; at least 1, at most T − 1), in K = N / mean_span spans (rounded; at
    least 1, and no more than find room). Between two spans stands a token that is kept. All ways to do so are equally
    likely. (T5's own code always begins with a kept token, ends with a hidden one, and has no last sentinel.)
    Inputs: the text with sentinel k in the place of span k. Targets: sentinel 0, span 0, sentinel 1, … span K − 1, and
    sentinel K. Both end with `eos_id`. Source: Raffel et al. 2020, §3.1.4, §3.3.4 and figure 2.
    """
    hidden = min(max(round(len(ids) * rate), 1), len(ids) - 1)  # N
    count = min(max(round(hidden / mean_span), 1), hidden, len(ids) - hidden + 1)  # K
    spans = random_parts(hidden, count, generator)
    gaps = random_parts(len(ids) - hidden + 2, count + 1, generator)  # the outer two may be empty: one less each
    gaps[0], gaps[-1] = gaps[0] - 1, gaps[-1] - 1
    tokens, inputs, targets, start = ids.tolist(), [], [], 0
    for sentinel, gap, span in zip(sentinel_ids, gaps, spans, strict=False):
        inputs += [*tokens[start : start + gap], sentinel]
        targets += [sentinel, *tokens[start + gap : start + gap + span]]
        start += gap + span
    return torch.tensor([*inputs, *tokens[start:], eos_id]), torch.tensor([*targets, sentinel_ids[count], eos_id])


def bart_noise(tokens: list[str], kind: str, generator: torch.Generator) -> list[str]:  # T tokens -> tokens
    """A corrupted copy of the text (one token or more), from which BART learns to write the original.

    - ``"mask"``: each token becomes [MASK] with probability 0.3; ``"delete"``: each is left out with probability 0.3.
    - ``"infill"``: with probability 1/7 one [MASK] comes before a token, for a span that goes: as many tokens as a
      draw from Poisson's distribution with mean 3 says, even 0, or as are left. The next one stays. So 30% go.
    - ``"permute"``: sentences, which end with ".", in random order; what comes behind the last "." is a sentence, too.
    - ``"rotate"``: the text begins with a token drawn evenly from all; what stood before it comes at the end.

    Every token draws for itself. `tokens` stays as it is. Source: Lewis et al. 2020, §2.2; 30%: §5.1.
    """
    if kind == "mask":
        return [token if torch.rand((), generator=generator) >= 0.3 else "[MASK]" for token in tokens]
    if kind == "delete":
        return [token for token in tokens if torch.rand((), generator=generator) >= 0.3]
    if kind == "infill":
        noisy, place = [], 0
        while place < len(tokens):
            if torch.rand((), generator=generator) < 1 / 7:
                noisy.append("[MASK]")
                place += int(torch.poisson(torch.tensor(3.0), generator=generator))
            noisy += tokens[place : place + 1]
            place += 1
        return noisy
    if kind == "permute":
        ends = [place + 1 for place, token in enumerate(tokens) if token == "."]
        sentences = [tokens[start:end] for start, end in zip([0, *ends], [*ends, len(tokens)], strict=True)]
        sentences = [sentence for sentence in sentences if sentence]
        order = torch.randperm(len(sentences), generator=generator).tolist()
        return [token for number in order for token in sentences[number]]
    start = draw_below(len(tokens), generator)
    return tokens[start:] + tokens[:start]


def replaced_token_labels(original: Tensor, corrupted: Tensor) -> Tensor:  # (B, T), (B, T) -> (B, T)
    """ELECTRA's labels: 1.0 where a token was replaced by another one, else 0.0 (or True and False, or 1 and 0).

    A replacement that happens to be the original token counts as original. Source: Clark et al. 2020, §2.
    """
    return (corrupted != original).float()


def distillation_loss(
    student_logits: Tensor, teacher_logits: Tensor, labels: Tensor, temperature: float, alpha: float
) -> Tensor:  # (B, C), (B, C), (B,) -> ()
    """α·τ²·KL(teacher ‖ student) + (1 − α)·cross-entropy of the student, each averaged over the batch, in nats.

    Both softmaxes in the KL are taken at temperature τ: of logits / τ. The cross-entropy with the labels is taken at 1.
    No gradient reaches the teacher. Source: Hinton et al. 2015, §2; Sanh et al. 2019, §2.
    """
    soft = F.log_softmax(student_logits / temperature, dim=-1)  # (B, C)
    target = F.log_softmax(teacher_logits.detach() / temperature, dim=-1)  # (B, C)
    divergence = F.kl_div(soft, target, reduction="batchmean", log_target=True)
    return alpha * temperature**2 * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels)


def finetuning_loss(lm_loss: Tensor, task_loss: Tensor, weight: float) -> Tensor:  # (), () -> ()
    """GPT's loss when it is fine-tuned: the task's, and `weight` (λ) times that of language modeling.

    Source: Radford et al. 2018, §3.2, equation 5: L₃ = L₂ + λ·L₁.
    """
    return task_loss + weight * lm_loss


quiz_pretraining = {
    "static masking": "the same positions in every epoch",
    "a rate of 90%": "too little is left to predict from",
    "reading both sides": "each token would see itself",
    "not always [MASK]": "the mark is missing later",
    "ELECTRA learns from": "every token",
}
