"""One mistake costs once when marks are given, too: right answers are lent to a kernel, and help nobody to more."""

from __future__ import annotations

import sys

import pytest
from conftest import skeleton
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from anatomy.classroom.forked_kernels import sandbox
from anatomy.classroom.grading.notes import NOTE, CellNote, NotebookNote
from anatomy.classroom.grading.preprocessors import JudgeObservations, RunAndObserve, run_and_observe
from anatomy.classroom.grading.preprocessors.lending import Lending
from anatomy.course import COURSE
from anatomy.engine.answers import stand_ins
from anatomy.engine.checking import stand_ins as lent
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging.judge import is_right
from anatomy.engine.notebook_files.notebooks import grade_id
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import MIME, encode
from tests.plenty import one_in

needs_kernels = [
    pytest.mark.slow,
    pytest.mark.xdist_group("forked kernels"),
    pytest.mark.skipif(sys.platform != "linux" or not sandbox.bubblewrap(), reason="needs bubblewrap"),
]
BOOK = COURSE.notebook("03-softmax")
FULL = {name: exercise.points for name, exercise in COURSE.exercises(BOOK).items()}
RIGHT = {
    "softmax": stand_ins(COURSE, BOOK)["softmax"].source,
    "attention_weights": "def attention_weights(query, key):\n    return softmax(scaled_scores(query, key), -1)\n",
    "weighted_values": "def weighted_values(weights, value):\n    return weights @ value\n",
    "scaled_dot_product_attention": (
        "def scaled_dot_product_attention(query, key, value):\n"
        "    return weighted_values(attention_weights(query, key), value)\n"
    ),
    "attention_entropy": stand_ins(COURSE, BOOK)["attention_entropy"].source,
}
STUB = "def softmax(x, dim):\n    raise NotImplementedError\n"


def handed_in(first: str = "", after: str = "", **answers: str) -> NotebookNode:
    """A notebook with right answers but for these, a cell of one's own first, and one after the check of `softmax`."""
    book = skeleton(BOOK)
    for cell in book.cells:
        if grade_id(cell) in RIGHT:
            cell.source = {**RIGHT, **answers}[grade_id(cell)]
    check = next(index for index, cell in enumerate(book.cells) if grade_id(cell) == "check-softmax")
    book.cells.insert(check + 1, new_code_cell(after, id="after"))
    book.cells.insert(check - 1, new_code_cell(first, id="first"))
    return book


def marks(book: NotebookNode) -> dict[str, float]:
    resources = {"nbgrader": {"notebook": BOOK.slug}, NOTE: NotebookNote(seeds=(4711, 815))}
    RunAndObserve(timeout=20).preprocess(book, resources)
    JudgeObservations().preprocess(book, resources)
    notes = [CellNote.read(cell) for cell in book.cells if grade_id(cell).startswith("check-")]
    return {note.exercise: note.points or 0 for note in notes}


# ---- what is lent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("book", one_in(7, COURSE.notebooks), ids=lambda book: book.slug)
@pytest.mark.slow
def test_each_stand_in_is_right_by_itself(book, monkeypatch):
    monkeypatch.setattr(lent, "PROVIDED", {})
    asked = COURSE.exercises(book)
    assert set(stand_ins(COURSE, book)) == {name for name, exercise in asked.items() if exercise.kind != "quiz"}
    for name, stand_in in stand_ins(COURSE, book).items():
        lent.provide(name, stand_in.source)
        assert is_right(asked[name], observe(asked[name], lent.PROVIDED[name])), name


@pytest.mark.parametrize("book", COURSE.notebooks, ids=lambda book: book.slug)
def test_a_stand_in_shows_no_answer_that_is_asked_for_later(book):
    order = list(COURSE.exercises(book))
    for name, stand_in in stand_ins(COURSE, book).items():
        assert stand_in.shows <= set(order[: order.index(name) + 1])


def checks(*names: str) -> NotebookNode:
    def one(name: str) -> NotebookNode:
        return new_code_cell(f'check("{name}")', metadata={
            "nbgrader": {"grade": True, "grade_id": f"check-{name}", "points": 1, "solution": False}})  # fmt: skip

    return new_notebook(cells=[one(name) for name in names])


def lends_after(nb: NotebookNode, index: int, answer=None) -> str:
    if answer is not None:
        name = grade_id(nb.cells[index]).removeprefix("check-")
        record = encode(observe(COURSE.exercise(name), answer))
        nb.cells[index].outputs = [new_output("display_data", data={MIME: record})]
    return Lending(nb, BOOK, SEEDS).after(nb.cells[index], index)


