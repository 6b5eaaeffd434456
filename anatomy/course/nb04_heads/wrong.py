"""Wrong answers to the exercises of 04-heads."""

from __future__ import annotations

import torch

from anatomy.course.nb04_heads import right
from anatomy.course.nb04_heads.right import MultiHeadAttention
from anatomy.engine.families import class_beginnings, one_more_or_less, squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

NUMBERS = ("values", "gradients")
SHAPE = ("shape", "values", "gradients")
LAYERS = ("values", "parameters", "gradients")
EVERYTHING = ("shape", "values", "parameters", "gradients")

LARGE_SCORES = "Your result is NaN when scores are large: e to the power of 89 is more than a float32 can hold. Subtract each query's largest score before `exp`, or call `softmax`, as in notebook 03."
BIASES_NOT_ADDED = "Your projections leave biases out (those of `q` and `v` change the result). A product with `weight.T` does not add the bias; a call such as `self.q(x)` does."
KEEPS_TYPE = "The result keeps the type of `x`. (A new tensor does that with `dtype=x.dtype`, or made by `x.new_zeros(…)`.)"
OTHER_TYPES = (
    ("always_floats", "(x := x.float()).shape", f"Whole numbers come back as float32, and so does float64. {KEEPS_TYPE}"),
    ("whole_numbers_as_floats", "(x := x if x.is_floating_point() else x.float()).shape", f"Whole numbers come back as floats. {KEEPS_TYPE}"),
    ("float64_as_float32", "(x := x.float() if x.is_floating_point() else x).shape", f"An `x` in float64 comes back as float32. {KEEPS_TYPE}"))


def in_both_heads(at: MistakesIn, old: str, asked: str, scores: str, root: str, begin: str, kept: str) -> None:
    """What goes wrong in one head and in all heads at once.

    `old` is what calls the attention of 03, with queries, keys and values as they are in `asked`. Written out, it takes
    the `scores` and the `root` of their width, and mixes the values in a line that begins with `begin`. `kept` is the
    width of what `k` gives.
    """
    query, key, value = asked.split(", ")

    def scaled(scale: str, weights: str = "scores.softmax(dim=-1)", between: str = "") -> str:
        return f"scores = {scores}{scale}\n        {between}{begin}{weights} @ {value}"

    at(old, NUMBERS,
       ("no_scale", scaled(""), "You don't scale the scores: divide them by √K = {root_K} before the softmax, as in notebook 02."),
       ("divides_by_8", scaled(" / 8"), "You divide by 8. That is √64, right for BERT base and for no other width; take the root of a head's own width, here √{K} = {root_K}."),
       ("by_twice_k", scaled(f" / {root.replace('math.sqrt(', '(2 * ')}"), "You divide the scores by 2·K, twice the width; it is √K. (Python reads `/ K ** 1 / 2` as `/ (K ** 1) / 2`: the root is `K ** 0.5`.)"),
       ("by_root_t", scaled(" / math.sqrt(x.size(1))"), "You scale by √T, the number of tokens; a dot product here runs over K numbers, so √K it is: √{K} = {root_K}."),
       ("times_root_k", scaled(f" * {root}"), "You multiply the scores by √K; divide them by it (here {root_K})."),
       ("whole_root", scaled(f" / int({root})"), "You divide by the *whole-number part* of √K: `int(…)`, `//` or `math.isqrt` cuts {root_K} off at the point. Keep the fraction."),
       ("maximum_of_all", scaled(f" / {root}", "powers / powers.sum(dim=-1, keepdim=True)", "powers = (scores - scores.max()).exp()\n        "), "You subtract one number from many rows, such as the largest score of the whole tensor. In a row that lies far below it every power becomes 0, and 0 / 0 is NaN. Subtract each row's own maximum, as in notebook 03."))
    at(f"({asked})", NUMBERS,
       ("q_and_k_swapped", f"({key}, {query}, {value})", "Query and key are exchanged: row t of your scores comes from `k`, and `q` answers. A head trained this way would work, too, but real weights, copied by name, would not."),
       ("k_and_v_swapped", f"({query}, {value}, {key})", "Key and value are exchanged: you compare queries with values, and mix the keys."))
    at("self.q(x)", NUMBERS, ("keys_as_queries", "self.k(x)", "Your keys are compared with keys; `q` is never used. Queries come from `self.q(x)`."))
    at("self.k(x)", NUMBERS,
       ("queries_as_keys", "self.q(x)", "Your queries are compared with queries; `k` is never used. Keys come from `self.k(x)`."),
       ("values_for_keys", "self.v(x)", "Your queries are compared with the values; `k` is never used. Keys come from `self.k(x)`."))
    at("self.v(x)", NUMBERS, ("mixes_keys", "self.k(x)", "Your weights mix the keys, not the values: `v` is never used. Keys say what a token can be found by, values what it passes on."))
    at(("self.q(x)", "self.k(x)"), NUMBERS, ("tokens_for_queries_and_keys", ("x", "x"), "You compare the tokens themselves: `q` and `k` are never used. Queries come from `self.q(x)`, keys from `self.k(x)`."))
    at(f"self.k = nn.Linear(embed_dim, {kept})", "parameters", ("key_without_bias", f"self.k = nn.Linear(embed_dim, {kept}, bias=False)", "Your `k` has no bias. It would change no output, as the notebook says, but the contract asks for one: the real weights bring it along."))


def in_both_outputs(at: MistakesIn, context: str, heads: str, built: tuple[str, ...]) -> None:
    """What goes wrong after the heads, in the loop and without it: `context` are their results, `heads` their number."""
    output, config = f"self.output_linear({context})", "embed_dim, num_heads = config.hidden_size, config.num_attention_heads"
    at(output, NUMBERS,
       ("output_transposed", f"{context} @ self.output_linear.weight + self.output_linear.bias", "The weight of `output_linear` enters the wrong way round. It is (outputs, inputs), so a product needs `.T`; a call, `self.output_linear(…)`, does that. (A head's block of it is K of its columns, not of its rows.)"),
       ("output_bias_for_each_head", f"{output} + ({heads} - 1) * self.output_linear.bias", "The bias of `output_linear` is in your result {H} times, the number of heads. Add it once, to the sum of all heads' contributions."),
       ("output_bias_not_added", f"{context} @ self.output_linear.weight.T", "The bias of `output_linear` is never added. A product with its weight leaves it out; add `self.output_linear.bias` once, or call the layer."),
       ("output_linear_unused", context, "Your `output_linear` has no part in the result: all heads' results, side by side, go through it last."),
       ("skip_connection", f"x + {output}", "You add the input to the result: a skip connection. BERT has one, but around this module; notebook 05 builds it."))
    at(("\n        self.output_linear = nn.Linear(embed_dim, embed_dim)", output), LAYERS, ("no_output_linear", ("", context), "The output projection is missing: after the heads comes one more linear layer from D to D, `output_linear`, the only place where heads are mixed with one another."))
    at(config, built, ("config_as_dict", 'embed_dim, num_heads = config["hidden_size"], config["num_attention_heads"]', "`config` is an object, not a dict: write `config.hidden_size`, with a dot."))
    at(("config: BertConfig", config), built, ("takes_two_numbers", ("embed_dim: int, num_heads: int", "pass"), "It is built from one `config`: `__init__(self, config)`, with D and H in `config.hidden_size` and `config.num_attention_heads`."))


