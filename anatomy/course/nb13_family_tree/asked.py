"""What 13-family-tree asks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook

from anatomy.engine.calls import with_generator
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz


def _zeros_and_ones(answer: Callable[..., Any], case: Case) -> Any:
    """The mask as numbers: True is as good as 1."""
    mask = answer(*case.args.values())
    return mask.float() if isinstance(mask, Tensor) and not mask.is_complex() else mask


def _number(answer: Callable[..., Any], case: Case) -> Any:
    """The number, out of a tensor or an array of one entry: 12, 12.0, tensor(12) and tensor([12]) are the same here."""
    found = answer(*case.args.values())
    if isinstance(found, Tensor | np.ndarray | np.generic) and math.prod(found.shape) == 1:
        found = found.item()
    return float(found) if isinstance(found, Real) and not isinstance(found, bool) else found


def _any(draw: Draw, low: int, high: int) -> int:
    return int(draw.integers("1", high + 1, low))


# ---------------------------------------------------------------------------------------------- masks


def _any_length(draw: Draw, *more: tuple[int, int]) -> int:
    draw.sized(T=draw.pick((1, 3), (1, 20), (1, 20), (1, 90), *more))
    return draw.sizes["T"]


BEYOND_A_BYTE = 257, 300


def any_prefix(draw: Draw) -> Case:
    length = _any_length(draw, BEYOND_A_BYTE)
    return draw.case(prefix=draw.pick(0, length, *2 * [draw.whole(0, length)]), length=length)


@exercise(
    inputs=any_prefix,
    properties={"shape": 1, "values": 2},
    returns="T S",
    act=_zeros_and_ones,
    holds=lambda case: 0 <= case.args["prefix"] <= case.args["length"],
    when_right="One number slides a model from writer (prefix 0) to reader (the whole text).",
)
def prefix_lm_mask(seed: int) -> Iterator[Case]:
    def case(prefix: int, length: int, note: str = "") -> Case:
        return Draw(seed, T=length).case(prefix=prefix, length=length, note=note)

    draw = Draw(seed)
    yield case(_any(draw, 2, 4), _any(draw, 7, 30))
    yield case(_any(draw, 6, 9), _any(draw, 12, 40))
    yield case(3, _any(draw, 5, 20))
    yield case(1, _any(draw, 4, 20), "for a prefix of one token, which changes nothing")
    yield case(0, _any(draw, 6, 20), "for prefix = 0, the causal mask")
    whole = _any(draw, 8, 20)
    yield case(whole, whole, "when the prefix is the whole text")
    yield case(0, 1, "for a single token")
    yield case(1, 1, "for a single token, which is the prefix")


def any_window(draw: Draw) -> Case:
    length = _any_length(draw, BEYOND_A_BYTE)
    return draw.case(length=length, window=draw.whole(0, draw.pick(1, 8, 2 * length + 3)))


@exercise(
    inputs=any_window,
    properties={"shape": 1, "values": 2},
    returns="T S",
    act=_zeros_and_ones,
    when_right="Each row has about `window` ones however long the text is: the cost grows with T, not with T².",
)
def sliding_window_mask(seed: int) -> Iterator[Case]:
    def case(length: int, window: int, note: str = "") -> Case:
        return Draw(seed, T=length).case(length=length, window=window, note=note)

    draw = Draw(seed)
    yield case(_any(draw, 11, 40), 4)
    yield case(_any(draw, 9, 30), 6)
    yield case(_any(draw, 8, 24), 3, "for an odd window")
    yield case(_any(draw, 10, 26), 5, "for an odd window")
    yield case(_any(draw, 14, 30), 7, "for an odd window")
    yield case(_any(draw, 5, 20), 2)
    yield case(_any(draw, 6, 20), 1, "for window = 1: each token sees itself")
    yield case(_any(draw, 4, 20), 0, "for window = 0: each token sees itself")
    yield case(_any(draw, 7, 14), 30, "when the window is wider than the text")
    yield case(1, 4, "for a single token")


# ---------------------------------------------------------------------------------------------- bigbird_mask

CALLS = 40
"""So often an answer that draws keys is called."""


def _bigbird(answer: Callable[..., Any], case: Case) -> Any:
    """The mask as numbers; where keys are drawn, the mask without random keys and those of many calls."""
    if case.asks == "generator":
        return with_generator(answer, case)
    length, window, num_global, num_random, generator = case.args.values()
    if case.asks is None or num_random >= length:
        return _zeros_and_ones(answer, case)
    masks = [answer(length, window, num_global, count, generator) for count in (0, *[num_random] * CALLS)]
    if any(mask is None for mask in masks):
        return None
    alike = all(isinstance(mask, Tensor) and mask.shape == (length, length) for mask in masks)
    return {"masks": torch.stack([mask.float() for mask in masks]) if alike else masks}


def any_bigbird(draw: Draw) -> Case:
    """Without random keys, or with so many that all are seen: what chance has no part in."""
    length = _any_length(draw)
    num_random = draw.pick(0, 0, 0, length + draw.whole(0, 20))
    return draw.case(length=length, window=draw.whole(0, draw.pick(1, 8, 2 * length)),
                     num_global=draw.pick(0, 1, length, draw.whole(0, length)), num_random=num_random,
                     generator=draw.fork("keys"), asks="random keys" if num_random else None)  # fmt: skip


@exercise(
    inputs=any_bigbird,
    properties={"shape": 1, "values": 2, "random keys": 2, "generator": 1},
    returns="T S",
    act=_bigbird,
    holds=lambda case: case.args["num_global"] <= case.args["length"],
    when_right="Near, far and everywhere: global tokens put all two steps apart, and the cost grows with T.",
)
def bigbird_mask(seed: int) -> Iterator[Case]:
    def case(
        length: int, window: int, num_global: int, num_random: int, note: str = "", asks: str | None = None
    ) -> Case:
        draw = Draw(seed, T=length)
        return draw.case(length=length, window=window, num_global=num_global, num_random=num_random,
                         generator=draw.fork("keys", num_random), note=note, asks=asks)  # fmt: skip

    plainly = "without random keys"
    draw = Draw(seed)
    yield case(_any(draw, 10, 40), 4, 2, 0, plainly)
    yield case(_any(draw, 9, 30), 3, 1, 0, plainly)
    yield case(_any(draw, 8, 24), 2, 0, 0, "without random keys and global tokens")
    yield case(_any(draw, 7, 20), 0, 3, 0, "without random keys, for window = 0")
    every = _any(draw, 5, 16)
    yield case(every, 2, every, 0, "when all tokens are global")
    yield case(1, 2, 0, 3, "for a single token")
    yield case(_any(draw, 15, 24), 2, 1, 1, "for one random key", "random keys")
    yield case(_any(draw, 15, 24), 3, 2, 3, "for three random keys", "random keys")
    yield case(_any(draw, 6, 14), 2, 1, 20, "when num_random is larger than the number of tokens", "random keys")
    wide = 2 * _any(draw, 3, 4)
    yield case(wide + 2, wide, 0, 2, "when for some queries fewer keys are left than num_random", "random keys")
    yield case(_any(draw, 11, 20), 2, 1, 3, "", "generator")


# ---------------------------------------------------------------------------------------------- costs


def _mask(draw: Draw, letters: str) -> Tensor:
    return draw.normal(letters) > 0.3


def any_mask(draw: Draw) -> Case:
    draw.sized(T=(1, draw.pick(9, 80)), S=(1, draw.pick(9, 80)))
    mask = draw.normal("T S") > draw.pick(-9.0, -0.7, 0.3, 0.3, 9.0)
    dtype = draw.pick(torch.bool, torch.long, torch.int32, torch.float32, torch.float64)
    return draw.case(mask=draw.laid_out(mask.to(dtype)), asks=None if dtype == torch.bool else "0 and 1")


@exercise(
    inputs=any_mask,
    properties={"values": 2, "0 and 1": 1},
    act=_number,
    when_right="A yardstick for masks. Lay it on longer and longer texts, and the curves tell who can afford them.",
)
def attention_cost(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=5, S=7)
    yield draw.case(mask=_mask(draw, "T S"))
    draw = Draw(seed, T=9, S=4)
    yield draw.case(mask=_mask(draw, "T S"))
    draw = Draw(seed, T=90, S=70)
    large = draw.normal("T S") > -0.7
    large[0, 0] ^= int(large.sum()) % 2 == 0  # odd: beyond 2048, half precision has only even numbers
    yield draw.case(mask=large, note="for a large mask")
    for height, width, count in ((7, 7, 27), (5, 11, 29), (7, 8, 31)):  # count / (T · S) · T · S is less, rounded
        draw = Draw(seed, T=height, S=width)
        mask = (draw.permutation(height * width) < count).view(height, width)
        yield draw.case(mask=mask, note="when a share, multiplied by T · S, is rounded down")
    yield Draw(seed, T=3, S=6).case(mask=torch.ones(3, 6, dtype=torch.bool), note="when everything is allowed")
    yield Draw(seed, T=4, S=2).case(mask=torch.zeros(4, 2, dtype=torch.bool), note="when nothing is allowed")
    yield Draw(seed, T=1, S=1).case(mask=torch.ones(1, 1, dtype=torch.bool), note="for a single token")
    draw = Draw(seed, T=6, S=8)
    for kind, name in (("long", "whole"), ("float", "float")):
        yield draw.case(mask=getattr(_mask(draw, "T S"), kind)(), asks="0 and 1",
                        note=f"for a mask of 0 and 1 as {name} numbers")  # fmt: skip


def any_costs(draw: Draw) -> Case:
    """Lengths that lie well apart, in any order; some come several times, and so may the first point."""
    lengths = [(1, 2, 5, 8, 16, 32, 77, 512, 6000)[place] for place in draw.permutation(9)[: draw.whole(2, 6)].tolist()]
    lengths[1:1] = [draw.pick(*sorted(lengths)[1:-1]) for _ in range(draw.pick(0, 3)) if len(lengths) > 2]
    slope, factor = draw.pick(-1, 1) * draw.whole(5, 30) / 10, 10 ** draw.normal("1").item()
    noise = (draw.pick(0.0, 0.3) * draw.normal(str(len(lengths)))).exp().tolist()
    costs = [factor * length**slope * rate for length, rate in zip(lengths, noise, strict=True)]
    if len({*noise}) > 1 and draw.whole(0, 1):
        lengths, costs = [lengths[0], *lengths], [costs[0], *costs]
    return draw.case(lengths=lengths, costs=costs, asks="best line" if len({*noise}) > 1 else None)


@exercise(
    inputs=any_costs,
    properties={"values": 2, "best line": 2},
    act=_number,
    when_right="On log axes a power is a straight line, and its slope is the power.",
)
def growth_exponent(seed: int) -> Iterator[Case]:
    draw = Draw(seed)

    def between(low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand((), generator=draw.generator, dtype=torch.float64))

    def case(lengths: list[int], slope: float, factor: float, scatter: float, **more: Any) -> Case:
        noise = (scatter * draw.normal(str(len(lengths)))).exp().tolist()
        costs = [factor * length**slope * rate for length, rate in zip(lengths, noise, strict=True)]
        return Case({"lengths": lengths, "costs": costs}, **more)

    yield case([16, 32, 64, 128, 256], between(1.3, 1.8), between(2.0, 5.0), 0.0)
    note = "when lengths are in no order, and costs below 1"
    yield case([5, 100, 20, 7000], between(0.4, 0.65), between(0.001, 0.003), 0.0, note=note)
    yield case([8, 512], between(2.2, 2.8), between(20.0, 60.0), 0.0, note="for two lengths")
    yield Case({"lengths": [4, 16, 64, 1024], "costs": [16, 256, 4096, 1048576]}, note="for costs in whole numbers")
    yield case([2, 30, 400], between(-0.8, -0.3), between(5.0, 12.0), 0.0, note="when costs fall")
    yield case([3, 50, 1000], between(0.06, 0.14), between(4.0, 9.0), 0.0, note="when costs hardly grow")
    for lengths in ([4, 16, 64, 256, 1024, 4096], [900, 3, 70, 10, 2000]):
        yield case(lengths, 1.2, 5.0, 0.4, asks="best line", note="when the points lie on no line")
    yield case([10, 40, 40, 300, 300, 9000], -0.8, 2.0, 0.4, asks="best line",
               note="when costs fall, and lengths come more than once")  # fmt: skip
    once = case([7, 20, 60, 1500], 1.5, 3.0, 0.4).args
    yield Case({name: [*some[:2], *some] for name, some in once.items()}, asks="best line",
               note="when points come more than once")  # fmt: skip


# ---------------------------------------------------------------------------------------------- encoder_parameters


BERT = {
    "V": "vocab_size", "P": "max_position_embeddings", "N": "type_vocab_size", "D": "hidden_size",
    "F": "intermediate_size", "L": "num_hidden_layers", "H": "num_attention_heads", "E": "embedding_size",
    "G": "num_hidden_groups",
}  # fmt: skip
"""What sizes are called in a config, and what they are called in DistilBERT's."""
DISTILBERT = BERT | {"D": "dim", "F": "hidden_dim", "L": "n_layers", "H": "n_heads"}


