"""What 08-classification-head asks.

Training is judged by what it does to the judge's own small models and data: which parameters come out, which batches
were seen, how well unseen examples are told apart. Nothing that an answer prints or returns about its success counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from anatomy.engine.draw import FORMS, Draw
from anatomy.engine.exercise import Case, exercise, quiz

TOKENS = {"T": "tokens", "N": "labels"}
UNMASKED = "when no attention mask is given"


def _config(draw: Draw, **others: Any) -> Any:
    from transformers import BertConfig  # only when cases are built: it is slow to import

    sizes = {"vocab_size": 30, "intermediate_size": 20, "num_hidden_layers": 2, "max_position_embeddings": 16}
    width, heads, labels = (draw.sizes[letter] for letter in "DHN")
    return BertConfig(hidden_size=width, num_attention_heads=heads, num_labels=labels, **sizes, **others)


def _padded(lengths: list[int], length: int = 0) -> Tensor:
    """An attention mask (B, T): as many ones as the sentence is long, then zeros; T is the longest, or `length`."""
    return (torch.arange(length or max(lengths)) < torch.tensor(lengths)[:, None]).long()


# ---------------------------------------------------------------------------------------------- the two linear heads


BIAS = 3.0
"""The classifier's bias while dropout is looked at: what is dropped behind the classifier takes it along."""


def _forward_or_dropout(model: Any, case: Case) -> Any:
    return _around_dropout(model, case) if case.asks == "dropout" else model(*case.args.values())


def _around_dropout(model: Any, case: Case) -> dict[str, Tensor | None]:
    """What the classifier gets in eval mode and in training, and what comes back without its bias.

    It hands on what it gets, and the body is kept quiet.
    """
    width = case.sizes["D"]
    weight, bias = (getattr(getattr(model, "classifier", None), name, None) for name in ("weight", "bias"))
    if not isinstance(weight, Tensor) or not isinstance(bias, Tensor) or weight.shape[1:] != (width,):
        return {"before": None, "after": None, "no bias": None}
    was = weight.clone(), bias.clone()
    with torch.no_grad():
        weight.copy_(torch.eye(len(weight), width))
        try:
            bias.zero_()
            no_bias = model.eval()(*case.args.values())
            bias.fill_(BIAS)
            before = model.eval()(*case.args.values()) - BIAS
            model.train()
            if isinstance(body := getattr(model, "encoder", None), nn.Module):
                body.eval()
            after = model(*case.args.values()) - BIAS
        finally:
            weight.copy_(was[0])
            bias.copy_(was[1])
            model.eval()
    return {"before": before, "after": after, "no bias": no_bias}


def _classifier_cases(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, D=12, H=3, N=5)
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), attention_mask=_padded([7, 4, 2]))
    draw = Draw(seed, B=4, T=5, D=18, H=2, N=3)
    mask = _padded([3, 5, 1, 4])
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), attention_mask=mask)
    draw = Draw(seed, B=2, T=1, D=10, H=5, N=2)
    ids, mask = draw.integers("B T", 30), _padded([1, 1])
    yield draw.case(init=(_config(draw),), input_ids=ids, attention_mask=mask, note="for a single token")
    draw = Draw(seed, B=1, T=4, D=6, H=2, N=4)
    ids, mask = draw.integers("B T", 30), _padded([4])
    yield draw.case(init=(_config(draw),), input_ids=ids, attention_mask=mask, note="for a single sentence")
    draw = Draw(seed, B=3, T=2, D=14, H=2, N=1)
    ids, mask = draw.integers("B T", 30), _padded([2, 1, 2])
    yield draw.case(init=(_config(draw),), input_ids=ids, attention_mask=mask, note="for a single label")
    draw = Draw(seed, B=2, T=6, D=8, H=2, N=3)
    ids, mask = draw.integers("B T", 30), _padded([4, 2], 6)
    yield draw.case(init=(_config(draw),), input_ids=ids, attention_mask=mask, note="when every sentence is padded")
    draw = Draw(seed, B=4, T=6, D=8, H=2, N=3)
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), asks="no mask", note=UNMASKED)
    draw = Draw(seed, B=32, T=16, D=44, H=2, N=40)  # many numbers even of one sentence: a share that chance can't hide
    chance = float(draw.integers("1", 24, 14)) / 50  # 0.28 to 0.46: neither usual nor one of the config's others
    chances = {"hidden_dropout_prob": chance, "attention_probs_dropout_prob": 0.2, "classifier_dropout": 0.65}
    init, mask = (_config(draw, **chances),), _padded([16] * 32)
    yield draw.case(init=init, input_ids=draw.integers("B T", 30), attention_mask=mask, asks="dropout")


def any_texts(draw: Draw) -> Case:
    draw.sized(B=(1, 4), T=(1, 9), N=(1, 6), H=(1, 3), K=(4, 6))
    draw.sizes["D"] = draw.sizes["H"] * draw.sizes["K"]
    lengths = [draw.sizes["T"], *(draw.whole(1, draw.sizes["T"]) for _ in range(draw.sizes["B"] - 1))]
    mask = _padded([lengths[index] for index in draw.permutation(len(lengths)).tolist()])
    given = draw.pick({}, {"attention_mask": None}, *[{"attention_mask": draw.laid_out(mask)}] * 3)
    asks = "no mask" if given.get("attention_mask") is None else None
    ids = draw.ids("B T", 30)
    if asks is None and draw.sizes["T"] > 1 and draw.pick(True, False, False):
        given["attention_mask"][:, -1] = 0  # every text is padded
    return draw.case(init=(_config(draw),), input_ids=ids, **given, asks=asks)


