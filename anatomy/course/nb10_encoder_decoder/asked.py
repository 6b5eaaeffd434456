"""What 10-encoder-decoder asks.

What is written by an answer that decodes is decided by models and tables of the judge's own, in which the right path is
known and each wrong turn leads elsewhere: random weights would hide most mistakes.
"""

from __future__ import annotations

import contextlib
import copy
import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.course.nb05_encoder_layer.asked import part_outputs
from anatomy.course.nb09_causal_mask.asked import some_keys
from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz, seed_from

TOKENS = {"T": "target tokens", "S": "source tokens"}


def _config(width: int, heads: int, inner: int = 1, dropout: float = 0.1, eps: float = 5e-6, **others: Any) -> Any:
    """A config. Its eps lies between PyTorch's 1e-5 and BERT's 1e-12: neither shows where eps is not asked for."""
    from transformers import BertConfig  # only when cases are built: it is slow to import

    return BertConfig(
        hidden_size=width, num_attention_heads=heads, intermediate_size=inner, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=1.75 * dropout, layer_norm_eps=eps, max_position_embeddings=4, **others,
    )  # fmt: skip


def _padded(ids: Tensor, lengths: list[int], pad_id: int) -> Tensor:
    """(B, T): the first so many ids of each row, then padding."""
    return ids.where(torch.arange(ids.size(1)) < torch.tensor(lengths)[:, None], pad_id)


def _any_padded(draw: Draw, letters: str, size: int, pad_id: int) -> Tensor:
    """Token ids below `size`, each row with at least one; some rows end with padding, in one draw of three none."""
    ids = draw.integers(letters, size - 1)
    rows, longest = ids.shape
    lengths = [draw.whole(1, longest) for _ in range(rows)] if draw.pick(True, True, False) else [longest] * rows
    return draw.laid_out(_padded(ids + (ids >= pad_id), lengths, pad_id))


def _padding_comes_last(ids: Tensor, pad_id: int) -> bool:
    """Whether each row of (B, T) has a token, and nothing but padding behind the first padding."""
    real = ids != pad_id
    return bool(real[:, 0].all()) and not bool((real[:, 1:] & ~real[:, :-1]).any())


def _target_is_padded(case: Case) -> bool:
    return _padding_comes_last(case.args["target"], case.args["pad_id"])


def _real(size: int, lengths: list[int]) -> Tensor:
    """(B, 1, 1, S): True for the first so many keys of each row."""
    return (torch.arange(size) < torch.tensor(lengths)[:, None])[:, None, None, :]


def _added(mask: Tensor) -> Tensor:
    """A boolean mask as numbers to be added to scores: 0 where it is True, −∞ elsewhere."""
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


def _without_dropout(module: nn.Module, case: Case, results: Callable[[Any], Any]) -> nn.Module | None:
    """A module of the same kind and weights made for p = 0, in eval mode.

    None where it can't be made, or where one made for the same p doesn't give the same `results` as this one: then it
    has more than its weights, or noise in eval mode.
    """
    config = copy.copy(case.init[0])
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    with contextlib.suppress(Exception):
        alike, twin = type(module)(case.init[0]), type(module)(config)
        for one in (alike, twin):
            one.load_state_dict(module.state_dict())
        if torch.allclose(results(alike.eval()), results(module.eval()), atol=1e-4):
            return twin.eval()
    return None


def _any(draw: Draw, low: int, high: int) -> int:
    return int(draw.integers("1", high + 1, low))


def _two(draw: Draw, low: int, high: int) -> tuple[int, int]:
    """Two different numbers of these."""
    one, other = (low + draw.permutation(high - low + 1)[:2]).tolist()
    return one, other


# ---------------------------------------------------------------------------------------------- shift_right


def any_target(draw: Draw) -> Case:
    draw.sized(B=(1, 5), T=(1, draw.pick(8, 8, 600)))
    size = draw.pick(9, 300, 40_000)
    return draw.case(target=draw.ids("B T", size), start_id=draw.whole(0, size - 1))


@exercise(
    inputs=any_target,
    properties={"shape": 1, "values": 2},
    returns="B T",
    axes=TOKENS,
    when_right="At each position the decoder has seen the tokens before the one that it writes, and not that one.",
)
def shift_right(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=6)
    yield draw.case(target=draw.integers("B T", 30, low=5), start_id=2)
    draw = Draw(seed, B=4, T=7)
    padded = _padded(draw.integers("B T", 30, low=5), [3, 7, 5, 1], 0)
    yield draw.case(target=padded, start_id=1, note="when the rows end with padding")
    draw = Draw(seed, B=2, T=5)
    across = draw.integers("T B", 30, low=5).T
    yield draw.case(target=across, start_id=0, note="when the start token has the id 0")
    draw = Draw(seed, B=3, T=1)
    yield draw.case(target=draw.integers("B T", 30, low=5), start_id=3, note="for targets of a single token")
    draw = Draw(seed, B=1, T=4)
    yield draw.case(target=draw.integers("B T", 30, low=5), start_id=40, note="for a single target")


# ---------------------------------------------------------------------------------------------- decoder_mask


def any_padded_target(draw: Draw) -> Case:
    draw.sized(B=(1, 5), T=(1, draw.pick(8, 40)))
    size = draw.pick(3, 30, 300)
    pad_id = draw.whole(0, size - 1)
    return draw.case(target=_any_padded(draw, "B T", size, pad_id), pad_id=pad_id)


@exercise(
    inputs=any_padded_target,
    properties={"shape": 1, "values": 3},
    returns="B 1 T T",
    axes={"T": "tokens"},
    holds=_target_is_padded,
    when_right="No token sees a later one, and none sees padding. The source needs no such mask: it is all there.",
)
def decoder_mask(seed: int) -> Iterator[Case]:
    sizes = Draw(seed)

    def case(lengths: list[int], length: int, pad_id: int, low: int = 5, zero: bool = False, note: str = "") -> Case:
        draw = Draw(seed, B=len(lengths), T=length)
        ids = draw.integers("B T", 30, low=low)
        if zero:
            ids[:, 2] = 0
        return draw.case(target=_padded(ids, lengths, pad_id), pad_id=pad_id, note=note)

    length = _any(sizes, 7, 20)
    short, middle = _two(sizes, 3, length - 1)
    yield case([short, length, middle], length, 3, zero=True, note="when padding has the id 3")
    length = _any(sizes, 6, 18)
    yield case([*_two(sizes, 1, length - 1)], length, 0, low=1)
    length = _any(sizes, 5, 16)
    yield case([length] * 4, length, 1, note="when there is no padding")
    length = _any(sizes, 4, 14)
    yield case([_any(sizes, 2, length - 1)], length, 2, note="for a single sentence")
    yield case([1, 1], 1, 0, note="for a single token")
    length = _any(sizes, 4, 8)
    lengths = (1 + sizes.permutation(length)).tolist()
    yield case(lengths, length, 0, note="when B equals T")


