"""Families of mistakes that know attention: what goes wrong in several notebooks, written once.

A family is asked for in an exercise's block, as those of `anatomy.engine.families` are.
"""

from __future__ import annotations

from anatomy.engine.mistakes import MistakesIn

# fmt: off

Breaks = str | tuple[str, ...]


def pre_norm_block(at: MistakesIn, norm: str, attended: str, breaks: Breaks, lost: Breaks) -> None:
    """What goes wrong in a decoder's block, x + attention(norm(x)) and then the same with the feed-forward network.

    `norm` is what its two norms are called before their number, and `attended` what is added first. `lost` is what a
    mistake costs that takes away a part or a skip connection behind it.
    """
    norm_1, norm_2 = f"self.{norm}_1(x)", f"self.{norm}_2(x)"
    first, second = f"x = x + {attended}", f"return x + self.feed_forward({norm_2})"
    at((first, second), breaks,
       ("post_norm", (f"x = self.{norm}_1(x + {attended.replace(norm_1, 'x')})", f"return self.{norm}_2(x + self.feed_forward(x))"), "Your norms come after the additions (post-norm, as in BERT). Here each comes first: x + attention(norm(x)), and the same with the feed-forward network."),
       ("no_skips", (f"x = {attended}", f"return self.feed_forward({norm_2})"), "Both skip connections are missing: each part's result is added to x.", lost),
       ("parallel", (f"y = x + {attended}", f"return y + self.feed_forward({norm_2})"), "Both parts read the same x, side by side. The feed-forward network comes second: it reads, and adds to, what attention has made of x."),
       ("second_skip_from_the_start", (f"y = x + {attended}", f"return x + self.feed_forward(self.{norm}_2(y))"), "Your second addition takes the x from the very beginning: what attention has added is lost. Add to the new x.", lost))
    at((norm_1, norm_2), breaks,
       ("no_norms", ("x", "x"), "Neither norm is used. Each comes before its part: attention(norm(x)), feed_forward(norm(x))."),
       ("norms_swapped", (norm_2, norm_1), f"The norms are swapped: `{norm}_1` belongs before attention, `{norm}_2` before the feed-forward network."))
    at(norm_1, breaks, ("no_first_norm", "x", f"Attention gets x as it is; it should get `{norm}_1(x)`."))
    at(norm_2, breaks,
       ("no_second_norm", "x", f"The feed-forward network gets x as it is; it should get `{norm}_2(x)`."),
       ("first_norm_twice", norm_1, f"`{norm}_1` comes before both parts; before the feed-forward network it should be `{norm}_2`."))
    at(first, breaks, ("no_first_skip", f"x = {attended}", "The first skip connection is missing: add x itself to what attention returns."))
    at(second, breaks,
       ("no_second_skip", f"return self.feed_forward({norm_2})", "The second skip connection is missing: add x itself to what the feed-forward network returns.", lost),
       ("second_skip_from_the_norm", f"x = {norm_2}\n        return x + self.feed_forward(x)", "What you add to the feed-forward network's result is the *normalized* x. The skip connection carries x as it is."),
       ("norm_at_the_end", f"return self.{norm}_2(x + self.feed_forward({norm_2}))", "There is one more norm at the end. The block's result is not normalized: the stack has one norm at its very end."),
       ("no_feed_forward", "return x", "The feed-forward network is not used.", lost))

def key_value_cache(at: MistakesIn) -> None:
    """What goes wrong with the keys and values that are kept, for N new tokens after P: they come as a pair `cache`."""
    steps = ("values", "several tokens")
    outputs, everything = (*steps, "no cache"), ("shape", *steps, "no cache")
    at("mask = causal_mask(past + x.size(1))[past:].to(x.device)", "several tokens", ("mask_of_the_new_only", "mask = causal_mask(x.size(1)).to(x.device)", "Your mask covers the new tokens only, (N, N). The keys are P + N: the mask is (N, P + N), all ones for the past."))
    at("[past:]", steps,
       ("first_rows_of_the_mask", "[: x.size(1)]", "You take the mask's first rows, those of the oldest tokens (`is_causal=True` does, too). The new ones are the *last* N rows of the whole triangle, (P + N, P + N): `causal_mask(past + N)[past:]`."),
       ("mask_of_all", "", "Your mask has a row for each of the P + N tokens; there are N queries. Take its last N rows: `[past:]`.", ("shape", *steps)))
    at(("[cache[0], key]", "[cache[1], value]"), steps,
       ("value_cache_for_keys", ("[cache[1], key]", "[cache[0], value]"), "Keys and values of the cache are swapped: `cache[0]` has the keys, `cache[1]` the values."),
       ("keys_cached_twice", ("[cache[0], key]", "[cache[0], value]"), "Both your keys and your values begin with `cache[0]`, the keys. `cache[1]` has the values."))
    at("    if cache is not None:", ("shape", *steps), ("cache_unused", "    if False:", "The cache is not used: your new tokens see only each other."))
    at(", (key, value)\n", everything,
       ("cache_not_grown", ", cache\n", "You return the old cache. The new tokens' keys and values belong to it: P + N."),
       ("no_cache_returned", "\n", "You return the outputs only. The next step needs keys and values, too: `output, (key, value)`."),
       ("three_things", ", key, value\n", "You return three things. Return a pair: the outputs, and the pair of keys and values, `output, (key, value)`.", ("shape", "several tokens", "no cache")),
       ("value_first", ", (value, key)\n", "Keys and values are swapped in what you return: keys come first.", outputs))
    at("attention.output_linear(merge_heads(context))", ("several tokens", "no cache"), ("last_output_only", "attention.output_linear(merge_heads(context))[:, -1:]", "You return the last new token's output only. Return all N."))

