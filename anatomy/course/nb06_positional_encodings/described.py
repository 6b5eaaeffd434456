"""What the judge says of the results of 06-positional-encodings."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from anatomy.course.nb06_positional_encodings.asked import STEP
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case

OTHER_FORM = "what is returned is no tensor (B, T, D)"
NOT_OF_THE_TOKENS = "the same token at the same position has other vectors in other sentences"
OTHER_LENGTHS = "the vectors come back with other lengths"


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
    other_form = dict.fromkeys(("entries set to 0", "they are", "entries left"), OTHER_FORM)
    if not gathered(raw, "whole", "dropped"):
        return other_form if isinstance(raw, list | tuple) else as_it_is(raw)
    whole, dropped, share = raw["whole"], raw["dropped"], case.init[0].hidden_dropout_prob
    ids = case.args["input_ids"]
    if not all(isinstance(one, Tensor) and one.dim() == 3 and one.shape[:2] == ids.shape for one in (whole, dropped)):
        return other_form
    if not _is_of(whole, ids):
        return NOT_OF_THE_TOKENS
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
    names = f"all positions plus {STEP}", f"only those of keys plus {STEP}"
    if not _as_long(torch.stack(raw["still"]), case.args["x"]):
        return dict.fromkeys(names, OTHER_LENGTHS)
    still, both, keys = (query @ key.mT for query, key in (raw["still"], raw["both"], raw["keys"]))  # (H, T, T)

    def said(scores: Tensor) -> str:
        return "the scores change" if (scores - still).abs().max() > 1e-3 else "the scores stay"

    return dict(zip(names, (said(both), said(keys)), strict=True))


def _as_long(turned: Tensor, x: Tensor) -> bool:
    """Whether longer vectors come out longer, by and large: to turn does not change a length."""
    lengths = torch.stack((turned.norm(dim=-1).flatten(), x.norm(dim=-1).flatten())).double()
    return bool(torch.corrcoef(lengths)[0, 1] > 0.8)


DESCRIPTIONS = {
    "permutation_gap": Description(describe=_gap),
    "Embeddings": Description(describe=_embedded),
    "apply_rotary": Description(describe=_turned),
}