# ---------------------------------------------------------------------------------------------- CrossAttention


def _run_cross_attention(module: Any, case: Case) -> Any:
    """The result; under a mask without its gradients, which float32 can't give where scores lie hundreds apart."""
    result = module(*case.args.values())
    return result.detach() if case.asks == "mask" and isinstance(result, Tensor) else result


def _any_mask(draw: Draw, queries: str, keys: str) -> Tensor:
    letters = draw.pick(f"{queries} {keys}", f"B H {queries} {keys}", f"B 1 {queries} {keys}", f"B 1 1 {keys}")
    return draw.laid_out(some_keys(draw, letters))


def any_two_sequences(draw: Draw) -> Case:
    draw.sized(B=(1, 3), T=(1, 7), S=(1, draw.pick(7, 80)), H=(1, 4), K=(1, 5))
    width = draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]
    given: dict[str, Any] = {"x": draw.floats("B T D"), "memory": draw.floats("B S D")}
    masked = draw.pick(True, False)
    if masked:
        given |= {"x": draw.pick(1, 300) * given["x"], "mask": _any_mask(draw, "T", "S")}
    else:
        given |= draw.pick({}, {"mask": None})
    return draw.case(init=(_config(width, draw.sizes["H"]),), **given, asks="mask" if masked else None)


@exercise(
    inputs=any_two_sequences,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "mask": 1},
    returns="B T D",
    axes=TOKENS,
    act=_run_cross_attention,
    when_right="The decoder asks, the encoder's vectors answer: the only door between the two halves.",
)
def CrossAttention(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7, D=12, H=3, K=4)
    yield draw.case(init=(_config(12, 3),), x=draw.normal("B T D"), memory=draw.normal("B S D"))
    draw = Draw(seed, B=3, T=6, S=4, D=10, H=2, K=5)
    across = draw.normal("B D T", scale=2.0).transpose(1, 2), draw.normal("S B D").transpose(0, 1)
    yield draw.case(init=(_config(10, 2),), x=across[0], memory=across[1], note="when S < T")
    draw = Draw(seed, B=3, T=5, S=5, D=8, H=4, K=2)
    yield draw.case(init=(_config(8, 4),), x=draw.normal("B T D"), memory=draw.normal("B S D"), note="when S equals T")
    draw = Draw(seed, B=2, T=1, S=6, D=9, H=1, K=9)
    yield draw.case(init=(_config(9, 1),), x=draw.normal("B T D"), memory=draw.normal("B S D"),
                    note="for a single query and a single head")  # fmt: skip
    draw = Draw(seed, B=1, T=3, S=1, D=6, H=2, K=3)
    yield draw.case(init=(_config(6, 2),), x=draw.normal("B T D"), memory=draw.normal("B S D"),
                    note="for a single sentence whose source is a single token")  # fmt: skip
    draw = Draw(seed, B=3, T=4, S=6, D=12, H=2, K=6)
    vectors: dict[str, Any] = {"x": draw.normal("B T D", scale=3.0), "memory": draw.normal("B S D", scale=3.0)}
    masks = {
        "for sources of 6, 2 and 4 tokens in one batch": _real(6, [6, 2, 4]),
        "when each query has keys of its own": draw.normal("B 1 T S") > torch.tensor([-9.0, 0, 0, 0, 0, 0]),
        "for a mask of shape (T, S)": draw.normal("T S") > torch.tensor([0.0, 0, 0, -9, 0, 0]),
        "for a mask of shape (B, H, T, S)": draw.normal("B H T S") > torch.tensor([0.0, 0, 0, 0, -9, 0]),
    }
    for note, mask in masks.items():
        yield draw.case(init=(_config(12, 2),), **vectors, mask=mask, asks="mask", note=note)
    draw = Draw(seed, B=2, T=9, S=5, D=8, H=2, K=4)
    far = draw.normal("B T D", scale=300.0)
    yield draw.case(init=(_config(8, 2),), x=far, memory=draw.normal("B S D", scale=5.0), mask=_real(5, [1, 3]),
                    asks="mask", note="when scores lie hundreds apart")  # fmt: skip


# ---------------------------------------------------------------------------------------------- the layer

LAST = {
    "attention": "attention.output_linear",
    "cross_attention": "cross_attention.output_linear",
    "feed_forward": "feed_forward.linear_2",
}
"""The layers whose results dropout must reach, each the last before its addition."""


def _run_layer(layer: Any, case: Case) -> Any:
    """The layer's result in eval mode; or its results with dropout, part by part.

    A mask is no parameter: gradients of one that is made of numbers are nobody's concern.
    """
    if case.asks != "dropout" or not isinstance(layer, nn.Module):
        given = [one.detach() if "mask" in name and isinstance(one, Tensor) else one for name, one in case.args.items()]
        return (layer.eval() if isinstance(layer, nn.Module) else layer)(*given)
    x, memory, part = case.args["x"], case.args["memory"], case.args.get("part")
    with torch.no_grad():
        if part is not None:
            twin = _without_dropout(layer, case, lambda one: one(x.clone(), memory.clone()))
            return part_outputs(layer, (x, memory), part, case.init[0].hidden_dropout_prob, LAST, twin)
        calm, noisy = layer.eval()(x.clone(), memory), layer.train()(x.clone(), memory)
    layer.eval()
    return None if calm is None else {"calm": calm, "noisy": noisy}


