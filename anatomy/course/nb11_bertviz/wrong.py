"""Wrong answers to the exercises of 11-bertviz."""

from __future__ import annotations

from anatomy.course.nb11_bertviz import right
from anatomy.engine.families import other_lengths, squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

STACK = "weights = torch.stack(attentions)  # (L, B, H, T, T)"
NO_MASK = "without a mask"
OTHER_MASKS = "Sentences get the padding of other sentences. (Do you join the layers along the batch, and repeat the mask with `repeat_interleave`? That repeats each sentence L times in a row. Joined layers have all sentences of one layer, then all of the next: `repeat`.)"
FILLED = """    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
"""


def in_averages(at: MistakesIn, total: str, counted: str, each: str, words: str, breaks: tuple[str, ...]) -> None:
    """What goes wrong where sentences are averaged, for each layer and each head.

    `total` is divided by the sum of `counted`, which are called `words`; `each` are the averages of the sentences.
    """
    shaped, average = ("shape", *breaks), f"{total} / {counted}.sum()"
    at(f"return {average}", shaped,
       ("mean_of_sentence_means", f"return ({each}).mean(dim=1)", f"You average each sentence first, then the sentences: a token of a short sentence counts more. All {words} of the batch count alike: one sum, divided by one number.", "padding"),
       ("one_for_each_sentence", f"return {each}", f"You return numbers for each sentence, (L, B, H). The average runs over the {words} of all sentences together: (L, H)."),
       ("layers_averaged", f"return ({average}).mean(dim=0)", "You average over the layers, too. The exercise asks for a number for each layer and each head, (L, H)."),
       ("heads_averaged", f"return ({average}).mean(dim=-1)", "You average over the heads, too. The exercise asks for a number for each layer and each head, (L, H)."),
       ("one_number", f"return ({average}).mean()", "You average over layers and heads, too, down to a single number. The exercise asks for one for each layer and each head, (L, H)."),
       ("transposed", f"return ({average}).T", "Layers and heads have changed places: your result is (H, L). The exercise asks for (L, H), a row for each layer."),
       ("list_of_rows", f"return list({average})", "You return the rows one by one, in a list or a tuple. The exercise asks for one tensor (L, H): `torch.stack`.", "shape"))
    at(f" / {counted}.sum()", breaks,
       ("not_divided", "", f"You return sums. The exercise asks for the average: divide by the number of {words}."),
       ("divided_by_sentences", f" / len({counted})", f"You divide by the number of sentences, {{B}}. Divide by the number of {words}."))
    at("sum(dim=(1, 3", shaped,
       ("heads_summed_queries_kept", "sum(dim=(1, 2", "You sum over the heads and keep the queries: your axes are (L, T). The axes of a layer are (B, H, T, T), in this order; keep H."),
       ("layers_summed_sentences_kept", "sum(dim=(0, 3", "You sum over the layers and keep the sentences: your axes are (B, H). Stacked, the layers are axis 0 and the sentences axis 1: keep axes 0 and 2."))
    at("torch.stack(attentions)", breaks, ("layers_from_the_top", "torch.stack(list(attentions)[::-1])", "Your layers are in reverse order. Row 0 belongs to the first of the list."))


def without_a_mask(at: MistakesIn, breaks: tuple[str, ...]) -> None:
    """What goes wrong where the mask may be left out; `breaks` are all properties of an exercise that is given one."""
    at("attention_mask: Tensor | None = None", NO_MASK, ("mask_demanded", "attention_mask: Tensor", "Your answer can't be called without a mask. `attention_mask` may be left out: give it the default None, as in the notebook."))
    at(FILLED, NO_MASK,
       ("none_not_replaced", "", "Without a mask your answer stops: it works on None as if it were a tensor. None means that all tokens are real: put a mask of ones, (B, T), in its place, and hand this one on."),
       ("or_for_none", "    attention_mask = attention_mask or torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)\n", "You ask the mask, a whole tensor, whether it is true (`attention_mask or …`, `if not attention_mask`): that stops whenever a mask is given. Ask only whether it is None: `if attention_mask is None:`.", breaks))
    at("torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)", NO_MASK,
       ("mask_guessed", "(attentions[0].sum(dim=(1, 2)) > 0).long()", "Without a mask you take some tokens for padding. None means that all tokens are real, also those that get no attention: ones, whatever the weights are."),
       ("mask_of_heads", "torch.ones(attentions[0].shape[:2], dtype=torch.long)", "Without a mask you make one whose last axis has H entries, a place for each head (`attentions[0].shape[:2]` is (B, H)). It needs a place for each token: ones, (B, T)."),
       ("zeros_for_none", "torch.zeros_like(attentions[0][:, 0, 0], dtype=torch.long)", "Without a mask your result is not the one that a mask of ones gives. None means that all tokens are real: put ones, (B, T), in its place (zeros would say that none is)."))


@MISTAKES.of(right.attention_to_offset)
def in_attention_to_offset(at):
    ALWAYS = ("values", "padding", "any offset")
    SHAPED = ("shape", *ALWAYS)
    MASK = " & real[:, :, None] & real[:, None, :]"
    PAIRS = "(places[None, :] == places[:, None] + offset)"
    SUM = "(weights * pairs[None, :, None]).sum(dim=(1, 3, 4))"
    SENTENCES = "(weights * pairs[None, :, None]).sum(dim=(3, 4))"
    COUNTS = "pairs.sum(dim=(1, 2))[None, :, None]"
    RESULT = f"return {SUM} / pairs.sum()"
    at("places[:, None] + offset", ALWAYS,
       ("sign_alone", "places[:, None] + ((offset > 0) - (offset < 0))", "Only the sign of your offset counts: −3 does the same as −1. The key is `offset` positions further on, however many these are.", ("padding", "any offset")),
       ("other_direction", "places[:, None] - offset", "You look in the other direction, from token t to token t − offset. An offset of −1 is the token before: query t (a row) meets key t + offset (a column)."),
       ("always_the_previous", "places[:, None] - 1", "You always look at the token before, whatever `offset` is.", ("padding", "any offset")),
       ("sign_dropped", "places[:, None] + abs(offset)", "You drop the offset's sign: whether −1 or 1, you look ahead. Only a positive offset looks ahead."),
       ("one_too_far", "places[:, None] + offset + 1", "You look one position too far ahead, at t + offset + 1."),
       ("one_too_near", "places[:, None] + offset - 1", "You look one position too far back, at t + offset − 1."))
    at(MASK, "padding",
       ("counts_padding", " & torch.ones_like(real)[:, :, None]", "Padding counts in your average: its queries look somewhere, too, and mean nothing. Count only pairs of which both tokens are real."),
       ("padding_keys_counted", " & real[:, :, None]", "You count pairs whose key is padding: nobody looks there, so they only pull the average down. Both tokens of a pair have to be real."),
       ("padding_queries_counted", " & real[:, None, :]", "You count pairs whose query is padding: its weights mean nothing. Both tokens of a pair have to be real."))
    at("/ pairs.sum()", ALWAYS,
       ("divided_by_all_queries", "/ real.sum()", "You divide by the number of real queries. Some have no token at that offset (nothing is before the first one); divide by the number of pairs."),
       ("divided_by_tokens_less_sentences", "/ (real.sum() - len(real))", "You divide by the number of real tokens less one for each sentence: that is the number of pairs at offsets −1 and 1 only. Divide by the number of pairs at this offset.", ("padding", "any offset")),
       ("negative_numbers_of_pairs", "/ (real.sum() - len(real) * abs(offset))", "You count n − |offset| pairs for each sentence of n tokens. For a sentence shorter than the offset that is a negative number; it has no pair at all (`clamp(min=0)`).", "padding"),
       ("divided_by_batch_and_length", "/ real.numel()", "You divide by B·T, all places of the batch. Divide by the number of pairs: positions whose token is real and has a real token at that offset."),
       ("short_sentences_count_once", "/ (real.sum(dim=1) - abs(offset)).clamp(min=1).sum()", "In the number that you divide by, a sentence without a token at that offset counts as one pair. It has none: `clamp(min=0)`.", "padding"),
       ("padding_in_the_denominator", "/ (len(real) * (len(places) - abs(offset)))", "You leave padding out of the sum, but not out of the number that you divide by: T − |offset| pairs a sentence are there only without padding.", "padding"),
       ("pairs_of_one_sentence", "/ pairs[0].sum()", "You divide the sum over the whole batch by the number of pairs in the first sentence. Divide by that of all sentences."))
    at(".sum(dim=(1, 3, 4)) / pairs.sum()", ALWAYS, ("divided_by_everything", ".mean(dim=(1, 3, 4))", "You divide by B·T·T, the number of all weights, also those at other offsets. Divide by the number of pairs with this offset."))
    at("pairs[None, :, None]", "padding", ("masks_of_other_sentences", "pairs.repeat_interleave(len(weights), dim=0).view(len(weights), *pairs.shape)[:, :, None]", OTHER_MASKS))
    at(SUM, "padding", ("padding_in_the_sum", "weights.diagonal(offset, -2, -1).sum(dim=(1, 3))", "You leave padding out of the number that you divide by, but not out of the sum: the weights of padding queries are still in it."))
    at(RESULT, SHAPED,
       ("mean_of_sentence_means_or_0", f"return ({SENTENCES} / {COUNTS}.clamp(min=1)).mean(dim=1)", "You average each sentence first, then the sentences: a token of a short sentence counts more, and a sentence without such a pair counts as 0. All pairs of the batch count alike: one sum, divided by one number.", "padding"),
       ("mean_of_sentence_means_that_exist", f"return ({SENTENCES} / {COUNTS}).nanmean(dim=1)", "You average each sentence first, then those sentences that have such a pair: a token of a short sentence counts more. All pairs of the batch count alike: one sum, divided by one number.", "padding"),
       ("one_for_each_query", "return (weights * pairs[None, :, None]).sum(dim=-1)", "You return what each query gives, (L, B, H, T). Average it over the pairs of all sentences: (L, H)."),
       ("layers_averaged_in_each_row", f"found = {SUM} / pairs.sum()\n    return found.mean(dim=0, keepdim=True).expand_as(found)", "All your rows are the same, the average over the layers. Row l belongs to layer l alone.", ALWAYS),
       ("first_sentence_only", "return (weights * pairs[None, :, None]).sum(dim=(3, 4))[:, 0] / pairs[0].sum()", "You look at the first sentence only. The average runs over all sentences of the batch.", ALWAYS),
       ("weights_of_0_not_counted", f"return {SUM} / (weights * pairs[None, :, None] > 0).sum(dim=(1, 3, 4))", "You divide by the number of weights that are not 0. A pair counts, too, when its weight is 0.", "values"),
       ("largest", "return (weights * pairs[None, :, None]).amax(dim=(1, 3, 4))", "You return the largest weight at that offset. The exercise asks for the average over all pairs.", ALWAYS))
    at(STACK, SHAPED,
       ("last_layer_only", "weights = attentions[-1][None]", "You look at the last layer only. The exercise asks for all {L}, one row each."),
       ("first_layer_only", "weights = attentions[0][None]", "You look at the first layer only. The exercise asks for all {L}, one row each."),
       ("weights_zeroed", f"{STACK}\n    for layer in attentions:\n        layer.masked_fill_(attention_mask[:, None, :, None] == 0, 0.0)", "You change the caller's `attentions` in place where tokens are padding (`weights[...] = 0`, `*=` or `masked_fill_` does that). Make a new tensor.", "padding"))
    at(("places[:, None] + offset", "/ pairs.sum()"), ("padding", "any offset"), ("always_the_previous_or_stopped", ("places[:, None] - 1", "* (1 / int(pairs.sum()))"), "You always look at the token before, whatever `offset` is; and you divide by zero where no token has one before it."))
    at(PAIRS, ALWAYS,
       ("both_sides", "((places[None, :] - places[:, None]).abs() == abs(offset))", "You take the tokens on both sides, at t + offset and t − offset. An offset has a sign: −1 is the token before, 1 the one after."),
       ("wraps_around", "(places[None, :] == (places[:, None] + offset) % len(places))", "Your offset wraps around: for the first token, the token before is the last one (`roll`, `% T`, or an index of −1). It has none before it, and is no pair."))
    at((PAIRS, MASK), ALWAYS,
       ("clamped", ("(places[None, :] == (places[:, None] + offset).clamp(0, len(places) - 1))", " & real[:, :, None]"), "Where t + offset lies outside the text you take the token at its end (`clamp`). Such a query has no token at that offset, and is no pair."),
       ("negative_index", ("((places[None, :] - places[:, None] - offset) % len(places) == 0) & ((places[:, None] + offset) < len(places))", " & real[:, :, None] & (real[:, None, :] | (places[:, None] + offset < 0))"), "For the first tokens your t + offset is negative, and Python counts a negative index from the end: they meet a token there. They have none at that offset; leave such pairs out."))
    at("places[None, :] ==", ALWAYS,
       ("all_up_to_there", "places[None, :] <=", "You take all tokens up to t + offset, not only the one at that position."),
       ("all_from_there", "places[None, :] >=", "You take all tokens from t + offset on, not only the one at that position."),
       ("all_others", "places[None, :] !=", "You take the tokens at all other positions; asked is the one at t + offset."))
    at("real = attention_mask.bool()", "padding", ("padding_up_to_the_longest", "real = (places < attention_mask.sum(dim=1).max()).expand_as(attention_mask)", "Up to the length of the longest sentence, the padding of shorter ones counts in your average. Each sentence has a length of its own: count only pairs of which both tokens are real."))
    at("real = attention_mask.bool()", "values", ("mask_guessed", "real = weights[0].sum(dim=(1, 2)) > 0", "You take some real tokens for padding, going by the weights. A real token may get no attention, too: only `attention_mask` says which are real."))
    at("real = attention_mask.bool()", ALWAYS, ("ends_left_out", "real = attention_mask.bool() & (places > 0) & (places < attention_mask.sum(dim=1, keepdim=True) - 1)", "You leave out pairs with the first or the last real token of a sentence. [CLS] and [SEP] are real tokens here."))
    at("return (", ALWAYS, ("percent", "return 100 * (", "You return percent. The exercise asks for shares, between 0 and 1."))
    squeezed(at, ("shape", "values"), "is (L, H), also for one layer or one head")
    in_averages(at, SUM, "pairs", f"{SENTENCES} / {COUNTS}", "pairs", ALWAYS)


