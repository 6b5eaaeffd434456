"""What 14-since-gpt-2 asks.

The models on which answers are tried are the judge's own, with the names of the contract and none of its code.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from anatomy.course.nb03_softmax import asked as notebook_03
from anatomy.course.nb05_encoder_layer.asked import NORMS
from anatomy.course.nb09_causal_mask.asked import Parts
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

TOKENS = {"T": "tokens"}
GROUPS = {**TOKENS, "G": "groups"}


def _config(draw: Draw, eps: float = 5e-6, bias: bool = False, tied: bool = False, base: float = 10000.0) -> Any:
    """A config whose sizes are the draw's. H divides D, as the library wants it; heads need not be D / H wide.

    Its eps lies between 1e-5 and 1e-6 and shows in no result where eps is not asked for.
    """
    from transformers import LlamaConfig  # only when cases are built: it is slow to import

    letters = {"vocab_size": "V", "hidden_size": "D", "num_attention_heads": "H", "num_key_value_heads": "G",
               "head_dim": "K", "intermediate_size": "F", "num_hidden_layers": "L"}  # fmt: skip
    sizes = {name: draw.sizes[letter] for name, letter in letters.items() if letter in draw.sizes}
    sizes = {"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 2, **sizes}
    rope = {"rope_theta": base, "rope_type": "default"}
    return LlamaConfig(**sizes, rms_norm_eps=eps, attention_bias=bias, tie_word_embeddings=tied, rope_parameters=rope)


# ---------------------------------------------------------------------------------------------- RMSNorm


def _call_norm(layer: Any, case: Case) -> Any:
    """The layer's result; or the parameters that a new one has; or which entries of the gradient are numbers."""
    if case.asks == "gradients":
        x = case.args["x"].clone().requires_grad_()
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(layer(x).sum(), x)
        return gradient.isfinite()
    if case.asks != "parameters":
        return layer(case.args["x"])
    new = type(layer)(*case.init)
    return {name: one.detach() for name, one in new.named_parameters()} if isinstance(new, nn.Module) else {}


def any_tokens_to_norm(draw: Draw) -> Case:
    asks, axes = draw.pick(None, None, None, "eps", "parameters"), draw.pick("D", "T D", "B T D", "B H T D")
    draw.sized(B=(1, 3), H=(1, 3), T=(1, 8), D=(2, 12))
    eps = draw.pick(0.01, 0.3) if asks == "eps" else draw.pick(1e-12, 1e-6)
    if asks == "parameters":
        return draw.case(init=(draw.whole(1, 300), eps), asks=asks)
    x = draw.floats(axes, *("plain", "alike", "whole") if asks == "eps" else ("plain", "wide", "negative"))
    return draw.case(init=(draw.sizes["D"], eps), x=x + draw.pick(0, 0, 3, -30), returns=axes, asks=asks)


@exercise(
    inputs=any_tokens_to_norm,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    forbids=(*NORMS, "rms_norm"),
    act=_call_norm,
    when_right="One statistic instead of two, and one learned row instead of two.",
)
def RMSNorm(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=5, D=7)
    yield draw.case(init=(7, 1e-12), x=draw.normal("B T D", scale=3.0, shift=2.0))
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B D T", scale=10.0, shift=-3.0).transpose(1, 2))
    draw = Draw(seed, B=1, T=1, D=6)
    yield draw.case(init=(6, 1e-12), x=draw.normal("B T D"), note="for one text of one token")
    draw = Draw(seed, D=5, T=3, B=2, H=4)
    for letters, note in (("T D", "for x with two axes"), ("B H T D", "for x with four axes"), ("D", "for one token")):
        yield draw.case(init=(5, 1e-12), x=draw.normal(letters, shift=2.0), returns=letters, note=note)
    yield draw.case(init=(draw.whole(8, 200), 1e-5), asks="parameters", note="in a new layer, before any training")
    draw = Draw(seed, B=2, T=4, D=6)
    yield draw.case(init=(6, 0.3), x=draw.normal("B T D", scale=0.1), asks="eps",
                    note="when eps outweighs the mean square")  # fmt: skip
    yield draw.case(init=(6, 0.3), x=draw.normal("B T D", scale=1e-4), asks="eps", note="for tokens next to 0")
    yield draw.case(init=(6, 1e-3), x=torch.zeros(2, 4, 6), asks="eps", note="for tokens of zeros")
    yield draw.case(init=(6, 1e-3), x=draw.normal("B T D") * (torch.arange(4)[:, None] % 2), asks="gradients",
                    note="for a token of zeros among others")  # fmt: skip


# ---------------------------------------------------------------------------------------------- swiglu_width


