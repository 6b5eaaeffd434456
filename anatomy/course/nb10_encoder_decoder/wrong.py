"""Wrong answers to the exercises of 10-encoder-decoder."""

from __future__ import annotations

from anatomy.course.nb10_encoder_decoder.right import (
    CrossAttention,
    Transformer,
    TransformerDecoderLayer,
    beam_search,
    decoder_mask,
    greedy_decode,
    quiz_encoder_decoder,
    shift_right,
    teacher_forcing_loss,
)
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.


def in_every_class(wrong: MistakesIn, breaks: tuple[str, ...]) -> None:
    """What goes wrong at the start of any class."""
    wrong("init_misspelled", "Your class can't be made with `config`: its constructor is called `__init__`, with two underscores on each side, and takes `self` and `config`.",
          breaks=breaks, old="def __init__(", new="def _init_(")
    wrong("no_super", "`super().__init__()` comes first in `__init__`: before it PyTorch can't keep track of layers and parameters.",
          breaks=breaks, old="super().__init__()\n", new="pass\n")

SHAPE_TOO = ("shape", "values")


@MISTAKES.of(shift_right)
def in_shift_right(wrong):
    SHIFTED = "torch.cat([start, target[:, :-1]], dim=1)"
    wrong("not_shifted", "Nothing is shifted: you return the target as it is, so at each place the decoder is fed the very token that it is to write there. Put the start token first, then all of the target but its last.",
          breaks="values", old=SHIFTED, new="torch.cat([start, target], dim=1)[:, 1:]")
    wrong("last_kept", "The last token is still there, so your result is one place too long. It has as many places as the target: start token, then all of the target but its last.",
          breaks=SHAPE_TOO, old="target[:, :-1]", new="target")
    wrong("no_start", "There is no start token: your result is the target without its last, one place too short. Put `start_id` in front.",
          breaks=SHAPE_TOO, old=SHIFTED, new="target[:, :-1]")
    wrong("first_dropped_no_start", "You drop the first token and put nothing in: one place is missing, and what is left has moved to the left. Drop the last one, and put `start_id` in front.",
          breaks=SHAPE_TOO, old=SHIFTED, new="target[:, 1:]")
    wrong("to_the_left", "You shift the wrong way, to the left: at each place stands the token that comes *after* the one to be written. To the right: the start token first, then all of the target but its last.",
          breaks="values", old=SHIFTED, new="torch.cat([target[:, 1:], start], dim=1)")
    wrong("left_last_repeated", "You shift to the left, and the last token stands there twice. To the right: the start token first, then all of the target but its last.",
          breaks="values", old=SHIFTED, new="torch.cat([target[:, 1:], target[:, -1:]], dim=1)")
    wrong("rolled_left", "You shift to the left, and the first token comes round to the end (`torch.roll` by −1). To the right: the start token first, then all of the target but its last.",
          breaks="values", old=SHIFTED, new="target.roll(-1, dims=1)")
    wrong("start_replaces_the_first", "The start token takes the place of the first token, and the others stay where they were. All of them move one place to the right; it is the last one that goes.",
          breaks="values", old="target[:, :-1]", new="target[:, 1:]")
    wrong("start_in_place", "You write the start token over the first one in `target` itself, and whoever called you still needs the target: it is what the model is to write. The others have not moved, either. Make a new tensor: start token, then all but the last.",
          breaks="values", old=f"return {SHIFTED}", new="target[:, 0] = start_id\n    return target")
    wrong("shifted_in_place", "You shift inside `target` itself, and whoever called you still needs it: it is what the model is to write. Make a new tensor (`torch.cat`, or `torch.empty_like`).",
          breaks="values", old=f"return {SHIFTED}", new="target[:, 1:] = target[:, :-1].clone()\n    target[:, 0] = start_id\n    return target")
    wrong("rolled", "The last token comes round to the front (`torch.roll` does that). The start token belongs there.",
          breaks="values", old=SHIFTED, new="target.roll(1, dims=1)")
    wrong("rolled_over_rows", "You roll over the whole batch: the last token of a row lands at the beginning of the next one. Roll along dim 1 only, and put the start token into the first place of each row.",
          breaks="values", old=SHIFTED, new="target.roll(1)")
    wrong("rows_run_on", "Your shift runs over the ends of the rows: the first row gets the start token, and each later one the last token of the row above. Every row is a sequence of its own and has its start token.",
          breaks="values", old=SHIFTED, new="torch.cat([start.flatten()[:1], target.flatten()[:-1]]).reshape(target.shape)")
    wrong("rows_shifted", "You shift the rows: the batch has moved down by one, and each sequence is as it was. It is the places within a row that move: dim 1.",
          breaks="values", old=SHIFTED, new="torch.cat([torch.full_like(target[:1], start_id), target[:-1]], dim=0)")
    wrong("rows_rolled", "You roll the rows (dim 0), so each target stands in another row of the batch, and write the start token over its first token. It is the places within a row that move: dim 1.",
          breaks="values", old=f"return {SHIFTED}", new="shifted = target.roll(1, dims=0)\n    shifted[:, 0] = start_id\n    return shifted")
    wrong("rows_rolled_no_start", "You roll the rows (dim 0): each target stands in another row of the batch, as it was. It is the places within a row that move, dim 1, and the start token comes first.",
          breaks="values", old=SHIFTED, new="target.roll(1, dims=0)")
    wrong("start_at_the_end", "The start token stands at the end, where the last token was, and nothing has moved. It comes first, and pushes all others one place to the right.",
          breaks="values", old="[start, target[:, :-1]]", new="[target[:, :-1], start]")
    wrong("start_behind_all", "The start token stands behind the target, and your result is one place too long. It comes first, and the last token goes.",
          breaks=SHAPE_TOO, old="[start, target[:, :-1]]", new="[target, start]")
    wrong("by_two", "You shift by two places. By one: at place t stands token t − 1.",
          breaks="values", old=SHIFTED, new="torch.cat([start, start, target[:, :-2]], dim=1)[:, : target.size(1)]")
    wrong("first_repeated", "In front stands the target's own first token, a second time. The start token belongs there: `start_id`.",
          breaks="values", old="torch.full_like(target[:, :1], start_id)", new="target[:, :1]")
    for number in (0, 1):
        wrong(f"start_is_{number}", f"You always put {number} in front, whatever `start_id` says.",
              breaks="values", old="target[:, :1], start_id", new=f"target[:, :1], {number}")
    wrong("start_in_the_first_row_only", "Only the first row gets the start token. Every row is a sequence of its own and has its start token.",
          breaks="values", old=f"return {SHIFTED}", new="shifted = target.roll(1, dims=1)\n    shifted[0, 0] = start_id\n    return shifted")
    wrong("start_in_the_last_row_only", "Only the last row gets the start token. Every row is a sequence of its own and has its start token.",
          breaks="values", old=f"return {SHIFTED}", new="shifted = target.roll(1, dims=1)\n    shifted[-1, 0] = start_id\n    return shifted")
    for number, base in enumerate(("target.clone()", "torch.zeros_like(target)")):
        begun = f"shifted = {base}\n    shifted[:, 1:] = target[:, :-1]\n"
        wrong(f"start_in_the_first_row_only_{number}", "Only the first row gets the start token: `[0, 0]` is one place of one row. Every row has its start token: `[:, 0]`.",
              breaks="values", old=f"return {SHIFTED}", new=f"{begun}    shifted[0, 0] = start_id\n    return shifted")
        wrong(f"first_row_filled_{number}", "You fill the whole first row with the start token: `[0]` is a row. It is the first *place* of every row: `[:, 0]`.",
              breaks="values", old=f"return {SHIFTED}", new=f"{begun}    shifted[0] = start_id\n    return shifted")
    wrong("first_row_filled", "You fill the whole first row with the start token: `[0]` is a row. It is the first *place* of every row: `[:, 0]`.",
          breaks="values", old=f"return {SHIFTED}", new="shifted = target.roll(1, dims=1)\n    shifted[0] = start_id\n    return shifted")
    wrong("smeared", "Behind the start token stands the target's first token, again and again. In a loop this comes of overwriting tokens before they are copied: copy from `target`, not from the tensor that you write into.",
          breaks="values", old=f"return {SHIFTED}", new="shifted = target.clone()\n    for place in range(1, target.size(1)):\n        shifted[:, place] = shifted[:, place - 1]\n    shifted[:, 0] = start_id\n    return shifted")
    wrong("two_dropped", "You drop the last *two* tokens, so your result is one place too short. Only the last one goes.",
          breaks=SHAPE_TOO, old="target[:, :-1]", new="target[:, :-2]")
    wrong("first_and_last_dropped", "You drop the first token and the last one, so your result is one place too short. Only the last one goes.",
          breaks=SHAPE_TOO, old="target[:, :-1]", new="target[:, 1:-1]")
    wrong("floats", "Your token ids have become floats (`torch.ones` and `torch.full` with a float, or `torch.zeros`, make them). Ids are whole numbers: `torch.full_like(target[:, :1], start_id)`.",
          breaks="shape", old=SHIFTED, new="torch.cat([start.float(), target[:, :-1]], dim=1)")
    wrong("one_start_for_all", "Your start token has the shape (1, 1), and there are {B} rows: `torch.cat` does not repeat it. Make it (B, 1).",
          breaks=SHAPE_TOO, old="torch.full_like(target[:, :1], start_id)", new="torch.tensor([[start_id]])")
    wrong("start_without_axis", "Your start tokens have the shape (B,), one axis fewer than the target, and can't be put beside it. Make it (B, 1).",
          breaks=SHAPE_TOO, old="target[:, :1], start", new="target[:, 0], start")
    wrong("put_above", "You put the start tokens *above* the target (dim 0), where the shapes don't fit. They stand beside it: dim 1.",
          breaks=SHAPE_TOO, old="dim=1", new="dim=0")
    wrong("start_not_a_tensor", "`torch.cat` takes tensors, and `start_id` is a plain number. Make a tensor (B, 1) of it: `torch.full_like(target[:, :1], start_id)`.",
          breaks=SHAPE_TOO, old="[start, target", new="[start_id, target")
    wrong("reversed", "Your tokens stand in reverse order behind the start token. They keep their order, and each moves one place to the right.",
          breaks="values", old="target[:, :-1]]", new="target[:, 1:].flip(1)]")
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of the target.",
          breaks=SHAPE_TOO, old=SHIFTED, new=f"{SHIFTED}.squeeze()")
    wrong("as_a_list", "You return a list. A tensor (B, T) is wanted, as the decoder takes it.",
          breaks="shape", old=SHIFTED, new=f"{SHIFTED}.tolist()")