def any_two_sequences_and_masks(draw: Draw) -> Case:
    draw.sized(B=(1, 3), T=(1, 7), S=(1, draw.pick(7, 7, 80)), H=(1, 3), K=(3, 5), F=(1, 12))
    width = draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]
    given: dict[str, Any] = {"x": draw.floats("B T D", "plain", "wide", "negative"), "memory": draw.floats("B S D")}
    mask = _any_mask(draw, "T", "T")
    mask = draw.pick(mask, mask, draw.laid_out(_added(mask)))
    masks: dict[str, Any] = draw.pick(
        {}, {"mask": None}, {"mask": mask}, {"mask": draw.pick(None, mask), "memory_mask": _any_mask(draw, "T", "S")}
    )
    asks = "masks" if any(mask is not None for mask in masks.values()) else draw.pick(None, None, "eps")
    config = _config(width, draw.sizes["H"], draw.sizes["F"], eps=0.3 if asks == "eps" else 5e-6)
    return draw.case(init=(config,), **given, **masks, asks=asks)


@exercise(
    inputs=any_two_sequences_and_masks,
    kind="module",
    properties={"values": 2, "parameters": 1, "gradients": 1, "dropout": 1, "masks": 1, "eps": 1},
    returns="B T D",
    axes=TOKENS,
    act=_run_layer,
    when_right="Three parts, three sums, three norms. Six of these were the decoder of 2017.",
)
def TransformerDecoderLayer(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=5, S=7, D=12, H=3, K=4, F=20)
    yield draw.case(init=(_config(12, 3, 20),), x=draw.normal("B T D", scale=4.0, shift=0.5),
                    memory=draw.normal("B S D"))  # fmt: skip
    draw = Draw(seed, B=3, T=6, S=4, D=10, H=2, K=5, F=6)
    yield draw.case(init=(_config(10, 2, 6, dropout=0.3),), x=draw.normal("B D T", scale=4.0).transpose(1, 2),
                    memory=draw.normal("B S D", scale=2.0), note="when S < T")  # fmt: skip
    draw = Draw(seed, B=1, T=1, S=1, D=8, H=2, K=4, F=8)
    yield draw.case(init=(_config(8, 2, 8),), x=draw.normal("B T D", scale=6.0), memory=draw.normal("B S D"),
                    note="for one sentence of one token, and a source of one")  # fmt: skip
    for length in (5, 6):
        draw = Draw(seed, B=3, T=length, S=6, D=12, H=2, K=6, F=16)
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        mask, memory_mask = causal & _real(length, [length, 2, 3]), _real(6, [2, 6, 4])
        given: dict[str, Any] = {
            "init": (_config(12, 2, 16),),
            "x": draw.normal("B T D", scale=4.0),  # so large that no eps shows
            "memory": draw.normal("B S D"),
        }
        both = "when both masks are given" + (", and T equals S" if length == 6 else "")
        yield draw.case(**given, mask=mask, memory_mask=memory_mask, asks="masks", note=both)
        yield draw.case(**given, mask=mask, asks="masks", note="when `mask` alone is given")
        yield draw.case(**given, mask=None, memory_mask=memory_mask, asks="masks",
                        note="when `memory_mask` alone is given")  # fmt: skip
        if length == 5:
            yield draw.case(**given, mask=_added(mask), asks="masks", note="when `mask` has the numbers 0 and −∞")
    draw = Draw(seed, B=2, T=5, S=3, D=8, H=2, K=4, F=11)
    yield draw.case(init=(_config(8, 2, 11, eps=0.3),), x=draw.normal("B T D", scale=0.003),
                    memory=draw.normal("B S D"), asks="eps", note="for layer_norm_eps = 0.3")  # fmt: skip
    draw = Draw(seed, B=24, T=40, S=2, D=3, H=1, K=3, F=8)
    yield draw.case(init=(_config(3, 1, 8, dropout=0.0),), x=draw.normal("B T D"), memory=draw.normal("B S D"),
                    asks="dropout", note="for p = 0")  # fmt: skip
    for part in LAST:
        yield draw.case(init=(_config(3, 1, 8, dropout=0.4),), x=draw.normal("B T D"), memory=draw.normal("B S D"),
                        part=part, asks="dropout", once=True,
                        note="for p = 0.4")  # fmt: skip


# ---------------------------------------------------------------------------------------------- the model


def _run_transformer(model: Any, case: Case) -> Any:
    """Logits at the real tokens of the target; or one half of the model; or what dropout leaves."""
    args, model = case.args, model.eval() if isinstance(model, nn.Module) else model
    if case.asks == "dropout":
        return _inside(model, case) if "memory" in args else _entering(model, case)
    if case.asks == "encode and decode":
        if "target" not in args:
            return {"pad_id": model.pad_id, "encode": _at_real(model.encode(args["source"]), args["source"], case)}
        return _at_real(model.decode(args["target"], args["memory"], args["source"]), args["target"], case)
    return _at_real(model(args["source"], args["target"]), args["target"], case)


def _at_real(result: Any, ids: Tensor, case: Case) -> Any:
    """What comes out at real tokens; what stands at padding is nobody's concern, and set to zero."""
    if not isinstance(result, Tensor) or result.shape[:-1] != ids.shape:
        return result
    return result.masked_fill((ids == case.init[0].pad_token_id)[..., None], 0.0)


@torch.no_grad()
def _entering(model: Any, case: Case) -> dict[str, Any]:
    """What a model without layers makes of what goes into the first one, in eval mode and twice in training mode."""
    source, target = case.args["source"], case.args["target"]
    memory = torch.zeros(1, 1, case.sizes["D"]).expand(*source.shape, -1)

    def halves(model: Any) -> dict[str, Any]:
        return {"decoder": model.decode(target, memory, source), "encoder": model.encode(source)}

    calm = halves(model)
    twin = _without_dropout(model, case, lambda one: one.encode(source))
    undropped = {} if twin is None else {"undropped": halves(twin)}
    model.train()
    noisy, again = halves(model), halves(model)
    model.eval()
    return {"calm": calm, "noisy": noisy, "again": again, "table": model.token_embeddings.weight, **undropped}