def _config(kind: str, sizes: Mapping[str, int]) -> Any:
    """The library's config of this type, with these sizes."""
    from transformers import AutoConfig

    names = DISTILBERT if kind == "distilbert" else BERT
    return AutoConfig.for_model(kind, **{names[letter]: size for letter, size in sizes.items()})


def any_config(draw: Draw) -> Case:
    kind, asks = draw.pick(("bert", None), ("roberta", None), ("distilbert", "DistilBERT"), ("albert", "ALBERT"),
                           ("albert", "ALBERT"), ("other", "refusals"))  # fmt: skip
    if kind == "other":
        config = _config(draw.pick("gpt2", "electra", "xlm-roberta", "camembert", "mobilebert"), {})
        return draw.case(config=config, asks=asks, message_names=(config.model_type,))
    heads = draw.whole(1, 3)
    draw.sized(V=(60, draw.pick(90, 3000)), P=(7, 600), F=(1, 99), L=(1, 13))
    draw.sizes |= {"D": heads * draw.whole(1, 20), "H": heads}
    if kind != "distilbert":
        draw.sized(N=(1, 4))
    if kind == "albert":
        draw.sized(E=(1, 40), G=(1, draw.sizes["L"]))
    return draw.case(config=_config(kind, draw.sizes), asks=asks)


