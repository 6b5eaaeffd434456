"""What 05-encoder-layer asks."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz
from anatomy.engine.observing.plain_data import alike

TOKENS = {"T": "tokens"}
NORMS = ("layer_norm", "batch_norm", "group_norm", "instance_norm", "native_layer_norm", "native_batch_norm",
         "native_group_norm")  # fmt: skip


def _config(width: int, heads: int, inner: int, dropout: float = 0.0, eps: float = 5e-6) -> Any:
    """A config. Its eps lies between PyTorch's 1e-5 and BERT's 1e-12: neither shows where eps is not asked for."""
    from transformers import BertConfig  # only when cases are built: it is slow to import

    return BertConfig(
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=inner,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=1.75 * dropout,
        layer_norm_eps=eps,
        num_hidden_layers=5,
    )


def _any(draw: Draw, low: int, high: int) -> int:
    return int(draw.integers("1", high + 1, low))


def any_numbers(draw: Draw) -> Case:
    axes = draw.pick("", "N", "T F", "B T F", "B H T F")
    draw.sized(B=(1, 3), H=(1, 3), T=(1, 6), F=(1, 9), N=(1, 40))
    x = draw.floats(axes).to(draw.pick(torch.float32, torch.float32, torch.float64))
    first = (0,) * x.dim()
    x[first] = x[first].abs() + 0.1  # where all results are next to nothing, each way of writing it rounds differently
    return draw.case(x=x * draw.pick(1, 1, 10, 1000), returns=axes)


@exercise(
    inputs=any_numbers,
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
    huge = torch.tensor([[-1e38, -1e20], [1e20, 1e38]])
    yield draw.case(x=huge, returns="", note="for numbers of 20 and of 38 digits")
    below_zero = torch.linspace(-6.0, 0.0, 25).reshape(1, 25, 1)  # results are small here, and so are the deviations
    yield draw.case(x=below_zero, sizes={"B": 1, "T": 25, "F": 1}, note="for numbers from −6 to 0, in shape (1, 25, 1)")
    yield draw.case(x=draw.normal(""), returns="", note="for a single number, a tensor without axes")


# --------------------------------------------------------------------------------------------- where dropout sits


def _calmly(module: Any, case: Case) -> Any:
    """Called in eval mode, whichever mode it is in: what training changes is another property's business."""
    return (module.eval() if isinstance(module, nn.Module) else module)(*case.args.values())


def _without_dropout(module: nn.Module, case: Case) -> nn.Module | None:
    """A module of the same kind and weights made for p = 0, in eval mode.

    None where it can't be made, or where one made for the same p doesn't return the same as this one: then it has more
    than its weights, or noise in eval mode.
    """
    config = copy.copy(case.init[0])
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    with contextlib.suppress(Exception):
        same, twin = type(module)(case.init[0]), type(module)(config)
        for one in (same, twin):
            one.load_state_dict(module.state_dict())
        expected, found = (one.eval()(case.args["x"].clone()) for one in (same, module))
        if torch.allclose(expected, found, atol=1e-4):
            return twin.eval()
    return None


def _undropped(module: nn.Module, case: Case) -> dict[str, Any]:
    """What a module of the same kind and weights returns in eval mode, made without dropout (p = 0), if it can be."""
    config = copy.copy(case.init[0])
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    with contextlib.suppress(Exception):
        twin = type(module)(config)
        twin.load_state_dict(module.state_dict())
        return {"undropped": twin.eval()(case.args["x"])}
    return {}


def _ends(module: nn.Module, x: Tensor) -> dict[str, Any]:
    """The bias that `linear_2` adds, and what training mode returns when nothing else comes out of that layer."""
    found = dict(module.named_parameters())
    weight, bias = (found.get(f"linear_2.{name}") for name in ("weight", "bias"))
    if weight is None or bias is None:
        return {}
    with contextlib.suppress(Exception):
        return {"bias": bias.detach(), "bias_only": functional_call(module, {"linear_2.weight": 0 * weight}, (x,))}
    return {}


def _call_feed_forward(module: Any, case: Case) -> Any:
    """The module's result in eval mode; where dropout is asked for, the results of two calls in each mode."""
    if case.asks != "dropout" or not isinstance(module, nn.Module):
        return _calmly(module, case)
    x = case.args["x"]
    with torch.enable_grad():  # as in a training loop: dropout may ask for that, where it should ask for the mode
        calm, again = module.eval()(x), module(x)
        if not isinstance(calm, Tensor):
            return calm
        noisy, noisy_again = module.train()(x), module(x)
        others = _ends(module, x) | _undropped(module, case)
        nn.ModuleList([module]).eval()  # calls the module's train(False), not its eval()
        inside = module(x)
    module.eval()
    seen = {"calm": calm, "calm_again": again, "noisy": noisy, "noisy_again": noisy_again, "inside": inside, **others}
    return {name: one.detach() if isinstance(one, Tensor) else one for name, one in seen.items()}


