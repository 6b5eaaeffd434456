"""What 11-bertviz asks.

Attention weights are drawn as a model gives them: rows that sum to one, nothing for the padding behind a sentence, and
rows for padding queries that mean nothing and must not count.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

LAYERS = {"L": "layers"}


def _lengths(draw: Draw, *lengths: int) -> Tensor:
    """(B, T): 1 for real tokens, 0 for the padding behind them; no lengths given: no padding."""
    if not lengths:
        return torch.ones(draw.shape("B T"), dtype=torch.long)
    return (torch.arange(draw.sizes["T"]) < torch.tensor(lengths)[:, None]).long()


def _weights(draw: Draw, mask: Tensor, scale: float = 1.5, overlooked: Tensor | None = None) -> Tensor:
    """(L, B, H, T, T): weights of all layers; a head of its own mean each; padding queries look sharply at anything.

    In each sentence the token of the number in `overlooked` (B,) gets nothing, though it is real; −1: none.
    """
    scores = draw.normal("L B H T T", scale=scale) + _lean(draw)  # (L, B, H, T, T)
    real = mask.bool()
    scores = torch.where(real[:, None, :, None], scores, 4 * scores)
    seen = real if overlooked is None else real & (torch.arange(real.size(1)) != overlooked[:, None])
    return scores.masked_fill(~seen[:, None, None, :], -torch.inf).softmax(dim=-1)


def _lean(draw: Draw) -> Tensor:
    """(L, 1, H, T, T): each head likes one offset better than others, so that heads differ by more than chance."""
    liked = draw.integers("L H", 4, -1)  # −1, 0, 1, 2
    places = torch.arange(draw.sizes["T"])
    offsets = places[None, :] - places[:, None]  # (T, T)
    return 1.5 * (offsets == liked[:, :, None, None]).float().unsqueeze(1)


def _case(draw: Draw, *lengths: int, asks: str | None = None, note: str = "", **more: Any) -> Case:
    """Weights, a mask, and whatever else is asked."""
    mask = _lengths(draw, *lengths)
    return draw.case(attentions=list(_weights(draw, mask)), attention_mask=mask, **more, asks=asks, note=note)


def _any_lengths(draw: Draw, shortest_batch: int = 1) -> list[int]:
    """Sizes, and how long the sentences are, one of them at least so long; or no lengths: no padding."""
    layers = draw.pick((1, 4), (1, 4), (12, 12))
    draw.sized(L=layers, B=(1, 5), H=(1, 5), T=(shortest_batch, draw.pick(4, 10)))
    lengths = draw.integers("B", draw.sizes["T"] + 1, 1).tolist()
    if max(lengths) < shortest_batch:
        lengths[draw.whole(0, len(lengths) - 1)] = shortest_batch
    return draw.pick([], lengths)


SCALES = (0.0, 1.5, 2.0)
"""Of scores: all weights alike, or spread as a model's."""


def _any_weights(draw: Draw, mask: Tensor, *scales: float) -> list[Tensor]:
    """Weights in any order in memory; in some draws a few of those below a row's median are 0, in others there is a
    real token in each sentence of three or more that no query looks at."""
    scale = draw.pick(*(scales or SCALES))
    if draw.pick(True, False, False):
        lengths = mask.sum(dim=1)
        overlooked = torch.where(lengths > 2, draw.integers("B", 1000) % lengths, -1)
        return [draw.laid_out(layer) for layer in _weights(draw, mask, scale, overlooked)]
    weights = _weights(draw, mask, scale)
    zeros = draw.integers("L B H T T", draw.pick(1, 2)).bool() & (weights < weights.median(dim=-1, keepdim=True).values)
    weights = weights.masked_fill(zeros, 0.0)
    return [draw.laid_out(layer / layer.sum(dim=-1, keepdim=True)) for layer in weights]


def _any_case(draw: Draw, lengths: list[int], asks: str | None, *scales: float, **more: Any) -> Case:
    mask = draw.laid_out(_lengths(draw, *lengths))
    return draw.case(attentions=_any_weights(draw, mask, *scales), attention_mask=mask, **more, asks=asks)


# ---------------------------------------------------------------------------------------------- attention_to_offset


def any_offset(draw: Draw) -> Case:
    lengths = _any_lengths(draw)
    furthest = max(lengths, default=draw.sizes["T"]) - 1
    offset = draw.pick(-min(1, furthest), draw.whole(-furthest, furthest))
    return _any_case(
        draw, lengths, "padding" if lengths else None if offset == -1 else "any offset", *SCALES, 60.0, offset=offset
    )


