"""Wrong answers to the exercises of 04-heads."""

from __future__ import annotations

import torch

from anatomy.course.nb04_heads.right import (
    AttentionHead,
    FusedMultiHeadAttention,
    MultiHeadAttention,
    copy_heads,
    merge_heads,
    quiz_heads,
    split_heads,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.

NUMBERS = ("values", "gradients")
SHAPE = ("shape", "values", "gradients")
LAYERS = ("values", "parameters", "gradients")
EVERYTHING = ("shape", "values", "parameters", "gradients")

NO_SUPER = "`super().__init__()` is missing: it has to come first in `__init__`, so that `nn.Module` can take note of the layers that are assigned."
TAKES_CONFIG = "embed_dim, num_heads = config.hidden_size, config.num_attention_heads"
NO_DICT = "`config` is an object, not a dict: write `config.hidden_size`, with a dot."
GIVEN_CONFIG = "It is built from one `config`: `__init__(self, config)`, with D and H in `config.hidden_size` and `config.num_attention_heads`."


@MISTAKES.of(AttentionHead)
def in_AttentionHead(wrong):
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
    wrong("layers_not_registered", "PyTorch sees no layer in your module, so nothing can be trained or loaded: layers made in `forward`, or kept in a plain list or dict, are not registered. Make them once, in `__init__`, as attributes `self.q`, `self.k`, `self.v`.",
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

    OWN_SCORES = "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n        "

    wrong("no_super", NO_SUPER, breaks=EVERYTHING, old="super().__init__()", new="pass")
    wrong("fixed_sizes", "Your layers have the fixed sizes 24 and 8. Take them from `embed_dim` and `head_dim`, which are other numbers each time.",
          breaks=EVERYTHING, old="(embed_dim, head_dim)", new="(24, 8)", times=3)
    wrong("fixed_sizes_of_bert", "Your layers have the fixed sizes 768 and 64, BERT base's. Take them from `embed_dim` and `head_dim`.",
          breaks=EVERYTHING, old="(embed_dim, head_dim)", new="(768, 64)", times=3)
    wrong("tokens_for_queries_and_keys", "You compare the tokens themselves: `q` and `k` are never used. Compare `self.q(x)` with `self.k(x)`.",
          breaks=NUMBERS, old="self.q(x), self.k(x)", new="x, x")
    wrong("nothing_projected", "You compare and mix the tokens themselves: none of your three layers is used. Queries, keys and values are `self.q(x)`, `self.k(x)`, `self.v(x)`.",
          breaks=SHAPE, old="self.q(x), self.k(x), self.v(x)", new="x, x, x")
    wrong("values_for_keys", "Your queries are compared with the values; `k` is never used. Compare `self.q(x)` with `self.k(x)`.",
          breaks=NUMBERS, old="self.k(x)", new="self.v(x)")
    wrong("k_and_v_swapped", "Key and value have changed places: you compare queries with values, and mix the keys.",
          breaks=NUMBERS, old="self.k(x), self.v(x)", new="self.v(x), self.k(x)")
    wrong("values_unweighted", "You return the values as they are: no token sees another. Mix them by the attention weights.",
          breaks=NUMBERS, old=ATTENTION, new="return self.v(x)")
    wrong("reads_a_slice", "Your layers take K columns; a head reads all D columns of every token: `nn.Linear(embed_dim, head_dim)`.",
          breaks=EVERYTHING, old=(MAKES_LAYERS, "self.q(x), self.k(x), self.v(x)"),
          new=("self.q, self.k, self.v = (nn.Linear(head_dim, head_dim) for _ in range(3))",
               "*(layer(x[..., : layer.in_features]) for layer in (self.q, self.k, self.v))"))
    wrong("by_root_t", "You scale by √T, the number of tokens; a dot product here runs over K numbers, so √K it is: √{K} = {root_K}.",
          breaks=NUMBERS, old=ATTENTION,
          new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(1))\n        return scores.softmax(dim=-1) @ self.v(x)")
    wrong("times_root_k", "You multiply the scores by √K; they are to be divided by it (here {root_K}).",
          breaks=NUMBERS, old=ATTENTION,
          new="scores = self.q(x) @ self.k(x).transpose(1, 2) * math.sqrt(self.q.out_features)\n        return scores.softmax(dim=-1) @ self.v(x)")
    wrong("scaled_after_softmax", "You divide by √K after the softmax. Scale the scores, before it; afterwards the weights no longer sum to one.",
          breaks=NUMBERS, old=ATTENTION,
          new="scores = self.q(x) @ self.k(x).transpose(1, 2)\n"
              "        return scores.softmax(dim=-1) / math.sqrt(self.q.out_features) @ self.v(x)")
    wrong("weights_transposed", "You mix the values with the transposed weights: row t of the weights belongs to query t, and its columns to the keys.",
          breaks=NUMBERS, old=ATTENTION, new=OWN_SCORES + "return scores.softmax(dim=-1).transpose(1, 2) @ self.v(x)")
    wrong("dropout", "You use dropout. It is not asked for here: in training mode your result is random. Notebook 05 brings it in.",
          breaks="values", old=ATTENTION, new="return F.dropout(scaled_dot_product_attention(self.q(x), self.k(x), self.v(x)), 0.1, self.training)")
    wrong("skip_connection", "You add the input to the result: a skip connection. BERT has one, but around all heads; notebook 05 builds it.",
          breaks=EVERYTHING, old=ATTENTION, new=ATTENTION.replace("  #", " + x  #"))
    wrong("key_without_bias", "Your `k` has no bias. It would change no output, as the notebook says, but the contract asks for one: the real weights bring it along.",
          breaks="parameters", old="self.k = nn.Linear(embed_dim, head_dim)", new="self.k = nn.Linear(embed_dim, head_dim, bias=False)")
    wrong("embed_dim_not_kept", "`forward` asks for `self.head_dim`, which `__init__` never sets: what it needs later has to be kept, `self.head_dim = head_dim`.",
          breaks=EVERYTHING, old=ATTENTION,
          new="scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.head_dim)\n        return scores.softmax(dim=-1) @ self.v(x)")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): it is to be (B, T, K) for a single sentence, too.",
          breaks=SHAPE, old=ATTENTION, new="return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x)).squeeze()")
    wrong("list_of_layers", "You keep the layers as `self.layers` in a `ModuleList`; the contract says `q`, `k`, `v`. Weights are copied by name, so names are part of the answer.",
          breaks=LAYERS, old=(MAKES_LAYERS, "self.q(x), self.k(x), self.v(x)"),
          new=("self.layers = nn.ModuleList(nn.Linear(embed_dim, head_dim) for _ in range(3))", "*(layer(x) for layer in self.layers)"))
    wrong("one_layer_for_three", "Queries, keys and values come from one layer of 3·K outputs. That is just as right, but the contract asks for three layers `q`, `k`, `v`: weights are copied by name.",
          breaks=LAYERS, old=(MAKES_LAYERS, "self.q(x), self.k(x), self.v(x)"),
          new=("self.qkv = nn.Linear(embed_dim, 3 * head_dim)", "*self.qkv(x).chunk(3, dim=-1)"))
    wrong("keys_as_queries", "Your keys are compared with keys; `q` is never used. Compare `self.q(x)` with `self.k(x)`.",
          breaks=NUMBERS, old="self.q(x)", new="self.k(x)")


