"""What an answer keeps from one call to the next is named if it is right without, and nothing else is said then."""

from __future__ import annotations

import pytest

from anatomy.course import COURSE

pytestmark = pytest.mark.slow

HEAD = COURSE.exercise("AttentionHead").right
ATTENTION = """class MultiHeadAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        D, H = config.hidden_size, config.num_attention_heads
        self.heads = nn.ModuleList([AttentionHead(D, D // H) for _ in range(H)])
        self.output_linear = nn.Linear(D, D)
        self.found = []

    def forward(self, x):
        for head in self.heads:
            self.found.append(head(x))
        return self.output_linear(torch.cat(self.found, dim=-1)){more}
"""
KEPT = {
    "a name of the cell": (
        "scaled_scores",
        "root = None\n\ndef scaled_scores(query, key):\n    global root\n    if root is None:\n"
        "        root = query.size(-1) ** 0.5\n    return query @ key.mT / root\n",
        "`root` still holds",
    ),
    "a dict of the cell": (
        "scaled_scores",
        "roots = {}\n\ndef scaled_scores(query, key):\n"
        "    return query @ key.mT / roots.setdefault('D', query.size(-1) ** 0.5)\n",
        "`roots` still holds",
    ),
    "a default": (
        "scaled_scores",
        "def scaled_scores(query, key, roots={}):\n    if not roots:\n        roots['D'] = query.size(-1) ** 0.5\n"
        "    return query @ key.mT / roots['D']\n",
        "The default of `roots` is made once",
    ),
    "an attribute of a function": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    if not hasattr(scaled_scores, 'root'):\n"
        "        scaled_scores.root = query.size(-1) ** 0.5\n    return query @ key.mT / scaled_scores.root\n",
        "`scaled_scores.root` still holds",
    ),
    "an attribute of a function by another name": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    this = scaled_scores\n    if not hasattr(this, 'root'):\n"
        "        this.root = query.size(-1) ** 0.5\n    return query @ key.mT / this.root\n",
        "`this.root` still holds",
    ),
    "a module's list": ("MultiHeadAttention", ATTENTION.format(more=""), "`self.found` still holds"),
}


@pytest.mark.parametrize("exercise, source, said", KEPT.values(), ids=KEPT)
def test_what_is_kept_is_named_alone(exercise: str, source: str, said: str, notebook, reading) -> None:
    verdict = reading(exercise, notebook(source, AttentionHead=HEAD))
    (only,) = verdict.diagnoses
    assert only.headline.startswith(said) and verdict.example is None


def test_what_another_method_keeps_is_named(notebook, reading) -> None:
    source = (
        "class Transformer(Right):\n"
        "    def encode(self, source):\n"
        "        if source is not getattr(self, 'seen', None):\n"
        "            self.seen, self.memory = source, super().encode(source)\n"
        "        return self.memory\n"
    )
    verdict = reading("Transformer", notebook(source, Right=COURSE.exercise("Transformer").right))
    (only,) = verdict.diagnoses
    assert only.headline.startswith("`self.seen`, `self.memory` still hold what an earlier call put there")


def test_it_is_not_said_where_more_is_wrong(notebook, reading) -> None:
    verdict = reading("MultiHeadAttention", notebook(ATTENTION.format(more=" + 1"), AttentionHead=HEAD))
    assert not any("still holds" in one.headline for one in verdict.diagnoses)


def test_it_is_not_said_of_what_each_call_sets(notebook, reading) -> None:
    source = ATTENTION.replace("for head", "self.found = []\n        for head").format(more=" * 2")
    verdict = reading("MultiHeadAttention", notebook(source, AttentionHead=HEAD))
    assert verdict.diagnoses and not any("still hold" in one.headline for one in verdict.diagnoses)
