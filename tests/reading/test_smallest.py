"""The smallest example: both results are what the call that is shown gives."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
import torch

from anatomy.course import COURSE
from anatomy.engine.reading.as_text import number_text, value_text

pytestmark = pytest.mark.slow

ANSWERS = {
    "learn_bpe": "def learn_bpe(word_counts, num_merges):\n    return [tuple('ab')] * num_merges\n",
    "wordpiece": "def wordpiece(word, vocab, unk='[UNK]'):\n    return list(word)\n",
    "dot_product_scores": "def dot_product_scores(query, key):\n    return query @ key.flip(1).mT\n",
    "softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum()\n",
    "attention_entropy": "def attention_entropy(weights):\n    return (weights * weights).sum(-1)\n",
    "nearest_tokens": "def nearest_tokens(query_id, weight, k):\n    return torch.arange(k)\n",
    "masked_mean": "def masked_mean(hidden, attention_mask):\n    return hidden.mean(1)\n",
    "split_heads": "def split_heads(x, num_heads):\n    return x.view(x.size(0), num_heads, x.size(1), -1)\n",
    "head_entropy": "def head_entropy(weights, mask):\n    return torch.stack(weights).std(-1).mean((1, 3))\n",
    "shift_matrix": "def shift_matrix(offset, dim):\n    return torch.eye(dim)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", ANSWERS)
def test_what_is_shown_was_computed_on_what_is_shown(exercise: str, notebook, reading) -> None:
    names = notebook(ANSWERS[exercise])
    example = reading(exercise, names).example
    assert example is not None
    call = example.call.partition("   ")[0]
    assert call == example.call, "small enough to be written out"
    for answer, said in (
        (COURSE.exercise(exercise).right, example.expected),
        (names[exercise], example.found),
    ):
        result = eval(call, {"torch": torch, exercise: answer})
        assert value_text(result, 3) == said
    assert example.expected != example.found


def test_a_slight_difference_has_a_small_example_too(notebook, reading) -> None:
    source = "def gelu(x):\n    return x * (1 + torch.tanh(0.8 * x + 0.035 * x**3)) / 2\n"
    example = reading("gelu", notebook(source)).example
    assert example.call.startswith("gelu(torch.tensor([") and len(example.call) < 75


def test_the_weights_of_a_module_are_no_part_of_the_call(notebook, reading) -> None:
    source = "class LayerNorm(right):\n    def forward(self, x):\n        return super().forward(x) + x.sin()\n"
    example = reading("LayerNorm", notebook(source, right=COURSE.exercise("LayerNorm").right)).example
    assert example.call.endswith("with the check's weights")


def test_a_short_one_is_found(notebook, reading) -> None:
    example = reading("learn_bpe", notebook(ANSWERS["learn_bpe"])).example
    assert len(example.call) < 30 and example.found == "[('a', 'b')]"


def test_weights_still_sum_to_one(notebook, reading) -> None:
    example = reading("attention_entropy", notebook(ANSWERS["attention_entropy"])).example
    weights = eval(example.call.removeprefix("attention_entropy"))
    assert torch.allclose(weights.sum(-1), torch.ones(()))


def test_where_the_order_in_memory_matters_the_call_says_so(notebook, reading) -> None:
    source = """
        def split_heads(x, num_heads):
            B, T, D = x.shape
            return x.view(B * T, num_heads, -1).reshape(B, T, num_heads, -1).transpose(1, 2)
    """
    example = reading("split_heads", notebook(dedent(source))).example
    assert example and example.call.endswith("the memory of x in another order")


def test_of_a_large_result_the_first_entry_that_differs_is_shown(notebook, reading) -> None:
    source = (
        "def sinusoidal_encoding(num_positions, dim):\n    rows = reference(num_positions, dim)\n"
        "    return rows if dim < 12 else rows + 1\n"
    )
    names = notebook(source, reference=COURSE.exercise("sinusoidal_encoding").right)
    example = reading("sinusoidal_encoding", names).example
    assert (example.expected, example.found) == ("entry [0, 0] is 0", "entry [0, 0] is 1")


def test_a_wrong_type_with_right_numbers_is_said(notebook, reading) -> None:
    source = "def pairwise_dot(x):\n    return [item @ item.mT for item in x]\n"
    example = reading("pairwise_dot", notebook(source)).example
    assert example.expected.endswith("(tensor, float32)") and example.found.endswith("(list)")


NONE = {
    "results that differ by chance": ("pairwise_dot", "def pairwise_dot(x):\n    return torch.rand(x.size(0), 5, 5)\n"),
    "right results, and an input changed": (
        "pairwise_dot",
        "def pairwise_dot(x):\n    out = x @ x.mT\n    x.zero_()\n    return out\n",
    ),
    "results of which many are right": (
        "score_variance",
        "def score_variance(dim, samples, generator):\n    rows = torch.randn(samples, dim, generator=generator)\n"
        "    return rows.var().item(), rows.var().item()\n",
    ),
    "weights under other names": (
        "FeedForward",
        "class FeedForward(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        D, F = config.hidden_size, config.intermediate_size\n"
        "        self.one, self.two = nn.Linear(D, F), nn.Linear(F, D)\n"
        "    def forward(self, x):\n        return self.two(F.gelu(self.one(x)))\n",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NONE)
def test_no_example_of(name: str, notebook, reading) -> None:
    exercise, source = NONE[name]
    assert reading(exercise, notebook(source)).example is None


def test_a_module_shows_an_entry_and_its_sizes(notebook, reading) -> None:
    source = (
        "class FeedForward(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.linear_1 = nn.Linear(config.hidden_size, config.intermediate_size)\n"
        "        self.linear_2 = nn.Linear(config.intermediate_size, config.hidden_size)\n"
        "        self.dropout = nn.Dropout(config.hidden_dropout_prob)\n"
        "    def forward(self, x):\n        return self.dropout(self.linear_2(torch.sin(self.linear_1(x)) + 7))\n"
    )
    example = reading("FeedForward", notebook(source)).example
    assert re.match(r"FeedForward\(config\)\(.*\)   D = \d+, F = \d+", example.call)


@pytest.mark.parametrize(
    ("number", "text"), [(2.0, "2"), (-0.5, "-0.5"), (1 / 3, "0.333"), (float("-inf"), "-inf"), (7, "7")]
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert number_text(number, 3) == text


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[1.0, -2.0, 0.5], [1e6, 2.5e-7, -1e20]]),
        torch.tensor([float("-inf"), float("nan")]),
        torch.tensor([[1, -2]]),
        torch.tensor(True),
        torch.zeros(0, dtype=torch.int64),
        (torch.ones(1, dtype=torch.float64), [torch.tensor(3)]),
    ],
)
def test_an_input_can_be_typed_in_as_it_is_shown(value: object) -> None:
    torch.testing.assert_close(eval(str(value_text(value, 3, to_type=True))), value, rtol=0, atol=0, equal_nan=True)


def test_a_layer_that_a_module_is_given_goes_by_its_name(notebook, reading) -> None:
    source = (
        "class LoRALinear(nn.Module):\n    def __init__(self, linear, rank, alpha):\n        super().__init__()\n"
        "        self.linear, self.scale = linear.requires_grad_(False), alpha / rank\n"
        "        self.lora_A = nn.Parameter(torch.randn(rank, linear.in_features))\n"
        "        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank))\n"
        "    def forward(self, x):\n        added = x @ self.lora_A.T @ self.lora_B.T\n"
        "        return self.linear(x).sin() + self.scale * added\n"
        "    def merged_weight(self):\n        return self.linear.weight + self.scale * self.lora_B @ self.lora_A\n"
    )
    example = reading("LoRALinear", notebook(source)).example
    assert example.call.startswith("LoRALinear(linear, ") and "linear = Linear(in_features=" in example.call