def _inside(model: Any, case: Case) -> dict[str, Any]:
    """Of a model with a layer on each side, in training mode: what its layers return, and gradients of what they get.

    A dropped number has the gradient 0. Each token occurs once in both texts, and the logits of token 0 alone are
    looked at, so a row of the table has the gradient of one token's vector.
    """
    source, target, memory = (case.args[name] for name in ("source", "target", "memory"))
    model.train()
    with torch.enable_grad():
        memory, table = memory.detach().requires_grad_(), model.token_embeddings.weight
        encoded, logits = model.encode(source), model.decode(target, memory, source)
        (read,) = _gradients(encoded.pow(3).sum(), table)
        written, asked = _gradients(logits[..., 0].sum(), table, memory)
    model.eval()
    return {
        **{"into the encoder": read[source], "into the decoder": written[target], "memory": asked},
        **{"encoded": encoded.detach(), "logits": logits.detach(), "weight": table.detach()},
    }


def _gradients(result: Tensor, *inputs: Tensor) -> list[Tensor]:
    """The result's gradients, zeros where nothing leads back."""
    none = [torch.zeros_like(one) for one in inputs]
    if not result.requires_grad:
        return none
    found = torch.autograd.grad(result, inputs, allow_unused=True)
    return [zeros if one is None else one.to_dense() for one, zeros in zip(found, none, strict=True)]


def _texts_are_padded(case: Case) -> bool:
    texts = (case.args[name] for name in ("source", "target") if name in case.args)
    return all(_padding_comes_last(ids, case.init[0].pad_token_id) for ids in texts)


def _model_case(draw: Draw, layers: int, pad_id: int = 0, dropout: float = 0.1, **others: Any) -> Case:
    size, width, heads, inner = (draw.sizes[letter] for letter in "VDHF")
    config = _config(width, heads, inner, dropout, vocab_size=size, num_hidden_layers=layers, pad_token_id=pad_id)
    return draw.case(init=(config,), **others)


def any_texts(draw: Draw) -> Case:
    draw.sized(B=(1, 3), S=(1, draw.pick(7, 7, 40)), T=(1, draw.pick(7, 40)), V=(2, draw.pick(12, 300)), F=(1, 9))
    draw.sizes |= {"H": draw.whole(1, 2), "L": draw.pick(1, 1, 2)}
    draw.sizes["D"] = draw.sizes["H"] * draw.pick(4, 6)
    pad_id = draw.whole(0, draw.sizes["V"] - 1)
    source, target = (_any_padded(draw, letters, draw.sizes["V"], pad_id) for letters in ("B S", "B T"))
    padded = bool((source == pad_id).any() or (target == pad_id).any())
    given, asks = draw.pick(
        ({"source": source, "target": target}, "padding" if padded else None),
        ({"source": source, "target": target}, "padding" if padded else None),
        ({"source": source}, "encode and decode"),
        ({"target": target, "memory": draw.floats("B S D"), "source": source}, "encode and decode"),
    )
    return _model_case(draw, draw.sizes["L"], pad_id, **given, asks=asks)


@exercise(
    inputs=any_texts,
    kind="module",
    properties={"values": 2, "parameters": 1, "gradients": 1, "dropout": 1, "padding": 1, "encode and decode": 1},
    returns="B T V",
    axes=TOKENS,
    act=_run_transformer,
    holds=_texts_are_padded,
    when_right="The model of 2017, with every part of it yours. Now it needs something to learn.",
)
def Transformer(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, S=6, T=4, V=11, D=8, H=4, F=7, L=1)
    ids: dict[str, Any] = {"source": draw.integers("B S", 11, low=1), "target": draw.integers("B T", 11, low=1)}
    yield _model_case(draw, 1, dropout=0.0, **ids)
    draw = Draw(seed, B=3, S=4, T=5, V=13, D=12, H=2, F=20, L=3)
    ids = {"source": draw.integers("B S", 13, low=1), "target": draw.integers("B T", 13, low=1)}
    yield _model_case(draw, 3, **ids, note="for three layers")
    draw = Draw(seed, B=1, S=1, T=1, V=7, D=6, H=3, F=8, L=1)
    ids = {"source": draw.integers("B S", 7, low=1), "target": draw.integers("B T", 7, low=1)}
    yield _model_case(draw, 1, **ids, note="for a source and a target of one token")
    for pad_id, sizes in ((0, {"S": 7, "T": 5}), (3, {"S": 6, "T": 6})):
        draw = Draw(seed, B=3, **sizes, V=13, D=8, H=2, F=16, L=2)
        source, target = draw.integers("B S", 13, low=4), draw.integers("B T", 13, low=4)
        source[:, 0] = target[:, 1] = 0 if pad_id else 1
        source = _padded(source, [sizes["S"], 2, sizes["S"] - 1], pad_id)
        target = _padded(target, [3, sizes["T"], 4], pad_id)
        yield _model_case(draw, 2, pad_id, source=source, target=target, asks="padding",
                   note=f"when padding has the id {pad_id}")  # fmt: skip
    yield _model_case(draw, 2, pad_id, source=source, asks="encode and decode", note="for `encode` alone")
    yield _model_case(draw, 2, pad_id, target=target[:, :2], memory=draw.normal("B S D"), source=source, sizes={"T": 2},
               asks="encode and decode", note="for `decode` alone, of the first two tokens")  # fmt: skip
    draw = Draw(seed, B=24, S=30, T=25, V=9, D=4, H=2, F=6, L=0)
    ids = {"source": draw.integers("B S", 9, low=1), "target": draw.integers("B T", 9, low=1)}
    yield _model_case(draw, 0, dropout=0.4, **ids, asks="dropout", note="for p = 0.4, in a model without layers")
    draw = Draw(seed, B=1, S=60, T=70, V=131, D=8, H=2, F=6, L=1)
    source, target = (1 + draw.permutation(130))[None].split([60, 70], dim=1)
    yield _model_case(draw, 1, dropout=0.4, target=target, memory=draw.normal("B S D"), source=source, asks="dropout",
               note="for p = 0.4, in a model with one layer on each side")  # fmt: skip


# ---------------------------------------------------------------------------------------------- a model that is known


