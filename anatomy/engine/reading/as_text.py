"""Inputs as they can be typed in, and results as a student would write them: short, whole numbers without a point."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any, get_args, get_origin, get_type_hints

import torch
from torch import Tensor, nn

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.judging.compare import Difference, Kind
from anatomy.engine.observing.observation import CaseObservation
from anatomy.engine.observing.plain_data import tensors
from anatomy.engine.reading.trials import Seen, Trials

MOST_NUMBERS = 24
"""A tensor of more numbers is not written out."""

MOST_LETTERS = 150
"""A longer result is not written out: the first entry that differs is."""


def call_text(trials: Trials, case: Case, expected: CaseObservation) -> str:
    """The call, ``softmax(torch.tensor([[1., 2.]]), 1)``; what is too long for that goes by its name and shape."""
    exercise = trials.expectations.exercise
    notes: list[str] = []

    def text(name: str, value: Any) -> str:
        if isinstance(value, Tensor) and not value.is_contiguous():
            notes.append(f"the memory of {name} in another order")
        digits = 12 if isinstance(value, float) else 3
        written = value_text(value, digits)
        if written is not None and len(written) <= MOST_LETTERS and _is_exact(value):
            return str(value_text(value, digits, to_type=True))
        if isinstance(value, Tensor):
            notes.append(f"{name} of shape {tuple(value.shape)}")
        elif exercise.course.is_config(value):
            notes.extend(f"{letter} = {size}" for letter, size in case.sizes.items() if letter not in "BTS")
        elif isinstance(value, nn.Linear):
            notes.append(f"{name} = {value}")
        return name

    init_names = signature(exercise.right).parameters if case.init else ()
    init, args = ([text(name, value) for name, value in values] for values in (
        zip(init_names, case.init, strict=False), case.args.items()))  # fmt: skip
    if exercise.kind == "module" and any(seen.parameters for seen in trials.expectations.expected):
        notes.append("with the check's weights")
    if not exercise.compares_calls:
        returned = trials.does(exercise.right, case, directly=True)
        if returned.outcome != expected.outcome:
            args, notes = ["…"], []
        if returned.outcome != expected.outcome or _numbers(returned.value) != _numbers(expected.value):
            notes.append(f"looked at: {case.asks}" if case.asks else "used as in the check")
    built = f"({', '.join(init)})" if exercise.kind == "module" else ""
    return f"{exercise.name}{built}({', '.join(args)})" + (f"   {', '.join(notes)}" if notes else "")


def _numbers(value: Any) -> str:
    """What a result says, whatever says it: True is 1 and 1.0, and a tensor its entries."""
    if isinstance(value, Tensor):
        return _numbers(value.tolist())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_numbers, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_numbers(item)}' for key, item in value.items())}}}"
    return repr(float(value)) if isinstance(value, int | float) else repr(value)


def _is_exact(value: Any) -> bool:
    """Whether the numbers are what is written for them."""
    return all(torch.equal(leaf, _as_written(leaf)) for leaf in tensors(value) if leaf.is_floating_point())


def _as_written(value: Tensor) -> Tensor:
    return torch.tensor([float(number_text(x, 3)) for x in value.flatten().tolist()]).to(value).view(value.shape)


def results_text(seen: Seen, exercise: Exercise) -> tuple[str, str] | None:
    """Both results, or the first entry in which they differ; None when they would read alike."""
    expected, found = seen.expected, seen.found
    kind = get_type_hints(exercise.right).get("return") if exercise.kind == "function" else None
    for digits in (3, 6):
        texts = [_outcome_text(one, digits, kind) for one in (expected, found)]
        if any(text is None or len(text) > MOST_LETTERS for text in texts) and expected.outcome == found.outcome:
            texts = _entry_texts(seen.difference, digits)
        if all(text and len(text) <= MOST_LETTERS for text in texts):
            if texts[0] != texts[1]:
                return str(texts[0]), str(texts[1])
            if seen.difference.kind in (Kind.TYPE, Kind.DTYPE):
                types = [_type_name(seen.difference.expected), _type_name(seen.difference.found)]
                return f"{texts[0]} ({types[0]})", f"{texts[1]} ({types[1]})"
    return None


def two_texts(found: Any, needed: Any) -> tuple[str, str] | None:
    """Two values that differ; of large ones their shapes, or the first entries in which they differ."""
    for digits in (3, 6):
        texts = [value_text(value, digits) for value in (found, needed)]
        if all(text and len(text) <= MOST_LETTERS for text in texts):
            if texts[0] != texts[1]:
                return str(texts[0]), str(texts[1])
        elif isinstance(found, Tensor) and isinstance(needed, Tensor):
            if found.shape != needed.shape:
                return f"of shape {tuple(found.shape)}", f"{tuple(needed.shape)}"
            apart = (found != needed) & ~(found.isnan() & needed.isnan())
            at = tuple(apart.nonzero()[0].tolist())
            numbers = [number_text(value[at].item(), digits) for value in (found, needed)]
            if numbers[0] != numbers[1]:
                return f"{numbers[0]} at {list(at)}", numbers[1]
    return None


def _outcome_text(seen: CaseObservation, digits: int, kind: Any) -> str | None:
    if seen.error is not None:
        message = " ".join(seen.error.message.split())
        return f"{seen.error.type}: {message[:97]}{'…' if len(message) > 97 else ''}".rstrip(": ")
    return value_text(_with_tuples(seen.value, kind), digits)


def _with_tuples(value: Any, kind: Any) -> Any:
    """Plain data, in which tuples are lists, with tuples where an annotation has them."""
    kinds = get_args(kind)
    if isinstance(value, list) and get_origin(kind) is tuple and len(kinds) == len(value):
        return tuple(map(_with_tuples, value, kinds))
    if isinstance(value, list) and get_origin(kind) is list:
        return [_with_tuples(item, kinds[0]) for item in value]
    return value


def _entry_texts(difference: Difference, digits: int) -> list[str | None]:
    """The leaf that differs, or of a large tensor its first number that does."""
    found, expected, at = difference.found, difference.expected, re.sub(r"^\[([^]]*)\]$", r"\1", difference.where)
    at = f"{at}: " if at else ""
    if isinstance(found, Tensor) and isinstance(expected, Tensor):
        if found.shape != expected.shape:
            return [f"{at}shape {tuple(expected.shape)}", f"{at}shape {tuple(found.shape)}"]
        gap = (found.double() - expected.double()).abs().nan_to_num(nan=float("inf"))
        if not gap.numel() or not float(gap.max()):
            return [f"{at}{_type_name(expected)}", f"{at}{_type_name(found)}"]
        clear = gap > 0.01 * float(gap.nan_to_num(posinf=1e30).max())
        where = tuple(clear.nonzero()[0].tolist())
        entry = f"{at}entry {list(where)} is "
        return [entry + number_text(value[where].item(), digits) for value in (expected, found)]
    return [f"{at}{value_text(value, digits) or _type_name(value)}" for value in (expected, found)]


def _type_name(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"tensor, {str(value.dtype).removeprefix('torch.')}"
    return type(value).__name__


def value_text(value: Any, digits: int, *, to_type: bool = False) -> str | None:
    """Plain data as Python writes it; None for what is too large or no plain data.

    Tensors are written as lists, or, `to_type`, as what makes them.
    """
    if isinstance(value, Tensor):
        text = value_text(value.tolist(), digits) if value.numel() <= MOST_NUMBERS else None
        return _tensor_text(value, text) if text and to_type else text
    if isinstance(value, bool | str) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        return number_text(value, digits)
    if isinstance(value, list | tuple):
        texts = [value_text(item, digits, to_type=to_type) for item in value]
        left, right = "[]" if isinstance(value, list) else ("(", ",)" if len(value) == 1 else ")")
        return None if None in texts else f"{left}{', '.join(map(str, texts))}{right}"
    if isinstance(value, dict) and "$other" in value:
        return str(value["$other"])
    if isinstance(value, dict):
        pairs = [(repr(key), value_text(item, digits, to_type=to_type)) for key, item in value.items()]
        return None if any(text is None for _, text in pairs) else f"{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
    return None


def _tensor_text(value: Tensor, numbers: str) -> str:
    """The call that makes a tensor of these numbers, of its type."""
    if value.is_floating_point():
        numbers = re.sub(r"(?<![\w.+-])-?\d+(?![\w.])", r"\g<0>.", numbers)
        numbers = re.sub(r"\b(?:inf|nan)\b", r"torch.\g<0>", numbers)
    is_usual = torch.tensor(value.tolist()).dtype == value.dtype
    return f"torch.tensor({numbers}{'' if is_usual else f', dtype={value.dtype}'})"


def number_text(number: complex, digits: int) -> str:
    """Whole numbers in full, others to so many digits."""
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e6:
        return str(int(number))
    return f"{number:.{digits}g}" if isinstance(number, float) else str(number)