def _whole(answer: Any, case: Case) -> Any:
    """The number; or, with it, whether its type is that of whole numbers: no layer can be 12.0 wide."""
    found = answer(*case.args.values())
    if case.asks != "exact int":
        return found
    return {"number": found, "type": "float" if isinstance(found, Real) and not isinstance(found, Integral) else "int"}


def any_width(draw: Draw) -> Case:
    multiple_of = draw.pick(1, 2, 3, 64, 256, draw.whole(1, 300))
    dim = draw.whole(1, draw.pick(9, 100, 9000))
    return draw.case(dim=dim, multiple_of=multiple_of, asks=draw.pick(None, "exact int"))


@exercise(
    inputs=any_width,
    properties={"values": 2, "exact int": 1},
    act=_whole,
    when_right="Three matrices of this width have as many parameters as two of width 4·D, rounded up.",
)
def swiglu_width(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    for dim, multiple_of in ((draw.whole(100, 900), 1), (draw.whole(1000, 9000), 256), (draw.whole(10, 90), 7)):
        yield Draw(seed, D=dim).case(dim=dim, multiple_of=multiple_of)
    for dim in (96, 36):  # eight multiples, and three
        note = "when two thirds of 4·D are such a multiple already"
        yield Draw(seed, D=dim).case(dim=dim, multiple_of=32, note=note)
    for dim in (97, 98):
        note = "when two thirds of 4·D are no whole number"
        yield Draw(seed, D=dim).case(dim=dim, multiple_of=1, note=note)
    yield Draw(seed, D=3).case(dim=3, multiple_of=64, note="when 4·D is less than one multiple")
    yield Draw(seed, D=50).case(dim=50, multiple_of=16, asks="exact int")


# ---------------------------------------------------------------------------------------------- SwiGLU


def any_tokens_to_work_on(draw: Draw) -> Case:
    axes = draw.pick("D", "T D", "B T D", "B N T D")
    draw.sized(B=(1, 3), N=(1, 3), T=(1, 6), D=(1, 12), F=(1, 20))
    return draw.case(init=(_config(draw),), x=draw.floats(axes, "plain", "wide", "negative"), returns=axes)


@exercise(
    inputs=any_tokens_to_work_on,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1},
    returns="B T D",
    axes=TOKENS,
    when_right="Each inner number is multiplied by a gate that the token sets itself.",
)
def SwiGLU(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=6, F=10)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=2.0))
    draw = Draw(seed, B=3, T=4, D=8, F=5)
    yield draw.case(init=(_config(draw),), x=draw.normal("B D T", scale=2.0).transpose(1, 2), note="when F < D")
    draw = Draw(seed, D=4, F=7)
    yield draw.case(init=(_config(draw),), x=draw.normal("D"), returns="D", note="for a single token")
    draw = Draw(seed, B=2, N=3, T=4, D=5, F=9)
    yield draw.case(init=(_config(draw),), x=draw.normal("B N T D"), returns="B N T D", note="for x with four axes")


# ---------------------------------------------------------------------------------------------- half_split_rotary


def any_pairs(draw: Draw) -> Case:
    if draw.pick(True, False, False, False, False):
        draw.sized(T=(1, 5), J=(0, 4))
        odd = 2 * draw.sizes["J"] + 1
        return draw.case(x=draw.normal(f"T {odd}"), positions=torch.arange(draw.sizes["T"]), asks="odd width")
    axes = draw.pick("T K", "B T K", "B H T K")
    draw.sized(B=(1, 3), H=(1, 3), T=(1, 7), J=(1, 6))
    draw.sizes["K"] = 2 * draw.sizes["J"]
    positions = draw.pick(torch.arange(draw.sizes["T"]), draw.integers("T", 2000))
    base = draw.pick({}, {"base": draw.pick(100.0, 10000.0, 500000.0)})
    return draw.case(x=draw.floats(axes, "plain", "wide", "negative"), positions=positions, **base, returns=axes)


@exercise(
    inputs=any_pairs,
    properties={"shape": 1, "values": 2, "odd width": 1, "gradients": 1},
    returns="B H T K",
    axes=TOKENS,
    when_right="The same rotations, with other columns as partners: what one library trained, the other can turn.",
)
def half_split_rotary(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, H=3, T=5, K=8)
    yield draw.case(x=draw.normal("B H T K"), positions=torch.arange(5))
    draw = Draw(seed, B=3, T=4, K=6)
    yield draw.case(x=draw.normal("B K T").transpose(1, 2), positions=draw.integers("T", 300), returns="B T K",
                    note="for three axes, positions with gaps, in any order")  # fmt: skip
    draw = Draw(seed, T=3, K=10)
    yield draw.case(x=draw.normal("T K"), positions=draw.integers("T", 40), base=500000.0, returns="T K",
                    note="for two axes and a base of 500,000")  # fmt: skip
    draw = Draw(seed, B=1, H=2, T=1, K=2)
    yield draw.case(x=draw.normal("B H T K"), positions=torch.tensor([7]), note="for a single token and K = 2")
    for odd in (7, 3, 1):  # halves of two columns and one, or of one and none, broadcast: no error comes by itself
        draw = Draw(seed, B=2, T=3, K=odd)
        yield draw.case(x=draw.normal("B T K"), positions=torch.arange(3), asks="odd width", note=f"for K = {odd}")


