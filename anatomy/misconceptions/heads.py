"""Wrong answers to the exercises of 04-heads."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.heads import AttentionHead, merge_heads, quiz_heads, split_heads
from anatomy.reference.softmax import scaled_dot_product_attention

# ---------------------------------------------------------------------------------------------- AttentionHead


@misconception(
    "You scale by √D, the width of the tokens; inside a head the dot product runs over K numbers, so √K it is. "
    "Here √D = {root_D} and √K = {root_K}.",
    breaks=("values", "gradients"),
)
class AttentionHead__scale_root_d(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(-1))
        return scores.softmax(dim=-1) @ self.v(x)


@misconception(
    "You don't scale the scores: divide them by √K (here {root_K}) before the softmax, as in notebook 02.",
    breaks=("values", "gradients"),
)
class AttentionHead__no_scale(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return (self.q(x) @ self.k(x).transpose(1, 2)).softmax(dim=-1) @ self.v(x)


@misconception(
    "Your scores come out divided by K = {K}, not by √K. If you call `scaled_dot_product_attention`, leave the "
    "scaling to it; if you scale yourself, take the root.",
    breaks=("values", "gradients"),
)
class AttentionHead__scaled_twice(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))
        self.scale = math.sqrt(head_dim)

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x) / self.scale, self.k(x), self.v(x))


@misconception(
    "You forget the value projection: the weights mix the tokens themselves (D = {D} numbers each), where they "
    "should mix the values `self.v(x)` (K = {K} numbers each).",
    breaks=("shape", "values", "gradients"),
)
class AttentionHead__forgets_values(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x), self.k(x), x)


@misconception(
    "Your weights mix the keys, not the values: `v` is never used. Keys say what a token can be found by, values "
    "what it passes on.",
    breaks=("values", "gradients"),
)
class AttentionHead__mixes_keys(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x), self.k(x), self.k(x))


@misconception(
    "Query and key have changed places: row t of your scores comes from `k`, and `q` answers. A head trained this "
    "way would do as well, but real weights, copied in by name, would not.",
    breaks=("values", "gradients"),
)
class AttentionHead__q_and_k_swapped(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.k(x), self.q(x), self.v(x))


@misconception(
    "Your softmax runs over the queries (dim 1): each column sums to one, but it is each query's row that has to "
    "share out 1 among the keys (the last dim).",
    breaks=("values", "gradients"),
)
class AttentionHead__softmax_over_queries(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)
        return scores.softmax(dim=1) @ self.v(x)


@misconception(
    "Your softmax runs over dim 0, the batch: the sentences share out their weights among one another. Use the last "
    "dim, the keys.",
    breaks=("values", "gradients"),
)
class AttentionHead__softmax_over_batch(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)
        return scores.softmax(dim=0) @ self.v(x)


@misconception(
    "There is no softmax: you mix the values with the raw scores. Turn each row of scores into weights first.",
    breaks=("values", "gradients"),
)
class AttentionHead__no_softmax(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features) @ self.v(x)


@misconception(
    "You return the attention weights (B, T, T); a head returns what they mix: weights @ values, (B, T, K).",
    breaks=("shape", "values", "gradients"),
)
class AttentionHead__returns_weights(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return (self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)).softmax(dim=-1)


@misconception(
    "You return a pair, output and weights; the contract asks for the output alone. (Libraries return both on "
    "request: it is how heads are drawn.)",
    breaks=("shape", "values", "gradients"),
)
class AttentionHead__returns_a_pair(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        weights = (self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)).softmax(dim=-1)
        return weights @ self.v(x), weights


@misconception(
    "Your projections have no bias. The contract asks for `nn.Linear` with its bias (the default), because the real "
    "weights that you will load bring one for each.",
    breaks=("values", "parameters", "gradients"),
)
class AttentionHead__no_bias(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim, bias=False) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


@misconception(
    "Your layers have names of their own (`query`, `key`, `value`); the contract says `q`, `k`, `v`. Weights are "
    "copied by name, so names are part of the answer.",
    breaks=("values", "parameters", "gradients"),
)
class AttentionHead__long_names(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))


@misconception(
    "One projection plays all three roles. With q = k = v every token is its own best match (notebook 03); a head "
    "needs three layers of its own.",
    breaks=("values", "parameters", "gradients"),
)
class AttentionHead__one_projection(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q = self.k = self.v = nn.Linear(embed_dim, head_dim)

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


@misconception(
    "Your layers map K to D; they should map D to K: `nn.Linear(inputs, outputs)` takes the width that comes in "
    "first, and here {D} numbers come in and {K} go out.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class AttentionHead__layers_turned(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(head_dim, embed_dim) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


@misconception(
    "You make the layers in `forward`: they get new random weights at every call, and nothing can be trained or "
    "loaded. Make them once, in `__init__`, as attributes.",
    breaks=("values", "parameters", "gradients"),
)
class AttentionHead__layers_in_forward(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.embed_dim, self.head_dim = embed_dim, head_dim

    def forward(self, x):
        q = nn.Linear(self.embed_dim, self.head_dim)
        k = nn.Linear(self.embed_dim, self.head_dim)
        v = nn.Linear(self.embed_dim, self.head_dim)
        return scaled_dot_product_attention(q(x), k(x), v(x))


@misconception(
    "You divide by 8. That is √64, right for BERT base and for no other width; take the root of the head's own "
    "width, here √{K} = {root_K}.",
    breaks=("values", "gradients"),
)
class AttentionHead__divides_by_8(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 8
        return scores.softmax(dim=-1) @ self.v(x)


@misconception(
    "Your tokens see only what stands to their left: that is the causal mask of a decoder (notebook 09). Here every "
    "token may look at all {T}.",
    breaks=("values", "gradients"),
)
class AttentionHead__causal(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), is_causal=True)


@misconception(
    "Your queries are compared with queries; `k` is never used. Compare `self.q(x)` with `self.k(x)`.",
    breaks=("values", "gradients"),
)
class AttentionHead__queries_as_keys(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        return scaled_dot_product_attention(self.q(x), self.q(x), self.v(x))


@misconception(
    "You multiply queries (B, T, K) with keys (B, T, K) as they are. For all pairs of tokens the keys have to be "
    "turned: (B, T, K) @ (B, K, T).",
    breaks=("shape", "values", "parameters", "gradients"),
)
class AttentionHead__keys_not_transposed(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x) / math.sqrt(self.q.out_features)
        return scores.softmax(dim=-1) @ self.v(x)


# ---------------------------------------------------------------------------------------------- MultiHeadAttention


@misconception(
    "You add the heads; they have to be concatenated. A sum leaves {K} numbers a token and forgets which head said "
    "what; side by side, {H} heads of {K} make {D} again.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__heads_added(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width // count, width)

    def forward(self, x):
        return self.output_linear(sum(head(x) for head in self.heads))


@misconception(
    "You average the heads; they have to be concatenated, so that what each head found keeps its own {K} of the {D} "
    "columns.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__heads_averaged(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width // count, width)

    def forward(self, x):
        return self.output_linear(torch.stack([head(x) for head in self.heads]).mean(dim=0))


@misconception(
    "Each of your heads is D = {D} wide, and you add them up. Make each K = D / H = {K} wide and concatenate: the "
    "cost then does not grow with the number of heads.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__full_width_heads(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.heads = nn.ModuleList(AttentionHead(width, width) for _ in range(config.num_attention_heads))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(sum(head(x) for head in self.heads))


@misconception(
    "The output projection is missing: after the concatenation comes one more linear layer, `output_linear`, the "
    "only place where heads are mixed with one another.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__no_output_linear(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


@misconception(
    "You have an `output_linear` but `forward` never calls it: pass the concatenated heads through it before you "
    "return.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__output_linear_unused(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


@misconception(
    "Your heads scale by √D = {root_D}; the width of a head is K, so each has to divide by √K = {root_K}.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__scale_root_d(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        found = [F.scaled_dot_product_attention(h.q(x), h.k(x), h.v(x), scale=x.size(-1) ** -0.5) for h in self.heads]
        return self.output_linear(torch.cat(found, dim=-1))


@misconception(
    "All your heads are one and the same object, so they share one set of projections and all find the same. Make a "
    "new `AttentionHead` for each: `[head] * H` repeats a reference, a loop makes {H} heads.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__shared_head(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList([AttentionHead(width, width // count)] * count)
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([head(x) for head in self.heads], dim=-1))


@misconception(
    "Your heads sit in a plain list: PyTorch does not see them there. They would not be trained, saved or moved to a "
    "GPU. Wrap the list in `nn.ModuleList(…)`.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__plain_list(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = [AttentionHead(width, width // count) for _ in range(count)]
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([head(x) for head in self.heads], dim=-1))


@misconception(
    "You concatenate along another axis than the last: the heads' columns belong side by side, (B, T, H·K), so "
    "`dim=-1`. (`torch.cat` takes dim 0, the batch, when you name none.)",
    breaks=("shape", "values", "parameters", "gradients"),
)
class MultiHeadAttention__concatenated_elsewhere(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([head(x) for head in self.heads]))


@misconception(
    "The columns of your heads are interleaved: first column 0 of every head, then column 1 of every head. Wanted is "
    "all of head 0, then all of head 1: with real weights the order decides.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__interleaved(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.stack([head(x) for head in self.heads], dim=-1).flatten(2))


@misconception(
    "You stack the heads along a new axis 1 and then reshape (B, H, T, K) to (B, T, D) as it lies in memory: that "
    "mixes tokens with heads. Bring the head axis behind T first, or use `torch.cat(…, dim=-1)`.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__stacked_and_reshaped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.stack([head(x) for head in self.heads], dim=1).reshape(x.shape))


@misconception(
    "You cut the tokens into {H} slices and give each head one slice of {K} columns. Each head reads all {D} "
    "columns of every token; only its output is {K} wide.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__sliced_input(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width // count, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        slices = x.chunk(len(self.heads), dim=-1)
        return self.output_linear(torch.cat([head(part) for head, part in zip(self.heads, slices)], dim=-1))


@misconception(
    "H and K have changed places: you make {K} heads of width {H}. `config.num_attention_heads` is their number "
    "(here {H}), and K = D / H = {K} is the width of each.",
    breaks=("values", "parameters", "gradients"),
)
class MultiHeadAttention__count_and_width_swapped(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, count) for _ in range(width // count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([head(x) for head in self.heads], dim=-1))


@misconception(
    "You use dropout. It is not asked for here: in training mode your result is random. Notebook 05 adds it, outside "
    "this module.",
    breaks=("values",),
)
class MultiHeadAttention__dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        return self.dropout(self.output_linear(torch.cat([head(x) for head in self.heads], dim=-1)))


@misconception(
    "You add the input to the result: a skip connection. BERT has one, but around this module; notebook 05 builds it.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__skip_connection(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return x + self.output_linear(torch.cat([head(x) for head in self.heads], dim=-1))


@misconception(
    "Only head 0 is used, {H} times over. Call each head of `self.heads` once.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__first_head_only(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([self.heads[0](x) for _ in self.heads], dim=-1))


@misconception(
    "You pass each head what the head before it made. Heads work side by side, not one after the other: all of them "
    "get the same `x`.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class MultiHeadAttention__chained(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        for head in self.heads:
            x = head(x)
        return self.output_linear(x)


@misconception(
    "You concatenate the heads in reverse order; head 0 comes first, in columns 0 to K − 1.",
    breaks=("values", "gradients"),
)
class MultiHeadAttention__heads_reversed(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, count = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(width, width // count) for _ in range(count))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([head(x) for head in self.heads][::-1], dim=-1))


@misconception(
    "You make 12 heads, BERT base's number, whatever the config says. Take the number from "
    "`config.num_attention_heads`, here {H}.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class MultiHeadAttention__always_12_heads(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.heads = nn.ModuleList(AttentionHead(width, width // 12) for _ in range(12))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        return self.output_linear(torch.cat([head(x) for head in self.heads], dim=-1))


# ---------------------------------------------------------------------------------------------- split_heads


@misconception(
    "You `view` straight to (B, H, T, K): the shape is right, but memory runs token by token, so tokens and heads "
    "get mixed. First (B, T, H, K), then transpose T and H.",
    breaks=("values", "gradients"),
)
def split_heads__view_without_transpose(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, num_heads, length, width // num_heads)


@misconception(
    "You stop at (B, T, H, K), here ({B}, {T}, {H}, {K}): the columns are cut rightly. What is missing is to swap "
    "axes 1 and 2, so that each head has its own T × K table.",
    breaks=("shape", "values", "gradients"),
)
def split_heads__no_transpose(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads)


@misconception(
    "Your heads take one column in every {H} (0, {H}, …), as dealing cards does. Head 0 should get the first {K} "
    "neighbors: in the reshape H comes before K.",
    breaks=("values", "gradients"),
)
def split_heads__interleaved(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, width // num_heads, num_heads).permute(0, 3, 1, 2)


@misconception(
    "The head axis comes first in yours, (H, B, T, K); it belongs behind the batch: (B, H, T, K). (`torch.stack` "
    "puts its new axis first unless you say `dim=1`.)",
    breaks=("shape", "values", "gradients"),
)
def split_heads__heads_first(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1))


@misconception(
    "You make {K} heads of width {H}, not {H} of width {K}: H and K have changed places. (`torch.split` takes the "
    "*size* of a piece; `torch.chunk` takes how many.)",
    breaks=("shape", "values", "gradients"),
)
def split_heads__count_and_width_swapped(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


@misconception(
    "T and K have changed places in yours: (B, H, K, T). That is how keys are turned *inside* the product; the split "
    "itself gives (B, H, T, K).",
    breaks=("shape", "values", "gradients"),
)
def split_heads__tokens_last(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).permute(0, 2, 3, 1)


@misconception(
    "Each of your heads gets a copy of all {D} columns. Splitting shares the columns out: {K} for each of {H} heads, "
    "every column once.",
    breaks=("shape", "values", "gradients"),
)
def split_heads__copies(x, num_heads):
    return x.unsqueeze(1).repeat(1, num_heads, 1, 1)


@misconception(
    "You share out the tokens among the heads, not the columns: each head should see all {T} tokens, with {K} "
    "columns of each.",
    breaks=("shape", "values", "gradients"),
)
def split_heads__splits_tokens(x, num_heads):
    return torch.stack(x.tensor_split(num_heads, dim=1), dim=1)


@misconception(
    "You reshape to (B, H, T, K) at once and transpose after that, which ends at (B, T, H, K). The other way round: "
    "reshape to (B, T, H, K), as the columns lie, then transpose.",
    breaks=("shape", "values", "gradients"),
)
def split_heads__reshaped_in_target_order(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, num_heads, length, width // num_heads).transpose(1, 2)


# ---------------------------------------------------------------------------------------------- merge_heads


@misconception(
    "You reshape (B, H, T, K) as it lies in memory: a row of your result holds several tokens of one head. First "
    "transpose to (B, T, H, K), so that the heads of one token become neighbors.",
    breaks=("values", "gradients"),
)
def merge_heads__no_transpose(x):
    batch, heads, length, width = x.shape
    return x.reshape(batch, length, heads * width)


@misconception(
    "After `transpose` the numbers no longer lie in memory in the order of the axes, and `view` never moves a "
    "number: use `reshape`, or `.contiguous().view(…)`.",
    breaks=("shape", "values", "gradients"),
)
def merge_heads__view(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).view(batch, length, heads * width)


@misconception(
    "The columns of the heads are interleaved in yours: column 0 of every head, then column 1 of every head. Wanted: "
    "all {K} columns of head 0, then those of head 1, so that `merge_heads` undoes `split_heads`.",
    breaks=("values", "gradients"),
)
def merge_heads__interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@misconception(
    "You stop at (B, T, H, K): join the last two axes to D = H·K = {D}.",
    breaks=("shape", "values", "gradients"),
)
def merge_heads__not_flattened(x):
    return x.transpose(1, 2)


@misconception(
    "You add the heads up, which leaves {K} of {D} numbers; merging keeps them all, side by side.",
    breaks=("shape", "values", "gradients"),
)
def merge_heads__added(x):
    return x.sum(dim=1)


@misconception(
    "You average the heads, which leaves {K} of {D} numbers; merging keeps them all, side by side.",
    breaks=("shape", "values", "gradients"),
)
def merge_heads__averaged(x):
    return x.mean(dim=1)


@misconception(
    "You join the heads along the tokens: {T} tokens become H·T. Join them along the columns: (B, T, H·K).",
    breaks=("shape", "values", "gradients"),
)
def merge_heads__along_tokens(x):
    return x.flatten(1, 2)


@misconception(
    "Your heads come out in reverse order: head 0 belongs at the left, in columns 0 to K − 1.",
    breaks=("values", "gradients"),
)
def merge_heads__reversed(x):
    return torch.cat(list(x.unbind(dim=1))[::-1], dim=-1)


# ---------------------------------------------------------------------------------------------- FusedMultiHeadAttention


@misconception(
    "You `view` straight to (B, H, T, K), without the transpose: each head then gets a mixture of tokens and "
    "columns. `split_heads` does it right.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__view_without_transpose(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        def split(y):
            return y.reshape(len(x), self.count, -1, self.width // self.count)

        context = scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)))
        return self.output_linear(merge_heads(context))


@misconception(
    "You `view` to (B, H, T, K) without a transpose, and back in the same way. The two are each other's inverse, so "
    "all shapes fit, but in between a “head” holds a mixture of tokens and columns.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__view_there_and_back(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        def split(y):
            return y.reshape(len(x), self.count, -1, self.width // self.count)

        context = scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)))
        return self.output_linear(context.reshape(x.shape))


@misconception(
    "The split is right, the way back is not: you reshape (B, H, T, K) to (B, T, D) without transposing first, so "
    "rows of different tokens end up in one. `merge_heads` does it right.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__merge_without_transpose(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        if width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(scaled_dot_product_attention(q, k, v).reshape(x.shape))


@misconception(
    "Your attention runs over the heads of one token, not over the tokens: in (B, T, H, K) the last two axes are H "
    "and K. Swap T and H first. No shape tells you; no token ever sees another.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__attends_over_heads(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.count, -1)) for layer in (self.q, self.k, self.v))
        return self.output_linear(scaled_dot_product_attention(q, k, v).flatten(2))


@misconception(
    "There is one head only, {D} wide: queries, keys and values are never split. Between the projections and the "
    "product, cut each into {H} heads of width {K}.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__one_wide_head(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        if width % config.num_attention_heads:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        return self.output_linear(scaled_dot_product_attention(self.q(x), self.k(x), self.v(x)))


@misconception(
    "You scale by √D = {root_D}; after the split each dot product runs over K numbers, so divide by √K = {root_K}.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__scale_root_d(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.width)
        return self.output_linear(merge_heads(scores.softmax(dim=-1) @ v))


@misconception(
    "You don't scale the scores: divide them by √K = {root_K} before the softmax.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__no_scale(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads((q @ k.transpose(-2, -1)).softmax(dim=-1) @ v))


@misconception(
    "Your softmax runs over the queries (dim −2); each query's row has to share out 1 among the keys (dim −1).",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__softmax_over_queries(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return self.output_linear(merge_heads(scores.softmax(dim=-2) @ v))


@misconception(
    "Your softmax runs over the heads (dim 1): they share out one weight among themselves. Each head has its own "
    "softmax, over the keys (the last dim).",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__softmax_over_heads(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return self.output_linear(merge_heads(scores.softmax(dim=1) @ v))


@misconception(
    "You have an `output_linear` but `forward` never calls it: the merged heads go through it last.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__output_linear_unused(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        return merge_heads(
            scaled_dot_product_attention(*(split_heads(f(x), self.count) for f in (self.q, self.k, self.v)))
        )


@misconception(
    "The output projection is missing: one more layer from D to D, `output_linear`, mixes the merged heads.",
    breaks=("values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__no_output_linear(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v = (nn.Linear(self.width, self.width) for _ in range(3))

    def forward(self, x):
        return merge_heads(
            scaled_dot_product_attention(*(split_heads(f(x), self.count) for f in (self.q, self.k, self.v)))
        )


@misconception(
    "All your heads share one projection of width K = {K}. Each head needs its own {K} rows: `q`, `k` and `v` map "
    "{D} numbers to {D}, which are then cut into {H} heads.",
    breaks=("values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__shared_projection(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        if width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v = (nn.Linear(width, width // self.count) for _ in range(3))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (layer(x).unsqueeze(1).expand(-1, self.count, -1, -1) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(scaled_dot_product_attention(q, k, v)))


@misconception(
    "You split the tokens first and project each slice of {K} columns. It is the other way round: project all {D} "
    "columns, then split, so that every head can read every column.",
    breaks=("values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__split_before_projection(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        if width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v = (nn.Linear(width // self.count, width // self.count) for _ in range(3))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        parts = split_heads(x, self.count)
        return self.output_linear(
            merge_heads(scaled_dot_product_attention(self.q(parts), self.k(parts), self.v(parts)))
        )


@misconception(
    "Queries, keys and values come from one layer of 3·D outputs. GPT-2 does that, and it is just as right; but the "
    "contract asks for three layers `q`, `k`, `v`, as BERT's weights have them.",
    breaks=("values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__packed(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        if width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.qkv = nn.Linear(width, 3 * width)
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (split_heads(part, self.count) for part in self.qkv(x).chunk(3, dim=-1))
        return self.output_linear(merge_heads(scaled_dot_product_attention(q, k, v)))


@misconception(
    "Your projections have no bias; the contract asks for the bias that `nn.Linear` has by default.",
    breaks=("values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__no_bias(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        if width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.output_linear = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(scaled_dot_product_attention(q, k, v)))


@misconception(
    "All is right but one thing: D = {D} and H = {H} don't divide, and your module is built all the same. Compare "
    "`hidden_size % num_attention_heads` with 0 in `__init__`, and raise a ValueError that names both numbers.",
    breaks=("refusal",),
)
class FusedMultiHeadAttention__no_refusal(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        self.q, self.k, self.v, self.output_linear = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(scaled_dot_product_attention(q, k, v)))


@misconception(
    "You refuse D = {D} with H = {H} by `assert`. Asserts are for what can't happen, and `python -O` leaves them "
    "out; for what a caller may get wrong, `raise ValueError(…)`.",
    breaks=("refusal",),
)
class FusedMultiHeadAttention__asserts(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.count = config.hidden_size, config.num_attention_heads
        assert width % self.count == 0
        self.q, self.k, self.v, self.output_linear = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(scaled_dot_product_attention(q, k, v)))


@misconception(
    "With D = {D} and H = {H} your module rounds K down, and {D} − {H}·5 = 2 columns vanish without a word. Refuse "
    "in `__init__`, with a ValueError that names both numbers.",
    breaks=("refusal",),
)
class FusedMultiHeadAttention__columns_vanish(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.count, self.size = config.num_attention_heads, config.hidden_size // config.num_attention_heads
        self.q, self.k, self.v = (nn.Linear(config.hidden_size, self.count * self.size) for _ in range(3))
        self.output_linear = nn.Linear(self.count * self.size, config.hidden_size)

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(scaled_dot_product_attention(q, k, v)))


@misconception(
    "Your heads take one column in every {H}. Head 0 owns outputs 0 to K − 1 of `q`, `k` and `v`: in the reshape H comes "
    "before K, as in `split_heads`.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__interleaved_split(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        def split(y):
            return y.unflatten(-1, (-1, self.count)).permute(0, 3, 1, 2)

        context = scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)))
        return self.output_linear(merge_heads(context))


@misconception(
    "The split is right; on the way back the heads' columns come out interleaved, column 0 of every head first. "
    "`merge_heads` puts all of head 0 first.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__interleaved_merge(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(scaled_dot_product_attention(q, k, v).permute(0, 2, 3, 1).flatten(2))


@misconception(
    "Query and key have changed places: row t of the scores comes from `k`. Weights loaded by name would then do "
    "the wrong thing.",
    breaks=("values", "gradients"),
)
class FusedMultiHeadAttention__q_and_k_swapped(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(merge_heads(scaled_dot_product_attention(k, q, v)))


@misconception(
    "After `transpose` the numbers do not lie in memory in the order of the axes, and `view` never moves a number: "
    "call `merge_heads`, or `reshape`.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__view_after_transpose(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(scaled_dot_product_attention(q, k, v).transpose(1, 2).view(x.shape))


@misconception(
    "You add the heads, which leaves K = {K} numbers a token; the output layer takes {D}. Merge them side by side.",
    breaks=("shape", "values", "parameters", "gradients"),
)
class FusedMultiHeadAttention__heads_added(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        return self.output_linear(scaled_dot_product_attention(q, k, v).sum(dim=1))


@misconception(
    "You drop attention weights at random in training mode. It is not asked for here; notebook 05 brings dropout in.",
    breaks=("values",),
)
class FusedMultiHeadAttention__dropout(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width, self.count = config.hidden_size, config.num_attention_heads
        if self.width % self.count:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.q, self.k, self.v, self.output_linear = (nn.Linear(self.width, self.width) for _ in range(4))

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        weights = F.dropout((q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1), 0.1, self.training)
        return self.output_linear(merge_heads(weights @ v))


# ---------------------------------------------------------------------------------------------- copy_heads


@misconception(
    "You copy the heads in reverse order: head 0 belongs in the first K = {K} rows, because `split_heads` gives "
    "head 0 the first K columns.",
    breaks=("q, k, v",),
)
def copy_heads__reverse_order(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in reversed(loop.heads)]
            getattr(fused, name).weight.copy_(torch.cat([part.weight for part in parts]))
            getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "The weights of `q`, `k`, `v` arrive transposed. `nn.Linear` keeps its weight as (outputs, inputs): a head's is "
    "({K}, {D}), and the heads go one below the other, `torch.cat(…, dim=0)`, with nothing turned.",
    breaks=("q, k, v",),
)
def copy_heads__transposed(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.cat([part.weight.T for part in parts], dim=1))
            getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "You join the heads' weights along their inputs (dim 1), which gives ({K}, H·D). The fused layer has one row per "
    "output: join along dim 0.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__along_inputs(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.cat([part.weight for part in parts], dim=1))
            getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "You deal the heads' rows out in turn: row 0 of every head, then row 1 of every head. All {K} rows of head 0 "
    "come first, then those of head 1.",
    breaks=("q, k, v",),
)
def copy_heads__interleaved(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.stack([part.weight for part in parts], dim=1).flatten(0, 1))
            getattr(fused, name).bias.copy_(torch.stack([part.bias for part in parts], dim=1).flatten())
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "The weights are all there, the biases are not: `q`, `k`, `v` and `output_linear` have one each, and fused "
    "still has its own.",
    breaks=("q, k, v", "output layer"),
)
def copy_heads__no_biases(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            getattr(fused, name).weight.copy_(torch.cat([getattr(head, name).weight for head in loop.heads]))
        fused.output_linear.weight.copy_(loop.output_linear.weight)


@misconception(
    "The biases of `q`, `k` and `v` stay what they were; join and copy them like the weights.",
    breaks=("q, k, v",),
)
def copy_heads__no_head_biases(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            getattr(fused, name).weight.copy_(torch.cat([getattr(head, name).weight for head in loop.heads]))
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "`output_linear` is forgotten: it has the same shape in both modules, and its weight and bias have to come along.",
    breaks=("output layer",),
)
def copy_heads__no_output_linear(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.cat([part.weight for part in parts]))
            getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))


@misconception(
    "Only `output_linear` has arrived. The loop's `heads.0.q.weight` and so on have no namesake in fused, and "
    "`strict=False` passes over them in silence.",
    breaks=("q, k, v",),
)
def copy_heads__strict_false(loop, fused):
    fused.load_state_dict(loop.state_dict(), strict=False)


@misconception(
    "You copy the wrong way: the loop now has fused's weights. `x.copy_(y)` writes into x; x has to be fused's.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__other_direction(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            layer = getattr(fused, name)
            rows = zip(loop.heads, layer.weight.chunk(len(loop.heads)), layer.bias.chunk(len(loop.heads)))
            for head, weight, bias in rows:
                getattr(head, name).weight.copy_(weight)
                getattr(head, name).bias.copy_(bias)
        loop.output_linear.load_state_dict(fused.output_linear.state_dict())


@misconception(
    "`fused.output_linear` now *is* the loop's layer: change one and the other changes too. Copy the numbers "
    "(`copy_`, `clone`, `load_state_dict`), not the object.",
    breaks=("independence",),
)
def copy_heads__shared_output_linear(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.cat([part.weight for part in parts]))
            getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))
    fused.output_linear = loop.output_linear


@misconception(
    "After the call fused has its old weights. If you built a new module and returned it, or wrote into "
    "`fused.state_dict()` as into a dict, the fused that was handed over knows nothing of it: write into its "
    "parameters.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__no_effect(loop, fused):
    weights = fused.state_dict()
    for name in ("q", "k", "v"):
        weights[f"{name}.weight"] = torch.cat([getattr(head, name).weight for head in loop.heads])
        weights[f"{name}.bias"] = torch.cat([getattr(head, name).bias for head in loop.heads])
    weights["output_linear.weight"] = loop.output_linear.weight
    weights["output_linear.bias"] = loop.output_linear.bias


@misconception(
    "PyTorch refuses to write into a parameter while it records gradients. Copying is not part of any computation "
    "to be differentiated: put it under `with torch.no_grad():`.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__recorded(loop, fused):
    for name in ("q", "k", "v"):
        parts = [getattr(head, name) for head in loop.heads]
        getattr(fused, name).weight.copy_(torch.cat([part.weight for part in parts]))
        getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))
    fused.output_linear.weight.copy_(loop.output_linear.weight)
    fused.output_linear.bias.copy_(loop.output_linear.bias)


@misconception(
    "Every head is written into the same first {K} rows, so that only the last one remains there. Head h belongs in "
    "rows h·K to (h + 1)·K − 1.",
    breaks=("q, k, v",),
)
def copy_heads__same_rows(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            for head in loop.heads:
                size = len(getattr(head, name).bias)
                getattr(fused, name).weight[:size] = getattr(head, name).weight
                getattr(fused, name).bias[:size] = getattr(head, name).bias
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "All three layers of fused hold the queries' weights: `k` and `v` have to come from the heads' own `k` and `v`.",
    breaks=("q, k, v",),
)
def copy_heads__queries_three_times(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            getattr(fused, name).weight.copy_(torch.cat([head.q.weight for head in loop.heads]))
            getattr(fused, name).bias.copy_(torch.cat([head.q.bias for head in loop.heads]))
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "After your copy the parameters of fused can't be trained: keep `requires_grad=True`, as `copy_` into the "
    "existing parameter does.",
    breaks=("independence",),
)
def copy_heads__frozen(loop, fused):
    for name in ("q", "k", "v"):
        for part in ("weight", "bias"):
            joined = torch.cat([getattr(getattr(head, name), part).detach() for head in loop.heads])
            setattr(getattr(fused, name), part, nn.Parameter(joined, requires_grad=False))
    fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "You stack the heads' weights to (H, K, D) along an axis of their own; `torch.cat` joins them to (H·K, D), one "
    "below the other.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__stacked(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.stack([part.weight for part in parts]))
            getattr(fused, name).bias.copy_(torch.stack([part.bias for part in parts]))
        fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "The loop's names, such as `heads.0.q.weight`, are not fused's: PyTorch rightly refuses. Join the {H} heads' "
    "weights first, then put the result under fused's name, `q.weight`.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__names_as_they_are(loop, fused):
    fused.load_state_dict(loop.state_dict())


@misconception(
    "A layer's weight has to stay an `nn.Parameter`; a plain tensor is refused in its place. Write into the one "
    "that is there: `fused.q.weight.copy_(…)` under `torch.no_grad()`.",
    breaks=("q, k, v", "output layer", "independence"),
)
def copy_heads__tensor_for_parameter(loop, fused):
    for name in ("q", "k", "v"):
        getattr(fused, name).weight = torch.cat([getattr(head, name).weight for head in loop.heads])
        getattr(fused, name).bias = torch.cat([getattr(head, name).bias for head in loop.heads])
    fused.output_linear.load_state_dict(loop.output_linear.state_dict())


@misconception(
    "`output_linear.weight` arrives transposed. Both modules keep it as (outputs, inputs): copy it as it is.",
    breaks=("output layer",),
)
def copy_heads__output_transposed(loop, fused):
    with torch.no_grad():
        for name in ("q", "k", "v"):
            parts = [getattr(head, name) for head in loop.heads]
            getattr(fused, name).weight.copy_(torch.cat([part.weight for part in parts]))
            getattr(fused, name).bias.copy_(torch.cat([part.bias for part in parts]))
        fused.output_linear.weight.copy_(loop.output_linear.weight.T)
        fused.output_linear.bias.copy_(loop.output_linear.bias)


# ---------------------------------------------------------------------------------------------- quiz_heads

quiz_heads_options = [
    wrong_option(
        "quiz_heads", quiz_heads, "input of a head", "its own slice of each token",
        "A head's layers are D to K: they read all D columns and write K. It is the projected vectors that are "
        "sliced.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "input of a head", "its own share of the tokens",
        "Every head sees every token; what differs is the projections, and with them what it looks for.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "parameters from 1 head to 12", "grow twelvefold",
        "Twelve heads are each a twelfth as wide: 12 · K = D columns in all, as with one head.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "parameters from 1 head to 12", "shrink to a twelfth",
        "Each head has a twelfth of the parameters, but there are twelve of them.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "first sum across heads", "the softmax",
        "Each head has a softmax of its own; its sum runs over the tokens, within that one head.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "first sum across heads", "the concatenation",
        "The concatenation adds nothing: it puts the heads side by side, and every column still comes from one head "
        "alone. output_linear is the first to sum over all columns.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "bias without effect", "bias of q",
        "The query's bias meets every key with another result, so it shifts the scores of one row by different "
        "amounts.",
    ),
    wrong_option(
        "quiz_heads", quiz_heads, "bias without effect", "bias of v",
        "The value's bias is added to every value; as the weights sum to one, the head's output moves by all of it.",
    ),
]  # fmt: skip