@exercise(
    inputs=any_offset,
    properties={"shape": 1, "values": 2, "padding": 1, "any offset": 1},
    returns="L H",
    axes=LAYERS,
    when_right="One number for each head. Which heads have a number near 1, at which offset?",
)
def attention_to_offset(seed: int) -> Iterator[Case]:
    yield _case(Draw(seed, L=2, B=4, H=3, T=5), offset=-1)
    yield _case(Draw(seed, L=3, B=1, H=2, T=6), offset=-1, note="for one sentence")
    yield _case(Draw(seed, L=1, B=3, H=1, T=4), offset=-1, note="for one layer and one head")
    yield _case(Draw(seed, L=12, B=2, H=3, T=4), offset=-1, note="for twelve layers")
    draw = Draw(seed, L=2, B=3, H=4, T=6)
    some = draw.normal("L B H T T").relu() + torch.eye(6)
    yield draw.case(attentions=list(some / some.sum(dim=-1, keepdim=True)), attention_mask=_lengths(draw), offset=-1,
                    note="when about half of the weights are 0")  # fmt: skip
    draw = Draw(seed, L=2, B=3, H=2, T=5)
    weights = _weights(draw, _lengths(draw), overlooked=torch.tensor([4, 2, -1]))
    yield draw.case(attentions=list(weights), attention_mask=_lengths(draw), offset=-1,
                    note="when two of the tokens get no attention")  # fmt: skip
    yield _case(Draw(seed, L=2, B=4, H=3, T=7), 7, 3, 5, 2, offset=-1, asks="padding",
                note="for sentences of 7, 3, 5 and 2 tokens")  # fmt: skip
    yield _case(Draw(seed, L=3, B=2, H=4, T=8), 3, 6, offset=1, asks="padding",
                note="when even the longest sentence has padding")  # fmt: skip
    yield _case(Draw(seed, L=2, B=3, H=4, T=7), 7, 1, 4, offset=-2, asks="padding", note="for a sentence of one token")
    for offset in (1, 0, -3, 2):
        yield _case(Draw(seed, L=2, B=4, H=3, T=5), offset=offset, asks="any offset", note=f"for the offset {offset}")
    yield _case(Draw(seed, L=2, B=3, H=4, T=6), offset=5, asks="any offset", note="for one pair a sentence")
    yield _case(Draw(seed, L=2, B=3, H=4, T=1), offset=0, asks="any offset", note="for sentences of one token")


# ---------------------------------------------------------------------------------------------- head_entropy


def any_spread(draw: Draw) -> Case:
    """In some sentence two tokens at least: next to an entropy of 0 float32 is not exact."""
    lengths = _any_lengths(draw, 2)
    return _any_case(draw, lengths, "padding" if lengths else None)


@exercise(
    inputs=any_spread,
    properties={"shape": 1, "values": 2, "padding": 1},
    returns="L H",
    axes=LAYERS,
    when_right="Near 0: a head that knows where to look. Near ln T: one that looks everywhere.",
)
def head_entropy(seed: int) -> Iterator[Case]:
    yield _case(Draw(seed, L=2, B=4, H=3, T=5))
    yield _case(Draw(seed, L=3, B=1, H=2, T=6), note="for one sentence")
    yield _case(Draw(seed, L=1, B=3, H=1, T=4), note="for one layer and one head")
    yield _case(Draw(seed, L=12, B=2, H=3, T=4), note="for twelve layers")
    yield _case(Draw(seed, L=2, B=4, H=3, T=7), 7, 3, 5, 2, asks="padding",
                note="for sentences of 7, 3, 5 and 2 tokens")  # fmt: skip
    yield _case(Draw(seed, L=3, B=2, H=4, T=8), 3, 6, asks="padding",
                note="when even the longest sentence has padding")  # fmt: skip
    yield _case(Draw(seed, L=2, B=3, H=4, T=5), 5, 1, 4, asks="padding", note="for a sentence of one token")


# ---------------------------------------------------------------------------------------------- without a mask

NO_MASK = "without a mask"

TURNS = (0, 0, 1, 1, 1, 2, 2, 2, 2)
"""So often each of three sentences stands in a batch; in which order, the seed says."""


