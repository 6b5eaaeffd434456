"""What a class is doing at this moment, kept in memory only: who checked what, and what came of it.

Nothing is written to disk. Who has not checked anything for some hours is forgotten, and so is everything when the
service ends.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from anatomy.engine.exercise import Exercise
from anatomy.wiring import the_course

PRESENT = 15 * 60
"""Seconds since the last check in which somebody counts as being in the room."""

RECENT = 10 * 60
"""Seconds in which a mistake counts as being made now."""

FORGOTTEN = 4 * 3600
"""Seconds after which somebody who checked nothing is forgotten."""

STUCK = 4
"""Wrong answers in a row, to the exercise at which somebody is, that count as being stuck."""

RUN = 10
"""Seconds within which the check of a later exercise belongs to the same run of a notebook, as `anatomy check` does."""

MOST_STUDENTS, MOST_MISTAKES, LONGEST = 2_000, 20_000, 600
"""Bounds of what is kept: students, mistakes of the last minutes, characters of a sentence or a name."""


@dataclass
class _Student:
    """What is known of one student.

    `at` is when they checked last, and `last` what; `exercise` is where they are. For each exercise, `is_right` says
    whether the newest answer is, `misses` counts the wrong ones in a row, and `mistakes` has those in the newest one.
    """

    at: float = 0.0
    last: str = ""
    exercise: str = ""
    is_right: dict[str, bool] = field(default_factory=dict)
    misses: Counter[str] = field(default_factory=Counter)
    mistakes: dict[str, frozenset[str]] = field(default_factory=dict)


NOT_NAMED = ""
"""In the place of a mistake's name, where an answer is wrong and nothing was recognized."""


class _Mistake(NamedTuple):
    at: float
    user: str
    exercise: str
    name: str
    sentence: str


