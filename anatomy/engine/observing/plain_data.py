"""Plain data: what an observation may hold, and copies that a run may spoil."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from anatomy.engine.observing.printed import encodable

ROUNDING = 2**7 * torch.finfo(torch.float32).eps
"""How far two float32 results may lie apart, relative to the largest entry (about 1.5e-5).

Sums over up to a few hundred terms, taken in another order or fused, stay well below it. To this the judge adds what
one rounding step in the *inputs* would change (`slack`), so that badly conditioned cases, such as a softmax of scores
around 10 000, ask for no more than float32 can give. There is no other tolerance in the course.
"""

LARGEST_TENSOR = 1_000_000
"""Elements beyond which a tensor is described, not kept."""

LARGEST_NUMBER = int(sys.float_info.max)
"""A whole number beyond this, which no float can hold, is described, not kept."""

DEEPEST = 12
"""Levels of lists and dicts beyond which a value is described, not kept: it may hold itself."""

LONGEST_TEXT, LONGEST_KEY = 40_000, 200
"""Characters of a text and of a dict's key that are kept: no right answer has so many."""

DTYPES = frozenset({
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64,
})  # fmt: skip
"""The types of numbers that a tensor may have: records can hold them, and PyTorch computes with all of them."""


def plain(value: Any, levels: int = DEEPEST) -> Any:
    """`value` as plain data: tensors (detached, on the CPU, own memory), numbers, strings, lists, dicts.

    All of them are of PyTorch's and Python's own types. What is none of these is described:
    ``{"$other": "a function"}``. A NumPy array is such a thing, too, but its numbers are kept:
    ``{"$other": "a NumPy array", "$numbers": …}``.
    """
    if isinstance(value, Tensor):
        return _from_tensor(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return encodable(value[:LONGEST_TEXT])
    if isinstance(value, int):
        number = int.__int__(value)
        return number if abs(number) <= LARGEST_NUMBER else {"$other": "a whole number too large to compare"}
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(value)
    if not levels and isinstance(value, (Mapping, list, tuple, nn.Module)):
        return {"$other": f"{kind_of(value)}, nested too deeply to look at"}
    if isinstance(value, (list, tuple)):
        return [plain(item, levels - 1) for item in value]
    if isinstance(value, Mapping):
        return {encodable(str(key)[:LONGEST_KEY]): plain(item, levels - 1) for key, item in value.items()}
    if isinstance(value, nn.Module):
        return {encodable(name): plain(parameter) for name, parameter in value.state_dict().items()}
    return {"$other": kind_of(value)}


def _from_tensor(value: Tensor) -> Any:
    """A dense copy; of one that is too large or of unusual numbers what it is, and the numbers if they are real."""
    if value.numel() > LARGEST_TENSOR:
        return {"$other": f"a tensor of shape {tuple(value.shape)}, too large to look at"}
    if value.is_meta:
        return {"$other": "a tensor without data, on the meta device"}
    dense = value.detach().to_dense() if value.layout != torch.strided else value.detach()
    if dense.dtype in DTYPES:
        return torch.empty(dense.shape, dtype=dense.dtype).copy_(dense)
    described: dict[str, Any] = {"$other": f"a tensor of type {str(dense.dtype).removeprefix('torch.')}"}
    if not dense.is_complex() and not dense.is_quantized:
        described["$numbers"] = torch.empty(dense.shape, dtype=torch.float64).copy_(dense)
    return described


def _from_numpy(value: np.ndarray | np.generic) -> Any:
    """A number as Python's; of an array what it is, and its entries if they are numbers and not too many."""
    if not value.ndim:
        item = value.astype(np.float64) if value.dtype.kind == "f" else value
        return plain(item.item()) if value.dtype.kind in "iufbU" else {"$other": kind_of(value)}
    described: dict[str, Any] = {"$other": "a NumPy array"}
    if value.dtype.kind in "iufb" and value.size <= LARGEST_TENSOR:
        described["$numbers"] = torch.tensor(value.astype(np.float64).tolist(), dtype=torch.float64)
    return described


_UNCHANGEABLE = {int, float, bool, str, type(None), torch.Size, torch.dtype}


def fresh(value: Any) -> Any:
    """A copy that a run may spoil: tensors, generators, modules and containers of them."""
    if type(value) in _UNCHANGEABLE:
        return value
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, torch.Generator):
        return torch.Generator().set_state(value.get_state())
    if isinstance(value, Mapping):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(fresh(item) for item in value)
    return _fresh_module(value, {}) if isinstance(value, nn.Module) else deepcopy(value)


def _fresh_module(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    """What `deepcopy` makes of a module, in a quarter of the time: most of the dozen dicts of a module are empty."""
    if hasattr(module, "__deepcopy__") or type(module).__setstate__ is not nn.Module.__setstate__:
        return deepcopy(module, memo)
    if id(module) not in memo:
        memo[id(module)] = twin = object.__new__(type(module))
        for name, value in vars(module).items():
            if name == "_modules":
                copied: Any = {
                    key: child if child is None else _fresh_module(child, memo) for key, child in value.items()
                }
            else:
                copied = deepcopy(value, memo) if not isinstance(value, dict) or value else type(value)()
            twin.__dict__[name] = copied
    known: nn.Module = memo[id(module)]
    return known


def same(left: Any, right: Any) -> bool:
    """Exactly equal plain data; NaN equals NaN."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return left.dtype == right.dtype and left.shape == right.shape and _equal(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and (left == right or (left != left and right != right))


def _equal(left: Tensor, right: Tensor) -> bool:
    if torch.equal(left, right):
        return True
    return torch.equal(left.nan_to_num(nan=1.5e30), right.nan_to_num(nan=1.5e30)) and torch.equal(
        left.isnan(), right.isnan()
    )


def alike(left: Any, right: Any) -> bool:
    """Equal plain data, but for rounding: some of torch's routines differ in the last bit from run to run."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        if left.dtype != right.dtype or left.shape != right.shape or _equal(left, right):
            return left.dtype == right.dtype and left.shape == right.shape
        return left.is_floating_point() and _differ_by_rounding(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return same(left, right) or math.isclose(left, right, rel_tol=ROUNDING)
    return same(left, right)


def _differ_by_rounding(left: Tensor, right: Tensor) -> bool:
    """Whether tensors differ in the last bits of the largest finite number only; ∞ and NaN are no rounding."""
    largest = right.abs().max()
    if largest.isfinite():  # as nearly all are
        return bool(((left - right).abs() <= ROUNDING * largest).all())
    apart = (left - right)[(left != right) & ~(left.isnan() & right.isnan())].abs().max()
    finite = right[right.isfinite()]
    return bool(len(finite)) and bool(apart <= ROUNDING * finite.abs().max())


def in_types_of(expected: Any, value: Any) -> Any:
    """The same data, its floating-point tensors in the number types of those that are expected in their places."""
    if is_float(value) and is_float(expected):
        return value.to(expected.dtype)
    if isinstance(value, dict) and isinstance(expected, dict):
        return {key: in_types_of(expected.get(key), item) for key, item in value.items()}
    if isinstance(value, list) and isinstance(expected, list) and len(value) == len(expected):
        return [in_types_of(*pair) for pair in zip(expected, value, strict=True)]
    return value


def is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def kind_of(value: Any) -> str:
    if isinstance(value, type):
        return "a class"
    if callable(value) and not isinstance(value, nn.Module):
        return "a function"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