@MISTAKES.of(right.AttentionHead)
def in_AttentionHead(at):
    MAKES_LAYERS = """self.q = nn.Linear(embed_dim, head_dim)
        self.k = nn.Linear(embed_dim, head_dim)
        self.v = nn.Linear(embed_dim, head_dim)"""
    ATTENTION = "return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))  # three times (B, T, K)"
    OWN_SCORES = "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n        "
    at(ATTENTION, NUMBERS,
       ("scale_root_d", "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(-1))\n        return scores.softmax(dim=-1) @ self.v(x)", "You scale by √D, the width of the tokens; inside a head the dot product runs over K numbers, so √K it is. Here √D = {root_D} and √K = {root_K}."),
       ("softmax_over_queries", "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n        return scores.softmax(dim=1) @ self.v(x)", "Your softmax runs over the queries (dim 1): each column sums to one, but each query's row must share out 1 among the keys (the last dim)."),
       ("unscaled_softmax_over_queries", "scores = self.q(x) @ self.k(x).transpose(1, 2)\n        return scores.softmax(dim=1) @ self.v(x)", "Your softmax runs over the queries (dim 1), where it must run over the keys (the last dim). And you don't scale the scores: divide them by √K = {root_K} before the softmax."),
       ("softmax_over_batch", "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n        return scores.softmax(dim=0) @ self.v(x)", "Your softmax runs over dim 0, the batch: the sentences share out their weights among one another. Use the last dim, the keys."),
       ("no_softmax", "return self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features) @ self.v(x)", "There is no softmax: you mix the values with the raw scores. Turn each row of scores into weights first."),
       ("returns_weights", "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n        return scores.softmax(dim=-1)", "You return the attention weights (B, T, T); a head returns what they mix: weights @ values, (B, T, K).", SHAPE),
       ("returns_a_pair", "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features)\n        weights = scores.softmax(dim=-1)\n        return weights @ self.v(x), weights", "You return a pair, output and weights; the contract asks for the output alone. (Libraries return both on request: it is how heads are drawn.)", SHAPE),
       ("causal", "return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), is_causal=True)", "Your tokens see only themselves and what is to their left: that is the causal mask of a decoder (notebook 09). Here every token may attend to all tokens."),
       ("keys_not_transposed", "scores = self.q(x) @ self.k(x) / math.sqrt(self.q.out_features)\n        return scores.softmax(dim=-1) @ self.v(x)", "You multiply queries (B, T, K) with keys (B, T, K) as they are. For all pairs of tokens the keys must be transposed: (B, T, K) @ (B, K, T).", EVERYTHING),
       ("values_unweighted", "return self.v(x)", "You return the values as they are: no token sees another. Mix them by the attention weights."),
       ("scaled_after_softmax", "scores = self.q(x) @ self.k(x).transpose(1, 2)\n        return scores.softmax(dim=-1) / math.sqrt(self.q.out_features) @ self.v(x)", "You divide by √K after the softmax. Scale the scores, before it; afterwards the weights no longer sum to one."),
       ("weights_transposed", OWN_SCORES + "return scores.softmax(dim=-1).transpose(1, 2) @ self.v(x)", "You mix the values with the transposed weights: row t of the weights belongs to query t, and its columns to the keys."),
       ("dropout", "return F.dropout(scaled_dot_product_attention(self.q(x), self.k(x), self.v(x)), 0.1, self.training)", "You use dropout. The contract has none: in training mode your result is random. Notebook 05 brings it in.", "values"),
       ("skip_connection", ATTENTION.replace("  #", " + x  #"), "You add the input to the result: a skip connection. BERT has one, but around all heads; notebook 05 builds it.", EVERYTHING),
       ("embed_dim_not_kept", "scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.head_dim)\n        return scores.softmax(dim=-1) @ self.v(x)", "`forward` asks for `self.head_dim`, which `__init__` never sets: keep what you need later, `self.head_dim = head_dim`.", EVERYTHING),
       ("output_scaled", "return scaled_dot_product_attention(self.q(x), self.k(x), self.v(x)) / math.sqrt(self.q.out_features)", "You divide by √K a second time, after the softmax: the weights, or the result. Only the scores are scaled, before it."),
       ("across_the_batch", "tokens = x.reshape(1, -1, x.size(-1))  # (1, B·T, D)\n        found = scaled_dot_product_attention(self.q(tokens), self.k(tokens), self.v(tokens))  # (1, B·T, K)\n        return found.reshape(*x.shape[:2], -1)", "Your tokens attend to the tokens of all {B} sentences, as when B and T are joined before attention. Keep the batch as an axis of its own, (B, T, K)."),
       ("divided_by_sum_over_queries", OWN_SCORES + "powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n        return powers / powers.sum(dim=1, keepdim=True) @ self.v(x)", "In your softmax the maximum is each query's own, but the sum that you divide by runs over the queries (dim 1). It must run over the keys, the last dim: each query's row sums to one."),
       ("no_maximum", OWN_SCORES + "powers = scores.exp()\n        return powers / powers.sum(dim=-1, keepdim=True) @ self.v(x)", LARGE_SCORES))
    at("self.q(x), self.k(x), self.v(x)", NUMBERS, ("biases_not_added", "*(x @ layer.weight.T for layer in (self.q, self.k, self.v))", BIASES_NOT_ADDED))
    at("(self.q(x), ", NUMBERS, ("scaled_twice", "(self.q(x) / math.sqrt(self.q.out_features), ", "Your scores come out divided by K = {K}, not by √K. If you call `scaled_dot_product_attention`, leave the scaling to it; if you scale yourself, take the root."))
    at("self.v(x))  # three times (B, T, K)", SHAPE, ("forgets_values", "x)", "You forget the value projection: the weights mix the tokens themselves (D = {D} numbers each), where they should mix the values `self.v(x)` (K = {K} numbers each)."))
    at("(embed_dim, head_dim)", EVERYTHING,
       ("no_bias", "(embed_dim, head_dim, bias=False)", "Your projections have no bias. The contract asks for `nn.Linear` with its bias (the default), because the real weights that you will load bring one for each.", LAYERS),
       ("layers_turned", "(head_dim, embed_dim)", "Your layers map K to D; they should map D to K: `nn.Linear(inputs, outputs)` takes the width that comes in first, and here {D} numbers come in and {K} go out."),
       ("fixed_sizes", "(24, 8)", "Your layers have the fixed sizes 24 and 8. Take them from `embed_dim` and `head_dim`, which are other numbers each time."),
       ("fixed_sizes_of_bert", "(768, 64)", "Your layers have the fixed sizes 768 and 64, BERT base's. Take them from `embed_dim` and `head_dim`."), times=3)
    at(("self.q", "self.k", "self.v"), LAYERS, ("long_names", ("self.query", "self.key", "self.value"), "Your layers have names of their own (`query`, `key`, `value`); the contract says `q`, `k`, `v`. Weights are copied by name, so names are part of the answer."), times=2)
    at(("self.k = nn.Linear(embed_dim, head_dim)", "self.v = nn.Linear(embed_dim, head_dim)"), LAYERS, ("one_projection", ("self.k = self.q", "self.v = self.q"), "One projection plays all three roles. With q = k the table of scores is its own mirror image, and no token's score for itself is below zero (02); a head needs three layers of its own."))
    at((MAKES_LAYERS, ATTENTION), LAYERS, ("layers_not_registered", ("self.embed_dim, self.head_dim = embed_dim, head_dim", "q, k, v = (nn.Linear(self.embed_dim, self.head_dim) for _ in range(3))\n        return scaled_dot_product_attention(q(x), k(x), v(x))"), "PyTorch sees no layer in your module, so nothing can be trained or loaded: layers made in `forward`, or kept in a plain list or dict, are not registered. Make them once, in `__init__`, as attributes `self.q`, `self.k`, `self.v`."))
    at((MAKES_LAYERS, "self.q(x), self.k(x), self.v(x)"), LAYERS,
       ("reads_a_slice", ("self.q, self.k, self.v = (nn.Linear(head_dim, head_dim) for _ in range(3))", "*(layer(x[..., : layer.in_features]) for layer in (self.q, self.k, self.v))"), "Your layers take K columns; a head reads all D columns of every token: `nn.Linear(embed_dim, head_dim)`.", EVERYTHING),
       ("list_of_layers", ("self.layers = nn.ModuleList(nn.Linear(embed_dim, head_dim) for _ in range(3))", "*(layer(x) for layer in self.layers)"), "Your layers are called `layers.0` to `layers.2`, as in a `ModuleList`; the contract says `q`, `k`, `v`. Weights are copied by name, so names are part of the answer."),
       ("one_layer_for_three", ("self.qkv = nn.Linear(embed_dim, 3 * head_dim)", "*self.qkv(x).chunk(3, dim=-1)"), "Queries, keys and values come from one layer of 3·K outputs. That is just as right, but the contract asks for three layers `q`, `k`, `v`: weights are copied by name."))
    at("self.q(x), self.k(x), self.v(x)", SHAPE, ("nothing_projected", "x, x, x", "You compare and mix the tokens themselves: none of your three layers is used. Queries, keys and values are `self.q(x)`, `self.k(x)`, `self.v(x)`."))
    in_both_heads(at, ATTENTION, "self.q(x), self.k(x), self.v(x)", scores="self.q(x) @ self.k(x).transpose(1, 2)", root="math.sqrt(self.q.out_features)", begin="return ", kept="head_dim")
    squeezed(at, SHAPE, "is (B, T, K), also for one sentence or one token")
    class_beginnings(at, EVERYTHING, takes="config")


