"""Grading runs the given cells that answers need, and only these; marks are the same either way."""

from __future__ import annotations

import io
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from rich.console import Console

from anatomy.authoring.launch_links import Fork
from anatomy.classroom.grading.preprocessors import run_and_observe
from anatomy.classroom.grading.run import grade
from anatomy.classroom.grading.skippable_cells import skippable_cells
from anatomy.classroom.sample_class import filled
from anatomy.course import COURSE
from anatomy.engine.answers import answer_bank
from anatomy.engine.notebook_files.notebooks import as_text

SETUP = "import torch\nfrom torch import nn\nwords = ['time', 'flies']\nmodel = nn.Linear(2, 2)\nsize = 3"


def left_out(given, *others):
    """Whether the cell `given`, between a setup cell and those of a student, is left out."""
    cells = [new_code_cell(SETUP), new_markdown_cell("text"), new_code_cell(given), *map(new_code_cell, others)]
    return 2 in skippable_cells(cells, {0, 2})


@pytest.mark.parametrize(
    ("given", "student"),
    [
        ("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()", "def answer(x):\n    return x"),
        ("x = torch.randn(2); print(answer(x))", "def answer(x):\n    return x + 1"),
        ("for size in (1, 2): print(size)", "def answer(x, size=2):\n    return size"),
        ("model.train()", "def answer(model):\n    return model.eval()"),
        ("torch.manual_seed(0)", "def answer(x):\n    return torch.ones(2)"),
        ("torch.set_num_threads(1)", "answer = torch.ones(2)"),
        ("print(dict.fromkeys('ab'))", "answer = dict(a=1)"),
        ("print(abs(size))", "answer = size + 1"),
    ],
)
def test_left_out(given, student):
    assert left_out(given, student)


def test_the_line_that_gets_the_course_on_colab_hides_nothing():
    sources = [f"{Fork('your-name/anatomy', 'week%1').install()}\n{SETUP}", "print(size)", "answer = size + 1"]
    for line, skipped in ((sources[0], {1}), (sources[0].replace("bertviz", "{size}"), set())):
        cells = [new_code_cell(source) for source in (line, *sources[1:])]
        assert skippable_cells(cells, {1}) == skipped


@pytest.mark.parametrize(
    ("given", "student"),
    [
        ("scale = 2", "def answer(x):\n    return x * scale"),
        ("def scale(): return 2", "class Answer:\n    def f(self):\n        return [scale() for _ in range(2)]"),
        ("from math import *", "answer = 1"),
        ("words.append('like')", "answer = len(words)"),
        ("nn.init.zeros_(size)", "size = torch.ones(2)\nanswer = size"),
        ("words[0] = 'fruit'", "answer = words"),
        ("list = []\nlist.append(1)", "answer = list"),
        ("words += ['like']", "answer = words"),
        ("del words[0]", "answer = lambda: words"),
        ("model.weight.data[0] = 1", "answer = model"),
        ("model.eval()", "answer = model"),
        ("nn.init.zeros_(model.weight)", "answer = model"),
        ("torch.set_default_dtype(torch.float64)", "answer = 1"),
        ("def reset():\n    global size\n    size = 4\nreset()", "answer = size"),
        ("hidden = 3", "answer = globals()['hidden']"),
        ("hidden = 3", "answer = eval('hidden')"),
        ("hidden = 3", "%time answer = 1"),
        ("hidden = 3", "import sys\nanswer = sys.modules['__main__'].hidden"),
        ("hidden = 3", "from __main__ import hidden as answer"),
        ("hidden = 3", "def f(): pass\nanswer = f.__globals__['hidden']"),
    ],
)
def test_needed(given, student):
    assert not left_out(given, student)


def test_what_a_needed_cell_needs_is_needed():
    cells = [new_code_cell(text) for text in (SETUP, "a = 1", "b = a + 1", "c = b + 1", "answer = b")]
    assert skippable_cells(cells, {0, 1, 2, 3}) == {0, 3}


def test_a_broken_cell_uses_nothing():
    assert left_out("x = 1", "def answer(:\n    return x")


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
@pytest.mark.slow
def test_the_course_is_mostly_left_out(root, book):
    """Solved, no notebook needs more than its setup and two definitions of the cells that are given."""
    solved = filled(root, book, {name: right[0] for name, right in answer_bank(COURSE, book).right.items()})
    given = {
        index for index, cell in enumerate(solved.cells) if cell.cell_type == "code" and "nbgrader" not in cell.metadata
    }
    assert len(given - skippable_cells(solved.cells, given)) <= 3 < len(given)


BOOK = COURSE.notebook("03-softmax")
ANSWER = "attention_entropy"
USES_A_GIVEN_CELL = """
def attention_entropy(weights: Tensor) -> Tensor:
    assert HEAD == 3 and len(tokens) == 7
    return torch.special.entr(weights).sum(dim=-1)
"""


@pytest.fixture
def graded(root, tmp_path):
    """Grades notebook 03, as it is taught, with right answers and one of one's own: its points, and its given cells."""

    def do(answer, settings=""):
        shutil.copytree(root / "source" / BOOK.slug, tmp_path / "source" / BOOK.slug)
        rules = (root / "nbgrader_config.py").read_text()
        (tmp_path / "nbgrader_config.py").write_text(f"{rules}\n{settings}\n")
        book = filled(tmp_path, BOOK, {name: right[0] for name, right in answer_bank(COURSE, BOOK).right.items()})
        (cell,) = [cell for cell in book.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == ANSWER]
        cell.source = answer
        place = tmp_path / "submitted" / "somebody" / BOOK.slug
        place.mkdir(parents=True)
        (place / f"{BOOK.slug}.ipynb").write_text(as_text(book), encoding="utf-8")
        (row,) = grade(tmp_path, workers=1, console=Console(file=io.StringIO())).results
        done = nbformat.read(tmp_path / "autograded" / "somebody" / BOOK.slug / f"{BOOK.slug}.ipynb", as_version=4)
        given = [cell for cell in done.cells if cell.cell_type == "code" and "nbgrader" not in cell.metadata]
        return row.points / row.worth, [str(cell.outputs) for cell in given]

    return do


@pytest.mark.parametrize(
    "own",
    [["%pass\n" * 600], ["x = 1\n" * 40_000], ["x = 1\n" * 30_000] * 12],
    ids=["magics", "a long cell", "long cells"],
)
def test_what_takes_too_long_to_read_may_use_everything(own):
    assert not left_out("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()", *own)


@pytest.mark.slow
def test_what_an_answer_uses_is_run_and_the_rest_says_that_it_was_not(graded):
    points, outputs = graded(USES_A_GIVEN_CELL)
    assert points == 1
    assert sum(run_and_observe.NOT_RUN in one for one in outputs) >= 3
    assert any("sums of the rows" in one for one in outputs)


@pytest.mark.slow
def test_a_use_that_was_not_seen_costs_time_and_no_mark(graded, monkeypatch):
    monkeypatch.setattr(run_and_observe, "skippable_cells", lambda cells, given: given - {min(given)})
    points, outputs = graded(USES_A_GIVEN_CELL)
    assert points == 1
    assert not any(run_and_observe.NOT_RUN in one for one in outputs)


@pytest.mark.slow
def test_everything_is_run_when_asked_for(graded):
    points, outputs = graded(USES_A_GIVEN_CELL, "c.RunAndObserve.everything = True")
    assert points == 1
    assert not any(run_and_observe.NOT_RUN in one for one in outputs)
    assert sum("image/png" in one for one in outputs) > 5
