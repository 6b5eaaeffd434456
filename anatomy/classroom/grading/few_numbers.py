"""What an answer did, in a few numbers, by which a report can tell that two wrong answers give the same.

Beside a verdict that names no mistake it is noted once a case: in words what came back, and two numbers that stand for
all that it holds. Rounding moves these as little as the numbers they are made of, so they are compared, never hashed.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from anatomy.classroom.grading.notes import CaseNumbers, FewNumbers
from anatomy.engine.observing.observation import CaseObservation, Observation

DIGITS = 6
"""Significant digits that are kept; `anatomy.classroom.grading.class_report.unnamed` compares fewer."""
LONGEST = 60
"""Characters of a description; a longer one is replaced by its hash."""
LARGEST_INTEGER = 2**1000
"""Beyond which a number of Python's may be none of float64's; it is a word then."""
TURN = math.pi * (3 - math.sqrt(5))
"""By how much each entry's weight is turned on from the one before; no two entries have the same weight."""


def in_few_numbers(observation: Observation) -> FewNumbers:
    """The cases as they were judged: with right parts, where some stood in."""
    return tuple(_few(seen) for seen in observation.with_right_parts or observation.cases)


def _few(seen: CaseObservation) -> CaseNumbers:
    words, found = [seen.outcome, seen.error_type], [torch.zeros(1, dtype=torch.float64)]
    for word, numbers in _parts(seen.value):
        words.append(word)
        if numbers is not None:
            strange = int(numbers.isnan().sum()), int(numbers.isinf().sum())
            words += [f"{strange[0]} NaN, {strange[1]} ∞"] if any(strange) else []
            found.append(numbers.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0))
    whole = torch.cat(found)
    weights = torch.cos(torch.arange(len(whole), dtype=torch.float64) * TURN)
    mixture = float(whole @ weights) / math.sqrt(len(whole))
    return CaseNumbers(_short(" ".join(filter(None, words))), _rounded(float(whole.abs().max())), _rounded(mixture))


def _parts(value: Any) -> Iterator[tuple[str, Tensor | None]]:
    """What plain data is made of: a word for each part, and its numbers."""
    if isinstance(value, Tensor):
        flat = torch.view_as_real(value).flatten() if value.is_complex() else value.flatten()
        yield f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}", flat.to(torch.float64)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield f"{key}:", None
            yield from _parts(value[key])
    elif isinstance(value, list):
        yield f"list of {len(value)}", None
        for item in value:
            yield from _parts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool) and not abs(value) > LARGEST_INTEGER:
        yield type(value).__name__, torch.tensor([float(value)], dtype=torch.float64)
    elif value is not None:
        yield repr(value), None


def _short(words: str) -> str:
    if len(words) <= LONGEST:
        return words
    return f"{words[: LONGEST - 17]} {hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
