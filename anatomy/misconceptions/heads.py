"""Wrong answers to the exercises of 04-heads."""

from __future__ import annotations

import torch

from anatomy.misconceptions import misconception, mistakes_in, wrong_option
from anatomy.reference.heads import (
    AttentionHead,
    FusedMultiHeadAttention,
    MultiHeadAttention,
    copy_heads,
    merge_heads,
    quiz_heads,
    split_heads,
)

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.

NUMBERS = ("values", "gradients")
SHAPE = ("shape", "values", "gradients")
LAYERS = ("values", "parameters", "gradients")
EVERYTHING = ("shape", "values", "parameters", "gradients")

# ---- AttentionHead ----

wrong = mistakes_in(AttentionHead)

MAKES_LAYERS = """self.q = nn.Linear(embed_dim, head_dim)
        self.k = nn.Linear(embed_dim, head_dim)
        self.v = nn.Linear(embed_dim, head_dim)"""
ATTENTION = "return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))  # three times (B, T, K)"

wrong("scale_root_d", "You scale by √D, the width of the tokens; inside a head the dot product runs over K numbers, so √K it is. Here √D = {root_D} and √K = {root_K}.",
      breaks=NUMBERS, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(-1))\n"
          "        return scores.softmax(dim=-1) @ self.v(x)")
wrong("no_scale", "You don't scale the scores: divide them by √K (here {root_K}) before the softmax, as in notebook 02.",
      breaks=NUMBERS, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2)\n        return scores.softmax(dim=-1) @ self.v(x)")
wrong("scaled_twice", "Your scores come out divided by K = {K}, not by √K. If you call `scaled_dot_product_attention`, leave the scaling to it; if you scale yourself, take the root.",
      breaks=NUMBERS, old="(self.q(x), ", new="(self.q(x) / math.sqrt(self.q.out_features), ")
wrong("forgets_values", "You forget the value projection: the weights mix the tokens themselves (D = {D} numbers each), where they should mix the values `self.v(x)` (K = {K} numbers each).",
      breaks=SHAPE, old="self.v(x))  # three times (B, T, K)", new="x)")
wrong("mixes_keys", "Your weights mix the keys, not the values: `v` is never used. Keys say what a token can be found by, values what it passes on.",
      breaks=NUMBERS, old="self.v(x)", new="self.k(x)")
wrong("q_and_k_swapped", "Query and key have changed places: row t of your scores comes from `k`, and `q` answers. A head trained this way would do as well, but real weights, copied in by name, would not.",
      breaks=NUMBERS, old="self.q(x), self.k(x)", new="self.k(x), self.q(x)")
wrong("softmax_over_queries", "Your softmax runs over the queries (dim 1): each column sums to one, but it is each query's row that has to share out 1 among the keys (the last dim).",
      breaks=NUMBERS, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n"
          "        return scores.softmax(dim=1) @ self.v(x)")
wrong("softmax_over_batch", "Your softmax runs over dim 0, the batch: the sentences share out their weights among one another. Use the last dim, the keys.",
      breaks=NUMBERS, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n"
          "        return scores.softmax(dim=0) @ self.v(x)")
wrong("no_softmax", "There is no softmax: you mix the values with the raw scores. Turn each row of scores into weights first.",
      breaks=NUMBERS, old=ATTENTION,
      new="return self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features) @ self.v(x)")
wrong("returns_weights", "You return the attention weights (B, T, T); a head returns what they mix: weights @ values, (B, T, K).",
      breaks=SHAPE, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n"
          "        return scores.softmax(dim=-1)")
wrong("returns_a_pair", "You return a pair, output and weights; the contract asks for the output alone. (Libraries return both on request: it is how heads are drawn.)",
      breaks=SHAPE, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n"
          "        weights = scores.softmax(dim=-1)\n"
          "        return weights @ self.v(x), weights")
wrong("no_bias", "Your projections have no bias. The contract asks for `nn.Linear` with its bias (the default), because the real weights that you will load bring one for each.",
      breaks=LAYERS, old="(embed_dim, head_dim)", new="(embed_dim, head_dim, bias=False)", times=3)
wrong("long_names", "Your layers have names of their own (`query`, `key`, `value`); the contract says `q`, `k`, `v`. Weights are copied by name, so names are part of the answer.",
      breaks=LAYERS, old=("self.q", "self.k", "self.v"), new=("self.query", "self.key", "self.value"), times=2)
wrong("one_projection", "One projection plays all three roles. With q = k = v every token is its own best match (notebook 03); a head needs three layers of its own.",
      breaks=LAYERS, old=("self.k = nn.Linear(embed_dim, head_dim)", "self.v = nn.Linear(embed_dim, head_dim)"),
      new=("self.k = self.q", "self.v = self.q"))