@MISTAKES.of(right.head_entropy)
def in_head_entropy(at):
    ALWAYS = ("values", "padding")
    SHAPED = ("shape", *ALWAYS)
    ENTROPY = "attention_entropy(torch.stack(attentions))"
    SUM = "(entropy * real).sum(dim=(1, 3))"
    RESULT = f"return {SUM} / real.sum()"
    at(RESULT, SHAPED,
       ("counts_padding", "return entropy.mean(dim=(1, 3))", "Padding queries count in your average. Their weights mean nothing: average over real queries only.", "padding"),
       ("entropies_of_0_not_counted", f"return {SUM} / (entropy * real > 0).sum(dim=(1, 3))", "You divide by the number of queries whose entropy is not 0. A real query counts, too, when it looks at one token only.", "padding"),
       ("entropies_above_0_counted", f"return {SUM} / (entropy > 0).sum(dim=(1, 3))", "You divide by the number of entropies above 0, padding's among them. Divide by the number of real queries.", "padding"),
       ("one_for_each_query", "return entropy", "You return the entropy of each query, (L, B, H, T). Average it over the real ones: (L, H)."),
       ("reshaped_without_exchange", "entropy = entropy.reshape(entropy.size(0), entropy.size(2), -1)  # (L, H, B·T), it seems\n    return entropy[:, :, attention_mask.bool().flatten()].mean(dim=-1)", "Sentences and heads are mixed up: `reshape` and `view` give (L, B, H, T) new sizes without moving a number. Exchange the axes first, `transpose(1, 2)`: (L, H, B, T).", ALWAYS),
       ("first_sentence_only", "return (entropy * real)[:, 0].sum(dim=-1) / real[0].sum()", "You look at the first sentence only. The average runs over all sentences of the batch.", ALWAYS),
       ("first_query_only", "return entropy[..., 0].mean(dim=1)", "You look at the first query of each sentence only. The average runs over all real queries.", ALWAYS),
       ("exponential", f"return ({SUM} / real.sum()).exp()", "You return the exponential of the average, roughly the number of tokens that a head attends to. The exercise asks for the entropy, in nats.", ALWAYS),
       ("largest", "return (entropy * real).amax(dim=(1, 3))", "You return the largest entropy of all real queries. The exercise asks for the average.", ALWAYS))
    at("/ real.sum()", ALWAYS,
       ("padding_in_the_denominator", "/ real.numel()", "You leave padding out of the sum, but divide by all B·T positions. Divide by the number of real queries.", "padding"),
       ("divided_by_log_t", "/ real.sum() / torch.tensor(real.size(-1)).log()", "You divide by log T, so that 1 is the most there can be. The exercise asks for the entropy in nats, as it is."))
    for name, by in (("", "attention_mask.sum()"), ("_and_divided_by_them", "real.sum(dim=(1, 3))")):
        at(("attention_mask.bool()[:, None]", "/ real.sum()"), "padding", (f"masks_of_other_sentences{name}", ("attention_mask.bool().repeat_interleave(len(attentions), dim=0).view(-1, *attention_mask.shape)[:, :, None]", f"/ {by}"), OTHER_MASKS))
    at(SUM, "padding", ("padding_in_the_sum", "entropy.sum(dim=(1, 3))", "You divide by the number of real queries, but the entropies of padding queries are still in the sum."))
    at(ENTROPY, ALWAYS,
       ("divided_by_log_of_length", f"{ENTROPY} / attention_mask.sum(dim=1).log().clamp(min=1e-6)[:, None, None]", "You divide by the logarithm of each sentence's number of tokens, so that 1 is the most there can be. The exercise asks for the entropy in nats, as it is."),
       ("divided_by_log_of_length_or_0", f"{ENTROPY} / attention_mask.sum(dim=1).log()[:, None, None]", "You divide by the logarithm of each sentence's number of tokens (which for a single token is 0). The exercise asks for the entropy in nats, as it is."),
       ("sum_of_squares", "torch.stack(attentions).pow(2).sum(dim=-1)", "You sum up squares of weights. The entropy is −Σ p·log p."),
       ("one_minus_squares", "1 - torch.stack(attentions).pow(2).sum(dim=-1)", "You take 1 − Σ p², the chance that two draws differ. The entropy is −Σ p·log p."),
       ("log_of_squares", "-torch.stack(attentions).pow(2).sum(dim=-1).log()", "You take −log Σ p². The entropy is −Σ p·log p: the logarithm first, then the sum."),
       ("log_of_the_largest", "-torch.stack(attentions).amax(dim=-1).log()", "You take −log of the largest weight. The entropy is −Σ p·log p, over all keys."),
       ("variance", "torch.stack(attentions).var(dim=-1)", "You measure the variance of the weights. The exercise asks for their entropy, −Σ p·log p."))
    at("torch.stack(attentions)", SHAPED, ("last_layer_only", "attentions[-1][None]", "You look at the last layer only. The exercise asks for all {L}, one row each."))
    at(("entropy = " + ENTROPY + "  # (L, B, H, T)", RESULT), ALWAYS, ("entropy_of_the_mean", ("weights = torch.stack(attentions)  # (L, B, H, T, T)", "return attention_entropy((weights * real[..., None]).sum(dim=(1, 3)) / real.sum())"), "You average the weights over the queries and take the entropy of that average. First comes each query's entropy, then the average: a head may look at one token each time, and each time at another."))
    at("return ", ALWAYS, ("distance_from_uniform", "return torch.log(torch.tensor(float(attention_mask.size(1)))) - ", "You return log T minus the entropy: how far the weights are from being all alike. The exercise asks for the entropy."))
    at("attention_mask.bool()[:, None]", "padding", ("padding_up_to_the_longest", "(torch.arange(attention_mask.size(1)) < attention_mask.sum(dim=1).max()).expand_as(attention_mask)[:, None]", "Up to the length of the longest sentence, the padding of shorter ones counts in your average. Each sentence has a length of its own: average over real queries only."))
    at("    entropy = attention_entropy", "padding", ("weights_zeroed", "    for layer in attentions:\n        layer.masked_fill_(attention_mask[:, None, :, None] == 0, 0.0)\n    entropy = attention_entropy", "You change the caller's `attentions` in place where tokens are padding (`weights[...] = 0`, `*=` or `masked_fill_` does that). Make a new tensor."))
    at("attention_mask.bool()[:, None]", ALWAYS, ("ends_left_out", "((attention_mask.cumsum(1) > 1) & (attention_mask.flip(1).cumsum(1).flip(1) > 1))[:, None]", "You leave out the first and the last real query of each sentence. [CLS] and [SEP] are real tokens here."))
    squeezed(at, ("shape", "values"), "is (L, H), also for one layer or one head")
    in_averages(at, SUM, "real", "(entropy * real).sum(dim=3) / real.sum(dim=2)", "real queries", ALWAYS)


