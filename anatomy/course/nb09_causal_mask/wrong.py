"""Wrong answers to the exercises of 09-causal-mask."""

from __future__ import annotations

from contextlib import suppress

from anatomy.course.nb09_causal_mask.right import (
    GPT,
    CausalSelfAttention,
    DecoderBlock,
    cached_attention,
    causal_mask,
    future_leak,
    generate,
    load_gpt2_weights,
    masked_attention,
    next_token_loss,
    next_token_probabilities,
    quiz_decoder,
)
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A mistake is two or three lines: its name and sentence, what it breaks, what it replaces by what.


def in_every_class(wrong: MistakesIn, breaks: tuple[str, ...]) -> None:
    """What goes wrong at the start of any class."""
    wrong("init_misspelled", "Your class can't be made with `config`: its constructor is called `__init__`, with two underscores on each side, and takes `self` and `config`.",
          breaks=breaks, old="def __init__(", new="def _init_(")
    wrong("no_super", "`super().__init__()` comes first in `__init__`: before it PyTorch can't keep track of layers and parameters.",
          breaks=breaks, old="super().__init__()\n", new="pass\n")

NUMBERS = ("values", "gradients")


@MISTAKES.of(causal_mask)
def in_causal_mask(wrong):
    BOTH = ("shape", "values")
    RIGHT = "torch.ones(length, length, dtype=torch.bool).tril()"
    wrong("upper", "Your triangle is the upper one: each query sees itself and what comes *after* it. The past stands on the left, so keep what is on and below the diagonal: `tril`.",
          breaks="values", old=".tril()", new=".triu()")
    wrong("strict", "A token can't see itself: your diagonal is 0. The first row is then empty, and a softmax over nothing is NaN. The diagonal belongs to the triangle: `tril()`.",
          breaks="values", old=".tril()", new=".tril(diagonal=-1)")
    wrong("inverted", "Your mask is inverted: it is True (1) where the future stands. It is to say what a query *may* look at: on and below the diagonal.",
          breaks="values", old=".tril()", new=".triu(diagonal=1)")
    wrong("one_ahead", "Each query sees one key too many: the token after its own. That is the very one that it is to predict. Keep the diagonal and what is below it.",
          breaks="values", old=".tril()", new=".tril(diagonal=1)")
    wrong("everything", "Everything is allowed: your mask has no 0. Keep the triangle on and below the diagonal.",
          breaks="values", old=".tril()", new="")
    wrong("nothing", "Your mask has no 1: nobody may look at anything. (Did you begin with zeros?)",
          breaks="values", old="torch.ones", new="torch.zeros")
    wrong("only_itself", "Only the diagonal is 1: each token sees itself and no past. Everything below the diagonal is allowed, too.",
          breaks="values", old=RIGHT, new="torch.eye(length, dtype=torch.bool)")
    wrong("only_the_past_token", "Each token sees itself and the one before, no more. All earlier tokens are allowed: everything below the diagonal.",
          breaks="values", old=".tril()", new=".tril().triu(diagonal=-1)")
    wrong("minus_infinity", "These are numbers to be added to scores, 0 where one may look and −∞ where not. Asked is what is allowed: 1 (or True) on and below the diagonal, 0 above. `masked_attention` makes the −∞.",
          breaks="values", old=RIGHT, new="torch.full((length, length), -torch.inf).triu(diagonal=1)")
    wrong("minus_a_billion", "These are numbers to be added to scores, 0 where one may look and a very low one where not. Asked is what is allowed: 1 (or True) on and below the diagonal, 0 above.",
          breaks="values", old=RIGHT, new="torch.full((length, length), -1e9).triu(diagonal=1)")
    wrong("one_and_minus_infinity", "Above the diagonal stands −∞. This mask says what is allowed: 1 (or True) on and below the diagonal, 0 (or False) above. `masked_attention` makes the −∞.",
          breaks="values", old=RIGHT, new="torch.ones(length, length).tril().masked_fill(torch.ones(length, length).triu(1) == 1, -torch.inf)")
    wrong("nan", "On and below the diagonal stands NaN: 0 · ∞ is no number. No −∞ is needed here; 1 (or True) and 0 (or False) are enough.",
          breaks="values", old=RIGHT, new="(1 - torch.ones(length, length).tril()) * -torch.inf")
    wrong("plus_and_minus_one", "Above the diagonal stands −1. What is forbidden is 0, or False.",
          breaks="values", old=RIGHT, new="torch.ones(length, length).tril() * 2 - 1")
    wrong("averages", "Your rows are divided by the number of their keys. That is the mean over the past; the mask itself only says yes or no, 1 or 0.",
          breaks="values", old=RIGHT, new="torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]")
    wrong("flipped", "Your triangle leans the other way: its slope runs from the top right to the bottom left. Row t is to have ones at keys 0 … t.",
          breaks="values", old=".tril()", new=".tril().flip(1)")
    wrong("rows_reversed", "Your rows stand in reverse order: the first query sees everything, the last only the first key. Row t is to have ones at keys 0 … t.",
          breaks="values", old=".tril()", new=".tril().flip(0)")
    wrong("counts", "Your entries count up. A mask only says yes or no: 1 (or True) on and below the diagonal, 0 above.",
          breaks="values", old=RIGHT, new="torch.ones(length, length).tril().cumsum(dim=1).tril()")
    wrong("negative_inverted", "Your mask is −1 where the future stands, and 0 elsewhere. Asked is what is allowed: 1 (or True) on and below the diagonal, 0 above.",
          breaks="values", old=RIGHT, new="torch.ones(length, length).tril() - 1")
    wrong("one_too_large", "Your mask is one row and one column too large. It is (T, T), with T = `length`.",
          breaks=BOTH, old="torch.ones(length, length", new="torch.ones(length + 1, length + 1")
    wrong("one_too_small", "Your mask is one row and one column too small. It is (T, T), with T = `length`.",
          breaks=BOTH, old="torch.ones(length, length", new="torch.ones(length - 1, length - 1")
    wrong("always_five", "Your mask is 5 × 5 whatever `length` is.",
          breaks=BOTH, old="torch.ones(length, length", new="torch.ones(5, 5")
    for size in (8, 10, 512, 1024):
        wrong(f"always_{size}", f"Your mask is {size} × {size} whatever `length` is.",
              breaks=BOTH, old="torch.ones(length, length", new=f"torch.ones({size}, {size}")
    wrong("four_axes", "Your mask has four axes. Asked is (T, T): PyTorch lines up batch and heads by itself.",
          breaks=BOTH, old=".tril()", new=".tril()[None, None]")
    wrong("three_axes", "Your mask has three axes. Asked is (T, T): PyTorch lines up the batch by itself.",
          breaks=BOTH, old=".tril()", new=".tril()[None]")
    wrong("one_row", "You return a single row of ones, (T,). Asked is a square, (T, T): a row for each query.",
          breaks=BOTH, old=RIGHT, new="torch.ones(length, dtype=torch.bool)")
    wrong("indices", "These are the places of the triangle's entries, not a mask. `torch.ones(…).tril()` gives the (T, T) mask itself.",
          breaks=BOTH, old=RIGHT, new="torch.tril_indices(length, length)")
    wrong("squeezed", "For a length of 1 your mask is a single number: its two axes of length 1 are lost (`squeeze` takes away every such axis). Also the smallest mask is (T, T), here (1, 1).",
          breaks=BOTH, old=".tril()", new=".tril().squeeze()")


@MISTAKES.of(masked_attention)
def in_masked_attention(wrong):
    MASKED = ("values", "any mask", "large scores", "gradients")
    ALWAYS = (*MASKED, "no mask")
    SCALED = ("values", "any mask", "no mask", "gradients")
    FILL = "scores = scores.masked_fill(mask == 0, -torch.inf)"
    END = "        scores = scores.masked_fill(mask == 0, -torch.inf)\n    return scores.softmax(dim=-1) @ value"
    SCALE = " / math.sqrt(query.size(-1))"
    wrong("inverted", "Your mask works the other way round: keys that it allows are hidden, hidden ones are seen. −∞ belongs where the mask is False or 0.",
          breaks=MASKED, old="mask == 0", new="mask != 0")
    wrong("ignored", "The mask changes nothing: your result is that of attention without one. (`masked_fill` returns a new tensor, which must be kept.)",
          breaks=MASKED, old="scores = scores.masked", new="scores.masked")
    wrong("after_softmax", "You mask after the softmax: hidden keys get weight 0, but the others then sum to less than 1, because the softmax has already given the hidden ones their share. Mask the scores with −∞ before it.",
          breaks=MASKED, old=END, new="        return scores.softmax(dim=-1).masked_fill(mask == 0, 0.0) @ value\n    return scores.softmax(dim=-1) @ value")
    wrong("after_softmax_renormalized", "Hidden keys still take part in your softmax: you mask afterwards and divide by what is left (or subtract the largest score of all keys). That is right on paper; but where hidden scores are by far the largest, nothing is left, and 0/0 is NaN. Mask the scores with −∞ before the softmax.",
          breaks="large scores", old=END,
          new="        weights = scores.softmax(dim=-1).masked_fill(mask == 0, 0.0)\n        return weights / weights.sum(dim=-1, keepdim=True) @ value\n    return scores.softmax(dim=-1) @ value")
    wrong("own_exponentials", "e to a large number is ∞, e to a very low one 0: where scores are large you divide ∞ by ∞, or 0 by 0, which is NaN. `softmax` subtracts the largest score first; mask the scores with −∞, then call it.",
          breaks="large scores", old="return scores.softmax(dim=-1) @ value", new="return scores.exp() / scores.exp().sum(dim=-1, keepdim=True) @ value")
    wrong("after_softmax_again", "There are two softmaxes, and the mask is between them. One is enough: scores, mask with −∞, softmax.",
          breaks=MASKED, old=FILL, new="scores = scores.softmax(dim=-1).masked_fill(mask == 0, -torch.inf)")
    wrong("minus_infinity_after_softmax", "You put −∞ behind the softmax: a weight of −∞ makes the mixture −∞ or NaN. −∞ belongs into the scores, before the softmax, which turns it into a weight of 0.",
          breaks=MASKED, old=END, new="        return scores.softmax(dim=-1).masked_fill(mask == 0, -torch.inf) @ value\n    return scores.softmax(dim=-1) @ value")
    wrong("zero_score", "Hidden scores become 0, or a number next to 0 (−1e-9 is tiny; −1e9 is large), and e⁰ = 1: hidden keys still get weight. A score must be −∞ for its weight to be 0.",
          breaks=MASKED, old="-torch.inf", new="0.0")
    wrong("minus_one", "Hidden scores become −1: hidden keys still get weight. A score must be −∞ for its weight to be 0.",
          breaks=MASKED, old="-torch.inf", new="-1.0")
    wrong("minus_ten", "Hidden scores become −10: hidden keys still get some weight. A score must be −∞ for its weight to be 0.",
          breaks=MASKED, old="-torch.inf", new="-10.0")
    LOW = "That is low, but other scores can be lower still, and then hidden keys win. −∞ is lower than all: `-torch.inf`."
    wrong("low_number", f"Hidden scores become a number such as −100 or −10 000. {LOW}",
          breaks="large scores", old="-torch.inf", new="-100.0")
    wrong("low_number_added", f"You add a number such as −100 or −10 000 to hidden scores. {LOW}",
          breaks="large scores", old=FILL, new="scores = scores - 1000.0 * (mask == 0)")
    wrong("mask_added", "You add the mask (or mask − 1) to the scores: hidden keys are 1 lower than the others, and still get weight. A score must be −∞ for its weight to be 0.",
          breaks=MASKED, old=FILL, new="scores = scores + mask")
    wrong("plus_infinity", "Hidden scores become +∞, the highest of all, and the softmax of ∞ is NaN. −∞ is wanted.",
          breaks=MASKED, old="-torch.inf", new="torch.inf")
    wrong("nan_from_zero_times_infinity", "0 · −∞ is NaN, also where the mask allows. Use `masked_fill`, or `torch.where`, which put −∞ only where it belongs.",
          breaks=MASKED, old=FILL, new="scores = scores + (mask == 0) * -torch.inf")
    wrong("not_scaled", "The scores are not divided by √K. (Here K = {K}, so they are {root_K} times too large.)",
          breaks=SCALED, old=SCALE, new="")
    wrong("divides_by_k", "You divide the scores by K (or by √K twice); √K is wanted, `math.sqrt(query.size(-1))`.",
          breaks=SCALED, old="math.sqrt(query.size(-1))", new="query.size(-1)")
    wrong("multiplies", "You multiply the scores by √K. Divide by it.",
          breaks=SCALED, old=" / math", new=" * math")
    wrong("by_root_t", "You divide by √T, the root of the number of queries. The width is meant, the last axis: √K.",
          breaks=SCALED, old="query.size(-1)", new="query.size(-2)")
    wrong("by_root_s", "You divide by √S, the root of the number of keys. The width is meant, the last axis: √K.",
          breaks=SCALED, old="query.size(-1)", new="key.size(-2)")
    wrong("scaled_after_softmax", "You divide the weights by √K, behind the softmax. It belongs before: divide the scores.",
          breaks=ALWAYS, old=(SCALE, "return scores.softmax(dim=-1)"), new=("", "return scores.softmax(dim=-1) / math.sqrt(query.size(-1))"))
    wrong("over_queries", "Your softmax runs over the queries: the weights of each *key* sum to 1. Each query's weights must: `dim=-1`, the keys.",
          breaks=ALWAYS, old="softmax(dim=-1)", new="softmax(dim=-2)")
    wrong("over_axis_1", "Your softmax runs over axis 1. The keys are the last axis of the scores: `dim=-1`.",
          breaks=ALWAYS, old="softmax(dim=-1)", new="softmax(dim=1)")
    wrong("no_softmax", "The softmax is missing: scores are used as weights. (With −∞ among them the mixture is ∞ or NaN.)",
          breaks=ALWAYS, old="scores.softmax(dim=-1)", new="scores")
    wrong("softmax_twice", "Two softmaxes, one after the other, make the weights too even. One is enough.",
          breaks=ALWAYS, old="softmax(dim=-1)", new="softmax(dim=-1).softmax(dim=-1)")
    wrong("log_softmax", "`log_softmax` gives logarithms of weights. The mixture needs the weights: `softmax`.",
          breaks=ALWAYS, old=".softmax(dim=-1)", new=".log_softmax(dim=-1)")
    wrong("weights", "You return the weights, (…, T, S). Asked is the mixture of values that they make, (…, T, K): `weights @ value`.",
          breaks=("shape", *ALWAYS), old=".softmax(dim=-1) @ value", new=".softmax(dim=-1)")
    wrong("mixes_keys", "You mix the keys. The weights are for the values: `weights @ value`.",
          breaks=("shape", *ALWAYS), old=" @ value", new=" @ key")
    wrong("with_weights", "You return two things. Only the mixture is asked for, (…, T, Dv).",
          breaks=("shape", *ALWAYS), old="return scores.softmax(dim=-1) @ value", new="return scores.softmax(dim=-1) @ value, scores.softmax(dim=-1)")
    wrong("truth_of_mask", "`if mask` asks whether the whole tensor is true, which PyTorch refuses to say. Ask `if mask is not None`.",
          breaks=("shape", *MASKED), old="if mask is not None:", new="if mask:")
    wrong("none_not_asked", "Without a mask your function fails: None is no tensor. Ask `if mask is not None` before you use it.",
          breaks="no mask", old="if mask is not None:\n        scores = scores.masked_fill(mask == 0, -torch.inf)", new="scores = scores.masked_fill(~mask.bool(), -torch.inf)")
    wrong("causal_without_a_mask", "Without a mask your attention is causal. None means: everyone sees everything.",
          breaks="no mask", old="    if mask is not None:", new="    if mask is None:\n        mask = torch.ones(scores.shape[-2:]).tril()\n    if mask is not None:")
    wrong("always_causal", "The mask that you are given is not used: you always take the triangle. Take what stands in `mask`.",
          breaks=ALWAYS, old="    if mask is not None:", new="    mask = torch.ones(scores.shape[-2:]).tril()\n    if mask is not None:")
    wrong("causal_too", "Besides the mask that you are given you also hide the future. Only `mask` says what is hidden: another caller may want to look ahead.",
          breaks=MASKED, old="mask == 0,", new="(mask == 0) | (torch.ones(scores.shape[-2:]).tril() == 0),")
    wrong("only_booleans", "`~mask` turns a boolean mask around, but not one of numbers (~1 is −2). `mask == 0` does for both.",
          breaks="any mask", old="mask == 0", new="~mask")
    wrong("only_numbers", "A boolean mask can't be subtracted from 1 (PyTorch refuses `1 - mask` for booleans). `mask == 0` does for both kinds.",
          breaks=("shape", "values", "any mask", "large scores", "gradients"), old="mask == 0", new="(1 - mask) == 1")
    wrong("boolean_index", "`scores[mask == 0]` wants a mask with all axes of the scores; yours may have fewer, such as (T, S). `masked_fill` and `torch.where` let it broadcast.",
          breaks=("shape", "values", "any mask", "gradients"), old=FILL, new="scores[mask == 0] = -torch.inf")
    wrong("mask_transposed", "Your mask is transposed, so that its queries meet the keys. `mask[..., t, s]` stands where `scores[..., t, s]` stands: use it as it is.",
          breaks=("shape", *MASKED), old="mask == 0", new="mask.transpose(-2, -1) == 0")
    wrong("axis_added", "You insert an axis into the mask (`unsqueeze(1)`), for the heads. It comes in a shape that broadcasts already: use it as it is.",
          breaks=("shape", *MASKED), old="mask == 0", new="mask.unsqueeze(1) == 0")
    wrong("first_row_of_the_mask", "All queries get the mask of the first one. Each has its own row.",
          breaks=MASKED, old="mask == 0", new="mask[..., :1, :] == 0")
    wrong("queries_hidden", "You hide results of queries instead of keys: whoever may not see the last key gets 0. Hide the scores of the keys, before the softmax.",
          breaks=MASKED, old=END, new="        return (scores.softmax(dim=-1) @ value).masked_fill(mask[..., -1:] == 0, 0.0)\n    return scores.softmax(dim=-1) @ value")
    wrong("uniform", "Every visible key gets the same weight: your scores are all alike before the softmax.",
          breaks=ALWAYS, old="scores = query @ key.transpose(-2, -1)", new="scores = 0 * query @ key.transpose(-2, -1)")
    wrong("winner_takes_all", "The best key gets all the weight. The softmax shares it out.",
          breaks=SCALED, old="return scores.softmax(dim=-1)", new="return F.one_hot(scores.argmax(dim=-1), scores.size(-1)).float()")
    wrong("last_two_axes_only_of_three", "`transpose(1, 2)` swaps the last two axes only where there are three. `transpose(-2, -1)` always swaps the last two.",
          breaks=("shape", *SCALED), old="transpose(-2, -1)", new="transpose(1, 2)")
    wrong("key_not_transposed", "The key must be transposed for the product: `key.transpose(-2, -1)`, (…, K, S).",
          breaks=("shape", *ALWAYS), old="key.transpose(-2, -1)", new="key")
    wrong("detached", "The scores are cut off from query and key (`detach`, `torch.no_grad` or `.data`): they can't learn.",
          breaks="gradients", old="scores = query @", new="scores = query.detach() @")
    wrong("query_in_place", "You change `query` in place (`query /= …` writes into the caller's numbers). Make a new tensor.",
          breaks="gradients", old="scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))", new="query /= math.sqrt(query.size(-1))\n    scores = query @ key.transpose(-2, -1)")


