"""The right answers, written to be read. One module per notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anatomy.exercises import Exercise


def answer(exercise: Exercise) -> Any:
    """The reference answer of an exercise: a function, a class or a quiz's dict."""
    return getattr(import_module(f"anatomy.reference.{exercise.notebook.module}"), exercise.name)
