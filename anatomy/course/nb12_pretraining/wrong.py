"""Wrong answers to the exercises of 12-pretraining."""

from __future__ import annotations

from anatomy.course.nb12_pretraining import right
from anatomy.engine.families import squeezed
from anatomy.engine.mistakes import Mistakes, MistakesIn

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.

COIN = "draw_below(2, generator) == 1"
AGAIN = "You start again at the seed that the generator once had: what has been drawn from it since makes no difference, and a second call draws the same. Draw with `generator=generator`, from the state in which it comes."
SEEDED = "Whatever state the generator is in, your draws are the same (a seed set inside of the function does that). Use the generator as it comes."
STOPS = "Yours ends at the first document of a single sentence: the documents after it make no pairs. It makes no pair itself, but you go on with the next one (`continue`, not `break`)."


def in_both_pairs(at: MistakesIn, drawn: tuple[str, ...]) -> None:
    """What goes wrong in both ways to make pairs of sentences; `drawn` is what else the wrong sentences cost."""
    at(COIN, "generator", ("own_generator", "random.random() < 0.5", "Not all of your draws come from the given generator: the same state gives other pairs each time. Hand it on wherever you draw."))
    at(("    pairs = []", "        for first, following in pairwise(doc):\n", COIN), "half and half", ("one_draw_a_place", ("    pairs, coins = [], [draw_below(2, generator) for _ in max(docs, key=len)]", "        for coin, (first, following) in zip(coins, pairwise(doc)):\n", "coin == 1"), "You draw once for each place in a document, and use these draws for all documents. Every pair draws for itself."))
    at("pairwise(doc)", ("pairs", *drawn),
       ("every_second_sentence", "zip(doc[::2], doc[1::2])", "You take sentences two by two: 1 and 2, 3 and 4. All neighbors are needed, 2 and 3, too: every sentence but the last of its document is the first of a pair."),
       ("last_pair_missing", "pairwise(doc[:-1])", "The last pair of each document is missing: its last sentence has a neighbor, too. (Does your loop end one too early?)", ("pairs", "half and half", *drawn)))
    at("    return pairs", ("pairs", *drawn),
       ("shuffled", "    return [pairs[place] for place in torch.randperm(len(pairs), generator=generator).tolist()]", "Your pairs are shuffled. They must come in the order of the documents."),
       ("only_first_document", "        return pairs", "Only the first document is used: is the `return` inside of the loop?"))
    at("    pairs = []", ("half and half", *drawn, "generator"),
       ("seeded", "    pairs, generator = [], torch.Generator().manual_seed(0)", SEEDED),
       ("starts_again", "    pairs, generator = [], torch.Generator().manual_seed(generator.initial_seed())", AGAIN, ("half and half", *(drawn or ("pairs",)), "generator")))


@MISTAKES.of(right.mask_tokens)
def in_mask_tokens(at):
    CHOSEN = "(torch.rand(ids.shape, generator=generator) < rate)"
    FATE = "fate = torch.rand(ids.shape, generator=generator)"
    INPUTS = "inputs = ids.masked_fill(chosen & (fate < 0.8), mask_id)"
    DRAWN = "torch.randint(0, vocab_size, ids.shape, generator=generator)"
    RETURN = "return drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs), labels"
    OTHER = "(fate >= 0.8) & (fate < 0.9)"
    at("ids.where(chosen, IGNORED)", "labels",
       ("zeros_elsewhere", "ids.where(chosen, 0)", "Where nothing is chosen, your labels are 0. But 0 is a token: the loss would ask for it at all these positions. The label that does not count is −100."),
       ("minus_one_elsewhere", "ids.where(chosen, -1)", "Where nothing is chosen, your labels are −1. PyTorch's losses leave out −100: use that."),
       ("labels_everywhere", "ids.clone()", "Every position has its token as a label: the loss would ask for tokens that the model can simply read. Labels are −100 wherever nothing was chosen.", ("labels", "special tokens", "rate")),
       ("labels_where_not_chosen", "ids.where(~chosen, IGNORED)", "Labels and choice are the wrong way round: your chosen positions have −100, all others their token. The loss would ask for what the model can read, and never for what is hidden.", ("labels", "special tokens", "rate")))
    at(RETURN, "labels",
       ("labels_after_masking", "inputs = drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)\n    return inputs, inputs.where(chosen, IGNORED)", "You take the labels from the inputs after they were changed: most say “[MASK]”. A label is what was there before."),
       ("only_changed_labeled", "inputs = drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)\n    return inputs, ids.where(inputs != ids, IGNORED)", "You give a label only to positions whose token changed. The 10% that stay as they are were chosen, too, and have labels: the model can't know which of the words that it reads are true."),
       ("only_masked_labeled", "inputs = drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)\n    return inputs, ids.where(inputs == mask_id, IGNORED)", "You give a label only to positions that became [MASK]. The 10% with another token and the 10% that stay as they are were chosen, too, and have labels.", ("labels", "rate")),
       ("swapped", "return labels, drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)", "You return (labels, inputs); asked is (inputs, labels).", ("labels", "special tokens", "rate", "80/10/10")))
    at(("chosen & (fate < 0.8)", RETURN), "80/10/10", ("always_mask", ("chosen", "return inputs, labels"), "All the chosen become [MASK]. BERT does that with 80%; 10% become another token and 10% stay, because in use there is no [MASK] at all."))
    at(OTHER, "80/10/10",
       ("none_stays", "(fate >= 0.8)", "80% of the chosen become [MASK] and all the rest another token: none stays as it is. 10% must stay."),
       ("none_becomes_another", "(fate >= 0.8) & (fate < 0.8)", "No token becomes another one: 20% of the chosen stay as they are. 10% must become a token drawn from the vocabulary. (Do you compare one draw with 0.8 and then with 0.1? What is below 0.1 is below 0.8, too: count on, from 0.8 to 0.9.)"),
       ("ten_percent_of_the_rest", "(fate >= 0.8) & (torch.rand(ids.shape, generator=generator) < 0.1)", "Only 2 or 3% of the chosen become another token; 10% are to, which is half of those that do not become [MASK]. (Do you draw again for the rest, and compare with 0.1?)"),
       ("another_over_masked", "(torch.rand(ids.shape, generator=generator) < 0.1)", "10% of the chosen become another token, but only 72% [MASK]. (Do you draw a second time for all of them, and write over some [MASK]?) One draw should decide among the three."),
       ("overlapping_shares", "(fate < 0.1)", "10% of the chosen become another token, but only 70% [MASK], and 20% stay. (Do you compare one draw with 0.8 and with 0.1? What is below 0.1 is below 0.8, too, so that you write over some [MASK]: count on, from 0.8 to 0.9.)"))
    at(("(fate < 0.8)", OTHER), "80/10/10", ("shares_turned", ("(fate >= 0.9)", OTHER), "Your shares are turned round: 10% [MASK], 10% another token, 80% as they were. It is 80% that become [MASK]."))
    at(("(fate < 0.8)", "(fate >= 0.8)"), "80/10/10", ("half_masked", ("(fate < 0.5)", "(fate >= 0.5) & (fate >= 0.8)"), "50% of the chosen become [MASK]; 80% are to."))
    at((CHOSEN, FATE, "(fate < 0.8)", OTHER), "80/10/10", ("limits_of_one_rate", ("((fate := torch.rand(ids.shape, generator=generator)) < rate)", "fate = fate.clone()", "(fate < 0.12)", "(fate >= 0.12) & (fate < 0.135)"), "With a rate of 1 only some 12% of the chosen become [MASK], and 1 or 2% another token. (Do you compare one draw with `rate`, 0.12 and 0.135? These are 0.8 and 0.9 of 0.15, right for that rate alone: take 0.8 * rate and 0.9 * rate.)"))
    at((CHOSEN, FATE, "(fate < 0.8)", OTHER), "80/10/10", ("second_limit_not_of_the_rate", ("((fate := torch.rand(ids.shape, generator=generator)) < rate)", "fate = fate.clone()", "(fate < 0.8 * rate)", "(fate >= 0.8 * rate) & (fate < 0.9)"), "With a rate of 0.3, of the tokens that change one in five becomes another token; it is to be one in nine, 10% against 80%. (Do you compare one draw with 0.8 * rate, and then with 0.9? All the chosen lie below 0.9, so that none stays as it is: take 0.9 * rate.)"))
    at((CHOSEN, FATE), "80/10/10", ("one_draw_for_both", ("((fate := torch.rand(ids.shape, generator=generator)) < rate)", "fate = fate.clone()"), "With a rate of 0.3 none of the chosen becomes another token. (Do you compare one draw with `rate` and with 0.8? What is below 0.3 is below 0.8, too.) The second decision needs a draw of its own, or limits that are shares of `rate`."))
    at(" & (special_mask == 0)", "special tokens", ("special_chosen", "", "You choose special tokens, too: [CLS], [SEP] and padding would be masked. Leave out the positions where `special_mask` is 1."))
    at("(special_mask == 0)", ("labels", "special tokens", "rate", "80/10/10", "generator"),
       ("special_only", "(special_mask != 0)", "Your special mask is read the wrong way round: only special tokens are chosen. `special_mask` is 1 where *not* to choose."),
       ("one_minus", "(1 - special_mask).bool()", "1 − a boolean tensor is an error in PyTorch, and `special_mask` may be of True and False, too. `special_mask == 0` is right for both kinds.", "special tokens"),
       ("bitwise_not", "((~special_mask) != 0)", "Where `special_mask` holds whole numbers, special tokens are chosen. (`~` does that: of 0 and 1 it makes −1 and −2, and both count as true.) `special_mask == 0` is right for both kinds.", "special tokens"))
    at(" & (special_mask == 0)", ("labels", "special tokens", "rate", "80/10/10"), ("special_mask_as_index", "\n    chosen[special_mask] = False", "Where `special_mask` holds whole numbers, yours takes 0 and 1 for two rows: none of their tokens is chosen, and in the other rows special ones are. (Is it an index, as in `chosen[special_mask] = False`? Only True and False pick single tokens there.) `special_mask == 0` is right for both kinds."))
    at((" & (special_mask == 0)", "ids.where(chosen, IGNORED)"), "special tokens", ("special_hidden_but_unlabeled", ("", "ids.where(chosen & (special_mask == 0), IGNORED)"), "Special tokens get no label, but they are changed anyway. What changes the inputs must leave them out, too."))
    at((" & (special_mask == 0)", INPUTS, RETURN), "special tokens", ("special_labeled_but_kept", ("", INPUTS + "\n    usual = special_mask == 0", "return drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs).where(usual, ids), labels"), "Special tokens stay as they are, but have labels. Leave them out of the choice itself."))
    at("< rate)", ("labels", "special tokens", "rate", "80/10/10"),
       ("rate_turned", "> rate)", "You choose with the probability 1 − `rate`: at a rate of 0.3, 70% of the tokens. A draw between 0 and 1 is *below* `rate` with the probability `rate`."),
       ("rate_fixed", "< 0.15)", "You choose 15% whatever `rate` says. 0.15 is only its default.", ("labels", "rate", "80/10/10")),
       ("rate_of_all", "< rate / (special_mask == 0).float().mean())", "Where some tokens are special you choose more of the others, so that `rate` of *all* tokens is chosen. It is the probability for each token that is not special.", "rate"))
    at("rate: float = 0.15", "rate", ("default_of_a_tenth", "rate: float = 0.1", "Without `rate`, 15% must be chosen: the default is 0.15."))
    at(CHOSEN, "rate",
       ("one_choice_for_all_texts", "(torch.rand(ids.shape[1:], generator=generator) < rate)", "Your texts do not draw for themselves: the same positions are chosen in several of them (T draws for all texts do that). Every position draws for itself: (B, T) numbers."),
       ("one_choice_a_text", "(torch.rand((len(ids), 1), generator=generator) < rate)", "The tokens of a text do not draw for themselves: one is chosen with its neighbor (one draw for each text does that). Every position draws for itself: (B, T) numbers."),
       ("exactly_so_many", "(torch.rand(ids.numel(), generator=generator).argsort().argsort().view(ids.shape) < int(rate * ids.numel()))", "You choose an exact share of the positions. Each token must be chosen with probability `rate`, for itself: the number then differs from text to text, and a text of one token is chosen in a share `rate` of the calls."),
       ("global_generator", "(torch.rand(ids.shape) < rate)", "Some or all of your draws do not use the given generator: the same state gives another result each time. Every draw needs `generator=generator`.", "generator"))
    for of, share, words in (("", "torch.tensor(rate * ids.size(1))", "its length"), ("_of_the_ordinary", "(rate * (special_mask == 0).sum(dim=1, keepdim=True))", "as many as are not special")):
        at(CHOSEN, "rate", *((f"exactly_so_many_a_text{of}{name}", f"(torch.rand(ids.shape, generator=generator).masked_fill(special_mask != 0, 2.0).argsort(dim=1).argsort(dim=1) < {share}.{rounded})", f"You choose a fixed number of tokens in each text, `rate` times {words}{more}. Each token must be chosen with probability `rate`, for itself: the number then differs from text to text.")
                             for name, rounded, more in (("", "round()", ""), ("_and_one", "round().clamp(min=1)", ", and one at least"), ("_rounded_up", "ceil()", ", rounded up"))))
    at(FATE, "80/10/10",
       ("one_fate_a_text", "fate = torch.rand((len(ids), 1), generator=generator)", "Within a text the chosen share their fate (one draw for each text does that: all become [MASK], or all another token). Every position draws for itself."),
       ("one_fate_for_all_texts", "fate = torch.rand(ids.shape[1:], generator=generator)", "The chosen of one position share their fate from text to text (T draws for all texts do that). Every position draws for itself: (B, T) numbers."),
       ("exact_shares", "order = torch.rand(ids.numel(), generator=generator).masked_fill(~chosen.flatten(), 2.0).argsort().argsort()\n    fate = order.view(ids.shape) / chosen.sum()", "You split the chosen into exact shares, 80, 10 and 10%. Each must draw for itself: a single chosen token, too, becomes [MASK] with probability 0.8."))
    at(DRAWN, "80/10/10",
       ("one_other_token", "torch.randint(0, vocab_size, (), generator=generator).expand(ids.shape)", "All that become another token become the same one: you draw a single token. Draw one for each position."),
       ("another_from_the_text", "ids.flatten()[torch.randint(0, ids.numel(), ids.shape, generator=generator)]", "The other token is one of those that are in `ids`. It must be drawn from the whole vocabulary."),
       ("never_mask", "(mask_id + torch.randint(1, vocab_size, ids.shape, generator=generator)) % vocab_size", "Your other token is never [MASK]. It is drawn from all V tokens, special ones too: in one of V draws it is [MASK]."),
       ("never_itself", "(ids + torch.randint(1, vocab_size, ids.shape, generator=generator)) % vocab_size", "Your other token is never the one that was there. It should be drawn from all V tokens: in one of V draws it is the same again."))
    at("randint(0, vocab_size,", "80/10/10",
       ("never_the_last_token", "randint(0, max(vocab_size - 1, 1),", "The last token of the vocabulary is never drawn. (`torch.randint` leaves its upper end out already: `vocab_size`, not `vocab_size - 1`.)"),
       ("ends_too_rarely", "rand(ids.shape, generator=generator).mul(vocab_size - 1).round().long() + 0 * torch.randint(0, vocab_size,", "The first and the last token of the vocabulary come half as often as the others. (Do you round random numbers between 0 and V − 1 to the nearest whole one?) `torch.randint(0, vocab_size, …)` draws all alike."),
       ("never_token_0", "randint(1, vocab_size,", "Token 0 is never drawn: ids begin with 0."),
       ("one_too_far", "randint(0, vocab_size + 1,", "You draw from V + 1 tokens: the id `vocab_size` does not exist, and an embedding would stop there. `torch.randint`'s upper end is left out: `vocab_size`."))
    at("    chosen = ", ("rate", "80/10/10", "generator"),
       ("starts_again", "    generator = torch.Generator().manual_seed(generator.initial_seed())\n    chosen = ", AGAIN),
       ("seeded", "    generator = torch.Generator().manual_seed(0)\n    chosen = ", "Whatever state the generator is in, the same positions are chosen (a seed set inside of the function does that). That is static masking, of every batch alike. Use the generator as it comes."))
    at("ids.masked_fill(", "labels", ("in_place", "ids.masked_fill_(", "You change `ids` in place, and whoever called you still needs the text. Write into a copy, `ids.clone()`, or use what makes a new tensor: `where`, or `masked_fill` without `_`."))
    at(", labels\n", ("labels", "special tokens", "rate", "80/10/10"), ("only_inputs", "\n", "You return a single tensor. The exercise asks for two: (inputs, labels)."))


