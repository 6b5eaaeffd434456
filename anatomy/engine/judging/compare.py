"""Compare what was found with what was expected, property by property."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import torch
from torch import Tensor

from anatomy.engine.exercise import Case, Exercise
from anatomy.engine.observing.observation import CaseObservation, Raised
from anatomy.engine.observing.plain_data import ROUNDING, same

NUDGES = 8
"""How often the reference runs on slightly moved inputs where rounding may explain a difference. One run can miss it by
luck: a gradient that is zero on paper stays exactly zero in one run, and not in another."""

NEAR = 2**6 * ROUNDING
"""The largest difference that rounding may explain after the first run, relative to the largest number or to 1."""


SLIGHT = 1e-3
"""The difference that a drawn case does not look at, relative to the largest number or to 0.01. Drawn inputs may be
such that right answers differ by rounding; what they are drawn for is larger."""


class Kind(StrEnum):
    """What differs. The kind decides what `found` and `expected` of a `Difference` hold: mostly the two values."""

    ERROR = "error"  # the outcomes or the errors; `found` and `expected` are observations
    MESSAGE = "message"  # a refusal's message lacks words; `expected` holds them
    TYPE = "type"
    SHAPE = "shape"
    DTYPE = "dtype"
    VALUES = "values"
    NAMES = "names"  # of parameters, with their shapes; or of a dict's entries
    SHARED = "shared"  # which names stand for the same parameter
    IN_PLACE = "in place"
    NOT_REPEATABLE = "not repeatable"
    NOISE = "noise"  # whether the result is random in training mode
    NO_GRADIENT = "no gradient"  # it reaches an input in only one of the two
    GRADIENT_ERROR = "gradient error"
    RULE = "rule"  # `found` is the rule's sentence


SIDE_EFFECTS = frozenset({Kind.IN_PLACE, Kind.NOT_REPEATABLE})
"""The kinds of difference that leave the returned values as they are."""


@dataclass(frozen=True)
class Difference:
    """One way in which an answer differs from the reference in one case.

    `property` is what it costs. `where` is the place in the result, or the name of an input or parameter. `aspect` is
    what was compared: ``"values"``, ``"train mode"``, ``"gradients"``, ``"parameters"`` …
    """

    property: str
    kind: Kind
    where: str
    found: Any
    expected: Any
    case: int
    aspect: str = "values"


class Mismatch(NamedTuple):
    """A difference within one case. `compare` decides later which properties it costs."""

    aspect: str
    kind: Kind
    where: str
    found: Any
    expected: Any

    @property
    def place(self) -> tuple[str, Kind, str]:
        """What identifies it among the mismatches of its case."""
        return self.aspect, self.kind, self.where


def compare(
    exercise: Exercise,
    cases: list[Case],
    found: list[CaseObservation],
    expected: list[CaseObservation],
    nudged: Callable[[int, int], CaseObservation] | None = None,
) -> list[Difference]:
    """All differences, in the order of the cases.

    `nudged` gives the reference's results in one case on slightly moved inputs. Each number moves them in another way.
    `compare` calls it only where something differs: it shows how exact float32 can be there.
    """
    mismatches: list[tuple[int, Mismatch]] = []
    for index, case in enumerate(cases):
        here = found[index] if index < len(found) else CaseObservation()
        apart = list(_compare_case(exercise, case, here, expected[index], expected[index]))
        for number in range(NUDGES if nudged else 0):
            if not any(map(_is_near if number else _is_rounded, apart)):
                break
            assert nudged
            still = {one.place for one in apart}
            again = _compare_case(exercise, case, here, expected[index], nudged(index, number))
            apart = [one for one in again if one.place in still]
        mismatches += [(index, one) for one in apart if not (case.drawn and _is_slight(one))]
    own = {case.asks for case in cases}
    general = {one.aspect for index, one in mismatches if cases[index].asks is None and not cases[index].drawn}
    as_a_whole = BESIDE_THE_NUMBERS.keys() & general
    return [
        Difference(name, one.kind, one.where, one.found, one.expected, index, one.aspect)
        for index, one in mismatches
        for name in _properties(exercise, own, None if one.aspect in as_a_whole else cases[index].asks, one.aspect)
    ]


def differ(
    exercise: Exercise,
    case: Case,
    left: CaseObservation,
    right: CaseObservation,
    beside: Collection[Kind] = (),
    nudged: Callable[[int], CaseObservation] | None = None,
) -> bool:
    """Whether `compare` would tell of any difference in one case, besides these kinds. It ends at the first one.

    `nudged` gives what is on the `right` on slightly moved inputs, where rounding may explain all that differs.
    """

    def apart(from_what: CaseObservation) -> Iterator[Mismatch]:
        for one in _compare_case(exercise, case, left, right, from_what):
            counts = one.kind not in beside and _properties(exercise, {case.asks}, case.asks, one.aspect)
            if counts and not (case.drawn and _is_slight(one)):
                yield one

    still = set[tuple[str, Kind, str]]()
    for one in apart(right):
        if nudged is None or not _is_near(one):
            return True
        still.add(one.place)
    for number in range(NUDGES):
        if not still or nudged is None:
            break
        still &= {one.place for one in apart(nudged(number))}
    return bool(still)


BESIDE_THE_NUMBERS = {
    "type": ("shape", "values"),
    "in place": ("gradients", "values"),
    "gradients": ("gradients",),
    "parameters": ("parameters", "values"),
    "train mode": ("train mode", "values"),
}
"""Aspects of the answer as a whole. Each costs the first of its properties that the exercise has.