@MISTAKES.of(right.head_statistics)
def in_head_statistics(at):
    EDGES = "first and last"
    ALL = ("neighbors", EDGES, "entropy")
    FIRST = "(to_first * real[:, None]).sum(dim=(1, 3)) / real.sum()"
    LAST = "(to_last * real[:, None, None]).sum(dim=(0, 3)) / real.sum()"
    at(("torch.ones_like(attentions[0][:, 0, 0]", "sentences = torch.arange(len(real))"), NO_MASK, ("mask_of_one_sentence", ("torch.ones_like(attentions[0][:1, 0, 0]", "sentences = torch.arange(weights.size(1))"), "Without a mask your result is not the one that a mask of ones, (B, T), gives. (A mask of one sentence, (1, T), fits any batch by broadcasting, but what you divide by is then counted in one sentence only.)"))
    at(("attention_mask, -1", "attention_mask, 1"), "neighbors",
       ("previous_and_next_swapped", ("attention_mask, 1", "attention_mask, -1"), "“previous” and “next” have changed places. The token before is at offset −1, the one after at offset 1."),
       ("two_places_away", ("attention_mask, -2", "attention_mask, 2"), "“previous” and “next” are two positions away, at offsets −2 and 2. Neighbors are at −1 and 1."))
    at("attention_mask, -1", "neighbors", ("previous_is_itself", "attention_mask, 0", "“previous” is the attention to the token itself. The token before is at offset −1."))
    at("attention_mask, 1)", "neighbors",
       ("next_is_itself", "attention_mask, 0)", "“next” is the attention to the token itself. The token after is at offset 1."),
       ("next_is_previous", "attention_mask, -1)", "“next” is the attention to the token before. The token after is at offset 1."))
    at("attention_mask, -1)", "neighbors", ("previous_is_next", "attention_mask, 1)", "“previous” is the attention to the token after. The token before is at offset −1."))
    at("attention_mask, 0", "neighbors",
       ("itself_is_next", "attention_mask, 1", "“itself” is the attention to the token after. Itself is offset 0."),
       ("itself_is_previous", "attention_mask, -1", "“itself” is the attention to the token before. Itself is offset 0."))
    at(("attention_mask, -1", "attention_mask, 0", "attention_mask, 1"), "neighbors",
       ("offsets_from_0", ("attention_mask, 0", "attention_mask, 1", "attention_mask, 2"), "Your offsets are 0, 1 and 2. The token before is at −1, the token itself at 0, the one after at 1."),
       ("no_mask_for_neighbors", ("torch.ones_like(attention_mask), -1", "torch.ones_like(attention_mask), 0", "torch.ones_like(attention_mask), 1"), "Padding counts in “previous”, “itself” and “next”. Only pairs of real tokens do: `attention_to_offset` needs your `attention_mask`."))
    at("real = attention_mask.bool()", ALL, ("padding_counts_everywhere", "attention_mask = torch.ones_like(attention_mask)\n    real = attention_mask.bool()", "Padding counts in all your averages. Hand the attention mask on: only real queries count, and “last” is the last real token."))
    at("head_entropy(attentions, attention_mask)", "entropy",
       ("no_mask_for_entropy", "head_entropy(attentions, torch.ones_like(attention_mask))", "Padding counts in “entropy”. Only real queries do: `head_entropy` needs your `attention_mask`."),
       ("entropy_in_bits", "head_entropy(attentions, attention_mask) / torch.log(torch.tensor(2.0))", "“entropy” is in bits. The exercise asks for nats: `head_entropy` gives them."),
       ("sharpness", "-head_entropy(attentions, attention_mask)", "Under “entropy” the sign is the other one: yours is largest for a head that looks at one token. The exercise asks for the entropy as `head_entropy` gives it."))
    at((FIRST, LAST), EDGES,
       ("padding_counts_in_first_and_last", ("to_first.mean(dim=(1, 3))", "to_last.mean(dim=(0, 3))"), "Padding queries count in “first” and “last”. Average over real queries only."),
       ("without_own_queries", ("(to_first * real[:, None])[..., 1:].sum(dim=(1, 3)) / (real.sum() - len(real))", "(to_last * (real & (torch.arange(real.size(1)) < real.sum(dim=1, keepdim=True) - 1))[:, None, None]).sum(dim=(0, 3)) / (real.sum() - len(real))"), "“first” leaves out the first token's own query, “last” the last one's. All real queries count."),
       ("mean_of_sentence_means", ("((to_first * real[:, None]).sum(dim=3) / real.sum(dim=1)[:, None]).mean(dim=1)", "((to_last * real[:, None, None]).sum(dim=3) / real.sum(dim=1)[:, None, None]).mean(dim=0)"), "“first” and “last” are averaged within each sentence, then over the sentences: a query of a short sentence counts more. All real queries of the batch count alike."),
       ("neither_divided", ("(to_first * real[:, None]).sum(dim=(1, 3))", "(to_last * real[:, None, None]).sum(dim=(0, 3))"), "“first” and “last” are sums over the queries. The exercise asks for averages: divide by the number of real queries."))
    at(FIRST, EDGES,
       ("padding_counts_in_first", "to_first.mean(dim=(1, 3))", "Padding queries count in “first”. Average over real queries only."),
       ("first_without_itself", "(to_first * real[:, None])[..., 1:].sum(dim=(1, 3)) / (real.sum() - len(real))", "“first” leaves out the first token's own query. All real queries count, also the first one."),
       ("mean_of_sentence_means_in_first", "((to_first * real[:, None]).sum(dim=3) / real.sum(dim=1)[:, None]).mean(dim=1)", "“first” is averaged within each sentence, then over the sentences: a query of a short sentence counts more. All real queries of the batch count alike."),
       ("first_not_divided", "(to_first * real[:, None]).sum(dim=(1, 3))", "“first” is a sum over the queries. The exercise asks for the average: divide by the number of real queries."),
       ("one_for_each_sentence", "(to_first * real[:, None]).sum(dim=3) / real.sum(dim=1)[:, None]", "“first” is a number for each sentence, too. The average runs over the real queries of all sentences together: (L, H)."))
    at(LAST, EDGES,
       ("padding_counts_in_last", "to_last.mean(dim=(0, 3))", "Padding queries count in “last”. Average over real queries only."),
       ("mean_of_sentence_means_in_last", "((to_last * real[:, None, None]).sum(dim=3) / real.sum(dim=1)[:, None, None]).mean(dim=0)", "“last” is averaged within each sentence, then over the sentences: a query of a short sentence counts more. All real queries of the batch count alike."),
       ("last_without_itself", "(to_last * (real & (torch.arange(real.size(1)) < real.sum(dim=1, keepdim=True) - 1))[:, None, None]).sum(dim=(0, 3)) / (real.sum() - len(real))", "“last” leaves out the last token's own query. All real queries count, also the last one."),
       ("one_less_a_sentence_in_last", "(to_last * real[:, None, None]).sum(dim=(0, 3)) / (real.sum() - len(real))", "“last” is divided by one less for each sentence, n − 1, as if these were pairs of neighbors. All n real queries count."),
       ("last_not_divided", "(to_last * real[:, None, None]).sum(dim=(0, 3))", "“last” is a sum over the queries. The exercise asks for the average: divide by the number of real queries."))
    at("real.sum(),", EDGES,
       ("divided_by_sentences", "len(real),", "“first” and “last” are divided by the number of sentences. Divide by the number of real queries."),
       ("padding_in_the_denominator", "real.numel(),", "“first” and “last” are divided by all B·T positions. Divide by the number of real queries."),
       ("one_less_a_sentence", "(real.sum() - len(real)),", "“first” and “last” are divided by one less for each sentence, n − 1, as if they were pairs of neighbors. All n real queries count."), times=2)
    at("weights[:, sentences, :, :, real.sum(dim=1) - 1]  # (B, L, H, T): indexed axes come first", EDGES, ("last_is_the_last_place", "weights[..., -1].transpose(0, 1)", "Sentences with padding add nothing to your “last”: there it looks at a padding position, such as T − 1, which has the weight 0. The last real token of sentence b is at position `attention_mask[b].sum() - 1`."))
    at("real.sum(dim=1) - 1", EDGES,
       ("last_of_the_longest", "real.sum(dim=1).amax().expand(len(real)) - 1", "Sentences shorter than the longest add nothing to your “last”: there it looks at padding, such as the last position of the longest. Each sentence has its own last real token, at `attention_mask.sum(dim=1) - 1`."),
       ("last_of_the_first_sentence", "real.sum(dim=1)[:1].expand(len(real)) - 1", "You use the length of the first sentence for all. Each has its own last real token, at `attention_mask.sum(dim=1) - 1`."),
       ("last_of_the_last_sentence", "real.sum(dim=1)[-1:].expand(len(real)) - 1", "You use the length of the last sentence for all. Each has its own last real token, at `attention_mask.sum(dim=1) - 1`."),
       ("last_of_the_shortest", "real.sum(dim=1).amin().expand(len(real)) - 1", "You use the length of the shortest sentence for all. Each has its own last real token, at `attention_mask.sum(dim=1) - 1`."),
       ("last_is_first", "real.int().argmax(dim=1)", "“last” is the attention to the first token, as under “first”. (`argmax` of the mask would find the first 1, not the last.) The last real token of sentence b is at position `attention_mask[b].sum() - 1`."),
       ("lengths_over_the_sentences", "real.sum(dim=0)[: len(real)] - 1", "You sum the mask over the sentences (`dim=0`): that is how many sentences reach a position. A sentence's length is the sum over its positions, `sum(dim=1)`.", (EDGES, "without a mask")),
       ("first_where_nothing_is_padded", "(real.sum(dim=1) - 1).where(~real.all(dim=1), 0)", "For a sentence without padding your “last” is its first token. (Do you look for the place where the mask falls from 1 to 0? There it never falls.) The last real token of every sentence is at `attention_mask.sum(dim=1) - 1`."),
       ("last_but_one", "real.sum(dim=1) - 2", "“last” is the attention to the last token but one. Positions are counted from 0: a sentence of n tokens ends at position n − 1."),
       ("behind_the_last", "real.sum(dim=1)", "You look at the position after the last real token. Positions are counted from 0: a sentence of n tokens ends at position n − 1.", ("names", *ALL, NO_MASK)))
    SLICED = "torch.stack([weights[:, one, :, :, : count - 1][..., -1] for one, count in enumerate(real.sum(dim=1).tolist())])"
    SLICE = "“last” is the attention to the last token but one, and a sentence of one token stops yours. (Do you slice up to n − 1? A slice leaves out its end: `[:n]` ends with the last of n tokens.)"
    at("weights[:, sentences, :, :, real.sum(dim=1) - 1]", EDGES,
       ("last_but_one_of_a_slice", SLICED, SLICE),
       ("axes_of_last_reshaped", "weights[:, sentences, :, :, real.sum(dim=1) - 1].reshape(weights.shape[:-1]).transpose(0, 1)", "Under “last” layers and sentences are mixed: you `reshape` (or `view`) (B, L, H, T) to (L, B, H, T), which moves no axes. `transpose(0, 1)` moves them."))
    at(("weights[:, sentences, :, :, real.sum(dim=1) - 1]", FIRST), EDGES, ("last_but_one_of_a_slice_and_padding_counts_in_first", (SLICED, "to_first.mean(dim=(1, 3))"), f"Two mistakes at once. {SLICE} And padding queries count in “first”: average over real queries only."))
    at(('"first":', '"last":'), ("names", EDGES),
       ("first_and_last_swapped", ('"last":', '"first":'), "“first” and “last” have changed places.", EDGES),
       ("names_of_special_tokens", ('"[CLS]":', '"[SEP]":'), "Two names are other than asked: “[CLS]” and “[SEP]” for “first” and “last”."),
       ("cls_and_sep", ('"cls":', '"sep":'), "Two names are other than asked: “cls” and “sep” for “first” and “last”."))
    at("weights[..., 0]", EDGES,
       ("second_for_first", "weights[..., 1]", "“first” is the attention to the second token. Positions are counted from 0."),
       ("from_first", "weights[..., 0, :]", "“first” is what the first token looks at. The exercise asks how much the tokens look at it: column 0 of the weights, not row 0."))
    at(("weights[..., 0]", "[:, sentences, :, :, real"), EDGES, ("from_first_and_last", ("weights[..., 0, :]", "[:, sentences, :, real"), "“first” and “last” are the same for all your heads: the number of sentences by that of real queries, since you add up whole rows, and each sums to one. A row is what a token looks at. The exercise asks how much all real queries look at the first and at the last token: columns."))
    at("[:, sentences, :, :, real", EDGES, ("from_last", "[:, sentences, :, real", "“last” is what the last token looks at. The exercise asks how much the tokens look at it: a column of the weights, not a row."))
    at("attention_to_offset(attentions, attention_mask, 0)", "neighbors", ("itself_is_the_rest", "1 - attention_to_offset(attentions, attention_mask, -1) - attention_to_offset(attentions, attention_mask, +1)", "“itself” is 1 less “previous” and “next”: what goes to all other tokens is in it, too. Itself is offset 0."))
    at("real[:, None, None]).sum(dim=(0, 3))", ("names", *ALL, NO_MASK), ("axes_of_last_for_the_mask", "real[:, None]).sum(dim=(1, 3))", "Under “last” the axes don't fit the mask: you have (B, L, H, T) and treat it as (L, B, H, T). An index with a list of sentences and a list of positions (`weights[:, sentences, :, :, positions]`) puts the indexed axis in front, and so does `torch.stack` over sentences."))
    at("real[:, None, None]).sum(dim=(0, 3))", EDGES, ("axes_of_last", "real[:, None, None]).sum(dim=(1, 3))", "Under “last” the axes are mixed up: an index with a list of sentences and a list of positions (`weights[:, sentences, :, :, positions]`) puts the indexed axis in front, (B, L, H, T), and so does `torch.stack` over sentences."))
    at('"previous": ', ("names", "neighbors"), ("short_name", '"prev": ', "One name is other than asked: “prev” for “previous”."))
    at('"itself": ', ("names", "neighbors"), ("self_for_itself", '"self": ', "One name is other than asked: “self” for “itself”."))
    at('        "entropy": head_entropy(attentions, attention_mask),\n', ("names", "entropy"), ("no_entropy", "", "“entropy” is missing."))
    at('        "itself": attention_to_offset(attentions, attention_mask, 0),\n', ("names", "neighbors"), ("no_itself", "", "“itself” is missing."))
    at((f'        "first": {FIRST},\n', f'        "last": {LAST},\n'), ("names", EDGES), ("no_first_and_last", ("", ""), "“first” and “last” are missing."))
    at(("return {", "head_entropy(attentions, attention_mask),\n    }"), ("names", *ALL),
       ("lists", ("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return {name: value.tolist() for name, value in found.items()}"), "Each name has a list. The exercise asks for tensors (L, H): no `tolist()`, and `torch.stack` for rows in a list."),
       ("tuple", ("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return tuple(found.values())"), "You return the values without their names. The exercise asks for a dict, name → tensor (L, H)."),
       ("stacked", ("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return torch.stack(list(found.values()))"), "You stack the values into one tensor. The exercise asks for a dict, name → tensor (L, H)."),
       ("heads_averaged", ("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return {name: value.mean(dim=-1) for name, value in found.items()}"), "Each of your tensors is averaged over the heads. The exercise asks for a number for each layer and each head, (L, H).", ALL),
       ("transposed", ("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return {name: value.T for name, value in found.items()}"), "Layers and heads have changed places in each of your tensors, (H, L). The exercise asks for (L, H), a row for each layer.", ALL))
    at(STACK, ALL, ("last_layer_only", "attentions = [attentions[-1]]\n    weights = torch.stack(attentions)", "You look at the last layer only. The exercise asks for all {L}, one row each."))
    without_a_mask(at, ("names", *ALL))


