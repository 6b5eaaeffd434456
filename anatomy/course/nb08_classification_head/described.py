"""What the judge says of the results of 08-classification-head."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from anatomy.course.nb08_classification_head.asked import BIAS, COUNTS_AS_FALSE, HEADS, MORE_KEYS, SmallClassifier
from anatomy.engine.describing import Description
from anatomy.engine.describing.raw import as_it_is, gathered
from anatomy.engine.exercise import Case, Rule


def _named(raw: Any) -> Any:
    """The value; where there was a number of NumPy, which looks like a plain one where it is printed, its type."""
    if isinstance(raw, list):
        return [_named(item) for item in raw]
    said = str(raw["$other"]) if isinstance(raw, dict) and "$other" in raw else ""
    return said if said.startswith("a NumPy ") else raw


# ---------------------------------------------------------------------------------------------- the two linear heads


def _dropout_in_words(raw: Any, case: Case) -> Any:
    """Which numbers the head drops, and how many."""
    if case.asks != "dropout":
        return raw
    if not gathered(raw, "before", "after", "no bias"):
        return as_it_is(raw)
    before, after, no_bias = raw["before"], raw["after"], raw["no bias"]
    if before is None:
        return "not looked at: there is no layer `classifier` from D numbers, with a weight and a bias"
    if before.shape != no_bias.shape or not torch.allclose(before, no_bias, atol=1e-4):
        return "not looked at: with 3 more as the bias of `classifier`, the results in eval mode are not just 3 larger"
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
            return "whole logits are dropped, after the classifier"
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


# ---------------------------------------------------------------------------------------------- training

RECORDED = ("modes", "mode after", "steps", "uncleared", "moved", "moved last", "as given", "told at")
OTHER_MEANS = "the given optimizer never steps, and the parameters change all the same"
CHANGED = "step with other gradients than `backward` gave"
KEPT = "the same list comes back at every call, with the losses of earlier calls in it"
ELSEWHERE = "the model's first call is not one of the model that was given"


def _is_of(first: Any, case: Case, training: bool) -> bool:
    """Whether the model of this case makes of what went into its first call what is said to have come of it.

    In training dropout takes some of the hidden numbers and scales the others; the rest of the way is open to see.
    """
    model: SmallClassifier = deepcopy(case.args["model"])
    ids, mask, hidden, logits = (first[name] for name in ("ids", "mask", "hidden", "logits"))
    if ids.dim() != 2 or ids.numel() > 10_000 or ids.shape != mask.shape or hidden.shape[:1] != ids.shape[:1]:
        return False
    with torch.no_grad():
        calm = model.read(ids, mask)
        share = model.dropout.p if training else 0.0
        kept = torch.isclose(hidden, calm / (1 - share), equal_nan=True)
        gone = (hidden == 0) if share else torch.zeros_like(kept)
        return bool((kept | gone).all()) and torch.allclose(model.classifier(hidden), logits, equal_nan=True)


def _step_in_words(raw: Any, case: Case) -> Any:
    """What happens at a step, in words, and by how much the parameters change."""
    if case.asks == "loss":
        return _named(raw)
    if case.asks == "training mode":
        if not gathered(raw, "modes", "mode after", "first"):
            return as_it_is(raw)
        modes = raw["modes"]
        return (
            _modes_in_words(modes, raw["mode after"])
            if not modes or _is_of(raw["first"], case, modes[0])
            else ELSEWHERE
        )
    if not gathered(raw, "events", "change"):
        return as_it_is(raw)
    events = ["backward" if event == "backward" else _gradients_in_words(event) for event in raw["events"]]
    change = {f"change of {name}": value for name, value in raw["change"].items()}
    if not any("step" in event for event in events) and any(value.any() for value in change.values()):
        return {"what happens": OTHER_MEANS}
    if CHANGED in events:
        return ", ".join(events)
    return {"what happens": ", ".join(events) or "nothing", **change}


def _modes_in_words(modes: list[int], after: int) -> str:
    if not modes:
        return "the model is never called"
    if all(modes):
        return "in training mode when called"
    if any(modes):
        return ", then ".join(f"called in {'training' if training else 'eval'} mode" for training in modes)
    return f"in eval mode when called, in {'training' if after else 'eval'} mode afterwards"


def _gradients_in_words(step: Mapping[str, Any]) -> str:
    """A step, and what is odd about the gradients that it finds."""
    found, given = step["found"], step["given"]
    if not any(gradient is not None and gradient.any() for gradient in found):
        return "step without gradients"
    return "step" if all(map(_same_gradient, found, given)) else CHANGED


def _same_gradient(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other  # a frozen parameter has none
    return torch.allclose(one, other, equal_nan=True)


def _training_in_words(raw: Any, case: Case) -> Any:
    """What a training did, for the rules; where one thing is needed, that in words."""
    names = ("told", "logits", "trained", *RECORDED)
    needed = {"learns": ("moved", "moved last", "as given"), "on_step": ("told",), None: names}.get(case.asks, ())
    if not gathered(raw, "losses", "marks", "first", "kept", *needed):
        return as_it_is(raw)
    batches, epochs, losses, marks = case.args["batches"].content, case.args["epochs"], raw["losses"], raw["marks"]
    if case.asks in ("on_step", "losses", "learns") and marks and not _is_of(raw["first"], case, training=False):
        return ELSEWHERE  # with a model that drops nothing: the first call's mode is for another property
    if case.asks == "on_step":
        if case.note == COUNTS_AS_FALSE and not raw["told"]:
            return "`on_step` is never called"
        return "it trains" if marks else "the model is never called"
    if case.asks == "learns":
        return _moved_elsewhere(raw) or "The parameters change in the optimizer's steps alone."
    if case.asks == "losses":
        if raw["kept"]:
            return KEPT
        count = _many(len(losses), "loss", "losses") if isinstance(losses, list) else "no list of losses"
        return f"{count} in {_many(epochs, 'epoch', 'epochs')} of {_many(len(batches), 'batch', 'batches')}"
    places = {int(ids[0, 0]): place for place, (ids, _, _) in enumerate(batches)}
    seen = [places.get(mark, -1) for mark in marks]  # -1 for what is none of the batches
    if case.asks == "all batches":
        return _order(seen, len(batches), epochs) or "It goes through all batches in order, as often as asked."
    if marks and not _is_of(raw["first"], case, raw["modes"][0]):
        return ELSEWHERE
    labels = [wanted for _, _, wanted in batches]
    true = [_loss(logits, labels[place]) if place >= 0 else torch.nan
            for place, logits in zip(seen, raw["logits"], strict=True)]  # fmt: skip
    model = deepcopy(case.args["model"]).eval()
    with torch.no_grad():
        held_out = functional_call(model, raw["trained"], tuple(model.held_out[:2]), strict=True)
    return {
        **{name: raw[name] for name in RECORDED},
        "kept": raw["kept"], "losses": _named(losses), "told": _named(raw["told"]), "true": true, "seen": seen,
        "logits": held_out,
    }  # fmt: skip


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _loss(logits: Tensor, labels: Tensor) -> float:
    """The loss of a batch; NaN where only a part of it was seen."""
    return nn.functional.cross_entropy(logits, labels).item() if len(logits) == len(labels) else torch.nan


def _of_training(rule: Rule) -> Rule:
    """The rule for the case in which everything is recorded; in the others the plain result is compared."""

    def of_training(value: Any, case: Case) -> str | None:
        if case.asks is not None:
            return None
        return rule(value, case) if isinstance(value, dict) else f"What came back can't be judged: {value}."

    return of_training


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
            "`backward` adds to them. Clear them for every batch."
        )
    if moved := _moved_elsewhere(value):
        return moved
    labels = case.args["model"].held_out[2]
    right = float((value["logits"].argmax(dim=-1) == labels).float().mean())
    loss = float(nn.functional.cross_entropy(value["logits"], labels))
    if right >= 0.9 and loss <= 0.15:
        return None
    return (
        f"After {epochs} epochs on {len(batches)} batches the model names {right:.0%} of the examples that it has not "
        f"seen (mean loss {loss:.2f}); the task is easy: at least 90% and at most 0.15 are needed."
    )


def _moved_elsewhere(value: Mapping[str, Any]) -> str | None:
    """What besides the optimizer's steps has changed the parameters, or its settings."""
    if not value["as given"]:
        return "You change the optimizer's settings (its learning rate, say). They are the caller's: leave them."
    if not value["moved"]:
        return None
    after = {0: "before the next one", value["moved"]: "after the last one"}
    when = after.get(value["moved last"], "before the next one, and after the last one")
    return f"The parameters do not stay as a step has left them: something else sets them {when}."


