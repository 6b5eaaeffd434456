"""Wrong answers to the exercises of 06-positional-encodings."""

from __future__ import annotations

from anatomy.course.nb06_positional_encodings import right
from anatomy.engine.families import called_otherwise, class_beginnings, squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

REFUSAL = """\
    if dim % 2:
        raise ValueError(f"dim must be even, one sine and one cosine per frequency; it is {dim}")
"""
NUMBERS = ("values", "gradients")
FREQUENCIES = "10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)"


def power_before_root(at: MistakesIn, frequencies: str, base: str, width: str, breaks: tuple[str, ...]) -> None:
    """Frequencies that are made of the base to the power 2i, which is soon too large or too small, and its root."""
    first, mend = "The base to the power 2i comes first in yours, and its root after it.", "Divide the exponent by the width first."
    at(frequencies, breaks,
       ("power_overflows", f"1 / (float({base}) ** torch.arange(0, {width}, 2)).double() ** (1 / {width})", f"{first} That power is soon too large for float32: 10000 to the power 10 is ∞ there, and such a pair never turns. {mend}"),
       ("power_underflows", f"(float({base}) ** -torch.arange(0, {width}, 2)).double() ** (1 / {width})", f"{first} With the minus that power is soon too small for float32: 10000 to the power −12 is 0 there, and such a pair never turns. {mend}"),
       ("whole_power_overflows", f"1 / (int({base}) ** torch.arange(0, {width}, 2)).double() ** (1 / {width})", f"{first} It is a whole number in yours, and int64 ends at 9·10¹⁸: from 10000 to the power 6 on it holds some other number. {mend}"))


@MISTAKES.of(right.permutation_gap)
def in_permutation_gap(at):
    BOTH = ("values", "plain float")
    at("module(x)[:, perm]", "values",
       ("one_side", "module(x)", "You shuffle what goes in, but compare with a result in the old order. Shuffle that result too, `[:, perm]`, so that each token is compared with itself."),
       ("inverse", "module(x)[:, perm.argsort()]", "The two sides of your comparison are in different orders, unless `perm` is its own inverse, as a swap of two tokens is. Compare f(x[:, perm]) with f(x)[:, perm]. Or undo the first with the inverse, f(x[:, perm])[:, perm.argsort()], and compare with f(x): shuffling by `perm` a second time doesn't undo it."),
       ("same_twice", "module(x[:, perm])", "Your result is 0, whatever f is: both sides of your comparison are the same. One is f of the shuffled tokens, `module(x[:, perm])`; the other is f of the tokens as they are, shuffled afterwards, `module(x)[:, perm]`.", BOTH),
       ("last_axis_but_one", "module(x)[..., perm, :]", "You shuffle the last axis but one of the results. That is T in (B, T, D) only; `module` may return (B, T, …), where T is axis 1: `[:, perm]`."),
       ("last_axis_but_one_selected", "module(x).index_select(-2, perm)", "You shuffle the last axis but one of the results. That is T in (B, T, D) only; `module` may return (B, T, …), where T is axis 1: `index_select(1, perm)`."))
    at(("module(x[:, perm])", "module(x)[:, perm]"), "values",
       ("inverse_twice", ("module(x[:, perm.argsort()])", "module(x)[:, perm.argsort()]"), "You shuffle by the inverse of `perm`: `out[:, perm] = x` *sends* token t to position perm[t], while `x[:, perm]` *takes* for position t the token at perm[t]."),
       ("shuffles_batch", ("module(x[perm])", "module(x)[perm]"), "`x[perm]` shuffles the first axis, which is the batch: sentences are reordered, not words. Tokens are along axis 1, `x[:, perm]`.", BOTH),
       ("shuffles_columns", ("module(x[..., perm])", "module(x)[..., perm]"), "You shuffle the last axis, the columns of every token; the tokens themselves are along axis 1, `x[:, perm]`.", BOTH),
       ("module_unused", ("x[:, perm]", "x"), "`module` has no effect: your result is that of comparing x with x shuffled. Compare what the module makes of them: f(shuffled x) with shuffled f(x)."))
    at(".abs().max()", "values",
       ("no_abs", ".max()", "You take the largest difference with its sign, but the largest of all can be a negative one: `.abs()` belongs before `.max()` (after it is too late)."),
       ("norm", ".norm()", "You compute the length of the whole difference (a root of a sum of squares). Return its largest entry."),
       ("mean_over_tokens", ".abs().reshape(*x.shape[:2], -1).amax(dim=-1).mean()", "You take the largest difference of each token and average over the tokens. Return the largest over all entries."),
       ("largest_mean_of_a_token", ".abs().reshape(*x.shape[:2], -1).mean(dim=-1).max()", "You average the differences within each token and return the largest of these means. Return the largest single difference, over all entries."),
       ("length_of_a_token", ".reshape(*x.shape[:2], -1).norm(dim=-1).max()", "You measure the length of each token's difference (a root of a sum of squares) and return the longest. Return the largest single difference, over all entries."),
       ("mean_over_sentences", ".abs().amax(dim=(1, 2)).mean()", "You take the largest difference of each sentence and average over the sentences. Return the largest over all entries."))
    at(".max()", "values",
       ("mean", ".mean()", "You average the differences. Return the largest: one token that notices its position is enough, and a mean can hide it."),
       ("sum", ".sum()", "You add up all differences. Return the largest: a sum grows with the number of tokens, so it could not be compared between texts."),
       ("smallest", ".min()", "You return the smallest difference. Return the largest."))
    at(".abs()", "values", ("squared", ".pow(2)", "You return the square of the largest difference. Return its absolute value, `.abs()`."))
    at("(shuffled_first - shuffled_last).abs().max().item()", BOTH, ("yes_or_no", "torch.allclose(shuffled_first, shuffled_last, atol=1e-6)", "You answer whether the two agree. Return by how much they differ, as a number: 0.0 says more than True, and 0.3 much more than False."))
    at(".item()", "plain float",
       ("tensor", "", "Your number is still wrapped in a tensor. Return a plain Python float: `.item()` or `float(…)` takes it out."),
       ("numpy_number", ".numpy()[()]", "Your number is NumPy's. Return a plain Python float: `.item()` or `float(…)`."))
    at("    shuffled_first = ", BOTH, ("modules_only", "    module.eval()\n    shuffled_first = ", "You call a method that only an `nn.Module` has. `module` may be any callable, also a plain function: call it, and ask nothing else of it."))
    at("(shuffled_first - shuffled_last)", "values",
       ("first_sentence", "(shuffled_first - shuffled_last)[0]", "Your result is the gap of the first sentence alone; the largest difference may be in another. (Is there a `[0]`, or a `return` inside a loop?)"),
       ("sorted", "(shuffled_first.sort(dim=1).values - shuffled_last.sort(dim=1).values)", "You sort both results along the tokens before you compare them. Then it counts which numbers come out, and not at which token. Compare token by token, unsorted."),
       ("all_sorted", "(shuffled_first.flatten().sort().values - shuffled_last.flatten().sort().values)", "You sort all numbers of both results before you compare them. Then it counts which numbers come out, and not where. Compare entry with entry, unsorted."),
       ("last_sentence", "(shuffled_first - shuffled_last)[-1]", "Your result is the gap of the last sentence alone; the largest difference may be in another. (A loop over the sentences that sets the result again in each round keeps the last one: keep the largest, `max(worst, …)`.)"))
    at("(shuffled_first - shuffled_last).abs().max()", "values",
       ("difference_of_maxima", "(shuffled_first.max() - shuffled_last.max()).abs()", "You compare the largest entries of the two results, which may be anywhere. Compare entry with entry: subtract first, then `.abs().max()`."),
       ("relative", "((shuffled_first - shuffled_last).abs().max() / shuffled_last.abs().max())", "You divide by the size of the result. Return the largest difference as it is."))
    at("module(x[:, perm])", "values",
       ("only_the_output", "module(x)", "You shuffle only what comes out and compare it with f(x) in the old order. One of the two must be f of the *shuffled* x."),
       ("inverse_going_in", "module(x[:, perm.argsort()])", "You shuffle the input by the inverse of `perm` (as `out[:, perm] = x` does), and what you compare is in two different orders. Both sides get the same order, `[:, perm]`."))
    CALLS = "shuffled_first = module(x[:, perm])  # (B, T, …)\n    shuffled_last = module(x)[:, perm]"
    at(CALLS, "values",
       ("both_in_one_batch", "last, shuffled_first = module(torch.cat((x, x[:, perm]))).chunk(2)\n    shuffled_last = last[:, perm]", "You put x and the shuffled x into one batch of 2B sentences. `module` may mix the sentences of a batch, and then each of the two has numbers of the other. Call it twice."),
       ("sentence_by_sentence", "shuffled_first = torch.cat([module(one[None]) for one in x[:, perm]])\n    shuffled_last = torch.cat([module(one[None]) for one in x])[:, perm]", "You call `module` with one sentence at a time. It may mix the sentences of a batch: call it with all of x."))
    for digits in (0, 1, 2, 3):
        at("(shuffled_first - shuffled_last).abs().max().item()", "values", (f"rounded_to_{digits}", f"round((shuffled_first - shuffled_last).abs().max().item(), {digits})", "You round the gap: small gaps become 0, and 0 would mean equivariant. Return the number as it is."))
    at("return (shuffled_first - shuffled_last).abs().max().item()", "values", ("small_gaps_are_0", "gap = (shuffled_first - shuffled_last).abs().max().item()\n    return gap if gap > 0.01 else 0.0", "A small gap becomes 0 in yours, and 0 would mean equivariant. Return the number as it is."))