def _counted(answer: Callable[..., Any], case: Case) -> Any:
    """The number; or whether a model is built meanwhile, more than a layer of PyTorch's, and the config is changed."""
    if case.asks != "config alone":
        return _number(answer, case)
    models: set[str] = set()

    def note(outer: nn.Module, _: str, part: nn.Module | None) -> None:
        if not type(outer).__module__.startswith("torch.nn."):
            models.add(type(outer).__name__)

    before = case.args["config"].to_dict()
    hook = register_module_module_registration_hook(note)
    try:
        _number(answer, case)
    finally:
        hook.remove()
    return {"models": sorted(models), "changed": case.args["config"].to_dict() != before}


@exercise(
    inputs=any_config,
    properties={"values": 2, "DistilBERT": 1, "ALBERT": 2, "config alone": 1, "refusals": 1},
    act=_counted,
    when_right="No weight was loaded: a config says how large a model is, to the last bias.",
)
def encoder_parameters(seed: int) -> Iterator[Case]:
    from transformers import GPT2Config, MobileBertConfig, XLMRobertaConfig

    def case(kind: str, asks: str | None = None, note: str = "", **sizes: int) -> Case:
        return Draw(seed, **sizes).case(config=_config(kind, sizes), asks=asks, note=note)

    draw = Draw(seed)

    def table(width: int) -> dict[str, Any]:
        """Words, positions and an inner width that is neither the width nor four times that."""
        return {"V": _any(draw, 60, 400), "P": _any(draw, 7, 55), "F": _any(draw, width + 1, 4 * width - 1), "D": width}

    yield case("bert", **table(12), N=2, L=3, H=4, note="for a BERT")
    yield case("bert", **table(6), N=3, L=12, H=2, note="for a BERT of twelve layers, three types")
    yield case("bert", **table(8), N=2, L=1, H=1, note="for a BERT of one layer")
    yield case("roberta", **table(10), N=4, L=4, H=2, note="for a RoBERTa")
    yield case("distilbert", "DistilBERT", **table(12), L=5, H=3)
    yield case("distilbert", "DistilBERT", **table(6), L=1, H=2, note="for one layer")
    yield case("albert", "ALBERT", **table(12), N=2, E=5, L=6, G=1, H=2)
    yield case("albert", "ALBERT", **table(6), N=3, E=4, L=12, G=3, H=3, note="for more than one group")
    yield case("albert", "ALBERT", **table(8), N=1, E=8, L=2, G=1, H=4, note="when E is D")
    yield case("bert", "config alone", **table(6), N=2, L=2, H=1)
    yield case("albert", "config alone", **table(6), N=2, E=4, L=3, G=2, H=2)
    yield case("distilbert", "config alone", **table(6), L=2, H=2)
    for config in (GPT2Config(n_embd=8, n_head=2), MobileBertConfig(hidden_size=8), XLMRobertaConfig(hidden_size=12)):
        yield Case({"config": config}, asks="refusals", message_names=(config.model_type,),
                   note=f"for a config of type “{config.model_type}”")  # fmt: skip