def eps_of_norms(at: MistakesIn, norms: int) -> None:
    """Another eps than the config's, in all of a layer's norms or in one of them; they are numbered from 1."""
    norm = "LayerNorm(config.hidden_size, config.layer_norm_eps)"
    at(f" {norm}", "eps",
       ("library_eps", " nn.LayerNorm(config.hidden_size)", "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them `config.layer_norm_eps`."),
       ("own_eps", " LayerNorm(config.hidden_size, 1e-12)", "Your norms use an eps that is not the config's. Hand them `config.layer_norm_eps`."), times=norms)
    for number in range(1, norms + 1):
        at(f"self.layer_norm_{number} = {norm}", "eps", (f"eps_of_norm_{number}", f"self.layer_norm_{number} = nn.LayerNorm(config.hidden_size)", f"`layer_norm_{number}` uses an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand it `config.layer_norm_eps`."))


def layer_dropout(at: MistakesIn, attentions: dict[str, str], fed: str, last: str) -> None:
    """What goes wrong with a layer's dropout: it is for what its `attentions` return, each a name and its call.

    `fed` is what the feed-forward network gets, which has a dropout of its own; `last` is what the layer returns.
    """
    for name, call in attentions.items():
        at(f"self.dropout({call})", "dropout",
           (f"{name}_not_dropped", call, f"What `{name}` returns is not dropped in training mode. The feed-forward network brings its own dropout; attention needs the layer's."),
           (f"{name}_dropped_twice", f"self.dropout(self.dropout({call}))", f"What `{name}` returns is dropped twice, so more than a share p is lost. Once is enough."))
    at(f"self.feed_forward({fed})", "dropout", ("feed_forward_dropped_twice", f"self.dropout(self.feed_forward({fed}))", "What the feed-forward network returns is dropped twice: the module does so itself already."))
    at(f"return {last}", "dropout", ("result_dropped", f"return self.dropout({last})", "You drop numbers of what the layer returns. Only what the parts return is dropped, before it is added."))
    at("config.hidden_dropout_prob", "dropout", ("other_p", "config.attention_probs_dropout_prob", "Your dropout uses `config.attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`."))

def divided_by_root(at: MistakesIn, square: str, words: str, flat: str, breaks: Breaks, eps: Breaks) -> None:
    """What goes wrong in a norm that divides by the root of `square` and eps: `words` say what is under the root.

    Of a token that is `flat` it is 0; `eps` is what a mistake costs that shows there.
    """
    at(f"{square} + self.eps", eps,
       ("no_eps", square, f"eps has no effect in yours. A token {flat} has a {words} of 0, and 0/0 is NaN: add eps to the {words}, under the root."),
       ("eps_squared", f"{square} + self.eps**2", f"You add eps². Add eps as it is, to the {words}.", "eps"),
       ("eps_subtracted", f"{square} - self.eps", f"eps is subtracted from the {words}. It is added, so that the root never gets zero or less."))
    at("/ torch", breaks, ("multiplies", "* torch", f"You multiply by the root of the {words}. Divide by it: what is large must become smaller."))
    at(" * self.weight", breaks,
       ("weight_unused", "", "`weight` exists but is not applied: the normalized numbers are multiplied by it, each column by its own."),
       ("weight_added", " + self.weight", "You add `weight`. The normalized numbers are multiplied by it."))