@MISTAKES.of(MultiHeadAttention)
def in_MultiHeadAttention(wrong):
    CONTEXT = "context = torch.cat([head(x) for head in self.heads], dim=-1)  # H × (B, T, K) -> (B, T, D)"

    wrong("heads_added", "You add the heads; they have to be concatenated. A sum leaves {K} numbers a token and forgets which head said what; side by side, {H} heads of {K} make {D} again.",
          breaks=LAYERS, old=("nn.Linear(embed_dim, embed_dim)", CONTEXT),
          new=("nn.Linear(head_dim, embed_dim)", "context = sum(head(x) for head in self.heads)  # H × (B, T, K) -> (B, T, K)"))
    wrong("heads_averaged", "You average the heads; they have to be concatenated, so that what each head found keeps its own {K} of the {D} columns.",
          breaks=LAYERS, old=("nn.Linear(embed_dim, embed_dim)", CONTEXT),
          new=("nn.Linear(head_dim, embed_dim)",
               "context = torch.stack([head(x) for head in self.heads]).mean(dim=0)  # H × (B, T, K) -> (B, T, K)"))
    wrong("full_width_heads", "Each of your heads is D = {D} wide. Make each K = D / H = {K} wide and concatenate them: the cost then does not grow with the number of heads.",
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
    wrong("concatenated_elsewhere", "The heads' columns belong side by side, (B, T, H·K): `torch.cat(…, dim=-1)`. Yours are joined along another axis, so `output_linear` meets {K} columns. (`torch.cat` takes dim 0, the batch, when you name none; `torch.stack` makes a new axis.)",
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

    MAKES_HEADS = "nn.ModuleList(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))"
    MAKES_OUTPUT = "nn.Linear(embed_dim, embed_dim)"

    wrong("no_super", NO_SUPER, breaks=EVERYTHING, old="super().__init__()", new="pass")
    wrong("float_width", "`/` gives a float, {K}.0, and a layer's size has to be a whole number: divide with `//`.",
          breaks=EVERYTHING, old="embed_dim // num_heads", new="embed_dim / num_heads")
    wrong("config_as_dict", NO_DICT, breaks=EVERYTHING, old=TAKES_CONFIG,
          new='embed_dim, num_heads = config["hidden_size"], config["num_attention_heads"]')
    wrong("takes_two_numbers", GIVEN_CONFIG, breaks=EVERYTHING, old=("config: BertConfig", TAKES_CONFIG),
          new=("embed_dim: int, num_heads: int", "pass"))
    wrong("one_head_wide", "What reaches `output_linear` is {K} columns wide, as one head is (or as the sum of all is); it takes {D}. All {H} heads belong side by side: `torch.cat(…, dim=-1)`.",
          breaks=EVERYTHING, old=CONTEXT, new="context = sum(head(x) for head in self.heads)  # H × (B, T, K) -> (B, T, K)")
    wrong("one_head_too_few", "You make one head too few: {H} are wanted. (`range(n)` runs from 0 to n − 1, which are n numbers already.)",
          breaks=EVERYTHING, old="range(num_heads)", new="range(num_heads - 1)")
    wrong("one_head_too_many", "You make one head too many: {H} are wanted. (`range(n)` runs from 0 to n − 1, which are n numbers already.)",
          breaks=EVERYTHING, old="range(num_heads)", new="range(num_heads + 1)")
    wrong("width_64", "Your heads are 64 wide, BERT base's width, whatever the config says. K = D / H, here {K}.",
          breaks=EVERYTHING, old="embed_dim // num_heads", new="64")
    wrong("output_linear_for_each", "Your `output_linear` maps K to K, and so can only take each head by itself. It has to map D to D, after the concatenation: it is the only place where heads are mixed.",
          breaks=LAYERS, old=(MAKES_OUTPUT, "[head(x) for head in self.heads]", "self.output_linear(context)"),
          new=("nn.Linear(head_dim, head_dim)", "[self.output_linear(head(x)) for head in self.heads]", "context"))
    wrong("full_width_side_by_side", "Each of your heads is D = {D} wide, and `output_linear` takes all H·D columns. Make each head K = D / H = {K} wide: side by side they are D again.",
          breaks=LAYERS, old=("embed_dim // num_heads", MAKES_OUTPUT), new=("embed_dim", "nn.Linear(num_heads * embed_dim, embed_dim)"))
    wrong("dict_of_heads", "Your heads sit in a `ModuleDict`, so their parameters are called `heads.head0.…`; an `nn.ModuleList` calls them `heads.0.…`, `heads.1.…`. Weights are copied by name.",
          breaks=LAYERS, old=(MAKES_HEADS, "in self.heads]"),
          new=('nn.ModuleDict({f"head{h}": AttentionHead(embed_dim, head_dim) for h in range(num_heads)})', "in self.heads.values()]"))
    wrong("output_without_bias", "Your `output_linear` has no bias. The contract asks for the one that `nn.Linear` has by default.",
          breaks=LAYERS, old=MAKES_OUTPUT, new="nn.Linear(embed_dim, embed_dim, bias=False)")
    wrong("output_linear_first", "You apply `output_linear` to the tokens, before the heads. It comes last: it mixes what the heads have found.",
          breaks=NUMBERS, old=("head(x) for", "self.output_linear(context)"), new=("head(self.output_linear(x)) for", "context"))
    wrong("output_linear_twice", "You apply `output_linear` twice. Once is enough.",
          breaks=NUMBERS, old="self.output_linear(context)", new="self.output_linear(self.output_linear(context))")
    wrong("one_head_repeated", "The same head stands side by side with itself: only the last of `self.heads` is used. Call each of them once.",
          breaks=NUMBERS, old="head(x) for head in self.heads", new="self.heads[-1](x) for _ in self.heads")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): it is to be (B, T, D) for a single token or sentence, too.",
          breaks=SHAPE, old="self.output_linear(context)", new="self.output_linear(context).squeeze()")


