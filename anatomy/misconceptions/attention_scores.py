"""Wrong answers to the exercises of 02-attention-scores."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.attention_scores import dot_product_scores, quiz_scaling, scaled_scores

# ---------------------------------------------------------------------------------------------- dot_product_scores


@misconception(
    "Query and key are swapped: your rows are keys and your columns queries, shape ({B}, {S}, {T}). One row per query is "
    "wanted, ({B}, {T}, {S}): the query stands on the left of the product.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__swapped(query: Tensor, key: Tensor) -> Tensor:
    return key @ query.transpose(-2, -1)


@misconception(
    "`key.T` turns *all* axes around, ({B}, {S}, {D}) into ({D}, {S}, {B}): the batch is where the width should be. Only "
    "the last two axes trade places, `key.transpose(-2, -1)`.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__all_axes_turned(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.permute(2, 1, 0)


@misconception(
    "You swap batch and time: `transpose(0, 1)` makes ({S}, {B}, {D}) of the key. The batch stays in front; the last "
    "two axes of `key` trade places, `transpose(1, 2)`.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__batch_and_time(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(0, 1)


@misconception(
    "Nothing is transposed: ({B}, {T}, {D}) times ({B}, {S}, {D}) puts the width of the query against the *number* of "
    "keys. The two widths must meet: `key` needs the shape ({B}, {D}, {S}).",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__not_transposed(query: Tensor, key: Tensor) -> Tensor:
    return query @ key


@misconception(
    "You multiply entry by entry, so query t meets only key t. That needs T = S; here every one of {T} queries is to meet "
    "every one of {S} keys: a matrix product.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__entry_by_entry(query: Tensor, key: Tensor) -> Tensor:
    return (query * key).sum(dim=-1)


@misconception(
    "`view` (or `reshape`) gives the right shape, ({B}, {D}, {S}), with the numbers in the wrong places: it keeps the "
    "order in memory. To make axes trade places use `transpose(-2, -1)`.",
    breaks=("values", "gradients"),
)
def dot_product_scores__reshape_for_transpose(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.reshape(key.size(0), key.size(2), key.size(1))


@misconception(
    "You compare the queries with themselves: `key` is never used. (In 00 there was one x; here asking and answering "
    "rows differ, and S = {S} is not T = {T}.)",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__queries_with_themselves(query: Tensor, key: Tensor) -> Tensor:
    return query @ query.transpose(-2, -1)


@misconception(
    "You add up over the batch as well: one ({T}, {S}) matrix is left of {B}. Each batch item is a sentence of its own; "
    "`b` must stay in the result.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__summed_over_batch(query: Tensor, key: Tensor) -> Tensor:
    return torch.einsum("btd,bsd->ts", query, key)


@misconception(
    "Every query meets the keys of *all* {B} batch items: flattened together, sentences see each other. Query and key "
    "must share their b.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__across_the_batch(query: Tensor, key: Tensor) -> Tensor:
    return query.flatten(0, 1) @ key.flatten(0, 1).T


@misconception(
    "All your queries meet the keys of the first batch item. Each item has its own keys: `key[b]` for `query[b]`.",
    breaks=("values", "gradients"),
)
def dot_product_scores__keys_of_the_first_item(query: Tensor, key: Tensor) -> Tensor:
    return query @ key[0].T


@misconception(
    "The products are right, but not added up: the axis of the width, D = {D}, is still there. A dot product is the *sum* "
    "over it.",
    breaks=("shape", "values", "gradients"),
)
def dot_product_scores__not_summed(query: Tensor, key: Tensor) -> Tensor:
    return query.unsqueeze(2) * key.unsqueeze(1)


@misconception(
    "You take the mean over the width where the dot product takes the sum: each score is {D} times too small.",
    breaks=("values", "gradients"),
)
def dot_product_scores__mean_for_sum(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(2) * key.unsqueeze(1)).mean(dim=-1)


@misconception(
    "You divide by √D = {root_D} already. That comes next, in `scaled_scores`; here the plain dot product is wanted.",
    breaks=("values", "gradients"),
)
def dot_product_scores__scaled_already(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))


@misconception(
    "You return cosines: the lengths of query and key are divided out, and every score lies between −1 and 1. In a dot "
    "product the lengths count.",
    breaks=("values", "gradients"),
)
def dot_product_scores__cosine(query: Tensor, key: Tensor) -> Tensor:
    unit_query = query / query.norm(dim=-1, keepdim=True)
    unit_key = key / key.norm(dim=-1, keepdim=True)
    return unit_query @ unit_key.transpose(-2, -1)


@misconception(
    "You take a softmax already. Scores come first and may be negative or large; 03 turns them into weights.",
    breaks=("values", "gradients"),
)
def dot_product_scores__softmax_already(query: Tensor, key: Tensor) -> Tensor:
    return (query @ key.transpose(-2, -1)).softmax(dim=-1)


@misconception(
    "The numbers are right, but no gradient gets through: numbers taken out with `.item()` or `float(…)` and put into a "
    "new tensor have forgotten where they came from. Keep tensors, and put them together with `torch.stack`.",
    breaks=("gradients",),
)
def dot_product_scores__numbers_taken_out(query: Tensor, key: Tensor) -> Tensor:
    return torch.tensor([[[torch.dot(q, k).item() for k in ks] for q in qs] for qs, ks in zip(query, key)])


# ---------------------------------------------------------------------------------------------- scaled_scores


@misconception(
    "You divide by D, not by √D: with D = {D} the scores come out {root_D} times too small.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_d(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / query.size(-1)


@misconception(
    "You divide by √T (the number of queries), not by √D (their width). With T = D you would not have noticed; here "
    "T = {T} and D = {D}.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_root_t(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.size(1))


@misconception(
    "You divide by √S (the number of keys), not by √D (their width). The number of terms in each dot product is D = {D}; "
    "S = {S} only says how many scores there are.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_root_s(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(key.size(1))


@misconception(
    "You divide by √B: `len(query)` and `query.size(0)` are the batch size, {B}. The width is the last size, "
    "`query.size(-1)`, here {D}.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_root_batch(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(len(query))


@misconception(
    "You divide by √3: `query.dim()` counts the *axes*. The width is the size of the last one, `query.size(-1)`, here {D}.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_root_number_of_axes(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(query.dim())


@misconception(
    "You divide by D/2: Python reads `D ** 1 / 2` as (D ** 1) / 2. The root is `D ** 0.5` or `math.sqrt(D)`.",
    breaks=("values", "gradients"),
)
def scaled_scores__half_of_d(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / (query.size(-1) ** 1 / 2)


@misconception(
    "You divide by the *whole-number part* of √D: `int(…)` or `//` cuts {root_D} off at the point. Keep the fraction.",
    breaks=("values", "gradients"),
)
def scaled_scores__whole_root(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / int(math.sqrt(query.size(-1)))


@misconception(
    "You divide by 8 whatever the width. That is √64, the width in the paper; here D = {D}. Read the width off the tensor: "
    "`query.size(-1)`.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_eight(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / 8


@misconception(
    "You divide by √768 whatever the width. That is the width of one particular BERT; here D = {D}. Read it off the tensor: "
    "`query.size(-1)`.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_root_768(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / math.sqrt(768)


@misconception(
    "You multiply by √D where you should divide: the scores grow with the width twice over. (`/ D ** -0.5` is a "
    "multiplication, too.)",
    breaks=("values", "gradients"),
)
def scaled_scores__times_root(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))


@misconception(
    "These are the unscaled dot products. Divide them by √D = {root_D}, the root of the width.",
    breaks=("values", "gradients"),
)
def scaled_scores__no_scale(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1)


@misconception(
    "You divide by √D twice: `dot_product_scores` (or one of its inputs) is scaled once already.",
    breaks=("values", "gradients"),
)
def scaled_scores__root_and_again_by_d(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1) / query.size(-1) / math.sqrt(query.size(-1))


@misconception(
    "The scale is right, but query and key are swapped: rows are to be queries, shape ({B}, {T}, {S}), and yours are keys.",
    breaks=("shape", "values", "gradients"),
)
def scaled_scores__swapped(query: Tensor, key: Tensor) -> Tensor:
    return key @ query.transpose(-2, -1) / math.sqrt(query.size(-1))


@misconception(
    "You swap batch and time: `transpose(0, 1)` makes ({S}, {B}, {D}) of the key. The batch stays in front; the last "
    "two axes of `key` trade places, `transpose(1, 2)`.",
    breaks=("shape", "values", "gradients"),
)
def scaled_scores__batch_and_time(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(0, 1) / math.sqrt(query.size(-1))


@misconception(
    "The scale is right, but `view` (or `reshape`) does not transpose: it keeps the order in memory, so the numbers are in "
    "the wrong places. Use `key.transpose(-2, -1)`, or call your `dot_product_scores`.",
    breaks=("values", "gradients"),
)
def scaled_scores__reshape_for_transpose(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.reshape(key.size(0), key.size(2), key.size(1)) / math.sqrt(query.size(-1))


@misconception(
    "You return cosines: each row's own length is divided out. √D is one number for all rows; a long key may still score "
    "higher than a short one.",
    breaks=("values", "gradients"),
)
def scaled_scores__cosine(query: Tensor, key: Tensor) -> Tensor:
    unit_query = query / query.norm(dim=-1, keepdim=True)
    unit_key = key / key.norm(dim=-1, keepdim=True)
    return unit_query @ unit_key.transpose(-2, -1)


@misconception(
    "You divide by the spread that these scores happen to have. Their variance *should* be able to differ from 1 once a "
    "model has learned; the fixed number √D = {root_D} only sets it right at the start.",
    breaks=("values", "gradients"),
)
def scaled_scores__by_their_own_spread(query: Tensor, key: Tensor) -> Tensor:
    scores = query @ key.transpose(-2, -1)
    return scores / scores.std()


@misconception(
    "You take a softmax already. The scaled scores themselves are wanted; 03 turns them into weights.",
    breaks=("values", "gradients"),
)
def scaled_scores__softmax_already(query: Tensor, key: Tensor) -> Tensor:
    return scaled_scores(query, key).softmax(dim=-1)


# ---------------------------------------------------------------------------------------------- score_variance


@misconception(
    "Your scaled scores are not scaled: both numbers are the variance of the plain dot products. Divide the *scores* by √D "
    "and take their variance again.",
    breaks=("scaled variance",),
)
def score_variance__no_scale(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    variance = (query * key).sum(dim=-1).var().item()
    return variance, variance


@misconception(
    "You divide the *variance* by √D. Dividing a score by √D divides its variance by D, because a variance is made of "
    "squares.",
    breaks=("scaled variance",),
)
def score_variance__variance_by_root(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    variance = (query * key).sum(dim=-1).var().item()
    return variance, variance / math.sqrt(dim)


@misconception(
    "You divide the scores by D, not by √D: their variance falls to 1/D, where 1 is the aim.",
    breaks=("scaled variance",),
)
def score_variance__scores_by_d(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / dim).var().item()


@misconception(
    "You multiply the scores by √D where they are to be divided: the scaled variance comes out D² in place of 1.",
    breaks=("scaled variance",),
)
def score_variance__times_root(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores * math.sqrt(dim)).var().item()


@misconception(
    "You return standard deviations. The variance is their square: `var` in place of `std`. (The scaled one hides it, "
    "because 1² = 1.)",
    breaks=("unscaled variance",),
)
def score_variance__std(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.std().item(), (scores / math.sqrt(dim)).std().item()


@misconception(
    "The two numbers stand in the other order: first the unscaled variance, then the scaled one.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__other_order(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return (scores / math.sqrt(dim)).var().item(), scores.var().item()


@misconception(
    "You take the variance of the single products qᵢ·kᵢ. A score is their *sum* over the D components: add up along the "
    "last axis first.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__products_not_summed(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    products = query * key
    return products.var().item(), (products / math.sqrt(dim)).var().item()


@misconception(
    "You take the *mean* over the D components where the dot product takes the sum: your first variance is 1/D.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__mean_over_components(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).mean(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "You add up over the samples, not over the components, and get D scores in place of {N}: with shape (N, D) the sum runs "
    "along the last axis, `dim=-1`.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__sum_over_samples(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=0)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "You return means. The mean of a score is about 0 at every width; it is the *spread* around it that grows: `var`.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__mean(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.mean().item(), (scores / math.sqrt(dim)).mean().item()


@misconception(
    "`torch.rand` draws from 0 to 1: mean ½, variance 1/12. The contract asks for standard normal components, mean 0 and "
    "variance 1: `torch.randn`, with an n.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__rand_for_randn(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.rand(samples, dim, generator=generator)
    key = torch.rand(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "Each query is multiplied with itself: that is its squared length, with mean D and variance 2·D. Draw the keys "
    "independently.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__query_with_itself(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    scores = (query * query).sum(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "All your samples share one query. Their variance is then that query's squared length, which differs from draw to "
    "draw; each of the {N} samples needs a query of its own.",
    breaks=("unscaled variance", "scaled variance"),
)
def score_variance__one_query(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = key @ query
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "`D ** 1 / 2` is (D ** 1) / 2, half of D. The root is `D ** 0.5` or `math.sqrt(D)`.",
    breaks=("scaled variance",),
)
def score_variance__half_of_d(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / (dim**1 / 2)).var().item()


@misconception(
    "The given generator has no effect: your draws come from PyTorch's global one. Hand it on in every draw, "
    "`torch.randn(…, generator=generator)`.",
    breaks=("sampling",),
)
def score_variance__global_generator(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim)
    key = torch.randn(samples, dim)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "The same generator gives other numbers each time: some of your draws come from elsewhere. Look for a `torch.randn` "
    "without `generator=generator`, for NumPy, or for `generator.seed()`, which starts it anew at random.",
    breaks=("sampling",),
)
def score_variance__half_global(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "Something inside your function is seeded (`manual_seed`), so that every call gives the same numbers. Seeding is the "
    "caller's business: use the generator in the state in which it comes.",
    breaks=("sampling",),
)
def score_variance__seeds_inside(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    generator.manual_seed(0)
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "D and 1 are what theory predicts. They are right, but they are not a measurement: draw {N} pairs and take the variance "
    "of their scores, which comes close to D and 1 and never hits them exactly.",
    breaks=("sampling",),
)
def score_variance__theory(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    return float(dim), 1.0


@misconception(
    "`samples` has no effect: you draw a fixed number of pairs. The caller decides how many, here {N}.",
    breaks=("sampling",),
)
def score_variance__fixed_number(dim: int, samples: int, generator: torch.Generator) -> tuple[float, float]:
    query = torch.randn(10_000, dim, generator=generator)
    key = torch.randn(10_000, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var().item(), (scores / math.sqrt(dim)).var().item()


@misconception(
    "The numbers are right, but still wrapped in tensors (of shape (), with no axis at all). Plain Python floats are asked "
    "for: `.item()` or `float(…)` takes the number out.",
    breaks=("two floats",),
)
def score_variance__tensors(dim: int, samples: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    query = torch.randn(samples, dim, generator=generator)
    key = torch.randn(samples, dim, generator=generator)
    scores = (query * key).sum(dim=-1)
    return scores.var(), (scores / math.sqrt(dim)).var()


# ---------------------------------------------------------------------------------------------- project


@misconception(
    "The pair is in the other order: you return (keys, queries), wanted is (queries, keys). `w_q` makes the first.",
    breaks=("values", "gradients"),
)
def project__other_order(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    return x @ w_k, x @ w_q


@misconception(
    "Queries and keys both come from `w_q`; `w_k` is never used. One matrix for both is what this exercise is to avoid: "
    "its scores are symmetric.",
    breaks=("values", "gradients"),
)
def project__same_for_both(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    return x @ w_q, x @ w_q


@misconception(
    "Your projections are transposed: `w_q.T` (and `F.linear`, which transposes for you) has shape ({K}, {D}), and the "
    "width D = {D} of `x` meets K = {K}. Here a projection is (D, K): multiply `x @ w_q` as it is. (`nn.Linear` stores its "
    "weight the other way round, (K, D).)",
    breaks=("shape", "values", "gradients"),
)
def project__transposed(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    return x @ w_q.T, x @ w_k.T


@misconception(
    "The matrix stands on the wrong side: rows are tokens here, so `x` comes first, `x @ w_q`. (`w_q @ x` is for tokens "
    "written as columns.)",
    breaks=("shape", "values", "gradients"),
)
def project__matrix_first(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    return w_q @ x, w_k @ x


@misconception(
    "Only the queries are projected; the keys you return are `x` itself. `x @ w_k` makes the keys, of width K = {K}.",
    breaks=("shape", "values", "gradients"),
)
def project__keys_left_as_they_are(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    return x @ w_q, x


@misconception(
    "You project twice: the keys are made from the queries, of width K = {K}. Both are made from `x`.",
    breaks=("shape", "values", "gradients"),
)
def project__one_after_the_other(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    queries = x @ w_q
    return queries, queries @ w_k


@misconception(
    "You go one step too far and return scores. `project` stops at the pair (queries, keys); `scaled_scores` takes it from "
    "there.",
    breaks=("shape", "values", "gradients"),
)
def project__scores_already(x: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    return dot_product_scores(x @ w_q, x @ w_k)


@misconception(
    "You divide by a root already. `project` only projects; the root of the width belongs to the scores.",
    breaks=("values", "gradients"),
)
def project__scaled_already(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    return x @ w_q / math.sqrt(w_q.size(-1)), x @ w_k / math.sqrt(w_k.size(-1))


@misconception(
    "Queries and keys are glued into one tensor of width 2·K. Return two tensors: `return queries, keys`.",
    breaks=("shape", "values", "gradients"),
)
def project__glued(x: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    return torch.cat([x @ w_q, x @ w_k], dim=-1)


@misconception(
    "You return only the queries. The keys are missing: `return queries, keys`.",
    breaks=("shape", "values", "gradients"),
)
def project__queries_only(x: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    return x @ w_q


@misconception(
    "The two results are stacked into one tensor with an axis of size 2 in front. Return two tensors: "
    "`return queries, keys`.",
    breaks=("shape", "values", "gradients"),
)
def project__stacked(x: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    return torch.stack([x @ w_q, x @ w_k])


@misconception(
    "No gradient gets through: `detach`, `.data` or `torch.no_grad` cuts the way back to `x` and to the two projections, "
    "which are exactly what training has to change.",
    breaks=("gradients",),
)
def project__cut_off(x: Tensor, w_q: Tensor, w_k: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        return x @ w_q, x @ w_k


# ---------------------------------------------------------------------------------------------- quiz_scaling


def _wrong(question: str, option: str, sentence: str):  # type: ignore[no-untyped-def]
    return wrong_option("quiz_scaling", quiz_scaling, question, option, sentence)


QUIZ = [
    _wrong("variance", "stays the same", "Unscaled, every extra component adds its own variance of 1. It is the *scaled* "
           "score whose variance stays the same."),
    _wrong("variance", "grows threefold", "That is the standard deviation, the typical size of a score: √9 = 3. The variance is its "
           "square."),
    _wrong("variance", "grows 81-fold", "That would be the square of the width. Variances of independent terms *add*: nine "
           "times as many terms, nine times the variance."),
    _wrong("ranking", "another key", "All scores of a row are divided by the same positive number; none can overtake another."),
    _wrong("ranking", "it depends on d", "√d is one positive number for all scores, whatever d is: it shrinks the distances "
           "and keeps the order."),
    _wrong("weights", "nearly uniform", "That is what scores close to 0 give. Large scores lie far apart, and a softmax turns "
           "distances into ratios: e²⁸ to 1."),
    _wrong("weights", "partly negative", "Scores may be negative; a softmax's exponentials never are."),
    _wrong("weights", "no longer summing to one", "A softmax divides by the sum of its exponentials: its weights sum to one "
           "whatever the scores are."),
    _wrong("gradients", "about as much as with the root", "Look at the measurement: the derivatives are products w·(1 − w) and "
           "w·w′, and with one weight at 1 and the others at 0 all of them vanish."),
    _wrong("gradients", "far too much", "Large *scores* do not mean a steep softmax. Once one weight is 1 and the others 0, "
           "a small change of a score changes nothing."),
    _wrong("gradients", "nan", "A stable softmax stays finite for scores of any size (you write one in 03). Its derivatives "
           "are finite, too, and nearly zero."),
    _wrong("mirror", "they have opposite signs", "With one matrix, score(i, j) and score(j, i) multiply the same two vectors, "
           "and a·b = b·a."),
    _wrong("mirror", "they are unrelated", "That is so with two matrices. With one, both scores multiply the same two "
           "vectors, and a·b = b·a."),
    _wrong("mirror", "they are both zero", "Nothing makes them zero; they are one and the same number, because a·b = b·a."),
    _wrong("divisor", "the 768 of x", "768 is the width *before* the projection. The dot product runs over the components of the "
           "projected vectors."),
    _wrong("divisor", "the 12 heads", "The number of heads (04) plays no part here: count the terms that one dot product adds up."),
    _wrong("divisor", "the 10 tokens", "Ten tokens make a 10 × 10 matrix of scores; the number of terms in each of them is another one."),
]  # fmt: skip
