"""What of an input a result follows, and what the right one follows."""

from __future__ import annotations

import re

import pytest

PROGRAMS = {
    "the last position has no effect": (
        "masked_mean",
        "def masked_mean(hidden, attention_mask):\n"
        "    mask = attention_mask.clone()\n"
        "    if mask.size(1) > 1:\n"
        "        mask[:, -1] = 0\n"
        "        mask[:, 0] = 1\n"
        "    mask = mask[..., None]\n"
        "    return (hidden * mask).sum(1) / mask.sum(1)\n",
        r"What is in `\w+\[:, \d\]` has no effect on your result\. It should have one\.",
    ),
    "a query sees other queries": (
        "scaled_scores",
        "def scaled_scores(query, key):\n"
        "    scores = query @ key.mT / query.size(-1) ** 0.5\n"
        "    return scores + scores.mean(1, keepdim=True)\n",
        r"At index \d of axis 1 \(\w+\) your result depends on `query\[:, \d\]`\. The right one does not\.",
    ),
    "a key has an effect where it should have another": (
        "scaled_scores",
        "def scaled_scores(query, key):\n"
        "    scores = query @ key.mT / query.size(-1) ** 0.5\n"
        "    return scores.tril(1) if scores.size(-1) > 2 else scores\n",
        r"What is in `key\[:, \d\]` has no effect|your result does not depend on `key\[:, \d\]`",
    ),
}


@pytest.fixture(autouse=True)
def the_program_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program itself shows comes first."""
    for look in ("mended", "the_value", "the_line", "noticed"):
        monkeypatch.setattr(f"anatomy.engine.reading.{look}", lambda *_: None)


@pytest.mark.parametrize("exercise, source, expected", PROGRAMS.values(), ids=PROGRAMS)
def test_a_result_that_follows_too_much_or_too_little_is_said(exercise, source, expected, notebook, reading):
    said = [one.headline for one in reading(exercise, notebook(source)).diagnoses]
    assert any(re.search(expected, sentence) for sentence in said), said


def test_where_both_follow_the_same_nothing_is_said(notebook, reading):
    source = "def scaled_scores(query, key):\n    return query @ key.mT * 3 + 1\n"
    said = " ".join(one.headline for one in reading("scaled_scores", notebook(source)).diagnoses)
    assert "has no effect" not in said and "follow" not in said
