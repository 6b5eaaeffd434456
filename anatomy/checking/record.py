"""Observations across the line between kernel and grader: JSON for structure, safetensors for tensors."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

MIME = "application/vnd.transformer-anatomy.observation+json"
LARGEST = 16 * 2**20
"""Bytes of tensors beyond which an observation is refused."""

DEEPEST = 20
"""Levels of lists and dicts beyond which an observation is refused."""


class Unreadable(ValueError):
    """What arrived is no observation."""


def encode(observation: dict[str, Any]) -> dict[str, Any]:
    """An observation as a JSON-able dict: ``{"tree": ..., "tensors": base64 of safetensors}``."""
    tensors: dict[str, Tensor] = {}

    def pack(node: Any) -> Any:
        if isinstance(node, Tensor):
            tensors[key := str(len(tensors))] = node.contiguous()
            return {"$tensor": key}
        if isinstance(node, float) and not math.isfinite(node):
            return {"$float": str(node)}
        if isinstance(node, dict):
            return {key: pack(item) for key, item in node.items()}
        return [pack(item) for item in node] if isinstance(node, list) else node

    tree = pack(observation)
    return {"tree": tree, "tensors": base64.b64encode(safetensors.torch.save(tensors)).decode()}


def decode(record: Any) -> dict[str, Any]:
    """The observation in a record.

    Raises
    ------
    Unreadable
        When the record is not what `encode` writes, or is too large.
    """
    if not isinstance(record, dict) or not isinstance(record.get("tensors"), str):
        raise Unreadable("not a record of an observation")
    if len(record["tensors"]) > LARGEST:
        raise Unreadable("the record is too large")
    try:
        tensors = safetensors.torch.load(base64.b64decode(record["tensors"], validate=True))
    except (binascii.Error, SafetensorError, ValueError, KeyError) as error:
        raise Unreadable("the record's tensors can't be read") from error

    def unpack(node: Any, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise Unreadable("the record is nested too deeply")
        if isinstance(node, dict):
            if node.keys() == {"$tensor"} and str(node["$tensor"]) in tensors:
                return tensors[str(node["$tensor"])]
            if node.keys() == {"$float"}:
                return float(node["$float"])
            return {key: unpack(item, depth + 1) for key, item in node.items()}
        return [unpack(item, depth + 1) for item in node] if isinstance(node, list) else node

    try:
        observation = unpack(record.get("tree"))
    except (RecursionError, ValueError) as error:
        raise Unreadable("the record's tree can't be read") from error
    if not isinstance(observation, dict) or not isinstance(observation.get("cases"), list):
        raise Unreadable("the record holds no cases")
    return observation


_FIELDS: dict[str, type] = {
    "outcome": str, "value": object, "train": object, "steady": bool, "train steady": bool, "linked": bool,
    "error": dict, "gradient error": dict, "gradients": dict, "parameters": dict, "shared": list,
    "calls": list, "changed": list,
}  # fmt: skip


def sane_cases(observation: dict[str, Any]) -> list[dict[str, Any]]:
    """The observation's cases with known fields of the right types only, at least one.

    What `observe` wrote passes unchanged; whatever else a kernel sent can't make a judge stumble.
    """
    cases = observation.get("cases")
    sane = [_sane_case(seen) for seen in cases] if isinstance(cases, list) else []
    return sane or [{"outcome": "missing"}]


def _sane_case(seen: Any) -> dict[str, Any]:
    if not isinstance(seen, dict):
        return {"outcome": "missing"}
    sane = {name: seen[name] for name, kind in _FIELDS.items() if isinstance(seen.get(name), kind) and name in seen}
    for name in {"error", "gradient error"} & sane.keys():
        sane[name] = {str(key): item if isinstance(item, int) else str(item)[:500] for key, item in sane[name].items()}
    for name in {"calls", "changed"} & sane.keys():
        sane[name] = [str(item)[:100] for item in sane[name]]
    if "gradients" in sane:
        sane["gradients"] = {k: v for k, v in sane["gradients"].items() if v is None or isinstance(v, Tensor)}
    if "parameters" in sane:
        sane["parameters"] = {k: v for k, v in sane["parameters"].items() if _all_of(int, v)}
    if "shared" in sane:
        sane["shared"] = [names for names in sane["shared"] if _all_of(str, names)]
    return {"outcome": "missing"} | sane


def _all_of(kind: type, items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(item, kind) for item in items)
