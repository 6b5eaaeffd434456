"""A course's ``feedback/``: which pages are right, and putting new ones in their place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.api import Gradebook, MissingEntry
from traitlets.config import Config

from anatomy.classroom.grading.feedback.drawings import Figures, figures_of
from anatomy.classroom.grading.feedback.freshness import HEAD, made_from, said_made_from
from anatomy.classroom.grading.feedback.standing import full_name, read_standing
from anatomy.classroom.grading.notes import NotebookNote
from anatomy.classroom.grading.placing import put_in_place, write_beside

if TYPE_CHECKING:
    from anatomy.classroom.grading.feedback.page import PageMaker

FILES_WITH_A_PAGE = (".png", ".jpg", ".jpeg", ".gif", ".txt")
"""How the names of files end that go with a page: pictures; when it was handed in, and its secret, which
`nbgrader release_feedback` wants to know. Nothing that a browser would run."""


class FeedbackFolder:
    """A course's ``feedback/``, open for writing: which pages are right, and putting new ones in their place."""

    def __init__(self, root: Path, config: Config, gradebook: Gradebook) -> None:
        self.folder = root / str(config.CourseDirectory.get("feedback_directory", "feedback"))
        self.released = root / str(config.CourseDirectory.get("release_directory", "release"))
        self._figures: dict[str, Figures] = {}
        self.config, self.gradebook = config, gradebook

    @cached_property
    def pages(self) -> PageMaker:
        # What takes long to import, and a run that makes no page can do without.
        from nbgrader.coursedir import CourseDirectory

        from anatomy.classroom.grading.feedback.page import PageMaker

        return PageMaker(self.config, CourseDirectory(config=self.config))

    def figures(self, assignment: str) -> Figures:
        """The drawings that pages of this assignment show; read once."""
        if assignment not in self._figures:
            self._figures[assignment] = figures_of(self.released / assignment)
        return self._figures[assignment]

    def name(self, student: str) -> str:
        """The student's name, if the gradebook has one."""
        try:
            person = self.gradebook.find_student(student)
        except MissingEntry:
            return ""
        return full_name(person.first_name, person.last_name)

    def is_right(self, student: str, assignment: str, graded_from: str) -> bool:
        """Whether the page is there and shows what the gradebook says of a notebook that was graded from this."""
        try:
            with self._file(student, assignment).open("rb") as file:
                found = said_made_from(file.read(HEAD))
            standing = read_standing(self.gradebook, student, assignment, assignment)
            return found == made_from(graded_from, standing, self.figures(assignment))
        except (OSError, MissingEntry):
            return False

    def discard(self, student: str, assignment: str) -> None:
        """Take a page away that will not be right any more."""
        self._file(student, assignment).unlink(missing_ok=True)

    def put(
        self, student: str, assignment: str, notebook: bytes, files: Mapping[str, bytes], page: bytes = b""
    ) -> None:
        """Put the page of a recorded notebook in its place, with those of these files that it may show.

        `page` is used if it is what the gradebook says, else it is made.
        """
        standing = read_standing(self.gradebook, student, assignment, assignment)
        graded_from, figures = NotebookNote.read(json.loads(notebook)).made_from, self.figures(assignment)
        if said_made_from(page) != made_from(graded_from, standing, figures):
            page = self.pages.page(notebook, student, assignment, standing, figures)
        shown = {name: content for name, content in files.items() if name.lower().endswith(FILES_WITH_A_PAGE)}
        place = self.folder / student / assignment
        put_in_place(write_beside(place, {**shown, f"{assignment}.html": page}, self.pages.permissions), place)

    def _file(self, student: str, assignment: str) -> Path:
        return self.folder / student / assignment / f"{assignment}.html"
