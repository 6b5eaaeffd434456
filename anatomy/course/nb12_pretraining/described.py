"""What the judge says of the results of 12-pretraining.

What is drawn at random has no expected value. It is said in words what is seen, such as "80% [MASK], …": the same
words for all right answers, however they draw, and other words for wrong ones. `chance` decides which frequencies are
too rare.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, combinations, groupby, pairwise, permutations, product
from operator import and_, gt, lt
from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb12_pretraining.asked import (
    A_SHORT_TEXT,
    CALLS,
    MASK,
    OFTEN,
    SENTENCES,
    SHORT,
    calls_for,
    cuts,
    followed,
    from_texts,
    more_calls,
)
from anatomy.engine.calls import unpacked
from anatomy.engine.describing import Description
from anatomy.engine.describing.chance import LIMIT, each_for_itself, evenly, fits, in_percent, listed, percent
from anatomy.engine.describing.generators import about_the_generator
from anatomy.engine.describing.sorts import sort_of
from anatomy.engine.exercise import Case, Describe


def _pair_of_ids(result: Any, ids: Tensor) -> str | None:
    """What is wrong with a result that must be two tensors of whole numbers, each of the shape of `ids`."""
    if not isinstance(result, (tuple, list)) or len(result) != 2 or not all(isinstance(one, Tensor) for one in result):
        return f"{'a pair of other things' if isinstance(result, (tuple, list)) else sort_of(result)}, not two tensors"
    for name, one in zip(("inputs", "labels"), result, strict=True):
        if one.shape != ids.shape:
            return f"{name} of shape {tuple(one.shape)}, where ids have {tuple(ids.shape)}"
        if one.is_floating_point() or one.dtype == torch.bool:
            return f"{name} of type {str(one.dtype).removeprefix('torch.')}, not whole numbers"
    return None


def _masking(raw: Any, case: Case) -> str:
    """Inputs and labels in words, by what the case asks."""
    if case.asks == "generator":
        return about_the_generator(raw, case)
    args, result, more = case.args, raw["first"], unpacked(raw["more"])
    ids, special = args["ids"], args["special_mask"]
    if words := _pair_of_ids(result, ids):
        return words
    inputs, labels = result
    if _is_another_text(ids, inputs, labels):
        return NOTHING_LEFT
    if case.asks == "labels":
        return _about_labels(ids, inputs, labels, args["rate"], special == 0)
    if case.asks == "special tokens":
        return _about_special(ids, special != 0, inputs, labels)
    if case.asks == "rate":
        return _about_rate(args, special == 0, _asked(ids, labels), more)
    return _about_fate(args, ids, inputs, more)


NOTHING_LEFT = "next to nothing of the text is left, neither in the inputs nor in the labels"


def _is_another_text(ids: Tensor, inputs: Tensor, labels: Tensor) -> bool:
    """Whether hardly any token stands in its place: who chooses all has one in ten left, or all in the labels."""
    return ids.numel() > A_SHORT_TEXT and float(((inputs == ids) | (labels == ids)).double().mean()) < 0.05


def _asked(ids: Tensor, labels: Tensor) -> Tensor:
    """Where there is a label. Whoever writes 0 or −1 elsewhere has chosen all the same; no text here has these."""
    others = labels[labels != ids].unique().tolist()
    return labels != (others[0] if others in ([0], [-1]) else -100)


def _about_labels(ids: Tensor, inputs: Tensor, labels: Tensor, rate: float, ordinary: Tensor) -> str:
    asked, truth = labels != -100, labels == ids
    if rate == 1.0:
        if bool((asked & ~truth).any()) or not bool(asked.any()):
            return "with rate = 1 some labels are not what was there"
        if bool(asked.all()):
            return "with rate = 1 every label is what was there"
        stays = inputs == ids
        if bool((stays == ~asked).all()):
            return "with rate = 1 positions have no label if they stay the same"
        changed = ", though they are changed" if bool((~stays & ~asked).any()) else ""
        return f"with rate = 1 some positions have no label{changed}"
    if asked.all():
        others = labels[~truth].unique()
        if not len(others):
            return "every position has a label, and none is −100"
        if len(others) == 1:
            return f"the other positions' labels are {int(others)}, not −100"
        return "no label is −100, and not all are what was there"
    if not asked.any():
        return "all labels are −100"
    if bool((asked & ~truth).any()):
        if bool((labels == inputs)[asked].all()):
            return "the labels are the tokens of the inputs, not the original ones"
        return "some labels are neither −100 nor what was there"
    if bool((inputs != ids)[~asked & ordinary].any()):
        if not bool((inputs != ids)[asked].any()):
            return "the labels are −100 where the inputs were changed, and tokens where they were not"
        return "inputs are changed at positions whose label is −100, too"
    if not bool((inputs != ids).any()):
        return "the inputs are the text as it was"
    return "labels are what was there, or −100 where the input is as it was"


def _about_special(ids: Tensor, special: Tensor, inputs: Tensor, labels: Tensor) -> str:
    asked, changed = _asked(ids, labels), inputs != ids
    if not bool((~special & (asked | changed)).any()):
        return f"{'only special tokens are' if bool((special & (asked | changed)).any()) else 'no token is'} chosen"
    if not bool((special & (asked | changed)).any()):
        return "ordinary tokens are chosen, and no special ones"
    if not bool((special & changed).any()):
        return "special tokens have labels, but stay as they are"
    if not bool((special & asked).any()):
        return "special tokens have no labels, but are changed"
    return f"{'' if bool(asked[special].all()) else 'some '}special tokens are chosen like the others"


def _alike(flags: Tensor, rate: float, what: str) -> str:
    """Which neighbors of a matrix are alike more often, or more rarely, than if each drew for itself; or nothing."""
    named = {"in a row": flags, "in a column": flags.t()}
    found = [words for words, rows in named.items() if not each_for_itself(rows.flatten().tolist(), rate)]
    return f", but neighbors {' and '.join(found)} do not draw {what} for themselves" if found else ""


def _beside(masked: Tensor, changed: Tensor) -> bool:
    """Whether a changed token becomes [MASK] more often, or more rarely, where one beside it was changed, too."""
    hits, total = int((masked & changed).sum()), int(changed.sum())
    rate = 8 / 9 if fits(hits, total, 8 / 9) else hits / max(1, total)
    for step, axis in product((1, -1), (0, 1)):
        both = changed & changed.roll(step, axis)
        if both.any() and not fits(int((masked & both).sum()), int(both.sum()), rate):
            return True
    return False


def _about_rate(args: Mapping[str, Any], ordinary: Tensor, chosen: Tensor, more: list[Any]) -> str:
    rate, places = args.get("rate", 0.15), chosen[ordinary].tolist()
    share = percent(sum(places), len(places), rate)
    if chosen.numel() > 5:
        words = (_alike(chosen, rate, "it") or _each_or_counted(chosen)) if ordinary.all() else ""
        return f"{share} of the tokens that are not special are chosen{words}"
    if odd := _not_of_this_text(args["ids"], more):
        return odd
    found = [_asked(args["ids"], labels)[0].tolist() for _, labels in more]
    return f"{_share_in_short(found, rate)} chosen"


def _each_or_counted(chosen: Tensor) -> str:
    in_a_text = {*chosen.sum(dim=1).tolist()}
    return ", as many in each text" if len(in_a_text) == 1 and chosen.any() else ", each for itself"


def _not_of_this_text(ids: Tensor, more: list[Any]) -> str | None:
    """What is wrong with what many calls made of a short text, as a whole."""
    if len(more) != OFTEN:
        return f"{len(more)} results of {OFTEN} calls"
    if words := next(filter(None, (_pair_of_ids(result, ids) for result in more)), None):
        return words
    inputs, labels = (torch.cat(results) for results in zip(*more, strict=True))
    return NOTHING_LEFT if _is_another_text(ids.expand_as(inputs), inputs, labels) else None


def _share_in_short(found: list[list[bool]], rate: float) -> str:
    """How often the tokens of a short text are hit, whether it is always as many, and whether all are hit alike."""
    number = len(found[0])
    if number > 1 and len({sum(row) for row in found}) == 1:
        return f"in a text of {number} tokens always {sum(found[0])} are"
    shares = [percent(sum(column), len(found), rate, (0.0, 1.0)) for column in zip(*found, strict=True)]
    if len(set(shares)) > 1:
        return f"in a text of {number} tokens {listed(shares)} are"
    return f"in a text of {number} token{'s' * (number > 1)} {shares[0]} are"


FATES = (0.0, 0.02, 0.05, 0.1, 0.12, 0.18, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.825, 0.865, 0.9, 0.95, 1.0)
"""Shares of the chosen that a wrong answer may have: 0.12 and 0.865 come of limits that are right at a rate of 0.15."""


def _about_fate(args: Mapping[str, Any], ids: Tensor, inputs: Tensor, more: list[Any]) -> str:
    mask_id, size = args["mask_id"], args["vocab_size"]
    if ids.numel() <= A_SHORT_TEXT:
        if words := _not_of_this_text(ids, more):
            return words
        found = [(inputs == mask_id)[0].tolist() for inputs, _ in more]
        return f"{_share_in_short(found, 0.8 + 0.1 / size)} masked"
    masked, kept = inputs == mask_id, inputs == ids
    if args["rate"] < 1:
        share = percent(int((masked & ~kept).sum()), int((~kept).sum()), 8 / 9)
        words = f"with rate = {args['rate']}: of the tokens that change, {share} become [MASK]"
        return words + (", but that depends on whether those beside them change" if _beside(masked, ~kept) else "")
    fates = FATES if size > 2 else (0.0, 1.0)
    share = percent(int(masked.sum()), ids.numel(), 0.8 + 0.1 / size, fates)
    same_share = percent(int(kept.sum()), ids.numel(), 0.1 + 0.1 / size, fates)
    if size == 2:
        return f"of two tokens, one of them [MASK]: [MASK] {share}, as it was {same_share}"
    others = inputs[~masked & ~kept]
    if size > 1000:
        words = f"[MASK] {share}, as it was {same_share}, another token {percent(len(others), ids.numel(), 0.1)}"
        words += _alike(masked, 0.8 + 0.1 / size, "their fate")
        if len(others) and len(others.unique()) < len(others) / 2:
            words += ", and the other token is the same again and again"
        elif len(others) and bool(torch.isin(others, ids).all()):
            words += ", and the other tokens are all of the text"
        return words
    never = [
        token for token in range(size)
        if token != mask_id and not fits(int((others == token).sum()), int((ids != token).sum()), 0.1 / size)
    ]  # fmt: skip
    outside = bool(((inputs < 0) | (inputs >= size)).any())
    ends = (others == 0) | (others == size - 1)
    rare = not never and not fits(int(ends.sum()), int((ids != 0).sum() + (ids != size - 1).sum()), 0.1 / size)
    stays = int((kept & (ids != mask_id)).sum()), int((ids != mask_id).sum())
    return (
        f"[MASK] {share}; every token of the vocabulary is drawn alike"
        + (f", but not {listed(never)}" if never else "")
        + (", but the first and the last not as often" if rare else "")
        + (", and tokens that are not in it" if outside else "")
        + (
            ""
            if fits(*stays, 0.1 + 0.1 / size)
            else f", and {percent(*stays, 0.1 + 0.1 / size, FATES)} stay as they were"
        )
    )


Pairs = list[tuple[str, str, int]]


def _pairs(result: Any) -> Pairs | str:
    """What was returned, if it is a list of (sentence, sentence, 0 or 1); else what it is."""
    if not isinstance(result, (list, tuple)):
        return f"{sort_of(result)}, not a list of pairs"
    pairs: Pairs = []
    for row in result:
        if not isinstance(row, (list, tuple)):
            return f"a list of other things than (sentence, sentence, label): {sort_of(row)}"
        if len(row) == 2 and all(isinstance(item, str) for item in row):
            return "pairs of sentences without a label"
        if len(row) == 2 and isinstance(row[0], (list, tuple)):
            return "items of 2 things, the first of them a pair"
        if len(row) != 3:
            return f"items of {len(row)} things, not (sentence, sentence, label)"
        first, second, label = row
        if not isinstance(first, str) or not isinstance(second, str):
            return "pairs whose first two items are not sentences"
        if label not in (0, 1):
            return "labels that are neither 1 nor 0"
        pairs.append((first, second, int(label)))
    return pairs


def _pairing(
    right: Callable[[list[list[str]], list[Pairs]], str],
    counted: Callable[[list[list[str]], Pairs], Pairs] = lambda docs, pairs: pairs,
) -> Describe:
    """Says of pairs what they are; `right` says so for what a case asks of its own.

    `counted` are the pairs whose labels must be half and half.
    """

    def describe(raw: Any, case: Case) -> str:
        if case.asks == "generator":
            return about_the_generator(raw, case)
        docs, results, calls = case.args["docs"], [*map(from_texts, unpacked(raw["calls"]))], list[Pairs]()
        if len(results) != calls_for(case):
            return f"{len(results)} results of {calls_for(case)} calls"
        for result in results:
            if isinstance(pairs := _pairs(result), str):
                return pairs
            calls.append(pairs)
        if case.asks == "half and half":
            if _are_of_others(docs, calls):
                return "the pairs are of other sentences than those of the documents"
            return _halves([counted(docs, pairs) for pairs in calls])
        if case.asks == "drawn evenly":
            return _sources(docs, calls)
        words = right(docs, calls)
        if raw["docs"] == docs:
            return words
        moved = isinstance(raw["docs"], list) and [*map(sorted, raw["docs"])] == [*map(sorted, docs)]
        changed = "sentences change places in the documents" if moved else "the documents are changed"
        return changed if words in (FOLLOWED, ORDERED) else f"{changed}, and {words}"

    return describe


def _are_of_others(docs: list[list[str]], calls: list[Pairs]) -> bool:
    """Whether most sentences are in none of the documents."""
    given = {sentence for doc in docs for sentence in doc}
    known = [sentence in given for pairs in calls for pair in pairs for sentence in pair[:2]]
    return 2 * sum(known) < len(known)


HALVES = (0.0, 0.25, 1 / 3, 0.4, 0.6, 2 / 3, 0.75, 0.9, 1.0)
"""Shares that a wrong answer may have."""


def _halves(calls: list[Pairs]) -> str:
    """How many labels are 1, and whether each pair draws for itself: six are of documents of 5 and 3 sentences."""
    rows = [[label for *_, label in pairs] for pairs in calls]
    flat = [label for row in rows for label in row]
    if not flat:
        return "there are no pairs"
    share = f"{percent(sum(flat), len(flat), 0.5, HALVES)} of the pairs have the label 1"
    if len(set(flat)) == 1:
        return share  # where all are alike, nothing can be told of each
    rate = 0.5 if fits(sum(flat), len(flat), 0.5) else sum(flat) / len(flat)
    across = [label for column in zip(*rows, strict=False) for label in column]
    groups = {"of two calls": [list(zip(across[::2], across[1::2], strict=False))]}
    if all(len(row) == 6 for row in rows):
        at = {(one, other): [(row[one], row[other]) for row in rows] for one, other in combinations(range(6), 2)}
        groups["in the same place of two documents"] = [at.pop((0, 4)) + at.pop((1, 5))]
        groups["of a document"] = [at.pop(both) for both in [*combinations(range(4), 2), (4, 5)]]
        groups["of two documents"] = list(at.values())
        if len(set(map(sum, rows))) == 1:
            return f"{share}, but in each call {sum(rows[0])} of 6"
    odd = {words: {_agreement(pairs, rate) for pairs in group} for words, group in groups.items()}
    found = [
        f"those {words} {'do not draw for themselves' if len(agree) > 1 else f'{next(iter(agree))} alike'}"
        for words, agree in odd.items() if any(agree)
    ]  # fmt: skip
    return f"{share}, but {', '.join(found)}" if found else f"{share}, each for itself"


def _agreement(pairs: list[tuple[int, int]], rate: float) -> str:
    """How two labels go together that are 1 at this rate; empty if each is drawn for itself."""
    agree, wanted = sum(one == other for one, other in pairs), rate**2 + (1 - rate) ** 2
    if fits(agree, len(pairs), wanted):
        return ""
    return {0: "are never", len(pairs): "are always"}.get(
        agree, f"are too {'often' if agree > len(pairs) * wanted else 'rarely'}"
    )


def _of_followed(docs: list[list[str]], pairs: Pairs) -> Pairs:
    """The pairs but for those of a document's last sentence, of which there must be none."""
    lasts = {doc[-1] for doc in docs}
    return pairs if len(pairs) == len(followed(docs)) else [pair for pair in pairs if pair[0] not in lasts]


