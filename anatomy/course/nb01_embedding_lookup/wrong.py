"""Wrong answers to the exercises of 01-embedding-lookup."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from anatomy.course.nb01_embedding_lookup.right import (
    embedding_lookup,
    learn_bpe,
    nearest_tokens,
    one_hot_lookup,
    quiz_embeddings,
    wordpiece,
)
from anatomy.engine.mistakes import Mistakes

MISTAKES = Mistakes()

# fmt: off
# One mistake, two or three lines: its name and sentence, then what it changes.


@MISTAKES.of(learn_bpe)
def in_learn_bpe(wrong):
    MERGES = ("values", "ties", "repeats", "stops early")
    START = '[*word, "</w>"]'
    BEST = "max(counts, key=lambda pair: counts[pair])  # of equals, the first that was counted"
    JOIN = "pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]"

    wrong("counts_words_not_frequencies", "You count in how many words a pair occurs, but not how often those words occur: each pair counts `word_counts[word]` times.",
          breaks=("values", "ties", "repeats"), old="+= word_counts[word]", new="+= 1")
    wrong("no_end_mark", "The end mark takes no part: a word starts as its characters *and* one more piece, `</w>`, and pairs with it are counted and merged like any other, so that an ending can be told from the same letters inside a word.",
          breaks=MERGES, old=START, new="[*word]")
    wrong("end_mark_in_four", 'Your end mark falls apart: `list(word + "</w>")` makes the four pieces `<`, `/`, `w`, `>` of it. It is one piece from the start: `list(word) + ["</w>"]`.',
          breaks=MERGES, old=START, new='list(word + "</w>")')
    wrong("end_mark_glued_on", "You hang `</w>` on the last character (`w</w>`), but it starts as a piece of its own and has to be merged like any other.",
          breaks=MERGES, old=START, new='[*word[:-1], word[-1] + "</w>"]')


    @MISTAKES.mistake("You count once and take the most frequent pairs of the characters. After each merge there are new pieces, so the pairs have to be counted again.",
                   breaks=MERGES)
    def learn_bpe__counts_only_once(word_counts, num_merges):
        counts = Counter()
        for word, count in word_counts.items():
            for pair in pairwise([*word, "</w>"]):
                counts[pair] += count
        return [pair for pair, _ in counts.most_common(num_merges)]


    wrong("last_of_equals", "Among equally frequent pairs you take the one seen last; the first one wins. (`>=` in a search for the best keeps the last, `>` the first.)",
          breaks="ties", old=BEST, new="sorted(counts, key=lambda pair: counts[pair])[-1]")
    wrong("ties_by_alphabet_last", "Among equally frequent pairs you take the last in alphabetical order (comparing `(count, pair)` does that); the one seen first wins.",
          breaks="ties", old=BEST, new="max(counts, key=lambda pair: (counts[pair], pair))")
    wrong("ties_by_alphabet_first", "Among equally frequent pairs you take the first in alphabetical order (sorting by `(-count, pair)` does that); the one seen first wins.",
          breaks="ties", old=BEST, new="min(counts, key=lambda pair: (-counts[pair], pair))")
    wrong("order_of_earlier_steps", "You keep the order in which pairs turned up since the very beginning. “First seen” means: in the words as they are split at this step, so count afresh after every merge.",
          breaks="ties", old=("merges: list[tuple[str, str]] = []", "            for pair in pairwise(pieces):\n", BEST),
          new=("merges, seen = [], {}",
               "            for pair in pairwise(pieces):\n                seen.setdefault(pair, len(seen))\n",
               "max(counts, key=lambda pair: (counts[pair], -seen[pair]))"))
    wrong("once_per_word", "You count a pair once per word even where the word holds it several times: `banana` has (a, n) twice, so it adds twice its count.",
          breaks="repeats", old="in pairwise(pieces)", new="in dict.fromkeys(pairwise(pieces))")
    wrong("merges_first_place_only", "You merge only the first place in each word where the pair stands; it has to be merged everywhere: `b a n a n a` becomes `b an an a`.",
          breaks="repeats", old=JOIN, new="pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]\n                    break")
    wrong("right_to_left", "You merge from right to left: `a a a` becomes `a aa`, and should become `aa a`.",
          breaks="repeats", old=("i = 0\n            while i < len(pieces) - 1:", "\n                i += 1"),
          new=("for i in reversed(range(len(pieces) - 1)):", ""))
    wrong("uses_a_piece_twice", "A piece takes part in two merges at once: `a a a` becomes `aa aa`. After a merge go on *behind* both pieces, so that it becomes `aa a`.",
          breaks="repeats", old=JOIN,
          new="again = tuple(pieces[i + 1 : i + 3]) == best\n"
              "                    pieces[i : i + 1 if again else i + 2] = [pieces[i] + pieces[i + 1]]")
    wrong("across_words", "You merge across the end of a word: `</w>` must never be the left half of a pair. Keep each word's pieces in a list of their own.",
          breaks=MERGES,
          old=('words = {word: [*word, "</w>"] for word in word_counts}  # word -> its pieces so far', "+= word_counts[word]"),
          new=('text = [piece for word, count in word_counts.items() for piece in [*word, "</w>"] * count]\n    words = {"": text}',
               "+= 1"))
    wrong("replaces_in_text", "Your `replace` on the text with spaces also hits the end of a longer piece: in `ra t` it finds `a t`, though `a` is no piece there. Compare whole pieces.",
          breaks=("values", "repeats"),
          old="""\
            i = 0
            while i < len(pieces) - 1:
                if (pieces[i], pieces[i + 1]) == best:
                    pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
                i += 1
