"""Wrong answers to the exercises of 03-softmax."""

from __future__ import annotations

from anatomy.course.nb03_softmax.right import (
    attention_entropy,
    attention_weights,
    scaled_dot_product_attention,
    softmax,
    weighted_values,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.

NUMBERS = ("values", "large scores", "gradients")
EVERYTHING = ("shape", "values", "large scores", "gradients")


@MISTAKES.of(softmax)
def in_softmax(wrong):
    LARGEST = "x.amax(dim=dim, keepdim=True)  # the largest entry of each slice is now 0"
    SHIFT = """shifted = x - x.amax(dim=dim, keepdim=True)  # the largest entry of each slice is now 0
    exponentials = shifted.exp()  # between 0 and 1"""

    wrong("overflows", "Your softmax is right for small scores and overflows for large ones: exp(89) is already ∞ in float32, and ∞/∞ is NaN. Subtract each slice's largest entry first; it cancels in the fraction.",
          breaks="large scores", old=SHIFT, new="exponentials = x.exp()")
    wrong("global_max", "You subtract the largest entry of the whole tensor. It cancels on paper, but a slice that lies 200 below it becomes exp(−200) = 0 everywhere, and 0/0 is NaN. Each slice along `dim` needs its own largest entry.",
          breaks="large scores", old=LARGEST, new="x.max()")
    wrong("largest_absolute", "You subtract the largest absolute value: a slice around −150 is pushed down to −300, where every exponential is 0, and 0/0 is NaN. Subtract the largest value, with its sign.",
          breaks="large scores", old=LARGEST, new="x.abs().amax(dim=dim, keepdim=True)")
    wrong("subtracts_mean", "You subtract the mean of each slice. It cancels as the maximum would, but what lies far above the mean still overflows; only the maximum guarantees that no exponent is above zero.",
          breaks="large scores", old=SHIFT, new="exponentials = (x - x.mean(dim=dim, keepdim=True)).exp()")
    wrong("subtracts_min", "You subtract the smallest entry of each slice: all exponents are now above zero, where exp overflows. Subtract the largest one, so that all are at most zero.",
          breaks="large scores", old=SHIFT, new="exponentials = (x - x.amin(dim=dim, keepdim=True)).exp()")
    wrong("patches_nan", "You replace NaN by zero after the overflow. The tensor looks clean, but the largest score, which should get nearly all the weight, now gets none. Prevent the overflow: subtract each slice's largest entry before the exponential.",
          breaks="large scores", old=(SHIFT, "exponentials / exponentials.sum(dim=dim, keepdim=True)"),
          new=("exponentials = x.exp()", "(exponentials / exponentials.sum(dim=dim, keepdim=True)).nan_to_num(0.0)"))
    wrong("clamps", "You clamp the scores so that exp can't overflow. All scores beyond the limit become equal, and with them their weights. Subtracting each slice's largest entry keeps the differences, which is all that softmax looks at.",
          breaks="large scores", old=SHIFT, new="exponentials = x.clamp(min=-80, max=80).exp()")
    wrong("divides_by_max", "You divide the scores by the largest one (in absolute value). That does prevent the overflow, but it changes the differences between scores, and so the weights. Subtract the largest instead: a subtraction cancels, a division doesn't.",
          breaks=NUMBERS, old=SHIFT, new="exponentials = (x / x.abs().amax(dim=dim, keepdim=True)).exp()")
    wrong("max_along_last", "You take the maximum along the last axis and the sum along `dim`. The maximum cancels only if all entries that are summed together lose the same number: take both along `dim`.",
          breaks=NUMBERS, old=LARGEST, new="x.amax(dim=-1, keepdim=True)")
    wrong("ignores_dim", "Your softmax always runs along the last axis and ignores `dim`. Hand `dim` on to the maximum and to the sum.",
          breaks=NUMBERS, old="dim=dim", new="dim=-1", times=2)
    wrong("sums_over_everything", "You divide by the sum over the whole tensor, so all entries together sum to one. Each slice along `dim` must sum to one by itself: sum along `dim` only.",
          breaks=NUMBERS, old=".sum(dim=dim, keepdim=True)", new=".sum()")
    wrong("sum_without_keepdim", "Your sum loses the axis that it runs along (no `keepdim=True`). Broadcasting then lines it up with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree.",
          breaks=EVERYTHING, old=".sum(dim=dim, keepdim=True)", new=".sum(dim=dim)")
    wrong("max_without_keepdim", "Your maximum loses the axis that it runs along (no `keepdim=True`). Broadcasting then lines it up with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree.",
          breaks=EVERYTHING, old=LARGEST, new="x.amax(dim=dim)")
    wrong("without_keepdim", "Your maximum and your sum lose the axis that they run along (no `keepdim=True`). Broadcasting then lines them up with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree.",
          breaks=EVERYTHING, old=", keepdim=True", new="", times=2)
    wrong("base_two", "You raise 2 to the scores; softmax raises e ≈ 2.718 to them. Yours is a softmax at temperature 1/ln 2 ≈ 1.44, flatter than the one wanted.",
          breaks=NUMBERS, old="shifted.exp()", new="2.0**shifted")
    wrong("twice", "You normalize twice: your weights went through a second softmax, which makes them nearly equal. Once is enough.",
          breaks=NUMBERS, old="return exponentials / exponentials.sum(dim=dim, keepdim=True)",
          new="weights = exponentials / exponentials.sum(dim=dim, keepdim=True)\n"
              "    return weights.exp() / weights.exp().sum(dim=dim, keepdim=True)")
    wrong("adds_eps", "You add a small constant (0.001) to the sum, so your weights sum to a little less than one. None is needed: once the maximum is subtracted one term is exp(0) = 1, and the sum can't be zero.",
          breaks=NUMBERS, old="exponentials.sum(dim=dim, keepdim=True)", new="(exponentials.sum(dim=dim, keepdim=True) + 1e-3)")


    @MISTAKES.mistake("You divide the scores by their sum, without the exponential. Scores may be negative, so such shares may be too, and the sum may be zero: take the exponential first.", breaks=NUMBERS)
    def softmax__without_exp(x, dim):
        return x / x.sum(dim=dim, keepdim=True)


    wrong("not_normalized", "You return the exponentials of the shifted scores without dividing by their sum: the largest entry of each slice is 1, where the whole slice should sum to 1.",
          breaks=NUMBERS, old=" / exponentials.sum(dim=dim, keepdim=True)", new="")
    wrong("logarithm", "You return the logarithm of the softmax: all your numbers are at most zero. Take the exponential of what you return.",
          breaks=NUMBERS, old="exponentials / exponentials.sum(dim=dim, keepdim=True)",
          new="shifted - exponentials.sum(dim=dim, keepdim=True).log()")


    @MISTAKES.mistake("Yours is a sigmoid: each entry lies between 0 and 1 by itself, but a slice doesn't sum to 1. Softmax lets the entries of a slice compete: divide by the sum of their exponentials.", breaks=NUMBERS)
    def softmax__sigmoid(x, dim):
        return 1 / (1 + (-x).exp())


    wrong("reversed", "Your smallest score gets the largest weight: the scores enter with a minus sign. It is exp(x − max), not exp(max − x).",
          breaks=NUMBERS, old=SHIFT, new="exponentials = (x.amin(dim=dim, keepdim=True) - x).exp()  # between 0 and 1")


    @MISTAKES.mistake("You put a single 1 at the largest score: a hard maximum. Softmax gives every entry a share, in proportion to its exponential, and lets gradients flow to all of them.", breaks=NUMBERS)
    def softmax__hard_maximum(x, dim):
        return (x == x.amax(dim=dim, keepdim=True)).float()


    wrong("detached", "The values are right, but no gradient passes: `detach`, `.data`, `torch.no_grad` or a way through NumPy cuts it. Only the maximum may be detached, because it cancels.",
          breaks="gradients", old="shifted.exp()", new="shifted.detach().exp()")
    wrong("detached_sum", "You detach the sum. The values are right; the gradient isn't, because raising one score lowers the others' weights, and that happens through the sum.",
          breaks="gradients", old=".sum(dim=dim, keepdim=True)", new=".sum(dim=dim, keepdim=True).detach()")

    SUM = ".sum(dim=dim, keepdim=True)"
    RETURNED = "exponentials / exponentials.sum(dim=dim, keepdim=True)"

    wrong("sum_along_last", "You take the maximum along `dim` and the sum along the last axis: it is always the last axis that sums to one. Sum along `dim`.",
          breaks=NUMBERS, old=SUM, new=".sum(dim=-1, keepdim=True)")
    wrong("overflows_along_last", "Your softmax always runs along the last axis, whatever `dim` says. (And it overflows for large scores: subtract each slice's largest entry before the exponential.)",
          breaks=NUMBERS, old=(SHIFT, SUM), new=("exponentials = x.exp()", ".sum(dim=-1, keepdim=True)"))
    wrong("along_0", "Your softmax always runs along axis 0 and ignores `dim`. Hand `dim` on to the maximum and to the sum.",
          breaks=NUMBERS, old="dim=dim", new="dim=0", times=2)
    wrong("along_1", "Your softmax always runs along axis 1 and ignores `dim`. Hand `dim` on to the maximum and to the sum.",
          breaks=EVERYTHING, old="dim=dim", new="dim=1", times=2)
    wrong("mean_for_sum", "You divide by the mean of the exponentials, not by their sum: each slice sums to the number of its entries, where it should sum to 1.",
          breaks=NUMBERS, old=SUM, new=".mean(dim=dim, keepdim=True)")
    wrong("by_sum_of_shifted", "You divide by the sum of the shifted scores themselves. What stands above the line has to be summed below it: the exponentials.",
          breaks=NUMBERS, old="exponentials.sum(", new="shifted.sum(")
    wrong("by_sum_of_scores", "You divide by the sum of the scores themselves. What stands above the line has to be summed below it: the exponentials.",
          breaks=NUMBERS, old="exponentials.sum(", new="x.sum(")
    wrong("by_largest", "You divide by the largest exponential of each slice, so the largest entry is 1. Divide by the sum, so that the slice sums to 1.",
          breaks=NUMBERS, old=(SHIFT, SUM), new=("exponentials = x.exp()", ".amax(dim=dim, keepdim=True)"))
    wrong("not_normalized_unshifted", "You return the exponentials of the scores and never divide by their sum: a slice should sum to 1. (And subtract each slice's largest entry first, or they overflow.)",
          breaks=NUMBERS, old=(SHIFT, RETURNED), new=("exponentials = x.exp()", "exponentials"))
    wrong("max_after_exp", "You subtract the maximum after the exponential, where it no longer cancels and no longer prevents an overflow. The scores are to be shifted: exp(x − max).",
          breaks=NUMBERS, old=SHIFT, new="exponentials = x.exp() - x.amax(dim=dim, keepdim=True)")
    wrong("adds_max", "You add the maximum where you should subtract it. It still cancels on paper, but the exponents are now as large as can be.",
          breaks="large scores", old="x - x.amax", new="x + x.amax")
    wrong("axis_put_at_the_end", "You put the axis that the maximum has lost back at the end (`unsqueeze(-1)`), which is its place only if `dim` is the last axis. `keepdim=True` leaves it where it was.",
          breaks=EVERYTHING, old=", keepdim=True)", new=").unsqueeze(-1)", times=2)
    wrong("left_at_the_end", "You swap the axis `dim` with the last one, and it stays there. Swap them back before you return.",
          breaks=EVERYTHING, old=("shifted = x - x.amax(dim=dim", SUM),
          new=("x = x.transpose(dim, -1)\n    shifted = x - x.amax(dim=-1", ".sum(dim=-1, keepdim=True)"))
    wrong("moved_to_the_end", "You move the axis `dim` to the end, and it stays there. Move it back before you return.",
          breaks=EVERYTHING, old=("shifted = x - x.amax(dim=dim", SUM),
          new=("x = x.movedim(dim, -1)\n    shifted = x - x.amax(dim=-1", ".sum(dim=-1, keepdim=True)"))
    wrong("max_with_places", "`x.max(dim)` returns two things, the largest values and where they stand, and a pair can't be subtracted. Take `.values`, or use `amax`.",
          breaks=EVERYTHING, old="x.amax(", new="x.max(")
    wrong("exp_of_one_number", "`math.exp` takes one number. For a whole tensor it is `torch.exp(…)` or `.exp()`.",
          breaks=EVERYTHING, old="shifted.exp()", new="math.exp(shifted)")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`). It is to have the shape of `x`.",
          breaks=("shape", "values", "gradients"), old="return " + RETURNED, new="return (" + RETURNED + ").squeeze()")


    @MISTAKES.mistake("You go through the first axis item by item and normalize each item as a whole, whatever `dim` says. Each slice along `dim` is to sum to one.", breaks=NUMBERS)
    def softmax__item_by_item(x, dim):
        items = x.reshape(x.size(0), -1)
        exponentials = (items - items.amax(dim=1, keepdim=True)).exp()
        return (exponentials / exponentials.sum(dim=1, keepdim=True)).view(x.shape)


@MISTAKES.of(attention_weights)
def in_attention_weights(wrong):
    WEIGHTS = ("rows sum to one", "values", "large scores", "gradients")

    wrong("over_queries", "Your softmax runs over the queries: the columns sum to one, but each query's weights must. The keys are the last axis.",
          breaks=WEIGHTS, old="dim=-1", new="dim=-2")
    wrong("over_batch", "Your softmax runs over the batch: sentences compete with each other for weight. The keys are the last axis.",
          breaks=WEIGHTS, old="dim=-1", new="dim=0")
    wrong("over_everything", "You normalize over the whole tensor: all weights of the batch together sum to one. Each query's row must sum to one by itself.",
          breaks=WEIGHTS, old="return softmax(scaled_scores(query, key), dim=-1)",
          new="scores = scaled_scores(query, key)\n    return softmax(scores.flatten(), dim=0).view_as(scores)")
    wrong("over_queries_and_keys", "You normalize over queries and keys together: each sentence's T·S = {T}·{S} weights sum to one. Each query's row of {S} must sum to one by itself.",
          breaks=WEIGHTS, old="return softmax(scaled_scores(query, key), dim=-1)",
          new="scores = scaled_scores(query, key)\n    return softmax(scores.flatten(1), dim=1).view_as(scores)")
    wrong("unscaled", "You leave the scores unscaled. Divide them by √D (here √{D} = {root_D}) before the softmax, or use `scaled_scores`.",
          breaks=NUMBERS, old="scaled_scores(query, key)", new="query @ key.transpose(-2, -1)")
    wrong("by_d", "You divide the scores by D = {D} in all, not by √D = {root_D}: the weights come out too even. (`scaled_scores` has divided by √D already.)",
          breaks=NUMBERS, old="scaled_scores(query, key)", new="scaled_scores(query, key) / math.sqrt(query.size(-1))")
    wrong("by_root_t", "You divide the scores by √T (the number of queries), not by √D (their width). With T = D you would not have noticed; here T = {T} and D = {D}.",
          breaks=NUMBERS, old="scaled_scores(query, key)", new="query @ key.transpose(-2, -1) / math.sqrt(query.size(-2))")
    wrong("by_root_s", "You divide the scores by √S (the number of keys), not by √D (their width). With S = D you would not have noticed; here S = {S} and D = {D}.",
          breaks=NUMBERS, old="scaled_scores(query, key)", new="query @ key.transpose(-2, -1) / math.sqrt(key.size(-2))")
    wrong("times_root_d", "You multiply the scores by √D; they are to be divided by it. Yours are {D} times too large, and the softmax saturates.",
          breaks=NUMBERS, old="scaled_scores(query, key)", new="query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))")
    wrong("scaled_again_after", "You scale twice. `scaled_scores` has divided by √D already; dividing the weights by it once more makes each row sum to 1/√D = 1/{root_D}, not to one.",
          breaks=WEIGHTS, old="dim=-1)", new="dim=-1) / math.sqrt(query.size(-1))")
    wrong("scaled_after", "You divide by √D after the softmax. The scores are to be scaled before it; afterwards the rows sum to 1/√D = 1/{root_D}, and the softmax has saturated already.",
          breaks=WEIGHTS, old="scaled_scores(query, key), dim=-1)",
          new="query @ key.transpose(-2, -1), dim=-1) / math.sqrt(query.size(-1))")
    wrong("scores", "You return the scaled scores. The softmax that turns them into weights is missing.",
          breaks=WEIGHTS, old="softmax(scaled_scores(query, key), dim=-1)", new="scaled_scores(query, key)")
    wrong("without_exp", "You divide the scores by their row sum, without the exponential. Scores may be negative, so such weights may be too, and the sum may be zero.",
          breaks=WEIGHTS, old="return softmax(scaled_scores(query, key), dim=-1)",
          new="scores = scaled_scores(query, key)\n    return scores / scores.sum(dim=-1, keepdim=True)")
    wrong("sigmoid", "You apply a sigmoid: every pair gets a weight between 0 and 1 by itself. The keys are to compete for each query's attention, so that its row sums to one: that is softmax.",
          breaks=WEIGHTS, old="softmax(scaled_scores(query, key), dim=-1)", new="torch.sigmoid(scaled_scores(query, key))")
    wrong("softmax_twice", "You apply softmax twice, which makes the weights nearly equal. Once is enough.",
          breaks=NUMBERS, old="scaled_scores(query, key)", new="softmax(scaled_scores(query, key), dim=-1)")
    wrong("logarithms", "You return the logarithms of the weights (a log-softmax): they are at most zero. The weights themselves are wanted.",
          breaks=WEIGHTS, old="return softmax", new="return torch.log_softmax")
    wrong("cosine", "You bring queries and keys to length 1 first: a cosine, which lies between −1 and 1 and can never be sharp. Attention uses the dot product as it is, divided by √D = {root_D}; long vectors may speak louder.",
          breaks=NUMBERS, old="scaled_scores(query, key)",
          new="F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)")
    wrong("overflows", "Right for small scores, but large ones overflow: exp(89) is ∞ in float32 already, and ∞/∞ is NaN. Use your `softmax`, which subtracts each row's largest score first.",
          breaks="large scores", old="return softmax(scaled_scores(query, key), dim=-1)",
          new="exponentials = scaled_scores(query, key).exp()\n    return exponentials / exponentials.sum(dim=-1, keepdim=True)")
    wrong("transposed", "Your weights are transposed: `weights[b, s, t]`, keys down and queries across. One row per query is wanted, (B, T, S).",
          breaks=("shape", *WEIGHTS), old="dim=-1)  # (B, T, S)", new="dim=-1).transpose(-2, -1)  # (B, S, T)")
    wrong("roles_swapped", "Query and key have changed places: you compute KQᵀ, so it is the keys that ask and the queries that answer. One row per query is wanted: QKᵀ.",
          breaks=EVERYTHING, old="(query, key), dim=-1)  # (B, T, S)", new="(key, query), dim=-1)  # (B, S, T)")
    wrong("first_of_batch", "Every sentence gets the weights of the first one: somewhere you take only item 0 of the batch.",
          breaks=NUMBERS, old="(query, key), dim=-1)", new="(query[0], key[0]), dim=-1).expand(query.size(0), -1, -1)")
    wrong("detached", "The values are right, but no gradient reaches query and key: `detach`, `.data`, `torch.no_grad` or a way through NumPy cuts it, and the model could never learn where to look.",
          breaks="gradients", old="dim=-1)", new="dim=-1).detach()")

    SCALED = "scaled_scores(query, key)"

    wrong("first_sentence_only", "You return the first sentence's weights alone, (T, S). Every sentence of the batch is to have its own, (B, T, S).",
          breaks=("shape", "values", "large scores", "gradients"), old="dim=-1)  # (B, T, S)", new="dim=-1)[0]")
    wrong("reversed_axes", "`key.T` reverses all three axes, (D, S, B). Only the last two are to change places: `key.transpose(-2, -1)`, or `key.mT`.",
          breaks=("shape", *WEIGHTS), old=SCALED, new="query @ key.T / math.sqrt(query.size(-1))")
    wrong("keys_not_turned", "You multiply (B, T, D) by (B, S, D) as they are, where D meets S. Turn the keys: `query @ key.transpose(-2, -1)`, or use `scaled_scores`.",
          breaks=("shape", *WEIGHTS), old=SCALED, new="query @ key / math.sqrt(query.size(-1))")
    wrong("keys_reshaped", "You `reshape` (or `view`) the keys to (B, D, S): that reads the same numbers in memory's order and does not turn them. `transpose(-2, -1)` swaps the two axes.",
          breaks=NUMBERS, old=SCALED,
          new="query @ key.reshape(key.size(0), key.size(2), key.size(1)) / math.sqrt(query.size(-1))")
    wrong("by_8", "You divide by 8. That is √64, right for the heads of BERT base and for no other width; here it is √{D} = {root_D}.",
          breaks=NUMBERS, old=SCALED, new="query @ key.transpose(-2, -1) / 8")
    wrong("by_root_32", "You divide by √32, right for the checkpoint's heads and for no other width; here it is √{D} = {root_D}.",
          breaks=NUMBERS, old=SCALED, new="query @ key.transpose(-2, -1) / math.sqrt(32)")
    wrong("by_root_b", "You divide by √B (the number of sentences), not by √D (the width): here B = {B} and D = {D}.",
          breaks=NUMBERS, old=SCALED, new="query @ key.transpose(-2, -1) / math.sqrt(query.size(0))")
    wrong("cosine_and_scaled", "You bring queries and keys to length 1 and divide by √D as well. Attention uses the dot product as it is, divided by √D = {root_D}.",
          breaks=NUMBERS, old=SCALED, new="scaled_scores(F.normalize(query, dim=-1), F.normalize(key, dim=-1))")
    wrong("hard_maximum", "You give all the weight to the best key: a hard maximum. Softmax gives every key a share, and lets gradients flow to all of them.",
          breaks=NUMBERS, old="softmax(scaled_scores(query, key), dim=-1)",
          new="F.one_hot(scaled_scores(query, key).argmax(dim=-1), key.size(-2)).float()")
    wrong("hides_the_future", "You hide the keys that come later (a causal mask). A decoder does that, in notebook 09; here every query may look at every key.",
          breaks=NUMBERS, old="return softmax(scaled_scores(query, key), dim=-1)",
          new="scores = scaled_scores(query, key)\n"
              "    future = torch.ones_like(scores, dtype=torch.bool).triu(1)\n"
              "    return softmax(scores.masked_fill(future, -torch.inf), dim=-1)")
    wrong("not_normalized", "You return the exponentials of the scores (less each row's largest) and never divide by their sum: each row should sum to one.",
          breaks=WEIGHTS, old="return softmax(scaled_scores(query, key), dim=-1)",
          new="scores = scaled_scores(query, key)\n    return (scores - scores.amax(dim=-1, keepdim=True)).exp()")
    wrong("only_exponentials", "You return the exponentials of the scores and never divide by their sum: each row should sum to one.",
          breaks=WEIGHTS, old="softmax(scaled_scores(query, key), dim=-1)", new="scaled_scores(query, key).exp()")
    wrong("queries_only", "You compare the queries with queries: `key` never enters. The scores are QKᵀ.",
          breaks=("shape", *NUMBERS), old="(query, key)", new="(query, query)")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): with one sentence or one query it is no longer (B, T, S).",
          breaks=("shape", "values", "gradients"), old="dim=-1)  # (B, T, S)", new="dim=-1).squeeze()")


@MISTAKES.of(weighted_values)
def in_weighted_values(wrong):
    MIXTURE = "weights @ value  # (B, T, S) @ (B, S, Dv) -> (B, T, Dv)"
    VALUES = ("values", "gradients")
    SHAPE = ("shape", "values", "gradients")

    wrong("transposed", "You multiply by the transposed weights: each key hands its value out to queries, where each query should collect the values of the keys. That runs only where T equals S; row t of the weights belongs to query t.",
          breaks=SHAPE, old=MIXTURE, new="weights.transpose(-2, -1) @ value  # (B, S, T) @ (B, S, Dv)")
    wrong("divides_by_s", "You divide by S, the number of keys: a mean where a sum is wanted. The weights are shares already; with S = {S} your result is {S} times too small.",
          breaks=VALUES, old="weights @ value", new="weights @ value / value.size(-2)")
    wrong("not_summed", "You multiply each value by its weight, but don't add them up: your result still has the axis of the keys. Sum over it.",
          breaks=SHAPE, old=MIXTURE, new="weights.unsqueeze(-1) * value.unsqueeze(-3)  # (B, T, S, Dv)")
    wrong("elementwise", "You multiply entry by entry (`*`), which pairs weight [t, s] with value [s, d] by position. Each query's weights are to be combined with all value rows: a matrix product (`@`).",
          breaks=SHAPE, old=MIXTURE, new="weights * value")
    wrong("plain_mean", "You ignore the weights: every query gets the plain mean of all values. Multiply each value by its weight before adding.",
          breaks=VALUES, old=MIXTURE, new="value.mean(dim=-2, keepdim=True).expand(-1, weights.size(-2), -1)  # (B, T, Dv)")
    wrong("plain_sum", "You ignore the weights: every query gets the plain sum of all values. Multiply each value by its weight before adding.",
          breaks=VALUES, old=MIXTURE, new="value.sum(dim=-2, keepdim=True).expand(-1, weights.size(-2), -1)  # (B, T, Dv)")
    wrong("forgets_values", "You return the weights: the values never enter. Each query's row of weights is a recipe; the value rows are what is to be mixed.",
          breaks=SHAPE, old=MIXTURE, new="weights")
    wrong("picks_largest", "You pick the value with the largest weight and drop all others. A weighted sum mixes in every value by its share.",
          breaks=VALUES, old="weights @", new="F.one_hot(weights.argmax(dim=-1), weights.size(-1)).float() @")
    wrong("softmax_again", "You pass the weights through a softmax again, which makes them nearly equal. They are weights already: use them as they come.",
          breaks=VALUES, old="weights @", new="softmax(weights, dim=-1) @")
    wrong("renormalizes", "You divide by the sum of the weights. Where rows sum to one it changes nothing, but weights that were dropped on purpose must stay missing: use the weights as they come.",
          breaks=VALUES, old="weights @ value", new="weights @ value / weights.sum(dim=-1, keepdim=True)")
    wrong("first_of_batch", "Every sentence is mixed from the values of the first one: somewhere you take only item 0 of the batch.",
          breaks=VALUES, old=MIXTURE, new="weights @ value[0]  # (B, T, S) @ (S, Dv) -> (B, T, Dv)")
    wrong("values_transposed", "You transpose the values, so weights meet the value's width where they should meet the keys. (B, T, S) times (B, S, Dv): the two S already stand next to each other.",
          breaks=SHAPE, old=MIXTURE, new="weights @ value.transpose(-2, -1)  # (B, T, S) @ (B, Dv, S)")
    wrong("weights_detached", "The mixture is right, but you detach the weights: values learn what to say, and queries and keys never learn where to look.",
          breaks="gradients", old="weights @", new="weights.detach() @")

    wrong("first_sentence_only", "You return the first sentence's mixtures alone, (T, Dv). Every sentence of the batch is to have its own, (B, T, Dv).",
          breaks=SHAPE, old=MIXTURE, new="weights[0] @ value[0]  # (T, S) @ (S, Dv) -> (T, Dv)")
    wrong("result_transposed", "Your result is transposed, (B, Dv, T): you compute VᵀWᵀ, which is (WV)ᵀ. One row per query is wanted, (B, T, Dv).",
          breaks=SHAPE, old=MIXTURE, new="(weights @ value).transpose(-2, -1)  # (B, Dv, T)")
    wrong("values_on_the_left", "The values stand on the left of your product. Each query's row of weights is to meet the values' columns: `weights @ value`.",
          breaks=SHAPE, old=MIXTURE, new="value @ weights")
    wrong("last_key_only", "Only the last key's share is left. In a loop, each round adds to what the rounds before it have found; `=` overwrites it.",
          breaks=VALUES, old=MIXTURE, new="weights[..., -1:] @ value[..., -1:, :]")
    wrong("first_key_only", "Only the first key's share is there; all keys' shares are to be added. (A `return` inside a loop ends it in its first round.)",
          breaks=VALUES, old=MIXTURE, new="weights[..., :1] @ value[..., :1, :]")
    wrong("last_key_left_out", "The last key is never reached. (`range(n)` ends at n − 1 by itself.)",
          breaks=VALUES, old=MIXTURE, new="weights[..., :-1] @ value[..., :-1, :]")
    wrong("first_key_left_out", "The first key is left out. (Counting begins at 0.)",
          breaks=VALUES, old=MIXTURE, new="weights[..., 1:] @ value[..., 1:, :]")
    wrong("summed_over_queries", "You sum over the queries, so your result has a row per key, (B, S, Dv). Sum over the keys: one row per query is wanted.",
          breaks=SHAPE, old=MIXTURE, new="weights.sum(dim=-2).unsqueeze(-1) * value  # (B, S, Dv)")
    wrong("summed_over_width", "You sum over the value's width, so your result is (B, T, S). Sum over the keys: (B, T, Dv) is wanted.",
          breaks=SHAPE, old=MIXTURE, new="weights * value.sum(dim=-1).unsqueeze(-2)  # (B, T, S)")
    wrong("all_queries_in_one", "You add up the queries' mixtures: one row per sentence is left, (B, Dv). One row per query is wanted.",
          breaks=SHAPE, old=MIXTURE, new="(weights @ value).sum(dim=1)")
    wrong("values_of_all_sentences", "Every query meets the values of *all* sentences, added up. Each sentence has its own: weights and values must share their batch axis (in an einsum, the same letter `b`).",
          breaks=VALUES, old=MIXTURE, new='torch.einsum("bts,csd->btd", weights, value)')
    wrong("values_detached", "The mixture is right, but you detach the values: no gradient reaches them, and the model could never learn what to say.",
          breaks="gradients", old="@ value", new="@ value.detach()")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): with one sentence or one query it is no longer (B, T, Dv).",
          breaks=SHAPE, old=MIXTURE, new="(weights @ value).squeeze()")


@MISTAKES.of(scaled_dot_product_attention)
def in_scaled_dot_product_attention(wrong):
    ATTENTION = ("values", "leading axes", "large scores", "gradients")

    wrong("over_queries", "Your softmax runs over the queries: the columns of the weights sum to one, but each query's row must. The keys are the last axis of the scores.",
          breaks=ATTENTION, old="attention_weights(query, key)", new="softmax(scaled_scores(query, key), dim=-2)")
    wrong("over_batch", "Your softmax runs over the first axis, the batch: sentences compete with each other for weight. The keys are the last axis of the scores.",
          breaks=ATTENTION, old="attention_weights(query, key)", new="softmax(scaled_scores(query, key), dim=0)")
    wrong("over_everything", "You normalize over the whole tensor of scores. Each query's row must sum to one by itself.",
          breaks=ATTENTION, old="return weighted_values(attention_weights(query, key), value)",
          new="scores = scaled_scores(query, key)\n"
              "    return weighted_values(softmax(scores.flatten(), dim=0).view_as(scores), value)")
    wrong("unscaled", "“Scaled” is missing: divide the scores by √K (here √{K} = {root_K}) before the softmax.",
          breaks=ATTENTION, old="attention_weights(query, key)", new="softmax(query @ key.transpose(-2, -1), dim=-1)")
    wrong("by_k", "You divide the scores by K = {K}, not by √K = {root_K}: the weights come out too even.",
          breaks=ATTENTION, old="attention_weights(query, key)",
          new="softmax(query @ key.transpose(-2, -1) / query.size(-1), dim=-1)")
    wrong("by_root_of_value_width", "You take the root of the wrong width: √Dv, the values' (Dv = {Dv}). The scores are sums over the width of queries and keys, so it is √K with K = {K}.",
          breaks=ATTENTION, old="attention_weights(query, key)",
          new="softmax(query @ key.transpose(-2, -1) / math.sqrt(value.size(-1)), dim=-1)")
    wrong("by_root_t", "You divide the scores by √T (the number of queries), not by √K (their width). With T = K you would not have noticed; here T = {T} and K = {K}.",
          breaks=ATTENTION, old="attention_weights(query, key)",
          new="softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-2)), dim=-1)")
    wrong("by_root_s", "You divide the scores by √S (the number of keys), not by √K (their width). With S = K you would not have noticed; here S = {S} and K = {K}.",
          breaks=ATTENTION, old="attention_weights(query, key)",
          new="softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-2)), dim=-1)")
    wrong("scaled_after", "You divide by √K after the softmax, so the result is too small and the softmax saturates early. Scale the scores, before the softmax.",
          breaks=ATTENTION, old="weighted_values(attention_weights(query, key), value)",
          new="weighted_values(softmax(query @ key.transpose(-2, -1), dim=-1), value) / math.sqrt(query.size(-1))")
    wrong("forgets_values", "You return the attention weights: the values never enter. Multiply the weights by `value`.",
          breaks=("shape", *ATTENTION), old="weighted_values(attention_weights(query, key), value)",
          new="attention_weights(query, key)")
    wrong("mixes_keys", "You mix the keys: `value` never enters. Keys are there to be compared with queries; what is mixed are the values.",
          breaks=("shape", *ATTENTION), old="key), value)", new="key), key)")
    wrong("forgets_softmax", "The softmax is missing: you mix the values with raw scores, which may be negative and need not sum to one.",
          breaks=ATTENTION, old="attention_weights(query, key)", new="scaled_scores(query, key)")
    wrong("weights_transposed", "You mix the values with the transposed weights: each key hands out where each query should collect. That runs only where T equals S; row t of the weights belongs to query t.",
          breaks=("shape", *ATTENTION), old="(query, key)", new="(query, key).transpose(-2, -1)")
    wrong("roles_swapped", "Query and key have changed places: you compute KQᵀ, so the keys do the asking. That runs only where T equals S. One row per query is wanted: QKᵀ.",
          breaks=("shape", *ATTENTION), old="(query, key)", new="(key, query)")
    wrong("divides_by_s", "You divide the mixture by S, the number of keys: a mean where a sum is wanted. The weights are shares already.",
          breaks=ATTENTION, old="key), value)", new="key), value) / key.size(-2)")
    wrong("axes_from_the_front", "You number the axes from the front (`transpose(1, 2)`), which fits three axes only. Counted from the back, −2 and −1 are right for any number of leading axes.",
          breaks="leading axes", old="attention_weights(query, key)",
          new="softmax(query @ key.transpose(1, 2) / math.sqrt(query.size(2)), dim=2)")
    wrong("softmax_along_2", "Your softmax runs along axis 2, which is the axis of the keys only if there is exactly one axis in front of (T, S). Count from the back: −1.",
          breaks="leading axes", old="attention_weights(query, key)", new="softmax(scaled_scores(query, key), dim=2)")
    wrong("bmm_only", "`torch.bmm` takes exactly three axes, so yours stops at a single sentence and at heads. `@` works for any number of leading axes.",
          breaks="leading axes", old="weighted_values(", new="torch.bmm(")
    wrong("hides_the_future", "You hide the keys that come later (a causal mask). A decoder does that, in notebook 09; here every query may look at every key.",
          breaks=ATTENTION, old="return weighted_values(attention_weights(query, key), value)",
          new="scores = scaled_scores(query, key)\n"
              "    future = torch.ones_like(scores, dtype=torch.bool).triu(1)\n"
              "    return weighted_values(softmax(scores.masked_fill(future, -torch.inf), dim=-1), value)")
    wrong("overflows", "Right for small scores, but large ones overflow: exp(89) is ∞ in float32 already, and ∞/∞ is NaN. Use your `softmax`, which subtracts each row's largest score first.",
          breaks="large scores", old="return weighted_values(attention_weights(query, key), value)",
          new="exponentials = scaled_scores(query, key).exp()\n"
              "    return weighted_values(exponentials / exponentials.sum(dim=-1, keepdim=True), value)")
    wrong("weights_detached", "The mixture is right, but you detach the weights: no gradient reaches query and key, and the model could never learn where to look.",
          breaks="gradients", old="(query, key)", new="(query, key).detach()")

    MIXED = "weighted_values(attention_weights(query, key), value)"

    wrong("value_and_weights_swapped", "The weights come first, then the values, in `weighted_values(weights, value)` as in `weights @ value`; yours stand the other way round.",
          breaks=("shape", *ATTENTION), old=MIXED, new="weighted_values(value, attention_weights(query, key))")
    wrong("compares_values", "You compare the queries with the values: `key` never enters. Weights come from query and key; only then are the values mixed.",
          breaks=("shape", *ATTENTION), old="(query, key)", new="(query, value)")
    wrong("first_entry_only", "You return the first entry along the first axis alone. Every one is to have its own result: all leading axes stay.",
          breaks=("shape", *ATTENTION), old=MIXED, new=MIXED + "[0]")
    wrong("three_axes_and_bmm", "Two things here fit exactly three axes: an axis number counted from the front, and `torch.bmm`. With −2 and −1, and with `@`, any number of leading axes will do.",
          breaks="leading axes", old=MIXED,
          new="torch.bmm(softmax(torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1)), dim=-1), value)")
    wrong("unpacks_three_sizes", "You unpack exactly three sizes of a shape, so yours stops where there are two or four axes. You need only some from the back: `query.size(-1)`.",
          breaks="leading axes", old="return ", new="batch, length, width = query.shape\n    return ")
    wrong("einsum_of_three_axes", "The letters in your einsum name exactly three axes. `...` stands for any number in front: `\"...tk,...sk->...ts\"`; or use `@`.",
          breaks="leading axes", old="attention_weights(query, key)",
          new='softmax(torch.einsum("btk,bsk->bts", query, key) / math.sqrt(query.size(-1)), dim=-1)')
    wrong("batch_taken_for_granted", "You take items along the first axis as if it always were a batch. Without one these are single queries and keys, vectors, which have no axis −2. `@` takes all leading axes by itself.",
          breaks="leading axes", old="return " + MIXED,
          new="pairs = zip(query, key, value)\n"
              "    return torch.stack([weighted_values(attention_weights(q, k), v) for q, k, v in pairs])")
    wrong("leading_axes_flattened", "You flatten the leading axes into one and don't restore them at the end: with two of them your result has one axis too few, with none it has one too many.",
          breaks="leading axes", old=MIXED,
          new="weighted_values(\n"
              "        attention_weights(query.reshape(-1, *query.shape[-2:]), key.reshape(-1, *key.shape[-2:])),\n"
              "        value.reshape(-1, *value.shape[-2:]))")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): all leading axes are to stay.",
          breaks="leading axes", old=MIXED, new=MIXED + ".squeeze()")


