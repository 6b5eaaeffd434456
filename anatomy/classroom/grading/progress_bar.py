"""How far a run is: a bar in the terminal, plain lines in a file or a pipe."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

EVERY = 10.0
"""Seconds from one line to the next."""


class _Rate(ProgressColumn):
    """Submissions a minute, start-up included."""

    def render(self, task: Task) -> Text:
        return Text(f"{60 * task.completed / task.elapsed:.0f}/min" if task.elapsed and task.completed else "")


class _Lines(Progress):
    """A plain line at the start, and then each `EVERY` seconds while something gets done."""

    def add_task(self, description: str, *args: Any, **options: Any) -> TaskID:
        task = super().add_task(description, *args, **options)
        self._said = self.get_time()
        total = options["total"]
        self.console.print(f"{description}: {total} to do" if total else description, highlight=False)
        return task

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        task, now = self.tasks[task_id], self.get_time()
        if changes.get("advance") and now - self._said >= EVERY:
            self._said = now
            self.console.print(f"{task.completed:g} of {task.total:g} done after {task.elapsed or 0:.0f} s",
                               highlight=False)  # fmt: skip


def progress_bar(console: Console) -> Progress:
    """A bar that shows how many submissions are done, how fast, and for how long; or lines where no bar can move."""
    if not console.is_interactive:
        return _Lines(console=console, disable=True)
    return Progress(TextColumn("{task.description:<32}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate(),
                    TimeElapsedColumn(), TimeRemainingColumn(), console=console)  # fmt: skip