# ---------------------------------------------------------------------------------------------- GroupedQueryAttention


def _sized_heads(draw: Draw, longest: int) -> None:
    """Sizes of B and T, of G groups with R query heads each, of heads K = 2·J wide, and of D, a multiple of H."""
    draw.sized(B=(1, 3), T=(1, longest), M=(1, 4), G=(1, 3), R=(1, 3), J=(1, 3))
    draw.sizes["H"], draw.sizes["K"] = draw.sizes["G"] * draw.sizes["R"], 2 * draw.sizes["J"]
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["M"]


def _attend(layer: Any, case: Case) -> Any:
    """The layer's result; or its numbers, which a cache needs."""
    if case.asks != "attributes":
        return layer(case.args["x"])
    return {name: getattr(layer, name, None) for name in ("num_heads", "num_groups", "base")}


def any_vectors(draw: Draw) -> Case:
    _sized_heads(draw, draw.pick(6, 80))
    asks = draw.pick(None, None, None, None, "bias", "bias", "attributes")
    config = _config(draw, bias=asks == "bias", base=draw.pick(100.0, 10000.0))
    if asks == "attributes":
        return draw.case(init=(config,), asks=asks)
    return draw.case(init=(config,), x=draw.floats("B T D"), asks=asks)


@exercise(
    inputs=any_vectors,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "bias": 1, "attributes": 1, "gradients": 1},
    returns="B T D",
    axes=GROUPS,
    act=_attend,
    when_right="Many questions, few sets of answers: the cache shrinks by H / G.",
)
def GroupedQueryAttention(seed: int) -> Iterator[Case]:
    for batch, length in ((2, 5), (1, 8)):  # the second goes through the first one's module, too
        draw = Draw(seed, B=batch, T=length, D=12, H=4, G=2, K=6)
        yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=2.0))
    draw = Draw(seed, B=3, T=7, D=18, H=6, G=2, K=4)
    yield draw.case(init=(_config(draw, base=100.0),), x=draw.normal("B D T", scale=2.0).transpose(1, 2),
                    note="for a base of 100")  # fmt: skip
    draw = Draw(seed, B=2, T=6, D=9, H=3, G=1, K=4)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=2.0), note="for a single group")
    draw = Draw(seed, B=2, T=4, D=12, H=3, G=3, K=2)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=2.0), note="for as many groups as heads")
    draw = Draw(seed, B=1, T=1, D=6, H=2, G=1, K=4)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D"), note="for a single token")
    draw = Draw(seed, B=2, T=5, D=12, H=4, G=2, K=6)
    yield draw.case(init=(_config(draw, bias=True, base=100.0),), x=draw.normal("B T D", scale=2.0), asks="bias",
                    note="for attention_bias = True")  # fmt: skip
    draw = Draw(seed, K=4)
    draw.sized(G=(2, 3), R=(4, 9))
    draw.sizes["D"] = draw.sizes["H"] = draw.sizes["G"] * draw.sizes["R"]
    yield draw.case(init=(_config(draw, base=100.0 * draw.whole(1, 99)),), asks="attributes", note="in a new layer")


# ---------------------------------------------------------------------------------------------- cache_bytes


def any_cache(draw: Draw) -> Case:
    _sized_heads(draw, 5)
    draw.sized(L=(1, 9))
    given = draw.pick({}, {"bytes_per_number": draw.whole(1, 16)})
    return draw.case(config=_config(draw), tokens=draw.whole(0, 5000), **given, asks=draw.pick(None, "exact int"))


@exercise(
    inputs=any_cache,
    properties={"values": 1, "exact int": 1},
    act=_whole,
    when_right="Nothing in it but the groups can be made smaller without a smaller model or a shorter text.",
)
def cache_bytes(seed: int) -> Iterator[Case]:
    for number, (heads, groups, width) in enumerate(((12, 4, 6), (9, 1, 4), (6, 6, 10))):
        draw = Draw(seed + number, D=36, H=heads, G=groups, K=width)
        draw.sized(L=(2, 9))
        given: dict[str, Any] = {"bytes_per_number": 4} if number == 1 else {}
        yield draw.case(config=_config(draw), tokens=draw.whole(10, 900), **given)
    yield draw.case(config=_config(draw), tokens=0, note="for no tokens")
    draw = Draw(seed, D=60, H=15, G=5, K=14, L=11)
    yield draw.case(config=_config(draw), tokens=draw.whole(10, 900), bytes_per_number=8, asks="exact int")


