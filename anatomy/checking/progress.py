"""What has been solved so far on this machine: one small JSON file, written by every check in a student's notebook.

`ProgressCard` shows it, in a notebook and in a terminal.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_data_path

from anatomy.course import NOTEBOOKS, Notebook
from anatomy.judging.verdict import Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

_SIGNS = {"right": "●", "wrong": "◐", "not attempted": "○"}
_LEGEND = "● right   ◐ begun   ○ open"


def progress_file() -> Path:
    """Where progress is kept; the environment variable ``ANATOMY_HOME`` names another folder."""
    home = os.environ.get("ANATOMY_HOME")
    return (Path(home) if home else user_data_path("transformer-anatomy")) / "progress.json"


def read_progress() -> dict[str, dict[str, Any]]:
    """Exercise → ``{"status", "points", "max_points"}`` of its latest check. A damaged file counts as empty."""
    try:
        content = json.loads(progress_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def note_progress(verdict: Verdict) -> None:
    """Remember the latest verdict on an exercise. A disk that can't be written never disturbs a check."""
    progress = read_progress()
    progress[verdict.exercise] = {
        "status": verdict.status, "points": verdict.points, "max_points": verdict.max_points,
    }  # fmt: skip
    path = progress_file()
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(progress, indent=1), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        return


# ---------------------------------------------------------------------------------------------- how far


@dataclass(frozen=True)
class Standing:
    """How far one notebook is: exercise → the status of its latest check, and the points that these gave."""

    notebook: Notebook
    exercises: dict[str, str]
    points: int
    max_points: int

    @property
    def open(self) -> list[str]:
        """The exercises that are not right yet, in order."""
        return [name for name, status in self.exercises.items() if status != "right"]

    @property
    def signs(self) -> str:
        return "".join(_SIGNS[status] for status in self.exercises.values())

    @property
    def words(self) -> str:
        right = len(self.exercises) - len(self.open)
        return f"{right} of {len(self.exercises)} exercises right, {self.points} of {self.max_points} points"


def progress_table() -> list[Standing]:
    """How far each notebook is, in the course's order. Notebooks without exercises are left out."""
    from anatomy import exercises

    noted = read_progress()
    table = []
    for notebook in NOTEBOOKS:
        asked = exercises.of_notebook(notebook)
        entries = {name: noted[name] if isinstance(noted.get(name), dict) else {} for name in asked}
        status = {name: str(entry.get("status")) for name, entry in entries.items()}
        table.append(
            Standing(
                notebook,
                {name: word if word in _SIGNS else "not attempted" for name, word in status.items()},
                sum(min(_number(entries[name].get("points")), asked[name].points) for name in asked),
                sum(exercise.points for exercise in asked.values()),
            )
        )
    return [standing for standing in table if standing.exercises]


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


class ProgressCard:
    """How far you are, as a value that displays itself: HTML in a notebook, a table in a terminal.

    It shows what was noted at the time it was made.
    """

    def __init__(self) -> None:
        self.table = progress_table()

    @property
    def next_step(self) -> str:
        """What to do next, in a sentence."""
        for standing in self.table:
            if standing.open:
                return f"Next: {standing.open[0]} in {standing.notebook.slug}."
        return "Everything here is right."

    def __repr__(self) -> str:
        rows = [f"{row.notebook.number:02d} {row.notebook.title:<28} {row.signs:<9} {row.words}" for row in self.table]
        return "\n".join([*rows, _LEGEND, self.next_step])

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("Notebook", "Exercises", "Right", "Points"):
            table.add_column(heading, justify="left" if heading in ("Notebook", "Exercises") else "right")
        for row in self.table:
            color = "green" if not row.open else "default"
            right = f"{len(row.exercises) - len(row.open)} of {len(row.exercises)}"
            points = f"{row.points} of {row.max_points}"
            table.add_row(f"{row.notebook.number:02d} {row.notebook.title}", f"[{color}]{row.signs}[/]", right, points)
        return Group(table, f"\n[dim]{_LEGEND}[/dim]\n", self.next_step)

    def _repr_html_(self) -> str:
        cell = 'style="text-align:left;padding:.15em .9em .15em 0"'
        rows = "".join(
            f'<tr><th scope="row" {cell}>{row.notebook.number:02d} '
            f'<a href="../{row.notebook.slug}/{row.notebook.slug}.ipynb">{escape(row.notebook.title)}</a></th>'
            f'<td {cell}><span aria-hidden="true" style="letter-spacing:.15em">{row.signs}</span></td>'
            f"<td {cell}>{row.words}</td></tr>"
            for row in self.table
        )
        return (
            '<div style="border-left:5px solid #1f6feb;padding:.5em .9em;margin:.3em 0;max-width:52em;'
            'background:rgba(127,127,127,.08);border-radius:3px;line-height:1.45">'
            f'<table style="border-collapse:collapse;margin:0">{rows}</table>'
            f'<div aria-hidden="true" style="font-size:85%;opacity:.8">{_LEGEND}</div>'
            f'<div style="font-weight:600;margin-top:.3em">{escape(self.next_step)}</div></div>'
        )
