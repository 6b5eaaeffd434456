"""Wrong answers to the exercises of 01-embedding-lookup."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from anatomy.course.nb01_embedding_lookup import right
from anatomy.engine.families import squeezed
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# A place, what mistakes there cost, and for each its name, what it puts there, and its sentence.


@MISTAKES.of(right.learn_bpe)
def in_learn_bpe(at):
    MERGES = ("values", "ties", "repeats", "stops early")
    START = '[*word, "</w>"]'
    BEST = "max(counts, key=lambda pair: counts[pair])  # of equals, the first that was counted"
    JOIN = "pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]"
    at("+= word_counts[word]", ("values", "ties", "repeats"), ("counts_words_not_frequencies", "+= 1", "You count each word of the dict as if it occurred once. At every position a pair counts `word_counts[word]` times."))
    at(START, MERGES,
       ("no_end_mark", "[*word]", "The end mark takes no part: a word starts as its characters *and* one more piece, `</w>`, and pairs with it are counted and merged like any other, so that an ending can be told from the same letters inside a word."),
       ("end_mark_in_four", 'list(word + "</w>")', 'Your end mark falls apart into the four pieces `<`, `/`, `w`, `>` (`list(word + "</w>")` does that). It is one piece from the start: `list(word) + ["</w>"]`.'),
       ("end_mark_glued_on", '[*word[:-1], word[-1] + "</w>"]', "You hang `</w>` on the last character (`w</w>`), but it starts as a piece of its own and has to be merged like any other."),
       ("lower_cases", '[*word.lower(), "</w>"]', "You lower-case the words. A word starts as its characters, taken as they are: `A` and `a` are two.", "values"),
       ("mark_in_front", '["</w>", *word]', "You put `</w>` in front of the word. It marks the word’s end and comes after the last character."))

    @MISTAKES.mistake("You return the most frequent pairs of the words as they start, before any merge. Each merge makes new pieces: join the pair in the words, then count again.",
                   breaks=MERGES)
    def learn_bpe__counts_only_once(word_counts, num_merges):
        counts = Counter()
        for word, count in word_counts.items():
            for pair in pairwise([*word, "</w>"]):
                counts[pair] += count
        return [pair for pair, _ in counts.most_common(num_merges)]

    @MISTAKES.mistake("Your pairs reach over `</w>` into the next word, as they do when all words stand in one list. Keep each word's pieces in a list of their own.",
                   breaks=MERGES)
    def learn_bpe__all_words_in_one_list(word_counts, num_merges):
        text = [(piece, count) for word, count in word_counts.items() for piece in [*word, "</w>"]]
        merges = []
        while len(merges) < num_merges and len(text) > 1:
            counts = Counter()
            for (first, count), (second, _) in pairwise(text):
                counts[first, second] += count
            merges.append(best := max(counts, key=counts.get))
            i = 0
            while i < len(text) - 1:
                if (text[i][0], text[i + 1][0]) == best:
                    text[i : i + 2] = [("".join(best), text[i][1])]
                i += 1
        return merges

    NEW_COUNTER = "        counts: Counter[tuple[str, str]] = Counter()\n"
    ADDS_UP = "Each step adds its counts to those of the steps before it (one `Counter` for all steps does that), so pairs that are gone still count. Begin each step with empty counts."
    at(("    for _ in range(num_merges):\n", NEW_COUNTER), MERGES, ("counts_add_up", ("    counts = Counter()\n    for _ in range(num_merges):\n", ""), ADDS_UP))
    at(("    for _ in range(num_merges):\n", NEW_COUNTER, "if not counts:"), MERGES, ("counts_add_up_to_the_end", ("    counts = Counter()\n    for _ in range(num_merges):\n", "", "if all(len(pieces) == 1 for pieces in words.values()):"), ADDS_UP))
    at(("    for _ in range(num_merges):\n", NEW_COUNTER, "merges.append(best)"), MERGES, ("counts_add_up_but_the_merged", ("    counts = Counter()\n    for _ in range(num_merges):\n", "", "merges.append(best)\n        del counts[best]"), ADDS_UP))
    at(BEST, "ties",
       ("last_of_equals", "sorted(counts, key=lambda pair: counts[pair])[-1]", "Among equally frequent pairs you take the one seen last; the first one wins. (`>=` in a search for the best keeps the last, `>` the first.)"),
       ("ties_by_alphabet_last", "max(counts, key=lambda pair: (counts[pair], pair))", "Among equally frequent pairs you take the last in alphabetical order (comparing `(count, pair)` does that); the one seen first wins."),
       ("ties_by_alphabet_first", "min(counts, key=lambda pair: (-counts[pair], pair))", "Among equally frequent pairs you take the first in alphabetical order (sorting by `(-count, pair)` does that); the one seen first wins."),
       ("largest_by_alphabet", "max(counts)", "You take the pair that is last in alphabetical order, however rare it is (`max(counts)` does that). Compare the counts: `max(counts, key=counts.get)`.", MERGES),
       ("largest_count", "max(counts.values())", "You keep the largest *count*, a number, where the pair that has it is needed: `max(counts, key=counts.get)`.", MERGES))
    at(("merges: list[tuple[str, str]] = []", "            for pair in pairwise(pieces):\n", BEST), "ties", ("order_of_earlier_steps", ("merges, seen = [], {}", "            for pair in pairwise(pieces):\n                seen.setdefault(pair, len(seen))\n", "max(counts, key=lambda pair: (counts[pair], -seen[pair]))"), "You keep the order in which pairs turned up since the very beginning. “First seen” means: in the words as they are split at this step, so take the order from this step's count alone."))
    at("in pairwise(pieces)", "repeats",
       ("once_per_word", "in dict.fromkeys(pairwise(pieces))", "You count a pair once per word even where the word holds it several times: `banana` has (a, n) twice, so it adds twice its count."),
       ("each_word_once_a_piece", "in zip(pieces, pieces)", "You count a word's pieces, but the pair must be one of *neighbors*: zip the pieces with themselves moved by one, or use `pairwise`.", MERGES))
    at(JOIN, "repeats",
       ("merges_first_place_only", "pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]\n                    break", "You merge only the first position in each word where the pair is; it has to be merged everywhere: `b a n a n a` becomes `b an an a`."),
       ("skips_after_merge", "pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]\n                    i += 1", "After a merge you pass over the piece that comes next (so does a `replace` with a space on each side), and a pair that begins with it stays as it is: (a, b) turns `a b a b` into `ab a b`. Look at that piece, too."),
       ("uses_a_piece_twice", "again = tuple(pieces[i + 1 : i + 3]) == best\n                    pieces[i : i + 1 if again else i + 2] = [pieces[i] + pieces[i + 1]]", "A piece takes part in two merges at once: `a a a` becomes `aa aa`. After a merge go on *after* both pieces, so that it becomes `aa a`."),
       ("never_merges", "pass", "The pieces never change: each step finds the most frequent pair, but merges it in no word, so the next step finds it again.", MERGES))
    PIECES = """        for pieces in words.values():
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
                i += 1
