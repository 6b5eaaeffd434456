"""What 06-positional-encodings asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from anatomy.engine.draw import Draw
from anatomy.engine.exercise import Case, exercise, quiz

TOKENS = {"T": "tokens"}


# ---------------------------------------------------------------------------------------------- permutation_gap


class _Reader:
    """A function from tokens to tokens that is no `nn.Module`, with a name to show."""

    def __init__(self, name: str, function: Callable[[Tensor], Tensor]) -> None:
        self.name, self.function = name, function

    def __call__(self, x: Tensor) -> Tensor:
        return self.function(x)

    def __repr__(self) -> str:
        return self.name


def _attend(x: Tensor) -> Tensor:
    return (x @ x.mT / x.size(-1) ** 0.5).softmax(dim=-1) @ x


def _average(x: Tensor) -> Tensor:
    counts = torch.arange(1, x.size(1) + 1, dtype=x.dtype)
    return (x.cumsum(dim=1) / counts[:, None])[..., :4]


def _attention() -> _Reader:
    """Attention without projections: it knows nothing of order."""
    return _Reader("attention", _attend)


def _running_mean() -> _Reader:
    """Each token becomes the mean of itself and all before it, in its first four columns."""
    return _Reader("a running mean", _average)


def _mean_in_heads() -> _Reader:
    """The running mean, its four columns as two heads of two: (B, T, 2, 2)."""
    return _Reader("a running mean in two heads", lambda x: _average(x).unflatten(-1, (2, 2)))


def _lengths_so_far() -> _Reader:
    """One number a token, (B, T)."""
    return _Reader("lengths so far", lambda x: x.cumsum(dim=1).norm(dim=-1))


def _across_sentences() -> _Reader:
    """The running mean of the sum of this sentence and all before it: what a sentence gives depends on its batch."""
    return _Reader("a running mean over sentences added up", lambda x: _average(x.cumsum(dim=0)))


class _AddsPlaces(nn.Module):
    """Adds t² to the token at position t."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.arange(x.size(1), dtype=x.dtype)[:, None] ** 2


def _disorder(draw: Draw, length: int) -> Tensor:
    """A permutation that doing it twice does not undo, so that it differs from its inverse."""
    while torch.equal((perm := draw.permutation(length))[perm], torch.arange(length)):
        pass
    return perm


def _measure(answer: Callable[..., Any], case: Case) -> Any:
    """What is returned, with what plain data do not tell: its type, and whether that is a kind of float, 0 or 1."""
    found = answer(*case.args.values())
    if found is None:
        return None
    number = isinstance(found, Real) and not isinstance(found, bool)
    return {
        "type": type(found).__name__,
        "is a float": int(isinstance(found, float)),
        "value": float(found) if number else found,
    }


def any_module_and_tokens(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 8), D=(4, 9))
    modules = _attention, _running_mean, _mean_in_heads, _lengths_so_far, _AddsPlaces, _across_sentences
    module = draw.pick(*modules)()
    x = draw.floats("B T D") * draw.pick(1.0, 1.0, 1.0, 0.00004)
    return draw.case(module=module, x=x, perm=draw.laid_out(draw.permutation(draw.sizes["T"])))


