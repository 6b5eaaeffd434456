"""What 04-heads asks."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

TOKENS = {"T": "tokens"}
WHOLE, DOUBLE = "for whole numbers", "for x in float64"
LARGE = "when scores lie around −100 and +100"


def _config(width: int, heads: int) -> Any:
    from transformers import BertConfig  # only when cases are built: it is slow to import

    return BertConfig(hidden_size=width, num_attention_heads=heads, num_hidden_layers=heads + 2)


def _turned(draw: Draw) -> Tensor:
    """(B, T, D) whose memory is laid out as (B, D, T)."""
    return draw.normal("B D T").transpose(1, 2)


def any_head(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=draw.pick((1, 8), (1, 8), (17, 80)), D=(1, 12), K=(1, 12))
    return draw.case(init=(draw.sizes["D"], draw.sizes["K"]), x=draw.floats("B T D"))


@exercise(
    inputs=any_head,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1},
    returns="B T K",
    axes=TOKENS | {"K": "head width"},
    when_right="One head: D numbers per token in, K out. Next, several of them look at the same tokens side by side.",
)
def AttentionHead(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=24, K=8)
    yield draw.case(init=(24, 8), x=draw.normal("B T D"))
    draw = Draw(seed, B=3, T=4, D=6, K=10)
    yield draw.case(init=(6, 10), x=_turned(draw), note="when the head is wider than the tokens")
    draw = Draw(seed, B=2, T=1, D=9, K=5)
    yield draw.case(init=(9, 5), x=draw.normal("B T D"), note="for a single token")
    draw = Draw(seed, B=1, T=4, D=3, K=1)
    yield draw.case(init=(3, 1), x=draw.normal("B T D"), note="for one sentence and a head of width 1")
    draw = Draw(seed, B=3, T=9, D=7, K=6)
    yield draw.case(init=(7, 6), x=draw.normal("B T D", scale=8), note=LARGE)


def _share_out(draw: Draw) -> None:
    """Sizes of H heads of width K = D / H: now and then a single head, many, or some of width 1."""
    draw.sized(B=(1, 4), T=draw.pick((1, 8), (1, 8), (17, 80)), H=draw.pick((1, 6), (1, 6), (1, 6), (11, 14)), K=(1, 7))
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]


def any_heads(draw: Draw) -> Case:
    _share_out(draw)
    return draw.case(init=(_config(draw.sizes["D"], draw.sizes["H"]),), x=draw.floats("B T D"))


@exercise(
    inputs=any_heads,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1},
    returns="B T D",
    axes=TOKENS,
    when_right="Every head sees every token, and output_linear mixes what they found. Now for the same without a loop.",
)
def MultiHeadAttention(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=24, H=3, K=8)
    yield draw.case(init=(_config(24, 3),), x=draw.normal("B T D"))
    draw = Draw(seed, B=3, T=7, D=20, H=4, K=5)
    yield draw.case(init=(_config(20, 4),), x=_turned(draw))
    yield from _few(seed)


def _few(seed: int) -> Iterator[Case]:
    """A single head, and a single token; heads of width 1, a single sentence, and a token of zeros in it."""
    draw = Draw(seed, B=2, T=1, D=6, H=1, K=6)
    yield draw.case(init=(_config(6, 1),), x=draw.normal("B T D"), note="for a single head")
    draw = Draw(seed, B=1, T=3, D=4, H=4, K=1)
    x = draw.normal("B T D")
    x[:, 1] = 0.0
    yield draw.case(init=(_config(4, 4),), x=x, note="for heads of width 1 and a token of zeros")


def _numbers(draw: Draw, letters: str) -> Tensor:
    """Mostly floats, and now and then whole numbers."""
    return draw.pick(draw.floats(letters), draw.floats(letters), draw.laid_out(draw.integers(letters, 100)))


def any_x_to_split(draw: Draw) -> Case:
    _share_out(draw)
    return draw.case(x=_numbers(draw, "B T D"), num_heads=draw.sizes["H"])


@exercise(
    inputs=any_x_to_split,
    properties={"shape": 1, "values": 1, "gradients": 1},
    returns="B H T K",
    axes=TOKENS,
    when_right="Splitting needs no arithmetic: it only says which columns are whose. The way back is next.",
)
def split_heads(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=24, H=3, K=8)
    yield draw.case(x=draw.normal("B T D"), num_heads=3)
    draw = Draw(seed, B=3, T=7, D=20, H=4, K=5)
    yield draw.case(x=_turned(draw), num_heads=4, note="for an x whose memory is in another order")
    draw = Draw(seed, B=2, T=3, D=6, H=1, K=6)
    yield draw.case(x=draw.normal("B T D"), num_heads=1, note="for a single head")
    draw = Draw(seed, B=1, T=1, D=5, H=5, K=1)
    yield draw.case(x=draw.normal("B T D"), num_heads=5, note="for a single token and heads of width 1")
    draw = Draw(seed, B=2, T=4, D=6, H=2, K=3)
    yield draw.case(x=draw.integers("B T D", 100), num_heads=2, note=WHOLE)
    yield draw.case(x=draw.normal("B T D").double(), num_heads=2, note=DOUBLE)


def any_x_to_merge(draw: Draw) -> Case:
    _share_out(draw)
    return draw.case(x=_numbers(draw, "B H T K"))


@exercise(
    inputs=any_x_to_merge,
    properties={"shape": 1, "values": 1, "gradients": 1},
    returns="B T D",
    axes=TOKENS,
    when_right="It undoes split_heads, and it also takes what attention makes, whose memory is in another order.",
)
def merge_heads(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=24, H=3, K=8)
    yield draw.case(x=draw.normal("B H T K"))
    draw = Draw(seed, B=3, T=7, D=20, H=4, K=5)
    yield draw.case(x=draw.normal("B T H K").transpose(1, 2), note="for an x fresh from split_heads")
    draw = Draw(seed, B=3, T=2, D=6, H=1, K=6)
    yield draw.case(x=draw.normal("B H T K"), note="for a single head")
    draw = Draw(seed, B=1, T=1, D=5, H=5, K=1)
    yield draw.case(x=draw.normal("B H T K"), note="for a single token and heads of width 1")
    draw = Draw(seed, B=2, T=4, D=6, H=2, K=3)
    yield draw.case(x=draw.integers("B H T K", 100), note=WHOLE)
    yield draw.case(x=draw.normal("B H T K").double(), note=DOUBLE)


def _call_unless_refused(module: Any, case: Case) -> Any:
    """Call it; of a module that was to be refused, all that is seen is that it was built."""
    return "built" if case.asks == "refusal" else module(*case.args.values())


def any_heads_or_refusal(draw: Draw) -> Case:
    if draw.pick(True, True, False):
        return any_heads(draw)
    draw.sized(B=(1, 4), T=(1, 8), H=(2, 40), D=(1, 99))
    if draw.sizes["D"] % draw.sizes["H"] == 0:
        draw.sizes["D"] += 1
    width, heads = draw.sizes["D"], draw.sizes["H"]
    names = (str(width), str(heads))
    return draw.case(init=(_config(width, heads),), x=draw.floats("B T D"), asks="refusal", message_names=names)


@exercise(
    inputs=any_heads_or_refusal,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "refusal": 1},
    returns="B T D",
    axes=TOKENS,
    act=_call_unless_refused,
    when_right="All heads in one product, and a width that doesn't divide is refused before it does harm.",
)
def FusedMultiHeadAttention(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=24, H=3, K=8)
    yield draw.case(init=(_config(24, 3),), x=draw.normal("B T D"))
    draw = Draw(seed, B=3, T=7, D=20, H=4, K=5)
    yield draw.case(init=(_config(20, 4),), x=_turned(draw))
    yield from _few(seed)
    draw = Draw(seed, B=3, T=9, D=12, H=2, K=6)
    yield draw.case(init=(_config(12, 2),), x=draw.normal("B T D", scale=8), note=LARGE)
    draw = Draw(seed)
    heads, head_dim, times = (int(draw.integers("1", high, low)) for low, high in ((4, 12), (3, 9), (2, 5)))
    rest = int(draw.integers("1", heads, 1))
    for width, number in ((heads * head_dim + rest, heads), (head_dim, times * head_dim)):  # in the second, D divides H
        draw, names = Draw(seed, B=2, T=3, D=width, H=number), (str(width), str(number))
        init, note = (_config(width, number),), f"for D = {width} and H = {number}"
        yield draw.case(init=init, x=draw.normal("B T D"), asks="refusal", note=note, message_names=names)


class Layers(nn.Module):
    """Named layers and nothing else: what `copy_heads` may rely on is attribute names."""

    def __init__(self, **layers: nn.Module) -> None:
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)


def _linear(draw: Draw, inputs: int, outputs: int) -> nn.Linear:
    layer = nn.utils.skip_init(nn.Linear, inputs, outputs)
    with torch.no_grad():
        layer.weight.copy_(draw.normal(f"{outputs} {inputs}"))
        layer.bias.copy_(draw.normal(f"{outputs}"))
    return layer


def _loop_and_fused(draw: Draw, order: str = "qkv") -> dict[str, Any]:
    """Two modules; `order` is that of the layers q, k, v. In another one than qkv, output layers come first."""
    width, head_dim = draw.sizes["D"], draw.sizes["K"]
    heads = [Layers(**{name: _linear(draw, width, head_dim) for name in order}) for _ in range(draw.sizes["H"])]
    parts: dict[str, nn.Module] = {"heads": nn.ModuleList(heads), "output_linear": _linear(draw, width, width)}
    loop = Layers(**(parts if order == "qkv" else dict(reversed(parts.items()))))
    names = (*order, "output_linear") if order == "qkv" else ("output_linear", *order)
    return {"loop": loop, "fused": Layers(**{name: _linear(draw, width, width) for name in names})}


def _copy_and_look(answer: Any, case: Case) -> Any:
    """Run `copy_heads` on stand-ins, as outside a check: with gradients recorded. What it returns does not matter."""
    loop, fused = deepcopy(case.args["loop"]), deepcopy(case.args["fused"])
    with torch.enable_grad():
        answer(loop, fused)
        still = torch.is_grad_enabled()
    if case.asks == "independence":
        return _before_and_after(loop, fused, still)
    layers = ("output_linear",) if case.asks == "output layer" else ("q", "k", "v")
    return {f"{name}.{part}": getattr(getattr(fused, name), part) for name in layers for part in ("weight", "bias")}


def _before_and_after(loop: nn.Module, fused: nn.Module, with_gradients: bool) -> dict[str, Any]:
    """Both modules' weights, which of them can be trained, and fused's again when all of the loop's have changed."""
    found = {"loop": numbers(loop), "fused": numbers(fused)}
    trainable: dict[str, Any] = {
        name: {key: int(value.requires_grad and value.is_leaf) for key, value in module.named_parameters()}
        for name, module in (("loop", loop), ("fused", fused))
    }
    trainable["gradients are on"] = int(with_gradients)
    for change in loop.parameters():
        change.data.add_(1.0)
    return {**found, "trainable": trainable, "later": numbers(fused)}