def _in_turns(draw: Draw, sentences: Tensor) -> list[Tensor]:
    """Three sentences (L, 3, H, T, T) in a drawn order, each several times: L tensors (9, H, T, T)."""
    return list(sentences[:, torch.tensor(TURNS)[draw.permutation(len(TURNS))]])


def _one_by_one(answer: Any, weights: list[Tensor], *mask: Tensor) -> list[Any]:
    """What is returned for each sentence of the batch alone."""
    return [
        answer([layer[row : row + 1] for layer in weights], *(part[row : row + 1] for part in mask))
        for row in range(len(weights[0]))
    ]


def _with_and_without_a_mask(answer: Any, weights: list[Tensor]) -> dict[str, Any]:
    """What is returned without a mask, for None, and without a mask for each sentence; and with a mask of ones, if that
    does not stop the answer."""
    found = {
        "left out": answer(weights),
        "none": answer(weights, None),
        "one by one": _one_by_one(answer, weights),
    }
    all_real = torch.ones_like(weights[0][:, 0, 0], dtype=torch.long)  # (B, T)
    with contextlib.suppress(Exception):  # other cases give a mask
        found["ones"] = answer(weights, all_real)
    return found


# ---------------------------------------------------------------------------------------------- head_statistics

STATISTICS = {
    "neighbors": ("previous", "itself", "next"),
    "first and last": ("first", "last"),
    "entropy": ("entropy",),
}


def _some_statistics(answer: Any, case: Case) -> Any:
    """Those that the case asks for; or what kind of thing stands under each name. Another call does not change them."""
    if case.asks == NO_MASK:
        return _with_and_without_a_mask(answer, case.args["attentions"])
    found = answer(*case.args.values())
    if not isinstance(found, dict):
        return found
    if case.asks == "names":
        return {name: type(value).__name__ for name, value in found.items()}
    attentions, *mask = case.args.values()
    answer([weights.flip(1) for weights in attentions], *mask)
    return {name: value for name, value in found.items() if name in STATISTICS[str(case.asks)]}


def any_statistics(draw: Draw) -> Case:
    """In some sentence two tokens at least: where no token has a neighbor, there is no average."""
    lengths = _any_lengths(draw, 2)
    asks = draw.pick("names", NO_MASK, *STATISTICS, *STATISTICS)
    if asks == NO_MASK:
        return draw.case(attentions=_any_weights(draw, _lengths(draw)), asks=asks)
    return _any_case(draw, lengths, asks)


@exercise(
    inputs=any_statistics,
    properties={"names": 1, "neighbors": 1, "first and last": 1, "entropy": 1, NO_MASK: 1},
    axes=LAYERS,
    act=_some_statistics,
    when_right="Six heat maps, layer by head: the next cell draws them for real sentences.",
)
def head_statistics(seed: int) -> Iterator[Case]:
    for asks in ("names", *STATISTICS):
        draw = Draw(seed, L=2, B=4, H=3, T=7)
        yield _case(draw, 7, 3, 5, 2, asks=asks, note="for sentences of 7, 3, 5 and 2 tokens")
        if asks != "names":
            draw = Draw(seed, L=3, B=1, H=2, T=5)
            yield _case(draw, asks=asks, note="for one sentence")
            draw = Draw(seed, L=4, B=2, H=1, T=6)
            yield _case(draw, 2, 4, asks=asks, note="when even the longest sentence has padding")
    draw = Draw(seed, L=12, B=3, H=2, T=4)
    yield _case(draw, 4, 1, 3, asks="first and last", note="for twelve layers, and a sentence of one token")
    draw = Draw(seed, L=2, B=3, H=4, T=5)
    yield draw.case(attentions=_in_turns(draw, _weights(draw, _lengths(draw))), asks=NO_MASK,
                    sizes={"B": len(TURNS)}, note="when no mask is given")  # fmt: skip
    draw = Draw(seed, L=3, B=2, H=2, T=5)
    weights = _weights(draw, _lengths(draw), overlooked=torch.tensor([4, 2]))
    yield draw.case(attentions=list(weights), asks=NO_MASK,
                    note="when no mask is given, and two of the tokens get no attention")  # fmt: skip


# ---------------------------------------------------------------------------------------- find_previous_token_head


