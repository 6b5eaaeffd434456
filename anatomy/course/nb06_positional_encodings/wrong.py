"""Wrong answers to the exercises of 06-positional-encodings."""

from __future__ import annotations

import torch

from anatomy.course.nb06_positional_encodings.right import (
    Embeddings,
    apply_rotary,
    permutation_gap,
    quiz_positions,
    relative_position_bias,
    shift_matrix,
    sinusoidal_encoding,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.

REFUSAL = """\
    if dim % 2:
        raise ValueError(f"dim must be even, one sine and one cosine per frequency; it is {dim}")
"""
NUMBERS = ("values", "gradients")


@MISTAKES.of(permutation_gap)
def in_permutation_gap(wrong):
    BOTH = ("values", "plain float")
    wrong("one_side", "You shuffle what goes in, but compare with a result in the old order. Shuffle the second result too, `[:, perm]`, so that each token is compared with itself.",
          breaks="values", old="module(x)[:, perm]", new="module(x)")
    wrong("inverse", "The two sides of your comparison stand in different orders: where one is shuffled by `perm`, the other is shuffled by its inverse. Compare f(x[:, perm]) with f(x)[:, perm]; or undo the first, f(x[:, perm])[:, inverse], and compare with f(x).",
          breaks="values", old="module(x)[:, perm]", new="module(x)[:, perm.argsort()]")
    wrong("inverse_twice", "You shuffle both sides alike, but by the inverse: `out[:, perm] = x` *sends* token t to place perm[t], while `x[:, perm]` *takes* for place t the token at perm[t].",
          breaks="values", old=("module(x[:, perm])", "module(x)[:, perm]"), new=("module(x[:, perm.argsort()])", "module(x)[:, perm.argsort()]"))
    wrong("shuffles_batch", "`x[perm]` shuffles the first axis, which is the batch: sentences change places, not words. Tokens lie along axis 1, `x[:, perm]`.",
          breaks=BOTH, old=("module(x[:, perm])", "module(x)[:, perm]"), new=("module(x[perm])", "module(x)[perm]"))
    wrong("shuffles_columns", "You shuffle the last axis, the columns of every token; the tokens themselves lie along axis 1, `x[:, perm]`.",
          breaks=BOTH, old=("module(x[:, perm])", "module(x)[:, perm]"), new=("module(x[..., perm])", "module(x)[..., perm]"))
    wrong("no_abs", "You take the largest difference with its sign, but the largest of all can be a negative one: `.abs()` belongs before `.max()` (after it is too late).",
          breaks="values", old=".abs().max()", new=".max()")
    wrong("mean", "You average the differences; asked for is the largest. One token that notices its place is enough, and a mean can hide it.",
          breaks="values", old=".max()", new=".mean()")
    wrong("sum", "You add up all differences; asked for is the largest. A sum grows with the number of tokens, so it could not be compared between texts.",
          breaks="values", old=".max()", new=".sum()")
    wrong("squared", "You return the square of the largest difference; asked for is its absolute value, `.abs()`.",
          breaks="values", old=".abs()", new=".pow(2)")
    wrong("norm", "You compute the length of the whole difference (a root of a sum of squares); asked for is its largest entry.",
          breaks="values", old=".abs().max()", new=".norm()")
    wrong("yes_or_no", "You answer whether the two agree; asked for is by how much they differ, as a number: 0.0 is a better answer than True, and 0.3 a much better one than False.",
          breaks=BOTH,
          old="(shuffled_first - shuffled_last).abs().max().item()",
          new="torch.allclose(shuffled_first, shuffled_last, atol=1e-6)")
    wrong("tensor", "The number is right, but still wrapped in a tensor. A plain Python float is asked for: `.item()` or `float(…)` takes it out.",
          breaks="plain float", old=".item()", new="")
    wrong("modules_only", "You call a method that only an `nn.Module` has. `module` may be any callable, also a plain function: call it, and ask nothing else of it.",
          breaks=BOTH, old="    shuffled_first = ", new="    module.eval()\n    shuffled_first = ")
    wrong("same_twice", "You shuffle both: f sees the shuffled tokens on both sides, and the two results are the same, whatever f is.",
          breaks=BOTH, old="module(x)[:, perm]", new="module(x[:, perm])")
    wrong("first_sentence", "You look at the first sentence only (`[0]`); the largest difference may be in another.",
          breaks="values", old="(shuffled_first - shuffled_last)", new="(shuffled_first - shuffled_last)[0]")

    wrong("difference_of_maxima", "You compare the largest entries of the two results, which may stand anywhere. Asked is the largest of the differences between entries in the same place: subtract first, then `.abs().max()`.",
          breaks="values", old="(shuffled_first - shuffled_last).abs().max()", new="(shuffled_first.max() - shuffled_last.max()).abs()")
    wrong("module_unused", "`module` is never called: you compare x with x shuffled. Asked is what the module makes of them: f(shuffled x) against shuffled f(x).",
          breaks="values", old=("module(x[:, perm])", "module(x)[:, perm]"), new=("x[:, perm]", "x"))
    wrong("only_the_output", "You shuffle only what comes out and compare it with f(x) in the old order. One of the two must be f of the *shuffled* x.",
          breaks="values", old="module(x[:, perm])", new="module(x)")
    wrong("inverse_going_in", "You shuffle the input by the inverse permutation and the output by `perm`. Both get the same order, `[:, perm]`.",
          breaks="values", old="module(x[:, perm])", new="module(x[:, perm.argsort()])")
    wrong("relative", "You divide by the size of the result. Asked is the plain largest difference.",
          breaks="values", old="(shuffled_first - shuffled_last).abs().max()", new="((shuffled_first - shuffled_last).abs().max() / shuffled_last.abs().max())")
    wrong("mean_over_sentences", "You take the largest difference of each sentence and average over the sentences. Asked is the largest over all entries.",
          breaks="values", old=".abs().max()", new=".abs().amax(dim=(1, 2)).mean()")
    wrong("smallest", "You return the smallest difference; asked for is the largest.",
          breaks="values", old=".max()", new=".min()")
    wrong("numpy_number", "The number is right, but it is NumPy's. A plain Python float is asked for: `.item()` or `float(…)`.",
          breaks="plain float", old=".item()", new=".numpy()[()]")
    wrong("last_axis_but_one", "You shuffle the last axis but one of the results. That is T in (B, T, D) only; `module` may return (B, T, …), where T is axis 1: `[:, perm]`.",
          breaks="values", old="module(x)[:, perm]", new="module(x)[..., perm, :]")
    for digits in (0, 1, 2, 3):
        wrong(f"rounded_to_{digits}", "You round the gap: small gaps become 0, and 0 would mean equivariant. Return the number as it is.",
              breaks="values", old="(shuffled_first - shuffled_last).abs().max().item()",
              new=f"round((shuffled_first - shuffled_last).abs().max().item(), {digits})")


@MISTAKES.of(sinusoidal_encoding)
def in_sinusoidal_encoding(wrong):
    wrong("i_for_2i", "Your frequencies fall half as fast as they should: pair i turns at 10000^(−2i/D), all the way from 1 to nearly 1/10000; yours stop at about 1/100. (Is there an i in place of 2i, or a base of 100?)",
          breaks="values", old="torch.arange(0, dim, 2,", new="torch.arange(dim // 2,")
    wrong("2i_twice", "Your exponent is twice too large, 4i/D where the formula has 2i/D: `torch.arange(0, dim, 2)` already counts 0, 2, 4, …, which is 2i, and is divided by D.",
          breaks="values", old="(-torch.arange(0, dim, 2,", new="(-2 * torch.arange(0, dim, 2,")
    wrong("frequency_per_column", "Each column has a frequency of its own; sine and cosine come in pairs and share one: columns 2i and 2i + 1 both use 10000^(−2i/D). Without the pair no rotation takes one position to the next.",
          breaks="values",
          old=("arange(0, dim, 2, dtype=torch.float64) / dim)  # (D/2,)", "(N, 1) · (D/2,) -> (N, D/2)",
               "angles.sin(), angles.cos()"),
          new=("arange(dim, dtype=torch.float64) / dim)  # (D,)", "(N, 1) · (D,) -> (N, D)",
               "angles[:, 0::2].sin(), angles[:, 1::2].cos()"))
    wrong("halves", "You put all sines first and all cosines after them. That is another valid layout, the same numbers in other columns (tensor2tensor and others use it), but here sine and cosine alternate, as in the paper's formula.",
          breaks="values", old="dim=-1)  # (N, D/2, 2)", new="dim=1)  # (N, 2, D/2)")
    wrong("from_one", "Your positions start at 1: row 0 should be sin 0, cos 0, … = 0, 1, 0, 1, …, the encoding of position 0.",
          breaks="values", old="torch.arange(num_positions,", new="torch.arange(1, num_positions + 1,")
    wrong("cosine_first", "Sine and cosine have changed places: even columns (0, 2, …) hold the sine, odd ones the cosine.",
          breaks="values", old="angles.sin(), angles.cos()", new="angles.cos(), angles.sin()")
    wrong("multiplies", "You multiply by 10000^(2i/D) where you should divide: frequencies must fall from pair to pair, not explode.",
          breaks="values", old="(-torch.arange(", new="(torch.arange(")
    wrong("only_sines", "All your columns are sines. The cosines are missing: without them sin(t) alone can't tell t from π − t, and no matrix moves one position to the next.",
          breaks="values", old="angles.cos()", new="angles.sin()")
    wrong("exponent_over_n", "You divide the exponent by the number of positions, N; it is the width D that it runs along. Position t must look the same in a short text and in a long one.",
          breaks="values", old="/ dim)", new="/ num_positions)")
    wrong("positions_over_n", "You divide positions by their number, so they run from 0 to 1. Then a step is larger in a short text than in a long one, and no offset looks the same twice: use t itself.",
          breaks="values", old="dtype=torch.float64)  # (N,)", new="dtype=torch.float64) / num_positions  # (N,)")
    wrong("reaches_the_base", "Your last pair turns at exactly 1/10000: the exponent is 2i/(D − 2). tensor2tensor's code does it that way; the paper's formula, wanted here, is 2i/D.",
          breaks="values", old="/ dim)", new="/ max(dim - 2, 1))")
    wrong("base_1000", "Your base is 1000; the paper's is 10000 (four zeros).",
          breaks="values", old="10000.0 **", new="1000.0 **")
    wrong("no_power", "There is no exponent: you divide t by 10000·2i/D, not by 10000 to the power 2i/D. (Pair 0 then divides by zero.)",
          breaks="values", old="10000.0 ** (-torch.arange(", new="1 / (10000.0 * torch.arange(")
    wrong("accepts_odd", "An odd width gets a last sine without its cosine, without a word. Refuse it: `raise ValueError(…)`, with a message that says what is wanted.",
          breaks="refusal", old=(REFUSAL, "flatten(start_dim=1)"), new=("", "flatten(start_dim=1)[:, :dim]"))
    wrong("odd_crashes", "An odd width does fail, but with a message about sizes from deep inside PyTorch. Look at `dim` first and raise a `ValueError` that says what is wanted.",
          breaks="refusal",
          old=(REFUSAL,
               "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (N, D/2, 2)",
               "return pairs.flatten(start_dim=1).float()"),
          new=("",
               "pe = torch.zeros(num_positions, dim)\n    pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()",
               "return pe"))
    wrong("silent_error", "Your `ValueError` does not say what is wanted, and its message is all that whoever called gets to read. Say that `dim` must be even.",
          breaks="refusal", old='ValueError(f"dim must be even, one sine and one cosine per frequency; it is {dim}")', new='ValueError("error")')
    wrong("refuses_even", "You refuse even widths and let odd ones pass: `dim % 2` is 0 for an even number. Refuse when it is not 0.",
          breaks=("shape", "values", "refusal"), old="if dim % 2:", new="if dim % 2 == 0:")
    wrong("refuses_even_and_crashes", "You refuse even widths, and odd ones stop later, at sizes that don't fit: `dim % 2` is 0 for an even number. Refuse when it is not 0.",
          breaks=("shape", "values", "refusal"),
          old=("if dim % 2:",
               "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (N, D/2, 2)",
               "return pairs.flatten(start_dim=1).float()"),
          new=("if dim % 2 == 0:",
               "pe = torch.zeros(num_positions, dim)\n    pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()",
               "return pe"))
    wrong("only_cosines", "All your columns are cosines; even columns (0, 2, …) hold the sine.",
          breaks="values", old="angles.sin()", new="angles.cos()")
    wrong("one_frequency", "All your columns turn at the same speed, 1: the exponent is 0 for every pair. (Whole-number division, `//`, does that.) Pair i has the frequency 10000^(−2i/D).",
          breaks="values", old="10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)",
          new="torch.ones((dim + 1) // 2, dtype=torch.float64)")
    wrong("floor_division", "Your exponent is a whole number: 0 for the first pair and −1 for all others, so they all turn at 1/10000. `//` rounds down; divide by `/`.",
          breaks="values", old="(-torch.arange(0, dim, 2, dtype=torch.float64) / dim)", new="(-torch.arange(0, dim, 2, dtype=torch.float64) // dim)")
    wrong("precedence", "`10000 ** 2 * i / dim` means (10000²)·i/D, since `**` comes before `*` and `/`: pair 0 then divides by zero. Put the whole exponent in parentheses, `10000 ** (2 * i / dim)`.",
          breaks="values", old="10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)",
          new="1 / (10000.0**2 * torch.arange((dim + 1) // 2, dtype=torch.float64) / dim)")
    wrong("frequencies_tiled", "Your row of frequencies runs through twice, ω₀ … ω₀ …; each has to stand twice in a row, for columns 2i and 2i + 1 (`repeat_interleave(2)`, not `repeat` or `cat`).",
          breaks="values",
          old=("# (N, 1) · (D/2,) -> (N, D/2)", "angles.sin(), angles.cos()"),
          new=("# (N, D/2)\n    angles = torch.cat((angles, angles), dim=1)  # (N, D)", "angles[:, 0::2].sin(), angles[:, 1::2].cos()"))
    wrong("minus_angles", "Your angles are negative, −t·ωᵢ: all sines have the wrong sign. (The minus sign belongs into the exponent only.)",
          breaks="values", old="angles = positions[:, None]", new="angles = -positions[:, None]")
    for base in (10, 100000):
        wrong(f"base_{base}", f"Your base is {base}; the paper's is 10000 (four zeros).",
              breaks="values", old="10000.0 **", new=f"{base}.0 **")
    wrong("one_row_too_many", "There is one row too many: position t runs from 0 to N − 1, which are N rows.",
          breaks=("shape", "values"), old="torch.arange(num_positions,", new="torch.arange(num_positions + 1,")
    wrong("one_row_too_few", "There is one row too few, and yours begin with position 1: the first row is position 0, the last N − 1.",
          breaks=("shape", "values"), old="torch.arange(num_positions,", new="torch.arange(1, num_positions,")
    wrong("last_row_missing", "There is one row too few: the last one, position N − 1, is missing.",
          breaks=("shape", "values"), old="torch.arange(num_positions,", new="torch.arange(num_positions - 1,")
    wrong("columns_are_positions", "Rows and columns have changed places: you return (D, N). Each row is a position, (N, D).",
          breaks=("shape", "values"), old=".float()  # (N, D)", new=".float().transpose(0, 1)  # (D, N)")
    wrong("pairs_not_joined", "Sine and cosine stand on an axis of their own, (N, D/2, 2). Flatten the last two axes: (N, D).",
          breaks=("shape", "values"), old=".flatten(start_dim=1)", new="")
    wrong("list", "The numbers are right, but in a Python list. Return a tensor: `torch.tensor(…)`.",
          breaks="shape", old=".float()  # (N, D)", new=".tolist()")
    wrong("batch_axis", "You return a batch axis in front, (1, N, D). The contract asks for (N, D): broadcasting adds it to every sentence all the same.",
          breaks=("shape", "values"), old=".float()  # (N, D)", new=".float()[None]  # (1, N, D)")


@MISTAKES.of(shift_matrix)
def in_shift_matrix(wrong):
    ALL_OFFSETS = ("values", "negative offsets")
    SINES = "matrix[even, even], matrix[even, odd] = cos, sin  # sin(a + b) = sin a · cos b + cos a · sin b"
    COSINES = "matrix[odd, even], matrix[odd, odd] = -sin, cos  # cos(a + b) = cos a · cos b − sin a · sin b"
    wrong("transposed", "Yours turns the wrong way: it is the transpose, which is T(−k) and takes PE(t + k) back to PE(t). The first row of each block comes from sin(a + b) = sin a · cos b + cos a · sin b, so its two entries are cos and +sin. (If you had row vectors in mind: here PE(t) is a column, and T stands on its left.)",
          breaks=ALL_OFFSETS, old="return matrix", new="return matrix.T")
    wrong("no_minus", "Both of your off-diagonal entries are +sin. One of them is negative: cos(a + b) = cos a · cos b − sin a · sin b. Without that sign the block does not turn, and lengths change.",
          breaks=ALL_OFFSETS, old=COSINES, new="matrix[odd, even], matrix[odd, odd] = sin, cos")
    wrong("halves", "Your matrix fits an encoding with all sines first and all cosines after them. Here they alternate, so each pair's block stands on the diagonal: rows and columns 2i and 2i + 1.",
          breaks=ALL_OFFSETS,
          old="torch.arange(0, dim, 2), torch.arange(1, dim, 2)",
          new="torch.arange(dim // 2), torch.arange(dim // 2, dim)")


    @MISTAKES.mistake("Your matrix moves *entries* of a vector by k places (ones beside the diagonal). What has to move is the position that the vector encodes: every pair (sin, cos) turns by k·ωᵢ.", breaks=ALL_OFFSETS)
    def shift_matrix__moves_entries(offset, dim):
        if dim % 2:
            raise ValueError("dim must be even")
        return torch.eye(dim).roll(offset, dims=0)


    wrong("only_cosines", "You have only the cosines on the diagonal. sin(a + b) = sin a · cos b + cos a · sin b needs the pair's other half as well: the sines stand beside the diagonal.",
          breaks=ALL_OFFSETS, old=(SINES, COSINES), new=("matrix[even, even] = cos", "matrix[odd, odd] = cos"))
    wrong("i_for_2i", "Your frequencies have i where the formula has 2i; pair i turns by k·10000^(−2i/D), as in `sinusoidal_encoding`.",
          breaks=ALL_OFFSETS, old="torch.arange(0, dim, 2, dtype", new="torch.arange(dim // 2, dtype")
    wrong("one_frequency", "All pairs turn by the same angle, k. Each has its own frequency: pair i turns by k·10000^(−2i/D).",
          breaks=ALL_OFFSETS,
          old="10000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)",
          new="torch.ones(dim // 2, dtype=torch.float64)")
    wrong("absolute_offset", "A negative offset moves forward with you: you take its absolute value. T(−k) turns the other way.",
          breaks="negative offsets", old="angles = offset *", new="angles = abs(offset) *")
    wrong("steps_forward_only", "For a negative offset you return the identity, as a loop of `offset` steps does that never runs. T(−k) is the transpose of T(k); or put k·ωᵢ into the angle, with its sign, and no loop over steps is needed.",
          breaks="negative offsets",
          old=("angles = offset * ", "    return matrix"),
          new=("angles = ",
               "    steps = torch.eye(dim, dtype=torch.float64)\n    for _ in range(offset):\n"
               "        steps = matrix @ steps\n    return steps"))
    wrong("refuses_negative", "You refuse negative offsets; they are as good as others. T(−k) leads back: it turns every pair the other way.",
          breaks="negative offsets",
          old="    angles = ",
          new='    if offset < 0:\n        raise ValueError("offset must not be negative")\n    angles = ')
    wrong("accepts_odd", "An odd dim is accepted, and its last row stays empty. There is no such encoding (a sine would lack its cosine): raise a `ValueError` that says so.",
          breaks="refusal",
          old=(REFUSAL, "-torch.arange(0, dim, 2,", "= torch.arange(0, dim, 2)"),
          new=("", "-torch.arange(0, dim - 1, 2,", "= torch.arange(0, dim - 1, 2)"))

    wrong("odd_crashes", "An odd dim does fail, but by accident, at an index that does not fit. Look at `dim` first and raise a `ValueError` that says what is wanted.",
          breaks="refusal", old=REFUSAL, new="")
    wrong("refuses_even", "You refuse even widths: `dim % 2` is 0 for an even number. Refuse when it is not 0.",
          breaks=("shape", *ALL_OFFSETS, "refusal"),
          old=("if dim % 2:", "-torch.arange(0, dim, 2,", "= torch.arange(0, dim, 2)"),
          new=("if dim % 2 == 0:", "-torch.arange(0, dim - 1, 2,", "= torch.arange(0, dim - 1, 2)"))
    EVEN_AND_ODD = "torch.arange(0, dim, 2), torch.arange(1, dim, 2)  # where"
    OVERLAP = "Your block for pair i starts at row and column i: blocks overlap, each writes over a corner of the one before, and the last rows stay empty. Pair i lives in rows and columns 2i and 2i + 1."
    wrong("blocks_overlap", OVERLAP,
          breaks=ALL_OFFSETS, old=(EVEN_AND_ODD, SINES, COSINES),
          new=("torch.arange(dim // 2), torch.arange(1, dim // 2 + 1)  # where", COSINES, SINES))
    wrong("blocks_overlap_at_once", OVERLAP,
          breaks=ALL_OFFSETS, old=EVEN_AND_ODD, new="torch.arange(dim // 2), torch.arange(1, dim // 2 + 1)  # where")
    wrong("slices_fill_everything", "`matrix[0::2, 0::2] = …` writes into every second row *and* column, not only on the diagonal: each row gets all the pairs' numbers. Fill pair by pair, or with two index tensors: `matrix[even, even]`.",
          breaks=ALL_OFFSETS, old=(SINES, COSINES),
          new=("matrix[0::2, 0::2], matrix[0::2, 1::2] = cos, sin", "matrix[1::2, 0::2], matrix[1::2, 1::2] = -sin, cos"))
    wrong("only_first_block", "Only the first block is filled, rows and columns 0 and 1; the rest is zero. There is one block for each of the D/2 pairs. (Is the `return` inside the loop?)",
          breaks=ALL_OFFSETS,
          old=(EVEN_AND_ODD, "angles.cos(), angles.sin()"),
          new=("torch.tensor([0]), torch.tensor([1])  # where", "angles[:1].cos(), angles[:1].sin()"))
    wrong("both_minus", "Both of your off-diagonal entries are −sin. The upper right one is positive: sin(a + b) = sin a · cos b + cos a · sin b.",
          breaks=ALL_OFFSETS, old="matrix[even, odd] = cos, sin", new="matrix[even, odd] = cos, -sin")
    wrong("sin_for_cos", "Sine and cosine have changed places: the cosines stand on the diagonal (for k = 0 the matrix must be the identity).",
          breaks=ALL_OFFSETS, old="cos, sin = angles.cos(), angles.sin()", new="sin, cos = angles.cos(), angles.sin()")
    wrong("2i_twice", "Your exponent is twice too large, 4i/D where the formula has 2i/D: `torch.arange(0, dim, 2)` already is 2i.",
          breaks=ALL_OFFSETS, old="-torch.arange(0, dim, 2, dtype", new="-2 * torch.arange(0, dim, 2, dtype")
    wrong("multiplies", "You multiply by 10000^(2i/D) where you should divide: pair i turns by k·10000^(−2i/D).",
          breaks=ALL_OFFSETS, old="(-torch.arange(0, dim, 2, dtype", new="(torch.arange(0, dim, 2, dtype")
    wrong("floor_division", "Your exponent is a whole number: 0 for the first pair and −1 for all others. `//` rounds down; divide by `/`.",
          breaks=ALL_OFFSETS, old="dtype=torch.float64) / dim)", new="dtype=torch.float64) // dim)")
    wrong("base_1000", "Your base is 1000; it is 10000 (four zeros), as in `sinusoidal_encoding`.",
          breaks=ALL_OFFSETS, old="10000.0 **", new="1000.0 **")
    for steps in (0, 1, 2, 3):
        wrong(f"always_{steps}", f"`offset` has no effect: your matrix always moves by {steps}. The angle of pair i is offset·ωᵢ.",
              breaks=ALL_OFFSETS, old="angles = offset *", new=f"angles = {steps} *")
    wrong("one_step_too_many", "Your matrix moves one step too far: T(0) must be the identity.",
          breaks=ALL_OFFSETS, old="angles = offset *", new="angles = (offset + 1) *")
    wrong("one_step_too_few", "Your matrix moves one step too few: T(0) must be the identity.",
          breaks=ALL_OFFSETS, old="angles = offset *", new="angles = (offset - 1) *")
    wrong("list", "The numbers are right, but in a Python list. Return a tensor: `torch.tensor(…)`.",
          breaks="shape", old="return matrix.float()", new="return matrix.tolist()")


@MISTAKES.of(Embeddings)
def in_Embeddings(wrong):
    TABLES = ("values", "parameters", "gradients")
    SUM = "self.token_embeddings(input_ids) + self.position_embeddings(positions)  # (B, T, D) + (T, D)"
    TOO_LONG = """\
        if length > most:
            raise ValueError(f"{length} tokens, but the table of positions ends after {most}")
"""
    wrong("adds_to_ids", "You add positions to the *ids*: id 2051 in place 3 becomes id 2054, another word. Ids are names, not amounts; look up two vectors and add those.",
          breaks=NUMBERS, old=SUM, new="self.token_embeddings(input_ids + positions)  # (B, T, D)")
    wrong("positions_from_ids", "You look up positions by the *ids*, `position_embeddings(input_ids)`. A position is the token's place: 0, 1, 2, …, `torch.arange(T)`, whatever the token is.",
          breaks=("shape", "values", "parameters", "gradients", "length limit"),
          old="self.position_embeddings(positions)  # (B, T, D) + (T, D)",
          new="self.position_embeddings(input_ids)  # (B, T, D)")
    wrong("positions_over_batch", "You number the sentences of the batch, not the tokens: all tokens of sentence b get position b. Positions run along T (axis 1), and every sentence counts from 0.",
          breaks=NUMBERS,
          old=("torch.arange(length, device=input_ids.device)  # (T,)", "+ (T, D)"),
          new=("torch.arange(input_ids.size(0), device=input_ids.device)[:, None]  # (B, 1)", "+ (B, 1, D)"))
    wrong("counts_through_the_batch", "Your positions go on counting from one sentence to the next: the second starts where the first ended. Each sentence starts at 0.",
          breaks=NUMBERS,
          old=("torch.arange(length, device=input_ids.device)  # (T,)", "+ (T, D)"),
          new=("torch.arange(input_ids.numel(), device=input_ids.device).view_as(input_ids) % most  # (B, T)",
               "+ (B, T, D)"))
    wrong("from_one", "Your positions start at 1. The table's first row belongs to the first token: with 1 … T it is never used, and a text as long as the table runs over its end.",
          breaks=("values", "gradients", "length limit"), old="torch.arange(length,", new="torch.arange(1, length + 1,")
    wrong("no_positions", "The positions are never added: two sentences with the same words in another order get the same vectors.",
          breaks=NUMBERS, old=" + self.position_embeddings(positions)  # (B, T, D) + (T, D)", new="  # (B, T, D)")
    wrong("sinusoids", "You use the fixed sinusoids; here the positions are *learned*: a table `position_embeddings` with one row per position, as in BERT.",
          breaks=("values", "parameters", "gradients"),
          old=("self.position_embeddings = nn.Embedding(", "self.position_embeddings.num_embeddings",
               "self.position_embeddings(positions)"),
          new=("self.sinusoids = sinusoidal_encoding(", "len(self.sinusoids)", "self.sinusoids[positions]"))
    wrong("token_types", "You add a third table, for token types, as BERT does. Here only tokens and positions are asked for; types come in notebook 07, where the real weights are loaded.",
          breaks=("values", "parameters", "gradients"),
          old=("        self.layer_norm = ", "self.layer_norm(x)"),
          new=("        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)\n"
               "        self.layer_norm = ",
               "self.layer_norm(x + self.token_type_embeddings(torch.zeros_like(input_ids)))"))
    wrong("norm_each", "You normalize tokens and positions each by itself and then add. Add first; the norm sees the sum.",
          breaks=NUMBERS,
          old=(SUM, "self.layer_norm(x)"),
          new=("self.layer_norm(self.token_embeddings(input_ids)) + self.layer_norm(self.position_embeddings(positions))", "x"))
    wrong("times_root_d", "You multiply the token vectors by √D before adding. The 2017 paper does so (§3.4), BERT does not, and real BERT weights, loaded by name, would come out wrong.",
          breaks=NUMBERS,
          old="x = self.token_embeddings(input_ids) +",
          new="tokens = self.token_embeddings(input_ids) * math.sqrt(self.token_embeddings.embedding_dim)\n        x = tokens +")
    wrong("no_norm", "There is no normalization in what you return: the sum goes through `layer_norm` before dropout.",
          breaks=NUMBERS, old="self.layer_norm(x)", new="x")
    wrong("norm_before_adding", "You normalize the token vectors and add positions afterwards. Add first, then normalize the sum.",
          breaks=NUMBERS,
          old=("self.token_embeddings(input_ids)", "self.layer_norm(x)"),
          new=("self.layer_norm(self.token_embeddings(input_ids))", "x"))
    wrong("default_eps", "Your layer norm has the library's default eps, 1e-5; `config.layer_norm_eps` is asked for. BERT's is 1e-12, and here the check makes it large, so that you can see it.",
          breaks=NUMBERS, old=", eps=config.layer_norm_eps", new="")
    wrong("no_dropout", "`dropout` is made, but never used: in training the result should lose a share of its entries.",
          breaks="train mode", old="self.dropout(self.layer_norm(x))", new="self.layer_norm(x)")
    wrong("dropout_before_norm", "Dropout does not act on what you return: in training no entry of the result is 0, and others change as well. Before the norm it is in the wrong place, because the norm fills the holes again: first normalize, then drop.",
          breaks="train mode", old="self.dropout(self.layer_norm(x))", new="self.layer_norm(self.dropout(x))")
    wrong("dropout_fixed", "Your dropout's share is not that of `config.hidden_dropout_prob`: the check sets 0.35 and then 0, and yours drops some entries both times, but not that many. (Is 0.1 written into it, or is another number of the config taken?)",
          breaks="train mode", old="nn.Dropout(config.hidden_dropout_prob)", new="nn.Dropout(0.1)")
    wrong("dropout_default", "Your dropout drops too much: the check sets `config.hidden_dropout_prob` to 0.35 and then 0, and yours drops more both times. `nn.Dropout()` without a number drops half.",
          breaks="train mode", old="nn.Dropout(config.hidden_dropout_prob)", new="nn.Dropout()")
    wrong("dropout_keeps_that_share", "Your dropout *keeps* the share `config.hidden_dropout_prob` and drops the rest; it is the share to drop.",
          breaks="train mode", old="nn.Dropout(config.hidden_dropout_prob)", new="nn.Dropout(1 - config.hidden_dropout_prob)")
    wrong("dropout_twice", "Dropout acts twice on the way to your result: more entries are lost than `config.hidden_dropout_prob` asks for. Once is enough, after the norm.",
          breaks="train mode", old="self.dropout(self.layer_norm(x))", new="self.dropout(self.dropout(self.layer_norm(x)))")
    wrong("dropout_before_and_after", "As many entries as asked are 0 in training, but the others are not those of eval mode over 1 − p: something else changes them, too. Is there a dropout before the norm as well? Once, after the norm, is asked for.",
          breaks="train mode", old="self.dropout(self.layer_norm(x))", new="self.dropout(self.layer_norm(self.dropout(x)))")
    wrong("dropout_not_scaled", "In training, what your dropout leaves stays as large as it was. Divide it by 1 − p, as `nn.Dropout` does, so that the mean stays the same.",
          breaks="train mode",
          old="return self.dropout(self.layer_norm(x))",
          new="x = self.layer_norm(x)\n        return x * (torch.rand_like(x) >= self.dropout.p) if self.training else x")
    wrong("whole_tokens_dropped", "Your dropout sets whole tokens to 0. It is to drop single entries, as `nn.Dropout` does.",
          breaks="train mode", old="nn.Dropout(config", new="nn.Dropout1d(config")
    wrong("same_in_every_sentence", "Your dropout drops the same entries in every sentence of the batch. Each entry of (B, T, D) has its own chance: apply it to the whole tensor.",
          breaks="train mode",
          old="return self.dropout(self.layer_norm(x))", new="x = self.layer_norm(x)\n        return x * self.dropout(torch.ones_like(x[:1]))")
    wrong("whole_columns_dropped", "Your dropout sets whole columns of a sentence to 0. It is to drop single entries, as `nn.Dropout` does.",
          breaks="train mode",
          old="return self.dropout(self.layer_norm(x))", new="x = self.layer_norm(x)\n        return x * self.dropout(torch.ones_like(x[:, :1]))")
    wrong("dropout_in_eval", "Your dropout never stops: `F.dropout` drops in eval mode too, unless it is told `training=self.training`. An `nn.Dropout` made in `__init__` knows the mode by itself.",
          breaks=("values", "gradients", "train mode"),
          old="self.dropout(self.layer_norm(x))", new="F.dropout(self.layer_norm(x), self.dropout.p)")
    wrong("index_error", "A text longer than the table does fail, but as “index out of range” inside the lookup, which names neither the length nor the limit. Compare the two first and raise a `ValueError` that does.",
          breaks="length limit", old=TOO_LONG, new="")
    wrong("cuts_off", "A text longer than the table is cut off without a word. Whoever calls it would never know that the end was not read: raise a `ValueError`.",
          breaks="length limit",
          old='raise ValueError(f"{length} tokens, but the table of positions ends after {most}")',
          new="input_ids, length = input_ids[:, :most], most")
    wrong("repeats_last_position", "Tokens beyond the table all get its last position. They would be in no order among themselves: raise a `ValueError` instead.",
          breaks="length limit",
          old=(TOO_LONG, "device=input_ids.device)"), new=("", "device=input_ids.device).clamp(max=most - 1)"))
    wrong("refuses_full_table", "You refuse a text that is exactly as long as the table; it still fits. Only T *greater* than the number of rows is too long (`>`, not `>=`).",
          breaks="length limit", old="length > most", new="length >= most")
    wrong("library_names", "Your layers bear Hugging Face's names (`word_embeddings`, `LayerNorm`); the contract says `token_embeddings`, `position_embeddings`, `layer_norm`, `dropout`. Weights are copied by name.",
          breaks=("values", "parameters", "gradients"), times=2,
          old=("self.token_embeddings", "self.layer_norm"), new=("self.word_embeddings", "self.LayerNorm"))
    wrong("table_of_vocabulary_size", "Your table of positions has as many rows as the vocabulary; `config.max_position_embeddings` says how many positions there are.",
          breaks=("values", "parameters", "gradients", "length limit"),
          old="nn.Embedding(config.max_position_embeddings", new="nn.Embedding(config.vocab_size")

    wrong("tables_swapped", "The two tables have each other's number of rows: one row for each of the V words (`vocab_size`) in `token_embeddings`, one for each of the N places (`max_position_embeddings`) in `position_embeddings`.",
          breaks=("shape", *TABLES, "train mode", "length limit"),
          old=("nn.Embedding(config.vocab_size", "nn.Embedding(config.max_position_embeddings"),
          new=("nn.Embedding(config.max_position_embeddings", "nn.Embedding(config.vocab_size"))
    wrong("skips_id_0", "Your positions depend on the ids: tokens with id 0 are not counted, so that the token after one gets its number again (RoBERTa does something like it). Here every token counts: 0, 1, 2, …, whatever it is.",
          breaks="values",
          old=("torch.arange(length, device=input_ids.device)  # (T,)", "+ (T, D)"),
          new=("((input_ids != 0).long().cumsum(dim=1) - 1).clamp(min=0)  # (B, T)", "+ (B, T, D)"))
    wrong("id_0_has_no_place", "Tokens with id 0 get no vector for their place. Padding is hidden by a mask later (notebook 07); here every token gets both vectors.",
          breaks="values",
          old="self.position_embeddings(positions)  # (B, T, D) + (T, D)",
          new="self.position_embeddings(positions) * (input_ids != 0)[..., None]  # (B, T, D)")
    wrong("backwards", "Your positions count backwards, from T − 1 down to 0. The first token has position 0.",
          breaks=NUMBERS, old="torch.arange(length, device=input_ids.device)", new="torch.arange(length, device=input_ids.device).flip(0)")
    wrong("first_position_for_all", "All tokens get the first row of the position table. The token in place t gets row t.",
          breaks=NUMBERS, old="torch.arange(length, device=input_ids.device)", new="torch.zeros_like(input_ids[0])")
    wrong("multiplies", "You multiply the token's vector by the position's. They are added.",
          breaks=NUMBERS, old="self.token_embeddings(input_ids) + self", new="self.token_embeddings(input_ids) * self")
    wrong("no_tokens", "The tokens' vectors are missing: what you normalize is the positions' alone, the same for every text.",
          breaks=NUMBERS, old=SUM, new="self.position_embeddings(positions).expand(len(input_ids), -1, -1)  # (B, T, D)")
    wrong("one_row_more", "Your table of positions has one row too many: `config.max_position_embeddings` of them, counted from 0.",
          breaks=(*TABLES, "length limit"),
          old="nn.Embedding(config.max_position_embeddings,", new="nn.Embedding(config.max_position_embeddings + 1,")
    wrong("message_lacks_numbers", "A text that is too long is refused, but the message doesn't name both numbers: how many tokens there are and how many positions.",
          breaks="length limit",
          old='ValueError(f"{length} tokens, but the table of positions ends after {most}")', new='ValueError("too long")')
    wrong("warns_only", "A text longer than the table gets through. It is to be refused with a `ValueError`.",
          breaks="length limit",
          old=(TOO_LONG, "positions = torch.arange(length, device=input_ids.device)"),
          new=("", "positions = torch.arange(length, device=input_ids.device) % most"))
    for theirs in ("word_embeddings", "embedding", "tok_embeddings"):
        wrong(f"token_table_called_{theirs}", f"Your table of tokens is called `{theirs}`; the contract says `token_embeddings`. Notebook 07 copies weights by name.",
              breaks=TABLES, times=2, old="self.token_embeddings", new=f"self.{theirs}")
    for theirs in ("norm", "LayerNorm", "ln"):
        wrong(f"norm_called_{theirs}", f"Your norm is called `{theirs}`; the contract says `layer_norm`. Notebook 07 copies weights by name.",
              breaks=TABLES, times=2, old="self.layer_norm", new=f"self.{theirs}")


@MISTAKES.of(relative_position_bias)
def in_relative_position_bias(wrong):
    EVERYWHERE = ("values", "clipping", "gradients")
    INDEX = "offsets.clamp(-reach, reach) + reach"
    wrong("i_minus_j", "Left and right have changed places: each of your matrices is the transpose of the right one. b[i, j] belongs to j − i, key minus query, so that a key to the right of the query has a positive offset.",
          breaks=EVERYWHERE,
          old="positions[None, :] - positions[:, None]  # (T, T): key j minus query i",
          new="positions[:, None] - positions[None, :]  # (T, T): query i minus key j")
    wrong("distance", "You take the distance |j − i|: left and right look alike. Keep the sign; the table has a column for each side.",
          breaks=EVERYWHERE, old="offsets.clamp(-reach, reach)", new="offsets.abs().clamp(max=reach)")
    wrong("not_centered", "You forget to move offset 0 to the middle of the table: add M (here {M}). Python counts negative indices from the end, so nothing complains.",
          breaks=EVERYWHERE, old=INDEX, new="offsets.clamp(-reach, reach)")
    wrong("not_clipped", "Offsets are not clipped: beyond M to the left, indices turn negative and wrap around to the table's other end, beyond M to the right they miss it. Clip j − i to −M … M first.",
          breaks="clipping", old=INDEX, new="offsets + reach")
    wrong("zero_beyond", "Keys farther away than M get a bias of 0 in yours; they share the table's outermost entry on their side.",
          breaks="clipping", old="+ reach]", new="+ reach] * (offsets.abs() <= reach)")
    wrong("modulo", "Offsets beyond M start again at the other end (modulo the table's length); a far key would look like a near one. Clip instead: `clamp(−M, M)`.",
          breaks="clipping", old=INDEX, new="(offsets + reach) % table.size(-1)")
    wrong("clipped_too_late", "You clip after moving to the middle, and at −M and M: then everything to the right of the center is cut. Clip j − i first and add M afterwards, or clip the index to 0 … 2M.",
          breaks=EVERYWHERE, old=INDEX, new="(offsets + reach).clamp(-reach, reach)")
    wrong("centered_on_length", "You put offset 0 in column T − 1; the table tells where it is: in its own middle, column M = (2M + 1) // 2, whatever T is.",
          breaks=EVERYWHERE, old=INDEX, new="(offsets + length - 1).clamp(0, 2 * reach)")
    wrong("heads_last", "The heads come last in what you return, (T, T, H). Scores are (B, H, T, T), so the bias is (H, T, T), which broadcasts over the batch.",
          breaks=("shape", *EVERYWHERE), old="table[:, offsets", new="table.T[offsets")
    wrong("one_head", "All heads share the first head's row. Each has its own, so that one can look near and another far.",
          breaks=EVERYWHERE,
          old=("table[:, offsets", "+ reach]"), new=("table[:1, offsets", "+ reach].expand(len(table), -1, -1)"))
    wrong("cut_off", "The numbers are right, but no gradient reaches the table (`detach`, `.data`, `.item()`, `.tolist()` and NumPy cut it off), so it could never be learned. Index the tensor itself.",
          breaks="gradients", old="table[:, offsets", new="torch.tensor(table.tolist())[:, offsets")

    REACH = "table.size(-1) // 2"
    wrong("reach_is_all_columns", "You take M = 2M + 1, the number of columns. The table reaches M to each side of its middle: M = `table.size(-1) // 2`.",
          breaks=("shape", *EVERYWHERE), old=REACH, new="table.size(-1)")
    wrong("reach_rounded_up", "Your M is one too large: of 2M + 1 columns, M stand on each side of the middle, so M = `table.size(-1) // 2`.",
          breaks=("shape", *EVERYWHERE), old=REACH, new="(table.size(-1) + 1) // 2")
    wrong("reach_one_less", "Your M is one too small: of 2M + 1 columns, M stand on each side of the middle, so M = `table.size(-1) // 2`.",
          breaks=EVERYWHERE, old=REACH, new="max(table.size(-1) // 2 - 1, 0)")
    wrong("reach_is_length", "You take M = T, the number of tokens. The table tells how far it reaches: M = `table.size(-1) // 2`, whatever T is.",
          breaks=("shape", *EVERYWHERE), old=REACH, new="length")
    wrong("clipped_below_m", "To the right you clip one too early, at M − 1; the last column, offset M, is never used.",
          breaks=EVERYWHERE, old="clamp(-reach, reach)", new="clamp(-reach, max(reach - 1, -reach))")
    wrong("clipped_above_minus_m", "To the left you clip one too early, at −M + 1; the first column, offset −M, is never used.",
          breaks=EVERYWHERE, old="clamp(-reach, reach)", new="clamp(min(1 - reach, reach), reach)")
    wrong("index_clipped_to_m", "You clip the column number to 0 … M: every key to the right of the query gets the middle column. Columns run from 0 to 2M.",
          breaks=EVERYWHERE, old=INDEX, new="(offsets + reach).clamp(0, reach)")
    wrong("distance_from_column_0", "You look up the distance |j − i|, counted from column 0. Columns stand for −M … M, left and right apart: clip j − i, with its sign, and add M.",
          breaks=EVERYWHERE, old=INDEX, new="offsets.abs().clamp(max=reach)")
    wrong("first_head_only", "Only the first head's matrix comes back, (T, T). Take all rows of the table: `table[:, index]` is (H, T, T).",
          breaks=("shape", *EVERYWHERE), old="table[:, offsets", new="table[0, offsets")
    wrong("heads_indexed", "Your column numbers index the table's first axis, the heads. Columns are axis 1: `table[:, index]`.",
          breaks=("shape", *EVERYWHERE), old="table[:, offsets", new="table[offsets")
    wrong("alibi", "Your bias is minus the distance (as in ALiBi); the table's numbers never enter. Look them up: one number for each head and offset.",
          breaks=EVERYWHERE, old="table[:, offsets.clamp(-reach, reach) + reach]", new="-offsets.abs().to(table.dtype).expand(len(table), -1, -1)")
    wrong("offsets_themselves", "You return the offsets themselves; the table's numbers never enter. Look them up: one number for each head and offset.",
          breaks=EVERYWHERE,
          old="table[:, offsets.clamp(-reach, reach) + reach]", new="offsets.clamp(-reach, reach).to(table.dtype).expand(len(table), -1, -1)")
    wrong("column_numbers", "You return the column numbers, (T, T). Look them up in the table: `table[:, index]`.",
          breaks=("shape", *EVERYWHERE), old="table[:, offsets.clamp(-reach, reach) + reach]", new="offsets.clamp(-reach, reach) + reach")
    wrong("one_query", "Your result has one row a head, (H, T): the biases of the first query alone. Every query has its own row: offsets j − i, a (T, T) matrix.",
          breaks=("shape", *EVERYWHERE), old="positions[None, :] - positions[:, None]  # (T, T): key j minus query i", new="positions")
    wrong("batch_axis", "There is an axis too many in front, (1, H, T, T). Asked is (H, T, T); broadcasting adds it to every sentence all the same.",
          breaks=("shape", *EVERYWHERE), old="return table[:, offsets.clamp(-reach, reach) + reach]", new="return table[:, offsets.clamp(-reach, reach) + reach][None]")
    wrong("squeezed", "An axis of size 1 is gone, with a single token or a single head: `squeeze` takes them all. The result is (H, T, T) in every case.",
          breaks=("shape", "values", "gradients"),
          old="return table[:, offsets.clamp(-reach, reach) + reach]", new="return table[:, offsets.clamp(-reach, reach) + reach].squeeze()")
    wrong("softmaxed", "You take a softmax of the bias. It is added to the scores, and the softmax comes after that.",
          breaks=EVERYWHERE, old="+ reach]", new="+ reach].softmax(dim=-1)")
    wrong("causal", "Keys to the right of the query get no bias in yours. They have their own half of the table: offsets 1 … M.",
          breaks=EVERYWHERE, old="+ reach]", new="+ reach].tril()")


@MISTAKES.of(apply_rotary)
def in_apply_rotary(wrong):
    SCORES = ("values", "offsets only", "gradients")
    PAIR = "(first * cos - second * sin, first * sin + second * cos)"
    BACK = "torch.stack(turned, dim=-1).flatten(start_dim=-2)  # (..., T, K/2, 2) -> (..., T, K)"
    wrong("minus_theta", "You turn the other way, by −θ: the minus sign stands in the wrong line. x₀·cos θ − x₁·sin θ is the new x₀, x₀·sin θ + x₁·cos θ the new x₁. Dot products would not notice, but vectors stored or trained elsewhere would.",
          breaks=NUMBERS, old=PAIR, new="(first * cos + second * sin, second * cos - first * sin)")
    wrong("halves", "You pair column i with column i + K/2. That is another valid layout, which many libraries use (it is this one with the columns in another order), but here neighbors make a pair: columns 2i and 2i + 1, as in the paper.",
          breaks=NUMBERS,
          old=("x[..., 0::2], x[..., 1::2]  # (..., T, K/2)", BACK),
          new=("x.chunk(2, dim=-1)  # (..., T, K/2)", "torch.cat(turned, dim=-1)  # (..., T, K)"))


    @MISTAKES.mistake("You mix two layouts: angles for neighbors (2i, 2i + 1), partners from the other half (i, i + K/2). Then nothing is turned as a whole, and scores depend on more than the offset. Make both for neighbors.", breaks=SCORES)
    def apply_rotary__mixed_layouts(x, positions, base=10000.0):
        if x.size(-1) % 2:
            raise ValueError("K must be even")
        theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
        theta = theta.repeat_interleave(2, dim=-1)
        a, b = x.chunk(2, dim=-1)
        return x * theta.cos() + torch.cat((-b, a), dim=-1) * theta.sin()


    wrong("left_in_halves", "The results are turned correctly, but end up in the wrong columns: all first members, then all second ones. Each pair goes back to where it came from, columns 2i and 2i + 1 (`stack` and `flatten`, not `cat`).",
          breaks=NUMBERS, old=BACK, new="torch.cat(turned, dim=-1)  # (..., T, K)")
    wrong("overwritten", "You overwrite the first member of each pair and then use the *new* value for the second. Keep both old values until both new ones are made.",
          breaks=SCORES,
          old="turned = (first * cos - second * sin, first * sin",
          new="first = first * cos - second * sin\n    turned = (first, first * sin")
    wrong("no_minus", "There is no minus sign: the new x₀ is x₀·cos θ **−** x₁·sin θ. With a plus in both lines nothing is turned, lengths change, and scores depend on more than the offset.",
          breaks=SCORES, old="first * cos - second * sin", new="first * cos + second * sin")
    wrong("i_for_2i", "Your exponent has i where the formula has 2i: pair i turns by t·base^(−2i/K).",
          breaks=NUMBERS, old="torch.arange(0, width, 2,", new="torch.arange(width // 2,")
    wrong("one_frequency", "All pairs turn by the same angle t; each has its own speed: pair i turns by t·base^(−2i/K).",
          breaks=NUMBERS, old="base**exponents", new="torch.ones_like(exponents)")
    wrong("ignores_positions", "The given positions have no effect: you count 0, 1, 2, … yourself, or not at all. They may have gaps or come in another order (a text continued, a store of old keys): use `positions`.",
          breaks=SCORES, old="positions[:, None]", new="torch.arange(x.size(-2), device=x.device)[:, None]")
    wrong("from_one", "Your positions are one too large: the token at position 0 is not turned at all. (Scores would not notice, since both sides move.)",
          breaks=NUMBERS, old="positions[:, None]", new="(positions[:, None] + 1)")
    wrong("ignores_base", "`base` has no effect: 10000 is written into your formula. It is only the default.",
          breaks=NUMBERS, old="base**exponents", new="10000.0**exponents")
    wrong("adds", "You *add* sines and cosines, as in an absolute encoding. Rotary multiplies: each pair of x is turned, and its length stays.",
          breaks=SCORES, old=PAIR, new="(first + sin, second + cos)")
    wrong("sin_for_cos", "Sine and cosine have changed places: at angle 0 a vector must stay as it is, so cos θ goes with the column itself and sin θ with its partner.",
          breaks=NUMBERS, old="cos, sin = angles", new="sin, cos = angles")
    wrong("accepts_odd", "An odd width is accepted, and its last column is never turned. Pairs need an even width: raise a `ValueError` that says so.",
          breaks="refusal",
          old='raise ValueError(f"the last axis must be even, to be turned in pairs; it is {width}")',
          new="return torch.cat((apply_rotary(x[..., :-1], positions, base), x[..., -1:]), dim=-1)")
    wrong("odd_crashes", "An odd width does fail, but with a message about sizes from deep inside PyTorch. Look at the last axis first and raise a `ValueError` that says what is wanted.",
          breaks="refusal",
          old='    if width % 2:\n        raise ValueError(f"the last axis must be even, to be turned in pairs; it is {width}")\n',
          new="")
    wrong("in_place", "You change `x` in place; whoever called you still needs the unturned one. Write into a new tensor, such as `torch.empty_like(x)`.",
          breaks=("offsets only", "gradients"), old=("turned = (first", BACK), new=("x[..., 0::2], x[..., 1::2] = (first", "x"))

    wrong("no_base_argument", "Yours takes no `base`: it is called as `apply_rotary(x, positions, base)`, too, with 10000.0 as the default, and pair i turns by base^(−2i/K) a step.",
          breaks=("shape", "values", "gradients"),
          old=(", base: float = 10000.0)", "base**exponents"), new=(")", "10000.0**exponents"))
    wrong("from_first", "You count positions from the first token's. The token at position t turns by t itself, also when the text begins at another position than 0.",
          breaks=SCORES, old="positions[:, None]", new="(positions - positions[0])[:, None]")
    wrong("sorted", "You sort the positions. They say where each token stands, in the order of the tokens: use them as they come.",
          breaks=NUMBERS, old="positions[:, None]", new="positions.sort().values[:, None]")
    wrong("first_pair_only", "Only the first pair, columns 0 and 1, is turned. All K/2 pairs turn, each at its own speed.",
          breaks=NUMBERS,
          old="    first, second = x[", new="    cos[:, 1:], sin[:, 1:] = 1.0, 0.0\n    first, second = x[")
    wrong("second_not_turned", "Only the first member of each pair changes; the second stays as it was. The new x₁ is x₀·sin θ + x₁·cos θ.",
          breaks=SCORES, old=PAIR, new="(first * cos - second * sin, second)")
    wrong("first_not_turned", "Only the second member of each pair changes; the first stays as it was. The new x₀ is x₀·cos θ − x₁·sin θ.",
          breaks=SCORES, old=PAIR, new="(first, first * sin + second * cos)")
    wrong("members_swapped", "The two members of each pair come back in each other's columns: x₀·cos θ − x₁·sin θ goes into the first, column 2i.",
          breaks=NUMBERS, old=PAIR, new="(first * sin + second * cos, first * cos - second * sin)")
    wrong("multiplies_by_waves", "You multiply x by sines and cosines, entry by entry. Each pair has to be *turned*: both new members are made of both old ones.",
          breaks=SCORES, old=PAIR, new="(first * sin, second * cos)")
    wrong("only_cosines", "You only multiply by cos θ. A turned pair needs both old members: x₀·cos θ − x₁·sin θ and x₀·sin θ + x₁·cos θ.",
          breaks=SCORES, old=PAIR, new="(first * cos, second * cos)")
    wrong("both_minus", "There is a minus in both lines. The new x₁ is x₀·sin θ **+** x₁·cos θ.",
          breaks=SCORES, old="first * sin + second * cos)", new="first * sin - second * cos)")
    wrong("2i_twice", "Your exponent is twice too large, 4i/K where the formula has 2i/K: `torch.arange(0, K, 2)` already is 2i.",
          breaks=NUMBERS, old="device=x.device) / width", new="device=x.device) * 2 / width")
    wrong("multiplies", "Your exponent has the wrong sign: pair i turns by t·base^(−2i/K), slower from pair to pair.",
          breaks=NUMBERS, old="exponents = -torch", new="exponents = torch")
    wrong("floor_division", "Your exponent is a whole number: 0 for the first pair and −1 for all others, which all turn by t/base. `//` rounds down; divide by `/`.",
          breaks=NUMBERS, old="device=x.device) / width", new="device=x.device) // width")
    wrong("reaches_the_base", "Your last pair turns by exactly t/base: the exponent is 2i/(K − 2). Wanted is 2i/K.",
          breaks=NUMBERS, old="device=x.device) / width", new="device=x.device) / max(width - 2, 1)")


    @MISTAKES.mistake("Angles and partners don't belong together: neighbors (2i, 2i + 1) are partners, but column j is turned by the angle of pair j mod K/2, as it would be for partners half a width apart. Repeat each angle twice in a row (`repeat_interleave(2)`, not `cat`).", breaks=SCORES)
    def apply_rotary__angles_tiled(x, positions, base=10000.0):
        if x.size(-1) % 2:
            raise ValueError("K must be even")
        theta = positions[:, None] * base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
        theta = torch.cat((theta, theta), dim=-1)
        partner = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(start_dim=-2)
        return x * theta.cos() + partner * theta.sin()


    wrong("checks_tokens", "Your test for an odd width looks at the wrong axis, the number of tokens: texts of odd length are refused. The width K is the last axis, `x.size(-1)`.",
          breaks=("shape", *SCORES, "refusal"), old="if width % 2:", new="if x.size(-2) % 2:")
    wrong("squeezed", "An axis of size 1 is gone, with one sentence, one head or one token: `squeeze` takes them all. The result has the shape of x.",
          breaks=("shape", *NUMBERS), old=BACK, new="torch.stack(turned, dim=-1).flatten(start_dim=-2).squeeze()")


@MISTAKES.of_quiz("quiz_positions", quiz_positions)
def in_quiz_positions(wrong):
    wrong("words shuffled, no positions", "the same vectors, unmoved",
                 "that would be *invariance*: the output would not move at all. Each token takes its vector along to its new place, which is *equivariance*.")
    wrong("words shuffled, no positions", "other vectors",
                 "without positions a token sees the same set of keys and values wherever it stands, so its vector can't change: your gap was 0.")
    wrong("nothing beyond its table", "sinusoidal encoding",
                 "the sinusoids are a formula: there is a row for any position, though nobody has trained with those far out.")
    wrong("nothing beyond its table", "clipped relative bias",
                 "clipping is what saves it: every larger distance uses the outermost entry, so any length works.")
    wrong("rotary turns", "token embeddings",
                 "those stay without positions; rotary acts inside every attention layer, after the projections.")
    wrong("rotary turns", "queries, keys and values",
                 "values stay as they are: positions should decide *where* a token looks, not what it takes from there.")
    wrong("a relative bias is added to", "the token vectors",
                 "it is one number for each pair of places, and pairs first meet in the scores.")
    wrong("a relative bias is added to", "the weights after softmax",
                 "then the weights of a row would no longer sum to one; it is added to the scores, before the softmax.")
