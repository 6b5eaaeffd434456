"""What checks and hunts have found on this machine: one small JSON file, exercise → what is noted of it.

Two notebooks may write at once. A file that can't be read is put aside, not lost. Nothing here ever disturbs a check.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from anatomy.engine.checking.home import home
from anatomy.engine.checking.progress_entry import Entry

if TYPE_CHECKING:  # a kernel that grades can't import it
    from anatomy.engine.checking.remote import RemoteVerdict
    from anatomy.engine.judging.verdict import Verdict

LOCK_TIMEOUT = 5
"""Seconds to wait for another notebook that is writing."""


def progress_file() -> Path:
    """Where progress is kept."""
    return home() / "progress.json"


def read_progress() -> dict[str, Entry]:
    """Exercise → what is noted of it, the latest last. What can't be read counts as not noted."""
    return {exercise: Entry.from_json(noted) for exercise, noted in _read(progress_file())[0].items()}


def note_check(verdict: Verdict | RemoteVerdict, answer: Any = None) -> None:
    """Remember a verdict. Where the answer is not at hand, only another verdict tells that it has changed.

    An empty answer cell, perhaps in another copy of the notebook, takes nothing back.
    """

    told = fingerprint(answer)

    def note(entry: Entry) -> Entry:
        if verdict.status == "not attempted" and entry.status:
            return entry
        now = verdict.status, verdict.points, verdict.max_points
        is_changed = bool(told and entry.answer and told != entry.answer)
        is_other = is_changed or now != (entry.status, entry.points, entry.max_points)
        if verdict.status != "not attempted":
            seconds = round(entry.seconds + clock.take(), 3)
            entry = replace(entry, attempts=entry.attempts + is_other, seconds=seconds)
        if verdict.status == "right" and not entry.is_solved:
            entry = replace(entry, first_right=date.today().isoformat())
        for diagnosis in verdict.diagnoses:
            if name := diagnosis.mistake:
                others = (other for other in entry.mistakes if other != name)
                entry = replace(entry, mistakes=(*others, name), said=diagnosis.headline)
        status, points, max_points = now
        return replace(entry, status=status, points=points, max_points=max_points, answer=told or entry.answer)

    _change(verdict.exercise, note)


def note_hunt(exercise: str, bug: str, found: bool) -> None:
    """Remember whether a bug was found; once found, it stays so."""

    def note(entry: Entry) -> Entry:
        return replace(entry, hunted={**entry.hunted, bug: found or entry.hunted.get(bug, False)})

    _change(exercise, note)


# ---------------------------------------------------------------------------------------------- the file


def _change(exercise: str, change: Callable[[Entry], Entry]) -> None:
    """Read, change and write the file while nobody else does. A disk that can't be written disturbs nobody."""
    path = progress_file()
    with contextlib.suppress(OSError, NotImplementedError), _alone(path):
        noted, is_whole = _read(path)
        if not is_whole:
            _put_aside(path)
        noted[exercise] = change(Entry.from_json(noted.pop(exercise, {}))).as_json()  # the latest last
        fresh = path.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps(noted, indent=1, ensure_ascii=False), encoding="utf-8")
        fresh.replace(path)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_TIMEOUT):
        yield


def _read(path: Path) -> tuple[dict[str, dict[str, Any]], bool]:
    """Exercise → what stands there of it, and whether that is all there is."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, True
    except (OSError, ValueError, RecursionError):
        return {}, False
    if not isinstance(content, dict):
        return {}, False
    noted = {name: entry for name, entry in content.items() if isinstance(entry, dict)}
    return noted, len(noted) == len(content)


def _put_aside(path: Path) -> None:
    """A copy of the damaged file, under the first name that is free."""
    number = 1
    while (copy := path.with_name(f"progress.damaged-{number}.json")).exists():
        number += 1
    shutil.copyfile(path, copy)


# ---------------------------------------------------------------------------------------------- work


class Clock:
    """Time worked in this notebook since it was last taken: between cells less than ten minutes apart.

    Reading and thinking between two runs counts as work, and so does a cell that takes long; a break does not.
    """

    BREAK = 600

    def __init__(self) -> None:
        self._last: float | None = None
        self._seconds = 0.0

    def tick(self) -> None:
        """A cell begins or ends."""
        now = time.monotonic()
        if self._last is not None and now - self._last < self.BREAK:
            self._seconds += now - self._last
        self._last = now

    def take(self) -> float:
        """The seconds until now."""
        self.tick()
        seconds, self._seconds = self._seconds, 0.0
        return seconds


clock = Clock()
"""This kernel's."""


def fingerprint(answer: Any) -> str:
    """A short hash of what a function, a class or a quiz's dict does; empty for what can't be read so.

    Comments, blank lines and the place in the notebook don't count.
    """
    with contextlib.suppress(Exception):  # it is a student's object
        if code := _code(answer):
            return hashlib.sha256(repr(code).encode()).hexdigest()[:16]
    return ""


def _code(value: Any) -> Any:
    """What an object does, as something whose `repr` is the same in every process."""
    if isinstance(value, CodeType):
        return value.co_name, value.co_code, value.co_names, value.co_varnames, _code(value.co_consts)
    if isinstance(value, FunctionType):
        inner = inspect.unwrap(value)
        return _code(inner.__code__), _code(inner.__defaults__)
    if isinstance(value, type):
        return value.__name__, [_code(own) for own in vars(value).values() if isinstance(own, FunctionType)]
    if isinstance(value, tuple):
        return [_code(item) for item in value]
    if isinstance(value, dict | frozenset):
        return sorted(repr(_code(item)) for item in (value.items() if isinstance(value, dict) else value))
    return repr(value) if isinstance(value, str | bytes | int | float | complex) else None
