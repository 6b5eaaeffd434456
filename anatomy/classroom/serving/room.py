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

MOST_STUDENTS, MOST_MISTAKES, LONGEST = 2_000, 20_000, 600
"""Bounds of what is kept: students, mistakes of the last minutes, characters of a sentence or a name."""


@dataclass
class _Student:
    """What is known of one student.

    `at` is when they checked last, and `exercise` what; `misses` are the wrong answers to it in a row. `mistakes` has
    those in the newest answer to each exercise, by name.
    """

    at: float = 0.0
    exercise: str = ""
    misses: int = 0
    status: dict[str, str] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)
    mistakes: dict[str, frozenset[str]] = field(default_factory=dict)


class _Mistake(NamedTuple):
    at: float
    user: str
    exercise: str
    name: str
    sentence: str


class Room:
    """A class at work. Not safe for threads: one event loop notes and asks."""

    def __init__(self) -> None:
        self._students: dict[str, _Student] = {}  # who checked last comes last
        self._mistakes: deque[_Mistake] = deque(maxlen=MOST_MISTAKES)

    def note(self, user: str, exercise: str, status: str, mistakes: dict[str, str], at: float | None = None) -> None:
        """Remember a check.

        Parameters
        ----------
        status
            ``"right"``, ``"wrong"`` or another word for an answer that says nothing, such as ``"not attempted"``, or
            ``"waits"`` for one that calls a wrong one.
        mistakes
            The names of the mistakes that were recognized → the sentence for each.
        at
            When it was, in seconds; by default now.
        """
        now, user = time.time() if at is None else at, user[:LONGEST]
        student = self._students.pop(user, None) or _Student()
        self._students[user] = student
        student.at, student.status[exercise] = now, status
        if status in ("right", "wrong") or not student.exercise:  # who runs all cells has not come to the last one
            before = student.misses if student.exercise == exercise else 0
            student.exercise, student.misses = exercise, before + 1 if status == "wrong" else 0
        if status == "right":
            student.right.add(exercise)
        made = [_Mistake(now, user, exercise, name[:LONGEST], text[:LONGEST]) for name, text in mistakes.items()]
        self._mistakes.extend(made)
        if status in ("right", "wrong"):
            student.mistakes[exercise] = frozenset(one.name for one in made)
        self._forget(now)

    def snapshot(self, names: bool, at: float | None = None) -> dict[str, Any]:
        """What the room looks like, as JSON has it; with names only if asked for.

        Returns
        -------
        dict
            ``students``: how many are known; ``here``: how many of them checked something lately.
            ``at``: the exercise at which most of those here are, or None.
            ``exercises``: those of the notebooks in which somebody here works, in the course's order: how many are at
            it (``here``), of these have it not right yet (``working``), and how many of all have it right (``right``).
            ``mistakes``: those of the last minutes, with how many made them (``students``) and have them in their
            newest answer (``still``), most first.
            ``stuck``: those with several wrong answers in a row, for each exercise.
        """
        now = time.time() if at is None else at
        self._forget(now)
        here = {user: student for user, student in self._students.items() if now - student.at <= PRESENT}
        most = Counter(student.exercise for student in here.values())
        places = [_described(exercise) for exercise in _of_notebooks(most)]
        for place in places:
            place |= self._at(place["exercise"], here, names)
        at_most = max(places, key=lambda place: place["here"], default=None)
        mistakes = list(self._recent(now, names))
        return {
            "students": len(self._students),
            "here": len(here),
            "at": at_most and {key: at_most[key] for key in ("exercise", "number", "notebook", "here")},
            "exercises": places,
            "mistakes": sorted(mistakes, key=lambda one: (-one["still"], -one["students"], one["sentence"])),
            "stuck": self._stuck(here, names),
        }

    def _at(self, exercise: str, here: dict[str, _Student], names: bool) -> dict[str, Any]:
        at_it = [user for user, student in here.items() if student.exercise == exercise]
        working = [user for user in at_it if here[user].status[exercise] != "right"]
        right = sum(exercise in student.right for student in self._students.values())
        return {"here": len(at_it), "working": len(working), "right": right} | _named(working, names)

    def _recent(self, now: float, names: bool) -> Iterable[dict[str, Any]]:
        made: dict[tuple[str, str], set[str]] = defaultdict(set)
        sentences: dict[tuple[str, str], str] = {}
        for one in self._mistakes:
            if now - one.at <= RECENT and one.user in self._students:
                made[one.exercise, one.name].add(one.user)
                sentences[one.exercise, one.name] = one.sentence
        for (exercise, name), users in made.items():
            still = [user for user in users if name in self._students[user].mistakes.get(exercise, ())]
            counts = {"sentence": sentences[exercise, name], "students": len(users), "still": len(still)}
            yield _described(_find(exercise) or exercise) | counts | _named(still, names)

    def _stuck(self, here: dict[str, _Student], names: bool) -> dict[str, Any]:
        found: dict[str, list[str]] = defaultdict(list)
        for user, student in here.items():
            if student.misses >= STUCK:
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


def _described(exercise: Exercise | str) -> dict[str, Any]:
    if isinstance(exercise, str):  # of a newer course than this one
        return {"exercise": exercise, "number": "", "notebook": ""}
    return {"exercise": exercise.name, "number": exercise.number, "notebook": exercise.notebook.slug}


def _named(users: Iterable[str], names: bool) -> dict[str, Any]:
    return {"names": sorted(users)} if names else {}
