"""Wrong answers to the exercises of 02-attention-scores."""

from __future__ import annotations

from anatomy.course.nb02_attention_scores import right
from anatomy.engine.families import squeezed
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

ALL = ("shape", "values", "gradients")
NUMBERS = ("values", "gradients")
VARIANCES = ("unscaled variance", "scaled variance")
DRAWN = (*VARIANCES, "sampling")

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.


@MISTAKES.of(right.dot_product_scores)
def in_dot_product_scores(at):
    PRODUCT = "query @ key.transpose(-2, -1)  # (B, T, D) @ (B, D, S) -> (B, T, S)"
    TURNED = "key.transpose(-2, -1)  # (B, T, D) @ (B, D, S) -> (B, T, S)"
    at(PRODUCT, NUMBERS,
       ("swapped", "key @ query.transpose(-2, -1)  # (B, S, D) @ (B, D, T) -> (B, S, T)", "Your table is transposed: its rows are keys and its columns queries, shape (B, S, T). One row per query is needed, (B, T, S). In a product the query is on the left; a loop over the queries stacks their rows along axis 1.", ALL),
       ("entry_by_entry", "(query * key).sum(dim=-1)", "You multiply entry by entry, so query t meets only key t. That needs T = S; here every one of {T} queries must meet every one of {S} keys: a matrix product.", ALL),
       ("summed_over_batch", 'torch.einsum("btd,bsd->ts", query, key)', "You add up over the batch as well: one ({T}, {S}) matrix is left of {B}. Each batch item is a sentence of its own; `b` must stay in the result.", ALL),
       ("across_the_batch", "query.flatten(0, 1) @ key.flatten(0, 1).T", "Every query meets the keys of *all* {B} batch items: flattened together, sentences see each other. Query and key must share their b.", ALL),
       ("not_summed", "query.unsqueeze(2) * key.unsqueeze(1)", "The products are not added up: the axis of the width, D = {D}, is still there. A dot product is the *sum* over it.", ALL),
       ("mean_for_sum", "(query.unsqueeze(2) * key.unsqueeze(1)).mean(dim=-1)", "Each score is {D} times too small: you take the mean over the width, or divide by it. The dot product is the plain sum."),
       ("cosine", "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)", "You return cosines: the lengths of query and key are divided out, and every score lies between −1 and 1. In a dot product the lengths count."),
       ("numbers_taken_out", "torch.tensor([[[torch.dot(q, k).item() for k in ks] for q in qs] for qs, ks in zip(query, key)])", "No gradient gets through: `detach`, `.data`, NumPy, `torch.no_grad`, `.item()`, `.tolist()` and `float(…)` cut the way back to `query` and `key`. Compute with the tensors themselves. (`torch.stack` puts single scores together.)", "gradients"),
       ("keys_summed_over_the_batch", 'torch.einsum("btd,csd->bts", query, key)', "Every query meets the *sum* of all batch items' keys. Each item has its own keys: query and key must share their batch axis (in an einsum, the same letter `b`)."),
       ("two_batch_axes", "torch.tensordot(query, key, dims=([2], [2]))", "Your result has two batch axes, (B, T, B, S): every query meets the keys of every batch item. Only items with the same b belong together: `@`, or an einsum with one letter `b`.", ALL),
       ("reshaped_not_turned", "(key @ query.transpose(-2, -1)).reshape(query.size(0), query.size(1), key.size(1))", "Your scores come key by key, (B, S, T), and `reshape` (or `view`) to (B, T, S) does not turn them: it reads the same numbers in memory's order. Put the query first (on the left of a product, in the outer loop), or transpose."),
       ("batch_last_reshaped", "(query @ key.transpose(-2, -1)).permute(1, 2, 0).reshape(query.size(0), query.size(1), key.size(1))", "Your scores have the batch axis last, (T, S, B), and `reshape` (or `view`) to (B, T, S) does not move it: it reads the same numbers in memory's order. Bring the batch to the front with `movedim(-1, 0)`."),
       ("query_first_reshaped", "(query @ key.transpose(-2, -1)).transpose(0, 1).reshape(query.size(0), query.size(1), key.size(1))", "Your scores come query by query, (T, B, S), and `reshape` (or `view`) to (B, T, S) does not move the batch to the front: it reads the same numbers in memory's order. Let axes trade places, `transpose(0, 1)`, or stack along `dim=1`."),
       ("one_number_an_item", 'torch.einsum("btd,bsd->b", query, key)', "You add up all scores of a batch item: one number is left of {T} × {S}. Only the width is summed away; `t` and `s` stay in the result.", ALL),
       ("last_component_left_out", "query[..., :-1] @ key[..., :-1].transpose(-2, -1)", "Your dot products run over all but the last of the {D} components. (`range(n)` ends at n − 1 by itself.)"),
       ("last_component_only", "query[..., -1:] @ key[..., -1:].transpose(-2, -1)", "Each of your scores is the product of the last components alone. Where a loop goes over the width, add to the sum in each round (`+=`); `=` overwrites it."),
       ("odd_component_left_out", "query[..., : query.size(-1) // 2 * 2] @ key[..., : query.size(-1) // 2 * 2].transpose(-2, -1)", "With an odd width, your dot products leave out the last component: two halves of `D // 2` have D − 1 components together."),
       ("last_query_left_out", "F.pad(query[:, :-1] @ key.transpose(-2, -1), (0, 0, 0, 1))", "The last query is never reached: its row stays 0. (`range(n)` ends at n − 1 by itself.)"),
       ("last_key_left_out", "F.pad(query @ key[:, :-1].transpose(-2, -1), (0, 1))", "The last key is never reached: its column stays 0. (`range(n)` ends at n − 1 by itself.)"),
       ("last_query_and_key_left_out", "F.pad(query[:, :-1] @ key[:, :-1].transpose(-2, -1), (0, 1, 0, 1))", "The last query and the last key are never reached: their row and column stay 0. (`range(n)` ends at n − 1 by itself.)"),
       ("absolute_values", "(query @ key.transpose(-2, -1)).abs()", "Your scores are never negative: a dot product of vectors that point in opposite directions is, and that is what tells them apart."),
       ("distances", "(query.unsqueeze(2) - key.unsqueeze(1)).norm(dim=-1)", "You return distances between rows, which are 0 for equal rows and grow as they differ. A dot product works the other way round: multiply, then add up."))
    LENGTHS = "query.square().sum(dim=-1).unsqueeze(2) + key.square().sum(dim=-1).unsqueeze(1)"
    BOTH = "query.unsqueeze(2) {} key.unsqueeze(1)"
    for name, written, formula in (
        ("squared_lengths", "½(|q|² + |k|² − |q − k|²)", f"({LENGTHS} - ({BOTH.format('-')}).square().sum(dim=-1)) / 2"),
        ("cdist", "½(|q|² + |k|² − |q − k|²)", f"({LENGTHS} - torch.cdist(query, key)**2) / 2"),
        ("sum_and_difference", "¼(|q + k|² − |q − k|²)", f"(({BOTH.format('+')}).square().sum(dim=-1) - ({BOTH.format('-')}).square().sum(dim=-1)) / 4"),
    ):
        at(PRODUCT, "values", (f"by_{name}", formula, f"You subtract squared lengths, {written}. On paper that is the dot product. But where vectors are long, these are large and nearly equal numbers, and float32 loses the digits of their difference. Multiply and add up."))
    at(TURNED, ALL,
       ("all_axes_turned", "key.permute(2, 1, 0)", "You turn *all* axes of `key` around, (B, S, D) into (D, S, B) (`key.T` does that): the batch is where the width should be. Only the last two axes trade places, `key.transpose(-2, -1)`."),
       ("batch_and_time", "key.transpose(0, 1)", "You swap batch and time: the key becomes (S, B, D) (`transpose(0, 1)` does that). The batch stays in front; the last two axes of `key` trade places, `transpose(1, 2)`."),
       ("not_transposed", "key", "Nothing is transposed: (B, T, D) times (B, S, D) puts the width of the query against the *number* of keys. The two widths must meet: `key` needs the shape (B, D, S)."),
       ("queries_with_themselves", "query.transpose(-2, -1)  # (B, T, D) @ (B, D, T) -> (B, T, T)", "You compare the queries with themselves: `key` has no part in the scores. (In 00 there was one x. Here asking and answering rows differ, and so may S and T.)"),
       ("keys_of_the_first_item", "key[0].T  # (B, T, D) @ (D, S) -> (B, T, S)", "All your queries meet the keys of the first batch item. Each item has its own keys: `key[b]` for `query[b]`.", NUMBERS))
    at("key.transpose(-2, -1)", NUMBERS,
       ("reshape_for_transpose", "key.reshape(key.size(0), key.size(2), key.size(1))", "`view` (or `reshape`) gives the right shape, (B, D, S), with the numbers in the wrong positions: it keeps the order in memory. To make axes trade places use `transpose(-2, -1)`."),
       ("view_for_transpose", "key.view(key.size(0), key.size(2), key.size(1))", "`view` gives the right shape, (B, D, S), with the numbers in the wrong positions, and refuses a `key` whose memory is in another order. To make axes trade places use `transpose(-2, -1)`.", ALL))
    at("return query", NUMBERS, ("scaled_already", "return query / math.sqrt(query.size(-1))", "You divide by √D = {root_D} already. That comes next, in `scaled_scores`; here the plain dot product is needed."))
    at("query @ key.transpose(-2, -1)", NUMBERS, ("softmax_already", "(query @ key.transpose(-2, -1)).softmax(dim=-1)", "You take a softmax already. Scores come first and may be negative or large; 03 turns them into weights."))
    squeezed(at, ALL, "is (B, T, S), also for one sentence or one query")


