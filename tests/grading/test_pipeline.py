"""The steps of autograding are listed once, in nbgrader_config.py."""

from __future__ import annotations

import inspect
import io
import subprocess
import sys

import pytest
from nbgrader.nbgraderformat import MetadataValidator, ValidationError, common
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata
from rich.console import Console

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading.assignments import student_edition
from anatomy.classroom.grading.pipeline import BadPipeline, configured_steps, worker_pipeline
from anatomy.classroom.grading.quick_metadata import check_schema_once
from anatomy.classroom.grading.run import grade
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import as_text
from anatomy.engine.notebook_files.settings import settings

BOOK = COURSE.notebook("03-softmax")
TO_THE_GRADEBOOK = {"OverwriteKernelspec", "OverwriteCells", "SaveMarks", "AssignLatePenalties"}


def names(steps):
    return [step.rpartition(".")[2] for step in steps]


def test_workers_do_all_steps_but_those_that_go_to_the_gradebook(root):
    config = settings(root)
    listed = [*config.Autograde.sanitize_preprocessors, *config.Autograde.autograde_preprocessors]
    assert names(worker_pipeline(config)["steps"]) == [name for name in names(listed) if name not in TO_THE_GRADEBOOK]
    assert {name for name in names(listed)} >= TO_THE_GRADEBOOK


def test_who_only_names_the_steps_does_not_import_torch(root):
    """The process that hands out submissions; its workers import it at that time."""
    code = ("import sys; from pathlib import Path; from anatomy.classroom.grading.pipeline import worker_pipeline; "
            "from anatomy.engine.notebook_files.settings import settings; "
            "worker_pipeline(settings(Path(sys.argv[1]))); print('torch' in sys.modules)")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_their_settings_go_with_them(root):
    config = settings(root)
    config.Execute.timeout = 7
    config.ForkedKernelManager.memory = 900
    config.LimitOutput.max_lines = 3
    sent = worker_pipeline(config)["settings"]
    assert (sent["Execute"]["timeout"], sent["LimitOutput"]["max_lines"]) == (7, 3)
    assert sent["ForkedKernelManager"]["memory"] == 900
    assert "CourseDirectory" not in sent and "GenerateAssignment" not in sent


def test_settings_that_cant_be_sent_are_said(root):
    config = settings(root)
    config.Execute.timeout_func = len
    with pytest.raises(BadPipeline, match=r"c\.Execute"):
        worker_pipeline(config)


def test_a_step_can_be_left_out(root):
    config = settings(root)
    assert AssignLatePenalties in configured_steps(config)
    config.Autograde.autograde_preprocessors.remove("nbgrader.preprocessors.AssignLatePenalties")
    assert AssignLatePenalties not in configured_steps(config)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap")
def test_a_step_that_is_added_is_done(tmp_path, new_course):
    """One that takes the answers away: then there are no points."""
    root = new_course(tmp_path / "course", BOOK.slug)
    book = student_edition(root, BOOK.slug)
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax":
            cell.source = inspect.getsource(COURSE.right(COURSE.exercises(BOOK)["softmax"]))
    place = root / "submitted" / "somebody" / BOOK.slug
    place.mkdir(parents=True)
    (place / f"{BOOK.slug}.ipynb").write_text(as_text(book), encoding="utf-8")
    assert points(root) > 0
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write("c.Autograde.sanitize_preprocessors.append('anatomy.authoring.preprocessors.ClearAnswers')\n")
    assert points(root) == 0


def points(root):
    (result,) = grade(root, workers=1, console=Console(file=io.StringIO())).results
    return result.points


def test_metadata_are_refused_as_nbgrader_does_when_its_schema_is_checked_once(root, monkeypatch):
    book = student_edition(root, BOOK.slug)
    marks = next(cell.metadata.nbgrader for cell in book.cells if "nbgrader" in cell.metadata)
    said, as_it_is = [], marks.grade
    for once in (False, True):
        if once:
            monkeypatch.setattr(common, "jsonschema", common.jsonschema)  # put back when this test ends
            check_schema_once()
        for graded in (as_it_is, "yes"):
            marks.grade = graded
            try:
                CheckCellMetadata().preprocess(book, {})
                MetadataValidator().validate_nb(book)
                said.append("")
            except ValidationError as error:
                said.append(str(error))
    assert said[0] == "" and said[1] and said[2:] == said[:2]
