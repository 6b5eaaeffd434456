"""The table that a run prints, and grades.csv."""

from __future__ import annotations

import io

from rich.console import Console

from anatomy.classroom.grading.progress_bar import progress_bar
from anatomy.classroom.grading.report import (
    GRADED,
    PARTLY,
    REPAIRED,
    UNGRADED,
    Comparison,
    Mark,
    Report,
    SubmissionResult,
    show,
    write_csv,
    write_marks,
)

HOSTILE = "ada [/b] [red] :smile: \x1b[31m"
SHOWN = "ada [/b] [red] :smile: \N{REPLACEMENT CHARACTER}[31m"


def test_what_comes_from_a_submission_is_shown_as_it_is():
    marks = (Mark("softmax", 0.0, 5.0, "wrong", {"softmax__axis": HOSTILE}),)
    results = (
        SubmissionResult(HOSTILE, f"03-{HOSTILE}", REPAIRED, (f"The file was called {HOSTILE}.",), marks),
        SubmissionResult(HOSTILE, "04-heads", UNGRADED, (HOSTILE,)),
    )
    printed = io.StringIO()
    report = Report(results, known=Comparison(1, (HOSTILE,)), without_page=(HOSTILE,))
    show(report, Console(file=printed, width=400))
    text = printed.getvalue()
    assert "\x1b" not in text
    for line in (f"repaired {SHOWN}, 03-{SHOWN}: The file was called {SHOWN}.", f"ungraded {SHOWN}, 04-heads: {SHOWN}",
                 f"softmax: {SHOWN}", f"no feedback page for {SHOWN}", f"│ {SHOWN} │"):  # fmt: skip
        assert line in text, line


def test_a_folder_that_is_no_assignment_makes_no_column():
    marks = (Mark("softmax", 5.0, 5.0, "right"),)
    odd = ("03-softmax\N{DIVISION SLASH}", "03\N{FRACTION SLASH}softmax", "03\\softmax", "notes", "..03-softmax")
    results = [SubmissionResult("ada", "03-softmax", GRADED, (), marks), SubmissionResult("eve", "04-heads", UNGRADED)]
    results += [SubmissionResult("bob", name, UNGRADED, ("No notebook is called so.",)) for name in odd]
    printed = io.StringIO()
    show(Report(tuple(results)), Console(file=printed, width=200))
    table, _, below = printed.getvalue().partition("not handed in")
    assert table.splitlines()[1].split("┃")[2:-1] == ["      03 ", "    04 ", " total "]
    assert "bob" in table and all(f"ungraded bob, {name}: No notebook is called so." in below for name in odd)


def test_several_notebooks_have_a_total():
    five = (Mark("softmax", 5.0, 5.0, "right"),)
    results = [SubmissionResult("ada", f"0{n}-x", GRADED, (), five) for n in range(7)]
    results += [SubmissionResult("bob", "00-x", GRADED, (), five), SubmissionResult("bob", "01-x", UNGRADED, ("why",))]
    results += [SubmissionResult("cyd", "01-x", UNGRADED, ("why",))]
    printed = io.StringIO()
    show(Report(tuple(results)), Console(file=printed, width=80))
    totals = [line.split()[-1] for line in printed.getvalue().splitlines()[1:7] if "─" not in line]
    assert totals == ["total", "/35", "35", "?5+", "?"]


def test_what_costs_most_is_taught_first():
    often, dear = {"softmax__often": "You often."}, {"softmax__dear": "You dear."}
    results = [
        SubmissionResult(f"s{n}", "03-x", GRADED, (), (Mark("softmax", 4.0, 5.0, "wrong", often),)) for n in (1, 2)
    ]
    results += [SubmissionResult("ada", "03-x", GRADED, (), (Mark("softmax", 0.0, 5.0, "wrong", dear),))]
    assert Report(tuple(results)).mistakes() == [
        ("03-x", "softmax__dear", "You dear.", 1), ("03-x", "softmax__often", "You often.", 2),
    ]  # fmt: skip


def test_the_bar_shows_names_as_they_are():
    printed = io.StringIO()
    with progress_bar(Console(file=printed, width=200, force_terminal=True)) as bar:
        bar.update(bar.add_task("starting", total=1), description="ada [/b], 03-softmax")
    assert "ada [/b], 03-softmax" in printed.getvalue()