@MISTAKES.of(right.scaled_scores)
def in_scaled_scores(at):
    at("math.sqrt(query.size(-1))", NUMBERS,
       ("by_d", "query.size(-1)", "Your scores come out {root_D} times too small: they are divided by D, not by √D. (A division of both `query` and `key` by √D does that, too.)"),
       ("half_of_d", "(query.size(-1) ** 1 / 2)", "You divide by D/2, half of the width. (Python reads `D ** 1 / 2` as (D ** 1) / 2.) The root is `D ** 0.5` or `math.sqrt(D)`."),
       ("whole_root", "int(math.sqrt(query.size(-1)))", "You divide by the *whole-number part* of √D: `int(…)`, `//` or `math.isqrt` cuts {root_D} off at the point. Keep the fraction."),
       ("by_eight", "8", "You divide by 8 whatever the width. That is √64, the width in the paper. Here D = {D}. Read the width off the tensor: `query.size(-1)`."),
       ("by_the_lengths_of_all", "(query.norm() * key.norm())", "You divide by the lengths of the whole tensors, `query.norm() * key.norm()`: one number that depends on what is in them. The scale is √D = {root_D}, whatever they hold."),
       ("by_twice_d", "(2 * query.size(-1))", "You divide by 2·D, twice the width; the scale is √D = {root_D}. (Python reads `/ D ** 1 / 2` as `/ (D ** 1) / 2`.) The root is `D ** 0.5` or `math.sqrt(D)`."),
       ("by_twice_the_root", "(2 * math.sqrt(query.size(-1)))", "You divide by 2·√D; √D = {root_D} alone is the scale."))
    at("query.size(-1)", NUMBERS,
       ("by_root_t", "query.size(1)", "You divide by √T (the number of queries), not by √D (their width). With T = D you would not have noticed; here T = {T} and D = {D}."),
       ("by_root_s", "key.size(1)", "You divide by √S (the number of keys), not by √D (their width). The number of terms in each dot product is D = {D}; S = {S} only says how many scores there are."),
       ("by_root_batch", "len(query)", "You divide by √B: `len(query)` and `query.size(0)` are the batch size, {B}. The width is the last size, `query.size(-1)`, here {D}."),
       ("by_root_number_of_axes", "query.dim()", "You divide by √3, the root of the number of *axes* (`query.dim()` counts these). The width is the size of the last one, `query.size(-1)`, here {D}."),
       ("by_root_768", "768", "You divide by √768 whatever the width. That is the width of one particular BERT. Here D = {D}. Read it off the tensor: `query.size(-1)`."),
       ("by_root_of_the_table", "query.size(1) * key.size(1)", "You divide by √(T·S), the root of the number of scores. The scale is the width's root, √D = {root_D}."),
       ("by_root_d_minus_one", "query.size(-1) - 1", "You divide by √(D − 1); it is D = {D} that goes under the root."))
    at(" / ", NUMBERS,
       ("times_root", " * ", "You multiply by √D where you should divide: the scores grow with the width twice over. (`/ D ** -0.5` is a multiplication, too.)"),
       ("root_and_again_by_d", " / query.size(-1) / ", "You divide by √D and once more by D: the scores come out D = {D} times too small. (A mean over the width divides by D, too.) The root alone is the scale."),
       ("floor_division", " // ", "Every score is rounded down to a whole number (`//` does that). Divide with `/`."))
    at(" / math.sqrt(query.size(-1))", NUMBERS,
       ("no_scale", "", "The scale is missing: divide the scores by √D = {root_D}, the root of the width."),
       *((f"times_root_{size.lower()}", f" * math.sqrt({number})", f"You multiply by √{size}, the root of the number of {what}. Divide by √D = {{root_D}}, the root of the width.")
         for size, number, what in (("S", "key.size(1)", "keys"), ("T", "query.size(1)", "queries"))))
    at(("(query, key)", "  # (B, T, S)"), ALL, ("swapped", ("(key, query)", "  # (B, S, T)"), "Your table is transposed: rows must be queries, shape (B, T, S), and yours are keys."))
    at("dot_product_scores(query, key)", ALL,
       ("batch_and_time", "query @ key.transpose(0, 1)", "You swap batch and time: the key becomes (S, B, D) (`transpose(0, 1)` does that). The batch stays in front; the last two axes of `key` trade places, `transpose(1, 2)`."),
       ("reshape_for_transpose", "query @ key.reshape(key.size(0), key.size(2), key.size(1))", "`view` (or `reshape`) does not transpose: it keeps the order in memory, so the numbers are in the wrong positions. Use `key.transpose(-2, -1)`, or call your `dot_product_scores`.", NUMBERS),
       ("view_for_transpose", "query @ key.view(key.size(0), key.size(2), key.size(1))", "`view` does not transpose: it leaves the numbers in the wrong positions, and refuses a `key` whose memory is in another order. Use `key.transpose(-2, -1)`, or call your `dot_product_scores`.", ALL))
    at("(query, key) / math.sqrt(query.size(-1))", NUMBERS, ("cosine", "(F.normalize(query, dim=-1), F.normalize(key, dim=-1))", "You return cosines: each row's own length is divided out. √D is one number for all rows; a long key may still score higher than a short one."))
    at("return dot_product_scores(query, key) / math.sqrt(query.size(-1))", NUMBERS, ("by_their_own_spread", "scores = dot_product_scores(query, key)\n    return scores / scores.std()", "You divide by the spread that these scores happen to have. Their variance *should* be able to differ from 1 once a model has learned; the fixed number √D = {root_D} only sets it right at the start."))
    at(("return ", "  # (B, T, S)"), NUMBERS,
       ("softmax_already", ("return torch.softmax(", ", dim=-1)  # (B, T, S)"), "You take a softmax already. The scaled scores themselves are needed; 03 turns them into weights."),
       ("largest_subtracted", ("scores = ", "  # (B, T, S)\n    return scores - scores.amax(dim=-1, keepdim=True)"), "From each row you subtract its largest score, so that no score is above 0. That makes a softmax stable and belongs there, in 03. The scaled scores themselves are needed."),
       ("log_of_a_softmax", ("return torch.log(torch.softmax(", ", dim=-1))  # (B, T, S)"), "You take a softmax and its logarithm. That does not give the scores back: in each row they are smaller by ln Σ eˣ, a number that depends on all keys. The scaled scores themselves are needed."))
    at("dot_product_scores(query, key) / math.sqrt(query.size(-1))", NUMBERS, ("root_of_the_scores", "torch.sqrt(dot_product_scores(query, key) / query.size(-1))", "The scores are under the root, too: a negative score has no root, hence NaN. Only D goes under it: `scores / math.sqrt(D)`."))
    at("math.sqrt(query.size(-1))  # (B, T, S)", ALL, ("torch_root_of_a_number", "torch.sqrt(query.size(-1))", "`torch.sqrt` takes a tensor, and a size such as `query.size(-1)` is a plain number: take `math.sqrt`, or write `** 0.5`."))
    at("math.sqrt(", NUMBERS, ("by_log_d", "math.log(", "You divide by ln D. The scale is the root of the width, √D = {root_D}."))
    squeezed(at, ALL, "is (B, T, S), also for one sentence or one query")


