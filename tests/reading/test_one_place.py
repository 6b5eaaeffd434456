"""The line that one change would mend: pointed at when there is one, and only one."""

from __future__ import annotations

import ast
import textwrap
from contextlib import nullcontext

import pytest
import torch

from anatomy.course import COURSE
from anatomy.engine.exercise import SEEDS
from anatomy.engine.judging.expectations import Expectations
from anatomy.engine.observing.observe import observe
from anatomy.engine.reading.edits import small_edits
from anatomy.engine.reading.one_value import Compared
from anatomy.engine.reading.source import program_of
from anatomy.engine.reading.trials import LONGEST, Budget, Trials

pytestmark = pytest.mark.slow


def cell(source: str) -> str:
    return textwrap.dedent(source).strip() + "\n"


OFF_BY_ONE = cell("""
    def dot_product_scores(query, key):
        B, T, D = query.shape
        scores = torch.zeros(B, T, key.size(1))
        for d in range(D - 1):
            scores = scores + query[:, :, d, None] * key[:, None, :, d]
        return scores
""")

WRONG = {
    "a range one short": (
        "dot_product_scores",
        OFF_BY_ONE,
        "line 4 would make it right, where you have `for d in range(D - 1):`.",
    ),
    "another axis": (
        "attention_weights",
        "def attention_weights(query, key):\n"
        "    scores = query @ key.mT / query.size(-1) ** 0.5\n"
        "    scores = scores - scores.amax(-1, keepdim=True)\n"
        "    return scores.exp() / scores.exp().sum(1, keepdim=True)\n",
        "line 4 would make it right, where you have `return scores.exp() / scores.exp().sum(1, keepdim=True)`.",
    ),
    "a missing argument": (
        "pairwise_dot",
        "def pairwise_dot(x):\n    return torch.stack([item @ item.mT for item in x], 1)\n",
        "line 2 would make it right, where you have `return torch.stack([item @ item.mT for item in x], 1)`.",
    ),
    "a helper in the same cell": (
        "scaled_scores",
        "def root(number):\n    return number ** 0.25\n\n"
        "def scaled_scores(query, key):\n    return query @ key.mT / root(query.size(-1))\n",
        "line 2 would make it right, where you have `return number ** 0.25`.",
    ),
    "a method of a class": (
        "LayerNorm",
        cell("""
            class LayerNorm(nn.Module):
                def __init__(self, dim, eps=1e-12):
                    super().__init__()
                    self.eps = eps
                    self.weight = nn.Parameter(torch.ones(dim))
                    self.bias = nn.Parameter(torch.zeros(dim))

                def forward(self, x):
                    mean = x.mean(dim=-1, keepdim=True)
                    variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True)
                    return (x - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias
        """),
        "line 10 would make it right, where you have `variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True)`.",
    ),
}