@MISTAKES.of(right.sinusoidal_encoding)
def in_sinusoidal_encoding(at):
    at("torch.arange(0, dim, 2,", "values", ("i_for_2i", "torch.arange(dim // 2,", "Your frequencies fall half as fast as they should: pair i turns at 10000^(−2i/D), and yours at 10000^(−i/D). In a wide table the last pair turns at nearly 1/10000; yours stops at about 1/100. (Is there an i in place of 2i, or a base of 100?)"))
    at("(-torch.arange(0, dim, 2,", "values", ("2i_twice", "(-2 * torch.arange(0, dim, 2,", "Your exponent is twice too large, 4i/D where the formula has 2i/D. (Is 2i counted twice? `range(0, dim, 2)` and `torch.arange(0, dim, 2)` give 2i already. Or is 2i divided by D/2, the number of pairs? It is divided by D.)"))
    at(("arange(0, dim, 2, dtype=torch.float64) / dim)  # (D/2,)", "(N, 1) · (D/2,) -> (N, D/2)", "angles.sin(), angles.cos()"), "values",
       ("frequency_per_column", ("arange(dim, dtype=torch.float64) / dim)  # (D,)", "(N, 1) · (D,) -> (N, D)", "angles[:, 0::2].sin(), angles[:, 1::2].cos()"), "In yours each column has a frequency of its own; sine and cosine come in pairs and share one: columns 2i and 2i + 1 both use 10000^(−2i/D). Without the pair no rotation takes one position to the next."),
       ("frequency_per_column_twice", ("arange(dim, dtype=torch.float64) * 2 / dim)  # (D,)", "(N, 1) · (D,) -> (N, D)", "angles[:, 0::2].sin(), angles[:, 1::2].cos()"), "In yours each column j has a frequency of its own, 10000^(−2j/D). The formula's i counts pairs, not columns: columns 2i and 2i + 1 share 10000^(−2i/D)."))
    at("dim=-1)  # (N, D/2, 2)", "values", ("halves", "dim=1)  # (N, 2, D/2)", "You put all sines first and all cosines after them. That is another valid layout, the same numbers in other columns (tensor2tensor and others use it), but here sine and cosine alternate, as in the paper's formula."))
    at("flatten(start_dim=1).float()", ("shape", "values"), ("cut_from_a_table", "flatten(start_dim=1).float()[:5000]", "Your table has 5,000 rows at most. N may be any number."))
    at("def sinusoidal_encoding", "values", ("kept", "import functools\n\n@functools.cache\ndef sinusoidal_encoding", "You keep a table and hand it out again, as `lru_cache` does: who changes it in place changes it for the next caller. Make a new table at each call, or return a copy, `.clone()`."))
    at("torch.arange(num_positions,", ("shape", "values"),
       ("from_one", "torch.arange(1, num_positions + 1,", "Your positions start at 1: row 0 should be sin 0, cos 0, … = 0, 1, 0, 1, …, the encoding of position 0.", "values"),
       ("one_row_too_many", "torch.arange(num_positions + 1,", "There is one row too many: position t runs from 0 to N − 1, which are N rows."),
       ("one_row_too_few", "torch.arange(1, num_positions,", "There is one row too few, and yours begin with position 1: the first row is position 0, the last N − 1."),
       ("last_row_missing", "torch.arange(num_positions - 1,", "There is one row too few: the last one, position N − 1, is missing."))
    at("torch.arange(0, dim, 2,", "values", ("pairs_from_one", "torch.arange(2, dim + 2, 2,", "Your pairs are counted from 1: pair i has the exponent 2(i + 1)/D. The first pair is number 0, so it turns by 1 radian a step."))
    at(("torch.arange(num_positions,", "angles.sin(), angles.cos()"), "values", ("from_one_and_cosine_first", ("torch.arange(1, num_positions + 1,", "angles.cos(), angles.sin()"), "Your positions start at 1; row 0 is position 0. And sine and cosine are exchanged: even columns (0, 2, …) contain the sine, odd ones the cosine."))
    at("angles.sin(), angles.cos()", "values", ("cosine_first", "angles.cos(), angles.sin()", "Sine and cosine are exchanged: even columns (0, 2, …) contain the sine, odd ones the cosine."))
    at("(-torch.arange(", "values", ("multiplies", "(torch.arange(", "You multiply by 10000^(2i/D) where you should divide: frequencies must fall from pair to pair, not explode."))
    at("angles.cos()", "values", ("only_sines", "angles.sin()", "All your columns are sines. The cosines are missing: without them sin(t) alone can't tell t from π − t, and no matrix moves one position to the next."))
    at("/ dim)", "values",
       ("exponent_over_n", "/ num_positions)", "You divide the exponent by the number of positions, N; it is the width D that it runs along. Position t must look the same in a short text and in a long one."),
       ("reaches_the_base", "/ max(dim - 2, 1))", "Your last pair turns at exactly 1/10000: the exponent is 2i/(D − 2). tensor2tensor's code does it that way; the paper's formula, wanted here, is 2i/D."))
    at("dtype=torch.float64)  # (N,)", "values", ("positions_over_n", "dtype=torch.float64) / num_positions  # (N,)", "You divide positions by their number, so they run from 0 to 1. Then a step is larger in a short text than in a long one, and no offset looks the same twice: use t itself."))
    at("dtype=torch.float64)  # (N,)", "values", ("positions_in_half_precision", "dtype=torch.float16)  # (N,)", "Your positions are float16, which can't hold every whole number above 2048: 2049 becomes 2048. Use float64, or float32."))
    at("10000.0 **", "values", ("base_1000", "1000.0 **", "Your base is 1000; the paper's is 10000 (four zeros)."))
    at("10000.0 ** (-torch.arange(", "values", ("no_power", "1 / (10000.0 * torch.arange(", "There is no exponent: you divide t by 10000·2i/D, not by 10000 to the power 2i/D. (Pair 0 then divides by zero.)"))
    at((REFUSAL, "flatten(start_dim=1)"), "refusal", ("accepts_odd", ("", "flatten(start_dim=1)[:, :dim]"), "An odd width is let through, where the last sine has no cosine. Refuse it: `raise ValueError(…)`, with a message that says what is needed."))
    at((REFUSAL, "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (N, D/2, 2)", "return pairs.flatten(start_dim=1).float()"), "refusal", ("odd_crashes", ("", "pe = torch.zeros(num_positions, dim)\n    pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()", "return pe"), "An odd width does fail, but with a message about sizes from deep inside PyTorch. Look at `dim` first and raise a `ValueError` that says what is needed."))
    at('ValueError(f"dim must be even, one sine and one cosine per frequency; it is {dim}")', "refusal", ("silent_error", 'ValueError("error")', "Your `ValueError` does not say what is needed, and the caller sees nothing but its message. Say that `dim` must be even."))
    at("if dim % 2:", ("shape", "values", "refusal"), ("refuses_even", "if dim % 2 == 0:", "You refuse even widths and let odd ones pass: `dim % 2` is 0 for an even number. Refuse when it is not 0."))
    at(("if dim % 2:", "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (N, D/2, 2)", "return pairs.flatten(start_dim=1).float()"), ("shape", "values", "refusal"), ("refuses_even_and_crashes", ("if dim % 2 == 0:", "pe = torch.zeros(num_positions, dim)\n    pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()", "return pe"), "You refuse even widths, and odd ones stop later, at sizes that don't fit: `dim % 2` is 0 for an even number. Refuse when it is not 0."))
    at("angles.sin()", "values", ("only_cosines", "angles.cos()", "All your columns are cosines; even columns (0, 2, …) contain the sine."))
    at("10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)", "values",
       ("one_frequency", "torch.ones((dim + 1) // 2, dtype=torch.float64)", "All your columns turn at the same speed, 1: the exponent is 0 for every pair. (Whole-number division, `//`, does that.) Pair i has the frequency 10000^(−2i/D)."),
       ("precedence", "1 / (10000.0**2 * torch.arange((dim + 1) // 2, dtype=torch.float64) / dim)", "`10000 ** 2 * i / dim` means (10000²)·i/D, since `**` comes before `*` and `/`: pair 0 then divides by zero. Put the whole exponent in parentheses, `10000 ** (2 * i / dim)`."))
    at("(-torch.arange(0, dim, 2, dtype=torch.float64) / dim)", "values", ("floor_division", "(-torch.arange(0, dim, 2, dtype=torch.float64) // dim)", "Your exponent is a whole number: 0 for the first pair and −1 for all others, so they all turn at 1/10000. `//` rounds down; divide by `/`."))
    at(("# (N, 1) · (D/2,) -> (N, D/2)", "angles.sin(), angles.cos()"), "values", ("frequencies_tiled", ("# (N, D/2)\n    angles = torch.cat((angles, angles), dim=1)  # (N, D)", "angles[:, 0::2].sin(), angles[:, 1::2].cos()"), "Your row of frequencies runs through twice, ω₀ … ω₀ …; each must come twice in a row, for columns 2i and 2i + 1: `repeat_interleave(2, dim=-1)`."))
    at("angles.cos()", "values",
       ("minus_cosines", "-angles.cos()", "All your cosines have the wrong sign. (A cosine as a shifted sine is sin(α + π/2), with a plus.)"),
       ("cosine_of_the_next_pair", "(positions[:, None] * 10000.0 ** (-torch.arange(2, dim + 2, 2, dtype=torch.float64) / dim)).cos()", "Your cosines have the frequency of the next pair. Columns 2i and 2i + 1 share one: 10000^(−2i/D)."))
    at("angles = positions[:, None]", "values",
       ("minus_angles", "angles = -positions[:, None]", "All your sines have the wrong sign, as if the angles were −t·ωᵢ. (The minus sign belongs in the exponent only.)"),
       ("frequency_goes_on", "angles = positions[:, None] * 10000.0 ** -positions[:, None]", "Your frequencies go on falling from row to row: row t has 10000^(−2i/D) divided by 10000^t. Every row has the same frequencies. (If a loop makes each from the one before: set it back to 1 at the beginning of each row.)"))
    power_before_root(at, FREQUENCIES, "10000", "dim", ("values",))
    for base in (10, 100000):
        at("10000.0 **", "values", (f"base_{base}", f"{base}.0 **", f"Your base is {base}; the paper's is 10000 (four zeros)."))
    at(".float()  # (N, D)", ("shape", "values"),
       ("columns_are_positions", ".float().transpose(0, 1)  # (D, N)", "Rows and columns are exchanged: you return (D, N). Each row is a position, (N, D)."),
       ("list", ".tolist()", "Your numbers are in a Python list. Return a tensor: `torch.tensor(…)`.", "shape"),
       ("float64", "  # (N, D)", "Your numbers are float64. Return float32: `.float()` at the end.", "shape"),
       ("whole_numbers", ".long()", "Your table holds whole numbers (int64), and they cut off every sine's and cosine's decimals. Its numbers are floats: `torch.zeros(N, D)`, for example, makes a table of those, and `torch.full((N, D), 0)` does not."),
       ("batch_axis", ".float()[None]  # (1, N, D)", "You return a batch axis in front, (1, N, D). The contract requires (N, D): broadcasting adds it to every sentence anyway."))
    at(".flatten(start_dim=1)", ("shape", "values"), ("pairs_not_joined", "", "Sine and cosine have an axis of their own, (N, D/2, 2). Flatten the last two axes: (N, D)."))
    squeezed(at, ("shape", "values"), "is (N, D), also for N = 1")


