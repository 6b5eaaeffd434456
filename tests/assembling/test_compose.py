"""One namespace from many: whose names mean what, what clashes, what is missing, and in which order."""

from __future__ import annotations

import re

import pytest

from anatomy.course.assembling.compose import AllAnswers, Program
from anatomy.course.assembling.gather import gather
from anatomy.course.assembling.layout import formatted, lay_out, listed
from tests.assembling.course import answer, put


def program(folder, **options) -> Program:
    return AllAnswers(gather(folder), **options).program()


def written(made: Program) -> str:
    """The file's code: no title, no rules."""
    text = formatted(lay_out(made, {}, {}))[0].partition("from __future__ import annotations")[2]
    return re.sub(r"\n{2,}", "\n", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).strip()


def test_a_later_notebook_gets_the_student_s_own_answer(tmp_path):
    put(
        tmp_path,
        "attention_scores",
        ["import math", answer("scaled_scores", "def scaled_scores(q, k): return q @ k / math.pi")],
    )
    put(tmp_path, "softmax", [
        "from anatomy.course.nb02_attention_scores.right import scaled_scores as scores",
        answer("attention_weights", "def attention_weights(q, k): return scores(q, k).softmax(-1)"),
    ])  # fmt: skip
    made = program(tmp_path)
    assert written(made) == """\
import math
def scaled_scores(q, k):
    return q @ k / math.pi
def attention_weights(q, k):
    return scaled_scores(q, k).softmax(-1)"""  # fmt: skip


def test_helpers_come_along_and_nothing_else_does(tmp_path):
    put(tmp_path, "softmax", [
        "import torch\nimport random\nfrom anatomy.course.views import heat_map",
        "DIM = -1\nEPS = 1e-9  # mine",
        "def biggest(x): return x.amax(DIM, True)",
        "print('drawing'); heat_map(torch.ones(2, 2)); unused = random.random()",
        answer("softmax", "def softmax(x, dim): return (x - biggest(x)).exp() + EPS"),
        "def demo(): return softmax(torch.ones(2), 0)\ndemo()",
    ])  # fmt: skip
    assert written(program(tmp_path)) == """\
DIM = -1
EPS = 1e-9  # mine
def biggest(x):
    return x.amax(DIM, True)
def softmax(x, dim):
    return (x - biggest(x)).exp() + EPS"""  # fmt: skip


def test_the_same_name_for_different_things_keeps_both_and_for_the_same_thing_one(tmp_path):
    scale = "def scale(x): return x * 2"
    put(tmp_path, "attention_scores", [scale, answer("scaled_scores", "def scaled_scores(q, k): return scale(q @ k)")])
    put(tmp_path, "softmax", [scale, answer("softmax", "def softmax(x, dim): return scale(x)")])
    put(tmp_path, "heads", ["def scale(x): return x * 3", answer("merge_heads", "def merge_heads(x): return scale(x)")])
    made = program(tmp_path)
    assert written(made) == """\
def scale(x):
    return x * 2
def scaled_scores(q, k):
    return scale(q @ k)
def softmax(x, dim):
    return scale(x)
def scale_04(x):
    return x * 3
def merge_heads(x):
    return scale_04(x)"""  # fmt: skip
    assert [(piece.book.number, old, new) for piece, old, new in made.renames] == [(4, "scale", "scale_04")]


def test_the_name_of_an_exercise_is_its_answer_s_even_where_that_is_missing(tmp_path):
    put(tmp_path, "causal_mask", [
        "from torch import nn\nclass FeedForward(nn.Module): pass",
        answer("DecoderBlock", "class DecoderBlock(nn.Module):\n    def __init__(self): self.f = FeedForward()"),
    ])  # fmt: skip
    assert "class FeedForward09(nn.Module)" in written(program(tmp_path))
    assert "self.f = FeedForward09()" in written(program(tmp_path))


def test_one_notebook_s_helper_does_not_hide_a_builtin_of_another(tmp_path):
    put(
        tmp_path,
        "softmax",
        ["def max(x): return x.amax()", answer("softmax", "def softmax(x, dim): return x - max(x)")],
    )
    put(tmp_path, "heads", [answer("merge_heads", "def merge_heads(x): return max(x.shape)")])
    assert written(program(tmp_path)) == """\
def max_03(x):
    return x.amax()
def softmax(x, dim):
    return x - max_03(x)
def merge_heads(x):
    return max(x.shape)"""  # fmt: skip


def test_an_answer_keeps_its_place_though_an_earlier_helper_says_the_same(tmp_path):
    mask = "def padding_mask(mask): return mask.bool()"
    put(tmp_path, "heads", [mask, answer("merge_heads", "def merge_heads(x): return padding_mask(x)")])
    put(tmp_path, "encoder", [answer("padding_mask", mask)])
    made = written(program(tmp_path))
    assert "return padding_mask_04(x)" in made and made.endswith("def padding_mask(mask):\n    return mask.bool()")


def test_imports_come_once_and_a_clash_of_imports_is_solved(tmp_path):
    put(
        tmp_path,
        "attention_scores",
        [
            "import torch, math\nfrom math import sqrt",
            answer("scaled_scores", "def scaled_scores(q, k): return torch.ones(1) / sqrt(2) / math.pi"),
        ],
    )
    put(tmp_path, "softmax", [
        "import torch.nn.functional as F\nfrom torch import sqrt, Tensor, nn",
        answer("softmax", "def softmax(x: Tensor, dim): return F.softmax(sqrt(x), dim)"),
    ])  # fmt: skip
    put(tmp_path, "heads", [
        "from torch.nn import functional as F\nimport torch",
        answer("merge_heads", "def merge_heads(x): return F.relu(torch.ones(1))"),
    ])  # fmt: skip
    assert written(program(tmp_path)) == """\
import math
from math import sqrt
import torch
from torch import Tensor, sqrt as sqrt_2
from torch.nn import functional as F
def scaled_scores(q, k):
    return torch.ones(1) / sqrt(2) / math.pi
def softmax(x: Tensor, dim):
    return F.softmax(sqrt_2(x), dim)
def merge_heads(x):
    return F.relu(torch.ones(1))"""  # fmt: skip


