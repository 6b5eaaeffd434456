"""Two mistakes of which one is listed: with the other one's place mended, the listed one is left."""

from __future__ import annotations

import pytest

from anatomy.course import COURSE
from anatomy.engine.reading.resemblance import looks_like

pytestmark = pytest.mark.slow

OVER_QUERIES = (
    "import math\n"
    "def attention_weights(query, key):\n"
    "    scores = query @ key.mT / math.sqrt(query.size(-1))\n"
    "    scores = scores * 0.4 + scores.cos()\n"
    "    return torch.softmax(scores, dim=-2)\n"
)


def test_the_listed_mistake_is_named_and_the_other_one_s_place_is_shown(notebook, reading):
    named, place = reading("attention_weights", notebook(OVER_QUERIES)).diagnoses
    assert named.mistake == "attention_weights__over_queries"
    assert named.headline.startswith("Two mistakes at once. (1) Your softmax runs over the queries")
    assert place.headline.startswith("(2) The value of `scores * 0.4 + scores.cos()` in line 4 is not what is needed")
    assert place.headline.endswith("with the right value in its place, only the first is left.")


def test_a_number_that_is_always_needed_in_the_place_is_said(notebook, reading):
    source = (
        "def dot_product_scores(query, key):\n"
        "    scores = key @ query.transpose(-2, -1)\n"
        "    return scores / math.sqrt(query.size(-1))\n"
    )
    named, place = reading("dot_product_scores", notebook(f"import math\n{source}")).diagnoses
    assert named.mistake == "dot_product_scores__swapped"
    assert place.detail.endswith("There, 1 is needed.")


def test_a_second_mistake_that_is_listed_is_named_too(notebook, reading):
    source = (
        "def attention_entropy(weights):\n"
        "    surprise = -weights.clamp(min=1e-12).log()\n"
        "    return surprise.mean(dim=-1)\n"
    )
    first, second = reading("attention_entropy", notebook(source)).diagnoses
    assert first.mistake == "attention_entropy__mean_over_keys"
    assert second.mistake == "attention_entropy__unweighted_clamped_at_1e_12"


def test_what_is_lent_as_the_result_is_no_mistake_of_the_student_s(notebook, reading):
    source = (
        "def masked_mean(hidden, attention_mask):\n"
        "    weights = attention_mask.float().softmax(dim=1)\n"
        "    return torch.einsum('bt,btd->bd', weights, hidden)\n"  # a right answer's sum in its place is a sum
    )
    verdict = reading("masked_mean", notebook(source))
    assert not verdict.mistakes
    assert "`attention_mask.float().softmax(dim=1)` in line 2" in verdict.diagnoses[0].headline


def test_what_is_lent_from_before_a_step_leaves_no_mistake(notebook, reading):
    source = (
        "def span_scores(hidden, w, mask=None):\n"
        "    scores = hidden @ w.T\n"
        "    if mask is not None:\n"
        "        scores = scores.masked_fill((~mask).bool()[:, :, None], float('-inf'))\n"
        "    start, end = scores.unbind(dim=-1)\n"
        "    return start, end\n"
    )
    verdict = reading(
        "span_scores", notebook(source)
    )  # with the scores of line 2 in line 5, the mask would have no effect
    assert not verdict.mistakes
    assert verdict.diagnoses[0].headline.startswith("The value of `~mask` in line 4")


def test_a_mistake_that_the_text_does_not_look_like_is_not_named(notebook, reading):
    mistakes = COURSE.exercise("AttentionHead").mistakes
    by_sum = mistakes["AttentionHead__divided_by_sum_over_queries"]
    assert not looks_like(by_sum, OVER_QUERIES)
    assert looks_like(by_sum, by_sum.source)
    assert not looks_like(by_sum, by_sum.right_source)


def test_a_mistake_is_looked_for_in_the_rest_of_the_text_alone(notebook, reading):
    source = (
        "def cross_entropy(logits, labels):\n"
        "    rows = torch.arange(len(labels))\n"
        "    right = logits[rows, labels]\n"
        "    others = logits.clone()\n"
        "    others[rows, labels] = -torch.inf\n"
        "    rival = others.amax(dim=-1)\n"
        "    return F.softplus(rival - right).mean()\n"  # a right answer's value there would be another mistake
    )
    assert not reading("cross_entropy", notebook(source)).mistakes