@MISTAKES.of(future_leak)
def in_future_leak(wrong):
    LEAK = ("values", "causal model")
    GRADIENT = "torch.autograd.grad(outputs[:, t].sum(), vectors[0], retain_graph=True)[0].norm(dim=-1)"
    wrong("past_too", "The past is there, too: your entries on and below the diagonal are not 0. Keep those with s > t only: `triu(diagonal=1)`.",
          breaks=LEAK, old=".triu(diagonal=1)", new="")
    wrong("own_token_too", "Your diagonal is not 0: it holds what each output takes from its own input, which is allowed. Keep s > t only: `triu(diagonal=1)`.",
          breaks=LEAK, old="triu(diagonal=1)", new="triu()")
    wrong("one_ahead_missing", "The input right after the output's place (s = t + 1) is missing. It is the future already: `triu(diagonal=1)`.",
          breaks="values", old="diagonal=1", new="diagonal=2")
    wrong("only_one_ahead", "Only the input right after the output's place (s = t + 1) is there. All later ones count.",
          breaks="values", old=".triu(diagonal=1)", new=".triu(diagonal=1).tril(diagonal=1)")
    wrong("past_instead", "You keep the past and cut the future away. Asked is the future, s > t: `triu(diagonal=1)`.",
          breaks=LEAK, old="triu(diagonal=1)", new="tril(diagonal=-1)")
    wrong("axes_swapped", "Outputs and inputs have changed places before the cut: your row is the input, your column the output. Stack the outputs' gradients along axis 1, so that entry [b, t, s] is output t and input s.",
          breaks=LEAK, old="dim=1)", new="dim=2)")
    wrong("transposed", "Your result is transposed: entry [b, t, s] is to be output t and input s, so what is not 0 stands above the diagonal.",
          breaks="values", old=".triu(diagonal=1)", new=".triu(diagonal=1).transpose(1, 2)")
    wrong("stacked_first", "The outputs stand along the first axis: (T, B, T). Stack along axis 1: (B, T, T).",
          breaks=("shape", *LEAK), old="dim=1)", new="dim=0)")
    wrong("squared", "You return squared lengths: the root is missing.",
          breaks="values", old="[0].norm(dim=-1)", new="[0].pow(2).sum(dim=-1)")
    wrong("sum_of_sizes", "You add up the sizes of the gradient's numbers. The Euclidean length is the root of the sum of their squares: `norm(dim=-1)`.",
          breaks="values", old="norm(dim=-1)", new="abs().sum(dim=-1)")
    wrong("mean_of_sizes", "You take the mean size of the gradient's numbers. The Euclidean length is the root of the sum of their squares: `norm(dim=-1)`.",
          breaks="values", old="norm(dim=-1)", new="abs().mean(dim=-1)")
    wrong("largest", "You take the largest number of each gradient. The Euclidean length is the root of the sum of all squares: `norm(dim=-1)`.",
          breaks="values", old="norm(dim=-1)", new="abs().amax(dim=-1)")
    wrong("signed_sum", "You add up the gradient's numbers with their signs, so that they cancel. The Euclidean length is the root of the sum of their squares: `norm(dim=-1)`.",
          breaks="values", old="norm(dim=-1)", new="sum(dim=-1)")
    wrong("root_mean_square", "You divide by √D: the root of the *mean* square. The Euclidean length is the root of the sum: `norm(dim=-1)`.",
          breaks="values", old="norm(dim=-1)", new="pow(2).mean(dim=-1).sqrt()")
    wrong("norm_over_tokens", "Your norm runs over the inputs (axis 1). It is to run over the D numbers of each vector, the last axis.",
          breaks=("shape", *LEAK), old="norm(dim=-1)", new="norm(dim=1)")
    wrong("one_norm_for_all", "Your norm runs over everything, so each output has one number. Each input's vector has its own: `norm(dim=-1)`.",
          breaks=LEAK, old=".norm(dim=-1)", new=".norm().expand(ids.shape)")
    wrong("vectors_kept", "Each entry is a whole gradient, D numbers. Its length is asked for: `norm(dim=-1)`.",
          breaks=("shape", *LEAK), old=("[0].norm(dim=-1)", "torch.stack(gradients, dim=1).triu(diagonal=1)"), new=("[0]", "torch.stack(gradients, dim=1)"))
    wrong("mean_of_outputs", "You take the mean of an output's numbers. Asked is their sum: `outputs[:, t].sum()`, over the batch and the V numbers.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, t].mean()")
    wrong("mean_over_the_vocabulary", "You take the mean over the V numbers of an output. Asked is their sum.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, t].mean(dim=-1).sum()")
    wrong("mean_over_the_batch", "Your sum is divided by the number of sentences: each entry is too small by B = {B}. Sum over the batch, too: each sentence has its own vectors.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, t].sum() / len(ids)")
    wrong("first_number_only", "You differentiate only the first of each output's V numbers. Their sum is asked for.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, t, 0].sum()")
    wrong("largest_number_only", "You differentiate only the largest of each output's V numbers. Their sum is asked for.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, t].amax(dim=-1).sum()")
    wrong("squares_of_outputs", "You differentiate the sum of the outputs' squares. The sum of the numbers themselves is asked for.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, t].pow(2).sum()")
    wrong("all_outputs", "Every row holds the gradient of all outputs together. Row t belongs to output t alone: `outputs[:, t].sum()`.",
          breaks=LEAK, old="outputs[:, t].sum()", new="outputs.sum()")
    wrong("outputs_up_to_t", "Row t holds the gradient of outputs 0 … t together. (Do gradients add up from one step to the next? `.grad` is never emptied by itself.) Row t belongs to output t alone.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[:, : t + 1].sum()")
    wrong("last_output", "Every row holds the gradient of the last output. Row t belongs to output t.",
          breaks=LEAK, old="outputs[:, t].sum()", new="outputs[:, -1].sum()")
    wrong("first_sentence_only", "Only the first sentence has a leak; the others have 0. Sum over the whole batch before you differentiate, or take each sentence in turn.",
          breaks="values", old="outputs[:, t].sum()", new="outputs[0, t].sum()")
    wrong("softmax_first", "You differentiate probabilities. They sum to 1 whatever the input is, so the gradient of their sum is next to 0. Take the model's outputs as they are.",
          breaks="values", old="outputs = model(ids)", new="outputs = model(ids).softmax(dim=-1)")
    wrong("log_softmax_first", "You put the outputs through a log-softmax first. Take the model's outputs as they are.",
          breaks="values", old="outputs = model(ids)", new="outputs = model(ids).log_softmax(dim=-1)")
    wrong("yes_or_no", "You say only whether something leaks, 1 or 0. Asked is how much: the gradient's length.",
          breaks="values", old=".triu(diagonal=1)", new=".triu(diagonal=1).gt(0).float()")
    wrong("total", "You return a single number, the leak of all together. Asked is one for each output and input, (B, T, T).",
          breaks=("shape", *LEAK), old=".triu(diagonal=1)", new=".triu(diagonal=1).sum()")
    wrong("sum_over_inputs", "You add up over the inputs. Asked is one number for each output and input, (B, T, T).",
          breaks=("shape", *LEAK), old=".triu(diagonal=1)", new=".triu(diagonal=1).sum(dim=-1)")
    wrong("mean_of_the_batch", "You average over the batch. Each sentence has its own: (B, T, T).",
          breaks=("shape", *LEAK), old=".triu(diagonal=1)", new=".triu(diagonal=1).mean(dim=0)")
    wrong("shares", "Your rows are divided by their sums. Asked are the lengths as they are.",
          breaks="values", old=".triu(diagonal=1)", new=".triu(diagonal=1) / torch.stack(gradients, dim=1).sum(dim=-1, keepdim=True)")
    wrong("graph_freed", "The second `grad` (or `backward`) fails: the first has thrown its graph away. Ask for more than one gradient with `retain_graph=True`.",
          breaks=("shape", *LEAK, "model unchanged"), old=", retain_graph=True", new="")
    wrong("hook_stays", "Your hook stays in the model: every later call will run it, and cut the token table off from training. Keep what `register_forward_hook` returns and call its `remove()`.",
          breaks="model unchanged", old="hook.remove()", new="pass")
    wrong("hooks_cleared", "You take away a hook that the token table had before. Remove your own only: keep what `register_forward_hook` returns and call its `remove()`.",
          breaks="model unchanged", old="hook.remove()", new="model.token_embeddings._forward_hooks.clear()")
    wrong("table_instead", "You differentiate with respect to the token table's rows. A token that occurs twice has one row there: gradients of different places are added, and in this model a row is also part of the head. Take the vectors that the table gives, one for each place.",
          breaks=LEAK, old=("output.detach().requires_grad_()", GRADIENT), new=("output", "torch.autograd.grad(outputs[:, t].sum(), model.token_embeddings.weight, retain_graph=True)[0][ids].norm(dim=-1)"))
    wrong("table_instead_text_by_text", "You differentiate with respect to the token table's rows. A token that occurs twice has one row there: gradients of different places are added, and in this model a row is also part of the head. Take the vectors that the table gives, one for each place.",
          breaks=LEAK, old=("output.detach().requires_grad_()", GRADIENT),
          new=("output", "torch.stack([torch.autograd.grad(outputs[b, t].sum(), model.token_embeddings.weight, retain_graph=True)[0][row].norm(dim=-1) for b, row in enumerate(ids)])"))
    wrong("hook_returns_nothing", "The outputs don't depend on what you differentiate by: the model goes on with the table's own vectors. Return yours from the hook: what a forward hook returns takes the output's place.",
          breaks=("shape", *LEAK, "model unchanged"), old="        return vectors[-1]\n", new="")
    wrong("vectors_not_marked", "What you differentiate by is not marked for gradients. The vectors that the table gives can be: `output.detach().requires_grad_()`.",
          breaks=("shape", *LEAK, "model unchanged"), old="output.detach().requires_grad_()", new="output.detach()")
    wrong("backward", "`backward` also adds to the gradients that the parameters keep. `torch.autograd.grad(…, vectors)` computes the one that is asked for and leaves the model as it is.",
          breaks="model unchanged", old="        torch.autograd.grad(outputs[:, t].sum(), vectors[0], retain_graph=True)[0]",
          new="        (setattr(vectors[0], 'grad', None), outputs[:, t].sum().backward(retain_graph=True), vectors[0].grad)[2]")
    wrong("backward_adding_up", "Gradients add up: `backward` adds to `.grad`, in your vectors (row t then holds outputs 0 … t) and in the model's parameters. `torch.autograd.grad(…, vectors)` gives each one afresh and leaves the model as it is.",
          breaks=("values", "model unchanged"), old="        torch.autograd.grad(outputs[:, t].sum(), vectors[0], retain_graph=True)[0]",
          new="        (outputs[:, t].sum().backward(retain_graph=True), vectors[0].grad.clone())[1]")
    wrong("zero_grad", "You empty the gradients that the model kept (`zero_grad`). Leave the model as it is.",
          breaks="model unchanged", old="    vectors = []\n", new="    vectors = []\n    model.zero_grad()\n")
    wrong("eval_mode", "Afterwards the model is in eval mode. If you change the mode, put it back.",
          breaks="model unchanged", old="    vectors = []\n", new="    vectors = []\n    model.eval()\n")
    wrong("frozen", "Afterwards the model's parameters are frozen (`requires_grad_(False)`). Leave the model as it is.",
          breaks="model unchanged", old="    length = ids.size(1)\n", new="    length = ids.size(1)\n    model.requires_grad_(False)\n")