class Writer(nn.Module):
    """A model of the judge's own with the names of `Transformer`, whose next token depends on the whole source and on
    all that was written. Its first source token says how many tokens it writes until its end token; after twice as many
    it writes a second one.

    It keeps its calls. All logits for one place are apart by 1 at least, so rounding decides nothing.
    """

    def __init__(self, draw: Draw, pad_id: int, end_id: int | None = None, steep: float = 1.0) -> None:
        super().__init__()
        states, size = 97, draw.sizes["V"]
        noise = torch.rand(states, size, generator=draw.fork("writer", pad_id))
        self.table = nn.Parameter(steep * noise.argsort(dim=-1).float())  # (states, V)
        self.pad_id, self.end_id = pad_id, end_id
        self.encoded, self.decoded = 0, 0
        self.logits = torch.empty(0)

    def encode(self, source: Tensor) -> Tensor:  # (B, S) -> (B, S, 2)
        self.encoded += 1
        return self._memory(source)

    def _memory(self, source: Tensor) -> Tensor:
        return torch.stack([source, source.cumsum(dim=1)], dim=-1).float()

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:  # (B, T) -> (B, T, V)
        self.decoded += 1
        self._refuse(target, memory, source)
        steps = torch.arange(1, source.size(1) + 1)
        state = (memory[..., 0].long() * steps).sum(dim=1)  # (B,)
        states = []
        for column in target.unbind(dim=1):
            state = (5 * state + 3 * column + 1) % len(self.table)
            states.append(state)
        self.logits = self.table[torch.stack(states, dim=1)].detach().requires_grad_()  # (B, T, V)
        if self.end_id is None:
            return 1.0 * self.logits
        logits = self.logits.detach().clone()
        written = torch.arange(1, target.size(1) + 1)  # what is written next is the first token, the second …
        wants_end = (written == source[:, :1]) | (written == 2 * source[:, :1])  # (B, T)
        logits[..., [self.pad_id, self.end_id]] = -50.0
        logits[..., self.end_id] += 100.0 * wants_end
        return logits - 1000.0  # all below 0, as logits may be

    def _refuse(self, target: Tensor, memory: Tensor, source: Tensor) -> None:
        if target.dim() != 2 or target.is_floating_point() or len(target) != len(source):
            shapes = f"{tuple(target.shape)} for a source {tuple(source.shape)}"
            raise ValueError(f"`decode` takes the ids written so far, (B, T), for each row of the source, not {shapes}")
        if source.dim() != 2 or source.is_floating_point():
            raise ValueError("`decode` takes (target, memory, source): the third must be the source's ids, (B, S)")
        if memory.dim() != 3:
            raise ValueError(f"`decode` takes a memory (B, S, D), as `encode` returns it, not {tuple(memory.shape)}")
        if memory.shape[:2] != source.shape:
            shapes = f"{tuple(memory.shape)} for a source {tuple(source.shape)}"
            raise ValueError(f"`decode` takes a memory with one vector for each token of the source, not {shapes}")
        if memory.shape[2] != 2 or not torch.equal(memory, self._memory(source)):
            raise ValueError("`decode` takes (target, memory, source): memory and source don't belong together")

    def forward(self, source: Tensor, target: Tensor, /) -> Tensor:  # (B, S), (B, T) -> (B, T, V)
        return self.decode(target, self.encode(source), source)

    def __repr__(self) -> str:
        return "a model"


# ---------------------------------------------------------------------------------------------- teacher_forcing_loss


def _loss(answer: Any, case: Case) -> Any:
    """The loss; or its gradient with respect to the model's logits, where it has a way back."""
    if case.asks != "gradient":
        return answer(*case.args.values())
    with torch.enable_grad():
        loss = answer(*case.args.values())
        if not isinstance(loss, Tensor) or not loss.requires_grad or loss.dim():
            return loss
        (gradient,) = torch.autograd.grad(loss, case.args["model"].logits, allow_unused=True)
    return {"gradient": gradient}


def any_translation(draw: Draw) -> Case:
    draw.sized(B=(1, 4), S=(1, 6), T=(1, 7), V=(2, draw.pick(12, 300)))
    size = draw.sizes["V"]
    pad_id, start_id = draw.permutation(size)[:2].tolist()
    target = _any_padded(draw, "B T", size, pad_id).contiguous()
    asks = draw.pick("gradient", *["padding" if (target == pad_id).any() else None] * 3)
    steep = 10 / size if asks == "gradient" else draw.pick(0.25, 1.0, 20.0)
    return draw.case(model=Writer(draw, pad_id, steep=steep), source=draw.integers("B S", size), target=target,
                     start_id=start_id, pad_id=pad_id, asks=asks)  # fmt: skip


@exercise(
    inputs=any_translation,
    properties={"values": 2, "padding": 2, "gradient": 1},
    axes=TOKENS,
    act=_loss,
    holds=_target_is_padded,
    when_right="The model learns from all positions at once, each as if everything before it had been written "
    "correctly.",
)
def teacher_forcing_loss(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, S=4, T=6, V=11)
    plain: dict[str, Any] = {"source": draw.integers("B S", 11), "target": draw.integers("B T", 11, low=2)}
    yield draw.case(model=Writer(draw, 0), **plain, start_id=1, pad_id=0)
    draw = Draw(seed, B=2, S=5, T=3, V=9)
    target = draw.integers("B T", 8)
    target[0, 1], target[1, 0] = 0, 7
    yield draw.case(model=Writer(draw, 8, steep=0.25), source=draw.integers("B S", 9), target=target, start_id=7,
                    pad_id=8, note="when padding has the id 8")  # fmt: skip
    draw = Draw(seed, B=1, S=3, T=1, V=7)
    yield draw.case(model=Writer(draw, 0), source=draw.integers("B S", 7), target=draw.integers("B T", 7, low=2),
                    start_id=1, pad_id=0, note="for one target of one token")  # fmt: skip
    draw = Draw(seed, B=3, S=4, T=4, V=8)
    yield draw.case(model=Writer(draw, 0, steep=60.0), source=draw.integers("B S", 8),
                    target=draw.integers("B T", 8, low=2), start_id=1, pad_id=0,
                    note="when logits lie hundreds apart")  # fmt: skip
    draw = Draw(seed, B=4, S=3, T=7, V=10)
    target = draw.integers("B T", 10, low=4)
    target[:, 0] = 0
    yield draw.case(model=Writer(draw, 3), source=draw.integers("B S", 10),
                    target=_padded(target, [7, 2, 4, 1], 3), start_id=2, pad_id=3, asks="padding",
                    note="for targets of 7, 2, 4 and 1 tokens; padding has the id 3")  # fmt: skip
    draw = Draw(seed, B=2, S=6, T=5, V=12)
    target = _padded(draw.integers("B T", 12, low=2), [3, 4], 0)
    yield draw.case(model=Writer(draw, 0), source=_padded(draw.integers("B S", 12, low=1), [2, 6], 0), target=target,
                    start_id=1, pad_id=0, asks="padding", note="when every target ends with padding")  # fmt: skip
    draw = Draw(seed, B=3, S=4, T=5, V=6)
    target = _padded(draw.integers("B T", 5, low=2), [5, 2, 3], 1)
    yield draw.case(model=Writer(draw, 1, steep=0.5), source=draw.integers("B S", 6), target=target, start_id=5,
                    pad_id=1, asks="gradient")  # fmt: skip