"""
    at(PIECES, "values", ("not_escaped", """        import re
        pattern = re.compile(rf"(?<!\\S){best[0]} {best[1]}(?!\\S)")
        words = {word: pattern.sub("".join(best), " ".join(pieces)).split() for word, pieces in words.items()}
""", "The pieces go into a regular expression as they are, where signs such as `(` and `.` mean something else. Escape each: `re.escape(piece)`."))
    at(("i = 0\n            while i < len(pieces) - 1:", "\n                i += 1"), "repeats",
       ("range_of_the_old_length", ("for i in range(len(pieces) - 1):", ""), "Your index runs past the last piece. Each merge makes the list shorter, but a `range(len(pieces) - 1)` keeps the length from before: `while i < len(pieces) - 1` asks for it again at each step.", ("values", "ties", "repeats")),
       ("right_to_left", ("for i in reversed(range(len(pieces) - 1)):", ""), "You merge from right to left: `a a a` becomes `a aa`, and should become `aa a`."))
    at(('words = {word: [*word, "</w>"] for word in word_counts}  # word -> its pieces so far', "+= word_counts[word]"), MERGES, ("across_words", ('text = [piece for word, count in word_counts.items() for piece in [*word, "</w>"] * count]\n    words = {"": text}', "+= 1"), "You merge across the end of a word: `</w>` must never be the left half of a pair. Keep each word's pieces in a list of their own."))
    LONGER = "Your merge in the text with spaces also hits the end of a longer piece: in `ra t` it finds `a t`, though `a` is no piece there. (`replace` and `re.sub` don't know pieces.) Compare whole pieces."
    MERGING = """\
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
                i += 1