def _count_of_pairs(docs: list[list[str]], calls: list[Pairs]) -> str | None:
    """What is wrong where there are too many or too few: which sentences the pairs are of, as document.sentence."""
    wanted, numbers = len(followed(docs)), {len(pairs) for pairs in calls}
    if numbers == {wanted}:
        return None
    if len(numbers) > 1:
        return f"now more, now fewer pairs, where {wanted} are needed"
    place = {
        sentence: f"{number}.{count}" for number, doc in enumerate(docs, 1) for count, sentence in enumerate(doc, 1)
    }
    one = {"–".join(sorted(place.get(one, "?") for one in pair[:2])) for pairs in calls for pair in pairs if pair[2]}
    return f"{numbers.pop()} pairs, where {wanted} are needed; with the label 1: {listed(sorted(one)) or 'none'}"


FOLLOWED = "every sentence but the last of its document, with the following one (1) or one of another document (0)"


def _next_sentences(docs: list[list[str]], calls: list[Pairs]) -> str:
    if words := _count_of_pairs(docs, calls):
        return words
    seen = [(place, pair) for pairs in calls for place, pair in zip(followed(docs), pairs, strict=True)]
    if any(pair[0] != first for (_, first, _), pair in seen):
        orders = {tuple(pair[0] for pair in pairs) for pairs in calls}
        if any(sorted(order) != sorted(first for _, first, _ in followed(docs)) for order in orders):
            return "first sentences are not all sentences but the last"
        return f"first sentences are in {'another' if len(orders) == 1 else 'a random'} order"
    follows = [pair[1] == following for (_, _, following), pair in seen]
    elsewhere = [
        any(pair[1] in other for number, other in enumerate(docs) if number != own) for (own, _, _), pair in seen
    ]
    labels = [pair[2] == 1 for _, pair in seen]
    if not all(one or other for one, other in zip(follows, elsewhere, strict=True)):
        inside = [pair[1] in docs[own] for (own, _, _), pair in seen]
        if not all(one or other for one, other in zip(inside, elsewhere, strict=True)):
            return "some second sentences are in none of the documents"
        wrong = [pair for (own, first, _), pair in seen if pair[1] == first]
        return f"some second sentences are {'the first one itself' if wrong else 'other ones of the same document'}"
    if any(label and not follow for label, follow in zip(labels, follows, strict=True)):
        turned = not any(label and follow for label, follow in zip(labels, follows, strict=True))
        return f"the label 1 is given to {'' if turned else 'some '}sentences that do not follow"
    if any(not label and not other for label, other in zip(labels, elsewhere, strict=True)):
        return "the label 0 is given to sentences that follow"
    return FOLLOWED