""", new="""\
            pieces[:] = " ".join(pieces).replace(" ".join(best), "".join(best)).split()
""")
    wrong("returns_merged_text", "You return the merged pieces; wanted are the pairs, `(left, right)`, because later it matters what was joined.",
          breaks=MERGES, old="merges.append(best)", new='merges.append("".join(best))')
    wrong("returns_counts_too", "You return each pair together with its count; wanted are the pairs alone.",
          breaks=MERGES, old="merges.append(best)", new="merges.append((best, counts[best]))")
    wrong("stops_at_rare_pairs", "You stop at pairs that occur only once. Here the sole reason to stop early is that no pair is left at all.",
          breaks="stops early", old="if not counts:", new="if not counts or max(counts.values()) < 2:")
    wrong("never_stops_early", "When every word is a single piece there is no pair left, and the search for the best one fails on an empty list: stop before it.",
          breaks="stops early", old="        if not counts:\n            break\n", new="")
    wrong("pair_as_text", "You return each pair as one text with a space in it; wanted is a tuple of two pieces, `(left, right)`.",
          breaks=MERGES, old="merges.append(best)", new='merges.append(" ".join(best))')
    wrong("mark_in_front", "You put `</w>` in front of the word. It marks the word’s end and comes after the last character.",
          breaks=MERGES, old=START, new='["</w>", *word]')
    wrong("most_frequent_words_first", "You go through the words from the most frequent to the rarest. Ties go to the pair seen first in the order of the dict, as it was handed over.",
          breaks="ties",
          old="in word_counts}  # word -> its pieces so far", new="in sorted(word_counts, key=lambda word: -word_counts[word])}")
    wrong("words_by_alphabet", "You go through the words in alphabetical order. Ties go to the pair seen first in the order of the dict, as it was handed over.",
          breaks="ties", old="in word_counts}", new="in sorted(word_counts)}")
    wrong("score_of_wordpiece", "You divide each pair’s count by the counts of its two pieces, as WordPiece’s training does to favor likely pairs. Byte-pair encoding takes the plain count.",
          breaks=MERGES,
          old=("        best = max", "pair: counts[pair])  # of equals, the first that was counted"), new=("""\
        single = Counter()
        for word, pieces in words.items():
            for piece in pieces:
                single[piece] += word_counts[word]
        best = max""", "pair: counts[pair] / (single[pair[0]] * single[pair[1]]))"))
    wrong("steps_over_pairs", "You go on by two pieces at every step, so a pair that begins at the piece in between is never merged: go on by one.",
          breaks=MERGES, old="i += 1\n", new="i += 2\n")
    wrong("overlaps_count_once", "Where a pair overlaps itself you count it once: `a a a` holds (a, a) at two places. Count every two neighbors.",
          breaks="repeats", old="            for pair in pairwise(pieces):\n                counts",
          new="            last = None\n            for pair in pairwise(pieces):\n                last = None if pair == last and pair[0] == pair[1] else pair\n                if last is None:\n                    continue\n                counts")
    wrong("never_merges", "The pieces never change: each step finds the most frequent pair, but merges it in no word, so the next step finds it again.",
          breaks=MERGES, old=JOIN, new="pass")
    wrong("largest_by_alphabet", "`max(counts)` compares the pairs themselves, so the last in alphabetical order wins, however rare it is: give it `key=counts.get`.",
          breaks=MERGES, old=BEST, new="max(counts)")
    wrong("largest_count", "You keep the largest *count*, a number, where the pair that has it is wanted: `max(counts, key=counts.get)`.",
          breaks=MERGES, old=BEST, new="max(counts.values())")
    wrong("rarest", "You take the rarest pair; the most frequent one is merged first.",
          breaks=MERGES, old="max(counts, key", new="min(counts, key")
    wrong("one_merge_too_few", "You stop one merge early: `num_merges` are wanted, and fewer only when no pair is left.",
          breaks=("values", "ties", "repeats"), old="range(num_merges)", new="range(num_merges - 1)")
    wrong("one_merge_too_many", "You make one merge more than `num_merges`.",
          breaks=MERGES, old="range(num_merges)", new="range(num_merges + 1)")
    wrong("each_word_once_a_piece", "You count a word's pieces, but the pair must be one of *neighbors*: zip the pieces with themselves moved by one, or use `pairwise`.",
          breaks=MERGES, old="in pairwise(pieces)", new="in zip(pieces, pieces)")


@MISTAKES.of(wordpiece)
def in_wordpiece(wrong):
    WORDS = ("values", "unknown words")
    DEAD_ENDS = ("unknown words", "never goes back")
    PIECES = ("values", "unknown words", "never goes back")

    wrong("limit_of_length", "A long word is unknown to you, whatever its pieces. BERT's published code has such a limit; here a word of any length is cut.",
          breaks="values", old="    pieces: list[str] = []\n", new="    if len(word) > 100:\n        return [unk]\n    pieces: list[str] = []\n")
    wrong("shortest_match", "You take the shortest piece that fits, so a word falls into single characters; take the longest.",
          breaks=("values", "never goes back"),
          old="range(len(word), start, -1):  # the longest first", new="range(start + 1, len(word) + 1):")
    wrong("looks_up_without_mark", "You look pieces inside a word up without `##`: there, `ing` and `##ing` are two different entries of the vocabulary, and the second is meant.",
          breaks=WORDS, old=('        mark = "##" if start > 0 else ""\n', "if mark + ", "append(mark + "),
          new=("", "if ", "append("))
    wrong("marks_afterwards", "You look up inside a word without `##` and write the mark only afterwards: so you return pieces that are not in the vocabulary.",
          breaks=WORDS, old="if mark + ", new="if ")
    wrong("drops_the_mark", "The cuts are right, but the `##` is lost on the way out: return the pieces as they stand in the vocabulary.",
          breaks="values", old="append(mark + ", new="append(")
    wrong("marks_the_first_too", "You put `##` in front of the first piece, too. It marks pieces that *continue* a word; the first has none.",
          breaks=WORDS, old='"##" if start > 0 else ""', new='"##"')
    wrong("either_form", "You accept a piece with or without `##` at any place. At the start of a word only entries without the mark fit, inside a word only entries with it.",
          breaks=WORDS, old=('        mark = "##" if start > 0 else ""\n', "            if mark"),
          new=("", '            mark = "" if word[start:end] in vocab else "##"\n            if mark'))
    wrong("unknown_rest", "You keep the pieces found so far and add the unknown mark for the rest. A word that can't be covered to its end becomes the unknown mark as a whole.",
          breaks=DEAD_ENDS, old="return [unk]", new="return [*pieces, unk]")
    wrong("unknown_character", "You write the unknown mark for a single character and go on behind it. A word that can't be covered becomes the unknown mark as a whole.",
          breaks=DEAD_ENDS, old="return [unk]", new="pieces.append(unk)\n            start += 1\n            continue")
    wrong("skips_what_it_cannot_cover", "You skip characters that no piece covers, so a word loses letters without a trace. It has to become the unknown mark as a whole.",
          breaks=DEAD_ENDS,
          old=("return [unk]", "return pieces"), new=("start += 1\n            continue", "return pieces or [unk]"))
    wrong("fixed_unk", "You write `[UNK]` whatever the caller asks for: the third argument, `unk`, names the mark.",
          breaks="unknown words", old="return [unk]", new='return ["[UNK]"]')
    wrong("bare_unk", "For an unknown word you return the mark itself; wanted is a list with the mark in it, as for every other word.",
          breaks=DEAD_ENDS, old="return [unk]", new="return unk")


    @MISTAKES.mistake("You go back and try a shorter piece when the rest doesn't fit. That finds more cuts, but BERT's rule is greedy: the longest piece stays, and if nothing fits behind it the word is unknown.",
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


    @MISTAKES.mistake("You cut from the end of the word. The longest piece is to be taken from its beginning, then onwards.",
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


    wrong("no_single_characters", "Single characters are never tried: your range stops one step before the shortest piece.",
          breaks="values", old="start, -1)", new="start + 1, -1)")
    wrong("lower_cases", "You lower-case the word. Whether to do that is decided before this step; here the word is taken as it comes.",
          breaks="values", old="pieces: list", new="word = word.lower()\n    pieces: list")
    wrong("joined_text", "You return one text with spaces; wanted is the list of pieces.",
          breaks=PIECES, old=("return [unk]", "return pieces"), new=("return unk", 'return " ".join(pieces)'))
    wrong("ids_for_pieces", "You return the ids. They come in the next step; here the pieces themselves are wanted.",
          breaks="values", old="append(mark + word[start:end])", new="append(vocab[mark + word[start:end]])")


    @MISTAKES.mistake("You look only the whole word up. A word that is no entry has to be cut into entries before it may count as unknown.",
                   breaks="values")
    def wordpiece__whole_words_only(word, vocab, unk="[UNK]"):
        return [word] if word in vocab else [unk]


    wrong("never_the_whole_rest", "The longest candidate is never tried: your range starts one character before the end of the word, so its last character is always left.",
          breaks="values", old="range(len(word), start", new="range(len(word) - 1, start")
    wrong("pieces_as_text", "You return one text with spaces; wanted is the list of pieces.",
          breaks="values", old="return pieces", new='return " ".join(pieces)')
    wrong("one_character_on", "After a piece you go on by one character; go on behind the *end* of the piece.",
          breaks="values", old="start = end", new="start += 1")
    wrong("rest_unchecked", "The rest of the word is taken as it is, without looking it up: it has to be covered by entries, too.",
          breaks=PIECES, old="        start = end\n", new='        return [*pieces, "##" + word[end:]] if end < len(word) else pieces\n')
    wrong("empty_for_unknown", "For a word that can't be covered you return an empty list; wanted is `[unk]`.",
          breaks=DEAD_ENDS, old="return [unk]", new="return []")
    wrong("first_piece_only", "You stop after the first piece; go on behind it until the word is used up.",
          breaks=PIECES, old="start = end", new="break")


@MISTAKES.of(one_hot_lookup)
def in_one_hot_lookup(wrong):
    VECTORS = ("shape", "values", "a real product", "gradients")
    PRODUCTS = ("values", "a real product", "gradients")
    ONE_HOT = "(ids.unsqueeze(-1) == torch.arange(weight.size(0))).to(weight.dtype)  # (..., V)"


    @MISTAKES.mistake("The vectors are right, but you pick rows instead of multiplying. How one can tell: one row that no id asks for holds an ∞ here, and in a product 0 · ∞ = NaN reaches every token. Multiply one-hot rows with `weight`.",
                   breaks="a real product")
    def one_hot_lookup__picks_rows(ids, weight):
        return weight[ids]


    wrong("guesses_the_vocabulary", "`F.one_hot` guesses the number of columns from the largest id it sees, so they don't fit the rows of `weight`: tell it that there are `weight.size(0)`.",
          breaks=VECTORS, old=ONE_HOT, new="F.one_hot(ids).to(weight.dtype)")
    wrong("width_for_vocabulary", "Your one-hot rows have D columns; they need one for each of the V rows of `weight`: `weight.size(0)`, not `weight.size(1)`.",
          breaks=VECTORS, old=ONE_HOT, new="F.one_hot(ids, weight.size(1)).to(weight.dtype)  # (..., D)")
    wrong("integers", "You multiply integers with floats: `F.one_hot` returns whole numbers, so turn them into `weight.dtype` first.",
          breaks=VECTORS, old=ONE_HOT, new="F.one_hot(ids, weight.size(0))  # (..., V)")
    wrong("no_product", "You return the one-hot rows themselves; they still have to be multiplied with `weight`.",
          breaks=VECTORS, old="one_hot @ weight  # (..., V) @ (V, D) -> (..., D)", new="one_hot  # (..., V)")
    wrong("counts_from_one", "You count ids from one: id 0 has its 1 in column 0, and so on up to V − 1.",
          breaks=PRODUCTS, old="torch.arange(weight.size(0))", new="torch.arange(1, weight.size(0) + 1)")
    wrong("id_for_one", "Your rows hold the id itself where they should hold a 1, so each vector comes out id times too long.",
          breaks=PRODUCTS, old="one_hot @ weight", new="(one_hot * ids.unsqueeze(-1)) @ weight")
    wrong("bag_of_words", "You put the ones of all tokens into a single row, so their vectors are summed (a bag of words); each token needs a row of its own.",
          breaks=VECTORS, old=".to(weight.dtype)  # (..., V)", new=".any(-2).to(weight.dtype)")
    wrong("cut_table", "You multiply with the rows up to the largest id only, `weight[:ids.max() + 1]`. A one-hot row has a column for each of the V rows, `weight.size(0)`.",
          breaks="a real product", old=(ONE_HOT, "one_hot @ weight"),
          new=("F.one_hot(ids, int(ids.max()) + 1).to(weight.dtype)", "one_hot @ weight[: ids.max() + 1]"))
    wrong("entry_by_entry", "`*` multiplies entry by entry, and (…, V) does not meet (V, D) that way. A lookup is a matrix product: `@`.",
          breaks=VECTORS, old="one_hot @ weight", new="one_hot * weight")
    wrong("one_less", "You subtract one from the ids, and −1 is no class of a one-hot row. Ids count from zero already.",
          breaks=VECTORS, old=ONE_HOT, new="F.one_hot(ids - 1, weight.size(0)).to(weight.dtype)  # (..., V)")
    wrong("flattens", "You flatten the ids: the tokens of all sentences stand in one long list. Keep the shape of `ids` and add D behind it.",
          breaks=VECTORS, old="ids.unsqueeze(-1)", new="ids.flatten().unsqueeze(-1)")
    wrong("whole_numbers", "You turn the table into whole numbers to fit the one-hot rows. Turn the rows into floats, `.to(weight.dtype)`, and leave the table.",
          breaks=VECTORS, old=(ONE_HOT, "one_hot @ weight"), new=("F.one_hot(ids, weight.size(0))", "one_hot @ weight.long()"))
    wrong("nan_replaced", "You replace NaN in the result (`nan_to_num`, `where`). 0 · ∞ is NaN, and a product that meets an ∞ in the table has to show it.",
          breaks="a real product", old="return one_hot @ weight", new="return (one_hot @ weight).nan_to_num()")
    wrong("transposed_table", "The one-hot rows meet the columns of the table: `weight.T`. A row of V entries meets the V *rows*, `one_hot @ weight`.",
          breaks=VECTORS, old="one_hot @ weight", new="one_hot @ weight.T")


@MISTAKES.of(embedding_lookup)
def in_embedding_lookup(wrong):
    ROWS = ("shape", "values", "only its own rows", "gradients")
    OTHER_ROWS = ("values", "only its own rows", "gradients")

    wrong("product", "The vectors are right, but you multiply with one-hot rows, which reads the whole table: an ∞ in a row that no id asks for turns your result into NaN. Index the rows you need.",
          breaks="only its own rows", old="weight[ids]", new="F.one_hot(ids, weight.size(0)).to(weight.dtype) @ weight")
    wrong("columns", "You index the columns of `weight`. An id is the number of a *row*: the first axis.",
          breaks=ROWS, old="[ids]", new="[:, ids]")
    wrong("transposed", "You index the transposed table, so an id picks a column. `weight` is (V, D): one row per id.",
          breaks=ROWS, old="return weight", new="return weight.T")
    wrong("counts_from_one", "You subtract one from the ids. They already count from zero; and −1 silently means the last row.",
          breaks=OTHER_ROWS, old="[ids]", new="[ids - 1]")
    wrong("flattens", "You flatten the ids: the tokens of all sentences stand in one long list. Keep the shape of `ids` and add D behind it.",
          breaks=ROWS, old="[ids]", new="[ids.flatten()]")
    wrong("first_sentence", "You look only the first sentence up; the result needs every axis of `ids`.",
          breaks=ROWS, old="[ids]", new="[ids[0]]")
    wrong("each_id_once", "You give every row of the table once, in order, and lose which token asked for it: index with `ids` itself.",
          breaks=ROWS, old="[ids]", new="[ids.unique()]")
    wrong("detached", "The vectors are right, but they are cut from `weight`, so the table could never learn: index `weight` itself, not `weight.detach()` or `weight.data`.",
          breaks="gradients", old="return weight", new="return weight.detach()")
    wrong("scaled", "You multiply by √D. The first Transformer does that (Vaswani et al. 2017, §3.4), but as a step after the lookup; here the row is wanted as it stands.",
          breaks=OTHER_ROWS, old="return weight", new="return weight.size(1) ** 0.5 * weight")
    wrong("average", "You average over the tokens, and one vector per sentence is left. Here each token keeps its own.",
          breaks=ROWS, old="weight[ids]", new="weight[ids].mean(-2)")
    wrong("the_other_way_round", "You index the ids with the table: `ids[weight]`. It is the table that is asked, by row: `weight[ids]`.",
          breaks=ROWS, old="weight[ids]", new="ids[weight]")
    wrong("index_select", "`index_select` takes one axis of ids, and here they may have any number. `weight[ids]` takes them as they are.",
          breaks=ROWS, old="weight[ids]", new="torch.index_select(weight, 0, ids)")
    wrong("gather", "`gather` picks single entries, column by column, and wants as many axes of ids as the table has. Whole rows are wanted: `weight[ids]`.",
          breaks=ROWS, old="weight[ids]", new="torch.gather(weight, 0, ids)")
    wrong("last_sentence", "Only the last sentence is left: each turn of your loop overwrites what the one before it found. Collect them, or index with all `ids` at once.",
          breaks=ROWS, old="[ids]", new="[ids[-1]]")
    wrong("tokens_last", "Tokens and width have changed places: each token's D numbers stand together in the last axis, as indexing gives them.",
          breaks=ROWS, old="weight[ids]", new="weight[ids].transpose(-1, -2)")
    wrong("one_row_on", "You add one to the ids. They are numbers of rows, counted from zero.",
          breaks=OTHER_ROWS, old="[ids]", new="[(ids + 1) % weight.size(0)]")


@MISTAKES.of(nearest_tokens)
def in_nearest_tokens(wrong):
    NEAREST = ("values", "excluded by id")
    LIST = ("shape", "values", "excluded by id")
    COSINE = """\
    unit = weight / weight.norm(dim=-1, keepdim=True)  # (V, D)
    cosine = unit @ unit[query_id]  # (V, D) @ (D,) -> (V,)