@MISTAKES.of(right.mlm_loss)
def in_mlm_loss(at):
    ENTROPY = "F.cross_entropy(logits[counted], labels[counted])"
    ALL = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction=\"sum\")"
    at(ENTROPY, ("values", "gradients"),
       ("summed", "F.cross_entropy(logits[counted], labels[counted], reduction=\"sum\")", "You add the losses up; their mean is needed. A batch with more labels would count for more."),
       ("over_all_places", ALL + " / labels.numel()", "You divide by the number of all positions, B·T. Only those that have a label count: divide by their number."),
       ("over_the_batch", ALL + " / len(labels)", "You divide by B, the number of texts. The mean is over the positions that have a label."),
       ("perplexity", ENTROPY + ".exp()", "You return exp of the loss, the perplexity. The loss itself is needed."),
       *((f"log_with_a_floor_{power}", f"F.nll_loss((logits[counted].softmax(dim=-1) + 1e-{power}).log(), labels[counted])", "Your loss stays small however improbable the token is, as when a small number is added to the probability before its logarithm, or `clamp` limits it. `log_softmax` and `cross_entropy` need none.") for power in (8, 9, 10, 12)),
       ("log_of_softmax", "F.nll_loss(logits[counted].softmax(dim=-1).log(), labels[counted])", "Your loss is infinite where a probability is too small for float32: it becomes 0 before the logarithm is taken. `log_softmax` and `cross_entropy` compute it in one step."),
       ("probability_not_log", "-logits[counted].softmax(dim=-1).gather(1, labels[counted][:, None]).mean()", "You average probabilities of the right tokens, not their logarithms."),
       ("no_softmax", "-logits[counted].gather(1, labels[counted][:, None]).mean()", "You take the logits of the right tokens as they are. Cross-entropy is −log of a probability: a log-softmax over the vocabulary comes first."),
       ("softmax_over_places", "F.nll_loss(logits.log_softmax(dim=1)[counted], labels[counted])", "Your softmax runs over the positions, not over the vocabulary: the last axis of the logits is V."),
       ("one_loss_a_place", "F.cross_entropy(logits[counted], labels[counted], reduction=\"none\")", "You return a loss for every position. One number is needed: their mean."),
       ("first_text_only", "F.cross_entropy(logits[:1][counted[:1]], labels[:1][counted[:1]])", "Only the first text of the batch counts in yours."),
       ("detached", ENTROPY + ".detach()", "The numbers are right, but no gradient comes back: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts the way to the weights.", "gradients"),
       ("over_one_more", ALL + " / (counted.sum() + 1)", "You divide by N + 1, one more than there are positions with a label. The mean is over these N; that there is none is a case of its own."),
       ("classes_last", "F.cross_entropy(logits, labels)", "`cross_entropy` and `nll_loss` take the classes on axis 1: (N, V) with (N,), or (B, V, T) with (B, T). Yours are on the last axis of three.", ("values", "gradients", "no labels")),
       ("viewed", "F.cross_entropy(logits.view(logits.shape[0], -1, logits.shape[1]), labels)", "`view` to (B, V, T) does not exchange axes: it reads the same numbers on in another shape, so logits of other tokens are taken for a position's own. `transpose(1, 2)` does."),
       ("reshaped", "F.cross_entropy(logits.reshape(logits.shape[0], -1, logits.shape[1]), labels)", "Logits of other tokens are taken for a position's own: `reshape` and `view` to (B, V, T) do not exchange axes, but read the same numbers on in another shape. `transpose(1, 2)` exchanges them."))
    at("return F.cross_entropy(logits[counted], labels[counted])", ("values", "gradients"), ("mean_of_texts", "return torch.stack([F.cross_entropy(row, asked) for row, asked in zip(logits, labels) if (asked != IGNORED).any()]).mean()", "You take the mean of each text, and then the mean of these. A position in a text with few labels then counts for more; the mean is over all positions that have a label."))
    at(("labels != IGNORED", "labels[counted]"), ("values", "gradients", "no labels"), ("every_label_clamped", ("labels == labels", "labels[counted].clamp(min=0)"), "Positions without a label count as if token 0 were asked for there. −100 means: does not count at all."))
    at("labels != IGNORED", ("values", "gradients"), ("token_0_ignored", "labels > 0", "You leave out positions whose label is token 0, too. Only −100 does not count."))
    at(("labels != IGNORED", "labels[counted])"), ("values", "gradients", "no labels"), ("only_token_0_ignored", ("labels != 0", "labels[counted].clamp(min=0))"), "You leave out labels of 0; −100 is the label that does not count."))
    at("    if not counted.any():\n        return logits.sum() * 0.0\n", "no labels", ("nan_without_labels", "", "Where no position has a label, yours divides zero by zero: NaN, and one such batch ruins all weights. The loss is 0 then."))
    at("return logits.sum() * 0.0", "no labels",
       ("refuses_without_labels", "raise ValueError(\"no labels\")", "Where no position has a label, the loss is 0; yours stops with an error."),
       ("nothing_without_labels", "return None", "Where no position has a label, yours returns nothing (None). The loss is 0 then."))
    at("return F.cross", ("values", "gradients"), ("negative", "return -F.cross", "The sign is turned round: yours is the mean log-probability. A loss is its negative."))
    at("labels[counted])", ("values", "gradients"),
       ("in_bits", "labels[counted]) / torch.log(torch.tensor(2.0))", "Yours is in bits, divided by ln 2. The exercise asks for nats: the natural logarithm."),
       ("smoothed", "labels[counted], label_smoothing=0.1)", "Your labels are smoothed. The plain cross-entropy is needed."))
    at("(logits[counted]", ("values", "gradients"), ("softmax_first", "(logits[counted].softmax(dim=-1)", "The softmax is taken twice. `cross_entropy` takes it itself: give it the logits."))
    at(("counted = labels", ENTROPY), ("values", "gradients"), ("shifted", ("labels = labels.roll(-1, dims=1)\n    counted = labels", ENTROPY), "You compare each position with the label of the next one, as a decoder does. Here a label belongs to its own position."))


