"""What many calls of an answer returned, as raw data: beside student code nothing is said of it."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.observing.plain_data import fresh, plain

EACH = 8
"""So often an answer is called in a row with one generator."""


def with_generator(answer: Any, case: Case) -> dict[str, Any]:
    """Results of calls with this case's generator in one state, in the same state again, in another one, and later on.

    Torch's own generator is in another state at each call. With the results comes the state in which the generator is
    afterwards.
    """
    generator = case.args["generator"]

    def call(one: torch.Generator) -> list[Any]:
        args = {name: fresh(value) for name, value in case.args.items() if name != "generator"}
        return [answer(*(one if name == "generator" else fresh(args[name]) for name in case.args)) for _ in range(EACH)]

    copies = [torch.Generator().set_state(generator.get_state()) for _ in range(3)]
    torch.rand(1000, generator=copies[2])  # another state, from the same seed, too far away to be met again
    first, again, other = (call(copy) for copy in copies)
    then = call(copies[0])
    return {"calls": packed([first, again, other, then]), "state": copies[0].get_state()}


def packed(results: Any) -> Any:
    """Plain results as JSON in the bytes of one tensor, so that thousands of them cross as one; see `unpacked`.

    Results that are not made of lists, texts, whole numbers and tensors of these are left as they are.
    """
    results = plain(results)
    try:
        text = json.dumps(_as_json(results))
    except TypeError:
        return results
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


LONGEST = 4 * 2**20
"""Bytes of packed results beyond which they are not unpacked: twice what any answer of the course needs."""


def unpacked(results: Any) -> Any:
    """What was `packed`. Raises ValueError, TypeError or KeyError for what never was."""
    if not isinstance(results, Tensor):
        return results
    if results.dtype != torch.uint8 or results.numel() > LONGEST:
        raise ValueError("these are no packed results, or too many")
    return _from_json(json.loads(results.numpy().tobytes()))


_INTEGERS = {
    str(dtype): dtype for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
}


def _as_json(node: Any) -> Any:
    if isinstance(node, Tensor) and str(node.dtype) in _INTEGERS:
        return {"dtype": str(node.dtype), "shape": list(node.shape), "numbers": node.flatten().tolist()}
    if isinstance(node, list):
        return [_as_json(item) for item in node]
    if node is None or isinstance(node, str | int):
        return node
    raise TypeError(f"{type(node).__name__} is not packed")


def _from_json(node: Any) -> Any:
    if isinstance(node, dict):
        return torch.tensor(node["numbers"], dtype=_INTEGERS[node["dtype"]]).reshape(node["shape"])
    return [_from_json(item) for item in node] if isinstance(node, list) else node