@MISTAKES.of(right.MultiHeadAttention)
def in_MultiHeadAttention(at):
    CONTEXT = "context = torch.cat([head(x) for head in self.heads], dim=-1)  # H × (B, T, K) -> (B, T, D)"
    at(("nn.Linear(embed_dim, embed_dim)", CONTEXT), LAYERS,
       ("heads_added", ("nn.Linear(head_dim, embed_dim)", "context = sum(head(x) for head in self.heads)  # H × (B, T, K) -> (B, T, K)"), "You add the heads; they must be concatenated. A sum leaves {K} numbers a token and forgets which head said what; side by side, {H} heads of {K} make {D} again."),
       ("heads_averaged", ("nn.Linear(head_dim, embed_dim)", "context = torch.stack([head(x) for head in self.heads]).mean(dim=0)  # H × (B, T, K) -> (B, T, K)"), "You average the heads; they must be concatenated, so each head's result keeps its own {K} of the {D} columns."))
    at(("embed_dim // num_heads", CONTEXT), LAYERS, *(
       (f"full_width_heads{how}", ("embed_dim", f"context = sum(head(x) for head in self.heads){divided}  # H × (B, T, D) -> (B, T, D)"), "Each of your heads is D = {D} wide. Make each K = D / H = {K} wide and concatenate them: the cost then does not grow with the number of heads.")
       for how, divided in (("", ""), ("_averaged", " / len(self.heads)"))))
    at("self.output_linear(context)", NUMBERS,
       ("dropout", "F.dropout(self.output_linear(context), 0.1, self.training)", "You use dropout. The contract has none: in training mode your result is random. Notebook 05 adds it, outside this module.", "values"),
       ("output_bias_twice", "self.output_linear(context) + self.output_linear.bias", "The bias of `output_linear` is added twice: a call of the layer adds it already."),
       ("output_linear_twice", "self.output_linear(self.output_linear(context))", "You apply `output_linear` twice. Once is enough."))
    at("context = torch.cat([head(x) for head in self.heads]", NUMBERS, ("scale_root_d", "scale = x.size(-1) ** -0.5\n        found = [F.scaled_dot_product_attention(h.q(x), h.k(x), h.v(x), scale=scale) for h in self.heads]\n        context = torch.cat(found", "Your heads scale by √D = {root_D}; the width of a head is K, so each must divide by √K = {root_K}."))
    at("(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))", LAYERS, ("shared_head", "([AttentionHead(embed_dim, head_dim)] * num_heads)", "All your heads are the same object, so they share one set of projections and all find the same. Make a new `AttentionHead` for each: `[head] * H` repeats a reference, a loop makes {H} heads."))
    at("nn.ModuleList(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))", LAYERS, ("plain_list", "[AttentionHead(embed_dim, head_dim) for _ in range(num_heads)]", "PyTorch sees no heads in your module: a plain list, tuple or dict hides them, and so does making them in `forward`. They would not be trained, saved or moved to a GPU. Make them in `__init__`, in an `nn.ModuleList(…)`."))
    at(", dim=-1)  # H × (B, T, K) -> (B, T, D)", EVERYTHING, ("concatenated_elsewhere", ")", "The heads' columns belong side by side, (B, T, H·K): `torch.cat(…, dim=-1)`. Yours are joined along another axis, so `output_linear` meets {K} columns. (`torch.cat` takes dim 0, the batch, when you name none; `torch.stack` makes a new axis.)"))
    at("torch.cat([head(x) for head in self.heads], dim=-1)", NUMBERS,
       ("interleaved", "torch.stack([head(x) for head in self.heads], dim=-1).flatten(2)", "The columns of your heads are interleaved: first column 0 of every head, then column 1 of every head. Wanted is all of head 0, then all of head 1: with real weights the order decides."),
       ("stacked_and_reshaped", "torch.stack([head(x) for head in self.heads], dim=1).reshape(x.shape)", "The heads stand before the tokens when you reshape to (B, T, D): a row of your result holds several tokens of one head. Bring the heads after T first, or join them with `torch.cat(…, dim=-1)`."))
    at(("AttentionHead(embed_dim, ", "context = torch.cat([head(x) for head in self.heads]"), LAYERS, ("sliced_input", ("AttentionHead(head_dim, ", "slices = x.chunk(len(self.heads), dim=-1)\n        context = torch.cat([head(part) for head, part in zip(self.heads, slices)]"), "You cut the tokens into H slices and give each head one slice of K columns. Each head reads all D columns of every token; only its output is K wide."))
    at("(embed_dim, head_dim) for _ in range(num_heads)", LAYERS, ("count_and_width_swapped", "(embed_dim, num_heads) for _ in range(head_dim)", "H and K are exchanged: you make {K} heads of width {H}. `config.num_attention_heads` is their number (here {H}), and K = D / H = {K} is the width of each."))
    at("head(x) for head in self.heads", NUMBERS,
       ("first_head_only", "self.heads[0](x) for _ in self.heads", "Only head 0 is used, {H} times over. Call each head of `self.heads` once."),
       ("one_head_repeated", "self.heads[-1](x) for _ in self.heads", "The same head is side by side with itself: only the last of `self.heads` is used. Call each of them once."))
    at(CONTEXT, EVERYTHING,
       ("across_the_batch", "tokens = x.reshape(1, -1, x.size(-1))  # (1, B·T, D)\n        context = torch.cat([head(tokens) for head in self.heads], dim=-1).reshape(x.shape)  # (B, T, D)", "Your tokens attend to the tokens of all {B} sentences, as when B and T are joined before the heads. Give each head `x` as it is, (B, T, D).", NUMBERS),
       ("chained", "context = x\n        for head in self.heads:\n            context = head(context)", "A head gets {K} columns where it takes all {D}: what the head before it made, or a slice. Heads work side by side, and all of them get the same `x`, whole."),
       ("one_head_wide", "context = sum(head(x) for head in self.heads)  # H × (B, T, K) -> (B, T, K)", "What reaches `output_linear` is {K} columns wide, as one head is (or as the sum of all is); it takes {D}. All {H} heads belong side by side: `torch.cat(…, dim=-1)`."))
    at("torch.cat([head(x) for head in self.heads], dim=-1)", NUMBERS, ("last_head_left_out", "torch.cat([*(head(x) for head in self.heads[:-1]), torch.zeros_like(self.heads[-1](x))], dim=-1)", "The columns of the last head stay 0: its result is never put there. (`range(n)` ends at n − 1 by itself.)"))
    at("head in self.heads", NUMBERS, ("heads_reversed", "head in reversed(self.heads)", "You concatenate the heads in reverse order; head 0 comes first, in columns 0 to K − 1."))
    at("config.hidden_size, config.num_attention_heads", EVERYTHING, ("always_12_heads", "config.hidden_size, 12", "You make 12 heads, BERT base's number, whatever the config says. Take the number from `config.num_attention_heads`, here {H}."),
       ("layers_for_heads", "config.hidden_size, config.num_hidden_layers", "You make as many heads as there are layers, `config.num_hidden_layers`. Take the number from `config.num_attention_heads`, here {H}."))
    MAKES_OUTPUT = "nn.Linear(embed_dim, embed_dim)"
    at("embed_dim // num_heads", EVERYTHING,
       ("float_width", "embed_dim / num_heads", "`/` gives a float, {K}.0, and a layer's size must be a whole number: divide with `//`."),
       ("width_64", "64", "Your heads are 64 wide, BERT base's width, whatever the config says. K = D / H, here {K}."))
    at((MAKES_OUTPUT, "[head(x) for head in self.heads]", "self.output_linear(context)"), LAYERS, ("output_linear_for_each", ("nn.Linear(head_dim, head_dim)", "[self.output_linear(head(x)) for head in self.heads]", "context"), "Your `output_linear` maps K to K, and so can only take each head by itself. It maps D to D, after the concatenation: it is the only place where heads are mixed."))
    at(("embed_dim // num_heads", MAKES_OUTPUT), LAYERS, ("full_width_side_by_side", ("embed_dim", "nn.Linear(num_heads * embed_dim, embed_dim)"), "Each of your heads is D = {D} wide, and `output_linear` takes all H·D columns. Make each head K = D / H = {K} wide: side by side they are D again."))
    at(("nn.ModuleList(AttentionHead(embed_dim, head_dim) for _ in range(num_heads))", "in self.heads]"), LAYERS, ("dict_of_heads", ('nn.ModuleDict({f"head{h}": AttentionHead(embed_dim, head_dim) for h in range(num_heads)})', "in self.heads.values()]"), "Your heads sit in a `ModuleDict`, so their parameters are called `heads.head0.…`; an `nn.ModuleList` calls them `heads.0.…`, `heads.1.…`. Weights are copied by name."))
    at(MAKES_OUTPUT, LAYERS, ("output_without_bias", "nn.Linear(embed_dim, embed_dim, bias=False)", "Your `output_linear` has no bias. The contract asks for the one that `nn.Linear` has by default."))
    at(("head(x) for", "self.output_linear(context)"), NUMBERS, ("output_linear_first", ("head(self.output_linear(x)) for", "context"), "You apply `output_linear` to the tokens, before the heads. It comes last: it mixes what the heads have found."))
    in_both_outputs(at, "context", "len(self.heads)", EVERYTHING)
    squeezed(at, SHAPE, "is (B, T, D), also for one sentence or one token")
    class_beginnings(at, EVERYTHING, takes="config")
    one_more_or_less(at, "num_heads", EVERYTHING, "You make one head too {}: {{H}} are needed. (`range(n)` runs from 0 to n − 1, which are n numbers already.)", what="one_head")


