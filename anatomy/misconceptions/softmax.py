"""Wrong answers to the exercises of 03-softmax."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anatomy.misconceptions import misconception

# ---------------------------------------------------------------------------------------------- softmax


@misconception(
    "Your softmax is right for small scores and overflows for large ones: exp(89) is already ∞ in float32, and ∞/∞ is "
    "NaN. Subtract each slice's largest entry first; it cancels in the fraction.",
    breaks=("large scores",),
)
def softmax__overflows(x: Tensor, dim: int) -> Tensor:
    exponentials = x.exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You subtract the largest entry of the whole tensor. It cancels on paper, but a slice that lies 200 below it becomes "
    "exp(−200) = 0 everywhere, and 0/0 is NaN. Each slice along `dim` needs its own largest entry.",
    breaks=("large scores",),
)
def softmax__global_max(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.max()).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You subtract the mean of each slice. It cancels as the maximum would, but what lies far above the mean still "
    "overflows; only the maximum guarantees that no exponent is above zero.",
    breaks=("large scores",),
)
def softmax__subtracts_mean(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.mean(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You subtract the smallest entry of each slice: all exponents are now above zero, where exp overflows. "
    "Subtract the largest one, so that all are at most zero.",
    breaks=("large scores",),
)
def softmax__subtracts_min(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amin(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You replace NaN by zero after the overflow. The tensor looks clean, but the largest score, which should get nearly "
    "all the weight, now gets none. Prevent the overflow: subtract each slice's largest entry before the exponential.",
    breaks=("large scores",),
)
def softmax__patches_nan(x: Tensor, dim: int) -> Tensor:
    exponentials = x.exp()
    return (exponentials / exponentials.sum(dim=dim, keepdim=True)).nan_to_num(0.0)


@misconception(
    "You clamp the scores so that exp can't overflow. All scores beyond the limit become equal, and with them their "
    "weights. Subtracting each slice's largest entry keeps the differences, which is all that softmax looks at.",
    breaks=("large scores",),
)
def softmax__clamps(x: Tensor, dim: int) -> Tensor:
    exponentials = x.clamp(min=-80, max=80).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You divide the scores by the largest one (in absolute value). That does prevent the overflow, but it changes the "
    "differences between scores, and so the weights. Subtract the largest instead: a subtraction cancels, a division doesn't.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__divides_by_max(x: Tensor, dim: int) -> Tensor:
    exponentials = (x / x.abs().amax(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You take the maximum along the last axis and the sum along `dim`. The maximum cancels only if all entries that are "
    "summed together lose the same number: take both along `dim`.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__max_along_last(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "Your softmax always runs along the last axis and ignores `dim`. Hand `dim` on to the maximum and to the sum.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__ignores_dim(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@misconception(
    "You divide by the sum over the whole tensor, so all entries together sum to one. Each slice along `dim` must sum to "
    "one by itself: sum along `dim` only.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__sums_over_everything(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum()


@misconception(
    "Your sum loses the axis that it runs along (no `keepdim=True`). Broadcasting then lines it up with another axis: "
    "an error if the sizes differ, and silently wrong numbers if they happen to agree.",
    breaks=("shape", "values", "large scores", "gradients"),
)
def softmax__sum_without_keepdim(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim)


@misconception(
    "Your maximum loses the axis that it runs along (no `keepdim=True`). Broadcasting then lines it up with another axis: "
    "an error if the sizes differ, and silently wrong numbers if they happen to agree.",
    breaks=("shape", "values", "large scores", "gradients"),
)
def softmax__max_without_keepdim(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "Your maximum and your sum lose the axis that they run along (no `keepdim=True`). Broadcasting then lines them up "
    "with another axis: an error if the sizes differ, and silently wrong numbers if they happen to agree.",
    breaks=("shape", "values", "large scores", "gradients"),
)
def softmax__without_keepdim(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim)).exp()
    return exponentials / exponentials.sum(dim=dim)


@misconception(
    "You raise 2 to the scores; softmax raises e ≈ 2.718 to them. Yours is a softmax at temperature 1/ln 2 ≈ 1.44, "
    "flatter than the one wanted.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__base_two(x: Tensor, dim: int) -> Tensor:
    exponentials = 2.0 ** (x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You normalize twice: your weights went through a second softmax, which makes them nearly equal. Once is enough.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__twice(x: Tensor, dim: int) -> Tensor:
    for _ in range(2):
        x = (x - x.amax(dim=dim, keepdim=True)).exp()
        x = x / x.sum(dim=dim, keepdim=True)
    return x


@misconception(
    "You add a small constant (0.001) to the sum, so your weights sum to a little less than one. None is needed: once the "
    "maximum is subtracted one term is exp(0) = 1, and the sum can't be zero.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__adds_eps(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()
    return exponentials / (exponentials.sum(dim=dim, keepdim=True) + 1e-3)


@misconception(
    "You divide the scores by their sum, without the exponential. Scores may be negative, so such shares may be too, and "
    "the sum may be zero: take the exponential first.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__without_exp(x: Tensor, dim: int) -> Tensor:
    return x / x.sum(dim=dim, keepdim=True)


@misconception(
    "You return the exponentials of the shifted scores without dividing by their sum: the largest entry of each slice is "
    "1, where the whole slice should sum to 1.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__not_normalized(x: Tensor, dim: int) -> Tensor:
    return (x - x.amax(dim=dim, keepdim=True)).exp()


@misconception(
    "You return the logarithm of the softmax: all your numbers are at most zero. Take the exponential of what you return.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__logarithm(x: Tensor, dim: int) -> Tensor:
    return x - x.logsumexp(dim=dim, keepdim=True)


@misconception(
    "Yours is a sigmoid: each entry lies between 0 and 1 by itself, but a slice doesn't sum to 1. Softmax lets the "
    "entries of a slice compete: divide by the sum of their exponentials.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__sigmoid(x: Tensor, dim: int) -> Tensor:
    return 1 / (1 + (-x).exp())


@misconception(
    "Your smallest score gets the largest weight: the scores enter with a minus sign. It is exp(x − max), not exp(max − x).",
    breaks=("values", "large scores", "gradients"),
)
def softmax__reversed(x: Tensor, dim: int) -> Tensor:
    exponentials = (x.amin(dim=dim, keepdim=True) - x).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You put a single 1 at the largest score: a hard maximum. Softmax gives every entry a share, in proportion to its "
    "exponential, and lets gradients flow to all of them.",
    breaks=("values", "large scores", "gradients"),
)
def softmax__hard_maximum(x: Tensor, dim: int) -> Tensor:
    return (x == x.amax(dim=dim, keepdim=True)).float()


@misconception(
    "The values are right, but no gradient passes: `detach`, `.data`, `torch.no_grad` or a way through NumPy cuts it. Only "
    "the maximum may be detached, because it cancels.",
    breaks=("large scores", "gradients"),
)
def softmax__detached(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim, keepdim=True)).detach().exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@misconception(
    "You detach the sum. The values are right; the gradient isn't, because raising one score lowers the others' weights, "
    "and that happens through the sum.",
    breaks=("large scores", "gradients"),
)
def softmax__detached_sum(x: Tensor, dim: int) -> Tensor:
    exponentials = (x - x.amax(dim=dim, keepdim=True).detach()).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True).detach()


# ---------------------------------------------------------------------------------------------- attention_weights


@misconception(
    "Your softmax runs over the queries: the columns sum to one, but each query's weights must. The keys are the last axis.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__over_queries(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-2)


@misconception(
    "Your softmax runs over the batch: sentences compete with each other for weight. The keys are the last axis.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__over_batch(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=0)


@misconception(
    "You normalize over the whole tensor: all weights of the batch together sum to one. Each query's row must sum to one "
    "by itself.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__over_everything(query: Tensor, key: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores.flatten(), dim=0).view_as(scores)


@misconception(
    "You normalize over queries and keys together: each sentence's T·S = {T}·{S} weights sum to one. Each query's row of "
    "{S} must sum to one by itself.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__over_queries_and_keys(query: Tensor, key: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores.flatten(1), dim=1).view_as(scores)


@misconception(
    "You leave the scores unscaled. Divide them by √D (here √{D} = {root_D}) before the softmax, or use `scaled_scores`.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__unscaled(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1)


@misconception(
    "You divide the scores by D = {D} in all, not by √D = {root_D}: the weights come out too even. (`scaled_scores` has "
    "divided by √D already.)",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__by_d(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / query.size(-1), dim=-1)


@misconception(
    "You divide the scores by √T (the number of queries), not by √D (their width). With T = D you would not have noticed; "
    "here T = {T} and D = {D}.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__by_root_t(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-2)), dim=-1)


@misconception(
    "You divide the scores by √S (the number of keys), not by √D (their width). With S = D you would not have noticed; "
    "here S = {S} and D = {D}.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__by_root_s(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-2)), dim=-1)


@misconception(
    "You multiply the scores by √D; they are to be divided by it. Yours are {D} times too large, and the softmax "
    "saturates.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__times_root_d(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) * math.sqrt(query.size(-1)), dim=-1)


@misconception(
    "You scale twice. `scaled_scores` has divided by √D already; dividing the weights by it once more makes each row sum "
    "to 1/√D = 1/{root_D}, not to one.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__scaled_again_after(query: Tensor, key: Tensor) -> Tensor:
    root = math.sqrt(query.size(-1))
    return torch.softmax(query @ key.transpose(-2, -1) / root, dim=-1) / root


@misconception(
    "You divide by √D after the softmax. The scores are to be scaled before it; afterwards the rows sum to 1/√D = "
    "1/{root_D}, and the softmax has saturated already.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__scaled_after(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1) / math.sqrt(query.size(-1))


@misconception(
    "You return the scaled scores. The softmax that turns them into weights is missing.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))


@misconception(
    "You divide the scores by their row sum, without the exponential. Scores may be negative, so such weights may be too, "
    "and the sum may be zero.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__without_exp(query: Tensor, key: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return scores / scores.sum(dim=-1, keepdim=True)


@misconception(
    "You apply a sigmoid: every pair gets a weight between 0 and 1 by itself. The keys are to compete for each query's "
    "attention, so that its row sums to one: that is softmax.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__sigmoid(query: Tensor, key: Tensor) -> Tensor:
    return torch.sigmoid(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)))


@misconception(
    "You apply softmax twice, which makes the weights nearly equal. Once is enough.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__softmax_twice(query: Tensor, key: Tensor) -> Tensor:
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return torch.softmax(weights, dim=-1)


@misconception(
    "You return the logarithms of the weights (a log-softmax): they are at most zero. The weights themselves are wanted.",
    breaks=("rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__logarithms(query: Tensor, key: Tensor) -> Tensor:
    return torch.log_softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)


@misconception(
    "You bring queries and keys to length 1 first: a cosine, which lies between −1 and 1 and can never be sharp. Attention "
    "uses the dot product as it is, divided by √D = {root_D}; long vectors may speak louder.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__cosine(query: Tensor, key: Tensor) -> Tensor:
    query = query / query.norm(dim=-1, keepdim=True)
    key = key / key.norm(dim=-1, keepdim=True)
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1)


@misconception(
    "Right for small scores, but large ones overflow: exp(89) is ∞ in float32 already, and ∞/∞ is NaN. Use your `softmax`, "
    "which subtracts each row's largest score first.",
    breaks=("large scores",),
)
def attention_weights__overflows(query: Tensor, key: Tensor) -> Tensor:
    exponentials = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@misconception(
    "Your weights are transposed: `weights[b, s, t]`, keys down and queries across. One row per query is wanted, (B, T, S).",
    breaks=("shape", "rows sum to one", "values", "large scores", "gradients"),
)
def attention_weights__transposed(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1).transpose(-2, -1)


@misconception(
    "Query and key have changed places: you compute KQᵀ, so it is the keys that ask and the queries that answer. "
    "One row per query is wanted: QKᵀ.",
    breaks=("shape", "values", "large scores", "gradients"),
)
def attention_weights__roles_swapped(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(key @ query.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)


@misconception(
    "Every sentence gets the weights of the first one: somewhere you take only item 0 of the batch.",
    breaks=("values", "large scores", "gradients"),
)
def attention_weights__first_of_batch(query: Tensor, key: Tensor) -> Tensor:
    weights = torch.softmax(query[0] @ key[0].T / math.sqrt(query.size(-1)), dim=-1)
    return weights.expand(query.size(0), -1, -1)


@misconception(
    "The values are right, but no gradient reaches query and key: `detach`, `.data`, `torch.no_grad` or a way through "
    "NumPy cuts it, and the model could never learn where to look.",
    breaks=("large scores", "gradients"),
)
def attention_weights__detached(query: Tensor, key: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1).detach()


# ---------------------------------------------------------------------------------------------- weighted_values


@misconception(
    "You multiply by the transposed weights: each key hands its value out to queries, where each query should "
    "collect the values of the keys. That runs only where T equals S; row t of the weights belongs to query t.",
    breaks=("shape", "values", "gradients"),
)
def weighted_values__transposed(weights: Tensor, value: Tensor) -> Tensor:
    return weights.transpose(-2, -1) @ value


@misconception(
    "You divide by S, the number of keys: a mean where a sum is wanted. The weights are shares already; with S = {S} your "
    "result is {S} times too small.",
    breaks=("values", "gradients"),
)
def weighted_values__divides_by_s(weights: Tensor, value: Tensor) -> Tensor:
    return weights @ value / value.size(-2)


@misconception(
    "You multiply each value by its weight, but don't add them up: your result still has the axis of the keys. "
    "Sum over it.",
    breaks=("shape", "values", "gradients"),
)
def weighted_values__not_summed(weights: Tensor, value: Tensor) -> Tensor:
    return weights.unsqueeze(-1) * value.unsqueeze(-3)


@misconception(
    "You multiply entry by entry (`*`), which pairs weight [t, s] with value [s, d] by position. Each query's weights are "
    "to be combined with all value rows: a matrix product (`@`).",
    breaks=("shape", "values", "gradients"),
)
def weighted_values__elementwise(weights: Tensor, value: Tensor) -> Tensor:
    return weights * value


@misconception(
    "You ignore the weights: every query gets the plain mean of all values. Multiply each value by its weight before "
    "adding.",
    breaks=("values", "gradients"),
)
def weighted_values__plain_mean(weights: Tensor, value: Tensor) -> Tensor:
    return value.mean(dim=-2, keepdim=True).expand(-1, weights.size(-2), -1) + 0 * weights.sum()


@misconception(
    "You ignore the weights: every query gets the plain sum of all values. Multiply each value by its weight before "
    "adding.",
    breaks=("values", "gradients"),
)
def weighted_values__plain_sum(weights: Tensor, value: Tensor) -> Tensor:
    return value.sum(dim=-2, keepdim=True).expand(-1, weights.size(-2), -1)


@misconception(
    "You return the weights: the values never enter. Each query's row of weights is a recipe; the value rows are what "
    "is to be mixed.",
    breaks=("shape", "values", "gradients"),
)
def weighted_values__forgets_values(weights: Tensor, value: Tensor) -> Tensor:
    return weights


@misconception(
    "You pick the value with the largest weight and drop all others. A weighted sum mixes in every value by its share.",
    breaks=("values", "gradients"),
)
def weighted_values__picks_largest(weights: Tensor, value: Tensor) -> Tensor:
    best = weights.argmax(dim=-1, keepdim=True)
    return value.gather(-2, best.expand(-1, -1, value.size(-1)))


@misconception(
    "You pass the weights through a softmax again, which makes them nearly equal. They are weights already: use them as "
    "they come.",
    breaks=("values", "gradients"),
)
def weighted_values__softmax_again(weights: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(weights, dim=-1) @ value


@misconception(
    "You divide by the sum of the weights. Where rows sum to one it changes nothing, but weights that were dropped on "
    "purpose must stay missing: use the weights as they come.",
    breaks=("values", "gradients"),
)
def weighted_values__renormalizes(weights: Tensor, value: Tensor) -> Tensor:
    return weights @ value / weights.sum(dim=-1, keepdim=True)


@misconception(
    "Every sentence is mixed from the values of the first one: somewhere you take only item 0 of the batch.",
    breaks=("values", "gradients"),
)
def weighted_values__first_of_batch(weights: Tensor, value: Tensor) -> Tensor:
    return weights @ value[0]


@misconception(
    "You transpose the values, so weights meet the value's width where they should meet the keys. (B, T, S) times "
    "(B, S, Dv): the two S already stand next to each other.",
    breaks=("shape", "values", "gradients"),
)
def weighted_values__values_transposed(weights: Tensor, value: Tensor) -> Tensor:
    return weights @ value.transpose(-2, -1)


@misconception(
    "The mixture is right, but you detach the weights: values learn what to say, and queries and keys never learn where "
    "to look.",
    breaks=("gradients",),
)
def weighted_values__weights_detached(weights: Tensor, value: Tensor) -> Tensor:
    return weights.detach() @ value


# ---------------------------------------------------------------------------------------------- scaled_dot_product_attention


@misconception(
    "Your softmax runs over the queries: the columns of the weights sum to one, but each query's row must. The keys are "
    "the last axis of the scores.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__over_queries(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-2) @ value


@misconception(
    "Your softmax runs over the first axis, the batch: sentences compete with each other for weight. The keys are the "
    "last axis of the scores.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__over_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=0) @ value


@misconception(
    "You normalize over the whole tensor of scores. Each query's row must sum to one by itself.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__over_everything(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores.flatten(), dim=0).view_as(scores) @ value


@misconception(
    "“Scaled” is missing: divide the scores by √K (here √{K} = {root_K}) before the softmax.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__unscaled(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1) @ value


@misconception(
    "You divide the scores by K = {K}, not by √K = {root_K}: the weights come out too even.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__by_k(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / query.size(-1), dim=-1) @ value


@misconception(
    "You take the root of the wrong width: √Dv, the values' (Dv = {Dv}). The scores are sums over the width of queries and "
    "keys, so it is √K with K = {K}.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__by_root_of_value_width(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(value.size(-1)), dim=-1) @ value


@misconception(
    "You divide the scores by √T (the number of queries), not by √K (their width). With T = K you would not have noticed; "
    "here T = {T} and K = {K}.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__by_root_t(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-2)), dim=-1) @ value


@misconception(
    "You divide the scores by √S (the number of keys), not by √K (their width). With S = K you would not have noticed; "
    "here S = {S} and K = {K}.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__by_root_s(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-2)), dim=-1) @ value


@misconception(
    "You divide by √K after the softmax, so the result is too small and the softmax saturates early. Scale the scores, "
    "before the softmax.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__scaled_after(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1) @ value / math.sqrt(query.size(-1))


@misconception(
    "You return the attention weights: the values never enter. Multiply the weights by `value`.",
    breaks=("shape", "values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__forgets_values(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)


@misconception(
    "You mix the keys: `value` never enters. Keys are there to be compared with queries; what is mixed are the values.",
    breaks=("shape", "values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__mixes_keys(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1) @ key


@misconception(
    "The softmax is missing: you mix the values with raw scores, which may be negative and need not sum to one.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__forgets_softmax(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)) @ value


@misconception(
    "You mix the values with the transposed weights: each key hands out where each query should collect. That runs only "
    "where T equals S; row t of the weights belongs to query t.",
    breaks=("shape", "values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__weights_transposed(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights.transpose(-2, -1) @ value


@misconception(
    "Query and key have changed places: you compute KQᵀ, so the keys do the asking. That runs only where T equals S. "
    "One row per query is wanted: QKᵀ.",
    breaks=("shape", "values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__roles_swapped(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(key @ query.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1) @ value


@misconception(
    "You divide the mixture by S, the number of keys: a mean where a sum is wanted. The weights are shares already.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__divides_by_s(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value / key.size(-2)


@misconception(
    "You number the axes from the front (`transpose(1, 2)`), which fits three axes only. Counted from the back, −2 and −1 "
    "are right for any number of leading axes.",
    breaks=("leading axes",),
)
def scaled_dot_product_attention__axes_from_the_front(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(1, 2) / math.sqrt(query.size(2)), dim=2) @ value


@misconception(
    "Your softmax runs along axis 2, which is the axis of the keys only if there is exactly one axis in front of (T, S). "
    "Count from the back: −1.",
    breaks=("leading axes",),
)
def scaled_dot_product_attention__softmax_along_2(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=2) @ value


@misconception(
    "`torch.bmm` takes exactly three axes, so yours stops at a single sentence and at heads. `@` works for any number of "
    "leading axes.",
    breaks=("leading axes",),
)
def scaled_dot_product_attention__bmm_only(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    scores = torch.bmm(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.bmm(torch.softmax(scores, dim=-1), value)


@misconception(
    "You hide the keys that come later (a causal mask). A decoder does that, in notebook 09; here every query may look at "
    "every key.",
    breaks=("values", "leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__hides_the_future(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ value


@misconception(
    "Right for small scores, but large ones overflow: exp(89) is ∞ in float32 already, and ∞/∞ is NaN. Use your `softmax`, "
    "which subtracts each row's largest score first.",
    breaks=("large scores",),
)
def scaled_dot_product_attention__overflows(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    exponentials = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True) @ value


@misconception(
    "The mixture is right, but you detach the weights: no gradient reaches query and key, and the model could never learn "
    "where to look.",
    breaks=("leading axes", "large scores", "gradients"),
)
def scaled_dot_product_attention__weights_detached(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1).detach() @ value


# ---------------------------------------------------------------------------------------------- attention_entropy


@misconception(
    "Where a weight is exactly 0 you compute 0·(−∞), which is NaN, and one NaN spoils the row. Such a term is to count 0: "
    "keep the logarithm away from zero (`clamp`), or use `torch.xlogy`, or `torch.where`.",
    breaks=("zeros",),
)
def attention_entropy__nan_at_zeros(weights: Tensor) -> Tensor:
    return -(weights * weights.log()).sum(dim=-1)


@misconception(
    "Yours is in bits: a logarithm to base 2. In nats it is the natural logarithm, so your numbers are 1/ln 2 ≈ 1.44 times "
    "too large.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__bits(weights: Tensor) -> Tensor:
    return -(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)


@misconception(
    "Yours has a logarithm to base 10. In nats it is the natural logarithm, `log`.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__base_ten(weights: Tensor) -> Tensor:
    return -(weights * weights.clamp(min=1e-30).log10()).sum(dim=-1)


@misconception(
    "Your entropies are negative: the minus sign is missing. Logarithms of shares are at most zero, so −Σ w ln w is at "
    "least zero.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__sign(weights: Tensor) -> Tensor:
    return torch.xlogy(weights, weights).sum(dim=-1)


@misconception(
    "You sum over everything and return one number. Each query has an entropy of its own: sum over the keys only, the "
    "last axis.",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__sums_everything(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum()


@misconception(
    "You average over the queries. Each query has an entropy of its own: the result keeps the axis of the queries.",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__mean_over_queries(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=-1).mean(dim=-1)


@misconception(
    "You average over the queries and everything else, and return one number. Each query has an entropy of its own.",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__mean_over_everything(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=-1).mean()


@misconception(
    "You sum over the queries, not over the keys. Row t holds the weights of query t: sum over the last axis.",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__over_queries(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=-2)


@misconception(
    "You sum along axis 1, counted from the front: the queries, or the heads. The keys are the last axis, −1, however many "
    "axes stand in front.",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__along_axis_1(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=1)


@misconception(
    "You sum along axis 2, counted from the front, which is the axis of the keys only if there are exactly three axes. "
    "Count from the back: −1.",
    breaks=("leading axes",),
)
def attention_entropy__along_axis_2(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=2)


@misconception(
    "You take the mean over the keys; entropy is the sum. The average over keys is already in the weights w of −Σ w ln w. "
    "With S = {S} yours is {S} times too small.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__mean_over_keys(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).mean(dim=-1)


@misconception(
    "You add up −ln w without the factor w in front. Each key's surprise counts as much as the weight it has: −Σ w ln w.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__unweighted(weights: Tensor) -> Tensor:
    return -weights.clamp(min=1e-30).log().sum(dim=-1)


@misconception(
    "You take the logarithm of 1 + w. That avoids ln 0, but it is another function: a weight of 1 should add nothing, and "
    "ln 2 it is. Keep ln w and treat w = 0 by itself.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__log_of_one_plus(weights: Tensor) -> Tensor:
    return -(weights * weights.log1p()).sum(dim=-1)


@misconception(
    "You add 0.001 inside the logarithm, enough to change the entropy in the third digit. A constant below one millionth "
    "would do no harm; a `clamp` leaves all other weights exactly as they are.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__large_eps(weights: Tensor) -> Tensor:
    return -(weights * (weights + 1e-3).log()).sum(dim=-1)


@misconception(
    "You pass the weights through a softmax again. They are shares already; the second softmax makes them nearly equal, "
    "and the entropy nearly ln S.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__softmax_again(weights: Tensor) -> Tensor:
    shares = torch.softmax(weights, dim=-1)
    return -(shares * shares.log()).sum(dim=-1)


@misconception(
    "You divide by ln S, the largest possible entropy, and so return a share between 0 and 1. In nats it is the plain sum.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__as_a_share(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=-1) / math.log(weights.size(-1))


@misconception(
    "You take the exponential of the entropy: that is the perplexity, an effective number of keys. Wanted is the entropy "
    "itself, in nats.",
    breaks=("values", "leading axes", "zeros"),
)
def attention_entropy__perplexity(weights: Tensor) -> Tensor:
    return (-torch.xlogy(weights, weights).sum(dim=-1)).exp()


@misconception(
    "You replace NaN after the sum: a single zero weight turns the entropy of its whole row into 0. Treat the term, before "
    "the sum.",
    breaks=("zeros",),
)
def attention_entropy__patches_rows(weights: Tensor) -> Tensor:
    return (-(weights * weights.log()).sum(dim=-1)).nan_to_num(0.0)


@misconception(
    "You keep the axis of the keys, with size 1 (`keepdim=True`). One number per query is wanted, (…, T).",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__keeps_axis(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(dim=-1, keepdim=True)


@misconception(
    "You don't sum over the keys: you return each key's own term −w ln w. A query's entropy is their sum.",
    breaks=("shape", "values", "leading axes", "zeros"),
)
def attention_entropy__not_summed(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights)
