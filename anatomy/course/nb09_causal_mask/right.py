"""Right answers of 09-causal-mask: a decoder that writes one token after another, and never looks ahead.

Sources: masked self-attention, Vaswani et al. 2017, §3.2.3; the model, Radford et al. 2018 (GPT), §3.1, and Radford et
al. 2019 (GPT-2), §2.3.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import GPT2Config

from anatomy.course.nb04_heads.right import merge_heads, split_heads

KeysAndValues = tuple[Tensor, Tensor]
"""What a layer's attention keeps of the tokens that it has seen: keys and values, both (B, H, P, K)."""


def causal_mask(length: int) -> Tensor:  # -> (T, T)
    """Which keys each query may look at: True (or 1) where key s stands at or before query t.

    `length` is T. Source: Vaswani et al. 2017, §3.1, last paragraph: predictions depend on what is known before only.
    """
    return torch.ones(length, length, dtype=torch.bool).tril()


def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    # (..., T, K), (..., S, K), (..., S, Dv), mask that broadcasts to (..., T, S) -> (..., T, Dv)
    """Scaled dot-product attention in which a query sees only the keys that its mask allows.

    `mask` is True or 1 where query t may look at key s, False or 0 where it may not: there the score is −∞ before the
    softmax, so the weight is exactly 0 and the others still sum to 1. Each query may look at one key at least. None:
    everyone sees everything. Source: Vaswani et al. 2017, §3.2.3.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., T, S)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -torch.inf)
    return scores.softmax(dim=-1) @ value


def future_leak(model: Any, ids: Tensor) -> Tensor:  # (B, T) -> (B, T, T)
    """How much each output depends on inputs that come later: zero everywhere for a causal model.

    Entry [b, t, s], for s > t, is the Euclidean length of the gradient of ``model(ids)[b, t].sum()`` with respect to
    the vector that `model.token_embeddings` gives for token s. On and below the diagonal it is 0: the past may be used.
    The model, its parameters and their gradients stay as they are.
    """
    vectors = []

    def catch(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        vectors.append(output.detach().requires_grad_())  # (B, T, D)
        return vectors[-1]

    hook = model.token_embeddings.register_forward_hook(catch)
    try:
        outputs = model(ids)  # (B, T, V)
    finally:
        hook.remove()
    length = ids.size(1)
    gradients = [
        torch.autograd.grad(outputs[:, t].sum(), vectors[0], retain_graph=True)[0].norm(dim=-1)  # (B, T)
        for t in range(length)
    ]
    return torch.stack(gradients, dim=1).triu(diagonal=1)  # (B, T, T)


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention in which no token sees a later one.

    Layers `q`, `k`, `v`, `output_linear`: D to D, with bias; no dropout. D is `config.hidden_size`; H is
    `config.num_attention_heads`, kept as `num_heads`. Source: Vaswani et al. 2017, §3.2.3.
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        width = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.output_linear = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        query, key, value = (split_heads(layer(x), self.num_heads) for layer in (self.q, self.k, self.v))
        context = masked_attention(query, key, value, causal_mask(x.size(1)).to(x.device))  # (B, H, T, K)
        return self.output_linear(merge_heads(context))


class FeedForward(nn.Module):
    """Notebook 05's feed-forward network as GPT-2 has it. Given in the notebook, not an exercise.

    Layers `linear_1` (D to 4·D), `linear_2` (4·D to D), `dropout`; GELU in its tanh approximation. Source: Radford et
    al. 2018, §4.1; Hendrycks and Gimpel 2016, §2.
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(config.hidden_size, 4 * config.hidden_size)
        self.linear_2 = nn.Linear(4 * config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., D)
        return self.dropout(self.linear_2(F.gelu(self.linear_1(x), approximate="tanh")))