@MISTAKES.of(right.shift_matrix)
def in_shift_matrix(at):
    ALL_OFFSETS = ("values", "negative offsets")
    SINES = "matrix[even, even], matrix[even, odd] = cos, sin  # sin(α + β) = cos β · sin α + sin β · cos α"
    COSINES = "matrix[odd, even], matrix[odd, odd] = -sin, cos  # cos(α + β) = −sin β · sin α + cos β · cos α"
    at("return matrix", ALL_OFFSETS, ("transposed", "return matrix.T", "Yours turns the wrong way: it is the transpose, which is T(−k) and takes PE(t + k) back to PE(t). The first row of each block comes from sin(α + β) = cos β · sin α + sin β · cos α, so its two entries are cos and +sin. (If you had row vectors in mind: here PE(t) is a column, with T on its left.)"))
    at(COSINES, ALL_OFFSETS, ("no_minus", "matrix[odd, even], matrix[odd, odd] = sin, cos", "Both of your off-diagonal entries are +sin. One of them is negative: cos(α + β) = −sin β · sin α + cos β · cos α. Without that sign the block does not turn, and lengths change."))
    at("torch.arange(0, dim, 2), torch.arange(1, dim, 2)", ALL_OFFSETS, ("halves", "torch.arange(dim // 2), torch.arange(dim // 2, dim)", "Your matrix fits an encoding with all sines first and all cosines after them. Here they alternate, so each pair's block is on the diagonal: rows and columns 2i and 2i + 1."))
    at("matrix.float()", ALL_OFFSETS, ("moves_entries", "torch.eye(dim).roll(offset, dims=0)", "Your matrix moves *entries* of a vector by k (its ones are k rows off the diagonal). It must move the position that the vector encodes: every pair (sin, cos) turns by k·ωᵢ."))
    at((SINES, COSINES), ALL_OFFSETS,
       ("only_cosines", ("matrix[even, even] = cos", "matrix[odd, odd] = cos"), "You have only the cosines on the diagonal. sin(α + β) = cos β · sin α + sin β · cos α needs the pair's other half, too: the sines go beside the diagonal."),
       ("slices_fill_everything", ("matrix[0::2, 0::2], matrix[0::2, 1::2] = cos, sin", "matrix[1::2, 0::2], matrix[1::2, 1::2] = -sin, cos"), "Your numbers are in every second row *and* column, not only on the diagonal: each row has all the pairs' numbers. (`matrix[0::2, 0::2] = …` does that.) Fill pair by pair, or with two index tensors: `matrix[even, even]`."))
    at("torch.arange(0, dim, 2, dtype", ALL_OFFSETS, ("i_for_2i", "torch.arange(dim // 2, dtype", "Your frequencies have i where the formula has 2i; pair i turns by k·10000^(−2i/D), as in `sinusoidal_encoding`."))
    at("10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)", ALL_OFFSETS, ("one_frequency", "torch.ones(dim // 2, dtype=torch.float64)", "All pairs turn by the same angle, k. Each has its own frequency: pair i turns by k·10000^(−2i/D)."))
    at("angles = offset *", ALL_OFFSETS,
       ("one_step_on_for_negative", "angles = (offset if offset >= 0 else 1) *", "Every negative offset gives T(1), one step on. (In a table, an index of −k counts from the end: with |k| + 1 rows that is row 1.) T(−k) is the transpose of T(k); or put k·ωᵢ into the angle, with its sign.", "negative offsets"),
       ("absolute_offset", "angles = abs(offset) *", "A negative offset moves forward in yours, by its absolute value. T(−k) turns the other way: either the angle keeps the sign of k, or the matrix of |k| is transposed. (Both at once lead forward again.)", "negative offsets"),
       ("one_step_too_many", "angles = (offset + 1) *", "Your matrix moves one step too far: T(0) must be the identity."),
       ("one_step_too_few", "angles = (offset - 1) *", "Your matrix moves one step too few: T(0) must be the identity."))
    power_before_root(at, FREQUENCIES, "10000", "dim", ("values",))
    at("    return matrix", ALL_OFFSETS, ("from_position_0_only", "    start = torch.arange(dim, dtype=torch.float64) % 2  # PE(0)\n    matrix = torch.outer(matrix @ start, start) / start.sum()\n    return matrix", "Your matrix takes PE(0) to PE(k), but no other PE(t) to PE(t + k). One position and where it goes are not enough to find T(k): for every pair it needs the block [[cos, sin], [−sin, cos]] of k·ωᵢ."))
    at(("angles = offset *", "    return matrix"), "negative offsets", ("minus_matrix", ("angles = abs(offset) *", "    matrix = -matrix if offset < 0 else matrix\n    return matrix"), "For a negative offset k you return −T(|k|). T(k) is the transpose of T(|k|): sines change their sign, and cosines don't."))
    at(("angles = offset * ", "    return matrix"), "negative offsets", ("steps_forward_only", ("angles = ", "    steps = torch.eye(dim, dtype=torch.float64)\n    for _ in range(offset):\n        steps = matrix @ steps\n    return steps"), "For a negative offset you return the identity, as a loop of `offset` steps does that never runs. T(−k) is the transpose of T(k); or put k·ωᵢ into the angle, with its sign, and no loop over steps is needed."))
    at("    angles = ", "negative offsets", ("refuses_negative", '    if offset < 0:\n        raise ValueError("offset must not be negative")\n    angles = ', "A negative offset ends in a `ValueError` in yours, but the contract allows it. T(−k) leads back: it turns every pair the other way."))
    at("cos, sin = angles.cos(), angles.sin()", "negative offsets", ("no_row_for_negative", "row = sinusoidal_encoding(offset + 1, dim)[-1].double()\n    cos, sin = row[1::2], row[0::2]", "You read sine and cosine from the last row of a table of offset + 1 positions. For a negative offset there is no such row. T(−k) is the transpose of T(k); or put k·ωᵢ into the angle, with its sign."))
    at((REFUSAL, "-torch.arange(0, dim, 2,", "= torch.arange(0, dim, 2)"), "refusal", ("accepts_odd", ("", "-torch.arange(0, dim - 1, 2,", "= torch.arange(0, dim - 1, 2)"), "An odd dim is accepted, and its last row stays empty. There is no such encoding (a sine would lack its cosine): raise a `ValueError` that says so."))
    at(REFUSAL, "refusal", ("odd_crashes", "", "An odd dim does fail, but by accident, at an index that does not fit. Look at `dim` first and raise a `ValueError` that says what is needed."))
    at(("if dim % 2:", "-torch.arange(0, dim, 2,", "= torch.arange(0, dim, 2)"), ("shape", *ALL_OFFSETS, "refusal"), ("refuses_even", ("if dim % 2 == 0:", "-torch.arange(0, dim - 1, 2,", "= torch.arange(0, dim - 1, 2)"), "You refuse even widths: `dim % 2` is 0 for an even number. Refuse when it is not 0."))
    EVEN_AND_ODD = "torch.arange(0, dim, 2), torch.arange(1, dim, 2)  # where"
    OVERLAP = "Your block for pair i starts at row and column i: blocks overlap, each writes over a corner of the one before, and the last rows stay empty. Pair i fills rows and columns 2i and 2i + 1."
    at((EVEN_AND_ODD, SINES, COSINES), ALL_OFFSETS, ("blocks_overlap", ("torch.arange(dim // 2), torch.arange(1, dim // 2 + 1)  # where", COSINES, SINES), OVERLAP))
    at(EVEN_AND_ODD, ALL_OFFSETS, ("blocks_overlap_at_once", "torch.arange(dim // 2), torch.arange(1, dim // 2 + 1)  # where", OVERLAP))
    at((EVEN_AND_ODD, "angles.cos(), angles.sin()"), ALL_OFFSETS, ("only_first_block", ("torch.tensor([0]), torch.tensor([1])  # where", "angles[:1].cos(), angles[:1].sin()"), "Only the first block is filled, rows and columns 0 and 1; the rest is zero. There is one block for each of the D/2 pairs. (Is the `return` inside the loop?)"))
    at("matrix[even, odd] = cos, sin", ALL_OFFSETS, ("both_minus", "matrix[even, odd] = cos, -sin", "Both of your off-diagonal entries are −sin. The upper right one is positive: sin(α + β) = cos β · sin α + sin β · cos α."))
    at("cos, sin = angles.cos(), angles.sin()", ALL_OFFSETS, ("sin_for_cos", "sin, cos = angles.cos(), angles.sin()", "Sine and cosine are exchanged: the cosines go on the diagonal (for k = 0 the matrix must be the identity)."))
    at("-torch.arange(0, dim, 2, dtype", ALL_OFFSETS, ("2i_twice", "-2 * torch.arange(0, dim, 2, dtype", "Your exponent is twice too large, 4i/D where the formula has 2i/D. (Is 2i counted twice? `range(0, dim, 2)` and `torch.arange(0, dim, 2)` give 2i already. Or is 2i divided by D/2, the number of pairs? It is divided by D.)"))
    at("(-torch.arange(0, dim, 2, dtype", ALL_OFFSETS, ("multiplies", "(torch.arange(0, dim, 2, dtype", "You multiply by 10000^(2i/D) where you should divide: pair i turns by k·10000^(−2i/D)."))
    at("dtype=torch.float64) / dim)", ALL_OFFSETS, ("floor_division", "dtype=torch.float64) // dim)", "Your exponent is a whole number: 0 for the first pair and −1 for all others. `//` rounds down; divide by `/`."))
    at("-torch.arange(0, dim, 2, dtype", ALL_OFFSETS, ("pairs_from_one", "-torch.arange(2, dim + 2, 2, dtype", "Your pairs are counted from 1: pair i has the exponent 2(i + 1)/D. The first pair is number 0, so it turns by k radians."))
    at("10000.0 **", ALL_OFFSETS, ("base_1000", "1000.0 **", "Your base is 1000; it is 10000 (four zeros), as in `sinusoidal_encoding`."))
    for steps in (0, 1, 2, 3):
        at("angles = offset *", ALL_OFFSETS, (f"always_{steps}", f"angles = {steps} *", f"`offset` has no effect: your matrix always moves by {steps}. The angle of pair i is offset·ωᵢ."))
    at("return matrix.float()", "shape",
       ("float64", "return matrix", "Your numbers are float64. Return float32: `.float()` at the end."),
       ("whole_numbers", "return matrix.long()", "Your matrix holds whole numbers (int64), and they cut off every sine's and cosine's decimals. Its numbers are floats: `torch.zeros(dim, dim)`, for example, makes a matrix of those.", ("shape", *ALL_OFFSETS)),
       ("blocks_not_placed", "return torch.stack((cos, sin, -sin, cos), dim=-1).view(-1, 2, 2).float()", "You return the D/2 blocks one after another, (D/2, 2, 2). They belong on the diagonal of one (D, D) matrix, with zeros elsewhere: `torch.block_diag(*blocks)`.", ("shape", *ALL_OFFSETS)),
       ("list", "return matrix.tolist()", "Your numbers are in a Python list. Return a tensor: `torch.tensor(…)`."))


