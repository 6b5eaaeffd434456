"""What reading a submission's marks asks of the database: the same for a large class as for a small one."""

from __future__ import annotations

import json
import shutil

import pytest
from sqlalchemy import event, inspect

from anatomy.classroom.grading.feedback.standing import ShownMark, read_standing
from anatomy.classroom.grading.gradebook import open_gradebook
from anatomy.engine.notebook_files.settings import settings

SLUG = "03-softmax"
EXERCISES = ("softmax", "attention_weights", "weighted_values", "attention_entropy")

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's queries, harmless


@pytest.fixture
def writer(tmp_path, root):
    """A gradebook with one submission of four exercises."""
    shutil.copyfile(root / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    config = settings(tmp_path)
    config.CourseDirectory.root = str(tmp_path)
    with open_gradebook(tmp_path, config) as writer:
        book = writer.gradebook
        book.add_assignment(SLUG)
        book.add_notebook(SLUG, SLUG)
        for place, name in enumerate(EXERCISES):
            book.add_grade_cell(f"check-{name}", SLUG, SLUG, max_score=place + 1, cell_type="code")
            book.add_solution_cell(name, SLUG, SLUG)
        marks = {f"check-{name}": float(place) for place, name in enumerate(EXERCISES)}
        notebook = json.dumps({"cells": [], "metadata": {}}).encode()
        writer.record("ada", SLUG, notebook, marks, {"softmax": "No response."}, {}, None)
        yield writer


def test_reading_marks_takes_as_many_queries_for_four_exercises_as_for_one(writer):
    asked = []
    for _ in range(2):  # the second time they are there
        writer.add_indexes()
    for table in ("grade", "comment"):
        (made,) = [one for one in inspect(writer.gradebook.db.get_bind()).get_indexes(table) if not one["unique"]]
        assert made["column_names"] == ["notebook_id"], "or all submissions would be read to find one's"
    event.listen(writer.gradebook.db.get_bind(), "before_cursor_execute", lambda *args: asked.append(args[2]))
    writer.gradebook.db.expunge_all()
    result, _ = writer.recorded("ada", SLUG)
    assert [(mark.points, mark.worth) for mark in result.marks] == [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]
    assert len(asked) == 2
    del asked[:]
    writer.gradebook.db.expunge_all()
    standing = read_standing(writer.gradebook, "ada", SLUG, SLUG)
    assert (standing.score, standing.worth, standing.comments) == (6.0, 10.0, {"softmax": "No response."})
    assert standing.marks["check-weighted_values"] == ShownMark(2.0, 3.0, False) and len(asked) <= 6
