"""Sentences read off a program: said when they are true of it, and not of one that only looks like it."""

from __future__ import annotations

import pytest
import torch

from anatomy.engine.judging.sentences import of_what_is_called
from anatomy.engine.judging.verdict import Diagnosis
from anatomy.engine.reading.source import program_of

pytestmark = pytest.mark.slow

SAID = {
    "computed without gradients": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    with torch.no_grad():\n        return query @ key.mT\n",
        "What stands in the `with` of line 2 is computed without gradients: take it out.",
    ),
    "a function that computes without gradients": (
        "dot_product_scores",
        "@torch.inference_mode()\ndef dot_product_scores(query, key):\n    return query @ key.mT\n",
        "Line 1 lets `dot_product_scores` compute without gradients: leave it out.",
    ),
    "a key that gets no gradient": (
        "project",
        "def project(x, w_q, w_k):\n    return x @ w_q, x @ w_k.data\n",
        "`w_k.data` in line 2 lets no gradient through.",
    ),
    "return inside the loop": (
        "merge_heads",
        "def merge_heads(x):\n    out = []\n    for item in x:\n        out.append(item.transpose(0, 1).flatten(1))\n"
        "        return torch.stack(out)\n",
        "The `return` in line 5 is inside the loop",
    ),
    "return inside the loop, and more is wrong": (
        "merge_heads",
        "def merge_heads(x):\n    for item in x:\n        return item.flatten(1) + 1\n",
        "The `return` in line 3 is inside the loop",
    ),
    "the power is taken first": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    return query @ key.mT / (query.size(-1) ** 1 / 2)\n",
        "`query.size(-1) ** 1 / 2` means `(query.size(-1) ** 1) / 2`: the power is taken first.",
    ),
    "the power is taken first in a row of divisions": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    return query @ key.mT / query.size(-1) ** 1 / 2\n",
        "`query @ key.mT / query.size(-1) ** 1 / 2` means `query @ key.mT / (query.size(-1) ** 1) / 2`: the power",
    ),
    "a result that is not kept": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = query @ key.mT\n    scores.div(query.size(-1) ** 0.5)\n"
        "    return scores\n",
        "Line 3 keeps nothing: `div` returns a new value and leaves `scores` as it was.",
    ),
    "a statement too much": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    if len(query) > 1:\n        query = query.clamp(-1, 1)\n"
        "    return query @ key.mT\n",
        "Lines 2 to 3 are too much: without them, all results are right.",
    ),
    "a limit that inputs go beyond": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    some = min(key.size(-2), 3)\n"
        "    return query @ key[..., :some, :].mT\n",
        "The 3 in line 2 is a limit that some inputs go beyond",
    ),
    "a default that is filled": (
        "learn_bpe",
        "def learn_bpe(word_counts, num_merges, found=[]):\n"
        "    for word in word_counts:\n        found.extend(zip(word, word[1:]))\n    return list(found)\n",
        "The default of `found` is made once, with the function: what one call puts into it is there in the next.",
    ),
    "a name bound anew": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = query @ key.mT\n    for item in scores:\n"
        "        item = item / query.size(-1) ** 0.5\n    return scores\n",
        "Line 4 gives the name `item` to something new, and leaves `scores` as it is.",
    ),
    "never set back": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    out, total = [], 0\n    total = 0\n    for s in range(key.size(1)):\n"
        "        for d in range(key.size(2)):\n            total = total + query[:, :, d] * key[:, None, s, d]\n"
        "        out.append(total)\n    return torch.stack(out, -1)\n",
        "`total` is set once, before the loop in line 4",
    ),
    "a name that an earlier loop left": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    sides = []\n    for item in key:\n        side = item.mT\n"
        "        sides.append(side)\n    out = []\n    for one, other in zip(query, sides):\n"
        "        out.append(one @ side)\n    return torch.stack(out)\n",
        "`side` in line 8 is what the loop in line 3 left last, the same in each turn: with `other` in its place",
    ),
    "done in each turn in place of once": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = 0\n    for d in range(key.size(-1)):\n"
        "        scores = scores + query[..., d, None] * key[:, None, :, d]\n"
        "        scores = scores / key.size(-1) ** 0.5\n    return scores\n",
        "Line 5 is in the loop, which does it in each turn: it belongs after the loop.",
    ),
    "done once in place of in each turn": (
        "dot_product_scores",
        "def dot_product_scores(query, key):\n    out = []\n    for one, other in zip(query, key):\n"
        "        scores = one @ other.mT\n    out.append(scores)\n    return torch.stack(out)\n",
        "Line 5 is after the loop in line 3: it belongs in each of its turns.",
    ),
    "numbers of another type": (
        "gelu",
        "def gelu(x):\n    out = torch.ones(x.shape)\n    out *= x * (0.5 + 0.5 * torch.erf(x * math.sqrt(0.5)))\n"
        "    return out\n",
        "`torch.ones(x.shape)` in line 2 has another number type than `x`",
    ),
    "a statement that is no call": (
        "merge_heads",
        "def merge_heads(x):\n    out = []\n    for item in x:\n        out\n    return out\n",
        "Line 4 does nothing",
    ),
    "a name of the notebook": (
        "pairwise_dot",
        "def pairwise_dot(x):\n    return x @ rows.mT\n",
        "`rows` in line 2 is no argument, but a name of your notebook",
    ),
    "a size of the example": (
        "split_heads",
        "def split_heads(x, num_heads):\n    B, T, D = x.shape\n    return x.reshape(B, T, 3, -1).transpose(1, 2)\n",
        "The 3 in line 3 is fixed",
    ),
    "a size of the example in a shape": (
        "padding_mask",
        "def padding_mask(attention_mask):\n    return attention_mask.bool().reshape(2, 1, 1, -1)\n",
        "The 2 in line 2 is fixed",
    ),
    "a size of the example where a width belongs": (
        "split_heads",
        "def split_heads(x, num_heads):\n    B, T, D = x.shape\n"
        "    return x.reshape(B, T, num_heads, 3).transpose(1, 2)\n",
        "The 3 in line 3 is fixed",
    ),
    "an error before an argument that is never used": (
        "masked_mean",
        "def masked_mean(hidden, attention_mask):\n    return hidden.mean(dim=3)\n",
        "It stops with `IndexError` in your line 2",
    ),
    "nothing returned before the line": (
        "FeedForward",
        "def gelu(x):\n    return torch.nn.functional.gelu(x)\n\n\n"
        "class FeedForward(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)\n"
        "        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)\n"
        "        self.dropout = nn.Dropout(config.hidden_dropout_prob)\n\n"
        "    def forward(self, x):\n        x = self.dropout(self.linear_2(gelu(self.linear_1(x))))\n",
        "Your `forward` returns nothing (None).",
    ),
    "a size of BERT base": (
        "count_layer_parameters",
        "def count_layer_parameters(config):\n    D, F = 768, config.intermediate_size\n"
        "    return 4 * (D * D + D) + D * F + F + F * D + D + 4 * D\n",
        "The 768 in line 2 is fixed",
    ),
    "a line that stands there twice": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = query @ key.mT\n    scores = scores / query.size(-1) ** 0.5\n"
        "    scores = scores / query.size(-1) ** 0.5\n    return scores\n",
        "Line 4 repeats line 3, and once is enough.",
    ),
    "the return of something of a wrong kind": (
        "nearest_tokens",
        "def nearest_tokens(query_id, weight, k):\n    cosine = weight @ weight[query_id]\n    return cosine.topk(k)\n",
        "What you return is `cosine.topk(k)`, in line 3.",
    ),
    "an argument never used": (
        "softmax",
        "def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return e / e.sum(-1, keepdim=True) + 1\n",
        "`dim` is never used: whatever it says, your `softmax` does the same.",
    ),
    "a line without effect": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = query @ key.mT + 3\n    scores.div(query.size(-1) ** 0.5)\n"
        "    return scores * 2\n",
        "Line 3 has no effect: without it your results are the same.",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_said_first(name: str, notebook, reading) -> None:
    exercise, source, said = SAID[name]
    rows = torch.arange(12.0).view(1, 3, 4)
    assert reading(exercise, notebook(source, rows=rows)).diagnoses[0].headline.startswith(said)


