"""What 08-classification-head asks.

Training is judged by what it does to the judge's own small models and data: which parameters come out, which batches
were seen, how well unseen examples are told apart. Nothing that an answer prints or returns about its success counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from anatomy.exercises.spec import Case, Draw, exercise, quiz

SLUG = "08-classification-head"
TOKENS = {"T": "tokens", "N": "labels"}
UNMASKED = "when no attention mask is given"


def _config(draw: Draw, **others: Any) -> Any:
    from transformers import BertConfig  # only when cases are built: it is slow to import

    sizes = {"vocab_size": 30, "intermediate_size": 20, "num_hidden_layers": 2, "max_position_embeddings": 16}
    width, heads, labels = (draw.sizes[letter] for letter in "DHN")
    return BertConfig(hidden_size=width, num_attention_heads=heads, num_labels=labels, **sizes, **others)


def _padded(lengths: list[int]) -> Tensor:
    """An attention mask (B, T): as many ones as the sentence is long, then zeros."""
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()


# ---------------------------------------------------------------------------------------------- the two linear heads


BIAS = 3.0
"""The classifier's bias while dropout is looked at: what is dropped behind the classifier takes it along."""


def _forward_or_dropout(model: Any, case: Case) -> Any:
    return _dropout_in_words(model, case) if case.asks == "dropout" else model(*case.args.values())


def _dropout_in_words(model: Any, case: Case) -> str:
    """Which numbers the head drops, and how many. The body is kept quiet, the classifier hands on what it gets."""
    labels, width = case.sizes["N"], case.sizes["D"]
    weight, bias = (getattr(getattr(model, "classifier", None), name, None) for name in ("weight", "bias"))
    if not isinstance(weight, Tensor) or not isinstance(bias, Tensor) or weight.shape != (labels, width):
        return "no look at dropout: there is no layer `classifier` with a weight (N, D) and a bias (N,)"
    was = weight.clone(), bias.clone()
    with torch.no_grad():
        weight.copy_(torch.eye(labels, width))
        bias.fill_(BIAS)
        try:
            before = model.eval()(*case.args.values()) - BIAS
            model.train()
            if isinstance(body := getattr(model, "encoder", None), nn.Module):
                body.eval()
            after = model(*case.args.values()) - BIAS
        finally:
            weight.copy_(was[0])
            bias.copy_(was[1])
            model.eval()
    return f"in training, {_what_is_dropped(before, after, case.init[0].hidden_dropout_prob)}"


def _what_is_dropped(before: Tensor, after: Tensor, chance: float) -> str:
    """What dropout has made of numbers (B, ..., D); those near 0 tell nothing."""
    clear = before.abs() > 0.05
    ratio = after[clear] / before[clear]
    gone = ratio.abs() < 1e-3
    kept = ratio[~gone]
    if ((ratio - 1).abs() < 1e-3).all():
        return "every number reaches the classifier"
    if not gone.any() or not len(kept) or kept.max() - kept.min() > 1e-2:
        if _are_dropped(before + BIAS, after + BIAS):
            return "whole logits are dropped, behind the classifier"
        return "something else happens than dropping numbers before the classifier"
    scale, share = float(kept.median()), float(gone.float().mean())
    if abs(scale - 1) < 1e-2:
        return "numbers are dropped, but the others are not divided by 1 − p"
    if abs(share - (1 - 1 / scale)) > 0.12 + 2 / len(ratio) ** 0.5:  # a share that chance can't make
        return "the numbers that are kept are scaled by another factor than 1 / (1 − p)"
    if abs(1 - 1 / scale - chance) > 1e-2:
        return f"numbers are dropped with the probability {1 - 1 / scale:.2g}"
    dropped = torch.full_like(before, torch.nan)
    dropped[clear] = gone.to(before.dtype)
    wholes = {-1: "whole vectors are dropped, not single numbers", 0: "every sentence loses the same numbers"}
    if before.dim() == 3:
        wholes[1] = "all tokens of a sentence lose the same numbers"
    for axis, words in wholes.items():
        if before.size(axis) > 1 and _is_constant_along(dropped, axis):
            return words
    return "numbers are dropped before the classifier, each with the config's probability"


