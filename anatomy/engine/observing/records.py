"""Observations across the line between kernel and grader: JSON for structure, safetensors for tensors."""

from __future__ import annotations

import base64
import math
from dataclasses import fields, is_dataclass
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from anatomy.engine.observing.observation import CaseObservation, Observation, Raised
from anatomy.engine.observing.plain_data import DTYPES, LARGEST_NUMBER
from anatomy.engine.observing.printed import cut, encodable
from anatomy.engine.observing.record_bounds import MOST_NUMBERS, TooLong, bound_head, bound_shapes, bound_tree

MIME = "application/vnd.transformer-anatomy.observation+json"
LARGEST = 16 * 2**20
"""Bytes of an observation's tensors beyond which it is refused."""

MESSAGE = 500
"""Characters of an error message that are kept."""


class Unreadable(ValueError):
    """What arrived is no observation."""


def encode(observation: Observation) -> dict[str, Any]:
    """An observation as a JSON-able dict: ``{"tree": ..., "tensors": base64 of safetensors}``."""
    tensors: dict[str, Tensor] = {}
    keys: dict[Any, str] = {}

    def pack(node: Any) -> Any:
        if isinstance(node, Tensor):
            dense = node.contiguous()
            numbers = dense.reshape(-1).view(torch.uint8).numpy().tobytes()
            key = keys.setdefault((dense.dtype, dense.shape, numbers), str(len(tensors)))  # the same numbers: once
            tensors[key] = dense
            return {"$tensor": key}
        if isinstance(node, float) and not math.isfinite(node):
            return {"$float": str(node)}
        if is_dataclass(node):
            return {item.name: pack(getattr(node, item.name)) for item in fields(node)}
        if isinstance(node, dict):
            return {encodable(str(key)): pack(item) for key, item in node.items()}
        if isinstance(node, str):
            return encodable(node)
        return [pack(item) for item in node] if isinstance(node, list) else node

    tree = pack(observation)
    return {"tree": tree, "tensors": base64.b64encode(safetensors.torch.save(tensors)).decode()}


def decode(record: Any) -> Observation:
    """The observation in a record.

    Raises
    ------
    Unreadable
        When the record is not what `encode` writes, or is too large.
    """
    if not isinstance(record, dict) or not isinstance(record.get("tensors"), str):
        raise Unreadable("not a record of an observation")
    if len(record["tensors"]) // 4 * 3 > LARGEST:  # base64: four characters for three bytes
        raise Unreadable("the record is too large")
    try:
        bound_tree(record.get("tree"))
        bound_head(packed := base64.b64decode(record["tensors"], validate=True))
        bound_shapes((tensors := safetensors.torch.load(packed)).values())
    except TooLong as error:
        raise Unreadable(str(error)) from error
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:  # torch, of a shape
        raise Unreadable("the record's tensors can't be read") from error
    if strange := {tensor.dtype for tensor in tensors.values()} - DTYPES:
        raise Unreadable(f"the record holds a tensor of type {str(strange.pop()).removeprefix('torch.')}")

    left = MOST_NUMBERS

    def unpack(node: Any) -> Any:
        nonlocal left
        if isinstance(node, dict):
            if node.keys() == {"$tensor"} and (tensor := tensors.get(str(node["$tensor"]))) is not None:
                left -= max(tensor.numel(), 1)
                if left < 0:
                    raise Unreadable("the record names large tensors again and again")
                return tensor
            if node.keys() == {"$float"}:
                return float(str(node["$float"]))
            return {encodable(str(key)): unpack(item) for key, item in node.items()}
        if isinstance(node, str):
            return encodable(node)
        if isinstance(node, int) and abs(node) > LARGEST_NUMBER:
            raise Unreadable("the record holds a number too large to compare")
        return [unpack(item) for item in node] if isinstance(node, list) else node

    try:
        tree = unpack(record.get("tree"))
    except Unreadable:
        raise
    except (RecursionError, ValueError) as error:
        raise Unreadable("the record's tree can't be read") from error
    return _observation(tree)


def _observation(tree: Any) -> Observation:
    """The tree's known fields, of the right types only: whatever a kernel sent can't make a judge stumble."""
    if not isinstance(tree, dict) or not isinstance(tree.get("cases"), list):
        raise Unreadable("the record holds no cases")
    name = tree.get("exercise")
    return Observation(
        name if isinstance(name, str) else "",
        [_case(seen) for seen in tree["cases"]] or [CaseObservation()],
        _texts(tree.get("parts")),
        [_case(seen) for seen in tree["with_right_parts"]] if isinstance(tree.get("with_right_parts"), list) else [],
        _texts(tree.get("called")),
        _raised(tree["cell_error"]) if isinstance(tree.get("cell_error"), dict) else None,
        "".join(_texts([tree.get("similar")])),
    )


def _case(seen: Any) -> CaseObservation:
    if not isinstance(seen, dict):
        return CaseObservation()
    known: dict[str, Any] = {"value": seen.get("value"), "train": seen.get("train")}
    for name, kind in (
        ("outcome", str),
        ("printed", str),
        ("linked", bool),
    ):
        if isinstance(seen.get(name), kind):
            known[name] = seen[name]
    known["printed"] = cut(known.get("printed", ""))
    for name in ("error", "gradient_error"):
        if isinstance(seen.get(name), dict):
            known[name] = _raised(seen[name])
    for name in ("again", "train_again"):
        if isinstance(seen.get(name), list):
            known[name] = seen[name][:1]
    for name in ("calls", "changed"):
        known[name] = _texts(seen.get(name))
    if isinstance(seen.get("gradients"), dict):
        known["gradients"] = {name: v for name, v in seen["gradients"].items() if v is None or _is_gradient(v)}
    if isinstance(seen.get("parameters"), dict):
        known["parameters"] = {k: v for k, v in seen["parameters"].items() if _all_of(int, v)}
    if isinstance(seen.get("shared"), list):
        known["shared"] = [names for names in seen["shared"] if _all_of(str, names)]
    return CaseObservation(**known)


def _is_gradient(value: Any) -> bool:
    """Whether a value may be a gradient: PyTorch computes none of whole numbers."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def _raised(seen: dict[str, Any]) -> Raised:
    kinds = {item.name: type(item.default) for item in fields(Raised)}
    return Raised(**{name: seen[name][:MESSAGE] if kind is str else seen[name]
                     for name, kind in kinds.items() if type(seen.get(name)) is kind})  # fmt: skip


def _texts(items: Any) -> list[str]:
    return [item[:100] for item in items if isinstance(item, str)] if isinstance(items, list) else []


def _all_of(kind: type, items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(item, kind) for item in items)