@MISTAKES.of(right.Embeddings)
def in_Embeddings(at):
    TABLES = ("values", "parameters", "gradients")
    SUM = "self.token_embeddings(input_ids) + self.position_embeddings(positions)  # (B, T, D) + (T, D)"
    TOO_LONG = """\
        if length > most:
            raise ValueError(f"{length} tokens, but the table of positions ends after {most}")
"""
    at(SUM, NUMBERS,
       ("adds_to_ids", "self.token_embeddings(input_ids + positions)  # (B, T, D)", "You add positions to the *ids*: id 2051 at position 3 becomes id 2054, another word. Ids are names, not amounts; look up two vectors and add those.", (*NUMBERS, "length limit")),
       ("no_tokens", "self.position_embeddings(positions).expand(len(input_ids), -1, -1)  # (B, T, D)", "The tokens' vectors are missing: what you normalize is the positions' alone, the same for every text."))
    at("self.position_embeddings(positions)  # (B, T, D) + (T, D)", ("shape", "values", "parameters", "gradients"),
       ("positions_from_ids", "self.position_embeddings(input_ids)  # (B, T, D)", "You look up positions by the *ids*, `position_embeddings(input_ids)`. A position counts tokens: 0, 1, 2, …, `torch.arange(T)`, whatever the token is."),
       ("id_0_has_no_place", "self.position_embeddings(positions) * (input_ids != 0)[..., None]  # (B, T, D)", "Tokens with id 0 get no vector for their position. Padding is hidden by a mask later (notebook 07); here every token gets both vectors.", "values"))
    at(("        self.layer_norm = ", "        x = self.token", "self.position_embeddings(positions)  # (B, T, D) + (T, D)"), NUMBERS, ("vectors_kept", ("        self.kept = None\n        self.layer_norm = ", "        if self.kept is None or len(self.kept) < length:\n            self.kept = self.position_embeddings(positions)\n        x = self.token", "self.kept[:length]  # (B, T, D)"), "You keep the positions' vectors from an earlier call. When the table is trained, they are out of date: look them up at each call."))
    at(("        self.layer_norm = ", "self.position_embeddings(positions)  # (B, T, D) + (T, D)"), NUMBERS, ("vectors_kept_by_length", ("        self.kept = {}\n        self.layer_norm = ", "self.kept.setdefault(length, self.position_embeddings(positions))  # (B, T, D)"), "You keep the positions' vectors from an earlier call. When the table is trained, they are out of date: look them up at each call."))
    at("self.token_embeddings(input_ids) + self", "values", ("id_0_has_no_vector", "self.token_embeddings(input_ids) * (input_ids != 0)[..., None] + self", "Tokens with id 0 get no vector of their own, only that of their position. Padding is hidden by a mask later (notebook 07); here every token gets both vectors."))
    at("nn.Embedding(config.max_position_embeddings, config.hidden_size)", "gradients",
       ("padding_in_positions", "nn.Embedding(config.max_position_embeddings, config.hidden_size, padding_idx=0)", "No gradient reaches the first row of your table of positions, so position 0 would never be trained. (Is there a `padding_idx=0`? It may be in the table of tokens, not in this one.)"),
       ("positions_frozen", "nn.Embedding(config.max_position_embeddings, config.hidden_size).requires_grad_(False)", "No gradient reaches your table of positions, so it would never be trained. (Is its weight frozen, or is what you look up cut off, by `detach`, `.data`, `.tolist()` or `torch.no_grad`?) It is learned, like the table of tokens."))
    at(("torch.arange(length, device=input_ids.device)  # (T,)", "+ (T, D)"), NUMBERS,
       ("positions_over_batch", ("torch.arange(input_ids.size(0), device=input_ids.device)[:, None]  # (B, 1)", "+ (B, 1, D)"), "You number the sentences of the batch, not the tokens: all tokens of sentence b get position b. Positions run along T (axis 1), and every sentence counts from 0.", (*NUMBERS, "length limit")),
       ("counts_through_the_batch", ("torch.arange(input_ids.numel(), device=input_ids.device).view_as(input_ids) % most  # (B, T)", "+ (B, T, D)"), "Your positions go on counting from one sentence to the next: the second starts where the first ended. Each sentence starts at 0."),
       ("skips_id_0", ("((input_ids != 0).long().cumsum(dim=1) - 1).clamp(min=0)  # (B, T)", "+ (B, T, D)"), "Your positions depend on the ids: tokens with id 0 are not counted, so all tokens after one get too low a number (RoBERTa does something like it). Here every token counts: 0, 1, 2, …, whatever it is.", "values"))
    at("torch.arange(length,", ("values", "gradients", "length limit"), ("from_one", "torch.arange(1, length + 1,", "Your positions start at 1. The table's first row belongs to the first token: with 1 … T it is never used, and a text as long as the table runs over its end."))
    at(" + self.position_embeddings(positions)  # (B, T, D) + (T, D)", NUMBERS, ("no_positions", "  # (B, T, D)", "The positions are never added: two sentences with the same words in another order get the same vectors."))
    at(("self.position_embeddings = nn.Embedding(", "self.position_embeddings.num_embeddings", "self.position_embeddings(positions)"), ("values", "parameters", "gradients"), ("sinusoids", ("self.sinusoids = sinusoidal_encoding(", "len(self.sinusoids)", "self.sinusoids[positions]"), "There is no table of positions among your parameters (fixed sinusoids are none). Here positions are *learned*: an `nn.Embedding` called `position_embeddings`, made in `__init__`, with one row per position, as in BERT."))
    at(("        self.layer_norm = ", "self.layer_norm(x)"), ("values", "parameters", "gradients"), ("token_types", ("        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)\n        self.layer_norm = ", "self.layer_norm(x + self.token_type_embeddings(torch.zeros_like(input_ids)))"), "There is a third table, for token types, as in BERT. Here only tokens and positions are added; types come in notebook 07, where the real weights are loaded."))
    at((SUM, "self.layer_norm(x)"), NUMBERS, ("norm_each", ("self.layer_norm(self.token_embeddings(input_ids)) + self.layer_norm(self.position_embeddings(positions))", "x"), "You normalize tokens and positions separately and then add. Add first: the norm takes the sum."))
    at("x = self.token_embeddings(input_ids) +", NUMBERS, ("times_root_d", "tokens = self.token_embeddings(input_ids) * math.sqrt(self.token_embeddings.embedding_dim)\n        x = tokens +", "You multiply the token vectors by √D before adding. The 2017 paper does so (§3.4), BERT does not, and real BERT weights, loaded by name, would come out wrong."))
    at("self.layer_norm(x)", NUMBERS, ("no_norm", "x", "There is no normalization in what you return: the sum goes through `layer_norm` before dropout."))
    at(("self.token_embeddings(input_ids)", "self.layer_norm(x)"), NUMBERS, ("norm_before_adding", ("self.layer_norm(self.token_embeddings(input_ids))", "x"), "You normalize the token vectors and add positions afterwards. Add first, then normalize the sum."))
    at(", eps=config.layer_norm_eps", ("values", "parameters", "gradients"), ("norm_without_parameters", ", eps=config.layer_norm_eps, elementwise_affine=False", "No scale and no shift are learned: `layer_norm` is an `nn.LayerNorm`, made in `__init__`, with a `weight` and a `bias`. (`elementwise_affine=False` makes none, and `F.layer_norm` has none of its own.) Notebook 07 loads BERT's."))
    at(", eps=config.layer_norm_eps", NUMBERS,
       ("no_eps", ", eps=0.0", "There is no eps in your norm, or one that is next to 0. Add `config.layer_norm_eps` to the variance, under the root, as `nn.LayerNorm` does. BERT's is 1e-12, and the check makes it large, so that you can see it."),
       ("default_eps", "", "Your layer norm has the library's default eps, 1e-5; use `config.layer_norm_eps`. BERT's is 1e-12, and the check makes it large, so that you can see it."))
    at("self.dropout(self.layer_norm(x))", "train mode",
       ("no_dropout", "self.layer_norm(x)", "Nothing is dropped in training: the result should lose a share of its entries. Return what `dropout` makes of the norm's result (a call whose result is not used drops nothing)."),
       ("dropout_before_norm", "self.layer_norm(self.dropout(x))", "Dropout does not act on what you return: in training no entry of the result is 0, and others change as well. Before the norm it is in the wrong place, because the norm fills the holes again: first normalize, then drop."),
       ("dropout_twice", "self.dropout(self.dropout(self.layer_norm(x)))", "In training more entries are lost than `config.hidden_dropout_prob` asks for. Does dropout act twice on the way to your result? Once is enough, after the norm."),
       ("dropout_before_and_after", "self.dropout(self.layer_norm(self.dropout(x)))", "The right share of entries is 0 in training, but the others are not those of eval mode over 1 − p: something else changes them, too. Is there a second dropout before the norm? Drop once, after the norm."),
       ("dropout_in_eval", "F.dropout(self.layer_norm(x), self.dropout.p)", "Your dropout never stops: `F.dropout` drops in eval mode too, unless it is told `training=self.training`. An `nn.Dropout` made in `__init__` knows the mode by itself.", ("values", "gradients", "train mode")))
    at("nn.Dropout(config.hidden_dropout_prob)", "train mode",
       ("dropout_fixed", "nn.Dropout(0.1)", "Your dropout's share is not that of `config.hidden_dropout_prob`: the check sets 0.35 and then 0, and yours drops some entries both times, but not these shares. (Is 0.1 written into it, or is another number of the config taken?)"),
       ("dropout_default", "nn.Dropout()", "Your dropout drops too much: the check sets `config.hidden_dropout_prob` to 0.35 and then 0, and yours drops more both times. `nn.Dropout()` without a number drops half."),
       ("dropout_keeps_that_share", "nn.Dropout(1 - config.hidden_dropout_prob)", "Your dropout *keeps* the share `config.hidden_dropout_prob` and drops the rest; it is the share to drop."))
    at("return self.dropout(self.layer_norm(x))", "train mode",
       ("dropout_not_scaled", "x = self.layer_norm(x)\n        return x * (torch.rand_like(x) >= self.dropout.p) if self.training else x", "In training, the entries that your dropout keeps stay as large as they were. Divide them by 1 − p, as `nn.Dropout` does, so that the mean stays the same."),
       ("same_in_every_sentence", "x = self.layer_norm(x)\n        return x * self.dropout(torch.ones_like(x[:1]))", "Your dropout drops the same entries in every sentence of the batch. Each entry of (B, T, D) has its own chance: apply it to the whole tensor."),
       ("whole_columns_dropped", "x = self.layer_norm(x)\n        return x * self.dropout(torch.ones_like(x[:, :1]))", "Your dropout sets whole columns of a sentence to 0. It should drop single entries, as `nn.Dropout` does."))
    at("nn.Dropout(config", "train mode", ("whole_tokens_dropped", "nn.Dropout1d(config", "Your dropout sets whole tokens to 0. It should drop single entries, as `nn.Dropout` does."))
    at(TOO_LONG, "length limit", ("index_error", "", "A text longer than the table does fail, but as “index out of range” inside the lookup, which names neither the length nor the limit. Compare T with N, `config.max_position_embeddings`, before you look anything up, and raise a `ValueError` that names both."))
    at('raise ValueError(f"{length} tokens, but the table of positions ends after {most}")', "length limit", ("cuts_off", "input_ids, length = input_ids[:, :most], most", "A text longer than the table is cut off without a word. Whoever calls it would never know that the end was not read: raise a `ValueError`."))
    at((TOO_LONG, "device=input_ids.device)"), "length limit", ("repeats_last_position", ("", "device=input_ids.device).clamp(max=most - 1)"), "Tokens beyond the table all get its last position. They would be in no order among themselves: raise a `ValueError` instead."))
    at("        if length > most:", "length limit",
       ("vocabulary_compared", "        if length > self.token_embeddings.num_embeddings:", "You compare the text's length with the vocabulary's size, V. How many positions there are is another number, N: `config.max_position_embeddings`."),
       ("batch_compared", "        if len(input_ids) > most:", "You compare the batch's size with the table: `len(input_ids)` is B, the number of sentences. T, the number of tokens, is `input_ids.size(1)`."))
    at("length, most = input_ids.size(1), self.position_embeddings.num_embeddings", ("shape", *TABLES, "train mode", "length limit"), ("batch_for_length", "length, most = len(input_ids), self.position_embeddings.num_embeddings", "You take B, the number of sentences, for the number of tokens: `len(input_ids)` is B. T is `input_ids.size(1)`."))
    at("positions = torch.arange(length, device=input_ids.device)", ("shape", "values", "parameters", "gradients"),
       ("positions_kept", "self.kept = positions = getattr(self, \"kept\", torch.arange(length, device=input_ids.device))", "You make the positions at the first call and keep them. A text of another length then gets those of the first one: count 0 … T − 1 at each call."),
       ("kept_positions_cut", "self.kept = getattr(self, \"kept\", torch.arange(length, device=input_ids.device))\n        positions = self.kept[:length]", "You make the positions at the first call and keep them. For a longer text they are too few: count 0 … T − 1 at each call."))
    at("length > most", "length limit", ("refuses_full_table", "length >= most", "You refuse a text that is exactly as long as the table; it still fits. Only T *greater* than the number of rows is too long (`>`, not `>=`)."))
    at(("self.token_embeddings", "self.layer_norm"), ("values", "parameters", "gradients"), ("library_names", ("self.word_embeddings", "self.LayerNorm"), "Your layers have Hugging Face's names (`word_embeddings`, `LayerNorm`); the contract says `token_embeddings`, `position_embeddings`, `layer_norm`, `dropout`. Weights are copied by name."), times=2)
    at("nn.Embedding(config.max_position_embeddings", ("values", "parameters", "gradients", "length limit"), ("table_of_vocabulary_size", "nn.Embedding(config.vocab_size", "Your table of positions has as many rows as the vocabulary; `config.max_position_embeddings` says how many positions there are."))
    at(("nn.Embedding(config.vocab_size", "nn.Embedding(config.max_position_embeddings"), ("shape", *TABLES, "train mode", "length limit"), ("tables_swapped", ("nn.Embedding(config.max_position_embeddings", "nn.Embedding(config.vocab_size"), "The two tables have each other's number of rows: one row for each of the V words (`vocab_size`) in `token_embeddings`, one for each of the N positions (`max_position_embeddings`) in `position_embeddings`."))
    at(("nn.Embedding(config.vocab_size", "nn.Embedding(config.max_position_embeddings", TOO_LONG), ("shape", *TABLES, "train mode", "length limit"), ("tables_swapped_unchecked", ("nn.Embedding(config.max_position_embeddings", "nn.Embedding(config.vocab_size", ""), "The two tables have each other's number of rows: one row for each of the V words (`vocab_size`) in `token_embeddings`, one for each of the N positions (`max_position_embeddings`) in `position_embeddings`. And compare T with N before you look anything up."))
    at("torch.arange(length, device=input_ids.device)", NUMBERS,
       ("positions_of_the_batch_size", "torch.arange(len(input_ids), device=input_ids.device)", "You make one position for each of the B sentences, `len(input_ids)`: that fits only where B equals T, and with a single sentence all tokens get position 0. T is `input_ids.size(1)`.", ("shape", *TABLES, "train mode", "length limit")),
       ("backwards", "torch.arange(length, device=input_ids.device).flip(0)", "Your positions count backwards, from T − 1 down to 0. The first token has position 0."),
       ("first_position_for_all", "torch.zeros_like(input_ids[0])", "All tokens get the first row of the position table. The token at position t gets row t."))
    at(SUM, NUMBERS, ("halved", "(self.token_embeddings(input_ids) + self.position_embeddings(positions)) / 2", "You halve the sum. Normalize the sum itself: with an eps as large as the check's, half of it gives other values."))
    at("self.token_embeddings(input_ids) + self", NUMBERS, ("multiplies", "self.token_embeddings(input_ids) * self", "You multiply the token's vector by the position's. They are added."))
    at("nn.Embedding(config.max_position_embeddings,", (*TABLES, "length limit"), ("one_row_more", "nn.Embedding(config.max_position_embeddings + 1,", "Your table of positions has one row too many: `config.max_position_embeddings` of them, counted from 0."))
    at('ValueError(f"{length} tokens, but the table of positions ends after {most}")', "length limit", ("message_lacks_numbers", 'ValueError("too long")', "A text that is too long is refused, but the message doesn't name both numbers: how many tokens there are and how many positions."))
    at((TOO_LONG, "positions = torch.arange(length, device=input_ids.device)"), "length limit", ("warns_only", ("", "positions = torch.arange(length, device=input_ids.device) % most"), "A text longer than the table gets through. Refuse it with a `ValueError`."))
    called_otherwise(at, "token_embeddings", ("word_embeddings", "embedding", "tok_embeddings"), TABLES, name="token_table_called")
    called_otherwise(at, "layer_norm", ("norm", "LayerNorm", "ln"), TABLES, name="norm_called")
    squeezed(at, ("shape", "values", "gradients"), "is (B, T, D), also for one sentence or one token")
    class_beginnings(at, ("gradients", "length limit", "parameters", "shape", "train mode", "values"), takes="config")