def _sources(docs: list[list[str]], calls: list[Pairs]) -> str:
    """Where the second sentences come from that are drawn.

    They are those with the label 0. Who reads the label off the words has 1 for all that are like the following one:
    how many these are, the draw decides all the same.
    """
    pairs = [(place, pair) for pairs in calls for place, pair in zip(followed(docs), pairs, strict=False)]
    by_words = all((label == 1) == (second == following) for (_, _, following), (_, second, label) in pairs)
    others = {
        own: Counter(sentence for number, doc in enumerate(docs) if number != own for sentence in doc)
        for own in range(len(docs))
    }
    drawn: dict[tuple[int, str], list[str]] = {}
    like: dict[tuple[int, str], list[bool]] = {}
    for (own, _, following), (_, second, label) in pairs:
        known = following if by_words and following in others[own] else ""
        drawn.setdefault((own, known), []).extend([second] * (label == 0))
        if known:
            like.setdefault((own, known), []).append(second == following)
    drawn |= {(own, ""): [] for own in {own for own, *_ in followed(docs)} - {own for own, _ in drawn}}
    never: set[str] = set()
    uneven = stray = False
    for (own, known), seconds in drawn.items():
        rest, found = Counter({one: n for one, n in others[own].items() if one != known}), Counter(seconds)
        never |= {
            f"{own}:{sentence}" for sentence, times in rest.items()
            if sentence not in found and not fits(0, len(seconds), times / rest.total())
        }  # fmt: skip
        drawn_there = sum(found[one] for one in rest)
        as_often = all(fits(found[one], drawn_there, times / rest.total()) for one, times in rest.items() if seconds)
        uneven, stray = uneven or not as_often, stray or not found.keys() <= rest.keys()
    if never:
        return f"some never come: {_which(docs, never)}"
    for (own, known), flags in like.items():
        if not fits(sum(flags), len(flags), 0.5 + 0.5 * others[own][known] / others[own].total()):
            few = fits(sum(flags), len(flags), 0.5)
            return f"those that are like the following one come {'never' if few else 'too often or too rarely'}"
    if uneven:
        return "some sentences come much more often than others"
    if stray:
        return "some are sentences of no other document"
    zeros = [(own, pair[1]) for (own, *_), pair in pairs if pair[2] == 0]
    again = [one == other for (a, one), (b, other) in zip(zeros[::2], zeros[1::2], strict=False) if a == b == 0]
    if not like and not fits(sum(again), len(again), sum((n / others[0].total()) ** 2 for n in others[0].values())):
        much = sum(again) > len(again) / others[0].total()
        return f"the same sentence {'comes several times in a row' if much else 'hardly ever comes twice in a row'}"
    return "all sentences of the other documents, equally often, for each pair again"