class DecoderBlock(nn.Module):
    """The pre-norm layer of notebook 05 with an attention that does not look ahead.

    Layers `layer_norm_1` and `attention` (a `CausalSelfAttention`), `layer_norm_2` and `feed_forward`; both norms are
    `nn.LayerNorm` with `config.layer_norm_epsilon`. `dropout` with `config.resid_pdrop` for what attention returns
    (`feed_forward` has its own). Source: Radford et al. 2019, §2.3 (norms moved to the input of each sub-block).
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.layer_norm_1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.layer_norm_2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.attention = CausalSelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        x = x + self.dropout(self.attention(self.layer_norm_1(x)))
        return x + self.feed_forward(self.layer_norm_2(x))


class GPT(nn.Module):
    """Token ids in; for each position, logits for the token that comes next.

    Layers `token_embeddings` (V rows) and `position_embeddings` (`config.max_position_embeddings` rows), added and put
    through `dropout` (`config.embd_pdrop`); `blocks`, `config.num_hidden_layers` of them; `layer_norm`, the one norm
    that pre-norm needs at its end; `lm_head`, D to V without bias. The head's weight *is* the token table: one
    parameter under two names. Raises ValueError when T exceeds the table of positions.
    Source: Radford et al. 2018, §3.1, equation 2; Radford et al. 2019, §2.3 (final norm); Press and Wolf 2017 (tying).
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.token_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.dropout = nn.Dropout(config.embd_pdrop)
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.num_hidden_layers))
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = self.token_embeddings.weight  # (V, D), shared

    def forward(self, ids: Tensor) -> Tensor:  # (B, T) -> (B, T, V)
        length, most = ids.size(1), self.position_embeddings.num_embeddings
        if length > most:
            raise ValueError(f"{length} tokens, but the table of positions ends after {most}")
        positions = torch.arange(length, device=ids.device)  # (T,)
        x = self.dropout(self.token_embeddings(ids) + self.position_embeddings(positions))  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.layer_norm(x))


def next_token_loss(logits: Tensor, ids: Tensor) -> Tensor:  # (B, T, V), (B, T) -> ()
    """Mean cross-entropy, in nats, of predicting token t + 1 from position t, for t = 0 … T − 2.

    The last position has nothing to predict, and nothing predicts the first token: B·(T − 1) terms. T is at least 2.
    Source: Radford et al. 2018, §3.1, equation 1.
    """
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())  # (B·(T−1), V), (B·(T−1),)


def load_gpt2_weights(gpt: Any, state_dict: dict[str, Tensor]) -> None:
    """Copy the weights of a Hugging Face `GPT2LMHeadModel` into a GPT with the names of this notebook.

    `state_dict` is the library model's. Its projections (`Conv1D`) have weights (in, out), where `nn.Linear` has (out,
    in); queries, keys and values come from one matrix, `c_attn` (D, 3·D), as three blocks of columns. The head stays
    tied to the token table; model and dict share no memory afterwards. Raises KeyError when the dict lacks an entry
    that the model needs, ValueError when it has a block that the model has not, RuntimeError when a shape differs.
    """
    depth = len(gpt.blocks)
    if any(key.startswith(f"transformer.h.{depth}.") for key in state_dict):
        raise ValueError(f"the model has {depth} blocks, the state dict has more")
    mine = {
        "token_embeddings.weight": state_dict["transformer.wte.weight"],  # (V, D)
        "lm_head.weight": state_dict["transformer.wte.weight"],  # the same parameter
        "position_embeddings.weight": state_dict["transformer.wpe.weight"],
    }
    for part in ("weight", "bias"):
        mine[f"layer_norm.{part}"] = state_dict[f"transformer.ln_f.{part}"]
        for number in range(depth):
            theirs, block = f"transformer.h.{number}", f"blocks.{number}"
            for norm in (1, 2):
                mine[f"{block}.layer_norm_{norm}.{part}"] = state_dict[f"{theirs}.ln_{norm}.{part}"]
            all_three = state_dict[f"{theirs}.attn.c_attn.{part}"]  # (D, 3·D) or (3·D,)
            for name, columns in zip("qkv", all_three.chunk(3, dim=-1), strict=True):
                mine[f"{block}.attention.{name}.{part}"] = columns.T if part == "weight" else columns
            for name, other in (
                ("attention.output_linear", "attn.c_proj"),
                ("feed_forward.linear_1", "mlp.c_fc"),
                ("feed_forward.linear_2", "mlp.c_proj"),
            ):
                tensor = state_dict[f"{theirs}.{other}.{part}"]
                mine[f"{block}.{name}.{part}"] = tensor.T if part == "weight" else tensor
    gpt.load_state_dict(mine)  # strict: refuses when a name is missing or left over


