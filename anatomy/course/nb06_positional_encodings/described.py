"""What the judge says of the results of 06-positional-encodings."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb06_positional_encodings.asked import STEP
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case

UNRELATED = "what is returned has nothing to do with the input"


def _gap(raw: Any, case: Case) -> Any:
    """The gap as a number, out of whatever wraps it; where the type is needed, the type in words."""
    if not gathered(raw, "type", "is a float", "value"):
        return as_it_is(raw)
    found = raw["value"]
    if case.asks == "plain float":
        return "a Python float" if raw["is a float"] and isinstance(found, float) else f"of type {raw['type']}"
    wrapped = isinstance(found, Tensor) and found.numel() == 1
    return float(found) if wrapped else found


def _embedded(raw: Any, case: Case) -> Any:
    """In words, where it is needed: what becomes of dropout."""
    if case.asks != "train mode":
        return raw
    if not gathered(raw, "whole", "dropped"):
        return as_it_is(raw)
    whole, dropped, share = raw["whole"], raw["dropped"], case.init[0].hidden_dropout_prob
    if not isinstance(dropped, Tensor) or dropped.dim() != 3:
        return as_it_is(dropped)
    if not _is_of(whole, case.args["input_ids"]):
        return UNRELATED
    zeros = dropped == 0
    found = zeros.float().mean().item()
    if zeros.all():
        return "in training every entry is 0"
    left, still = dropped[~zeros], whole[~zeros]
    grown = (left * (1 - share) - still).abs().max() < 1e-3
    same = (left - still).abs().max() < 1e-3
    amount = "as many as config asks for" if abs(found - share) < 0.06 else "fewer" if found < share else "more"
    return {
        "entries set to 0": "none" if share and not zeros.any() else amount,
        "they are": _pattern(zeros),
        "entries left": "those of eval mode over 1 − p" if grown else "those of eval mode" if same else "others",
    }


def _is_of(embedded: Tensor, ids: Tensor) -> bool:
    """Whether a token at the same position of two sentences has vectors (B, T, D) more alike than any two have."""
    apart = (embedded[None] - embedded[:, None]).double().square().mean(dim=-1)  # (B, B, T)
    alike = (ids[None] == ids[:, None]) & ~torch.eye(len(ids), dtype=torch.bool)[..., None]
    usual = 2 * embedded.double().var(dim=0).mean()
    return bool(apart[alike].mean() <= 0.85 * usual)


def _pattern(zeros: Tensor) -> str:
    """Where the zeros of (B, T, D) are."""
    if zeros.all(dim=2).any():
        return "whole tokens"
    if zeros.all(dim=1).any():
        return "whole columns"
    return "the same in every sentence" if zeros.any() and (zeros == zeros[:1]).all() else "anywhere"


def _turned(raw: Any, case: Case) -> Any:
    """Where offsets are needed, in words: how scores of turned queries and keys react to moving."""
    if case.asks != "offsets only":
        return raw
    if not gathered(raw, "still", "both", "keys"):
        return as_it_is(raw)
    if not _as_long(torch.stack(raw["still"]), case.args["x"]):
        return UNRELATED
    still, both, keys = (query @ key.mT for query, key in (raw["still"], raw["both"], raw["keys"]))  # (H, T, T)

    def said(scores: Tensor) -> str:
        return "the scores change" if (scores - still).abs().max() > 1e-3 else "the scores stay"

    return {f"queries and keys {STEP} on": said(both), f"keys alone {STEP} on": said(keys)}


def _as_long(turned: Tensor, x: Tensor) -> bool:
    """Whether longer vectors come out longer, by and large: to turn does not change a length."""
    lengths = torch.stack((turned.norm(dim=-1).flatten(), x.norm(dim=-1).flatten())).double()
    return bool(torch.corrcoef(lengths)[0, 1] > 0.8)


DESCRIPTIONS = {
    "permutation_gap": Description(describe=_gap),
    "Embeddings": Description(describe=_embedded),
    "apply_rotary": Description(describe=_turned),
}
