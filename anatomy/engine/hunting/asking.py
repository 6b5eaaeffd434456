"""Ask about a bug, take an answer, ask about the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anatomy.engine.checking.progress_entry import Entry
from anatomy.engine.checking.progress_file import note_hunt, read_progress
from anatomy.engine.course import Course, Notebook
from anatomy.engine.exercise import Exercise
from anatomy.engine.hunting.bugs import Bug, bugs_of
from anatomy.engine.hunting.puzzle import LETTERS, Puzzle, puzzle_of
from anatomy.engine.hunting.queue import Queue, queue_of
from anatomy.engine.observing.surroundings import as_at_start

_first_tries: dict[str, tuple[int, str]] = {}
"""A bug's mistake → the first answer to it, in this process: the same cell may run again, and gives nothing away."""


@dataclass(frozen=True)
class Answered:
    """An answer to a puzzle. `again`: its correction was shown before. `is_first`: it is wrong, and there is a second
    try before the correction is shown."""

    puzzle: Puzzle
    line: int
    says: str
    again: bool = False
    is_first: bool = False

    @property
    def line_is_right(self) -> bool:
        return self.line in self.puzzle.bug.faulty

    @property
    def sentence_is_right(self) -> bool:
        return self.says == self.puzzle.letter

    @property
    def found(self) -> bool:
        return self.line_is_right and self.sentence_is_right


@dataclass(frozen=True)
class Hunt:
    """Where a hunt stands, as a value that displays itself.

    Attributes
    ----------
    course, notebook
        Whose bugs are hunted.
    answered
        What was answered just now, if anything was.
    puzzle
        What is asked next; None where nothing can be.
    note
        What to do about it: an answer that can't be taken, an exercise to solve first.
    """

    course: Course
    notebook: Notebook
    puzzle: Puzzle | None
    answered: Answered | None = None
    note: str = ""

    def __repr__(self) -> str:
        from anatomy.engine.hunting.show import as_text

        return as_text(self)

    def __rich__(self) -> object:
        from anatomy.engine.hunting.show import as_rich

        return as_rich(self)

    def _repr_html_(self) -> str:
        from anatomy.engine.hunting.show import as_html

        return as_html(self)


def hunt_in(
    course: Course,
    notebook: Notebook,
    bug_id: str | None = None,
    line: int | str | None = None,
    says: str | None = None,
) -> Hunt:
    """The hunt after this answer, or at this bug, or at the one that comes next."""
    with as_at_start():
        bug, why_not = _chosen(course, notebook, bug_id)
        if bug is None:
            return Hunt(course, notebook, None, note=why_not)
        puzzle = puzzle_of(bug)
        if line is None and says is None:
            return Hunt(course, notebook, puzzle)
        if bug_id is None:
            return Hunt(course, notebook, puzzle, note=f'Say which bug you mean: this one is `bug="{bug.id}"`.')
        letter = says.strip().lower() if isinstance(says, str) else ""
        number = _number(line)
        if not 1 <= number <= len(bug.lines) or letter not in puzzle.sentences:
            lines, letters = len(bug.lines), f'"{LETTERS[0]}" to "{list(puzzle.sentences)[-1]}"'
            return Hunt(
                course, notebook, puzzle, note=f"`line` is a number from 1 to {lines}, `says` one of {letters}."
            )
        again = bug.mistake.name in read_progress().get(bug.exercise, Entry()).hunted
        answered = Answered(puzzle, number, letter, again)
        mine = number, letter
        if not answered.found and not again and _first_tries.setdefault(bug.mistake.name, mine) == mine:
            return Hunt(course, notebook, puzzle, replace(answered, is_first=True))
        note_hunt(bug.exercise, bug.mistake.name, answered.found)
        following, nothing = _chosen(course, notebook, None)
        return Hunt(course, notebook, puzzle_of(following) if following else None, answered, nothing)


def _number(line: object) -> int:
    """The number of a line, also of one in quotes; 0 for what is none."""
    text = str(line).strip()
    return int(text) if text.isdecimal() else 0


def _chosen(course: Course, notebook: Notebook, bug_id: str | None) -> tuple[Bug | None, str]:
    """The bug of this id, or the next one; or none and the reason why."""
    queue, bugs = queue_of(course, notebook), bugs_of(course, notebook)
    if bug_id is not None:
        bug = next((bug for bug in bugs if bug.id == str(bug_id).strip().lower()), None)
        if bug is None:
            return None, f'{notebook.slug} has no bug `{bug_id}`: `hunt("{notebook.slug}")` shows one.'
        if bug.exercise in queue.locked:
            return None, f"Bug `{bug.id}` would give an answer away: solve {_named(bug.asked)} first."
        return bug, ""
    if queue.waiting:
        return queue.waiting[0], ""
    if not bugs:
        return None, f"The answers of {notebook.slug} are too short for a bug to hide in."
    if queue.locked:
        return None, _what_waits(course, queue)
    return None, f"You have found all {queue.found} bugs of this notebook."


def _what_waits(course: Course, queue: Queue) -> str:
    """Why there is no bug to show, and what has to be solved first."""
    done = ""
    if queue.found:
        done = f"You have found all {queue.found} bugs so far. "
    elif queue.solved:
        done = "What you have solved here is too short for a bug to hide in. "
    number, waiting = sum(queue.locked.values()), [course.exercise(name) for name in queue.locked]
    bugs = f"{number} bugs wait" if number > 1 else "1 bug waits"
    if len(waiting) == 1:
        they = "they" if number > 1 else "it"
        return f"{done}{bugs} in answers to {_named(waiting[0])}: solve it first, {they} would give it away."
    *others, last = (exercise.number for exercise in waiting)
    which = f"{', '.join(others)} and {last}"
    return f"{done}{bugs} in answers to {which}: solve one of these first, a bug would give its answer away."


def _named(exercise: Exercise) -> str:
    return f"{exercise.number} `{exercise.name}`"