def _are_dropped(before: Tensor, after: Tensor) -> bool:
    """Whether some of these numbers have become 0, and all others are scaled alike."""
    ratio = (after / before)[before.abs() > 0.05]
    kept = ratio[ratio.abs() > 1e-3]
    return 0 < len(kept) < len(ratio) and bool(kept.max() - kept.min() < 1e-2)


def _is_constant_along(flags: Tensor, axis: int) -> bool:
    """Whether the zeros and ones along this axis are all alike, in every line; NaN is neither."""
    return bool((flags.nan_to_num(nan=0.0).amax(dim=axis) == flags.nan_to_num(nan=1.0).amin(dim=axis)).all())


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
    draw = Draw(seed, B=4, T=6, D=8, H=2, N=3)
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), asks="no mask", note=UNMASKED)
    draw = Draw(seed, B=32, T=16, D=24, H=2, N=20)  # many numbers even of one sentence: a share that chance can't hide
    init, mask = (_config(draw, hidden_dropout_prob=0.4, attention_probs_dropout_prob=0.2),), _padded([16] * 32)
    yield draw.case(init=init, input_ids=draw.integers("B T", 30), attention_mask=mask, asks="dropout")


@exercise(
    SLUG,
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


@exercise(
    SLUG,
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
    yield draw.case(logits=extreme, labels=labels, asks="large logits", note="when logits reach ±10 000")
    apart = draw.normal("B N") + torch.tensor([[-150.0], [0.0], [100.0], [200.0]])  # exp overflows from 89 on
    yield draw.case(logits=apart, labels=labels, asks="large logits", note="when each row lies around its own height")


# ---------------------------------------------------------------------------------------------- training


@contextmanager
def _as_in_training() -> Iterator[None]:
    """Gradients are recorded; and one thread does it all: for models this small more would only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)


def _named(value: Any) -> Any:
    """The value; numbers of NumPy, which look like plain ones where they are printed, as words."""
    if isinstance(value, list | tuple):
        return [_named(item) for item in value]
    return f"a NumPy {type(value).__name__}" if type(value).__module__ == "numpy" else value


class Given:
    """Something that a run unpacks; in messages it is just named."""

    def __init__(self, name: str, content: Any) -> None:
        self.name, self.content = name, content

    def __repr__(self) -> str:
        return self.name


class Call(NamedTuple):
    """One call of a model: in which mode, on which batch (by its first id), with what result, and able to learn?"""

    training: bool
    mark: int
    logits: Tensor
    learns: bool


class SmallClassifier(nn.Module):
    """A model of the judge's own, of no architecture that the course has taught: the mean of the real tokens' vectors,
    one hidden layer. It keeps its calls. Some other training may have left gradients in it, all alike."""

    held_out: tuple[Tensor, Tensor, Tensor]

    def __init__(self, draw: Draw, chance: float = 0.0, left_over: float = 0.0, steep: float = 1.0) -> None:
        super().__init__()
        vocabulary, width, labels = (draw.sizes[letter] for letter in "VDN")
        self.embedding = nn.utils.skip_init(nn.Embedding, vocabulary, width)
        self.hidden = nn.utils.skip_init(nn.Linear, width, width)
        self.dropout = nn.Dropout(chance)
        self.classifier = nn.utils.skip_init(nn.Linear, width, labels)
        for name, parameter in self.named_parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw.fork(name), dtype=torch.float64)
        self.classifier.weight.data *= steep
        self.left_over = left_over
        self.calls: list[Call] = []

    def forward(self, input_ids: Tensor, attention_mask: Tensor, /) -> Tensor:  # (B, T), (B, T) -> (B, N)
        keep = attention_mask.unsqueeze(-1).double()  # (B, T, 1)
        mean = (self.embedding(input_ids) * keep).sum(dim=1) / keep.sum(dim=1)
        logits = self.classifier(self.dropout(torch.tanh(self.hidden(mean))))
        self.calls.append(Call(self.dropout.training, int(input_ids[0, 0]), logits.detach(), logits.requires_grad))
        return logits


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


OTHER_MEANS = "the given optimizer never steps, and the parameters change all the same"
CHANGED = "step with other gradients than `backward` gave"


def _steps(answer: Any, case: Case) -> Any:
    """One step for each batch."""
    model = deepcopy(case.args["model"])
    model.eval()
    for parameter in model.parameters() if model.left_over else ():
        parameter.grad = torch.full_like(parameter, model.left_over)
    optimizer = _OPTIMIZERS[case.args["optimizer"]](model)
    events = _watch(model, optimizer)
    with _as_in_training():
        returned = [answer(model, batch, optimizer) for batch in case.args["batch"].content]
    if case.asks == "loss":
        return _named(returned[0])
    if case.asks == "training mode":
        return _modes_in_words(model)
    before = dict(case.args["model"].named_parameters())
    change = {f"change of {name}": (value - before[name]).detach() for name, value in model.named_parameters()}
    if not any("step" in event for event in events) and any(value.any() for value in change.values()):
        return {"what happens": OTHER_MEANS}
    if CHANGED in events:
        return {"what happens": ", ".join(events)}
    return {"what happens": ", ".join(events) or "nothing", **change}


def _modes_in_words(model: SmallClassifier) -> str:
    modes = [call.training for call in model.calls]
    if not modes:
        return "the model is never called"
    if all(modes):
        return "in training mode when called"
    if any(modes):
        return ", then ".join(f"called in {'training' if training else 'eval'} mode" for training in modes)
    return f"in eval mode when called, in {'training' if model.training else 'eval'} mode afterwards"


def _watch(model: SmallClassifier, optimizer: torch.optim.Optimizer) -> list[str]:
    """A list that fills with what happens: "backward", "step", and what is odd about the gradients of a step."""
    events: list[str] = []
    given: dict[nn.Parameter, Tensor] = {}  # what `backward` has made of each parameter's gradient

    def computed(parameter: nn.Parameter, new: Tensor) -> None:
        given[parameter] = new.clone() if parameter.grad is None else parameter.grad + new
        if parameter is model.classifier.weight:
            events.append("backward")

    def stepped(*_: Any) -> None:
        moved = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if not any(parameter.grad is not None and parameter.grad.any() for parameter in moved):
            events.append("step without gradients")
        elif all(_same_gradient(parameter.grad, given.get(parameter)) for parameter in moved):
            events.append("step")
        else:
            events.append(CHANGED)

    for parameter in model.parameters():
        parameter.register_hook(partial(computed, parameter))
    optimizer.register_step_post_hook(stepped)
    return events


def _same_gradient(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and torch.allclose(one, other)


@exercise(
    SLUG,
    properties={"loss": 1, "update": 2, "fresh gradients": 1, "training mode": 1},
    act=_steps,
    when_right="Five lines that train everything in this course; what remains is to repeat them.",
)
def train_step(seed: int) -> Iterator[Case]:
    _warm_up()
    draw = Draw(seed, B=3, T=5, V=11, D=4, N=6)

    def case(asks: str, optimizer: str, steps: int, note: str = "", **others: float) -> Case:
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
    yield case("update", "AdamW", 1, "with AdamW as the optimizer")
    yield case("update", "SGD for the head alone", 1, "when the optimizer holds the head's parameters only")
    yield case("fresh gradients", "SGD", 1, "when the model still holds gradients from before", left_over=0.2)
    yield case("fresh gradients", "SGD", 3, "at the second step and later")
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
    """Notes how often it has stepped, and in how many steps some gradient was added to what an earlier one had left."""

    taken = 0

    def __init__(self, model: nn.Module, lr: float) -> None:
        super().__init__(model.parameters(), lr=lr)
        self._uncleared: set[int] = set()
        for parameter in model.parameters():
            parameter.register_hook(partial(self._look, parameter))  # before the gradient is added to what is there

    def _look(self, parameter: Tensor, _: Tensor) -> None:
        if self.taken and parameter.grad is not None and bool(parameter.grad.any()):
            self._uncleared.add(self.taken)

    @property
    def uncleared(self) -> int:
        return len(self._uncleared)

    def step(self, closure: Any = None) -> Any:
        self.taken += 1
        return super().step(closure)


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


def _training(answer: Any, case: Case) -> Any:
    model, batches = deepcopy(case.args["model"]), case.args["batches"].content
    model.eval()
    optimizer = CountingSGD(model, lr=1.0)
    told: list[Any] = []
    epochs, loop = case.args["epochs"], Stream(batches) if case.asks == "all batches" else list(batches)
    rest = {"when `on_step` is left out": (), "when `on_step` is None": (None,)}.get(case.note, (told.append,))
    with _as_in_training():
        losses = answer(model, loop, optimizer, epochs, *rest)
    calls = [call for call in model.calls if call.learns] or model.calls  # not what somebody measures in between
    if case.asks == "on_step":
        return "it trains" if calls else "the model is never called"
    if case.asks == "losses":
        count = len(losses) if isinstance(losses, list | tuple) else "no list of"
        return f"{count} losses in {epochs} epochs of {len(batches)} batches"
    seen = [call.mark for call in calls]
    if case.asks == "all batches":
        return _order(seen, len(batches), epochs) or "It goes through all batches in order, as often as asked."
    labels = {int(ids[0, 0]): wanted for ids, _, wanted in batches}
    true = [nn.functional.cross_entropy(call.logits, labels[call.mark]).item() for call in calls]
    mode, held_out = model.training, case.args["model"].held_out
    with torch.no_grad():
        logits = model.eval()(held_out[0], held_out[1])
    return {"losses": _named(losses), "told": _named(told), "true": true, "seen": seen, "mode after": mode,
            "modes": [call.training for call in calls], "steps": optimizer.taken,
            "uncleared": optimizer.uncleared, "logits": logits}  # fmt: skip


Rule = Callable[[Any, Case], str | None]


def _of_training(rule: Rule) -> Rule:
    """The rule for the case in which everything is recorded; in the others the plain result is compared."""
    return lambda value, case: rule(value, case) if case.asks is None else None


@_of_training
def _learns(value: Any, case: Case) -> str | None:
    batches, epochs = case.args["batches"].content, case.args["epochs"]
    if not value["seen"]:
        return "The model that you are given is never called: what you train is another one, or none."
    if value["steps"] == 0:
        return "The optimizer that you are given never takes a step."
    if value["uncleared"]:
        return (
            f"In {value['uncleared']} of {value['steps']} steps the gradients of earlier ones are still there, and "
            "`backward` adds to them. They are to be cleared for every batch."
        )
    labels = case.args["model"].held_out[2]
    right = float((value["logits"].argmax(dim=-1) == labels).float().mean())
    loss = float(nn.functional.cross_entropy(value["logits"], labels))
    if right >= 0.9 and loss <= 0.15:
        return None
    return (
        f"After {epochs} epochs on {len(batches)} batches the model names {right:.0%} of the examples that it has not "
        f"seen (mean loss {loss:.2f}); the task is easy: at least 90% and at most 0.15 are wanted."
    )


@_of_training
def _losses(value: Any, case: Case) -> str | None:
    losses, true, epochs, count = value["losses"], value["true"], case.args["epochs"], len(case.args["batches"].content)
    wanted = f"A list with the loss of every step is wanted, {count * epochs} in all"
    if losses is None:
        return "Nothing is returned; a list with the loss of every step is wanted."
    if isinstance(losses, float):
        which = ", the last step's loss" if true and _alike([losses], true[-1:]) else ""
        return f"{wanted}; you return a single number{which}."
    if not isinstance(losses, list):
        kind = losses if isinstance(losses, str) else "a tensor" if isinstance(losses, Tensor) else "of another kind"
        return f"A list with the loss of every step is wanted; what you return is {kind}."
    if any(isinstance(loss, list) for loss in losses):
        alike = all(isinstance(loss, list) for loss in losses)
        return f"{wanted}; you return {'a list of lists' if alike else 'several things, and a list among them'}."
    if any(isinstance(loss, Tensor) for loss in losses):
        return "The losses are to be plain numbers; yours are tensors, and each keeps its whole computation in memory."
    if not all(isinstance(loss, float) for loss in losses):
        return f"The losses are to be plain numbers; yours are {_kinds(losses)}."
    if _alike(losses, true) and len(true) == count * epochs:
        return None
    if len(losses) != count * epochs:
        return f"{wanted}; you return {len(losses)}{_which(losses, true, count)}."
    rest = iter(true)
    if all(any(_alike([loss], [other]) for other in rest) for loss in losses):
        return None  # more steps were taken, and here are those that count: another property says so
    if means := _of_which(losses, true, count):
        return f"Each loss is to be that of its own step; yours are {means}."
    if not true:
        return None
    step = next((n for n in range(min(len(losses), len(true))) if not _alike(losses[n : n + 1], true[n : n + 1])), 0)
    return f"The loss of step {step + 1} was {true[step]:.4f}; you return {losses[step]:.4f}."


def _which(losses: list[float], true: list[float], count: int) -> str:
    """Which losses these are that are too few or too many; words to go behind their number."""
    if not losses:
        return ""
    if _alike(losses, true):
        taken = f"{len(true) // count} epochs" if len(true) % count == 0 else f"{len(true)} steps"
        return f", one for each step: you take {taken}"
    if len(losses) < len(true):
        if _alike(losses, true[: len(losses)]):
            return f", those of the first {len(losses)} steps"
        if _alike(losses, true[-len(losses) :]):
            return f", those of the last {len(losses)} steps"
    if means := _of_which(losses, true, count):
        return f", {means}"
    return ""


def _of_which(losses: list[float], true: list[float], count: int) -> str:
    """What these numbers are, if they are made of the true losses in a known way; otherwise nothing."""
    epochs = [true[start : start + count] for start in range(0, len(true), count)]
    mean_so_far = [so_far / number for number, so_far in enumerate(accumulate(true), 1)]
    made = {
        "the mean of each epoch": [sum(epoch) / len(epoch) for epoch in epochs],
        "the sum of each epoch": [sum(epoch) for epoch in epochs],
        "the last one of each epoch": [epoch[-1] for epoch in epochs],
        "the first one of each epoch": [epoch[0] for epoch in epochs],
        "the mean of all losses up to each step": mean_so_far,
        "the sum of all losses up to each step": [(n + 1) * mean for n, mean in enumerate(mean_so_far)],
        "the losses of the step before": [0.0, *true[:-1]],
        "rounded to two digits behind the point": [round(loss, 2) for loss in true],
        "rounded to three digits behind the point": [round(loss, 3) for loss in true],
        "rounded to four digits behind the point": [round(loss, 4) for loss in true],
        "the losses in reverse order": true[::-1],
        "the losses in order of size": sorted(true),
        "the losses in order of size, the largest first": sorted(true, reverse=True),
    }
    return next((words for words, numbers in made.items() if _alike(losses, numbers)), "")


def _alike(some: list[float], others: list[float]) -> bool:
    """Whether these are the same numbers. Two right ways to compute a loss differ by rounding alone."""
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(abs(one - other) <= 1e-5 * (1 + abs(other)) for one, other in pairs)


def _kinds(values: list[Any]) -> str:
    """What the first value that is no float is, in words."""
    first = next(value for value in values if not isinstance(value, float))
    if isinstance(first, str):
        return f"{first}s" if first.startswith("a NumPy ") else "texts"
    kinds = {int: "whole numbers", list: "lists or tuples", dict: "dicts", bool: "truth values", type(None): "None"}
    return "tensors" if isinstance(first, Tensor) else kinds.get(type(first), "of another kind")


def _order(seen: list[int], count: int, epochs: int) -> str | None:
    """What is wrong with the order in which batches 0, 1, … count − 1 were used."""
    wanted = f"{count * epochs} calls of the model are wanted"
    if not seen:
        return "The model that you are given is never called."
    if len(set(seen)) < count:
        return f"Only {len(set(seen))} of the {count} batches are ever used."
    rounds = [seen[start : start + count] for start in range(0, len(seen), count)]
    if len(seen) != count * epochs:
        if all(len(set(one)) == count for one in rounds):
            return f"You go through the batches in {len(rounds)} epochs; {epochs} are asked for."
        if len(seen) < count * epochs:
            return f"Each batch is used, but not once in each of {epochs} epochs: {wanted}, yours are {len(seen)}."
        return f"Batches are used too often: {wanted}, yours are {len(seen)}."
    if seen == sorted(seen):
        return (
            "The first batch has all its turns before the second comes: loop over the epochs outside, batches inside."
        )
    if any(len(set(one)) < count for one in rounds):
        return "Within one epoch some batches come twice and others not at all."
    if any(one != sorted(one) for one in rounds):
        backwards = all(one == sorted(one, reverse=True) for one in rounds)
        return f"Within an epoch you take the batches {'backwards' if backwards else 'in another order than given'}."
    return None


@_of_training
def _all_batches(value: Any, case: Case) -> str | None:
    seen, steps = value["seen"], value["steps"]
    if words := _order(seen, len(case.args["batches"].content), case.args["epochs"]):
        return words
    return (
        f"The optimizer steps {steps} times for {len(seen)} batches: one step a batch."
        if 0 < steps != len(seen)
        else None
    )


@_of_training
def _modes(value: Any, case: Case) -> str | None:
    modes = value["modes"]
    if not modes:
        return "The model that you are given is never called."
    if not any(modes):
        return "It trains in eval mode throughout: dropout never acts."
    if not all(modes):
        first, then = ("training", "eval") if modes[0] else ("eval", "training")
        return f"It trains in {first} mode at first, and in {then} mode later: dropout acts in part of the steps."
    if value["mode after"]:
        return "Afterwards the model is still in training mode: it would drop numbers when it predicts."
    return None


@_of_training
def _on_step(value: Any, case: Case) -> str | None:
    told, losses, true = value["told"], value["losses"], value["true"]
    if not told:
        return "`on_step` is never called."
    if value["steps"] and len(told) not in (len(true), value["steps"]):
        return f"`on_step` is called {len(told)} times for {len(true)} steps."
    if any(isinstance(one, Tensor) for one in told):
        return "`on_step` is to be told the loss as a plain number; yours is a tensor."
    if told in (list(range(len(told))), list(range(1, len(told) + 1))):
        return "`on_step` is told the number of the step; it is to be told the loss."
    if not all(isinstance(one, float) for one in told):
        return f"`on_step` is to be told the loss, one number at each step; what it is told are {_kinds(told)}."
    if told == losses or _alike(told, true):
        return None
    words = _of_which(told, true, len(case.args["batches"].content))
    return f"`on_step` is to be told the loss of the step just taken; it is told {words or 'something else'}."


@exercise(
    SLUG,
    properties={"learns": 2, "losses": 1, "all batches": 1, "modes": 1, "on_step": 1},
    act=_training,
    when_right="It learned a task that you have never seen. Now give it the one that this notebook is about.",
)
def train_classifier(seed: int) -> Iterator[Case]:
    _warm_up()
    draw = Draw(seed, V=30, D=8, N=2)
    batches = [_task(draw, 24, 0 if mark == 0 else None, mark) for mark in range(5)]  # the first is one-sided
    given, on_step = Given("five batches", batches), Given("a function", None)
    model = SmallClassifier(draw)
    model.held_out = _task(draw, HELD_OUT, mark=1)
    yield draw.case(model=model, batches=given, optimizer="SGD", epochs=EPOCHS, on_step=on_step)
    again: dict[str, Any] = {"model": model, "batches": given, "optimizer": "SGD"}
    yield draw.case(**again, epochs=2, asks="on_step", note="when `on_step` is left out")
    yield draw.case(**again, epochs=2, on_step=None, asks="on_step", note="when `on_step` is None")
    note = "when the batches can only be looped over: no index, no length"
    yield draw.case(**again, epochs=3, on_step=on_step, asks="all batches", note=note)
    sure = SmallClassifier(draw)  # whatever it reads, it says label 0
    sure.classifier.weight.data.zero_()
    sure.classifier.bias.data.copy_(torch.tensor([20.0, -20.0]))
    easy = Given("five batches of one kind", [_task(draw, 6, 0, mark) for mark in range(5)])
    again = {"model": sure, "batches": easy, "optimizer": "SGD", "on_step": on_step}
    note = "when the loss is next to 0 from the start"
    yield draw.case(**again, epochs=3, asks="all batches", note=note)
    yield draw.case(**again, epochs=2, asks="losses", note=note)


# ---------------------------------------------------------------------------------------------- a label for each token


@exercise(
    SLUG,
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


def _span_scores(answer: Any, case: Case) -> Any:
    """With a mask, the scores where they count, and what a softmax makes of all (−∞ and any other very low number are
    the same then)."""
    scores = answer(*case.args.values())
    if case.asks == "mask":
        start, end = scores
        counts = case.args["mask"].bool()
        if any(
            not isinstance(one, Tensor) or not one.is_floating_point() or one.shape != counts.shape for one in scores
        ):
            return scores
        return [start[counts], end[counts], start.softmax(dim=-1), end.softmax(dim=-1)]
    return tuple(scores) if isinstance(scores, Tensor) and scores.dim() == 3 and len(scores) == 2 else scores


@exercise(
    SLUG,
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
    draw = Draw(seed, B=3, T=6, D=4)
    scores: dict[str, Any] = {"hidden": draw.normal("B T D"), "w": draw.normal("2 D")}
    yield draw.case(**scores, mask=_padded([6, 2, 4]), asks="mask", note="at padding")
    passage = torch.tensor([[0, 0, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0]])
    yield draw.case(
        **scores, mask=passage.bool(), asks="mask", note="when the mask is boolean and begins with the question"
    )
    low = torch.linalg.pinv(scores["w"]) @ torch.tensor([-10.0, -10.0])  # (D,): both of its scores are −10
    far: dict[str, Any] = {"hidden": 2e4 * (scores["hidden"] + low), "w": scores["w"]}
    yield draw.case(**far, mask=passage, asks="mask", note="when all scores lie far below zero, and far apart")


def _planted(draw: Draw, start: dict[int, float], end: dict[int, float], shift: float = 0.0) -> dict[str, Any]:
    """Scores (T,) near `shift`, at most 0.6 away, and some places where they are what is said."""
    scores: dict[str, Any] = {name: draw.normal("T", scale=0.3).clamp(-0.6, 0.6) + shift for name in ("start", "end")}
    for name, places in (("start", start), ("end", end)):
        for place, value in places.items():
            scores[name][place] += value
    return scores


def _has_a_span(case: Case) -> bool:
    """Whether in each text some token counts: not all are question or padding."""
    return bool((case.args["start"] + case.args["end"]).isfinite().any(dim=-1).all())


@exercise(
    SLUG,
    properties={"values": 3, "length": 1, "ties": 1, "batch": 1, "refusal": 1},
    axes=TOKENS,
    holds=_has_a_span,
    act=lambda answer, case: _named(answer(*case.args.values())),
    when_right="Every answer that it can give is a passage of the text: it can be wrong, but it can't invent.",
)
def best_span(seed: int) -> Iterator[Case]:
    draw = Draw(seed, T=9)
    note = "when the best start lies behind the best end"
    yield draw.case(**_planted(draw, {6: 6, 1: 4}, {2: 7, 8: 2}), max_len=9, note=note)
    note = "when nothing good ends behind the best start"
    yield draw.case(**_planted(draw, {7: 5, 1: 3}, {7: -6, 8: -6, 4: 4}), max_len=9, note=note)
    note = "when nothing good starts before the best end"
    yield draw.case(**_planted(draw, {0: -6, 1: -6, 4: 4}, {1: 5, 6: 3}), max_len=9, note=note)
    yield draw.case(**_planted(draw, {3: 6}, {3: 6}), max_len=9, note="when the best span is a single token")
    yield draw.case(**_planted(draw, {8: 6}, {8: 6}), max_len=9, note="when the best span is the last token")
    yield draw.case(**_planted(draw, {0: 6}, {0: 6}), max_len=9, note="when the best span is the first token")
    low = _planted(draw, {2: 2}, {4: 2}, shift=-8)
    for scores in low.values():
        scores[6:] = -torch.inf
    yield draw.case(**low, max_len=9, note="when all scores are negative and those of padding −∞")
    asked = _planted(draw, {4: 2, 6: -3}, {6: 2, 4: -3}, shift=-4)
    for scores in asked.values():
        scores[:4] = scores[7:] = -torch.inf
    yield draw.case(**asked, max_len=9, note="when the question and the padding are −∞")
    draw = Draw(seed, T=1)
    yield draw.case(**_planted(draw, {0: -2}, {0: -1}), max_len=1, note="for a text of a single token")
    draw = Draw(seed, T=60)
    late, early = dict.fromkeys(range(32, 60), 9.0), dict.fromkeys(range(28), 9.0)
    yield draw.case(
        **_planted(draw, {29: 6, **late}, {30: 6, **early}), max_len=60,
        note="when all of the best starts lie behind all of the best ends",
    )  # fmt: skip
    draw = Draw(seed, T=10)
    long = _planted(draw, {1: 5}, {3: 5, 4: 7, 9: 9})
    yield draw.case(**long, max_len=3, asks="length", note="for max_len = 3")
    yield draw.case(**_planted(draw, {2: 4, 7: 3}, {7: 4, 3: 5}), max_len=1, asks="length", note="for max_len = 1")
    yield draw.case(**_planted(draw, {0: 4}, {9: 4}), max_len=30, asks="length", note="when max_len exceeds the text")
    draw = Draw(seed, T=8)
    level = torch.tensor([0.0, 1, 4, 4, 0, 1, 0, 0]), torch.tensor([0.0, 1, 0, 0, 1, 4, 4, 0])
    yield draw.case(start=level[0], end=level[1], max_len=8, asks="ties", note="when four spans tie")
    yield draw.case(start=torch.zeros(6), end=torch.zeros(6), max_len=2, asks="ties", note="when all scores are equal")
    draw = Draw(seed, B=3, T=7)
    rows = [_planted(draw, {place: 5}, {place + 2: 5}) for place in (4, 0, 2)]
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


def _count(answer: Any, case: Case) -> Any:
    counts = answer(*case.args.values())
    if not isinstance(counts, dict):
        return counts
    if case.note:
        return [key for key in counts if key not in HEADS]
    if case.asks not in counts:
        return f'no key "{case.asks}"; the keys are: {", ".join(map(repr, counts)) or "none"}'
    count = _named(counts[case.asks])
    return f"the float {count}" if isinstance(count, float) else count


@exercise(
    SLUG,
    properties={"sequence": 1, "token": 1, "span": 1},
    act=_count,
    when_right="A few thousand numbers on top of a hundred million: the head is small, and the body does the reading.",
)
def count_head_parameters(seed: int) -> Iterator[Case]:
    for width, heads, labels in ((12, 3, 5), (24, 2, 9)):
        draw = Draw(seed, D=width, H=heads, N=labels)
        for head in HEADS:
            yield draw.case(config=_config(draw), asks=head)
    yield draw.case(config=_config(draw), asks="sequence", note="when keys are looked for that nobody asked for")


quiz_tasks = quiz(
    SLUG,
    "quiz_tasks",
    {
        "does B follow from A": ("one label for each sentence", "one label for the pair", "a start and an end"),
        "all names of people": ("one label for the text", "a label for each token", "a start and an end"),
        "the passage that answers": ("one label for the pair", "a label for each passage", "a start and an end"),
        "frozen body": ("only the head changes", "only the body changes", "nothing changes"),
    },
    when_right="The encoder half of the map is yours. Notebook 09 turns to the decoder, which writes.",
)
