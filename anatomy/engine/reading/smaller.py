"""Inputs with one thing less: shorter axes, texts and numbers, rounder entries; and what must not get lost in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.reading.trials import Seen


def smaller_ones(case: Case, seen: Seen, in_full: bool) -> Iterator[Case]:
    """The case with one thing less, the largest steps first; then with rounder numbers.

    Words and numbers are made smaller, too, if what the exercise asks of them is known `in_full`.
    """
    yield from _shorter_axes(case, seen)
    if in_full:
        for name, value in case.args.items():
            yield from (replace(case, args={**case.args, name: other}) for other in _less(value))
    for rounded in (_small_whole, torch.round, _tenths, _two_digits):
        args = {name: _rounded(value, rounded) for name, value in case.args.items()}
        if any(value is not case.args[name] for name, value in args.items()):
            yield replace(case, args=args)


def _shorter_axes(case: Case, seen: Seen) -> Iterator[Case]:
    """All axes of one size shortened together: to one batch item, to two of everything else."""
    fixed = set(_numbers_of(case.init)) | {number for value in case.args.values() for number in _config_of(value)}
    if case.init:  # one of two letters of a size may belong to the module, as K = D/H does
        fixed |= {size for size, letters in Counter(case.sizes.values()).items() if letters > 1}
    place = _place(seen)
    for letter, size in case.sizes.items():
        starts = {0, *(index for index, length in place if length == size)}
        for least in (1, 2, 3) if letter == "B" else (2, 3):
            if least < size and size not in fixed and any(_has_size(value, size) for value in case.args.values()):
                sizes = {other: least if value == size else value for other, value in case.sizes.items()}
                for start, within in product(sorted(starts), (None, least)):
                    args = {name: _cut(value, size, least, start, within) for name, value in case.args.items()}
                    yield replace(case, args=args, sizes=sizes)


def _place(seen: Seen) -> list[tuple[int, int]]:
    """Where the results differ first: the index and the length of each axis."""
    found, expected = seen.difference.found, seen.difference.expected
    if not isinstance(found, Tensor) or not isinstance(expected, Tensor) or found.shape != expected.shape:
        return []
    apart = (found != expected).nonzero()
    return list(zip(apart[0].tolist(), found.shape, strict=True)) if len(apart) else []


def _has_size(value: Any, size: int) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, Tensor) and _has_size(item, size) for item in value)
    return size in value.shape if isinstance(value, Tensor) else value is not True and value == size


def _cut(value: Any, size: int, least: int, start: int, within: int | None) -> Any:
    """Of axes of this size `least` entries, and the number itself; whole numbers in a tensor stay below `within`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return least if value == size else value
    if isinstance(value, list):
        return [_cut(item, size, least, start, within) if isinstance(item, Tensor) else item for item in value]
    if not isinstance(value, Tensor):
        return value
    start = min(start, size - least)
    cut = value[tuple(slice(start, start + least) if length == size else slice(None) for length in value.shape)]
    if _is_permutation(value):
        return cut.argsort().argsort()
    if within is not None and not value.is_floating_point() and value.dtype != torch.bool and value.numel():
        return cut % within if int(value.max()) >= within else cut
    if _sums_to_one(value):
        return cut / cut.sum(dim=-1, keepdim=True)
    return cut


def _numbers_of(values: Any) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
        else:
            yield from _config_of(value)


def _config_of(value: Any) -> Iterator[int]:
    """The whole numbers that an object carries: sizes that belong to it."""
    if not isinstance(value, Tensor | str | list | tuple | dict | int | float | None):
        yield from (number for number in getattr(value, "__dict__", {}).values() if isinstance(number, int))


def _less(value: Any) -> Iterator[Any]:
    """A dict with an item less, a shorter word, a smaller number."""
    if isinstance(value, dict) and all(isinstance(key, str) and isinstance(item, int) for key, item in value.items()):
        yield from ({k: v for k, v in value.items() if k != key} for key in value)
        for key, count in value.items():
            for other in _less(key):
                if other and other not in value:
                    yield {other if k == key else k: v for k, v in value.items()}
            if count > 3:
                yield {**value, key: count // 2}
    elif isinstance(value, str):
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)) if len(value) > 1)
    elif isinstance(value, list) and len(value) > 1:
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)))
    elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
        yield from (other for other in (1, 2, value - 1) if other < value)


# ---------------------------------------------------------------------------------------------- numbers


def _rounded(value: Any, rounded: Any) -> Any:
    if isinstance(value, list):
        items = [_rounded(item, rounded) for item in value]
        return items if any(one is not other for one, other in zip(items, value, strict=True)) else value
    if not isinstance(value, Tensor) or not value.is_floating_point() or not bool(value.isfinite().all()):
        return value
    if _sums_to_one(value):
        quarters = (value * 4).floor() / 4
        largest = torch.nn.functional.one_hot(value.argmax(dim=-1), value.size(-1))
        new = quarters + largest * (1 - quarters.sum(dim=-1, keepdim=True))
    else:
        new = rounded(value)
    flat = len(new.unique()) == 1 < len(value.unique())  # nothing to see in it
    return value if flat or torch.equal(new, value) else new


def _small_whole(value: Tensor) -> Tensor:
    return value.round().clamp(-2, 3)


def _tenths(value: Tensor) -> Tensor:
    return (value * 10).round() / 10


def _two_digits(value: Tensor) -> Tensor:
    return torch.tensor([float(f"{number:.2g}") for number in value.flatten().tolist()]).to(value).view(value.shape)


def still_holds(new: Any, old: Any) -> bool:
    """Whether what holds of an input still holds: its signs, that rows sum to 1, that a mask leaves something."""
    if isinstance(new, list) and isinstance(old, list):
        return all(map(still_holds, new, old))
    if not isinstance(new, Tensor) or not new.numel():
        return not isinstance(new, Tensor)
    if (_is_permutation(old) and not _is_permutation(new)) or (_has_all(old) and not _has_all(new)):
        return False
    if _sums_to_one(old):
        return _sums_to_one(new)
    if bool((old > 0).all()):
        return bool((new > 0).all())
    if bool((old >= 0).all()):
        return bool((new >= 0).all()) and _fills_all_rows(new) >= _fills_all_rows(old)
    return True


def _fills_all_rows(value: Tensor) -> bool:
    return not value.dim() or bool((value != 0).any(dim=-1).all())


def _has_all(value: Tensor) -> bool:
    """Whether every class, from 0 to the largest, has a member; a single class is none."""
    if value.dim() != 1 or value.is_floating_point() or value.dtype == torch.bool:
        return False
    present = value.unique()
    return len(present) > 1 and torch.equal(present, torch.arange(len(present)))


def _is_permutation(value: Any) -> bool:
    """Whether a tensor holds 0 … n − 1 once each."""
    if not isinstance(value, Tensor) or value.dim() != 1 or value.is_floating_point() or value.dtype == torch.bool:
        return False
    return torch.equal(value.sort().values, torch.arange(len(value)))


def _sums_to_one(value: Tensor) -> bool:
    """Whether rows are shares of a whole."""
    if not value.is_floating_point() or not value.dim():
        return False
    return bool((value >= 0).all()) and bool(((value.sum(dim=-1) - 1).abs() < 1e-4).all())