"""
    at(MERGING, ("values", "repeats"),
       ("replaces_in_text", '            pieces[:] = " ".join(pieces).replace(" ".join(best), "".join(best)).split()\n', LONGER),
       ("replaces_in_text_to_a_space", '            pieces[:] = (" ".join(pieces) + " ").replace(" ".join(best) + " ", "".join(best) + " ").split()\n', LONGER),
       ("replaces_in_text_from_a_space", '            pieces[:] = (" " + " ".join(pieces)).replace(" " + " ".join(best), " " + "".join(best)).split()\n', "Your merge in the text with spaces also hits the beginning of a longer piece: in `s ik` it finds `s i`, though `i` is no piece there. (`replace` and `re.sub` don't know pieces.) Compare whole pieces.", "values"))
    at(("        for pieces in words.values():\n            i = 0\n", "                i += 1\n"), "ties", ("changed_words_last", ("        for word, pieces in list(words.items()):\n            before, i = len(pieces), 0\n", "                i += 1\n            if len(pieces) < before:\n                words[word] = words.pop(word)\n"), "A word that a merge changes goes behind the other words for you, as it does in a dict when it gets a new key. Ties go to the pair seen first, so the words have to stay in the order in which they were handed over."))
    at("merges.append(best)", MERGES,
       ("returns_merged_text", 'merges.append("".join(best))', "You return the merged pieces; wanted are the pairs, `(left, right)`, because later it matters what was joined."),
       ("returns_counts_too", "merges.append((best, counts[best]))", "You return each pair together with its count; wanted are the pairs alone."),
       ("pair_as_text", 'merges.append(" ".join(best))', "You return each pair as one text with a space in it; wanted is a tuple of two pieces, `(left, right)`."))
    at("if not counts:", "stops early", ("stops_at_rare_pairs", "if not counts or max(counts.values()) < 2:", "You stop at pairs that occur only once. Here the sole reason to stop early is that no pair is left at all."))
    NO_PAIR = "When every word is a single piece, or there is no word, no pair is left, and so no best one to take: stop there, and return the merges so far."
    at("        if not counts:\n            break\n", "stops early", ("never_stops_early", "", NO_PAIR))
    at(("        if not counts:\n            break\n        best = ", "merges.append(best)"), "stops early",
       ("adds_none", ("        best = None if not counts else ", "merges.append(best)"), NO_PAIR),
       ("unpacks_none", ("        best = None if not counts else ", "left, right = best\n        merges.append((left, right))"), NO_PAIR),
       ("indexes_none", ("        best = None if not counts else ", "merges.append((best[0], best[1]))"), NO_PAIR))
    at(("        if not counts:\n            break\n", BEST), "stops early", ("first_of_no_pairs", ("", "counts.most_common(1)[0][0]"), NO_PAIR))
    at("in word_counts}  # word -> its pieces so far", "ties", ("most_frequent_words_first", "in sorted(word_counts, key=lambda word: -word_counts[word])}", "You go through the words from the most frequent to the rarest. Ties go to the pair seen first in the order of the dict, as it was handed over."))
    at("in word_counts}", "ties", ("words_by_alphabet", "in sorted(word_counts)}", "You go through the words in alphabetical order. Ties go to the pair seen first in the order of the dict, as it was handed over."))
    at(("        best = max", "pair: counts[pair])  # of equals, the first that was counted"), MERGES, ("score_of_wordpiece", ("        single = Counter()\n        for word, pieces in words.items():\n            for piece in pieces:\n                single[piece] += word_counts[word]\n        best = max", "pair: counts[pair] / (single[pair[0]] * single[pair[1]]))"), "You divide each pair’s count by the counts of its two pieces, as WordPiece’s training does to favor likely pairs. Byte-pair encoding takes the plain count."))
    at("while i < len(pieces) - 1:", MERGES, ("last_pair_never_merged", "while i < len(pieces) - 2:", "You never merge the last two pieces of a word: `a n </w>` stays three pieces where (n, </w>) is merged. Your search for the pair has to reach them."))
    at("                i += 1\n", MERGES, ("merges_in_one_word", "                i += 1\n            if best[0] + best[1] in pieces:\n                break\n", "You merge the pair only in the first word that holds it, and the other words keep it in two pieces. It has to be merged in every word."))
    at("i += 1\n", MERGES, ("steps_over_pairs", "i += 2\n", "You go on by two pieces at every step, so a pair that begins at the piece in between is never merged: go on by one."))
    at("            for pair in pairwise(pieces):\n                counts", "repeats", ("overlaps_count_once", "            last = None\n            for pair in pairwise(pieces):\n                last = None if pair == last and pair[0] == pair[1] else pair\n                if last is None:\n                    continue\n                counts", "Where a pair overlaps itself you count it once: `a a a` holds (a, a) at two positions. Count every two neighbors."))
    at("max(counts, key", MERGES, ("rarest", "min(counts, key", "You take the rarest pair; the most frequent one is merged first."))
    at("range(num_merges)", "stops early",
       ("zero_is_no_limit", "range(num_merges or 10**6)", "With `num_merges` = 0 you learn as many merges as if there were no limit. The list has to stay empty then: see what your program does with 0 before it adds the first merge."),
       ("one_merge_at_least", "range(max(num_merges, 1))", "With `num_merges` = 0 you learn one merge. The list has to stay empty then: ask whether it is long enough *before* you add to it."),
       ("one_merge_too_few", "range(num_merges - 1)", "You stop one merge early: `num_merges` are needed, and fewer only when no pair is left.", ("values", "ties", "repeats")),
       ("one_merge_too_many", "range(num_merges + 1)", "You make one merge more than `num_merges`.", MERGES))


@MISTAKES.of(right.wordpiece)
def in_wordpiece(at):
    WORDS = ("values", "unknown words")
    DEAD_ENDS = ("unknown words", "never goes back")
    PIECES = ("values", "unknown words", "never goes back")
    at("    pieces: list[str] = []\n", "values", ("limit_of_length", "    if len(word) > 100:\n        return [unk]\n    pieces: list[str] = []\n", "A long word is unknown to you, whatever its pieces. BERT's published code has such a limit; here words of up to 200 characters are cut."))
    at("range(len(word), start, -1):  # the longest first", ("values", "never goes back"), ("shortest_match", "range(start + 1, len(word) + 1):", "You take the shortest piece that fits, so a word falls into small pieces; take the longest."))
    at(('        mark = "##" if start > 0 else ""\n', "if mark + ", "append(mark + "), WORDS, ("looks_up_without_mark", ("", "if ", "append("), "You look pieces inside a word up without `##`: there, `ing` and `##ing` are two different entries of the vocabulary, and the second is meant."))
    at("mark + word[start:end] in vocab", "values", ("id_zero_is_missing", "vocab.get(mark + word[start:end])", "The entry with the id 0 is missing for you (0 counts as false, and is not above 0). Whether there is an entry does not depend on its id: ask `piece in vocab`."))
    at("if mark + word[start:end] in vocab", WORDS, ("marks_entries_itself", "if {word[start:end], mark + word[start:end]} & vocab.keys()", "Inside a word you also accept an entry without `##` and put the mark in front of it yourself, so you return pieces that are not in the vocabulary. There only entries with the mark fit."))
    at("if mark + ", WORDS, ("marks_afterwards", "if ", "You look up inside a word without `##` and write the mark only afterwards: so you can return pieces that are not in the vocabulary."))
    at("append(mark + ", "values", ("drops_the_mark", "append(", "The `##` is lost on the way out: return the pieces as they are in the vocabulary."))
    at('"##" if start > 0 else ""', WORDS, ("marks_the_first_too", '"##"', "You put `##` in front of the first piece, too. It marks pieces that *continue* a word; the first has none."))
    at(('        mark = "##" if start > 0 else ""\n', "            if mark"), WORDS, ("either_form", ("", '            mark = "" if word[start:end] in vocab else "##"\n            if mark'), "You accept a piece with or without `##` at any position. At the start of a word only entries without the mark fit, inside a word only entries with it."),
       ("either_form_marked_first", ("", '            mark = "##" if start > 0 and "##" + word[start:end] in vocab else ""\n            if mark'), "Inside a word you also accept an entry without `##`. There only entries with the mark fit."))
    at(("    pieces: list[str] = []\n", "if mark + word[start:end] in vocab", "append(mark + word[start:end])"), WORDS, ("every_hash_taken_off", ("    pieces: list[str] = []\n    later = {piece.lstrip('#'): piece for piece in vocab if piece.startswith('##')}\n", "if word[start:end] in (later if start else [piece for piece in vocab if piece[:2] != '##'])", "append(later[word[start:end]] if start else word[start:end])"), "Every `#` at the beginning of an entry is taken off (`lstrip('#')` does that), and not the mark alone: `###r` becomes `r`. Take off two characters, `piece[2:]`, or `removeprefix('##')`."))
    at(("    pieces: list[str] = []\n", "if mark + word[start:end] in vocab"), "values", ("one_hash_is_a_mark", ("    pieces: list[str] = []\n    first = {piece for piece in vocab if piece[:1] != '#'}\n", "if mark + word[start:end] in (vocab if start else first)"), "You take each entry that begins with a `#` for a continuation. The mark has two of them, `##`: an entry such as `#d` stands at the beginning of a word."))
    at(("    pieces: list[str] = []\n", "range(len(word), start, -1):  # the longest first", "        start = end\n"), "values", ("never_longer_again", ("    pieces: list[str] = []\n    size = len(word)\n", "range(min(start + size, len(word)), start, -1):", "        size, start = end - start, end\n"), "No piece of yours is longer than the one before it: the length that you try only shrinks. Begin at each piece with all that is left of the word."))
    at("return [unk]", DEAD_ENDS,
       ("unknown_rest", "return [*pieces, unk]", "You keep the pieces found so far and add the unknown mark for the rest. A word that can't be covered to its end becomes the unknown mark as a whole."),
       ("unknown_character", "pieces.append(unk)\n            start += 1\n            continue", "You write the unknown mark for a single character and go on after it. A word that can't be covered becomes the unknown mark as a whole."),
       ("rest_dropped", "return pieces or [unk]", "Where nothing fits you stop and return the pieces found so far, so the rest of the word is lost. A word that can't be covered to its end becomes the unknown mark as a whole."),
       ("stops_where_nothing_fits", "return pieces", "Where nothing fits you stop and return the pieces found so far, so the rest of the word is lost. A word that can't be covered to its end becomes the unknown mark as a whole."),
       ("fixed_unk", 'return ["[UNK]"]', "You write `[UNK]` whatever the caller asks for: the third argument, `unk`, names the mark.", "unknown words"),
       ("bare_unk", "return unk", "For an unknown word you return the mark itself; wanted is a list with the mark in it, as for every other word."),
       ("empty_for_unknown", "return []", "For a word that can't be covered you return an empty list; wanted is `[unk]`."))
    at("            return [unk]\n", "unknown words", ("half_a_mark", '            if start == 0 or "#" not in vocab:\n                return [unk]\n            pieces.append("#")\n            start += 1\n            continue\n', "Where nothing fits inside a word, you take the entry `#`, and a letter of the word is lost. (Do you shorten `##` with what follows until only half of the mark is left?) `#` spells none of the word: try no piece without a letter behind `##`."))
    at(("return [unk]", "return pieces"), DEAD_ENDS,
       ("skips_what_it_cannot_cover", ("start += 1\n            continue", "return pieces or [unk]"), "You skip characters that no piece covers, so a word loses letters without a trace. It has to become the unknown mark as a whole."),
       ("joined_text", ("return unk", 'return " ".join(pieces)'), "You return one text with spaces; wanted is the list of pieces.", PIECES))

    @MISTAKES.mistake("You go back and try a shorter piece when the rest doesn't fit. That finds more cuts, but BERT's rule is greedy: the longest piece stays, and if nothing fits after it the word is unknown.",
                   breaks="never goes back")
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

    @MISTAKES.mistake("You cut from the end of the word. The longest piece must be taken from its beginning, then onwards.",
                   breaks=("values", "never goes back"))
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

    @MISTAKES.mistake("You take the first piece of the vocabulary that fits, in the order of the dict. Take the longest that fits, wherever it stands in the dict.",
                   breaks=("values", "never goes back"))
    def wordpiece__first_in_the_vocabulary(word, vocab, unk="[UNK]"):
        pieces, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            fits = [p for p in vocab if p.startswith("##") == bool(start) and word.startswith(p[len(mark):], start)]
            if not fits:
                return [unk]
            pieces.append(fits[0])
            start += len(fits[0]) - len(mark)
        return pieces

    SEARCH = """\
        for end in range(len(word), start, -1):  # the longest first
            if mark + word[start:end] in vocab:
                break
        else:
            return [unk]