A difference in such an aspect costs this property once if a general case shows it. Properties with cases of their own
don't pay for it again.
"""


def _properties(exercise: Exercise, own: set[str | None], asks: str | None, aspect: str) -> list[str]:
    """The properties that a difference in `aspect` breaks. A case that `asks` for a property breaks this one."""
    if asks is not None:
        return [asks]
    if aspect == "everything":
        return [name for name in exercise.properties if name not in own]
    return [name for name in BESIDE_THE_NUMBERS.get(aspect, (aspect, "values")) if name in exercise.properties][:1]


def _compare_case(
    exercise: Exercise, case: Case, found: CaseObservation, expected: CaseObservation, nudged: CaseObservation
) -> Iterator[Mismatch]:
    if found.outcome != expected.outcome:
        yield Mismatch("everything", Kind.ERROR, "", found, expected)
        return
    if expected.outcome == "raised":
        yield from _compare_refusals(case, found, expected)
        return
    for name, rule in exercise.rules.items():
        if case.asks in (None, name) and (sentence := rule_says(rule, found.value, case)):
            yield Mismatch(name, Kind.RULE, "", sentence, None)
    for name in found.changed:
        if name not in expected.changed:
            yield Mismatch("in place", Kind.IN_PLACE, name, None, None)
    apart = list(_leaves("values", "", found.value, expected.value, nudged.value))
    yield from apart
    if found.again and not expected.again and not (apart and _in_words(expected.value)):
        yield Mismatch("values", Kind.NOT_REPEATABLE, "", found.again, None)
    wrapped = any(one.aspect == "type" and one.kind == Kind.TYPE for one in apart)
    if expected.parameters is not None:
        if (named := found.parameters or {}) != expected.parameters:
            yield Mismatch("parameters", Kind.NAMES, "", named, expected.parameters)
        elif found.shared != expected.shared:
            yield Mismatch("parameters", Kind.SHARED, "", found.shared, expected.shared)
        if bool(found.train_again) != bool(expected.train_again):
            yield Mismatch("train mode", Kind.NOISE, "", bool(found.train_again), bool(expected.train_again))
        elif not expected.train_again and not wrapped:
            yield from _leaves("train mode", "", found.train, expected.train, nudged.train)
    if "gradients" in exercise.properties and not (apart and case.asks):
        for one in _compare_gradients(found, expected, nudged):
            if (one.kind != Kind.VALUES or not wrapped) and not (case.asks not in (None, "gradients") and _is_nan(one)):
                yield one


def _compare_refusals(case: Case, found: CaseObservation, expected: CaseObservation) -> Iterator[Mismatch]:
    """Compare two refusals: the type of the error, whether it is deliberate, and the words that the case asks for."""
    message, asked = (seen.error.message if seen.error else "" for seen in (found, expected))
    missing = [words for words in case.message_names if _says(asked, words) and not _says(message, words)]
    named = any("|" not in words for words in case.message_names) and not missing
    meant = is_deliberate(found) or not is_deliberate(expected) or named
    if found.error_type not in {expected.error_type, "ValueError"} or not meant:
        yield Mismatch("everything", Kind.ERROR, "", found, expected)
    elif missing:
        yield Mismatch("everything", Kind.MESSAGE, "", found, missing)


def is_deliberate(seen: CaseObservation) -> bool:
    """Whether the student's line, or an earlier right answer, raised the error on purpose, as far as can be seen."""
    error = seen.error or Raised()
    if not error.code or error.on_purpose or "raise" in error.code or error.code.startswith("assert"):
        return True
    return error.type == "ValueError" and _LOOKED_FOR.search(error.message) is not None