# ---------------------------------------------------------------------------------------------- greedy_decode


def _written(answer: Any, case: Case) -> Any:
    """What was written; or how often the model was asked."""
    written, model = answer(*case.args.values()), case.args["model"]
    return {"encode": model.encoded, "decode": model.decoded} if case.asks == "work" else written


def _writing(
    draw: Draw, lengths: list[int], max_len: int, asks: str | None = None, note: str = "", *,
    pad_id: int, start_id: int, end_id: int,
) -> Case:  # fmt: skip
    """Sources for which so many tokens are written, the end token among them."""
    draw.sizes["N"] = min(max_len, max(lengths))
    rest = draw.integers(f"B {draw.sizes['S'] - 1}", draw.sizes["V"])
    source = torch.cat([torch.tensor(lengths)[:, None], rest], dim=1)  # (B, S)
    return draw.case(model=Writer(draw, pad_id, end_id), source=source, start_id=start_id, end_id=end_id,
                     max_len=max_len, asks=asks, note=note)  # fmt: skip


def any_sources(draw: Draw) -> Case:
    draw.sized(B=(1, 5), S=(1, 6), V=(4, draw.pick(9, 300)))
    lengths = [draw.pick(draw.whole(1, 9), draw.whole(1, 9), 30) for _ in range(draw.sizes["B"])]
    ids = dict(zip(("pad_id", "start_id", "end_id"), draw.permutation(draw.sizes["V"])[:3].tolist(), strict=True))
    asks = draw.pick("work", *["ends" if len(set(lengths)) > 1 else None] * 3)
    return _writing(draw, lengths, draw.whole(1, 12), asks, **ids)


@exercise(
    inputs=any_sources,
    properties={"values": 2, "ends": 2, "work": 1},
    returns="B N",
    axes=TOKENS,
    act=_written,
    when_right="Nothing is given any more but the source: the model reads its own words.",
)
def greedy_decode(seed: int) -> Iterator[Case]:
    def case(lengths: list[int], max_len: int, asks: str | None = None, note: str = "", **ids: int) -> Case:
        known = {"pad_id": 0, "start_id": 1, "end_id": 2} | ids
        return _writing(Draw(seed, B=len(lengths), S=4, V=12), lengths, max_len, asks, note, **known)

    yield case([5, 5, 5], 9, note="when all rows end with their fifth token")
    yield case([4], 7, pad_id=3, start_id=0, end_id=11, note="for a single source")
    yield case([30, 30], 6, note="when no row ends")
    yield case([1, 1, 1, 1], 5, note="when all rows end at once")
    yield case([9, 9], 1, note="for max_len = 1")
    yield case([4, 4, 4], 4, note="when all rows end with the last token allowed")
    yield case([2, 5, 3], 8, "ends", "when rows end with their second, fifth and third token")
    yield case([6, 1], 9, "ends", "when one row ends at once", pad_id=5, start_id=0, end_id=7)
    yield case([3, 30, 2, 4], 6, "ends", "when one row never ends", pad_id=9)
    sizes = Draw(seed)
    longest = _any(sizes, 5, 30)
    lengths = [*_two(sizes, 2, longest - 1)]
    lengths.insert(1, longest)  # neither the first nor the last row says when all have ended
    yield case(lengths, longest + 3, "work", "when rows end with their tokens {}, {} and {}".format(*lengths))


# ---------------------------------------------------------------------------------------------- beam_search

LOW = -20.0
"""The log-probability of what a table does not name."""

SIZE = 60
"""Tokens of a table that is spelled. Its few letters are others each time, so that no answer is right by chance."""

Row = Callable[[tuple[int, ...]], Mapping[int, float]]
"""What may follow a beginning, start token included: token → log-probability."""


class Step:
    """Log-probabilities of what follows, from a table. It keeps the lengths of the beginnings that it is asked for.

    After the end token anything is nearly certain, so whoever goes on there goes astray. All values are multiples of
    2⁻¹⁶: sums are exact, and rounding decides nothing.
    """

    def __init__(self, size: int, end_id: int, row: Row) -> None:
        self.size, self.end_id, self.row = size, end_id, row
        self.lengths: list[int] = []

    def __call__(self, beginnings: Tensor) -> Tensor:  # (N, T) -> (N, V)
        if not isinstance(beginnings, Tensor) or beginnings.dim() != 2 or beginnings.is_floating_point():
            given = f"one of shape {tuple(beginnings.shape)}" if isinstance(beginnings, Tensor) else "something else"
            raise ValueError(f"`step` takes a tensor of token ids of shape (N, T), N beginnings; here it gets {given}")
        self.lengths.append(beginnings.size(1))
        return torch.tensor([self._values(tuple(ids)) for ids in beginnings.tolist()])

    def _values(self, ids: tuple[int, ...]) -> list[float]:
        if self.end_id in ids[1:]:
            return [-(1 + token) / 128 for token in range(self.size)]
        row = self.row(ids)
        values = (row.get(token, LOW - token) for token in range(self.size))
        return [round(value * 2**16) / 2**16 if value > -torch.inf else value for value in values]

    def __repr__(self) -> str:
        return "a function"


def _drawn(seed: int, size: int, start_id: int, end_id: int, depth: int) -> Row:
    """A table in which everything ends with its token number `depth`, and nothing before; the rest is drawn."""

    def row(ids: tuple[int, ...]) -> dict[int, float]:
        if len(ids) == depth:
            return {end_id: -0.01}
        generator = torch.Generator().manual_seed(seed_from(seed, ids))
        values = torch.randn(size, generator=generator).log_softmax(dim=0)
        return dict(enumerate(values.tolist())) | {start_id: -torch.inf, end_id: -torch.inf}

    return row