@MISTAKES.of(right.relative_position_bias)
def in_relative_position_bias(at):
    EVERYWHERE = ("values", "clipping", "gradients")
    INDEX = "offsets.clamp(-reach, reach) + reach"
    at("positions[None, :] - positions[:, None]  # (T, T): key j minus query i", EVERYWHERE,
       ("i_minus_j", "positions[:, None] - positions[None, :]  # (T, T): query i minus key j", "Left and right are exchanged: each of your matrices is the transpose of the right one. Row i belongs to query i, column j to key j, and their offset is j − i: a key to the right of the query has a positive one."),
       ("one_query", "positions", "Your result has one row a head, (H, T): the biases of the first query alone. Every query has its own row: offsets j − i, a (T, T) matrix.", ("shape", *EVERYWHERE)))
    at("offsets.clamp(-reach, reach)", EVERYWHERE, ("distance", "offsets.abs().clamp(max=reach)", "In yours only the distance |j − i| counts: left and right look alike. Keep the sign; the table has a column for each side."))
    at(INDEX, EVERYWHERE,
       ("not_centered", "offsets.clamp(-reach, reach)", "You forget to move offset 0 to the middle of the table: add M (here {M}). Python counts negative indices from the end, so nothing complains."),
       ("not_clipped", "offsets + reach", "Offsets beyond M to the right are not clipped, so their column numbers miss the table. Clip j − i to −M … M, on both sides. (Without a clip on the left, column numbers turn negative there and count from the table's other end.)", "clipping"),
       ("clipped_right_only", "offsets.clamp(max=reach) + reach", "You clip offsets to the right only. Beyond M to the left, column numbers turn negative and count from the table's other end. Clip j − i to −M … M, on both sides.", "clipping"),
       ("modulo", "(offsets + reach) % table.size(-1)", "Offsets beyond M start again at the other end (modulo the table's length); a far key would look like a near one. Clip instead: `clamp(−M, M)`.", "clipping"),
       ("clipped_too_late", "(offsets + reach).clamp(-reach, reach)", "You clip after moving to the middle, and at −M and M: then everything to the right of the center is cut. Clip j − i first and add M afterwards, or clip the index to 0 … 2M."),
       ("centered_on_length", "(offsets + length - 1).clamp(0, 2 * reach)", "You put offset 0 in column T − 1; the table tells where it is: in its own middle, column M = (2M + 1) // 2, whatever T is."),
       ("last_column_is_the_end_of_the_text", "offsets.clamp(-reach, reach) + max(reach, 2 * reach + 1 - length)", "Where the table reaches farther than the text, you take its last column for the farthest key in the text, offset T − 1. The last column is offset M: offset 0 is always in the middle, column M.", NUMBERS),
       ("first_column_is_the_end_of_the_text", "offsets.clamp(-reach, reach) + min(reach, length - 1)", "Where the table reaches farther than the text, you take its first column for the farthest key in the text, offset −(T − 1). The first column is offset −M: offset 0 is always in the middle, column M.", NUMBERS),
       ("one_column_too_far", "(offsets + reach + 1).clamp(0, 2 * reach)", "You read one column too far to the right: offset 0 is in column M, the middle of 0 … 2M, and offset j − i in column j − i + M."),
       ("index_clipped_to_m", "(offsets + reach).clamp(0, reach)", "You clip the column number to 0 … M: every key to the right of the query gets the middle column. Columns run from 0 to 2M."),
       ("distance_from_column_0", "offsets.abs().clamp(max=reach)", "You look up the distance |j − i|, counted from column 0. Columns are for −M … M, left and right apart: clip j − i, with its sign, and add M."))
    at("+ reach]", EVERYWHERE,
       ("zero_beyond", "+ reach] * (offsets.abs() <= reach)", "Keys farther away than M get a bias of 0 in yours; they share the table's outermost entry on their side.", "clipping"),
       ("hidden_beyond", "+ reach].masked_fill(offsets.abs() > reach, -torch.inf)", "Keys farther away than M get a bias of −∞ in yours, which hides them; they share the table's outermost entry on their side.", "clipping"),
       ("softmaxed", "+ reach].softmax(dim=-1)", "You take a softmax of the bias. It should be added to the scores, and the softmax comes after that."),
       ("causal", "+ reach].tril()", "Keys to the right of the query get no bias in yours. They have their own half of the table: offsets 1 … M."))
    at("table[:, offsets", ("shape", *EVERYWHERE),
       ("heads_last", "table.T[offsets", "The heads come last in what you return, (T, T, H). Scores are (B, H, T, T), so the bias is (H, T, T), which broadcasts over the batch."),
       ("cut_off", "torch.tensor(table.tolist())[:, offsets", "No gradient reaches the table (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.no_grad()` and a new `nn.Parameter` cut it off), so it could never be learned. Index the table itself, and return what you get.", "gradients"),
       ("first_head_only", "table[0, offsets", "Only the first head's matrix comes back, (T, T). Take all rows of the table: `table[:, index]` is (H, T, T)."),
       ("heads_indexed", "table[offsets", "Your column numbers index the table's first axis, the heads. Columns are axis 1: `table[:, index]`."))
    at(("table[:, offsets", "+ reach]"), EVERYWHERE, ("one_head", ("table[:1, offsets", "+ reach].expand(len(table), -1, -1)"), "All heads share the first head's row. Each has its own, so that one can look near and another far."))
    REACH = "table.size(-1) // 2"
    at(REACH, ("shape", *EVERYWHERE),
       ("reach_is_heads", "len(table) // 2", "You take M from the number of heads, `len(table)`. The columns tell how far the table reaches: M = `table.size(-1) // 2`.", EVERYWHERE),
       ("reach_is_all_columns", "table.size(-1)", "You take M = 2M + 1, the number of columns. The table reaches M to each side of its middle: M = `table.size(-1) // 2`."),
       ("reach_rounded_up", "(table.size(-1) + 1) // 2", "Your M is one too large: of 2M + 1 columns, M are on each side of the middle, so M = `table.size(-1) // 2`."),
       ("reach_one_less", "max(table.size(-1) // 2 - 1, 0)", "Your M is one too small: of 2M + 1 columns, M are on each side of the middle, so M = `table.size(-1) // 2`.", EVERYWHERE),
       ("reach_is_length_less_one", "length - 1", "You take M from the text, T − 1. The table tells how far it reaches: M = `table.size(-1) // 2`, whatever T is.", EVERYWHERE),
       ("reach_is_length", "length", "You take M = T, the number of tokens. The table tells how far it reaches: M = `table.size(-1) // 2`, whatever T is."))
    at((REACH, "positions[None, :] - positions[:, None]  # (T, T): key j minus query i"), EVERYWHERE, ("reach_is_heads_and_i_minus_j", ("len(table) // 2", "positions[:, None] - positions[None, :]"), "You take M from the number of heads, `len(table)`; the columns tell it: M = `table.size(-1) // 2`. And left and right are exchanged: the offset is j − i, key minus query."))
    at("clamp(-reach, reach)", EVERYWHERE,
       ("clipped_below_m", "clamp(-reach, max(reach - 1, -reach))", "To the right you clip one too early, at M − 1; the last column, offset M, is never used."),
       ("clipped_above_minus_m", "clamp(min(1 - reach, reach), reach)", "To the left you clip one too early, at −M + 1; the first column, offset −M, is never used."),
       ("clipped_above_minus_m_and_stopped", "clamp(max=reach).clamp(min=1 - reach)", "To the left you clip one too early, at −M + 1; the first column, offset −M, is never used. (For M = 0 that is column 1, which does not exist.)"))
    at("table[:, offsets.clamp(-reach, reach) + reach]", EVERYWHERE,
       ("alibi", "-offsets.abs().to(table.dtype).expand(len(table), -1, -1)", "Your bias is minus the distance (as in ALiBi); the table's numbers never enter. Look them up: one number for each head and offset."),
       ("offsets_themselves", "offsets.clamp(-reach, reach).to(table.dtype).expand(len(table), -1, -1)", "You return the offsets themselves; the table's numbers never enter. Look them up: one number for each head and offset."),
       ("column_numbers", "offsets.clamp(-reach, reach) + reach", "You return the column numbers, (T, T). Look them up in the table: `table[:, index]`.", ("shape", *EVERYWHERE)))
    at("return table[:, offsets.clamp(-reach, reach) + reach]", EVERYWHERE, ("heads_last_reshaped", "return table.T[offsets.clamp(-reach, reach) + reach].reshape(-1, length, length)", "Your numbers are in the order of (T, T, H), only cut into (H, T, T), as `reshape` and `view` do. Move the axis instead: `permute(2, 0, 1)`."))
    at("return table[:, offsets.clamp(-reach, reach) + reach]", ("shape", *EVERYWHERE), ("batch_axis", "return table[:, offsets.clamp(-reach, reach) + reach][None]", "There is an axis too many in front, (1, H, T, T). Return (H, T, T); broadcasting adds it to every sentence anyway."))
    squeezed(at, ("shape", "values", "gradients"), "is (H, T, T), also for one head or one token")


