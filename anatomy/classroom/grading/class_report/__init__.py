"""What an instructor learns from a class: `anatomy report`, a page for the browser or for paper, and a table.

`records` reads what grading has recorded and `questions` what quizzes ask, `pseudonyms` takes the names out, `figures`
counts (`exercises`, `mistakes` and answers `unnamed` have modules of their own), `page` and `table` write.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from anatomy.classroom.grading.class_report.counts import figures
from anatomy.classroom.grading.class_report.page import as_html
from anatomy.classroom.grading.class_report.pseudonyms import without_names
from anatomy.classroom.grading.class_report.questions import questions
from anatomy.classroom.grading.class_report.results import NothingGraded, read_records
from anatomy.classroom.grading.class_report.table import as_csv
from anatomy.classroom.grading.errors import in_brief
from anatomy.classroom.grading.gradebook import database_file
from anatomy.classroom.grading.tables import MARKS
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.notebooks import chosen
from anatomy.engine.notebook_files.settings import settings
from anatomy.wiring import the_course


@dataclass(frozen=True)
class Written:
    """What was written, about whom.

    `only` has the notebooks that were asked for, and is empty for all. `is_ahead` tells that the gradebook has changed
    since ``marks.csv`` was written, as by a mark that was given in Formgrader.
    """

    page: Path
    table: Path
    students: int
    graded: int
    open: int
    only: tuple[str, ...] = ()
    is_ahead: bool = False


def write_report(
    root: Path,
    page: Path,
    table: Path | None = None,
    notebooks: Iterable[str] | None = None,
    *,
    anonymous: bool = False,
) -> Written:
    """Write the report on all that is in the gradebook.

    Parameters
    ----------
    table
        Where the CSV goes; by default beside the page.
    notebooks
        By slug or number; by default all.
    anonymous
        Numbers in place of names, in every report the same.

    Raises
    ------
    UserError
        When there is nothing to report on, or it can't be written. The message says what to do.
    """
    table = table or page.with_suffix(".csv")
    if page.resolve() == table.resolve():
        raise UserError(f"The page and the table would be the same file, {page}. Name another with --csv.")
    records, only = read_records(root), tuple[str, ...]()
    if notebooks:
        only = tuple(sorted({book.slug for book in chosen(the_course(), root, notebooks)}))
        records = [record for record in records if record.notebook in only]
        if not records:
            raise NothingGraded(f"Nobody has handed in {', '.join(only)}. Without a name, the report is of all.")
    if anonymous:
        records = without_names(records, root)
    found = figures(records, questions(root))
    now = datetime.now().astimezone()
    for path, text in ((page, as_html(found, now, anonymous=anonymous)), (table, as_csv(records))):
        fresh = path.with_name(path.name + ".tmp")
        try:
            fresh.write_text(text, encoding="utf-8", errors="replace", newline="")
            fresh.replace(path)
        except OSError as error:
            raise UserError(f"{path} could not be written ({in_brief(error)}). Name another with "
                            f"{'--output' if path is page else '--csv'}.") from error  # fmt: skip
    return Written(page, table, len(found.students), found.graded, len(found.open), only, _is_ahead(root))


def _is_ahead(root: Path) -> bool:
    config, marks = settings(root), root / MARKS
    config.CourseDirectory.root = str(root)
    book = database_file(config)
    return bool(book and marks.is_file() and book.stat().st_mtime > marks.stat().st_mtime)