def _which(docs: list[list[str]], never: set[str]) -> str:
    """Which second sentences never come, in words if there are some: `never` holds "document:sentence"."""
    if len({sentence for doc in docs for sentence in doc}) < sum(map(len, docs)):
        found = sorted(one.split(":") for one in never)
        return listed(f"{sentence} behind those of document {int(own) + 1}" for own, sentence in found)
    every = {f"{own}:{sentence}" for own, doc in enumerate(docs) if len(doc) > 1
             for number, other in enumerate(docs) if number != own for sentence in other}  # fmt: skip

    def those(keep: Callable[[int, int, int], bool]) -> set[str]:
        return {
            f"{own}:{sentence}" for own, doc in enumerate(docs) if len(doc) > 1
            for number, other in enumerate(docs) if number != own
            for place, sentence in enumerate(other) if keep(own, number, place - len(other) * (place > 0))
        } & every  # fmt: skip

    known = {
        "sentences of another document": every,
        "the first of a document": those(lambda own, number, place: place == 0),
        "all but the first of a document": those(lambda own, number, place: place != 0),
        "the last of a document": those(lambda own, number, place: place == -1 or len(docs[number]) == 1),
        "those of earlier documents": those(lambda own, number, place: number < own),
        "those of later documents": those(lambda own, number, place: number > own),
        "those of any but the next document": those(lambda own, number, place: number != (own + 1) % len(docs)),
        "those of any but the document before": those(lambda own, number, place: number != (own - 1) % len(docs)),
        "those of the first document": those(lambda own, number, place: number == 0),
        "those of the last document": those(lambda own, number, place: number == len(docs) - 1),
        "those of documents of one sentence": those(lambda own, number, place: len(docs[number]) == 1),
    }
    places = {
        f"{own}:{sentence}": f"{number + 1}.{place + 1} behind {own + 1}"
        for own in range(len(docs)) for number, doc in enumerate(docs) for place, sentence in enumerate(doc)
    }  # fmt: skip
    some = listed(sorted(places[one] for one in never))
    return next((words for words, sentences in known.items() if sentences == never), some)


ORDERED = "all neighbors, in their order (1) or swapped (0)"


def _sentence_orders(docs: list[list[str]], calls: list[Pairs]) -> str:
    if words := _count_of_pairs(docs, calls):
        return words
    seen = [(place[1:], pair) for pairs in calls for place, pair in zip(followed(docs), pairs, strict=True)]
    if any({*pair[:2]} != {*place} for place, pair in seen):
        known = [{*pair} for doc in docs for pair in pairwise(doc)]
        if all({*pair[:2]} in known for _, pair in seen):
            orders = {tuple(frozenset(pair[:2]) for pair in pairs) for pairs in calls}
            if len(orders) > 1 and orders <= _turned(docs):
                return "the pairs of a document come now from its start, now from its end"
            return f"the pairs are in {'another order than the documents' if len(orders) == 1 else 'a random order'}"
        if all(_strays_after_a_swap(docs, pairs) for pairs in calls):
            return "some pairs that come after a swapped one are not neighbors"
        everything = {sentence for doc in docs for sentence in doc}
        inside = all({*pair[:2]} <= everything for _, pair in seen)
        return f"some pairs are {'not neighbors' if inside else 'of sentences that are in no document'}"
    always = [len({pairs[number][2] for pairs in calls}) == 1 for number in range(len(calls[0]))]
    equal = [first == following for _, first, following in followed(docs)]
    if any(map(and_, always, equal)) and not any(map(gt, always, equal)):
        return "two equal sentences always have the same label, others have not"
    seen = [(place, pair) for place, pair in seen if len({*place}) > 1]
    in_order = [pair[:2] == place for place, pair in seen]
    labels = [pair[2] == 1 for _, pair in seen]
    if seen and not any(in_order):
        return "all pairs are swapped"
    if seen and all(in_order):
        return "no pair is swapped"
    if in_order == labels:
        return ORDERED
    if not any(one == other for one, other in zip(in_order, labels, strict=True)):
        return "swapped pairs have the label 1, pairs in order the label 0"
    if len(set(labels)) == 1:
        return f"all labels are {int(labels[0])}"
    return "the label does not say whether a pair is swapped"