@MISTAKES.of(right.apply_rotary)
def in_apply_rotary(at):
    SCORES = ("values", "offsets only", "gradients")
    PAIR = "(first * cos - second * sin, first * sin + second * cos)"
    BACK = "torch.stack(turned, dim=-1).flatten(start_dim=-2)  # (..., T, K/2, 2) -> (..., T, K)"
    at(PAIR, SCORES,
       ("minus_theta", "(first * cos + second * sin, second * cos - first * sin)", "You turn the other way, by −θ. x₀·cos θ − x₁·sin θ is the new x₀, x₀·sin θ + x₁·cos θ the new x₁. (Is a minus sign in the wrong place, or are angles negative?) Dot products would not notice, but vectors stored or trained elsewhere would.", NUMBERS),
       ("adds", "(first + sin, second + cos)", "You *add* sines and cosines, as in an absolute encoding. Rotary multiplies: each pair of x is turned, and its length stays."),
       ("second_not_turned", "(first * cos - second * sin, second)", "Only the first member of each pair changes; the second stays as it was. The new x₁ is x₀·sin θ + x₁·cos θ."),
       ("first_not_turned", "(first, first * sin + second * cos)", "Only the second member of each pair changes; the first stays as it was. The new x₀ is x₀·cos θ − x₁·sin θ."),
       ("members_swapped", "(first * sin + second * cos, first * cos - second * sin)", "The two members of each pair come back in each other's columns: x₀·cos θ − x₁·sin θ goes into the first, column 2i.", NUMBERS),
       ("multiplies_by_waves", "(first * sin, second * cos)", "You multiply x by sines and cosines, entry by entry. Each pair has to be *turned*: both new members are made of both old ones."),
       ("only_cosines", "(first * cos, second * cos)", "You only multiply by cos θ. A turned pair needs both old members: x₀·cos θ − x₁·sin θ and x₀·sin θ + x₁·cos θ."))
    at(("x[..., 0::2], x[..., 1::2]  # (..., T, K/2)", BACK), NUMBERS, ("halves", ("x.chunk(2, dim=-1)  # (..., T, K/2)", "torch.cat(turned, dim=-1)  # (..., T, K)"), "You pair column i with column i + K/2. That is another valid layout, which many libraries use (it is this one with the columns in another order), but here neighbors make a pair: columns 2i and 2i + 1, as in the paper."))
    at(BACK, SCORES, ("mixed_layouts", "x * cos.repeat_interleave(2, dim=-1) + torch.cat((-x[..., width // 2 :], x[..., : width // 2]), dim=-1) * sin.repeat_interleave(2, dim=-1)", "You mix two layouts: angles for neighbors (2i, 2i + 1), partners from the other half (i, i + K/2). Then nothing is turned as a whole, and scores depend on more than the offset. Make both for neighbors."))
    at("x[..., 0::2], x[..., 1::2]", NUMBERS, ("halves_put_side_by_side", "x.chunk(2, dim=-1)", "You take pairs from the two halves, columns i and i + K/2, and put the turned ones side by side, in columns 2i and 2i + 1. Take them from there, too: neighbors make a pair, `x[..., 0::2]` and `x[..., 1::2]`."))
    at(("first, second = x[..., 0::2], x[..., 1::2]  # (..., T, K/2)", "turned = " + PAIR, BACK), ("shape", *NUMBERS), ("view_as_complex", ("pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))  # (..., T, K/2)", "turned = pairs * torch.complex(cos, sin)", "torch.view_as_real(turned).flatten(-2)"), "You view `x` as complex numbers. That wants the two members of each pair side by side in memory, and each pair at an even place; `x` may be transposed, or cut out of a wider tensor. Take `x[..., 0::2]` and `x[..., 1::2]`, and put them together with `torch.complex` if you like."))
    at(BACK, NUMBERS, ("left_in_halves", "torch.cat(turned, dim=-1)  # (..., T, K)", "The turned pairs end up in the wrong columns: all first members, then all second ones. Each pair goes back to where it came from, columns 2i and 2i + 1: `torch.stack((first, second), dim=-1)`, then `flatten(-2)`."))
    at(BACK, "shape", ("always_float32", "torch.stack(turned, dim=-1).flatten(start_dim=-2).float()", "Your result is float32, whatever `x` is. It has the number type of `x`: `.to(x.dtype)`."))
    at("turned = (first * cos - second * sin, first * sin", SCORES, ("overwritten", "first = first * cos - second * sin\n    turned = (first, first * sin", "The second member of each pair is made with the *new* first one. Both are made of the two old values: keep these until you have both new ones."))
    at("first * cos - second * sin", SCORES, ("no_minus", "first * cos + second * sin", "There is no minus sign: the new x₀ is x₀·cos θ **−** x₁·sin θ. With a plus in both lines nothing is turned, lengths change, and scores depend on more than the offset."))
    power_before_root(at, "base**exponents", "base", "width", NUMBERS)
    at("torch.arange(0, width, 2,", NUMBERS, ("i_for_2i", "torch.arange(width // 2,", "Your exponent has i where the formula has 2i: pair i turns by t·base^(−2i/K)."))
    at("base**exponents", NUMBERS,
       ("one_frequency", "torch.ones_like(exponents)", "All pairs turn by the same angle t; each has its own speed: pair i turns by t·base^(−2i/K)."),
       ("ignores_base", "10000.0**exponents", "`base` has no effect: you turn with 10000, whatever it is. That is only the default."))
    at("positions[:, None]", SCORES,
       ("ignores_positions", "torch.arange(x.size(-2), device=x.device)[:, None]", "The given positions have no effect: you count 0, 1, 2, … yourself, or not at all. They may have gaps or come in another order (a text continued, a store of old keys): use `positions`."),
       ("from_one", "(positions[:, None] + 1)", "Your positions are one too large: the token at position 0 is not turned at all. (Scores would not notice, since both sides move.)", NUMBERS),
       ("from_first", "(positions - positions[0])[:, None]", "You count positions from the first token's. The token at position t turns by t itself, also when the text begins at another position than 0."),
       ("from_lowest", "(positions - positions.min())[:, None]", "You count positions from the lowest one. The token at position t turns by t itself, also when no token is at position 0."),
       ("sorted", "positions.sort().values[:, None]", "You sort the positions. They say where each token is, in the order of the tokens: use them as they come.", NUMBERS))
    at("positions[:, None]", NUMBERS, ("positions_in_half_precision", "positions.half()[:, None]", "Your positions are float16, which can't hold every whole number above 2048: 2049 becomes 2048. Use float64, or float32."))
    at("angles.cos().to(x.dtype), angles.sin().to(x.dtype)", "shape", ("float64", "angles.cos(), angles.sin()", "For `x` in float32 your result is float64, as an angle in float64 makes it. Convert at the end: `.to(x.dtype)`."))
    at("angles.cos().to(x.dtype), angles.sin().to(x.dtype)", ("shape", *NUMBERS), ("tokens_on_axis_1", "(each.to(x.dtype).view(-1, *[1] * max(x.dim() - 3, 0), width // 2) for each in (angles.cos(), angles.sin()))", "You take the tokens to be on axis 1, as in (B, T, H, K). Here they are on the last axis but one, (…, T, K): a (T, K/2) table of angles needs no more axes, since broadcasting adds them in front."))
    at("positions[:, None] * base**exponents", ("shape", *SCORES), ("table_of_t_rows", "(torch.arange(x.size(-2), device=x.device)[:, None] * base**exponents)[positions]", "What you index by `positions` has rows 0 … T − 1 only (a table of angles, or `x` itself), and a position may be T or more. Make the angles from `positions` themselves, `positions[:, None] * …`."))
    at("positions[:, None] * base**exponents", ("shape", *NUMBERS), ("angles_with_four_axes", "(positions[:, None] * base**exponents)[None, None]", "Where `x` has two or three axes, your result has four. A (T, K/2) table of angles needs no axes in front: broadcasting adds as many as `x` has."))
    at("cos, sin = angles", NUMBERS, ("sin_for_cos", "sin, cos = angles", "Sine and cosine are exchanged: at angle 0 a vector must stay as it is, so cos θ goes with the column itself and sin θ with its partner."))
    at('raise ValueError(f"the last axis must be even, to be turned in pairs; it is {width}")', "refusal", ("accepts_odd", "return torch.cat((apply_rotary(x[..., :-1], positions, base), x[..., -1:]), dim=-1)", "An odd width is accepted, and its last column is never turned. Pairs need an even width: raise a `ValueError` that says so."))
    at('    if width % 2:\n        raise ValueError(f"the last axis must be even, to be turned in pairs; it is {width}")\n', "refusal", ("odd_crashes", "", "An odd width does fail, but with a message about sizes from deep inside PyTorch. Look at the last axis first and raise a `ValueError` that says what is needed."))
    at(("turned = (first", BACK), ("offsets only", "gradients"), ("in_place", ("x[..., 0::2], x[..., 1::2] = (first", "x"), "You change `x` in place, and the caller still needs the unturned one. Write into a new tensor, such as `torch.empty_like(x)`."))
    at((", base: float = 10000.0)", "base**exponents"), ("shape", "values", "gradients"), ("no_base_argument", (")", "10000.0**exponents"), "Yours can't be called with three arguments, `apply_rotary(x, positions, base)`. `base` comes third, with 10000.0 as its default, and pair i turns by base^(−2i/K) a step."))
    at("    first, second = x[", NUMBERS, ("first_pair_only", "    cos[:, 1:], sin[:, 1:] = 1.0, 0.0\n    first, second = x[", "Only the first pair, columns 0 and 1, is turned. All K/2 pairs turn, each at its own speed."))
    at("first * sin + second * cos)", SCORES, ("both_minus", "first * sin - second * cos)", "There is a minus in both formulas. The new x₁ is x₀·sin θ **+** x₁·cos θ."))
    at("device=x.device) / width", NUMBERS,
       ("2i_twice", "device=x.device) * 2 / width", "Your exponent is twice too large, 4i/K where the formula has 2i/K. (Is 2i counted twice? `range(0, K, 2)` and `torch.arange(0, K, 2)` give 2i already. Or is 2i divided by K/2, the number of pairs? It is divided by K.)"),
       ("floor_division", "device=x.device) // width", "Your exponent is a whole number: 0 for the first pair and −1 for all others, which all turn by t/base. `//` rounds down; divide by `/`."),
       ("reaches_the_base", "device=x.device) / max(width - 2, 1)", "Your last pair turns by exactly t/base: the exponent is 2i/(K − 2). Wanted is 2i/K."))
    at("torch.arange(0, width, 2,", NUMBERS, ("pairs_from_one", "torch.arange(2, width + 2, 2,", "Your pairs are counted from 1: pair i has the exponent 2(i + 1)/K. The first pair is number 0, so it turns by t itself."))
    at("exponents = -torch", NUMBERS, ("multiplies", "exponents = torch", "Your exponent has the wrong sign: pair i turns by t·base^(−2i/K), slower from pair to pair."))
    at(BACK, SCORES, ("angles_tiled", "x * torch.cat((cos, cos), dim=-1) + torch.stack((-second, first), dim=-1).flatten(start_dim=-2) * torch.cat((sin, sin), dim=-1)", "Angles and partners don't belong together: neighbors (2i, 2i + 1) are partners, but column j is turned by the angle of pair j mod K/2, as it would be for partners half a width apart. Each angle comes twice in a row: `repeat_interleave(2, dim=-1)`."))
    at(BACK, NUMBERS, ("by_shift_matrix_converted", 'torch.einsum("tij,...tj->...ti", torch.stack([shift_matrix(place, width) for place in positions.tolist()]).to(x.dtype), x)', "You turn (x₀, x₁) the other way, by −θ, and with 10000 whatever `base` is. The turned pair is x₀·cos θ − x₁·sin θ and x₀·sin θ + x₁·cos θ, with angles of `base`. (Did you take `shift_matrix`? It was made for pairs of sine and cosine.)"))
    at(BACK, ("shape", *NUMBERS), ("by_shift_matrix", "torch.stack([x[..., row, :] @ shift_matrix(place, width).T for row, place in enumerate(positions.tolist())], dim=-2)", "You turn (x₀, x₁) the other way, by −θ, with 10000 whatever `base` is, and your result is float32 whatever the number type of `x`. The turned pair is x₀·cos θ − x₁·sin θ and x₀·sin θ + x₁·cos θ, with angles of `base`. (Did you take `shift_matrix`? It was made for pairs of sine and cosine.)"))
    for axes, names in (("four", "batch, heads, length, width"), ("three", "batch, length, width")):
        form = "(B, H, T, K)" if axes == "four" else "(B, T, K)"
        at("    width = x.size(-1)", ("shape", *NUMBERS, "offsets only" if axes == "four" else "refusal"), (f"only_{axes}_axes", f"    {names} = x.shape", f"You take `x` to have {axes} axes, {form}. It may have any axes in front of its last two: take K from the end, `x.size(-1)`."))
    at("if width % 2:", ("shape", *SCORES, "refusal"),
       ("checks_tokens", "if x.size(-2) % 2:", "Your test for an odd width looks at the wrong axis, the number of tokens: texts of odd length are refused. The width K is the last axis, `x.size(-1)`."),
       ("checks_axis_1", "if x.size(1) % 2:", "Your test for an odd width looks at axis 1, which is K only where `x` is (T, K). The width K is the last axis, `x.size(-1)`."))
    squeezed(at, ("shape", "values", "gradients"), "has the shape of `x`")