@MISTAKES.of(CausalSelfAttention)
def in_CausalSelfAttention(wrong):
    SEEN = (*NUMBERS, "no peeking")
    STOPS = ("shape", "values", "parameters", "gradients")
    NAMES = ("values", "parameters", "gradients")
    in_every_class(wrong, (*STOPS, "no peeking"))
    wrong("no_mask", "No mask is in use: every token sees all others, also those that come later. Hand `causal_mask(x.size(1))` to `masked_attention`.",
          breaks=SEEN, old=", causal_mask(x.size(1)).to(x.device)", new="")
    wrong("mask_of_the_width", "Your mask is as large as the width D. It is as large as the text is long: `x.size(1)`.",
          breaks=("shape", "parameters", *SEEN), old="causal_mask(x.size(1))", new="causal_mask(x.size(-1))")
    wrong("mask_of_the_batch", "Your mask is as large as the batch. It is as large as the text is long: `x.size(1)`.",
          breaks=("shape", *SEEN), old="causal_mask(x.size(1))", new="causal_mask(x.size(0))")
    wrong("mask_of_the_heads", "Your mask is as large as there are heads. It is as large as the text is long: `x.size(1)`.",
          breaks=("shape", *SEEN), old="causal_mask(x.size(1))", new="causal_mask(self.num_heads)")
    wrong("mask_of_all_positions", "Your mask is as large as the table of positions (`config.max_position_embeddings`), and the text is shorter. Take the mask of x's own length, `x.size(1)`.",
          breaks=("shape", "parameters", *SEEN), old=("        self.num_heads = ", "causal_mask(x.size(1))"), new=("        self.most = config.max_position_embeddings\n        self.num_heads = ", "causal_mask(self.most)"))
    wrong("mask_kept", "You keep the mask of the first text: it doesn't fit one of another length. Take the mask of x's own length each time, `causal_mask(x.size(1))`.",
          breaks="no peeking", old=("        self.num_heads = ", "        context = ", "causal_mask(x.size(1))"),
          new=("        self.mask = None\n        self.num_heads = ", "        self.mask = causal_mask(x.size(1)) if self.mask is None else self.mask\n        context = ", "self.mask"))
    wrong("mask_is_a_parameter", "Your mask is a parameter: it would be trained, and it stands among the weights. A mask is made anew in `forward`, or kept with `register_buffer`.",
          breaks="parameters", old="        self.num_heads = ", new="        self.mask = nn.Parameter(torch.zeros(1))\n        self.num_heads = ")
    wrong("mask_transposed", "Your mask is transposed: each token sees itself and what comes after it.",
          breaks=SEEN, old=".to(x.device)", new=".T.to(x.device)")
    wrong("mask_inverted", "Your mask is inverted: each token sees only what comes after it, and the last one nothing at all, which gives NaN.",
          breaks=SEEN, old="causal_mask(x.size(1)).to(x.device)", new="~causal_mask(x.size(1)).to(x.device)")
    wrong("a_single_head", "The heads are missing: you attend once over the whole width, not in {H} heads of width K = {K}. Split with `split_heads(…, self.num_heads)`.",
          breaks=NUMBERS, old=("split_heads(layer(x), self.num_heads)", "merge_heads(context)"), new=("layer(x)", "context"))
    wrong("layers_for_heads", "You split into `config.num_hidden_layers` heads. The number of heads is `config.num_attention_heads`.",
          breaks=STOPS, old="self.num_heads = config.num_attention_heads", new="self.num_heads = config.num_hidden_layers")
    wrong("head_width_for_heads", "You split into as many heads as a head is wide. There are H = `config.num_attention_heads` heads of width K = D/H.",
          breaks=("parameters", *NUMBERS), old="self.num_heads = config.num_attention_heads", new="self.num_heads = width // config.num_attention_heads")
    wrong("heads_under_another_name", "The module doesn't say how many heads it has: keep the number as `self.num_heads`, for whoever will use it with a cache.",
          breaks="parameters", old="self.num_heads", new="self.heads", times=2)
    wrong("reshaped_to_heads", "You cut into heads with a `view` or `reshape` straight to (B, H, T, K), which mixes tokens and columns. First (B, T, H, K), then `transpose(1, 2)`; `split_heads` does it.",
          breaks=SEEN, old="split_heads(layer(x), self.num_heads)", new="layer(x).reshape(x.size(0), self.num_heads, x.size(1), -1)")
    wrong("merged_without_transpose", "You merge with a `reshape` straight from (B, H, T, K), which mixes tokens and heads. First `transpose(1, 2)`; `merge_heads` does it.",
          breaks=SEEN, old="merge_heads(context)", new="context.reshape(x.shape)")
    wrong("reshaped_both_ways", "You cut into heads, and merge them, with a `view` or `reshape` alone, which mixes tokens and columns. First (B, T, H, K), then `transpose(1, 2)`, and the same way back; `split_heads` and `merge_heads` do it.",
          breaks=SEEN, old=("split_heads(layer(x), self.num_heads)", "merge_heads(context)"), new=("layer(x).reshape(x.size(0), self.num_heads, x.size(1), -1)", "context.reshape(x.shape)"))
    wrong("heads_interleaved", "Your heads take every H-th column. A head has K neighboring columns: (B, T, H, K), in that order; `split_heads` does it.",
          breaks=NUMBERS, old=("split_heads(layer(x), self.num_heads)", "merge_heads(context)"),
          new=("layer(x).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)", "context.permute(0, 2, 3, 1).flatten(2)"))
    wrong("heads_come_out_interleaved", "You merge with the head as the fastest axis. A head's K columns stay side by side: (B, T, H, K), in that order; `merge_heads` does it.",
          breaks=NUMBERS, old="merge_heads(context)", new="context.permute(0, 2, 3, 1).flatten(2)")
    wrong("mean_of_the_heads", "You average the heads. Their columns stand side by side again: `merge_heads`.",
          breaks=NUMBERS, old="merge_heads(context)", new="context.mean(dim=1).repeat(1, 1, self.num_heads)")
    wrong("no_output_linear", "`output_linear` is not used. It is the last step, after the heads are merged.",
          breaks=NUMBERS, old="self.output_linear(merge_heads(context))", new="merge_heads(context)")
    wrong("heads_not_merged", "The heads are not merged: your result is (B, H, T, K). `merge_heads` makes (B, T, D) of it, then comes `output_linear`.",
          breaks=(*STOPS[:2], "gradients", "no peeking"), old="self.output_linear(merge_heads(context))", new="context")
    wrong("heads_not_merged_before_output_linear", "The heads are not merged: `output_linear` wants (B, T, D). `merge_heads` makes it of (B, H, T, K).",
          breaks=(*STOPS[:2], "gradients", "no peeking"), old="merge_heads(context)", new="context")
    wrong("query_and_key_swapped", "`q` and `k` have changed places: queries are made by `q`, keys by `k`.",
          breaks=NUMBERS, old="(self.q, self.k, self.v)", new="(self.k, self.q, self.v)")
    wrong("key_and_value_swapped", "`k` and `v` have changed places: keys are made by `k`, values by `v`.",
          breaks=NUMBERS, old="(self.q, self.k, self.v)", new="(self.q, self.v, self.k)")
    wrong("order_v_k_q", "`q` and `v` have changed places: queries are made by `q`, values by `v`.",
          breaks=NUMBERS, old="(self.q, self.k, self.v)", new="(self.v, self.k, self.q)")
    wrong("query_twice", "Queries and keys are both made by `q`. Keys are made by `k`.",
          breaks=NUMBERS, old="(self.q, self.k, self.v)", new="(self.q, self.q, self.v)")
    wrong("key_twice", "Keys and values are both made by `k`. Values are made by `v`.",
          breaks=NUMBERS, old="(self.q, self.k, self.v)", new="(self.q, self.k, self.k)")
    wrong("values_are_x", "The values are x itself. They are made by `v`.",
          breaks=NUMBERS, old="context = masked_attention(query, key, value,", new="context = masked_attention(query, key, split_heads(x, self.num_heads),")
    wrong("q_for_all", "Queries, keys and values are all made by `q`. Each has a layer of its own.",
          breaks=NUMBERS, old="(self.q, self.k, self.v)", new="(self.q, self.q, self.q)")
    for layer in ("q", "k", "v", "output_linear"):
        wrong(f"{layer}_without_bias", f"`{layer}` has no bias. All four layers have one.",
              breaks=NAMES if layer != "k" else "parameters", old=f"self.{layer} = nn.Linear(width, width)", new=f"self.{layer} = nn.Linear(width, width, bias=False)")
    wrong("no_biases", "Your layers have no bias. All four have one.",
          breaks=NAMES, old="nn.Linear(width, width)", new="nn.Linear(width, width, bias=False)", times=4)
    wrong("projections_without_bias", "`q`, `k` and `v` have no bias. All four layers have one.",
          breaks=NAMES, old=("self.q = nn.Linear(width, width)", "self.k = nn.Linear(width, width)", "self.v = nn.Linear(width, width)"),
          new=("self.q = nn.Linear(width, width, bias=False)", "self.k = nn.Linear(width, width, bias=False)", "self.v = nn.Linear(width, width, bias=False)"))
    wrong("one_layer_with_three_names", "`q`, `k` and `v` are one and the same layer. Each needs weights of its own: three `nn.Linear`.",
          breaks=NAMES, old=("self.k = nn.Linear(width, width)", "self.v = nn.Linear(width, width)"), new=("self.k = self.q", "self.v = self.q"))
    wrong("x_added", "You add x to the result. The skip connection belongs to the block, not to attention.",
          breaks=NUMBERS, old="return self.output_linear(merge_heads(context))", new="return x + self.output_linear(merge_heads(context))")
    wrong("dropout", "There is dropout in your attention. None is asked for here: it belongs to the block.",
          breaks="values", old="return self.output_linear(merge_heads(context))", new="return F.dropout(self.output_linear(merge_heads(context)), 0.1, self.training)")
    wrong("dropout_in_eval_mode", "The result is random, also in eval mode: no dropout is asked for here, it belongs to the block.",
          breaks=(*SEEN,), old="return self.output_linear(merge_heads(context))", new="return F.dropout(self.output_linear(merge_heads(context)), 0.1)")
    wrong("dropout_of_the_config", "There is dropout in your attention. None is asked for here: it belongs to the block.",
          breaks="values", old=("        self.num_heads = ", "return self.output_linear(merge_heads(context))"),
          new=("        self.dropout = nn.Dropout(config.resid_pdrop)\n        self.num_heads = ", "return self.dropout(self.output_linear(merge_heads(context)))"))
    wrong("last_token_only", "You return the last token only. Every token has a result: (B, T, D).",
          breaks=(*STOPS[:2], "gradients", "no peeking"), old="return self.output_linear(merge_heads(context))", new="return self.output_linear(merge_heads(context))[:, -1]")
    wrong("with_weights", "You return two things. Only the result is asked for, (B, T, D).",
          breaks=(*STOPS[:2], "gradients", "no peeking"), old="return self.output_linear(merge_heads(context))", new="return self.output_linear(merge_heads(context)), context")
    wrong("scaled_by_the_whole_width", "The scores are divided by √D once more (or the queries are). The root is that of a head's width, K, and `masked_attention` divides by it.",
          breaks=NUMBERS, old="masked_attention(query,", new="masked_attention(query / x.size(-1) ** 0.5,")
    wrong("scaled_twice", "The scores are divided by √K twice: `masked_attention` does it already.",
          breaks=NUMBERS, old="masked_attention(query,", new="masked_attention(query / query.size(-1) ** 0.5,")
    wrong("the_width_not_the_heads_width", "The scores are divided by √D, the whole width. The root is that of a head's width, √K: `masked_attention` takes it from the query.",
          breaks=NUMBERS, old="masked_attention(query,", new="masked_attention(query * (query.size(-1) / x.size(-1)) ** 0.5,")
    wrong("detached", "The queries or keys are cut off from their layers (`detach`, `torch.no_grad` or `.data`): `q` and `k` can't learn.",
          breaks="gradients", old="masked_attention(query, key,", new="masked_attention(query.detach(), key.detach(),")


