"""One mistake costs once: an answer is also looked at with right answers for the parts that it calls."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from anatomy.course import COURSE
from anatomy.course.nb03_softmax import right
from anatomy.engine.cards import as_html, as_text
from anatomy.engine.checking import looking, stand_ins
from anatomy.engine.exercise import SEEDS, Exercise
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Verdict
from anatomy.engine.observing import observe as observing
from anatomy.engine.observing.observation import Observation
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import decode, encode
from tests.observing.cells import run_cell

SCORES = "def scaled_scores(query, key):\n    return query @ key.mT / key.size(-1) ** 0.5\n"
SOFTMAX = inspect.getsource(right.softmax)
OVER_ALL = "def softmax(x, dim):\n    return x.exp() / x.exp().sum()\n"
STUB = "def softmax(x, dim):\n    # YOUR CODE HERE\n    raise NotImplementedError\n"
WEIGHTS = "def attention_weights(query, key):\n    return softmax(scaled_scores(query, key), -1)\n"
QUERIES = "def attention_weights(query, key):\n    return softmax(scaled_scores(query, key), -2)\n"
VALUES = "def weighted_values(weights, value):\n    return weights @ value\n"
FLIPPED = "def weighted_values(weights, value):\n    return weights.flip(-1) @ value\n"
WHOLE = (
    "def scaled_dot_product_attention(query, key, value):\n"
    "    return weighted_values(attention_weights(query, key), value)\n"
)


def look(name: str, *cells: str) -> tuple[Verdict, Observation]:
    """As in a notebook in which these cells were run."""
    names = run_cell(
        "from __future__ import annotations\nimport torch\nfrom torch import Tensor\n" + "\n".join(cells), {}
    )
    before, expectations_of = dict(names), remembering()
    seen = looking.look_in_notebook(COURSE.exercise(name), names, expectations_of)
    assert names == before, "the notebook has its own answers again"
    return judge(COURSE.exercise(name), seen, expectations_of=expectations_of), seen


@pytest.mark.parametrize(
    "softmax", [OVER_ALL, STUB, "", "softmax = 3\n"], ids=["wrong", "stub", "missing", "no function"]
)
def test_an_answer_that_is_right_but_for_a_part_has_its_points(softmax: str) -> None:
    verdict, seen = look("attention_weights", SCORES, softmax, WEIGHTS)
    assert (verdict.status, verdict.points) == ("right", 5)
    said = "This one is right. It calls your `softmax` (3.1), which is not yet: mend 3.1."
    assert verdict.diagnoses[0].headline == said
    assert said in as_text(verdict) and "mend 3.1" in as_html(verdict)
    assert seen.parts == ["softmax"]


def test_only_the_part_that_is_wrong_is_named_not_what_only_passes_it_on() -> None:
    verdict, seen = look("scaled_dot_product_attention", SCORES, OVER_ALL, WEIGHTS, VALUES, WHOLE)
    assert verdict.status == "right" and seen.parts == ["softmax"]
    verdict, seen = look("scaled_dot_product_attention", SCORES, SOFTMAX, QUERIES, FLIPPED, WHOLE)
    assert verdict.status == "right"
    assert "`weighted_values` (3.3) and `attention_weights` (3.2), which are not yet: mend 3.3 and 3.2" in as_text(
        verdict
    )


def test_an_answer_with_a_mistake_of_its_own_is_told_that_one() -> None:
    verdict, seen = look("attention_weights", SCORES, OVER_ALL, QUERIES)
    alone, _ = look("attention_weights", SCORES, SOFTMAX, QUERIES)
    assert verdict.status == "wrong" and seen.parts == ["softmax"]
    assert verdict.mistakes == alone.mistakes != []
    assert verdict.points == alone.points
    assert verdict.diagnoses[-1].headline == "It also calls your `softmax` (3.1), which is not right yet: mend 3.1."


def test_with_right_parts_of_its_own_nothing_else_is_run() -> None:
    verdict, seen = look("attention_weights", SCORES, SOFTMAX, QUERIES)
    assert verdict.status == "wrong" and seen.parts == [] and seen.with_right_parts == []
    assert "It also calls" not in as_text(verdict)
    verdict, seen = look("attention_weights", SCORES, SOFTMAX, WEIGHTS)
    assert verdict.status == "right" and verdict.diagnoses == () and seen.with_right_parts == []


def test_a_part_is_looked_at_once_while_nothing_that_defines_it_changes() -> None:
    counted = f"{SOFTMAX}\nfirst = softmax\ndef softmax(x, dim):\n    softmax.calls += 1\n    return first(x, dim)\n"
    names = run_cell(f"import torch\nfrom torch import Tensor\n{counted}softmax.calls = 0\n{SCORES}{QUERIES}", {})
    exercise, expectations_of = COURSE.exercise("attention_weights"), remembering()

    def calls() -> int:
        before = names["softmax"].calls
        assert looking.look_in_notebook(exercise, names, expectations_of).parts == []
        return names["softmax"].calls - before

    first, second = calls(), calls()
    assert second < first
    exec("def first(x, dim):\n    return x.exp() / x.exp().sum()\n", names)
    assert looking.look_in_notebook(exercise, names, expectations_of).parts == ["softmax"]


def test_a_part_that_never_ends_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "def softmax(x, dim):\n    while True:\n        pass\n"
    names = run_cell(f"from torch import Tensor\n{endless}{SCORES}{WEIGHTS}", {})
    looked_at: list[str] = []

    def noted(exercise: Exercise, *more: Any) -> Observation:
        looked_at.append(exercise.name)
        return observe(exercise, *more)

    monkeypatch.setattr(observing, "TIME_LIMIT", 0.2)
    monkeypatch.setattr(looking, "observe", noted)
    for name in ("softmax", "attention_weights"):
        seen = looking.look_in_notebook(COURSE.exercise(name), names, remembering())
    assert seen.parts == ["softmax"]
    assert looked_at.count("softmax") == 1


def test_an_answer_that_is_not_written_stays_so() -> None:
    stub = "def attention_weights(query, key):\n    # YOUR CODE HERE\n    raise NotImplementedError\n"
    verdict, _ = look("attention_weights", SCORES, STUB, stub)
    assert verdict.status == "not attempted" and verdict.diagnoses[0].headline == "Not attempted yet."


# ---- when marks are given -------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def nothing_provided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_ins, "PROVIDED", {})


def marked(name: str, *cells: str) -> tuple[Verdict, Observation]:
    """As in a kernel that grades: looked at there, judged elsewhere."""
    names = run_cell("\n".join(cells), {})
    seen = decode(encode(looking.look_for_marks(COURSE.exercise(name), names, SEEDS)))
    return judge(COURSE.exercise(name), seen), seen


SOURCE = f"from __future__ import annotations\nfrom torch import Tensor\n\n{SOFTMAX}"


def test_a_kernel_uses_what_the_grader_has_provided() -> None:
    assert marked("attention_weights", SCORES, OVER_ALL, WEIGHTS)[0].points < 5
    stand_ins.provide("softmax", SOURCE)
    verdict, seen = marked("attention_weights", SCORES, OVER_ALL, WEIGHTS)
    assert verdict.points == 5 and "mend 3.1" in as_text(verdict) and seen.parts == ["softmax"]
    assert marked("weighted_values", VALUES)[1].with_right_parts == [], "what calls no such part is looked at once"


def test_a_stand_in_does_not_help_its_own_exercise() -> None:
    stand_ins.provide("softmax", SOURCE)
    verdict, seen = marked("softmax", OVER_ALL)
    assert verdict.status == "wrong" and seen.with_right_parts == []
    assert marked("softmax", "")[0].status == "not attempted"


def test_a_text_that_does_not_define_it_is_refused() -> None:
    with pytest.raises(KeyError):
        stand_ins.provide("softmax", "x = 1")
    assert stand_ins.PROVIDED == {}


@pytest.mark.slow
def test_parts_that_a_kernel_made_up_win_nothing() -> None:
    """The second look counts only for parts that the notebook asks, and only if it is of all cases."""
    exercise = COURSE.exercise("attention_weights")
    wrong = observe(exercise, lambda query, key: query @ key.mT)
    better = observe(exercise, right.attention_weights).cases
    deserved = judge(exercise, wrong).points
    for parts in ([], ["attention_weights"], ["no_such"], ["split_heads"]):
        assert judge(exercise, Observation(exercise.name, wrong.cases, parts, better)).points == deserved
    assert judge(exercise, Observation(exercise.name, wrong.cases, ["softmax"], better[:1])).points == deserved