def _two_numbers(answer: Any, case: Case) -> Any:
    """As plain numbers; or, where the case asks for it, of what types they are, and which of them can be an index."""
    if case.asks == NO_MASK:
        return _with_and_without_a_mask(answer, case.args["attentions"])
    found = answer(*case.args.values())
    if isinstance(found, Tensor) and found.shape == (2,):
        found = tuple(found)
    if not isinstance(found, tuple | list) or len(found) != 2:
        return found
    if case.asks == "Python numbers":
        whole = [int(hasattr(number, "__index__") and not isinstance(number, Tensor)) for number in found]
        others = [_as_numbers(pair) for pair in _one_by_one(answer, *case.args.values())]
        return {"types": [type(number).__name__ for number in found], "whole": whole, "one by one": others}
    return _as_numbers(found)


def _as_numbers(found: Any) -> Any:
    if not isinstance(found, tuple | list | Tensor):
        return found
    return [number.item() if isinstance(number, Tensor) and number.numel() == 1 else number for number in found]


def _looking_back(draw: Draw, share: Tensor, *lengths: int) -> dict[str, Any]:
    """Heads that give the token before them this `share` (L, B, H, T), and nearly all the rest to another one.

    No sentence may be shorter than two tokens: whoever stands behind a single one would have nobody else to look at.
    """
    mask = _lengths(draw, *lengths)
    places = torch.arange(draw.sizes["T"])
    seen = mask.bool()[:, None, None, :]  # (B, 1, 1, T)
    back = (places[None, :] == places[:, None] - 1) & seen  # (B, 1, T, T)
    liked = torch.arange(draw.sizes["L"] * draw.sizes["H"]).reshape(draw.shape("L 1 H")) % 3  # itself, the next, …
    lean = (places[None, :] - places[:, None] == liked[..., None, None]).float()  # (L, 1, H, T, T)
    rest = (draw.normal("L B H T T") + 8 * lean).masked_fill(~seen | back, -torch.inf).softmax(dim=-1)
    share = (share * back.any(dim=-1))[..., None]  # (L, B, H, T, 1)
    return {"attentions": list((1 - share) * rest + share * back), "attention_mask": mask}


def _last_overlooked(attentions: list[Tensor], **_: Tensor) -> list[Tensor]:
    """The same weights, but what the last token got goes to the first."""
    weights = torch.stack(attentions)
    weights[..., 0] += weights[..., -1]
    weights[..., -1] = 0.0
    return list(weights)


def _never_back(weights: Tensor) -> Tensor:
    """The same weights (B, H, T, T), but what the token before got goes to the query itself."""
    weights = weights.clone()
    back = weights.diagonal(-1, -2, -1)  # (B, H, T − 1)
    weights.diagonal(dim1=-2, dim2=-1)[..., 1:].add_(back)
    back.zero_()
    return weights


def _three_heads(draw: Draw) -> list[Tensor]:
    """Three sentences in turns, in each of which another head of another layer looks back."""
    sentence = torch.stack(_looking_back(draw, _tempting(draw))["attentions"])  # (L, 1, H, T, T)
    return _in_turns(draw, torch.cat([sentence.roll((turn, 3 * turn), (0, 2)) for turn in range(3)], dim=1))


def _elsewhere(draw: Draw) -> tuple[int, int, int, int]:
    """A layer and a head of another number, neither of them first, nor the layer last; another layer, another head."""
    layers, heads = draw.sizes["L"], draw.sizes["H"]
    layer = 1 + int(draw.integers("1", layers - 2))
    head = 1 + int(draw.integers("1", heads - 1))
    head = head % (heads - 1) + 1 if head == layer else head
    return layer, head, (layer + 1) % layers, (head + 1) % heads


def _tempting(draw: Draw) -> Tensor:
    """Shares (L, B, H, T) of about 0.05, and of one head 0.97 and 0.4 in turn, which is the highest average.

    Another layer and another head number have higher averages as a whole, and one head has the largest single weight.
    """
    share = 0.02 + 0.06 * torch.rand(draw.shape("L B H T"), generator=draw.fork("share"))
    layer, head, other_layer, other_head = _elsewhere(draw)
    third_head = (head + 2) % draw.sizes["H"]
    share[other_layer, :, torch.arange(draw.sizes["H"]) != head] += 0.3
    share[:, :, third_head] = 0.45
    share[other_layer, :, other_head], share[layer, :, third_head] = 0.48, 0.05
    share[layer, :, head, 0::2], share[layer, :, head, 1::2] = 0.4, 0.97
    share[layer, :, other_head], share[layer, 0, other_head, 1] = 0.05, 1.0
    return share


