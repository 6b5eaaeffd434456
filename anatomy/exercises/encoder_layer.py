"""What 05-encoder-layer asks."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.exercises.spec import Case, Draw, exercise, quiz

SLUG = "05-encoder-layer"
TOKENS = {"T": "tokens"}
NORMS = ("layer_norm", "batch_norm", "group_norm", "instance_norm", "native_layer_norm", "native_batch_norm",
         "native_group_norm")  # fmt: skip


def _config(width: int, heads: int, inner: int, dropout: float = 0.0, eps: float = 1e-5) -> Any:
    from transformers import BertConfig  # only when cases are built: it is slow to import

    return BertConfig(
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=inner,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=1.75 * dropout,
        layer_norm_eps=eps,
        num_hidden_layers=2,
    )


@exercise(
    SLUG,
    properties={"shape": 1, "values": 1, "gradients": 1},
    returns="B T F",
    axes=TOKENS,
    forbids=("gelu",),
    when_right="Smooth at zero, and slightly negative to the left of it. Next it goes between two linear layers.",
)
def gelu(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, F=7)
    yield draw.case(x=draw.normal("B T F", scale=1.5))
    draw = Draw(seed, B=3, T=4, F=6)
    yield draw.case(x=draw.normal("F B T").permute(1, 2, 0), note="for an x whose memory is in another order")
    draw = Draw(seed, N=9)
    yield draw.case(x=draw.normal("N", scale=3.0), returns="N", note="for an x with a single axis")
    ends = torch.tensor([[-1e4, -40.0, -5.0, 0.0], [0.0, 5.0, 40.0, 1e4]])
    yield draw.case(x=ends, returns="", note="for very large numbers, positive and negative")


# --------------------------------------------------------------------------------------------- where dropout sits

NOTHING = "nothing is dropped"
RIGHT = "a share p is dropped, the rest divided by 1 − p"
UNSCALED = "a share p is dropped, the rest as it was"
ELSEWHERE = "there is noise, but not dropout with p at this place"


def _in_words(training: str, steady: bool) -> str:
    return f"in training mode: {training}; in eval mode: {NOTHING if steady else 'there is noise'}"


def _calmly(module: Any, case: Case) -> Any:
    """Called in eval mode, whichever mode it is in: what training changes is another property's business."""
    return (module.eval() if isinstance(module, nn.Module) else module)(*case.args.values())


def _without_dropout(module: nn.Module, x: Tensor) -> str:
    """In words: whether training mode changes anything although p is 0."""
    calm, train = module.eval()(x), module.train()(x)
    return f"for p = 0, training mode changes {'nothing' if torch.allclose(train, calm, atol=1e-5) else 'the result'}"


def _run_feed_forward(module: Any, case: Case) -> Any:
    """Run the module; or, where dropout is asked for, say what it does to the results."""
    if case.asks != "dropout":
        return _calmly(module, case)
    x, p, module = case.args["x"], case.init[0].hidden_dropout_prob, deepcopy(module).eval()
    if not p:
        return _without_dropout(module, x)
    calm, again = module(x), module(x)
    noisy = module.train()(x)
    zero, kept = noisy == 0, calm / (1 - p)
    share = zero.float().mean().item()
    alike = [(zero == zero.roll(1, axis)).float().mean().item() for axis in range(3)]  # share² + (1 − share)²
    if torch.equal(noisy, calm):
        said = NOTHING
    elif share > 0.05 and max(alike) > 0.9:
        said = "whole tokens or columns are dropped"
    elif torch.allclose(noisy, kept.where(~zero, 0.0), atol=1e-5):
        said = RIGHT if abs(share - p) < 0.1 else f"a share of {share:.1f} is dropped"
    elif torch.allclose(noisy, calm.where(~zero, 0.0), atol=1e-5):
        said = UNSCALED if abs(share - p) < 0.1 else f"a share of {share:.1f} is dropped, the rest as it was"
    else:
        said = f"a share of {share:.1f} is dropped, the rest scaled by something else" if share > 0.05 else ELSEWHERE
    return _in_words(said, torch.equal(calm, again))


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1},
    returns="B T D",
    axes=TOKENS,
    run=_run_feed_forward,
    when_right="Every token is worked on by itself, with the same two matrices; two thirds of a layer are here.",
)
def FeedForward(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=6, F=10)
    yield draw.case(init=(_config(6, 2, 10, dropout=0.1),), x=draw.normal("B T D"))
    draw = Draw(seed, B=3, T=4, D=8, F=5)
    yield draw.case(init=(_config(8, 2, 5, dropout=0.3),), x=draw.normal("B D T").transpose(1, 2), note="when F < D")
    draw = Draw(seed, D=4, F=7)
    yield draw.case(init=(_config(4, 2, 7),), x=draw.normal("D"), returns="D", note="for a single token")
    draw = Draw(seed, B=20, T=30, D=6, F=10)
    yield draw.case(init=(_config(6, 2, 10, dropout=0.4),), x=draw.normal("B T D"), asks="dropout", note="for p = 0.4")