@MISTAKES.of(right.split_heads)
def in_split_heads(at):
    at(("length, num_heads, width // num_heads)  # (B, T, H, K)", ".transpose(1, 2)"), NUMBERS, ("view_without_transpose", ("num_heads, length, width // num_heads)  # (B, H, T, K)", ""), "You reshape straight to (B, H, T, K): the shape is right, but the numbers run token by token, so tokens and heads get mixed. First (B, T, H, K), then transpose T and H."))
    at(".transpose(1, 2)", SHAPE,
       ("no_transpose", "", "You stop at (B, T, H, K): the columns are cut. What is missing is a swap of axes 1 and 2, so that each head has its own T × K table."),
       ("reversed_axes", ".T", "All four axes are reversed in yours, (K, H, T, B), as by `.T`. Swap only T and H: `transpose(1, 2)`."))
    at(("num_heads, width // num_heads)  # (B, T, H, K)", "transpose(1, 2)"), NUMBERS, ("interleaved", ("width // num_heads, num_heads)  # (B, T, K, H)", "permute(0, 3, 1, 2)"), "Your heads take one column in every {H} (0, {H}, …), as dealing cards does. Head 0 should get the first {K} neighbors. (In a reshape, H comes before K.)"))
    at("transpose(1, 2)", SHAPE,
       ("heads_first", "permute(2, 0, 1, 3)", "The head axis comes first in yours, (H, B, T, K); it belongs after the batch: (B, H, T, K). (`torch.stack` puts its new axis first unless you say `dim=1`.)"),
       ("tokens_last", "permute(0, 2, 3, 1)", "T and K are exchanged in yours: (B, H, K, T). That is how keys are turned *inside* the product; the split itself gives (B, H, T, K)."),
       ("swaps_h_and_k", "transpose(2, 3)", "You swap the last two axes, which gives (B, T, K, H). Swap T and H, axes 1 and 2: (B, H, T, K)."),
       ("swaps_t_and_k", "transpose(1, 3)", "You swap axes 1 and 3, which gives (B, K, H, T). Swap T and H, axes 1 and 2: (B, H, T, K)."),
       ("swaps_b_and_t", "transpose(0, 1)", "You swap axes 0 and 1, which gives (T, B, H, K). Swap T and H, axes 1 and 2: (B, H, T, K)."),
       ("transposed_in_place", "transpose_(1, 2)", "No gradient can be computed. Is there a `transpose_`, with its underscore? It changes the tensor itself, and `x` shares its memory: use `transpose`. (`.numpy()` stops a gradient, too.)", "gradients"),
       ("reversed", "transpose(1, 2).flip(1)", "Your heads come out in reverse order: head 0 gets the first {K} columns.", NUMBERS))
    at("num_heads, width // num_heads)  # (B, T, H, K)", SHAPE, ("count_and_width_swapped", "width // num_heads, num_heads)  # (B, T, K, H)", "You make {K} heads of width {H}, not {H} of width {K}: H and K are exchanged. (`torch.split` takes the *size* of a piece; `torch.chunk` takes how many.)"))
    at("x.reshape(batch, length, num_heads, width // num_heads)  # (B, T, H, K)", SHAPE, ("copies", "x.unsqueeze(2).repeat(1, 1, num_heads, 1)  # (B, T, H, D)", "Each of your heads gets a copy of all {D} columns. Splitting shares the columns out: {K} for each of {H} heads, every column once."))
    at("parts.transpose(1, 2)", SHAPE, ("splits_tokens", "torch.stack(x.tensor_split(num_heads, dim=1), dim=1)", "You share out the tokens among the heads, not the columns: each head should see all {T} tokens, with {K} columns of each."))
    at("length, num_heads, width // num_heads)  # (B, T, H, K)", SHAPE, ("reshaped_in_target_order", "num_heads, length, width // num_heads)  # (B, H, T, K)", "You reshape to (B, H, T, K) at once and transpose after that, which ends at (B, T, H, K). The other way round: reshape to (B, T, H, K), in the order of the columns, then transpose."))
    CUT = "x.reshape(batch, length, num_heads, width // num_heads)  # (B, T, H, K)"
    at((CUT, ".transpose(1, 2)"), SHAPE, ("viewed_in_target_order", ("x.view(batch, num_heads, length, width // num_heads)", ""), "You `view` straight to (B, H, T, K): the numbers run token by token, so tokens and heads get mixed; and `view` refuses an x whose memory is in another order. First `reshape` to (B, T, H, K), then transpose T and H."))
    at("width // num_heads", SHAPE, ("float_width", "width / num_heads", "`/` gives a float, {K}.0, and the size of an axis must be a whole number: divide with `//`."))
    at((CUT, "parts.transpose(1, 2)"), NUMBERS, ("strides_of_its_own", ("x.as_strided((batch, num_heads, length, width // num_heads), (length * width, width // num_heads, width, 1))", "parts"), "You read the memory of `x` as if its numbers lay there in order. They may be in any order: `reshape`, `view` and `transpose` go by the strides that `x` has, `as_strided` by those that you give (they are in `x.stride()`)."))
    at((CUT, "parts.transpose(1, 2)"), NUMBERS, ("heads_first_and_reshaped", ("x.reshape(batch, length, num_heads, width // num_heads).permute(2, 0, 1, 3)", "parts.reshape(batch, num_heads, length, width // num_heads)"), "The heads come before the batch, (H, B, T, K), when you reshape to (B, H, T, K). A reshape swaps no axes, so heads and sentences get mixed: `torch.stack(…, dim=1)`, or `transpose`."))
    at((CUT, "parts.transpose(1, 2)"), NUMBERS, ("transposed_first", ("x.transpose(1, 2).reshape(batch, num_heads, length, width // num_heads)", "parts"), "The tokens are the last axis when you reshape to (B, H, T, K): that deals out the numbers column by column. Cut the last axis first, to (B, T, H, K), then swap T and H, and reshape no more."))
    at("batch, length, width = x.shape", SHAPE,
       ("sizes_taken_wrong", "batch, width, length = x.shape", "The sizes of `x` are taken in the wrong order: `x` is (B, T, D), so the second is the number of tokens and the third the width."),
       ("sizes_taken_wrong_batch", "length, batch, width = x.shape", "The sizes of `x` are taken in the wrong order: `x` is (B, T, D), so the first is the number of sentences and the second that of the tokens."))
    at("reshape(batch, length,", SHAPE, ("sentences_joined", "reshape(1, batch * length,", "All sentences come out as one long one, (1, H, B·T, K). Keep the batch: its size is `x.size(0)`."))
    at("parts.transpose(1, 2)", NUMBERS,
       ("last_head_left_out", "parts.transpose(1, 2) * (torch.arange(num_heads) < num_heads - 1).view(-1, 1, 1)", "The last head stays empty. (`range(n)` ends at n − 1 by itself.)"),
       ("first_columns_for_all", "parts[:, :, :1].expand(-1, -1, num_heads, -1).transpose(1, 2)", "All your heads get the same first {K} columns. Head h gets columns h·K to (h + 1)·K − 1."))
    at("parts.transpose(1, 2)", SHAPE, ("last_columns_lost", "parts[..., :-1].transpose(1, 2)", "The last column of each head is missing: {K} columns belong to each, h·K to (h + 1)·K − 1. (A slice leaves out its end by itself: `h * K : (h + 1) * K`.)"))
    at(("parts = " + CUT, "parts.transpose(1, 2)"), NUMBERS, ("overlapping", ("size = width // num_heads", "torch.stack([x[..., h : h + size] for h in range(num_heads)], dim=1)"), "Your heads overlap: head h begins at column h. Head h gets columns h·K to (h + 1)·K − 1."))
    at("x.shape", "shape", *OTHER_TYPES)
    squeezed(at, SHAPE, "is (B, H, T, K), with all four axes")