@exercise(
    inputs=any_module_and_tokens,
    properties={"values": 2, "plain float": 1},
    act=_measure,
    axes=TOKENS,
    when_right="You have an instrument. Point it at anything that maps tokens to tokens: does it know their order?",
)
def permutation_gap(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, T=6, D=9)
    loud_last = draw.normal("B T D") * torch.tensor([1.0, 8.0])[:, None, None]
    yield draw.case(
        module=_running_mean(), x=loud_last, perm=_disorder(draw, 6), note="when `module` is a plain function"
    )
    loud_first = draw.normal("B T D") * torch.tensor([8.0, 1.0])[:, None, None]
    yield draw.case(module=_running_mean(), x=loud_first, perm=_disorder(draw, 6))
    draw = Draw(seed, B=3, T=5, D=8)
    yield draw.case(
        module=_AddsPlaces(),
        x=draw.normal("B T D"),
        perm=torch.arange(5).roll(1),
        note="when the last token comes first",
    )
    yield draw.case(
        module=_attention(), x=draw.normal("B T D"), perm=_disorder(draw, 5), note="for attention, whose gap is 0"
    )
    yield draw.case(
        module=_mean_in_heads(), x=draw.normal("B T D"), perm=_disorder(draw, 5), note="when the results have four axes"
    )
    note = "when `module` looks across the sentences of its batch"
    yield draw.case(module=_across_sentences(), x=draw.normal("B T D"), perm=_disorder(draw, 5), note=note)
    millions = 1e6 * (4 + draw.integers("B T D", 5)).float()
    note = "when results are in the millions and the gap is not"
    yield draw.case(module=_AddsPlaces(), x=millions, perm=_disorder(draw, 5), note=note)
    yield draw.case(
        module=_running_mean(),
        x=draw.normal("B T D", scale=0.001),
        perm=_disorder(draw, 5),
        note="when the gap is small",
    )
    yield draw.case(module=_running_mean(), x=draw.normal("B T D"), perm=_disorder(draw, 5), asks="plain float")


# ---------------------------------------------------------------------------------------------- sinusoids


EVEN = "even|odd|uneven|evenly|2|two|pair|pairs|half|halves|halved|divisible|multiple"
"""Of what is needed of a width, a refusal's message has one of these words."""


ZEROED = "earlier tables, set to 0"
"""The size that says how many tables of the same shape are made before, and changed in place."""


def _table(answer: Callable[..., Any], case: Case) -> Any:
    """The table, after earlier ones have been set to 0 if the case says so: who keeps one hands out zeros."""
    for _ in range(case.sizes.get(ZEROED, 0)):
        earlier = answer(*case.args.values())
        if isinstance(earlier, Tensor):
            with torch.no_grad():
                earlier.zero_()
    return answer(*case.args.values())


def any_table_size(draw: Draw) -> Case:
    some, many = ((1, 60), (1, 16)), draw.pick(((300, 1500), (1, 3)), ((300, 1500), (1, 3)), ((5100, 5400), (1, 1)))
    positions, pairs = draw.pick(some, many, ((1, 9), (30, 300)))
    odd = draw.pick(0, 0, 0, 0, 1)
    draw.sizes = {"N": draw.whole(*positions), "D": 2 * draw.whole(*pairs) - odd}
    if not odd and draw.pick(True, False, False):
        draw.sizes[ZEROED] = 1
    return draw.case(num_positions=draw.sizes["N"], dim=draw.sizes["D"],
                     asks="refusal" if odd else None, message_names=(EVEN,) if odd else ())  # fmt: skip


