"""What is read shows on the card of a student's own notebook, and nowhere where marks are given."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from anatomy.engine.observing import GRADING_SEED
from tests.shells import fresh_shell

ANSWER = (
    "import torch\n\ndef dot_product_scores(query, key):\n    print('shapes', query.shape)\n"
    "    scores = torch.zeros(len(query), query.size(1), key.size(1))\n    for d in range(1, query.size(-1)):\n"
    "        scores = scores + query[:, :, d, None] * key[:, None, :, d]\n    return scores\n"
)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("ANATOMY_HOME", str(tmp_path))
    monkeypatch.delenv(GRADING_SEED, raising=False)
    monkeypatch.setattr("anatomy.engine.checking.judging_here.LEAST", 60.0)  # on any machine
    monkeypatch.setattr("anatomy.engine.checking.judging_here.MOST", 60.0)
    with fresh_shell() as shell:
        shell.run_cell("from anatomy import check")
        yield shell


def card(shell: InteractiveShell, *cells: str) -> str:
    with capture_output() as captured:
        for cell in cells:
            shell.run_cell(cell)
    return captured.outputs[0].data.get("text/plain", "")


def test_the_card_points_at_the_line_of_the_cell_and_shows_an_example(shell: InteractiveShell) -> None:
    text = card(shell, ANSWER, 'check("dot_product_scores")')
    assert "`1` in line 6 is not what is needed there" in text
    assert "Line 6: `for d in range(1, query.size(-1)):`" in text
    assert "A small example where yours differs:\n  for      dot_product_scores(torch.tensor([[[" in text


HEAD = """\
import torch
from torch import nn

class AttentionHead(nn.Module):
    def __init__(self, dim, head_dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, head_dim) for _ in range(3))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.mT / q.size(-1) ** 0.5 + 4 * torch.arange(x.size(1))
        return scores.softmax(-1) @ v
"""


def test_a_class_is_read_in_its_cell(shell: InteractiveShell) -> None:
    said = card(shell, HEAD, 'check("AttentionHead")')
    assert "in line 11 is not what is needed there" in said


def test_where_marks_are_given_nothing_is_read(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("anatomy.engine.reading")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setenv(GRADING_SEED, "3,4")
    card(shell, ANSWER, 'check("dot_product_scores")')
    assert not [name for name in sys.modules if name.startswith("anatomy.engine.reading")]