@_of_training
def _losses(value: Any, case: Case) -> str | None:
    losses, true, epochs, count = value["losses"], value["true"], case.args["epochs"], len(case.args["batches"].content)
    wanted = f"A list with the loss of every step is needed, {count * epochs} in all"
    if losses is None:
        return "Nothing is returned; a list with the loss of every step is needed."
    if isinstance(losses, float):
        which = ", the last step's loss" if true and _alike([losses], true[-1:]) else ""
        return f"{wanted}; you return a single number{which}."
    if not isinstance(losses, list):
        kind = losses if isinstance(losses, str) else "a tensor" if isinstance(losses, Tensor) else "of another kind"
        return f"A list with the loss of every step is needed; what you return is {kind}."
    if value["kept"]:
        return f"A list with the losses of this training is needed. {KEPT[0].upper()}{KEPT[1:]}."
    if any(isinstance(loss, list) for loss in losses):
        alike = all(isinstance(loss, list) for loss in losses)
        return f"{wanted}; you return {'a list of lists' if alike else 'several things, and a list among them'}."
    if any(isinstance(loss, Tensor) for loss in losses):
        return "The losses must be plain numbers; yours are tensors, and each keeps its whole computation in memory."
    if not all(isinstance(loss, float) for loss in losses):
        return f"The losses must be plain numbers; yours are {_kinds(losses)}."
    if _alike(losses, true) and len(true) == count * epochs:
        return None
    if len(losses) != count * epochs:
        return f"{wanted}; you return {len(losses)}{_which(losses, true, count)}."
    rest = iter(true)
    if all(any(_alike([loss], [other]) for other in rest) for loss in losses):
        return None  # more steps were taken, and here are those that count: another property says so
    if means := _of_which(losses, true, count):
        return f"Each loss must be that of its own step; yours are {means}."
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
        "the losses, rounded to two digits after the point": [round(loss, 2) for loss in true],
        "the losses, rounded to three digits after the point": [round(loss, 3) for loss in true],
        "the losses, rounded to four digits after the point": [round(loss, 4) for loss in true],
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
    wanted = f"{count * epochs} calls of the model are needed"
    if not seen:
        return "The model that you are given is never called."
    if len(set(seen)) < count:
        return f"It uses only {len(set(seen))} of the {count} batches."
    rounds = [seen[start : start + count] for start in range(0, len(seen), count)]
    if len(seen) != count * epochs:
        if all(len(set(one)) == count for one in rounds):
            return f"You go through the batches in {_many(len(rounds), 'epoch', 'epochs')}; {epochs} are needed."
        if len(seen) < count * epochs:
            return f"Each batch is used, but not once in each of {epochs} epochs: {wanted}, yours are {len(seen)}."
        return f"Batches are used too often: {wanted}, yours are {len(seen)}."
    if seen == sorted(seen) and min(count, epochs) > 1:
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
        return "`on_step` must be told the loss as a plain number; yours is a tensor."
    if told in (list(range(len(told))), list(range(1, len(told) + 1))):
        return "`on_step` is told the number of the step; it must be told the loss."
    if not all(isinstance(one, float) for one in told):
        return f"`on_step` must be told the loss, one number at each step; what it is told are {_kinds(told)}."
    if told == losses or _alike(told, true):
        return _told_at_another_time(value["told at"], value["steps"])
    words = _of_which(told, true, len(case.args["batches"].content))
    return f"`on_step` must be told the loss of the step just taken; it is told {words or 'something else'}."


