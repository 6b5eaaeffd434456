"""Every right answer of the course is shown as right, with its lines; mistakes show at the step that makes them."""

from __future__ import annotations

import linecache
import math
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from anatomy.course import COURSE
from anatomy.course.exploring.packing import State, steps_in
from anatomy.course.exploring.parts import NotExplorable
from anatomy.engine.answers import Answer, AnswerBank, answer_bank
from tests.exploring.models import CLASSES, explorer_of, text_of
from tests.plenty import one_in

NOBODY = {"probabilities", "similarity"}
"""Kinds that no model computes: the explorer does."""

KIND_OF = {
    "gelu": "encoder", "LayerNorm": "encoder", "FeedForward": "encoder", "PostNormEncoderLayer": "encoder",
    "Embeddings": "encoder", "TransformerEncoder": "encoder", "split_heads": "decoder", "merge_heads": "decoder",
    "causal_mask": "decoder", "masked_attention": "decoder", "CausalSelfAttention": "decoder",
    "DecoderBlock": "decoder", "GPT": "decoder", "sinusoidal_encoding": "encoder-decoder",
    "decoder_mask": "encoder-decoder", "CrossAttention": "encoder-decoder",
    "TransformerDecoderLayer": "encoder-decoder", "Transformer": "encoder-decoder", "RMSNorm": "modern",
    "SwiGLU": "modern", "half_split_rotary": "modern", "GroupedQueryAttention": "modern", "LlamaBlock": "modern",
    "Llama": "modern",
}  # fmt: skip
"""An exercise → the kind of model in which its answers are tried."""

UNWATCHED = {
    "Embeddings__functional", "Embeddings__own_dropout", "Embeddings__sequential_beside",
    "Embeddings__slices_the_table", "FeedForward__own_dropout", "TransformerEncoder__everything_by_hand",
    "CausalSelfAttention__library", "GPT__head_first", "CrossAttention__library", "CrossAttention__einsum",
    "CrossAttention__head_by_head", "SwiGLU__products", "GroupedQueryAttention__views",
    "GroupedQueryAttention__library", "GroupedQueryAttention__loop", "Llama__one_hot",
}  # fmt: skip
"""Right answers that use a part's weights without calling the part, or do not say how many heads they have: these may
be refused, with a sentence."""

NOT_HERE = {"FeedForward__lazy"}
"""Has no weights before its first run, and these models get theirs before it."""

LINES_LOST = {
    "Transformer__buffer_of_positions": {"token_vectors"},
    "GroupedQueryAttention__loop": {"turned_query", "turned_key"},  # one head after the other
}
"""Steps whose numbers no line of the answer returns."""

SHOWN: dict[str, set[str]] = {
    "causal_mask__upper": {"self.masked"},
    "causal_mask__one_ahead": {"self.masked"},
    "causal_mask__everything": {"self.masked"},
    "causal_mask__only_the_past_token": {"self.masked"},
    "masked_attention__mask_transposed": {"self.masked"},
    "masked_attention__not_scaled": {"self.scaled"},
    "masked_attention__divides_by_k": {"self.scaled"},
    "masked_attention__by_root_t": {"self.scaled"},
    "masked_attention__after_softmax": {"self.weights"},
    "masked_attention__over_queries": {"self.weights"},
    "masked_attention__after_softmax_again": {"self.weights"},
    "CausalSelfAttention__no_mask": {"self.masked"},
    "CausalSelfAttention__scaled_by_the_whole_width": {"self.scaled"},
    "DecoderBlock__no_skips": {"self.residual", "feed_forward.residual"},
    "DecoderBlock__no_first_skip": {"self.residual"},
    "DecoderBlock__no_second_skip": {"feed_forward.residual"},
    "DecoderBlock__skip_from_the_norm": {"self.residual"},
    "DecoderBlock__subtracted": {"self.residual"},
    "LayerNorm__unbiased": {"self.norm", "feed_forward.norm"},
    "LayerNorm__rms": {"self.norm", "feed_forward.norm"},
    "LayerNorm__weight_unused": {"self.norm", "feed_forward.norm"},
    "FeedForward__relu": {"feed_forward.activated"},
    "FeedForward__no_activation": {"feed_forward.activated"},
    "FeedForward__norm_inside": {"feed_forward.inner"},
    "gelu__silu": {"feed_forward.activated"},
    "gelu__erf_of_x": {"feed_forward.activated"},
    "Embeddings__no_norm": {"embedding.embedded"},
    "Embeddings__times_root_d": {"embedding.embedded"},
    "Transformer__not_scaled": {"embedding.embedded"},
    "Transformer__decoder_sees_ahead": {"self.masked"},
    "Transformer__logits_scaled": {"output.logits"},
    "RMSNorm__no_root": {"self.norm", "feed_forward.norm", "output.norm"},
    "SwiGLU__no_activation": {"feed_forward.activated"},
    "SwiGLU__activation_on_the_other": {"feed_forward.activated"},
    "half_split_rotary__neighbors": {"self.turned_query", "self.turned_key"},
    "half_split_rotary__positions_from_one": {"self.turned_query", "self.turned_key"},
    "LlamaBlock__no_skips": {"self.residual", "feed_forward.residual"},
    "Llama__no_last_norm": {"output.norm"},
}
"""A mistake of wrong.py → the kinds of steps at which it shows."""


