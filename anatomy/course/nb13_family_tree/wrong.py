"""Wrong answers to the exercises of 13-family-tree."""

from __future__ import annotations

import torch

from anatomy.course.nb13_family_tree.right import (
    attention_cost,
    bigbird_mask,
    clip_loss,
    encoder_parameters,
    few_shot_prompt,
    growth_exponent,
    patchify,
    prefix_lm_mask,
    quiz_which_model,
    sliding_window_mask,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A mistake is two or three lines: its name and sentence, what it breaks, what it replaces by what.

BOTH = ("shape", "values")


@MISTAKES.of(prefix_lm_mask)
def in_prefix_lm_mask(wrong):
    CAUSAL, PREFIX = "(places[None, :] <= places[:, None])", "(places[None, :] < prefix)"
    wrong("causal", "Yours is the causal mask: the prefix changes nothing. Everyone may look at the whole prefix, also at what comes later in it.",
          breaks="values", old=f" | {PREFIX}", new="")
    wrong("one_short", "The last token of the prefix is not seen by those before it. Everyone sees keys 0 … prefix − 1, which are `prefix` tokens: s < prefix.",
          breaks="values", old="< prefix", new="< prefix - 1")
    wrong("one_too_many", "Everyone sees one token too many: keys 0 … prefix are prefix + 1 tokens. The prefix ends with key prefix − 1: s < prefix.",
          breaks="values", old="< prefix", new="<= prefix")
    wrong("everything", "Everything is allowed. Behind the prefix nobody may look at what comes later.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new="torch.ones(length, length)")
    wrong("queries_for_keys", "The tokens of the prefix see the whole text, also what is still to be written. They may look at the prefix only: ask whether the *key* is in it (s < prefix), not the query.",
          breaks="values", old=PREFIX, new="(places[:, None] < prefix)")
    wrong("prefix_only", "Everyone sees the prefix, and nothing else. What is written behind it sees itself and all that came before, too: the causal part is missing.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"{PREFIX}.expand(length, length)")
    wrong("and", "You ask for both, in the prefix *and* not later. One of them is enough: `|`.",
          breaks="values", old="|", new="&")
    wrong("xor", "What is in the prefix *and* not later is hidden: your `^` (or !=) is an either-or. One of them is enough, and both are fine: `|`.",
          breaks="values", old="|", new="^")
    wrong("added", "Some entries are 2: you add two masks, and where both allow a key it counts twice. The result is to be True and False, or 1 and 0.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"{CAUSAL}.int() + {PREFIX}.int()")
    wrong("strict", "Behind the prefix a token can't see itself. The diagonal belongs to the causal part: s ≤ t.",
          breaks="values", old="<= places", new="< places")
    wrong("one_ahead", "Behind the prefix each token sees one too many: the one after it, which it is to predict. The causal part is s ≤ t.",
          breaks="values", old="<= places[:, None]", new="<= places[:, None] + 1")
    wrong("future", "Your triangle is the upper one: behind the prefix each token sees what comes *after* it. The past stands on the left: s ≤ t.",
          breaks="values", old="<= places", new=">= places")
    wrong("transposed", "Your mask is transposed. Rows are queries, columns are keys: entry [t, s] says whether query t may look at key s.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX}).T")
    wrong("inverted", "Your mask is inverted: it is True (1) where one may *not* look.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"~({CAUSAL} | {PREFIX})")
    wrong("minus_infinity", "These are numbers to be added to scores, 0 where one may look and −∞ where not. Asked is what is allowed: True or 1, and else False or 0.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"torch.zeros(length, length).masked_fill(~({CAUSAL} | {PREFIX}), -torch.inf)")
    wrong("minus_a_billion", "These are numbers to be added to scores, 0 where one may look and a very low one where not. Asked is what is allowed: True or 1, and else False or 0.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"torch.zeros(length, length).masked_fill(~({CAUSAL} | {PREFIX}), -1e9)")
    wrong("last_tokens", "Your prefix stands at the end: everyone sees the *last* tokens. It is the first ones: s < prefix.",
          breaks="values", old="< prefix", new=">= length - prefix")
    wrong("rest_sees_everything", "What is written behind the prefix sees the whole text, also what comes later. It sees the prefix, itself and what was written before it.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"{PREFIX} | (places[:, None] >= prefix)")
    wrong("diagonal_moved", "You move the causal triangle to the right, by prefix − 1: every token looks ahead so far, those behind the prefix, too. Only keys of the prefix are seen by all: s < prefix.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new="torch.ones(length, length).tril(prefix - 1)")
    wrong("diagonal_moved_if_any", "You move the causal triangle to the right, by prefix − 1: every token looks ahead so far, those behind the prefix, too. Only keys of the prefix are seen by all: s < prefix.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new="torch.ones(length, length).tril(max(prefix - 1, 0))")
    wrong("diagonal_moved_by_prefix", "You move the causal triangle to the right, by `prefix`: every token looks ahead so far, those behind the prefix, too. Only keys of the prefix are seen by all: s < prefix.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new="torch.ones(length, length).tril(prefix)")
    wrong("everything_without_prefix", "For prefix = 0 everything is allowed in yours. It is the causal mask there: nobody looks at what comes later.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"{CAUSAL} | {PREFIX} | (prefix == 0)")
    wrong("nothing_without_prefix", "For prefix = 0 nothing is allowed in yours. It is the causal mask there: each token sees itself and all before it.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX}) & (prefix > 0)")
    wrong("first_written_token_hidden", "The first token behind the prefix can't see itself. (Does a loop begin one row too late? Row t = prefix belongs to it.)",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX}) & ((places[None, :] != prefix) | (places[:, None] != prefix))")
    wrong("behind_the_prefix", "Everyone sees what stands *behind* the prefix. It is the prefix that everyone sees: s < prefix.",
          breaks="values", old="< prefix", new=">= prefix")
    wrong("suffix_sees_itself_whole", "It is the other way round: yours reads the prefix from left to right, and what is behind it sees all of what is behind it. The prefix is read in both directions, the rest from left to right.",
          breaks="values", old=PREFIX, new="((places[None, :] >= prefix) & (places[:, None] >= prefix))")
    wrong("prefix_alone", "Only the prefix has ones: the tokens behind it see nothing at all. They see the prefix, themselves and what was written before them.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"{PREFIX} & (places[:, None] < prefix)")
    wrong("prefix_not_seen_from_behind", "What is written behind the prefix can't see the prefix. It may look at all that is not later, the prefix first of all.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX}) & ((places[:, None] < prefix) == {PREFIX})")
    wrong("own_token_hidden", "Nobody sees itself: your diagonal is 0. Each token may look at itself.",
          breaks="values", old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX}) & (places[None, :] != places[:, None])")
    wrong("prefix_comes_on_top", "Your mask has length + prefix rows and columns. The prefix is the first part of the `length` tokens.",
          breaks=BOTH, old="torch.arange(length)", new="torch.arange(length + prefix)")
    wrong("prefix_long", "Your mask is as large as the prefix. It is as large as the whole text: `length` rows and columns. (The order is `prefix_lm_mask(prefix, length)`.)",
          breaks=BOTH, old="torch.arange(length)", new="torch.arange(prefix)")
    wrong("one_row", "Your mask is one row: which keys are in the prefix. Each query has a row of its own: (T, T).",
          breaks=BOTH, old=f"{CAUSAL} | {PREFIX}", new="places < prefix")
    wrong("an_axis_too_many", "Your mask has four axes. (T, T) is asked for.",
          breaks=BOTH, old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX})[None, None]")
    wrong("a_batch_of_one", "Your mask has three axes. (T, T) is asked for.",
          breaks=BOTH, old=f"{CAUSAL} | {PREFIX}", new=f"({CAUSAL} | {PREFIX})[None]")


@MISTAKES.of(sliding_window_mask)
def in_sliding_window_mask(wrong):
    BAND = "(places[None, :] - places[:, None]).abs() <= window // 2"
    AHEAD = "(places[None, :] - places[:, None])"
    wrong("back_only", "Each token sees its neighbors on the left only. The window has two sides: window // 2 neighbors on each.",
          breaks="values", old=BAND, new=f"({AHEAD} <= 0) & ({AHEAD} >= -(window // 2))")
    wrong("ahead_only", "Each token sees its neighbors on the right only. The window has two sides: window // 2 neighbors on each.",
          breaks="values", old=BAND, new=f"({AHEAD} >= 0) & ({AHEAD} <= window // 2)")
    wrong("whole_window_back", "All of your window lies on the left: each token sees itself and `window` before it. Half of it belongs to each side: window // 2 neighbors on the left, as many on the right.",
          breaks="values", old=BAND, new=f"({AHEAD} <= 0) & ({AHEAD} >= -window)")
    wrong("last_tokens_of_a_window", "Each token sees the last `window` tokens, itself among them: a causal window. Here it has two sides: window // 2 neighbors on each.",
          breaks="values", old=BAND, new=f"({AHEAD} <= 0) & ({AHEAD} > -window)")
    wrong("whole_window_on_each_side", "Your window is twice as wide: `window` neighbors on each side. It is window // 2 on each side.",
          breaks="values", old="<= window // 2", new="<= window")
    wrong("strict", "A neighbor is missing on each side: those at a distance of exactly window // 2 belong to the window, too (≤, not <).",
          breaks="values", old="<=", new="<")
    wrong("rounded_up", "An odd window is rounded up in yours. It is window // 2 on each side, rounded down: two for 5.",
          breaks="values", old="<= window // 2", new="<= (window + 1) // 2")
    wrong("rounded_up_on_the_left", "On the left an odd window is rounded up in yours. (`-window // 2` is −3 for 5: it rounds down, away from 0. Write `-(window // 2)`.)",
          breaks="values", old=BAND, new=f"({AHEAD} >= -window // 2) & ({AHEAD} <= window // 2)")
    wrong("rounded", "`round` rounds some odd windows up. It is window // 2 on each side, rounded down: one for 3, three for 7.",
          breaks="values", old="<= window // 2", new="<= round(window / 2)")
    wrong("window_counts_itself", "You take the token itself for one of the window's, which costs a neighbor on each side where `window` is even. It is window // 2 neighbors on each side, and the token besides.",
          breaks="values", old="<= window // 2", new="<= (window - 1) // 2")
    wrong("one_too_many", "There is a neighbor too many on each side: it is window // 2 of them.",
          breaks="values", old="<= window // 2", new="<= window // 2 + 1")
    wrong("at_least_one_neighbor", "For windows of 0 and 1 your tokens see neighbors. window // 2 is 0 there: each token sees itself only.",
          breaks="values", old="<= window // 2", new="<= max(1, window // 2)")
    wrong("not_itself", "Nobody sees itself: your diagonal is 0. A token belongs to its own window.",
          breaks="values", old=BAND, new=f"({BAND}) & ({AHEAD} != 0)")
    wrong("inverted", "Your mask is inverted: it is True (1) where one may *not* look, far away.",
          breaks="values", old="<=", new=">")
    wrong("everything", "Everything is allowed: `window` changes nothing.",
          breaks="values", old=BAND, new="torch.ones(length, length)")
    wrong("only_itself", "Each token sees itself only, whatever `window` is. Its window // 2 neighbors on each side belong to the window.",
          breaks="values", old="<= window // 2", new="<= 0")
    wrong("nearest_only", "Each token sees one neighbor on each side, whatever `window` is. It is window // 2 of them.",
          breaks="values", old="<= window // 2", new="<= 1")
    wrong("rim_only", "Only the outermost neighbors are seen, those at a distance of exactly window // 2. All nearer ones belong to the window, and the token itself.",
          breaks="values", old="<=", new="==")
    wrong("no_limit_back", "On the left your window has no end: everything that came before is seen. Take the distance without its sign (`abs`).",
          breaks="values", old=".abs()", new="")
    wrong("no_limit_ahead", "On the right your window has no end: everything that comes later is seen. Take the distance without its sign (`abs`).",
          breaks="values", old=AHEAD + ".abs()", new="(places[:, None] - places[None, :])")
    wrong("squared", "You compare the *square* of the distance. It is the distance itself that is at most window // 2.",
          breaks="values", old=".abs()", new=".square()")
    wrong("around_the_ends", "Your window goes around: the first tokens see the last ones. At both ends it is cut off.",
          breaks="values", old=BAND, new=f"torch.minimum({AHEAD} % length, -{AHEAD} % length) <= window // 2")
    wrong("moved_at_the_ends", "At both ends your window is moved inward, to keep its size. It is cut off there: window // 2 neighbors on each side, as far as there are any.",
          breaks="values", old=BAND, new="(places[None, :] - places[:, None].clamp(min(window // 2, length // 2), max(length - 1 - window // 2, length // 2))).abs() <= window // 2")
    wrong("blocks", "Your text is cut into blocks, and tokens see their own block. A window goes with its token: window // 2 neighbors on each side of it.",
          breaks="values", old=BAND, new="places[None, :] // max(window, 1) == places[:, None] // max(window, 1)")
    wrong("right_one_short", "On the right a neighbor is missing. (Does a slice end there? Its end is not part of it: `t + half + 1`.)",
          breaks="values", old=BAND, new=f"({AHEAD} < max(window // 2, 1)) & ({AHEAD} >= -(window // 2))")
    wrong("slice_without_end", "On the right a neighbor is missing, and where there are none the token itself. (Does a slice end there? Its end is not part of it: `t + half + 1`.)",
          breaks="values", old=BAND, new=f"({AHEAD} < window // 2) & ({AHEAD} >= -(window // 2))")
    wrong("left_one_short", "On the left a neighbor is missing: there are window // 2 on each side.",
          breaks="values", old=BAND, new=f"({AHEAD} <= window // 2) & ({AHEAD} > -max(window // 2, 1))")
    wrong("minus_infinity", "These are numbers to be added to scores, 0 where one may look and −∞ where not. Asked is what is allowed: True or 1, and else False or 0.",
          breaks="values", old=BAND, new=f"torch.zeros(length, length).masked_fill(~({BAND}), -torch.inf)")
    wrong("distances", "These are distances, not a mask. Where a distance is at most window // 2, the mask is True (or 1).",
          breaks="values", old=" <= window // 2", new="")
    wrong("nearness", "Your entries say how near a key is. The mask is True (or 1) wherever the distance is at most window // 2, near or less near.",
          breaks="values", old=BAND, new=f"(window // 2 - {AHEAD}.abs()).clamp(min=0)")
    wrong("nearness_from_one", "Your entries say how near a key is. The mask is True (or 1) wherever the distance is at most window // 2, near or less near.",
          breaks="values", old=BAND, new=f"(window // 2 + 1 - {AHEAD}.abs()).clamp(min=0)")
    wrong("nearness_below_zero", "Your entries say how near a key is, with a minus where it is far. The mask is True (or 1) wherever the distance is at most window // 2, and else False (or 0).",
          breaks="values", old=BAND, new=f"window // 2 - {AHEAD}.abs()")
    wrong("limits_swapped", "Nothing is seen, but for windows of 0 and 1. (Are the signs of your limits swapped, as in `triu(half)` and `tril(-half)`?) The window goes from −half to half: `triu(-half)` and `tril(half)`.",
          breaks="values", old=BAND, new=f"({AHEAD} >= window // 2) & ({AHEAD} <= -(window // 2))")
    wrong("first_token_too", "Everyone sees the first token, too. That is a global token, which comes with `bigbird_mask`; here there is only the window.",
          breaks="values", old=BAND, new=f"({BAND}) | (places == 0)")
    wrong("every_second", "Every second neighbor is left out: a dilated window. Here all within window // 2 are seen.",
          breaks="values", old=BAND, new=f"({BAND}) & ({AHEAD} % 2 == 0)")
    wrong("causal", "What comes later is hidden: yours is a causal mask, and `window` changes nothing. Each token sees window // 2 neighbors on each side.",
          breaks="values", old=BAND, new=f"{AHEAD} <= 0")
    wrong("window_large", "Your mask is as large as the window. It is as large as the text: `length` rows and columns.",
          breaks=BOTH, old="torch.arange(length)", new="torch.arange(window)")
    wrong("arguments_swapped", "Your function takes `window` first. It is called with (length, window).",
          breaks=BOTH, old="length: int, window: int", new="window: int, length: int")
    wrong("an_axis_too_many", "Your mask has three axes. (T, T) is asked for.",
          breaks=BOTH, old=BAND, new=f"({BAND})[None]")
    wrong("neighbors_only", "You return a row of neighbors for each token, (T, window + 1). A mask has a column for each key: (T, T).",
          breaks=BOTH, old=BAND, new="places[:, None] + torch.arange(-(window // 2), window // 2 + 1)")


    @MISTAKES.mistake("The first rows lack their beginning: `t - half` is below 0 there, which as the start of a slice counts from the end. Begin at `max(0, t - half)`.",
                   breaks="values")
    def sliding_window_mask__slice_from_below_zero(length: int, window: int) -> torch.Tensor:
        mask = torch.zeros(length, length)
        for t in range(length):
            mask[t, t - window // 2 : t + window // 2 + 1] = 1
        return mask


@MISTAKES.of(bigbird_mask)
def in_bigbird_mask(wrong):
    ROWS, COLUMNS = "    mask[:num_global] = True\n", "    mask[:, :num_global] = True\n"
    LOOP = "    for row in mask:  # (T,)\n        unseen = (~row).nonzero().squeeze(1)  # (N,)\n        row[unseen[torch.randperm(len(unseen), generator=generator)[:num_random]]] = True\n"
    DRAWN = "unseen[torch.randperm(len(unseen), generator=generator)[:num_random]]"
    PERMUTED = "torch.randperm(len(unseen), generator=generator)"
    RANDOM = ("random keys", "generator")
    wrong("global_rows_only", "Your global tokens look at everyone, but not everyone looks at them. Set their columns, too: `mask[:, :num_global]`.",
          breaks="values", old=COLUMNS, new="")
    wrong("global_columns_only", "Everyone looks at your global tokens, but they don't look at everyone. Set their rows, too: `mask[:num_global]`.",
          breaks="values", old=ROWS, new="")
    wrong("no_global_tokens", "Your mask has no global tokens: the first `num_global` look at everyone, and everyone at them.",
          breaks="values", old=ROWS + COLUMNS, new="")
    wrong("global_among_themselves", "Your global tokens see each other, and nobody else. They look at everyone (their rows), and everyone at them (their columns).",
          breaks="values", old=ROWS + COLUMNS, new="    mask[:num_global, :num_global] = True\n")
    wrong("last_tokens_global", "Your global tokens are the *last* ones. They are the first `num_global`.",
          breaks="values", old=ROWS + COLUMNS, new="    mask[length - num_global :] = True\n    mask[:, length - num_global :] = True\n")
    wrong("last_tokens_global_from_minus_zero", "Your global tokens are the *last* ones, and for num_global = 0 all are (−0 is 0, and a slice from 0 is everything). They are the first `num_global`.",
          breaks="values", old=ROWS + COLUMNS, new="    mask[-num_global:] = True\n    mask[:, -num_global:] = True\n")
    wrong("one_token_global", "Only one token is global, the one in place `num_global`. All of the first `num_global` are: `:num_global`.",
          breaks="values", old=ROWS + COLUMNS, new="    mask[min(num_global, length - 1)] = True\n    mask[:, min(num_global, length - 1)] = True\n")
    wrong("last_of_the_global_tokens_only", "Only one token is global, the one in place num_global − 1. All of the first `num_global` are: `:num_global`.",
          breaks="values", old=ROWS + COLUMNS, new="    if num_global:\n        mask[num_global - 1] = True\n        mask[:, num_global - 1] = True\n")
    wrong("last_of_the_global_tokens_or_of_all", "Only one token is global, the one in place num_global − 1; for num_global = 0 that is −1, the last of all. All of the first `num_global` are: `:num_global`.",
          breaks="values", old=ROWS + COLUMNS, new="    mask[num_global - 1] = True\n    mask[:, num_global - 1] = True\n")
    wrong("first_of_the_global_tokens_only", "Only the first token is global. All of the first `num_global` are: `:num_global`.",
          breaks="values", old=ROWS + COLUMNS, new="    if num_global:\n        mask[0] = True\n        mask[:, 0] = True\n")
    wrong("a_global_token_too_many", "There is a global token too many: the first `num_global` are 0 … num_global − 1.",
          breaks="values", old=ROWS + COLUMNS, new="    mask[: num_global + 1] = True\n    mask[:, : num_global + 1] = True\n")
    wrong("first_token_always_global", "The first token is global even where num_global is 0.",
          breaks="values", old=ROWS + COLUMNS, new="    mask[: max(num_global, 1)] = True\n    mask[:, : max(num_global, 1)] = True\n")
    wrong("all_but_the_first_global", "It is the other way round: yours makes all tokens global but the first `num_global`. Those first ones are global.",
          breaks=("values", "generator"), old=ROWS + COLUMNS, new="    mask[num_global:] = True\n    mask[:, num_global:] = True\n")
    wrong("no_window", "The window is missing: begin with `sliding_window_mask(length, window)`.",
          breaks="values", old="sliding_window_mask(length, window)", new="torch.zeros(length, length, dtype=torch.bool)")
    wrong("only_itself_for_window", "There is no window: each token sees itself only, beside global tokens and random keys. Begin with `sliding_window_mask(length, window)`.",
          breaks="values", old="sliding_window_mask(length, window)", new="torch.eye(length, dtype=torch.bool)")
    wrong("window_arguments_swapped", "`sliding_window_mask` is called with (length, window); yours has them the other way round.",
          breaks=("shape", "values", *RANDOM), old="sliding_window_mask(length, window)", new="sliding_window_mask(window, length)")
    wrong("half_the_window", "Your window is halved twice: `sliding_window_mask` takes `window` as it is.",
          breaks="values", old="sliding_window_mask(length, window)", new="sliding_window_mask(length, window // 2)")
    wrong("window_doubled", "Your window is too wide: `sliding_window_mask` takes `window` as it is, and halves it.",
          breaks="values", old="sliding_window_mask(length, window)", new="sliding_window_mask(length, 2 * window)")
    wrong("causal", "What comes later is hidden in yours. BigBird's mask is an encoder's: window, global tokens and random keys on both sides.",
          breaks=("values", "random keys"), old="return mask", new="return mask.tril()")
    wrong("symmetric", "Where a query draws a key, yours lets the key look back, too. Each query draws for itself only; the way back is not asked for.",
          breaks="random keys", old="return mask", new="return mask | mask.T")
    wrong("inverted", "Your mask is inverted: it is True (1) where one may *not* look.",
          breaks=("values", "random keys"), old="return mask", new="return ~mask")
    wrong("no_random_keys", "No random keys are drawn: each query is to see `num_random` more.",
          breaks=RANDOM, old=LOOP, new="")
    wrong("seen_keys_drawn", "Some of your random keys fall on keys that the query sees already, so there are fewer than `num_random` more. Draw among those that it can't see yet.",
          breaks="random keys", old=DRAWN, new="torch.randperm(length, generator=generator)[:num_random]")
    wrong("with_replacement", "A key can be drawn twice, and then there are fewer than `num_random` more. Draw without putting back: `randperm(…)[:num_random]`.",
          breaks="random keys", old=PERMUTED + "[:num_random]", new="torch.randint(len(unseen), (num_random if len(unseen) > num_random else 0,), generator=generator) if len(unseen) > num_random else slice(None)")
    wrong("ranks_for_keys", "You draw places in the *list* of keys not yet seen, and take them for the keys themselves. Look them up in that list: `unseen[…]`.",
          breaks="random keys", old=DRAWN, new=PERMUTED + "[:num_random]")
    wrong("drawn_before_the_globals", "Your random keys are drawn before the global tokens are set, so some fall on global tokens. Draw last, among what is still unseen.",
          breaks="random keys", old=("    mask[:num_global] = True\n    mask[:, :num_global] = True\n", "    return mask"), new=("", "    mask[:num_global] = True\n    mask[:, :num_global] = True\n    return mask"))
    wrong("same_keys_for_all", "Your queries do not draw for themselves: what one draws decides what another draws. (Is one draw made for all, before the loop?) Each draws anew, inside the loop.",
          breaks="random keys", old=LOOP, new="    order = torch.randperm(length, generator=generator)\n    for row in mask:  # (T,)\n        unseen = order[~row[order]]  # (N,)\n        row[unseen[:num_random]] = True\n")
    wrong("generator_ignored", "Your draw can't be repeated: the same state of `generator` gives another result each time. Draw from it alone (`generator=generator`), not from PyTorch's global one, Python's `random` or NumPy, and don't seed it.",
          breaks="generator", old=", generator=generator", new="")
    wrong("seeded", "Every mask is the same, whatever state `generator` is in. (Do you seed it, or a new one, yourself?) Draw from `generator` as it comes.",
          breaks=RANDOM, old="    for row", new="    generator.manual_seed(0)\n    for row")
    wrong("state_of_the_generator", "`generator` never moves on: the second mask is the first one again. (Do you draw from a copy of it?) Draw from `generator` itself.",
          breaks=RANDOM, old="    for row", new="    generator = torch.Generator().set_state(generator.get_state())\n    for row")
    wrong("first_keys", "You take the first keys that are not yet seen. They are to be drawn at random: `torch.randperm(…, generator=generator)`.",
          breaks=RANDOM, old=PERMUTED, new="torch.arange(len(unseen))")
    wrong("last_keys", "You take the last keys that are not yet seen. They are to be drawn at random: `torch.randperm(…, generator=generator)`.",
          breaks=RANDOM, old=PERMUTED, new="torch.arange(len(unseen)).flip(0)")
    wrong("one_too_many", "Each query draws a key too many: `num_random` of them.",
          breaks=("values", "random keys"), old="[:num_random]", new="[: num_random + 1]")
    wrong("one_too_few", "Each query draws a key too few: `num_random` of them.",
          breaks="random keys", old="[:num_random]", new="[: max(num_random - 1, 0)]")
    wrong("one_random_key", "Each query draws one key, whatever `num_random` is.",
          breaks=("values", "random keys"), old="[:num_random]", new="[:1]")
    wrong("all_but_num_random", "You leave `num_random` keys out and take all others. It is `num_random` that are taken: `[:num_random]`.",
          breaks=("values", "random keys"), old="[:num_random]", new="[num_random:]")
    wrong("a_chance_for_each", "Each key comes in with a certain chance, so a query has now more, now fewer. It is exactly `num_random` more.",
          breaks="random keys", old=DRAWN, new="unseen[torch.rand(len(unseen), generator=generator) < num_random / max(len(unseen), 1)]")
    wrong("a_block", "You draw where a *block* of neighboring keys begins. Each of the keys is drawn for itself.",
          breaks="random keys", old=PERMUTED + "[:num_random]", new="(torch.arange(num_random) + torch.randint(max(len(unseen), 1), (1,), generator=generator)) % max(len(unseen), 1) if len(unseen) > num_random else slice(None)")
    wrong("last_key_never", "The last of the keys not yet seen is never drawn. (Where a range or `randint` ends, its end is left out already.)",
          breaks="random keys", old="torch.randperm(len(unseen), generator", new="torch.randperm(max(len(unseen) - 1, 0), generator")
    wrong("earlier_keys_only", "Your random keys are all earlier ones. They are drawn from both sides: from all that the query can't see yet.",
          breaks="random keys", old=("    for row in mask:  # (T,)\n        unseen = (~row)", ), new=("    for t, row in enumerate(mask):  # (T,)\n        unseen = (~row[:t])", ))
    wrong("later_keys_only", "Your random keys are all later ones. They are drawn from both sides: from all that the query can't see yet.",
          breaks="random keys", old=("    for row in mask:  # (T,)\n        unseen = (~row).nonzero().squeeze(1)", ), new=("    for t, row in enumerate(mask):  # (T,)\n        unseen = t + (~row[t:]).nonzero().squeeze(1)", ))
    wrong("each_key_draws", "Yours goes through the columns: each *key* draws `num_random` queries. Each query (a row) draws its keys.",
          breaks="random keys", old="for row in mask:", new="for row in mask.T:")
    wrong("first_query_only", "Only one query draws. Each one that is not global does.",
          breaks="random keys", old="in mask:", new="in mask[num_global : num_global + 1]:")
    wrong("last_query_never", "The last query draws nothing. Each one that is not global does.",
          breaks="random keys", old="in mask:", new="in mask[:-1]:")
    wrong("random_keys_only", "Only random keys are left: window and global tokens are gone. All three go together.",
          breaks=("values", "random keys"), old=("    for row in mask:", "    return mask"), new=("    before = mask.clone()\n    for row in mask:", "    return mask & ~before"))
    wrong("nothing_returned_but_a_count", "You return how many pairs there are. The mask itself is asked for, (T, T).",
          breaks=("shape", "values", *RANDOM), old="return mask", new="return int(mask.sum())")
    wrong("a_batch_of_one", "Your mask has three axes. (T, T) is asked for.",
          breaks=("shape", "values", "random keys"), old="return mask", new="return mask[None]")
    wrong("too_few_left", "Where fewer keys are left than `num_random`, yours stops with an error. Take all that are left then.",
          breaks="random keys", old=PERMUTED + "[:num_random]", new="torch.ones(len(unseen)).multinomial(num_random, generator=generator) if num_random and len(unseen) else slice(0)")
    wrong("none_where_too_few_left", "Where fewer keys are left than `num_random`, yours draws none. Take all that are left then.",
          breaks="random keys", old="[:num_random]", new="[: num_random if len(unseen) >= num_random else 0]")
    wrong("as_many_as_the_poorest", "All queries draw as few as the one that has the fewest keys left. Each one draws `num_random`, or all that it has left.",
          breaks="random keys", old="    for row", new="    left = (~mask).sum(dim=1)\n    num_random = min(num_random, int(left[left > 0].min())) if left.any() else 0\n    for row")


@MISTAKES.of(attention_cost)
def in_attention_cost(wrong):
    ALL = ("values", "0 and 1")
    COUNT = "int((mask != 0).sum())"
    wrong("all_entries", "You count all entries, T · S, also those that are False. Only the pairs that are let through cost something.",
          breaks=ALL, old=COUNT, new="mask.numel()")
    wrong("hidden_ones", "You count the pairs that are hidden (False). Asked are those that are let through.",
          breaks=ALL, old="!= 0", new="== 0")
    wrong("queries", "You count queries: T. Asked are pairs, entries that are True.",
          breaks=ALL, old=COUNT, new="len(mask)")
    wrong("keys", "You count keys: S. Asked are pairs, entries that are True.",
          breaks=ALL, old=COUNT, new="mask.size(1)")
    wrong("both_sides", "You count T + S. Asked are pairs, entries that are True.",
          breaks=ALL, old=COUNT, new="sum(mask.shape)")
    wrong("for_each_query", "You count for each query. Add all of them up: one number.",
          breaks=ALL, old=COUNT, new="(mask != 0).sum(dim=1)")
    wrong("for_each_key", "You count for each key. Add all of them up: one number.",
          breaks=ALL, old=COUNT, new="(mask != 0).sum(dim=0)")
    wrong("share", "You return the share of pairs that are let through. Asked is their number.",
          breaks=ALL, old=COUNT, new="float((mask != 0).float().mean())")
    wrong("per_query", "You divide by the number of queries: keys for each query, on average. Asked is the number of all pairs.",
          breaks=ALL, old=COUNT, new="float((mask != 0).sum() / len(mask))")
    wrong("per_key", "You divide by the number of keys: queries for each key, on average. Asked is the number of all pairs.",
          breaks=ALL, old=COUNT, new="float((mask != 0).sum() / mask.size(1))")
    wrong("squares", "You return T². The mask says which pairs are computed: count what is True.",
          breaks=ALL, old=COUNT, new="len(mask) ** 2")
    wrong("squares_of_keys", "You return S². The mask says which pairs are computed: count what is True.",
          breaks=ALL, old=COUNT, new="mask.size(1) ** 2")
    wrong("longest_row", "You return how many keys the busiest query has. Add up all queries.",
          breaks=ALL, old=COUNT, new="int((mask != 0).sum(dim=1).max())")
    wrong("longest_row_for_all", "You take the busiest query's number of keys for all queries. Add up what each of them really has.",
          breaks=ALL, old=COUNT, new="len(mask) * int((mask != 0).sum(dim=1).max())")
    wrong("first_row_for_all", "You take the first query's number of keys for all queries. Add up what each of them really has.",
          breaks=ALL, old=COUNT, new="len(mask) * int((mask != 0)[0].sum())")
    wrong("first_row", "You count the first query's keys only. Add up all queries.",
          breaks=ALL, old="(mask != 0)", new="(mask != 0)[0]")
    wrong("counted_twice", "Your number is twice the right one: each pair counts once. (`nonzero()` gives two numbers for it, row and column.)",
          breaks=ALL, old=COUNT, new="(mask != 0).nonzero().numel()")
    wrong("places", "You return *where* the pairs are. Asked is how many there are.",
          breaks=ALL, old=COUNT, new="(mask != 0).nonzero()")
    wrong("lower_triangle", "You count only what is not later (s ≤ t). The mask alone says what counts.",
          breaks=ALL, old="(mask != 0)", new="(mask != 0).tril()")
    wrong("upper_triangle", "You count only what is not earlier (s ≥ t). The mask alone says what counts.",
          breaks=ALL, old="(mask != 0)", new="(mask != 0).triu()")
    wrong("diagonal_left_out", "You leave out the diagonal. A token that looks at itself costs a score like any other.",
          breaks=ALL, old="(mask != 0).sum()", new="(mask != 0).sum() - (mask != 0).diagonal().sum()")
    wrong("diagonal_only", "You count the diagonal only. Every entry that is True counts.",
          breaks=ALL, old="(mask != 0)", new="(mask != 0).diagonal()")
    wrong("busy_queries", "You count the queries that see anything at all. Asked are pairs.",
          breaks=ALL, old="(mask != 0)", new="(mask != 0).any(dim=1)")
    wrong("busy_keys", "You count the keys that anyone sees. Asked are pairs.",
          breaks=ALL, old="(mask != 0)", new="(mask != 0).any(dim=0)")
    wrong("yes_or_no", "You say whether anything is let through. Asked is how many pairs are.",
          breaks=ALL, old=COUNT, new="bool((mask != 0).any())")
    wrong("mask_itself", "You return a mask. Asked is how many of its entries are True.",
          breaks=ALL, old=COUNT, new="mask != 0")
    wrong("one_byte", "Your count runs over: it is kept in one byte, and begins again at 0 after 255.",
          breaks="values", old=COUNT, new="int((mask != 0).sum(dtype=torch.uint8))")
    wrong("one_signed_byte", "Your count runs over: it is kept in one byte with a sign, and goes on with −128 after 127.",
          breaks="values", old=COUNT, new="int((mask != 0).sum(dtype=torch.int8))")
    wrong("half_precision", "Your count is rounded: half precision has no odd numbers above 2048. Count in whole numbers.",
          breaks="values", old=COUNT, new="int((mask != 0).half().sum())")
    wrong("bfloat16", "Your count is rounded: `bfloat16` has no odd numbers above 256. Count in whole numbers.",
          breaks="values", old=COUNT, new="int((mask != 0).bfloat16().sum())")
    wrong("share_rounded_down", "Yours is 1 where everything is allowed, and else 0. (Is it a mean, cut off to a whole number?) Asked is how many pairs are let through.",
          breaks=ALL, old=COUNT, new="int((mask != 0).float().mean())")
    wrong("one_too_many", "Your number is one too large.",
          breaks=ALL, old=COUNT, new="int((mask != 0).sum()) + 1")
    wrong("squared", "Your number is the square of the right one: count the pairs, no more.",
          breaks=ALL, old=COUNT, new="int((mask != 0).sum()) ** 2")
    wrong("nothing", "Your count stays 0. (`is True` never holds for an entry of a tensor: it is a tensor, too. Compare with 0.)",
          breaks=ALL, old=COUNT, new="0")
    wrong("is_true", "Numbers are not counted: `is True` (or a test of the type) holds for booleans only. A 1 lets a pair through, too.",
          breaks="0 and 1", old=COUNT, new="sum(entry is True for row in mask.tolist() for entry in row)")
    wrong("not_of_numbers", "`~` turns True into False, but 1 into −2. Masks of 1 and 0 are masks, too: compare with 0.",
          breaks="0 and 1", old=COUNT, new="mask.numel() - int((~(mask.long() if mask.dtype != torch.bool else mask)).sum())")
    wrong("not_of_floats", "`~` works for booleans only. Masks of 1 and 0 are masks, too: compare with 0.",
          breaks="0 and 1", old=COUNT, new="mask.numel() - int((~mask).sum())")


@MISTAKES.of(growth_exponent)
def in_growth_exponent(wrong):
    ALL = ("values", "best line")
    X, Y = "torch.tensor(lengths).double().log()", "torch.tensor(costs).double().log()"
    FIT, CENTERED = "(x * y).sum() / (x * x).sum()", "    x, y = x - x.mean(), y - y.mean()\n"
    wrong("no_logs", "You fit a line to costs and lengths as they are. It is their *logarithms* that lie on a line.",
          breaks=ALL, old=(X, Y), new=(X[:-6], Y[:-6]))
    wrong("log_of_costs_only", "You take the log of the costs, but not of the lengths. Both axes are logarithmic.",
          breaks=ALL, old=X, new=X[:-6])
    wrong("log_of_lengths_only", "You take the log of the lengths, but not of the costs. Both axes are logarithmic.",
          breaks=ALL, old=Y, new=Y[:-6])
    wrong("two_kinds_of_logs", "Your logs have different bases: log2 for the lengths, the natural one for the costs. Take the same for both.",
          breaks=ALL, old=X, new=X.replace("log()", "log2()"))
    wrong("logs_of_other_bases", "Your logs have different bases: log2 for the costs, the natural one for the lengths. Take the same for both.",
          breaks=ALL, old=Y, new=Y.replace("log()", "log2()"))
    wrong("log10_of_lengths", "Your logs have different bases: log10 for the lengths, the natural one for the costs. Take the same for both.",
          breaks=ALL, old=X, new=X.replace("log()", "log10()"))
    wrong("log10_of_costs", "Your logs have different bases: log10 for the costs, the natural one for the lengths. Take the same for both.",
          breaks=ALL, old=Y, new=Y.replace("log()", "log10()"))
    wrong("log2_and_log10", "Your logs have different bases: log2 for the lengths, log10 for the costs. Take the same for both.",
          breaks=ALL, old=(X, Y), new=(X.replace("log()", "log2()"), Y.replace("log()", "log10()")))
    wrong("log10_and_log2", "Your logs have different bases: log10 for the lengths, log2 for the costs. Take the same for both.",
          breaks=ALL, old=(X, Y), new=(X.replace("log()", "log10()"), Y.replace("log()", "log2()")))
    wrong("log1p", "You take log(1 + x). It is log(x) that turns a power into a straight line.",
          breaks=ALL, old=(X, Y), new=(X.replace("log()", "log1p()"), Y.replace("log()", "log1p()")))
    wrong("through_the_origin", "Your line is forced through the origin: c is taken for 1. Take the means off both, or fit an intercept, too.",
          breaks=ALL, old=CENTERED, new="")
    wrong("lengths_not_centered", "Only the costs' mean is taken off. Take both off (or that of the lengths alone: then the other does not matter).",
          breaks=ALL, old=CENTERED, new="    y = y - y.mean()\n")
    wrong("axes_swapped", "You fit log length against log cost: axes are swapped. The slope is that of the costs.",
          breaks=ALL, old="(x * x).sum()", new="(y * y).sum()")
    wrong("inverse", "Your number is 1 over the right one: the lengths stand above, the costs below.",
          breaks=ALL, old=FIT, new="(x * x).sum() / (x * y).sum()")
    wrong("correlation", "That is the correlation: it says how well the points lie on a line, not how steep it is. Divide by the lengths' sum of squares alone.",
          breaks=ALL, old="(x * x).sum()", new="((x * x).sum() * (y * y).sum()).sqrt()")
    wrong("not_divided", "You don't divide by the lengths' sum of squares.",
          breaks=ALL, old=" / (x * x).sum()", new="")
    wrong("mean_below", "You divide a sum by a mean (a variance), so your number is too large. Take sums, or means, for both.",
          breaks=ALL, old="/ (x * x).sum()", new="/ (x * x).mean()")
    wrong("unbiased_variance", "You divide a mean (by N) by a variance that divides by N − 1. Take the same for both: `var(unbiased=False)`, or sums.",
          breaks=ALL, old=FIT, new="(x * y).mean() / x.var()")
    wrong("standard_deviation", "You divide by the lengths' standard deviation. It is their variance.",
          breaks=ALL, old=FIT, new="(x * y).mean() / x.std(unbiased=False)")
    wrong("ratio_of_spreads", "You divide the spread of the costs by that of the lengths. That has no sign, and is the slope only where all points lie on one line.",
          breaks=ALL, old=FIT, new="((y * y).sum() / (x * x).sum()).sqrt()")
    wrong("ends_only", "You take the slope from the first point to the last. The line that fits *all* points best is asked for (least squares).",
          breaks="best line", old=FIT, new="(y[-1] - y[0]) / (x[-1] - x[0])")
    wrong("shortest_to_longest", "You take the slope from the shortest length to the longest. The line that fits *all* points best is asked for (least squares).",
          breaks="best line", old=FIT, new="(y[x.argmax()] - y[x.argmin()]) / (x.max() - x.min())")
    wrong("largest_over_smallest", "You divide the span of the log costs by that of the log lengths: largest over smallest. The line that fits *all* points best is asked for (least squares), and its slope is negative where costs fall.",
          breaks=ALL, old=FIT, new="(y.max() - y.min()) / (x.max() - x.min())")
    wrong("median_of_slopes", "You take the median of the slopes from point to point. The line that fits *all* points best is asked for (least squares).",
          breaks="best line", old=FIT, new="(y.diff() / x.diff())[x.diff() != 0].median()")
    wrong("lengths_once", "Of points with the same length only one is left. (A dict keeps one value for each key.) All points count.",
          breaks="best line", old=(X, Y), new=("torch.tensor(list(dict(zip(lengths, costs)))).double().log()", "torch.tensor(list(dict(zip(lengths, costs)).values())).double().log()"))
    wrong("lengths_once_first", "Of points with the same length only the first is left. All points count.",
          breaks="best line", old=(X, Y), new=("torch.tensor(list(dict(zip(lengths[::-1], costs[::-1])))).double().log()", "torch.tensor(list(dict(zip(lengths[::-1], costs[::-1])).values())).double().log()"))
    wrong("first_two", "You take the slope of the first two points. The line that fits *all* points best is asked for (least squares).",
          breaks="best line", old=FIT, new="(y[1] - y[0]) / (x[1] - x[0])")
    wrong("mean_of_slopes", "You average the slopes from point to point. The line that fits *all* points best is asked for (least squares).",
          breaks="best line", old=FIT, new="(y.diff() / x.diff())[x.diff() != 0].mean()")
    wrong("mean_of_slopes_from_the_first", "You average the slopes from the first point to each other one. The line that fits *all* points best is asked for (least squares).",
          breaks="best line", old=FIT, new="((y - y[0]) / (x - x[0]))[x != x[0]].mean()")
    wrong("intercept", "You return the line's intercept (log c). The slope is asked for.",
          breaks=ALL, old=(CENTERED, f"float({FIT})"), new=("", "float(np.polyfit(x.numpy(), y.numpy(), 1)[1])"))
    wrong("factor", "You return the factor c. The exponent is asked for: the slope.",
          breaks=ALL, old=(CENTERED, f"float({FIT})"), new=("", "float(np.exp(np.polyfit(x.numpy(), y.numpy(), 1)[1]))"))
    wrong("slope_and_intercept", "You return slope and intercept. The slope alone is asked for.",
          breaks=ALL, old=(CENTERED, f"float({FIT})"), new=("", "np.polyfit(x.numpy(), y.numpy(), 1).tolist()"))
    wrong("sign", "Your slope has the wrong sign: costs that grow have a positive one.",
          breaks=ALL, old=FIT, new="-" + FIT)
    wrong("absolute", "You take the slope without its sign. Costs that fall have a negative one.",
          breaks=ALL, old=FIT, new=f"({FIT}).abs()")
    wrong("exponential", "You return e to the slope. The slope is the exponent.",
          breaks=ALL, old=FIT, new=f"({FIT}).exp()")
    wrong("rounded", "You round. The slope is wanted as it is: 1.5 is neither 1 nor 2.",
          breaks=ALL, old=FIT, new=f"({FIT}).round()")
    wrong("two_decimals", "You round to two decimals. The slope is wanted as it is.",
          breaks=ALL, old=FIT, new=f"({FIT}).round(decimals=2)")
    wrong("costs_over_lengths", "You divide costs by lengths. The slope on log axes is asked for.",
          breaks=ALL, old=f"float({FIT})", new="float((torch.tensor(costs) / torch.tensor(lengths)).mean())")
    wrong("ratio_of_logs", "You divide log costs by log lengths. That is the slope only for c = 1.",
          breaks=ALL, old=(CENTERED, FIT), new=("", "(y / x).mean()"))
    wrong("each_sorted", "You sort lengths and costs, each by itself: a cost then stands beside another's length. Keep the pairs together.",
          breaks=ALL, old=(X, Y), new=(X + ".sort().values", Y + ".sort().values"))
    wrong("only_lengths_sorted", "You sort the lengths, and the costs stay where they were: a cost then stands beside another's length. Keep the pairs together.",
          breaks=ALL, old=X, new=X + ".sort().values")
    wrong("weighted", "Large costs count more in your fit. Each point counts alike.",
          breaks="best line", old=CENTERED + "    return float(" + FIT + ")", new="    return float(np.polyfit(x.numpy(), y.numpy(), 1, w=y.exp().numpy())[0])")
    wrong("parabola", "You fit a parabola. A straight line is asked for: degree 1.",
          breaks=ALL, old=(CENTERED, f"float({FIT})"), new=("", "float(np.linalg.lstsq(np.vander(x.numpy(), 3), y.numpy(), rcond=None)[0][0])"))


@MISTAKES.of(encoder_parameters)
def in_encoder_parameters(wrong):
    SIZES = ("values", "DistilBERT", "ALBERT")
    LAYER = "4 * _linear(width, width) + norm + _linear(width, inner) + _linear(inner, width) + norm"
    wrong("no_biases", "The biases are missing: a linear layer from m to n has m · n weights and n biases.",
          breaks=SIZES, old=("_linear(narrow, width) if", LAYER, "_linear(width, width)\n"), new=("narrow * width if", "4 * width * width + 2 * width * inner + 2 * norm", "width * width\n"))
    wrong("no_attention_biases", "In each layer 4 · D numbers are missing: as many as the biases of the four attention layers, and as many as the two norms have (D weights and D biases each). One or the other you have not counted.",
          breaks=SIZES, old="4 * _linear(width, width)", new="4 * width * width")
    wrong("no_feed_forward_biases", "The biases of the two feed-forward layers are missing: F for the first, D for the second.",
          breaks=SIZES, old="_linear(width, inner) + _linear(inner, width)", new="2 * width * inner")
    wrong("biases_of_the_inner_width_twice", "Your second feed-forward layer has F biases. It leads back to width D, so it has D of them.",
          breaks=SIZES, old="_linear(inner, width)", new="_linear(width, inner)")
    wrong("three_attention_layers", "You count three attention layers: query, key and value. There is a fourth, for the output.",
          breaks=SIZES, old="4 * _linear", new="3 * _linear")
    wrong("attention_times_heads", "You count the attention layers once for each head. All heads together share four D × D layers: each head has K = D / H columns of them.",
          breaks=SIZES, old="4 * _linear(width, width)", new="config.num_attention_heads * 4 * _linear(width, width)")
    wrong("one_feed_forward_layer", "You count one feed-forward layer. There are two: from D to F, and back.",
          breaks=SIZES, old=" + _linear(inner, width)", new="")
    wrong("no_feed_forward", "The feed-forward layers are missing: from D to F, and back.",
          breaks=SIZES, old=" + _linear(width, inner) + _linear(inner, width)", new="")
    wrong("no_attention", "The attention layers are missing: four of D × D in each layer.",
          breaks=SIZES, old="4 * _linear(width, width) + norm", new="norm")
    wrong("inner_is_four_widths", "You take 4 · D for the inner width. The config says it: `intermediate_size` (DistilBERT: `hidden_dim`).",
          breaks=SIZES, old="    norm = 2 * width\n", new="    inner, norm = 4 * width, 2 * width\n")
    wrong("no_biases_of_layer_norms", "In each layer 2 · D numbers are missing: as many as the biases of its two norms, and as many as one norm whole. There are two norms, behind the attention and behind the feed-forward part, with D weights and D biases each.",
          breaks=SIZES, old="    norm = 2 * width\n", new="    norm = width\n")
    wrong("no_biases_of_norms", "The norms' biases are missing: a norm has D weights *and* D biases (the embeddings' norm, too).",
          breaks=SIZES, old=("    norm = 2 * width\n", "+ 2 * narrow"), new=("    norm = width\n", "+ narrow"))
    wrong("no_norms", "The norms are missing: one behind the embeddings and two in each layer, with weights and biases.",
          breaks=SIZES, old=("    norm = 2 * width\n", " + 2 * narrow"), new=("    norm = 0\n", ""))
    wrong("no_norm_of_embeddings", "2 · D numbers are missing (2 · E in ALBERT), as many as the embeddings' norm has: weights and biases.",
          breaks=SIZES, old=" + 2 * narrow", new="")
    wrong("no_bias_of_the_embeddings_norm", "D numbers are missing (E in ALBERT), as many as the embeddings' norm has biases.",
          breaks=SIZES, old=" + 2 * narrow", new=" + narrow")
    wrong("final_norm", "2 · D numbers are too many, as many as a norm has. Nothing follows the last layer: each layer ends with a norm of its own.",
          breaks=SIZES, old="layers * layer + pooler", new="layers * layer + norm + pooler")
    wrong("no_positions", "The position embeddings are missing: `max_position_embeddings` vectors.",
          breaks=SIZES, old="config.vocab_size + config.max_position_embeddings + types", new="config.vocab_size + types")
    wrong("no_types", "The type embeddings are missing: `type_vocab_size` vectors (DistilBERT alone has none).",
          breaks=("values", "ALBERT"), old="config.max_position_embeddings + types", new="config.max_position_embeddings")
    wrong("two_types_always", "You count two type embeddings. It is `type_vocab_size` of them, and for DistilBERT none.",
          breaks=SIZES, old="config.max_position_embeddings + types", new="config.max_position_embeddings + 2")
    wrong("two_types", "You count two type embeddings. It is `type_vocab_size` of them.",
          breaks=("values", "ALBERT"), old="config.type_vocab_size", new="2")
    wrong("types_in_distilbert", "For DistilBERT you count 2 · D numbers too many, as many as two type embeddings have. It has none.",
          breaks="DistilBERT", old="config.n_layers, 0", new="config.n_layers, 2")
    wrong("no_embeddings", "The embeddings are missing: words, positions and types.",
          breaks=SIZES, old="    embeddings = (config.vocab_size + config.max_position_embeddings + types) * narrow + 2 * narrow\n", new="    embeddings = 2 * narrow\n")
    wrong("no_words", "The word embeddings are missing: `vocab_size` vectors.",
          breaks=SIZES, old="config.vocab_size + config.max", new="config.max")
    wrong("output_layer", "V numbers are too many, as many as a layer that predicts tokens has biases. The encoder alone has no head.",
          breaks=SIZES, old="layers * layer + pooler", new="layers * layer + pooler + config.vocab_size")
    wrong("output_matrix", "D · V numbers are too many, as many as a layer that predicts tokens has weights. The encoder alone has no head.",
          breaks=SIZES, old="layers * layer + pooler", new="layers * layer + pooler + config.vocab_size * width")
    wrong("no_pooler", "The pooler is missing: a D × D layer with biases (DistilBERT alone has none).",
          breaks=("values", "ALBERT"), old=" + pooler\n", new="\n")
    wrong("pooler_in_all", "DistilBERT has no pooler.",
          breaks="DistilBERT", old='0 if kind == "distilbert" else _linear(width, width)', new="_linear(width, width)")
    wrong("distilbert_like_bert", "You count type embeddings and a pooler for DistilBERT. It has neither.",
          breaks="DistilBERT", old=("config.n_layers, 0", '0 if kind == "distilbert" else _linear(width, width)'), new=("config.n_layers, 2", "_linear(width, width)"))
    wrong("pooler_without_bias", "The pooler has D biases, too.",
          breaks=("values", "ALBERT"), old='else _linear(width, width)\n', new="else width * width\n")
    wrong("pooler_in_each_layer", "You count a pooler for each layer. There is one, behind the last.",
          breaks=SIZES, old="layers * layer + pooler", new="layers * (layer + _linear(width, width))")
    wrong("roberta_without_pooler", "You leave out RoBERTa's pooler. It has one, as BERT has.",
          breaks="values", old='kind == "distilbert" else _linear', new='kind in ("distilbert", "roberta") else _linear')
    wrong("roberta_without_types", "You leave out RoBERTa's type embeddings. It has `type_vocab_size` of them, as BERT has, even though it makes no use of them.",
          breaks="values", old="    norm = 2 * width\n", new='    norm = 2 * width\n    types = 0 if kind == "roberta" else types\n')
    wrong("roberta_two_positions_more", "For RoBERTa you count 2 · D numbers too many, as many as two positions have. `max_position_embeddings` holds them all: 514 for texts of 512 tokens.",
          breaks="values", old="    norm = 2 * width\n", new='    norm = 2 * width\n    types += 2 * (kind == "roberta")\n')
    wrong("albert_like_bert", "ALBERT's layers share their weights: they count once for each of `num_hidden_groups` groups, not for each layer.",
          breaks="ALBERT", old='config.num_hidden_groups if kind == "albert" else config.num_hidden_layers', new="config.num_hidden_layers")
    wrong("albert_one_layer", "You count ALBERT's layer once. It is once for each of `num_hidden_groups` groups.",
          breaks="ALBERT", old='config.num_hidden_groups if kind == "albert"', new='1 if kind == "albert"')
    wrong("albert_layers_in_a_group", "You count the layers of one group. All layers of a group share their weights: one layer for each of `num_hidden_groups` groups.",
          breaks="ALBERT", old='config.num_hidden_groups if kind == "albert"', new='config.num_hidden_layers // config.num_hidden_groups if kind == "albert"')
    wrong("albert_layers_and_groups", "You count ALBERT's layers once for each group *and* each layer. Once for each group: its layers share their weights.",
          breaks="ALBERT", old='config.num_hidden_groups if kind == "albert"', new='config.num_hidden_groups * config.num_hidden_layers if kind == "albert"')
    wrong("albert_wide_embeddings", "ALBERT's embeddings are narrower: vectors of `embedding_size`, E, not D. (And a linear layer leads from E to D.)",
          breaks="ALBERT", old="narrow = config.embedding_size if kind == \"albert\" else width", new="narrow = width")
    wrong("factorization_forgotten", "ALBERT's embeddings are narrower: vectors of `embedding_size`, E, not D; a linear layer leads from E to D. Yours counts embeddings of width D, and no such layer.",
          breaks="ALBERT", old=('config.embedding_size if kind == "albert" else width', '_linear(narrow, width) if kind == "albert" else 0'), new=("width", "0"))
    wrong("albert_no_widening", "The layer that widens ALBERT's embeddings from E to D is missing.",
          breaks="ALBERT", old='_linear(narrow, width) if kind == "albert" else 0', new="0")
    wrong("albert_widening_without_bias", "The layer that widens ALBERT's embeddings has D biases, too.",
          breaks="ALBERT", old="_linear(narrow, width) if", new="narrow * width if")
    wrong("albert_widening_bias", "The layer that widens ALBERT's embeddings leads to D: it has D biases, not E.",
          breaks="ALBERT", old="_linear(narrow, width) if", new="narrow * width + narrow if")
    wrong("albert_no_widening_where_equal", "Where E is D you leave out the layer between them. It is there all the same.",
          breaks="ALBERT", old="_linear(narrow, width) if", new="_linear(narrow, width) if narrow != width and")
    wrong("widening_in_all", "You count a layer from the embeddings to the first layer for all models. Only ALBERT has it.",
          breaks=("values", "DistilBERT"), old='_linear(narrow, width) if kind == "albert" else 0', new="_linear(narrow, width)")
    wrong("albert_norm_of_width_d", "The norm of ALBERT's embeddings is as narrow as they are: E weights and E biases. The widening comes after it.",
          breaks="ALBERT", old="+ 2 * narrow", new="+ 2 * width")
    wrong("albert_wide_positions", "Only ALBERT's word embeddings are narrow in yours. Those of positions and types have width E, too.",
          breaks="ALBERT", old="(config.vocab_size + config.max_position_embeddings + types) * narrow", new="config.vocab_size * narrow + (config.max_position_embeddings + types) * width")
    wrong("albert_no_pooler", "You leave out ALBERT's pooler. It has one, as BERT has.",
          breaks="ALBERT", old='kind == "distilbert" else _linear', new='kind in ("distilbert", "albert") else _linear')
    wrong("one_layer", "You count one layer. It is as many as the config says.",
          breaks=SIZES, old="layers * layer", new="layer")
    wrong("heads_for_layers", "You count `num_attention_heads` layers. It is `num_hidden_layers` of them.",
          breaks="values", old="else config.num_hidden_layers", new="else config.num_attention_heads")
    wrong("a_layer_too_few", "You count a layer too few.",
          breaks=SIZES, old="layers * layer", new="(layers - 1) * layer")
    wrong("distilbert_half", "You halve DistilBERT's layers. `n_layers` is what it has: half of *BERT's*.",
          breaks="DistilBERT", old="config.n_layers, 0", new="config.n_layers // 2, 0")
    wrong("no_refusal", "A config of another type is counted all the same. Refuse it: raise a ValueError that names the type.",
          breaks="refusals", old='raise ValueError(f"a model of type {kind!r} is none of these encoders")', new="return 0")
    wrong("returns_none_for_others", "For a config of another type nothing comes back (None). Refuse it: raise a ValueError that names the type.",
          breaks="refusals", old='raise ValueError(f"a model of type {kind!r} is none of these encoders")', new="return None")
    wrong("anything_with_bert", "You refuse less than you should: “mobilebert” is none of the four either. (Does a test for “bert” let it through? Compare the whole word.)",
          breaks="refusals", old='kind not in ("bert", "roberta", "distilbert", "albert")', new='"bert" not in kind')
    wrong("refused_without_the_type", "You refuse other configs, but your message does not name their type.",
          breaks="refusals", old='f"a model of type {kind!r} is none of these encoders"', new='"an unknown model"')
    wrong("all_refused_but_bert", "You refuse RoBERTa, DistilBERT and ALBERT. They are to be counted, too.",
          breaks=("values", "DistilBERT", "ALBERT"), old='("bert", "roberta", "distilbert", "albert")', new='("bert",)')


@MISTAKES.of(few_shot_prompt)
def in_few_shot_prompt(wrong):
    ALL = ("values", "zero-shot")
    TASK, SHOWN, ASKED = 'f"{task}:"', '*(f"{given} => {wanted}" for given, wanted in examples)', 'f"{query} =>"'
    JOINED = '"\\n".join(lines)'
    wrong("space_at_the_end", "A space follows your last arrow. Nothing may: the model goes on from there, and a space is already a token.",
          breaks=ALL, old=ASKED, new='f"{query} => "')
    wrong("line_end_at_the_end", "Your prompt ends with a line end. Nothing may follow the last arrow: the model would begin a new line.",
          breaks=ALL, old=JOINED, new=JOINED + ' + "\\n"')
    wrong("line_end_after_each_line", "Each of your lines ends with a line end, and its space, the last one too. Nothing may follow the last arrow.",
          breaks=ALL, old=JOINED, new='"".join(f"{line} \\n" for line in lines)')
    wrong("answer_asked_for", "Something follows your last arrow. Nothing may: that is where the model begins to write.",
          breaks=ALL, old=ASKED, new='f"{query} => ?"')
    wrong("no_colon", "The colon after the task is missing.",
          breaks=ALL, old=TASK, new='f"{task}"')
    wrong("space_before_the_colon", "A space stands before your colon. It follows the task at once.",
          breaks=ALL, old=TASK, new='f"{task} :"')
    wrong("no_task", "The task is missing: it is the first line, with a colon.",
          breaks=ALL, old=f"{TASK}, ", new="")
    wrong("task_last", "Your task stands at the end. It is the first line.",
          breaks=ALL, old=f"[{TASK}, {SHOWN}, {ASKED}]", new=f"[{SHOWN}, {ASKED}, {TASK}]")
    wrong("task_before_the_query", "Your task stands between the examples and the query. It is the first line.",
          breaks="values", old=f"[{TASK}, {SHOWN}, {ASKED}]", new=f"[{SHOWN}, {TASK}, {ASKED}]")
    wrong("task_in_each_line", "The task stands in front of each example, and of the query. It comes once, as the first line.",
          breaks=ALL, old=f"[{TASK}, {SHOWN}, {ASKED}]", new='[*(f"{task}: {given} => {wanted}" for given, wanted in examples), f"{task}: {query} =>"]')
    wrong("task_on_the_first_line_with_more", "Your task shares its line with what comes next. It has a line of its own.",
          breaks=ALL, old=JOINED, new='" ".join(lines[:2]) + "".join("\\n" + line for line in lines[2:])')
    wrong("task_without_line_end", "Your task is not followed by a line end. It has a line of its own.",
          breaks=ALL, old=JOINED, new='"".join(lines[:2]) + "".join("\\n" + line for line in lines[2:])')
    wrong("no_line_end_before_the_query", "Your query follows the last example's output on the same line. It has a line of its own.",
          breaks="values", old=JOINED, new='"\\n".join(lines) if not examples else "\\n".join(lines[:-1]) + lines[-1]')
    wrong("empty_line_after_the_task", "An empty line follows your task. No line is empty.",
          breaks=ALL, old=TASK, new='f"{task}:\\n"')
    wrong("empty_lines", "Empty lines stand between yours. No line is empty.",
          breaks=ALL, old='"\\n".join', new='"\\n\\n".join')
    wrong("empty_line_without_examples", "Without examples an empty line stands between task and query. No line is empty.",
          breaks="zero-shot", old=SHOWN, new='"\\n".join(f"{given} => {wanted}" for given, wanted in examples)')
    wrong("empty_line_before_the_query", "An empty line stands before your query. No line is empty.",
          breaks=ALL, old=ASKED, new='f"\\n{query} =>"')
    wrong("no_query", "The query is missing: the last line is the query and an arrow.",
          breaks=ALL, old=f", {ASKED}", new="")
    wrong("query_without_arrow", "Your last line has no arrow: `query =>`.",
          breaks=ALL, old=ASKED, new='f"{query}"')
    wrong("query_with_colon", "Your last line ends with a colon instead of the arrow: `query =>`.",
          breaks=ALL, old=ASKED, new='f"{query}:"')
    wrong("query_first", "Your query stands before the examples. It is the last line.",
          breaks="values", old=f"{SHOWN}, {ASKED}", new=f"{ASKED}, {SHOWN}")
    wrong("examples_turned_around", "Your examples are turned around: `output => input`. The input comes first.",
          breaks="values", old="for given, wanted in", new="for wanted, given in")
    wrong("examples_in_reverse", "Your examples come in reverse order. They are given in the order wanted.",
          breaks="values", old="in examples)", new="in examples[::-1])")
    wrong("examples_sorted", "You sort the examples. They are given in the order wanted.",
          breaks="values", old="in examples)", new="in sorted(examples))")
    wrong("examples_once_each", "An input that comes twice is shown once in yours (a dict keeps one value for each key). All examples are shown.",
          breaks="values", old="in examples)", new="in dict(examples).items())")
    wrong("examples_once", "An example that comes twice is shown once in yours. All examples are shown.",
          breaks="values", old="in examples)", new="in dict.fromkeys(examples))")
    wrong("no_examples", "The examples are missing: one line for each, `input => output`.",
          breaks="values", old=f"{SHOWN}, ", new="")
    wrong("first_example_only", "Only the first example is shown. All are.",
          breaks="values", old="in examples)", new="in examples[:1])")
    wrong("last_example_only", "Only the last example is shown. All are. (Does each turn of your loop overwrite the one before?)",
          breaks="values", old="in examples)", new="in examples[-1:])")
    wrong("last_example_missing", "Your last example is missing.",
          breaks="values", old="in examples)", new="in examples[:-1])")
    wrong("first_example_missing", "Your first example is missing.",
          breaks="values", old="in examples)", new="in examples[1:])")
    wrong("query_left_out", "Where the query is also an example's input, yours leaves that example out. All examples are shown.",
          breaks="values", old="in examples)", new="in examples if given != query)")
    wrong("outputs_missing", "The outputs of your examples are missing: `input => output`.",
          breaks="values", old="{given} => {wanted}", new="{given} =>")
    wrong("space_after_outputs", "A space follows your examples' outputs. The line ends there.",
          breaks="values", old="{wanted}\"", new="{wanted} \"")
    wrong("examples_end_with_a_stop", "Your examples end with a full stop. The output stands there as it is.",
          breaks="values", old="{wanted}\"", new="{wanted}.\"")
    wrong("thin_arrow", "Your arrow is `->`. It is `=>`.",
          breaks=ALL, old=("} => {", "{query} =>"), new=("} -> {", "{query} ->"))
    wrong("equals_sign", "Your arrow is `=`. It is `=>`.",
          breaks=ALL, old=("} => {", "{query} =>"), new=("} = {", "{query} ="))
    wrong("one_character_arrow", "Your arrow is one character, `→` or `⇒`. It is two: `=>`.",
          breaks=ALL, old=("} => {", "{query} =>"), new=("} → {", "{query} →"))
    wrong("double_arrow", "Your arrow is one character, `→` or `⇒`. It is two: `=>`.",
          breaks=ALL, old=("} => {", "{query} =>"), new=("} ⇒ {", "{query} ⇒"))
    wrong("no_spaces_around_the_arrow", "Your arrows have no spaces around them: `input => output`, `query =>`.",
          breaks=ALL, old=("{given} => {wanted}", "{query} =>"), new=("{given}=>{wanted}", "{query}=>"))
    wrong("no_space_before_the_last_arrow", "No space stands before your last arrow: `query =>`.",
          breaks=ALL, old="{query} =>", new="{query}=>")
    wrong("colons_for_arrows", "Your examples have colons for arrows. It is `input => output`.",
          breaks="values", old="{given} => {wanted}", new="{given}: {wanted}")
    wrong("question_and_answer", "Your lines are questions and answers (`Q:`, `A:`). The form here is `input => output`.",
          breaks=ALL, old=(SHOWN, ASKED), new=('*(f"Q: {given}\\nA: {wanted}" for given, wanted in examples)', 'f"Q: {query}\\nA:"'))
    wrong("commas", "Commas stand between your lines. Each has a line of its own: `\"\\n\".join`.",
          breaks=ALL, old=JOINED, new='", ".join(lines)')
    wrong("one_line", "All stands on one line. Task, examples and query have a line each: `\"\\n\".join`.",
          breaks=ALL, old=JOINED, new='" ".join(lines)')
    wrong("nothing_between", "Nothing stands between your lines. Task, examples and query have a line each: `\"\\n\".join`.",
          breaks=ALL, old=JOINED, new='"".join(lines)')
    wrong("backslash_n", "Your text has a backslash and an n where a line is to end. (Is it a raw string, or a doubled backslash?)",
          breaks=ALL, old=JOINED, new='"\\\\n".join(lines)')
    wrong("windows_line_ends", "Your lines end with \\r\\n. It is \\n alone.",
          breaks=ALL, old=JOINED, new='"\\r\\n".join(lines)')
    wrong("lines", "You return a list of lines. One text is asked for: `\"\\n\".join`.",
          breaks=ALL, old=JOINED, new="lines")
    wrong("indented", "Your lines are indented. (Does a text in triple quotes hold the spaces of your program?)",
          breaks=ALL, old=JOINED, new='"\\n    ".join(lines)')
    wrong("line_end_at_the_beginning", "Your prompt begins with a line end. (A text in triple quotes begins right after them.)",
          breaks=ALL, old=JOINED, new='"\\n" + "\\n".join(lines)')
    wrong("numbered", "You number the examples. The form here is `input => output`.",
          breaks="values", old=SHOWN, new='*(f"{number}. {given} => {wanted}" for number, (given, wanted) in enumerate(examples, 1))')
    wrong("bulleted", "You put a dash before each example. The form here is `input => output`.",
          breaks="values", old="f\"{given} =>", new="f\"- {given} =>")
    wrong("quoted", "You put quotation marks around texts (`repr` does). They stand as they are.",
          breaks=ALL, old=("{given} => {wanted}", "{query} =>"), new=("{given!r} => {wanted!r}", "{query!r} =>"))
    wrong("pairs", "You show examples as Python pairs. The form here is `input => output`.",
          breaks="values", old=SHOWN, new="*map(str, examples)")
    for name, end in (("pairs_with_arrows", "=>"), ("pairs_with_arrows_and_spaces", "=> ")):
        wrong(name, "You show examples as Python pairs. The form here is `input => output`.",
              breaks="values", old="{given} => {wanted}", new=f"{{given, wanted}} {end}")
    wrong("small_letters", "You change capital letters. Texts stand as they are.",
          breaks=ALL, old=JOINED, new=JOINED + ".lower()")
    wrong("capital_task", "You change the task's letters. It stands as it is.",
          breaks=ALL, old=TASK, new='f"{task.upper()}:"')


@MISTAKES.of(patchify)
def in_patchify(wrong):
    GRID = "images.reshape(batch, channels, height // patch, patch, width // patch, patch)"
    ORDER = "grid.permute(0, 2, 4, 1, 3, 5)"
    NUMBERS = ("values", "gradients")
    wrong("columns_first", "Your patches run down the columns first. They run row by row, from the top left to the right.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 4, 2, 1, 3, 5)")
    wrong("channels_last", "In your vectors the channels come last: pixel by pixel. A vector holds the first channel's pixels, then the next channel's.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 2, 4, 3, 5, 1)")
    wrong("channels_between", "In your vectors the channels come between a patch's rows and columns. A vector holds the first channel's pixels row by row, then the next channel's.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 2, 4, 3, 1, 5)")
    wrong("pixels_by_columns", "Inside each patch your pixels run down the columns. They run row by row.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 2, 4, 1, 5, 3)")
    wrong("pixels_by_columns_channels_last", "Inside each patch your pixels run down the columns, and channels come last. A vector holds the first channel row by row, then the next channel.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 2, 4, 5, 3, 1)")
    wrong("all_by_columns", "Your patches run down the columns, and so do the pixels in each. Both run row by row.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 4, 2, 1, 5, 3)")
    wrong("columns_first_channels_last", "Your patches run down the columns, and in each vector channels come last. Patches run row by row, and a vector holds the first channel's pixels, then the next channel's.",
          breaks=NUMBERS, old=ORDER, new="grid.permute(0, 4, 2, 3, 5, 1)")
    wrong("only_reshaped", "You reshape, but change no order of axes: your vectors are stretches of memory, not squares of the image. Split H and W into (rows, P) and (columns, P), and bring the two P together with `permute`.",
          breaks=NUMBERS, old=ORDER + ".flatten(3).flatten(1, 2)", new="images.reshape(batch, height // patch * (width // patch), channels * patch * patch)")
    wrong("channels_in_front", "Your channels stay in front when you cut, so a vector mixes stretches of different patches. Bring the channels behind the patches first.",
          breaks=NUMBERS, old=ORDER + ".flatten(3).flatten(1, 2)", new="grid.permute(0, 1, 2, 4, 3, 5).reshape(batch, height // patch * (width // patch), channels * patch * patch)")
    wrong("patch_and_grid_swapped", "You split H into (P, rows) where it is (rows, P): your vectors hold every H/P-th pixel, not neighbors. The same for W.",
          breaks=NUMBERS, old=GRID, new="images.reshape(batch, channels, patch, height // patch, patch, width // patch).permute(0, 1, 3, 2, 5, 4)")
    wrong("height_and_width_swapped", "You cut the image into W/P rows and H/P columns. H comes before W: (B, C, H, W).",
          breaks=NUMBERS, old=GRID, new="images.reshape(batch, channels, width // patch, patch, height // patch, patch)")
    wrong("from_the_bottom", "Your patches begin at the bottom. They begin at the top left.",
          breaks=NUMBERS, old=ORDER, new="grid.flip(2).permute(0, 2, 4, 1, 3, 5)")
    wrong("from_the_right", "Your rows of patches begin at the right. They begin at the top left.",
          breaks=NUMBERS, old=ORDER, new="grid.flip(4).permute(0, 2, 4, 1, 3, 5)")
    wrong("axes_behind_each_other", "The last two axes of your result are swapped: (B, C·P·P, N). It is to be (B, N, C·P·P), one vector for each patch.",
          breaks=("shape", *NUMBERS), old=".flatten(1, 2)", new=".flatten(1, 2).transpose(1, 2)")
    wrong("grid_kept", "Your patches still stand in rows and columns: four axes. Make one row of them: (B, N, C·P·P).",
          breaks=("shape", *NUMBERS), old=".flatten(3).flatten(1, 2)", new=".flatten(3)")
    wrong("pixels_kept", "Your patches are still squares: five axes. Make each a vector: (B, N, C·P·P).",
          breaks=("shape", *NUMBERS), old=".flatten(3).flatten(1, 2)", new=".flatten(1, 2)")
    wrong("batch_merged", "Batch and patches have become one axis. Each image is a sentence of its own: (B, N, C·P·P).",
          breaks=("shape", *NUMBERS), old=".flatten(1, 2)", new=".flatten(0, 2)")
    wrong("everything_flat", "All patches of an image are one long vector. (B, N, C·P·P) is asked for.",
          breaks=("shape", *NUMBERS), old=".flatten(3).flatten(1, 2)", new=".flatten(1)")
    wrong("channels_as_tokens", "Each channel of a patch is a token of its own in yours. One vector holds all channels of a patch: (B, N, C·P·P).",
          breaks=("shape", *NUMBERS), old=".flatten(3).flatten(1, 2)", new=".flatten(4).flatten(1, 3)")
    wrong("first_channel_only", "Only the first channel is there. A vector holds all of them: C·P·P numbers.",
          breaks=("shape", *NUMBERS), old=ORDER, new="grid[:, :1].permute(0, 2, 4, 1, 3, 5)")
    wrong("channels_summed", "You add up the channels. A vector holds all of them, one after the other: C·P·P numbers.",
          breaks=("shape", *NUMBERS), old=ORDER, new="grid.sum(dim=1, keepdim=True).permute(0, 2, 4, 1, 3, 5)")
    wrong("channels_averaged", "You average the channels. A vector holds all of them, one after the other: C·P·P numbers.",
          breaks=("shape", *NUMBERS), old=ORDER, new="grid.mean(dim=1, keepdim=True).permute(0, 2, 4, 1, 3, 5)")
    wrong("patches_averaged", "You average the pixels of a patch: one number a channel. A vector holds them all: C·P·P numbers.",
          breaks=("shape", *NUMBERS), old=".flatten(3).flatten(1, 2)", new=".mean(dim=(4, 5)).flatten(1, 2)")
    wrong("number_for_size", "You cut each side into P pieces. A patch is P × P pixels: there are H / P rows of them.",
          breaks=("shape", *NUMBERS), old=GRID, new="images.reshape(batch, channels, patch, height // patch, patch, width // patch)")
    wrong("overlapping", "Your patches overlap: one begins at each pixel. They lie side by side: a step of P.",
          breaks=("shape", *NUMBERS), old=(f"    grid = {GRID}\n", ORDER), new=("    grid = images.unfold(2, patch, 1).unfold(3, patch, 1)\n", "grid.permute(0, 2, 3, 1, 4, 5)"))
    wrong("batch_for_channels", "You take the first axis for the channels. images is (B, C, H, W).",
          breaks=("shape", *NUMBERS), old=("    batch, channels, height, width = images.shape\n",), new=("    images = images.transpose(0, 1)\n    batch, channels, height, width = images.shape\n",))
    wrong("channels_last_images", "You take the last axis for the channels. images is (B, C, H, W).",
          breaks=("shape", *NUMBERS, "refusals"), old="    batch, channels, height, width = images.shape\n", new="    images = images.permute(0, 3, 1, 2)\n    batch, channels, height, width = images.shape\n")
    wrong("view_after_permute", "`view` can't join axes after `permute`: their memory is not in order. `reshape` or `flatten` copy where they must.",
          breaks=("shape", *NUMBERS), old=".flatten(3).flatten(1, 2)", new=".view(batch, -1, channels * patch * patch)")
    wrong("no_gradient", "No gradient reaches `images`: your patches are cut off from them (`detach`, NumPy, `torch.tensor` …).",
          breaks="gradients", old=ORDER, new="grid.detach().permute(0, 2, 4, 1, 3, 5)")
    wrong("no_refusal", "Where P does not divide H or W, pixels are left over. Refuse such sizes with a ValueError.",
          breaks="refusals", old=("    if height % patch or width % patch:\n        raise ValueError(f\"an image of {height} × {width} can't be cut into patches of {patch} × {patch}\")\n", GRID),
          new=("", GRID.replace("images", "images[:, :, : height // patch * patch, : width // patch * patch]")))
    wrong("left_to_reshape", "The size that does not fit is refused by the library's `reshape`, not by you: raise a ValueError with that size and P before it comes to that.",
          breaks="refusals", old="    if height % patch or width % patch:\n        raise ValueError(f\"an image of {height} × {width} can't be cut into patches of {patch} × {patch}\")\n", new="")
    wrong("only_height_checked", "You look at H only. A width that P does not divide is to be refused, too.",
          breaks="refusals", old="height % patch or width % patch", new="height % patch")
    wrong("only_width_checked", "You look at W only. A height that P does not divide is to be refused, too.",
          breaks="refusals", old="height % patch or width % patch", new="width % patch")
    wrong("refused_only_if_both", "You refuse an image only if P divides *neither* side. One is enough.",
          breaks="refusals", old="height % patch or width % patch", new="height % patch and width % patch")
    wrong("area_checked", "You look at H · W. Each side has to be a multiple of P.",
          breaks="refusals", old="height % patch or width % patch", new="height * width % patch")
    wrong("refused_without_numbers", "You refuse what does not fit, but your message does not say all that it should: the size that does not fit (H or W), and P.",
          breaks="refusals", old="f\"an image of {height} × {width} can't be cut into patches of {patch} × {patch}\"", new="\"the patches do not fit\"")
    wrong("squares_only", "You refuse images that are not square. H and W may differ; each has to be a multiple of P.",
          breaks=("shape", *NUMBERS, "refusals"), old="height % patch or width % patch", new="height != width")


@MISTAKES.of(clip_loss)
def in_clip_loss(wrong):
    ALL = ("values", "large logits", "gradients")
    UNIT = "F.normalize(image_emb, dim=-1), F.normalize(text_emb, dim=-1)"
    MEAN = "(F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)) / 2"
    wrong("not_normalized", "You take products of the vectors as they are: longer ones win. Cosines are asked for: make each vector's length 1 first.",
          breaks=ALL, old=UNIT, new="image_emb, text_emb")
    wrong("images_not_normalized", "Only the texts have length 1. Cosines need both: normalize the images, too.",
          breaks=ALL, old="F.normalize(image_emb, dim=-1)", new="image_emb")
    wrong("texts_not_normalized", "Only the images have length 1. Cosines need both: normalize the texts, too.",
          breaks=ALL, old="F.normalize(text_emb, dim=-1)", new="text_emb")
    wrong("normalized_over_the_batch", "You normalize over the batch (dim 0). Each vector is to have length 1: dim −1.",
          breaks=ALL, old="dim=-1", new="dim=0", times=2)
    wrong("normalized_as_a_whole", "You divide by the length of all vectors together. Each vector has its own: `norm(dim=-1, keepdim=True)`.",
          breaks=ALL, old=UNIT, new="image_emb / image_emb.norm(), text_emb / text_emb.norm()")
    wrong("divided_by_squared_length", "You divide by the *squared* lengths: the root is missing.",
          breaks=ALL, old=UNIT, new="image_emb / image_emb.square().sum(dim=-1, keepdim=True), text_emb / text_emb.square().sum(dim=-1, keepdim=True)")
    wrong("sum_of_sizes", "You divide by the sum of the sizes (the 1-norm). The length is the root of the sum of squares.",
          breaks=ALL, old="dim=-1", new="p=1, dim=-1", times=2)
    wrong("divided_by_root_d", "You divide by √D, as attention does. Here vectors are made of length 1 instead.",
          breaks=ALL, old=UNIT, new="image_emb / image_emb.size(-1) ** 0.5, text_emb")
    wrong("cosines_over_root_d", "You divide by √D besides: cosines are divided by `temperature` only.",
          breaks=ALL, old="/ temperature", new="/ temperature / image_emb.size(-1) ** 0.5")
    wrong("layer_norm", "You take a layer norm: mean 0 and variance 1. A vector of length 1 is asked for.",
          breaks=ALL, old=UNIT, new="F.layer_norm(image_emb, image_emb.shape[-1:]), F.layer_norm(text_emb, text_emb.shape[-1:])")
    wrong("images_only", "One half is missing: you only ask which text belongs to each image. The reverse counts as much: `logits.T`.",
          breaks=ALL, old=MEAN, new="F.cross_entropy(logits, pairs)")
    wrong("texts_only", "One half is missing: you only ask which image belongs to each text. The reverse counts as much: `logits`.",
          breaks=ALL, old=MEAN, new="F.cross_entropy(logits.T, pairs)")
    wrong("summed", "You add the two losses. Their mean is asked for: divide by 2.",
          breaks=ALL, old=") / 2", new=")")
    wrong("sum_over_the_batch", "You add up over the batch (B = {B}). A cross-entropy is the mean over its rows.",
          breaks=ALL, old="pairs)", new="pairs, reduction='sum')", times=2)
    wrong("loss_of_each", "You return a loss for each pair. Their mean is asked for: one number.",
          breaks=("shape", *ALL), old="pairs)", new="pairs, reduction='none')", times=2)
    wrong("times_temperature", "You multiply by the temperature. Cosines are divided by it: a low one makes small differences large.",
          breaks=ALL, old="/ temperature", new="* temperature")
    wrong("no_temperature", "`temperature` has no effect: cosines are divided by it. (Dividing the vectors before they are normalized takes it out again.)",
          breaks=ALL, old=" / temperature", new="")
    wrong("times_exp_temperature", "You multiply by e^temperature, as CLIP's code does with a *learned* log-scale. Here `temperature` is what cosines are divided by.",
          breaks=ALL, old="/ temperature", new="* torch.tensor(temperature).exp()")
    wrong("divided_by_exp_temperature", "You divide by e^temperature. Cosines are divided by `temperature` itself.",
          breaks=ALL, old="/ temperature", new="/ torch.tensor(temperature).exp()")
    wrong("root_of_temperature", "You divide by √temperature. Cosines are divided by `temperature` itself.",
          breaks=ALL, old="/ temperature", new="/ temperature**0.5")
    wrong("temperature_squared", "The temperature is in twice. (Are vectors divided by it, too?) Cosines are divided by it, once.",
          breaks=ALL, old="/ temperature", new="/ temperature**2")
    wrong("temperature_after", "You divide the *loss* by the temperature. It is the cosines that are divided, before the softmax.",
          breaks=ALL, old=("/ temperature", ") / 2"), new=("/ 1.0", ") / 2 / temperature"))
    wrong("all_belong_to_the_first", "Your labels are all 0: every image would belong to the first text. Image i belongs to text i: `torch.arange(B)`.",
          breaks=ALL, old="torch.arange(len(logits))", new="torch.zeros(len(logits), dtype=torch.long)")
    wrong("labels_reversed", "Your labels run backward: the first image belongs to the last text. Image i belongs to text i: `torch.arange(B)`.",
          breaks=ALL, old="torch.arange(len(logits))", new="torch.arange(len(logits)).flip(0)")
    wrong("labels_shifted", "Your labels are shifted: image i belongs to text i + 1. Image i belongs to text i: `torch.arange(B)`.",
          breaks=ALL, old="torch.arange(len(logits))", new="torch.arange(len(logits)).roll(-1)")
    wrong("labels_from_one", "Your labels begin with 1. The first text is number 0.",
          breaks=("shape", *ALL), old="torch.arange(len(logits))", new="torch.arange(1, len(logits) + 1)")
    wrong("best_texts_are_right", "You take the most similar text for the right one, so the model is always right. Image i belongs to text i.",
          breaks=ALL, old="F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)", new="F.cross_entropy(logits, logits.argmax(dim=1)) + F.cross_entropy(logits.T, logits.argmax(dim=0))")
    wrong("images_with_images", "You compare images with images. Images are compared with texts.",
          breaks=ALL, old="images @ texts.T", new="images @ images.T")
    wrong("texts_with_texts", "You compare texts with texts. Images are compared with texts.",
          breaks=ALL, old="images @ texts.T", new="texts @ texts.T")
    wrong("widths_multiplied", "You multiply over the batch: a D × D matrix. Each image is compared with each text: (B, B).",
          breaks=ALL, old="images @ texts.T", new="images.T @ texts")
    wrong("pairs_only", "You compare each image with its own text only. The loss needs the others, too: all B × B cosines.",
          breaks=ALL, old=MEAN, new="-logits.diagonal().mean()")
    wrong("one_minus_cosine", "You return 1 − cosine of the pairs. The loss asks which of all texts belongs to an image: a cross-entropy over all B × B cosines.",
          breaks=ALL, old=MEAN, new="(1 - logits.diagonal() * temperature).mean()")
    wrong("distances", "You take distances for logits: what is similar has a *small* one. Cosines are asked for.",
          breaks=ALL, old="images @ texts.T", new="torch.cdist(images, texts)")
    wrong("minus_distances", "You take distances (with a minus) for similarities. Cosines are asked for.",
          breaks=ALL, old="images @ texts.T", new="-torch.cdist(images, texts)")
    wrong("minus_cosines", "Your logits have the wrong sign: pairs would be driven apart.",
          breaks=ALL, old="images @ texts.T", new="-images @ texts.T")
    wrong("minus_loss", "Your loss has the wrong sign: it is to fall when pairs become more alike.",
          breaks=ALL, old="return (", new="return -(")
    wrong("softmax_twice", "You hand probabilities to `cross_entropy`, which takes logits and does the softmax itself.",
          breaks=ALL, old="cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)", new="cross_entropy(logits.softmax(dim=1), pairs) + F.cross_entropy(logits.T.softmax(dim=1), pairs)")
    wrong("softmax_over_all", "Your softmax runs over all B × B pairs at once. It runs over the texts for each image, and over the images for each text.",
          breaks=ALL, old=MEAN, new="-logits.flatten().log_softmax(dim=0).view_as(logits).diagonal().mean()")
    wrong("unstable", "Your exponentials run over: with large logits the loss is inf or NaN. `cross_entropy` (or `log_softmax`, `logsumexp`) takes the largest off first.",
          breaks="large logits", old=MEAN, new="-((logits.exp().diagonal() / logits.exp().sum(dim=1)).log().mean() + (logits.exp().diagonal() / logits.exp().sum(dim=0)).log().mean()) / 2")
    wrong("log_of_softmax", "A probability runs down to 0, and its log is −∞: with large logits the loss is inf. `cross_entropy` or `log_softmax` compute both in one step.",
          breaks="large logits", old=MEAN, new="-(logits.softmax(dim=1).diagonal().log().mean() + logits.softmax(dim=0).diagonal().log().mean()) / 2")
    PROBABILITIES = "torch.stack([logits.softmax(dim=1).diagonal(), logits.softmax(dim=0).diagonal()])"
    for name, kept, most in (
        ("plus_1e_8", " + 1e-8", 18.4), ("plus_1e_9", " + 1e-9", 20.7), ("plus_1e_10", " + 1e-10", 23.0), ("plus_1e_12", " + 1e-12", 27.6),
        ("clamped_at_1e_6", ".clamp(min=1e-6)", 13.8), ("clamped_at_1e_7", ".clamp(min=1e-7)", 16.1), ("clamped_at_1e_8", ".clamp(min=1e-8)", 18.4),
        ("clamped_at_1e_9", ".clamp(min=1e-9)", 20.7), ("clamped_at_1e_10", ".clamp(min=1e-10)", 23.0), ("clamped_at_1e_12", ".clamp(min=1e-12)", 27.6),
    ):
        wrong(name, f"You add a small number inside the log, or clamp there. That keeps it finite, but no pair then costs more than {most}, however wrong it is: `cross_entropy` or `log_softmax` need no such help.",
              breaks="large logits", old=MEAN, new=f"-({PROBABILITIES}{kept}).log().mean()")
    wrong("yes_or_no", "You ask of each pair by itself whether it belongs together (a sigmoid, as SigLIP does). CLIP's loss is a softmax: which of all texts belongs to this image?",
          breaks=ALL, old=MEAN, new="F.binary_cross_entropy_with_logits(logits, torch.eye(len(logits)))")
    wrong("pair_left_out_below", "The right text is missing from the sum below. A softmax runs over all texts, the right one among them.",
          breaks=ALL, old=MEAN, new="sum((m.masked_fill(torch.eye(len(m), dtype=torch.bool), -torch.inf).logsumexp(dim=1) - m.diagonal()).mean() for m in (logits, logits.T)) / 2")
    wrong("in_bits", "Your loss is in bits (log2). Nats are asked for: natural logs.",
          breaks=ALL, old=") / 2", new=") / 2 / 0.6931471805599453")
    wrong("probabilities", "You return a mean of probabilities. The loss is the mean of −log p.",
          breaks=ALL, old=MEAN, new="(logits.softmax(dim=1).diagonal().mean() + logits.softmax(dim=0).diagonal().mean()) / 2")
    wrong("log_of_mean_probability", "You take the log of a mean probability. It is the mean of the logs.",
          breaks=ALL, old=MEAN, new="-(logits.log_softmax(dim=1).diagonal().logsumexp(0) + logits.log_softmax(dim=0).diagonal().logsumexp(0)) / 2 + torch.tensor(float(len(logits))).log()")
    wrong("a_number", "You return a Python number. The loss is to be a tensor: training needs the way back.",
          breaks=("shape", "gradients"), old=f"return {MEAN}", new=f"return ({MEAN}).item()")
    wrong("no_gradient_to_texts", "No gradient reaches `text_emb`: both encoders learn.",
          breaks="gradients", old="F.normalize(text_emb, dim=-1)", new="F.normalize(text_emb.detach(), dim=-1)")
    wrong("no_gradient_to_images", "No gradient reaches `image_emb`: both encoders learn.",
          breaks="gradients", old="F.normalize(image_emb, dim=-1)", new="F.normalize(image_emb.detach(), dim=-1)")
    wrong("one_axis", "You return a tensor with an axis, (1,). The loss is a single number: ().",
          breaks=("shape", *ALL), old=") / 2", new=")[None] / 2")


@MISTAKES.of_quiz("quiz_which_model", quiz_which_model)
def in_quiz_which_model(wrong):
    Q = "a million mails a day into ten folders"
    wrong(Q, "a large decoder, prompted",
                 "it could do it, at many times the cost of a mail: it is larger, reads from left to right only, and writes its answer token by token. A small encoder reads both ways, once, and a head says the folder.")
    wrong(Q, "two encoders, one space",
                 "there is nothing to compare: one text, ten known folders. An encoder and a head on top, fine-tuned, is all it takes (notebook 08).")
    Q = "the summary of an article"
    wrong(Q, "an encoder alone",
                 "it reads, but can't write. Reading one text and writing another takes a decoder, too.")
    wrong(Q, "two encoders, one space",
                 "they say how alike two things are; neither writes a word. Reading one text and writing another takes a decoder.")
    Q = "go on with a story"
    wrong(Q, "an encoder",
                 "it reads in both directions, and has never learned what comes next when nothing stands on the right yet. A decoder writes on.")
    wrong(Q, "two encoders, one space",
                 "they say how alike two things are; neither writes a word. A decoder writes on.")
    Q = "three examples, no training"
    wrong(Q, "an encoder, fine-tuned",
                 "fine-tuning is training, and three examples are few for it. A large decoder takes them in its prompt.")
    wrong(Q, "a small decoder, prompted",
                 "small models make little of examples in the prompt; the larger the model, the more it gains from them (Brown et al. 2020, Figure 1.2).")
    Q = "a contract of 16,000 tokens"
    wrong(Q, "full attention",
                 "16,000² is 256 million scores in each head of each layer. A window, a few global tokens and random keys grow with T, not with T².")
    wrong(Q, "the first 512 tokens",
                 "what matters may stand on the last page. Sparse attention reads the whole.")
    Q = "half the computation of BERT base"
    wrong(Q, "one set of weights for all layers",
                 "that is ALBERT: all twelve layers are computed, with the same weights each time. It saves memory, not time. DistilBERT has six layers.")
    wrong(Q, "a smaller vocabulary",
                 "a table is looked up, not computed: its length costs memory, and next to no time. DistilBERT has half as many layers.")
    Q = "find photos by words"
    wrong(Q, "an image encoder alone",
                 "it can say which photos are alike, but a search by words needs words in the same space: a second encoder, for texts.")
    wrong(Q, "a decoder of text",
                 "it has never seen a photo. Two encoders that meet in one space let a sentence be compared with each photo.")
