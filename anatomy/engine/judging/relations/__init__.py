"""The generic search for a relation between a found and an expected tensor. It knows nothing of the exercise.

`relate` goes through simple explanations, from the most to the least specific: a constant factor, an axis permuted,
reversed or shifted, sums along the wrong axis, a missing term … It returns the first one that explains *every* entry in
*every* case that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from torch import Tensor

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging import trail
from anatomy.engine.judging.explanation import Explanation
from anatomy.engine.judging.relations import numbers, places
from anatomy.engine.judging.relations.comparison import Comparison, alike

Finder = Callable[[Comparison], Iterator[Explanation]]

_SAME_SHAPE: tuple[Finder, ...] = (
    numbers.not_finite,
    numbers.finite_for_infinite,
    numbers.one_number,
    numbers.handed_back,
    numbers.factor,
    places.transposed,
    places.moved,
    places.repeated,
    numbers.added,
    numbers.complement,
    numbers.transformed,
    numbers.sums_elsewhere,
    numbers.coarse,
    places.partly_wrong,
    places.triangle,
    numbers.sums_nowhere,
    numbers.axis_factor,
    numbers.signs,
    places.reordered,
)
_OTHER_SHAPE: tuple[Finder, ...] = (
    numbers.handed_back,
    places.transposed,
    places.reshaped,
    places.extra_axis,
    places.reduced,
)

_BY_CHANCE: tuple[Finder, ...] = (numbers.factor, places.partly_wrong, numbers.axis_factor)
"""What a single result may be by chance: these need another case that differs in the same way."""


def relate(
    found: Tensor,
    expected: Tensor,
    case: Case,
    exercise: Exercise,
    others: tuple[tuple[Case, Tensor, Tensor], ...] = (),
    alone: bool = False,
) -> Explanation | None:
    """The first explanation that holds for all of `found` and in all `others`: the further cases that differ.

    `alone`: no other case differs, though others were tried.
    """
    if found.is_complex():
        return Explanation("Your values are complex numbers.", "Real ones are needed.")
    least = 1 if found.numel() == 1 else 2  # anything explains a single number: beside more it says little
    further = tuple(
        _comparison(*other, exercise) for other in others if other[1].numel() >= least and not other[1].is_complex()
    )
    this = replace(_comparison(case, found, expected, exercise), others=further, main=True)
    finders = _SAME_SHAPE if found.shape == expected.shape else _OTHER_SHAPE
    if alone:
        finders = tuple(finder for finder in finders if finder not in _BY_CHANCE)
    if alike(this.found, this.expected):  # nearly right: a symmetry of the right answer would "explain" it
        finders = (numbers.coarse,)
    for finder in finders:
        for said in finder(this):
            against = next((one for one in further if said.claims not in {it.claims for it in finder(one)}), None)
            if against is None:
                return said
            trail.note(f"“{said.headline}”", f"is not so in {trail.in_words(against.case)}")
    return None


def _comparison(case: Case, found: Tensor, expected: Tensor, exercise: Exercise) -> Comparison:
    axes = tuple(exercise.axis(letter) for letter in (case.returns or exercise.returns).split())
    return Comparison(found.double(), expected.double(), case, axes if len(axes) == expected.dim() else ())