@MISTAKES.of(right.find_previous_token_head)
def in_find_previous_token_head(at):
    NUMBERS = ("values", "padding")
    EVERYTHING = (*NUMBERS, "Python numbers")
    SHARES = "attention_to_offset(attentions, attention_mask, -1)"
    FOUND = "layer, head = divmod(int(shares.argmax()), shares.size(1))"
    at("attention_mask, -1", NUMBERS,
       ("next_token_head", "attention_mask, 1", "You search at offset 1, for the head that looks at the token after. The token before is at offset −1."),
       ("itself", "attention_mask, 0", "You search at offset 0, for the head in which tokens look at themselves. The token before is at offset −1."),
       ("two_before", "attention_mask, -2", "You search at offset −2. The token before is at offset −1."))
    at("attentions, attention_mask, -1", "padding", ("counts_padding", "attentions, torch.ones_like(attention_mask), -1", "Padding counts in your averages. Both tokens of a pair have to be real: `attention_to_offset` needs the mask that you are given, as it comes. Ones take its place only where it is None."))
    at(SHARES, "padding",
       ("mean_of_sentence_means", "torch.stack([attention_to_offset([layer[b : b + 1] for layer in attentions], attention_mask[b : b + 1], -1) for b in range(len(attention_mask))]).mean(dim=0)", "You average each sentence first, then the sentences: the tokens of short sentences count more. All pairs of the batch count alike, as in `attention_to_offset`."),
       ("largest_single_weight", "torch.stack([(layer * attention_mask[:, None, :, None]).diagonal(-1, -2, -1).amax(dim=(0, 2)) for layer in attentions])", "You search for the largest single weight. A head may look back once with all its weight, and never again: search by the average.", NUMBERS),
       ("most_often_the_favorite", "torch.stack([((layer.argmax(dim=-1) == torch.arange(layer.size(-1)) - 1) * attention_mask[:, None]).float().mean(dim=(0, 2)) for layer in attentions])", "You count how often the token before has the largest weight. The exercise asks how much attention it gets on average.", "values"))
    at(SHARES, "values", ("median", "torch.stack([torch.cat([rows[:, 1:length].diagonal(dim1=-2, dim2=-1) for rows, length in zip(layer, attention_mask.sum(dim=1).tolist())], dim=-1).sort(dim=-1).values[:, int((attention_mask.sum(dim=1) - 1).sum()) // 2] for layer in attentions])", "You compare medians over the queries. The exercise asks for the average: the mean over all pairs of the batch."))
    at("return layer, head", EVERYTHING,
       ("swapped", "return head, layer", "Layer and head have changed places. The exercise asks for (layer, head).", NUMBERS),
       ("counted_from_1", "return layer + 1, head + 1", "You count from 1. Layers and heads are counted from 0.", NUMBERS),
       ("layer_counted_from_1", "return layer + 1, head", "You count layers from 1. Layers, too, are counted from 0.", NUMBERS),
       ("layers_from_the_top", "return len(shares) - 1 - layer, head", "You count layers from the last one. Layer 0 is the first of the list.", NUMBERS),
       ("tensors", "return torch.tensor(layer), torch.tensor(head)", "Your two numbers are tensors. The exercise asks for Python numbers, which print as such: `int(…)`, `.item()` or `.tolist()`.", "Python numbers"),
       ("floats", "return float(layer), float(head)", "You return numbers with a decimal point. Nothing can be indexed with them: `int(…)`, or `//` for `/`.", "Python numbers"),
       ("words", 'return f"layer {layer}, head {head}"', "You return text. The exercise asks for two numbers, (layer, head)."),
       ("with_its_share", "return layer, head, shares.max().item()", "You return the share, too. The exercise asks for a pair, (layer, head)."),
       ("layer_only", "return layer", "You return the layer alone. The exercise asks for a pair, (layer, head)."),
       ("head_only", "return head", "You return the head alone. The exercise asks for a pair, (layer, head)."),
       ("dict", 'return {"layer": layer, "head": head}', "You return a dict. Asked is a pair, (layer, head)."))
    at(FOUND + "\n    return layer, head", EVERYTHING,
       ("flat", "return int(shares.argmax())", "You return the position in the table read row by row, a single number (`argmax` gives that). The layer is that number divided by the number of heads, the head is the remainder: `divmod`."),
       ("share", "return shares.max().item()", "You return how much the head attends. The exercise asks which one it is, (layer, head)."),
       ("best_of_each_layer", "return [(layer, int(row.argmax())) for layer, row in enumerate(shares)]", "You return the best head of each layer. The exercise asks for the one best of all, (layer, head)."))
    at("shares.size(1)", NUMBERS,
       ("divided_by_layers", "shares.size(0)", "You divide the flat index by the number of layers. A row of (L, H) has H entries: divide by the number of heads."),
       ("heads_of_bert", "12", "You divide the flat index by 12, the number of heads in BERT base and in the course's model. Take the number of heads from the shape."),
       ("divided_by_sentences", "len(attention_mask)", "You divide the flat index by the number of sentences, {B}. A row of (L, H) has H entries: divide by the number of heads."))
    at(FOUND, NUMBERS,
       ("true_division", "head = int(shares.argmax()) % shares.size(1)\n    layer = int(shares.argmax()) / shares.size(1)", "Your layer is not a whole number: `/` gives fractions. Layers are counted: `//`, or `divmod`.", EVERYTHING),
       ("best_means", "layer, head = int(shares.mean(dim=1).argmax()), int(shares.mean(dim=0).argmax())", "You choose the layer with the best mean over its heads, and the head with the best mean over the layers. A single head may be the best in a layer that is not: search the table (L, H) as a whole.", "values"),
       ("best_layer_then_head", "layer = int(shares.mean(dim=1).argmax())\n    head = int(shares[layer].argmax())", "You choose the layer with the best mean first, then a head in it. A single head may be the best in a layer that is not: search the table (L, H) as a whole.", "values"),
       ("best_head_then_layer", "head = int(shares.mean(dim=0).argmax())\n    layer = int(shares[:, head].argmax())", "You choose the head number with the best mean over the layers first, then a layer. Head 3 of one layer has nothing to do with head 3 of another: search the table (L, H) as a whole.", "values"),
       ("first_above_half", "above = (shares > 0.5).nonzero().tolist()\n    if not above:\n        return None\n    layer, head = above[0]", "You return the first head above 0.5 (nothing where there is none). Another one may attend more, and the best may be far below 0.5: `argmax`.", ("values", "Python numbers")),
       ("compared_with_the_first", "layer, head = ([[0, 0]] + (shares > shares[0, 0]).nonzero().tolist())[-1]", "You compare each head with head 0 of layer 0, and keep the last that attends more. A loop that searches has to remember the best share so far, and compare with that."),
       ("last_of_all", "layer, head = shares.size(0) - 1, shares.size(1) - 1", "You return the last head of the last layer, whatever the weights. A loop that searches has to remember the best share so far."),
       ("first_layer_only", "layer, head = 0, int(shares[0].argmax())", "Yours is always the best head of the first layer. The head may be in any layer: search them all."),
       ("last_layer_only", "layer, head = len(shares) - 1, int(shares[-1].argmax())", "Yours is always the best head of the last layer. The head may be in any layer: search them all, and don't forget the best share so far when a layer ends."),
       ("layers_averaged", "layer, head = 0, int(shares.mean(dim=0).argmax())", "You average over the layers before you search, and call the layer 0. A head belongs to its layer: search the table (L, H) as a whole."))
    for name, start in (("nothing", ""), ("none", "place = None"), ("minus_one", "place = -1, -1")):
        at(FOUND + "\n    return layer, head", "values", (f"search_from_zero_finds_{name}", f"""best = 0.0
    {start}
    for layer, row in enumerate(shares.tolist()):
        for head, share in enumerate(row):
            if share > best:
                best, place = share, (layer, head)
    return place""", "Your search begins with 0 as the best share and wants more: where the only head never looks back, it finds none. Let it begin with −1, or use `argmax`."))
    at("argmax", NUMBERS, ("least", "argmin", "You find the head that attends least to the token before. The exercise asks for the one that attends most: `argmax`."))
    at("shares.argmax()", "values",
       ("nothing_below_half", "(shares * (shares > 0.5)).argmax()", "Where no head has more than 0.5 you return (0, 0). The best may be far below 0.5: let a search begin with −1, or use `argmax`."),
       ("nothing_below_a_tenth", "(shares * (shares > 0.1)).argmax()", "Where all averages are low, as 0.05, you return (0, 0). The best may be as low: let a search begin with −1, or use `argmax`."),
       ("first_above_half_or_first", "(shares > 0.5).int().argmax()", "You return the first head above 0.5, and (0, 0) where there is none. Another one may attend more, and the best may be far below 0.5: `argmax`."))
    at("int(shares.argmax())", (*EVERYTHING, NO_MASK), ("divmod_of_a_tensor", "shares.argmax()", "`divmod` does not take a tensor. Make a number of it first: `int(shares.argmax())`."))
    without_a_mask(at, EVERYTHING)


