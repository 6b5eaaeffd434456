"""The student edition: nbgrader's own generate step, in a folder of its own, so that it can delete nothing."""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path

from nbformat import NotebookNode
from traitlets.config import Config

from anatomy.engine.notebook_files.notebooks import BadNotebook, read, source_file, stamped, student_file
from anatomy.engine.notebook_files.settings import settings


class _Collector(logging.Handler):
    """Keeps what nbgrader logs: it is shown only when something fails."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def student_edition(root: Path, slug: str) -> NotebookNode:
    """The student edition of one notebook, as it should be; nothing under `root` is changed.

    Raises
    ------
    BadNotebook
        When nbgrader cannot make it; the message ends with nbgrader's own reason.
    """
    source = source_file(root, slug)
    read(source)
    with tempfile.TemporaryDirectory(prefix="anatomy-build-") as folder:
        stage = Path(folder).resolve()
        copy = source_file(stage, slug)
        copy.parent.mkdir(parents=True)
        shutil.copyfile(source, copy)
        _generate(stage, slug, settings(root))
        book = read(student_file(stage, slug))
    return stamped(book)


def _generate(stage: Path, slug: str, config: Config) -> None:
    """Run the converter on ``stage/source``, without a gradebook: grading registers the masters itself."""
    # Takes long to import, and who only reads the settings can do without.
    from nbgrader.converters import GenerateAssignment
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory

    config.CourseDirectory.root = str(stage)
    config.CourseDirectory.assignment_id = slug
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    collector = _Collector()
    log = logging.Logger("anatomy.build")
    log.addHandler(collector)
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config, log=log), config=config, log=log)
    try:
        converter.start()
    except (NbGraderException, SystemExit) as error:
        reasons = [line.strip().splitlines()[-1] for line in collector.lines if line.strip()]
        why = next((line for line in reasons if "Error" in line), str(error))
        raise BadNotebook(f"{slug}: nbgrader cannot make the student edition. {why}") from error