# ---------------------------------------------------------------------------------------------- LlamaBlock


def any_vectors_and_eps(draw: Draw) -> Case:
    _sized_heads(draw, draw.pick(8, 8, 80))
    draw.sized(F=(1, 12))
    eps = draw.pick(1e-5, 1e-5, 0.3)
    return draw.case(init=(_config(draw, eps),), x=draw.floats("B T D", "plain", "wide"),
                     asks=None if eps == 1e-5 else "eps")  # fmt: skip


@exercise(
    inputs=any_vectors_and_eps,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "eps": 1},
    returns="B T D",
    axes=GROUPS,
    when_right="The two sums of 2019, with other parts in them.",
)
def LlamaBlock(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, D=12, H=4, G=2, K=6, F=14)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=3.0))
    draw = Draw(seed, B=3, T=6, D=9, H=3, G=1, K=4, F=5)
    yield draw.case(init=(_config(draw),), x=draw.normal("B D T", scale=3.0).transpose(1, 2), note="for a single group")
    draw = Draw(seed, B=1, T=1, D=6, H=2, G=2, K=4, F=9)
    yield draw.case(init=(_config(draw),), x=draw.normal("B T D", scale=3.0), note="for one text of one token")
    draw = Draw(seed, B=2, T=4, D=8, H=2, G=1, K=4, F=7)
    yield draw.case(init=(_config(draw, eps=0.3),), x=draw.normal("B T D", scale=0.1), asks="eps",
                    note="for rms_norm_eps = 0.3")  # fmt: skip


# ---------------------------------------------------------------------------------------------- Llama


def _llama(model: Any, case: Case) -> Any:
    """The logits; or whether head and token table are one parameter."""
    if case.asks != "tied head" or not isinstance(model, nn.Module):
        return model(case.args["ids"])
    table, head = (getattr(getattr(model, name, None), "weight", None) for name in ("token_embeddings", "lm_head"))
    return {"one_parameter": str(table is not None and table is head)}


def any_ids(draw: Draw) -> Case:
    _sized_heads(draw, draw.pick(6, 20))
    draw.sized(F=(1, 9), L=(1, 2), V=(2, draw.pick(9, 300)))
    eps = draw.pick(1e-5, 1e-5, 0.3)
    return draw.case(init=(_config(draw, eps),), ids=draw.ids("B T", draw.sizes["V"]),
                     asks=None if eps == 1e-5 else "eps")  # fmt: skip


@exercise(
    inputs=any_ids,
    kind="module",
    properties={"shape": 1, "values": 1, "parameters": 1, "gradients": 1, "eps": 1, "tied head": 1},
    returns="B T V",
    axes=GROUPS,
    act=_llama,
    when_right="A Llama, whole. With other weights it is one that you can download.",
)
def Llama(seed: int) -> Iterator[Case]:
    for batch, length in ((2, 5), (1, 8)):  # the second goes through the first one's module, too
        draw = Draw(seed, B=batch, T=length, D=12, H=4, G=2, K=6, F=14, L=2, V=17)
        yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 17))
    draw = Draw(seed, B=3, T=30, D=9, H=3, G=1, K=4, F=5, L=3, V=6)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 6), note="for 30 tokens and three blocks")
    draw = Draw(seed, B=1, T=1, D=6, H=2, G=2, K=4, F=9, L=1, V=11)
    yield draw.case(init=(_config(draw),), ids=draw.integers("B T", 11), note="for a single token and a single block")
    draw = Draw(seed, B=2, T=4, D=6, H=2, G=1, K=4, F=7, L=2, V=9)
    yield draw.case(init=(_config(draw, eps=0.3),), ids=draw.integers("B T", 9), asks="eps",
                    note="for rms_norm_eps = 0.3")  # fmt: skip
    for tied in (True, False):
        yield draw.case(init=(_config(draw, tied=tied),), ids=draw.integers("B T", 9), asks="tied head",
                        note=f"for tie_word_embeddings = {tied}")  # fmt: skip


# ---------------------------------------------------------------------------------------------- cached attention


class _Layers(Parts):
    """An attention's layers, which the answer is to use."""

    def forward(self, *_: Any) -> Any:
        raise NotImplementedError("don't call `attention` itself; use its layers q, k, v and output_linear")


def _filled_attention(draw: Draw, base: float) -> Parts:
    """An attention's layers with random weights, and its numbers."""
    width, heads = draw.sizes["D"], {"q": "H", "k": "G", "v": "G"}
    layers = {name: nn.Linear(width, draw.sizes[letter] * draw.sizes["K"]) for name, letter in heads.items()}
    layers["output_linear"] = nn.Linear(draw.sizes["H"] * draw.sizes["K"], width, bias=False)
    for name, layer in layers.items():
        for part, parameter in layer.named_parameters():
            noise = torch.randn(parameter.shape, generator=draw.fork("cached", name, part))
            parameter.data = noise / parameter.size(-1) ** 0.5 if part == "weight" else noise
    parts = _Layers(**layers)
    parts.num_heads, parts.num_groups, parts.base = draw.sizes["H"], draw.sizes["G"], base  # type: ignore[assignment]
    return parts


