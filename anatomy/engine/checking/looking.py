"""What a check observes: the answer; if wrong, also with right answers for the parts that it calls; and its cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anatomy.engine.checking import cells, stand_ins
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.observe import MISSING, observe
from anatomy.engine.observing.parts import definitions_behind, parts_of, standing_in

if TYPE_CHECKING:
    from anatomy.engine.judging.expectations import Expectations

Namespace = dict[str, Any]


def look_for_marks(exercise: Exercise, namespace: Namespace, seeds: tuple[int, ...]) -> Observation:
    """Observe as a kernel does that grades: what is right is not known here, but for what the grader has provided."""
    seen = _look(exercise, namespace, seeds)
    others = {name: stand_ins.PROVIDED[name] for name in _parts(exercise, namespace) if name in stand_ins.PROVIDED}
    return _look_again(seen, exercise, namespace, seeds, others)


def look_in_notebook(
    exercise: Exercise,
    namespace: Namespace,
    expectations_of: Callable[[Exercise, tuple[int, ...]], Expectations],
) -> Observation:
    """Observe as in a student's own notebook; where the answer is wrong, also with right ones for its wrong parts.

    A part is wrong if it is so with right answers for all that it calls itself.
    """
    from anatomy.engine.judging.judge import is_right

    seen = _look(exercise, namespace, SEEDS)
    parts = _parts(exercise, namespace)
    if not parts and any(case.outcome == "too slow" for case in seen.cases):
        _note(exercise.name, namespace, False)  # whoever calls it would wait for it once more
    if not parts or is_right(exercise, seen, SEEDS, expectations_of):
        return seen
    find = exercise.course.exercise
    right = {name: find(name).right for name in parts}
    wrong: dict[str, Any] = {}
    for name in parts:
        part = find(name)
        with standing_in(namespace, {other: right[other] for other in parts if other != name}):
            part_is_right = _known(name, namespace)
            if part_is_right is None:
                part_is_right = is_right(part, observe(part, namespace.get(name, MISSING)), SEEDS, expectations_of)
                _note(name, namespace, part_is_right)
        if not part_is_right:
            wrong[name] = right[name]
    seen.called = parts
    return _look_again(seen, exercise, namespace, SEEDS, wrong)


_KNOWN: dict[str, tuple[list[Any] | None, bool]] = {}
"""Of each part, what defined it when it was last looked at, and whether it was right then."""


def _note(name: str, namespace: Namespace, part_is_right: bool) -> None:
    _KNOWN[name] = definitions_behind(name, namespace), part_is_right


def _known(name: str, namespace: Namespace) -> bool | None:
    """Whether a part is right that is defined as when it was last looked at; None if it is not, or never was."""
    (before, part_is_right), now = _KNOWN.get(name, (None, False)), definitions_behind(name, namespace)
    if before is None or now is None or len(before) != len(now):
        return None
    return part_is_right if all(one is other for one, other in zip(before, now, strict=True)) else None


def look_for_judge(exercise: Exercise, namespace: Namespace) -> tuple[Observation, list[Observation]]:
    """Observe for a judge elsewhere: the answer, and as they stand the earlier ones of its notebook that it calls.

    Nothing right is known here. Each part says what it calls itself (`called`).
    """
    seen, parts = _look(exercise, namespace, SEEDS), []
    if any(case.outcome != "not attempted" for case in seen.cases):
        for part in map(exercise.course.exercise, _parts(exercise, namespace)):
            here = observe(part, namespace.get(part.name, MISSING))
            here.called = _parts(part, namespace)
            parts.append(here)
    return seen, parts


def _look(exercise: Exercise, namespace: Namespace, seeds: tuple[int, ...]) -> Observation:
    seen = observe(exercise, namespace.get(exercise.name, MISSING), seeds)
    seen.cell_error = cells.what_stopped(exercise.name)
    if all(case.outcome == "not attempted" for case in seen.cases):
        seen.similar = cells.similar_name(exercise, namespace)
    return seen


def _look_again(
    seen: Observation, exercise: Exercise, namespace: Namespace, seeds: tuple[int, ...], others: dict[str, Any]
) -> Observation:
    if others:
        with standing_in(namespace, others):
            seen.with_right_parts = observe(exercise, namespace[exercise.name], seeds).cases
        seen.parts = list(others)
    seen.called = sorted({*seen.called, *others})
    return seen


def _parts(exercise: Exercise, namespace: Namespace) -> list[str]:
    known = exercise.course.exercises(exercise.notebook)
    asked = {name for name, other in known.items() if other.kind != "quiz"}
    return parts_of(exercise.name, namespace, asked)
