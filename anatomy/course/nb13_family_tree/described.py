"""What the judge says of the results of 13-family-tree."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb13_family_tree.asked import CALLS
from anatomy.engine.describing import Description
from anatomy.engine.describing.chance import fits
from anatomy.engine.describing.generators import about_the_generator
from anatomy.engine.describing.sorts import sort_of
from anatomy.engine.exercise import Case

LONG = 12
"""From this length on it is asked how keys are drawn; before, only how many."""


def _bigbird(raw: Any, case: Case) -> Any:
    """The mask; where keys are drawn, in words: how many, and how."""
    if case.asks == "generator":
        return about_the_generator(raw, case)
    length, num_random = case.args["length"], case.args["num_random"]
    if case.asks is None or num_random >= length:
        return raw
    masks = raw["masks"]
    if len(masks) != 1 + CALLS:
        return f"{len(masks)} masks"
    for mask in masks:
        if not isinstance(mask, Tensor) or mask.shape != (length, length):
            shape = f"of shape {tuple(mask.shape)}, not ({length}, {length})" if isinstance(mask, Tensor) else ""
            return f"a mask {shape}" if shape else sort_of(mask)
        if bool(((mask != 0) & (mask != 1)).any()):
            return "a mask with entries that are neither 0 nor 1"
    seen, *drawn = (mask != 0 for mask in masks)
    return _about_drawn(seen, torch.stack(drawn), num_random)


def _about_drawn(seen: Tensor, masks: Tensor, wanted: int) -> str:
    """What many draws have in common. (T, T): seen without random keys; (calls, T, T): seen with them."""
    if bool((seen & ~masks).any()):
        return f"keys that are seen with num_random = 0 are at times not seen with num_random = {wanted}"
    more, unseen = masks & ~seen, (~seen).sum(dim=-1)  # (calls, T, T), (T,)
    number, right = more.sum(dim=-1), unseen.clamp(max=wanted)  # (calls, T), (T,)
    if not torch.equal(number, right.expand_as(number)):
        by_keys, able = more.sum(dim=1), (~seen).sum(dim=0).clamp(max=wanted)  # (calls, T), (T,)
        if torch.equal(by_keys, able.expand_as(by_keys)):
            return f"each key is seen by {wanted} more queries, not each query sees {_keys(wanted)} more"
        return _about_number(number, right, wanted)
    said = f"each query sees {_keys(wanted)} more"
    if len(seen) < LONG:
        return f"{said}, or all that are left"
    rate = right / unseen.clamp(min=1)  # (T,): of each key that a query could not see
    orders = [(more.gather(2, order.expand_as(more)), (~seen).gather(1, order)) for order in _orders(seen)]
    if bool(unseen.any()) and torch.equal(more, more[:1].expand_as(more)):
        return f"{said}, the same every time{_at_an_end(orders[-1][0][0], unseen, right)}"
    if wanted > 1 and _side_by_side(orders[-1][0], unseen):
        return f"{said}, always side by side"
    alike = all(
        _fits(drawn[:, free[:, column], column], rate[free[:, column]])
        for drawn, free in orders for column in range(len(seen))
    )  # fmt: skip
    if not all(_queries_alone(drawn, free, wanted, alike) for drawn, free in orders):
        return f"{said}, but queries do not draw for themselves"
    if never := _never(orders[-1][0], unseen, wanted):
        return f"{said}, but never the {never} of those that it could not see"
    if not alike:
        return f"{said}, but not all keys are drawn alike"
    if not _keys_alone(orders[-1][0], unseen, wanted):
        return f"{said}, but which keys come together is not left to chance"
    return f"{said}, drawn evenly, each query for itself"


def _at_an_end(ranked: Tensor, unseen: Tensor, right: Tensor) -> str:
    """Whether it is the first or the last of the keys that each query could not see, (T, T) by rank."""
    ranks = torch.arange(len(ranked))
    if torch.equal(ranked, ranks < right[:, None]):
        return ": the first that it could not see"
    last = (ranks >= (unseen - right)[:, None]) & (ranks < unseen[:, None])
    return ": the last that it could not see" if torch.equal(ranked, last) else ""


def _never(ranked: Tensor, unseen: Tensor, wanted: int) -> str:
    """Whether no draw has the first or the last of the keys that its query could not see, (calls, T, T) by rank."""
    queries = (unseen > wanted).nonzero().flatten()
    ends = {"first": torch.zeros_like(unseen), "last": unseen - 1}
    drawn = ((name, ranked[:, queries, rank[queries]]) for name, rank in ends.items())
    return next((name for name, found in drawn if found.numel() and not found.any()), "")


def _side_by_side(ranked: Tensor, unseen: Tensor) -> bool:
    """Whether the keys of each draw are neighbors by rank, (calls, T, T), the last one and the first among them."""
    rows = [ranked[:, query, :free] for query, free in enumerate(unseen.tolist()) if free]
    return bool(rows) and all(bool(((row != row.roll(1, dims=1)).sum(dim=1) == 2).all()) for row in rows)


def _about_number(number: Tensor, right: Tensor, wanted: int) -> str:
    """(calls, T) keys in addition, where (T,) are right."""
    asked = (right > 0).nonzero().flatten()
    number, right = number[:, asked], right[asked]
    if not number.any():
        return "no query sees more keys than without random ones"
    if len(same := number.unique()) == 1:
        return f"each query sees {_keys(int(same))} more, not {wanted}"
    if len(never := asked[~number.any(dim=0)].tolist()):
        which = f"query {', '.join(map(str, never))}" if len(never) < 4 else f"{len(never)} of {len(asked)} queries"
        return f"no more keys for {which}"
    fewer, more = bool((number < right).any()), bool((number > right).any())
    often = "now more, now fewer" if fewer and more else "at times fewer" if fewer else "at times more"
    return f"a query sees {often} than {_keys(wanted)} more"


def _keys(count: int) -> str:
    return f"{count} key{'s' * (count != 1)}"


def _orders(seen: Tensor) -> Iterator[Tensor]:
    """Orders of the keys, (T, T), for each query: by place, by distance, by rank among those that it could not see."""
    places = torch.arange(len(seen))
    yield places.expand_as(seen)
    yield (places + places[:, None]) % len(seen)
    yield seen.int().argsort(dim=-1, stable=True)


def _fits(drawn: Tensor, rate: Tensor) -> bool:
    """Whether (calls, N) come true as often as if each of the N did with its own probability (N,).

    Chernoff's bound for the mean of these probabilities holds for unequal ones, too (Hoeffding 1956).
    """
    return not drawn.numel() or fits(int(drawn.sum()), drawn.numel(), float(rate.mean()))


def _queries_alone(drawn: Tensor, free: Tensor, wanted: int, alike: bool) -> bool:
    """Whether neighbors, two by two, have a key in common as often as if each drew for itself.

    Where keys are not drawn `alike`, that is as often as with what the other one draws in other calls.
    """
    shared, rates = [], []
    queries = [query for query, count in enumerate(free.sum(dim=1).tolist()) if count > 0]
    for one, other in zip(queries[::2], queries[1::2], strict=False):
        mine, theirs = drawn[:, one], drawn[:, other]  # (calls, T)
        shared.append((mine & theirs).any(dim=1))  # (calls,)
        elsewhere = torch.stack([(mine & theirs.roll(shift, dims=0)).any(dim=1) for shift in range(1, 6)])
        sizes = int((free[one] & free[other]).sum()), int(free[one].sum()), int(free[other].sum())
        rates.append(torch.tensor(_sharing(*sizes, wanted)) if alike else elsewhere.float().mean().clamp(0.01, 0.99))
    return not shared or _fits(torch.stack(shared, dim=1), torch.stack(rates))


def _sharing(common: int, mine: int, theirs: int, wanted: int) -> float:
    """How probable it is that `wanted` of `mine` and `wanted` of `theirs`, `common` to both, have one in common."""
    one, other = min(wanted, mine), min(wanted, theirs)
    apart = sum(  # so many of mine are common ones, and none of theirs is among these
        comb(common, some) * comb(mine - common, one - some) * comb(theirs - some, other)
        for some in range(min(common, one) + 1)
    )
    return 1 - apart / (comb(mine, one) * comb(theirs, other))


def _keys_alone(ranked: Tensor, unseen: Tensor, wanted: int) -> bool:
    """Whether two keys side by side, ordered by rank, come together as often as any two; two keys for each query."""
    both, rates = [], []
    for query, free in enumerate(unseen.tolist()):
        if free > wanted > 1:
            rank = query % (free - 1)
            both.append(ranked[:, query, rank : rank + 2].all(dim=1))  # (calls,)
            rates.append(wanted * (wanted - 1) / (free * (free - 1)))
    return not both or _fits(torch.stack(both, dim=1), torch.tensor(rates))


def _counted(raw: Any, case: Case) -> Any:
    """The number; or in words whether it came from the config alone, which stays as it is."""
    if case.asks != "config alone":
        return raw
    if raw["models"]:
        return "a model is built"
    return "the config is changed" if raw["changed"] else "the config alone is read"


DESCRIPTIONS = {"bigbird_mask": Description(_bigbird), "encoder_parameters": Description(_counted)}