@MISTAKES.of(right.attention_between)
def in_attention_between(at):
    SHAPE = ("shape", "values")
    STACKED = "return torch.stack(rows, dim=-2)"
    at("torch.stack(rows, dim=-2)", "values",
       ("transposed", "torch.stack(rows, dim=-1)", "Who looks and who is looked at have changed places: […, i, j] is what sentence j gives to sentence i. Row i is the sentence that looks."),
       ("four_in_a_row", "torch.cat(rows, dim=-1)", "The four shares are in a row, (L, H, 4). The exercise asks for (L, H, 2, 2): a row for the sentence that looks, a column for the one it looks at.", SHAPE))
    at("halves = (slice(None, sentence_b_start), slice(sentence_b_start, None))", "values",
       ("boundary_too_late", "halves = (slice(None, sentence_b_start + 1), slice(sentence_b_start + 1, None))", "Your sentence A has a token too many: the token at `sentence_b_start` is the first of B. A is `[:sentence_b_start]`."),
       ("boundary_too_early", "halves = (slice(None, sentence_b_start - 1), slice(sentence_b_start - 1, None))", "Your sentence A has a token too few: all tokens before `sentence_b_start` are A, `[:sentence_b_start]`."),
       ("special_tokens_lost", "halves = (slice(1, sentence_b_start - 1), slice(sentence_b_start, -1))", "You leave out the first token, the one before `sentence_b_start` and the last: [CLS] and both [SEP]. Each token belongs to one of the two: `[:sentence_b_start]` or `[sentence_b_start:]`."),
       ("a_and_b_swapped", "halves = (slice(sentence_b_start, None), slice(None, sentence_b_start))", "A and B have changed places. Index 0 is A, what is before `sentence_b_start`; index 1 is B."))
    at("slice(sentence_b_start, None)", "values",
       ("b_from_the_end", "slice(-sentence_b_start, None)", "Your sentence B is the last `sentence_b_start` tokens. It is all from position `sentence_b_start` on: `[sentence_b_start:]`, without a minus."),
       ("boundary_token_lost", "slice(sentence_b_start + 1, None)", "The token at `sentence_b_start` is in neither sentence. It is the first of B, `[sentence_b_start:]`."),
       ("last_token_lost", "slice(sentence_b_start, -1)", "The last token is in neither sentence (`[…:-1]` leaves it out). B goes to the end: `[sentence_b_start:]`."))
    at("slice(None, sentence_b_start)", "values",
       ("boundary_token_twice", "slice(None, sentence_b_start + 1)", "The token at `sentence_b_start` counts in both sentences. It belongs to B: A is `[:sentence_b_start]`."),
       ("first_token_lost", "slice(1, sentence_b_start)", "The first token is in neither sentence (`[1:…]` leaves it out). A begins with it: `[:sentence_b_start]`."))
    at("sum(dim=-1).mean(dim=-1)", "values",
       ("mean_of_both", "mean(dim=(-2, -1))", "You average over the keys, too. What a token gives to a sentence is the sum over that sentence's keys; the average runs over the queries."),
       ("sum_of_both", "sum(dim=(-2, -1))", "You sum over the queries, too. A sentence's share is the average over its tokens: sum over the keys, mean over the queries."),
       ("sum_over_queries", "sum(dim=-2).mean(dim=-1)", "You sum over the queries and average over the keys. It is the other way round: sum over the keys, mean over the queries."),
       ("divided_by_all_tokens", "sum(dim=(-2, -1)) / weights.size(-1)", "You divide by T, the tokens of both sentences (which is also the sum of all four). Each row is an average over the tokens of its own sentence, and sums to one."),
       ("divided_by_tokens_of_a", "sum(dim=(-2, -1)) / sentence_b_start", "You divide both rows by the number of A's tokens. Row B is an average over the tokens of B: divide it by their number, T − `sentence_b_start`."),
       ("divided_by_all_pairs", "sum(dim=(-2, -1)) / weights.size(-1) ** 2", "You divide by T·T, all weights of a head. Each row is an average over the tokens of its own sentence, and sums to one."),
       ("largest", "amax(dim=(-2, -1))", "You take the largest weight in each block. The exercise asks for a share: sum over the keys, mean over the queries."),
       ("largest_query", "sum(dim=-1).amax(dim=-1)", "You take the query that gives most. The exercise asks for the mean over the queries."),
       ("largest_key", "amax(dim=-1).mean(dim=-1)", "You take the key that gets most. The exercise asks for the sum over the keys."),
       ("first_query_only", "sum(dim=-1)[..., 0]", "You look at the first query of each sentence only. The exercise asks for the mean over all its queries."))
    at(STACKED, SHAPE,
       ("columns_sum_to_one", "between = torch.stack(rows, dim=-2)\n    return between / between.sum(dim=-2, keepdim=True)", "Your columns sum to one: you share out what a sentence receives. The exercise asks how a sentence shares out what it gives: the rows sum to one.", "values"),
       ("rows_swapped", "return torch.stack(rows[::-1], dim=-2)", "The rows have changed places. Row 0 is sentence A, row 1 is B.", "values"),
       ("columns_of_b_swapped", "return torch.stack([rows[0], rows[1].flip(-1)], dim=-2)", "In B's row the columns have changed places. In both rows, column 0 is what goes to sentence A, column 1 to B.", "values"),
       ("columns_of_a_swapped", "return torch.stack([rows[0].flip(-1), rows[1]], dim=-2)", "In A's row the columns have changed places. In both rows, column 0 is what goes to sentence A, column 1 to B.", "values"),
       ("reshaped", "return torch.cat(rows, dim=-1).movedim(-1, 0).reshape(*weights.shape[:2], 2, 2)", "Numbers of other heads and layers are side by side: `reshape` and `view` move no axis of the four blocks, (4, L, H) or (2, 2, L, H). Stack along the last axis, or `movedim` first.", "values"),
       ("layers_averaged", "return torch.stack(rows, dim=-2).mean(dim=0)", "You average over the layers, too. The exercise asks for four numbers for each layer and each head, (L, H, 2, 2)."),
       ("heads_averaged", "return torch.stack(rows, dim=-2).mean(dim=1)", "You average over the heads, too. The exercise asks for four numbers for each layer and each head, (L, H, 2, 2)."),
       ("one_for_all_heads", "return torch.stack(rows, dim=-2).mean(dim=(0, 1))", "You average over layers and heads, too, down to four numbers in all. The exercise asks for four for each layer and each head, (L, H, 2, 2)."),
       ("layers_and_heads_swapped", "return torch.stack(rows, dim=-2).transpose(0, 1)", "Layers and heads have changed places: (H, L, 2, 2). The exercise asks for (L, H, 2, 2)."),
       ("within_and_across", "between = torch.stack(rows, dim=-2)\n    return torch.stack([between[..., 0, 0] + between[..., 1, 1], between[..., 0, 1] + between[..., 1, 0]], dim=-1)", "You return two numbers a head, within a sentence and across. The exercise asks for four, (L, H, 2, 2): who looks, and at whom."),
       ("only_across", "between = torch.stack(rows, dim=-2)\n    return torch.stack([between[..., 0, 1], between[..., 1, 0]], dim=-1)", "You return what goes across alone. The exercise asks for all four, (L, H, 2, 2)."),
       ("within_is_0", "return torch.stack(rows, dim=-2) * (1 - torch.eye(2))", "Your diagonal is 0. The exercise also asks what a sentence gives to itself.", "values"),
       ("dict", 'between = torch.stack(rows, dim=-2)\n    return {f"{i} to {j}": between[..., m, n] for m, i in enumerate("ab") for n, j in enumerate("ab")}', "You return a dict. The exercise asks for one tensor, (L, H, 2, 2)."))
    at(("sum(dim=-1).mean(dim=-1)", STACKED), "values", ("means_with_rows_to_one", ("mean(dim=(-2, -1))", "between = torch.stack(rows, dim=-2)\n    return between / between.sum(dim=-1, keepdim=True)"), "You average over the keys and then make the rows sum to one, so that a short sentence gets too much. Sum over the keys."))
    at("weights[..., queries, keys]", "values",
       ("keys_of_both", "weights[..., queries, :]", "All your numbers are 1, as where both entries of a row hold the attention to all tokens. Choose the keys of one sentence for each: `weights[..., queries, keys]`."),
       ("queries_of_both", "weights[..., keys]", "Both rows are averages over all tokens. Row i is one over the tokens of sentence i: `weights[..., queries, keys]`."))
    at("for keys in halves]", "values", ("columns_swapped", "for keys in halves[::-1]]", "The columns have changed places. Column 0 is what goes to sentence A, column 1 to B."))
    at(("dim=-1)  # (L, H, 2)", "dim=-2)"), SHAPE, ("axes_in_front", ("dim=0)  # (2, L, H)", "dim=0)"), "The two axes of the sentences are in front, (2, 2, L, H). The exercise asks for (L, H, 2, 2)."))
    at("layer[0] for layer in attentions", SHAPE, ("batch_kept", "layer for layer in attentions", "The axis of the batch is still there, (L, 1, H, 2, 2). There is one pair only: take `layer[0]`."))
    at("for layer in attentions]", SHAPE,
       ("last_layer_only", "for layer in attentions[-1:]]", "You look at the last layer only. The exercise asks for all {L}."),
       ("layers_from_the_top", "for layer in attentions[::-1]]", "Your layers are in reverse order. Index 0 is the first of the list.", "values"))
    at("return torch", "values", ("percent", "return 100 * torch", "You return percent. The exercise asks for shares: each row sums to one."))
    squeezed(at, SHAPE, "is (L, H, 2, 2), also for one layer or one head")


@MISTAKES.of(right.neuron_terms)
def in_neuron_terms(at):
    ALWAYS = ("values", "any leading axes")
    SHAPED = ("shape", *ALWAYS)
    PRODUCT = "query.unsqueeze(-2) * key.unsqueeze(-3)"
    QUERY_BY_QUERY, KEY_BY_KEY = (f"{one}.repeat_interleave({other}.size(-2), dim=-2)" for one, other in (("query", "key"), ("key", "query")))
    ALL_QUERIES, ALL_KEYS = (f"torch.cat([{one}] * {other}.size(-2), dim=-2)" for one, other in (("query", "key"), ("key", "query")))
    at(f"return {PRODUCT}", ALWAYS,
       ("summed", f"return ({PRODUCT}).sum(dim=-1)", "You return the sums, the scores themselves. The exercise asks for the K products before they are summed, (…, T, S, K).", SHAPED),
       ("scores", f"return ({PRODUCT}).sum(dim=-1) / query.size(-1) ** 0.5", "You return the scores of notebook 02, divided by √K. The exercise asks for the K products of which each is the sum, (…, T, S, K).", SHAPED),
       ("scaled", f"return {PRODUCT} / query.size(-1) ** 0.5", "You divide by √K. The exercise asks for the products themselves; the root comes after the sum."),
       ("divided_by_k", f"return {PRODUCT} / query.size(-1)", "You divide by K. The exercise asks for the products themselves."),
       ("neurons_first", f"return ({PRODUCT}).movedim(-1, -3)", "The neurons are before the tokens, (…, K, T, S). The exercise asks for (…, T, S, K).", SHAPED),
       ("keys_last", f"return ({PRODUCT}).transpose(-2, -1)", "Your last two axes have changed places, (…, T, K, S). The exercise asks for (…, T, S, K).", SHAPED),
       ("softmaxed", f"return ({PRODUCT}).softmax(dim=-1)", "You put the products through a softmax. The exercise asks for the products themselves."),
       ("sizes", f"return ({PRODUCT}).abs()", "You take absolute values. The sign tells whether a neuron speaks for or against: leave it."),
       ("only_positive", f"return ({PRODUCT}).relu()", "Your negative products are 0. The sign tells whether a neuron speaks for or against: leave it."),
       ("squared", f"return ({PRODUCT}).pow(2)", "You square the products. The exercise asks for the products themselves."),
       ("shares_of_the_score", f"terms = {PRODUCT}\n    return terms / terms.sum(dim=-1, keepdim=True)", "You divide by the sum, so that each shares out 1. The exercise asks for the products themselves: their sum is the score times √K."),
       ("averaged_over_keys", f"return ({PRODUCT}).mean(dim=-2)", "You average over the keys. Each query has K products with each key: (…, T, S, K).", SHAPED),
       ("summed_over_keys", f"return ({PRODUCT}).sum(dim=-2)", "You sum over the keys. Each query has K products with each key: (…, T, S, K).", SHAPED))
    at(PRODUCT, SHAPED,
       ("queries_and_keys_swapped", "query.unsqueeze(-3) * key.unsqueeze(-2)", "Queries and keys have changed places: your shape is (…, S, T, K). The exercise asks for (…, T, S, K), a row for each query."),
       ("place_by_place", "query * key", "You multiply query t with key t only (`query * key`). Each query meets each key: give the query an axis for the keys, and the key one for the queries."),
       ("not_transposed", "query @ key", "`query @ key` can't be multiplied as they are, and would sum over K besides. The exercise asks for the single products: `*`, with an axis more on both sides."),
       ("added", "query.unsqueeze(-2) + key.unsqueeze(-3)", "You add query and key. The exercise asks for their product.", ALWAYS),
       ("differences", "query.unsqueeze(-2) - key.unsqueeze(-3)", "You take differences of query and key. The exercise asks for their product.", ALWAYS),
       *((f"each_repeated_{how}", f"({queries} * {keys}).unflatten(-2, (query.size(-2), key.size(-2)))", f"Row i of your products has query {query} and key {key}. {why} To meet each other, the query's rows are repeated one by one, S times each (`repeat_interleave`), and the keys as a whole, T times (`repeat`); or each gets a new axis.", ALWAYS)
         for how, queries, keys, query, key, why in (
           ("one_by_one", QUERY_BY_QUERY, KEY_BY_KEY, "i // S", "i // T", "Both are repeated row by row."),
           ("as_a_whole", ALL_QUERIES, ALL_KEYS, "i mod T", "i mod S", "Both are repeated as a whole."),
           ("the_other_way_round", ALL_QUERIES, KEY_BY_KEY, "i mod T", "i // T", "That is the order of (S, T), a row for each key."))),
       ("all_pairs_of_neurons", "query[..., :, None, :, None] * key[..., None, :, None, :]", "You multiply each number of the query with each number of the key, K·K products. A score is the sum of K: number k of the query with number k of the key."),
       *((f"as_many_keys_as_queries_{by}", f"torch.stack([query * key[..., {one}, :] for s in range(query.size(-2))], dim=-2)", "You take the number of queries, T, for the number of keys, S: keys from number T on are left out, and where S is smaller than T yours stops. There are S = `key.size(-2)` keys.") for by, one in (("by_slices", "s : s + 1"), ("by_numbers", "s, None"))),
       ("fixed_axes", "query.unsqueeze(3) * key.unsqueeze(2)", "`unsqueeze(3)` and `unsqueeze(2)` fit inputs of four axes only. Counted from the end, −2 and −3, they fit any.", "any leading axes"),
       ("expanded_at_1", "query.unsqueeze(2) * key.unsqueeze(1)", "Your new axes are at 1 and 2, among the leading axes. They belong next to the tokens: −2 for the query, −3 for the key."),
       ("cosine", "(query / query.norm(dim=-1, keepdim=True)).unsqueeze(-2) * (key / key.norm(dim=-1, keepdim=True)).unsqueeze(-3)", "You divide by the lengths of query and key: your sums are cosines. The exercise asks for the products as they are.", ALWAYS),
       ("times_the_key_summed", "query.unsqueeze(-2) * key.unsqueeze(-3).sum(dim=-1, keepdim=True)", "You multiply each number of the query by the sum of the key's numbers. Number k of the query meets number k of the key alone.", ALWAYS),
       ("queries_repeated", "query.unsqueeze(-2) * torch.ones_like(key).unsqueeze(-3)", "The key is not in your result: it holds the query's numbers. Multiply by the key's.", ALWAYS),
       ("keys_repeated", "torch.ones_like(query).unsqueeze(-2) * key.unsqueeze(-3)", "The query is not in your result: it holds the key's numbers. Multiply by the query's.", ALWAYS))
    at("return ", "any leading axes", ("four_axes_unpacked", "batch, heads, length, width = query.shape\n    return ", "Your code wants exactly four axes, (B, H, T, K). The contract has any number of axes in front: `…`."))
    at("key.unsqueeze(-3)", SHAPED,
       ("both_behind_the_tokens", "key.unsqueeze(-2)", "Both new axes are after the tokens, at −2, so that query t meets key t. The key's belongs before its tokens, at −3: then each query meets each key."),
       ("queries_with_queries", "query.unsqueeze(-3)", "You multiply queries with queries. The key is not used."),
       ("keys_reversed", "key.flip(-2).unsqueeze(-3)", "Your keys are in reverse order.", ALWAYS),
       ("neurons_reversed", "key.flip(-1).unsqueeze(-3)", "Number k of the query meets number K − 1 − k of the key. Number k meets number k.", ALWAYS))
    at("query.unsqueeze(-2)", SHAPED,
       ("both_before_the_tokens", "query.unsqueeze(-3)", "Both new axes are before the tokens, at −3, so that query t meets key t. The query's belongs after its tokens, at −2: then each query meets each key."),
       ("keys_with_keys", "key.unsqueeze(-2)", "You multiply keys with keys. The query is not used."),
       ("first_query_only", "query[..., :1, :].expand_as(query).unsqueeze(-2)", "You take the first query only, for all rows.", ALWAYS))
    at("return query", ALWAYS, ("negative", "return -query", "All signs are turned around."))
    squeezed(at, ("shape", "values"), "keeps all leading axes: (…, T, S, K)")


