"""Transformer Anatomy: a course whose checks name the mistake.

engine       knows no Transformer: what an exercise, a mistake and a course are; from an answer to the card about it
course       this course and nothing else: a folder for each notebook, and what the notebooks show and read
classroom    knows nbgrader: a class's submissions graded and reported, the judge as a service, the edition for a class
authoring    the notebooks: how they are built and checked
wiring       the one place where a course meets all of these
in_notebooks, cli, doctor    what notebooks import; the `anatomy` command; what this machine lacks

`engine` imports neither of the others, and `course` nothing but `engine`. CONTRIBUTING.md says where a change belongs.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["assemble", "check", "explore", "hunt", "progress"]

PACKAGE = Path(__file__).parent
"""The folder of this package."""


def __getattr__(name: str) -> Any:
    """What notebooks import, when they do: PyTorch takes its time."""
    if name in __all__:
        return getattr(import_module("anatomy.in_notebooks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
