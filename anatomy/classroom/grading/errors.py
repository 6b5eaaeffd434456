"""What goes wrong with one submission, or with all, and how it is told."""

from __future__ import annotations

from anatomy.engine.errors import UserError

GOES_ON = "What had been graded by then is recorded; the same command goes on from there."


class Unrepairable(ValueError):
    """What was handed in can't be graded. The message is the reason, as the instructor reads it."""


class CannotRecord(UserError):
    """No submission can be recorded any more: the gradebook is locked, read-only or damaged, or the disk is full."""


def in_brief(error: BaseException) -> str:
    """The error's type and the beginning of its message, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
