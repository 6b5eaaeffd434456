"""Right answers of 10-encoder-decoder: the Transformer of 2017, which reads one sequence and writes another.

Sources: Vaswani et al. 2017, §3; beam search with length normalization, Wu et al. 2016, §7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertConfig

from anatomy.course.nb04_heads.right import merge_heads, split_heads
from anatomy.course.nb05_encoder_layer.right import FeedForward, LayerNorm, PostNormEncoderLayer, SelfAttention
from anatomy.course.nb06_positional_encodings.right import sinusoidal_encoding
from anatomy.course.nb07_encoder.right import padding_mask
from anatomy.course.nb09_causal_mask.right import causal_mask, masked_attention


def shift_right(target: Tensor, start_id: int) -> Tensor:  # (B, T) -> (B, T)
    """What the decoder is fed while it learns to write `target`: the start token, then all of `target` but its last.

    So at position t it has seen the tokens before target[t], and not target[t] itself. `target` stays as it is.
    Source: Vaswani et al. 2017, Figure 1 ("outputs, shifted right") and §3.1.
    """
    start = torch.full_like(target[:, :1], start_id)  # (B, 1)
    return torch.cat([start, target[:, :-1]], dim=1)


def decoder_mask(target: Tensor, pad_id: int) -> Tensor:  # (B, T) -> (B, 1, T, T)
    """Which tokens each token of the decoder's input may look at: none that comes later, and no padding.

    True where query t may look at key s (numbers to be added to the scores, 0 there and −∞ elsewhere, do as well);
    broadcasts to (B, H, T, T). `target` holds token ids, padding is at the end, and the first token is never padding:
    each query may look at one key at least.
    """
    real = (target != pad_id)[:, None, None, :]  # (B, 1, 1, T)
    return real & causal_mask(target.size(1)).to(target.device)  # (B, 1, T, T)


class CrossAttention(nn.Module):
    """Multi-head attention between two sequences: queries come from `x`, keys and values from `memory`.

    Layers `q`, `k`, `v`, `output_linear`: D to D, with bias. D and H are `config.hidden_size` and
    `config.num_attention_heads`. `memory` is what the encoder made of the source; S need not be T. `mask` broadcasts to
    (B, H, T, S): True where query t may look at key s. None: everywhere. Source: Vaswani et al. 2017, §3.2.3.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.output_linear = nn.Linear(width, width)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        # (B, T, D), (B, S, D) -> (B, T, D)
        query = split_heads(self.q(x), self.num_heads)  # (B, H, T, K)
        key = split_heads(self.k(memory), self.num_heads)  # (B, H, S, K)
        value = split_heads(self.v(memory), self.num_heads)  # (B, H, S, K)
        context = masked_attention(query, key, value, mask)  # (B, H, T, K)
        return self.output_linear(merge_heads(context))