"""
    GROWS = "        while end < len(word) and mark + word[start : end + 1] in vocab:\n            end += 1\n"
    GAPS = "A piece grows for you only while each longer beginning is an entry, too. But `folding` can be an entry where `foldi` is none: try every length, the longest first."
    at(SEARCH, "values",
       ("grows_without_gaps", f"        end = start\n{GROWS}        if end == start:\n            return [unk]\n", GAPS),
       ("grows_without_gaps_from_one", f"        end = start + 1\n{GROWS}        if mark + word[start:end] not in vocab:\n            return [unk]\n", GAPS))
    BEGINNING = "    pieces: list[str] = []\n"
    REST = """\
    pieces, rest = [], word
    while rest:
        mark = "##" if pieces else ""
        end = next((n for n in range(len(rest), 0, -1) if mark + rest[:n] in vocab), 0)
        if not end:
            return [unk]
        pieces.append(mark + rest[:end])
        rest = {}
    return pieces
"""
    at(BEGINNING, ("values", "unknown words"),
       ("removes_everywhere", REST.format('rest.replace(rest[:end], "")') + BEGINNING, "You take a piece away wherever it occurs in the rest of the word (`replace` does that). Take it off the beginning only, by its length without `##`: `rest[length:]`."),
       ("strips_characters", REST.format("rest.lstrip(rest[:end])") + BEGINNING, "You take off more than the piece: every character at the beginning that occurs in it (`lstrip` takes a set of characters, not a beginning). Take off the piece only, by its length without `##`: `rest[length:]`."))

    @MISTAKES.mistake("You glue `##` onto the rest and search the two as one text, so an entry such as `#` or `###ing` can begin inside the mark. The mark stays whole: look up `##` together with one or more characters of the word.",
                   breaks="unknown words")
    def wordpiece__searches_the_mark(word, vocab, unk="[UNK]"):
        pieces, rest = [], word
        while rest:
            end = next((n for n in range(len(rest), 0, -1) if rest[:n] in vocab), 0)
            if not end or len(pieces) > len(word):
                return [unk]
            pieces.append(rest[:end])
            rest = rest[end:] and "##" + rest[end:]
        return pieces

    at("start, -1)", "values", ("no_single_characters", "start + 1, -1)", "You never try a single character as a piece, though it can be an entry. (A `range` leaves out its end: `range(len(word), start, -1)` comes down to `start + 1`.)"))
    at("pieces: list", "values", ("lower_cases", "word = word.lower()\n    pieces: list", "You lower-case the word. Whether to do that is decided before this step; here the word is taken as it comes."))
    at("append(mark + word[start:end])", "values", ("ids_for_pieces", "append(vocab[mark + word[start:end]])", "You return the ids. They come in the next step; here the pieces themselves are needed."))
    at("    pieces: list[str] = []\n", "values", ("whole_words_only", "    return [word] if word in vocab else [unk]\n    pieces: list[str] = []\n", "Every word that is no entry itself is unknown to you. It has to be cut into entries first, the later ones with `##` in front; only a word that can't be cut is unknown."))
    at("range(len(word), start", "values", ("never_the_whole_rest", "range(len(word) - 1, start", "Every word is unknown to you, as if no piece could reach its end (`range(len(word) - 1, start, -1)` does that). The longest candidate is the whole rest, `word[start:]`, with its mark."))
    at("return pieces", "values", ("pieces_as_text", 'return " ".join(pieces)', "You return one text with spaces; wanted is the list of pieces."))
    at("start = end", "values",
       ("mark_counts_too", "start = end + len(mark)", "You go on by the length of the entry with its `##`, so after each later piece two characters of the word are lost. The mark is no part of the word: count without it.", WORDS),
       ("one_character_on", "start += 1", "After a piece you go on by one character; go on after the *end* of the piece."),
       ("first_piece_only", "break", "You stop after the first piece; go on after it until the word is used up.", PIECES))
    at("        start = end\n", PIECES, ("rest_unchecked", '        return [*pieces, "##" + word[end:]] if end < len(word) else pieces\n', "The rest of the word is taken as it is, without looking it up: it has to be covered by entries, too."))


@MISTAKES.of(right.one_hot_lookup)
def in_one_hot_lookup(at):
    VECTORS = ("shape", "values", "a real product", "gradients")
    PRODUCTS = ("values", "a real product", "gradients")
    ONE_HOT = "(ids.unsqueeze(-1) == torch.arange(weight.size(0))).to(weight.dtype)  # (..., V)"
    at("one_hot @ weight  # (..., V) @ (V, D) -> (..., D)", "a real product", ("picks_rows", "weight[ids]", "Only the rows that the ids name count in your result. One row that no id asks for holds an ∞ here, and in a product 0 · ∞ = NaN reaches every token. There is no NaN where rows are picked, zeros skipped (a sparse product) or the ∞ replaced: multiply dense one-hot rows with all of `weight` as it is."))
    at(ONE_HOT, VECTORS,
       ("guesses_the_vocabulary", "F.one_hot(ids).to(weight.dtype)", "Your one-hot rows have only as many columns as the largest id needs (`F.one_hot(ids)` does that), so they don't fit the rows of `weight`. They need `weight.size(0)` columns."),
       ("width_for_vocabulary", "F.one_hot(ids, weight.size(1)).to(weight.dtype)  # (..., D)", "Your one-hot rows have D columns; they need one for each of the V rows of `weight`: `weight.size(0)`, not `weight.size(1)`."),
       ("integers", "F.one_hot(ids, weight.size(0))  # (..., V)", "You multiply integers with floats. One-hot rows of whole numbers (`F.one_hot` returns these) have to be turned into `weight.dtype` first."),
       ("one_less", "F.one_hot(ids - 1, weight.size(0)).to(weight.dtype)  # (..., V)", "You subtract one from the ids, and −1 is no class of a one-hot row. Ids count from zero already."))
    at("one_hot @ weight  # (..., V) @ (V, D) -> (..., D)", VECTORS, ("no_product", "one_hot  # (..., V)", "You return the one-hot rows themselves; they still have to be multiplied with `weight`."))
    at("torch.arange(weight.size(0))", PRODUCTS, ("counts_from_one", "torch.arange(1, weight.size(0) + 1)", "You count ids from one, so id 0 has no 1 in its row. Its 1 belongs in column 0, and so on up to V − 1."))
    at("one_hot @ weight", VECTORS,
       ("id_for_one", "(one_hot * ids.unsqueeze(-1)) @ weight", "Your rows hold the id itself where they should hold a 1, so each vector comes out id times too long.", PRODUCTS),
       ("zero_is_padding", "(one_hot * (ids != 0).unsqueeze(-1)) @ weight", "You return zeros for id 0, as if it were padding. Row 0 is a row like any other.", PRODUCTS),
       ("entry_by_entry", "one_hot * weight", "`*` multiplies entry by entry, and (…, V) does not meet (V, D) that way. A lookup is a matrix product: `@`."),
       ("transposed_table", "one_hot @ weight.T", "You multiply with the transposed table (`weight.T`; `F.linear` transposes, too). A row of V entries must meet the V *rows* of `weight`: `one_hot @ weight`."))
    at(".to(weight.dtype)  # (..., V)", VECTORS,
       ("one_row_for_each_sentence", ".reshape(len(ids), -1, weight.size(0)).any(1).to(weight.dtype)", "You make `len(ids)` rows, one for each entry of the first axis, so all ids of a sentence share a row and their vectors are summed. Each id needs a row of its own: (…, V)."),
       ("every_row_has_all_ids", ".flatten(0, -2).any(0).expand(*ids.shape, -1).to(weight.dtype)", "All your rows are the same: each holds the ones of all ids, so every token gets the sum of their vectors. Each row needs a single 1, in the column of its own id.", PRODUCTS),
       ("bag_of_words", ".any(-2).to(weight.dtype)", "You put the ones of all tokens into a single row, so their vectors are summed (a bag of words); each token needs a row of its own."))
    at((ONE_HOT, "one_hot @ weight"), "a real product",
       ("cut_table", ("F.one_hot(ids, int(ids.max()) + 1).to(weight.dtype)", "one_hot @ weight[: ids.max() + 1]"), "You multiply with the rows up to the largest id only. A one-hot row has a column for each of the V rows, `weight.size(0)`."),
       ("view_of_transposed", ("F.one_hot(ids.view(-1), weight.size(0)).to(weight.dtype)", "(one_hot @ weight).view(*ids.shape, -1)"), "`view` stops where `ids` is transposed: it wants entries in the order of memory. `reshape` copies them where it must.", ("shape", "values", "gradients")),
       ("only_used_rows", ("F.one_hot(ids.unique(return_inverse=True)[1]).to(weight.dtype)", "one_hot @ weight[ids.unique()]"), "You multiply with only those rows of `weight` that the ids use. A one-hot row has a column for each of the V rows, `weight.size(0)`."),
       ("whole_numbers", ("F.one_hot(ids, weight.size(0))", "one_hot @ weight.long()"), "You cut the table's numbers down to whole ones (`weight.long()`, to fit the one-hot rows). Turn the rows into floats, `.to(weight.dtype)`, and leave the table.", VECTORS),
       ("whole_numbers_turned_back", ("F.one_hot(ids, weight.size(0))", "(one_hot @ weight.long()).to(weight.dtype)"), "You cut the table's numbers down to whole ones (to fit the one-hot rows), and no gradient reaches it. Turn the rows into floats, `.to(weight.dtype)`, and leave the table.", PRODUCTS))
    at("one_hot @ weight", "shape", ("float64", "one_hot.double() @ weight.double()", "Your result is float64. It has the number type of `weight`: `.to(weight.dtype)`."))
    at("ids.unsqueeze(-1)", VECTORS, ("flattens", "ids.flatten().unsqueeze(-1)", "Your result is flat: the tokens of all sentences are in one long list. Keep the shape of `ids` and add D after it."))
    at("@ weight  #", "gradients", ("detached", "@ weight.detach()  #", "No gradient reaches `weight`, so the table could never learn. Something on the way cuts it: `detach`, `.data`, `.tolist()`, `torch.no_grad`, NumPy, a new `torch.tensor(…)` or a new `nn.Parameter(…)`. A product with `weight` itself lets it through."))
    at("return one_hot @ weight", "a real product", ("nan_replaced", "return (one_hot @ weight).nan_to_num()", "You replace NaN in the result (`nan_to_num`, `where`). 0 · ∞ is NaN, and a product that meets an ∞ in the table has to show it."))
    squeezed(at, ("shape", "values", "gradients"), "is (…, D), with all axes of `ids`, also for one sentence or one token")


@MISTAKES.of(right.embedding_lookup)
def in_embedding_lookup(at):
    ROWS = ("shape", "values", "only its own rows", "gradients")
    OTHER_ROWS = ("values", "only its own rows", "gradients")
    at("weight[ids]", ROWS,
       ("product", "F.one_hot(ids, weight.size(0)).to(weight.dtype) @ weight", "You multiply with one-hot rows, which reads the whole table: an ∞ in a row that no id asks for turns your result into NaN. Index the rows you need.", "only its own rows"),
       ("zero_is_padding", "torch.where((ids != 0).unsqueeze(-1), weight[ids], 0.0)", "You return zeros for id 0, as if it were padding. Row 0 is a row like any other.", OTHER_ROWS),
       ("view_of_transposed", "weight[ids.view(-1)].view(*ids.shape, -1)", "`view` stops where `ids` is transposed: it wants entries in the order of memory. `reshape` copies them where it must. `weight[ids]` needs neither.", ("shape", "values", "gradients")),
       ("average", "weight[ids].mean(-2)", "You average over the tokens, and one vector per sentence is left. Here each token keeps its own."),
       ("the_other_way_round", "ids[weight]", "You index with floats (`ids[weight]` does that, and so do ids that are turned into floats). The table is indexed by row, with the ids as they are: `weight[ids]`."),
       ("index_select", "torch.index_select(weight, 0, ids)", "`index_select` takes one axis of ids, and here they may have any number. `weight[ids]` takes them as they are."),
       ("take", "torch.take(weight, ids)", "You read the table as one long list of numbers (`torch.take` does that), so each id gives a single number. A whole row is needed: `weight[ids]`."),
       ("gather", "torch.gather(weight, 0, ids)", "`gather` picks single entries, column by column, and wants as many axes of ids as the table has. Whole rows are needed: `weight[ids]`."),
       ("axes_exchanged", "weight.T[:, ids].transpose(0, -1)", "You exchange the first axis and the last (`transpose(0, -1)`). That puts D last, but the axes of `ids` lose their order: (D, B, T) becomes (T, B, D). Index the rows, `weight[ids]`."),
       ("all_axes_turned", "weight.T[:, ids].permute(*reversed(range(ids.dim() + 1)))", "You turn all axes round (`.T` at the end does that). D comes last, but the axes of `ids` come in the opposite order, (T, B, D) instead of (B, T, D). `weight[ids]` needs no turning."),
       ("tokens_last", "weight[ids].transpose(-1, -2)", "Tokens and width have changed places: each token's D numbers are together in the last axis, as indexing gives them."))
    at("[ids]", ROWS,
       ("columns", "[:, ids]", "You index the columns of `weight`. An id is the number of a *row*: the first axis."),
       ("counts_from_one", "[ids - 1]", "You look up the row before the right one (`ids - 1`; −1 silently means the last row). Ids already count from zero.", OTHER_ROWS),
       ("flattens", "[ids.flatten()]", "Your result is flat: the tokens of all sentences are in one long list. Keep the shape of `ids` and add D after it."),
       ("first_sentence", "[ids[0]]", "You look only the first sentence up; the result needs every axis of `ids`."),
       ("each_id_once", "[ids.unique()]", "You give each id's row only once, in order of the ids, and lose which token asked for it: index with `ids` itself."),
       ("last_sentence", "[ids[-1]]", "Only the last sentence is left. (In a loop, each turn overwrites what the one before it found, unless you collect it.) Index with all `ids` at once."),
       ("one_row_on", "[(ids + 1) % weight.size(0)]", "You look up the row after the right one (`ids + 1`). Ids are numbers of rows, counted from zero.", OTHER_ROWS))
    at("return weight", ROWS,
       ("transposed", "return weight.T", "You index the transposed table, so an id picks a column. `weight` is (V, D): one row per id."),
       ("detached", "return weight.detach()", "No gradient reaches `weight`, so the table could never learn. Something on the way cuts it: `detach`, `.data`, `.tolist()`, `torch.no_grad`, NumPy, a new `torch.tensor(…)` or a new `nn.Parameter(…)`. `weight[ids]` lets it through.", "gradients"),
       ("scaled", "return weight.size(1) ** 0.5 * weight", "You multiply by √D. The first Transformer does that (Vaswani et al. 2017, §3.4), but as a step after the lookup; here the row is needed as it is.", OTHER_ROWS))
    squeezed(at, ("shape", "values", "gradients"), "is (…, D), with all axes of `ids`")


@MISTAKES.of(right.nearest_tokens)
def in_nearest_tokens(at):
    NEAREST = ("values", "excluded by id")
    LIST = ("shape", "values", "excluded by id")
    COSINE = """\
    unit = weight / weight.norm(dim=-1, keepdim=True)  # (V, D)
    cosine = unit @ unit[query_id]  # (V, D) @ (D,) -> (V,)
