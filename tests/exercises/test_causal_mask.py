"""09-causal-mask against the library: attention, and a GPT-2's logits and continuations."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from anatomy.course.nb09_causal_mask.asked import _config, _library_and_own
from anatomy.course.nb09_causal_mask.right import (
    GPT,
    CausalSelfAttention,
    cached_attention,
    causal_mask,
    future_leak,
    generate,
    load_gpt2_weights,
    masked_attention,
    next_token_probabilities,
)
from anatomy.engine.draw import Draw

SIZES = [(17, 29, 24, 4, 2), (23, 30, 20, 5, 3)]  # V, P, D, H, L


def library_and_own(seed: int, sizes: tuple[int, ...]) -> tuple[GPT2LMHeadModel, GPT]:
    """A small seeded GPT-2 of the library, and a GPT of the course with its weights."""
    config = _config(Draw(seed, **dict(zip("VPDHL", sizes, strict=True))))
    library, own = GPT2LMHeadModel(config).eval(), GPT(config).eval()
    library.load_state_dict(_library_and_own(seed, *sizes)["state_dict"])
    load_gpt2_weights(own, library.state_dict())
    return library, own


@pytest.mark.parametrize("seed", [0, 1, 20_011])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_gpt2_gives_the_same_logits_and_continuations(seed: int, sizes: tuple[int, ...]) -> None:
    library, own = library_and_own(seed, sizes)
    ids = torch.randint(0, sizes[0], (3, 8), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        assert (own(ids) - library(ids).logits).abs().max() <= 1e-5
    given = {"attention_mask": torch.ones_like(ids), "eos_token_id": None, "pad_token_id": 0}
    theirs = library.generate(ids, max_new_tokens=12, do_sample=False, **given)
    assert torch.equal(generate(own, ids, 12, temperature=0), theirs)


def test_masked_attention_is_pytorchs() -> None:
    query, key, value = torch.randn(3, 2, 4, 7, 5, generator=torch.Generator().manual_seed(0))
    mine = masked_attention(query, key, value, causal_mask(7))
    assert torch.allclose(mine, F.scaled_dot_product_attention(query, key, value, is_causal=True), atol=1e-6)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), [(1.0, 50, 0.9), (0.7, 8, 0.5), (2.5, 20, 0.95), (1.0, 3, 0.01)]
)
def test_settings_of_sampling_are_the_librarys(temperature: float, top_k: int, top_p: float) -> None:
    logits = 2 * torch.randn(4, 50, generator=torch.Generator().manual_seed(0))
    theirs = logits
    for warper in (TemperatureLogitsWarper(temperature), TopKLogitsWarper(top_k), TopPLogitsWarper(top_p)):
        theirs = warper(None, theirs)
    mine = next_token_probabilities(logits, temperature, top_k, top_p)
    assert torch.allclose(mine, theirs.softmax(dim=-1), atol=1e-6)
    assert torch.equal(mine > 0, theirs > -torch.inf)


def test_a_gpt_does_not_leak() -> None:
    _, own = library_and_own(0, SIZES[0])
    ids = torch.randint(0, 17, (2, 9), generator=torch.Generator().manual_seed(0))
    assert not future_leak(own, ids).any()


def test_a_cache_changes_nothing() -> None:
    attention = CausalSelfAttention(GPT2Config(n_embd=12, n_head=3)).eval()
    x = torch.randn(2, 9, 12, generator=torch.Generator().manual_seed(0))
    outputs, cache = [], None
    with torch.no_grad():
        for part in x.split([3, 1, 1, 4], dim=1):
            output, cache = cached_attention(attention, part, cache)
            outputs.append(output)
        assert torch.allclose(torch.cat(outputs, dim=1), attention(x), atol=1e-6)


def test_parameters_of_gpt2() -> None:
    with torch.device("meta"):
        mine, theirs = GPT(GPT2Config()), GPT2LMHeadModel(GPT2Config())
    assert sum(p.numel() for p in mine.parameters()) == theirs.num_parameters()
