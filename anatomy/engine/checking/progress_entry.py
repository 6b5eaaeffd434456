"""What is noted of one exercise, and how that stands in the file: as JSON, which may be old, newer or damaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_LARGEST = 1e9
"""Nobody has so many points, attempts or seconds: such a number is damaged."""


@dataclass(frozen=True)
class Entry:
    """What is noted of one exercise. Files of the first version have status and points only.

    Attributes
    ----------
    status, points, max_points
        Of its latest check; "" and 0 before the first.
    first_right
        The day on which it was right for the first time, ``"2026-03-14"``, or "".
    attempts
        How many checks found an answer that was not the one before. A check run again is none.
    seconds
        Worked on it (`anatomy.engine.checking.progress_file.Clock`).
    mistakes, said
        The names of the mistakes that checks have recognized, the latest last; and how the latest was said.
    hunted
        The bugs that were asked about: name → whether line and sentence were right.
    answer
        A fingerprint of the answer that was checked last.
    read_from
        What stood in the file. All that is not changed stays there as it is, known or not.
    """

    status: str = ""
    points: int = 0
    max_points: int = 0
    first_right: str = ""
    attempts: int = 0
    seconds: float = 0
    mistakes: tuple[str, ...] = ()
    said: str = ""
    hunted: Mapping[str, bool] = field(default_factory=dict)
    answer: str = ""
    read_from: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_solved(self) -> bool:
        """Whether the exercise has been right at some time."""
        return self.status == "right" or bool(self.first_right)

    @classmethod
    def from_json(cls, noted: Mapping[str, Any]) -> Entry:
        """An entry of the file; what does not fit counts as not noted."""
        mistakes, hunted = noted.get("mistakes"), noted.get("hunted")
        return cls(
            status=_text(noted.get("status")),
            points=int(_amount(noted.get("points"))),
            max_points=int(_amount(noted.get("max_points"))),
            first_right=_text(noted.get("first_right")),
            attempts=int(_amount(noted.get("attempts"))),
            seconds=_amount(noted.get("seconds")),
            mistakes=tuple(name for name in mistakes if isinstance(name, str)) if isinstance(mistakes, list) else (),
            said=_text(noted.get("said")),
            hunted={bug: found is True for bug, found in hunted.items()} if isinstance(hunted, dict) else {},
            answer=_text(noted.get("answer")),
            read_from=noted,
        )

    def as_json(self) -> dict[str, Any]:
        """The entry for the file."""
        before = vars(Entry.from_json(self.read_from))
        changed = {name: value for name, value in vars(self).items() if value != before[name]}
        return {**self.read_from, **changed}


def _amount(value: Any) -> Any:
    return value if type(value) in (int, float) and 0 < value < _LARGEST else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
