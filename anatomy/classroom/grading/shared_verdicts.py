"""What was found of an answer's record, by one worker of a run and read by the others: the same for the same bits.

It lies in the folder of `anatomy.classroom.grading.shared_observations`, in which trusted processes alone write and
read, as JSON: a verdict, or whether the answer is right.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anatomy.engine.judging.verdict import Diagnosis, Example, MatrixPair, PropertyResult, Verdict


@dataclass(frozen=True)
class SharedVerdicts:
    """Findings by name, in a folder. What can't be read or written is as if it were not there."""

    folder: Path

    def get(self, name: str) -> Verdict | bool | None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(self._file(name).read_bytes())
            return found if isinstance(found, bool) else _verdict(found)
        return None

    def put(self, name: str, found: Verdict | bool) -> None:
        with contextlib.suppress(OSError, TypeError, ValueError):
            fresh = self._file(name).with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps(found if isinstance(found, bool) else asdict(found)))
            fresh.replace(self._file(name))

    def _file(self, name: str) -> Path:
        return self.folder / hashlib.sha256(f"found {name}".encode()).hexdigest()


def _verdict(said: dict[str, Any]) -> Verdict:
    """The verdict that `asdict` made this of."""
    parts: dict[str, Callable[[Any], Any]] = {
        "results": lambda some: tuple(PropertyResult(**one) for one in some),
        "diagnoses": lambda some: tuple(Diagnosis(**one) for one in some),
        "picture": lambda one: one and MatrixPair(**one),
        "example": lambda one: one and Example(**one),
    }
    return Verdict(**{name: parts[name](value) if name in parts else value for name, value in dict(said).items()})
