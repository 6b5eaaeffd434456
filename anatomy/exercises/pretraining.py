"""What 12-pretraining asks."""

from __future__ import annotations

from collections.abc import Iterator

from anatomy.exercises.spec import Case, Draw, exercise, quiz

SLUG = "12-pretraining"


@exercise(SLUG, properties={"labels": 2, "special tokens": 1, "rate": 1, "80/10/10": 2, "generator": 1})
def mask_tokens(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"values": 2, "gradients": 1, "no labels": 1})
def mlm_loss(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"pairs": 2, "half and half": 1, "drawn evenly": 1, "generator": 1})
def next_sentence_pairs(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"pairs": 2, "half and half": 1, "generator": 1})
def sentence_order_pairs(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"rebuilds": 2, "sentinels": 1, "amounts": 2, "all ways": 1, "generator": 1})
def span_corruption(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"mask": 1, "delete": 1, "infill": 2, "permute": 1, "rotate": 1, "generator": 1})
def bart_noise(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"shape": 1, "values": 1})
def replaced_token_labels(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"values": 3, "gradients": 1, "one term alone": 1})
def distillation_loss(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


@exercise(SLUG, properties={"values": 1, "gradients": 1})
def finetuning_loss(seed: int) -> Iterator[Case]:
    yield Draw(seed).case()


quiz_pretraining = quiz(
    SLUG,
    "quiz_pretraining",
    {
        "static masking": (
            "the same places in every epoch",
            "other places in every epoch",
            "the same places in every text",
        ),
        "a rate of 90 %": (
            "too little is left to predict from",
            "too few places to learn from",
            "the same loss, only faster",
        ),
        "reading both sides": (
            "each token would see itself",
            "the probabilities would not sum to one",
            "it would need twice the weights",
        ),
        "not always [MASK]": (
            "[MASK] is missing later",
            "[MASK] has no vector",
            "fewer places have to be predicted",
        ),
        "ELECTRA learns from": (
            "every token",
            "the chosen 15 %",
            "the replaced tokens only",
        ),
    },
    when_right="Objectives differ; the text is its own teacher in all of them.",
)