def next_token_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:  # (..., V) -> (..., V)
    """The distribution from which the next token is drawn: softmax of logits / temperature, cut by `top_k` and `top_p`.

    Tokens outside the `top_k` largest get exactly 0; None, or a number of V and more, keeps all. Of what is left,
    `top_p` (above 0, up to 1) keeps the fewest most probable tokens that together have at least this probability; None
    keeps all. `temperature` is above 0: below 1 the distribution is sharper, above 1 flatter. Source: Fan, Lewis and
    Dauphin 2018 (top-k); Holtzman et al. 2020, §3.1 (top-p, there nucleus sampling).
    """
    logits = logits / temperature
    if top_k is not None and top_k < logits.size(-1):
        least = logits.topk(top_k, dim=-1).values[..., -1:]  # (..., 1): the smallest that stays
        logits = logits.masked_fill(logits < least, -torch.inf)
    probabilities = logits.softmax(dim=-1)
    if top_p is not None:
        ordered, order = probabilities.sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered  # (..., V): what the more probable tokens have together
        kept = ordered.masked_fill(before >= top_p, 0.0)
        probabilities = torch.zeros_like(kept).scatter(-1, order, kept)  # each at its own token again
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return probabilities


@torch.no_grad()
def generate(
    model: Any,
    ids: Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:  # (B, T) -> (B, T + max_new_tokens)
    """Let the model write on: predict, choose one token, append it, and again.

    `model(ids)` gives logits (B, T, V). A `temperature` of 0 always takes the most probable token (greedy); otherwise
    each row's token is drawn with `generator` from `next_token_probabilities`. The model sees the last
    `model.position_embeddings.num_embeddings` tokens at most. `ids` stays as it is.
    """
    most = model.position_embeddings.num_embeddings
    for _ in range(max_new_tokens):
        logits = model(ids[:, -most:])[:, -1]  # (B, V): what follows the last token
        if temperature == 0:
            chosen = logits.argmax(dim=-1, keepdim=True)  # (B, 1)
        else:
            probabilities = next_token_probabilities(logits, temperature, top_k, top_p)
            chosen = torch.multinomial(probabilities, 1, generator=generator)  # (B, 1)
        ids = torch.cat([ids, chosen], dim=1)
    return ids


def cached_attention(
    attention: Any, x: Tensor, cache: KeysAndValues | None = None
) -> tuple[Tensor, KeysAndValues]:  # (B, N, D), 2 × (B, H, P, K) -> (B, N, D), 2 × (B, H, P + N, K)
    """What a `CausalSelfAttention` gives for N new tokens, when keys and values of the P tokens before them are kept.

    `attention` has `q`, `k`, `v`, `output_linear` and `num_heads`. `cache` holds keys and values of the past; None:
    there is no past. Returns the new tokens' outputs, as if the whole text had been put through `attention`, and keys
    and values of all P + N tokens, those handed over first. The cache handed over stays as it is.
    """
    query, key, value = (
        split_heads(layer(x), attention.num_heads) for layer in (attention.q, attention.k, attention.v)
    )
    past = 0
    if cache is not None:
        past = cache[0].size(2)
        key = torch.cat([cache[0], key], dim=2)  # (B, H, P + N, K)
        value = torch.cat([cache[1], value], dim=2)
    mask = causal_mask(past + x.size(1))[past:].to(x.device)  # (N, P + N): the rows of the new tokens
    context = masked_attention(query, key, value, mask)  # (B, H, N, K)
    return attention.output_linear(merge_heads(context)), (key, value)


quiz_decoder = {
    "in training, a text of 100 tokens gives": "99 predictions at once",
    "without the mask, the training loss": "falls to nearly 0",
    "a perplexity of 1 means": "always sure and right",
    "temperature towards 0": "always the most probable token",
    "few-shot examples change": "nothing but the input",
}