def attention_layers(at: MistakesIn, me: str, breaks: Breaks, stops: Breaks, tokens: str) -> None:
    """What goes wrong between the layers of a causal attention: `me` is what has them, `tokens` the number of queries.

    `stops` is what a result of another shape costs.
    """
    at(f"{me}.output_linear(merge_heads(context))", breaks,
       ("no_output_linear", "merge_heads(context)", "`output_linear` is not used. It is the last step, after the heads are merged."),
       ("heads_not_merged", "context", f"The heads are not merged: your result is (B, H, {tokens}, K). `merge_heads` makes (B, {tokens}, D) of it, then comes `output_linear`.", stops))
    at("merge_heads(context)", stops, ("heads_not_merged_before_output_linear", "context", f"The heads are not merged: `output_linear` wants (B, {tokens}, D). `merge_heads` makes it of (B, H, {tokens}, K)."))
    at(f"({me}.q, {me}.k, {me}.v)", breaks,
       ("query_and_key_swapped", f"({me}.k, {me}.q, {me}.v)", "`q` and `k` are swapped: queries are made by `q`, keys by `k`."),
       ("key_and_value_swapped", f"({me}.q, {me}.v, {me}.k)", "`k` and `v` are swapped: keys are made by `k`, values by `v`."))
    at("masked_attention(query,", breaks, ("scaled_twice", "masked_attention(query / query.size(-1) ** 0.5,", "The scores are divided by √K twice: `masked_attention` does it already."))


def language_model(at: MistakesIn, block: str, norm: str, fewer_blocks: Breaks) -> None:
    """What goes wrong in a stack of blocks with a head: their class, the last norm, and what a missing block costs."""
    values, blocks = ("values", "gradients", "eps"), f"{block}(config) for _ in range(config.num_hidden_layers"
    at("self.token_embeddings(ids)", values, ("scaled_embeddings", "self.token_embeddings(ids) * self.token_embeddings.embedding_dim**0.5", "You multiply the tokens' vectors by √D, as the Transformer of 2017 does. Here they are taken as they are."))
    at(f"self.lm_head(self.{norm}(x))", values,
       ("no_head", f"self.{norm}(x)", "You return vectors, (B, T, D). The head makes logits of them, (B, T, V).", ("shape", *values)),
       ("softmax", f"self.lm_head(self.{norm}(x)).softmax(dim=-1)", "You return probabilities. The exercise asks for logits: loss and temperature make of them what they need."),
       ("log_softmax", f"self.lm_head(self.{norm}(x)).log_softmax(dim=-1)", "You return logarithms of probabilities. The exercise asks for the logits as the head gives them."))
    at(", bias=False)", ("values", "parameters", "eps"), ("head_with_bias", ")", "`lm_head` has a bias; it should have none."))
    at(f"nn.ModuleList({blocks}))", ("values", "parameters", "gradients", "eps"),
       ("plain_list", f"[{blocks})]", "PyTorch finds no blocks in your module. Those in a plain list, or made in `forward`, are neither trained nor saved: make them in `__init__`, in an `nn.ModuleList`."),
       ("one_block_too_few", f"nn.ModuleList({blocks} - 1))", "You make one block too few: {L} are needed, as `config.num_hidden_layers` says.", fewer_blocks),
       ("one_block_too_many", f"nn.ModuleList({blocks} + 1))", "You make one block too many: {L} are needed, as `config.num_hidden_layers` says."))

def other_chances(at: MistakesIn) -> None:
    """Another probability than `config.hidden_dropout_prob` in a module's dropout."""
    at("nn.Dropout(config.hidden_dropout_prob)", "dropout",
       ("dropout_of_a_tenth", "nn.Dropout(0.1)", "You drop with the probability 0.1. That is a usual value, but the config's need not be: take `config.hidden_dropout_prob`."),
       ("dropout_of_a_half", "nn.Dropout()", "You drop with the probability 0.5, which `nn.Dropout()` takes when it is told none. The config's is needed: `config.hidden_dropout_prob`."),
       ("dropout_of_attention", "nn.Dropout(config.attention_probs_dropout_prob)", "Your probability is the config's other one, `attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`."))


def axes_of_padding(at: MistakesIn, keys: str, breaks: Breaks, rows: Breaks) -> None:
    """New axes in the wrong places of a mask that hides padding among the keys, of which there are `keys`."""
    at("[:, None, None, :]", breaks,
       ("queries", "[:, None, :, None]", f"The padding is on the axis of the queries in your mask, as in (B, 1, {keys}, 1). It belongs on that of the keys, the last one: (B, 1, 1, {keys}). What a padding token itself looks at harms nobody.", rows),
       ("batch_as_heads", "[None, :, None, :]", "Your mask has the batch where the heads are, on axis 1. B comes first, and then an axis of size 1."),
       ("no_new_axes", "", f"Your condition still has the shape (B, {keys}). Shapes are matched from the right, so the batch would be taken for the queries. Two new axes go in between, (B, 1, 1, {keys}): `[:, None, None, :]`."))


# fmt: on
