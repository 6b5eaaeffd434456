"""What 12-pretraining asks.

What is drawn at random has no expected value. Answers are called, often where it takes that, and what they returned is
handed over as it is. `anatomy.course.nb12_pretraining.described` says what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.calls import packed, with_generator
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz
from anatomy.engine.observing.plain_data import fresh

TOKENS = {"T": "tokens", "C": "classes"}

# ---------------------------------------------------------------------------------------------- mask_tokens


OFTEN = 200
"""So often is a short text given: what is fixed by counting, not drawn, shows there."""

A_SHORT_TEXT = 5
"""Tokens."""


def _once(cases: Callable[[int], Iterator[Case]]) -> Callable[[int], Iterator[Case]]:
    """Each case is run once: what changes from call to call shows in the many calls of one run."""

    @wraps(cases)
    def run_once(seed: int) -> Iterator[Case]:
        return (replace(case, once=True) for case in cases(seed))

    return run_once


def _mask(answer: Any, case: Case) -> Any:
    """Inputs and labels of one call; behind them those of more, where a short text asks for them."""
    if case.asks == "generator":
        return with_generator(answer, case)
    args = dict(case.args)
    first = answer(*args.values()) if case.asks == "labels" else answer(*fresh(args).values())
    if first is None:
        return None
    more: list[Any] = []
    if case.asks in ("rate", "80/10/10") and args["ids"].numel() <= A_SHORT_TEXT:
        more = [answer(*{**args, "ids": args["ids"].clone()}.values()) for _ in range(OFTEN)]
    return {"first": first, "more": packed(more)}


def _zeros(*sizes: int) -> Tensor:
    return torch.zeros(sizes, dtype=torch.long)


def any_text_to_mask(draw: Draw) -> Case:
    """Tokens enough that some are chosen and some are not, unless the rate is 0 or 1."""
    draw.sized(B=(1, 6), T=(200, 260))
    draw.sizes["T"] //= draw.pick(1, draw.sizes["B"])  # 200 tokens in one text, or in all
    draw.sizes["V"] = size = draw.pick(10, 300, 40_000)
    special = draw.pick(_zeros(*draw.shape("B T")), draw.integers("B T", 2))
    if draw.whole(0, 4) == 0:
        special[draw.whole(0, len(special) - 1)] = 1
    given: dict[str, Any] = {
        "ids": draw.ids("B T", size), "special_mask": draw.laid_out(draw.pick(special, special.bool())),
        "vocab_size": size, "mask_id": draw.whole(0, size - 1), "generator": draw.fork("mask"),
    }  # fmt: skip
    asks = "special tokens" if special.any() else "labels"
    return draw.case(**given, rate=draw.pick(0.0, 1.0, draw.whole(2, 8) / 10), asks=asks)


@exercise(
    inputs=any_text_to_mask,
    properties={"labels": 2, "special tokens": 1, "rate": 1, "80/10/10": 2, "generator": 1},
    act=_mask,
    when_right="Inputs and labels from nothing but text. What remains is to ask for the labels.",
)
@_once
def mask_tokens(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=20, T=60, V=2000)
    ids, nothing = draw.integers("B T", 2000, 200), _zeros(20, 60)
    plainly: dict[str, Any] = {"ids": ids, "special_mask": nothing, "vocab_size": 2000, "mask_id": 103}

    def case(asks: str, words: Any, given: dict[str, Any], note: str = "", **more: Any) -> Case:
        return Draw(seed).case(**given, generator=draw.fork(asks, words), **more, asks=asks, note=note)

    yield case("labels", 0, plainly, rate=0.4)
    yield case("labels", 1, plainly, "when `rate` is 1", rate=1.0)
    special = draw.integers("B T", 2)
    yield case("special tokens", 0, {**plainly, "special_mask": special}, rate=0.7)
    yield case("special tokens", 1, {**plainly, "special_mask": special == 0}, "when the special mask is boolean",
               rate=1.0)  # fmt: skip
    draw = Draw(seed, B=100, T=120, V=2000)  # so many that 12% or 18% would show
    many = {"ids": draw.integers("B T", 2000, 200), "special_mask": _zeros(100, 120), "vocab_size": 2000}
    yield case("rate", 0, {**many, "mask_id": 103}, "when `rate` is left out")
    draw = Draw(seed, B=40, T=70, V=2000)
    some: dict[str, Any] = {
        **plainly,
        "ids": draw.integers("B T", 2000, 200),
        "special_mask": (draw.integers("B T", 3) == 0).long(),
    }
    yield case("labels", 2, some, "when a third of the tokens are special", rate=0.6)
    yield case("rate", 1, {**some, "special_mask": torch.zeros_like(some["special_mask"])}, rate=0.5)
    yield case("rate", 2, some, "when a third of the tokens are special", rate=0.3)
    one = {name: value[:1, :1] if isinstance(value, Tensor) else value for name, value in plainly.items()}
    five = {name: value[:1, :5] if isinstance(value, Tensor) else value for name, value in plainly.items()}
    for number, short in enumerate((one, five)):
        yield case("rate", 3 + number, short, "for a short text", rate=0.5)
    draw = Draw(seed, B=120, T=100, V=30_000)
    large = {"ids": draw.integers("B T", 30_000, 200), "special_mask": _zeros(120, 100), "vocab_size": 30_000}
    yield case("80/10/10", 0, {**large, "mask_id": 103}, rate=1.0)
    draw = Draw(seed, B=100, T=80, V=30_000)
    more = {"ids": draw.integers("B T", 30_000, 200), "special_mask": _zeros(100, 80), "vocab_size": 30_000}
    yield case("80/10/10", 4, {**more, "mask_id": 103}, rate=0.3)
    draw = Draw(seed, B=90, T=120, V=2)
    two = {"ids": torch.ones(90, 120, dtype=torch.long), "special_mask": _zeros(90, 120), "vocab_size": 2}
    yield case("80/10/10", 1, {**two, "mask_id": 0}, "when the vocabulary has two tokens", rate=1.0)
    draw = Draw(seed, B=150, T=120, V=8)
    few = {"ids": draw.integers("B T", 8), "special_mask": _zeros(150, 120), "vocab_size": 8}
    yield case("80/10/10", 2, {**few, "mask_id": 3}, "when the vocabulary has eight tokens", rate=1.0)
    for number, short in enumerate((one, five)):
        yield case("80/10/10", 5 + number, {**short, "vocab_size": 30_000}, "for a short text", rate=1.0)
    yield case("generator", 0, {**plainly, "ids": ids[:3, :40], "special_mask": nothing[:3, :40]}, rate=0.5)


# ---------------------------------------------------------------------------------------------- mlm_loss


def any_logits_and_labels(draw: Draw) -> Case:
    draw.sized(B=(1, 5), T=(1, 8), V=draw.pick((2, 9), (2, 9), (300, 400)))
    share = draw.pick(0.0, 0.3, 0.3, 0.8, 1.0)
    asked = torch.rand(draw.shape("B T"), generator=draw.generator) < share
    labels = draw.laid_out(draw.ids("B T", draw.sizes["V"]).where(asked, -100))
    return draw.case(logits=draw.floats("B T V"), labels=labels, asks=None if asked.any() else "no labels")


@exercise(
    inputs=any_logits_and_labels,
    properties={"values": 2, "gradients": 1, "no labels": 1},
    axes=TOKENS,
    when_right="Only the chosen positions count: the model reads the rest of the text.",
)
def mlm_loss(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, V=11)
    labels = draw.integers("B T", 11)
    asked = torch.tensor([[1, 0, 0, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0]]) == 1
    labels[0, 0], labels[2, 1] = 0, 10
    yield draw.case(logits=draw.normal("B T V", 2.0), labels=labels.where(asked, -100))
    yield draw.case(logits=draw.normal("B T V"), labels=labels, note="when every position has a label")
    later = labels.where(asked.flip(0) & (torch.arange(3) > 0)[:, None], -100)
    yield draw.case(logits=draw.normal("B T V"), labels=later, note="when the first text has no label")
    zeros = torch.zeros(3, 7, dtype=torch.long).where(asked, -100)
    yield draw.case(logits=draw.normal("B T V"), labels=zeros, note="when all labels are token 0")
    draw = Draw(seed, B=2, T=5, V=4)
    logits = draw.normal("B V T").transpose(1, 2)
    few = torch.tensor([[3, -100, -100, 1, 0], [-100, -100, 2, -100, -100]])
    yield draw.case(logits=logits, labels=few, note="when the memory of `logits` is not in order")
    one_hot = torch.nn.functional.one_hot(few.clamp(min=0), 4)  # (B, T, V)
    note = "for tokens whose logits lie 150 below the others"
    yield draw.case(logits=draw.normal("B T V") - 150.0 * one_hot, labels=few, note=note)
    draw = Draw(seed, B=1, T=1, V=6)
    yield draw.case(logits=draw.normal("B T V"), labels=draw.integers("B T", 6), note="for a single token")
    draw = Draw(seed, B=2, T=3, V=5)
    nothing = torch.full((2, 3), -100)
    yield draw.case(logits=draw.normal("B T V"), labels=nothing, asks="no labels", note="when no position has a label")


# ---------------------------------------------------------------------------------------------- results as texts

TOGETHER = 1000
"""So many words make one text at most: `plain` cuts very long ones."""


def as_texts(result: Any) -> list[Any]:
    """A list of words, or of (text, text, number), in few texts, because thousands of items take long to cross.

    The first item says what it was. Other results follow it as they are.
    """
    kind, words = "words", result
    if _are_pairs(result):
        kind, words = "pairs", [str(item) for row in result for item in row]
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) and "\n" not in word for word in words):
        return ["other", result]
    return [kind, *("\n".join(words[start : start + TOGETHER]) for start in range(0, len(words), TOGETHER))]


def from_texts(node: list[Any]) -> Any:
    """The result of which `as_texts` made this; its tuples are lists, but for those of pairs."""
    kind, *texts = node
    if kind == "other":
        return texts[0]
    words = [word for text in texts for word in text.split("\n")]
    if kind == "words":
        return words
    return [(first, second, int(label)) for first, second, label in zip(*[iter(words)] * 3, strict=True)]


def _are_pairs(result: Any) -> bool:
    return isinstance(result, list | tuple) and all(
        isinstance(row, list | tuple) and [*map(type, row)] == [str, str, int] for row in result
    )


# ---------------------------------------------------------------------------------------------- pairs of sentences

A_FEW_CALLS = 40
"""So often an answer is called where no frequency is asked: that one of two never comes is seen all the same."""

DRAWS = 3600
"""So many pairs are drawn where their labels must be half and half: 60% would show."""

FEWER_DRAWS = 1500
"""So many are drawn to tell apart what comes of drawing each pair for itself, and of all else."""

SOURCES = 180
"""So often an answer is called whose second sentences must come evenly: then none of them is missing by chance."""


def _documents(draw: Draw, *sizes: int) -> list[list[str]]:
    """Documents of so many sentences, all different."""
    words = [f"s{number}" for number in (draw.permutation(900) + 100).tolist()]
    return [[words.pop() for _ in range(size)] for size in sizes]


def calls_for(case: Case) -> int:
    """How often an answer that draws pairs is called in this case."""
    if case.drawn or case.asks == "pairs":
        return A_FEW_CALLS
    if case.asks == "drawn evenly":
        return SOURCES
    return (FEWER_DRAWS if case.note else DRAWS) // len(followed(case.args["docs"]))


def followed(docs: list[list[str]]) -> list[tuple[int, str, str]]:
    """Document, sentence, following sentence: of every sentence but the last of its document."""
    return [(number, first, following) for number, doc in enumerate(docs) for first, following in pairwise(doc)]


def _pair_up(answer: Any, case: Case) -> Any:
    """The pairs of many calls, and what the first one that changed the documents has left of them."""
    if case.asks == "generator":
        return with_generator(answer, case)
    docs, generator, calls = case.args["docs"], case.args["generator"], calls_for(case)  # before docs can be changed
    kept = fresh(docs)
    first = answer(docs if case.asks == "pairs" else fresh(docs), generator)
    if first is None:
        return None
    results = [first]
    for _ in range(calls - 1):
        given = fresh(kept)
        results.append(answer(given, generator))
        if case.asks == "pairs" and given != kept == docs:
            docs[:] = given
    return {"calls": packed([*map(as_texts, results)]), "docs": docs}


def _evens(seed: int, calls: Callable[[Draw, list[list[str]], str, str], Case]) -> Iterator[Case]:
    """The cases of both pairings."""
    draw = Draw(seed)
    yield calls(draw, _documents(draw, 4, 1, 3, 2), "pairs", "")
    verse, refrain, *rest = _documents(draw, 6)[0]
    twice = [[verse, refrain, rest[0], refrain, rest[1]], [rest[2], refrain, rest[3]]]
    yield calls(draw, twice, "pairs", "when a sentence comes twice, and in another document, too")
    yield calls(draw, _documents(draw, 1, 1), "pairs", "when every document has one sentence")
    yield calls(draw, _documents(draw, 5, 3), "half and half", "")
    yield calls(draw, _documents(draw, 2, 1), "half and half", "when there is one pair")
    yield calls(draw, _documents(draw, 9, 6), "generator", "")
    yield calls(draw, _documents(draw, 70, 1), "pairs", "when a document is long")


def any_documents(draw: Draw) -> Case:
    """Sentences all different, or one that comes again and again, but in no document first."""
    sizes = [draw.whole(1, draw.pick(1, 3, 6)) for _ in range(draw.whole(2, 5))]
    docs, few = _documents(draw, *sizes), draw.pick("Time flies.", "It flies!  Why?", "s100")
    if draw.pick(True, False):
        docs = [[doc[0], *(few if draw.whole(0, 2) == 0 else sentence for sentence in doc[1:])] for doc in docs]
    docs = draw.pick(docs, docs, docs, [*docs, list(docs[0])])
    return draw.case(docs=docs, generator=draw.fork("pairs"), asks="pairs")


@exercise(
    inputs=any_documents,
    properties={"pairs": 2, "half and half": 1, "drawn evenly": 1, "generator": 1},
    act=_pair_up,
    when_right="A task for two sentences, from documents alone. Is it a hard one? The next task asks.",
)
@_once
def next_sentence_pairs(seed: int) -> Iterator[Case]:
    def case(draw: Draw, docs: list[list[str]], asks: str, note: str) -> Case:
        return draw.case(docs=docs, generator=draw.fork(asks, note), asks=asks, note=note)

    yield from _evens(seed, case)
    draw = Draw(seed)
    yield case(draw, _documents(draw, 9, 1, 6, 1), "drawn evenly", "")
    one, two, three = _documents(draw, 3)[0]
    refrain = [one, two, two, two, two, two]
    note = "when two documents are the same, and a sentence comes again and again"
    alike = [refrain, list(refrain), [two, two, two, three]]
    yield case(draw, alike, "drawn evenly", note)
    yield case(draw, alike, "half and half", note)


@exercise(
    inputs=any_documents,
    properties={"pairs": 2, "half and half": 1, "generator": 1},
    act=_pair_up,
    when_right="Both sentences are always about the same thing: only their order is in question.",
)
@_once
def sentence_order_pairs(seed: int) -> Iterator[Case]:
    yield from _evens(
        seed,
        lambda draw, docs, asks, note: draw.case(
            docs=docs,
            generator=draw.fork(asks, note),
            asks=asks,
            note=note.replace(", and in another document, too", ""),
        ),
    )
    draw = Draw(seed)
    one, two, *rest = _documents(draw, 4)[0]
    note = "when a sentence comes twice in a row"
    yield draw.case(docs=[[one, two, two, *rest]], generator=draw.fork(note), asks="pairs", note=note)


# ---------------------------------------------------------------------------------------------- span_corruption

FEW = 12
"""So often an answer is called whose form is asked, which no chance decides."""

MANY = 600
"""So often an answer is called that rarely does what is looked for."""

ALL_WAYS = 900
"""So often an answer is called that must find all ways."""


def cuts(case: Case) -> int:
    """How often an answer that hides spans is called in this case."""
    return ALL_WAYS if case.asks == "all ways" else FEW


def _cut_out(answer: Any, case: Case) -> Any:
    """Inputs and targets of many calls."""
    args = case.args
    if case.asks == "generator":
        return with_generator(answer, case)
    seen = []
    kept, sentinels = args["ids"].clone(), list(args["sentinel_ids"])
    for number in range(cuts(case)):
        copies = {"ids": kept.clone(), "sentinel_ids": list(sentinels)}
        given = args if number == 0 and case.asks == "rebuilds" else {**args, **copies}
        seen.append(answer(*given.values()))
        if seen[-1] is None:
            return None
    return {"calls": packed(seen)}


def _spanning(draw: Draw, length: int, rate: float, mean_span: float, *, asks: str, note: str = "") -> Case:
    """A text of tokens that are all different, with more sentinels than it takes, in no order and far from them."""
    ids, sentinels = draw.permutation(500)[:length] + 7, (draw.permutation(500)[:40] + 1007).tolist()
    generator = draw.fork(length, rate, mean_span, asks)
    return draw.case(
        ids=ids, rate=rate, mean_span=mean_span, sentinel_ids=sentinels, eos_id=1, generator=generator, asks=asks,
        note=note,
    )  # fmt: skip


def any_spans(draw: Draw) -> Case:
    length, mean_span = draw.whole(2, draw.pick(6, 20, 60)), draw.pick(0.5, 1.0, 2.0, 3.0, 20.0, draw.whole(5, 80) / 10)
    rate = draw.pick(0.0, 0.15, 0.25, 0.5, 1.0, draw.whole(0, 100) / 100, draw.whole(0, 100) / 100)
    case = _spanning(draw, length, rate, mean_span, asks=draw.pick("rebuilds", "sentinels", "amounts"))
    ids = case.args["ids"]
    if case.asks != "amounts":
        ids = ids[draw.integers(str(length), draw.pick(length, 3)) % length]
    return replace(case, args={**case.args, "ids": draw.laid_out(ids), "eos_id": draw.pick(0, 1, 5000)})


@exercise(
    inputs=any_spans,
    properties={"rebuilds": 2, "sentinels": 1, "amounts": 2, "all ways": 1, "generator": 1},
    act=_cut_out,
    when_right="A short question and a short answer: the decoder writes only what is missing.",
)
@_once
def span_corruption(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    yield _spanning(draw, 40, 0.3, 3.0, asks="rebuilds")
    again = _spanning(draw, 30, 0.3, 2.0, asks="rebuilds")
    again.args["ids"][3:] = again.args["ids"][0].clone()
    yield Case(again.args, asks="rebuilds", note="when a token comes again and again")
    for length, rate, mean_span, note in (
        (40, 0.3, 3.0, ""),
        (12, 0.1, 3.0, "when there is a single span"),
    ):
        yield _spanning(draw, length, rate, mean_span, asks="sentinels", note=note)
    for length, rate, mean_span, note in (
        (26, 0.15, 1.6, "when T·rate is 3.9 and N / mean_span 2.5"),
        (21, 0.15, 2.3, "when T·rate is 3.15 and N / mean_span 1.3"),
        (53, 0.15, 3.0, "when T·rate is 7.95 and N / mean_span 2.7"),
        (40, 0.25, 3.0, "when N / mean_span is 3.3"),
        (10, 0.25, 1.0, "when T·rate is 2.5"),
        (11, 0.25, 2.0, "when T·rate is 2.75 and N / mean_span 1.5"),
        (24, 0.5, 1.0, "when spans have one token each"),
        (9, 0.02, 3.0, "when T·rate is next to 0"),
        (9, 0.98, 20.0, "when T·rate is nearly T"),
        (10, 0.8, 1.0, "when there is no room for so many spans"),
        (20, 0.2, 0.3, "when mean_span is below 1"),
        (2, 0.5, 3.0, "for a text of two tokens"),
    ):
        yield _spanning(draw, length, rate, mean_span, asks="amounts", note=note)
    yield _spanning(draw, 6, 0.5, 1.6, asks="all ways")
    yield _spanning(draw, 25, 0.6, 3.0, asks="all ways", note="for 15 tokens in five spans")
    yield _spanning(draw, 40, 0.4, 3.0, asks="generator")


# ---------------------------------------------------------------------------------------------- bart_noise

MASK = "[MASK]"

SHORT = 40
"""Tokens of a text in which only whole spans are looked at."""

LONG = 4000
"""Tokens of a text of which 30% are masked or left out: 40% would show."""

SENTENCES, SHUFFLES = 200, 80
"""So many sentences change places, so often, that orders preferred by little show."""


CALLS = 250
"""So often an answer is called with a text in which each token, or each order of its sentences, is looked at."""


def more_calls(case: Case) -> int:
    """How often an answer is called again with this case's text."""
    tokens = case.args["tokens"]
    if case.drawn:
        return A_FEW_CALLS // 2
    often = {1: MANY if case.args["kind"] == "infill" else 120, 2: FEWER_DRAWS, SHORT: 60, 2 * SENTENCES: SHUFFLES}
    return often.get(len(tokens), CALLS if len(tokens) < SHORT else 0)