def any_new_tokens(draw: Draw) -> Case:
    draw.sized(B=(1, 3), N=(1, draw.pick(1, 6)), P=(1, draw.pick(6, 70)), D=(2, 9), G=(1, 3), R=(1, 3), J=(1, 3))
    draw.sizes["H"], draw.sizes["K"] = draw.sizes["G"] * draw.sizes["R"], 2 * draw.sizes["J"]
    attention = _filled_attention(draw, draw.pick(100.0, 10000.0))
    given: dict[str, Any] = {"attention": attention, "x": draw.floats("B N D")}
    if draw.pick(True, False, False):
        del draw.sizes["P"]
        return draw.case(**given, **draw.pick({}, {"cache": None}), asks="no cache")
    cache = draw.floats("B G P K"), draw.floats("B G P K")
    return draw.case(**given, cache=cache, asks=None if draw.sizes["N"] == 1 else "several tokens")


@exercise(
    inputs=any_new_tokens,
    properties={"shape": 1, "values": 2, "no cache": 1, "several tokens": 1},
    axes=GROUPS,
    when_right="Each token's key is turned once, by its own position, and kept.",
)
def cached_grouped_attention(seed: int) -> Iterator[Case]:
    def case(asks: str | None, note: str, **sizes: int) -> Case:
        draw = Draw(seed, **sizes)
        given: dict[str, Any] = {"attention": _filled_attention(draw, 100.0), "x": draw.normal("B N D", scale=1.5)}
        if "P" in sizes:
            given["cache"] = (draw.normal("B G P K", scale=1.5), draw.normal("B G P K"))
        elif sizes["N"] > 1:
            given["cache"] = None
        return draw.case(**given, asks=asks, note=note)

    yield case(None, "for one new token", B=2, N=1, P=5, D=12, H=4, G=2, K=6)
    yield case(None, "for one new token and one in the cache", B=3, N=1, P=1, D=12, H=6, G=2, K=4)
    yield case(None, "for one text and a single group", B=1, N=1, P=4, D=9, H=3, G=1, K=4)
    yield case("no cache", "when the cache is None", B=2, N=5, D=12, H=4, G=2, K=6)
    yield case("no cache", "for a first token, without a cache", B=3, N=1, D=9, H=3, G=1, K=4)
    yield case("several tokens", "for 4 new tokens and 3 in the cache", B=2, N=4, P=3, D=12, H=4, G=2, K=6)
    yield case("several tokens", "for 2 new tokens and 6 in the cache", B=3, N=2, P=6, D=9, H=3, G=3, K=2)


# ---------------------------------------------------------------------------------------------- attention_in_blocks


