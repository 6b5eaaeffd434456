"""`check` as a notebook calls it: a card, one clean line when wrong; in grading an observation and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.course import COURSE
from anatomy.engine.cards import as_html, as_text
from anatomy.engine.cards.markup import prose
from anatomy.engine.checking import HAND_OVER, hands_over, modes
from anatomy.engine.checking.joining import JUDGE
from anatomy.engine.checking.progress_file import progress_file, read_progress
from anatomy.engine.judging.judge import judge
from anatomy.engine.judging.verdict import Diagnosis, PropertyResult, Verdict
from anatomy.engine.observing import GRADING_SEED
from anatomy.engine.observing.records import MIME, decode
from anatomy.engine.observing.surroundings import Surroundings
from tests.shells import fresh_shell

RIGHT = f"scaled_scores = lambda query, key: query @ key.mT / {math.e} * {math.e} / query.size(-1) ** 0.5"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.delenv(GRADING_SEED, raising=False)
    with fresh_shell() as shell:
        shell.run_cell("from anatomy import check")
        yield shell


def run(shell: InteractiveShell, *cells: str) -> Any:
    with capture_output() as captured:
        for cell in cells:
            shell.run_cell(cell)
    return captured


def test_a_right_answer_gets_a_green_card_and_no_error(shell: InteractiveShell) -> None:
    captured = run(shell, RIGHT, 'check("scaled_scores")')
    assert "Right: 4 of 4 points" in captured.outputs[0].data["text/html"]
    assert "Right: 4 of 4 points" in captured.outputs[0].data["text/plain"]
    noted = read_progress()["scaled_scores"]
    assert (noted.status, noted.points, noted.max_points, noted.attempts) == ("right", 4, 4, 1)
    assert noted.first_right and noted.answer


def test_attempts_are_changed_answers(shell: InteractiveShell) -> None:
    """Not the same one checked again, and not the same one with a comment or from another place in the notebook."""
    wrong = "def scaled_scores(query, key):\n    return query @ key.mT"
    for cells, attempts in (
        ([wrong, 'check("scaled_scores")'], 1),
        (['check("scaled_scores")', 'check("scaled_scores")'], 1),
        ([f"\n{wrong}  # QKᵀ", 'check("scaled_scores")'], 1),
        ([f"{wrong} / 1", 'check("scaled_scores")'], 2),
        ([RIGHT, 'check("scaled_scores")'], 3),
        (['check("scaled_scores")'], 3),
    ):
        run(shell, *cells)
        assert read_progress()["scaled_scores"].attempts == attempts
    noted = read_progress()["scaled_scores"]
    assert noted.mistakes == ("scaled_scores__no_scale",) and noted.said and noted.seconds > 0


def test_a_wrong_answer_gets_a_card_and_one_clean_line(shell: InteractiveShell) -> None:
    captured = run(shell, "def scaled_scores(query, key): return query @ key.mT", 'check("scaled_scores")')
    assert "✗" in captured.outputs[0].data["text/html"]
    assert "scaled_scores: 1 of 4 points." in (captured.stdout + captured.stderr).splitlines()
    assert "anatomy/engine/checking" not in captured.stdout + captured.stderr
    assert "Traceback" not in captured.stdout + captured.stderr


def test_warnings_of_an_answer_do_not_stand_above_its_card(shell: InteractiveShell) -> None:
    answer = "import warnings\ndef scaled_scores(q, k):\n    warnings.warn('on purpose')\n    return q @ k.mT"
    captured = run(shell, answer, 'check("scaled_scores")')
    assert captured.outputs and "on purpose" not in captured.stdout + captured.stderr


def test_a_name_never_defined_is_not_attempted(shell: InteractiveShell) -> None:
    captured = run(shell, 'check("scaled_scores")')
    assert "Not attempted yet" in captured.outputs[0].data["text/plain"]


def test_an_error_names_the_students_own_line(shell: InteractiveShell) -> None:
    captured = run(
        shell, "def scaled_scores(query, key):\n    d = 8\n    return query @ key[d]", 'check("scaled_scores")'
    )
    assert "in your line 3" in captured.outputs[0].data["text/plain"]


def test_when_marks_are_given_the_kernel_only_observes(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GRADING_SEED, "11,12")
    captured = run(shell, RIGHT, 'check("scaled_scores")')
    assert [set(output.data) for output in captured.outputs] == [{MIME, "text/plain"}]
    observation = decode(captured.outputs[0].data[MIME])
    exercise = COURSE.exercise("scaled_scores")
    assert judge(exercise, observation, (11, 12)).points == 4
    assert judge(exercise, observation, (11, 13)).points < 4
    assert not progress_file().exists()


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [
        ({}, modes.JudgeHere()),
        ({HAND_OVER: "1"}, modes.ObserveInNotebook()),
        ({JUDGE: "https://judge/"}, modes.AskJudge("https://judge")),
        ({JUDGE: "https://judge/", HAND_OVER: "1"}, modes.ObserveForJudge()),
        ({JUDGE: "https://judge/", HAND_OVER: "1", GRADING_SEED: "11,12"}, modes.ObserveForMarks((11, 12))),
    ],
)
def test_the_environment_chooses_the_mode(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], chosen: modes.Mode
) -> None:
    for name in (GRADING_SEED, HAND_OVER, JUDGE):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert modes.mode() == chosen
    assert hands_over() == bool({GRADING_SEED, HAND_OVER} & environment.keys())


def test_an_unknown_exercise_is_said(shell: InteractiveShell) -> None:
    captured = run(shell, 'check("no_such")')
    assert "No exercise is called 'no_such' on this machine. In an exam that is as it should be" in captured.stdout
    assert not captured.outputs and "Error" not in captured.stdout


def test_an_unknown_exercise_is_an_error_when_marks_are_given(shell, monkeypatch) -> None:
    monkeypatch.setenv(GRADING_SEED, "11,12")
    assert "KeyError" in run(shell, 'check("no_such")').stdout


def test_no_line_ends_inside_a_shape_of_a_card() -> None:
    whole = '<span style="white-space:nowrap">(3, 5, T)</span>'
    assert prose("`f(3, 5, T)` gives (3, 5, T), see (Lee 2020, Table 1).") == (
        f"<code>f(3, 5, T)</code> gives {whole}, see (Lee 2020, Table 1)."
    )


def test_what_students_write_is_escaped() -> None:
    nasty = "<script>alert(1)</script>"
    verdict = Verdict("x", "wrong", (PropertyResult(nasty, 1, False, nasty),), (Diagnosis(nasty, f"`{nasty}`"),))
    assert "<script" not in as_html(verdict)
    assert nasty in as_text(verdict)


def test_a_progress_file_that_cannot_be_written_disturbs_nothing(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path / "file"))
    assert "Right" in run(shell, RIGHT, 'check("scaled_scores")').outputs[0].data["text/plain"]


UNSETTLED = [
    "import torch; torch.set_default_dtype(torch.float64)",
    "import torch; torch.set_default_dtype(torch.bfloat16)",
    "import torch; torch.set_default_device('meta')",
    "import torch; torch.set_grad_enabled(False)",
    "import torch; inference = torch.inference_mode(); inference.__enter__()",
    "import torch; torch.use_deterministic_algorithms(True)",
    "import sys; sys.setrecursionlimit(20_000)",
    "import warnings; warnings.simplefilter('error')",
    "import numpy; numpy.seterr(all='raise')",
]
HEAD = """
import torch
from torch import nn
class AttentionHead(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(embed_dim, head_dim) for _ in "qkv")
    def forward(self, x):
        weights = (self.q(x) @ self.k(x).mT / self.q.out_features ** 0.5).softmax(-1)
        return weights @ self.v(x)