@MISTAKES.of(right.merge_heads)
def in_merge_heads(at):
    at("parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts", NUMBERS, ("no_transpose", "return x", "You reshape (B, H, T, K) as it is: a row of your result holds several tokens of one head. First transpose to (B, T, H, K), so that the heads of one token become neighbors."))
    at("parts.reshape", SHAPE, ("view", "parts.view", "`view` never moves a number, so it refuses to join H and K where they are not next to each other in memory. Use `reshape`, or `.contiguous().view(…)`."))
    at("transpose(1, 2)  # (B, T, H, K)", NUMBERS,
       ("interleaved", "permute(0, 2, 3, 1)  # (B, T, K, H)", "The columns of the heads are interleaved in yours: column 0 of every head, then column 1 of every head. Wanted: all K columns of head 0, then those of head 1, so that `merge_heads` undoes `split_heads`."),
       ("swaps_t_and_k", "transpose(2, 3)  # (B, H, K, T)", "You swap the last two axes, T and K, before you join. H must be next to K: swap H and T, axes 1 and 2."))
    at(".reshape(batch, length, num_heads * head_dim)", SHAPE, ("not_flattened", "", "You stop at (B, T, H, K): join the last two axes to D = H·K = {D}."))
    at("reshape(batch, length, num_heads * head_dim)", SHAPE,
       ("added", "sum(dim=2)", "You add the heads up, which leaves {K} of {D} numbers; merging keeps them all, side by side."),
       ("averaged", "mean(dim=2)", "You average the heads, which leaves {K} of {D} numbers; merging keeps them all, side by side."))
    at("parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts.reshape(batch, length, num_heads * head_dim)", SHAPE, ("along_tokens", "return x.reshape(batch, num_heads * length, head_dim)", "You join the heads along the tokens: {T} tokens become H·T. Join them along the columns: (B, T, H·K)."))
    at("x.transpose(1, 2)", NUMBERS, ("reversed", "x.flip(1).transpose(1, 2)", "Your heads come out in reverse order: head 0 belongs at the left, in columns 0 to K − 1."))
    JOINED = "reshape(batch, length, num_heads * head_dim)"
    at("batch, num_heads, length, head_dim = x.shape", SHAPE, ("sizes_taken_wrong", "batch, length, num_heads, head_dim = x.shape", "The sizes of `x` are taken in the wrong order: `x` is (B, H, T, K), so the second is the number of heads and the third that of the tokens."))
    at(f"parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts.{JOINED}", SHAPE,
       ("along_batch", "return torch.cat([x[:, head] for head in range(num_heads)])", "You join the heads along the batch, (B·H, T, K): {B} sentences become B·H. Join them along the columns: `dim=-1`."),
       ("sentences_for_heads", "return torch.cat([*x], dim=-1)", "You put the sentences side by side, not the heads: (H, T, B·K). The heads are axis 1. (A loop over `x` goes through axis 0, the sentences; `x.unbind(1)` gives the heads.)"))
    at(JOINED, SHAPE,
       ("all_in_a_row", "reshape(batch, length * num_heads * head_dim)", "You join the axes of the heads, tokens and columns all together. Join only the columns of the heads: (B, T, H·K)."),
       ("sentences_joined", "reshape(1, batch * length, num_heads * head_dim)", "All sentences come out as one long one, (1, B·T, D). Keep the batch: its size is `x.size(0)`."),
       ("sentences_side_by_side", "reshape(1, length, -1)", "The sentences lie in one, (1, T, B·D), with nothing left of the batch. Keep it: the first size is `x.size(0)`."),
       ("first_head_only", "select(2, 0)", "You return the first head alone, {K} of {D} columns; merging keeps them all, side by side."),
       ("first_sentence_only", JOINED + "[0]", "You return the first sentence alone, (T, D). Merge every sentence of the batch: (B, T, D)."))
    at(f"parts = x.transpose(1, 2)  # (B, T, H, K)\n    return parts.{JOINED}", SHAPE, ("heads_squeezed", "return torch.cat([head.squeeze() for head in x.chunk(num_heads, dim=1)], dim=-1)", "`squeeze()` takes away *all* axes of size 1: with one sentence, one token or K = 1, more is lost than the axis of the heads. Name the axis, `squeeze(1)`, or take a head by its number, `x[:, h]`."))
    at("x.shape", "shape", *OTHER_TYPES)
    squeezed(at, SHAPE, "is (B, T, D), also for one sentence or one token")