@MISTAKES.of(right.score_variance)
def in_score_variance(at):
    at(" / math.sqrt(dim)", "scaled variance", ("no_scale", "", "Your scaled scores are not scaled: both numbers are the variance of the plain dot products. Divide the *scores* by √D and take their variance again."))
    at(("    scaled = scores / math.sqrt(dim)  # (N,)\n", "scaled.var().item()"), "scaled variance", ("variance_by_root", ("", "scores.var().item() / math.sqrt(dim)"), "You divide the *variance* by √D. Dividing a score by √D divides its variance by D, because a variance is made of squares."))
    at("math.sqrt(dim)", "scaled variance",
       ("scores_by_d", "dim", "Your scores are divided by D, not by √D: their variance falls to 1/D, where 1 is the aim. (A division of both query and key by √D does that, too.)"),
       ("by_twice_d", "(2 * dim)", "Your scores are divided by 2·D, not by √D. (Python reads `/ D ** 1 / 2` as `/ (D ** 1) / 2`.) The root is `D ** 0.5` or `math.sqrt(D)`."),
       ("measured_spread", "scores.std()", "Your second number is 1 whatever the scores are, as it is after a division by the spread that was measured. Divide each score by √D = {root_D}: the variance then comes close to 1 and never hits it exactly.", "sampling"),
       ("half_of_d", "(dim**1 / 2)", "You divide by D/2, half of the width. (`D ** 1 / 2` is (D ** 1) / 2.) The root is `D ** 0.5` or `math.sqrt(D)`."))
    at(" / math", "scaled variance", ("times_root", " * math", "You multiply the scores by √D where they must be divided: the scaled variance comes out D² in place of 1."))
    at(".var()", "unscaled variance",
       ("std", ".std()", "You return standard deviations. The variance is their square: `var` in place of `std`. (The scaled one hides it, because 1² = 1.)"),
       ("mean", ".mean()", "You return means. The mean of a score is about 0 at every width; it is the *spread* around it that grows: `var`.", VARIANCES), times=2)
    at("torch.randn(samples, dim, generator=generator)", DRAWN, ("squeezed", "torch.randn(samples, dim, generator=generator).squeeze()", "With `dim` = 1 you add up the samples: the axis of the components is gone (`squeeze()` takes away every axis of size 1). One score is left, and its variance is NaN. Leave that axis in place."), times=2)
    at("scaled.var()", "sampling", ("std_of_the_scaled", "scaled.std()", "Your second number is a standard deviation, the root of the variance. (Close to 1 they hardly differ, because 1² = 1.) Return the variance of the scaled scores."))
    at("scores.var().item(), scaled.var().item()", VARIANCES,
       ("other_order", "scaled.var().item(), scores.var().item()", "The two numbers are in the other order: first the unscaled variance, then the scaled one."),
       ("scaled_twice", "scaled.var().item(), scaled.var().item()", "Both of your numbers are the same, about 1, as the variance of scaled scores is. Are the unscaled ones changed in place? `scaled = scores` is a second name for one tensor, no copy, and `/=` or `div_` changes what both names mean.", "unscaled variance"),
       ("rounded", "round(scores.var().item(), 1), round(scaled.var().item(), 1)", "Your numbers are rounded. Return them as measured.", "sampling"))
    at(("(query * key).sum(dim=-1)  # (N,)", "  # (N,)\n    return"), VARIANCES, ("products_not_summed", ("query * key  # (N, D)", "  # (N, D)\n    return"), "You take the variance of the single products qᵢ·kᵢ. A score is their *sum* over the D components: add up along the last axis first."))
    at(".sum(dim=-1)", VARIANCES, ("mean_over_components", ".mean(dim=-1)", "You take the *mean* over the D components where the dot product takes the sum: your first variance is 1/D."))
    SAMPLES_SUMMED = "You add up over the samples, not over the components, and get D scores in place of {N}: with shape (N, D) the sum runs along the last axis, `dim=-1`."
    at(("dim=-1)  # (N,)", "  # (N,)\n    return"), VARIANCES, ("sum_over_samples", ("dim=0)  # (D,)", "  # (D,)\n    return"), SAMPLES_SUMMED))
    at(("dim=-1)  # (N,)", "  # (N,)\n    return scores.var().item(), scaled.var().item()"), DRAWN, ("sum_over_samples_divided_by_n", ("dim=0)  # (D,)", "  # (D,)\n    return scores.var(unbiased=False).item(), scaled.var(unbiased=False).item()"), SAMPLES_SUMMED))
    at("torch.randn", VARIANCES, ("rand_for_randn", "torch.rand", "Your components are uniform from 0 to 1 (`torch.rand` draws these): mean ½, variance 1/12. The contract asks for standard normal components, mean 0 and variance 1: `torch.randn`, with an n."), times=2)
    at("torch.randn(samples, dim, generator=generator)", "sampling", ("uniform_of_variance_1", "(torch.rand(samples, dim, generator=generator) - 0.5) * math.sqrt(12)", "Your components have variance 1, but they are not normal: uniform numbers, or ±1, have no tails, and with `dim` = 1 the variances that you measure differ too little from call to call. Draw with `torch.randn`."), times=2)
    at(("    key = torch.randn(samples, dim, generator=generator)  # (N, D)\n", "query * key"), VARIANCES, ("query_with_itself", ("", "query * query"), "Each query is multiplied with itself: that is its squared length, with mean D and variance 2·D. Draw the keys independently.", DRAWN))
    at("query = torch.randn(samples, dim, generator=generator)  # (N, D)", VARIANCES, ("one_query", "query = torch.randn(dim, generator=generator)  # (D,)", "All your samples share one query. Their variance is then that query's squared length, which differs from draw to draw; each of the {N} samples needs a query of its own.", DRAWN))
    at("key = torch.randn(samples, dim, generator=generator)  # (N, D)", VARIANCES, ("one_key", "key = torch.randn(dim, generator=generator)  # (D,)", "All your samples share one key. Their variance is then that key's squared length, which differs from draw to draw; each of the {N} samples needs a key of its own.", DRAWN))
    at(", generator=generator", "sampling", ("global_generator", "", "The given generator has no effect: your draws come from PyTorch's global one. Hand it on in every draw, `torch.randn(…, generator=generator)`."), times=2)
    at("key = torch.randn(samples, dim, generator=generator)", "sampling", ("half_global", "key = torch.randn(samples, dim)", "The same generator gives other numbers each time: some of your draws come from elsewhere. Look for a draw without `generator=generator` (`torch.randn`, `normal_()`), for `torch.randn_like`, for NumPy, or for `generator.seed()`, which starts it again at random."))
    at("query = ", "sampling",
       ("seeds_inside", "generator.manual_seed(0)\n    query = ", "Something inside your function is seeded (`manual_seed`), so that every call gives the same numbers. Seeding is the caller's business: use the generator in the state in which it comes."),
       ("starts_again", "generator = torch.Generator().manual_seed(generator.initial_seed())\n    query = ", "You start again at the seed that the generator once had: what has been drawn from it since makes no difference, and a second call gives the same numbers. Draw with `generator=generator`, from the state in which it comes."),
       ("draws_from_a_copy", "generator = torch.Generator().set_state(generator.get_state())\n    query = ", "After the call the given generator is where it was before, so that a second call gives the same numbers. Draw from that one and not from a copy, and don't put its state back."),
       ("seeds_the_global_one", "torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))\n    generator = torch.default_generator\n    query = ", "PyTorch's global generator is not as it was before the call: you seed it, or draw from it. Hand the given one on in every draw, `torch.randn(…, generator=generator)`; nothing is seeded."),
       ("fixed_number", "samples = 10_000\n    query = ", "`samples` has no effect: you draw a fixed number of pairs. The caller decides how many, here {N}."),
       *((f"at_most_{most}", f"samples = min(samples, {most})\n    query = ", f"You draw {most:,} pairs at most, however many are asked for. Draw all of them, here {{N}}.") for most in (1000, 5000, 10000, 20000)),
       ("one_sample_less", "samples = samples - 1\n    query = ", "You draw one pair less than asked for: `samples − 1`."))
    ONE_BY_ONE = "    query = torch.randn(samples, dim, generator=generator)  # (N, D)\n    key = torch.randn(samples, dim, generator=generator)  # (N, D)\n    scores = (query * key).sum(dim=-1)  # (N,)\n"
    BLOCKS = "    scores = torch.cat([(torch.randn({0}, dim, generator=generator) * torch.randn({0}, dim, generator=generator)).sum(dim=-1) for _ in range(samples // {0})])\n"
    at(ONE_BY_ONE, ("two floats", *DRAWN), *(
       (f"blocks_of_{block}", BLOCKS.format(block), f"You draw whole blocks of {block} pairs: what is left of `samples` after them is not drawn, and with fewer than {block} there is nothing to put together. The last block must hold the rest.")
       for block in (100, 1000)))
    at("    query = ", "sampling", ("theory", "    return float(dim), 1.0\n    query = ", "D and 1 are what theory predicts, and not a measurement: draw `samples` pairs and take the variance of their scores, which comes close to D and 1 and never hits them exactly."))
    at(("samples, dim, generator=generator)  # (N, D)\n    key = torch.randn(samples, dim, generator=generator)  # (N, D)", "  # (N,)\n    scaled", "  # (N,)\n    return"), VARIANCES, ("sizes_swapped", ("dim, samples, generator=generator)  # (D, N)\n    key = torch.randn(dim, samples, generator=generator)  # (D, N)", "  # (D,)\n    scaled", "  # (D,)\n    return"), "You draw D rows of `samples` components: the sizes have changed places. Wanted are `samples` rows, here {N}, of D = {D} components."))
    at(".sum(dim=-1)  # (N,)", DRAWN, ("one_score", ".sum()", "You have a single score, and a single number has no variance (NaN). {N} scores are needed: add up over the components only, `dim=-1`. (A `sum()` without `dim` leaves one number.)"))
    at("(query * key).sum(dim=-1)  # (N,)", "sampling", ("all_pairs", "query @ key.T  # (N, N)", "You multiply every query with every key. Those scores share rows and are not independent; draw `samples` pairs, query n with key n."))
    at(("    scores = (query * key).sum(dim=-1)  # (N,)\n    scaled = scores / math.sqrt(dim)  # (N,)\n", "scores.var().item(), scaled.var().item()"), "sampling", ("one_product_times_d", ("", "dim * (query * key).var().item(), (query * key).var().item()"), "You measure the variance of the single products qᵢ·kᵢ, and multiply it by D. That takes for granted what you are asked to measure: how the variance of a *sum* grows with D. Add up the D products of each pair first, and take the variance of these `samples` scores."))
    at(".item()", "two floats", ("tensors", "", "Your numbers are still wrapped in tensors (of shape (), with no axis at all). Plain Python floats are needed: `.item()` or `float(…)` takes the number out."), times=2)