def test_a_class_written_over_several_cells_stays_one(tmp_path):
    put(tmp_path, "heads", [
        "from torch import nn",
        "class AttentionHead(nn.Module):\n    def __init__(self):\n        super().__init__()",
        answer("AttentionHead", "class AttentionHead(AttentionHead):\n    def forward(self, x):\n        return x"),
        "class FusedMultiHeadAttention(nn.Module):\n    pass",
        answer("FusedMultiHeadAttention", "def run(self, x):\n    return x\nFusedMultiHeadAttention.forward = run"),
        "FusedMultiHeadAttention.other = 1",
    ])  # fmt: skip
    made = written(program(tmp_path))
    assert made.count("class AttentionHead(") == 2 and "class AttentionHead(AttentionHead)" in made
    assert made.index("class FusedMultiHeadAttention") < made.index("def run(self, x):\n    return x\nFused")
    names: dict = {}
    exec(made, names)
    assert names["AttentionHead"]().forward(3) == names["FusedMultiHeadAttention"]().forward(3) == 3


def test_what_is_needed_at_once_is_defined_first(tmp_path):
    """The answer is below its check, and what inherits from it above."""
    put(tmp_path, "encoder_layer", [
        answer("LayerNorm", "class LayerNorm:\n    def forward(self): raise NotImplementedError"),
        answer("PostNormEncoderLayer", "class PostNormEncoderLayer(LayerNorm):\n    pass"),
        "def helper(): return 1",
        "class LayerNorm:\n    n = helper()",
    ])  # fmt: skip
    names: dict = {}
    exec(written(program(tmp_path)), names)
    assert names["PostNormEncoderLayer"].n == 1


def test_what_is_missing_is_left_out_with_what_can_not_be_defined_without_it(tmp_path):
    put(tmp_path, "heads", [answer("merge_heads", "def merge_heads(x): return x")])
    put(tmp_path, "encoder_layer", [
        "from anatomy.course.nb04_heads.right import FusedMultiHeadAttention, split_heads",
        "class SelfAttention(FusedMultiHeadAttention): pass",
        answer("LayerNorm", "class LayerNorm(SelfAttention): pass"),
        answer("gelu", "def gelu(x): return split_heads(x)"),
    ])  # fmt: skip
    made = program(tmp_path)
    assert written(made) == "def merge_heads(x):\n    return x\ndef gelu(x):\n    return split_heads(x)"
    assert {name for piece in made.left_out for name in piece.binds} == {"SelfAttention", "LayerNorm"}
    assert {lacking.name: users for lacking, users in made.lacking.items()} == {"split_heads": ["gelu"]}
    assert [one.name for one in made.lacking_for(["gelu"])] == ["split_heads"]


def test_filled_up_the_course_s_own_are_imported_and_only_where_something_is_missing(tmp_path):
    put(tmp_path, "heads", [answer("merge_heads", "def merge_heads(x): return x")])
    put(tmp_path, "encoder_layer", [
        "from anatomy.course.nb04_heads.right import FusedMultiHeadAttention, merge_heads",
        "class SelfAttention(FusedMultiHeadAttention): pass",
        answer("gelu", "def gelu(x): return merge_heads(x)"),
    ])  # fmt: skip
    made = program(tmp_path, fill=True)
    lent = {one.name for one in made.imports}
    assert "FusedMultiHeadAttention" in lent and "GPT" in lent
    assert not {"merge_heads", "gelu"} & lent
    assert not made.left_out


def test_the_course_s_answer_imported_is_no_answer(tmp_path):
    put(
        tmp_path,
        "softmax",
        [
            "from anatomy.course.nb03_softmax.right import softmax",
            answer("attention_weights", "def attention_weights(q, k): return softmax(q, k)"),
        ],
    )
    made = program(tmp_path)
    assert written(made) == "def attention_weights(q, k):\n    return softmax(q, k)"
    assert [lacking.name for lacking in made.lacking] == ["softmax"]


def test_a_notebook_by_itself_is_as_its_student_has_it(tmp_path):
    put(tmp_path, "softmax", [
        "from anatomy.course.nb02_attention_scores.right import scaled_scores",
        answer("attention_weights", "def attention_weights(q, k): return scaled_scores(q, k)"),
    ])  # fmt: skip
    given = "from anatomy.course.nb02_attention_scores.right import scaled_scores"
    assert given in written(program(tmp_path, own=False))


def test_a_name_that_nothing_gives_is_reported(tmp_path):
    put(
        tmp_path,
        "softmax",
        ["for SEED in range(3): pass", answer("softmax", "def softmax(x, dim): return SEED + len(x) + nowhere")],
    )
    made = program(tmp_path)
    assert made.unknown == {("03-softmax", "SEED"): ["softmax"], ("03-softmax", "nowhere"): ["softmax"]}


@pytest.mark.parametrize(("words", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), ("abc", "a, b and c")])
def test_lists_read_well(words, said):
    assert listed(words) == said