wrong("layers_turned", "Your layers map K to D; they should map D to K: `nn.Linear(inputs, outputs)` takes the width that comes in first, and here {D} numbers come in and {K} go out.",
      breaks=EVERYTHING, old="(embed_dim, head_dim)", new="(head_dim, embed_dim)", times=3)
wrong("layers_in_forward", "You make the layers in `forward`: they get new random weights at every call, and nothing can be trained or loaded. Make them once, in `__init__`, as attributes.",
      breaks=LAYERS, old=(MAKES_LAYERS, ATTENTION), new=("self.embed_dim, self.head_dim = embed_dim, head_dim",
           "q, k, v = (nn.Linear(self.embed_dim, self.head_dim) for _ in range(3))\n"
           "        return scaled_dot_product_attention(q(x), k(x), v(x))"))
wrong("divides_by_8", "You divide by 8. That is √64, right for BERT base and for no other width; take the root of the head's own width, here √{K} = {root_K}.",
      breaks=NUMBERS, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x).transpose(1, 2) / 8\n        return scores.softmax(dim=-1) @ self.v(x)")
wrong("causal", "Your tokens see only what stands to their left: that is the causal mask of a decoder (notebook 09). Here every token may look at all {T}.",
      breaks=NUMBERS, old=ATTENTION,
      new="return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), is_causal=True)")
wrong("queries_as_keys", "Your queries are compared with queries; `k` is never used. Compare `self.q(x)` with `self.k(x)`.",
      breaks=NUMBERS, old="self.k(x)", new="self.q(x)")
wrong("keys_not_transposed", "You multiply queries (B, T, K) with keys (B, T, K) as they are. For all pairs of tokens the keys have to be turned: (B, T, K) @ (B, K, T).",
      breaks=EVERYTHING, old=ATTENTION,
      new="scores = self.q(x) @ self.k(x) / math.sqrt(self.q.out_features)\n        return scores.softmax(dim=-1) @ self.v(x)")

# ---- MultiHeadAttention ----

wrong = mistakes_in(MultiHeadAttention)

CONTEXT = "context = torch.cat([head(x) for head in self.heads], dim=-1)  # H × (B, T, K) -> (B, T, D)"

wrong("heads_added", "You add the heads; they have to be concatenated. A sum leaves {K} numbers a token and forgets which head said what; side by side, {H} heads of {K} make {D} again.",
      breaks=LAYERS, old=("nn.Linear(embed_dim, embed_dim)", CONTEXT),
      new=("nn.Linear(head_dim, embed_dim)", "context = sum(head(x) for head in self.heads)  # H × (B, T, K) -> (B, T, K)"))
wrong("heads_averaged", "You average the heads; they have to be concatenated, so that what each head found keeps its own {K} of the {D} columns.",
      breaks=LAYERS, old=("nn.Linear(embed_dim, embed_dim)", CONTEXT),
      new=("nn.Linear(head_dim, embed_dim)",
           "context = torch.stack([head(x) for head in self.heads]).mean(dim=0)  # H × (B, T, K) -> (B, T, K)"))
wrong("full_width_heads", "Each of your heads is D = {D} wide, and you add them up. Make each K = D / H = {K} wide and concatenate: the cost then does not grow with the number of heads.",
      breaks=LAYERS, old=("embed_dim // num_heads", CONTEXT),
      new=("embed_dim", "context = sum(head(x) for head in self.heads)  # H × (B, T, D) -> (B, T, D)"))
wrong("no_output_linear", "The output projection is missing: after the concatenation comes one more linear layer, `output_linear`, the only place where heads are mixed with one another.",
      breaks=LAYERS, old=("\n        self.output_linear = nn.Linear(embed_dim, embed_dim)", "self.output_linear(context)"),
      new=("", "context"))
wrong("output_linear_unused", "You have an `output_linear` but `forward` never calls it: pass the concatenated heads through it before you return.",
      breaks=NUMBERS, old="self.output_linear(context)", new="context")
wrong("scale_root_d", "Your heads scale by √D = {root_D}; the width of a head is K, so each has to divide by √K = {root_K}.",
      breaks=NUMBERS, old="context = torch.cat([head(x) for head in self.heads]",
      new="scale = x.size(-1) ** -0.5\n"
          "        found = [F.scaled_dot_product_attention(h.q(x), h.k(x), h.v(x), scale=scale) for h in self.heads]\n"
          "        context = torch.cat(found")
wrong("shared_head", "All your heads are one and the same object, so they share one set of projections and all find the same. Make a new `AttentionHead` for each: `[head] * H` repeats a reference, a loop makes {H} heads.",
      breaks=LAYERS, old="(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))",
      new="([AttentionHead(embed_dim, head_dim)] * num_heads)")