def _turned(docs: list[list[str]]) -> set[tuple[frozenset[str], ...]]:
    """The orders of the pairs in which each document is read from its start or from its end."""
    read = [[frozenset(pair) for pair in pairwise(doc)] for doc in docs]
    return {tuple(chain(*ways)) for ways in product(*((one, one[::-1]) for one in read))}


def _strays_after_a_swap(docs: list[list[str]], pairs: Pairs) -> bool:
    """Whether each pair that is not of neighbors comes after one of its document that is swapped, or strays itself."""
    document, before = -1, False
    for (number, first, following), pair in zip(followed(docs), pairs, strict=True):
        strays = {*pair[:2]} != {first, following}
        if strays and not (before and number == document):
            return False
        document, before = number, strays or pair[2] == 0
    return True


def _cutting(raw: Any, case: Case) -> str:
    if case.asks == "generator":
        return about_the_generator(raw, case)
    ids, results, seen = case.args["ids"].tolist(), unpacked(raw["calls"]), list[tuple[list[int], list[int]]]()
    if len(results) != cuts(case):
        return f"{len(results)} results"
    for result in results:
        if words := _two_sequences(result, len(ids)):
            return words
        seen.append((result[0].tolist(), result[1].tolist()))
    if case.asks == "all ways":
        return _ways(ids, seen)
    look = {"rebuilds": _rebuilt, "sentinels": _marks, "amounts": _amounts}[str(case.asks)]
    said = [look(ids, *one, case) for one in seen]
    return said[0] if len(set(said)) == 1 else _now_and_then(said)


def _now_and_then(said: list[str]) -> str:
    """What is wrong in some of the calls; numbers that change from call to call are not named."""
    amounts = {words.removesuffix(ADJACENT) for words in said}
    if len(amounts) == 1:
        return amounts.pop() + ADJACENT
    wrong = sorted({words for words in said if words not in (REBUILT, MARKED)})
    if any("hidden in" in words for words in wrong):
        return "how much is hidden, or in how many spans, changes from call to call"
    return wrong[0]


MOST = 20
"""So many times as many tokens as in the text are looked at."""


def _two_sequences(result: Any, length: int) -> str | None:
    if not isinstance(result, (tuple, list)) or len(result) != 2 or not all(isinstance(one, Tensor) for one in result):
        return f"{'a pair of other things' if isinstance(result, (tuple, list)) else sort_of(result)}, not two tensors"
    for name, one in zip(("inputs", "targets"), result, strict=True):
        if one.dim() != 1:
            return f"{name} of {one.dim()} axes, not one"
        if len(one) > MOST * (length + 1):
            return f"{name} of {len(one)} tokens, from a text of {length}"
        if one.is_floating_point() or one.dtype == torch.bool:
            return f"{name} of type {str(one.dtype).removeprefix('torch.')}, not whole numbers"
    return None


ADJACENT = ", some side by side"


REBUILT = "with each span in its sentinel's place, the inputs are the text again"


def _markers(ids: list[int], tokens: list[int], case: Case) -> list[int]:
    """What stands for a span, be it one of the sentinels or not: all that is neither of the text nor `eos_id`."""
    text = {*ids, case.args["eos_id"]}
    return [token for token in tokens if token not in text]


def _spans(ids: list[int], targets: list[int], case: Case) -> dict[int, list[int]]:
    """What stands for a span → the tokens behind it, up to the next one; `eos_id` aside."""
    spans: dict[int, list[int]] = {token: [] for token in _markers(ids, targets, case)}
    last: list[int] = []
    for token in targets:
        if token in spans:
            last = spans[token]
        elif token != case.args["eos_id"]:
            last.append(token)
    return spans


def _rebuilt(ids: list[int], inputs: list[int], targets: list[int], case: Case) -> str:
    spans, known = _spans(ids, targets, case), set(ids)
    text = [
        item for token in inputs if token != case.args["eos_id"]
        for item in ([token] if token in known else spans.get(token, []))
    ]  # fmt: skip
    if text == ids:
        return REBUILT
    marks = set(_markers(ids, inputs, case))
    if not marks:
        return "there are no sentinels in the inputs"
    if not spans:
        return "there are no sentinels in the targets"
    rest = [token for token in inputs if token in known]
    told = [token for token in targets if token in known]
    if sorted(rest + told) == sorted(ids):
        return "every token is in one of the two, but put together they are not the text"
    if rest == ids:
        return "the inputs still hold all of the text"
    if told == ids:
        return "the targets hold all of the text"
    if told and _read_early(ids, inputs, spans, case):
        return "each span holds the tokens from where the kept stretch before it begins"
    if _thinned(text) == _thinned(ids) and any(one == _thinned(one) for one in (inputs, targets)):
        return "of equal tokens side by side only one is left"
    apart, count = len(rest + told) - len(ids), len(marks)
    some = "as many tokens as there are spans are" if abs(apart) == count else "some tokens are"
    if apart < 0:
        end = len({*ids}) == len(ids) and {*rest, *told} == {*ids[: len(rest + told)]}
        return f"{'the end of the text is' if end else some} in neither"
    return f"{some} in both"


def _thinned(tokens: list[int]) -> list[int]:
    return [token for token, _ in groupby(tokens)]


def _read_early(ids: list[int], inputs: list[int], spans: dict[int, list[int]], case: Case) -> bool:
    """Whether each span was taken from the text before the kept stretch was passed over; all that is kept is right."""
    start, gap = 0, 0
    for token in [*inputs, None]:
        if token == case.args["eos_id"]:
            continue
        if token is not None and token not in spans:
            if start + gap >= len(ids) or ids[start + gap] != token:
                return False
            gap += 1
            continue
        span = spans[token] if token is not None else []
        if ids[start : start + len(span)] != span:
            return False
        start, gap = start + gap + len(span), 0
    return start == len(ids)


MARKED = "sentinels in order, one more in the targets, and `eos_id` at both ends"


