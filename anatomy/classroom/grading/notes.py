"""What grading notes of cells and notebooks, in their metadata: each step leaves it to the next, the last to reports.

On disk a note is a few words of JSON, beside the cell that it is about. What is read there may be of an earlier version
or damaged: what does not fit counts as not noted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

NOTE = "anatomy"
"""The key of a note in the metadata of a cell or notebook, and of the notebook's note in the resources of the steps."""
EDITION = "anatomy student edition"
"""The key in the resources of the steps under which a worker has the student edition."""
INTERRUPTED = ("CellTimeoutError", "KeyboardInterrupt")
"""The errors in a cell's output that say that it was stopped at the time limit."""
_SEEDS = "anatomy_seeds"


class CaseNumbers(NamedTuple):
    """One case: what came back, in words, the largest number in it, and a weighted sum of all."""

    words: str
    largest: float
    mixture: float


FewNumbers = Sequence[CaseNumbers]
"""What an answer did, case by case; `anatomy.classroom.grading.few_numbers` says how it is made."""


@dataclass(frozen=True)
class CellNote:
    """What is known of one cell.

    Attributes
    ----------
    given
        Whether it is code that is as it was handed out.
    left_out
        Why it was not run, when it or what it left behind had ended the kernel.
    unreached
        Why its check was never reached.
    exercise, status, points, said, broken, mistakes
        The verdict on the exercise that it checks: `said` is the verdict in one line, `broken` has the properties that
        do not hold, `mistakes` each one's sentence.
    numbers
        What a wrong answer that no mistake explains gave.
    reason
        Why there is no verdict, when the status is ``"ungraded"``.
    """

    given: bool = False
    left_out: str = ""
    unreached: str = ""
    exercise: str = ""
    status: str = ""
    points: float | None = None
    said: str = ""
    broken: tuple[str, ...] = ()
    mistakes: Mapping[str, str] = field(default_factory=dict)
    numbers: FewNumbers = ()
    reason: str = ""

    @classmethod
    def read(cls, cell: Mapping[str, Any]) -> CellNote:
        """The note on a cell; one that says nothing when there is none."""
        noted = _noted(cell)
        points = noted.get("points")
        return cls(
            given=noted.get("given") is True,
            left_out=_text(noted.get("left out")),
            unreached=_text(noted.get("unreached")),
            exercise=_text(noted.get("exercise")),
            status=_text(noted.get("status")),
            points=points if _is_number(points) else None,
            said=_text(noted.get("said")),
            broken=_texts(noted.get("broken")),
            mistakes={name: _text(said) for name, said in _dict(noted.get("mistakes")).items()},
            numbers=_numbers(noted.get("numbers")),
            reason=_text(noted.get("reason")),
        )

    def write(self, cell: Mapping[str, Any]) -> None:
        """Note it, in place of what was noted before: what there is to say, as JSON has it."""
        nothing = vars(CellNote())
        said = {name.replace("_", " "): value for name, value in vars(self).items() if value != nothing[name]}
        cell["metadata"][NOTE] = json.loads(json.dumps(said))


@dataclass(frozen=True)
class NotebookNote:
    """What is known of a whole notebook.

    Attributes
    ----------
    made_from
        A hash of all that its marks are made from; "" when `anatomy grade` has not graded it.
    repairs
        What was wrong with it, its file and its folder, and was repaired: one sentence each.
    seeds
        Those of the inputs that its answers were observed with.
    graded
        When it was judged: ISO 8601 in UTC, to the minute; "" when it was not.
    """

    made_from: str = ""
    repairs: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    graded: str = ""

    @classmethod
    def read(cls, book: Mapping[str, Any]) -> NotebookNote:
        """The note on a notebook; one that says nothing when there is none."""
        noted, seeds = _noted(book), book["metadata"].get(_SEEDS)
        return cls(
            _text(noted.get("from")),
            _texts(noted.get("notes")),
            tuple(seed for seed in seeds if type(seed) is int) if isinstance(seeds, list | tuple) else (),
            _text(noted.get("graded")),
        )

    def write(self, book: Mapping[str, Any]) -> None:
        """Note it, in place of what was noted before."""
        book["metadata"][NOTE] = {"from": self.made_from, "notes": list(self.repairs), "graded": self.graded}
        book["metadata"][_SEEDS] = list(self.seeds)


def _noted(node: Mapping[str, Any]) -> dict[str, Any]:
    return _dict(node["metadata"].get(NOTE))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(value: Any) -> FewNumbers:
    """All cases or none: the numbers of some say nothing of an answer."""
    cases = value if isinstance(value, list) else []
    fit = all(
        isinstance(case, list) and len(case) == 3 and isinstance(case[0], str) and all(map(_is_number, case[1:]))
        for case in cases
    )
    return tuple(CaseNumbers(*case) for case in cases) if fit else ()