def any_tokens_to_work_on(draw: Draw) -> Case:
    """Some tokens in eval mode; or, so that dropout can be measured, many in both modes."""
    measured, p = draw.pick(True, False, False), draw.pick(0.0, 0.1, 0.3, 0.5, 0.6)
    if measured:
        draw.sized(B=(18, 24), T=(28, 32), D=(5, 9), F=(5, 12))
    else:
        draw.sized(B=(1, 3), H=(1, 3), T=(1, 6), D=(1, 12), F=(1, 20))
    axes = "B T D" if measured else draw.pick("D", "T D", "B T D", "B H T D")
    init, x = (_config(draw.sizes["D"], 1, draw.sizes["F"], p),), draw.floats(axes, "plain", "wide", "negative")
    return draw.case(init=init, x=x, returns=axes, asks="dropout" if measured else None)


@exercise(
    inputs=any_tokens_to_work_on,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1},
    returns="B T D",
    axes=TOKENS,
    act=_call_feed_forward,
    when_right="Every token is worked on by itself, with the same two matrices; two thirds of a layer are here.",
)
def FeedForward(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=6, F=10)
    yield draw.case(init=(_config(6, 2, 10, dropout=0.1),), x=draw.normal("B T D"))
    draw = Draw(seed, B=3, T=4, D=8, F=5)
    yield draw.case(init=(_config(8, 2, 5, dropout=0.3),), x=draw.normal("B D T").transpose(1, 2), note="when F < D")
    draw = Draw(seed, D=4, F=7)
    yield draw.case(init=(_config(4, 2, 7),), x=draw.normal("D"), returns="D", note="for a single token")
    draw = Draw(seed, B=1, T=1, D=6, F=6)
    yield draw.case(init=(_config(6, 2, 6),), x=draw.normal("B T D"), note="for one sentence of one token, when F = D")
    draw = Draw(seed, B=20, T=30, D=6, F=10)
    yield draw.case(init=(_config(6, 2, 10, dropout=0.4),), x=draw.normal("B T D"), asks="dropout", note="for p = 0.4")


ALONE = "each token alone"
"""The property of a norm that any leading axes will do, and that a token's result is the same without the others."""


def _start(layer: Any, name: str) -> Any:
    """What a new layer has under this name, if that is a tensor; as numbers, whether it is a parameter, and learned."""
    value = getattr(layer, name, None)
    if not isinstance(value, Tensor):
        return None
    return {"tensor": value, "parameter": int(isinstance(value, nn.Parameter)), "learned": int(value.requires_grad)}


def _call_norm(layer: Any, case: Case) -> Any:
    """The layer's result, where that is asked for also each token's alone, or the gradient; or how a new one starts."""
    if case.asks == "parameters":
        new = type(layer)(*case.init)
        names = [name for name, _ in new.named_parameters()] if isinstance(new, nn.Module) else []
        return {name: _start(new, name) for name in dict.fromkeys(("weight", "bias", *names))}
    (x,) = case.args.values()
    together = layer(x)
    if case.asks not in (ALONE, "eps") or not isinstance(together, Tensor):
        return together
    if case.asks == "eps":
        with torch.enable_grad(), contextlib.suppress(Exception):  # whether gradients flow is another property
            leaf = x.detach().clone().requires_grad_()
            (slope,) = torch.autograd.grad(layer(leaf.clone()).square().sum(), [leaf])
            return {"result": together, "slope": slope}
        return together
    with torch.no_grad():
        alone = torch.cat([layer(token[None, None]).flatten() for token in x.reshape(-1, x.size(-1))])
        in_training = layer.train()(x) if isinstance(layer, nn.Module) else together
    if isinstance(layer, nn.Module):
        layer.eval()
    return {"together": together.detach(), "alone": alone, "in_training": in_training}


