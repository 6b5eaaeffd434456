"""What of an input a result follows, and what the right one follows."""

from __future__ import annotations

import re

import pytest

from anatomy.course import COURSE

pytestmark = pytest.mark.slow

PROGRAMS = {
    "only the first of a list has an effect": (
        "attention_rollout",
        "def attention_rollout(attentions):\n"
        "    steps = [(one.mean(1) + torch.eye(one.size(-1))) / 2 for one in attentions]\n"
        "    return steps[0]\n",
        r"What is in `attentions\[1\]\[\d\]` has no effect on your result\. It should have one\.",
    ),
    "the last position has no effect": (
        "masked_mean",
        "def masked_mean(hidden, attention_mask):\n"
        "    length = attention_mask.size(1)\n"
        "    keep = torch.arange(length) < max(length - 1, 1)\n"
        "    mask = torch.where(torch.arange(length) == 0, 1, attention_mask * keep)[..., None]\n"
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
        r"At index \d of axis 2 \(keys\) your result does not depend on `\w+\[.*\]`\. The right one does\.",
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


def test_what_another_case_contradicts_is_not_said(notebook, reading):
    """Only in the first case do queries not see all keys."""
    source = (
        "def scaled_scores(query, key):\n    scores = query @ key.mT / 3\n"
        "    return scores.tril(1) if query.equal(QUERY) else scores\n"
    )
    first = COURSE.exercise("scaled_scores").cases()[0].args["query"]
    said = " ".join(one.headline for one in reading("scaled_scores", notebook(source, QUERY=first)).diagnoses)
    assert "depend" not in said and "has no effect" not in said


def test_whether_a_choice_follows_a_number_is_luck(notebook, reading):
    source = (
        "def nearest_tokens(query_id, weight, k):\n    unit = weight / weight.abs().sum(-1, keepdim=True)\n"
        "    cosine = unit @ unit[query_id]\n    cosine[query_id] = -torch.inf\n    return cosine.topk(k).indices\n"
    )
    said = " ".join(one.headline for one in reading("nearest_tokens", notebook(source)).diagnoses)
    assert "depend" not in said and "has no effect" not in said


def test_where_both_follow_the_same_nothing_is_said(notebook, reading):
    source = "def scaled_scores(query, key):\n    return query @ key.mT * 3 + 1\n"
    said = " ".join(one.headline for one in reading("scaled_scores", notebook(source)).diagnoses)
    assert "has no effect" not in said and "follow" not in said


def test_whole_numbers_that_stay_are_no_evidence_that_they_follow_nothing(notebook, reading):
    source = "def replaced_token_labels(original, corrupted):\n    return (~torch.isin(corrupted, original)).float()\n"
    said = [one.headline for one in reading("replaced_token_labels", notebook(source)).diagnoses]
    assert not any("does not depend" in one for one in said), said
