"""Wrong answers to the exercises of 09-causal-mask."""

from __future__ import annotations

from contextlib import suppress

import torch

from anatomy.course.families import attention_layers, key_value_cache, language_model, pre_norm_block
from anatomy.course.nb09_causal_mask import right
from anatomy.course.nb09_causal_mask.right import load_gpt2_weights
from anatomy.engine.families import (
    class_beginnings,
    one_more_or_less,
    other_fills,
    other_lengths,
    other_measures_of_surprise,
    squeezed,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.


NUMBERS = ("values", "gradients")


@MISTAKES.of(right.causal_mask)
def in_causal_mask(at):
    BOTH = ("shape", "values")
    RIGHT = "torch.ones(length, length, dtype=torch.bool).tril()"
    at(".tril()", "values",
       ("upper", ".triu()", "Your triangle is the upper one: each query sees itself and what comes *after* it. The past is on the left, so keep what is on and below the diagonal: `tril`."),
       ("strict", ".tril(diagonal=-1)", "A token can't see itself: your diagonal is 0. The first row is then empty, and a softmax over nothing is NaN. The diagonal belongs to the triangle: `tril()`."),
       ("inverted", ".triu(diagonal=1)", "Your mask is inverted: it is True (1) where the future is. It should say what a query *may* attend to: on and below the diagonal."),
       ("one_ahead", ".tril(diagonal=1)", "Each query sees one key too many: the token after its own. That is the very one it must predict. Keep the diagonal and what is below it."),
       ("everything", "", "Everything is allowed: your mask has no 0. Keep the triangle on and below the diagonal."),
       ("only_the_past_token", ".tril().triu(diagonal=-1)", "Each token sees itself and the one before, no more. All earlier tokens are allowed: everything below the diagonal."),
       ("flipped", ".tril().flip(1)", "Your triangle leans the other way: its slope runs from the top right to the bottom left. Row t should have ones at keys 0 … t."),
       ("rows_reversed", ".tril().flip(0)", "Your rows are in reverse order: the first query sees everything, the last only the first key. Row t should have ones at keys 0 … t."),
       ("four_axes", ".tril()[None, None]", "Your mask has four axes. It should be (T, T): PyTorch lines up batch and heads by itself.", BOTH),
       ("three_axes", ".tril()[None]", "Your mask has three axes. It should be (T, T): PyTorch lines up the batch by itself.", BOTH))
    at("torch.ones", "values", ("nothing", "torch.zeros", "Your mask has no 1: no token may attend to anything. (Did you begin with zeros?)"))
    at(RIGHT, "values",
       ("bits_of_numbers", "((2 ** (torch.arange(length) + 1) - 1)[:, None] >> torch.arange(length)) & 1 == 1", "For more than 64 tokens all rows from row 63 on are True everywhere, the future too. (Are your rows whole numbers in binary? PyTorch's have 64 bits.) Compare positions instead, or use `tril`."),
       ("only_itself", "torch.eye(length, dtype=torch.bool)", "Only the diagonal is 1: each token sees itself and no past. Everything below the diagonal is allowed, too."),
       ("minus_infinity", "torch.full((length, length), -torch.inf).triu(diagonal=1)", "These are numbers to be added to scores, 0 where a query may attend and −∞ where not. Your mask should say what is allowed: 1 (or True) on and below the diagonal, 0 above. `masked_attention` makes the −∞."),
       ("minus_a_billion", "torch.full((length, length), -1e9).triu(diagonal=1)", "These are numbers to be added to scores, 0 where a query may attend and a very low one where not. Your mask should say what is allowed: 1 (or True) on and below the diagonal, 0 above."),
       ("one_and_minus_infinity", "torch.ones(length, length).tril().masked_fill(torch.ones(length, length).triu(1) == 1, -torch.inf)", "Above the diagonal your mask has −∞. This mask says what is allowed: 1 (or True) on and below the diagonal, 0 (or False) above. `masked_attention` makes the −∞."),
       ("nan", "(1 - torch.ones(length, length).tril()) * -torch.inf", "On and below the diagonal your mask is NaN (0 · ∞ is no number). Leave −∞ out; 1 (or True) and 0 (or False) are enough."),
       ("plus_and_minus_one", "torch.ones(length, length).tril() * 2 - 1", "Above the diagonal your mask has −1. A forbidden key has 0, or False."),
       ("averages", "torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]", "Each of your rows sums to 1: row t has 1/(t + 1) at keys 0 … t. These are the weights of a mean over the past (a softmax of masked zeros gives them, too). The mask itself only says yes or no, 1 or 0."),
       ("counts", "torch.ones(length, length).tril().cumsum(dim=1).tril()", "Your entries count up. A mask only says yes or no: 1 (or True) on and below the diagonal, 0 above."),
       ("negative_inverted", "torch.ones(length, length).tril() - 1", "Your mask is −1 where the future is, and 0 elsewhere. It should say what is allowed: 1 (or True) on and below the diagonal, 0 above."),
       ("one_row", "torch.ones(length, dtype=torch.bool)", "You return a single row of ones, (T,). It should be a square, (T, T): a row for each query.", BOTH),
       ("indices", "torch.tril_indices(length, length)", "These are the indices of the triangle's entries, not a mask. `torch.ones(…).tril()` gives the (T, T) mask itself.", BOTH))
    at("torch.ones(length, length", BOTH,
       ("one_too_large", "torch.ones(length + 1, length + 1", "Your mask is one row and one column too large. It is (T, T), with T = `length`."),
       ("one_too_small", "torch.ones(length - 1, length - 1", "Your mask is one row and one column too small. It is (T, T), with T = `length`."),
       ("always_five", "torch.ones(5, 5", "Your mask is 5 × 5 whatever `length` is."))
    for size in (8, 10, 512, 1024):
        at("torch.ones(length, length", BOTH, (f"always_{size}", f"torch.ones({size}, {size}", f"Your mask is {size} × {size} whatever `length` is."))
    squeezed(at, BOTH, "is (T, T), also for T = 1")


@MISTAKES.of(right.masked_attention)
def in_masked_attention(at):
    MASKED = ("values", "any mask", "large scores", "gradients")
    ALWAYS = (*MASKED, "no mask")
    SCALED = ("values", "any mask", "no mask", "gradients")
    FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
    END = "        scores = scores.masked_fill(mask == 0, -torch.inf)\n    return scores.softmax(dim=-1) @ value"
    SCALE = " / math.sqrt(query.size(-1))"
    at("mask == 0", MASKED,
       ("inverted", "mask != 0", "Your mask works the other way round: keys that it allows are hidden, hidden ones are seen. −∞ belongs where the mask is False or 0."),
       ("only_booleans", "~mask", "`~mask` inverts a boolean mask, but not one of numbers (~1 is −2). `mask == 0` does for both.", "any mask"),
       ("only_numbers", "(1 - mask) == 1", "PyTorch refuses to subtract with a boolean mask, as in `1 - mask`. `mask == 0` does for both kinds.", ("shape", "values", "any mask", "large scores", "gradients")),
       ("mask_transposed", "mask.transpose(-2, -1) == 0", "Your mask is transposed, so that its queries meet the keys. `mask[..., t, s]` belongs to `scores[..., t, s]`: use the mask as it is.", ("shape", *MASKED)),
       ("axis_added", "mask.unsqueeze(1) == 0", "You insert an axis into the mask, as axis 1 (`unsqueeze(1)` does that). It comes in a shape that broadcasts already: use it as it is.", ("shape", *MASKED)),
       ("two_axes_added", "(mask[None, None] if mask.dim() == 2 else mask) == 0", "To a mask of shape (T, S) you add two axes: where queries have three axes, your result gets one too many. PyTorch lines up a mask by itself: use it as it is.", ("any mask",)),
       ("first_row_of_the_mask", "mask[..., :1, :] == 0", "All queries get the mask of the first one. Each has its own row."))
    at("scores = scores.masked", MASKED, ("ignored", "scores.masked", "The mask changes nothing: your result is that of attention without one. (`masked_fill` returns a new tensor, which must be kept.)"))
    at(END, MASKED,
       ("after_softmax", "        return scores.softmax(dim=-1).masked_fill(mask == 0, 0.0) @ value\n    return scores.softmax(dim=-1) @ value", "You mask after the softmax: hidden keys get weight 0, but the others then sum to less than 1, because the softmax has already given the hidden ones their share. Mask the scores with −∞ before it."),
       ("after_softmax_renormalized", "        weights = scores.softmax(dim=-1).masked_fill(mask == 0, 0.0)\n        return weights / weights.sum(dim=-1, keepdim=True) @ value\n    return scores.softmax(dim=-1) @ value", "Hidden keys still take part in your softmax: you mask afterwards and divide by what is left (or subtract the largest score of all keys). That is right on paper; but where hidden scores are by far the largest, nothing is left, and 0/0 is NaN. Mask the scores with −∞ before the softmax.", "large scores"),
       ("minus_infinity_after_softmax", "        return scores.softmax(dim=-1).masked_fill(mask == 0, -torch.inf) @ value\n    return scores.softmax(dim=-1) @ value", "You put −∞ after the softmax: a weight of −∞ makes the mixture −∞ or NaN. −∞ belongs in the scores, before the softmax, which turns it into a weight of 0."),
       ("queries_hidden", "        return (scores.softmax(dim=-1) @ value).masked_fill(mask[..., -1:] == 0, 0.0)\n    return scores.softmax(dim=-1) @ value", "You hide results of queries instead of keys: a query that may not see the last key gets 0. Hide the scores of the keys, before the softmax."))
    at("return scores.softmax(dim=-1) @ value", "large scores",
       ("own_exponentials", "return scores.exp() / scores.exp().sum(dim=-1, keepdim=True) @ value", "e to a large number is ∞, e to a very low one 0: where scores are large you divide ∞ by ∞, or 0 by 0, which is NaN. `softmax` subtracts the largest score first; mask the scores with −∞, then call it."),
       ("with_weights", "return scores.softmax(dim=-1) @ value, scores.softmax(dim=-1)", "You return two things. Return only the mixture, (…, T, Dv).", ("shape", *ALWAYS)))
    LOW = "That is low, but other scores can be lower still, and then hidden keys win. −∞ is lower than all: `-torch.inf`."
    at(FILL, MASKED,
       ("after_softmax_again", "scores = scores.softmax(dim=-1).masked_fill(mask == 0, -torch.inf)", "There are two softmaxes, and the mask is between them. One is enough: scores, mask with −∞, softmax."),
       ("low_number_added", "scores = scores - 1000.0 * (mask == 0)", f"You add a number such as −100 or −10,000 to hidden scores. {LOW}", "large scores"),
       ("mask_added", "scores = scores + mask", "You add the mask (or mask − 1) to the scores: hidden keys are 1 lower than the others, and still get weight. A score must be −∞ for its weight to be 0."),
       ("nan_from_zero_times_infinity", "scores = scores + (mask == 0) * -torch.inf", "0 · −∞ is NaN, also where the mask allows. Use `masked_fill`, or `torch.where`, which put −∞ only where it belongs."),
       ("boolean_index", "scores[mask == 0] = -torch.inf", "Indexing the scores with a mask, as in `scores[mask == 0]`, wants one with all their axes; yours may have fewer, such as (T, S). `masked_fill` and `torch.where` let it broadcast.", ("shape", "values", "any mask", "gradients")))
    at(FILL, "any mask",
       ("numbers_added", "scores = scores + mask if mask.dtype != torch.bool else scores.masked_fill(~mask, -torch.inf)", "A mask of numbers is added to your scores, and adding 0 hides nothing. Here 1 and 0 say what may be seen, as True and False do: `mask == 0` is right for both."),
       ("floats_added", "scores = scores + mask if mask.is_floating_point() else scores.masked_fill(mask == 0, -torch.inf)", "A mask of floating-point numbers is added to your scores (PyTorch's own attention adds it, too), and adding 0 hides nothing. Here 1 and 0 say what may be seen, as True and False do: `mask == 0` is right for both."))
    at(FILL, "any mask", ("where_of_numbers", "scores = torch.where(mask, scores, -torch.inf)", "A mask of the numbers 1 and 0 stops your function: `torch.where` and `masked_fill` want a boolean condition. `mask == 0` is one, for both kinds of mask."))
    other_fills(at, "-torch.inf", MASKED, low="large scores")
    at("-torch.inf", ("values", "any mask", "gradients"), ("lowest_score", "float(scores.min())", "Hidden scores become the lowest of all scores, and what is hidden keeps some of its weight. A score must be −∞ for its weight to be 0."))
    TINY = "so that its weight is next to nothing, but not 0: a huge value still shows. A score must be −∞ for its weight to be 0."
    for by in (20, 30, 50):
        at("-torch.inf", ("values", "gradients"),
           (f"{by}_below_the_lowest", f"float(scores.min()) - {by}", f"A hidden score becomes a little lower than the lowest of all, {TINY}"))
        at(FILL, ("values", "gradients"), (f"{by}_below_the_lowest_of_a_row", f"scores = torch.where(mask == 0, scores.amin(dim=-1, keepdim=True) - {by}, scores)", f"A hidden score becomes a little lower than the lowest of its row, {TINY}"))
        at("-torch.inf", ("values", "large scores", "gradients"), (f"minus_{by}", f"-{by}.0", f"A hidden score becomes a number such as −20 or −50, {TINY} And where other scores are lower still, hidden keys win."))
    FOUR = "Your code wants exactly four axes, (B, H, T, K), as an einsum of four letters, `permute` of four numbers or `B, H, T, K = query.shape` do. The contract has any number of axes in front: `...`, or axes counted from the end."
    at("query @ key.transpose(-2, -1)", ("shape", "values", "any mask", "large scores", "gradients"), ("four_axes_wanted", 'torch.einsum("bhtk,bhsk->bhts", query, key)', FOUR))
    at("scores = query", ("shape", "values", "any mask", "large scores", "gradients"), ("four_axes_unpacked", "_, _, _, _ = query.shape\n    scores = query", FOUR))
    at(SCALE, SCALED, ("not_scaled", "", "The scores are not divided by √K. (Here K = {K}, so they are {root_K} times too large.)"))
    at("math.sqrt(query.size(-1))", SCALED, ("divides_by_k", "query.size(-1)", "You divide the scores by K (or by √K twice); √K is needed, `math.sqrt(query.size(-1))`."))
    at(" / math", SCALED, ("multiplies", " * math", "You multiply the scores by √K. Divide by it."))
    at("query.size(-1)", SCALED,
       ("by_root_t", "query.size(-2)", "You divide by √T, the root of the number of queries. The width is meant, the last axis: √K."),
       ("by_root_s", "key.size(-2)", "You divide by √S, the root of the number of keys. The width is meant, the last axis: √K."),
       ("by_root_dv", "value.size(-1)", "You divide by √Dv, the root of the values' width. The width of queries and keys is meant: √K.", ("values", "gradients")))
    at((SCALE, "return scores.softmax(dim=-1)"), ALWAYS, ("scaled_after_softmax", ("", "return scores.softmax(dim=-1) / math.sqrt(query.size(-1))"), "You divide by √K after the softmax, the weights or their mixture. Divide the scores instead, before it."))
    at("softmax(dim=-1)", ALWAYS,
       ("over_queries", "softmax(dim=-2)", "Your softmax runs over the queries: the weights of each *key* sum to 1. Each query's weights must: `dim=-1`, the keys."),
       ("over_axis_1", "softmax(dim=1)", "Your softmax runs over axis 1. The keys are the last axis of the scores: `dim=-1`."),
       ("softmax_twice", "softmax(dim=-1).softmax(dim=-1)", "Two softmaxes, one after the other, make the weights too even. One is enough."))
    at("scores.softmax(dim=-1)", ALWAYS, ("no_softmax", "scores", "The softmax is missing: scores are used as weights. (With −∞ among them the mixture is ∞ or NaN.)"))
    at(".softmax(dim=-1)", ALWAYS, ("log_softmax", ".log_softmax(dim=-1)", "You mix with the logarithms of the weights (`log_softmax` gives them). The mixture needs the weights themselves: `softmax`."))
    at(".softmax(dim=-1) @ value", ("shape", *ALWAYS), ("weights", ".softmax(dim=-1)", "You return the weights, (…, T, S). Return the mixture of values that they make, (…, T, Dv): `weights @ value`."))
    at(" @ value", ("shape", *ALWAYS), ("mixes_keys", " @ key", "You mix the keys. The weights are for the values: `weights @ value`."))
    at("if mask is not None:", "any mask", ("numbers_ignored", "if mask is not None and mask.dtype == torch.bool:", "A mask of the numbers 1 and 0 changes nothing: you use boolean masks only. `mask == 0` says for both kinds what is hidden."))
    at("if mask is not None:", ("shape", *MASKED), ("truth_of_mask", "if mask:", "PyTorch refuses to say whether a whole tensor is true, which `if mask` asks (and so do `not mask` and `mask or …`). Ask `if mask is not None`."))
    at("if mask is not None:\n        scores = scores.masked_fill(mask == 0, -torch.inf)", "no mask", ("none_not_asked", "scores = scores.masked_fill(~mask.bool(), -torch.inf)", "Without a mask your function fails: None is no tensor. Ask `if mask is not None` before you use it."))
    at("    if mask is not None:", "no mask",
       ("causal_without_a_mask", "    if mask is None:\n        mask = torch.ones(scores.shape[-2:]).tril()\n    if mask is not None:", "Without a mask your attention is causal. None means: everyone sees everything."),
       ("always_causal", "    mask = torch.ones(scores.shape[-2:]).tril()\n    if mask is not None:", "The mask that you are given is not used: you always take the triangle. Use `mask`.", ALWAYS))
    at("mask == 0,", MASKED, ("causal_too", "(mask == 0) | (torch.ones(scores.shape[-2:]).tril() == 0),", "You hide the future, too, beyond what the mask hides. Only `mask` says what is hidden: another caller may want to see later keys."))
    at("scores = query @ key.transpose(-2, -1)", ALWAYS, ("uniform", "scores = 0 * query @ key.transpose(-2, -1)", "Every visible key gets the same weight: your scores are all alike before the softmax."))
    at("return scores.softmax(dim=-1)", SCALED, ("winner_takes_all", "return F.one_hot(scores.argmax(dim=-1), scores.size(-1)).float()", "The best key gets all the weight. The softmax shares it out."))
    at("transpose(-2, -1)", ("shape", *SCALED), ("last_two_axes_only_of_three", "transpose(1, 2)", "You swap axes 1 and 2 of the key. These are the last two only where there are three; `transpose(-2, -1)` always swaps the last two."))
    at("key.transpose(-2, -1)", ("shape", *ALWAYS), ("key_not_transposed", "key", "The key must be transposed for the product: `key.transpose(-2, -1)`, (…, K, S)."))
    at("scores = query @", "gradients", ("detached", "scores = query.detach() @", "No gradient gets back to the query: the scores are cut off from it (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`). Gradients should flow to query, key and value."))
    at("scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))", "gradients", ("query_in_place", "query /= math.sqrt(query.size(-1))\n    scores = query @ key.transpose(-2, -1)", "You change `query` in place (operators such as `/=`, and methods that end in `_`, write into the caller's numbers). Make a new tensor."))
    at(f"key.transpose(-2, -1){SCALE}", "gradients", ("key_in_place", "(key.div_(math.sqrt(query.size(-1)))).transpose(-2, -1)", "You change `key` in place (operators such as `/=`, and methods that end in `_`, write into the caller's numbers). Make a new tensor."))
    squeezed(at, ("shape", "values", "gradients"), "keeps all leading axes: (…, T, Dv)")


@MISTAKES.of(right.future_leak)
def in_future_leak(at):
    LEAK = ("values", "causal model")
    GRADIENT = "torch.autograd.grad(outputs[:, t].sum(), vectors[0], retain_graph=True)[0].norm(dim=-1)"
    at(".triu(diagonal=1)", "values",
       ("past_too", "", "The past is there, too: your entries on and below the diagonal are not 0. Keep those with s > t only: `triu(diagonal=1)`.", LEAK),
       ("only_one_ahead", ".triu(diagonal=1).tril(diagonal=1)", "Only the input right after the output's position (s = t + 1) counts in yours. All later ones should count."),
       ("transposed", ".triu(diagonal=1).transpose(1, 2)", "Your result is transposed: entry [b, t, s] should be output t and input s, so what is not 0 is above the diagonal."),
       ("yes_or_no", ".triu(diagonal=1).gt(0).float()", "You say only whether something leaks, 1 or 0. Return how much: the gradient's length."),
       ("total", ".triu(diagonal=1).sum()", "You return a single number, the leak of all together. Return one for each output and input, (B, T, T).", ("shape", *LEAK)),
       ("sum_over_inputs", ".triu(diagonal=1).sum(dim=-1)", "You add up over the inputs. Return one number for each output and input, (B, T, T).", ("shape", *LEAK)),
       ("mean_of_the_batch", ".triu(diagonal=1).mean(dim=0)", "You average over the batch. Each sentence has its own: (B, T, T).", ("shape", *LEAK)),
       ("shares", ".triu(diagonal=1) / torch.stack(gradients, dim=1).sum(dim=-1, keepdim=True)", "Your rows are divided by their sums. The exercise asks for the lengths as they are."))
    at("triu(diagonal=1)", LEAK,
       ("own_token_too", "triu()", "Your diagonal is not 0: it has what each output takes from its own input, which is allowed. Keep s > t only: `triu(diagonal=1)`."),
       ("past_instead", "tril(diagonal=-1)", "You keep the past and cut the future away. Keep the future, s > t: `triu(diagonal=1)`."))
    at("diagonal=1", "values", ("one_ahead_missing", "diagonal=2", "The input right after the output's position (s = t + 1) is missing. It is the future already: `triu(diagonal=1)`."))
    at("dim=1)", LEAK,
       ("axes_swapped", "dim=2)", "Outputs and inputs are swapped before the cut: your row is the input, your column the output. Stack the outputs' gradients along axis 1, so that entry [b, t, s] is output t and input s."),
       ("stacked_first", "dim=0)", "The outputs are along the first axis: (T, B, T). Stack along axis 1: (B, T, T).", ("shape", *LEAK)))
    at("[0].norm(dim=-1)", "values", ("squared", "[0].pow(2).sum(dim=-1)", "You return squared lengths: the root is missing."))
    at("norm(dim=-1)", "values",
       ("largest", "abs().amax(dim=-1)", "You take the largest absolute value of each gradient. The Euclidean length is the root of the sum of all squares: `norm(dim=-1)`."),
       ("norm_over_tokens", "norm(dim=1)", "Your norm runs over the inputs (axis 1). It should run over the D numbers of each vector, the last axis.", ("shape", *LEAK)))
    at(".norm(dim=-1)", LEAK, ("one_norm_for_all", ".norm().expand(ids.shape)", "Your norm runs over everything, so each output has one number. Each input's vector has its own: `norm(dim=-1)`."))
    at(("[0].norm(dim=-1)", "torch.stack(gradients, dim=1).triu(diagonal=1)"), ("shape", *LEAK), ("vectors_kept", ("[0]", "torch.stack(gradients, dim=1)"), "Each entry is a whole gradient, D numbers. Return its length: `norm(dim=-1)`."))
    at("outputs[:, t].sum()", "values",
       ("mean_of_outputs", "outputs[:, t].mean()", "You take the mean of an output's numbers. Take their sum: `outputs[:, t].sum()`, over the batch and the V numbers."),
       ("mean_over_the_vocabulary", "outputs[:, t].mean(dim=-1).sum()", "You take the mean over the V numbers of an output. Take their sum."),
       ("mean_over_the_batch", "outputs[:, t].sum() / len(ids)", "Your sum is divided by the number of sentences: each entry is too small by B = {B}. Sum over the batch, too: each sentence has its own vectors."),
       ("first_number_only", "outputs[:, t, 0].sum()", "You differentiate only the first of each output's V numbers. Differentiate their sum."),
       ("largest_number_only", "outputs[:, t].amax(dim=-1).sum()", "You differentiate only the largest of each output's V numbers. Differentiate their sum."),
       ("absolute_outputs", "outputs[:, t].abs().sum()", "You differentiate the sum of the outputs' absolute values. Differentiate the sum of the numbers themselves."),
       ("own_token_only", "outputs[:, t].gather(-1, ids[:, t, None]).sum()", "You differentiate a single one of each output's V numbers, that of the token at its place. Differentiate the sum of all V."),
       ("squares_of_outputs", "outputs[:, t].pow(2).sum()", "You differentiate the sum of the outputs' squares. Differentiate the sum of the numbers themselves."),
       ("all_outputs", "outputs.sum()", "Every row has the gradient of all outputs together. Row t belongs to output t alone: `outputs[:, t].sum()`.", LEAK),
       ("outputs_up_to_t", "outputs[:, : t + 1].sum()", "Row t has the gradient of outputs 0 … t together. (Do gradients add up from one step to the next? `.grad` is never emptied by itself.) Row t belongs to output t alone."),
       ("last_output", "outputs[:, -1].sum()", "Every row has the gradient of the last output. Row t belongs to output t.", LEAK),
       ("first_sentence_only", "outputs[0, t].sum()", "Only the first sentence has a leak; the others have 0. Sum over the whole batch before you differentiate, or take each sentence in turn."))
    at("outputs = model(ids)", "values",
       ("softmax_first", "outputs = model(ids).softmax(dim=-1)", "You differentiate probabilities. They sum to 1 whatever the input is, so the gradient of their sum is next to 0. Take the model's outputs as they are."),
       ("log_softmax_first", "outputs = model(ids).log_softmax(dim=-1)", "You put the outputs through a log-softmax first. Take the model's outputs as they are."))
    at(", retain_graph=True", ("shape", *LEAK, "model unchanged"), ("graph_freed", "", "The second `grad` (or `backward`) fails: the first has thrown its graph away. Ask for more than one gradient with `retain_graph=True`."))
    at("hook.remove()", "model unchanged",
       ("hook_stays", "pass", "Your hook stays in the model: every later call will run it (and if it returns detached vectors, the token table can't be trained any more). Keep what `register_forward_hook` returns and call its `remove()`."),
       ("hooks_cleared", "model.token_embeddings._forward_hooks.clear()", "You take away a hook that the token table had before. Remove your own only: keep what `register_forward_hook` returns and call its `remove()`."))
    at(("output.detach().requires_grad_()", GRADIENT), LEAK,
       ("table_instead", ("output", "torch.autograd.grad(outputs[:, t].sum(), model.token_embeddings.weight, retain_graph=True)[0][ids].norm(dim=-1)"), "You differentiate with respect to the token table's rows. A token that occurs twice has one row there: gradients of different positions are added, and where the head is tied to the table, a row is part of the head, too. Take the vectors that the table returns, one for each position."),
       ("table_instead_text_by_text", ("output", "torch.stack([torch.autograd.grad(outputs[b, t].sum(), model.token_embeddings.weight, retain_graph=True)[0][row].norm(dim=-1) for b, row in enumerate(ids)])"), "You differentiate with respect to the token table's rows. A token that occurs twice has one row there: gradients of different positions are added, and where the head is tied to the table, a row is part of the head, too. Take the vectors that the table returns, one for each position."))
    at(("    hook = model.token_embeddings.register_forward_hook(catch)\n", "hook.remove()"), "model unchanged", ("forward_replaced", ("    own = model.token_embeddings.forward\n    model.token_embeddings.forward = lambda ids: catch(model, (), own(ids))\n", "pass"), "You replace the table's `forward` and leave yours there: every later call will run it (and if it returns detached vectors, the token table can't be trained any more). A hook can be removed; or put the table's own `forward` back (`del model.token_embeddings.forward`)."))
    at("        return vectors[-1]\n", ("shape", *LEAK, "model unchanged"), ("hook_returns_nothing", "", "The outputs don't depend on what you differentiate by: the model goes on with the table's own vectors. Return yours from a forward hook on the table: what it returns replaces the table's output."))
    at("output.detach().requires_grad_()", ("shape", *LEAK, "model unchanged"), ("vectors_not_marked", "output.detach()", "What you differentiate by is not marked for gradients. The vectors that the table gives can be: `output.detach().requires_grad_()`."))
    at("        torch.autograd.grad(outputs[:, t].sum(), vectors[0], retain_graph=True)[0]", "model unchanged",
       ("backward", "        (setattr(vectors[0], 'grad', None), outputs[:, t].sum().backward(retain_graph=True), vectors[0].grad)[2]", "`backward` also adds to the gradients that the parameters keep. `torch.autograd.grad(…, vectors)` computes the one you need and leaves the model as it is."),
       ("backward_adding_up", "        (outputs[:, t].sum().backward(retain_graph=True), vectors[0].grad.clone())[1]", "Gradients add up: `backward` adds to `.grad`, in your vectors (row t then has outputs 0 … t) and in the model's parameters. `torch.autograd.grad(…, vectors)` gives each one afresh and leaves the model as it is.", ("values", "model unchanged")))
    at("    vectors = []\n", "model unchanged",
       ("zero_grad", "    vectors = []\n    model.zero_grad()\n", "You empty the gradients that the model kept (`zero_grad` does that). Leave them as they are: `torch.autograd.grad` returns gradients and, unlike `backward()`, writes none into the model."),
       ("eval_mode", "    vectors = []\n    model.eval()\n", "Afterwards the model is in eval mode, even if it came in training mode. If you change the mode, put it back."))
    at(("    vectors = []\n", "    length = ids.size(1)\n"), "model unchanged", ("training_mode", ("    vectors = []\n    model.eval()\n", "    length = ids.size(1)\n    model.train()\n"), "Afterwards the model is in training mode, even if it came in eval mode. If you change the mode, keep `model.training` first, and put it back."))
    at("    length = ids.size(1)\n", "model unchanged",
       ("frozen", "    length = ids.size(1)\n    model.requires_grad_(False)\n", "Afterwards the model's parameters are frozen (`requires_grad_(False)` does that). Leave the model as it is."),
       ("unfrozen", "    length = ids.size(1)\n    model.requires_grad_(True)\n", "A parameter of the model that was frozen requires gradients afterwards (`requires_grad_(True)` is for all of them). Leave the model as it is."))
    squeezed(at, ("shape", *LEAK), "is (B, T, T), also for one text")
    other_lengths(at, "gradient", "D")


@MISTAKES.mistake("You measure how far each output moves when the vector of a token is set to 0. The gradient says how fast the output's sum changes when that vector changes a little: `torch.autograd.grad(outputs[:, t].sum(), vectors)`.", breaks="values")
def future_leak__silenced(model, ids):
    def outputs(*silenced):
        hook = model.token_embeddings.register_forward_hook(lambda _, args, output: output.index_fill(1, torch.tensor(silenced, dtype=torch.long), 0.0))
        try:
            return model(ids).detach()
        finally:
            hook.remove()

    moved = [(outputs(s) - outputs()).norm(dim=-1) for s in range(ids.size(1))]
    return torch.stack(moved, dim=-1).triu(diagonal=1)


@MISTAKES.of(right.CausalSelfAttention)
def in_CausalSelfAttention(at):
    SEEN = (*NUMBERS, "no peeking")
    STOPS = ("shape", "values", "parameters", "gradients")
    NAMES = ("values", "parameters", "gradients")
    class_beginnings(at, (*STOPS, "no peeking", "num_heads"), takes="config")
    at(", causal_mask(x.size(1)).to(x.device)", SEEN, ("no_mask", "", "Nothing is hidden: every token sees all others, also those that come later. Hand `causal_mask(x.size(1))` to `masked_attention`, the mask of exactly these T tokens."))
    at("causal_mask(x.size(1))", ("shape", *SEEN),
       ("mask_of_the_width", "causal_mask(x.size(-1))", "Your mask is as large as the width D. It is as large as the text is long: `x.size(1)`.", ("shape", "parameters", "num_heads", *SEEN)),
       ("mask_of_the_batch", "causal_mask(x.size(0))", "Your mask is as large as the batch. It is as large as the text is long: `x.size(1)`."),
       ("mask_of_the_heads", "causal_mask(self.num_heads)", "Your mask is as large as there are heads. It is as large as the text is long: `x.size(1)`."))
    at(("        self.num_heads = ", "causal_mask(x.size(1))"), ("shape", "parameters", "num_heads", *SEEN), ("mask_of_all_positions", ("        self.most = config.max_position_embeddings\n        self.num_heads = ", "causal_mask(self.most)"), "Your mask is as large as the table of positions (`config.max_position_embeddings`), and the text is shorter. Take the mask of x's own length, `x.size(1)`."))
    at(("        self.num_heads = ", "        context = ", "causal_mask(x.size(1))"), ("values", "no peeking"), ("mask_kept", ("        self.mask = None\n        self.num_heads = ", "        self.mask = causal_mask(x.size(1)) if self.mask is None else self.mask\n        context = ", "self.mask"), "You keep the mask of the first text: a longer one doesn't fit it. Take the mask of x's own length each time, `causal_mask(x.size(1))`."))
    at(("        self.num_heads = ", "        context = ", "causal_mask(x.size(1))"), ("values", "no peeking"), ("mask_not_cut", ("        self.mask = causal_mask(1)\n        self.num_heads = ", "        self.mask = self.mask if len(self.mask) >= x.size(1) else causal_mask(x.size(1))\n        context = ", "self.mask"), "A shorter text after a longer one stops: the mask that you keep is as large as the longest text so far. Take the mask of x's own length each time, `causal_mask(x.size(1))`, or cut yours to it: `[:T, :T]`."))
    at("        self.num_heads = ", "parameters", ("mask_in_the_state_dict", "        self.register_buffer(\"mask\", torch.ones(config.n_positions, config.n_positions).tril())\n        self.num_heads = ", "A buffer of yours (the mask?) is in the module's state dict: loading weights will ask for it. Register it with `persistent=False`, or make it in `forward`."))
    at("        self.num_heads = ", "parameters", ("mask_is_a_parameter", "        self.mask = nn.Parameter(torch.zeros(1))\n        self.num_heads = ", "Your mask is a parameter: it would be trained, and it counts as a weight. Make the mask in `forward`, or keep it with `register_buffer`."))
    at(".to(x.device)", SEEN, ("mask_transposed", ".T.to(x.device)", "Your mask is transposed: each token sees itself and what comes after it."))
    at("causal_mask(x.size(1)).to(x.device)", SEEN, ("mask_inverted", "~causal_mask(x.size(1)).to(x.device)", "Your mask is inverted: each token sees only what comes after it, and the last one nothing at all, which gives NaN."))
    at(("split_heads(layer(x), self.num_heads)", "merge_heads(context)"), NUMBERS,
       ("a_single_head", ("layer(x)", "context"), "The heads are missing: you attend once over the whole width, not in {H} heads of width K = {K}. Split with `split_heads(…, self.num_heads)`."),
       ("reshaped_both_ways", ("layer(x).reshape(x.size(0), self.num_heads, x.size(1), -1)", "context.reshape(x.shape)"), "You cut into heads, and merge them, with a `view` or `reshape` alone, which mixes tokens and columns. First (B, T, H, K), then `transpose(1, 2)`, and the same way back; `split_heads` and `merge_heads` do it.", SEEN),
       ("heads_interleaved", ("layer(x).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)", "context.permute(0, 2, 3, 1).flatten(2)"), "Your heads take every H-th column. A head has K neighboring columns: (B, T, H, K), in that order; `split_heads` does it."))
    at("self.num_heads = config.num_attention_heads", STOPS,
       ("layers_for_heads", "self.num_heads = config.num_hidden_layers", "You split into `config.num_hidden_layers` heads. The number of heads is `config.num_attention_heads`.", ("shape", "values", "gradients", "num_heads")),
       ("head_width_for_heads", "self.num_heads = width // config.num_attention_heads", "You split into as many heads as a head is wide. There are H = `config.num_attention_heads` heads of width K = D/H.", ("num_heads", *NUMBERS)))
    at("self.num_heads", "num_heads", ("heads_under_another_name", "self.heads", "The module doesn't say how many heads it has: keep the number as `self.num_heads`, for code that uses it with a cache."), times=2)
    at("split_heads(layer(x), self.num_heads)", SEEN, ("reshaped_to_heads", "layer(x).reshape(x.size(0), self.num_heads, x.size(1), -1)", "You cut into heads with a `view` or `reshape` straight to (B, H, T, K), which mixes tokens and columns. First (B, T, H, K), then `transpose(1, 2)`; `split_heads` does it."))
    at("merge_heads(context)", NUMBERS,
       ("merged_without_transpose", "context.reshape(x.shape)", "You merge with a `reshape` straight from (B, H, T, K), which mixes tokens and heads. First `transpose(1, 2)`; `merge_heads` does it.", SEEN),
       ("heads_come_out_interleaved", "context.permute(0, 2, 3, 1).flatten(2)", "You merge with the head as the fastest axis. A head's K columns stay side by side: (B, T, H, K), in that order; `merge_heads` does it."),
       ("mean_of_the_heads", "context.mean(dim=1).repeat(1, 1, self.num_heads)", "You average the heads. Their columns come side by side again: `merge_heads`."))
    at("(self.q, self.k, self.v)", NUMBERS,
       ("order_v_k_q", "(self.v, self.k, self.q)", "`q` and `v` are swapped: queries are made by `q`, values by `v`."),
       ("query_twice", "(self.q, self.q, self.v)", "Queries and keys are both made by `q`. Keys are made by `k`."),
       ("key_twice", "(self.q, self.k, self.k)", "Keys and values are both made by `k`. Values are made by `v`."),
       ("q_for_all", "(self.q, self.q, self.q)", "Queries, keys and values are all made by `q`. Each has a layer of its own."))
    at("context = masked_attention(query, key, value,", NUMBERS, ("values_are_x", "context = masked_attention(query, key, split_heads(x, self.num_heads),", "The values are x itself. They are made by `v`."))
    for layer in ("q", "k", "v", "output_linear"):
        at(f"self.{layer} = nn.Linear(width, width)", NAMES if layer != "k" else "parameters", (f"{layer}_without_bias", f"self.{layer} = nn.Linear(width, width, bias=False)", f"`{layer}` has no bias. All four layers have one."))
    at("nn.Linear(width, width)", NAMES, ("no_biases", "nn.Linear(width, width, bias=False)", "Your layers have no bias. All four have one."), times=4)
    at(("self.q = nn.Linear(width, width)", "self.k = nn.Linear(width, width)", "self.v = nn.Linear(width, width)"), NAMES, ("projections_without_bias", ("self.q = nn.Linear(width, width, bias=False)", "self.k = nn.Linear(width, width, bias=False)", "self.v = nn.Linear(width, width, bias=False)"), "`q`, `k` and `v` have no bias. All four layers have one."))
    at(("self.k = nn.Linear(width, width)", "self.v = nn.Linear(width, width)"), NAMES, ("one_layer_with_three_names", ("self.k = self.q", "self.v = self.q"), "`q`, `k` and `v` are the same layer. Each needs weights of its own: three `nn.Linear`."))
    at("return self.output_linear(merge_heads(context))", (*STOPS[:2], "gradients", "no peeking"),
       ("x_added", "return x + self.output_linear(merge_heads(context))", "You add x to the result. The skip connection belongs to the block, not to attention.", NUMBERS),
       ("dropout", "return F.dropout(self.output_linear(merge_heads(context)), 0.1, self.training)", "There is dropout in your attention. There should be none: it belongs to the block.", "values"),
       ("dropout_in_eval_mode", "return F.dropout(self.output_linear(merge_heads(context)), 0.1)", "The result is random, also in eval mode: there should be no dropout here, it belongs to the block.", (*SEEN,)),
       ("last_token_only", "return self.output_linear(merge_heads(context))[:, -1]", "You return the last token only. Every token has a result: (B, T, D)."),
       ("with_weights", "return self.output_linear(merge_heads(context)), context", "You return two things. Return only the result, (B, T, D)."))
    at(("        self.num_heads = ", "return self.output_linear(merge_heads(context))"), "values", ("dropout_of_the_config", ("        self.dropout = nn.Dropout(config.resid_pdrop)\n        self.num_heads = ", "return self.dropout(self.output_linear(merge_heads(context)))"), "There is dropout in your attention. There should be none: it belongs to the block."))
    at("masked_attention(query,", NUMBERS,
       ("scaled_by_the_whole_width", "masked_attention(query / x.size(-1) ** 0.5,", "The scores are divided by √D once more (or the queries are). The root is that of a head's width, K, and `masked_attention` divides by it."),
       ("the_width_not_the_heads_width", "masked_attention(query * (query.size(-1) / x.size(-1)) ** 0.5,", "The scores are divided by √D, the whole width. The root is that of a head's width, √K: `masked_attention` takes it from the query."))
    at("masked_attention(query, key,", "gradients", ("detached", "masked_attention(query.detach(), key.detach(),", "The queries or keys are cut off from their layers (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`): `q` and `k` can't learn."))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")
    attention_layers(at, "self", NUMBERS, ("shape", *SEEN), tokens="T")


@MISTAKES.of(right.DecoderBlock)
def in_DecoderBlock(at):
    FIRST = "x = x + self.dropout(self.attention(self.layer_norm_1(x)))"
    SECOND = "return x + self.feed_forward(self.layer_norm_2(x))"
    AND_EPS = (*NUMBERS, "eps")
    ALL_BUT_SHAPE = ("values", "parameters", "gradients", "dropout", "eps")
    class_beginnings(at, ("shape", *ALL_BUT_SHAPE), takes="config")
    pre_norm_block(at, "layer_norm", "self.dropout(self.attention(self.layer_norm_1(x)))", AND_EPS, lost=(*AND_EPS, "dropout"))
    at((FIRST, SECOND), AND_EPS,
       ("both_skips_from_the_norms", ("x = self.layer_norm_1(x)\n        x = x + self.dropout(self.attention(x))", "x = self.layer_norm_2(x)\n        return x + self.feed_forward(x)"), "What you add to each part's result is the *normalized* x. The skip connections carry x as it is."),
       ("x_added_once_more", ("y = x + self.dropout(self.attention(self.layer_norm_1(x)))", "return x + y + self.feed_forward(self.layer_norm_2(y))"), "x is added once too often: the new x has it already."),
       ("attention_not_added", ("y = self.dropout(self.attention(self.layer_norm_1(x)))", "return x + self.feed_forward(self.layer_norm_2(y))"), "The feed-forward network reads what attention returns, without x: the first addition, x + attention(norm(x)), is missing.", (*AND_EPS, "dropout")),
       ("norms_behind_the_parts", ("x = x + self.dropout(self.layer_norm_1(self.attention(x)))", "return x + self.layer_norm_2(self.feed_forward(x))"), "Your norms come after the parts, not before them. It should be attention(norm(x)); yours is norm(attention(x)), and the same with the feed-forward network.", (*AND_EPS, "dropout")),
       ("dropout_at_the_end", ("x = x + self.attention(self.layer_norm_1(x))", "return self.dropout(x + self.feed_forward(self.layer_norm_2(x)))"), "Your dropout is applied to the block's result. Only what attention returns goes through it (and `feed_forward` has its own).", "dropout"))
    at("self.layer_norm_1(x)", AND_EPS, ("second_norm_twice", "self.layer_norm_2(x)", "`layer_norm_2` comes before both parts; before attention it should be `layer_norm_1`."))
    at(FIRST, AND_EPS,
       ("skip_from_the_norm", "x = self.layer_norm_1(x)\n        x = x + self.dropout(self.attention(x))", "What you add to attention's result is the *normalized* x. The skip connection carries x as it is."),
       ("norm_behind_attention", "x = x + self.dropout(self.layer_norm_1(self.attention(x)))", "Your first norm comes after attention, not before it. It should be attention(norm(x)); yours is norm(attention(x)).", (*AND_EPS, "dropout")),
       ("dropout_on_the_sum", "x = self.dropout(x + self.attention(self.layer_norm_1(x)))", "Your dropout takes numbers of x, too: it is applied to the whole sum. Only what attention returns goes through it; the skip connection stays whole.", "dropout"),
       ("dropout_on_the_skip", "x = self.dropout(x) + self.attention(self.layer_norm_1(x))", "Your dropout takes numbers of x, on the skip connection. Only what attention returns goes through it.", "dropout"))
    at(SECOND, AND_EPS,
       ("first_norm_at_the_end", "return self.layer_norm_1(x + self.feed_forward(self.layer_norm_2(x)))", "There is one more norm at the end. The block's result is not normalized: the stack has one norm at its very end."),
       ("averaged", "return (x + self.feed_forward(self.layer_norm_2(x))) / 2", "You take half of the sum. A skip connection adds, no more."),
       ("with_two_things", "return x + self.feed_forward(self.layer_norm_2(x)), x", "You return two things. Return only the block's result, (B, T, D).", ("shape", *AND_EPS, "dropout")))
    at("self.layer_norm_2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)", ("values", "parameters", "gradients", "eps"), ("one_norm_with_two_names", "self.layer_norm_2 = self.layer_norm_1", "`layer_norm_1` and `layer_norm_2` are the same layer. Each needs weights of its own: two `nn.LayerNorm`."))
    at(("self.dropout(self.attention(self.layer_norm_1(x)))", "self.feed_forward(self.layer_norm_2(x))"), AND_EPS,
       ("parts_swapped", ("self.feed_forward(self.layer_norm_2(x))", "self.dropout(self.attention(self.layer_norm_1(x)))"), "The feed-forward network comes first in yours. Attention comes first."),
       ("parts_swapped_with_norms_in_order", ("self.feed_forward(self.layer_norm_1(x))", "self.dropout(self.attention(self.layer_norm_2(x)))"), "The feed-forward network comes first in yours, after `layer_norm_1`. Attention comes first."),
       ("dropout_only_behind_feed_forward", ("self.attention(self.layer_norm_1(x))", "self.dropout(self.feed_forward(self.layer_norm_2(x)))"), "Your dropout is for what the feed-forward network returns, which has its own; what attention returns never meets one.", "dropout"))
    at("        x = x + self.dropout(self.attention(self.layer_norm_1(x)))\n", (*AND_EPS, "dropout"), ("no_attention", "", "Attention has no effect on what you return: the tokens never see each other."))
    at("x = x + self", AND_EPS, ("subtracted", "x = x - self", "What attention returns is added to x; you subtract it."))
    EPS = "nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)"
    at(", eps=config.layer_norm_epsilon)", "eps", ("no_eps", ")", "Your norms use an eps of 1e-5 (PyTorch's own, if none is given). The config has one: `eps=config.layer_norm_epsilon`."), times=2)
    for number in ("1e-6", "1e-12"):
        at("eps=config.layer_norm_epsilon", "eps", (f"eps_of_{number}", f"eps={number}", f"Your norms use an eps of your own, {number}. The config has one: `eps=config.layer_norm_epsilon`."), times=2)
    at(", eps=config.layer_norm_epsilon)", ("values", "parameters", "gradients", "eps"),
       ("norms_without_parameters", ", eps=config.layer_norm_epsilon, elementwise_affine=False)", "Your norms have no scale and shift to learn (`elementwise_affine=False` does that). Both have them, as `nn.LayerNorm` makes them."),
       ("norms_without_bias", ", eps=config.layer_norm_epsilon, bias=False)", "Your norms have no bias. Both have one, as `nn.LayerNorm` makes it."), times=2)
    for number in (1, 2):
        at(f"self.layer_norm_{number} = {EPS}", ("values", "parameters", "gradients", "eps"), (f"norm_{number}_without_bias", f"self.layer_norm_{number} = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon, bias=False)", f"`layer_norm_{number}` has no bias. Both norms have one, as `nn.LayerNorm` makes it."))
    at(f"self.layer_norm_1 = {EPS}", "eps", ("no_eps_in_the_first_norm", "self.layer_norm_1 = nn.LayerNorm(config.hidden_size)", "`layer_norm_1` has another eps than the config: `eps=config.layer_norm_epsilon` for both."))
    at(f"self.layer_norm_2 = {EPS}", "eps", ("no_eps_in_the_second_norm", "self.layer_norm_2 = nn.LayerNorm(config.hidden_size)", "`layer_norm_2` has another eps than the config: `eps=config.layer_norm_epsilon` for both."))
    at("self.dropout(self.attention(self.layer_norm_1(x)))", "dropout",
       ("no_dropout", "self.attention(self.layer_norm_1(x))", "What attention returns never goes through `dropout`: add it to x only after that."),
       ("dropout_before_attention", "self.attention(self.dropout(self.layer_norm_1(x)))", "In training there is noise, but it is not dropout of what attention returns: `self.dropout(…)` goes around `self.attention(…)`, not inside."),
       ("always_drops_with_its_p", "F.dropout(self.attention(self.layer_norm_1(x)), self.dropout.p)", "Your dropout acts in eval mode, too (`F.dropout` does, unless it is given `self.training`). `nn.Dropout` knows the mode.", (*NUMBERS, "dropout")))
    at("self.feed_forward(self.layer_norm_2(x))", "dropout", ("dropout_twice", "self.dropout(self.feed_forward(self.layer_norm_2(x)))", "What the feed-forward network returns is dropped twice: it has a dropout of its own already."))
    at("nn.Dropout(config.resid_pdrop)", "dropout",
       ("embd_pdrop", "nn.Dropout(config.embd_pdrop)", "Your dropout takes its p from `config.embd_pdrop`, which is for the embeddings. Here it is `config.resid_pdrop`."),
       ("attn_pdrop", "nn.Dropout(config.attn_pdrop)", "Your dropout takes its p from `config.attn_pdrop`, which is for attention weights. Here it is `config.resid_pdrop`."),
       ("p_of_a_half", "nn.Dropout()", "Your dropout has a p of 0.5 (PyTorch's own, if none is given). The config has one: `config.resid_pdrop`."),
       ("p_of_a_tenth", "nn.Dropout(0.1)", "Your dropout has a p of 0.1. Take the config's: `config.resid_pdrop`."))
    at("self.dropout(self.attention", (*AND_EPS, "dropout"), ("always_drops", "F.dropout(self.attention", "Your dropout acts in eval mode, too (`F.dropout` does, unless it is given `self.training`). `nn.Dropout` knows the mode."))
    at("self.attention(self.layer_norm_1(x))", "gradients", ("detached", "self.attention(self.layer_norm_1(x).detach())", "What goes into attention is cut off (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`): nothing below can learn through it."))
    at("x = x + self.dropout", "gradients", ("in_place", "x += self.dropout", "You change `x` in place: `x += …` and methods that end in `_` write into the caller's numbers. Make a new tensor: `x = x + …`."))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")


@MISTAKES.of(right.GPT)
def in_GPT(at):
    VALUES = ("values", "gradients", "eps")
    FROM_BLOCKS = ("values", "gradients", "parameters")
    FROM_NAMES = (*FROM_BLOCKS, "eps")
    ALL_OF_GPT = ("shape", "values", "parameters", "gradients", "dropout", "eps", "too long")
    SUM = "self.token_embeddings(ids) + self.position_embeddings(positions)"
    CHECK = "        if length > most:\n            raise ValueError(f\"{length} tokens, but the table of positions ends after {most}\")\n"
    TIE = "        self.lm_head.weight = self.token_embeddings.weight  # (V, D), shared\n"
    HEAD = "return self.lm_head(self.layer_norm(x))"
    class_beginnings(at, ALL_OF_GPT, takes="config")
    at(("x = block(x)", HEAD), ("values", "gradients"), ("norm_in_the_loop", ("x = self.layer_norm(block(x))", "return self.lm_head(x)"), "Your last norm stands in the loop and acts behind every block. It comes once, behind the last one."))
    at(TIE, ("parameters", "gradients"), ("not_tied", "", "`lm_head.weight` and `token_embeddings.weight` are two parameters: counted twice, and each with gradients of its own. They should be one: assign the parameter itself, `self.lm_head.weight = self.token_embeddings.weight`, not its numbers (`clone`, `.data`, `copy_`, a new `nn.Parameter`)."))
    at(("        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)\n" + TIE, HEAD), "parameters", ("head_without_a_name", ("", "return self.layer_norm(x) @ self.token_embeddings.weight.T"), "Your head has no name of its own: `lm_head`, an `nn.Linear` without bias whose weight *is* the token table, is part of the contract."))
    at("nn.Embedding(config.vocab_size, config.hidden_size)", "gradients", ("padding_index", "nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)", "Token 0 gets no gradient where it is looked up (`padding_idx=0`). Here it is a token like any other."))
    at(SUM, VALUES,
       ("no_positions", "self.token_embeddings(ids)", "The positions are missing: without their vectors the model can tell positions apart only by the mask."),
       ("no_tokens", "self.position_embeddings(positions)", "Only the positions' vectors go into the first block; the tokens' are missing.", ALL_OF_GPT),
       ("averaged", f"({SUM}) / 2", "You take the mean of the two vectors. They are added."))
    at("positions = torch.arange(length, device=ids.device)", ("shape", *VALUES, "dropout"), ("positions_from_one", "positions = torch.arange(1, length + 1, device=ids.device)", "Your positions begin at 1. They are 0 … T − 1."))
    at("torch.arange(length, device=ids.device)", VALUES,
       ("positions_reversed", "torch.arange(length, device=ids.device).flip(0)", "Your positions run backwards. They are 0 … T − 1, from left to right."),
       ("positions_of_the_batch", "torch.arange(ids.size(0), device=ids.device)[:, None]", "Your positions count the sentences of the batch: each sentence has one vector for all of its tokens. They should count the tokens, 0 … T − 1."),
       ("position_zero_for_all", "torch.zeros_like(ids[0])", "Every token gets the vector of position 0. The positions are 0 … T − 1."),
       ("last_positions", "torch.arange(most - length, most, device=ids.device)", "You take the last T rows of the table of positions. The first T are meant: 0 … T − 1."),
       ("all_positions", "torch.arange(most, device=ids.device)", "You add the whole table of positions. Take its first T rows.", ("shape", *VALUES)))
    at("self.position_embeddings(positions)", ("shape", *VALUES, "dropout"), ("ids_for_positions", "self.position_embeddings(ids)", "You look the positions up with the token ids. They are 0 … T − 1: `torch.arange`."))
    at("(ids) + self", VALUES, ("multiplied", "(ids) * self", "You multiply the two vectors. They are added."))
    at(f"self.dropout({SUM})", "dropout",
       ("norm_of_the_embeddings", f"self.layer_norm(self.dropout({SUM}))", "You normalize the embeddings before the first block, as BERT does. The final norm comes once, after the last block.", (*VALUES, "dropout")),
       ("no_dropout", SUM, "`dropout` is never used on the sum of the two vectors."),
       ("always_drops", f"F.dropout({SUM}, self.dropout.p)", "Your dropout acts in eval mode, too (`F.dropout` does, unless it gets `training=self.training`): the same text gets other logits at each call. `self.dropout` follows the mode.", ("values", "gradients", "dropout")),
       ("dropout_on_tokens_only", "self.dropout(self.token_embeddings(ids)) + self.position_embeddings(positions)", "What reaches the first block is random, but no number of it is dropped (dropout of one of the two vectors only does that). Add first: the sum of tokens and positions goes through `dropout`."),
       ("dropout_on_each", "self.dropout(self.token_embeddings(ids)) + self.dropout(self.position_embeddings(positions))", "You put tokens and positions through dropout one by one. Add first: the sum goes through it."),
       ("dropout_twice", f"self.dropout(self.dropout({SUM}))", "The sum goes through dropout twice. Once is enough."),
       ("detached", f"self.dropout({SUM}).detach()", "The embeddings are cut off (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`): neither table learns what the blocks have to say.", "gradients"))
    at((f"self.dropout({SUM})", HEAD), (*VALUES, "dropout"),
       ("norm_first_not_last", (f"self.layer_norm(self.dropout({SUM}))", "return self.lm_head(x)"), "Your norm comes before the blocks. It belongs after the last one."),
       ("dropout_at_the_end", (SUM, "return self.lm_head(self.dropout(self.layer_norm(x)))"), "Your dropout comes after the blocks. It is for the embeddings: the sum of tokens and positions goes through it.", "dropout"))
    at(HEAD, VALUES,
       ("no_final_norm", "return self.lm_head(x)", "The norm at the end is missing: pre-norm blocks leave their sum as large as it is, and `layer_norm` comes between the last block and the head."),
       ("head_before_norm", "return self.layer_norm(self.lm_head(x))", "The head comes before the norm in yours: the order is norm, then head.", ALL_OF_GPT),
       ("last_place_only", f"{HEAD}[:, -1]", "You return the logits of the last position only. In training every position predicts: (B, T, V).", ("shape", *VALUES)),
       ("chosen_tokens", f"{HEAD}.argmax(dim=-1)", "You return the most probable tokens. The exercise asks for the logits, (B, T, V).", ("shape", *VALUES)),
       ("two_things", f"{HEAD}, x", "You return two things. Return only the logits, (B, T, V).", ("shape", *VALUES, "dropout")),
       ("logits_scaled", f"{HEAD} / self.token_embeddings.embedding_dim**0.5", "You divide the logits by √D. Return the head's product as it is."))
    at("x = block(x)", VALUES,
       ("norm_after_each_block", "x = self.layer_norm(block(x))", "You put the final norm after every block. It comes once, after the last."),
       ("result_not_kept", "block(x)", "The blocks have no effect on your logits: none is called, or what it returns is not kept. Each block's result is the next one's input: `x = block(x)`.", (*VALUES, "dropout")),
       ("block_added", "x = x + block(x)", "You add each block's result to x. A block has its own skip connections: `x = block(x)`."))
    at("            x = block(x)\n", (*VALUES, "dropout"), ("no_blocks", "            pass\n", "The blocks have no effect on your logits. Call one after the other, and keep what each returns: `x = block(x)`."))
    at("        for block in self.blocks:\n            x = block(x)\n", NUMBERS,
       ("embeddings_into_every_block", "        start = x\n        for block in self.blocks:\n            x = block(start)\n", "Every block gets the embeddings; what the one before has made is lost. Each block's result is the next one's input."),
       ("embeddings_added_at_the_end", "        start = x\n        for block in self.blocks:\n            x = block(x)\n        x = x + start\n", "You add the embeddings once more after the blocks. The blocks' own skip connections carry them already.", VALUES))
    at("for block in self.blocks:", VALUES,
       ("first_block_only", "for block in self.blocks[:1]:", "Only the first block is called. All are, one after the other.", NUMBERS),
       ("last_block_skipped", "for block in self.blocks[:-1]:", "The last block is left out. All are called, one after the other.", (*VALUES, "dropout")),
       ("first_block_skipped", "for block in self.blocks[1:]:", "The first block is left out. All are called, one after the other.", (*VALUES, "dropout")),
       ("blocks_reversed", "for block in reversed(self.blocks):", "The blocks are called in reverse order.", NUMBERS))
    at("nn.ModuleList(DecoderBlock(config) for _ in range(config.num_hidden_layers))", FROM_BLOCKS, ("one_block_repeated", "nn.ModuleList([DecoderBlock(config)] * config.num_hidden_layers)", "All your blocks are a single object, with one set of weights (`[DecoderBlock(config)] * n` repeats it). Make a new one for each: `DecoderBlock(config) for _ in range(n)`."))
    at("range(config.num_hidden_layers)", FROM_BLOCKS,
       ("heads_for_blocks", "range(config.num_attention_heads)", "You make `config.num_attention_heads` blocks. Their number is `config.num_hidden_layers`."),
       ("one_block", "range(1)", "You make a single block. Their number is `config.num_hidden_layers`."))
    at("nn.Embedding(config.max_position_embeddings", ("shape", *FROM_NAMES, "too long"), ("positions_for_every_token", "nn.Embedding(config.vocab_size", "Your table of positions has V rows, as many as there are tokens. It has `config.max_position_embeddings`."))
    at(CHECK, "too long",
       ("not_checked", "", "Too long a text is not refused on purpose: the table of positions fails with its own error. Compare T with its number of rows first, and raise a ValueError that names both."),
       ("cut_to_fit", "        ids, length = ids[:, -most:], min(length, most)\n", "Too long a text is cut to fit, in silence. Raise a ValueError that names both lengths: `generate` decides itself what to show to the model."),
       ("cut_at_the_end", "        ids, length = ids[:, :most], min(length, most)\n", "Too long a text is cut to fit, in silence. Raise a ValueError that names both lengths: `generate` decides itself what to show to the model."))
    at((CHECK, "torch.arange(length, device=ids.device)"), "too long",
       ("positions_clamped", ("", "torch.arange(length, device=ids.device).clamp(max=most - 1)"), "In too long a text the last tokens share one position, in silence. Raise a ValueError that names both lengths."),
       ("positions_start_anew", ("", "torch.arange(length, device=ids.device) % most"), "In a text that is too long, the positions start again without an error. Raise a ValueError that names both lengths."))
    at('f"{length} tokens, but the table of positions ends after {most}"', "too long", ("message_without_numbers", '"too many tokens"', "You refuse too long a text, but the message doesn't name both numbers: the text's length and the table's. Who meets it wants to know the two."))
    at("length > most", ("shape", "values", "gradients", "too long"), ("compared_with_the_vocabulary", "length > self.token_embeddings.num_embeddings", "You compare the length of the text with V, the size of the vocabulary. The table of positions is what ends: compare with its number of rows, `config.max_position_embeddings`."))
    at("        self.dropout = ", "parameters", ("positions_in_the_state_dict", "        self.register_buffer(\"positions\", torch.arange(config.max_position_embeddings))\n        self.dropout = ", "A buffer of yours (the positions?) is in the model's state dict: loading weights will ask for it. Register it with `persistent=False`, or make it in `forward`."))
    at("length > most", ("shape", "values", "gradients", "dropout"), ("refuses_what_fits", "length >= most", "A text exactly as long as the table is refused. It still fits: refuse when T is *greater*."))
    at("config.embd_pdrop)", "dropout", ("resid_pdrop", "config.resid_pdrop)", "Your dropout takes its p from `config.resid_pdrop`, which is for the blocks. For the embeddings it is `config.embd_pdrop`."))
    at("nn.Dropout(config.embd_pdrop)", ("dropout",),
       ("p_of_a_half", "nn.Dropout()", "Your dropout has a p of 0.5 (PyTorch's own, if none is given). The config has one: `config.embd_pdrop`."),
       ("p_of_a_tenth", "nn.Dropout(0.1)", "Your dropout has a p of 0.1. Take the config's: `config.embd_pdrop`."))
    at(", eps=config.layer_norm_epsilon)", "eps", ("no_eps", ")", "The final norm has an eps of its own (PyTorch's, if none is given, is 1e-5). The config has one: `eps=config.layer_norm_epsilon`."))
    squeezed(at, ("shape", "values", "gradients"), "is (B, T, V), also for one text or one token")
    language_model(at, "DecoderBlock", "layer_norm", fewer_blocks=(*FROM_NAMES, "dropout"))


@MISTAKES.of(right.next_token_loss)
def in_next_token_loss(at):
    LOSS = ("values", "large logits", "gradients")
    WITH_SHAPE = ("shape", *LOSS)
    MEAN = "F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())"
    at(("logits[:, :-1]", "ids[:, 1:]"), LOSS,
       ("not_shifted", ("logits", "ids"), "Nothing is shifted: position t is compared with token t, which the model was given. It should predict token t + 1: `logits[:, :-1]` against `ids[:, 1:]`."),
       ("wrong_way", ("logits[:, 1:]", "ids[:, :-1]"), "You shift the wrong way: position t is compared with token t − 1, which is in the past. It should predict token t + 1: `logits[:, :-1]` against `ids[:, 1:]`."),
       ("shifted_twice", ("logits[:, :-2]", "ids[:, 2:]"), "You shift twice: position t is compared with token t + 2. (With two tokens nothing is left, and the mean of nothing is NaN.) Token t + 1 is next."),
       ("last_place_counted", ("logits", "ids.roll(-1, dims=1)"), "The last position is counted, too: you compare it with the text's first token (`roll` does that). It has nothing to predict: leave it out."),
       ("rolled_the_wrong_way", ("logits", "ids.roll(1, dims=1)"), "You shift the wrong way: position t is compared with token t − 1, and the first position with the last token (`roll` by 1 does that). It should predict token t + 1: `logits[:, :-1]` against `ids[:, 1:]`."),
       ("last_place_against_zero", ("logits", "F.pad(ids[:, 1:], (0, 1))"), "The last position is counted, too: you compare it with token 0. It has nothing to predict: leave it out."),
       ("last_place_against_itself", ("logits", "torch.cat([ids[:, 1:], ids[:, -1:]], dim=1)"), "The last position is counted, too: you compare it with its own token. It has nothing to predict: leave it out."),
       ("last_prediction_only", ("logits[:, -2:-1]", "ids[:, -1:]"), "Only the last prediction of each text counts. All T − 1 do."),
       ("first_prediction_only", ("logits[:, :1]", "ids[:, 1:2]"), "Only the first prediction of each text counts. All T − 1 do."),
       ("last_prediction_missing", ("logits[:, :-2]", "ids[:, 1:-1]"), "The last prediction of each text is missing, that of token T − 1 from position T − 2. All T − 1 count."),
       ("first_prediction_missing", ("logits[:, 1:-1]", "ids[:, 2:]"), "The first prediction of each text is missing, that of token 1 from position 0. All T − 1 count."),
       ("first_text_only", ("logits[:1, :-1]", "ids[:1, 1:]"), "Only the first text of the batch counts. All B do."),
       ("batch_shifted", ("logits[:-1]", "ids[1:]"), "You shift the batch, axis 0: each text is compared with the next one. The tokens are axis 1."))
    at("ids[:, 1:]", LOSS, ("not_shifted_without_the_last", "ids[:, :-1]", "Nothing is shifted: position t is compared with token t, and only the last position is left out. `ids` lose their *first* token: `ids[:, 1:]`."))
    at("logits[:, :-1]", LOSS, ("not_shifted_without_the_first", "logits[:, 1:]", "Nothing is shifted: position t is compared with token t, and only the first position is left out. `logits` lose their *last* position: `logits[:, :-1]`."))
    at(MEAN, LOSS,
       ("rolled_flat", "F.cross_entropy(logits.flatten(0, 1)[:-1], ids.flatten()[1:])", "The last position of a text is compared with the first token of the next one (a shift after flattening does that). It has nothing to predict. Shift each text by itself: `logits[:, :-1]`, `ids[:, 1:]`."),
       ("sum_over_places", f"{MEAN} * (ids.size(1) - 1)", "You add up over the positions and take the mean over the texts only. The mean runs over all B·(T − 1) predictions."),
       ("sum_over_texts", f"{MEAN} * ids.size(0)", "You add up over the texts and take the mean over the positions only. The mean runs over all B·(T − 1) predictions."),
       ("divided_by_all_places", f"{MEAN} * (ids.size(1) - 1) / ids.size(1)", "You divide by B·T. There are B·(T − 1) predictions: the last position has none."),
       ("divided_by_one_less_than_all_places", f"{MEAN} * ids[:, 1:].numel() / (ids.numel() - 1)", "You divide by B·T − 1. One token in *each* text is not predicted: B·(T − 1) predictions are left."),
       ("loop_ends_early", "torch.stack([F.cross_entropy(logits[:, t], ids[:, t + 1]) for t in range(ids.size(1) - 2)]).mean()", "The last prediction of each text is missing, that of token T − 1 from position T − 2. All T − 1 count.", WITH_SHAPE),
       ("own_exponentials", "(logits[:, :-1].exp().sum(dim=-1).log() - logits[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]).mean()", "e to a large logit is ∞, and so is the logarithm of a sum with it. `F.cross_entropy` (or `logsumexp`, or `log_softmax`) subtracts the largest logit first.", "large logits"),
       ("divided_by_the_vocabulary", f"{MEAN} / logits.size(-1)", "You divide by the number of tokens V, too (a mean over the wrong axis?). The mean runs over the B·(T − 1) predictions."),
       ("one_loss_for_each_text", 'F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=1)', "You return one loss for each text. Return the mean over all of them, a single number.", WITH_SHAPE),
       ("one_loss_for_each_place", 'F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)', "You return one loss for each position. Return the mean over all of them, a single number.", WITH_SHAPE),
       ("softmax_over_places", "F.nll_loss(logits[:, :-1].log_softmax(dim=1).flatten(0, 1), ids[:, 1:].flatten())", "Your softmax runs over the positions. The classes are the tokens, the last axis of `logits`."),
       ("softmax_over_all_places", "F.nll_loss(logits.log_softmax(dim=1)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())", "Your softmax runs over the positions, the last one included. The classes are the tokens, the last axis of `logits`."),
       ("accuracy", "(logits[:, :-1].argmax(dim=-1) == ids[:, 1:]).float().mean()", "This is the share of right guesses, which has no gradient. Return the loss: the mean of −log p."),
       ("squared_error", "F.mse_loss(logits[:, :-1].softmax(dim=-1), F.one_hot(ids[:, 1:], logits.size(-1)).float())", "This is the mean squared error of the probabilities. Return the cross-entropy: the mean of −log p."),
       ("log_of_the_mean", "-logits[:, :-1].softmax(dim=-1).gather(-1, ids[:, 1:, None]).mean().log()", "You take the mean of the probabilities first, then the logarithm. The logarithm comes first: the mean of −log p."),
       ("log_of_softmax", "F.nll_loss(logits[:, :-1].softmax(dim=-1).log().flatten(0, 1), ids[:, 1:].flatten())", "You take the logarithm of a softmax. A probability below 1e-45 is 0 in float32, and log 0 is −∞. `F.cross_entropy` (or `log_softmax`) never leaves the logarithms.", ("large logits",)),
       ("probabilities_for_logarithms", "F.nll_loss(logits[:, :-1].softmax(dim=-1).flatten(0, 1), ids[:, 1:].flatten())", "You take the mean of the probabilities, with a minus. A loss takes their logarithms: −log p."),
       ("logits_for_logarithms", "F.nll_loss(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())", "You take the mean of the logits at the next tokens, with a minus: the softmax is missing."))
    at("ids[:, 1:].flatten()", LOSS,
       ("sum", 'ids[:, 1:].flatten(), reduction="sum"', "You add up. The mean is needed, over all B·(T − 1) predictions."),
       ("not_reduced", 'ids[:, 1:].flatten(), reduction="none"', "You return one loss for each prediction. Return their mean, a single number.", WITH_SHAPE),
       ("token_zero_ignored", "ids[:, 1:].flatten(), ignore_index=0", "Predictions of token 0 are left out, as if it were padding. Here 0 is a token like any other."),
       ("label_smoothing", "ids[:, 1:].flatten(), label_smoothing=0.1", "There is label smoothing in your loss. Use plain cross-entropy."))
    at(f"return {MEAN}", LOSS,
       ("negative", f"return -{MEAN}", "The sign is wrong: a loss is −log of a probability, so it is never negative."),
       ("plain_number", f"return {MEAN}.item()", "You return a plain number, through which no gradient flows. Return the tensor.", ("shape", "gradients")),
       ("one_axis_left", f"return {MEAN}[None]", "Your loss has an axis of size 1. Return a tensor without axes, such as `mean()` gives.", WITH_SHAPE))
    at("logits[:, :-1].flatten", LOSS,
       ("softmax_first", "logits[:, :-1].softmax(dim=-1).flatten", "The softmax is taken twice: `F.cross_entropy` (and `log_softmax`) has one inside. Hand it the logits as they are."),
       ("texts_mixed_up", "logits[:, :-1].transpose(0, 1).flatten", "Your logits are flattened in another order than your ids: predictions meet tokens of other texts. Flatten both from (B, T − 1)."),
       ("detached", "logits[:, :-1].detach().flatten", "The loss is cut off from the logits (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`): nothing can learn from it.", "gradients"))
    for number in ("1e-9", "1e-10", "1e-12"):
        at(MEAN, "large logits", (f"log_of_softmax_plus_{number}", f"F.nll_loss((logits[:, :-1].softmax(dim=-1) + {number}).log().flatten(0, 1), ids[:, 1:].flatten())", f"In your logarithm a probability counts as at least {number} (you add that, or clamp to it), so that no loss is above −log {number}, however wrong the model is. `F.cross_entropy` (or `log_softmax`) needs no such crutch."))
    at((".flatten(0, 1)", ".flatten()"), WITH_SHAPE, ("not_flattened", ("", ""), "`F.cross_entropy` takes axis 1 for the classes; in (B, T − 1, V) these are the positions. Flatten both: (B·(T − 1), V) and (B·(T − 1),)."))
    at("logits[:, :-1].flatten(0, 1)", LOSS, ("reshaped_across", "logits[:, :-1].transpose(1, 2).reshape(-1, logits.size(-1))", "Your rows of V logits mix positions with classes: `reshape` only cuts the numbers again and moves no axis (of (B, V, T − 1), say). V is the last axis of `logits` already: `flatten(0, 1)`."))
    other_measures_of_surprise(at, LOSS)


@MISTAKES.of(right.load_gpt2_weights)
def in_load_gpt2_weights(at):
    CHECKED = ('    if any(key.startswith(f"transformer.h.{depth}.") for key in state_dict):\n'
               '        raise ValueError(f"the model has {depth} blocks, the state dict has more")\n')
    OTHER = 'tensor.T if part == "weight" else tensor'
    QKV = 'columns.T if part == "weight" else columns'
    LOAD = "gpt.load_state_dict(mine)"
    PROJECTIONS = "all_three.chunk(3, dim=-1)"
    NOTHING_LOADED = ("embeddings", "blocks", "refusals", "independence")
    IN_THE_DICT = "You change `state_dict`, and the caller still needs it: a `Conv1D` weight is another one afterwards. `t_()` turns the dict's own tensor in place, and `state_dict[…] = …` replaces it; `.T` leaves it as it is."
    at((QKV, OTHER), "blocks",
       ("nothing_transposed", ("columns", "tensor"), "The weights of the feed-forward network are not transposed, and so don't fit. `Conv1D` keeps its weights as (in, out), `nn.Linear` as (out, in): all four `Conv1D` weights of a block need a `.T`, including the square ones, whose shape doesn't tell you.", ("embeddings", "blocks", "tied head", "refusals", "independence")),
       ("attention_not_transposed", ("columns", 'tensor.T if part == "weight" and other != "attn.c_proj" else tensor'), "The weights of `q`, `k`, `v` and `output_linear` are not transposed. They are square, so that no shape tells you: `Conv1D` keeps (in, out), `nn.Linear` (out, in)."),
       ("all_reshaped", ("columns", 'tensor.reshape(tensor.shape[::-1]) if part == "weight" else tensor'), "None of the four `Conv1D` weights of a block is transposed: brought into shape with `reshape` or `view`, or left as they are, their numbers stay in the old order. `.T` moves rows to columns."))
    at(QKV, "blocks", ("qkv_not_transposed", "columns", "The weights of `q`, `k` and `v` are not transposed. They are square, so that no shape tells you: `Conv1D` keeps (in, out), `nn.Linear` (out, in)."))
    at(OTHER, "blocks",
       ("output_linear_not_transposed", 'tensor.T if part == "weight" and other != "attn.c_proj" else tensor', "The weight of `output_linear` is not transposed. It is square, so that no shape tells you: `Conv1D` keeps (in, out), `nn.Linear` (out, in)."),
       ("reshaped_for_transposed", 'tensor.reshape(tensor.shape[::-1]) if part == "weight" else tensor', "You bring a weight into shape with `reshape` or `view`: the numbers stay in their old order. `.T` moves rows to columns."),
       ("transposed_in_place", 'tensor.t_() if part == "weight" else tensor', IN_THE_DICT, "independence"))
    at((PROJECTIONS, QKV), "independence", ("c_attn_transposed_in_place", ('(all_three.t_() if part == "weight" else all_three).chunk(3, dim=0)', "columns"), IN_THE_DICT))
    at(PROJECTIONS, "blocks",
       ("rows_for_columns", "all_three.chunk(3, dim=0)", "You cut `c_attn` into rows. Queries, keys and values are three blocks of *columns*, (D, 3·D): `chunk(3, dim=-1)`.", ("embeddings", "blocks", "tied head", "refusals", "independence")),
       ("reshaped_into_three", "all_three.reshape(3, -1, gpt.token_embeddings.weight.size(1)).squeeze(1)", "You cut the weight of `c_attn` with `reshape` (or `view`) to (3, D, D), which cuts *rows*, as the numbers lie in memory. Queries, keys and values are three blocks of columns: `chunk(3, dim=-1)`."),
       ("interleaved_by_head", "(all_three.unflatten(-1, (gpt.blocks[number].attention.num_heads, 3, -1)).select(-2, n).flatten(-2) for n in range(3))", "You read the columns of `c_attn` head by head, as if query, key and value of each head stood side by side. They are three blocks of D columns: all queries, all keys, all values."),
       ("every_third_column", "(all_three[..., n::3] for n in range(3))", "You take every third column of `c_attn`. Queries, keys and values are three blocks of neighboring columns: `chunk(3, dim=-1)`."),
       ("first_third_for_all", "[all_three.chunk(3, dim=-1)[0]] * 3", "`q`, `k` and `v` all get the first block of `c_attn`. Each has its own."))
    at('"qkv"', "blocks",
       ("order_k_q_v", '"kqv"', "`q` and `k` are swapped: the three blocks of `c_attn` are queries, keys, values."),
       ("order_q_v_k", '"qvk"', "`k` and `v` are swapped: the three blocks of `c_attn` are queries, keys, values."),
       ("order_v_k_q", '"vkq"', "`q` and `v` are swapped: the three blocks of `c_attn` are queries, keys, values."),
       ("order_k_v_q", '"kvq"', "The three blocks of `c_attn` are queries, keys, values, in this order. You read keys, values, queries."),
       ("order_v_q_k", '"vqk"', "The three blocks of `c_attn` are queries, keys, values, in this order. You read values, queries, keys."))
    at('f"transformer.h.{number}"', ("blocks", "refusals"),
       ("first_block_for_all", '"transformer.h.0"', "All your blocks get the weights of the library's first. Block n gets `transformer.h.n`."),
       ("blocks_reversed", 'f"transformer.h.{depth - 1 - number}"', "The blocks come in reverse order: block n gets `transformer.h.n`.", "blocks"))
    at("depth = len(gpt.blocks)", ("embeddings", "blocks", "tied head", "refusals", "independence"), ("always_twelve_blocks", "depth = 12", "You read more blocks than the model has (always twelve?). Ask it for their number: `len(gpt.blocks)`."))
    BIASES = "The biases of `q`, `k`, `v` and of the linear layers keep their old numbers. Load them, too. (A strict `load_state_dict` tells you what is missing; `strict=False` hides it.)"
    at(('                tensor = state_dict[', LOAD), ("blocks", "refusals"), ("biases_forgotten", ('                if part == "bias":\n                    continue\n                tensor = state_dict[', 'gpt.load_state_dict({name: value for name, value in mine.items() if "norm" in name or name.endswith("weight")}, strict=False)'), BIASES))
    at("ln_{norm}", "blocks",
       ("norms_swapped", "ln_{3 - norm}", "The norms are swapped: `layer_norm_1` is `ln_1`, `layer_norm_2` is `ln_2`."),
       ("first_norm_twice", "ln_1", "Both norms get `ln_1`. `layer_norm_2` is `ln_2`."))
    at(('"position_embeddings.weight": state_dict["transformer.wpe.weight"]', '"token_embeddings.weight": state_dict["transformer.wte.weight"]'), ("embeddings", "blocks", "tied head", "refusals", "independence"), ("tables_swapped", ('"position_embeddings.weight": state_dict["transformer.wte.weight"]', '"token_embeddings.weight": state_dict["transformer.wpe.weight"]'), "The tables are swapped: `wte` is for tokens, `wpe` for positions."))
    at(f"    {LOAD}", NOTHING_LOADED, ("not_loaded", "    pass", "Nothing is loaded into the model: it keeps its old numbers. `gpt.load_state_dict(…)` brings in those of your new dict."))
    at(LOAD, NOTHING_LOADED + ("tied head",),
       ("assigned", "gpt.load_state_dict(mine, assign=True)", "The model takes the dict's own tensors (`assign=True` does that): head and token table are no longer one parameter, and who changes the dict changes the model. Let `load_state_dict` copy.", ("tied head", "independence")),
       ("assigned_and_tied", "gpt.load_state_dict(mine, assign=True)\n    gpt.lm_head.weight = gpt.token_embeddings.weight", "The model's parameters are the dict's own tensors: who changes the dict changes the model. `assign=True` does that, and so does `.data = …` or a new parameter without a copy. `load_state_dict` copies if you leave `assign` away.", "independence"),
       ("head_untied", 'gpt.lm_head.weight = nn.Parameter(state_dict["lm_head.weight"].clone())\n    gpt.load_state_dict(mine)', "The head gets a parameter of its own, with the same numbers: training would pull the two apart. Leave `lm_head.weight` and `token_embeddings.weight` one parameter.", "tied head"),
       ("new_parameters", 'for name, value in mine.items():\n        if name != "lm_head.weight":\n            setattr(gpt.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2], nn.Parameter(value.clone()))', "You put new parameters into the layers: the head keeps the old table, and is tied to nothing any more. Copy the numbers into the parameters that are there: `load_state_dict` does.", ("embeddings", "tied head", "refusals")),
       ("frozen", f"{LOAD}\n    gpt.requires_grad_(False)", "Afterwards the model can't be trained any more: its parameters don't require gradients. Leave `requires_grad` as it is.", "independence"),
       ("loaded_as_it_is", "gpt.load_state_dict(state_dict)", "You load the dict as it is. Its names are the library's; the model has those of this notebook: make a new dict with the names of the model."),
       ("loaded_as_it_is_not_strict", "gpt.load_state_dict(state_dict, strict=False)", "You load the dict as it is with `strict=False`, which skips every name that the model hasn't: only `lm_head.weight` is the same in both. Make a new dict with the names of the model.", ("embeddings", "blocks", "refusals")),
       ("data_taken_over", "for name, value in gpt.named_parameters():\n        value.data = mine[name]", "`.data = …` makes the model use the dict's own memory, whatever its shape: who changes the dict changes the model, and a table of another size goes in without a word. Copy the numbers: `load_state_dict` does, and compares shapes.", ("refusals", "independence")),
       ("data_cloned", "for name, value in gpt.named_parameters():\n        value.data = mine[name].clone()", "Tensors of another shape are not refused: `.data = …` and a new `nn.Parameter` take any. `load_state_dict` raises an error for what doesn't fit.", "refusals"),
       ("copied", "import torch\n    with torch.no_grad():\n        for name, value in gpt.named_parameters():\n            value.copy_(mine[name])", "A tensor of another shape is not always refused: `copy_` spreads a single row over all. `load_state_dict` compares shapes.", "refusals"),
       ("copied_where_matrices_fit", "import torch\n    with torch.no_grad():\n        for name, value in gpt.named_parameters():\n            if value.dim() == 2 and value.shape != mine[name].shape:\n                raise RuntimeError(name)\n            value.copy_(mine[name])", "A bias of a single number is not refused: `copy_` spreads it over all. Compare the shapes of all tensors, as `load_state_dict` does.", "refusals"),
       ("copy_with_gradients", "for name, value in gpt.named_parameters():\n        value.copy_(mine[name])", "Writing into a parameter, as `copy_` does, is refused while gradients are recorded. Use `load_state_dict`, or `with torch.no_grad():`."),
       ("new_model", "import copy\n    gpt = copy.deepcopy(gpt)\n    gpt.load_state_dict(mine)", "You load into a model of your own making; the one that you are given keeps its old numbers.", ("embeddings", "blocks", "independence")))
    AS_TEXTS = "A dict of twelve blocks seems to have ten: you compare the blocks' numbers as texts, of which \"9\" is larger than \"11\", or read one digit only. Turn each whole number into an `int` first: `int(key.split(\".\")[2])`."
    at(CHECKED, "leftover blocks", ("any_depth", "", "A dict with more blocks than the model is loaded without a word, and its last blocks are lost. Refuse it with a ValueError."))
    at('any(key.startswith(f"transformer.h.{depth}.") for key in state_dict)', "leftover blocks", ("numbers_compared_as_texts", 'int(max(key.split(".")[2] for key in state_dict if ".h." in key)) >= depth', AS_TEXTS))
    at('any(key.startswith(f"transformer.h.{depth}.") for key in state_dict)', ("blocks", "leftover blocks"), ("other_numbers_compared_as_texts", 'int(max(key.split(".")[2] for key in state_dict if ".h." in key)) != depth - 1', AS_TEXTS))
    at("transformer.h.{depth}.", "leftover blocks",
       ("looks_one_too_far", "transformer.h.{depth + 1}.", "You look for a block too far: the model's blocks are 0 … n − 1, so the first one too many is number n."),
       ("refuses_all", "transformer.h.{depth - 1}.", "You refuse dicts that fit: the model's blocks are 0 … n − 1, so the first one too many is number n.", ("embeddings", "blocks", "tied head", "refusals", "independence")))
    at('state_dict[f"transformer.ln_f.{part}"]', "independence", ("dict_emptied", 'state_dict.pop(f"transformer.ln_f.{part}")', "You take entries out of `state_dict` (`pop`, `del`): the caller still needs it. Read them, or work on a copy."))
    at(('                tensor = state_dict[f"{theirs}.{other}.{part}"]\n', LOAD), ("refusals", "independence"), ("data_taken_over_where_given", ('                if f"{theirs}.{other}.{part}" not in state_dict:\n                    continue\n                tensor = state_dict[f"{theirs}.{other}.{part}"]\n', "for name, value in gpt.named_parameters():\n        value.data = mine.get(name, value.data)"), "`.data = …` makes the model use the dict's own memory, whatever its shape: who changes the dict changes the model, and a table of another size goes in without a word. A bias that is missing is passed over, too. Copy the numbers: `load_state_dict` does, and compares names and shapes."))
    at('        "lm_head.weight": state_dict["transformer.wte.weight"],  # the same parameter\n', NOTHING_LOADED + ("tied head",), ("head_forgotten", "", "`lm_head.weight` is missing in your dict. The model's state dict lists the tied weight under both of its names, and `load_state_dict` wants both."))
    TABLE = 'state_dict["transformer.wte.weight"]'
    CUT = f"{TABLE}[: gpt.token_embeddings.num_embeddings]"
    at((f"{TABLE},  # (V, D)", f"{TABLE},  # the same"), "refusals", ("tokens_cut", (f"{CUT},  # (V, D)", f"{CUT},  # the same"), "A longer token table is not refused: it is cut to size. `load_state_dict` raises an error for what doesn't fit: let it."))
    at('state_dict["transformer.wte.weight"],  # (V, D)', NOTHING_LOADED + ("tied head",), ("prefix_forgotten", 'state_dict["wte.weight"],  # (V, D)', "The names in the dict begin with `transformer.`: `transformer.wte.weight`, `transformer.h.0.…`."))
    at('mine[f"layer_norm.{part}"] = state_dict[f"transformer.ln_f.{part}"]', ("embeddings", "refusals"), ("final_norm_forgotten", 'mine[f"layer_norm.{part}"] = gpt.state_dict()[f"layer_norm.{part}"]', "The final norm keeps its old numbers: `layer_norm` gets `ln_f`."))
    at('state_dict["transformer.wpe.weight"]', ("embeddings", "refusals"),
       ("positions_cut", 'state_dict["transformer.wpe.weight"][: gpt.position_embeddings.num_embeddings]', "A longer table of positions is not refused: cut to size, or its error swallowed by `except`. `load_state_dict` raises an error for what doesn't fit: let it.", "refusals"),
       ("positions_forgotten", 'gpt.state_dict()["position_embeddings.weight"]', "The table of positions keeps its old numbers: it gets `wpe`."))

    @MISTAKES.mistake("What the dict lacks is passed over without a word: those weights would stay random. Let a missing name raise an error (`state_dict[name]` does).",
                   breaks="refusals")
    def load_gpt2_weights__skips_what_is_missing(gpt, state_dict):
        with suppress(KeyError):
            load_gpt2_weights(gpt, state_dict)


@MISTAKES.of(right.next_token_probabilities)
def in_next_token_probabilities(at):
    FLAT = ("values", "temperature", "top-k", "top-p")
    CUTS = ("top-k", "top-p")
    TEMPERED = ("temperature", "top-k", "top-p")
    TOP = "    if top_k is not None and top_k < logits.size(-1):\n"
    LEFT = "    return probabilities"
    CUT = "logits = logits.masked_fill(logits < least, -torch.inf)"
    LEAST = "logits.topk(top_k, dim=-1).values[..., -1:]"
    DIE = "probabilities = logits.softmax(dim=-1)"
    DIVIDE = "    logits = logits / temperature\n"
    at("logits = logits / temperature", TEMPERED,
       ("temperature_multiplied", "logits = logits * temperature", "You multiply by the temperature: a high one makes your distribution sharper. Divide by it."),
       ("temperature_as_a_root", "logits = logits / temperature**0.5", "You divide by the root of the temperature. Divide by the temperature itself."),
       ("temperature_squared", "logits = logits / temperature / temperature", "You divide by the temperature twice. Once is enough."),
       ("softmax_before_temperature", "logits = logits.softmax(dim=-1) / temperature", "Your softmax comes first, then the temperature, then a second softmax. Divide the logits, then one softmax.", FLAT),
       ("in_place", "logits /= temperature", "You change `logits` in place (`logits /= …`, `logits[…] = …`). The caller still needs them: make a new tensor."))
    at(DIVIDE, TEMPERED, ("temperature_ignored", "", "The temperature changes nothing. The logits are divided by it before the softmax."))
    at((DIVIDE, LEFT), TEMPERED, ("temperature_after_softmax", ("", "    return probabilities / temperature"), "You divide the probabilities by the temperature; their sum is then no longer 1. Divide the logits, before the softmax."))
    at(".softmax(dim=-1)", FLAT,
       ("no_softmax", "", "You return logits. Return probabilities: softmax over the tokens."),
       ("log_softmax", ".log_softmax(dim=-1)", "You return logarithms of probabilities. Return the probabilities themselves."))
    at(DIE, FLAT,
       ("softmax_over_rows", "probabilities = logits.softmax(dim=0)", "Your softmax runs over axis 0. It should run over the tokens, the last axis."),
       ("softmax_over_axis_1", "probabilities = logits.softmax(dim=1)", "Your softmax runs over axis 1. The tokens are the last axis, whatever the number of axes: `dim=-1`.", ("shape", "values", "top-k", "top-p")),
       ("not_normalized", "probabilities = logits.exp()", "Your numbers are not divided by their sum: e to the logits is no distribution yet. `softmax` does both."),
       ("own_exponentials", "probabilities = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)", "e to a large number is ∞, and ∞/∞ is NaN: at a low temperature logits become large. `softmax` subtracts each row's largest first.", "temperature"),
       ("most_probable_one", "probabilities = F.one_hot(logits.argmax(dim=-1), logits.size(-1)).float()", "You return 1 for the most probable token and 0 for all others. Return the whole distribution."),
       ("token_drawn", "return torch.multinomial(logits.softmax(dim=-1).reshape(-1, logits.size(-1)), 1)", "You draw a token. Return its distribution; `generate` will draw.", ("shape", *FLAT)),
       ("token_chosen", "return logits.argmax(dim=-1)", "You return the most probable tokens. Return the distribution over all V tokens.", ("shape", *FLAT)))
    at((CUT, DIE), CUTS, ("cut_after_softmax", ("cut = logits < least", "probabilities = logits.softmax(dim=-1)\n    if top_k is not None and top_k < logits.size(-1):\n        probabilities = probabilities.masked_fill(cut, 0.0)"), "You cut after the softmax and don't divide by what is left: your rows sum to less than 1. Cut the logits, with −∞, before it."))
    at(CUT, CUTS,
       ("top_k_ignored", "pass", "`top_k` changes nothing: all tokens keep their probability. Those outside the k largest should get 0."),
       ("cut_to_k_columns", "logits = logits.topk(top_k, dim=-1).values", "You return only the k largest, (…, k). Return all V tokens, those outside with probability 0."),
       ("sorted", "logits = torch.cat([logits.topk(top_k, dim=-1).values, torch.full_like(logits, -torch.inf)[..., top_k:]], dim=-1)", "Your probabilities are sorted. Each belongs at its own token's index."))
    at("topk(top_k, dim=-1)", CUTS, ("one_too_many", "topk(top_k + 1, dim=-1)", "You keep k + 1 tokens. The smallest that stays is the k-th largest, the last of `topk`'s values."))
    at("logits < least", CUTS,
       ("one_too_few", "logits <= least", "You keep k − 1 tokens, with k = 1 none: the k-th largest itself is cut off (`<=` does that, where `<` is meant)."),
       ("largest_cut", "logits >= least", "You cut off the largest logits and keep the others. The k largest stay."),
       ("first_k_tokens", "torch.arange(logits.size(-1)) >= top_k", "You keep the first k tokens of the vocabulary. The k with the *largest* logits stay."))
    AXIS = "The smallest logit that stays has lost its axis: it should be (…, 1) to meet its own row of V logits. `[..., -1:]` keeps the axis."
    at("values[..., -1:]", CUTS,
       ("only_the_largest", "values[..., :1]", "Only the largest logit stays, whatever k is: `topk`'s values come in falling order, and the last one is the smallest that stays."),
       ("cut_for_two_axes", "values[:, -1:]", "You take the smallest logit that stays from axis 1 (`[:, -1:]` does that), which is the last axis only where there are two. `[..., -1:]` takes it for any number of axes.", "top-k"),
       ("axis_of_the_cut_lost", "values[..., -1]", AXIS))
    at(LEAST, CUTS,
       ("sorted_the_other_way", "logits.sort(dim=-1).values[..., top_k, None]", "You keep V − k tokens, not k: `sort` rises, so the k-th largest is at −k, counted from the end."),
       ("one_cut_too_low_for_all", "logits.topk(top_k, dim=-1).values.min()", "You compare all rows with the lowest of their k-th largest logits: rows that lie higher keep more than k tokens. Each row has a cut of its own."),
       ("one_cut_for_all_rows", "logits.reshape(-1, logits.size(-1))[0].topk(top_k).values[-1:]", "You cut every row where the first one is cut. Each row has its own k largest."),
       ("k_of_all_rows", "logits.flatten().topk(top_k).values[-1:]", "You take the k largest logits of all rows together. Each row has its own k largest."),
       ("top_k_over_axis_0", "logits.topk(min(top_k, logits.size(0)), dim=0).values[-1:]", "Your `topk` runs over axis 0. The tokens are the last axis."))
    at((TOP, LEAST), CUTS, ("axis_of_every_cut_lost", ("    if top_k is not None:\n", "logits.topk(min(top_k, logits.size(-1)), dim=-1).values[..., -1]"), AXIS))
    at("-torch.inf", CUTS, ("zero_logits", "0.0", "Logits that are cut off become 0, and e⁰ = 1: they still get a probability. −∞ gives 0."))
    at("top_k is not None and top_k <", "top-p", ("top_k_only_without_top_p", "top_p is None and top_k is not None and top_k <", "Where both are given, `top_k` changes nothing. First keep the k largest, then of these as few as have p together."))
    at(TOP, "top-k",
       ("k_beyond_the_vocabulary", "    if top_k is not None:\n", "A `top_k` of more than V fails: `topk` can't find that many. Then all tokens stay."),
       ("k_beyond_the_vocabulary_refused", "    if top_k is not None and top_k > logits.size(-1):\n        raise ValueError(f\"top_k {top_k} exceeds {logits.size(-1)}\")\n    if top_k is not None:\n", "A `top_k` of more than V is refused. Then all tokens stay."))
    at("top_k is not None and top_k <", ("shape", "values", "temperature", "top-p"), ("none_not_asked", "top_k <", "Without `top_k` your function fails: None is no number. Ask `if top_k is not None` first."))
    at("temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None", ("shape", "values", "temperature", "top-k"), ("top_k_needed", "temperature: float, top_k: int | None, top_p: float | None", "`temperature`, `top_k` and `top_p` have no default values in your function. They are 1.0, None and None, unless given."))
    ORDERED = "before = ordered.cumsum(dim=-1) - ordered"
    FOUND = "kept = ordered.masked_fill(before >= top_p, 0.0)"
    PUT = "torch.zeros_like(kept).scatter(-1, order, kept)"
    SHARE = "        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)\n"
    CROSSING = "The token with which the sum crosses `top_p` is missing: you keep tokens only while their sum, with their own probability, is at most p. Ask what the tokens *before* it have together, `< top_p`: those that stay must have at least p."
    BLOCK = f"{TOP}        least = {LEAST}  # (..., 1): the smallest that stays\n        {CUT}\n"
    at("before >= top_p", "top-p",
       ("crossing_token_left_out", "(before + ordered > top_p) & (before > 0)", CROSSING),
       ("most_probable_token_left_out", "before + ordered > top_p", "The token with which the sum crosses `top_p` is missing. Where the most probable token alone has more than p, you keep nothing, and 0/0 is NaN. That token always stays."),
       ("one_more_than_top_p", "F.pad(before, (1, 0))[..., :-1] >= top_p", "You keep one token too many with `top_p`: the token that makes the sum reach p is the last one."),
       ("each_compared_with_top_p", "ordered < top_p", "You compare each probability with `top_p`. It is the sum that counts, from the most probable token down: `cumsum`."),
       ("share_of_the_largest", "ordered < top_p * ordered[..., :1]", "You keep the tokens that have at least p times the largest probability. That is another method (min-p). `top_p` asks for the sum of the probabilities, from the most probable token down."),
       ("share_of_the_tokens", "torch.arange(ordered.size(-1)) >= top_p * ordered.size(-1)", "You keep the share p of the *tokens*. `top_p` is a share of the probability: keep the most probable tokens until they have p together."),
       ("tail_kept", "before < top_p", "With `top_p` you keep the tail and drop the most probable tokens. It should keep the most probable ones and drop the tail."))
    at("cumsum(dim=-1)", "top-p", ("summed_over_rows", "cumsum(dim=0)", "Your cumulative sum runs over axis 0. It should run over the tokens, the last axis."))
    at(", descending=True", "top-p", ("rising_order", "", "Your probabilities are sorted in rising order, so the sum for `top_p` begins with the least probable tokens. It begins with the most probable one: `descending=True`."))
    at(ORDERED, "top-p", ("top_p_before_temperature", "early = (logits * temperature).softmax(dim=-1).gather(-1, order)\n        before = early.cumsum(dim=-1) - early", "`top_p` chooses among the probabilities at temperature 1. Divide by the temperature first: it looks at what the temperature has made."))
    at((BLOCK, LEFT), "top-p", ("top_p_before_top_k", ("", f"{TOP}        least = probabilities.topk(top_k, dim=-1).values[..., -1:]\n        probabilities = probabilities.masked_fill(probabilities < least, 0.0)\n{SHARE}{LEFT}"), "`top_p` sums up probabilities as they are without `top_k`. It looks at what `top_k` has left: first keep the k largest and let them sum to 1, then sum up to p."))
    at(PUT, "top-p",
       ("order_not_undone", "kept", "With `top_p` your probabilities stay sorted: the largest is at token 0. Put each back at its own token, such as with `scatter` and the order that `sort` returns."),
       ("gathered_by_the_order", "kept.gather(-1, order)", "With `top_p` the order is applied twice: `gather` with the order of `sort` sorts again. `scatter` puts each probability back at its own token."))
    SAME = "You find how many tokens `top_p` keeps, or how small the last of them is, and use it for all rows. Each row has its own: a sure one needs few tokens, an unsure one many."
    NUMBER = "torch.arange(ordered.size(-1)) >= (before < top_p).sum(dim=-1)"
    at("before >= top_p", "top-p",
       ("most_of_all_rows", f"{NUMBER}.max()", SAME), ("fewest_of_all_rows", f"{NUMBER}.min()", SAME), ("number_of_the_first_row", f"{NUMBER}.flatten()[0]", SAME))
    at((FOUND, PUT), "top-p",
       ("mask_in_sorted_order", ("kept = probabilities.masked_fill(before >= top_p, 0.0)", "kept"), "You find out in sorted order what `top_p` cuts off, and cut it off in the order of the tokens. Bring the one into the order of the other first, such as with `scatter`."),
       ("mask_gathered_by_the_order", ("kept = probabilities.masked_fill((before >= top_p).gather(-1, order), 0.0)", "kept"), "You find out in sorted order what `top_p` cuts off, and `gather` with the order of `sort` sorts it again. `scatter` brings it back to the tokens."),
       ("zero_logits_beyond_top_p", ("gone = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before >= top_p)", "logits.masked_fill(gone, 0.0).softmax(dim=-1)"), "Logits that `top_p` cuts off become 0, and e⁰ = 1: they still get a probability. −∞ gives 0."))
    at(SHARE, "top-p",
       ("top_p_not_renormalized", "", "With `top_p` your rows sum to less than 1. Divide what is left by its sum."),
       ("second_softmax", "        probabilities = probabilities.softmax(dim=-1)\n", "After the cut by `top_p` you take a second softmax, of probabilities: it makes them too even, and gives those that are cut off e⁰ = 1. Divide by the sum."),
       ("sum_of_all_rows", "        probabilities = probabilities / probabilities.sum()\n", "After the cut by `top_p` you divide by the sum over all rows. Each row is divided by its own sum."))
    at("if top_p is not None:", "top-p",
       ("top_p_only_without_top_k", "if top_p is not None and top_k is None:", "Where both are given, `top_p` changes nothing. First keep the k largest, then of these as few as have p together."),
       ("top_p_ignored", "if False:", "`top_p` changes nothing. Tokens beyond the most probable ones that have p together get 0."))
    at("if top_p is not None:", ("shape", "values", "temperature", "top-k"), ("no_top_p_not_asked", "if True:", "Without `top_p` your function fails: None is no number. Ask `if top_p is not None` first."))
    squeezed(at, ("shape", "values"), "has the shape of `logits`, also for one text")


@MISTAKES.of(right.generate)
def in_generate(at):
    CHOICE = "torch.multinomial(probabilities, 1, generator=generator)"
    APPEND = "ids = torch.cat([ids, chosen], dim=1)"
    CROP = "ids[:, -most:]"
    LOGITS = "logits = model(ids[:, -most:])[:, -1]"
    ALL_WAYS = ("greedy", "long texts", "sampling", "generator")
    TEXTS = ("greedy", "long texts")
    DRAWN = (*TEXTS, "generator")
    at("return ids", ("greedy", "long texts", "sampling"),
       ("only_the_new", "return ids[:, ids.size(1) - max_new_tokens :]", "You return only what is new. The given tokens come first: (B, T + max_new_tokens)."),
       ("list", "return ids.tolist()", "You return a list. Return a tensor, (B, T + max_new_tokens).", ALL_WAYS))
    at("range(max_new_tokens)", ("greedy", "long texts", "sampling"),
       ("up_to_max_new_tokens", "range(max_new_tokens - ids.size(1))", "You write until the text has `max_new_tokens` tokens in all. It should write that many *new* ones."),
       ("a_single_token", "range(min(1, max_new_tokens))", "You write one token only. (Does a `return` inside the loop end it at its first turn?)"))
    at("[:, -1]", ALL_WAYS[:3], ("first_place", "[:, 0]", "You read the logits of the first position. What follows the text is at the last: `[:, -1]`."))
    at("(ids[:, -most:])[:, -1]", ALL_WAYS[:3], ("place_before_the_last", "(ids[:, -most:])[:, -2 if ids.size(1) > 1 else -1]", "You read the logits of the position before the last, which predict the last token again. What follows the text is at the last position: `[:, -1]`."))
    at("[:, -1]  # (B, V)", (*ALL_WAYS, "mode"), ("all_places", "  # (B, V)", "You choose for every position. Only the last position's logits say what follows: `[:, -1]`."))
    at(CROP, "long texts",
       ("last_token_only", "ids[:, -1:]", "The model sees the last token only. It should see the whole text, as far as it fits.", ALL_WAYS[:3]),
       ("not_cropped", "ids", "A text longer than the table of positions is too much for the model. Show it the last `model.position_embeddings.num_embeddings` tokens."),
       ("first_tokens_shown", "ids[:, :most]", "Of a long text the model sees the *first* tokens that fit. It should see the last ones: `ids[:, -most:]`."),
       ("one_less_shown", "ids[:, -(most - 1) :]", "Of a long text the model sees one token less than fits.", ("long texts",)))
    for name, places in (("next", "1"), ("of_the_text", "max_new_tokens - _"), ("of_the_table", "max(0, most - ids.size(1))")):
        at(LOGITS, "greedy", (f"empty_places_{name}", f"""start, end = max(0, ids.size(1) - most), ids.size(1)
        room = torch.cat([ids, ids.new_zeros(len(ids), {places})], dim=1)[:, start : start + most]
        logits = model(room)[:, end - start - 1]""", "Your model is shown places that are not written yet (zeros, say). Behind a causal mask they change nothing, but a model without one reads them. Show it the text so far and nothing else."))
    at(("    for _ in range", LOGITS, APPEND), ALL_WAYS[:3], ("newest_token_only", ("    seen = ids[:, -most:]\n    for _ in range", "logits = model(seen)[:, -1]", f"seen = chosen\n        {APPEND}"), "After its first step the model sees the newest token only. It keeps nothing in mind: show it the whole text at each step, as far as it fits."))
    at(LOGITS, "long texts", ("cropped_for_good", "ids = ids[:, -most:]\n        logits = model(ids)[:, -1]", "What the model can't see is cut off for good. Crop what you show to the model, not `ids`: the whole text is returned."))
    at(("    for _ in range", CROP), "long texts", ("cropped_at_the_start", ("    ids = ids[:, -most:]\n    for _ in range", "ids"), "The text is cropped before the loop only; it grows again. Crop what you show to the model at every step."))
    at("[ids, chosen]", ALL_WAYS[:3], ("prepended", "[chosen, ids]", "You put new tokens in front. They come after the old ones: `torch.cat([ids, chosen], dim=1)`."))
    at(("    for _ in range", LOGITS), ALL_WAYS[:3], ("ids_not_updated", ("    given = ids\n    for _ in range", "logits = model(given[:, -most:])[:, -1]"), "Every new token comes from what the model says of the first text: what you append is never shown to it."))
    at(APPEND, ("greedy", "long texts", "sampling"), ("shifted_window", "ids = torch.cat([ids, chosen], dim=1)[:, 1:]", "You drop the first token whenever you append one, so that the text never grows. All tokens stay: (B, T + max_new_tokens)."))
    at(CHOICE, ("sampling", "generator"),
       ("always_greedy", "probabilities.argmax(dim=-1, keepdim=True)", "You always take the most probable token. Only a temperature of 0 asks for that; otherwise the token is drawn."),
       ("seeded_inside", "torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(ids.size(1)))", "You set the seed yourself: with the same text each call gives the same, whatever generator it gets.", "generator"),
       ("generator_needed", "torch.multinomial(probabilities, 1, generator=generator.set_state(generator.get_state()))", "Without a generator your function fails. With None, use torch's own source of chance."),
       ("one_draw_for_all_rows", "torch.multinomial(probabilities[:1], 1, generator=generator).expand(len(ids), 1)", "All rows get the same draw. Each row's token is drawn from its own distribution.", ("sampling",)),
       ("uniform", "torch.multinomial(torch.ones_like(probabilities), 1, generator=generator)", "You draw every token with the same probability. Draw with those of `next_token_probabilities`: `torch.multinomial(probabilities, 1)`.", "sampling"))
    at("logits.argmax", TEXTS, ("search_from_zero", "logits.clamp(min=0.0).argmax", "At temperature 0 your search begins with 0 as the largest logit and wants more: where all logits are negative, it finds none. Begin with −∞, or take `argmax`."))
    at("logits.argmax", TEXTS, ("least_probable", "logits.argmin", "At temperature 0 you take the least probable token. Greedy is the most probable one: `argmax`."))
    at("if temperature == 0:", TEXTS,
       ("zero_not_asked", "if False:", "At temperature 0 you divide by 0. There the most probable token is taken, without a draw."),
       ("greedy_at_low_temperatures", "if temperature < 0.1:", "At a low temperature you take the most probable token without a draw. Only 0 asks for that: at any other, however low, the token is drawn.", "sampling"),
       ("greedy_without_a_generator", "if temperature == 0 or generator is None:", "Without a generator you take the most probable token. Only a temperature of 0 asks for that; with None torch's own source of chance is used.", ("sampling", "generator")))
    for lowest in ("1e-2", "1e-3", "1e-4", "1e-5"):
        called = "zero_as_a_low_temperature" + ("" if lowest == "1e-3" else f"_{lowest.replace('-', '_')}")
        at("    most = ", DRAWN, (called, f"    temperature = max(temperature, {lowest})\n    most = ", "At temperature 0 you draw at a low one: where logits are close together, other tokens than the most probable one may come. At 0 there is no draw: `argmax`."))
    at("    most = ", "generator", ("draws_at_zero", "    temperature = max(temperature, 1e-7)\n    most = ", "At temperature 0 you still draw, and the generator moves on. (At a low temperature, such as 1e-6, tokens with nearly the same logits may come, too.) At 0 there is no draw: take the `argmax` of the logits."))
    at("chosen = logits.argmax(dim=-1, keepdim=True)", DRAWN, ("zero_as_one", "chosen = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)", "At temperature 0 you draw as at 1. There the most probable token is taken: `argmax`."))
    at(", 1, generator=generator", "generator", ("generator_unused", ", 1", "The generator is not used: the draws depend on torch's own source of chance. Hand it on: `torch.multinomial(…, generator=generator)`."))
    at("    most = ", "sampling", ("fifty_without_top_k", "    top_k = top_k or 50\n    most = ", "Without `top_k` you draw from the 50 most probable tokens. With None all of them take part."))
    at(("    most = ", ", 1, generator=generator"), "generator", ("torch_seeded_from_the_generator", ("    if generator is not None:\n        torch.manual_seed(generator.initial_seed())\n    most = ", ", 1"), "A generator that is used again writes the same text again: you only take its seed. Hand the generator itself to `torch.multinomial`: each draw moves it on."))
    at("(logits, temperature, top_k, top_p)", "sampling",
       ("temperature_not_handed_on", "(logits, 1.0, top_k, top_p)", "You draw at temperature 1, whichever is given. Hand `temperature` on to `next_token_probabilities`."),
       ("temperature_at_most_one", "(logits, min(temperature, 1.0), top_k, top_p)", "A temperature above 1 is cut to 1: you draw as at temperature 1 then. Hand `temperature` on as it is."),
       ("temperature_at_least_one", "(logits, max(temperature, 1.0), top_k, top_p)", "A temperature below 1 is raised to 1: you draw as at temperature 1 then. Hand `temperature` on as it is."),
       ("top_k_not_handed_on", "(logits, temperature, None, top_p)", "You draw from all tokens, whatever `top_k` is. Hand it on to `next_token_probabilities`."),
       ("top_p_not_handed_on", "(logits, temperature, top_k)", "`top_p` changes nothing. Hand it on to `next_token_probabilities`."),
       ("neither_handed_on", "(logits)", "You draw from the plain softmax, whatever `temperature`, `top_k` and `top_p` are. Hand all of them on to `next_token_probabilities`."),
       ("temperature_twice", "(logits / temperature, temperature, top_k, top_p)", "The temperature is used twice: you divide the logits, and `next_token_probabilities` does it again."),
       ("top_k_and_top_p_swapped", "(logits, temperature, top_p, top_k)", "`top_k` and `top_p` have changed places where you hand them to `next_token_probabilities`. `top_k` comes first."),
       ("softmax_before", "(logits.softmax(dim=-1), temperature, top_k, top_p)", "You make probabilities of the logits and hand them to `next_token_probabilities`, which makes probabilities of its input itself. Hand it the logits."))
    at("    most = ", "generator", ("always_the_same_without_a_generator", "    generator = generator or torch.Generator().manual_seed(0)\n    most = ", "Without a generator every call writes the same: you seed one yourself. With None, use torch's own source of chance."))
    at("next_token_probabilities(logits, temperature, top_k, top_p)", "sampling", ("distribution_of_the_start", "next_token_probabilities(model(ids[:, : ids.size(1) - _][:, -most:])[:, -1], temperature, top_k, top_p)", "Every token is drawn from the distribution of the first one. After each token, call the model again."))
    at(f"        {LOGITS}", "long texts", ("stops_at_the_table", f"        if ids.size(1) >= most:\n            break\n        {LOGITS}", "You stop when the text has grown as long as the table of positions. It goes on: the model is shown the last tokens that fit."))
    at(f"        {APPEND}", "long texts",
       ("stops_at_token_zero", f"        {APPEND}\n        if (chosen == 0).all():\n            break", "You stop where token 0 is written, as if it ended the text. Here 0 is a token like any other: write all `max_new_tokens`."),
       ("stops_at_first_token_zero", f"        {APPEND}\n        if (chosen == 0).any():\n            break", "You stop where token 0 is written, as if it ended the text. Here 0 is a token like any other: write all `max_new_tokens`.", (*TEXTS, "sampling")))
    at("argmax(dim=-1, keepdim=True)", TEXTS,
       ("axis_lost", "argmax(dim=-1)", "The chosen tokens are (B,), and the text is (B, T): they can't be joined. Keep the axis, `keepdim=True`, so that they are (B, 1)."),
       ("argmax_over_the_batch", "argmax(dim=0)[: len(ids), None]", "Your argmax runs over the batch. The tokens are the last axis, `dim=-1`."))
    for how in ("cat", "stack"):
        at("    most = ", "greedy", (f"{how}_of_nothing", f"    if not max_new_tokens:\n        torch.{how}([])\n    most = ", "With `max_new_tokens` = 0 yours stops with an error. Nothing is written then, and a list of new tokens is empty: `torch.cat` and `torch.stack` don't take it. The beginnings alone come back."))
    at("    most = ", "mode", ("left_in_eval_mode", "    model.eval()\n    most = ", "Afterwards the model is in eval mode, even if it came in training mode. If you change the mode, keep `model.training` first, and put it back."))
    at(("    most = ", "return ids"), "mode", ("left_in_training_mode", ("    model.eval()\n    most = ", "model.train()\n    return ids"), "Afterwards the model is in training mode, even if it came in eval mode. If you change the mode, keep `model.training` first, and put it back."))
    at("chosen], dim=1)", (*ALL_WAYS, "mode"), ("appended_below", "chosen], dim=0)", "You append along axis 0, as further texts. New tokens come after the old ones, along axis 1."))
    one_more_or_less(at, "max_new_tokens", ("greedy", "long texts", "sampling"), "You write one token too {}: write `max_new_tokens` of them.")


@MISTAKES.of(right.cached_attention)
def in_cached_attention(at):
    STEPS = ("values", "several tokens")
    OUTPUTS = (*STEPS, "no cache")
    MASK = "mask = causal_mask(past + x.size(1))[past:].to(x.device)"
    at("masked_attention(query, key, value, mask)", ("several tokens", "no cache"), ("no_mask", "masked_attention(query, key, value)", "New tokens see each other's future: with several of them at once each may look at the past, at itself and at new ones before it, no more."))
    at(MASK, "no cache", ("no_mask_without_a_cache", f"{MASK} if past else None", "Without a cache you use no mask: of several tokens each then sees all. Each may look at itself and at those before it, no more."))
    at(MASK, "several tokens",
       ("no_mask_with_a_cache", "mask = None if cache is not None else causal_mask(x.size(1)).to(x.device)", "With a cache you use no mask: of several new tokens each then sees all. Each may look at the past, at itself and at new ones before it, no more."),
       ("past_hidden", "mask = causal_mask(past + x.size(1))[past:].to(x.device)\n    mask[:, :past] = False", "The new tokens don't see the past. It is what the cache is for: all of it may be seen.", STEPS),
       ("new_tokens_see_only_the_past", "mask = causal_mask(past + x.size(1))[past:].to(x.device)\n    mask[:, max(past, 1) :] = False", "The new tokens don't see themselves, nor the new ones before them: they see the cache only.", (*STEPS, "no cache")))
    at("[past:]", STEPS, ("one_row_late", "[max(past - 1, 0) : past + x.size(1) - (past > 0)]", "Each new token sees one token too few: not itself."))
    at(("        past = cache[0].size(2)\n", MASK), ("shape", *STEPS), ("queries_of_the_past", ("        past = cache[0].size(2)\n        query = torch.cat([cache[0], query], dim=2)\n", "mask = causal_mask(past + x.size(1)).to(x.device)"), "You put the cache in front of the queries, too. Only the new tokens ask: N queries, P + N keys and values."))
    at(("[cache[0], key]", "[cache[1], value]"), STEPS,
       ("new_first", ("[key, cache[0]]", "[value, cache[1]]"), "The new keys and values come first in yours. They are the latest: cache first, then new ones."),
       ("cache_projected", ("[split_heads(attention.k(merge_heads(cache[0])), attention.num_heads), key]", "[split_heads(attention.v(merge_heads(cache[1])), attention.num_heads), value]"), "You put what comes out of the cache through `k` and `v` again. It has keys and values already."))
    at("    if cache is not None:", ("shape", *STEPS), ("none_not_asked", "    if True:", "Without a cache your function fails: None has no entries. Ask `if cache is not None` first.", "no cache"))
    at(", (key, value)\n", ("shape", "values", "several tokens", "no cache"), ("only_the_new_returned", ", (key[:, :, past:], value[:, :, past:])\n", "You return keys and values of the new tokens only. Return those of all P + N tokens.", ("shape", *STEPS)))
    at(("key], dim=2)", "value], dim=2)"), ("shape", *STEPS),
       ("along_the_heads", ("key], dim=1)", "value], dim=1)"), "You join cache and new ones along axis 1, the heads. Tokens are axis 2 of (B, H, P, K)."),
       ("along_the_width", ("key], dim=-1)", "value], dim=-1)"), "You join cache and new ones along the last axis, the width. Tokens are axis 2 of (B, H, P, K)."),
       ("along_the_batch", ("key], dim=0)", "value], dim=0)"), "You join cache and new ones along axis 0, the batch. Tokens are axis 2 of (B, H, P, K)."))
    at("        value = torch.cat([cache[1], value], dim=2)\n", ("shape", *STEPS), ("values_not_cached", "", "The cached values are not used: there are P + N keys and N values. Join both."))
    at("    past = 0\n", "no cache", ("none_unpacked", "    past = 0\n    _, _ = cache\n", "Without a cache your function fails: None has no entries. Ask `if cache is not None` first."))
    at("cache: KeysAndValues | None = None", "no cache", ("cache_needed", "cache: KeysAndValues | None", "`cache` has no default value in your function. It is None, unless given."))
    at("cache[0].size(2)", ("shape", *STEPS), ("length_of_another_axis", "cache[0].size(1)", "You take the number of cached tokens from axis 1 of the keys, the heads. It is axis 2 of (B, H, P, K)."))
    at("attention.output_linear(merge_heads(context))", ("shape", *OUTPUTS), ("attention_called", "attention(x)", "Your outputs don't use the cache: the new tokens see only each other. (`attention(x)` itself gives that: it knows of no cache.) Use its layers `q`, `k`, `v` and `output_linear`, as its own `forward` does."))
    at("split_heads(layer(x), attention.num_heads)", ("shape", *OUTPUTS), ("a_single_head", "layer(x)[:, None]", "The heads are missing: split queries, keys and values with `split_heads(…, attention.num_heads)`."))
    at("masked_attention(query,", OUTPUTS, ("not_masked_and_not_scaled", "masked_attention(query * query.size(-1) ** 0.5,", "The scores are not divided by √K. `masked_attention` does it."))
    key_value_cache(at)
    attention_layers(at, "attention", OUTPUTS, ("shape", *OUTPUTS), tokens="N")


@MISTAKES.of_quiz("quiz_decoder", right.quiz_decoder)
def in_quiz_decoder(wrong):
    WORTH = "in training, a text of 100 tokens gives"
    wrong(WORTH, "1 prediction",
                 "every position but the last predicts the token after it, and the mask keeps each from peeking: 99 tasks in one text.")
    wrong(WORTH, "99 runs of the model",
                 "99 predictions, yes, but in one run: thanks to the mask all positions can be computed at the same time.")
    wrong("without the mask, the training loss", "stays the same",
                 "each position could simply read the token that it should predict. You saw the curve.")
    wrong("without the mask, the training loss", "rises",
                 "each position could simply read the token that it should predict, which makes the task easier, not harder. You saw the curve.")
    wrong("a perplexity of 1 means", "pure guessing",
                 "guessing blindly among V tokens gives a perplexity of V. e⁰ = 1: a loss of 0.")
    wrong("a perplexity of 1 means", "half of the guesses are right",
                 "being torn between two equally likely tokens gives a perplexity of 2. e⁰ = 1: a loss of 0.")
    wrong("temperature towards 0", "all tokens alike",
                 "that is what a very *high* temperature does. Dividing by a small number drives the logits apart.")
    wrong("temperature towards 0", "an ever larger loss",
                 "temperature is used when writing, after training: no loss is computed there. Dividing by a small number drives the logits apart.")
    wrong("few-shot examples change", "all weights",
                 "nothing is trained: the examples are in the text that the model reads, and are gone with it.")
    wrong("few-shot examples change", "the head's weights",
                 "nothing is trained: the examples are in the text that the model reads, and are gone with it.")
