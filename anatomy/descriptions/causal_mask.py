"""What the judge says of the results of 09-causal-mask."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from anatomy.descriptions import Description
from anatomy.descriptions.encoder_layer import UNRELATED, depends_on
from anatomy.descriptions.raw import as_it_is, gathered
from anatomy.exercises.causal_mask import state, used_before
from anatomy.exercises.spec import Case
from anatomy.observing.plain_data import plain, same

# ---------------------------------------------------------------------------------------------- future_leak


def _named(state: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay as it is, by name."""
    parts: dict[str, Any] = {"the training mode": state["training"]}
    for name, value in state["parameters"].items():
        parts[name] = value
        parts[f"the gradient kept in {name}"] = state["gradients"][name]
        parts[f"{name}.requires_grad"] = state["requires_grad"][name]
    return parts | {f"the number of hooks at {name or 'the model'}": number for name, number in state["hooks"].items()}


def _unchanged(raw: Any, case: Case) -> Any:
    """Where it is asked for: what has become of the model, in words."""
    if case.asks != "model unchanged":
        return raw
    if not gathered(raw, "state", "own_hook", "outputs"):
        return as_it_is(raw)
    if not raw["own_hook"]:
        return "a hook that the model had is gone"
    model = deepcopy(case.args["model"])
    used_before(model)
    before, after = _named(plain(state(model))), _named(raw["state"])
    if changed := [name for name, value in before.items() if not same(value, after.get(name))]:
        return f"{changed[0]} has changed"
    as_before = torch.allclose(raw["outputs"], model(case.args["ids"]).detach(), atol=1e-5)
    return "the model as it was" if as_before else "the model gives other outputs than before"


# ---------------------------------------------------------------------------------------------- CausalSelfAttention


def _attended(raw: Any, case: Case) -> Any:
    """Where it is asked for, in words: which tokens the outputs see, or how many heads there are said to be."""
    if case.asks == "parameters":
        return {"num_heads": raw.get("num_heads", "missing")}
    if case.asks is None:
        return raw
    if not gathered(raw, "outputs", "changed"):
        return as_it_is(raw)
    (x,), outputs, changed = case.args.values(), raw["outputs"], raw["changed"]
    length = x.size(1)
    if outputs.shape != x.shape or changed.shape != (length, *x.shape) or not depends_on(outputs, x):
        return UNRELATED
    apart = (changed - outputs).abs().amax(dim=(1, 3)).T  # (T, S)
    sees = ~(apart <= 1e-5)  # NaN is no evidence of not seeing
    later = [t for t in range(length) if sees[t, t + 1 :].any()]
    blind = [t for t in range(length) if not sees[t, : t + 1].all()]
    return {
        "later tokens": f"seen by outputs {later}" if later else "seen by none",
        "tokens up to its own": f"not all seen by outputs {blind}" if blind else "seen by each output",
    }


DESCRIPTIONS = {
    "future_leak": Description(describe=_unchanged),
    "CausalSelfAttention": Description(describe=_attended),
}