@exercise(
    inputs=any_texts,
    kind="module",
    properties={"shape": 1, "values": 1, "no mask": 1, "parameters": 1, "dropout": 1, "gradients": 1},
    returns="B N",
    axes=TOKENS,
    act=_forward_or_dropout,
    when_right="A body and a head. The head knows nothing yet: what it should learn from is the next exercise.",
)
def TransformerForSequenceClassification(seed: int) -> Iterator[Case]:
    yield from _classifier_cases(seed)


# ---------------------------------------------------------------------------------------------- the loss


def any_logits(draw: Draw) -> Case:
    draw.sized(B=draw.pick((1, 8), (1, 8), (130, 300)), N=draw.pick((1, 9), (1, 9), (130, 300)))
    labels, large = draw.ids("B", draw.sizes["N"]), draw.pick("", "", "rows", "entries")
    logits = draw.floats("B N", "plain", "whole", "negative", "alike")
    if large == "rows":  # each around a height of its own
        logits = logits + 100.0 * draw.integers("B 1", 3, -2)
    if large == "entries":  # whole numbers, so that rounding decides nothing
        logits = draw.pick(300.0, 10_000.0) * draw.integers("B N", 2, -1)
    return draw.case(logits=logits, labels=labels, asks="large logits" if large else None)


@exercise(inputs=any_logits,
    properties={"shape": 1, "values": 2, "large logits": 1, "gradients": 1},
    forbids=("cross_entropy", "cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss_forward", "nll_loss2d_forward",
             "log_softmax", "sparse_log_softmax"),
    axes=TOKENS,
    when_right="One number for a whole batch, with a gradient for every logit: now something can learn from it.",
)  # fmt: skip
def cross_entropy(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=6, N=4)
    yield draw.case(logits=draw.normal("B N", scale=2), labels=torch.tensor([2, 0, 3, 1, 0, 3]))
    draw = Draw(seed, B=5, N=3)
    across = draw.normal("N B").T - 4  # (B, N), in another order in memory
    yield draw.case(logits=across, labels=torch.tensor([0, 2, 2, 1, 2]), note="when all logits are negative")
    draw = Draw(seed, B=4, N=4)
    yield draw.case(logits=draw.normal("B N"), labels=torch.tensor([3, 1, 1, 0]), note="when B equals N")
    draw = Draw(seed, B=5, N=6)
    yield draw.case(logits=draw.normal("B N"), labels=torch.tensor([2, 0, 1, 0, 2]), note="when not every label occurs")
    draw = Draw(seed, B=1, N=7)
    yield draw.case(logits=draw.normal("B N"), labels=torch.tensor([6]), note="for a batch of one")
    draw = Draw(seed, B=4, N=3)
    labels = torch.tensor([0, 1, 2, 0])
    steep = draw.normal("B N") + 300.0 * torch.tensor([[0, 1, 2], [2, 0, 1], [0, 2, 1], [1, 0, 2]])
    yield draw.case(logits=steep, labels=labels, asks="large logits", note="when logits lie hundreds apart")
    low = draw.normal("B N") - torch.tensor([[0.0, 1, 400], [400, 0, 1], [1, 400, 0], [0, 400, 1]])
    yield draw.case(logits=low, labels=labels, asks="large logits", note="when only a wrong label's logit is far away")
    extreme = 1e4 * torch.tensor([[-1.0, 1, 0], [1, 1, -1], [-1, -1, -1], [1, 1, 1]])
    yield draw.case(logits=extreme, labels=labels, asks="large logits", note="when logits reach ±10,000")
    apart = draw.normal("B N") + torch.tensor([[-150.0], [0.0], [100.0], [200.0]])  # exp overflows from 89 on
    yield draw.case(logits=apart, labels=labels, asks="large logits", note="when each row lies around its own height")


# ---------------------------------------------------------------------------------------------- training


def _typed(value: Any) -> Any:
    """The value; numbers of NumPy, which look like plain ones where they are handed over, by their type."""
    if isinstance(value, list | tuple):
        return [_typed(item) for item in value]
    return {"$other": f"a NumPy {type(value).__name__}"} if type(value).__module__ == "numpy" else value


class Given:
    """Something that a run unpacks; in messages it is just named."""

    def __init__(self, name: str, content: Any) -> None:
        self.name, self.content = name, content

    def __repr__(self) -> str:
        return self.name


class Call(NamedTuple):
    """One call of a model: in which mode, on what, with which result behind dropout and in the end; able to learn?"""

    training: bool
    ids: Tensor
    mask: Tensor
    hidden: Tensor
    logits: Tensor
    learns: bool

    @property
    def mark(self) -> int:
        """By which the batch is known, its first id."""
        return int(self.ids[0, 0])