@MISTAKES.of(split_heads)
def in_split_heads(wrong):
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


    @MISTAKES.mistake("You share out the tokens among the heads, not the columns: each head should see all {T} tokens, with {K} columns of each.", breaks=SHAPE)
    def split_heads__splits_tokens(x, num_heads):
        return torch.stack(x.tensor_split(num_heads, dim=1), dim=1)


    wrong("reshaped_in_target_order", "You reshape to (B, H, T, K) at once and transpose after that, which ends at (B, T, H, K). The other way round: reshape to (B, T, H, K), as the columns lie, then transpose.",
          breaks=SHAPE, old="length, num_heads, width // num_heads)  # (B, T, H, K)",
          new="num_heads, length, width // num_heads)  # (B, H, T, K)")

    CUT = "x.reshape(batch, length, num_heads, width // num_heads)  # (B, T, H, K)"

    wrong("viewed_in_target_order", "You `view` straight to (B, H, T, K): memory runs token by token, so tokens and heads get mixed; and `view` refuses an x whose memory is in another order. First `reshape` to (B, T, H, K), then transpose T and H.",
          breaks=SHAPE, old=(CUT, ".transpose(1, 2)"), new=("x.view(batch, num_heads, length, width // num_heads)", ""))
    wrong("float_width", "`/` gives a float, {K}.0, and the size of an axis has to be a whole number: divide with `//`.",
          breaks=SHAPE, old="width // num_heads", new="width / num_heads")
    wrong("swaps_h_and_k", "You swap the last two axes, which gives (B, T, K, H). T and H are to trade places, axes 1 and 2: (B, H, T, K).",
          breaks=SHAPE, old="transpose(1, 2)", new="transpose(2, 3)")
    wrong("swaps_t_and_k", "You swap axes 1 and 3, which gives (B, K, H, T). T and H are to trade places, axes 1 and 2: (B, H, T, K).",
          breaks=SHAPE, old="transpose(1, 2)", new="transpose(1, 3)")
    wrong("swaps_b_and_t", "You swap axes 0 and 1, which gives (T, B, H, K). T and H are to trade places, axes 1 and 2: (B, H, T, K).",
          breaks=SHAPE, old="transpose(1, 2)", new="transpose(0, 1)")
    wrong("reversed_axes", "`.T` reverses all four axes, (K, H, T, B). Only T and H are to trade places: `transpose(1, 2)`.",
          breaks=SHAPE, old=".transpose(1, 2)", new=".T")
    wrong("transposed_in_place", "`transpose_`, with its underscore, changes the tensor itself, and `x` shares its memory: no gradient can be computed through that. Use `transpose`.",
          breaks="gradients", old="transpose(1, 2)", new="transpose_(1, 2)")
    wrong("transposed_first", "You swap T and D, and then reshape: that deals out the numbers column by column. First cut the last axis, to (B, T, H, K); then swap T and H.",
          breaks=NUMBERS, old=(CUT, "parts.transpose(1, 2)"),
          new=("x.transpose(1, 2).reshape(batch, num_heads, length, width // num_heads)", "parts"))
    wrong("sizes_taken_wrong", "The sizes are unpacked in another order than they stand: `x` is (B, T, D), so the second is the number of tokens and the third the width.",
          breaks=SHAPE, old="batch, length, width = x.shape", new="batch, width, length = x.shape")
    wrong("sizes_taken_wrong_batch", "The sizes are unpacked in another order than they stand: `x` is (B, T, D), so the first is the number of sentences and the second that of the tokens.",
          breaks=SHAPE, old="batch, length, width = x.shape", new="length, batch, width = x.shape")
    wrong("sentences_joined", "All sentences come out as one long one, (1, H, B·T, K). Keep the batch: its size is `x.size(0)`.",
          breaks=SHAPE, old="reshape(batch, length,", new="reshape(1, batch * length,")
    wrong("last_head_left_out", "The last head stays empty. (`range(n)` ends at n − 1 by itself.)",
          breaks=NUMBERS, old="parts.transpose(1, 2)", new="parts.transpose(1, 2) * (torch.arange(num_heads) < num_heads - 1).view(-1, 1, 1)")
    wrong("overlapping", "Your heads overlap: head h begins at column h. Head h gets columns h·K to (h + 1)·K − 1.",
          breaks=NUMBERS, old=("parts = " + CUT, "parts.transpose(1, 2)"),
          new=("size = width // num_heads", "torch.stack([x[..., h : h + size] for h in range(num_heads)], dim=1)"))
    wrong("first_columns_for_all", "All your heads get the same first {K} columns. Head h gets columns h·K to (h + 1)·K − 1.",
          breaks=NUMBERS, old="parts.transpose(1, 2)", new="parts[:, :, :1].expand(-1, -1, num_heads, -1).transpose(1, 2)")
    wrong("reversed", "Your heads come out in reverse order: head 0 gets the first {K} columns.",
          breaks=NUMBERS, old="transpose(1, 2)", new="transpose(1, 2).flip(1)")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): all four, (B, H, T, K), are to stay.",
          breaks=SHAPE, old="transpose(1, 2)", new="transpose(1, 2).squeeze()")