_LOOKED_FOR = re.compile(r"not in (list|tuple|deque)$|^sub(string|section) not found$|values to unpack \(expected 1\b")
"""How Python's own `index` and `remove` refuse what is not there, and ``[one] = found`` what is not one: on purpose."""


def _says(message: str, words: str) -> bool:
    """Whether a message holds these words.

    A number must not be part of a longer number, but a letter may touch it, as in 8x10. Where ``|`` stands between
    words, one of them is enough.
    """
    if "|" in words:
        return any(_says(message, one) for one in words.split("|"))
    before, behind = (r"(?<!\d)(?<!\d\.)", r"(?!\.?\d)") if words.isdecimal() else (r"(?<![\w.])", r"(?!\w)")
    return re.search(f"{before}{re.escape(words)}{behind}", message, re.IGNORECASE) is not None


def rule_says(rule: Callable[[Any, Case], str | None], value: Any, case: Case) -> str | None:
    """A rule's sentence. A value that the rule can't read breaks the rule."""
    try:
        return rule(value, case)
    except Exception as error:  # a kernel may send anything, and judging goes on
        return f"The result does not have the form that the exercise needs: {type(error).__name__}, {error}."


def _compare_gradients(
    found: CaseObservation, expected: CaseObservation, nudged: CaseObservation
) -> Iterator[Mismatch]:
    """All gradients of a case share one floor: a gradient that is zero on paper is rounding noise, and no two agree.

    Where all are zero, it is that of numbers around 1.
    """
    if found.gradient_error or expected.gradient_error:
        types = [seen.gradient_error.type if seen.gradient_error else "" for seen in (found, expected)]
        if types[0] != types[1]:
            yield Mismatch("gradients", Kind.GRADIENT_ERROR, "", found.gradient_error, expected.gradient_error)
        return
    mine, right = found.gradients or {}, expected.gradients or {}
    floor = 0.1 * max((_size(known) for known in right.values() if known is not None), default=0.0) or 1.0
    for name, known in right.items():
        left = mine.get(name)
        if known is None or left is None:
            present = left if known is None else known
            if present is not None and _size(present) > ROUNDING * floor:
                yield Mismatch("gradients", Kind.NO_GRADIENT, name, left, known)
            continue
        slack = (nudged.gradients or {}).get(name)
        yield from _leaves("gradients", name, left, known, slack, floor)


def _is_nan(one: Mismatch) -> bool:
    """Whether a gradient is NaN. Where a case asks for something else, such as large scores, no contract forbids it."""
    return isinstance(one.found, Tensor) and bool(one.found.isnan().any())


def _size(value: Tensor) -> float:
    return float(value.abs().max()) if value.numel() else 0.0