def test_only_what_is_not_right_is_lent():
    nb = checks("softmax", "attention_weights")
    assert "def softmax" in lends_after(nb, 0), "nothing was observed"
    assert "def softmax" in lends_after(nb, 0, lambda x, dim: x)
    assert lends_after(nb, 0, lambda x, dim: x.softmax(dim).detach() + x * 0), "not right: the library did it"
    names = {}
    exec(RIGHT["softmax"], names)
    assert lends_after(nb, 0, names["softmax"]) == ""


def test_nothing_is_lent_that_shows_a_later_answer_or_after_the_last_check():
    assert lends_after(checks("attention_weights", "weighted_values"), 0)
    assert lends_after(checks("attention_weights", "softmax"), 0) == "", "it calls softmax"
    assert lends_after(checks("softmax", "softmax"), 0) == ""
    assert lends_after(checks("attention_weights", "softmax"), 1) == ""


def test_whatever_a_kernel_sent_something_is_lent():
    nb = checks("softmax", "attention_weights")
    for data in ({}, 3, {"tree": [], "tensors": "?"}, {"tree": {"cases": [None]}, "tensors": ""}):
        nb.cells[0].outputs = [new_output("display_data", data={MIME: data})]
        assert "def softmax" in lends_after(nb, 0)


# ---- honest notebooks -----------------------------------------------------------------------------------------------

WRONG = {
    "missing": "",
    "stub": STUB,
    "wrong": "def softmax(x, dim):\n    return x.exp() / x.exp().sum()\n",
    "raises": "def softmax(x, dim):\n    return x.no_such_method()\n",
    "no Python": "def softmax(x, dim)\n    return x\n",
    "its cell ends the kernel": "import os\nos._exit(1)\n",
    "ends the kernel": "def softmax(x, dim):\n    import os\n    os._exit(1)\n",
}


class Kernels:
    pytestmark = needs_kernels


class TestHonest(Kernels):
    @pytest.mark.parametrize("what", WRONG)
    def test_a_wrong_part_costs_its_own_points(self, what):
        found = marks(handed_in(softmax=WRONG[what]))
        assert found.pop("softmax") < FULL["softmax"]
        assert found == {name: points for name, points in FULL.items() if name != "softmax"}

    def test_an_answer_that_only_calls_a_wrong_one_is_not_called_wrong(self):
        book = handed_in(softmax=STUB)
        marks(book)
        card = next(cell for cell in book.cells if grade_id(cell) == "check-scaled_dot_product_attention")
        assert "It calls your `softmax` (3.1), which is not yet: mend 3.1." in card.outputs[0].data["text/plain"]

    def test_a_right_notebook_is_lent_nothing(self):
        book = handed_in(first="from anatomy.engine.checking import stand_ins")
        book.cells.append(new_code_cell("print(sorted(stand_ins.PROVIDED))", id="last"))
        assert marks(book) == FULL
        assert book.cells[-1].outputs[0].text == "[]\n"

    def test_a_notebook_may_use_the_checks_name_for_something_else(self):
        assert marks(handed_in(first='check = "my notes"', after="del check")) == FULL

    def test_a_cell_that_breaks_the_check_costs_only_itself(self):
        breaks = "import anatomy\nanatomy.check = 7"
        assert marks(handed_in(after=breaks)) == FULL
        book = handed_in(weighted_values=f"{RIGHT['weighted_values']}\n{breaks}")
        assert marks(book) == {**FULL, "weighted_values": 0}
        card = next(cell for cell in book.cells if grade_id(cell) == "check-weighted_values")
        assert "kept the check from working" in card.outputs[0].data["text/plain"]

    def test_a_check_cell_is_given_back_as_it_was_handed_in(self):
        book = handed_in(first='check = "my notes"')
        given = {grade_id(cell): cell.source for cell in book.cells if grade_id(cell).startswith("check-")}
        marks(book)
        assert given == {grade_id(cell): cell.source for cell in book.cells if grade_id(cell).startswith("check-")}

    def test_the_notebook_keeps_its_own(self):
        book = handed_in(
            softmax=WRONG["wrong"], after="import torch\nprint(softmax(torch.zeros(2, 2), 1)[0, 0].item())"
        )
        marks(book)
        after = next(cell for cell in book.cells if cell.id == "after")
        assert after.outputs[0].text == "0.25\n"


