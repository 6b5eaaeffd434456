"""The one kind of error that a command, and a notebook, shows as a sentence instead of a traceback."""

from __future__ import annotations


class UserError(Exception):
    """Something that the person at the keyboard can put right. The message says what is the matter and what to do."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class NotHere(UserError, ImportError):
    """A module that this copy of the package does not have on purpose. The message says why."""