@MISTAKES.of(right.next_sentence_pairs)
def in_next_sentence_pairs(at):
    FOLLOWS = "pairs.append((first, following, 1))"
    ELSE = "pairs.append((first, others[draw_below(len(others), generator)], 0))"
    DRAW = "others[draw_below(len(others), generator)]"
    at(" if other != number", ("pairs", "drawn evenly"), ("from_the_whole_corpus", "", "Your other sentence can come from the same document. Draw it from the *other* documents only."))
    at("if other != number", "drawn evenly",
       ("from_the_same_document", "if other == number", "Your other sentence is drawn from the same document. It must come from another one.", ("pairs", "drawn evenly")),
       ("next_document_only", "if other == (number + 1) % len(docs)", "Your other sentences come from the next document only. All other documents are needed."),
       ("earlier_or_later_documents_only", "if other > number or other != number == len(docs) - 1", "Your other sentences come from later documents (for the last one, from any other). All other documents are needed, always."),
       ("others_by_text", "if sentences != doc", "You tell documents apart by their text: where two are the same, neither is another one to you. Tell them by their numbers."))
    at(("following, 1)", ", 0))"), ("pairs", "drawn evenly"), ("labels_turned", ("following, 0)", ", 1))"), "Your labels are turned round: 1 says that the second sentence follows. (The library's BERT has them the other way: read a contract before a loss.)"))
    at((" if other != number", "following, 1)", ", 0))"), ("pairs", "drawn evenly"), ("from_the_whole_corpus_and_labels_turned", ("", "following, 0)", ", 1))"), "Two mistakes at once. Your labels are turned round: 1 says that the second sentence follows. And your other sentence can come from the same document: draw it from the *other* documents only."))
    at(COIN, "half and half",
       ("all_follow", "True", "All your pairs are sentences that follow. Half of them must be drawn from another document.", ("half and half", "drawn evenly", "generator")),
       ("none_follows", "False", "None of your pairs is a sentence and the one that follows. With probability ½ it should be."),
       ("a_third_follows", "draw_below(3, generator) == 1", "A third of your pairs follow, two thirds are drawn from elsewhere. It is half and half."),
       ("most_follow", "draw_below(3, generator) > 0", "Two thirds of your pairs follow, a third is drawn from elsewhere. It is half and half."),
       ("taking_turns", "len(pairs) % 2 == 0", "Your pairs do not draw for themselves: just as many follow in each call, as when they take turns. Every pair must draw for itself; a pattern is something to learn by heart."),
       ("a_quarter_follows", "draw_below(4, generator) == 1", "A quarter of your pairs follow, three quarters are drawn from elsewhere. It is half and half."),
       ("three_quarters_follow", "draw_below(4, generator) > 0", "Three quarters of your pairs follow, a quarter is drawn from elsewhere. It is half and half."))
    at("            if draw_below(2, generator) == 1:\n                " + FOLLOWS + "\n            else:\n                " + ELSE, ("pairs", "half and half", "drawn evenly"), ("both_kinds", "            " + FOLLOWS + "\n            " + ELSE, "You make two pairs of each sentence, one that follows and one that doesn't. Take one; a draw decides which."))
    at(("        for first, following", COIN), "half and half", ("one_draw_a_document", ("        coin = draw_below(2, generator)\n        for first, following", "coin == 1"), "You draw once for each document: all of its pairs follow, or none. Every pair draws for itself."))
    at(("    pairs = []", COIN), "half and half", ("one_draw_for_all", ("    pairs, coin = [], draw_below(2, generator)", "coin == 1"), "You draw once: all pairs of a call follow, or none. Every pair draws for itself."))
    at((COIN, DRAW), "drawn evenly",
       ("one_number_for_both", ("(drawn := float(torch.rand((), generator=generator))) < 0.5", "others[int(drawn * len(others))]"), "One number decides whether a sentence follows and which other one comes, so that only the later half of the others can come. The second decision needs a draw of its own."),
       ("one_number_for_both_turned", ("(drawn := float(torch.rand((), generator=generator))) >= 0.5", "others[int(drawn * len(others))]"), "One number decides whether a sentence follows and which other one comes, so that only the earlier half of the others can come. The second decision needs a draw of its own."))
    at((ELSE,), "drawn evenly",
       ("document_first", ("rest = [sentences for other, sentences in enumerate(docs) if other != number]\n                chosen = rest[draw_below(len(rest), generator)]\n                pairs.append((first, chosen[draw_below(len(chosen), generator)], 0))",), "Some of your other sentences come more often than others. (Do you draw a document first, then a sentence of it? Then those of short documents do.) All sentences of the other documents must be equally likely."),
       ("label_by_comparison", ("second = " + DRAW + "\n                pairs.append((first, second, int(second == following)))",), "A sentence drawn from elsewhere that reads like the following one has the label 1 in yours. It is 0: let the draw decide the label, not a comparison of words.", "half and half"),
       ("never_like_the_following", ("rest = [sentence for sentence in others if sentence != following]\n                pairs.append((first, rest[draw_below(len(rest), generator)], 0))",), "Your other sentence never has the same words as the one that follows. All sentences of the other documents must be equally likely, also such a one."))
    at("for sentence in sentences]", "drawn evenly",
       ("first_of_a_document", "for sentence in sentences[:1]]", "Your other sentence is always the first of its document. All its sentences must be equally likely."),
       ("none_that_is_in_the_own_document", "for sentence in sentences if sentence not in doc]", "You leave out sentences that are in the pair's own document, too. All sentences of the other documents must be equally likely, also those."))
    at("draw_below(len(others), generator)", "drawn evenly", ("never_the_last", "draw_below(max(len(others) - 1, 1), generator)", "The last of the other sentences never comes: `draw_below(n, …)` leaves n out already."))
    at(("        for first, following", DRAW), "drawn evenly",
       ("not_put_back", ("        order = torch.randperm(len(others), generator=generator).tolist() * len(doc)\n        for first, following", "others[order.pop(0)]"), "Pairs of the same document hardly ever get the same other sentence. (Do you shuffle the others, and take one after the other?) Every pair draws from all of them."),
       ("same_again", ("        chosen = " + DRAW + "\n        for first, following", "chosen"), "The same other sentence comes again and again. (Do you draw it once for each document, and use it for all of its pairs?) Draw one for every pair."))
    at("pairs.append((first, following, 1))", "pairs", ("first_with_itself", "pairs.append((first, first, 1))", "Some of your pairs hold one sentence twice. The second is the *next* sentence, or one of the *other* documents."))
    at(("(first, following, 1)", "(first, others[draw_below(len(others), generator)], 0)"), ("pairs", "drawn evenly"),
       ("swapped", ("(following, first, 1)", "(others[draw_below(len(others), generator)], first, 0)"), "Your two sentences have changed places: first comes the sentence itself, then the one that follows or is drawn."),
       ("nested", ("((first, following), 1)", "((first, others[draw_below(len(others), generator)]), 0)"), "A pair of yours is ((first, second), label). The exercise asks for three things side by side: (first, second, label).", ("pairs", "half and half", "drawn evenly")))
    at("pairwise(doc)", ("pairs", "drawn evenly"),
       ("across_documents", "zip(doc, [*doc[1:], *sum(docs[number + 1 :], [])[:1]])", "The last sentence of a document is paired with the first of the next one. A document's last sentence has nothing that follows."),
       ("wraps_around", "pairwise([*doc, doc[0]])", "What follows the last sentence of a document is its first in yours. Nothing does: the last one is the first of no pair."))
    at((FOLLOWS,), "pairs", ("found_by_its_text", ("pairs.append((first, doc[doc.index(first) + 1], 1))",), "You look for a sentence by its text. Where it comes twice, what follows can be wrong (`index` finds the first one, a dictionary keeps the last). Count positions instead."))
    at("enumerate(docs):\n        others", ("pairs", "drawn evenly"), ("stops_at_a_single_sentence", "enumerate(docs):\n        if len(doc) < 2:\n            break\n        others", STOPS))
    at("    return pairs", ("pairs", "drawn evenly"), ("popped", "    docs[0].pop()\n    return pairs", "You change the documents themselves (`pop`, `remove` or `append` does that), and whoever called you still needs them. Leave `docs` as they are.", "pairs"))
    at(("(first, following, 1)", ", 0))"), ("pairs", "half and half", "drawn evenly"), ("no_labels", ("(first, following)", "))"), "Your pairs have no label. The exercise asks for (first, second, 1 or 0)."))
    at((FOLLOWS, ELSE), ("pairs", "drawn evenly"), ("two_draws", ("pairs.append((first, following, draw_below(2, generator)))", ELSE.replace(", 0)", ", draw_below(2, generator))")), "Your label does not say whether the second sentence follows. (Do you draw once for the sentence and once more for the label?) One draw should decide both."))
    at(("pairwise(doc)", COIN), ("pairs", "drawn evenly"), ("last_sentence_too", ("zip(doc, [*doc[1:], None])", "following is not None and " + COIN), "The last sentence of a document has a pair in yours, too, with a sentence of another document. Nothing follows it: it is the first of no pair."))
    at(("    pairs = []", "others = [sentence"), ("pairs", "drawn evenly"), ("others_of_all_before", ("    pairs, others = [], []", "others += [sentence"), "Your list of other sentences grows from document to document: from the second one on, the document's own sentences are in it, too. Begin it again for each document."))
    at(("others = [sentence", "for sentence in sentences]"), "drawn evenly", ("each_text_once", ("others = sorted({sentence", "for sentence in sentences})"), "A sentence that is several times in the other documents counts once in yours (is it a set?). Each position counts: draw from the list of them all."))
    in_both_pairs(at, drawn=("drawn evenly",))


