"""Wrong answers to the exercises of 02-attention-scores."""

from __future__ import annotations

from anatomy.course.nb02_attention_scores.right import (
    dot_product_scores,
    project,
    quiz_scaling,
    scaled_scores,
    score_variance,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

ALL = ("shape", "values", "gradients")
NUMBERS = ("values", "gradients")
VARIANCES = ("unscaled variance", "scaled variance")

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.


@MISTAKES.of(dot_product_scores)
def in_dot_product_scores(wrong):
    PRODUCT = "query @ key.transpose(-2, -1)  # (B, T, D) @ (B, D, S) -> (B, T, S)"
    TURNED = "key.transpose(-2, -1)  # (B, T, D) @ (B, D, S) -> (B, T, S)"

    wrong("swapped", "Query and key are swapped: your rows are keys and your columns queries, shape ({B}, {S}, {T}). One row per query is wanted, ({B}, {T}, {S}): the query stands on the left of the product.",
          breaks=ALL, old=PRODUCT, new="key @ query.transpose(-2, -1)  # (B, S, D) @ (B, D, T) -> (B, S, T)")
    wrong("all_axes_turned", "`key.T` turns *all* axes around, ({B}, {S}, {D}) into ({D}, {S}, {B}): the batch is where the width should be. Only the last two axes trade places, `key.transpose(-2, -1)`.",
          breaks=ALL, old=TURNED, new="key.permute(2, 1, 0)")
    wrong("batch_and_time", "You swap batch and time: `transpose(0, 1)` makes ({S}, {B}, {D}) of the key. The batch stays in front; the last two axes of `key` trade places, `transpose(1, 2)`.",
          breaks=ALL, old=TURNED, new="key.transpose(0, 1)")
    wrong("not_transposed", "Nothing is transposed: ({B}, {T}, {D}) times ({B}, {S}, {D}) puts the width of the query against the *number* of keys. The two widths must meet: `key` needs the shape ({B}, {D}, {S}).",
          breaks=ALL, old=TURNED, new="key")
    wrong("entry_by_entry", "You multiply entry by entry, so query t meets only key t. That needs T = S; here every one of {T} queries is to meet every one of {S} keys: a matrix product.",
          breaks=ALL, old=PRODUCT, new="(query * key).sum(dim=-1)")
    wrong("reshape_for_transpose", "`view` (or `reshape`) gives the right shape, ({B}, {D}, {S}), with the numbers in the wrong places: it keeps the order in memory. To make axes trade places use `transpose(-2, -1)`.",
          breaks=NUMBERS, old="key.transpose(-2, -1)", new="key.reshape(key.size(0), key.size(2), key.size(1))")
    wrong("queries_with_themselves", "You compare the queries with themselves: `key` is never used. (In 00 there was one x; here asking and answering rows differ, and S = {S} is not T = {T}.)",
          breaks=ALL, old=TURNED, new="query.transpose(-2, -1)  # (B, T, D) @ (B, D, T) -> (B, T, T)")
    wrong("summed_over_batch", "You add up over the batch as well: one ({T}, {S}) matrix is left of {B}. Each batch item is a sentence of its own; `b` must stay in the result.",
          breaks=ALL, old=PRODUCT, new='torch.einsum("btd,bsd->ts", query, key)')
    wrong("across_the_batch", "Every query meets the keys of *all* {B} batch items: flattened together, sentences see each other. Query and key must share their b.",
          breaks=ALL, old=PRODUCT, new="query.flatten(0, 1) @ key.flatten(0, 1).T")
    wrong("keys_of_the_first_item", "All your queries meet the keys of the first batch item. Each item has its own keys: `key[b]` for `query[b]`.",
          breaks=NUMBERS, old=TURNED, new="key[0].T  # (B, T, D) @ (D, S) -> (B, T, S)")
    wrong("not_summed", "The products are right, but not added up: the axis of the width, D = {D}, is still there. A dot product is the *sum* over it.",
          breaks=ALL, old=PRODUCT, new="query.unsqueeze(2) * key.unsqueeze(1)")
    wrong("mean_for_sum", "You take the mean over the width where the dot product takes the sum: each score is {D} times too small.",
          breaks=NUMBERS, old=PRODUCT, new="(query.unsqueeze(2) * key.unsqueeze(1)).mean(dim=-1)")
    wrong("scaled_already", "You divide by √D = {root_D} already. That comes next, in `scaled_scores`; here the plain dot product is wanted.",
          breaks=NUMBERS, old="return query", new="return query / math.sqrt(query.size(-1))")
    wrong("cosine", "You return cosines: the lengths of query and key are divided out, and every score lies between −1 and 1. In a dot product the lengths count.",
          breaks=NUMBERS, old=PRODUCT, new="F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)")
    wrong("softmax_already", "You take a softmax already. Scores come first and may be negative or large; 03 turns them into weights.",
          breaks=NUMBERS, old="query @ key.transpose(-2, -1)", new="(query @ key.transpose(-2, -1)).softmax(dim=-1)")
    wrong("numbers_taken_out", "The numbers are right, but no gradient gets through: numbers taken out with `.item()` or `float(…)` and put into a new tensor have forgotten where they came from. Keep tensors, and put them together with `torch.stack`.",
          breaks="gradients", old=PRODUCT,
          new="torch.tensor([[[torch.dot(q, k).item() for k in ks] for q in qs] for qs, ks in zip(query, key)])")
    wrong("keys_summed_over_the_batch", "Every query meets the *sum* of all batch items' keys. Each item has its own keys: query and key must share their batch axis (in an einsum, the same letter `b`).",
          breaks=NUMBERS, old=PRODUCT, new='torch.einsum("btd,csd->bts", query, key)')
    wrong("two_batch_axes", "Your result has two batch axes, ({B}, {T}, {B}, {S}): every query meets the keys of every batch item. Only items with the same b belong together: `@`, or an einsum with one letter `b`.",
          breaks=ALL, old=PRODUCT, new="torch.tensordot(query, key, dims=([2], [2]))")
    wrong("reshaped_not_turned", "Your product has the keys as rows, ({B}, {S}, {T}), and `reshape` (or `view`) to ({B}, {T}, {S}) does not turn it: it reads the same numbers in memory's order. Let the query stand on the left of the product, or transpose.",
          breaks=NUMBERS, old=PRODUCT,
          new="(key @ query.transpose(-2, -1)).reshape(query.size(0), query.size(1), key.size(1))")
    wrong("one_number_an_item", "You add up all scores of a batch item: one number is left of {T} × {S}. Only the width is summed away; `t` and `s` stay in the result.",
          breaks=ALL, old=PRODUCT, new='torch.einsum("btd,bsd->b", query, key)')
    wrong("last_component_left_out", "Your dot products run over all but the last of the {D} components. (`range(n)` ends at n − 1 by itself.)",
          breaks=NUMBERS, old=PRODUCT, new="query[..., :-1] @ key[..., :-1].transpose(-2, -1)")
    wrong("last_query_left_out", "The last query is never reached: its row stays 0. (`range(n)` ends at n − 1 by itself.)",
          breaks=NUMBERS, old=PRODUCT, new="F.pad(query[:, :-1] @ key.transpose(-2, -1), (0, 0, 0, 1))")
    wrong("last_key_left_out", "The last key is never reached: its column stays 0. (`range(n)` ends at n − 1 by itself.)",
          breaks=NUMBERS, old=PRODUCT, new="F.pad(query @ key[:, :-1].transpose(-2, -1), (0, 1))")
    wrong("last_query_and_key_left_out", "The last query and the last key are never reached: their row and column stay 0. (`range(n)` ends at n − 1 by itself.)",
          breaks=NUMBERS, old=PRODUCT, new="F.pad(query[:, :-1] @ key[:, :-1].transpose(-2, -1), (0, 1, 0, 1))")
    wrong("absolute_values", "Your scores are never negative: a dot product of vectors that point in opposite directions is, and that is what tells them apart.",
          breaks=NUMBERS, old=PRODUCT, new="(query @ key.transpose(-2, -1)).abs()")
    wrong("distances", "You return distances between rows, which are 0 for equal rows and grow as they differ. A dot product works the other way round: multiply, then add up.",
          breaks=NUMBERS, old=PRODUCT, new="(query.unsqueeze(2) - key.unsqueeze(1)).norm(dim=-1)")


@MISTAKES.of(scaled_scores)
def in_scaled_scores(wrong):
    wrong("by_d", "You divide by D, not by √D: with D = {D} the scores come out {root_D} times too small.",
          breaks=NUMBERS, old="math.sqrt(query.size(-1))", new="query.size(-1)")
    wrong("by_root_t", "You divide by √T (the number of queries), not by √D (their width). With T = D you would not have noticed; here T = {T} and D = {D}.",
          breaks=NUMBERS, old="query.size(-1)", new="query.size(1)")
    wrong("by_root_s", "You divide by √S (the number of keys), not by √D (their width). The number of terms in each dot product is D = {D}; S = {S} only says how many scores there are.",
          breaks=NUMBERS, old="query.size(-1)", new="key.size(1)")
    wrong("by_root_batch", "You divide by √B: `len(query)` and `query.size(0)` are the batch size, {B}. The width is the last size, `query.size(-1)`, here {D}.",
          breaks=NUMBERS, old="query.size(-1)", new="len(query)")
    wrong("by_root_number_of_axes", "You divide by √3: `query.dim()` counts the *axes*. The width is the size of the last one, `query.size(-1)`, here {D}.",
          breaks=NUMBERS, old="query.size(-1)", new="query.dim()")
    wrong("half_of_d", "You divide by D/2: Python reads `D ** 1 / 2` as (D ** 1) / 2. The root is `D ** 0.5` or `math.sqrt(D)`.",
          breaks=NUMBERS, old="math.sqrt(query.size(-1))", new="(query.size(-1) ** 1 / 2)")
    wrong("whole_root", "You divide by the *whole-number part* of √D: `int(…)` or `//` cuts {root_D} off at the point. Keep the fraction.",
          breaks=NUMBERS, old="math.sqrt(query.size(-1))", new="int(math.sqrt(query.size(-1)))")
    wrong("by_eight", "You divide by 8 whatever the width. That is √64, the width in the paper; here D = {D}. Read the width off the tensor: `query.size(-1)`.",
          breaks=NUMBERS, old="math.sqrt(query.size(-1))", new="8")
    wrong("by_root_768", "You divide by √768 whatever the width. That is the width of one particular BERT; here D = {D}. Read it off the tensor: `query.size(-1)`.",
          breaks=NUMBERS, old="query.size(-1)", new="768")
    wrong("times_root", "You multiply by √D where you should divide: the scores grow with the width twice over. (`/ D ** -0.5` is a multiplication, too.)",
          breaks=NUMBERS, old=" / ", new=" * ")
    wrong("no_scale", "These are the unscaled dot products. Divide them by √D = {root_D}, the root of the width.",
          breaks=NUMBERS, old=" / math.sqrt(query.size(-1))", new="")
    wrong("root_and_again_by_d", "You divide by √D and once more by D: the scores come out D = {D} times too small. The root alone is the scale.",
          breaks=NUMBERS, old=" / ", new=" / query.size(-1) / ")
    wrong("swapped", "The scale is right, but query and key are swapped: rows are to be queries, shape ({B}, {T}, {S}), and yours are keys.",
          breaks=ALL, old=("(query, key)", "  # (B, T, S)"), new=("(key, query)", "  # (B, S, T)"))
    wrong("batch_and_time", "You swap batch and time: `transpose(0, 1)` makes ({S}, {B}, {D}) of the key. The batch stays in front; the last two axes of `key` trade places, `transpose(1, 2)`.",
          breaks=ALL, old="dot_product_scores(query, key)", new="query @ key.transpose(0, 1)")
    wrong("reshape_for_transpose", "The scale is right, but `view` (or `reshape`) does not transpose: it keeps the order in memory, so the numbers are in the wrong places. Use `key.transpose(-2, -1)`, or call your `dot_product_scores`.",
          breaks=NUMBERS,
          old="dot_product_scores(query, key)", new="query @ key.reshape(key.size(0), key.size(2), key.size(1))")
    wrong("cosine", "You return cosines: each row's own length is divided out. √D is one number for all rows; a long key may still score higher than a short one.",
          breaks=NUMBERS,
          old="(query, key) / math.sqrt(query.size(-1))", new="(F.normalize(query, dim=-1), F.normalize(key, dim=-1))")
    wrong("by_their_own_spread", "You divide by the spread that these scores happen to have. Their variance *should* be able to differ from 1 once a model has learned; the fixed number √D = {root_D} only sets it right at the start.",
          breaks=NUMBERS, old="return dot_product_scores(query, key) / math.sqrt(query.size(-1))",
          new="scores = dot_product_scores(query, key)\n    return scores / scores.std()")
    wrong("softmax_already", "You take a softmax already. The scaled scores themselves are wanted; 03 turns them into weights.",
          breaks=NUMBERS, old=("return ", "  # (B, T, S)"), new=("return torch.softmax(", ", dim=-1)  # (B, T, S)"))
    wrong("floor_division", "`//` rounds every score down to a whole number. Divide with `/`.",
          breaks=NUMBERS, old=" / ", new=" // ")
    wrong("by_root_of_the_table", "You divide by √(T·S), the root of the number of scores. The scale is the width's root, √D = {root_D}.",
          breaks=NUMBERS, old="query.size(-1)", new="query.size(1) * key.size(1)")
    wrong("by_the_lengths_of_all", "You divide by the lengths of the whole tensors, `query.norm() * key.norm()`: one number that depends on what is in them. The scale is √D = {root_D}, whatever they hold.",
          breaks=NUMBERS, old="math.sqrt(query.size(-1))", new="(query.norm() * key.norm())")
    wrong("root_of_the_scores", "The scores are under the root, too: a negative score has no root, hence NaN. Only D goes under it: `scores / math.sqrt(D)`.",
          breaks=NUMBERS, old="dot_product_scores(query, key) / math.sqrt(query.size(-1))",
          new="torch.sqrt(dot_product_scores(query, key) / query.size(-1))")
    wrong("torch_root_of_a_number", "`torch.sqrt` takes a tensor, and `query.size(-1)` is a plain number: take `math.sqrt`, or write `** 0.5`.",
          breaks=ALL, old="math.sqrt(query.size(-1))  # (B, T, S)", new="torch.sqrt(query.size(-1))")
    wrong("by_twice_the_root", "You divide by 2·√D; √D = {root_D} alone is the scale.",
          breaks=NUMBERS, old="math.sqrt(query.size(-1))", new="(2 * math.sqrt(query.size(-1)))")
    wrong("by_log_d", "You divide by ln D. The scale is the root of the width, √D = {root_D}.",
          breaks=NUMBERS, old="math.sqrt(", new="math.log(")
    wrong("by_root_d_minus_one", "You divide by √(D − 1); it is D = {D} that goes under the root.",
          breaks=NUMBERS, old="query.size(-1)", new="query.size(-1) - 1")


@MISTAKES.of(score_variance)
def in_score_variance(wrong):
    wrong("no_scale", "Your scaled scores are not scaled: both numbers are the variance of the plain dot products. Divide the *scores* by √D and take their variance again.",
          breaks="scaled variance", old=" / math.sqrt(dim)", new="")
    wrong("variance_by_root", "You divide the *variance* by √D. Dividing a score by √D divides its variance by D, because a variance is made of squares.",
          breaks="scaled variance", old=("    scaled = scores / math.sqrt(dim)  # (N,)\n", "scaled.var().item()"),
          new=("", "scores.var().item() / math.sqrt(dim)"))
    wrong("scores_by_d", "You divide the scores by D, not by √D: their variance falls to 1/D, where 1 is the aim.",
          breaks="scaled variance", old="math.sqrt(dim)", new="dim")
    wrong("times_root", "You multiply the scores by √D where they are to be divided: the scaled variance comes out D² in place of 1.",
          breaks="scaled variance", old=" / math", new=" * math")
    wrong("std", "You return standard deviations. The variance is their square: `var` in place of `std`. (The scaled one hides it, because 1² = 1.)",
          breaks="unscaled variance", old=".var()", new=".std()", times=2)
    wrong("other_order", "The two numbers stand in the other order: first the unscaled variance, then the scaled one.",
          breaks=VARIANCES, old="scores.var().item(), scaled.var().item()", new="scaled.var().item(), scores.var().item()")
    wrong("products_not_summed", "You take the variance of the single products qᵢ·kᵢ. A score is their *sum* over the D components: add up along the last axis first.",
          breaks=VARIANCES,
          old=("(query * key).sum(dim=-1)  # (N,)", "  # (N,)\n    return"), new=("query * key  # (N, D)", "  # (N, D)\n    return"))
    wrong("mean_over_components", "You take the *mean* over the D components where the dot product takes the sum: your first variance is 1/D.",
          breaks=VARIANCES, old=".sum(dim=-1)", new=".mean(dim=-1)")
    wrong("sum_over_samples", "You add up over the samples, not over the components, and get D scores in place of {N}: with shape (N, D) the sum runs along the last axis, `dim=-1`.",
          breaks=VARIANCES, old=("dim=-1)  # (N,)", "  # (N,)\n    return"), new=("dim=0)  # (D,)", "  # (D,)\n    return"))
    wrong("mean", "You return means. The mean of a score is about 0 at every width; it is the *spread* around it that grows: `var`.",
          breaks=VARIANCES, old=".var()", new=".mean()", times=2)
    wrong("rand_for_randn", "`torch.rand` draws from 0 to 1: mean ½, variance 1/12. The contract asks for standard normal components, mean 0 and variance 1: `torch.randn`, with an n.",
          breaks=VARIANCES, old="torch.randn", new="torch.rand", times=2)
    wrong("query_with_itself", "Each query is multiplied with itself: that is its squared length, with mean D and variance 2·D. Draw the keys independently.",
          breaks=VARIANCES, old=("    key = torch.randn(samples, dim, generator=generator)  # (N, D)\n", "query * key"),
          new=("", "query * query"))
    wrong("one_query", "All your samples share one query. Their variance is then that query's squared length, which differs from draw to draw; each of the {N} samples needs a query of its own.",
          breaks=VARIANCES, old="query = torch.randn(samples, dim, generator=generator)  # (N, D)",
          new="query = torch.randn(dim, generator=generator)  # (D,)")
    wrong("half_of_d", "`D ** 1 / 2` is (D ** 1) / 2, half of D. The root is `D ** 0.5` or `math.sqrt(D)`.",
          breaks="scaled variance", old="math.sqrt(dim)", new="(dim**1 / 2)")
    wrong("global_generator", "The given generator has no effect: your draws come from PyTorch's global one. Hand it on in every draw, `torch.randn(…, generator=generator)`.",
          breaks="sampling", old=", generator=generator", new="", times=2)
    wrong("half_global", "The same generator gives other numbers each time: some of your draws come from elsewhere. Look for a `torch.randn` without `generator=generator`, for NumPy, or for `generator.seed()`, which starts it anew at random.",
          breaks="sampling",
          old="key = torch.randn(samples, dim, generator=generator)", new="key = torch.randn(samples, dim)")
    wrong("seeds_inside", "Something inside your function is seeded (`manual_seed`), so that every call gives the same numbers. Seeding is the caller's business: use the generator in the state in which it comes.",
          breaks="sampling", old="query = ", new="generator.manual_seed(0)\n    query = ")


    @MISTAKES.mistake("D and 1 are what theory predicts. They are right, but they are not a measurement: draw {N} pairs and take the variance of their scores, which comes close to D and 1 and never hits them exactly.",
                   breaks="sampling")
    def score_variance__theory(dim, samples, generator):
        return float(dim), 1.0


    wrong("fixed_number", "`samples` has no effect: you draw a fixed number of pairs. The caller decides how many, here {N}.",
          breaks="sampling", old="query = ", new="samples = 10_000\n    query = ")
    wrong("sizes_swapped", "You draw D rows of `samples` components: the sizes have changed places. Wanted are `samples` rows, here {N}, of D = {D} components.",
          breaks=VARIANCES, old=("samples, dim, generator=generator)  # (N, D)\n    key = torch.randn(samples, dim, generator=generator)  # (N, D)", "  # (N,)\n    scaled", "  # (N,)\n    return"),
          new=("dim, samples, generator=generator)  # (D, N)\n    key = torch.randn(dim, samples, generator=generator)  # (D, N)", "  # (D,)\n    scaled", "  # (D,)\n    return"))
    wrong("one_score", "You add everything up into one score, and a single number has no variance (NaN). Add up over the components only, `dim=-1`: {N} scores are wanted.",
          breaks=(*VARIANCES, "sampling"), old=".sum(dim=-1)  # (N,)", new=".sum()")
    wrong("all_pairs", "You multiply every query with every key. Those scores share rows and are not independent; draw {N} pairs, query n with key n.",
          breaks="sampling", old="(query * key).sum(dim=-1)  # (N,)", new="query @ key.T  # (N, N)")
    wrong("one_sample_less", "You draw one pair less than asked for: `samples − 1`.",
          breaks="sampling", old="query = ", new="samples = samples - 1\n    query = ")
    wrong("rounded", "Your numbers are rounded. Return them as measured.",
          breaks="sampling", old="scores.var().item(), scaled.var().item()",
          new="round(scores.var().item(), 1), round(scaled.var().item(), 1)")
    wrong("tensors", "The numbers are right, but still wrapped in tensors (of shape (), with no axis at all). Plain Python floats are asked for: `.item()` or `float(…)` takes the number out.",
          breaks="two floats", old=".item()", new="", times=2)


@MISTAKES.of(project)
def in_project(wrong):
    PAIR = "x @ w_q, x @ w_k  # (B, T, K), (B, T, K)"

    wrong("other_order", "The pair is in the other order: you return (keys, queries), wanted is (queries, keys). `w_q` makes the first.",
          breaks=NUMBERS, old="x @ w_q, x @ w_k", new="x @ w_k, x @ w_q")
    wrong("same_for_both", "Queries and keys both come from `w_q`; `w_k` is never used. One matrix for both is what this exercise is to avoid: its scores are symmetric.",
          breaks=NUMBERS, old="x @ w_k", new="x @ w_q")
    wrong("transposed", "Your projections are transposed: `w_q.T` (and `F.linear`, which transposes for you) has shape ({K}, {D}), and the width D = {D} of `x` meets K = {K}. Here a projection is (D, K): multiply `x @ w_q` as it is. (A `view` to that shape fits no better; `nn.Linear` stores its weight the other way round, (K, D).)",
          breaks=ALL, old=PAIR, new="x @ w_q.T, x @ w_k.T")
    wrong("matrix_first", "The matrix stands on the wrong side: rows are tokens here, so `x` comes first, `x @ w_q`. (`w_q @ x` is for tokens written as columns.)",
          breaks=ALL, old=PAIR, new="w_q @ x, w_k @ x")
    wrong("keys_left_as_they_are", "Only the queries are projected; the keys you return are `x` itself. `x @ w_k` makes the keys, of width K = {K}.",
          breaks=ALL, old="x @ w_k  # (B, T, K), (B, T, K)", new="x  # (B, T, K), (B, T, D)")
    wrong("one_after_the_other", "You project twice: the keys are made from the queries, of width K = {K}. Both are made from `x`.",
          breaks=ALL,
          old="return x @ w_q, x @ w_k  # (B, T, K), (B, T, K)", new="queries = x @ w_q\n    return queries, queries @ w_k")
    wrong("scores_already", "You go one step too far and return scores. `project` stops at the pair (queries, keys); `scaled_scores` takes it from there.",
          breaks=ALL, old=PAIR, new="dot_product_scores(x @ w_q, x @ w_k)  # (B, T, T)")
    wrong("scaled_already", "You divide by a root already. `project` only projects; the root of the width belongs to the scores.",
          breaks=NUMBERS,
          old="x @ w_q, x @ w_k", new="x @ w_q / math.sqrt(w_q.size(-1)), x @ w_k / math.sqrt(w_k.size(-1))")
    wrong("glued", "Queries and keys are glued into one tensor of width 2·K. Return two tensors: `return queries, keys`.",
          breaks=ALL, old=PAIR, new="torch.cat([x @ w_q, x @ w_k], dim=-1)  # (B, T, 2K)")
    wrong("queries_only", "You return only the queries. The keys are missing: `return queries, keys`.",
          breaks=ALL, old=PAIR, new="x @ w_q  # (B, T, K)")
    wrong("stacked", "The two results are stacked into one tensor with an axis of size 2 in front. Return two tensors: `return queries, keys`.",
          breaks="shape", old=PAIR, new="torch.stack([x @ w_q, x @ w_k])  # (2, B, T, K)")
    wrong("cut_off", "No gradient gets through: `detach`, `.data` or `torch.no_grad` cuts the way back to `x` and to the two projections, which are exactly what training has to change.",
          breaks="gradients", old="return ", new="with torch.no_grad():\n        return ")
    wrong("scaled_scores_already", "You go two steps too far and return scaled scores. `project` stops at the pair (queries, keys); `scaled_scores` takes it from there.",
          breaks=ALL, old=PAIR, new="scaled_scores(x @ w_q, x @ w_k)  # (B, T, T)")
    wrong("softmax_of_the_projections", "You take a softmax of queries and keys. Projections are plain products and may be negative; the softmax comes after the scores, in 03.",
          breaks=NUMBERS, old="x @ w_q, x @ w_k", new="(x @ w_q).softmax(dim=-1), (x @ w_k).softmax(dim=-1)")
    wrong("first_item_only", "You project the first batch item only: `x[0]`. All {B} are wanted, and `@` takes them at once.",
          breaks=ALL, old=PAIR, new="x[0] @ w_q, x[0] @ w_k  # (T, K), (T, K)")
    wrong("x_too", "You return three things; wanted is the pair (queries, keys).",
          breaks=("shape", "gradients"), old=PAIR, new="x @ w_q, x @ w_k, x")


@MISTAKES.of_quiz("quiz_scaling", quiz_scaling)
def in_quiz_scaling(wrong):
    wrong("variance", "stays the same",
                 "Unscaled, every extra component adds its own variance of 1. It is the *scaled* score whose variance stays the same.")
    wrong("variance", "grows threefold",
                 "That is the standard deviation, the typical size of a score: √9 = 3. The variance is its square.")
    wrong("variance", "grows 81-fold",
                 "That would be the square of the width. Variances of independent terms *add*: nine times as many terms, nine times the variance.")
    wrong("ranking", "another key",
                 "All scores of a row are divided by the same positive number; none can overtake another.")
    wrong("ranking", "it depends on d",
                 "√d is one positive number for all scores, whatever d is: it shrinks the distances and keeps the order.")
    wrong("weights", "nearly uniform",
                 "That is what scores close to 0 give. Large scores lie far apart, and a softmax turns distances into ratios: e²⁸ to 1.")
    wrong("weights", "partly negative",
                 "Scores may be negative; a softmax's exponentials never are.")
    wrong("weights", "no longer summing to one",
                 "A softmax divides by the sum of its exponentials: its weights sum to one whatever the scores are.")
    wrong("gradients", "about as much as with the root",
                 "Look at the measurement: the derivatives are products w·(1 − w) and w·w′, and with one weight at 1 and the others at 0 all of them vanish.")
    wrong("gradients", "far too much",
                 "Large *scores* do not mean a steep softmax. Once one weight is 1 and the others 0, a small change of a score changes nothing.")
    wrong("gradients", "nan",
                 "A stable softmax stays finite for scores of any size (you write one in 03). Its derivatives are finite, too, and nearly zero.")
    wrong("mirror", "they have opposite signs",
                 "With one matrix, score(i, j) and score(j, i) multiply the same two vectors, and a·b = b·a.")
    wrong("mirror", "they are unrelated",
                 "That is so with two matrices. With one, both scores multiply the same two vectors, and a·b = b·a.")
    wrong("mirror", "they are both zero",
                 "Nothing makes them zero; they are one and the same number, because a·b = b·a.")
    wrong("divisor", "the 768 of x",
                 "768 is the width *before* the projection. The dot product runs over the components of the projected vectors.")
    wrong("divisor", "the 12 heads",
                 "The number of heads (04) plays no part here: count the terms that one dot product adds up.")
    wrong("divisor", "the 10 tokens",
                 "Ten tokens make a 10 × 10 matrix of scores; the number of terms in each of them is another one.")