# ---- attacks: whoever leaves `softmax` to the grader has no points for it, and elsewhere none that are not deserved --

TAKE = "from anatomy.engine.checking import stand_ins\n"
FOR_GOOD = "import anatomy.in_notebooks\nanatomy.check = anatomy.in_notebooks.check = check\n"
RECORD = """
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import MIME, encode
import os
def record():
    seeds = tuple(map(int, os.environ["ANATOMY_GRADING_SEED"].split(",")))
    from anatomy.course import COURSE
    return {MIME: encode(observe(COURSE.exercise("softmax"), stand_ins.PROVIDED["softmax"], seeds)), "text/plain": "x"}
"""
ATTACKS = {
    "calls it when it is there": ("", {"softmax": TAKE + (
        "def softmax(x, dim):\n    return stand_ins.PROVIDED['softmax'](x, dim)\n")}, "", {}),
    "takes it and asks for the check again": (
        TAKE, {}, "softmax = stand_ins.PROVIDED['softmax']\ncheck('softmax')", {}),
    "a provide of its own": (TAKE + (
        "kept, own = [], stand_ins.provide\n"
        "def provide(name, source):\n    kept.append(source)\n    own(name, source)\n    exec(source, globals())\n"
        "stand_ins.provide = provide\n"), {}, "check('softmax')", {}),
    "an exec of its own": (
        "import builtins\nown = exec\n"
        "def exec(code, *names):\n"
        "    own(code, *names)\n"
        "    if code.co_filename == '<right softmax>':\n        own(code, globals())\n"
        "builtins.exec = exec\n", {}, "check('softmax')", {}),
    "changes what it displayed": (TAKE + RECORD + (
        "import IPython.display as shown\nown = shown.display\n"
        "def display(*data, **options):\n    own(*data, display_id='later', **options)\n    shown.display = own\n"
        "shown.display = display\n"), {}, "shown.update_display(record(), display_id='later', raw=True)", {}),
    "a thread that waits": (TAKE + RECORD + (
        "import threading, time\nfrom IPython.display import display\n"
        "def wait():\n"
        "    while 'softmax' not in stand_ins.PROVIDED:\n        time.sleep(0.01)\n"
        "    display(record(), raw=True)\n"
        "waits = threading.Thread(target=wait, daemon=True)\nwaits.start()\n"), {}, "waits.join()", {}),
    "a thread that answers in the check's name": (TAKE + RECORD + (
        "import threading, time\n"
        "kernel = get_ipython().kernel\n"
        "def check(name, own=check):\n    global waits\n"
        "    if name != 'softmax':\n        return own(name)\n"
        "    parent = kernel.get_parent('shell')\n"
        "    def wait():\n"
        "        while 'softmax' not in stand_ins.PROVIDED:\n            time.sleep(0.01)\n"
        "        content = {'data': record(), 'metadata': {}, 'transient': {}}\n"
        "        kernel.session.send(kernel.iopub_socket, 'display_data', content, parent=parent,\n"
        "                            ident=b'display_data')\n"
        "    waits = threading.Thread(target=wait, daemon=True)\n    waits.start()\n" + FOR_GOOD), {},
        "waits.join()", {}),
    "an input transformer": (TAKE + (
        "def later(lines):\n"
        "    if lines and lines[0].startswith('check(\"softmax\")'):\n        return ['pass\\n']\n"
        "    return lines\n"
        "get_ipython().input_transformers_post.append(later)\n"), {},
        "softmax = stand_ins.PROVIDED['softmax']\ncheck('softmax')", {}),
    "sends it with a later check": (TAKE + RECORD + (
        "from IPython.display import display\n"
        "def check(name, own=check):\n"
        "    if name == 'attention_weights':\n        display(record(), raw=True)\n"
        "    else:\n        own(name)\n" + FOR_GOOD), {}, "", {"attention_weights": 0}),
    "sends nothing, and that with a later check": (TAKE + RECORD + (
        "from IPython.display import display\n"
        "def check(name, own=check):\n"
        "    if name == 'attention_weights':\n        display(record(), raw=True)\n"
        "    elif name != 'softmax':\n        own(name)\n" + FOR_GOOD), {}, "", {}),
    "ends the kernel and comes again": (TAKE + (
        "from pathlib import Path\nimport os\n"
        "folders = os.getcwd(), '/tmp', '/dev/shm', os.path.expanduser('~'), '/run/kernel'\n"
        "places = [Path(folder, 'kept.py') for folder in folders]\n"
        "for place in places:\n"
        "    if place.is_file():\n        exec(place.read_text(), globals())\n"
        "kept, own = [], stand_ins.provide\n"
        "def provide(name, source):\n    kept.append(source)\n    own(name, source)\n"
        "stand_ins.provide = provide\n"), {"softmax": ""}, (
        "for place in places:\n"
        "    try:\n        place.write_text(kept[0])\n    except OSError:\n        pass\n"
        "assert kept\nos._exit(1)\n"), {}),
    "at the end": (TAKE + RECORD + (
        "import atexit\nfrom IPython.display import display\n"
        "atexit.register(lambda: display(record(), raw=True))\n"), {}, "", {}),
}  # fmt: skip