def _marks(ids: list[int], inputs: list[int], targets: list[int], case: Case) -> str:
    sentinels, eos = case.args["sentinel_ids"], case.args["eos_id"]
    if eos not in inputs and eos not in targets:
        return "neither inputs nor targets have an `eos_id`"
    for name, one in (("inputs", inputs), ("targets", targets)):
        if eos not in one:
            return f"the {name} have no `eos_id`"
        if one.count(eos) > 1:
            return f"the {name} have more than one `eos_id`"
        if one[-1] != eos:
            return f"`eos_id` is not the last of the {name}"
    in_inputs, in_targets = (_markers(ids, one, case) for one in (inputs, targets))
    if not in_inputs:
        return "there are no sentinels in the inputs"
    if len(in_inputs) > 1 and len(set(in_inputs)) == 1:
        return "all spans have the same sentinel"
    if in_inputs != sentinels[: len(in_inputs)]:
        if in_inputs == sentinels[1 : len(in_inputs) + 1]:
            return "the sentinels begin with the second one"
        if in_inputs == sorted(sentinels, reverse=True)[: len(in_inputs)]:
            return "the sentinels are the largest of the list, from the top"
        if in_inputs == sorted(sentinels)[: len(in_inputs)]:
            return "the sentinels are the smallest of the list, from the bottom"
        if in_inputs == list(range(sentinels[0], sentinels[0] + len(in_inputs))):
            return "the sentinels are counted up from the first one"
        if in_inputs == list(range(sentinels[0], sentinels[0] - len(in_inputs), -1)):
            return "the sentinels are counted down from the first one"
        if in_inputs == sentinels[: -len(in_inputs) - 1 : -1]:
            return "the sentinels are taken from the list's end"
        return "the sentinels in the inputs are not the first of the list, in order"
    if in_targets == in_inputs:
        behind = targets[0] in ids
        return "in the targets sentinels are after their spans" if behind else "the targets have no final sentinel"
    if in_targets == [*in_inputs, sentinels[-1]]:
        return "the final sentinel is the last of the list"
    wanted = sentinels[: len(in_inputs) + 1]
    if in_targets in ([], wanted[-1:]):
        return f"the targets have {'only the final sentinel' if in_targets else 'no sentinels'}"
    if in_targets != wanted and sorted(in_targets) == sorted(wanted):
        return "the sentinels in the targets are those of the inputs and the next one, but in another order"
    if len(in_targets) == len(wanted) and targets[0] == sentinels[1]:
        return "the sentinels in the targets begin with the second one, those in the inputs with the first"
    if in_targets != wanted:
        return "the sentinels in the targets are not those of the inputs and the next one, in order"
    if targets[0] != sentinels[0]:
        return "the targets do not begin with the first sentinel"
    if targets[-2] != sentinels[len(in_inputs)]:
        return "the final sentinel is not the last before `eos_id`"
    return MARKED


def _hidden(ids: list[int], inputs: list[int]) -> str:
    """The text as a string of k (kept) and h (hidden), read from the inputs; tokens are all different here."""
    left = set(inputs)
    return "".join("k" if token in left else "h" for token in ids)


def _amounts(ids: list[int], inputs: list[int], targets: list[int], case: Case) -> str:
    marks, hidden = _markers(ids, inputs, case), _hidden(ids, inputs).count("h")
    count, adjacent = len(marks), any(one in marks and other in marks for one, other in pairwise(inputs))
    return f"{hidden} of {len(ids)} tokens hidden in {count} span{'s' * (count != 1)}{ADJACENT * adjacent}"


WAYS = tuple(
    "".join(one) for one in sorted(set(permutations("hhhkkk"))) if len("".join(one).replace("k", " ").split()) == 2
)
"""The ways to hide three of six tokens in two spans."""


def _ways(ids: list[int], seen: list[tuple[list[int], list[int]]]) -> str:
    found = [_hidden(ids, inputs) for inputs, _ in seen]
    if len(ids) > len(WAYS[0]):
        return _long_ways(found)
    if not set(found) <= set(WAYS):
        return "something else than three of six tokens in two spans is hidden"
    kept = [tuple(map(len, re.split("h+", way))) for way in WAYS]
    if evenly(found, WAYS) and evenly([kept[WAYS.index(way)] for way in found], [*{*kept}]):
        return f"all {len(WAYS)} ways to hide three of six tokens in two spans, equally often"
    missing = [way for way in WAYS if way not in found]
    if not missing:
        return "some ways to hide three of six tokens in two spans come much more often than others"
    facts = {
        "the first token is never hidden": all(way[0] == "k" for way in found),
        "the last token is never hidden": all(way[-1] == "k" for way in found),
        "the first token is always hidden": all(way[0] == "h" for way in found),
        "the last token is always hidden": all(way[-1] == "h" for way in found),
        "the first span is always the longer one": all(way.strip("k").startswith("hh") for way in found),
        "the first span is always the shorter one": all(way.strip("k").startswith("hk") for way in found),
    }
    held = [words for words, holds in facts.items() if holds]
    return " and ".join(held) + f"{', so ' if held else ''}{len(missing)} of {len(WAYS)} ways never come"


def _long_ways(found: list[str]) -> str:
    """Whether 15 of 25 tokens are hidden in five spans in ways of which none is preferred, as far as lengths tell.

    There are too many ways to count each. But how long each stretch is follows from them: its chance is that of a part
    of a sum of which all ways to write it are equally likely.
    """
    spans = [[len(span) for span in re.findall("h+", way)] for way in found]
    if any(len(row) != 5 or sum(row) != 15 for row in spans):
        return "something else than 15 of 25 tokens in five spans is hidden"
    gaps = [[len(gap) for gap in re.split("h+", way)] for way in found]
    gaps = [[first + 1, *inner, last + 1] for first, *inner, last in gaps]  # the outer two may be empty
    odd = {"spans": _uneven_parts(spans), "kept stretches": _uneven_parts(gaps)}
    words = " and ".join(f"{name} {how}" for name, how in odd.items() if how)
    return words or "stretches are as long as they are where all ways are equally likely"


def _uneven_parts(rows: list[list[int]]) -> str:
    """How parts of a sum differ from those of a sum of which all ways to write it are equally likely; empty if not."""
    total, parts = sum(rows[0]), len(rows[0])
    chances = {
        length: math.comb(total - length - 1, parts - 2) / math.comb(total - 1, parts - 1)
        for length in range(1, total - parts + 2)
    }
    counts = [Counter(column) for column in zip(*rows, strict=True)]
    if all(fits(count[length], len(rows), chance) for count in counts for length, chance in chances.items()):
        return ""
    middle = total / parts
    wanted = sum(chance * (length - middle) ** 2 for length, chance in chances.items())
    spread = sum((length - middle) ** 2 for row in rows for length in row) / (parts * len(rows)) / wanted
    if spread < 0.7:
        return "are too much alike in length"
    return f"{'are too different in length' if spread > 1.25 else 'of some lengths come too often'}"