# ---------------------------------------------------------------------------------------------- few_shot_prompt

WORDS = ("time", "flies", "like an arrow", "Fruit", "banana", "2 + 2", "sea otter", "a cheese", "why not", "a giraffe")


TEXTS = (*WORDS, "Cheese", "a", "B", "why?", "Q: why", "a => b", "=>", "{0}", "100 %", "a, b.", "  two  gaps ", "été",
         "one word:", "a =>", r"\1", r"C:\day", "$5", "$query", "%s", "'", '"', "a\tb")  # fmt: skip
PLACES = ("{task}", "{examples}", "{query}", "{given}", "{wanted}", "{input}", "{output}", "{question}", "{answer}",
          "{a}", "{b}", "{x}", "{y}", "{1}")  # fmt: skip
"""What answers' templates have where a text is to be filled in."""


def any_prompt(draw: Draw) -> Case:
    texts = (*TEXTS, *PLACES, *["".join(PLACES)] * 8)
    number = draw.pick(0, 1, draw.whole(2, 12))
    examples = [(draw.pick(*texts), draw.pick(*texts)) for _ in range(number)]
    query = draw.pick(*texts, *(given for given, _ in examples))
    asks = None if examples else "zero-shot"
    return draw.case(task=draw.pick(*texts), examples=examples, query=query, asks=asks)


