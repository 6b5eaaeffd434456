"""What goes wrong with one submission, and how it is told."""

from __future__ import annotations


class Unrepairable(ValueError):
    """What was handed in can't be graded. The message is the reason, as the instructor reads it."""


def in_brief(error: BaseException) -> str:
    """The error's type and the beginning of its message, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