wrong("plain_list", "Your heads sit in a plain list: PyTorch does not see them there. They would not be trained, saved or moved to a GPU. Wrap the list in `nn.ModuleList(…)`.",
      breaks=LAYERS, old="nn.ModuleList(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))",
      new="[AttentionHead(embed_dim, head_dim) for _ in range(num_heads)]")
wrong("concatenated_elsewhere", "You concatenate along another axis than the last: the heads' columns belong side by side, (B, T, H·K), so `dim=-1`. (`torch.cat` takes dim 0, the batch, when you name none.)",
      breaks=EVERYTHING, old=", dim=-1)  # H × (B, T, K) -> (B, T, D)", new=")")
wrong("interleaved", "The columns of your heads are interleaved: first column 0 of every head, then column 1 of every head. Wanted is all of head 0, then all of head 1: with real weights the order decides.",
      breaks=NUMBERS, old="torch.cat([head(x) for head in self.heads], dim=-1)",
      new="torch.stack([head(x) for head in self.heads], dim=-1).flatten(2)")
wrong("stacked_and_reshaped", "You stack the heads along a new axis 1 and then reshape (B, H, T, K) to (B, T, D) as it lies in memory: that mixes tokens with heads. Bring the head axis behind T first, or use `torch.cat(…, dim=-1)`.",
      breaks=NUMBERS, old="torch.cat([head(x) for head in self.heads], dim=-1)",
      new="torch.stack([head(x) for head in self.heads], dim=1).reshape(x.shape)")
wrong("sliced_input", "You cut the tokens into {H} slices and give each head one slice of {K} columns. Each head reads all {D} columns of every token; only its output is {K} wide.",
      breaks=LAYERS, old=("AttentionHead(embed_dim, ", "context = torch.cat([head(x) for head in self.heads]"),
      new=("AttentionHead(head_dim, ", "slices = x.chunk(len(self.heads), dim=-1)\n"
           "        context = torch.cat([head(part) for head, part in zip(self.heads, slices)]"))
wrong("count_and_width_swapped", "H and K have changed places: you make {K} heads of width {H}. `config.num_attention_heads` is their number (here {H}), and K = D / H = {K} is the width of each.",
      breaks=LAYERS, old="(embed_dim, head_dim) for _ in range(num_heads)", new="(embed_dim, num_heads) for _ in range(head_dim)")
wrong("dropout", "You use dropout. It is not asked for here: in training mode your result is random. Notebook 05 adds it, outside this module.",
      breaks="values", old="self.output_linear(context)", new="F.dropout(self.output_linear(context), 0.1, self.training)")
wrong("skip_connection", "You add the input to the result: a skip connection. BERT has one, but around this module; notebook 05 builds it.",
      breaks=NUMBERS, old="self.output_linear(context)", new="x + self.output_linear(context)")
wrong("first_head_only", "Only head 0 is used, {H} times over. Call each head of `self.heads` once.",
      breaks=NUMBERS, old="head(x) for head in self.heads", new="self.heads[0](x) for _ in self.heads")
wrong("chained", "You pass each head what the head before it made. Heads work side by side, not one after the other: all of them get the same `x`.",
      breaks=EVERYTHING, old=CONTEXT,
      new="context = x\n        for head in self.heads:\n            context = head(context)")
wrong("heads_reversed", "You concatenate the heads in reverse order; head 0 comes first, in columns 0 to K − 1.",
      breaks=NUMBERS, old="head in self.heads", new="head in reversed(self.heads)")
wrong("always_12_heads", "You make 12 heads, BERT base's number, whatever the config says. Take the number from `config.num_attention_heads`, here {H}.",
      breaks=EVERYTHING, old="config.hidden_size, config.num_attention_heads", new="config.hidden_size, 12")

# ---- split_heads ----

wrong = mistakes_in(split_heads)

wrong("view_without_transpose", "You reshape straight to (B, H, T, K): the shape is right, but memory runs token by token, so tokens and heads get mixed. First (B, T, H, K), then transpose T and H.",
      breaks=NUMBERS, old=("length, num_heads, width // num_heads)  # (B, T, H, K)", ".transpose(1, 2)"),
      new=("num_heads, length, width // num_heads)  # (B, H, T, K)", ""))
wrong("no_transpose", "You stop at (B, T, H, K), here ({B}, {T}, {H}, {K}): the columns are cut rightly. What is missing is to swap axes 1 and 2, so that each head has its own T × K table.",
      breaks=SHAPE, old=".transpose(1, 2)", new="")
