"""A mistake shows at the step that makes it, in every layer, and at no other; right answers in any style show none."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import pytest
from torch import nn

from anatomy.course.exploring.packing import steps_in
from anatomy.course.exploring.parts import NotExplorable
from anatomy.course.nb05_encoder_layer import right as nb05
from anatomy.course.nb06_positional_encodings import right as nb06
from anatomy.course.nb07_encoder import right as nb07
from anatomy.course.nb09_causal_mask import also_right as other_09
from anatomy.course.nb09_causal_mask import right as nb09
from anatomy.course.nb10_encoder_decoder import right as nb10
from anatomy.course.nb14_since_gpt_2 import also_right as other_14
from anatomy.course.nb14_since_gpt_2 import right as nb14
from tests.exploring.models import CLASSES, explorer_of, model_of, text_of

MODELS = {"encoder": "TransformerEncoder", "decoder": "GPT", "encoder-decoder": "Transformer", "modern": "Llama"}
MODULES = {"encoder": (nb05, nb06, nb07), "decoder": (nb09,), "encoder-decoder": (nb05, nb06, nb10),
           "modern": (nb09, nb14)}  # fmt: skip


def mistaken(kind: str, name: str, old: str, new: str) -> nn.Module:
    """A model of one kind in which the class or function `name` has another text; weights are the right one's."""
    names: dict[str, Any] = {}
    for module in MODULES[kind]:
        names |= {key: value for key, value in vars(module).items() if key[:2] != "__"}
    for module in MODULES[kind]:  # all classes again, so that each sees the changed one
        for key, value in list(vars(module).items()):
            if getattr(value, "__module__", "") != module.__name__ or not (inspect.isclass(value) or callable(value)):
                continue
            source = textwrap.dedent(inspect.getsource(value))
            if key == name:
                assert source.count(old) == 1, (name, old, source)
                source = source.replace(old, new)
            exec(compile("from __future__ import annotations\n" + source, f"<{key}>", "exec"), names)
    model: nn.Module = names[MODELS[kind]](CLASSES[kind][1]).eval()
    model.load_state_dict(model_of(kind).state_dict())
    return model


WRONG = [
    ("decoder", "masked_attention", " / math.sqrt(query.size(-1))", "", "self.scaled"),
    ("decoder", "masked_attention", "math.sqrt(query.size(-1))", "query.size(-1)", "self.scaled"),
    ("decoder", "masked_attention", "math.sqrt(query.size(-1))", "math.sqrt(24)", "self.scaled"),
    ("decoder", "causal_mask", ".tril()", "", "self.masked"),
    ("decoder", "causal_mask", ".tril()", ".tril(1)", "self.masked"),
    ("decoder", "masked_attention", "return scores.softmax(dim=-1) @ value",
     "return (scores - 0).exp() / 7 @ value", "self.weights"),
    ("decoder", "DecoderBlock", "x = x + self.dropout(self.attention(self.layer_norm_1(x)))",
     "x = self.dropout(self.attention(self.layer_norm_1(x)))", "self.residual"),
    ("decoder", "DecoderBlock", "return x + self.feed_forward(self.layer_norm_2(x))",
     "return self.feed_forward(self.layer_norm_2(x))", "feed_forward.residual"),
    ("decoder", "DecoderBlock", "self.feed_forward(self.layer_norm_2(x))", "self.feed_forward(x)", "feed_forward.norm"),
    ("decoder", "FeedForward", 'F.gelu(self.linear_1(x), approximate="tanh")', "F.relu(self.linear_1(x))",
     "feed_forward.activated"),
    ("decoder", "GPT", "torch.arange(length, device=ids.device)", "torch.arange(1, length + 1)", "embedding.positions"),
    ("decoder", "GPT", "self.token_embeddings(ids) + self.position_embeddings(positions)",
     "self.token_embeddings(ids) - self.position_embeddings(positions)", "embedding.embedded"),
    ("decoder", "GPT", "self.lm_head(self.layer_norm(x))", "self.lm_head(x) + 0 * self.layer_norm(x).sum()",
     "output.norm"),
    ("encoder", "SelfAttention", "F.scaled_dot_product_attention(query, key, value, attn_mask=mask)",
     "F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)", "self.scaled"),
    ("encoder", "SelfAttention", "merge_heads(context)", "context.reshape(x.shape)", "self.joined"),
    ("encoder", "PostNormEncoderLayer", "self.layer_norm_1(x + self.dropout(self.attention(x, mask)))",
     "self.layer_norm_1(self.dropout(self.attention(x, mask)))", "self.residual"),
    ("encoder", "Embeddings", "self.layer_norm(x)", "x + 0 * self.layer_norm(x)", "embedding.embedded"),
    ("encoder-decoder", "Transformer", "vectors * math.sqrt(width)", "vectors", "embedding.embedded"),
    ("modern", "RMSNorm", "x.square()", "(x - x.mean(dim=-1, keepdim=True)).square()", ".norm"),
    ("modern", "SwiGLU", "F.silu(self.linear_gate(x))", "self.linear_gate(x).sigmoid()", "feed_forward.activated"),
    ("modern", "GroupedQueryAttention", "each.repeat_interleave(shared, dim=1)", "each.repeat(1, shared, 1, 1)",
     "self.weights"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "old", "new", "place"), WRONG, ids=[f"{row[1]}-{row[4]}" for row in WRONG])
