"""What is seen when an answer is run: plain data, which says nothing about right or wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor


@dataclass
class Raised:
    """An exception, and where in the student's own cells it came from.

    `line`, `code` and `within` are the innermost place in a cell: its number, its text, the function or class it is in.
    `caller` and `caller_line` are where the answer itself called it, when it is another function, class or method.
    `leftover` tells that it is the ``raise NotImplementedError`` of a function that does something besides.
    `on_purpose` tells that an earlier exercise's right answer refuses its input by a ``raise``.
    """

    type: str = ""
    message: str = ""
    line: int = 0
    code: str = ""
    within: str = ""
    caller: str = ""
    caller_line: int = 0
    leftover: bool = False
    on_purpose: bool = False


@dataclass
class CaseObservation:
    """What happened in one case.

    Attributes
    ----------
    outcome
        ``"returned"``, ``"raised"``, ``"not attempted"``, ``"too slow"``, or ``"missing"`` when nothing was seen.
    value
        The result, as plain data (`anatomy.engine.observing.plain_data`).
    printed
        The beginning of what the answer printed.
    calls
        Forbidden library functions that ran.
    changed
        Arguments that were changed in place.
    again
        The result of a second run, in a list of one; empty where it was the same.
    gradients
        Input or parameter → gradient of a fixed mixture of the results, None where none arrives; None when not asked.
    linked
        Whether any result depends on anything by a gradient.
    parameters, shared
        Of a module: parameter → shape, and groups of names that are one parameter. None when it is no module.
    train, train_again
        The result in training mode, and as `again` that of a second run.
    """

    outcome: str = "missing"
    value: Any = None
    error: Raised | None = None
    printed: str = ""
    calls: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    again: list[Any] = field(default_factory=list)
    gradients: dict[str, Tensor | None] | None = None
    linked: bool = True
    gradient_error: Raised | None = None
    parameters: dict[str, list[int]] | None = None
    shared: list[list[str]] = field(default_factory=list)
    train: Any = None
    train_again: list[Any] = field(default_factory=list)

    @property
    def error_type(self) -> str:
        return self.error.type if self.error else ""


@dataclass
class Observation:
    """What happened in all cases of one exercise.

    Attributes
    ----------
    parts
        Other exercises of the notebook whose answers this one calls, and in whose place right ones stood then.
    with_right_parts
        What happened in all cases when right answers stood in for those; empty when that was not tried.
    called
        Other exercises of the notebook whose answers this one calls, and which were right or had right ones in their
        place: none of them is the reason why this one is wrong.
    cell_error
        What stopped the answer's own cell when it was last run, before it defined the answer anew.
    similar
        A name in the notebook that resembles a missing answer's.
    """

    exercise: str
    cases: list[CaseObservation]
    parts: list[str] = field(default_factory=list)
    with_right_parts: list[CaseObservation] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    cell_error: Raised | None = None
    similar: str = ""
