"""Wrong answers to the exercises of 00-start-here."""

from __future__ import annotations

from anatomy.course.nb00_start_here import right
from anatomy.engine.families import squeezed
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

ALL = ("shape", "values", "gradients")
NUMBERS = ("values", "gradients")

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.


@MISTAKES.of(right.pairwise_dot)
def in_pairwise_dot(at):
    PRODUCT = "x @ x.transpose(-2, -1)  # (B, T, D) @ (B, D, T) -> (B, T, T)"
    TURNED = "x.transpose(-2, -1)  # (B, T, D) @ (B, D, T) -> (B, T, T)"
    at(TURNED, ALL,
       ("not_transposed", "x", "`x @ x` puts rows against columns: a row of the left x has D = {D} numbers, a column of the right x has T = {T}, and the two cannot be multiplied. You want rows against rows, so the right x has to be turned on its side first: ({B}, {T}, {D}) times ({B}, {D}, {T})."),
       ("all_axes_turned", "x.permute(2, 1, 0)", "`x.T` turns *all* axes around: ({B}, {T}, {D}) becomes ({D}, {T}, {B}), with the batch at the end. Only the last two axes must trade places; the batch stays in front: `x.transpose(-2, -1)`."),
       ("batch_and_rows", "x.transpose(0, 1)", "`transpose(0, 1)` swaps batch and rows: ({B}, {T}, {D}) becomes ({T}, {B}, {D}). The batch stays where it is; it is rows and columns that trade places, `transpose(1, 2)`."),
       ("t_for_matrices", "x.t()", "`t()` turns a single matrix, with two axes; `x` has three, because the sentences come in a batch. `x.transpose(-2, -1)` turns every matrix of the batch."),
       ("transpose_of_what", "x.transpose()", "`transpose` needs to be told which two axes trade places (NumPy's does not): here the last two, `x.transpose(-2, -1)`."),
       ("against_the_first_item", "x[0].T  # (B, T, D) @ (D, T) -> (B, T, T)", "All sentences are compared with the first one: `x[0]` is on one side for all of them. Each sentence must be compared with itself.", NUMBERS))
    # other pairs
    # the batch
    at(PRODUCT, ALL,
       ("all_axes_turned_on_the_left", "x.permute(2, 1, 0) @ x", "`x.T` turns *all* axes around, ({B}, {T}, {D}) into ({D}, {T}, {B}), and it is on the left, where the rows belong. Keep `x` on the left, and on the right let only the last two axes trade places: `x.transpose(-2, -1)`."),
       ("mm_for_batches", "torch.mm(x, x.transpose(-2, -1))", "`torch.mm` multiplies single matrices; `x` is a batch of {B}. `@` (or `torch.bmm`) takes the whole batch at once."),
       ("dot_of_everything", "torch.dot(x, x)", "`torch.dot` takes two single rows; `x` holds {B} sentences of {T} rows. All dot products at once are a matrix product."),
       ("star_for_at", "x * x.transpose(-2, -1)", "`*` multiplies entry by entry and needs two tensors of one shape; ({B}, {T}, {D}) and ({B}, {D}, {T}) are not. You have turned the right x on its side as it should be: what is missing is the matrix product, `@`."),
       ("einsum_one_letter", 'torch.einsum("btd,btd->btt", x, x)', "In `einsum` one letter means one axis, and both your rows are called t. The row on the left and the row on the right run separately, so give the second one a letter of its own."),
       ("columns", "x.transpose(-2, -1) @ x", "You multiply *columns* with each other: the transposed x is on the left, and what comes out is ({B}, {D}, {D}), summed over the {T} rows. Rows with rows is the other way round, x times its transpose: ({B}, {T}, {T})."),
       ("only_the_diagonal", "(x * x).sum(dim=-1)", "This is only the diagonal: each row meets itself, {T} numbers a sentence. Every row must meet *every* row, {T} × {T} numbers: a matrix product, not an entry-by-entry one."),
       ("squares", "x * x", "`x * x` multiplies entry by entry: these are squares, still ({B}, {T}, {D}). A dot product multiplies the entries of *two* rows and adds the products up; for all pairs of rows at once that is a matrix product."),
       ("not_summed", "x.unsqueeze(2) * x.unsqueeze(1)", "The products are all there, but not added up: the axis of the D = {D} columns is still in your result. A dot product is the *sum* over it."),
       ("neighbors", "(x[:, :-1] * x[:, 1:]).sum(dim=-1)", "Each row meets only the next one. Every row must meet every row of its sentence: neighbors, strangers and itself."),
       ("all_but_the_diagonal_zero", "torch.diag_embed((x * x).sum(dim=-1))  # (B, T, T)", "Only your diagonal is filled: each row meets itself and nobody else. The table has the right shape; its other entries are dot products too, of row i with row j.", NUMBERS),
       ("diagonal_zeroed", "(x @ x.transpose(-2, -1)) * (1 - torch.eye(x.size(1)))  # (B, T, T)", "Your diagonal is zero: a row's dot product with itself is left out. It should count too; it is the square of the row's length.", NUMBERS),
       ("sums_first", "x.sum(dim=-1).unsqueeze(2) * x.sum(dim=-1).unsqueeze(1)  # (B, T, 1) * (B, 1, T)", "You add each row up first and multiply the sums. A dot product multiplies entry with entry first, and adds up last.", NUMBERS),
       ("batch_flattened", "x.flatten(0, 1) @ x.flatten(0, 1).T", "Flattened together, the {B} sentences meet each other: one big table with B·T rows and as many columns. Each sentence must have a table of its own, ({B}, {T}, {T})."),
       ("flattened_and_cut", "(x.flatten(0, 1) @ x.flatten(0, 1).T).unflatten(0, x.shape[:2])", "Each sentence has a table with B·T columns: its rows meet the rows of all {B} sentences. Flattening `x` has mixed them, and cutting the result apart again does not undo that. Keep the batch axis: {T} columns are needed."),
       ("all_across_the_batch", "torch.inner(x, x)", "Every sentence meets every sentence: your result has shape ({B}, {T}, {B}, {T}). A row must meet the rows of its own sentence only, so the batch appears once."),
       ("summed_over_batch", 'torch.einsum("btd,bsd->ts", x, x)', "You add up over the batch: one ({T}, {T}) table is left of {B}. Each sentence keeps its own; `b` must stay in the result."),
       ("only_the_first_item", "x[0] @ x[0].T", "Only the first sentence is there, ({T}, {T}). `x` holds {B} of them, and each must have its table."),
       ("first_item_repeated", "(x[0] @ x[0].T).expand(x.size(0), -1, -1)", "You give every sentence the table of the first one: `x[0]`, repeated. Each of the {B} has rows of its own.", NUMBERS),
       ("mean_for_sum", "(x.unsqueeze(2) * x.unsqueeze(1)).mean(dim=-1)", "You take the mean of the products where a dot product takes their sum: every number is D = {D} times too small.", NUMBERS),
       ("distances", "torch.cdist(x, x)", "These are distances: zero between a row and itself, and larger the *less* two rows have in common. A dot product grows the more they point the same way.", NUMBERS),
       ("squared_distances", "(x.unsqueeze(2) - x.unsqueeze(1)).square().sum(dim=-1)", "These are squared distances: zero between a row and itself. Multiply the entries of the two rows instead of subtracting them, then add up.", NUMBERS))
    at("x @ x.transpose(-2, -1)", NUMBERS,
       ("upper_triangle", "(x @ x.transpose(-2, -1)).triu()", "Each pair is there once, the rest is zero: you fill only one triangle of the table. Entry [i, j] equals entry [j, i], and both are needed."),
       ("lower_triangle", "(x @ x.transpose(-2, -1)).tril()", "Each pair is there once, the rest is zero: you fill only the lower triangle of the table. (That is how a decoder will look, in 09.) Here entry [i, j] equals entry [j, i], and both are needed."),
       ("only_earlier_rows", "(x @ x.transpose(-2, -1)).tril(-1)", "Each pair is there once, the rest is zero, and so is the diagonal: your loop ends before row i, as `range(i)` does. Every i must meet every j: the rows before it, itself, and the rows after it."),
       ("last_row_left_out", "F.pad((x @ x.transpose(-2, -1))[:, :-1, :-1], (0, 1, 0, 1))", "The last row of each sentence meets nobody: your last row and column are zero. `range(T)` already ends before T, at the row T − 1."),
       ("first_row_left_out", "F.pad((x @ x.transpose(-2, -1))[:, 1:, 1:], (1, 0, 1, 0))", "The first row of each sentence meets nobody: your first row and column are zero. Rows are counted from 0."),
       ("only_later_rows", "(x @ x.transpose(-2, -1)).triu(1)", "Each pair is there once, the rest is zero, and so is the diagonal: your loop begins at the row *after* i. Every i must meet every j: the rows before it, itself, and the rows after it."),
       ("softmax_already", "(x @ x.transpose(-2, -1)).softmax(dim=-1)", "You take a softmax as well, and each row sums to one. That comes in 03; here the plain dot products are needed, negative ones included."),
       ("signs_dropped", "(x @ x.transpose(-2, -1)).abs()", "You drop the signs: all your numbers are positive. A negative dot product says that two rows point away from each other, and that is worth knowing."))
    at("x.transpose(-2, -1)", NUMBERS, ("reshape_for_transpose", "x.reshape(x.size(0), x.size(2), x.size(1))", "The right shape with numbers in the wrong positions: `reshape` (or `view`) keeps the order in memory and only cuts it into other rows. To make two axes trade places, use `transpose(-2, -1)`."))
    # other measures
    at("return ", NUMBERS,
       ("cosine", "x = x / x.norm(dim=-1, keepdim=True)\n    return ", "These are cosines: the lengths of the rows are divided out, and your diagonal is all ones. In a dot product the lengths count."),
       ("rows_centered", "x = x - x.mean(dim=-1, keepdim=True)\n    return ", "You subtract each row's mean first, as for a covariance. A dot product takes the numbers as they are."),
       ("detached", "with torch.no_grad():\n        return ", "The numbers are right, but they are cut off from where they came from: no gradient gets back to x. `detach`, `.item()`, `.data`, NumPy and `torch.no_grad` all cut; a network could not learn through this. Compute with the tensors themselves.", "gradients"))
    at("return x", NUMBERS, ("divided_by_root_d", "return x / math.sqrt(x.size(-1))", "You divide by √D = {root_D} already. You have read ahead: that comes in 02, with the reason for it. Here the plain dot product is needed."))
    squeezed(at, ALL, "is (B, T, T), also for one sentence or one row")


