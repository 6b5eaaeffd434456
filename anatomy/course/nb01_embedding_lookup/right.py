"""Right answers of 01-embedding-lookup: from text to pieces, ids and vectors."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import torch
from torch import Tensor


def learn_bpe(word_counts: dict[str, int], num_merges: int) -> list[tuple[str, str]]:
    """Learn byte-pair merges from words and how often they occur.

    A word starts as its characters and the end mark ``</w>``. Each step counts the pairs of neighbors, weighted by
    the words' counts, and merges the most frequent pair everywhere, from left to right. Among equally frequent pairs
    the one seen first wins: words in dict order, pairs from left to right, as the words are split at that step.

    Returns the merges in order; fewer than `num_merges` when no pair is left.

    Source: Sennrich, Haddow and Birch 2016, §3.2 and Algorithm 1.
    """
    words = {word: [*word, "</w>"] for word in word_counts}  # word -> its pieces so far
    merges: list[tuple[str, str]] = []
    for _ in range(num_merges):
        counts: Counter[tuple[str, str]] = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: counts[pair])  # of equals, the first that was counted
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
                i += 1
    return merges


def wordpiece(word: str, vocab: dict[str, int], unk: str = "[UNK]") -> list[str]:
    """Cut a word into pieces of a vocabulary: always the longest one that fits, from left to right, never going back.

    Pieces that continue a word carry ``##`` in the vocabulary and in the result. If at some point no piece fits, the
    whole word becomes ``[unk]``.

    Source: Devlin et al. 2019, §3, after Wu et al. 2016, §4.1; the greedy rule is that of BERT's published code.
    """
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start > 0 else ""
        for end in range(len(word), start, -1):  # the longest first
            if mark + word[start:end] in vocab:
                break
        else:
            return [unk]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def one_hot_lookup(ids: Tensor, weight: Tensor) -> Tensor:  # (...), (V, D) -> (..., D)
    """Look embeddings up as a product: row `id` of the matrix is a one-hot row times the matrix."""
    one_hot = (ids.unsqueeze(-1) == torch.arange(weight.size(0))).to(weight.dtype)  # (..., V)
    return one_hot @ weight  # (..., V) @ (V, D) -> (..., D)


def embedding_lookup(ids: Tensor, weight: Tensor) -> Tensor:  # (...), (V, D) -> (..., D)
    """Look embeddings up by indexing: the same vectors, without touching the rows that nobody asked for."""
    return weight[ids]


def nearest_tokens(query_id: int, weight: Tensor, k: int) -> Tensor:  # (), (V, D), () -> (k,)
    """Ids of the `k` other rows whose direction is closest to that of row `query_id` (cosine), nearest first."""
    unit = weight / weight.norm(dim=-1, keepdim=True)  # (V, D)
    cosine = unit @ unit[query_id]  # (V, D) @ (D,) -> (V,)
    cosine[query_id] = -torch.inf  # by id: another row may hold the very same vector
    return cosine.topk(k).indices  # (k,)


quiz_embeddings = {
    "flies twice": "the same",
    "rows that learn": "rows 5 and 9",
    "a new word": "several known pieces",
}
