"""What is asked: each exercise's cases, properties and points. One module per notebook.

A new exercise goes into its notebook's module: a generator of cases decorated with `exercise`, or a `quiz`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from anatomy.course import NOTEBOOKS, Notebook
from anatomy.exercises.spec import Case, Draw, Exercise, exercise, quiz

__all__ = ["Case", "Draw", "Exercise", "exercise", "find", "number", "of_notebook", "quiz"]


@cache
def of_notebook(notebook: Notebook) -> dict[str, Exercise]:
    """The exercises of one notebook, by name, in the order in which its module defines them."""
    module = import_module(f"anatomy.exercises.{notebook.module}")
    return {item.name: item for item in vars(module).values() if isinstance(item, Exercise)}


def find(name: str) -> Exercise:
    """The exercise called `name`, from whichever notebook asks it.

    Raises
    ------
    KeyError
        When no exercise has this name.
    """
    for notebook in NOTEBOOKS:
        if name in (exercises := of_notebook(notebook)):
            return exercises[name]
    raise KeyError(f"No exercise is called {name!r}.")


def number(exercise: Exercise) -> str:
    """The number by which the notebook calls it, such as "3.1"."""
    return f"{exercise.notebook.number}.{list(of_notebook(exercise.notebook)).index(exercise.name) + 1}"
