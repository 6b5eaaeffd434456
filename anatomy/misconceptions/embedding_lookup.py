"""Wrong answers to the exercises of 01-embedding-lookup."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import torch
import torch.nn.functional as F

from anatomy.misconceptions import misconception, wrong_option
from anatomy.reference.embedding_lookup import quiz_embeddings

# ---------------------------------------------------------------------------------------------- learn_bpe


@misconception(
    "You count in how many words a pair occurs, but not how often those words occur: each pair counts "
    "`word_counts[word]` times.",
    breaks=("values", "ties", "repeats"),
)
def learn_bpe__counts_words_not_frequencies(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter(pair for pieces in words.values() for pair in pairwise(pieces))
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "The end mark is missing: a word starts as its characters *and* one more piece, `</w>`, so that an ending can be "
    "told from the same letters inside a word.",
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__no_end_mark(word_counts, num_merges):
    words = {word: [*word] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    'Your end mark falls apart: `list(word + "</w>")` makes the four pieces `<`, `/`, `w`, `>` of it. It is one piece '
    'from the start: `list(word) + ["</w>"]`.',
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__end_mark_in_four(word_counts, num_merges):
    words = {word: list(word + "</w>") for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You hang `</w>` on the last character (`w</w>`), but it starts as a piece of its own and has to be merged like any "
    "other.",
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__end_mark_glued_on(word_counts, num_merges):
    words = {word: [*word[:-1], word[-1] + "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You count once and take the most frequent pairs of the characters. After each merge there are new pieces, so the "
    "pairs have to be counted again.",
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__counts_only_once(word_counts, num_merges):
    counts = Counter()
    for word, count in word_counts.items():
        for pair in pairwise([*word, "</w>"]):
            counts[pair] += count
    return [pair for pair, _ in counts.most_common(num_merges)]


@misconception(
    "Among equally frequent pairs you take the one seen last; the first one wins. (`>=` in a search for the best keeps "
    "the last, `>` the first.)",
    breaks=("ties",),
)
def learn_bpe__last_of_equals(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        best, most = None, 0
        for pair, count in counts.items():
            if count >= most:
                best, most = pair, count
        if best is None:
            break
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "Among equally frequent pairs you take the last in alphabetical order (comparing `(count, pair)` does that); the "
    "one seen first wins.",
    breaks=("ties",),
)
def learn_bpe__ties_by_alphabet_last(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "Among equally frequent pairs you take the first in alphabetical order (sorting by `(-count, pair)` does that); the "
    "one seen first wins.",
    breaks=("ties",),
)
def learn_bpe__ties_by_alphabet_first(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You keep the order in which pairs turned up since the very beginning. “First seen” means: in the words as they are "
    "split at this step, so count afresh after every merge.",
    breaks=("ties",),
)
def learn_bpe__order_of_earlier_steps(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges, order = [], {}
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
                order.setdefault(pair, len(order))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], order[pair]))
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You count a pair once per word even where the word holds it several times: `banana` has (a, n) twice, so it adds "
    "twice its count.",
    breaks=("repeats",),
)
def learn_bpe__once_per_word(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in dict.fromkeys(pairwise(pieces)):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You merge only the first place in each word where the pair stands; it has to be merged everywhere: `b a n a n a` "
    "becomes `b an an a`.",
    breaks=("repeats",),
)
def learn_bpe__merges_first_place_only(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            for i in range(len(pieces) - 1):
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                    break
    return merges


@misconception(
    "You merge from right to left: `a a a` becomes `a aa`, and should become `aa a`.",
    breaks=("repeats",),
)
def learn_bpe__right_to_left(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = len(pieces) - 2
            while i >= 0:
                if (pieces[i], *pieces[i + 1 : i + 2]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                    i -= 1
                i -= 1
    return merges


@misconception(
    "A piece takes part in two merges at once: `a a a` becomes `aa aa`. After a merge go on *behind* both pieces, so "
    "that it becomes `aa a`.",
    breaks=("repeats",),
)
def learn_bpe__uses_a_piece_twice(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for word, pieces in words.items():
            merged, covered = [], False
            for i, piece in enumerate(pieces):
                if tuple(pieces[i : i + 2]) == best:
                    merged.append("".join(best))
                    covered = True
                elif covered:
                    covered = False
                else:
                    merged.append(piece)
            words[word] = merged
    return merges


@misconception(
    "You merge across the end of a word: `</w>` must never be the left half of a pair. Keep each word's pieces in a "
    "list of their own.",
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__across_words(word_counts, num_merges):
    pieces = [piece for word, count in word_counts.items() for _ in range(count) for piece in (*word, "</w>")]
    merges = []
    for _ in range(num_merges):
        counts = Counter(pairwise(pieces))
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        i = 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == best:
                pieces[i : i + 2] = ["".join(best)]
            i += 1
    return merges


@misconception(
    "Your `replace` on the text with spaces also hits the end of a longer piece: in `ra t` it finds `a t`, though `a` is "
    "no piece there. Compare whole pieces.",
    breaks=("values", "repeats"),
)
def learn_bpe__replaces_in_text(word_counts, num_merges):
    texts = {" ".join([*word, "</w>"]): count for word, count in word_counts.items()}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for text, count in texts.items():
            for pair in pairwise(text.split()):
                counts[pair] += count
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        texts = {text.replace(" ".join(best), "".join(best)): count for text, count in texts.items()}
    return merges


@misconception(
    "You return the merged pieces; wanted are the pairs, `(left, right)`, because later it matters what was joined.",
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__returns_merged_text(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append("".join(best))
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You return each pair together with its count; wanted are the pairs alone.",
    breaks=("values", "ties", "repeats", "stops early"),
)
def learn_bpe__returns_counts_too(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append((best, counts[best]))
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You stop at pairs that occur only once. Here the sole reason to stop early is that no pair is left at all.",
    breaks=("stops early",),
)
def learn_bpe__stops_at_rare_pairs(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts or max(counts.values()) < 2:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "When every word is a single piece there is no pair left, and the search for the best one fails on an empty list: "
    "stop before it.",
    breaks=("stops early",),
)
def learn_bpe__never_stops_early(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You return each pair as one text with a space in it; wanted is a tuple of two pieces, `(left, right)`.",
    breaks=(
        "values",
        "ties",
        "repeats",
        "stops early",
    ),
)
def learn_bpe__pair_as_text(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(" ".join(best))
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You put `</w>` in front of the word. It marks the word’s end and comes after the last character.",
    breaks=(
        "values",
        "ties",
        "repeats",
        "stops early",
    ),
)
def learn_bpe__mark_in_front(word_counts, num_merges):
    words = {word: ["</w>", *word] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You go through the words from the most frequent to the rarest. Ties go to the pair seen first in the order of the dict, as it was handed over.",
    breaks=("ties",),
)
def learn_bpe__most_frequent_words_first(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in sorted(word_counts, key=lambda word: -word_counts[word])}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You go through the words in alphabetical order. Ties go to the pair seen first in the order of the dict, as it was handed over.",
    breaks=("ties",),
)
def learn_bpe__words_by_alphabet(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in sorted(word_counts)}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


@misconception(
    "You divide each pair’s count by the counts of its two pieces, as WordPiece’s training does to favor likely pairs. Byte-pair encoding takes the plain count.",
    breaks=(
        "values",
        "ties",
        "repeats",
        "stops early",
    ),
)
def learn_bpe__score_of_wordpiece(word_counts, num_merges):
    words = {word: [*word, "</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                counts[pair] += word_counts[word]
        if not counts:
            break
        single = Counter()
        for word, pieces in words.items():
            for piece in pieces:
                single[piece] += word_counts[word]
        best = max(counts, key=lambda pair: counts[pair] / (single[pair[0]] * single[pair[1]]))
        merges.append(best)
        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = ["".join(best)]
                i += 1
    return merges


# ---------------------------------------------------------------------------------------------- wordpiece


@misconception(
    "You take the shortest piece that fits, so a word falls into single characters; take the longest.",
    breaks=("values", "never goes back"),
)
def wordpiece__shortest_match(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(start + 1, len(word) + 1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [unk]
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "You look pieces inside a word up without `##`: there, `ing` and `##ing` are two different entries of the "
    "vocabulary, and the second is meant.",
    breaks=("values", "unknown words"),
)
def wordpiece__looks_up_without_mark(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            if word[start:end] in vocab:
                break
        else:
            return [unk]
        pieces.append(word[start:end])
        start = end
    return pieces


@misconception(
    "You look up inside a word without `##` and write the mark only afterwards: so you return pieces that are not in "
    "the vocabulary.",
    breaks=("values", "unknown words"),
)
def wordpiece__marks_afterwards(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            if word[start:end] in vocab:
                break
        else:
            return [unk]
        pieces.append(("##" if start else "") + word[start:end])
        start = end
    return pieces


@misconception(
    "The cuts are right, but the `##` is lost on the way out: return the pieces as they stand in the vocabulary.",
    breaks=("values",),
)
def wordpiece__drops_the_mark(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [unk]
        pieces.append(word[start:end])
        start = end
    return pieces


@misconception(
    "You put `##` in front of the first piece, too. It marks pieces that *continue* a word; the first has none.",
    breaks=("values", "unknown words"),
)
def wordpiece__marks_the_first_too(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            if "##" + word[start:end] in vocab:
                break
        else:
            return [unk]
        pieces.append("##" + word[start:end])
        start = end
    return pieces


@misconception(
    "You accept a piece with or without `##` at any place. At the start of a word only entries without the mark fit, "
    "inside a word only entries with it.",
    breaks=("values", "unknown words"),
)
def wordpiece__either_form(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = next((form for form in (word[start:end], "##" + word[start:end]) if form in vocab), None)
            if piece is not None:
                break
        else:
            return [unk]
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "You keep the pieces found so far and add the unknown mark for the rest. A word that can't be covered to its end "
    "becomes the unknown mark as a whole.",
    breaks=("unknown words", "never goes back"),
)
def wordpiece__unknown_rest(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [*pieces, unk]
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "You write the unknown mark for a single character and go on behind it. A word that can't be covered becomes the "
    "unknown mark as a whole.",
    breaks=("unknown words", "never goes back"),
)
def wordpiece__unknown_character(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                break
        else:
            pieces.append(unk)
            end = start + 1
        start = end
    return pieces


@misconception(
    "You skip characters that no piece covers, so a word loses letters without a trace. It has to become the unknown "
    "mark as a whole.",
    breaks=("unknown words", "never goes back"),
)
def wordpiece__skips_what_it_cannot_cover(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                break
        else:
            end = start + 1
        start = end
    return pieces or [unk]


@misconception(
    "You write `[UNK]` whatever the caller asks for: the third argument, `unk`, names the mark.",
    breaks=("unknown words",),
)
def wordpiece__fixed_unk(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "For an unknown word you return the mark itself; wanted is a list with the mark in it, as for every other word.",
    breaks=("unknown words", "never goes back"),
)
def wordpiece__bare_unk(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return unk
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "You go back and try a shorter piece when the rest doesn't fit. That finds more cuts, but BERT's rule is greedy: "
    "the longest piece stays, and if nothing fits behind it the word is unknown.",
    breaks=("never goes back",),
)
def wordpiece__goes_back(word, vocab, unk="[UNK]"):
    def cover(start):
        if start == len(word):
            return []
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab and (rest := cover(end)) is not None:
                return [piece, *rest]
        return None

    pieces = cover(0)
    return [unk] if pieces is None else pieces


@misconception(
    "You cut from the end of the word. The longest piece is to be taken from its beginning, then onwards.",
    breaks=("values", "never goes back"),
)
def wordpiece__from_the_end(word, vocab, unk="[UNK]"):
    pieces, end = [], len(word)
    while end > 0:
        for start in range(end):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [unk]
        pieces.insert(0, piece)
        end = start
    return pieces


@misconception(
    "Single characters are never tried: your range stops one step before the shortest piece.",
    breaks=("values",),
)
def wordpiece__no_single_characters(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start + 1, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [unk]
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "You lower-case the word. Whether to do that is decided before this step; here the word is taken as it comes.",
    breaks=("values",),
)
def wordpiece__lower_cases(word, vocab, unk="[UNK]"):
    word = word.lower()
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [unk]
        pieces.append(piece)
        start = end
    return pieces


@misconception(
    "You return one text with spaces; wanted is the list of pieces.",
    breaks=(
        "values",
        "unknown words",
        "never goes back",
    ),
)
def wordpiece__joined_text(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return unk
        pieces.append(piece)
        start = end
    return " ".join(pieces)


@misconception(
    "You return the ids. They come in the next step; here the pieces themselves are wanted.",
    breaks=("values",),
)
def wordpiece__ids_for_pieces(word, vocab, unk="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                break
        else:
            return [unk]
        pieces.append(vocab[piece])
        start = end
    return pieces


@misconception(
    "You look only the whole word up. A word that is no entry has to be cut into entries before it may count as unknown.",
    breaks=("values",),
)
def wordpiece__whole_words_only(word, vocab, unk="[UNK]"):
    return [word] if word in vocab else [unk]


@misconception(
    "You stop after the first piece; go on behind it until the word is used up.",
    breaks=(
        "values",
        "unknown words",
        "never goes back",
    ),
)
def wordpiece__first_piece_only(word, vocab, unk="[UNK]"):
    for end in range(len(word), 0, -1):
        if word[:end] in vocab:
            return [word[:end]]
    return [unk]


# ---------------------------------------------------------------------------------------------- one_hot_lookup


@misconception(
    "The vectors are right, but you pick rows instead of multiplying. How one can tell: one row that no id asks for "
    "holds an ∞ here, and in a product 0 · ∞ = NaN reaches every token. Multiply one-hot rows with `weight`.",
    breaks=("a real product",),
)
def one_hot_lookup__picks_rows(ids, weight):
    return weight[ids]


@misconception(
    "`F.one_hot` guesses the number of columns from the largest id it sees, so they don't fit the rows of `weight`: "
    "tell it that there are `weight.size(0)`.",
    breaks=("shape", "values", "a real product", "gradients"),
)
def one_hot_lookup__guesses_the_vocabulary(ids, weight):
    return F.one_hot(ids).to(weight.dtype) @ weight


@misconception(
    "Your one-hot rows have D columns; they need one for each of the V rows of `weight`: `weight.size(0)`, not "
    "`weight.size(1)`.",
    breaks=("shape", "values", "a real product", "gradients"),
)
def one_hot_lookup__width_for_vocabulary(ids, weight):
    return F.one_hot(ids, weight.size(1)).to(weight.dtype) @ weight


@misconception(
    "You multiply integers with floats: `F.one_hot` returns whole numbers, so turn them into `weight.dtype` first.",
    breaks=("shape", "values", "a real product", "gradients"),
)
def one_hot_lookup__integers(ids, weight):
    return F.one_hot(ids, weight.size(0)) @ weight


@misconception(
    "You return the one-hot rows themselves; they still have to be multiplied with `weight`.",
    breaks=("shape", "values", "a real product", "gradients"),
)
def one_hot_lookup__no_product(ids, weight):
    return F.one_hot(ids, weight.size(0)).to(weight.dtype)


@misconception(
    "You count ids from one: id 0 has its 1 in column 0, and so on up to V − 1.",
    breaks=("values", "a real product", "gradients"),
)
def one_hot_lookup__counts_from_one(ids, weight):
    one_hot = ids.unsqueeze(-1) == torch.arange(1, weight.size(0) + 1)
    return one_hot.to(weight.dtype) @ weight


@misconception(
    "Your rows hold the id itself where they should hold a 1, so each vector comes out id times too long.",
    breaks=("values", "a real product", "gradients"),
)
def one_hot_lookup__id_for_one(ids, weight):
    one_hot = ids.unsqueeze(-1) == torch.arange(weight.size(0))
    return (one_hot * ids.unsqueeze(-1)).to(weight.dtype) @ weight


@misconception(
    "You put the ones of all tokens into a single row, so their vectors are summed (a bag of words); each token needs a "
    "row of its own.",
    breaks=("shape", "values", "a real product", "gradients"),
)
def one_hot_lookup__bag_of_words(ids, weight):
    one_hot = ids.unsqueeze(-1) == torch.arange(weight.size(0))
    return one_hot.any(-2).to(weight.dtype) @ weight


# ---------------------------------------------------------------------------------------------- embedding_lookup


@misconception(
    "The vectors are right, but you multiply with one-hot rows, which reads the whole table: an ∞ in a row that no id "
    "asks for turns your result into NaN. Index the rows you need.",
    breaks=("only its own rows",),
)
def embedding_lookup__product(ids, weight):
    return F.one_hot(ids, weight.size(0)).to(weight.dtype) @ weight


@misconception(
    "You index the columns of `weight`. An id is the number of a *row*: the first axis.",
    breaks=("shape", "values", "only its own rows", "gradients"),
)
def embedding_lookup__columns(ids, weight):
    return weight[:, ids]


@misconception(
    "You index the transposed table, so an id picks a column. `weight` is (V, D): one row per id.",
    breaks=("shape", "values", "only its own rows", "gradients"),
)
def embedding_lookup__transposed(ids, weight):
    return weight.T[ids]


@misconception(
    "You subtract one from the ids. They already count from zero; and −1 silently means the last row.",
    breaks=("values", "only its own rows", "gradients"),
)
def embedding_lookup__counts_from_one(ids, weight):
    return weight[ids - 1]


@misconception(
    "You flatten the ids: the tokens of all sentences stand in one long list. Keep the shape of `ids` and add D behind "
    "it.",
    breaks=("shape", "values", "only its own rows", "gradients"),
)
def embedding_lookup__flattens(ids, weight):
    return weight[ids.flatten()]


@misconception(
    "You look only the first sentence up; the result needs every axis of `ids`.",
    breaks=("shape", "values", "only its own rows", "gradients"),
)
def embedding_lookup__first_sentence(ids, weight):
    return weight[ids[0]]


@misconception(
    "You give every row of the table once, in order, and lose which token asked for it: index with `ids` itself.",
    breaks=("shape", "values", "only its own rows", "gradients"),
)
def embedding_lookup__each_id_once(ids, weight):
    return weight[ids.unique()]


@misconception(
    "The vectors are right, but they are cut from `weight`, so the table could never learn: index `weight` itself, not "
    "`weight.detach()` or `weight.data`.",
    breaks=("only its own rows", "gradients"),
)
def embedding_lookup__detached(ids, weight):
    return weight.detach()[ids]


@misconception(
    "You multiply by √D. The first Transformer does that (Vaswani et al. 2017, §3.4), but as a step after the lookup; "
    "here the row is wanted as it stands.",
    breaks=("values", "only its own rows", "gradients"),
)
def embedding_lookup__scaled(ids, weight):
    return weight[ids] * weight.size(1) ** 0.5


@misconception(
    "You average over the tokens, and one vector per sentence is left. Here each token keeps its own.",
    breaks=("shape", "values", "only its own rows", "gradients"),
)
def embedding_lookup__average(ids, weight):
    return weight[ids].mean(-2)


# ---------------------------------------------------------------------------------------------- nearest_tokens


@misconception(
    "The token itself is among its neighbors (its cosine with itself is 1). Leave `query_id` out before you take the "
    "largest.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__includes_itself(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    return (unit @ unit[query_id]).topk(k).indices


@misconception(
    "You compare dot products, so long vectors win whatever their direction. The cosine divides by *both* lengths.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__dot_product(query_id, weight, k):
    score = weight @ weight[query_id]
    score[query_id] = -torch.inf
    return score.topk(k).indices


@misconception(
    "You compare distances, to which the lengths contribute. The cosine looks at directions only.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__distance(query_id, weight, k):
    gap = (weight - weight[query_id]).norm(dim=-1)
    gap[query_id] = torch.inf
    return gap.topk(k, largest=False).indices


@misconception(
    "You take k + 1 and drop the first, trusting that the token itself comes first. Another row with the same direction "
    "can stand before it: leave out `query_id`, not a place in the list.",
    breaks=("excluded by id",),
)
def nearest_tokens__drops_the_first(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    return (unit @ unit[query_id]).round(decimals=5).argsort(descending=True, stable=True)[1 : k + 1]


@misconception(
    "You leave out every row that points the same way as the token. Such a row is another token's, and the nearest of "
    "all: leave out `query_id` only.",
    breaks=("excluded by id",),
)
def nearest_tokens__drops_all_twins(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = unit @ unit[query_id]
    cosine[cosine > 0.99999] = -torch.inf
    return cosine.topk(k).indices


@misconception(
    "The order is reversed: you return the farthest tokens. Nearest means the *largest* cosine.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__farthest(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = unit @ unit[query_id]
    cosine[query_id] = torch.inf
    return cosine.argsort()[:k]


@misconception(
    "You found the right tokens but list the nearest last; it comes first.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__nearest_last(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = unit @ unit[query_id]
    cosine[query_id] = -torch.inf
    return cosine.topk(k).indices.flip(0)


@misconception(
    "You return the cosines themselves; wanted are the ids they belong to (`.indices`).",
    breaks=("shape", "values", "excluded by id"),
)
def nearest_tokens__returns_cosines(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = unit @ unit[query_id]
    cosine[query_id] = -torch.inf
    return cosine.topk(k).values


@misconception(
    "You drop the sign: a vector that points the opposite way (cosine near −1) is as far as can be, not near.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__drops_the_sign(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = (unit @ unit[query_id]).abs()
    cosine[query_id] = -torch.inf
    return cosine.topk(k).indices


@misconception(
    "You return one token too few: k of them without the token itself, so drop it before you take k.",
    breaks=("shape", "values", "excluded by id"),
)
def nearest_tokens__one_too_few(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    return (unit @ unit[query_id]).topk(k).indices[1:]


@misconception(
    "You divide by the lengths of the columns. The length of a token's vector is that of its row: `dim=-1`.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__normalizes_columns(query_id, weight, k):
    unit = F.normalize(weight, dim=0)
    cosine = unit @ unit[query_id]
    cosine[query_id] = -torch.inf
    return cosine.topk(k).indices


@misconception(
    "You take the row out of the table before you search, and every later row moves up by one: your places are no "
    "longer ids.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__shifted_ids(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    others = torch.cat([unit[:query_id], unit[query_id + 1 :]])
    return (others @ unit[query_id]).topk(k).indices


@misconception(
    "You set the token's own cosine to 0, but other cosines are negative, so it comes back among them. Use −∞.",
    breaks=("values",),
)
def nearest_tokens__zeroes_itself(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = unit @ unit[query_id]
    cosine[query_id] = 0.0
    return cosine.topk(k).indices


@misconception(
    "You return k + 1 tokens, the token itself among them. Wanted are k others.",
    breaks=("shape", "values", "excluded by id"),
)
def nearest_tokens__one_too_many(query_id, weight, k):
    unit = F.normalize(weight, dim=-1)
    cosine = unit @ unit[query_id]
    return cosine.argsort(descending=True)[: k + 1]


@misconception(
    "You compare dot products and then drop the first of the list. Divide by both lengths to get the cosine, and leave "
    "out `query_id` itself: the first need not be it.",
    breaks=("values", "excluded by id"),
)
def nearest_tokens__dot_product_without_the_first(query_id, weight, k):
    score = weight @ weight[query_id]
    return score.argsort(descending=True)[1 : k + 1]


# ---------------------------------------------------------------------------------------------- quiz_embeddings

quiz_embeddings__wrong = [
    wrong_option(
        "quiz_embeddings", quiz_embeddings, "flies twice", "different",
        "the lookup knows only the id, 10029 both times; nothing of the sentence reaches it.",
    ),
    wrong_option(
        "quiz_embeddings", quiz_embeddings, "flies twice", "the same up to their length",
        "a lookup copies the row as it is, its length included: the two are equal number by number.",
    ),
    wrong_option(
        "quiz_embeddings", quiz_embeddings, "rows that learn", "row 5 only",
        "twice in the batch means that two gradients are added in row 5; row 9 is used too and gets its own.",
    ),
    wrong_option(
        "quiz_embeddings", quiz_embeddings, "rows that learn", "all rows",
        "a row that no id picks has no part in what the lookup returns: by this way its gradient is exactly zero.",
    ),
    wrong_option(
        "quiz_embeddings", quiz_embeddings, "a new word", "the unknown mark",
        "that happens only if not even its characters are in the vocabulary; letters are, so pieces cover it.",
    ),
    wrong_option(
        "quiz_embeddings", quiz_embeddings, "a new word", "a new row of the matrix",
        "the matrix has a fixed number of rows once training has begun; a new word has to make do with them.",
    ),
]  # fmt: skip
