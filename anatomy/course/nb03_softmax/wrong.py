"""Wrong answers to the exercises of 03-softmax."""

from __future__ import annotations

from anatomy.course.nb03_softmax import right
from anatomy.engine.families import squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

NUMBERS = ("values", "large scores", "gradients")
EVERYTHING = ("shape", "values", "large scores", "gradients")


OVERFLOW = "the exponentials of large scores overflow: exp(89) is already ∞ in float32, and ∞/∞ is NaN. Use your `softmax`, which subtracts each row's largest score first."
ONE_FOR_ALL = "It cancels on paper, but a query whose scores all lie 200 below it gets exp(−200) = 0 everywhere, and 0/0 is NaN. Each query needs its own largest score: `scores.amax(dim=-1, keepdim=True)`."


def own_softmax(at: MistakesIn, whole: str, part: str, root: str, breaks: tuple[str, ...]) -> None:
    """What goes wrong in a softmax of attention's own: `part` makes the weights in `whole`, which is returned."""
    shares = whole.replace(part, "exponentials / exponentials.sum(dim=-1, keepdim=True)")
    for name, exponentials, sentence in (
        ("overflows", "scores.exp()", f"T{OVERFLOW[1:]}"),
        ("one_maximum_for_all", "(scores - scores.max()).exp()", f"You subtract one number everywhere, such as the largest of all scores of all sentences. {ONE_FOR_ALL}"),
        ("one_maximum_per_sentence", "(scores - scores.amax(dim=(-2, -1), keepdim=True)).exp()", f"You subtract one number for all queries of a sentence, such as its largest score. {ONE_FOR_ALL}"),
    ):
        at(f"return {whole}", "large scores", (name, f"scores = scaled_scores(query, key)\n    exponentials = {exponentials}\n    return {shares}", sentence))
    at(f"return {whole}", breaks, ("overflows_unscaled", f"exponentials = (query @ key.transpose(-2, -1)).exp()\n    return {shares}", f"The division by {root} is missing. And {OVERFLOW}"))


