"""The three cells of a new exercise are those of the course's own, as far as its modules say what stands in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_course import SLUG, make_course

from anatomy.authoring.lint import lint
from anatomy.authoring.new_exercise import CannotAdd, _cells, add_exercise
from anatomy.authoring.solved import without_markers
from anatomy.course import COURSE
from anatomy.engine.notebook_files.notebooks import grade_id, read, source_file, write

REPOSITORY = Path(__file__).resolve().parents[2]


def without(name: str, slug: str, folder: Path) -> Path:
    """A course whose notebook `slug` lacks the cells of one exercise."""
    book = read(source_file(REPOSITORY, slug))
    at = next(index for index, cell in enumerate(book.cells) if grade_id(cell) == name)
    del book.cells[at - 1 : at + 2]
    write(book, source_file(folder, slug))
    return folder


@pytest.mark.parametrize("slug, name", [
    ("00-start-here", "pairwise_dot"), ("00-start-here", "quiz_types"), ("05-encoder-layer", "FeedForward"),
])  # fmt: skip
def test_the_cells_are_those_of_the_course(slug, name, tmp_path):
    add_exercise(without(name, slug, tmp_path), name)
    cells = read(source_file(tmp_path, slug)).cells
    at = next(index for index, cell in enumerate(cells) if grade_id(cell) == name)
    header, answer, check = cells[at - 1 : at + 2]
    original = {grade_id(cell): cell for cell in read(source_file(REPOSITORY, slug)).cells}
    assert answer.metadata == original[name].metadata
    assert (check.source, check.metadata) == (f'check("{name}")', original[f"check-{name}"].metadata)
    assert header.source.startswith(f"### Exercise {int(slug[:2])}.")
    assert f"{COURSE.exercise(name).points} points" in header.source
    scope: dict[str, object] = {}
    if name == "quiz_types":
        exec(answer.source, scope)
        assert scope[name] == COURSE.exercise(name).right
    else:
        compile(without_markers(answer.source), name, "exec")
        assert answer.source.count("BEGIN SOLUTION") == original[name].source.count("BEGIN SOLUTION")


def test_a_notebook_that_is_new_begins_with_title_and_setup(tmp_path):
    path = add_exercise(tmp_path, "pairwise_dot")
    assert [cell.id for cell in read(path).cells] == [
        *("title", "setup", "pairwise-dot-header", "pairwise-dot", "check-pairwise-dot")
    ]
    assert read(path).cells[0].source == "# 00 · Start here"


def test_lint_asks_for_what_only_the_author_knows(tmp_path):
    course = make_course(tmp_path)
    add_exercise(course, "project")
    said = {complaint.rule for complaint in lint(course, [SLUG]) if complaint.cell == "project"}
    assert said == {"hints", "header"}, "the header's number is the module's, and this course has but two exercises"


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    course = make_course(tmp_path)
    with pytest.raises(CannotAdd, match="No exercise is called 'nothing'"):
        add_exercise(course, "nothing")
    with pytest.raises(CannotAdd, match="has an answer cell for scaled_scores already"):
        add_exercise(course, "scaled_scores")
    monkeypatch.delattr("anatomy.course.nb02_attention_scores.right.project")
    with pytest.raises(CannotAdd, match="Write its right answer first"):
        add_exercise(course, "project")


def test_every_answer_of_the_course_can_be_marked():
    for book in COURSE.notebooks:
        for exercise in COURSE.exercises(book).values():
            header, answer, _ = _cells(exercise, exercise.right)
            compile(answer.source, exercise.name, "exec")
            assert exercise.name in header.source
