"""Wrong answers to the exercises of 12-pretraining."""

from __future__ import annotations

from anatomy.course.nb12_pretraining.right import (
    bart_noise,
    distillation_loss,
    finetuning_loss,
    mask_tokens,
    mlm_loss,
    next_sentence_pairs,
    quiz_pretraining,
    replaced_token_labels,
    sentence_order_pairs,
    span_corruption,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.

COIN = "draw_below(2, generator) == 1"


@MISTAKES.of(mask_tokens)
def in_mask_tokens(wrong):
    CHOSEN = "(torch.rand(ids.shape, generator=generator) < rate)"
    FATE = "fate = torch.rand(ids.shape, generator=generator)"
    LABELS = "labels = ids.where(chosen, IGNORED)"
    INPUTS = "inputs = ids.masked_fill(chosen & (fate < 0.8), mask_id)"
    DRAWN = "torch.randint(0, vocab_size, ids.shape, generator=generator)"
    RETURN = "return drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs), labels"
    OTHER = "(fate >= 0.8) & (fate < 0.9)"
    wrong("zeros_elsewhere", "Where nothing is asked, your labels are 0. But 0 is a token: the loss would ask for it at all these places. The label that does not count is −100.",
          breaks="labels", old="ids.where(chosen, IGNORED)", new="ids.where(chosen, 0)")
    wrong("minus_one_elsewhere", "Where nothing is asked, your labels are −1. PyTorch's losses leave out −100: use that.",
          breaks="labels", old="ids.where(chosen, IGNORED)", new="ids.where(chosen, -1)")
    wrong("labels_everywhere", "Every place has its token as a label: the loss would ask for tokens that the model can simply read. Labels are −100 wherever nothing was chosen.",
          breaks=("labels", "special tokens", "rate"), old="ids.where(chosen, IGNORED)", new="ids.clone()")
    wrong("labels_where_not_chosen", "Labels and choice are the wrong way round: your chosen places have −100, all others their token. The loss would ask for what the model can read, and never for what is hidden.",
          breaks=("labels", "special tokens", "rate"), old="ids.where(chosen, IGNORED)", new="ids.where(~chosen, IGNORED)")
    wrong("labels_after_masking", "You take the labels from the inputs after they were changed: most say “[MASK]”. A label is what stood there before.",
          breaks="labels", old=RETURN, new="inputs = drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)\n    return inputs, inputs.where(chosen, IGNORED)")
    wrong("only_changed_labeled", "You give a label only to places whose token changed. The 10 % that stay as they are were chosen, too, and are asked for: the model can't know which of the words that it reads are true.",
          breaks="labels", old=RETURN, new="inputs = drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)\n    return inputs, ids.where(inputs != ids, IGNORED)")
    wrong("only_masked_labeled", "You give a label only to places that became [MASK]. The 10 % with another token and the 10 % that stay as they are were chosen, too, and are asked for.",
          breaks=("labels", "rate"), old=RETURN, new="inputs = drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)\n    return inputs, ids.where(inputs == mask_id, IGNORED)")
    wrong("always_mask", "All the chosen become [MASK]. BERT does that with 80 %; 10 % become another token and 10 % stay, because in use there is no [MASK] at all.",
          breaks="80/10/10", old=("chosen & (fate < 0.8)", RETURN), new=("chosen", "return inputs, labels"))
    wrong("none_stays", "80 % of the chosen become [MASK] and all the rest another token: none stays as it is. 10 % are to stay.",
          breaks="80/10/10", old=OTHER, new="(fate >= 0.8)")
    wrong("none_becomes_another", "No token becomes another one: 20 % of the chosen stay as they are. 10 % are to become a token drawn from the vocabulary. (Do you compare one draw with 0.8 and then with 0.1? What is below 0.1 is below 0.8, too: count on, from 0.8 to 0.9.)",
          breaks="80/10/10", old=OTHER, new="(fate >= 0.8) & (fate < 0.8)")
    wrong("ten_percent_of_the_rest", "Only 2 or 3 % of the chosen become another token; 10 % are to, which is half of those that do not become [MASK]. (Do you draw anew for the rest, and compare with 0.1?)",
          breaks="80/10/10", old=OTHER, new="(fate >= 0.8) & (torch.rand(ids.shape, generator=generator) < 0.1)")
    wrong("another_over_masked", "You draw a second time for all the chosen, and some [MASK] are written over: 10 % become another token, but of [MASK] only 72 % are left. One draw decides among the three.",
          breaks="80/10/10", old=OTHER, new="(torch.rand(ids.shape, generator=generator) < 0.1)")
    wrong("shares_turned", "Your shares are turned round: 10 % [MASK], 10 % another token, 80 % as they were. It is 80 % that become [MASK].",
          breaks="80/10/10", old=("(fate < 0.8)", OTHER), new=("(fate >= 0.9)", OTHER))
    wrong("half_masked", "50 % of the chosen become [MASK]; 80 % are to.",
          breaks="80/10/10", old=("(fate < 0.8)", "(fate >= 0.8)"), new=("(fate < 0.5)", "(fate >= 0.5) & (fate >= 0.8)"))
    wrong("one_draw_for_both", "You compare one and the same draw with `rate` and with 0.8: what is below a rate of 0.3 is below 0.8, too, so all of the chosen become [MASK]. The second decision needs a draw of its own.",
          breaks="80/10/10", old=(CHOSEN, FATE), new=("((fate := torch.rand(ids.shape, generator=generator)) < rate)", "fate = fate.clone()"))
    wrong("special_chosen", "You choose special tokens, too: [CLS], [SEP] and padding would be masked. Leave out the places where `special_mask` is 1.",
          breaks="special tokens", old=" & (special_mask == 0)", new="")
    wrong("special_only", "Your special mask is read the wrong way round: only special tokens are chosen. `special_mask` is 1 where *not* to choose.",
          breaks=("labels", "special tokens", "rate", "80/10/10", "generator"), old="(special_mask == 0)", new="(special_mask != 0)")
    wrong("bitwise_not", "`~` turns True and False round, but of the whole numbers 0 and 1 it makes −1 and −2, and both count as true. So special tokens are chosen. `special_mask == 0` is right for both kinds.",
          breaks="special tokens", old="(special_mask == 0)", new="((~special_mask) != 0)")
    wrong("special_hidden_but_unlabeled", "Special tokens get no label, but they are changed all the same. Leave them out of the choice itself, not of the labels alone.",
          breaks="special tokens", old=(" & (special_mask == 0)", LABELS), new=("", "labels = ids.where(chosen & (special_mask == 0), IGNORED)"))
    wrong("special_labeled_but_kept", "Special tokens stay as they are, but have labels. Leave them out of the choice itself.",
          breaks="special tokens", old=(" & (special_mask == 0)", INPUTS, RETURN), new=("", INPUTS + "\n    usual = special_mask == 0", "return drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs).where(usual, ids), labels"))
    wrong("rate_turned", "You choose where the draw is *above* `rate`: with a rate of 0.3 that is 70 % of the tokens.",
          breaks=("labels", "special tokens", "rate", "80/10/10"), old="< rate)", new="> rate)")
    wrong("rate_fixed", "You choose 15 % whatever `rate` says. 0.15 is only its default.",
          breaks=("labels", "rate", "80/10/10"), old="< rate)", new="< 0.15)")
    wrong("default_of_a_tenth", "Without `rate`, 15 % are to be chosen: the default is 0.15.",
          breaks="rate", old="rate: float = 0.15", new="rate: float = 0.1")
    wrong("rate_of_all", "You divide `rate` by the share of tokens that are not special, so that `rate` of *all* tokens is chosen. It is the probability for each token that is not special.",
          breaks="rate", old="< rate)", new="< rate / (special_mask == 0).float().mean())")
    wrong("one_choice_for_all_texts", "You draw which places to choose once, and take the same ones in every text of the batch. Every place draws for itself: (B, T) numbers, not T.",
          breaks="rate", old=CHOSEN, new="(torch.rand(ids.shape[1:], generator=generator) < rate)")
    wrong("one_choice_a_text", "You draw once for each text, and then choose all of its tokens or none. Every place draws for itself: (B, T) numbers, not B.",
          breaks="rate", old=CHOSEN, new="(torch.rand((len(ids), 1), generator=generator) < rate)")
    wrong("one_fate_a_text", "Within a text all the chosen share one fate: all [MASK], or all another token. Every place draws for itself.",
          breaks="80/10/10", old=FATE, new="fate = torch.rand((len(ids), 1), generator=generator)")
    wrong("one_fate_for_all_texts", "The fate of a place is the same in every text of the batch. Every place draws for itself: (B, T) numbers, not T.",
          breaks="80/10/10", old=FATE, new="fate = torch.rand(ids.shape[1:], generator=generator)")
    wrong("exactly_so_many", "You choose an exact share of the places. Each token is to be chosen with probability `rate`, for itself: the number then differs from text to text, and a text of one token is chosen in a share `rate` of the calls.",
          breaks="rate", old=CHOSEN, new="(torch.rand(ids.numel(), generator=generator).argsort().argsort().view(ids.shape) < int(rate * ids.numel()))")
    wrong("exact_shares", "You split the chosen into exact shares, 80, 10 and 10 %. Each is to draw for itself: a single chosen token, too, becomes [MASK] with probability 0.8.",
          breaks="80/10/10", old=FATE, new="order = torch.rand(ids.numel(), generator=generator).masked_fill(~chosen.flatten(), 2.0).argsort().argsort()\n    fate = order.view(ids.shape) / chosen.sum()")
    wrong("one_other_token", "All that become another token become the same one: you draw a single token. Draw one for each place.",
          breaks="80/10/10", old=DRAWN, new="torch.randint(0, vocab_size, (), generator=generator).expand(ids.shape)")
    wrong("never_the_last_token", "The last token of the vocabulary is never drawn. `torch.randint`'s upper end is left out already: `vocab_size`, not `vocab_size - 1`.",
          breaks="80/10/10", old="randint(0, vocab_size,", new="randint(0, max(vocab_size - 1, 1),")
    wrong("never_token_0", "Token 0 is never drawn: ids begin with 0.",
          breaks="80/10/10", old="randint(0, vocab_size,", new="randint(1, vocab_size,")
    wrong("one_too_far", "You draw from V + 1 tokens: the id `vocab_size` does not exist, and an embedding would stop there. `torch.randint`'s upper end is left out: `vocab_size`.",
          breaks="80/10/10", old="randint(0, vocab_size,", new="randint(0, vocab_size + 1,")
    wrong("another_from_the_text", "The other token is taken from the same text, by shuffling it, not drawn from the whole vocabulary.",
          breaks="80/10/10", old=DRAWN, new="ids.flatten()[torch.randint(0, ids.numel(), ids.shape, generator=generator)]")
    wrong("never_itself", "Your other token is never the one that stood there. It is drawn from all V tokens: in one of V draws it is the same again.",
          breaks="80/10/10", old=DRAWN, new="(ids + torch.randint(1, vocab_size, ids.shape, generator=generator)) % vocab_size")
    wrong("global_generator", "Some or all of your draws do not use the given generator: the same state gives another result each time. Every draw needs `generator=generator`.",
          breaks=("rate", "generator"), old=CHOSEN, new="(torch.rand(ids.shape) < rate)")
    wrong("seeded", "You seed inside of the function: whatever state the generator is in, the same places are chosen. That is static masking, of every batch alike. Use the generator as it comes.",
          breaks=("rate", "80/10/10", "generator"), old="    chosen = ", new="    generator = torch.Generator().manual_seed(0)\n    chosen = ")
    wrong("in_place", "You change `ids` in place, and whoever called you still needs the text. `masked_fill` without `_` makes a new tensor.",
          breaks="labels", old="ids.masked_fill(", new="ids.masked_fill_(")
    wrong("swapped", "You return (labels, inputs); asked is (inputs, labels).",
          breaks=("labels", "special tokens", "rate", "80/10/10"), old=RETURN, new="return labels, drawn.where(chosen & (fate >= 0.8) & (fate < 0.9), inputs)")
    wrong("only_inputs", "You return the inputs alone. Asked are two tensors: (inputs, labels).",
          breaks=("labels", "special tokens", "rate", "80/10/10"), old=", labels\n", new="\n")


@MISTAKES.of(mlm_loss)
def in_mlm_loss(wrong):
    ENTROPY = "F.cross_entropy(logits[counted], labels[counted])"
    ALL = "F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction=\"sum\")"
    wrong("summed", "You add the losses up; their mean is asked for. A batch with more labels would count for more.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.cross_entropy(logits[counted], labels[counted], reduction=\"sum\")")
    wrong("over_all_places", "You divide by the number of all places, B·T. Only those that have a label count: divide by their number.",
          breaks=("values", "gradients"), old=ENTROPY, new=ALL + " / labels.numel()")
    wrong("over_the_batch", "You divide by B, the number of texts. The mean is over the places that have a label.",
          breaks=("values", "gradients"), old=ENTROPY, new=ALL + " / len(labels)")
    wrong("mean_of_texts", "You take the mean of each text, and then the mean of these. A place in a text with few labels then counts for more; the mean is over all places that have a label.",
          breaks=("values", "gradients"), old="return F.cross_entropy(logits[counted], labels[counted])", new="return torch.stack([F.cross_entropy(row, asked) for row, asked in zip(logits, labels) if (asked != IGNORED).any()]).mean()")
    wrong("every_label_clamped", "Places without a label count as if token 0 were asked for there. −100 means: does not count at all.",
          breaks=("values", "gradients", "no labels"), old=("labels != IGNORED", "labels[counted]"), new=("labels == labels", "labels[counted].clamp(min=0)"))
    wrong("token_0_ignored", "You leave out places whose label is token 0, too. Only −100 does not count.",
          breaks=("values", "gradients"), old="labels != IGNORED", new="labels > 0")
    wrong("only_token_0_ignored", "You leave out labels of 0; −100 is the label that does not count.",
          breaks=("values", "gradients", "no labels"), old=("labels != IGNORED", "labels[counted])"), new=("labels != 0", "labels[counted].clamp(min=0))"))
    wrong("nan_without_labels", "Where no place has a label, yours divides zero by zero: NaN, and one such batch spoils all weights. The loss is 0 then.",
          breaks="no labels", old="    if not counted.any():\n        return logits.sum() * 0.0\n", new="")
    wrong("refuses_without_labels", "Where no place has a label, the loss is 0; yours stops with an error.",
          breaks="no labels", old="return logits.sum() * 0.0", new="raise ValueError(\"no labels\")")
    wrong("nothing_without_labels", "Where no place has a label, yours returns nothing (None). The loss is 0 then.",
          breaks="no labels", old="return logits.sum() * 0.0", new="return None")
    wrong("negative", "The sign is turned round: yours is the mean log-probability. A loss is its negative.",
          breaks=("values", "gradients"), old="return F.cross", new="return -F.cross")
    wrong("in_bits", "Yours is in bits, divided by ln 2. Asked is in nats: the natural logarithm.",
          breaks=("values", "gradients"), old="labels[counted])", new="labels[counted]) / torch.log(torch.tensor(2.0))")
    wrong("perplexity", "You return exp of the loss, the perplexity. The loss itself is asked for.",
          breaks=("values", "gradients"), old=ENTROPY, new=ENTROPY + ".exp()")
    wrong("softmax_first", "You hand probabilities to `cross_entropy`, which takes the softmax itself: give it the logits.",
          breaks=("values", "gradients"), old="(logits[counted]", new="(logits[counted].softmax(dim=-1)")
    wrong("log_of_softmax", "log(softmax(x)) is −∞ where a probability is too small for float32, and your loss is infinite there. `log_softmax` and `cross_entropy` compute it in one step.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.nll_loss(logits[counted].softmax(dim=-1).log(), labels[counted])")
    wrong("probability_not_log", "You average probabilities of the right tokens, not their logarithms.",
          breaks=("values", "gradients"), old=ENTROPY, new="-logits[counted].softmax(dim=-1).gather(1, labels[counted][:, None]).mean()")
    wrong("no_softmax", "You take the logits of the right tokens as they are. Cross-entropy is −log of a probability: a log-softmax over the vocabulary comes first.",
          breaks=("values", "gradients"), old=ENTROPY, new="-logits[counted].gather(1, labels[counted][:, None]).mean()")
    wrong("softmax_over_places", "Your softmax runs over the places, not over the vocabulary: the last axis of the logits is V.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.nll_loss(logits.log_softmax(dim=1)[counted], labels[counted])")
    wrong("one_loss_a_place", "You return a loss for every place. One number is asked for: their mean.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.cross_entropy(logits[counted], labels[counted], reduction=\"none\")")
    wrong("first_text_only", "Only the first text of the batch counts in yours.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.cross_entropy(logits[:1][counted[:1]], labels[:1][counted[:1]])")
    wrong("shifted", "You compare each place with the label of the next one, as a decoder does. Here a label belongs to its own place.",
          breaks=("values", "gradients"), old=("counted = labels", ENTROPY), new=("labels = labels.roll(-1, dims=1)\n    counted = labels", ENTROPY))
    wrong("smoothed", "Your labels are smoothed. The plain cross-entropy is asked for.",
          breaks=("values", "gradients"), old="labels[counted])", new="labels[counted], label_smoothing=0.1)")
    wrong("detached", "The numbers are right, but no gradient comes back: `.item()`, `.detach()` or `no_grad` cuts the way to the weights.",
          breaks="gradients", old=ENTROPY, new=ENTROPY + ".detach()")
    wrong("over_one_more", "You divide by N + 1, one more than there are places with a label. The mean is over these N; that there is none is a case of its own.",
          breaks=("values", "gradients"), old=ENTROPY, new=ALL + " / (counted.sum() + 1)")
    wrong("classes_last", "`cross_entropy` takes the classes on axis 1: (N, V) with (N,), or (B, V, T) with (B, T). Yours are on the last axis of three.",
          breaks=("values", "gradients", "no labels"), old=ENTROPY, new="F.cross_entropy(logits, labels)")
    wrong("viewed", "`view` to (B, V, T) does not exchange axes: it reads the same numbers on in another shape, so logits of other tokens are taken for a place's own. `transpose(1, 2)` does.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.cross_entropy(logits.view(logits.shape[0], -1, logits.shape[1]), labels)")
    wrong("reshaped", "`reshape` to (B, V, T) does not exchange axes: it reads the same numbers on in another shape, so logits of other tokens are taken for a place's own. `transpose(1, 2)` does.",
          breaks=("values", "gradients"), old=ENTROPY, new="F.cross_entropy(logits.reshape(logits.shape[0], -1, logits.shape[1]), labels)")


@MISTAKES.of(next_sentence_pairs)
def in_next_sentence_pairs(wrong):
    FOLLOWS = "pairs.append((first, following, 1))"
    ELSE = "pairs.append((first, others[draw_below(len(others), generator)], 0))"
    DRAW = "others[draw_below(len(others), generator)]"
    wrong("from_the_whole_corpus", "Your other sentence can come from the same document, even be the one that follows, with the label 0. Draw it from the *other* documents.",
          breaks=("pairs", "drawn evenly"), old=" if other != number", new="")
    wrong("from_the_same_document", "Your other sentence is drawn from the same document. It is to come from another one.",
          breaks=("pairs", "drawn evenly"), old="if other != number", new="if other == number")
    wrong("labels_turned", "Your labels are turned round: 1 says that the second sentence follows. (The library's BERT has them the other way: read a contract before a loss.)",
          breaks=("pairs", "drawn evenly"), old=("following, 1)", ", 0))"), new=("following, 0)", ", 1))"))
    wrong("all_follow", "All your pairs are sentences that follow. Half of them are to be drawn from another document.",
          breaks=("half and half", "drawn evenly", "generator"), old=COIN, new="True")
    wrong("none_follows", "None of your pairs is a sentence and the one that follows. With probability ½ it is to be.",
          breaks="half and half", old=COIN, new="False")
    wrong("a_third_follows", "A third of your pairs follow, two thirds are drawn from elsewhere. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(3, generator) == 1")
    wrong("most_follow", "Two thirds of your pairs follow, a third is drawn from elsewhere. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(3, generator) > 0")
    wrong("both_kinds", "You make two pairs of each sentence, one that follows and one that doesn't. One is asked for, and a draw decides which.",
          breaks=("pairs", "half and half", "drawn evenly"), old=("            if draw_below(2, generator) == 1:\n                " + FOLLOWS + "\n            else:\n                " + ELSE), new="            " + FOLLOWS + "\n            " + ELSE)
    wrong("taking_turns", "Your pairs take turns: one follows, the next doesn't. Every pair is to draw for itself; a pattern is something to learn by heart.",
          breaks="half and half", old=COIN, new="len(pairs) % 2 == 0")
    wrong("one_draw_a_document", "You draw once for each document: all of its pairs follow, or none. Every pair draws for itself.",
          breaks="half and half", old=("        for first, following", COIN), new=("        coin = draw_below(2, generator)\n        for first, following", "coin == 1"))
    wrong("one_draw_for_all", "You draw once: all pairs of a call follow, or none. Every pair draws for itself.",
          breaks="half and half", old=("    pairs = []", COIN), new=("    pairs, coin = [], draw_below(2, generator)", "coin == 1"))
    wrong("document_first", "You draw a document first, then a sentence of it: sentences of short documents come more often. All sentences of the other documents are to be equally likely.",
          breaks="drawn evenly", old=(ELSE,), new=("rest = [sentences for other, sentences in enumerate(docs) if other != number]\n                chosen = rest[draw_below(len(rest), generator)]\n                pairs.append((first, chosen[draw_below(len(chosen), generator)], 0))",))
    wrong("next_document_only", "Your other sentences come from the next document only. All other documents are asked for.",
          breaks="drawn evenly", old="if other != number", new="if other == (number + 1) % len(docs)")
    wrong("earlier_or_later_documents_only", "Your other sentences come from later documents (for the last one, from any other). All other documents are asked for, always.",
          breaks="drawn evenly", old="if other != number", new="if other > number or other != number == len(docs) - 1")
    wrong("first_of_a_document", "Your other sentence is always the first of its document. All its sentences are to be equally likely.",
          breaks="drawn evenly", old="for sentence in sentences]", new="for sentence in sentences[:1]]")
    wrong("never_the_last", "The last of the other sentences never comes: `draw_below(n, …)` leaves n out already.",
          breaks="drawn evenly", old="draw_below(len(others), generator)", new="draw_below(max(len(others) - 1, 1), generator)")
    wrong("same_again", "You draw the other sentence once for each document, and use it for all of its pairs. Draw one for every pair.",
          breaks="drawn evenly", old=("        for first, following", DRAW), new=("        chosen = " + DRAW + "\n        for first, following", "chosen"))
    wrong("first_with_itself", "Your sentence follows itself. The second of a pair is the *next* sentence.",
          breaks="pairs", old="pairs.append((first, following, 1))", new="pairs.append((first, first, 1))")
    wrong("swapped", "Your two sentences have changed places: first comes the sentence itself, then the one that follows or is drawn.",
          breaks=("pairs", "drawn evenly"), old=("(first, following, 1)", "(first, others[draw_below(len(others), generator)], 0)"), new=("(following, first, 1)", "(others[draw_below(len(others), generator)], first, 0)"))
    wrong("across_documents", "The last sentence of a document is paired with the first of the next one. A document's last sentence has nothing that follows.",
          breaks=("pairs", "drawn evenly"), old="pairwise(doc)", new="zip(doc, [*doc[1:], *sum(docs[number + 1 :], [])[:1]])")
    wrong("every_second_sentence", "You take sentences two by two: 1 and 2, 3 and 4. Every sentence but the last of its document is the first of a pair.",
          breaks=("pairs", "drawn evenly"), old="pairwise(doc)", new="zip(doc[::2], doc[1::2])")
    wrong("found_by_its_text", "You look for a sentence's place by its text. Where a sentence comes twice, `index` finds the first one, and what follows is wrong. Count places instead.",
          breaks="pairs", old=(FOLLOWS,), new=("pairs.append((first, doc[doc.index(first) + 1], 1))",))
    wrong("shuffled", "Your pairs are shuffled. They are asked for in the order of the documents.",
          breaks=("pairs", "drawn evenly"), old="    return pairs", new="    return [pairs[place] for place in torch.randperm(len(pairs), generator=generator).tolist()]")
    wrong("no_labels", "Your pairs have no label. Asked are (first, second, 1 or 0).",
          breaks=("pairs", "half and half", "drawn evenly"), old=("(first, following, 1)", ", 0))"), new=("(first, following)", "))"))
    wrong("only_first_document", "Only the first document is used: is the `return` inside of the loop?",
          breaks=("pairs", "drawn evenly"), old="    return pairs", new="        return pairs")
    wrong("own_generator", "Your draws do not come from the given generator: the same state gives other pairs each time. Hand it on wherever you draw.",
          breaks="generator", old=COIN, new="random.random() < 0.5")
    wrong("seeded", "You seed inside of the function: whatever state the generator is in, the draws are the same. Use the generator as it comes.",
          breaks=("half and half", "drawn evenly", "generator"), old="    pairs = []", new="    pairs, generator = [], torch.Generator().manual_seed(0)")
    wrong("popped", "You take sentences out of the documents as you go, and whoever called you still needs them. Leave `docs` as they are.",
          breaks=("pairs", "half and half", "drawn evenly"), old="    return pairs", new="    docs[0].pop()\n    return pairs")
    wrong("a_quarter_follows", "A quarter of your pairs follow, three quarters are drawn from elsewhere. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(4, generator) == 1")
    wrong("three_quarters_follow", "Three quarters of your pairs follow, a quarter is drawn from elsewhere. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(4, generator) > 0")
    wrong("two_draws", "You draw once for the second sentence and once more for the label, so the label says nothing about the pair. One draw decides both.",
          breaks=("pairs", "drawn evenly"), old=(FOLLOWS, ELSE), new=("pairs.append((first, following, draw_below(2, generator)))", ELSE.replace(", 0)", ", draw_below(2, generator))")))
    wrong("last_sentence_too", "The last sentence of a document has a pair in yours, too, with a sentence of another document. Nothing follows it: it is the first of no pair.",
          breaks=("pairs", "drawn evenly"), old=("pairwise(doc)", COIN), new=("zip(doc, [*doc[1:], None])", "following is not None and " + COIN))
    wrong("last_pair_missing", "The last pair of each document is missing: its last sentence but one is the first of a pair, too. (Does your loop end one too early?)",
          breaks=("pairs", "half and half", "drawn evenly"), old="pairwise(doc)", new="pairwise(doc[:-1])")
    wrong("wraps_around", "What follows the last sentence of a document is its first in yours. Nothing does: the last one is the first of no pair.",
          breaks=("pairs", "drawn evenly"), old="pairwise(doc)", new="pairwise([*doc, doc[0]])")
    wrong("nested", "A pair of yours is ((first, second), label). Asked are three things side by side: (first, second, label).",
          breaks=("pairs", "half and half", "drawn evenly"), old=("(first, following, 1)", "(first, others[draw_below(len(others), generator)], 0)"), new=("((first, following), 1)", "((first, others[draw_below(len(others), generator)]), 0)"))
    wrong("others_by_text", "You tell documents apart by their text: where two are the same, neither is another one to you. Tell them by their numbers.",
          breaks="drawn evenly", old="if other != number", new="if sentences != doc")
    wrong("none_that_is_in_the_own_document", "You leave out sentences that stand in the pair's own document, too. All sentences of the other documents are to be equally likely, also those.",
          breaks="drawn evenly", old="for sentence in sentences]", new="for sentence in sentences if sentence not in doc]")
    wrong("never_like_the_following", "Your other sentence never has the same words as the one that follows. All sentences of the other documents are to be equally likely, also such a one.",
          breaks="drawn evenly", old=(ELSE,), new=("rest = [sentence for sentence in others if sentence != following]\n                pairs.append((first, rest[draw_below(len(rest), generator)], 0))",))
    wrong("each_text_once", "A sentence that stands several times in the other documents counts once in yours (is it a set?). Each place counts: draw from the list of them all.",
          breaks="drawn evenly", old=("others = [sentence", "for sentence in sentences]"), new=("others = sorted({sentence", "for sentence in sentences})"))


@MISTAKES.of(sentence_order_pairs)
def in_sentence_order_pairs(wrong):
    PAIR = "(first, following, 1) if in_order else (following, first, 0)"
    wrong("labels_turned", "Your labels are turned round: 1 says that the two stand in their order, 0 that they are swapped.",
          breaks="pairs", old=PAIR, new="(first, following, 0) if in_order else (following, first, 1)")
    wrong("never_swapped", "No pair of yours is swapped: the label changes, but the sentences stay. With label 0 the second comes first.",
          breaks="pairs", old=PAIR, new="(first, following, 1) if in_order else (first, following, 0)")
    wrong("always_in_order", "All your pairs are in their order. With probability ½ a pair is swapped, and its label is 0.",
          breaks=("pairs", "half and half", "generator"), old=COIN, new="True")
    wrong("always_swapped", "All your pairs are swapped. With probability ½ a pair stays in its order, with the label 1.",
          breaks=("pairs", "half and half", "generator"), old=COIN, new="False")
    wrong("label_always_1", "Your label is always 1, also where you swap: nothing could be learned from it.",
          breaks=("pairs", "half and half"), old="(following, first, 0)", new="(following, first, 1)")
    wrong("label_always_0", "Your label is always 0, also where nothing is swapped: nothing could be learned from it.",
          breaks=("pairs", "half and half"), old="(first, following, 1)", new="(first, following, 0)")
    wrong("two_draws", "You draw once for the order and once more for the label, so the label says nothing about the order. One draw decides both.",
          breaks="pairs", old=PAIR, new="(first, following, draw_below(2, generator)) if in_order else (following, first, draw_below(2, generator))")
    wrong("both_orders", "You make two pairs of each two sentences, one in each order. One is asked for, and a draw decides which.",
          breaks=("pairs", "half and half", "generator"), old=("            in_order = draw_below(2, generator) == 1\n", "pairs.append(" + PAIR + ")"), new=("", "pairs += [(first, following, 1), (following, first, 0)]"))
    wrong("a_third_in_order", "A third of your pairs are in order. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(3, generator) == 1")
    wrong("most_in_order", "Two thirds of your pairs are in order. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(3, generator) > 0")
    wrong("taking_turns", "Your pairs take turns: one in order, the next swapped. Every pair is to draw for itself.",
          breaks=("half and half", "generator"), old=COIN, new="len(pairs) % 2 == 0")
    wrong("one_draw_a_document", "You draw once for each document: all of its pairs are swapped, or none. Every pair draws for itself.",
          breaks="half and half", old=("        for first, following", "            in_order = draw_below(2, generator) == 1\n"), new=("        in_order = draw_below(2, generator) == 1\n        for first, following", ""))
    wrong("one_draw_for_all", "You draw once: all pairs of a call are swapped, or none. Every pair draws for itself.",
          breaks="half and half", old=("    pairs = []", "            in_order = draw_below(2, generator) == 1\n"), new=("    pairs, in_order = [], draw_below(2, generator) == 1", ""))
    wrong("random_second", "Your second sentence is drawn from another document, as in next-sentence prediction. Here both are neighbors, and only their order is asked.",
          breaks="pairs", old="(following, first, 0)", new="(first, docs[(docs.index(doc) + 1) % len(docs)][0], 0)")
    wrong("any_two_of_a_document", "You pair every sentence with all later ones of its document. Pairs are neighbors: a sentence and the next.",
          breaks="pairs", old="pairwise(doc)", new="[(one, other) for place, one in enumerate(doc) for other in doc[place + 1 :]]")
    wrong("across_documents", "The last sentence of a document is paired with the first of the next one. Pairs do not cross the end of a document.",
          breaks="pairs", old="    for doc in docs:\n        for first, following in pairwise(doc):", new="    for doc in [sum(docs, [])]:\n        for first, following in pairwise(doc):")
    wrong("every_second_sentence", "You take sentences two by two: 1 and 2, 3 and 4. All neighbors are asked for: 2 and 3, too.",
          breaks="pairs", old="pairwise(doc)", new="zip(doc[::2], doc[1::2])")
    wrong("whole_document_turned", "You turn the whole document round and take its pairs from behind. The pairs are to come in the order of the documents.",
          breaks="pairs", old="pairwise(doc)", new="list(pairwise(doc))[::-1]")
    wrong("shuffled", "Your pairs are shuffled. They are asked for in the order of the documents.",
          breaks="pairs", old="    return pairs", new="    return [pairs[place] for place in torch.randperm(len(pairs), generator=generator).tolist()]")
    wrong("only_first_document", "Only the first document is used: is the `return` inside of the loop?",
          breaks="pairs", old="    return pairs", new="        return pairs")
    wrong("found_by_its_text", "You look for a sentence's place by its text. Where a sentence comes twice, `index` finds the first one, and its neighbor is another. Count places instead.",
          breaks="pairs", old="            pairs.append(", new="            following = doc[doc.index(first) + 1]\n            pairs.append(")
    wrong("no_labels", "Your pairs have no label. Asked are (first, second, 1 or 0).",
          breaks=("pairs", "half and half"), old=PAIR, new="(first, following) if in_order else (following, first)")
    wrong("own_generator", "Your draws do not come from the given generator: the same state gives other pairs each time. Hand it on wherever you draw.",
          breaks="generator", old=COIN, new="random.random() < 0.5")
    wrong("seeded", "You seed inside of the function: whatever state the generator is in, the draws are the same. Use the generator as it comes.",
          breaks=("half and half", "generator"), old="    pairs = []", new="    pairs, generator = [], torch.Generator().manual_seed(0)")
    wrong("a_quarter_in_order", "A quarter of your pairs are in order. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(4, generator) == 1")
    wrong("three_quarters_in_order", "Three quarters of your pairs are in order. It is half and half.",
          breaks="half and half", old=COIN, new="draw_below(4, generator) > 0")
    wrong("last_pair_missing", "The last pair of each document is missing: its last sentence has a neighbor, too. (Does your loop end one too early?)",
          breaks=("pairs", "half and half"), old="pairwise(doc)", new="pairwise(doc[:-1])")
    wrong("wraps_around", "You pair the last sentence of a document with its first. They are no neighbors. (In Python `doc[-1]` is the last one, not the one before `doc[0]`.)",
          breaks="pairs", old="pairwise(doc)", new="pairwise([doc[-1], *doc])")
    wrong("label_by_its_text", "You read the label off the places of the two texts in the document. Where a sentence comes twice, `index` finds the first one, and the label can be wrong. The draw knows the order.",
          breaks="pairs", old=PAIR, new="(first, following, int(doc.index(first) < doc.index(following))) if in_order else (following, first, int(doc.index(following) < doc.index(first)))")
    wrong("nested", "A pair of yours is ((first, second), label). Asked are three things side by side: (first, second, label).",
          breaks=("pairs", "half and half"), old=PAIR, new="((first, following), 1) if in_order else ((following, first), 0)")


@MISTAKES.of(span_corruption)
def in_span_corruption(wrong):
    COUNT = "count = min(max(round(hidden / mean_span), 1), hidden, len(ids) - hidden + 1)"
    SPANS = "spans = random_parts(hidden, count, generator)"
    GAPS = "gaps = random_parts(len(ids) - hidden + 2, count + 1, generator)"
    LESS = "gaps[0], gaps[-1] = gaps[0] - 1, gaps[-1] - 1"
    LAST = "sentinel_ids[count], eos_id])"
    INPUT = "inputs += [*tokens[start : start + gap], sentinel]"
    TARGET = "targets += [sentinel, *tokens[start + gap : start + gap + span]]"
    wrong("no_final_sentinel", "The final sentinel is missing in your targets: behind the last span comes one more, and only then `eos_id`.",
          breaks="sentinels", old=LAST, new="eos_id])")
    wrong("no_eos", "`eos_id` is missing at both ends: inputs and targets both end with it.",
          breaks="sentinels", old=("start:], eos_id])", LAST), new=("start:]])", "sentinel_ids[count]])"))
    wrong("no_eos_on_inputs", "The inputs do not end with `eos_id`. Both sequences do.",
          breaks="sentinels", old="start:], eos_id])", new="start:]])")
    wrong("no_eos_on_targets", "The targets do not end with `eos_id`. Both sequences do.",
          breaks="sentinels", old=LAST, new="sentinel_ids[count]])")
    wrong("eos_before_the_final_sentinel", "In your targets `eos_id` comes before the final sentinel. It is the very last.",
          breaks="sentinels", old=LAST, new="eos_id, sentinel_ids[count]])")
    wrong("final_sentinel_in_both", "The final sentinel stands in the inputs, too. Only the targets have it: there it says that no span follows.",
          breaks=("sentinels", "amounts"), old="start:], eos_id])", new="start:], sentinel_ids[count], eos_id])")
    wrong("one_sentinel", "All your spans have the same sentinel, so nobody knows which answer belongs where. Span k gets `sentinel_ids[k]`.",
          breaks=("rebuilds", "sentinels"), old="zip(sentinel_ids, gaps", new="zip([sentinel_ids[0]] * count, gaps")
    wrong("sentinels_from_the_end", "You take the sentinels from the end of the list. Span k gets `sentinel_ids[k]`. (T5's ids count down, 32099, 32098 …: the list has them in order already.)",
          breaks="sentinels", old=("    hidden = ",), new=("    sentinel_ids = sentinel_ids[::-1]\n    hidden = ",))
    wrong("sentinels_counted_up", "You count up from the first sentinel. Take the ids from the list: they need not follow one another (T5's count down).",
          breaks=("rebuilds", "sentinels", "amounts"), old=("    hidden = ",), new=("    sentinel_ids = list(range(sentinel_ids[0], sentinel_ids[0] + 500))\n    hidden = ",))
    wrong("sentinels_sorted", "You sort the sentinels. Take them in the order of the list: span k gets `sentinel_ids[k]`.",
          breaks="sentinels", old=("    hidden = ",), new=("    sentinel_ids = sorted(sentinel_ids)\n    hidden = ",))
    wrong("sentinels_from_the_second", "Your sentinels begin with the second of the list. Counting begins with 0: the first span gets `sentinel_ids[0]`.",
          breaks="sentinels", old=("    hidden = ",), new=("    sentinel_ids = sentinel_ids[1:]\n    hidden = ",))
    wrong("sentinel_behind_the_span", "In your targets each sentinel stands behind its span. It comes before: it says which span follows.",
          breaks=("rebuilds", "sentinels"), old=TARGET, new="targets += [*tokens[start + gap : start + gap + span], sentinel]")
    wrong("targets_are_the_text", "Your targets are the whole text. T5 writes only what is missing, which is much shorter: sentinels and spans.",
          breaks=("rebuilds", "sentinels"), old="torch.tensor([*targets, " + LAST, new="torch.tensor([*tokens, eos_id])")
    wrong("spans_without_sentinels_in_targets", "Your targets hold the hidden tokens without the sentinels between them: nobody knows where one span ends.",
          breaks=("rebuilds", "sentinels"), old=TARGET, new="targets += tokens[start + gap : start + gap + span]")
    wrong("text_kept_in_inputs", "Your inputs still hold the tokens that are asked for, behind their sentinels. A sentinel stands *in the place of* its span.",
          breaks=("rebuilds", "amounts", "all ways"), old=INPUT, new="inputs += [*tokens[start : start + gap], sentinel, *tokens[start + gap : start + gap + span]]")
    wrong("span_deleted", "Your spans are deleted without a sentinel in their place: the inputs do not say where something is missing.",
          breaks=("rebuilds", "sentinels", "amounts"), old=INPUT, new="inputs += tokens[start : start + gap]")
    wrong("one_sentinel_a_token", "Each hidden token gets a sentinel of its own in yours. One sentinel stands for a whole span.",
          breaks=("amounts", "all ways"), old=COUNT, new="count = hidden")
    wrong("rest_missing", "What stands behind the last span is missing in your inputs.",
          breaks=("rebuilds", "amounts", "all ways"), old="[*inputs, *tokens[start:], eos_id]", new="[*inputs, eos_id]")
    wrong("gap_and_span_exchanged", "Your inputs hold the hidden stretches, your targets the kept ones: exchanged.",
          breaks=("rebuilds", "amounts", "all ways"), old=(INPUT, TARGET), new=("inputs += [*tokens[start + gap : start + gap + span], sentinel]", "targets += [sentinel, *tokens[start : start + gap]]"))
    wrong("start_not_moved_past_the_gap", "After each span you go on too early: only the span's length is added to the place, not the kept stretch before it. Tokens come twice.",
          breaks=("rebuilds", "amounts", "all ways"), old="start += gap + span", new="start += span")
    wrong("spans_one_too_long", "Your targets hold one token too many for each span: the first that is kept behind it.",
          breaks="rebuilds", old="start + gap + span]]", new="start + gap + span + 1]]")
    wrong("spans_one_too_short", "Your targets lack the last token of each span: it is in neither sequence.",
          breaks="rebuilds", old="start + gap + span]]", new="start + gap + span - 1]]")
    wrong("rounded_down", "You round T·rate down; it is rounded to the nearest whole number (3.9 tokens are 4).",
          breaks="amounts", old="round(len(ids) * rate)", new="int(len(ids) * rate)")
    wrong("rounded_up", "You round T·rate up; it is rounded to the nearest whole number (3.15 tokens are 3).",
          breaks="amounts", old="round(len(ids) * rate)", new="math.ceil(len(ids) * rate)")
    wrong("spans_rounded_down", "You round N / mean_span down; it is rounded to the nearest whole number.",
          breaks=("amounts", "all ways"), old="round(hidden / mean_span)", new="int(hidden / mean_span)")
    wrong("spans_rounded_up", "You round N / mean_span up; it is rounded to the nearest whole number.",
          breaks="amounts", old="round(hidden / mean_span)", new="math.ceil(hidden / mean_span)")
    wrong("spans_of_the_text", "You divide the length of the text by mean_span. K counts spans of *hidden* tokens: N / mean_span.",
          breaks=("amounts", "all ways"), old="round(hidden / mean_span)", new="round(len(ids) / mean_span)")
    wrong("always_three", "Your spans have three tokens on average whatever `mean_span` says. 3 is T5's choice; here it is a parameter.",
          breaks=("amounts", "all ways"), old="hidden / mean_span", new="hidden / 3")
    wrong("rate_fixed", "You hide 15 % whatever `rate` says. 0.15 is T5's choice; here it is a parameter.",
          breaks=("amounts", "all ways"), old="len(ids) * rate", new="len(ids) * 0.15")
    wrong("none_hidden", "In a text so short that T·rate rounds to 0 nothing is left to hide, and yours stops. At least one token is hidden.",
          breaks="amounts", old="max(round(len(ids) * rate), 1)", new="round(len(ids) * rate)")
    wrong("all_hidden", "Yours may hide the whole text. At least one token is kept.",
          breaks="amounts", old="min(max(round(len(ids) * rate), 1), len(ids) - 1)", new="max(round(len(ids) * rate), 1)")
    wrong("no_span", "Where N / mean_span rounds to 0 yours has no span at all. There is at least one.",
          breaks=("sentinels", "amounts"), old="max(round(hidden / mean_span), 1)", new="round(hidden / mean_span)")
    wrong("no_room", "You ask for more spans than find room: between two of them a token is kept, so there can be T − N + 1 at most.",
          breaks="amounts", old=", hidden, len(ids) - hidden + 1)", new=", hidden)")
    wrong("no_room_and_stops", "Where there is no room for so many spans, yours stops. Between two spans a token is kept, so there can be T − N + 1 at most: limit K.",
          breaks="amounts", old=(", hidden, len(ids) - hidden + 1)", LESS), new=(", hidden)", LESS + "\n    gaps[count]"))
    wrong("adjacent", "Your spans can lie side by side: between them nothing is kept, so they are one span with two sentinels. At least one token stays between two spans.",
          breaks=("amounts", "all ways"), old=(GAPS, LESS), new=("gaps = random_parts(len(ids) - hidden + count + 1, count + 1, generator)", "gaps = [gap - 1 for gap in gaps]"))
    wrong("never_at_an_end", "The first and the last token are never hidden in yours. The outer two stretches may be empty: every place can be hidden.",
          breaks=("amounts", "all ways"), old=(GAPS, LESS), new=("gaps = random_parts(max(len(ids) - hidden, count + 1), count + 1, generator)", "gaps = list(gaps)"))
    wrong("as_in_t5", "Yours always begins with a kept token and ends with a hidden one, as T5's own code does. Here all ways are to be equally likely: the outer stretches may be empty or not.",
          breaks=("amounts", "all ways"), old=(GAPS, LESS), new=("gaps = [*random_parts(len(ids) - hidden, min(count, len(ids) - hidden), generator), 0][: count + 1]", "gaps = [*gaps, 0]"))
    wrong("never_at_an_end_nor_so_many", "The first and the last token are never hidden in yours, which leaves room for fewer spans, too. The outer two stretches may be empty: every place can be hidden.",
          breaks=("amounts", "all ways"), old=(COUNT, GAPS, LESS), new=("count = max(1, min(round(hidden / mean_span), hidden, len(ids) - hidden - 1))", "gaps = random_parts(len(ids) - hidden, count + 1, generator)", "gaps = list(gaps)"))
    wrong("never_at_the_start_nor_so_many", "The first token is never hidden in yours, which leaves room for fewer spans, too. The text may begin with a span.",
          breaks=("amounts", "all ways"), old=(COUNT, GAPS, LESS), new=("count = max(1, min(round(hidden / mean_span), hidden, len(ids) - hidden))", "gaps = random_parts(len(ids) - hidden + 1, count + 1, generator)", "gaps[-1] -= 1"))
    wrong("never_at_the_end_nor_so_many", "The last token is never hidden in yours, which leaves room for fewer spans, too. The text may end with a span.",
          breaks=("amounts", "all ways"), old=(COUNT, GAPS, LESS), new=("count = max(1, min(round(hidden / mean_span), hidden, len(ids) - hidden))", "gaps = random_parts(len(ids) - hidden + 1, count + 1, generator)", "gaps[0] -= 1"))
    wrong("never_at_the_start", "The first token is never hidden in yours. The text may begin with a span.",
          breaks=("amounts", "all ways"), old=(GAPS, LESS), new=("gaps = random_parts(max(len(ids) - hidden + 1, count + 1), count + 1, generator)", "gaps[-1] -= 1"))
    wrong("never_at_the_end", "The last token is never hidden in yours. The text may end with a span.",
          breaks="all ways", old=(GAPS, LESS), new=("gaps = random_parts(max(len(ids) - hidden + 1, count + 1), count + 1, generator)", "gaps[0] -= 1"))
    wrong("equal_spans", "Of three tokens in two spans, your first span always has two and the second one. (Are spans sorted, or all equally long but for a rest?) All ways to cut N tokens into K spans are to be equally likely.",
          breaks="all ways", old=SPANS, new="spans = [hidden // count + (k < hidden % count) for k in range(count)]")
    wrong("equal_gaps", "You spread your spans evenly over the text. All ways to place them are to be equally likely.",
          breaks="all ways", old=LESS, new="free = len(ids) - hidden\n    gaps = [free // (count + 1) + (k < free % (count + 1)) for k in range(count + 1)] if free > count else [gaps[0] - 1, *gaps[1:-1], gaps[-1] - 1]")
    wrong("sorted_spans", "Of three tokens in two spans, your first span always has one and the second two. (Are spans sorted by length?) All ways to cut N tokens into K spans are to be equally likely.",
          breaks="all ways", old=SPANS, new="spans = sorted(random_parts(hidden, count, generator))")
    wrong("swapped", "You return (targets, inputs); asked is (inputs, targets).",
          breaks=("rebuilds", "sentinels", "amounts", "all ways"), old="return torch.tensor([*inputs, *tokens[start:], eos_id]), torch.tensor([*targets, sentinel_ids[count], eos_id])",
          new="return torch.tensor([*targets, sentinel_ids[count], eos_id]), torch.tensor([*inputs, *tokens[start:], eos_id])")
    wrong("own_generator", "Not all draws come from the given generator: the same state gives other spans each time. Hand it on wherever you draw.",
          breaks="generator", old=SPANS, new="spans = random_parts(hidden, count, torch.default_generator)")
    wrong("seeded", "You seed inside of the function: whatever state the generator is in, the draws are the same. Use the generator as it comes.",
          breaks=("all ways", "generator"), old=("    hidden = ",), new=("    generator = torch.Generator().manual_seed(0)\n    hidden = ",))
    wrong("lists", "You return lists. Asked are two tensors of whole numbers.",
          breaks=("rebuilds", "sentinels", "amounts", "all ways"), old="torch.tensor([*inputs, *tokens[start:], eos_id]), torch.tensor([*targets, sentinel_ids[count], eos_id])", new="[*inputs, *tokens[start:], eos_id], [*targets, sentinel_ids[count], eos_id]")
    wrong("in_place", "You change `ids` in place, and whoever called you still needs the text.",
          breaks="rebuilds", old="    tokens, inputs", new="    kept = ids.tolist()\n    ids[0] = eos_id\n    ids = torch.tensor(kept)\n    tokens, inputs")


@MISTAKES.of(bart_noise)
def in_bart_noise(wrong):
    MASKED = "[token if torch.rand((), generator=generator) >= 0.3 else \"[MASK]\" for token in tokens]"
    DELETED = "[token for token in tokens if torch.rand((), generator=generator) >= 0.3]"
    POISSON = "int(torch.poisson(torch.tensor(3.0), generator=generator))"
    KEPT = "            noisy += tokens[place : place + 1]\n            place += 1\n"
    ORDER = "order = torch.randperm(len(sentences), generator=generator).tolist()"
    ROTATED = "return tokens[start:] + tokens[:start]"
    wrong("masks_most", "You keep tokens where the draw is *below* 0.3: 70 % become [MASK]. 30 % are to.",
          breaks="mask", old=MASKED, new=MASKED.replace(">=", "<"))
    wrong("masks_as_bert", "You mask 15 % of the tokens, as BERT does. Here it is 30 %.",
          breaks="mask", old=MASKED, new=MASKED.replace("0.3", "0.15"))
    wrong("masks_all_or_none", "You draw once for the whole text: all tokens become [MASK], or none. Every token draws for itself.",
          breaks="mask", old="        return " + MASKED, new="        coin = torch.rand((), generator=generator)\n        return [token if coin >= 0.3 else \"[MASK]\" for token in tokens]")
    wrong("masks_exactly", "You mask an exact share of the tokens. Every token draws for itself: a text of one token, too, is masked with probability 0.3.",
          breaks="mask", old="        return " + MASKED, new="        places = set(torch.randperm(len(tokens), generator=generator)[: round(0.3 * len(tokens))].tolist())\n        return [\"[MASK]\" if place in places else token for place, token in enumerate(tokens)]")
    wrong("masks_by_deleting", "With \"mask\" you leave tokens out. They become [MASK], each in its place.",
          breaks="mask", old=MASKED, new=DELETED)
    wrong("masks_another_word", "The mark is spelled \"[MASK]\".",
          breaks="mask", old=MASKED, new=MASKED.replace("[MASK]", "<mask>"))
    wrong("masks_by_text", "Where a token comes twice, yours masks the first of the two whichever the draw fell on: `index` looks for the text. Count places, or build a new list.",
          breaks="mask", old="        return " + MASKED, new="        noisy = list(tokens)\n        for token in tokens:\n            if torch.rand((), generator=generator) < 0.3:\n                noisy[tokens.index(token)] = \"[MASK]\"\n        return noisy")
    wrong("deletes_most", "You keep tokens where the draw is *below* 0.3: 70 % are left out. 30 % are to be.",
          breaks="delete", old=DELETED, new=DELETED.replace(">=", "<"))
    wrong("deletes_as_bert", "You leave out 15 % of the tokens. Here it is 30 %.",
          breaks="delete", old=DELETED, new=DELETED.replace("0.3", "0.15"))
    wrong("deletes_by_masking", "With \"delete\" you put a [MASK] where a token was. It is left out without a trace: the model has to find the place, too.",
          breaks="delete", old=DELETED, new=MASKED)
    wrong("deletes_exactly", "You leave out an exact share of the tokens. Every token draws for itself: a text of one token, too, is left out with probability 0.3.",
          breaks="delete", old="        return " + DELETED, new="        places = set(torch.randperm(len(tokens), generator=generator)[: round(0.3 * len(tokens))].tolist())\n        return [token for place, token in enumerate(tokens) if place not in places]")
    wrong("deletes_all_or_none", "You draw once for the whole text: all tokens go, or none. Every token draws for itself.",
          breaks="delete", old="        return " + DELETED, new="        coin = torch.rand((), generator=generator)\n        return [token for token in tokens if coin >= 0.3]")
    wrong("deletes_in_a_loop", "You take tokens out of the list that you are going through: the loop then skips the one behind. Build a new list.",
          breaks="delete", old="        return " + DELETED, new="        left = list(tokens)\n        for token in left:\n            if torch.rand((), generator=generator) < 0.3:\n                left.remove(token)\n        return left")
    wrong("deletes_by_text", "Where a token comes twice, yours leaves out the first of the two whichever the draw fell on: `remove` and `index` look for the text. Build a new list.",
          breaks="delete", old="        return " + DELETED, new="        left = list(tokens)\n        for token in tokens:\n            if torch.rand((), generator=generator) < 0.3:\n                left.remove(token)\n        return left")
    wrong("infills_one_token", "Each [MASK] of yours stands for exactly one token: that is masking. A span is as long as a draw from Poisson(3) says.",
          breaks="infill", old=POISSON, new="1")
    wrong("infills_always_three", "All your spans have three tokens. Three is the mean: draw each length from Poisson(3).",
          breaks="infill", old=POISSON, new="3")
    wrong("infills_never_none", "Your spans never have length 0. Where Poisson gives 0 (one time in 20), a [MASK] is put in and no token goes: the model has to notice that nothing is missing.",
          breaks="infill", old=POISSON, new="max(1, " + POISSON + ")")
    wrong("infills_one_more", "Your spans are one token longer than drawn. Poisson says how many go, and 0 is possible.",
          breaks="infill", old=POISSON, new="1 + " + POISSON)
    wrong("infills_uniform", "Your lengths are drawn evenly from 0 to 6. Their mean is right, but their distribution is to be Poisson's.",
          breaks="infill", old=POISSON, new="draw_below(7, generator)")
    wrong("infills_poisson_1", "Your lengths have the mean 1. It is 3.",
          breaks="infill", old="torch.tensor(3.0)", new="torch.tensor(1.0)")
    wrong("infills_one_length", "You draw one length and use it for all spans. Draw one for each.",
          breaks="infill", old=("noisy, place = [], 0", POISSON), new=("noisy, place, length = [], 0, " + POISSON, "length"))
    wrong("infills_a_mask_each", "Each token of a span becomes a [MASK] of its own. One [MASK] stands for the whole span: how much is missing is part of the question.",
          breaks="infill", old=("noisy.append(\"[MASK]\")", "place += " + POISSON), new=("length = " + POISSON, "noisy += [\"[MASK]\"] * length\n                place += length"))
    wrong("infills_without_mask", "Your spans go without a [MASK] in their place. Each has one.",
          breaks="infill", old="                noisy.append(\"[MASK]\")\n", new="")
    wrong("infills_and_keeps", "Your [MASK] is put in, but no token goes: the place moves on by nothing.",
          breaks="infill", old="place += " + POISSON, new=POISSON)
    wrong("infills_three_in_ten", "A span begins before 30 % of the tokens in yours. With mean 3 that would hide nearly half of the text: the probability is 1/7.",
          breaks="infill", old="< 1 / 7", new="< 0.3")
    wrong("infills_side_by_side", "Behind a span yours may begin the next one at once, so two [MASK] stand side by side. The token behind a span stays.",
          breaks="infill", old=KEPT, new="                continue\n" + KEPT)
    wrong("infills_take_the_next_too", "Your spans take one token more than drawn: the one behind a span. It stays; only then may the next span begin.",
          breaks="infill", old=("place += " + POISSON, KEPT), new=("place += 1 + " + POISSON + "\n                continue", KEPT))
    wrong("infills_past_the_end", "Where a span reaches the end of the text, no token is left to stay, and yours stops. Look first whether there is one.",
          breaks=("infill", "generator"), old="noisy += tokens[place : place + 1]", new="noisy.append(tokens[place])")
    wrong("permutes_tokens", "You shuffle the tokens. It is sentences that change places; within them the order stays.",
          breaks="permute", old="sentences = [sentence for sentence in sentences if sentence]", new="sentences = [[token] for token in tokens]")
    wrong("permutes_within", "You shuffle the tokens inside of each sentence. Sentences change places, and stay as they are.",
          breaks="permute", old=ORDER, new="order = list(range(len(sentences)))\n        sentences = [[one[place] for place in torch.randperm(len(one), generator=generator).tolist()] for one in sentences]")
    wrong("permutes_without_stops", "The full stops are lost. Each stays at the end of its sentence.",
          breaks="permute", old="for token in sentences[number]]", new="for token in sentences[number] if token != \".\"]")
    wrong("permutes_without_the_rest", "What stands behind the last full stop is lost. It is a sentence, too.",
          breaks="permute", old="zip([0, *ends], [*ends, len(tokens)], strict=True)", new="zip([0, *ends], ends)")
    wrong("permutes_not_the_rest", "What stands behind the last full stop always stays at the end. It is a sentence like the others, and changes places, too.",
          breaks="permute", old=ORDER, new="last = sentences[-1][-1] != \".\"\n        order = torch.randperm(len(sentences) - last, generator=generator).tolist() + [len(sentences) - 1] * last")
    wrong("permutes_stop_at_the_start", "You cut before the full stop, so that it begins the next sentence. It ends its own.",
          breaks="permute", old="ends = [place + 1 for", new="ends = [place for")
    wrong("permutes_by_rotating", "You rotate the sentences: their order is begun elsewhere. All orders are to be equally likely.",
          breaks="permute", old=ORDER, new="first = draw_below(len(sentences), generator)\n        order = [(first + number) % len(sentences) for number in range(len(sentences))]")
    wrong("permutes_by_reversing", "You reverse the sentences. Their order is to be random, all orders equally likely.",
          breaks=("permute", "generator"), old=ORDER, new="order = list(range(len(sentences)))[::-1]")
    wrong("permutes_nothing", "Your sentences stay in their order: is the shuffled order used?",
          breaks=("permute", "generator"), old="for number in order", new="for number in range(len(order))")
    wrong("permutes_two", "You exchange two sentences, and all others stay. All orders are to be equally likely.",
          breaks="permute", old=ORDER, new="order = list(range(len(sentences)))\n        one, two = draw_below(len(order), generator), draw_below(len(order), generator)\n        order[one], order[two] = order[two], order[one]")
    wrong("rotates_from_the_second", "Yours never begins with the first token. Every token is equally likely, the first one, too: then the text stays as it is.",
          breaks="rotate", old="draw_below(len(tokens), generator)", new="min(1 + draw_below(max(len(tokens) - 1, 1), generator), len(tokens) - 1)")
    wrong("rotates_not_to_the_last", "Yours never begins with the last token. `draw_below(n, …)` leaves n out already.",
          breaks="rotate", old="draw_below(len(tokens), generator)", new="draw_below(max(len(tokens) - 1, 1), generator)")
    wrong("rotates_not_to_the_last_and_stops", "Yours never begins with the last token, and stops where there is only one. `draw_below(n, …)` leaves n out already.",
          breaks="rotate", old="draw_below(len(tokens), generator)", new="draw_below(len(tokens) - 1, generator)")
    wrong("rotates_one_too_far", "The text stays as it is too often: there is one place more in your draw than there are tokens, and behind the last one it begins with the first again. `draw_below(n, …)` leaves n out.",
          breaks="rotate", old="draw_below(len(tokens), generator)", new="draw_below(len(tokens) + 1, generator)")
    wrong("rotates_by_one", "You always rotate by one. A token is drawn, all equally likely, and the text begins with it.",
          breaks=("rotate", "generator"), old="draw_below(len(tokens), generator)", new="1")
    wrong("rotates_and_loses", "What stood before the token is lost. It comes at the end.",
          breaks="rotate", old=ROTATED, new="return tokens[start:]")
    wrong("rotates_and_turns", "The text stays as it was. It is to begin with the drawn token, and what stood before it comes behind: `tokens[start:] + tokens[:start]`, not the other way round.",
          breaks=("rotate", "generator"), old=ROTATED, new="return tokens[:start] + tokens[start:]")
    wrong("rotates_by_reversing", "What stood before the token comes at the end, but backwards. Its order stays.",
          breaks="rotate", old=ROTATED, new="return tokens[start:] + tokens[:start][::-1]")
    wrong("rotates_by_shuffling", "You shuffle the tokens. Rotating keeps their order: the text only begins elsewhere.",
          breaks="rotate", old=ROTATED, new="return [tokens[place] for place in torch.randperm(len(tokens), generator=generator).tolist()]")
    wrong("own_generator", "Not all draws come from the given generator: the same state gives another text each time. Hand it on wherever you draw.",
          breaks="generator", old=POISSON, new="int(torch.poisson(torch.tensor(3.0)))")
    wrong("seeded", "You seed inside of the function: whatever state the generator is in, the draws are the same. Use the generator as it comes.",
          breaks=("mask", "delete", "permute", "rotate", "generator"), old="    if kind == \"mask\":", new="    generator = torch.Generator().manual_seed(0)\n    if kind == \"mask\":")
    wrong("masks_in_place", "You write [MASK] into `tokens` itself, and whoever called you still needs the text. Change a copy, `list(tokens)`, or build a new list.",
          breaks="mask", old="        return " + MASKED, new="        tokens[:] = " + MASKED + "\n        return tokens")
    wrong("deletes_in_place", "You take tokens out of `tokens` itself, and whoever called you still needs the text. Build a new list.",
          breaks="delete", old="        return " + DELETED, new="        tokens[:] = " + DELETED + "\n        return tokens")
    wrong("rotates_in_place", "You rotate `tokens` itself, and whoever called you still needs the text. Build a new list.",
          breaks="rotate", old=ROTATED, new="tokens[:] = tokens[start:] + tokens[:start]\n    return tokens")
    wrong("a_text_not_a_list", "You return one string. A list of tokens is asked for.",
          breaks="mask", old="        return " + MASKED, new="        return \" \".join(" + MASKED + ")")


@MISTAKES.of(replaced_token_labels)
def in_replaced_token_labels(wrong):
    wrong("turned", "Your labels are turned round: 1 says that the token was replaced.",
          breaks="values", old="corrupted != original", new="corrupted == original")
    wrong("differences", "You subtract ids. How far two ids lie apart says nothing; the label is 1 wherever they differ.",
          breaks="values", old="(corrupted != original)", new="(corrupted - original)")
    wrong("absolute_differences", "You return how far the ids lie apart. Ids are names, not sizes; the label is 1 wherever they differ.",
          breaks="values", old="(corrupted != original)", new="(corrupted - original).abs()")
    wrong("only_larger", "You see a replacement only where the new id is larger. Any other id is one: `!=`.",
          breaks="values", old="corrupted != original", new="corrupted > original")
    wrong("only_smaller", "You see a replacement only where the new id is smaller. Any other id is one: `!=`.",
          breaks="values", old="corrupted != original", new="corrupted < original")
    wrong("signs", "Your labels are −1, 0 and 1: the sign of the difference. They are 1 wherever the ids differ, else 0.",
          breaks="values", old="(corrupted != original)", new="(corrupted - original).sign()")
    wrong("one_label_for_all", "You return one label for the whole batch. Every token has its own: (B, T).",
          breaks=("shape", "values"), old=".float()", new=".any().float()")
    wrong("one_label_a_text", "You return one label for each text. Every token has its own: (B, T).",
          breaks=("shape", "values"), old=".float()", new=".any(dim=1).float()")
    wrong("share_of_a_text", "You return which share of each text was replaced. Every token has a label of its own: (B, T).",
          breaks=("shape", "values"), old=".float()", new=".float().mean(dim=1)")
    wrong("ignored_elsewhere", "Where nothing was replaced your label is −100, as in masked language modeling. ELECTRA is asked about every token: there it is 0.",
          breaks="values", old=".float()", new=".float().masked_fill(corrupted == original, IGNORED)")
    wrong("original_ids", "You return the original ids where a token was replaced: the answer of a masked language model. ELECTRA only says whether.",
          breaks="values", old="(corrupted != original)", new="original * (corrupted != original)")
    wrong("original_ids_or_ignored", "You return the original ids where a token was replaced and −100 elsewhere: the labels of a masked language model. ELECTRA's are 1 and 0.",
          breaks="values", old="(corrupted != original)", new="original.where(corrupted != original, IGNORED)")
    wrong("corrupted_ids", "You return the new ids where a token was replaced. Asked is only whether: 1 or 0.",
          breaks="values", old="(corrupted != original)", new="corrupted * (corrupted != original)")
    wrong("token_0_counts_as_none", "A token that becomes token 0 counts as not replaced in yours. Token 0 is a token like the others.",
          breaks="values", old="(corrupted != original)", new="((corrupted != original) & (corrupted != 0))")
    wrong("not_from_token_0", "A token 0 that is replaced is missed by yours. Token 0 is a token like the others.",
          breaks="values", old="(corrupted != original)", new="((corrupted != original) & (original != 0))")
    wrong("any_nonzero", "You label every token that is not 0 in the corrupted text. The label is 1 where it differs from the original.",
          breaks="values", old="(corrupted != original)", new="(corrupted != 0)")
    wrong("all_ones", "All your labels are 1.",
          breaks="values", old="(corrupted != original)", new="torch.ones_like(original)")
    wrong("all_zeros", "All your labels are 0.",
          breaks="values", old="(corrupted != original)", new="torch.zeros_like(original)")
    wrong("places", "You return where tokens were replaced, as a list of places. Asked is a label for every token: (B, T).",
          breaks=("shape", "values"), old=".float()", new=".nonzero()")
    wrong("flat", "Your labels are in one row. They have the shape of the ids, (B, T).",
          breaks=("shape", "values"), old=".float()", new=".float().flatten()")
    wrong("nearly_equal", "Ids that are nearly equal count as the same in yours. Ids are names, not measured numbers: 29,000 and 29,001 are two tokens.",
          breaks="values", old="(corrupted != original)", new="(~torch.isclose(corrupted.float(), original.float(), rtol=1e-3))")
    wrong("xor", "`logical_xor` asks whether one of the two is 0 and the other is not. All other ids are alike to it; the label is 1 wherever they differ.",
          breaks="values", old="(corrupted != original)", new="torch.logical_xor(corrupted, original)")
    wrong("anywhere_in_the_text", "You ask whether the new token occurs anywhere in the original text. It is compared with the one in its own place.",
          breaks="values", old="(corrupted != original)", new="(corrupted[:, :, None] != original[:, None, :]).all(dim=-1)")


@MISTAKES.of(distillation_loss)
def in_distillation_loss(wrong):
    SOFT = "student_logits / temperature, dim=-1)"
    TEACHER = "teacher_logits.detach() / temperature, dim=-1)"
    KL = "F.kl_div(soft, target, reduction=\"batchmean\", log_target=True)"
    SUM = "return alpha * temperature**2 * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels)"
    wrong("no_square", "τ² is missing before the KL. Softer targets make its gradients smaller, about 1/τ²; without the factor the teacher's share fades as τ grows.",
          breaks=("values", "gradients", "one term alone"), old="alpha * temperature**2 * divergence", new="alpha * divergence")
    wrong("t_not_squared", "You multiply the KL by τ. It is τ²: the gradients shrink with 1/τ².",
          breaks=("values", "gradients", "one term alone"), old="temperature**2", new="temperature")
    wrong("divided_by_the_square", "You divide the KL by τ². Its gradients shrink with 1/τ² already; multiply.",
          breaks=("values", "gradients", "one term alone"), old="alpha * temperature**2 * divergence", new="alpha / temperature**2 * divergence")
    wrong("square_on_everything", "τ² stands before both terms. It belongs to the KL alone: the cross-entropy is taken at temperature 1.",
          breaks=("values", "gradients", "one term alone"), old="return alpha * temperature**2 * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels)", new="return temperature**2 * (alpha * divergence + (1 - alpha) * F.cross_entropy(student_logits, labels))")
    wrong("alpha_turned", "α and 1 − α are exchanged: α belongs to the KL, 1 − α to the labels.",
          breaks=("values", "gradients", "one term alone"), old=SUM, new="return (1 - alpha) * temperature**2 * divergence + alpha * F.cross_entropy(student_logits, labels)")
    wrong("no_one_minus_alpha", "Your cross-entropy has the weight 1. It is 1 − α.",
          breaks=("values", "gradients", "one term alone"), old="(1 - alpha) * F", new="F")
    wrong("kl_without_alpha", "Your KL has no weight. It is α.",
          breaks=("values", "gradients", "one term alone"), old="alpha * temperature**2 * divergence", new="temperature**2 * divergence")
    wrong("kl_alone", "The cross-entropy with the labels is missing: (1 − α) times it is added.",
          breaks=("values", "gradients", "one term alone"), old=" + (1 - alpha) * F.cross_entropy(student_logits, labels)", new="")
    wrong("labels_alone", "The KL with the teacher is missing: α·τ² times it is added.",
          breaks=("values", "gradients", "one term alone"), old="alpha * temperature**2 * divergence + ", new="")
    wrong("kl_turned", "Your KL is taken the wrong way round, KL(student ‖ teacher). Asked is KL(teacher ‖ student): the teacher's probabilities weigh the logarithms.",
          breaks=("values", "gradients", "one term alone"), old="F.kl_div(soft, target,", new="F.kl_div(target, soft,")
    wrong("soft_cross_entropy", "Instead of the KL you take the cross-entropy with the teacher's probabilities. The gradients are the same, but it is larger by the teacher's entropy, and not 0 when the student agrees.",
          breaks=("values", "one term alone"), old=KL, new="-(target.exp() * soft).sum(dim=-1).mean()")
    wrong("mean_over_classes", "Your KL is averaged over the classes, too. It is a sum over the classes and a mean over the batch: `reduction=\"batchmean\"`.",
          breaks=("values", "gradients", "one term alone"), old="\"batchmean\"", new="\"mean\"")
    wrong("kl_summed", "Your KL is summed over the batch. It is to be the mean, as the cross-entropy is: `reduction=\"batchmean\"`.",
          breaks=("values", "gradients", "one term alone"), old="\"batchmean\"", new="\"sum\"")
    wrong("ce_summed", "Your cross-entropy is summed over the batch. It is to be the mean, as the KL is.",
          breaks=("values", "gradients", "one term alone"), old="F.cross_entropy(student_logits, labels)", new="F.cross_entropy(student_logits, labels, reduction=\"sum\")")
    wrong("teacher_at_one", "The teacher's softmax is not softened: its logits, too, are divided by τ.",
          breaks=("values", "gradients", "one term alone"), old=TEACHER, new="teacher_logits.detach(), dim=-1)")
    wrong("student_at_one", "In the KL the student's softmax is not softened: its logits, too, are divided by τ.",
          breaks=("values", "gradients", "one term alone"), old=SOFT, new="student_logits, dim=-1)")
    wrong("no_temperature", "In the KL neither softmax is softened: both logits are divided by τ.",
          breaks=("values", "gradients", "one term alone"), old=(SOFT, TEACHER), new=("student_logits, dim=-1)", "teacher_logits.detach(), dim=-1)"))
    wrong("multiplied_by_t", "You multiply the logits by τ: that sharpens. They are divided.",
          breaks=("values", "gradients", "one term alone"), old=(SOFT, TEACHER), new=("student_logits * temperature, dim=-1)", "teacher_logits.detach() * temperature, dim=-1)"))
    wrong("probabilities_divided", "You divide the probabilities by τ. It is the logits that are divided, before the softmax.",
          breaks=("values", "gradients", "one term alone"), old=TEACHER, new="teacher_logits.detach(), dim=-1) - torch.log(torch.tensor(float(temperature)))")
    wrong("soft_labels_too", "Your cross-entropy with the labels is softened, too. It is taken at temperature 1.",
          breaks=("values", "gradients", "one term alone"), old="F.cross_entropy(student_logits, labels)", new="F.cross_entropy(student_logits / temperature, labels)")
    wrong("labels_for_the_teacher", "You take the cross-entropy of the teacher. It is the student who is to learn from the labels.",
          breaks=("values", "gradients", "one term alone"), old="F.cross_entropy(student_logits, labels)", new="F.cross_entropy(teacher_logits, labels)")
    wrong("softmax_over_the_batch", "Your softmax runs over the batch. It runs over the classes, the last axis.",
          breaks=("values", "gradients", "one term alone"), old="dim=-1", new="dim=0", times=2)
    wrong("probabilities_for_logs", "`F.kl_div` takes logarithms of the student's probabilities: `log_softmax`, not `softmax`.",
          breaks=("values", "gradients", "one term alone"), old="soft = F.log_softmax", new="soft = F.softmax")
    wrong("log_target_forgotten", "Your target is a logarithm, but `F.kl_div` takes it for probabilities: say `log_target=True`, or give it a softmax.",
          breaks=("values", "gradients", "one term alone"), old=", log_target=True", new="")
    wrong("target_taken_for_logs", "Your target is a softmax, but with `log_target=True` `F.kl_div` takes it for logarithms.",
          breaks=("values", "gradients", "one term alone"), old="target = F.log_softmax", new="target = F.softmax")
    wrong("log_of_softmax", "log(softmax(x)) is −∞ where a probability is too small for float32, and the loss becomes infinite or NaN. `log_softmax` computes it in one step.",
          breaks=("values", "gradients"), old="soft = F.log_softmax(student_logits / temperature, dim=-1)", new="soft = F.softmax(student_logits / temperature, dim=-1).log()")
    wrong("sign", "Your KL enters with a minus sign. A divergence is ≥ 0, and is added.",
          breaks=("values", "gradients", "one term alone"), old="return alpha", new="return -alpha")
    wrong("squared_error", "You take the squared difference of the logits. Asked is the KL of the two softmaxes at temperature τ.",
          breaks=("values", "gradients", "one term alone"), old=KL, new="(student_logits / temperature - teacher_logits.detach() / temperature).pow(2).sum(dim=-1).mean()")
    wrong("hard_teacher", "You take the teacher's best class as a label. Then all that it knows about the other classes is lost: use its probabilities.",
          breaks=("values", "gradients", "one term alone"), old=KL, new="F.nll_loss(soft, target.argmax(dim=-1))")
    wrong("teacher_learns", "Your gradient flows into the teacher, too, and would pull it towards the student. Cut it: `teacher_logits.detach()`.",
          breaks="gradients", old=".detach()", new="")
    wrong("student_detached", "You detach the student, and no gradient of the KL reaches it. It is the teacher that must not learn.",
          breaks="gradients", old=("student_logits / temperature", "teacher_logits.detach()"), new=("student_logits.detach() / temperature", "teacher_logits.detach()"))
    wrong("teacher_detached_in_place", "`detach_()` with its underscore cuts the caller's own tensor off from what made it. `detach()` gives a new one.",
          breaks="gradients", old=".detach()", new=".detach_()")


@MISTAKES.of(finetuning_loss)
def in_finetuning_loss(wrong):
    LOSS = "return task_loss + weight * lm_loss"
    wrong("weight_on_the_task", "Your weight stands before the task's loss. λ belongs to language modeling, the helper: L₃ = L₂ + λ·L₁.",
          breaks=("values", "gradients"), old=LOSS, new="return lm_loss + weight * task_loss")
    wrong("weighted_mean", "You weigh the two with λ and 1 − λ. The task always counts in full: L₃ = L₂ + λ·L₁.",
          breaks=("values", "gradients"), old=LOSS, new="return (1 - weight) * task_loss + weight * lm_loss")
    wrong("no_weight", "The weight is missing: language modeling counts λ times.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss + lm_loss")
    wrong("weight_on_both", "Your weight stands before both losses. Only that of language modeling is weighed.",
          breaks=("values", "gradients"), old=LOSS, new="return weight * (task_loss + lm_loss)")
    wrong("fixed_half", "You weigh by 0.5 whatever `weight` says. 0.5 is GPT's choice; here it is a parameter.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss + 0.5 * lm_loss")
    wrong("multiplied", "You multiply the losses. They are added: L₃ = L₂ + λ·L₁.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss * weight * lm_loss")
    wrong("subtracted", "You subtract the loss of language modeling: the model would be taught to forget how language goes. Add it.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss - weight * lm_loss")
    wrong("task_only", "The loss of language modeling is missing.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss * 1.0")
    wrong("lm_only", "The task's loss is missing.",
          breaks=("values", "gradients"), old=LOSS, new="return weight * lm_loss")
    wrong("divided", "You divide by the weight. Language modeling counts λ *times*.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss + lm_loss / weight if weight else task_loss + lm_loss * float(\"inf\")")
    wrong("mean_of_both", "You divide the sum by two. It is a plain sum: L₃ = L₂ + λ·L₁.",
          breaks=("values", "gradients"), old=LOSS, new="return (task_loss + weight * lm_loss) / 2")
    wrong("normalized", "You divide by 1 + λ. It is a plain sum: L₃ = L₂ + λ·L₁.",
          breaks=("values", "gradients"), old=LOSS, new="return (task_loss + weight * lm_loss) / (1 + weight)")
    wrong("weight_squared", "Your weight is squared. It counts once.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss + weight**2 * lm_loss")
    wrong("weight_added", "You add the weight. Language modeling is multiplied by it.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss + weight + lm_loss")
    wrong("one_plus_weight", "Your task counts 1 + λ times and language modeling λ times. The task counts once.",
          breaks=("values", "gradients"), old=LOSS, new="return (1 + weight) * task_loss + weight * lm_loss")
    wrong("larger_one", "You take the larger of the two. Both count: L₃ = L₂ + λ·L₁.",
          breaks=("values", "gradients"), old=LOSS, new="return torch.maximum(task_loss, weight * lm_loss)")
    wrong("both_separate", "You return two losses. One number is trained on: their sum.",
          breaks=("values", "gradients"), old=LOSS, new="return task_loss, weight * lm_loss")
    wrong("no_gradient_for_the_lm", "The number is right, but no gradient flows to language modeling: `.item()` or `.detach()` makes a constant of it.",
          breaks="gradients", old=LOSS, new="return task_loss + weight * lm_loss.item()")
    wrong("no_gradient_for_the_task", "The number is right, but no gradient flows to the task: `.item()` or `.detach()` makes a constant of it.",
          breaks="gradients", old=LOSS, new="return task_loss.detach() + weight * lm_loss")
    wrong("detached", "The number is right, but no gradient flows: `.detach()`, `.item()` or a new tensor cuts the way to the weights.",
          breaks="gradients", old=LOSS, new="return (task_loss + weight * lm_loss).detach()")
    wrong("in_place", "You add to `task_loss` in place, and whoever called you still wants to know it. `a = a + b` makes a new tensor; `a += b` does not.",
          breaks="gradients", old=LOSS, new="task_loss += weight * lm_loss\n    return task_loss")


@MISTAKES.of_quiz("quiz_pretraining", quiz_pretraining)
def in_quiz_pretraining(wrong):
    for question, option, sentence in (
        ("static masking", "other places in every epoch", "That is dynamic masking, RoBERTa's: the places are drawn anew each time a text is read. Static ones are drawn once, when the data are prepared."),
        ("static masking", "the same places in every text", "Every text draws its own places, also with static masking; what does not change is a text's places from epoch to epoch."),
        ("a rate of 90 %", "too few places to learn from", "There are plenty of places to learn from: nine in ten. But what is a word to be guessed from, if nine of its ten neighbors are hidden?"),
        ("a rate of 90 %", "the same loss, only faster", "The loss can't be the same: with so little context left, hardly any word can be guessed."),
        ("reading both sides", "the probabilities would not sum to one", "A softmax always sums to one. The trouble is what the model could look at: in the second layer each token's neighbors already know it."),
        ("reading both sides", "it would need twice the weights", "Attention to the left and to the right uses the same weights; only the mask differs. The trouble is what the model could look at."),
        ("not always [MASK]", "the mark has no vector", "[MASK] is a token of the vocabulary and has a vector. But it never comes in the texts that the model is used for."),
        ("not always [MASK]", "fewer places have to be predicted", "All of the chosen are predicted, also those that stay as they are."),
        ("ELECTRA learns from", "the chosen 15 %", "That is BERT. ELECTRA is asked of each token whether it was replaced, also where it was not."),
        ("ELECTRA learns from", "the replaced tokens only", "“This one is the original” is an answer, too, and it is asked for: the loss runs over every token."),
    ):
        wrong(question, option, sentence)