def _leaves(aspect: str, where: str, found: Any, expected: Any, nudged: Any, floor: float = 0.0) -> Iterator[Mismatch]:
    """Walk two trees of plain data side by side."""
    if isinstance(expected, Tensor):
        if not isinstance(found, Tensor):
            yield from _another_type(aspect, where, found, expected)
        elif found.shape != expected.shape:
            yield Mismatch(_shape_aspect(aspect), Kind.SHAPE, where, found, expected)
            if aspect == "values":
                yield Mismatch(aspect, Kind.SHAPE, where, found, expected)
        else:
            if _family(found.dtype) != _family(expected.dtype):
                billed = aspect if aspect == "gradients" else "type"
                yield Mismatch(billed, Kind.DTYPE, where, found, expected)
            if not close(found, expected, nudged, floor):
                yield Mismatch(aspect, Kind.VALUES, where, found, expected)
    elif isinstance(expected, dict) and isinstance(found, dict) and "$other" not in found:
        if found.keys() != expected.keys():
            yield Mismatch(aspect, Kind.NAMES, where, sorted(found), sorted(expected))
        for key in expected:
            if key in found:
                inner = nudged.get(key) if isinstance(nudged, dict) else None
                yield from _leaves(aspect, f"{where}[{key!r}]", found[key], expected[key], inner)
    elif isinstance(expected, list) and isinstance(found, list):
        if not holds_tensors(expected) and not holds_tensors(found):
            if found != expected and not _close_numbers(found, expected):
                yield Mismatch(aspect, Kind.VALUES, where, found, expected)
        elif len(found) != len(expected):
            yield Mismatch(_shape_aspect(aspect), Kind.TYPE, where, found, expected)
        else:
            for index, (left, right) in enumerate(zip(found, expected, strict=True)):
                inner = nudged[index] if isinstance(nudged, list) and index < len(nudged) else None
                yield from _leaves(aspect, f"{where}[{index}]", left, right, inner)
    elif _is_number(expected) and _is_number(found):
        if not _close_numbers([found], [expected]):
            yield Mismatch(aspect, Kind.VALUES, where, found, expected)
    elif type(found) is not type(expected):
        yield from _another_type(aspect, where, found, expected)
    elif not same(found, expected):
        yield Mismatch(aspect, Kind.VALUES, where, found, expected)


def _another_type(aspect: str, where: str, found: Any, expected: Any) -> Iterator[Mismatch]:
    if same_numbers(found, expected):
        yield Mismatch("type" if aspect == "values" else aspect, Kind.TYPE, where, found, expected)
        return
    yield Mismatch(_shape_aspect(aspect), Kind.TYPE, where, found, expected)
    if aspect == "values":
        yield Mismatch(aspect, Kind.TYPE, where, found, expected)


def same_numbers(found: Any, expected: Any) -> bool:
    """Whether two values of different types hold the same numbers, as a list and a tensor can."""
    right = _as_tensor(expected)
    left = None if right is None else _as_tensor(found, tuple(right.shape))
    return left is not None and right is not None and close(left, right)


def _as_tensor(value: Any, shape: tuple[int, ...] | None = None) -> Tensor | None:
    """A tensor, a number, or nested lists of these, as one tensor. None where that makes no sense.

    With a `shape`, a value of any other shape gives None. This keeps a very long list from becoming a tensor.
    """
    if isinstance(value, dict):
        value = value.get("$numbers")
    if isinstance(value, Tensor):
        fits = not value.is_complex() and shape in (None, tuple(value.shape))
        return value.double() if fits else None
    if _is_number(value):
        return None if shape else torch.tensor(float(value), dtype=torch.float64)
    if not isinstance(value, list) or not value or (shape is not None and shape[:1] != (len(value),)):
        return None
    parts: list[Tensor] = []
    for item in value:
        part = _as_tensor(item, shape and shape[1:])
        if part is None or part.shape != (parts or [part])[0].shape:
            return None
        parts.append(part)
    return torch.stack(parts)