def numbers(module: nn.Module) -> dict[str, Tensor]:
    """A copy of each parameter, under each of its names."""
    return {name: parameter.detach().clone() for name, parameter in module.named_parameters(remove_duplicate=False)}


def any_heads_to_copy(draw: Draw) -> Case:
    draw.sized(H=draw.pick(*4 * [(1, 4)], (11, 12)), K=(1, 6))  # mostly few: it takes long to make their layers
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]
    order = draw.pick("qkv", "qkv", "kvq", "vqk")
    return draw.case(**_loop_and_fused(draw, order), asks=draw.pick("q, k, v", "output layer", "independence"))


@exercise(
    inputs=any_heads_to_copy,
    properties={"q, k, v": 3, "output layer": 1, "independence": 1},
    act=_copy_and_look,
    when_right="The same weights in both: any difference between loop and fused would now be a mistake in one.",
)
def copy_heads(seed: int) -> Iterator[Case]:
    draw = Draw(seed, D=24, H=3, K=8)
    for asks in ("q, k, v", "output layer", "independence"):
        yield draw.case(**_loop_and_fused(draw), asks=asks)
    draw = Draw(seed, D=20, H=4, K=5)
    yield draw.case(**_loop_and_fused(draw), asks="q, k, v")
    draw = Draw(seed, D=24, H=12, K=2)
    yield draw.case(**_loop_and_fused(draw), asks="q, k, v", note="for twelve heads")
    draw = Draw(seed, D=6, H=1, K=6)
    yield draw.case(**_loop_and_fused(draw), asks="independence", note="for a single head")
    draw = Draw(seed, D=24, H=3, K=8)
    for asks in ("q, k, v", "output layer"):
        yield draw.case(**_loop_and_fused(draw, "vqk"), asks=asks, note="for layers made in another order")


quiz_heads = quiz(
    "quiz_heads",
    {
        "input of a head": ("its own slice of each token", "all columns of every token", "its own share of the tokens"),
        "parameters from 1 head to 12": ("grow twelvefold", "stay the same", "shrink to a twelfth"),
        "first sum across heads": ("the softmax", "the concatenation", "output_linear"),
        "bias without effect": ("bias of q", "bias of k", "bias of v"),
    },
    when_right="Notebook 05 wraps this module into the layer that BERT repeats twelve times.",
)
