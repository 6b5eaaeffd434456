"""Wrong answers to the exercises of 13-family-tree."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from anatomy.course.nb13_family_tree import right
from anatomy.engine.families import squeezed
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

BOTH = ("shape", "values")


@MISTAKES.of(right.prefix_lm_mask)
def in_prefix_lm_mask(at):
    CAUSAL, PREFIX = "(places[None, :] <= places[:, None])", "(places[None, :] < prefix)"
    at(f" | {PREFIX}", "values", ("causal", "", "Yours is the causal mask: the prefix changes nothing. Everyone may look at the whole prefix, also at what comes later in it."))
    at("< prefix", "values",
       ("one_short", "< prefix - 1", "The last token of the prefix is not seen by those before it. Everyone sees keys 0 … prefix − 1, which are `prefix` tokens: s < prefix."),
       ("one_too_many", "<= prefix", "The tokens of the prefix see a key too many: keys 0 … prefix are prefix + 1 tokens. The prefix ends with key prefix − 1: s < prefix."),
       ("last_tokens", ">= length - prefix", "Your prefix is at the end: everyone sees the *last* tokens. It is the first ones: s < prefix."),
       ("behind_the_prefix", ">= prefix", "Everyone sees what is *after* the prefix. It is the prefix that everyone sees: s < prefix."))
    at(f"{CAUSAL} | {PREFIX}", "values",
       ("everything", "torch.ones(length, length)", "Everything is allowed. After the prefix nobody may look at what comes later."),
       ("prefix_only", f"{PREFIX}.expand(length, length)", "Everyone sees the prefix, and nothing else. What is written after it sees itself and all that came before, too: the causal part is missing."),
       ("added", f"{CAUSAL}.int() + {PREFIX}.int()", "Some entries are 2: a key that both parts allow counts twice (as in a sum of two masks). The result must be True and False, or 1 and 0."),
       ("transposed", f"({CAUSAL} | {PREFIX}).T", "Your mask is transposed. Rows are queries, columns are keys: entry [t, s] says whether query t may look at key s."),
       ("inverted", f"~({CAUSAL} | {PREFIX})", "Your mask is inverted: it is True (1) where one may *not* look."),
       ("minus_infinity", f"torch.zeros(length, length).masked_fill(~({CAUSAL} | {PREFIX}), -torch.inf)", "These are numbers to be added to scores, 0 where one may look and −∞ where not. The exercise asks what is allowed: True or 1, and else False or 0."),
       ("minus_a_billion", f"torch.zeros(length, length).masked_fill(~({CAUSAL} | {PREFIX}), -1e9)", "These are numbers to be added to scores, 0 where one may look and a very low one where not. The exercise asks what is allowed: True or 1, and else False or 0."),
       ("rest_sees_everything", f"{PREFIX} | (places[:, None] >= prefix)", "What is written after the prefix sees the whole text, also what comes later. It should see the prefix, itself and what was written before it."),
       ("diagonal_moved", "torch.ones(length, length).tril(prefix - 1)", "You move the causal triangle to the right, by prefix − 1: every token looks ahead so far, those after the prefix, too. Only keys of the prefix are seen by all: s < prefix."),
       ("diagonal_moved_if_any", "torch.ones(length, length).tril(max(prefix - 1, 0))", "You move the causal triangle to the right, by prefix − 1: every token looks ahead so far, those after the prefix, too. Only keys of the prefix are seen by all: s < prefix."),
       ("diagonal_moved_by_prefix", "torch.ones(length, length).tril(prefix)", "You move the causal triangle to the right, by `prefix`: every token looks ahead so far, those after the prefix, too. Only keys of the prefix are seen by all: s < prefix."),
       ("everything_without_prefix", f"{CAUSAL} | {PREFIX} | (prefix == 0)", "For prefix = 0 everything is allowed in yours. It is the causal mask there: nobody looks at what comes later."),
       ("nothing_without_prefix", f"({CAUSAL} | {PREFIX}) & (prefix > 0)", "For prefix = 0 nothing is allowed in yours. It is the causal mask there: each token sees itself and all before it."),
       ("nothing_if_all_is_prefix", f"({CAUSAL} | {PREFIX}) & (prefix < length)", "Where the whole text is prefix (prefix = length), nothing is allowed in yours. Everyone sees everything there. (Does a slice begin at −(length − prefix)? −0 is 0, and a slice from 0 is everything. Begin at `prefix`.)"),
       ("causal_if_all_is_prefix", f"{CAUSAL} | ({PREFIX} & (prefix < length))", "Where the whole text is prefix (prefix = length), yours is the causal mask. Everyone sees everything there. (Does a slice begin or end at −(length − prefix)? −0 is 0: a slice from 0 is everything, and one up to 0 is empty. Write `prefix` in its place.)"),
       ("first_written_token_hidden", f"({CAUSAL} | {PREFIX}) & ((places[None, :] != prefix) | (places[:, None] != prefix))", "The first token after the prefix can't see itself. (Does a loop begin one row too late? Row t = prefix belongs to it.)"),
       ("prefix_alone", f"{PREFIX} & (places[:, None] < prefix)", "Only the prefix has ones: the tokens after it see nothing at all. They should see the prefix, themselves and what was written before them."),
       ("prefix_not_seen_from_behind", f"({CAUSAL} | {PREFIX}) & ((places[:, None] < prefix) == {PREFIX})", "What is written after the prefix can't see the prefix. It may look at all that is not later, and the prefix comes first."),
       ("own_token_hidden", f"({CAUSAL} | {PREFIX}) & (places[None, :] != places[:, None])", "Nobody sees itself: your diagonal is 0. Each token may look at itself."),
       ("one_row", "places < prefix", "Your mask is one row: which keys are in the prefix. Each query has a row of its own: (T, T).", BOTH),
       ("an_axis_too_many", f"({CAUSAL} | {PREFIX})[None, None]", "Your mask has four axes. (T, T) is needed.", BOTH),
       ("a_batch_of_one", f"({CAUSAL} | {PREFIX})[None]", "Your mask has three axes. (T, T) is needed.", BOTH))
    at(PREFIX, "values",
       ("queries_for_keys", "(places[:, None] < prefix)", "The tokens of the prefix see the whole text, also what is still to be written. They may look at the prefix only: ask whether the *key* is in it (s < prefix), not the query."),
       ("suffix_sees_itself_whole", "((places[None, :] >= prefix) & (places[:, None] >= prefix))", "It is the other way round: yours reads the prefix from left to right, and what is after it sees all of what is after it. The prefix is read in both directions, the rest from left to right."))
    at("|", "values",
       ("and", "&", "A key must be both in yours, in the prefix *and* not later. One of them is enough: `|`, or `or`."),
       ("xor", "^", "What is in the prefix *and* not later is hidden, as with an either-or (`^`, `!=`). One of them is enough, and both are fine: `|`."))
    at("<= places", "values",
       ("strict", "< places", "After the prefix a token can't see itself. The diagonal belongs to the causal part: s ≤ t."),
       ("future", ">= places", "Your triangle is the upper one: after the prefix each token sees what comes *after* it. The past is on the left: s ≤ t."))
    at("<= places[:, None]", "values", ("one_ahead", "<= places[:, None] + 1", "After the prefix each token sees one too many: the one after it, which it must predict. The causal part is s ≤ t."))
    at("torch.arange(length)", BOTH,
       ("prefix_comes_on_top", "torch.arange(length + prefix)", "Your mask has length + prefix rows and columns. The prefix is the first part of the `length` tokens."),
       ("prefix_long", "torch.arange(prefix)", "Your mask is as large as the prefix. It is as large as the whole text: `length` rows and columns. (The order is `prefix_lm_mask(prefix, length)`.)"))
    squeezed(at, BOTH, "is (T, T), also for T = 1")


@MISTAKES.of(right.sliding_window_mask)
def in_sliding_window_mask(at):
    BAND = "(places[None, :] - places[:, None]).abs() <= window // 2"
    AHEAD = "(places[None, :] - places[:, None])"
    at(BAND, "values",
       ("back_only", f"({AHEAD} <= 0) & ({AHEAD} >= -(window // 2))", "Each token sees its neighbors on the left only. The window has two sides: window // 2 neighbors on each."),
       ("ahead_only", f"({AHEAD} >= 0) & ({AHEAD} <= window // 2)", "Each token sees its neighbors on the right only. The window has two sides: window // 2 neighbors on each."),
       ("whole_window_back", f"({AHEAD} <= 0) & ({AHEAD} >= -window)", "All of your window lies on the left: each token sees itself and `window` before it. Half of it belongs to each side: window // 2 neighbors on the left, as many on the right."),
       ("last_tokens_of_a_window", f"({AHEAD} <= 0) & ({AHEAD} > -window)", "Each token sees the last `window` tokens, itself among them: a causal window. Here it has two sides: window // 2 neighbors on each."),
       ("rounded_up_on_the_left", f"({AHEAD} >= -window // 2) & ({AHEAD} <= window // 2)", "On the left an odd window is rounded up in yours; it is window // 2 there, too. (Is it `-window // 2`? That is −3 for 5: it rounds down, away from 0. Write `-(window // 2)`.)"),
       ("not_itself", f"({BAND}) & ({AHEAD} != 0)", "Nobody sees itself: your diagonal is 0. A token belongs to its own window."),
       ("everything", "torch.ones(length, length)", "Everything is allowed: `window` changes nothing."),
       ("around_the_ends", f"torch.minimum({AHEAD} % length, -{AHEAD} % length) <= window // 2", "Your window goes around: the first tokens see the last ones. At both ends it is cut off."),
       ("moved_at_the_ends", "(places[None, :] - places[:, None].clamp(min(window // 2, length // 2), max(length - 1 - window // 2, length // 2))).abs() <= window // 2", "At both ends your window is moved inward, to keep its size. It is cut off there: window // 2 neighbors on each side, as far as there are any."),
       *((name, f"places[None, :] // {size} == places[:, None] // {size}", "Your text is cut into blocks, and tokens see their own block. A window goes with its token: window // 2 neighbors on each side of it.") for name, size in (
           ("blocks", "max(window, 1)"), ("blocks_of_odd_size", "(window // 2 * 2 + 1)"), ("blocks_of_window_and_itself", "(window + 1)"))),
       ("right_one_short", f"({AHEAD} < max(window // 2, 1)) & ({AHEAD} >= -(window // 2))", "On the right a neighbor is missing. (Does a slice end there? Its end is not part of it: `t + half + 1`.)"),
       ("triangles_subtracted", f"({AHEAD} <= window // 2) & ({AHEAD} > -(window // 2))", "On the left a neighbor is missing, and where there are none the token itself. (Do you take `tril(-half)` away? It holds the outermost neighbor, too: `tril(-half - 1)`.)"),
       ("slice_without_end", f"({AHEAD} < window // 2) & ({AHEAD} >= -(window // 2))", "On the right a neighbor is missing, and where there are none the token itself. (Does a slice end there? Its end is not part of it: `t + half + 1`.)"),
       ("left_one_short", f"({AHEAD} <= window // 2) & ({AHEAD} > -max(window // 2, 1))", "On the left a neighbor is missing: there are window // 2 on each side."),
       ("minus_infinity", f"torch.zeros(length, length).masked_fill(~({BAND}), -torch.inf)", "These are numbers to be added to scores, 0 where one may look and −∞ where not. The exercise asks what is allowed: True or 1, and else False or 0."),
       ("nearness", f"(window // 2 - {AHEAD}.abs()).clamp(min=0)", "Your entries say how near a key is. The mask is True (or 1) wherever the distance is at most window // 2, near or less near."),
       ("nearness_from_one", f"(window // 2 + 1 - {AHEAD}.abs()).clamp(min=0)", "Your entries say how near a key is. The mask is True (or 1) wherever the distance is at most window // 2, near or less near."),
       ("nearness_below_zero", f"window // 2 - {AHEAD}.abs()", "Your entries say how near a key is, with a minus where it is far. The mask is True (or 1) wherever the distance is at most window // 2, and else False (or 0)."),
       ("limits_swapped", f"({AHEAD} >= window // 2) & ({AHEAD} <= -(window // 2))", "Nothing is seen, but for windows of 0 and 1. (Are the signs of your limits swapped, as in `triu(half)` and `tril(-half)`?) The window goes from −half to half: `triu(-half)` and `tril(half)`."),
       ("first_token_too", f"({BAND}) | (places == 0)", "Everyone sees the first token, too. That is a global token, which comes with `bigbird_mask`; here there is only the window."),
       ("every_second", f"({BAND}) & ({AHEAD} % 2 == 0)", "Every second neighbor is left out: a dilated window. Here all within window // 2 are seen."),
       ("causal", f"{AHEAD} <= 0", "What comes later is hidden: yours is a causal mask, and `window` changes nothing. Each token sees window // 2 neighbors on each side."),
       ("an_axis_too_many", f"({BAND})[None]", "Your mask has three axes. (T, T) is needed.", BOTH),
       ("neighbors_only", "places[:, None] + torch.arange(-(window // 2), window // 2 + 1)", "You return the positions of each token's neighbors, a column for each neighbor. A mask has a column for each key: (T, T).", BOTH))
    at("<= window // 2", "values",
       ("whole_window_on_each_side", "<= window", "Your window is too wide: it has `window` neighbors on each side. It is window // 2 on each side."),
       ("rounded_up", "<= (window + 1) // 2", "An odd window is rounded up in yours. It is window // 2 on each side, rounded down: two for 5."),
       ("rounded", "<= round(window / 2)", "Some odd windows are rounded up in yours (`round` takes a half to the even number). It is window // 2 on each side, rounded down: one for 3, three for 7."),
       ("even_window_lacks_one_on_the_left", "<= (window - (places[None, :] < places[:, None]).int()) // 2", "For an even window above 0 a neighbor is missing on the left: yours has `window` tokens, itself among them. It is window // 2 neighbors on each side, and the token besides."),
       ("even_window_lacks_one_on_the_right", "<= (window - (places[None, :] > places[:, None]).int()) // 2", "For an even window above 0 a neighbor is missing on the right: yours has `window` tokens, itself among them. It is window // 2 neighbors on each side, and the token besides."),
       ("window_counts_itself", "<= (window - 1) // 2", "Where `window` is even, each side is one short. (Is the token itself taken for one of the window's?) It is window // 2 neighbors on each side, and the token besides."),
       ("one_too_many", "<= window // 2 + 1", "There is a neighbor too many on each side: it is window // 2 of them."),
       ("at_least_one_neighbor", "<= max(1, window // 2)", "For windows of 0 and 1 your tokens see neighbors. window // 2 is 0 there: each token sees itself only."),
       ("only_itself", "<= 0", "Each token sees itself only, whatever `window` is. Its window // 2 neighbors on each side belong to the window."),
       ("nearest_only", "<= 1", "Each token sees one neighbor on each side, whatever `window` is. It is window // 2 of them."))
    at("<=", "values",
       ("strict", "<", "A neighbor is missing on each side: those at a distance of exactly window // 2 belong to the window, too (≤, not <)."),
       ("inverted", ">", "Your mask is inverted: it is True (1) where one may *not* look, far away."),
       ("rim_only", "==", "Only the outermost neighbors are seen, those at a distance of exactly window // 2. All nearer ones belong to the window, and the token itself."))
    at(AHEAD, BOTH, ("no_new_axes", "(places - places)", "Your result is a single row of ones, (T,). (Are positions subtracted from positions without new axes? Then each is subtracted from itself.) Queries go down and keys across: `places[:, None]` and `places[None, :]`."))
    at(".abs()", "values",
       ("no_limit_back", "", "On the left your window has no end: everything that came before is seen. Take the distance without its sign (`abs`)."),
       ("squared", ".square()", "You compare the *square* of the distance. It is the distance itself that is at most window // 2."))
    at(AHEAD + ".abs()", "values", ("no_limit_ahead", "(places[:, None] - places[None, :])", "On the right your window has no end: everything that comes later is seen. Take the distance without its sign (`abs`)."))
    at(" <= window // 2", "values", ("distances", "", "These are distances, not a mask. Where a distance is at most window // 2, the mask is True (or 1)."))
    at("torch.arange(length)", BOTH, ("window_large", "torch.arange(window)", "Your mask is as large as the window. It is as large as the text: `length` rows and columns."))
    at("length: int, window: int", BOTH, ("arguments_swapped", "window: int, length: int", "`length` and `window` have changed places in yours. The function is called with (length, window)."))
    at("return " + BAND, "values", ("slice_from_below_zero", "mask = torch.zeros(length, length)\n    for t in range(length):\n        mask[t, t - window // 2 : t + window // 2 + 1] = 1\n    return mask", "In the first rows keys are missing. (Does a slice begin at t − window // 2? Below 0 that counts from the end. Begin at `max(0, …)`.)"))
    at("return " + BAND, BOTH, ("index_below_zero", "mask = torch.zeros(length, length)\n    for t in range(length):\n        for s in range(t - window // 2, min(t + window // 2 + 1, length)):\n            mask[t, s] = 1\n    return mask", "The first tokens see the last ones (or there is an error, where there are not as many). (Does a neighbor get an index below 0? That counts from the end.) Leave such neighbors out: 0 ≤ s < T."))
    squeezed(at, BOTH, "is (T, T), also for T = 1")


@MISTAKES.of(right.bigbird_mask)
def in_bigbird_mask(at):
    ROWS, COLUMNS = "    mask[:num_global] = True\n", "    mask[:, :num_global] = True\n"
    LOOP = "    for row in mask:  # (T,)\n        unseen = (~row).nonzero().squeeze(1)  # (N,)\n        row[unseen[torch.randperm(len(unseen), generator=generator)[:num_random]]] = True\n"
    DRAWN = "unseen[torch.randperm(len(unseen), generator=generator)[:num_random]]"
    PERMUTED = "torch.randperm(len(unseen), generator=generator)"
    RANDOM = ("random keys", "generator")
    at(COLUMNS, "values", ("global_rows_only", "", "Your global tokens look at everyone, but not everyone looks at them. Set their columns, too: `mask[:, :num_global]`."))
    at(ROWS, "values", ("global_columns_only", "", "Everyone looks at your global tokens, but they don't look at everyone. Set their rows, too: `mask[:num_global]`."))
    at(ROWS + COLUMNS, "values",
       ("no_global_tokens", "", "Your mask has no global tokens: the first `num_global` look at everyone, and everyone at them."),
       ("global_among_themselves", "    mask[:num_global, :num_global] = True\n", "Your global tokens see each other, and nobody else. They look at everyone (their rows), and everyone at them (their columns)."),
       ("last_tokens_global", "    mask[length - num_global :] = True\n    mask[:, length - num_global :] = True\n", "Your global tokens are the *last* ones. They are the first `num_global`."),
       ("last_tokens_global_from_minus_zero", "    mask[-num_global:] = True\n    mask[:, -num_global:] = True\n", "Your global tokens are the *last* ones, and for num_global = 0 all are (−0 is 0, and a slice from 0 is everything). They are the first `num_global`."),
       ("one_token_global", "    mask[min(num_global, length - 1)] = True\n    mask[:, min(num_global, length - 1)] = True\n", "Only one token is global, the one at position `num_global`. All of the first `num_global` are: `:num_global`."),
       ("last_of_the_global_tokens_only", "    if num_global:\n        mask[num_global - 1] = True\n        mask[:, num_global - 1] = True\n", "Only one token is global, the one in place num_global − 1. All of the first `num_global` are: `:num_global`."),
       ("last_of_the_global_tokens_or_of_all", "    mask[num_global - 1] = True\n    mask[:, num_global - 1] = True\n", "Only one token is global, the one in place num_global − 1; for num_global = 0 that is −1, the last of all. All of the first `num_global` are: `:num_global`."),
       ("first_of_the_global_tokens_only", "    if num_global:\n        mask[0] = True\n        mask[:, 0] = True\n", "Only the first token is global. All of the first `num_global` are: `:num_global`."),
       ("a_global_token_too_many", "    mask[: num_global + 1] = True\n    mask[:, : num_global + 1] = True\n", "There is a global token too many: the first `num_global` are 0 … num_global − 1."),
       ("first_token_always_global", "    mask[: max(num_global, 1)] = True\n    mask[:, : max(num_global, 1)] = True\n", "The first token is global even where num_global is 0."),
       ("all_but_the_first_global", "    mask[num_global:] = True\n    mask[:, num_global:] = True\n", "It is the other way round: yours makes all tokens global but the first `num_global`. Those first ones are global.", ("values", "generator")))
    at("sliding_window_mask(length, window)", "values",
       ("no_window", "torch.zeros(length, length, dtype=torch.bool)", "The window is missing: begin with `sliding_window_mask(length, window)`."),
       ("only_itself_for_window", "torch.eye(length, dtype=torch.bool)", "There is no window: each token sees itself only, beside global tokens and random keys. Begin with `sliding_window_mask(length, window)`."),
       ("window_arguments_swapped", "sliding_window_mask(window, length)", "`sliding_window_mask` is called with (length, window); yours has them the other way round.", ("shape", "values", *RANDOM)),
       ("half_the_window", "sliding_window_mask(length, window // 2)", "Your window is halved twice: `sliding_window_mask` takes `window` as it is."),
       ("window_doubled", "sliding_window_mask(length, 2 * window)", "Your window is too wide: `sliding_window_mask` takes `window` as it is, and halves it."))
    at("return mask", ("values", "random keys"),
       ("causal", "return mask.tril()", "What comes later is hidden in yours. BigBird's mask is an encoder's: window, global tokens and random keys on both sides."),
       ("symmetric", "return mask | mask.T", "Where a query draws a key, yours lets the key look back, too. Each query draws for itself only; the way back is not asked for.", "random keys"),
       ("inverted", "return ~mask", "Your mask is inverted: it is True (1) where one may *not* look."),
       ("nothing_returned_but_a_count", "return int(mask.sum())", "You return how many pairs there are. The mask itself is needed, (T, T).", ("shape", "values", *RANDOM)),
       ("a_batch_of_one", "return mask[None]", "Your mask has three axes. (T, T) is needed.", ("shape", "values", "random keys")))
    at(LOOP, RANDOM,
       ("no_random_keys", "", "Your masks have no random keys: each query must see `num_random` more. (Are they drawn, but written into a copy? `row[unseen][drawn] = True` changes the copy `row[unseen]` only; `row[unseen[drawn]] = True` changes the row.)"),
       ("same_keys_for_all", "    order = torch.randperm(length, generator=generator)\n    for row in mask:  # (T,)\n        unseen = order[~row[order]]  # (N,)\n        row[unseen[:num_random]] = True\n", "Your queries do not draw for themselves: what one draws decides what another draws. (Is one draw made for all, before the loop?) Each draws again, inside the loop.", "random keys"))
    at(DRAWN, "random keys",
       ("seen_keys_drawn", "torch.randperm(length, generator=generator)[:num_random]", "Some of your random keys fall on keys that the query sees already, so there are fewer than `num_random` more. Draw among those that it can't see yet."),
       ("ranks_for_keys", PERMUTED + "[:num_random]", "You draw positions in the *list* of keys not yet seen, and take them for the keys themselves. Look them up in that list: `unseen[…]`."),
       ("a_chance_for_each", "unseen[torch.rand(len(unseen), generator=generator) < num_random / max(len(unseen), 1)]", "A query has now more, now fewer than `num_random` random keys. (Does each key come in with a certain chance, or are pairs drawn from the whole mask?) Each query draws exactly `num_random`, or all that it has left."))
    at("[:num_random]", ("values", "random keys"), ("everything_for_none", "[-num_random:]", "Where `num_random` is 0, your slice `[-num_random:]` takes every key: −0 is 0. `[:num_random]` takes none then."))
    at(PERMUTED + "[:num_random]", "random keys",
       ("with_replacement", "torch.randint(len(unseen), (num_random if len(unseen) > num_random else 0,), generator=generator) if len(unseen) > num_random else slice(None)", "A key can be drawn twice, and then there are fewer than `num_random` more. Draw without putting back: `randperm(…)[:num_random]`."),
       ("with_replacement_always", "torch.randint(max(len(unseen), 1), (num_random if len(unseen) else 0,), generator=generator)", "You draw with repetition (as `randint` does): the same key may come twice, and then the query gets fewer new ones. Take the first `num_random` of a `randperm`."),
       ("a_block", "(torch.arange(num_random) + torch.randint(max(len(unseen), 1), (1,), generator=generator)) % max(len(unseen), 1) if len(unseen) > num_random else slice(None)", "You draw where a *block* of neighboring keys begins. Each of the keys is drawn for itself."),
       ("too_few_left", "torch.ones(len(unseen)).multinomial(num_random, generator=generator) if num_random and len(unseen) else slice(0)", "Where fewer keys are left than `num_random`, yours stops with an error. Take all that are left then."))
    at(("    mask[:num_global] = True\n    mask[:, :num_global] = True\n", "    return mask"), "random keys", ("drawn_before_the_globals", ("", "    mask[:num_global] = True\n    mask[:, :num_global] = True\n    return mask"), "Some of your random keys fall on global tokens, which everyone sees anyway. (Are they drawn before the global tokens are set?) Draw last, among what is still unseen."))
    at(", generator=generator", "generator", ("generator_ignored", "", "Your draw can't be repeated: the same state of `generator` gives another result each time. Draw from it alone (`generator=generator`), not from PyTorch's global one, Python's `random` or NumPy, and don't seed it."))
    at("    for row", RANDOM,
       ("seeded", "    generator.manual_seed(0)\n    for row", "Every call draws the same keys, however far `generator` has moved on. (Do you seed it, or a new one, yourself?) Draw from `generator` as it comes."),
       ("state_of_the_generator", "    generator = torch.Generator().set_state(generator.get_state())\n    for row", "`generator` never moves on: the second mask is the first one again. (Do you draw from a copy of it?) Draw from `generator` itself."),
       ("as_many_as_the_poorest", "    left = (~mask).sum(dim=1)\n    num_random = min(num_random, int(left[left > 0].min())) if left.any() else 0\n    for row", "All queries draw as few as the one that has the fewest keys left. Each one draws `num_random`, or all that it has left.", "random keys"))
    at(PERMUTED, RANDOM,
       ("first_keys", "torch.arange(len(unseen))", "You take the first keys that are not yet seen. Bring *all* that are not yet seen into a random order, then take `num_random`: `torch.randperm(N, generator=generator)[:num_random]`."),
       ("last_keys", "torch.arange(len(unseen)).flip(0)", "You take the last keys that are not yet seen. Bring *all* that are not yet seen into a random order, then take `num_random`: `torch.randperm(N, generator=generator)[:num_random]`."))
    at("[:num_random]", ("values", "random keys"),
       ("one_too_many", "[: num_random + 1]", "Each query draws a key too many: `num_random` of them."),
       ("one_too_few", "[: max(num_random - 1, 0)]", "Each query draws a key too few: `num_random` of them.", "random keys"),
       ("one_random_key", "[:1]", "Each query draws one key, whatever `num_random` is."),
       ("all_but_num_random", "[num_random:]", "You leave `num_random` keys out and take all others. It is `num_random` that are taken: `[:num_random]`."),
       ("none_where_too_few_left", "[: num_random if len(unseen) >= num_random else 0]", "Where fewer keys are left than `num_random`, yours draws none. Take all that are left then.", "random keys"))
    at(PERMUTED, "random keys",
       ("first_key_never", "1 + torch.randperm(max(len(unseen) - 1, 0), generator=generator)", "The first of the keys not yet seen is never drawn. (Counting begins at 0.)"),
       ("last_key_only_when_alone", "torch.cat([torch.randperm(max(len(unseen) - 1, 0), generator=generator), torch.arange(len(unseen))[-1:]])", "The last of the keys not yet seen is never drawn while others are left. (Where a range or `randint` ends, its end is left out already.)"))
    at("torch.randperm(len(unseen), generator", "random keys", ("last_key_never", "torch.randperm(max(len(unseen) - 1, 0), generator", "The last of the keys not yet seen is never drawn. (Where a range or `randint` ends, its end is left out already.)"))
    at(("    for row in mask:  # (T,)\n        unseen = (~row)", ), "random keys", ("earlier_keys_only", ("    for t, row in enumerate(mask):  # (T,)\n        unseen = (~row[:t])", ), "Your random keys are all earlier ones. They are drawn from both sides: from all that the query can't see yet."))
    at(("    for row in mask:  # (T,)\n        unseen = (~row).nonzero().squeeze(1)", ), "random keys", ("later_keys_only", ("    for t, row in enumerate(mask):  # (T,)\n        unseen = t + (~row[t:]).nonzero().squeeze(1)", ), "Your random keys are all later ones. They are drawn from both sides: from all that the query can't see yet."))
    at("for row in mask:", "random keys", ("each_key_draws", "for row in mask.T:", "In yours each *key* draws `num_random` queries: it is columns that get random ones. Each query (a row) draws its keys."))
    at("in mask:", "random keys",
       ("first_query_only", "in mask[num_global : num_global + 1]:", "Only one query draws. Each one that is not global does."),
       ("last_query_never", "in mask[:-1]:", "The last query draws nothing. Each one that is not global does."))
    at(("    for row in mask:", "    return mask"), ("values", "random keys"), ("random_keys_only", ("    before = mask.clone()\n    for row in mask:", "    return mask & ~before"), "Only random keys are left: window and global tokens are gone. All three go together."))
    squeezed(at, BOTH, "is (T, T), also for T = 1")


@MISTAKES.of(right.attention_cost)
def in_attention_cost(at):
    ALL = ("values", "0 and 1")
    COUNT = "int((mask != 0).sum())"
    at(COUNT, ALL,
       ("all_entries", "mask.numel()", "You count all entries, T · S, also those that are False. Only the pairs that are let through cost something."),
       ("queries", "len(mask)", "You count queries: T. The exercise asks for pairs, entries that are True."),
       ("keys", "mask.size(1)", "You count keys: S. The exercise asks for pairs, entries that are True."),
       ("both_sides", "sum(mask.shape)", "You count T + S. The exercise asks for pairs, entries that are True."),
       ("for_each_query", "(mask != 0).sum(dim=1)", "You count for each query. Add all of them up: one number."),
       ("for_each_key", "(mask != 0).sum(dim=0)", "You count for each key. Add all of them up: one number."),
       ("share", "float((mask != 0).float().mean())", "You return the share of pairs that are let through. The exercise asks for their number."),
       ("per_query", "float((mask != 0).sum() / len(mask))", "You divide by the number of queries: keys for each query, on average. The exercise asks for the number of all pairs."),
       ("per_key", "float((mask != 0).sum() / mask.size(1))", "You divide by the number of keys: queries for each key, on average. The exercise asks for the number of all pairs."),
       ("squares", "len(mask) ** 2", "You return T². The mask says which pairs are computed: count what is True."),
       ("squares_of_keys", "mask.size(1) ** 2", "You return S². The mask says which pairs are computed: count what is True."),
       ("longest_row", "int((mask != 0).sum(dim=1).max())", "You return how many keys the busiest query has. Add up all queries."),
       ("longest_row_for_all", "len(mask) * int((mask != 0).sum(dim=1).max())", "You take the busiest query's number of keys for all queries. Add up what each of them really has."),
       ("first_row_for_all", "len(mask) * int((mask != 0)[0].sum())", "You take the first query's number of keys for all queries. Add up what each of them really has."),
       ("counted_twice", "(mask != 0).nonzero().numel()", "Your number is twice the right one: each pair counts once. (`nonzero()` gives two numbers for it, row and column.)"),
       ("first_of_nonzero", "len((mask != 0).nonzero()[0])", "Your number is 2, however many pairs there are; where there is none, yours stops. (Do you take the first item of `nonzero()`? In PyTorch that is one pair, a row and a column; in NumPy it is all rows.) Count the pairs: `len(mask.nonzero())`."),
       ("tuple_of_nonzero", "len((mask != 0).nonzero(as_tuple=True))", "Your number is always 2: one for each axis of the mask, as `len` of a mask's `torch.where` or `nonzero(as_tuple=True)` is. Count the pairs: `len(mask.nonzero())`."),
       ("places", "(mask != 0).nonzero()", "You return *where* the pairs are. The exercise asks how many there are."),
       ("all_where_none_is_let_through", "int(mask.unique(return_counts=True)[1][-1])", "Where the mask lets nothing through, you count all T · S pairs; there the number is 0. (Do you take the last count that `unique` gives? It then belongs to 0, the only value there is.)", "values"),
       ("yes_or_no", "bool((mask != 0).any())", "You say whether anything is let through. The exercise asks how many pairs are."),
       ("mask_itself", "mask != 0", "You return a mask. The exercise asks how many of its entries are True."),
       ("one_byte", "int((mask != 0).sum(dtype=torch.uint8))", "Your count runs over: it is kept in one byte, and begins again at 0 after 255.", "values"),
       ("one_signed_byte", "int((mask != 0).sum(dtype=torch.int8))", "Your count runs over: it is kept in one byte with a sign, and goes on with −128 after 127.", "values"),
       ("half_precision", "int((mask != 0).half().sum())", "Your count is rounded: half precision has no odd numbers above 2048. Count in whole numbers.", "values"),
       ("bfloat16", "int((mask != 0).bfloat16().sum())", "Your count is rounded: `bfloat16` has no odd numbers above 256. Count in whole numbers.", "values"),
       ("share_times_size", "int((mask != 0).float().mean() * mask.numel())", "For some masks one pair is lost. (Do you multiply a share by the number of entries? Rounding can make that a little too small, and `int` cuts off what is behind the point.) Add up the entries instead.", "values"),
       ("share_times_size_as_python_numbers", "int((mask != 0).float().mean().item() * mask.numel())", "For some masks one pair is lost. (Do you multiply a share by the number of entries? Rounding can make that a little too small, and `int` cuts off what is behind the point.) Add up the entries instead."),
       ("share_times_size_in_doubles", "int((mask != 0).double().mean() * mask.numel())", "For some masks one pair is lost. (Do you multiply a share by the number of entries? Rounding can make that a little too small, and `int` cuts off what is behind the point.) Add up the entries instead.", "values"),
       ("squared_norm", "int((mask != 0).float().norm() ** 2)", "For some masks one pair is lost. (Do you square a root? Rounding can make that a little too small, and `int` cuts off what is behind the point.) Add up the ones.", "values"),
       ("share_rounded_down", "int((mask != 0).float().mean())", "Yours is 1 where everything is allowed, and else 0. (Is it a mean, cut off to a whole number?) The exercise asks how many pairs are let through."),
       ("one_too_many", "int((mask != 0).sum()) + 1", "Your number is one too large."),
       ("squared", "int((mask != 0).sum()) ** 2", "Your number is the square of the right one: count the pairs, no more."),
       ("nothing", "0", "Your count stays 0. (Do you ask `is True`? It never holds for an entry of a tensor, which is a tensor, too. Compare with 0.)"),
       ("is_true", "sum(entry is True for row in mask.tolist() for entry in row)", "Numbers are not counted: `is True` (or a test of the type) holds for booleans only. A 1 lets a pair through, too.", "0 and 1"),
       ("not_of_numbers", "mask.numel() - int((~(mask.long() if mask.dtype != torch.bool else mask)).sum())", "`~` turns True into False, but 1 into −2. Masks of 1 and 0 are masks, too: compare with 0.", "0 and 1"),
       ("indexed_with_itself", "mask[mask].numel()", "As an index, a mask selects what is True only if it is boolean: 1 and 0 are taken for the numbers of rows, and floating-point numbers stop it. Count what is not 0.", "0 and 1"),
       ("not_of_floats", "mask.numel() - int((~mask).sum())", "Masks of 1 and 0 are masks, too: compare with 0. (`~` means “not” for booleans only: it turns 1 into −2, and floats stop it.)", "0 and 1"))
    at("!= 0", ALL, ("hidden_ones", "== 0", "You count the pairs that are hidden (False). The exercise asks for those that are let through."))
    at("(mask != 0)", ALL,
       ("first_row", "(mask != 0)[0]", "You count the first query's keys only. Add up all queries."),
       ("lower_triangle", "(mask != 0).tril()", "You count only what is not later (s ≤ t). The mask alone says what counts."),
       ("upper_triangle", "(mask != 0).triu()", "You count only what is not earlier (s ≥ t). The mask alone says what counts."),
       ("diagonal_only", "(mask != 0).diagonal()", "You count the diagonal only. Every entry that is True counts."),
       ("busy_queries", "(mask != 0).any(dim=1)", "You count the queries that see anything at all. The exercise asks for pairs."),
       ("busy_keys", "(mask != 0).any(dim=0)", "You count the keys that anyone sees. The exercise asks for pairs."))
    at("(mask != 0).sum()", ALL, ("diagonal_left_out", "(mask != 0).sum() - (mask != 0).diagonal().sum()", "You leave out the diagonal. A token that looks at itself costs a score like any other."))
    at(COUNT, ALL, ("as_many_keys_as_queries", "sum(int(mask[t, s] != 0) for t in range(len(mask)) for s in range(len(mask)))", "You take T, the number of queries, for the number of keys, too: keys after the first T are not counted, and where there are fewer it's an error. `mask.shape[1]` says how many keys there are."))
    at(COUNT, ALL, ("as_many_queries_as_keys", "sum(int(mask[t, s] != 0) for t in range(mask.size(1)) for s in range(mask.size(1)))", "You take S, the number of keys, for the number of queries, too: queries after the first S are not counted, and where there are fewer it's an error. `mask.shape[0]` says how many queries there are."))


@MISTAKES.of(right.growth_exponent)
def in_growth_exponent(at):
    ALL = ("values", "best line")
    X, Y = "torch.tensor(lengths).double().log()", "torch.tensor(costs).double().log()"
    FIT, CENTERED = "(x * y).sum() / (x * x).sum()", "    x, y = x - x.mean(), y - y.mean()\n"
    at((X, Y), ALL,
       ("no_logs", (X[:-6], Y[:-6]), "You fit a line to costs and lengths as they are. It is their *logarithms* that lie on a line."),
       ("log2_and_log10", (X.replace("log()", "log2()"), Y.replace("log()", "log10()")), "Your logs have different bases: log2 for the lengths, log10 for the costs. Take the same for both."),
       ("log10_and_log2", (X.replace("log()", "log10()"), Y.replace("log()", "log2()")), "Your logs have different bases: log10 for the lengths, log2 for the costs. Take the same for both."),
       ("log1p", (X.replace("log()", "log1p()"), Y.replace("log()", "log1p()")), "You take log(1 + x). It is log(x) that turns a power into a straight line."),
       ("lengths_once", ("torch.tensor(list(dict(zip(lengths, costs)))).double().log()", "torch.tensor(list(dict(zip(lengths, costs)).values())).double().log()"), "Of points with the same length only one is left. (A dict keeps one value for each key.) All points count.", "best line"),
       ("lengths_once_first", ("torch.tensor(list(dict(zip(lengths[::-1], costs[::-1])))).double().log()", "torch.tensor(list(dict(zip(lengths[::-1], costs[::-1])).values())).double().log()"), "Of points with the same length only the first is left. All points count.", "best line"),
       *((f"lengths_once_{which}", (f"torch.tensor(list(dict(sorted(zip(lengths, costs){turned})))).double().log()", f"torch.tensor(list(dict(sorted(zip(lengths, costs){turned})).values())).double().log()"), f"Of points with the same length only the one with the {which} cost is left. (A dict keeps the last value for each key, of sorted pairs, too.) All points count.", "best line") for which, turned in (("largest", ""), ("smallest", ", reverse=True"))),
       ("points_once", ("torch.tensor([one for one, _ in dict.fromkeys(zip(lengths, costs))]).double().log()", "torch.tensor([cost for _, cost in dict.fromkeys(zip(lengths, costs))]).double().log()"), "A point that comes twice, with the same length and the same cost, counts once in yours. (A set keeps one of what is the same.) All points count.", "best line"),
       ("each_sorted", (X + ".sort().values", Y + ".sort().values"), "You sort lengths and costs, each by itself: a cost then is beside another's length. Keep the pairs together."))
    at(X, ALL,
       ("log_of_costs_only", X[:-6], "You take the log of the costs, but not of the lengths. Both axes are logarithmic."),
       ("two_kinds_of_logs", X.replace("log()", "log2()"), "Your logs have different bases: log2 for the lengths, the natural one for the costs. Take the same for both."),
       ("log10_of_lengths", X.replace("log()", "log10()"), "Your logs have different bases: log10 for the lengths, the natural one for the costs. Take the same for both."),
       ("only_lengths_sorted", X + ".sort().values", "You sort the lengths, and the costs stay where they were: a cost then is beside another's length. Keep the pairs together."))
    at(Y, ALL,
       ("log_of_lengths_only", Y[:-6], "You take the log of the lengths, but not of the costs. Both axes are logarithmic."),
       ("logs_of_other_bases", Y.replace("log()", "log2()"), "Your logs have different bases: log2 for the costs, the natural one for the lengths. Take the same for both."),
       ("log10_of_costs", Y.replace("log()", "log10()"), "Your logs have different bases: log10 for the costs, the natural one for the lengths. Take the same for both."))
    at("    x, y = torch", ALL, ("lists_sorted_in_place", "    lengths.sort()\n    costs.sort()\n    x, y = torch", "You sort the caller's lists (`sort()` changes the list itself), each by itself: a cost then is beside another's length. Leave both as they are; the fit needs no order."))
    at(CENTERED, ALL,
       ("through_the_origin", "", "Your line is forced through the origin: c is taken for 1. Take the means off both, or fit an intercept, too."),
       ("through_the_first_point", "    x, y = x - x[0], y - y[0]\n", "Your line is forced through the first point. (Are logs measured from the first one?) The best line may miss every point: take the means off instead.", "best line"),
       ("through_the_last_point", "    x, y = x - x[-1], y - y[-1]\n", "Your line is forced through the last point. (Are logs measured from the last one?) The best line may miss every point: take the means off instead.", "best line"),
       ("lengths_not_centered", "    y = y - y.mean()\n", "In your sum of squares, below, the lengths' mean is not taken off. Take it off there: Σ (x − x̄)². (Above it is enough to take off one of the two means.)"))
    at("(x * x).sum()", ALL,
       ("axes_swapped", "(y * y).sum()", "You fit log length against log cost: axes are swapped. The slope is that of the costs."),
       ("correlation", "((x * x).sum() * (y * y).sum()).sqrt()", "That is the correlation: it says how well the points lie on a line, not how steep it is. Divide by the lengths' sum of squares alone."))
    at(FIT, ALL,
       ("inverse", "(x * x).sum() / (x * y).sum()", "Your number is 1 over the right one. (Are numerator and denominator exchanged?) The lengths' sum of squares is below."),
       ("unbiased_covariance", "(x * y).sum() / (len(x) - 1) / x.var(unbiased=False)", "Your number is N / (N − 1) times the right one: the covariance divides by N − 1, the variance by N (as `np.cov` and `np.var` do). Take the same for both, or sums."),
       ("unbiased_deviation_of_lengths", "(x * y).mean() / x.std(unbiased=False) / x.std()", "Your number is √((N − 1) / N) times the right one: one of the spreads divides by N, another by N − 1. Take the same for all."),
       ("unbiased_deviation_of_costs", "(x * y).mean() / x.std(unbiased=False) ** 2 * y.std() / y.std(unbiased=False)", "Your number is √(N / (N − 1)) times the right one: one of the spreads divides by N, another by N − 1. Take the same for all."),
       ("all_with_all", "(x[:, None] * y).sum() / (x * x).sum()", "Your number is 0, or next to it, whatever is passed in. (Are sums multiplied, or all lengths with all costs? What is left when a mean is taken off adds up to 0.) Multiply each length's number with that of its own cost, then add up."),
       ("unbiased_variance", "(x * y).mean() / x.var()", "Your number is (N − 1) / N times the right one: the covariance divides by N, the variance by N − 1 (as `var` does). Take the same for both: `var(unbiased=False)`, or sums."),
       ("standard_deviation", "(x * y).mean() / x.std(unbiased=False)", "You divide by the lengths' standard deviation. It is their variance."),
       ("ratio_of_spreads", "((y * y).sum() / (x * x).sum()).sqrt()", "You divide the spread of the costs by that of the lengths. That has no sign, and is the slope only where all points lie on one line."),
       ("mean_of_slopes_from_the_mean", "(y / x)[x.abs() > 1e-9].mean()", "You average the slopes from the mean point to each other one. The line that fits *all* points best is needed (least squares): sums above and below, and one division.", "best line"),
       ("ends_only", "(y[-1] - y[0]) / (x[-1] - x[0])", "You take the slope from the first point to the last. The line that fits *all* points best is needed (least squares).", "best line"),
       ("shortest_to_longest", "(y[x.argmax()] - y[x.argmin()]) / (x.max() - x.min())", "You take the slope from the shortest length to the longest. The line that fits *all* points best is needed (least squares).", "best line"),
       ("largest_over_smallest", "(y.max() - y.min()) / (x.max() - x.min())", "You divide the span of the log costs by that of the log lengths: largest over smallest. The line that fits *all* points best is needed (least squares), and its slope is negative where costs fall."),
       ("median_of_slopes", "(y.diff() / x.diff())[x.diff() != 0].median()", "You take the median of the slopes from point to point. The line that fits *all* points best is needed (least squares).", "best line"),
       ("first_two", "(y[1] - y[0]) / (x[1] - x[0])", "You take the slope of the first two points. The line that fits *all* points best is needed (least squares).", "best line"),
       ("mean_of_slopes", "(y.diff() / x.diff())[x.diff() != 0].mean()", "You average the slopes from point to point. The line that fits *all* points best is needed (least squares).", "best line"),
       ("mean_of_slopes_from_the_first", "((y - y[0]) / (x - x[0]))[x != x[0]].mean()", "You average the slopes from the first point to each other one. The line that fits *all* points best is needed (least squares).", "best line"),
       ("sign", "-" + FIT, "Your slope has the wrong sign: costs that grow have a positive one."),
       ("absolute", f"({FIT}).abs()", "You take the slope without its sign. Costs that fall have a negative one."),
       ("exponential", f"({FIT}).exp()", "You return e to the slope. The slope is the exponent."),
       ("rounded", f"({FIT}).round()", "You round. The slope is needed as it is: 1.5 is neither 1 nor 2."),
       ("two_decimals", f"({FIT}).round(decimals=2)", "You round to two decimals. The slope is needed as it is."))
    at(" / (x * x).sum()", ALL, ("not_divided", "", "You don't divide by the lengths' sum of squares."))
    at("/ (x * x).sum()", ALL, ("mean_below", "/ (x * x).mean()", "Your number is N times the right one: a sum is divided by a mean (a variance). Take sums, or means, for both."))
    at((CENTERED, f"float({FIT})"), ALL,
       ("intercept", ("", "float(np.polyfit(x.numpy(), y.numpy(), 1)[1])"), "You return the line's intercept (log c). The slope is needed."),
       ("factor", ("", "float(np.exp(np.polyfit(x.numpy(), y.numpy(), 1)[1]))"), "You return the factor c. The exponent is needed: the slope."),
       ("slope_and_intercept", ("", "np.polyfit(x.numpy(), y.numpy(), 1).tolist()"), "You return slope and intercept. The slope alone is needed."),
       ("parabola", ("", "float(np.linalg.lstsq(np.vander(x.numpy(), 3), y.numpy(), rcond=None)[0][0])"), "You fit a parabola. A straight line is needed: degree 1."))
    at(f"float({FIT})", ALL, ("costs_over_lengths", "float((torch.tensor(costs) / torch.tensor(lengths)).mean())", "You divide costs by lengths. The slope on log axes is needed."))
    at((CENTERED, FIT), ALL, ("ratio_of_logs", ("", "(y / x).mean()"), "You divide log costs by log lengths. That is the slope only for c = 1."))
    ONE_EACH = "    once = x.unique()\n    x, y = once, torch.stack([{mean} for length in once])\n"
    AVERAGED = "Points with the same length count as one in yours: their mean. All points count, each by itself."
    at(CENTERED, "best line",
       ("averaged_for_each_length", ONE_EACH.format(mean="y[x == length].mean()") + CENTERED, AVERAGED),
       ("averaged_for_each_length_before_the_logs", ONE_EACH.format(mean="y[x == length].exp().mean().log()") + CENTERED, AVERAGED))
    SLOPES = "torch.stack([(y[i] - y[j]) / (x[i] - x[j]) for i in range(len(x)) for j in range(i) if x[i] != x[j]])"
    at(FIT, "best line",
       ("right_angles", "(2 * (x * y).sum()) / ((x * x).sum() - (y * y).sum() + (((x * x).sum() - (y * y).sum()) ** 2 + 4 * (x * y).sum() ** 2).sqrt())", "Your line has the smallest distances at right angles to it (total least squares, the first principal direction). It is the *vertical* distances that count: the formula above the exercise."),
       ("median_of_all_slopes", f"{SLOPES}.quantile(0.5)", "You take the median of the slopes between any two points. The line that fits *all* points best is needed (least squares)."),
       ("mean_of_all_slopes", f"{SLOPES}.mean()", "You average the slopes between any two points. The line that fits *all* points best is needed (least squares)."))
    at(CENTERED + "    return float(" + FIT + ")", "best line", ("weighted", "    w = (2 * y).exp()\n    x, y = x - (w * x).sum() / w.sum(), y - (w * y).sum() / w.sum()\n    return float((w * x * y).sum() / (w * x * x).sum())", "Large costs count more in your fit. Each point counts alike."))


@MISTAKES.of(right.encoder_parameters)
def in_encoder_parameters(at):
    SIZES = ("values", "DistilBERT", "ALBERT")
    LAYER = "4 * _linear(width, width) + norm + _linear(width, inner) + _linear(inner, width) + norm"
    at(("_linear(narrow, width) if", LAYER, "_linear(width, width)\n"), SIZES, ("no_biases", ("narrow * width if", "4 * width * width + 2 * width * inner + 2 * norm", "width * width\n"), "The biases are missing: a linear layer from m to n has m · n weights and n biases."))
    at("4 * _linear(width, width)", SIZES,
       ("no_attention_biases", "4 * width * width", "In each layer 4 · D numbers are missing: as many as the biases of the four attention layers, and as many as the two norms have (D weights and D biases each). One or the other you have not counted."),
       ("attention_times_heads", "config.num_attention_heads * 4 * _linear(width, width)", "You count the attention layers once for each head. All heads together share four D × D layers: each head has K = D / H columns of them."))
    at("_linear(width, inner) + _linear(inner, width)", SIZES, ("no_feed_forward_biases", "2 * width * inner", "The biases of the two feed-forward layers are missing: F for the first, D for the second."))
    at("_linear(inner, width)", SIZES, ("biases_of_the_inner_width_twice", "_linear(width, inner)", "Your second feed-forward layer has F biases. It leads back to width D, so it has D of them."))
    at("4 * _linear", SIZES, ("three_attention_layers", "3 * _linear", "You count three attention layers: query, key and value. There is a fourth, for the output."))
    at(" + _linear(inner, width)", SIZES, ("one_feed_forward_layer", "", "You count one feed-forward layer. There are two: from D to F, and back."))
    at(" + _linear(width, inner) + _linear(inner, width)", SIZES, ("no_feed_forward", "", "The feed-forward layers are missing: from D to F, and back."))
    at("4 * _linear(width, width) + norm", SIZES, ("no_attention", "norm", "The attention layers are missing: four of D × D in each layer."))
    at("config.dim, config.hidden_dim", "DistilBERT", ("distilbert_inner_is_four_widths", "config.dim, 4 * config.dim", "For DistilBERT you take 4 · D for the inner width F. Its config says it: `hidden_dim`."))
    at("config.hidden_size, config.intermediate_size", ("values", "ALBERT"), ("inner_is_four_widths_but_in_distilbert", "config.hidden_size, 4 * config.hidden_size", "You take 4 · D for the inner width F. The config says it: `intermediate_size`."))
    at("    norm = 2 * width\n", SIZES,
       ("inner_is_four_widths", "    inner, norm = 4 * width, 2 * width\n", "You take 4 · D for the inner width. The config says it: `intermediate_size` (DistilBERT: `hidden_dim`)."),
       ("no_biases_of_layer_norms", "    norm = width\n", "In each layer 2 · D numbers are missing: as many as the biases of its two norms, and as many as one norm whole. There are two norms, after the attention and after the feed-forward part, with D weights and D biases each."),
       ("roberta_without_types", '    norm = 2 * width\n    types = 0 if kind == "roberta" else types\n', "You leave out RoBERTa's type embeddings. It has `type_vocab_size` of them, as BERT has, even though it makes no use of them.", "values"),
       ("roberta_a_position_short", '    norm = 2 * width\n    types -= kind == "roberta"\n', "For RoBERTa D numbers are missing, as many as one row of a table has. Its first positions and the padding token's vector count, too: `max_position_embeddings` and `vocab_size` hold them all.", "values"),
       ("roberta_two_positions_short", '    norm = 2 * width\n    types -= 2 * (kind == "roberta")\n', "For RoBERTa 2 · D numbers are missing, as many as two rows of a table have. `max_position_embeddings` is the number of its positions as it stands: 514, of which texts use 512.", "values"),
       ("roberta_two_positions_more", '    norm = 2 * width\n    types += 2 * (kind == "roberta")\n', "For RoBERTa you count 2 · D numbers too many, as many as two positions have. `max_position_embeddings` holds them all: 514 for texts of 512 tokens.", "values"))
    at(("    norm = 2 * width\n", "+ 2 * narrow"), SIZES, ("no_biases_of_norms", ("    norm = width\n", "+ narrow"), "The norms' biases are missing: a norm has D weights *and* D biases (the embeddings' norm, too)."))
    at(("    norm = 2 * width\n", " + 2 * narrow"), SIZES, ("no_norms", ("    norm = 0\n", ""), "The norms are missing: one after the embeddings and two in each layer, with weights and biases."))
    at(" + 2 * narrow", SIZES,
       ("no_norm_of_embeddings", "", "2 · D numbers are missing (2 · E in ALBERT), as many as the embeddings' norm has: weights and biases."),
       ("no_bias_of_the_embeddings_norm", " + narrow", "D numbers are missing (E in ALBERT), as many as the embeddings' norm has biases, and as many as one row of a table has. One or the other you have not counted. (The padding token's vector counts, too.)"),
       ("bias_in_each_table", ' + (4 if kind == "distilbert" else 5) * narrow', "D numbers are too many for each table of embeddings (E in ALBERT), as many as a bias has: 3 · D in BERT and RoBERTa, 2 · D in DistilBERT. A table is no linear layer: it has no bias."),
       ("one_row_more", " + 3 * narrow", "D numbers are too many (E in ALBERT), as many as a bias of the embeddings or one more row of a table has. Tables have no bias, and `vocab_size` counts the padding token, too."),
       ("norm_of_embeddings_twice", " + 4 * narrow", "2 · D numbers are too many (2 · E in ALBERT), as many as the embeddings' norm has. There is one norm on the sum of words, positions and types."))
    at("layers * layer + pooler", SIZES,
       ("final_norm", "layers * layer + norm + pooler", "2 · D numbers are too many, as many as a norm has. Nothing follows the last layer: each layer ends with a norm of its own."),
       ("output_layer", "layers * layer + pooler + config.vocab_size", "V numbers are too many, as many as a layer that predicts tokens has biases. The encoder alone has no head."),
       ("output_matrix", "layers * layer + pooler + config.vocab_size * width", "D · V numbers are too many, as many as a layer that predicts tokens has weights. The encoder alone has no head."),
       ("pooler_in_each_layer", "layers * (layer + _linear(width, width))", "You count a pooler for each layer. There is one, after the last."))
    at("config.vocab_size + config.max_position_embeddings + types", SIZES, ("no_positions", "config.vocab_size + types", "The position embeddings are missing: `max_position_embeddings` vectors."))
    at("config.max_position_embeddings + types", ("values", "ALBERT"),
       ("no_types", "config.max_position_embeddings", "The type embeddings are missing: `type_vocab_size` vectors (DistilBERT alone has none)."),
       ("two_types_always", "config.max_position_embeddings + 2", "You count two type embeddings. It is `type_vocab_size` of them, and for DistilBERT none.", SIZES))
    at("config.type_vocab_size", ("values", "ALBERT"), ("two_types", "2", "You count two type embeddings. It is `type_vocab_size` of them."))
    at("config.n_layers, 0", "DistilBERT",
       ("types_in_distilbert", "config.n_layers, 2", "For DistilBERT you count 2 · D numbers too many, as many as two type embeddings have. It has none."),
       ("distilbert_half", "config.n_layers // 2, 0", "You halve DistilBERT's layers. `n_layers` is what it has: half of *BERT's*."))
    at("    embeddings = (config.vocab_size + config.max_position_embeddings + types) * narrow + 2 * narrow\n", SIZES, ("no_embeddings", "    embeddings = 2 * narrow\n", "The embeddings are missing: words, positions and types."))
    at("config.vocab_size + config.max", SIZES, ("no_words", "config.max", "The word embeddings are missing: `vocab_size` vectors."))
    at(" + pooler\n", ("values", "ALBERT"), ("no_pooler", "\n", "The pooler is missing: a D × D layer with biases (DistilBERT alone has none)."))
    at('0 if kind == "distilbert" else _linear(width, width)', "DistilBERT", ("pooler_in_all", "_linear(width, width)", "DistilBERT has no pooler."))
    at(("config.n_layers, 0", '0 if kind == "distilbert" else _linear(width, width)'), "DistilBERT", ("distilbert_like_bert", ("config.n_layers, 2", "_linear(width, width)"), "You count type embeddings and a pooler for DistilBERT. It has neither."))
    at('else _linear(width, width)\n', ("values", "ALBERT"), ("pooler_without_bias", "else width * width\n", "The pooler has D biases, too."))
    at('kind == "distilbert" else _linear', "values",
       ("roberta_without_pooler", 'kind in ("distilbert", "roberta") else _linear', "You leave out RoBERTa's pooler. It has one, as BERT has."),
       ("albert_no_pooler", 'kind in ("distilbert", "albert") else _linear', "You leave out ALBERT's pooler. It has one, as BERT has.", "ALBERT"))
    at('config.num_hidden_groups if kind == "albert" else config.num_hidden_layers', "ALBERT", ("albert_like_bert", "config.num_hidden_layers", "ALBERT's layers share their weights: they count once for each of `num_hidden_groups` groups, not for each layer."))
    at('config.num_hidden_groups if kind == "albert"', "ALBERT",
       ("albert_one_layer", '1 if kind == "albert"', "You count ALBERT's layer once. It is once for each of `num_hidden_groups` groups."),
       ("albert_layers_in_a_group", 'config.num_hidden_layers // config.num_hidden_groups if kind == "albert"', "You count the layers of one group. All layers of a group share their weights: one layer for each of `num_hidden_groups` groups."),
       ("albert_layers_and_groups", 'config.num_hidden_groups * config.num_hidden_layers if kind == "albert"', "You count ALBERT's layers once for each group *and* each layer. Once for each group: its layers share their weights."))
    at("narrow = config.embedding_size if kind == \"albert\" else width", "ALBERT", ("albert_wide_embeddings", "narrow = width", "ALBERT's embeddings are narrower: vectors of `embedding_size`, E, not D. (And a linear layer leads from E to D.)"))
    at(('config.embedding_size if kind == "albert" else width', '_linear(narrow, width) if kind == "albert" else 0'), "ALBERT", ("factorization_forgotten", ("width", "0"), "ALBERT's embeddings are narrower: vectors of `embedding_size`, E, not D; a linear layer leads from E to D. Yours counts embeddings of width D, and no such layer."))
    at('_linear(narrow, width) if kind == "albert" else 0', "ALBERT",
       ("albert_no_widening", "0", "The layer that widens ALBERT's embeddings from E to D is missing."),
       ("widening_in_all", "_linear(narrow, width)", "You count a layer from the embeddings to the first layer for all models. Only ALBERT has it.", ("values", "DistilBERT")))
    at("_linear(narrow, width) if", "ALBERT",
       ("albert_widening_without_bias", "narrow * width if", "The layer that widens ALBERT's embeddings has D biases, too."),
       ("albert_widening_bias", "narrow * width + narrow if", "The layer that widens ALBERT's embeddings leads to D: it has D biases, not E."),
       ("albert_no_widening_where_equal", "_linear(narrow, width) if narrow != width and", "Where E is D you leave out ALBERT's layer from E to D. ALBERT always has it; the other models never do."))
    at("+ 2 * narrow", "ALBERT", ("albert_norm_of_width_d", "+ 2 * width", "The norm of ALBERT's embeddings is as narrow as they are: E weights and E biases. The widening comes after it."))
    at("(config.vocab_size + config.max_position_embeddings + types) * narrow", "ALBERT", ("albert_wide_positions", "config.vocab_size * narrow + (config.max_position_embeddings + types) * width", "Only ALBERT's word embeddings are narrow in yours. Those of positions and types have width E, too."))
    at("layers * layer", SIZES,
       ("one_layer", "layer", "You count one layer. It is as many as the config says."),
       ("a_layer_too_few", "(layers - 1) * layer", "You count a layer too few."))
    at("widening + layers * layer", "ALBERT", ("albert_widening_in_each_group", "layers * (widening + layer)", "You count the linear layer from E to D once for each group. There is one of it, before the first layer."))
    at("    kind = config.model_type\n", "config alone", ("model_built", "    if config.model_type in (\"bert\", \"roberta\", \"distilbert\", \"albert\"):\n        from transformers import AutoModel\n        with torch.device(\"meta\"):\n            return AutoModel.from_config(config).num_parameters()\n    kind = config.model_type\n", "You build the model and count what it has. The number is right, but it must be computed from the config alone."))
    at("    kind = config.model_type\n", "config alone", ("config_changed", "    kind = config.model_type\n    if kind == \"albert\":\n        config.num_hidden_layers = config.num_hidden_groups\n", "You change the config that you are given. It stays as it is: the caller may build a model from it. Keep what you compute in variables of your own."))
    at("else config.num_hidden_layers", "values", ("heads_for_layers", "else config.num_attention_heads", "You count `num_attention_heads` layers. It is `num_hidden_layers` of them."))
    at('raise ValueError(f"a model of type {kind!r} is none of these encoders")', "refusals",
       ("no_refusal", "return 0", "A config of another type is counted anyway. Refuse it: raise a ValueError that names the type."),
       ("returns_none_for_others", "return None", "For a config of another type nothing comes back (None). Refuse it: raise a ValueError that names the type."))
    at('kind not in ("bert", "roberta", "distilbert", "albert")', "refusals", ("anything_with_bert", '"bert" not in kind', "You refuse less than you should: “mobilebert” is none of the four either. (Does a test for “bert” let it through? Compare the whole word.)"))
    at('kind not in ("bert", "roberta", "distilbert", "albert")', "refusals", ("xlm_roberta_counted", 'kind not in ("bert", "roberta", "xlm-roberta", "distilbert", "albert")', "“xlm-roberta” is counted in yours. It is none of the four types: refuse it, too."))
    at('f"a model of type {kind!r} is none of these encoders"', "refusals", ("refused_without_the_type", '"an unknown model"', "You refuse other configs, but your message does not name their type."))
    at('("bert", "roberta", "distilbert", "albert")', ("values", "DistilBERT", "ALBERT", "config alone"), ("all_refused_but_bert", '("bert",)', "You refuse RoBERTa, DistilBERT and ALBERT. They must be counted, too."))


@MISTAKES.of(right.few_shot_prompt)
def in_few_shot_prompt(at):
    ALL = ("values", "zero-shot")
    TASK, SHOWN, ASKED = 'f"{task}:"', '*(f"{given} => {wanted}" for given, wanted in examples)', 'f"{query} =>"'
    JOINED = '"\\n".join(lines)'
    STRIPPED = "You take spaces off the ends of texts (`strip`, `rstrip`). Texts stay as they are: write no line end that you must take off again."
    at((TASK, SHOWN, ASKED), "values", ("texts_stripped", ('f"{task.strip()}:"', '*(f"{given.strip()} => {wanted.strip()}" for given, wanted in examples)', 'f"{query.strip()} =>"'), STRIPPED))
    at(ASKED, ALL,
       ("space_at_the_end", 'f"{query} => "', "A space follows your last arrow. Nothing may: the model goes on from there, and a space is already a token."),
       ("answer_asked_for", 'f"{query} => ?"', "Something follows your last arrow. Nothing may: that is where the model begins to write."),
       ("empty_line_before_the_query", 'f"\\n{query} =>"', "An empty line is before your query. No line is empty."),
       ("query_without_arrow", 'f"{query}"', "Your last line has no arrow: `query =>`."),
       ("query_with_colon", 'f"{query}:"', "Your last line ends with a colon instead of the arrow: `query =>`."))
    at(JOINED, ALL,
       ("line_end_at_the_end", JOINED + ' + "\\n"', "Your prompt ends with a line end. Nothing may follow the last arrow: the model would begin a new line."),
       ("line_end_after_each_line", '"".join(f"{line} \\n" for line in lines)', "Each of your lines has a space and a line end after its text, the last one too. Nothing may follow the last arrow."),
       ("task_on_the_first_line_with_more", '" ".join(lines[:2]) + "".join("\\n" + line for line in lines[2:])', "Your task shares its line with what comes next. It has a line of its own."),
       ("task_without_line_end", '"".join(lines[:2]) + "".join("\\n" + line for line in lines[2:])', "Your task is not followed by a line end. It has a line of its own."),
       ("no_line_end_before_the_query", '"\\n".join(lines) if not examples else "\\n".join(lines[:-1]) + lines[-1]', "Your query follows the last example's output on the same line. It has a line of its own.", "values"),
       ("commas", '", ".join(lines)', "Commas are between your lines. Each has a line of its own: `\"\\n\".join`."),
       ("one_line", '" ".join(lines)', "All is on one line. Task, examples and query have a line each: `\"\\n\".join`."),
       ("nothing_between", '"".join(lines)', "Nothing is between your lines. Task, examples and query have a line each: `\"\\n\".join`."),
       ("backslash_n", '"\\\\n".join(lines)', "Your text has a backslash and an n where a line must end. (Is it a raw string, or a doubled backslash?)"),
       ("windows_line_ends", '"\\r\\n".join(lines)', "Your lines end with \\r\\n. It is \\n alone."),
       ("lines", "lines", "You return a list of lines. One text is needed: `\"\\n\".join`."),
       ("indented", '"\\n    ".join(lines)', "Your lines are indented. (Does a text in triple quotes hold the spaces of your program?)"),
       ("task_in_a_template", '(f"{task}:\\n" + "{} => {}\\n" * len(examples) + "{} =>").format(*[text for pair in examples for text in pair], query)', "Your task is part of a text that is filled in afterwards, so braces in it are taken for places to fill (as `%` is with the `%` operator). Join finished lines, and fill in nothing after that.", "values"),
       ("lines_stripped", '"\\n".join(line.strip() for line in lines)', STRIPPED, "values"),
       ("lines_stripped_at_the_end", '"\\n".join(line.rstrip() for line in lines)', STRIPPED, "values"),
       ("prompt_stripped", JOINED + ".strip()", STRIPPED, "values"),
       ("line_end_at_the_beginning", '"\\n" + "\\n".join(lines)', "Your prompt begins with a line end. (A text in triple quotes begins right after them.)"),
       ("small_letters", JOINED + ".lower()", "You change capital letters. Texts are as they are."))
    for spaces in (4, 8):
        of_template = f'"\\n{spaces * " "}".join([lines[0], "\\n".join(lines[1:-1]), lines[-1]])'
        ONLY_SOME = "Some of your lines are indented. (Do they stand in your program between triple quotes? `dedent` takes off only what *all* lines have, and examples that were joined before have none.) Join finished lines with `\"\\n\".join`."
        at(JOINED, ALL,
           (f"template_indented_by_{spaces}", of_template, ONLY_SOME),
           (f"template_indented_by_{spaces}_and_dedented", f'__import__("textwrap").dedent("{spaces * " "}" + {of_template})', ONLY_SOME))
    at(JOINED, ALL,
       ("spaces_collapsed", '"\\n".join(" ".join(line.split()) for line in lines)', "Several spaces in a row become one in yours, and those at the ends of a line go (as with `split` and `join`). Texts are as they are.", "values"),
       ("runs_of_spaces", '__import__("re").sub(" +", " ", "\\n".join(lines))', "Several spaces in a row become one in yours. Texts are as they are.", "values"))
    at(TASK, ALL,
       ("colon_only_if_missing", 'task if task.endswith(":") else f"{task}:"', "Where the task ends with a colon, yours adds none. Texts are as they are, and a colon follows the task.", "values"),
       ("no_colon", 'f"{task}"', "The colon after the task is missing."),
       ("space_before_the_colon", 'f"{task} :"', "A space is before your colon. It follows the task at once."),
       ("empty_line_after_the_task", 'f"{task}:\\n"', "An empty line follows your task. No line is empty."),
       ("first_letter_made_large", 'f"{task[:1].upper()}{task[1:]}:"', "You make the task's first letter a capital one. It is as it is.", "values"),
       ("task_capitalized", 'f"{task.capitalize()}:"', "You change the task's letters. It is as it is."),
       ("task_in_title_case", 'f"{task.title()}:"', "You change the task's letters. It is as it is."),
       ("capital_task", 'f"{task.upper()}:"', "You change the task's letters. It is as it is."))
    at(f"{TASK}, ", ALL, ("no_task", "", "The task is missing: it is the first line, with a colon."))
    at(f"[{TASK}, {SHOWN}, {ASKED}]", ALL,
       ("task_last", f"[{SHOWN}, {ASKED}, {TASK}]", "Your task is at the end. It is the first line."),
       ("task_before_the_query", f"[{SHOWN}, {TASK}, {ASKED}]", "Your task is between the examples and the query. It is the first line.", "values"),
       ("task_in_each_line", '[*(f"{task}: {given} => {wanted}" for given, wanted in examples), f"{task}: {query} =>"]', "The task is in front of each example, and of the query. It comes once, as the first line."))
    at('"\\n".join', ALL, ("empty_lines", '"\\n\\n".join', "Empty lines are between yours. No line is empty."))
    at(SHOWN, "values",
       ("empty_line_without_examples", '"\\n".join(f"{given} => {wanted}" for given, wanted in examples)', "Without examples an empty line is between task and query. No line is empty.", "zero-shot"),
       ("numbered", '*(f"{number}. {given} => {wanted}" for number, (given, wanted) in enumerate(examples, 1))', "You number the examples. The form here is `input => output`."),
       ("pairs", "*map(str, examples)", "You show examples as Python pairs. The form here is `input => output`."))
    at(f", {ASKED}", ALL, ("no_query", "", "The query is missing: the last line is the query and an arrow."))
    at(f"{SHOWN}, {ASKED}", "values", ("query_first", f"{ASKED}, {SHOWN}", "Your query is before the examples. It is the last line."))
    at("for given, wanted in", "values", ("examples_turned_around", "for wanted, given in", "Your examples are turned around: `output => input`. The input comes first."))
    at("in examples)", "values",
       ("examples_in_reverse", "in examples[::-1])", "Your examples come in reverse order. They are given in the order wanted."),
       ("examples_sorted", "in sorted(examples))", "You sort the examples. They are given in the order wanted."),
       ("examples_once_each", "in dict(examples).items())", "An input that comes twice is shown once in yours (a dict keeps one value for each key). All examples are shown."),
       ("examples_once", "in dict.fromkeys(examples))", "An example that comes twice is shown once in yours. All examples are shown."),
       ("first_example_only", "in examples[:1])", "Only the first example is shown. All are."),
       ("last_example_only", "in examples[-1:])", "Only the last example is shown. All are. (Does each turn of your loop overwrite the one before?)"),
       ("last_example_missing", "in examples[:-1])", "Your last example is missing."),
       ("first_example_missing", "in examples[1:])", "Your first example is missing."),
       ("query_left_out", "in examples if given != query)", "Where the query is also an example's input, yours leaves that example out. All examples are shown."))
    at(f"{SHOWN}, ", "values", ("no_examples", "", "The examples are missing: one line for each, `input => output`."))
    at("{given} => {wanted}", "values",
       ("outputs_missing", "{given} =>", "The outputs of your examples are missing: `input => output`."),
       ("colons_for_arrows", "{given}: {wanted}", "Your examples have colons for arrows. It is `input => output`."))
    at("{wanted}\"", "values",
       ("space_after_outputs", "{wanted} \"", "A space follows your examples' outputs. The line ends there."),
       ("examples_end_with_a_stop", "{wanted}.\"", "Your examples end with a full stop. The output is there as it is."))
    at(("} => {", "{query} =>"), ALL,
       ("thin_arrow", ("} -> {", "{query} ->"), "Your arrow is `->`. It is `=>`."),
       ("equals_sign", ("} = {", "{query} ="), "Your arrow is `=`. It is `=>`."),
       ("one_character_arrow", ("} → {", "{query} →"), "Your arrow is one character, `→` or `⇒`. It is two: `=>`."),
       ("double_arrow", ("} ⇒ {", "{query} ⇒"), "Your arrow is one character, `→` or `⇒`. It is two: `=>`."))
    at(("{given} => {wanted}", "{query} =>"), ALL,
       ("no_spaces_around_the_arrow", ("{given}=>{wanted}", "{query}=>"), "Your arrows have no spaces around them: `input => output`, `query =>`."),
       ("quoted", ("{given!r} => {wanted!r}", "{query!r} =>"), "You put quotation marks around texts (`repr` does). They are as they are."))
    at("{query} =>", ALL, ("no_space_before_the_last_arrow", "{query}=>", "No space is before your last arrow: `query =>`."))
    at((SHOWN, ASKED), ALL, ("question_and_answer", ('*(f"Q: {given}\\nA: {wanted}" for given, wanted in examples)', 'f"Q: {query}\\nA:"'), "Your lines are questions and answers (`Q:`, `A:`). The form here is `input => output`."))
    at("f\"{given} =>", "values", ("bulleted", "f\"- {given} =>", "You put a dash before each example. The form here is `input => output`."))
    IN_TURN = "Yours fills places one after the other, so a place's name in one of the texts, such as {name}, is filled as well. Fill all of them at once, or join finished texts."
    at(JOINED, "values", ("template_filled_in_turn", """'{task}:\\n{examples}{query} =>'.replace('{task}', task).replace('{examples}', "".join(f"{line}\\n" for line in lines[1:-1])).replace('{query}', query)""", IN_TURN.replace("{name}", "`{{query}}`")))
    for one, other in (("given", "wanted"), ("input", "output"), ("question", "answer"), ("a", "b"), ("x", "y"), ("0", "1")):
        filled = f"{{'{{{one}}} => {{{other}}}'.replace('{{{one}}}', given).replace('{{{other}}}', wanted)}}"
        at("{given} => {wanted}", "values", (f"{one}_then_{other}_replaced", filled, IN_TURN.replace("{name}", f"`{{{{{other}}}}}`")))
    for name, end in (("pairs_with_arrows", "=>"), ("pairs_with_arrows_and_spaces", "=> ")):
        at("{given} => {wanted}", "values", (name, f"{{given, wanted}} {end}", "You show examples as Python pairs. The form here is `input => output`."))


@MISTAKES.of(right.patchify)
def in_patchify(at):
    GRID = "images.reshape(batch, channels, height // patch, patch, width // patch, patch)"
    ORDER = "grid.permute(0, 2, 4, 1, 3, 5)"
    NUMBERS = ("values", "gradients")
    at(ORDER, NUMBERS,
       ("columns_first", "grid.permute(0, 4, 2, 1, 3, 5)", "Your patches run down the columns first. They should run row by row, from the top left to the right."),
       ("channels_last", "grid.permute(0, 2, 4, 3, 5, 1)", "In your vectors the channels come last: pixel by pixel. A vector holds the first channel's pixels, then the next channel's."),
       ("channels_between", "grid.permute(0, 2, 4, 3, 1, 5)", "In your vectors the channels come between a patch's rows and columns. A vector holds the first channel's pixels row by row, then the next channel's."),
       ("pixels_by_columns", "grid.permute(0, 2, 4, 1, 5, 3)", "Inside each patch your pixels run down the columns. They should run row by row."),
       ("pixels_by_columns_channels_last", "grid.permute(0, 2, 4, 5, 3, 1)", "Inside each patch your pixels run down the columns, and channels come last. A vector holds the first channel row by row, then the next channel."),
       ("all_by_columns", "grid.permute(0, 4, 2, 1, 5, 3)", "Your patches run down the columns, and so do the pixels in each. Both run row by row."),
       ("columns_first_channels_last", "grid.permute(0, 4, 2, 3, 5, 1)", "Your patches run down the columns, and in each vector channels come last. Patches run row by row, and a vector holds the first channel's pixels, then the next channel's."),
       ("from_the_bottom", "grid.flip(2).permute(0, 2, 4, 1, 3, 5)", "Your patches begin at the bottom. They begin at the top left."),
       ("from_the_right", "grid.flip(4).permute(0, 2, 4, 1, 3, 5)", "Your rows of patches begin at the right. They begin at the top left."),
       ("first_channel_only", "grid[:, :1].permute(0, 2, 4, 1, 3, 5)", "Only the first channel is there. A vector holds all of them: C·P·P numbers.", ("shape", *NUMBERS)),
       ("channels_summed", "grid.sum(dim=1, keepdim=True).permute(0, 2, 4, 1, 3, 5)", "You add up the channels. A vector holds all of them, one after the other: C·P·P numbers.", ("shape", *NUMBERS)),
       ("channels_averaged", "grid.mean(dim=1, keepdim=True).permute(0, 2, 4, 1, 3, 5)", "You average the channels. A vector holds all of them, one after the other: C·P·P numbers.", ("shape", *NUMBERS)),
       ("no_gradient", "grid.detach().permute(0, 2, 4, 1, 3, 5)", "No gradient reaches `images`: your patches are cut off from them (`detach`, `.data`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`).", "gradients"))
    at(ORDER + ".flatten(3).flatten(1, 2)", NUMBERS,
       ("unfold_only_reshaped", "F.unfold(images, patch, stride=patch).reshape(batch, height // patch * (width // patch), channels * patch * patch)", "Your vectors are cut out of (B, C·P·P, N), which has the patches last, as `F.unfold` gives it. Exchange the two axes with `transpose(1, 2)`: `reshape` keeps the numbers in their order, and only cuts them into other rows."),
       ("only_reshaped", "images.reshape(batch, height // patch * (width // patch), channels * patch * patch)", "Your vectors are stretches of memory, not squares of the image: `reshape` alone changes no order of axes. Split H and W into (rows, P) and (columns, P), and bring the two P together with `permute`."),
       ("channels_in_front", "grid.permute(0, 1, 2, 4, 3, 5).reshape(batch, height // patch * (width // patch), channels * patch * patch)", "Your channels stay in front when you cut, so a vector mixes stretches of different patches. Bring the channels after the patches first."))
    at(GRID, NUMBERS,
       ("patch_and_grid_swapped", "images.reshape(batch, channels, patch, height // patch, patch, width // patch).permute(0, 1, 3, 2, 5, 4)", "Your vectors hold every H/P-th row and every W/P-th column, not neighbors. (H is split into (rows, P), not (P, rows); the same for W.)"),
       ("height_and_width_swapped", "images.reshape(batch, channels, width // patch, patch, height // patch, patch)", "You cut the image into W/P rows and H/P columns. H comes before W: (B, C, H, W)."),
       ("number_for_size", "images.reshape(batch, channels, patch, height // patch, patch, width // patch)", "You cut each side into P pieces. A patch is P × P pixels: there are H / P rows of them.", ("shape", *NUMBERS)))
    at(".flatten(1, 2)", ("shape", *NUMBERS),
       ("axes_behind_each_other", ".flatten(1, 2).transpose(1, 2)", "The last two axes of your result are swapped: (B, C·P·P, N). It must be (B, N, C·P·P), one vector for each patch."),
       ("batch_merged", ".flatten(0, 2)", "Batch and patches have become one axis. Each image is a sentence of its own: (B, N, C·P·P)."))
    at(".flatten(3).flatten(1, 2)", ("shape", *NUMBERS),
       ("grid_kept", ".flatten(3)", "Your patches still are in rows and columns: four axes. Make one row of them: (B, N, C·P·P)."),
       ("pixels_kept", ".flatten(1, 2)", "Your patches are still squares: five axes. Make each a vector: (B, N, C·P·P)."),
       ("everything_flat", ".flatten(1)", "All patches of an image are one long vector. (B, N, C·P·P) is needed."),
       ("channels_as_tokens", ".flatten(4).flatten(1, 3)", "Each channel of a patch is a token of its own in yours. One vector holds all channels of a patch: (B, N, C·P·P)."),
       ("patches_averaged", ".mean(dim=(4, 5)).flatten(1, 2)", "You average the pixels of a patch: one number a channel. A vector holds them all: C·P·P numbers."),
       ("view_after_permute", ".view(batch, -1, channels * patch * patch)", "`view` can't join axes after `permute`: their memory is not in order. `reshape` or `flatten` copy where they must."))
    at((f"    grid = {GRID}\n", ORDER), ("shape", *NUMBERS), ("overlapping", ("    grid = images.unfold(2, patch, 1).unfold(3, patch, 1)\n", "grid.permute(0, 2, 3, 1, 4, 5)"), "Your patches overlap: one begins at each pixel. They lie side by side: a step of P."))
    at(("    batch, channels, height, width = images.shape\n",), ("shape", *NUMBERS), ("batch_for_channels", ("    images = images.transpose(0, 1)\n    batch, channels, height, width = images.shape\n",), "You take the first axis for the channels. images is (B, C, H, W)."))
    at("    batch, channels, height, width = images.shape\n", ("shape", *NUMBERS, "refusals"), ("channels_last_images", "    images = images.permute(0, 3, 1, 2)\n    batch, channels, height, width = images.shape\n", "You take the last axis for the channels. images is (B, C, H, W)."))
    at(("    if height % patch or width % patch:\n        raise ValueError(f\"an image of {height} × {width} can't be cut into patches of {patch} × {patch}\")\n", GRID), "refusals", ("no_refusal", ("", GRID.replace("images", "images[:, :, : height // patch * patch, : width // patch * patch]")), "Where P does not divide H or W, pixels are left over. Refuse such sizes with a ValueError."))
    at("    if height % patch or width % patch:\n        raise ValueError(f\"an image of {height} × {width} can't be cut into patches of {patch} × {patch}\")\n", "refusals", ("left_to_reshape", "", "The size that does not fit is refused by the library (by `reshape`, for example), not by you: raise a ValueError with that size and P before it comes to that."))
    at("height % patch or width % patch", "refusals",
       ("only_height_checked", "height % patch", "You look at H only. A width that P does not divide must be refused, too."),
       ("only_width_checked", "width % patch", "You look at W only. A height that P does not divide must be refused, too."),
       ("refused_only_if_both", "height % patch and width % patch", "You refuse an image only if P divides *neither* side. One is enough."),
       ("area_checked", "height * width % patch", "You look at H · W. Each side has to be a multiple of P."),
       ("squares_only", "height != width", "You refuse images that are not square. H and W may differ; each has to be a multiple of P.", ("shape", *NUMBERS, "refusals")))
    at("f\"an image of {height} × {width} can't be cut into patches of {patch} × {patch}\"", "refusals", ("refused_without_numbers", "\"the patches do not fit\"", "Your message does not always say all that it should: the size that does not fit, which may be H and may be W, and P."))
    def cut(images: torch.Tensor, patch: int, corners: Iterable[tuple[int, int]]) -> torch.Tensor:
        """The patches with these top left corners, in units of a patch."""
        if images.shape[2] % patch or images.shape[3] % patch:
            raise ValueError(f"an image of {images.shape[2]} × {images.shape[3]} can't be cut into patches of {patch}")
        squares = [images[:, :, patch * i : patch * (i + 1), patch * j : patch * (j + 1)] for i, j in corners]
        return torch.stack([square.flatten(1) for square in squares], dim=1)

    ALL = ("shape", "values", "gradients")

    @MISTAKES.mistake("You take the height for the number of patches in a row, too. A row has W // P patches; H // P is the number of rows.", breaks=ALL)
    def patchify__columns_counted_with_the_height(images: torch.Tensor, patch: int) -> torch.Tensor:
        rows = range(images.shape[2] // patch)
        return cut(images, patch, ((i, j) for i in rows for j in rows))

    @MISTAKES.mistake("You take the width for the number of rows, too. There are H // P rows; W // P is the number of patches in a row.", breaks=ALL)
    def patchify__rows_counted_with_the_width(images: torch.Tensor, patch: int) -> torch.Tensor:
        columns = range(images.shape[3] // patch)
        return cut(images, patch, ((i, j) for i in columns for j in columns))

    @MISTAKES.mistake("Rows and columns of patches have changed places: you take W // P rows of H // P patches. A row has W // P patches: patch n is in row n // (W // P).", breaks=ALL)
    def patchify__number_divided_by_rows(images: torch.Tensor, patch: int) -> torch.Tensor:
        rows, columns = images.shape[2] // patch, images.shape[3] // patch
        return cut(images, patch, (divmod(number, rows) for number in range(rows * columns)))

    @MISTAKES.mistake("The last row and the last column of patches are missing. (Does a `range` end at H − P? Its end is not part of it: `range(0, H, P)`.)", breaks=ALL)
    def patchify__last_row_and_column_missing(images: torch.Tensor, patch: int) -> torch.Tensor:
        rows, columns = images.shape[2] // patch - 1, images.shape[3] // patch - 1
        return cut(images, patch, ((i, j) for i in range(rows) for j in range(columns)))
    squeezed(at, ("shape", "values", "gradients"), "is (B, N, C·P·P), also where a size is 1")

    SQUARE_ONLY = "Only square images get through; others stop with an error. (Is one number of patches taken for both sides?) There are H // P rows and W // P columns of patches."

    @MISTAKES.mistake(SQUARE_ONLY, breaks=("shape", "values", "gradients"))
    def patchify__square_images_only(images: torch.Tensor, patch: int) -> torch.Tensor:
        return cut_square(images, patch, images.size(2) // patch)

    @MISTAKES.mistake(SQUARE_ONLY, breaks=("shape", "values", "gradients"))
    def patchify__square_images_only_by_width(images: torch.Tensor, patch: int) -> torch.Tensor:
        return cut_square(images, patch, images.size(3) // patch)

    def cut_square(images: torch.Tensor, patch: int, side: int) -> torch.Tensor:
        batch, channels, height, width = images.shape
        if height % patch or width % patch:
            raise ValueError(f"{height} × {width}, {patch}")
        grid = images.reshape(batch, channels, side, patch, side, patch)
        return grid.permute(0, 2, 4, 1, 3, 5).reshape(batch, side * side, -1)


@MISTAKES.of(right.clip_loss)
def in_clip_loss(at):
    ALL = ("values", "large logits", "gradients")
    KEPT = "Your short vectors don't get the length 1: their lengths are raised to a number before you divide (`eps`, `clamp`). Divide each vector by its own length."
    UNIT = "F.normalize(image_emb, dim=-1), F.normalize(text_emb, dim=-1)"
    MEAN = "(F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)) / 2"
    at(UNIT, ALL,
       ("not_normalized", "image_emb, text_emb", "You take products of the vectors as they are: longer ones win. Cosines are needed: make each vector's length 1 first."),
       ("norm_of_order_minus_one", "image_emb / image_emb.norm(-1), text_emb / text_emb.norm(-1)", "You divide all vectors by a single number: in `norm(-1)` the −1 is the kind of norm, not an axis. Each vector has its own length: `norm(dim=-1, keepdim=True)`."),
       ("normalized_as_a_whole", "image_emb / image_emb.norm(), text_emb / text_emb.norm()", "You divide by the length of all vectors together. Each vector has its own: `norm(dim=-1, keepdim=True)`."),
       ("short_vectors_kept", "F.normalize(image_emb, dim=-1, eps=1.0), F.normalize(text_emb, dim=-1, eps=1.0)", KEPT, ("values", "gradients")),
       *((f"short_vectors_kept_up_to_{least}", f"F.normalize(image_emb, dim=-1, eps={least}), F.normalize(text_emb, dim=-1, eps={least})", KEPT, ("values", "gradients")) for least in (0.1, 0.05, 0.02, 0.01)),
       *((f"something_added_to_lengths{name}", f"image_emb / (image_emb.norm(dim=-1, keepdim=True) + {little}), text_emb / (text_emb.norm(dim=-1, keepdim=True) + {little})", "You add a number to the lengths before you divide, so short vectors don't get the length 1. Divide each vector by its own length; a number as small as 1e-8 does no harm.") for name, little in (("", 0.01), ("_3", 1e-3), ("_4", 1e-4))),
       *((f"a_little_added_to_lengths_{power}", f"image_emb / (image_emb.norm(dim=-1, keepdim=True) + 1e-{power}), text_emb / (text_emb.norm(dim=-1, keepdim=True) + 1e-{power})", f"Very short vectors don't quite get the length 1. (Do you add 1e-{power} to the lengths before you divide? For a length of 0.001 that is too much.) Divide each vector by its own length; a number as small as 1e-8 does no harm.", ("values", "gradients")) for power in (5, 6)),
       ("divided_by_squared_length", "image_emb / image_emb.square().sum(dim=-1, keepdim=True), text_emb / text_emb.square().sum(dim=-1, keepdim=True)", "You divide by the *squared* lengths: the root is missing."),
       ("divided_by_root_d", "image_emb / image_emb.size(-1) ** 0.5, text_emb", "You divide by √D, as attention does. Here vectors are made of length 1 instead."),
       ("centered", "F.normalize(image_emb - image_emb.mean(dim=0), dim=-1), F.normalize(text_emb - text_emb.mean(dim=0), dim=-1)", "You take the batch's mean off the vectors before you make their length 1. Cosines of the vectors as they are, are needed."),
       ("lengths_detached", "image_emb / image_emb.norm(dim=-1, keepdim=True).detach(), text_emb / text_emb.norm(dim=-1, keepdim=True).detach()", "The lengths are cut off (`detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad`): gradients go through the division only. A vector's length depends on its numbers: let gradients go through it, too.", "gradients"),
       ("layer_norm", "F.layer_norm(image_emb, image_emb.shape[-1:]), F.layer_norm(text_emb, text_emb.shape[-1:])", "You take a layer norm: mean 0 and variance 1. A vector of length 1 is needed."))
    at("F.normalize(image_emb, dim=-1)", ALL,
       ("images_not_normalized", "image_emb", "Only the texts have length 1. Cosines need both: normalize the images, too."),
       ("no_gradient_to_images", "F.normalize(image_emb.detach(), dim=-1)", "No gradient reaches `image_emb`: both encoders learn.", "gradients"))
    at("F.normalize(text_emb, dim=-1)", ALL,
       ("texts_not_normalized", "text_emb", "Only the images have length 1. Cosines need both: normalize the texts, too."),
       ("no_gradient_to_texts", "F.normalize(text_emb.detach(), dim=-1)", "No gradient reaches `text_emb`: both encoders learn.", "gradients"))
    at("dim=-1", ALL,
       ("normalized_over_the_batch", "dim=0", "You normalize over the batch (dim 0). Each vector must have length 1: dim −1."),
       ("sum_of_sizes", "p=1, dim=-1", "You divide by the sum of the sizes (the 1-norm). The length is the root of the sum of squares."), times=2)
    at("/ temperature", ALL,
       ("cosines_over_root_d", "/ temperature / image_emb.size(-1) ** 0.5", "You divide by √D besides: cosines are divided by `temperature` only."),
       ("times_temperature", "* temperature", "You multiply by the temperature. Cosines are divided by it: a low one makes small differences large."),
       ("times_exp_temperature", "* torch.tensor(temperature).exp()", "You multiply by e^temperature, as CLIP's code does with a *learned* log-scale. Here `temperature` is what cosines are divided by."),
       ("divided_by_exp_temperature", "/ torch.tensor(temperature).exp()", "You divide by e^temperature. Cosines are divided by `temperature` itself."),
       ("root_of_temperature", "/ temperature**0.5", "You divide by √temperature. Cosines are divided by `temperature` itself."),
       ("scale_at_most_100", "* min(1 / temperature, 100.0)", "You divide by no less than 0.01: the factor 1/τ stays at 100. (CLIP's code does that with the scale that it *learns*.) Cosines are divided by `temperature`, however small.", "large logits"),
       ("temperature_squared", "/ temperature**2", "The temperature is in twice. (Are vectors divided by it, too?) Cosines are divided by it, once."))
    at(MEAN, ALL,
       ("images_only", "F.cross_entropy(logits, pairs)", "One half is missing: you only ask which text belongs to each image. The reverse counts as much: in its table rows are texts (`logits.T`; of `texts @ images.T` it needs no `.T`)."),
       ("texts_only", "F.cross_entropy(logits.T, pairs)", "One half is missing: you only ask which image belongs to each text. The reverse counts as much: in its table rows are images (`logits`; of `images @ texts.T` it needs no `.T`)."),
       ("pairs_only", "-logits.diagonal().mean()", "You compare each image with its own text only. The loss needs the others, too: all B × B cosines."),
       ("one_minus_cosine", "(1 - logits.diagonal() * temperature).mean()", "You return 1 − cosine of the pairs. The loss asks which of all texts belongs to an image: a cross-entropy over all B × B cosines."),
       ("both_directions_in_one_softmax", "F.cross_entropy(torch.cat([logits, logits.T], dim=1), pairs)", "Your softmax runs over texts and images together, 2·B of them. There are two, one over the texts for each image and one over the images for each text, and the mean of both losses."),
       ("symmetric_logits", "F.cross_entropy((logits + logits.T) / 2, pairs)", "You average the table of cosines with its transpose, and take one cross-entropy of that. Take two cross-entropies, of the table and of its transpose, and average these."),
       ("larger_direction", "torch.maximum(F.cross_entropy(logits, pairs), F.cross_entropy(logits.T, pairs))", "You take the larger of the two losses. Their mean is needed."),
       ("smaller_direction", "torch.minimum(F.cross_entropy(logits, pairs), F.cross_entropy(logits.T, pairs))", "You take the smaller of the two losses. Their mean is needed."),
       ("minus_probabilities", "-(logits.softmax(dim=1).diagonal().mean() + logits.softmax(dim=0).diagonal().mean()) / 2", "You return a mean of probabilities, with a minus: the log is missing. (`F.nll_loss` takes log-probabilities: `log_softmax`.) The loss is the mean of −log p."),
       ("softmax_over_all", "-logits.flatten().log_softmax(dim=0).view_as(logits).diagonal().mean()", "Your softmax runs over all B × B pairs at once. It should run over the texts for each image, and over the images for each text."),
       ("unstable", "-((logits.exp().diagonal() / logits.exp().sum(dim=1)).log().mean() + (logits.exp().diagonal() / logits.exp().sum(dim=0)).log().mean()) / 2", "Your exponentials run over: with large logits the loss is inf or NaN. `cross_entropy` (or `log_softmax`, `logsumexp`) takes the largest off first.", "large logits"),
       ("log_of_softmax", "-(logits.softmax(dim=1).diagonal().log().mean() + logits.softmax(dim=0).diagonal().log().mean()) / 2", "With large logits the loss is inf. (Does a probability run down to 0, whose log is −∞, or does an exponential run over?) `cross_entropy` or `log_softmax` compute softmax and log in one step.", "large logits"),
       ("one_maximum_for_all", "sum((m - m.max()).exp().sum(dim=1).log().mean() - (m - m.max()).diagonal().mean() for m in (logits, logits.T)) / 2", "Your exponentials run down to 0 where all of a row's or column's logits lie far below others, and then the log is −∞. (Is the largest of the *whole* table taken off?) Take off each row's and each column's own largest, as `logsumexp` and `cross_entropy` do.", "large logits"),
       ("one_maximum_for_all_in_a_softmax", "-sum(((m - m.max()).exp() / (m - m.max()).exp().sum(dim=1, keepdim=True)).diagonal().log().mean() for m in (logits, logits.T)) / 2", "Your exponentials run down to 0 where logits lie far below others: 0 / 0 is NaN, and the log of 0 is −∞. `cross_entropy` or `log_softmax` compute softmax and log in one step, from each row's own largest.", "large logits"),
       *((f"{name}_detached", f"(F.cross_entropy({one} / temperature, pairs) + F.cross_entropy({other} / temperature, pairs)) / 2", "In each direction one of the two sides is cut off (`detach`), so a vector learns from one of the two losses only. Both sides learn from both.", "gradients") for name, one, other in (
           ("candidates", "images @ texts.detach().T", "texts @ images.detach().T"), ("queries", "images.detach() @ texts.T", "texts.detach() @ images.T"))),
       *((f"yes_or_no{name}", f"F.binary_cross_entropy_with_logits(logits, torch.eye(len(logits)){rest}", "You ask of each pair by itself whether it belongs together (a sigmoid, as SigLIP does). CLIP's loss is a softmax: which of all texts belongs to this image?") for name, rest in (("", ")"), ("_summed", ", reduction='sum')"), ("_summed_for_each_image", ", reduction='sum') / len(logits)"))),
       ("pair_left_out_below", "sum((m.masked_fill(torch.eye(len(m), dtype=torch.bool), -torch.inf).logsumexp(dim=1) - m.diagonal()).mean() for m in (logits, logits.T)) / 2", "The right text is missing from the sum below. A softmax runs over all texts, the right one among them."),
       ("probabilities", "(logits.softmax(dim=1).diagonal().mean() + logits.softmax(dim=0).diagonal().mean()) / 2", "You return a mean of probabilities. The loss is the mean of −log p."),
       ("log_of_mean_probability", "-(logits.log_softmax(dim=1).diagonal().logsumexp(0) + logits.log_softmax(dim=0).diagonal().logsumexp(0)) / 2 + torch.tensor(float(len(logits))).log()", "You take the log of a mean probability. It is the mean of the logs."))
    at(") / 2", ALL,
       ("summed", ")", "You add the two losses. Their mean is needed: divide by 2."),
       ("in_bits", ") / 2 / 0.6931471805599453", "Your loss is in bits (log2). Nats are needed: natural logs."),
       ("one_axis", ")[None] / 2", "You return a tensor with an axis, (1,). The loss is a single number: ().", ("shape", *ALL)))
    at("pairs)", ALL,
       ("labels_smoothed", "pairs, label_smoothing=0.1)", "You smooth the labels, so the other pairs count as a little right. Image i belongs to text i alone."),
       ("sum_over_the_batch", "pairs, reduction='sum')", "You add up over the batch (B = {B}). A cross-entropy is the mean over its rows."),
       ("loss_of_each", "pairs, reduction='none')", "You return a loss for each pair. Their mean is needed: one number.", ("shape", *ALL)), times=2)
    at(" / temperature", ALL, ("no_temperature", "", "`temperature` has no effect: cosines are divided by it. (Dividing the vectors before they are normalized takes it out again.)"))
    for one, other in (("images", ("logits * temperature", "logits.T")), ("texts", ("logits", "logits.T * temperature"))):
        at(MEAN, ALL, (f"no_temperature_for_{one}", f"(F.cross_entropy({other[0]}, pairs) + F.cross_entropy({other[1]}, pairs)) / 2", f"Where {one} are looked at, one by one, the cosines are not divided by `temperature`. They are in both directions."))
    at(("/ temperature", ") / 2"), ALL, ("temperature_after", ("/ 1.0", ") / 2 / temperature"), "You divide the *loss* by the temperature. It is the cosines that are divided, before the softmax."))
    at("torch.arange(len(logits))", ALL,
       ("all_belong_to_the_first", "torch.zeros(len(logits), dtype=torch.long)", "In yours every image belongs to the first text (as with labels that are all 0), and every text to the first image. Image i belongs to text i: `torch.arange(B)`."),
       ("labels_reversed", "torch.arange(len(logits)).flip(0)", "Your labels run backward: the first image belongs to the last text. Image i belongs to text i: `torch.arange(B)`."),
       ("labels_shifted", "torch.arange(len(logits)).roll(-1)", "Your labels are shifted: image i belongs to text i + 1. Image i belongs to text i: `torch.arange(B)`."),
       ("labels_from_one", "torch.arange(1, len(logits) + 1)", "Your labels begin with 1. The first text is number 0.", ("shape", *ALL)))
    at("F.cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)", ALL, ("best_texts_are_right", "F.cross_entropy(logits, logits.argmax(dim=1)) + F.cross_entropy(logits.T, logits.argmax(dim=0))", "You take the most similar text for the right one, so the model is always right. Image i belongs to text i."))
    at("images @ texts.T", ALL,
       ("images_with_images", "images @ images.T", "You compare images with images. Images are compared with texts."),
       ("texts_with_texts", "texts @ texts.T", "You compare texts with texts. Images are compared with texts."),
       ("widths_multiplied", "images.T @ texts", "You multiply over the batch: a D × D matrix. Each image is compared with each text: (B, B)."),
       ("distances", "torch.cdist(images, texts)", "You take distances for logits: what is similar has a *small* one. Cosines are needed."),
       ("minus_distances", "-torch.cdist(images, texts)", "You take distances (with a minus) for similarities. Cosines are needed."),
       ("minus_cosines", "-images @ texts.T", "Your logits have the wrong sign: pairs would be driven apart."))
    at("return (", ALL, ("minus_loss", "return -(", "Your loss has the wrong sign: it must fall when pairs become more alike."))
    at("cross_entropy(logits, pairs) + F.cross_entropy(logits.T, pairs)", ALL, ("softmax_twice", "cross_entropy(logits.softmax(dim=1), pairs) + F.cross_entropy(logits.T.softmax(dim=1), pairs)", "You take a softmax of a softmax. `cross_entropy` takes logits, not probabilities, and does the softmax itself."))
    PROBABILITIES = "torch.stack([logits.softmax(dim=1).diagonal(), logits.softmax(dim=0).diagonal()])"
    for name, kept, most in (
        ("plus_1e_8", " + 1e-8", 18.4), ("plus_1e_9", " + 1e-9", 20.7), ("plus_1e_10", " + 1e-10", 23.0), ("plus_1e_12", " + 1e-12", 27.6),
        ("clamped_at_1e_6", ".clamp(min=1e-6)", 13.8), ("clamped_at_1e_7", ".clamp(min=1e-7)", 16.1), ("clamped_at_1e_8", ".clamp(min=1e-8)", 18.4),
        ("clamped_at_1e_9", ".clamp(min=1e-9)", 20.7), ("clamped_at_1e_10", ".clamp(min=1e-10)", 23.0), ("clamped_at_1e_12", ".clamp(min=1e-12)", 27.6),
    ):
        at(MEAN, "large logits", (name, f"-({PROBABILITIES}{kept}).log().mean()", f"You add a small number inside the log, or clamp there. That keeps it finite, but no pair then costs more than {most}, however wrong it is: `cross_entropy` or `log_softmax` need no such help."))
    at(f"return {MEAN}", ("shape", "gradients"), ("a_number", f"return ({MEAN}).item()", "You return a Python number. The loss must be a tensor: training needs the way back."))


@MISTAKES.of_quiz("quiz_which_model", right.quiz_which_model)
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
                 "it reads in both directions, and has never learned what comes next when nothing is on the right yet. A decoder writes on.")
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
                 "what matters may be on the last page. Sparse attention reads the whole.")
    Q = "half the computation of BERT base"
    wrong(Q, "one set of weights for all layers",
                 "one set of weights for all layers is ALBERT's way, and it saves memory, not time: all twelve layers are computed, with the same weights each time. DistilBERT has six layers.")
    wrong(Q, "a smaller vocabulary",
                 "a table is looked up, not computed: its length costs memory, and next to no time. DistilBERT has half as many layers.")
    Q = "find photos by words"
    wrong(Q, "an image encoder alone",
                 "it can say which photos are alike, but a search by words needs words in the same space: a second encoder, for texts.")
    wrong(Q, "a decoder of text",
                 "it has never seen a photo. Two encoders that meet in one space let a sentence be compared with each photo.")