def _add_noise(answer: Any, case: Case) -> Any:
    """What many calls make of the text."""
    if case.asks == "generator":
        return with_generator(answer, case)
    tokens, kind, generator = case.args.values()
    text, calls = list(tokens), more_calls(case)  # before tokens can be changed
    first = answer(tokens, kind, generator)
    if first is None:
        return None
    more = [answer(list(text), kind, generator) for _ in range(calls)]
    if kind == "infill" and len(text) > SHORT:
        for _ in range(60):  # what stops at the end of some texts stops here, whatever is drawn
            answer(text[:3], kind, generator)
    return {"calls": packed([*map(as_texts, (first, *more))])}


def _words(draw: Draw, count: int) -> list[str]:
    """So many tokens, all different."""
    return [f"w{number}" for number in (draw.permutation(9000)[:count] + 1000).tolist()]


def any_tokens(draw: Draw) -> Case:
    """Short texts; where sentences or tokens change places, their orders can be told apart."""
    kind, words = draw.pick("mask", "delete", "infill", "permute", "rotate"), _words(draw, 30)
    tokens = words[: draw.whole(12, 30)]
    if kind == "permute":
        sentences = [[words.pop() for _ in range(draw.whole(0, 3))] for _ in range(draw.whole(1, 3))]
        sentences[0] = sentences[0] or [words.pop()]  # a full stop alone comes twice at most
        if draw.whole(0, 3) == 0:
            sentences[-1] = list(sentences[0])
        tokens = [token for sentence in sentences for token in [*sentence, "."]] + words[: draw.pick(0, 0, 1, 3)]
        other = draw.pick("?", "!", "etc.", "...")  # no end of a sentence: only "." is
        tokens[0] = other if tokens[0] != "." and draw.pick(True, False) else tokens[0]
    elif kind == "rotate":
        tokens = draw.pick([], words[:1]) + words[: draw.whole(1, 7)] + draw.pick([], ["."])
    elif kind != "infill":
        tokens += draw.pick([], ["."], [".", tokens[3], "."])
    return draw.case(tokens=tokens, kind=kind, generator=draw.fork(kind), asks=kind)


