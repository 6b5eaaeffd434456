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

    def unpack(node: Any) -> Any:
        if isinstance(node, dict):
            if node.keys() == {"$tensor"} and str(node["$tensor"]) in tensors:
                return tensors[str(node["$tensor"])]
            if node.keys() == {"$float"}:
                return float(node["$float"])
            return {key: unpack(item) for key, item in node.items()}
        return [unpack(item) for item in node] if isinstance(node, list) else node

    try:
        observation = unpack(record.get("tree"))
    except (RecursionError, ValueError) as error:
        raise Unreadable("the record's tree can't be read") from error
    if not isinstance(observation, dict) or not isinstance(observation.get("cases"), list):
        raise Unreadable("the record holds no cases")
    return observation