@MISTAKES.of(DecoderBlock)
def in_DecoderBlock(wrong):
    FIRST = "x = x + self.dropout(self.attention(self.layer_norm_1(x)))"
    SECOND = "return x + self.feed_forward(self.layer_norm_2(x))"
    AND_EPS = (*NUMBERS, "eps")
    ALL_BUT_SHAPE = ("values", "parameters", "gradients", "dropout", "eps")
    in_every_class(wrong, ("shape", *ALL_BUT_SHAPE))
    wrong("post_norm", "Your norms come after the additions (post-norm, as in BERT). In GPT-2 each comes first: x + attention(norm(x)), and the same with the feed-forward network.",
          breaks=AND_EPS, old=(FIRST, SECOND), new=("x = self.layer_norm_1(x + self.dropout(self.attention(x)))", "return self.layer_norm_2(x + self.feed_forward(x))"))
    wrong("no_norms", "Neither norm is used. Each comes before its part: attention(norm(x)), feed_forward(norm(x)).",
          breaks=AND_EPS, old=("self.layer_norm_1(x)", "self.layer_norm_2(x)"), new=("x", "x"))
    wrong("no_first_norm", "Attention gets x as it is; it is to get `layer_norm_1(x)`.",
          breaks=AND_EPS, old="self.layer_norm_1(x)", new="x")
    wrong("no_second_norm", "The feed-forward network gets x as it is; it is to get `layer_norm_2(x)`.",
          breaks=AND_EPS, old="self.layer_norm_2(x)", new="x")
    wrong("no_first_skip", "The first skip connection is missing: x itself is to be added to what attention returns.",
          breaks=AND_EPS, old=FIRST, new="x = self.dropout(self.attention(self.layer_norm_1(x)))")
    wrong("no_second_skip", "The second skip connection is missing: x itself is to be added to what the feed-forward network returns.",
          breaks=(*AND_EPS, "dropout"), old=SECOND, new="return self.feed_forward(self.layer_norm_2(x))")
    wrong("no_skips", "Both skip connections are missing: each part's result is added to x.",
          breaks=(*AND_EPS, "dropout"), old=(FIRST, SECOND), new=("x = self.dropout(self.attention(self.layer_norm_1(x)))", "return self.feed_forward(self.layer_norm_2(x))"))
    wrong("skip_from_the_norm", "What you add to attention's result is the *normalized* x. The skip connection carries x as it is.",
          breaks=AND_EPS, old=FIRST, new="x = self.layer_norm_1(x)\n        x = x + self.dropout(self.attention(x))")
    wrong("second_skip_from_the_norm", "What you add to the feed-forward network's result is the *normalized* x. The skip connection carries x as it is.",
          breaks=AND_EPS, old=SECOND, new="x = self.layer_norm_2(x)\n        return x + self.feed_forward(x)")
    wrong("both_skips_from_the_norms", "What you add to each part's result is the *normalized* x. The skip connections carry x as it is.",
          breaks=AND_EPS, old=(FIRST, SECOND), new=("x = self.layer_norm_1(x)\n        x = x + self.dropout(self.attention(x))", "x = self.layer_norm_2(x)\n        return x + self.feed_forward(x)"))
    wrong("parallel", "Both parts read the same x, side by side. The feed-forward network comes second: it reads, and adds to, what attention has made of x.",
          breaks=AND_EPS, old=(FIRST, SECOND), new=("y = x + self.dropout(self.attention(self.layer_norm_1(x)))", "return y + self.feed_forward(self.layer_norm_2(x))"))
    wrong("second_skip_from_the_start", "Your second addition takes the x from the very beginning: what attention has added is lost. Add to the new x.",
          breaks=(*AND_EPS, "dropout"), old=(FIRST, SECOND), new=("y = x + self.dropout(self.attention(self.layer_norm_1(x)))", "return x + self.feed_forward(self.layer_norm_2(y))"))
    wrong("x_added_once_more", "x is added once too often: the new x holds it already.",
          breaks=AND_EPS, old=(FIRST, SECOND), new=("y = x + self.dropout(self.attention(self.layer_norm_1(x)))", "return x + y + self.feed_forward(self.layer_norm_2(y))"))
    wrong("attention_not_added", "The feed-forward network reads what attention returns, without x: the first addition, x + attention(norm(x)), is missing.",
          breaks=(*AND_EPS, "dropout"), old=(FIRST, SECOND), new=("y = self.dropout(self.attention(self.layer_norm_1(x)))", "return x + self.feed_forward(self.layer_norm_2(y))"))
    wrong("norms_swapped", "The norms have changed places: `layer_norm_1` belongs before attention, `layer_norm_2` before the feed-forward network.",
          breaks=AND_EPS, old=("self.layer_norm_1(x)", "self.layer_norm_2(x)"), new=("self.layer_norm_2(x)", "self.layer_norm_1(x)"))
    wrong("first_norm_twice", "`layer_norm_1` stands before both parts; before the feed-forward network it is to be `layer_norm_2`.",
          breaks=AND_EPS, old="self.layer_norm_2(x)", new="self.layer_norm_1(x)")
    wrong("second_norm_twice", "`layer_norm_2` stands before both parts; before attention it is to be `layer_norm_1`.",
          breaks=AND_EPS, old="self.layer_norm_1(x)", new="self.layer_norm_2(x)")
    wrong("one_norm_with_two_names", "`layer_norm_1` and `layer_norm_2` are one and the same layer. Each needs weights of its own: two `nn.LayerNorm`.",
          breaks=("values", "parameters", "gradients", "eps"), old="self.layer_norm_2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)", new="self.layer_norm_2 = self.layer_norm_1")
    wrong("parts_swapped", "The feed-forward network comes first in yours. Attention comes first.",
          breaks=AND_EPS, old=("self.dropout(self.attention(self.layer_norm_1(x)))", "self.feed_forward(self.layer_norm_2(x))"),
          new=("self.feed_forward(self.layer_norm_2(x))", "self.dropout(self.attention(self.layer_norm_1(x)))"))
    wrong("parts_swapped_with_norms_in_order", "The feed-forward network comes first in yours, behind `layer_norm_1`. Attention comes first.",
          breaks=AND_EPS, old=("self.dropout(self.attention(self.layer_norm_1(x)))", "self.feed_forward(self.layer_norm_2(x))"),
          new=("self.feed_forward(self.layer_norm_1(x))", "self.dropout(self.attention(self.layer_norm_2(x)))"))
    wrong("norm_at_the_end", "There is one more norm at the end. The block's result is not normalized: the stack has one norm at its very end.",
          breaks=AND_EPS, old=SECOND, new="return self.layer_norm_2(x + self.feed_forward(self.layer_norm_2(x)))")
    wrong("first_norm_at_the_end", "There is one more norm at the end. The block's result is not normalized: the stack has one norm at its very end.",
          breaks=AND_EPS, old=SECOND, new="return self.layer_norm_1(x + self.feed_forward(self.layer_norm_2(x)))")
    wrong("norm_behind_attention", "Your first norm stands behind attention, not before it: attention(norm(x)), where yours is norm(attention(x)).",
          breaks=(*AND_EPS, "dropout"), old=FIRST, new="x = x + self.dropout(self.layer_norm_1(self.attention(x)))")
    wrong("norms_behind_the_parts", "Your norms stand behind the parts, not before them: attention(norm(x)), where yours is norm(attention(x)), and the same with the feed-forward network.",
          breaks=(*AND_EPS, "dropout"), old=(FIRST, SECOND), new=("x = x + self.dropout(self.layer_norm_1(self.attention(x)))", "return x + self.layer_norm_2(self.feed_forward(x))"))
    wrong("no_attention", "Attention is not used: the tokens never see each other.",
          breaks=(*AND_EPS, "dropout"), old="        x = x + self.dropout(self.attention(self.layer_norm_1(x)))\n", new="")
    wrong("no_feed_forward", "The feed-forward network is not used.",
          breaks=(*AND_EPS, "dropout"), old=SECOND, new="return x")
    wrong("subtracted", "What a part returns is added to x; you subtract it.",
          breaks=AND_EPS, old="x = x + self", new="x = x - self")
    wrong("averaged", "You take half of the sum. A skip connection adds, no more.",
          breaks=AND_EPS, old=SECOND, new="return (x + self.feed_forward(self.layer_norm_2(x))) / 2")
    EPS = "nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)"
    wrong("no_eps", "Your norms use PyTorch's own eps, 1e-5. The config has one: `eps=config.layer_norm_epsilon`.",
          breaks="eps", old=", eps=config.layer_norm_epsilon)", new=")", times=2)
    for number in ("1e-6", "1e-12"):
        wrong(f"eps_of_{number}", f"Your norms use an eps of your own, {number}. The config has one: `eps=config.layer_norm_epsilon`.",
              breaks="eps", old="eps=config.layer_norm_epsilon", new=f"eps={number}", times=2)
    wrong("no_eps_in_the_first_norm", "`layer_norm_1` has another eps than the config: `eps=config.layer_norm_epsilon` for both.",
          breaks="eps", old=f"self.layer_norm_1 = {EPS}", new="self.layer_norm_1 = nn.LayerNorm(config.hidden_size)")
    wrong("no_eps_in_the_second_norm", "`layer_norm_2` has another eps than the config: `eps=config.layer_norm_epsilon` for both.",
          breaks="eps", old=f"self.layer_norm_2 = {EPS}", new="self.layer_norm_2 = nn.LayerNorm(config.hidden_size)")
    wrong("no_dropout", "What attention returns never meets `dropout`: it is to be added to x only after it.",
          breaks="dropout", old="self.dropout(self.attention(self.layer_norm_1(x)))", new="self.attention(self.layer_norm_1(x))")
    wrong("dropout_before_attention", "In training there is noise, but it is not dropout of what attention returns: `self.dropout(…)` stands around `self.attention(…)`, not inside.",
          breaks="dropout", old="self.dropout(self.attention(self.layer_norm_1(x)))", new="self.attention(self.dropout(self.layer_norm_1(x)))")
    wrong("dropout_on_the_sum", "Your dropout takes numbers of x, too: it stands around the whole sum. Only what attention returns goes through it; the skip connection stays whole.",
          breaks="dropout", old=FIRST, new="x = self.dropout(x + self.attention(self.layer_norm_1(x)))")
    wrong("dropout_on_the_skip", "Your dropout takes numbers of x, on the skip connection. Only what attention returns goes through it.",
          breaks="dropout", old=FIRST, new="x = self.dropout(x) + self.attention(self.layer_norm_1(x))")
    wrong("dropout_at_the_end", "Your dropout stands around the block's result. Only what attention returns goes through it (and `feed_forward` has its own).",
          breaks="dropout", old=(FIRST, SECOND), new=("x = x + self.attention(self.layer_norm_1(x))", "return self.dropout(x + self.feed_forward(self.layer_norm_2(x)))"))
    wrong("dropout_twice", "What the feed-forward network returns is dropped twice: it has a dropout of its own already.",
          breaks="dropout", old="self.feed_forward(self.layer_norm_2(x))", new="self.dropout(self.feed_forward(self.layer_norm_2(x)))")
    wrong("dropout_only_behind_feed_forward", "Your dropout is for what the feed-forward network returns, which has its own; what attention returns never meets one.",
          breaks="dropout", old=("self.dropout(self.attention(self.layer_norm_1(x)))", "self.feed_forward(self.layer_norm_2(x))"),
          new=("self.attention(self.layer_norm_1(x))", "self.dropout(self.feed_forward(self.layer_norm_2(x)))"))
    wrong("embd_pdrop", "Your dropout takes its p from `config.embd_pdrop`, which is for the embeddings. Here it is `config.resid_pdrop`.",
          breaks="dropout", old="nn.Dropout(config.resid_pdrop)", new="nn.Dropout(config.embd_pdrop)")
    wrong("attn_pdrop", "Your dropout takes its p from `config.attn_pdrop`, which is for attention weights. Here it is `config.resid_pdrop`.",
          breaks="dropout", old="nn.Dropout(config.resid_pdrop)", new="nn.Dropout(config.attn_pdrop)")
    wrong("p_of_a_half", "Your dropout has a p of 0.5 (PyTorch's own, if none is given). The config has one: `config.resid_pdrop`.",
          breaks="dropout", old="nn.Dropout(config.resid_pdrop)", new="nn.Dropout()")
    wrong("p_of_a_tenth", "Your dropout has a p of 0.1. Take the config's: `config.resid_pdrop`.",
          breaks="dropout", old="nn.Dropout(config.resid_pdrop)", new="nn.Dropout(0.1)")
    wrong("always_drops", "Your dropout acts in eval mode, too (`F.dropout` does, unless it is given `self.training`). `nn.Dropout` knows the mode.",
          breaks=(*AND_EPS, "dropout"), old="self.dropout(self.attention", new="F.dropout(self.attention")
    wrong("always_drops_with_its_p", "Your dropout acts in eval mode, too (`F.dropout` does, unless it is given `self.training`). `nn.Dropout` knows the mode.",
          breaks=(*NUMBERS, "dropout"), old="self.dropout(self.attention(self.layer_norm_1(x)))", new="F.dropout(self.attention(self.layer_norm_1(x)), self.dropout.p)")
    wrong("with_two_things", "You return two things. Only the block's result is asked for, (B, T, D).",
          breaks=("shape", *AND_EPS, "dropout"), old=SECOND, new="return x + self.feed_forward(self.layer_norm_2(x)), x")
    wrong("detached", "What goes into attention is cut off (`detach`, `torch.no_grad` or `.data`): nothing below can learn through it.",
          breaks="gradients", old="self.attention(self.layer_norm_1(x))", new="self.attention(self.layer_norm_1(x).detach())")
    wrong("in_place", "You change `x` in place (`x += …` writes into the caller's numbers). Make a new tensor: `x = x + …`.",
          breaks="gradients", old="x = x + self.dropout", new="x += self.dropout")