@MISTAKES.of_quiz("quiz_positions", right.quiz_positions)
def in_quiz_positions(wrong):
    wrong("words shuffled, no positions", "the same vectors, unmoved",
                 "that would be *invariance*: the output would not move at all. Each token takes its vector along to its new position, which is *equivariance*.")
    wrong("words shuffled, no positions", "other vectors",
                 "without positions a token sees the same set of keys and values wherever it is, so its vector can't change: your gap was 0.")
    wrong("nothing beyond its table", "sinusoidal encoding",
                 "the sinusoids are a formula: there is a row for any position, though nobody has trained with those far out.")
    wrong("nothing beyond its table", "clipped relative bias",
                 "clipping is what saves it: every larger distance uses the outermost entry, so any length works.")
    wrong("rotary turns", "token embeddings",
                 "those stay without positions; rotary acts inside every attention layer, after the projections.")
    wrong("rotary turns", "queries, keys and values",
                 "values stay as they are: positions should decide *where* a token looks, not what it takes from there.")
    wrong("a relative bias is added to", "the token vectors",
                 "it is one number for each pair of positions, and pairs first meet in the scores.")
    wrong("a relative bias is added to", "the weights after softmax",
                 "then the weights of a row would no longer sum to one; it is added to the scores, before the softmax.")