BEHIND_AN_ERROR = {
    "an attribute that nothing sets": (
        "AttentionHead",
        "class AttentionHead(nn.Module):\n    def __init__(self, dim, head_dim):\n        super().__init__()\n"
        "        self.q, self.k = nn.Linear(dim, head_dim), nn.Linear(dim, head_dim)\n\n    def forward(self, x):\n"
        "        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))\n",
        "`self.v` is read in line 7, and no line of your class sets it.",
    ),
    "one of two attributes is no layer": (
        "FeedForward",
        "class FeedForward(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.linear_1 = config.intermediate_size\n"
        "        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)\n\n"
        "    def forward(self, x):\n        return self.linear_2(F.gelu(self.linear_1(x)))\n",
        "`self.linear_1` is called in line 8, and line 4 makes it something else.",
    ),
    "an attribute that is no layer": (
        "AttentionHead",
        "class AttentionHead(nn.Module):\n    def __init__(self, dim, head_dim):\n        super().__init__()\n"
        "        self.q, self.k = nn.Linear(dim, head_dim), nn.Linear(dim, head_dim)\n        self.v = head_dim\n\n"
        "    def forward(self, x):\n"
        "        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))\n",
        "`self.v` is called in line 8, and line 5 makes it something else.",
    ),
}


@pytest.mark.parametrize("exercise, source, said", BEHIND_AN_ERROR.values(), ids=BEHIND_AN_ERROR)
def test_said_after_the_error(exercise: str, source: str, said: str, notebook, reading) -> None:
    first, second = reading(exercise, notebook(source)).diagnoses
    assert first.headline.startswith("It stops with") and second.headline == said


