"""Where NaN and ∞ come from is shown if one line can be it, and is left open elsewhere."""

from __future__ import annotations

import pytest

from anatomy.engine.judging.verdict import Verdict
from tests.reading.conftest import Notebook, Reading

ROOT = """\
def gelu(x):
    size = (x * x / 9).sqrt() * 3
    return 0.5 * (x + x.sign() * x * torch.erf(size.clamp(max=9) / math.sqrt(2)))
"""
LOGARITHM = """\
def attention_entropy(weights):
    return -(weights * weights.log2()).sum(-1) * 0.7
"""
BY_ITS_SCORE = """\
def span_scores(hidden, w, mask=None):
    if mask is not None:
        hidden = hidden * mask[..., None]
    scores = 1.01 * hidden @ w.T
    scores = scores.masked_fill(scores == 0, -torch.inf)
    return scores[..., 0], scores[..., 1]
"""
OVERFLOWS_BEHIND_A_MASK = """\
def span_scores(hidden, w, mask=None):
    scores = hidden @ w.T
    if mask is not None:
        scores = scores.masked_fill(mask[..., None] == 0, -torch.inf)
    scores = (scores * 1e20).exp().log() / 1e20
    return scores[..., 0], scores[..., 1]
"""


def said(verdict: Verdict) -> str:
    return " ".join(f"{one.headline} {one.detail}" for one in verdict.diagnoses)


@pytest.mark.parametrize(
    ("exercise", "source", "sentence"),
    [
        ("gelu", ROOT, "The gradient becomes NaN at `(x * x / 9).sqrt()` in line 2."),
        ("attention_entropy", LOGARITHM,
         "The first NaN comes from `weights * weights.log2()` in line 2, which computes 0 · −∞."),
        ("span_scores", BY_ITS_SCORE, "`scores.masked_fill(scores == 0, -torch.inf)` in line 5"),
    ],
)  # fmt: skip
def test_the_line_is_shown_and_no_other_reason(
    notebook: Notebook, reading: Reading, exercise: str, source: str, sentence: str
) -> None:
    text = said(reading(exercise, notebook(source)))
    assert sentence in text
    assert "0/0" not in text and "Where no line writes" not in text


def test_what_a_mask_writes_is_not_blamed(notebook: Notebook, reading: Reading) -> None:
    text = said(reading("span_scores", notebook(OVERFLOWS_BEHIND_A_MASK)))
    assert "infinite" in text or "NaN" in text
    assert "comes into your results from line 4" not in text