class TransformerDecoderLayer(nn.Module):
    """The decoder's layer, post-norm: look at what is written, look at the source, think; each with skip and norm.

    Layers `attention` (notebook 05's `SelfAttention`) and `layer_norm_1`, `cross_attention` (a `CrossAttention`) and
    `layer_norm_2`, `feed_forward` and `layer_norm_3`; `dropout` for what each attention returns (`feed_forward` has its
    own). `mask` is for self-attention, `memory_mask` for cross-attention. Source: Vaswani et al. 2017, §3.1.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.cross_attention = CrossAttention(config)
        self.feed_forward = FeedForward(config)
        self.layer_norm_1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_2 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_3 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, D)
        x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))
        x = self.layer_norm_2(x + self.dropout(self.cross_attention(x, memory, memory_mask)))
        return self.layer_norm_3(x + self.feed_forward(x))


class Transformer(nn.Module):
    """The model of 2017: an encoder that reads the source, a decoder that writes the target and looks at both.

    Layers `token_embeddings` (V rows, for source and target alike), `dropout`, `encoder_layers`
    (`PostNormEncoderLayer`) and `decoder_layers` (`TransformerDecoderLayer`), `config.num_hidden_layers` of each, and
    `lm_head`, D to V without bias, whose weight *is* the token table. Vectors are multiplied by √D, sinusoidal
    positions are added. Padding, the id `config.pad_token_id`, is looked at nowhere; `pad_id` keeps it. What comes out
    where the target is padding has no meaning. No norm after the last layers: post-norm layers end with their own.
    Source: Vaswani et al. 2017, §3.1 to §3.5; shared tables and √D, §3.4.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.pad_id = config.pad_token_id
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.encoder_layers = nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))
        self.decoder_layers = nn.ModuleList(TransformerDecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = self.token_embeddings.weight  # (V, D), shared

    def embed(self, ids: Tensor) -> Tensor:  # (B, T) -> (B, T, D)
        """Vectors of tokens, times √D, plus their positions."""
        vectors = self.token_embeddings(ids)  # (B, T, D)
        width = vectors.size(-1)
        positions = sinusoidal_encoding(ids.size(1), width).to(vectors.device)  # (T, D)
        return self.dropout(vectors * math.sqrt(width) + positions)

    def encode(self, source: Tensor) -> Tensor:  # (B, S) -> (B, S, D)
        """The memory: one vector for each token of the source. It is made once, however much is written."""
        mask = padding_mask(source != self.pad_id)  # (B, 1, 1, S)
        x = self.embed(source)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return x

    def decode(
        self, target: Tensor, memory: Tensor, source: Tensor
    ) -> Tensor:  # (B, T), (B, S, D), (B, S) -> (B, T, V)
        """Logits for what follows each token of the decoder's input; `source` says where the memory is padding."""
        mask = decoder_mask(target, self.pad_id)  # (B, 1, T, T)
        memory_mask = padding_mask(source != self.pad_id)  # (B, 1, 1, S)
        x = self.embed(target)
        for layer in self.decoder_layers:
            x = layer(x, memory, mask, memory_mask)
        return self.lm_head(x)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:  # (B, S), (B, T) -> (B, T, V)
        """`target` is the decoder's input, so already shifted to the right."""
        return self.decode(target, self.encode(source), source)


def teacher_forcing_loss(model: Any, source: Tensor, target: Tensor, start_id: int, pad_id: int) -> Tensor:
    # (B, S), (B, T) -> ()
    """Mean cross-entropy, in nats, of writing `target` when everything before each token is given, and right.

    The decoder is fed `target` shifted to the right; `model(source, decoder_input)` gives logits (B, T, V). Places
    where `target` is padding do not count, neither in the sum nor in the number it is divided by. Source: Williams
    and Zipser 1989, where feeding the right outputs is called teacher forcing.
    """
    logits = model(source, shift_right(target, start_id))  # (B, T, V)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id)


@torch.no_grad()
def greedy_decode(model: Any, source: Tensor, start_id: int, end_id: int, max_len: int) -> Tensor:  # (B, S) -> (B, N)
    """Let the model write: always the most probable token, for all sources at once.

    `model` has `encode(source)`, `decode(target, memory, source)` and `pad_id`; the source is encoded once. Returns
    what was written, without the start token. After its end token a row holds `model.pad_id` only. Stops when all
    rows have ended, or after `max_len` tokens, so N ≤ `max_len`.
    """
    memory = model.encode(source)  # (B, S, D)
    written = torch.full_like(source[:, :1], start_id)  # (B, 1)
    ended = torch.zeros_like(written, dtype=torch.bool)  # (B, 1)
    for _ in range(max_len):
        chosen = model.decode(written, memory, source)[:, -1:].argmax(dim=-1)  # (B, 1)
        chosen = chosen.masked_fill(ended, model.pad_id)
        written = torch.cat([written, chosen], dim=1)
        ended = ended | (chosen == end_id)
        if ended.all():
            break
    return written[:, 1:]


def beam_search(
    step: Callable[[Tensor], Tensor],
    start_id: int,
    end_id: int,
    beam_size: int,
    max_len: int,
    length_penalty: float = 0.0,
) -> tuple[list[int], float]:
    """A sequence of high probability, found by keeping the `beam_size` best beginnings at every step.

    `step` takes N beginnings (N, T), the start token first, and gives log-probabilities of what follows, (N, V); some
    may be −∞: impossible, but never all of a row. At every step all beginnings are extended by all tokens; impossible
    extensions are left out. The `beam_size` extensions with the largest sum of log-probabilities are kept, of equal
    ones that of the better beginning, then of the smaller token id. Those that end with `end_id` are finished: they
    are set aside and never extended. It goes on until nothing is left to extend or `max_len` tokens are written. One
    call of `step` serves all beginnings of one length.

    Returns
    -------
    tuple
        The best finished sequence (the best unfinished one where none has finished), a list of ids without the start
        and with the end token; and its score: the sum of its log-probabilities divided by length^`length_penalty`,
        where length counts the ids in that list. Of equal scores the one found first.

    Source: Wu et al. 2016, §7, whose penalty is ((5 + length) / 6)^α; the plain power of the length is used here.
    """
    beginnings: list[tuple[list[int], float]] = [([], 0.0)]
    finished: list[tuple[list[int], float]] = []

    def score(one: tuple[list[int], float]) -> float:
        return one[1] / len(one[0]) ** length_penalty

    for _ in range(max_len):
        following = step(torch.tensor([[start_id, *ids] for ids, _ in beginnings]))  # (N, T) -> (N, V)
        extended = [
            ([*ids, token], total + value)
            for (ids, total), values in zip(beginnings, following.tolist(), strict=True)
            for token, value in enumerate(values)
            if value > -math.inf
        ]
        best = sorted(extended, key=lambda one: -one[1])[:beam_size]  # stable: of equals the first stays first
        finished += [one for one in best if one[0][-1] == end_id]
        beginnings = [one for one in best if one[0][-1] != end_id]
        if not beginnings:
            break
    found = max(finished or beginnings, key=score)
    return found[0], score(found)


quiz_encoder_decoder = {
    "queries of cross-attention come from": "the decoder",
    "rows and columns of its weights": "target and source",
    "for one translation the source is encoded": "once",
    "teacher forcing feeds": "the right tokens so far",
    "a wider beam finds": "a sequence as probable or more, mostly",
}
