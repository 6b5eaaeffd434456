"""What a graded class looks like: a table, ``marks.csv`` and ``grades.csv``, and which mistake to teach on Monday."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anatomy.classroom.grading.spreadsheets import no_formula, number, write_rows
from anatomy.engine.cards.markup import MARKED
from anatomy.wiring import the_course

GRADED, REPAIRED, PARTLY, UNGRADED = "graded", "repaired", "partly graded", "ungraded"
OLDER, LATE, MISPLACED = "?", "L", "!"
SIGNS = {OLDER: "N? a mark by hand is older than its answer", LATE: "L late, with points off"}
"""What the signs behind points say that not every class has."""
MOST_TAUGHT = 5
"""Mistakes that the terminal shows; the report has more."""

MOST_GONE = 8
"""Students that the terminal names of those who have nothing in ``submitted/`` any more."""

_STYLES = {"code": "cyan", "b": "bold", "em": "italic"}


@dataclass(frozen=True)
class Mark:
    """One exercise of one submission.

    `points` is None when it is ungraded, which is not 0; `mistakes` has each one's sentence; `said` is the
    verdict in one line; `broken` are the properties that do not hold. `is_older` tells that a person gave the points to
    an earlier answer; `checked` is then what the check gives to this one, or None where it could not judge.
    """

    exercise: str
    points: float | None
    worth: float
    status: str
    mistakes: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    broken: tuple[str, ...] = ()
    is_older: bool = False
    checked: float | None = None

    @property
    def lost(self) -> float:
        """Points that each of its mistakes costs, in equal parts; 0 while it is ungraded or its mark is older."""
        missing = 0.0 if self.points is None or self.is_older else max(0.0, self.worth - self.points)
        return missing / max(1, len(self.mistakes))


@dataclass(frozen=True)
class SubmissionResult:
    """One submission: what became of it, with a reason for everything out of the ordinary."""

    student: str
    assignment: str
    status: str
    reasons: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    penalty: float = 0.0
    seconds: float = 0.0
    meant: str | None = None
    """Of a file that lies in the wrong place the notebook that its name tells, or "" where it tells none."""

    @property
    def points(self) -> float | None:
        """The total, or None when it is not known."""
        if self.status in (UNGRADED, PARTLY):
            return None
        return max(0.0, sum(mark.points or 0.0 for mark in self.marks) - self.penalty)

    @property
    def worth(self) -> float:
        return sum(mark.worth for mark in self.marks)

    @property
    def older_marks(self) -> tuple[str, ...]:
        """A sentence for each mark that a person gave to an earlier answer."""
        return tuple(
            on_older_mark(mark.exercise, mark.points or 0.0, mark.worth, mark.checked)
            for mark in self.marks if mark.is_older
        )  # fmt: skip

    @property
    def late(self) -> str:
        """What lateness cost, or "" when it cost nothing."""
        if not self.penalty:
            return ""
        before = (
            "" if self.points is None else f"{sum(mark.points or 0.0 for mark in self.marks):g} of {self.worth:g}, "
        )
        return f"{before}{self.penalty:g} off for being late."

    @property
    def signs(self) -> str:
        """What stands behind its points in a table; `SIGNS` has the words for it."""
        found = {"*": self.status == REPAIRED, OLDER: bool(self.older_marks), LATE: bool(self.penalty)}
        return "".join(sign for sign, holds in found.items() if holds)


def on_older_mark(exercise: str, points: float, worth: float, checked: float | None) -> str:
    """What an instructor should know of a mark that a person gave to an earlier answer."""
    check = "the check could not judge the new answer" if checked is None else f"the check gives {checked:g}"
    return (f"{exercise} is a new answer. The mark given by hand, {points:g} of {worth:g}, stands; {check}. "
            "In Formgrader, click Resolve to keep it, or empty the mark to use the check's; then grade "
            "again.")  # fmt: skip


@dataclass(frozen=True)
class Report:
    """All submissions of one run."""

    results: tuple[SubmissionResult, ...] = ()
    seconds: float = 0.0
    known: Comparison | None = None
    graded: int = 0
    """How many of them this run graded; the others had not changed, or can't be graded."""
    warning: str = ""
    pages: int | None = None
    """How many feedback pages this run made; None when none were wanted."""
    without_page: tuple[str, ...] = ()
    """Whose feedback page could not be made, and why."""
    command: str = ""
    """How `anatomy` is typed in this terminal."""
    made_up: int = 0
    """How many students of a made-up class have marks beside those of a real one."""
    gone: tuple[str, ...] = ()
    """Students whose marks are kept, though nothing of theirs lies in ``submitted/`` any more."""
    without_time: int = 0
    """How many submissions can't be late because no ``timestamp.txt`` says when they were handed in, though a late rule
    and a due date are set; `with_due_date` says of how many."""
    with_due_date: int = 0
    absent: tuple[str, ...] = ()
    """Students of the gradebook's class list of whom nothing was handed in."""

    @property
    def ungraded(self) -> list[SubmissionResult]:
        return [result for result in self.results if result.status in (UNGRADED, PARTLY)]

    @property
    def is_amiss(self) -> bool:
        """Whether something could not be graded that should be, or a made-up class has not its known marks."""
        if self.known:
            real = [result for result in self.ungraded if result.student in self.known.others]
            return bool(self.known.differing or real)
        return bool(self.ungraded)

    def mistakes(self) -> list[tuple[str, str, str, int]]:
        """(assignment, mistake, its sentence, students who make it), those first that cost the class most points."""
        costs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        sentences: dict[str, str] = {}
        for result in self.results:
            for mark in result.marks:
                for name, sentence in mark.mistakes.items():
                    costs[result.assignment, name, sentences.setdefault(name, sentence)].append(mark.lost)
        ranked = sorted(costs.items(), key=lambda found: (-sum(found[1]), -len(found[1])))
        return [(*place, len(lost)) for place, lost in ranked]