@MISTAKES.of(right.softmax)
def in_softmax(at):
    LARGEST = "x.amax(dim=dim, keepdim=True)  # the largest entry of each slice is now 0"
    SHIFT = """shifted = x - x.amax(dim=dim, keepdim=True)  # the largest entry of each slice is now 0
    exponentials = shifted.exp()  # between 0 and 1"""
    at(SHIFT, "large scores",
       ("overflows", "exponentials = x.exp()", "The exponentials of large scores overflow: exp(89) is already ∞ in float32, and ∞/∞ is NaN. Subtract each slice's largest entry first; it cancels in the fraction."),
       ("exp_of_the_maximum_alone", "exponentials = x - x.amax(dim=dim, keepdim=True).exp()", "Only the maximum goes through `exp` in yours: `x - x.amax(…).exp()` is x minus e to the maximum. Put the difference in parentheses: `(x - x.amax(…)).exp()`.", NUMBERS),
       ("no_exponential", "exponentials = x - x.amax(dim=dim, keepdim=True)", "The exponential is missing: you share out the shifted scores themselves. A softmax shares out e to each score.", NUMBERS),
       ("no_exponential_above_the_least", "exponentials = x - x.amin(dim=dim, keepdim=True)", "The exponential is missing: you share out the shifted scores themselves. A softmax shares out e to each score.", NUMBERS),
       ("subtracts_mean", "exponentials = (x - x.mean(dim=dim, keepdim=True)).exp()", "You subtract the mean of each slice, or another number in its middle. It cancels as the maximum would, but what lies far above it still overflows; only the maximum guarantees that no exponent is above zero."),
       ("subtracts_min", "exponentials = (x - x.amin(dim=dim, keepdim=True)).exp()", "You subtract the smallest entry of each slice: the exponents now run from zero upwards, and exp overflows. Subtract the largest one, so that all are at most zero.", NUMBERS),
       ("clamps", "exponentials = x.clamp(min=-80, max=80).exp()", "You clamp the scores so that exp can't overflow. All scores beyond the limit become equal, and with them their weights. Subtracting each slice's largest entry keeps the differences, which is all that softmax looks at."),
       ("clamps_above", "exponentials = x.clamp(max=80).exp()", "You clamp the scores above so that exp can't overflow. All scores beyond the limit become equal, and with them their weights; and where all lie far below 0, every exp(x) is 0 in float32, and 0/0 is NaN. Subtracting each slice's largest entry mends both."),
       ("divides_by_max", "exponentials = (x / x.abs().amax(dim=dim, keepdim=True)).exp()", "You divide the scores by the largest one (in absolute value). That does prevent the overflow, but it changes the differences between scores, and so the weights. Subtract the largest instead: a subtraction cancels, a division doesn't.", NUMBERS),
       ("reversed", "exponentials = (x.amin(dim=dim, keepdim=True) - x).exp()  # between 0 and 1", "Your smallest score gets the largest weight: the scores enter with a minus sign. Wanted is exp(x − max).", NUMBERS),
       ("max_after_exp", "exponentials = x.exp() - x.amax(dim=dim, keepdim=True)", "You subtract the maximum after the exponential, where it no longer cancels and no longer prevents an overflow. The scores must be shifted: exp(x − max).", NUMBERS))
    at(LARGEST, "large scores",
       ("place_of_the_largest", "x.argmax(dim=dim, keepdim=True)  # where it stands", "You subtract the place of each slice's largest entry (`indices`, `argmax`), a small whole number, and not the entry itself: `x.amax(…)`, or `.values`."),
       ("global_max", "x.max()", "You subtract one number from several slices, such as the largest entry of all. It cancels on paper, but a slice that lies 200 below it becomes exp(−200) = 0 everywhere, and 0/0 is NaN. Each slice needs its own largest entry."),
       ("largest_absolute", "x.abs().amax(dim=dim, keepdim=True)", "You subtract the largest absolute value: a slice around −150 is pushed down to −300, where every exponential is 0, and 0/0 is NaN. Subtract the largest value, with its sign."),
       ("shifted_if_large", "(x.amax(dim=dim, keepdim=True) if x.max() > 80 else 0)", "Your largest entry is subtracted only where it is large, or positive. All entries of a slice may lie around −150: then every exp(x) is 0 in float32, and 0/0 is NaN. Subtract it always."),
       ("shifted_where_positive", "x.amax(dim=dim, keepdim=True).clamp(min=0)", "Your largest entry is subtracted only where it is large, or positive. All entries of a slice may lie around −150: then every exp(x) is 0 in float32, and 0/0 is NaN. Subtract it always."),
       ("max_along_last", "x.amax(dim=-1, keepdim=True)", "Your maximum always runs along the last axis. It cancels only if all entries that are summed together lose the same number: take it along the axis of the sum, `dim`.", NUMBERS),
       ("max_without_keepdim", "x.amax(dim=dim)", "Your maximum loses the axis that it runs along (no `keepdim=True`). Broadcasting then lines it up with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree.", EVERYTHING))
    RESCALE = "When a larger one comes, all that came before is still relative to the old one: multiply it by exp(old − new)."
    at("x.amax(dim=dim, keepdim=True)", NUMBERS, ("running_maximum", "torch.cummax(x, dim=dim).values", f"Each of your exponentials is relative to the largest score so far. {RESCALE}"))
    at(("shifted.exp()", "exponentials.sum"), NUMBERS, ("running_shares_not_rescaled", ("(x - torch.cummax(x, dim=dim).values).exp()", "shifted.exp().sum"), f"Each exponential above the line of your fraction is relative to the largest score so far, and those in the sum to the largest of all. {RESCALE}"))
    at((SHIFT, "exponentials / exponentials.sum(dim=dim, keepdim=True)"), NUMBERS, ("running_sum_not_rescaled", ("total = (x - torch.cummax(x, dim=dim).values).exp().sum(dim=dim, keepdim=True)\n    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()", "exponentials / total"), "Each exponential in your sum is relative to the largest score so far. When a larger one comes, what was summed before is still relative to the old one: multiply it by exp(old − new)."))
    at((SHIFT, "exponentials / exponentials.sum(dim=dim, keepdim=True)"), "gradients", ("one_over_differences", ("x = x.movedim(dim, -1)", "(1 / (x.unsqueeze(-2) - x.unsqueeze(-1)).exp().sum(dim=-1)).movedim(-1, dim)"), "The exponential of a difference of two scores is ∞ where they lie 89 apart. 1/∞ is the right 0, but its gradient is 0 · ∞, which is NaN. With m the slice's largest entry, exp(z − m) / Σ exp(z − m) has no such term."))
    at((SHIFT, "exponentials / exponentials.sum(dim=dim, keepdim=True)"), "large scores", ("patches_nan", ("exponentials = x.exp()", "(exponentials / exponentials.sum(dim=dim, keepdim=True)).nan_to_num(0.0)"), "You replace NaN by zero after the overflow. The tensor looks clean, but the largest score, which should get nearly all the weight, now gets none. Prevent the overflow: subtract each slice's largest entry before the exponential."))
    at("dim=dim", NUMBERS,
       ("ignores_dim", "dim=-1", "Your softmax always runs along the last axis and ignores `dim`. Hand `dim` on to the maximum and to the sum."),
       ("along_0", "dim=0", "Your softmax always runs along axis 0 and ignores `dim`. Hand `dim` on to the maximum and to the sum."),
       ("along_1", "dim=1", "Your softmax always runs along axis 1 and ignores `dim`. Hand `dim` on to the maximum and to the sum.", EVERYTHING), times=2)
    at(".sum(dim=dim, keepdim=True)", NUMBERS,
       ("sums_over_everything", ".sum()", "You divide by the sum over the whole tensor, so all entries together sum to one. Each slice must sum to one by itself: sum along its axis only, with `keepdim=True`."),
       ("sum_without_keepdim", ".sum(dim=dim)", "Your sum loses the axis that it runs along (no `keepdim=True`). Broadcasting then lines it up with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree.", EVERYTHING),
       ("detached_sum", ".sum(dim=dim, keepdim=True).detach()", "Your sum is a constant to the gradient (detached, or made under `torch.no_grad`). Raising one score lowers the others' weights, and that happens through the sum.", "gradients"))
    at("exponentials / exponentials.sum(dim=dim, keepdim=True)", "gradients", ("divides_in_place", "exponentials.div_(exponentials.sum(dim=dim, keepdim=True))", "No gradient can be computed. Does something take the numbers out of PyTorch (`.numpy()`), or change the exponentials in place (`/=`, `div_`, `mul_`)? A gradient needs them as they were: make a new tensor, `e / …`."))
    at(("x.amax(dim=dim, keepdim=True)", "exponentials.sum(dim=dim, keepdim=True)"), "gradients", ("detached_sum_and_maximum", ("x.amax(dim=dim, keepdim=True).detach()", "exponentials.sum(dim=dim, keepdim=True).detach()"), "Your sum is a constant to the gradient (made under `torch.no_grad`, or detached). Raising one score lowers the others' weights, and that happens through the sum. Only the maximum may be a constant."))
    RESTS = "others = [axis for axis in range(x.dim()) if axis != dim % x.dim()]\n    "
    for name, first, order, breaks in (("front", "0", "[dim % x.dim(), *others]", EVERYTHING), ("end", "-1", "[*others, dim % x.dim()]", ("shape", "values", "gradients"))):
        at(("shifted = x - x.amax(dim=dim", "exponentials / exponentials.sum(dim=dim, keepdim=True)"), breaks, (f"permuted_to_the_{name}_and_again", (f"{RESTS}order = {order}\n    x = x.permute(order)\n    shifted = x - x.amax(dim={first}", f"(exponentials / exponentials.sum(dim={first}, keepdim=True)).permute(order)"), f"You bring the axis of the sum to the {name}, and then move the axes in the same way once more (`permute` by the same order does that). That restores them only where two change places. Move them back by the inverse order, or leave the axes in place (`keepdim=True`)."))
    for name, place, first, there, back, breaks in (
        ("moved_to_the_end_and_swapped_back", "end", "-1", "movedim(dim, -1)", "transpose(dim, -1)", ("shape", "values", "gradients")),
        ("moved_to_the_front_and_swapped_back", "front", "0", "movedim(dim, 0)", "transpose(0, dim)", EVERYTHING),
        ("swapped_with_the_last_and_moved_back", "end", "-1", "transpose(dim, -1)", "movedim(-1, dim)", ("shape", "values", "gradients")),
        ("swapped_with_the_first_and_moved_back", "front", "0", "transpose(dim, 0)", "movedim(0, dim)", EVERYTHING),
    ):
        at(("shifted = x - x.amax(dim=dim", "exponentials / exponentials.sum(dim=dim, keepdim=True)"), breaks, (name, (f"x = x.{there}\n    shifted = x - x.amax(dim={first}", f"(exponentials / exponentials.sum(dim={first}, keepdim=True)).{back}"), f"You bring the axis of the sum to the {place}, but your way back is not the way there: one swaps two axes (`transpose`), the other moves one past all others (`movedim`). They agree only where the two are neighbors. Take the same one both ways."))
    for name, there, first, swapped in (
        ("moved_to_the_end_and_reshaped", "movedim(dim, -1)", "-1", "end"),
        ("swapped_with_the_last_and_reshaped", "transpose(dim, -1)", "-1", "end"),
        ("moved_to_the_front_and_reshaped", "movedim(dim, 0)", "0", "front"),
    ):
        at(("shifted = x - x.amax(dim=dim", "exponentials / exponentials.sum(dim=dim, keepdim=True)"), NUMBERS, (name, (f"shape, x = x.shape, x.{there}\n    shifted = x - x.amax(dim={first}", f"(exponentials / exponentials.sum(dim={first}, keepdim=True)).reshape(shape)"), f"You bring the axis of the sum to the {swapped} and then `reshape` (or `view`) to the shape of `x`. That keeps the numbers in their order and moves no axis back. Take the way back that you came: `movedim`, or `transpose`."))
    CUT = ".reshape(*x.shape[:dim], 1, *x.shape[dim + 1 :])"
    at(("x.amax(dim=dim, keepdim=True)", ".sum(dim=dim, keepdim=True)"), EVERYTHING, ("shape_put_together", (f"x.amax(dim=dim){CUT}", f".sum(dim=dim){CUT}"), "You put the kept shape together yourself, with `x.shape[dim + 1:]`. For `dim` = −1 that is `x.shape[0:]`, the whole shape once more. `keepdim=True` keeps the axis in its place for every `dim`."))
    at(", keepdim=True", EVERYTHING, ("without_keepdim", "", "Your maximum and your sum lose the axis that they run along (no `keepdim=True`). Broadcasting then lines them up with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree."), times=2)
    at("shifted.exp()", NUMBERS,
       ("base_two", "2.0**shifted", "You raise 2 to the scores; softmax raises e ≈ 2.718 to them. Yours is a softmax at temperature 1/ln 2 ≈ 1.44, flatter than the one wanted."),
       ("detached", "shifted.detach().exp()", "No gradient passes: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it. Only the maximum may be detached, because it cancels.", "gradients"),
       ("exp_of_one_number", "math.exp(shifted)", "`math.exp` takes one number, as `float` does. For a whole tensor it is `torch.exp(…)` or `.exp()`.", EVERYTHING))
    at("return exponentials / exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("twice", "weights = exponentials / exponentials.sum(dim=dim, keepdim=True)\n    return weights.exp() / weights.exp().sum(dim=dim, keepdim=True)", "You normalize twice: your weights went through a second softmax, which evens them out. Once is enough."))
    at("exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("adds_eps", "(exponentials.sum(dim=dim, keepdim=True) + 1e-3)", "You add a small constant (0.001) to the sum, so your weights sum to a little less than one. None is needed: once the maximum is subtracted one term is exp(0) = 1, and the sum can't be zero."))
    at("return exponentials / exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("without_exp", "return x / x.sum(dim=dim, keepdim=True)", "You divide the scores by their sum, without the exponential. Scores may be negative, so such shares may be too, and the sum may be zero: take the exponential first."))
    at(" / exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("not_normalized", "", "You return the exponentials of the shifted scores without dividing by their sum: the largest entry of each slice is 1, where the whole slice should sum to 1."))
    at("exponentials / exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("logarithm", "shifted - exponentials.sum(dim=dim, keepdim=True).log()", "You return the logarithm of the softmax: all your numbers are at most zero. Take the exponential of what you return."))
    at("return exponentials / exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("sigmoid", "return 1 / (1 + (-x).exp())", "Yours is a sigmoid: each entry lies between 0 and 1 by itself, but a slice doesn't sum to 1. Softmax lets the entries of a slice compete: divide by the sum of their exponentials."))
    at("return exponentials / exponentials.sum(dim=dim, keepdim=True)", NUMBERS, ("hard_maximum", "return (x == x.amax(dim=dim, keepdim=True)).float()", "You put 1 at the largest score and 0 elsewhere: a hard maximum. Softmax gives every entry a share, in proportion to its exponential, and lets gradients flow to all of them."))
    SUM = ".sum(dim=dim, keepdim=True)"
    at(SUM, NUMBERS,
       ("sum_along_last", ".sum(dim=-1, keepdim=True)", "Your sum runs along the last axis, whatever `dim` says: it is always the last axis that sums to one. Sum along `dim`."),
       ("sum_along_0", ".sum(dim=0, keepdim=True)", "Your sum always runs along axis 0, as Python's own `sum` does. Sum along the axis whose entries compete: `.sum(dim=…, keepdim=True)`."),
       ("sum_along_1", ".sum(dim=1, keepdim=True)", "Your sum always runs along axis 1. Sum along the axis whose entries compete: `.sum(dim=…, keepdim=True)`.", EVERYTHING),
       ("mean_for_sum", ".mean(dim=dim, keepdim=True)", "You divide by the mean of the exponentials, not by their sum: each slice sums to the number of its entries, where it should sum to 1."))
    at((SHIFT, SUM), NUMBERS,
       ("overflows_along_last", ("exponentials = x.exp()", ".sum(dim=-1, keepdim=True)"), "Your softmax always runs along the last axis, whatever `dim` says. (And it overflows for large scores: subtract each slice's largest entry before the exponential.)"),
       ("overflows_along_0", ("exponentials = x.exp()", ".sum(dim=0, keepdim=True)"), "Your sum always runs along axis 0, as Python's own `sum` does. Sum along the axis whose entries compete: `.sum(dim=…, keepdim=True)`. (And your exponentials overflow for large scores: subtract each slice's largest entry first.)"),
       ("overflows_along_1", ("exponentials = x.exp()", ".sum(dim=1, keepdim=True)"), "Your sum always runs along axis 1. Sum along the axis whose entries compete: `.sum(dim=…, keepdim=True)`. (And it overflows for large scores: subtract each slice's largest entry before the exponential.)", EVERYTHING),
       ("by_largest", ("exponentials = x.exp()", ".amax(dim=dim, keepdim=True)"), "You divide by the largest exponential of each slice, so the largest entry is 1. Divide by the sum, so that the slice sums to 1."))
    at("exponentials.sum(", NUMBERS,
       ("by_sum_of_shifted", "shifted.sum(", "You divide by the sum of the shifted scores themselves. What is above the line has to be summed below it: the exponentials."),
       ("by_sum_of_scores", "x.sum(", "You divide by the sum of the scores themselves. What is above the line has to be summed below it: the exponentials."))
    at((SHIFT, "exponentials / exponentials.sum(dim=dim, keepdim=True)"), NUMBERS, ("not_normalized_unshifted", ("exponentials = x.exp()", "exponentials"), "You return the exponentials of the scores and never divide by their sum: a slice should sum to 1. (And subtract each slice's largest entry first, or they overflow.)"))
    at("x - x.amax(dim=dim, keepdim=True)", NUMBERS, ("reversed_from_max", "x.amax(dim=dim, keepdim=True) - x", "Your smallest score gets the largest weight: the scores enter with a minus sign. Wanted is exp(x − max)."))
    at("x - x.amax", "large scores", ("adds_max", "x + x.amax", "You add the maximum where you should subtract it. It still cancels on paper, but exp now overflows, or gives 0 everywhere in a slice far below zero."))
    at(", keepdim=True)", EVERYTHING, ("axis_put_at_the_end", ").unsqueeze(-1)", "You put the axis that the maximum has lost back at the end (as `unsqueeze(-1)` does), which is its position only if `dim` is the last axis. `keepdim=True` leaves it where it was."), times=2)
    at(("shifted = x - x.amax(dim=dim", SUM), EVERYTHING,
       ("left_at_the_end", ("x = x.transpose(dim, -1)\n    shifted = x - x.amax(dim=-1", ".sum(dim=-1, keepdim=True)"), "You swap the axis `dim` with the last one, and it stays there. Swap them back before you return."),
       ("moved_to_the_end", ("x = x.movedim(dim, -1)\n    shifted = x - x.amax(dim=-1", ".sum(dim=-1, keepdim=True)"), "You move the axis `dim` to the end, and it stays there. Move it back before you return."))
    at("x.amax(", EVERYTHING, ("max_with_places", "x.max(", "`x.max(dim)` returns two things, the largest values and where they are, and a pair can't be subtracted. Take `.values`, or use `amax`."))
    at(("shifted = x - x.amax(dim=dim, keepdim=True)", "exponentials / exponentials.sum(dim=dim, keepdim=True)"), NUMBERS, ("item_by_item", ("x, shape = x.reshape(x.size(0), -1), x.shape\n    shifted = x - x.amax(dim=1, keepdim=True)", "(exponentials / exponentials.sum(dim=1, keepdim=True)).view(shape)"), "Each item along the first axis is normalized as a whole, whatever `dim` says (a loop over `x` does that). Each slice along `dim` must sum to one."))
    at(("shifted = x - x.amax(dim=dim, keepdim=True)", "exponentials / exponentials.sum(dim=dim, keepdim=True)"), NUMBERS, ("rows_as_they_are_read", ("x, shape = x.reshape(-1, x.size(dim)), x.shape\n    shifted = x - x.amax(dim=1, keepdim=True)", "(exponentials / exponentials.sum(dim=1, keepdim=True)).view(shape)"), "You cut the tensor into rows of `x.size(dim)` entries in the order in which they are read (`reshape` or `view`). Such a row is a slice along `dim` only if `dim` is the last axis. Leave the axes as they are: `dim=dim, keepdim=True`."))
    @MISTAKES.mistake("A negative `dim` stops yours with an error. Do you compare `dim` with the numbers of the axes, which begin at 0? −1 is none of them: `dim % x.dim()` is the same axis, counted from the front.", breaks=EVERYTHING)
    def softmax__permuted_by_a_negative_number(x, dim):
        order = [axis for axis in range(x.dim()) if axis != dim] + [dim]
        rows = x.permute(order)
        exponentials = (rows - rows.amax(dim=-1, keepdim=True)).exp()
        weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
        return weights.permute([order.index(axis) for axis in range(x.dim())])
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")

@MISTAKES.of(right.attention_weights)
def in_attention_weights(at):
    WEIGHTS = ("rows sum to one", "values", "large scores", "gradients")
    at("dim=-1", WEIGHTS,
       ("over_queries", "dim=-2", "Your softmax runs over the queries: each key's weights sum to one over the queries. Each query's must, over the keys."),
       ("over_batch", "dim=0", "Your softmax runs over the batch: sentences compete for weight. Each query's weights must sum to one over the keys."))
    at("return softmax(scaled_scores(query, key), dim=-1)", WEIGHTS,
       ("over_everything", "scores = scaled_scores(query, key)\n    return softmax(scores.flatten(), dim=0).view_as(scores)", "You normalize over the whole tensor: all weights of the batch together sum to one. Each query's row must sum to one by itself."),
       ("over_queries_and_keys", "scores = scaled_scores(query, key)\n    return softmax(scores.flatten(1), dim=1).view_as(scores)", "You normalize over queries and keys together: each sentence's T·S weights sum to one. Each query's row must sum to one by itself."),
       ("without_exp", "scores = scaled_scores(query, key)\n    return scores / scores.sum(dim=-1, keepdim=True)", "You divide the scores by their row sum, without the exponential. Scores may be negative, so such weights may be too, and the sum may be zero."),
       ("hides_the_future", "scores = scaled_scores(query, key)\n    future = torch.ones_like(scores, dtype=torch.bool).triu(1)\n    return softmax(scores.masked_fill(future, -torch.inf), dim=-1)", "You hide the keys that come later (a causal mask). A decoder does that, in notebook 09; here every query may look at every key.", NUMBERS),
       ("not_normalized", "scores = scaled_scores(query, key)\n    return (scores - scores.amax(dim=-1, keepdim=True)).exp()", "You return the exponentials of the scores (less each row's largest) and never divide by their sum: each row should sum to one."))
    own_softmax(at, "softmax(scaled_scores(query, key), dim=-1)", "softmax(scaled_scores(query, key), dim=-1)", "√D", NUMBERS)
    at("scaled_scores(query, key)", NUMBERS,
       ("unscaled", "query @ key.transpose(-2, -1)", "You leave the scores unscaled. Divide them by √D (here √{D} = {root_D}) before the softmax, or use `scaled_scores`."),
       ("by_d", "scaled_scores(query, key) / math.sqrt(query.size(-1))", "You divide the scores by D = {D} in all, not by √D = {root_D}: the weights come out too even. (If you call `scaled_scores`, it has divided by √D already.)"),
       ("by_root_t", "query @ key.transpose(-2, -1) / math.sqrt(query.size(-2))", "You divide the scores by √T (the number of queries), not by √D (their width). With T = D you would not have noticed; here T = {T} and D = {D}."),
       ("by_root_s", "query @ key.transpose(-2, -1) / math.sqrt(key.size(-2))", "You divide the scores by √S (the number of keys), not by √D (their width). With S = D you would not have noticed; here S = {S} and D = {D}."),
       ("times_root_d", "query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))", "You multiply the scores by √D; they must be divided by it. Yours are {D} times too large, and the softmax saturates."),
       ("softmax_twice", "softmax(scaled_scores(query, key), dim=-1)", "You apply softmax twice, which evens the weights out. Once is enough."),
       ("cosine", "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)", "Your scores are cosines (queries and keys of length 1): they lie between −1 and 1, so that no weight is sharp. Attention uses the dot product as it is, divided by √D: long vectors may speak louder."))
    at("dim=-1)", WEIGHTS,
       ("scaled_again_after", "dim=-1) / math.sqrt(query.size(-1))", "You divide by √D twice: the scores, and then the weights. Leave the weights as they are; yours sum to 1/√D = 1/{root_D} in each row, not to one."),
       ("detached", "dim=-1).detach()", "No gradient reaches query and key: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it, and the model could never learn where to look.", "gradients"))
    at("scaled_scores(query, key), dim=-1)", WEIGHTS, ("scaled_after", "query @ key.transpose(-2, -1), dim=-1) / math.sqrt(query.size(-1))", "You divide by √D after the softmax. The scores must be scaled before it; afterwards the rows sum to 1/√D = 1/{root_D}, and the softmax is too sure by then."))
    at("softmax(scaled_scores(query, key), dim=-1)", WEIGHTS,
       ("softmax_before_the_scores", "scaled_scores(softmax(query, dim=-1), softmax(key, dim=-1))", "You take the softmax of queries and keys. The scores come first; then each query's scores go through the softmax, over the keys."),
       ("scores", "scaled_scores(query, key)", "You return the scaled scores. The softmax that turns them into weights is missing."),
       ("sigmoid", "torch.sigmoid(scaled_scores(query, key))", "You apply a sigmoid: every pair gets a weight between 0 and 1 by itself. The keys must compete for each query's attention, so that its row sums to one: that is softmax."),
       ("hard_maximum", "F.one_hot(scaled_scores(query, key).argmax(dim=-1), key.size(-2)).float()", "You give all the weight to the best key: a hard maximum. Softmax gives every key a share, and lets gradients flow to all of them.", NUMBERS),
       ("only_exponentials", "scaled_scores(query, key).exp()", "You return the exponentials of the scores and never divide by their sum: each row should sum to one."))
    at("return softmax", WEIGHTS, ("logarithms", "return torch.log_softmax", "You return the logarithms of the weights (a log-softmax): they are at most zero. The weights themselves are needed."))
    at("dim=-1)  # (B, T, S)", ("shape", *WEIGHTS),
       ("transposed", "dim=-1).transpose(-2, -1)  # (B, S, T)", "Your weights are transposed: `weights[b, s, t]`, keys down and queries across. One row per query is needed, (B, T, S)."),
       ("first_sentence_only", "dim=-1)[0]", "You return the first sentence's weights alone, (T, S). Every sentence of the batch must have its own, (B, T, S).", ("shape", "values", "large scores", "gradients")))
    at("(query, key), dim=-1)  # (B, T, S)", EVERYTHING, ("roles_swapped", "(key, query), dim=-1)  # (B, S, T)", "Query and key have changed places: you compute KQᵀ, so it is the keys that ask and the queries that answer. One row per query is needed: QKᵀ."))
    at("(query, key), dim=-1)", NUMBERS, ("first_of_batch", "(query[0], key[0]), dim=-1).expand(query.size(0), -1, -1)", "Every sentence gets the weights of the first one: somewhere you take only item 0 of the batch."))
    at("scaled_scores(query, key)", NUMBERS,
       ("reversed_axes", "query @ key.T / math.sqrt(query.size(-1))", "All three axes of your keys are reversed, (D, S, B), as by `key.T`. Only the last two must change places: `key.transpose(-2, -1)`, or `key.mT`.", ("shape", *WEIGHTS)),
       ("keys_not_turned_unscaled", "query @ key", "You multiply (B, T, D) by (B, S, D) as they are, where D meets S. Turn the keys, `key.transpose(-2, -1)`, and divide by √D; or use `scaled_scores`.", ("shape", *WEIGHTS)),
       ("keys_not_turned", "query @ key / math.sqrt(query.size(-1))", "You multiply (B, T, D) by (B, S, D) as they are, where D meets S. Turn the keys: `query @ key.transpose(-2, -1)`, or use `scaled_scores`.", ("shape", *WEIGHTS)),
       ("keys_reshaped", "query @ key.reshape(key.size(0), key.size(2), key.size(1)) / math.sqrt(query.size(-1))", "You `reshape` (or `view`) the keys to the shape of their transpose: that keeps the numbers in their order and does not turn them. `transpose(-2, -1)` swaps the two axes."),
       ("by_8", "query @ key.transpose(-2, -1) / 8", "You divide by 8. That is √64, right for the heads of BERT base and for no other width; here it is √{D} = {root_D}."),
       ("by_root_32", "query @ key.transpose(-2, -1) / math.sqrt(32)", "You divide by √32, right for the checkpoint's heads and for no other width; here it is √{D} = {root_D}."),
       ("by_root_b", "query @ key.transpose(-2, -1) / math.sqrt(query.size(0))", "You divide by √B (the number of sentences), not by √D, the width (here B = {B} and D = {D})."),
       ("cosine_and_scaled", "scaled_scores(F.normalize(query, dim=-1), F.normalize(key, dim=-1))", "Your scores are cosines (queries and keys of length 1), divided by √D as well. Attention uses the dot product as it is, divided by √D = {root_D}."))
    at("(query, key)", ("shape", *NUMBERS), ("queries_only", "(query, query)", "You compare the queries with queries: `key` never enters. The scores are QKᵀ."))
    squeezed(at, ("shape", "values", "gradients"), "is (B, T, S), also for one sentence or one query")


@MISTAKES.of(right.weighted_values)
def in_weighted_values(at):
    MIXTURE = "weights @ value  # (B, T, S) @ (B, S, Dv) -> (B, T, Dv)"
    VALUES = ("values", "gradients")
    SHAPE = ("shape", "values", "gradients")
    at(MIXTURE, SHAPE,
       ("transposed", "weights.transpose(-2, -1) @ value  # (B, S, T) @ (B, S, Dv)", "You multiply by the transposed weights: each key hands its value out to queries, where each query should collect the values of the keys. That runs only where T equals S; row t of the weights belongs to query t."),
       ("not_summed", "weights.unsqueeze(-1) * value.unsqueeze(-3)  # (B, T, S, Dv)", "You multiply each value by its weight, but don't add them up: your result still has the axis of the keys. Sum over it."),
       ("elementwise", "weights * value", "You multiply entry by entry (`*`), which pairs weight [t, s] with value [s, d] by position. Each query's weights must be combined with all value rows: a matrix product (`@`)."),
       ("largest_share", "(weights.unsqueeze(-1) * value.unsqueeze(-3)).amax(dim=-2)  # (B, T, Dv)", "You take the largest of the weighted values in each column. Add them up: a mixture has something of all.", VALUES),
       ("plain_mean", "value.mean(dim=-2, keepdim=True).expand(-1, weights.size(-2), -1)  # (B, T, Dv)", "You ignore the weights: every query gets the plain mean of all values. Multiply each value by its weight before adding.", VALUES),
       ("plain_sum", "value.sum(dim=-2, keepdim=True).expand(-1, weights.size(-2), -1)  # (B, T, Dv)", "You ignore the weights: every query gets the plain sum of all values. Multiply each value by its weight before adding.", VALUES),
       ("forgets_values", "weights", "You return the weights: the values never enter. Each query's row of weights is a recipe; the value rows are what it mixes."),
       ("first_of_batch", "weights @ value[0]  # (B, T, S) @ (S, Dv) -> (B, T, Dv)", "Every sentence is mixed from the values of the first one: somewhere you take only item 0 of the batch.", VALUES),
       ("values_transposed", "weights @ value.transpose(-2, -1)  # (B, T, S) @ (B, Dv, S)", "You transpose the values, so weights meet the value's width where they should meet the keys. (B, T, S) times (B, S, Dv): the two S already are next to each other."),
       ("first_sentence_only", "weights[0] @ value[0]  # (T, S) @ (S, Dv) -> (T, Dv)", "You return the first sentence's mixtures alone, (T, Dv). Every sentence of the batch must have its own, (B, T, Dv)."),
       ("result_transposed", "(weights @ value).transpose(-2, -1)  # (B, Dv, T)", "Your result is transposed, (B, Dv, T). One row per query is needed, (B, T, Dv). (VᵀWᵀ is (WV)ᵀ.)"),
       ("values_on_the_left", "value @ weights", "The values are on the left of your product. Each query's row of weights must meet the values' columns: `weights @ value`."),
       ("last_key_only", "weights[..., -1:] @ value[..., -1:, :]", "Only the last key's share is left. In a loop, each round adds to what the rounds before it have found; `=` overwrites it.", VALUES),
       ("first_key_only", "weights[..., :1] @ value[..., :1, :]", "Only the first key's share is there; all keys' shares must be added. (A `return` inside a loop ends it in its first round.)", VALUES),
       ("last_key_gets_the_rest", "weights[..., :-1] @ value[..., :-1, :] + (1 - weights[..., :-1].sum(dim=-1, keepdim=True)) @ value[..., -1:, :]", "The last key gets what the others leave of 1. Rows need not sum to 1: give it its own weight, as it comes.", VALUES),
       ("summed_over_queries", "weights.sum(dim=-2).unsqueeze(-1) * value  # (B, S, Dv)", "You sum over the queries, so your result has a row per key, (B, S, Dv). Sum over the keys: one row per query is needed."),
       ("summed_over_width", "weights * value.sum(dim=-1).unsqueeze(-2)  # (B, T, S)", "You sum over the value's width, so your result is (B, T, S). Sum over the keys: (B, T, Dv) is needed."),
       ("all_queries_in_one", "(weights @ value).sum(dim=1)", "You add up the queries' mixtures: one row per sentence is left, (B, Dv). One row per query is needed."),
       ("values_of_all_sentences", 'torch.einsum("bts,csd->btd", weights, value)', "Every query meets the values of *all* sentences, added up. Each sentence has its own: weights and values must share their batch axis (in an einsum, the same letter `b`).", VALUES))
    at("weights @ value", VALUES,
       ("last_key_left_out", "weights[..., :-1] @ value[..., :-1, :]", "The last key is left out. (`range(n)` ends at n − 1 by itself.)"),
       ("first_key_left_out", "weights[..., 1:] @ value[..., 1:, :]", "The first key is left out. (Counting begins at 0.)"),
       ("divides_by_s", "weights @ value / value.size(-2)", "You divide by S, the number of keys: a mean where a sum is needed. The weights are shares already; with S = {S} your result is {S} times too small."),
       ("renormalizes_but_empty_rows", "weights @ value / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)", "You divide by the sum of the weights. Where rows sum to one it changes nothing, but weights that were dropped on purpose must stay missing: use the weights as they come."),
       ("renormalizes", "weights @ value / weights.sum(dim=-1, keepdim=True)", "You divide by the sum of the weights. Where rows sum to one it changes nothing, but weights that were dropped on purpose must stay missing: use the weights as they come."))
    at("weights @ value", SHAPE,
       ("renormalizes_without_keepdim", "weights / weights.sum(dim=-1) @ value", "You divide the weights by the sums of their rows, and these sums have lost their last axis: they line up with the keys, not with the queries. Leave the division out: weights are used as they come."),
       ("softmax_and_transposed", "softmax(weights, dim=-1).transpose(-2, -1) @ value", "You pass the weights through a softmax again, and you transpose them. Use them as they come, with a row for each query: `weights @ value`."),
       ("mean_over_queries", "weights.mean(dim=-2).unsqueeze(-1) * value  # (B, S, Dv)", "You take the mean over the queries, so your result has a row per key, (B, S, Dv). Sum over the keys: one row per query is needed."))
    at("weights @", VALUES,
       ("picks_largest", "F.one_hot(weights.argmax(dim=-1), weights.size(-1)).float() @", "You pick the value with the largest weight and drop all others. A weighted sum mixes in every value by its share."),
       ("softmax_again", "softmax(weights, dim=-1) @", "You pass the weights through a softmax again, which evens them out. They are weights already: use them as they come."),
       ("weights_detached", "weights.detach() @", "No gradient reaches the weights (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it): values learn what to say, and queries and keys never learn where to look.", "gradients"))
    at("@ value", "gradients", ("values_detached", "@ value.detach()", "No gradient reaches the values (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it), and the model could never learn what to say."))
    squeezed(at, SHAPE, "is (B, T, Dv), also for one sentence or one query")


@MISTAKES.of(right.scaled_dot_product_attention)
def in_scaled_dot_product_attention(at):
    ATTENTION = ("values", "leading axes", "large scores", "gradients")
    MIXED = "weighted_values(attention_weights(query, key), value)"
    at("attention_weights(query, key)", ATTENTION,
       ("over_queries", "softmax(scaled_scores(query, key), dim=-2)", "Your softmax runs over the queries: each key's weights sum to one over the queries. Each query's must, over the keys."),
       ("over_batch", "softmax(scaled_scores(query, key), dim=0)", "Your softmax runs over the first axis, the batch: sentences compete for weight. Each query's weights must sum to one over the keys."),
       ("softmax_along_1", "softmax(scaled_scores(query, key), dim=1)", "Your softmax runs along axis 1, counted from the front: the queries where there are three axes, the heads where there are four. Each query's weights must sum to one over the keys."),
       ("unscaled", "softmax(query @ key.transpose(-2, -1), dim=-1)", "“Scaled” is missing: divide the scores by √K (here √{K} = {root_K}) before the softmax."),
       ("by_k", "softmax(query @ key.transpose(-2, -1) / query.size(-1), dim=-1)", "You divide the scores by K = {K}, not by √K = {root_K}: the weights come out too even."),
       ("by_twice_k", "softmax(query @ key.transpose(-2, -1) / (2 * query.size(-1)), dim=-1)", "You divide the scores by 2·K, twice the width; it is √K. (Python reads `/ K ** 1 / 2` as `/ (K ** 1) / 2`: the root is `K ** 0.5`.)"),
       ("by_root_of_value_width", "softmax(query @ key.transpose(-2, -1) / math.sqrt(value.size(-1)), dim=-1)", "You take the root of the wrong width: √Dv, the values' (Dv = {Dv}). The scores are sums over the width of queries and keys, so it is √K with K = {K}."),
       ("by_root_t", "softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-2)), dim=-1)", "You divide the scores by √T (the number of queries), not by √K (their width). With T = K you would not have noticed; here T = {T} and K = {K}."),
       ("by_root_s", "softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-2)), dim=-1)", "You divide the scores by √S (the number of keys), not by √K (their width). With S = K you would not have noticed; here S = {S} and K = {K}."),
       ("forgets_softmax", "scaled_scores(query, key)", "The softmax is missing: you mix the values with raw scores, which may be negative and need not sum to one."),
       ("axes_from_the_front", "softmax(query @ key.transpose(1, 2) / math.sqrt(query.size(2)), dim=2)", "You number the axes from the front (`transpose(1, 2)`), which fits three axes only. Counted from the back, −2 and −1 are right for any number of leading axes.", "leading axes"),
       ("softmax_along_2", "softmax(scaled_scores(query, key), dim=2)", "The softmax, here or in an `attention_weights` that you call, runs along axis 2. That is the axis of the keys only if there is exactly one axis in front of (T, S). Count from the back: −1.", "leading axes"),
       ("axes_from_the_front_over_queries", "softmax(query @ key.transpose(1, 2) / math.sqrt(query.size(2)), dim=1)", "You number the axes from the front (`transpose(1, 2)`), which fits three axes only. And your softmax runs along axis 1, the queries; each query's weights must sum to one over the keys. Counted from the back, −2 and −1 are right for any number of leading axes."),
       ("einsum_of_three_axes", 'softmax(torch.einsum("btk,bsk->bts", query, key) / math.sqrt(query.size(-1)), dim=-1)', "The letters in your einsum name exactly three axes. `...` stands for any number in front: `\"...tk,...sk->...ts\"`; or use `@`.", "leading axes"))
    at("return weighted_values(attention_weights(query, key), value)", ATTENTION,
       ("over_everything", "scores = scaled_scores(query, key)\n    return weighted_values(softmax(scores.flatten(), dim=0).view_as(scores), value)", "You normalize over the whole tensor of scores. Each query's row must sum to one by itself."),
       ("hides_the_future", "scores = scaled_scores(query, key)\n    future = torch.ones_like(scores, dtype=torch.bool).triu(1)\n    return weighted_values(softmax(scores.masked_fill(future, -torch.inf), dim=-1), value)", "You hide the keys that come later (a causal mask). A decoder does that, in notebook 09; here every query may look at every key."))
    own_softmax(at, MIXED, "attention_weights(query, key)", "√K", ATTENTION)
    for name, query, key in (("", "query", "key"), ("_by_root", "query / query.size(-1) ** 0.5", "key"), ("_by_fourth_roots", "query / query.size(-1) ** 0.25", "key / key.size(-1) ** 0.25")):
        at(MIXED, ATTENTION, (f"softmax_of_each{name}", f"softmax({query}, dim=-1) @ (softmax({key}, dim=-2).transpose(-2, -1) @ value)", "The queries go through a softmax of their own, along their width, and the keys through one along the tokens. That is another function (linear attention). The softmax must act on the scores, the products of queries and keys."))
    LATE = "The softmax comes after the values and runs over their width. It must turn the scores into weights first; these mix the values."
    at("weighted_values(attention_weights(query, key), value)", ATTENTION,
       ("scaled_after", "weighted_values(softmax(query @ key.transpose(-2, -1), dim=-1), value) / math.sqrt(query.size(-1))", "You divide by √K after the softmax, so the result is too small and the softmax saturates early. Scale the scores, before the softmax."),
       ("forgets_values", "attention_weights(query, key)", "You return the attention weights: the values never enter. Multiply the weights by `value`.", ("shape", *ATTENTION)),
       ("softmax_after_values", "softmax(weighted_values(scaled_scores(query, key), value), dim=-1)", LATE),
       ("unscaled_softmax_after_values", "softmax(query @ key.transpose(-2, -1) @ value, dim=-1)", LATE + " And “scaled” is missing: divide the scores by √K (here √{K} = {root_K})."))
    at("key), value)", ("shape", *ATTENTION),
       ("mixes_keys", "key), key)", "You mix the keys: `value` never enters. Keys are there to be compared with queries; what is mixed are the values."),
       ("divides_by_s", "key), value) / key.size(-2)", "You divide the mixture by S, the number of keys: a mean where a sum is needed. The weights are shares already.", ATTENTION))
    at("(query, key)", ("shape", *ATTENTION),
       ("weights_transposed", "(query, key).transpose(-2, -1)", "You mix the values with the transposed weights: each key hands out where each query should collect. That runs only where T equals S; row t of the weights belongs to query t."),
       ("roles_swapped", "(key, query)", "Query and key have changed places: you compute KQᵀ, so the keys do the asking. That runs only where T equals S. One row per query is needed: QKᵀ."),
       ("weights_detached", "(query, key).detach()", "No gradient reaches query and key (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it), and the model could never learn where to look.", "gradients"),
       ("compares_values", "(query, value)", "You compare the queries with the values: `key` never enters. Weights come from query and key; only then are the values mixed."))
    at("weighted_values(", "leading axes", ("bmm_only", "torch.bmm(", "`torch.bmm` takes exactly three axes, so yours stops at a single sentence and at heads. `@` works for any number of leading axes."))
    at(MIXED, "leading axes",
       ("value_and_weights_swapped", "weighted_values(value, attention_weights(query, key))", "The weights come first, then the values, in `weighted_values(weights, value)` as in `weights @ value`; yours are the other way round.", ("shape", *ATTENTION)),
       ("first_entry_only", MIXED + "[0]", "You return the first entry along the first axis alone. Every one must have its own result: all leading axes stay.", ("shape", *ATTENTION)),
       ("three_axes_and_bmm", "torch.bmm(softmax(torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1)), dim=-1), value)", "Two things here fit exactly three axes: an axis number counted from the front, and `torch.bmm`. With −2 and −1, and with `@`, any number of leading axes will do."),
       ("leading_axes_flattened", "weighted_values(\n        attention_weights(query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:])),\n        value.reshape(-1, *value.shape[-2:]))", "You flatten the leading axes into one and don't restore them at the end: with two of them your result has one axis too few, with none it has one too many."))
    for name, swapped in (("", "weighted_values(attention_weights(query, value), key)"), ("_in_einsums", 'torch.einsum("...ts,...sk->...tk", softmax(torch.einsum("...tk,...sk->...ts", query, value) / math.sqrt(query.size(-1)), dim=-1), key)')):
        at(MIXED, ("shape", *ATTENTION), (f"key_and_value_swapped{name}", swapped, "Keys and values have changed places: you compare the queries with `value` and mix `key`. The weights come from query and key; what is mixed is `value`."))
    for name, first in (("", "query"), ("_by_own_sizes", None)):
        query, key, value = (f"{each}.reshape(len({first or each}), -1, {each}.size(-1))" for each in ("query", "key", "value"))
        at(MIXED, "leading axes", (f"all_axes_between_merged{name}", f"weighted_values(attention_weights({query}, {key}), {value}).reshape(*query.shape[:-1], -1)", "You merge all axes between the first and the last. With heads, each query then sees the keys of all heads; and where there is no leading axis, the tokens become sentences. Merge the leading axes only, or leave them: `@` takes them all."))
    BLOCKS = """blocks = [(softmax_of, value_of) for softmax_of, value_of in zip(scaled_scores(query, key).split({0}, dim=-1), value.split({0}, dim=-2))]
    top, total, mixed = blocks[0][0].amax(dim=-1, keepdim=True), 0.0, 0.0
    for scores, values in blocks:
        higher = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
        shares, fade = (scores - higher).exp(), (top - higher).exp()
        top, total, mixed = higher, {1}, {2}
    return mixed / total"""
    FADE = "When a larger score comes, all that was gathered before is still relative to the old largest: multiply both sums by exp(old − new)."
    for size in (1, 16, 32, 64):
        for name, total, mixed, what in (
            ("mixture", "total * fade + shares.sum(dim=-1, keepdim=True)", "mixed + shares @ values", "the mixture gathered so far is not"),
            ("sum", "total + shares.sum(dim=-1, keepdim=True)", "mixed * fade + shares @ values", "the sum of exponentials so far is not"),
        ):
            at(f"return {MIXED}", ATTENTION if size == 1 else ("values", "gradients"), (f"{name}_of_{size}_not_rescaled", BLOCKS.format(size, total, mixed), f"In blocks of {size} with a running maximum, {what} rescaled. {FADE}"))
    at("return ", "leading axes", ("unpacks_three_sizes", "batch, length, width = query.shape\n    return ", "You unpack exactly three sizes of a shape, so yours stops where there are two or four axes. You need only some from the back: `query.size(-1)`."))
    at("return " + MIXED, "leading axes", ("batch_taken_for_granted", "pairs = zip(query, key, value)\n    return torch.stack([weighted_values(attention_weights(q, k), v) for q, k, v in pairs])", "You take items along the first axis as if it always were a batch. Without one these are single queries and keys, vectors, which have no axis −2. `@` takes all leading axes by itself."))
    EACH = "for q, k, v in zip(*(x.unbind(-3) for x in (query, key, value)))]"
    at("return " + MIXED, ("shape", *ATTENTION, "leading axes"), ("stacked_along_1", f"return torch.stack([weighted_values(attention_weights(q, k), v) {EACH}, dim=1)", "You go through the axis before the last two and stack the results along axis 1. That is where they came from only if there are four axes; and with two there is nothing to go through. `@` and your softmax take all leading axes by themselves, without a loop."))
    squeezed(at, ("leading axes"), "keeps all leading axes: (…, T, Dv)")


@MISTAKES.of(right.attention_entropy)
def in_attention_entropy(at):
    ENTROPY = ("values", "leading axes", "zeros")
    KEPT_FINITE = "weights.clamp(min=torch.finfo(weights.dtype).tiny).log()  # (..., T, S), finite where a weight is 0"
    at(KEPT_FINITE, "zeros",
       ("nan_at_zeros", "weights.log()  # (..., T, S)", "Where a weight is exactly 0 you compute 0·(−∞), which is NaN, and one NaN ruins the row. Such a term must count 0: keep the logarithm away from zero (`clamp`, with a number that float32 can hold: 1e-50 becomes 0), or use `torch.xlogy`, or `torch.where`."),
       ("log_of_one_plus", "weights.log1p()  # (..., T, S)", "You take the logarithm of 1 + w. That avoids ln 0, but it is another function: ln 1 is 0, and ln (1 + 1) is 0.69. Keep ln w and treat w = 0 by itself.", ENTROPY))
    at(".log()", ENTROPY,
       ("bits", ".log2()", "Yours is in bits: a logarithm to base 2, which is 1/ln 2 ≈ 1.44 times the natural one. Nats need the natural one, `log`."),
       ("base_ten", ".log10()", "Yours has a logarithm to base 10. In nats it is the natural logarithm, `log`."))
    at("-weights", ENTROPY, ("sign", "weights", "Your entropies are negative: the minus sign is missing. Logarithms of shares are at most zero, so −Σ w ln w is at least zero."))
    at(".sum(dim=-1)", ENTROPY,
       ("sums_everything", ".sum()", "You return one number, the sum over all queries. Each query has an entropy of its own: keep the axes, and sum over the keys only, the last one. (`weights[weights > 0]` makes one list of all.)", ("shape", *ENTROPY)),
       ("mean_over_queries", ".sum(dim=-1).mean(dim=-1)", "You average over the queries. Each query has an entropy of its own: the result keeps the axis of the queries.", ("shape", *ENTROPY)),
       ("mean_over_everything", ".sum(dim=-1).mean()", "You average over the queries and everything else, and return one number. Each query has an entropy of its own.", ("shape", *ENTROPY)),
       ("mean_over_keys", ".mean(dim=-1)", "You take the mean over the keys; entropy is the sum. The average over keys is already in the weights w of −Σ w ln w. With S = {S} yours is {S} times too small."),
       ("as_a_share", ".sum(dim=-1) / math.log(weights.size(-1))", "You divide by ln S, the largest possible entropy, and so return a share between 0 and 1. In nats it is the plain sum."),
       ("perplexity", ".sum(dim=-1).exp()", "You take the exponential of the entropy: that is the perplexity, an effective number of keys. Wanted is the entropy itself, in nats."),
       ("largest_term", ".amax(dim=-1)", "You return the largest of the terms −w ln w. They must be added up."))
    at("dim=-1", ("shape", *ENTROPY),
       ("over_queries", "dim=-2", "You sum over the queries, not over the keys. Row t holds the weights of query t: sum over the last axis."),
       ("along_axis_1", "dim=1", "You sum along axis 1, counted from the front: the queries, where there are three axes. The keys are the last axis, −1, however many axes are in front."),
       ("along_axis_2", "dim=2", "You sum along axis 2, counted from the front, which is the axis of the keys only if there are exactly three axes. Count from the back: −1.", "leading axes"),
       ("keeps_axis", "dim=-1, keepdim=True", "You keep the axis of the keys, with size 1 (`keepdim=True`). One number per query is needed, (…, T)."))
    at("(weights * surprise)", ENTROPY,
       ("unweighted", "surprise", "You add up −ln w without the factor w in front. Each key's surprise counts as much as the weight it has: −Σ w ln w."),
       ("last_key_left_out", "(weights * surprise)[..., :-1]", "The last key is left out of your sum. (`range(n)` ends at n − 1 by itself.)"))
    at("weights.clamp(min=torch.finfo(weights.dtype).tiny)", ENTROPY, ("large_eps", "(weights + 1e-3)", "You add 0.001 inside the logarithm, which changes the entropy by up to 0.001 for each key. A constant below one millionth would do no harm; a `clamp` leaves all other weights exactly as they are."))
    at("surprise = -", ENTROPY, ("softmax_again", "weights = softmax(weights, dim=-1)\n    surprise = -", "You pass the weights through a softmax again. They are shares already; a second softmax evens them out and brings the entropy near ln S."))
    at((KEPT_FINITE, ".sum(dim=-1)"), "zeros", ("patches_rows", ("weights.log()  # (..., T, S)", ".sum(dim=-1).nan_to_num(0.0)"), "You replace NaN after the sum: a single zero weight turns the entropy of its whole row into 0. Treat the term, before the sum."))
    at("(weights * surprise).sum(dim=-1)", ENTROPY,
       ("even_average", "(surprise * (weights > 0)).sum(dim=-1) / (weights > 0).sum(dim=-1)", "You average −ln w evenly over the keys. Each key's surprise counts as much as the weight it has: −Σ w ln w."),
       ("not_summed", "weights * surprise", "You don't sum over the keys: you return each key's own term −w ln w. A query's entropy is their sum.", ("shape", *ENTROPY)),
       ("variance", "weights.var(dim=-1)", "You return the variance of the weights: also a measure of spread, but another one. Wanted is −Σ w ln w."),
       ("standard_deviation", "weights.std(dim=-1)", "You return the standard deviation of the weights: also a measure of spread, but another one. Wanted is −Σ w ln w."),
       ("one_minus_squares", "1 - (weights**2).sum(dim=-1)", "You return 1 − Σ w² (the Gini index): also a measure of spread, but another one. Wanted is −Σ w ln w."),
       ("squares", "(weights**2).sum(dim=-1)", "You return Σ w². Wanted is −Σ w ln w: each weight is multiplied by its logarithm, not by itself."))
    for constant in ("0.01", "0.001"):
        at("torch.finfo(weights.dtype).tiny", ENTROPY if constant == "0.01" else ("values", "leading axes"), (f"clamped_at_{constant}".replace(".", "_"), constant, f"You raise all weights below {constant} to {constant} inside the logarithm: that changes small weights, too, not only those that are 0. Take a far smaller number, such as 1e-9."))
    for constant in ("0.1", "0.01", "0.0001"):
        at("weights.clamp(min=torch.finfo(weights.dtype).tiny)", ENTROPY, (f"adds_{constant}".replace(".", "_"), f"(weights + {constant})", f"You add {constant} inside the logarithm, which changes more than rounding does. Take a far smaller number, such as 1e-9; or a `clamp`, which leaves all other weights as they are."))
    for name, logarithm in {
        "no_zeros": "weights.where(weights > 0, 1.0).log()",
        "and_infinite": "weights.log()",
        "clamped_at_1e_12": "weights.clamp(min=1e-12).log()",
        "clamped_at_1e_9": "weights.clamp(min=1e-9).log()",
    }.items():
        at((KEPT_FINITE, "(weights * surprise)"), ENTROPY, (f"unweighted_{name}", (logarithm, "surprise"), "You add up −ln w without the factor w in front. Each key's surprise counts as much as the weight it has: −Σ w ln w."))
    at((KEPT_FINITE, "(weights * surprise).sum(dim=-1)"), ENTROPY, ("logarithm_of_the_sum", ("weights", "weights.sum(dim=-1).log()"), "You take the logarithm after the sum, ln Σ w, which is ln 1 = 0. Take it of each weight, and multiply by the weight, before the sum."))
    squeezed(at, ("leading axes"), "keeps all leading axes: (…, T)")
