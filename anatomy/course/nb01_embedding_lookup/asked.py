"""What 01-embedding-lookup asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxz", "aeiouy"


def _respelling(draw: Draw) -> Callable[[str], str]:
    """Another spelling for every word: consonants trade places, and so do vowels; all else stays."""
    table: dict[str, str] = {}
    for letters in (CONSONANTS, VOWELS):
        other = "".join(letters[i] for i in draw.permutation(len(letters)))
        table |= dict(zip(letters + letters.upper(), other + other.upper(), strict=True))
    return lambda text: "".join(table.get(letter, letter) for letter in text)


LETTERS = ("a", "ab", "aA", "Nan", "flies", "time☃é", "a.+", "b*(", "c#", "x-1", "d\\1")
"""What drawn words are made of: few letters, so that pairs repeat; capital letters; signs with a meaning elsewhere."""


def _word(draw: Draw, letters: str, longest: int) -> str:
    return "".join(letters[i] for i in draw.integers(str(draw.whole(1, longest)), len(letters)))


# ---------------------------------------------------------------------------------------------- learn_bpe


def any_word_counts(draw: Draw) -> Case:
    letters, most = draw.pick(*LETTERS) + draw.pick("", "t"), draw.pick(1, 3, 20)  # of small counts, many are equal
    words = [_word(draw, letters, draw.pick(3, 9)) for _ in range(draw.whole(0, 7))]
    words += [draw.pick(*words) + draw.pick(*letters) for _ in range(draw.whole(0, 1)) if words]  # one begins another
    return draw.case(word_counts={word: draw.whole(1, most) for word in words}, num_merges=draw.whole(0, 12))


@exercise(
    inputs=any_word_counts,
    properties={"values": 3, "ties": 2, "repeats": 1, "stops early": 1},
    when_right="Most frequent first, ties by first seen, and it knows when to stop. The merges are the tokenizer.",
)
def learn_bpe(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    spell = _respelling(draw)

    def counts(**words: int) -> dict[str, int]:
        scale = int(draw.integers("1", 4, low=1))
        return {spell(word): count * scale for word, count in words.items()}

    # In these two and in `repeats` no two pairs are equally frequent where it matters.
    yield draw.case(word_counts=counts(fine=11, times=4, fin=1, tile=4, fires=6, fines=9), num_merges=8)
    yield draw.case(word_counts=counts(lines=7, life=5, fines=9, fine=4, flying=4, lies=3), num_merges=7)

    repeats: dict[str, Any] = {"asks": "repeats", "note": "when a pair occurs several times in one word"}
    yield draw.case(word_counts=counts(aha=5, haha=11, hahaha=9), num_merges=6, **repeats)
    yield draw.case(word_counts=counts(nana=4, ananas=7, tata=7, aaa=9), num_merges=5, **repeats)

    first, second, third = (chr(ord("a") + int(i)) for i in draw.permutation(26)[:3].sort().values)
    tied = {second + "ot": 3, first + "ip": 3, third + "ux": 3}  # the first seen is neither first nor last by alphabet
    ties: dict[str, Any] = {"asks": "ties", "note": "when pairs are equally frequent"}
    yield draw.case(word_counts=tied, num_merges=5, **ties)
    yield draw.case(word_counts={"ne": 2, "ant": 3, "to": 1, "ten": 2, "tan": 1, "not": 3}, num_merges=9, **ties)
    rare_first = {
        third + "a": 1,
        first + "o": 3,
        third + "ai": 2,
    }  # first in the dict, though rarer and later by alphabet
    yield draw.case(word_counts=rare_first, num_merges=3, **ties)

    # (a, n) is first in the dict, though only second in its words.
    yield draw.case(word_counts={"wan": 2, "tan": 1, "no": 3}, num_merges=4, **ties)
    yield draw.case(word_counts={"at": 3, "ate": 3}, num_merges=3, **ties)  # the first merge changes both words

    early: dict[str, Any] = {"asks": "stops early", "note": "when fewer merges are possible than asked for"}
    yield draw.case(word_counts={spell("at"): 2, spell("t"): 1, spell("s"): 1}, num_merges=9, **early)
    yield draw.case(word_counts={}, num_merges=3, **early)
    yield draw.case(
        word_counts=counts(time=2, flies=1), num_merges=0, asks="stops early", note="when no merge is needed"
    )


# ---------------------------------------------------------------------------------------------- wordpiece


def any_word_and_vocab(draw: Draw) -> Case:
    letters = draw.pick(*LETTERS) + draw.pick("", "gs")
    word = draw.pick("", letters[0]) + _word(draw, letters, draw.pick(3, 6, 12)) * draw.pick(1, 1, 1, 15)
    word = word if word[:2] != "##" else letters[0] + word
    cuts = [sorted(draw.permutation(len(word) + 1)[:2].tolist()) for _ in range(draw.whole(0, 12))]
    pieces = [draw.pick("", "##", "##") + word[start:end] for start, end in cuts]
    pieces += draw.pick(letters, letters.swapcase(), "")
    pieces += ["##" + letter for letter in draw.pick(letters, letters, "")]
    pieces += draw.pick([], ["[UNK]"], [word + "s", "##" + word], [word[:1], word[:2], "##" + word[1:]])
    pieces = [pieces[i] for i in draw.permutation(len(pieces))]
    vocab = dict(zip(dict.fromkeys(pieces), draw.permutation(100).tolist(), strict=False))
    return draw.case(word=word, vocab=vocab, **draw.pick({}, {}, {"unk": "[UNK]"}, {"unk": "<?>"}))


@exercise(
    inputs=any_word_and_vocab,
    properties={"values": 2, "unknown words": 1, "never goes back": 1},
    holds=lambda case: len(set(case.args["vocab"].values())) == len(case.args["vocab"]),
    when_right="Longest first, and never back. Now let it meet the real tokenizer.",
)
def wordpiece(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    spell = _respelling(draw)

    def case(word: str, pieces: str, *unk: str, asks: str | None = None, note: str = "") -> Case:
        vocab = {spell(piece): number for number, piece in enumerate(dict.fromkeys(pieces.split()))}
        extra: dict[str, Any] = {"unk": unk[0]} if unk else {}
        return draw.case(word=spell(word), vocab=vocab, **extra, asks=asks, note=note)

    letters = "u n f o l d i g ##u ##n ##f ##o ##l ##d ##i ##g"
    yield case("unfolding", f"{letters} un fold ing folding ##un ##fo ##fold ##in ##ing")
    yield case("folds", "fold ##fold ##ing ##s un")
    yield case("cartoons", "car cart ##toon ##oon ##s toon")
    yield case("arrow", "arrow ar ##row a ##r ##o ##w")
    yield case("Arrow", "arrow a A ##r ##o ##w ##row", note="when a word has a capital letter")
    yield case("in" * 100, "in i ##n ##in", note="when a word has 200 letters")
    yield case("in" * 50, f"in ##in ##n ##{'in' * 40}", note="when an entry has 80 letters")
    yield case("naïve-", "na ##ïve ##- naive- naïve ##ive", note="when a word has an accent and ends with a hyphen")
    yield case("to#do", "to ###d ##o ##d #d d", note="when a `#` of the word follows the mark")
    yield case("to##do", "to ####d ##o ##d #d d", note="when two `#` of the word follow the mark")
    yield case("#do", "# #d ##do ##d ##o d o", note="when a word begins with a `#`")
    yield case("folds", "fo ##lds ##ld ##s f", note="when a word comes again with another vocabulary")

    unknown = "unknown words"
    yield case("playing", "play ##in ##i ing", asks=unknown, note="when the end of a word can't be covered")
    mark, note = spell("<unknown>"), "when the caller names the unknown mark"
    yield case("na☃ve", "na n ##a ##ve ##v ##e", mark, asks=unknown, note=note)
    yield case("ing", "##ing ##i ##n ##g", asks=unknown, note="when a piece exists only as a continuation")
    yield case("nnn", "n", asks=unknown, note="when a piece exists only for the start of a word")
    yield case("s", "##s t", asks=unknown, note="when a word of one letter has no entry")
    yield case("sun", "", asks=unknown, note="when the vocabulary is empty")
    yield case("playing", "play # ###ing", asks=unknown, note="when `#` is an entry, and the end can't be covered")
    yield case("playing", "play ##in ##i ing", mark, asks=unknown, note="when a word comes again with another mark")

    note = "when the longest piece leads into a dead end"
    yield case("bandit", "ban band ##dit bandits", asks="never goes back", note=note)


# ---------------------------------------------------------------------------------------------- the two lookups


def _tables(seed: int) -> Iterator[tuple[Draw, Tensor, Tensor, str]]:
    """Ids and an embedding matrix: more rows than columns and the other way round, one to three axes of ids."""
    draw = Draw(seed, B=3, T=5, V=11, D=4)
    yield draw, draw.integers("B T", 10), draw.normal("V D"), "B T D"
    draw = Draw(seed, T=8, V=5, D=9)  # more tokens than rows: some id comes twice
    yield draw, draw.integers("T", 4), draw.normal("D V").t(), "T D"  # not contiguous in memory
    draw = Draw(seed, B=2, N=3, T=4, V=10, D=6)
    ids = draw.integers("T N B", 9).permute(2, 1, 0)  # not contiguous in memory
    yield draw, ids, draw.normal("V D"), "B N T D"
    draw = Draw(seed, B=1, T=1, V=6, D=5)
    yield draw, draw.integers("B T", 5), draw.normal("V D"), "B T D"


def _infinite_row(seed: int, last: bool = True) -> tuple[Draw, Tensor, Tensor, str]:
    """An embedding matrix with ∞ in its last row, or in its first one, which no id asks for."""
    draw = Draw(seed, B=2, T=6, V=7, D=3)
    weight = draw.normal("V D")
    weight[-1 if last else 0, int(draw.integers("1", 3))] = torch.inf
    return draw, draw.integers("B T", 6) + (0 if last else 1), weight, "B T D"


def _name_rows(case: Case) -> bool:
    return int(case.args["ids"].max()) < len(case.args["weight"])


NOTE = "when a row that no id asks for holds an ∞"


def _any_table(draw: Draw, asks: str) -> Case:
    """Ids of one to four axes; now and then many rows, or a row with ∞."""
    axes = draw.pick("T", "B T", "B T", "B N T", "B H N T")
    draw.sized(B=(1, 3), H=(1, 3), N=(1, 4), T=(1, 8), V=draw.pick((1, 12), (1, 12), (130, 700)), D=(1, 9))
    ids, weight = draw.ids(axes, draw.sizes["V"]), draw.floats("V D")
    if draw.pick(True, False, False):
        rows, columns = weight.shape
        weight[draw.whole(0, rows - 1), draw.whole(0, columns - 1)] = draw.pick(torch.inf, -torch.inf)
        return draw.case(ids=ids, weight=weight, returns=f"{axes} D", asks=asks)
    return draw.case(ids=ids, weight=weight, returns=f"{axes} D")


def any_table_to_multiply(draw: Draw) -> Case:
    return _any_table(draw, "a real product")


@exercise(
    inputs=any_table_to_multiply,
    properties={"shape": 1, "values": 1, "a real product": 1, "gradients": 1},
    axes={"T": "tokens"},
    holds=_name_rows,
    when_right="A linear layer without bias, fed with one-hot rows: that is all an embedding is.",
)
def one_hot_lookup(seed: int) -> Iterator[Case]:
    for draw, ids, weight, returns in _tables(seed):
        yield draw.case(ids=ids, weight=weight, returns=returns)
    for last in (True, False):
        draw, ids, weight, returns = _infinite_row(seed, last)
        yield draw.case(ids=ids, weight=weight, returns=returns, asks="a real product", note=NOTE)


def any_table_to_index(draw: Draw) -> Case:
    return _any_table(draw, "only its own rows")


@exercise(
    inputs=any_table_to_index,
    properties={"shape": 1, "values": 1, "only its own rows": 1, "gradients": 1},
    forbids=("embedding",),
    axes={"T": "tokens"},
    holds=_name_rows,
    when_right="Same vectors, same gradients, and it reads T rows instead of V.",
)
def embedding_lookup(seed: int) -> Iterator[Case]:
    for draw, ids, weight, returns in _tables(seed):
        yield draw.case(ids=ids, weight=weight, returns=returns)
    draw, ids, weight, returns = _infinite_row(seed)
    yield draw.case(ids=ids, weight=weight, returns=returns, asks="only its own rows", note=NOTE)


# ---------------------------------------------------------------------------------------------- nearest_tokens

COSINES = (0.95, 0.85, 0.7, 0.55, 0.4, 0.2, -0.1, -0.35, -0.65, -0.9)  # also without their signs all differ
LENGTHS = (0.3, 4.0, 0.5, 6.0, 0.7, 9.0, 1.0, 3.0, 0.2, 5.0)  # so that lengths and directions disagree
CLOSE, SHORT_AND_LONG = (0.9998, 0.9985, 0.995, 0.98, *COSINES[2:8]), (*2 * (0.002, 3.0), *6 * (1.0,))
SHORTEST = 0.001  # no row is shorter


def _around(
    draw: Draw, query_id: int, cosines: Sequence[float], lengths: Sequence[float], query: Tensor | None = None
) -> Tensor:
    """A matrix (V, D) whose rows have these cosines with row `query_id`, which has length 2 (and this direction)."""
    if query is None:
        query = torch.nn.functional.normalize(draw.normal("D"), dim=0)  # (D,)
    aside = draw.normal("N D")  # (N, D)
    aside = torch.nn.functional.normalize(aside - (aside @ query).unsqueeze(-1) * query, dim=-1)
    cosine = torch.tensor(cosines).unsqueeze(-1)  # (N, 1)
    rows = torch.tensor(lengths).unsqueeze(-1) * (cosine * query + (1 - cosine**2).sqrt() * aside)
    rows = rows[draw.permutation(len(rows))]
    return torch.cat([rows[:query_id], 2 * query.unsqueeze(0), rows[query_id:]])


def _exact(draw: Draw) -> Tensor:
    """A direction (D,) whose length and products come out without rounding: four entries of ±½, or a single ±1."""
    size = 4 if draw.sizes["D"] > 3 else 1
    signs = 1.0 - 2.0 * draw.integers("D", 2)  # (D,)
    return size**-0.5 * signs * (draw.permutation(draw.sizes["D"]) < size)


def _twins(draw: Draw, query_id: int, twin: int, above: bool) -> Tensor:
    """A matrix whose rows `query_id` and `twin` are the same. As it is usually computed, their cosine is exactly 1, or
    rounding takes it `above` 1, where `acos` gives NaN.
    """
    place = query_id if query_id < twin else query_id - 1
    for _ in range(200):  # three or so are enough
        weight = _around(draw, place, COSINES, LENGTHS, None if above else _exact(draw))
        weight = torch.cat([weight[:twin], weight[place].unsqueeze(0), weight[twin:]])
        lengths, dots = weight.norm(dim=1), weight @ weight[query_id]
        unit = weight / lengths.unsqueeze(-1)
        cosines = (unit @ unit[query_id], (unit * unit[query_id]).sum(-1), dots / (lengths * lengths[query_id]))
        if all(cosine[twin] > 1 if above else cosine[twin] == 1 for cosine in cosines):
            break
    return weight


def _has_neighbors(case: Case) -> bool:
    """Whether a row and `k` others are there, none shorter than the contract says, at most one parallel to the row."""
    query_id, weight, k = case.args.values()
    if not (0 <= query_id < len(weight) and 1 <= k < len(weight) and bool((weight.norm(dim=1) >= SHORTEST).all())):
        return False
    unit = torch.nn.functional.normalize(weight.double(), dim=1)  # (V, D)
    return int((unit @ unit[query_id] > 1 - 1e-6).sum()) <= 2


def any_neighbors(draw: Draw) -> Case:
    """Cosines that lie well apart, lengths of all sizes; in one draw of two another row points the query's way."""
    draw.sized(N=draw.pick((1, 9), (1, 9), (60, 150)), D=(2, 9))
    others, query_id = draw.sizes["N"], draw.whole(0, draw.sizes["N"])
    twin = draw.pick(True, False)
    last = draw.pick(-1.0 if twin else -0.99, 0.2, -0.9)  # −1: a row that points the opposite way
    cosines = torch.linspace(1.0 if twin else 0.98, last, others).tolist()
    scale = draw.pick(1.0, 1.0, 1 / 32, 1 / 512)  # some matrices have short rows only
    shortest = max(0.05, 1.1 * SHORTEST / scale)
    lengths = (2 * draw.normal("N", draw.pick(0.0, 1.0)).exp()).clamp(min=shortest).tolist()
    lengths[0] = draw.pick(1.0, 2.0, 8.0) if twin else lengths[0]
    query = _exact(draw) if twin else None  # its own cosine and the twin's are exactly 1, however they are computed
    weight = draw.laid_out(_around(draw, query_id, cosines, lengths, query) * scale)
    k = draw.pick(1, others, draw.whole(1, others))
    asks = "excluded by id" if twin else None
    return draw.case(query_id=query_id, weight=weight, k=k, asks=asks, sizes={"V": others + 1, "K": k})