@MISTAKES.of(merge_heads)
def in_merge_heads(wrong):
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

    JOINED = "reshape(batch, length, num_heads * head_dim)"

    wrong("swaps_t_and_k", "You swap the last two axes, T and K, before you join. H has to stand next to K: swap H and T, axes 1 and 2.",
          breaks=NUMBERS, old="transpose(1, 2)  # (B, T, H, K)", new="transpose(2, 3)  # (B, H, K, T)")
    wrong("sizes_taken_wrong", "The sizes are unpacked in another order than they stand: `x` is (B, H, T, K), so the second is the number of heads and the third that of the tokens.",
          breaks=SHAPE, old="batch, num_heads, length, head_dim = x.shape", new="batch, length, num_heads, head_dim = x.shape")
    wrong("along_batch", "You join the heads along the batch, (B·H, T, K): {B} sentences become B·H. Join them along the columns: `dim=-1`.",
          breaks=SHAPE, old=f"parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts.{JOINED}",
          new="return torch.cat([x[:, head] for head in range(num_heads)])")
    wrong("all_in_a_row", "You join the axes of the heads, tokens and columns all together. Only the heads' columns are to be joined: (B, T, H·K).",
          breaks=SHAPE, old=JOINED, new="reshape(batch, length * num_heads * head_dim)")
    wrong("sentences_joined", "All sentences come out as one long one, (1, B·T, D). Keep the batch: its size is `x.size(0)`.",
          breaks=SHAPE, old=JOINED, new="reshape(1, batch * length, num_heads * head_dim)")
    wrong("first_head_only", "You return the first head alone, {K} of {D} columns; merging keeps them all, side by side.",
          breaks=SHAPE, old=JOINED, new="select(2, 0)")
    wrong("first_sentence_only", "You return the first sentence alone, (T, D). Every sentence of the batch is to be merged: (B, T, D).",
          breaks=SHAPE, old=JOINED, new=JOINED + "[0]")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): it is to be (B, T, D) for a single token or sentence, too.",
          breaks=SHAPE, old=JOINED, new=JOINED + ".squeeze()")