def _noise(raw: Any, case: Case) -> str:
    if case.asks == "generator":
        return about_the_generator(raw, case)
    text, kind, nodes = case.args["tokens"], case.args["kind"], unpacked(raw["calls"])
    others = (result for sort, *results in nodes if sort == "other" for result in results)
    if words := next(filter(None, map(_no_list_of_tokens, others)), None):
        return words
    calls = [*map(from_texts, nodes)]
    if len(calls) != 1 + more_calls(case):
        return f"{len(calls)} results"
    look = {"mask": _token_masks, "delete": _deletions, "infill": _infills, "permute": _orders, "rotate": _rotations}
    return look[kind](text, calls)


def _no_list_of_tokens(result: Any) -> str | None:
    if not isinstance(result, (list, tuple)):
        return f"{sort_of(result)}, not a list of tokens"
    if not all(isinstance(token, str) for token in result):
        return "a list whose items are not all tokens (strings)"
    return None


def _hits(text: list[str], flags: list[list[bool]], what: str) -> str:
    """How often something befalls a token, and whether each draws for itself."""
    if len(text) <= 5:
        return f"{_share_in_short(flags, 0.3)} {what}"
    flat = [flag for row in flags for flag in row]
    share = f"{percent(sum(flat), len(flat), 0.3)} of the tokens are {what}"
    if len(set(flat)) == 1:
        return share  # where all are alike, nothing can be told of each
    if not each_for_itself(flat, 0.3):
        return f"{share}, but neighbors do not draw for themselves"
    return f"{share}, each for itself"


def _of_two_alike(calls: list[list[str]], first: list[str], second: list[str], what: str) -> str:
    """Which of two equal tokens is hit, where one of them is: the results are `first` and `second` then."""
    hits = [found == first for found in calls if found in (first, second)]
    if not hits and len(calls) > CALLS:
        return f"of two equal tokens both are {what}, or none"
    if not hits or fits(sum(hits), len(hits), 0.5):
        return f"of two equal tokens either is {what}"
    often = "always" if len(set(hits)) == 1 else "more often"
    return f"of two equal tokens it is {often} the {'first' if sum(hits) > len(hits) / 2 else 'second'} that is {what}"


def _token_masks(text: list[str], calls: list[list[str]]) -> str:
    if any(len(found) != len(text) for found in calls):
        return "the text gets longer or shorter"
    rows = [[new != old for new, old in zip(found, text, strict=True)] for found in calls]
    if any(new not in (old, MASK) for found in calls for new, old in zip(found, text, strict=True)):
        return "some tokens become something else than [MASK]"
    if len(set(text)) < len(text):
        return _of_two_alike(calls, [MASK, *text[1:]], [*text[:-1], MASK], "masked")
    return _hits(text, rows, "[MASK]")


def _deletions(text: list[str], calls: list[list[str]]) -> str:
    if any(MASK in found for found in calls):
        return "there is a [MASK] where a token was"
    if any(not set(found) <= set(text) for found in calls):
        return "some tokens become something else"
    if len(set(text)) < len(text):
        return _of_two_alike(calls, text[1:], text[:-1], "left out")
    place = {token: number for number, token in enumerate(text)}
    if any([place[token] for token in found] != sorted({place[token] for token in found}) for found in calls):
        return "tokens change their places or come twice"
    return _hits(text, [[token not in kept for token in text] for kept in map(set, calls)], "left out")


COINS = 7500
"""So many places of a text of 12,000 tokens are looked at: they lie ten standard errors before its end."""


def _infills(text: list[str], calls: list[list[str]]) -> str:
    place = {token: number for number, token in enumerate(text)}
    spans: list[int | None] = []  # for every token that stays: how many went before it, or None without [MASK]
    runs: list[tuple[int, int]] = []  # before tokens that stay: how many [MASK] side by side, for how many tokens
    for found in calls:
        if not set(found) <= {*text, MASK}:
            return "some tokens become something else than [MASK]"
        kept = [place[token] for token in found if token != MASK]
        if kept != sorted(set(kept)):
            return "tokens change their places or come twice"
        before, masks = -1, 0
        for token in [*found, None]:
            if token == MASK:
                masks += 1
                continue
            here = len(text) if token is None else place[token]
            gone = here - before - 1
            if masks and token is not None:
                runs.append((masks, gone))
            if gone and not masks:
                return "some tokens are gone without a [MASK]"
            if token is None and masks and not gone and len(text) <= SHORT:  # in one long text it is rare
                return "there is a [MASK] after the text, for no token at all"
            if token is not None or (masks and len(text) != SHORT):  # the text's end cuts its last span
                spans.append(gone if masks else None)
            before, masks = here, 0
    if len(text) > 1 and any(masks > 1 for masks, _ in runs):
        return _in_a_row(runs, len(text) > 100)
    spans = spans[:COINS]
    lengths = [gone for gone in spans if gone is not None]
    if len(text) == 1 and lengths and not any(lengths):
        return "in a text of one token no [MASK] is ever for that token"
    share = percent(len(lengths), len(spans), 1 / 7, (0.0, 0.1, 0.2, 0.3, 0.5, 1.0))
    at_the_end = ", and none comes after the text" if len(text) <= SHORT else ""
    if len(text) == SHORT and all(text[-1] in found for found in calls):
        at_the_end = ", and the last token always stays"
    if 1 < len(text) < 100:
        one = f"{lengths[0]} token{'s' * (lengths[0] != 1)}" if len(set(lengths)) == 1 else "now more, now fewer tokens"
        between = ", between two of them a token stays" if len(text) == SHORT else ""
        return f"each [MASK] is for {one}{between}{at_the_end}"
    share = "one place in 7 has" if share == in_percent(1 / 7) else f"{share} of the places have"
    return f"{share} a [MASK]; {_lengths(lengths)}" if len(text) > 100 else f"{share} a [MASK]{at_the_end}"


def _in_a_row(runs: list[tuple[int, int]], many: bool) -> str:
    """What [MASK] side by side stand for; how much on average, if there are many."""
    if all(masks == gone for masks, gone in runs):
        return "each token that goes has a [MASK] of its own"
    if any(masks > gone for masks, gone in runs):
        return "there are several [MASK] in a row, some of them for no token"
    mean = round(sum(gone for _, gone in runs) / sum(masks for masks, _ in runs))
    words = "there are several [MASK] in a row, each for one token or more"
    return f"{words}, for about {mean} on average" if many else words