TEMPTING = {
    "a gradient that is rightly left out": (
        "softmax",
        "def softmax(x, dim):\n    e = (x - x.amax(dim, keepdim=True).detach()).exp()\n"
        "    return e / e.sum(dim, keepdim=True) + 1\n",
        "gradient",
    ),
    "a loop that goes on": (
        "merge_heads",
        "def merge_heads(x):\n    for item in x:\n        if item.sum() > 1e9:\n            continue\n"
        "        return x.flatten(2)\n",
        "inside the loop",
    ),
    "a power that is meant so": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    return query @ key.mT / (query.size(-1) ** 2 / 3)\n",
        "the power is taken first",
    ),
    "a call that changes what it is called on": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = query @ key.mT + 3\n    scores.div_(query.size(-1))\n"
        "    return scores * 2\n",
        "Line 3",
    ),
    "a constant of the notebook": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    return query @ key.mT / TWO\n",
        "a name of your notebook",
    ),
    "a number that is no size": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    return query @ key.mT / 8 + 6\n",
        "is fixed",
    ),
    "an argument reached by another way": (
        "softmax",
        "def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return e / e.sum(locals()['dim'], keepdim=True) + 1\n",
        "never used",
    ),
    "a line that an error cuts off": (
        "scaled_scores",
        "def scaled_scores(query, key):\n    scores = query @ key.mT\n    scores.tanh()\n    return 1 / 0\n",
        "no effect",
    ),
    "a line without effect on the words for what is drawn": (
        "sentence_order_pairs",
        "def sentence_order_pairs(docs, generator):\n    pairs = []\n    for doc in docs:\n"
        "        for one, two in zip(doc, doc[1:]):\n            if torch.rand((), generator=generator) < 0.5:\n"
        "                pairs.append((one, two, 1, 'in order'))\n            else:\n"
        "                pairs.append((two, one, 0, 'swapped'))\n    return pairs\n",
        "no effect",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEMPTING)
def test_not_said(name: str, notebook, reading) -> None:
    exercise, source, tempting = TEMPTING[name]
    assert not any(tempting in one.headline for one in reading(exercise, notebook(source, TWO=2.0)).diagnoses)


@pytest.mark.parametrize("cut, is_listed", [("", False), ("        x = x.detach()\n", True)])
def test_what_cuts_gradients_is_listed_where_the_program_may_do_so(cut, is_listed, notebook, reading) -> None:
    source = (
        "class LayerNorm(nn.Module):\n    def __init__(self, dim, eps):\n        super().__init__()\n"
        "        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))\n"
        "        self.bias = nn.Parameter(torch.zeros(dim))\n    def forward(self, x):\n"
        f"        away = x - x.mean(-1, keepdim=True)\n{cut}"
        "        var = away.square().mean(-1, keepdim=True)\n        if (var == 0).any():\n"
        "            return self.bias.expand_as(x)\n"
        "        return away / torch.sqrt(var + self.eps) * self.weight + self.bias\n"
    )
    details = [one.detail for one in reading("LayerNorm", notebook(source)).diagnoses if "No gradient" in one.headline]
    assert details and all(("`.tolist`" in detail) is is_listed for detail in details)


def test_a_named_mistake_is_left_as_it_is(notebook) -> None:
    from anatomy.course import COURSE
    from anatomy.engine.exercise import SEEDS
    from anatomy.engine.judging.expectations import Expectations
    from anatomy.engine.judging.judge import judge
    from anatomy.engine.observing.observe import observe
    from anatomy.engine.reading import read

    asked = COURSE.exercise("scaled_scores")
    names = notebook("def scaled_scores(query, key):\n    return query @ key.mT / query.size(-1)\n")
    expectations, seen = Expectations(asked, SEEDS), observe(asked, names["scaled_scores"])
    verdict = judge(asked, seen, SEEDS, lambda *_: expectations)
    assert verdict.mistakes
    assert read(names, expectations, seen, verdict) == verdict


def test_of_a_part_that_is_not_called_nothing_is_said() -> None:
    said = [Diagnosis("Your weights are twice too large. A wrong `softmax` gives the same.", mistake="any")]
    assert of_what_is_called(said, {"softmax", "scores"}) == tuple(said)
    assert of_what_is_called(said, {"e"})[0].headline == "Your weights are twice too large."


def test_a_function_that_wraps_itself_is_read(notebook):
    names = notebook("def softmax(x, dim):\n    return x\nsoftmax.__wrapped__ = softmax\n")
    assert program_of(names["softmax"], "softmax") is not None