wrong("interleaved", "Your heads take one column in every {H} (0, {H}, …), as dealing cards does. Head 0 should get the first {K} neighbors: in the reshape H comes before K.",
      breaks=NUMBERS, old=("num_heads, width // num_heads)  # (B, T, H, K)", "transpose(1, 2)"),
      new=("width // num_heads, num_heads)  # (B, T, K, H)", "permute(0, 3, 1, 2)"))
wrong("heads_first", "The head axis comes first in yours, (H, B, T, K); it belongs behind the batch: (B, H, T, K). (`torch.stack` puts its new axis first unless you say `dim=1`.)",
      breaks=SHAPE, old="transpose(1, 2)", new="permute(2, 0, 1, 3)")
wrong("count_and_width_swapped", "You make {K} heads of width {H}, not {H} of width {K}: H and K have changed places. (`torch.split` takes the *size* of a piece; `torch.chunk` takes how many.)",
      breaks=SHAPE, old="num_heads, width // num_heads)  # (B, T, H, K)", new="width // num_heads, num_heads)  # (B, T, K, H)")
wrong("tokens_last", "T and K have changed places in yours: (B, H, K, T). That is how keys are turned *inside* the product; the split itself gives (B, H, T, K).",
      breaks=SHAPE, old="transpose(1, 2)", new="permute(0, 2, 3, 1)")
wrong("copies", "Each of your heads gets a copy of all {D} columns. Splitting shares the columns out: {K} for each of {H} heads, every column once.",
      breaks=SHAPE, old="x.reshape(batch, length, num_heads, width // num_heads)  # (B, T, H, K)",
      new="x.unsqueeze(2).repeat(1, 1, num_heads, 1)  # (B, T, H, D)")


@misconception("You share out the tokens among the heads, not the columns: each head should see all {T} tokens, with {K} columns of each.", breaks=SHAPE)
def split_heads__splits_tokens(x, num_heads):
    return torch.stack(x.tensor_split(num_heads, dim=1), dim=1)


wrong("reshaped_in_target_order", "You reshape to (B, H, T, K) at once and transpose after that, which ends at (B, T, H, K). The other way round: reshape to (B, T, H, K), as the columns lie, then transpose.",
      breaks=SHAPE, old="length, num_heads, width // num_heads)  # (B, T, H, K)",
      new="num_heads, length, width // num_heads)  # (B, H, T, K)")

# ---- merge_heads ----

wrong = mistakes_in(merge_heads)

wrong("no_transpose", "You reshape (B, H, T, K) as it lies in memory: a row of your result holds several tokens of one head. First transpose to (B, T, H, K), so that the heads of one token become neighbors.",
      breaks=NUMBERS, old="parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts", new="return x")
wrong("view", "After `transpose` the numbers no longer lie in memory in the order of the axes, and `view` never moves a number: use `reshape`, or `.contiguous().view(…)`.",
      breaks=SHAPE, old="parts.reshape", new="parts.view")
wrong("interleaved", "The columns of the heads are interleaved in yours: column 0 of every head, then column 1 of every head. Wanted: all {K} columns of head 0, then those of head 1, so that `merge_heads` undoes `split_heads`.",
      breaks=NUMBERS, old="transpose(1, 2)  # (B, T, H, K)", new="permute(0, 2, 3, 1)  # (B, T, K, H)")
wrong("not_flattened", "You stop at (B, T, H, K): join the last two axes to D = H·K = {D}.",
      breaks=SHAPE, old=".reshape(batch, length, num_heads * head_dim)", new="")
wrong("added", "You add the heads up, which leaves {K} of {D} numbers; merging keeps them all, side by side.",
      breaks=SHAPE, old="reshape(batch, length, num_heads * head_dim)", new="sum(dim=2)")
wrong("averaged", "You average the heads, which leaves {K} of {D} numbers; merging keeps them all, side by side.",
      breaks=SHAPE, old="reshape(batch, length, num_heads * head_dim)", new="mean(dim=2)")
wrong("along_tokens", "You join the heads along the tokens: {T} tokens become H·T. Join them along the columns: (B, T, H·K).",
      breaks=SHAPE, new="return x.reshape(batch, num_heads * length, head_dim)",
      old="parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts.reshape(batch, length, num_heads * head_dim)")
wrong("reversed", "Your heads come out in reverse order: head 0 belongs at the left, in columns 0 to K − 1.",
      breaks=NUMBERS, old="x.transpose(1, 2)", new="x.flip(1).transpose(1, 2)")

# ---- FusedMultiHeadAttention ----

wrong = mistakes_in(FusedMultiHeadAttention)