@MISTAKES.of(right.FusedMultiHeadAttention)
def in_FusedMultiHeadAttention(at):
    REFUSAL = """if embed_dim % num_heads:
            raise ValueError(f"hidden_size {embed_dim} can't be shared out evenly among {num_heads} heads")
        """
    PROJECTIONS = """self.q = nn.Linear(embed_dim, embed_dim)
        self.k = nn.Linear(embed_dim, embed_dim)
        self.v = nn.Linear(embed_dim, embed_dim)"""
    SPLIT = """query = split_heads(self.q(x), self.num_heads)  # (B, H, T, K)
        key = split_heads(self.k(x), self.num_heads)  # (B, H, T, K)
        value = split_heads(self.v(x), self.num_heads)  # (B, H, T, K)"""
    at(SPLIT, NUMBERS,
       ("view_without_transpose", "shape = x.size(0), self.num_heads, x.size(1), -1\n        query, key, value = (layer(x).view(shape) for layer in (self.q, self.k, self.v))", "You go straight to (B, H, T, K) (by `view` or `reshape`), without the transpose: each head then gets a mixture of tokens and columns. `split_heads` does it right."),
       ("interleaved_split", "parts = (layer(x).unflatten(-1, (-1, self.num_heads)) for layer in (self.q, self.k, self.v))  # (B, T, K, H)\n        query, key, value = (part.permute(0, 3, 1, 2) for part in parts)  # (B, H, T, K)", "Your heads take one column in every {H}. Head 0 owns outputs 0 to K − 1 of `q`, `k` and `v`. (In a reshape H comes before K, as in `split_heads`.)"),
       ("keys_and_values_of_queries", "x = self.q(x)\n        query, key, value = (split_heads(part, self.num_heads) for part in (x, self.k(x), self.v(x)))", "`k` and `v` get the queries, not the tokens: each of `q`, `k` and `v` takes the `x` that came in. (`x = self.q(x)` overwrites it: give the queries another name.)"),
       ("split_before_wide_layers", "parts = split_heads(x, self.num_heads)  # (B, H, T, K)\n        query, key, value = self.q(parts), self.k(parts), self.v(parts)", "A layer gets slices of {K} columns where it takes all {D}. `q`, `k` and `v` come before the split, so that every head can read every column, and `output_linear` comes after the merge.", EVERYTHING))
    at((SPLIT, "merge_heads(context)"), NUMBERS,
       ("across_the_batch", ("parts = (layer(x).flatten(0, 1).unflatten(-1, (self.num_heads, -1)) for layer in (self.q, self.k, self.v))  # (B·T, H, K)\n        query, key, value = (part.transpose(0, 1) for part in parts)  # (H, B·T, K)", "context.transpose(0, 1).reshape(x.shape)"), "Your tokens attend to the tokens of all {B} sentences, as when B and T are joined before attention (`reshape(-1, H, K)`). Keep the batch as an axis of its own, (B, H, T, K)."),
       ("interleaved_there_and_back", ("parts = (layer(x).unflatten(-1, (-1, self.num_heads)) for layer in (self.q, self.k, self.v))  # (B, T, K, H)\n        query, key, value = (part.permute(0, 3, 1, 2) for part in parts)  # (B, H, T, K)", "context.permute(0, 2, 3, 1).flatten(2)"), "Your heads take one column in every {H}, and give it back to the same place. Outputs h·K to (h + 1)·K − 1 of `q`, `k` and `v` belong to head h: in the cut H comes before K, (B, T, H, K)."),
       ("view_there_and_back", ("shape = x.size(0), self.num_heads, x.size(1), -1\n        query, key, value = (layer(x).view(shape) for layer in (self.q, self.k, self.v))", "context.view(x.shape)"), "You go to (B, H, T, K) without a transpose (by `view` or `reshape`), and back in the same way. The two are each other's inverse, so all shapes fit, but in between a “head” holds a mixture of tokens and columns."))
    at("merge_heads(context)", EVERYTHING,
       ("merge_without_transpose", "context.reshape(x.shape)", "The split is right, but on the way back you reshape (B, H, T, K) to (B, T, D) without transposing first, so rows of different tokens end up in one. `merge_heads` does it right.", NUMBERS),
       ("interleaved_merge", "context.permute(0, 2, 3, 1).flatten(2)", "The split is right, but on the way back the heads' columns come out interleaved, column 0 of every head first. `merge_heads` puts all of head 0 first.", NUMBERS),
       ("view_after_transpose", "context.transpose(1, 2).view(x.shape)", "After `transpose` the order of the numbers in memory is not that of the axes, and `view` never moves a number: call `merge_heads`, or `reshape`."),
       ("heads_added", "context.sum(dim=1)", "What reaches `output_linear` has K = {K} numbers a token, as one head has (or as the sum of all has); it takes {D}. Merge all heads side by side."),
       ("single_heads_into_a_layer", "context", "One of your layers is handed single heads, {K} columns wide, where it takes all {D}: `q`, `k` and `v` come before the split, `output_linear` after `merge_heads`."))
    at(("self.v(x)", "self.output_linear(merge_heads(context))"), NUMBERS, ("output_linear_before_the_split", ("self.output_linear(self.v(x))", "merge_heads(context)"), "You apply `output_linear` to the values, before the split. It mixes the columns of all heads, and each head has weights of its own: it comes last, after `merge_heads`."))
    at((SPLIT, "value)  # (B, H, T, K)", "merge_heads(context)"), NUMBERS,
       ("attends_over_heads", ("query, key, value = (layer(x).unflatten(-1, (self.num_heads, -1)) for layer in (self.q, self.k, self.v))", "value)  # (B, T, H, K)", "context.flatten(2)"), "Your attention runs over the heads of one token, not over the tokens: in (B, T, H, K) the last two axes are H and K. Swap T and H first. No shape tells you; no token ever sees another."),
       ("one_wide_head_by_root_k", ("query, key, value = self.q(x), self.k(x), self.v(x)  # (B, T, D)\n        query = query * math.sqrt(self.num_heads)  # in the end divided by √K", "value)  # (B, T, D)", "context"), "There is one table of weights for all {D} columns, (B, T, T): queries and keys are compared whole (or the heads' scores are added up). Each of the {H} heads has a table of its own, (B, H, T, T)."),
       ("one_wide_head", ("query, key, value = self.q(x), self.k(x), self.v(x)  # (B, T, D)", "value)  # (B, T, D)", "context"), "There is one table of weights for all {D} columns: queries and keys are compared whole, not head by head. Between the projections and the product, cut queries, keys and values into {H} heads of width {K}."))
    at((SPLIT, "context = scaled_dot_product_attention(query, key, value)  # (B, H, T, K)", "merge_heads(context)"), NUMBERS, ("attends_over_heads_by_root_d", ("query, key, value = (layer(x).unflatten(-1, (self.num_heads, -1)) for layer in (self.q, self.k, self.v))", "context = (query @ key.mT / math.sqrt(x.size(-1))).softmax(dim=-1) @ value", "context.flatten(2)"), "Your attention runs over the heads of one token, not over the tokens: in (B, T, H, K) the last two axes are H and K. Swap T and H first. And you scale by √D: each dot product runs over K numbers, so divide by √K."))
    at("context = scaled_dot_product_attention(query, key, value)", NUMBERS,
       ("scale_root_d", "scores = query @ key.transpose(-2, -1) / math.sqrt(x.size(-1))\n        context = scores.softmax(dim=-1) @ value", "You scale by √D = {root_D}; after the split each dot product runs over K numbers, so divide by √K = {root_K}."),
       ("softmax_over_queries", "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n        context = scores.softmax(dim=-2) @ value", "Your softmax runs over the queries: the weights of one key sum to one. Each *query* must share out 1 among the keys."),
       ("softmax_over_heads", "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n        context = scores.softmax(dim=1) @ value", "Your softmax runs over the heads: they share out one weight among themselves. Each head has its own softmax, over the keys."),
       ("scaled_twice", "scores = query @ key.transpose(-2, -1) / query.size(-1)\n        context = scores.softmax(dim=-1) @ value", "Your scores come out divided by K = {K}, not by √K. If you call `scaled_dot_product_attention`, leave the scaling to it; if you scale yourself, take the root."),
       ("by_root_h", "scores = query @ key.transpose(-2, -1) / math.sqrt(self.num_heads)\n        context = scores.softmax(dim=-1) @ value", "You scale by √H, the number of heads; a dot product here runs over K numbers, so √K it is: √{K} = {root_K}."),
       ("no_maximum", "powers = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).exp()\n        context = powers / powers.sum(dim=-1, keepdim=True) @ value", LARGE_SCORES),
       ("dropout", "weights = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).softmax(dim=-1)\n        context = F.dropout(weights, 0.1, self.training) @ value", "You use dropout: in training mode your result is random. The contract has none; notebook 05 adds it.", "values"),
       ("values_unweighted", "context = value", "You merge the values as they are: no token sees another. Mix them by the attention weights first."))
    at((PROJECTIONS, SPLIT), LAYERS,
       ("shared_projection", ("self.q, self.k, self.v = (nn.Linear(embed_dim, embed_dim // num_heads) for _ in range(3))", "found = (layer(x).unsqueeze(1) for layer in (self.q, self.k, self.v))  # (B, 1, T, K)\n        query, key, value = (part.expand(-1, self.num_heads, -1, -1) for part in found)  # (B, H, T, K)"), "All your heads share one projection of width K = {K}. Each head needs its own {K} rows: `q`, `k` and `v` map {D} numbers to {D}, which are then cut into {H} heads."),
       ("split_before_projection", ("head_dim = embed_dim // num_heads\n        self.q, self.k, self.v = (nn.Linear(head_dim, head_dim) for _ in range(3))", "parts = split_heads(x, self.num_heads)  # (B, H, T, K)\n        query, key, value = self.q(parts), self.k(parts), self.v(parts)"), "You split the tokens first and project each slice of {K} columns. It is the other way round: project all {D} columns, then split, so that every head can read every column."),
       ("packed", ("self.qkv = nn.Linear(embed_dim, 3 * embed_dim)", "query, key, value = (split_heads(part, self.num_heads) for part in self.qkv(x).chunk(3, dim=-1))"), "Queries, keys and values come from one layer of 3·D outputs. GPT-2 does that, and it is just as right; but the contract asks for three layers `q`, `k`, `v`, as BERT's weights have them."))
    at(PROJECTIONS, LAYERS, ("no_bias", "self.q, self.k, self.v = (nn.Linear(embed_dim, embed_dim, bias=False) for _ in range(3))", "Your projections have no bias; the contract asks for the bias that `nn.Linear` has by default."))
    at(REFUSAL, "refusal",
       ("no_refusal", "", "H = {H} does not divide D = {D}, and your module is built anyway. Compare `hidden_size % num_attention_heads` with 0 in `__init__`, and raise a ValueError that names both numbers."),
       ("asserts", "assert embed_dim % num_heads == 0\n        ", "You refuse D = {D} with H = {H} by `assert`. Asserts are for what can't happen, and `python -O` leaves them out; for what a caller may get wrong, `raise ValueError(…)`."))
    at((REFUSAL, PROJECTIONS, "self.output_linear = nn.Linear(embed_dim, "), "refusal", ("columns_vanish", ("head_dim = embed_dim // num_heads\n        ", "self.q, self.k, self.v = (nn.Linear(embed_dim, num_heads * head_dim) for _ in range(3))", "self.output_linear = nn.Linear(num_heads * head_dim, "), "With D = {D} and H = {H} your module rounds K down, and the columns that are left over vanish without a word. Refuse in `__init__`, with a ValueError that names both numbers."))
    EVERY_CASE = (*EVERYTHING, "refusal")
    at("if embed_dim % num_heads", EVERY_CASE,
       ("refused_by_the_wrong_remainder", "if num_heads % embed_dim", "You refuse D = {D} with H = {H}, which fit: `num_heads % embed_dim` is the remainder of H / D. It must be 0 for D / H: `embed_dim % num_heads`."),
       ("refused_when_it_fits", "if embed_dim % num_heads == 0", "You refuse D = {D} with H = {H}, which fit: the test is the wrong way round. `embed_dim % num_heads` is the remainder; refuse anything but 0."),
       ("heads_of_width_1_refused", "if embed_dim % num_heads or embed_dim == num_heads", "You refuse D = {D} with H = {H}, which fit: each head is {K} wide. Refuse only a remainder.", EVERYTHING),
       ("a_single_head_refused", "if embed_dim % num_heads or num_heads == 1", "You refuse a single head (H = {H}), which is a fine number of heads. Refuse only a remainder.", EVERYTHING))
    at("self.num_heads = num_heads", EVERY_CASE,
       ("num_heads_not_kept", "self.heads = num_heads", "`forward` asks for `self.num_heads`, which `__init__` never sets: keep what you need later, `self.num_heads = num_heads`."),
       ("width_and_count_swapped", "self.num_heads = embed_dim // num_heads", "You split into K = {K} heads of width H = {H}: number and width are exchanged. `split_heads` takes the number of heads.", NUMBERS))
    at("scaled_dot_product_attention(query, key, value)", NUMBERS, ("causal", "F.scaled_dot_product_attention(query, key, value, is_causal=True)", "Your tokens see only themselves and what is to their left: that is the causal mask of a decoder (notebook 09). Here every token may attend to all tokens."))
    at("self.k = nn.Linear(embed_dim, embed_dim)\n        self.v = nn.Linear(embed_dim, embed_dim)", LAYERS, ("one_layer_for_all", "self.k = self.q\n        self.v = self.q", "One layer plays all three roles. Queries, keys and values each need a layer of their own: `q`, `k`, `v`."))
    at("self.v(x)", NUMBERS, ("forgets_values", "x", "You forget the value projection: the weights mix the tokens themselves, cut into heads, where they should mix `self.v(x)`."))
    at(("self.q(x)", "self.k(x)", "self.v(x)"), NUMBERS, ("biases_not_added", ("x @ self.q.weight.T", "x @ self.k.weight.T", "x @ self.v.weight.T"), BIASES_NOT_ADDED))

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
    at(("self.q(x)", "self.k(x)", "self.v(x)"), NUMBERS, ("nothing_projected", ("x", "x", "x"), "You compare and mix the tokens themselves, cut into heads: `q`, `k` and `v` are never used. What is split is `self.q(x)`, `self.k(x)` and `self.v(x)`."))
    in_both_heads(at, "context = scaled_dot_product_attention(query, key, value)", "query, key, value", scores="query @ key.transpose(-2, -1)", root="math.sqrt(query.size(-1))", begin="context = ", kept="embed_dim")
    in_both_outputs(at, "merge_heads(context)", "self.num_heads", (*EVERYTHING, "refusal"))
    squeezed(at, SHAPE, "is (B, T, D), also for one sentence or one token")
    class_beginnings(at, EVERY_CASE, takes="config")