@MISTAKES.of(decoder_mask)
def in_decoder_mask(wrong):
    REAL, CAUSAL = "(target != pad_id)[:, None, None, :]", "causal_mask(target.size(1)).to(target.device)"
    BOTH = f"real & {CAUSAL}"
    wrong("causal_only", "Your mask hides what comes later, but not the padding: `target` and `pad_id` say which keys are no tokens at all. Both conditions must hold.",
          breaks="values", old=BOTH, new=f"{CAUSAL}.expand(target.size(0), 1, -1, -1)")
    wrong("padding_only", "Your mask hides padding, but not what comes later: each token sees the ones that it is to write. Both conditions must hold.",
          breaks="values", old=BOTH, new="real.expand(-1, 1, target.size(1), -1)")
    wrong("or", "A key may be looked at when it is real *and* does not come later. Yours lets a query look where one of the two holds (`|`, or a sum of truth values): `&`.",
          breaks="values", old="real &", new="real |")
    wrong("either_but_not_both", "Yours lets a query look where exactly one of the two conditions holds (`^` is “either, but not both”). Both must hold: `&`.",
          breaks="values", old="real &", new="real ^")
    wrong("turned_round", "Your mask is the wrong way round: it hides what may be looked at, and shows the rest. True (or 0, where numbers are to be added) belongs where a query *may* look.",
          breaks="values", old=BOTH, new=f"~({BOTH})")
    wrong("sees_the_future", "Your triangle is the wrong way round: each token sees itself and what comes *later*. Query t may look at keys 0 … t, so True is on and below the diagonal (`tril`).",
          breaks="values", old=CAUSAL, new="causal_mask(target.size(1)).T")
    wrong("not_itself", "A token can't look at itself in yours: the diagonal is missing (`diagonal=-1`, or `<` for `<=`). The first token then sees nothing at all.",
          breaks="values", old=CAUSAL, new="causal_mask(target.size(1)).tril(-1)")
    wrong("one_ahead", "Each token also sees the next one in yours (`diagonal=1`): that is the one to be written. On and below the diagonal, not above.",
          breaks="values", old=CAUSAL, new="torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril(1)")
    wrong("only_later_ones", "You let each token look at later ones only, not even at itself. Query t may look at keys 0 … t: on and below the diagonal.",
          breaks="values", old=CAUSAL, new="~causal_mask(target.size(1))")
    wrong("padding_instead", "Your condition for padding is turned round: padding may be looked at and real tokens may not. Real is what is *not* `pad_id`.",
          breaks="values", old="target != pad_id", new="target == pad_id")
    wrong("pad_is_0", "You take 0 for padding, whatever `pad_id` says: here a real token has the id 0.",
          breaks="values", old="target != pad_id", new="target != 0")
    wrong("larger_than_pad", "You take every id that is not above `pad_id` for padding. Padding is that one id; smaller ids can be real tokens.",
          breaks="values", old="target != pad_id", new="target > pad_id")
    wrong("queries", "The rows of padding are empty in your mask: such a query may look at nothing, and its softmax has nothing to sum. What must be hidden are *keys*, the columns, (B, 1, 1, T); what a padding token itself looks at harms nobody.",
          breaks="values", old="[:, None, None, :]", new="[:, None, :, None]")
    wrong("always_itself", "In yours every token may look at itself, padding, too. A key that is padding is hidden from every query, its own included: a real token stands before it, so no row is left empty.",
          breaks="values", old=BOTH, new=f"{BOTH} | torch.eye(target.size(1), dtype=torch.bool)")
    wrong("transposed", "Your mask is transposed: queries are rows and keys are columns, so entry [t, s] says whether token t may look at token s.",
          breaks="values", old=BOTH, new=f"({BOTH}).transpose(-1, -2)")
    wrong("no_axis_for_heads", "The heads' axis is missing: your (B, T, T) would meet (B, H, T, T) from the right, and the batch would be taken for the heads. It takes (B, 1, T, T).",
          breaks=SHAPE_TOO, old="[:, None, None, :]", new="[:, None, :]")
    wrong("batch_as_heads", "Your mask is (1, B, T, T): the batch stands where the heads are. B comes first: (B, 1, T, T).",
          breaks=SHAPE_TOO, old="[:, None, None, :]", new="[None, :, None, :]")
    wrong("no_new_axes", "`target != pad_id` still has the shape (B, T), and its rows are taken for the triangle's: they don't fit, or mean something else. It takes two new axes: `[:, None, None, :]`.",
          breaks=SHAPE_TOO, old="[:, None, None, :]", new="")
    wrong("first_for_all", "Every row of the batch gets the first one's padding. Each target has a length of its own.",
          breaks="values", old="real &", new="real[:1].expand_as(real) &")
    wrong("padding_of_any", "You hide a place in all targets as soon as one of them has padding there. Each target has a length of its own: keep the batch's axis.",
          breaks="values", old="real &", new="real.all(dim=0, keepdim=True).expand_as(real) &")
    wrong("padding_of_all", "You hide a place only where all targets have padding there. Each target has a length of its own: keep the batch's axis.",
          breaks="values", old="real &", new="real.any(dim=0, keepdim=True).expand_as(real) &")
    wrong("whole_numbers", "Your mask holds whole numbers, and attention can't tell whether a 1 means “may look” or “add one”. Make it boolean.",
          breaks="shape", old=BOTH, new=f"({BOTH}).long()")
    wrong("floats", "Your mask holds 1.0 and 0.0. Attention *adds* numbers to the scores, so these hide nothing: make it boolean.",
          breaks="shape", old=BOTH, new=f"({BOTH}).float()")
    wrong("summed", "You add the two conditions as numbers, 0, 1 and 2. Both must hold: `&` of two boolean tensors.",
          breaks=SHAPE_TOO, old=BOTH, new=f"real.long() + {CAUSAL}.long()")
    wrong("minus_ten", "−10 is not negative enough: scores can differ by more, and then what is hidden is looked at. Make the mask boolean, or take −∞.",
          breaks=SHAPE_TOO, old=BOTH, new=f"(~({BOTH})) * -10.0")
    wrong("zero_times_infinity", "0 · (−∞) is not 0 but NaN: multiplying by −∞ spoils what may be looked at. Use `masked_fill`, `torch.where`, or a boolean mask.",
          breaks=SHAPE_TOO, old=BOTH, new=f"(~({BOTH})) * -torch.inf")
    LATER, PADDED = f"(~{CAUSAL})", "(~real)"
    for number, (later, padded) in enumerate((
        (f"{LATER} * -torch.inf", f"{PADDED} * -torch.inf"),
        (f"{LATER} * -torch.inf", f"torch.zeros(real.shape).masked_fill({PADDED}, -torch.inf)"),
        (f"torch.zeros(target.size(1), target.size(1)).masked_fill({LATER}, -torch.inf)", f"{PADDED} * -torch.inf"),
    )):
        wrong(f"zero_times_infinity_{number}", "0 · (−∞) is not 0 but NaN: multiplying by −∞ spoils what may be looked at. Use `masked_fill`, `torch.where`, or a boolean mask.",
              breaks=SHAPE_TOO, old=BOTH, new=f"{later} + {padded}")
    wrong("plus_infinity", "What is hidden has +∞ in yours, and draws all attention there. It is −∞ that is added, or a boolean mask.",
          breaks=SHAPE_TOO, old=BOTH, new=f"torch.zeros(target.size(0), 1, target.size(1), target.size(1)).masked_fill(~({BOTH}), torch.inf)")
    wrong("triangle_of_the_batch", "Your triangle is as large as the batch, `target.size(0)` = {B}. It has a row and a column for each of T tokens: `target.size(1)` = {T}.",
          breaks=SHAPE_TOO, old="target.size(1)", new="target.size(0)")
    wrong("one_too_short", "The last real token of each row is hidden together with the padding. Hidden is what is `pad_id`, and nothing else.",
          breaks="values", old=REAL, new="(torch.arange(target.size(1)) < (target != pad_id).sum(dim=1, keepdim=True) - 1)[:, None, None, :]")
    wrong("one_too_long", "The first padding token of each row can still be looked at. Hidden is all that is `pad_id`.",
          breaks="values", old=REAL, new="(torch.arange(target.size(1)) < (target != pad_id).sum(dim=1, keepdim=True) + 1)[:, None, None, :]")
    wrong("nothing_hidden", "Your mask hides nothing: every token may look at every other, later ones and padding, too.",
          breaks="values", old=BOTH, new=f"({BOTH}) | True")
    wrong("everything_hidden", "Your mask hides everything. True belongs where a query may look.",
          breaks="values", old=BOTH, new=f"({BOTH}) & False")


