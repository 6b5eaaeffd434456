"""Wrong answers to the exercises of 09-causal-mask."""

from __future__ import annotations

from anatomy.misconceptions import Mistakes, misconception, mistakes_in, wrong_option
from anatomy.reference.causal_mask import (
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

# fmt: off
# A mistake is two or three lines: its name and sentence, what it breaks, what it replaces by what.


def in_every_class(wrong: Mistakes, breaks: tuple[str, ...]) -> None:
    """What goes wrong at the start of any class."""
    wrong("init_misspelled", "Your class can't be made with `config`: its constructor is called `__init__`, with two underscores on each side, and takes `self` and `config`.",
          breaks=breaks, old="def __init__(", new="def _init_(")
    wrong("no_super", "`super().__init__()` comes first in `__init__`: before it PyTorch can't keep track of layers and parameters.",
          breaks=breaks, old="super().__init__()\n", new="pass\n")


# ---- causal_mask ----
wrong = mistakes_in(causal_mask)
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

# ---- masked_attention ----
wrong = mistakes_in(masked_attention)
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
wrong("after_softmax_renormalized", "You mask after the softmax and divide by what is left. That is right on paper; but where hidden scores are by far the largest, nothing is left, and 0/0 is NaN. Mask the scores with −∞ before the softmax.",
      breaks="large scores", old=END,
      new="        weights = scores.softmax(dim=-1).masked_fill(mask == 0, 0.0)\n        return weights / weights.sum(dim=-1, keepdim=True) @ value\n    return scores.softmax(dim=-1) @ value")
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
      breaks=ALWAYS, old=" @ value", new=" @ key")
wrong("with_weights", "You return two things. Only the mixture is asked for, (…, T, K).",
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

# ---- future_leak ----
wrong = mistakes_in(future_leak)
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
wrong("table_instead", "You differentiate with respect to the token table's rows. A token that occurs twice has one row there: gradients of different places are added, and in this model a row is also part of the head. Take the vectors that the table gives, one for each place.",
      breaks=LEAK, old=("output.detach().requires_grad_()", GRADIENT), new=("output", "torch.autograd.grad(outputs[:, t].sum(), model.token_embeddings.weight, retain_graph=True)[0][ids].norm(dim=-1)"))
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
      breaks="model unchanged", old="    vectors = []\n", new="    vectors = []\n    model.requires_grad_(False)\n")