@exercise(
    inputs=any_tokens,
    properties={"mask": 1, "delete": 1, "infill": 2, "permute": 1, "rotate": 1, "generator": 1},
    act=_add_noise,
    when_right="Five ways to corrupt a text, one way to learn from it: write the original.",
)
@_once
def bart_noise(seed: int) -> Iterator[Case]:
    draw = Draw(seed)

    def case(tokens: list[str], kind: str, note: str = "", asks: str = "") -> Case:
        generator = draw.fork(kind, len(tokens), asks)
        return draw.case(tokens=tokens, kind=kind, generator=generator, asks=asks or kind, note=note)

    for kind in ("mask", "delete"):
        yield case(_words(draw, LONG), kind)
        for count in (1, 5):
            yield case(_words(draw, count), kind, "for a short text")
        first, second = _words(draw, 2)
        yield case([first, second, first], kind, "when a token comes twice")
    yield case(_words(draw, SHORT), "infill", "for a short text, many times")  # cheap, so first
    yield case(_words(draw, 12_000), "infill")
    yield case(_words(draw, 1), "infill", "for a text of one token")
    one, two, three = _words(draw, 3), _words(draw, 1), _words(draw, 2)
    yield case([*one, ".", *two, ".", *three, "."], "permute")
    yield case([*two, ".", *one, ".", *three], "permute", "when the last sentence has no full stop")
    yield case([*one, "."], "permute", "for a single sentence")
    for first, second in (("?", "!"), ("etc.", "...")):
        odd = [one[0], first, one[1], second, one[2], ".", three[0], "."]
        yield case(odd, "permute", f'when tokens are "{first}" or "{second}"')
    yield case(one, "permute", "when there is no full stop")
    alike = [*two, ".", *two, ".", *one, "."]
    yield case(alike, "permute", "when two sentences are the same")
    yield case([one[0], ".", ".", *two, "."], "permute", "when a full stop comes right after another")
    many = [token for word in _words(draw, SENTENCES) for token in (word, ".")]
    yield case(many, "permute", f"for {SENTENCES} sentences")
    yield case(_words(draw, 7), "rotate")
    yield case(_words(draw, 2), "rotate", "for a text of two tokens")
    yield case(two, "rotate", "for a text of one token")
    yield case([one[0], one[1], one[0], one[2]], "rotate", "when a token comes twice")
    text = [word if number % 7 else "." for number, word in enumerate(_words(draw, 30))]
    for kind in ("mask", "delete", "infill", "permute", "rotate"):
        yield case(text, kind, f"for kind = {kind!r}", "generator")