class SmallClassifier(nn.Module):
    """A model of the judge's own, of no architecture that the course has taught: the mean of the real tokens' vectors,
    one hidden layer. It keeps its calls. Some other training may have left gradients in it, all alike. Its first
    parameter, the embeddings, may be frozen."""

    held_out: tuple[Tensor, Tensor, Tensor]

    def __init__(
        self, draw: Draw, chance: float = 0.0, left_over: float = 0.0, steep: float = 1.0, frozen: bool = False
    ) -> None:
        super().__init__()
        vocabulary, width, labels = (draw.sizes[letter] for letter in "VDN")
        self.embedding = nn.utils.skip_init(nn.Embedding, vocabulary, width)
        self.hidden = nn.utils.skip_init(nn.Linear, width, width)
        self.dropout = nn.Dropout(chance)
        self.classifier = nn.utils.skip_init(nn.Linear, width, labels)
        for name, parameter in self.named_parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw.fork(name), dtype=torch.float64)
        self.classifier.weight.data *= steep
        self.embedding.requires_grad_(not frozen)
        self.left_over = left_over
        self.calls: list[Call] = []

    def forward(self, input_ids: Tensor, attention_mask: Tensor, /) -> Tensor:  # (B, T), (B, T) -> (B, N)
        hidden = self.dropout(self.read(input_ids, attention_mask))
        logits = self.classifier(hidden)
        given = input_ids.detach().clone(), attention_mask.detach().clone()
        self.calls.append(Call(self.dropout.training, *given, hidden.detach(), logits.detach(), logits.requires_grad))
        return logits

    def read(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:  # (B, T), (B, T) -> (B, D)
        """The hidden layer's result, of which dropout takes its share."""
        keep = attention_mask.unsqueeze(-1).double()  # (B, T, 1)
        mean = (self.embedding(input_ids) * keep).sum(dim=1) / keep.sum(dim=1)
        return torch.tanh(self.hidden(mean))


@cache
def _warm_up() -> None:
    """The first optimizer of a process imports torch's compiler: seconds that should not count as an answer's."""
    torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)


def _small_batches(draw: Draw, count: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    batch, labels = draw.sizes["B"], draw.sizes["N"]
    return [
        (draw.integers("B T", draw.sizes["V"]), _padded([draw.sizes["T"], *range(2, batch + 1)]),
         draw.integers("B", labels))
        for _ in range(count)
    ]  # fmt: skip


_OPTIMIZERS: dict[str, Callable[[nn.Module], torch.optim.Optimizer]] = {
    "SGD": lambda model: torch.optim.SGD(model.parameters(), lr=0.05),
    "SGD with momentum": lambda model: torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.8),
    "AdamW": lambda model: torch.optim.AdamW(model.parameters(), lr=0.05, eps=1e-3),
    "SGD for the head alone": lambda model: torch.optim.SGD(model.classifier.parameters(), lr=0.5),  # type: ignore
}


def _steps(answer: Any, case: Case) -> Any:
    """What came back of one step; or in which modes the model was called; or what happened at one step a batch."""
    model = deepcopy(case.args["model"])
    model.eval()
    for parameter in model.parameters():
        if model.left_over and parameter.requires_grad:
            parameter.grad = torch.full_like(parameter, model.left_over)
    optimizer = _OPTIMIZERS[case.args["optimizer"]](model)
    events = _watch(model, optimizer)
    with torch.enable_grad():
        returned = [answer(model, batch, optimizer) for batch in case.args["batch"].content]
    if case.asks == "loss":
        return _typed(returned[0])
    if case.asks == "training mode":
        modes = [int(call.training) for call in model.calls]
        return {"modes": modes, "mode after": int(model.training), "first": _first(model)}
    before = dict(case.args["model"].named_parameters())
    change = {name: (value - before[name]).detach() for name, value in model.named_parameters()}
    return {"events": events, "change": change}


def _first(model: SmallClassifier) -> dict[str, Tensor] | None:
    """What went into the model's first call, and what came of it."""
    if not model.calls:
        return None
    call = model.calls[0]
    return {"ids": call.ids, "mask": call.mask, "hidden": call.hidden, "logits": call.logits}


def _watch(model: SmallClassifier, optimizer: torch.optim.Optimizer) -> list[Any]:
    """A list that fills with what happens: "backward", and for each step the gradients of what it may move.

    These are the gradients that the step finds, and those that `backward` had made.
    """
    events: list[Any] = []
    given: dict[nn.Parameter, Tensor] = {}  # what `backward` has made of each parameter's gradient

    def computed(parameter: nn.Parameter, new: Tensor) -> None:
        given[parameter] = new.clone() if parameter.grad is None else parameter.grad + new
        if parameter is model.classifier.weight:
            events.append("backward")

    def stepped(*_: Any) -> None:
        moved = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        found = [None if parameter.grad is None else parameter.grad.clone() for parameter in moved]
        events.append({"found": found, "given": [given.get(parameter) for parameter in moved]})

    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_hook(partial(computed, parameter))
    optimizer.register_step_post_hook(stepped)
    return events


def any_step(draw: Draw) -> Case:
    draw.sized(B=(1, 4), V=(3, 40), D=(2, 6), N=(2, 7))
    draw.sizes["T"] = draw.sizes["B"] + draw.whole(0, 3)
    asks = draw.pick("loss", "update", "fresh gradients", "training mode")
    chance, left_over = 0.5 * (asks == "training mode"), draw.pick(0.0, 0.2, -1.0) * (asks == "fresh gradients")
    model = SmallClassifier(draw, chance, left_over, draw.pick(1.0, 4.0, 12.0), frozen=draw.pick(True, False, False))
    steps = draw.whole(1, 4) if asks == "fresh gradients" else 1
    batch = Given("a batch" if steps == 1 else f"{steps} batches", _small_batches(draw, steps))
    return draw.case(model=model, batch=batch, optimizer=draw.pick(*_OPTIMIZERS), asks=asks)


