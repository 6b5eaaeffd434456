"""Right answers of 11-bertviz: what can be measured on attention weights, and what they do not say.

Sources: Clark et al. 2019 (what heads look at); Abnar and Zuidema 2020 (rollout); Kobayashi et al. 2020 (weights times
values); Michel et al. 2019 (heads switched off); Vig 2019 (the views).
"""

from __future__ import annotations

import torch
from torch import Tensor

from anatomy.course.nb03_softmax.right import attention_entropy


def attention_to_offset(attentions: list[Tensor], attention_mask: Tensor, offset: int) -> Tensor:
    """(L, H): how much each head attends, on average, to the token `offset` places further on (−1: the previous one).

    `attentions` holds L tensors (B, H, T, T), one per layer, in rows that sum to one; `attention_mask` (B, T) is 1 for
    real tokens and 0 for the padding behind them. The average is taken over all real queries of the batch together
    whose token t + offset exists and is real, too. `offset` may be negative, 0 or positive, nearer than the longest
    sentence is long. Source: Clark et al. 2019, §3.1.
    """
    weights = torch.stack(attentions)  # (L, B, H, T, T)
    places = torch.arange(weights.size(-1))
    real = attention_mask.bool()
    pairs = (places[None, :] == places[:, None] + offset) & real[:, :, None] & real[:, None, :]  # (B, T, T)
    return (weights * pairs[None, :, None]).sum(dim=(1, 3, 4)) / pairs.sum()


def head_entropy(attentions: list[Tensor], attention_mask: Tensor) -> Tensor:
    """(L, H): how widely each head spreads its attention: the entropy of its weights, averaged over real queries.

    In nats, as `attention_entropy` of notebook 03 gives it for each query. All real queries of the batch count alike;
    padding is no query. Source: Clark et al. 2019, §3.3.
    """
    entropy = attention_entropy(torch.stack(attentions))  # (L, B, H, T)
    real = attention_mask.bool()[:, None]  # (B, 1, T)
    return (entropy * real).sum(dim=(1, 3)) / real.sum()


def head_statistics(attentions: list[Tensor], attention_mask: Tensor | None = None) -> dict[str, Tensor]:
    """What each head of each layer looks at: name → (L, H).

    `"previous"`, `"itself"`, `"next"`: attention to the token one place before, at the same place, one place after;
    `"first"`, `"last"`: to the first ([CLS]) and the last real token ([SEP]) of its sentence, averaged over all real
    queries of the batch together; `"entropy"`: how widely it looks, in nats. Without a mask all tokens are real.
    Source: Clark et al. 2019, §3.
    """
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    weights = torch.stack(attentions)  # (L, B, H, T, T)
    real = attention_mask.bool()  # (B, T)
    sentences = torch.arange(len(real))
    to_first = weights[..., 0]  # (L, B, H, T)
    to_last = weights[:, sentences, :, :, real.sum(dim=1) - 1]  # (B, L, H, T): indexed axes come first
    return {
        "previous": attention_to_offset(attentions, attention_mask, -1),
        "itself": attention_to_offset(attentions, attention_mask, 0),
        "next": attention_to_offset(attentions, attention_mask, 1),
        "first": (to_first * real[:, None]).sum(dim=(1, 3)) / real.sum(),
        "last": (to_last * real[:, None, None]).sum(dim=(0, 3)) / real.sum(),
        "entropy": head_entropy(attentions, attention_mask),
    }


def find_previous_token_head(attentions: list[Tensor], attention_mask: Tensor | None = None) -> tuple[int, int]:
    """(layer, head), both counted from 0, of the head that attends most to the token before, on average.

    Two Python numbers. Averages as in `attention_to_offset`; without a mask all tokens are real.
    """
    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
    shares = attention_to_offset(attentions, attention_mask, -1)  # (L, H)
    layer, head = divmod(int(shares.argmax()), shares.size(1))
    return layer, head


def attention_between(attentions: list[Tensor], sentence_b_start: int) -> Tensor:
    """(L, H, 2, 2): at […, i, j] the share of its attention that sentence i gives to sentence j, for one sentence pair.

    `attentions` holds L tensors (1, H, T, T). Tokens before place `sentence_b_start` are sentence A (index 0), the
    others B (index 1); both have one token at least, and nothing is padding. The shares of i are averages over its
    tokens, so each row sums to one. Source: the sentence-pair filters of BertViz's head view, Vig 2019, §3.1.
    """
    weights = torch.stack([layer[0] for layer in attentions])  # (L, H, T, T)
    halves = (slice(None, sentence_b_start), slice(sentence_b_start, None))
    rows = [
        torch.stack([weights[..., queries, keys].sum(dim=-1).mean(dim=-1) for keys in halves], dim=-1)  # (L, H, 2)
        for queries in halves
    ]
    return torch.stack(rows, dim=-2)


def neuron_terms(query: Tensor, key: Tensor) -> Tensor:  # (…, T, K), (…, S, K) -> (…, T, S, K)
    """The K products that each score adds up: what the neuron view draws between a query and a key.

    Their sum over the last axis, divided by √K, is the score of notebook 02. Source: Vig 2019, §3.3 (neuron view).
    """
    return query.unsqueeze(-2) * key.unsqueeze(-3)  # (…, T, 1, K) * (…, 1, S, K)


def weighted_value_norms(weights: Tensor, value: Tensor) -> Tensor:  # (B, H, T, S), (B, H, S, K) -> (B, H, T, S)
    """How long a vector each key really adds to each query's result: ‖weight · value‖, Euclidean.

    A large weight on a short value adds little. Source: Kobayashi et al. 2020, §3 (there behind the output layer).
    """
    return weights * value.norm(dim=-1).unsqueeze(-2)  # (B, H, 1, S)


def attention_rollout(attentions: list[Tensor]) -> Tensor:
    """(B, T, T): how much each token of the last layer (row) draws on each input token (column), through all layers.

    Per layer: the mean of its heads, half of it mixed with half of the identity, which stands for the residual
    connection; the layers' matrices multiplied, the last layer on the left. Each row sums to one.
    Source: Abnar and Zuidema 2020, §3 (attention rollout).
    """
    length = attentions[0].size(-1)
    flow = torch.eye(length)  # (T, T), then (B, T, T)
    for weights in attentions:  # (B, H, T, T)
        layer = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(length)  # (B, T, T)
        flow = layer @ flow
    return flow


def switch_off_heads(context: Tensor, heads: list[int], num_heads: int) -> Tensor:  # (B, T, D) -> (B, T, D)
    """The merged results of `num_heads` heads with those of `heads` set to zero; all others stay.

    Head h owns columns h·K to (h + 1)·K − 1, K = D / H. `context` itself stays as it is. An empty list changes nothing.
    Raises ValueError, with the number, for a head that does not exist (negative ones, too).
    Source: Michel et al. 2019, §2.3 (their mask variables ξ).
    """
    for head in heads:
        if not 0 <= head < num_heads:
            raise ValueError(f"there is no head {head}: {num_heads} heads are counted from 0")
    keep = torch.ones(num_heads)
    keep[list(heads)] = 0.0
    head_dim = context.size(-1) // num_heads
    return context * keep.repeat_interleave(head_dim)


quiz_bertviz = {
    "one head switched off": "often little is lost",
    "much weight on [SEP]": "often a way to do nothing",
    "other weights, same output": "possible, so weights alone prove little",
    "rollout adds the identity for": "the residual connection",
    "to claim that a head matters": "switch it off and measure",
}