# ---------------------------------------------------------------------------------------------- losses


def _as_numbers(answer: Any, case: Case) -> Any:
    """True and False, or whole numbers, are as good as 1.0 and 0.0."""
    labels = answer(*case.args.values())
    return labels.float() if isinstance(labels, Tensor) and not labels.is_complex() else labels


def any_replaced(draw: Draw) -> Case:
    draw.sized(B=(1, 5), T=(1, 12))
    original = draw.ids("B T", draw.pick(2, 30, 50_000))
    other = draw.pick(draw.ids("B T", draw.pick(2, 30, 50_000)), original + draw.integers("B T", 2), original + 256)
    corrupted = other.where(draw.normal("B T") > draw.pick(-9, 0, 1, 9), original)
    return draw.case(original=original, corrupted=draw.laid_out(corrupted))


@exercise(
    inputs=any_replaced,
    properties={"shape": 1, "values": 2},
    returns="B T",
    act=_as_numbers,
    axes=TOKENS,
    when_right="A label for every token, not for 15% of them: that is where most of ELECTRA's speed comes from.",
)
def replaced_token_labels(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=8, V=30)
    original = draw.integers("B T", 30)
    other = (original + draw.integers("B T", 30, 1)) % 30
    corrupted = other.where(draw.normal("B T") > 0.4, original)
    corrupted[0, :3] = torch.tensor([int(original[0, 0] + 1) % 30, int(original[0, 1] - 1) % 30, int(original[0, 2])])
    yield draw.case(original=original, corrupted=corrupted)
    yield draw.case(original=original, corrupted=original.clone(), note="when nothing is replaced")
    yield draw.case(original=original, corrupted=other, note="when every token is replaced")
    zeros = original.clone()
    zeros[:, ::2] = 0
    yield draw.case(original=zeros, corrupted=original, note="when the original has zeros")
    yield draw.case(original=original, corrupted=zeros, note="when tokens are replaced by token 0")
    large = original + 250_000
    note = "when ids are large and differ by one"
    yield draw.case(original=large, corrupted=large + (original % 2), note=note)
    draw = Draw(seed, B=1, T=1, V=9)
    yield draw.case(original=torch.tensor([[4]]), corrupted=torch.tensor([[7]]), note="for a single token")


