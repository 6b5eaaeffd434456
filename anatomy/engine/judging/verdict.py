"""The result of a check, as plain data: points of each property, diagnoses, a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class PropertyResult:
    """One property: its points, whether it holds, and a few words on what is wrong."""

    property: str
    points: int
    passed: bool
    detail: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, in one sentence, and the numbers behind it.

    `mistake` is the name of a recognized mistake. `is_example` tells that it only shows one place that differs.
    `condition` says in which cases it happens.
    """

    headline: str
    detail: str = ""
    mistake: str = ""
    is_example: bool = False
    condition: str = ""


def without_conditions(diagnoses: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """The same diagnoses for a card that names the cause: beside it, where it happens says little and may mislead."""
    return tuple(replace(one, condition="") for one in diagnoses)


@dataclass(frozen=True)
class MatrixPair:
    """A matrix as expected and as found. Both are drawn on one color scale.

    `label` says which part of the result it is, `rows` and `columns` name its axes, `inputs` says what was called with.
    """

    expected: list[list[float]]
    found: list[list[float]]
    label: str
    rows: str
    columns: str
    inputs: str = ""


@dataclass(frozen=True)
class Example:
    """The smallest input on which an answer breaks its contract: the call and both results, as texts.

    `there` says what the place that the card points at gives in this example, and what is needed.
    """

    call: str
    expected: str
    found: str
    there: str = ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check. `status` is ``"right"``, ``"wrong"`` or ``"not attempted"``.

    `printed` is what the answer printed in the first case. `is_of_earlier` tells that the answer's cell has stopped
    since: an earlier version was judged.
    """

    exercise: str
    status: str
    results: tuple[PropertyResult, ...]
    diagnoses: tuple[Diagnosis, ...] = ()
    picture: MatrixPair | None = None
    when_right: str = ""
    example: Example | None = None
    printed: str = ""
    is_of_earlier: bool = False

    @property
    def said(self) -> tuple[Diagnosis, ...]:
        """The diagnoses for a card: beside the smallest example it needs no other one, and no sentence twice."""
        known = tuple(one for one in self.diagnoses if not (self.example and one.is_example)) or self.diagnoses
        told: set[str] = set()
        return tuple(replace(one, detail=_untold(one, told)) for one in known)

    @property
    def points(self) -> int:
        return sum(result.points for result in self.results if result.passed)

    @property
    def max_points(self) -> int:
        return sum(result.points for result in self.results)

    @property
    def mistakes(self) -> list[str]:
        """The names of the recognized mistakes."""
        return [diagnosis.mistake for diagnosis in self.diagnoses if diagnosis.mistake]

    def as_dict(self) -> dict[str, Any]:
        """The verdict as data that JSON can hold."""
        return {**asdict(self), "points": self.points, "max_points": self.max_points}


_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])\s+(?=[A-Z“`])")


def _untold(diagnosis: Diagnosis, told: set[str]) -> str:
    """What of a diagnosis's detail no diagnosis before it has `told`; all its sentences are told then."""
    told.add(diagnosis.headline)
    whole = f"{diagnosis.detail} {diagnosis.condition}".strip()
    fresh = [one for one in _BETWEEN_SENTENCES.split(whole) if one not in told]
    told.update(fresh)
    return " ".join(fresh)