@exercise(
    inputs=any_table_size,
    properties={"shape": 1, "values": 3, "refusal": 1},
    returns="N D",
    axes={"N": "positions"},
    act=_table,
    when_right="Every position has a row of its own, between −1 and 1, however long the text. Look at it below.",
)
def sinusoidal_encoding(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    sizes = (draw.whole(17, 60), 2 * draw.whole(4, 7)), (draw.whole(5, 9), 2 * draw.whole(8, 20)), (1, 6), (5, 2)
    for num_positions, dim in sizes:
        yield draw.case(num_positions=num_positions, dim=dim, sizes={"N": num_positions, "D": dim})
    for many, dim in ((draw.whole(700, 1400), 4), (draw.whole(5200, 6000), 2)):
        note = f"for positions up to {many - 1}"
        yield draw.case(num_positions=many, dim=dim, sizes={"N": many, "D": dim}, note=note)
    yield draw.case(num_positions=4, dim=8, sizes={"N": 4, "D": 8, ZEROED: 1},
                    note="after an earlier table was changed in place")  # fmt: skip
    odd = 2 * draw.whole(3, 30) + 1
    yield draw.case(num_positions=6, dim=odd, sizes={"N": 6, "D": odd}, asks="refusal", message_names=(EVEN,),
                    note=f"for an odd dim, {odd}")  # fmt: skip


def any_shift(draw: Draw) -> Case:
    offset, odd = draw.whole(*draw.pick((-3, 3), (-99, 99), (600, 2000))), draw.pick(0, 0, 0, 0, 1)
    draw.sizes = {"D": 2 * draw.whole(*draw.pick((1, 5), (1, 5), (7, 20), (32, 64))) - odd}
    asks = "refusal" if odd else "negative offsets" if offset < 0 else None
    return draw.case(offset=offset, dim=draw.sizes["D"], asks=asks)


@exercise(
    inputs=any_shift,
    properties={"shape": 1, "values": 2, "negative offsets": 1, "refusal": 1},
    returns="D D",
    when_right="One matrix takes every position k steps on. A layer can learn such a matrix: it is one linear map.",
)
def shift_matrix(seed: int) -> Iterator[Case]:
    draw = Draw(seed)
    most, *dims = 2 * draw.whole(3, 5), *(2 * draw.whole(*pairs) for pairs in ((7, 9), (2, 5), (2, 5), (2, 5)))
    for offset, dim in ((draw.whole(4, 30), most), (draw.whole(31, 90), dims[0]), (0, dims[1]), (1, 2)):
        yield draw.case(offset=offset, dim=dim, sizes={"D": dim})
    for offset, dim in ((-draw.whole(4, 30), dims[2]), (-1, dims[3])):
        yield draw.case(
            offset=offset, dim=dim, sizes={"D": dim}, asks="negative offsets", note=f"for offset = {offset}"
        )
    odd = 2 * draw.whole(3, 30) + 1
    for offset in (3, 0):
        note = f"for an odd dim, {odd}, and offset = {offset}"
        yield draw.case(offset=offset, dim=odd, sizes={"D": odd}, asks="refusal", note=note)


# ---------------------------------------------------------------------------------------------- Embeddings


def _config(width: int, most: int, eps: float, dropout: float, vocabulary: int = 50) -> Any:
    from transformers import BertConfig  # only when cases are built: it is slow to import

    return BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_attention_heads=2, max_position_embeddings=most,
        layer_norm_eps=eps, hidden_dropout_prob=dropout,
    )  # fmt: skip


AFTER = "after a call with other weights and T"
"""The size that says how long a text goes through the same module before: whatever is kept from it may not fit."""


def _call(module: Any, case: Case) -> Any:
    """The module's result; of a text that just fits, only that there is one; with dropout, those of both modes."""
    ids = case.args["input_ids"]
    if case.asks == "train mode":
        return _in_both_modes(module, ids)
    if AFTER in case.sizes:
        _call_with_other_weights(module, torch.zeros(1, case.sizes[AFTER], dtype=torch.long))
    found = module(ids)
    if case.asks == "length limit" and ids.size(1) <= case.init[0].max_position_embeddings:
        return {"a text that just fits gives a result": found is not None}
    free = (ids == 0).any()  # with `padding_idx=0`, which is allowed, row 0 of the table gets no gradient
    return found.detach() if free and isinstance(found, Tensor) else found


@torch.no_grad()
def _call_with_other_weights(module: Any, ids: Tensor) -> None:
    """One call before a training step, as it were: vectors that are kept from it are not those of the weights."""
    now = [(weight, weight.clone()) for weight in module.parameters()]
    for place, (weight, _) in enumerate(now):
        weight.add_(torch.linspace(-1, 1 + place, weight.numel()).view_as(weight))
    try:
        module(ids)
    finally:
        for weight, value in now:
            weight.copy_(value)