@MISTAKES.of(GPT)
def in_GPT(wrong):
    VALUES = ("values", "gradients", "eps")
    FROM_NAMES = ("values", "gradients", "parameters", "eps")
    ALL_OF_GPT = ("shape", "values", "parameters", "gradients", "dropout", "eps", "too long")
    SUM = "self.token_embeddings(ids) + self.position_embeddings(positions)"
    CHECK = "        if length > most:\n            raise ValueError(f\"{length} tokens, but the table of positions ends after {most}\")\n"
    TIE = "        self.lm_head.weight = self.token_embeddings.weight  # (V, D), shared\n"
    HEAD = "return self.lm_head(self.layer_norm(x))"
    in_every_class(wrong, ALL_OF_GPT)
    wrong("not_tied", "`lm_head.weight` and `token_embeddings.weight` are two parameters: counted twice, and each with gradients of its own. They are to be one: assign the parameter itself, `self.lm_head.weight = self.token_embeddings.weight`, not its numbers (`clone`, `.data`, `copy_`, a new `nn.Parameter`).",
          breaks=("parameters", "gradients"), old=TIE, new="")
    wrong("head_without_a_name", "The head's numbers are right, but it has no name of its own: `lm_head`, an `nn.Linear` without bias whose weight *is* the token table, is part of the contract.",
          breaks="parameters", old=("        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)\n" + TIE, HEAD),
          new=("", "return self.layer_norm(x) @ self.token_embeddings.weight.T"))
    wrong("head_with_bias", "`lm_head` has a bias; it is to have none.",
          breaks=("values", "parameters", "eps"), old=", bias=False)", new=")")
    wrong("no_positions", "The positions are missing: without their vectors the model can't tell one place from another but by the mask.",
          breaks=VALUES, old=SUM, new="self.token_embeddings(ids)")
    wrong("no_tokens", "Only the positions' vectors go into the first block; the tokens' are missing.",
          breaks=ALL_OF_GPT, old=SUM, new="self.position_embeddings(positions)")
    wrong("positions_from_one", "Your positions begin at 1. They are 0 … T − 1.",
          breaks=("shape", "parameters", *VALUES, "dropout"), old="positions = torch.arange(length, device=ids.device)", new="positions = torch.arange(1, length + 1, device=ids.device)")
    wrong("positions_reversed", "Your positions run backwards. They are 0 … T − 1, from left to right.",
          breaks=VALUES, old="torch.arange(length, device=ids.device)", new="torch.arange(length, device=ids.device).flip(0)")
    wrong("positions_of_the_batch", "Your positions count the sentences of the batch: each sentence has one vector for all of its tokens. They count the tokens, 0 … T − 1.",
          breaks=VALUES, old="torch.arange(length, device=ids.device)", new="torch.arange(ids.size(0), device=ids.device)[:, None]")
    wrong("position_zero_for_all", "Every token gets the vector of place 0. The places are 0 … T − 1.",
          breaks=VALUES, old="torch.arange(length, device=ids.device)", new="torch.zeros_like(ids[0])")
    wrong("last_positions", "You take the last T rows of the table of positions. The first T are meant: 0 … T − 1.",
          breaks=VALUES, old="torch.arange(length, device=ids.device)", new="torch.arange(most - length, most, device=ids.device)")
    wrong("all_positions", "You add the whole table of positions. Take its first T rows.",
          breaks=("shape", "parameters", *VALUES), old="torch.arange(length, device=ids.device)", new="torch.arange(most, device=ids.device)")
    wrong("ids_for_positions", "You look the positions up with the token ids. They are 0 … T − 1: `torch.arange`.",
          breaks=("shape", "parameters", *VALUES, "dropout"), old="self.position_embeddings(positions)", new="self.position_embeddings(ids)")
    wrong("multiplied", "You multiply the two vectors. They are added.",
          breaks=VALUES, old="(ids) + self", new="(ids) * self")
    wrong("averaged", "You take the mean of the two vectors. They are added.",
          breaks=VALUES, old=SUM, new=f"({SUM}) / 2")
    wrong("scaled_embeddings", "You multiply the tokens' vectors by √D, as the Transformer of 2017 does. GPT adds them as they are.",
          breaks=VALUES, old="self.token_embeddings(ids) +", new="self.token_embeddings(ids) * self.token_embeddings.embedding_dim**0.5 +")
    wrong("norm_of_the_embeddings", "You normalize the embeddings before the first block, as BERT does. The final norm comes once, after the last block.",
          breaks=(*VALUES, "dropout"), old=f"self.dropout({SUM})", new=f"self.layer_norm(self.dropout({SUM}))")
    wrong("norm_first_not_last", "Your norm stands before the blocks. It comes after the last one.",
          breaks=(*VALUES, "dropout"), old=(f"self.dropout({SUM})", HEAD), new=(f"self.layer_norm(self.dropout({SUM}))", "return self.lm_head(x)"))
    wrong("no_final_norm", "The norm at the end is missing: pre-norm blocks leave their sum as large as it is, and `layer_norm` comes between the last block and the head.",
          breaks=VALUES, old=HEAD, new="return self.lm_head(x)")
    wrong("norm_after_each_block", "You put the final norm behind every block. It comes once, after the last.",
          breaks=VALUES, old="x = block(x)", new="x = self.layer_norm(block(x))")
    wrong("head_before_norm", "The head comes before the norm in yours: the order is norm, then head.",
          breaks=ALL_OF_GPT, old=HEAD, new="return self.layer_norm(self.lm_head(x))")
    wrong("no_head", "You return vectors, (B, T, D). The head makes logits of them, (B, T, V).",
          breaks=("shape", *VALUES), old=HEAD, new="return self.layer_norm(x)")
    wrong("no_blocks", "The blocks are never called.",
          breaks=(*VALUES, "dropout"), old="            x = block(x)\n", new="            pass\n")
    wrong("embeddings_into_every_block", "Every block gets the embeddings; what the one before has made is lost. Each block's result is the next one's input.",
          breaks=("values", "gradients", "eps"), old=("        for block in self.blocks:\n            x = block(x)\n"), new="        start = x\n        for block in self.blocks:\n            x = block(start)\n")
    wrong("first_block_only", "Only the first block is called. All are, one after the other.",
          breaks=VALUES, old="for block in self.blocks:", new="for block in self.blocks[:1]:")
    wrong("last_block_skipped", "The last block is not called. All are, one after the other.",
          breaks=(*VALUES, "dropout"), old="for block in self.blocks:", new="for block in self.blocks[:-1]:")
    wrong("first_block_skipped", "The first block is not called. All are, one after the other.",
          breaks=(*VALUES, "dropout"), old="for block in self.blocks:", new="for block in self.blocks[1:]:")
    wrong("blocks_reversed", "The blocks are called in reverse order.",
          breaks=VALUES, old="for block in self.blocks:", new="for block in reversed(self.blocks):")
    wrong("block_added", "You add each block's result to x. A block has its own skip connections: `x = block(x)`.",
          breaks=VALUES, old="x = block(x)", new="x = x + block(x)")
    wrong("embeddings_added_at_the_end", "You add the embeddings once more behind the blocks. The blocks' own skip connections carry them already.",
          breaks=VALUES, old=("        for block in self.blocks:\n            x = block(x)\n"), new="        start = x\n        for block in self.blocks:\n            x = block(x)\n        x = x + start\n")
    wrong("one_block_repeated", "All your blocks are one and the same: `[DecoderBlock(config)] * n` repeats one object. Make a new one for each: `DecoderBlock(config) for _ in range(n)`.",
          breaks=FROM_NAMES, old="nn.ModuleList(DecoderBlock(config) for _ in range(config.num_hidden_layers))", new="nn.ModuleList([DecoderBlock(config)] * config.num_hidden_layers)")
    wrong("plain_list", "Your blocks stand in a plain list, where PyTorch doesn't find their parameters: they would never be trained. `nn.ModuleList` registers them.",
          breaks=FROM_NAMES, old="nn.ModuleList(DecoderBlock(config) for _ in range(config.num_hidden_layers))", new="[DecoderBlock(config) for _ in range(config.num_hidden_layers)]")
    wrong("heads_for_blocks", "You make `config.num_attention_heads` blocks. Their number is `config.num_hidden_layers`.",
          breaks=("values", "gradients", "parameters"), old="range(config.num_hidden_layers)", new="range(config.num_attention_heads)")
    wrong("one_block", "You make a single block. Their number is `config.num_hidden_layers`.",
          breaks=FROM_NAMES, old="range(config.num_hidden_layers)", new="range(1)")
    wrong("one_block_too_few", "You make one block too few. Their number is `config.num_hidden_layers`.",
          breaks=(*FROM_NAMES, "dropout"), old="range(config.num_hidden_layers)", new="range(config.num_hidden_layers - 1)")
    wrong("one_block_too_many", "You make one block too many. Their number is `config.num_hidden_layers`.",
          breaks=FROM_NAMES, old="range(config.num_hidden_layers)", new="range(config.num_hidden_layers + 1)")
    wrong("positions_for_every_token", "Your table of positions has V rows, as many as there are tokens. It has `config.max_position_embeddings`.",
          breaks=("shape", *FROM_NAMES, "too long"), old="nn.Embedding(config.max_position_embeddings", new="nn.Embedding(config.vocab_size")
    wrong("last_place_only", "You return the logits of the last place only. In training every place predicts: (B, T, V).",
          breaks=("shape", *VALUES), old=HEAD, new=f"{HEAD}[:, -1]")
    wrong("softmax", "You return probabilities. Asked are logits: loss and temperature make of them what they need.",
          breaks=VALUES, old=HEAD, new=f"{HEAD}.softmax(dim=-1)")
    wrong("log_softmax", "You return logarithms of probabilities. Asked are the logits as the head gives them.",
          breaks=VALUES, old=HEAD, new=f"{HEAD}.log_softmax(dim=-1)")
    wrong("chosen_tokens", "You return the most probable tokens. Asked are the logits, (B, T, V).",
          breaks=("shape", *VALUES), old=HEAD, new=f"{HEAD}.argmax(dim=-1)")
    wrong("two_things", "You return two things. Only the logits are asked for, (B, T, V).",
          breaks=("shape", *VALUES, "dropout"), old=HEAD, new=f"{HEAD}, x")
    wrong("logits_scaled", "You divide the logits by √D. The head's product is what is asked for, as it is.",
          breaks=VALUES, old=HEAD, new=f"{HEAD} / self.token_embeddings.embedding_dim**0.5")
    wrong("not_checked", "Too long a text is not refused on purpose: the table of positions fails with its own error. Compare T with its number of rows first, and raise a ValueError that names both.",
          breaks="too long", old=CHECK, new="")
    wrong("cut_to_fit", "Too long a text is cut to fit, in silence. Raise a ValueError that names both lengths: `generate` decides itself what to show to the model.",
          breaks="too long", old=CHECK, new="        ids, length = ids[:, -most:], min(length, most)\n")
    wrong("cut_at_the_end", "Too long a text is cut to fit, in silence. Raise a ValueError that names both lengths: `generate` decides itself what to show to the model.",
          breaks="too long", old=CHECK, new="        ids, length = ids[:, :most], min(length, most)\n")
    wrong("positions_clamped", "In too long a text the last tokens share one position, in silence. Raise a ValueError that names both lengths.",
          breaks="too long", old=(CHECK, "torch.arange(length, device=ids.device)"), new=("", "torch.arange(length, device=ids.device).clamp(max=most - 1)"))
    wrong("positions_start_anew", "In too long a text the positions begin anew, in silence. Raise a ValueError that names both lengths.",
          breaks="too long", old=(CHECK, "torch.arange(length, device=ids.device)"), new=("", "torch.arange(length, device=ids.device) % most"))
    wrong("message_without_numbers", "You refuse too long a text, but the message names neither its length nor the table's. Who meets it wants to know both numbers.",
          breaks="too long", old='f"{length} tokens, but the table of positions ends after {most}"', new='"too many tokens"')
    wrong("refuses_what_fits", "A text exactly as long as the table is refused. It still fits: refuse when T is *greater*.",
          breaks=("shape", "values", "parameters", "gradients", "dropout"), old="length > most", new="length >= most")
    wrong("no_dropout", "`dropout` is never used on the sum of the two vectors.",
          breaks="dropout", old=f"self.dropout({SUM})", new=SUM)
    wrong("dropout_on_tokens_only", "What reaches the first block is random, but no number of it is dropped (dropout of one of the two vectors only does that). Add first: the sum of tokens and positions goes through `dropout`.",
          breaks="dropout", old=f"self.dropout({SUM})", new="self.dropout(self.token_embeddings(ids)) + self.position_embeddings(positions)")
    wrong("dropout_on_each", "You put tokens and positions through dropout one by one. Add first: the sum goes through it.",
          breaks="dropout", old=f"self.dropout({SUM})", new="self.dropout(self.token_embeddings(ids)) + self.dropout(self.position_embeddings(positions))")
    wrong("dropout_twice", "The sum goes through dropout twice. Once is enough.",
          breaks="dropout", old=f"self.dropout({SUM})", new=f"self.dropout(self.dropout({SUM}))")
    wrong("dropout_at_the_end", "Your dropout stands behind the blocks. It is for the embeddings: the sum of tokens and positions goes through it.",
          breaks="dropout", old=(f"self.dropout({SUM})", HEAD), new=(SUM, "return self.lm_head(self.dropout(self.layer_norm(x)))"))
    wrong("resid_pdrop", "Your dropout takes its p from `config.resid_pdrop`, which is for the blocks. For the embeddings it is `config.embd_pdrop`.",
          breaks="dropout", old="config.embd_pdrop)", new="config.resid_pdrop)")
    wrong("p_of_a_half", "Your dropout has a p of 0.5 (PyTorch's own, if none is given). The config has one: `config.embd_pdrop`.",
          breaks=("dropout",), old="nn.Dropout(config.embd_pdrop)", new="nn.Dropout()")
    wrong("p_of_a_tenth", "Your dropout has a p of 0.1. Take the config's: `config.embd_pdrop`.",
          breaks=("dropout",), old="nn.Dropout(config.embd_pdrop)", new="nn.Dropout(0.1)")
    wrong("no_eps", "The final norm has an eps of its own (PyTorch's, if none is given, is 1e-5). The config has one: `eps=config.layer_norm_epsilon`.",
          breaks="eps", old=", eps=config.layer_norm_epsilon)", new=")")
    wrong("detached", "The embeddings are cut off (`detach`, `torch.no_grad` or `.data`): neither table learns what the blocks have to say.",
          breaks="gradients", old=f"self.dropout({SUM})", new=f"self.dropout({SUM}).detach()")


@MISTAKES.of(next_token_loss)
def in_next_token_loss(wrong):
    LOSS = ("values", "large logits", "gradients")
    WITH_SHAPE = ("shape", *LOSS)
    MEAN = "F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())"
    wrong("not_shifted", "Nothing is shifted: place t is held against token t, which the model was given. It is to predict token t + 1: `logits[:, :-1]` against `ids[:, 1:]`.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits", "ids"))
    wrong("not_shifted_without_the_last", "Nothing is shifted: place t is held against token t, and only the last place is left out. `ids` lose their *first* token: `ids[:, 1:]`.",
          breaks=LOSS, old="ids[:, 1:]", new="ids[:, :-1]")
    wrong("not_shifted_without_the_first", "Nothing is shifted: place t is held against token t, and only the first place is left out. `logits` lose their *last* place: `logits[:, :-1]`.",
          breaks=LOSS, old="logits[:, :-1]", new="logits[:, 1:]")
    wrong("wrong_way", "You shift the wrong way: place t is held against token t − 1, which lies in the past. It is to predict token t + 1: `logits[:, :-1]` against `ids[:, 1:]`.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits[:, 1:]", "ids[:, :-1]"))
    wrong("shifted_twice", "You shift twice: place t is held against token t + 2. (With two tokens nothing is left, and the mean of nothing is NaN.) Token t + 1 is next.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits[:, :-2]", "ids[:, 2:]"))
    wrong("last_place_counted", "The last place is counted, too, against the text's first token (`roll` brings it there). It has nothing to predict: leave it out.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits", "ids.roll(-1, dims=1)"))
    wrong("rolled_the_wrong_way", "Your ids are rolled the wrong way: place t is held against token t − 1, and the first place against the last token. `logits[:, :-1]` against `ids[:, 1:]`.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits", "ids.roll(1, dims=1)"))
    wrong("rolled_flat", "You shift after making one long row of all texts: the last place of each text is held against the first token of the next. Shift each text by itself: `logits[:, :-1]`, `ids[:, 1:]`.",
          breaks=LOSS, old=MEAN, new="F.cross_entropy(logits.flatten(0, 1)[:-1], ids.flatten()[1:])")
    wrong("last_place_against_zero", "The last place is counted, too, against token 0. It has nothing to predict: leave it out.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits", "F.pad(ids[:, 1:], (0, 1))"))
    wrong("last_place_against_itself", "The last place is counted, too, against its own token. It has nothing to predict: leave it out.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits", "torch.cat([ids[:, 1:], ids[:, -1:]], dim=1)"))
    wrong("sum", "You add up. The mean is wanted, over all B·(T − 1) predictions.",
          breaks=LOSS, old="ids[:, 1:].flatten()", new='ids[:, 1:].flatten(), reduction="sum"')
    wrong("sum_over_places", "You add up over the places and take the mean over the texts only. The mean runs over all B·(T − 1) predictions.",
          breaks=LOSS, old=MEAN, new=f"{MEAN} * (ids.size(1) - 1)")
    wrong("sum_over_texts", "You add up over the texts and take the mean over the places only. The mean runs over all B·(T − 1) predictions.",
          breaks=LOSS, old=MEAN, new=f"{MEAN} * ids.size(0)")
    wrong("divided_by_all_places", "You divide by B·T. There are B·(T − 1) predictions: the last place has none.",
          breaks=LOSS, old=MEAN, new=f"{MEAN} * (ids.size(1) - 1) / ids.size(1)")
    wrong("divided_by_the_vocabulary", "You divide by the number of tokens V, too (a mean over the wrong axis?). The mean runs over the B·(T − 1) predictions.",
          breaks=LOSS, old=MEAN, new=f"{MEAN} / logits.size(-1)")
    wrong("not_reduced", "You return one loss for each prediction. Their mean is asked for, a single number.",
          breaks=WITH_SHAPE, old="ids[:, 1:].flatten()", new='ids[:, 1:].flatten(), reduction="none"')
    wrong("one_loss_for_each_text", "You return one loss for each text. The mean over all of them is asked for, a single number.",
          breaks=WITH_SHAPE, old=MEAN, new='F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=1)')
    wrong("one_loss_for_each_place", "You return one loss for each place. The mean over all of them is asked for, a single number.",
          breaks=WITH_SHAPE, old=MEAN, new='F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none").mean(dim=0)')
    wrong("perplexity", "This is the perplexity, e to the loss. The loss itself is asked for, in nats.",
          breaks=LOSS, old=f"return {MEAN}", new=f"return {MEAN}.exp()")
    wrong("bits", "You measure in bits (logarithms to base 2). Nats are asked for: the natural logarithm.",
          breaks=LOSS, old=f"return {MEAN}", new=f"return {MEAN} / math.log(2)")
    wrong("negative", "The sign is wrong: a loss is −log of a probability, so it is never negative.",
          breaks=LOSS, old=f"return {MEAN}", new=f"return -{MEAN}")
    wrong("softmax_first", "You hand probabilities to `F.cross_entropy`, which makes probabilities of its input itself. Hand it the logits.",
          breaks=LOSS, old="logits[:, :-1].flatten", new="logits[:, :-1].softmax(dim=-1).flatten")
    wrong("softmax_over_places", "Your softmax runs over the places. The classes are the tokens, the last axis of `logits`.",
          breaks=LOSS, old=MEAN, new="F.nll_loss(logits[:, :-1].log_softmax(dim=1).flatten(0, 1), ids[:, 1:].flatten())")
    wrong("softmax_over_all_places", "Your softmax runs over the places, the last one included. The classes are the tokens, the last axis of `logits`.",
          breaks=LOSS, old=MEAN, new="F.nll_loss(logits.log_softmax(dim=1)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())")
    wrong("accuracy", "This is the share of right guesses, which has no gradient. The loss is asked for: the mean of −log p.",
          breaks=LOSS, old=MEAN, new="(logits[:, :-1].argmax(dim=-1) == ids[:, 1:]).float().mean()")
    wrong("squared_error", "This is the mean squared error of the probabilities. Cross-entropy is asked for: the mean of −log p.",
          breaks=LOSS, old=MEAN, new="F.mse_loss(logits[:, :-1].softmax(dim=-1), F.one_hot(ids[:, 1:], logits.size(-1)).float())")
    wrong("log_of_the_mean", "You take the mean of the probabilities first, then the logarithm. The logarithm comes first: the mean of −log p.",
          breaks=LOSS, old=MEAN, new="-logits[:, :-1].softmax(dim=-1).gather(-1, ids[:, 1:, None]).mean().log()")
    for number in ("1e-9", "1e-10", "1e-12"):
        wrong(f"log_of_softmax_plus_{number}", f"You add {number} to a probability before its logarithm, so that no loss is above −log {number}, however wrong the model is. `F.cross_entropy` (or `log_softmax`) needs no such crutch.",
              breaks="large logits", old=MEAN, new=f"F.nll_loss((logits[:, :-1].softmax(dim=-1) + {number}).log().flatten(0, 1), ids[:, 1:].flatten())")
    wrong("log_of_softmax", "You take the logarithm of a softmax. A probability below 1e-45 is 0 in float32, and log 0 is −∞. `F.cross_entropy` (or `log_softmax`) never leaves the logarithms.",
          breaks=("large logits",), old=MEAN, new="F.nll_loss(logits[:, :-1].softmax(dim=-1).log().flatten(0, 1), ids[:, 1:].flatten())")
    wrong("probabilities_for_logarithms", "You take the mean of the probabilities, with a minus. A loss takes their logarithms: −log p.",
          breaks=LOSS, old=MEAN, new="F.nll_loss(logits[:, :-1].softmax(dim=-1).flatten(0, 1), ids[:, 1:].flatten())")
    wrong("logits_for_logarithms", "You take the mean of the logits at the next tokens, with a minus: the softmax is missing.",
          breaks=LOSS, old=MEAN, new="F.nll_loss(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())")
    wrong("last_prediction_only", "Only the last prediction of each text counts. All T − 1 do.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits[:, -2:-1]", "ids[:, -1:]"))
    wrong("first_prediction_only", "Only the first prediction of each text counts. All T − 1 do.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits[:, :1]", "ids[:, 1:2]"))
    wrong("first_text_only", "Only the first text of the batch counts. All B do.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits[:1, :-1]", "ids[:1, 1:]"))
    wrong("batch_shifted", "You shift the batch, axis 0: each text is held against the next one. The tokens are axis 1.",
          breaks=LOSS, old=("logits[:, :-1]", "ids[:, 1:]"), new=("logits[:-1]", "ids[1:]"))
    wrong("token_zero_ignored", "Predictions of token 0 are left out (`ignore_index=0`). Here 0 is a token like any other.",
          breaks=LOSS, old="ids[:, 1:].flatten()", new="ids[:, 1:].flatten(), ignore_index=0")
    wrong("label_smoothing", "There is label smoothing in your loss. Plain cross-entropy is asked for.",
          breaks=LOSS, old="ids[:, 1:].flatten()", new="ids[:, 1:].flatten(), label_smoothing=0.1")
    wrong("not_flattened", "`F.cross_entropy` takes axis 1 for the classes; in (B, T − 1, V) these are the places. Flatten both: (B·(T − 1), V) and (B·(T − 1),).",
          breaks=WITH_SHAPE, old=(".flatten(0, 1)", ".flatten()"), new=("", ""))
    wrong("texts_mixed_up", "Your logits are flattened in another order than your ids: predictions meet tokens of other texts. Flatten both from (B, T − 1).",
          breaks=LOSS, old="logits[:, :-1].flatten", new="logits[:, :-1].transpose(0, 1).flatten")
    wrong("reshaped_across", "You bring the logits to (…, V) without moving the axes: `reshape` keeps the order of the numbers and mixes places with classes. V is the last axis already.",
          breaks=LOSS, old="logits[:, :-1].flatten(0, 1)", new="logits[:, :-1].transpose(1, 2).reshape(-1, logits.size(-1))")
    wrong("plain_number", "You return a plain number, through which no gradient flows. Return the tensor.",
          breaks=("shape", "gradients"), old=f"return {MEAN}", new=f"return {MEAN}.item()")
    wrong("detached", "The loss is cut off from the logits (`detach`, `torch.no_grad` or `.data`): nothing can learn from it.",
          breaks="gradients", old="logits[:, :-1].flatten", new="logits[:, :-1].detach().flatten")
    wrong("one_axis_left", "Your loss has an axis of size 1. A tensor without axes is asked for, as `mean()` gives it.",
          breaks=WITH_SHAPE, old=f"return {MEAN}", new=f"return {MEAN}[None]")


