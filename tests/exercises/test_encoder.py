"""07-encoder against the library: the same weights give the same hidden states, layer by layer, padding included."""

from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, BertModel

from anatomy.course import COURSE
from anatomy.course.checkpoints import find, load_checkpoint
from anatomy.course.nb07_encoder.asked import _bert_and_encoder, _config
from anatomy.course.nb07_encoder.right import TransformerEncoder, load_bert_weights, padding_mask
from anatomy.engine.judging.judge import judge
from anatomy.engine.observing.observe import observe

pytestmark = pytest.mark.slow


def largest_differences(bert: BertModel, ids: torch.Tensor, attention_mask: torch.Tensor) -> list[float]:
    """Over the real tokens, at the embeddings and after each layer."""
    encoder = TransformerEncoder(bert.config).eval()
    load_bert_weights(encoder, bert.state_dict())
    real, mask = attention_mask.bool(), padding_mask(attention_mask)
    with torch.no_grad():
        theirs = bert(ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        states = [encoder.embeddings(ids)]
        for layer in encoder.layers:
            states.append(layer(states[-1], mask))
        assert torch.equal(encoder(ids, attention_mask), states[-1])
    return [(a - b)[real].abs().max().item() for a, b in zip(states, theirs, strict=True)]


@pytest.mark.parametrize("seed", [0, 1, 20_011])
@pytest.mark.parametrize("sizes", [(29, 24, 2, 4, 40, 11), (17, 20, 3, 5, 28, 9)])
def test_small_seeded_berts(seed: int, sizes: tuple[int, ...]) -> None:
    bert = BertModel(_config(*sizes)).eval()
    bert.load_state_dict(_bert_and_encoder(seed, *sizes)["state_dict"])
    ids = torch.randint(0, sizes[0], (3, 8), generator=torch.Generator().manual_seed(seed))
    attention_mask = (torch.arange(8) < torch.tensor([8, 3, 5])[:, None]).long()
    assert max(largest_differences(bert, ids, attention_mask)) <= 1e-5


@pytest.mark.skipif(find() is None, reason="no checkpoint on this machine")
def test_the_checkpoint() -> None:
    checkpoint = load_checkpoint()
    sentences = ["time flies like an arrow", "fruit flies like a ripe banana, and time does not like flies"]
    batch = checkpoint.tokenizer(sentences, padding=True, return_tensors="pt")
    assert max(largest_differences(checkpoint.model, batch.input_ids, batch.attention_mask)) <= 1e-5


def test_parameters_of_bert_base() -> None:
    """All of BERT base but its two token types and its pooler."""
    config = BertConfig()
    with torch.device("meta"):
        mine, theirs = TransformerEncoder(config), BertModel(config)
    width = config.hidden_size
    assert sum(p.numel() for p in mine.parameters()) == theirs.num_parameters() - 2 * width - (width * width + width)


def test_a_layer_too_many_is_refused_by_deeper_encoders_too() -> None:
    def shallow(encoder, state_dict):
        if len(encoder.layers) > 1:  # the guard looks at small encoders only
            depth = len(encoder.layers)
            state_dict = {k: v for k, v in state_dict.items() if not k.startswith(f"encoder.layer.{depth}.")}
        load_bert_weights(encoder, state_dict)

    asked = COURSE.exercise("load_bert_weights")
    verdict = judge(asked, observe(asked, shallow))
    assert [result.property for result in verdict.results if not result.passed] == ["leftover layers"]