@dataclass(frozen=True)
class Comparison:
    """The submissions of a made-up class that were compared with their known marks, and what differs.

    `others` are the students of the same run of whose submissions nothing is known.
    """

    compared: int
    differing: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def as_dict(report: Report) -> dict[str, Any]:
    """The report for machines. What is ungraded has null for its points."""
    results = [
        {**asdict(result), "points": result.points, "worth": result.worth, "late": result.late,
         "older_marks": result.older_marks}
        for result in report.results
    ]  # fmt: skip
    known = asdict(report.known) if report.known else None
    return {"seconds": report.seconds, "graded": report.graded, "warning": report.warning, "known": known,
            "pages": report.pages, "without_page": report.without_page,
            "made_up": report.made_up, "gone": report.gone,
            "without_time": report.without_time, "with_due_date": report.with_due_date,
            "submissions": results}  # fmt: skip


def write_csv(results: Iterable[SubmissionResult], path: Path) -> None:
    """One line a submission: student, assignment, status, points, max, reason, then one column an exercise.

    What is ungraded is an empty field. The reason also says what lateness cost, and which marks by hand are older than
    their answers.
    """
    results = list(results)
    columns = list(dict.fromkeys(mark.exercise for result in results for mark in result.marks))
    rows = [["student", "assignment", "status", "points", "max", "reason", *columns]]
    for result in results:
        marks = {mark.exercise: mark.points for mark in result.marks}
        rows.append([
            no_formula(result.student), no_formula(result.assignment), result.status, number(result.points),
            number(result.worth) if result.marks else "",
            no_formula(" ".join(filter(None, (*result.reasons, *result.older_marks, result.late)))),
            *(number(marks.get(column)) for column in columns),
        ])  # fmt: skip
    write_rows(rows, path)


def write_marks(results: Iterable[SubmissionResult], path: Path, absent: Iterable[str] = ()) -> None:
    """One line a student: their points in each notebook, and in all; a line for what each is worth stands first.

    So have those who are `absent`, of whom nothing was handed in.

    A field is empty where nothing was handed in or a mark is still to be given; with the latter, so is the total. The
    last column has what was taken off for lateness, which is not in the points.
    """
    results = list(results)
    assignments = sorted({result.assignment for result in results if result.marks})
    worth = {name: max(one.worth for one in results if one.assignment == name) for name in assignments}
    rows = [["student", *map(no_formula, assignments), "total", "off for lateness"],
            ["(of)", *map(number, worth.values()), number(sum(worth.values())), ""]]  # fmt: skip
    for student in sorted({*absent, *(result.student for result in results)}):
        own = {result.assignment: result.points for result in results if result.student == student}
        total = None if not own or None in own.values() else sum(filter(None, own.values()))
        off = sum(result.penalty for result in results if result.student == student)
        rows.append([
            no_formula(student), *(number(own.get(name)) for name in assignments), number(total), number(off or None)
        ])  # fmt: skip
    write_rows(rows, path)