def close(found: Tensor, expected: Tensor, nudged: Tensor | None = None, floor: float = 0.0) -> bool:
    """Whether two tensors of one shape agree within `ROUNDING` (integers: exactly; inf and NaN in the same places).

    `ROUNDING` is relative to the larger of `floor` and the largest expected entry. Below the smallest normal number of
    its type a float loses its digits, so two such numbers are never apart.
    """
    if not expected.is_floating_point() or found.is_complex():
        no_complex = not found.is_complex() and not expected.is_complex()
        return no_complex and torch.equal(found.double(), expected.double())
    if found.dtype == expected.dtype and torch.equal(found, expected):
        return True  # to the last bit, and no NaN
    least = torch.finfo(expected.dtype).smallest_normal
    found, expected = found.double(), expected.double()
    apart = float((found - expected).abs().max()) if expected.numel() else 0.0
    if math.isfinite(apart) and apart <= max(ROUNDING * max(_size(expected), floor), least):
        return True  # most answers end here: nothing is inf or NaN, and they need no slack
    finite = expected.isfinite()
    if not torch.equal(finite, found.isfinite()):
        return False
    if not torch.equal(found[~finite].nan_to_num(nan=1.5e30), expected[~finite].nan_to_num(nan=1.5e30)):
        return False
    if not finite.any():
        return True
    found, expected, slack = found[finite], expected[finite], torch.tensor(0.0)
    if isinstance(nudged, Tensor) and nudged.shape == finite.shape:
        slack = (nudged.double()[finite] - expected).abs().nan_to_num().max()
    return bool((found - expected).abs().max() <= max(ROUNDING * max(_size(expected), floor), least) + 4 * slack)


def _close_numbers(found: list[Any], expected: list[Any]) -> bool:
    if len(found) != len(expected):
        return False
    return all(
        (math.isclose(left, right, rel_tol=ROUNDING, abs_tol=ROUNDING) or (left != left and right != right))
        if isinstance(right, float) and _is_number(left)
        else _close_numbers(left, right)
        if isinstance(left, list) and isinstance(right, list)
        else left == right and isinstance(left, bool) == isinstance(right, bool)
        for left, right in zip(found, expected, strict=True)
    )


def _shape_aspect(aspect: str) -> str:
    return "shape" if aspect == "values" else aspect


def _family(dtype: torch.dtype) -> str:
    """Integers of any width are one family. Every other type is a family of its own."""
    return "integer" if dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64) else str(dtype)


def holds_tensors(tree: Any) -> bool:
    """Whether there is a tensor anywhere in this plain data."""
    if isinstance(tree, dict):
        return any(map(holds_tensors, tree.values()))
    return isinstance(tree, Tensor) or (isinstance(tree, list) and any(map(holds_tensors, tree)))


def _in_words(value: Any) -> bool:
    """Whether a value is words: a summary of something random may differ from run to run."""
    return isinstance(value, str) or (isinstance(value, dict) and bool(value) and all(map(_in_words, value.values())))


def _is_rounded(one: Mismatch) -> bool:
    """Whether float values differ: rounding may be the reason."""
    return one.kind == Kind.VALUES and _holds_floats(one.expected)


def _is_near(one: Mismatch) -> bool:
    """Whether float tensors differ by so little that rounding may still be the reason."""
    pair = one.found, one.expected
    if one.kind != Kind.VALUES or not all(isinstance(value, Tensor) and value.is_floating_point() for value in pair):
        return False
    return float((one.found.double() - one.expected.double()).abs().max()) <= NEAR * max(1.0, _size(one.expected))


def _is_slight(one: Mismatch) -> bool:
    """Whether float values differ by less than a drawn case looks at."""
    if not _is_rounded(one):
        return False
    found, expected = _as_tensor(one.found), _as_tensor(one.expected)
    if found is None or expected is None or found.shape != expected.shape or not expected.numel():
        return False
    finite = expected.isfinite()
    if not torch.equal(found[~finite].nan_to_num(nan=1.5e30), expected[~finite].nan_to_num(nan=1.5e30)):
        return False
    apart = (found - expected).abs().nan_to_num(nan=math.inf)[finite]
    return not len(apart) or bool(apart.max() <= SLIGHT * max(_size(expected[finite]), 0.01))


def _holds_floats(value: Any) -> bool:
    return isinstance(value, Tensor | float) or (isinstance(value, list) and any(map(_holds_floats, value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
