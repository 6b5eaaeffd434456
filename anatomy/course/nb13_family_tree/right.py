"""Right answers of 13-family-tree: what the descendants of the Transformer changed.

Sources: Raffel et al. 2020 (T5, prefix masks); Beltagy et al. 2020 (Longformer); Zaheer et al. 2020 (BigBird); Devlin
et al. 2019, Liu et al. 2019, Sanh et al. 2019, Lan et al. 2020 (encoders); Brown et al. 2020 (GPT-3); Dosovitskiy et
al. 2021 (ViT); Radford et al. 2021 (CLIP).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F


def prefix_lm_mask(prefix: int, length: int) -> Tensor:  # -> (T, T)
    """True (or 1) where query t may look at key s: everyone at the whole prefix, and at all that is not later.

    The first `prefix` of `length` tokens are read in both directions; behind them the text is written from left to
    right. 0 ≤ prefix ≤ length: 0 gives the causal mask, `length` lets everyone look everywhere.
    Source: Raffel et al. 2020, §3.2.1 and Figure 3, right.
    """
    places = torch.arange(length)
    return (places[None, :] <= places[:, None]) | (places[None, :] < prefix)


def sliding_window_mask(length: int, window: int) -> Tensor:  # -> (T, T)
    """True (or 1) where query t may look at key s: at itself and at `window // 2` neighbors on each side.

    Source: Beltagy et al. 2020, §3.1 (½w tokens on each side).
    """
    places = torch.arange(length)
    return (places[None, :] - places[:, None]).abs() <= window // 2


def bigbird_mask(length: int, window: int, num_global: int, num_random: int, generator: torch.Generator) -> Tensor:
    """(T, T), True (or 1) where query t may look at key s: BigBird's window, global tokens and random keys together.

    The window is `sliding_window_mask`'s. The first `num_global` tokens look at everyone, and everyone at them. Each
    other query looks at `num_random` more keys, different ones, drawn evenly from those that it could not see yet (at
    all of these where fewer are left); each query draws for itself, from `generator`.
    Source: Zaheer et al. 2020, §2 and Figure 1 (whose implementation does the same with blocks of tokens).
    """
    mask = sliding_window_mask(length, window)
    mask[:num_global] = True
    mask[:, :num_global] = True
    for row in mask:  # (T,)
        unseen = (~row).nonzero().squeeze(1)  # (N,)
        row[unseen[torch.randperm(len(unseen), generator=generator)[:num_random]]] = True
    return mask


def attention_cost(mask: Tensor) -> int:  # (T, S) -> a whole number
    """How many scores must be computed: the number of pairs that `mask` lets through (True, or 1)."""
    return int((mask != 0).sum())


def growth_exponent(lengths: list[int], costs: list[float]) -> float:
    """The slope of the straight line that fits log cost against log length best (least squares).

    cost = c·lengthᵃ has slope a: 2 when doubling the length makes it four times as dear, 1 when twice. Two different
    lengths at least; lengths and costs are positive.
    """
    x, y = torch.tensor(lengths).double().log(), torch.tensor(costs).double().log()  # (N,), (N,)
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def encoder_parameters(config: Any) -> int:
    """How many parameters the encoder has that `config` describes, as the library's `num_parameters()` counts.

    `config.model_type` is "bert", "roberta", "distilbert" or "albert"; all linear layers and norms have biases.
    - BERT, RoBERTa: word, position and type embeddings with a norm; L layers, each with four D × D attention layers, a
      norm, two feed-forward layers of inner width F, and a norm; a pooler of D × D.
    - DistilBERT: the same without type embeddings and pooler; its config says `dim`, `hidden_dim`, `n_layers`.
    - ALBERT: embeddings (and their norm) of width E = `embedding_size`, a linear layer from E to D, and one layer's
      weights for each of `num_hidden_groups` groups of layers instead of one for each layer (`inner_group_num` is 1).

    The padding token's vector counts, too. Raises ValueError, with the type, for any other.
    Source: Devlin et al. 2019, §3; Liu et al. 2019; Sanh et al. 2019, §3; Lan et al. 2020, §3.1.
    """
    kind = config.model_type
    if kind not in ("bert", "roberta", "distilbert", "albert"):
        raise ValueError(f"a model of type {kind!r} is none of these encoders")
    if kind == "distilbert":
        width, inner, layers, types = config.dim, config.hidden_dim, config.n_layers, 0
    else:
        width, inner, types = config.hidden_size, config.intermediate_size, config.type_vocab_size
        layers = config.num_hidden_groups if kind == "albert" else config.num_hidden_layers
    narrow = config.embedding_size if kind == "albert" else width  # E
    norm = 2 * width
    embeddings = (config.vocab_size + config.max_position_embeddings + types) * narrow + 2 * narrow
    widening = _linear(narrow, width) if kind == "albert" else 0
    layer = 4 * _linear(width, width) + norm + _linear(width, inner) + _linear(inner, width) + norm
    pooler = 0 if kind == "distilbert" else _linear(width, width)
    return embeddings + widening + layers * layer + pooler


def _linear(inputs: int, outputs: int) -> int:
    """Weights and biases of one linear layer."""
    return inputs * outputs + outputs


def few_shot_prompt(task: str, examples: list[tuple[str, str]], query: str) -> str:
    """A prompt in GPT-3's form: the task and a colon, each example as `input => output`, then `query =>`; one per line.

    No line is empty, and nothing follows the last arrow: not a space, not a line end. Without examples it is a
    zero-shot prompt. Source: Brown et al. 2020, Figure 2.1.
    """
    lines = [f"{task}:", *(f"{given} => {wanted}" for given, wanted in examples), f"{query} =>"]
    return "\n".join(lines)


def patchify(images: Tensor, patch: int) -> Tensor:  # (B, C, H, W) -> (B, N, C·P·P)
    """An image as a sentence: its patches of P × P pixels, row by row from the top left, each one vector.

    N = (H / P)·(W / P). A vector holds the patch's first channel row by row, then the next channel: the order of a
    convolution's weights. Raises ValueError where H or W is no multiple of P, with that size and P in the message.
    Source: Dosovitskiy et al. 2021, §3.1.
    """
    batch, channels, height, width = images.shape
    if height % patch or width % patch:
        raise ValueError(f"an image of {height} × {width} can't be cut into patches of {patch} × {patch}")
    grid = images.reshape(batch, channels, height // patch, patch, width // patch, patch)
    return grid.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)  # (B, rows, columns, C, P, P) -> (B, N, C·P·P)


def clip_loss(image_emb: Tensor, text_emb: Tensor, temperature: float) -> Tensor:  # (B, D), (B, D) -> ()
    """CLIP's loss: image i belongs to text i, and to no other of the batch; the reverse, too. In nats.

    Cosines of all pairs, divided by `temperature`, are logits: the mean of two cross-entropies, each image among the
    texts and each text among the images. Source: Radford et al. 2021, §2.3 and Figure 3.
    """
    images, texts = F.normalize(image_emb, dim=-1), F.normalize(text_emb, dim=-1)
    logits = images @ texts.T / temperature  # (B, B): rows are images
    pairs = torch.arange(len(logits))
    return (F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)) / 2


quiz_which_model = {
    "a million mails a day into ten folders": "a small encoder, fine-tuned",
    "the summary of an article": "encoder and decoder",
    "go on with a story": "a decoder",
    "three examples, no training": "a large decoder, prompted",
    "a contract of 16,000 tokens": "sparse attention",
    "half the computation of BERT base": "half as many layers",
    "find photos by words": "two encoders, one space",
}