def show(report: Report, console: Console) -> None:
    """The table, then what needs a look, then what the class got wrong most."""
    graded, of = sum(result.status != UNGRADED for result in report.results), len(report.results)
    if graded:
        console.print(_table(report.results))
        key = ["– not handed in", "* repaired", "? waits for a person, which is not 0 (?N+: N points or more)"]
        key += [words for sign, words in SIGNS.items() if any(sign in result.signs for result in report.results)]
        if any(result.meant is not None for result in report.results):
            key.append(f"{MISPLACED} handed in, but misplaced: see below")
        console.print(f"[dim]{'   '.join(key)}[/dim]\n", highlight=False)
    if report.absent:
        names = verbatim(", ".join(report.absent))
        console.print(Text.assemble(("nothing handed in", "yellow"), " by ", names), soft_wrap=True)
    for result in report.results:
        if result.status in (UNGRADED, PARTLY):
            _show_line(result.status, "yellow", result, " ".join(result.reasons), console)
    for result in report.results:
        for sentence in result.older_marks:
            _show_line("new answer", "yellow", result, sentence, console)
    for result in report.results:
        if result.late:
            _show_line("late", "cyan", result, result.late, console)
    for result in report.results:
        if result.status == REPAIRED:
            _show_line(result.status, "cyan", result, " ".join(result.reasons), console)
    if mistakes := report.mistakes():
        shared = [mistake for mistake in mistakes if mistake[-1] > 1]  # as in the class report
        one = len({result.student for result in report.results}) == 1
        heading = (
            "Mistakes" if one else "What to teach on Monday" if shared else "No two students make the same mistake"
        )
        console.print(f"\n[bold]{heading}[/bold]")
        listed = shared or mistakes
        for assignment, name, sentence, count in listed[:MOST_TAUGHT]:
            students = "1 student" if count == 1 else f"{count} students"
            where = verbatim(f"  {students}, {assignment}, {name.partition('__')[0]}: ")
            console.print(where + _prose(sentence), soft_wrap=True)
        if len(listed) > MOST_TAUGHT:
            console.print(f"  … and {len(listed) - MOST_TAUGHT} more, which are in the report.", highlight=False)
    if report.known:
        _show_comparison(report.known, console)
    _show_who_else_counts(report, console)
    if report.warning:
        console.print(f"[yellow]! {report.warning}[/yellow]", highlight=False, soft_wrap=True)
    if report.without_time:
        late = "it is not late" if report.without_time == 1 else "none of these is late"
        console.print(f"! {report.without_time} of {report.with_due_date} submissions with a due date have no time of "
                      f"handing in (no timestamp.txt), so {late}.",
                      style="yellow", highlight=False, soft_wrap=True)  # fmt: skip
    for line in report.without_page:
        console.print(Text.assemble(("no feedback page", "yellow"), " for ", verbatim(line)), soft_wrap=True)
    if not graded:
        which = "the one file has" if of == 1 else f"each of the {of} files has"
        console.print(f"Nothing is graded: {which} a line above that says why. Do what it says, then grade again. "
                      "The lines are in grades.csv, too.", highlight=False, soft_wrap=True)  # fmt: skip
        return
    new = "" if report.graded >= graded else f", {report.graded} of them new or changed"
    pages = {None: "", 0: "; pages for students: feedback/"}.get(report.pages, "; pages for students: feedback/, "
                                                                 f"{report.pages} of them new")  # fmt: skip
    submissions = f"{'submission' if of == 1 else 'submissions'} {'is' if graded == 1 else 'are'}"
    console.print(f"{graded} of {of} {submissions} graded{new}. {report.seconds:.0f} s. "
                  "Marks: marks.csv; of each exercise: grades.csv; "
                  f"details: Formgrader{pages}.", highlight=False, soft_wrap=True)  # fmt: skip
    if report.command:
        words = verbatim(f"Which mistakes the class makes, and who makes them: {report.command} report")
        console.print(words, soft_wrap=True)


