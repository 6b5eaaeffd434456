"""What the judge says of the results of 04-heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from anatomy.course.nb04_heads.asked import numbers
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case

UNRELATED = "nothing of the loop is in fused"


def _copied(raw: Any, case: Case) -> Any:
    """What has arrived in fused; or, where it is needed, in words whether both modules went separate ways."""
    if case.asks != "independence":
        return raw
    return _independence(raw, case) if gathered(raw, "loop", "fused", "trainable", "later") else as_it_is(raw)


def _independence(raw: Mapping[str, Any], case: Case) -> str:
    """Whether the two modules went separate ways, starting from the same weights."""
    before, start = numbers(case.args["loop"]), numbers(case.args["fused"])
    loop, fused, later = raw["loop"], raw["fused"], raw["later"]
    if changed := [name for name, value in before.items() if name not in loop or not torch.equal(loop[name], value)]:
        return f"loop.{changed[0]} {'has changed' if changed[0] in loop else 'is not in loop any more'}"
    if all(name in fused and torch.equal(fused[name], value) for name, value in start.items()):
        return "nothing in fused has changed"
    if missing := [name for name in start if name not in fused]:
        return f"fused.{missing[0]} is no parameter any more"
    for name in ("fused", "loop"):
        if frozen := [key for key, trainable in raw["trainable"][name].items() if not trainable]:
            return f"{name}.{frozen[0]} can't be trained any more"
    if raw["trainable"].get("gradients are on") == 0:
        return "gradients are off for the whole program, and nothing can be trained any more"
    if shared := [name for name, value in fused.items() if not torch.equal(value, later[name])]:
        return f"fused.{shared[0]} changes whenever the loop's weights change"
    known = torch.cat([value.flatten() for value in before.values()])
    if not any(bool(torch.isin(value, known).any()) for value in fused.values()):
        return UNRELATED
    return "loop as it was, fused with weights of its own"


DESCRIPTIONS = {"copy_heads": Description(describe=_copied)}
