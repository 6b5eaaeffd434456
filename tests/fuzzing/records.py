"""Records that no check of the course would send: real ones, damaged or forged at some places."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import safetensors.torch
import torch
from hypothesis import strategies as st
from torch import Tensor

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3.5, 2**63, 10**400, -(10**400), 1e308, float("nan"), float("inf"), "", "text",
    "nan", "x" * 5000, "\ud800", "a\x00b", "<script>", "`*{0}", "returned", "raised", "not attempted", "too slow",
    "missing", "softmax", "...", [], {}, [[]], [None], [1, "x"], [[1, 2], [3]], [[[[[1]]]]], {"a": 1}, {"": None},
    {"\ud800": 1}, {"$other": None}, {"$other": "a function"}, {"$other": [1]},
    {"$other": "x", "$numbers": {"$tensor": "0"}}, {"$numbers": {"$tensor": "0"}}, {"$other": {}, "$numbers": 3},
    {"$float": "nan"}, {"$float": "inf"}, {"$float": "1e999"}, {"$float": "no"}, {"$float": None}, {"$float": [1]},
    {"$tensor": "0"}, {"$tensor": 0}, {"$tensor": "none"}, {"$tensor": None}, {"$tensor": {"$tensor": "0"}},
    {"$tensor": "0", "more": 1}, {"type": "BadSignature", "message": "\ud800"},
    {"type": "NotImplementedError", "code": "raise", "within": "softmax", "line": 10**400},
    {"type": "ValueError", "message": "x\n" * 999, "line": -1, "code": "raise ValueError"},
    {"type": "", "message": ""}, {"type": 3, "message": None},
    {"type": "TypeError", "message": "index 10 is out of bounds for dimension 0 with size " + "9" * 480},
    {"outcome": "returned"}, {"outcome": "raised"}, {"outcome": "raised", "error": None}, {"weight": [3]},
    {"weight": [10**400]}, {"weight": []}, {"weight": [True]}, {".": [-1]}, {"x": None}, {"x": {"$tensor": "0"}},
    {"values": 3}, *(f"${number}" for number in range(18)),
)  # fmt: skip
"""What a place of a record may hold instead. ``"$0"`` and the like stand for the tensors below."""

TENSORS = (
    torch.zeros(0), torch.tensor(7), torch.tensor(float("nan")), torch.zeros(2, 3),
    torch.full((2, 3, 4), float("nan")), torch.full((3, 3), float("inf")), torch.full((3,), 3e38),
    torch.ones(1, 1, 1, 1, 1, 1, 1, 1), torch.zeros(0, 3), torch.zeros(3, 0), torch.ones(2, dtype=torch.bool),
    torch.ones(2, dtype=torch.complex64), torch.ones(2).half(), torch.ones(2, dtype=torch.int8),
    torch.ones(2).to(torch.float8_e4m3fn), torch.ones(2, dtype=torch.uint64), torch.ones(2).double() * 1e300,
    torch.zeros((1,) * 70),
)  # fmt: skip

Change = tuple[int, str, int]
"""A place in a record, what is done there, and with what."""

_HOW = ("put", "put", "put", "drop", "double", "wrap", "name", "swap", "numbers", "everywhere")
changes: st.SearchStrategy[list[Change]] = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(_HOW), st.integers(0, 10**6)), min_size=1, max_size=5
)


def damaged(record: dict[str, Any], what: list[Change]) -> dict[str, Any]:
    """The record with these changes to it."""
    tree, tensors = deepcopy(record["tree"]), dict(safetensors.torch.load(base64.b64decode(record["tensors"])))
    for place, how, other in what:
        nodes = list(_nodes(tree))
        if not nodes:
            break
        holder, key = nodes[place % len(nodes)]
        if how == "numbers":
            names = list(tensors)
            for name in names[place % len(names) :] if names and place % 3 else names:
                tensors[name] = _changed(tensors[name], other)
        elif how == "everywhere":
            for there, name in nodes:
                if name == key and isinstance(key, str):
                    there[name] = deepcopy(ODD[other % len(ODD)])
        else:
            _change(holder, key, how, other, nodes)
    extra = {f"${number}": tensor.clone() for number, tensor in enumerate(TENSORS)}
    text = json.dumps(tree)
    used = {name: tensor for name, tensor in extra.items() if f'"{name}"' in text}
    return {"tree": json.loads(_with(text, used)), "tensors": _packed(tensors | used)}


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    """All places of a tree: what holds them, and under which key."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in list(keys):
        yield tree, key
        yield from _nodes(tree[key])


def _change(holder: Any, key: Any, how: str, other: int, nodes: list[tuple[Any, Any]]) -> None:
    if how == "drop":
        del holder[key]
    elif how == "double" and isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    elif how == "wrap":
        holder[key] = [holder[key]] if other % 2 else {"$other": holder[key]}
    elif how == "name" and isinstance(holder, dict):
        holder[("", "$tensor", "$other", "\ud800", "extra.weight", "x" * 999)[other % 6]] = holder.pop(key)
    elif how == "swap":
        there, name = nodes[other % len(nodes)]
        holder[key] = deepcopy(there[name])
    else:
        holder[key] = deepcopy(ODD[other % len(ODD)])


def _changed(tensor: Tensor, how: int) -> Tensor:
    """The same with other numbers, of another shape or type, or quite another tensor."""
    try:
        return _KINDS[how % len(_KINDS)](tensor).contiguous().clone()
    except (RuntimeError, IndexError, NotImplementedError):
        return tensor  # not every tensor can be changed so


_KINDS: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda x: x * 2,
    lambda x: x + 1,
    lambda x: -x,
    lambda x: x[None],
    lambda x: x[:0],
    lambda x: x.flatten(),
    lambda x: x.double(),
    lambda x: x.half(),
    lambda x: x.bool(),
    lambda x: x.to(torch.complex64),
    lambda x: x.long(),
    lambda x: x.mT if x.dim() > 1 else x,
    lambda x: x * float("nan"),
    lambda x: x.flip(-1),
    lambda x: x.sum(),
    lambda x: x.to(torch.uint8),
    lambda x: x * 1e38,
    lambda x: x.to(torch.float8_e5m2),
    *(lambda _, tensor=tensor: tensor for tensor in TENSORS),
)


def _with(text: str, used: dict[str, Any]) -> str:
    for name in used:
        text = text.replace(f'"{name}"', json.dumps({"$tensor": name}))
    return text


def _packed(tensors: dict[str, Any]) -> str:
    return base64.b64encode(safetensors.torch.save(tensors)).decode()