@MISTAKES.of(right.sentence_order_pairs)
def in_sentence_order_pairs(at):
    PAIR = "(first, following, 1) if in_order else (following, first, 0)"
    at(PAIR, "pairs",
       ("labels_turned", "(first, following, 0) if in_order else (following, first, 1)", "Your labels are turned round: 1 says that the two are in their order, 0 that they are swapped."),
       ("never_swapped", "(first, following, 1) if in_order else (first, following, 0)", "No pair of yours is swapped: the label changes, but the sentences stay. With label 0 the second comes first."),
       ("two_draws", "(first, following, draw_below(2, generator)) if in_order else (following, first, draw_below(2, generator))", "Your label does not say whether a pair is swapped. (Do you draw once for the order and once more for the label?) One draw should decide both."),
       ("labels_of_plus_and_minus_one", "(first, following, 1) if in_order else (following, first, -1)", "Where the two are swapped, your label is −1. It is 0.", ("pairs", "half and half")),
       ("no_labels", "(first, following) if in_order else (following, first)", "Your pairs have no label. The exercise asks for (first, second, 1 or 0).", ("pairs", "half and half")),
       ("label_by_its_text", "(first, following, int(doc.index(first) < doc.index(following))) if in_order else (following, first, int(doc.index(following) < doc.index(first)))", "You read the label off the places of the two texts in the document. Where a sentence comes twice, it can be wrong (`index` finds the first one, a dictionary keeps the last). The draw knows the order."),
       ("label_by_comparison", "(first, following, 1) if in_order else (following, first, int(following == first))", "You read the label off a comparison of the two texts. Where a sentence is followed by itself, it is the same then in every draw: let the draw decide the label."),
       ("nested", "((first, following), 1) if in_order else ((following, first), 0)", "A pair of yours is ((first, second), label). The exercise asks for three things side by side: (first, second, label).", ("pairs", "half and half")))
    at(COIN, "half and half",
       ("always_in_order", "True", "All your pairs are in their order. With probability ½ a pair is swapped, and its label is 0.", ("pairs", "half and half", "generator")),
       ("always_swapped", "False", "All your pairs are swapped. With probability ½ a pair stays in its order, with the label 1.", ("pairs", "half and half", "generator")),
       ("a_third_in_order", "draw_below(3, generator) == 1", "A third of your pairs are in order. It is half and half."),
       ("most_in_order", "draw_below(3, generator) > 0", "Two thirds of your pairs are in order. It is half and half."),
       ("taking_turns", "len(pairs) % 2 == 0", "Your pairs do not draw for themselves: just as many are in order in each call, as when they take turns. Every pair must draw for itself.", ("half and half", "generator")),
       ("a_quarter_in_order", "draw_below(4, generator) == 1", "A quarter of your pairs are in order. It is half and half."),
       ("three_quarters_in_order", "draw_below(4, generator) > 0", "Three quarters of your pairs are in order. It is half and half."))
    at("(following, first, 0)", ("pairs", "half and half"),
       ("label_always_1", "(following, first, 1)", "Your label is always 1, also where you swap: nothing could be learned from it."),
       ("random_second", "(first, docs[(docs.index(doc) + 1) % len(docs)][0], 0)", "Some of your pairs are no neighbors. (Is the second sentence drawn from another document, as in next-sentence prediction?) Here both are neighbors, and only their order matters.", "pairs"))
    at("(first, following, 1)", ("pairs", "half and half"), ("label_always_0", "(first, following, 0)", "Your label is always 0, also where nothing is swapped: nothing could be learned from it."))
    at(("            in_order = draw_below(2, generator) == 1\n", "pairs.append(" + PAIR + ")"), ("pairs", "half and half", "generator"), ("both_orders", ("", "pairs += [(first, following, 1), (following, first, 0)]"), "You make two pairs of each two sentences, one in each order. Take one; a draw decides which."))
    at(("    pairs = []", COIN), "half and half", ("exactly_half", ("    coins = torch.arange(sum(len(doc) - 1 for doc in docs)) % 2\n    coins = coins[torch.randperm(len(coins), generator=generator)].tolist()\n    pairs = []", "coins[len(pairs)] == 1"), "You always put exactly half of the pairs in order. Each pair must draw for itself: of six there are now more, now fewer, and a single one is in order in half of the calls."))
    at(("        for first, following", "            in_order = draw_below(2, generator) == 1\n"), "half and half", ("one_draw_a_document", ("        in_order = draw_below(2, generator) == 1\n        for first, following", ""), "You draw once for each document: all of its pairs are swapped, or none. Every pair draws for itself."))
    at(("    pairs = []", "            in_order = draw_below(2, generator) == 1\n"), "half and half", ("one_draw_for_all", ("    pairs, in_order = [], draw_below(2, generator) == 1", ""), "You draw once: all pairs of a call are swapped, or none. Every pair draws for itself."))
    at(("        for first, following in pairwise(doc):\n", "            pairs.append(" + PAIR + ")\n"), "pairs", ("goes_on_from_the_swapped", ("        first = doc[0]\n        for following in doc[1:]:\n", "            if not in_order:\n                first, following = following, first\n            pairs.append((first, following, int(in_order)))\n            first = following\n"), "After a swapped pair your next one starts from the wrong sentence. It has to begin with the later one of the two in the document, whether they were swapped or not."))
    at(("        for first, following in pairwise(doc):\n", "            pairs.append(" + PAIR + ")\n"), "pairs", ("swaps_in_the_document", ("        for place in range(1, len(doc)):\n", "            if not in_order:\n                doc[place - 1], doc[place] = doc[place], doc[place - 1]\n            pairs.append((doc[place - 1], doc[place], int(in_order)))\n"), "You swap sentences in the document itself: whoever called you loses their order, and a pair after a swapped one gets the sentence that has moved. Leave the document as it is, and swap only in the pair."))
    at("pairwise(doc)", "pairs",
       ("any_two_of_a_document", "[(one, other) for place, one in enumerate(doc) for other in doc[place + 1 :]]", "You pair every sentence with all later ones of its document. Pairs are neighbors: a sentence and the next."),
       ("whole_document_turned", "list(pairwise(doc))[::-1]", "Your pairs come in another order, as from the end of a document to its start. They must come in the order of the documents, and of the sentences in each."),
       ("equal_skipped", "[pair for pair in pairwise(doc) if pair[0] != pair[1]]", "Two neighbors that are the same make no pair in yours. Every two neighbors make one, equal ones, too."),
       ("wraps_around", "pairwise([doc[-1], *doc])", "You pair the last sentence of a document with its first. They are no neighbors. (In Python `doc[-1]` is the last one, not the one before `doc[0]`.)"))
    at("    for doc in docs:\n        for first, following in pairwise(doc):", "pairs", ("across_documents", "    for doc in [sum(docs, [])]:\n        for first, following in pairwise(doc):", "The last sentence of a document is paired with the first of the next one. Pairs do not cross the end of a document."))
    at("    for doc in docs:\n", "pairs", ("stops_at_a_single_sentence", "    for doc in docs:\n        if len(doc) < 2:\n            break\n", STOPS))
    at(("        for first, following in pairwise(doc):\n            in_order = draw_below(2, generator) == 1\n", "            pairs.append(" + PAIR + ")\n"), ("pairs", "half and half"), ("documents_turned_or_not", ("        in_order = draw_below(2, generator) == 1\n        for first, following in pairwise(doc if in_order else doc[::-1]):\n", "            pairs.append((first, following, int(in_order)))\n"), "You turn a whole document round, or you leave it: its pairs then come from its end, and all are swapped or none. Every pair draws for itself, and they come in the order of the document."))
    at("            pairs.append(", "pairs", ("found_by_its_text", "            following = doc[doc.index(first) + 1]\n            pairs.append(", "You look for a sentence by its text. Where it comes twice, you can get the neighbor of the other one (`index` finds the first, a dictionary keeps the last). Count positions instead."))
    in_both_pairs(at, drawn=())


