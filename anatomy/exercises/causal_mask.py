"""What 09-causal-mask asks.

The models on which answers are tried are the judge's own. They have the names of the contract and none of its code: a
kernel that grades this notebook must not hold its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.exercises.encoder_layer import NOTHING, _dropped, _part_dropped
from anatomy.exercises import softmax as notebook_03
from anatomy.exercises.spec import Case, Draw, exercise, quiz

SLUG = "09-causal-mask"
TOKENS = {"T": "tokens"}


def _config(draw: Draw, eps: float = 1e-5, block_dropout: float = 0.0, embedding_dropout: float = 0.0) -> Any:
    from transformers import GPT2Config  # only when cases are built: it is slow to import

    letters = {"vocab_size": "V", "n_positions": "P", "n_embd": "D", "n_head": "H", "n_layer": "L"}
    sizes = {name: draw.sizes[letter] for name, letter in letters.items() if letter in draw.sizes}
    return GPT2Config(**sizes, layer_norm_epsilon=eps, resid_pdrop=block_dropout, embd_pdrop=embedding_dropout,
                      attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)  # fmt: skip


# ---------------------------------------------------------------------------------------------- causal_mask


def _zeros_and_ones(answer: Any, case: Case) -> Any:
    """The mask as numbers: True is as good as 1."""
    mask = answer(*case.args.values())
    return mask.float() if isinstance(mask, Tensor) and not mask.is_complex() else mask


@exercise(
    SLUG,
    properties={"shape": 1, "values": 2},
    returns="T S",
    run=_zeros_and_ones,
    when_right="A triangle is all it takes. Next, attention has to obey it.",
)
def causal_mask(seed: int) -> Iterator[Case]:
    for length in (5, 8, 2):
        yield Draw(seed, T=length, S=length).case(length=length)
    yield Draw(seed, T=1, S=1).case(length=1, note="for a single token")


# ---------------------------------------------------------------------------------------------- masked_attention


def _attend(answer: Any, case: Case) -> Any:
    """A mask is no parameter: gradients of one that is made of floating-point numbers are nobody's concern."""
    args = {name: value.detach() if name == "mask" else value for name, value in case.args.items()}
    return answer(*args.values())


def _some_keys(draw: Draw, letters: str) -> Tensor:
    """A mask that lets every query look at about half of the keys, and at one at least."""
    mask = draw.normal(letters) > 0
    return mask | (draw.normal(letters).argmax(dim=-1, keepdim=True) == torch.arange(mask.size(-1)))


@exercise(
    SLUG,
    properties={"shape": 1, "values": 2, "any mask": 1, "no mask": 1, "large scores": 1, "gradients": 1},
    returns="B H T K",
    run=_attend,
    forbids=notebook_03.scaled_dot_product_attention.forbids,
    when_right="What is hidden has no weight at all, and the rest still sums to one.",
)
def masked_attention(seed: int) -> Iterator[Case]:
    def inputs(draw: Draw, leading: str = "B H", scale: float = 1.0) -> dict[str, Tensor]:
        query, key = draw.normal(f"{leading} T K", scale), draw.normal(f"{leading} S K")
        return {"query": query, "key": key, "value": draw.normal(f"{leading} S K")}

    draw = Draw(seed, B=2, H=3, T=5, S=7, K=4)
    yield draw.case(**inputs(draw), mask=_some_keys(draw, "T S"), note="for a boolean mask of shape (T, S)")
    draw = Draw(seed, B=3, H=2, T=6, S=6, K=5)
    mask = torch.arange(6) <= torch.arange(6)[:, None]
    yield draw.case(**inputs(draw), mask=mask, note="for a causal mask")
    draw = Draw(seed, B=2, T=4, S=3, K=6)
    yield draw.case(
        **inputs(draw, "B"), mask=_some_keys(draw, "B T S"), returns="B T K", note="for inputs of three axes"
    )
    draw = Draw(seed, B=3, H=2, T=1, S=4, K=3)
    yield draw.case(**inputs(draw), mask=_some_keys(draw, "T S"), note="for a single query")
    draw = Draw(seed, B=2, H=3, T=4, S=6, K=5)
    for letters, shape, kind in (
        ("T S", "(T, S)", "long"), ("B 1 T S", "(B, 1, T, S)", "bool"), ("B H T S", "(B, H, T, S)", "float"),
        ("B 1 1 S", "(B, 1, 1, S)", "float"),
    ):  # fmt: skip
        words = "True and False" if kind == "bool" else f"0 and 1 as {'whole' if kind == 'long' else 'float'} numbers"
        yield draw.case(**inputs(draw), mask=getattr(_some_keys(draw, letters), kind)(), asks="any mask",
                        note=f"for a mask of {words}, shape {shape}")  # fmt: skip
    draw = Draw(seed, B=2, H=3, T=5, S=4, K=7)
    yield draw.case(**inputs(draw), asks="no mask", note="when no mask is given")
    yield draw.case(**inputs(draw), mask=None, asks="no mask", note="when the mask is None")


