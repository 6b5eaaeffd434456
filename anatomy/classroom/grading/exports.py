"""The gradebook's marks for a learning platform, as files that Canvas and Moodle import.

These are exporters of nbgrader's: ``nbgrader export --exporter=anatomy.classroom.grading.exports.CanvasExporter``.
Late penalties are subtracted as nbgrader does it. Unlike nbgrader's own table, nothing here says 0 of work that was not
handed in or that waits for a person's mark.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Assignment, Comment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import ExportPlugin
from traitlets import Dict, Unicode

from anatomy.classroom.grading.marks_by_hand import is_older
from anatomy.classroom.grading.report import on_older_mark
from anatomy.classroom.grading.spreadsheets import no_formula, number, write_rows
from anatomy.engine.cards.markup import plain

NO_MARK = "-"
"""What Moodle writes itself where there is no mark. It makes an empty field of a new grade item a 0."""


@dataclass(frozen=True)
class Marks:
    """One assignment of a class: students' ids → points, None where there is no mark, and → what was said of it.

    `older` has (student, sentence) for each mark that a person gave to an earlier answer; these count.
    """

    assignment: Assignment
    points: dict[str, float | None]
    feedback: dict[str, str]
    older: tuple[tuple[str, str], ...]


class PlatformExporter(ExportPlugin):
    """What both have in common: whom and what to export, and which marks there are."""

    filename = ""

    def export(self, gradebook: Gradebook) -> None:
        """Write the file, at ``--to`` or under the platform's name."""
        students = sorted(chosen(gradebook.students, self.student, "id"), key=sortable_name)
        assignments = sorted(chosen(gradebook.assignments, self.assignment, "name"), key=lambda one: one.name)
        if not self.assignment:
            assignments = [one for one in assignments if one.num_submissions]
        if not students or not assignments:
            self.log.error(
                "The gradebook has no such students or assignments: nothing to export. `anatomy grade` fills it; "
                "`nbgrader db student list` and `nbgrader db assignment list` say what it has."
            )
            sys.exit(1)
        path = Path(self.to or self.filename)
        columns = [marks(gradebook, assignment) for assignment in assignments]
        rows = [list(row) for row in self.rows(students, columns)]
        for row in rows:
            for place, field in enumerate(row):
                if field != NO_MARK and no_formula(field) != field:
                    row[place] = no_formula(field)
                    self.log.warning("A spreadsheet could take %r for a formula: a ' stands before it.", field)
        try:
            write_rows(rows, path)
        except OSError as error:
            self.log.error("%s could not be written: %s", path, error.strerror)
            sys.exit(1)
        wanted = {student.id for student in students}
        for student, sentence in (one for column in columns for one in column.older):
            if student in wanted:
                self.log.warning("%s", sentence)
        self.log.info("Wrote %s (students: %d, assignments: %d)", path, len(students), len(assignments))

    def rows(self, students: list[Student], columns: list[Marks]) -> Iterator[list[str]]:
        """The lines of the file, the first one with the columns' names."""
        raise NotImplementedError


class CanvasExporter(PlatformExporter):
    """Canvas: in the course's Gradebook, *Import*.

    The columns are those of Canvas' own export: ``Student, ID, SIS User ID, SIS Login ID, Section``, then one an
    assignment, which is found by its title, or by the number in ``Title (4711)``. Below them stands
    ``Points Possible``. Canvas' line on hidden marks (``Manual Posting``, formerly ``Muted``) only informs: the import
    leaves it out, and so does this file. A student is found by ID, else by SIS User ID, else by SIS Login ID, else by
    name.

    The columns are listed at
    https://teaching.resources.osu.edu/toolsets/carmencanvas/guides/calculating-final-grades/import-csv-file-carmen-grades;
    the rest is what ``lib/gradebook_importer.rb`` of https://github.com/instructure/canvas-lms does.
    """

    filename = "canvas.csv"
    identity = Dict(
        {"ID": "lms_user_id", "SIS User ID": "", "SIS Login ID": "id"},
        help="Which field of the gradebook's students (id, email, lms_user_id) each of Canvas' columns holds.",
    ).tag(config=True)
    titles = Dict(
        help="Notebook → the assignment's title in Canvas, or its 'Title (number)', where that is not the notebook's."
    ).tag(config=True)
    section = Unicode(help="The section's name, which Canvas shows but does not need.").tag(config=True)

    def rows(self, students: list[Student], columns: list[Marks]) -> Iterator[list[str]]:
        names = [one.assignment.name for one in columns]
        yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(self.titles.get(n, n) for n in names)]
        yield ["    Points Possible", "", "", "", "", *(number(one.assignment.max_score) for one in columns)]
        for student in students:
            number_, user, login = (
                str(getattr(student, self.identity.get(column) or "", None) or "")
                for column in ("ID", "SIS User ID", "SIS Login ID")
            )
            # Canvas reads "12ab" as the number 12, which may be somebody else's.
            yield [sortable_name(student), number_ if number_.isdecimal() else "", user, login, self.section,
                   *(number(one.points.get(student.id)) for one in columns)]  # fmt: skip