REFUSAL = """if embed_dim % num_heads:
            raise ValueError(f"hidden_size {embed_dim} can't be shared out evenly among {num_heads} heads")
        """
PROJECTIONS = """self.q = nn.Linear(embed_dim, embed_dim)
        self.k = nn.Linear(embed_dim, embed_dim)
        self.v = nn.Linear(embed_dim, embed_dim)"""
SPLIT = """query = split_heads(self.q(x), self.num_heads)  # (B, H, T, K)
        key = split_heads(self.k(x), self.num_heads)  # (B, H, T, K)
        value = split_heads(self.v(x), self.num_heads)  # (B, H, T, K)"""

wrong("view_without_transpose", "You `view` straight to (B, H, T, K), without the transpose: each head then gets a mixture of tokens and columns. `split_heads` does it right.",
      breaks=NUMBERS, old=SPLIT,
      new="shape = x.size(0), self.num_heads, x.size(1), -1\n"
          "        query, key, value = (layer(x).view(shape) for layer in (self.q, self.k, self.v))")
wrong("view_there_and_back", "You `view` to (B, H, T, K) without a transpose, and back in the same way. The two are each other's inverse, so all shapes fit, but in between a “head” holds a mixture of tokens and columns.",
      breaks=NUMBERS, old=(SPLIT, "merge_heads(context)"),
      new=("shape = x.size(0), self.num_heads, x.size(1), -1\n"
           "        query, key, value = (layer(x).view(shape) for layer in (self.q, self.k, self.v))", "context.view(x.shape)"))
wrong("merge_without_transpose", "The split is right, the way back is not: you reshape (B, H, T, K) to (B, T, D) without transposing first, so rows of different tokens end up in one. `merge_heads` does it right.",
      breaks=NUMBERS, old="merge_heads(context)", new="context.reshape(x.shape)")
wrong("attends_over_heads", "Your attention runs over the heads of one token, not over the tokens: in (B, T, H, K) the last two axes are H and K. Swap T and H first. No shape tells you; no token ever sees another.",
      breaks=NUMBERS, old=(SPLIT, "value)  # (B, H, T, K)", "merge_heads(context)"),
      new=("query, key, value = (layer(x).unflatten(-1, (self.num_heads, -1)) for layer in (self.q, self.k, self.v))",
           "value)  # (B, T, H, K)", "context.flatten(2)"))
wrong("one_wide_head", "There is one head only, {D} wide: queries, keys and values are never split. Between the projections and the product, cut each into {H} heads of width {K}.",
      breaks=NUMBERS, old=(SPLIT, "value)  # (B, H, T, K)", "merge_heads(context)"),
      new=("query, key, value = self.q(x), self.k(x), self.v(x)  # (B, T, D)", "value)  # (B, T, D)", "context"))
wrong("scale_root_d", "You scale by √D = {root_D}; after the split each dot product runs over K numbers, so divide by √K = {root_K}.",
      breaks=NUMBERS, old="context = scaled_dot_product_attention(query, key, value)",
      new="scores = query @ key.transpose(-2, -1) / math.sqrt(x.size(-1))\n        context = scores.softmax(dim=-1) @ value")
wrong("no_scale", "You don't scale the scores: divide them by √K = {root_K} before the softmax.",
      breaks=NUMBERS, old="context = scaled_dot_product_attention(query, key, value)",
      new="scores = query @ key.transpose(-2, -1)\n        context = scores.softmax(dim=-1) @ value")
wrong("softmax_over_queries", "Your softmax runs over the queries (dim −2); each query's row has to share out 1 among the keys (dim −1).",
      breaks=NUMBERS, old="context = scaled_dot_product_attention(query, key, value)",
      new="scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n        context = scores.softmax(dim=-2) @ value")
wrong("softmax_over_heads", "Your softmax runs over the heads (dim 1): they share out one weight among themselves. Each head has its own softmax, over the keys (the last dim).",
      breaks=NUMBERS, old="context = scaled_dot_product_attention(query, key, value)",
      new="scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n        context = scores.softmax(dim=1) @ value")
wrong("output_linear_unused", "You have an `output_linear` but `forward` never calls it: the merged heads go through it last.",
      breaks=NUMBERS, old="self.output_linear(merge_heads(context))", new="merge_heads(context)")
wrong("no_output_linear", "The output projection is missing: one more layer from D to D, `output_linear`, mixes the merged heads.",
      breaks=LAYERS,
      old=("\n        self.output_linear = nn.Linear(embed_dim, embed_dim)", "self.output_linear(merge_heads(context))"),
      new=("", "merge_heads(context)"))