@MISTAKES.of(right.weighted_value_norms)
def in_weighted_value_norms(at):
    SHAPE = ("shape", "values")
    NORM = "value.norm(dim=-1).unsqueeze(-2)"
    at("value.norm(dim=-1)", "values",
       ("squared_norms", "value.pow(2).sum(dim=-1)", "You square the lengths: the root is missing."),
       ("largest_number", "value.abs().amax(dim=-1)", "You take the largest number of each value. The Euclidean length is the root of the sum of all squares."),
       ("signed_mean", "value.mean(dim=-1)", "You average the value's numbers with their signs, so that they cancel. The Euclidean length is the root of the sum of their squares."),
       ("size_of_the_sum", "value.sum(dim=-1).abs()", "You add up the value's numbers before you take the size, so that they cancel. The Euclidean length is the root of the sum of their squares."),
       ("lengths_averaged_over_heads", "value.norm(dim=-1).mean(dim=1, keepdim=True)", "You average the lengths over the heads. Each head has values of its own: a weight meets the length of its own head's value."),
       ("values_averaged_over_heads", "value.mean(dim=1, keepdim=True).norm(dim=-1)", "You average the values over the heads. Each head has values of its own: a weight meets the length of its own head's value."),
       ("norm_over_keys", "value.norm(dim=-2)", "Your norm runs over the keys (axis −2), so that it has K numbers a head and not S. It should run over the K numbers of each value, the last axis.", SHAPE),
       ("norm_over_heads", "value.norm(dim=1)", "Your norm runs over the heads (axis 1). It should run over the K numbers of each value, the last axis.", SHAPE),
       ("unit_values", "(value / value.norm(dim=-1, keepdim=True)).norm(dim=-1)", "You make the values one long before you measure them, so that their lengths are lost."),
       ("unit_values_or_0", "torch.nn.functional.normalize(value, dim=-1).norm(dim=-1)", "You make the values one long before you measure them (`normalize`), so that their lengths are lost."))
    at(NORM, "values",
       ("one_norm_for_all", "value.norm()", "Your norm runs over all values at once, a single number. Each value has its own length: `norm(dim=-1)`."),
       ("norm_of_order_minus_one_a_head", "value.flatten(2).norm(-1, dim=-1)[..., None, None]", "You get a single number for all values of a head: in `norm(-1)` the −1 is the kind of norm, not an axis. Each value has its own length: `norm(dim=-1)`."),
       ("norm_of_order_minus_one", "value.norm(-1)", "You get a single number for all values: in `norm(-1)` the −1 is the kind of norm, not an axis. Each value has its own length: `norm(dim=-1)`."),
       ("one_norm_a_head", "value.norm(dim=(-2, -1))[..., None, None]", "Your norm runs over all values of a head. Each value has its own length: `norm(dim=-1)`."))
    at("unsqueeze(-2)", SHAPE,
       ("lengths_on_the_queries", "unsqueeze(-1)", "You multiply row t by the length of value t. A length belongs to its key, a column: `unsqueeze(-2)`, (B, H, 1, S)."),
       ("axis_at_1", "unsqueeze(1)", "Your new axis is at 1, before the heads. It belongs where the queries are: `unsqueeze(-2)`, (B, H, 1, S)."))
    at(".unsqueeze(-2)", SHAPE, ("no_axis", "", "The lengths (B, H, S) meet the weights (B, H, T, S) without an axis for the queries: `unsqueeze(-2)`."))
    at("return weights *", "values",
       ("no_weights", "return torch.ones_like(weights) *", "The weights are not in your result. Each length is multiplied by the weight that its key gets."),
       ("weights_squared", "return weights.pow(2) *", "You square the weights. A vector times a number is longer by that number, not by its square."),
       ("root_of_weights", "return weights.sqrt() *", "You multiply by the roots of the weights. A vector times a number is longer by that number itself."))
    at(("return weights", "unsqueeze(-2)  #"), "values", ("shares", ("return torch.nn.functional.normalize(weights", "unsqueeze(-2), p=1, dim=-1)  #"), "You divide each row by its sum, so that it tells shares. The exercise asks for the lengths themselves, ‖weight · value‖."))
    at(f"weights * {NORM}", SHAPE,
       ("no_norms", "weights.clone()", "The values are not in your result: these are the weights alone. Multiply by the values' lengths.", "values"),
       ("vectors_kept", "weights.unsqueeze(-1) * value.unsqueeze(-3)", "You return the vectors weight · value themselves, (B, H, T, S, K). The exercise asks for their lengths, (B, H, T, S)."),
       ("length_of_the_result", "(weights @ value).norm(dim=-1)", "You measure what comes out: the length of the sum of all weighted values, one number a query. The exercise asks for the length of each key's part, (B, H, T, S)."),
       ("result", "weights @ value", "You return the mixed values, weights @ value. The exercise asks how long each key's part of it is, (B, H, T, S)."))
    at("weights * value", "values",
       ("divided", "weights / value", "You divide by the lengths. Multiply by them: a short value adds little."),
       ("added", "weights + value", "You add the lengths to the weights. Multiply by them: ‖weight · value‖ = weight · ‖value‖."))
    at(f"return weights * {NORM}", SHAPE,
       ("rows_to_one", f"norms = weights * {NORM}\n    return norms / norms.sum(dim=-1, keepdim=True)", "You make the rows sum to one. The exercise asks for the lengths as they are.", "values"),
       ("largest_is_1", f"norms = weights * {NORM}\n    return norms / norms.amax(dim=-1, keepdim=True)", "You divide each row by its largest entry. The exercise asks for the lengths as they are.", "values"),
       ("softmaxed", f"return (weights * {NORM}).softmax(dim=-1)", "You put the result through a softmax. The exercise asks for the lengths as they are.", "values"),
       ("queries_summed", f"return (weights * {NORM}).sum(dim=-2)", "You sum over the queries. Each query has its own: (B, H, T, S)."),
       ("keys_summed", f"return (weights * {NORM}).sum(dim=-1)", "You sum over the keys. The exercise asks what each of them adds: (B, H, T, S)."),
       ("heads_summed", f"return (weights * {NORM}).sum(dim=1)", "You sum over the heads. Each head has its own: (B, H, T, S)."),
       ("heads_averaged", f"return (weights * {NORM}).mean(dim=1)", "You average over the heads. Each head has its own: (B, H, T, S)."),
       ("transposed", f"return (weights * {NORM}).transpose(-2, -1)", "Your result is transposed, (B, H, S, T). The exercise asks for (B, H, T, S), a row for each query."),
       ("squared", f"return (weights * {NORM}).pow(2)", "These are the *squares* of the lengths. A length is the root of a sum of squares: `.sqrt()`, or `norm`.", "values"))
    at("value.norm", "values",
       ("first_sentence", "value[:1].norm", "You use the first sentence's values for all. Each has its own."),
       ("first_head", "value[:, :1].norm", "You use the first head's values for all. Each has its own."),
       ("keys_reversed", "value.flip(-2).norm", "The lengths are in reverse order of the keys."))
    squeezed(at, SHAPE, "is (B, H, T, S), also where a size is 1")
    other_lengths(at, "value", "K = {root_K}")


