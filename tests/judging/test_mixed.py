"""A right answer's observation in which one property's results are those of other seeds: that property does not hold.

The other results speak for the answer, so nothing but the property's own description can tell.
"""

from __future__ import annotations

import pytest

from anatomy.course import COURSE
from anatomy.engine.judging.expectations import remembering
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observe import observe
from anatomy.engine.observing.records import decode, encode
from tests.judging.test_replayed import EARLIER, NOW
from tests.plenty import one_in

TIED = {
    "wordpiece": ("unknown words",),
    "FusedMultiHeadAttention": ("refusal",),
    "copy_heads": ("independence",),
    "FeedForward": ("dropout",),
    "LayerNorm": ("parameters",),
    "TransformerEncoderLayer": ("dropout", "mask"),
    "PostNormEncoderLayer": ("dropout", "mask"),
    "count_layer_parameters": ("any sizes",),
    "layer_flops": ("projections", "attention", "feed_forward"),
    "Embeddings": ("train mode", "length limit"),
    "apply_rotary": ("offsets only",),
    "padding_mask": ("large scores",),
    "load_bert_weights": ("missing keys", "leftover layers", "independence"),
    "TransformerForSequenceClassification": ("dropout",),
    "train_step": ("update", "fresh gradients", "training mode"),
    "train_classifier": ("losses", "all batches", "on_step"),
    "TokenClassifier": ("dropout",),
    "span_scores": ("mask",),
    "best_span": ("length", "ties", "batch"),
    "count_head_parameters": ("sequence", "token", "span"),
    "future_leak": ("causal model", "model unchanged"),
    "CausalSelfAttention": ("no peeking", "num_heads"),
    "DecoderBlock": ("dropout",),
    "GPT": ("dropout", "too long"),
    "load_gpt2_weights": ("tied head", "refusals", "leftover blocks", "independence"),
    "generate": ("long texts", "sampling", "generator", "mode"),
    "TransformerDecoderLayer": ("dropout", "masks", "eps"),
    "Transformer": ("dropout", "padding", "encode and decode"),
    "teacher_forcing_loss": ("gradient",),
    "greedy_decode": ("ends", "work"),
    "beam_search": ("ends", "ties", "length penalty", "work"),
    "head_statistics": ("without a mask",),
    "find_previous_token_head": ("without a mask", "Python numbers"),
    "switch_off_heads": ("context unchanged", "refusal"),
    "mask_tokens": ("labels", "special tokens", "rate", "80/10/10", "generator"),
    "next_sentence_pairs": ("pairs", "half and half", "drawn evenly", "generator"),
    "sentence_order_pairs": ("pairs", "half and half", "generator"),
    "span_corruption": ("rebuilds", "sentinels", "amounts", "all ways", "generator"),
    "bart_noise": ("mask", "delete", "infill", "permute", "rotate", "generator"),
    "bigbird_mask": ("random keys", "generator"),
    "growth_exponent": ("best line",),
    "encoder_parameters": ("DistilBERT", "ALBERT"),
    "few_shot_prompt": ("zero-shot",),
    "patchify": ("refusals",),
}
"""Properties that are said in words, or hang on few numbers."""


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(12, TIED))
def test_results_of_other_seeds_do_not_meet_a_property(name: str) -> None:
    exercise, known = COURSE.exercise(name), remembering()
    now, earlier = (observe(exercise, exercise.right, seeds) for seeds in (NOW, EARLIER[0]))
    cases = exercise.cases(NOW)
    for asked in TIED[name]:
        pairs = zip(cases, now.cases, earlier.cases, strict=True)
        mixed = decode(encode(now))
        mixed.cases = [old if case.asks == asked else new for case, new, old in pairs]
        verdict = judge(exercise, decode(encode(mixed)), NOW, known)
        assert asked in [one.property for one in verdict.results if not one.passed]