@torch.no_grad()
def _in_both_modes(module: Any, ids: Tensor) -> Any:
    training = module.training
    whole = module.eval()(ids)
    dropped = module.train()(ids)
    module.train(training)
    return {"whole": whole, "dropped": dropped} if isinstance(whole, Tensor) else dropped


def any_ids(draw: Draw) -> Case:
    asks = draw.pick(None, None, None, None, "length limit", "train mode")
    eps, chance = draw.pick(1e-12, 1e-5, 0.1, 1.0), draw.whole(0, 12) / 20
    if asks == "train mode":  # of many numbers: a share that chance can't hide
        draw.sizes = {"B": 8, "T": 31, "D": 24, "V": 40, "N": 33}
        ids = draw.integers("B T", 13)
    else:
        draw.sized(B=(1, 6), T=(1, draw.pick(3, 9)), D=(4, 16), V=draw.pick((10, 40), (600, 900)))
        draw.sizes["N"] = draw.sizes["T"] + draw.pick(0, 0, draw.whole(1, 9), 600)
        ids = draw.ids("B T", draw.sizes["V"])
    most, names = draw.sizes["N"], list[str]()
    if asks is None and draw.pick(True, False):
        draw.sizes[AFTER] = draw.whole(1, min(most, 20))
    if asks == "length limit":
        beyond = draw.pick(0, 1, 1, draw.whole(2, 9))
        draw.sizes["T"] = most + beyond
        ids, names = draw.ids("B T", draw.sizes["V"]), [str(draw.sizes["T"]), str(most)] if beyond else []
    config = _config(draw.sizes["D"], most, eps, chance, draw.sizes["V"])
    return draw.case(init=(config,), input_ids=ids, asks=asks, message_names=tuple(names))


@exercise(
    inputs=any_ids,
    kind="module",
    properties={"shape": 1, "values": 2, "parameters": 1, "gradients": 1, "train mode": 1, "length limit": 1},
    returns="B T D",
    axes=TOKENS,
    act=_call,
    when_right="This is what BERT's first layer is fed. Notebook 07 puts the layers of 05 on top of it.",
)
def Embeddings(seed: int) -> Iterator[Case]:
    most = Draw(seed).whole(9, 20)
    draw = Draw(seed, B=2, T=5, D=12, V=90, N=most)
    config = _config(12, most, eps=0.3, dropout=0.1, vocabulary=90)
    yield draw.case(init=(config,), input_ids=draw.integers("T B", 40, 1).T)  # in memory (T, B)
    draw = Draw(seed, B=4, T=1, D=8, V=60, N=6)
    small = _config(8, 6, eps=0.05, dropout=0.2, vocabulary=60)
    yield draw.case(init=(small,), input_ids=draw.integers("B T", 40, 1), note="for a single token")
    draw = Draw(seed, B=1, T=7, D=12, V=90, N=most)
    ids = draw.integers("B T", 40, 1)
    ids[0, [0, 2, 3]] = 0
    lone = _config(12, most, eps=0.25, dropout=0.1, vocabulary=90)
    yield draw.case(init=(lone,), input_ids=ids, note="for one sentence, with ids of 0 in it")
    draw = Draw(seed, B=1, T=530, D=4, V=1300, N=600)
    roomy = _config(4, 600, eps=0.1, dropout=0.1, vocabulary=1300)
    yield draw.case(init=(roomy,), input_ids=draw.integers("B T", 700, 1), note="for a text of 530 tokens")
    for before, eps in ((3, 0.2), (8, 0.15), (6, 0.35)):  # own configs: what is kept shows in these cases alone
        draw, own = Draw(seed, B=2, T=6, D=12, V=90, N=most), _config(12, most, eps, dropout=0.1, vocabulary=90)
        yield draw.case(init=(own,), input_ids=draw.integers("B T", 40, 1), sizes={AFTER: before},
                        note=f"after a text of {before} tokens, with new weights")  # fmt: skip
    for share in (0.35, 0.0):
        draw = Draw(seed, B=8, T=31, D=24, V=80, N=33)
        noisy = _config(24, 33, eps=1e-12, dropout=share, vocabulary=80)
        ids = draw.integers("B T", 13, 1)
        yield draw.case(init=(noisy,), input_ids=ids, asks="train mode", note=f"for hidden_dropout_prob = {share}")
    for batch, vocabulary, note in (
        (2, 5, "for a text that just fits and a small vocabulary"),
        (most + 1, 90, "for more texts than positions, which just fit"),
    ):
        draw = Draw(seed, B=batch, T=most, D=12, V=vocabulary, N=most)
        config = _config(12, most, eps=0.3, dropout=0.1, vocabulary=vocabulary)
        yield draw.case(init=(config,), input_ids=draw.integers("B T", 5, 1), asks="length limit", note=note)
    draw = Draw(seed, B=2, T=most + 1, D=12, V=90, N=most)
    note = f"for {most + 1} tokens and a table of {most} positions"
    yield draw.case(init=(config,), input_ids=draw.integers("B T", 40, 1), asks="length limit", note=note,
                    message_names=(str(most + 1), str(most)))  # fmt: skip