def any_tokens_to_norm(draw: Draw) -> Case:
    """Tokens near zero or far from it, or with one number far off. Only where eps is large may all of one be equal."""
    asks, axes = draw.pick(None, None, ALONE, "eps", "parameters"), draw.pick("D", "T D", "B T D", "B H T D")
    draw.sized(B=(1, 3), H=(1, 3), T=(1, 8), D=draw.pick((4, 12), (4, 12), (12, 130)))
    eps = draw.pick(0.01, 0.3, 1e-12) if asks == "eps" else draw.pick(1e-12, 1e-5)
    if asks == "parameters":
        return draw.case(init=(draw.whole(1, 300), eps), asks=asks)
    tiny = asks == "eps" and eps == 1e-12
    forms = ("plain", "alike", "whole") if asks == "eps" and not tiny else ("plain", "wide", "negative")
    if asks == "eps" and not tiny and draw.pick(True, False, False):
        draw.sizes["D"] = 1
    x = draw.floats(axes, *forms) * (0.001 if tiny else 1)
    if asks is None:  # tokens may lie on both sides of 0
        x = (
            x
            + draw.pick(0, 0, 30, 1000) * (2 * torch.randint(2, x.shape[:-1], generator=draw.generator) - 1)[..., None]
        )
    x[..., 0] += draw.pick(0, 0, 200) if asks is None else 0
    return draw.case(init=(draw.sizes["D"], eps), x=x, returns=axes, asks=asks)