def test_a_mistake_shows_at_its_step(kind: str, name: str, old: str, new: str, place: str) -> None:
    explorer = explorer_of(kind, mistaken(kind, name, old, new))
    steps = steps_in(explorer.state(*text_of(kind)).header)
    shown = [step["id"] for step in steps if step["right"]]
    assert shown and all(place in one for one in shown), shown
    if "embedding" not in place and "output" not in place:
        asked = [
            step["id"] for step in steps if step["id"].endswith(place.removeprefix(".")) and "output" not in step["id"]
        ]
        assert set(asked) <= set(shown)  # in every layer


RIGHT = [
    *((other_09, name) for name in ("CausalSelfAttention__fused", "CausalSelfAttention__einsum",
                                     "CausalSelfAttention__buffer", "CausalSelfAttention__loops")),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name"), RIGHT, ids=[name for _, name in RIGHT])
def test_right_attention_in_any_style_shows_no_mistake(module: Any, name: str) -> None:
    model: Any = model_of("decoder")
    for block in model.blocks:
        other = getattr(module, name)(CLASSES["decoder"][1]).eval()
        other.load_state_dict(block.attention.state_dict(), strict=False)
        other.num_heads = block.attention.num_heads
        block.attention = other
    state = explorer_of("decoder", model).state(*text_of("decoder"))
    assert [step["id"] for step in steps_in(state.header) if step["right"]] == []
    found = {step["kind"] for step in steps_in(state.header) if step["code"]}
    assert {"query", "joined", "projected", "residual"} <= found


@pytest.mark.parametrize("name", [name for name in vars(other_14) if name.startswith("GroupedQueryAttention__")])
def test_right_grouped_queries_in_any_style_show_no_mistake(name: str) -> None:
    model: Any = model_of("modern")
    for block in model.blocks:
        other = getattr(other_14, name)(CLASSES["modern"][1]).eval()
        other.load_state_dict(block.attention.state_dict(), strict=False)
        block.attention = other
    state = explorer_of("modern", model).state(*text_of("modern"))
    assert [step["id"] for step in steps_in(state.header) if step["right"]] == []


def test_lines_are_those_of_the_program() -> None:
    state = explorer_of("decoder").state(*text_of("decoder"))
    lines = {step["id"]: step["code"] for step in steps_in(state.header)}
    weights = lines["decoder.1.self.weights"]
    assert weights["of"] == "masked_attention" and "softmax(dim=-1)" in weights["line"]
    source = inspect.getsource(nb09.masked_attention).splitlines()
    assert source[weights["number"] - 1].strip() == weights["line"]
    assert lines["decoder.0.self.residual"]["of"] == "DecoderBlock"
    assert lines["decoder.0.feed_forward.activated"]["line"].startswith("return self.dropout(self.linear_2(F.gelu(")
    fused = {step["kind"]: step["code"] for step in steps_in(explorer_of("encoder").state("time").header)}
    assert "scaled_dot_product_attention" in fused["weights"]["line"]


def test_a_part_that_is_never_called_is_named() -> None:
    model = mistaken("decoder", "CausalSelfAttention", "return self.output_linear(merge_heads(context))",
                     "return merge_heads(context)")  # fmt: skip
    with pytest.raises(NotExplorable, match=r"never calls its part `blocks\.0\.attention\.output_linear`"):
        explorer_of("decoder", model).state(*text_of("decoder"))