# ---------------------------------------------------------------------------------------------- relative and rotary


def _look_up(answer: Callable[..., Any], case: Case) -> Any:
    """Call it; where clipping is asked for, gradients are not the question."""
    bias = answer(*case.args.values())
    return bias.detach() if case.asks and isinstance(bias, Tensor) else bias


def any_length_and_table(draw: Draw) -> Case:
    draw.sized(H=(1, 5), T=draw.pick((1, 9), (1, 9), (30, 60)), M=draw.pick((0, 9), (0, 3)))
    length, reach = draw.sizes["T"], draw.sizes["M"]
    draw.sizes |= {"S": length, "C": 2 * reach + 1}
    return draw.case(length=length, table=draw.floats("H C"), asks="clipping" if length > reach + 1 else None)


@exercise(
    inputs=any_length_and_table,
    properties={"shape": 1, "values": 2, "clipping": 1, "gradients": 1},
    returns="H T S",
    act=_look_up,
    when_right="No position has a vector of its own any more: only the distance between two counts.",
)
def relative_position_bias(seed: int) -> Iterator[Case]:
    draw = Draw(seed, H=3, T=5, S=5, M=6)
    yield draw.case(length=5, table=draw.normal("H 13"))
    draw = Draw(seed, H=4, T=3, S=3, M=2)
    yield draw.case(length=3, table=draw.normal("5 H").T, note="for a table whose memory is in another order")
    draw = Draw(seed, H=2, T=1, S=1, M=3)
    yield draw.case(length=1, table=draw.normal("H 7"), note="for a single token")
    draw = Draw(seed, H=1, T=4, S=4, M=5)
    yield draw.case(length=4, table=draw.normal("H 11"), note="for a single head")
    draw = Draw(seed, H=2, T=7, S=7, M=2)
    yield draw.case(length=7, table=draw.normal("H 5"), asks="clipping", note="for 7 tokens and offsets −2 … 2")
    draw = Draw(seed, H=5, T=4, S=4, M=0)
    yield draw.case(length=4, table=draw.normal("H 1"), asks="clipping", note="for a table of one column, offset 0")


STEP = 9
"""By how much "offsets only" moves positions."""


def _turn(answer: Callable[..., Any], case: Case) -> Any:
    """What is turned; where offsets are asked for, queries and keys as they are, both moved on, and keys alone."""
    if case.asks != "offsets only":
        return answer(*case.args.values())
    (query, key), positions = case.args["x"], case.args["positions"]

    def moved(by_query: int, by_key: int) -> list[Tensor]:
        turned = answer(query, positions + by_query), answer(key, positions + by_key)
        return [one.clone() for one in turned]  # what is returned may be the input itself

    with torch.no_grad():
        return {"still": moved(0, 0), "both": moved(STEP, STEP), "keys": moved(0, STEP)}


