"""The build writes solutions from the right answers, and says where a cell and its right answer do not fit."""

from __future__ import annotations

import pytest

from anatomy.authoring.solutions import filled

RIGHT = '''
class Scale(nn.Module):
    """A factor for each column.

    More of it.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        scaled = x * self.weight  # (..., D)
        return scaled


def double(x: Tensor) -> Tensor:
    """Twice x."""
    # A comment at the beginning.
    return 2 * x


quiz_why = {
    "why": "because",
}
'''
SCALE = """class Scale(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        {init}
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:  # (..., D) -> (..., D)
        ### BEGIN SOLUTION
        {forward}
        ### END SOLUTION"""


def test_each_method_gets_what_the_cell_does_not_give():
    wanted = SCALE.format(
        init="self.weight = nn.Parameter(torch.ones(dim))",
        forward="scaled = x * self.weight  # (..., D)\n        return scaled",
    )
    assert filled(SCALE.format(init="pass", forward="return x"), "Scale", RIGHT) == wanted
    assert filled(wanted, "Scale", RIGHT) == wanted


def test_an_empty_solution_is_filled_and_the_cells_own_words_stay():
    cell = 'def double(x: Tensor) -> Tensor:\n    """Own words."""\n    ### BEGIN SOLUTION\n    ### END SOLUTION'
    assert filled(cell, "double", RIGHT).split("\n") == [
        "def double(x: Tensor) -> Tensor:",
        '    """Own words."""',
        "    ### BEGIN SOLUTION",
        "    # A comment at the beginning.",
        "    return 2 * x",
        "    ### END SOLUTION",
    ]


def test_a_quiz_keeps_its_template():
    cell = 'quiz_why = {"why": "..."}  # template\n### BEGIN SOLUTION\n### END SOLUTION'
    assert filled(cell, "quiz_why", RIGHT).split("\n")[2:5] == ["quiz_why = {", '    "why": "because",', "}"]


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("def triple(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION", "there is no `triple`"),
        ("def double(y):\n    ### BEGIN SOLUTION\n    return y\n    ### END SOLUTION", "`double` takes"),
        (
            "def double(x: Tensor):\n    x = 2 * x\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION",
            "does not begin with",
        ),
        ("### BEGIN SOLUTION\n### END SOLUTION", "there is no `other`"),
    ],
)
def test_a_cell_that_does_not_fit_its_right_answer_is_named(cell, complaint):
    with pytest.raises(ValueError, match=complaint):
        filled(cell, "other", RIGHT)