@cache
def right_modules() -> list[ModuleType]:
    """The modules in which the course's models look their parts up."""
    return [import_module(COURSE.module(book, "right")) for book in COURSE.notebooks[1:]]


@cache
def bank_of(exercise: str) -> AnswerBank:
    return answer_bank(COURSE, COURSE.exercise(exercise).notebook)


def defined(answer: Answer) -> Any:
    """What the answer's code defines, as in a cell whose lines can be looked up."""
    source, file = bank_of(answer.exercise).alone(answer), f"<{answer.name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "math": math, "Tensor": Tensor, "Any": Any}
    for module in right_modules():
        names = {**vars(module), **names}
    names["__name__"] = "cell"
    exec(compile(source, file, "exec"), names)
    return names[answer.exercise]


def shown(answer: Answer, patch: pytest.MonkeyPatch) -> State:
    """The state of a small model that has this answer in it."""
    kind, mine = KIND_OF[answer.exercise], defined(answer)
    made, config = CLASSES[kind]
    if made.__name__ == answer.exercise:
        patch.setitem(CLASSES, kind, (mine, config))
    given = getattr(import_module(COURSE.module(COURSE.exercise(answer.exercise).notebook, "right")), answer.exercise)
    for module in right_modules():
        if getattr(module, answer.exercise, None) is given:
            patch.setattr(module, answer.exercise, mine)
    return explorer_of(kind).state(*text_of(kind))


def wrong_kinds(state: State) -> set[str]:
    """The steps that have a right array: part and kind, without stack and layer."""
    return {".".join(step["id"].split(".")[-2:]) for step in steps_in(state.header) if step["right"]}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", one_in(2, KIND_OF))
def test_every_right_answer_is_shown_as_right_with_its_lines(exercise: str) -> None:
    complaints = []
    for answer in bank_of(exercise).right[exercise]:
        if answer.name in NOT_HERE:
            continue
        with pytest.MonkeyPatch.context() as patch:
            try:
                state = shown(answer, patch)
            except NotExplorable as why:
                if answer.name not in UNWATCHED:
                    complaints.append(f"{answer.name} can't be shown: {why}")
                continue
        if wrong := wrong_kinds(state):
            complaints.append(f"{answer.name} is shown as wrong at {sorted(wrong)}")
        lost = {step["kind"] for step in steps_in(state.header) if step["code"] is None} - NOBODY
        if lost - LINES_LOST.get(answer.name, set()):
            complaints.append(f"{answer.name} has no line for {sorted(lost)}")
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("name", SHOWN)
def test_a_mistake_shows_at_the_step_that_makes_it(name: str) -> None:
    exercise = name.partition("__")[0]
    (answer,) = (one for one in bank_of(exercise).mistaken[exercise] if one.name == name)
    with pytest.MonkeyPatch.context() as patch:
        state = shown(answer, patch)
    assert wrong_kinds(state) == SHOWN[name]
    layers = {step["id"].split(".")[1] for step in steps_in(state.header) if step["right"]}
    assert layers in ({"0", "1"}, {"0", "1", "output"}, {"embedding"}, {"output"}), "every layer has it"