wrong("shared_projection", "All your heads share one projection of width K = {K}. Each head needs its own {K} rows: `q`, `k` and `v` map {D} numbers to {D}, which are then cut into {H} heads.",
      breaks=LAYERS, old=(PROJECTIONS, SPLIT),
      new=("self.q, self.k, self.v = (nn.Linear(embed_dim, embed_dim // num_heads) for _ in range(3))",
           "found = (layer(x).unsqueeze(1) for layer in (self.q, self.k, self.v))  # (B, 1, T, K)\n"
           "        query, key, value = (part.expand(-1, self.num_heads, -1, -1) for part in found)  # (B, H, T, K)"))
wrong("split_before_projection", "You split the tokens first and project each slice of {K} columns. It is the other way round: project all {D} columns, then split, so that every head can read every column.",
      breaks=LAYERS, old=(PROJECTIONS, SPLIT),
      new=("head_dim = embed_dim // num_heads\n"
           "        self.q, self.k, self.v = (nn.Linear(head_dim, head_dim) for _ in range(3))",
           "parts = split_heads(x, self.num_heads)  # (B, H, T, K)\n"
           "        query, key, value = self.q(parts), self.k(parts), self.v(parts)"))
wrong("packed", "Queries, keys and values come from one layer of 3·D outputs. GPT-2 does that, and it is just as right; but the contract asks for three layers `q`, `k`, `v`, as BERT's weights have them.",
      breaks=LAYERS, old=(PROJECTIONS, SPLIT),
      new=("self.qkv = nn.Linear(embed_dim, 3 * embed_dim)",
           "query, key, value = (split_heads(part, self.num_heads) for part in self.qkv(x).chunk(3, dim=-1))"))
wrong("no_bias", "Your projections have no bias; the contract asks for the bias that `nn.Linear` has by default.",
      breaks=LAYERS, old=PROJECTIONS,
      new="self.q, self.k, self.v = (nn.Linear(embed_dim, embed_dim, bias=False) for _ in range(3))")
wrong("no_refusal", "All is right but one thing: D = {D} and H = {H} don't divide, and your module is built all the same. Compare `hidden_size % num_attention_heads` with 0 in `__init__`, and raise a ValueError that names both numbers.",
      breaks="refusal", old=REFUSAL, new="")
wrong("asserts", "You refuse D = {D} with H = {H} by `assert`. Asserts are for what can't happen, and `python -O` leaves them out; for what a caller may get wrong, `raise ValueError(…)`.",
      breaks="refusal", old=REFUSAL, new="assert embed_dim % num_heads == 0\n        ")
wrong("columns_vanish", "With D = {D} and H = {H} your module rounds K down, and {D} − {H}·5 = 2 columns vanish without a word. Refuse in `__init__`, with a ValueError that names both numbers.",
      breaks="refusal", old=(REFUSAL, PROJECTIONS, "self.output_linear = nn.Linear(embed_dim, "),
      new=("head_dim = embed_dim // num_heads\n        ",
           "self.q, self.k, self.v = (nn.Linear(embed_dim, num_heads * head_dim) for _ in range(3))",
           "self.output_linear = nn.Linear(num_heads * head_dim, "))
wrong("interleaved_split", "Your heads take one column in every {H}. Head 0 owns outputs 0 to K − 1 of `q`, `k` and `v`: in the reshape H comes before K, as in `split_heads`.",
      breaks=NUMBERS, old=SPLIT,
      new="parts = (layer(x).unflatten(-1, (-1, self.num_heads)) for layer in (self.q, self.k, self.v))  # (B, T, K, H)\n"
          "        query, key, value = (part.permute(0, 3, 1, 2) for part in parts)  # (B, H, T, K)")
wrong("interleaved_merge", "The split is right; on the way back the heads' columns come out interleaved, column 0 of every head first. `merge_heads` puts all of head 0 first.",
      breaks=NUMBERS, old="merge_heads(context)", new="context.permute(0, 2, 3, 1).flatten(2)")
wrong("q_and_k_swapped", "Query and key have changed places: row t of the scores comes from `k`. Weights loaded by name would then do the wrong thing.",
      breaks=NUMBERS, old="(query, key, value)", new="(key, query, value)")
wrong("view_after_transpose", "After `transpose` the numbers do not lie in memory in the order of the axes, and `view` never moves a number: call `merge_heads`, or `reshape`.",
      breaks=EVERYTHING, old="merge_heads(context)", new="context.transpose(1, 2).view(x.shape)")
wrong("heads_added", "You add the heads, which leaves K = {K} numbers a token; the output layer takes {D}. Merge them side by side.",
      breaks=EVERYTHING, old="merge_heads(context)", new="context.sum(dim=1)")