def _logits(draw: Draw, scale: float = 2.0) -> dict[str, Any]:
    return {
        "student_logits": draw.normal("B C", scale),
        "teacher_logits": draw.normal("B C", scale),
        "labels": draw.integers("B", draw.sizes["C"]),
    }


def any_student(draw: Draw) -> Case:
    """In the first row the student is neither right nor like the teacher: next to 0 float32 can't tell losses apart."""
    draw.sized(B=(1, 6), C=draw.pick((2, 9), (2, 9), (20, 30)))
    given = _logits(draw, draw.pick(1.0, 2.0, 2.0, 300.0))
    given["teacher_logits"][0] -= 2 * given["student_logits"][0]
    given["labels"][0] = given["student_logits"][0].argmin()
    given = {name: draw.laid_out(x) for name, x in given.items()}
    temperature, alpha = draw.pick(0.5, 1.0, 2, 3.0, 5.0), draw.pick(0, 1, 0.5, draw.whole(1, 9) / 10)
    asks = "one term alone" if alpha in (0, 1) else None
    return draw.case(**given, temperature=temperature, alpha=alpha, asks=asks)


@exercise(
    inputs=any_student,
    properties={"values": 3, "gradients": 1, "one term alone": 1},
    axes=TOKENS,
    when_right="The student learns from how sure the teacher is of each class, not from the right one alone.",
)
def distillation_loss(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=5, C=3)
    yield draw.case(**_logits(draw), temperature=2.0, alpha=0.7)
    draw = Draw(seed, B=3, C=7)
    yield draw.case(**_logits(draw), temperature=5.0, alpha=0.4)
    yield draw.case(**_logits(draw), temperature=0.5, alpha=0.9, note="when τ is below 1")
    draw = Draw(seed, B=4, C=5)
    yield draw.case(**_logits(draw), temperature=1.0, alpha=0.5, note="when τ is 1")
    yield draw.case(**_logits(draw, 300.0), temperature=3.0, alpha=0.3, note="when logits are in the hundreds")
    draw = Draw(seed, B=1, C=3)
    order = draw.permutation(3)
    one = _logits(draw) | {
        "student_logits": 3.0 * order[None] + draw.normal("B C", 0.3),
        "labels": order.argmin()[None],
    }
    yield draw.case(**one, temperature=4.0, alpha=0.6, note="for a batch of one")
    draw = Draw(seed, B=6, C=5)
    given = _logits(draw)
    yield draw.case(**given, temperature=3.0, alpha=1.0, asks="one term alone", note="when α is 1")
    yield draw.case(**given, temperature=3.0, alpha=0.0, asks="one term alone", note="when α is 0")
    given["teacher_logits"] = given["student_logits"].clone()
    yield draw.case(**given, temperature=3.0, alpha=0.5, note="when the student says what the teacher says")


