"""The page that a student gets back: the graded notebook, with what the gradebook says of it.

`nbgrader generate_feedback` and Formgrader's button make it with `FillIn` and `FeedbackPage` (see
``nbgrader_config.py``). `anatomy grade` makes the same page with them. Its workers make it from the marks that they
give; where the gradebook knows better (marks and comments by hand, penalties), the page is made once more.

A page says what it was made from, so that the next run sees whether it is still right.
"""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import Config

from anatomy.classroom.grading.feedback.outline import contents_of
from anatomy.classroom.grading.feedback.drawings import Figures, figures_of, with_figures
from anatomy.classroom.grading.feedback.freshness import made_from
from anatomy.classroom.grading.feedback.standing import Standing, read_standing
from anatomy.classroom.grading.notes import NotebookNote

SETTINGS = ("Exporter", "GenerateFeedback", "HTMLExporter", "NbConvertBase", "TemplateExporter")
"""The sections of ``nbgrader_config.py`` that a page goes by."""


class FillIn(NbGraderPreprocessor):
    """Say what the page shows: what the gradebook says, and of the notebook its answers first."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        standing: Standing = about.get("standing") or self._from_gradebook(about)
        about.update(
            standing=standing,
            contents=contents_of(nb, about["notebook"], standing),
            waiting=sum(mark.waits for mark in standing.marks.values()),
            made_from=made_from(NotebookNote.read(nb).made_from, standing, about["figures"]),
        )
        return nb, resources

    def _from_gradebook(self, about: dict[str, Any]) -> Standing:
        with Gradebook(about["db_url"]) as gradebook:
            return read_standing(gradebook, about["student"], about["assignment"], about["notebook"])


# ---------------------------------------------------------------------------------------------- the page


class FeedbackPage(HTMLExporter):
    """nbconvert's exporter, which reads a finished page all over again to add some attributes. This one doesn't.

    Text for pictures that have none is all it would add here, and our cleaning and template see to that. What it adds
    is the course's figures.
    """

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = self._init_resources(resources)
        about = resources["nbgrader"]
        if "figures" not in about:
            about["figures"] = self._figures(about["assignment"])
        page, resources = TemplateExporter.from_notebook_node(self, nb, resources, **kw)
        return with_figures(page, about["figures"]), resources

    def _figures(self, assignment: str) -> Figures:
        assert isinstance(self.parent, GenerateFeedback), "nbgrader's converter makes its exporter"
        course = self.parent.coursedir
        return figures_of(Path(course.format_path(course.release_directory, ".", assignment)))


class PageMaker:
    """Makes pages with nbgrader's own exporter, which is set up once: that takes longer than a page."""

    def __init__(self, config: Config, coursedir: CourseDirectory | None = None) -> None:
        log = logging.Logger("anatomy.pages", logging.CRITICAL)
        converter = GenerateFeedback(coursedir=coursedir or CourseDirectory(), config=config, log=log)
        self.permissions = int(str(converter.permissions), 8)
        self.exporter = converter.exporter_class(parent=converter, config=converter.config)
        for step in converter.preprocessors:
            self.exporter.register_preprocessor(step)

    def page(self, notebook: bytes, student: str, assignment: str, standing: Standing, figures: Figures) -> bytes:
        """The page of one graded notebook."""
        about = {"student": student, "assignment": assignment, "notebook": assignment, "standing": standing,
                 "figures": figures}  # fmt: skip
        book = nbformat.v4.reads(notebook.decode())  # `nbformat.reads` also validates it, for a log that nobody reads
        html, _ = self.exporter.from_notebook_node(book, resources={"nbgrader": about})
        return str(html).encode()


@lru_cache(maxsize=4)
def page_maker(settings: str) -> PageMaker:
    """A maker of pages for settings that came as JSON."""
    return PageMaker(Config(json.loads(settings)))


def page_settings(config: Config) -> str:
    """The settings that pages go by as JSON, or "" when they hold something that JSON can't."""
    try:
        return json.dumps({name: config[name] for name in SETTINGS if name in config}, sort_keys=True)
    except TypeError:
        return ""