wrong("dropout", "You drop attention weights at random in training mode. It is not asked for here; notebook 05 brings dropout in.",
      breaks="values", old="context = scaled_dot_product_attention(query, key, value)",
      new="weights = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).softmax(dim=-1)\n"
          "        context = F.dropout(weights, 0.1, self.training) @ value")

# ---- copy_heads ----

wrong = mistakes_in(copy_heads)

NOTHING_ARRIVES = ("q, k, v", "output layer", "independence")
WEIGHT = "layer.weight.copy_(torch.cat([part.weight for part in parts]))  # H × (K, D) -> (D, D)"
BIAS = """
            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # H × (K,) -> (D,)"""
BOTH = """layer.weight.copy_(torch.cat([part.weight for part in parts]))  # H × (K, D) -> (D, D)
            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # H × (K,) -> (D,)"""
OUTPUT = """
        fused.output_linear.weight.copy_(loop.output_linear.weight)  # (D, D)
        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)"""

wrong("reverse_order", "You copy the heads in reverse order: head 0 belongs in the first K = {K} rows, because `split_heads` gives head 0 the first K columns.",
      breaks="q, k, v", old="in loop.heads", new="in reversed(loop.heads)")
wrong("transposed", "The weights of `q`, `k`, `v` arrive transposed. `nn.Linear` keeps its weight as (outputs, inputs): a head's is ({K}, {D}), and the heads go one below the other, `torch.cat(…, dim=0)`, with nothing turned.",
      breaks="q, k, v", old=WEIGHT,
      new="layer.weight.copy_(torch.cat([part.weight.T for part in parts], dim=1))  # H × (D, K) -> (D, D)")
wrong("along_inputs", "You join the heads' weights along their inputs (dim 1), which gives ({K}, H·D). The fused layer has one row per output: join along dim 0.",
      breaks=NOTHING_ARRIVES, old=WEIGHT,
      new="layer.weight.copy_(torch.cat([part.weight for part in parts], dim=1))  # H × (K, D) -> (K, H·D)")
wrong("interleaved", "You deal the heads' rows out in turn: row 0 of every head, then row 1 of every head. All {K} rows of head 0 come first, then those of head 1.",
      breaks="q, k, v", old=("torch.cat([part.weight for part in parts])", "torch.cat([part.bias for part in parts])"),
      new=("torch.stack([part.weight for part in parts], dim=1).flatten(0, 1)",
           "torch.stack([part.bias for part in parts], dim=1).flatten()"))
wrong("no_biases", "The weights are all there, the biases are not: `q`, `k`, `v` and `output_linear` have one each, and fused still has its own.",
      breaks=("q, k, v", "output layer"),
      old=(BIAS, "\n        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)"), new=("", ""))
wrong("no_head_biases", "The biases of `q`, `k` and `v` stay what they were; join and copy them like the weights.",
      breaks="q, k, v", old=BIAS, new="")
wrong("no_output_linear", "`output_linear` is forgotten: it has the same shape in both modules, and its weight and bias have to come along.",
      breaks="output layer", old=OUTPUT, new="")


@misconception("Only `output_linear` has arrived. The loop's `heads.0.q.weight` and so on have no namesake in fused, and `strict=False` passes over them in silence.", breaks="q, k, v")
def copy_heads__strict_false(loop, fused):
    fused.load_state_dict(loop.state_dict(), strict=False)


wrong("other_direction", "You copy the wrong way: the loop now has fused's weights. `x.copy_(y)` writes into x; x has to be fused's.",
      breaks=NOTHING_ARRIVES, old=(BOTH, OUTPUT),
      new=("rows = zip(parts, layer.weight.chunk(len(parts)), layer.bias.chunk(len(parts)))\n"
           "            for part, weight, bias in rows:\n"
           "                part.weight.copy_(weight)\n"
           "                part.bias.copy_(bias)",
           "\n        loop.output_linear.load_state_dict(fused.output_linear.state_dict())"))
wrong("shared_output_linear", "`fused.output_linear` now *is* the loop's layer: change one and the other changes too. Copy the numbers (`copy_`, `clone`, `load_state_dict`), not the object.",
      breaks="independence", old=OUTPUT, new="\n        fused.output_linear = loop.output_linear")


@misconception("After the call fused has its old weights. If you built a new module and returned it, or wrote into `fused.state_dict()` as into a dict, the fused that was handed over knows nothing of it: write into its parameters.", breaks=NOTHING_ARRIVES)
def copy_heads__no_effect(loop, fused):
    weights = fused.state_dict()
    for name in ("q", "k", "v"):
        weights[f"{name}.weight"] = torch.cat([getattr(head, name).weight for head in loop.heads])
        weights[f"{name}.bias"] = torch.cat([getattr(head, name).bias for head in loop.heads])
    weights["output_linear.weight"] = loop.output_linear.weight
    weights["output_linear.bias"] = loop.output_linear.bias