class Room:
    """A class at work. Not safe for threads: one event loop notes and asks.

    Parameters
    ----------
    since
        When it began to listen, in seconds; by default now.
    """

    def __init__(self, since: float | None = None) -> None:
        self._since = time.time() if since is None else since
        self._students: dict[str, _Student] = {}  # who checked last comes last
        self._mistakes: deque[_Mistake] = deque(maxlen=MOST_MISTAKES)

    def note(
        self, user: str, exercise: str, status: str, mistakes: dict[str, str], said: str = "", at: float | None = None
    ) -> None:
        """Remember a check.

        Parameters
        ----------
        status
            ``"right"``, ``"wrong"``, ``"waits"`` for an answer that is wrong as it calls a wrong one, or another word
            for one that says nothing, such as ``"not attempted"``.
        mistakes
            The names of the mistakes that were recognized → the sentence for each.
        said
            The first sentence of the card.
        at
            When it was, in seconds; by default now.
        """
        now, user = time.time() if at is None else at, user[:LONGEST]
        student = self._students.pop(user, None) or _Student()
        self._students[user] = student
        if status in ("right", "wrong", "waits"):
            student.is_right[exercise] = status == "right"
        if status in ("right", "wrong"):
            student.misses[exercise] = student.misses[exercise] + 1 if status == "wrong" else 0
            if not self._stays(student, exercise, now):
                student.exercise = exercise
        student.at, student.last, student.exercise = now, exercise, student.exercise or exercise
        if status == "wrong":
            mistakes = mistakes or {NOT_NAMED: said}
        made = [_Mistake(now, user, exercise, name[:LONGEST], text[:LONGEST]) for name, text in mistakes.items()]
        self._mistakes.extend(made)
        if status in ("right", "wrong"):
            student.mistakes[exercise] = frozenset(one.name for one in made)
        self._forget(now)

    def _stays(self, student: _Student, exercise: str, now: float) -> bool:
        """Whether this check belongs to a run of the notebook that has met an earlier answer which is not right."""
        is_one_run = now - student.at <= RUN and _is_before(student.last, exercise)
        return is_one_run and student.is_right.get(student.exercise) is False and _is_before(student.exercise, exercise)

    def snapshot(self, names: bool, at: float | None = None) -> dict[str, Any]:
        """What the room looks like, as JSON has it; with names only if asked for.

        Returns
        -------
        dict
            ``since``: when it began to listen, and ``runs``: for how many seconds it has, since then.
            ``students``: how many are known; ``here``: how many of them checked something lately.
            ``at``: the exercise at which most of those here are, or None. Of equals, one with wrong answers, then the
            last one.
            ``exercises``: those of the notebooks in which somebody here works, in the course's order: how many of
            those here are at it (``here``), and for how many of all the newest answer is ``right`` or ``wrong``.
            ``mistakes``: those of the last minutes, with how many made them (``students``), have them in their newest
            answer (``still``) and have the exercise ``right`` by now, most first. The newest answers to an exercise
            that are wrong in no way with a name stand together (not ``named``); the ``sentence`` is then a card's.
            ``stuck``: those with several wrong answers in a row, for each exercise.
        """
        now = time.time() if at is None else at
        self._forget(now)
        here = {user: student for user, student in self._students.items() if now - student.at <= PRESENT}
        most = Counter(student.exercise for student in here.values())
        places = [_described(exercise) for exercise in _of_notebooks(most)]
        for place in places:
            place |= self._at(place["exercise"], here, names)
        at_most = max(reversed(places), key=lambda place: (place["here"], place["wrong"] > 0), default=None)
        mistakes = list(self._recent(now, names))
        return {
            "since": self._since,
            "runs": now - self._since,
            "students": len(self._students),
            "here": len(here),
            "at": at_most and {key: at_most[key] for key in ("exercise", "number", "notebook", "here")},
            "exercises": places,
            "mistakes": sorted(mistakes, key=_what_matters),
            "stuck": self._stuck(here, names),
        }

    def _at(self, exercise: str, here: dict[str, _Student], names: bool) -> dict[str, Any]:
        at_it = [user for user, student in here.items() if student.exercise == exercise]
        newest = Counter(student.is_right.get(exercise) for student in self._students.values())
        return {"here": len(at_it), "right": newest[True], "wrong": newest[False]} | _named(at_it, names)

    def _recent(self, now: float, names: bool) -> Iterable[dict[str, Any]]:
        made: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # of each user, the newest sentence
        for one in self._mistakes:
            if now - one.at <= RECENT and one.user in self._students:
                made[one.exercise, one.name][one.user] = one.sentence
        for (exercise, name), users in made.items():
            still = [user for user in users if name in self._students[user].mistakes.get(exercise, ())]
            if name == NOT_NAMED and not still:
                continue
            sentences = Counter(users[user] for user in still or users)
            right = sum(self._students[user].is_right.get(exercise, False) for user in users)
            yield {
                **_described(_find(exercise) or exercise), "named": name != NOT_NAMED,
                "sentence": sentences.most_common(1)[0][0],
                "students": len(users), "still": len(still), "right": right, **_named(still, names),
            }  # fmt: skip

    def _stuck(self, here: dict[str, _Student], names: bool) -> dict[str, Any]:
        found: dict[str, list[str]] = defaultdict(list)
        for user, student in here.items():
            if student.misses[student.exercise] >= STUCK:
                found[student.exercise].append(user)
        rows = [
            _described(_find(exercise) or exercise) | {"students": len(users)} | _named(users, names)
            for exercise, users in found.items()
        ]
        return {
            "students": sum(map(len, found.values())),
            "exercises": sorted(rows, key=lambda row: -row["students"]),
        }

    def _forget(self, now: float) -> None:
        while self._mistakes and now - self._mistakes[0][0] > RECENT:
            self._mistakes.popleft()
        while self._students:
            first = next(iter(self._students))
            if len(self._students) <= MOST_STUDENTS and now - self._students[first].at <= FORGOTTEN:
                break
            del self._students[first]


def _of_notebooks(names: Iterable[str]) -> list[Exercise]:
    """All exercises of the notebooks of these, in the course's order."""
    books = {found.notebook for name in names if (found := _find(name))}
    ordered = sorted(books, key=lambda book: book.number)
    return [exercise for book in ordered for exercise in the_course().exercises(book).values()]


def _find(name: str) -> Exercise | None:
    try:
        return the_course().exercise(name)
    except KeyError:
        return None


def _is_before(name: str, other: str) -> bool:
    """Whether an exercise comes before another one of the same notebook."""
    one, two = _find(name), _find(other)
    if not one or not two or one.notebook != two.notebook:
        return False
    order = [*the_course().exercises(one.notebook)]
    return order.index(one.name) < order.index(two.name)


def _what_matters(mistake: dict[str, Any]) -> tuple[int, int, int, str]:
    """For sorting: first what most still do, then what most have not got right since."""
    students = mistake["students"]
    return -mistake["still"], mistake["right"] - students, -students, mistake["sentence"]


def _described(exercise: Exercise | str) -> dict[str, Any]:
    if isinstance(exercise, str):  # of a newer course than this one
        return {"exercise": exercise, "number": "", "notebook": ""}
    return {"exercise": exercise.name, "number": exercise.number, "notebook": exercise.notebook.slug}


def _named(users: Iterable[str], names: bool) -> dict[str, Any]:
    return {"names": sorted(users)} if names else {}