@MISTAKES.of(right.project)
def in_project(at):
    PAIR = "x @ w_q, x @ w_k  # (B, T, K), (B, T, K)"
    at("x @ w_q, x @ w_k", NUMBERS,
       ("other_order", "x @ w_k, x @ w_q", "The pair is in the other order: you return (keys, queries), wanted is (queries, keys). `w_q` makes the first."),
       ("reshape_for_transpose", "x @ w_q.reshape(w_q.size(1), -1).T, x @ w_k.reshape(w_k.size(1), -1).T", "`reshape` (or `view`) to (K, D) puts the numbers into the wrong positions: it keeps the order in memory. `w_q.T` makes the axes trade places, as `F.linear` needs it; `x @ w_q` needs neither."),
       ("softmax_of_the_projections", "(x @ w_q).softmax(dim=-1), (x @ w_k).softmax(dim=-1)", "You take a softmax of queries and keys. Projections are plain products and may be negative; the softmax comes after the scores, in 03."))
    at("return ", NUMBERS,
       ("scaled_already", "x = x / math.sqrt(w_q.size(-1))\n    return ", "You divide by a root already. `project` only projects; the root of the width belongs to the scores."),
       ("fourth_roots", "x = x / w_q.size(-1) ** 0.25\n    return ", "Queries and keys are each divided by the fourth root of K already (times `K ** -0.25`), and so their scores by √K. `project` only projects; the root of the width belongs to the scores."),
       ("keys_scaled", "w_k = w_k / math.sqrt(w_k.size(-1))\n    return ", "The keys are divided by √K = {root_K} already. `project` only projects; the root of the width belongs to the scores."),
       ("queries_scaled", "w_q = w_q / math.sqrt(w_q.size(-1))\n    return ", "The queries are divided by √K = {root_K} already. `project` only projects; the root of the width belongs to the scores."))
    at("x @ w_q", NUMBERS, ("keys_for_both", "x @ w_k", "Both of your results are `x @ w_k`; `x @ w_q` is in neither. (A loop can lose it in two ways: the second round writes into the tensor that the first one has returned; or a `lambda` is called after the loop, when its names have the values of the last round.)"))
    at("x @ w_k", NUMBERS, ("same_for_both", "x @ w_q", "Both of your results are `x @ w_q`; `x @ w_k` is in neither. One matrix for both is what this exercise avoids: its scores are symmetric."))
    at(PAIR, ALL,
       ("transposed", "x @ w_q.T, x @ w_k.T", "Your projections are transposed: `w_q.T` (and `F.linear`, which transposes for you) has shape (K, D), and the width D = {D} of `x` meets K = {K}. Here a projection is (D, K): multiply `x @ w_q` as it is. (A `view` to that shape fits no better; `nn.Linear` stores its weight the other way round, (K, D).)"),
       ("matrix_first", "w_q @ x, w_k @ x", "The matrix is on the wrong side: rows are tokens here, so `x` comes first, `x @ w_q`. (`w_q @ x` is for tokens written as columns.)"),
       ("scores_already", "dot_product_scores(x @ w_q, x @ w_k)  # (B, T, T)", "You go one step too far and return scores. `project` stops at the pair (queries, keys); `scaled_scores` takes it from there."),
       ("glued", "torch.cat([x @ w_q, x @ w_k], dim=-1)  # (B, T, 2K)", "Queries and keys are glued into one tensor of width 2·K. Return two tensors: `return queries, keys`."),
       ("every_other_column", "(x @ torch.cat([w_q, w_k], dim=1)).unflatten(-1, (-1, 2)).unbind(-1)", "Queries and keys are mixed: beside each other, the first {K} columns are the queries and the others the keys, and your first result takes every other column. Cut in halves: `chunk(2, dim=-1)`.", NUMBERS),
       *((f"cut_{name}_in_memorys_order", f"(x @ torch.cat([w_q, w_k], dim=1)).view({shape}).unbind({axis})", f"Beside each other, queries and keys are one tensor of width 2·K, and `view` (or `reshape`) to {said} cuts it in memory's order: rows of both alternate in each of your results. Cut along the last axis, `chunk(2, dim=-1)`.", NUMBERS)
         for name, shape, axis, said in (("all", "2, x.size(0), x.size(1), -1", 0, "(2, B, T, K)"), ("items", "x.size(0), 2, x.size(1), -1", 1, "(B, 2, T, K)"))),
       *((f"cut_at_d{how}", f"tuple(torch.cat([x @ w_q, x @ w_k], dim=-1).{cut})", "You cut after D = {D} columns, the width of `x`. Beside each other, the first K = {K} columns are the queries and the other K the keys: `[..., :K]` and `[..., K:]`, or `chunk(2, dim=-1)`.")
         for how, cut in (("", "tensor_split([x.size(-1)], dim=-1)"), ("_in_equal_pieces", "split(x.size(-1), dim=-1)"))),
       ("queries_only", "x @ w_q  # (B, T, K)", "You return only the queries. The keys are missing: `return queries, keys`."),
       ("stacked", "torch.stack([x @ w_q, x @ w_k])  # (2, B, T, K)", "The two results are stacked into one tensor with an axis of size 2 in front. Return two tensors: `return queries, keys`.", "shape"),
       ("scaled_scores_already", "scaled_scores(x @ w_q, x @ w_k)  # (B, T, T)", "You go two steps too far and return scaled scores. `project` stops at the pair (queries, keys); `scaled_scores` takes it from there."),
       ("first_item_only", "x[0] @ w_q, x[0] @ w_k  # (T, K), (T, K)", "You project the first batch item only: `x[0]`. All {B} are needed, and `@` takes them at once."),
       ("x_too", "x @ w_q, x @ w_k, x", "You return three things; wanted is the pair (queries, keys).", ("shape", "gradients")))
    at("x @ w_k  # (B, T, K), (B, T, K)", ALL, ("keys_left_as_they_are", "x  # (B, T, K), (B, T, D)", "Only the queries are projected; the keys you return are `x` itself. `x @ w_k` makes the keys, of width K = {K}."))
    at("return x @ w_q, x @ w_k  # (B, T, K), (B, T, K)", ALL,
       ("items_for_the_pair", "both = x.unsqueeze(1) @ torch.stack((w_q, w_k))  # (B, 2, T, K)\n    return both[0], both[1]", "Your results are the first two batch items, each with both projections: in (B, 2, T, K), queries and keys lie along axis 1, `both[:, 0]` and `both[:, 1]`."),
       ("one_after_the_other", "queries = x @ w_q\n    return queries, queries @ w_k", "You project twice: the keys are made from the queries, of width K = {K}. Both are made from `x`, which must not become another name for the queries."),
       ("one_after_the_other_by_einsum", 'queries = torch.einsum("btd,dk->btk", x, w_q)\n    return queries, torch.einsum("btd,dk->btk", queries, w_k)', "You project twice: the keys are made from the queries, of width K = {K}. Both are made from `x`, which must not become another name for the queries."))
    at("x @ w_q, x @ w_k", ALL, ("squeezed", "(x @ w_q).squeeze(), (x @ w_k).squeeze()", "Your results lose their axes of size 1: `squeeze()` takes away all of them. Each must be (B, T, K), also for one sentence or one token."))
    at(PAIR, NUMBERS, ("with_a_random_bias", "tuple(F.linear(x, w.detach().T, torch.nn.Linear(*w.shape).bias) for w in (w_q, w_k))", "`nn.Linear` adds a bias, random at first, which has no place here: `bias=False`, or no layer at all. And a copy of `w_q` or `w_k` in a layer's parameter gets the gradient in place of the matrix: multiply by the matrix itself, `x @ w_q`."))
    OWN = "You make new layers with random matrices of their own: `w_q` and `w_k` have no part in the result. Multiply by the matrices that are given, `x @ w_q`."
    at(PAIR, NUMBERS,
       ("layers_of_its_own", "tuple(torch.nn.Linear(*w.shape)(x) for w in (w_q, w_k))", OWN),
       ("layers_of_its_own_without_bias", "tuple(torch.nn.Linear(*w.shape, bias=False)(x) for w in (w_q, w_k))", OWN))
    at("return ", "gradients", ("cut_off", "with torch.no_grad():\n        return ", "No gradient gets through: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts the way back to `x` and to the two projections, which are exactly what training has to change."))


@MISTAKES.of_quiz("quiz_scaling", right.quiz_scaling)
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
                 "Nothing makes them zero; they are the same number, because a·b = b·a.")
    wrong("divisor", "the 768 of x",
                 "768 is the width *before* the projection. The dot product runs over the components of the projected vectors.")
    wrong("divisor", "the 12 heads",
                 "The number of heads (04) plays no part here: count the terms that one dot product adds up.")
    wrong("divisor", "the 10 tokens",
                 "Ten tokens make a 10 × 10 matrix of scores; the number of terms in each of them is another one.")