@MISTAKES.of(right.span_corruption)
def in_span_corruption(at):
    COUNT = "count = min(max(round(hidden / mean_span), 1), hidden, len(ids) - hidden + 1)"
    SPANS = "spans = random_parts(hidden, count, generator)"
    GAPS = "gaps = random_parts(len(ids) - hidden + 2, count + 1, generator)"
    LESS = "gaps[0], gaps[-1] = gaps[0] - 1, gaps[-1] - 1"
    LAST = "sentinel_ids[count], eos_id])"
    INPUT = "inputs += [*tokens[start : start + gap], sentinel]"
    TARGET = "targets += [sentinel, *tokens[start + gap : start + gap + span]]"
    at(LAST, "sentinels",
       ("no_final_sentinel", "eos_id])", "The final sentinel is missing in your targets: after the last span comes one more, and only then `eos_id`."),
       ("no_eos_on_targets", "sentinel_ids[count]])", "The targets do not end with `eos_id`. Both sequences do."),
       ("final_sentinel_from_the_end", "sentinel_ids[-1], eos_id])", "Your final sentinel is the last of the list. It is the next one, `sentinel_ids[K]`."),
       ("eos_before_the_final_sentinel", "eos_id, sentinel_ids[count]])", "`eos_id` is not the last of your targets. It comes at the very end, after the final sentinel."))
    at(("start:], eos_id])", LAST), "sentinels", ("no_eos", ("start:]])", "sentinel_ids[count]])"), "`eos_id` is missing at both ends: inputs and targets both end with it."))
    at("start:], eos_id])", "sentinels",
       ("no_eos_on_inputs", "start:]])", "The inputs do not end with `eos_id`. Both sequences do."),
       ("final_sentinel_in_both", "start:], sentinel_ids[count], eos_id])", "The final sentinel is in the inputs, too. Only the targets have it: there it says that no span follows.", ("sentinels", "amounts")))
    at("zip(sentinel_ids, gaps", ("rebuilds", "sentinels"), ("one_sentinel", "zip([sentinel_ids[0]] * count, gaps", "All your spans have the same sentinel, so nobody knows which answer belongs where. Span k gets `sentinel_ids[k]`."))
    at(("    hidden = ",), "sentinels",
       ("sentinels_from_the_end", ("    sentinel_ids = sentinel_ids[::-1]\n    hidden = ",), "You take the sentinels from the end of the list. Span k gets `sentinel_ids[k]`. (T5's ids count down, 32099, 32098 …: the list has them in order already.)"),
       ("sentinels_counted_up", ("    sentinel_ids = list(range(sentinel_ids[0], sentinel_ids[0] + 500))\n    hidden = ",), "You count up from the first sentinel. Take the ids from the list: they need not follow one another (T5's count down)."),
       ("sentinels_sorted", ("    sentinel_ids = sorted(sentinel_ids)\n    hidden = ",), "You sort the sentinels. Take them in the order of the list: span k gets `sentinel_ids[k]`."),
       ("sentinels_from_the_second", ("    sentinel_ids = sentinel_ids[1:]\n    hidden = ",), "Your sentinels begin with the second of the list. Counting begins with 0: the first span gets `sentinel_ids[0]`."),
       ("seeded", ("    generator = torch.Generator().manual_seed(0)\n    hidden = ",), SEEDED, ("all ways", "generator")),
       ("starts_again", ("    generator = torch.Generator().manual_seed(generator.initial_seed())\n    hidden = ",), AGAIN, ("all ways", "generator")))
    at(TARGET, ("rebuilds", "sentinels"),
       ("sentinel_behind_the_span", "targets += [*tokens[start + gap : start + gap + span], sentinel]", "In your targets each sentinel is after its span. It comes before: it says which span follows."),
       ("spans_without_sentinels_in_targets", "targets += tokens[start + gap : start + gap + span]", "Your targets hold the hidden tokens without the sentinels between them: nobody knows where one span ends."))
    at("torch.tensor([*targets, " + LAST, ("rebuilds", "sentinels"), ("targets_are_the_text", "torch.tensor([*tokens, eos_id])", "Your targets are the whole text. T5 writes only what is missing, which is much shorter: sentinels and spans."))
    at(INPUT, ("rebuilds", "amounts", "all ways"),
       ("text_kept_in_inputs", "inputs += [*tokens[start : start + gap], sentinel, *tokens[start + gap : start + gap + span]]", "Your inputs still hold the hidden tokens. A sentinel is *in the place of* its span, not beside it."),
       ("span_deleted", "inputs += tokens[start : start + gap]", "Your spans are deleted without a sentinel in their place: the inputs do not say where something is missing.", ("rebuilds", "sentinels", "amounts")))
    at(COUNT, ("amounts", "all ways"), ("one_sentinel_a_token", "count = hidden", "Each hidden token gets a sentinel of its own in yours. One sentinel stands for a whole span."))
    at("[*inputs, *tokens[start:], eos_id]", ("rebuilds", "amounts", "all ways"), ("rest_missing", "[*inputs, eos_id]", "What is after the last span is missing in your inputs."))
    at("torch.tensor([*inputs, *tokens[start:], eos_id])", "rebuilds", ("equal_neighbors_thinned", "torch.unique_consecutive(torch.tensor([*inputs, *tokens[start:], eos_id]))", "Of equal tokens side by side only one is left in yours. (Do you shrink each span to its sentinel with `unique_consecutive`, or by leaving out what equals the token before it? That shrinks equal tokens of the text, too.) Every token of the text is needed, in the inputs or in the targets."))
    at((INPUT, TARGET), ("rebuilds", "amounts", "all ways"), ("gap_and_span_exchanged", ("inputs += [*tokens[start + gap : start + gap + span], sentinel]", "targets += [sentinel, *tokens[start : start + gap]]"), "Your inputs hold the hidden stretches, your targets the kept ones: exchanged."))
    at("start += gap + span", ("rebuilds", "amounts", "all ways"), ("start_not_moved_past_the_gap", "start += span", "After each span you go on too early, so tokens come twice. Move the position on by the span *and* by the kept stretch before it."))
    at("start + gap + span]]", "rebuilds",
       ("spans_one_too_long", "start + gap + span + 1]]", "Your targets hold one token too many for each span: the first that is kept after it."),
       ("spans_one_too_short", "start + gap + span - 1]]", "Your targets lack the last token of each span: it is in neither sequence."))
    at("tokens[start + gap : start + gap + span]]", "rebuilds", ("span_read_from_the_gap", "tokens[start : start + span]]", "Your spans in the targets are read from where the kept stretch before them begins: kept tokens stand there in the place of hidden ones. Move on by the kept stretch first."))
    at("round(len(ids) * rate)", "amounts",
       ("rounded_down", "int(len(ids) * rate)", "You round T·rate down; it is rounded to the nearest whole number (3.9 tokens are 4)."),
       ("rounded_up", "math.ceil(len(ids) * rate)", "You round T·rate up; it is rounded to the nearest whole number (3.15 tokens are 3)."))
    at("round(len(ids) * rate)", "amounts", ("halves_hidden", "int(len(ids) * rate + 0.5)", "You round halves of T·rate up: 2.5 becomes 3. Python's `round` takes the even neighbor, 2."))
    at("round(hidden / mean_span)", "amounts", ("halves_of_spans", "int(hidden / mean_span + 0.5)", "You round halves of N / mean_span up: 2.5 becomes 3. Python's `round` takes the even neighbor, 2."))
    at(("min(max(round(len(ids) * rate), 1), len(ids) - 1)", "round(hidden / mean_span)"), "amounts", ("halves_and_all_hidden", ("max(int(len(ids) * rate + 0.5), 1)", "int(hidden / mean_span + 0.5)"), "Two mistakes at once. You round halves up: 2.5 becomes 3, but Python's `round` takes the even neighbor, 2. And yours may hide the whole text: at least one token is kept."))
    at(("round(len(ids) * rate)", "round(hidden / mean_span)"), "amounts", ("halves", ("int(len(ids) * rate + 0.5)", "int(hidden / mean_span + 0.5)"), "You round halves up: 2.5 becomes 3. Python's `round` takes the even neighbor, 2."))
    at("round(hidden / mean_span)", ("amounts", "all ways"),
       ("spans_rounded_down", "int(hidden / mean_span)", "You round N / mean_span down; it is rounded to the nearest whole number."),
       ("spans_rounded_up", "math.ceil(hidden / mean_span)", "You round N / mean_span up; it is rounded to the nearest whole number.", "amounts"),
       ("spans_of_the_text", "round(len(ids) / mean_span)", "You divide the length of the text by mean_span. K counts spans of *hidden* tokens: N / mean_span."))
    at("hidden / mean_span", ("amounts", "all ways"), ("always_three", "hidden / 3", "Your spans have three tokens on average whatever `mean_span` says. 3 is T5's choice; here it is a parameter."))
    at("len(ids) * rate", ("amounts", "all ways"), ("rate_fixed", "len(ids) * 0.15", "You hide 15% whatever `rate` says. 0.15 is T5's choice; here it is a parameter."))
    at("max(round(len(ids) * rate), 1)", "amounts", ("none_hidden", "round(len(ids) * rate)", "In a text so short that T·rate rounds to 0 nothing is left to hide, and yours stops. At least one token is hidden."))
    at("min(max(round(len(ids) * rate), 1), len(ids) - 1)", "amounts", ("all_hidden", "max(round(len(ids) * rate), 1)", "Yours may hide the whole text. At least one token is kept."))
    at("max(round(hidden / mean_span), 1)", ("sentinels", "amounts"), ("no_span", "round(hidden / mean_span)", "Where N / mean_span rounds to 0 yours has no span at all. There is at least one."))
    at(", hidden, len(ids) - hidden + 1)", "amounts", ("no_room", ", hidden)", "You ask for more spans than find room: between two of them a token is kept, so there can be T − N + 1 at most."))
    at(", hidden, len(ids) - hidden + 1)", "amounts", ("room_for_one_less", ", hidden, len(ids) - hidden)", "You leave room for one span less than fits. K can be T − N + 1: the text can begin and end with a span."))
    at((", hidden, len(ids) - hidden + 1)", LESS), "amounts", ("no_room_and_stops", (", hidden)", LESS + "\n    gaps[count]"), "Where K spans leave next to no room, yours stops. There can be up to T − N + 1 of them, and no more: a token is kept between two spans, and none need be before the first one or behind the last."))
    at((GAPS, LESS), ("amounts", "all ways"),
       ("adjacent", ("gaps = random_parts(len(ids) - hidden + count + 1, count + 1, generator)", "gaps = [gap - 1 for gap in gaps]"), "Your spans can lie side by side: between them nothing is kept, so they are one span with two sentinels. At least one token stays between two spans."),
       ("never_at_an_end", ("gaps = random_parts(max(len(ids) - hidden, count + 1), count + 1, generator)", "gaps = list(gaps)"), "You hide the first and the last token only where there is no other way. The outer two stretches may be empty: every position can be hidden, and all ways are equally likely."),
       ("as_in_t5", ("gaps = [*random_parts(len(ids) - hidden, min(count, len(ids) - hidden), generator), 0][: count + 1]", "gaps = [*gaps, 0]"), "Yours always begins with a kept token and ends with a hidden one, as T5's own code does. Here all ways must be equally likely: the outer stretches may be empty or not."),
       ("never_at_the_start", ("gaps = random_parts(max(len(ids) - hidden + 1, count + 1), count + 1, generator)", "gaps[-1] -= 1"), "You hide the first token only where there is no other way. The text may begin with a span, and all ways are equally likely."),
       ("never_at_the_end", ("gaps = random_parts(max(len(ids) - hidden + 1, count + 1), count + 1, generator)", "gaps[0] -= 1"), "You hide the last token only where there is no other way. The text may end with a span, and all ways are equally likely.", "all ways"))
    at("round(hidden / mean_span)", "amounts", ("spans_of_the_product", "round(len(ids) * rate / mean_span)", "You divide T·rate by `mean_span` before it is rounded. N is a whole number first: K = round(N / mean_span)."))
    at((COUNT, GAPS, LESS), ("amounts", "all ways"),
       ("never_at_an_end_nor_so_many", ("count = max(1, min(round(hidden / mean_span), hidden, len(ids) - hidden - 1))", "gaps = random_parts(len(ids) - hidden, count + 1, generator)", "gaps = list(gaps)"), "You keep the first and the last token wherever you can, which leaves room for fewer spans, too. The outer two stretches may be empty: every position can be hidden."),
       ("never_at_the_start_nor_so_many", ("count = max(1, min(round(hidden / mean_span), hidden, len(ids) - hidden))", "gaps = random_parts(len(ids) - hidden + 1, count + 1, generator)", "gaps[-1] -= 1"), "You keep the first token, which leaves room for fewer spans, too. The text may begin with a span."),
       ("never_at_the_end_nor_so_many", ("count = max(1, min(round(hidden / mean_span), hidden, len(ids) - hidden))", "gaps = random_parts(len(ids) - hidden + 1, count + 1, generator)", "gaps[0] -= 1"), "You keep the last token, which leaves room for fewer spans, too. The text may end with a span."))
    at(SPANS, "all ways",
       ("equal_spans", "spans = [hidden // count + (k < hidden % count) for k in range(count)]", "Of three tokens in two spans, your first span always has two and the second one. (Are spans sorted, or all equally long but for a rest?) All ways to cut N tokens into K spans must be equally likely."),
       ("sorted_spans", "spans = sorted(random_parts(hidden, count, generator))", "Of three tokens in two spans, your first span always has one and the second two. (Are spans sorted by length?) All ways to cut N tokens into K spans must be equally likely."),
       ("spans_dealt_out", "spans = [1] * count\n    for _ in range(hidden - count):\n        spans[draw_below(count, generator)] += 1", "Your spans are too much alike in length. (Do you deal the hidden tokens out one at a time?) All ways to cut N tokens into K spans must be equally likely: `random_parts` cuts so."),
       ("spans_one_by_one", "spans = []\n    for left in range(count - 1, 0, -1):\n        spans.append(1 + draw_below(hidden - sum(spans) - left, generator))\n    spans.append(hidden - sum(spans))", "Your spans are too different in length. (Do you draw one after the other, each evenly from what is left?) All ways to cut N tokens into K spans must be equally likely: `random_parts` cuts so."),
       ("own_generator", "spans = random_parts(hidden, count, torch.default_generator)", "Not all draws come from the given generator: the same state gives other spans each time. Hand it on wherever you draw.", "generator"))
    at((GAPS, LESS), "all ways",
       ("places_drawn_one_by_one", ("edges = [0, *sorted(draw_below(len(ids) - hidden - count + 2, generator) for _ in range(count)), len(ids) - hidden - count + 1]\n    gaps = [end - start + 1 for start, end in zip(edges, edges[1:])]", LESS), "Kept stretches of some lengths come too often in yours. (Do you draw a place for each span for itself, and sort them? Then two spans are too rarely as near as can be.) All ways to place the spans must be equally likely: `random_parts` cuts so."),
       ("gaps_dealt_out", ("gaps = [1] * (count + 1)\n    for _ in range(len(ids) - hidden + 1 - count):\n        gaps[draw_below(count + 1, generator)] += 1", LESS), "Your kept stretches are too much alike in length. (Do you deal the kept tokens out one at a time?) All ways to place the spans must be equally likely: `random_parts` cuts so."),
       ("gaps_one_by_one", ("gaps = []\n    for left in range(count, 0, -1):\n        gaps.append(1 + draw_below(len(ids) - hidden + 2 - sum(gaps) - left, generator))\n    gaps.append(len(ids) - hidden + 2 - sum(gaps))", LESS), "Your kept stretches are too different in length. (Do you draw one after the other, or the outer two first, each evenly from what is left?) All ways to place the spans must be equally likely: `random_parts` cuts so."))
    at((SPANS, GAPS, LESS), "all ways", ("all_dealt_out", ("spans = [1] * count\n    for _ in range(hidden - count):\n        spans[draw_below(count, generator)] += 1", "gaps = [1] * (count + 1)\n    for _ in range(len(ids) - hidden + 1 - count):\n        gaps[draw_below(count + 1, generator)] += 1", LESS), "Your spans are too much alike in length, and so are the kept stretches. (Do you deal the tokens out one at a time?) All ways to hide N tokens in K spans must be equally likely: `random_parts` cuts so."))
    at(LESS, "all ways", ("equal_gaps", "free = len(ids) - hidden\n    gaps = [free // (count + 1) + (k < free % (count + 1)) for k in range(count + 1)] if free > count else [gaps[0] - 1, *gaps[1:-1], gaps[-1] - 1]", "You spread your spans evenly over the text. All ways to place them must be equally likely."))
    at("return torch.tensor([*inputs, *tokens[start:], eos_id]), torch.tensor([*targets, sentinel_ids[count], eos_id])", ("rebuilds", "sentinels", "amounts", "all ways"), ("swapped", "return torch.tensor([*targets, sentinel_ids[count], eos_id]), torch.tensor([*inputs, *tokens[start:], eos_id])", "You return (targets, inputs); asked is (inputs, targets)."))
    at("torch.tensor([*inputs, *tokens[start:], eos_id]), torch.tensor([*targets, sentinel_ids[count], eos_id])", ("rebuilds", "sentinels", "amounts", "all ways"), ("lists", "[*inputs, *tokens[start:], eos_id], [*targets, sentinel_ids[count], eos_id]", "You return other things than tensors, such as lists. The exercise asks for two tensors of whole numbers: `torch.tensor` makes one of a list."))
    at("    tokens, inputs", "rebuilds", ("in_place", "    kept = ids.tolist()\n    ids[0] = eos_id\n    ids = torch.tensor(kept)\n    tokens, inputs", "You change `ids` in place, and whoever called you still needs the text."))