@MISTAKES.of(FusedMultiHeadAttention)
def in_FusedMultiHeadAttention(wrong):
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
    wrong("softmax_over_queries", "Your softmax runs over the queries: the weights of one key sum to one. Each *query* has to share out 1 among the keys.",
          breaks=NUMBERS, old="context = scaled_dot_product_attention(query, key, value)",
          new="scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n        context = scores.softmax(dim=-2) @ value")
    wrong("softmax_over_heads", "Your softmax runs over the heads: they share out one weight among themselves. Each head has its own softmax, over the keys.",
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
    wrong("no_refusal", "H = {H} does not divide D = {D}, and your module is built all the same. Compare `hidden_size % num_attention_heads` with 0 in `__init__`, and raise a ValueError that names both numbers.",
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
    wrong("heads_added", "What reaches `output_linear` has K = {K} numbers a token, as one head has (or as the sum of all has); it takes {D}. Merge all heads side by side.",
          breaks=EVERYTHING, old="merge_heads(context)", new="context.sum(dim=1)")
    wrong("dropout", "You drop attention weights at random in training mode. It is not asked for here; notebook 05 brings dropout in.",
          breaks="values", old="context = scaled_dot_product_attention(query, key, value)",
          new="weights = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).softmax(dim=-1)\n"
              "        context = F.dropout(weights, 0.1, self.training) @ value")

    EVERY_CASE = (*EVERYTHING, "refusal")

    wrong("no_super", NO_SUPER, breaks=EVERY_CASE, old="super().__init__()", new="pass")
    wrong("config_as_dict", NO_DICT, breaks=EVERY_CASE, old=TAKES_CONFIG,
          new='embed_dim, num_heads = config["hidden_size"], config["num_attention_heads"]')
    wrong("takes_two_numbers", GIVEN_CONFIG, breaks=EVERY_CASE, old=("config: BertConfig", TAKES_CONFIG),
          new=("embed_dim: int, num_heads: int", "pass"))
    wrong("refused_by_the_wrong_remainder", "You refuse D = {D} with H = {H}, which fit: `num_heads % embed_dim` is the remainder of H / D. What has to be 0 is that of D / H: `embed_dim % num_heads`.",
          breaks=EVERY_CASE, old="if embed_dim % num_heads", new="if num_heads % embed_dim")
    wrong("refused_when_it_fits", "You refuse D = {D} with H = {H}, which fit: the test is the wrong way round. `embed_dim % num_heads` is the remainder; anything but 0 is to be refused.",
          breaks=EVERY_CASE, old="if embed_dim % num_heads", new="if embed_dim % num_heads == 0")
    wrong("single_heads_into_a_layer", "One of your layers is handed single heads, {K} columns wide, where it takes all {D}: `q`, `k` and `v` come before the split, `output_linear` after `merge_heads`.",
          breaks=EVERYTHING, old="merge_heads(context)", new="context")
    wrong("split_before_wide_layers", "You split the tokens first and hand slices of {K} columns to layers that take all {D}. It is the other way round: project, then split, so that every head can read every column.",
          breaks=EVERYTHING, old=SPLIT,
          new="parts = split_heads(x, self.num_heads)  # (B, H, T, K)\n"
              "        query, key, value = self.q(parts), self.k(parts), self.v(parts)")
    wrong("heads_of_width_1_refused", "You refuse D = {D} with H = {H}, which fit: each head is {K} wide. Only a remainder is to be refused.",
          breaks=EVERYTHING, old="if embed_dim % num_heads", new="if embed_dim % num_heads or embed_dim == num_heads")
    wrong("a_single_head_refused", "You refuse a single head (H = {H}), which is a fine number of heads. Only a remainder is to be refused.",
          breaks=EVERYTHING, old="if embed_dim % num_heads", new="if embed_dim % num_heads or num_heads == 1")
    wrong("num_heads_not_kept", "`forward` asks for `self.num_heads`, which `__init__` never sets: what it needs later has to be kept, `self.num_heads = num_heads`.",
          breaks=EVERY_CASE, old="self.num_heads = num_heads", new="self.heads = num_heads")
    wrong("width_and_count_swapped", "You split into K = {K} heads of width H = {H}: number and width have changed places. `split_heads` takes the number of heads.",
          breaks=NUMBERS, old="self.num_heads = num_heads", new="self.num_heads = embed_dim // num_heads")
    wrong("causal", "Your tokens see only what stands to their left: that is the causal mask of a decoder (notebook 09). Here every token may look at all {T}.",
          breaks=NUMBERS, old="scaled_dot_product_attention(query, key, value)",
          new="F.scaled_dot_product_attention(query, key, value, is_causal=True)")
    wrong("one_layer_for_all", "One layer plays all three roles. Queries, keys and values each need a layer of their own: `q`, `k`, `v`.",
          breaks=LAYERS, old="self.k = nn.Linear(embed_dim, embed_dim)\n        self.v = nn.Linear(embed_dim, embed_dim)",
          new="self.k = self.q\n        self.v = self.q")
    wrong("mixes_keys", "Your weights mix the keys, not the values: `v` is never used.",
          breaks=NUMBERS, old="self.v(x)", new="self.k(x)")
    wrong("k_and_v_swapped", "Key and value have changed places: you compare queries with values, and mix the keys.",
          breaks=NUMBERS, old="(query, key, value)", new="(query, value, key)")
    wrong("skip_connection", "You add the input to the result: a skip connection. BERT has one, but around this module; notebook 05 builds it.",
          breaks=NUMBERS, old="self.output_linear(merge_heads(context))", new="x + self.output_linear(merge_heads(context))")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): it is to be (B, T, D) for a single token or sentence, too.",
          breaks=SHAPE, old="self.output_linear(merge_heads(context))", new="self.output_linear(merge_heads(context)).squeeze()")
    wrong("tokens_for_queries_and_keys", "You compare the tokens themselves, cut into heads: `q` and `k` are never used. What is split is `self.q(x)` and `self.k(x)`.",
          breaks=NUMBERS, old=("self.q(x)", "self.k(x)"), new=("x", "x"))
    wrong("nothing_projected", "You compare and mix the tokens themselves, cut into heads: `q`, `k` and `v` are never used. What is split is `self.q(x)`, `self.k(x)` and `self.v(x)`.",
          breaks=NUMBERS, old=("self.q(x)", "self.k(x)", "self.v(x)"), new=("x", "x", "x"))
    wrong("forgets_values", "You forget the value projection: the weights mix the tokens themselves, cut into heads, where they should mix `self.v(x)`.",
          breaks=NUMBERS, old="self.v(x)", new="x")
    wrong("keys_as_queries", "Your keys are compared with keys; `q` is never used. Queries come from `self.q(x)`.",
          breaks=NUMBERS, old="self.q(x)", new="self.k(x)")
    wrong("queries_as_keys", "Your queries are compared with queries; `k` is never used. Keys come from `self.k(x)`.",
          breaks=NUMBERS, old="self.k(x)", new="self.q(x)")
    wrong("values_for_keys", "Your queries are compared with the values; `k` is never used. Keys come from `self.k(x)`.",
          breaks=NUMBERS, old="self.k(x)", new="self.v(x)")
    wrong("values_unweighted", "You merge the values as they are: no token sees another. Mix them by the attention weights first.",
          breaks=NUMBERS, old="context = scaled_dot_product_attention(query, key, value)", new="context = value")
    wrong("key_without_bias", "Your `k` has no bias. It would change no output, as the notebook says, but the contract asks for one: the real weights bring it along.",
          breaks="parameters", old="self.k = nn.Linear(embed_dim, embed_dim)", new="self.k = nn.Linear(embed_dim, embed_dim, bias=False)")


    @MISTAKES.mistake("You keep the loop: your parameters are `heads.0.q.weight` and so on, as in `MultiHeadAttention`. The contract asks for three layers `q`, `k`, `v` that map D to D, for all heads at once.", breaks=LAYERS)
    class FusedMultiHeadAttention__the_loop_again(MultiHeadAttention):
        def __init__(self, config):
            if config.hidden_size % config.num_attention_heads:
                raise ValueError(f"{config.hidden_size} columns, {config.num_attention_heads} heads")
            super().__init__(config)


    @MISTAKES.mistake("PyTorch's `nn.MultiheadAttention` does the work: its parameters are called `in_proj_weight`, `out_proj.weight` and so on. The contract asks for four layers of your own, `q`, `k`, `v` and `output_linear`.", breaks=LAYERS)
    class FusedMultiHeadAttention__of_the_library(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            if config.hidden_size % config.num_attention_heads:
                raise ValueError(f"{config.hidden_size} columns, {config.num_attention_heads} heads")
            self.mha = torch.nn.MultiheadAttention(config.hidden_size, config.num_attention_heads, batch_first=True)

        def forward(self, x):
            return self.mha(x, x, x)[0]


@MISTAKES.of(copy_heads)
def in_copy_heads(wrong):
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


    @MISTAKES.mistake("Only `output_linear` has arrived. The loop's `heads.0.q.weight` and so on have no namesake in fused, and `strict=False` passes over them in silence.", breaks="q, k, v")
    def copy_heads__strict_false(loop, fused):
        fused.load_state_dict(loop.state_dict(), strict=False)


    wrong("other_direction", "You copy the wrong way: the loop now has fused's weights. `x.copy_(y)` writes into x; x has to be fused's.",
          breaks=NOTHING_ARRIVES, old=(BOTH, OUTPUT),
          new=("rows = zip(parts, layer.weight.chunk(len(parts)), layer.bias.chunk(len(parts)))\n"
               "            for part, weight, bias in rows:\n"
               "                part.weight.copy_(weight)\n"
               "                part.bias.copy_(bias)",
               "\n        loop.output_linear.load_state_dict(fused.output_linear.state_dict())"))
    wrong("shared_output_linear", "`fused.output_linear` now shares its weights with the loop's: change one and the other changes too. Copy the numbers (`copy_`, `clone`, `load_state_dict`), not the object.",
          breaks="independence", old=OUTPUT, new="\n        fused.output_linear = loop.output_linear")


    @MISTAKES.mistake("After the call fused has its old weights. If you built a new module and returned it, or wrote into `fused.state_dict()` as into a dict, the fused that was handed over knows nothing of it: write into its parameters.", breaks=NOTHING_ARRIVES)
    def copy_heads__no_effect(loop, fused):
        weights = fused.state_dict()
        for name in ("q", "k", "v"):
            weights[f"{name}.weight"] = torch.cat([getattr(head, name).weight for head in loop.heads])
            weights[f"{name}.bias"] = torch.cat([getattr(head, name).bias for head in loop.heads])
        weights["output_linear.weight"] = loop.output_linear.weight
        weights["output_linear.bias"] = loop.output_linear.bias


    @MISTAKES.mistake("PyTorch refuses to write into a parameter while it records gradients. Copying is not part of any computation to be differentiated: put it under `with torch.no_grad():`.", breaks=NOTHING_ARRIVES)
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


    @MISTAKES.mistake("The loop's names, such as `heads.0.q.weight`, are not fused's: PyTorch rightly refuses. Join the {H} heads' weights first, then put the result under fused's name, `q.weight`.", breaks=NOTHING_ARRIVES)
    def copy_heads__names_as_they_are(loop, fused):
        fused.load_state_dict(loop.state_dict())


    wrong("tensor_for_parameter", "A layer's weight has to stay an `nn.Parameter`; a plain tensor is refused in its place. Write into the one that is there: `fused.q.weight.copy_(…)` under `torch.no_grad()`.",
          breaks=NOTHING_ARRIVES, old=BOTH,
          new="layer.weight = torch.cat([part.weight for part in parts])  # H × (K, D) -> (D, D)\n"
              "            layer.bias = torch.cat([part.bias for part in parts])  # H × (K,) -> (D,)")
    wrong("output_transposed", "`output_linear.weight` arrives transposed. Both modules keep it as (outputs, inputs): copy it as it is.",
          breaks="output layer", old="(loop.output_linear.weight)", new="(loop.output_linear.weight.T)")

    HEADS = "[getattr(head, name) for head in loop.heads]"

    wrong("rows_h_to_h_plus_k", "Head h is written into rows h to h + K − 1, over most of the head before it. It belongs in rows h·K to (h + 1)·K − 1.",
          breaks="q, k, v", old=BOTH,
          new="size = len(parts[0].bias)\n"
              "            for h, part in enumerate(parts):\n"
              "                layer.weight[h : h + size], layer.bias[h : h + size] = part.weight, part.bias")
    wrong("fixed_3_heads_of_8", "You copy 3 heads of width 8, whatever there is. Take the number from `len(loop.heads)`, and K from a head's own weight: it has K rows.",
          breaks="q, k, v", old=BOTH,
          new="for h in range(3):\n"
              "                layer.weight[h * 8 : (h + 1) * 8] = parts[h].weight\n"
              "                layer.bias[h * 8 : (h + 1) * 8] = parts[h].bias")
    wrong("each_into_the_whole", "You copy one head's ({K}, D) into all of fused's (D, D): the sizes don't fit. All {H} heads together fill it, one below the other.",
          breaks=NOTHING_ARRIVES, old=BOTH,
          new="for part in parts:\n                layer.weight.copy_(part.weight)\n                layer.bias.copy_(part.bias)")
    wrong("first_head_everywhere", "Head 0 is copied {H} times. Each head's rows come from that head.",
          breaks="q, k, v", old=HEADS, new="[getattr(loop.heads[0], name) for _ in loop.heads]")
    wrong("last_head_left_out", "The last head is not copied: its rows of fused stay what they were. (`range(n)` ends at n − 1 by itself.)",
          breaks="q, k, v", old=BOTH,
          new="size = len(parts[0].bias)\n"
              "            for h, part in enumerate(parts[:-1]):\n"
              "                layer.weight[h * size : (h + 1) * size] = part.weight\n"
              "                layer.bias[h * size : (h + 1) * size] = part.bias")
    wrong("sorted_as_text", "The heads come in the order of their names as text: `heads.10` before `heads.2`. Go by number: `loop.heads` is in order already.",
          breaks="q, k, v", old=HEADS, new="[getattr(loop.heads[h], name) for h in sorted(range(len(loop.heads)), key=str)]")
    wrong("no_output_bias", "The bias of `output_linear` is forgotten; its weight has arrived.",
          breaks="output layer", old="\n        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)", new="")
    wrong("no_output_weight", "The weight of `output_linear` is forgotten; its bias has arrived.",
          breaks="output layer", old="\n        fused.output_linear.weight.copy_(loop.output_linear.weight)  # (D, D)", new="")
    wrong("no_values", "`q` and `k` are copied, `v` is forgotten.", breaks="q, k, v", old='("q", "k", "v")', new='("q", "k")')
    wrong("queries_only", "Only `q` is copied; `k` and `v` are forgotten.", breaks="q, k, v", old='("q", "k", "v")', new='("q",)')
    wrong("k_and_v_swapped", "`k` and `v` have changed places in fused.",
          breaks="q, k, v", old=HEADS, new='[getattr(head, {"q": "q", "k": "v", "v": "k"}[name]) for head in loop.heads]')
    wrong("averaged", "You average the heads' weights. Each head keeps its own rows in fused: join them, one below the other.",
          breaks="q, k, v", old=("torch.cat([part.weight for part in parts])", "torch.cat([part.bias for part in parts])"),
          new=("torch.stack([part.weight for part in parts]).mean(dim=0).repeat(len(parts), 1)",
               "torch.stack([part.bias for part in parts]).mean(dim=0).repeat(len(parts))"))
    wrong("loop_frozen", "After your copy the parameters of loop can't be trained: `requires_grad` is off. Leave it as it is; `torch.no_grad()` is enough to copy.",
          breaks="independence", old=HEADS, new="[getattr(head.requires_grad_(False), name) for head in loop.heads]")
    wrong("asks_for_num_heads", "You ask fused for `num_heads`, which the table doesn't promise. The number of heads is `len(loop.heads)`, and K is the number of rows of a head's weight.",
          breaks=NOTHING_ARRIVES, old=HEADS, new="[getattr(loop.heads[h], name) for h in range(fused.num_heads)]")


@MISTAKES.of_quiz("quiz_heads", quiz_heads)
def in_quiz_heads(wrong):
    wrong("input of a head", "its own slice of each token",
                 "A head's layers are D to K: they read all D columns and write K. It is the projected vectors that are sliced.")
    wrong("input of a head", "its own share of the tokens",
                 "Every head sees every token; what differs is the projections, and with them what it looks for.")
    wrong("parameters from 1 head to 12", "grow twelvefold",
                 "Twelve heads are each a twelfth as wide: 12 · K = D columns in all, as with one head.")
    wrong("parameters from 1 head to 12", "shrink to a twelfth",
                 "Each head has a twelfth of the parameters, but there are twelve of them.")
    wrong("first sum across heads", "the softmax",
                 "Each head has a softmax of its own; its sum runs over the tokens, within that one head.")
    wrong("first sum across heads", "the concatenation",
                 "The concatenation adds nothing: it puts the heads side by side, and every column still comes from one head alone. output_linear is the first to sum over all columns.")
    wrong("bias without effect", "bias of q",
                 "The query's bias meets every key with another result, so it shifts the scores of one row by different amounts.")
    wrong("bias without effect", "bias of v",
                 "The value's bias is added to every value; as the weights sum to one, the head's output moves by all of it.")