@exercise(
    inputs=any_step,
    properties={"loss": 1, "update": 2, "fresh gradients": 1, "training mode": 1},
    act=_steps,
    when_right="Five lines that train everything in this course; what remains is to repeat them.",
)
def train_step(seed: int) -> Iterator[Case]:
    _warm_up()
    draw = Draw(seed, B=3, T=5, V=11, D=4, N=6)

    def case(asks: str, optimizer: str, steps: int, note: str = "", **others: Any) -> Case:
        model, batches = SmallClassifier(draw, steep=12.0, **others), _small_batches(draw, steps)
        for ids, mask, labels in batches:  # large gradients: the first sentence's label is what the model least expects
            labels[0] = model.eval()(ids, mask)[0].argmin()
        model.calls.clear()
        words = "a batch of three sentences" if steps == 1 else f"{steps} batches, one after the other"
        return draw.case(model=model, batch=Given(words, batches), optimizer=optimizer, asks=asks, note=note)

    yield case("loss", "SGD", 1)
    sure, [(ids, mask, labels)] = SmallClassifier(draw), _small_batches(draw, 1)
    labels = torch.zeros_like(labels)
    while nn.functional.cross_entropy(sure(ids, mask), labels) > 4e-5:
        sure.classifier.bias.data[0] += 0.1
    sure.calls.clear()
    batch = Given("a batch of three sentences", [(ids, mask, labels)])
    yield draw.case(model=sure, batch=batch, optimizer="SGD", asks="loss", note="when the loss is small")
    yield case("update", "SGD", 1)
    yield draw.case(model=sure, batch=batch, optimizer="SGD", asks="update", note="when the loss is small")
    yield case("update", "AdamW", 1, "with AdamW as the optimizer")
    yield case("update", "SGD for the head alone", 1, "when the optimizer holds the head's parameters only")
    yield case("fresh gradients", "SGD", 1, "when the model still holds gradients from before", left_over=0.2)
    yield case("fresh gradients", "SGD", 3, "at the second step and later")
    yield case("fresh gradients", "SGD", 3, "when the first parameter is frozen, at the second step", frozen=True)
    yield case("fresh gradients", "SGD with momentum", 4, "with momentum, at the second step and later")
    yield case("training mode", "SGD", 1, "when the model comes in eval mode", chance=0.5)


EPOCHS, HELD_OUT = 7, 40


class Stream:
    """Batches that can be gone through again and again, and nothing else: they have neither an index nor a length."""

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)


class CountingSGD(torch.optim.SGD):
    """Notes how often it has stepped, and in how many steps some gradient was added to what an earlier one had left.

    Also how often its parameters were no longer as its last step had left them, and its settings no longer as given.
    """

    taken = moved = 0
    is_as_given = True

    def __init__(self, model: nn.Module, lr: float) -> None:
        super().__init__(model.parameters(), lr=lr)
        self._uncleared: set[int] = set()
        self._left: list[Tensor] = []
        self._settings = self._all_settings()
        for parameter in model.parameters():
            parameter.register_hook(partial(self._look, parameter))  # before the gradient is added to what is there

    def _look(self, parameter: Tensor, _: Tensor) -> None:
        if self.taken and parameter.grad is not None and bool(parameter.grad.any()):
            self._uncleared.add(self.taken)

    @property
    def uncleared(self) -> int:
        return len(self._uncleared)

    def _all_settings(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in group.items() if name != "params"} for group in self.param_groups]

    def look(self) -> None:
        """See whether somebody else has moved the parameters, or changed the settings."""
        now = [parameter for group in self.param_groups for parameter in group["params"]]
        self.moved += any(
            not torch.allclose(*pair, 0, 0, equal_nan=True) for pair in zip(self._left, now, strict=False)
        )
        self.is_as_given = self.is_as_given and self._all_settings() == self._settings

    def step(self, closure: Any = None) -> Any:
        self.look()
        self.taken += 1
        result = super().step(closure)
        self._left = [one.detach().clone() for group in self.param_groups for one in group["params"]]
        return result