def any_heads(draw: Draw) -> Case:
    """Heads none of which looks back as much as another: in most draws so many that none is found by luck."""
    lengths = _any_lengths(draw, 2)
    draw.sized(L=draw.pick((1, 4), (5, 12), (5, 12)), H=draw.pick((1, 4), (5, 16), (5, 16)))
    mask = _lengths(draw, *lengths)
    weights = _any_weights(draw, mask, 0.5, 1.5, 3.0)
    if len(weights) == draw.sizes["H"] == 1 and draw.pick(True, False):
        weights = [_never_back(weights[0])]
    if not lengths and draw.pick(True, False):
        return draw.case(attentions=weights, asks=NO_MASK)
    return draw.case(attentions=weights, attention_mask=mask, asks="padding" if lengths else None)


@exercise(
    inputs=any_heads,
    properties={"values": 1, "padding": 1, NO_MASK: 1, "Python numbers": 1},
    act=_two_numbers,
    when_right="Found by a search, not by looking at pictures. What it is good for, only an experiment can say.",
)
def find_previous_token_head(seed: int) -> Iterator[Case]:
    """Many layers and heads, so that no other seed's answer is right here but by rare chance."""
    counts = Draw(seed)

    def size() -> dict[str, int]:
        """An even number of layers, none of them in the middle; an odd number of heads, so never 12."""
        layers, heads = counts.integers("2", 7).tolist()
        return {"L": 2 * layers + 8, "H": 2 * heads + 9}

    def small(draw: Draw, most: float = 0.08) -> Tensor:
        return 0.02 + (most - 0.02) * torch.rand(draw.shape("L B H T"), generator=draw.fork("share"))

    for sizes, note in (
        ({**size(), "B": 2, "T": 6}, ""),
        ({**size(), "B": 3, "T": 8}, ""),
        ({**size(), "L": 12, "B": 1, "T": 4}, "for twelve layers and one sentence"),
    ):
        draw = Draw(seed, **sizes)
        yield draw.case(**_looking_back(draw, _tempting(draw)), note=note)
    draw = Draw(seed, L=2, B=3, H=4, T=5)
    share = small(draw)
    share[0, :, 0, 0::2], share[0, :, 0, 1::2], share[1, :, 2] = 0.4, 0.97, 0.55
    yield draw.case(**_looking_back(draw, share), note="when it is the very first head, and another one is steadier")
    draw = Draw(seed, L=5, B=2, H=4, T=5)
    share = small(draw)
    share[0, :, 1], share[4, :, 3] = 0.5, 0.8
    yield draw.case(**_looking_back(draw, share), note="when it is the last head of the last layer")
    draw = Draw(seed, L=3, B=2, H=5, T=5)
    share = small(draw)
    share[0, :, 1], share[1, :, 3], share[2, :, 2] = 0.6, 0.9, 0.7
    yield draw.case(**_looking_back(draw, share), note="when three heads look back most of the time")
    draw = Draw(seed, L=6, B=2, H=7, T=6)
    share = small(draw)
    layer, head, other_layer, other_head = _elsewhere(draw)
    share[layer, :, head], share[other_layer, :, other_head, 1::2] = 0.6, 0.75
    yield draw.case(
        **_looking_back(draw, share), note="when another head looks back more, but from some positions only"
    )
    draw = Draw(seed, L=4, B=2, H=3, T=6)
    share = small(draw, 0.03)
    share[2, :, 1] = 0.05
    yield draw.case(**_looking_back(draw, share), note="when no head looks back often")
    draw = Draw(seed, L=1, B=3, H=1, T=5)
    mask = _lengths(draw)
    yield draw.case(attentions=[_never_back(layer) for layer in _weights(draw, mask)], attention_mask=mask,
                    note="when the only head never looks back")  # fmt: skip
    draw = Draw(seed, **size(), B=3, T=7)
    layer, head, other_layer, other_head = _elsewhere(draw)
    share = small(draw, 0.04)
    share[other_layer, :, other_head] = torch.where(_lengths(draw, 3, 2, 2).bool(), 0.45, 1.0)
    share[layer, :, head] = torch.where(_lengths(draw, 3, 2, 2).bool(), 0.8, 0.0)
    yield draw.case(**_looking_back(draw, share, 3, 2, 2), asks="padding",
                    note="when queries that are padding look back at the last real token")  # fmt: skip
    draw = Draw(seed, **size(), B=3, T=7)
    layer, head, other_layer, other_head = _elsewhere(draw)
    share = small(draw, 0.04)
    share[layer, 0, head], share[other_layer, 0, other_head] = 0.8, 0.3
    share[other_layer, 1:, other_head] = 1.0
    yield draw.case(**_looking_back(draw, share, 7, 2, 2), asks="padding",
                    note="for a long sentence and two short ones")  # fmt: skip
    draw = Draw(seed, **size(), B=1, T=5)
    weights = _three_heads(draw)
    yield draw.case(attentions=weights, attention_mask=torch.ones(len(TURNS), 5, dtype=torch.long),
                    asks="Python numbers", sizes={"B": len(TURNS)})  # fmt: skip
    draw = Draw(seed, **size(), B=1, T=6)
    yield draw.case(attentions=_three_heads(draw), asks=NO_MASK, sizes={"B": len(TURNS)}, note="when no mask is given")
    draw = Draw(seed, L=3, B=2, H=4, T=6)
    share = small(draw)
    share[1, :, 2, -1], share[0, :, 1] = 1.0, 0.17
    yield draw.case(attentions=_last_overlooked(**_looking_back(draw, share)), asks=NO_MASK,
                    note="when no mask is given, and nobody looks at the last token")  # fmt: skip