"""
    EXCLUDE = "    cosine[query_id] = -torch.inf  # by id: another row may hold the very same vector\n"
    at(EXCLUDE, NEAREST,
       ("includes_itself", "", "The token itself is among its neighbors (its cosine with itself is 1). Leave `query_id` out before you take the largest."),
       ("drops_equal_rows", "    cosine[(weight == weight[query_id]).all(-1)] = -torch.inf\n", "You leave out every row that holds the same vector as the token. Such a row is another token's, and the nearest of all: leave out `query_id` only.", "excluded by id"),
       ("drops_all_twins", "    cosine[cosine > 0.99999] = -torch.inf\n", "You leave out every row that points the same way as the token. Such a row is another token's, and the nearest of all: leave out `query_id` only.", "excluded by id"))
    at(COSINE, NEAREST,
       ("dot_product", "    cosine = weight @ weight[query_id]  # (V, D) @ (D,) -> (V,)\n", "You rank by dot products: each row's own length is not divided out, so it counts as well as the direction. The cosine divides by *both* lengths, row by row."),
       ("distance", "    cosine = -(weight - weight[query_id]).norm(dim=-1)  # (V,)\n", "You compare distances, to which the lengths contribute. The cosine looks at directions only."),
       ("columns_compared", "    cosine = F.cosine_similarity(weight, weight[query_id].unsqueeze(0), dim=0)  # (D,)\n", "You compare column by column, which gives D numbers, one for each component (`dim=0` does that). One cosine for each of the V rows is needed: `dim=-1`.", LIST))
    FIRST = "You leave out whatever comes first and trust that it is the token itself. Another row with the same direction can be before it: leave out `query_id`, not a position in the list."
    at((EXCLUDE, "topk(k).indices"), "excluded by id",
       ("drops_the_first", ("", "round(decimals=5).argsort(descending=True, stable=True)[1 : k + 1]"), FIRST),
       ("drops_the_first_of_topk", ("", "round(decimals=5).topk(k + 1).indices[1:]"), FIRST))
    at((EXCLUDE, "return cosine.topk(k).indices  # (k,)"), LIST, ("left_out_afterwards", ("", "ids = cosine.topk(k).indices  # (k,)\n    return ids[ids != query_id]"), "You return k − 1 tokens, not k. (Do you choose k, with `query_id` among them, and leave it out afterwards? Leave it out before you choose.)"))
    at(("-torch.inf", "topk(k)"), NEAREST, ("farthest", ("torch.inf", "topk(k, largest=False)"), "The order is reversed: you return the farthest tokens. Nearest means the *largest* cosine."))
    at(".indices", NEAREST,
       ("nearest_last", ".indices.flip(0)", "You list the nearest last; it comes first."),
       ("sorted_by_id", ".indices.sort().values", "You list the tokens by id; the nearest comes first."),
       ("returns_cosines", ".values", "You return the values themselves; wanted are the ids they belong to (`.indices`).", LIST))
    at("unit @ unit[query_id]", NEAREST, ("drops_the_sign", "(unit @ unit[query_id]).abs()", "You drop the sign (`abs` does that, and so does a square): a vector that points the opposite way (cosine near −1) is as far as can be, not near."))
    at((EXCLUDE, ".indices  # (k,)"), LIST, ("one_too_few", ("", ".indices[1:]"), "You return one token too few: k of them without the token itself, so drop it before you take k."))
    at("weight.norm(dim=-1, keepdim=True)", NEAREST,
       ("squared_lengths", "weight.square().sum(dim=-1, keepdim=True)", "You divide by the *square* of each row's length, so short rows count too much: a root is missing, or you divide twice."),
       ("lengths_not_below", "weight.norm(dim=-1, keepdim=True).clamp(min=0.01)", "The cosines of short rows come out too small: what you do against a division by zero (`clamp`, `eps`, `+ 0.01`) changes their lengths. Rows may be as short as 0.001, and none is zero: nothing is needed there.", "values"))
    at(("cosine = unit @ unit[query_id]", "-torch.inf", "topk(k).indices"), "excluded by id", ("angle_of_more_than_one", ("cosine = torch.acos(unit @ unit[query_id])", "torch.inf", "argsort()[:k]"), "You lose a row that points the same way where rounding makes its cosine a little more than 1: `acos` (or a root of 1 − cosine) gives NaN there, which is sorted behind all others. Rank by the cosine itself, or clamp it to at most 1."))
    at("dim=-1", NEAREST, ("normalizes_columns", "dim=0", "You divide by the lengths of the columns. The length of a token's vector is that of its row: `dim=-1`."))
    at(("cosine = unit @ unit[query_id]  # (V, D) @ (D,) -> (V,)\n", EXCLUDE), NEAREST, ("shifted_ids", ("others = torch.cat([unit[:query_id], unit[query_id + 1 :]])\n    cosine = others @ unit[query_id]  # (V - 1,)\n", ""), "You take the token out before you search (its row, or its cosine), and whatever comes after it moves up by one: your positions are no longer ids."))
    for name, start in (("zero", 0), ("minus_one", -1)):
        at("cosine.topk(k).indices", "values", (f"search_from_{name}", f"cosine.topk(k).indices.where(cosine.topk(k).values > {start}, 0)", "Your search begins with a number as the largest cosine, 0 or −1, and wants more: it never finds a row whose cosine is not above that. Begin with −∞."))
    at("-torch.inf", "values", ("zeroes_itself", "0.0", "You set the token's own cosine to 0, but other cosines are negative, so it comes back among them. Set its cosine to −∞."))
    at((EXCLUDE, "topk(k).indices  # (k,)"), LIST, ("one_too_many", ("", "topk(k + 1).indices"), "You return k + 1 tokens, the token itself among them. Wanted are k others."))
    at((COSINE, EXCLUDE, "topk(k).indices"), NEAREST, ("dot_product_without_the_first", ("    cosine = weight @ weight[query_id]\n", "", "argsort(descending=True)[1 : k + 1]"), "You compare dot products and then drop the first of the list. Divide by both lengths to get the cosine, and leave out `query_id` itself: the first need not be it."))
    at("topk(k).indices", NEAREST, ("smallest_first", "argsort()[:k]", "You sort from the smallest: the farthest come first, and the token itself, at −∞, before them all. Sort from the largest (`topk`, or `argsort(descending=True)`)."))
    at(("    cosine = unit @ unit[query_id]", EXCLUDE), NEAREST, ("infinity_before_the_product", ("    query = unit[query_id].clone()\n    unit[query_id] = -torch.inf\n    cosine = unit @ query", ""), "The token itself comes first in your list. (Where its row is −∞ before the product, positive and negative numbers times −∞ add up to NaN, which sorts before everything.) Take the product first, then set its *cosine* to −∞."))


@MISTAKES.of_quiz("quiz_embeddings", right.quiz_embeddings)
def in_quiz_embeddings(wrong):
    wrong("flies twice", "different",
                 "the lookup knows only the id, 10029 both times; nothing of the sentence reaches it.")
    wrong("flies twice", "the same up to their length",
                 "a lookup copies the row as it is, its length included: the two are equal number by number.")
    wrong("rows that learn", "row 5 only",
                 "twice in the batch means that two gradients are added in row 5; row 9 is used too and gets its own.")
    wrong("rows that learn", "all rows",
                 "a row that no id picks has no part in what the lookup returns: by this way its gradient is exactly zero.")
    wrong("a new word", "the unknown mark",
                 "that happens only if not even its characters are in the vocabulary; letters are, so pieces cover it.")
    wrong("a new word", "a new row of the matrix",
                 "the matrix has a fixed number of rows once training has begun; a new word has to make do with them.")