@exercise(
    inputs=any_neighbors,
    properties={"shape": 1, "values": 2, "excluded by id": 1},
    returns="K",
    axes={"K": "neighbors"},
    holds=_has_neighbors,
    when_right="By direction, whatever the lengths. Now ask it about real words.",
)
def nearest_tokens(seed: int) -> Iterator[Case]:
    for query_id, k, note in (
        (4, 4, ""),
        (0, 1, "when k = 1"),
        (7, 10, "when k = V − 1, so that all others must come back"),
    ):
        draw = Draw(seed, V=11, D=6, N=10, K=k)
        weight = _around(draw, query_id, COSINES, LENGTHS)
        if k == 4:
            weight = weight.t().contiguous().t()  # not contiguous in memory
        yield draw.case(query_id=query_id, weight=weight, k=k, note=note)
    draw = Draw(seed, V=11, D=5, N=10, K=10)
    weight = _around(draw, 1, (*COSINES[:-1], -1.0), LENGTHS, _exact(draw))
    yield draw.case(query_id=1, weight=weight, k=10, note="when a row points the opposite way, and all must come back")
    draw = Draw(seed, V=11, D=7, N=10, K=5)
    weight = _around(draw, 3, COSINES, LENGTHS) / 128
    yield draw.case(query_id=3, weight=weight, k=5, note="when some rows are as short as 0.002")
    draw = Draw(seed, V=11, D=6, N=10, K=4)
    weight = _around(draw, 5, CLOSE, SHORT_AND_LONG)
    yield draw.case(query_id=5, weight=weight, k=4, note="when short and long rows lie close together")
    for query_id, twin, above in ((6, 2, True), (2, 6, True), (10, 0, False)):
        draw = Draw(seed, V=12, D=6, N=10, K=3)
        weight = _twins(draw, query_id, twin, above)
        note = f"when another row, {twin}, holds the very same vector as row {query_id}"
        yield draw.case(query_id=query_id, weight=weight, k=3, asks="excluded by id", note=note)
    draw = Draw(seed, V=12, D=6, N=10, K=3)
    weight = _twins(draw, 4, 8, above=False)
    weight[8] *= 2.0
    note = "when another row, 8, points the same way as row 4, and is twice as long"
    yield draw.case(query_id=4, weight=weight, k=3, asks="excluded by id", note=note)


# ---------------------------------------------------------------------------------------------- quiz

quiz_embeddings = quiz(
    "quiz_embeddings",
    {
        "flies twice": ("the same", "different", "the same up to their length"),
        "rows that learn": ("row 5 only", "rows 5 and 9", "all rows"),
        "a new word": ("the unknown mark", "several known pieces", "a new row of the matrix"),
    },
    when_right="The first answer is the problem that the next three notebooks solve.",
)