@MISTAKES.of(right.bart_noise)
def in_bart_noise(at):
    MASKED = "[token if torch.rand((), generator=generator) >= 0.3 else \"[MASK]\" for token in tokens]"
    DELETED = "[token for token in tokens if torch.rand((), generator=generator) >= 0.3]"
    POISSON = "int(torch.poisson(torch.tensor(3.0), generator=generator))"
    KEPT = "            noisy += tokens[place : place + 1]\n            place += 1\n"
    ORDER = "order = torch.randperm(len(sentences), generator=generator).tolist()"
    ROTATED = "return tokens[start:] + tokens[:start]"
    at(MASKED, "mask",
       ("masks_most", MASKED.replace(">=", "<"), "70% of your tokens become [MASK]; 30% are to. (Do you keep tokens where the draw is *below* 0.3?)"),
       ("masks_as_bert", MASKED.replace("0.3", "0.15"), "You mask 15% of the tokens, as BERT does. Here it is 30%."),
       ("masks_by_deleting", DELETED, "With \"mask\" your text gets shorter or longer. Every token stays, or becomes [MASK] in its place."),
       ("masks_another_word", MASKED.replace("[MASK]", "<mask>"), "With \"mask\" some tokens become something else than \"[MASK]\": that is how the mark is spelled."))
    at("        return " + MASKED, "mask",
       ("masks_all_or_none", "        coin = torch.rand((), generator=generator)\n        return [token if coin >= 0.3 else \"[MASK]\" for token in tokens]", "You draw once for the whole text: all tokens become [MASK], or none. Every token draws for itself."),
       ("masks_exactly", "        places = set(torch.randperm(len(tokens), generator=generator)[: round(0.3 * len(tokens))].tolist())\n        return [\"[MASK]\" if place in places else token for place, token in enumerate(tokens)]", "You mask an exact share of the tokens. Every token draws for itself: a text of one token, too, is masked with probability 0.3."),
       ("masks_by_text", "        noisy = list(tokens)\n        for token in tokens:\n            if torch.rand((), generator=generator) < 0.3:\n                noisy[tokens.index(token)] = \"[MASK]\"\n        return noisy", "Where a token comes twice, yours masks the first of the two whichever the draw fell on: `index` looks for the text. Count positions, or build a new list."),
       ("masks_in_place", "        tokens[:] = " + MASKED + "\n        return tokens", "You write [MASK] into `tokens` itself, and whoever called you still needs the text. Change a copy, `list(tokens)`, or build a new list."),
       ("a_text_not_a_list", "        return \" \".join(" + MASKED + ")", "You return one string. A list of tokens is needed."))
    at(DELETED, "delete",
       ("deletes_most", DELETED.replace(">=", "<"), "70% of your tokens are left out; 30% are to be. (Do you keep tokens where the draw is *below* 0.3?)"),
       ("deletes_as_bert", DELETED.replace("0.3", "0.15"), "You leave out 15% of the tokens. Here it is 30%."),
       ("deletes_by_masking", MASKED, "With \"delete\" you put a [MASK] where a token was. It is left out without a trace: the model has to find the position, too."))
    GONE = "        gone = {token for token in tokens if torch.rand((), generator=generator) < 0.3}\n"
    EQUAL = "Equal tokens share one fate in yours. (Do you note by its text what {}?) Every token draws for itself, also where another one reads the same: count positions, or draw while you build the new list."
    at("        return " + MASKED, "mask", ("masks_equal_tokens_together", GONE + "        return [\"[MASK]\" if token in gone else token for token in tokens]", EQUAL.format("becomes [MASK]")))
    at("        return " + DELETED, "delete", ("deletes_equal_tokens_together", GONE + "        return [token for token in tokens if token not in gone]", EQUAL.format("is left out")))
    for number, share, several in ((4, "40%", " (`draw_below(10, …) <= 3` holds for four numbers of ten: 0, 1, 2 and 3.)"), (2, "20%", "")):
        more = MASKED.replace("0.3", f"0.{number}"), DELETED.replace("0.3", f"0.{number}")
        at(MASKED, "mask", (f"masks_{number}_in_10", more[0], f"With \"mask\" about {share} of your tokens become [MASK]; 30% are to.{several}"))
        at(DELETED, "delete", (f"deletes_{number}_in_10", more[1], f"With \"delete\" about {share} of your tokens are left out; 30% are to be.{several}"))
        at((MASKED, DELETED), ("mask", "delete"), (f"masks_and_deletes_{number}_in_10", more, f"With \"mask\" and \"delete\" about {share} of your tokens are hit; 30% are to be.{several}"))
    at("        return " + DELETED, "delete",
       ("deletes_exactly", "        places = set(torch.randperm(len(tokens), generator=generator)[: round(0.3 * len(tokens))].tolist())\n        return [token for place, token in enumerate(tokens) if place not in places]", "You leave out an exact share of the tokens. Every token draws for itself: a text of one token, too, is left out with probability 0.3."),
       ("deletes_all_or_none", "        coin = torch.rand((), generator=generator)\n        return [token for token in tokens if coin >= 0.3]", "You draw once for the whole text: all tokens go, or none. Every token draws for itself."),
       ("deletes_in_a_loop", "        left = list(tokens)\n        for token in left:\n            if torch.rand((), generator=generator) < 0.3:\n                left.remove(token)\n        return left", "Where a token is left out, the one after it does not draw. (Do you take tokens out of the list that you are going through?) Build a new list."),
       ("deletes_by_text", "        left = list(tokens)\n        for token in tokens:\n            if torch.rand((), generator=generator) < 0.3:\n                left.remove(token)\n        return left", "Where a token comes twice, yours leaves out the first of the two whichever the draw fell on: `remove` and `index` look for the text. Build a new list."),
       ("deletes_in_place", "        tokens[:] = " + DELETED + "\n        return tokens", "You take tokens out of `tokens` itself, and whoever called you still needs the text. Build a new list."))
    at(POISSON, "infill",
       ("infills_one_token", "1", "Each [MASK] of yours stands for exactly one token: that is masking. A span is as long as a draw from Poisson(3) says."),
       ("infills_always_three", "3", "All your spans have three tokens. Three is the mean: draw each length from Poisson(3)."),
       ("infills_never_none", "max(1, " + POISSON + ")", "Your spans never have length 0. Where Poisson gives 0 (one time in 20), a [MASK] is put in and no token goes: the model has to notice that nothing is missing."),
       ("infills_one_more", "1 + " + POISSON, "Your spans are one token longer than drawn. Poisson says how many go, and 0 is possible."),
       ("infills_cut_off", "min(" + POISSON + ", 6)", "As many of your spans are empty as should be, and their mean is about 3, but their lengths are not Poisson's. (Do you cut long ones off? Only the text's end does.)"),
       ("infills_never_the_last", "min(" + POISSON + ", len(tokens) - place - 1)", "Your spans end before the last token, which always stays. A span may reach the end of the text, also of a text of one token."),
       ("infills_uniform", "draw_below(7, generator)", "Your lengths have the right mean, but about 14% of them are 0. (Do you draw evenly from 0 to 6?) They must be draws from Poisson(3), of which 5% are 0."),
       ("own_generator", "int(torch.poisson(torch.tensor(3.0)))", "Not all draws come from the given generator: for some kinds of noise, or for all, the same state gives another text each time. Hand it on wherever you draw.", "generator"))
    at("while place < len(tokens):", "infill", ("infills_after_the_end", "while place <= len(tokens):", "Your loop makes one more round when no token is left, and at times puts a [MASK] there, after the text. A span begins before a token: `place < len(tokens)`."))
    at("torch.tensor(3.0)", "infill", ("infills_poisson_1", "torch.tensor(1.0)", "Your lengths have the mean 1. It is 3."))
    at(("noisy, place = [], 0", POISSON), "infill", ("infills_one_length", ("noisy, place, length = [], 0, " + POISSON, "length"), "You draw one length and use it for all spans. Draw one for each."))
    at(("noisy.append(\"[MASK]\")", "place += " + POISSON), "infill", ("infills_a_mask_each", ("length = " + POISSON, "noisy += [\"[MASK]\"] * length\n                place += length"), "Each token of a span becomes a [MASK] of its own. One [MASK] stands for the whole span: how much is missing is part of the question."))
    at("                noisy.append(\"[MASK]\")\n", "infill", ("infills_without_mask", "", "Your spans go without a [MASK] in their place. Each has one."))
    at("place += " + POISSON, "infill", ("infills_and_keeps", POISSON, "Your [MASK] is put in, but no token goes. Move the position on by the drawn length."))
    at("< 1 / 7", "infill", ("infills_three_in_ten", "< 0.3", "A span begins before 30% of the tokens in yours. With mean 3 that would hide nearly half of the text: the probability is 1/7."))
    at(KEPT, "infill", ("infills_side_by_side", "                continue\n" + KEPT, "After a span yours may begin the next one at once, so two [MASK] are side by side. The token after a span stays."))
    at("            if torch.rand((), generator=generator) < 1 / 7:\n                noisy.append(\"[MASK]\")\n                place += " + POISSON + "\n" + KEPT, "infill", ("infills_behind_the_token", KEPT + "            if torch.rand((), generator=generator) < 1 / 7:\n                noisy.append(\"[MASK]\")\n                place += " + POISSON + "\n", "A [MASK] can come after the last token in yours, where nothing is left to hide. (Do you write a token first, and draw after it? Then the first one is never hidden.) The draw comes before each token."))
    at(("place += " + POISSON, KEPT), "infill", ("infills_take_the_next_too", ("place += 1 + " + POISSON + "\n                continue", KEPT), "Your spans take one token more than drawn: the one after a span. It stays; only then may the next span begin."))
    at("noisy += tokens[place : place + 1]", ("infill", "generator"), ("infills_past_the_end", "noisy.append(tokens[place])", "Where a span reaches the end of the text, no token is left to stay, and yours stops. Look first whether there is one."))
    at("sentences = [sentence for sentence in sentences if sentence]", "permute",
       ("permutes_tokens", "sentences = [[token] for token in tokens]", "Your sentences are torn apart. (Do you shuffle the tokens?) It is sentences that change places; within them the order stays."),
       ("permutes_each_text_once", "sentences = [list(sentence) for sentence in dict.fromkeys(map(tuple, sentences)) if sentence]", "Of sentences that are the same yours writes only one (is it a set, or the keys of a dictionary?). All come, equal ones, too."),
       ("permutes_at_every_period", "sentences = [one.split() for one in \" \".join(tokens).replace(\".\", \".\\n\").split(\"\\n\") if one.strip()]", "You cut the text at every period, also inside of a token: \"...\" is taken apart. Only the token \".\" ends a sentence. Look for it in the list of tokens, not in one joined string."),
       ("permutes_without_bare_stops", "sentences = [sentence for sentence in sentences if sentence not in ([], [\".\"])]", "A full stop with nothing before it is lost in yours. It ends a sentence that has no other token, and all tokens come."))
    at(ORDER, "permute",
       ("permutes_within", "order = list(range(len(sentences)))\n        sentences = [[one[place] for place in torch.randperm(len(one), generator=generator).tolist()] for one in sentences]", "The order of the tokens changes inside of your sentences. Sentences change places, but each stays as it is."),
       ("permutes_not_the_rest", "last = sentences[-1][-1] != \".\"\n        order = torch.randperm(len(sentences) - last, generator=generator).tolist() + [len(sentences) - 1] * last", "What is after the last full stop always stays at the end. It is a sentence like the others, and changes places, too."),
       ("permutes_by_rotating", "first = draw_below(len(sentences), generator)\n        order = [(first + number) % len(sentences) for number in range(len(sentences))]", "You rotate the sentences: their order is begun elsewhere. All orders must be equally likely."),
       ("permutes_by_reversing", "order = list(range(len(sentences)))[::-1]", "You reverse the sentences. Their order must be random, all orders equally likely.", ("permute", "generator")),
       ("permutes_by_equal_keys", "keys = [draw_below(len(sentences), generator) for _ in sentences]\n        order = sorted(range(len(sentences)), key=keys.__getitem__)", "The old order comes too often. Sorting by drawn numbers does that where they can be equal, because equal ones keep their order. `torch.randperm` makes all orders equally likely."),
       *((f"permutes_by_exchanging_{way}", f"order = list(range(len(sentences)))\n        for one in {ones}:\n            two = draw_below(len(order), generator)\n            order[one], order[two] = order[two], order[one]", "Not all orders of many sentences are equally likely in yours. (Do you exchange each sentence with any of them? Exchange it with one that has not had its turn yet, itself included.) `torch.randperm` makes all orders equally likely.")
         for way, ones in (("upwards", "range(len(order))"), ("downwards", "reversed(range(len(order)))"))),
       ("permutes_all_away", "order = list(range(len(sentences)))\n        for one in range(len(order) - 1, 0, -1):\n            two = draw_below(one, generator)\n            order[one], order[two] = order[two], order[one]", "Of three sentences none keeps its place in yours. (Do you exchange each one with one before it, and never with itself? `draw_below(n, …)` leaves n out.) All orders must be equally likely, the old one, too."),
       ("permutes_never_as_before", ORDER + "\n        while len(order) > 1 and order == sorted(order):\n            " + ORDER, "The old order never comes in yours. All orders must be equally likely, the old one, too."),
       ("permutes_never_the_same_text", ORDER + "\n        while any(one != sentences[0] for one in sentences) and [sentences[number] for number in order] == sentences:\n            " + ORDER, "The text never stays as it is in yours. All orders must be equally likely, the old one, too."),
       ("permutes_two", "order = list(range(len(sentences)))\n        one, two = draw_below(len(order), generator), draw_below(len(order), generator)\n        order[one], order[two] = order[two], order[one]", "Not all orders are equally likely in yours. (Do you exchange two sentences, and leave all others?) `torch.randperm` makes all orders equally likely."))
    at("for token in sentences[number]]", "permute", ("permutes_without_stops", "for token in sentences[number] if token != \".\"]", "The full stops are lost. Each stays at the end of its sentence."))
    at("if token == \".\"]", "permute",
       ("permutes_at_other_marks", "if token in (\".\", \"!\", \"?\")]", "You end sentences at \"!\" or \"?\", too. Only the token \".\" ends one."),
       ("permutes_at_any_period", "if token.endswith(\".\")]", "You end sentences at every token that ends with a period, also at \"etc.\". Only the token \".\" ends one."))
    at("zip([0, *ends], [*ends, len(tokens)], strict=True)", "permute",
       ("permutes_the_rest_with_the_last", "zip([0, *ends], [*ends[:-1], len(tokens)])", "What is after the last full stop stays behind the sentence before it in yours. It is a sentence of its own, and changes places, too."),
       ("permutes_without_the_rest", "zip([0, *ends], ends)", "What is after the last full stop is lost. It is a sentence, too."))
    at("ends = [place + 1 for", "permute", ("permutes_stop_at_the_start", "ends = [place for", "You cut before the full stop, so that it begins the next sentence. It ends its own."))
    at("for number in order", ("permute", "generator"), ("permutes_nothing", "for number in range(len(order))", "Your sentences stay in their order: is the shuffled order used?"))
    at("draw_below(len(tokens), generator)", "rotate",
       ("rotates_from_the_second", "min(1 + draw_below(max(len(tokens) - 1, 1), generator), len(tokens) - 1)", "Yours never begins with the first token. Every token is equally likely, the first one, too: then the text stays as it is."),
       ("rotates_from_the_second_and_stops", "1 + draw_below(len(tokens) - 1, generator)", "Yours never begins with the first token, and stops where there is only one. Every token is equally likely, the first one, too: then the text stays as it is."),
       ("rotates_not_to_the_last", "draw_below(max(len(tokens) - 1, 1), generator)", "Yours never begins with the last token. `draw_below(n, …)` leaves n out already."),
       ("rotates_not_to_the_last_and_stops", "draw_below(len(tokens) - 1, generator)", "Yours never begins with the last token, and stops where there is only one. `draw_below(n, …)` leaves n out already."),
       ("rotates_one_too_far", "draw_below(len(tokens) + 1, generator)", "The text stays as it is too often: there is one position more in your draw than there are tokens, and after the last one it begins with the first again. `draw_below(n, …)` leaves n out."),
       ("rotates_by_text", "tokens.index(tokens[draw_below(len(tokens), generator)])", "Where a token comes twice, yours always begins with the first of the two: `index` looks for the text. Draw a position."),
       ("rotates_by_one", "1", "You always rotate by one. A token is drawn, all equally likely, and the text begins with it.", ("rotate", "generator")))
    at(ROTATED, "rotate",
       ("rotates_and_loses", "return tokens[start:]", "What was before the token is lost. It comes at the end."),
       ("rotates_and_turns", "return tokens[:start] + tokens[start:]", "The text stays as it was. It must begin with the drawn token, and what was before it comes after it: `tokens[start:] + tokens[:start]`, not the other way round.", ("rotate", "generator")),
       ("rotates_by_reversing", "return tokens[start:] + tokens[:start][::-1]", "What was before the token comes at the end in another order, such as backwards. Its order stays."),
       ("rotates_by_shuffling", "return [tokens[place] for place in torch.randperm(len(tokens), generator=generator).tolist()]", "Your tokens do not keep their order. (Do you shuffle them?) Rotating keeps it: the text only begins elsewhere."),
       ("rotates_in_place", "tokens[:] = tokens[start:] + tokens[:start]\n    return tokens", "You rotate `tokens` itself, and whoever called you still needs the text. Build a new list."))
    at("        return " + DELETED, "delete", ("deletes_never_all", "        return " + DELETED + " or tokens[:1]", "A text of one token is never left out in yours. Every token draws for itself: it goes with probability 0.3, and the text is empty then."))
    at("                noisy.append(\"[MASK]\")\n                place += " + POISSON, "infill", ("infills_only_what_fits", "                length = " + POISSON + "\n                if place + length <= len(tokens):\n                    noisy.append(\"[MASK]\")\n                    place += length", "A span for which too few tokens are left does not begin in yours. It begins, and takes what is left."))
    at("    if kind == \"mask\":", ("mask", "delete", "infill", "permute", "rotate", "generator"),
       ("seeded", "    generator = torch.Generator().manual_seed(0)\n    if kind == \"mask\":", SEEDED),
       ("starts_again", "    generator = torch.Generator().manual_seed(generator.initial_seed())\n    if kind == \"mask\":", AGAIN))


