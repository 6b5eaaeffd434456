"""Wrong answers to the exercises of 10-encoder-decoder."""

from __future__ import annotations

from anatomy.course.families import axes_of_padding, eps_of_norms, layer_dropout
from anatomy.course.nb10_encoder_decoder import right
from anatomy.engine.families import (
    called_otherwise,
    class_beginnings,
    one_more_or_less,
    other_measures_of_surprise,
    squeezed,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.


SHAPE_TOO = ("shape", "values")
ONE_TOKEN = "You write one token too {}: `max_len` is how many tokens may be written, the start token not counted."


@MISTAKES.of(right.shift_right)
def in_shift_right(at):
    SHIFTED = "torch.cat([start, target[:, :-1]], dim=1)"
    at(SHIFTED, "values",
       ("not_shifted", "torch.cat([start, target], dim=1)[:, 1:]", "Nothing is shifted: you return the target as it is, so at each position the decoder is fed the very token that it must predict there. Put the start token first, then all of the target but its last."),
       ("no_start", "target[:, :-1]", "There is no start token: your result is the target without its last, one position too short. Put `start_id` in front.", SHAPE_TOO),
       ("first_dropped_no_start", "target[:, 1:]", "You drop the first token and put nothing in: one position is missing, and what is left has moved to the left. Drop the last one, and put `start_id` in front.", SHAPE_TOO),
       ("to_the_left", "torch.cat([target[:, 1:], start], dim=1)", "You shift the wrong way, to the left: each position has the token that comes *after* the one to be written. To the right: the start token first, then all of the target but its last."),
       ("left_last_repeated", "torch.cat([target[:, 1:], target[:, -1:]], dim=1)", "You shift to the left, and the last token is there twice. To the right: the start token first, then all of the target but its last."),
       ("rolled_left", "target.roll(-1, dims=1)", "You shift to the left, and the first token comes round to the end (`torch.roll` by −1 does that). To the right: the start token first, then all of the target but its last."),
       ("rolled", "target.roll(1, dims=1)", "The last token comes round to the front (`torch.roll` does that). The start token belongs there."),
       ("rolled_over_rows", "target.roll(1)", "The last token of a row lands at the beginning of the next one (`roll` without `dims` does that). Shift each row by itself, along dim 1, and put the start token into its first place."),
       ("rows_run_on", "torch.cat([start.flatten()[:1], target.flatten()[:-1]]).reshape(target.shape)", "Your shift runs over the ends of the rows: the first row gets the start token, and each later one the last token of the row above. Every row is a sequence of its own and has its start token."),
       ("rows_shifted", "torch.cat([torch.full_like(target[:1], start_id), target[:-1]], dim=0)", "You shift the rows: the batch has moved down by one, and each sequence is as it was. It is the positions within a row that move: dim 1."),
       ("rows_rolled_no_start", "target.roll(1, dims=0)", "You roll the rows (dim 0): each target is in another row of the batch, as it was. It is the positions within a row that move, dim 1, and the start token comes first."),
       ("by_two", "torch.cat([start, start, target[:, :-2]], dim=1)[:, : target.size(1)]", "You shift by two positions. By one: position t has token t − 1."),
       ("floats", "torch.cat([start.float(), target[:, :-1]], dim=1)", "Your token ids have become floats (`torch.ones` and `torch.full` with a float, or `torch.zeros`, make them). Ids are whole numbers: `torch.full_like(target[:, :1], start_id)`.", "shape"),
       ("as_a_list", f"{SHIFTED}.tolist()", "You return a list. A tensor (B, T) is needed, as the decoder takes it.", "shape"))
    at("target[:, :-1]", SHAPE_TOO,
       ("last_kept", "target", "The last token is still there, so your result is one position too long. It has as many positions as the target: start token, then all of the target but its last."),
       ("start_replaces_the_first", "target[:, 1:]", "The start token takes the place of the first token, and the others stay where they were. All of them move one position to the right; it is the last one that goes.", "values"),
       ("two_dropped", "target[:, :-2]", "You drop the last *two* tokens, so your result is one position too short. Only the last one goes."),
       ("first_and_last_dropped", "target[:, 1:-1]", "You drop the first token and the last one, so your result is one position too short. Only the last one goes."))
    at(f"return {SHIFTED}", "values",
       ("start_in_place", "target[:, 0] = start_id\n    return target", "You write the start token over the first one in `target` itself, and whoever called you still needs the target: it is what the model has to write. The others have not moved, either. Make a new tensor: start token, then all but the last."),
       ("shifted_in_place", "target[:, 1:] = target[:, :-1].clone()\n    target[:, 0] = start_id\n    return target", "You shift inside `target` itself, and whoever called you still needs it: it is what the model has to write. Make a new tensor (`torch.cat`, or `torch.empty_like`)."),
       ("rows_rolled", "shifted = target.roll(1, dims=0)\n    shifted[:, 0] = start_id\n    return shifted", "You roll the rows (dim 0), so each target is in another row of the batch, and write the start token over its first token. It is the positions within a row that move: dim 1."),
       ("start_in_the_first_row_only", "shifted = target.roll(1, dims=1)\n    shifted[0, 0] = start_id\n    return shifted", "Only the first row gets the start token. Every row is a sequence of its own and has its start token."),
       ("start_in_the_last_row_only", "shifted = target.roll(1, dims=1)\n    shifted[-1, 0] = start_id\n    return shifted", "Only the last row gets the start token. Every row is a sequence of its own and has its start token."),
       ("first_row_filled", "shifted = target.roll(1, dims=1)\n    shifted[0] = start_id\n    return shifted", "You fill the whole first row with the start token (`[0]` is a row). It belongs at the first *position* of every row: `[:, 0]`."),
       ("start_everywhere", "return torch.full_like(target, start_id)", "Every position has the start token. Only the first has: after it come the target's own tokens. In a loop this comes of overwriting tokens before they are copied: copy from `target`, not from the tensor that you write into."),
       ("smeared", "shifted = target.clone()\n    for place in range(1, target.size(1)):\n        shifted[:, place] = shifted[:, place - 1]\n    shifted[:, 0] = start_id\n    return shifted", "After the start token comes the target's first token, again and again. In a loop this comes of overwriting tokens before they are copied: copy from `target`, not from the tensor that you write into."))
    at("[start, target[:, :-1]]", "values",
       ("start_at_the_end", "[target[:, :-1], start]", "The start token is at the end, where the last token was, and nothing has moved. It comes first, and pushes all others one position to the right."),
       ("start_behind_all", "[target, start]", "The start token is after the target, and your result is one position too long. It comes first, and the last token goes.", SHAPE_TOO))
    at("torch.full_like(target[:, :1], start_id)", "values",
       ("first_repeated", "target[:, :1]", "The first is the target's own first token, a second time. The start token belongs there: `start_id`."),
       ("one_start_for_all", "torch.tensor([[start_id]])", "Your start token has the shape (1, 1), and there are {B} rows: `torch.cat` does not repeat it. Make it (B, 1).", SHAPE_TOO))
    for number in (0, 1):
        at("target[:, :1], start_id", "values", (f"start_is_{number}", f"target[:, :1], {number}", f"You always put {number} in front, whatever `start_id` says."))
    for name, base in (("keeps_its_token", "target.clone()"), ("stays_0", "torch.zeros_like(target)")):
        at(f"return {SHIFTED}", "values", (f"last_place_{name}", f"shifted = {base}\n    shifted[:, 1:-1] = target[:, :-2]\n    shifted[:, 0] = start_id\n    return shifted", "The last position " + ("keeps its own token" if name == "keeps_its_token" else "has a 0") + ", as if the shift (or its loop) ended one position early. The token before it belongs there."))
    for number, base in enumerate(("target.clone()", "torch.zeros_like(target)")):
        begun = f"shifted = {base}\n    shifted[:, 1:] = target[:, :-1]\n"
        at(f"return {SHIFTED}", "values",
           (f"start_in_the_first_row_only_{number}", f"{begun}    shifted[0, 0] = start_id\n    return shifted", "Only the first row gets the start token (`[0, 0]` is one place of one row). Every row has its start token: `[:, 0]`."),
           (f"first_row_filled_{number}", f"{begun}    shifted[0] = start_id\n    return shifted", "You fill the whole first row with the start token (`[0]` is a row). It belongs at the first *position* of every row: `[:, 0]`."))
    at("target[:, :1], start", SHAPE_TOO, ("start_without_axis", "target[:, 0], start", "Your start tokens have the shape (B,), one axis fewer than the target, and can't be put beside it. Make it (B, 1)."))
    at("dim=1", SHAPE_TOO, ("put_above", "dim=0", "You put the start tokens *above* the target (dim 0), where the shapes don't fit. They are beside it: dim 1."))
    at("[start, target", SHAPE_TOO, ("start_not_a_tensor", "[start_id, target", "`torch.cat` takes tensors, and `start_id` is a plain number. Make a tensor (B, 1) of it: `torch.full_like(target[:, :1], start_id)`."))
    at("target[:, :-1]]", "values", ("reversed", "target[:, 1:].flip(1)]", "Your tokens are in reverse order after the start token. They should keep their order, and each should move one position to the right."))
    squeezed(at, SHAPE_TOO, "has the shape of the target")


@MISTAKES.of(right.decoder_mask)
def in_decoder_mask(at):
    REAL, CAUSAL = "(target != pad_id)[:, None, None, :]", "causal_mask(target.size(1)).to(target.device)"
    BOTH = f"real & {CAUSAL}"
    at(BOTH, "values",
       ("causal_only", f"{CAUSAL}.expand(target.size(0), 1, -1, -1)", "Your mask hides what comes later, but not the padding: `target` and `pad_id` say which keys are no tokens at all. Both conditions must hold."),
       ("padding_only", "real.expand(-1, 1, target.size(1), -1)", "Your mask hides padding, but not what comes later: each token sees the ones that it has to write. Both conditions must hold."),
       ("turned_round", f"~({BOTH})", "Your mask is the wrong way round: it hides what may be looked at, and shows the rest. True (or 0, where numbers are added) belongs where a query *may* look."),
       ("always_itself", f"{BOTH} | torch.eye(target.size(1), dtype=torch.bool)", "In yours every token may look at itself, padding, too. A key that is padding is hidden from every query, its own included: a real token is before it, so no row is left empty."),
       ("transposed", f"({BOTH}).transpose(-1, -2)", "Your mask is transposed: queries are rows and keys are columns, so entry [t, s] says whether token t may look at token s."),
       ("whole_numbers", f"({BOTH}).long()", "Your mask holds whole numbers, and attention can't tell whether a 1 means “may look” or “add one”. Make it boolean.", "shape"),
       ("floats", f"({BOTH}).float()", "Your mask holds 1.0 and 0.0. Attention *adds* numbers to the scores, so these hide nothing: make it boolean.", "shape"),
       ("summed", f"real.long() + {CAUSAL}.long()", "You add the two conditions as numbers, 0, 1 and 2. Both must hold: `&` of two boolean tensors.", SHAPE_TOO),
       ("padding_sees_all", f"{BOTH} | (target == pad_id)[:, None, :, None]", "In yours a query that is padding may look at everything, at padding and later tokens, too. What is hidden is hidden from every query; the first token is never padding, so no row is empty."),
       ("zero_times_infinity", f"(~({BOTH})) * -torch.inf", "There is NaN in your mask (0 · (−∞) is not 0 but NaN), or +∞, and all weights become NaN. Use `masked_fill`, `torch.where`, or a boolean mask.", SHAPE_TOO),
       ("plus_infinity", f"torch.zeros(target.size(0), 1, target.size(1), target.size(1)).masked_fill(~({BOTH}), torch.inf)", "What is hidden has +∞ in yours, and draws all attention there. It is −∞ that is added, or a boolean mask.", SHAPE_TOO),
       ("nearly_zero", f"(~({BOTH})) * 1e-9", "1e-9 is nearly 0, so what should be hidden is looked at. The minus sign belongs before the number, −1e9, and not into its exponent. (Or make the mask boolean.)", SHAPE_TOO),
       ("plus_a_billion", f"(~({BOTH})) * 1e9", "What is hidden has a large positive number in yours, and draws all attention there. It is −1e9 (or −∞) that is added, or a boolean mask.", SHAPE_TOO),
       ("nothing_hidden", f"({BOTH}) | True", "Your mask hides nothing: every token may look at every other, later ones and padding, too."),
       ("everything_hidden", f"({BOTH}) & False", "Your mask hides everything. True belongs where a query may look."))
    for number, called in ((10, "ten"), (100, "hundred"), (1000, "thousand")):
        at(BOTH, SHAPE_TOO, (f"minus_{called}", f"(~({BOTH})) * -{number}.0", f"A gap of {number} between what is shown and what is hidden is not enough: scores can differ by more. Make the mask boolean, or take −∞ (or a number like −1e9)."))
    at((REAL, CAUSAL), SHAPE_TOO, ("cut_to_the_longest", ("(target != pad_id)[:, None, None, : int((target != pad_id).sum(dim=1).max())]", "causal_mask(int((target != pad_id).sum(dim=1).max()))"), "Your mask is only as large as the longest target without its padding. It should be (B, 1, T, T), with T = `target.size(1)` = {T}."))
    at("real &", "values",
       ("or", "real |", "A key may be looked at when it is real *and* does not come later. Yours lets a query look where one of the two holds. (Of what may be seen, both must be true, `&`; of what is hidden, one is enough, `|`.)"),
       ("either_but_not_both", "real ^", "Yours lets a query look where exactly one of the two conditions holds (`^` is “either, but not both”). Both must hold: `&`."),
       ("first_for_all", "real[:1].expand_as(real) &", "Every row of the batch gets the first one's padding. Each target has a length of its own."),
       ("padding_of_any", "real.all(dim=0, keepdim=True).expand_as(real) &", "You hide a position in all targets as soon as one of them has padding there. Each target has a length of its own: keep the batch's axis."),
       ("padding_of_all", "real.any(dim=0, keepdim=True).expand_as(real) &", "You hide a position only where all targets have padding there. Each target has a length of its own: keep the batch's axis."))
    at(CAUSAL, "values",
       ("sees_the_future", "causal_mask(target.size(1)).T", "Your triangle is the wrong way round: each token sees itself and what comes *later*. Query t may look at keys 0 … t, so True is on and below the diagonal (`tril`)."),
       ("not_itself", "causal_mask(target.size(1)).tril(-1)", "A token can't look at itself in yours: the diagonal is missing (`diagonal=-1`, or `<` for `<=`). The first token then sees nothing at all."),
       ("one_ahead", "torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril(1)", "Each token also sees the next one in yours (`diagonal=1` does that): that is the one to be written. On and below the diagonal, not above."),
       ("only_later_ones", "~causal_mask(target.size(1))", "You let each token look at later ones only, not even at itself. Query t may look at keys 0 … t: on and below the diagonal."))
    at("target != pad_id", "values",
       ("padding_instead", "target == pad_id", "Your condition for padding is turned round: padding may be looked at and real tokens may not. Real is what is *not* `pad_id`."),
       ("pad_is_0", "target != 0", "You take 0 for padding, whatever `pad_id` says."),
       ("larger_than_pad", "target > pad_id", "You take every id that is not above `pad_id` for padding. Padding is that one id; smaller ids can be real tokens."))
    at("[:, None, None, :]", SHAPE_TOO, ("no_axis_for_heads", "[:, None, :]", "The heads' axis is missing: your (B, T, T) would meet (B, H, T, T) from the right, and the batch would be taken for the heads. It should be (B, 1, T, T)."))
    LATER, PADDED = f"(~{CAUSAL})", "(~real)"
    for number, (later, padded) in enumerate((
        (f"{LATER} * -torch.inf", f"{PADDED} * -torch.inf"),
        (f"{LATER} * -torch.inf", f"torch.zeros(real.shape).masked_fill({PADDED}, -torch.inf)"),
        (f"torch.zeros(target.size(1), target.size(1)).masked_fill({LATER}, -torch.inf)", f"{PADDED} * -torch.inf"),
    )):
        at(BOTH, SHAPE_TOO, (f"zero_times_infinity_{number}", f"{later} + {padded}", "There is NaN in your mask (0 · (−∞) is not 0 but NaN), or +∞, and all weights become NaN. Use `masked_fill`, `torch.where`, or a boolean mask."))
    TIGHT = "`&` binds more tightly than `!=`, so you don't compare `target` with `pad_id`: {}. Put parentheses around the comparison."
    at(BOTH, "values",
       ("padding_and_triangle_first", f"target[:, None, None, :] != (pad_id & {CAUSAL})", TIGHT.format("`pad_id & …` comes first, and the tokens are compared with what comes of it")),
       ("target_and_triangle_first", f"({CAUSAL} & target[:, None, None, :]) != pad_id", TIGHT.format("the tokens and the triangle are joined first, and `pad_id` is compared with what comes of it")))
    at("target.size(1)", SHAPE_TOO, ("triangle_of_the_batch", "target.size(0)", "Your triangle is as large as the batch, `target.size(0)` = {B}. It has a row and a column for each of T tokens: `target.size(1)` = {T}."))
    at(REAL, "values",
       ("first_padding", "(torch.arange(target.size(1)) < (target == pad_id).int().argmax(dim=1, keepdim=True))[:, None, None, :]", "Where a row has no padding, yours hides all of it (`argmax` finds no padding there and returns 0). Compare each token, `target != pad_id`, or count: `(target != pad_id).sum(dim=1)`."),
       ("one_too_short", "(torch.arange(target.size(1)) < (target != pad_id).sum(dim=1, keepdim=True) - 1)[:, None, None, :]", "The last real token of each row is hidden together with the padding. Hidden is what is `pad_id`, and nothing else."),
       ("one_too_long", "(torch.arange(target.size(1)) < (target != pad_id).sum(dim=1, keepdim=True) + 1)[:, None, None, :]", "The first padding token of each row can still be looked at. Hidden is all that is `pad_id`."))
    squeezed(at, SHAPE_TOO, "is (B, 1, T, T), also for B = 1")
    axes_of_padding(at, "T", SHAPE_TOO, rows="values")


@MISTAKES.of(right.CrossAttention)
def in_CrossAttention(at):
    NUMBERS = ("values", "gradients", "mask")
    WITH_SHAPE = ("shape", *NUMBERS)
    BUILT = ("values", "parameters", "gradients", "mask")
    STOPS = ("shape", *BUILT)
    ATTEND = "masked_attention(query, key, value, mask)"
    BY_HAND = "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)\n        if mask is not None:\n            scores = scores.masked_fill(mask == 0, -torch.inf)\n        context = scores.softmax(dim=-1) @ value"

    def by_hand(old, new):
        assert old in BY_HAND, old
        return BY_HAND.replace(old, new)

    at("self.k(memory)", NUMBERS,
       ("keys_from_the_decoder", "self.k(x)", "Your keys come from x, the decoder's own tokens, while the values come from the memory. Both keys and values come from the memory: a weight says how much of memory token s is taken. (Where S differs from T, the shapes don't fit.)", STOPS),
       ("keys_not_projected", "memory", "Your keys are the memory as it is: `k` is never used."),
       ("keys_by_q", "self.q(memory)", "Your keys are made by `q`, the layer for queries, and `k` is never used."))
    at("self.v(memory)", NUMBERS,
       ("values_from_the_decoder", "self.v(x)", "Your values come from x, the decoder's own tokens, while the keys come from the memory. Keys and values both come from the memory. (Where S differs from T, the shapes don't fit.)", STOPS),
       ("values_are_keys", "self.k(memory)", "Your values are the keys: `v` is never used. Keys say what a token answers to, values what is handed over."),
       ("values_not_projected", "memory", "Your values are the memory as it is: `v` is never used."))
    at(("self.k(memory)", "self.v(memory)"), NUMBERS,
       ("self_attention", ("self.k(x)", "self.v(x)"), "This is self-attention: queries, keys and values all come from x, and the memory is never looked at. Keys and values come from `memory`."),
       ("k_and_v_swapped", ("self.v(memory)", "self.k(memory)"), "`k` and `v` have changed places: the layer `k` makes keys of the memory, the layer `v` its values."),
       ("memory_detached", ("self.k(memory.detach())", "self.v(memory.detach())"), "No gradient gets back to the memory: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it, and the encoder would never learn.", "gradients"))
    at("self.q(x)", NUMBERS,
       ("queries_from_memory", "self.q(memory)", "Everything comes from the memory, so you get one vector for each of the S source tokens. Queries come from x: one for each of T target tokens.", WITH_SHAPE),
       ("queries_not_projected", "x", "Your queries are x as it is: `q` is never used."),
       ("queries_by_k", "self.k(x)", "Your queries are made by `k`, the layer for keys, and `q` is never used."))
    at(("self.q(x)", "self.k(memory)", "self.v(memory)"), WITH_SHAPE, ("roles_swapped", ("self.q(memory)", "self.k(x)", "self.v(x)"), "The two sequences have changed places: your queries come from the memory, keys and values from x. x asks, the memory answers. (And x comes first among the arguments.)"))
    at(ATTEND, "mask",
       ("causal", "masked_attention(query, key, value, torch.ones(x.size(1), memory.size(1)).tril().bool() & (mask if mask is not None else torch.tensor(True)))", "You hide later source tokens, with a triangle as in the decoder's self-attention. The source is all there before the first word is written: every query may look at all of it, unless `mask` says otherwise.", NUMBERS),
       ("causal_without_a_mask", "masked_attention(query, key, value, torch.ones(x.size(1), memory.size(1)).tril() if mask is None else mask)", "Without a mask you hide later source tokens (`is_causal`, or a triangle of your own). `None` means: everywhere. The source is all there before the first word is written.", ("values", "gradients")),
       ("mask_ignored", "masked_attention(query, key, value)", "The mask hides nothing in yours, so padding of the source is looked at. (`masked_fill`, without `_` at its end, returns new scores and leaves the old ones as they are.)"),
       ("mask_turned_round", "masked_attention(query, key, value, None if mask is None else ~mask)", "You hide where the mask is True and look where it is False. True is where query t *may* look at key s."),
       ("mask_turned_round_in_the_library", "F.scaled_dot_product_attention(query, key, value, None if mask is None else ~mask)", "You hide where the mask is True and look where it is False. True is where query t *may* look at key s, for `F.scaled_dot_product_attention`, too."),
       ("mask_turned", "masked_attention(query, key, value, None if mask is None else mask.transpose(-2, -1))", "You exchange the mask's last two axes. It comes as (…, T, S), or broadcasts to that: hand it on as it is."),
       ("mask_of_the_first_query", "masked_attention(query, key, value, None if mask is None else mask[..., :1, :])", "All queries get the mask of the first one. Each has its own row: hand the mask on as it is."),
       ("mask_of_the_first_head", "masked_attention(query, key, value, mask if mask is None or mask.dim() < 4 else mask[:, :1])", "All heads get the mask of the first one. A mask (B, H, T, S) has one for each: hand it on as it is."),
       ("mask_with_more_axes", "masked_attention(query, key, value, None if mask is None else mask[:, None, None])", "You give the mask new axes. It already broadcasts to (B, H, T, S): hand it on as it is."),
       ("mask_of_the_first", "masked_attention(query, key, value, mask if mask is None or mask.dim() < 4 else mask[:1])", "Every row of the batch gets the first one's mask. Sources have different lengths."))
    at(f"context = {ATTEND}", "mask",
       ("mask_added", by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores + mask"), "You add the mask to the scores, where True counts as 1 and False as 0: nothing is hidden. Where it is False the score becomes −∞."),
       ("mask_multiplied", by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores * mask"), "Where the mask is False the score becomes 0 in yours (by multiplying with the mask; or nearly 0, as 1e-9 is), and e⁰ = 1 is no small weight. It has to become −∞."),
       ("mask_after_softmax", by_hand(BY_HAND[BY_HAND.index("if mask"):], "weights = scores.softmax(dim=-1)\n        context = (weights if mask is None else weights * mask) @ value"), "You set weights to 0 after the softmax, so the others no longer sum to 1. Hide before it: the score becomes −∞."),
       ("minus_ten", by_hand("-torch.inf", "-10.0"), "A gap of 10 between real tokens and padding is not enough: padding keeps some of its attention. The score becomes −∞ (or something like −1e9)."),
       ("minus_hundred", by_hand("-torch.inf", "-100.0"), "A gap of 100 between real tokens and padding is not enough: scores can differ by more. The score becomes −∞ (or something like −1e9)."),
       ("plus_infinity", by_hand("-torch.inf", "torch.inf"), "Where the mask is False the score becomes +∞, and the softmax NaN. It has to become −∞."),
       ("zero_times_infinity", by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores + ~mask * -torch.inf"), "0 · (−∞) is not 0 but NaN: a mask multiplied by −∞ ruins the scores that it should leave alone. Use `masked_fill` or `torch.where`."))
    at(f"context = {ATTEND}", NUMBERS,
       ("not_scaled", by_hand(" / math.sqrt(query.size(-1))", ""), "The scores are not divided by √K, the root of a head's width (here √{K})."),
       ("by_root_d", by_hand("math.sqrt(query.size(-1))", "math.sqrt(x.size(-1))"), "You divide the scores by √D. Each head has K = D / H = {K} columns of its own, so it is √K."),
       ("by_twice_k", by_hand("math.sqrt(query.size(-1))", "(2 * query.size(-1))"), "You divide the scores by 2·K, twice the width; it is √K. (Python reads `/ K ** 1 / 2` as `/ (K ** 1) / 2`: the root is `K ** 0.5`.)"),
       ("by_k", by_hand("math.sqrt(query.size(-1))", "query.size(-1)"), "You divide the scores by K (or by √K twice, as `masked_attention` does it, too); it is √K, once."),
       ("softmax_over_queries", by_hand("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"), "Your softmax runs over the queries: the weights of one key sum to one. Each *query* shares out its attention: over the keys, the last axis."),
       ("no_softmax", by_hand("scores.softmax(dim=-1)", "scores"), "The scores are used as weights as they are: the softmax is missing."),
       ("averaged_memory", by_hand("scores.softmax(dim=-1)", "(scores * 0).softmax(dim=-1)"), "Every target token gets the same mixture: the average of all memory tokens. The weights come from queries and keys."))
    at("mask: Tensor | None = None", ("shape", "values", "parameters", "gradients"), ("mask_without_default", "mask: Tensor | None", "`forward` demands a mask. It is optional: `mask=None`, and then every query may look everywhere."))
    at((", mask: Tensor | None = None", ATTEND), "mask", ("no_mask", ("", "masked_attention(query, key, value)"), "`forward` takes no mask. Give it a third parameter, `mask=None`."))
    at(f"context = {ATTEND}", NUMBERS, ("softmax_over_queries_finite", BY_HAND.replace("-torch.inf", "-1e9").replace("dim=-1", "dim=-2"), "Your softmax runs over the queries: the weights of one key sum to one. Each *query* shares out its attention: over the keys, the last axis."))
    for name, hidden in (("", "-torch.inf"), ("_finite", "-1e9")):
        at(f"context = {ATTEND}", NUMBERS, (f"softmax_over_heads{name}", BY_HAND.replace("-torch.inf", hidden).replace("dim=-1", "dim=1"), "Your softmax runs over the heads: for each query and key the heads' weights sum to one. Each head's query shares out its attention over the *keys*, the last axis."))
    HIDDEN_AS_0 = "And where the mask is False the score becomes 0 in yours; it has to become −∞."
    for name, scale, sentence in (
        ("not_scaled", "", "The scores are not divided by √K, the root of a head's width (here √{K})."),
        ("by_root_d", " / math.sqrt(x.size(-1))", "You divide the scores by √D. Each head has K = D / H = {K} columns of its own, so it is √K."),
    ):
        at(f"context = {ATTEND}", NUMBERS, (f"{name}_and_mask_multiplied", by_hand("scores.masked_fill(mask == 0, -torch.inf)", "scores * mask").replace(" / math.sqrt(query.size(-1))", scale), f"{sentence} {HIDDEN_AS_0}"))
    at("self.output_linear(merge_heads(context))", NUMBERS, ("output_not_mixed", "merge_heads(context)", "`output_linear` is never called: the heads' results are side by side, and nothing mixes them."))
    at(("        self.output_linear = nn.Linear(width, width)\n", "self.output_linear(merge_heads(context))"), BUILT, ("no_output_linear", ("", "merge_heads(context)"), "There is no `output_linear`: the heads' results are side by side, and nothing mixes them. It goes from D to D, with bias."))
    at("self.num_heads = config.num_attention_heads", NUMBERS,
       ("one_head", "self.num_heads = 1", "You use a single head. `config.num_attention_heads` is {H}: split queries, keys and values."),
       ("heads_called_otherwise", "self.num_heads = config.num_heads", "There is no `config.num_heads`: the number of heads is `config.num_attention_heads`.", STOPS))
    for number, hidden in enumerate(("mask if mask is None or mask.dim() < 4 else mask[:, 0]", "mask", "mask if mask is None else mask.squeeze(1)")):
        at(f"context = {ATTEND}  # (B, H, T, K)\n        return self.output_linear(merge_heads(context))", NUMBERS, (f"not_split_{number}", f"return self.output_linear(masked_attention(self.q(x), self.k(memory), self.v(memory), {hidden}))", "Nothing is split into heads: each of the {H} heads has K = {K} columns of its own, and weights of its own. `split_heads` before attention, `merge_heads` after it."))
    at(("self.q(x)", "self.k(memory)"), NUMBERS, ("q_and_k_swapped", ("self.k(x)", "self.q(memory)"), "`q` and `k` have changed places: the layer `q` makes queries of x, the layer `k` makes keys of the memory."))
    at("return self.output_linear(merge_heads(context))", WITH_SHAPE,
       ("skip_inside", "return x + self.output_linear(merge_heads(context))", "You add x to the result. The skip connection belongs to the layer around this one.", NUMBERS),
       ("dropout", "return F.dropout(self.output_linear(merge_heads(context)), 0.1, self.training)", "You drop numbers in training mode. This module has no dropout: the layer around it drops what it returns.", "values"),
       ("returns_weights", "return self.output_linear(merge_heads(context)), context", "You return two things. The result alone is needed, (B, T, D)."),
       ("last_query_only", "return self.output_linear(merge_heads(context))[:, -1:]", "Only the last query's result comes out. Every target token has its own: (B, T, D)."))
    at((*(f"split_heads(self.{made}, self.num_heads)" for made in ("q(x)", "k(memory)", "v(memory)")), "merge_heads(context)"), NUMBERS, ("reshaped_both_ways", (*(f"self.{made}.reshape(x.size(0), self.num_heads, {length}, -1)" for made, length in (("q(x)", "x.size(1)"), ("k(memory)", "memory.size(1)"), ("v(memory)", "memory.size(1)"))), "context.reshape(x.shape)"), "You cut into heads, and merge them, with a `view` or `reshape` alone, which mixes tokens and columns. First (B, T, H, K), then `transpose(1, 2)`, and the same way back; `split_heads` and `merge_heads` do it."))
    at((*(f"split_heads(self.{made}, self.num_heads)" for made in ("q(x)", "k(memory)", "v(memory)")), "merge_heads(context)"), NUMBERS, ("every_hth_column", (*(f"self.{made}.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)" for made in ("q(x)", "k(memory)", "v(memory)")), "context.permute(0, 2, 3, 1).flatten(-2)"), "A head of yours has {K} columns that are {H} apart, not neighboring ones: the axes H and K are exchanged where you cut. `split_heads` cuts into (…, H, K), and `merge_heads` puts the heads side by side."))
    at("merge_heads(context)", NUMBERS, ("context_added", "merge_heads(context + query)", "Queries are added to what attention returns. The result is a mixture of values, and nothing else."))
    at("nn.Linear(width, width)", BUILT, ("no_bias", "nn.Linear(width, width, bias=False)", "Your four linear layers have no bias; they have one each, as in notebook 04."), times=4)
    at(("self.q = nn.Linear(width, width)", "self.k = nn.Linear(width, width)", "self.v = nn.Linear(width, width)"), BUILT, ("no_bias_in_qkv", ("self.q = nn.Linear(width, width, bias=False)", "self.k = nn.Linear(width, width, bias=False)", "self.v = nn.Linear(width, width, bias=False)"), "`q`, `k` and `v` have no bias; all four linear layers have one."))
    at("self.v = nn.Linear(width, width)", BUILT, ("one_layer_for_keys_and_values", "self.v = self.k", "`k` and `v` are the same layer under two names. Make two."))
    at("self.k = nn.Linear(width, width)", BUILT, ("one_layer_for_queries_and_keys", "self.k = self.q", "`q` and `k` are the same layer under two names. Make two."))
    for q, k, v in (("query", "key", "value"), ("q_proj", "k_proj", "v_proj"), ("w_q", "w_k", "w_v"), ("q_linear", "k_linear", "v_linear"), ("wq", "wk", "wv")):
        at(("self.q = ", "self.k = ", "self.v = ", "self.q(", "self.k(", "self.v("), BUILT, (f"called_{q}", (f"self.{q} = ", f"self.{k} = ", f"self.{v} = ", f"self.{q}(", f"self.{k}(", f"self.{v}("), f"Your layers are called `{q}`, `{k}` and `{v}`. They must be called `q`, `k` and `v`."))
    called_otherwise(at, "output_linear", ("out", "output", "out_proj", "o", "proj", "fc", "linear", "w_o"), BUILT, name="output_called")
    at("query = split", NUMBERS, ("memory_of_the_first", "memory = memory[:1].expand_as(memory)\n        query = split", "Every row of the batch looks at the first one's memory. Each target has a source of its own."))
    class_beginnings(at, STOPS, takes="config")
    squeezed(at, ("shape", "values", "gradients"), "is (B, T, D), also for one sentence or one token")


@MISTAKES.of(right.TransformerDecoderLayer)
def in_TransformerDecoderLayer(at):
    NUMBERS = ("values", "gradients", "masks", "eps")
    DROPOUT_TOO = ("dropout", *NUMBERS)
    BUILT = ("parameters", *DROPOUT_TOO)
    FIRST = "x = self.layer_norm_1(x + self.dropout(self.attention(x, mask)))"
    SECOND = "x = self.layer_norm_2(x + self.dropout(self.cross_attention(x, memory, memory_mask)))"
    THIRD = "return self.layer_norm_3(x + self.feed_forward(x))"
    NORM = "LayerNorm(config.hidden_size, config.layer_norm_eps)"
    SELF, CROSS = "self.dropout(self.attention(x, mask))", "self.dropout(self.cross_attention(x, memory, memory_mask))"
    at((FIRST, SECOND, THIRD), NUMBERS, ("pre_norm", ("x = x + self.dropout(self.attention(self.layer_norm_1(x), mask))", "x = x + self.dropout(self.cross_attention(self.layer_norm_2(x), memory, memory_mask))", "return x + self.feed_forward(self.layer_norm_3(x))"), "Your norms come before the three parts: that is pre-norm. In the model of 2017 each sum is normalized: norm(x + part(x))."))
    at(("self.layer_norm_1(x + ", "self.layer_norm_2(x + ", "self.layer_norm_3(x + "), NUMBERS, ("norm_inside_the_sum", ("x + self.layer_norm_1(", "x + self.layer_norm_2(", "x + self.layer_norm_3("), "You normalize what each part returns, and add x afterwards. Post-norm normalizes the sum: norm(x + part(x))."))
    at("x + self", DROPOUT_TOO,
       ("no_skips", "self", "The three skip connections are missing. What is normalized is the *sum*: norm(x + part(x))."),
       ("multiplied", "x * self", "You multiply where a sum is needed: norm(x + part(x))."), times=3)
    for number, part, call in ((1, "self-attention", SELF), (2, "cross-attention", CROSS), (3, "the feed-forward network", "self.feed_forward(x)")):
        at(f"x + {call}", NUMBERS if number == 1 else DROPOUT_TOO, (f"no_skip_{number}", call, f"The skip connection around {part} is missing: norm(x + …)."))
        at(f"self.layer_norm_{number}(x + {call})", NUMBERS,
           (f"no_norm_{number}", f"x + {call}", f"The sum after {part} is not normalized: `layer_norm_{number}` has no effect in yours. Post-norm normalizes the sum: norm(x + …)."),
           (f"norm_{number}_first", f"x + {call.replace('(x', f'(self.layer_norm_{number}(x)', 1)}", f"`layer_norm_{number}` comes before {part} in yours, and the sum after it is not normalized: that is pre-norm. Post-norm normalizes the sum: norm(x + …)."),
           (f"norm_{number}_inside_the_sum", f"x + self.layer_norm_{number}({call})", f"You normalize what {part} returns, and add x afterwards. Post-norm normalizes the sum: norm(x + …)."))
    at((f"self.layer_norm_1(x + {SELF})", f"self.layer_norm_2(x + {CROSS})", "self.layer_norm_3(x + self.feed_forward(x))"), NUMBERS, ("no_norms", (f"x + {SELF}", f"x + {CROSS}", "x + self.feed_forward(x)"), "The norms have no effect in yours. Each of the three sums goes through its own: norm(x + part(x))."))
    at((f"self.layer_norm_1(x + {SELF})", f"self.layer_norm_2(x + {CROSS})"), NUMBERS, ("only_the_last_norm", (f"x + {SELF}", f"x + {CROSS}"), "There is one norm, at the end. Each of the three sums has its own: norm(x + part(x))."))
    for one, two in ((1, 2), (1, 3), (2, 3)):
        at((f"self.layer_norm_{one}(x", f"self.layer_norm_{two}(x"), NUMBERS, (f"norms_{one}_and_{two}_swapped", (f"self.layer_norm_{two}(x", f"self.layer_norm_{one}(x"), f"`layer_norm_{one}` and `layer_norm_{two}` have changed places: 1 comes after self-attention, 2 after cross-attention, 3 after the feed-forward network."))
        at(f"self.layer_norm_{two}(x", NUMBERS, (f"norm_{one}_for_{two}", f"self.layer_norm_{one}(x", f"You use `layer_norm_{one}` where `layer_norm_{two}` belongs. Each sum has a norm of its own."))
        at(f"self.layer_norm_{two} = {NORM}", ("parameters", *NUMBERS), (f"norms_{one}_and_{two}_shared", f"self.layer_norm_{two} = self.layer_norm_{one}", f"`layer_norm_{one}` and `layer_norm_{two}` are the same module under two names. Each sum has a norm of its own."))
    at(("self.layer_norm_2(x", "self.layer_norm_3(x"), NUMBERS, ("one_norm_for_all", ("self.layer_norm_1(x", "self.layer_norm_1(x"), "You use `layer_norm_1` in all three places. Each sum has a norm of its own, with its own weight and bias."))
    at(FIRST, "gradients", ("x_changed_in_place", "x += self.dropout(self.attention(x, mask))\n        x = self.layer_norm_1(x)", "You change `x` in place, by `+=` or a method with `_` at its end, and whoever called you still needs it. Make a new tensor: `x = x + …`."))
    at((FIRST, SECOND), NUMBERS, ("cross_first", (SECOND, FIRST), "Cross-attention comes before self-attention in yours. First the decoder looks at what is written, then at the source. (The norms went along: 2 before 1.)"))
    at((SELF, CROSS), NUMBERS,
       ("cross_first_norms_in_place", (CROSS, SELF), "Cross-attention comes before self-attention in yours. First the decoder looks at what is written, then at the source."),
       ("nothing_dropped", ("self.attention(x, mask)", "self.cross_attention(x, memory, memory_mask)"), "What the two attentions return is not dropped in training mode. The feed-forward network brings its own dropout; both attentions need the layer's.", "dropout"),
       ("dropout_always", ("F.dropout(self.attention(x, mask), self.dropout.p)", "F.dropout(self.cross_attention(x, memory, memory_mask), self.dropout.p)"), "Dropout also acts in eval mode. `F.dropout` doesn't know the mode: tell it, `training=self.training`. An `nn.Dropout` made in `__init__` knows it by itself.", DROPOUT_TOO))
    at((SECOND, THIRD), NUMBERS, ("feed_forward_before_cross", (THIRD.replace("return", "x ="), SECOND.replace("x =", "return")), "The feed-forward network comes before cross-attention in yours (each with its norm). The order is: self-attention, cross-attention, feed-forward network."))
    at((CROSS, "self.feed_forward(x)"), NUMBERS, ("feed_forward_second_norms_in_place", ("self.feed_forward(x)", CROSS), "The feed-forward network comes before cross-attention in yours. The order is: self-attention, cross-attention, feed-forward network."))
    at((SELF, CROSS, "self.feed_forward(x)"), NUMBERS, ("feed_forward_first", ("self.feed_forward(x)", SELF, CROSS), "The feed-forward network comes first in yours. It comes last: self-attention, cross-attention, feed-forward network."))
    at((SELF, "self.feed_forward(x)"), NUMBERS, ("reversed", ("self.feed_forward(x)", SELF), "The order is reversed in yours: self-attention comes first, cross-attention second, the feed-forward network last."))
    at(f"        {SECOND}\n", DROPOUT_TOO,
       ("cross_attention_only_with_a_mask", f"        if memory_mask is not None:\n            {SECOND}\n", "Without a `memory_mask` you leave cross-attention out. `None` means that every query may look everywhere: call it then, too."),
       ("no_cross_attention", "", "Cross-attention has no effect on what you return: the decoder would write without ever looking at the source."))
    at(f"        {FIRST}\n", DROPOUT_TOO,
       ("self_attention_only_with_a_mask", f"        if mask is not None:\n            {FIRST}\n", "Without a `mask` you leave self-attention out. `None` means that every token may look everywhere: call it then, too."),
       ("no_self_attention", "", "Self-attention has no effect on what you return: no token would know what is before it."))
    at(THIRD, DROPOUT_TOO, ("no_feed_forward", "return x", "The feed-forward network has no effect on what you return."))
    at("x + self.feed_forward(x)", DROPOUT_TOO, ("no_feed_forward_but_norm", "x", "The feed-forward network has no effect on what you return: x itself goes through `layer_norm_3`."))
    at((FIRST, "self.cross_attention(x"), NUMBERS, ("cross_from_the_input", ("start = x\n        " + FIRST, "self.cross_attention(start"), "Cross-attention asks with the layer's input, as if the two attentions worked side by side. They work one after the other: it asks with what `layer_norm_1` returned."))
    at((FIRST, "self.layer_norm_2(x +"), DROPOUT_TOO, ("second_skip_from_the_input", ("start = x\n        " + FIRST, "self.layer_norm_2(start +"), "Cross-attention's result is added to the layer's input. It should be added to what `layer_norm_1` returned, the numbers that cross-attention asks with."))
    at((FIRST, "self.layer_norm_3(x +"), DROPOUT_TOO, ("third_skip_from_the_input", ("start = x\n        " + FIRST, "self.layer_norm_3(start +"), "The last sum adds the layer's input. It should add what `layer_norm_2` returned, the same numbers that the feed-forward network gets."))
    at((SECOND, "self.layer_norm_3(x +"), DROPOUT_TOO, ("third_skip_around_both", ("start = x\n        " + SECOND, "self.layer_norm_3(start +"), "The last sum adds what `layer_norm_1` returned. It should add what `layer_norm_2` returned, the same numbers that the feed-forward network gets."))
    at("self.attention(x, mask)", "masks",
       ("memory_to_self_attention", "self.attention(memory, mask)", "Self-attention gets the memory. It should get x: the memory is for cross-attention.", BUILT),
       ("memory_mask_for_both", "self.attention(x, memory_mask)", "Self-attention gets `memory_mask`, the one of cross-attention. It has its own, `mask`."),
       ("mask_unused", "self.attention(x)", "`mask` hides nothing from self-attention, so tokens look ahead: hand it on as it is."),
       ("mask_turned_round", "self.attention(x, None if mask is None else ~mask)", "You pass on `mask` with True and False in each other's place (`~mask`). True is where a query *may* look: pass it on as it is."),
       ("mask_turned_round_by_not", "self.attention(x, None if mask is None else mask.logical_not())", "You pass on `mask` with True and False in each other's place. True is where a query *may* look: pass it on as it is."),
       ("mask_made_boolean", "self.attention(x, None if mask is None else mask.bool())", "You take `mask` for truth values (`.bool()`, `!= 0`). A mask of numbers that are added comes out the wrong way round: 0 is where a query may look, −∞ where it may not. Hand it on unchanged."),
       ("mask_made_of_numbers", "self.attention(x, None if mask is None else mask.float())", "You turn True and False into 1 and 0, and self-attention *adds* numbers to the scores, so nothing is hidden. Hand `mask` on unchanged."),
       ("always_causal", "self.attention(x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if mask is None else mask)", "Without a `mask` you hide later tokens. `None` means that every token may look everywhere: hand `mask` on as it is.", ("values", "gradients", "masks", "eps")))
    at("self.cross_attention(x, memory, memory_mask)", NUMBERS, ("cross_without_memory", "self.cross_attention(x, x, memory_mask)", "Your cross-attention looks at x itself: that is self-attention a second time. Hand it the memory."))
    at("self.cross_attention(x, memory,", BUILT,
       ("cross_arguments_swapped", "self.cross_attention(memory, x,", "Your cross-attention gets the memory as its first argument, so the memory asks and x answers. x comes first."),
       ("memory_normalized", "self.cross_attention(x, self.layer_norm_2(memory),", "You normalize the memory. It comes from an encoder whose layers end with a norm of their own: hand it on as it is.", NUMBERS))
    at("self.cross_attention = CrossAttention(config)", BUILT, ("cross_is_self_attention", "self.cross_attention = SelfAttention(config)", "`cross_attention` is a `SelfAttention` in yours, and takes the memory for a mask. It is a `CrossAttention`."))
    at("self.attention = SelfAttention(config)", BUILT, ("self_is_cross_attention", "self.attention = CrossAttention(config)", "`attention` is a `CrossAttention` in yours, whose second argument is a memory, not a mask. It is a `SelfAttention`."))
    at(("self.attention(x, mask)", "self.cross_attention(x, memory, memory_mask)"), "masks", ("masks_swapped", ("self.attention(x, memory_mask)", "self.cross_attention(x, memory, mask)"), "The two masks have changed places: `mask` is for self-attention, `memory_mask` for cross-attention. (`forward` takes x, memory, mask, memory_mask, in this order.)"))
    at("(x, memory, memory_mask)", "masks",
       ("mask_for_both", "(x, memory, mask)", "Cross-attention gets `mask`, the one of self-attention. It has its own, `memory_mask`, which says where the *source* is padding."),
       ("memory_mask_unused", "(x, memory)", "`memory_mask` hides nothing from cross-attention, so the padding of the source is looked at: hand it on as it is."),
       ("memory_mask_turned_round", "(x, memory, None if memory_mask is None else ~memory_mask)", "You pass on `memory_mask` with True and False in each other's place (`~memory_mask`). True is where a query *may* look: pass it on as it is."),
       ("memory_detached", "(x, memory.detach(), memory_mask)", "No gradient gets back to the memory: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it, and the encoder would never learn.", "gradients"))
    at(("self.attention(x, mask)", "(x, memory, memory_mask)"), "masks", ("masks_unused", ("self.attention(x)", "(x, memory)"), "Neither of the masks hides anything: hand on `mask` to self-attention, `memory_mask` to cross-attention."))
    at((", memory_mask: Tensor | None = None", "(x, memory, memory_mask)"), "masks", ("no_memory_mask", ("", "(x, memory)"), "`forward` takes (x, memory, mask, memory_mask); yours takes no `memory_mask`."))
    at("mask: Tensor | None = None, memory_mask: Tensor | None = None", BUILT, ("masks_without_default", "mask: Tensor | None, memory_mask: Tensor | None", "`forward` demands masks, and is called without them where nothing is hidden: `mask=None, memory_mask=None`."))
    eps_of_norms(at, 3)
    layer_dropout(at, {"attention": "self.attention(x, mask)", "cross_attention": "self.cross_attention(x, memory, memory_mask)"}, "x", THIRD.removeprefix("return "))
    at(f"x + {SELF}", "dropout", ("sum_dropped", "self.dropout(x + self.attention(x, mask))", "You drop numbers of a sum, before or after its norm, so the skip connection is cut at random places. Only what an attention returns is dropped, before it is added."))
    for number in (0.1, 0.2, 0.5):
        at("nn.Dropout(config.hidden_dropout_prob)", "dropout", (f"dropout_of_{number}", f"nn.Dropout({number})", f"Your dropout uses a p of its own, {number}. Take `config.hidden_dropout_prob`."))
    for name, called in (("attention", "self_attention"), ("attention", "self_attn"), ("cross_attention", "cross_attn"), ("cross_attention", "encoder_attention"), ("feed_forward", "ffn"), ("feed_forward", "mlp")):
        init = {"attention": "SelfAttention", "cross_attention": "CrossAttention", "feed_forward": "FeedForward"}[name]
        at((f"self.{name} = {init}", f"self.{name}(x"), BUILT, (f"{name}_called_{called}", (f"self.{called} = {init}", f"self.{called}(x"), f"Your `{called}` must be called `{name}`: other cells find it by that name."))
    at("self.layer_norm_", ("parameters", *NUMBERS),
       ("norms_called_norm_1", "self.norm_", "Your norms are called `norm_1` to `norm_3`; they must be called `layer_norm_1` to `layer_norm_3`."),
       ("norms_called_norm1", "self.norm", "Your norms are called `norm1` to `norm3`; they must be called `layer_norm_1` to `layer_norm_3`."), times=6)
    class_beginnings(at, BUILT, takes="config")
    squeezed(at, ("values", "gradients"), "has the shape of `x`")


@MISTAKES.of(right.Transformer)
def in_Transformer(at):
    NUMBERS = ("values", "gradients", "padding", "encode and decode")
    WHOLE = ("values", "gradients", "padding")  # what `forward` shows, and neither half alone
    DROPOUT_TOO = ("dropout", *NUMBERS)
    BUILT = ("parameters", *NUMBERS)
    STOPS = ("parameters", *DROPOUT_TOO)
    ENCODER = "nn.ModuleList(PostNormEncoderLayer(config) for _ in range(config.num_hidden_layers))"
    DECODER = "nn.ModuleList(TransformerDecoderLayer(config) for _ in range(config.num_hidden_layers))"
    TIED = "self.lm_head.weight = self.token_embeddings.weight"
    EMBED = "vectors * math.sqrt(width) + positions"
    for stack, layers in (("encoder", ENCODER), ("decoder", DECODER)):
        at(layers, STOPS, (f"one_{stack}_layer_too_many", layers.replace("num_hidden_layers", "num_hidden_layers + 1"), f"You make one {stack} layer too many: {{L}} are needed, as `config.num_hidden_layers` says."))
    IN_ENCODER, IN_DECODER = "x = layer(x, mask)", "x = layer(x, memory, mask, memory_mask)"
    ENCODER_MASK, DECODER_MASK = "        mask = padding_mask(source != self.pad_id)", "mask = decoder_mask(target, self.pad_id)"
    MEMORY_MASK = "memory_mask = padding_mask(source != self.pad_id)"
    at(EMBED, NUMBERS,
       ("not_scaled", "vectors + positions", "The tokens' vectors are not multiplied by √D (here √{D} = {root_D}) before the positions are added. The table serves as output layer, too, and its numbers are small for that: §3.4."),
       ("positions_scaled", "(vectors + positions) * math.sqrt(width)", "You multiply the positions by √D, too. Only the tokens' vectors are multiplied; the sines are added as they are."),
       ("only_positions_scaled", "vectors + positions * math.sqrt(width)", "You multiply the positions by √D, and not the tokens' vectors. It is the other way round."),
       ("no_positions", "vectors * math.sqrt(width)", "No positions are added, neither in the encoder nor in the decoder: the model can't tell one order of words from another. Add `sinusoidal_encoding`."),
       ("positions_multiplied", "vectors * math.sqrt(width) * positions", "You multiply by the positions. They are added."))
    at("vectors * math", NUMBERS, ("divided", "vectors / math", "You divide the tokens' vectors by √D; they are multiplied by it."))
    at("vectors * math.sqrt(width)", NUMBERS,
       ("root_cut", "vectors * int(math.sqrt(width))", "You cut √D to a whole number (`int`, `isqrt`, `//`). The tokens' vectors are multiplied by the root as it is: `math.sqrt`."),
       ("times_d", "vectors * width", "You multiply the tokens' vectors by D; it is the root of D."))
    at("x = self.embed(target)", NUMBERS,
       ("no_positions_in_the_decoder", "x = self.dropout(self.token_embeddings(target) * math.sqrt(memory.size(-1)))", "The decoder's tokens have no positions: they are added on both sides, once to the source and once to the target."),
       ("positions_run_on", "both = sinusoidal_encoding(source.size(1) + target.size(1), memory.size(-1))\n        x = self.dropout(self.token_embeddings(target) * math.sqrt(memory.size(-1)) + both[source.size(1) :])", "The decoder's positions go on where the source's end. Target and source both begin at 0."),
       ("decoder_positions_from_one", "width = memory.size(-1)\n        x = self.dropout(self.token_embeddings(target) * math.sqrt(width) + sinusoidal_encoding(target.size(1) + 1, width)[1:])", "The decoder's positions begin at 1. Target and source both begin at 0."),
       ("decode_encodes_again", "memory = self.encode(source)\n        x = self.embed(target)", "`decode` encodes the source itself and does not look at the memory that it is handed. The memory is made once, however much is written.", "encode and decode"),
       ("encoder_only_dropped", "width = memory.size(-1)\n        x = self.token_embeddings(target) * math.sqrt(width) + sinusoidal_encoding(target.size(1), width)", "What goes into the decoder is not dropped in training mode. It goes through `dropout` as the encoder's does.", "dropout"))
    at("x = self.embed(source)", NUMBERS, ("no_positions_in_the_encoder", "x = self.dropout(self.token_embeddings(source) * math.sqrt(self.lm_head.weight.size(-1)))", "The source's tokens have no positions: they are added on both sides, once to the source and once to the target."))
    at("positions = sinusoidal_encoding(ids.size(1), width).to(vectors.device)", ("values", "parameters", "gradients", "dropout"), ("positions_of_the_first_call", "if not hasattr(self, \"kept\"):\n            self.kept = sinusoidal_encoding(ids.size(1), width)\n        positions = self.kept[: ids.size(1)]", "The first call makes as many positions as it has tokens, and they are kept: a longer text that comes later finds too few. Make them in each call, for its own number of tokens."))
    at("sinusoidal_encoding(ids.size(1), width)", NUMBERS, ("positions_from_one", "sinusoidal_encoding(ids.size(1) + 1, width)[1:]", "Your positions begin at 1. They should count from 0, as in notebook 06."))
    at("ids.size(1)", STOPS, ("positions_of_the_batch", "ids.size(0)", "You make as many positions as the batch has rows, `size(0)`. It is one for each token: `size(1)`."))
    at(("        self.dropout = nn.Dropout", "positions = sinusoidal_encoding(ids.size(1), width).to(vectors.device)"), STOPS,
       ("learned_positions", ("        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)\n        self.dropout = nn.Dropout", "positions = self.position_embeddings(torch.arange(ids.size(1)))"), "Your positions are a table to be learned, as BERT's. In the model of 2017 they are sines and cosines, `sinusoidal_encoding`, with nothing to learn."),
       ("positions_end", ("        self.positions = sinusoidal_encoding(config.max_position_embeddings, config.hidden_size)\n        self.dropout = nn.Dropout", "positions = self.positions[: ids.size(1)]"), "Your table of positions ends after `config.max_position_embeddings` rows, and here are more tokens. Sines have no end: make one row for each token, `sinusoidal_encoding(ids.size(1), D)`."))
    at(f"        {TIED}  # (V, D), shared\n", STOPS, ("not_tied", "", "`lm_head` has a weight of its own (a copy is one, too: from the first training step on it differs). It must be the token table itself, one parameter under two names: `self.lm_head.weight = self.token_embeddings.weight`."))
    at(TIED, BUILT, ("numbers_shared_only", "self.lm_head.weight.data = self.token_embeddings.weight.data", "`lm_head.weight` and the token table are two parameters that share memory for now (`.data` does that). They must be one: `self.lm_head.weight = self.token_embeddings.weight`."))
    at(", bias=False", ("values", "parameters", "dropout", "padding", "encode and decode"), ("head_with_bias", "", "`lm_head` has a bias. It goes from D to V without one: its weight is the token table, and there is nothing else to learn."))
    at(("        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)\n", f"        {TIED}  # (V, D), shared\n", "self.lm_head(x)"), "parameters", ("no_head", ("", "", "x @ self.token_embeddings.weight.T"), "There is no `lm_head` among your layers. Make it, D to V without bias, and give it the token table as its weight."))
    at(("        self.dropout = nn.Dropout", "self.embed(target)"), BUILT, ("two_tables", ("        self.target_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)\n        self.dropout = nn.Dropout", "self.dropout(self.target_embeddings(target) * math.sqrt(memory.size(-1)) + sinusoidal_encoding(target.size(1), memory.size(-1)))"), "Source and target have a table each. Here one table, `token_embeddings`, serves both and `lm_head`: §3.4."))
    at("self.lm_head(x)", DROPOUT_TOO,
       ("logits_scaled", "self.lm_head(x * math.sqrt(x.size(-1)))", "You multiply the logits by √D (or what goes into `lm_head`). Only what goes into the first layers is multiplied.", NUMBERS),
       ("logits_divided", "self.lm_head(x / math.sqrt(x.size(-1)))", "You divide the logits by √D (or what goes into `lm_head`). `lm_head` is applied to the last layer's vectors as they are.", NUMBERS),
       ("probabilities", "self.lm_head(x).softmax(dim=-1)", "You return probabilities: no softmax is needed here, the loss has its own. Logits are what `lm_head` returns."),
       ("log_probabilities", "self.lm_head(x).log_softmax(dim=-1)", "You return log-probabilities. Logits are needed: what `lm_head` returns."),
       ("last_place_only", "self.lm_head(x)[:, -1:]", "You return the logits of the last position alone. In training all positions count: (B, T, V)."),
       ("output_dropped", "self.lm_head(self.dropout(x))", "You drop numbers of what goes into `lm_head`. The layers drop what their parts return; nothing is dropped after them.", "dropout"))
    at(("        self.decoder_layers = ", "            x = layer(x, mask)\n        return x"), STOPS, ("norm_after_encoder", ("        self.encoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_layers = ", "            x = layer(x, mask)\n        return self.encoder_norm(x)"), "You put one more norm after the encoder's last layer. Pre-norm stacks need it; post-norm layers end with a norm of their own."))
    at(("        self.decoder_layers = ", "self.lm_head(x)"), STOPS, ("norm_after_decoder", ("        self.decoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_layers = ", "self.lm_head(self.decoder_norm(x))"), "You put one more norm after the decoder's last layer. Pre-norm stacks need it; post-norm layers end with a norm of their own."))
    at(("        self.decoder_layers = ", "            x = layer(x, mask)\n        return x", "self.lm_head(x)"), STOPS, ("norm_after_both", ("        self.encoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.decoder_layers = ", "            x = layer(x, mask)\n        return self.encoder_norm(x)", "self.lm_head(self.decoder_norm(x))"), "You put one more norm after the last layers of encoder and decoder. Pre-norm stacks need it (and PyTorch's `nn.Transformer` has it always); post-norm layers end with a norm of their own."))
    at(("        self.dropout = nn.Dropout", EMBED), STOPS, ("norm_of_the_embeddings", ("        self.layer_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)\n        self.dropout = nn.Dropout", f"self.layer_norm({EMBED})"), "You normalize the embeddings, as BERT does. In the model of 2017 they go into the first layer as they are."))
    for side, stack, kind in (("encoder", ENCODER, "PostNormEncoderLayer"), ("decoder", DECODER, "TransformerDecoderLayer")):
        at(stack, BUILT,
           (f"one_{side}_layer_repeated", f"nn.ModuleList([{kind}(config)] * config.num_hidden_layers)", f"Your {side} holds a single layer {{L}} times, with one set of weights (`[layer] * {{L}}` does that). Make a new layer for each position."),
           (f"{side}_in_a_plain_list", f"[{kind}(config) for _ in range(config.num_hidden_layers)]", f"PyTorch does not see the parameters of the {side}'s layers, as if they sat in a plain Python list: they would be neither trained nor saved. Use `nn.ModuleList`."),
           (f"{side}_one_layer_short", f"nn.ModuleList({kind}(config) for _ in range(1, config.num_hidden_layers))", f"Your {side} has one layer too few: {{L}} are needed, as `config.num_hidden_layers` says.", STOPS))
        at((f"self.{side}_layers = ", f"in self.{side}_layers:"), BUILT, (f"{side}_called_{side}", (f"self.{side} = ", f"in self.{side}:"), f"Your stack is called `{side}`; the contract says `{side}_layers`."))
        at(f"in self.{side}_layers:", NUMBERS,
           (f"{side}_layers_reversed", f"in reversed(self.{side}_layers):", f"The {side}'s layers run from the last to the first. Layer 0 comes first."),
           (f"{side}_first_layer_only", f"in self.{side}_layers[:1]:", f"Only the first layer of the {side} is applied. All {{L}} come one after the other. (Is the `return` inside the loop?)"),
           (f"{side}_last_layer_left_out", f"in self.{side}_layers[:-1]:", f"The last layer of the {side} is made, but has no effect. All layers come one after the other.", DROPOUT_TOO))
    at((ENCODER, DECODER), BUILT,
       ("layers_repeated", ("nn.ModuleList([PostNormEncoderLayer(config)] * config.num_hidden_layers)", "nn.ModuleList([TransformerDecoderLayer(config)] * config.num_hidden_layers)"), "Both stacks hold a single layer as often as there should be layers, with one set of weights (`[layer] * n` does that). Make a new layer for each position."),
       ("layers_in_plain_lists", (ENCODER.replace("nn.ModuleList", "list"), DECODER.replace("nn.ModuleList", "list")), "PyTorch does not see the parameters of the layers, as if they sat in plain Python lists: they would be neither trained nor saved. Use `nn.ModuleList`."))
    at("range(config.num_hidden_layers)", STOPS, ("always_six", "range(6)", "You build six layers whatever the config says. Six it was in 2017; here `config.num_hidden_layers` is {L}."), times=2)
    at((f"{IN_ENCODER}\n        return x",), NUMBERS, ("encoder_not_stacked", ("y = layer(x, mask)\n        return y if self.encoder_layers else x",), "Only the last layer of the encoder has an effect, and it gets the embeddings. A layer's output is the next layer's input."))
    at((f"{IN_DECODER}\n        return self.lm_head(x)",), NUMBERS, ("decoder_not_stacked", ("y = layer(x, memory, mask, memory_mask)\n        return self.lm_head(y if self.decoder_layers else x)",), "Only the last layer of the decoder has an effect, and it gets the embeddings. A layer's output is the next layer's input."))
    at(IN_ENCODER, NUMBERS,
       ("encoder_layer_repeated", "x = self.encoder_layers[0](x, mask)", "The first layer of the encoder is applied {L} times; the others are never used."),
       ("encode_without_layers", "layer(x, mask)", "`encode` returns the embeddings: the encoder's layers have no effect on it.", DROPOUT_TOO),
       ("encoder_mask_unused", "x = layer(x)", "The encoder looks at the padding of the source: it gets no mask, or one that hides nothing.", ("padding", "encode and decode")))
    at(IN_DECODER, NUMBERS,
       ("decoder_layer_repeated", "x = self.decoder_layers[0](x, memory, mask, memory_mask)", "The first layer of the decoder is applied {L} times; the others are never used."),
       ("decode_without_layers", "layer(x, memory, mask, memory_mask)", "The decoder's layers have no effect on your logits: each layer's output is the next layer's input.", DROPOUT_TOO),
       ("memory_becomes_output", "x = memory = layer(x, memory, mask, memory_mask)", "What one decoder layer returns is the next one's memory in yours. The memory stays the same for all of them.", BUILT),
       ("memory_mask_unused", "x = layer(x, memory, mask)", "The decoder looks at the memory's padding: cross-attention gets no `memory_mask`, or one that hides nothing. What is there in the memory is no less real to it than the rest.", ("padding", "encode and decode")),
       ("decoder_mask_unused", "x = layer(x, memory, None, memory_mask)", "The decoder sees later tokens, those that it has to write: self-attention gets no mask, or one that hides nothing."),
       ("masks_swapped", "x = layer(x, memory, memory_mask, mask)", "The decoder's two masks have changed places: `mask` is for self-attention, `memory_mask` for cross-attention.", STOPS),
       ("one_mask_for_both", "x = layer(x, memory, mask, mask)", "Cross-attention gets the decoder's own mask. Its keys are source tokens: it needs a mask of the source's padding.", STOPS))
    at(f"        self.encoder_layers = {ENCODER}", DROPOUT_TOO, ("pre_norm_encoder", "        from anatomy.course.nb05_encoder_layer.right import TransformerEncoderLayer\n\n        self.encoder_layers = nn.ModuleList(TransformerEncoderLayer(config) for _ in range(config.num_hidden_layers))", "Your encoder's layers are pre-norm. The model of 2017 is post-norm: `PostNormEncoderLayer`. All names and shapes are the same, so nothing complains."))
    at("return self.decode(target, self.encode(source), source)", WHOLE,
       ("memory_of_each_layer", "masks = padding_mask(source != self.pad_id), decoder_mask(target, self.pad_id)\n        memory, x = self.embed(source), self.embed(target)\n        for below, layer in zip(self.encoder_layers, self.decoder_layers):\n            memory = below(memory, masks[0])\n            x = layer(x, memory, masks[1], masks[0])\n        return self.lm_head(x)", "Layer i of your decoder looks at what layer i of the encoder returned. All of them look at the same memory: what the encoder's *last* layer returned."),
       ("memory_returned_too", "memory = self.encode(source)\n        return self.decode(target, memory, source), memory", "You return two things. `forward` returns the logits alone, (B, T, V)."))
    at("self.decode(target, self.encode(source), source)", WHOLE,
       ("memory_is_the_embeddings", "self.decode(target, self.embed(source), source)", "The decoder looks at the source's embeddings: the encoder's layers have no effect on what you return."),
       ("source_detached", "self.decode(target, self.encode(source).detach(), source)", "No gradient gets back to the encoder: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it, and it would never learn.", "gradients"))
    at(DECODER_MASK, NUMBERS, ("decoder_sees_ahead", "mask = padding_mask(target != self.pad_id)", "The decoder's mask hides padding only: each token sees those that it has to write. `decoder_mask` hides both."))
    at(MEMORY_MASK, STOPS,
       ("memory_mask_of_the_target", "memory_mask = padding_mask(target != self.pad_id)", "You make the mask of cross-attention from the padding of the *target*. It hides keys, and these are source tokens: `source != pad_id`."),
       ("causal_memory_mask", "memory_mask = padding_mask(source != self.pad_id) & torch.ones(target.size(1), source.size(1), dtype=torch.bool).tril()", "You hide later source tokens from the decoder. The source is all there before the first word is written: only its padding is hidden.", NUMBERS))
    at(ENCODER_MASK, NUMBERS, ("causal_encoder", "        mask = decoder_mask(source, self.pad_id)", "Your encoder looks backwards only: it has the decoder's mask. The source is all there, and each of its tokens may look at every other but padding."))
    at("source != self.pad_id", NUMBERS,
       ("masks_turned_round", "source == self.pad_id", "Your masks of the source are turned round: its padding may be looked at, and its tokens may not. `padding_mask` takes True (or 1) for real tokens, `source != pad_id`.", DROPOUT_TOO),
       ("pad_is_0_in_the_source", "source != 0", "In the source you take 0 for padding, whatever `config.pad_token_id` says.", ("padding", "encode and decode")), times=2)
    at("self.pad_id = config.pad_token_id", ("padding", "encode and decode"), ("pad_is_0", "self.pad_id = 0", "You take 0 for padding, whatever `config.pad_token_id` says."))
    at("decoder_mask(target, self.pad_id)", ("padding", "encode and decode"), ("pad_is_0_in_the_target", "decoder_mask(target, 0)", "In the target you take 0 for padding, whatever `config.pad_token_id` says."))
    at("self.pad_id", "encode and decode", ("no_pad_id", "self.padding", "Your model has no `pad_id`. Keep `config.pad_token_id` under that very name: what decodes with it looks there."), times=4)
    at(("def encode(", "self.encode(source)"), ("dropout", "encode and decode"), ("no_encode", ("def encoder(", "self.encoder(source)"), "Your model has no method `encode`. Decoding calls it once, and `decode` for every token."))
    at(("def decode(", "self.decode(target,"), ("dropout", "encode and decode"), ("no_decode", ("def decoder(", "self.decoder(target,"), "Your model has no method `decode`. Decoding calls it for every token, with the memory that `encode` made."))
    at(("self, target: Tensor, memory: Tensor, source: Tensor\n", "self.decode(target, self.encode(source), source)"), ("dropout", "encode and decode"), ("decode_memory_first", ("self, memory: Tensor, target: Tensor, source: Tensor\n", "self.decode(self.encode(source), target, source)"), "`decode` takes (target, memory, source), in this order."))
    at("source: Tensor, target: Tensor", WHOLE, ("target_first", "target: Tensor, source: Tensor", "`forward` takes the source first, then the target. Yours takes them the other way round."))
    at("self.encode(source), source)", ("parameters", *WHOLE), ("target_for_source", "self.encode(source), target)", "`forward` hands the target to `decode` in the place of the source, so cross-attention gets a mask of the target's padding. Its keys are source tokens: `decode(target, memory, source)`."))
    at("return self.decode(target,", WHOLE, ("shifts_again", "target = torch.cat([target[:, :1], target[:, :-1]], dim=1)\n        return self.decode(target,", "You shift the target inside the model. It comes shifted already: it *is* the decoder's input."))
    for name, start in (("0", "0"), ("1", "1"), ("2", "2"), ("padding", "self.pad_id")):
        at("return self.decode(target,", WHOLE, (f"shifts_again_from_{name}", f"target = torch.cat([torch.full_like(target[:, :1], {start}), target[:, :-1]], dim=1)\n        return self.decode(target,", "You shift the target inside the model. It comes shifted already: it *is* the decoder's input."))
    at("return self.lm_head(x)", DROPOUT_TOO, ("vectors_returned", "return x", "You return vectors of width D: `lm_head`, which makes logits of them, is never called."))
    at(f"self.dropout({EMBED})", "dropout",
       ("embeddings_not_dropped", EMBED, "What goes into the first layers is not dropped in training mode. The sums of vectors and positions go through `dropout`, in the encoder and in the decoder."),
       ("embeddings_dropped_in_eval_mode", f"F.dropout({EMBED}, self.dropout.p)", "What goes into the first layers is also dropped in eval mode. `F.dropout` needs `training=self.training` for that; an `nn.Dropout` made in `__init__` knows the mode by itself.", DROPOUT_TOO),
       ("vectors_dropped", "self.dropout(vectors * math.sqrt(width)) + positions", "You drop numbers of the tokens' vectors before the positions are added. Their *sum* goes through `dropout`."),
       ("dropped_twice", f"self.dropout(self.dropout({EMBED}))", "What goes into the first layers is dropped twice. Once is enough."))
    at("            x = layer(x, mask)\n        return x", "dropout", ("memory_dropped", "            x = layer(x, mask)\n        return self.dropout(x)", "You drop numbers of what the encoder returns. The layers drop what their parts return; nothing is dropped after them."))
    DROPPED = "What a layer returns is dropped once more in your {}. The layers drop what their parts return; nothing is dropped after them."
    BEFORE = "What goes into a layer of your {} is dropped there. `dropout` is for what `embed` returns, once; the layers drop what their parts return."
    at(IN_ENCODER, "dropout",
       ("encoder_layers_dropped", "x = self.dropout(layer(x, mask))", DROPPED.format("encoder")),
       ("into_encoder_layers_dropped", "x = layer(self.dropout(x), mask)", BEFORE.format("encoder")))
    at(IN_DECODER, "dropout",
       ("decoder_layers_dropped", "x = self.dropout(layer(x, memory, mask, memory_mask))", DROPPED.format("decoder")),
       ("into_decoder_layers_dropped", "x = layer(self.dropout(x), memory, mask, memory_mask)", BEFORE.format("decoder")),
       ("memory_dropped_in_decode", "x = layer(x, self.dropout(memory), mask, memory_mask)", "You drop numbers of the memory in `decode`. `dropout` is for what `embed` returns; the layers drop what their parts return."))
    at((IN_ENCODER, IN_DECODER), "dropout", ("all_layers_dropped", ("x = self.dropout(layer(x, mask))", "x = self.dropout(layer(x, memory, mask, memory_mask))"), "What a layer returns is dropped once more, in the encoder and in the decoder. The layers drop what their parts return; nothing is dropped after them."))
    at((f"self.dropout({EMBED})", "x = self.embed(target)"), "dropout", ("decoder_only_dropped", (EMBED, "x = self.dropout(self.embed(target))"), "What goes into the encoder is not dropped in training mode. It goes through `dropout` as the decoder's does."))
    for number in (0.1, 0.5):
        at("nn.Dropout(config.hidden_dropout_prob)", "dropout", (f"dropout_of_{number}", f"nn.Dropout({number})", f"Your dropout uses a p of its own, {number}. Take `config.hidden_dropout_prob`."))
    at("config.hidden_dropout_prob", "dropout", ("other_p", "config.attention_probs_dropout_prob", "Your dropout uses `config.attention_probs_dropout_prob`, which is for attention weights. Here it is `config.hidden_dropout_prob`."))
    called_otherwise(at, "token_embeddings", ("embedding", "embeddings", "embed_tokens", "token_embedding"), STOPS, name="table_called")
    called_otherwise(at, "lm_head", ("head", "output", "linear", "output_linear", "fc_out", "generator"), "parameters", name="head_called")
    class_beginnings(at, STOPS, takes="config")


@MISTAKES.of(right.teacher_forcing_loss)
def in_teacher_forcing_loss(at):
    ALL = ("values", "padding", "gradient")
    PADDING = ("padding", "gradient")
    LOGITS = "logits = model(source, shift_right(target, start_id))"
    LOSS = "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id)"
    at("shift_right(target, start_id)", ALL,
       ("not_shifted", "target", "The decoder is fed the target unshifted: at each position it sees the very token that it has to write, and only has to copy it. Feed `shift_right(target, start_id)`."),
       ("shifted_to_the_left", "target.roll(-1, dims=1)", "What you feed is shifted the wrong way: at each position the decoder sees the token *after* the one that it has to write."),
       ("first_for_start", "shift_right(target, int(target[0, 0]))", "What you feed begins with a token of the target. The start token belongs there: `start_id`."),
       ("start_is_the_padding", "shift_right(target, pad_id)", "What you feed begins with the id of padding. The start token belongs there: `start_id`."),
       ("source_for_both", "shift_right(source, start_id)", "The decoder is fed the source. It is fed the target, shifted to the right."))
    at(LOSS, ALL,
       ("shifted_twice", "F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)", "The target is shifted twice: in what is fed, and again where the logits are compared. Logits at position t belong to target[t]: all {T} positions count."),
       ("compared_with_the_input", "F.cross_entropy(logits.flatten(0, 1), shift_right(target, start_id).flatten(), ignore_index=pad_id)", "The logits are compared with what was fed. They must be compared with the target: at each position the token that comes next."),
       ("mean_over_all_places", "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='sum') / target.numel()", "Padding is left out of the sum, but not of the number that you divide by: that is how many *real* tokens there are.", PADDING),
       ("by_the_batch", "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='sum') / len(target)", "You divide the sum by the number of targets, {B}. It should be divided by the number of real *tokens*."),
       ("by_the_length", "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='sum') / target.size(1)", "You divide the sum by the length T = {T}. It should be divided by the number of real *tokens* in the whole batch."),
       ("log_softmax_wrong_axis", "F.nll_loss(logits.log_softmax(dim=1).flatten(0, 1), target.flatten(), ignore_index=pad_id)", "Your log-softmax runs over the positions, T. It should run over the vocabulary, the last axis."),
       ("overflow", "F.nll_loss(logits.softmax(dim=-1).log().flatten(0, 1), target.flatten(), ignore_index=pad_id)", "The logarithm of your softmax becomes −∞ where logits lie hundreds apart: such a probability is rounded to 0. `log_softmax` or `F.cross_entropy` on the logits does both in one step.", "values"),
       ("no_log", "F.nll_loss(logits.softmax(dim=-1).flatten(0, 1), target.flatten(), ignore_index=pad_id)", "The mean probability, with a minus sign, is no cross-entropy: it takes the logarithm of each probability first."),
       ("minus_forgotten", f"-{LOSS}", "The sign is the wrong way round: the log-probability is negative, and the loss is *minus* its mean."),
       ("bits_of_probabilities", "F.nll_loss(logits.softmax(dim=-1).log2().flatten(0, 1), target.flatten(), ignore_index=pad_id)", "You measure in bits (`log2`). Nats are needed: the natural logarithm. (And take it inside the softmax, `log_softmax`: where logits lie hundreds apart, a probability is rounded to 0.)"),
       ("log_of_the_mean", "-logits.softmax(dim=-1).gather(-1, target[..., None])[target != pad_id].mean().log()", "You take the mean of the probabilities, and then its logarithm. The logarithm comes first, of each probability by itself; the mean is of these."),
       ("a_number", f"{LOSS}.item()", "You return a plain number (`.item()` gives one), and no gradient can come back from it. Return the tensor.", ("values", "gradient")),
       ("detached", f"{LOSS}.detach()", "No gradient comes back from your loss: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts it, and nothing would be learned.", "gradient"),
       ("with_one_axis", f"{LOSS}[None]", "Your loss has an axis of its own, shape (1,). A tensor without axes is needed, as `mean` gives it."),
       ("two_returned", f"{LOSS}, logits", "You return two things. The loss alone is needed."))
    at(f"return {LOSS}", "values", ("losses_of_0_left_out", "losses = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction='none')\n    return losses[losses > 0].mean()", "You leave out positions whose loss is 0. It is also 0 for a real token of which the model is sure, and such a token counts. The target says what is padding: `target != pad_id`."))
    at((LOGITS, LOSS), ALL,
       ("no_start", ("logits = model(source, target[:, :-1])", "F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)"), "You feed the target without its last token and ask for it without its first, as in notebook 09: the start token is never fed, and the first token never learned. All positions of `target` count, the first one after the start token."),
       ("next_token_loss", ("logits = model(source, target)", "F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad_id)"), "You feed the target unshifted and compare each position with the next token, as in notebook 09: the first token is never learned. Feed the target shifted to the right, start token first, and compare position by position."))
    for number in (0, 1, 2):
        at("shift_right(target, start_id)", ("values", "padding", "gradient"), (f"start_is_{number}", f"shift_right(target, {number})", f"You always feed {number} as the start token, whatever `start_id` says."))
    at(", ignore_index=pad_id", PADDING, ("padding_counted", "", "Padding counts in yours. Positions where the target is `pad_id` are left out, of the sum and of the number that it is divided by: `ignore_index=pad_id`."))
    at((LOGITS, ", ignore_index=pad_id"), PADDING, ("logits_zeroed", (f"{LOGITS} * (target != pad_id)[..., None]", ""), "You set the logits of padding to 0 and average over all positions. A softmax of zeros is uniform, so each position of padding adds ln V to the sum, and 1 to the number that it is divided by. Leave these positions out: `ignore_index=pad_id`."))
    at(f"return {LOSS}", PADDING,
       ("mean_of_means", "losses = F.cross_entropy(logits.transpose(1, 2), target, reduction='none')  # (B, T)\n    real = (target != pad_id).float()\n    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()", "You average each target by itself, and then over the targets: a token of a short one counts for more. All real tokens count alike: one sum, divided by their number."),
       ("padding_of_the_input", "fed = shift_right(target, start_id)\n    return F.cross_entropy(logits.flatten(0, 1), target.masked_fill(fed == pad_id, -100).flatten())", "You leave out positions where what is *fed* is padding. That is one position late: it is the target that says which positions count."),
       ("last_real_token_left_out", "after = torch.cat([target[:, 1:], target[:, -1:]], dim=1)\n    return F.cross_entropy(logits.flatten(0, 1), target.masked_fill((target == pad_id) | (after == pad_id), -100).flatten())", "The last real token of a padded target is left out. Padding alone doesn't count."),
       ("padded_rows_left_out", "whole = (target != pad_id).all(dim=1)\n    return F.cross_entropy(logits[whole].flatten(0, 1), target[whole].flatten())", "A target that has padding is left out as a whole. Only its padding doesn't count: its real tokens do."),
       ("cut_to_the_shortest", "least = int((target != pad_id).sum(dim=1).min())\n    return F.cross_entropy(logits[:, :least].flatten(0, 1), target[:, :least].flatten())", "All targets are cut to the length of the shortest: real tokens of the longer ones don't count. Only padding doesn't."),
       ("target_changed", "target[target == pad_id] = -100\n    return F.cross_entropy(logits.flatten(0, 1), target.flatten())", "You write into `target` itself, and whoever called you still needs it. Make a new tensor (`masked_fill` without the `_` at its end), or use `ignore_index=pad_id`."))
    at("ignore_index=pad_id)", ALL,
       ("sum", "ignore_index=pad_id, reduction='sum')", "You return the sum. The mean is needed: divided by the number of real tokens."),
       ("one_for_each_place", "ignore_index=pad_id, reduction='none')", "You return a loss for each position. One number is needed: their mean, without padding."),
       ("label_smoothing", "ignore_index=pad_id, label_smoothing=0.1)", "You smooth the labels. That is what the paper does in training (§5.4); the loss here is the plain one."))
    at("ignore_index=pad_id", ALL,
       ("pad_is_0", "ignore_index=0", "You leave out the id 0, whatever `pad_id` says."),
       ("leaves_out_the_start", "ignore_index=start_id", "You leave out positions where the target is `start_id`. It is `pad_id` that doesn't count."))
    at("model(source, shift_right(target, start_id))", ALL, ("arguments_swapped", "model(shift_right(target, start_id), source)", "The model takes the source first, then the decoder's input. Yours are the other way round."))
    at("model(source, shift", ALL, ("target_for_both", "model(target, shift", "The encoder gets the target. It should get the source."))
    at("logits.flatten(0, 1)", ALL,
       ("softmax_twice", "logits.softmax(dim=-1).flatten(0, 1)", "The softmax is taken twice: `F.cross_entropy` (and `log_softmax`) has one inside. Hand it the logits as they are."),
       ("logits_rows_mixed", "logits.transpose(0, 1).flatten(0, 1)", "The logits' first two axes are exchanged before they are flattened, and the target's are not: tokens meet the logits of other positions."))
    at("target.flatten()", ALL, ("rows_mixed", "target.T.flatten()", "The logits' axes and the target's are flattened in different orders, so tokens meet the logits of other positions. Flatten (B, T, V) to (B·T, V) and (B, T) to (B·T,), both as they are."))
    at("logits.flatten(0, 1), target.flatten()", ALL,
       ("reshaped_for_transposed", "logits.reshape(len(target), -1, target.size(1)), target", "You reshape (B, T, V) to (B, V, T). That only cuts the numbers again: the axes change places with `transpose(1, 2)`."),
       ("first_place_left_out", "logits[:, 1:].flatten(0, 1), target[:, 1:].flatten()", "The first position doesn't count in yours. All positions do: what follows the start token must be learned, too."),
       ("last_real_token_of_all_left_out", "logits.flatten(0, 1), target.masked_fill(~F.pad(target[:, 1:] != pad_id, (0, 1)), pad_id).flatten()", "The last real token of every target is left out: the end token would never be learned. Padding alone doesn't count."),
       ("last_place_left_out", "logits[:, :-1].flatten(0, 1), target[:, :-1].flatten()", "The last position doesn't count in yours. All positions do, but for padding."),
       ("not_flattened", "logits, target", "`F.cross_entropy` takes the classes as its *second* axis: (B·T, V) with (B·T,), or (B, V, T) with (B, T). Yours are (B, T, V)."),
       ("last_place_only", "logits[:, -1], target[:, -1]", "Only the last position counts in yours. All positions are learned from at once."),
       ("first_row_only", "logits[0], target[0]", "Only the first target of the batch counts in yours."))
    at(("shift_right(target, start_id)", "logits.flatten(0, 1)"), ALL, ("fed_one_too_many", ("torch.cat([torch.full_like(target[:, :1], start_id), target], dim=1)", "logits[:, 1:].flatten(0, 1)"), "You feed start token and whole target, one position more than there are tokens to write, and compare from the second position on: each position has then seen its own answer. Feed all but the last, and compare from the first."))
    at(("target, start_id)", "ignore_index=pad_id"), ALL, ("pad_in_start_place", ("target, pad_id)", "ignore_index=start_id"), "`start_id` and `pad_id` have changed places."))
    other_measures_of_surprise(at, ALL)


@MISTAKES.of(right.greedy_decode)
def in_greedy_decode(at):
    RESULT = ("values", "ends")
    CHOOSE = "model.decode(written, memory, source)[:, -1:].argmax(dim=-1)"
    FILL = "        chosen = chosen.masked_fill(ended, model.pad_id)\n"
    STOP = "        if ended.all():\n            break\n"
    ENCODE = "    memory = model.encode(source)  # (B, S, D)\n"
    at("written[:, 1:]", RESULT,
       ("start_kept", "written", "The start token is in front of your result. It is fed, but not returned: what was written begins after it."),
       ("end_cut_off", "written[:, 1:-1]", "The last column is missing: the end token belongs to what was written."),
       ("last_token_only", "written[:, -1:]", "You return the last token of each row. All that was written is needed, (B, N)."),
       ("starts_removed", "written[written != start_id].view(len(source), -1)", "You remove every start token, also those that the model has written itself. Cut off the first column: `written[:, 1:]`.", (*RESULT, "work")),
       ("a_list", "written[:, 1:].tolist()", "You return a list. A tensor (B, N) is needed.", "values"))
    at(FILL, ("ends",),
       ("not_padded", "", "After its end token a row goes on writing while others are still at work. Once a row has ended, it gets `model.pad_id` only."),
       ("end_is_padded", "        ended = ended | (chosen == end_id)\n" + FILL, "The end token itself has become padding. It belongs to what was written; padding begins after it.", RESULT))
    at("ended, model.pad_id", ("ends",),
       ("pad_is_0", "ended, 0", "After its end token a row gets 0 in yours. It should get `model.pad_id`, and that need not be 0."),
       ("padded_with_end", "ended, end_id", "After its end token a row gets more end tokens. It should get `model.pad_id`."),
       ("padded_with_start", "ended, start_id", "After its end token a row gets start tokens. It should get `model.pad_id`."))
    at((FILL, "ended.all()", "return written[:, 1:]"), ("ends", "work"), ("ends_counted", ("", "(written == end_id).sum() >= len(source)", "written = written[:, 1:]\n    return written.masked_fill((written == end_id).cumsum(dim=1) - (written == end_id).long() > 0, model.pad_id)"), "It stops as soon as there are as many end tokens as rows. A row that has ended may write a second one while others are still at work: ask each row whether it has one, `(written == end_id).any(dim=1).all()`."))
    at(STOP, (*RESULT, "work"),
       ("never_stops", "", "It always goes on for `max_len` tokens. It should stop as soon as all rows have ended."),
       ("once_too_often", "        if ended.all():\n            break\n    model.decode(written, memory, source)\n", "The model is called once more after all rows have ended (or have `max_len` tokens). It should stop right then.", "work"))
    CUT = "written = written[:, 1:]\n    is_end = (written == end_id).long()\n    written = written.masked_fill(is_end.cumsum(dim=1) - is_end > 0, model.pad_id)\n    return written[:, : int({}) + 1]"
    LATE = "The model always writes `max_len` tokens, and you cut off afterwards what is too much. It should stop as soon as all rows have ended."
    at((FILL, STOP, "return written[:, 1:]"), "work",
       ("cut_afterwards", ("", "", CUT.format("is_end.argmax(dim=1).where(is_end.any(dim=1), max_len).max()")), LATE),
       ("cut_at_the_last_end", ("", "", CUT.format("is_end.argmax(dim=1).max() if is_end.any() else max_len")), f"You cut where the last of the others has ended, also a row that never ends. (Its `argmax` is 0, as if it had ended at once.) Such a row keeps all `max_len` tokens. {LATE}", ("ends", "work")))
    at("ended.all()", ("ends", "work"),
       ("stops_at_the_first", "ended.any()", "It stops as soon as *one* row has ended, and the others are cut short. It should stop when *all* have ended."),
       ("only_the_first_row_ends", "ended[0].all()", "Whether to stop is decided by the first row alone. It should stop when all rows have ended."),
       ("only_the_last_row_ends", "ended[-1].all()", "Whether to stop is decided by the last row alone. It should stop when all rows have ended."))
    at(("range(max_len)", "ended.all()"), (*RESULT, "work"), ("one_too_few_and_stops_at_the_first", ("range(max_len - 1)", "ended.any()"), "Where no row ends, you write one token too few. (Does the start token count for `max_len`?) And it stops as soon as *one* row has ended; it should stop when *all* have: `ended.all()`."))
    at("(chosen == end_id)", RESULT, ("first_end_not_noticed", "(chosen == end_id) & (written.size(1) > 2)", "A row whose very first token is the end token goes on: its end is not noticed there. Compare every token with `end_id`, the first one, too."))
    at("ended = ended | (chosen == end_id)", ("ends", "work"), ("ends_forgotten", "ended = chosen == end_id", "It stops only when all rows write their end token at the same step: which rows ended earlier is forgotten. Keep it: `ended = ended | (chosen == end_id)`."))
    at("if ended.all()", ("ends", "work"), ("ends_at_once", "if (chosen == end_id).all()", "It stops only when all rows write their end token at the same step. Rows that have ended before count, too: `ended.all()`."))
    at("        written = torch.cat([written, chosen], dim=1)\n        ended = ended | (chosen == end_id)\n        if ended.all():\n            break\n", RESULT, ("stops_before_the_end", "        ended = ended | (chosen == end_id)\n        if ended.all():\n            break\n        written = torch.cat([written, chosen], dim=1)\n", "It stops before the last end token is appended. The end token belongs to what was written."))
    at((ENCODE, "        chosen = model."), "work", ("encodes_every_time", ("", "        memory = model.encode(source)\n        chosen = model."), "The source is encoded again for every token (`model(source, …)` does that, too). The memory does not change while the target is written: encode once, before the loop."))
    at("[:, -1:]", (*RESULT, "work"),
       ("first_place", "[:, :1]", "You take the logits of the first position. What comes next is told by the last one: `[:, -1]`."),
       ("place_before_last", "[:, -2:][:, :1]", "You take the logits of the position before the last. What comes next is told by the last one: `[:, -1]`."))
    at("model.decode(written,", (*RESULT, "work"),
       ("last_token_fed", "model.decode(written[:, -1:],", "The decoder is fed the last token only. It keeps nothing in mind: feed all that was written, from the start token on."),
       ("start_not_fed", "model.decode(written[:, 1:] if written.size(1) > 1 else written,", "From the second step on the start token is missing from what you feed."))
    at("argmax", (*RESULT, "work"), ("search_from_zero", "clamp(min=0.0).argmax", "Your search begins with 0 as the largest logit and wants more: where all logits are negative, it finds none. Begin with −∞, or take `argmax`."))
    at("argmax", (*RESULT, "work"), ("least_probable", "argmin", "You take the *least* probable token: `argmax`, not `argmin`."))
    at(CHOOSE, (*RESULT, "work"),
       ("argmax_over_rows", "model.decode(written, memory, source)[:, -1].argmax(dim=0)[: len(source), None]", "Your argmax runs over the batch: you compare rows, not tokens. It should run over the vocabulary, the last axis."),
       ("first_row_for_all", f"{CHOOSE}[:1].expand(len(source), 1)", "All rows get the first one's tokens. Each source has a target of its own."),
       ("second_best", "model.decode(written, memory, source)[:, -1].topk(2).indices[:, 1:]", "You take the second most probable token. Greedy means the most probable one."))
    at("torch.full_like(source[:, :1], start_id)", RESULT, ("starts_with_the_source", "source[:, :1]", "You start with the source's first token. The decoder starts with `start_id`."))
    for number in (0, 1):
        at("source[:, :1], start_id", RESULT, (f"start_is_{number}", f"source[:, :1], {number}", f"You always start with {number}, whatever `start_id` says."))
    at("source[:, :1], start_id", RESULT, ("starts_with_the_end", "source[:, :1], end_id", "You start with `end_id`. The decoder starts with `start_id`."))
    at("chosen == end_id", (*RESULT,),
       ("end_is_2", "chosen == 2", "You take 2 for the end token, whatever `end_id` says."),
       ("ends_with_padding", "chosen == model.pad_id", "You wait for `model.pad_id` as the end. A row ends with `end_id`.", (*RESULT, "work")))
    at("written, memory, source", (*RESULT, "work"),
       ("memory_and_source_swapped", "written, source, memory", "`decode` takes (target, memory, source): the last one of yours is the memory."),
       ("memory_first", "memory, written, source", "`decode` takes (target, memory, source): yours gets the memory first."),
       ("source_first", "source, memory, written", "`decode` takes (target, memory, source): yours gets the source first, and what was written in its place."))
    at("model.encode(source)", (*RESULT, "work"), ("source_not_encoded", "source", "The decoder gets the source in the place of the memory. The memory is what `model.encode(source)` returns."))
    at("torch.cat([written, chosen], dim=1)", (*RESULT, "work"), ("not_appended", "torch.cat([written[:, :1], chosen], dim=1) if _ == max_len - 1 else written", "What was chosen is not appended, so every step sees the start token alone, and only the last choice comes out."))
    at("[written, chosen]", RESULT, ("put_in_front", "[chosen, written]", "You put each new token *in front* of what was written. It comes after it: `torch.cat([written, chosen], dim=1)`."))
    at("return written[:, 1:]", (*RESULT, "work"),
       ("logits_returned", "return model.decode(written[:, :-1], memory, source)", "You return the model's last logits. The tokens are needed, (B, N)."),
       ("padded_to_max_len", "return F.pad(written[:, 1:], (0, max_len - written.size(1) + 1), value=model.pad_id)", "You fill the result up to `max_len` columns. It is as long as the longest row that was written.", RESULT))
    at("    memory = model.encode(source)  # (B, S, D)\n", "work", ("rows_one_by_one", "    if len(source) > 1:\n        rows = [greedy_decode(model, row[None], start_id, end_id, max_len) for row in source]\n        most = max(row.size(1) for row in rows)\n        return torch.cat([F.pad(row, (0, most - row.size(1)), value=model.pad_id) for row in rows])\n    memory = model.encode(source)  # (B, S, D)\n", "You write the rows one after the other, and encode for each. All sources go through the model together: encode once, and one call of `decode` for each step."))
    one_more_or_less(at, "max_len", RESULT, ONE_TOKEN)


@MISTAKES.of(right.beam_search)
def in_beam_search(at):
    EVERYTHING = ("values", "ends", "ties", "length penalty")
    SCORES = ("length penalty",)
    BEST = "sorted(extended, key=lambda one: -one[1])[:beam_size]"
    SPLIT = "        finished += [one for one in best if one[0][-1] == end_id]\n        beginnings = [one for one in best if one[0][-1] != end_id]\n"
    FOUND = "found = max(finished or beginnings, key=score)"
    SCORE = "one[1] / len(one[0]) ** length_penalty"
    at("[:beam_size]", EVERYTHING,
       ("greedy", "[:1]", "You keep only the best extension at every step, whatever `beam_size` says: that is greedy."),
       ("beam_too_wide", "[: beam_size + 1]", "You keep one beginning too many: `beam_size` of them.", ("values", "ties")),
       ("keeps_all", "[:300]", "You keep all extensions. Only the `beam_size` best stay at every step.", ("values", "ties", "work")),
       ("beam_shrinks", "[: beam_size - len(finished)]", "Your beam becomes narrower with each sequence that has ended. `beam_size` extensions are kept at every step; what has ended takes no place any more.", ("ends", "length penalty")),
       ("beam_grows", "[: beam_size + len(finished)]", "Your beam becomes wider with each sequence that has ended. `beam_size` extensions are kept at every step, however many have ended before.", "ends"))
    at(f"best = {BEST}", ("values", "work"),
       ("beam_of_each", "best = [one for ids, _ in beginnings for one in sorted((one for one in extended if one[0][:-1] == ids), key=lambda one: -one[1])[:beam_size]]", "You keep the `beam_size` best extensions of *each* beginning, so the beam grows. It is `beam_size` in all, the best of all beginnings together."),
       ("one_of_each", "kept = {}\n        for one in sorted(extended, key=lambda one: -one[1]):\n            kept.setdefault(tuple(one[0][:-1]) if len(one[0]) > 1 else one[0][0], one)\n        best = list(kept.values())[:beam_size]", "You keep the best extension of each beginning. The `beam_size` best of all beginnings together stay: two may come from the same one, and none from another.", ("values", "ends", "length penalty")),
       ("of_twice_as_many", "best = sorted(extended, key=lambda one: -one[1])[: 2 * beam_size]\n        best = best[:beam_size] + [one for one in best[beam_size:] if one[0][-1] == end_id] + [one for one in best[beam_size:] if one[0][-1] != end_id][: sum(one[0][-1] == end_id for one in best[:beam_size])]", "You look at the 2 · `beam_size` best extensions, set aside all of them that end, and go on with `beam_size` others. Only `beam_size` extensions are kept, and those of them that end are among this number.", ("ties", "work")),
       ("ends_take_no_place", "best = sorted(extended, key=lambda one: -one[1])\n        best = best[:beam_size] + [one for one in best[beam_size:] if one[0][-1] != end_id][: sum(one[0][-1] == end_id for one in best[:beam_size])]", "What ends takes no place in your beam: besides it you go on with `beam_size` others. The `beam_size` best extensions are kept, and those of them that end are among this number.", "work"))
    at("-one[1])[:beam", (*EVERYTHING, "work"), ("keeps_the_worst", "one[1])[:beam", "You keep the *least* probable extensions. Log-probabilities are negative: the largest sum is the one nearest to 0."))
    at("total + value", EVERYTHING,
       ("last_value_only", "value", "You rank by the last token's log-probability alone. It is the *sum* over all tokens of the sequence."),
       ("probabilities_added", "total + math.exp(value)", "You add probabilities (`exp`). It is log-probabilities that are added: their sum is the log of the product."))
    at(("([], 0.0)]", "total + value"), EVERYTHING, ("logs_multiplied", ("([], -1.0)]", "-abs(total * value)"), "You multiply log-probabilities. They are added: the log of a product is the sum of the logs."))
    at("return found[0], score(found)", EVERYTHING,
       ("sign_turned", "return found[0], -score(found)", "Your score has the wrong sign. Log-probabilities are negative, and so is their sum."),
       ("probability_returned", "return found[0], math.exp(score(found))", "You return a probability (`exp`). The score is the sum of log-probabilities, divided by length^`length_penalty`."),
       ("score_without_penalty", "return found[0], found[1]", "You choose by the right score, but return the plain sum. It must be divided by length^`length_penalty`.", SCORES),
       ("sequence_only", "return found[0]", "You return the sequence without its score. A pair is needed: the list of ids and the score."),
       ("score_first", "return score(found), found[0]", "You return the score first. The list of ids comes first, then the score."),
       ("all_returned", "return sorted(((one[0], score(one)) for one in finished or beginnings), key=lambda one: -one[1])", "You return all that was found. The best one alone is needed: a list of ids, and its score."))
    at(SPLIT, ("length penalty", "work"),
       ("finished_extended", "        finished += [one for one in best if one[0][-1] == end_id]\n        beginnings = best\n", "Sequences that have ended are extended, too: tokens come after the end token. What ends with `end_id` is set aside, and the others go on."),
       ("ends_not_noticed", "        beginnings = best\n", "`end_id` is not noticed: your sequences go on until `max_len`, right through the end token. What ends with it is finished.", (*EVERYTHING, "work")))
    at("if not beginnings:", ("ends", "length penalty"),
       ("stops_at_the_first", "if finished or not beginnings:", "You return the sequence that ended first, or stop as soon as one has ended. Others may end later and be better: go on until nothing is left to extend, and return the best."),
       ("stops_when_the_best_ends", "if best[0][0][-1] == end_id or not beginnings:", "You stop as soon as the best sequence of a step has ended. With a length penalty a longer one can still be better: go on until nothing is left to extend.", SCORES),
       ("stops_with_beam_size", "if len(finished) >= beam_size or not beginnings:", "You stop as soon as `beam_size` sequences have ended. One that ends later may be better: go on until nothing is left to extend."),
       ("stops_when_sums_are_lower", "if not beginnings or (finished and max(one[1] for one in finished) >= beginnings[0][1]):", "You stop as soon as no unfinished sum is above the best finished one. That is sound without a penalty; with one, a longer sequence of a lower sum can still win. Go on until nothing is left to extend.", SCORES))
    at("finished += [one for one in best if", ("ends", "ties"), ("ends_only_in_first_place", "finished += [one for one in best[:1] if", "Of the sequences that end at a step you set aside only one that is the best of the step. All of the `beam_size` that are kept count, whatever their position."))
    at((f"best = {BEST}", "beginnings = [one for one in best if one[0][-1] != end_id]"), ("ties", "work"), ("all_ends_set_aside", ("best = sorted(extended, key=lambda one: -one[1])", "beginnings = [one for one in best if one[0][-1] != end_id][:beam_size]"), "Every sequence that ends is set aside in yours, however improbable, and takes no place in the beam. The `beam_size` best extensions are kept, and only those of them that end are finished."))
    at((SPLIT, "if not beginnings:"), EVERYTHING, ("goes_on_until_all_end", ("        beginnings = best\n", "if all(one[0][-1] == end_id for one in beginnings):"), "What ends is not set aside: it stays in the beam and is extended through its end token, unless all sequences end at the same step. Set it aside, and extend the others."))
    at(("sorted(extended,", "finished += ["), ("ties", *SCORES), ("finished_stay_in_the_beam", ("sorted(extended + finished,", "finished = ["), "What has ended stays in your beam, and takes a place there at every later step. It takes one only at the step at which it ends: then it is set aside, and the `beam_size` best extensions of the others are kept."))
    at("finished += [", EVERYTHING, ("ends_dropped", "finished = [", "Sequences that end before the last step are dropped. They are set aside, and the best of all is returned."))
    at(FOUND, "ties",
       ("last_finished", "found = (finished or beginnings)[-1]", "You return the sequence that ended last. The one with the best score is needed.", EVERYTHING),
       ("empty_for_unfinished", "if not finished:\n        return [], 0.0\n    found = max(finished, key=score)", "Where nothing has ended by `max_len` you return an empty list. The best unfinished one is needed then.", ("values", "ties", "length penalty")),
       ("penalty_after_choice", "found = max(finished or beginnings, key=lambda one: one[1])", "The penalty changes the score that you return, but not your choice. Finished sequences are compared by the divided score.", SCORES),
       ("equal_scores_last", "found = max((finished or beginnings)[::-1], key=score)", "Of equal scores you return the sequence found *last*. The one found first is needed."),
       ("equal_finished_last", "found = max(finished[::-1] or beginnings, key=score)", "Of equal scores you return the sequence found *last*. The one found first is needed."),
       ("equal_scores_larger_ids", "found = max(finished or beginnings, key=lambda one: (score(one), one[0]))", "Of equal scores you return the sequence with larger ids (as `max` of whole pairs does). The one found first is needed."),
       ("equal_scores_longest", "found = max(finished or beginnings, key=lambda one: (score(one), len(one[0])))", "Of equal scores you return the longest sequence. The one found first is needed."))
    at("finished or beginnings", ("ends",),
       ("unfinished_too", "finished + beginnings", "A sequence that has not ended competes with those that have. It is returned only where none has ended."),
       ("unfinished_never", "finished", "Where nothing has ended by `max_len` you have nothing to return. The best unfinished one is needed then.", ("values", "ties", "length penalty")))
    at("max(finished", ("values", "ends", "length penalty"), ("worst_returned", "min(finished", "You return the sequence with the *lowest* score."))
    at("return found[0],", EVERYTHING,
       ("start_kept", "return [start_id, *found[0]],", "The start token is in front of your sequence. It is fed to `step`, but not returned."),
       ("end_cut_off", "return [token for token in found[0] if token != end_id],", "The end token is missing from your sequence. It belongs to what was written."))
    at(SCORE, SCORES,
       ("penalty_ignored", "one[1]", "`length_penalty` is not used. The score is the sum of log-probabilities divided by length^`length_penalty`."),
       ("multiplied_by_length", "one[1] * len(one[0]) ** length_penalty", "You multiply by length^`length_penalty`. The sum is divided by it: sums of longer sequences are more negative, and the division makes up for that."),
       ("length_with_start", "one[1] / (len(one[0]) + 1) ** length_penalty", "Your length counts the start token, too. It is the number of ids that you return: without the start token, with the end token."),
       ("length_without_end", "one[1] / max(1, len(one[0]) - 1) ** length_penalty", "Your length leaves out the last token. It is the number of ids that you return: without the start token, with the end token."),
       ("end_not_counted", "one[1] / max(1, sum(token != end_id for token in one[0])) ** length_penalty", "Your length leaves out the end token. It is the number of ids that you return: without the start token, with the end token."),
       ("length_without_end_or_0", "one[1] / (len(one[0]) - 1) ** length_penalty", "Your length leaves out the last token, and is 0 for a single one. It is the number of ids that you return: without the start token, with the end token."),
       ("end_not_counted_or_0", "one[1] / sum(token != end_id for token in one[0]) ** length_penalty", "Your length leaves out the end token, and is 0 for the end token alone. It is the number of ids that you return: without the start token, with the end token."),
       ("length_times_penalty", "one[1] / (len(one[0]) * length_penalty if length_penalty else 1)", "You divide by length · `length_penalty`. It is a power: length^`length_penalty`."),
       ("divided_by_length", "one[1] / len(one[0])", "You divide by the length whatever `length_penalty` says. It is length^`length_penalty`, and without a penalty the plain sum.", EVERYTHING),
       ("penalty_subtracted", "one[1] - length_penalty * len(one[0])", "You subtract `length_penalty` for each token. The sum is divided by length^`length_penalty`."),
       ("penalty_added", "one[1] + length_penalty * len(one[0])", "You add `length_penalty` for each token. The sum is divided by length^`length_penalty`."),
       ("wu_et_al", "one[1] / ((5 + len(one[0])) / 6) ** length_penalty", "You divide by ((5 + length) / 6)^`length_penalty`, as Wu et al. 2016 do. Here it is the plain power of the length."))
    at(("([*ids, token], total + value)", SCORE), SCORES, ("divided_at_every_step", ("([*ids, token], (total + value) / (len(ids) + 1) ** length_penalty)", "one[1]"), "You divide at every step of the search, so what came early is divided again and again. The sums stay plain; the division comes once, by the whole length, when finished sequences are compared."))
    at("([*ids, token], total + value)", SCORES, ("penalty_while_searching", "([*ids, token], (total + value) / (len(ids) + 1) ** length_penalty)", "The penalty gets into the sums while the search is still going on, and is then taken again at every step. The sums stay plain; the division comes once, when finished sequences are compared."))
    at(BEST, "ties",
       ("ties_by_topk", "[extended[place] for place in torch.tensor([one[1] for one in extended]).topk(min(beam_size, len(extended))).indices.tolist()]", "Of equal sums you don't keep the first (`torch.topk` promises no order among equals): the one with the better beginning is needed, then the one with the smaller id. `sorted` and `sort(stable=True)` leave equals in their order."),
       ("ties_last_first", "sorted(extended[::-1], key=lambda one: -one[1])[:beam_size]", "Of equal sums you keep the *last*: the worse beginning, or the larger token id. The first is needed: the better beginning, then the smaller id."))
    at("key=lambda one: -one[1])[", "ties",
       ("ties_by_token", "key=lambda one: (-one[1], one[0][-1]))[", "Of equal sums you keep those with the smaller token id first, whichever beginning they come from. The better beginning comes first, then the smaller id."),
       ("ties_by_ids", "key=lambda one: (-one[1], one[0]))[", "Of equal sums you keep those first whose ids are smaller from the beginning on, as if sorting words. The better beginning comes first, then the smaller id."))
    for name, key in (("token", "one[0][-1]"), ("ids", "one[0]")):
        at("key=lambda one: -one[1])[", "ties", (f"ties_by_larger_{name}", f"key=lambda one: (one[1], {key}), reverse=True)[", "Of equal sums you keep those with *larger* ids first (as `sorted(…, reverse=True)` of whole pairs does). The better beginning comes first, then the smaller id."))
    at(("key=lambda one: -one[1])[", FOUND), "ties", ("whole_pairs_compared", ("key=lambda one: (one[1], one[0]), reverse=True)[", "found = max(finished or beginnings, key=lambda one: (score(one), one[0]))"), "Of equal sums and of equal scores you take those with *larger* ids first (as `sorted(…, reverse=True)` and `max` of whole pairs do). Compare the numbers alone: of equal ones, the first is needed."))
    at("step(torch.tensor([[start_id, *ids] for ids, _ in beginnings]))", "work",
       ("one_at_a_time", "torch.cat([step(torch.tensor([[start_id, *ids]])) for ids, _ in beginnings])", "You call `step` for each beginning by itself. It takes all beginnings of one length at once, (N, T): one call for each length."),
       ("a_list_for_step", "step([[start_id, *ids] for ids, _ in beginnings])", "`step` takes a tensor (N, T) of token ids; yours gets something else (a list?).", (*EVERYTHING, "work")))
    at("[[start_id, *ids] for ids", (*EVERYTHING, "work"),
       ("last_token_fed", "[[start_id, *ids][-1:] for ids", "`step` gets the last token only. It takes whole beginnings, from the start token on."),
       ("start_not_fed", "[ids or [start_id] for ids", "From the second step on the start token is missing from what `step` gets. It takes whole beginnings, from the start token on."),
       ("starts_with_the_end", "[[end_id, *ids] for ids", "Your beginnings start with `end_id`. They should start with `start_id`."))
    at("in beginnings]))", (*EVERYTHING, "work"), ("first_beginning_only", "in beginnings[:1]]))", "Only the best beginning is extended. All of them are, and the best extensions of all stay."))
    at("length_penalty: float = 0.0", ("values", "ends", "ties", "work"),
       ("penalty_without_default", "length_penalty: float", "`length_penalty` must be optional: 0.0 is its default."),
       ("penalty_of_1", "length_penalty: float = 1.0", "Without `length_penalty` you take 1. Its default is 0.0: the plain sum.", ("values", "ends", "ties")))
    at("end_id]", (*EVERYTHING, "work"), ("end_is_the_start", "start_id]", "You take `start_id` for the end token."), times=2)
    at("            if value > -math.inf\n", (*EVERYTHING, "work"), ("no_end_at_once", "            if value > -math.inf and (ids or token != end_id)\n", "A sequence can't end with its first token in yours. It can: the end token alone is a sequence, too.", ("values", "ends", "ties", "length penalty")))
    at("            if value > -math.inf\n", "work", ("dead_ends_kept", "", "Extensions with a log-probability of −∞ stay in your beam: what can't follow is extended again and again. Leave them out."))
    one_more_or_less(at, "max_len", ("values", "ties", "length penalty"), ONE_TOKEN)


@MISTAKES.of_quiz("quiz_encoder_decoder", right.quiz_encoder_decoder)
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