class _Watched(TorchDispatchMode):
    """Counts operations, and notes how many entries the largest tensor has that they make."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.operations += 1
        result = func(*args, **(kwargs or {}))
        for one in result if isinstance(result, list | tuple) else (result,):
            if isinstance(one, Tensor):
                self.largest = max(self.largest, one.numel())
        return result


def _in_blocks(answer: Any, case: Case) -> Any:
    """The result; how large the largest tensor was that was made on the way; whether larger blocks take fewer steps.

    Of large scores the result alone: gradients lose digits there, differently in each right answer.
    """
    if case.asks == "large scores":
        with torch.no_grad():
            return answer(*case.args.values())
    if case.asks != "in blocks":
        return answer(*case.args.values())
    *inputs, block_size = case.args.values()
    with torch.no_grad():
        with _Watched() as asked:
            result = answer(*inputs, block_size)
        with _Watched() as whole:
            answer(*inputs, case.sizes["S"])
    return {"result": result, "largest": asked.largest, "steps": asked.operations, "steps_for_one": whole.operations}


def any_blocks(draw: Draw) -> Case:
    leading = draw.pick("", "B ", "B H ")
    draw.sized(B=(1, 3), H=(1, 3), T=(1, 7), S=(1, draw.pick(9, 40)), K=(1, 8), Dv=(1, 8))
    query, key = draw.floats(leading + "T K", "plain", "wide"), draw.floats(leading + "S K", "plain", "wide")
    block_size = draw.pick(1, 2, 3, 5, draw.sizes["S"], draw.sizes["S"] + 3)
    value = draw.floats(leading + "S Dv")
    return draw.case(query=query, key=key, value=value, block_size=block_size, returns=leading + "T Dv")


@exercise(
    inputs=any_blocks,
    properties={"shape": 1, "values": 2, "in blocks": 1, "large scores": 1, "gradients": 1},
    returns="B H T Dv",
    axes={"Dv": "value width"},
    forbids=notebook_03.scaled_dot_product_attention.forbids,
    act=_in_blocks,
    when_right="The same numbers, and the table of all scores was never there.",
)
def attention_in_blocks(seed: int) -> Iterator[Case]:
    def inputs(draw: Draw, leading: str = "B H ", scale: float = 1.5) -> dict[str, Any]:
        return {"query": draw.normal(leading + "T K", scale=scale), "key": draw.normal(leading + "S K"),
                "value": draw.normal(leading + "S Dv")}  # fmt: skip

    draw = Draw(seed, B=2, H=3, T=5, S=8, K=4, Dv=6)
    yield draw.case(**inputs(draw), block_size=4, note="for two blocks")
    draw = Draw(seed, B=4, H=2, T=6, S=11, K=5, Dv=3)
    yield draw.case(**inputs(draw), block_size=3, note="when the last block is shorter")
    draw = Draw(seed, T=6, S=7, K=3, Dv=2)
    yield draw.case(**inputs(draw, ""), block_size=2, returns="T Dv", note="for two axes")
    draw = Draw(seed, B=2, T=3, S=5, K=4, Dv=4)
    yield draw.case(**inputs(draw, "B "), block_size=9, returns="B T Dv", note="when one block holds all keys")
    draw = Draw(seed, B=2, T=4, S=9, K=16, Dv=3)
    for direction, block_size in ((1.0, 2), (-1.0, 2), (1.0, 5), (-1.0, 5)):  # hundreds apart, within a block, too
        query, key = torch.full(draw.shape("B T K"), 10.0), draw.normal("B S K", scale=0.01)
        key += direction * torch.arange(9.0)[:, None] * 2
        note = f"when scores {'rise' if direction > 0 else 'fall'} by hundreds, for blocks of {block_size}"
        yield draw.case(query=query, key=key, value=draw.normal("B S Dv"), block_size=block_size,
                        returns="B T Dv", asks="large scores", note=note)  # fmt: skip
    draw = Draw(seed, B=2, T=3, S=7, K=4, Dv=3)
    query, key = draw.normal("B T K"), draw.normal("B S K", scale=0.3)
    query[:, :, 0], key[:, :, 0] = torch.tensor([43.2, -43.2, 0.0]), 20 + key[:, :, 0] / 4
    yield draw.case(query=query, key=key, value=draw.normal("B S Dv"), block_size=3, returns="B T Dv",
                    asks="large scores", note="when one query scores far above 0, another far below")  # fmt: skip
    draw = Draw(seed, B=1, H=1, T=4, S=6, K=3, Dv=5)
    yield draw.case(**inputs(draw), block_size=4, note="for one text and one head")
    draw = Draw(seed, B=2, H=2, T=60, S=90, K=4, Dv=5)
    yield draw.case(**inputs(draw), block_size=6, asks="in blocks", note="for 60 queries, 90 keys, and blocks of 6")
    draw = Draw(seed, T=12, S=90, K=4, Dv=5)
    yield draw.case(**inputs(draw, ""), block_size=15, returns="T Dv", asks="in blocks",
                    note="for 12 queries, 90 keys, and blocks of 15")  # fmt: skip


quiz_since_gpt_2 = quiz(
    "quiz_since_gpt_2",
    {
        "RMSNorm leaves out": ("the mean", "the root", "the learned weight"),
        "sharing keys and values saves": ("memory of the cache", "computations of the feed-forward part", "layers"),
        "the library's rotary pairs": ("the same under a permutation", "other angles", "a learned rotation"),
        "attention in blocks gives": ("the same numbers", "an approximation", "fewer computations"),
    },
    when_right="You can read the code of today's models now. Most of it is yours.",
)


# ---------------------------------------------------------------------------------------------- top_k_routing


def _not_0(answer: Any, case: Case) -> Any:
    """The result; or how many of its entries are not exactly 0."""
    result = answer(*case.args.values())
    if case.asks == "zeros" and isinstance(result, Tensor):
        return {"entries that are not 0": int(result.count_nonzero())}
    return result


def any_scores(draw: Draw) -> Case:
    axes = draw.pick("E", "T E", "B T E")
    draw.sized(B=(1, 3), T=(1, 6), E=(1, 12))
    scores = draw.floats(axes, "plain", "wide", "negative")
    if draw.pick("any", "whole") == "whole":  # 0 among them, and no two equal
        scores = scores.argsort(dim=-1).float() - scores.size(-1) // 2
    return draw.case(scores=scores, top_k=draw.whole(1, draw.sizes["E"]), returns=axes)


@exercise(
    inputs=any_scores,
    properties={"shape": 0, "values": 0, "zeros": 0},
    returns="B T E",
    axes={**TOKENS, "E": "experts"},
    act=_not_0,
    holds=lambda case: bool((case.args["scores"].sort(dim=-1).values.diff(dim=-1) > 0).all()),  # no two are equal
    when_right="Each token is sent to a few experts, and pays for those only.",
)
def top_k_routing(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, E=8)
    yield draw.case(scores=draw.normal("B T E", scale=2.0), top_k=2)
    yield draw.case(scores=draw.normal("B T E", scale=2.0, shift=-300.0), top_k=3, note="for scores far below 0")
    yield draw.case(scores=draw.normal("B T E", scale=2.0), top_k=3, asks="zeros")
    draw = Draw(seed, T=4, E=6)
    yield draw.case(scores=draw.normal("T E", scale=2.0), top_k=1, returns="T E", note="for top_k = 1")
    whole = draw.normal("T E").argsort(dim=-1).float() - 4  # (T, E): −4 to 1
    yield draw.case(scores=whole, top_k=3, returns="T E", note="where scores are 0")
    yield draw.case(scores=draw.normal("E T").T, top_k=6, returns="T E", note="when all experts are taken")


# ---------------------------------------------------------------------------------------------- LoRALinear


def _lora(layer: Any, case: Case) -> Any:
    """The result; what a new layer adds, and holds; which parameters learn; or the merged weight."""
    if case.asks == "merged":
        return layer.merged_weight()
    if case.asks == "frozen":
        with torch.enable_grad():
            result = layer(case.args["x"])
            if result.requires_grad:
                result.sum().backward()
        named = dict(layer.named_parameters())
        learns = {f"{name} learns": str(one.requires_grad) for name, one in named.items()}
        return learns | {f"{name} gets a gradient": str(one.grad is not None) for name, one in named.items()}
    if case.asks == "start":
        linear, *others = case.init
        new = type(layer)(linear, *others)
        raw: dict[str, Any] = {
            "entries added that are not 0": int((new(case.args["x"]) - linear(case.args["x"])).count_nonzero()),
            "`linear` is the layer that was passed": str(getattr(new, "linear", None) is linear),
        }
        for name in ("lora_A", "lora_B"):
            matrix = getattr(new, name, None)
            if isinstance(matrix, Tensor):
                raw[f"entries of {name} that are not 0"] = int(matrix.count_nonzero())
        if isinstance(matrix := getattr(new, "lora_A", None), Tensor):
            raw["entries of lora_A that repeat another one"] = matrix.numel() - len(set(matrix.flatten().tolist()))
        return raw
    return layer(case.args["x"])


def _linear(draw: Draw, bias: bool = True) -> nn.Linear:
    """A layer of D to F with weights from the draw."""
    linear = nn.Linear(draw.sizes["D"], draw.sizes["F"], bias=bias)
    for parameter in linear.parameters():
        parameter.data = torch.randn(parameter.shape, generator=draw.generator)
    return linear


def _adapted(asks: str | None, axes: str) -> str:
    """The axes of what `_lora` returns: of the layer's result, of a weight, or none."""
    return {None: axes, "merged": "F D"}.get(asks, "")