@misconception("PyTorch refuses to write into a parameter while it records gradients. Copying is not part of any computation to be differentiated: put it under `with torch.no_grad():`.", breaks=NOTHING_ARRIVES)
def copy_heads__recorded(loop, fused):
    for name in ("q", "k", "v"):
        getattr(fused, name).weight.copy_(torch.cat([getattr(head, name).weight for head in loop.heads]))
        getattr(fused, name).bias.copy_(torch.cat([getattr(head, name).bias for head in loop.heads]))
    fused.output_linear.weight.copy_(loop.output_linear.weight)
    fused.output_linear.bias.copy_(loop.output_linear.bias)


wrong("same_rows", "Every head is written into the same first {K} rows, so that only the last one remains there. Head h belongs in rows h·K to (h + 1)·K − 1.",
      breaks="q, k, v", old=BOTH,
      new="size = len(parts[0].bias)\n"
          "            for part in parts:\n"
          "                layer.weight[:size], layer.bias[:size] = part.weight, part.bias")
wrong("queries_three_times", "All three layers of fused hold the queries' weights: `k` and `v` have to come from the heads' own `k` and `v`.",
      breaks="q, k, v", old="[getattr(head, name) for", new="[head.q for")
wrong("frozen", "After your copy the parameters of fused can't be trained: keep `requires_grad=True`, as `copy_` into the existing parameter does.",
      breaks="independence", old="getattr(fused, name)", new="getattr(fused, name).requires_grad_(False)")
wrong("stacked", "You stack the heads' weights to (H, K, D) along an axis of their own; `torch.cat` joins them to (H·K, D), one below the other.",
      breaks=NOTHING_ARRIVES, old=BOTH,
      new="layer.weight.copy_(torch.stack([part.weight for part in parts]))  # H × (K, D) -> (H, K, D)\n"
          "            layer.bias.copy_(torch.stack([part.bias for part in parts]))  # H × (K,) -> (H, K)")


@misconception("The loop's names, such as `heads.0.q.weight`, are not fused's: PyTorch rightly refuses. Join the {H} heads' weights first, then put the result under fused's name, `q.weight`.", breaks=NOTHING_ARRIVES)
def copy_heads__names_as_they_are(loop, fused):
    fused.load_state_dict(loop.state_dict())


wrong("tensor_for_parameter", "A layer's weight has to stay an `nn.Parameter`; a plain tensor is refused in its place. Write into the one that is there: `fused.q.weight.copy_(…)` under `torch.no_grad()`.",
      breaks=NOTHING_ARRIVES, old=BOTH,
      new="layer.weight = torch.cat([part.weight for part in parts])  # H × (K, D) -> (D, D)\n"
          "            layer.bias = torch.cat([part.bias for part in parts])  # H × (K,) -> (D,)")
wrong("output_transposed", "`output_linear.weight` arrives transposed. Both modules keep it as (outputs, inputs): copy it as it is.",
      breaks="output layer", old="(loop.output_linear.weight)", new="(loop.output_linear.weight.T)")

# ---- quiz_heads ----

wrong_option("quiz_heads", quiz_heads, "input of a head", "its own slice of each token",
             "A head's layers are D to K: they read all D columns and write K. It is the projected vectors that are sliced.")
wrong_option("quiz_heads", quiz_heads, "input of a head", "its own share of the tokens",
             "Every head sees every token; what differs is the projections, and with them what it looks for.")
wrong_option("quiz_heads", quiz_heads, "parameters from 1 head to 12", "grow twelvefold",
             "Twelve heads are each a twelfth as wide: 12 · K = D columns in all, as with one head.")
wrong_option("quiz_heads", quiz_heads, "parameters from 1 head to 12", "shrink to a twelfth",
             "Each head has a twelfth of the parameters, but there are twelve of them.")
wrong_option("quiz_heads", quiz_heads, "first sum across heads", "the softmax",
             "Each head has a softmax of its own; its sum runs over the tokens, within that one head.")
wrong_option("quiz_heads", quiz_heads, "first sum across heads", "the concatenation",
             "The concatenation adds nothing: it puts the heads side by side, and every column still comes from one head alone. output_linear is the first to sum over all columns.")
wrong_option("quiz_heads", quiz_heads, "bias without effect", "bias of q",
             "The query's bias meets every key with another result, so it shifts the scores of one row by different amounts.")
wrong_option("quiz_heads", quiz_heads, "bias without effect", "bias of v",
             "The value's bias is added to every value; as the weights sum to one, the head's output moves by all of it.")