# ---------------------------------------------------------------------------------------------- attention_between


def any_pair(draw: Draw) -> Case:
    draw.sized(L=draw.pick((1, 4), (12, 12)), B=(1, 1), H=(1, 5), T=(2, draw.pick(4, 12)))
    start = draw.whole(1, draw.sizes["T"] - 1)
    weights = _any_weights(draw, _lengths(draw), *SCALES, 60.0)
    return draw.case(attentions=weights, sentence_b_start=start, sizes={"A": start})


@exercise(
    inputs=any_pair,
    properties={"shape": 1, "values": 3},
    returns="L H 2 2",
    axes={**LAYERS, "2": "sentences"},
    holds=lambda case: 0 < case.args["sentence_b_start"] < case.args["attentions"][0].size(-1),
    when_right="Four numbers a head: who stays in its sentence, and who looks across.",
)
def attention_between(seed: int) -> Iterator[Case]:
    def case(start: int, note: str = "", **sizes: int) -> Case:
        draw = Draw(seed, B=1, **sizes)
        return draw.case(attentions=list(_weights(draw, _lengths(draw))), sentence_b_start=start, note=note,
                         sizes={"A": start})  # fmt: skip

    yield case(3, L=2, H=3, T=8)
    yield case(5, L=3, H=4, T=7)
    yield case(1, "when sentence A is a single token", L=2, H=4, T=5)
    yield case(5, "when sentence B is a single token", L=5, H=2, T=6)
    yield case(1, "for two tokens", L=4, H=3, T=2)
    yield case(4, "for one layer and one head", L=1, H=1, T=7)
    yield case(2, "for twelve layers", L=12, H=3, T=5)


# ---------------------------------------------------------------------------------------------- neuron_terms


def any_query_and_key(draw: Draw) -> Case:
    leading = draw.pick("", "H ", "B H ", "B H ", "B H ", "L B H ", "N L B H ")
    draw.sized(N=(1, 2), L=(1, 3), B=(1, 3), H=(1, 4), T=(1, 6), S=(1, 6), K=(1, 9))
    asks = None if leading == "B H " else "any leading axes"
    query, key = draw.floats(leading + "T K"), draw.floats(leading + "S K")
    return draw.case(query=query, key=key, returns=leading + "T S K", asks=asks)


