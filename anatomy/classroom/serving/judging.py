"""From the bytes of a request to the verdict on an answer, as JSON. Runs no student code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from anatomy.engine.cards import Card, as_text, headline
from anatomy.engine.cards.markup import COLORS, frame, line, prose, title
from anatomy.engine.checking.calling import MOST_PARTS, VERSION
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.judging.judge import is_right, judge
from anatomy.engine.judging.sentences import named
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.records import Unreadable, decode
from anatomy.wiring import the_course

ExpectationsOf = Callable[[Exercise, tuple[int, ...]], Expectations]
Reply = dict[str, Any]


class BadRequest(ValueError):
    """A request that no verdict can be given on. The message is a sentence for the student."""


def answer(request: bytes, expectations_of: ExpectationsOf) -> Reply:
    """The answer to a request, as `docs/judge-service.md` describes both.

    Raises
    ------
    BadRequest
        When the request is not of that form, asks an exercise that is not known here, or comes from another version.
    """
    asked = _parsed(request)
    seen = _observation(asked.get("observation"))
    exercise = _exercise(seen.exercise)
    parts = _parts(exercise, asked.get("parts", []))
    # Who called what, and what was right, is for the judge to say.
    seen = replace(seen, parts=[], with_right_parts=[], called=[])
    if parts and not is_right(exercise, seen, SEEDS, expectations_of):
        wrong = [part for part in parts.values() if not _is_right(part, expectations_of)]
        if wrong and any(case.outcome != "not attempted" for case in seen.cases):
            return _mend_first(exercise, wrong)
        seen.called = [*parts]
    verdict = judge(exercise, seen, SEEDS, expectations_of)
    return {
        "version": VERSION, "exercise": exercise.name, "status": verdict.status,
        "points": verdict.points, "max_points": verdict.max_points, "headline": headline(verdict),
        "html": Card(verdict)._repr_html_(), "text": as_text(verdict), "mistakes": named(verdict.diagnoses),
        "mend_first": [],
    }  # fmt: skip


def _parsed(request: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(request)
    except (ValueError, RecursionError):
        raise BadRequest("What arrived can't be read as JSON.") from None
    if not isinstance(asked, dict):
        raise BadRequest("What arrived is no request for a check.")
    if asked.get("version") != VERSION:
        raise BadRequest(
            f"This judge speaks version {VERSION} of its protocol, and your copy of the course another: "
            "get the present one from your instructor."
        )
    return asked


def _observation(record: Any) -> Observation:
    try:
        return decode(record)
    except Unreadable as error:
        raise BadRequest(f"What your notebook saw of the answer can't be read: {error}.") from None


def _exercise(name: str) -> Exercise:
    try:
        return the_course().exercise(name)
    except KeyError:
        raise BadRequest(f"This judge knows no exercise called {name[:80]!r}.") from None


def _parts(exercise: Exercise, records: Any) -> dict[str, Observation]:
    """Name → observation of the earlier answers that this one calls: exercises of the same notebook."""
    if not isinstance(records, list) or len(records) > MOST_PARTS:
        raise BadRequest("The parts that an answer calls are a short list.")
    known = the_course().exercises(exercise.notebook)
    parts = {part.exercise: part for part in map(_observation, records)}
    return {name: part for name, part in parts.items() if name in known and name != exercise.name}


def _is_right(part: Observation, expectations_of: ExpectationsOf) -> bool:
    return is_right(the_course().exercise(part.exercise), part, SEEDS, expectations_of)


def _mend_first(exercise: Exercise, wrong: list[Observation]) -> Reply:
    """The answer for an exercise that calls wrong parts. Of those the ones are named that call no other wrong part.

    In a student's own notebook, and in grading, right answers would stand in for them. A machine that must not hold
    right answers can't be lent any.
    """
    names = {part.exercise for part in wrong}
    first = [part.exercise for part in wrong if not names & {*part.called} - {part.exercise}] or sorted(names)
    parts = [the_course().exercise(name) for name in first]
    named = " and ".join(f"`{part.name}` ({part.number})" for part in parts)
    is_not, that = ("is not", "that") if len(parts) == 1 else ("are not", "those")
    said = f"It calls your {named}, which {is_not} right yet: mend {that} first."
    more = f"Whether `{exercise.name}` itself is right shows then."
    card = frame(COLORS["wrong"], [title(prose(said), "wrong"), line(prose(more))])
    return {
        "version": VERSION, "exercise": exercise.name, "status": "wrong", "points": 0, "max_points": exercise.points,
        "headline": said, "html": f'<div role="status">{card}</div>', "text": f"{said}\n{more}", "mistakes": {},
        "mend_first": first,
    }  # fmt: skip