# ---------------------------------------------------------------------------------------------- future_leak


@exercise(
    SLUG,
    properties={"shape": 1, "values": 2, "causal model": 1, "model unchanged": 1},
    returns="B T S",
    axes={"T": "outputs", "S": "inputs"},
    when_right="A gauge for peeking: zero means that no output can know what comes after it.",
)
def future_leak(seed: int) -> Iterator[Case]:
    yield from ()


# ---------------------------------------------------------------------------------------------- CausalSelfAttention


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "no peeking": 1},
    returns="B T D",
    axes=TOKENS,
    when_right="Notebook 04's attention with one triangle more. It goes into a block now.",
)
def CausalSelfAttention(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=12, H=3)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D"))


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "dropout": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    when_right="A stack of these, with embeddings below and a head on top, is GPT.",
)
def DecoderBlock(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=12, H=3)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D"))


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "eps": 1, "too long": 1},
    returns="B T V",
    axes=TOKENS,
    when_right="GPT-2, whole. It knows nothing yet: what it is to learn fits into one line.",
)
def GPT(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=12, H=3, L=2, V=17, P=9)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 17))


# ---------------------------------------------------------------------------------------------- next_token_loss


@exercise(
    SLUG,
    properties={"shape": 1, "values": 2, "large logits": 1, "gradients": 1},
    axes=TOKENS,
    when_right="A text is its own teacher: every token is the label of the place before it.",
)
def next_token_loss(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, V=7)
    yield draw.case(logits=draw.normal("B T V"), ids=draw.integers("B T", 7))


# ---------------------------------------------------------------------------------------------- load_gpt2_weights


@exercise(
    SLUG,
    properties={"embeddings": 1, "blocks": 2, "tied head": 1, "refusals": 1, "leftover blocks": 1, "independence": 1},
    axes=TOKENS,
    when_right="Weights of the library's GPT-2 in code of your own: the next cell holds one against the other.",
)
def load_gpt2_weights(seed: int) -> Iterator[Case]:
    yield from ()


# ---------------------------------------------------------------------------------------------- writing


@exercise(
    SLUG,
    properties={"shape": 1, "values": 1, "temperature": 1, "top-k": 2},
    returns="B V",
    when_right="From a row of logits to a die that can be rolled.",
)
def next_token_probabilities(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(
    SLUG,
    properties={"greedy": 2, "long texts": 1, "sampling": 2, "generator": 1},
    axes=TOKENS,
    when_right="It writes. What it has to say depends on what it has read.",
)
def generate(seed: int) -> Iterator[Case]:
    yield from ()


@exercise(
    SLUG,
    properties={"shape": 1, "values": 2, "no cache": 1, "several tokens": 1},
    axes=TOKENS,
    when_right="Each token is looked at once, and the work for the next one no longer grows with the square of the text.",
)
def cached_attention(seed: int) -> Iterator[Case]:
    yield from ()


quiz_decoder = quiz(
    SLUG,
    "quiz_decoder",
    {
        "in training, a text of 100 tokens gives": ("1 prediction", "99 predictions at once", "99 runs of the model"),
        "without the mask, the training loss": ("falls to nearly 0", "stays the same", "rises"),
        "a perplexity of 1 means": ("always sure and right", "pure guessing", "half of the guesses are right"),
        "temperature towards 0": ("all tokens alike", "always the most probable token", "an ever larger loss"),
        "few-shot examples change": ("all weights", "the head's weights", "nothing but the input"),
    },
    when_right="The decoder writes on. Notebook 10 gives it something to write about: a text that an encoder has read.",
)
