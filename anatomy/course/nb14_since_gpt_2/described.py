"""What the judge says of the results of 14-since-gpt-2."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case


def _largest_in_words(raw: Any, case: Case) -> Any:
    """Where it is needed, in words: whether a tensor as large as the table of all scores was made."""
    if case.asks != "no table":
        return raw
    if not gathered(raw, "result", "largest"):
        return as_it_is(raw)
    if not isinstance(raw["result"], Tensor) or raw["result"].shape[:-1] != case.args["query"].shape[:-1]:
        return "the result has another shape"
    table = case.args["query"].size(-2) * case.args["key"].size(-2)
    if raw["largest"] < table:
        return "no tensor is as large as the table of all scores"
    return (
        f"You make a tensor of {raw['largest']:,} entries. The T × S table of scores has {table:,}: make none as large."
    )


DESCRIPTIONS = {"attention_in_blocks": Description(describe=_largest_in_words)}