def test_a_file_gets_a_plain_line_now_and_then():
    printed, clock = io.StringIO(), [0.0]
    with progress_bar(Console(file=printed, width=40, get_time=lambda: clock[0])) as bar:
        task = bar.add_task("starting", total=40)
        for clock[0] in (1.0, 9.0, 12.0, 13.0, 21.0, 24.0):
            bar.update(task, advance=1, description="ada, 03-softmax")
        bar.update(task, description="done")
    said = printed.getvalue().splitlines()
    assert said == ["starting: 40 to do", "3 of 40 done after 12 s", "6 of 40 done after 24 s"]


def test_a_spreadsheet_takes_no_name_for_a_formula(tmp_path):
    write_csv([SubmissionResult("=cmd()", "03-softmax", UNGRADED, ("+1",))], tmp_path / "grades.csv")
    assert (tmp_path / "grades.csv").read_text("utf-8").splitlines()[1] == "'=cmd(),03-softmax,ungraded,,,'+1"


def test_marks_are_a_line_a_student_with_a_total(tmp_path):
    def result(student, assignment, *points):
        marks = tuple(Mark(f"one-{n}", value, 5, "graded", "") for n, value in enumerate(points))
        return SubmissionResult(student, assignment, GRADED if None not in points else PARTLY, (), marks)

    results = [
        result("ada", "03-softmax", 5, 2.5),
        result("ada", "04-heads", 1),
        result("bob", "03-softmax", 5, None),
        result("=eve", "04-heads", 5),
        SubmissionResult("bob", "04-heads", UNGRADED, ("no notebook",)),
    ]
    write_marks(results, tmp_path / "marks.csv")
    assert (tmp_path / "marks.csv").read_text("utf-8").splitlines() == [
        "student,03-softmax,04-heads,total,off for lateness",
        "(of),10,5,15,",
        "'=eve,,5,5,",
        "ada,7.5,1,8.5,",
        "bob,,,,",
    ]


def test_what_to_teach_has_its_marks_set_not_shown():
    said = {"softmax__along": "Your `softmax` runs over **all** the *queries*: 2 * 3 * 4, (D ** 1), `D ** 2`."}
    mark = Mark("softmax", 0, 5, "wrong", said)
    printed = io.StringIO()
    show(Report((SubmissionResult("ada", "03-softmax", GRADED, (), (mark,)),)), Console(file=printed, width=200))
    assert "Your softmax runs over all the queries: 2 * 3 * 4, (D ** 1), D ** 2." in printed.getvalue()


def test_more_mistakes_than_shown_are_counted_and_the_report_is_named():
    many = [
        SubmissionResult(student, "03-x", GRADED, (), (
            Mark("softmax", 0.0, 5.0, "wrong", {f"softmax__{n}": f"You {n}." for n in range(8)}),
        )) for student in ("ada", "bob")
    ]  # fmt: skip
    printed = io.StringIO()
    show(Report(tuple(many), command=".venv/bin/anatomy"), Console(file=printed, width=200))
    text = printed.getvalue()
    assert "You 4." in text and "You 5." not in text and "… and 3 more, which are in the report." in text
    assert "Which mistakes the class makes, and who makes them: .venv/bin/anatomy report" in text


def test_what_one_student_does_is_not_for_monday():
    def printed(*students: str) -> str:
        own = Mark("softmax", 0, 5, "wrong", {"softmax__own": "Yours alone."})
        both = Mark("softmax", 4, 5, "wrong", {"softmax__along": "It runs over the queries."})
        marks = [SubmissionResult(student, "03-softmax", GRADED, (), (both,)) for student in students]
        page = io.StringIO()
        show(Report((SubmissionResult("ada", "03-softmax", GRADED, (), (own,)), *marks)), Console(file=page, width=200))
        return page.getvalue()

    alone, shared = printed("bob"), printed("bob", "eve")
    assert "\nMistakes\n" in printed() and "No two students" not in printed()
    assert "No two students make the same mistake" in alone and "Monday" not in alone and "Yours alone." in alone
    assert "What to teach on Monday" in shared and "runs over the queries" in shared and "Yours alone." not in shared
