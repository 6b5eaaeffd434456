"""Reading notebooks: statements with their comments, stubs, magics, and cells that can't be read."""

from __future__ import annotations

import pytest

from anatomy.course.assembling.gather import Import, NoNotebooks, Piece, find_folder, gather
from tests.assembling.course import answer, gathered, put


def text(found: Piece | Import | None) -> str:
    assert isinstance(found, Piece)
    return found.text


def test_comments_around_an_answer_stay_and_the_course_s_own_line_goes(tmp_path):
    source = """\
import torch

# First I forgot the shift.

def softmax(x, dim):
    # YOUR CODE HERE
    e = (x - x.amax(dim, True)).exp()  # no overflow
    return e / e.sum(dim, True)
    # keepdim!

# Next time: log-softmax.
"""
    put(tmp_path, "softmax", [answer("softmax", source)])
    wanted = """\
# First I forgot the shift.

def softmax(x, dim):
    e = (x - x.amax(dim, True)).exp()  # no overflow
    return e / e.sum(dim, True)
    # keepdim!

# Next time: log-softmax."""
    assert text(gathered(tmp_path, "softmax").answer("softmax")) == wanted


def test_the_markers_of_a_master_are_left_out(tmp_path):
    put(
        tmp_path,
        "softmax",
        [answer("softmax", "def softmax(x, dim):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION")],
    )
    assert text(gathered(tmp_path, "softmax").answer("softmax")) == "def softmax(x, dim):\n    return x"


STUB = "def softmax(x, dim):\n    '''Shares.'''\n    # YOUR CODE HERE\n    raise NotImplementedError"
ONE = "def softmax(x, dim): return 1"


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([answer("softmax", STUB)], ""),
        ([answer("softmax", STUB), ONE], ONE),
        ([answer("softmax", ONE), "def softmax(x, dim): return 2"], ONE),
        ([ONE, answer("softmax", STUB)], ONE),
        ([ONE], ONE),
        ([answer("softmax", "softmax = lambda x, dim: x.softmax(dim)")], "softmax = lambda x, dim: x.softmax(dim)"),
    ],
    ids=["a stub", "below its check", "played with below", "above the stub", "no check", "a lambda"],
)  # fmt: skip
def test_the_answer_is_what_its_check_sees_or_else_a_later_one(tmp_path, cells, wanted):
    put(tmp_path, "softmax", cells)
    found = gathered(tmp_path, "softmax").answer("softmax")
    assert (text(found) if found else "") == wanted


def test_a_class_is_a_stub_only_if_nothing_in_it_is_written(tmp_path):
    stub = (
        "class AttentionHead:\n    def __init__(self):\n        super().__init__()\n        raise NotImplementedError"
    )
    begun = f"{stub}\n    def forward(self, x):\n        return x\n"
    put(tmp_path, "heads", [answer("AttentionHead", stub)])
    assert gathered(tmp_path, "heads").answer("AttentionHead") is None
    put(tmp_path, "heads", [answer("AttentionHead", begun)])
    assert gathered(tmp_path, "heads").answer("AttentionHead") is not None


def test_magics_are_no_obstacle(tmp_path):
    cells = [
        answer("softmax", "%%time\n%matplotlib inline\ndef softmax(x, dim):\n    return x\n!ls\nsoftmax?"),
        "%%bash\ndef attention_weights(): nonsense in a shell",
        answer("weighted_values", "x = %timeit -o 1\ndef weighted_values(w, v):\n    return w @ v"),
    ]
    put(tmp_path, "softmax", cells)
    found = gathered(tmp_path, "softmax")
    assert text(found.answer("softmax")) == "def softmax(x, dim):\n    return x"
    assert text(found.answer("weighted_values")) == "def weighted_values(w, v):\n    return w @ v"
    assert found.answer("attention_weights") is None and not found.unreadable


def test_a_syntax_error_costs_its_cell_and_is_said_with_its_line(tmp_path):
    put(
        tmp_path,
        "softmax",
        [
            answer("softmax", "def softmax(x, dim):\n    return (x"),
            answer("weighted_values", "def weighted_values(w, v): return w @ v"),
        ],
    )
    found = gathered(tmp_path, "softmax")
    assert found.answer("softmax") is None and found.answer("weighted_values") is not None
    assert found.unreadable["softmax"] == "cell 1, line 2: '(' was never closed: return (x"


def test_two_statements_on_a_line_are_told_apart(tmp_path):
    put(tmp_path, "softmax", ["import math; SCALE = math.pi; OTHER = 2"])
    found = gathered(tmp_path, "softmax")
    assert [piece.text for piece in found.pieces] == ["SCALE = math.pi", "OTHER = 2"]
    assert [one for _, one in found.imports] == [Import("math", "", "math")]


def test_what_a_loop_makes_is_noted_but_not_taken(tmp_path):
    put(tmp_path, "softmax", ["for n in range(3):\n    total = n\nwith open('x') as file:\n    pass"])
    found = gathered(tmp_path, "softmax")
    assert not found.pieces
    assert found.made_otherwise == {"n": 1, "total": 1, "file": 1}


def test_absent_and_broken_notebooks_say_so(tmp_path):
    put(tmp_path, "softmax", ["x = 1"]).write_text("{", encoding="utf-8")
    problems = {one.book.slug: one.problem for one in gather(tmp_path)}
    assert problems["04-heads"] == "not in the folder"
    assert problems["03-softmax"].startswith("can't be read as a notebook (")


def test_the_folder_is_found_from_where_one_is(tmp_path):
    notebooks = tmp_path / "notebooks"
    one = put(notebooks, "softmax", ["x = 1"])
    for here in (tmp_path, notebooks, one.parent):
        assert find_folder(None, here) == notebooks.resolve()
    assert find_folder(tmp_path, tmp_path / "elsewhere") == notebooks.resolve()
    with pytest.raises(NoNotebooks, match="00-start-here"):
        find_folder(tmp_path / "empty", tmp_path)
