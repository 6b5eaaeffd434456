"""Random edits of right answers: none that is wrong is accepted, and cards say of few what isn't so."""

from __future__ import annotations

import ast
import random

import pytest
import torch

from tests.mutants.edits import KINDS, mutated, renamed
from tests.mutants.trying import one_notebook

PROGRAM = """
def mean(x, dim):
    x = x + 0
    total = x.sum(dim=dim, keepdim=True)
    if total.dim() > 1:
        total = total - 0.5
    for i in range(3):
        total += x[1:].amax(-1) * i
    count = x.size(dim)
    return total / count
"""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.strip("_"))
def test_every_kind_of_edit_makes_other_programs_of_one_program(kind):
    before = ast.unparse(ast.parse(PROGRAM))
    found = len(list(kind(ast.parse(PROGRAM))))
    others = set()
    for number in range(found):
        tree = ast.parse(PROGRAM)
        _, change = list(kind(tree))[number]
        change()
        others.add(ast.unparse(ast.fix_missing_locations(tree)))
    assert found and others - {before}


def test_the_line_of_an_edit_is_the_line_that_differs():
    before = ast.unparse(ast.parse(PROGRAM)).split("\n")
    for seed in range(200):
        source, lines = mutated(ast.parse(PROGRAM), random.Random(seed))
        after = source.split("\n")
        if len(after) == len(before) and lines:
            apart = {number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]}
            assert set(lines) & apart, (seed, lines, apart)


def test_other_names_change_no_parameter_and_no_result():
    names: dict = {}
    tree = renamed(ast.parse(PROGRAM), random.Random(0))
    exec(compile(ast.fix_missing_locations(tree), "renamed", "exec"), names)
    assert names["mean"].__code__.co_varnames[:2] == ("x", "dim")
    assert "total" not in names["mean"].__code__.co_varnames
    assert torch.is_tensor(names["mean"](torch.ones(4, 3), 0))


@pytest.mark.slow
def test_no_wrong_one_is_accepted_and_few_sentences_are_refuted(everything):
    results = one_notebook("03-softmax", 100 if everything else 25, seed=0, edits=1)
    wrong = [one for one in results if one.status != "equal"]
    assert len(wrong) > len(results) / 2
    assert [one.mutant.source for one in wrong if one.status == "accepted"] == []
    assert sum(bool(one.refuted) for one in wrong) <= 0.1 * len(wrong)
    assert sum(one.status == "located" for one in wrong) > 0.7 * len(wrong)