@MISTAKES.of(right.replaced_token_labels)
def in_replaced_token_labels(at):
    at("corrupted != original", "values",
       ("turned", "corrupted == original", "Your labels are turned round: 1 says that the token was replaced."),
       ("only_larger", "corrupted > original", "You see a replacement only where the new id is larger. Any other id is one: `!=`."),
       ("only_smaller", "corrupted < original", "You see a replacement only where the new id is smaller. Any other id is one: `!=`."),
       ("ends_are_0", "(corrupted != original) & (torch.arange(original.size(-1)) % max(original.size(-1) - 1, 1) > 0)", "The first and the last token always get 0 in yours. Any token may have been replaced, and gets 1 then."))
    at("(corrupted != original)", "values",
       ("differences", "(corrupted - original)", "You subtract ids. How far two ids lie apart says nothing; the label is 1 wherever they differ."),
       ("absolute_differences", "(corrupted - original).abs()", "You return how far the ids lie apart. Ids are names, not sizes; the label is 1 wherever they differ."),
       ("signs", "(corrupted - original).sign()", "Your labels are −1, 0 and 1: the sign of the difference. They are 1 wherever the ids differ, else 0."),
       ("original_ids", "original * (corrupted != original)", "You return the original ids where a token was replaced: the answer of a masked language model. ELECTRA only says whether."),
       ("original_ids_or_ignored", "original.where(corrupted != original, IGNORED)", "You return the original ids where a token was replaced and −100 elsewhere: the labels of a masked language model. ELECTRA's are 1 and 0."),
       ("corrupted_ids", "corrupted * (corrupted != original)", "You return the new ids where a token was replaced. The exercise asks only whether: 1 or 0."),
       ("token_0_counts_as_none", "((corrupted != original) & (corrupted != 0))", "A token that becomes token 0 counts as not replaced in yours. Token 0 is a token like the others."),
       ("not_from_token_0", "((corrupted != original) & (original != 0))", "A token 0 that is replaced is missed by yours. Token 0 is a token like the others."),
       ("any_nonzero", "(corrupted != 0)", "You label every token that is not 0 in the corrupted text. The label is 1 where it differs from the original."),
       ("all_ones", "torch.ones_like(original)", "All your labels are 1."),
       ("all_zeros", "torch.zeros_like(original)", "All your labels are 0. They are 1 wherever the two texts differ. (Do you look for [MASK]? The gaps have been filled: none is left.)"),
       ("ratio", "(corrupted / original != 1)", "Where both tokens are 0, your label is 1. (Do you divide one by the other? 0 / 0 is NaN, which is not equal to 1.) Compare the two tokens themselves: `!=`."),
       ("nearly_equal", "(~torch.isclose(corrupted.float(), original.float(), rtol=1e-3))", "Ids that are nearly equal count as the same in yours. Ids are names, not measured numbers: 29,000 and 29,001 are two tokens."),
       ("xor", "torch.logical_xor(corrupted, original)", "`logical_xor` asks whether one of the two is 0 and the other is not. All other ids are alike to it; the label is 1 wherever they differ."),
       ("anywhere_in_the_text", "(corrupted[:, :, None] != original[:, None, :]).all(dim=-1)", "You ask whether the new token occurs anywhere in the original text. It is compared with the one in its own position."))
    at(".float()", ("shape", "values"),
       ("one_label_for_all", ".any().float()", "You return one label for the whole batch. Every token has its own: (B, T)."),
       ("one_label_a_text", ".any(dim=1).float()", "You return one label for each text. Every token has its own: (B, T)."),
       ("share_of_a_text", ".float().mean(dim=1)", "You return which share of each text was replaced. Every token has a label of its own: (B, T)."),
       ("ignored_elsewhere", ".float().masked_fill(corrupted == original, IGNORED)", "Where nothing was replaced your label is −100, as in masked language modeling. ELECTRA labels every token: there it is 0.", "values"),
       ("places", ".nonzero()", "You return where tokens were replaced, as a list of positions. The exercise asks for a label for every token: (B, T)."),
       ("flat", ".float().flatten()", "Your labels are in one row. They have the shape of the ids, (B, T)."))
    squeezed(at, ("shape", "values"), "has the shape of `ids`")


