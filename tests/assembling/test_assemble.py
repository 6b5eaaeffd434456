"""From notebooks to a file that works: the whole course, and students who are not so far."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from anatomy import cli
from anatomy.course import COURSE
from anatomy.course.assembling import assembly
from anatomy.course.assembling.assembly import Assembly, NoAnswers, put_together
from anatomy.course.assembling.examine import Step, examine
from anatomy.course.assembling.runner import _stopped
from anatomy.course.checkpoints import CheckpointError
from anatomy.engine.notebook_files.notebooks import read, solved_file, write
from tests.assembling.course import answer, put

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("assembling")]  # one fixture, which takes long


def solved(root: Path, folder: Path, *names: str, **changes: tuple[str, str]) -> None:
    """The solved editions of these notebooks (or all), with something replaced in the cells of some answers."""
    for book in COURSE.notebooks:
        if not names or book in map(COURSE.find, names):
            notebook = read(solved_file(root, book.slug))
            for cell in notebook.cells:
                name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
                if cell.cell_type == "code":
                    cell.outputs = []
                if name in changes:
                    old, new = changes[name]
                    assert old in cell.source
                    cell.source = cell.source.replace(old, new)
            write(notebook, folder / book.slug / f"{book.slug}.ipynb")


def status(made: Assembly) -> dict[str, str]:
    return {one.exercise: one.status for one in made.entries}


def imported(path: Path, code: str = "") -> str:
    """What a fresh interpreter prints after importing the file from its folder."""
    program = f"import sys; import {path.stem} as mine\n{code or 'print(*sorted(sys.modules))'}"
    run = subprocess.run([sys.executable, "-c", program], cwd=path.parent, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


SOME = 5
"""Of the checks of the whole course, a plain run makes one in so many."""


def some_checks(steps: list[Step], *, on_step: Callable[[Step], None], **more: Any) -> dict[Step, dict[str, Any]]:
    """In place of `examine`: all definitions and comparisons, and some of the checks; of the others, each is right."""
    checks = [step for step in steps if step.job == "check"]
    taken = {step for number, step in enumerate(checks) if number % SOME}
    replies = examine([step for step in steps if step not in taken], on_step=on_step, **more)
    for step in taken:
        replies[step] = {"status": "right"}
        on_step(step)
    return replies


@pytest.fixture(scope="module")
def whole(root, tmp_path_factory, everything) -> tuple[Path, str, int]:
    """The solved editions assembled by the command: the file, what was printed, and the exit code."""
    folder = tmp_path_factory.mktemp("whole")
    solved(root, folder / "notebooks")
    path = folder / "my_transformer.py"
    words = ["assemble", str(folder / "notebooks"), "--output", str(path)]
    with pytest.MonkeyPatch.context() as patch:
        if not everything:
            patch.setattr(assembly, "examine", some_checks)
        result = CliRunner().invoke(cli.app, words, env={"COLUMNS": "300", "TERM": "dumb"})
    return path, result.output, result.exit_code


def test_the_solved_course_becomes_one_file_that_agrees_with_the_library(whole):
    _, said, code = whole
    assert code == 0, said
    assert "and each of them is right" in said
    assert said.count("gives the library's numbers: the largest difference is") == 3
    assert "all-MiniLM-L6-v2 (6 layers, 22.6 million numbers)" in said


def test_the_file_stands_by_itself(whole):
    modules = imported(whole[0]).split()
    assert not [name for name in modules if name.partition(".")[0] in ("anatomy", "IPython", "matplotlib")]


def test_the_file_is_one_to_be_proud_of(whole):
    """Formatted, every name known, nothing imported in vain, nothing run, no line of the course's own machinery."""
    path = whole[0]
    for command in (["check", "--select=F,E,W,I", "--line-length=120"], ["format", "--check", "--line-length=120"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", path], capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""My Transformer: my own answers')
    assert not [word for word in ("YOUR CODE", "SOLUTION", "NotImplementedError", "check(", "print(") if word in text]
    assert "# the largest entry of each slice is now 0" in text
    assert text.index("# 03  Softmax") < text.index("# 09  The causal mask") < text.index("class FeedForward09(")


def test_the_file_s_models_can_be_used(whole):
    code = (
        "import torch\nfrom transformers import BertConfig\n"
        "config = BertConfig(vocab_size=9, hidden_size=8, num_attention_heads=2, num_hidden_layers=1)\n"
        "print(*mine.Transformer(config)(torch.ones(2, 3).long(), torch.ones(2, 4).long()).shape)"
    )
    assert imported(whole[0], code).split() == ["2", "4", "9"]


@pytest.mark.many
def test_holes_and_mistakes_are_named_and_filled_only_when_asked(root, tmp_path):
    solved(
        root, tmp_path, "attention_scores", "softmax", "heads", "causal_mask",
        scaled_scores=("math.sqrt(query.size(-1))", "query.size(-1)"),
        weighted_values=("return weights @ value", "raise NotImplementedError"),
        attention_entropy=("def", "deff"),
        split_heads=("batch, length, width = x.shape", "raise NotImplementedError"),
    )  # fmt: skip
    path = tmp_path / "mine.py"
    made = put_together(tmp_path, path)
    found = status(made)
    assert found["scaled_scores"] == "wrong" and found["attention_weights"] == "right"
    assert {name for name in ("weighted_values", "attention_entropy", "split_heads") if found[name] == "missing"} == {
        "weighted_values", "attention_entropy", "split_heads"}  # fmt: skip
    said = repr(made)
    assert "they are divided by D, not by √D" in said and "invalid syntax" in said
    assert "`CausalSelfAttention` needs `split_heads`, which is missing." in said
    gpt = made.comparisons[1]
    assert not gpt.agrees and gpt.why == "it needs `split_heads`, which is missing"
    text = path.read_text(encoding="utf-8")
    assert "# Not right yet (2.2): " in text and "anatomy.course" not in text
    assert not any(name.startswith("anatomy") for name in imported(path).split())

    path.write_text(text + "# my own words\n", encoding="utf-8")
    words = ["assemble", str(tmp_path), "--output", str(path)]
    refused = CliRunner().invoke(cli.app, words)
    assert refused.exit_code == 2 and "edited since" in refused.output
    assert path.read_text(encoding="utf-8").endswith("# my own words\n")

    filled = put_together(tmp_path, path, fill=True, force=True)
    assert filled.kept is not None and filled.kept.read_text(encoding="utf-8").endswith("# my own words\n")
    assert filled.comparisons[1].agrees and filled.comparisons[1].lent == ("`split_heads`",)
    assert "from anatomy.course.nb04_heads.right import split_heads" in path.read_text(encoding="utf-8")
    assert status(filled) == found


@pytest.mark.many
def test_definitions_that_fail_cost_themselves_only(tmp_path):
    put(tmp_path, "softmax", [
        "import torch\nimport no_such_module_anywhere as other\nprint('noise')",
        "BROKEN = 1 / 0",
        answer("softmax", "def softmax(x, dim=BROKEN):\n    return x"),
        answer("weighted_values", "def weighted_values(w, v):\n    print('more noise')\n    return w @ v"),
        answer("attention_weights", "def attention_weights(q, k):\n    return other.weights(q, k)"),
    ])  # fmt: skip
    path = tmp_path / "mine.py"
    made = put_together(tmp_path, path)
    found = status(made)
    assert (found["softmax"], found["weighted_values"], found["attention_weights"]) == ("missing", "right", "wrong")
    said = repr(made)
    assert "cell 2: `BROKEN`; its definition stops with ZeroDivisionError: division by zero." in said
    assert "3.1 `softmax`: it needs `BROKEN`, which is missing." in said
    assert "`other` of `no_such_module_anywhere` can't be imported here" in said
    assert "`attention_weights` needs `other`, which is missing." in said
    assert imported(path, "print(mine.weighted_values.__name__)") == "weighted_values\n"


def test_stubs_alone_make_no_file(tmp_path):
    put(tmp_path, "softmax", [answer("softmax", "def softmax(x, dim):\n    raise NotImplementedError")])
    with pytest.raises(NoAnswers, match="holds an answer yet"):
        put_together(tmp_path, tmp_path / "mine.py")
    assert not (tmp_path / "mine.py").exists()


@pytest.mark.many
def test_what_hangs_or_leaves_costs_itself_only():
    steps = [
        Step("define", ("a", text))
        for text in ("one = 1", "while True: pass", "import os; os._exit(3)", "exit()", "print('{}'); two = one + 1")
    ]
    replies = examine(steps, limit=5)
    assert [replies[step].get("error") for step in steps] == [
        None, "it took more than 5 seconds", "it ended Python", "SystemExit", None,
    ]  # fmt: skip


def test_without_weights_one_sentence_says_so_and_where_more_is_said():
    error = CheckpointError("No weights for this: they are nowhere.\nThree ways to get on:\n  1. a\n  2. b")
    said = _stopped(error, "")
    assert said.startswith("No weights for this: they are nowhere. `")
    assert said.endswith("doctor` says how to get them.")
    assert _stopped(ValueError("one.\ntwo.\nthree."), "") == "ValueError: one. two"


@pytest.mark.many
def test_in_a_notebook_the_card_shows_itself(root, tmp_path):
    from nbformat.v4 import new_code_cell, new_notebook

    from anatomy.engine.notebook_files.notebooks import METADATA
    from anatomy.engine.notebook_files.running import run

    solved(root, tmp_path, "start_here")
    book = new_notebook(
        cells=[new_code_cell("from anatomy import assemble"), new_code_cell("assemble()")], metadata=METADATA
    )
    (here := tmp_path / "13-family-tree").mkdir()
    run(book, here)
    shown = [output["data"] for output in book.cells[1].outputs if "data" in output]
    assert "<code>my_transformer.py</code>" in shown[-1]["text/html"] and "holds 1 of" in shown[-1]["text/plain"]
    assert "Assembling: 5 of 5 steps" in shown[0]["text/plain"]
    assert (here / "my_transformer.py").is_file()
