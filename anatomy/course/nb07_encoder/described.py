"""What the judge says of the results of 07-encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case

FAR = 399.0
"""By so much the score of a padded key is above all real ones where scores are large: they reach from −200 to 200."""

REFUSED, LOADED = "refused", "loaded without a word"
UNRELATED = "nothing of the dict is in the encoder"


def _weights_under(mask: Any, case: Case) -> Any:
    """The attention weights (B, H, T, S) that a mask leaves, as PyTorch's attention understands it."""
    if not isinstance(mask, Tensor):
        return mask
    if mask.dtype in (torch.float64, torch.float16, torch.bfloat16):
        said = f"a mask of {mask.dtype}, which cannot be added to float32 scores: make it boolean or float32"
        return {"$other": said}
    if mask.dtype not in (torch.bool, torch.float32):
        said = "a mask of whole numbers, which says neither “keep” nor “add”: make it boolean or float32"
        return {"$other": said}
    batch, heads, keys = (case.sizes[letter] for letter in "BHS")
    if mask.shape != (batch, 1, 1, keys):
        asked = f"(B, 1, 1, S) = ({batch}, 1, 1, {keys})"
        return {"$other": f"a mask of shape {tuple(mask.shape)}, where {asked} is required"}
    draw = Draw(0, **case.sizes)
    query, key = draw.normal("B H T K"), draw.normal("B H S K")
    if case.asks == "large scores":
        query *= FAR / _lead_of_padding(query @ key.mT / key.size(-1) ** 0.5, case.args["attention_mask"])
    return F.scaled_dot_product_attention(query, key, torch.eye(keys).expand(batch, heads, keys, keys), attn_mask=mask)


def _lead_of_padding(scores: Tensor, attention_mask: Tensor) -> float:
    """By how much padding outscores all real keys, at most; 1 where it does not."""
    real = attention_mask.bool()[:, None, None, :]
    lead = scores.masked_fill(real, -torch.inf).amax(dim=-1) - scores.masked_fill(~real, -torch.inf).amax(dim=-1)
    return lead.max().item() if 0 < lead.max() < torch.inf else 1.0


def _loaded(raw: Any, case: Case) -> Any:
    """In words, where it is needed: what is refused; whether encoder and dict went separate ways."""
    given = case.args["state_dict"]
    if case.asks == "independence":
        names = ("state_dict", "loaded", "trainable", "later")
        return _independence(raw, case) if gathered(raw, *names) else as_it_is(raw)
    if case.asks == "missing keys":
        if not gathered(raw, "errors", "loaded"):
            return as_it_is(raw)
        refused = {f"missing: {what}": REFUSED if error else LOADED for what, error in raw["errors"].items()}
        return refused if _is_from(raw["loaded"], given) else UNRELATED
    if case.asks == "leftover layers":
        if not gathered(raw, "errors", "loaded"):
            return as_it_is(raw)
        said = {
            f"{number} layer{'s' * (number > 1)} too many": REFUSED if error else LOADED
            for number, error in enumerate(raw["errors"], start=1)
        }
        return said if _is_from(raw["loaded"], given) else UNRELATED
    return raw


def _is_from(loaded: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> bool:
    """Whether any of the encoder's parameters is one of the dict's entries."""
    return any(torch.equal(mine, theirs) for mine in loaded.values() for theirs in given.values())


def _independence(raw: Mapping[str, Any], case: Case) -> str:
    """Whether encoder and dict went separate ways, and whether the encoder can still be trained."""
    given, found, loaded, later = case.args["state_dict"], raw["state_dict"], raw["loaded"], raw["later"]
    start = dict(case.args["encoder"].named_parameters())
    if given.keys() - found.keys():
        return "entries of state_dict are gone"
    for name, value in given.items():
        if not torch.equal(found[name], value):
            return f"state_dict[{name!r}] has changed"
    if all(torch.equal(value, start[name]) for name, value in loaded.items() if name in start):
        return "nothing in encoder has changed"
    if frozen := [name for name, trainable in raw["trainable"].items() if not trainable]:
        return f"encoder.{frozen[0]} can't be trained any more"
    if shared := [name for name, value in later.items() if not torch.equal(value, loaded[name])]:
        return f"encoder.{shared[0]} changes whenever the dict's tensors change"
    if not _is_from(loaded, given):
        return UNRELATED
    return "the dict as it was, an encoder with weights of its own"


DESCRIPTIONS = {
    "padding_mask": Description(describe=_weights_under),
    "load_bert_weights": Description(describe=_loaded),
}