def _spelled(table: str, letters: dict[str, int]) -> Row:
    """A table written as ``"ab: c -0.5, $ -1.2"``: after ^ab comes c with log-probability −0.5, the end with −1.2.

    What a row ``*`` names holds after every beginning, what stands for ``?`` of all that the row does not name.
    """
    rows: dict[tuple[int, ...], dict[int, float]] = {}
    for line in table.split("|"):
        beginning, _, entries = line.partition(":")
        pairs = (entry.split() for entry in entries.split(","))
        ids = tuple(letters[letter] for letter in f"^{beginning.strip()}" if letter != "*")
        named = {letter: float(value) for letter, value in pairs}
        others = dict.fromkeys(range(SIZE), named.pop("?")) if "?" in named else {}
        rows[() if "*" in beginning else ids] = others | {letters[letter]: value for letter, value in named.items()}
    return lambda ids: {**rows.get((), {}), **rows.get(ids, {})}


GREEDY_IS_WRONG = """: a -0.5, b -0.9, c -2.3 | a: a -1.2, b -1.3, c -1.4 | b: c -0.2, a -2.0
    | aa: $ -0.1 | ab: $ -0.1 | bc: $ -0.1"""
LATE_BUT_BEST = """: a -0.5, b -1.0, c -1.5 | a: a -1.4, b -1.6 | b: a -1.2, b -1.5 | c: b -0.05
    | aa: $ -0.1 | ba: $ -0.1 | cb: $ -0.1"""
DROPPED_IN_BETWEEN = """: a -0.5, b -1.0 | a: a -0.6, b -0.7 | b: a -0.3
    | aa: $ -0.5 | ab: $ -0.5 | ba: $ -0.05"""
NOTHING_ENDS = ": a -0.5, b -0.9 | a: b -1.2, c -1.5 | b: c -0.2, a -2.0 | bc: a -0.3, b -0.8 | ab: c -0.4 | *: $ -inf"
FEW_CAN_FOLLOW = ": a -0.3, ? -inf | a: b -0.5, c -1, ? -inf | ab: $ -0.7, ? -inf | ac: $ -0.1, ? -inf"
NEXT_TO_NOTHING = """: a -400, b -500, ? -inf | a: a -700, b -800, ? -inf | b: a -450, ? -inf
    | aa: $ -300, ? -inf | ba: $ -310, ? -inf"""
FIRST_END_IS_WORSE = ": a -0.4, $ -1.5, b -2.5 | a: b -0.3, $ -1.2 | ab: $ -0.2"
FIRST_END_IS_BEST = ": $ -0.5, a -0.6, b -2.5 | a: b -0.4, c -0.9 | ab: $ -0.1 | ac: $ -0.1"
NO_OTHER_END = ": a -0.2, $ -2.0 | a: b -0.1 | ab: c -0.1"
END_IN_SECOND_PLACE = ": a -0.5, $ -0.9, b -3.0 | a: b -1.0 | ab: $ -0.1"
SECOND_PLACE = ": a -0.9, $ -1.9, b -2.2 | a: b -0.3, c -0.5 | ab: a -3.0, $ -3.2 | ac: $ -0.1"
LONGER_IS_BETTER = ": $ -1.0, a -1.2, b -3.0 | a: b -0.4, $ -3.0 | ab: $ -0.2"
TWO_BRANCHES = ": a -0.6, b -0.8 | a: $ -0.9, b -2.5 | b: c -0.5 | bc: a -0.4 | bca: $ -0.2"
LATER_IS_BETTER = ": a -0.1, b -0.15 | a: $ -1.0, c -2.5 | b: c -0.1 | bc: $ -0.9"
CROWDED = ": a -1.0, $ -1.2, b -4.0 | a: b -0.9 | ab: $ -0.05"
TWO_PLACES_TAKEN = """: a -0.5, b -0.6, $ -3.0 | a: a -0.5, $ -2.3 | b: a -0.6 | aa: a -0.5, b -0.6, c -0.7, ^ -0.8
    | ba: a -0.9 | aaa: $ -1.0 | baa: ? -0.01, $ -9.0"""
ALL_EQUAL = ": a -1, b -1, c -1, $ -2 | a: a -1, b -1, c -1, $ -1 | aa: c -1, $ -1 | aac: $ -1"
EQUAL_SUMS = ": c -0.5, a -1 | c: b -1 | a: a -0.5"
EQUAL_AT_THE_BRINK = ": a -0.5, b -1, c -1 | a: a -4 | b: $ -0.25 | c: $ -0.125"
EQUAL_SCORES = ": a -1, $ -2 | a: b -0.5 | ab: $ -0.5"
GOOD_WHEN_SHORT = ": a -0.9, $ -1, b -3 | a: b -0.2, c -0.3 | ab: $ -2 | ac: $ -0.1"
THREE_EQUAL = ": c -0.5, a -1, b -1 | c: a -1 | a: c -0.5 | b: a -0.5 | ca: $ -1 | ac: $ -1 | ba: $ -1"


def _searched(answer: Any, case: Case) -> Any:
    """What was found; or the lengths of the beginnings that `step` was asked for."""
    found, step = answer(*case.args.values()), case.args["step"]
    return torch.tensor(step.lengths, dtype=torch.int32) if case.asks == "work" else found


def _search(step: Step, beam: int, most: int, *penalty: float, asks: str | None, note: str = "", **ids: int) -> Case:
    rest: dict[str, Any] = {"length_penalty": penalty[0]} if penalty else {}
    return Case({"step": step, **ids, "beam_size": beam, "max_len": most, **rest}, asks=asks, note=note)


def _any_row(seed: int, size: int, ties: bool, times: int) -> Row:
    """A table in which anything may follow, or nearly anything: the end at any place, some tokens never.

    All log-probabilities are so many times as large. Then they are whole numbers, so that sums are exact.
    """

    def row(ids: tuple[int, ...]) -> dict[int, float]:
        chance = random.Random(seed_from(seed, ids))
        shares = [math.exp(chance.gauss()) for _ in range(size)]
        values = [times * math.log(share / sum(shares)) for share in shares]
        return {
            token: -torch.inf
            if value < max(values) and chance.random() < 0.2
            else math.floor(value)
            if ties or times > 1
            else value
            for token, value in enumerate(values)
        }

    return row


