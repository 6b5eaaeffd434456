"""What the judge says of the results of 14-since-gpt-2."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case


def _gradient_in_words(raw: Any, case: Case) -> Any:
    """Where it is needed: how many entries of a gradient are no numbers."""
    if case.asks != "gradients" or not isinstance(raw, Tensor):
        return raw
    lost = raw.numel() - int(raw.sum())
    return f"{lost} of {raw.numel()} entries of the gradient are NaN or infinite" if lost else "all of it is finite"


def _attributes_in_words(raw: Any, case: Case) -> Any:
    """Where they are asked for: each attribute's number, or that there is none."""
    if case.asks != "attributes":
        return raw
    if not gathered(raw, "num_heads", "num_groups", "base"):
        return as_it_is(raw)
    return {name: "missing" if value is None else value for name, value in raw.items()}


def _blocks_in_words(raw: Any, case: Case) -> Any:
    """Where it is needed, in words: whether a tensor is as large as the table, and whether `block_size` is used."""
    if case.asks != "in blocks":
        return raw
    if not gathered(raw, "result", "largest", "steps", "steps_for_one"):
        return as_it_is(raw)
    if not isinstance(raw["result"], Tensor) or raw["result"].shape[:-1] != case.args["query"].shape[:-1]:
        return "the result has another shape"
    table = case.args["query"].size(-2) * case.args["key"].size(-2)
    if raw["largest"] >= table:
        return (
            f"You make a tensor of {raw['largest']:,} entries. "
            f"The T × S table of scores has {table:,}: make none as large."
        )
    if raw["steps"] == raw["steps_for_one"]:
        return "Small blocks take no more steps than one block of all keys. Each step takes the next `block_size` keys."
    if raw["steps"] < raw["steps_for_one"]:
        return "Larger blocks take more steps. `block_size` says how many *keys* a block has, not how many blocks."
    return "no tensor is as large as the table of all scores, and small blocks take more steps than one of all keys"


DESCRIPTIONS = {
    "RMSNorm": Description(describe=_gradient_in_words),
    "GroupedQueryAttention": Description(describe=_attributes_in_words),
    "attention_in_blocks": Description(describe=_blocks_in_words),
}
