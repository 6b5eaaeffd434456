"""From a check's cell, as its kernel has left it, to the verdict on the answer that it checked.

In a class many answers do exactly the same: all that is right in the usual way, and what several got wrong alike. Where
every bit of an observation is that of an earlier one with the same seeds, the verdict is the earlier one, also when
another worker of the run has reached it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from nbformat import NotebookNode

from anatomy.classroom.grading.few_numbers import in_few_numbers
from anatomy.classroom.grading.notes import INTERRUPTED, CellNote, FewNumbers
from anatomy.classroom.grading.shared_observations import SharedObservations
from anatomy.classroom.grading.shared_verdicts import SharedVerdicts
from anatomy.engine.exercise import Exercise
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import is_right, judge
from anatomy.engine.judging.verdict import Diagnosis, PropertyResult, Verdict
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.records import MIME, Unreadable, decode

Found = TypeVar("Found", Verdict, bool)
_Seeds = tuple[int, ...]

MOST_FOUND = 20_000
"""Verdicts that are kept; then they are worked out anew."""

_expectations: dict[tuple[str, _Seeds], Expectations] = {}
"""What the references and mistakes do with some seeds; `anatomy grade` uses the same seeds in a whole run."""
_found: dict[tuple[str, str, _Seeds, bytes], Any] = {}
"""What was found of a record: by the question, the exercise, the seeds and a hash of the record."""
_shared: tuple[SharedObservations, SharedVerdicts] | None = None


def share_with(folder: str) -> None:
    """Share with the other workers of a run what takes long to find out: of mistakes, of answers; "" for none."""
    global _shared
    _shared = (SharedObservations(Path(folder)), SharedVerdicts(Path(folder))) if folder else None


def _expectations_of(exercise: Exercise, seeds: _Seeds) -> Expectations:
    if any(known != seeds for _, known in _expectations):
        _expectations.clear()
    key = (exercise.name, seeds)
    if key not in _expectations:
        _expectations[key] = Expectations(exercise, seeds, _shared[0] if _shared else None)
    return _expectations[key]


def forget_expectations() -> None:
    """Work out anew what references and mistakes do."""
    _expectations.clear()
    _found.clear()


def _found_once(
    find: Callable[[Exercise, Observation, _Seeds], Found], exercise: Exercise, record: Any, seeds: _Seeds
) -> Found:
    """What `find` finds of the observation in a record: the same for the same bits.

    Raises
    ------
    Unreadable
        When the record is none.
    """
    try:
        bits = hashlib.sha256(json.dumps(record).encode()).digest()
    except RecursionError as error:
        raise Unreadable("the record's tree can't be read") from error
    if len(_found) >= MOST_FOUND or any(known != seeds for *_, known, _ in itertools.islice(_found, 1)):
        _found.clear()
    key = (find.__name__, exercise.name, seeds, bits)
    if key not in _found:
        name, kept = repr(key), _shared[1] if _shared else None
        known = kept.get(name) if kept else None
        if known is None:
            known = find(exercise, decode(record), seeds)
            if kept:
                kept.put(name, known)
        _found[key] = known
    found: Found = _found[key]
    return found


def is_seen_right(cell: NotebookNode, exercise: Exercise, seeds: _Seeds) -> bool:
    """Whether a check's cell holds one record, of an answer that is right, if need be with right parts."""
    records = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    if len(records) != 1 or CellNote.read(cell).left_out:
        return False
    return _found_once(_is_right, exercise, records[0], seeds)


def _is_right(exercise: Exercise, seen: Observation, seeds: _Seeds) -> bool:
    looks = [seen, replace(seen, cases=seen.with_right_parts)] if seen.with_right_parts else [seen]
    return any(is_right(exercise, look, seeds, _expectations_of) for look in looks)