def any_table(draw: Draw) -> Case:
    size = draw.whole(2, 8)
    start_id, end_id = draw.permutation(size)[:2].tolist()
    asks = draw.pick(None, "ties", "length penalty", "work")
    penalty = {"length penalty": (draw.pick(0.3, 1.0, 2.0),), "ties": ()}.get(asks, draw.pick((), (0.0,)))
    step = Step(size, end_id, _any_row(draw.seed, size, asks == "ties", 1 if asks == "ties" else draw.pick(1, 1, 300)))
    beam, most = draw.pick(1, draw.whole(1, 6), 6), draw.whole(1, 6)
    return _search(step, beam, most, *penalty, asks=asks, start_id=start_id, end_id=end_id)


@exercise(
    inputs=any_table,
    properties={"values": 2, "ends": 1, "ties": 1, "length penalty": 2, "work": 1},
    act=_searched,
    when_right="Any step function will do: your own model's is next.",
)
def beam_search(seed: int) -> Iterator[Case]:
    def spelled(table: str, beam: int, most: int, *penalty: float, asks: str | None = None, note: str) -> Case:
        chosen = Draw(seed, V=SIZE).permutation(SIZE)[:5].tolist()
        letters = dict(zip("^abc$", sorted(chosen) if asks == "ties" else chosen, strict=True))
        step = Step(SIZE, letters["$"], _spelled(table, letters))
        return _search(step, beam, most, *penalty, asks=asks, note=note, start_id=letters["^"], end_id=letters["$"])

    def drawn(size: int, depth: int, beam: int, most: int, *penalty: float, asks: str | None = None, note: str) -> Case:
        start_id, end_id = Draw(seed, V=size).permutation(size)[:2].tolist()
        step = Step(size, end_id, _drawn(seed, size, start_id, end_id, depth))
        return _search(step, beam, most, *penalty, asks=asks, note=note, start_id=start_id, end_id=end_id)

    yield spelled(GREEDY_IS_WRONG, 2, 5, note="where greedy is wrong")
    yield spelled(GREEDY_IS_WRONG, 1, 5, note="for beam_size = 1, which is greedy")
    yield spelled(LATE_BUT_BEST, 3, 6, note="where the third beginning is the best in the end")
    yield spelled(LATE_BUT_BEST, 2, 6, note="where the best beginning is not among the two that are kept")
    yield spelled(DROPPED_IN_BETWEEN, 2, 6, note="where the best beginning is dropped at the second step")
    yield drawn(7, 4, 3, 6, note="for a table of seven tokens")
    yield drawn(4, 3, 9, 6, note="when the beam is wider than the vocabulary")
    yield drawn(6, 9, 3, 4, note="when nothing ends before max_len")
    yield spelled(LONGER_IS_BETTER, 3, 1, note="for max_len = 1")
    yield spelled(FEW_CAN_FOLLOW, 3, 5, note="when most tokens can't follow: their log-probability is −∞")
    yield spelled(NEXT_TO_NOTHING, 2, 5, note="when all probabilities are next to nothing, as e^−400")
    yield spelled(FIRST_END_IS_WORSE, 2, 5, asks="ends", note="when a better sequence ends later")
    yield spelled(FIRST_END_IS_BEST, 2, 6, asks="ends", note="when worse sequences end later")
    yield spelled(NO_OTHER_END, 2, 3, asks="ends", note="when the best beginning has not ended by max_len")
    yield spelled(END_IN_SECOND_PLACE, 2, 5, asks="ends", note="when the best sequence ends in second place")
    yield spelled(SECOND_PLACE, 2, 4, asks="ends", note="when one of two beginnings has ended")
    yield spelled(TWO_PLACES_TAKEN, 3, 5, asks="ends", note="when two of three have ended")
    yield spelled(ALL_EQUAL, 1, 6, asks="ties", note="when tokens tie")
    yield spelled(EQUAL_SUMS, 2, 2, asks="ties", note="when two sums tie, none of them ended")
    yield spelled(EQUAL_AT_THE_BRINK, 2, 4, asks="ties", note="when two tie for the last place in the beam")
    yield spelled(EQUAL_SCORES, 2, 4, asks="ties", note="when a short and a long sequence tie")
    yield spelled(THREE_EQUAL, 3, 4, asks="ties", note="when three sums tie")
    for penalty in (1.0, 0.2, 2.0):
        yield spelled(LONGER_IS_BETTER, 2, 5, penalty, asks="length penalty", note=f"for length_penalty = {penalty}")
    yield spelled(TWO_BRANCHES, 2, 6, 0.5, asks="length penalty", note="for length_penalty = 0.5")
    yield spelled(LATER_IS_BETTER, 2, 6, 1.0, asks="length penalty",
                  note="for length_penalty = 1, when the longer one has the lower sum")  # fmt: skip
    yield spelled(GOOD_WHEN_SHORT, 2, 5, 1.0, asks="length penalty",
                  note="for length_penalty = 1, when the one that ends first has the highest sum")  # fmt: skip
    yield spelled(CROWDED, 2, 5, 1.0, asks="length penalty", note="for length_penalty = 1, when one has ended")
    yield spelled(NOTHING_ENDS, 2, 3, 0.7, asks="length penalty", note="for length_penalty = 0.7, when nothing ends")
    depths = Draw(seed)
    for size, beam in ((4, 3), (6, 2)):
        depth = _any(depths, 3, 10)
        yield drawn(size, depth, beam, depth + 3, asks="work", note=f"when everything ends with its token {depth}")
    yield spelled(FEW_CAN_FOLLOW, 3, 6, asks="work", note="when most tokens can't follow")


quiz_encoder_decoder = quiz(
    "quiz_encoder_decoder",
    {
        "queries of cross-attention come from": ("the encoder", "the decoder", "both"),
        "rows and columns of its weights": ("target and target", "source and source", "target and source"),
        "for one translation the source is encoded": ("once", "once for each token written", "once for each layer"),
        "teacher forcing feeds": (
            "the right tokens so far",
            "what the model wrote so far",
            "the right tokens, the next one included",
        ),
        "a wider beam finds": (
            "the most probable sequence, always",
            "a sequence as probable or more, mostly",
            "a better translation, always",
        ),
    },
    when_right="Encoder, decoder, and the two together: you have built all three types of Transformer (notebook 00).",
)