class MoodleExporter(PlatformExporter):
    """Moodle: *Grades › Import › CSV file*, which asks what each column is.

    The columns are those of Moodle's own export, which it imports again (https://docs.moodle.org/405/en/Grade_import):
    ``First name, Last name, Username, ID number, Email address``, then points and feedback of each assignment. The page
    warns that feedback imported without its points removes them: so they stand side by side.

    Moodle knows a student by *one* of these columns. It takes a line in which that field is empty for the student above
    (``grade/import/csv/classes/load_data.php`` of https://github.com/moodle/moodle); so a column in which somebody's
    field would be empty is left out.
    """

    filename = "moodle.csv"

    def rows(self, students: list[Student], columns: list[Marks]) -> Iterator[list[str]]:
        known = {
            "Username": [student.id for student in students],
            "ID number": [student.lms_user_id or "" for student in students],
            "Email address": [student.email or (student.id if "@" in student.id else "") for student in students],
        }
        for name in [name for name, fields in known.items() if not all(fields)]:
            without = [student.id for student, field in zip(students, known.pop(name), strict=True) if not field]
            more = f" and {len(without) - 5} more" if len(without) > 5 else ""
            self.log.warning("No column %r: the gradebook has none for %s%s", name, ", ".join(without[:5]), more)
        if [*known] == ["Username"]:
            self.log.warning(
                "Moodle can look for students by Username only, here the folder's name, such as %s. If Moodle's "
                "usernames are others, it finds nobody: first add e-mail addresses with `nbgrader db student import`.",
                students[0].id,
            )
        names = [one.assignment.name for one in columns]
        yield ["First name", "Last name", *known, *(title for n in names for title in (n, f"{n} (Feedback)"))]
        for place, student in enumerate(students):
            yield [student.first_name or "", student.last_name or "", *(fields[place] for fields in known.values())] + [
                field for one in columns
                for field in (number(one.points.get(student.id)) or NO_MARK, one.feedback.get(student.id, ""))
            ]  # fmt: skip


def chosen(entries: list, wanted: list, key: str) -> list:
    """The entries that were asked for, or all."""
    names = {str(name) for name in wanted}
    return [entry for entry in entries if not names or getattr(entry, key) in names]


def marks(gradebook: Gradebook, assignment: Assignment) -> Marks:
    """The marks of one assignment. Who has not handed in is not in them; what waits for a mark is None.

    The feedback is what a person wrote in Formgrader, and what was taken off for lateness.
    """
    who = SubmittedAssignment.student_id
    marked, commented = (
        gradebook.db.query(who, *fields).select_from(SubmittedAssignment).join(SubmittedNotebook).join(kind)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
        for kind, fields in ((Grade, (Grade.auto_score, Grade.manual_score)), (Comment, (Comment.manual_comment,)))
    )  # fmt: skip
    whole: dict[str, bool] = {}
    for student, automatic, manual in marked:
        whole[student] = whole.get(student, True) and not (automatic is None and manual is None)
    written: dict[str, list[str]] = {}
    for student, comment in commented:
        if comment and comment.strip():
            written.setdefault(student, []).append(plain(" ".join(comment.split())))
    points: dict[str, float | None] = {}
    totals = gradebook.db.query(who, SubmittedAssignment.score, SubmittedAssignment.late_submission_penalty)
    for student, score, penalty in totals.filter(SubmittedAssignment.assignment_id == assignment.id):
        points[student] = max(0.0, score - penalty) if whole.get(student) else None
        if penalty and whole.get(student):
            written.setdefault(student, []).append(f"Handed in late: {penalty:g} points off.")
    by_hand = gradebook.db.query(who, Grade).select_from(SubmittedAssignment).join(SubmittedNotebook).join(Grade)
    by_hand = by_hand.filter(SubmittedAssignment.assignment_id == assignment.id, Grade.manual_score.is_not(None))
    older = tuple(
        (student, f"{student}, {assignment.name}: " + on_older_mark(
            grade.name.removeprefix("check-"), grade.score, grade.max_score, grade.auto_score))
        for student, grade in by_hand if is_older(grade)
    )  # fmt: skip
    return Marks(assignment, points, {student: " ".join(said) for student, said in written.items()}, older)


def sortable_name(student: Student) -> str:
    """Last name, First name; or the id of a student whose name the gradebook does not have."""
    return ", ".join(name for name in (student.last_name, student.first_name) if name) or student.id
