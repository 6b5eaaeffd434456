"""Lists of noted values: what forms they have, whether they are the same, which numbers they hold."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.observing.plain_data import alike, tensors
from anatomy.engine.reading.recording import Noted, Notes


def fingerprint(values: dict[int, list[Noted]]) -> Hashable:
    """The same for the same values, to the last bit, in each case."""
    return tuple((case, tuple(_bits(one.plain) for one in some)) for case, some in values.items())


def distinct(values: list[Noted]) -> set[Hashable]:
    """Each value once, whatever its order in memory."""
    return {_bits(one.plain) for one in values}


def _bits(value: Any) -> Hashable:
    if isinstance(value, Tensor):
        return value.shape, value.dtype, value.numpy(force=True).tobytes()
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_bits, value))
    return type(value), repr(value)


def is_number(values: list[Noted]) -> bool:
    return all(isinstance(one.plain, int | float) for one in values)


def are_of_numbers(form: tuple[Any, ...]) -> bool:
    """Whether values of these forms are single numbers each, or nothing."""
    return all(one in (int, float, bool, type(None), ()) for one in form)


def gives(here: list[Noted], there: list[Noted]) -> bool:
    return forms(here) == forms(there) and all_alike(here, there)


def all_alike(here: list[Noted], there: list[Noted]) -> bool:
    """Whether values of the same forms are the same."""
    return all(alike(one.plain, other.plain) for one, other in zip(here, there, strict=True))


def are_uniform(values: list[Noted]) -> bool:
    """Whether each of these tensors and lists holds one number everywhere, as ``torch.zeros`` makes it."""
    return all(len(set(one.plain.flatten().tolist() if isinstance(one.plain, Tensor) else map(repr, one.plain))) <= 1
               for one in values if isinstance(one.plain, Tensor | list))  # fmt: skip


def singles(values: list[Noted]) -> list[Noted]:
    return [one._replace(plain=_in_full(one.plain)) for one in values]


def _in_full(value: Any) -> Any:
    """A value with its numbers alone: those of one in a tensor, too."""
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def forms(values: list[Noted]) -> tuple[Any, ...]:
    return tuple(one.form for one in values)


def holding_all_numbers(returned: list[int], notes: Notes) -> set[int]:
    """The expressions that give, in one piece or in several, the very numbers that are returned, in any order."""
    results = [_in_order(parts) for one in returned if one in notes and (parts := _parts(notes[one]))]
    sizes, found = {len(result) for result in results}, {one: _parts(values) for one, values in notes.items()}
    as_many = {one: parts for one, parts in found.items() if parts and sum(part.numel() for part in parts) in sizes}
    return {one for one, parts in as_many.items() if any(alike(_in_order(parts), result) for result in results)}


def _parts(values: list[Noted]) -> list[Tensor]:
    """Some tensors, also those in lists, where all hold real numbers; else none."""
    parts = [part for one in values if isinstance(one.plain, Tensor | list) for part in tensors(one.plain)]
    return parts if all(part.is_floating_point() for part in parts) else []


def _in_order(parts: list[Tensor]) -> Tensor:
    return torch.cat([part.flatten().double() for part in parts]).sort().values


def has_other_axes(form: tuple[Any, ...], mine: tuple[Any, ...]) -> bool:
    """Whether tensors have more axes than those of the student's, or the same sizes in another order.

    Fewer may well be what is needed, where a sum is missing.
    """
    pairs = zip(form, mine, strict=False)
    shapes = [(one, other) for one, other in pairs if isinstance(one, tuple) and isinstance(other, tuple)]
    return any(len(one) > len(other) or (one != other and sorted(one) == sorted(other)) for one, other in shapes)


def of_form(notes: Notes) -> dict[tuple[Any, ...], list[int]]:
    """The expressions whose values have these forms."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for number, values in notes.items():
        found.setdefault(forms(values), []).append(number)
    return found


def is_one(values: list[Noted]) -> bool:
    return all(alike(one.plain, values[0].plain) for one in values)