@exercise(
    inputs=any_query_and_key,
    properties={"shape": 1, "values": 1, "any leading axes": 1},
    returns="B H T S K",
    when_right="Summed up and divided by √K they are the scores of notebook 02. Now each product can be seen.",
)
def neuron_terms(seed: int) -> Iterator[Case]:
    def case(leading: str, note: str = "", asks: str | None = None, **sizes: int) -> Case:
        draw = Draw(seed, **sizes)
        return draw.case(query=draw.normal(f"{leading} T K"), key=draw.normal(f"{leading} S K"),
                         returns=f"{leading} T S K".strip(), asks=asks, note=note)  # fmt: skip

    yield case("B H", B=2, H=3, T=5, S=7, K=4)
    yield case("B H", "for one sentence, one head and a single query", B=1, H=1, T=1, S=4, K=6)
    yield case("B H", "for heads of width 1", B=3, H=2, T=4, S=5, K=1)
    draw = Draw(seed, B=3, H=2, T=4, S=6, K=5)
    query, key = draw.normal("B T H K").transpose(1, 2), draw.normal("B S H K").transpose(1, 2)
    yield draw.case(query=query, key=key, note="for heads that were just split")
    yield case("", "for one head of one sentence, (T, K) and (S, K)", "any leading axes", T=5, S=3, K=4)
    yield case("H", "for one sentence, (H, T, K) and (H, S, K)", "any leading axes", H=2, T=3, S=5, K=6)
    yield case("L B H", "with an axis for layers in front", "any leading axes", L=2, B=3, H=4, T=5, S=6, K=7)


# ---------------------------------------------------------------------------------------------- weighted_value_norms


def any_weights_and_value(draw: Draw) -> Case:
    """Some keys have no weight, some values are zeros, in one draw of two each."""
    draw.sized(B=(1, 4), H=(1, 4), T=(1, 7), S=(1, 9), K=(1, 9))
    weights = draw.floats("B H T S", "plain", "wide", "alike").softmax(dim=-1)
    weights = weights * draw.pick(1, draw.integers("B H T S", 2))
    value = draw.floats("B H S K") * draw.pick(1, draw.integers("B H S 1", 2))
    return draw.case(weights=draw.laid_out(weights), value=draw.laid_out(value))


@exercise(
    inputs=any_weights_and_value,
    properties={"shape": 1, "values": 2},
    returns="B H T S",
    axes={"K": "value width"},
    when_right="Weight times length. Does [CLS] still stand out?",
)
def weighted_value_norms(seed: int) -> Iterator[Case]:
    def inputs(draw: Draw, spread: float = 1.0) -> dict[str, Any]:
        value = draw.normal("B H S K") * (spread * draw.normal("B H S 1")).exp()  # some values are far longer
        return {"weights": draw.normal("B H T S", scale=1.5).softmax(dim=-1), "value": value}

    draw = Draw(seed, B=2, H=3, T=5, S=7, K=4)
    yield draw.case(**inputs(draw))
    draw = Draw(seed, B=3, H=2, T=4, S=4, K=4)
    yield draw.case(**inputs(draw), note="for as many keys as queries, and values as wide")
    draw = Draw(seed, B=1, H=1, T=1, S=5, K=3)
    yield draw.case(**inputs(draw), note="for one head and a single query")
    draw = Draw(seed, B=3, H=4, T=4, S=6, K=5)
    given = inputs(draw, 0.0)
    given["weights"][..., 0] = 0.0
    given["value"][:, :, 1] = 0.0
    yield draw.case(**given, note="when a key has no weight, another a value of zeros")


# ---------------------------------------------------------------------------------------------- attention_rollout


def any_layers(draw: Draw) -> Case:
    lengths = _any_lengths(draw)
    weights = _any_weights(draw, _lengths(draw, *lengths), *SCALES, 60.0)
    asks = "one layer" if len(weights) == 1 else None
    return draw.case(attentions=weights, asks=asks, sizes={"S": draw.sizes["T"]})


@exercise(
    inputs=any_layers,
    properties={"shape": 1, "values": 3, "one layer": 1},
    returns="B T S",
    axes={"T": "tokens of the last layer", "S": "input tokens"},
    when_right="All layers in one matrix. How far is it from the weights of the last layer alone?",
)
def attention_rollout(seed: int) -> Iterator[Case]:
    def case(asks: str | None, note: str, *lengths: int, **sizes: int) -> Case:
        draw = Draw(seed, **sizes)
        weights = _weights(draw, _lengths(draw, *lengths), scale=2.5)
        return draw.case(attentions=list(weights), asks=asks, note=note, sizes={"S": sizes["T"]})

    yield case(None, "", L=3, B=2, H=4, T=5)
    yield case(None, "for two layers", L=2, B=3, H=5, T=4)
    yield case(None, "for one sentence and one head", L=4, B=1, H=1, T=6)
    yield case(None, "for twelve layers", L=12, B=2, H=3, T=4)
    yield case(None, "when a sentence has padding", 7, 4, L=3, B=2, H=4, T=7)
    yield case(None, "for a single token", L=2, B=3, H=4, T=1)
    yield case("one layer", "for one layer", L=1, B=2, H=3, T=5)
    yield case("one layer", "for one layer of one head", L=1, B=4, H=1, T=3)


