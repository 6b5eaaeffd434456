"""13-family-tree against the library's counts; and what is said of random keys."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
import torch
from transformers import AlbertConfig, AutoModel, BertConfig, DistilBertConfig, RobertaConfig

from anatomy.course import COURSE
from anatomy.course.nb13_family_tree.described import _sharing
from anatomy.course.nb13_family_tree.right import bigbird_mask, encoder_parameters, growth_exponent
from anatomy.engine.judging.judge import judge
from anatomy.engine.mistakes import pairs
from anatomy.engine.observing.observe import observe

ALBERT_BASE = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
PUBLISHED = [
    (BertConfig(), 109_482_240),
    (RobertaConfig(vocab_size=50_265, max_position_embeddings=514, type_vocab_size=1), 124_645_632),
    (DistilBertConfig(), 66_362_880),
    (AlbertConfig(**ALBERT_BASE), 11_683_584),
    (AlbertConfig(**ALBERT_BASE, num_hidden_groups=3, type_vocab_size=5), None),
]


@pytest.mark.parametrize("config, known", PUBLISHED, ids=lambda value: getattr(value, "model_type", ""))
def test_parameters_are_the_librarys(config: Any, known: int | None) -> None:
    with torch.device("meta"):
        theirs = AutoModel.from_config(config).num_parameters()
    assert encoder_parameters(config) == theirs == (known or theirs)


@pytest.mark.parametrize(
    "common, mine, theirs, wanted", [(3, 4, 5, 1), (3, 5, 4, 2), (4, 4, 4, 3), (0, 3, 3, 2), (2, 2, 5, 3)]
)
def test_how_often_two_queries_share_a_key(common: int, mine: int, theirs: int, wanted: int) -> None:
    first, second = range(mine), [*range(common), *range(mine, mine + theirs - common)]
    draws = product(combinations(first, min(wanted, mine)), combinations(second, min(wanted, theirs)))
    shared = [bool(set(one) & set(other)) for one, other in draws]
    assert _sharing(common, mine, theirs, wanted) == pytest.approx(sum(shared) / len(shared))


def says(answer: Any) -> list[str]:
    asked = COURSE.exercise("bigbird_mask")
    return [diagnosis.headline for diagnosis in judge(asked, observe(asked, answer)).diagnoses]


@pytest.mark.slow
def test_keys_that_are_not_drawn_alike_are_told_from_queries_that_draw_together() -> None:
    """Who prefers near keys draws unevenly, but each query for itself."""

    def near(length, window, num_global, num_random, generator):
        mask = bigbird_mask(length, window, num_global, 0, generator)
        for t, row in enumerate(mask):
            free = (~row).nonzero().flatten()
            if count := min(num_random, len(free)):
                row[free[torch.multinomial(1 / (free - t).square(), count, generator=generator)]] = True
        return mask

    assert "not all keys are drawn alike" in says(near)[0]


def test_an_exponent_of_two_is_that_of_squares() -> None:
    assert growth_exponent([8, 64, 100], [64, 4096, 10_000]) == pytest.approx(2)


def test_no_library_prints_while_mistakes_are_tried(capfd):
    """LAPACK writes lines of its own where it is given an infinite number."""
    exercise = COURSE.exercise("growth_exponent")
    for wrong in exercise.mistakes.values():
        observe(exercise, wrong.answer)
    known = [exercise.mistakes[f"growth_exponent__{name}"] for name in ("no_logs", "weighted")]
    for _, _, both in pairs(exercise, known):
        observe(exercise, both.answer)
    assert "".join(capfd.readouterr()) == ""
