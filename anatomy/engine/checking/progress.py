"""How far one is: the course in a table, each notebook's exercises below it, in a notebook and in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import TYPE_CHECKING

from anatomy.engine.cards.markup import frame, line, plain, prose, scrolling, title
from anatomy.engine.checking.progress_entry import Entry
from anatomy.engine.checking.progress_file import progress_file, read_progress
from anatomy.engine.course import Course, Notebook
from anatomy.engine.exercise import Exercise, in_points

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_SIGNS = {"right": "●", "wrong": "◐", "not attempted": "○"}
_WORDS = {"right": "right", "wrong": "begun", "not attempted": "open"}
_LEGEND = "   ".join(f"{_SIGNS[status]} {word}" for status, word in _WORDS.items())
_NOTES = (
    "Attempts are checks that found a changed answer. Minutes are the time between cells you ran, up to the check; "
    "gaps of ten minutes and more count as breaks."
)
_SHARED = (  # without the file's name: a card is saved in its notebook
    "Noted for all copies of the course on this machine. In a terminal, <code>anatomy progress</code> names the file."
)
_OVERVIEW = ("Notebook", "Exercises", "Right", "Points", "Minutes")
_DETAIL = ("Exercise", "State", "Points", "First right", "Attempts", "Minutes")
_NUMBERS = ("Right", "Points", "Attempts", "Minutes")
_NAMED = "Mistakes last named:"


@dataclass(frozen=True)
class Work:
    """What is noted of one exercise.

    `said` is how the mistake that was last named was said, `bugs` how many bugs of its answer were found in a hunt; all
    may be missing.
    """

    number: str
    name: str
    status: str
    points: int
    max_points: int
    first_right: str = ""
    attempts: int = 0
    seconds: float = 0
    said: str = ""
    bugs: int = 0

    @property
    def mistake(self) -> str:
        """How the mistake was said that may still be there."""
        return "" if self.status == "right" else self.said

    @property
    def cells(self) -> tuple[str, ...]:
        """As a row of the detail."""
        return (
            f"{self.number} `{self.name}`",
            f"{_SIGNS[self.status]} {_WORDS[self.status]}",
            f"{self.points} of {self.max_points}" if self.max_points else "optional",
            _day(self.first_right) or "–",
            str(self.attempts or "–"),
            _minutes(self.seconds),
        )


@dataclass(frozen=True)
class Standing:
    """How far one notebook is."""

    notebook: Notebook
    works: tuple[Work, ...]

    @property
    def open(self) -> list[str]:
        """The exercises that are not right, in order."""
        return [work.name for work in self.works if work.status != "right"]

    @property
    def points(self) -> int:
        return sum(work.points for work in self.works)

    @property
    def max_points(self) -> int:
        return sum(work.max_points for work in self.works)

    @property
    def hunted(self) -> str:
        """How many bugs were found in this notebook's hunt; empty before the first."""
        bugs = sum(work.bugs for work in self.works)
        return f"Bugs found here: {bugs}." if bugs else ""

    @property
    def is_begun(self) -> bool:
        return any(work.attempts or work.status != "not attempted" for work in self.works)

    @property
    def title(self) -> str:
        return f"{self.notebook.number:02d} {self.notebook.title}"

    @property
    def words(self) -> str:
        right, points = self.cells[2:4]
        day = _day(max(work.first_right for work in self.works))
        done = f", all right since {day}" if not self.open and all(work.first_right for work in self.works) else ""
        return f"{right} exercises right, {points} points{done}"

    @property
    def cells(self) -> tuple[str, ...]:
        """As a row of the overview."""
        return (
            self.title,
            "".join(_SIGNS[work.status] for work in self.works),
            f"{len(self.works) - len(self.open)} of {len(self.works)}",
            f"{self.points} of {self.max_points}",
            _minutes(sum(work.seconds for work in self.works)),
        )


def progress_table(course: Course) -> list[Standing]:
    """How far each notebook is, in the course's order. Notebooks without exercises are left out."""
    noted = read_progress()
    table = []
    for book in course.notebooks:
        asked = course.exercises(book).values()
        table.append(Standing(book, tuple(_work(exercise, noted.get(exercise.name, Entry())) for exercise in asked)))
    return [standing for standing in table if standing.works]


def _work(exercise: Exercise, entry: Entry) -> Work:
    return Work(
        exercise.number,
        exercise.name,
        entry.status if entry.status in _SIGNS else "not attempted",
        min(entry.points, exercise.points),
        exercise.points,
        entry.first_right,
        entry.attempts,
        entry.seconds,
        entry.said,
        sum(entry.hunted.values()),
    )


def _minutes(seconds: float) -> str:
    return "–" if not seconds else "under 1" if seconds < 60 else str(round(seconds / 60))