@exercise(
    inputs=any_prompt,
    properties={"values": 2, "zero-shot": 1},
    when_right="The model's only lesson, in plain text. What it makes of it depends on its size.",
)
def few_shot_prompt(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    numbers = (draw.permutation(900) + 100).tolist()
    words = [f"{WORDS[place]} {numbers.pop()}" for place in draw.permutation(len(WORDS)).tolist()]
    inputs, outputs = words[:5], [word.upper() for word in words[5:]]
    pairs = list(zip(inputs, outputs, strict=True))
    yield Case({"task": "Say it loudly", "examples": pairs[:3], "query": words[8]})
    yield Case({"task": "continue", "examples": pairs[3:4], "query": words[6]}, note="for one example")
    twice = [pairs[1], pairs[0], pairs[1], (pairs[1][0], outputs[4])]
    yield Case({"task": "Noun or verb", "examples": twice, "query": pairs[1][0]}, note="when a text comes twice")
    braces = [("{} and {name}", words[4]), (words[5], "{0} {{x}} %s 100 %")]
    yield Case({"task": "Fill 100 % of {} and {name}", "examples": braces, "query": "{1} %d {"},
               note="for texts with braces")  # fmt: skip
    places = [(f"{words[0]} {one}", f"{words[1]} {other}") for one, other in zip(PLACES, PLACES[::-1], strict=True)]
    yield Case({"task": "What costs $5 in {query}?", "examples": places, "query": "{task} {examples}"},
               note="for texts that look like places of a template")  # fmt: skip
    yield Case({"task": "Answer in one word:", "examples": pairs[2:4], "query": rf"{words[8]}: \1 $x =>"},
               note="for a task that ends with a colon")  # fmt: skip
    spaced = [(f" {words[0]} ", f"{words[1]} "), (f"{words[2]} ", f" {words[3]}")]
    yield Case({"task": " Say it twice ", "examples": spaced, "query": " once "},
               note="for texts with spaces at both ends")  # fmt: skip
    yield Case({"task": "Translate English to French", "examples": [], "query": words[7]}, asks="zero-shot",
               note="without examples")  # fmt: skip


# ---------------------------------------------------------------------------------------------- patchify, clip_loss


def any_images(draw: Draw) -> Case:
    """In one draw of four the patch does not divide one side, or both, which are equal then."""
    draw.sized(B=(1, 4), C=(1, 4), H=(1, 4), W=(1, 4), P=(1, draw.pick(3, 6)))
    patch = draw.sizes["P"]
    draw.sizes |= {"H": patch * draw.sizes["H"], "W": patch * draw.sizes["W"]}
    if patch == 1 or draw.whole(0, 2):
        return draw.case(images=draw.floats("B C H W"), patch=patch)
    odd = draw.whole(1, 3) * patch + draw.whole(1, patch - 1)
    draw.sizes |= draw.pick({"H": odd}, {"W": odd}, {"H": odd, "W": odd})
    names = (str(odd), str(patch))
    return draw.case(images=draw.floats("B C H W"), patch=patch, asks="refusals", message_names=names)


@exercise(
    inputs=any_images,
    properties={"shape": 1, "values": 2, "gradients": 1, "refusals": 1},
    returns="B N D",
    axes={"N": "patches", "D": "numbers of a patch", "C": "channels", "P": "patch"},
    when_right="An image is a sentence now: N tokens. A linear layer and positions more, and any encoder can read it.",
)
def patchify(seed: int) -> Iterator[Case]:
    def case(batch: int, channels: int, height: int, width: int, patch: int, note: str = "", **more: Any) -> Case:
        draw = Draw(seed, B=batch, C=channels, H=height, W=width, P=patch)
        return draw.case(images=draw.normal("B C H W"), patch=patch, note=note, **more)

    yield case(2, 3, 8, 12, 4)
    yield case(4, 5, 6, 4, 2)
    yield case(3, 2, 6, 6, 2, "for square images")
    draw = Draw(seed, B=3, C=2, H=9, W=6, P=3)
    images = draw.normal("W H B C").permute(2, 3, 1, 0)
    yield draw.case(images=images, patch=3, note="when the memory of `images` is not in order")
    yield case(1, 1, 4, 6, 2, "for one image in grey")
    yield case(2, 3, 2, 4, 1, "for patches of one pixel")
    yield case(3, 2, 5, 5, 5, "when a patch is the whole image")
    yield case(2, 4, 3, 9, 3, "for a single row of patches")
    yield case(3, 2, 8, 2, 2, "for a single column of patches")
    draw = Draw(seed)
    for side in ("H", "W"):
        patch, odd = _not_divided(draw)
        even = patch * _any(draw, 1, 3)
        height, width = (odd, even) if side == "H" else (even, odd)
        note = f"when {patch} does not divide {side} = {odd}"
        yield case(2, 3, height, width, patch, note, asks="refusals", message_names=(str(odd), str(patch)))
    half = _any(draw, 2, 4)
    note = f"when {2 * half} does not divide H = {3 * half}, and H · W is a multiple of P²"
    yield case(2, 3, 3 * half, 4 * half, 2 * half, note, asks="refusals", message_names=(str(3 * half), str(2 * half)))
    for patch, odd in ((4, 6), _not_divided(draw)):
        note = f"when {patch} divides neither H nor W, both {odd}"
        yield case(2, 3, odd, odd, patch, note, asks="refusals", message_names=(str(odd), str(patch)))


def _not_divided(draw: Draw) -> tuple[int, int]:
    """The side of a patch, and of an image that it does not divide: a size that no other number here is."""
    patch = _any(draw, 4, 6)
    return patch, patch * _any(draw, 2, 4) + _any(draw, 1, patch - 1)


SHORTEST = 0.001
"""The length of a vector, at least: `F.normalize` and others add a little something to short ones."""


def _have_directions(case: Case) -> bool:
    """Whether no vector is 0, or next to it: it would have no cosine."""
    return all(bool((case.args[name].norm(dim=1) >= SHORTEST).all()) for name in ("image_emb", "text_emb"))


def _loss(answer: Callable[..., Any], case: Case) -> Any:
    """A single pair's loss is 0 whatever the vectors are: what its gradients are but rounding is nobody's concern."""
    image_emb, text_emb, temperature = case.args.values()
    if len(image_emb) == 1:
        image_emb, text_emb = image_emb.detach(), text_emb.detach()
    return answer(image_emb, text_emb, temperature)


def _embeddings(draw: Draw) -> dict[str, Any]:
    """Vectors of all lengths; an image is most like the *next* text, so that no loss is nearly 0."""
    images = draw.normal("B D")
    texts = 0.7 * draw.normal("B D") + 2.0 * images.roll(1, dims=0)
    lengths = (1.0 + 3.0 * torch.rand(2, len(images), 1, generator=draw.generator)).unbind()
    return {"image_emb": images * lengths[0], "text_emb": texts * lengths[1]}


def _shortened(draw: Draw, vectors: Tensor) -> Tensor:  # (B, D) -> (B, D)
    """The same directions with lengths from 0.001 to 0.1, the short ones as often as the long ones."""
    lengths = 1.1 * SHORTEST * 90 ** torch.rand(len(vectors), 1, generator=draw.generator)  # (B, 1)
    return vectors * (lengths / vectors.norm(dim=1, keepdim=True))


def any_embeddings(draw: Draw) -> Case:
    """Also short vectors and long ones, pairs that come twice, and an image that is like none of the texts."""
    draw.sized(B=(1, 7), D=(2, draw.pick(9, 60)))
    pairs = draw.pick(torch.arange(draw.sizes["B"]), draw.integers("B", draw.sizes["B"]))
    given = {name: draw.pick(_shortened(draw, x), x, 100.0 * x)[pairs] for name, x in _embeddings(draw).items()}
    longer = {name: x * (2 * SHORTEST / x.norm(dim=1, keepdim=True)).clamp(min=1) for name, x in given.items()}
    if draw.pick(True, False, False):
        longer["image_emb"] = torch.cat([-longer["text_emb"].sum(dim=0, keepdim=True), longer["image_emb"][1:]])
    temperature = draw.pick(0.005, 0.02, 0.07, 0.3, 1, 2.0, 20.0)
    emb: dict[str, Any] = {name: draw.laid_out(x) for name, x in longer.items()}
    return draw.case(**emb, temperature=temperature, asks="large logits" if temperature < 0.1 else None)


@exercise(
    inputs=any_embeddings,
    properties={"shape": 1, "values": 2, "large logits": 1, "gradients": 1},
    axes={"B": "pairs"},
    act=_loss,
    holds=_have_directions,
    when_right="The other pairs of the batch are the wrong answers: nobody had to label anything.",
)
def clip_loss(seed: int) -> Iterator[Case]:
    for batch, width, temperature, note in (
        (5, 7, 0.5, ""), (6, 3, 2.0, "for temperature = 2"), (4, 4, 1.0, "when B = D"),
        (1, 6, 0.3, "for a single pair, which can't be confused"),
    ):  # fmt: skip
        draw = Draw(seed, B=batch, D=width)
        yield draw.case(**_embeddings(draw), temperature=temperature, note=note)

    draw = Draw(seed, B=5, D=6)
    short: dict[str, Any] = {name: _shortened(draw, x) for name, x in _embeddings(draw).items()}
    yield draw.case(**short, temperature=0.5, note="for short vectors")

    draw = Draw(seed, B=4, D=9)
    yield draw.case(**_embeddings(draw), temperature=0.07, asks="large logits", note="for temperature = 0.07")

    def directions(draw: Draw, images: Tensor, texts: Tensor, note: str) -> Case:
        """Vectors in the plane, given by their angles (B,), the pairs in any order."""
        order = draw.permutation(len(images))
        image_emb, text_emb = (torch.stack([way.cos(), way.sin()], dim=1)[order] for way in (images, texts))
        return draw.case(image_emb=3.0 * image_emb, text_emb=2.0 * text_emb, temperature=0.005, asks="large logits",
                         note=note)  # fmt: skip

    draw = Draw(seed, B=4, D=2)
    angles = math.pi / 2 * torch.arange(4) + 0.1 * torch.rand(4, generator=draw.generator)
    opposite = angles + math.pi + torch.tensor([0.2, 0.3, 0.4, 0.9])
    yield directions(draw, angles, opposite, "when pairs are nearly opposite: logits of −200 to 200")
    draw = Draw(seed, B=5, D=2)
    angles = 0.15 * torch.arange(5) + 0.1 * torch.rand(5, generator=draw.generator)
    yield directions(draw, angles, angles.roll(1), "when all vectors are alike: logits of 150 to 200")
    draw = Draw(seed, B=4, D=2)
    angles = 0.1 * torch.arange(4) + 0.1 * torch.rand(4, generator=draw.generator)
    apart = torch.tensor([0.0, 0.0, 0.0, 1.3])
    yield directions(
        draw, angles + apart, angles.roll(1) - apart.roll(1), "when all of an image's logits lie far below the others'"
    )


quiz_which_model = quiz(
    "quiz_which_model",
    {
        "a million mails a day into ten folders": (
            "a small encoder, fine-tuned",
            "a large decoder, prompted",
            "two encoders, one space",
        ),
        "the summary of an article": ("an encoder alone", "encoder and decoder", "two encoders, one space"),
        "go on with a story": ("an encoder", "a decoder", "two encoders, one space"),
        "three examples, no training": (
            "an encoder, fine-tuned",
            "a small decoder, prompted",
            "a large decoder, prompted",
        ),
        "a contract of 16,000 tokens": ("full attention", "sparse attention", "the first 512 tokens"),
        "half the computation of BERT base": (
            "half as many layers",
            "one set of weights for all layers",
            "a smaller vocabulary",
        ),
        "find photos by words": ("an image encoder alone", "a decoder of text", "two encoders, one space"),
    },
    when_right="You can say which branch fits, and why. That is the whole tree.",
)
