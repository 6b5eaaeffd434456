"""What 08-classification-head asks.

Training is judged by what it does to the judge's own small models and data: which parameters come out, which batches
were seen, how well unseen examples are told apart. Nothing that an answer prints or returns about its success counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from typing import Any

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


def _forward_or_dropout(model: Any, case: Case) -> Any:
    if case.asks != "dropout":
        return model(*case.args.values())
    return _dropout_in_words(deepcopy(model), case)


def _dropout_in_words(model: Any, case: Case) -> str:
    """Where the head drops numbers, and how many. The body is kept quiet, the classifier hands on what it gets."""
    with torch.no_grad():
        model.classifier.weight.copy_(torch.eye(case.sizes["D"]))
        model.classifier.bias.fill_(3.0)
        before = model.eval()(*case.args.values()) - 3.0
        model.train()
        model.encoder.eval()
        after = model(*case.args.values()) - 3.0
    clear = before.abs() > 0.05
    ratio = after[clear] / before[clear]
    if ((ratio - 1).abs() < 1e-3).all():
        return "in training, every number reaches the classifier"
    dropped = ratio.abs() < 1e-3
    kept = ratio[~dropped]
    if not dropped.any() or not len(kept) or kept.max() - kept.min() > 1e-2:
        return "in training, something else happens than dropping numbers before the classifier"
    chance = case.init[0].hidden_dropout_prob
    if abs(dropped.float().mean() - chance) > 0.12:
        return "in training, numbers are dropped with another probability than the config's"
    if abs(kept.median() * (1 - chance) - 1) > 1e-2:
        return "in training, numbers are dropped, but the others are not scaled up"
    return "in training, numbers are dropped before the classifier with the config's probability"


def _classifier_cases(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, D=12, H=3, N=5)
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), attention_mask=_padded([7, 4, 2]))
    draw = Draw(seed, B=4, T=5, D=18, H=2, N=3)
    mask = _padded([3, 5, 1, 4])
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), attention_mask=mask)
    draw = Draw(seed, B=2, T=1, D=10, H=5, N=2)
    ids, mask = draw.integers("B T", 30), _padded([1, 1])
    yield draw.case(init=(_config(draw),), input_ids=ids, attention_mask=mask, note="for a single token")
    draw = Draw(seed, B=4, T=6, D=8, H=2, N=3)
    yield draw.case(init=(_config(draw),), input_ids=draw.integers("B T", 30), asks="no mask", note=UNMASKED)
    draw = Draw(seed, B=32, T=16, D=24, H=2, N=24)  # many numbers even of one sentence: a share that chance can't hide
    init, mask = (_config(draw, hidden_dropout_prob=0.4),), _padded([16] * 32)
    yield draw.case(init=init, input_ids=draw.integers("B T", 30), attention_mask=mask, asks="dropout")


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 1, "no mask": 1, "parameters": 1, "dropout": 1, "gradients": 1},
    returns="B N",
    axes=TOKENS,
    run=_forward_or_dropout,
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
    draw = Draw(seed, B=1, N=7)
    yield draw.case(logits=draw.normal("B N"), labels=torch.tensor([6]), note="for a batch of one")
    draw = Draw(seed, B=4, N=3)
    labels = torch.tensor([0, 1, 2, 0])
    steep = draw.normal("B N") + 300.0 * torch.tensor([[0, 1, 2], [2, 0, 1], [0, 2, 1], [1, 0, 2]])
    yield draw.case(logits=steep, labels=labels, asks="large logits", note="when logits lie hundreds apart")
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


class Given:
    """Something that a run unpacks; in messages it is just named."""

    def __init__(self, name: str, content: Any) -> None:
        self.name, self.content = name, content

    def __repr__(self) -> str:
        return self.name


class SmallClassifier(nn.Module):
    """A model of the judge's own, of no architecture that the course has taught: the mean of the real tokens' vectors,
    one hidden layer. It notes in which mode, and on which batch (by its first id), it was called."""

    held_out: tuple[Tensor, Tensor, Tensor]

    def __init__(self, draw: Draw, chance: float = 0.0) -> None:
        super().__init__()
        vocabulary, width, labels = (draw.sizes[letter] for letter in "VDN")
        self.embedding = nn.utils.skip_init(nn.Embedding, vocabulary, width)
        self.hidden = nn.utils.skip_init(nn.Linear, width, width)
        self.dropout = nn.Dropout(chance)
        self.classifier = nn.utils.skip_init(nn.Linear, width, labels)
        for name, parameter in self.named_parameters():
            parameter.data = 0.5 * torch.randn(parameter.shape, generator=draw.fork(name), dtype=torch.float64)
        self.calls: list[tuple[bool, int]] = []

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:  # (B, T), (B, T) -> (B, N)
        self.calls.append((self.dropout.training, int(input_ids[0, 0])))
        keep = attention_mask.unsqueeze(-1).double()  # (B, T, 1)
        mean = (self.embedding(input_ids) * keep).sum(dim=1) / keep.sum(dim=1)
        return self.classifier(self.dropout(torch.tanh(self.hidden(mean))))


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
    "SGD": lambda model: torch.optim.SGD(model.parameters(), lr=0.5),
    "SGD with momentum": lambda model: torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.8),
    "AdamW": lambda model: torch.optim.AdamW(model.parameters(), lr=0.05, eps=1e-3),
    "SGD for the head alone": lambda model: torch.optim.SGD(model.classifier.parameters(), lr=0.5),  # type: ignore
}


def _steps(answer: Any, case: Case) -> Any:
    """One step for each batch."""
    model = deepcopy(case.args["model"])
    model.eval()
    optimizer = _OPTIMIZERS[case.args["optimizer"]](model)
    events = _watch(model.classifier.weight, optimizer)
    with _as_in_training():
        returned = [answer(model, batch, optimizer) for batch in case.args["batch"].content]
    if case.asks == "loss":
        return returned[0]
    if case.asks == "training mode":
        if not model.calls:
            return "the model is never called"
        trains = all(training for training, _ in model.calls)
        return "in training mode when called" if trains else "in eval mode when called"
    before = dict(case.args["model"].named_parameters())
    change = {f"change of {name}": (value - before[name]).detach() for name, value in model.named_parameters()}
    return {"what happens": ", ".join(events) or "nothing", **change}


def _watch(weight: nn.Parameter, optimizer: torch.optim.Optimizer) -> list[str]:
    """A list that fills with what happens to a weight: "backward", and "step" or "step without gradients"."""
    events: list[str] = []

    def stepped(*_: Any) -> None:
        there = weight.grad is not None and bool(weight.grad.any())
        events.append("step" if there else "step without gradients")

    weight.register_hook(lambda _: events.append("backward"))
    optimizer.register_step_post_hook(stepped)
    return events


@exercise(
    SLUG,
    properties={"loss": 1, "update": 2, "fresh gradients": 1, "training mode": 1},
    run=_steps,
    when_right="Five lines that train everything in this course; what remains is to repeat them.",
)
def train_step(seed: int) -> Iterator[Case]:
    _warm_up()
    draw = Draw(seed, B=3, T=5, V=11, D=4, N=3)

    def case(asks: str, optimizer: str, steps: int, note: str = "", chance: float = 0.0) -> Case:
        model, batches = SmallClassifier(draw, chance), _small_batches(draw, steps)
        words = "a batch of three sentences" if steps == 1 else f"{steps} batches, one after the other"
        return draw.case(model=model, batch=Given(words, batches), optimizer=optimizer, asks=asks, note=note)

    yield case("loss", "SGD", 1)
    yield case("update", "SGD", 1)
    yield case("update", "AdamW", 1, "with AdamW as the optimizer")
    yield case("update", "SGD for the head alone", 1, "when the optimizer holds the head's parameters only")
    yield case("fresh gradients", "SGD", 3, "at the second step and later")
    yield case("fresh gradients", "SGD with momentum", 4, "with momentum, at the second step and later")
    yield case("training mode", "SGD", 1, "when the model comes in eval mode", chance=0.5)


EPOCHS, HELD_OUT = 12, 40


class Stream:
    """Batches that can be gone through again and again, and be counted; like a DataLoader, they have no index."""

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class CountingSGD(torch.optim.SGD):
    """Notes how often it has stepped."""

    taken = 0

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
    optimizer = CountingSGD(model.parameters(), lr=0.5)
    told: list[Any] = []
    epochs, loop = case.args["epochs"], Stream(batches) if case.asks == "all batches" else list(batches)
    with _as_in_training():
        losses = answer(model, loop, optimizer, epochs, None if case.asks == "on_step" else told.append)
    seen = [mark for _, mark in model.calls]
    if case.asks == "on_step":
        return "it trains" if seen else "the model is never called"
    if case.asks == "all batches":
        return [sorted(seen[i : i + len(batches)]) for i in range(0, len(seen), len(batches))]
    trained, mode = [training for training, _ in model.calls], model.training
    held_out = case.args["model"].held_out
    with torch.no_grad():
        logits = model.eval()(held_out[0], held_out[1])
    return {"losses": losses, "told": told, "seen": seen, "modes": trained, "mode after": mode,
            "steps": optimizer.taken, "logits": logits}  # fmt: skip


Rule = Callable[[Any, Case], str | None]


def _of_training(rule: Rule) -> Rule:
    """The rule for the case in which everything is recorded; in the others the plain result is compared."""
    return lambda value, case: rule(value, case) if case.asks is None else None


@_of_training
def _learns(value: Any, case: Case) -> str | None:
    batches, epochs = case.args["batches"].content, case.args["epochs"]
    if value["steps"] == 0:
        return "The optimizer that you are given never takes a step."
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
    losses, epochs, count = value["losses"], case.args["epochs"], len(case.args["batches"].content)
    wanted = f"One loss for each step is wanted, {count * epochs} in all"
    if losses is None:
        return "Nothing is returned; a list with the loss of every step is wanted."
    if not isinstance(losses, list):
        return "A list with the loss of every step is wanted; what you return is none."
    if any(isinstance(loss, Tensor) for loss in losses):
        return "The losses are to be plain numbers; yours are tensors, and each keeps its whole computation in memory."
    if not all(isinstance(loss, float) for loss in losses):
        return "The losses are to be plain numbers."
    if len(losses) == epochs:
        return f"{wanted}; you return one for each epoch, {epochs}."
    if len(losses) == count:
        return f"{wanted}; you return those of one epoch, {count}."
    if len(losses) != count * epochs:
        return f"{wanted}; yours are {'too few' if len(losses) < count * epochs else 'too many'}, {len(losses)}."
    first = _first_loss(case)
    if abs(losses[0] - first) > 0.02 * first:
        return f"The first loss should be that of the untrained model, {first:.4f}; yours is another, {losses[0]:.4f}."
    early, *_, late = torch.tensor(losses).view(epochs, count).mean(dim=1).tolist()
    if late > 0.5 * early:
        return f"The losses don't fall: {early:.3f} on average in the first epoch, {late:.3f} in the last."
    return None


def _first_loss(case: Case) -> float:
    model, (ids, mask, labels) = deepcopy(case.args["model"]), case.args["batches"].content[0]
    with torch.no_grad():
        return float(nn.functional.cross_entropy(model.eval()(ids, mask), labels))


@_of_training
def _all_batches(value: Any, case: Case) -> str | None:
    seen, count, epochs = value["seen"], len(case.args["batches"].content), case.args["epochs"]
    wanted = f"{count * epochs} calls of the model are wanted"
    if not seen:
        return "The model is never called."
    if len(set(seen)) < count:
        return f"Only {len(set(seen))} of the {count} batches are ever used."
    if len(seen) < count * epochs:
        return f"Each batch is used, but not once in each of {epochs} epochs: {wanted}, yours are {len(seen)}."
    if len(seen) > count * epochs:
        return f"Batches are used too often: {wanted}, yours are {len(seen)}."
    if seen == sorted(seen):
        return (
            "The first batch has all its turns before the second comes: loop over the epochs outside, batches inside."
        )
    if any(len(set(seen[i : i + count])) < count for i in range(0, len(seen), count)):
        return "Within one epoch some batches come twice and others not at all."
    return None


@_of_training
def _modes(value: Any, case: Case) -> str | None:
    modes = value["modes"]
    if not modes:
        return "The model is never called."
    if not any(modes):
        return "It trains in eval mode throughout: dropout never acts."
    if not all(modes):
        return "It trains in eval mode in part: dropout acts at the beginning, then no more."
    if value["mode after"]:
        return "Afterwards the model is still in training mode: it would drop numbers when it predicts."
    return None


@_of_training
def _on_step(value: Any, case: Case) -> str | None:
    told, losses = value["told"], value["losses"]
    if not told:
        return "`on_step` is never called."
    if len(told) != value["steps"] and value["steps"]:
        return f"`on_step` is called {len(told)} times for {value['steps']} steps."
    if any(isinstance(one, Tensor) for one in told):
        return "`on_step` is to be told the loss as a plain number; yours is a tensor."
    if isinstance(losses, list) and len(losses) == len(told) and not any(isinstance(one, Tensor) for one in losses):
        return "`on_step` is told something else than the loss that you return." if told != losses else None
    first = _first_loss(case)
    return "`on_step` is told something else than the loss." if abs(told[0] - first) > 0.02 * first else None


@exercise(
    SLUG,
    properties={"learns": 2, "losses": 1, "all batches": 1, "modes": 1, "on_step": 1},
    run=_training,
    checks={
        "learns": _learns,
        "losses": _losses,
        "all batches": _all_batches,
        "modes": _modes,
        "on_step": _on_step,
    },
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
    yield draw.case(**again, epochs=3, on_step=None, asks="on_step", note="when `on_step` is None")
    note = "when the batches can be looped over, but not indexed"
    yield draw.case(**again, epochs=3, on_step=on_step, asks="all batches", note=note)


# ---------------------------------------------------------------------------------------------- a label for each token


@exercise(
    SLUG,
    kind="module",
    properties={"shape": 1, "values": 1, "no mask": 1, "dropout": 1, "gradients": 1},
    returns="B T N",
    axes=TOKENS,
    run=_forward_or_dropout,
    when_right="The same layer, asked once for each token. The third head doesn't label: it points.",
)
def TokenClassifier(seed: int) -> Iterator[Case]:
    yield from _classifier_cases(seed)


# ---------------------------------------------------------------------------------------------- spans


def _span_scores(answer: Any, case: Case) -> Any:
    """With a mask, what a softmax makes of the scores: −∞ and any other very low number are the same then."""
    scores = answer(*case.args.values())
    if case.asks == "mask":
        start, end = scores
        return [start.softmax(dim=-1), end.softmax(dim=-1)]
    return tuple(scores) if isinstance(scores, Tensor) and scores.dim() == 3 and len(scores) == 2 else scores


@exercise(
    SLUG,
    properties={"shape": 1, "values": 1, "mask": 1, "gradients": 1},
    returns="B T",
    axes=TOKENS,
    run=_span_scores,
    when_right="Two numbers for each token. Which pair of tokens they add up to best is the next question.",
)
def span_scores(seed: int) -> Iterator[Case]:
    draw = Draw(seed, B=3, T=7, D=5)
    yield draw.case(hidden=draw.normal("B T D"), w=draw.normal("2 D"))
    draw = Draw(seed, B=4, T=3, D=2)
    hidden = draw.normal("B D T").transpose(1, 2)
    yield draw.case(hidden=hidden, w=draw.normal("2 D"), note="when `w` is square")
    draw = Draw(seed, B=3, T=6, D=4)
    scores: dict[str, Any] = {"hidden": draw.normal("B T D"), "w": draw.normal("2 D")}
    yield draw.case(**scores, mask=_padded([6, 2, 4]), asks="mask", note="at padding")
    passage = torch.tensor([[0, 0, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0]])
    yield draw.case(
        **scores, mask=passage.bool(), asks="mask", note="when the mask is boolean and begins with the question"
    )


def _planted(draw: Draw, start: dict[int, float], end: dict[int, float], shift: float = 0.0) -> dict[str, Any]:
    """Scores (T,) near `shift`, and some places where they are what is said."""
    scores: dict[str, Any] = {
        "start": draw.normal("T", scale=0.3, shift=shift),
        "end": draw.normal("T", scale=0.3, shift=shift),
    }
    for name, places in (("start", start), ("end", end)):
        for place, value in places.items():
            scores[name][place] += value
    return scores


@exercise(
    SLUG,
    properties={"values": 3, "length": 1, "ties": 1, "batch": 1, "refusal": 1},
    axes=TOKENS,
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
    low = _planted(draw, {2: 2}, {4: 2}, shift=-8)
    for scores in low.values():
        scores[6:] = -torch.inf
    yield draw.case(**low, max_len=9, note="when all scores are negative and those of padding −∞")
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


# ---------------------------------------------------------------------------------------------- counting, closing


def _count(answer: Any, case: Case) -> Any:
    counts = answer(*case.args.values())
    if isinstance(counts, dict) and case.asks not in counts:
        raise ValueError(f'the dict has no key "{case.asks}"; its keys are: {", ".join(map(repr, counts)) or "none"}')
    return counts[case.asks]


@exercise(
    SLUG,
    properties={"sequence": 1, "token": 1, "span": 1},
    run=_count,
    when_right="A few thousand numbers on top of a hundred million: the head is small, and the body does the reading.",
)
def count_head_parameters(seed: int) -> Iterator[Case]:
    for width, heads, labels in ((12, 3, 5), (24, 2, 9)):
        draw = Draw(seed, D=width, H=heads, N=labels)
        for head in ("sequence", "token", "span"):
            yield draw.case(config=_config(draw), asks=head)


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
