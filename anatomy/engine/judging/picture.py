"""Which matrix a card draws, as expected and as found."""

from __future__ import annotations

from torch import Tensor

from anatomy.engine.exercise import Case
from anatomy.engine.judging.compare import Difference, Kind
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.relations.comparison import axis_of_dim
from anatomy.engine.judging.relations.places import wrong_entries
from anatomy.engine.judging.values import at
from anatomy.engine.judging.verdict import MatrixPair
from anatomy.engine.judging.wording import brief

LARGEST = 16
"""The most rows and columns of a matrix that is drawn."""


def picture_of(expectations: Expectations, differences: list[Difference]) -> MatrixPair | None:
    """The first differing matrix that is small enough to draw.

    Its rows are the last axis but one, its columns the last; if the case has an argument `dim`, its columns are `dim`.
    """
    for difference in differences:
        found, expected = difference.found, difference.expected
        if difference.kind != Kind.VALUES or difference.property in ("gradients", "train mode"):
            continue
        if not isinstance(found, Tensor) or expected.dim() < 2 or found.shape != expected.shape or found.is_complex():
            continue
        case, axes = expectations.cases[difference.case], list(range(expected.dim()))
        if expectations.exercise.act and len(_letters(expectations, case)) != expected.dim():
            continue  # something else that the act looked at: a card has no words for it
        if (along := axis_of_dim(case, expected.dim())) is not None:
            axes.append(axes.pop(along))
        found, expected = found.permute(axes), expected.permute(axes)
        if max(expected.shape[-2:]) > LARGEST:
            continue
        wrong = wrong_entries(found, expected)
        lead = tuple(wrong.nonzero()[0].tolist()[:-2]) if wrong.any() else (0,) * (expected.dim() - 2)
        names = [_named(expectations, case, axis, axis == along) for axis in axes]
        label = ", ".join(f"{name} {'at ' if name[-1:].isdigit() else ''}{index}"
                          for name, index in zip(names, lead, strict=False))  # fmt: skip
        part = ", ".join(filter(None, (at(difference.where), label)))
        return MatrixPair(
            expected[lead].double().tolist(), found[lead].double().tolist(), part, names[-2], names[-1], _inputs(case)
        )
    return None


def _named(expectations: Expectations, case: Case, axis: int, is_dim: bool) -> str:
    letters = _letters(expectations, case)
    if axis < len(letters):
        return expectations.exercise.axis(letters[axis])
    return f"axis {axis}, which is dim" if is_dim else f"axis {axis}"


def _letters(expectations: Expectations, case: Case) -> list[str]:
    return (case.returns or expectations.exercise.returns).split()


def _inputs(case: Case) -> str:
    """The shapes of a case's tensors, and its numbers and strings."""
    tensors = [f"{name} {tuple(value.shape)}" for name, value in case.args.items() if isinstance(value, Tensor)]
    others = [f"{name} = {brief(value)}" for name, value in case.args.items() if isinstance(value, int | float | str)]
    return ", ".join((*tensors, *others))