class TestAttacks(Kernels):
    @pytest.mark.parametrize("attack", ATTACKS)
    def test_a_stand_in_wins_nothing(self, attack):
        first, answers, after, costs = ATTACKS[attack]
        found = marks(handed_in(first, after, **{"softmax": STUB, **answers}))
        assert found.pop("softmax") == 0
        assert found == {name: points for name, points in FULL.items() if name != "softmax"} | costs


# ---- what a kernel has kept where the next kernel of its notebook finds it: here there is no sandbox at all ----------

KEEPS = (
    TAKE + "from pathlib import Path\nimport os\nkept, own, place = [], stand_ins.provide, Path('@PLACE@')\n"
    "def provide(name, source):\n    kept.append(source)\n    own(name, source)\n"
    "stand_ins.provide = provide\n"
)  # fmt: skip
ENDS_ONCE = "if kept and not place.exists():\n    place.write_text(kept[0])\n    os._exit(1)\n"
ENDS = {
    "the kernel": ENDS_ONCE,
    "the check": ENDS_ONCE.replace("os._exit(1)", "import anatomy\n    anatomy.check = 7"),
}
REPLIES = {
    "answers from there": "if place.is_file():\n    exec(place.read_text(), globals())\n",
    "tries something else when the first try was not right": (
        "if place.is_file():\n    softmax = lambda x, dim: (x - x.logsumexp(dim, keepdim=True)).exp()\n"),
}  # fmt: skip


@pytest.fixture
def without_a_sandbox(monkeypatch):
    monkeypatch.setenv(sandbox.SANDBOX_VARIABLE, sandbox.NO_SANDBOX)


class TestKept(Kernels):
    @pytest.mark.parametrize("reply", REPLIES)
    @pytest.mark.parametrize("ends", ENDS)
    def test_what_was_lent_earns_nothing_in_another_run(self, ends, reply, without_a_sandbox, tmp_path):
        place = tmp_path / "kept.py"
        first = KEEPS.replace("@PLACE@", str(place)) + STUB + REPLIES[reply]
        found = marks(handed_in(first, ENDS[ends], softmax=""))
        assert place.is_file(), "the notebook is run again, and its first kernel left what it was lent"
        assert found == {**FULL, "softmax": 0}

    def test_what_was_lent_earns_nothing_when_skipped_cells_are_run_after_all(
        self, without_a_sandbox, tmp_path, monkeypatch
    ):
        """A name that only a skipped cell binds makes the whole notebook run again, and no kernel has ended."""
        place = tmp_path / "kept.py"
        first = KEEPS.replace("@PLACE@", str(place)) + STUB + REPLIES["answers from there"]
        book = handed_in(first, "if kept:\n    place.write_text(kept[0])\n    a_name_that_was_skipped\n", softmax="")
        book.cells.insert(0, new_code_cell("a_name_that_was_skipped = 1", id="given"))
        monkeypatch.setattr(run_and_observe, "skippable_cells", lambda cells, given: {0})
        found = marks(book)
        assert place.is_file() and "a_name_that_was_skipped" not in str(book.cells[0].outputs)
        assert "not defined" not in str(next(cell for cell in book.cells if cell.id == "after").outputs)
        assert found == {**FULL, "softmax": 0}

    def test_an_answer_that_misses_what_was_skipped_loses_nothing(self, monkeypatch):
        """It is looked at with everything run before anything is lent for it."""
        book = handed_in(softmax="def softmax(x, dim):\n    e = exponential(x)\n    return e / e.sum(dim, True)\n")
        book.cells.insert(0, new_code_cell("def exponential(x):\n    return (x - x.max()).exp()", id="given"))
        monkeypatch.setattr(run_and_observe, "skippable_cells", lambda cells, given: {0})
        assert marks(book)["softmax"] > 0
