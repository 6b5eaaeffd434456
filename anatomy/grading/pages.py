"""The page that a student gets back: the graded notebook, with what the gradebook says of it.

`nbgrader generate_feedback` and Formgrader's button make it with `FillIn` and `FeedbackPage` (see
``nbgrader_config.py``). `anatomy grade` makes the same page with them. Its workers make it from the marks that they
give; where the gradebook knows better (marks and comments by hand, penalties), the page is made once more.

A page says what it was made from, so that the next run sees whether it is still right.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
import shutil
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import Config

from anatomy.grading.repair import NOTE

SETTINGS = ("Exporter", "GenerateFeedback", "HTMLExporter", "NbConvertBase", "TemplateExporter")
"""The sections of ``nbgrader_config.py`` that a page goes by."""
_MADE_FROM = re.compile(rb'<meta name="made-from" content="(\w+)"')

BESIDE_A_PAGE = (".png", ".jpg", ".jpeg", ".gif", ".txt")
"""How the names of files end that go with a page: pictures; when it was handed in, and its secret, which
`nbgrader release_feedback` wants to know. Nothing that a browser would run."""

Standing = Mapping[str, Any]
"""What the gradebook says of a notebook, as JSON has it: ``score`` and ``worth``, ``penalty``, ``marks`` (check →
[points, worth, whether it waits for a person]) and ``comments`` (answer → text)."""


# ---------------------------------------------------------------------------------------------- what the gradebook says


def standing(gradebook: Gradebook, student: str, assignment: str, notebook: str) -> Standing:
    """What the gradebook says now.

    Raises
    ------
    MissingEntry
        When it knows of no such submission.
    """
    book = gradebook.find_submission_notebook(notebook, assignment, student)
    marks = {
        str(grade.name): [_number(grade.score), _number(grade.max_score), grade.auto_score is None and
                          grade.manual_score is None] for grade in book.grades
    }  # fmt: skip
    comments = {str(comment.name): str(comment.comment) for comment in book.comments if comment.comment}
    return {"score": _number(book.score), "worth": _number(book.max_score), "marks": marks, "comments": comments,
            "penalty": _number(book.late_submission_penalty)}  # fmt: skip


def foreseen(book: NotebookNode, marks: Mapping[str, float | None], comments: Mapping[str, str | None]) -> Standing:
    """What the gradebook will say when nothing is done by hand and nothing is late."""
    worth = {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points for cell in book.cells
             if utils.is_grade(cell)}  # fmt: skip
    return {
        "score": _number(sum(points or 0.0 for points in marks.values())), "worth": _number(sum(worth.values())),
        "marks": {name: [_number(points), _number(worth[name]), points is None] for name, points in marks.items()},
        "comments": {name: text for name, text in comments.items() if text}, "penalty": 0.0,
    }  # fmt: skip


def _number(value: float | None) -> float:
    """As far as a page shows it: sums in other orders are the same."""
    return round(float(value or 0.0), 9)


class FillIn(NbGraderPreprocessor):
    """Write what the gradebook says into the notebook, as nbgrader's `GetGrades` does; also which marks are missing."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        says = about.get("standing") or self._looked_up(about)
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if utils.is_grade(cell) or utils.is_task(cell):
                score, points, waits = says["marks"][name]
                cell.metadata.nbgrader.update(score=score, points=points, waits=waits)
            if utils.is_solution(cell) or utils.is_task(cell):
                cell.metadata.nbgrader["comment"] = says["comments"].get(name)
        about.update(
            score=says["score"] - says["penalty"], max_score=says["worth"], late_penalty=says["penalty"],
            waiting=sum(waits for *_, waits in says["marks"].values()),
            made_from=made_from(nb.metadata.get(NOTE, {}).get("from", ""), says),
        )  # fmt: skip
        return nb, resources

    def _looked_up(self, about: dict[str, Any]) -> Standing:
        with Gradebook(about["db_url"]) as gradebook:
            return standing(gradebook, about["student"], about["assignment"], about["notebook"])


