"""Repair: whatever a student's file has been through, answers are found and checks are the master's."""

from __future__ import annotations

import ast
import json
import random
from copy import deepcopy

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from anatomy.classroom.grading.assignments import student_edition
from anatomy.classroom.grading.errors import Unrepairable
from anatomy.classroom.grading.notes import NOTE, CellNote
from anatomy.classroom.grading.repair import MOST_OWN_CELLS, MOST_PARSED, NOTE_ID, repaired
from anatomy.classroom.grading.submission_file import MOST_VALUES, find_notebook, parse_notebook
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.answers import answer_bank
from anatomy.engine.notebook_files.notebooks import as_text

SLUG = "03-softmax"


@pytest.fixture(scope="module")
def course(tmp_path_factory, new_course):
    return new_course(tmp_path_factory.mktemp("course"), SLUG)


@pytest.fixture
def handed_out(course):
    return student_edition(course, SLUG)


@pytest.fixture
def handed_in(course):
    book = COURSE.notebook(SLUG)
    return filled(course, book, {name: answers[0] for name, answers in answer_bank(COURSE, book).right.items()})


def marks(book):
    return [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in book.cells]


def text_of(book, name):
    return next(c.source for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def position(book, name):
    return marks(book).index(name)


def test_without_any_answer_cell_it_is_another_notebook(handed_out):
    biology = nbformat.v4.new_notebook(cells=[new_code_cell("cells = 'Biology 101'")])
    with pytest.raises(Unrepairable, match="None of the notebook's answer cells"):
        repaired(biology, handed_out)


def is_whole(book, handed_in):
    """All answers and checks once, in order, with the master's marks and the student's texts."""
    assert [name for name in marks(book) if name] == [name for name in marks(handed_in) if name]
    for cell in handed_in.cells:
        if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
            assert text_of(book, name) == cell.source, name
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    again, notes = repaired(book, handed_in)
    assert notes == [] and again == book, "repairing twice changes nothing"


def test_a_sound_notebook_is_left_alone(handed_in, handed_out):
    fixed, notes = repaired(handed_in, handed_out)
    assert notes == []
    assert [cell.source for cell in fixed.cells] == [cell.source for cell in handed_in.cells]


def test_untouched_is_left_alone(handed_out):
    fixed, notes = repaired(handed_out, handed_out)
    for cell in fixed.cells:
        cell.metadata.pop(NOTE, None)
    assert notes == [] and fixed == handed_out


def test_given_cells_that_are_as_handed_out_are_marked_and_no_others(handed_in, handed_out):
    given = [cell.id for cell in handed_out.cells if cell.cell_type == "code" and "nbgrader" not in cell.metadata]
    book = deepcopy(handed_in)
    CellNote(given=True).write(book.cells[position(book, "check-softmax")])
    CellNote(given=True).write(book.cells[position(book, "softmax")])
    book.cells.append(new_code_cell("extra = 1", id="extra", metadata={NOTE: {"given": True}}))
    (changed,) = [cell for cell in book.cells if cell.id == given[0]]
    changed.source += "\nx = 1"
    fixed, _ = repaired(book, handed_out)
    assert [cell.id for cell in fixed.cells if CellNote.read(cell).given] == given[1:]


def test_text_that_became_code_brings_no_marks_and_no_note(handed_in, handed_out):
    """Else it would be one more cell with points, which the gradebook does not know."""
    book = deepcopy(handed_in)
    index = next(index for index, cell in enumerate(book.cells) if cell.cell_type == "markdown")
    marks = {"grade": True, "grade_id": "check-mine", "points": 100, "solution": False, "locked": True}
    book.cells[index] = new_code_cell("100", id=book.cells[index].id, metadata={"nbgrader": marks})
    CellNote(given=True).write(book.cells[index])
    fixed, _ = repaired(book, handed_out)
    (mine,) = [cell for cell in fixed.cells if cell.source == "100"]
    assert mine.cell_type == "code" and mine.metadata == handed_out.cells[index].metadata


def test_deleted_check_comes_back_behind_its_answer(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    del damaged.cells[position(damaged, "check-attention_weights")]
    fixed, notes = repaired(damaged, handed_out)
    is_whole(fixed, handed_in)
    assert notes == ["The check of attention_weights was missing; it is back."]
    assert position(fixed, "check-attention_weights") == position(fixed, "attention_weights") + 1
    assert fixed.cells[0].id == NOTE_ID and notes[0] in fixed.cells[0].source


def test_deleted_answer_counts_as_not_written(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    del damaged.cells[position(damaged, "softmax")]
    fixed, notes = repaired(damaged, handed_out)
    assert text_of(fixed, "softmax") == text_of(handed_out, "softmax")
    assert notes == ["The answer cell of softmax was missing; it counts as not written."]


def test_changed_check_is_as_it_was(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    check = damaged.cells[position(damaged, "check-softmax")]
    check.source, check.metadata.nbgrader.points, check.metadata.nbgrader.solution = "5", 500, True
    check.metadata["tags"] = ["skip-execution"]
    fixed, _ = repaired(damaged, handed_out)
    is_whole(fixed, handed_in)
    whole = fixed.cells[position(fixed, "check-softmax")]
    assert whole == handed_out.cells[position(handed_out, "check-softmax")]


@pytest.mark.parametrize("with_ids", [True, False])
def test_stripped_metadata(handed_in, handed_out, with_ids):
    damaged = deepcopy(handed_in)
    for number, cell in enumerate(damaged.cells):
        cell.metadata.clear()
        if not with_ids:
            cell.id = f"x{number}"
    fixed, notes = repaired(damaged, handed_out)
    is_whole(fixed, handed_in)
    assert any("had lost their labels" in note for note in notes)


def test_a_stripped_answer_is_found_by_what_it_defines_even_if_it_does_not_parse(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    for number, cell in enumerate(damaged.cells):
        cell.metadata.clear()
        cell.id = f"x{number}"
        if "def softmax(" in cell.source:
            cell.source = broken = cell.source + "\n    return ((("
    fixed, _ = repaired(damaged, handed_out)
    assert text_of(fixed, "softmax") == broken


def test_copies_the_last_definition_counts(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    at = position(damaged, "softmax")
    first, empty = deepcopy(damaged.cells[at]), deepcopy(damaged.cells[at])
    first.source, first.id = "def softmax(x, dim):\n    return x", "first"
    empty.source, empty.id = "# notes", "empty"
    damaged.cells.insert(at, first)
    damaged.cells.insert(at + 2, empty)
    damaged.cells.append(deepcopy(damaged.cells[position(damaged, "check-softmax")]))
    fixed, notes = repaired(damaged, handed_out)
    assert text_of(fixed, "softmax") == text_of(handed_in, "softmax")
    assert marks(fixed).count("check-softmax") == 1
    assert "The cell softmax was there 3 times; the last one counts." in notes
    assert [cell.source for cell in fixed.cells].count(first.source) == 1, "the student's other versions stay"


def test_shuffled_cells_are_put_in_order(handed_in, handed_out):
    for seed in range(20):
        damaged = deepcopy(handed_in)
        random.Random(seed).shuffle(damaged.cells)
        fixed, notes = repaired(damaged, handed_out)
        is_whole(fixed, handed_in)
        assert "Some cells were not in their order; they are now." in notes


def test_what_the_student_added_stays_in_place(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    at = position(damaged, "softmax")
    mine = deepcopy(damaged.cells[at])
    mine.source, mine.id, mine.metadata = "helper = 1", "mine", {}
    damaged.cells.insert(at, mine)
    fixed, notes = repaired(damaged, handed_out)
    assert notes == []
    assert [c.source for c in fixed.cells].index("helper = 1") == position(fixed, "softmax") - 1


def test_lost_given_cell_and_answer_turned_into_text(handed_in, handed_out):
    damaged = deepcopy(handed_in)
    damaged.cells = [cell for cell in damaged.cells if cell.id != "setup"]
    damaged.cells[position(damaged, "softmax")].cell_type = "markdown"
    fixed, notes = repaired(damaged, handed_out)
    is_whole(fixed, handed_in)
    assert next(cell.id for cell in fixed.cells if cell.cell_type == "code") == "setup"
    assert set(notes) == {"A given code cell was missing; it is back.",
                          "The answer cell of softmax had become text; it is code again."}  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_any_damage_leaves_something_gradable(handed_in, handed_out, tmp_path, seed):
    """Random damage of all kinds at once: never an exception, always every check once."""
    dice = random.Random(seed)
    damaged = json.loads(as_text(handed_in))
    for _ in range(12):
        cell = dice.choice([cell for cell in damaged["cells"] if cell])
        kind = dice.randrange(8)
        if kind == 0:
            damaged["cells"].remove(cell)
        elif kind == 1:
            damaged["cells"].insert(dice.randrange(len(damaged["cells"])), deepcopy(cell))
        elif kind == 2:
            cell["metadata"] = dice.choice([{}, {"nbgrader": 3}, {"nbgrader": {"grade_id": ["x"]}}, None, []])
        elif kind == 3:
            cell["cell_type"] = dice.choice(["markdown", "raw", "code", "heading", 7])
        elif kind == 4:
            cell.pop("source", None)
        elif kind == 5:
            cell["source"] = dice.choice([None, 3, [1, "x"], "\udcff", "def softmax("])
        elif kind == 6:
            cell["id"] = dice.choice(["softmax", "", "ä", None, 5, "check-softmax"])
        else:
            damaged["cells"].insert(0, dice.choice([None, 0, [], {}]))
    fixed, _ = repaired(parse_notebook(json.dumps(damaged).encode())[0], handed_out)
    wanted = [name for name in marks(handed_out) if name]
    assert [name for name in marks(fixed) if name] == wanted
    as_text(fixed).encode("utf-8")


# ---- hostile files --------------------------------------------------------------------------------------------------


def nested(levels):
    inner = {}
    for _ in range(levels):
        inner = {"deeper": inner}
    return inner


def test_what_grading_does_not_look_at_costs_nothing(handed_in, handed_out):
    odd = json.loads(as_text(handed_in))
    odd["metadata"] = nested(600)
    for number, cell in enumerate(odd["cells"]):
        cell["metadata"].update(deep=nested(600))
        if cell["cell_type"] == "markdown":
            odds = [3, [], {"a.png": 3}, {"a.png": {"image/png": [1]}}, {"\ud800.png": {"image/png": "\udcff"}}]
            cell["attachments"] = odds[number % len(odds)]
    book, notes = parse_notebook(json.dumps(odd).encode())
    fixed, repairs = repaired(book, handed_out)
    assert notes == [] and repairs == []
    is_whole(fixed, handed_in)
    nbformat.validate(nbformat.reads(as_text(fixed), as_version=4))
    as_text(fixed).encode("utf-8")


@pytest.mark.parametrize("handed_in_by", ["an answer", "a cell of the student's own"])
def test_a_cell_with_the_id_of_our_note_is_kept(handed_in, handed_out, handed_in_by):
    if handed_in_by == "an answer":
        handed_in.cells[position(handed_in, "softmax")]["id"] = NOTE_ID
    else:
        handed_in.cells.append(nbformat.v4.new_code_cell("mine = 1", id=NOTE_ID))
    sources = [cell.source for cell in handed_in.cells]
    fixed, _ = repaired(handed_in, handed_out)
    assert [cell.source for cell in fixed.cells] == sources
    assert NOTE_ID not in [cell.id for cell in fixed.cells]


def test_thousands_of_cells_are_cut_and_it_is_said(handed_in, handed_out):
    handed_in.cells += [nbformat.v4.new_code_cell(f"x = {number}") for number in range(10_000)]
    fixed, notes = repaired(handed_in, handed_out)
    assert len(fixed.cells) == 1 + len(handed_out.cells) + MOST_OWN_CELLS
    assert notes == [f"10000 cells were added to the notebook; only the first {MOST_OWN_CELLS} of them were run."]


def test_megabytes_in_a_cell_are_searched_not_parsed(handed_in, handed_out, monkeypatch):
    parsed = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda text: parsed.append(len(text)) or parse(text))
    cell = handed_in.cells[position(handed_in, "softmax")]
    cell.source += "\nx = 1" * 500_000
    del cell.metadata["nbgrader"], cell["id"]
    fixed, _ = repaired(handed_in, handed_out)
    assert fixed.cells[position(fixed, "softmax")].source == cell.source
    assert max(parsed, default=0) <= MOST_PARSED


# ---- files -----------------------------------------------------------------------------------------------------------


def reason(content: bytes):
    with pytest.raises(Unrepairable) as caught:
        parse_notebook(content)
    return str(caught.value)


def test_files_that_are_no_notebook(handed_in):
    assert reason(b"") == "The file is empty."
    assert reason(b" \n") == "The file is empty."
    assert reason(as_text(handed_in).encode()[:500]).startswith("The file is damaged or cut off: ")
    assert reason(b"PK\x03\x04\x00\x00").startswith("The file is damaged or cut off: ")
    assert "too deep in each other" in reason(b"[" * 100_000)
    assert reason(b'{"nbformat": 4, "outputs": [' + b"1," * MOST_VALUES).startswith(
        "The file holds more than 3,000,000 values"
    )
    assert reason(b"[1, 2]") == "The file is JSON, but not a notebook."
    assert reason(b'{"nbformat": "4"}') == "The file is JSON, but not a notebook."
    assert reason(b'{"nbformat": 4, "cells": 3}') == "The notebook has no list of cells."
    assert reason(b'{"nbformat": 4, "cells": []}') == "The notebook has no cells."
    assert "damaged" in reason(b'{"nbformat": 3, "worksheets": 5}')


@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-8", ""), ("utf-8-sig", ""), ("utf-16", "UTF-16"), ("cp1252", "not UTF-8")]
)
def test_encodings(handed_in, encoding, said):
    handed_in.cells[0].source = "Größe"
    book, notes = parse_notebook(as_text(handed_in).encode(encoding, errors="replace"))
    assert book.cells[0].source == "Größe"
    assert (said in notes[0]) if said else notes == []


def test_old_format(handed_in):
    old = nbformat.convert(deepcopy(handed_in), 3)
    book, notes = parse_notebook(json.dumps(old).encode())
    assert notes == ["The notebook was in format 3."]
    assert any("def softmax" in cell.source for cell in book.cells)


def test_file_names(tmp_path):
    with pytest.raises(Unrepairable, match=r"^a\.ipynb is missing\.$"):
        find_notebook(tmp_path, "a")
    (tmp_path / "b (1).ipynb").write_text("{}")
    assert find_notebook(tmp_path, "a") == (tmp_path / "b (1).ipynb", ["The file was called b (1).ipynb."])
    (tmp_path / "c.ipynb").write_text("{}")
    with pytest.raises(Unrepairable, match="several other notebooks"):
        find_notebook(tmp_path, "a")
    (tmp_path / "a.ipynb").write_text("{}")
    assert find_notebook(tmp_path, "a") == (tmp_path / "a.ipynb", [])


def test_links_are_not_followed(tmp_path):
    (tmp_path / "secret.txt").write_text("{}")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ipynb").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(Unrepairable, match="symbolic link"):
        find_notebook(tmp_path / "in", "a")