# ---------------------------------------------------------------------------------------------- switch_off_heads


def _switch(answer: Any, case: Case) -> Any:
    """The result; or, where the case asks for it, what has become of the context that was handed over."""
    context, heads, num_heads = case.args.values()
    mine = context.clone()
    result = answer(mine, heads, num_heads)
    return mine if case.asks == "context unchanged" else result


def any_heads_to_switch_off(draw: Draw) -> Case:
    """In any order, some of them twice; in one draw of four there is one among them that does not exist."""
    draw.sized(B=(1, 4), T=(1, 5), H=(1, 12), K=(1, 6))
    number = draw.sizes["H"]
    draw.sizes["D"] = number * draw.sizes["K"]
    heads = draw.integers(str(draw.pick(0, 1, 2, number, draw.whole(0, number))), number).tolist()
    asks = draw.pick(None, None, "context unchanged", "refusal")
    wrong = draw.pick(-1, number, -number, draw.whole(number, 2 * number), -draw.whole(1, 30))
    if asks == "refusal":
        heads.insert(draw.whole(0, len(heads)), wrong)
    names = (str(wrong),) if asks == "refusal" else ()
    return draw.case(context=draw.floats("B T D"), heads=heads, num_heads=number, asks=asks, message_names=names)


@exercise(
    inputs=any_heads_to_switch_off,
    properties={"shape": 1, "values": 2, "context unchanged": 1, "refusal": 1},
    returns="B T D",
    act=_switch,
    when_right="Handed to the library's model as a hook, it silences any head. Now the experiment can begin.",
)
def switch_off_heads(seed: int) -> Iterator[Case]:
    def case(heads: list[int], note: str = "", asks: str | None = None, wrong: int | None = None, **sizes: int) -> Case:
        draw = Draw(seed, **sizes, D=sizes["H"] * sizes["K"])
        return draw.case(context=draw.normal("B T D", shift=0.5), heads=heads, num_heads=sizes["H"], asks=asks,
                         note=note, message_names=() if wrong is None else (str(wrong),))  # fmt: skip

    yield case([1], B=2, T=5, H=3, K=4)
    yield case([3, 0], "for heads 3 and 0", B=3, T=4, H=5, K=2)
    yield case([2, 0, 2], "for a head named twice", B=2, T=4, H=4, K=3)
    yield case([], "when no head is switched off", B=2, T=3, H=4, K=5)
    yield case([0, 1, 2], "when all heads are switched off", B=2, T=6, H=3, K=5)
    yield case([0], "for a single head, switched off", B=3, T=2, H=1, K=6)
    yield case([11, 7], "for the sizes of the course's model", B=1, T=2, H=12, K=32)
    yield case([4, 11], "for the sizes of BERT base", B=1, T=2, H=12, K=64)
    yield case([2, 0], asks="context unchanged", B=2, T=3, H=4, K=5)
    counts = Draw(seed)
    number, before = int(counts.integers("1", 16, 5)), int(counts.integers("1", 5, 2))
    beyond, further = (number + counts.integers("2", 30, 1)).tolist()
    for heads, wrong in (
        ([number], number), ([beyond], beyond), ([-1], -1), ([-before], -before), ([0, 2, further], further),
        ([3, beyond, 1], beyond),
    ):  # fmt: skip
        yield case(heads, f"for head {wrong} of {number}", "refusal", wrong, B=2, T=3, H=number, K=2)


# ---------------------------------------------------------------------------------------------- quiz

quiz_bertviz = quiz(
    "quiz_bertviz",
    {
        "one head switched off": ("often little is lost", "the model can't go on", "the other heads stop, too"),
        "much weight on [SEP]": ("[sep] means most", "often a way to do nothing", "the model is badly trained"),
        "other weights, same output": (
            "impossible, weights sum to one",
            "only with one head",
            "possible, so weights alone prove little",
        ),
        "rollout adds the identity for": ("the residual connection", "the softmax", "the value vectors"),
        "to claim that a head matters": ("look at its weights", "switch it off and measure", "count its parameters"),
    },
    when_right="Pictures raise questions; an experiment answers them. Notebook 12 asks what a model learns from.",
)