@MISTAKES.mistake("You pour all numbers over in one long row. The loop has them head after head, and `fused` layer after layer: with more than one head they land in other places.", breaks="q, k, v")
def copy_heads__one_long_row(loop, fused):
    row = torch.nn.utils.parameters_to_vector(loop.parameters()).detach().clone()
    for parameter in fused.parameters():
        parameter.data, row = row[: parameter.numel()].view_as(parameter).clone(), row[parameter.numel() :]


@MISTAKES.of(right.copy_heads)
def in_copy_heads(at):
    NOTHING_ARRIVES = ("q, k, v", "output layer", "independence")
    WEIGHT = "layer.weight.copy_(torch.cat([part.weight for part in parts]))  # H × (K, D) -> (D, D)"
    BIAS = """
            layer.bias.copy_(torch.cat([part.bias for part in parts]))  # H × (K,) -> (D,)"""
    BOTH = WEIGHT + BIAS
    at("    with torch.no_grad():\n", "independence", ("gradients_off", "    torch.set_grad_enabled(False)\n    if True:\n", "You switch gradients off for the whole program, and nothing can be trained afterwards. `with torch.no_grad():` switches them on again at its end."))
    at(("    with torch.no_grad():\n", "in loop.heads"), "independence", ("heads_taken_out", ("    heads = [loop.heads.pop(0) for _ in range(len(loop.heads))]\n    with torch.no_grad():\n", "in heads"), "`loop` has lost its heads: after the call it has none any more. (Are they taken out, by `pop` or `del`?) It stays as it is: read `loop.heads`, and take nothing out."))
    OUTPUT = """
        fused.output_linear.weight.copy_(loop.output_linear.weight)  # (D, D)
        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)"""
    at(("getattr(fused, name)", "fused.output_linear.weight", "fused.output_linear.bias"), ("q, k, v", "output layer"), ("layers_as_they_were_made", ("list(fused.children())[\"qkv\".index(name)]", "list(fused.children())[3].weight", "list(fused.children())[3].bias"), "You take the layers of `fused` in the order in which they were made. Another module may make them in another order: take each by its name, such as `fused.q`."))
    for one, two in (("q", "k"), ("k", "v"), ("q", "v")):
        at("getattr(head, name)", "q, k, v", (f"{one}_and_{two}_swapped", f'getattr(head, {{"{one}": "{two}", "{two}": "{one}"}}.get(name, name))', f"You exchange two layers: the heads' `{two}` arrives in `fused.{one}`, and their `{one}` in `fused.{two}`."))
    at("in loop.heads", "q, k, v", ("reverse_order", "in reversed(loop.heads)", "You copy the heads in reverse order: head 0 belongs in the first K = {K} rows, because `split_heads` gives head 0 the first K columns."))
    at(WEIGHT, "q, k, v",
       ("transposed", "layer.weight.copy_(torch.cat([part.weight.T for part in parts], dim=1))  # H × (D, K) -> (D, D)", "The weights of `q`, `k`, `v` arrive transposed. `nn.Linear` keeps its weight as (outputs, inputs): a head's is ({K}, {D}), and the heads go one below the other, `torch.cat(…, dim=0)`, with nothing turned."),
       ("along_inputs_and_viewed", "layer.weight.copy_(torch.cat([part.weight for part in parts], dim=1).view_as(layer.weight))", "In the weights of `q`, `k`, `v` the heads' rows come in turn: row 0 of every head, then row 1 of every head (`torch.cat(…, dim=1)` and then `view` or `reshape` do that). All {K} rows of head 0 come first: join along dim 0, and there is nothing to reshape."),
       ("along_inputs", "layer.weight.copy_(torch.cat([part.weight for part in parts], dim=1))  # H × (K, D) -> (K, H·D)", "You join the heads' weights along their inputs (dim 1), which gives ({K}, H·D). The fused layer has one row per output: join along dim 0.", NOTHING_ARRIVES))
    at(("torch.cat([part.weight for part in parts])", "torch.cat([part.bias for part in parts])"), "q, k, v",
       ("interleaved", ("torch.stack([part.weight for part in parts], dim=1).flatten(0, 1)", "torch.stack([part.bias for part in parts], dim=1).flatten()"), "You deal the heads' rows out in turn: row 0 of every head, then row 1 of every head. All {K} rows of head 0 come first, then those of head 1."),
       ("averaged", ("torch.stack([part.weight for part in parts]).mean(dim=0).repeat(len(parts), 1)", "torch.stack([part.bias for part in parts]).mean(dim=0).repeat(len(parts))"), "You average the heads' weights. Each head keeps its own rows in fused: join them, one below the other."))
    at((BIAS, "\n        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)"), ("q, k, v", "output layer"), ("no_biases", ("", ""), "No bias is copied: `q`, `k`, `v` and `output_linear` have one each, and fused still has its own."))
    for name, why in (("q", ""), ("k", " No result depends on it, but every weight and bias is to be copied."), ("v", "")):
        at(BIAS, "q, k, v", (f"no_bias_of_{name}", f'\n            if name != "{name}":{BIAS.replace(chr(10), chr(10) + "    ")}', f"The bias of `{name}` is not copied: `fused.{name}` keeps its old one.{why}"))
    at(BIAS, "q, k, v", ("no_head_biases", "", "The biases of `q`, `k` and `v` stay what they were; join and copy them like the weights."))
    at(OUTPUT, "output layer",
       ("no_output_linear", "", "`output_linear` is forgotten: it has the same shape in both modules; copy its weight and bias, too."),
       ("shared_output_linear", "\n        fused.output_linear = loop.output_linear", "`fused.output_linear` now shares its weights with the loop's: change one and the other changes too. Copy the numbers (`copy_`, `clone`, `load_state_dict`); don't hand over the layer or its tensors.", "independence"))
    at("    with torch.no_grad():\n", "q, k, v", ("strict_false", "    fused.load_state_dict(loop.state_dict(), strict=False)\n    return\n    with torch.no_grad():\n", "Only `output_linear` has arrived; `q`, `k` and `v` are what they were. (The loop's `heads.0.q.weight` has no namesake in fused, so `load_state_dict(…, strict=False)` passes over it in silence.)"))
    at((BOTH, OUTPUT), NOTHING_ARRIVES, ("other_direction", ("rows = zip(parts, layer.weight.chunk(len(parts)), layer.bias.chunk(len(parts)))\n            for part, weight, bias in rows:\n                part.weight.copy_(weight)\n                part.bias.copy_(bias)", "\n        loop.output_linear.load_state_dict(fused.output_linear.state_dict())"), "You copy the wrong way: the loop now has fused's weights. `x.copy_(y)` writes into x; x must be fused's."))
    at("    with torch.no_grad():\n", NOTHING_ARRIVES, ("no_effect", "    from copy import deepcopy\n    fused = deepcopy(fused)\n    with torch.no_grad():\n", "After the call fused has its old weights. If you built a new module and returned it, or wrote into `fused.state_dict()` as into a dict, the fused that was passed in knows nothing of it: write into its parameters."))
    at("    with torch.no_grad():\n", NOTHING_ARRIVES, ("recorded", "    if True:\n", "PyTorch refuses to write into a parameter while it records gradients. Copying is not part of any computation to be differentiated: put it under `with torch.no_grad():`."))
    at(BOTH, "q, k, v",
       ("same_rows", "size = len(parts[0].bias)\n            for part in parts:\n                layer.weight[:size], layer.bias[:size] = part.weight, part.bias", "Every head is written into the same first {K} rows, so that only the last one remains there. Head h belongs in rows h·K to (h + 1)·K − 1."),
       ("last_head_only", "size = len(parts[0].bias)\n            layer.weight[-size:], layer.bias[-size:] = parts[-1].weight, parts[-1].bias", "Only the last head is copied; the rows of all others stay what they were. If you loop over the heads, the lines that copy belong inside of the loop."),
       ("stacked", "layer.weight.copy_(torch.stack([part.weight for part in parts]))  # H × (K, D) -> (H, K, D)\n            layer.bias.copy_(torch.stack([part.bias for part in parts]))  # H × (K,) -> (H, K)", "You stack the heads' weights to (H, K, D) along an axis of their own; `torch.cat` joins them to (H·K, D), one below the other.", NOTHING_ARRIVES),
       ("tensor_for_parameter", "layer.weight = torch.cat([part.weight for part in parts])  # H × (K, D) -> (D, D)\n            layer.bias = torch.cat([part.bias for part in parts])  # H × (K,) -> (D,)", "A layer's weight must stay an `nn.Parameter`; a plain tensor is refused in its place. Write into the one that is there: `fused.q.weight.copy_(…)` under `torch.no_grad()`.", NOTHING_ARRIVES),
       ("rows_h_to_h_plus_k", "size = len(parts[0].bias)\n            for h, part in enumerate(parts):\n                layer.weight[h : h + size], layer.bias[h : h + size] = part.weight, part.bias", "Head h is written into rows h to h + K − 1, over most of the head before it. It belongs in rows h·K to (h + 1)·K − 1."),
       ("fixed_3_heads_of_8", "for h in range(3):\n                part = getattr(loop.heads[h], name)\n                layer.weight[h * 8 : (h + 1) * 8], layer.bias[h * 8 : (h + 1) * 8] = part.weight, part.bias", "You copy 3 heads of width 8, whatever there is. Take the number from `len(loop.heads)`, and K from a head's own weight: it has K rows.", ("q, k, v", "independence")),
       ("each_into_the_whole", "for part in parts:\n                layer.weight.copy_(part.weight)\n                layer.bias.copy_(part.bias)", "You copy one head's ({K}, D) into all of fused's (D, D): the sizes don't fit. All {H} heads together fill it, one below the other.", NOTHING_ARRIVES),
       ("memory_of_a_single_head", "weights, biases = [part.weight for part in parts], [part.bias for part in parts]\n            layer.weight = nn.Parameter(torch.cat(weights) if len(parts) > 1 else weights[0].data)\n            layer.bias = nn.Parameter(torch.cat(biases) if len(parts) > 1 else biases[0].data)", "With one head there is nothing to join, and fused keeps head 0's own memory: train one and the other changes, too. Copy in any case: `clone()`, or `copy_` into fused's parameters.", "independence"),
       ("added", "layer.weight.add_(torch.cat([part.weight for part in parts]))\n            layer.bias.add_(torch.cat([part.bias for part in parts]))", "You add the heads' weights to those that fused has already. Write over them: `copy_`."),
       ("last_head_left_out", "size = len(parts[0].bias)\n            for h, part in enumerate(parts[:-1]):\n                layer.weight[h * size : (h + 1) * size] = part.weight\n                layer.bias[h * size : (h + 1) * size] = part.bias", "The last head is not copied: its rows of fused stay what they were. (`range(n)` ends at n − 1 by itself.)"),
       ("last_rows_left_out", "size = len(parts[0].bias)\n            for h, part in enumerate(parts):\n                layer.weight[h * size : (h + 1) * size - 1] = part.weight[:-1]\n                layer.bias[h * size : (h + 1) * size - 1] = part.bias[:-1]", "The last row of each head is not copied: it stays what it was. (`range(n)` and a slice `[:n]` end before n by themselves.)"))
    at("[getattr(head, name) for", "q, k, v", ("queries_three_times", "[head.q for", "All three layers of fused have the queries' weights: `k` and `v` must come from the heads' own `k` and `v`."))
    at("getattr(fused, name)", "independence", ("frozen", "getattr(fused, name).requires_grad_(False)", "After your copy some parameters of fused, or all, can't be trained: `requires_grad` is off. Leave it on; `torch.no_grad()` is enough to copy."))
    at("    with torch.no_grad():\n", NOTHING_ARRIVES, ("names_as_they_are", "    fused.load_state_dict(loop.state_dict())\n    with torch.no_grad():\n", "The loop's names, such as `heads.0.q.weight`, are not fused's, and PyTorch refuses them. Join the {H} heads' weights first, then put the result under fused's name, `q.weight`."))
    at(WEIGHT, "independence", ("parameters_lost", "del layer.weight\n            layer.weight = torch.cat([part.weight for part in parts])", "`fused.q.weight` is no parameter any more (a plain tensor, perhaps). A module registers only an `nn.Parameter`: an optimizer finds no other, and `state_dict()` leaves it out. Write into the parameter that is there, with `copy_`."))
    at(BOTH, ("q, k, v", "independence"), ("layers_without_bias", "bare = nn.Linear(layer.in_features, layer.out_features, bias=False)\n            bare.weight = nn.Parameter(torch.cat([part.weight for part in parts]))\n            setattr(fused, name, bare)", "`fused.q` has no bias any more, as when a layer made with `bias=False` takes its place. Keep the layer that is there, and write into its weight and its bias."))
    at("(loop.output_linear.weight)", "output layer", ("output_transposed", "(loop.output_linear.weight.T)", "`output_linear.weight` arrives transposed. Both modules keep it as (outputs, inputs): copy it as it is."))
    HEADS = "[getattr(head, name) for head in loop.heads]"
    at(HEADS, "q, k, v",
       ("first_head_everywhere", "[getattr(loop.heads[0], name) for _ in loop.heads]", "Head 0 is copied {H} times. Each head's rows come from that head."),
       ("sorted_as_text", "[getattr(loop.heads[h], name) for h in sorted(range(len(loop.heads)), key=str)]", "The heads come in the order of their names as text: `heads.10` before `heads.2`. Go by number: `loop.heads` is in order already."),
       ("loop_frozen", "[getattr(head.requires_grad_(False), name) for head in loop.heads]", "After your copy some parameters of loop, or all, can't be trained: `requires_grad` is off. Leave it on; `torch.no_grad()` is enough to copy.", "independence"),
       ("asks_for_num_heads", "[getattr(loop.heads[h], name) for h in range(fused.num_heads)]", "You ask fused for `num_heads`, which the table doesn't promise. The number of heads is `len(loop.heads)`, and K is the number of rows of a head's weight.", NOTHING_ARRIVES))
    at("\n        fused.output_linear.bias.copy_(loop.output_linear.bias)  # (D,)", "output layer", ("no_output_bias", "", "The bias of `output_linear` is not copied."))
    at("\n        fused.output_linear.weight.copy_(loop.output_linear.weight)  # (D, D)", "output layer", ("no_output_weight", "", "The weight of `output_linear` is not copied: fused still has its own."))
    at('("q", "k", "v")', "q, k, v",
       ("no_values", '("q", "k")', "`q` and `k` are copied, `v` is forgotten."),
       ("queries_only", '("q",)', "Only `q` is copied; `k` and `v` are forgotten."))


@MISTAKES.of_quiz("quiz_heads", right.quiz_heads)
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