def _task(draw: Draw, count: int, only: int | None = None, mark: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences of words without meaning (ids 10 to 13) and one of two kinds of telling words (20, 21 and 25, 26).

    Each sentence begins with the id `mark`, by which the model knows a batch; padding at the ends.
    """
    labels = torch.full((count,), only) if only is not None else torch.arange(count) % 2
    ids = torch.randint(10, 14, (count, 5), generator=draw.generator)
    ids[:, 0] = mark
    for row, label in enumerate(labels.tolist()):
        places = 1 + torch.randperm(2, generator=draw.generator)
        ids[row, places[0]] = 20 + 5 * label + int(torch.randint(0, 2, (), generator=draw.generator))
    lengths = [5, *torch.randint(3, 6, (count - 1,), generator=draw.generator).tolist()]
    return ids, _padded(lengths), labels


LARGE = "SGD with a large learning rate"
_RATES = {"SGD": 1.0, LARGE: 50.0}
LEFT_OUT, IS_NONE = "when `on_step` is left out", "when `on_step` is None"
COUNTS_AS_FALSE = "when `on_step` is an object that counts as false"


class Log(list[Any]):
    """A list that can be called, and keeps what it is told; empty, it counts as false."""

    __call__ = list.append


A_LOG: dict[str, Any] = {
    "on_step": Given("an empty list that can be called", None),
    "asks": "on_step",
    "note": COUNTS_AS_FALSE,
}


def _training(answer: Any, case: Case) -> Any:
    """All that a training did: what it returned and told, each call of the model, the parameters in the end.

    Where losses are looked at, some other training went before: what a list of losses keeps of it is seen. Its model
    comes in training mode, as a new one does; the other one in eval mode.
    """
    model, batches = deepcopy(case.args["model"]), case.args["batches"].content
    model.eval()
    optimizer = CountingSGD(model, lr=_RATES[case.args["optimizer"]])
    told: list[tuple[int, Any]] = []

    def on_step(loss: Any, /) -> bool | None:  # what comes back says nothing, and how many losses there are neither
        told.append((optimizer.taken, loss))
        return None if case.asks == "losses" else case.asks is None

    on_step.__qualname__ = on_step.__name__  # as an error's message names it
    epochs, loop = case.args["epochs"], Stream(batches) if case.asks == "all batches" else list(batches)
    log = Log()
    rest = {LEFT_OUT: (), IS_NONE: (None,), COUNTS_AS_FALSE: (log,)}.get(case.note, (on_step,))
    earlier = None
    with torch.enable_grad():
        if case.asks in (None, "losses"):
            other = deepcopy(case.args["model"])
            earlier = answer(other, batches[:1], CountingSGD(other, lr=1.0), 1, lambda loss, /: None)
        losses = answer(model, loop, optimizer, epochs, *rest)
    moved = optimizer.moved
    optimizer.look()
    calls = [call for call in model.calls if call.learns] or model.calls  # not what somebody measures in between
    kept = losses is earlier and isinstance(losses, list) and len(losses) > (wanted := epochs * len(batches))
    mine = losses[-wanted:] if kept else losses  # what an answer keeps depends on how often it has been called
    seen = {"losses": _typed(mine), "kept": int(kept), "marks": [call.mark for call in calls], "first": _first(model)}
    moves = {"moved": optimizer.moved, "moved last": optimizer.moved - moved, "as given": int(optimizer.is_as_given)}
    if case.asks is not None:
        return seen | {"learns": moves, "on_step": {"told": len(log)}}.get(case.asks, {})
    return {
        **seen, **moves, "told": _typed([loss for _, loss in told]), "told at": [taken for taken, _ in told],
        "logits": [call.logits for call in calls], "modes": [int(call.training) for call in calls],
        "mode after": int(model.training or other.training), "steps": optimizer.taken, "uncleared": optimizer.uncleared,
        "trained": {name: value.detach() for name, value in model.named_parameters()},
    }  # fmt: skip


def any_training(draw: Draw) -> Case:
    """What can be seen in a few steps: how many losses there are, which batches are used, who moves the parameters."""
    draw.sizes |= {"V": 60, "D": draw.whole(2, 8), "N": 2}
    marks = (30 + draw.permutation(30)[: draw.whole(1, 5)]).tolist()
    batches = [_task(draw, draw.whole(1, 5), draw.pick(None, 0, 1), mark) for mark in marks]
    asks = draw.pick("losses", "all batches", "learns", "on_step")
    on_step = A_LOG if asks == "on_step" else {"on_step": Given("a function", None), "asks": asks}
    return draw.case(
        model=SmallClassifier(draw), batches=Given(f"{len(marks)} batches", batches), optimizer=draw.pick(*_RATES),
        epochs=draw.whole(1, 4), **on_step,
    )  # fmt: skip


@exercise(
    inputs=any_training,
    properties={"learns": 2, "losses": 1, "all batches": 1, "modes": 1, "on_step": 1},
    act=_training,
    when_right="It learned a task that you have never seen. Now give it the one that this notebook is about.",
)
def train_classifier(seed: int) -> Iterator[Case]:
    _warm_up()
    draw = Draw(seed, V=60, D=8, N=2)
    marks = (30 + draw.permutation(30)[:5]).tolist()
    batches = [_task(draw, 24, 0 if mark == marks[0] else None, mark) for mark in marks]  # the first is one-sided
    given, on_step = Given("five batches", batches), Given("a function", None)
    model = SmallClassifier(draw)
    model.held_out = _task(draw, HELD_OUT, mark=marks[1])
    yield draw.case(model=model, batches=given, optimizer="SGD", epochs=EPOCHS, on_step=on_step)
    again: dict[str, Any] = {"model": model, "batches": given, "optimizer": "SGD"}
    yield draw.case(**again, epochs=2, asks="on_step", note=LEFT_OUT)
    yield draw.case(**again, epochs=2, on_step=None, asks="on_step", note=IS_NONE)
    yield draw.case(**again, epochs=2, **A_LOG)
    note = "when the batches can only be looped over: no index, no length"
    yield draw.case(**again, epochs=3, on_step=on_step, asks="all batches", note=note)
    sure = SmallClassifier(draw)  # whatever it reads, it says label 0
    sure.classifier.weight.data.zero_()
    sure.classifier.bias.data.copy_(torch.tensor([20.0, -20.0]))
    easy = Given("five batches of one kind", [_task(draw, 6, 0, mark) for mark in marks])
    again = {"model": sure, "batches": easy, "optimizer": "SGD", "on_step": on_step}
    note = "when the loss is next to 0 from the start"
    yield draw.case(**again, epochs=3, asks="all batches", note=note)
    yield draw.case(**again, epochs=2, asks="losses", note=note)
    both = Given("a batch of each kind", [_task(draw, 6, label, marks[label]) for label in (0, 1)])
    again |= {"batches": both, "optimizer": LARGE}  # each step goes far beyond its aim: the first epoch is the best
    for asks in ("learns", "all batches"):
        yield draw.case(**again, epochs=3, asks=asks, note="when the loss is larger in later epochs")


# ---------------------------------------------------------------------------------------------- a label for each token


@exercise(
    inputs=any_texts,
    kind="module",
    properties={"shape": 1, "values": 1, "no mask": 1, "dropout": 1, "gradients": 1},
    returns="B T N",
    axes=TOKENS,
    act=_forward_or_dropout,
    when_right="The same layer, asked once for each token. The third head doesn't label: it points.",
)
def TokenClassifier(seed: int) -> Iterator[Case]:
    yield from _classifier_cases(seed)


# ---------------------------------------------------------------------------------------------- spans


LOWEST = -9e8
"""As good as −∞ for a score: −1e9, also where it was added to another one."""


def _span_scores(answer: Any, case: Case) -> Any:
    """The two scores; with a mask, `LOWEST` and less stand for −∞ where it is 0."""
    scores = answer(*case.args.values())
    if case.asks == "mask":
        start, end = scores
        hidden = case.args["mask"] == 0
        if any(not isinstance(one, Tensor) or not one.is_floating_point() or one.shape != hidden.shape
               for one in (start, end)):  # fmt: skip
            return scores
        return tuple(one.masked_fill(hidden & (one <= LOWEST), -torch.inf) for one in (start, end))
    return tuple(scores) if isinstance(scores, Tensor) and scores.dim() == 3 and len(scores) == 2 else scores


def _any_places(draw: Draw, letters: str) -> Tensor:
    """Ones where an answer may lie, at least one in each text, and zeros elsewhere."""
    mask = draw.integers(letters, 2)
    return mask.scatter(-1, draw.integers(letters, draw.sizes["T"])[..., :1], 1)


def any_hidden(draw: Draw) -> Case:
    """Never two texts: `start, end = scores` runs only there, and goes on in many ways."""
    draw.sized(B=draw.pick((1, 1), (3, 5)), T=draw.pick((1, 9), (1, 9), (130, 140)), D=(1, 9))
    far, forms = draw.pick((1.0, FORMS), (1.0, FORMS), (2e4, ("whole",)))  # whole, so that rounding decides nothing
    scores = {"hidden": far * draw.floats("B T D", *forms), "w": draw.floats("2 D", *forms)}
    mask = _any_places(draw, "B T")
    given = draw.pick({}, {"mask": None}, {"mask": draw.laid_out(mask)}, {"mask": mask.bool()})
    return draw.case(**scores, **given, asks=None if given.get("mask") is None else "mask")


@exercise(
    inputs=any_hidden,
    properties={"shape": 1, "values": 1, "mask": 1, "gradients": 1},
    returns="B T",
    axes=TOKENS,
    act=_span_scores,
    when_right="Two numbers for each token. Which pair of tokens they add up to best is the next question.",
)
def span_scores(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, D=5)
    yield draw.case(hidden=draw.normal("B T D"), w=draw.normal("2 D"))
    draw = Draw(seed, B=4, T=3, D=2)
    hidden = draw.normal("B D T").transpose(1, 2)
    yield draw.case(hidden=hidden, w=draw.normal("2 D"), note="when `w` is square")
    draw = Draw(seed, B=1, T=4, D=3)
    yield draw.case(hidden=draw.normal("B T D"), w=draw.normal("2 D"), note="for a single text")
    draw = Draw(seed, B=3, T=1, D=4)
    yield draw.case(hidden=draw.normal("B T D"), w=draw.normal("2 D"), note="for texts of a single token")
    draw = Draw(seed, B=3, T=2, D=5)
    yield draw.case(hidden=draw.normal("B T D"), w=draw.normal("2 D"), note="for texts of two tokens")
    draw = Draw(seed, B=3, T=6, D=4)
    scores: dict[str, Any] = {"hidden": draw.normal("B T D"), "w": draw.normal("2 D")}
    short = (1 + Draw(seed, lengths=5).permutation(5)[:2]).tolist()
    yield draw.case(**scores, mask=_padded([6, *short]), asks="mask", note="when a mask of 1 and 0 hides padding")
    passage = torch.tensor([[0, 0, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0]])
    boolean = passage.bool()
    boolean[2] = False
    yield draw.case(
        **scores, mask=boolean, asks="mask", note="when a boolean mask hides one text, and more of the others"
    )
    low = torch.linalg.pinv(scores["w"]) @ torch.tensor([-10.0, -10.0])  # (D,): both of its scores are −10
    far: dict[str, Any] = {"hidden": 2e4 * (scores["hidden"] + low), "w": scores["w"]}
    note = "when a mask of 1 and 0 hides tokens of scores that lie far below zero, and far apart"
    yield draw.case(**far, mask=passage, asks="mask", note=note)


def _planted(
    draw: Draw, start: dict[int, float], end: dict[int, float], shift: float = 0.0, before: int = 0
) -> dict[str, Any]:
    """Scores (T,) near `shift`, at most 0.6 away, and some places where they are what is said.

    Places count from behind the first `before` tokens.
    """
    scores: dict[str, Any] = {name: draw.normal("T", scale=0.3).clamp(-0.6, 0.6) + shift for name in ("start", "end")}
    for name, places in (("start", start), ("end", end)):
        for place, value in places.items():
            scores[name][before + place] += value
    return scores


def _has_a_span(case: Case) -> bool:
    """Whether in each text some token counts: not all are question or padding. Where ties are looked at, all may be."""
    return case.asks == "ties" or bool((case.args["start"] + case.args["end"]).isfinite().any(dim=-1).all())


def any_scores(draw: Draw) -> Case:
    letters = draw.pick("T", "T", "B T")
    draw.sized(**({"B": (1, 4)} if "B" in letters else {}), T=draw.pick((1, 12), (1, 12), (1, 12), (30, 50)))
    length, tied = draw.sizes["T"], draw.pick(True, False, False)
    forms = ("whole", "alike") if tied else ("plain", "wide", "negative")
    far = 1.0 if tied else draw.pick(1.0, 1.0, 1000.0)
    start, end = far * draw.floats(letters, *forms), far * draw.floats(letters, *forms)
    if tied and letters == "T" and draw.pick(True, False, False):
        start, end = torch.full_like(start, -torch.inf), torch.full_like(end, -torch.inf)
    elif draw.pick(True, False):
        outside = _any_places(draw, letters) == 0
        start, end = start.masked_fill(outside, -torch.inf), end.masked_fill(outside, -torch.inf)
    start, end = start.contiguous(), end.contiguous()  # `view` is right, too
    max_len = draw.pick(1, length, draw.whole(1, length), length + 3, draw.whole(1, length), draw.whole(-3, 0))
    asks = "batch" if "B" in letters else "ties" if tied else "length" if max_len < length else None
    return draw.case(start=start, end=end, max_len=max_len, asks="refusal" if max_len < 1 else asks)


@exercise(
    inputs=any_scores,
    properties={"values": 3, "length": 1, "ties": 1, "batch": 1, "refusal": 1},
    axes=TOKENS,
    holds=_has_a_span,
    act=lambda answer, case: _typed(answer(*case.args.values())),
    when_right="Every answer that it can give is a passage of the text: it can be wrong, but it can't invent.",
)
def best_span(seed: int) -> Iterator[Case]:
    sizes = Draw(seed, texts=2)  # alike in all cases: two seeds that agree in one of many would be no rarity
    more, middle = sizes.integers("2", 41, 1).tolist()

    def text(length: int) -> tuple[Draw, int]:
        """A text that is longer than said, by `more` tokens in front; and its length."""
        return Draw(seed, T=more + length), more + length

    draw, T = text(9)
    note = "when the best start lies behind the best end"
    yield draw.case(**_planted(draw, {6: 6, 1: 4}, {2: 7, 8: 2}, before=more), max_len=T, note=note)
    draw, T = text(9)
    note = "when nothing good ends behind the best start"
    yield draw.case(**_planted(draw, {7: 5, 1: 3}, {7: -6, 8: -6, 4: 4}, before=more), max_len=T, note=note)
    draw, T = text(9)
    note = "when nothing good starts before the best end"
    poor = dict.fromkeys(range(-more, 2), -6.0)
    yield draw.case(**_planted(draw, {**poor, 4: 4}, {1: 5, 6: 3}, before=more), max_len=T, note=note)
    draw, T = text(9)
    note = "when the best span is a single token"
    yield draw.case(**_planted(draw, {3: 6}, {3: 6}, before=more), max_len=T, note=note)
    draw, T = text(9)
    yield draw.case(
        **_planted(draw, {8: 6}, {8: 6}, before=more), max_len=T, note="when the best span is the last token"
    )
    draw = Draw(seed, T=9)
    yield draw.case(**_planted(draw, {0: 6}, {0: 6}), max_len=9, note="when the best span is the first token")
    draw, T = text(9)
    low = _planted(draw, {2: 2}, {4: 2}, shift=-800, before=more)
    for scores in low.values():
        scores[more + 6 :] = -torch.inf
    yield draw.case(**low, max_len=T, note="when all scores are negative and those of padding −∞")
    draw, T = text(9)
    asked = _planted(draw, {4: 2, 6: -3}, {6: 2, 4: -3}, shift=-4, before=more)
    for scores in asked.values():
        scores[: more + 4] = scores[more + 7 :] = -torch.inf
    yield draw.case(**asked, max_len=T, note="when the question and the padding are −∞")
    draw = Draw(seed, T=1)
    yield draw.case(**_planted(draw, {0: -2}, {0: -1}), max_len=1, note="for a text of a single token")
    draw = Draw(seed, T=60)
    late, early = dict.fromkeys(range(32, 60), 9.0), dict.fromkeys(range(28), 9.0)
    yield draw.case(
        **_planted(draw, {29: 6, **late}, {30: 6, **early}), max_len=60,
        note="when all of the best starts lie behind all of the best ends",
    )  # fmt: skip
    draw, T = text(9)
    far = _planted(draw, {6: 1000, 1: 4}, {2: 1000, 3: 2}, before=more)
    note = "when scores lie a thousand apart and the best start lies behind the best end"
    yield draw.case(**far, max_len=T, note=note)
    draw, T = text(9)
    close = _planted(draw, {3: 6}, {5: 6}, before=more)
    close["end"][more + 4] = close["end"][more + 5] - 5e-4
    yield draw.case(**close, max_len=T, note="when the two best spans differ by little")
    draw, T = text(10)
    long = _planted(draw, {1: 7}, {3: 5, 4: 7, 9: 9}, before=more)
    yield draw.case(**long, max_len=3, asks="length", note="for max_len = 3")
    draw, T = text(9)
    beyond = _planted(draw, {1: 7, 3: 5}, {5: 8, 7: 3}, before=more)
    note = "when the best start is too far from the best end, and the next best is in between"
    yield draw.case(**beyond, max_len=3, asks="length", note=note)
    draw, T = text(10)
    apart = _planted(draw, {2: 7, 7: 5}, {7: 5, 3: 7}, before=more)
    yield draw.case(**apart, max_len=1, asks="length", note="for max_len = 1")
    draw = Draw(seed, T=10)
    yield draw.case(**_planted(draw, {0: 4}, {9: 4}), max_len=30, asks="length", note="when max_len exceeds the text")
    draw, T = text(8)
    level: dict[str, Any] = {name: torch.zeros(T) for name in ("start", "end")}
    level["start"][more:] = torch.tensor([0.0, 1, 4, 4, 0, 1, 0, 0])
    level["end"][more:] = torch.tensor([0.0, 1, 0, 0, 1, 4, 4, 0])
    yield draw.case(**level, max_len=T, asks="ties", note="when four spans tie")
    yield draw.case(start=torch.zeros(6), end=torch.zeros(6), max_len=2, asks="ties", note="when all scores are equal")
    nothing = torch.full((5,), -torch.inf)
    yield draw.case(start=nothing, end=nothing.clone(), max_len=3, asks="ties", note="when all scores are −∞")
    length = 8 + more
    draw = Draw(seed, B=3, T=length)
    rows = [_planted(draw, {place: 5}, {place + 2: 5}) for place in (length - 3, 0, 1 + middle % (length - 4))]
    rows[1]["start"] += 20
    rows[2]["end"] += 40
    batch: dict[str, Any] = {name: torch.stack([row[name] for row in rows]) for name in ("start", "end")}
    yield draw.case(**batch, max_len=4, asks="batch", note="for scores of shape (B, T)")
    one: dict[str, Any] = {name: scores[:1] for name, scores in batch.items()}
    yield draw.case(**one, max_len=4, asks="batch", note="for scores of shape (1, T)")
    draw = Draw(seed, T=5)
    yield draw.case(**_planted(draw, {1: 3}, {2: 3}), max_len=0, asks="refusal", note="for max_len = 0")
    yield draw.case(**_planted(draw, {1: 3}, {2: 3}), max_len=-2, asks="refusal", note="for max_len = −2")
    yield draw.case(**batch, max_len=0, asks="refusal", note="for max_len = 0 and scores of shape (B, T)")


# ---------------------------------------------------------------------------------------------- counting, closing


HEADS = ("sequence", "token", "span")


MORE_KEYS = "when keys are looked for that nobody asked for"


def _count(answer: Any, case: Case) -> Any:
    counts = answer(*case.args.values())
    return {key: _typed(count) for key, count in counts.items()} if isinstance(counts, dict) else counts


def any_config(draw: Draw) -> Case:
    draw.sized(D=draw.pick((1, 60), (1, 1500)), N=(1, 60))
    draw.sizes["H"] = 1
    return draw.case(config=_config(draw), asks=draw.pick(*HEADS))


@exercise(
    inputs=any_config,
    properties={"sequence": 1, "token": 1, "span": 1},
    act=_count,
    when_right="A few thousand numbers on top of a hundred million: the head is small, and the body does the reading.",
)
def count_head_parameters(seed: int) -> Iterator[Case]:
    sizes = Draw(seed, configs=2)
    drawn = [3 * sizes.integers("2", 61, 5), torch.tensor([3, 3]), sizes.integers("2", 31, 3)]
    for width, heads, labels in (*torch.stack(drawn).T.tolist(), (768, 12, 2)):
        draw = Draw(seed, D=width, H=heads, N=labels)
        for head in HEADS:
            yield draw.case(config=_config(draw), asks=head, note="for BERT base" if width == 768 else "")
    yield draw.case(config=_config(draw), asks="sequence", note=MORE_KEYS)


quiz_tasks = quiz(
    "quiz_tasks",
    {
        "does B follow from A": ("one label for each sentence", "one label for the pair", "a start and an end"),
        "all names of people": ("one label for the text", "a label for each token", "a start and an end"),
        "the passage that answers": ("one label for the pair", "a label for each passage", "a start and an end"),
        "frozen body": ("only the head changes", "only the body changes", "nothing changes"),
    },
    when_right="The encoder half of the map is yours. Notebook 09 turns to the decoder, which writes.",
)