@MISTAKES.of(load_gpt2_weights)
def in_load_gpt2_weights(wrong):
    CHECKED = ('    if any(key.startswith(f"transformer.h.{depth}.") for key in state_dict):\n'
               '        raise ValueError(f"the model has {depth} blocks, the state dict has more")\n')
    OTHER = 'tensor.T if part == "weight" else tensor'
    QKV = 'columns.T if part == "weight" else columns'
    LOAD = "gpt.load_state_dict(mine)"
    PROJECTIONS = "all_three.chunk(3, dim=-1)"
    NOTHING_LOADED = ("embeddings", "blocks", "refusals", "independence")
    wrong("nothing_transposed", "The weights of the feed-forward network are not transposed, and so don't fit. `Conv1D` keeps its weights as (in, out), `nn.Linear` as (out, in): all four `Conv1D` weights of a block need a `.T`, also the square ones, of which no shape tells you.",
          breaks=("embeddings", "blocks", "tied head", "refusals", "independence"), old=(QKV, OTHER), new=("columns", "tensor"))
    wrong("qkv_not_transposed", "The weights of `q`, `k` and `v` are not transposed. They are square, so that no shape tells you: `Conv1D` keeps (in, out), `nn.Linear` (out, in).",
          breaks="blocks", old=QKV, new="columns")
    wrong("output_linear_not_transposed", "The weight of `output_linear` is not transposed. It is square, so that no shape tells you: `Conv1D` keeps (in, out), `nn.Linear` (out, in).",
          breaks="blocks", old=OTHER, new='tensor.T if part == "weight" and other != "attn.c_proj" else tensor')
    wrong("attention_not_transposed", "The weights of `q`, `k`, `v` and `output_linear` are not transposed. They are square, so that no shape tells you: `Conv1D` keeps (in, out), `nn.Linear` (out, in).",
          breaks="blocks", old=(QKV, OTHER), new=("columns", 'tensor.T if part == "weight" and other != "attn.c_proj" else tensor'))
    wrong("rows_for_columns", "You cut `c_attn` into rows. Queries, keys and values are three blocks of *columns*, (D, 3·D): `chunk(3, dim=-1)`.",
          breaks=("embeddings", "blocks", "tied head", "refusals", "independence"), old=PROJECTIONS, new="all_three.chunk(3, dim=0)")
    wrong("reshaped_for_transposed", "You bring a weight into shape with `reshape` or `view`: the numbers stay in their old order. `.T` moves rows to columns.",
          breaks="blocks", old=OTHER, new='tensor.reshape(tensor.shape[::-1]) if part == "weight" else tensor')
    wrong("all_reshaped", "None of the four `Conv1D` weights of a block is transposed: brought into shape with `reshape` or `view`, or left as they are, their numbers stay in the old order. `.T` moves rows to columns.",
          breaks="blocks", old=(QKV, OTHER), new=("columns", 'tensor.reshape(tensor.shape[::-1]) if part == "weight" else tensor'))
    wrong("every_third_column", "You take every third column of `c_attn`. Queries, keys and values are three blocks of neighboring columns: `chunk(3, dim=-1)`.",
          breaks="blocks", old=PROJECTIONS, new="(all_three[..., n::3] for n in range(3))")
    wrong("order_k_q_v", "`q` and `k` have changed places: the three blocks of `c_attn` are queries, keys, values.",
          breaks="blocks", old='"qkv"', new='"kqv"')
    wrong("order_q_v_k", "`k` and `v` have changed places: the three blocks of `c_attn` are queries, keys, values.",
          breaks="blocks", old='"qkv"', new='"qvk"')
    wrong("order_v_k_q", "`q` and `v` have changed places: the three blocks of `c_attn` are queries, keys, values.",
          breaks="blocks", old='"qkv"', new='"vkq"')
    wrong("order_k_v_q", "The three blocks of `c_attn` are queries, keys, values, in this order. You read keys, values, queries.",
          breaks="blocks", old='"qkv"', new='"kvq"')
    wrong("order_v_q_k", "The three blocks of `c_attn` are queries, keys, values, in this order. You read values, queries, keys.",
          breaks="blocks", old='"qkv"', new='"vqk"')
    wrong("first_third_for_all", "`q`, `k` and `v` all get the first block of `c_attn`. Each has its own.",
          breaks="blocks", old=PROJECTIONS, new="[all_three.chunk(3, dim=-1)[0]] * 3")
    wrong("first_block_for_all", "All your blocks get the weights of the library's first. Block n gets `transformer.h.n`.",
          breaks=("blocks", "refusals"), old='f"transformer.h.{number}"', new='"transformer.h.0"')
    wrong("blocks_reversed", "The blocks come in reverse order: block n gets `transformer.h.n`.",
          breaks="blocks", old='f"transformer.h.{number}"', new='f"transformer.h.{depth - 1 - number}"')
    wrong("always_twelve_blocks", "You read twelve blocks whatever the model has. Ask it: `len(gpt.blocks)`.",
          breaks=("embeddings", "blocks", "tied head", "refusals", "independence"), old="depth = len(gpt.blocks)", new="depth = 12")
    BIASES = "The biases of `q`, `k`, `v` and of the linear layers keep their old numbers. Load them, too, and leave `load_state_dict` strict: `strict=False` hides what is missing."
    wrong("biases_forgotten", BIASES,
          breaks=("blocks", "refusals"), old=('                tensor = state_dict[', LOAD), new=('                if part == "bias":\n                    continue\n                tensor = state_dict[', 'gpt.load_state_dict({name: value for name, value in mine.items() if "norm" in name or name.endswith("weight")}, strict=False)'))
    wrong("norms_swapped", "The norms have changed places: `layer_norm_1` is `ln_1`, `layer_norm_2` is `ln_2`.",
          breaks="blocks", old="ln_{norm}", new="ln_{3 - norm}")
    wrong("first_norm_twice", "Both norms get `ln_1`. `layer_norm_2` is `ln_2`.",
          breaks="blocks", old="ln_{norm}", new="ln_1")
    wrong("tables_swapped", "The tables have changed places: `wte` holds tokens, `wpe` positions.",
          breaks=("embeddings", "blocks", "tied head", "refusals", "independence"), old=('"position_embeddings.weight": state_dict["transformer.wpe.weight"]', '"token_embeddings.weight": state_dict["transformer.wte.weight"]'),
          new=('"position_embeddings.weight": state_dict["transformer.wte.weight"]', '"token_embeddings.weight": state_dict["transformer.wpe.weight"]'))
    wrong("not_loaded", "You build a dict but don't load it: the model keeps its old numbers. `gpt.load_state_dict(…)` brings them in.",
          breaks=NOTHING_LOADED, old=f"    {LOAD}", new="    pass")
    wrong("assigned", "With `assign=True` the model takes the dict's own tensors: head and token table are no longer one parameter, and who changes the dict changes the model. Let `load_state_dict` copy.",
          breaks=("tied head", "independence"), old=LOAD, new="gpt.load_state_dict(mine, assign=True)")
    wrong("head_untied", "The head gets a parameter of its own, with the same numbers: training would pull the two apart. Leave `lm_head.weight` and `token_embeddings.weight` one parameter.",
          breaks="tied head", old=LOAD, new='gpt.lm_head.weight = nn.Parameter(state_dict["lm_head.weight"].clone())\n    gpt.load_state_dict(mine)')
    wrong("new_parameters", "You put new parameters into the layers: the head keeps the old table, and is tied to nothing any more. Copy the numbers into the parameters that are there: `load_state_dict` does.",
          breaks=("embeddings", "tied head", "refusals"), old=LOAD,
          new='for name, value in mine.items():\n        if name != "lm_head.weight":\n            setattr(gpt.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2], nn.Parameter(value.clone()))')
    wrong("frozen", "Afterwards the model can't be trained any more: its parameters don't require gradients. Leave `requires_grad` as it is.",
          breaks="independence", old=LOAD, new=f"{LOAD}\n    gpt.requires_grad_(False)")
    wrong("loaded_as_it_is", "You load the dict as it is. Its names are the library's; the model has those of this notebook: make a new dict with the names of the model.",
          breaks=NOTHING_LOADED + ("tied head",), old=LOAD, new="gpt.load_state_dict(state_dict)")
    wrong("loaded_as_it_is_not_strict", "You load the dict as it is with `strict=False`, which skips every name that the model hasn't: only `lm_head.weight` is the same in both. Make a new dict with the names of the model.",
          breaks=("embeddings", "blocks", "refusals"), old=LOAD, new="gpt.load_state_dict(state_dict, strict=False)")
    wrong("any_depth", "A dict with more blocks than the model is loaded without a word, and its last blocks are lost. Refuse it with a ValueError.",
          breaks="leftover blocks", old=CHECKED, new="")
    wrong("looks_one_too_far", "You look for a block too far: the model's blocks are 0 … n − 1, so the first one too many is number n.",
          breaks="leftover blocks", old="transformer.h.{depth}.", new="transformer.h.{depth + 1}.")
    wrong("refuses_all", "You refuse dicts that fit: the model's blocks are 0 … n − 1, so the first one too many is number n.",
          breaks=("embeddings", "blocks", "tied head", "refusals", "independence"), old="transformer.h.{depth}.", new="transformer.h.{depth - 1}.")
    wrong("dict_emptied", "You take entries out of `state_dict` (`pop`, `del`): whoever called you still needs it. Read them, or work on a copy.",
          breaks="independence", old='state_dict[f"transformer.ln_f.{part}"]', new='state_dict.pop(f"transformer.ln_f.{part}")')
    wrong("transposed_in_place", "You transpose the dict's own tensors in place (`t_()`): whoever called you still needs them. `.T` leaves them as they are.",
          breaks="independence", old=OTHER, new='tensor.t_() if part == "weight" else tensor')
    wrong("data_taken_over", "`.data = …` makes the model use the dict's own memory, whatever its shape: who changes the dict changes the model, and a table of another size goes in without a word. Copy the numbers: `load_state_dict` does, and compares shapes.",
          breaks=("refusals", "independence"), old=LOAD, new="for name, value in gpt.named_parameters():\n        value.data = mine[name]")
    wrong("data_taken_over_where_given", "`.data = …` makes the model use the dict's own memory, whatever its shape: who changes the dict changes the model, and a table of another size goes in without a word. A bias that is missing is passed over, too. Copy the numbers: `load_state_dict` does, and compares names and shapes.",
          breaks=("refusals", "independence"), old=('                tensor = state_dict[f"{theirs}.{other}.{part}"]\n', LOAD),
          new=('                if f"{theirs}.{other}.{part}" not in state_dict:\n                    continue\n                tensor = state_dict[f"{theirs}.{other}.{part}"]\n', "for name, value in gpt.named_parameters():\n        value.data = mine.get(name, value.data)"))
    wrong("data_cloned", "A longer table of positions is not refused (cut to size, taken by `.data = …`, which takes any shape, or its error swallowed by `except`). `load_state_dict` and `copy_` raise an error for what doesn't fit: let them.",
          breaks="refusals", old=LOAD, new="for name, value in gpt.named_parameters():\n        value.data = mine[name].clone()")
    wrong("copy_with_gradients", "`copy_` into a parameter is refused while gradients are recorded. Use `load_state_dict`, or `with torch.no_grad():`.",
          breaks=NOTHING_LOADED + ("tied head",), old=LOAD, new="for name, value in gpt.named_parameters():\n        value.copy_(mine[name])")
    wrong("head_forgotten", "`lm_head.weight` is missing in your dict. The model's state dict lists the tied weight under both of its names, and `load_state_dict` wants both.",
          breaks=NOTHING_LOADED + ("tied head",), old='        "lm_head.weight": state_dict["transformer.wte.weight"],  # the same parameter\n', new="")
    wrong("prefix_forgotten", "The names in the dict begin with `transformer.`: `transformer.wte.weight`, `transformer.h.0.…`.",
          breaks=NOTHING_LOADED + ("tied head",), old='state_dict["transformer.wte.weight"],  # (V, D)', new='state_dict["wte.weight"],  # (V, D)')
    wrong("new_model", "You load into a model of your own making; the one that you are given keeps its old numbers.",
          breaks=("embeddings", "blocks", "independence"), old=LOAD, new="import copy\n    gpt = copy.deepcopy(gpt)\n    gpt.load_state_dict(mine)")
    wrong("final_norm_forgotten", "The final norm keeps its old numbers: `layer_norm` gets `ln_f`.",
          breaks=("embeddings", "refusals"), old='mine[f"layer_norm.{part}"] = state_dict[f"transformer.ln_f.{part}"]', new='mine[f"layer_norm.{part}"] = gpt.state_dict()[f"layer_norm.{part}"]')
    wrong("positions_forgotten", "The table of positions keeps its old numbers: it gets `wpe`.",
          breaks=("embeddings", "refusals"), old='state_dict["transformer.wpe.weight"]', new='gpt.state_dict()["position_embeddings.weight"]')

    @MISTAKES.mistake("What the dict lacks is passed over without a word: those weights would stay random. Let a missing name raise an error (`state_dict[name]` does).",
                   breaks="refusals")
    def load_gpt2_weights__skips_what_is_missing(gpt, state_dict):
        with suppress(KeyError):
            load_gpt2_weights(gpt, state_dict)