def verbatim(text: str) -> Text:
    """Text from a submission, shown as it is: no markup, and nothing that would steer a terminal."""
    return Text("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


def _prose(sentence: str) -> Text:
    """A sentence with its marks for code, strong and emphasized words set."""
    said, last = Text(), 0
    for marked in MARKED.finditer(sentence):
        kind = marked.lastgroup or ""
        said += verbatim(sentence[last : marked.start()])
        said.append(verbatim(marked[kind]).plain, _STYLES[kind])
        last = marked.end()
    return said + verbatim(sentence[last:])


def _show_line(kind: str, color: str, result: SubmissionResult, said: str, console: Console) -> None:
    words = verbatim(f" {result.student}, {result.assignment}: {said}")
    console.print(Text.assemble((kind, color), words), soft_wrap=True)


def _show_comparison(known: Comparison, console: Console) -> None:
    if not known.differing:
        whose = "the one submission equal" if known.compared == 1 else f"all {known.compared} submissions equal"
        words = f"Of the made-up class, the marks of {whose} the known ones."
        console.print(f"\n[green]✓[/green] {words}", highlight=False)
        return
    console.print("\n[red]✗[/red] Of the made-up class, not all marks are the known ones:", highlight=False)
    for line in known.differing:
        console.print(verbatim(f"  {line}"), soft_wrap=True)


def _show_who_else_counts(report: Report, console: Console) -> None:
    """Who is in the tables beside the class that hands in, and how they are taken out."""
    said: list[str] = []
    if report.made_up:
        said.append(f"! marks.csv and the report also count a made-up class, of {report.made_up} students. "
                    f"To take it out: {report.command} sample-class --remove")  # fmt: skip
    if report.gone:
        names = ", ".join(report.gone[:MOST_GONE]) + (" …" if len(report.gone) > MOST_GONE else "")
        said.append("! These students have nothing in submitted/ any more. marks.csv and the report still count their "
                    f"marks: {names}. To take one out: .venv/bin/nbgrader db student remove NAME --force")  # fmt: skip
    for line in said:
        console.print(verbatim(line), style="yellow", soft_wrap=True)


def _table(results: Iterable[SubmissionResult]) -> Table:
    results = list(results)
    known = {book.slug for book in the_course().notebooks}  # a folder may be called anything; what is none has a reason
    assignments = sorted({result.assignment for result in results if result.marks or result.assignment in known})
    by_place = {(result.student, result.meant or ""): result for result in results if result.meant}
    by_place |= {(result.student, result.assignment): result for result in results}
    many = len(assignments) > 6
    table = Table(box=box.SIMPLE_HEAD if many else box.HEAVY_HEAD, padding=(0, 0 if many else 1), pad_edge=not many)
    table.add_column("student", no_wrap=True)
    worth = {name: max(one.worth for one in results if one.assignment == name) for name in assignments}
    with_total = len(assignments) > 1 or any(one.assignment not in assignments for one in results)
    for name, points in [*worth.items(), *([("total", sum(worth.values()))] if with_total else [])]:
        number, _, words = name.partition("-")
        lines = (number, f"/{points:g}") if many else (number, words, f"of {points:g}")
        table.add_column(Text("\n").join(map(verbatim, lines)), justify="right", overflow="fold")
    for student in sorted({result.student for result in results}):
        own = [by_place.get((student, name)) for name in assignments]
        total = _total(one for one in results if one.student == student)
        table.add_row(verbatim(student), *map(_in_table, own), *([_in_table(total)] if with_total else []))
    return table


def _total(own: Iterable[SubmissionResult]) -> SubmissionResult:
    """What a student's submissions come to, as one."""
    found = list(own)
    if all(one.status == UNGRADED for one in found):
        return found[0]
    status = GRADED if all(one.points is not None for one in found) else PARTLY
    marks = tuple(mark for one in found for mark in one.marks)
    return SubmissionResult(found[0].student, "total", status, (), marks, sum(one.penalty for one in found))


def _in_table(result: SubmissionResult | None) -> str:
    if result is None:
        return "[dim]–[/dim]"
    if result.status == UNGRADED:
        return f"[yellow]{MISPLACED if result.meant is not None else '?'}[/yellow]"
    known = sum(mark.points or 0.0 for mark in result.marks)
    if result.status == PARTLY:
        return f"[yellow]?{known:g}+[/yellow]"
    points = f"{result.points:g}{result.signs}"
    return f"[green]{points}[/green]" if result.points == result.worth else points
