"""Which bug comes next: first what this student got wrong and mended, then its neighbors, then the others."""

from __future__ import annotations

from dataclasses import dataclass

from anatomy.engine.checking.progress_entry import Entry
from anatomy.engine.checking.progress_file import read_progress
from anatomy.engine.course import Course, Notebook
from anatomy.engine.exercise import Exercise
from anatomy.engine.hunting.bugs import Bug, bugs_of


@dataclass(frozen=True)
class Queue:
    """The bugs of a notebook for one student.

    Attributes
    ----------
    waiting
        Those that may be asked now, the next one first.
    found
        How many were found, line and sentence.
    locked
        Exercise that is not solved yet → how many bugs of its answer wait behind it. To show one would give it away.
    solved
        The exercises that are solved, with bugs or without.
    """

    waiting: list[Bug]
    found: int
    locked: dict[str, int]
    solved: set[str]


def queue_of(course: Course, notebook: Notebook) -> Queue:
    """The bugs of a notebook, as the progress file has it."""
    noted = read_progress()
    asked = course.exercises(notebook)
    solved = {name for name in asked if noted.get(name, Entry()).is_solved}
    bugs, tried = bugs_of(course, notebook), _tried(noted)
    made = _made(noted, asked)
    places = {bug.mistake.name: place for place, bug in enumerate(bugs)}
    of_exercise: dict[str, int] = {}

    def rank(bug: Bug) -> tuple[int, ...]:
        name = bug.mistake.name
        turn = of_exercise[bug.exercise] = of_exercise.get(bug.exercise, 0) + 1
        own = [one for one in made if one in places and one.startswith(f"{bug.exercise}__")]
        near = [abs(places[name] - places[one]) for one in own]
        kind = (0, made.index(name)) if name in made else (1, min(near)) if near else (2, turn)
        return name in tried, *kind, places[name]  # a bug that was asked and not found comes again at the end

    ranks = {bug.id: rank(bug) for bug in bugs if bug.exercise in solved}
    waiting = [bug for bug in bugs if bug.exercise in solved and not tried.get(bug.mistake.name)]
    locked = {name: sum(bug.exercise == name for bug in bugs) for name in asked if name not in solved}
    return Queue(
        sorted(waiting, key=lambda bug: ranks[bug.id]),
        sum(tried.get(bug.mistake.name, False) for bug in bugs),
        {name: number for name, number in locked.items() if number},
        solved,
    )


def _tried(noted: dict[str, Entry]) -> dict[str, bool]:
    """Bugs that were asked about → whether they were found."""
    return {name: found for entry in noted.values() for name, found in entry.hunted.items()}


def _made(noted: dict[str, Entry], asked: dict[str, Exercise]) -> list[str]:
    """The mistakes that this student has made, the latest of each exercise first.

    A mistake in a part, ``attention_weights__softmax__overflows``, is that of the part, ``softmax__overflows``.
    """
    names = (name for exercise in asked for name in reversed(noted.get(exercise, Entry()).mistakes))
    return list(dict.fromkeys("__".join(name.split("__")[-2:]) for name in names))