@MISTAKES.of(right.attention_rollout)
def in_attention_rollout(at):
    ALWAYS = ("values", "one layer")
    SHAPED = ("shape", *ALWAYS)
    MIX = "layer = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(length)  # (B, T, T)"
    STEP = "flow = layer @ flow"
    at(MIX, ALWAYS,
       ("no_residual", "layer = weights.mean(dim=1)", "The residual connection is missing: half of each layer's matrix is the identity, because half of what a layer hands on is what it got."),
       ("identity_not_halved", "layer = weights.mean(dim=1) + torch.eye(length)", "You add the identity without taking half of both: the rows of A + I sum to 2, and your numbers double with each layer. ½·A + ½·I."),
       ("ones_added", "layer = weights.mean(dim=1) + 1\n        layer = layer / layer.sum(dim=-1, keepdim=True)", "You add 1 to every weight before you make the rows sum to one. The residual connection hands each token on to itself alone: the identity, `torch.eye`."),
       ("largest_head_to_one", "layer = weights.amax(dim=1)\n        layer = 0.5 * layer / layer.sum(dim=-1, keepdim=True) + 0.5 * torch.eye(length)", "You take the largest weight of all heads, and make the rows sum to one again. Take the heads' mean: its rows sum to one by themselves."),
       ("largest_of_a_layer_is_1", "layer = weights.mean(dim=1) + torch.eye(length)\n        layer = layer / layer.amax(dim=-1, keepdim=True)", "You divide the rows of each layer by their largest entry. Divide A + I by 2: then each row sums to one."),
       ("weights_changed", "weights.mul_(0.5).add_(0.5 * torch.eye(length))\n        layer = weights.mean(dim=1)", "You change the caller's `attentions` in place (`+=`, `mul_`, `add_`). Make new tensors.", "values"))
    at(STEP, ALWAYS,
       ("reversed", "flow = flow @ layer", "Your product is in reverse order. The last layer is on the left: `flow = layer @ flow`, from the first layer to the last.", "values"),
       ("layers_transposed", "flow = layer.transpose(-2, -1) @ flow", "You multiply by transposed layers, so that keys meet queries. `layer @ flow`, as it is."),
       ("last_layer_only", "flow = layer", "You return the last layer alone. All layers have to be multiplied.", "values"),
       ("first_layer_twice", "flow = layer @ (layer if flow.dim() == 2 else flow)", "The first layer is in your product twice. Where `flow` begins with the first layer, the loop begins with the second."),
       ("elementwise_from_identity", "flow = layer * flow", "You multiply entry by entry (`*`), beginning with the identity, so that only the diagonal is left. Matrices are multiplied by `@`."),
       ("residual_in_the_first_layer_only", "flow = layer @ flow if flow.dim() == 2 else weights.mean(dim=1) @ flow", "You mix only the first layer with the identity. Each layer has a residual connection of its own.", "values"),
       ("last_layer_as_it_is", "flow = (weights.mean(dim=1) if weights is attentions[-1] else layer) @ flow", "Your last layer has no residual connection: its weights alone are multiplied. Each layer is ½·A + ½·I."),
       ("first_layer_as_it_is", "flow = layer @ flow if flow.dim() == 3 else weights.mean(dim=1)", "Your first layer has no residual connection: the product begins with its weights alone. Each layer is ½·A + ½·I."))
    at("return flow", ALWAYS,
       ("transposed", "return flow.transpose(-2, -1)", "Your result is transposed: rows are the tokens of the last layer, columns the input tokens."),
       ("last_layer_twice", "return layer @ flow", "The last layer is in your product twice. Each layer comes once."),
       ("columns_to_one", "return flow / flow.sum(dim=-2, keepdim=True)", "You divide by the sums of the columns. The rows sum to one: each belongs to a token of the last layer, which draws on the input."),
       ("softmax", "return flow.softmax(dim=-1)", "You put the product through a softmax. Its rows sum to one already."),
       ("largest_is_1", "return flow / flow.amax(dim=-1, keepdim=True)", "You divide by the largest entry. The exercise asks for shares as they are: each row sums to one."),
       ("first_row_only", "return flow[:, 0]", "You return the first row alone, that of [CLS]. The exercise asks for the whole matrix, (B, T, T).", SHAPED),
       ("power_of_the_mean_layer", "mean = 0.5 * torch.stack(attentions).mean(dim=(0, 2)) + 0.5 * torch.eye(length)\n    return torch.matrix_power(mean, len(attentions))", "You average the layers and multiply the result by itself, once for each layer. Each layer has its own matrix: multiply these.", "values"),
       ("diagonal_0", "return flow * (1 - torch.eye(length))", "You take the diagonal away. It belongs to the result: much of a token stays where it was."),
       ("first_sentence_only", "return flow[:1]", "You look at the first sentence only. Each has its own rollout: (B, T, T).", SHAPED))
    at("0.5 * weights.mean", ALWAYS, ("weights_not_halved", "weights.mean", "You halve the identity but not the weights. ½·A + ½·I: then each row sums to one."))
    at("0.5 * torch.eye", ALWAYS, ("identity_whole", "torch.eye", "You halve the weights but not the identity. ½·A + ½·I: then each row sums to one."))
    at(" + 0.5 * torch.eye(length)", ALWAYS, ("halved_without_identity", "", "You take half of the weights, but the other half, the identity, is missing."))
    at("0.5 * torch.eye(length)", ALWAYS, ("all_ones", "0.5 * torch.ones(length, length)", "You mix with a matrix of ones. The residual connection hands each token on to itself: the identity, `torch.eye`."))
    at(("0.5 * weights", "0.5 * torch"), ALWAYS,
       ("mostly_weights", ("0.9 * weights", "0.1 * torch"), "Your mixture is 0.9 to 0.1. Half and half is needed."),
       ("mostly_identity", ("0.1 * weights", "0.9 * torch"), "Your mixture is 0.1 to 0.9. Half and half is needed."))
    at("weights.mean(dim=1)", ALWAYS,
       ("heads_added", "weights.sum(dim=1)", "You add up the heads, so that a row of {H} heads sums to {H}. Take their mean."),
       ("largest_head", "weights.amax(dim=1)", "You take the largest weight of all heads. Take their mean, so that each row sums to one."),
       ("smallest_head", "weights.amin(dim=1)", "You take the smallest weight of all heads. Take their mean, so that each row sums to one."),
       ("first_head_only", "weights[:, 0]", "You look at the first head only. Take the mean of all."),
       ("one_for_each_head", "weights", "You roll each head out by itself, (B, H, T, T). Take the mean of the heads in each layer: (B, T, T).", SHAPED),
       ("batch_averaged", "weights.mean(dim=0)", "You average over the sentences (axis 0). Average over the heads, axis 1: (B, T, T).", SHAPED),
       ("both_averaged", "weights.mean(dim=(0, 1))", "You average over the sentences, too. Each has its own rollout: (B, T, T).", SHAPED))
    at(("weights.mean(dim=1)", "# (B, T, T)\n        flow", "return flow"), "values", ("heads_kept", ("weights", "# (B, H, T, T)\n        flow", "return flow.mean(dim=1)"), "You roll each head out by itself and average at the end. A layer mixes its heads before the next one reads them: take their mean in each layer."))
    at(("        " + MIX + "\n", STEP), ALWAYS, ("last_weights_only", ("", "flow = weights.mean(dim=1)"), "You return the mean of the last layer's heads, and nothing of the layers below. All layers have to be multiplied, each mixed with the identity."))
    at("in attentions:", ALWAYS,
       ("first_layer_missing", "in attentions[1:]:", "Your product leaves out the first layer."),
       ("last_layer_missing", "in attentions[:-1]:", "Your product leaves out the last layer."))
    at(("torch.eye(length)  # (T, T), then (B, T, T)", STEP), "values",
       ("layers_averaged", ("torch.zeros(length, length)", "flow = flow + layer / len(attentions)"), "You average the layers. What passes through one layer after the other is a product of matrices."),
       ("layers_added", ("torch.zeros(length, length)", "flow = flow + layer"), "You add up the layers. What passes through one layer after the other is a product of matrices."),
       ("elementwise", ("torch.ones(length, length)", "flow = flow * layer"), "You multiply the layers entry by entry (`*`). Matrices are multiplied by `@`: a token's share in the input comes by way of all tokens in between."))
    at((MIX, "return flow"), "values", ("residual_once", ("layer = weights.mean(dim=1)", "return 0.5 * flow + 0.5 * torch.eye(length)"), "You mix with the identity only once, at the end. Each layer has a residual connection of its own."))
    at((MIX, STEP), "values",
       ("identity_to_the_product", ("layer = weights.mean(dim=1)", "flow = 0.5 * layer @ flow + 0.5 * torch.eye(length)"), "You mix the identity into the product, ½·A·F + ½·I. It belongs to the layer, before the product: (½·A + ½·I) · F."),
       ("residual_to_the_flow", ("layer = weights.mean(dim=1)", "flow = layer @ (0.5 * flow + 0.5 * torch.eye(length))"), "You mix the identity into the flow so far, not into the layer. Each layer is ½·A + ½·I.", ALWAYS))
    at(("    for weights in", STEP, "return flow"), SHAPED, ("one_for_each_layer", ("    flows = []\n    for weights in", STEP + "\n        flows.append(flow)", "return torch.stack(flows)"), "You return the flow after each layer. The exercise asks for the one after the last, (B, T, T)."))
    squeezed(at, ("shape", "values"), "is (B, T, T), also for one sentence")