class ProgressCard:
    """How far you are, as a value that displays itself: HTML in a notebook, tables in a terminal.

    It shows what was noted at the time it was made: the whole course, and each notebook that was begun below it.

    Parameters
    ----------
    slug
        A notebook whose exercises come first; the whole course is folded then.
    """

    def __init__(self, course: Course, slug: str = "") -> None:
        self.table = progress_table(course)
        self.first = next((row for row in self.table if slug and row.notebook == course.notebook(slug)), None)
        of = {work.name: row for row in self.table for work in row.works}
        self._last = next((of[name] for name in reversed(read_progress()) if name in of), None)

    @property
    def next_step(self) -> str:
        """What to do next, in a sentence: the first open exercise from the notebook on that one is in, or was in last.

        A notebook's own card never sends back, because one may begin anywhere; that of the whole course does.
        """
        row = self.first or self._last
        here = self.table.index(row) if row else 0
        for standing in self.table[here:] if self.first else self.table[here:] + self.table[:here]:
            if standing.open:
                return f"Next: {standing.open[0]} in {standing.notebook.slug}."
        return "Everything from here on is right." if self.first else "Everything here is right."

    def __repr__(self) -> str:
        rows = self.table if self.first is None else [self.first]
        lines = [f"{row.title:<31} {row.cells[1]:<9} {row.words}" for row in rows]
        if self.first:
            lines += [
                f"  {work.cells[1]}  {work.number} {work.name}: {', '.join(_known(work))}" for work in rows[0].works
            ]
            lines += filter(None, [self.first.hunted])
        return "\n".join([*lines, _LEGEND, self.next_step])

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        if self.first is None:
            table = _rich_table(None, _OVERVIEW, (row.cells for row in self.table))
            return Group(table, Text(f"\n{_LEGEND}\n{_kept()}\n", "dim"), self.next_step)
        works = self.first.works
        table = _rich_table(f"{self.first.title}: {self.first.words}", _DETAIL, (work.cells for work in works))
        said = [Text(f"  {work.number}: {plain(work.mistake)}") for work in works if work.mistake]
        named = [Text(f"\n{_NAMED}", "bold"), *said] if said else []
        hunted = [Text(f"\n{self.first.hunted}")] if self.first.hunted else []
        return Group(table, *named, *hunted, Text(f"\n{_LEGEND}\n{_NOTES}\n{_kept()}\n", "dim"), self.next_step)

    def _repr_html_(self) -> str:
        caption = "" if self.first else "The whole course"  # else what unfolds it says so
        overview = _html_table(caption, "The whole course", _OVERVIEW, (self._linked(row) for row in self.table))
        details = [
            _folded(f"{row.title}: {row.words}", _html_detail(row))
            for row in self.table
            if row is self.first or (self.first is None and row.is_begun)
        ]
        if self.first and self.first.hunted:
            details.append(line(self.first.hunted))
        whole = _folded("The whole course", overview) if self.first else overview
        small = f'<div style="font-size:85%;opacity:.8;margin-top:.3em">{_LEGEND}. {_NOTES}<br>{_SHARED}</div>'
        blocks = [*details, whole] if self.first else [whole, *details]
        return frame("#1f6feb", [title("How far you are"), *blocks, small, line(f"<b>{escape(self.next_step)}</b>")])

    def _linked(self, row: Standing) -> tuple[str, ...]:
        name, signs, *rest = map(escape, row.cells)
        place = f"../{row.notebook.slug}/{row.notebook.slug}.ipynb"
        link = f'<a href="{place}" style="display:inline-flex;padding:.3em 0">{name}</a>'
        words = ", ".join(f"{work.number} {_WORDS[work.status]}" for work in row.works)
        wraps = "letter-spacing:.15em;white-space:normal"
        fives = "<wbr>".join(signs[start : start + 5] for start in range(0, len(signs), 5))
        return link, f'<span role="img" aria-label="{words}" style="{wraps}">{fives}</span>', *rest


def _kept() -> str:
    return f"Noted in {progress_file()}, for all copies of the course on this machine."


def _day(iso: str) -> str:
    """A date as one says it: what was made today says so, whenever a solved edition is built."""
    return "today" if iso == date.today().isoformat() else iso


def _known(work: Work) -> Iterator[str]:
    """What is known of an exercise, in a few words each."""
    yield in_points(work.points, work.max_points)
    if work.first_right:
        yield f"first right: {_day(work.first_right)}"
    if work.attempts:
        yield f"{work.attempts} attempt{'s' if work.attempts > 1 else ''}"
    if work.seconds:
        yield f"{_minutes(work.seconds)} min"


def _rich_table(caption: str | None, head: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    from rich.markup import escape as literal
    from rich.table import Table

    table = Table(
        title=caption, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for name in head:
        table.add_column(name, justify="right" if name in _NUMBERS else "left")
    for row in rows:
        table.add_row(*(literal(plain(cell)) for cell in row))
    return table


def _html_table(caption: str, label: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose first column names its rows; cells are HTML. Where room is scarce, only names and signs break."""
    style = 'style="text-align:left;vertical-align:baseline;padding:.15em .6em .15em 0;white-space:{}{}"'
    top = "".join(f'<th scope="col" {style.format("normal", "")}>{text}</th>' for text in head)
    name, cell = style.format("normal", ";font-weight:normal"), style.format("nowrap", "")
    body = "".join(
        f'<tr><th scope="row" {name}>{first}</th>{"".join(f"<td {cell}>{text}</td>" for text in rest)}</tr>'
        for first, *rest in rows
    )
    said = f'<caption style="text-align:left;font-size:85%;opacity:.8">{caption}</caption>' if caption else ""
    table = f'<table style="border-collapse:collapse;margin:.2em 0;font-size:90%">{said}<thead><tr>{top}</tr></thead>'
    return scrolling(f"{table}<tbody>{body}</tbody></table>", label)


def _html_detail(row: Standing) -> str:
    """The exercises of a notebook, and below them what their mistakes were called."""
    said = "".join(f"<li>{work.number}: {prose(work.mistake)}</li>" for work in row.works if work.mistake)
    named = f'{_NAMED}<ul style="margin:.2em 0">{said}</ul>' if said else ""
    cells = (map(_breakable, work.cells) for work in row.works)
    return _html_table("", "The exercises of this notebook", _DETAIL, cells) + named


def _breakable(cell: str) -> str:
    """A cell whose long names may break behind an underscore: so all columns fit beside JupyterLab's side bars."""
    return prose(cell).replace("_", "_<wbr>")


def _folded(summary: str, inside: str) -> str:
    return (
        '<details style="margin-top:.3em">'
        f'<summary style="cursor:pointer">{escape(summary)}</summary>{inside}</details>'
    )
