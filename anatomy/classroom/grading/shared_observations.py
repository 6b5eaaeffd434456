"""What mistakes do, found out by one worker of a run and read by the others.

A folder of the run's own, in which trusted processes alone write and read: no sandbox shows it, and without a sandbox
there is none. Each file is a record as kernels send them, JSON and safetensors.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from anatomy.engine.observing.observation import CaseObservation, Observation
from anatomy.engine.observing.records import Unreadable, decode, encode


@dataclass(frozen=True)
class SharedObservations:
    """Raw observations by name, in a folder. What can't be read or written is as if it were not there."""

    folder: Path

    def get(self, name: str) -> CaseObservation | None:
        with contextlib.suppress(OSError, ValueError, Unreadable):
            return decode(json.loads(self._file(name).read_bytes())).cases[0]
        return None

    def put(self, name: str, seen: CaseObservation) -> None:
        with contextlib.suppress(OSError, TypeError, ValueError):
            fresh = self._file(name).with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps(encode(Observation("", [seen]))))
            fresh.replace(self._file(name))

    def _file(self, name: str) -> Path:
        return self.folder / hashlib.sha256(name.encode()).hexdigest()