def _run_norm(layer: Any, case: Case) -> Any:
    """Run the layer; or look at a new one's parameters; or say in words whether each token is treated by itself."""
    if case.asks == "parameters":
        new = type(layer)(*case.init)
        return dict(new.named_parameters()) if isinstance(new, nn.Module) else None
    (x,) = case.args.values()
    together = layer(x)
    if case.asks != "shape" or not isinstance(together, Tensor):
        return together
    alone = torch.cat([layer(token[None, None]).flatten() for token in x.reshape(-1, x.size(-1))])
    apart = torch.allclose(together.flatten(), alone, atol=1e-4) if together.shape == x.shape else False
    return f"shape {tuple(together.shape)}, {'each token as' if apart else 'tokens not as'} when it is alone"


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 3, "parameters": 1, "gradients": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    forbids=NORMS,
    run=_run_norm,
    when_right="Each token is normalized by itself: whoever shares its sentence or its batch makes no difference.",
)
def LayerNorm(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, D=7)
    yield draw.case(init=(7, 1e-12), x=draw.normal("B T D", scale=20.0, shift=15.0))
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B D T", scale=10.0, shift=-30.0).transpose(1, 2))
    draw = Draw(seed, D=5, T=3, B=2, H=4)
    for letters, note in (("T D", "for x with two axes"), ("B H T D", "for x with four axes"), ("D", "for one token")):
        yield draw.case(init=(5, 1e-12), x=draw.normal(letters, scale=10.0), asks="shape", note=note)
    yield draw.case(init=(4, 1e-5), asks="parameters", note="in a new layer, before any training")
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(
        init=(6, 0.02), x=draw.normal("B T D", scale=0.1, shift=1.0), asks="eps", note="when eps outweighs the variance"
    )
    same = torch.full((2, 3, 8), 0.5)
    yield draw.case(
        init=(8, 1e-3), x=same, asks="eps", sizes={"T": 3, "D": 8}, note="for a token whose numbers are all equal"
    )


LAST = {"attention": "attention.output_linear", "feed_forward": "feed_forward.linear_2"}
"""The layers whose results dropout is to reach, each the last before its addition."""


def _masked_in_words(layer: Any, case: Case) -> str:
    """In words: whether each sentence comes out of a padded batch as it does alone."""
    x, mask = case.args.values()
    padded = layer(x, mask)
    for sentence, own, length in zip(x, padded, mask.sum(dim=-1).flatten().tolist(), strict=True):
        if not torch.allclose(layer(sentence[None, :length])[0], own[:length], atol=1e-4):
            effect = "not as alone" if not torch.equal(padded, layer(x)) else "as if there were no mask"
            return f"with padding and a mask, a sentence comes out {effect}"
    return "with padding and a mask, each sentence comes out as alone"


def _run_layer(layer: Any, case: Case) -> Any:
    """Run the layer; or, where dropout is asked for, say what it does to one of the layer's two parts.

    The other part is switched off by weights of zero. A token of which dropout takes all D numbers then comes out as
    from a layer whose part adds nothing, one of which it takes none as from a part scaled by 1/(1 − p).
    """
    if case.asks != "dropout":
        return _masked_in_words(layer.eval(), case) if case.asks == "mask" else _calmly(layer, case)
    x, part = case.args["x"], case.args.get("part")
    if part is None:
        return _without_dropout(layer, x)
    other = next(name for name in LAST if name != part)
    p, width = case.init[0].hidden_dropout_prob, x.size(-1)

    layer = deepcopy(layer).eval()
    last = [q for name, q in layer.named_parameters() if name.startswith(LAST[part])]
    start = [q.detach().clone() for q in last]
    for name, parameter in layer.named_parameters():
        if name.startswith(LAST[other]):
            parameter.data.zero_()

    def with_part_times(factor: float) -> Tensor:
        for q, value in zip(last, start, strict=True):
            q.data.copy_(value * factor)
        return layer(x)

    none, kept = with_part_times(0.0), with_part_times(1 / (1 - p))
    calm, again = with_part_times(1.0), layer(x)
    noisy = layer.train()(x)

    def found(expected: Tensor) -> float:
        return torch.isclose(noisy, expected, rtol=1e-4, atol=1e-4).all(dim=-1).float().mean().item()

    def is_about(share: float, wanted: float) -> bool:
        return abs(share - wanted) < 5 * (wanted * (1 - wanted) / noisy[..., 0].numel()) ** 0.5

    if torch.equal(noisy, calm):
        said = NOTHING
    elif not is_about(found(none), p**width):
        said = "more than a share p is dropped" if found(none) > p**width else ELSEWHERE
    elif is_about(found(kept), (1 - p) ** width):
        said = RIGHT
    else:
        said = UNSCALED if is_about(found(calm), (1 - p) ** width) else ELSEWHERE
    return f"{part}, " + _in_words(said, torch.equal(calm, again))