@MISTAKES.of(right.switch_off_heads)
def in_switch_off_heads(at):
    CONTEXT = "context unchanged"
    REFUSES = "    for head in heads:\n        if not 0 <= head < num_heads:\n            raise ValueError(f\"there is no head {head}: {num_heads} heads are counted from 0\")\n"
    KEEP = "keep[list(heads)] = 0.0"
    ENDS = "You check the two ends of the list only: a head in between that does not exist is let through. Check each, or `min(heads)` and `max(heads)`."
    at("return context * keep.repeat_interleave(head_dim)", "values",
       ("in_place", "context *= keep.repeat_interleave(head_dim)\n    return context", "You zero columns of `context` itself: the caller has lost them. Work on a copy, `context.clone()`, or multiply by zeros and ones.", CONTEXT),
       ("h_for_k", "result = context.clone()\n    for head in heads:\n        result[..., head * num_heads : (head + 1) * num_heads] = 0.0\n    return result", "You take H columns a head, from h·H on. A head is K = D / H columns wide, and begins at h·K."),
       ("starts_at_h", "result = context.clone()\n    for head in heads:\n        result[..., head : head + head_dim] = 0.0\n    return result", "Your columns begin at h. Head h begins at column h·K."),
       ("last_column_stays", "result = context.clone()\n    for head in heads:\n        result[..., head * head_dim : (head + 1) * head_dim - 1] = 0.0\n    return result", "One column of each head stays: h·K to (h + 1)·K − 1 are K columns, and a slice ends before its end, `[h*K : (h+1)*K]`."),
       ("a_column_too_many", "result = context.clone()\n    for head in heads:\n        result[..., head * head_dim : (head + 1) * head_dim + 1] = 0.0\n    return result", "You zero a column too many, the first of the next head. Head h owns columns h·K to (h + 1)·K − 1: `[h*K : (h+1)*K]`."),
       ("one_column", "result = context.clone()\n    result[..., heads] = 0.0\n    return result", "You zero one column, number h. Head h owns K columns, h·K to (h + 1)·K − 1."),
       ("to_the_end", "result = context.clone()\n    for head in heads:\n        result[..., head * head_dim :] = 0.0\n    return result", "You zero all columns from the head's first to the end. It owns K of them, h·K to (h + 1)·K − 1."),
       ("from_the_start", "result = context.clone()\n    for head in heads:\n        result[..., : (head + 1) * head_dim] = 0.0\n    return result", "You zero all columns up to the head's last. It owns K of them, h·K to (h + 1)·K − 1."),
       ("tokens_zeroed", "result = context.clone()\n    result[:, heads] = 0.0\n    return result", "You zero tokens (axis 1) instead of columns. A head is a block of the last axis, {K} of its {D} columns.", ("shape", "values")),
       ("places_on_axis_1", "result = context.clone()\n    for head in heads:\n        result[:, head * head_dim : (head + 1) * head_dim] = 0.0\n    return result", "You zero positions h·K to (h + 1)·K − 1 of axis 1, the tokens. A head is a block of the last axis: `[..., h*K : (h+1)*K]`."),
       ("cut_along_the_tokens", "result = context.reshape(len(context), num_heads, -1, head_dim).clone()\n    result[:, heads] = 0.0\n    return result.reshape(context.shape)", "(B, T, D) becomes (B, H, T, K) at once (by `reshape` or `view`), which cuts along the tokens and not along the columns. First (B, T, H, K), as in 04's `split_heads`; the heads are then axis 2."),
       ("not_turned_back", "result = context.unflatten(-1, (num_heads, head_dim)).transpose(1, 2).clone()\n    result[:, heads] = 0.0\n    return result.reshape(context.shape)", "You merge the heads without turning the axes back: (B, H, T, K) has to be (B, T, H, K) before it becomes (B, T, D), as in 04's `merge_heads`."),
       ("first_sentence_only", "result = context.clone()\n    result[0] = result[0] * keep.repeat_interleave(head_dim)\n    return result", "You switch the heads off in the first sentence only. They must be silent in all."),
       ("first_token_only", "result = context.clone()\n    result[:, 0] = result[:, 0] * keep.repeat_interleave(head_dim)\n    return result", "You switch the heads off at the first token only. They must be silent at all."),
       ("columns_removed", "return context[..., keep.repeat_interleave(head_dim).bool()]", "You take the columns away. The result keeps its shape (B, T, D), with zeros in their place.", ("shape", "values")),
       ("parts_removed", "parts = context.split(head_dim, dim=-1)\n    return torch.cat([part for head, part in enumerate(parts) if head not in heads], dim=-1)", "You join only the heads that stay (and stop with an error where none does). The result keeps its shape (B, T, D), with zeros in place of the others.", ("shape", "values")),
       ("heads_apart", "return context.unflatten(-1, (num_heads, head_dim)) * keep[:, None]", "You return the heads apart, (B, T, H, K). Merge them again: (B, T, D).", ("shape", "values")),
       ("only_those_heads", "return context[..., keep.repeat_interleave(head_dim) == 0]", "You return the columns of these heads alone. The exercise asks for the whole, (B, T, D), with zeros in their place.", ("shape", "values")),
       ("minus_infinity", "return context.masked_fill(keep.repeat_interleave(head_dim) == 0, -torch.inf)", "You put −inf where zeros are needed. Scores are hidden by −inf before a softmax; results are switched off by 0."),
       ("ones", "return context.masked_fill(keep.repeat_interleave(head_dim) == 0, 1.0)", "You put 1 where 0 is needed."),
       ("mean_in_their_place", "return torch.where(keep.repeat_interleave(head_dim) == 0, context.mean(dim=1, keepdim=True), context)", "You put the mean over the tokens in their place. The exercise asks for zeros."),
       ("mean_of_all_in_their_place", "result = context.clone()\n    for head in heads:\n        result[..., head * head_dim : (head + 1) * head_dim] = result[..., head * head_dim : (head + 1) * head_dim].mean()\n    return result", "You put one number in their place, the mean over all that the head gives. The exercise asks for zeros."),
       ("returns_nothing", "context *= keep.repeat_interleave(head_dim)", "You zero `context` itself and return nothing. Make a copy, and return it.", ("shape", "values", CONTEXT, "refusal")),
       ("unchanged", "return context.clone()", "Your result is `context` as it was: no head is silent.", ("values", CONTEXT, "refusal")),
       ("all_zero", "return torch.zeros_like(context)", "All heads are silent: everything is 0. Switch off only those in the list.", ("values", CONTEXT, "refusal")),
       ("columns_counted_from_1", "result = context.clone()\n    for head in heads:\n        result[..., (head - 1) * head_dim : head * head_dim] = 0.0\n    return result", "You zero columns (h − 1)·K to h·K − 1, those of the head before, as if heads were counted from 1. They are counted from 0."),
       ("width_of_bert", "result = context.clone()\n    for head in heads:\n        result[..., head * 64 : (head + 1) * 64] = 0.0\n    return result", "You take 64 columns a head, as in BERT base. A head is K = D / H columns wide."),
       ("width_of_minilm", "result = context.clone()\n    for head in heads:\n        result[..., head * 32 : (head + 1) * 32] = 0.0\n    return result", "You take 32 columns a head, as in the course's model. A head is K = D / H columns wide."))
    at("keep.repeat_interleave(head_dim)", "values", ("interleaved", "keep.repeat(head_dim)", "Your heads are interleaved: you zero columns h, h + H, h + 2H, … A head owns K columns side by side, h·K to (h + 1)·K − 1: `repeat_interleave`."))
    at(("torch.ones", "= 0.0"), "values", ("others_switched_off", ("torch.zeros", "= 1.0"), "It is the other heads that you switch off; those in `heads` stay. Zero the ones in `heads`."))
    at(KEEP, "values",
       ("counted_from_1", "keep[[head - 1 for head in heads]] = 0.0", "You count heads from 1, so that the head before is switched off. They are counted from 0."),
       ("one_too_far", "keep[[(head + 1) % num_heads for head in heads]] = 0.0", "You switch off the head after the one in the list. Head h owns columns h·K to (h + 1)·K − 1, counted from 0."),
       ("switched_back_on", "for head in heads:\n        keep[head] = 1 - keep[head]", "A head that is named twice is on again. Once named, it stays off: set its factor to 0 (`1 - keep[head]` would turn it around each time)."),
       ("one_taken_off_each_time", "for head in heads:\n        keep[head] -= 1", "A head that is named twice comes out with its sign turned, as if each naming took it away once. Set its columns to 0."),
       ("first_of_the_list", "keep[heads[:1]] = 0.0", "You switch off the first head of the list only. Switch off all in the list."),
       ("last_of_the_list", "keep[heads[-1:]] = 0.0", "You switch off the last head of the list only. Switch off all. (A loop has to go on with the last turn's result, and not begin again with `context`.)"),
       ("all_from_first_to_last", "if heads:\n        keep[min(heads) : max(heads) + 1] = 0.0", "You switch off all heads from the smallest to the largest number in the list. Switch off only those in the list."),
       ("rest_scaled_up", f"{KEEP}\n    keep = keep / keep.mean().clamp(min=1e-9)", "You scale up the heads that stay, as dropout does. They must stay as they are."),
       *((f"rest_scaled_up_or_{what}", f"{KEEP}\n    keep = keep {scale}", "You scale up the heads that stay, as dropout does. They must stay as they are. (And where none stays, you divide by zero.)", breaks)
         for what, scale, breaks in (
           ("nan", "/ keep.mean()", "values"),
           ("stopped", "* (num_heads / (num_heads - len(set(heads))))", ("shape", "values")),
           ("stopped_by_the_list", "* (num_heads / (num_heads - len(heads)))", ("shape", "values")))),
       ("empty_list_means_all", "keep[list(heads) or slice(None)] = 0.0", "For an empty list you switch off all heads. It changes nothing."))
    at("keep.repeat_interleave", "values", ("heads_from_the_end", "keep.flip(0).repeat_interleave", "You count heads from the end. Head 0 owns the first K columns."))
    at("= 0.0", "values", ("halved", "= 0.5", "You halve the heads' columns. The exercise asks for zeros."))
    at(REFUSES + "    keep = torch.ones(num_heads)\n    " + KEEP, "refusal", ("no_refusal", "    keep = torch.ones(num_heads)\n    keep[[head for head in heads if 0 <= head < num_heads]] = 0.0", "A head that does not exist is let through. Raise a ValueError that names it."))
    at(REFUSES, "refusal",
       ("index_error", "", "Who asks for a head that does not exist gets torch's own error, an IndexError, and −1 is taken for the last head. Check the numbers and raise a ValueError."),
       ("assertion", "    for head in heads:\n        assert 0 <= head < num_heads, f\"there is no head {head}\"\n", "You raise an AssertionError (`assert` does that, and nothing at all under `python -O`). The contract asks for a ValueError."))
    at("not 0 <= head < num_heads", "refusal", ("negative_heads", "not -num_heads <= head < num_heads", "A negative head is let through. Only 0 to H − 1 exist: raise a ValueError for −1, too."))
    at(("not 0 <= head < num_heads", "keep[list(heads)] = 0.0"), "refusal", ("negative_slices", ("not head < num_heads", "for head in heads:\n        keep[head : head + 1] = 0.0"), "A negative head is let through, and Python counts its slice from the end (for −1 the slice is empty). Only 0 to H − 1 exist: raise a ValueError for it, too."))
    at(("not 0 <= head < num_heads", "f\"there is no head {head}: {num_heads} heads are counted from 0\""), "refusal", ("negative_heads_and_no_number", ("not head < num_heads", "\"there is no such head\""), "A negative head is let through: raise a ValueError for it, too. And the message of your ValueError does not say which head it is about: put its number in."))
    at("head < num_heads:", "refusal",
       ("head_h_let_through", "head <= num_heads:", "Head number H is let through to torch, which has its own error for it. The last one is H − 1: raise a ValueError for H, too."),
       ("last_head_refused", "head < num_heads - 1:", "You refuse the last head. Heads 0 to H − 1 exist.", ("shape", "values")))
    at(("head < num_heads:", KEEP), "refusal", ("head_h_ignored", ("head <= num_heads:", "keep[[head for head in heads if head < num_heads]] = 0.0"), "Head number H is let through, and switches nothing off (`head > num_heads` does not catch it). The last one is H − 1: raise a ValueError for H, too."))
    at(("head < num_heads:", "there is no head {head}: {num_heads} heads are counted from 0", KEEP), "refusal", ("head_h_ignored_and_no_number", ("head <= num_heads:", "there is no such head", "keep[[head for head in heads if head < num_heads]] = 0.0"), "Head number H is let through (`head > num_heads` does not catch it): raise a ValueError for it, too. And the message of your ValueError does not say which head it is about: put its number in."))
    at("for head in heads:", "refusal",
       ("only_the_first_checked", "for head in heads[:1]:", "You check only the first head of the list. Check each."),
       ("only_the_last_checked", "for head in heads[-1:]:", "You check only the last head of the list. Check each."),
       ("only_the_ends_checked", "for head in heads[:1] + heads[-1:]:", ENDS))
    at(("for head in heads:", KEEP), "refusal", ("only_the_ends_checked_others_ignored", ("for head in heads[:1] + heads[-1:]:", "keep[[head for head in heads if 0 <= head < num_heads]] = 0.0"), ENDS))
    at("there is no head {head}: {num_heads} heads are counted from 0", "refusal", ("message_without_number", "there is no such head", "Your ValueError does not say which head it is about. Put its number into the message."))
    at("raise ValueError(", "refusal", ("another_error", "raise IndexError(", "You raise an IndexError. The contract asks for a ValueError."))
    at("    for head in heads:\n", ("shape", "values"), ("empty_list_refused", "    if not heads:\n        raise ValueError(\"no heads\")\n    for head in heads:\n", "An empty list stops yours with an error. It is allowed, and changes nothing."))
    at("    keep = torch", ("shape", "values"), ("all_heads_refused", "    if len(heads) == num_heads:\n        raise ValueError(\"no head is left\")\n    keep = torch", "You refuse to switch off all heads. That is allowed: the result is 0 everywhere."))
    squeezed(at, ("shape", "values"), "has the shape of `context`")


@MISTAKES.of_quiz("quiz_bertviz", right.quiz_bertviz)
def in_quiz_bertviz(wrong):
    for question, option, sentence in (
        ("one head switched off", "the model can't go on", "It goes on: a silent head adds zeros to a sum in which the other heads and the residual connection speak on."),
        ("one head switched off", "the other heads stop, too", "Heads of a layer don't read each other: each has its own queries, keys and values."),
        ("much weight on [SEP]", "[sep] means most", "Clark et al. found that changing the weight on [SEP] changes the output little, and Kobayashi et al. that its values are short: weight is not meaning."),
        ("much weight on [SEP]", "the model is badly trained", "Well-trained BERTs do it, in many heads: a softmax must put its 1 somewhere, also when there is nothing to say."),
        ("other weights, same output", "impossible, weights sum to one", "Many weights that sum to one give the same mixture or the same decision; Jain and Wallace searched for such weights in trained models, and often found them."),
        ("other weights, same output", "only with one head", "The number of heads does not matter: with more tokens than dimensions, or after layers that even things out, other weights lead to the same output."),
        ("rollout adds the identity for", "the softmax", "The softmax is in the weights already. What the weights don't show is the way around attention."),
        ("rollout adds the identity for", "the value vectors", "Rollout ignores the values altogether, which is one of its weaknesses. The identity stands for what is passed on unchanged."),
        ("to claim that a head matters", "look at its weights", "Weights show where a head looks, not what the model does with it. Take it away and see."),
        ("to claim that a head matters", "count its parameters", "All heads of a layer have equally many. Take one away and see what changes."),
    ):
        wrong(question, option, sentence)
