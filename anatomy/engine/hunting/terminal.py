"""The hunt in a terminal: a puzzle, two questions, what became of the answer, and again."""

from __future__ import annotations

from rich.console import Console, Group
from rich.prompt import IntPrompt, Prompt

from anatomy.engine.cards.markup import plain
from anatomy.engine.checking.progress_entry import Entry
from anatomy.engine.checking.progress_file import read_progress
from anatomy.engine.course import Course, Notebook
from anatomy.engine.hunting.asking import hunt_in
from anatomy.engine.hunting.queue import queue_of
from anatomy.engine.hunting.show import answer_parts, question_parts


def ask(course: Course, notebook: Notebook, console: Console) -> None:
    """Ask about one bug after the other, until there is none left or the student stops (Ctrl-C, Ctrl-D)."""
    hunt = hunt_in(course, notebook)
    while hunt.puzzle:
        bug, letters = hunt.puzzle.bug, list(hunt.puzzle.sentences)
        is_second = hunt.answered is not None and hunt.answered.is_first
        if not is_second:
            console.print(Group(*question_parts(hunt.puzzle)), highlight=False)
        try:
            line = IntPrompt.ask(
                f"Which line is wrong? [dim]1 to {len(bug.lines)}, Ctrl-C to stop[/dim]",
                choices=[str(number) for number in range(1, len(bug.lines) + 1)],
                show_choices=False,
                console=console,
            )
            says = Prompt.ask("What does it do?", choices=letters, case_sensitive=False, console=console)
            hunt = hunt_in(course, notebook, bug.id, line, says)
            if hunt.answered:
                console.print("", Group(*answer_parts(hunt.answered)), "", sep="\n", highlight=False)
                if hunt.puzzle and not hunt.answered.is_first:
                    console.input("[dim]Enter for the next bug, Ctrl-C to stop[/dim] ")
        except (KeyboardInterrupt, EOFError):
            console.print("\nUntil next time.")
            return
    console.print(plain(hunt.note), highlight=False)


def latest(course: Course) -> Notebook:
    """The last notebook in which a bug can be shown, or in which something is solved, or the first one."""
    noted = read_progress()
    books = course.notebooks
    solved = [book for book in books if any(noted.get(name, Entry()).is_solved for name in course.exercises(book))]
    shown = (book for book in reversed(solved) if queue_of(course, book).waiting)
    return next(shown, solved[-1] if solved else books[0])