def _lengths(lengths: list[int]) -> str:
    """Whether spans are as long as draws from a Poisson distribution with mean 3."""
    counts, total = Counter(lengths), len(lengths)
    if not total:
        return "no spans"
    chances = [math.exp(-3) * 3**number / math.factorial(number) for number in range(9)]
    many = sum(times for number, times in counts.items() if number > 6)
    if all(fits(counts[number], total, chance) for number, chance in enumerate(chances)) and fits(
        many, total, 1 - sum(chances[:7])
    ):
        return "spans are as long as Poisson(3) says"
    if len(counts) == 1:
        return "all spans are equally long"
    if max(counts) == 1:
        return "spans have 0 or 1 token"
    floor = min(counts)
    shifted = [counts[number + floor] for number in range(8)]
    if floor and all(fits(count, total, chance) for count, chance in zip(shifted, chances, strict=False)):
        return f"spans are {floor} token{'s' * (floor != 1)} longer than Poisson(3) says, never below {floor}"
    if floor:
        return f"no span is shorter than {floor}"
    zeros = percent(counts[0], total, chances[0], (0.0, 0.14, 0.25, 0.37, 0.5, 0.75, 1.0))
    mean = round(sum(lengths) / total)
    return f"spans are of other lengths than Poisson(3) gives: {zeros} have none, the mean is about {mean}"


def _lost(text: list[str], calls: list[list[str]]) -> str | None:
    """What is lost or comes twice, if anything."""
    rest = text[len(text) - text[::-1].index(".") :] if "." in text else []
    given, sentences = Counter(text), [*map(tuple, _sentences(text))]
    once = Counter(chain(*set(sentences)))
    if once != given and all(Counter(found) == once for found in calls):
        return "of sentences that are the same only one is left"
    for here in map(Counter, calls):
        gone, more = (given - here, here - given) if here != given else (None, None)
        if gone and more:
            return "some tokens are lost, and others come twice or are new"
        if more:
            return (
                "there are more full stops than before" if set(more) == {"."} else "some tokens come twice or are new"
            )
        if gone:
            lost = "the full stops are" if set(gone) == {"."} else "some tokens are"
            return f"{'what is after the last full stop is' if rest and set(gone) == {*rest} else lost} lost"
    return None


def _orders(text: list[str], calls: list[list[str]]) -> str:
    if words := _lost(text, calls):
        return words
    sentences = _sentences(text)
    found = [tuple(_arranged(one, sentences)) for one in calls]
    if any(not order for order in found):
        whole = all(_in_runs(one, sentences) for one in calls)
        return "tokens change their places inside of sentences" if whole else "sentences are torn apart"
    if len(sentences) == SENTENCES:
        return _places(found)
    orders = sorted(
        {tuple(_arranged(_joined(sentences, order), sentences)) for order in permutations(range(len(sentences)))}
    )
    if evenly(found, orders):
        if len(orders) == 1:
            return "there is one sentence, and it stays as it is"
        return f"all {len(orders)} orders of {len(sentences)} sentences, equally often"
    never = [order for order in orders if order not in found]
    if not never:
        often = found.count(orders[0]) > 1.5 * len(found) / len(orders)
        return "the old order comes too often" if often else "some orders come much more often than others"
    seen = sorted({" ".join(str(number + 1) for number in order) for order in found})
    if all(order == orders[0] for order in found):
        return "sentences stay in their order"
    return f"of {len(orders)} orders of the sentences only {listed(seen)} come"


def _places(orders: list[tuple[int, ...]]) -> str:
    """Whether sentences move on as often as they move back, in many orders of many sentences.

    In an order drawn evenly the number of those that stand earlier than before is a sum of independent draws, because
    the Eulerian polynomials have real zeros only (Frobenius 1910), with the mean (n − 1) / 2 and the variance
    (n + 1) / 12. Bernstein's inequality says how far it may be from its mean.
    """
    n = len(orders[0])
    earlier, later = (sum(sum(map(moved, order, range(n))) for order in orders) for moved in (gt, lt))
    mean, variance = len(orders) * (n - 1) / 2, len(orders) * (n + 1) / 12

    def is_odd(count: int) -> bool:
        away = abs(count - mean)
        return away**2 > 2 * LIMIT * (variance + away / 3)

    if is_odd(earlier) or is_odd(later):
        if not earlier + later:
            return "sentences stay in their order"
        return f"sentences come {'earlier' if earlier > later else 'later'} than before too often"
    return "sentences come earlier than before as often as later"


def _sentences(text: list[str]) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    for token in text:
        sentences[-1].append(token)
        if token == ".":
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def _joined(sentences: list[list[str]], order: Iterable[int]) -> list[str]:
    return [token for number in order for token in sentences[number]]


def _arranged(found: list[str], sentences: list[list[str]]) -> list[int]:
    """The numbers of the sentences in the order in which they stand; empty if they are torn apart."""
    order: list[int] = []
    beginning: dict[str, list[int]] = {}
    for number, sentence in enumerate(sentences):
        beginning.setdefault(sentence[0], []).append(number)
    at = 0
    while at < len(found):
        some = beginning.get(found[at], [])
        here = next((number for number in some if found[at : at + len(sentences[number])] == sentences[number]), None)
        if here is None:
            return []
        some.remove(here)
        order.append(here)
        at += len(sentences[here])
    return order


def _in_runs(found: list[str], sentences: list[list[str]]) -> bool:
    """Whether the tokens of each sentence stand side by side, in whatever order; full stops aside."""
    owner = {token: number for number, sentence in enumerate(sentences) for token in sentence if token != "."}
    runs = [owner[token] for token in found if token != "."]
    return sum(one != other for one, other in pairwise(runs)) == len(set(runs)) - 1


def _rotations(text: list[str], calls: list[list[str]]) -> str:
    turned = [text[start:] + text[:start] for start in range(len(text))]
    if any(found not in turned for found in calls):
        if words := _lost(text, calls):
            return words
        after = all(found[: len(text) - (start := text.index(found[0]))] == text[start:] for found in calls)
        return f"{'what was before the first token' if after else 'the text'} does not keep its order"
    starts = [turned.index(found) for found in calls]
    if evenly(starts, range(len(text))):
        return "it begins with each token, equally often"
    never = [start for start in range(len(text)) if start not in starts]
    if len(never) == len(text) - 1:
        return f"it always begins with token {starts[0]}"
    return f"it never begins with token {listed(never)}" if never else "it begins with some tokens much more often"


DESCRIPTIONS = {
    "mask_tokens": Description(_masking),
    "next_sentence_pairs": Description(_pairing(_next_sentences, _of_followed)),
    "sentence_order_pairs": Description(_pairing(_sentence_orders)),
    "span_corruption": Description(_cutting),
    "bart_noise": Description(_noise),
}