@pytest.fixture(autouse=True)
def no_value_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `test_one_value.py` tries would often be said first."""
    monkeypatch.setattr("anatomy.engine.reading.the_value", lambda *_: None)


@pytest.mark.parametrize("name", WRONG)
def test_the_line_is_pointed_at(name: str, notebook, reading) -> None:
    exercise, source, said = WRONG[name]
    assert any(said in one.headline for one in reading(exercise, notebook(source)).diagnoses)


def test_edits_of_suspected_lines_come_first_and_none_comes_twice() -> None:
    source = "def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n"
    tree = ast.parse(source)
    made = [(line, ast.unparse(tree)) for line in small_edits(tree, [{3}, {2, 3}])]
    lines = [line for line, _ in made]
    assert lines == sorted(lines, key=[3, 2, 4, 1].index) and {2, 3, 4} <= set(lines)
    assert sorted(made) == sorted((line, ast.unparse(tree)) for line in small_edits(tree))


def test_a_line_is_suspected_whose_value_no_right_answer_computes(notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = COURSE.exercise("attention_weights")
    names = notebook(
        "def attention_weights(query, key):\n    scores = query @ key.mT\n    scaled = scores / query.size(-1)\n"
        "    return scaled.softmax(-1)\n"
    )
    known = Expectations(exercise, SEEDS)
    trials = Trials(known, observe(exercise, names["attention_weights"]).cases, Budget(20.0))
    program = program_of(names["attention_weights"], "attention_weights")
    first, before = Compared(program, trials).suspected
    assert first == {3} and 2 in before


def test_two_lines_are_left_to_choose_from(notebook, reading) -> None:
    source = "def dot_product_scores(query, key):\n    scores = -(query @ key.mT)\n    return scores\n"
    said = [one.headline for one in reading("dot_product_scores", notebook(source)).diagnoses]
    where = "where you have `scores = -(query @ key.mT)` or `return scores`."
    assert f"One change in line 2 or in line 3 would make it right, {where}" in said


SILENT = {
    "a change in any of three lines would do": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    scores = -(query @ key.mT)\n    turned = scores\n    return turned\n",
    ),
    "two lines are wrong": (
        "project",
        "def project(x, w_q, w_k):\n    query = x @ w_q + 1\n    key = x @ w_k + 1\n    return query, key\n",
    ),
    "another algorithm": ("pairwise_dot", "def pairwise_dot(x):\n    return torch.cdist(x, x)\n"),
    "a built-in": ("pairwise_dot", "pairwise_dot = torch.sigmoid\n"),
    "what a function made": (
        "dot_product_scores",
        "def make():\n    sign = -1\n    def dot_product_scores(query, key):\n        return sign * query @ key.mT\n"
        "    return dot_product_scores\n\ndot_product_scores = make()\n",
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_said_of_a_line_when(name: str, notebook, reading) -> None:
    exercise, source = SILENT[name]
    assert not any("One change" in one.headline for one in reading(exercise, notebook(source)).diagnoses)


def test_an_edit_has_a_multiple_of_the_time_that_the_answer_takes(notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def limits(seconds: float = LONGEST):
        given.append(seconds)
        return nullcontext()

    monkeypatch.setattr("anatomy.engine.reading.trials._limits", limits)
    names, exercise = notebook(OFF_BY_ONE), COURSE.exercise("dot_product_scores")
    answer = names["dot_product_scores"]
    trials = Trials(Expectations(exercise, SEEDS), observe(exercise, answer).cases, Budget())
    trials.reproduces(lambda: answer)
    trials.reproduces(lambda: answer)
    assert given[0] == LONGEST > given[1]


def test_an_error_is_said_before_the_line(notebook, reading) -> None:
    source = "def dot_product_scores(query, key):\n    return query @ keys.mT\n"
    said = [one.headline for one in reading("dot_product_scores", notebook(source)).diagnoses]
    assert said[0].startswith("It stops with") and "One change in line 2" in said[-1]


def test_the_notebook_is_as_it_was(notebook, reading, capsys: pytest.CaptureFixture[str]) -> None:
    source = cell("""
        def dot_product_scores(query, key):
            print("called")
            calls.append(1)
            memory.add_(1)
            return query @ key.mT * 2
    """)
    names = notebook(source, calls=[], memory=torch.ones(1))
    before, answer = set(names), names["dot_product_scores"]
    observe(COURSE.exercise("dot_product_scores"), answer)
    once = len(names["calls"])
    assert "One change in line 5" in reading("dot_product_scores", names).diagnoses[0].headline
    assert set(names) == before and names["dot_product_scores"] is answer
    assert len(names["calls"]) == 2 * once == names["memory"].item() - 1, "observed twice, and nothing else was run"
    assert capsys.readouterr().out == ""


def test_an_edit_that_never_ends_is_given_up(notebook, reading) -> None:
    source = cell("""
        def dot_product_scores(query, key):
            scores, d = 0, 1
            while d < query.size(-1):
                scores = scores + query[:, :, d, None] * key[:, None, :, d]
                d += 1
            return scores
    """)
    said = reading("dot_product_scores", notebook(source)).diagnoses
    assert "One change in line 2 would make it right, where you have `scores, d = 0, 1`." in said[0].headline