@MISTAKES.of_quiz("quiz_types", right.quiz_types)
def in_quiz_types(wrong):
    wrong("noun or verb", "decoder",
                 "a decoder would have to tag *flies* before it has seen *like an arrow*. To tag a sentence that is all there, take the type in which every token reads both sides.")
    wrong("noun or verb", "encoder-decoder",
                 "it could be made to *write* the tags as a second text, but no second text is needed here: one decision per token, from the token's own vector. One half of it is enough; which?")
    wrong("continue a story", "encoder",
                 "an encoder reads a text that is all there, and every token may look to its right. In a story that is still to be written, there is nothing on the right yet.")
    wrong("continue a story", "encoder-decoder",
                 "it would work, with the beginning as source and the rest as target; but there is only *one* text that grows. The type made for exactly that has a single stack, which reads to its left.")
    wrong("translate", "encoder",
                 "an encoder gives one vector per token of the source and stops there; the translation, of another length and in another order, still has to be written.")
    wrong("translate", "decoder",
                 "large decoders do translate, source and target in one row. But the type *made* for two texts reads the source in both directions and writes the target from left to right: it was built for translation in 2017.")
    wrong("never looks right", "encoder",
                 "it is the other way round: in an encoder every token reads every token, on both sides.")
    wrong("never looks right", "encoder-decoder",
                 "only half of it: its target is written from left to right, but the tokens of its source read both sides. In which type does *no* token look right?")
    wrong("bridge", "encoder",
                 "an encoder has one text and attends within it. A bridge needs two banks: cross-attention leads from the text that is being written to another one that is being read.")
    wrong("bridge", "decoder",
                 "a decoder alone has one text and attends within it, to the left. A bridge needs two banks: look for the type that reads one text and writes another.")
    wrong("find similar texts", "decoder",
                 "nothing is written here. Both texts are all there, so let every token read both sides, and compare what comes out.")
    wrong("find similar texts", "encoder-decoder",
                 "a vector is needed, not a second text: the decoder half would have nothing to do. Which half is left?")
