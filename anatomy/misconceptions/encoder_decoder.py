"""Wrong answers to the exercises of 10-encoder-decoder."""

from __future__ import annotations

from anatomy.misconceptions import Mistakes, mistakes_in, wrong_option
from anatomy.reference.encoder_decoder import (
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

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.


def in_every_class(wrong: Mistakes, breaks: tuple[str, ...]) -> None:
    """What goes wrong at the start of any class."""
    wrong("init_misspelled", "Your class can't be made with `config`: its constructor is called `__init__`, with two underscores on each side, and takes `self` and `config`.",
          breaks=breaks, old="def __init__(", new="def _init_(")
    wrong("no_super", "`super().__init__()` comes first in `__init__`: before it PyTorch can't keep track of layers and parameters.",
          breaks=breaks, old="super().__init__()\n", new="pass\n")


# ---- shift_right ----
wrong = mistakes_in(shift_right)
SHAPE_TOO = ("shape", "values")
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

# ---- decoder_mask ----
wrong = mistakes_in(decoder_mask)
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

# ---- CrossAttention ----
wrong = mistakes_in(CrossAttention)
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
wrong("by_k", "You divide the scores by K; it is the root of K.",
      breaks=NUMBERS, **by_hand("math.sqrt(query.size(-1))", "query.size(-1)"))
wrong("softmax_over_queries", "Your softmax runs over the queries: the weights of one key sum to one. Each *query* shares out its attention: over the keys, the last axis.",
      breaks=NUMBERS, **by_hand("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"))
wrong("no_softmax", "The scores are used as weights as they are: the softmax is missing.",
      breaks=NUMBERS, **by_hand("scores.softmax(dim=-1)", "scores"))
wrong("output_not_mixed", "`output_linear` is never called: the heads' results stand side by side, and nothing mixes them.",
      breaks=NUMBERS, old="self.output_linear(merge_heads(context))", new="merge_heads(context)")
wrong("no_output_linear", "There is no `output_linear`: the heads' results stand side by side, and nothing mixes them. It goes from D to D, with bias.",
      breaks=BUILT, old=("        self.output_linear = nn.Linear(width, width)\n", "self.output_linear(merge_heads(context))"), new=("", "merge_heads(context)"))
wrong("one_head", "You use a single head. `config.num_attention_heads` is {H}: split queries, keys and values.",
      breaks=NUMBERS, old="self.num_heads = config.num_attention_heads", new="self.num_heads = 1")
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
