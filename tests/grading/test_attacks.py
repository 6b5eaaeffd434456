"""Attacks from inside an answer cell: none gains a mark over the same answer without the attack."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from anatomy import exercises
from anatomy.authoring.notebooks import as_text
from anatomy.checking.judge import judge
from anatomy.checking.observe import observe
from anatomy.course import notebook
from anatomy.grading.run import grade
from anatomy.grading.sample import filled

pytestmark = pytest.mark.slow

BOOK = notebook("03-softmax")
WRONG = "def softmax(x, dim):\n    return x / 2\n"
FORGED_RECORD = """
def forged():
    import torch
    from anatomy import exercises
    from anatomy.checking.record import encode
    cases = [{"outcome": "returned", "value": torch.ones(1), "steady": True, "status": "right", "points": 100}
             for _ in range(40)]
    return {"application/vnd.transformer-anatomy.observation+json": encode({"exercise": "softmax", "cases": cases})}
"""
ATTACKS = {
    "torch's comparisons": """
import torch
torch.allclose = torch.equal = torch.testing.assert_close = lambda *a, **k: True
torch.Tensor.__eq__ = torch.Tensor.allclose = lambda *a, **k: True
""",
    "AssertionError and other built-ins": """
import builtins
class Never(Exception):
    def __new__(cls, *a): return "5"
builtins.AssertionError = Never
builtins.abs = lambda x: 0
""",
    "anatomy.checking": """
import anatomy.checking.observe
anatomy.checking.check = check = lambda name: 100
anatomy.checking.observe.observe = lambda *a, **k: {"status": "right", "points": 100, "cases": []}
""",
    "the observation": """
import anatomy.checking.observe, torch
anatomy.checking.observe.observe = lambda exercise, answer, seeds: {"exercise": "softmax", "cases": [
    {"outcome": "returned", "value": torch.ones(2, 3) / 3, "steady": True, "calls": []} for _ in range(99)]}
""",
    "fewer cases": """
from anatomy.exercises.spec import Exercise
Exercise.cases = lambda self, seeds=(0, 1): []
""",
    "seeds of the student's choice": """
import os
os.environ["ANATOMY_GRADING_SEED"] = "0,1"
""",
    "no grading mode": """
import os
os.environ.pop("ANATOMY_GRADING_SEED")
""",
    "sys.modules": """
import sys, types
fake = types.ModuleType("anatomy.checking")
fake.check = check = lambda name: 100
fake.judge = fake
sys.modules["anatomy.checking"] = sys.modules["anatomy.checking.judge"] = fake
""",
    "display hooks": """
shell = get_ipython()
publish = shell.display_pub.publish
def both(data, metadata=None, **more):
    publish({"text/plain": "100", "text/html": "<b>100</b>"}, {})
shell.display_pub.publish = both
shell.events.register("post_run_cell", lambda *_: shell.displayhook(100))
""",
    "forged observations": FORGED_RECORD
    + """
from IPython.display import display
display(forged(), raw=True)
def softmax(x, dim):
    display(forged(), raw=True)
    return x / 2
""",
    "one forged observation, none true": FORGED_RECORD
    + """
from IPython.display import display
def check(name):
    display(forged(), raw=True)
""",
    "an exception with outputs": """
class Proud(Exception):
    def _render_traceback_(self):
        get_ipython().displayhook(100)
        return ["100"]
    def __str__(self): return "100"
def check(name):
    get_ipython().displayhook(100)
    raise Proud
""",
    "input transformers": """
get_ipython().input_transformers_cleanup.append(lambda lines: ["100"] if "check" in "".join(lines) else lines)
""",
    "the reference": """
for name in ("reference.softmax", "misconceptions.softmax", "checking.judge", "grading.answers", "reference.heads"):
    try:
        exec(f"import anatomy.{name} as found")
        softmax = getattr(found, "softmax", softmax)
    except ImportError:
        pass
""",
    "a tensor that agrees with everything": """
import torch
class Agreeable(torch.Tensor):
    def __eq__(self, other): return True
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return torch.ones(())
def softmax(x, dim):
    return (x / 2).as_subclass(Agreeable)
""",
}


@pytest.mark.timeout(900)
def test_no_attack_gains_a_mark(tmp_path, new_course, capsys):
    root = new_course(tmp_path, BOOK.slug)
    exercise = exercises.of_notebook(BOOK)["softmax"]
    seeds = (11, 12)
    honest = judge(exercise, observe(exercise, lambda x, dim: x / 2, seeds), seeds).points
    names = {f"attack-{number:02d}": name for number, name in enumerate(ATTACKS)}
    for student, name in names.items():
        book = filled(root, BOOK, {})
        next(c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "softmax").source = (
            WRONG + ATTACKS[name]
        )
        place = root / "submitted" / student / BOOK.slug
        place.mkdir(parents=True)
        (place / f"{BOOK.slug}.ipynb").write_text(as_text(book), encoding="utf-8")
    report = grade(root, console=Console(file=io.StringIO()))

    gained = {}
    table = []
    for row in report.rows:
        marks = {mark.exercise: mark.points for mark in row.marks}
        table.append(
            f"  {names[row.student]:<42} {marks.get('softmax')} of {exercise.points}  {row.marks[0].said[:60]}"
        )
        assert row.status == "graded", (names[row.student], row.reasons)
        if marks.pop("softmax") > honest or any(marks.values()):
            gained[names[row.student]] = row.marks
    with capsys.disabled():
        print(f"\nAttacks on an answer worth {honest} of {exercise.points} points:", *table, sep="\n")
    assert not gained
