"""Rules about answers and checks: what nbgrader needs, and what the exercise's module and the reference say."""

from __future__ import annotations

from collections import Counter
from typing import Any

from anatomy.authoring.master import Master
from anatomy.authoring.rules import Complaints, rule
from anatomy.engine.notebook_files.notebooks import BEGIN, END, grade_id, is_answer, is_check

ANSWER = {"grade": False, "locked": False, "schema_version": 3, "solution": True, "task": False}
CHECK = {"grade": True, "locked": True, "schema_version": 3, "solution": False, "task": False}


@rule
def missing_check(master: Master) -> Complaints:
    """An answer is followed at once by its check."""
    for answer in master.answers:
        if answer.following is None or grade_id(answer.following) != f"check-{answer.name}":
            yield answer.cell.id, f'Put its check, grade_id "check-{answer.name}", right after this answer.'


@rule
def missing_answer(master: Master) -> Complaints:
    """A check stands right after its answer."""
    expected = {id(answer.following): f"check-{answer.name}" for answer in master.answers}
    for cell in filter(is_check, master.cells):
        if expected.get(id(cell)) != grade_id(cell):
            name = grade_id(cell).removeprefix("check-")
            yield cell.id, f'Put the answer cell, grade_id "{name}", right before this check.'


@rule
def check_call(master: Master) -> Complaints:
    """A check cell is one line."""
    for cell in filter(is_check, master.cells):
        wanted = f'check("{grade_id(cell).removeprefix("check-")}")'
        if cell.source.strip() != wanted:
            yield cell.id, f"Let this cell be the one line {wanted}."


@rule
def nbgrader_metadata(master: Master) -> Complaints:
    """nbgrader's flags are those of an answer or of a check, and its names occur once."""
    times = Counter(filter(None, map(grade_id, master.cells)))
    for cell in master.cells:
        if "nbgrader" not in cell.metadata:
            continue
        found = cell.metadata.nbgrader
        wanted: dict[str, Any] = CHECK if grade_id(cell).startswith("check-") else ANSWER
        if wrong := [key for key, value in wanted.items() if found.get(key) != value]:
            kind = "check" if wanted is CHECK else "answer"
            values = ", ".join(f"{key}: {str(wanted[key]).lower()}" for key in wrong)
            yield cell.id, f"Set in its nbgrader metadata, as in every {kind} cell: {values}."
        if cell.cell_type != "code":
            yield cell.id, "Make it a code cell: answers and checks are code."
        if times[grade_id(cell)] != 1:
            yield cell.id, f'Give it a grade_id of its own: "{grade_id(cell)}" occurs {times[grade_id(cell)]} times.'


@rule
def points(master: Master) -> Complaints:
    """The points of a check are those of its exercise."""
    for cell in filter(is_check, master.cells):
        exercise = master.exercises.get(grade_id(cell).removeprefix("check-"))
        found = cell.metadata.nbgrader.get("points")
        if exercise and found != exercise.points:
            yield (
                cell.id,
                f"Set points to {exercise.points}, as the exercise's properties add up to; here it is {found}.",
            )


@rule
def unknown_exercise(master: Master) -> Complaints:
    """Every answer belongs to an exercise of this notebook's module."""
    for answer in master.answers:
        if answer.name not in master.exercises:
            module = f"{master.notebook.folder}/asked.py"
            yield answer.cell.id, f'Define the exercise "{answer.name}" in {module}, or correct this cell\'s grade_id.'


@rule
def missing_exercise(master: Master) -> Complaints:
    """Every exercise of the module is asked."""
    asked = {answer.name for answer in master.answers}
    for name in master.exercises:
        if name not in asked:
            yield "", f'Add an answer cell for "{name}", which {master.notebook.folder}/asked.py defines.'


@rule
def undefined_name(master: Master) -> Complaints:
    """The answer cell defines what its exercise is called."""
    for answer in master.answers:
        if answer.name not in answer.defines:
            yield (
                answer.cell.id,
                f"Let its code define `{answer.name}` at the top level: the check looks it up by name.",
            )


@rule
def solution_markers(master: Master) -> Complaints:
    """Solutions are marked, in pairs, and only in answer cells."""
    for cell in master.cells:
        marks = [mark for line in cell.source.split("\n") for mark in (BEGIN, END) if mark in line]
        if marks != [BEGIN, END] * (len(marks) // 2):
            yield cell.id, f"Pair its markers: each `### {BEGIN}` has its `### {END}` before the next one begins."
        elif marks and not is_answer(cell):
            yield cell.id, "Remove the solution markers, or make it an answer cell (nbgrader's solution: true)."
        elif not marks and is_answer(cell):
            yield (
                cell.id,
                f"Mark its solution by `### {BEGIN}` and `### {END}`: without them the whole cell is emptied.",
            )