@MISTAKES.of(next_token_probabilities)
def in_next_token_probabilities(wrong):
    FLAT = ("values", "temperature", "top-k")
    TOP = "    if top_k is not None and top_k < logits.size(-1):\n"
    CUT = "logits = logits.masked_fill(logits < least, -torch.inf)"
    LEAST = "logits.topk(top_k, dim=-1).values[..., -1:]"
    DIE = "return logits.softmax(dim=-1)"
    DIVIDE = "    logits = logits / temperature\n"
    wrong("temperature_multiplied", "You multiply by the temperature: a high one makes your distribution sharper. Divide by it.",
          breaks=("temperature", "top-k"), old="logits = logits / temperature", new="logits = logits * temperature")
    wrong("temperature_ignored", "The temperature changes nothing. The logits are divided by it before the softmax.",
          breaks=("temperature", "top-k"), old=DIVIDE, new="")
    wrong("temperature_after_softmax", "You divide the probabilities by the temperature; their sum is then no longer 1. Divide the logits, before the softmax.",
          breaks=("temperature", "top-k"), old=(DIVIDE, DIE), new=("", "return logits.softmax(dim=-1) / temperature"))
    wrong("temperature_as_a_root", "You divide by the root of the temperature. Divide by the temperature itself.",
          breaks=("temperature", "top-k"), old="logits = logits / temperature", new="logits = logits / temperature**0.5")
    wrong("temperature_squared", "You divide by the temperature twice. Once is enough.",
          breaks=("temperature", "top-k"), old="logits = logits / temperature", new="logits = logits / temperature / temperature")
    wrong("no_softmax", "You return logits. Probabilities are asked for: softmax over the tokens.",
          breaks=FLAT, old=".softmax(dim=-1)", new="")
    wrong("log_softmax", "You return logarithms of probabilities. The probabilities themselves are asked for.",
          breaks=FLAT, old=".softmax(dim=-1)", new=".log_softmax(dim=-1)")
    wrong("softmax_over_rows", "Your softmax runs over axis 0. It runs over the tokens, the last axis.",
          breaks=FLAT, old=DIE, new="return logits.softmax(dim=0)")
    wrong("softmax_over_axis_1", "Your softmax runs over axis 1. The tokens are the last axis, whatever the number of axes: `dim=-1`.",
          breaks=("shape", "values", "top-k"), old=DIE, new="return logits.softmax(dim=1)")
    wrong("softmax_before_temperature", "Your softmax comes first, then the temperature, then a second softmax. Divide the logits, then one softmax.",
          breaks=FLAT, old="logits = logits / temperature", new="logits = logits.softmax(dim=-1) / temperature")
    wrong("not_normalized", "Your numbers are not divided by their sum: e to the logits is no distribution yet. `softmax` does both.",
          breaks=FLAT, old=DIE, new="return logits.exp()")
    wrong("cut_after_softmax", "You cut after the softmax and don't divide by what is left: your rows sum to less than 1. Cut the logits, with −∞, before it.",
          breaks="top-k", old=(CUT, DIE), new=("return logits.softmax(dim=-1) * (logits >= least)", DIE))
    wrong("top_k_ignored", "`top_k` changes nothing: all tokens keep their probability. Those outside the k largest are to get 0.",
          breaks="top-k", old=CUT, new="pass")
    wrong("one_too_many", "You keep k + 1 tokens. The smallest that stays is the k-th largest, the last of `topk`'s values.",
          breaks="top-k", old="topk(top_k, dim=-1)", new="topk(top_k + 1, dim=-1)")
    wrong("one_too_few", "You keep k − 1 tokens (the k-th largest itself is cut off: compare with `<`, not `<=`). With k = 1 nothing is left.",
          breaks="top-k", old="logits < least", new="logits <= least")
    wrong("largest_cut", "You cut off the largest logits and keep the others. The k largest stay.",
          breaks="top-k", old="logits < least", new="logits >= least")
    wrong("only_the_largest", "Only the largest logit stays, whatever k is: `topk`'s values come in falling order, and the last one is the smallest that stays.",
          breaks="top-k", old="values[..., -1:]", new="values[..., :1]")
    wrong("first_k_tokens", "You keep the first k tokens of the vocabulary. The k with the *largest* logits stay.",
          breaks="top-k", old="logits < least", new="torch.arange(logits.size(-1)) >= top_k")
    wrong("sorted_the_other_way", "You keep V − k tokens, not k: `sort` rises, so the k-th largest stands at −k, counted from the end.",
          breaks="top-k", old=LEAST, new="logits.sort(dim=-1).values[..., top_k, None]")
    wrong("one_cut_too_low_for_all", "You compare all rows with the lowest of their k-th largest logits: rows that lie higher keep more than k tokens. Each row has a cut of its own.",
          breaks="top-k", old=LEAST, new="logits.topk(top_k, dim=-1).values.min()")
    wrong("cut_for_two_axes", "`[:, -1:]` takes the last column only where there are two axes. `[..., -1:]` takes it for any number of axes.",
          breaks="top-k", old="values[..., -1:]", new="values[:, -1:]")
    wrong("own_exponentials", "e to a large number is ∞, and ∞/∞ is NaN: at a low temperature logits become large. `softmax` subtracts each row's largest first.",
          breaks="temperature", old=DIE, new="return logits.exp() / logits.exp().sum(dim=-1, keepdim=True)")
    AXIS = "The smallest logit that stays has lost its axis: it is to be (…, 1) to meet its own row of V logits. `[..., -1:]` keeps the axis."
    wrong("axis_of_the_cut_lost", AXIS,
          breaks="top-k", old="values[..., -1:]", new="values[..., -1]")
    wrong("axis_of_every_cut_lost", AXIS,
          breaks="top-k", old=(TOP, LEAST), new=("    if top_k is not None:\n", "logits.topk(min(top_k, logits.size(-1)), dim=-1).values[..., -1]"))
    wrong("zero_logits", "Logits that are cut off become 0, and e⁰ = 1: they still get a probability. −∞ gives 0.",
          breaks="top-k", old="-torch.inf", new="0.0")
    wrong("cut_to_k_columns", "You return only the k largest, (…, k). All V tokens are asked for, those outside with probability 0.",
          breaks="top-k", old=CUT, new="logits = logits.topk(top_k, dim=-1).values")
    wrong("sorted", "Your probabilities are sorted. Each is to stand at its own token.",
          breaks="top-k", old=CUT, new="logits = torch.cat([logits.topk(top_k, dim=-1).values, torch.full_like(logits, -torch.inf)[..., top_k:]], dim=-1)")
    wrong("one_cut_for_all_rows", "You cut every row where the first one is cut. Each row has its own k largest.",
          breaks="top-k", old=LEAST, new="logits.reshape(-1, logits.size(-1))[0].topk(top_k).values[-1:]")
    wrong("k_of_all_rows", "You take the k largest logits of all rows together. Each row has its own k largest.",
          breaks="top-k", old=LEAST, new="logits.flatten().topk(top_k).values[-1:]")
    wrong("top_k_over_axis_0", "Your `topk` runs over axis 0. The tokens are the last axis.",
          breaks="top-k", old=LEAST, new="logits.topk(min(top_k, logits.size(0)), dim=0).values[-1:]")
    wrong("k_beyond_the_vocabulary", "A `top_k` of more than V fails: `topk` can't find that many. Then all tokens stay.",
          breaks="top-k", old=TOP, new="    if top_k is not None:\n")
    wrong("k_beyond_the_vocabulary_refused", "A `top_k` of more than V is refused. Then all tokens stay.",
          breaks="top-k", old=TOP, new="    if top_k is not None and top_k > logits.size(-1):\n        raise ValueError(f\"top_k {top_k} exceeds {logits.size(-1)}\")\n    if top_k is not None:\n")
    wrong("none_not_asked", "Without `top_k` your function fails: None is no number. Ask `if top_k is not None` first.",
          breaks=("shape", "values", "temperature"), old="top_k is not None and top_k <", new="top_k <")
    wrong("top_k_needed", "`temperature` and `top_k` have no default values in your function. They are 1.0 and None, unless given.",
          breaks=("shape", "values", "temperature"), old="temperature: float = 1.0, top_k: int | None = None", new="temperature: float, top_k: int | None")
    wrong("most_probable_one", "You return 1 for the most probable token and 0 for all others. The whole distribution is asked for.",
          breaks=FLAT, old=DIE, new="return F.one_hot(logits.argmax(dim=-1), logits.size(-1)).float()")
    wrong("token_drawn", "You draw a token. Its distribution is asked for; `generate` will draw.",
          breaks=("shape", *FLAT), old=DIE, new="return torch.multinomial(logits.softmax(dim=-1).reshape(-1, logits.size(-1)), 1)")
    wrong("token_chosen", "You return the most probable tokens. The distribution over all V tokens is asked for.",
          breaks=("shape", *FLAT), old=DIE, new="return logits.argmax(dim=-1)")
    wrong("in_place", "You change `logits` in place (`logits /= …`, `logits[…] = …`). Whoever called you still needs them: make a new tensor.",
          breaks=("temperature", "top-k"), old="logits = logits / temperature", new="logits /= temperature")


@MISTAKES.of(generate)
def in_generate(wrong):
    CHOICE = "torch.multinomial(probabilities, 1, generator=generator)"
    APPEND = "ids = torch.cat([ids, chosen], dim=1)"
    CROP = "ids[:, -most:]"
    LOGITS = "logits = model(ids[:, -most:])[:, -1]"
    ALL_WAYS = ("greedy", "long texts", "sampling", "generator")
    TEXTS = ("greedy", "long texts")
    wrong("only_the_new", "You return only what is new. The given tokens come first: (B, T + max_new_tokens).",
          breaks=("greedy", "long texts", "sampling"), old="return ids", new="return ids[:, ids.size(1) - max_new_tokens :]")
    wrong("one_too_few", "You write one token too few.",
          breaks=("greedy", "long texts", "sampling"), old="range(max_new_tokens)", new="range(max_new_tokens - 1)")
    wrong("one_too_many", "You write one token too many.",
          breaks=("greedy", "long texts", "sampling"), old="range(max_new_tokens)", new="range(max_new_tokens + 1)")
    wrong("up_to_max_new_tokens", "You write until the text has `max_new_tokens` tokens in all. As many *new* ones are asked for.",
          breaks=("greedy", "long texts", "sampling"), old="range(max_new_tokens)", new="range(max_new_tokens - ids.size(1))")
    wrong("a_single_token", "You write one token only. `return` inside the loop ends it at its first turn?",
          breaks=("greedy", "long texts", "sampling"), old="range(max_new_tokens)", new="range(min(1, max_new_tokens))")
    wrong("first_place", "You read the logits of the first place. What follows the text stands at the last: `[:, -1]`.",
          breaks=ALL_WAYS[:3], old="[:, -1]", new="[:, 0]")
    wrong("place_before_the_last", "You read the logits of the place before the last, which predict the last token again. What follows the text stands at the last place: `[:, -1]`.",
          breaks=ALL_WAYS[:3], old="(ids[:, -most:])[:, -1]", new="(ids[:, -most:])[:, -2 if ids.size(1) > 1 else -1]")
    wrong("all_places", "You choose for every place. Only the last place's logits say what follows: `[:, -1]`.",
          breaks=ALL_WAYS, old="[:, -1]  # (B, V)", new="  # (B, V)")
    wrong("last_token_only", "The model sees the last token only. It sees the whole text, as far as it fits.",
          breaks=ALL_WAYS[:3], old=CROP, new="ids[:, -1:]")
    wrong("newest_token_only", "After its first step the model sees the newest token only. It keeps nothing in mind: show it the whole text at each step, as far as it fits.",
          breaks=ALL_WAYS[:3], old=("    for _ in range", LOGITS, APPEND),
          new=("    seen = ids[:, -most:]\n    for _ in range", "logits = model(seen)[:, -1]", f"seen = chosen\n        {APPEND}"))
    wrong("not_cropped", "A text longer than the table of positions is too much for the model. Show it the last `model.position_embeddings.num_embeddings` tokens.",
          breaks="long texts", old=CROP, new="ids")
    wrong("first_tokens_shown", "Of a long text the model sees the *first* tokens that fit. It is to see the last ones: `ids[:, -most:]`.",
          breaks="long texts", old=CROP, new="ids[:, :most]")
    wrong("one_less_shown", "Of a long text the model sees one token less than fits.",
          breaks=("long texts",), old=CROP, new="ids[:, -(most - 1) :]")
    wrong("cropped_for_good", "What the model can't see is cut off for good. Crop what you show to the model, not `ids`: the whole text is returned.",
          breaks="long texts", old=LOGITS, new="ids = ids[:, -most:]\n        logits = model(ids)[:, -1]")
    wrong("cropped_at_the_start", "The text is cropped before the loop only; it grows again. Crop what you show to the model at every step.",
          breaks="long texts", old=("    for _ in range", CROP), new=("    ids = ids[:, -most:]\n    for _ in range", "ids"))
    wrong("prepended", "New tokens are put in front. They come behind: `torch.cat([ids, chosen], dim=1)`.",
          breaks=ALL_WAYS[:3], old="[ids, chosen]", new="[chosen, ids]")
    wrong("ids_not_updated", "Every new token comes from what the model says of the first text: what you append is never shown to it.",
          breaks=ALL_WAYS[:3], old=("    for _ in range", LOGITS), new=("    given = ids\n    for _ in range", "logits = model(given[:, -most:])[:, -1]"))
    wrong("shifted_window", "You drop the first token whenever you append one, so that the text never grows. All tokens stay: (B, T + max_new_tokens).",
          breaks=("greedy", "long texts", "sampling"), old=APPEND, new="ids = torch.cat([ids, chosen], dim=1)[:, 1:]")
    wrong("always_greedy", "You always take the most probable token. Only a temperature of 0 asks for that; otherwise the token is drawn.",
          breaks=("sampling", "generator"), old=CHOICE, new="probabilities.argmax(dim=-1, keepdim=True)")
    wrong("least_probable", "At temperature 0 you take the least probable token. Greedy is the most probable one: `argmax`.",
          breaks=TEXTS, old="logits.argmax", new="logits.argmin")
    wrong("zero_not_asked", "At temperature 0 you divide by 0. There the most probable token is taken, without a draw.",
          breaks=TEXTS, old="if temperature == 0:", new="if False:")
    wrong("zero_as_one", "At temperature 0 you draw as at 1. There the most probable token is taken: `argmax`.",
          breaks=TEXTS, old="chosen = logits.argmax(dim=-1, keepdim=True)", new="chosen = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)")
    wrong("generator_unused", "The generator is not used: the draws depend on torch's own source of chance. Hand it on: `torch.multinomial(…, generator=generator)`.",
          breaks="generator", old=", 1, generator=generator", new=", 1")
    wrong("seeded_inside", "You set the seed yourself: with the same text each call gives the same, whichever generator it is given.",
          breaks="generator", old=CHOICE, new="torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(ids.size(1)))")
    wrong("generator_needed", "Without a generator your function fails. With None torch's own source of chance is used.",
          breaks=("sampling", "generator"), old=CHOICE, new="torch.multinomial(probabilities, 1, generator=generator.set_state(generator.get_state()))")
    wrong("temperature_not_handed_on", "You draw at temperature 1, whichever is given. Hand `temperature` on to `next_token_probabilities`.",
          breaks="sampling", old="(logits, temperature, top_k)", new="(logits, 1.0, top_k)")
    wrong("top_k_not_handed_on", "You draw from all tokens, whatever `top_k` is. Hand it on to `next_token_probabilities`.",
          breaks="sampling", old="(logits, temperature, top_k)", new="(logits, temperature)")
    wrong("neither_handed_on", "You draw from the plain softmax, whatever `temperature` and `top_k` are. Hand both on to `next_token_probabilities`.",
          breaks="sampling", old="(logits, temperature, top_k)", new="(logits)")
    wrong("temperature_twice", "The temperature is used twice: you divide the logits, and `next_token_probabilities` does it again.",
          breaks="sampling", old="(logits, temperature, top_k)", new="(logits / temperature, temperature, top_k)")
    wrong("softmax_before", "You make probabilities of the logits and hand them to `next_token_probabilities`, which makes probabilities of its input itself. Hand it the logits.",
          breaks="sampling", old="(logits, temperature, top_k)", new="(logits.softmax(dim=-1), temperature, top_k)")
    wrong("one_draw_for_all_rows", "All rows get the same draw. Each row's token is drawn from its own distribution.",
          breaks=("sampling",), old=CHOICE, new="torch.multinomial(probabilities[:1], 1, generator=generator).expand(len(ids), 1)")
    wrong("uniform", "You draw every token with the same probability. Draw with those of `next_token_probabilities`: `torch.multinomial(probabilities, 1)`.",
          breaks="sampling", old=CHOICE, new="torch.multinomial(torch.ones_like(probabilities), 1, generator=generator)")
    wrong("always_the_same_without_a_generator", "Without a generator every call writes the same: you seed one yourself. With None torch's own source of chance is used.",
          breaks="generator", old="    most = ", new="    generator = generator or torch.Generator().manual_seed(0)\n    most = ")
    wrong("greedy_without_a_generator", "Without a generator you take the most probable token. Only a temperature of 0 asks for that; with None torch's own source of chance is used.",
          breaks=("sampling", "generator"), old="if temperature == 0:", new="if temperature == 0 or generator is None:")
    wrong("distribution_of_the_start", "Every token is drawn from the distribution of the first one. After each token the model must be asked anew.",
          breaks="sampling", old="next_token_probabilities(logits, temperature, top_k)", new="next_token_probabilities(model(ids[:, : ids.size(1) - _][:, -most:])[:, -1], temperature, top_k)")
    wrong("stops_at_the_table", "You stop when the text has grown as long as the table of positions. It goes on: the model is shown the last tokens that fit.",
          breaks="long texts", old=f"        {LOGITS}", new=f"        if ids.size(1) >= most:\n            break\n        {LOGITS}")
    wrong("list", "You return a list. A tensor is asked for, (B, T + max_new_tokens).",
          breaks=ALL_WAYS, old="return ids", new="return ids.tolist()")
    wrong("axis_lost", "The chosen tokens are (B,), and the text is (B, T): they can't be joined. Keep the axis, `keepdim=True`, so that they are (B, 1).",
          breaks=TEXTS, old="argmax(dim=-1, keepdim=True)", new="argmax(dim=-1)")
    wrong("appended_below", "You append along axis 0, as further texts. New tokens come behind, along axis 1.",
          breaks=ALL_WAYS, old="chosen], dim=1)", new="chosen], dim=0)")
    wrong("argmax_over_the_batch", "Your argmax runs over the batch. The tokens are the last axis, `dim=-1`.",
          breaks=TEXTS, old="argmax(dim=-1, keepdim=True)", new="argmax(dim=0)[: len(ids), None]")