@exercise(
    inputs=any_tokens_to_norm,
    kind="module",
    properties={ALONE: 1, "values": 3, "parameters": 1, "gradients": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    forbids=NORMS,
    act=_call_norm,
    when_right="Each token is normalized by itself: what else is in its sentence or batch makes no difference.",
)
def LayerNorm(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, D=7)
    yield draw.case(init=(7, 1e-12), x=draw.normal("B T D", scale=20.0, shift=15.0))
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B D T", scale=10.0, shift=-30.0).transpose(1, 2))
    draw = Draw(seed, B=1, T=1, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B T D", scale=10.0), note="for one sentence of one token")
    draw = Draw(seed, B=1, T=5, D=5)
    yield draw.case(init=(5, 1e-12), x=draw.normal("B T D", scale=10.0), note="for as many tokens as each has numbers")
    draw = Draw(seed, B=2, T=3, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B T D", shift=60.0), note="for numbers around 60")
    draw = Draw(seed, B=1, T=2, D=120)
    x = draw.normal("B T D", scale=10.0)
    x[..., 7] += 1000.0
    yield draw.case(init=(120, 1e-12), x=x, note="for tokens with one number far from the others")
    draw = Draw(seed, D=5, T=3, B=2, H=4)
    for letters, note in (("T D", "for x with two axes"), ("B H T D", "for x with four axes"), ("D", "for one token")):
        yield draw.case(init=(5, 1e-12), x=draw.normal(letters, scale=10.0), asks=ALONE, note=note)
    x = draw.normal("T D", scale=10.0)
    x[1] = 2.0
    yield draw.case(init=(5, 0.01), x=x, asks=ALONE, note="for a token of equal numbers between others")
    width = _any(draw, 8, 200)
    yield draw.case(init=(width, 1e-5), asks="parameters", note="in a new layer, before any training")
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(
        init=(6, 0.02), x=draw.normal("B T D", scale=0.1, shift=1.0), asks="eps", note="when eps outweighs the variance"
    )
    draw = Draw(seed, B=2, T=3, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B T D", scale=0.001), asks="eps", note="for tiny numbers and eps")
    same = torch.full((2, 3, 8), 0.5)
    yield draw.case(
        init=(8, 1e-3), x=same, asks="eps", sizes={"T": 3, "D": 8}, note="for a token whose numbers are all equal"
    )
    draw = Draw(seed, B=2, T=4, D=1)
    yield draw.case(init=(1, 1e-3), x=draw.normal("B T D"), asks="eps", note="for a width of 1")


LAST = {"attention": "attention.output_linear", "feed_forward": "feed_forward.linear_2"}
"""The layers whose results dropout must reach, each the last before its addition."""


def _kept_with_a_mask(layer: nn.Module, case: Case) -> list[str]:
    """The parts of which training mode drops something without a mask, and with one nothing."""
    (x, mask), config, found = case.args.values(), copy.copy(case.init[0]), []
    config.hidden_dropout_prob = 0.5
    with contextlib.suppress(Exception):
        for part in LAST:
            twin, off = type(layer)(config), tuple(name for other, name in LAST.items() if other != part)
            twin.load_state_dict({k: v * 0 if k.startswith(off) else v for k, v in layer.state_dict().items()})
            calm = twin.eval()(x), twin(x, mask)
            twin.train()
            free, masked = (
                any(not alike(twin(*args), result) for _ in range(4))
                for args, result in zip(((x,), (x, mask)), calm, strict=True)
            )
            if free and not masked:
                found.append(part)
    return found


def _masked(layer: Any, case: Case) -> Any:
    """What the layer returns for a padded batch: with its mask, without, with others, and for each sentence alone."""
    x, mask = case.args.values()
    padded = _calmly(layer, case)
    if not isinstance(padded, Tensor):
        return padded
    lengths = mask.sum(dim=-1).flatten().tolist()
    results = {
        "padded": padded,
        "alone": [layer(one[None, :length]) for one, length in zip(x, lengths, strict=True)],
        "padding_moved": layer(x + ~mask[:, 0, 0, :, None], mask),
        "without": layer(x),
    }
    numbers = mask.float()
    others = {"turned_round": ~mask, "nothing_hidden": mask | True, "numbers": numbers, "numbers_plus_1": numbers + 1}
    for name, other in others.items():
        with contextlib.suppress(Exception):  # an answer may refuse masks other than the one that it was written for
            results[name] = layer(x, other)
    if isinstance(layer, nn.Module):
        results["kept"] = _kept_with_a_mask(layer, case)
        results["in_training"] = layer.train()(x, mask)
        layer.eval()
    return results


def _with_zeros(layer: Any, case: Case) -> Any:
    """What the layer returns without a mask for tokens of zeros among others, and where they are next to 0 instead."""
    (x,) = case.args.values()
    zeros = _calmly(layer, case)
    return {"zeros": zeros, "next_to_0": layer(x + 1e-6 * (x == 0))} if isinstance(zeros, Tensor) else zeros


def _call_layer(layer: Any, case: Case) -> Any:
    """The layer's result in eval mode, or its results with a mask; or with dropout, part by part."""
    if case.asks == "mask":
        with torch.no_grad():
            return _masked(layer, case) if "mask" in case.args else _with_zeros(layer, case)
    if case.asks != "dropout" or not isinstance(layer, nn.Module):
        return _calmly(layer, case)
    x, part = case.args["x"], case.args.get("part")
    with torch.no_grad():
        calm = layer.eval()(x)
        if not isinstance(calm, Tensor):
            return calm
        if part is not None:
            p, twin = case.init[0].hidden_dropout_prob, _without_dropout(layer, case)
            return part_outputs(layer, (x,), part, p, LAST, twin)
        noisy = layer.train()(x)
    layer.eval()
    return {"calm": calm, "noisy": noisy}


def shares(p: float) -> list[float]:
    """Shares of which a part may be dropped: p, what is left out where p is dropped twice, and the other tenths."""
    return [p, 1 - (1 - p) ** 2, *(n / 10 for n in range(1, 9) if n != 10 * p)]


@torch.no_grad()
def part_outputs(
    layer: nn.Module,
    inputs: tuple[Tensor, ...],
    part: str,
    p: float,
    last_layers: Mapping[str, str],
    twin: nn.Module | None = None,
) -> dict[str, Any]:
    """What the layer returns for these inputs while one of its parts works and the others are off, by weights of zero.

    Parameters
    ----------
    twin
        The same layer without dropout, which takes its place in eval mode, if it could be made.

    Returns
    -------
    dict
        In eval mode ``"calm"``, once more ``"calm_again"``, and ``"off"``, where the part is off, too; in training mode
        ``"noisy"``, ``"noisy_again"`` and ``"off_in_training"``; and ``"scaled"``, in eval mode, with the part's result
        divided by 1 − share, one for each of the `shares`. With a twin the layer's own result in eval mode is
        ``"in_eval_mode"``. Empty where the part's last layer is missing.
    """
    last = {
        name: (q.detach(), float(name.startswith(last_layers[part])))
        for name, q in layer.named_parameters(remove_duplicate=False)
        if name.startswith(tuple(last_layers.values()))
    }
    if not any(own for _, own in last.values()):
        return {}

    def with_part_times(factor: float, one: nn.Module, training: bool = False) -> Any:
        one.train(training)
        weights = {name: q * (factor * own) for name, (q, own) in last.items()}
        # tied, a layer with two names is not restored
        return functional_call(one, weights, tuple(value.clone() for value in inputs), tie_weights=False)

    calm, whole = (with_part_times(factor, layer) for factor in (1.0, 1 / (1 - p)))
    noisy = with_part_times(1.0, layer, training=True)
    for _ in range(6):  # where nothing is dropped, all may be at another call
        if not (alike(noisy, calm) or alike(noisy, whole)):
            break
        noisy = with_part_times(1.0, layer, training=True)
    quiet = twin or layer
    outputs = {
        "calm": with_part_times(1.0, quiet),
        "noisy": noisy,
        "noisy_again": with_part_times(1.0, layer, training=True),
        "scaled": [with_part_times(1 / (1 - share), quiet) for share in shares(p)],
        "off": with_part_times(0.0, quiet),
        "calm_again": with_part_times(1.0, quiet),
        "off_in_training": with_part_times(0.0, layer, training=True),
    }
    layer.eval()
    return {**outputs, "in_eval_mode": calm} if twin else outputs


def _layer_cases(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=6, D=12, H=3, K=4, F=20)
    yield draw.case(init=(_config(12, 3, 20, dropout=0.1),), x=draw.normal("B T D", scale=4.0, shift=0.5))
    draw = Draw(seed, B=3, T=4, D=10, H=2, K=5, F=6)
    yield draw.case(init=(_config(10, 2, 6, dropout=0.3),), x=draw.normal("B D T", scale=4.0).transpose(1, 2))
    draw = Draw(seed, B=1, T=1, D=8, H=2, K=4, F=8)
    yield draw.case(
        init=(_config(8, 2, 8),), x=draw.normal("B T D", scale=6.0), note="for one sentence of one token, when F = D"
    )
    draw = Draw(seed, B=2, T=5, D=6, H=2, K=3, F=9)
    x = draw.normal("B T D", scale=4.0)
    x[0, 2] = x[1, 4] = 0.0
    yield draw.case(init=(_config(6, 2, 9),), x=x, asks="mask", note="for tokens of zeros among others, without a mask")
    length = _any(Draw(seed), 5, 16)
    draw = Draw(seed, B=3, T=length, D=12, H=3, K=4, F=16)
    lengths = torch.tensor([length, *(2 + draw.permutation(length - 2)[:2]).tolist()])[draw.permutation(3)]
    mask = torch.arange(length) < lengths[:, None, None, None]  # (B, 1, 1, T)
    first, second, third = lengths.tolist()
    yield draw.case(init=(_config(12, 3, 16),), x=draw.normal("B T D"), mask=mask, asks="mask",
                    note=f"when a mask is given: sentences of {first}, {second} and {third} tokens")  # fmt: skip
    draw = Draw(seed, B=2, T=5, D=8, H=2, K=4, F=11)
    yield draw.case(init=(_config(8, 2, 11, eps=0.3),), x=draw.normal("B T D", scale=0.003), asks="eps",
                    note="for layer_norm_eps = 0.3")  # fmt: skip
    draw = Draw(seed, B=24, T=40, D=3, H=1, F=8)
    yield draw.case(init=(_config(3, 1, 8),), x=draw.normal("B T D"), asks="dropout", note="for p = 0")
    for part in LAST:
        yield draw.case(init=(_config(3, 1, 8, dropout=0.4),), x=draw.normal("B T D"), part=part, asks="dropout",
                        once=True, note="for p = 0.4")  # fmt: skip


def any_sentences(draw: Draw) -> Case:
    """Sentences without a mask, with padding at their ends, or with hidden tokens anywhere."""
    draw.sized(B=(1, 4), T=(1, 9), H=(1, 4), K=(2, 5), F=(1, 20))
    width, heads, inner = draw.sizes["H"] * draw.sizes["K"], draw.sizes["H"], draw.sizes["F"]
    eps, p = draw.pick(5e-6, 5e-6, 0.3), draw.pick(0.0, 0.1, 0.5)
    x = draw.floats(f"B T {width}", "plain", "wide", "negative") * (0.1 if eps == 0.3 else 1)
    seen = draw.integers("B T", 2).bool()
    seen = draw.pick(seen, seen.sort(dim=1, descending=True).values)  # (B, T)
    seen[:, 0] = True  # no sentence is empty
    mask = {"mask": seen[:, None, None]} if draw.pick(True, False) else {}  # (B, 1, 1, T)
    asks = None if mask else "eps" if eps == 0.3 else draw.pick(None, None, "mask")
    if asks == "mask":
        x = x * draw.integers("B T 1", 5).sign()  # some tokens are all zeros
    return draw.case(init=(_config(width, heads, inner, p, eps),), x=x, **mask, asks=asks, sizes={"D": width})


@exercise(
    inputs=any_sentences,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "mask": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    act=_call_layer,
    when_right="x itself goes straight through, and two parts add to it. Now move the norms: the layer of 2017.",
)
def TransformerEncoderLayer(seed: int) -> Iterator[Case]:
    yield from _layer_cases(seed)


@exercise(
    inputs=any_sentences,
    kind="module",
    properties={"values": 1, "parameters": 1, "gradients": 1, "dropout": 1, "mask": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    act=_call_layer,
    when_right="This is BERT's layer, number for number: the next cell gives it BERT's weights.",
)
def PostNormEncoderLayer(seed: int) -> Iterator[Case]:
    yield from _layer_cases(seed)


def _counted(answer: Any, case: Case) -> Any:
    """The count; a number of NumPy's with its type, which plain data do not have."""
    count = answer(*case.args.values())
    return {"number": count.item(), "type": str(count.dtype)} if isinstance(count, np.generic) else count


def _sizes(seed: int, *heads: int) -> Iterator[tuple[int, int, int]]:
    """Width, heads and inner width for each number of heads: another's multiple of the width is no inner width."""
    draw = Draw(seed)
    for number in heads:
        width = number * _any(draw, 5, 19)
        yield width, number, width * _any(draw, 1, 4) + _any(draw, 1, width - 1)


def _any_config(draw: Draw) -> Any:
    draw.sized(T=draw.pick((1, 30), (1, 5000)), H=(1, 12), K=(1, 20), F=draw.pick((1, 60), (1, 900)))
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]
    draw.sizes["F"] = draw.pick(draw.sizes["F"], draw.sizes["F"], draw.sizes["F"], draw.sizes["D"])
    return _config(draw.sizes["D"], draw.sizes["H"], draw.sizes["F"])


def any_layer_to_count(draw: Draw) -> Case:
    return draw.case(config=_any_config(draw), asks="any sizes")


@exercise(
    inputs=any_layer_to_count,
    properties={"BERT base": 1, "any sizes": 4},
    act=_counted,
    when_right="7,087,872 in each of BERT base's twelve layers: 85 million of its 109 million parameters.",
)
def count_layer_parameters(seed: int) -> Iterator[Case]:
    draw = Draw(seed, D=768, H=12, F=3072)
    yield draw.case(config=_config(768, 12, 3072), asks="BERT base", note="for BERT base")
    *general, (narrow, few, _), (square, one, _) = _sizes(seed, 3, 4, 1)
    sizes = (*general, (narrow, few, narrow // 3), (square, one, 4 * square), (narrow, few, narrow))
    for width, heads, inner in sizes:
        draw = Draw(seed, D=width, H=heads, F=inner)
        yield draw.case(config=_config(width, heads, inner), asks="any sizes",
                        note=f"for D = {width}, H = {heads}, F = {inner}")  # fmt: skip


def _entries(answer: Any, case: Case) -> Any:
    """The dict that the answer returns; what is none, by its type."""
    counted = answer(*case.args.values())
    if counted is None:
        return None
    return {"type": type(counted).__name__, "entries": counted if isinstance(counted, dict) else None}


def any_layer_to_time(draw: Draw) -> Case:
    config, asks = _any_config(draw), draw.pick("entries", "projections", "attention", "feed_forward")
    return draw.case(seq_len=draw.sizes["T"], config=config, asks=asks)


@exercise(
    inputs=any_layer_to_time,
    properties={"entries": 1, "projections": 2, "attention": 2, "feed_forward": 1},
    act=_entries,
    when_right="Two terms grow with T and one with T². Where do they meet? The next picture asks your function.",
)
def layer_flops(seed: int) -> Iterator[Case]:
    (wide, three, large), (narrow, four, _), (single, two, middle) = _sizes(seed, 3, 4, 2)
    draw = Draw(seed, D=wide)
    short, long = _any(draw, 4, wide - 1), narrow + _any(draw, 1, 30)
    for length, width, heads, inner in (
        (short, wide, three, large), (long, narrow, four, narrow // 3), (1, single, two, middle), (512, 768, 12, 3072),
        (512 + short, wide, three, large),
    ):  # fmt: skip
        draw = Draw(seed, T=length, D=width, H=heads, K=width // heads, F=inner)
        for entry in ("entries", "projections", "attention", "feed_forward"):
            yield draw.case(seq_len=length, config=_config(width, heads, inner), asks=entry,
                            note=f"for T = {length}, D = {width}, H = {heads}, F = {inner}")  # fmt: skip


quiz_encoder_layer = quiz(
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