def made_from(graded_from: str, says: Standing) -> str:
    """A hash of what a page shows: of what the notebook was graded from, of the gradebook, and of the templates."""
    whole = json.dumps([graded_from, says, _templates()], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


@cache
def _templates() -> str:
    folder = Path(__file__).parent / "templates"
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.*")))).hexdigest()


# ---------------------------------------------------------------------------------------------- the page


class FeedbackPage(HTMLExporter):
    """nbconvert's exporter, which reads a finished page all over again to add some attributes. This one doesn't.

    Text for pictures that have none is all it would add here, and our cleaning and template see to that.
    """

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = self._init_resources(resources)
        kinds = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("filter_data_type", kinds)
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


class Pages:
    """Makes pages with nbgrader's own exporter, which is set up once: that takes longer than a page."""

    def __init__(self, config: Config, coursedir: CourseDirectory | None = None) -> None:
        log = logging.Logger("anatomy.pages", logging.CRITICAL)
        converter = GenerateFeedback(coursedir=coursedir or CourseDirectory(), config=config, log=log)
        self.permissions = int(str(converter.permissions), 8)
        self.exporter = converter.exporter_class(parent=converter, config=converter.config)
        for step in converter.preprocessors:
            self.exporter.register_preprocessor(step)

    def page(self, notebook: bytes, student: str, assignment: str, says: Standing) -> bytes:
        """The page of one graded notebook."""
        about = {"student": student, "assignment": assignment, "notebook": assignment, "standing": says}
        book = nbformat.reads(notebook.decode(), as_version=4)
        html, _ = self.exporter.from_notebook_node(book, resources={"nbgrader": about})
        return str(html).encode()


@lru_cache(maxsize=4)
def pages_by(settings: str) -> Pages:
    """A maker of pages for settings that came as JSON."""
    return Pages(Config(json.loads(settings)))


def settings_of_pages(config: Config) -> str:
    """The settings that pages go by as JSON, or "" when they hold something that JSON can't."""
    try:
        return json.dumps({name: config[name] for name in SETTINGS if name in config}, sort_keys=True)
    except TypeError:
        return ""


# ---------------------------------------------------------------------------------------------- feedback/


class Feedback:
    """A course's ``feedback/``, open for writing: which pages are right, and putting new ones in their place."""

    def __init__(self, root: Path, config: Config, gradebook: Gradebook, stage: Path) -> None:
        self.folder = root / str(config.CourseDirectory.get("feedback_directory", "feedback"))
        self.gradebook, self.stage = gradebook, stage
        self.pages = Pages(config, CourseDirectory(config=config))

    def is_right(self, student: str, assignment: str, graded_from: str) -> bool:
        """Whether the page is there and shows what the gradebook says of a notebook that was graded from this."""
        try:
            with self._file(student, assignment).open("rb") as file:
                found = _said_in(file.read(4096))
            return found == made_from(graded_from, standing(self.gradebook, student, assignment, assignment))
        except (OSError, MissingEntry):
            return False

    def discard(self, student: str, assignment: str) -> None:
        """Take a page away that will not be right any more."""
        self._file(student, assignment).unlink(missing_ok=True)

    def put(
        self, student: str, assignment: str, notebook: bytes, beside: Mapping[str, bytes], page: bytes = b""
    ) -> None:
        """Put the page of a recorded notebook in its place, with the pictures that it may show.

        `page` is used if it is what the gradebook says, else it is made.
        """
        says = standing(self.gradebook, student, assignment, assignment)
        graded_from = json.loads(notebook)["metadata"].get(NOTE, {}).get("from", "")
        if _said_in(page[:4096]) != made_from(graded_from, says):
            page = self.pages.page(notebook, student, assignment, says)
        fresh = self.stage / "feedback"
        shutil.rmtree(fresh, ignore_errors=True)
        files = {name: content for name, content in beside.items() if name.lower().endswith(BESIDE_A_PAGE)}
        for name, content in {**files, f"{assignment}.html": page}.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(self.pages.permissions)
        place = self.folder / student / assignment
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(place)
        fresh.replace(place)

    def _file(self, student: str, assignment: str) -> Path:
        return self.folder / student / assignment / f"{assignment}.html"


def _said_in(page: bytes) -> str | None:
    """What a page says that it was made from."""
    found = _MADE_FROM.search(page)
    return found[1].decode() if found else None