@MISTAKES.of(right.distillation_loss)
def in_distillation_loss(at):
    SOFT = "student_logits / temperature, dim=-1)"
    TEACHER = "teacher_logits.detach() / temperature, dim=-1)"
    KL = "F.kl_div(soft, target, reduction=\"batchmean\", log_target=True)"
    SUM = "return alpha * temperature**2 * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels)"
    at("alpha * temperature**2 * divergence", ("values", "gradients", "one term alone"),
       ("no_square", "alpha * divergence", "τ² is missing before the KL. Softer targets make its gradients smaller, about 1/τ²; without the factor the teacher's share fades as τ grows."),
       ("divided_by_the_square", "alpha / temperature**2 * divergence", "You divide the KL by τ². Its gradients shrink with 1/τ² already; multiply."),
       ("kl_without_alpha", "temperature**2 * divergence", "Your KL has no weight. It is α."))
    at("temperature**2", ("values", "gradients", "one term alone"), ("t_not_squared", "temperature", "You multiply the KL by τ. It is τ²: the gradients shrink with 1/τ²."))
    at("return alpha * temperature**2 * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels)", ("values", "gradients", "one term alone"), ("square_on_everything", "return temperature**2 * (alpha * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels))", "τ² is before both terms. It belongs to the KL alone: the cross-entropy is taken at temperature 1."))
    at(SUM, ("values", "gradients", "one term alone"), ("alpha_turned", "return (1 - alpha) * temperature**2 * divergence + alpha * F.cross_entropy(student_logits, labels)", "α and 1 − α are exchanged: α belongs to the KL, 1 − α to the labels."))
    at("(1 - alpha) * F", ("values", "gradients", "one term alone"), ("no_one_minus_alpha", "F", "Your cross-entropy has the weight 1. It is 1 − α."))
    at(" + (1 - alpha) * F.cross_entropy(student_logits, labels)", ("values", "gradients", "one term alone"), ("kl_alone", "", "The cross-entropy with the labels is missing: (1 − α) times it is added."))
    at("alpha * temperature**2 * divergence + ", ("values", "gradients", "one term alone"), ("labels_alone", "", "The KL with the teacher is missing: α·τ² times it is added."))
    at("F.kl_div(soft, target,", ("values", "gradients", "one term alone"), ("kl_turned", "F.kl_div(target, soft,", "Your KL is taken the wrong way round, KL(student ‖ teacher). The exercise asks for KL(teacher ‖ student): the teacher's probabilities weigh the logarithms."))
    at(KL, ("values", "gradients", "one term alone"),
       ("soft_cross_entropy", "-(target.exp() * soft).sum(dim=-1).mean()", "Instead of the KL you take the cross-entropy with the teacher's probabilities. The gradients are the same, but it is larger by the teacher's entropy, and not 0 when the student agrees.", ("values", "one term alone")),
       ("squared_error", "(student_logits / temperature - teacher_logits.detach() / temperature).pow(2).sum(dim=-1).mean()", "You take the squared difference of the logits. The exercise asks for the KL of the two softmaxes at temperature τ."),
       ("hard_teacher", "F.nll_loss(soft, target.argmax(dim=-1))", "You take the teacher's best class as a label. Then all that it knows about the other classes is lost: use its probabilities."))
    at("\"batchmean\"", ("values", "gradients", "one term alone"),
       ("mean_over_classes", "\"mean\"", "Your KL is averaged over the classes, too. It is a sum over the classes and a mean over the batch: `reduction=\"batchmean\"`."),
       ("kl_summed", "\"sum\"", "Your KL is summed over the batch. It must be the mean, as the cross-entropy is: `reduction=\"batchmean\"`."))
    at("F.cross_entropy(student_logits, labels)", ("values", "gradients", "one term alone"),
       ("ce_summed", "F.cross_entropy(student_logits, labels, reduction=\"sum\")", "Your cross-entropy is summed over the batch. It must be the mean, as the KL is."),
       ("soft_labels_too", "F.cross_entropy(student_logits / temperature, labels)", "Your cross-entropy with the labels is softened, too. It is taken at temperature 1."),
       ("labels_for_the_teacher", "F.cross_entropy(teacher_logits, labels)", "You take the cross-entropy of the teacher. The student learns from the labels, not the teacher."))
    at(TEACHER, ("values", "gradients", "one term alone"),
       ("teacher_at_one", "teacher_logits.detach(), dim=-1)", "The teacher's softmax is not softened: its logits, too, are divided by τ."),
       ("probabilities_divided", "teacher_logits.detach(), dim=-1) - torch.log(torch.tensor(float(temperature)))", "You divide the probabilities by τ. It is the logits that are divided, before the softmax."))
    at(SOFT, ("values", "gradients", "one term alone"), ("student_at_one", "student_logits, dim=-1)", "In the KL the student's softmax is not softened: its logits, too, are divided by τ."))
    at((SOFT, TEACHER), ("values", "gradients", "one term alone"),
       ("no_temperature", ("student_logits, dim=-1)", "teacher_logits.detach(), dim=-1)"), "In the KL neither softmax is softened: both logits are divided by τ."),
       ("multiplied_by_t", ("student_logits * temperature, dim=-1)", "teacher_logits.detach() * temperature, dim=-1)"), "You multiply the logits by τ: that sharpens. They are divided."))
    at("dim=-1", ("values", "gradients", "one term alone"), ("softmax_over_the_batch", "dim=0", "Your softmax runs over the batch. It should run over the classes, the last axis."), times=2)
    at("soft = F.log_softmax", ("values", "gradients", "one term alone"), ("probabilities_for_logs", "soft = F.softmax", "In your KL the student's probabilities stand where their logarithms are needed: `F.kl_div` takes a `log_softmax`, not a `softmax`."))
    at(", log_target=True", ("values", "gradients", "one term alone"), ("log_target_forgotten", "", "Your target is a logarithm, but `F.kl_div` takes it for probabilities: say `log_target=True`, or give it a softmax."))
    at("target = F.log_softmax", ("values", "gradients", "one term alone"), ("target_taken_for_logs", "target = F.softmax", "Your target is a softmax, but with `log_target=True` `F.kl_div` takes it for logarithms."))
    at("soft = F.log_softmax(student_logits / temperature, dim=-1)", ("values", "gradients"), ("log_of_softmax", "soft = F.softmax(student_logits / temperature, dim=-1).log()", "log(softmax(x)) is −∞ where a probability is too small for float32, and the loss becomes infinite or NaN. `log_softmax` computes it in one step."))
    BOTH_LOGS = """soft = F.log_softmax(student_logits / temperature, dim=-1)  # (B, C)
    target = F.log_softmax(teacher_logits.detach() / temperature, dim=-1)  # (B, C)
    divergence = F.kl_div(soft, target, reduction="batchmean", log_target=True)"""
    for digits in (7, 8, 9, 10, 12):
        for name, kept in ((f"plus_1e_{digits}", f" + 1e-{digits}"), (f"clamped_at_1e_{digits}", f".clamp(min=1e-{digits})")):
            at(BOTH_LOGS, ("values", "gradients"), (name, f"""taught = F.softmax(teacher_logits.detach() / temperature, dim=-1)
    learned = F.softmax(student_logits / temperature, dim=-1)
    divergence = (taught * ((taught{kept}).log() - (learned{kept}).log())).sum(dim=-1).mean()""", "You keep log 0 away by a small number (added inside the log, or as a limit). So no logarithm falls below that of the small number, and where logits lie hundreds apart yours is wrong. Take `log_softmax` of both, and subtract."))
    at("return alpha", ("values", "gradients", "one term alone"), ("sign", "return -alpha", "Your KL enters with a minus sign. A divergence is ≥ 0, and is added."))
    at(".detach()", "gradients",
       ("teacher_learns", "", "Your gradient flows into the teacher, too, and would pull it towards the student. Cut it: `teacher_logits.detach()`."),
       ("teacher_detached_in_place", ".detach_()", "You cut the caller's own tensor off from its gradients: `detach_()` with its underscore does so, and `requires_grad = False`, too. `detach()` gives a new tensor, and leaves the old one as it is."))
    at(("student_logits / temperature", "teacher_logits.detach()"), "gradients", ("student_detached", ("student_logits.detach() / temperature", "teacher_logits.detach()"), "You detach the student, and no gradient of the KL reaches it. It is the teacher that must not learn."))


@MISTAKES.of(right.finetuning_loss)
def in_finetuning_loss(at):
    LOSS = "return task_loss + weight * lm_loss"
    at(LOSS, ("values", "gradients"),
       ("weight_on_the_task", "return lm_loss + weight * task_loss", "Your weight is before the task's loss. λ belongs to language modeling, the helper: L₃ = L₂ + λ·L₁."),
       ("weighted_mean", "return (1 - weight) * task_loss + weight * lm_loss", "You weigh the two with λ and 1 − λ. The task always counts in full: L₃ = L₂ + λ·L₁."),
       ("no_weight", "return task_loss + lm_loss", "The weight is missing: language modeling counts λ times."),
       ("weight_on_both", "return weight * (task_loss + lm_loss)", "Your weight is before both losses. Only that of language modeling is weighed."),
       ("fixed_half", "return task_loss + 0.5 * lm_loss", "You weigh by 0.5 whatever `weight` says. 0.5 is GPT's choice; here it is a parameter."),
       ("multiplied", "return task_loss * weight * lm_loss", "You multiply the losses. They are added: L₃ = L₂ + λ·L₁."),
       ("subtracted", "return task_loss - weight * lm_loss", "You subtract the loss of language modeling: the model would be taught to forget how language goes. Add it."),
       ("task_only", "return task_loss * 1.0", "The loss of language modeling is missing."),
       ("lm_only", "return weight * lm_loss", "The task's loss is missing."),
       ("divided", "return task_loss + lm_loss / weight if weight else task_loss + lm_loss * float(\"inf\")", "You divide by the weight. Language modeling counts λ *times*."),
       ("mean_of_both", "return (task_loss + weight * lm_loss) / 2", "You divide the sum by two. It is a plain sum: L₃ = L₂ + λ·L₁."),
       ("normalized", "return (task_loss + weight * lm_loss) / (1 + weight)", "You divide by 1 + λ. It is a plain sum: L₃ = L₂ + λ·L₁."),
       ("weight_squared", "return task_loss + weight**2 * lm_loss", "Your weight is squared. It should count once."),
       ("weight_added", "return task_loss + weight + lm_loss", "You add the weight. Language modeling is multiplied by it."),
       ("one_plus_weight", "return (1 + weight) * task_loss + weight * lm_loss", "Your task counts 1 + λ times and language modeling λ times. The task counts once."),
       ("larger_one", "return torch.maximum(task_loss, weight * lm_loss)", "You take the larger of the two. Both count: L₃ = L₂ + λ·L₁."),
       ("both_separate", "return task_loss, weight * lm_loss", "You return two losses. One number is trained on: their sum."),
       ("no_gradient_for_the_lm", "return task_loss + weight * lm_loss.item()", "The number is right, but no gradient flows to language modeling: `.item()`, `.detach()` or `no_grad` makes a constant of it.", "gradients"),
       ("no_gradient_for_the_task", "return task_loss.detach() + weight * lm_loss", "The number is right, but no gradient flows to the task: `.item()`, `.detach()` or `no_grad` makes a constant of it.", "gradients"),
       ("detached", "return (task_loss + weight * lm_loss).detach()", "The number is right, but no gradient flows: `detach`, `.data`, `.item()`, `.tolist()`, NumPy, `torch.tensor` or `torch.no_grad` cuts the way to the weights.", "gradients"),
       ("in_place", "task_loss += weight * lm_loss\n    return task_loss", "You add to `task_loss` in place, and whoever called you still wants to know it. `a = a + b` makes a new tensor; `a += b` does not.", "gradients"))


@MISTAKES.of_quiz("quiz_pretraining", right.quiz_pretraining)
def in_quiz_pretraining(wrong):
    for question, option, sentence in (
        ("static masking", "other positions in every epoch", "That is dynamic masking, RoBERTa's: the positions are drawn again each time a text is read. Static ones are drawn once, when the data are prepared."),
        ("static masking", "the same positions in every text", "Every text draws its own positions, also with static masking; what does not change is a text's positions from epoch to epoch."),
        ("a rate of 90%", "too few positions to learn from", "There are plenty of positions to learn from: nine in ten. But what is a word to be guessed from, if nine of its ten neighbors are hidden?"),
        ("a rate of 90%", "the same loss, only faster", "The loss can't be the same: with so little context left, hardly any word can be guessed."),
        ("reading both sides", "the probabilities would not sum to one", "A softmax always sums to one. The trouble is what the model could look at: in the second layer each token's neighbors already know it."),
        ("reading both sides", "it would need twice the weights", "Attention to the left and to the right uses the same weights; only the mask differs. The trouble is what the model could look at."),
        ("not always [MASK]", "the mark has no vector", "[MASK] is a token of the vocabulary and has a vector. But it never comes in the texts that the model is used for."),
        ("not always [MASK]", "fewer positions have to be predicted", "All of the chosen are predicted, also those that stay as they are."),
        ("ELECTRA learns from", "the chosen 15%", "That is BERT. ELECTRA decides for each token whether it was replaced, also where it was not."),
        ("ELECTRA learns from", "the replaced tokens only", "“This one is the original” is an answer, too: the loss runs over every token."),
    ):
        wrong(question, option, sentence)
