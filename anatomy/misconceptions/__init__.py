"""Wrong answers that people really give, each with the one sentence that names it. One module per notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from anatomy.course import Notebook


@dataclass(frozen=True)
class Misconception:
    """A wrong answer.

    Attributes
    ----------
    name
        ``exercise__what_is_wrong``.
    sentence
        Its diagnosis; ``{T}`` or ``{D}`` stand for the case's sizes.
    breaks
        The properties that it costs; the others keep their points.
    answer
        The wrong answer itself: what a student's cell would define.
    """

    name: str
    sentence: str
    breaks: tuple[str, ...]
    answer: Any

    @property
    def exercise(self) -> str:
        return self.name.partition("__")[0]


def misconception(sentence: str, *, breaks: Iterable[str]) -> Callable[[Any], Misconception]:
    """Make a `Misconception` of the function or class under it, called ``exercise__what_is_wrong``."""

    def make(answer: Any) -> Misconception:
        return Misconception(answer.__name__, sentence, tuple(breaks), answer)

    return make


def wrong_option(quiz: str, right: Mapping[str, str], question: str, option: str, sentence: str) -> Misconception:
    """The quiz answered rightly but for one question."""
    name = f"{quiz}__{question}_{option}".replace(" ", "_").replace("-", "_")
    return Misconception(name, sentence, (question,), {**right, question: option})


@cache
def of_notebook(notebook: Notebook) -> dict[str, Misconception]:
    """All misconceptions of one notebook, by name."""
    module = import_module(f"anatomy.misconceptions.{notebook.module}")
    found: dict[str, Misconception] = {}
    for item in vars(module).values():
        for wrong in item if isinstance(item, (list, tuple)) else (item,):
            if isinstance(wrong, Misconception):
                found[wrong.name] = wrong
    return found
