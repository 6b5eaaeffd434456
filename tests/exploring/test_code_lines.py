"""A step's line is the one that computed it: of the course's modules, of cells, and of nothing else."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from anatomy.course.exploring.packing import steps_in
from anatomy.course.nb09_causal_mask import right as nb09
from tests.exploring.models import explorer_of, text_of


def lines(kind: str, explorer: Any = None) -> dict[str, dict[str, Any] | None]:
    state = (explorer or explorer_of(kind)).state(*text_of(kind))
    return {step["id"]: step["code"] for step in steps_in(state.header)}


def test_the_lines_of_the_decoder_are_those_that_compute_its_steps() -> None:
    found = lines("decoder")
    expected = {
        "decoder.embedding.token_vectors": ("GPT", "self.token_embeddings(ids)"),
        "decoder.0.self.query": ("CausalSelfAttention", "(self.q, self.k, self.v)"),
        "decoder.0.self.scaled": ("masked_attention", "math.sqrt(query.size(-1))"),
        "decoder.0.self.masked": ("masked_attention", "masked_fill(mask == 0"),
        "decoder.0.self.weights": ("masked_attention", "softmax(dim=-1)"),
        "decoder.0.self.mixed": ("masked_attention", "@ value"),
        "decoder.0.self.joined": ("merge_heads", "reshape"),
        "decoder.0.self.projected": ("CausalSelfAttention", "self.output_linear("),
        "decoder.0.self.residual": ("DecoderBlock", "x + self.dropout(self.attention"),
        "decoder.0.feed_forward.activated": ("FeedForward", "F.gelu("),
        "decoder.0.feed_forward.residual": ("DecoderBlock", "return x + self.feed_forward"),
        "decoder.output.logits": ("GPT", "self.lm_head("),
    }
    for name, (of, text) in expected.items():
        code = found[name]
        assert code is not None and code["of"] == of and text in code["line"], f"{name}: {code}"


def test_a_fused_attention_stands_for_what_it_does_not_return() -> None:
    found = lines("encoder")
    fused = found["encoder.0.self.mixed"]
    assert fused is not None and "scaled_dot_product_attention" in fused["line"]
    for kind in ("scores", "scaled", "weights"):
        assert found[f"encoder.0.self.{kind}"] == fused


CELL = """\
class CausalSelfAttention(Given):
    def forward(self, x):
        query, key, value = (split_heads(layer(x), self.num_heads) for layer in (self.q, self.k, self.v))
        scores = query @ key.transpose(-2, -1)
        scores = scores / query.size(-1) ** 0.5
        scores = scores.masked_fill(causal_mask(x.size(1)) == 0, float("-inf"))
        weights = scores.softmax(-1)
        return self.output_linear(merge_heads(weights @ value))
"""


def test_lines_of_a_notebooks_cell_are_found_with_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    file = "<a cell of a notebook>"
    monkeypatch.setitem(linecache.cache, file, (len(CELL), None, CELL.splitlines(True), file))
    names = {**vars(nb09), "Given": nb09.CausalSelfAttention}
    exec(compile(CELL, file, "exec"), names)
    monkeypatch.setattr(nb09, "CausalSelfAttention", names["CausalSelfAttention"])
    found = lines("decoder", explorer_of("decoder"))
    expected = {"scores": 4, "scaled": 5, "masked": 6, "weights": 7, "mixed": 8}
    source = CELL.splitlines()
    for layer in (0, 1):
        for kind, number in expected.items():
            code = found[f"decoder.{layer}.self.{kind}"]
            line = source[number - 1].strip()
            assert code == {"of": "CausalSelfAttention", "number": number - 1, "line": line, "yours": True}
    assert found["decoder.output.logits"]["yours"] is False, "the course's own"


def test_a_later_run_has_the_lines_of_the_first() -> None:
    explorer = explorer_of("decoder")
    first = lines("decoder", explorer)
    changed = steps_in(explorer.state(*text_of("decoder"), ["no-mask"]).header)
    assert {step["id"]: step["code"] for step in changed if step["kind"] == "weights"} == {
        name: code for name, code in first.items() if name.endswith(".weights")
    }