@MISTAKES.of(attention_entropy)
def in_attention_entropy(wrong):
    ENTROPY = ("values", "leading axes", "zeros")
    KEPT_FINITE = "weights.clamp(min=torch.finfo(weights.dtype).tiny).log()  # (..., T, S), finite where a weight is 0"

    wrong("nan_at_zeros", "Where a weight is exactly 0 you compute 0·(−∞), which is NaN, and one NaN spoils the row. Such a term is to count 0: keep the logarithm away from zero (`clamp`), or use `torch.xlogy`, or `torch.where`.",
          breaks="zeros", old=KEPT_FINITE, new="weights.log()  # (..., T, S)")
    wrong("bits", "Yours is in bits: a logarithm to base 2. In nats it is the natural logarithm, so your numbers are 1/ln 2 ≈ 1.44 times too large.",
          breaks=ENTROPY, old=".log()", new=".log2()")
    wrong("base_ten", "Yours has a logarithm to base 10. In nats it is the natural logarithm, `log`.",
          breaks=ENTROPY, old=".log()", new=".log10()")
    wrong("sign", "Your entropies are negative: the minus sign is missing. Logarithms of shares are at most zero, so −Σ w ln w is at least zero.",
          breaks=ENTROPY, old="-weights", new="weights")
    wrong("sums_everything", "You sum over everything and return one number. Each query has an entropy of its own: sum over the keys only, the last axis.",
          breaks=("shape", *ENTROPY), old=".sum(dim=-1)", new=".sum()")
    wrong("mean_over_queries", "You average over the queries. Each query has an entropy of its own: the result keeps the axis of the queries.",
          breaks=("shape", *ENTROPY), old=".sum(dim=-1)", new=".sum(dim=-1).mean(dim=-1)")
    wrong("mean_over_everything", "You average over the queries and everything else, and return one number. Each query has an entropy of its own.",
          breaks=("shape", *ENTROPY), old=".sum(dim=-1)", new=".sum(dim=-1).mean()")
    wrong("over_queries", "You sum over the queries, not over the keys. Row t holds the weights of query t: sum over the last axis.",
          breaks=("shape", *ENTROPY), old="dim=-1", new="dim=-2")
    wrong("along_axis_1", "You sum along axis 1, counted from the front: the queries, or the heads. The keys are the last axis, −1, however many axes stand in front.",
          breaks=("shape", *ENTROPY), old="dim=-1", new="dim=1")
    wrong("along_axis_2", "You sum along axis 2, counted from the front, which is the axis of the keys only if there are exactly three axes. Count from the back: −1.",
          breaks="leading axes", old="dim=-1", new="dim=2")
    wrong("mean_over_keys", "You take the mean over the keys; entropy is the sum. The average over keys is already in the weights w of −Σ w ln w. With S = {S} yours is {S} times too small.",
          breaks=ENTROPY, old=".sum(dim=-1)", new=".mean(dim=-1)")
    wrong("unweighted", "You add up −ln w without the factor w in front. Each key's surprise counts as much as the weight it has: −Σ w ln w.",
          breaks=ENTROPY, old="(weights * surprise)", new="surprise")
    wrong("log_of_one_plus", "You take the logarithm of 1 + w. That avoids ln 0, but it is another function: a weight of 1 should add nothing, and ln 2 it is. Keep ln w and treat w = 0 by itself.",
          breaks=ENTROPY, old=KEPT_FINITE, new="weights.log1p()  # (..., T, S)")
    wrong("large_eps", "You add 0.001 inside the logarithm, enough to change the entropy in the third digit. A constant below one millionth would do no harm; a `clamp` leaves all other weights exactly as they are.",
          breaks=ENTROPY, old="weights.clamp(min=torch.finfo(weights.dtype).tiny)", new="(weights + 1e-3)")
    wrong("softmax_again", "You pass the weights through a softmax again. They are shares already; the second softmax makes them nearly equal, and the entropy nearly ln S.",
          breaks=ENTROPY, old="surprise = -", new="weights = softmax(weights, dim=-1)\n    surprise = -")
    wrong("as_a_share", "You divide by ln S, the largest possible entropy, and so return a share between 0 and 1. In nats it is the plain sum.",
          breaks=ENTROPY, old=".sum(dim=-1)", new=".sum(dim=-1) / math.log(weights.size(-1))")
    wrong("perplexity", "You take the exponential of the entropy: that is the perplexity, an effective number of keys. Wanted is the entropy itself, in nats.",
          breaks=ENTROPY, old=".sum(dim=-1)", new=".sum(dim=-1).exp()")
    wrong("patches_rows", "You replace NaN after the sum: a single zero weight turns the entropy of its whole row into 0. Treat the term, before the sum.",
          breaks="zeros", old=(KEPT_FINITE, ".sum(dim=-1)"), new=("weights.log()  # (..., T, S)", ".sum(dim=-1).nan_to_num(0.0)"))
    wrong("keeps_axis", "You keep the axis of the keys, with size 1 (`keepdim=True`). One number per query is wanted, (…, T).",
          breaks=("shape", *ENTROPY), old="dim=-1", new="dim=-1, keepdim=True")
    wrong("not_summed", "You don't sum over the keys: you return each key's own term −w ln w. A query's entropy is their sum.",
          breaks=("shape", *ENTROPY), old="(weights * surprise).sum(dim=-1)", new="weights * surprise")
    wrong("squeezed", "Your result loses its axes of size 1 (`squeeze`): all leading axes are to stay.",
          breaks="leading axes", old=".sum(dim=-1)", new=".sum(dim=-1).squeeze()")
    for constant in ("0.01", "0.001"):
        wrong(f"clamped_at_{constant}".replace(".", "_"), f"You raise all weights below {constant} to {constant} inside the logarithm: that changes small weights, too, not only those that are 0. Take a far smaller number, such as 1e-9.",
              breaks=ENTROPY if constant == "0.01" else ("values", "leading axes"), old="torch.finfo(weights.dtype).tiny", new=constant)
    for constant in ("0.1", "0.01", "0.0001"):
        wrong(f"adds_{constant}".replace(".", "_"), f"You add {constant} inside the logarithm, which changes more than rounding does. Take a far smaller number, such as 1e-9; or a `clamp`, which leaves all other weights as they are.",
              breaks=ENTROPY, old="weights.clamp(min=torch.finfo(weights.dtype).tiny)", new=f"(weights + {constant})")
    for name, logarithm in {
        "no_zeros": "weights.where(weights > 0, 1.0).log()",
        "and_infinite": "weights.log()",
        "clamped_at_1e_12": "weights.clamp(min=1e-12).log()",
        "clamped_at_1e_9": "weights.clamp(min=1e-9).log()",
    }.items():
        wrong(f"unweighted_{name}", "You add up −ln w without the factor w in front. Each key's surprise counts as much as the weight it has: −Σ w ln w.",
              breaks=ENTROPY, old=(KEPT_FINITE, "(weights * surprise)"), new=(logarithm, "surprise"))
    wrong("variance", "You return the variance of the weights: also a measure of spread, but another one. Wanted is −Σ w ln w.",
          breaks=ENTROPY, old="(weights * surprise).sum(dim=-1)", new="weights.var(dim=-1)")
    wrong("standard_deviation", "You return the standard deviation of the weights: also a measure of spread, but another one. Wanted is −Σ w ln w.",
          breaks=ENTROPY, old="(weights * surprise).sum(dim=-1)", new="weights.std(dim=-1)")
    wrong("one_minus_squares", "You return 1 − Σ w² (the Gini index): also a measure of spread, but another one. Wanted is −Σ w ln w.",
          breaks=ENTROPY, old="(weights * surprise).sum(dim=-1)", new="1 - (weights**2).sum(dim=-1)")
    wrong("squares", "You return Σ w². Wanted is −Σ w ln w: each weight is multiplied by its logarithm, not by itself.",
          breaks=ENTROPY, old="(weights * surprise).sum(dim=-1)", new="(weights**2).sum(dim=-1)")
    wrong("logarithm_of_the_sum", "You take the logarithm after the sum, ln Σ w, which is ln 1 = 0. Take it of each weight, and multiply by the weight, before the sum.",
          breaks=ENTROPY, old=(KEPT_FINITE, "(weights * surprise).sum(dim=-1)"), new=("weights", "weights.sum(dim=-1).log()"))
    wrong("largest_term", "You return the largest of the terms −w ln w. They are to be added up.",
          breaks=ENTROPY, old=".sum(dim=-1)", new=".amax(dim=-1)")
    wrong("last_key_left_out", "The last key is left out of your sum. (`range(n)` ends at n − 1 by itself.)",
          breaks=ENTROPY, old="(weights * surprise)", new="(weights * surprise)[..., :-1]")