def verdict_on(cell: NotebookNode, exercise: Exercise, answer: NotebookNode | None, seeds: _Seeds) -> Verdict:
    records = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    if reason := CellNote.read(cell).left_out:
        return _no_points(exercise, f"Your `{exercise.name}` {_stopped(reason)}.", _ADVICE[reason])
    if len(records) > 1:
        return _no_points(exercise, "More than one observation arrived from this check.",
                        "Only the check itself may send one; answers must not display any.")  # fmt: skip
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if not records and _interrupted(errors):
        return _no_points(exercise, f"Your `{exercise.name}` did not finish in time.", _ADVICE["interrupted"])
    if not records:
        return _no_points(exercise, "The check could not look at your answer.", _error_in(cell))
    try:
        verdict = _found_once(_judged, exercise, records[0], seeds)
    except Unreadable as error:
        return _no_points(exercise, "What the check sent can't be read.", f"{str(error)[:1].upper()}{str(error)[1:]}.")
    if verdict.status == "not attempted" and answer is not None:
        return _why_undefined(exercise, answer) or _not_written(verdict)
    return verdict


def _judged(exercise: Exercise, seen: Observation, seeds: _Seeds) -> Verdict:
    if seen.exercise != exercise.name:
        return _no_points(exercise, "The check sent an observation of another exercise.", "")
    return judge(exercise, seen, seeds, _expectations_of)


def numbers_of(cell: NotebookNode) -> FewNumbers:
    """What the check saw, in a few numbers; nothing when it can't be said: no mark depends on it."""
    records = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    with contextlib.suppress(Unreadable, RuntimeError, TypeError, ValueError, OverflowError):
        return in_few_numbers(decode(records[0])) if len(records) == 1 else ()
    return ()


def _not_written(verdict: Verdict) -> Verdict:
    """The verdict as a final mark's: no "yet", and no advice to write something and run a cell."""
    first, *others = verdict.diagnoses
    plain = replace(first, headline="Not attempted.", detail="") if first.headline == "Not attempted yet." else first
    return replace(verdict, diagnoses=(plain, *others))


def _why_undefined(exercise: Exercise, answer: NotebookNode) -> Verdict | None:
    """What stopped the cell that should have defined the answer, if something did."""
    if reason := CellNote.read(answer).left_out:
        return _no_points(exercise, f"The cell of `{exercise.name}` {_stopped(reason)}.", _ADVICE[reason])
    errors = [output for output in answer.get("outputs", ()) if output.output_type == "error"]
    if not errors or errors[0].ename == "NotImplementedError":
        return None
    if _interrupted(errors):
        return _no_points(exercise, f"The cell of `{exercise.name}` did not finish in time.", _ADVICE["interrupted"])
    return _no_points(exercise, f"The cell of `{exercise.name}` stops with `{errors[0].ename}`.", _said(errors[0]))


_TAKE_OUT = (
    "Look for a line that gives `check`, or something in `anatomy`, another value. Take it out and hand in again."
)
_ADVICE = {
    "ended its kernel": "Something in it ends the Python process (`exit`, a crash), so it was left out.",
    "took too much memory": "It asked for more memory than a notebook of this course ever needs, so it was left out.",
    "could not be interrupted": "It ran until the time limit and ignored the interrupt, so it was left out.",
    "sent messages that can't be read": "It writes to the connections of its kernel, so it was left out.",
    "interrupted": "It was interrupted at the time limit: look for a loop that never ends.",
    "kept the check from working": f"Nothing arrived from the check, so this cell was left out. {_TAKE_OUT}",
}


def _stopped(reason: str) -> str:
    return "did not finish in time" if reason == "could not be interrupted" else reason


def _no_points(exercise: Exercise, what: str, detail: str) -> Verdict:
    """No points, and the reason."""
    results = tuple(PropertyResult(name, points, False) for name, points in exercise.properties.items())
    return Verdict(exercise.name, "wrong", results, (Diagnosis(what, detail),))


def _error_in(cell: NotebookNode) -> str:
    errors = [output for output in cell.outputs if output.output_type == "error"]
    if errors:
        return f"It stopped with {_said(errors[0])} Perhaps a cell has replaced or broken it. {_TAKE_OUT}"
    return f"Nothing arrived from it: a cell has replaced or broken it. {_TAKE_OUT}"


def _interrupted(errors: list[NotebookNode]) -> bool:
    return any(error.ename in INTERRUPTED for error in errors)


def _said(error: NotebookNode) -> str:
    value = " ".join(str(error.evalue).split())
    return f"{error.ename}: {value[:300].rstrip('.')}." if value else f"{error.ename}."
