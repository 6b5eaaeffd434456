"""The one writer: marks go into the gradebook, graded notebooks into ``autograded/``; of a submission all or nothing.

The graded notebook is put in place last and says what it was made from. So whenever a run is killed, what is not
certainly recorded is graded again by the next one, to the same marks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Set
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader import api
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import DDL, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DataError, DBAPIError
from traitlets.config import Config

from anatomy.classroom.grading.errors import GOES_ON, CannotRecord, in_brief
from anatomy.classroom.grading.fingerprints import hash_of
from anatomy.classroom.grading.marks_by_hand import needs_a_person
from anatomy.classroom.grading.notes import NotebookNote
from anatomy.classroom.grading.placing import put_in_place, write_beside
from anatomy.classroom.grading.recorded import answers_in, recorded_result
from anatomy.classroom.grading.report import SubmissionResult

if TYPE_CHECKING:
    from nbgrader.preprocessors import AssignLatePenalties


class GradebookWriter:
    """A course's gradebook and its graded notebooks, open for writing. Use it in one process and thread at a time."""

    def __init__(self, root: Path, config: Config, gradebook: Gradebook) -> None:
        self.gradebook = gradebook
        self.autograded = root / str(config.CourseDirectory.get("autograded_directory", "autograded"))
        self.config = config

    @cached_property
    def penalties(self) -> AssignLatePenalties | None:
        """The step that takes points off what is late, when it is one of the configured ones."""
        # What takes long to import, and a run that records nothing can do without.
        from nbgrader.preprocessors import AssignLatePenalties

        from anatomy.classroom.grading.pipeline import configured_steps

        if not any(issubclass(step, AssignLatePenalties) for step in configured_steps(self.config)):
            return None
        step = AssignLatePenalties(config=self.config)
        step.init_plugin()
        return step

    def holds(self, assignment: str) -> str:
        """A hash of what the gradebook says of the assignment's cells; "" when it does not know it."""
        try:
            book = self.gradebook.find_notebook(assignment, assignment)
        except MissingEntry:
            return ""
        cells = [
            [cell.name, cell.type, getattr(cell, "max_score", None)]
            for cell in (*book.grade_cells, *book.solution_cells, *book.task_cells)
        ]
        sources = [[cell.name, cell.cell_type, cell.locked, cell.checksum, cell.source] for cell in book.source_cells]
        return hash_of([json.dumps(sorted(rows, key=str)).encode() for rows in (cells, sources)])

    def add_indexes(self) -> None:
        """Let the database find the grades and comments of a submission without reading those of all others.

        nbgrader's tables have no index for this, so that each submission would cost more, the more there are.
        """
        bind = self.gradebook.db.get_bind()
        for table in ("grade", "comment"):
            name = f"anatomy_{table}_notebook"
            if name not in {index["name"] for index in inspect(bind).get_indexes(table)}:
                self.gradebook.db.execute(DDL(f"CREATE INDEX {name} ON {table} (notebook_id)"))
                self.gradebook.db.commit()

    # ---- what was recorded before -----------------------------------------------------------------------------------

    def unchanged(self, student: str, assignment: str, made_from: str) -> SubmissionResult | None:
        """The result as recorded, when it was made from exactly this; what lateness costs is worked out anew."""
        path = self.autograded / student / assignment / f"{assignment}.ipynb"
        with contextlib.suppress(OSError, ValueError, MissingEntry):
            text = path.read_text(encoding="utf-8")
            if made_from in text and NotebookNote.read(book := json.loads(text)).made_from == made_from:
                self._charge_lateness(self.gradebook.find_submission(assignment, student))
                if self.gradebook.db.dirty:
                    self.gradebook.db.commit()
                return recorded_result(self.gradebook, student, assignment, book)
        return None

    def graded(self, student: str, assignment: str) -> bytes:
        """The notebook as it was graded."""
        return (self.autograded / student / assignment / f"{assignment}.ipynb").read_bytes()

    def recorded(self, student: str, assignment: str) -> tuple[SubmissionResult, dict[str, Any]]:
        """What is recorded of a submission, and its graded notebook (no cells when that is gone)."""
        book: dict[str, Any] = {"cells": [], "metadata": {}}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self.graded(student, assignment))
            book = found if isinstance(found.get("cells"), list) else book
        return recorded_result(self.gradebook, student, assignment, book), book

    # ---- recording --------------------------------------------------------------------------------------------------

    def record(
        self,
        student: str,
        assignment: str,
        notebook: bytes,
        marks: Mapping[str, float | None],
        comments: Mapping[str, str | None],
        files: Mapping[str, bytes],
        timestamp: datetime | None,
    ) -> SubmissionResult:
        """Put one graded submission into the gradebook and, with its files, into ``autograded/``.

        Raises
        ------
        OSError, SQLAlchemyError
            When that can't be written; the gradebook is then as it was.
        """
        place = self.autograded / student / assignment
        changed = self._changed_answers(student, assignment, notebook)
        fresh = write_beside(place, {f"{assignment}.ipynb": notebook, **files}, 0o444)
        try:
            self._record(student, assignment, marks, comments, timestamp, changed)
            self.gradebook.db.commit()
        except BaseException:
            self.gradebook.db.rollback()
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        put_in_place(fresh, place)
        return recorded_result(self.gradebook, student, assignment, json.loads(notebook))

    def _record(
        self,
        student: str,
        assignment: str,
        marks: Mapping[str, float | None],
        comments: Mapping[str, str | None],
        timestamp: datetime | None,
        changed: Set[str] | None,
    ) -> None:
        """As nbgrader's autograding does it, but in one transaction."""
        submission = self._submission(student, assignment)
        submission.timestamp = timestamp
        (notebook,) = [one for one in submission.notebooks if one.name == assignment]
        for grade in notebook.grades:
            if grade.name in marks:
                points, name = marks[grade.name], str(grade.name).removeprefix("check-")
                other = grade.auto_score != points if changed is None else name in changed
                grade.needs_manual_grade = needs_a_person(grade, points, other)
                grade.auto_score = points
        for comment in notebook.comments:
            if comment.name in comments:
                comment.auto_comment = comments[comment.name]
        self.gradebook.db.flush()
        self.gradebook.db.refresh(notebook)
        self._charge_lateness(submission)

    def _charge_lateness(self, submission: SubmittedAssignment) -> None:
        """Take points off what is late, by the due date, the rule and the points of now; nothing off what is not."""
        (notebook,) = submission.notebooks
        penalty = None
        if submission.timestamp and submission.total_seconds_late > 0 and self.penalties:
            penalty = self.penalties.plugin_inst.late_submission_penalty(
                submission.student_id, notebook.score, submission.total_seconds_late
            )
            if penalty is not None:
                penalty = self.penalties._check_late_penalty(notebook, penalty)
        if penalty != notebook.late_submission_penalty:
            notebook.late_submission_penalty = penalty

    def known_times(self, assignment: str) -> dict[str, bool]:
        """Student → whether it is known when they handed in; nobody where nothing can be late."""
        from nbgrader.plugins import LateSubmissionPlugin

        asked = self.gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
        of_due = asked.join(Assignment, SubmittedAssignment.assignment)
        found = of_due.filter(Assignment.name == assignment, Assignment.duedate.is_not(None)).all()
        rule = self.penalties.plugin_inst if found and self.penalties else None
        if rule is None or (type(rule) is LateSubmissionPlugin and rule.penalty_method == "none"):
            return {}
        return {student: when is not None for student, when in found}

    def _changed_answers(self, student: str, assignment: str, notebook: bytes) -> Set[str] | None:
        """The exercises whose answers are not those that were graded before; None when these are not known."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            before, now = (answers_in(json.loads(text)) for text in (self.graded(student, assignment), notebook))
            return {name for name in before | now if before.get(name) != now.get(name)}
        return None

    def add_student(self, student: str) -> None:
        """Know a student of whom nothing can be recorded, so that lists of the class have a line for them."""
        try:
            self.gradebook.find_student(student)
        except MissingEntry:
            self.gradebook.db.add(Student(id=student))
            try:
                self.gradebook.db.commit()
            except DataError:  # the name is too long for it
                self.gradebook.db.rollback()

    def places(self) -> set[tuple[str, str]]:
        """(student, assignment) of each submission that is recorded."""
        asked = self.gradebook.db.query(SubmittedAssignment.student_id, Assignment.name)
        return {(student, name) for student, name in asked.join(Assignment, SubmittedAssignment.assignment)}

    def _submission(self, student: str, assignment: str) -> SubmittedAssignment:
        """The submission's entry with all that belongs to it, made when it is new."""
        with contextlib.suppress(MissingEntry):
            return self.gradebook.find_submission(assignment, student)
        try:
            person = self.gradebook.find_student(student)
        except MissingEntry:
            person = Student(id=student)
        entry = SubmittedAssignment(assignment=self.gradebook.find_assignment(assignment), student=person)
        for notebook in entry.assignment.notebooks:
            book = SubmittedNotebook(notebook=notebook, assignment=entry)
            for cell in [*notebook.grade_cells, *notebook.task_cells]:
                Grade(cell_id=cell.id, notebook=book)
            for cell in [*notebook.solution_cells, *notebook.task_cells]:
                Comment(cell_id=cell.id, notebook=book)
        self.gradebook.db.add(entry)
        self.gradebook.db.flush()
        return entry


