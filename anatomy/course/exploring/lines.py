"""Which line of the student's program computed a step.

The model runs once more, and each of torch's functions notes what it returned and which line called it. A step's line
is that of the first call whose result holds the step's numbers. Where no call has them, no line is named.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from anatomy.course.exploring.recording import still
from anatomy.course.exploring.steps import SAME, Step, same

LIBRARIES = tuple(str(Path(module.__file__ or "").parent) for module in (torch, sys.modules[__package__ or ""]))
COURSE = str(Path(__file__).parents[1])
"""Where the course's own models are: what a line of them computes is no student's."""
INSIDE_ATTENTION = ("scores", "scaled", "masked", "weights")
"""What a fused attention computes without returning it."""


@dataclass(frozen=True)
class Line:
    """A line of a program: in which function or class it stands, its number there, its text, and whose it is."""

    of: str
    number: int
    text: str
    yours: bool


@dataclass(frozen=True)
class _Noted:
    order: int
    result: Tensor
    line: Line
    sample: list[float]


class _Noting(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.noted: dict[tuple[int, ...], list[_Noted]] = {}
        self.calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.is_floating_point() and result.dim() > 1:
            line = _line(sys._getframe(1))
            if line is not None:
                rows = result[0] if result.shape[0] == 1 else result
                self.calls += 1
                noted = _Noted(self.calls, rows.detach().clone(), line, _sample(rows))
                self.noted.setdefault(tuple(rows.shape), []).append(noted)
        return result


def lines_of(model: Any, inputs: tuple[Tensor, ...], steps: Iterable[Step]) -> dict[str, Line]:
    """For each step that some line computed, by its id, that line."""
    noting = _Noting()
    with still(model), noting:
        model(*inputs)
    with torch.no_grad():
        return _matched(noting, steps)


def _matched(noting: _Noting, steps: Iterable[Step]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    waiting: list[str] = []
    for step in steps:
        first = [one for shape in _shapes(step.array) if (one := _first(noting, shape))]
        line = min(first, key=lambda one: one.order).line if first else None
        if line is not None:
            found[step.id] = line
        elif step.kind in INSIDE_ATTENTION:
            waiting.append(step.id)
        if step.kind == "mixed":
            if line is not None:
                found.update(dict.fromkeys(waiting, line))
            waiting = []
    return found


def _shapes(array: Tensor) -> list[Tensor]:
    """A step's numbers in the forms in which a program may hold them."""
    if array.dim() == 3 and array.shape[0] > 0:
        return [array, array.transpose(0, 1).flatten(-2), array.transpose(0, 1)]
    return [array]


def _first(noting: _Noting, array: Tensor) -> _Noted | None:
    finite = array[array.isfinite()]
    near = 2 * SAME * max(1e-3, float(finite.abs().max()) if finite.numel() else 0.0)
    sample = _sample(array)
    for one in noting.noted.get(tuple(array.shape), []):
        alike = all(a == b or not abs(a - b) > near for a, b in zip(one.sample, sample, strict=True))
        if alike and same(one.result, array):
            return one
    return None


def _sample(array: Tensor) -> list[float]:
    """Three of its numbers, so that most arrays need not be compared in full."""
    count = array.numel()
    return array.flatten()[[0, count // 2, count - 1]].tolist() if count else []


def _line(frame: FrameType | None) -> Line | None:
    """The first line outside of the libraries."""
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARIES):
        frame = frame.f_back
    if frame is None:
        return None
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    if not text:
        return None
    around = _named(frame)
    code, owner = around.f_code, around.f_locals.get("self")
    name = type(owner).__name__ if code.co_name == "forward" and owner is not None else code.co_name
    yours = not code.co_filename.startswith(COURSE)
    return Line(name, frame.f_lineno - code.co_firstlineno + 1, text, yours)


def _named(frame: FrameType) -> FrameType:
    """The function around a comprehension or lambda; the frame itself where there is none."""
    code, outer = frame.f_code, frame.f_back
    around = code.co_qualname.rpartition(".<locals>.")[0]
    if not code.co_name.startswith("<") or not around:
        return frame
    while outer is not None and (outer.f_code.co_qualname, outer.f_code.co_filename) != (around, code.co_filename):
        outer = outer.f_back
    return frame if outer is None else _named(outer)
