"""Wrong answers to the exercises of 11-bertviz."""

from __future__ import annotations

from anatomy.course.nb11_bertviz.right import (
    attention_between,
    attention_rollout,
    attention_to_offset,
    find_previous_token_head,
    head_entropy,
    head_statistics,
    neuron_terms,
    quiz_bertviz,
    switch_off_heads,
    weighted_value_norms,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.

STACK = "weights = torch.stack(attentions)  # (L, B, H, T, T)"
NO_MASK = "without a mask"
FILLED = """    if attention_mask is None:  # all tokens are real
        attention_mask = torch.ones_like(attentions[0][:, 0, 0], dtype=torch.long)  # (B, T)
"""


@MISTAKES.of(attention_to_offset)
def in_attention_to_offset(wrong):
    ALWAYS = ("values", "padding", "any offset")
    SHAPED = ("shape", *ALWAYS)
    MASK = " & real[:, :, None] & real[:, None, :]"
    PAIRS = "(places[None, :] == places[:, None] + offset)"
    SUM = "(weights * pairs[None, :, None]).sum(dim=(1, 3, 4))"
    SENTENCES = "(weights * pairs[None, :, None]).sum(dim=(3, 4))"
    COUNTS = "pairs.sum(dim=(1, 2))[None, :, None]"
    RESULT = f"return {SUM} / pairs.sum()"

    wrong("sign_alone", "Only the sign of your offset counts: −3 does the same as −1. The key is `offset` places further on, however many these are.",
          breaks=("padding", "any offset"), old="places[:, None] + offset", new="places[:, None] + ((offset > 0) - (offset < 0))")
    wrong("other_direction", "You look in the other direction, from token t to token t − offset. An offset of −1 is the token before: query t (a row) meets key t + offset (a column).",
          breaks=ALWAYS, old="places[:, None] + offset", new="places[:, None] - offset")
    wrong("counts_padding", "Padding counts in your average: its queries look somewhere, too, and mean nothing. Count only pairs of which both tokens are real.",
          breaks="padding", old=MASK, new=" & torch.ones_like(real)[:, :, None]")
    wrong("padding_keys_counted", "You count pairs whose key is padding: nobody looks there, so they only pull the average down. Both tokens of a pair have to be real.",
          breaks="padding", old=MASK, new=" & real[:, :, None]")
    wrong("padding_queries_counted", "You count pairs whose query is padding: its weights mean nothing. Both tokens of a pair have to be real.",
          breaks="padding", old=MASK, new=" & real[:, None, :]")
    wrong("divided_by_all_queries", "You divide by the number of real queries. Some have no token at that offset (nothing stands before the first one); divide by the number of pairs.",
          breaks=ALWAYS, old="/ pairs.sum()", new="/ real.sum()")
    wrong("divided_by_tokens_less_sentences", "You divide by the number of real tokens less one for each sentence: that is the number of pairs at offsets −1 and 1 only. Divide by the number of pairs at this offset.",
          breaks=("padding", "any offset"), old="/ pairs.sum()", new="/ (real.sum() - len(real))")
    wrong("negative_numbers_of_pairs", "You count n − |offset| pairs for each sentence of n tokens. For a sentence shorter than the offset that is a negative number; it has no pair at all (`clamp(min=0)`).",
          breaks="padding", old="/ pairs.sum()", new="/ (real.sum() - len(real) * abs(offset))")
    wrong("divided_by_batch_and_length", "You divide by B·T, all places of the batch. Divide by the number of pairs: places whose token is real and has a real token at that offset.",
          breaks=ALWAYS, old="/ pairs.sum()", new="/ real.numel()")
    wrong("divided_by_everything", "Your average runs over all B·T·T weights, also those at other offsets. Divide by the number of pairs with this offset.",
          breaks=ALWAYS, old=".sum(dim=(1, 3, 4)) / pairs.sum()", new=".mean(dim=(1, 3, 4))")
    wrong("padding_in_the_denominator", "You leave padding out of the sum, but not out of the number that you divide by: T − |offset| pairs a sentence are there only without padding.",
          breaks="padding", old="/ pairs.sum()", new="/ (len(real) * (len(places) - abs(offset)))")
    wrong("padding_in_the_sum", "You leave padding out of the number that you divide by, but not out of the sum: the weights of padding queries are still in it.",
          breaks="padding", old=SUM, new="weights.diagonal(offset, -2, -1).sum(dim=(1, 3))")
    wrong("divided_by_sentences", "You divide by the number of sentences, {B}. Divide by the number of pairs.",
          breaks=ALWAYS, old="/ pairs.sum()", new="/ len(pairs)")
    wrong("pairs_of_one_sentence", "You divide the sum over the whole batch by the number of pairs in the first sentence. Divide by that of all sentences.",
          breaks=ALWAYS, old="/ pairs.sum()", new="/ pairs[0].sum()")
    wrong("mean_of_sentence_means", "You average each sentence first, then the sentences: a token of a short sentence counts more. All pairs of the batch count alike: one sum, divided by one number.",
          breaks="padding", old=RESULT, new=f"return ({SENTENCES} / {COUNTS}).mean(dim=1)")
    wrong("mean_of_sentence_means_or_0", "You average each sentence first, then the sentences: a token of a short sentence counts more, and a sentence without such a pair counts as 0. All pairs of the batch count alike: one sum, divided by one number.",
          breaks="padding", old=RESULT, new=f"return ({SENTENCES} / {COUNTS}.clamp(min=1)).mean(dim=1)")
    wrong("mean_of_sentence_means_that_exist", "You average each sentence first, then those sentences that have such a pair: a token of a short sentence counts more. All pairs of the batch count alike: one sum, divided by one number.",
          breaks="padding", old=RESULT, new=f"return ({SENTENCES} / {COUNTS}).nanmean(dim=1)")
    wrong("not_divided", "You return sums. Asked is the average: divide by the number of pairs.",
          breaks=ALWAYS, old=" / pairs.sum()", new="")
    wrong("one_for_each_sentence", "You return numbers for each sentence, (L, B, H). The average runs over the pairs of all sentences together: (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return {SENTENCES} / {COUNTS}")
    wrong("one_for_each_query", "You return what each query gives, (L, B, H, T). Average it over the pairs of all sentences: (L, H).",
          breaks=SHAPED, old=RESULT, new="return (weights * pairs[None, :, None]).sum(dim=-1)")
    wrong("layers_averaged", "You average over the layers, too. Asked is a number for each layer and each head, (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / pairs.sum()).mean(dim=0)")
    wrong("heads_averaged", "You average over the heads, too. Asked is a number for each layer and each head, (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / pairs.sum()).mean(dim=-1)")
    wrong("one_number", "You average over layers and heads, too, down to a single number. Asked is one for each layer and each head, (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / pairs.sum()).mean()")
    wrong("transposed", "Layers and heads have changed places: your result is (H, L). Asked is (L, H), a row for each layer.",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / pairs.sum()).T")
    wrong("last_layer_only", "You look at the last layer only. Asked are all {L}, one row each.",
          breaks=SHAPED, old=STACK, new="weights = attentions[-1][None]")
    wrong("first_layer_only", "You look at the first layer only. Asked are all {L}, one row each.",
          breaks=SHAPED, old=STACK, new="weights = attentions[0][None]")
    wrong("layers_from_the_top", "Your layers stand in reverse order. Row 0 belongs to the first of the list.",
          breaks=ALWAYS, old="torch.stack(attentions)", new="torch.stack(list(attentions)[::-1])")
    wrong("first_sentence_only", "You look at the first sentence only. The average runs over all sentences of the batch.",
          breaks=ALWAYS, old=RESULT, new="return (weights * pairs[None, :, None]).sum(dim=(3, 4))[:, 0] / pairs[0].sum()")
    wrong("always_the_previous", "You always look at the token before, whatever `offset` is.",
          breaks=("padding", "any offset"), old="places[:, None] + offset", new="places[:, None] - 1")
    wrong("always_the_previous_or_stopped", "You always look at the token before, whatever `offset` is; and you divide by zero where no token has one before it.",
          breaks=("padding", "any offset"), old=("places[:, None] + offset", "/ pairs.sum()"), new=("places[:, None] - 1", "* (1 / int(pairs.sum()))"))
    wrong("both_sides", "You take the tokens on both sides, at t + offset and t − offset. An offset has a sign: −1 is the token before, 1 the one after.",
          breaks=ALWAYS, old=PAIRS, new="((places[None, :] - places[:, None]).abs() == abs(offset))")
    wrong("sign_dropped", "You drop the offset's sign: whether −1 or 1, you look ahead. Only a positive offset looks ahead.",
          breaks=ALWAYS, old="places[:, None] + offset", new="places[:, None] + abs(offset)")
    wrong("one_too_far", "You look one place too far ahead, at t + offset + 1.",
          breaks=ALWAYS, old="places[:, None] + offset", new="places[:, None] + offset + 1")
    wrong("one_too_near", "You look one place too far back, at t + offset − 1.",
          breaks=ALWAYS, old="places[:, None] + offset", new="places[:, None] + offset - 1")
    wrong("clamped", "Where t + offset lies outside the text you take the token at its end (`clamp`). Such a query has no token at that offset, and is no pair.",
          breaks=ALWAYS, old=(PAIRS, MASK), new=("(places[None, :] == (places[:, None] + offset).clamp(0, len(places) - 1))", " & real[:, :, None]"))
    wrong("wraps_around", "Your offset wraps around: for the first token, the token before is the last one (`roll`, or an index of −1). It has none before it, and is no pair.",
          breaks=ALWAYS, old=PAIRS, new="(places[None, :] == (places[:, None] + offset) % len(places))")
    wrong("negative_index", "For the first tokens your t + offset is negative, and Python counts a negative index from the end: they meet a token there. They have none at that offset; leave such pairs out.",
          breaks=ALWAYS, old=(PAIRS, MASK), new=("((places[None, :] - places[:, None] - offset) % len(places) == 0) & ((places[:, None] + offset) < len(places))",
                                                  " & real[:, :, None] & (real[:, None, :] | (places[:, None] + offset < 0))"))
    wrong("weights_of_0_not_counted", "You divide by the number of weights that are not 0. A pair counts, too, when its weight is 0.",
          breaks="values", old=RESULT, new=f"return {SUM} / (weights * pairs[None, :, None] > 0).sum(dim=(1, 3, 4))")
    wrong("all_up_to_there", "You take all tokens up to t + offset, not only the one at that place.",
          breaks=ALWAYS, old="places[None, :] ==", new="places[None, :] <=")
    wrong("all_from_there", "You take all tokens from t + offset on, not only the one at that place.",
          breaks=ALWAYS, old="places[None, :] ==", new="places[None, :] >=")
    wrong("all_others", "You take the tokens at all other places; asked is the one at t + offset.",
          breaks=ALWAYS, old="places[None, :] ==", new="places[None, :] !=")
    wrong("largest", "You return the largest weight at that offset. Asked is the average over all pairs.",
          breaks=ALWAYS, old=RESULT, new="return (weights * pairs[None, :, None]).amax(dim=(1, 3, 4))")
    wrong("heads_summed_queries_kept", "You sum over the heads and keep the queries: your axes are (L, T). The axes of a layer are (B, H, T, T), in this order; keep H and sum over B and both T.",
          breaks=SHAPED, old="sum(dim=(1, 3, 4))", new="sum(dim=(1, 2, 4))")
    wrong("layers_summed_sentences_kept", "You sum over the layers and keep the sentences: your axes are (B, H). Stacked, the layers are axis 0 and the sentences axis 1: keep axes 0 and 2.",
          breaks=SHAPED, old="sum(dim=(1, 3, 4))", new="sum(dim=(0, 3, 4))")
    wrong("ends_left_out", "You leave out pairs with the first or the last real token of a sentence. [CLS] and [SEP] are real tokens here.",
          breaks=ALWAYS, old="real = attention_mask.bool()", new="real = attention_mask.bool() & (places > 0) & (places < attention_mask.sum(dim=1, keepdim=True) - 1)")
    wrong("percent", "You return percent. Asked are shares, between 0 and 1.",
          breaks=ALWAYS, old="return (", new="return 100 * (")
    wrong("list_of_rows", "You return a list of rows, one for each layer. Asked is one tensor (L, H): `torch.stack`.",
          breaks="shape", old=RESULT, new=f"return list({SUM} / pairs.sum())")
    wrong("weights_zeroed", "You zero weights of padding in place (`weights[...] = 0`, `masked_fill_`), and thereby in the caller's `attentions`. Make a new tensor.",
          breaks="padding", old=STACK, new=f"{STACK}\n    for layer in attentions:\n        layer.masked_fill_(attention_mask[:, None, :, None] == 0, 0.0)")


@MISTAKES.of(head_entropy)
def in_head_entropy(wrong):
    ALWAYS = ("values", "padding")
    SHAPED = ("shape", *ALWAYS)
    ENTROPY = "attention_entropy(torch.stack(attentions))"
    SUM = "(entropy * real).sum(dim=(1, 3))"
    RESULT = f"return {SUM} / real.sum()"

    wrong("counts_padding", "Padding queries count in your average. Their weights mean nothing: average over real queries only.",
          breaks="padding", old=RESULT, new="return entropy.mean(dim=(1, 3))")
    wrong("padding_in_the_denominator", "You leave padding out of the sum, but divide by all B·T places. Divide by the number of real queries.",
          breaks="padding", old="/ real.sum()", new="/ real.numel()")
    wrong("padding_in_the_sum", "You divide by the number of real queries, but the entropies of padding queries are still in the sum.",
          breaks="padding", old=SUM, new="entropy.sum(dim=(1, 3))")
    wrong("entropies_of_0_not_counted", "You divide by the number of queries whose entropy is not 0. A real query counts, too, when it looks at one token only.",
          breaks="padding", old=RESULT, new=f"return {SUM} / (entropy * real > 0).sum(dim=(1, 3))")
    wrong("entropies_above_0_counted", "You divide by the number of entropies above 0, padding's among them. Divide by the number of real queries.",
          breaks="padding", old=RESULT, new=f"return {SUM} / (entropy > 0).sum(dim=(1, 3))")
    wrong("divided_by_log_of_length", "You divide by the logarithm of each sentence's number of tokens, so that 1 is the most there can be. Asked is the entropy in nats, as it is.",
          breaks=ALWAYS, old=ENTROPY, new=f"{ENTROPY} / attention_mask.sum(dim=1).log().clamp(min=1e-6)[:, None, None]")
    wrong("divided_by_log_of_length_or_0", "You divide by the logarithm of each sentence's number of tokens (which for a single token is 0). Asked is the entropy in nats, as it is.",
          breaks=ALWAYS, old=ENTROPY, new=f"{ENTROPY} / attention_mask.sum(dim=1).log()[:, None, None]")
    wrong("divided_by_log_t", "You divide by log T, so that 1 is the most there can be. Asked is the entropy in nats, as it is.",
          breaks=ALWAYS, old="/ real.sum()", new="/ real.sum() / torch.tensor(real.size(-1)).log()")
    wrong("mean_of_sentence_means", "You average each sentence first, then the sentences: a query of a short sentence counts more. All real queries of the batch count alike: one sum, divided by one number.",
          breaks="padding", old=RESULT, new="return ((entropy * real).sum(dim=3) / real.sum(dim=2)).mean(dim=1)")
    wrong("not_divided", "You return sums over the queries. Asked is the average: divide by the number of real queries.",
          breaks=ALWAYS, old=" / real.sum()", new="")
    wrong("divided_by_sentences", "You divide by the number of sentences, {B}. Divide by the number of real queries.",
          breaks=ALWAYS, old="/ real.sum()", new="/ len(real)")
    wrong("one_for_each_sentence", "You return numbers for each sentence, (L, B, H). The average runs over the real queries of all sentences together: (L, H).",
          breaks=SHAPED, old=RESULT, new="return (entropy * real).sum(dim=3) / real.sum(dim=2)")
    wrong("one_for_each_query", "You return the entropy of each query, (L, B, H, T). Average it over the real ones: (L, H).",
          breaks=SHAPED, old=RESULT, new="return entropy")
    wrong("layers_averaged", "You average over the layers, too. Asked is a number for each layer and each head, (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / real.sum()).mean(dim=0)")
    wrong("heads_averaged", "You average over the heads, too. Asked is a number for each layer and each head, (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / real.sum()).mean(dim=-1)")
    wrong("one_number", "You average over layers and heads, too, down to a single number. Asked is one for each layer and each head, (L, H).",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / real.sum()).mean()")
    wrong("transposed", "Layers and heads have changed places: your result is (H, L). Asked is (L, H), a row for each layer.",
          breaks=SHAPED, old=RESULT, new=f"return ({SUM} / real.sum()).T")
    wrong("heads_summed_queries_kept", "You sum over the heads and keep the queries: your axes are (L, T). The axes of a layer are (B, H, T, T), in this order; keep H.",
          breaks=SHAPED, old="sum(dim=(1, 3))", new="sum(dim=(1, 2))")
    wrong("layers_summed_sentences_kept", "You sum over the layers and keep the sentences: your axes are (B, H). Stacked, the layers are axis 0 and the sentences axis 1: keep axes 0 and 2.",
          breaks=SHAPED, old="sum(dim=(1, 3))", new="sum(dim=(0, 3))")
    wrong("last_layer_only", "You look at the last layer only. Asked are all {L}, one row each.",
          breaks=SHAPED, old="torch.stack(attentions)", new="attentions[-1][None]")
    wrong("layers_from_the_top", "Your layers stand in reverse order. Row 0 belongs to the first of the list.",
          breaks=ALWAYS, old="torch.stack(attentions)", new="torch.stack(list(attentions)[::-1])")
    wrong("first_sentence_only", "You look at the first sentence only. The average runs over all sentences of the batch.",
          breaks=ALWAYS, old=RESULT, new="return (entropy * real)[:, 0].sum(dim=-1) / real[0].sum()")
    wrong("first_query_only", "You look at the first query of each sentence only. The average runs over all real queries.",
          breaks=ALWAYS, old=RESULT, new="return entropy[..., 0].mean(dim=1)")
    wrong("entropy_of_the_mean", "You average the weights over the queries and take the entropy of that average. First comes each query's entropy, then the average: a head may look at one token each time, and each time at another.",
          breaks=ALWAYS, old=("entropy = " + ENTROPY + "  # (L, B, H, T)", RESULT),
          new=("weights = torch.stack(attentions)  # (L, B, H, T, T)", "return attention_entropy((weights * real[..., None]).sum(dim=(1, 3)) / real.sum())"))
    wrong("distance_from_uniform", "You return log T minus the entropy: how far the weights are from being all alike. Asked is the entropy.",
          breaks=ALWAYS, old="return ", new="return torch.log(torch.tensor(float(attention_mask.size(1)))) - ")
    wrong("exponential", "You return the exponential of the average, the number of tokens that a head looks at, so to speak. Asked is the entropy, in nats.",
          breaks=ALWAYS, old=RESULT, new=f"return ({SUM} / real.sum()).exp()")
    wrong("largest", "You return the largest entropy of all real queries. Asked is the average.",
          breaks=ALWAYS, old=RESULT, new="return (entropy * real).amax(dim=(1, 3))")
    wrong("sum_of_squares", "You sum up squares of weights. The entropy is −Σ p·log p.",
          breaks=ALWAYS, old=ENTROPY, new="torch.stack(attentions).pow(2).sum(dim=-1)")
    wrong("one_minus_squares", "You take 1 − Σ p², the chance that two draws differ. The entropy is −Σ p·log p.",
          breaks=ALWAYS, old=ENTROPY, new="1 - torch.stack(attentions).pow(2).sum(dim=-1)")
    wrong("log_of_squares", "You take −log Σ p². The entropy is −Σ p·log p: the logarithm first, then the sum.",
          breaks=ALWAYS, old=ENTROPY, new="-torch.stack(attentions).pow(2).sum(dim=-1).log()")
    wrong("log_of_the_largest", "You take −log of the largest weight. The entropy is −Σ p·log p, over all keys.",
          breaks=ALWAYS, old=ENTROPY, new="-torch.stack(attentions).amax(dim=-1).log()")
    wrong("variance", "You measure the variance of the weights. Asked is their entropy, −Σ p·log p.",
          breaks=ALWAYS, old=ENTROPY, new="torch.stack(attentions).var(dim=-1)")
    wrong("ends_left_out", "You leave out the first and the last real query of each sentence. [CLS] and [SEP] are real tokens here.",
          breaks=ALWAYS, old="attention_mask.bool()[:, None]", new="((attention_mask.cumsum(1) > 1) & (attention_mask.flip(1).cumsum(1).flip(1) > 1))[:, None]")
    wrong("list_of_rows", "You return a list of rows, one for each layer. Asked is one tensor (L, H): `torch.stack`.",
          breaks="shape", old=RESULT, new=f"return list({SUM} / real.sum())")


@MISTAKES.of(head_statistics)
def in_head_statistics(wrong):
    EDGES = "first and last"
    ALL = ("neighbors", EDGES, "entropy")
    TO_LAST = "weights[:, sentences, :, :, real.sum(dim=1) - 1]"
    FIRST = "(to_first * real[:, None]).sum(dim=(1, 3)) / real.sum()"
    LAST = "(to_last * real[:, None, None]).sum(dim=(0, 3)) / real.sum()"

    wrong("mask_demanded", "Your answer can't be called without a mask. `attention_mask` may be left out: give it the default None, as in the notebook.",
          breaks=NO_MASK, old="attention_mask: Tensor | None = None", new="attention_mask: Tensor")
    wrong("none_not_replaced", "Without a mask your answer stops: it works on None as if it were a tensor. None means that all tokens are real: put a mask of ones, (B, T), in its place.",
          breaks=NO_MASK, old=FILLED, new="")
    wrong("zeros_for_none", "Without a mask you take one of zeros, by which no token is real. None means that all are: ones.",
          breaks=NO_MASK, old="torch.ones_like(attentions[0]", new="torch.zeros_like(attentions[0]")
    wrong("previous_and_next_swapped", "“previous” and “next” have changed places. The token before is at offset −1, the one after at offset 1.",
          breaks="neighbors", old=("attention_mask, -1", "attention_mask, 1"), new=("attention_mask, 1", "attention_mask, -1"))
    wrong("previous_is_itself", "Under “previous” stands the attention to the token itself. The token before is at offset −1.",
          breaks="neighbors", old="attention_mask, -1", new="attention_mask, 0")
    wrong("next_is_itself", "Under “next” stands the attention to the token itself. The token after is at offset 1.",
          breaks="neighbors", old="attention_mask, 1)", new="attention_mask, 0)")
    wrong("next_is_previous", "Under “next” stands the attention to the token before. The token after is at offset 1.",
          breaks="neighbors", old="attention_mask, 1)", new="attention_mask, -1)")
    wrong("previous_is_next", "Under “previous” stands the attention to the token after. The token before is at offset −1.",
          breaks="neighbors", old="attention_mask, -1)", new="attention_mask, 1)")
    wrong("two_places_away", "“previous” and “next” are two places away, at offsets −2 and 2. Neighbors are at −1 and 1.",
          breaks="neighbors", old=("attention_mask, -1", "attention_mask, 1"), new=("attention_mask, -2", "attention_mask, 2"))
    wrong("itself_is_next", "Under “itself” stands the attention to the token after. Itself is offset 0.",
          breaks="neighbors", old="attention_mask, 0", new="attention_mask, 1")
    wrong("itself_is_previous", "Under “itself” stands the attention to the token before. Itself is offset 0.",
          breaks="neighbors", old="attention_mask, 0", new="attention_mask, -1")
    wrong("offsets_from_0", "Your offsets are 0, 1 and 2. The token before is at −1, the token itself at 0, the one after at 1.",
          breaks="neighbors", old=("attention_mask, -1", "attention_mask, 0", "attention_mask, 1"), new=("attention_mask, 0", "attention_mask, 1", "attention_mask, 2"))
    wrong("padding_counts_everywhere", "Padding counts in all your averages. Hand the attention mask on: only real queries count, and “last” is the last real token.",
          breaks=ALL, old="real = attention_mask.bool()", new="attention_mask = torch.ones_like(attention_mask)\n    real = attention_mask.bool()")
    wrong("no_mask_for_neighbors", "Padding counts in “previous”, “itself” and “next”. Hand `attention_mask` on to `attention_to_offset`.",
          breaks="neighbors", old=("attention_mask, -1", "attention_mask, 0", "attention_mask, 1"),
          new=("torch.ones_like(attention_mask), -1", "torch.ones_like(attention_mask), 0", "torch.ones_like(attention_mask), 1"))
    wrong("no_mask_for_entropy", "Padding counts in “entropy”. Hand `attention_mask` on to `head_entropy`.",
          breaks="entropy", old="head_entropy(attentions, attention_mask)", new="head_entropy(attentions, torch.ones_like(attention_mask))")
    wrong("padding_counts_in_first_and_last", "Padding queries count in “first” and “last”. Average over real queries only.",
          breaks=EDGES, old=(FIRST, LAST), new=("to_first.mean(dim=(1, 3))", "to_last.mean(dim=(0, 3))"))
    wrong("padding_counts_in_first", "Padding queries count in “first”. Average over real queries only.",
          breaks=EDGES, old=FIRST, new="to_first.mean(dim=(1, 3))")
    wrong("padding_counts_in_last", "Padding queries count in “last”. Average over real queries only.",
          breaks=EDGES, old=LAST, new="to_last.mean(dim=(0, 3))")
    wrong("padding_in_the_denominator", "“first” and “last” are divided by all B·T places. Divide by the number of real queries.",
          breaks=EDGES, old="real.sum(),", new="real.numel(),", times=2)
    wrong("last_is_the_last_place", "Under “last” stands the attention to place T − 1: in a shorter sentence that is padding. The last real token of sentence b is at place `attention_mask[b].sum() - 1`.",
          breaks=EDGES, old=TO_LAST + "  # (B, L, H, T): indexed axes come first", new="weights[..., -1].transpose(0, 1)")
    wrong("last_of_the_longest", "Under “last” stands the attention to the last place of the longest sentence: in a shorter one that is padding. Each sentence has its own last real token.",
          breaks=EDGES, old="real.sum(dim=1) - 1", new="real.sum(dim=1).amax().expand(len(real)) - 1")
    wrong("last_of_the_first_sentence", "You use the length of the first sentence for all. Each has its own last real token, at `attention_mask.sum(dim=1) - 1`.",
          breaks=EDGES, old="real.sum(dim=1) - 1", new="real.sum(dim=1)[:1].expand(len(real)) - 1")
    wrong("last_of_the_shortest", "You use the length of the shortest sentence for all. Each has its own last real token, at `attention_mask.sum(dim=1) - 1`.",
          breaks=EDGES, old="real.sum(dim=1) - 1", new="real.sum(dim=1).amin().expand(len(real)) - 1")
    wrong("last_is_first", "Under “last” stands the attention to the first token, as under “first” (`argmax` of the mask finds the first 1, not the last). The last real token of sentence b is at place `attention_mask[b].sum() - 1`.",
          breaks=EDGES, old="real.sum(dim=1) - 1", new="real.int().argmax(dim=1)")
    wrong("lengths_over_the_sentences", "You sum the mask over the sentences (`dim=0`): that is how many sentences reach a place. A sentence's length is the sum over its places, `sum(dim=1)`.",
          breaks=(EDGES, "without a mask"), old="real.sum(dim=1) - 1", new="real.sum(dim=0)[: len(real)] - 1")
    wrong("last_but_one", "Under “last” stands the attention to the last token but one. Places are counted from 0: a sentence of n tokens ends at place n − 1.",
          breaks=EDGES, old="real.sum(dim=1) - 1", new="real.sum(dim=1) - 2")
    wrong("behind_the_last", "You look at the place behind the last real token. Places are counted from 0: a sentence of n tokens ends at place n − 1.",
          breaks=("names", *ALL, NO_MASK), old="real.sum(dim=1) - 1", new="real.sum(dim=1)")
    wrong("first_and_last_swapped", "“first” and “last” have changed places.",
          breaks=EDGES, old=('"first":', '"last":'), new=('"last":', '"first":'))
    wrong("second_for_first", "Under “first” stands the attention to the second token. Places are counted from 0.",
          breaks=EDGES, old="weights[..., 0]", new="weights[..., 1]")
    wrong("from_first", "Under “first” stands what the first token looks at. Asked is how much the tokens look at it: column 0 of the weights, not row 0.",
          breaks=EDGES, old="weights[..., 0]", new="weights[..., 0, :]")
    wrong("from_last", "Under “last” stands what the last token looks at. Asked is how much the tokens look at it: a column of the weights, not a row.",
          breaks=EDGES, old="[:, sentences, :, :, real", new="[:, sentences, :, real")
    wrong("first_without_itself", "“first” leaves out the first token's own query. All real queries count, also the first one.",
          breaks=EDGES, old=FIRST, new="(to_first * real[:, None])[..., 1:].sum(dim=(1, 3)) / (real.sum() - len(real))")
    wrong("without_own_queries", "“first” leaves out the first token's own query, “last” the last one's. All real queries count.",
          breaks=EDGES, old=(FIRST, LAST),
          new=("(to_first * real[:, None])[..., 1:].sum(dim=(1, 3)) / (real.sum() - len(real))",
               "(to_last * (real & (torch.arange(real.size(1)) < real.sum(dim=1, keepdim=True) - 1))[:, None, None]).sum(dim=(0, 3)) / (real.sum() - len(real))"))
    wrong("itself_is_the_rest", "Under “itself” stands 1 less “previous” and “next”: what goes to all other tokens is in it, too. Itself is offset 0.",
          breaks="neighbors", old="attention_to_offset(attentions, attention_mask, 0)", new="1 - attention_to_offset(attentions, attention_mask, -1) - attention_to_offset(attentions, attention_mask, +1)")
    wrong("mean_of_sentence_means", "“first” and “last” are averaged within each sentence, then over the sentences: a query of a short sentence counts more. All real queries of the batch count alike.",
          breaks=EDGES, old=(FIRST, LAST),
          new=("((to_first * real[:, None]).sum(dim=3) / real.sum(dim=1)[:, None]).mean(dim=1)",
               "((to_last * real[:, None, None]).sum(dim=3) / real.sum(dim=1)[:, None, None]).mean(dim=0)"))
    wrong("mean_of_sentence_means_in_first", "“first” is averaged within each sentence, then over the sentences: a query of a short sentence counts more. All real queries of the batch count alike.",
          breaks=EDGES, old=FIRST, new="((to_first * real[:, None]).sum(dim=3) / real.sum(dim=1)[:, None]).mean(dim=1)")
    wrong("mean_of_sentence_means_in_last", "“last” is averaged within each sentence, then over the sentences: a query of a short sentence counts more. All real queries of the batch count alike.",
          breaks=EDGES, old=LAST, new="((to_last * real[:, None, None]).sum(dim=3) / real.sum(dim=1)[:, None, None]).mean(dim=0)")
    wrong("first_not_divided", "“first” is a sum over the queries. Asked is the average: divide by the number of real queries.",
          breaks=EDGES, old=FIRST, new="(to_first * real[:, None]).sum(dim=(1, 3))")
    wrong("last_not_divided", "“last” is a sum over the queries. Asked is the average: divide by the number of real queries.",
          breaks=EDGES, old=LAST, new="(to_last * real[:, None, None]).sum(dim=(0, 3))")
    wrong("neither_divided", "“first” and “last” are sums over the queries. Asked are averages: divide by the number of real queries.",
          breaks=EDGES, old=(FIRST, LAST), new=("(to_first * real[:, None]).sum(dim=(1, 3))", "(to_last * real[:, None, None]).sum(dim=(0, 3))"))
    wrong("axes_of_last", "Under “last” the axes are mixed up: an index with a list of sentences and a list of places (`weights[:, sentences, :, :, places]`) puts the indexed axis in front, (B, L, H, T).",
          breaks=EDGES, old="real[:, None, None]).sum(dim=(0, 3))", new="real[:, None, None]).sum(dim=(1, 3))")
    wrong("one_for_each_sentence", "Under “first” stands a number for each sentence, too. The average runs over the real queries of all sentences together: (L, H).",
          breaks=EDGES, old=FIRST, new="(to_first * real[:, None]).sum(dim=3) / real.sum(dim=1)[:, None]")
    wrong("short_name", "One name is other than asked: “prev” for “previous”.",
          breaks=("names", "neighbors"), old='"previous": ', new='"prev": ')
    wrong("self_for_itself", "One name is other than asked: “self” for “itself”.",
          breaks=("names", "neighbors"), old='"itself": ', new='"self": ')
    wrong("names_of_special_tokens", "Two names are other than asked: “[CLS]” and “[SEP]” for “first” and “last”.",
          breaks=("names", EDGES), old=('"first":', '"last":'), new=('"[CLS]":', '"[SEP]":'))
    wrong("cls_and_sep", "Two names are other than asked: “cls” and “sep” for “first” and “last”.",
          breaks=("names", EDGES), old=('"first":', '"last":'), new=('"cls":', '"sep":'))
    wrong("no_entropy", "“entropy” is missing.",
          breaks=("names", "entropy"), old='        "entropy": head_entropy(attentions, attention_mask),\n', new="")
    wrong("no_itself", "“itself” is missing.",
          breaks=("names", "neighbors"), old='        "itself": attention_to_offset(attentions, attention_mask, 0),\n', new="")
    wrong("no_first_and_last", "“first” and “last” are missing.",
          breaks=("names", EDGES), old=(f'        "first": {FIRST},\n', f'        "last": {LAST},\n'), new=("", ""))
    wrong("lists", "Under each name stands a list. Asked are tensors (L, H): leave out `tolist()`.",
          breaks=("names", *ALL), old=("return {", "head_entropy(attentions, attention_mask),\n    }"), new=("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return {name: value.tolist() for name, value in found.items()}"))
    wrong("tuple", "You return the values without their names. Asked is a dict, name → tensor (L, H).",
          breaks=("names", *ALL), old=("return {", "head_entropy(attentions, attention_mask),\n    }"), new=("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return tuple(found.values())"))
    wrong("stacked", "You stack the values into one tensor. Asked is a dict, name → tensor (L, H).",
          breaks=("names", *ALL), old=("return {", "head_entropy(attentions, attention_mask),\n    }"), new=("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return torch.stack(list(found.values()))"))
    wrong("heads_averaged", "Each of your tensors is averaged over the heads. Asked is a number for each layer and each head, (L, H).",
          breaks=ALL, old=("return {", "head_entropy(attentions, attention_mask),\n    }"), new=("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return {name: value.mean(dim=-1) for name, value in found.items()}"))
    wrong("transposed", "Layers and heads have changed places in each of your tensors, (H, L). Asked is (L, H), a row for each layer.",
          breaks=ALL, old=("return {", "head_entropy(attentions, attention_mask),\n    }"), new=("found = {", "head_entropy(attentions, attention_mask),\n    }\n    return {name: value.T for name, value in found.items()}"))
    wrong("last_layer_only", "You look at the last layer only. Asked are all {L}, one row each.",
          breaks=ALL, old=STACK, new="attentions = [attentions[-1]]\n    weights = torch.stack(attentions)")
    wrong("entropy_in_bits", "“entropy” is in bits. Asked are nats: `head_entropy` gives them.",
          breaks="entropy", old="head_entropy(attentions, attention_mask)", new="head_entropy(attentions, attention_mask) / torch.log(torch.tensor(2.0))")
    wrong("sharpness", "Under “entropy” the sign is the other one: yours is largest for a head that looks at one token. Asked is the entropy as `head_entropy` gives it.",
          breaks="entropy", old="head_entropy(attentions, attention_mask)", new="-head_entropy(attentions, attention_mask)")


@MISTAKES.of(find_previous_token_head)
def in_find_previous_token_head(wrong):
    NUMBERS = ("values", "padding")
    EVERYTHING = (*NUMBERS, "Python numbers")
    SHARES = "attention_to_offset(attentions, attention_mask, -1)"
    FOUND = "layer, head = divmod(int(shares.argmax()), shares.size(1))"

    wrong("mask_demanded", "Your answer can't be called without a mask. `attention_mask` may be left out: give it the default None, as in the notebook.",
          breaks=NO_MASK, old="attention_mask: Tensor | None = None", new="attention_mask: Tensor")
    wrong("none_not_replaced", "Without a mask your answer stops: it works on None as if it were a tensor. None means that all tokens are real: put a mask of ones, (B, T), in its place.",
          breaks=NO_MASK, old=FILLED, new="")
    wrong("zeros_for_none", "Without a mask you take one of zeros, by which no token is real. None means that all are: ones.",
          breaks=NO_MASK, old="torch.ones_like(attentions[0]", new="torch.zeros_like(attentions[0]")
    wrong("next_token_head", "You search at offset 1, for the head that looks at the token after. The token before is at offset −1.",
          breaks=NUMBERS, old="attention_mask, -1", new="attention_mask, 1")
    wrong("itself", "You search at offset 0, for the head in which tokens look at themselves. The token before is at offset −1.",
          breaks=NUMBERS, old="attention_mask, -1", new="attention_mask, 0")
    wrong("two_before", "You search at offset −2. The token before is at offset −1.",
          breaks=NUMBERS, old="attention_mask, -1", new="attention_mask, -2")
    wrong("counts_padding", "Padding counts in your averages. Hand `attention_mask` on to `attention_to_offset`.",
          breaks="padding", old="attentions, attention_mask, -1", new="attentions, torch.ones_like(attention_mask), -1")
    wrong("mean_of_sentence_means", "You average each sentence first, then the sentences: the tokens of short sentences count more. All pairs of the batch count alike, as in `attention_to_offset`.",
          breaks="padding", old=SHARES, new="torch.stack([attention_to_offset([layer[b : b + 1] for layer in attentions], attention_mask[b : b + 1], -1) for b in range(len(attention_mask))]).mean(dim=0)")
    wrong("swapped", "Layer and head have changed places. Asked is (layer, head).",
          breaks=NUMBERS, old="return layer, head", new="return head, layer")
    wrong("flat", "`argmax` gives you the place in the table read row by row, a single number. The layer is that number divided by the number of heads, the head is the remainder: `divmod`.",
          breaks=EVERYTHING, old=FOUND + "\n    return layer, head", new="return int(shares.argmax())")
    wrong("divided_by_layers", "You divide the flat index by the number of layers. A row of (L, H) has H entries: divide by the number of heads.",
          breaks=NUMBERS, old="shares.size(1)", new="shares.size(0)")
    wrong("heads_of_bert", "You divide the flat index by 12, the number of heads in BERT base and in the course's model. Take the number of heads from the shape.",
          breaks=NUMBERS, old="shares.size(1)", new="12")
    wrong("divided_by_sentences", "You divide the flat index by the number of sentences, {B}. A row of (L, H) has H entries: divide by the number of heads.",
          breaks=NUMBERS, old="shares.size(1)", new="len(attention_mask)")
    wrong("true_division", "Your layer is not a whole number: `/` gives fractions. Layers are counted: `//`, or `divmod`.",
          breaks=EVERYTHING, old=FOUND, new="head = int(shares.argmax()) % shares.size(1)\n    layer = int(shares.argmax()) / shares.size(1)")
    wrong("counted_from_1", "You count from 1. Layers and heads are counted from 0.",
          breaks=NUMBERS, old="return layer, head", new="return layer + 1, head + 1")
    wrong("layer_counted_from_1", "You count layers from 1. Layers, too, are counted from 0.",
          breaks=NUMBERS, old="return layer, head", new="return layer + 1, head")
    wrong("layers_from_the_top", "You count layers from the last one. Layer 0 is the first of the list.",
          breaks=NUMBERS, old="return layer, head", new="return len(shares) - 1 - layer, head")
    wrong("least", "You find the head that attends least to the token before. Asked is the one that attends most: `argmax`.",
          breaks=NUMBERS, old="argmax", new="argmin")
    wrong("best_means", "You choose the layer with the best mean over its heads, and the head with the best mean over the layers. A single head may be the best in a layer that is not: search the table (L, H) as a whole.",
          breaks="values", old=FOUND, new="layer, head = int(shares.mean(dim=1).argmax()), int(shares.mean(dim=0).argmax())")
    wrong("best_layer_then_head", "You choose the layer with the best mean first, then a head in it. A single head may be the best in a layer that is not: search the table (L, H) as a whole.",
          breaks="values", old=FOUND, new="layer = int(shares.mean(dim=1).argmax())\n    head = int(shares[layer].argmax())")
    wrong("best_head_then_layer", "You choose the head number with the best mean over the layers first, then a layer. Head 3 of one layer has nothing to do with head 3 of another: search the table (L, H) as a whole.",
          breaks="values", old=FOUND, new="head = int(shares.mean(dim=0).argmax())\n    layer = int(shares[:, head].argmax())")
    wrong("first_above_half", "You return the first head above 0.5 (nothing where there is none). Another one may attend more, and the best may be far below 0.5: `argmax`.",
          breaks=("values", "Python numbers"), old=FOUND, new="above = (shares > 0.5).nonzero().tolist()\n    if not above:\n        return None\n    layer, head = above[0]")
    wrong("first_above_half_or_first", "You return the first head above 0.5, and (0, 0) where there is none. Another one may attend more, and the best may be far below 0.5: `argmax`.",
          breaks="values", old="shares.argmax()", new="(shares > 0.5).int().argmax()")
    wrong("last_of_all", "You return the last head of the last layer, whatever the weights. A loop that searches has to remember the best share so far.",
          breaks=NUMBERS, old=FOUND, new="layer, head = shares.size(0) - 1, shares.size(1) - 1")
    wrong("largest_single_weight", "You search for the largest single weight. A head may look back once with all its weight, and never again: search by the average.",
          breaks=NUMBERS, old=SHARES, new="torch.stack([(layer * attention_mask[:, None, :, None]).diagonal(-1, -2, -1).amax(dim=(0, 2)) for layer in attentions])")
    wrong("most_often_the_favorite", "You count how often the token before has the largest weight. Asked is how much attention it gets on average.",
          breaks="values", old=SHARES, new="torch.stack([((layer.argmax(dim=-1) == torch.arange(layer.size(-1)) - 1) * attention_mask[:, None]).float().mean(dim=(0, 2)) for layer in attentions])")
    wrong("first_layer_only", "You search the first layer only. The head may be in any layer.",
          breaks=NUMBERS, old=FOUND, new="layer, head = 0, int(shares[0].argmax())")
    wrong("last_layer_only", "You search the last layer only. The head may be in any layer.",
          breaks=NUMBERS, old=FOUND, new="layer, head = len(shares) - 1, int(shares[-1].argmax())")
    wrong("layers_averaged", "You average over the layers before you search, and call the layer 0. A head belongs to its layer: search the table (L, H) as a whole.",
          breaks=NUMBERS, old=FOUND, new="layer, head = 0, int(shares.mean(dim=0).argmax())")
    wrong("divmod_of_a_tensor", "`divmod` does not take a tensor. Make a number of it first: `int(shares.argmax())`.",
          breaks=(*EVERYTHING, NO_MASK), old="int(shares.argmax())", new="shares.argmax()")
    wrong("tensors", "Your two numbers are tensors. Asked are Python numbers, which print as such: `int(…)`, `.item()` or `.tolist()`.",
          breaks="Python numbers", old="return layer, head", new="return torch.tensor(layer), torch.tensor(head)")
    wrong("floats", "You return numbers with a decimal point. Nothing can be indexed with them: `int(…)`, or `//` for `/`.",
          breaks="Python numbers", old="return layer, head", new="return float(layer), float(head)")
    wrong("words", "You return text. Asked are two numbers, (layer, head).",
          breaks=EVERYTHING, old="return layer, head", new='return f"layer {layer}, head {head}"')
    wrong("with_its_share", "You return the share, too. Asked is a pair, (layer, head).",
          breaks=EVERYTHING, old="return layer, head", new="return layer, head, shares.max().item()")
    wrong("share", "You return how much the head attends. Asked is which one it is, (layer, head).",
          breaks=EVERYTHING, old=FOUND + "\n    return layer, head", new="return shares.max().item()")
    wrong("layer_only", "You return the layer alone. Asked is a pair, (layer, head).",
          breaks=EVERYTHING, old="return layer, head", new="return layer")
    wrong("head_only", "You return the head alone. Asked is a pair, (layer, head).",
          breaks=EVERYTHING, old="return layer, head", new="return head")
    wrong("best_of_each_layer", "You return the best head of each layer. Asked is the one best of all, (layer, head).",
          breaks=EVERYTHING, old=FOUND + "\n    return layer, head", new="return [(layer, int(row.argmax())) for layer, row in enumerate(shares)]")
    wrong("dict", "You return a dict. Asked is a pair, (layer, head).",
          breaks=EVERYTHING, old="return layer, head", new='return {"layer": layer, "head": head}')


@MISTAKES.of(attention_between)
def in_attention_between(wrong):
    SHAPE = ("shape", "values")
    HALVES = "halves = (slice(None, sentence_b_start), slice(sentence_b_start, None))"
    STACKED = "return torch.stack(rows, dim=-2)"

    wrong("transposed", "Who looks and who is looked at have changed places: at […, i, j] stands what sentence j gives to sentence i. Row i is the sentence that looks.",
          breaks="values", old="torch.stack(rows, dim=-2)", new="torch.stack(rows, dim=-1)")
    wrong("boundary_too_late", "Your sentence A has a token too many: the token at `sentence_b_start` is the first of B. A is `[:sentence_b_start]`.",
          breaks="values", old=HALVES, new="halves = (slice(None, sentence_b_start + 1), slice(sentence_b_start + 1, None))")
    wrong("boundary_too_early", "Your sentence A has a token too few: all tokens before `sentence_b_start` are A, `[:sentence_b_start]`.",
          breaks="values", old=HALVES, new="halves = (slice(None, sentence_b_start - 1), slice(sentence_b_start - 1, None))")
    wrong("b_from_the_end", "Your sentence B is the last `sentence_b_start` tokens. It is all from place `sentence_b_start` on: `[sentence_b_start:]`, without a minus.",
          breaks="values", old="slice(sentence_b_start, None)", new="slice(-sentence_b_start, None)")
    wrong("boundary_token_twice", "The token at `sentence_b_start` counts in both sentences. It belongs to B: A is `[:sentence_b_start]`.",
          breaks="values", old="slice(None, sentence_b_start)", new="slice(None, sentence_b_start + 1)")
    wrong("boundary_token_lost", "The token at `sentence_b_start` is in neither sentence. It is the first of B, `[sentence_b_start:]`.",
          breaks="values", old="slice(sentence_b_start, None)", new="slice(sentence_b_start + 1, None)")
    wrong("last_token_lost", "The last token is in neither sentence (`[…:-1]`). B goes to the end: `[sentence_b_start:]`.",
          breaks="values", old="slice(sentence_b_start, None)", new="slice(sentence_b_start, -1)")
    wrong("first_token_lost", "The first token is in neither sentence (`[1:…]`). A begins with it: `[:sentence_b_start]`.",
          breaks="values", old="slice(None, sentence_b_start)", new="slice(1, sentence_b_start)")
    wrong("mean_of_both", "You average over the keys, too. What a token gives to a sentence is the sum over that sentence's keys; the average runs over the queries.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="mean(dim=(-2, -1))")
    wrong("sum_of_both", "You sum over the queries, too. A sentence's share is the average over its tokens: sum over the keys, mean over the queries.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="sum(dim=(-2, -1))")
    wrong("sum_over_queries", "You sum over the queries and average over the keys. It is the other way round: sum over the keys, mean over the queries.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="sum(dim=-2).mean(dim=-1)")
    wrong("divided_by_all_tokens", "You divide by T, the tokens of both sentences. Each row is an average over the tokens of its own sentence, and sums to one.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="sum(dim=(-2, -1)) / weights.size(-1)")
    wrong("divided_by_all_pairs", "You divide by T·T, all weights of a head. Each row is an average over the tokens of its own sentence, and sums to one.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="sum(dim=(-2, -1)) / weights.size(-1) ** 2")
    wrong("special_tokens_lost", "You leave out the first token, the one before `sentence_b_start` and the last: [CLS] and both [SEP]. Each token belongs to one of the two: `[:sentence_b_start]` or `[sentence_b_start:]`.",
          breaks="values", old=HALVES, new="halves = (slice(1, sentence_b_start - 1), slice(sentence_b_start, -1))")
    wrong("columns_sum_to_one", "Your columns sum to one: you share out what a sentence receives. Asked is how a sentence shares out what it gives: the rows sum to one.",
          breaks="values", old=STACKED, new="between = torch.stack(rows, dim=-2)\n    return between / between.sum(dim=-2, keepdim=True)")
    wrong("means_with_rows_to_one", "You average over the keys and then make the rows sum to one, so that a short sentence gets too much. Sum over the keys.",
          breaks="values", old=("sum(dim=-1).mean(dim=-1)", STACKED), new=("mean(dim=(-2, -1))", "between = torch.stack(rows, dim=-2)\n    return between / between.sum(dim=-1, keepdim=True)"))
    wrong("largest", "You take the largest weight in each block. Asked is a share: sum over the keys, mean over the queries.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="amax(dim=(-2, -1))")
    wrong("largest_query", "You take the query that gives most. Asked is the mean over the queries.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="sum(dim=-1).amax(dim=-1)")
    wrong("largest_key", "You take the key that gets most. Asked is the sum over the keys.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="amax(dim=-1).mean(dim=-1)")
    wrong("first_query_only", "You look at the first query of each sentence only. Asked is the mean over all its queries.",
          breaks="values", old="sum(dim=-1).mean(dim=-1)", new="sum(dim=-1)[..., 0]")
    wrong("keys_of_both", "Both entries of a row hold the attention to all tokens, so all your numbers are 1. Choose the keys, too: `weights[..., queries, keys]`.",
          breaks="values", old="weights[..., queries, keys]", new="weights[..., queries, :]")
    wrong("queries_of_both", "Both rows are averages over all tokens. Row i is one over the tokens of sentence i: `weights[..., queries, keys]`.",
          breaks="values", old="weights[..., queries, keys]", new="weights[..., keys]")
    wrong("a_and_b_swapped", "A and B have changed places. Index 0 is A, what stands before `sentence_b_start`; index 1 is B.",
          breaks="values", old=HALVES, new="halves = (slice(sentence_b_start, None), slice(None, sentence_b_start))")
    wrong("rows_swapped", "The rows have changed places. Row 0 is sentence A, row 1 is B.",
          breaks="values", old=STACKED, new="return torch.stack(rows[::-1], dim=-2)")
    wrong("columns_swapped", "The columns have changed places. Column 0 is what goes to sentence A, column 1 to B.",
          breaks="values", old="for keys in halves]", new="for keys in halves[::-1]]")
    wrong("columns_of_b_swapped", "In B's row the columns have changed places. In both rows, column 0 is what goes to sentence A, column 1 to B.",
          breaks="values", old=STACKED, new="return torch.stack([rows[0], rows[1].flip(-1)], dim=-2)")
    wrong("columns_of_a_swapped", "In A's row the columns have changed places. In both rows, column 0 is what goes to sentence A, column 1 to B.",
          breaks="values", old=STACKED, new="return torch.stack([rows[0].flip(-1), rows[1]], dim=-2)")
    wrong("axes_in_front", "The two axes of the sentences stand in front, (2, 2, L, H). Asked is (L, H, 2, 2).",
          breaks=SHAPE, old=("dim=-1)  # (L, H, 2)", "dim=-2)"), new=("dim=0)  # (2, L, H)", "dim=0)"))
    wrong("four_in_a_row", "The four shares stand in a row, (L, H, 4). Asked is (L, H, 2, 2): a row for the sentence that looks, a column for the one it looks at.",
          breaks=SHAPE, old="torch.stack(rows, dim=-2)", new="torch.cat(rows, dim=-1)")
    wrong("reshaped", "You reshape the four blocks, (4, L, H) or (2, 2, L, H), to (L, H, 2, 2): `reshape` moves no axis, so that numbers of other heads and layers stand side by side. Stack along the last axis, or `movedim` first.",
          breaks="values", old=STACKED, new="return torch.cat(rows, dim=-1).movedim(-1, 0).reshape(*weights.shape[:2], 2, 2)")
    wrong("batch_kept", "The axis of the batch is still there, (L, 1, H, 2, 2). There is one pair only: take `layer[0]`.",
          breaks=SHAPE, old="layer[0] for layer in attentions", new="layer for layer in attentions")
    wrong("squeezed", "For one layer and one head, their axes are gone: `squeeze()` takes away every axis of length 1. Take away the batch's alone: `layer[0]`, or `squeeze(1)` of the stack.",
          breaks=SHAPE, old="torch.stack([layer[0] for layer in attentions])", new="torch.stack(attentions).squeeze()")
    wrong("layers_averaged", "You average over the layers, too. Asked are four numbers for each layer and each head, (L, H, 2, 2).",
          breaks=SHAPE, old=STACKED, new="return torch.stack(rows, dim=-2).mean(dim=0)")
    wrong("heads_averaged", "You average over the heads, too. Asked are four numbers for each layer and each head, (L, H, 2, 2).",
          breaks=SHAPE, old=STACKED, new="return torch.stack(rows, dim=-2).mean(dim=1)")
    wrong("one_for_all_heads", "You average over layers and heads, too, down to four numbers in all. Asked are four for each layer and each head, (L, H, 2, 2).",
          breaks=SHAPE, old=STACKED, new="return torch.stack(rows, dim=-2).mean(dim=(0, 1))")
    wrong("layers_and_heads_swapped", "Layers and heads have changed places: (H, L, 2, 2). Asked is (L, H, 2, 2).",
          breaks=SHAPE, old=STACKED, new="return torch.stack(rows, dim=-2).transpose(0, 1)")
    wrong("last_layer_only", "You look at the last layer only. Asked are all {L}.",
          breaks=SHAPE, old="for layer in attentions]", new="for layer in attentions[-1:]]")
    wrong("layers_from_the_top", "Your layers stand in reverse order. Index 0 is the first of the list.",
          breaks="values", old="for layer in attentions]", new="for layer in attentions[::-1]]")
    wrong("within_and_across", "You return two numbers a head, within a sentence and across. Asked are four, (L, H, 2, 2): who looks, and at whom.",
          breaks=SHAPE, old=STACKED, new="between = torch.stack(rows, dim=-2)\n    return torch.stack([between[..., 0, 0] + between[..., 1, 1], between[..., 0, 1] + between[..., 1, 0]], dim=-1)")
    wrong("only_across", "You return what goes across alone. Asked are all four, (L, H, 2, 2).",
          breaks=SHAPE, old=STACKED, new="between = torch.stack(rows, dim=-2)\n    return torch.stack([between[..., 0, 1], between[..., 1, 0]], dim=-1)")
    wrong("within_is_0", "Your diagonal is 0. Asked is also what a sentence gives to itself.",
          breaks="values", old=STACKED, new="return torch.stack(rows, dim=-2) * (1 - torch.eye(2))")
    wrong("percent", "You return percent. Asked are shares: each row sums to one.",
          breaks="values", old="return torch", new="return 100 * torch")
    wrong("dict", "You return a dict. Asked is one tensor, (L, H, 2, 2).",
          breaks=SHAPE, old=STACKED, new='between = torch.stack(rows, dim=-2)\n    return {f"{i} to {j}": between[..., m, n] for m, i in enumerate("ab") for n, j in enumerate("ab")}')


@MISTAKES.of(neuron_terms)
def in_neuron_terms(wrong):
    ALWAYS = ("values", "any leading axes")
    SHAPED = ("shape", *ALWAYS)
    PRODUCT = "query.unsqueeze(-2) * key.unsqueeze(-3)"

    wrong("summed", "You return the sums, the scores themselves. Asked are the K products before they are summed, (…, T, S, K).",
          breaks=SHAPED, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).sum(dim=-1)")
    wrong("scores", "You return the scores of notebook 02, divided by √K. Asked are the K products of which each is the sum, (…, T, S, K).",
          breaks=SHAPED, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).sum(dim=-1) / query.size(-1) ** 0.5")
    wrong("scaled", "You divide by √K. Asked are the products themselves; the root comes after the sum.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"return {PRODUCT} / query.size(-1) ** 0.5")
    wrong("divided_by_k", "You divide by K. Asked are the products themselves.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"return {PRODUCT} / query.size(-1)")
    wrong("queries_and_keys_swapped", "Queries and keys have changed places: your shape is (…, S, T, K). Asked is (…, T, S, K), a row for each query.",
          breaks=SHAPED, old=PRODUCT, new="query.unsqueeze(-3) * key.unsqueeze(-2)")
    wrong("neurons_first", "The neurons stand before the tokens, (…, K, T, S). Asked is (…, T, S, K).",
          breaks=SHAPED, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).movedim(-1, -3)")
    wrong("keys_last", "Your last two axes have changed places, (…, T, K, S). Asked is (…, T, S, K).",
          breaks=SHAPED, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).transpose(-2, -1)")
    wrong("place_by_place", "You multiply query t with key t only (`query * key`). Each query meets each key: give the query an axis for the keys, and the key one for the queries.",
          breaks=SHAPED, old=PRODUCT, new="query * key")
    wrong("not_transposed", "`query @ key` can't be multiplied as they are, and would sum over K besides. Asked are the single products: `*`, with an axis more on both sides.",
          breaks=SHAPED, old=PRODUCT, new="query @ key")
    wrong("added", "You add query and key. Asked is their product.",
          breaks=ALWAYS, old=PRODUCT, new="query.unsqueeze(-2) + key.unsqueeze(-3)")
    wrong("differences", "You take differences of query and key. Asked is their product.",
          breaks=ALWAYS, old=PRODUCT, new="query.unsqueeze(-2) - key.unsqueeze(-3)")
    wrong("all_pairs_of_neurons", "You multiply each number of the query with each number of the key, K·K products. A score is the sum of K: number k of the query with number k of the key.",
          breaks=SHAPED, old=PRODUCT, new="query[..., :, None, :, None] * key[..., None, :, None, :]")
    wrong("fixed_axes", "`unsqueeze(3)` and `unsqueeze(2)` fit inputs of four axes only. Counted from the end, −2 and −3, they fit any.",
          breaks="any leading axes", old=PRODUCT, new="query.unsqueeze(3) * key.unsqueeze(2)")
    wrong("four_axes_unpacked", "Your code wants exactly four axes, (B, H, T, K). The contract has any number of axes in front: `…`.",
          breaks="any leading axes", old="return ", new="batch, heads, length, width = query.shape\n    return ")
    wrong("expanded_at_1", "Your new axes stand at 1 and 2, among the leading axes. They belong next to the tokens: −2 for the query, −3 for the key.",
          breaks=SHAPED, old=PRODUCT, new="query.unsqueeze(2) * key.unsqueeze(1)")
    wrong("both_behind_the_tokens", "Both new axes stand behind the tokens, at −2, so that query t meets key t. The key's belongs before its tokens, at −3: then each query meets each key.",
          breaks=SHAPED, old="key.unsqueeze(-3)", new="key.unsqueeze(-2)")
    wrong("both_before_the_tokens", "Both new axes stand before the tokens, at −3, so that query t meets key t. The query's belongs behind its tokens, at −2: then each query meets each key.",
          breaks=SHAPED, old="query.unsqueeze(-2)", new="query.unsqueeze(-3)")
    wrong("softmaxed", "You put the products through a softmax. Asked are the products themselves.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).softmax(dim=-1)")
    wrong("sizes", "You take absolute values. The sign tells whether a neuron speaks for or against: leave it.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).abs()")
    wrong("only_positive", "Your negative products are 0. The sign tells whether a neuron speaks for or against: leave it.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).relu()")
    wrong("squared", "You square the products. Asked are the products themselves.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).pow(2)")
    wrong("shares_of_the_score", "You divide by the sum, so that each shares out 1. Asked are the products themselves: their sum is the score times √K.",
          breaks=ALWAYS, old=f"return {PRODUCT}", new=f"terms = {PRODUCT}\n    return terms / terms.sum(dim=-1, keepdim=True)")
    wrong("cosine", "You divide by the lengths of query and key: your sums are cosines. Asked are the products as they are.",
          breaks=ALWAYS, old=PRODUCT, new="(query / query.norm(dim=-1, keepdim=True)).unsqueeze(-2) * (key / key.norm(dim=-1, keepdim=True)).unsqueeze(-3)")
    wrong("queries_repeated", "The key is not in your result: it holds the query's numbers. Multiply by the key's.",
          breaks=ALWAYS, old=PRODUCT, new="query.unsqueeze(-2) * torch.ones_like(key).unsqueeze(-3)")
    wrong("keys_repeated", "The query is not in your result: it holds the key's numbers. Multiply by the query's.",
          breaks=ALWAYS, old=PRODUCT, new="torch.ones_like(query).unsqueeze(-2) * key.unsqueeze(-3)")
    wrong("keys_with_keys", "You multiply keys with keys. The query is not used.",
          breaks=SHAPED, old="query.unsqueeze(-2)", new="key.unsqueeze(-2)")
    wrong("queries_with_queries", "You multiply queries with queries. The key is not used.",
          breaks=SHAPED, old="key.unsqueeze(-3)", new="query.unsqueeze(-3)")
    wrong("averaged_over_keys", "You average over the keys. Each query has K products with each key: (…, T, S, K).",
          breaks=SHAPED, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).mean(dim=-2)")
    wrong("summed_over_keys", "You sum over the keys. Each query has K products with each key: (…, T, S, K).",
          breaks=SHAPED, old=f"return {PRODUCT}", new=f"return ({PRODUCT}).sum(dim=-2)")
    wrong("keys_reversed", "Your keys stand in reverse order.",
          breaks=ALWAYS, old="key.unsqueeze(-3)", new="key.flip(-2).unsqueeze(-3)")
    wrong("neurons_reversed", "Number k of the query meets number K − 1 − k of the key. Number k meets number k.",
          breaks=ALWAYS, old="key.unsqueeze(-3)", new="key.flip(-1).unsqueeze(-3)")
    wrong("negative", "All signs are turned around.",
          breaks=ALWAYS, old="return query", new="return -query")
    wrong("first_query_only", "You take the first query only, for all rows.",
          breaks=ALWAYS, old="query.unsqueeze(-2)", new="query[..., :1, :].expand_as(query).unsqueeze(-2)")


@MISTAKES.of(weighted_value_norms)
def in_weighted_value_norms(wrong):
    SHAPE = ("shape", "values")
    NORM = "value.norm(dim=-1).unsqueeze(-2)"

    wrong("squared_norms", "You square the lengths: the root is missing.",
          breaks="values", old="value.norm(dim=-1)", new="value.pow(2).sum(dim=-1)")
    wrong("sum_of_sizes", "You add up the sizes of the value's numbers (the 1-norm). The Euclidean length is the root of the sum of their squares.",
          breaks="values", old="value.norm(dim=-1)", new="value.abs().sum(dim=-1)")
    wrong("mean_of_sizes", "You take the mean size of the value's numbers. The Euclidean length is the root of the sum of their squares.",
          breaks="values", old="value.norm(dim=-1)", new="value.abs().mean(dim=-1)")
    wrong("largest_number", "You take the largest number of each value. The Euclidean length is the root of the sum of all squares.",
          breaks="values", old="value.norm(dim=-1)", new="value.abs().amax(dim=-1)")
    wrong("root_mean_square", "You divide by √K = {root_K}: the root of the *mean* square. The Euclidean length is the root of the sum.",
          breaks="values", old="value.norm(dim=-1)", new="value.pow(2).mean(dim=-1).sqrt()")
    wrong("signed_sum", "You add up the value's numbers with their signs, so that they cancel. The Euclidean length is the root of the sum of their squares.",
          breaks="values", old="value.norm(dim=-1)", new="value.sum(dim=-1)")
    wrong("signed_mean", "You average the value's numbers with their signs, so that they cancel. The Euclidean length is the root of the sum of their squares.",
          breaks="values", old="value.norm(dim=-1)", new="value.mean(dim=-1)")
    wrong("size_of_the_sum", "You add up the value's numbers before you take the size, so that they cancel. The Euclidean length is the root of the sum of their squares.",
          breaks="values", old="value.norm(dim=-1)", new="value.sum(dim=-1).abs()")
    wrong("norm_over_keys", "Your norm runs over the keys (axis −2), so that it has K numbers a head and not S. It runs over the K numbers of each value, the last axis.",
          breaks=SHAPE, old="value.norm(dim=-1)", new="value.norm(dim=-2)")
    wrong("norm_over_heads", "Your norm runs over the heads (axis 1). It runs over the K numbers of each value, the last axis.",
          breaks=SHAPE, old="value.norm(dim=-1)", new="value.norm(dim=1)")
    wrong("one_norm_for_all", "Your norm runs over all values at once, a single number. Each value has its own length: `norm(dim=-1)`.",
          breaks="values", old=NORM, new="value.norm()")
    wrong("one_norm_a_head", "Your norm runs over all values of a head. Each value has its own length: `norm(dim=-1)`.",
          breaks="values", old=NORM, new="value.norm(dim=(-2, -1))[..., None, None]")
    wrong("lengths_on_the_queries", "You multiply row t by the length of value t. A length belongs to its key, a column: `unsqueeze(-2)`, (B, H, 1, S).",
          breaks=SHAPE, old="unsqueeze(-2)", new="unsqueeze(-1)")
    wrong("no_axis", "The lengths (B, H, S) meet the weights (B, H, T, S) without an axis for the queries: `unsqueeze(-2)`.",
          breaks=SHAPE, old=".unsqueeze(-2)", new="")
    wrong("axis_at_1", "Your new axis stands at 1, before the heads. It belongs where the queries are: `unsqueeze(-2)`, (B, H, 1, S).",
          breaks=SHAPE, old="unsqueeze(-2)", new="unsqueeze(1)")
    wrong("no_weights", "The weights are not in your result. Each length is multiplied by the weight that its key gets.",
          breaks="values", old="return weights *", new="return torch.ones_like(weights) *")
    wrong("no_norms", "The values are not in your result: these are the weights alone. Multiply by the values' lengths.",
          breaks="values", old=f"weights * {NORM}", new="weights.clone()")
    wrong("unit_values", "You make the values one long before you measure them, so that their lengths are lost.",
          breaks="values", old="value.norm(dim=-1)", new="(value / value.norm(dim=-1, keepdim=True)).norm(dim=-1)")
    wrong("unit_values_or_0", "You make the values one long before you measure them (`normalize`), so that their lengths are lost.",
          breaks="values", old="value.norm(dim=-1)", new="torch.nn.functional.normalize(value, dim=-1).norm(dim=-1)")
    wrong("divided", "You divide by the lengths. Multiply by them: a short value adds little.",
          breaks="values", old="weights * value", new="weights / value")
    wrong("added", "You add the lengths to the weights. Multiply by them: ‖weight · value‖ = weight · ‖value‖.",
          breaks="values", old="weights * value", new="weights + value")
    wrong("rows_to_one", "You make the rows sum to one. Asked are the lengths as they are.",
          breaks="values", old=f"return weights * {NORM}", new=f"norms = weights * {NORM}\n    return norms / norms.sum(dim=-1, keepdim=True)")
    wrong("largest_is_1", "You divide each row by its largest entry. Asked are the lengths as they are.",
          breaks="values", old=f"return weights * {NORM}", new=f"norms = weights * {NORM}\n    return norms / norms.amax(dim=-1, keepdim=True)")
    wrong("softmaxed", "You put the result through a softmax. Asked are the lengths as they are.",
          breaks="values", old=f"return weights * {NORM}", new=f"return (weights * {NORM}).softmax(dim=-1)")
    wrong("vectors_kept", "You return the vectors weight · value themselves, (B, H, T, S, K). Asked are their lengths, (B, H, T, S).",
          breaks=SHAPE, old=f"weights * {NORM}", new="weights.unsqueeze(-1) * value.unsqueeze(-3)")
    wrong("length_of_the_result", "You measure what comes out: the length of the sum of all weighted values, one number a query. Asked is the length of each key's part, (B, H, T, S).",
          breaks=SHAPE, old=f"weights * {NORM}", new="(weights @ value).norm(dim=-1)")
    wrong("result", "You return the mixed values, weights @ value. Asked is how long each key's part of it is, (B, H, T, S).",
          breaks=SHAPE, old=f"weights * {NORM}", new="weights @ value")
    wrong("queries_summed", "You sum over the queries. Each query has its own: (B, H, T, S).",
          breaks=SHAPE, old=f"return weights * {NORM}", new=f"return (weights * {NORM}).sum(dim=-2)")
    wrong("keys_summed", "You sum over the keys. Asked is what each of them adds: (B, H, T, S).",
          breaks=SHAPE, old=f"return weights * {NORM}", new=f"return (weights * {NORM}).sum(dim=-1)")
    wrong("heads_summed", "You sum over the heads. Each head has its own: (B, H, T, S).",
          breaks=SHAPE, old=f"return weights * {NORM}", new=f"return (weights * {NORM}).sum(dim=1)")
    wrong("heads_averaged", "You average over the heads. Each head has its own: (B, H, T, S).",
          breaks=SHAPE, old=f"return weights * {NORM}", new=f"return (weights * {NORM}).mean(dim=1)")
    wrong("transposed", "Your result is transposed, (B, H, S, T). Asked is (B, H, T, S), a row for each query.",
          breaks=SHAPE, old=f"return weights * {NORM}", new=f"return (weights * {NORM}).transpose(-2, -1)")
    wrong("squared", "You square the result. Asked is the length itself.",
          breaks="values", old=f"return weights * {NORM}", new=f"return (weights * {NORM}).pow(2)")
    wrong("weights_squared", "You square the weights. A vector times a number is longer by that number, not by its square.",
          breaks="values", old="return weights *", new="return weights.pow(2) *")
    wrong("root_of_weights", "You multiply by the roots of the weights. A vector times a number is longer by that number itself.",
          breaks="values", old="return weights *", new="return weights.sqrt() *")
    wrong("first_sentence", "You use the first sentence's values for all. Each has its own.",
          breaks="values", old="value.norm", new="value[:1].norm")
    wrong("first_head", "You use the first head's values for all. Each has its own.",
          breaks="values", old="value.norm", new="value[:, :1].norm")
    wrong("keys_reversed", "The lengths stand in reverse order of the keys.",
          breaks="values", old="value.norm", new="value.flip(-2).norm")


@MISTAKES.of(attention_rollout)
def in_attention_rollout(wrong):
    ALWAYS = ("values", "one layer")
    SHAPED = ("shape", *ALWAYS)
    MIX = "layer = 0.5 * weights.mean(dim=1) + 0.5 * torch.eye(length)  # (B, T, T)"
    STEP = "flow = layer @ flow"
    LOOP = "    for weights in attentions:  # (B, H, T, T)\n"

    wrong("no_residual", "The residual connection is missing: half of each layer's matrix is the identity, because half of what a layer hands on is what it got.",
          breaks=ALWAYS, old=MIX, new="layer = weights.mean(dim=1)")
    wrong("reversed", "Your product is in reverse order. The last layer stands on the left: `flow = layer @ flow`, from the first layer to the last.",
          breaks="values", old=STEP, new="flow = flow @ layer")
    wrong("transposed", "Your result is transposed: rows are the tokens of the last layer, columns the input tokens.",
          breaks=ALWAYS, old="return flow", new="return flow.transpose(-2, -1)")
    wrong("layers_transposed", "You multiply by transposed layers, so that keys meet queries. `layer @ flow`, as it is.",
          breaks=ALWAYS, old=STEP, new="flow = layer.transpose(-2, -1) @ flow")
    wrong("identity_not_halved", "You add the identity without taking half of both: the rows of A + I sum to 2, and your numbers double with each layer. ½·A + ½·I.",
          breaks=ALWAYS, old=MIX, new="layer = weights.mean(dim=1) + torch.eye(length)")
    wrong("weights_not_halved", "You halve the identity but not the weights. ½·A + ½·I: then each row sums to one.",
          breaks=ALWAYS, old="0.5 * weights.mean", new="weights.mean")
    wrong("identity_whole", "You halve the weights but not the identity. ½·A + ½·I: then each row sums to one.",
          breaks=ALWAYS, old="0.5 * torch.eye", new="torch.eye")
    wrong("halved_without_identity", "You take half of the weights, but the other half, the identity, is missing.",
          breaks=ALWAYS, old=" + 0.5 * torch.eye(length)", new="")
    wrong("all_ones", "You mix with a matrix of ones. The residual connection hands each token on to itself: the identity, `torch.eye`.",
          breaks=ALWAYS, old="0.5 * torch.eye(length)", new="0.5 * torch.ones(length, length)")
    wrong("ones_added", "You add 1 to every weight before you make the rows sum to one. The residual connection hands each token on to itself alone: the identity, `torch.eye`.",
          breaks=ALWAYS, old=MIX, new="layer = weights.mean(dim=1) + 1\n        layer = layer / layer.sum(dim=-1, keepdim=True)")
    wrong("mostly_weights", "Your mixture is 0.9 to 0.1. Half and half is asked for.",
          breaks=ALWAYS, old=("0.5 * weights", "0.5 * torch"), new=("0.9 * weights", "0.1 * torch"))
    wrong("mostly_identity", "Your mixture is 0.1 to 0.9. Half and half is asked for.",
          breaks=ALWAYS, old=("0.5 * weights", "0.5 * torch"), new=("0.1 * weights", "0.9 * torch"))
    wrong("heads_added", "You add up the heads, so that a row of {H} heads sums to {H}. Take their mean.",
          breaks=ALWAYS, old="weights.mean(dim=1)", new="weights.sum(dim=1)")
    wrong("largest_head", "You take the largest weight of all heads. Take their mean, so that each row sums to one.",
          breaks=ALWAYS, old="weights.mean(dim=1)", new="weights.amax(dim=1)")
    wrong("largest_head_to_one", "You take the largest weight of all heads, and make the rows sum to one again. Take the heads' mean: its rows sum to one by themselves.",
          breaks=ALWAYS, old=MIX, new="layer = weights.amax(dim=1)\n        layer = 0.5 * layer / layer.sum(dim=-1, keepdim=True) + 0.5 * torch.eye(length)")
    wrong("smallest_head", "You take the smallest weight of all heads. Take their mean, so that each row sums to one.",
          breaks=ALWAYS, old="weights.mean(dim=1)", new="weights.amin(dim=1)")
    wrong("first_head_only", "You look at the first head only. Take the mean of all.",
          breaks=ALWAYS, old="weights.mean(dim=1)", new="weights[:, 0]")
    wrong("heads_kept", "You roll each head out by itself and average at the end. A layer mixes its heads before the next one reads them: take their mean in each layer.",
          breaks="values", old=("weights.mean(dim=1)", "# (B, T, T)\n        flow", "return flow"), new=("weights", "# (B, H, T, T)\n        flow", "return flow.mean(dim=1)"))
    wrong("one_for_each_head", "You roll each head out by itself, (B, H, T, T). Take the mean of the heads in each layer: (B, T, T).",
          breaks=SHAPED, old="weights.mean(dim=1)", new="weights")
    wrong("batch_averaged", "You average over the sentences (axis 0). Average over the heads, axis 1: (B, T, T).",
          breaks=SHAPED, old="weights.mean(dim=1)", new="weights.mean(dim=0)")
    wrong("both_averaged", "You average over the sentences, too. Each has its own rollout: (B, T, T).",
          breaks=SHAPED, old="weights.mean(dim=1)", new="weights.mean(dim=(0, 1))")
    wrong("last_layer_only", "You return the last layer alone. All layers have to be multiplied.",
          breaks="values", old=STEP, new="flow = layer")
    wrong("last_weights_only", "You return the mean of the last layer's heads, and nothing of the layers below. All layers have to be multiplied, each mixed with the identity.",
          breaks=ALWAYS, old=("        " + MIX + "\n", STEP), new=("", "flow = weights.mean(dim=1)"))
    wrong("first_layer_missing", "Your product leaves out the first layer.",
          breaks=ALWAYS, old="in attentions:", new="in attentions[1:]:")
    wrong("last_layer_missing", "Your product leaves out the last layer.",
          breaks=ALWAYS, old="in attentions:", new="in attentions[:-1]:")
    wrong("first_layer_twice", "The first layer is in your product twice. Where `flow` begins with the first layer, the loop begins with the second.",
          breaks=ALWAYS, old=STEP, new="flow = layer @ (layer if flow.dim() == 2 else flow)")
    wrong("last_layer_twice", "The last layer is in your product twice. Each layer comes once.",
          breaks=ALWAYS, old="return flow", new="return layer @ flow")
    wrong("layers_averaged", "You average the layers. What passes through one layer after the other is a product of matrices.",
          breaks="values", old=("torch.eye(length)  # (T, T), then (B, T, T)", STEP), new=("torch.zeros(length, length)", "flow = flow + layer / len(attentions)"))
    wrong("layers_added", "You add up the layers. What passes through one layer after the other is a product of matrices.",
          breaks="values", old=("torch.eye(length)  # (T, T), then (B, T, T)", STEP), new=("torch.zeros(length, length)", "flow = flow + layer"))
    wrong("elementwise", "You multiply the layers entry by entry (`*`). Matrices are multiplied by `@`: a token's share in the input comes by way of all tokens in between.",
          breaks="values", old=("torch.eye(length)  # (T, T), then (B, T, T)", STEP), new=("torch.ones(length, length)", "flow = flow * layer"))
    wrong("elementwise_from_identity", "You multiply entry by entry (`*`), beginning with the identity, so that only the diagonal is left. Matrices are multiplied by `@`.",
          breaks=ALWAYS, old=STEP, new="flow = layer * flow")
    wrong("residual_once", "You mix with the identity only once, at the end. Each layer has a residual connection of its own.",
          breaks="values", old=(MIX, "return flow"), new=("layer = weights.mean(dim=1)", "return 0.5 * flow + 0.5 * torch.eye(length)"))
    wrong("residual_in_the_first_layer_only", "You mix only the first layer with the identity. Each layer has a residual connection of its own.",
          breaks="values", old=STEP, new="flow = layer @ flow if flow.dim() == 2 else weights.mean(dim=1) @ flow")
    wrong("identity_to_the_product", "You mix the identity into the product, ½·A·F + ½·I. It belongs to the layer, before the product: (½·A + ½·I) · F.",
          breaks="values", old=(MIX, STEP), new=("layer = weights.mean(dim=1)", "flow = 0.5 * layer @ flow + 0.5 * torch.eye(length)"))
    wrong("first_layer_as_it_is", "Your first layer has no residual connection: the product begins with its weights alone. Each layer is ½·A + ½·I.",
          breaks=ALWAYS, old=STEP, new="flow = layer @ flow if flow.dim() == 3 else weights.mean(dim=1)")
    wrong("residual_to_the_flow", "You mix the identity into the flow so far, not into the layer. Each layer is ½·A + ½·I.",
          breaks=ALWAYS, old=(MIX, STEP), new=("layer = weights.mean(dim=1)", "flow = layer @ (0.5 * flow + 0.5 * torch.eye(length))"))
    wrong("columns_to_one", "You divide by the sums of the columns. The rows sum to one: each belongs to a token of the last layer, which draws on the input.",
          breaks=ALWAYS, old="return flow", new="return flow / flow.sum(dim=-2, keepdim=True)")
    wrong("softmax", "You put the product through a softmax. Its rows sum to one already.",
          breaks=ALWAYS, old="return flow", new="return flow.softmax(dim=-1)")
    wrong("largest_is_1", "You divide by the largest entry. Asked are shares as they are: each row sums to one.",
          breaks=ALWAYS, old="return flow", new="return flow / flow.amax(dim=-1, keepdim=True)")
    wrong("largest_of_a_layer_is_1", "You divide the rows of each layer by their largest entry. Divide A + I by 2: then each row sums to one.",
          breaks=ALWAYS, old=MIX, new="layer = weights.mean(dim=1) + torch.eye(length)\n        layer = layer / layer.amax(dim=-1, keepdim=True)")
    wrong("first_row_only", "You return the first row alone, that of [CLS]. Asked is the whole matrix, (B, T, T).",
          breaks=SHAPED, old="return flow", new="return flow[:, 0]")
    wrong("one_for_each_layer", "You return the flow after each layer. Asked is the one after the last, (B, T, T).",
          breaks=SHAPED, old=(LOOP, STEP, "return flow"), new=("    flows = []\n" + LOOP, STEP + "\n        flows.append(flow)", "return torch.stack(flows)"))
    wrong("diagonal_0", "You take the diagonal away. It belongs to the result: much of a token stays where it was.",
          breaks=ALWAYS, old="return flow", new="return flow * (1 - torch.eye(length))")
    wrong("first_sentence_only", "You look at the first sentence only. Each has its own rollout: (B, T, T).",
          breaks=SHAPED, old="return flow", new="return flow[:1]")
    wrong("weights_changed", "You change the caller's `attentions` in place (`+=`, `mul_`, `add_`). Make new tensors.",
          breaks="values", old=MIX, new="weights.mul_(0.5).add_(0.5 * torch.eye(length))\n        layer = weights.mean(dim=1)")


@MISTAKES.of(switch_off_heads)
def in_switch_off_heads(wrong):
    CONTEXT = "context unchanged"
    REFUSES = "    for head in heads:\n        if not 0 <= head < num_heads:\n            raise ValueError(f\"there is no head {head}: {num_heads} heads are counted from 0\")\n"
    KEEP = "keep[list(heads)] = 0.0"
    RESULT = "return context * keep.repeat_interleave(head_dim)"

    wrong("in_place", "You zero columns of `context` itself: whoever handed it over has lost them. Work on a copy, `context.clone()`, or multiply by zeros and ones.",
          breaks=CONTEXT, old=RESULT, new="context *= keep.repeat_interleave(head_dim)\n    return context")
    wrong("interleaved", "Your heads are interleaved: you zero columns h, h + H, h + 2H, … A head owns K columns side by side, h·K to (h + 1)·K − 1: `repeat_interleave`.",
          breaks="values", old="keep.repeat_interleave(head_dim)", new="keep.repeat(head_dim)")
    wrong("others_switched_off", "It is the other heads that you switch off; those in `heads` stay. Zero the ones in `heads`.",
          breaks="values", old=("torch.ones", "= 0.0"), new=("torch.zeros", "= 1.0"))
    wrong("counted_from_1", "You count heads from 1, so that the head before is switched off. They are counted from 0.",
          breaks="values", old=KEEP, new="keep[[head - 1 for head in heads]] = 0.0")
    wrong("one_too_far", "You switch off the head after the one that is asked for. Head h owns columns h·K to (h + 1)·K − 1, counted from 0.",
          breaks="values", old=KEEP, new="keep[[(head + 1) % num_heads for head in heads]] = 0.0")
    wrong("heads_from_the_end", "You count heads from the end. Head 0 owns the first K columns.",
          breaks="values", old="keep.repeat_interleave", new="keep.flip(0).repeat_interleave")
    wrong("h_for_k", "You take H columns a head, from h·H on. A head is K = D / H columns wide, and begins at h·K.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * num_heads : (head + 1) * num_heads] = 0.0\n    return result")
    wrong("starts_at_h", "Your columns begin at h. Head h begins at column h·K.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head : head + head_dim] = 0.0\n    return result")
    wrong("last_column_stays", "One column of each head stays: h·K to (h + 1)·K − 1 are K columns, and a slice ends before its end, `[h*K : (h+1)*K]`.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * head_dim : (head + 1) * head_dim - 1] = 0.0\n    return result")
    wrong("a_column_too_many", "You zero a column too many, the first of the next head. Head h owns columns h·K to (h + 1)·K − 1: `[h*K : (h+1)*K]`.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * head_dim : (head + 1) * head_dim + 1] = 0.0\n    return result")
    wrong("one_column", "You zero one column, number h. Head h owns K columns, h·K to (h + 1)·K − 1.",
          breaks="values", old=RESULT, new="result = context.clone()\n    result[..., heads] = 0.0\n    return result")
    wrong("to_the_end", "You zero all columns from the head's first to the end. It owns K of them, h·K to (h + 1)·K − 1.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * head_dim :] = 0.0\n    return result")
    wrong("from_the_start", "You zero all columns up to the head's last. It owns K of them, h·K to (h + 1)·K − 1.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., : (head + 1) * head_dim] = 0.0\n    return result")
    wrong("first_of_the_list", "You switch off the first head of the list only. All in the list are asked for.",
          breaks="values", old=KEEP, new="keep[heads[:1]] = 0.0")
    wrong("last_of_the_list", "You switch off the last head of the list only: each turn of the loop begins anew with `context`. All in the list are asked for.",
          breaks="values", old=KEEP, new="keep[heads[-1:]] = 0.0")
    wrong("all_from_first_to_last", "You switch off all heads from the smallest to the largest number in the list. Only those in the list are asked for.",
          breaks="values", old=KEEP, new="if heads:\n        keep[min(heads) : max(heads) + 1] = 0.0")
    wrong("rest_scaled_up", "You scale up the heads that stay, as dropout does. They are to stay as they are.",
          breaks="values", old=KEEP, new=f"{KEEP}\n    keep = keep / keep.mean().clamp(min=1e-9)")
    wrong("tokens_zeroed", "You zero tokens (axis 1) instead of columns. A head is a block of the last axis, {K} of its {D} columns.",
          breaks=("shape", "values"), old=RESULT, new="result = context.clone()\n    result[:, heads] = 0.0\n    return result")
    wrong("places_on_axis_1", "You zero places h·K to (h + 1)·K − 1 of axis 1, the tokens. A head is a block of the last axis: `[..., h*K : (h+1)*K]`.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[:, head * head_dim : (head + 1) * head_dim] = 0.0\n    return result")
    wrong("cut_along_the_tokens", "You reshape to (B, H, T, K) at once, which cuts along the tokens and not along the columns. First (B, T, H, K), as in 04's `split_heads`; the heads are then axis 2.",
          breaks="values", old=RESULT, new="result = context.reshape(len(context), num_heads, -1, head_dim).clone()\n    result[:, heads] = 0.0\n    return result.reshape(context.shape)")
    wrong("not_turned_back", "You merge the heads without turning the axes back: (B, H, T, K) has to be (B, T, H, K) before it becomes (B, T, D), as in 04's `merge_heads`.",
          breaks="values", old=RESULT, new="result = context.unflatten(-1, (num_heads, head_dim)).transpose(1, 2).clone()\n    result[:, heads] = 0.0\n    return result.reshape(context.shape)")
    wrong("first_sentence_only", "You switch the heads off in the first sentence only. They are to be silent in all.",
          breaks="values", old=RESULT, new="result = context.clone()\n    result[0] = result[0] * keep.repeat_interleave(head_dim)\n    return result")
    wrong("first_token_only", "You switch the heads off at the first token only. They are to be silent at all.",
          breaks="values", old=RESULT, new="result = context.clone()\n    result[:, 0] = result[:, 0] * keep.repeat_interleave(head_dim)\n    return result")
    wrong("columns_removed", "You take the columns away. The result keeps its shape (B, T, D), with zeros in their place.",
          breaks=("shape", "values"), old=RESULT, new="return context[..., keep.repeat_interleave(head_dim).bool()]")
    wrong("parts_removed", "You join only the heads that stay (and stop with an error where none does). The result keeps its shape (B, T, D), with zeros in place of the others.",
          breaks=("shape", "values"), old=RESULT, new="parts = context.split(head_dim, dim=-1)\n    return torch.cat([part for head, part in enumerate(parts) if head not in heads], dim=-1)")
    wrong("heads_apart", "You return the heads apart, (B, T, H, K). Merge them again: (B, T, D).",
          breaks=("shape", "values"), old=RESULT, new="return context.unflatten(-1, (num_heads, head_dim)) * keep[:, None]")
    wrong("only_those_heads", "You return the columns of these heads alone. Asked is the whole, (B, T, D), with zeros in their place.",
          breaks=("shape", "values"), old=RESULT, new="return context[..., keep.repeat_interleave(head_dim) == 0]")
    wrong("minus_infinity", "You put −inf where zeros are asked for. Scores are hidden by −inf before a softmax; results are switched off by 0.",
          breaks="values", old=RESULT, new="return context.masked_fill(keep.repeat_interleave(head_dim) == 0, -torch.inf)")
    wrong("ones", "You put 1 where 0 is asked for.",
          breaks="values", old=RESULT, new="return context.masked_fill(keep.repeat_interleave(head_dim) == 0, 1.0)")
    wrong("mean_in_their_place", "You put the mean over the tokens in their place. Asked are zeros.",
          breaks="values", old=RESULT, new="return torch.where(keep.repeat_interleave(head_dim) == 0, context.mean(dim=1, keepdim=True), context)")
    wrong("mean_of_all_in_their_place", "You put one number in their place, the mean over all that the head gives. Asked are zeros.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * head_dim : (head + 1) * head_dim] = result[..., head * head_dim : (head + 1) * head_dim].mean()\n    return result")
    wrong("halved", "You halve the heads' columns. Asked are zeros.",
          breaks="values", old="= 0.0", new="= 0.5")
    wrong("returns_nothing", "You zero `context` itself and return nothing. Make a copy, and return it.",
          breaks=("shape", "values", CONTEXT, "refusal"), old=RESULT, new="context *= keep.repeat_interleave(head_dim)")
    wrong("unchanged", "Your result is `context` as it was: no head is silent.",
          breaks=("values", CONTEXT, "refusal"), old=RESULT, new="return context.clone()")
    wrong("all_zero", "All heads are silent: everything is 0. Only those in the list are asked for.",
          breaks=("values", CONTEXT, "refusal"), old=RESULT, new="return torch.zeros_like(context)")
    wrong("width_of_bert", "You take 64 columns a head, as in BERT base. A head is K = D / H columns wide.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * 64 : (head + 1) * 64] = 0.0\n    return result")
    wrong("width_of_minilm", "You take 32 columns a head, as in the course's model. A head is K = D / H columns wide.",
          breaks="values", old=RESULT, new="result = context.clone()\n    for head in heads:\n        result[..., head * 32 : (head + 1) * 32] = 0.0\n    return result")
    wrong("no_refusal", "A head that does not exist is let through. Raise a ValueError that names it.",
          breaks="refusal", old=REFUSES + "    keep = torch.ones(num_heads)\n    " + KEEP, new="    keep = torch.ones(num_heads)\n    keep[[head for head in heads if 0 <= head < num_heads]] = 0.0")
    wrong("index_error", "Who asks for a head that does not exist gets torch's own error, an IndexError, and −1 is taken for the last head. Check the numbers and raise a ValueError.",
          breaks="refusal", old=REFUSES, new="")
    wrong("negative_heads", "A negative head is let through, and counted from the end. Only 0 to H − 1 exist: raise a ValueError for −1, too.",
          breaks="refusal", old="not 0 <= head < num_heads", new="not -num_heads <= head < num_heads")
    wrong("head_h_let_through", "Head number H is let through to torch, which has its own error for it. The last one is H − 1: raise a ValueError for H, too.",
          breaks="refusal", old="head < num_heads:", new="head <= num_heads:")
    wrong("only_the_first_checked", "You check only the first head of the list. Check each.",
          breaks="refusal", old="for head in heads:", new="for head in heads[:1]:")
    wrong("message_without_number", "Your ValueError does not say which head it is about. Put its number into the message.",
          breaks="refusal", old="there is no head {head}: {num_heads} heads are counted from 0", new="there is no such head")
    wrong("another_error", "You raise an IndexError. The contract asks for a ValueError.",
          breaks="refusal", old="raise ValueError(", new="raise IndexError(")
    wrong("assertion", "You use `assert`, which raises an AssertionError, and nothing at all under `python -O`. The contract asks for a ValueError.",
          breaks="refusal", old=REFUSES, new="    for head in heads:\n        assert 0 <= head < num_heads, f\"there is no head {head}\"\n")
    wrong("last_head_refused", "You refuse the last head. Heads 0 to H − 1 exist.",
          breaks=("shape", "values"), old="head < num_heads:", new="head < num_heads - 1:")
    wrong("empty_list_refused", "An empty list stops yours with an error. It is allowed, and changes nothing.",
          breaks=("shape", "values"), old="    for head in heads:\n", new="    if not heads:\n        raise ValueError(\"no heads\")\n    for head in heads:\n")
    wrong("empty_list_means_all", "For an empty list you switch off all heads. It changes nothing.",
          breaks="values", old=KEEP, new="keep[list(heads) or slice(None)] = 0.0")
    wrong("all_heads_refused", "You refuse to switch off all heads. That is allowed: the result is 0 everywhere.",
          breaks=("shape", "values"), old="    keep = torch", new="    if len(heads) == num_heads:\n        raise ValueError(\"no head is left\")\n    keep = torch")


@MISTAKES.of_quiz("quiz_bertviz", quiz_bertviz)
def in_quiz_bertviz(wrong):
    for question, option, sentence in (
        ("one head switched off", "the model can't go on", "It goes on: a silent head adds zeros to a sum in which the other heads and the residual connection speak on."),
        ("one head switched off", "the other heads stop, too", "Heads of a layer don't read each other: each has its own queries, keys and values."),
        ("much weight on [SEP]", "[sep] means most", "Clark et al. found that changing the weight on [SEP] changes the output little, and Kobayashi et al. that its values are short: weight is not meaning."),
        ("much weight on [SEP]", "the model is badly trained", "Well-trained BERTs do it, in many heads: a softmax must put its 1 somewhere, also when there is nothing to say."),
        ("other weights, same output", "impossible, weights sum to one", "Many weights that sum to one give the same mixture or the same decision; Jain and Wallace searched for such weights in trained models, and often found them."),
        ("other weights, same output", "only with one head", "The number of heads does not matter: with more tokens than dimensions, or behind layers that even things out, other weights lead to the same output."),
        ("rollout adds the identity for", "the softmax", "The softmax is in the weights already. What the weights don't show is the way around attention."),
        ("rollout adds the identity for", "the value vectors", "Rollout ignores the values altogether, which is one of its weaknesses. The identity stands for what is passed on unchanged."),
        ("to claim that a head matters", "look at its weights", "Weights show where a head looks, not what the model does with it. Take it away and see."),
        ("to claim that a head matters", "count its parameters", "All heads of a layer have equally many. Take one away and see what changes."),
    ):
        wrong(question, option, sentence)