def _layer_cases(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=12, H=3, K=4, F=20)
    yield draw.case(init=(_config(12, 3, 20, dropout=0.1),), x=draw.normal("B T D", shift=0.5))
    draw = Draw(seed, B=3, T=4, D=10, H=2, K=5, F=6)
    yield draw.case(init=(_config(10, 2, 6, dropout=0.3),), x=draw.normal("B D T", scale=2.0).transpose(1, 2))
    draw = Draw(seed, B=3, T=5, D=12, H=3, K=4, F=16)
    lengths = torch.tensor([5, 2, 3])
    mask = torch.arange(5) < lengths[:, None, None, None]  # (B, 1, 1, T)
    yield draw.case(init=(_config(12, 3, 16),), x=draw.normal("B T D"), mask=mask, asks="mask",
                    note="when a mask is given: sentences of 5, 2 and 3 tokens")  # fmt: skip
    draw = Draw(seed, B=2, T=5, D=8, H=2, K=4, F=11)
    yield draw.case(init=(_config(8, 2, 11, eps=0.3),), x=draw.normal("B T D"), asks="eps",
                    note="for layer_norm_eps = 0.3")  # fmt: skip
    draw = Draw(seed, B=20, T=25, D=3, H=1, F=8)
    yield draw.case(init=(_config(3, 1, 8),), x=draw.normal("2 5 D"), asks="dropout", note="for p = 0")
    for part in LAST:
        yield draw.case(init=(_config(3, 1, 8, dropout=0.4),), x=draw.normal("B T D"), part=part, asks="dropout",
                        note="for p = 0.4")  # fmt: skip


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "mask": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    run=_run_layer,
    when_right="x itself goes straight through, and two parts add to it. Now move the norms: the layer of 2017.",
)
def TransformerEncoderLayer(seed: int) -> Iterator[Case]:
    yield from _layer_cases(seed)


@exercise(
    SLUG,
    kind="module",
    properties={"values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "mask": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    run=_run_layer,
    when_right="This is BERT's layer, number for number: the next cell gives it BERT's weights.",
)
def PostNormEncoderLayer(seed: int) -> Iterator[Case]:
    yield from _layer_cases(seed)


@exercise(
    SLUG,
    properties={"BERT base": 1, "any sizes": 3},
    when_right="7,087,872 in each of BERT base's twelve layers: 85 million of its 110 million parameters.",
)
def count_layer_parameters(seed: int) -> Iterator[Case]:
    draw = Draw(seed, D=768, H=12, F=3072)
    yield draw.case(config=_config(768, 12, 3072), asks="BERT base", note="for BERT base")
    for width, heads, inner in ((24, 3, 40), (20, 4, 6), (18, 1, 72)):
        draw = Draw(seed, D=width, H=heads, F=inner)
        yield draw.case(config=_config(width, heads, inner), asks="any sizes",
                        note=f"for D = {width}, H = {heads}, F = {inner}")  # fmt: skip


def _one_entry(answer: Any, case: Case) -> Any:
    """One entry of the dict, or in words why there is none."""
    counted = answer(*case.args.values())
    if not isinstance(counted, dict):
        return f"{type(counted).__name__}, where a dict is asked for"
    return counted.get(case.asks, f"no entry {case.asks!r}")


@exercise(
    SLUG,
    properties={"projections": 2, "attention": 2, "feed_forward": 2},
    run=_one_entry,
    when_right="Two terms grow with T and one with T². Where do they meet? The next picture asks your function.",
)
def layer_flops(seed: int) -> Iterator[Case]:
    for length, width, heads, inner in ((5, 24, 3, 40), (11, 20, 4, 6), (1, 18, 2, 30), (512, 768, 12, 3072)):
        draw = Draw(seed, T=length, D=width, H=heads, K=width // heads, F=inner)
        for entry in ("projections", "attention", "feed_forward"):
            yield draw.case(seq_len=length, config=_config(width, heads, inner), asks=entry,
                            note=f"for T = {length}, D = {width}, H = {heads}, F = {inner}")  # fmt: skip


quiz_encoder_layer = quiz(
    SLUG,
    "quiz_encoder_layer",
    {
        "moves information between tokens": ("attention", "feed-forward network", "layer norm"),
        "mean and variance over": ("the numbers of one token", "one column of the batch", "the whole sentence"),
        "norms in BERT": ("before attention", "after the addition", "before and after"),
        "one more norm at the end": ("pre-norm", "post-norm", "both", "neither"),
        "most work for 20 tokens": ("projections", "scores and mixtures", "feed-forward network"),
    },
    when_right="One thing is still missing: nothing in this layer knows which token comes first. Notebook 06.",
)