def any_adapted(draw: Draw) -> Case:
    axes = draw.pick("D", "T D", "B T D")
    draw.sized(B=(1, 3), T=(1, 6), D=(1, 9), F=(1, 9), R=(1, 5))
    init = _linear(draw, draw.pick(True, False)), draw.sizes["R"], draw.pick(1.0, 8.0, 0.5, 16)
    asks = draw.pick(None, None, "merged", "start")
    return draw.case(init=init, x=draw.floats(axes, "plain", "negative"), asks=asks,
                     returns=_adapted(asks, axes.replace("D", "F")))  # fmt: skip


@exercise(
    inputs=any_adapted,
    kind="module",
    properties={"shape": 0, "values": 0, "parameters": 0, "start": 0, "frozen": 0, "merged": 0},
    returns="B T F",
    axes={**TOKENS, "F": "outputs", "R": "rank"},
    act=_lora,
    when_right="A large layer learns by two narrow matrices, and nothing is slower afterwards.",
)
def LoRALinear(seed: int) -> Iterator[Case]:
    def case(asks: str | None, note: str, bias: bool = True, alpha: float = 8.0, **sizes: int) -> Case:
        draw = Draw(seed, B=2, T=4, **sizes)
        init = _linear(draw, bias), sizes["R"], alpha
        return draw.case(init=init, x=draw.normal("B T D"), asks=asks, note=note, returns=_adapted(asks, "B T F"))

    yield case(None, "", D=6, F=9, R=3)
    yield case(None, "for a layer without bias and alpha = 1", bias=False, alpha=1.0, D=7, F=5, R=2)
    yield case(None, "for rank 1", alpha=3.0, D=4, F=8, R=1)
    yield case("start", "in a new layer, before any training", D=6, F=9, R=3)
    yield case("frozen", "in a layer that can be trained", D=6, F=9, R=3)
    yield case("merged", "for merged_weight()", D=6, F=9, R=3)
    yield case("merged", "for merged_weight() of rank 1 and alpha = 3", alpha=3.0, D=4, F=8, R=1)


