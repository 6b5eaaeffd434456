"""How far a run is: a bar in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(ProgressColumn):
    """Submissions a minute, start-up included."""

    def render(self, task: Task) -> Text:
        return Text(f"{60 * task.completed / task.elapsed:.0f}/min" if task.elapsed and task.completed else "")


def progress_bar(console: Console) -> Progress:
    """A bar that shows how many submissions are done, how fast, and for how long."""
    return Progress(TextColumn("{task.description:<32}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate(),
                    TimeElapsedColumn(), TimeRemainingColumn(), console=console)  # fmt: skip