def any_turn(draw: Draw) -> Case:
    leading, odd = draw.pick("", "B ", "B H ", "B N H "), draw.pick(0, 0, 0, 0, 0, 1)
    draw.sized(B=(1, 3), N=(1, 3), H=(1, 3), T=(1, 7))
    draw.sizes["K"] = 2 * draw.whole(*draw.pick((1, 6), (1, 6), (20, 40))) - odd
    x = draw.floats(leading + "T K").to(draw.pick(torch.float32, torch.float32, torch.float64))
    places = draw.permutation(draw.pick(draw.sizes["T"], 60, 150))[: draw.sizes["T"]]
    places = places + draw.pick(0, 0, 0, 2000)  # float16 holds whole numbers up to 2048 only
    base = draw.pick({}, {}, {"base": draw.pick(1.0, 2.5, 100.0, 500_000.0)})
    return draw.case(x=x, positions=draw.pick(places, places.sort().values), **base,
                     returns=leading + "T K", asks="refusal" if odd else None)  # fmt: skip


@exercise(
    inputs=any_turn,
    properties={"shape": 1, "values": 2, "offsets only": 1, "gradients": 1, "refusal": 1},
    returns="B H T K",
    axes=TOKENS,
    act=_turn,
    when_right="You turned by absolute positions, and the scores know only differences: the best of both.",
)
def apply_rotary(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=2, H=3, T=5, K=8)
    yield draw.case(x=draw.normal("B T H K").transpose(1, 2), positions=torch.arange(5))
    draw = Draw(seed, B=3, T=4, K=6)
    spread = draw.permutation(60)[:4] + 1
    yield draw.case(
        x=draw.normal("B T K"), positions=spread, base=100.0, returns="B T K",
        note=f"for positions {', '.join(map(str, spread.tolist()))} and base 100",
    )  # fmt: skip
    draw = Draw(seed, B=1, H=1, T=3, K=14)
    yield draw.case(x=draw.normal("B H T K"), positions=draw.permutation(9)[:3], note="for one sentence and one head")
    draw = Draw(seed, T=1, K=2)
    yield draw.case(
        x=draw.normal("T K"), positions=torch.tensor([2059]), returns="T K", note="for one token, far out, and one pair"
    )
    draw = Draw(seed, B=2, T=4, K=6)
    yield draw.case(
        x=draw.normal("B T K").double(), positions=draw.permutation(9)[:4], returns="B T K", note="for x in float64"
    )
    draw = Draw(seed, B=3, T=5, K=6)
    for x, note in (
        (draw.normal("B K T").transpose(1, 2), "for an x whose memory is in another order"),
        (draw.normal("B T 7")[..., 1:], "for an x cut out of a wider tensor"),
    ):
        yield draw.case(x=x, positions=draw.permutation(9)[:5], returns="B T K", note=note)
    draw = Draw(seed, H=3, T=5, K=8)
    yield draw.case(x=draw.normal("2 H T K"), positions=draw.permutation(12)[:5], asks="offsets only")
    draw = Draw(seed, B=2, H=2, T=4, K=7)  # K alone is odd
    yield draw.case(x=draw.normal("B H T K"), positions=torch.arange(4), asks="refusal", note="for K = 7")


quiz_positions = quiz(
    "quiz_positions",
    {
        "words shuffled, no positions": ("the same vectors, shuffled", "the same vectors, unmoved", "other vectors"),
        "nothing beyond its table": ("sinusoidal encoding", "learned positions", "clipped relative bias"),
        "rotary turns": ("token embeddings", "queries and keys", "queries, keys and values"),
        "a relative bias is added to": ("the token vectors", "the scores", "the weights after softmax"),
    },
    when_right="Notebook 07 stacks the layers of 05 on these embeddings and loads a real BERT into them.",
)