def any_losses(draw: Draw) -> Case:
    lm_loss, task_loss = draw.normal("2", draw.pick(1.0, 20.0)).abs()
    return draw.case(lm_loss=lm_loss, task_loss=task_loss, weight=draw.pick(0, 1, 2, 0.0, 10.0, draw.whole(0, 50) / 10))


@exercise(
    inputs=any_losses,
    properties={"values": 1, "gradients": 1},
    when_right="With λ = 0 the model may forget how language goes; with λ > 0 it is reminded.",
)
def finetuning_loss(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    for weight, note in ((0.5, ""), (0.0, "when λ is 0"), (2.5, "when λ is above 1"), (1.0, "when λ is 1")):
        lm_loss, task_loss = draw.normal("2").abs() + torch.tensor([3.0, 0.5])
        yield draw.case(lm_loss=lm_loss, task_loss=task_loss, weight=weight, note=note)


# ---------------------------------------------------------------------------------------------- quiz

quiz_pretraining = quiz(
    "quiz_pretraining",
    {
        "static masking": (
            "the same positions in every epoch",
            "other positions in every epoch",
            "the same positions in every text",
        ),
        "a rate of 90%": (
            "too little is left to predict from",
            "too few positions to learn from",
            "the same loss, only faster",
        ),
        "reading both sides": (
            "each token would see itself",
            "the probabilities would not sum to one",
            "it would need twice the weights",
        ),
        "not always [MASK]": (
            "the mark is missing later",
            "the mark has no vector",
            "fewer positions have to be predicted",
        ),
        "ELECTRA learns from": (
            "every token",
            "the chosen 15%",
            "the replaced tokens only",
        ),
    },
    when_right="Objectives differ; the text is its own teacher in all of them.",
)
