"""Notes in metadata: what is written is read again, from a file too; what is old or damaged disturbs nobody."""

from __future__ import annotations

import json
import random

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from anatomy.classroom.grading.notes import NOTE, CaseNumbers, CellNote, NotebookNote

NOTES = {
    "given": CellNote(given=True),
    "left out": CellNote(left_out="ended its kernel"),
    "no points": CellNote(exercise="softmax", status="wrong", points=0.0, broken=("values", "shape")),
    "named": CellNote(status="wrong", points=1.5, mistakes={"softmax__overflows": "Large scores overflow."}),
    "numbers": CellNote(exercise="softmax", numbers=(CaseNumbers("returned float32[3]", 2.0, -0.5),), said="\ud800"),
    "ungraded": CellNote(exercise="softmax", status="ungraded", reason="It took too long."),
}


def with_note(note: object) -> dict[str, object]:
    return {"metadata": {NOTE: note}}


@pytest.mark.parametrize("name", NOTES)
def test_a_note_is_read_as_it_was_written_and_from_a_file(name):
    cell = new_code_cell()
    NOTES[name].write(cell)
    assert CellNote.read(cell) == CellNote.read(json.loads(json.dumps(cell))) == NOTES[name]


def test_a_note_says_only_what_there_is_to_say():
    cell = new_code_cell()
    assert CellNote.read(cell) == CellNote()
    NOTES["left out"].write(cell)
    assert cell.metadata == {NOTE: {"left out": "ended its kernel"}}
    NOTES["no points"].write(cell)
    assert cell.metadata[NOTE]["points"] == 0 and "left out" not in cell.metadata[NOTE], "the one before is gone"


def test_a_notebooks_note_is_read_as_it_was_written():
    book = new_notebook()
    assert NotebookNote.read(book) == NotebookNote()
    note = NotebookNote("a1b2", ("The file was called x.ipynb.",), (4711, 815))
    note.write(book)
    assert NotebookNote.read(book) == NotebookNote.read(json.loads(json.dumps(book))) == note


def test_notes_of_earlier_versions_are_read():
    old = {"exercise": "softmax", "status": "wrong", "points": 2, "said": "Not right yet.", "broken": [],
           "mistakes": {}, "numbers": [["returned float32[3]", 2.0, 0.5]]}  # fmt: skip
    wanted = CellNote(exercise="softmax", status="wrong", points=2, said="Not right yet.",
                      numbers=(CaseNumbers("returned float32[3]", 2.0, 0.5),))  # fmt: skip
    assert CellNote.read(with_note(old)) == wanted
    book = {"metadata": {NOTE: {"from": "x", "notes": ["It was empty."]}, "anatomy_seeds": [1, 2]}}
    assert NotebookNote.read(book) == NotebookNote("x", ("It was empty.",), (1, 2))


def scrap(dice: random.Random, depth: int = 0) -> object:
    plain = [None, True, -1, 10**400, 0.5, float("nan"), "text", []]
    kind = dice.randrange(3 if depth < 3 else 1)
    if kind == 0:
        return dice.choice(plain)
    if kind == 1:
        return [scrap(dice, depth + 1) for _ in range(dice.randrange(4))]
    return {dice.choice("abc"): scrap(dice, depth + 1) for _ in range(dice.randrange(4))}


def test_whatever_stands_there_a_note_can_be_read_and_written():
    dice = random.Random(0)
    names = [name.replace("_", " ") for name in vars(CellNote())]
    for _ in range(2000):
        note = {name: scrap(dice) for name in dice.sample(names, 4)} if dice.random() < 0.9 else scrap(dice)
        cell = with_note(note)
        read = CellNote.read(cell)
        read.write(cell)
        assert repr(CellNote.read(cell)) == repr(read), note
        assert all(isinstance(text, str) for text in (read.status, read.reason, *read.broken))
        book = {"metadata": {NOTE: {"from": scrap(dice), "notes": scrap(dice)}, "anatomy_seeds": scrap(dice)}}
        assert all(isinstance(line, str) for line in NotebookNote.read(book).repairs)