@contextlib.contextmanager
def open_gradebook(root: Path, config: Config) -> Iterator[GradebookWriter]:
    """The course's gradebook for writing; it is made when there is none.

    Raises
    ------
    CannotRecord
        When it can't be read or written, now or while it is open.
    """
    put_alembic_on_path()
    api.get_alembic_version = _newest_schema
    url = CourseDirectory(config=config).db_url
    try:
        with Gradebook(url) as gradebook:
            yield GradebookWriter(root, config, gradebook)
    except DBAPIError as error:
        place, why = make_url(url).render_as_string(hide_password=True), in_brief(error.orig or error)
        raise CannotRecord(f"The gradebook {place} can't be used: {why}. {GOES_ON}") from error


def database_file(config: Config) -> Path | None:
    """The gradebook's file, which need not be there yet; None where a server has the gradebook."""
    url = make_url(CourseDirectory(config=config).db_url)
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None


def _newest_schema() -> str:
    """The version of nbgrader's tables. Its own function asks a program, which imports all of nbgrader again."""
    from alembic.script import ScriptDirectory  # only a gradebook that is new needs it

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())


def put_alembic_on_path() -> None:
    """nbgrader makes its database with a program called alembic, which sits beside this Python."""
    programs = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    if programs not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((programs, path))