"""
    EXCLUDE = "    cosine[query_id] = -torch.inf  # by id: another row may hold the very same vector\n"

    wrong("includes_itself", "The token itself is among its neighbors (its cosine with itself is 1). Leave `query_id` out before you take the largest.",
          breaks=NEAREST, old=EXCLUDE, new="")
    wrong("dot_product", "You rank by dot products: each row's own length is not divided out, so long vectors win whatever their direction. The cosine divides by *both* lengths, row by row.",
          breaks=NEAREST, old=COSINE, new="    cosine = weight @ weight[query_id]  # (V, D) @ (D,) -> (V,)\n")
    wrong("distance", "You compare distances, to which the lengths contribute. The cosine looks at directions only.",
          breaks=NEAREST, old=COSINE, new="    cosine = -(weight - weight[query_id]).norm(dim=-1)  # (V,)\n")
    wrong("drops_the_first", "You take k + 1 and drop the first, trusting that the token itself comes first. Another row with the same direction can stand before it: leave out `query_id`, not a place in the list.",
          breaks="excluded by id", old=(EXCLUDE, "topk(k).indices"),
          new=("", "round(decimals=5).argsort(descending=True, stable=True)[1 : k + 1]"))
    wrong("drops_all_twins", "You leave out every row that points the same way as the token. Such a row is another token's, and the nearest of all: leave out `query_id` only.",
          breaks="excluded by id", old=EXCLUDE, new="    cosine[cosine > 0.99999] = -torch.inf\n")
    wrong("farthest", "The order is reversed: you return the farthest tokens. Nearest means the *largest* cosine.",
          breaks=NEAREST, old=("-torch.inf", "topk(k)"), new=("torch.inf", "topk(k, largest=False)"))
    wrong("nearest_last", "You found the right tokens but list the nearest last; it comes first.",
          breaks=NEAREST, old=".indices", new=".indices.flip(0)")
    wrong("returns_cosines", "You return the cosines themselves; wanted are the ids they belong to (`.indices`).",
          breaks=LIST, old=".indices", new=".values")
    wrong("drops_the_sign", "You drop the sign: a vector that points the opposite way (cosine near −1) is as far as can be, not near.",
          breaks=NEAREST, old="unit @ unit[query_id]", new="(unit @ unit[query_id]).abs()")
    wrong("one_too_few", "You return one token too few: k of them without the token itself, so drop it before you take k.",
          breaks=LIST, old=(EXCLUDE, ".indices  # (k,)"), new=("", ".indices[1:]"))
    wrong("normalizes_columns", "You divide by the lengths of the columns. The length of a token's vector is that of its row: `dim=-1`.",
          breaks=NEAREST, old="dim=-1", new="dim=0")
    wrong("shifted_ids", "You take the row out of the table before you search, and every later row moves up by one: your places are no longer ids.",
          breaks=NEAREST, old=("cosine = unit @ unit[query_id]  # (V, D) @ (D,) -> (V,)\n", EXCLUDE),
          new=("others = torch.cat([unit[:query_id], unit[query_id + 1 :]])\n    cosine = others @ unit[query_id]  # (V - 1,)\n",
               ""))
    wrong("zeroes_itself", "You set the token's own cosine to 0, but other cosines are negative, so it comes back among them. Use −∞.",
          breaks="values", old="-torch.inf", new="0.0")
    wrong("one_too_many", "You return k + 1 tokens, the token itself among them. Wanted are k others.",
          breaks=LIST, old=(EXCLUDE, "topk(k).indices  # (k,)"), new=("", "topk(k + 1).indices"))
    wrong("dot_product_without_the_first", "You compare dot products and then drop the first of the list. Divide by both lengths to get the cosine, and leave out `query_id` itself: the first need not be it.",
          breaks=NEAREST, old=(COSINE, EXCLUDE, "topk(k).indices"),
          new=("    cosine = weight @ weight[query_id]\n", "", "argsort(descending=True)[1 : k + 1]"))
    wrong("smallest_first", "You sort from the smallest: the farthest come first, and the token itself, at −∞, before them all. Sort from the largest (`topk`, or `argsort(descending=True)`).",
          breaks=NEAREST, old="topk(k).indices", new="argsort()[:k]")
    wrong("infinity_before_the_product", "You fill the token's row with −∞ before the product: −∞ times positive and negative numbers adds up to NaN, which sorts before everything. Take the product first, then set that *cosine* to −∞.",
          breaks=NEAREST, old=("    cosine = unit @ unit[query_id]", EXCLUDE),
          new=("    query = unit[query_id].clone()\n    unit[query_id] = -torch.inf\n    cosine = unit @ query", ""))
    wrong("columns_compared", "`dim=0` compares column by column and gives D numbers, one for each component. One cosine for each of the V rows is wanted: `dim=-1`.",
          breaks=LIST, old=COSINE, new="    cosine = F.cosine_similarity(weight, weight[query_id].unsqueeze(0), dim=0)  # (D,)\n")


@MISTAKES.of_quiz("quiz_embeddings", quiz_embeddings)
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