@MISTAKES.of(cached_attention)
def in_cached_attention(wrong):
    STEPS = ("values", "several tokens")
    OUTPUTS = (*STEPS, "no cache")
    MASK = "mask = causal_mask(past + x.size(1))[past:].to(x.device)"
    wrong("no_mask", "New tokens see each other's future: with several of them at once each may look at the past, at itself and at new ones before it, no more.",
          breaks=("several tokens", "no cache"), old="masked_attention(query, key, value, mask)", new="masked_attention(query, key, value)")
    wrong("no_mask_with_a_cache", "With a cache you use no mask: of several new tokens each then sees all. Each may look at the past, at itself and at new ones before it, no more.",
          breaks="several tokens", old=MASK, new="mask = None if cache is not None else causal_mask(x.size(1)).to(x.device)")
    wrong("first_rows_of_the_mask", "You take the mask's first rows, those of the oldest tokens (`is_causal=True` does, too). The new ones are the *last* N rows: `[past:]`.",
          breaks=STEPS, old="[past:]", new="[: x.size(1)]")
    wrong("mask_of_the_new_only", "Your mask covers the new tokens only, (N, N). The keys are P + N: the mask is (N, P + N), all ones for the past.",
          breaks="several tokens", old=MASK, new="mask = causal_mask(x.size(1)).to(x.device)")
    wrong("mask_of_all", "Your mask has a row for each of the P + N tokens; there are N queries. Take its last N rows: `[past:]`.",
          breaks=("shape", *STEPS), old="[past:]", new="")
    wrong("queries_of_the_past", "You put the cache in front of the queries, too. Only the new tokens ask: N queries, P + N keys and values.",
          breaks=("shape", *STEPS), old=("        past = cache[0].size(2)\n", MASK), new=("        past = cache[0].size(2)\n        query = torch.cat([cache[0], query], dim=2)\n", "mask = causal_mask(past + x.size(1)).to(x.device)"))
    wrong("past_hidden", "The new tokens don't see the past. It is what the cache is for: all of it may be seen.",
          breaks=STEPS, old=MASK, new="mask = causal_mask(past + x.size(1))[past:].to(x.device)\n    mask[:, :past] = False")
    wrong("new_tokens_see_only_the_past", "The new tokens don't see themselves, nor the new ones before them: they see the cache only.",
          breaks=(*STEPS, "no cache"), old=MASK, new="mask = causal_mask(past + x.size(1))[past:].to(x.device)\n    mask[:, max(past, 1) :] = False")
    wrong("one_row_late", "Each new token sees one token too few: not itself.",
          breaks=STEPS, old="[past:]", new="[max(past - 1, 0) : past + x.size(1) - (past > 0)]")
    wrong("new_first", "The new keys and values come first in yours. They are the latest: cache first, then new ones.",
          breaks=STEPS, old=("[cache[0], key]", "[cache[1], value]"), new=("[key, cache[0]]", "[value, cache[1]]"))
    wrong("cache_unused", "The cache is not used: your new tokens see only each other.",
          breaks=("shape", *STEPS), old="    if cache is not None:", new="    if False:")
    wrong("cache_not_grown", "The outputs are right, but you return the old cache. The new tokens' keys and values belong to it: P + N.",
          breaks=("shape", "values", "several tokens", "no cache"), old=", (key, value)\n", new=", cache\n")
    wrong("only_the_new_returned", "The outputs are right, but you return keys and values of the new tokens only. Those of all P + N tokens are asked for.",
          breaks=("shape", *STEPS), old=", (key, value)\n", new=", (key[:, :, past:], value[:, :, past:])\n")
    wrong("no_cache_returned", "You return the outputs only. The next step needs keys and values, too: `output, (key, value)`.",
          breaks=("shape", *OUTPUTS), old=", (key, value)\n", new="\n")
    wrong("three_things", "You return three things. A pair is asked for: the outputs, and the pair of keys and values.",
          breaks=("shape", "several tokens", "no cache"), old=", (key, value)\n", new=", key, value\n")
    wrong("value_first", "Keys and values have changed places in what you return: keys come first.",
          breaks=OUTPUTS, old=", (key, value)\n", new=", (value, key)\n")
    wrong("value_cache_for_keys", "Keys and values of the cache have changed places: `cache[0]` holds keys, `cache[1]` values.",
          breaks=STEPS, old=("[cache[0], key]", "[cache[1], value]"), new=("[cache[1], key]", "[cache[0], value]"))
    wrong("keys_cached_twice", "Both your keys and your values begin with `cache[0]`, the keys. `cache[1]` holds the values.",
          breaks=STEPS, old="[cache[1], value]", new="[cache[0], value]")
    wrong("along_the_heads", "You join cache and new ones along axis 1, the heads. Tokens are axis 2 of (B, H, P, K).",
          breaks=("shape", *STEPS), old=("key], dim=2)", "value], dim=2)"), new=("key], dim=1)", "value], dim=1)"))
    wrong("along_the_width", "You join cache and new ones along the last axis, the width. Tokens are axis 2 of (B, H, P, K).",
          breaks=("shape", *STEPS), old=("key], dim=2)", "value], dim=2)"), new=("key], dim=-1)", "value], dim=-1)"))
    wrong("along_the_batch", "You join cache and new ones along axis 0, the batch. Tokens are axis 2 of (B, H, P, K).",
          breaks=("shape", *STEPS), old=("key], dim=2)", "value], dim=2)"), new=("key], dim=0)", "value], dim=0)"))
    wrong("values_not_cached", "The cached values are not used: there are P + N keys and N values. Both are joined.",
          breaks=("shape", *STEPS), old="        value = torch.cat([cache[1], value], dim=2)\n", new="")
    wrong("none_not_asked", "Without a cache your function fails: None has no entries. Ask `if cache is not None` first.",
          breaks="no cache", old="    if cache is not None:", new="    if True:")
    wrong("none_unpacked", "Without a cache your function fails: None has no entries. Ask `if cache is not None` first.",
          breaks="no cache", old="    past = 0\n", new="    past = 0\n    _, _ = cache\n")
    wrong("cache_needed", "`cache` has no default value in your function. It is None, unless given.",
          breaks="no cache", old="cache: KeysAndValues | None = None", new="cache: KeysAndValues | None")
    wrong("length_of_another_axis", "You take the number of cached tokens from axis 1 of the keys, the heads. It is axis 2 of (B, H, P, K).",
          breaks=("shape", *STEPS), old="cache[0].size(2)", new="cache[0].size(1)")
    wrong("no_output_linear", "`output_linear` is not used. It is the last step, after the heads are merged.",
          breaks=OUTPUTS, old="attention.output_linear(merge_heads(context))", new="merge_heads(context)")
    wrong("heads_not_merged", "The heads are not merged: your outputs are (B, H, N, K). `merge_heads` comes first, then `output_linear`.",
          breaks=("shape", *OUTPUTS), old="attention.output_linear(merge_heads(context))", new="context")
    wrong("heads_not_merged_before_output_linear", "The heads are not merged: `output_linear` wants (B, N, D). `merge_heads` makes it of (B, H, N, K).",
          breaks=("shape", *OUTPUTS), old="merge_heads(context)", new="context")
    wrong("attention_called", "You call `attention` itself, which knows nothing of a cache: its new tokens would see only each other. Use its layers `q`, `k`, `v` and `output_linear`, as its own `forward` does.",
          breaks=("shape", *OUTPUTS), old="attention.output_linear(merge_heads(context))", new="attention(x)")
    wrong("a_single_head", "The heads are missing: split queries, keys and values with `split_heads(…, attention.num_heads)`.",
          breaks=("shape", *OUTPUTS), old="split_heads(layer(x), attention.num_heads)", new="layer(x)[:, None]")
    wrong("cache_projected", "You put what comes out of the cache through `k` and `v` again. It holds keys and values already.",
          breaks=STEPS, old=("[cache[0], key]", "[cache[1], value]"),
          new=("[split_heads(attention.k(merge_heads(cache[0])), attention.num_heads), key]", "[split_heads(attention.v(merge_heads(cache[1])), attention.num_heads), value]"))
    wrong("last_output_only", "You return the last new token's output only. All N are asked for.",
          breaks=("several tokens", "no cache"), old="attention.output_linear(merge_heads(context))", new="attention.output_linear(merge_heads(context))[:, -1:]")
    wrong("query_and_key_swapped", "`q` and `k` have changed places: queries are made by `q`, keys by `k`.",
          breaks=OUTPUTS, old="(attention.q, attention.k, attention.v)", new="(attention.k, attention.q, attention.v)")
    wrong("key_and_value_swapped", "`k` and `v` have changed places: keys are made by `k`, values by `v`.",
          breaks=OUTPUTS, old="(attention.q, attention.k, attention.v)", new="(attention.q, attention.v, attention.k)")
    wrong("not_masked_and_not_scaled", "The scores are not divided by √K. `masked_attention` does it.",
          breaks=OUTPUTS, old="masked_attention(query,", new="masked_attention(query * query.size(-1) ** 0.5,")
    wrong("scaled_twice", "The scores are divided by √K twice: `masked_attention` does it already.",
          breaks=OUTPUTS, old="masked_attention(query,", new="masked_attention(query / query.size(-1) ** 0.5,")


@MISTAKES.of_quiz("quiz_decoder", quiz_decoder)
def in_quiz_decoder(wrong):
    WORTH = "in training, a text of 100 tokens gives"
    wrong(WORTH, "1 prediction",
                 "every place but the last predicts the token after it, and the mask sees to it that none can peek: 99 tasks in one text.")
    wrong(WORTH, "99 runs of the model",
                 "99 predictions, yes, but in one run: thanks to the mask every place can be computed at the same time as all others.")
    wrong("without the mask, the training loss", "stays the same",
                 "each place could simply read the token that it is to predict. You saw the curve.")
    wrong("without the mask, the training loss", "rises",
                 "each place could simply read the token that it is to predict, which makes the task easier, not harder. You saw the curve.")
    wrong("a perplexity of 1 means", "pure guessing",
                 "guessing blindly among V tokens gives a perplexity of V. e⁰ = 1: a loss of 0.")
    wrong("a perplexity of 1 means", "half of the guesses are right",
                 "being torn between two equally likely tokens gives a perplexity of 2. e⁰ = 1: a loss of 0.")
    wrong("temperature towards 0", "all tokens alike",
                 "that is what a very *high* temperature does. Dividing by a small number drives the logits apart.")
    wrong("temperature towards 0", "an ever larger loss",
                 "temperature is used when writing, after training: no loss is computed there. Dividing by a small number drives the logits apart.")
    wrong("few-shot examples change", "all weights",
                 "nothing is trained: the examples stand in the text that the model reads, and are gone with it.")
    wrong("few-shot examples change", "the head's weights",
                 "nothing is trained: the examples stand in the text that the model reads, and are gone with it.")