@MISTAKES.of(CrossAttention)
def in_CrossAttention(wrong):
    NUMBERS = ("values", "gradients", "mask")
    WITH_SHAPE = ("shape", *NUMBERS)
    BUILT = ("values", "parameters", "gradients", "mask")
    STOPS = ("shape", *BUILT)
    ATTEND = "masked_attention(query, key, value, mask)"
    BY_HAND = "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)\n        if mask is not None:\n            scores = scores.masked_fill(mask == 0, -torch.inf)\n        context = scores.softmax(dim=-1) @ value"
    def by_hand(old, new):
        assert old in BY_HAND, old
        return {"old": f"context = {ATTEND}", "new": BY_HAND.replace(old, new)}
    wrong("keys_from_the_decoder", "Your keys come from x, the decoder's own tokens, while the values come from the memory. Both keys and values come from the memory: a weight says how much of memory token s is taken. (Where S differs from T, the shapes don't fit.)",
          breaks=STOPS, old="self.k(memory)", new="self.k(x)")
    wrong("values_from_the_decoder", "Your values come from x, the decoder's own tokens, while the keys come from the memory. Keys and values both come from the memory. (Where S differs from T, the shapes don't fit.)",
          breaks=STOPS, old="self.v(memory)", new="self.v(x)")
    wrong("self_attention", "This is self-attention: queries, keys and values all come from x, and the memory is never looked at. Keys and values come from `memory`.",
          breaks=NUMBERS, old=("self.k(memory)", "self.v(memory)"), new=("self.k(x)", "self.v(x)"))
    wrong("queries_from_memory", "Everything comes from the memory, so you get one vector for each of the S source tokens. Queries come from x: one for each of T target tokens.",
          breaks=WITH_SHAPE, old="self.q(x)", new="self.q(memory)")
    wrong("roles_swapped", "The two sequences have changed places: your queries come from the memory, keys and values from x. x asks, the memory answers. (And x comes first among the arguments.)",
          breaks=WITH_SHAPE, old=("self.q(x)", "self.k(memory)", "self.v(memory)"), new=("self.q(memory)", "self.k(x)", "self.v(x)"))
    wrong("causal", "You hide later source tokens, with a triangle as in the decoder's self-attention. The source is all there before the first word is written: every query may look at all of it, unless `mask` says otherwise.",
          breaks=NUMBERS, old=ATTEND,
          new="masked_attention(query, key, value, torch.ones(x.size(1), memory.size(1)).tril().bool() & (mask if mask is not None else torch.tensor(True)))")
    wrong("causal_without_a_mask", "Without a mask you hide later source tokens (`is_causal`, or a triangle of your own). `None` means: everywhere. The source is all there before the first word is written.",
          breaks=("values", "gradients"), old=ATTEND,
          new="masked_attention(query, key, value, torch.ones(x.size(1), memory.size(1)).tril() if mask is None else mask)")
    wrong("mask_ignored", "The mask arrives and is not used, so padding of the source is looked at.",
          breaks="mask", old=ATTEND, new="masked_attention(query, key, value)")
    wrong("mask_turned_round", "You hide where the mask is True and look where it is False. True is where query t *may* look at key s.",
          breaks="mask", old=ATTEND, new="masked_attention(query, key, value, None if mask is None else ~mask)")
    wrong("mask_turned_round_in_the_library", "You hide where the mask is True and look where it is False. True is where query t *may* look at key s, for `F.scaled_dot_product_attention`, too.",
          breaks="mask", old=ATTEND, new="F.scaled_dot_product_attention(query, key, value, None if mask is None else ~mask)")
    wrong("mask_added", "You add the mask to the scores, where True counts as 1 and False as 0: nothing is hidden. Where it is False the score becomes −∞.",
          breaks="mask", **by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores + mask"))
    wrong("mask_multiplied", "Where the mask is False the score becomes 0 in yours (by multiplying with the mask; or nearly 0, as 1e-9 is), and e⁰ = 1 is no small weight. It has to become −∞.",
          breaks="mask", **by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores * mask"))
    wrong("mask_after_softmax", "You set weights to 0 after the softmax, so the others no longer sum to 1. Hide before it: the score becomes −∞.",
          breaks="mask", **by_hand(BY_HAND[BY_HAND.index("if mask"):], "weights = scores.softmax(dim=-1)\n        context = (weights if mask is None else weights * mask) @ value"))
    wrong("minus_ten", "−10 is not negative enough: padding keeps some of its attention. The score becomes −∞ (or something like −1e9).",
          breaks="mask", **by_hand("-torch.inf", "-10.0"))
    wrong("minus_hundred", "−100 is not negative enough: scores can be lower still, and then padding is looked at. The score becomes −∞ (or something like −1e9).",
          breaks="mask", **by_hand("-torch.inf", "-100.0"))
    wrong("plus_infinity", "Where the mask is False the score becomes +∞, and the softmax NaN. It has to become −∞.",
          breaks="mask", **by_hand("-torch.inf", "torch.inf"))
    wrong("zero_times_infinity", "0 · (−∞) is not 0 but NaN: a mask multiplied by −∞ spoils the scores that it should leave alone. Use `masked_fill` or `torch.where`.",
          breaks="mask", **by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores + ~mask * -torch.inf"))
    wrong("mask_turned", "You exchange the mask's last two axes. It comes as (…, T, S), or broadcasts to that: hand it on as it is.",
          breaks="mask", old=ATTEND, new="masked_attention(query, key, value, None if mask is None else mask.transpose(-2, -1))")
    wrong("mask_with_more_axes", "You give the mask new axes. It already broadcasts to (B, H, T, S): hand it on as it is.",
          breaks="mask", old=ATTEND, new="masked_attention(query, key, value, None if mask is None else mask[:, None, None])")
    wrong("mask_of_the_first", "Every row of the batch gets the first one's mask. Sources have different lengths.",
          breaks="mask", old=ATTEND, new="masked_attention(query, key, value, mask if mask is None or mask.dim() < 4 else mask[:1])")
    wrong("mask_without_default", "`forward` demands a mask. It is optional: `mask=None`, and then every query may look everywhere.",
          breaks=("shape", "values", "parameters", "gradients"), old="mask: Tensor | None = None", new="mask: Tensor | None")
    wrong("no_mask", "`forward` takes no mask. Give it a third parameter, `mask=None`.",
          breaks="mask", old=(", mask: Tensor | None = None", ATTEND), new=("", "masked_attention(query, key, value)"))
    wrong("not_scaled", "The scores are not divided by √K, the root of a head's width (here √{K}).",
          breaks=NUMBERS, **by_hand(" / math.sqrt(query.size(-1))", ""))
    wrong("by_root_d", "You divide the scores by √D. Each head has K = D / H = {K} columns of its own, so it is √K.",
          breaks=NUMBERS, **by_hand("math.sqrt(query.size(-1))", "math.sqrt(x.size(-1))"))
    wrong("by_k", "You divide the scores by K (or by √K twice, as `masked_attention` does it, too); it is √K, once.",
          breaks=NUMBERS, **by_hand("math.sqrt(query.size(-1))", "query.size(-1)"))
    wrong("softmax_over_queries", "Your softmax runs over the queries: the weights of one key sum to one. Each *query* shares out its attention: over the keys, the last axis.",
          breaks=NUMBERS, **by_hand("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"))
    wrong("softmax_over_queries_finite", "Your softmax runs over the queries: the weights of one key sum to one. Each *query* shares out its attention: over the keys, the last axis.",
          breaks=NUMBERS, old=f"context = {ATTEND}", new=BY_HAND.replace("-torch.inf", "-1e9").replace("dim=-1", "dim=-2"))
    for name, hidden in (("", "-torch.inf"), ("_finite", "-1e9")):
        wrong(f"softmax_over_heads{name}", "Your softmax runs over the heads: for each query and key the heads' weights sum to one. Each head's query shares out its attention over the *keys*, the last axis.",
              breaks=NUMBERS, old=f"context = {ATTEND}", new=BY_HAND.replace("-torch.inf", hidden).replace("dim=-1", "dim=1"))
    wrong("no_softmax", "The scores are used as weights as they are: the softmax is missing.",
          breaks=NUMBERS, **by_hand("scores.softmax(dim=-1)", "scores"))
    wrong("output_not_mixed", "`output_linear` is never called: the heads' results stand side by side, and nothing mixes them.",
          breaks=NUMBERS, old="self.output_linear(merge_heads(context))", new="merge_heads(context)")
    wrong("no_output_linear", "There is no `output_linear`: the heads' results stand side by side, and nothing mixes them. It goes from D to D, with bias.",
          breaks=BUILT, old=("        self.output_linear = nn.Linear(width, width)\n", "self.output_linear(merge_heads(context))"), new=("", "merge_heads(context)"))
    wrong("one_head", "You use a single head. `config.num_attention_heads` is {H}: split queries, keys and values.",
          breaks=NUMBERS, old="self.num_heads = config.num_attention_heads", new="self.num_heads = 1")
    for number, hidden in enumerate(("mask if mask is None or mask.dim() < 4 else mask[:, 0]", "mask", "mask if mask is None else mask.squeeze(1)")):
        wrong(f"not_split_{number}", "Nothing is split into heads: each of the {H} heads has K = {K} columns of its own, and weights of its own. `split_heads` before attention, `merge_heads` after it.",
              breaks=NUMBERS, old=f"context = {ATTEND}  # (B, H, T, K)\n        return self.output_linear(merge_heads(context))",
              new=f"return self.output_linear(masked_attention(self.q(x), self.k(memory), self.v(memory), {hidden}))")
    wrong("q_and_k_swapped", "`q` and `k` have changed places: the layer `q` makes queries of x, the layer `k` makes keys of the memory.",
          breaks=NUMBERS, old=("self.q(x)", "self.k(memory)"), new=("self.k(x)", "self.q(memory)"))
    wrong("k_and_v_swapped", "`k` and `v` have changed places: the layer `k` makes keys of the memory, the layer `v` its values.",
          breaks=NUMBERS, old=("self.k(memory)", "self.v(memory)"), new=("self.v(memory)", "self.k(memory)"))
    wrong("values_are_keys", "Your values are the keys: `v` is never used. Keys say what a token answers to, values what is handed over.",
          breaks=NUMBERS, old="self.v(memory)", new="self.k(memory)")
    wrong("values_not_projected", "Your values are the memory as it is: `v` is never used.",
          breaks=NUMBERS, old="self.v(memory)", new="memory")
    wrong("keys_not_projected", "Your keys are the memory as it is: `k` is never used.",
          breaks=NUMBERS, old="self.k(memory)", new="memory")
    wrong("queries_not_projected", "Your queries are x as it is: `q` is never used.",
          breaks=NUMBERS, old="self.q(x)", new="x")
    wrong("queries_by_k", "Your queries are made by `k`, the layer for keys, and `q` is never used.",
          breaks=NUMBERS, old="self.q(x)", new="self.k(x)")
    wrong("keys_by_q", "Your keys are made by `q`, the layer for queries, and `k` is never used.",
          breaks=NUMBERS, old="self.k(memory)", new="self.q(memory)")
    wrong("skip_inside", "You add x to the result. The skip connection belongs to the layer around this one.",
          breaks=NUMBERS, old="return self.output_linear(merge_heads(context))", new="return x + self.output_linear(merge_heads(context))")
    wrong("context_added", "Queries are added to what attention returns. The result is a mixture of values, and nothing else.",
          breaks=NUMBERS, old="merge_heads(context)", new="merge_heads(context + query)")
    wrong("memory_detached", "No gradient gets back to the memory: `detach` (or `no_grad`) cuts it, and the encoder would never learn.",
          breaks="gradients", old=("self.k(memory)", "self.v(memory)"), new=("self.k(memory.detach())", "self.v(memory.detach())"))
    wrong("no_bias", "Your four linear layers have no bias; they have one each, as in notebook 04.",
          breaks=BUILT, old="nn.Linear(width, width)", new="nn.Linear(width, width, bias=False)", times=4)
    wrong("no_bias_in_qkv", "`q`, `k` and `v` have no bias; all four linear layers have one.",
          breaks=BUILT, old=("self.q = nn.Linear(width, width)", "self.k = nn.Linear(width, width)", "self.v = nn.Linear(width, width)"),
          new=("self.q = nn.Linear(width, width, bias=False)", "self.k = nn.Linear(width, width, bias=False)", "self.v = nn.Linear(width, width, bias=False)"))
    wrong("one_layer_for_keys_and_values", "`k` and `v` are one and the same layer under two names. Make two.",
          breaks=BUILT, old="self.v = nn.Linear(width, width)", new="self.v = self.k")
    wrong("one_layer_for_queries_and_keys", "`q` and `k` are one and the same layer under two names. Make two.",
          breaks=BUILT, old="self.k = nn.Linear(width, width)", new="self.k = self.q")
    for q, k, v in (("query", "key", "value"), ("q_proj", "k_proj", "v_proj"), ("w_q", "w_k", "w_v"), ("q_linear", "k_linear", "v_linear"), ("wq", "wk", "wv")):
        wrong(f"called_{q}", f"Your layers are called `{q}`, `{k}` and `{v}`. They are to be called `q`, `k` and `v`.",
              breaks=BUILT, old=("self.q = ", "self.k = ", "self.v = ", "self.q(", "self.k(", "self.v("),
              new=(f"self.{q} = ", f"self.{k} = ", f"self.{v} = ", f"self.{q}(", f"self.{k}(", f"self.{v}("))
    for out in ("out", "output", "out_proj", "o", "proj", "fc", "linear", "w_o"):
        wrong(f"output_called_{out}", f"Your last layer is called `{out}`. It is to be called `output_linear`.",
              breaks=BUILT, old=("self.output_linear = ", "self.output_linear("), new=(f"self.{out} = ", f"self.{out}("))
    wrong("dropout", "You drop numbers in training mode. This module has no dropout: the layer around it drops what it returns.",
          breaks="values", old="return self.output_linear(merge_heads(context))", new="return F.dropout(self.output_linear(merge_heads(context)), 0.1, self.training)")
    wrong("returns_weights", "You return two things. The result alone is wanted, (B, T, D).",
          breaks=WITH_SHAPE, old="return self.output_linear(merge_heads(context))", new="return self.output_linear(merge_heads(context)), context")
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result is (B, T, D).",
          breaks=("shape", "values", "gradients"), old="return self.output_linear(merge_heads(context))", new="return self.output_linear(merge_heads(context)).squeeze()")
    wrong("heads_called_otherwise", "There is no `config.num_heads`: the number of heads is `config.num_attention_heads`.",
          breaks=STOPS, old="self.num_heads = config.num_attention_heads", new="self.num_heads = config.num_heads")
    wrong("last_query_only", "Only the last query's result comes out. Every target token has its own: (B, T, D).",
          breaks=WITH_SHAPE, old="return self.output_linear(merge_heads(context))", new="return self.output_linear(merge_heads(context))[:, -1:]")
    wrong("memory_of_the_first", "Every row of the batch looks at the first one's memory. Each target has a source of its own.",
          breaks=NUMBERS, old="query = split", new="memory = memory[:1].expand_as(memory)\n        query = split")
    wrong("averaged_memory", "Every target token gets the same mixture: the average of all memory tokens. The weights come from queries and keys.",
          breaks=NUMBERS, **by_hand("scores.softmax(dim=-1)", "(scores * 0).softmax(dim=-1)"))
    in_every_class(wrong, STOPS)


@MISTAKES.of(TransformerDecoderLayer)
def in_TransformerDecoderLayer(wrong):
    NUMBERS = ("values", "gradients", "masks", "eps")
    DROPOUT_TOO = ("dropout", *NUMBERS)
    BUILT = ("parameters", *DROPOUT_TOO)
    FIRST = "x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))"
    SECOND = "x = self.layer_norm_2(x + self.dropout(self.cross_attention(x, memory, memory_mask)))"
    THIRD = "return self.layer_norm_3(x + self.feed_forward(x))"
    NORM = "LayerNorm(config.hidden_size, config.layer_norm_eps)"
    SELF, CROSS = "self.dropout(self.attention(x, mask))", "self.dropout(self.cross_attention(x, memory, memory_mask))"
    wrong("pre_norm", "Your norms come before the three parts: that is pre-norm. In the model of 2017 each sum is normalized: norm(x + part(x)).",
          breaks=NUMBERS, old=(FIRST, SECOND, THIRD),
          new=("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))",
               "x = x + self.dropout(self.cross_attention(self.layer_norm_2(x), memory, memory_mask))",
               "return x + self.feed_forward(self.layer_norm_3(x))"))
    wrong("norm_inside_the_sum", "You normalize what each part returns, and add x afterwards. Post-norm normalizes the sum: norm(x + part(x)).",
          breaks=NUMBERS, old=("self.layer_norm_1(x + ", "self.layer_norm_2(x + ", "self.layer_norm_3(x + "),
          new=("x + self.layer_norm_1(", "x + self.layer_norm_2(", "x + self.layer_norm_3("))
    wrong("no_skips", "The three skip connections are missing. What is normalized is the *sum*: norm(x + part(x)).",
          breaks=DROPOUT_TOO, old="x + self", new="self", times=3)
    for number, part, call in ((1, "self-attention", SELF), (2, "cross-attention", CROSS), (3, "the feed-forward network", "self.feed_forward(x)")):
        wrong(f"no_skip_{number}", f"The skip connection around {part} is missing: norm(x + …).",
              breaks=NUMBERS if number == 1 else DROPOUT_TOO, old=f"x + {call}", new=call)
        wrong(f"no_norm_{number}", f"The sum after {part} is not normalized: `layer_norm_{number}` is never called.",
              breaks=NUMBERS, old=f"self.layer_norm_{number}(x + {call})", new=f"x + {call}")
        wrong(f"norm_{number}_inside_the_sum", f"You normalize what {part} returns, and add x afterwards. Post-norm normalizes the sum: norm(x + …).",
              breaks=NUMBERS, old=f"self.layer_norm_{number}(x + {call})", new=f"x + self.layer_norm_{number}({call})")
    wrong("no_norms", "The norms exist but are not called: each of the three sums goes through its own.",
          breaks=NUMBERS, old=(f"self.layer_norm_1(x + {SELF})", f"self.layer_norm_2(x + {CROSS})", "self.layer_norm_3(x + self.feed_forward(x))"),
          new=(f"x + {SELF}", f"x + {CROSS}", "x + self.feed_forward(x)"))
    wrong("only_the_last_norm", "There is one norm, at the end. Each of the three sums has its own: norm(x + part(x)).",
          breaks=NUMBERS, old=(f"self.layer_norm_1(x + {SELF})", f"self.layer_norm_2(x + {CROSS})"), new=(f"x + {SELF}", f"x + {CROSS}"))
    for one, two in ((1, 2), (1, 3), (2, 3)):
        wrong(f"norms_{one}_and_{two}_swapped", f"`layer_norm_{one}` and `layer_norm_{two}` have changed places: 1 comes after self-attention, 2 after cross-attention, 3 after the feed-forward network.",
              breaks=NUMBERS, old=(f"self.layer_norm_{one}(x", f"self.layer_norm_{two}(x"), new=(f"self.layer_norm_{two}(x", f"self.layer_norm_{one}(x"))
        wrong(f"norm_{one}_for_{two}", f"You use `layer_norm_{one}` where `layer_norm_{two}` belongs. Each sum has a norm of its own.",
              breaks=NUMBERS, old=f"self.layer_norm_{two}(x", new=f"self.layer_norm_{one}(x")
        wrong(f"norms_{one}_and_{two}_shared", f"`layer_norm_{one}` and `layer_norm_{two}` are one and the same module under two names. Each sum has a norm of its own.",
              breaks=("parameters", *NUMBERS), old=f"self.layer_norm_{two} = {NORM}", new=f"self.layer_norm_{two} = self.layer_norm_{one}")
    wrong("one_norm_for_all", "You use `layer_norm_1` in all three places. Each sum has a norm of its own, with its own weight and bias.",
          breaks=NUMBERS, old=("self.layer_norm_2(x", "self.layer_norm_3(x"), new=("self.layer_norm_1(x", "self.layer_norm_1(x"))
    wrong("cross_first", "Cross-attention comes before self-attention in yours. First the decoder looks at what is written, then at the source. (The norms went along: 2 before 1.)",
          breaks=NUMBERS, old=(FIRST, SECOND), new=(SECOND, FIRST))
    wrong("cross_first_norms_in_place", "Cross-attention comes before self-attention in yours. First the decoder looks at what is written, then at the source.",
          breaks=NUMBERS, old=(SELF, CROSS), new=(CROSS, SELF))
    wrong("feed_forward_before_cross", "The feed-forward network comes before cross-attention in yours (each with its norm). The order is: self-attention, cross-attention, feed-forward network.",
          breaks=NUMBERS, old=(SECOND, THIRD), new=(THIRD.replace("return", "x ="), SECOND.replace("x =", "return")))
    wrong("feed_forward_second_norms_in_place", "The feed-forward network comes before cross-attention in yours. The order is: self-attention, cross-attention, feed-forward network.",
          breaks=NUMBERS, old=(CROSS, "self.feed_forward(x)"), new=("self.feed_forward(x)", CROSS))
    wrong("feed_forward_first", "The feed-forward network comes first in yours. It comes last: self-attention, cross-attention, feed-forward network.",
          breaks=NUMBERS, old=(SELF, CROSS, "self.feed_forward(x)"), new=("self.feed_forward(x)", SELF, CROSS))
    wrong("reversed", "The order is reversed in yours: self-attention comes first, cross-attention second, the feed-forward network last.",
          breaks=NUMBERS, old=(SELF, "self.feed_forward(x)"), new=("self.feed_forward(x)", SELF))
    wrong("no_cross_attention", "Cross-attention has no effect on what you return: the decoder would write without ever looking at the source.",
          breaks=DROPOUT_TOO, old=f"        {SECOND}\n", new="")
    wrong("no_self_attention", "Self-attention has no effect on what you return: no token would know what stands before it.",
          breaks=DROPOUT_TOO, old=f"        {FIRST}\n", new="")
    wrong("no_feed_forward", "The feed-forward network has no effect on what you return.",
          breaks=DROPOUT_TOO, old=THIRD, new="return x")
    wrong("no_feed_forward_but_norm", "The feed-forward network has no effect on what you return: x itself goes through `layer_norm_3`.",
          breaks=DROPOUT_TOO, old="x + self.feed_forward(x)", new="x")
    wrong("cross_from_the_input", "Cross-attention asks with the layer's input, as if the two attentions worked side by side. They work one after the other: it asks with what `layer_norm_1` returned.",
          breaks=NUMBERS, old=(FIRST, "self.cross_attention(x"), new=("start = x\n        " + FIRST, "self.cross_attention(start"))
    wrong("second_skip_from_the_input", "Cross-attention's result is added to the layer's input. It is added to what `layer_norm_1` returned, the numbers that cross-attention asks with.",
          breaks=DROPOUT_TOO, old=(FIRST, "self.layer_norm_2(x +"), new=("start = x\n        " + FIRST, "self.layer_norm_2(start +"))
    wrong("third_skip_from_the_input", "The last sum adds the layer's input. It adds what `layer_norm_2` returned, the same numbers that the feed-forward network gets.",
          breaks=DROPOUT_TOO, old=(FIRST, "self.layer_norm_3(x +"), new=("start = x\n        " + FIRST, "self.layer_norm_3(start +"))
    wrong("third_skip_around_both", "The last sum adds what `layer_norm_1` returned. It adds what `layer_norm_2` returned, the same numbers that the feed-forward network gets.",
          breaks=DROPOUT_TOO, old=(SECOND, "self.layer_norm_3(x +"), new=("start = x\n        " + SECOND, "self.layer_norm_3(start +"))
    wrong("memory_to_self_attention", "Self-attention gets the memory. It gets x: the memory is for cross-attention.",
          breaks=BUILT, old="self.attention(x, mask)", new="self.attention(memory, mask)")
    wrong("cross_without_memory", "Your cross-attention looks at x itself: that is self-attention a second time. Hand it the memory.",
          breaks=NUMBERS, old="self.cross_attention(x, memory, memory_mask)", new="self.cross_attention(x, x, memory_mask)")
    wrong("cross_arguments_swapped", "Your cross-attention gets the memory as its first argument, so the memory asks and x answers. x comes first.",
          breaks=BUILT, old="self.cross_attention(x, memory,", new="self.cross_attention(memory, x,")
    wrong("cross_is_self_attention", "`cross_attention` is a `SelfAttention` in yours, and takes the memory for a mask. It is a `CrossAttention`.",
          breaks=BUILT, old="self.cross_attention = CrossAttention(config)", new="self.cross_attention = SelfAttention(config)")
    wrong("self_is_cross_attention", "`attention` is a `CrossAttention` in yours, whose second argument is a memory, not a mask. It is a `SelfAttention`.",
          breaks=BUILT, old="self.attention = SelfAttention(config)", new="self.attention = CrossAttention(config)")
    wrong("memory_normalized", "You normalize the memory. It comes from an encoder whose layers end with a norm of their own: hand it on as it is.",
          breaks=NUMBERS, old="self.cross_attention(x, memory,", new="self.cross_attention(x, self.layer_norm_2(memory),")
    wrong("masks_swapped", "The two masks have changed places: `mask` is for self-attention, `memory_mask` for cross-attention. (`forward` takes x, memory, mask, memory_mask, in this order.)",
          breaks="masks", old=("self.attention(x, mask)", "self.cross_attention(x, memory, memory_mask)"), new=("self.attention(x, memory_mask)", "self.cross_attention(x, memory, mask)"))
    wrong("mask_for_both", "Cross-attention gets `mask`, the one of self-attention. It has its own, `memory_mask`, which says where the *source* is padding.",
          breaks="masks", old="(x, memory, memory_mask)", new="(x, memory, mask)")
    wrong("memory_mask_for_both", "Self-attention gets `memory_mask`, the one of cross-attention. It has its own, `mask`.",
          breaks="masks", old="self.attention(x, mask)", new="self.attention(x, memory_mask)")
    wrong("mask_unused", "`mask` is not handed on to self-attention, so tokens look ahead.",
          breaks="masks", old="self.attention(x, mask)", new="self.attention(x)")
    wrong("memory_mask_unused", "`memory_mask` is not handed on to cross-attention, so the padding of the source is looked at.",
          breaks="masks", old="(x, memory, memory_mask)", new="(x, memory)")
    wrong("masks_unused", "Neither of the masks is handed on: `mask` is for self-attention, `memory_mask` for cross-attention.",
          breaks="masks", old=("self.attention(x, mask)", "(x, memory, memory_mask)"), new=("self.attention(x)", "(x, memory)"))
    wrong("mask_turned_round", "You hand on `mask` with True and False in each other's place (`~mask`). True is where a query *may* look: hand it on as it is.",
          breaks="masks", old="self.attention(x, mask)", new="self.attention(x, None if mask is None else ~mask)")
    wrong("memory_mask_turned_round", "You hand on `memory_mask` with True and False in each other's place (`~memory_mask`). True is where a query *may* look: hand it on as it is.",
          breaks="masks", old="(x, memory, memory_mask)", new="(x, memory, None if memory_mask is None else ~memory_mask)")
    wrong("no_memory_mask", "`forward` takes (x, memory, mask, memory_mask); yours takes no `memory_mask`.",
          breaks="masks", old=(", memory_mask: Tensor | None = None", "(x, memory, memory_mask)"), new=("", "(x, memory)"))
    wrong("masks_without_default", "`forward` demands masks, and is called without them where nothing is hidden: `mask=None, memory_mask=None`.",
          breaks=BUILT, old="mask: Tensor | None = None, memory_mask: Tensor | None = None", new="mask: Tensor | None, memory_mask: Tensor | None")
    wrong("always_causal", "You make a causal mask of your own. The layer uses the masks that it is handed: `None` means that every token may look everywhere.",
          breaks=("values", "gradients", "masks", "eps"), old="self.attention(x, mask)",
          new="self.attention(x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if mask is None else mask)")
    wrong("memory_detached", "No gradient gets back to the memory: `detach` (or `no_grad`) cuts it, and the encoder would never learn.",
          breaks="gradients", old="(x, memory, memory_mask)", new="(x, memory.detach(), memory_mask)")
    wrong("library_eps", "Your norms use an eps that is not the config's (`nn.LayerNorm` takes 1e-5 unless told otherwise). Hand them `config.layer_norm_eps`.",
          breaks="eps", old=f" {NORM}", new=" nn.LayerNorm(config.hidden_size)", times=3)
    wrong("own_eps", "Your norms use an eps that is not the config's. Hand them `config.layer_norm_eps`.",
          breaks="eps", old=f" {NORM}", new=" LayerNorm(config.hidden_size, 1e-12)", times=3)
    for number in (1, 2, 3):
        wrong(f"eps_of_norm_{number}", f"`layer_norm_{number}` uses an eps that is not the config's. Hand it `config.layer_norm_eps`, as you do with the other two.",
              breaks="eps", old=f"self.layer_norm_{number} = {NORM}", new=f"self.layer_norm_{number} = nn.LayerNorm(config.hidden_size)")
    for name, call in (("attention", "self.attention(x, mask)"), ("cross_attention", "self.cross_attention(x, memory, memory_mask)")):
        wrong(f"{name}_not_dropped", f"What `{name}` returns is not dropped in training mode. The feed-forward network brings its own dropout; both attentions need the layer's.",
              breaks="dropout", old=f"self.dropout({call})", new=call)
        wrong(f"{name}_dropped_twice", f"What `{name}` returns is dropped twice, so more than a share p is lost. Once is enough.",
              breaks="dropout", old=f"self.dropout({call})", new=f"self.dropout(self.dropout({call}))")
    wrong("sum_dropped", "You drop numbers of a sum, before or after its norm, so the skip connection is cut at random places. Only what an attention returns is dropped, before it is added.",
          breaks="dropout", old=f"x + {SELF}", new="self.dropout(x + self.attention(x, mask))")
    wrong("nothing_dropped", "What the two attentions return is not dropped in training mode. The feed-forward network brings its own dropout; both attentions need the layer's.",
          breaks="dropout", old=(SELF, CROSS), new=("self.attention(x, mask)", "self.cross_attention(x, memory, memory_mask)"))
    wrong("feed_forward_dropped_twice", "What the feed-forward network returns is dropped twice: the module does so itself already.",
          breaks="dropout", old="self.feed_forward(x)", new="self.dropout(self.feed_forward(x))")
    wrong("result_dropped", "You drop numbers of what the layer returns. Only what the parts return is dropped, before it is added.",
          breaks="dropout", old=THIRD, new=THIRD.replace("self.layer_norm_3", "self.dropout(self.layer_norm_3") + ")")
    wrong("dropout_always", "Dropout also acts in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` made in `__init__` knows the mode by itself.",
          breaks=DROPOUT_TOO, old=(SELF, CROSS), new=("F.dropout(self.attention(x, mask), self.dropout.p)", "F.dropout(self.cross_attention(x, memory, memory_mask), self.dropout.p)"))
    for number in (0.1, 0.2, 0.5):
        wrong(f"dropout_of_{number}", f"Your dropout uses a p of its own, {number}. Take `config.hidden_dropout_prob`.",
              breaks="dropout", old="nn.Dropout(config.hidden_dropout_prob)", new=f"nn.Dropout({number})")
    wrong("other_p", "Your dropout uses `config.attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`.",
          breaks="dropout", old="config.hidden_dropout_prob", new="config.attention_probs_dropout_prob")
    for name, called in (("attention", "self_attention"), ("attention", "self_attn"), ("cross_attention", "cross_attn"), ("cross_attention", "encoder_attention"), ("feed_forward", "ffn"), ("feed_forward", "mlp")):
        init = {"attention": "SelfAttention", "cross_attention": "CrossAttention", "feed_forward": "FeedForward"}[name]
        wrong(f"{name}_called_{called}", f"Your `{called}` is to be called `{name}`: other cells find it by that name.",
              breaks=BUILT, old=(f"self.{name} = {init}", f"self.{name}(x"), new=(f"self.{called} = {init}", f"self.{called}(x"))
    wrong("norms_called_norm_1", "Your norms are called `norm_1` to `norm_3`; they are to be called `layer_norm_1` to `layer_norm_3`.",
          breaks=("parameters", *NUMBERS), old="self.layer_norm_", new="self.norm_", times=6)
    wrong("norms_called_norm1", "Your norms are called `norm1` to `norm3`; they are to be called `layer_norm_1` to `layer_norm_3`.",
          breaks=("parameters", *NUMBERS), old="self.layer_norm_", new="self.norm", times=6)
    wrong("multiplied", "You multiply where a sum is wanted: norm(x + part(x)).",
          breaks=DROPOUT_TOO, old="x + self", new="x * self", times=3)
    wrong("squeezed", "Axes of size 1 are lost (`squeeze()` removes all of them). The result has the shape of x.",
          breaks=("values", "gradients"), old=THIRD, new=f"{THIRD}.squeeze()")
    in_every_class(wrong, BUILT)


@MISTAKES.of(Transformer)
def in_Transformer(wrong):
    NUMBERS = ("values", "gradients", "padding", "encode and decode")
    WHOLE = ("values", "gradients", "padding")  # what `forward` shows, and neither half alone
    DROPOUT_TOO = ("dropout", *NUMBERS)
    BUILT = ("parameters", *NUMBERS)
    STOPS = ("parameters", *DROPOUT_TOO)
    ENCODER = "nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))"
    DECODER = "nn.ModuleList(TransformerDecoderLayer(config) for _ in range(config.num_hidden_layers))"
    TIED = "self.lm_head.weight = self.token_embeddings.weight"
    EMBED = "vectors * math.sqrt(width) + positions"
    IN_ENCODER, IN_DECODER = "x = layer(x, mask)", "x = layer(x, memory, mask, memory_mask)"
    ENCODER_MASK, DECODER_MASK = "        mask = padding_mask(source != self.pad_id)", "mask = decoder_mask(target, self.pad_id)"
    MEMORY_MASK = "memory_mask = padding_mask(source != self.pad_id)"
    wrong("not_scaled", "The tokens' vectors are not multiplied by √D (here √{D} = {root_D}) before the positions are added. The table serves as output layer, too, and its numbers are small for that: §3.4.",
          breaks=NUMBERS, old=EMBED, new="vectors + positions")
    wrong("positions_scaled", "You multiply the positions by √D, too. Only the tokens' vectors are multiplied; the sines are added as they are.",
          breaks=NUMBERS, old=EMBED, new="(vectors + positions) * math.sqrt(width)")
    wrong("only_positions_scaled", "You multiply the positions by √D, and not the tokens' vectors. It is the other way round.",
          breaks=NUMBERS, old=EMBED, new="vectors + positions * math.sqrt(width)")
    wrong("divided", "You divide the tokens' vectors by √D; they are multiplied by it.",
          breaks=NUMBERS, old="vectors * math", new="vectors / math")
    wrong("times_d", "You multiply the tokens' vectors by D; it is the root of D.",
          breaks=NUMBERS, old="vectors * math.sqrt(width)", new="vectors * width")
    wrong("no_positions", "No positions are added, in the encoder nor in the decoder: the model can't tell one order of words from another. Add `sinusoidal_encoding`.",
          breaks=NUMBERS, old=EMBED, new="vectors * math.sqrt(width)")
    wrong("no_positions_in_the_decoder", "The decoder's tokens have no positions: they are added on both sides, once to the source and once to the target.",
          breaks=NUMBERS, old="x = self.embed(target)", new="x = self.dropout(self.token_embeddings(target) * math.sqrt(memory.size(-1)))")
    wrong("no_positions_in_the_encoder", "The source's tokens have no positions: they are added on both sides, once to the source and once to the target.",
          breaks=NUMBERS, old="x = self.embed(source)", new="x = self.dropout(self.token_embeddings(source) * math.sqrt(self.lm_head.weight.size(-1)))")
    wrong("positions_from_one", "Your positions begin at 1. They count from 0, as in notebook 06.",
          breaks=NUMBERS, old="sinusoidal_encoding(ids.size(1), width)", new="sinusoidal_encoding(ids.size(1) + 1, width)[1:]")
    wrong("positions_of_the_batch", "You make as many positions as the batch has rows, `size(0)`. It is one for each token: `size(1)`.",
          breaks=STOPS, old="ids.size(1)", new="ids.size(0)")
    wrong("positions_run_on", "The decoder's positions go on where the source's end. Target and source both begin at 0.",
          breaks=NUMBERS, old="x = self.embed(target)",
          new="both = sinusoidal_encoding(source.size(1) + target.size(1), memory.size(-1))\n        x = self.dropout(self.token_embeddings(target) * math.sqrt(memory.size(-1)) + both[source.size(1) :])")
    wrong("positions_multiplied", "You multiply by the positions. They are added.",
          breaks=NUMBERS, old=EMBED, new="vectors * math.sqrt(width) * positions")
    wrong("learned_positions", "Your positions are a table to be learned, as BERT's. In the model of 2017 they are sines and cosines, `sinusoidal_encoding`, with nothing to learn.",
          breaks=STOPS, old=("        self.dropout = nn.Dropout", "positions = sinusoidal_encoding(ids.size(1), width).to(vectors.device)"),
          new=("        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)\n        self.dropout = nn.Dropout", "positions = self.position_embeddings(torch.arange(ids.size(1)))"))
    wrong("positions_end", "Your table of positions ends after `config.max_position_embeddings` rows, and here are more tokens. Sines have no end: make one row for each token, `sinusoidal_encoding(ids.size(1), D)`.",
          breaks=STOPS, old=("        self.dropout = nn.Dropout", "positions = sinusoidal_encoding(ids.size(1), width).to(vectors.device)"),
          new=("        self.positions = sinusoidal_encoding(config.max_position_embeddings, config.hidden_size)\n        self.dropout = nn.Dropout", "positions = self.positions[: ids.size(1)]"))
    wrong("not_tied", "`lm_head` has a weight of its own (a copy is one, too: from the first training step on it differs). It is to be the token table itself, one parameter under two names: `self.lm_head.weight = self.token_embeddings.weight`.",
          breaks=STOPS, old=f"        {TIED}  # (V, D), shared\n", new="")
    wrong("numbers_shared_only", "`lm_head.weight` and the token table are two parameters that share memory for now (`.data`). They are to be one: `self.lm_head.weight = self.token_embeddings.weight`.",
          breaks=BUILT, old=TIED, new="self.lm_head.weight.data = self.token_embeddings.weight.data")
    wrong("head_with_bias", "`lm_head` has a bias. It goes from D to V without one: its weight is the token table, and there is nothing else to learn.",
          breaks=("values", "parameters", "dropout", "padding", "encode and decode"), old=", bias=False", new="")
    wrong("no_head", "There is no `lm_head` among your layers. Make it, D to V without bias, and give it the token table as its weight.",
          breaks="parameters", old=("        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)\n", f"        {TIED}  # (V, D), shared\n", "self.lm_head(x)"),
          new=("", "", "x @ self.token_embeddings.weight.T"))
    wrong("two_tables", "Source and target have a table each. Here one table, `token_embeddings`, serves both and `lm_head`: §3.4.",
          breaks=BUILT, old=("        self.dropout = nn.Dropout", "self.embed(target)"),
          new=("        self.target_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)\n        self.dropout = nn.Dropout",
               "self.dropout(self.target_embeddings(target) * math.sqrt(memory.size(-1)) + sinusoidal_encoding(target.size(1), memory.size(-1)))"))
    wrong("logits_scaled", "You multiply the logits by √D (or what goes into `lm_head`). Only what goes into the first layers is multiplied.",
          breaks=NUMBERS, old="self.lm_head(x)", new="self.lm_head(x * math.sqrt(x.size(-1)))")
    wrong("logits_divided", "You divide the logits by √D. `lm_head` is applied as it is.",
          breaks=NUMBERS, old="self.lm_head(x)", new="self.lm_head(x / math.sqrt(x.size(-1)))")
    wrong("norm_after_encoder", "You put one more norm after the encoder's last layer. Pre-norm stacks need it; post-norm layers end with a norm of their own.",
          breaks=STOPS, old=("        self.decoder_layers = ", "            x = layer(x, mask)\n        return x"),
          new=("        self.encoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_layers = ", "            x = layer(x, mask)\n        return self.encoder_norm(x)"))
    wrong("norm_after_decoder", "You put one more norm after the decoder's last layer. Pre-norm stacks need it; post-norm layers end with a norm of their own.",
          breaks=STOPS, old=("        self.decoder_layers = ", "self.lm_head(x)"),
          new=("        self.decoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_layers = ", "self.lm_head(self.decoder_norm(x))"))
    wrong("norm_after_both", "You put one more norm after the last layers of encoder and decoder. Pre-norm stacks need it (and PyTorch's `nn.Transformer` has it always); post-norm layers end with a norm of their own.",
          breaks=STOPS, old=("        self.decoder_layers = ", "            x = layer(x, mask)\n        return x", "self.lm_head(x)"),
          new=("        self.encoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_layers = ",
               "            x = layer(x, mask)\n        return self.encoder_norm(x)", "self.lm_head(self.decoder_norm(x))"))
    wrong("norm_of_the_embeddings", "You normalize the embeddings, as BERT does. In the model of 2017 they go into the first layer as they are.",
          breaks=BUILT, old=("        self.dropout = nn.Dropout", EMBED),
          new=("        self.layer_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.dropout = nn.Dropout", f"self.layer_norm({EMBED})"))
    for side, stack, kind in (("encoder", ENCODER, "PostNormEncoderLayer"), ("decoder", DECODER, "TransformerDecoderLayer")):
        wrong(f"one_{side}_layer_repeated", f"Your {side} holds one layer {{L}} times: `[layer] * {{L}}` repeats the object, not its weights. Make a new layer for each place.",
              breaks=BUILT, old=stack, new=f"nn.ModuleList([{kind}(config)] * config.num_hidden_layers)")
        wrong(f"{side}_in_a_plain_list", f"The {side}'s layers sit in a plain Python list, where PyTorch does not see their parameters: they would be neither trained nor saved. Use `nn.ModuleList`.",
              breaks=BUILT, old=stack, new=f"[{kind}(config) for _ in range(config.num_hidden_layers)]")
        wrong(f"{side}_one_layer_short", f"Your {side} has one layer too few: {{L}} are wanted, as `config.num_hidden_layers` says.",
              breaks=BUILT, old=stack, new=f"nn.ModuleList({kind}(config) for _ in range(1, config.num_hidden_layers))")
        wrong(f"{side}_called_{side}", f"Your stack is called `{side}`; the contract says `{side}_layers`.",
              breaks=BUILT, old=(f"self.{side}_layers = ", f"in self.{side}_layers:"), new=(f"self.{side} = ", f"in self.{side}:"))
        wrong(f"{side}_layers_reversed", f"The {side}'s layers run from the last to the first. Layer 0 comes first.",
              breaks=NUMBERS, old=f"in self.{side}_layers:", new=f"in reversed(self.{side}_layers):")
        wrong(f"{side}_first_layer_only", f"Only the first layer of the {side} is applied. All {{L}} come one after the other. (Is the `return` inside the loop?)",
              breaks=NUMBERS, old=f"in self.{side}_layers:", new=f"in self.{side}_layers[:1]:")
        wrong(f"{side}_last_layer_left_out", f"The last layer of the {side} is made, but not applied.",
              breaks=NUMBERS, old=f"in self.{side}_layers:", new=f"in self.{side}_layers[:-1]:")
    wrong("layers_repeated", "Both stacks hold one layer {L} times: `[layer] * {L}` repeats the object, not its weights. Make a new layer for each place.",
          breaks=BUILT, old=(ENCODER, DECODER), new=("nn.ModuleList([PostNormEncoderLayer(config)] * config.num_hidden_layers)", "nn.ModuleList([TransformerDecoderLayer(config)] * config.num_hidden_layers)"))
    wrong("layers_in_plain_lists", "All layers sit in plain Python lists, where PyTorch does not see their parameters: they would be neither trained nor saved. Use `nn.ModuleList`.",
          breaks=BUILT, old=(ENCODER, DECODER), new=(ENCODER.replace("nn.ModuleList", "list"), DECODER.replace("nn.ModuleList", "list")))
    wrong("always_six", "You build six layers whatever the config says. Six it was in 2017; here `config.num_hidden_layers` is {L}.",
          breaks=STOPS, old="range(config.num_hidden_layers)", new="range(6)", times=2)
    wrong("encoder_not_stacked", "Every layer of the encoder gets the embeddings: only the last one has an effect. A layer's output is the next layer's input.",
          breaks=NUMBERS, old=(f"{IN_ENCODER}\n        return x",), new=("y = layer(x, mask)\n        return y if self.encoder_layers else x",))
    wrong("decoder_not_stacked", "Every layer of the decoder gets the embeddings: only the last one has an effect. A layer's output is the next layer's input.",
          breaks=NUMBERS, old=(f"{IN_DECODER}\n        return self.lm_head(x)",), new=("y = layer(x, memory, mask, memory_mask)\n        return self.lm_head(y if self.decoder_layers else x)",))
    wrong("encoder_layer_repeated", "The first layer of the encoder is applied {L} times; the others are never used.",
          breaks=NUMBERS, old=IN_ENCODER, new="x = self.encoder_layers[0](x, mask)")
    wrong("decoder_layer_repeated", "The first layer of the decoder is applied {L} times; the others are never used.",
          breaks=NUMBERS, old=IN_DECODER, new="x = self.decoder_layers[0](x, memory, mask, memory_mask)")
    wrong("pre_norm_encoder", "Your encoder's layers are pre-norm. The model of 2017 is post-norm: `PostNormEncoderLayer`. All names and shapes are the same, so nothing complains.",
          breaks=NUMBERS, old=f"        self.encoder_layers = {ENCODER}",
          new="        from anatomy.course.nb05_encoder_layer.right import TransformerEncoderLayer\n\n        self.encoder_layers = nn.ModuleList(TransformerEncoderLayer(config) for _ in range(config.num_hidden_layers))")
    wrong("memory_of_each_layer", "Layer i of your decoder looks at what layer i of the encoder returned. All of them look at the same memory: what the encoder's *last* layer returned.",
          breaks=WHOLE, old="return self.decode(target, self.encode(source), source)",
          new="masks = padding_mask(source != self.pad_id), decoder_mask(target, self.pad_id)\n        memory, x = self.embed(source), self.embed(target)\n        for below, layer in zip(self.encoder_layers, self.decoder_layers):\n            memory = below(memory, masks[0])\n            x = layer(x, memory, masks[1], masks[0])\n        return self.lm_head(x)")
    wrong("memory_is_the_embeddings", "The decoder looks at the source's embeddings: the encoder's layers have no effect on what you return.",
          breaks=WHOLE, old="self.decode(target, self.encode(source), source)", new="self.decode(target, self.embed(source), source)")
    wrong("encode_without_layers", "`encode` returns the embeddings: the encoder's layers have no effect on it.",
          breaks=NUMBERS, old=IN_ENCODER, new="layer(x, mask)")
    wrong("decode_without_layers", "The decoder's layers have no effect on your logits: each layer's output is the next layer's input.",
          breaks=NUMBERS, old=IN_DECODER, new="layer(x, memory, mask, memory_mask)")
    wrong("decode_encodes_again", "`decode` encodes the source itself and does not look at the memory that it is handed. The memory is made once, however much is written.",
          breaks="encode and decode", old="x = self.embed(target)", new="memory = self.encode(source)\n        x = self.embed(target)")
    wrong("memory_becomes_output", "What one decoder layer returns is the next one's memory in yours. The memory stays the same for all of them.",
          breaks=BUILT, old=IN_DECODER, new="x = memory = layer(x, memory, mask, memory_mask)")
    wrong("encoder_mask_unused", "The encoder looks at the padding of the source: it gets no mask.",
          breaks=("padding", "encode and decode"), old=IN_ENCODER, new="x = layer(x)")
    wrong("memory_mask_unused", "The decoder looks at the memory's padding: cross-attention gets no `memory_mask`. What stands there in the memory is no less real to it than the rest.",
          breaks=("padding", "encode and decode"), old=IN_DECODER, new="x = layer(x, memory, mask)")
    wrong("decoder_mask_unused", "The decoder sees later tokens, those that it is to write: self-attention gets no mask.",
          breaks=NUMBERS, old=IN_DECODER, new="x = layer(x, memory, None, memory_mask)")
    wrong("decoder_sees_ahead", "The decoder's mask hides padding only: each token sees those that it is to write. `decoder_mask` hides both.",
          breaks=NUMBERS, old=DECODER_MASK, new="mask = padding_mask(target != self.pad_id)")
    wrong("masks_swapped", "The decoder's two masks have changed places: `mask` is for self-attention, `memory_mask` for cross-attention.",
          breaks=BUILT, old=IN_DECODER, new="x = layer(x, memory, memory_mask, mask)")
    wrong("memory_mask_of_the_target", "You make the mask of cross-attention from the padding of the *target*. It hides keys, and these are source tokens: `source != pad_id`.",
          breaks=BUILT, old=MEMORY_MASK, new="memory_mask = padding_mask(target != self.pad_id)")
    wrong("one_mask_for_both", "Cross-attention gets the decoder's own mask. Its keys are source tokens: it needs a mask of the source's padding.",
          breaks=BUILT, old=IN_DECODER, new="x = layer(x, memory, mask, mask)")
    wrong("causal_memory_mask", "You hide later source tokens from the decoder. The source is all there before the first word is written: only its padding is hidden.",
          breaks=NUMBERS, old=MEMORY_MASK, new="memory_mask = padding_mask(source != self.pad_id) & torch.ones(target.size(1), source.size(1), dtype=torch.bool).tril()")
    wrong("causal_encoder", "Your encoder looks backwards only: it has the decoder's mask. The source is all there, and each of its tokens may look at every other but padding.",
          breaks=NUMBERS, old=ENCODER_MASK, new="        mask = decoder_mask(source, self.pad_id)")
    wrong("masks_turned_round", "You call `padding_mask` with what is True at the padding: it takes True (or 1) for real tokens, `source != pad_id`.",
          breaks=NUMBERS, old="source != self.pad_id", new="source == self.pad_id", times=2)
    wrong("pad_is_0", "You take 0 for padding, whatever `config.pad_token_id` says.",
          breaks=("padding", "encode and decode"), old="self.pad_id = config.pad_token_id", new="self.pad_id = 0")
    wrong("pad_is_0_in_the_source", "In the source you take 0 for padding, whatever `config.pad_token_id` says.",
          breaks=("padding", "encode and decode"), old="source != self.pad_id", new="source != 0", times=2)
    wrong("pad_is_0_in_the_target", "In the target you take 0 for padding, whatever `config.pad_token_id` says.",
          breaks=("padding", "encode and decode"), old="decoder_mask(target, self.pad_id)", new="decoder_mask(target, 0)")
    wrong("no_pad_id", "Your model has no `pad_id`. Keep `config.pad_token_id` under that very name: what decodes with it looks there.",
          breaks="encode and decode", old="self.pad_id", new="self.padding", times=4)
    wrong("no_encode", "Your model has no method `encode`. Decoding calls it once, and `decode` for every token.",
          breaks=("dropout", "encode and decode"), old=("def encode(", "self.encode(source)"), new=("def encoder(", "self.encoder(source)"))
    wrong("no_decode", "Your model has no method `decode`. Decoding calls it for every token, with the memory that `encode` made.",
          breaks=("dropout", "encode and decode"), old=("def decode(", "self.decode(target,"), new=("def decoder(", "self.decoder(target,"))
    wrong("decode_memory_first", "`decode` takes (target, memory, source), in this order.",
          breaks=("dropout", "encode and decode"), old=("self, target: Tensor, memory: Tensor, source: Tensor\n", "self.decode(target, self.encode(source), source)"),
          new=("self, memory: Tensor, target: Tensor, source: Tensor\n", "self.decode(self.encode(source), target, source)"))
    wrong("target_first", "`forward` takes the source first, then the target. Yours takes them the other way round.",
          breaks=WHOLE, old="source: Tensor, target: Tensor", new="target: Tensor, source: Tensor")
    wrong("shifts_again", "You shift the target inside the model. It comes shifted already: it *is* the decoder's input.",
          breaks=WHOLE, old="return self.decode(target,", new="target = torch.cat([target[:, :1], target[:, :-1]], dim=1)\n        return self.decode(target,")
    for name, start in (("0", "0"), ("1", "1"), ("2", "2"), ("padding", "self.pad_id")):
        wrong(f"shifts_again_from_{name}", "You shift the target inside the model. It comes shifted already: it *is* the decoder's input.",
              breaks=WHOLE, old="return self.decode(target,", new=f"target = torch.cat([torch.full_like(target[:, :1], {start}), target[:, :-1]], dim=1)\n        return self.decode(target,")
    wrong("probabilities", "You return probabilities: no softmax is wanted here, the loss has its own. Logits are what `lm_head` returns.",
          breaks=DROPOUT_TOO, old="self.lm_head(x)", new="self.lm_head(x).softmax(dim=-1)")
    wrong("log_probabilities", "You return log-probabilities. Logits are wanted: what `lm_head` returns.",
          breaks=DROPOUT_TOO, old="self.lm_head(x)", new="self.lm_head(x).log_softmax(dim=-1)")
    wrong("last_place_only", "You return the logits of the last place alone. In training all places count: (B, T, V).",
          breaks=DROPOUT_TOO, old="self.lm_head(x)", new="self.lm_head(x)[:, -1:]")
    wrong("vectors_returned", "You return vectors of width D: `lm_head`, which makes logits of them, is never called.",
          breaks=DROPOUT_TOO, old="return self.lm_head(x)", new="return x")
    wrong("memory_returned_too", "You return two things. `forward` returns the logits alone, (B, T, V).",
          breaks=WHOLE, old="return self.decode(target, self.encode(source), source)", new="memory = self.encode(source)\n        return self.decode(target, memory, source), memory")
    wrong("embeddings_not_dropped", "What goes into the first layers is not dropped in training mode. The sums of vectors and positions go through `dropout`, in the encoder and in the decoder.",
          breaks="dropout", old=f"self.dropout({EMBED})", new=EMBED)
    wrong("vectors_dropped", "You drop numbers of the tokens' vectors before the positions are added. Their *sum* goes through `dropout`.",
          breaks="dropout", old=f"self.dropout({EMBED})", new="self.dropout(vectors * math.sqrt(width)) + positions")
    wrong("dropped_twice", "What goes into the first layers is dropped twice. Once is enough.",
          breaks="dropout", old=f"self.dropout({EMBED})", new=f"self.dropout(self.dropout({EMBED}))")
    wrong("encoder_only_dropped", "What goes into the decoder is not dropped in training mode. It goes through `dropout` as the encoder's does.",
          breaks="dropout", old="x = self.embed(target)", new="width = memory.size(-1)\n        x = self.token_embeddings(target) * math.sqrt(width) + sinusoidal_encoding(target.size(1), width)")
    wrong("memory_dropped", "You drop numbers of what the encoder returns. The layers drop what their parts return; nothing is dropped behind them.",
          breaks="dropout", old="            x = layer(x, mask)\n        return x", new="            x = layer(x, mask)\n        return self.dropout(x)")
    wrong("output_dropped", "You drop numbers of what goes into `lm_head`. The layers drop what their parts return; nothing is dropped behind them.",
          breaks="dropout", old="self.lm_head(x)", new="self.lm_head(self.dropout(x))")
    for number in (0.1, 0.5):
        wrong(f"dropout_of_{number}", f"Your dropout uses a p of its own, {number}. Take `config.hidden_dropout_prob`.",
              breaks="dropout", old="nn.Dropout(config.hidden_dropout_prob)", new=f"nn.Dropout({number})")
    wrong("other_p", "Your dropout uses `config.attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`.",
          breaks="dropout", old="config.hidden_dropout_prob", new="config.attention_probs_dropout_prob")
    for called in ("embedding", "embeddings", "embed_tokens", "token_embedding"):
        wrong(f"table_called_{called}", f"Your token table is called `{called}`; the contract says `token_embeddings`.",
              breaks=STOPS, old="self.token_embeddings", new=f"self.{called}", times=3)
    for called in ("head", "output", "linear", "output_linear", "fc_out", "generator"):
        wrong(f"head_called_{called}", f"Your last layer is called `{called}`; the contract says `lm_head`.",
              breaks="parameters", old="self.lm_head", new=f"self.{called}", times=3)
    wrong("source_detached", "No gradient gets back to the encoder: `detach` (or `no_grad`) cuts it, and it would never learn.",
          breaks="gradients", old="self.decode(target, self.encode(source), source)", new="self.decode(target, self.encode(source).detach(), source)")
    in_every_class(wrong, STOPS)


@MISTAKES.of(teacher_forcing_loss)
def in_teacher_forcing_loss(wrong):
    ALL = ("values", "padding", "gradient")
    PADDING = ("padding", "gradient")
    LOGITS = "logits = model(source, shift_right(target, start_id))"
    LOSS = "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id)"
    wrong("not_shifted", "The decoder is fed the target unshifted: at each place it sees the very token that it is to write, and need only copy it. Feed `shift_right(target, start_id)`.",
          breaks=ALL, old="shift_right(target, start_id)", new="target")
    wrong("shifted_twice", "The target is shifted twice: in what is fed, and again where the logits are compared. Logits at place t belong to target[t]: all {T} places count.",
          breaks=ALL, old=LOSS, new="F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)")
    wrong("no_start", "You feed the target without its last token and ask for it without its first, as in notebook 09: the start token is never fed, and the first token never learned. All {T} places count, the first one after the start token.",
          breaks=ALL, old=(LOGITS, LOSS), new=("logits = model(source, target[:, :-1])", "F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)"))
    wrong("next_token_loss", "You feed the target unshifted and compare each place with the next token, as in notebook 09: the first token is never learned. Feed the target shifted to the right, start token first, and compare place by place.",
          breaks=ALL, old=(LOGITS, LOSS), new=("logits = model(source, target)", "F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)"))
    wrong("compared_with_the_input", "The logits are compared with what was fed. They are to be compared with the target: at each place the token that comes next.",
          breaks=ALL, old=LOSS, new="F.cross_entropy(logits.flatten(0, 1), shift_right(target, start_id).flatten(), ignore_index=pad_id)")
    wrong("shifted_to_the_left", "What you feed is shifted the wrong way: at each place the decoder sees the token *after* the one that it is to write.",
          breaks=ALL, old="shift_right(target, start_id)", new="target.roll(-1, dims=1)")
    wrong("first_for_start", "In front of what you feed stands a token of the target. The start token belongs there: `start_id`.",
          breaks=ALL, old="shift_right(target, start_id)", new="shift_right(target, int(target[0, 0]))")
    for number in (0, 1, 2):
        wrong(f"start_is_{number}", f"You always feed {number} as the start token, whatever `start_id` says.",
              breaks=("values", "padding", "gradient"), old="shift_right(target, start_id)", new=f"shift_right(target, {number})")
    wrong("start_is_the_padding", "In front of what you feed stands the id of padding. The start token belongs there: `start_id`.",
          breaks=ALL, old="shift_right(target, start_id)", new="shift_right(target, pad_id)")
    wrong("padding_counted", "Padding counts in yours. Places where the target is `pad_id` are left out, of the sum and of the number that it is divided by: `ignore_index=pad_id`.",
          breaks=PADDING, old=", ignore_index=pad_id", new="")
    wrong("mean_over_all_places", "Padding is left out of the sum, but not of the number that you divide by: that is how many *real* tokens there are.",
          breaks=PADDING, old=LOSS, new="F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='sum') / target.numel()")
    wrong("mean_of_means", "You average each target by itself, and then over the targets: a token of a short one counts for more. All real tokens count alike: one sum, divided by their number.",
          breaks=PADDING, old=f"return {LOSS}",
          new="losses = F.cross_entropy(logits.transpose(1, 2), target, reduction='none')  # (B, T)\n    real = (target != pad_id).float()\n    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()")
    wrong("sum", "You return the sum. The mean is wanted: divided by the number of real tokens.",
          breaks=ALL, old="ignore_index=pad_id)", new="ignore_index=pad_id, reduction='sum')")
    wrong("by_the_batch", "You divide the sum by the number of targets, {B}. It is divided by the number of real *tokens*.",
          breaks=ALL, old=LOSS, new="F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='sum') / len(target)")
    wrong("by_the_length", "You divide the sum by the length T = {T}. It is divided by the number of real *tokens* in the whole batch.",
          breaks=ALL, old=LOSS, new="F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='sum') / target.size(1)")
    wrong("one_for_each_place", "You return a loss for each place. One number is wanted: their mean, without padding.",
          breaks=ALL, old="ignore_index=pad_id)", new="ignore_index=pad_id, reduction='none')")
    wrong("pad_is_0", "You leave out the id 0, whatever `pad_id` says.",
          breaks=ALL, old="ignore_index=pad_id", new="ignore_index=0")
    wrong("leaves_out_the_start", "You leave out places where the target is `start_id`. It is `pad_id` that doesn't count.",
          breaks=ALL, old="ignore_index=pad_id", new="ignore_index=start_id")
    wrong("padding_of_the_input", "You leave out places where what is *fed* is padding. That is one place late: it is the target that says which places count.",
          breaks=PADDING, old=f"return {LOSS}",
          new="fed = shift_right(target, start_id)\n    return F.cross_entropy(logits.flatten(0, 1), target.masked_fill(fed == pad_id, -100).flatten())")
    wrong("last_real_token_left_out", "The last real token of a padded target is left out. Padding alone doesn't count.",
          breaks=PADDING, old=f"return {LOSS}",
          new="after = torch.cat([target[:, 1:], target[:, -1:]], dim=1)\n    return F.cross_entropy(logits.flatten(0, 1), target.masked_fill((target == pad_id) | (after == pad_id), -100).flatten())")
    wrong("target_changed", "You write into `target` itself, and whoever called you still needs it. Make a new tensor (`masked_fill` without the `_` at its end), or use `ignore_index=pad_id`.",
          breaks=PADDING, old=f"return {LOSS}", new="target[target == pad_id] = -100\n    return F.cross_entropy(logits.flatten(0, 1), target.flatten())")
    wrong("arguments_swapped", "The model takes the source first, then the decoder's input. Yours are the other way round.",
          breaks=ALL, old="model(source, shift_right(target, start_id))", new="model(shift_right(target, start_id), source)")
    wrong("source_for_both", "The decoder is fed the source. It is fed the target, shifted to the right.",
          breaks=ALL, old="shift_right(target, start_id)", new="shift_right(source, start_id)")
    wrong("target_for_both", "The encoder gets the target. It gets the source.",
          breaks=ALL, old="model(source, shift", new="model(target, shift")
    wrong("softmax_twice", "You give `F.cross_entropy` probabilities. It takes logits: the softmax is inside.",
          breaks=ALL, old="logits.flatten(0, 1)", new="logits.softmax(dim=-1).flatten(0, 1)")
    wrong("log_softmax_wrong_axis", "Your log-softmax runs over the places, T. It runs over the vocabulary, the last axis.",
          breaks=ALL, old=LOSS, new="F.nll_loss(logits.log_softmax(dim=1).flatten(0, 1), target.flatten(), ignore_index=pad_id)")
    wrong("overflow", "The logarithm of your softmax becomes −∞ where logits lie hundreds apart: such a probability is rounded to 0. `log_softmax` or `F.cross_entropy` on the logits does both in one step.",
          breaks="values", old=LOSS, new="F.nll_loss(logits.softmax(dim=-1).log().flatten(0, 1), target.flatten(), ignore_index=pad_id)")
    wrong("no_log", "The mean probability, with a minus sign, is no cross-entropy: it takes the logarithm of each probability first.",
          breaks=ALL, old=LOSS, new="F.nll_loss(logits.softmax(dim=-1).flatten(0, 1), target.flatten(), ignore_index=pad_id)")
    wrong("minus_forgotten", "The sign is the wrong way round: the log-probability is negative, and the loss is *minus* its mean.",
          breaks=ALL, old=LOSS, new=f"-{LOSS}")
    wrong("bits", "You measure in bits (`log2`). Nats are wanted: the natural logarithm.",
          breaks=ALL, old=LOSS, new=f"{LOSS} / math.log(2)")
    wrong("bits_of_probabilities", "You measure in bits (`log2`). Nats are wanted: the natural logarithm. (And take it inside the softmax, `log_softmax`: where logits lie hundreds apart, a probability is rounded to 0.)",
          breaks=ALL, old=LOSS, new="F.nll_loss(logits.softmax(dim=-1).log2().flatten(0, 1), target.flatten(), ignore_index=pad_id)")
    wrong("rows_mixed", "The logits' axes and the target's are flattened in different orders, so tokens meet the logits of other places. Flatten (B, T, V) to (B·T, V) and (B, T) to (B·T,), both as they are.",
          breaks=ALL, old="target.flatten()", new="target.T.flatten()")
    wrong("logits_rows_mixed", "The logits' first two axes are exchanged before they are flattened, and the target's are not: tokens meet the logits of other places.",
          breaks=ALL, old="logits.flatten(0, 1)", new="logits.transpose(0, 1).flatten(0, 1)")
    wrong("reshaped_for_transposed", "You reshape (B, T, V) to (B, V, T). That only cuts the numbers anew: the axes change places with `transpose(1, 2)`.",
          breaks=ALL, old="logits.flatten(0, 1), target.flatten()", new="logits.reshape(len(target), -1, target.size(1)), target")
    wrong("first_place_left_out", "The first place doesn't count in yours. All places do: what follows the start token is to be learned, too.",
          breaks=ALL, old="logits.flatten(0, 1), target.flatten()", new="logits[:, 1:].flatten(0, 1), target[:, 1:].flatten()")
    wrong("last_place_left_out", "The last place doesn't count in yours. All places do, but for padding.",
          breaks=ALL, old="logits.flatten(0, 1), target.flatten()", new="logits[:, :-1].flatten(0, 1), target[:, :-1].flatten()")
    wrong("fed_one_too_many", "You feed start token and whole target, one place more than there are tokens to write, and compare from the second place on: each place has then seen its own answer. Feed all but the last, and compare from the first.",
          breaks=ALL, old=("shift_right(target, start_id)", "logits.flatten(0, 1)"), new=("torch.cat([torch.full_like(target[:, :1], start_id), target], dim=1)", "logits[:, 1:].flatten(0, 1)"))
    wrong("not_flattened", "`F.cross_entropy` takes the classes as its *second* axis: (B·T, V) with (B·T,), or (B, V, T) with (B, T). Yours are (B, T, V).",
          breaks=ALL, old="logits.flatten(0, 1), target.flatten()", new="logits, target")
    wrong("last_place_only", "Only the last place counts in yours. All places are learned from at once.",
          breaks=ALL, old="logits.flatten(0, 1), target.flatten()", new="logits[:, -1], target[:, -1]")
    wrong("first_row_only", "Only the first target of the batch counts in yours.",
          breaks=ALL, old="logits.flatten(0, 1), target.flatten()", new="logits[0], target[0]")
    wrong("label_smoothing", "You smooth the labels. That is what the paper does in training (§5.4); the loss here is the plain one.",
          breaks=ALL, old="ignore_index=pad_id)", new="ignore_index=pad_id, label_smoothing=0.1)")
    wrong("a_number", "You return a plain number (`.item()`), and no gradient can come back from it. Return the tensor.",
          breaks=("values", "gradient"), old=LOSS, new=f"{LOSS}.item()")
    wrong("detached", "No gradient comes back from your loss: `detach`, `.data` or `no_grad` cuts it, and nothing would be learned.",
          breaks="gradient", old=LOSS, new=f"{LOSS}.detach()")
    wrong("with_one_axis", "Your loss has an axis of its own, shape (1,). A tensor without axes is wanted, as `mean` gives it.",
          breaks=ALL, old=LOSS, new=f"{LOSS}[None]")
    wrong("two_returned", "You return two things. The loss alone is wanted.",
          breaks=ALL, old=LOSS, new=f"{LOSS}, logits")
    wrong("pad_in_start_place", "`start_id` and `pad_id` have changed places.",
          breaks=ALL, old=("target, start_id)", "ignore_index=pad_id"), new=("target, pad_id)", "ignore_index=start_id"))


@MISTAKES.of(greedy_decode)
def in_greedy_decode(wrong):
    RESULT = ("values", "ends")
    CHOOSE = "model.decode(written, memory, source)[:, -1:].argmax(dim=-1)"
    FILL = "        chosen = chosen.masked_fill(ended, model.pad_id)\n"
    STOP = "        if ended.all():\n            break\n"
    ENCODE = "    memory = model.encode(source)  # (B, S, D)\n"
    wrong("start_kept", "The start token stands in front of your result. It is fed, but not returned: what was written begins after it.",
          breaks=RESULT, old="written[:, 1:]", new="written")
    wrong("end_cut_off", "The last column is missing: the end token belongs to what was written.",
          breaks=RESULT, old="written[:, 1:]", new="written[:, 1:-1]")
    wrong("not_padded", "After its end token a row goes on writing while others are still at work. Once a row has ended, it gets `model.pad_id` only.",
          breaks=("ends",), old=FILL, new="")
    wrong("pad_is_0", "After its end token a row gets 0 in yours. It gets `model.pad_id`, and that need not be 0.",
          breaks=("ends",), old="ended, model.pad_id", new="ended, 0")
    wrong("padded_with_end", "After its end token a row gets more end tokens. It gets `model.pad_id`.",
          breaks=("ends",), old="ended, model.pad_id", new="ended, end_id")
    wrong("padded_with_start", "After its end token a row gets start tokens. It gets `model.pad_id`.",
          breaks=("ends",), old="ended, model.pad_id", new="ended, start_id")
    wrong("end_is_padded", "The end token itself has become padding. It belongs to what was written; padding begins after it.",
          breaks=RESULT, old=FILL, new="        ended = ended | (chosen == end_id)\n" + FILL)
    wrong("never_stops", "It always goes on for `max_len` tokens. It stops as soon as all rows have ended.",
          breaks=(*RESULT, "work"), old=STOP, new="")
    wrong("stops_at_the_first", "It stops as soon as *one* row has ended, and the others are cut short. It stops when *all* have ended.",
          breaks=("ends", "work"), old="ended.all()", new="ended.any()")
    wrong("ends_forgotten", "It stops only when all rows write their end token at the same step: which rows ended earlier is forgotten. Keep it: `ended = ended | (chosen == end_id)`.",
          breaks=("ends", "work"), old="ended = ended | (chosen == end_id)", new="ended = chosen == end_id")
    wrong("ends_at_once", "It stops only when all rows write their end token at the same step. Rows that have ended before count, too: `ended.all()`.",
          breaks=("ends", "work"), old="if ended.all()", new="if (chosen == end_id).all()")
    wrong("only_the_first_row_ends", "Whether to stop is decided by the first row alone. It stops when all rows have ended.",
          breaks=("ends", "work"), old="ended.all()", new="ended[0].all()")
    wrong("stops_before_the_end", "It stops before the last end token is appended. The end token belongs to what was written.",
          breaks=RESULT, old="        written = torch.cat([written, chosen], dim=1)\n        ended = ended | (chosen == end_id)\n        if ended.all():\n            break\n",
          new="        ended = ended | (chosen == end_id)\n        if ended.all():\n            break\n        written = torch.cat([written, chosen], dim=1)\n")
    wrong("encodes_every_time", "The source is encoded anew for every token (`model(source, …)` does that, too). The memory does not change while the target is written: encode once, before the loop.",
          breaks="work", old=(ENCODE, "        chosen = model."), new=("", "        memory = model.encode(source)\n        chosen = model."))
    wrong("first_place", "You take the logits of the first place. What comes next is told by the last one: `[:, -1]`.",
          breaks=(*RESULT, "work"), old="[:, -1:]", new="[:, :1]")
    wrong("place_before_last", "You take the logits of the place before the last. What comes next is told by the last one: `[:, -1]`.",
          breaks=(*RESULT, "work"), old="[:, -1:]", new="[:, -2:][:, :1]")
    wrong("last_token_fed", "The decoder is fed the last token only. It keeps nothing in mind: feed all that was written, from the start token on.",
          breaks=(*RESULT, "work"), old="model.decode(written,", new="model.decode(written[:, -1:],")
    wrong("start_not_fed", "From the second step on the start token is missing from what you feed.",
          breaks=(*RESULT, "work"), old="model.decode(written,", new="model.decode(written[:, 1:] if written.size(1) > 1 else written,")
    wrong("one_too_few", "You write one token too few: `max_len` tokens are allowed, and the start token is not one of them.",
          breaks=RESULT, old="range(max_len)", new="range(max_len - 1)")
    wrong("one_too_many", "You write one token too many: `max_len` is how many tokens may be written, the start token not counted.",
          breaks=RESULT, old="range(max_len)", new="range(max_len + 1)")
    wrong("least_probable", "You take the *least* probable token: `argmax`, not `argmin`.",
          breaks=(*RESULT, "work"), old="argmax", new="argmin")
    wrong("argmax_over_rows", "Your argmax runs over the batch: you compare rows, not tokens. It runs over the vocabulary, the last axis.",
          breaks=(*RESULT, "work"), old=CHOOSE, new="model.decode(written, memory, source)[:, -1].argmax(dim=0)[: len(source), None]")
    wrong("starts_with_the_source", "You start with the source's first token. The decoder starts with `start_id`.",
          breaks=RESULT, old="torch.full_like(source[:, :1], start_id)", new="source[:, :1]")
    for number in (0, 1):
        wrong(f"start_is_{number}", f"You always start with {number}, whatever `start_id` says.",
              breaks=RESULT, old="source[:, :1], start_id", new=f"source[:, :1], {number}")
    wrong("starts_with_the_end", "You start with `end_id`. The decoder starts with `start_id`.",
          breaks=RESULT, old="source[:, :1], start_id", new="source[:, :1], end_id")
    wrong("end_is_2", "You take 2 for the end token, whatever `end_id` says.",
          breaks=(*RESULT,), old="chosen == end_id", new="chosen == 2")
    wrong("ends_with_padding", "You wait for `model.pad_id` as the end. A row ends with `end_id`.",
          breaks=(*RESULT, "work"), old="chosen == end_id", new="chosen == model.pad_id")
    wrong("memory_and_source_swapped", "`decode` takes (target, memory, source): the last one of yours is the memory.",
          breaks=(*RESULT, "work"), old="written, memory, source", new="written, source, memory")
    wrong("memory_first", "`decode` takes (target, memory, source): yours gets the memory first.",
          breaks=(*RESULT, "work"), old="written, memory, source", new="memory, written, source")
    wrong("source_first", "`decode` takes (target, memory, source): yours gets the source first, and what was written in its place.",
          breaks=(*RESULT, "work"), old="written, memory, source", new="source, memory, written")
    wrong("source_not_encoded", "The decoder gets the source in the place of the memory. The memory is what `model.encode(source)` returns.",
          breaks=(*RESULT, "work"), old="model.encode(source)", new="source")
    wrong("first_row_for_all", "All rows get the first one's tokens. Each source has a target of its own.",
          breaks=(*RESULT, "work"), old=CHOOSE, new=f"{CHOOSE}[:1].expand(len(source), 1)")
    wrong("second_best", "You take the second most probable token. Greedy means the most probable one.",
          breaks=(*RESULT, "work"), old=CHOOSE, new="model.decode(written, memory, source)[:, -1].topk(2).indices[:, 1:]")
    wrong("not_appended", "What was chosen is not appended, so every step sees the start token alone, and only the last choice comes out.",
          breaks=(*RESULT, "work"), old="torch.cat([written, chosen], dim=1)", new="torch.cat([written[:, :1], chosen], dim=1) if _ == max_len - 1 else written")
    wrong("put_in_front", "You put each new token *in front* of what was written. It comes behind: `torch.cat([written, chosen], dim=1)`.",
          breaks=RESULT, old="[written, chosen]", new="[chosen, written]")
    wrong("last_token_only", "You return the last token of each row. All that was written is wanted, (B, N).",
          breaks=RESULT, old="written[:, 1:]", new="written[:, -1:]")
    wrong("logits_returned", "You return the model's last logits. The tokens are wanted, (B, N).",
          breaks=(*RESULT, "work"), old="return written[:, 1:]", new="return model.decode(written[:, :-1], memory, source)")
    wrong("a_list", "You return a list. A tensor (B, N) is wanted.",
          breaks="values", old="written[:, 1:]", new="written[:, 1:].tolist()")
    wrong("padded_to_max_len", "You fill the result up to `max_len` columns. It is as long as the longest row that was written.",
          breaks=RESULT, old="return written[:, 1:]", new="return F.pad(written[:, 1:], (0, max_len - written.size(1) + 1), value=model.pad_id)")
    wrong("once_too_often", "The model is asked once more after all rows have ended (or have `max_len` tokens). It stops right then.",
          breaks="work", old=STOP, new="        if ended.all():\n            break\n    model.decode(written, memory, source)\n")
    wrong("rows_one_by_one", "You write the rows one after the other, and encode for each. All sources go through the model together: encode once, and one call of `decode` for each step.",
          breaks="work", old="    memory = model.encode(source)  # (B, S, D)\n",
          new="    if len(source) > 1:\n        rows = [greedy_decode(model, row[None], start_id, end_id, max_len) for row in source]\n        most = max(row.size(1) for row in rows)\n        return torch.cat([F.pad(row, (0, most - row.size(1)), value=model.pad_id) for row in rows])\n    memory = model.encode(source)  # (B, S, D)\n")


@MISTAKES.of(beam_search)
def in_beam_search(wrong):
    EVERYTHING = ("values", "ends", "ties", "length penalty")
    SCORES = ("length penalty",)
    BEST = "sorted(extended, key=lambda one: -one[1])[:beam_size]"
    SPLIT = "        finished += [one for one in best if one[0][-1] == end_id]\n        beginnings = [one for one in best if one[0][-1] != end_id]\n"
    FOUND = "found = max(finished or beginnings, key=score)"
    SCORE = "one[1] / len(one[0]) ** length_penalty"
    wrong("greedy", "You keep only the best extension at every step, whatever `beam_size` says: that is greedy.",
          breaks=EVERYTHING, old="[:beam_size]", new="[:1]")
    wrong("beam_too_wide", "You keep one beginning too many: `beam_size` of them.",
          breaks=("values", "ties"), old="[:beam_size]", new="[: beam_size + 1]")
    wrong("beam_of_each", "You keep the `beam_size` best extensions of *each* beginning, so the beam grows. It is `beam_size` in all, the best of all beginnings together.",
          breaks=("values", "work"), old=f"best = {BEST}", new="best = [one for ids, _ in beginnings for one in sorted((one for one in extended if one[0][:-1] == ids), key=lambda one: -one[1])[:beam_size]]")
    wrong("one_of_each", "You keep the best extension of each beginning. The `beam_size` best of all beginnings together stay: two may come from the same one, and none from another.",
          breaks=("values", "ends"), old=f"best = {BEST}", new="kept = {}\n        for one in sorted(extended, key=lambda one: -one[1]):\n            kept.setdefault(tuple(one[0][:-1]) if len(one[0]) > 1 else one[0][0], one)\n        best = list(kept.values())[:beam_size]")
    wrong("keeps_all", "You keep all extensions. Only the `beam_size` best stay at every step.",
          breaks=("values", "ties", "work"), old="[:beam_size]", new="[:300]")
    wrong("keeps_the_worst", "You keep the *least* probable extensions. Log-probabilities are negative: the largest sum is the one nearest to 0.",
          breaks=(*EVERYTHING, "work"), old="-one[1])[:beam", new="one[1])[:beam")
    wrong("last_value_only", "You rank by the last token's log-probability alone. It is the *sum* over all tokens of the sequence.",
          breaks=EVERYTHING, old="total + value", new="value")
    wrong("probabilities_added", "You add probabilities (`exp`). It is log-probabilities that are added: their sum is the log of the product.",
          breaks=EVERYTHING, old="total + value", new="total + math.exp(value)")
    wrong("logs_multiplied", "You multiply log-probabilities. They are added: the log of a product is the sum of the logs.",
          breaks=EVERYTHING, old=("([], 0.0)]", "total + value"), new=("([], -1.0)]", "-abs(total * value)"))
    wrong("sign_turned", "Your score has the wrong sign. Log-probabilities are negative, and so is their sum.",
          breaks=EVERYTHING, old="return found[0], score(found)", new="return found[0], -score(found)")
    wrong("probability_returned", "You return a probability (`exp`). The score is the sum of log-probabilities, divided by length^`length_penalty`.",
          breaks=EVERYTHING, old="return found[0], score(found)", new="return found[0], math.exp(score(found))")
    wrong("finished_extended", "Sequences that have ended are extended, too: tokens come after the end token. What ends with `end_id` is set aside, and the others go on.",
          breaks=("length penalty", "work"), old=SPLIT, new="        finished += [one for one in best if one[0][-1] == end_id]\n        beginnings = best\n")
    wrong("ends_not_noticed", "`end_id` is not noticed: your sequences go on until `max_len`, right through the end token. What ends with it is finished.",
          breaks=(*EVERYTHING, "work"), old=SPLIT, new="        beginnings = best\n")
    wrong("stops_at_the_first", "You return the sequence that ended first, or stop as soon as one has ended. Others may end later and be better: go on until nothing is left to extend, and return the best.",
          breaks=("ends", "length penalty"), old="if not beginnings:", new="if finished or not beginnings:")
    wrong("stops_when_the_best_ends", "You stop as soon as the best sequence of a step has ended. With a length penalty a longer one can still be better: go on until nothing is left to extend.",
          breaks=SCORES, old="if not beginnings:", new="if best[0][0][-1] == end_id or not beginnings:")
    wrong("stops_with_beam_size", "You stop as soon as `beam_size` sequences have ended. One that ends later may be better: go on until nothing is left to extend.",
          breaks=("ends", "length penalty"), old="if not beginnings:", new="if len(finished) >= beam_size or not beginnings:")
    wrong("stops_when_sums_are_lower", "You stop as soon as no unfinished sum is above the best finished one. That is sound without a penalty; with one, a longer sequence of a lower sum can still win. Go on until nothing is left to extend.",
          breaks=SCORES, old="if not beginnings:", new="if not beginnings or (finished and max(one[1] for one in finished) >= beginnings[0][1]):")
    wrong("ends_only_in_first_place", "Of the sequences that end at a step you set aside only one that is the best of the step. All of the `beam_size` that are kept count, whatever their place.",
          breaks=("ends", "ties"), old="finished += [one for one in best if", new="finished += [one for one in best[:1] if")
    wrong("beam_shrinks", "Your beam becomes narrower with each sequence that has ended. `beam_size` extensions are kept at every step; what has ended takes no place any more.",
          breaks="ends", old="[:beam_size]", new="[: beam_size - len(finished)]")
    wrong("ends_take_no_place", "What ends takes no place in your beam: besides it you go on with `beam_size` others. The `beam_size` best extensions are kept, and those of them that end are among this number.",
          breaks="work", old=f"best = {BEST}", new="best = sorted(extended, key=lambda one: -one[1])\n        best = best[:beam_size] + [one for one in best[beam_size:] if one[0][-1] != end_id][: sum(one[0][-1] == end_id for one in best[:beam_size])]")
    wrong("all_ends_set_aside", "Every sequence that ends is set aside in yours, however improbable, and takes no place in the beam. The `beam_size` best extensions are kept, and only those of them that end are finished.",
          breaks=("ties", "work"), old=(f"best = {BEST}", "beginnings = [one for one in best if one[0][-1] != end_id]"),
          new=("best = sorted(extended, key=lambda one: -one[1])", "beginnings = [one for one in best if one[0][-1] != end_id][:beam_size]"))
    wrong("goes_on_until_all_end", "What ends is not set aside: it stays in the beam and is extended through its end token, unless all sequences end at the same step. Set it aside, and extend the others.",
          breaks=EVERYTHING, old=(SPLIT, "if not beginnings:"), new=("        beginnings = best\n", "if all(one[0][-1] == end_id for one in beginnings):"))
    wrong("ends_dropped", "Sequences that end before the last step are dropped. They are set aside, and the best of all is returned.",
          breaks=EVERYTHING, old="finished += [", new="finished = [")
    wrong("last_finished", "You return the sequence that ended last. The one with the best score is wanted.",
          breaks=EVERYTHING, old=FOUND, new="found = (finished or beginnings)[-1]")
    wrong("unfinished_too", "A sequence that has not ended competes with those that have. It is returned only where none has ended.",
          breaks=("ends",), old="finished or beginnings", new="finished + beginnings")
    wrong("unfinished_never", "Where nothing has ended by `max_len` you have nothing to return. The best unfinished one is wanted then.",
          breaks=("values", "ties", "length penalty"), old="finished or beginnings", new="finished")
    wrong("empty_for_unfinished", "Where nothing has ended by `max_len` you return an empty list. The best unfinished one is wanted then.",
          breaks=("values", "ties", "length penalty"), old=FOUND, new="if not finished:\n        return [], 0.0\n    found = max(finished, key=score)")
    wrong("worst_returned", "You return the sequence with the *lowest* score.",
          breaks=("values", "ends", "length penalty"), old="max(finished", new="min(finished")
    wrong("start_kept", "The start token stands in front of your sequence. It is fed to `step`, but not returned.",
          breaks=EVERYTHING, old="return found[0],", new="return [start_id, *found[0]],")
    wrong("end_cut_off", "The end token is missing from your sequence. It belongs to what was written.",
          breaks=EVERYTHING, old="return found[0],", new="return [token for token in found[0] if token != end_id],")
    wrong("penalty_ignored", "`length_penalty` is not used. The score is the sum of log-probabilities divided by length^`length_penalty`.",
          breaks=SCORES, old=SCORE, new="one[1]")
    wrong("penalty_after_choice", "The penalty changes the score that you return, but not your choice. Finished sequences are compared by the divided score.",
          breaks=SCORES, old=FOUND, new="found = max(finished or beginnings, key=lambda one: one[1])")
    wrong("score_without_penalty", "You choose by the right score, but return the plain sum. It is to be divided by length^`length_penalty`.",
          breaks=SCORES, old="return found[0], score(found)", new="return found[0], found[1]")
    wrong("divided_at_every_step", "You divide at every step of the search, so what came early is divided again and again. The sums stay plain; the division comes once, by the whole length, when finished sequences are compared.",
          breaks=SCORES, old=("([*ids, token], total + value)", SCORE), new=("([*ids, token], (total + value) / (len(ids) + 1) ** length_penalty)", "one[1]"))
    wrong("multiplied_by_length", "You multiply by length^`length_penalty`. The sum is divided by it: sums of longer sequences are more negative, and the division makes up for that.",
          breaks=SCORES, old=SCORE, new="one[1] * len(one[0]) ** length_penalty")
    wrong("length_with_start", "Your length counts the start token, too. It is the number of ids that you return: without the start token, with the end token.",
          breaks=SCORES, old=SCORE, new="one[1] / (len(one[0]) + 1) ** length_penalty")
    wrong("length_without_end", "Your length leaves out the last token. It is the number of ids that you return: without the start token, with the end token.",
          breaks=SCORES, old=SCORE, new="one[1] / max(1, len(one[0]) - 1) ** length_penalty")
    wrong("end_not_counted", "Your length leaves out the end token. It is the number of ids that you return: without the start token, with the end token.",
          breaks=SCORES, old=SCORE, new="one[1] / max(1, sum(token != end_id for token in one[0])) ** length_penalty")
    wrong("length_times_penalty", "You divide by length · `length_penalty`. It is a power: length^`length_penalty`.",
          breaks=SCORES, old=SCORE, new="one[1] / (len(one[0]) * length_penalty if length_penalty else 1)")
    wrong("divided_by_length", "You divide by the length whatever `length_penalty` says. It is length^`length_penalty`, and without a penalty the plain sum.",
          breaks=EVERYTHING, old=SCORE, new="one[1] / len(one[0])")
    wrong("penalty_subtracted", "You subtract `length_penalty` for each token. The sum is divided by length^`length_penalty`.",
          breaks=SCORES, old=SCORE, new="one[1] - length_penalty * len(one[0])")
    wrong("penalty_added", "You add `length_penalty` for each token. The sum is divided by length^`length_penalty`.",
          breaks=SCORES, old=SCORE, new="one[1] + length_penalty * len(one[0])")
    wrong("wu_et_al", "You divide by ((5 + length) / 6)^`length_penalty`, as Wu et al. 2016 do. Here it is the plain power of the length.",
          breaks=SCORES, old=SCORE, new="one[1] / ((5 + len(one[0])) / 6) ** length_penalty")
    wrong("penalty_while_searching", "The penalty gets into the sums while the search is still going on, and is then taken again at every step. The sums stay plain; the division comes once, when finished sequences are compared.",
          breaks=SCORES, old="([*ids, token], total + value)", new="([*ids, token], (total + value) / (len(ids) + 1) ** length_penalty)")
    wrong("ties_last_first", "Of equal sums you keep the *last*: the worse beginning, or the larger token id. The first is wanted: the better beginning, then the smaller id.",
          breaks="ties", old=BEST, new="sorted(extended[::-1], key=lambda one: -one[1])[:beam_size]")
    wrong("ties_by_token", "Of equal sums you keep those with the smaller token id first, whichever beginning they come from. The better beginning comes first, then the smaller id.",
          breaks="ties", old="key=lambda one: -one[1])[", new="key=lambda one: (-one[1], one[0][-1]))[")
    wrong("ties_by_ids", "Of equal sums you keep those first whose ids are smaller from the beginning on, as if sorting words. The better beginning comes first, then the smaller id.",
          breaks="ties", old="key=lambda one: -one[1])[", new="key=lambda one: (-one[1], one[0]))[")
    for name, key in (("token", "one[0][-1]"), ("ids", "one[0]")):
        wrong(f"ties_by_larger_{name}", "Of equal sums you keep those with *larger* ids first (as `sorted(…, reverse=True)` of whole pairs does). The better beginning comes first, then the smaller id.",
              breaks="ties", old="key=lambda one: -one[1])[", new=f"key=lambda one: (one[1], {key}), reverse=True)[")
    wrong("equal_scores_last", "Of equal scores you return the sequence found *last*. The one found first is wanted.",
          breaks="ties", old=FOUND, new="found = max((finished or beginnings)[::-1], key=score)")
    wrong("equal_scores_longest", "Of equal scores you return the longest sequence. The one found first is wanted.",
          breaks="ties", old=FOUND, new="found = max(finished or beginnings, key=lambda one: (score(one), len(one[0])))")
    wrong("one_too_few", "You write one token too few: `max_len` tokens are allowed, and the start token is not one of them.",
          breaks=("values", "ties", "length penalty"), old="range(max_len)", new="range(max_len - 1)")
    wrong("one_too_many", "You write one token too many: `max_len` is how many tokens may be written, the start token not counted.",
          breaks=("values", "ties", "length penalty"), old="range(max_len)", new="range(max_len + 1)")
    wrong("one_at_a_time", "You call `step` for each beginning by itself. It takes all beginnings of one length at once, (N, T): one call for each length.",
          breaks="work", old="step(torch.tensor([[start_id, *ids] for ids, _ in beginnings]))", new="torch.cat([step(torch.tensor([[start_id, *ids]])) for ids, _ in beginnings])")
    wrong("last_token_fed", "`step` gets the last token only. It takes whole beginnings, from the start token on.",
          breaks=(*EVERYTHING, "work"), old="[[start_id, *ids] for ids", new="[[start_id, *ids][-1:] for ids")
    wrong("start_not_fed", "From the second step on the start token is missing from what `step` gets. It takes whole beginnings, from the start token on.",
          breaks=(*EVERYTHING, "work"), old="[[start_id, *ids] for ids", new="[ids or [start_id] for ids")
    wrong("starts_with_the_end", "Your beginnings start with `end_id`. They start with `start_id`.",
          breaks=(*EVERYTHING, "work"), old="[[start_id, *ids] for ids", new="[[end_id, *ids] for ids")
    wrong("first_beginning_only", "Only the best beginning is extended. All of them are, and the best extensions of all stay.",
          breaks=(*EVERYTHING, "work"), old="in beginnings]))", new="in beginnings[:1]]))")
    wrong("a_list_for_step", "`step` takes a tensor (N, T); yours gets a list.",
          breaks=(*EVERYTHING, "work"), old="step(torch.tensor([[start_id, *ids] for ids, _ in beginnings]))", new="step([[start_id, *ids] for ids, _ in beginnings])")
    wrong("sequence_only", "You return the sequence without its score. A pair is wanted: the list of ids and the score.",
          breaks=EVERYTHING, old="return found[0], score(found)", new="return found[0]")
    wrong("score_first", "You return the score first. The list of ids comes first, then the score.",
          breaks=EVERYTHING, old="return found[0], score(found)", new="return score(found), found[0]")
    wrong("all_returned", "You return all that was found. The best one alone is wanted: a list of ids, and its score.",
          breaks=EVERYTHING, old="return found[0], score(found)", new="return sorted(((one[0], score(one)) for one in finished or beginnings), key=lambda one: -one[1])")
    wrong("penalty_without_default", "`length_penalty` must be optional: 0.0 is its default.",
          breaks=("values", "ends", "ties", "work"), old="length_penalty: float = 0.0", new="length_penalty: float")
    wrong("penalty_of_1", "Without `length_penalty` you take 1. Its default is 0.0: the plain sum.",
          breaks=("values", "ends", "ties"), old="length_penalty: float = 0.0", new="length_penalty: float = 1.0")
    wrong("end_is_the_start", "You take `start_id` for the end token.",
          breaks=(*EVERYTHING, "work"), old="end_id]", new="start_id]", times=2)
    wrong("dead_ends_kept", "Extensions with a log-probability of −∞ stay in your beam: what can't follow is extended again and again. Leave them out.",
          breaks="work", old="            if value > -math.inf\n", new="")


@MISTAKES.of_quiz("quiz_encoder_decoder", quiz_encoder_decoder)
def in_quiz_encoder_decoder(wrong):
    Q = "queries of cross-attention come from"
    wrong(Q, "the encoder",
                 "the encoder's vectors are what is looked *at*: keys and values. It is the decoder that asks.")
    wrong(Q, "both",
                 "only the decoder asks, one query for each token of the target; keys and values come from the encoder.")
    Q = "rows and columns of its weights"
    wrong(Q, "target and target",
                 "that is the decoder's self-attention. Here each token of the target looks at each token of the source.")
    wrong(Q, "source and source",
                 "that is the encoder's self-attention. Here each token of the target looks at each token of the source.")
    Q = "for one translation the source is encoded"
    wrong(Q, "once for each token written",
                 "the source does not change while the target is written, so neither does the memory: it is made once, and decoded with for every token.")
    wrong(Q, "once for each layer",
                 "all layers of the decoder look at the same memory, what the encoder's last layer returned.")
    Q = "teacher forcing feeds"
    wrong(Q, "what the model wrote so far",
                 "that is what happens afterwards, when the model writes by itself. In training it is given the right tokens, whatever it would have written.")
    wrong(Q, "the right tokens, the next one included",
                 "then it need only copy. The shift to the right, and the mask, see to it that the next one is not there.")
    Q = "a wider beam finds"
    wrong(Q, "the most probable sequence, always",
                 "only a beam that drops nothing is sure of that. What is dropped early may have been the best beginning.")
    wrong(Q, "a better translation, always",
                 "it finds more probable sequences, mostly, and the most probable one need not be the best: often it is too short.")