"""


@pytest.mark.parametrize("change", UNSETTLED)
def test_a_cell_that_changes_settings_for_all_costs_no_other_answer(shell: InteractiveShell, change: str) -> None:
    before = Surroundings.now()
    try:
        captured = run(shell, RIGHT, HEAD, change, 'check("scaled_scores")', 'check("AttentionHead")')
    finally:
        if inference := shell.user_ns.get("inference"):
            inference.__exit__(None, None, None)
        before.put()
    cards = [output.data["text/plain"] for output in captured.outputs]
    assert [text.splitlines()[0] for text in cards] == ["Right: 4 of 4 points.", "Right: 5 of 5 points."]


def test_an_output_that_a_cell_has_closed_costs_no_other_answer(shell: InteractiveShell) -> None:
    captured = run(shell, RIGHT, "import sys, io; sys.stdout = io.StringIO(); sys.stdout.close()",
                   'check("scaled_scores")')  # fmt: skip
    assert "Right: 4 of 4 points" in captured.outputs[0].data["text/plain"]


def test_what_a_wrong_answer_prints_is_on_its_card(shell: InteractiveShell) -> None:
    printing = "def scaled_scores(query, key):\n    print('shape', tuple(query.shape))\n    return query @ key.mT"
    captured = run(shell, printing, 'check("scaled_scores")')
    text = captured.outputs[0].data["text/plain"]
    assert "Printed in the first case:\nshape (2, 5, 6)" in text and text.count("shape (2, 5, 6)") == 1
    assert "shape (2, 5, 6)" in captured.outputs[0].data["text/html"]
    assert captured.stdout.count("shape (") <= 1


def test_a_stub_left_at_the_end_is_said(shell: InteractiveShell) -> None:
    left = "def scaled_scores(query, key):\n    scores = query @ key.mT\n\n    raise NotImplementedError"
    text = run(shell, left, 'check("scaled_scores")').outputs[0].data["text/plain"]
    said = "The stub's `raise NotImplementedError` is still in your answer (line 4): delete it."
    assert text.startswith(said)