# ---------------------------------------------------------------------------------------------- quantize_rows


def _rows(draw: Draw) -> Tensor:
    """Rows of different sizes, each entry well away from the middle between two codes, so that rounding is no luck."""
    near = 0.35 * (2 * torch.rand(draw.shape("F D"), generator=draw.generator) - 1)
    codes = draw.integers("F D", 127, low=-126) + near
    largest = draw.integers("F", draw.sizes["D"])[:, None]  # where each row has its largest entry
    codes = codes.scatter(-1, largest, 127.0 * (2 * draw.integers("F 1", 2) - 1))
    return codes * torch.rand(draw.shape("F 1"), generator=draw.generator).add(0.1).log().mul(2).exp() / 50


def _codes(answer: Any, case: Case) -> Any:
    """What is returned; or the number type of the codes."""
    result = answer(case.args["weight"])
    if case.asks == "int8" and isinstance(result, tuple | list) and result and isinstance(result[0], Tensor):
        return {"type of the codes": str(result[0].dtype)}
    return result


def _rounds_clearly(case: Case) -> bool:
    """No row has only zeros, as the contract says, and no entry is near the middle between two codes."""
    weight = case.args["weight"].double()
    largest = weight.abs().amax(dim=-1, keepdim=True)
    codes = weight / largest * 127
    return bool((largest > 0).all() and ((codes - codes.round()).abs() < 0.4).all())


def any_rows(draw: Draw) -> Case:
    draw.sized(F=(1, 7), D=(1, 9))
    return draw.case(weight=draw.laid_out(_rows(draw)))


@exercise(
    inputs=any_rows,
    properties={"shape": 0, "values": 0, "int8": 0},
    axes={"F": "rows", "D": "columns"},
    act=_codes,
    holds=_rounds_clearly,
    when_right="A quarter of the memory, and an error of at most half a step in each number.",
)
def quantize_rows(seed: int) -> Iterator[Case]:
    draw = Draw(seed, F=5, D=8)
    yield draw.case(weight=_rows(draw))
    draw = Draw(seed, F=6, D=6)
    yield draw.case(weight=-_rows(draw).T.contiguous().T, note="for a square matrix")
    draw = Draw(seed, F=1, D=7)
    yield draw.case(weight=_rows(draw), note="for one row")
    draw = Draw(seed, F=4, D=5)
    yield draw.case(weight=_rows(draw), asks="int8")


# ---------------------------------------------------------------------------------------------- min_p_probabilities


def any_logits(draw: Draw) -> Case:
    axes = draw.pick("V", "B V", "B T V")
    draw.sized(B=(1, 3), T=(1, 4), V=(1, 30))
    logits = draw.floats(axes, "plain", "wide", "negative", "whole")
    return draw.case(logits=logits, min_p=draw.pick(0.0, 0.05, 0.1, 0.3, 1.0), returns=axes)


@exercise(
    inputs=any_logits,
    properties={"shape": 0, "values": 0, "keeps all": 0, "keeps one": 0, "zeros": 0},
    returns="B V",
    act=_not_0,
    when_right="Where the model is sure, few tokens stay; where it is not, many do.",
)
def min_p_probabilities(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=4, V=12)
    yield draw.case(logits=draw.normal("B V", scale=2.0), min_p=0.1)
    yield draw.case(logits=draw.normal("B V", scale=2.0, shift=5.0), min_p=0.4, note="for min_p = 0.4")
    yield draw.case(logits=draw.normal("B V", scale=2.0), min_p=0.3, asks="zeros")
    yield draw.case(logits=draw.normal("B V", scale=2.0), min_p=0.0, asks="keeps all", note="for min_p = 0")
    yield draw.case(logits=draw.normal("B V"), min_p=1.0, asks="keeps one", note="for min_p = 1")
    yield draw.case(logits=draw.integers("B V", 4).float().clamp(max=2), min_p=1.0, asks="keeps one",
                    note="for min_p = 1 and equally probable tokens")  # fmt: skip
    yield draw.case(logits=draw.normal("B V", scale=2.0, shift=200.0), min_p=0.1, note="for logits around 200")
    draw = Draw(seed, B=2, T=3, V=7)
    yield draw.case(logits=draw.normal("B V T").transpose(1, 2), min_p=0.2, returns="B T V", note="for three axes")
    draw = Draw(seed, V=9)
    yield draw.case(logits=draw.normal("V"), min_p=0.2, returns="V", note="for one axis")
