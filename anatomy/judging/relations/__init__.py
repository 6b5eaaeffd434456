"""The generic search: what relates a tensor that was found to the one expected, knowing nothing of the exercise.

`relate` tries simple explanations from the most to the least specific (a constant factor, an axis permuted, reversed
or shifted, sums along the wrong axis, a missing term …) and returns the first that explains *every* entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from anatomy.exercises.spec import Case, Exercise
from anatomy.judging.relations import places, values
from anatomy.judging.relations.comparison import Comparison, Relation, alike

Finder = Callable[[Comparison], Relation | None]

_SAME_SHAPE: tuple[Finder, ...] = (
    values.not_finite,
    values.nothing_done,
    values.factor,
    places.transposed,
    places.moved,
    places.repeated,
    values.added,
    values.transformed,
    values.sums_elsewhere,
    values.coarse,
    places.partly_wrong,
    values.sums_nowhere,
    values.axis_factor,
    places.reordered,
    places.partly_right,
)
_OTHER_SHAPE: tuple[Finder, ...] = (places.transposed, places.reshaped, places.extra_axis, places.reduced)


def relate(
    found: Tensor,
    expected: Tensor,
    case: Case,
    exercise: Exercise,
    others: tuple[tuple[Case, Tensor, Tensor], ...] = (),
) -> Relation | None:
    """The first relation that explains all of `found`, or None. `others`: further cases that differ."""
    if found.is_complex():
        return Relation("Your values are complex numbers.", "Real ones are wanted.")
    letters = case.returns or exercise.returns
    axes = tuple(exercise.axis(letter) for letter in letters.split())
    others = tuple((where, left.double(), right.double()) for where, left, right in others if not left.is_complex())
    comparison = Comparison(
        found.double(), expected.double(), case, axes if len(axes) == expected.dim() else (), others
    )
    finders = _SAME_SHAPE if found.shape == expected.shape else _OTHER_SHAPE
    if alike(
        comparison.found, comparison.expected
    ):  # so nearly right that every symmetry of the right answer would "explain" it
        finders = (values.coarse,)
    return next((relation for finder in finders if (relation := finder(comparison))), None)


def relate_lists(found: list[Any], expected: list[Any]) -> Relation:
    """What relates two lists of plain items."""
    shared = next((i for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b), None)
    if shared is None and len(found) < len(expected):
        return Relation(f"Your list stops too early: {len(found)} items, expected {len(expected)}.",
                        f"What is there is right; next would come {expected[len(found)]!r}.")  # fmt: skip
    if shared is None:
        return Relation(f"Your list goes on too long: {len(found)} items, expected {len(expected)}.",
                        f"The first {len(expected)} are right; then you add {found[len(expected)]!r}.")  # fmt: skip
    if found == expected[::-1]:
        return Relation("Your list is in reverse order.", "The items themselves are right.")
    if sorted(map(repr, found)) == sorted(map(repr, expected)):
        return Relation("The right items, in another order.",
                        f"The first in the wrong place is item {shared}: {found[shared]!r}.")  # fmt: skip
    return Relation(f"Item {shared} differs: yours is {found[shared]!r}, expected {expected[shared]!r}.",
                    f"The {shared} before it are right." if shared else "It is the very first one.")  # fmt: skip