def _told_at_another_time(told_at: list[int], steps: int) -> str | None:
    """What is wrong with the numbers of steps that had been taken at each call of `on_step`."""
    if not steps:
        return None
    if told_at[0] == 0:
        return "`on_step` is called before the optimizer's step. It must hear of a step after it is taken."
    if all(one < other for one, other in pairwise(told_at)):
        return None
    return (
        f"`on_step` must be called after each step. Yours is first called when {_many(told_at[0], 'step', 'steps')} of "
        f"{steps} have been taken, and then is told several losses at once: a progress bar would jump."
    )


# ---------------------------------------------------------------------------------------------- spans, counting


def _count_in_words(raw: Any, case: Case) -> Any:
    """How many numbers a head has; in words, where there is no such number."""
    if not isinstance(raw, dict) or "$other" in raw:
        return raw
    if case.note == MORE_KEYS:
        return [key for key in raw if key not in HEADS]
    if case.asks not in raw:
        there = f"There are {', '.join(f'`{key!r}`' for key in raw)}." if raw else "The dict is empty."
        return f'The entry `"{case.asks}"` is missing. {there}'
    count = _named(raw[case.asks])
    return f"the float {count}" if isinstance(count, float) else count


DESCRIPTIONS = {
    "TransformerForSequenceClassification": Description(describe=_dropout_in_words),
    "train_step": Description(describe=_step_in_words),
    "train_classifier": Description(
        describe=_training_in_words,
        rules={
            "learns": _learns,
            "losses": _losses,
            "all batches": _all_batches,
            "modes": _modes,
            "on_step": _on_step,
        },
    ),
    "TokenClassifier": Description(describe=_dropout_in_words),
    "best_span": Description(describe=lambda raw, case: _named(raw)),
    "count_head_parameters": Description(describe=_count_in_words),
}
