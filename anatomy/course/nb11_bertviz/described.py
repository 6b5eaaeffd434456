"""What the judge says of the results of 11-bertviz."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb11_bertviz.asked import NO_MASK
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import gathered
from anatomy.engine.describing.sorts import sort_of
from anatomy.engine.exercise import Case

CHANGEABLE = "the same sentence gives one result now, and another one later"


def _without_a_mask(raw: Any, case: Case) -> str:
    """In words, whether no mask means the same as a mask of ones: whatever else is wrong with the answer is so in both.

    Of an answer that any mask stops, whether it works without one.
    """
    if not gathered(raw, "left out", "none", "one by one"):
        return sort_of(raw)
    if not _alike(raw["left out"], raw["none"]):
        return "None gives another result than leaving the mask out"
    if not _in_turns(raw["one by one"], case):
        return CHANGEABLE
    if "ones" in raw and not _alike(raw["left out"], raw["ones"]):
        return "another result than with a mask of ones"
    return "the result that a mask of ones gives"


def _in_turns(results: list[Any], case: Case) -> bool:
    """Whether the same sentences of the batch, which stand in a drawn order, gave the same results."""
    sentences = torch.stack(list(case.args["attentions"]), dim=1).flatten(1)  # (B, L·H·T·T)
    _, kinds = sentences.unique(dim=0, return_inverse=True)
    first: dict[int, Any] = {}
    pairs = zip(kinds.tolist(), results, strict=True)
    return all(_alike(first.setdefault(kind, result), result) for kind, result in pairs)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and torch.allclose(one, other, equal_nan=True)
    return type(one) is type(other) and bool(one == other)


def _statistics(raw: Any, case: Case) -> Any:
    return _without_a_mask(raw, case) if case.asks == NO_MASK else raw


def _two_numbers(raw: Any, case: Case) -> Any:
    """The two; or, where the case asks for it, what kind of numbers they are."""
    if case.asks == NO_MASK:
        return _without_a_mask(raw, case)
    if case.asks != "Python numbers":
        return raw
    if not gathered(raw, "types", "whole", "one by one"):
        return {"$other": sort_of(raw)}
    if not _in_turns(raw["one by one"], case):
        return CHANGEABLE
    return ["int" if whole else name for whole, name in zip(raw["whole"], raw["types"], strict=True)]


def _switched(raw: Any, case: Case) -> Any:
    """The result; or, where the case asks for it, in words what has become of the context that was handed over."""
    if case.asks != "context unchanged":
        return raw
    return "context as it was" if torch.equal(raw, case.args["context"]) else "context has changed"


DESCRIPTIONS = {
    "head_statistics": Description(describe=_statistics),
    "find_previous_token_head": Description(describe=_two_numbers),
    "switch_off_heads": Description(describe=_switched),
}
